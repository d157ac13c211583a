//! Kernels by name, number and symbol, and their attributes.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use jumar::engine::{CodeForm, Function};
use jumar_types::{Error, ErrorKind, Result};

use super::binary::{core_type, function_of};
use super::{device, value};
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

pub fn aclrtBinaryGetFunction(cx: &Cx<'_>, binary: Raw, name: Option<&CStr>) -> Result<Raw> {
    let Some(name) = name else {
        return Err(null("kernelName"));
    };
    let found = cx.runtime()?.binary(binary.0)?;
    let name = name.to_string_lossy();
    // Whatever goes wrong from here on, a missing context included, has one code.
    let flat = |error: Error| {
        let flat = Error::new(ErrorKind::InvalidValue, error.sentence());
        match error.advice() {
            Some(advice) => flat.fix(advice),
            None => flat,
        }
    };
    let device = device(cx).map_err(flat)?;
    let function = match function_of(cx, binary, &name) {
        Some(function) => found.function_called(&name, &function, device),
        None => found.function(&name, device),
    };
    Ok(Raw(function.map_err(flat)?.id()))
}

pub fn aclrtBinaryGetFunctionByEntry(cx: &Cx<'_>, binary: Raw, entry: u64) -> Result<Raw> {
    let binary = cx.runtime()?.binary(binary.0)?;
    let device = device(cx)?;
    if binary.form() == CodeForm::Status {
        return value("functions of a binary for the device's own CPU have names alone");
    }
    let name = binary.name_at(entry, device)?;
    Ok(Raw(binary.function(&name, device)?.id()))
}

pub fn aclrtRegisterCpuFunc(
    cx: &Cx<'_>,
    binary: Raw,
    function: Option<&CStr>,
    kernel: Option<&CStr>,
) -> Result<Raw> {
    let (Some(function), Some(kernel)) = (function, kernel) else {
        return Err(null("funcName or kernelName"));
    };
    let binary = cx.runtime()?.binary(binary.0)?;
    if binary.form() != CodeForm::Status {
        return value(
            "the binary is not one for the device's own CPU (load it with a cpuKernelMode)",
        );
    }
    let device = device(cx)?;
    let found = binary.function_called(
        &kernel.to_string_lossy(),
        &function.to_string_lossy(),
        device,
    )?;
    Ok(Raw(found.id()))
}

pub fn aclrtGetFuncBySymbol(cx: &Cx<'_>, symbol: usize) -> Result<Raw> {
    if symbol == 0 {
        return Err(null("symbol"));
    }
    Ok(Raw(cx.runtime()?.function_of_symbol(symbol)?.id()))
}

/// Finds a kernel by what some calls take for one: the address of a host symbol, tried first, or a handle.
pub(super) fn symbol_or_handle(cx: &Cx<'_>, function: usize) -> Result<Arc<Function>> {
    if function == 0 {
        return Err(null("func"));
    }
    let runtime = cx.runtime()?;
    match runtime.function_of_symbol(function) {
        Ok(function) => Ok(function),
        Err(_) => runtime.function(function as u64),
    }
}

/// The kernel's code lies where the kind of core looks for it: for the matrix cores and their mixes first, for vector cores
/// second.
fn code_range_of(cx: &Cx<'_>, function: Raw) -> Result<(Arc<Function>, usize, usize)> {
    let function = cx.runtime()?.function(function.0)?;
    if function.is_of_cpu() {
        return value(format!(
            "\"{}\" is a function of the device's own CPU, which has no address on the cores",
            function.name()
        ));
    }
    let current = device(cx).ok();
    let (address, bytes) = function
        .code_range(current)
        .or_else(|_| function.code_range(None))?;
    Ok((function, address, bytes))
}

pub fn aclrtGetFunctionAddr(cx: &Cx<'_>, function: Raw) -> Result<(usize, usize)> {
    let (function, address, _) = code_range_of(cx, function)?;
    Ok(match function.tag() {
        core_type::VECTOR => (0, address),
        _ => (address, 0),
    })
}

pub fn aclrtGetFunctionSize(cx: &Cx<'_>, function: Raw) -> Result<(usize, usize)> {
    let (function, _, bytes) = code_range_of(cx, function)?;
    Ok(match function.tag() {
        core_type::VECTOR => (0, bytes),
        _ => (bytes, 0),
    })
}

pub fn aclrtGetFunctionName(cx: &Cx<'_>, function: Raw, capacity: u32) -> Result<CString> {
    if function.is_null() {
        return value("funcHandle is null");
    }
    let function = cx.runtime()?.function(function.0)?;
    if (capacity as usize) < function.name().len() + 1 {
        return value(format!(
            "the name \"{}\" takes {} bytes, and maxLen is {capacity}",
            function.name(),
            function.name().len() + 1
        ));
    }
    // Names come from the symbol table, where a zero byte ends them.
    Ok(CString::new(function.name()).unwrap_or_default())
}

pub fn aclrtGetFunctionAttribute(cx: &Cx<'_>, function: Raw, attribute: u32) -> Result<i64> {
    let function = cx.runtime()?.function(function.0)?;
    match attribute {
        enums::ACL_FUNC_ATTR_KERNEL_TYPE => Ok(i64::from(function.tag())),
        enums::ACL_FUNC_ATTR_KERNEL_RATIO if function.is_of_cpu() => {
            value("a function of the device's own CPU has no ratio of cores")
        }
        // The low 16 bits count vector cores, the next ones matrix cores.
        enums::ACL_FUNC_ATTR_KERNEL_RATIO => Ok(match function.tag() {
            core_type::VECTOR => 1,
            _ => 1 << 16,
        }),
        enums::ACL_FUNC_ATTR_KERNEL_SCHED_MODE => Ok(0),
        other => value(crate::not_a_value("aclrtFuncAttribute", other)),
    }
}

pub fn aclrtFunctionGetBinary(cx: &Cx<'_>, function: Raw) -> Result<Raw> {
    let function = cx.runtime()?.function(function.0)?;
    match function.binary() {
        0 => value(format!(
            "kernel \"{}\" belongs to the program itself and to no loaded binary",
            function.name()
        )),
        binary => Ok(Raw(binary)),
    }
}

/// The parameters of a kernel that describes them.
pub(super) fn parameters(function: &Function) -> Result<Vec<jumar::engine::Parameter>> {
    if function.is_of_cpu() {
        return refuse(
            ErrorKind::FeatureUnsupported,
            format!(
                "\"{}\" is a function of the device's own CPU, whose parameters are not described",
                function.name()
            ),
        );
    }
    function.parameters()?.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidValue,
            format!(
                "kernel \"{}\" does not describe its parameters",
                function.name()
            ),
        )
        .fix("Add JUMAR_KERNEL(name) behind the kernel's definition; docs/kernels.md shows how.")
    })
}

pub fn aclrtFunctionGetParamCount(cx: &Cx<'_>, function: usize) -> Result<usize> {
    Ok(parameters(&*symbol_or_handle(cx, function)?)?.len())
}

pub fn aclrtFunctionGetParamInfo(
    cx: &Cx<'_>,
    function: usize,
    index: usize,
) -> Result<(usize, usize)> {
    let function = symbol_or_handle(cx, function)?;
    let parameters = parameters(&function)?;
    match parameters.get(index) {
        Some(parameter) => Ok((parameter.offset, parameter.bytes)),
        None => value(format!(
            "kernel \"{}\" has {} parameters, and none of number {index}",
            function.name(),
            parameters.len()
        )),
    }
}

/// How much memory of its own a block of threads may ask for.
pub(super) const MOST_LOCAL_BYTES: usize = 192 << 10;

pub fn aclrtFunctionGetAvailDynUbufPerBlock(
    cx: &Cx<'_>,
    function: usize,
    flags: u32,
) -> Result<usize> {
    let function = symbol_or_handle(cx, function)?;
    if flags != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("flags are {flags:#x}; they must be 0"),
        );
    }
    Ok(match function.is_of_threads()? {
        true => MOST_LOCAL_BYTES,
        false => 0,
    })
}
