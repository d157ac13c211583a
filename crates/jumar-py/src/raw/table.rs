//! Tables of functions in the form that CPython takes.

use std::ffi::CStr;

use pyo3::ffi;
use pyo3::prelude::*;

/// The functions of one submodule, ended by [`END`].
pub struct Table(&'static [Method]);

/// One function.
#[repr(transparent)]
pub struct Method(ffi::PyMethodDef);

// SAFETY: a method definition is a set of pointers to statics, which are never written.
unsafe impl Sync for Method {}

/// What ends a table.
pub const END: Method = Method(ffi::PyMethodDef::zeroed());

impl Method {
    /// A function that takes a tuple of positional arguments; CPython itself refuses keywords.
    pub const fn new(name: &'static CStr, entry: ffi::PyCFunction, doc: &'static CStr) -> Method {
        Method(ffi::PyMethodDef {
            ml_name: name.as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: entry },
            ml_flags: ffi::METH_VARARGS,
            ml_doc: doc.as_ptr(),
        })
    }
}

impl Method {
    /// A method of a class that takes no arguments.
    pub const fn without_arguments(
        name: &'static CStr,
        entry: ffi::PyCFunction,
        doc: &'static CStr,
    ) -> Method {
        Method(ffi::PyMethodDef {
            ml_flags: ffi::METH_NOARGS,
            ..Method::new(name, entry, doc).0
        })
    }

    /// A method of a class that takes a tuple of positional arguments and a dict of keywords, or null.
    pub fn with_keywords(
        name: &'static CStr,
        entry: ffi::PyCFunctionWithKeywords,
        doc: &'static CStr,
    ) -> Method {
        Method(ffi::PyMethodDef {
            ml_name: name.as_ptr(),
            ml_meth: ffi::PyMethodDefPointer {
                PyCFunctionWithKeywords: entry,
            },
            ml_flags: ffi::METH_VARARGS | ffi::METH_KEYWORDS,
            ml_doc: doc.as_ptr(),
        })
    }

    /// The definition, which CPython reads and does not write.
    pub fn as_ptr(&'static self) -> *mut ffi::PyMethodDef {
        (&raw const self.0).cast_mut()
    }
}

impl Table {
    pub const fn new(methods: &'static [Method]) -> Table {
        assert!(
            !methods.is_empty() && methods[methods.len() - 1].0.ml_name.is_null(),
            "a table needs its END"
        );
        Table(methods)
    }

    /// Adds the functions to a module.
    pub fn add_to(&'static self, module: &Bound<'_, PyModule>) -> PyResult<()> {
        let first = self.0.as_ptr().cast::<ffi::PyMethodDef>().cast_mut();
        // SAFETY: `module` is a live module; the array is a static, transparent over the definitions, and ends in a zeroed
        // one (Table::new). CPython reads it, and does not write it.
        let code = unsafe { ffi::PyModule_AddFunctions(module.as_ptr(), first) };
        if code == 0 {
            Ok(())
        } else {
            Err(PyErr::fetch(module.py()))
        }
    }
}
