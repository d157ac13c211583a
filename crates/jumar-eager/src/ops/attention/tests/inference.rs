//! Caches as single tensors, lists and pages.

use jumar_types::dtype::DataType;

use super::{Heads, Limits, Problem, RowKind, Tensors, UNLIMITED, check, exclude, pick, triangle};
use crate::Arg;
use crate::trial::{Trial, bytes_of};

/// How keys and values are passed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Storage {
    Single,
    List,
    CachePages,
}

/// Splits keys or values into pages of `size` rows, whose order is that of falling numbers.
fn pages(heads: &Heads, size: usize, by_heads: bool) -> (Vec<usize>, Vec<f32>) {
    let [batch, count, length, width] = heads.dims;
    let each = length.div_ceil(size);
    let mut values = vec![7.5; batch * each * size * count * width];
    for entry in 0..batch {
        for head in 0..count {
            for row in 0..length {
                let page = batch * each - 1 - (entry * each + row / size);
                let start = match by_heads {
                    true => ((page * count + head) * size + row % size) * width,
                    false => ((page * size + row % size) * count + head) * width,
                };
                values[start..start + width].copy_from_slice(heads.row(entry, head, row));
            }
        }
    }
    let dims = match by_heads {
        true => vec![batch * each, count, size, width],
        false => vec![batch * each, size, count * width],
    };
    (dims, values)
}

/// One call of attention for inference.
struct Inference {
    problem: Problem,
    layout: &'static str,
    out_layout: &'static str,
    storage: Storage,
    /// The length of each key, of which the sequence may use a part.
    keys: Vec<usize>,
    page: usize,
    limits: Limits,
    /// Columns of masks and addends.
    columns: usize,
    mask: Option<Vec<u8>>,
}

impl Inference {
    fn trial(&self, name: &str) -> Trial {
        let Problem {
            query, key, value, ..
        } = &self.problem;
        let [batch, heads, rows, _] = query.dims;
        let mut trial = Trial::new(name).heads("query", self.layout, query);
        for (param, own) in [("key", key), ("value", value)] {
            let float = |(dims, values): (Vec<usize>, Vec<f32>)| (dims, bytes_of(&values));
            let members = match self.storage {
                Storage::Single => vec![float(own.arranged(self.layout))],
                Storage::List => (0..batch)
                    .map(|entry| float(own.part(entry, self.keys[entry]).arranged(self.layout)))
                    .collect(),
                Storage::CachePages => vec![float(pages(own, self.page, self.layout == "BNSD"))],
            };
            trial = trial.list(param, DataType::Float32, members);
        }
        if let Some((query, key)) = &self.problem.further {
            trial = trial.heads("queryRopeOptional", self.layout, query).heads(
                "keyRopeOptional",
                self.layout,
                key,
            );
        }
        if let Some(addend) = &self.problem.addend {
            trial = trial.floats("pseShiftOptional", &addend.dims, &addend.values);
        }
        if let Some(mask) = &self.mask {
            let dims: &[usize] = match self.limits.mode {
                0 | 1 => &[batch, 1, rows, self.columns],
                _ => &[2048, 2048],
            };
            trial = trial.tensor("attenMaskOptional", DataType::Bool, dims, mask.clone());
        }
        if self.storage == Storage::CachePages {
            let each = key.dims[2].div_ceil(self.page);
            let table = (0..batch * each).map(|at| (batch * each - 1 - at) as i32);
            let table = table.flat_map(i32::to_le_bytes).collect();
            trial = trial
                .tensor("blockTableOptional", DataType::Int32, &[batch, each], table)
                .int("blockSize", self.page as i64);
        }
        let lengths = &self.problem.lengths;
        let ints = |values: Vec<usize>| -> Vec<i64> {
            values.into_iter().map(|value| value as i64).collect()
        };
        let (of_rows, of_columns) = lengths.iter().copied().unzip();
        let name = match self.layout == self.out_layout {
            true => self.layout.to_string(),
            false => format!("{}_{}", self.layout, self.out_layout),
        };
        let mut out = query.dims;
        out[3] = value.dims[3];
        trial
            .ints("actualSeqLengthsOptional", &ints(of_rows))
            .ints("actualSeqLengthsKvOptional", &ints(of_columns))
            .int("numHeads", heads as i64)
            .int("numKeyValueHeads", key.dims[1] as i64)
            .float("scaleValue", self.problem.scale)
            .int("preTokens", self.limits.tokens.0)
            .int("nextTokens", self.limits.tokens.1)
            .text("inputLayout", &name)
            .int("sparseMode", self.limits.mode)
            .flag("softmaxLseFlag", true)
            .output(
                "attentionOut",
                DataType::Float32,
                &Heads::positions(out, self.out_layout).0,
            )
            .output("softmaxLse", DataType::Float32, &[batch, heads, rows, 1])
    }

    fn check(&self, name: &str, what: &str) {
        let wanted = self.problem.solve(None);
        let done = self.trial(name).run();
        let mut dims = self.problem.query.dims;
        dims[3] = self.problem.value.dims[3];
        let out = Heads::from_layout(dims, self.out_layout, &done.floats("attentionOut"));
        let is_checked = |row: usize| wanted.kinds[row] != RowKind::Unchecked;
        check(
            &format!("{what}: attentionOut"),
            &out.values,
            &wanted.out,
            |at| is_checked(at / dims[3]),
        );
        let found = done.floats("softmaxLse");
        check(
            &format!("{what}: softmaxLse"),
            &found,
            &wanted.log_sum,
            is_checked,
        );
    }
}

fn inference(random: &mut fastrand::Rng) -> Inference {
    let layout = pick(random, &["BNSD", "BSND", "BSH"]);
    let out_layout = match layout == "BNSD" && random.bool() {
        true => "BSND",
        false => layout,
    };
    let storage = pick(
        random,
        &[Storage::Single, Storage::List, Storage::CachePages],
    );
    let (batch, key_heads) = (1 + random.usize(..3), 1 + random.usize(..2));
    let heads = key_heads * (1 + random.usize(..3));
    let rows = pick(random, &[1, 1, 2, 9, 40]);
    let width = pick(random, &[1, 4, 17, 32, 33]);
    let length = |random: &mut fastrand::Rng| pick(random, &[1, 30, 127, 128, 129, 256, 257]);
    let keys: Vec<usize> = match storage {
        Storage::List => (0..batch).map(|_| length(random)).collect(),
        _ => vec![length(random); batch],
    };
    let longest = *keys.iter().max().unwrap();
    let page = 16 * (1 + random.usize(..3));
    let columns = match storage {
        Storage::CachePages => longest.div_ceil(page) * page,
        _ => longest,
    };
    let lengths: Vec<(usize, usize)> = keys
        .iter()
        .map(|&key| {
            let own_rows = if random.bool() {
                rows
            } else {
                1 + random.usize(..rows)
            };
            let own_columns = if random.bool() {
                key
            } else {
                1 + random.usize(..key)
            };
            (own_rows, own_columns)
        })
        .collect();
    let mode = pick(random, &[0, 0, 1, 2, 3]);
    let has_mask = mode > 0 || random.bool();
    let limits = Limits {
        mode,
        tokens: (65_536, 65_536),
        has_mask,
    };
    let own: Vec<u8> = (0..batch * rows * columns)
        .map(|at| u8::from(at % columns != 0 && random.usize(..3) == 0))
        .collect();
    let mask = match mode {
        0 if !has_mask => None,
        0 | 1 => Some(own.clone()),
        _ => Some(triangle()),
    };
    let addend = random.bool().then(|| {
        let mut addend = Heads::random(random, [batch, heads, rows, columns]);
        exclude(random, &mut addend);
        addend
    });
    let further = (storage != Storage::CachePages && random.bool()).then(|| {
        let width = 1 + random.usize(..9);
        (
            Heads::random(random, [batch, heads, rows, width]),
            Heads::random(random, [batch, key_heads, longest, width]),
        )
    });
    let own_lengths = lengths.clone();
    let masked = move |entry: usize, _: usize, row: usize, column: usize| {
        let at = (entry * rows + row) * columns + column;
        let by_mask = mode < 2 && has_mask && own[at] != 0;
        // A single row is the last of its sequence.
        let by_rule = rows > 1
            && limits.excludes((row, own_lengths[entry].0), (column, own_lengths[entry].1));
        by_mask || by_rule
    };
    Inference {
        problem: Problem {
            query: Heads::random(random, [batch, heads, rows, width]),
            key: Heads::random(random, [batch, key_heads, longest, width]),
            value: Heads::random(random, [batch, key_heads, longest, width]),
            further,
            lengths,
            scale: f64::from(random.f32() + 0.1),
            addend,
            addend_scaled: false,
            masked: Box::new(masked),
        },
        layout,
        out_layout,
        storage,
        keys,
        page,
        limits,
        columns,
        mask,
    }
}

#[test]
fn inference_agrees_with_the_formula() {
    let mut random = fastrand::Rng::with_seed(29);
    for case in 0..40 {
        let call = inference(&mut random);
        let what = format!(
            "case {case}: {:?} in {}, query {:?}, keys {:?}, lengths {:?}, {:?}",
            call.storage,
            call.layout,
            call.problem.query.dims,
            call.keys,
            call.problem.lengths,
            call.limits
        );
        let name = pick(
            &mut random,
            &[
                "aclnnFusedInferAttentionScoreV3",
                "aclnnFusedInferAttentionScoreV4",
            ],
        );
        call.check(name, &what);
    }
}

/// A call with further entries: two entries of the batch, four heads that share two, queries of 3 rows and keys of the given lengths.
fn with_further(layout: &'static str, keys: &[usize]) -> Inference {
    let mut random = fastrand::Rng::with_seed(3);
    let longest = *keys.iter().max().unwrap();
    let batch = keys.len();
    Inference {
        problem: Problem {
            query: Heads::random(&mut random, [batch, 4, 3, 8]),
            key: Heads::random(&mut random, [batch, 2, longest, 8]),
            value: Heads::random(&mut random, [batch, 2, longest, 8]),
            further: Some((
                Heads::random(&mut random, [batch, 4, 3, 4]),
                Heads::random(&mut random, [batch, 2, longest, 4]),
            )),
            lengths: keys.iter().map(|&key| (3, key)).collect(),
            scale: 0.25,
            addend: None,
            addend_scaled: false,
            masked: Box::new(|_, _, _, _| false),
        },
        layout,
        out_layout: layout,
        storage: Storage::Single,
        keys: keys.to_vec(),
        page: 0,
        limits: UNLIMITED,
        columns: longest,
        mask: None,
    }
}

#[test]
fn each_key_of_a_list_has_the_further_entries_of_its_own_sequence() {
    for layout in ["BNSD", "BSND", "BSH"] {
        for keys in [[5, 5], [130, 4], [2, 129]] {
            let mut call = with_further(layout, &keys);
            call.storage = Storage::List;
            call.check(
                "aclnnFusedInferAttentionScoreV3",
                &format!("{layout} {keys:?}"),
            );
        }
    }
}

#[test]
fn further_entries_of_another_shape_are_refused_by_name() {
    let wrong = |axis: usize, size: usize| {
        move |heads: &Heads| {
            let mut dims = heads.dims;
            dims[axis] = size;
            Heads::random(&mut fastrand::Rng::with_seed(0), dims)
        }
    };
    type Change = Box<dyn Fn(&Heads) -> Heads>;
    let changes: [(bool, Change, &str); 7] = [
        (
            true,
            Box::new(wrong(0, 1)),
            "queryRopeOptional has the shape",
        ),
        (
            true,
            Box::new(wrong(2, 2)),
            "queryRopeOptional has the shape",
        ),
        (
            false,
            Box::new(wrong(0, 1)),
            "keyRopeOptional has the shape",
        ),
        (
            false,
            Box::new(wrong(2, 4)),
            "keyRopeOptional has the shape",
        ),
        (
            false,
            Box::new(wrong(2, 7)),
            "keyRopeOptional has the shape",
        ),
        (false, Box::new(wrong(3, 2)), "and keyRopeOptional has 2"),
        (
            true,
            Box::new(wrong(3, 6)),
            "queryRopeOptional has 6 entries",
        ),
    ];
    for name in [
        "aclnnFusedInferAttentionScoreV3",
        "aclnnFusedInferAttentionScoreV4",
    ] {
        for layout in ["BNSD", "BSND", "BSH"] {
            for (of_query, change, text) in &changes {
                let mut call = with_further(layout, &[6, 6]);
                let (query, key) = call.problem.further.take().unwrap();
                call.problem.further = Some(match of_query {
                    true => (change(&query), key),
                    false => (query, change(&key)),
                });
                let refusal = call.trial(name).refusal().to_string();
                assert!(refusal.contains(text), "{layout}: {refusal}");
            }
        }
    }
}

#[test]
fn a_length_beyond_its_own_key_of_a_list_is_refused() {
    let mut call = with_further("BNSD", &[8, 4]);
    call.storage = Storage::List;
    call.problem.further = None;
    call.problem.lengths = vec![(3, 6), (3, 3)];
    call.check("aclnnFusedInferAttentionScoreV3", "lengths of 6 and 3");
    call.problem.lengths = vec![(3, 3), (3, 6)];
    let refusal = call.trial("aclnnFusedInferAttentionScoreV3").refusal();
    let text = "the length of sequence 1 must be between 0 and 4";
    assert!(refusal.to_string().contains(text), "{refusal}");
}

#[test]
fn a_layout_is_named_in_messages_as_programs_write_it() {
    let call = with_further("BSND", &[6, 6]);
    let trial = call.trial("aclnnFusedInferAttentionScoreV3");
    let refusal = trial.set("numHeads", Arg::Int(6)).refusal().to_string();
    assert!(
        refusal.contains("the layout BSND with 6 heads"),
        "{refusal}"
    );
}
