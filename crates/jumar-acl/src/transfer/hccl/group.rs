//! Groups of calls: several ranks of one thread that are created together, and transfers that run together.

use std::cell::RefCell;

use jumar::check::{SourceLocation, here};
use jumar::engine::sync::thread;
use jumar_hccl::{Message, Operation};
use jumar_types::{Error, ErrorKind, Result};

use crate::check::collectives;

use super::communicator::{Request, forget};
use super::{operation, wrong};
use crate::{Cx, Raw};

/// What a thread collects until its group ends.
#[derive(Default)]
pub(crate) struct Group(RefCell<GroupContent>);

#[derive(Default)]
struct GroupContent {
    depth: u32,
    /// Where the outermost group was begun.
    begun: SourceLocation,
    kind: Option<Member>,
    requests: Vec<Request>,
    /// By communicator and stream, in the order of the first call.
    messages: Vec<((Raw, Raw), Vec<Message>)>,
}

impl Drop for Group {
    /// The thread ends: what it collected is dropped.
    fn drop(&mut self) {
        let group = self.0.get_mut();
        let messages = group.messages.iter().map(|(_, list)| list.len());
        let left = group.requests.len() + messages.sum::<usize>();
        if group.depth > 0 {
            collectives::group_was_dropped(group.begun, left);
        }
    }
}

/// What calls a group consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Member {
    Communicators,
    Collectives,
    Transfers,
}

impl Member {
    fn noun(self) -> &'static str {
        match self {
            Member::Communicators => "calls that create communicators",
            Member::Collectives => "collective operations",
            Member::Transfers => "sends and receives",
        }
    }
}

pub fn HcclGroupStart(cx: &Cx<'_>) -> Result<()> {
    cx.comm_settings()?;
    let mut group = cx.thread.group.0.borrow_mut();
    if group.depth == 0 {
        group.begun = here();
    }
    group.depth += 1;
    Ok(())
}

/// Groups exist.
pub const GROUPS_EXIST: bool = true;

/// Notes that a call belongs to the thread's group. Reports whether there is one.
pub(super) fn enter(cx: &Cx<'_>, member: Member) -> Result<bool> {
    let mut group = cx.thread.group.0.borrow_mut();
    if group.depth == 0 {
        return Ok(false);
    }
    match *group.kind.get_or_insert(member) {
        kind if kind == member => Ok(true),
        kind => wrong(format!(
            "the group consists of {}, and cannot hold {} too",
            kind.noun(),
            member.noun()
        )),
    }
}

/// Refuses a call that cannot belong to a group.
pub(super) fn refuse(cx: &Cx<'_>) -> Result<()> {
    match cx.thread.group.0.borrow().depth {
        0 => Ok(()),
        _ => Err(Error::new(
            ErrorKind::CommUnsupported,
            format!("{} cannot belong to a group", cx.call.name),
        )
        .fix("Call it outside of HcclGroupStart and HcclGroupEnd; in a group, use HcclSend and HcclRecv.")),
    }
}

/// Keeps a request for the end of the thread's group; returns it if there is none.
pub(super) fn defer(cx: &Cx<'_>, request: Request) -> Result<Option<Request>> {
    match enter(cx, Member::Communicators) {
        Ok(true) => {
            cx.thread.group.0.borrow_mut().requests.push(request);
            Ok(None)
        }
        Ok(false) => Ok(Some(request)),
        Err(error) => {
            forget(cx, Raw(request.comm.id));
            Err(error)
        }
    }
}

/// Keeps a transfer for the end of the thread's group; returns it if there is none.
pub(super) fn collect(cx: &Cx<'_>, key: (Raw, Raw), message: Message) -> Result<Option<Message>> {
    if !enter(cx, Member::Transfers)? {
        return Ok(Some(message));
    }
    let mut group = cx.thread.group.0.borrow_mut();
    match group.messages.iter_mut().find(|(known, _)| *known == key) {
        Some((_, messages)) => messages.push(message),
        None => group.messages.push((key, vec![message])),
    }
    Ok(None)
}

pub fn HcclGroupEnd(cx: &Cx<'_>) -> Result<()> {
    let collected = {
        let mut group = cx.thread.group.0.borrow_mut();
        match group.depth {
            0 => return wrong("HcclGroupEnd without HcclGroupStart"),
            1 => std::mem::take(&mut *group),
            _ => {
                group.depth -= 1;
                return Ok(());
            }
        }
    };
    create_all(cx, collected.requests)?;
    for ((comm, stream), messages) in collected.messages {
        let comm = cx.comm(comm)?;
        operation::queue(cx, &comm, stream, Operation::Messages(messages.into()))?;
    }
    Ok(())
}

/// Creates communicators, each of which may wait for the others.
fn create_all(cx: &Cx<'_>, requests: Vec<Request>) -> Result<()> {
    let handles: Vec<Raw> = requests
        .iter()
        .map(|request| Raw(request.comm.id))
        .collect();
    let (process, call) = (cx.process, cx.call);
    let outcomes: Vec<Result<()>> = thread::scope(|scope| {
        let joining: Vec<_> = requests
            .into_iter()
            .map(|request| {
                scope.spawn(move || {
                    let thread = crate::thread::Thread::default();
                    let cx = Cx {
                        process,
                        thread: &thread,
                        call,
                    };
                    request.fulfil(&cx)
                })
            })
            .collect();
        let ended = joining.into_iter().map(|rank| {
            rank.join().unwrap_or_else(|_| {
                Err(Error::new(
                    ErrorKind::Internal,
                    "the creation of a communicator panicked",
                ))
            })
        });
        ended.collect()
    });
    let failed = outcomes.into_iter().find_map(Result::err);
    match failed {
        None => Ok(()),
        Some(error) => {
            handles.into_iter().for_each(|handle| forget(cx, handle));
            Err(error)
        }
    }
}
