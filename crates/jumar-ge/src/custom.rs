//! Custom operators: classes of the program whose functions infer and run nodes of a graph. The C++ library knows the classes; it
//! answers the requests of this module by calls of the program's functions, so that no lock is held while one is made.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use jumar::engine::Context;
use jumar::offline::DeviceMemory;

use crate::lowering::{Desc, Node};
use crate::session;
use crate::sync::{Mutex, MutexGuard};
use crate::wire::{Reader, Writer};
use crate::{GeError, GeResult};

/// Answers a request: with a reply, or with the sentence of an error.
pub type CustomHandler = Box<dyn Fn(&[u8]) -> std::result::Result<Vec<u8>, String> + Send + Sync>;

static HANDLER: OnceLock<CustomHandler> = OnceLock::new();

/// Sets the function that answers requests. The first one stays, as a process has one C++ library.
pub fn set_custom_handler(handler: CustomHandler) {
    let _ = HANDLER.set(handler);
}

/// The requests, by their numbers.
const DESCRIBE: u64 = 0;
const INFER: u64 = 1;
const EXECUTE: u64 = 2;

fn request(message: &Writer) -> GeResult<Vec<u8>> {
    let handler = HANDLER
        .get()
        .ok_or_else(|| GeError::new("no custom operator is registered"))?;
    handler(&message.bytes).map_err(GeError::new)
}

/// What the program registered for the operator of a node.
pub struct RegisteredOperator {
    /// Whether it infers the shapes of its outputs.
    pub infers: bool,
    /// The inputs on whose values its functions depend.
    pub depends_on: Vec<usize>,
}

/// Finds the registration for the operator of a node; `None` if there is no class that executes it.
///
/// # Errors
///
/// FAILED: the constructor of the class failed.
pub fn registered(node: &Node) -> GeResult<Option<RegisteredOperator>> {
    if HANDLER.get().is_none() {
        return Ok(None);
    }
    let mut message = Writer::default();
    message.u64(DESCRIBE);
    message.text(&node.kind);
    message.list(&node.inputs, |to, input| to.text(&input.name));
    let reply = request(&message)?;
    let mut from = Reader::new(&reply);
    let (executes, infers) = (from.u64()? != 0, from.u64()? != 0);
    let depends_on = from.list(8, Reader::index)?;
    Ok(executes.then_some(RegisteredOperator { infers, depends_on }))
}

/// An input of a custom operator.
pub struct Operand {
    pub desc: Desc,
    /// Where it is on the device, and its size; 0 while shapes are inferred.
    pub address: usize,
    pub bytes: usize,
    /// The contents, where the operator depends on them and they are known.
    pub contents: Vec<u8>,
}

fn describe(message: &mut Writer, node: &Node, inputs: &[Option<Operand>]) {
    message.text(&node.name);
    message.text(&node.kind);
    message.u64(node.attrs.len() as u64);
    for (name, value) in &node.attrs {
        let mut encoded = Writer::default();
        encoded.value(value);
        message.text(name);
        message.blob(&encoded.bytes);
    }
    message.u64(inputs.len() as u64);
    for (input, operand) in node.inputs.iter().zip(inputs) {
        message.text(&input.name);
        message.u64(u64::from(operand.is_some()));
        if let Some(operand) = operand {
            message.tensor_desc(&operand.desc, &[]);
            message.u64(operand.address as u64);
            message.u64(operand.bytes as u64);
            message.blob(&operand.contents);
        }
    }
    message.list(&node.outputs, |to, output| {
        to.text(&output.name);
        to.tensor_desc(&output.desc, &[]);
    });
}

/// Calls the functions that infer the outputs of a node.
///
/// # Errors
///
/// FAILED: one of them failed.
pub fn infer(node: &Node, inputs: &[Option<Operand>]) -> GeResult<Vec<Desc>> {
    let mut message = Writer::default();
    message.u64(INFER);
    describe(&mut message, node, inputs);
    let reply = request(&message)?;
    let mut from = Reader::new(&reply);
    from.list(32, |from| Ok(from.desc()?.desc))
}

/// An output that Execute left.
pub struct Written {
    /// The input whose memory it shares.
    pub shares: Option<usize>,
    pub desc: Desc,
    pub address: usize,
}

/// Calls Execute for a node. It allocates memory by the number of the [`Execution`].
///
/// # Errors
///
/// FAILED: it failed, threw an exception, or left an output without memory.
pub fn execute(
    node: &Node,
    execution: &Execution,
    stream: u64,
    inputs: &[Option<Operand>],
) -> GeResult<Vec<Written>> {
    let mut message = Writer::default();
    message.u64(EXECUTE);
    message.u64(execution.number);
    message.u64(stream);
    describe(&mut message, node, inputs);
    let reply = request(&message)?;
    let mut from = Reader::new(&reply);
    from.list(48, |from| {
        Ok(Written {
            shares: usize::try_from(from.int()?).ok(),
            desc: from.desc()?.desc,
            address: from.index()?,
        })
    })
}

/// The executions that are in progress, and the memory that they have allocated.
#[derive(Default)]
struct Executions {
    last: u64,
    all: BTreeMap<u64, (Arc<Context>, Vec<Arc<DeviceMemory>>)>,
}

fn executions() -> MutexGuard<'static, Executions> {
    static EXECUTIONS: OnceLock<Mutex<Executions>> = OnceLock::new();
    EXECUTIONS.get_or_init(Mutex::default).lock()
}

/// An execution in progress.
pub struct Execution {
    number: u64,
}

impl Execution {
    /// Begins one, whose memory comes from a context.
    pub fn begin(context: &Arc<Context>) -> Execution {
        let mut executions = executions();
        executions.last += 1;
        let number = executions.last;
        executions.all.insert(number, (context.clone(), Vec::new()));
        Execution { number }
    }

    /// Takes the memory that was allocated.
    pub fn memory(&self) -> Vec<Arc<DeviceMemory>> {
        let mut executions = executions();
        executions
            .all
            .get_mut(&self.number)
            .map_or(Vec::new(), |(_, memory)| std::mem::take(memory))
    }
}

impl Drop for Execution {
    fn drop(&mut self) {
        let ended = executions().all.remove(&self.number);
        drop(ended);
    }
}

/// Allocates memory for an execution in progress and returns its address.
///
/// # Errors
///
/// FAILED: Execute has returned already; there is no memory.
pub fn allocate(number: u64, bytes: usize) -> GeResult<usize> {
    let ended = || {
        GeError::new(
            "a custom operator allocates memory after its Execute has returned: the context ends with the call",
        )
    };
    let context = executions()
        .all
        .get(&number)
        .map(|(context, _)| context.clone())
        .ok_or_else(ended)?;
    let memory = session::with_runtime(|_, caller| {
        Ok(Arc::new(DeviceMemory::allocate(&context, bytes, caller)?))
    })?;
    let address = memory.span().address();
    match executions().all.get_mut(&number) {
        Some((_, list)) => list.push(memory),
        None => return Err(ended()),
    }
    Ok(address)
}
