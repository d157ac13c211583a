//! The calls whose C shims are written by hand: functions of the program become closures, as a Rust program has them.

use std::sync::Arc;

use jumar_acl::enter;
use jumar_acl::error::ExceptionCallback;
use jumar_acl::generated::{calls, types};
use jumar_acl::memcpy::{BatchCopy, NO_COPY_FAILED, batch};

use crate::callbacks;
use crate::generated::calls::Player;
use crate::raw;
use crate::words::{Played, Stop, Words, span, status};

/// The calls by name.
pub const CALLS: &[(&str, Player)] = &[
    ("aclrtLaunchCallback", launch_callback),
    ("aclrtLaunchHostFunc", launch_host_function),
    ("aclrtProcessReport", process_report),
    ("aclrtSetExceptionInfoCallback", set_exception_callback),
    ("aclrtMemcpyBatch", memcpy_batch),
    ("aclmdlSetConfigOpt", set_config_option),
    ("aclmdlLoadWithConfig", load_with_config),
];

fn launch_callback(w: &Words<'_>) -> Played {
    let function = callbacks::closure(w.plain(0), w.plain(1));
    status(enter(&calls::aclrtLaunchCallback, |cx| {
        jumar_acl::callback::aclrtLaunchCallback(cx, function, w.plain(2), w.plain(3))
    }))
}

fn launch_host_function(w: &Words<'_>) -> Played {
    let function = callbacks::closure(w.plain(1), w.plain(2));
    status(enter(&calls::aclrtLaunchHostFunc, |cx| {
        jumar_acl::callback::aclrtLaunchHostFunc(cx, w.plain(0), function)
    }))
}

fn process_report(w: &Words<'_>) -> Played {
    status(enter(&calls::aclrtProcessReport, |cx| {
        jumar_acl::callback::aclrtProcessReport(cx, raw::this_thread(), w.plain(0))
    }))
}

fn set_exception_callback(w: &Words<'_>) -> Played {
    let function: Option<ExceptionCallback> = (w.plain::<u64>(0) != 0).then(|| {
        let told: ExceptionCallback = Arc::new(|_info| callbacks::counted());
        told
    });
    status(enter(&calls::aclrtSetExceptionInfoCallback, |cx| {
        jumar_acl::error::aclrtSetExceptionInfoCallback(cx, function)
    }))
}

/// C's four parallel arrays are one list of copies here.
fn memcpy_batch(w: &Words<'_>) -> Played {
    let number = w.plain(4);
    let entries = |at| {
        let entries = w.slice::<usize>(at, number)?;
        entries.ok_or_else(|| Stop::NotForRust("a copy has both ends and their sizes".to_string()))
    };
    let (to, rooms, from, sizes) = (entries(0)?, entries(1)?, entries(2)?, entries(3)?);
    let copies = (0..number)
        .map(|at| {
            Ok(BatchCopy {
                to: span(to[at], sizes[at])?,
                room: rooms[at],
                from: span(from[at], sizes[at])?,
            })
        })
        .collect::<Result<Vec<_>, Stop>>()?;
    let attributes = w.slice::<types::aclrtMemcpyBatchAttr>(5, w.plain(7))?;
    let indexes = w.slice::<usize>(6, w.plain(7))?;
    let failed = w.out(8)?;
    status(enter(&calls::aclrtMemcpyBatch, |cx| {
        let done = batch(cx, &copies, attributes.as_deref(), indexes.as_deref());
        let at = done.as_ref().err().map_or(NO_COPY_FAILED, |(at, _)| *at);
        failed.set(&at);
        done.map_err(|(_, error)| error)
    }))
}

/// The value of an option may be the address of a text.
fn set_config_option(w: &Words<'_>) -> Played {
    let (attr, size) = (w.plain(1), w.plain(3));
    let value = w.slice::<u8>(2, size)?;
    let text = value
        .as_ref()
        .and_then(|value| value.first_chunk())
        .filter(|_| jumar_acl::model_config::takes_text(attr))
        .and_then(|bytes| raw::text(usize::from_ne_bytes(*bytes)));
    status(enter(&calls::aclmdlSetConfigOpt, |cx| {
        jumar_acl::model_config::aclmdlSetConfigOpt(
            cx,
            w.plain(0),
            attr,
            value.as_deref(),
            size,
            text.as_deref(),
        )
    }))
}

/// A model in memory lies where the configuration says.
fn load_with_config(w: &Words<'_>) -> Played {
    let id = w.out(1)?;
    status(enter(&calls::aclmdlLoadWithConfig, |cx| {
        let memory = jumar_acl::model_config::model_memory(cx, w.plain(0))?;
        let bytes = memory.map(|(address, size)| raw::read(address, size));
        let loaded =
            jumar_acl::model_config::aclmdlLoadWithConfig(cx, w.plain(0), bytes.as_deref())?;
        id.set(&loaded);
        Ok(())
    }))
}
