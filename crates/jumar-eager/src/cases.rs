//! Runs the stored cases of `cases/*.txt`, which scripts in that folder made with PyTorch.
//!
//! Each case is a call and what must come out. It runs several times: with dense tensors, with tensors that lie transposed
//! and apart in larger storages, and with several threads. What lies between the elements of a tensor must not change.

use jumar_ops::Share;
use jumar_ops::view::{Block, Region};
use jumar_types::dtype::DataType;

use crate::exchange::Memory as Source;
use crate::{
    Arg, Dims, Exchange, Group, ParamKind, Plan, Scalar, Signature, TensorArg, TensorDesc,
    Transfer, Workers, plan,
};

mod others;

macro_rules! families {
    ($($name:ident)*) => {
        const FAMILIES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { run_file(stringify!($name)); })*
    };
}

// One line a file: cases/<name>.txt.
families! {
    attention
    attention_backward
    behind
    blocks
    choice
    data
    database
    deform
    elementwise
    experts
    figures
    further
    fused
    gated
    index
    joined
    linalg
    loss
    low_products
    matrix
    movement
    network
    normalization
    paged
    products
    quant
    recurrent
    reduction
    routing
    sampler
    serving
    sparse
    spectrum
    training
    variants
    window
}

#[test]
fn every_file_of_cases_is_run() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".txt").map(String::from))
        .collect();
    files.sort_unstable();
    let mut listed = FAMILIES.to_vec();
    listed.sort_unstable();
    assert_eq!(files, listed);
}

fn folder() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

/// A tensor of a case: its type, its shape, and its elements as pairs of a real and an imaginary part.
#[derive(Clone, Debug)]
struct Values {
    dtype: DataType,
    dims: Vec<usize>,
    /// The text of each element; none for an output whose values do not matter.
    elements: Vec<String>,
}

/// How the tensors of a case lie in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    /// Densely.
    Dense,
    /// With the dimensions in the opposite order in memory, every second element used, and an offset of three elements.
    Strided,
}

/// One case.
#[derive(Debug, Default)]
struct Case {
    line: usize,
    name: String,
    /// Parameters with what follows on their lines, in order.
    inputs: Vec<(String, Vec<String>)>,
    outputs: Vec<(String, Values)>,
    tolerance: Option<f64>,
    refusal: Option<(i32, String)>,
    /// Dimensions that the run reports for an output.
    shapes: Vec<(String, Vec<i64>)>,
    dense_only: bool,
    /// Whether the dense call has to work without a workspace.
    bare: bool,
    /// Formats of tensors whose storage has their own dimensions.
    formats: Vec<(String, i32)>,
}

fn run_file(name: &str) {
    let text = std::fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
    let cases = parse(&text);
    assert!(!cases.is_empty(), "{name}.txt has no cases");
    let mut failures = Vec::new();
    let mut rest = cases.as_slice();
    while let Some(case) = rest.first() {
        // The ranks of one call are as many cases.
        let ranks = ranks(case);
        let (together, others) = rest.split_at(ranks.unwrap_or(1));
        rest = others;
        let outcome = match ranks {
            None => run(case),
            Some(_) => run_ranks(together),
        };
        if let Err(failure) = outcome {
            failures.push(format!(
                "{name}.txt:{}: {}: {failure}",
                case.line, case.name
            ));
        }
    }
    let shown: Vec<&str> = failures.iter().take(40).map(String::as_str).collect();
    assert!(
        failures.is_empty(),
        "{} of {} cases failed\n{}",
        failures.len(),
        cases.len(),
        shown.join("\n")
    );
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace().map(String::from);
        let Some(keyword) = words.next() else {
            continue;
        };
        let rest: Vec<String> = words.collect();
        if keyword == "case" {
            cases.push(Case {
                line: index + 1,
                name: rest[0].clone(),
                ..Case::default()
            });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            panic!("line {}: a case comes first", index + 1);
        };
        match keyword.as_str() {
            "in" => case.inputs.push((rest[0].clone(), rest[1..].to_vec())),
            "out" => case.outputs.push((rest[0].clone(), values(&rest[1..]))),
            "within" => case.tolerance = Some(rest[0].parse().unwrap()),
            "refuse" => case.refusal = Some((rest[0].parse().unwrap(), rest[1..].join(" "))),
            "shape" => case.shapes.push((
                rest[0].clone(),
                rest[1..].iter().map(|dim| dim.parse().unwrap()).collect(),
            )),
            "dense" => case.dense_only = true,
            "bare" => case.bare = true,
            "format" => case
                .formats
                .push((rest[0].clone(), rest[1].parse().unwrap())),
            "#" => {}
            other => panic!("line {}: {other} is not known", index + 1),
        }
    }
    cases
}

/// `float32 2x3 1 2 3 4 5 6`: a scalar has the shape `x`.
fn values(words: &[String]) -> Values {
    let dtype = DataType::from_name(&words[0]).unwrap_or_else(|| panic!("{words:?}"));
    let dims = words[1]
        .split('x')
        .filter(|dim| !dim.is_empty())
        .map(|dim| dim.parse().unwrap())
        .collect();
    Values {
        dtype,
        dims,
        elements: words[2..].to_vec(),
    }
}

/// Converts the text of an element to bytes.
fn encode(dtype: DataType, text: &str) -> Vec<u8> {
    use jumar_ops::view::{BF16, F16};
    let real = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("{text}"));
    let integer = |text: &str| text.parse::<i128>().unwrap_or_else(|_| panic!("{text}"));
    let pair = || text.split_once(',').unwrap_or((text, "0"));
    match dtype {
        DataType::Float32 => (real(text) as f32).to_le_bytes().to_vec(),
        DataType::Float64 => real(text).to_le_bytes().to_vec(),
        DataType::Float16 => F16::from_f64(real(text)).to_le_bytes().to_vec(),
        DataType::BFloat16 => BF16::from_f64(real(text)).to_le_bytes().to_vec(),
        DataType::Complex64 => {
            let (re, im) = pair();
            [encode(DataType::Float32, re), encode(DataType::Float32, im)].concat()
        }
        DataType::Complex128 => {
            let (re, im) = pair();
            [encode(DataType::Float64, re), encode(DataType::Float64, im)].concat()
        }
        DataType::Complex32 => {
            let (re, im) = pair();
            [encode(DataType::Float16, re), encode(DataType::Float16, im)].concat()
        }
        other => {
            let size = other
                .size()
                .unwrap_or_else(|| panic!("{other} is not encoded"));
            integer(text).to_le_bytes()[..size].to_vec()
        }
    }
}

/// The parts of an element as numbers, and whether it is compared exactly.
fn decode(dtype: DataType, bytes: &[u8]) -> (f64, f64) {
    Scalar::new(dtype, bytes)
        .unwrap_or_else(|| panic!("{dtype}"))
        .complex()
}

/// A tensor in memory.
struct Memory {
    desc: TensorDesc,
    block: Block,
    /// The element of the storage that each element of the tensor is.
    positions: Vec<usize>,
    before: Vec<u8>,
}

const GAP: u8 = 0xa5;

fn lay_out(values: &Values, manner: Manner, zero: bool) -> Memory {
    if values.dtype.bits() == 4 {
        return lay_out_packed(values);
    }
    let (dims, rank) = (&values.dims, values.dims.len());
    let size = values.dtype.size().unwrap();
    let (mut strides, mut step) = (vec![0usize; rank], 1);
    let order: Vec<usize> = match manner {
        Manner::Dense => (0..rank).rev().collect(),
        Manner::Strided => (0..rank).collect(),
    };
    let (offset, spread) = match manner {
        Manner::Dense => (0, 1),
        Manner::Strided => (3, 2),
    };
    for axis in order {
        strides[axis] = step * spread;
        step *= dims[axis].max(1);
    }
    let count: usize = dims.iter().product();
    let storage = offset + step * spread;
    let mut block = Block::zeroed(storage * size);
    block.bytes_mut().fill(GAP);
    let mut positions = Vec::with_capacity(count);
    for index in 0..count {
        let (mut rest, mut at) = (index, offset);
        for axis in (0..rank).rev() {
            at += rest % dims[axis] * strides[axis];
            rest /= dims[axis];
        }
        positions.push(at);
        let element = match (values.elements.get(index), zero) {
            (Some(text), _) => encode(values.dtype, text),
            (None, true) => vec![0; size],
            (None, false) => continue,
        };
        block.bytes_mut()[at * size..][..size].copy_from_slice(&element);
    }
    let ints = |values: &[usize]| values.iter().map(|&value| value as i64).collect::<Vec<_>>();
    Memory {
        desc: TensorDesc {
            dtype: values.dtype,
            format: 2,
            dims: Dims::new(&ints(dims)),
            strides: Dims::new(&ints(&strides)),
            offset: offset as i64,
            storage: Dims::new(&[storage as i64]),
        },
        before: block.bytes().to_vec(),
        block,
        positions,
    }
}

/// Two elements in a byte, the first in the low half. The text of an element is its bits.
fn lay_out_packed(values: &Values) -> Memory {
    let count: usize = values.dims.iter().product();
    let mut block = Block::zeroed(count.div_ceil(2));
    block.bytes_mut().fill(GAP);
    for (index, text) in values.elements.iter().enumerate() {
        let (code, shift) = (text.parse::<u8>().unwrap(), index % 2 * 4);
        let byte = &mut block.bytes_mut()[index / 2];
        *byte = *byte & !(15 << shift) | code << shift;
    }
    let dims: Vec<i64> = values.dims.iter().map(|&dim| dim as i64).collect();
    Memory {
        desc: TensorDesc::contiguous(values.dtype, &dims),
        before: block.bytes().to_vec(),
        block,
        positions: (0..count).collect(),
    }
}

/// Threads that take their parts in the opposite order.
struct Backwards;

impl Share for Backwards {
    fn threads(&self) -> usize {
        3
    }

    fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..parts).rev().for_each(work);
    }
}

fn run(case: &Case) -> Result<(), String> {
    let signature = crate::signatures::ALL
        .iter()
        .find(|signature| signature.name == case.name)
        .ok_or("there is no signature of this name")?;
    for manner in [Manner::Dense, Manner::Strided] {
        if manner == Manner::Strided && case.dense_only {
            continue;
        }
        run_once(case, signature, manner, Workers::ALONE)
            .map_err(|failure| format!("{manner:?}: {failure}"))?;
    }
    run_once(case, signature, Manner::Dense, Workers::of(&Backwards))
        .map_err(|failure| format!("with threads: {failure}"))
}

/// The arguments of a case, and the memory of its tensors by buffer.
struct Bound {
    args: Vec<Arg>,
    memory: Vec<(String, Memory)>,
}

fn bind(case: &Case, signature: &Signature, manner: Manner) -> Result<Bound, String> {
    let mut bound = Bound {
        args: Vec::new(),
        memory: Vec::new(),
    };
    let mut used = 0;
    for param in signature.params {
        let words = case.inputs.iter().find(|(name, _)| name == param.name);
        let words = words.map(|(_, words)| words.as_slice());
        used += usize::from(words.is_some());
        let output = |name: &str| case.outputs.iter().find(|(own, _)| own == name);
        let mut tensor = |name: String, values: &Values, written: bool| {
            let mut values = values.clone();
            if written && output(&name).is_some() && words.is_none() {
                values.elements.clear();
            }
            let mut memory = lay_out(&values, manner, false);
            if let Some((_, format)) = case.formats.iter().find(|(own, _)| *own == name) {
                (memory.desc.format, memory.desc.storage) = (*format, memory.desc.dims.clone());
            }
            let desc = memory.desc.clone();
            bound.memory.push((name, memory));
            let buffer = bound.memory.len() - 1;
            TensorArg { desc, buffer }
        };
        let arg = match (param.kind, words) {
            (_, Some([null])) if null == "null" => Arg::Null,
            (ParamKind::Tensor, Some(words)) => {
                Arg::Tensor(tensor(param.name.into(), &values(words), false))
            }
            (ParamKind::Tensor, None) => match output(param.name) {
                Some((_, values)) => Arg::Tensor(tensor(param.name.into(), values, true)),
                None => Arg::Null,
            },
            (ParamKind::Tensors, _) => {
                let mut members = Vec::new();
                let given = |index: usize| {
                    let name = format!("{}[{index}]", param.name);
                    case.inputs.iter().find(|(own, _)| *own == name)
                };
                while let Some((name, words)) = given(members.len()) {
                    used += 1;
                    members.push(match words[0].as_str() {
                        "null" => None,
                        _ => Some(tensor(name.clone(), &values(words), false)),
                    });
                }
                while let Some((name, values)) =
                    output(&format!("{}[{}]", param.name, members.len()))
                {
                    members.push(Some(tensor(name.clone(), values, true)));
                }
                match members.is_empty() {
                    true => Arg::Null,
                    false => Arg::Tensors(members),
                }
            }
            (_, None) => Arg::Null,
            (ParamKind::Scalar, Some(words)) => Arg::Scalar(scalar(&words[0], &words[1])),
            (ParamKind::Scalars, Some(words)) => Arg::Scalars(
                words[1..]
                    .iter()
                    .map(|word| scalar(&words[0], word))
                    .collect(),
            ),
            (ParamKind::Ints, Some(words)) => Arg::Ints(numbers(words)),
            (ParamKind::Floats, Some(words)) => Arg::Floats(numbers(words)),
            (ParamKind::Bools, Some(words)) => {
                Arg::Bools(words.iter().map(|word| word == "1").collect())
            }
            (ParamKind::Int, Some(words)) => Arg::Int(words[0].parse().unwrap()),
            (ParamKind::Float, Some(words)) => Arg::Float(words[0].parse().unwrap()),
            (ParamKind::Bool, Some(words)) => Arg::Bool(words[0] == "1"),
            (ParamKind::Text, Some(words)) if param.is_group() && words.len() == 3 => {
                Arg::Group(group(words))
            }
            (ParamKind::Text, Some(words)) => Arg::Text(words.join(" ")),
            (ParamKind::Type, Some(words)) => Arg::Type(DataType::from_name(&words[0]).unwrap()),
        };
        bound.args.push(arg);
    }
    match used == case.inputs.len() {
        true => Ok(bound),
        false => Err(format!(
            "a parameter is not in the signature {:?}",
            signature.params
        )),
    }
}

/// `name rank size`
fn group(words: &[String]) -> Group {
    Group {
        name: words[0].clone(),
        rank: words[1].parse().unwrap(),
        size: words[2].parse().unwrap(),
    }
}

/// Returns how many cases are the ranks of one call. `None`: there is no communicator, or the call is refused.
fn ranks(case: &Case) -> Option<usize> {
    // `groupList 1 4 6` and `groupList int64 1 2` have three words, too, and name no communicator.
    let is_group = |words: &[String]| {
        words.len() == 3
            && words[0].parse::<i64>().is_err()
            && DataType::from_name(&words[0]).is_none()
    };
    let groups = case.inputs.iter().filter(|(_, words)| is_group(words));
    let mut groups = groups.filter(|(name, _)| name.starts_with("group"));
    match (groups.next(), &case.refusal) {
        (Some((_, words)), None) => Some(group(words).size as usize),
        _ => None,
    }
}

/// Runs one call of all ranks. What they exchange is moved as the definition of the collective says.
fn run_ranks(cases: &[Case]) -> Result<(), String> {
    for manner in [Manner::Dense, Manner::Strided] {
        let mut bound = Vec::new();
        for case in cases {
            let mut all = crate::signatures::ALL.iter();
            let signature = all.find(|signature| signature.name == case.name);
            let signature = signature.ok_or("there is no signature of this name")?;
            let bound_case = bind(case, signature, manner)?;
            let planned = plan(signature, &bound_case.args).map_err(|error| error.to_string())?;
            bound.push((bound_case, planned));
        }
        let exchanges = bound[0].1.exchanges().len();
        let mut workspaces: Vec<Block> = Vec::new();
        for (_, planned) in &bound {
            let mut workspace = Block::zeroed(planned.workspace_bytes());
            workspace.bytes_mut().fill(GAP);
            workspaces.push(workspace);
        }
        for part in 0..=exchanges {
            for ((bound, planned), workspace) in bound.iter_mut().zip(&mut workspaces) {
                let border = |index: usize| planned.exchanges().get(index).map(Exchange::before);
                let first = part.checked_sub(1).and_then(border).unwrap_or(0);
                let end = border(part).unwrap_or(planned.steps());
                let memory = bound.memory.iter_mut();
                let regions: Vec<Region<'_>> =
                    memory.map(|(_, memory)| memory.block.region()).collect();
                if let Some(conflict) = planned.conflict(&regions) {
                    return Err(format!("tensors {conflict:?} share memory"));
                }
                planned
                    .run_part(first..end, &regions, workspace.region(), Workers::ALONE)
                    .map_err(|error| error.to_string())?;
            }
            if part < exchanges {
                exchange(&mut bound, &mut workspaces, part)?;
            }
        }
        for (case, (bound, _)) in cases.iter().zip(&bound) {
            for (name, values) in &case.outputs {
                let found = bound.memory.iter().find(|(own, _)| own == name);
                let (_, memory) = found.ok_or_else(|| format!("{name} is not a parameter"))?;
                let failure = compare(name, values, memory, case.tolerance);
                failure.map_err(|text| format!("line {} ({manner:?}): {text}", case.line))?;
            }
            for (name, memory) in &bound.memory {
                untouched(case, name, memory)?;
            }
        }
    }
    Ok(())
}

/// Moves the data of one collective.
fn exchange(
    bound: &mut [(Bound, Plan)],
    workspaces: &mut [Block],
    index: usize,
) -> Result<(), String> {
    let ranks = bound.len();
    let mut sent: Vec<Vec<u8>> = Vec::new();
    let kinds: Vec<Exchange> = bound
        .iter()
        .map(|(_, planned)| planned.exchanges()[index].clone())
        .collect();
    for (rank, one) in kinds.iter().enumerate() {
        let first = &kinds[0];
        let same = one.mark() == first.mark()
            && one.count() == first.count()
            && one.dtype() == first.dtype()
            && std::mem::discriminant(one.transfer()) == std::mem::discriminant(first.transfer());
        if !same || one.group().rank as usize != rank {
            return Err(format!("the ranks disagree: {one:?} and {first:?}"));
        }
        sent.push(match one.send() {
            None => Vec::new(),
            Some((Source::Workspace, start, bytes)) => {
                workspaces[rank].bytes()[start..start + bytes].to_vec()
            }
            Some((Source::Tensor(tensor), start, bytes)) => {
                bound[rank].0.memory[tensor].1.block.bytes()[start..start + bytes].to_vec()
            }
        });
    }
    let sums = |parts: &[&[u8]]| -> Vec<u8> {
        let number =
            |part: &[u8], at: usize| f32::from_le_bytes(part[at..at + 4].try_into().unwrap());
        (0..parts[0].len())
            .step_by(4)
            .flat_map(|at| {
                let sum: f32 = parts.iter().map(|part| number(part, at)).sum();
                sum.to_le_bytes()
            })
            .collect()
    };
    for (rank, one) in kinds.iter().enumerate() {
        let width = one.dtype().size().unwrap();
        let part = |from: usize| {
            let bytes = sent[from].len() / ranks;
            &sent[from][rank * bytes..(rank + 1) * bytes]
        };
        let all: Vec<&[u8]> = sent.iter().map(Vec::as_slice).collect();
        let parts: Vec<&[u8]> = (0..ranks).map(part).collect();
        if matches!(
            one.transfer(),
            Transfer::AllReduce | Transfer::ReduceScatter
        ) {
            assert_eq!(one.dtype(), DataType::Float32, "sums are formed in float32");
        }
        let got = match one.transfer() {
            Transfer::AllReduce => sums(&all),
            Transfer::ReduceScatter => sums(&parts),
            Transfer::AllGather => all.concat(),
            Transfer::AllToAll => parts.concat(),
            Transfer::AllToAllV { receive, .. } => {
                let mut got = Vec::new();
                for (from, wanted) in kinds.iter().enumerate() {
                    let Transfer::AllToAllV { send, .. } = wanted.transfer() else {
                        unreachable!("the kinds were compared")
                    };
                    if send[rank] != receive[from] {
                        return Err(format!("rank {from} and {rank} disagree about a length"));
                    }
                    let start = send[..rank].iter().sum::<u64>() as usize * width;
                    got.extend(&sent[from][start..start + send[rank] as usize * width]);
                }
                got
            }
            Transfer::Barrier => continue,
        };
        let (target, start, bytes) = one.receive().ok_or("nothing receives")?;
        if bytes != got.len() {
            return Err(format!("{bytes} bytes receive {}", got.len()));
        }
        match target {
            Source::Workspace => &mut workspaces[rank].bytes_mut()[start..start + bytes],
            Source::Tensor(tensor) => {
                &mut bound[rank].0.memory[tensor].1.block.bytes_mut()[start..start + bytes]
            }
        }
        .copy_from_slice(&got);
    }
    Ok(())
}

fn scalar(dtype: &str, text: &str) -> Scalar {
    let dtype = DataType::from_name(dtype).unwrap();
    Scalar::new(dtype, &encode(dtype, text)).unwrap()
}

fn numbers<T: std::str::FromStr<Err: std::fmt::Debug>>(words: &[String]) -> Vec<T> {
    words.iter().map(|word| word.parse().unwrap()).collect()
}

fn run_once(
    case: &Case,
    signature: &'static Signature,
    manner: Manner,
    workers: Workers<'_>,
) -> Result<(), String> {
    let mut bound = bind(case, signature, manner)?;
    let planned = plan(signature, &bound.args);
    if let Some((status, text)) = &case.refusal {
        return match planned {
            Ok(_) => Err("it was not refused".into()),
            Err(refusal) if refusal.status().code() != *status => Err(format!(
                "the status is {}: {refusal}",
                refusal.status().code()
            )),
            Err(refusal) if !refusal.text().contains(text.as_str()) => {
                Err(format!("the sentence is: {refusal}"))
            }
            Err(_) => Ok(()),
        };
    }
    let planned = planned.map_err(|refusal| refusal.to_string())?;
    let workspace = planned.workspace_bytes();
    if case.bare && manner == Manner::Dense && workspace > 0 {
        return Err(format!("it asks for {workspace} bytes of workspace"));
    }
    let shapes = execute(&planned, &mut bound, workers)?;
    for (name, wanted) in &case.shapes {
        let index = bound.memory.iter().position(|(own, _)| own == name);
        let found = shapes.iter().find(|(buffer, _)| Some(*buffer) == index);
        match found {
            Some((_, dims)) if **dims == **wanted => {}
            other => return Err(format!("the reported shape is {other:?}, not {wanted:?}")),
        }
    }
    for (name, values) in &case.outputs {
        let found = bound.memory.iter().find(|(own, _)| own == name);
        let (_, memory) = found.ok_or_else(|| format!("{name} is not a parameter"))?;
        compare(name, values, memory, case.tolerance)?;
    }
    for (name, memory) in &bound.memory {
        untouched(case, name, memory)?;
    }
    Ok(())
}

fn execute(
    planned: &Plan,
    bound: &mut Bound,
    workers: Workers<'_>,
) -> Result<Vec<(usize, Dims)>, String> {
    let mut workspace = Block::zeroed(planned.workspace_bytes());
    workspace.bytes_mut().fill(GAP);
    let mut regions: Vec<Region<'_>> = Vec::new();
    for (_, memory) in &mut bound.memory {
        regions.push(memory.block.region());
    }
    let ran = planned.run(&regions, workspace.region(), workers);
    ran.map(|ran| ran.shapes).map_err(|error| error.to_string())
}

/// How far a result may be from what is wanted, relative to the larger of 1 and the value.
fn tolerance(dtype: DataType) -> f64 {
    match dtype {
        DataType::Float64 | DataType::Complex128 => 1e-12,
        DataType::Float32 | DataType::Complex64 => 3e-6,
        DataType::Float16 | DataType::Complex32 => 2e-3,
        DataType::BFloat16 => 1.6e-2,
        _ => 0.0,
    }
}

fn compare(
    name: &str,
    values: &Values,
    memory: &Memory,
    within: Option<f64>,
) -> Result<(), String> {
    if values.dtype.bits() == 4 {
        for (index, text) in values.elements.iter().enumerate() {
            let found = memory.block.bytes()[index / 2] >> (index % 2 * 4) & 15;
            if found != text.parse::<u8>().unwrap() {
                return Err(format!("{name}[{index}] has the bits {found}, not {text}"));
            }
        }
        return Ok(());
    }
    let size = values.dtype.size().unwrap();
    let bound = within.unwrap_or(tolerance(values.dtype));
    for (index, text) in values.elements.iter().enumerate() {
        let at = memory.positions[index] * size;
        let found = &memory.block.bytes()[at..at + size];
        let wanted = encode(values.dtype, text);
        if values.dtype.bits() == 8 || values.dtype.is_integer() {
            if found != wanted {
                return Err(format!("{name}[{index}] is {found:?}, not {wanted:?}"));
            }
            continue;
        }
        let ((re, im), (wanted_re, wanted_im)) =
            (decode(values.dtype, found), decode(values.dtype, &wanted));
        let near = |found: f64, wanted: f64| {
            found == wanted
                || (found.is_nan() && wanted.is_nan())
                || (found - wanted).abs() <= bound * wanted.abs().max(1.0)
        };
        if !near(re, wanted_re) || !near(im, wanted_im) {
            return Err(format!(
                "{name}[{index}] is {re} {im}, not {wanted_re} {wanted_im}"
            ));
        }
    }
    Ok(())
}

/// Refuses changes of what is not an element of an output.
fn untouched(case: &Case, name: &str, memory: &Memory) -> Result<(), String> {
    let output = case.outputs.iter().any(|(own, _)| own == name);
    let Some(size) = memory.desc.dtype.size() else {
        return match output || memory.block.bytes() == memory.before {
            true => Ok(()),
            false => Err(format!("{name} was changed")),
        };
    };
    for (element, (now, before)) in memory
        .block
        .bytes()
        .chunks(size)
        .zip(memory.before.chunks(size))
        .enumerate()
    {
        let may_change = output && memory.positions.contains(&element);
        if !may_change && now != before {
            return Err(format!(
                "element {element} of the storage of {name} was changed"
            ));
        }
    }
    Ok(())
}
