//! Floating-point results that are too large. The state is a piece of device memory of each context; the processor's own
//! flags say what a kernel met.

use jumar::engine::{OVERFLOW_BYTES, Span};
use jumar_types::{ErrorKind, Result};

use crate::{Cx, Raw, refuse};

pub fn aclrtSetStreamOverflowSwitch(cx: &Cx<'_>, stream: Raw, flag: u32) -> Result<()> {
    if flag > 1 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("flag is {flag}; it must be 0 or 1"),
        );
    }
    cx.with_stream(stream, |stream| {
        stream.refuse_captured()?;
        stream.set_overflow_detection(flag == 1);
        Ok(())
    })
}

pub fn aclrtGetStreamOverflowSwitch(cx: &Cx<'_>, stream: Raw) -> Result<u32> {
    cx.with_stream(stream, |stream| Ok(u32::from(stream.detects_overflow())))
}

pub fn aclrtCtxGetFloatOverflowAddr(cx: &Cx<'_>) -> Result<usize> {
    Ok(cx.context()?.overflow_state()?.address())
}

fn get(cx: &Cx<'_>, output: Span, stream: Raw) -> Result<()> {
    if output.is_empty() {
        return refuse(ErrorKind::InvalidValue, "outputSize is 0");
    }
    let state = cx.context()?.overflow_state()?;
    let bytes = output.bytes().min(OVERFLOW_BYTES);
    let (Some(to), Some(from)) = (output.part(0, bytes), state.part(0, bytes)) else {
        return Ok(());
    };
    let done = cx.with_stream(stream, |stream| stream.copy(to, from, &cx.caller()));
    crate::error::report_failure(cx, done)
}

fn clear(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    let state = cx.context()?.overflow_state()?;
    cx.with_stream(stream, |stream| stream.fill(state, 0, &cx.caller()))
}

pub fn aclrtGetOverflowStatus(cx: &Cx<'_>, output: Span, _bytes: usize, stream: Raw) -> Result<()> {
    get(cx, output, stream)
}

pub fn aclrtResetOverflowStatus(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    clear(cx, stream)
}

pub fn aclrtGetFloatOverflowStatus(
    cx: &Cx<'_>,
    output: Span,
    _bytes: u64,
    stream: Raw,
) -> Result<()> {
    get(cx, output, stream)
}

pub fn aclrtResetFloatOverflowStatus(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    clear(cx, stream)
}

pub fn aclrtNpuGetFloatOverFlowStatus(
    cx: &Cx<'_>,
    output: Span,
    _bytes: u64,
    _mode: u32,
    stream: Raw,
) -> Result<()> {
    get(cx, output, stream)
}

pub fn aclrtNpuClearFloatOverFlowStatus(cx: &Cx<'_>, _mode: u32, stream: Raw) -> Result<()> {
    clear(cx, stream)
}
