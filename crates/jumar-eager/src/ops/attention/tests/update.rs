//! Results over parts of the keys that are joined, against attention over all keys.

use jumar_types::dtype::DataType;

use super::{Heads, Limits, Problem, UNLIMITED, check, pick};
use crate::trial::{Outcome, Trial, bytes_of};

const LIMITS: Limits = UNLIMITED;

/// Attention of a query over the columns from `first` on.
fn part(query: &Heads, keys: [&Heads; 2], (first, count): (usize, usize)) -> Problem {
    let cut = |heads: &Heads| {
        let [batch, own, _, width] = heads.dims;
        let mut values = Vec::new();
        for row in 0..batch * own {
            let start = row * heads.dims[2];
            values
                .extend((start + first..start + first + count).flat_map(|column| {
                    heads.values[column * width..(column + 1) * width].to_vec()
                }));
        }
        Heads {
            dims: [batch, own, count, width],
            values,
        }
    };
    Problem {
        query: query.clone(),
        key: cut(keys[0]),
        value: cut(keys[1]),
        further: None,
        lengths: vec![(query.dims[2], count); query.dims[0]],
        scale: 0.5,
        addend: None,
        addend_scaled: true,
        masked: Box::new(|_, _, _, _| false),
    }
}

fn computed(problem: &Problem) -> Outcome {
    let trial = Trial::new("aclnnFlashAttentionScore");
    super::training::forward(
        super::training::trained(trial, problem, "SBH", LIMITS),
        problem,
        "SBH",
    )
}

#[test]
fn two_parts_of_the_keys_join_to_attention_over_all_of_them() {
    let mut random = fastrand::Rng::with_seed(17);
    for name in ["aclnnRingAttentionUpdate", "aclnnRingAttentionUpdateV2"] {
        for first in [1, 64, 130] {
            let width = pick(&mut random, &[3, 8, 33]);
            let query = Heads::random(&mut random, [2, 3, 5, width]);
            let keys = Heads::random(&mut random, [2, 3, 140, width]);
            let values = Heads::random(&mut random, [2, 3, 140, width]);
            let all = part(&query, [&keys, &values], (0, 140));
            let one = part(&query, [&keys, &values], (0, first));
            let two = part(&query, [&keys, &values], (first, 140 - first));
            let (one, two) = (computed(&one), computed(&two));
            let (shape, _) = Heads::positions(query.dims, "SBH");
            let statistics = [2, 3, 5, 8];
            let done = Trial::new(name)
                .floats("prevAttnOut", &shape, &one.floats("attentionOutOut"))
                .floats("prevSoftmaxMax", &statistics, &one.floats("softmaxMaxOut"))
                .floats("prevSoftmaxSum", &statistics, &one.floats("softmaxSumOut"))
                .floats("curAttnOut", &shape, &two.floats("attentionOutOut"))
                .floats("curSoftmaxMax", &statistics, &two.floats("softmaxMaxOut"))
                .floats("curSoftmaxSum", &statistics, &two.floats("softmaxSumOut"))
                .text("inputLayoutOptional", "SBH")
                .output("attnOutOut", DataType::Float32, &shape)
                .output("softmaxMaxOut", DataType::Float32, &statistics)
                .output("softmaxSumOut", DataType::Float32, &statistics)
                .run();
            let wanted = all.solve(None);
            let out = Heads::from_layout(query.dims, "SBH", &done.floats("attnOutOut"));
            check(name, &out.values, &wanted.out, |_| true);
            let largest = done.floats("softmaxMaxOut");
            let sums = done.floats("softmaxSumOut");
            let logs = largest.iter().zip(&sums).map(|(most, sum)| most + sum.ln());
            let wanted: Vec<f64> = wanted.log_sum.iter().flat_map(|&log| [log; 8]).collect();
            check(name, &logs.collect::<Vec<f32>>(), &wanted, |_| true);
        }
    }
}

#[test]
fn joined_sequences_are_updated_token_by_token() {
    let rows = |seed: u64, count: usize| -> Vec<f32> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count).map(|_| random.f32() + 0.5).collect()
    };
    let (tokens, heads, width) = (3, 2, 4);
    let repeated = |seed: u64| -> Vec<f32> {
        let numbers = rows(seed, tokens * heads);
        numbers.iter().flat_map(|&number| [number; 8]).collect()
    };
    let (one, two) = (rows(1, 24), rows(2, 24));
    let numbers: Vec<Vec<f32>> = (3..7).map(repeated).collect();
    let statistics = [tokens, heads, 8];
    let done = Trial::new("aclnnRingAttentionUpdate")
        .floats("prevAttnOut", &[tokens, heads, width], &one)
        .floats("prevSoftmaxMax", &statistics, &numbers[0])
        .floats("prevSoftmaxSum", &statistics, &numbers[1])
        .floats("curAttnOut", &[tokens, heads, width], &two)
        .floats("curSoftmaxMax", &statistics, &numbers[2])
        .floats("curSoftmaxSum", &statistics, &numbers[3])
        .tensor(
            "actualSeqQlenOptional",
            DataType::Int64,
            &[2],
            [1i64, 3].iter().flat_map(|end| end.to_le_bytes()).collect(),
        )
        .text("inputLayoutOptional", "TND")
        .output("attnOutOut", DataType::Float32, &[tokens, heads, width])
        .output("softmaxMaxOut", DataType::Float32, &statistics)
        .output("softmaxSumOut", DataType::Float32, &statistics)
        .run();
    let mut wanted = Vec::new();
    for at in 0..24 {
        let [largest, sum, other, other_sum] =
            std::array::from_fn(|index| f64::from(numbers[index][at / width * 8]));
        let shares = (sum * largest.exp(), other_sum * other.exp());
        let total = shares.0 + shares.1;
        wanted.push((f64::from(one[at]) * shares.0 + f64::from(two[at]) * shares.1) / total);
    }
    check("attnOutOut", &done.floats("attnOutOut"), &wanted, |_| true);
}

#[test]
fn any_number_of_parts_joins_by_the_logarithms_of_their_sums() {
    let mut random = fastrand::Rng::with_seed(23);
    let (rows, width) = (6, 5);
    for count in [1, 2, 5] {
        let logs: Vec<Vec<f32>> = (0..count)
            .map(|_| (0..rows).map(|_| random.f32() * 8.0 - 4.0).collect())
            .collect();
        let parts: Vec<Vec<f32>> = (0..count)
            .map(|_| (0..rows * width).map(|_| random.f32() - 0.5).collect())
            .collect();
        let list = |values: &[Vec<f32>], dims: &[usize]| {
            let member = |own: &Vec<f32>| (dims.to_vec(), bytes_of(own));
            values.iter().map(member).collect()
        };
        let done = Trial::new("aclnnAttentionUpdate")
            .list("lse", DataType::Float32, list(&logs, &[rows]))
            .list("localOut", DataType::Float32, list(&parts, &[rows, width]))
            .int("updateType", 1)
            .output("out", DataType::Float32, &[rows, width])
            .output("lseOut", DataType::Float32, &[rows])
            .run();
        let power = |part: usize, row: usize| f64::from(logs[part][row]).exp();
        let sums: Vec<f64> = (0..rows)
            .map(|row| (0..count).map(|part| power(part, row)).sum())
            .collect();
        let wanted: Vec<f64> = (0..rows * width)
            .map(|at| {
                let terms = (0..count).map(|part| {
                    power(part, at / width) / sums[at / width] * f64::from(parts[part][at])
                });
                terms.sum()
            })
            .collect();
        check("out", &done.floats("out"), &wanted, |_| true);
        let wanted: Vec<f64> = sums.iter().map(|sum| sum.ln()).collect();
        check("lseOut", &done.floats("lseOut"), &wanted, |_| true);
    }
}
