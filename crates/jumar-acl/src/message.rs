//! The texts behind the codes: kept for each thread (or for the process, where the program asked for that) until
//! `aclGetRecentErrMsg` fetches them.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::CString;

use jumar::engine::sync::thread;
use jumar_types::{Error, ErrorKind, Result};

use crate::generated::{calls, codes, enums};
use crate::{Call, Cx};

/// The maximum length of an error message, in bytes. Longer ones are truncated at a character boundary.
const LONGEST: usize = 1024;
/// The maximum number of messages that are kept.
const MOST: usize = 1000;

/// Texts that were not fetched yet, and those that were fetched last.
#[derive(Default)]
pub struct Messages {
    waiting: VecDeque<String>,
    /// The texts of the last fetch, newest first: on a thread without a context the next fetch returns them again.
    answered: Vec<String>,
    /// What the last fetch returned: the pointer stays valid until the thread's next fetch.
    fetched: Option<CString>,
}

impl Messages {
    pub(crate) fn push(&mut self, text: String) {
        // An error that repeats in a polling loop is kept once.
        if self.waiting.contains(&text) {
            return;
        }
        if self.waiting.len() == MOST {
            self.waiting.pop_front();
        }
        self.waiting.push_back(text);
    }

    pub(crate) fn take(&mut self) -> Vec<String> {
        self.waiting.drain(..).collect()
    }

    /// Keeps the texts of a fetch, newest first, and returns their address as one text. With `remembers`, the texts of earlier
    /// fetches follow, each of them once, and [`MOST`] in all.
    fn answer(&mut self, mut texts: Vec<String>, remembers: bool) -> usize {
        if remembers {
            for earlier in std::mem::take(&mut self.answered) {
                if texts.len() == MOST {
                    break;
                }
                if !texts.contains(&earlier) {
                    texts.push(earlier);
                }
            }
        }
        let mut joined = texts.join("\n");
        self.answered = texts;
        joined.retain(|c| c != '\0');
        let text = CString::new(joined).expect("zero bytes were taken out");
        let address = text.as_ptr().expose_provenance();
        self.fetched = Some(text);
        address
    }
}

/// A failed call as data: what [`compose`] makes one text of. Frontends that build exceptions read it field by field.
pub(crate) struct Failure {
    code: i32,
    fields: [CString; FIELDS],
}

/// How many fields a failure has.
const FIELDS: usize = 5;

impl Failure {
    fn new(function: &str, code: i32, error: &Error) -> Failure {
        let text =
            |text: &str| CString::new(text.replace('\0', "")).expect("zero bytes were taken out");
        Failure {
            code,
            fields: [
                text(function),
                text(codes::name_of(code).unwrap_or_default()),
                text(&printable(&error.to_string())),
                text(&printable(advice(error))),
                text(&printable(&error.object_name().unwrap_or_default())),
            ],
        }
    }
}

/// Returns the address of one field of the calling thread's last error: 0 the function, 1 the name of the code, 2 the sentence,
/// 3 what to do, 4 the object. It is valid until the thread's next error. 0 where the last error had another code. Field 5
/// forgets the error.
pub fn failure_field(code: i32, field: u32) -> usize {
    crate::thread::with(|thread| {
        if field as usize == FIELDS {
            thread.failure.replace(None);
        }
        let failure = thread.failure.borrow();
        let failure = failure.as_ref().filter(|failure| failure.code == code);
        let text = failure.and_then(|failure| failure.fields.get(field as usize));
        text.map_or(0, |text| text.as_ptr().expose_provenance())
    })
}

fn advice(error: &Error) -> &str {
    error.advice().unwrap_or_else(|| codes::fix(error.kind()))
}

/// Returns the sentence that lists the functions which a program called and Jumar does not have.
pub(crate) fn missed_line(missed: &BTreeSet<&'static str>) -> Option<String> {
    let names: Vec<&str> = missed.iter().copied().collect();
    let functions = match names.len() {
        0 => return None,
        1 => "1 function".to_owned(),
        count => format!("{count} functions"),
    };
    Some(format!(
        "jumar: the program called {functions} that Jumar does not implement yet; each returned \"not supported\": {}",
        names.join(", ")
    ))
}

/// Keeps an error's text, sets the thread's last error. Returns the code.
#[cold]
pub(crate) fn keep(cx: &Cx<'_>, error: Error) -> i32 {
    let kind = error.kind();
    let code = match cx.thread.foreign_code.take() {
        0 => codes::code_for(cx.call, kind),
        code => code,
    };
    // Asking for the device of a thread that has none is a question, so its answer is not stored.
    let question =
        std::ptr::eq(cx.call, &raw const calls::aclrtGetDevice) && kind == ErrorKind::NoContext;
    if is_stored_as_last_error(kind) && !question {
        cx.thread.last_error.set(code);
    }
    if kind == ErrorKind::NotImplemented {
        cx.process.missed.lock().insert(cx.call.name);
    }
    crate::observers::refused(cx.call, &error);
    let is_poll = cx.thread.is_poll.take();
    if !is_silent(kind, is_poll) {
        cx.thread
            .failure
            .replace(Some(Failure::new(cx.call.name, code, &error)));
        let text = compose(cx.call.name, code, &error);
        crate::log::error(cx, &text);
        if is_taken_as_success(cx.call, kind) {
            return code;
        }
        if cx.process.messages_are_shared() {
            cx.process
                .shared_messages()
                .push(format!("{text} [THREAD:{:?}]", thread::current().id()));
        } else {
            cx.thread.messages.borrow_mut().push(text);
        }
    }
    code
}

/// Writes an error down for people: the vendor's message class, the function, the sentence, what to do, and the code.
fn compose(function: &str, code: i32, error: &Error) -> String {
    let kind = error.kind();
    let collective = function.starts_with("Hccl");
    let name = match collective {
        true => enums::name_of("HcclResult", i64::from(code)),
        false if crate::atb::is_named(function) => crate::atb::status_name(code),
        false => None,
    };
    let name = name.or_else(|| codes::name_of(code)).unwrap_or("unknown");
    let fix = advice(error);
    let mut text = format!(
        "{}: {function}: {}.\n        Solution: {}\n        Code: {code} ({name}), from Jumar {}, a software device.",
        codes::vendor(kind),
        printable(&error.to_string()),
        printable(fix),
        env!("CARGO_PKG_VERSION"),
    );
    if text.len() > LONGEST {
        let cut = (0..=LONGEST - 3)
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap_or(0);
        text.truncate(cut);
        text.push_str("...");
    }
    text
}

/// Escapes control characters: names of the program's files and models stand in sentences, and must neither begin a line of a
/// log nor steer a terminal.
fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter.is_control() {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown.into()
}

/// Fetches and forgets the texts, newest first, as one; `None` when there is none. The address is valid until the
/// thread's next fetch.
pub(crate) fn fetch(cx: &Cx<'_>) -> Option<usize> {
    let mut texts = if cx.process.messages_are_shared() {
        cx.process.shared_messages().take()
    } else {
        Vec::new()
    };
    let mut own = cx.thread.messages.borrow_mut();
    texts.append(&mut own.take());
    texts.reverse();
    if texts.is_empty() {
        // Without a context the vendor's library does not forget: it answers the same text again.
        let again = cx.thread.current_handle() == 0;
        return own
            .fetched
            .as_ref()
            .filter(|_| again)
            .map(|text| text.as_ptr().addr());
    }
    Some(own.answer(texts, cx.thread.current_handle() == 0))
}

/// Refusals of the interface itself, and results that are not failures, leave the thread's last error alone.
fn is_stored_as_last_error(kind: ErrorKind) -> bool {
    use ErrorKind as K;
    match kind {
        K::NullPointer
        | K::InvalidArgument
        | K::FrontendFeatureUnsupported
        | K::NotImplemented
        | K::RepeatInitialize
        | K::RepeatFinalize
        | K::Uninitialized
        | K::InvalidFile
        | K::ParseFile
        | K::InvalidDumpConfig
        | K::DumpNotRunning
        | K::Failure
        | K::Internal
        | K::StorageOverLimit
        | K::ModelExecutorNotInitialized
        | K::ModelPath
        | K::ModelId
        | K::ModelDataSize
        | K::ModelInvalid
        | K::ModelWeights
        | K::ModelFailure
        | K::ModelMemory
        | K::DynamicBatch
        | K::DynamicInputLength
        | K::AippMissing
        | K::BundleId
        | K::ModelQueue
        | K::FeatureUnsupported
        | K::ProgramInvalid
        | K::CompilerInput
        | K::CompilerOption
        | K::CompilationFailed
        | K::NameTooLate
        | K::NameTooEarly
        | K::NameUnknown
        | K::CompilerMissing
        | K::ProfilerRunning
        | K::ProfilerNotRunning
        | K::ProfilerConflict
        | K::ProfilerModules
        | K::ProfilerConfig
        | K::SecondRuntime
        | K::CommArgument
        | K::CommUnsupported
        | K::CommVariable
        | K::CommConfig
        | K::CommTableFile
        | K::CommTableKey
        | K::CommTableRank
        | K::CommIncomplete
        | K::CommDisagreement
        | K::CommRootGone
        | K::CommPortTaken
        | K::CommUnavailable
        | K::CommBusy
        | K::CommSuspended
        | K::CommUnknownName => false,
        K::CommTimeout | K::CommMismatch | K::CommPeerLost => true,
        K::InvalidValue
        | K::InvalidHandle
        | K::InvalidDevice
        | K::NoDevice
        | K::DeviceSetup
        | K::NoContext
        | K::StreamContext
        | K::ModelContext
        | K::StreamModel
        | K::EventTimestamp
        | K::EventNotRecorded
        | K::StreamSubscribe
        | K::ThreadSubscribe
        | K::NoSubscriber
        | K::ReportTimeout
        | K::InvalidMemoryType
        | K::SysParamNotSet
        | K::OutOfMemory
        | K::NoStreamResource
        | K::NoEventResource
        | K::NoNotifyResource
        | K::ContextReleased
        | K::StreamTimeout
        | K::EventTimeout
        | K::WaitTimeout
        | K::StreamCaptured
        | K::EventCaptured
        | K::StreamNotCaptured
        | K::CaptureDependency
        | K::CaptureUnjoined
        | K::CaptureOpen
        | K::CaptureForbids
        | K::CaptureForbidsWaiting
        | K::CaptureImplicit
        | K::CaptureConflict
        | K::TaskGroupState
        | K::CaptureOtherStream
        | K::CaptureOtherThread
        | K::CaptureInvalidated
        | K::GraphRunning
        | K::GraphUpdate
        | K::GraphNotReady
        | K::BranchOpen
        | K::TaskTypeUnsupported
        | K::ArrayTooSmall
        | K::LabelContext
        | K::RuntimeInternal
        | K::ModelExecute
        | K::KernelFailed
        | K::KernelTimeout
        | K::CpuKernelFailed
        | K::CpuKernelTimeout
        | K::Overflow
        | K::FunctionUnknown
        | K::SymbolUnknown
        | K::CallbackFailed
        | K::HostRangeRegistered
        | K::HostRangeUnknown
        | K::QueueFull
        | K::QueueEmpty
        | K::UnsupportedDataType
        | K::OperatorNotFound
        | K::OperatorLoad
        | K::OperatorInvalid
        | K::StreamAborted
        | K::DeviceAborted
        | K::AbortTimeout
        | K::SnapshotLock
        | K::SnapshotLockTimeout
        | K::SnapshotUnlock
        | K::SnapshotBackup
        | K::SnapshotRestore
        | K::SnapshotCallback
        | K::SnapshotRegister => true,
    }
}

/// Returns whether programs take the answer as success: another part of the process has initialised or finalised the library. Its text would
/// stand beside that of a later failure.
fn is_taken_as_success(call: &'static Call, kind: ErrorKind) -> bool {
    let is = |known: &'static Call| std::ptr::eq(call, known);
    kind == ErrorKind::RepeatInitialize && is(&calls::aclInit)
        || kind == ErrorKind::RepeatFinalize && is(&calls::aclFinalize)
}

/// Answers that a polling loop gets all the time leave no text: it would stand in front of the text of a failure.
fn is_silent(kind: ErrorKind, is_poll: bool) -> bool {
    use ErrorKind as K;
    let is_pending = [
        K::QueueEmpty,
        K::QueueFull,
        K::StreamTimeout,
        K::EventTimeout,
    ]
    .contains(&kind);
    kind == K::ReportTimeout || (is_poll && is_pending)
}

/// Marks the answer of a call whose time limit is 0, so that it leaves no text if it only says that there is nothing yet.
pub(crate) fn polled<T>(cx: &Cx<'_>, limit: i32, answer: Result<T>) -> Result<T> {
    answer.inspect_err(|_| cx.thread.is_poll.set(limit == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of the last fetch.
    fn lines(messages: &Messages) -> Vec<&str> {
        let text = messages.fetched.as_ref().expect("something was fetched");
        text.to_str().expect("it is text").lines().collect()
    }

    #[test]
    fn a_thread_without_a_context_remembers_the_newest_texts_and_no_more() {
        let mut messages = Messages::default();
        for number in 0..MOST + 10 {
            messages.push(format!("error {number}"));
            let texts = messages.take();
            messages.answer(texts, true);
        }
        let kept = lines(&messages);
        assert_eq!(kept.len(), MOST);
        assert_eq!(kept[0], format!("error {}", MOST + 9));
        assert_eq!(kept[MOST - 1], "error 10");
    }

    #[test]
    fn a_name_in_a_sentence_begins_no_line_and_steers_no_terminal() {
        let error = Error::new(
            ErrorKind::InvalidValue,
            "no file \"a\\nb\u{1b}[31m\u{9b}é\"",
        );
        let text = compose("aclInit", 1, &error);
        assert!(
            text.contains(r#"no file "a\nb\u{1b}[31m\u{9b}é""#),
            "{text}"
        );
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn a_failure_has_its_fields_whatever_its_texts_hold() {
        let error = Error::new(ErrorKind::InvalidValue, "a. Code: 5 (b)\n  Solution: c")
            .object("stream \"\0x\"")
            .fix("d");
        let failure = Failure::new("aclInit", 107000, &error);
        let fields = failure
            .fields
            .map(|text| text.into_string().expect("UTF-8"));
        assert_eq!(
            fields,
            [
                "aclInit",
                "ACL_ERROR_RT_PARAM_INVALID",
                "a. Code: 5 (b)\\n  Solution: c",
                "d",
                "stream \"\\u{0}x\""
            ]
        );
    }

    #[test]
    fn an_error_that_repeats_is_remembered_once() {
        let mut messages = Messages::default();
        for text in ["first", "again", "again", "first"] {
            messages.push(text.to_owned());
            let texts = messages.take();
            messages.answer(texts, true);
        }
        assert_eq!(lines(&messages), ["first", "again"]);
        messages.answer(vec!["alone".to_owned()], false);
        assert_eq!(lines(&messages), ["alone"]);
    }

    #[test]
    fn functions_called_in_vain_are_named_once_each() {
        assert_eq!(missed_line(&BTreeSet::new()), None);
        let two = missed_line(&BTreeSet::from(["aclfvInit", "aclopLoad"])).unwrap();
        assert!(
            two.contains("2 functions") && two.ends_with("aclfvInit, aclopLoad"),
            "{two}"
        );
    }
}
