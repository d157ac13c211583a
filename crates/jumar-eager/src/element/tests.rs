//! Functions of elements over long rows, whose results the `half` crate and float64 compute one by one.

use jumar_ops::view::{BF16, Block, F16, Region};
use jumar_types::dtype::DataType;

use crate::{Arg, Dims, Scalar, TensorArg, TensorDesc, Workers, plan};

const TYPES: [DataType; 3] = [DataType::Float32, DataType::Float16, DataType::BFloat16];

/// Values that are exact in each type, and the special ones.
fn value(index: usize) -> f32 {
    match index % 97 {
        5 => -0.0,
        6 => f32::NAN,
        7 => f32::INFINITY,
        8 => f32::NEG_INFINITY,
        at => (at as f32 - 48.0) / 8.0,
    }
}

fn rounded(dtype: DataType, value: f32) -> f32 {
    match dtype {
        DataType::Float16 => F16::from_f32_const(value).to_f32_const(),
        DataType::BFloat16 => BF16::from_f32_const(value).to_f32_const(),
        _ => value,
    }
}

fn encoded(dtype: DataType, values: impl Iterator<Item = f32>) -> Vec<u8> {
    match dtype {
        DataType::Float16 => values
            .flat_map(|x| F16::from_f32_const(x).to_le_bytes())
            .collect(),
        DataType::BFloat16 => values
            .flat_map(|x| BF16::from_f32_const(x).to_le_bytes())
            .collect(),
        DataType::Bool => values.map(|x| u8::from(x != 0.0) * 3).collect(),
        _ => values.flat_map(f32::to_le_bytes).collect(),
    }
}

fn decoded(dtype: DataType, bytes: &[u8]) -> Vec<f32> {
    let halves = || {
        bytes
            .chunks(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
    };
    match dtype {
        DataType::Float16 => halves()
            .map(|bits| F16::from_bits(bits).to_f32_const())
            .collect(),
        DataType::BFloat16 => halves()
            .map(|bits| BF16::from_bits(bits).to_f32_const())
            .collect(),
        _ => bytes
            .chunks(4)
            .map(|word| f32::from_le_bytes(word.try_into().unwrap()))
            .collect(),
    }
}

/// A tensor of a call: its descriptor and the elements of its buffer.
struct Given(TensorDesc, Vec<u8>);

fn dense(dtype: DataType, dims: &[i64], first: usize) -> Given {
    let count = dims.iter().product::<i64>() as usize;
    let values = (first..first + count).map(value);
    Given(TensorDesc::contiguous(dtype, dims), encoded(dtype, values))
}

/// Calls an operator. The last tensor is the output; `in_place` makes it the buffer of the first.
fn called(name: &str, tensors: Vec<Given>, others: &[(usize, Arg)], in_place: bool) -> Vec<u8> {
    let last = tensors.len() - 1;
    let descs = tensors.iter().enumerate().map(|(index, Given(desc, _))| {
        let buffer = if in_place && index == last { 0 } else { index };
        Arg::Tensor(TensorArg {
            desc: desc.clone(),
            buffer,
        })
    });
    let mut args: Vec<Arg> = descs.collect();
    for (index, arg) in others {
        args.insert(*index, arg.clone());
    }
    let mut all = crate::signatures::ALL.iter();
    let signature = all.find(|signature| signature.name == name).unwrap();
    let plan = plan(signature, &args).unwrap();
    let mut blocks: Vec<Block> = tensors
        .iter()
        .map(|Given(_, bytes)| Block::of(bytes))
        .collect();
    let mut workspace = Block::zeroed(plan.workspace_bytes());
    let regions: Vec<Region<'_>> = blocks.iter_mut().map(Block::region).collect();
    plan.run(&regions, workspace.region(), Workers::ALONE)
        .unwrap();
    blocks[if in_place { 0 } else { last }].bytes().to_vec()
}

#[track_caller]
fn assert_same(found: &[f32], wanted: &[f32], what: &str) {
    assert_eq!(found.len(), wanted.len());
    for (index, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let is_same = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
        assert!(is_same, "{what} at {index}: {found:?}, not {wanted:?}");
    }
}

#[test]
fn rows_of_any_length_are_computed_in_one_pass() {
    for dtype in TYPES {
        for len in [1, 2, 31, 32, 33, 64, 100, 1000] {
            let x: Vec<f32> = (0..len as usize).map(value).collect();
            let of = |f: &dyn Fn(f32) -> f32| -> Vec<f32> {
                x.iter().map(|&x| rounded(dtype, f(x))).collect()
            };
            let one = |name: &str, others: &[(usize, Arg)], in_place: bool| {
                let tensors = vec![dense(dtype, &[len], 0), dense(dtype, &[len], 0)];
                decoded(dtype, &called(name, tensors, others, in_place))
            };
            let slope = Arg::Scalar(Scalar::of_f64(0.3));
            for in_place in [false, true] {
                let found = one("aclnnAbs", &[], in_place);
                assert_same(&found, &of(&f32::abs), "abs");
                assert_same(&one("aclnnNeg", &[], in_place), &of(&|x| -x), "neg");
                assert_same(
                    &one("aclnnSquare", &[], in_place),
                    &of(&|x| x * x),
                    "square",
                );
                let wanted = of(&|x| if x > 0.0 { x } else { x * 0.3f32 });
                let found = one("aclnnLeakyRelu", &[(1, slope.clone())], in_place);
                assert_same(&found, &wanted, "leaky_relu");
            }
        }
    }
}

#[test]
fn operands_may_be_repeated_rows_and_columns() {
    let (rows, columns) = (5, 70);
    for dtype in TYPES {
        for dims in [[rows, columns], [1, columns], [rows, 1], [1, 1]] {
            let tensors = vec![
                dense(dtype, &[rows, columns], 0),
                dense(dtype, &dims, 30),
                dense(dtype, &[rows, columns], 0),
            ];
            let found = decoded(dtype, &called("aclnnMul", tensors, &[], false));
            let other = |row: i64, column: i64| {
                let (row, column) = (row.min(dims[0] - 1), column.min(dims[1] - 1));
                value((30 + row * dims[1] + column) as usize)
            };
            let wanted: Vec<f32> = (0..rows * columns)
                .map(|at| value(at as usize) * other(at / columns, at % columns))
                .map(|product| rounded(dtype, product))
                .collect();
            assert_same(&found, &wanted, &format!("{dtype} {dims:?}"));
        }
    }
}

#[test]
fn rows_with_gaps_between_them_stay_what_they_were_there() {
    let (rows, columns, stride) = (4, 66, 70);
    let mut desc = TensorDesc::contiguous(DataType::BFloat16, &[rows, columns]);
    desc.strides = Dims::new(&[stride, 1]);
    desc.storage = Dims::new(&[rows * stride]);
    let all = || encoded(DataType::BFloat16, (0..(rows * stride) as usize).map(value));
    let tensors = vec![Given(desc.clone(), all()), Given(desc, all())];
    let found = decoded(DataType::BFloat16, &called("aclnnAbs", tensors, &[], false));
    let wanted: Vec<f32> = (0..rows * stride)
        .map(|at| match at % stride < columns {
            true => value(at as usize).abs(),
            false => value(at as usize),
        })
        .collect();
    assert_same(&found, &wanted, "abs");
}

#[test]
fn elements_are_selected_by_booleans() {
    for dtype in TYPES {
        for len in [1, 31, 64, 1000] {
            let mask = (0..len as usize).map(|at| f32::from(u8::from(at % 3 == 0)));
            let mask = encoded(DataType::Bool, mask);
            let tensors = vec![
                Given(TensorDesc::contiguous(DataType::Bool, &[len]), mask),
                dense(dtype, &[len], 0),
                dense(dtype, &[len], 40),
                dense(dtype, &[len], 0),
            ];
            let found = decoded(dtype, &called("aclnnSWhere", tensors, &[], false));
            let wanted: Vec<f32> = (0..len as usize)
                .map(|at| value(if at % 3 == 0 { at } else { at + 40 }))
                .collect();
            assert_same(&found, &wanted, &format!("{dtype} {len}"));
        }
    }
}

#[test]
fn float32_converts_to_16_bits_and_back() {
    let single = DataType::Float32;
    for half in [DataType::Float16, DataType::BFloat16] {
        for len in [1, 33, 1000] {
            let exact: Vec<f32> = (0..len as usize).map(|at| value(at) * 1.001).collect();
            let bytes = encoded(single, exact.iter().copied());
            let wanted: Vec<f32> = exact.iter().map(|&x| rounded(half, x)).collect();
            let tensors = vec![
                Given(TensorDesc::contiguous(single, &[len]), bytes),
                dense(half, &[len], 0),
            ];
            let bytes = called("aclnnCast", tensors, &[(1, Arg::Type(half))], false);
            assert_same(&decoded(half, &bytes), &wanted, "rounded");
            let tensors = vec![
                Given(TensorDesc::contiguous(half, &[len]), bytes),
                dense(single, &[len], 0),
            ];
            let bytes = called("aclnnCast", tensors, &[(1, Arg::Type(single))], false);
            assert_same(&decoded(single, &bytes), &wanted, "widened");
        }
    }
}
