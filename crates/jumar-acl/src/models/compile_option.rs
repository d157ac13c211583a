//! The options of the operator compiler. Jumar keeps them, and compiles no operator: kernels exist for every shape.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};

use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::generated::enums;
use crate::{Cx, refuse};

/// The value of an option that has one from the start. Nothing is compiled just in time.
const JIT_COMPILE: &CStr = c"disable";

/// The options that the program has set.
#[derive(Default)]
pub struct Options(BTreeMap<u32, CString>);

impl Options {
    /// Returns the value of an option, which may never have been set.
    fn get(&self, option: u32) -> Option<&CStr> {
        let set = self.0.get(&option).map(CString::as_c_str);
        set.or((option == enums::ACL_OP_JIT_COMPILE).then_some(JIT_COMPILE))
    }
}

fn check_option(option: u32) -> Result<()> {
    if option <= enums::ACL_OP_DEBUG_OPTION {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        crate::not_a_value("aclCompileOpt", option),
    )
}

pub fn aclSetCompileopt(cx: &Cx<'_>, option: u32, value: Option<&CStr>) -> Result<()> {
    let value = value.ok_or_else(|| null("value"))?;
    check_option(option)?;
    let mut options = cx.process.compile_options.lock();
    options.0.insert(option, value.to_owned());
    Ok(())
}

/// Returns the size of the value with its terminating zero; 0 for an option that was never set.
pub fn aclGetCompileoptSize(cx: &Cx<'_>, option: u32) -> Result<usize> {
    check_option(option)?;
    let options = cx.process.compile_options.lock();
    Ok(options
        .get(option)
        .map_or(0, |value| value.count_bytes() + 1))
}

pub fn aclGetCompileopt(cx: &Cx<'_>, option: u32, length: usize) -> Result<CString> {
    check_option(option)?;
    let options = cx.process.compile_options.lock();
    let Some(value) = options.get(option) else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("option {option} was never set; set it with aclSetCompileopt"),
        );
    };
    let size = value.count_bytes() + 1;
    if length < size {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("length is {length}; the value of option {option} needs {size} bytes"),
        );
    }
    Ok(value.to_owned())
}
