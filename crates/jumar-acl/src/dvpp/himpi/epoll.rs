//! Sets of channel descriptors that programs wait for: Linux's own, with the interface's numbers.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use jumar::engine::sync::Instant;
use jumar_types::{Error, ErrorKind, Result};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use super::super::argument;
use super::channel::deadline;
use crate::Cx;
use crate::error::null;
use crate::generated::{enums, types};

/// A set of descriptors.
pub struct Set(OwnedFd);

/// The most events that a call returns.
const MOST_EVENTS: usize = 1024;

/// Finds a set.
fn find(cx: &Cx<'_>, number: i32) -> Result<Arc<Set>> {
    let sets = cx.process.dvpp.himpi.sets.lock();
    sets.get(&number).cloned().ok_or_else(|| missing(number))
}

fn missing(number: i32) -> Error {
    Error::new(
        ErrorKind::InvalidHandle,
        format!("epoll_fd is {number}, which is not an open set of descriptors"),
    )
    .fix("Pass what hi_mpi_sys_create_epoll returned; a set exists until hi_mpi_sys_close_epoll.")
}

pub fn hi_mpi_sys_create_epoll(cx: &Cx<'_>, size: i32) -> Result<i32> {
    if size <= 0 {
        return Err(argument(format!("size is {size}; it must be positive")));
    }
    let set = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| {
        Error::new(
            ErrorKind::NoStreamResource,
            format!("the system could not create a descriptor for a set: {error}"),
        )
        .fix("Close files, or raise the limit of open files (ulimit -n).")
    })?;
    let number = set.as_raw_fd();
    let mut sets = cx.process.dvpp.himpi.sets.lock();
    sets.insert(number, Arc::new(Set(set)));
    Ok(number)
}

pub fn hi_mpi_sys_close_epoll(cx: &Cx<'_>, number: i32) -> Result<()> {
    let gone = cx.process.dvpp.himpi.sets.lock().remove(&number);
    gone.map(drop).ok_or_else(|| missing(number))
}

/// Reads what a program waits for.
fn flags(event: &types::hi_dvpp_epoll_event) -> Result<epoll::EventFlags> {
    let known = enums::HI_DVPP_EPOLL_IN | enums::HI_DVPP_EPOLL_OUT | enums::HI_DVPP_EPOLL_ET;
    if event.events & !known != 0 || event.events & enums::HI_DVPP_EPOLL_IN == 0 {
        return Err(argument(format!(
            "events is {:#x}; it must contain HI_DVPP_EPOLL_IN",
            event.events
        )));
    }
    if event.events & enums::HI_DVPP_EPOLL_OUT != 0 {
        return Err(Error::new(
            ErrorKind::FeatureUnsupported,
            "waiting until a channel has space (HI_DVPP_EPOLL_OUT) is not supported",
        )
        .fix("Wait for HI_DVPP_EPOLL_IN, and send with a time limit."));
    }
    Ok(match event.events & enums::HI_DVPP_EPOLL_ET {
        0 => epoll::EventFlags::IN,
        _ => epoll::EventFlags::IN | epoll::EventFlags::ET,
    })
}

/// Calls a function with a descriptor of a channel.
///
/// # Errors
/// `InvalidHandle`: no channel has the descriptor; what the function returns.
fn with_channel(
    cx: &Cx<'_>,
    descriptor: i32,
    act: &dyn Fn(BorrowedFd<'_>) -> std::result::Result<(), Errno>,
) -> Result<()> {
    let himpi = &cx.process.dvpp.himpi;
    let encoders = himpi.encoders.all();
    let decoders = himpi.decoders.all();
    let encoders = encoders
        .iter()
        .map(|channel| channel.act_on(descriptor, act));
    let decoders = decoders
        .iter()
        .map(|channel| channel.act_on(descriptor, act));
    let Some(done) = encoders.chain(decoders).flatten().next() else {
        return Err(Error::new(
            ErrorKind::InvalidHandle,
            format!("fd is {descriptor}, which is not the descriptor of a channel"),
        )
        .fix("Pass what hi_mpi_venc_get_fd or hi_mpi_vdec_get_fd returned; it exists as long as the channel."));
    };
    done.map_err(|error| match error {
        Errno::EXIST => Error::new(
            ErrorKind::RepeatInitialize,
            format!("descriptor {descriptor} is in the set already"),
        )
        .fix("Change it with HI_DVPP_EPOLL_CTL_MOD."),
        Errno::NOENT => Error::new(
            ErrorKind::InvalidHandle,
            format!("descriptor {descriptor} is not in the set"),
        )
        .fix("Add it with HI_DVPP_EPOLL_CTL_ADD first."),
        error => Error::new(
            ErrorKind::NoStreamResource,
            format!("the system refused descriptor {descriptor}: {error}"),
        ),
    })
}

/// The event is not read when a descriptor is removed.
pub fn hi_mpi_sys_ctl_epoll(
    cx: &Cx<'_>,
    number: i32,
    operation: i32,
    descriptor: i32,
    event: Option<&types::hi_dvpp_epoll_event>,
) -> Result<()> {
    let set = find(cx, number)?;
    let wanted = || -> Result<(epoll::EventData, epoll::EventFlags)> {
        let event = event.ok_or_else(|| null("event"))?;
        Ok((epoll::EventData::new_u64(event.data as u64), flags(event)?))
    };
    match u32::try_from(operation) {
        Ok(enums::HI_DVPP_EPOLL_CTL_ADD) => {
            let (data, flags) = wanted()?;
            with_channel(cx, descriptor, &|fd| epoll::add(&set.0, fd, data, flags))
        }
        Ok(enums::HI_DVPP_EPOLL_CTL_MOD) => {
            let (data, flags) = wanted()?;
            with_channel(cx, descriptor, &|fd| epoll::modify(&set.0, fd, data, flags))
        }
        Ok(enums::HI_DVPP_EPOLL_CTL_DEL) => {
            with_channel(cx, descriptor, &|fd| epoll::delete(&set.0, fd))
        }
        _ => Err(argument(format!(
            "operation is {operation}; it must be HI_DVPP_EPOLL_CTL_ADD, HI_DVPP_EPOLL_CTL_MOD or HI_DVPP_EPOLL_CTL_DEL"
        ))),
    }
}

/// A call that a signal interrupts continues to wait.
pub fn hi_mpi_sys_wait_epoll(
    cx: &Cx<'_>,
    number: i32,
    most: i32,
    milliseconds: i32,
) -> Result<(Vec<types::hi_dvpp_epoll_event>, i32)> {
    let set = find(cx, number)?;
    let max_events = most;
    let most = usize::try_from(most).unwrap_or(0).min(MOST_EVENTS);
    if most == 0 {
        return Err(argument(format!(
            "max_events is {max_events}; it must be at least 1"
        )));
    }
    let until = deadline(milliseconds)?;
    let mut found = vec![
        epoll::Event {
            flags: epoll::EventFlags::empty(),
            data: epoll::EventData::new_u64(0),
        };
        most
    ];
    let count = loop {
        let left = until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        match epoll::wait(set.0.as_fd(), found.as_mut_slice(), left.as_ref()) {
            Ok(count) => break count,
            Err(Errno::INTR) => {}
            Err(error) => {
                return Err(Error::new(
                    ErrorKind::InvalidHandle,
                    format!("the system cannot wait for set {number}: {error}"),
                ));
            }
        }
    };
    let events = found.iter().take(count).map(|event| {
        let (data, flags) = (event.data, event.flags);
        types::hi_dvpp_epoll_event {
            events: match flags.contains(epoll::EventFlags::IN) {
                true => enums::HI_DVPP_EPOLL_IN,
                false => 0,
            },
            data: data.u64() as usize,
        }
    });
    Ok((events.collect(), count as i32))
}
