//! `acl.util.start_thread` and `stop_thread`: native threads that run a Python function.

use std::collections::HashMap;
use std::os::unix::thread::JoinHandleExt;
use std::sync::mpsc;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::raw::ffi::{Answer, Args, FAILURE, INVALID_PARAM, SUCCESS, Stop};
use crate::raw::python;
use crate::{gate, notes};

/// Threads that were not joined, by the number that Python knows them by. The value says whether the function raised.
static RUNNING: LazyLock<Mutex<HashMap<u64, JoinHandle<bool>>>> = LazyLock::new(Mutex::default);

/// Starts a thread that calls a function with a list as its one argument, or with none.
pub fn start<'py>(call: &Args<'py>) -> Answer<'py> {
    let given = call.len();
    if given != 2 {
        // The one function of the module that keeps the interpreter's own words.
        let text = format!("function takes exactly 2 arguments ({given} given)");
        return Err(Stop::Raised(PyTypeError::new_err(text)));
    }
    let function = call.object(0)?;
    if !function.is_callable() {
        return Err(Stop::Raised(PyTypeError::new_err(
            "parameter must be callable",
        )));
    }
    let argument = call.object(1)?;
    let argument = (!argument.is_none()).then(|| argument.unbind());
    let function = function.unbind();
    if !gate::is_open() {
        notes::keep("acl.util.start_thread: the interpreter is shutting down".to_string());
        return call.many(&[&0_u64, &FAILURE]);
    }
    // The number is handed over before the function runs, so that a function which looks itself up finds itself.
    let (go, wait) = mpsc::channel::<()>();
    let spawned = thread::Builder::new()
        .name("acl".to_string())
        .spawn(move || {
            let _ = wait.recv();
            // Not through the gate: this thread lives for as long as the program likes, and an exit must not wait for it.
            Python::try_attach(|py| run(py, function, argument)).unwrap_or(false)
        });
    match spawned {
        Ok(handle) => {
            let number = number_of(&handle);
            running().insert(number, handle);
            let _ = go.send(());
            call.many(&[&number, &SUCCESS])
        }
        Err(error) => {
            notes::keep(format!(
                "acl.util.start_thread: the system made no thread: {error}"
            ));
            call.many(&[&0_u64, &FAILURE])
        }
    }
}

/// Waits for a thread to end; it never ends one.
pub fn stop<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let number = call.get::<u64>(0)?;
    let Some(handle) = running().remove(&number) else {
        notes::keep(format!(
            "acl.util.stop_thread: {number} is not an unjoined thread of start_thread"
        ));
        return call.one(&INVALID_PARAM);
    };
    if call.waits(|| handle.join()).unwrap_or(true) {
        return Err(Stop::Raised(PyRuntimeError::new_err(
            "the function of the thread raised an exception",
        )));
    }
    call.one(&SUCCESS)
}

/// Calls the function; true when it raised.
fn run(py: Python<'_>, function: Py<PyAny>, argument: Option<Py<PyAny>>) -> bool {
    let args = match argument {
        Some(argument) => PyTuple::new(py, [argument.into_bound(py)]),
        None => Ok(PyTuple::empty(py)),
    };
    let function = function.into_bound(py);
    let result = args.and_then(|args| {
        let result = python::call(&function, &args);
        python::release(args.into_any());
        result
    });
    python::release(function);
    match result {
        Ok(value) => {
            python::release(value);
            false
        }
        Err(error) => {
            // Printed at once, as stop_thread may never be called.
            python::display(py, &error);
            true
        }
    }
}

#[expect(
    clippy::unnecessary_cast,
    reason = "pthread_t is a pointer with some C libraries"
)]
fn number_of(handle: &JoinHandle<bool>) -> u64 {
    handle.as_pthread_t() as u64
}

fn running() -> std::sync::MutexGuard<'static, HashMap<u64, JoinHandle<bool>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
