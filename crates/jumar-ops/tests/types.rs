//! Operators give in every type what they give in float64 or int64, rounded to that type; and tensors without elements
//! are welcome everywhere.

use jumar_ops::{Attrs, OpError, Tensor, compute, find};
use jumar_types::dtype::DataType;

const REAL: [DataType; 4] = [
    DataType::Float32,
    DataType::Float16,
    DataType::BFloat16,
    DataType::Float64,
];
const INTEGERS: [DataType; 8] = [
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
];

fn run(operator: &str, inputs: &[Tensor], attrs: &Attrs) -> Result<Vec<Tensor>, OpError> {
    let inputs: Vec<Option<&Tensor>> = inputs.iter().map(Some).collect();
    compute(
        find(operator).expect("a registered operator"),
        &inputs,
        attrs,
    )
}

fn cast(tensor: &Tensor, dtype: DataType) -> Tensor {
    let attrs = Attrs::new().with("dst_type", i64::from(dtype.acl()));
    run("Cast", std::slice::from_ref(tensor), &attrs)
        .expect("a conversion")
        .remove(0)
}

fn reals(dims: &[usize], values: &[f64]) -> Tensor {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor::new(DataType::Float64, dims, bytes).expect("a tensor")
}

fn ints(dims: &[usize], values: &[i64]) -> Tensor {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor::new(DataType::Int64, dims, bytes).expect("a tensor")
}

/// One unit in the last place, relative.
fn unit(dtype: DataType) -> f64 {
    match dtype {
        DataType::Float16 => 2f64.powi(-10),
        DataType::BFloat16 => 2f64.powi(-7),
        DataType::Float32 => 1e-6,
        _ => 1e-14,
    }
}

#[track_caller]
fn near(what: &str, found: &Tensor, wanted: &Tensor, unit: f64) {
    assert_eq!(found.ty(), wanted.ty(), "{what}");
    let (found, wanted) = (found.floats().unwrap(), wanted.floats().unwrap());
    for (index, (a, b)) in found.iter().zip(&wanted).enumerate() {
        let same = a == b || (a.is_nan() && b.is_nan());
        assert!(
            same || (a - b).abs() <= unit * b.abs().max(1.0 / 16.0),
            "{what}: element {index} is {a}, and has to be {b}"
        );
    }
}

/// More than a block, so that the rest of one is seen too.
const MANY: usize = 300;

fn values(low: f64, high: f64, seed: u32) -> Tensor {
    let step = |index: usize| f64::from((index as u32 * 7919 + seed * 104_729) % 1009) / 1008.0;
    let list: Vec<f64> = (0..MANY).map(|i| low + (high - low) * step(i)).collect();
    reals(&[3, 100], &list)
}

#[test]
fn functions_of_one_real_number_agree_with_float64() {
    for (operator, low, high) in [
        ("Acos", -1.0, 1.0),
        ("Acosh", 1.0, 9.0),
        ("Asin", -1.0, 1.0),
        ("Asinh", -9.0, 9.0),
        ("Atan", -9.0, 9.0),
        ("Atanh", -0.9, 0.9),
        ("Celu", -3.0, 3.0),
        ("Ceil", -9.0, 9.0),
        ("Cos", -1.0, 1.0),
        ("Cosh", -3.0, 3.0),
        ("Elu", -3.0, 3.0),
        ("Erf", -3.0, 3.0),
        ("Exp", -3.0, 3.0),
        ("Floor", -9.0, 9.0),
        ("Gelu", 0.0, 3.0),
        ("GeluV2", 0.0, 3.0),
        ("HardSigmoid", -4.0, 4.0),
        ("HardSwish", -2.0, 4.0),
        ("Log", 2.0, 9.0),
        ("Mish", 0.0, 3.0),
        ("Reciprocal", 0.5, 9.0),
        ("Round", -9.0, 9.0),
        ("Selu", -3.0, 3.0),
        ("Sigmoid", -9.0, 9.0),
        ("Sin", -1.0, 1.0),
        ("Sinh", -3.0, 3.0),
        ("Softplus", -3.0, 3.0),
        ("Softsign", -9.0, 9.0),
        ("Sqrt", 0.0, 9.0),
        ("Swish", 0.0, 4.0),
        ("Tan", -1.0, 1.0),
        ("Tanh", -3.0, 3.0),
        ("IsNan", -3.0, 3.0),
        ("IsInf", -3.0, 3.0),
    ] {
        for dtype in REAL {
            let x = cast(&values(low, high, 1), dtype);
            let found = run(operator, std::slice::from_ref(&x), &Attrs::new())
                .unwrap()
                .remove(0);
            let wide = run(operator, &[cast(&x, DataType::Float64)], &Attrs::new()).unwrap();
            let wanted = cast(&wide[0], found.ty().dtype);
            near(&format!("{operator} {dtype}"), &found, &wanted, unit(dtype));
        }
    }
}

/// Runs in a type and in the wide type of its kind, and compares.
fn agrees(operator: &str, inputs: &[Tensor], dtype: DataType, attrs: &Attrs) {
    let own: Vec<Tensor> = inputs.iter().map(|input| cast(input, dtype)).collect();
    let wide = if REAL.contains(&dtype) {
        DataType::Float64
    } else {
        DataType::Int64
    };
    let wider: Vec<Tensor> = own.iter().map(|input| cast(input, wide)).collect();
    let found = run(operator, &own, attrs).unwrap().remove(0);
    let wanted = run(operator, &wider, attrs).unwrap().remove(0);
    let wanted = cast(&wanted, found.ty().dtype);
    let unit = if REAL.contains(&dtype) {
        unit(dtype)
    } else {
        0.0
    };
    near(&format!("{operator} {dtype}"), &found, &wanted, unit);
}

#[test]
fn arithmetic_and_comparisons_agree_with_the_wide_types() {
    let (x, y) = (values(1.0, 12.0, 1), values(1.0, 12.0, 2));
    for dtype in REAL.into_iter().chain(INTEGERS) {
        for operator in [
            "Add",
            "Sub",
            "Mul",
            "RealDiv",
            "Maximum",
            "Minimum",
            "Mod",
            "FloorMod",
            "PRelu",
            "Equal",
            "NotEqual",
            "Less",
            "LessEqual",
            "Greater",
            "GreaterEqual",
        ] {
            agrees(operator, &[x.clone(), y.clone()], dtype, &Attrs::new());
        }
        let small = values(0.0, 3.0, 3);
        agrees("Pow", &[values(0.0, 4.0, 4), small], dtype, &Attrs::new());
        for operator in ["Abs", "Neg", "Sign", "Relu"] {
            agrees(operator, std::slice::from_ref(&x), dtype, &Attrs::new());
        }
        let three = [values(0.0, 9.0, 5), reals(&[], &[2.0]), reals(&[], &[5.0])];
        agrees("ClipByValue", &three, dtype, &Attrs::new());
        agrees("AccumulateNV2", &three, dtype, &Attrs::new());
    }
}

#[test]
fn integers_wrap_around_in_their_own_type() {
    for (dtype, x, y, sum, product) in [
        (DataType::Int8, 127, 2, -127, -2),
        (DataType::UInt8, 255, 2, 1, 254),
        (DataType::Int16, i64::from(i16::MAX), 2, -32767, -2),
        (DataType::UInt16, 65535, 2, 1, 65534),
        (DataType::Int32, i64::from(i32::MAX), 2, -2_147_483_647, -2),
        (DataType::UInt32, i64::from(u32::MAX), 2, 1, 4_294_967_294),
        (DataType::Int64, i64::MAX, 2, i64::MIN + 1, -2),
    ] {
        let inputs = [
            cast(&ints(&[1], &[x]), dtype),
            cast(&ints(&[1], &[y]), dtype),
        ];
        for (operator, wanted) in [("Add", sum), ("Mul", product)] {
            let found = run(operator, &inputs, &Attrs::new()).unwrap();
            assert_eq!(found[0].ints().unwrap(), [wanted], "{operator} {dtype}");
        }
    }
}

#[test]
fn reductions_and_orders_agree_with_the_wide_types() {
    let axis = |x: &Tensor, axis: i64, dtype: DataType, operator: &str, attrs: &Attrs| {
        let own = cast(x, dtype);
        let wide = if REAL.contains(&dtype) {
            DataType::Float64
        } else {
            DataType::Int64
        };
        let axes = ints(&[1], &[axis]);
        let found = run(operator, &[own.clone(), axes.clone()], attrs)
            .unwrap()
            .remove(0);
        let wanted = run(operator, &[cast(&own, wide), axes], attrs)
            .unwrap()
            .remove(0);
        let unit = if REAL.contains(&dtype) {
            unit(dtype)
        } else {
            0.0
        };
        near(
            &format!("{operator} {dtype}"),
            &found,
            &cast(&wanted, found.ty().dtype),
            unit,
        );
    };
    let x = values(0.0, 2.0, 6);
    for dtype in REAL.into_iter().chain(INTEGERS) {
        for operator in [
            "ReduceSum",
            "ReduceMean",
            "ReduceMax",
            "ReduceMin",
            "ReduceProd",
            "jumar.ReduceL1",
            "jumar.ReduceL2",
            "jumar.ReduceSumSquare",
            "ReduceLogSumExp",
        ] {
            // Sums of a row stay inside the narrow types; a product of a hundred numbers does not.
            let axes: &[i64] = if operator == "ReduceProd" {
                &[0]
            } else {
                &[0, 1]
            };
            for &at in axes {
                axis(&x, at, dtype, operator, &Attrs::new());
            }
        }
        for operator in ["Cumsum", "ArgMaxV2", "ArgMin"] {
            axis(&values(0.0, 1.3, 7), 1, dtype, operator, &Attrs::new());
        }
        axis(&x, 3, dtype, "TopK", &Attrs::new());
    }
}

#[test]
fn tensors_without_elements_are_welcome() {
    let none = Attrs::new;
    let empty = |dims: &[usize], dtype: DataType| cast(&reals(dims, &[]), dtype);
    let x = || empty(&[2, 0, 3], DataType::Float32);
    let shape = |operator: &str, inputs: &[Tensor], attrs: Attrs| -> Vec<i64> {
        match run(operator, inputs, &attrs) {
            Ok(outputs) => outputs[0].ty().shape.clone(),
            Err(error) => panic!("{operator} refused: {error}"),
        }
    };
    for operator in [
        "Abs",
        "Exp",
        "Erf",
        "Sign",
        "Relu",
        "GeluV2",
        "IsNan",
        "HardMax",
        "SoftmaxV2",
        "Identity",
    ] {
        assert_eq!(shape(operator, &[x()], none()), [2, 0, 3], "{operator}");
    }
    for operator in [
        "Add",
        "Pow",
        "Mod",
        "Less",
        "Equal",
        "PRelu",
        "Maximum",
        "AccumulateNV2",
    ] {
        assert_eq!(
            shape(operator, &[x(), empty(&[0, 1], DataType::Float32)], none()),
            [2, 0, 3],
            "{operator}"
        );
    }
    let one = |value: i64| ints(&[1], &[value]);
    assert_eq!(shape("ReduceMax", &[x(), one(1)], none()), [2, 3]);
    assert_eq!(shape("ReduceLogSumExp", &[x(), one(0)], none()), [0, 3]);
    assert_eq!(shape("Cumsum", &[x(), one(2)], none()), [2, 0, 3]);
    assert_eq!(shape("ArgMaxV2", &[x(), one(2)], none()), [2, 0]);
    assert_eq!(shape("TopK", &[x(), one(2)], none()), [2, 0, 2]);
    assert_eq!(
        shape("Transpose", &[x(), ints(&[0], &[])], none()),
        [3, 0, 2]
    );
    assert_eq!(
        shape("Tile", &[x(), ints(&[3], &[2, 2, 2])], none()),
        [4, 0, 6]
    );
    assert_eq!(shape("Trilu", &[x()], none()), [2, 0, 3]);
    assert_eq!(shape("NonZero", &[x()], none()), [3, 0]);
    assert_eq!(shape("jumar.Unique", &[x()], none()), [0]);
    assert_eq!(
        shape(
            "SplitV",
            &[x(), ints(&[2], &[1, 2]), one(2)],
            none().with("num_split", 2)
        ),
        [2, 0, 1]
    );
    assert_eq!(
        shape("ConcatD", &[x(), x()], none().with("concat_dim", 1)),
        [2, 0, 3]
    );
    assert_eq!(
        shape(
            "GatherV2",
            &[x(), empty(&[0], DataType::Int64), one(2)],
            none()
        ),
        [2, 0, 0]
    );
    assert_eq!(
        shape(
            "GatherElements",
            &[x(), empty(&[2, 0, 3], DataType::Int64)],
            none()
        ),
        [2, 0, 3]
    );
    assert_eq!(
        shape("GatherNd", &[x(), empty(&[0, 1], DataType::Int64)], none()),
        [0, 0, 3]
    );
    let scattered = [x(), empty(&[2, 0, 3], DataType::Int64), x()];
    assert_eq!(shape("ScatterElements", &scattered, none()), [2, 0, 3]);
    let update = [
        ints(&[2], &[1, 2]),
        empty(&[0, 1], DataType::Int64),
        empty(&[0], DataType::Int64),
    ];
    assert_eq!(shape("TensorScatterUpdate", &update, none()), [2]);
    let hot = [empty(&[0], DataType::Int64), one(3), one(1), one(0)];
    assert_eq!(shape("OneHot", &hot, none()), [0, 3]);
    assert_eq!(
        shape(
            "jumar.CenterCropPad",
            &[x(), ints(&[3], &[1, 2, 1])],
            none()
        ),
        [1, 2, 1]
    );
    let image = empty(&[0, 4, 2, 2], DataType::Float32);
    let blocks = none().with("block_size", 2).with("data_format", "NCHW");
    assert_eq!(
        shape("DepthToSpace", std::slice::from_ref(&image), blocks.clone()),
        [0, 1, 4, 4]
    );
    assert_eq!(shape("SpaceToDepth", &[image], blocks), [0, 16, 1, 1]);
    let times = none().with("seq_dim", 0).with("batch_dim", 1);
    assert_eq!(
        shape(
            "ReverseSequence",
            &[x(), empty(&[0], DataType::Int64)],
            times
        ),
        [2, 0, 3]
    );
    let mask = cast(&ints(&[0], &[]), DataType::Bool);
    assert_eq!(
        shape("jumar.Compress", &[x(), mask], none().with("axis", 1)),
        [2, 0, 3]
    );
    assert_eq!(
        shape("SelectV2", &[cast(&x(), DataType::Bool), x(), x()], none()),
        [2, 0, 3]
    );
    assert_eq!(
        shape(
            "Expand",
            &[empty(&[0, 1], DataType::Float32), ints(&[3], &[2, 0, 3])],
            none()
        ),
        [2, 0, 3]
    );
    assert_eq!(
        shape("PadV3", &[x(), ints(&[3, 2], &[0, 0, 1, 1, 0, 0])], none()),
        [2, 2, 3]
    );
    let cut = [x(), one(0), one(1), one(2)];
    assert_eq!(shape("StridedSliceV2", &cut, none()), [2, 0, 1]);
}
