//! Forms of calls that programs use and the documents allow: null pointers, ranks of single elements, exact sizes.

use jumar_ops::view::{Block, Region};
use jumar_types::dtype::DataType;

use crate::{Arg, Refusal, Status, TensorArg, TensorDesc, Workers, plan};

const FLOAT: DataType = DataType::Float32;

fn tensor(buffer: usize, dtype: DataType, dims: &[i64]) -> Arg {
    let desc = TensorDesc::contiguous(dtype, dims);
    Arg::Tensor(TensorArg { desc, buffer })
}

fn planned(name: &str, args: &[Arg]) -> Result<crate::Plan, Refusal> {
    let mut all = crate::signatures::ALL.iter();
    plan(all.find(|one| one.name == name).unwrap(), args)
}

/// Runs a call on memory, and returns what its outputs hold afterwards.
fn run(name: &str, args: &[Arg], memory: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let plan = planned(name, args).map_err(|refusal| refusal.to_string())?;
    let mut blocks: Vec<Block> = memory.iter().map(|bytes| Block::of(bytes)).collect();
    let mut workspace = Block::zeroed(plan.workspace_bytes());
    let regions: Vec<Region<'_>> = blocks.iter_mut().map(Block::region).collect();
    let ran = plan.run(&regions, workspace.region(), Workers::ALONE);
    ran.map_err(|error| error.to_string())?;
    Ok(blocks.iter().map(|block| block.bytes().to_vec()).collect())
}

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn ints(values: &[i64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

#[test]
fn without_a_list_of_dimensions_spreads_are_those_of_all_elements() {
    // Of 1, 2, 3, 6: the mean is 3, the squares of the distances add up to 14.
    let memory = [floats(&[1.0, 2.0, 3.0, 6.0]), vec![0; 4], vec![0; 4]];
    let x = || tensor(0, FLOAT, &[2, 2]);
    let out = |buffer| tensor(buffer, FLOAT, &[]);
    let variance = floats(&[14.0 / 3.0]);
    let deviation = floats(&[(14.0f32 / 3.0).sqrt()]);
    for dim in [Arg::Null, Arg::Ints(Vec::new())] {
        let keep = || Arg::Bool(false);
        let args = [x(), dim.clone(), Arg::Bool(true), keep(), out(1)];
        assert_eq!(run("aclnnVar", &args, &memory).unwrap()[1], variance);
        let args = [x(), dim.clone(), Arg::Int(1), keep(), out(1)];
        assert_eq!(
            run("aclnnVarCorrection", &args, &memory).unwrap()[1],
            variance
        );
        assert_eq!(run("aclnnStd", &args, &memory).unwrap()[1], deviation);
        let args = [x(), dim.clone(), Arg::Int(1), keep(), out(1), out(2)];
        for (name, wanted) in [
            ("aclnnVarMean", &variance),
            ("aclnnStdMeanCorrection", &deviation),
        ] {
            let found = run(name, &args, &memory).unwrap();
            assert_eq!((&found[1], &found[2]), (wanted, &floats(&[3.0])), "{name}");
        }
    }
}

#[test]
fn an_output_of_one_element_may_have_any_rank() {
    let memory = [floats(&[1.0, 2.0, 4.0]), vec![0; 4], vec![0; 8]];
    for dims in [&[] as &[i64], &[1], &[1, 1, 1]] {
        // A sum over the only dimension yields a scalar.
        let args = [
            tensor(0, FLOAT, &[3]),
            Arg::Ints(vec![0]),
            Arg::Bool(false),
            Arg::Type(FLOAT),
            tensor(1, FLOAT, dims),
        ];
        let found = run("aclnnReduceSum", &args, &memory).unwrap();
        assert_eq!(found[1], floats(&[7.0]), "{dims:?}");
        // A maximum along a dimension that is kept yields a shape of ones, for both outputs.
        let args = [
            tensor(0, FLOAT, &[3]),
            Arg::Int(0),
            Arg::Bool(true),
            tensor(1, FLOAT, dims),
            tensor(2, DataType::Int64, dims),
        ];
        let found = run("aclnnMaxDim", &args, &memory).unwrap();
        assert_eq!(
            (&found[1], &found[2]),
            (&floats(&[4.0]), &ints(&[2])),
            "{dims:?}"
        );
        // An elementwise function of a matrix of one element.
        let args = [tensor(0, FLOAT, &[1, 1]), tensor(1, FLOAT, dims)];
        let found = run("aclnnNeg", &args, &memory).unwrap();
        assert_eq!(found[1], floats(&[-1.0]), "{dims:?}");
    }
    // Two elements are not one, and the sentence is about the output as it was given.
    let args = |dims: &[i64]| {
        let sum = [Arg::Ints(vec![0]), Arg::Bool(false), Arg::Type(FLOAT)];
        [
            vec![tensor(0, FLOAT, &[3])],
            sum.to_vec(),
            vec![tensor(1, FLOAT, dims)],
        ]
        .concat()
    };
    let refusal = planned("aclnnReduceSum", &args(&[2])).unwrap_err();
    assert_eq!(refusal.text(), "out has the shape [2]; it must be []");
    let mut wrong = args(&[1]);
    wrong[1] = Arg::Ints(vec![5]);
    let refusal = planned("aclnnReduceSum", &wrong).unwrap_err();
    assert!(refusal.text().starts_with("dims is 5"), "{refusal}");
}

#[test]
fn a_batch_is_normalised_without_weight_and_bias() {
    let memory = [
        floats(&[1.0, 10.0, 3.0, 30.0]),
        Vec::new(),
        Vec::new(),
        floats(&[2.0, 20.0]),
        floats(&[0.5, 0.25]),
        vec![0; 16],
    ];
    let args = [
        tensor(0, FLOAT, &[2, 2]),
        Arg::Null,
        Arg::Null,
        tensor(3, FLOAT, &[2]),
        tensor(4, FLOAT, &[2]),
        Arg::Float(1e-5),
        tensor(5, FLOAT, &[2, 2]),
    ];
    let found = run("aclnnBatchNormElemt", &args, &memory).unwrap();
    assert_eq!(found[5], floats(&[-0.5, -2.5, 0.5, 2.5]));
}

#[test]
fn distinct_slices_fit_into_outputs_of_exactly_their_number() {
    let memory = |space: usize| {
        let x = [3.0, 1.0, 1.0, 5.0, 3.0, 1.0, 0.0, 9.0];
        [
            floats(&x),
            vec![0; space * 8],
            vec![0; 32],
            vec![0; space * 8],
        ]
    };
    let args = |space: i64| {
        [
            tensor(0, FLOAT, &[4, 2]),
            Arg::Bool(true),
            Arg::Bool(true),
            Arg::Int(0),
            tensor(1, FLOAT, &[space, 2]),
            tensor(2, DataType::Int64, &[4]),
            tensor(3, DataType::Int64, &[space]),
        ]
    };
    let found = run("aclnnUniqueDim", &args(3), &memory(3)).unwrap();
    assert_eq!(found[1], floats(&[0.0, 9.0, 1.0, 5.0, 3.0, 1.0]));
    assert_eq!(found[2], ints(&[2, 1, 2, 0]));
    assert_eq!(found[3], ints(&[1, 1, 2]));
    let error = run("aclnnUniqueDim", &args(2), &memory(2)).unwrap_err();
    assert!(
        error.contains("has 3 distinct slices, and the outputs have space for 2"),
        "{error}"
    );
    let refusal = planned("aclnnUniqueDim", &args(5)).unwrap_err();
    assert_eq!(refusal.status(), Status::Invalid);
}

#[test]
fn the_shape_that_a_mask_selects_is_stated_without_a_number_that_is_not_known() {
    let mask = TensorArg {
        desc: TensorDesc::contiguous(DataType::Bool, &[3]),
        buffer: 1,
    };
    let args = |dims: &[i64]| {
        let indices = Arg::Tensors(vec![None, Some(mask.clone())]);
        [
            tensor(0, FLOAT, &[2, 3, 4]),
            indices,
            tensor(2, FLOAT, dims),
        ]
    };
    let refusal = planned("aclnnIndex", &args(&[2, 4])).unwrap_err();
    assert_eq!(
        refusal.text(),
        "out has the shape [2, 4]; it must be [2, n, 4], where n is the number of true elements of the masks in indices, or more"
    );
    assert!(planned("aclnnIndex", &args(&[2, 3, 4])).is_ok());
}

#[test]
fn scalars_in_a_tensor_are_counted_before_they_are_kept() {
    let list = |buffer| {
        let desc = TensorDesc::contiguous(FLOAT, &[8]);
        Arg::Tensors(vec![Some(TensorArg { desc, buffer })])
    };
    for name in ["aclnnForeachMulScalar", "aclnnForeachAddcmulScalar"] {
        let scalar = tensor(3, FLOAT, &[1 << 40]);
        let args = match name {
            "aclnnForeachMulScalar" => vec![list(0), scalar, list(1)],
            _ => vec![list(0), list(1), list(2), scalar, list(4)],
        };
        let refusal = planned(name, &args).unwrap_err();
        assert_eq!(
            refusal.text(),
            "scalar has 1099511627776 members, and the list of outputs has 1"
        );
    }
}

#[test]
fn a_refusal_says_what_to_do_about_its_own_kind_of_mistake() {
    let args = |dtype, dims: &[i64], dim| {
        [
            tensor(0, dtype, &[2, 3]),
            Arg::Int(dim),
            tensor(1, FLOAT, dims),
        ]
    };
    for (args, advice) in [
        (args(DataType::Int32, &[2, 3], 1), "Convert the tensor"),
        (args(FLOAT, &[3, 2], 1), "Create the tensor with the shape"),
        (args(FLOAT, &[2, 3], 7), "Change the argument"),
    ] {
        let refusal = planned("aclnnSoftmax", &args).unwrap_err();
        assert!(
            refusal.fix().starts_with(advice),
            "{refusal}: {}",
            refusal.fix()
        );
    }
}
