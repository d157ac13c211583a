//! The calls whose C shims are written by hand: functions of the program become closures, as a Rust program has them.

use std::sync::Arc;

use jumar_acl::enter;
use jumar_acl::error::ExceptionCallback;
use jumar_acl::generated::{calls, types};
use jumar_acl::memcpy::{BatchCopy, NO_COPY_FAILED, batch};
use jumar_acl::{Raw, capture};

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
    ("aclmdlRICaptureEnd", capture_end),
    ("aclmdlRICaptureGetInfo", capture_info),
    ("aclmdlRIGetStreams", graph_streams),
    ("aclmdlRIGetTasksByStream", graph_tasks),
    ("aclmdlRIDestroyRegisterCallback", on_graph_destroy),
    ("aclmdlRIDestroyUnregisterCallback", forget_on_graph_destroy),
    ("aclmdlRIAddCondTask", choose),
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

/// The model is null when the capture failed.
fn capture_end(w: &Words<'_>) -> Played {
    let model = w.out(1)?;
    status(enter(&calls::aclmdlRICaptureEnd, |cx| {
        let ended = capture::aclmdlRICaptureEnd(cx, w.plain(0));
        model.set(ended.as_ref().unwrap_or(&Raw(0)));
        ended.map(drop)
    }))
}

fn capture_info(w: &Words<'_>) -> Played {
    let (at_status, model) = (w.optional(1), w.optional(2));
    if w.plain::<u64>(1) == 0 && w.plain::<u64>(2) == 0 {
        return Err(Stop::NotForRust(
            "both results are returned, so neither can be left out".to_string(),
        ));
    }
    status(enter(&calls::aclmdlRICaptureGetInfo, |cx| {
        let answer = capture::aclmdlRICaptureGetInfo(cx, w.plain(0))?;
        if w.plain::<u64>(1) != 0 {
            at_status.set(&answer.0);
        }
        if w.plain::<u64>(2) != 0 {
            model.set(&answer.1);
        }
        Ok(())
    }))
}

/// A Rust program gets the whole list; the case sees as much of it as it has room for.
fn list(w: &Words<'_>, all: Vec<u64>, what: &str) -> Result<jumar_acl::Result<()>, Stop> {
    let count = w.out(2)?;
    if w.plain::<u64>(1) == 0 {
        count.set(&(all.len() as u32));
        return Ok(Ok(()));
    }
    let room = w.input::<u32>(2).unwrap_or(0) as usize;
    let fits = room.min(all.len());
    let mut places = all.clone();
    places.resize(room, 0);
    w.array(1, room, true)?.set_all(&places)?;
    count.set(&(fits as u32));
    Ok(match fits < all.len() {
        true => Err(capture::array_too_small(room, all.len(), what)),
        false => Ok(()),
    })
}

fn graph_streams(w: &Words<'_>) -> Played {
    let mut stop = None;
    let done = enter(&calls::aclmdlRIGetStreams, |cx| {
        let all = capture::streams(cx, w.plain(0))?;
        list(w, all, "streams").unwrap_or_else(|why| {
            stop = Some(why);
            Ok(())
        })
    });
    stop.map_or_else(|| status(done), Err)
}

fn graph_tasks(w: &Words<'_>) -> Played {
    let mut stop = None;
    let done = enter(&calls::aclmdlRIGetTasksByStream, |cx| {
        let all = capture::tasks(cx, w.plain(0))?;
        list(w, all, "tasks").unwrap_or_else(|why| {
            stop = Some(why);
            Ok(())
        })
    });
    stop.map_or_else(|| status(done), Err)
}

fn on_graph_destroy(w: &Words<'_>) -> Played {
    let function = callbacks::closure(w.plain(1), w.plain(2));
    status(enter(&calls::aclmdlRIDestroyRegisterCallback, |cx| {
        let key = w.plain::<usize>(1);
        capture::aclmdlRIDestroyRegisterCallback(cx, w.plain(0), key, function)
    }))
}

fn forget_on_graph_destroy(w: &Words<'_>) -> Played {
    status(enter(&calls::aclmdlRIDestroyUnregisterCallback, |cx| {
        capture::aclmdlRIDestroyUnregisterCallback(cx, w.plain(0), w.plain(1))
    }))
}

/// A word cannot carry a structure.
fn choose(_: &Words<'_>) -> Played {
    Err(Stop::NotForRust(
        "the structure is passed by value, and its array comes back as a result".to_string(),
    ))
}
