//! Copies of rows of a matrix.

use jumar::engine::{Rows, Span};
use jumar_types::{ErrorKind, Result};

use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// The longest row and the most rows that a copy takes.
const MAX_WIDTH: usize = 5_000_000;
const MAX_HEIGHT: usize = 5_242_880;

/// Checks what both forms check; `None` when there is nothing to do.
fn check(
    to: (Span, usize),
    from: (Span, usize),
    width: usize,
    height: usize,
    kind: u32,
) -> Result<Option<(Rows, Rows)>> {
    if width == 0 || height == 0 {
        return Ok(None);
    }
    match kind {
        enums::ACL_MEMCPY_HOST_TO_DEVICE
        | enums::ACL_MEMCPY_DEVICE_TO_HOST
        | enums::ACL_MEMCPY_DEVICE_TO_DEVICE
        | enums::ACL_MEMCPY_DEFAULT => {}
        _ => {
            let name = enums::name_of("aclrtMemcpyKind", i64::from(kind))
                .unwrap_or("no value of aclrtMemcpyKind");
            return refuse(
                ErrorKind::InvalidArgument,
                format!("the kind is {kind} ({name}), which a copy of rows does not support"),
            );
        }
    }
    if width > to.1 || width > from.1 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "rows of {width} bytes are longer than their distance (dpitch {}, spitch {})",
                to.1, from.1
            ),
        );
    }
    if width > MAX_WIDTH || height > MAX_HEIGHT {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "{height} rows of {width} bytes are more than {MAX_HEIGHT} rows of {MAX_WIDTH} bytes"
            ),
        );
    }
    let rows = |(span, pitch)| Rows::of(span, pitch, width, height);
    match (rows(to), rows(from)) {
        (Some(to), Some(from)) => Ok(Some((to, from))),
        _ => refuse(
            ErrorKind::InvalidValue,
            format!("{height} rows of {width} bytes do not fit into memory"),
        ),
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclrtMemcpy2d(
    cx: &Cx<'_>,
    to: Span,
    to_pitch: usize,
    from: Span,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: u32,
) -> Result<()> {
    let Some((to, from)) = check((to, to_pitch), (from, from_pitch), width, height, kind)? else {
        return Ok(());
    };
    cx.context()?.forbid_while_captured(&cx.caller())?;
    let runtime = cx.runtime()?;
    let is_device = |rows: Rows| {
        let home = runtime.space().home_of(rows.span.address());
        home.is_some_and(jumar::engine::MemoryKind::is_device)
    };
    if kind == enums::ACL_MEMCPY_DEVICE_TO_DEVICE || (is_device(to) && is_device(from)) {
        return refuse(
            ErrorKind::FeatureUnsupported,
            "both ends are device memory, which the synchronous copy of rows does not support; use aclrtMemcpy2dAsync",
        );
    }
    runtime.copy_rows_now(to, from, &cx.caller())
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclrtMemcpy2dAsync(
    cx: &Cx<'_>,
    to: Span,
    to_pitch: usize,
    from: Span,
    from_pitch: usize,
    width: usize,
    height: usize,
    kind: u32,
    stream: Raw,
) -> Result<()> {
    let Some((to, from)) = check((to, to_pitch), (from, from_pitch), width, height, kind)? else {
        return Ok(());
    };
    let done = cx.with_stream(stream, |stream| stream.copy_rows(to, from, &cx.caller()));
    crate::error::report_failure(cx, done)
}
