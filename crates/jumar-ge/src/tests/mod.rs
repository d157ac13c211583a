//! Sessions as the headers use them: by calls with messages, on the process's one runtime.

mod finalize;
mod memory;
mod scale;
mod variables;

use std::sync::Arc;

use jumar::engine::{Caller, Context, Runtime, Span};

use crate::calls::{self, number};
use crate::lowering::{Data, Desc, Value};
use crate::run::RunMode;
use crate::session::{self, Session};
use crate::sync::{Mutex, MutexGuard};
use crate::wire::{Reader, Writer};
use crate::{GeError, GeResult, HostTensor, message, run};

const FLOAT: i32 = 0;
const INT32: i32 = 3;
const FORMAT_ND: i32 = 2;

/// The tests share the process's one runtime, and some measure its memory: each runs alone.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock();
    message::take_errors();
    send(number::GE_INITIALIZE, |to| to.u64(0));
    turn
}

/// Sends a message and returns the reply, or the error texts of the thread.
pub fn try_send(
    call: u32,
    message: impl FnOnce(&mut Writer),
) -> std::result::Result<Vec<u8>, String> {
    let mut to = Writer::default();
    message(&mut to);
    calls::call(calls::VERSION, call, &to.bytes).map_err(|_| message::take_errors())
}

/// Sends a message that has to succeed.
pub fn send(call: u32, message: impl FnOnce(&mut Writer)) -> Vec<u8> {
    try_send(call, message).unwrap_or_else(|text| panic!("call {call}: {text}"))
}

fn number_of(reply: &[u8]) -> u64 {
    Reader::new(reply).u64().expect("a number")
}

fn desc(dims: &[i64], dtype: i32) -> Desc {
    Desc {
        dims: dims.to_vec(),
        dtype,
        format: FORMAT_ND,
    }
}

/// An operator of a graph that is built.
#[derive(Clone, Copy)]
pub struct Op(u64);

impl Op {
    pub fn new(kind: &str, name: &str) -> Op {
        Op(number_of(&send(number::OP_CREATE, |to| {
            to.text(name);
            to.text(kind);
        })))
    }

    pub fn described(self, dims: &[i64], dtype: i32) -> Op {
        send(number::OP_SET_OUTPUT_DESC, |to| {
            to.u64(self.0);
            to.text("");
            to.u64(0);
            to.tensor_desc(&desc(dims, dtype), &[]);
        });
        self
    }

    pub fn data(name: &str, index: i64, dims: &[i64], dtype: i32) -> Op {
        let op = Op::new("Data", name).described(dims, dtype);
        op.attr("index", &Value::Int(index))
    }

    pub fn constant(name: &str, dims: &[i64], dtype: i32, bytes: &[u8]) -> Op {
        let data = Data {
            desc: desc(dims, dtype),
            bytes: Arc::new(bytes.to_vec()),
        };
        Op::new("Const", name).attr("value", &Value::Tensor(data))
    }

    pub fn attr(self, name: &str, value: &Value) -> Op {
        send(number::OP_SET_ATTR, |to| {
            to.u64(self.0);
            to.text(name);
            to.value(value);
        });
        self
    }

    pub fn input(self, name: &str, source: Op) -> Op {
        send(number::OP_LINK, |to| {
            to.u64(self.0);
            to.text(name);
            to.u64(0);
            to.u64(source.0);
            to.u64(0);
            to.text("");
            to.u64(0);
        });
        self
    }
}

/// Builds a graph and returns its number.
pub fn graph(name: &str, inputs: &[Op], outputs: &[Op]) -> u64 {
    let id = number_of(&send(number::GRAPH_NEW, |to| to.text(name)));
    send(number::GRAPH_SET_INPUTS, |to| {
        to.u64(id);
        to.list(inputs, |to, op| to.u64(op.0));
    });
    send(number::GRAPH_SET_OUTPUTS, |to| {
        to.u64(id);
        to.list(outputs, |to, op| {
            to.u64(op.0);
            to.u64(0);
            to.u64(0);
        });
    });
    id
}

/// A session that is deleted when it is dropped.
pub struct OwnedSession(pub u64);

impl OwnedSession {
    pub fn new() -> OwnedSession {
        OwnedSession(number_of(&send(number::SESSION_NEW, |to| to.u64(0))))
    }

    pub fn inner(&self) -> Arc<Session> {
        session::find(self.0).unwrap_or_else(|fail| panic!("{}", fail.text))
    }

    pub fn add(&self, graph: u32, id: u64, options: &[(&str, &str)]) {
        send(number::SESSION_ADD, |to| {
            to.u64(self.0);
            to.u64(u64::from(graph));
            to.u64(id);
            to.list(options, |to, (key, value)| {
                to.text(key);
                to.text(value);
            });
        });
    }

    /// Builds a graph for the inputs that it declares.
    pub fn build(&self, graph: u32) {
        send(number::SESSION_BUILD, |to| {
            to.u64(self.0);
            to.u64(u64::from(graph));
            to.u64(0);
        });
    }

    /// Runs a graph from host memory and returns the contents of its outputs.
    pub fn run(&self, graph: u32, inputs: &[HostTensor]) -> GeResult<Vec<Vec<u8>>> {
        let reply = run::run(RunMode::Host as u32, self.0, graph, 0, inputs, &[]);
        let reply = reply.map_err(|_| GeError::new(message::take_errors()))?;
        Reader::new(&reply).list(8, |from| {
            from.desc()?;
            from.u64()?;
            Ok(from.bytes()?.to_vec())
        })
    }

    /// Queues a run on a stream.
    pub fn run_on(&self, stream: u64, graph: u32, inputs: &[HostTensor]) -> GeResult<()> {
        let reply = run::run(RunMode::Stream as u32, self.0, graph, stream, inputs, &[]);
        reply
            .map(drop)
            .map_err(|_| GeError::new(message::take_errors()))
    }

    /// Returns the contents of a variable, or the error text.
    pub fn variable(&self, name: &str) -> std::result::Result<Vec<f32>, String> {
        let reply = try_send(number::SESSION_VARIABLES, |to| {
            to.u64(self.0);
            to.u64(0);
            to.list(&[name], |to, name| to.text(name));
        })?;
        let mut from = Reader::new(&reply);
        let contents = from.list(8, |from| {
            from.desc()?;
            from.u64()?;
            Ok(from.bytes()?.to_vec())
        });
        Ok(floats(&contents.expect("one variable")[0]))
    }
}

impl Drop for OwnedSession {
    fn drop(&mut self) {
        send(number::SESSION_DELETE, |to| to.u64(self.0));
    }
}

pub fn floats(bytes: &[u8]) -> Vec<f32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

pub fn bytes_of(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

pub fn on_host(dims: &[i64], dtype: i32, bytes: &[u8]) -> HostTensor {
    HostTensor {
        dims: dims.to_vec(),
        dtype,
        format: FORMAT_ND,
        span: Span::EMPTY,
        bytes: bytes.to_vec(),
    }
}

pub fn host_floats(values: &[f32]) -> HostTensor {
    on_host(&[values.len() as i64], FLOAT, &bytes_of(values))
}

pub fn host_int(value: i32) -> HostTensor {
    on_host(&[1], INT32, &value.to_le_bytes())
}

pub fn runtime() -> &'static Runtime {
    jumar_acl::frontend::runtime().expect("the runtime")
}

/// Does something as the Graph Engine.
pub fn with<T>(work: impl FnOnce(&'static Runtime, &Caller<'_>) -> GeResult<T>) -> T {
    session::with_runtime(work).unwrap_or_else(|fail| panic!("{}", fail.text))
}

/// The primary context of device 0, kept for a test.
pub struct Device(pub Arc<Context>);

impl Device {
    pub fn new() -> Device {
        Device(runtime().retain_device(0).expect("device 0"))
    }

    /// Returns the bytes that are allocated on the device.
    pub fn used(&self) -> u64 {
        self.0.device().memory_use().0
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        with(|runtime, caller| {
            // A failed test may leave a device that cannot be released; a panic here would hide its message.
            let _ = runtime.release_device(0, false, caller);
            Ok(())
        });
    }
}
