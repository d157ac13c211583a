//! Calls every operator with random arguments: each call is planned or refused, and none panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jumar_ops::view::{Block, Region};
use jumar_types::dtype::DataType;

use crate::{
    Arg, Dims, Group, ParamKind, Scalar, Signature, Status, TensorArg, TensorDesc, Workers,
    computed, plan,
};

/// Calls of each operator.
const CALLS: u64 = 250;

/// Random choices, the same in every run.
struct Random(fastrand::Rng);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.u64(..bound)
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

/// What the tensors of one call have in common, most of the time.
struct Common {
    dtype: DataType,
    dims: Vec<i64>,
}

const USUAL: &[DataType] = &[
    DataType::Float32,
    DataType::Float32,
    DataType::Float16,
    DataType::BFloat16,
    DataType::Float64,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::Bool,
    DataType::Complex64,
];

fn common(random: &mut Random) -> Common {
    let rank = random.pick(&[0, 1, 1, 2, 2, 2, 3, 4, 5, 8]);
    let small = if rank > 4 { 2 } else { 4 };
    Common {
        dtype: random.pick(USUAL),
        dims: (0..rank)
            .map(|_| match random.one_in(12) {
                true => 0,
                false => 1 + random.below(small) as i64,
            })
            .collect(),
    }
}

fn tensor(random: &mut Random, common: &Common, buffer: usize) -> TensorArg {
    let dtype = match random.one_in(5) {
        true if random.one_in(3) => random.pick(DataType::ALL),
        true => random.pick(USUAL),
        false => common.dtype,
    };
    let mut dims = common.dims.clone();
    if random.one_in(4) {
        match random.below(5) {
            0 => dims.push(1 + random.below(3) as i64),
            1 => {
                dims.pop();
            }
            2 => dims.iter_mut().for_each(|dim| *dim = 1),
            3 => dims = vec![1 + random.below(5) as i64],
            _ => {
                let at = random.below(dims.len().max(1) as u64) as usize;
                if let Some(dim) = dims.get_mut(at) {
                    *dim = random.below(6) as i64;
                }
            }
        }
    }
    let mut desc = TensorDesc::contiguous(dtype, &dims);
    if random.one_in(4) {
        let strides: Vec<i64> = dims.iter().map(|_| random.below(9) as i64).collect();
        desc.strides = Dims::new(&strides);
        desc.offset = random.below(4) as i64;
        desc.storage = Dims::new(&[300]);
    }
    if random.one_in(40) {
        let odd = random.pick(&[-1, i64::MIN, i64::MAX, 1 << 40, 9]);
        match random.below(4) {
            0 => desc.offset = odd,
            1 => desc.dims = Dims::new(&vec![odd; dims.len()]),
            2 => desc.strides = Dims::new(&vec![odd; dims.len()]),
            _ => desc.storage = Dims::new(&[odd]),
        }
    }
    TensorArg { desc, buffer }
}

fn scalar(random: &mut Random) -> Scalar {
    let value = random.pick(&[
        0.0,
        1.0,
        -1.0,
        2.0,
        0.5,
        -3.5,
        f64::NAN,
        f64::INFINITY,
        1e300,
    ]);
    match random.below(4) {
        0 => Scalar::of_i64(random.pick(&[0, 1, -1, 2, 7, i64::MAX, i64::MIN])),
        1 => Scalar::of_bool(value > 0.0),
        2 => {
            let bytes = [value, 1.0].map(f64::to_le_bytes).concat();
            Scalar::new(DataType::Complex128, &bytes).unwrap()
        }
        _ => Scalar::of_f64(value),
    }
}

fn integer(random: &mut Random) -> i64 {
    match random.one_in(20) {
        true => random.pick(&[i64::MAX, i64::MIN, 1 << 40, -(1 << 40), 1 << 31]),
        false => random.below(7) as i64 - 2,
    }
}

fn arguments(random: &mut Random, signature: &Signature) -> Vec<Arg> {
    let common = common(random);
    let mut buffers = 0;
    let mut next = || {
        buffers += 1;
        buffers - 1
    };
    let members = 1 + random.below(3);
    let mut args = Vec::new();
    for param in signature.params {
        if random.one_in(40) || (param.optional && random.one_in(3)) {
            args.push(Arg::Null);
            continue;
        }
        args.push(match param.kind {
            ParamKind::Tensor => Arg::Tensor(tensor(random, &common, next())),
            ParamKind::Tensors => {
                let count = if random.one_in(10) {
                    random.below(4)
                } else {
                    members
                };
                let member = |random: &mut Random| match random.one_in(40) {
                    true => None,
                    false => Some(tensor(random, &common, next())),
                };
                let mut member = member;
                Arg::Tensors((0..count).map(|_| member(random)).collect())
            }
            ParamKind::Scalar => Arg::Scalar(scalar(random)),
            ParamKind::Scalars => Arg::Scalars((0..members).map(|_| scalar(random)).collect()),
            ParamKind::Ints => {
                let count = random.pick(&[0, 1, 1, 2, 2, common.dims.len() as u64, 4, 9]);
                Arg::Ints((0..count).map(|_| integer(random)).collect())
            }
            ParamKind::Floats => Arg::Floats(
                (0..random.below(5))
                    .map(|_| random.pick(&[0.0, 1.0, f32::NAN]))
                    .collect(),
            ),
            ParamKind::Bools => {
                Arg::Bools((0..random.below(5)).map(|_| random.one_in(2)).collect())
            }
            ParamKind::Int => Arg::Int(integer(random)),
            ParamKind::Float => Arg::Float(random.pick(&[0.0, 1.0, 0.5, -1.0, f64::NAN])),
            ParamKind::Bool => Arg::Bool(random.one_in(2)),
            ParamKind::Text if param.is_group() && !random.one_in(5) => {
                let size = 1 + random.below(3) as u32;
                Arg::Group(Group {
                    name: "ranks".into(),
                    rank: random.below(size.into()) as u32,
                    size,
                })
            }
            ParamKind::Text => Arg::Text(random.pick(&["", "none", "tanh", "BSND"]).into()),
            ParamKind::Type => Arg::Type(match random.one_in(3) {
                true => random.pick(DataType::ALL),
                false => common.dtype,
            }),
        });
    }
    args
}

/// Plans and runs one call, and counts it if it ran. Returns what should not have happened.
fn call(signature: &'static Signature, args: &[Arg], ran: &mut u64) -> Result<(), String> {
    let plan = match plan(signature, args) {
        Ok(plan) => plan,
        Err(refusal) if refusal.status() == Status::Inner => return Err(refusal.to_string()),
        Err(_) => return Ok(()),
    };
    if plan.workspace_bytes() > 1 << 26 {
        return Ok(());
    }
    let mut blocks: Vec<Block> = Vec::new();
    for access in plan.accesses() {
        if access.bytes() > 1 << 26 {
            return Ok(());
        }
        blocks.resize_with(blocks.len().max(access.buffer + 1), || Block::zeroed(0));
        blocks[access.buffer] = Block::zeroed(access.bytes());
        let pattern = blocks[access.buffer].bytes_mut().iter_mut().enumerate();
        pattern.for_each(|(index, byte)| *byte = (index * 7 + index / 3) as u8);
    }
    let mut workspace = Block::zeroed(plan.workspace_bytes());
    let regions: Vec<Region<'_>> = blocks.iter_mut().map(Block::region).collect();
    *ran += 1;
    // What other ranks would have sent is whatever the memory holds.
    if !plan.exchanges().is_empty() && plan.conflict(&regions).is_some() {
        return Ok(());
    }
    match plan.run(&regions, workspace.region(), Workers::ALONE) {
        Err(error) if error.kind() == jumar_ops::OpErrorKind::Internal => Err(error.to_string()),
        _ => Ok(()),
    }
}

#[test]
fn no_arguments_make_an_operator_panic() {
    let (mut failures, mut silent) = (Vec::new(), Vec::new());
    for name in computed() {
        let mut all = crate::signatures::ALL.iter();
        let Some(signature) = all.find(|signature| signature.name == name) else {
            failures.push(format!("{name}: there is no signature"));
            continue;
        };
        let mut ran = 0;
        for seed in 0..CALLS {
            let args = arguments(&mut Random(fastrand::Rng::with_seed(seed)), signature);
            let outcome = catch_unwind(AssertUnwindSafe(|| call(signature, &args, &mut ran)));
            let failure = match outcome {
                Ok(Ok(())) => continue,
                Ok(Err(text)) => text,
                Err(panic) => match panic.downcast_ref::<String>() {
                    Some(text) => format!("panic: {text}"),
                    None => format!("panic: {:?}", panic.downcast_ref::<&str>()),
                },
            };
            failures.push(format!("{name} seed {seed}: {failure}: {args:?}"));
            break;
        }
        if ran == 0 {
            silent.push(name);
        }
    }
    println!("operators of which no call ran: {silent:?}");
    let shown: Vec<String> = failures
        .iter()
        .take(12)
        .map(|text| text.chars().take(700).collect())
        .collect();
    assert!(
        failures.is_empty(),
        "{} operators failed\n{}",
        failures.len(),
        shown.join("\n")
    );
}
