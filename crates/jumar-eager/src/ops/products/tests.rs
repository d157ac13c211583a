//! Products of groups of int8 against exact integers, at depths whose sums float32 does not hold.

use jumar_types::dtype::DataType;

use crate::trial::{Trial, bytes_of};

const COLUMNS: usize = 38;

/// Rows and matrices whose sums are large in the middle of the depth and small at its end.
struct Operands {
    depth: usize,
    columns: usize,
    x: Vec<i8>,
    weights: Vec<i8>,
}

/// Rows of each group. The last row is that of no group.
const COUNTS: [i64; 3] = [2, 0, 3];
const ROWS: usize = 6;

fn bytes(values: &[i8]) -> Vec<u8> {
    values.iter().map(|&value| value as u8).collect()
}

impl Operands {
    fn new(depth: usize, columns: usize) -> Operands {
        let mut random = fastrand::Rng::with_seed(depth as u64);
        let x = (0..ROWS * depth).map(|_| random.i8(100..=127)).collect();
        let weights = (0..COUNTS.len() * depth * columns)
            .map(|at| match at / columns % depth < depth / 2 {
                true => random.i8(100..=127),
                false => random.i8(-127..=-100),
            })
            .collect();
        Operands {
            depth,
            columns,
            x,
            weights,
        }
    }

    fn group(row: usize) -> Option<usize> {
        let ends = COUNTS.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        ends.collect::<Vec<_>>()
            .iter()
            .position(|&end| (row as i64) < end)
    }

    /// Returns the sums of a row, exactly. `add` is added to each of its entries.
    fn sums(&self, row: usize, add: i64) -> Option<Vec<i64>> {
        let group = Operands::group(row)?;
        let (depth, columns) = (self.depth, self.columns);
        let sum = |column: usize| -> i64 {
            (0..depth)
                .map(|at| {
                    let weight = self.weights[(group * depth + at) * columns + column];
                    (i64::from(self.x[row * depth + at]) + add) * i64::from(weight)
                })
                .sum()
        };
        Some((0..columns).map(sum).collect())
    }

    fn dims(&self) -> [usize; 3] {
        [COUNTS.len(), self.depth, self.columns]
    }

    /// Returns the matrices with rows and columns exchanged.
    fn transposed(&self) -> Vec<u8> {
        let (depth, columns) = (self.depth, self.columns);
        let at = |index: usize| {
            let (rest, row) = (index / depth, index % depth);
            let (group, column) = (rest / columns, rest % columns);
            self.weights[(group * depth + row) * columns + column] as u8
        };
        (0..self.weights.len()).map(at).collect()
    }
}

fn list(by_ends: bool) -> Vec<u8> {
    let mut end = 0;
    let entries = COUNTS.iter().map(|&count| {
        end += count;
        if by_ends { end } else { count }
    });
    entries.flat_map(i64::to_le_bytes).collect()
}

/// Compares numbers with exact integers, which are rounded once.
#[track_caller]
fn check(what: &str, found: &[f32], wanted: impl Iterator<Item = i64>) {
    for (at, (&found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert_eq!(found, wanted as f32, "{what}: element {at}");
    }
}

#[test]
fn grouped_products_of_int8_are_exact() {
    let ones = vec![1.0f32; COUNTS.len() * COLUMNS];
    let bias: Vec<i32> = (0..COUNTS.len() * COLUMNS)
        .map(|at| at as i32 * 3)
        .collect();
    for depth in [1, 5, 1023, 1025, 4096, 8192] {
        let operands = Operands::new(depth, COLUMNS);
        let matrices = bytes(&operands.weights);
        for (is_list, by_ends, biased) in [
            (false, true, false),
            (false, false, true),
            (true, true, true),
        ] {
            let weights = match is_list {
                false => vec![(operands.dims().to_vec(), matrices.clone())],
                true => matrices
                    .chunks(depth * COLUMNS)
                    .map(|own| (vec![depth, COLUMNS], own.to_vec()))
                    .collect(),
            };
            let trial = Trial::new("aclnnGroupedMatmulV4")
                .list(
                    "x",
                    DataType::Int8,
                    vec![(vec![ROWS, depth], bytes(&operands.x))],
                )
                .list("weight", DataType::Int8, weights)
                .list(
                    "scaleOptional",
                    DataType::Float32,
                    vec![(vec![COUNTS.len(), COLUMNS], bytes_of(&ones))],
                )
                .tensor(
                    "groupListOptional",
                    DataType::Int64,
                    &[COUNTS.len()],
                    list(by_ends),
                )
                .int("groupListType", i64::from(!by_ends))
                .int("splitItem", 2);
            let trial = match biased {
                true => {
                    let bias = bias.iter().flat_map(|value| value.to_le_bytes()).collect();
                    trial.list(
                        "biasOptional",
                        DataType::Int32,
                        vec![(vec![COUNTS.len(), COLUMNS], bias)],
                    )
                }
                false => trial,
            };
            let out = vec![0; ROWS * COLUMNS * 4];
            let done = trial
                .list("out", DataType::Float32, vec![(vec![ROWS, COLUMNS], out)])
                .run();
            let found = done.floats("out");
            for row in 0..ROWS {
                let what = format!("depth {depth}, list {is_list}, row {row}");
                let group = Operands::group(row);
                let add = |column: usize| match (biased, group) {
                    (true, Some(group)) => i64::from(bias[group * COLUMNS + column]),
                    _ => 0,
                };
                let sums = operands.sums(row, 0).unwrap_or_else(|| vec![0; COLUMNS]);
                let wanted = sums.iter().enumerate().map(|(at, sum)| sum + add(at));
                check(&what, &found[row * COLUMNS..][..COLUMNS], wanted);
            }
        }
    }
}

#[test]
fn products_of_experts_that_are_combined_are_exact() {
    let ones = bytes_of(&vec![1.0f32; COUNTS.len() * COLUMNS]);
    for (depth, transposed) in [(4096, false), (4100, true)] {
        let operands = Operands::new(depth, COLUMNS);
        let (weights, dims) = match transposed {
            true => (operands.transposed(), [COUNTS.len(), COLUMNS, depth]),
            false => (bytes(&operands.weights), operands.dims()),
        };
        let index = (0..ROWS as i64).rev().flat_map(i64::to_le_bytes).collect();
        let done = Trial::new("aclnnGroupedMatmulFinalizeRoutingV2")
            .tensor("x1", DataType::Int8, &[ROWS, depth], bytes(&operands.x))
            .tensor("x2", DataType::Int8, &dims, weights)
            .tensor(
                "scaleOptional",
                DataType::Float32,
                &[COUNTS.len(), COLUMNS],
                ones.clone(),
            )
            .tensor(
                "groupListOptional",
                DataType::Int64,
                &[COUNTS.len()],
                list(false),
            )
            .tensor("rowIndexOptional", DataType::Int64, &[ROWS], index)
            .int("groupListType", 1)
            .flag("transposeX2", transposed)
            .output("out", DataType::Float32, &[ROWS, COLUMNS])
            .run();
        let found = done.floats("out");
        for row in 0..ROWS {
            let sums = operands.sums(row, 0).unwrap_or_else(|| vec![0; COLUMNS]);
            let own = &found[(ROWS - 1 - row) * COLUMNS..][..COLUMNS];
            check(&format!("depth {depth}, row {row}"), own, sums.into_iter());
        }
    }
}

#[test]
fn layers_of_experts_add_an_integer_bias_exactly() {
    // The second layer is the identity of a part of the hidden numbers, which are what the first layer rounds.
    let (depth, hidden) = (4096, 16);
    let operands = Operands::new(depth, hidden);
    let count = COUNTS.len();
    // All rows belong to groups here.
    let counts: Vec<i64> = vec![2, 0, 4];
    let bias: Vec<i32> = (0..count * hidden).map(|at| at as i32 - 20).collect();
    let mut second = vec![0i8; count * hidden * depth];
    for group in 0..count {
        for at in 0..hidden {
            second[(group * hidden + at) * depth + at] = 1;
        }
    }
    let integers = |values: &[i32]| -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    // Sums differ by single units after this scale, which is a power of two.
    let scale = vec![1.0f32 / 4096.0; count * hidden];
    let list = counts
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let done = Trial::new("aclnnFFNV3")
        .tensor("x", DataType::Int8, &[ROWS, depth], bytes(&operands.x))
        .tensor(
            "weight1",
            DataType::Int8,
            &operands.dims(),
            bytes(&operands.weights),
        )
        .tensor(
            "weight2",
            DataType::Int8,
            &[count, hidden, depth],
            bytes(&second),
        )
        .tensor("expertTokensOptional", DataType::Int64, &[count], list)
        .tensor(
            "bias1Optional",
            DataType::Int32,
            &[count, hidden],
            integers(&bias),
        )
        .floats("scaleOptional", &[count], &vec![1.0; count])
        .floats("deqScale1Optional", &[count, hidden], &scale)
        .floats(
            "deqScale2Optional",
            &[count, depth],
            &vec![1.0; count * depth],
        )
        .text("activation", "relu")
        .output("y", DataType::Float16, &[ROWS, depth])
        .run();
    let y = done.bytes("y");
    for row in 0..ROWS {
        let group = if row < 2 { 0 } else { 2 };
        for at in 0..hidden {
            let sum: i64 = (0..depth)
                .map(|k| {
                    let weight = operands.weights[(group * depth + k) * hidden + at];
                    i64::from(operands.x[row * depth + k]) * i64::from(weight)
                })
                .sum();
            let exact = (sum + i64::from(bias[group * hidden + at])) as f64 / 4096.0;
            let wanted = exact.max(0.0).round_ties_even().clamp(-128.0, 127.0);
            let start = (row * depth + at) * 2;
            let code = u16::from_le_bytes([y[start], y[start + 1]]);
            let found = f64::from(jumar_ops::view::F16::from_bits(code).to_f32());
            assert_eq!(found, wanted, "row {row}, entry {at}, sum {exact}");
        }
    }
}

#[test]
fn gated_products_of_experts_are_exact_before_they_are_gated() {
    // The gate and the value of a row are its sums over one large number: the larger of both is what rounding would change.
    let (depth, columns) = (8192, 4);
    let operands = Operands::new(depth, columns);
    let factor = 1.0f32 / 65536.0;
    let done = Trial::new("aclnnGroupedMatmulSwigluQuant")
        .tensor("x", DataType::Int8, &[ROWS, depth], bytes(&operands.x))
        .tensor(
            "weight",
            DataType::Int8,
            &operands.dims(),
            bytes(&operands.weights),
        )
        .floats("weightScale", &[COUNTS.len(), columns], &[1.0; 12])
        .floats("xScale", &[ROWS], &[factor; ROWS])
        .tensor("groupList", DataType::Int64, &[COUNTS.len()], list(true))
        .output("output", DataType::Int8, &[ROWS, columns / 2])
        .output("outputScale", DataType::Float32, &[ROWS])
        .run();
    let scales = done.floats("outputScale");
    for (row, &scale) in scales.iter().enumerate() {
        let Some(sums) = operands.sums(row, 0) else {
            assert_eq!(scale, 0.0);
            continue;
        };
        let gated = |at: usize| {
            let gate = sums[at] as f64 * f64::from(factor);
            let value = sums[at + 2] as f64 * f64::from(factor);
            gate / (1.0 + (-gate).exp()) * value
        };
        let most = gated(0).abs().max(gated(1).abs()) / 127.0;
        let found = f64::from(scale);
        assert!(
            (found / most - 1.0).abs() < 1e-6,
            "row {row}: {found} is not {most}"
        );
    }
}

#[test]
fn a_scale_of_another_length_is_named_also_where_it_is_decoded_first() {
    let words = [0u64; 15];
    let words = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let refusal = Trial::new("aclnnQuantMatmulV5")
        .tensor("x1", DataType::Int8, &[2, 32], vec![0; 64])
        .tensor("x2", DataType::Int8, &[32, 16], vec![0; 512])
        .tensor("x2Scale", DataType::UInt64, &[15], words)
        .output("out", DataType::Float16, &[2, 16])
        .refusal()
        .to_string();
    assert!(refusal.contains("x2Scale has the shape [15]"), "{refusal}");
}
