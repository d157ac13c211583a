//! The operators that were compiled, and those that a program may run without compiling them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jumar::offline::Operator;
use jumar::offline::graph::{GraphError, GraphErrorKind};
use jumar::offline::lowering::{self as ge, Desc, SingleOperator, Value};
use jumar_types::dtype::DataType;
use jumar_types::{Error, ErrorKind, Result};

use super::request::Request;
use crate::Cx;

/// How many compiled operators are kept unless aclopSetMaxOpQueueNum says otherwise.
const MOST: usize = 20_000;

/// What identifies a call.
pub(super) type Key = Box<[u8]>;

/// The compiled operators of a process.
pub(super) struct Registry {
    ready: HashMap<Key, Kept>,
    /// Counts the uses, so that the operator that was not used for the longest time is found.
    clock: u64,
    most: usize,
    pub(super) available: Available,
}

struct Kept {
    ready: Ready,
    used: u64,
}

/// What a call runs.
#[derive(Clone)]
pub(super) enum Ready {
    /// This operator.
    Operator(Arc<Operator>),
    /// An operator that is compiled for the values of these inputs, which the call reads.
    ForValues(Arc<[usize]>),
}

impl Default for Registry {
    fn default() -> Self {
        Registry {
            ready: HashMap::new(),
            clock: 0,
            most: MOST,
            available: Available::default(),
        }
    }
}

impl Registry {
    fn get(&mut self, key: &[u8]) -> Option<Ready> {
        self.clock += 1;
        let kept = self.ready.get_mut(key)?;
        kept.used = self.clock;
        Some(kept.ready.clone())
    }

    fn insert(&mut self, key: Key, ready: Ready) {
        self.clock += 1;
        let used = self.clock;
        self.ready.insert(key, Kept { ready, used });
        self.shrink();
    }

    /// Sets how many operators are kept.
    pub(super) fn limit(&mut self, most: usize) {
        self.most = most;
        self.shrink();
    }

    /// Drops the operators that were not used for the longest time. Queued executions keep theirs.
    fn shrink(&mut self) {
        while self.ready.len() > self.most {
            let oldest = self.ready.iter().min_by_key(|(_, kept)| kept.used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            self.ready.remove(&key);
        }
    }
}

/// The operators that aclopExecute and aclopCreateHandle find.
#[derive(Default)]
pub(super) struct Available {
    /// Whether every operator is: the folder of models is empty, or holds files that cannot be read here.
    pub(super) any: bool,
    exact: HashSet<Key>,
    /// Those with dynamic dimensions.
    open: Vec<SingleOperator>,
    /// The types that there are.
    kinds: HashSet<String>,
}

impl Available {
    pub(super) fn add(&mut self, operator: &SingleOperator) {
        self.kinds.insert(operator.kind.clone());
        let added = self.exact.insert(key(operator));
        if added && is_open(operator) {
            self.open.push(operator.clone());
        }
    }

    fn has(&self, operator: &SingleOperator) -> bool {
        self.any
            || self.exact.contains(&key(operator))
            || self.open.iter().any(|open| covers(open, operator))
    }
}

fn descs(operator: &SingleOperator) -> impl Iterator<Item = Option<&Desc>> {
    let inputs = operator.inputs.iter().map(|input| input.desc.as_ref());
    inputs.chain(operator.outputs.iter().map(Option::as_ref))
}

fn is_open(operator: &SingleOperator) -> bool {
    descs(operator)
        .flatten()
        .any(|desc| desc.dims.iter().any(|dim| *dim < 0))
}

/// Reports whether an operator with dynamic dimensions is one with these.
fn covers(open: &SingleOperator, operator: &SingleOperator) -> bool {
    let same_dims = |open: &[i64], dims: &[i64]| {
        open == [-2]
            || (open.len() == dims.len()
                && open
                    .iter()
                    .zip(dims)
                    .all(|(open, dim)| *open < 0 || open == dim))
    };
    let same = |(open, other): (Option<&Desc>, Option<&Desc>)| match (open, other) {
        (None, None) => true,
        (Some(open), Some(other)) => {
            open.dtype == other.dtype
                && open.format == other.format
                && same_dims(&open.dims, &other.dims)
        }
        _ => false,
    };
    let values = |operator: &SingleOperator| {
        let inputs = operator.inputs.iter().map(|input| input.value.clone());
        inputs.collect::<Vec<_>>()
    };
    open.kind == operator.kind
        && open.inputs.len() == operator.inputs.len()
        && open.outputs.len() == operator.outputs.len()
        && open.attrs == operator.attrs
        && values(open) == values(operator)
        && descs(open).zip(descs(operator)).all(same)
}

/// Returns what identifies a call: type, descriptions, constants and attributes. Names of tensors do not.
pub(super) fn key(operator: &SingleOperator) -> Key {
    let mut key = Vec::with_capacity(256);
    text(&mut key, &operator.kind);
    number(&mut key, operator.inputs.len());
    for input in &operator.inputs {
        description(&mut key, input.desc.as_ref());
        text(&mut key, &input.group);
        match &input.value {
            None => key.push(0),
            Some(bytes) => {
                key.push(1);
                number(&mut key, bytes.len());
                key.extend_from_slice(bytes);
            }
        }
    }
    number(&mut key, operator.outputs.len());
    for output in &operator.outputs {
        description(&mut key, output.as_ref());
    }
    for (name, value) in &operator.attrs {
        text(&mut key, name);
        attribute(&mut key, value);
    }
    key.into()
}

fn number(key: &mut Vec<u8>, number: usize) {
    key.extend_from_slice(&number.to_le_bytes());
}

fn text(key: &mut Vec<u8>, text: &str) {
    number(key, text.len());
    key.extend_from_slice(text.as_bytes());
}

fn description(key: &mut Vec<u8>, desc: Option<&Desc>) {
    let Some(desc) = desc else {
        key.push(0);
        return;
    };
    key.push(1);
    key.extend_from_slice(&desc.dtype.to_le_bytes());
    key.extend_from_slice(&desc.format.to_le_bytes());
    number(key, desc.dims.len());
    for dim in &desc.dims {
        key.extend_from_slice(&dim.to_le_bytes());
    }
}

fn attribute(key: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Int(value) => {
            key.push(0);
            key.extend_from_slice(&value.to_le_bytes());
        }
        Value::Float(value) => {
            key.push(1);
            key.extend_from_slice(&value.to_bits().to_le_bytes());
        }
        Value::Bool(value) => key.extend([2, u8::from(*value)]),
        Value::Str(value) => {
            key.push(3);
            text(key, value);
        }
        Value::Ints(values) => {
            key.push(4);
            number(key, values.len());
            for value in values {
                key.extend_from_slice(&value.to_le_bytes());
            }
        }
        // Rarer ones by what is printed of them, which has every value.
        other => {
            key.push(5);
            text(key, &format!("{other:?}"));
        }
    }
}

/// Finds the operator of a call, compiled if that is needed and allowed. `base` is the request without values that the call read.
///
/// # Errors
/// `OperatorNotFound`: the program neither compiled nor loaded the operator. `OperatorInvalid`: it cannot be compiled.
pub(super) fn find(
    cx: &Cx<'_>,
    base: &Request,
    operator: &SingleOperator,
    compile: bool,
) -> Result<Ready> {
    let own = key(operator);
    let registry = &cx.process.single_operators.registry;
    {
        let mut registry = registry.lock();
        if let Some(ready) = registry.get(&own)
            && (compile || registry.available.has(&base.operator))
        {
            return Ok(ready);
        }
        if !compile && !registry.available.has(&base.operator) {
            return Err(not_found(&registry.available, &base.operator));
        }
    }
    let compiled = compiled(operator).map(Ready::Operator);
    let ready = match compiled {
        Err(error) if may_need_values(&error) => {
            let inputs = needed_values(operator, &error);
            if inputs.is_empty() {
                return Err(invalid(&error));
            }
            Ready::ForValues(inputs.into())
        }
        compiled => compiled.map_err(|error| invalid(&error))?,
    };
    let mut registry = registry.lock();
    if compile {
        registry.available.add(&base.operator);
    }
    registry.insert(own, ready.clone());
    Ok(ready)
}

/// Compiles an operator before it is run. One that needs values of inputs is compiled by the call that has them.
///
/// # Errors
/// `OperatorInvalid`.
pub(super) fn compile_for_later(cx: &Cx<'_>, request: &Request) -> Result<()> {
    find(cx, request, &request.operator, true).map(drop)
}

fn compiled(operator: &SingleOperator) -> std::result::Result<Arc<Operator>, GraphError> {
    let compiled = ge::compile_single(operator, BTreeMap::new())?;
    Operator::new(&compiled)
        .map(Arc::new)
        .map_err(|error| GraphError::new(GraphErrorKind::InvalidModel, error.sentence()))
}

/// Reports whether an operator may be compiled once values of its inputs are known.
fn may_need_values(error: &GraphError) -> bool {
    [GraphErrorKind::NotSupported, GraphErrorKind::NeedsShape].contains(&error.kind())
}

/// Values of more bytes than these decide no shape: integers, and others.
const INTEGER_BYTES: usize = 32 << 10;
const OTHER_BYTES: usize = 64;

/// Returns the inputs whose values the operator has to be compiled for: one that changes why it is refused, else all that may
/// be needed together. None where it is refused for another reason.
fn needed_values(operator: &SingleOperator, refusal: &GraphError) -> Vec<usize> {
    // Any value shows whether knowing it matters.
    let matters = |inputs: &[(usize, usize)]| {
        let mut probe = operator.clone();
        for &(index, bytes) in inputs {
            probe.inputs[index].value = Some(Arc::new(vec![0; bytes]));
        }
        match ge::compile_single(&probe, BTreeMap::new()) {
            Ok(_) => true,
            Err(other) => other.text() != refusal.text(),
        }
    };
    let all = small_inputs(operator);
    let single = all.iter().find(|input| matters(&[**input]));
    match single {
        Some((index, _)) => vec![*index],
        None if all.len() > 1 && matters(&all) => all.iter().map(|(index, _)| *index).collect(),
        None => Vec::new(),
    }
}

/// Returns the inputs whose values may decide a shape, with their sizes in bytes.
fn small_inputs(operator: &SingleOperator) -> Vec<(usize, usize)> {
    let inputs = operator.inputs.iter().enumerate();
    let small = inputs.filter_map(|(index, input)| {
        let desc = input.desc.as_ref().filter(|_| input.value.is_none())?;
        let dtype = DataType::from_acl(desc.dtype)?;
        let mut dims = desc.dims.iter().map(|dim| usize::try_from(*dim).ok());
        let elements = dims.try_fold(1usize, |product, dim| product.checked_mul(dim?));
        let bytes = dtype.size_of(elements?)?;
        let most = match dtype.is_integer() {
            true => INTEGER_BYTES,
            false => OTHER_BYTES,
        };
        (bytes <= most).then_some((index, bytes))
    });
    small.collect()
}

/// Returns why an operator was not compiled.
pub(super) fn invalid(error: &GraphError) -> Error {
    Error::new(ErrorKind::OperatorInvalid, error.text())
}

fn not_found(available: &Available, operator: &SingleOperator) -> Error {
    let kind = &operator.kind;
    let sentence = if available.kinds.contains(kind) {
        format!(
            "{kind} was compiled or loaded with other descriptions or attributes than those of this call: {}",
            described(operator)
        )
    } else {
        format!("{kind} was neither compiled nor loaded")
    };
    Error::new(ErrorKind::OperatorNotFound, sentence)
}

/// Describes the tensors of a call for a sentence.
fn described(operator: &SingleOperator) -> String {
    let one = |desc: Option<&Desc>| match desc {
        None => "none".to_owned(),
        Some(desc) => format!("{}{:?}", ge::type_name(desc.dtype), desc.dims),
    };
    let inputs = operator.inputs.iter().map(|input| one(input.desc.as_ref()));
    let outputs = operator.outputs.iter().map(|output| one(output.as_ref()));
    format!(
        "({}) -> ({})",
        inputs.collect::<Vec<_>>().join(", "),
        outputs.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use jumar::offline::lowering::SingleInput;

    fn operator(dims: &[i64]) -> SingleOperator {
        let desc = Desc {
            dims: dims.to_vec(),
            ..Desc::default()
        };
        SingleOperator {
            kind: "Relu".to_owned(),
            inputs: vec![SingleInput {
                desc: Some(desc.clone()),
                ..SingleInput::default()
            }],
            outputs: vec![Some(desc)],
            attrs: BTreeMap::new(),
        }
    }

    #[test]
    fn keys_differ_in_everything_but_names() {
        let base = operator(&[2, 3]);
        let mut changed = vec![operator(&[3, 2]), operator(&[6]), operator(&[])];
        let mut other = base.clone();
        other.kind = "Abs".to_owned();
        changed.push(other);
        for value in [
            Value::Int(1),
            Value::Float(1.0),
            Value::Bool(true),
            Value::Str("1".to_owned()),
            Value::Ints(vec![1]),
            Value::Floats(vec![1.0]),
            Value::Strs(vec![]),
            Value::IntLists(vec![vec![1]]),
        ] {
            let mut other = base.clone();
            other.attrs.insert("a".to_owned(), value);
            changed.push(other);
        }
        let mut other = base.clone();
        other.inputs[0].value = Some(Arc::new(vec![0; 24]));
        changed.push(other);
        let mut other = base.clone();
        other.outputs[0] = None;
        changed.push(other);
        let mut keys: HashSet<Key> = changed.iter().map(key).collect();
        assert_eq!(keys.len(), changed.len());
        assert!(keys.insert(key(&base)));
        let mut named = base.clone();
        named.inputs[0].name = "x".to_owned();
        assert_eq!(key(&named), key(&base));
    }

    #[test]
    fn open_dimensions_cover_fixed_ones() {
        let mut available = Available::default();
        assert!(!available.has(&operator(&[2, 3])));
        available.add(&operator(&[-1, 3]));
        assert!(available.has(&operator(&[2, 3])));
        assert!(!available.has(&operator(&[2, 4])));
        assert!(!available.has(&operator(&[3])));
        available.add(&operator(&[-2]));
        assert!(available.has(&operator(&[4])));
    }

    #[test]
    fn the_operator_that_was_not_used_longest_is_dropped() {
        let mut registry = Registry::default();
        registry.limit(2);
        let ready = || Ready::ForValues(Arc::new([]));
        let keys = [1u8, 2, 3].map(|byte| Key::from([byte]));
        registry.insert(keys[0].clone(), ready());
        registry.insert(keys[1].clone(), ready());
        assert!(registry.get(&keys[0]).is_some());
        registry.insert(keys[2].clone(), ready());
        assert!(registry.get(&keys[0]).is_some());
        assert!(registry.get(&keys[1]).is_none());
        assert!(registry.get(&keys[2]).is_some());
    }
}
