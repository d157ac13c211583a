//! Functions of C that call functions of Python.
//!
//! # Ownership
//!
//! What a callback needs is kept here under a number, which is the user data of the C interface: made for one task, and taken
//! out by the callback, by the library when it drops the task without a call (its stream was destroyed by force), or by the call
//! that queued it when that failed. The number is looked up and never followed: a callback that C
//! calls a second time (one that was captured into a model is called at each execution) finds nothing, where the address of a box would be
//! freed twice. Callbacks without user data have one slot each.

use std::collections::{BTreeMap, HashMap};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::ffi::{Object, Pointer};
use super::manual::dump_chunk;
use super::python;
use crate::gate;

/// A function and the object that it is called with.
struct Task {
    function: Option<Py<PyAny>>,
    data: Py<PyAny>,
}

/// The tasks on their way through C, by number. Numbers count from 1 and are not used again.
struct Tasks {
    last: u64,
    waiting: BTreeMap<u64, Task>,
    /// Tasks that the library has dropped.
    dropped: Vec<Task>,
}

static TASKS: Mutex<Tasks> = Mutex::new(Tasks {
    last: 0,
    waiting: BTreeMap::new(),
    dropped: Vec::new(),
});

/// Whether there are dropped tasks; read without the lock.
static ANY_DROPPED: AtomicBool = AtomicBool::new(false);

fn tasks() -> MutexGuard<'static, Tasks> {
    TASKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task on its way through C.
pub struct CallbackBox(u64);

impl CallbackBox {
    pub fn new(function: Option<Bound<'_, PyAny>>, data: Bound<'_, PyAny>) -> CallbackBox {
        let task = Task {
            function: function.map(Bound::unbind),
            data: data.unbind(),
        };
        let mut tasks = tasks();
        tasks.last += 1;
        let number = tasks.last;
        tasks.waiting.insert(number, task);
        CallbackBox(number)
    }

    pub fn pointer(&self) -> Pointer {
        Pointer::of_number(self.0)
    }

    /// Takes the task back: C did not take it.
    pub fn discard(self, py: Python<'_>) {
        if let Some(task) = take(self.0) {
            task.release(py);
        }
    }
}

/// Takes a task out, once. Nothing of Python runs while the lock is held.
fn take(number: u64) -> Option<Task> {
    tasks().waiting.remove(&number)
}

/// Takes the task of a callback out and runs it.
fn run(boxed: *mut c_void, before: Option<(u64, u64)>) {
    let number = boxed.addr() as u64;
    gate::enter(|py| match take(number) {
        Some(task) => task.run(py, before),
        None => {
            let error = PyRuntimeError::new_err(
                "acl: a callback was called again, and its function is not: it was queued for one call, and the stream's task was \
                 captured into a model or repeated",
            );
            python::unraisable(error, &py.None().into_bound(py));
        }
    });
}

impl Task {
    fn release(self, py: Python<'_>) {
        if let Some(function) = self.function {
            python::release(function.into_bound(py));
        }
        python::release(self.data.into_bound(py));
    }

    /// Calls the function, and drops the references while the interpreter is attached, so that they are not put off.
    fn run<'py>(self, py: Python<'py>, before: Option<(u64, u64)>) {
        let data = self.data.into_bound(py);
        if let Some(function) = self.function {
            let function = function.into_bound(py);
            let args = match before {
                Some((input, output)) => (input, output, &data).into_pyobject(py),
                None => (&data,).into_pyobject(py),
            };
            let _ = call(&function, args);
            python::release(function);
        }
        python::release(data);
    }
}

/// Keeps a task that the library dropped until a call has returned to Python: the library may hold locks here, and a destructor
/// could call it.
pub unsafe extern "C" fn dropped(boxed: *mut c_void) {
    let number = boxed.addr() as u64;
    let mut tasks = tasks();
    if let Some(task) = tasks.waiting.remove(&number) {
        tasks.dropped.push(task);
        ANY_DROPPED.store(true, Ordering::Release);
    }
}

/// Releases the objects of tasks that the library has dropped.
#[inline]
pub fn release_dropped(py: Python<'_>) {
    if ANY_DROPPED.load(Ordering::Acquire) {
        release_all(py);
    }
}

#[cold]
fn release_all(py: Python<'_>) {
    ANY_DROPPED.store(false, Ordering::Release);
    let dropped = std::mem::take(&mut tasks().dropped);
    for task in dropped {
        task.release(py);
    }
}

/// aclrtCallback: runs the function of a boxed callback with its object.
pub unsafe extern "C" fn launched(boxed: *mut c_void) {
    run(boxed, None);
}

/// Calls a function for its effects. An exception ends with the callback that it happened in; it is printed, as
/// the call that queued the callback has already returned its code.
fn call<'py>(function: &Bound<'py, PyAny>, args: PyResult<Bound<'py, PyTuple>>) -> Result<(), ()> {
    let result = args.and_then(|args| {
        let result = python::call(function, &args);
        python::release(args.into_any());
        result
    });
    match result {
        Ok(value) => {
            python::release(value);
            Ok(())
        }
        Err(error) => {
            python::unraisable(error, function);
            Err(())
        }
    }
}

/// A callback of which the interface has one at a time.
pub struct Slot(Mutex<Option<Py<PyAny>>>);

/// The function of set_exception_info_callback.
pub static EXCEPTION: Slot = Slot(Mutex::new(None));
/// The function of dump_reg_callback.
pub static DUMP: Slot = Slot(Mutex::new(None));

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a function in, or takes it out. Returns the one that was there.
    pub fn replace(&self, function: Option<Py<PyAny>>) -> Option<Py<PyAny>> {
        // The lock is gone before anybody drops what comes out, which matters because a destructor may run Python.
        std::mem::replace(&mut *self.lock(), function)
    }

    fn get(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.lock().as_ref().map(|function| function.clone_ref(py))
    }
}

/// aclrtExceptionInfoCallback. The description is alive during the call only.
pub unsafe extern "C" fn exception_info(info: Pointer) {
    gate::enter(|py| {
        let Some(function) = EXCEPTION.get(py) else {
            return;
        };
        let function = function.into_bound(py);
        if call(&function, (info.number(),).into_pyobject(py)).is_err() {
            // One that raised is not called again, unless it was replaced meanwhile.
            let mut slot = EXCEPTION.lock();
            let gone = if slot.as_ref().is_some_and(|now| now.is(&function)) {
                slot.take()
            } else {
                None
            };
            drop(slot);
            if let Some(gone) = gone {
                python::release(gone.into_bound(py));
            }
        }
        python::release(function);
    });
}

/// The callback of acldumpRegCallback: 0, or -1 when the function raised or cannot be called any more.
pub unsafe extern "C" fn dump(chunk: Pointer, _size: i32) -> i32 {
    let called = gate::enter(|py| {
        let Some(function) = DUMP.get(py) else {
            return 0;
        };
        let function = function.into_bound(py);
        let args = dump_chunk(chunk)
            .object(py)
            .and_then(|chunk| (chunk,).into_pyobject(py));
        let called = call(&function, args);
        python::release(function);
        if called.is_ok() { 0 } else { -1 }
    });
    called.unwrap_or(-1)
}

/// The functions of video channels, by the description that they were set on.
pub struct Channels(LazyLock<Mutex<HashMap<u64, Py<PyAny>>>>);

pub static DECODERS: Channels = Channels(LazyLock::new(Mutex::default));
pub static ENCODERS: Channels = Channels(LazyLock::new(Mutex::default));

impl Channels {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set(&self, py: Python<'_>, channel: Pointer, function: Option<Bound<'_, PyAny>>) {
        let old = match function {
            Some(function) => self.lock().insert(channel.number(), function.unbind()),
            None => self.lock().remove(&channel.number()),
        };
        drop(old.map(|old| old.into_bound(py)));
    }

    pub fn get<'py>(&self, py: Python<'py>, channel: Pointer) -> Option<Bound<'py, PyAny>> {
        self.lock()
            .get(&channel.number())
            .map(|function| function.bind(py).clone())
    }
}

/// aclvdecCallback and aclvencCallback: input, output, and the boxed callback of the frame.
pub unsafe extern "C" fn frame(input: Pointer, output: Pointer, boxed: *mut c_void) {
    if boxed.is_null() {
        return;
    }
    run(boxed, Some((input.number(), output.number())));
}
