//! Functions of C that call functions of Python.
//!
//! # Ownership
//!
//! What a callback needs travels in a box whose address is the user data of the C interface: made for one task, and taken
//! back by the callback, or by the call that queued it when that failed. Callbacks without user data have one slot each.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::hand::dump_chunk;
use super::kit::{Object, Pointer};
use super::python;
use crate::gate;

/// A function and the object that it is called with.
struct Task {
    function: Option<Py<PyAny>>,
    data: Py<PyAny>,
}

/// A box on its way through C.
pub struct Parcel(Pointer);

impl Parcel {
    pub fn new(function: Option<Bound<'_, PyAny>>, data: Bound<'_, PyAny>) -> Parcel {
        let task = Box::new(Task {
            function: function.map(Bound::unbind),
            data: data.unbind(),
        });
        Parcel(Pointer::of_mut(Box::leak(task)))
    }

    pub fn pointer(&self) -> Pointer {
        self.0
    }

    /// Takes the box back: C did not take it.
    pub fn discard(self, py: Python<'_>) {
        // SAFETY: the call that would have queued it failed, so no callback will come for it.
        let task = unsafe { open(self.0.as_ptr()) };
        drop(task.function.map(|function| function.into_bound(py)));
        drop(task.data.into_bound(py));
    }
}

/// # Safety
///
/// The address is that of a [`Parcel`], and nobody else opens it.
unsafe fn open(parcel: *mut c_void) -> Box<Task> {
    // SAFETY: the caller's contract; `Parcel::new` leaked a box of this type.
    unsafe { Box::from_raw(parcel.cast::<Task>()) }
}

impl Task {
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

/// aclrtCallback: runs the function of a parcel with its object.
pub unsafe extern "C" fn launched(parcel: *mut c_void) {
    // SAFETY: the library calls this once for each parcel that launch_callback handed to it.
    let task = unsafe { open(parcel) };
    gate::enter(|py| task.run(py, None));
}

/// Calls a function for its effects. An exception ends with the callback that it happened in; it is shown, as nobody else
/// will: the code of the call that asked for the callback was given long ago.
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

    /// Puts a function in, or takes it out; gives the one that was there.
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
            // One that raised is not called again, unless another has taken its place meanwhile.
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

/// aclvdecCallback and aclvencCallback: input, output, and the parcel of the frame.
pub unsafe extern "C" fn frame(input: Pointer, output: Pointer, parcel: *mut c_void) {
    if parcel.is_null() {
        return;
    }
    // SAFETY: the library gives back the user data of a send, once for each frame.
    let task = unsafe { open(parcel) };
    gate::enter(|py| task.run(py, Some((input.number(), output.number()))));
}
