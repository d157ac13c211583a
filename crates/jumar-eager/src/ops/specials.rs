//! Tests of numbers at the ends of what functions are defined for, and of what is not a number.

use jumar_types::dtype::DataType;

use crate::trial::Trial;

fn doubles(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn read(bytes: &[u8]) -> Vec<f64> {
    let chunks = bytes.chunks(8);
    chunks
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect()
}

#[test]
fn the_inverse_error_function_of_doubles_keeps_its_digits_next_to_one() {
    // Of scipy.special.erfinv.
    let wanted = [
        (1.0 - f64::EPSILON / 2.0, 5.863_584_748_755_168),
        (1.0 - 1e-10, 4.572_824_958_544_925),
        (-0.999, -2.326_753_765_513_525),
        (0.5, 0.476_936_276_204_469_9),
    ];
    let inputs: Vec<f64> = wanted.iter().map(|&(x, _)| x).collect();
    let outcome = Trial::new("aclnnErfinv")
        .tensor("self", DataType::Float64, &[4], doubles(&inputs))
        .output("out", DataType::Float64, &[4])
        .run();
    for (found, (x, wanted)) in read(outcome.bytes("out")).into_iter().zip(wanted) {
        let off = (found - wanted).abs();
        assert!(off < 1e-7 * wanted.abs(), "{x}: {found} and not {wanted}");
    }
}

#[test]
fn what_is_added_to_a_variance_of_doubles_is_not_rounded_to_float32() {
    let outcome = Trial::new("aclnnLayerNorm")
        .tensor("input", DataType::Float64, &[2], doubles(&[0.0, 2e-5]))
        .ints("normalizedShape", &[2])
        .float("eps", 1e-5)
        .output("out", DataType::Float64, &[2])
        .run();
    let wanted = 1e-5 / (1e-10f64 + 1e-5).sqrt();
    let found = read(outcome.bytes("out"))[1];
    assert!((found - wanted).abs() < 1e-11 * wanted, "{found}");
}

#[test]
fn a_group_with_a_nan_has_a_deviation_that_is_none() {
    let outcome = Trial::new("aclnnGroupNorm")
        .floats("self", &[1, 2, 2], &[f32::NAN, 1.0, 2.0, 4.0])
        .int("N", 1)
        .int("C", 2)
        .int("HxW", 2)
        .int("group", 2)
        .float("eps", 1e-5)
        .output("out", DataType::Float32, &[1, 2, 2])
        .output("meanOut", DataType::Float32, &[1, 2])
        .output("rstdOut", DataType::Float32, &[1, 2])
        .run();
    let deviations = outcome.floats("rstdOut");
    assert!(deviations[0].is_nan() && deviations[1].is_finite());
}

#[test]
fn the_gradient_of_selu_at_zero_is_that_of_negative_numbers() {
    let outcome = Trial::new("aclnnSeluBackward")
        .floats("gradOutput", &[2], &[1.0, 1.0])
        .floats("result", &[2], &[0.0, 1.0])
        .output("gradInput", DataType::Float32, &[2])
        .run();
    // Of torch.nn.functional.selu.
    assert_eq!(outcome.floats("gradInput"), [1.758_099_3, 1.050_701]);
}

#[test]
fn a_gate_with_limits_keeps_what_is_not_a_number() {
    let outcome = Trial::new("aclnnClippedSwiglu")
        .floats("x", &[2, 2], &[f32::NAN, 1.0, 1.0, f32::NAN])
        .int("dim", 1)
        .float("alpha", 1.0)
        .float("limit", 7.0)
        .output("out", DataType::Float32, &[2, 1])
        .run();
    assert!(outcome.floats("out").iter().all(|value| value.is_nan()));
}

#[test]
fn a_row_with_a_nan_has_no_largest_element() {
    let row = [f32::NAN, 2.0, 3.0];
    let outcome = Trial::new("aclnnEmbeddingRenorm")
        .floats("selfRef", &[1, 3], &row)
        .tensor(
            "indices",
            DataType::Int64,
            &[1],
            0i64.to_le_bytes().to_vec(),
        )
        .float("maxNorm", 1.0)
        .float("normType", f64::INFINITY)
        .run();
    // As in PyTorch, where a norm that is not a number is not beyond the limit.
    assert_eq!(outcome.floats("selfRef")[1..], row[1..]);
}
