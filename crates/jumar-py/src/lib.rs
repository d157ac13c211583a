//! The Python module `acl` (pyACL): ints as handles, codes as results, over the C interface of the shared library.
//!
//! This crate holds no runtime. When it is imported it finds the one library of the process (`raw::library`), and each of
//! its functions parses its arguments, calls a C function there and makes Python values of the results. Which functions
//! there are, and how each converts, is data (`api/pyacl`); the wrappers are generated from it.
//!
//! # Threads
//!
//! - A call that may wait, or that queues work which may wait, runs with the interpreter free, so that a callback on another
//!   thread can never be what it waits for in vain.
//! - A callback enters Python through `gate`, which counts those inside. When the interpreter begins to shut down the gate
//!   closes: callbacks inside are waited for, and later ones are dropped. Calls *from* Python keep working until the end.

#![deny(unsafe_code)]

mod gate;
mod notes;
mod raw;
mod threads;
mod util;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

/// pyACL: devices, memory, streams, models and operators. Handles and addresses are ints, failures are codes.
#[pymodule]
fn acl(module: &Bound<'_, PyModule>) -> PyResult<()> {
    raw::library::open().map_err(PyImportError::new_err)?;
    let py = module.py();
    raw::source_location::ask(py);
    let entered = py.import("sys")?.getattr("modules")?;
    for (name, table) in raw::tables() {
        if name == "base" {
            table.add_to(module)?;
            continue;
        }
        let full_name = format!("acl.{name}");
        let submodule = PyModule::new(py, &full_name)?;
        table.add_to(&submodule)?;
        module.setattr(name, &submodule)?;
        // `from acl.rt import memcpy` asks sys.modules, because `acl` is not a package.
        entered.set_item(full_name, &submodule)?;
    }
    raw::PRIVATE.add_to(module)?;
    let close = |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| gate::close(args.py());
    py.import("atexit")?.call_method1(
        "register",
        (PyCFunction::new_closure(py, None, None, close)?,),
    )?;
    Ok(())
}
