//! Random numbers: what seeds and offsets decide, moments, ranges, and masks.

use jumar_ops::OpErrorKind;
use jumar_ops::view::Block;
use jumar_types::dtype::DataType;

use crate::{Arg, Dims, OpError, Refusal, Scalar, TensorArg, TensorDesc, Workers, plan};

const LEN: i64 = 20_000;

fn signature(name: &str) -> &'static crate::Signature {
    let mut all = crate::signatures::ALL.iter();
    all.find(|signature| signature.name == name).unwrap()
}

fn tensor(buffer: usize, dtype: DataType, dims: &[i64]) -> Arg {
    let desc = TensorDesc::contiguous(dtype, dims);
    Arg::Tensor(TensorArg { desc, buffer })
}

/// Plans a call, and runs it on memory for each tensor, of which it returns the bytes.
fn call(name: &str, args: &[Arg], memory: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, OpError> {
    let plan = plan(signature(name), args).unwrap();
    let mut blocks: Vec<Block> = memory.iter().map(|bytes| Block::of(bytes)).collect();
    let regions: Vec<_> = blocks.iter_mut().map(Block::region).collect();
    let mut workspace = Block::zeroed(plan.workspace_bytes());
    plan.run(&regions, workspace.region(), Workers::ALONE)?;
    Ok(regions.iter().map(|region| region.to_vec()).collect())
}

fn refusal(name: &str, args: &[Arg]) -> Refusal {
    plan(signature(name), args).unwrap_err()
}

fn f32s(bytes: &[u8]) -> Vec<f64> {
    let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    bytes
        .chunks(4)
        .map(|bytes| f64::from(number(bytes)))
        .collect()
}

fn i64s(bytes: &[u8]) -> Vec<i64> {
    let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks(8).map(number).collect()
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let square = |value: &f64| (value - mean).powi(2);
    (
        mean,
        values.iter().map(square).sum::<f64>() / values.len() as f64,
    )
}

fn floats(name: &str, one: f64, two: f64, seed: i64, offset: i64) -> Vec<f64> {
    let args = [
        tensor(0, DataType::Float32, &[LEN]),
        Arg::Float(one),
        Arg::Float(two),
        Arg::Int(seed),
        Arg::Int(offset),
    ];
    f32s(&call(name, &args, &[vec![0; LEN as usize * 4]]).unwrap()[0])
}

fn equal(one: &[f64], two: &[f64]) -> usize {
    one.iter().zip(two).filter(|(one, two)| one == two).count()
}

#[test]
fn seeds_and_offsets_decide() {
    for name in ["aclnnInplaceNormal", "aclnnInplaceUniform"] {
        let first = floats(name, 0.0, 1.0, 7, 4);
        assert_eq!(first, floats(name, 0.0, 1.0, 7, 4));
        for (seed, offset) in [(8, 4), (7, 8), (7 | 1 << 40, 4), (7, 4 | 1 << 40), (-7, 4)] {
            let other = floats(name, 0.0, 1.0, seed, offset);
            assert!(equal(&first, &other) < 10, "{name} {seed} {offset}");
        }
    }
}

#[test]
fn moments_and_ranges_are_those_of_the_distributions() {
    // Five deviations of the moments of 20000 numbers.
    let (mean, variance) = moments(&floats("aclnnInplaceNormal", 3.0, 2.0, 1, 0));
    assert!(
        (mean - 3.0).abs() < 0.07 && (variance - 4.0).abs() < 0.2,
        "{mean} {variance}"
    );
    let uniform = floats("aclnnInplaceUniform", -1.0, 3.0, 1, 0);
    let (mean, variance) = moments(&uniform);
    assert!(
        (mean - 1.0).abs() < 0.041 && (variance - 4.0 / 3.0).abs() < 0.045,
        "{mean} {variance}"
    );
    assert!(uniform.iter().all(|x| (-1.0..3.0).contains(x)));
    let args = [
        tensor(0, DataType::Int64, &[LEN]),
        Arg::Int(-2),
        Arg::Int(3),
        Arg::Int(1),
        Arg::Int(0),
    ];
    let integers =
        i64s(&call("aclnnInplaceRandom", &args, &[vec![0; LEN as usize * 8]]).unwrap()[0]);
    for value in -2..3 {
        let count = integers.iter().filter(|own| **own == value).count();
        assert!((3700..4300).contains(&count), "{value} {count}");
    }
    let args = [
        tensor(0, DataType::Float32, &[LEN]),
        Arg::Scalar(Scalar::of_f64(0.3)),
        Arg::Int(1),
        Arg::Int(0),
    ];
    let drawn =
        f32s(&call("aclnnInplaceBernoulli", &args, &[vec![0; LEN as usize * 4]]).unwrap()[0]);
    assert!(drawn.iter().all(|x| *x == 0.0 || *x == 1.0));
    let (mean, _) = moments(&drawn);
    assert!((mean - 0.3).abs() < 0.0163, "{mean}");
}

#[test]
fn numbers_of_a_type_reach_over_its_range() {
    let drawn = |dtype, size: usize| {
        let args = [tensor(0, dtype, &[LEN]), Arg::Int(1), Arg::Int(0)];
        let memory = [vec![0; LEN as usize * size]];
        let mut found = call("aclnnInplaceRandomWithoutFromTo", &args, &memory).unwrap();
        found.remove(0)
    };
    let bytes = drawn(DataType::UInt8, 1);
    for value in 0..=255 {
        assert!(bytes.contains(&value), "{value}");
    }
    let booleans = drawn(DataType::Bool, 1);
    assert!(booleans.contains(&0) && booleans.contains(&1) && booleans.iter().all(|x| *x < 2));
    let integers = i64s(&drawn(DataType::Int64, 8));
    assert!(integers.iter().all(|x| *x >= 0) && integers.iter().any(|x| *x > i64::MAX / 4 * 3));
    let reals = f32s(&drawn(DataType::Float32, 4));
    let most = f64::from(1 << 24);
    assert!(
        reals
            .iter()
            .all(|x| (0.0..=most).contains(x) && x.fract() == 0.0)
    );
    let (mean, _) = moments(&reals);
    assert!((mean / most - 0.5).abs() < 0.01, "{mean}");
}

#[test]
fn strides_do_not_change_the_numbers() {
    let dense = floats("aclnnInplaceNormal", 0.0, 1.0, 7, 4);
    let mut desc = TensorDesc::contiguous(DataType::Float32, &[LEN]);
    desc.strides = Dims::new(&[3]);
    desc.storage = Dims::new(&[3 * LEN]);
    let args = [
        Arg::Tensor(TensorArg { desc, buffer: 0 }),
        Arg::Float(0.0),
        Arg::Float(1.0),
        Arg::Int(7),
        Arg::Int(4),
    ];
    let memory = [vec![0; LEN as usize * 12]];
    let found = f32s(&call("aclnnInplaceNormal", &args, &memory).unwrap()[0]);
    assert_eq!(
        found.iter().copied().step_by(3).collect::<Vec<f64>>(),
        dense
    );
    assert!(
        found
            .chunks(3)
            .all(|three| three[1] == 0.0 && three[2] == 0.0)
    );
}

#[test]
fn seeds_in_tensors_equal_seeds_of_the_host() {
    let args = [
        tensor(0, DataType::Float32, &[LEN]),
        Arg::Float(0.0),
        Arg::Float(1.0),
        tensor(1, DataType::Int64, &[1]),
        tensor(2, DataType::Int64, &[1]),
        Arg::Int(3),
    ];
    let memory = [
        vec![0; LEN as usize * 4],
        7i64.to_le_bytes().to_vec(),
        1i64.to_le_bytes().to_vec(),
    ];
    let found = call("aclnnInplaceNormalTensor", &args, &memory).unwrap();
    assert_eq!(
        f32s(&found[0]),
        floats("aclnnInplaceNormal", 0.0, 1.0, 7, 4)
    );
}

#[test]
fn a_mask_of_bits_keeps_elements_in_proportion() {
    let len = 10_003usize;
    let bytes = len.div_ceil(128) * 16;
    let args = [
        Arg::Ints(vec![7, 1429]),
        Arg::Float(0.25),
        Arg::Int(1),
        Arg::Int(2),
        Arg::Type(DataType::Float32),
        tensor(0, DataType::UInt8, &[bytes as i64]),
    ];
    let mask = call("aclnnDropoutGenMaskV2", &args, &[vec![0xff; bytes]])
        .unwrap()
        .remove(0);
    let bit = |index: usize| mask[index / 8] >> (index % 8) & 1 == 1;
    let kept = (0..len).filter(|&index| bit(index)).count() as f64 / len as f64;
    assert!((kept - 0.75).abs() < 0.022, "{kept}");
    assert!((len..bytes * 8).all(|index| !bit(index)));
    let args = [
        tensor(0, DataType::Float32, &[7, 1429]),
        tensor(1, DataType::UInt8, &[bytes as i64]),
        Arg::Float(0.25),
        tensor(2, DataType::Float32, &[7, 1429]),
    ];
    let memory = [bytes_of(&vec![3.0; len]), mask.clone(), vec![0; len * 4]];
    let out = f32s(&call("aclnnDropoutDoMask", &args, &memory).unwrap()[2]);
    for (index, value) in out.into_iter().enumerate() {
        assert_eq!(value, if bit(index) { 4.0 } else { 0.0 }, "{index}");
    }
    let short = [
        args[0].clone(),
        tensor(1, DataType::UInt8, &[1000]),
        args[2].clone(),
        args[3].clone(),
    ];
    assert!(
        refusal("aclnnDropoutDoMask", &short)
            .text()
            .contains("at least 1251")
    );
}

#[test]
fn dropout_keeps_what_its_mask_says() {
    let args = |train| {
        [
            tensor(0, DataType::Float32, &[64]),
            Arg::Float(0.5),
            Arg::Bool(train),
            Arg::Int(1),
            Arg::Int(2),
            tensor(1, DataType::Float32, &[64]),
            tensor(2, DataType::UInt8, &[16]),
        ]
    };
    let values: Vec<f32> = (1..=64u8).map(f32::from).collect();
    let memory = [bytes_of(&values), vec![0; 256], vec![0; 16]];
    let found = call("aclnnDropout", &args(true), &memory).unwrap();
    let out = f32s(&found[1]);
    assert!(out.contains(&0.0) && out.iter().any(|x| *x != 0.0));
    for (index, value) in out.into_iter().enumerate() {
        let bit = found[2][index / 8] >> (index % 8) & 1;
        assert_eq!(value, f64::from(bit) * 2.0 * (index + 1) as f64);
    }
    let found = call("aclnnDropout", &args(false), &memory).unwrap();
    assert_eq!((&found[1], &found[2]), (&memory[0], &vec![255; 16]));
}

#[test]
fn the_third_form_of_dropout_scales_what_its_mask_keeps() {
    let len = 10_003usize;
    let bytes = len.div_ceil(128) * 16;
    let args = |prob: f64, seed, dtype, bytes: usize| {
        [
            tensor(0, DataType::Float32, &[7, 1429]),
            Arg::Null,
            Arg::Float(prob),
            Arg::Int(seed),
            Arg::Int(8),
            tensor(1, dtype, &[7, 1429]),
            tensor(2, DataType::UInt8, &[bytes as i64]),
        ]
    };
    let values: Vec<f32> = (0..len).map(|index| 1.0 + index as f32).collect();
    let memory = [bytes_of(&values), vec![0; len * 4], vec![0xa5; bytes]];
    let call = |args: &[Arg]| call("aclnnDropoutV3", args, &memory).unwrap();
    let found = call(&args(0.25, 1, DataType::Float32, bytes));
    let bit = |mask: &[u8], index: usize| mask[index / 8] >> (index % 8) & 1 == 1;
    let kept = (0..len).filter(|&index| bit(&found[2], index)).count() as f64 / len as f64;
    // Five deviations of the share of 10003 numbers.
    assert!((kept - 0.75).abs() < 0.022, "{kept}");
    for (index, out) in f32s(&found[1]).into_iter().enumerate() {
        let wanted = if bit(&found[2], index) {
            (1.0 + index as f64) / 0.75
        } else {
            0.0
        };
        assert!((out - wanted).abs() <= wanted * 1e-6, "{index}: {out}");
    }
    assert_eq!(found, call(&args(0.25, 1, DataType::Float32, bytes)));
    assert_ne!(found, call(&args(0.25, 2, DataType::Float32, bytes)));
    // Nothing is drawn, and the mask is not written.
    let found = call(&args(0.0, 1, DataType::Float32, bytes));
    assert_eq!((&found[1], &found[2]), (&memory[0], &memory[2]));
    let found = call(&args(1.0, 1, DataType::Float32, bytes));
    assert_eq!((&found[1], &found[2]), (&memory[1], &memory[2]));
    for (args, sentence) in [
        (args(1.5, 1, DataType::Float32, bytes), "p is 1.5"),
        (args(0.5, 1, DataType::Int32, bytes), "out has the type"),
        (
            args(0.5, 1, DataType::Float32, bytes + 1),
            "maskOut has the shape",
        ),
    ] {
        let refusal = refusal("aclnnDropoutV3", &args);
        assert!(refusal.text().contains(sentence), "{refusal}");
        assert_eq!(refusal.status().code(), 161_002);
    }
    let mut args = args(0.5, 1, DataType::Float32, bytes);
    args[6] = Arg::Null;
    let refusal = refusal("aclnnDropoutV3", &args);
    assert_eq!(refusal.status().code(), 161_001, "{refusal}");
}

#[test]
fn gradients_of_dropout_follow_the_bits_of_the_mask() {
    let values: Vec<f32> = (0..21).map(|index| 1.0 + index as f32).collect();
    // A bit for each element, in groups of 128.
    let mut mask = vec![0; 16];
    mask[..3].copy_from_slice(&[0b1010_0110, 0b0000_1111, 0b1_0001]);
    let memory = [bytes_of(&values), mask, bytes_of(&[7.0; 21])];
    for (operator, dtype) in [
        ("aclnnDropoutBackward", DataType::Float32),
        ("aclnnDropoutV3Grad", DataType::Float32),
    ] {
        for scale in [1.25, 0.0, 1.0] {
            let args = [
                tensor(0, dtype, &[3, 7]),
                tensor(1, DataType::UInt8, &[16]),
                Arg::Float(scale),
                tensor(2, dtype, &[3, 7]),
            ];
            let found = f32s(&call(operator, &args, &memory).unwrap()[2]);
            for (index, found) in found.into_iter().enumerate() {
                let bit = memory[1][index / 8] >> (index % 8) & 1 == 1;
                let wanted = match bit || scale == 1.0 {
                    true => (1.0 + index as f64) * scale,
                    false => 0.0,
                };
                assert_eq!(found, wanted, "{operator}, {scale}, {index}");
            }
        }
        let short = [
            tensor(0, dtype, &[3, 7]),
            tensor(1, DataType::UInt8, &[2]),
            Arg::Float(2.0),
            tensor(2, dtype, &[3, 7]),
        ];
        let refusal = refusal(operator, &short);
        assert_eq!(refusal.status().code(), 161_002);
        assert!(refusal.text().contains("mask has 2 bytes"), "{refusal}");
    }
}

#[test]
fn exponential_numbers_have_their_moments() {
    let args = |count: i64, rate: f64, seed: i64, dtype| {
        [
            tensor(0, dtype, &[LEN]),
            Arg::Int(count),
            Arg::Float(rate),
            Arg::Int(seed),
            Arg::Int(4),
        ]
    };
    let name = "aclnnSimThreadExponential";
    let before = bytes_of(&vec![-1.0; LEN as usize]);
    let drawn = |count, rate, seed| {
        let args = args(count, rate, seed, DataType::Float32);
        f32s(&call(name, &args, std::slice::from_ref(&before)).unwrap()[0])
    };
    let numbers = drawn(LEN, 4.0, 7);
    assert!(numbers.iter().all(|x| *x >= 0.0 && x.is_finite()));
    // Five deviations of the moments of 20000 numbers; the fourth moment about the mean is 9 times the square of the variance.
    let (mean, variance) = moments(&numbers);
    assert!((mean - 0.25).abs() < 0.25 * 0.0354, "{mean}");
    assert!((variance - 0.0625).abs() < 0.0625 * 0.1, "{variance}");
    // Half of them lie below the logarithm of 2.
    let below = numbers.iter().filter(|x| **x < 2f64.ln() / 4.0).count();
    assert!((9600..10400).contains(&below), "{below}");
    assert_eq!(numbers, drawn(LEN, 4.0, 7));
    assert!(equal(&numbers, &drawn(LEN, 4.0, 8)) < 10);
    // The elements behind the count stay.
    let part = drawn(100, 4.0, 7);
    assert_eq!(part[..100], numbers[..100]);
    assert!(part[100..].iter().all(|x| *x == -1.0));
    for (args, sentence) in [
        (args(LEN, 0.0, 1, DataType::Float32), "lambda is 0"),
        (args(LEN, f64::NAN, 1, DataType::Float32), "lambda is NaN"),
        (args(LEN + 1, 1.0, 1, DataType::Float32), "count is 20001"),
        (args(-1, 1.0, 1, DataType::Float32), "count is -1"),
        (args(LEN, 1.0, 1, DataType::Float64), "selfRef has the type"),
    ] {
        let refusal = refusal(name, &args);
        assert!(refusal.text().contains(sentence), "{refusal}");
        assert_eq!(refusal.status().code(), 161_002);
    }
}

#[test]
fn a_permutation_has_every_number_once() {
    let args = |n: i64, seed| {
        [
            Arg::Int(n),
            Arg::Int(seed),
            Arg::Int(0),
            tensor(0, DataType::Int64, &[1000]),
        ]
    };
    let drawn =
        |seed| i64s(&call("aclnnRandperm", &args(1000, seed), &[vec![0; 8000]]).unwrap()[0]);
    let one = drawn(1);
    assert_eq!(one, drawn(1));
    assert_ne!(one, drawn(2));
    let mut sorted = one.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..1000));
    let mean = one[..500].iter().sum::<i64>() / 500;
    assert!((435..565).contains(&mean), "{mean}");
    assert!(
        refusal("aclnnRandperm", &args(-1, 0))
            .text()
            .contains("n is -1")
    );
}

#[test]
fn samples_have_the_frequencies_of_their_weights() {
    let weights = [1.0f32, 0.0, 3.0, 4.0];
    let args = |samples: i64, replacement| {
        [
            tensor(0, DataType::Float32, &[4]),
            Arg::Int(samples),
            Arg::Bool(replacement),
            Arg::Int(5),
            Arg::Int(0),
            tensor(1, DataType::Int64, &[samples]),
        ]
    };
    let memory = |weights: &[f32], samples: usize| [bytes_of(weights), vec![0; samples * 8]];
    let found = call(
        "aclnnMultinomial",
        &args(8000, true),
        &memory(&weights, 8000),
    )
    .unwrap();
    let drawn = i64s(&found[1]);
    for (class, wanted) in [1000, 0, 3000, 4000].into_iter().enumerate() {
        let count = drawn.iter().filter(|own| **own == class as i64).count() as i64;
        assert!(
            (count - wanted).abs() < 240 && (wanted > 0 || count == 0),
            "{class} {count}"
        );
    }
    let found = call("aclnnMultinomial", &args(3, false), &memory(&weights, 3)).unwrap();
    let mut three = i64s(&found[1]);
    three.sort_unstable();
    assert_eq!(three, [0, 2, 3]);
    for (samples, bad) in [
        (4usize, weights),
        (1, [1.0, -1.0, 1.0, 1.0]),
        (1, [1.0, f32::NAN, 1.0, 1.0]),
    ] {
        let args = args(samples as i64, false);
        let error = call("aclnnMultinomial", &args, &memory(&bad, samples)).unwrap_err();
        assert_eq!(error.kind(), OpErrorKind::Data, "{error}");
    }
    assert!(
        refusal("aclnnMultinomial", &args(5, false))
            .text()
            .contains("at most 4")
    );
}

#[test]
fn distributions_that_do_not_exist_are_refused() {
    let x = || tensor(0, DataType::Float32, &[4]);
    let (seed, offset) = (Arg::Int(1), Arg::Int(0));
    for (name, args, sentence) in [
        (
            "aclnnInplaceNormal",
            vec![x(), Arg::Float(0.0), Arg::Float(-1.0)],
            "std is -1",
        ),
        (
            "aclnnInplaceUniform",
            vec![x(), Arg::Float(2.0), Arg::Float(1.0)],
            "from is 2",
        ),
        (
            "aclnnInplaceRandom",
            vec![x(), Arg::Int(2), Arg::Int(2)],
            "from must be below to",
        ),
        (
            "aclnnInplaceBernoulli",
            vec![x(), Arg::Scalar(Scalar::of_f64(1.5))],
            "prob is 1.5",
        ),
    ] {
        let args = [args, vec![seed.clone(), offset.clone()]].concat();
        let refusal = refusal(name, &args);
        assert!(refusal.text().contains(sentence), "{refusal}");
    }
    let args = [x(), tensor(1, DataType::Float32, &[4]), seed, offset];
    let memory = [vec![0; 16], bytes_of(&[0.5, 0.5, 2.0, 0.5])];
    let error = call("aclnnInplaceBernoulliTensor", &args, &memory).unwrap_err();
    assert!(error.kind() == OpErrorKind::Data && error.text().contains("element 2 of prob is 2"));
}
