//! Copies and fills on the calling thread, and the directions of copies.

use jumar_hal::{Span, Transfer};
use jumar_types::{Error, ErrorKind, Result};

use crate::gate::{Op, Phase};
use crate::memory::ResolvedRange;
use crate::runtime::SharedRuntime;
use crate::{Caller, MemoryKind};

/// From where to where, by where the two ends really live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Host to host.
    HostToHost,
    /// Host to device.
    HostToDevice,
    /// Device to host.
    DeviceToHost,
    /// Device to device.
    DeviceToDevice,
}

impl Direction {
    /// Finds the direction from the two ends.
    pub fn of(to: MemoryKind, from: MemoryKind) -> Direction {
        match (to.is_device(), from.is_device()) {
            (false, false) => Direction::HostToHost,
            (true, false) => Direction::HostToDevice,
            (false, true) => Direction::DeviceToHost,
            (true, true) => Direction::DeviceToDevice,
        }
    }

    /// Names the direction for people.
    pub fn name(self) -> &'static str {
        match self {
            Direction::HostToHost => "host to host",
            Direction::HostToDevice => "host to device",
            Direction::DeviceToHost => "device to host",
            Direction::DeviceToDevice => "device to device",
        }
    }
}

/// Describes a copy.
///
/// # Errors
/// `InvalidValue`: the ends differ in length.
pub(crate) fn transfer(to: Span, from: Span) -> Result<Transfer> {
    Transfer::new(to, from).ok_or_else(|| lengths_differ(to, from))
}

#[cold]
pub(crate) fn lengths_differ(to: Span, from: Span) -> Error {
    Error::new(
        ErrorKind::InvalidValue,
        format!(
            "the target at {:#x} has {} bytes and the source at {:#x} has {}; both ends of a copy have one length",
            to.address(),
            to.bytes(),
            from.address(),
            from.bytes()
        ),
    )
    .fix("Pass ranges of the same length.")
}

pub(crate) fn copy_now(
    shared: &SharedRuntime,
    to: Span,
    from: Span,
    caller: &Caller<'_>,
) -> Result<()> {
    let target = shared.space.resolve(to, caller.lookups, "target")?;
    let source = shared.space.resolve(from, caller.lookups, "source")?;
    copy_resolved(shared, target, source, caller)
}

pub(crate) fn copy_resolved(
    shared: &SharedRuntime,
    to: ResolvedRange,
    from: ResolvedRange,
    caller: &Caller<'_>,
) -> Result<()> {
    let copy = transfer(to.span, from.span)?;
    let direction = Direction::of(to.home, from.home).name();
    let op = || Op::Copy {
        to: to.span,
        from: from.span,
        direction,
    };
    at_once(shared, device_of(to.home, from.home), caller, op, || {
        shared.backend.copy_now(copy);
    })
}

pub(crate) fn fill_now(
    shared: &SharedRuntime,
    to: Span,
    value: u8,
    caller: &Caller<'_>,
) -> Result<()> {
    let target = shared.space.resolve(to, caller.lookups, "target")?;
    at_once(
        shared,
        device_of(target.home, target.home),
        caller,
        || Op::Fill { to },
        || {
            shared.backend.fill_now(to, value);
        },
    )
}

pub(crate) fn write_now(
    shared: &SharedRuntime,
    to: Span,
    bytes: &[u8],
    caller: &Caller<'_>,
) -> Result<()> {
    let part = fitting(to, bytes.len())?;
    write_by(shared, part, caller, || {
        shared.backend.write_now(part, bytes);
    })
}

/// Runs `write`, which writes all of `to` itself.
pub(crate) fn write_by(
    shared: &SharedRuntime,
    to: Span,
    caller: &Caller<'_>,
    write: impl FnOnce(),
) -> Result<()> {
    let target = shared.space.resolve(to, caller.lookups, "target")?;
    let op = || Op::Copy {
        to,
        from: Span::EMPTY,
        direction: Direction::HostToDevice.name(),
    };
    let device = device_of(target.home, target.home);
    at_once(shared, device, caller, op, write)
}

pub(crate) fn read_now(
    shared: &SharedRuntime,
    from: Span,
    bytes: &mut [u8],
    caller: &Caller<'_>,
) -> Result<()> {
    let part = fitting(from, bytes.len())?;
    let source = shared.space.resolve(part, caller.lookups, "source")?;
    let op = || Op::Copy {
        to: Span::EMPTY,
        from: part,
        direction: Direction::DeviceToHost.name(),
    };
    at_once(
        shared,
        device_of(source.home, source.home),
        caller,
        op,
        || shared.backend.read_now(part, bytes),
    )
}

fn fitting(span: Span, bytes: usize) -> Result<Span> {
    span.part(0, bytes).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidValue,
            format!("{bytes} bytes do not fit into a range of {}", span.bytes()),
        )
    })
}

pub(crate) fn at_once<'a>(
    shared: &SharedRuntime,
    device: u32,
    caller: &Caller<'_>,
    op: impl FnOnce() -> Op<'a>,
    work: impl FnOnce(),
) -> Result<()> {
    let ticket = shared.gate.admit(caller, device, None, op)?;
    shared.gate.report(ticket, Phase::Started);
    work();
    shared.gate.report(ticket, Phase::Finished);
    Ok(())
}

pub(crate) fn device_of(to: MemoryKind, from: MemoryKind) -> u32 {
    to.device().or(from.device()).unwrap_or(0)
}
