//! Both directions of training.

use jumar_types::dtype::DataType;

use super::{
    Heads, Limits, NEVER, Problem, RowKind, Tensors, UNLIMITED, check, dot, exclude, pick, triangle,
};
use crate::trial::{Outcome, Trial};

/// Sets the parameters that both directions of training have.
pub(super) fn trained(trial: Trial, problem: &Problem, layout: &str, limits: Limits) -> Trial {
    trial
        .heads("query", layout, &problem.query)
        .heads("value", layout, &problem.value)
        .float("scaleValue", problem.scale)
        .float("keepProb", 1.0)
        .int("preTokens", limits.tokens.0)
        .int("nextTokens", limits.tokens.1)
        .int("headNum", problem.query.dims[1] as i64)
        .text("inputLayout", layout)
        .int("sparseMode", limits.mode)
}

pub(super) fn forward(trial: Trial, problem: &Problem, layout: &str) -> Outcome {
    let [batch, heads, rows, _] = problem.query.dims;
    let mut out = problem.query.dims;
    out[3] = problem.value.dims[3];
    let statistics = [batch, heads, rows, 8];
    let trial = trial.heads("key", layout, &problem.key);
    let trial = match &problem.addend {
        Some(addend) => trial.floats("realShiftOptional", &addend.dims, &addend.values),
        None => trial,
    };
    trial
        .output("softmaxMaxOut", DataType::Float32, &statistics)
        .output("softmaxSumOut", DataType::Float32, &statistics)
        .output(
            "attentionOutOut",
            DataType::Float32,
            &Heads::positions(out, layout).0,
        )
        .run()
}

/// Checks both directions of training against the formula.
fn check_training(
    problem: &Problem,
    gradient: &Heads,
    (layout, limits): (&str, Limits),
    mask: Option<(&[usize], &[u8])>,
    what: &str,
) {
    let masked = |trial: Trial| match mask {
        Some((dims, bytes)) => {
            trial.tensor("attenMaskOptional", DataType::Bool, dims, bytes.to_vec())
        }
        None => trial,
    };
    let start = |name: &str| masked(trained(Trial::new(name), problem, layout, limits));
    let wanted = problem.solve(Some(gradient));
    let done = forward(start("aclnnFlashAttentionScore"), problem, layout);
    let mut dims = problem.query.dims;
    dims[3] = problem.value.dims[3];
    let result = done.floats("attentionOutOut");
    let out = Heads::from_layout(dims, layout, &result);
    let is_checked = |at: usize| wanted.kinds[at / dims[3]] != RowKind::Unchecked;
    check(
        &format!("{what}: out"),
        &out.values,
        &wanted.out,
        is_checked,
    );
    if wanted.kinds.contains(&RowKind::Unchecked) {
        // The gradients of keys and values add such rows up.
        return;
    }
    let [batch, heads, rows, _] = dims;
    let columns = problem.key.dims[2];
    for is_stored in [false, true] {
        let what = format!("{what}, stored {is_stored}");
        let trial = start("aclnnFlashAttentionScoreGrad")
            .heads("keyIn", layout, &problem.key)
            .heads("dy", layout, gradient);
        let trial = match &problem.addend {
            Some(addend) => trial.floats("pseShiftOptional", &addend.dims, &addend.values),
            None => trial,
        };
        let statistics = [batch, heads, rows, 8];
        let (shape, _) = Heads::positions(dims, layout);
        let trial = match is_stored {
            true => trial
                .floats(
                    "softmaxMaxOptional",
                    &statistics,
                    &done.floats("softmaxMaxOut"),
                )
                .floats(
                    "softmaxSumOptional",
                    &statistics,
                    &done.floats("softmaxSumOut"),
                )
                .floats("attentionInOptional", &shape, &result),
            false => trial,
        };
        let shape = |heads: &Heads| Heads::positions(heads.dims, layout).0;
        let trial = trial
            .output("dqOut", DataType::Float32, &shape(&problem.query))
            .output("dkOut", DataType::Float32, &shape(&problem.key))
            .output("dvOut", DataType::Float32, &shape(&problem.value));
        let full = [batch, heads, rows, columns];
        let of_addend = problem.addend.as_ref();
        let of_addend = of_addend.is_some_and(|addend| addend.dims == full);
        let trial = match of_addend {
            true => trial.output("dpseOut", DataType::Float32, &full),
            false => trial,
        };
        let done = trial.run();
        let outs = [
            ("dqOut", &problem.query),
            ("dkOut", &problem.key),
            ("dvOut", &problem.value),
        ];
        for ((name, like), wanted) in outs.into_iter().zip(&wanted.gradients) {
            let found = Heads::from_layout(like.dims, layout, &done.floats(name));
            check(&format!("{what}: {name}"), &found.values, wanted, |_| true);
        }
        if of_addend {
            let found = done.floats("dpseOut");
            check(
                &format!("{what}: dpseOut"),
                &found,
                &wanted.gradients[3],
                |_| true,
            );
        }
    }
}

#[test]
fn training_agrees_with_the_formula() {
    let mut random = fastrand::Rng::with_seed(11);
    let triangle = triangle();
    for case in 0..28 {
        let layout = pick(&mut random, &["BNSD", "BSND", "BSH", "SBH"]);
        let (batch, key_heads, shared) = (
            1 + random.usize(..2),
            1 + random.usize(..2),
            1 + random.usize(..2),
        );
        let heads = key_heads * shared;
        let rows = pick(&mut random, &[1, 2, 5, 9, 33, 65]);
        let columns = pick(&mut random, &[1, 7, 127, 128, 129, 200, 257]);
        let width = pick(&mut random, &[1, 3, 8, 31, 33]);
        // Both directions take values as wide as the keys in the layouts that join heads and width.
        let value_width = match layout {
            "BNSD" | "BSND" => pick(&mut random, &[width, 4, 33]),
            _ => width,
        };
        let limits = Limits {
            mode: pick(&mut random, &[0, 0, 1, 2, 3, 4]),
            tokens: match random.bool() {
                true => (65_536, 65_536),
                false => (random.i64(..100), random.i64(..100)),
            },
            has_mask: random.bool(),
        };
        let has_mask = limits.has_mask || limits.mode > 0;
        let limits = Limits { has_mask, ..limits };
        let addend = match random.usize(..3) {
            0 => None,
            1 => Some([batch, heads, rows, columns]),
            _ => Some([1, heads, 1, columns]),
        };
        let addend = addend.map(|dims| {
            let mut addend = Heads::random(&mut random, dims);
            exclude(&mut random, &mut addend);
            addend
        });
        let density = random.usize(..3);
        let own: Vec<u8> = (0..batch * rows * columns)
            .map(|_| u8::from(random.usize(..4) < density))
            .collect();
        let dims: &[usize] = match limits.mode {
            0 | 1 => &[batch, 1, rows, columns],
            _ => &[2048, 2048],
        };
        let bytes = if limits.mode < 2 { &own } else { &triangle };
        let mask = has_mask.then_some((dims, bytes.as_slice()));
        let full = own.clone();
        let problem = Problem {
            query: Heads::random(&mut random, [batch, heads, rows, width]),
            key: Heads::random(&mut random, [batch, key_heads, columns, width]),
            value: Heads::random(&mut random, [batch, key_heads, columns, value_width]),
            further: None,
            lengths: vec![(rows, columns); batch],
            scale: f64::from(random.f32() + 0.1),
            addend,
            addend_scaled: true,
            masked: Box::new(move |entry, _, row, column| {
                let element = (entry * rows + row) * columns + column;
                let by_mask = limits.mode < 2 && has_mask && full[element] != 0;
                by_mask || limits.excludes((row, rows), (column, columns))
            }),
        };
        let gradient = Heads::random(&mut random, [batch, heads, rows, value_width]);
        let what = format!(
            "case {case}: {layout}, {batch} x {heads}/{key_heads} x {rows} x {columns} x {width}/{value_width}, {limits:?}"
        );
        check_training(&problem, &gradient, (layout, limits), mask, &what);
    }
}

/// Attention of two heads without a mask, with an addend.
fn with_addend(rows: usize, columns: usize, addend: Heads) -> (Problem, Heads) {
    let mut random = fastrand::Rng::with_seed(5);
    let problem = Problem {
        query: Heads::random(&mut random, [1, 2, rows, 4]),
        key: Heads::random(&mut random, [1, 2, columns, 4]),
        value: Heads::random(&mut random, [1, 2, columns, 4]),
        further: None,
        lengths: vec![(rows, columns)],
        scale: 0.5,
        addend: Some(addend),
        addend_scaled: true,
        masked: Box::new(|_, _, _, _| false),
    };
    (problem, Heads::random(&mut random, [1, 2, rows, 4]))
}

#[test]
fn an_addend_of_minus_infinity_over_the_first_tiles_excludes_their_columns_only() {
    for first in [1, 127, 128, 129, 256, 299] {
        let mut addend = Heads::random(&mut fastrand::Rng::with_seed(1), [1, 2, 3, 300]);
        for row in addend.values.chunks_mut(300) {
            row[..first].fill(NEVER);
        }
        let (problem, gradient) = with_addend(3, 300, addend);
        let what = format!("{first} columns are excluded");
        check_training(&problem, &gradient, ("BNSD", UNLIMITED), None, &what);
    }
}

#[test]
fn a_row_that_an_addend_of_minus_infinity_excludes_entirely_is_zero_and_has_no_gradient() {
    let mut addend = Heads::random(&mut fastrand::Rng::with_seed(1), [1, 2, 3, 150]);
    for row in [0, 4] {
        addend.values[row * 150..(row + 1) * 150].fill(NEVER);
    }
    let (problem, gradient) = with_addend(3, 150, addend);
    let what = "two rows are excluded";
    check_training(&problem, &gradient, ("BNSD", UNLIMITED), None, what);
}

#[test]
fn a_finite_addend_below_the_score_of_a_mask_still_lets_the_gradient_through() {
    let mut addend = Heads::random(&mut fastrand::Rng::with_seed(1), [1, 2, 2, 130]);
    // Beside such an addend the scores vanish: the row is the mean of the values, as in PyTorch.
    addend.values[..130].fill(-1e35);
    let (problem, gradient) = with_addend(2, 130, addend);
    let wanted = problem.solve(Some(&gradient));
    let first = 1.0 / 130.0
        * (0..130)
            .map(|at| problem.value.row(0, 0, at)[0])
            .sum::<f32>();
    let done = forward(
        trained(
            Trial::new("aclnnFlashAttentionScore"),
            &problem,
            "BNSD",
            UNLIMITED,
        ),
        &problem,
        "BNSD",
    );
    let out = done.floats("attentionOutOut");
    assert!((out[0] - first).abs() < 1e-5, "{} is not {first}", out[0]);
    check("other rows", &out[4..], &wanted.out[4..], |_| true);
    let trial = trained(
        Trial::new("aclnnFlashAttentionScoreGrad"),
        &problem,
        "BNSD",
        UNLIMITED,
    );
    let addend = problem.addend.as_ref().unwrap();
    let done = trial
        .heads("keyIn", "BNSD", &problem.key)
        .heads("dy", "BNSD", &gradient)
        .floats("pseShiftOptional", &addend.dims, &addend.values)
        .output("dqOut", DataType::Float32, &problem.query.dims)
        .output("dkOut", DataType::Float32, &problem.key.dims)
        .output("dvOut", DataType::Float32, &problem.value.dims)
        .run();
    // All shares are 1 / 130.
    let shares: Vec<f64> = (0..130)
        .map(|at| dot(gradient.row(0, 0, 0), problem.value.row(0, 0, at)))
        .collect();
    let mean = shares.iter().sum::<f64>() / 130.0;
    for entry in 0..4 {
        let terms = shares.iter().enumerate().map(|(at, share)| {
            let key = f64::from(problem.key.row(0, 0, at)[entry]);
            (share - mean) / 130.0 * problem.scale * key
        });
        let (wanted, found) = (terms.sum::<f64>(), done.floats("dqOut")[entry]);
        assert!(
            (f64::from(found) - wanted).abs() < 1e-6,
            "{found} is not {wanted}"
        );
    }
}

#[test]
fn not_a_number_and_infinity_in_an_addend_spoil_their_rows_only() {
    for value in [f32::NAN, f32::INFINITY] {
        for column in [0, 127, 128, 149] {
            let mut addend = Heads::random(&mut fastrand::Rng::with_seed(1), [1, 2, 3, 150]);
            addend.values[150 + column] = value;
            let (mut problem, _) = with_addend(3, 150, addend);
            let trial = Trial::new("aclnnFlashAttentionScore");
            let done = forward(
                trained(trial, &problem, "BNSD", UNLIMITED),
                &problem,
                "BNSD",
            );
            let out = done.floats("attentionOutOut");
            assert!(out[4..8].iter().all(|value| value.is_nan()), "{out:?}");
            problem.addend.as_mut().unwrap().values[150 + column] = 0.0;
            let wanted = problem.solve(None);
            check("other rows", &out, &wanted.out, |at| at / 4 != 1);
        }
    }
}
