//! Contexts and system parameters.

use std::collections::{HashMap, HashSet};

use jumar_types::{Error, ErrorKind, Result};

use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// Options that are set and read back.
#[derive(Default)]
pub struct Parameters {
    process: HashMap<u32, i64>,
    contexts: HashMap<(u64, u32), i64>,
    /// The overflow modes that were set, by device.
    pub(crate) overflow_modes: HashMap<u32, u32>,
    /// The mode that was set without a context: of every device that has none of its own.
    pub(crate) usual_overflow_mode: Option<u32>,
    /// Pairs of devices of which the first may reach into the second.
    pub(crate) peers: HashSet<(u32, i32)>,
}

pub fn aclrtCreateContext(cx: &Cx<'_>, device: i32) -> Result<Raw> {
    let context = cx.runtime()?.create_context(i64::from(device))?;
    cx.thread.set_current(Some(&context));
    Ok(Raw(context.id()))
}

pub fn aclrtDestroyContext(cx: &Cx<'_>, context: Raw) -> Result<()> {
    if context.is_null() {
        return refuse(ErrorKind::NullPointer, "the context is null");
    }
    // Contexts are looked up in a set, and what is not in it is "no context", not "a bad handle".
    let found = cx.runtime()?.contexts().get(context.0).map_err(|cause| {
        Error::new(
            ErrorKind::NoContext,
            format!("{:#x} is not a live context", context.0),
        )
        .caused_by(cause)
    })?;
    if !found.is_primary() && !found.is_dead() {
        crate::stream::notify_all(cx, &found);
    }
    found.destroy(&cx.caller())?;
    if cx.thread.current_handle() == context.0 {
        cx.thread.set_current(None);
    }
    Ok(())
}

pub fn aclrtSetCurrentContext(cx: &Cx<'_>, context: Raw) -> Result<()> {
    if context.is_null() {
        return refuse(ErrorKind::NullPointer, "the context is null");
    }
    let found = cx.runtime()?.contexts().get(context.0).map_err(|cause| {
        Error::new(
            ErrorKind::InvalidValue,
            format!("{:#x} is not a live context", context.0),
        )
        .caused_by(cause)
    })?;
    cx.thread.set_current(Some(&found));
    Ok(())
}

pub fn aclrtGetCurrentContext(cx: &Cx<'_>) -> Result<Raw> {
    cx.context().map(|context| Raw(context.id()))
}

/// The number of options that a context has; the process has one more.
const CONTEXT_OPTIONS: u32 = 3;

fn check_option(option: u32, options: u32) -> Result<()> {
    if (0..options).contains(&option) {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!("option {option} is not one of 0 to {}", options - 1),
    )
}

fn check_value(option: u32, value: i64) -> Result<()> {
    // Option 0 (deterministic computing) has four levels; the others are switches.
    let largest = if option == 0 { 3 } else { 1 };
    if (0..=largest).contains(&value) {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidValue,
        format!("{value} is not one of 0 to {largest}, the values of option {option}"),
    )
}

fn never_set(option: u32) -> Error {
    Error::new(
        ErrorKind::SysParamNotSet,
        format!("option {option} was never set"),
    )
}

pub fn aclrtCtxSetSysParamOpt(cx: &Cx<'_>, option: u32, value: i64) -> Result<()> {
    check_option(option, CONTEXT_OPTIONS)?;
    let context = cx.context()?;
    check_value(option, value)?;
    cx.process
        .parameters
        .lock()
        .contexts
        .insert((context.id(), option), value);
    Ok(())
}

pub fn aclrtCtxGetSysParamOpt(cx: &Cx<'_>, option: u32) -> Result<i64> {
    check_option(option, CONTEXT_OPTIONS)?;
    let context = cx.context()?;
    let parameters = cx.process.parameters.lock();
    parameters
        .contexts
        .get(&(context.id(), option))
        .copied()
        .ok_or_else(|| never_set(option))
}

pub fn aclrtSetSysParamOpt(cx: &Cx<'_>, option: u32, value: i64) -> Result<()> {
    check_option(option, CONTEXT_OPTIONS + 1)?;
    check_value(option, value)?;
    cx.process.parameters.lock().process.insert(option, value);
    Ok(())
}

pub fn aclrtGetSysParamOpt(cx: &Cx<'_>, option: u32) -> Result<i64> {
    check_option(option, CONTEXT_OPTIONS + 1)?;
    let parameters = cx.process.parameters.lock();
    match (parameters.process.get(&option), option) {
        (Some(value), _) => Ok(*value),
        // Programs ask before they set it; results may differ from run to run unless something sets it.
        (None, enums::ACL_OPT_DETERMINISTIC) => Ok(0),
        (None, _) => Err(never_set(option)),
    }
}

pub fn aclrtGetPrimaryCtxState(cx: &Cx<'_>, device: i32, flags: usize) -> Result<i32> {
    if flags != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            "flags is reserved and has to be null",
        );
    }
    let device = cx.runtime()?.device(i64::from(device))?;
    Ok(i32::from(device.primary().is_some()))
}
