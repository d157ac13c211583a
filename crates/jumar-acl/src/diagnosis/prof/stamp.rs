//! The program's own marks: stamps with a text, moments, ranges, steps.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use jumar::engine::sync::{AtomicU32, AtomicU64, Mutex, Ordering};
use jumar::engine::{Cost, Program, Table, now_ns};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use super::State;
use super::collect::{Mark, Step};
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// A stamp for the program's own marks.
pub struct Stamp {
    id: u64,
    message: Mutex<String>,
}

/// An object that marks one step.
pub struct StepInfo {
    id: u64,
    /// Counts the steps of the process from 1.
    number: u64,
    marked: Mutex<[bool; 2]>,
}

/// What the process keeps of marks.
pub(super) struct Stamps {
    stamps: Table<Stamp>,
    steps: Table<StepInfo>,
    step_count: AtomicU64,
    /// Ranges that have begun, by their numbers.
    ranges: Mutex<HashMap<u32, Open>>,
    last_range: AtomicU32,
    /// The texts that numbers were given for.
    texts: Mutex<HashMap<u64, String>>,
}

impl Default for Stamps {
    fn default() -> Self {
        Stamps {
            stamps: Table::new(IdKind::Stamp, Arc::default()),
            steps: Table::new(IdKind::StepInfo, Arc::default()),
            step_count: AtomicU64::new(0),
            ranges: Mutex::default(),
            last_range: AtomicU32::new(0),
            texts: Mutex::default(),
        }
    }
}

/// A range that has begun.
struct Open {
    start_ns: u64,
    thread: u32,
    message: String,
}

/// The ranges that a thread has begun and not ended, by both ways of beginning one.
#[derive(Default)]
pub(crate) struct OpenRanges {
    pushed: RefCell<Vec<(u64, String)>>,
    attributed: RefCell<Vec<(u64, String)>>,
}

fn stamp(cx: &Cx<'_>, stamp: usize) -> Result<Arc<Stamp>> {
    cx.process.prof.stamps.stamps.get(stamp as u64)
}

/// Puts a mark into the profile that is being taken, if there is one.
fn note(cx: &Cx<'_>, kind: &'static str, start_ns: u64, message: String) {
    if let Some(session) = cx.process.prof.session() {
        session.add_mark(Mark {
            thread: cx.thread.system_number(),
            kind,
            start_ns,
            end_ns: now_ns(),
            message,
        });
    }
}

pub fn aclprofCreateStamp(cx: &Cx<'_>) -> Result<usize> {
    let made = cx.process.prof.stamps.stamps.insert(|id| {
        Arc::new(Stamp {
            id,
            message: Mutex::default(),
        })
    })?;
    Ok(made.id as usize)
}

pub fn aclprofDestroyStamp(cx: &Cx<'_>, stamp: usize) -> Result<()> {
    let stamps = &cx.process.prof.stamps.stamps;
    stamps.remove(stamp as u64, cx.call.name).map(drop)
}

pub fn aclprofSetStampTraceMessage(
    cx: &Cx<'_>,
    address: usize,
    message: Option<&[u8]>,
    _length: u32,
) -> Result<()> {
    let stamp = stamp(cx, address)?;
    *stamp.message.lock() = text(message, "msg")?;
    Ok(())
}

/// Reads a text that the program passes with its length; a zero byte ends it too.
fn text(bytes: Option<&[u8]>, name: &str) -> Result<String> {
    let bytes = bytes.ok_or_else(|| null(name))?;
    let end = bytes.iter().position(|&byte| byte == 0);
    let bytes = &bytes[..end.unwrap_or(bytes.len())];
    if bytes.is_empty() {
        return refuse(ErrorKind::InvalidArgument, format!("{name} is empty"));
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

pub fn aclprofMark(cx: &Cx<'_>, address: usize) -> Result<()> {
    let message = stamp(cx, address)?.message.lock().clone();
    note(cx, "marker", now_ns(), message);
    Ok(())
}

pub fn aclprofPush(cx: &Cx<'_>, address: usize) -> Result<()> {
    let message = stamp(cx, address)?.message.lock().clone();
    let begun = (now_ns(), message);
    cx.thread.nested.pushed.borrow_mut().push(begun);
    Ok(())
}

fn pop(cx: &Cx<'_>, ranges: &RefCell<Vec<(u64, String)>>, begin: &str) -> Result<()> {
    let innermost = ranges.borrow_mut().pop();
    let Some((start_ns, message)) = innermost else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("this thread has no open range that {begin} began"),
        );
    };
    note(cx, "push/pop", start_ns, message);
    Ok(())
}

pub fn aclprofPop(cx: &Cx<'_>) -> Result<()> {
    pop(cx, &cx.thread.nested.pushed, "aclprofPush")
}

pub fn aclprofRangeStart(cx: &Cx<'_>, address: usize) -> Result<u32> {
    let message = stamp(cx, address)?.message.lock().clone();
    let stamps = &cx.process.prof.stamps;
    let number = stamps.last_range.fetch_add(1, Ordering::Relaxed) + 1;
    let open = Open {
        start_ns: now_ns(),
        thread: cx.thread.system_number(),
        message,
    };
    stamps.ranges.lock().insert(number, open);
    Ok(number)
}

pub fn aclprofRangeStop(cx: &Cx<'_>, number: u32) -> Result<()> {
    let open = cx.process.prof.stamps.ranges.lock().remove(&number);
    let Some(open) = open else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("no range {number} is open"),
        );
    };
    if let Some(session) = cx.process.prof.session() {
        session.add_mark(Mark {
            thread: open.thread,
            kind: "start/end",
            start_ns: open.start_ns,
            end_ns: now_ns(),
            message: open.message,
        });
    }
    Ok(())
}

/// Returns the number of a text: FNV-1a, the same in every process.
pub fn aclprofStr2Id(cx: &Cx<'_>, message: Option<&CStr>) -> Result<u64> {
    let text = message.ok_or_else(|| null("message"))?;
    let number = text
        .to_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let text = text.to_string_lossy().into_owned();
    cx.process.prof.stamps.texts.lock().insert(number, text);
    Ok(number)
}

/// What a range with attributes says of an operator.
#[derive(Clone, Copy, Debug)]
pub struct RangeAttributes {
    /// What kind of message follows.
    pub message: u32,
    /// The numbers of the operator's name and type; none where the message is null.
    pub operator: Option<(u64, u64)>,
}

pub fn aclprofRangePushEx(cx: &Cx<'_>, attributes: Option<RangeAttributes>) -> Result<()> {
    let given = attributes.ok_or_else(|| null("attr"))?;
    if given.message != enums::ACL_PROF_MESSAGE_TYPE_TENSOR_INFO {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "attr.messageType is {}, which is not a value of aclprofMessageType",
                given.message
            ),
        );
    }
    let (name, kind) = given.operator.ok_or_else(|| null("attr.message"))?;
    let texts = cx.process.prof.stamps.texts.lock();
    let text = |number: u64| {
        let known = texts.get(&number).cloned();
        known.unwrap_or_else(|| format!("{number:#x}"))
    };
    let message = format!("{} ({})", text(name), text(kind));
    drop(texts);
    let begun = (now_ns(), message);
    cx.thread.nested.attributed.borrow_mut().push(begun);
    Ok(())
}

pub fn aclprofRangePop(cx: &Cx<'_>) -> Result<()> {
    pop(cx, &cx.thread.nested.attributed, "aclprofRangePushEx")
}

/// Notes when a stream came to where it was queued.
struct Passing {
    state: &'static State,
    what: What,
    device: u32,
    stream: u32,
}

enum What {
    Step { step: u64, is_end: bool },
    Mark { thread: u32, message: String },
}

impl Program for Passing {
    fn run(&self) -> std::result::Result<(), Error> {
        let Some(session) = self.state.session() else {
            return Ok(());
        };
        let at_ns = now_ns();
        match &self.what {
            What::Step { step, is_end } => session.add_step(Step {
                step: *step,
                is_end: *is_end,
                device: self.device,
                stream: self.stream,
                at_ns,
            }),
            What::Mark { thread, message } => session.add_mark(Mark {
                thread: *thread,
                kind: "marker_ex",
                start_ns: at_ns,
                end_ns: at_ns,
                message: format!("{message} (stream {})", self.stream),
            }),
        }
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        "profile mark"
    }
}

/// Queues a mark. An invalid stream is refused even without a profile.
fn queue(cx: &Cx<'_>, stream: Raw, what: What) -> Result<()> {
    cx.with_stream(stream, |stream| {
        if cx.process.prof.session().is_none() {
            return Ok(());
        }
        let program = Arc::new(Passing {
            state: &cx.process.prof,
            what,
            device: stream.device(),
            stream: stream.number(),
        });
        stream.launch(program, &[], &[], &cx.caller()).map(drop)
    })
}

pub fn aclprofMarkEx(
    cx: &Cx<'_>,
    message: Option<&[u8]>,
    _length: usize,
    stream: Raw,
) -> Result<()> {
    let message = text(message, "msg")?;
    note(cx, "marker_ex", now_ns(), message.clone());
    let thread = cx.thread.system_number();
    queue(cx, stream, What::Mark { thread, message })
}

/// The data are shown as hexadecimal digits.
pub fn aclrtProfTrace(cx: &Cx<'_>, data: Option<&[u8]>, length: i32, stream: Raw) -> Result<()> {
    let data = data.ok_or_else(|| null("userdata"))?;
    if length <= 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("length is {length}; it must be more than 0"),
        );
    }
    let message: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
    let thread = cx.thread.system_number();
    queue(cx, stream, What::Mark { thread, message })
}

/// Programs choose what they ask of a profiler by this list, and ask for the least where it is empty.
pub fn aclprofGetSupportedFeatures(_cx: &Cx<'_>) -> Result<(usize, usize)> {
    Ok((0, 0))
}

pub fn aclprofGetSupportedFeaturesV2(cx: &Cx<'_>) -> Result<(usize, usize)> {
    aclprofGetSupportedFeatures(cx)
}

pub fn aclprofCreateStepInfo(cx: &Cx<'_>) -> Result<Raw> {
    let stamps = &cx.process.prof.stamps;
    let number = stamps.step_count.fetch_add(1, Ordering::Relaxed) + 1;
    let made = stamps.steps.insert(|id| {
        Arc::new(StepInfo {
            id,
            number,
            marked: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclprofDestroyStepInfo(cx: &Cx<'_>, step: Raw) -> Result<()> {
    let steps = &cx.process.prof.stamps.steps;
    steps.remove(step.0, cx.call.name).map(drop)
}

pub fn aclprofGetStepTimestamp(cx: &Cx<'_>, step: Raw, tag: u32, stream: Raw) -> Result<()> {
    let step = cx.process.prof.stamps.steps.get(step.0)?;
    let bad = |sentence: String| refuse(ErrorKind::InvalidArgument, sentence);
    let at = match tag {
        enums::ACL_STEP_START => 0,
        enums::ACL_STEP_END => 1,
        _ => {
            return bad(format!(
                "tag: {}",
                crate::not_a_value("aclprofStepTag", tag)
            ));
        }
    };
    let mut marked = step.marked.lock();
    if marked[at] {
        let what = ["begin", "end"][at];
        return bad(format!(
            "the {what} of step {} was marked already",
            step.number
        ));
    }
    let what = What::Step {
        step: step.number,
        is_end: at == 1,
    };
    queue(cx, stream, what)?;
    marked[at] = true;
    Ok(())
}
