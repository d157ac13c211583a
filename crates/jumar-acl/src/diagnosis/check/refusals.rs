//! What a refused call says about the program: the rule behind each code.

use jumar::check::{Check, Finding, SourceLocation};
use jumar::engine::sync::Ordering;

use crate::Call;

use super::{CONTEXT_AT, CompletedCall, PAST, is, lifetimes};
use super::{collectives, media};

/// Calls that ask whether there is a context, or whose refusal is an answer.
const QUESTIONS: &[&str] = &[
    "aclrtGetCurrentContext",
    "aclrtGetDevice",
    "aclrtPeekAtLastError",
    "aclrtGetLastError",
];

/// Where the shims of the polling calls put the thread's number, behind the limit.
const POLLING_THREAD: usize = 1;

/// Returns whether a refusal of the call is an answer.
pub(super) fn is_question(call: &Call) -> bool {
    is(call, QUESTIONS)
}

/// Finds the rule that a refused call broke, where the code says it. Returns whether there is one.
pub(super) fn explain(check: &Check, seen: &CompletedCall) -> bool {
    let Some(rule) = rule_for(check, seen) else {
        return false;
    };
    // The codes of the second interface of images and video are read by their names.
    let code = match crate::generated::codes::name_of(seen.code) {
        Some(name) if name.starts_with("HI_ERR_") => name.to_owned(),
        _ => seen.code.to_string(),
    };
    let why = match &seen.sentence {
        Some(sentence) => format!("refused with {code}: {sentence}"),
        None => format!("refused with {code}"),
    };
    let mut finding = Finding::now(rule, why);
    match rule {
        "JMR-CTX-001" | "JMR-HOST-001" => {
            let thread = jumar::engine::sync::thread::current();
            let name = thread.name().unwrap_or("without a name").to_owned();
            finding = Finding::now(
                rule,
                format!(
                    "this thread ({name}) called neither aclrtSetDevice nor aclrtSetCurrentContext, or its context is gone"
                ),
            )
            .missing("aclrtSetCurrentContext on this thread: contexts are not inherited from the thread that started it");
            let set_up_at = *PAST.set_up_at.lock();
            if set_up_at != SourceLocation::UNKNOWN && CONTEXT_AT.get() == SourceLocation::UNKNOWN {
                finding = finding.and("earlier", set_up_at, "another thread got a context here");
            }
        }
        "JMR-MEM-002" => {
            let mut live = check.allocations();
            live.sort_by_key(|allocation| std::cmp::Reverse(allocation.bytes));
            for allocation in live.iter().filter(|a| a.device.is_some()).take(3) {
                finding = finding.and(
                    "alive",
                    allocation.made,
                    format!("{} of {} bytes", allocation.name(), allocation.asked),
                );
            }
        }
        "JMR-STREAM-001" | "JMR-STREAM-004" | "JMR-EVENT-012" | "JMR-NOTIFY-004" => {
            for word in seen.words {
                if let Some(object) = check.object("stream", word) {
                    finding = finding.and("made", object.made, object.name());
                    break;
                }
            }
            let context_at = CONTEXT_AT.get();
            if context_at != SourceLocation::UNKNOWN {
                finding = finding.and(
                    "earlier",
                    context_at,
                    "this thread's context is the one from here",
                );
            }
        }
        "JMR-CAP-001" | "JMR-CAP-002" | "JMR-CAP-004" | "JMR-CAP-007" | "JMR-CAP-008"
        | "JMR-CAP-012" => {
            let captures = PAST.captures.lock();
            let of_stream = captures
                .iter()
                .rev()
                .find(|(stream, _)| seen.words.contains(stream));
            if let Some((_, location)) = of_stream.or_else(|| captures.last()) {
                finding = finding.and("earlier", *location, "the capture is begun");
            }
        }
        "JMR-INIT-010" if PAST.finalized.load(Ordering::Relaxed) => {
            let location = *PAST.finalized_at.lock();
            super::find_late(
                check,
                finding.and("earlier", location, "everything is finalised"),
            );
            return true;
        }
        "JMR-DVPP-002" => finding = media::with_end(finding, seen),
        "JMR-SYNC-012" if collectives::explain_failure(check, seen) => return true,
        "JMR-SYNC-012" => {
            // Without a task that failed the code is about the call itself.
            let Some(failed) = check.last_failed() else {
                return false;
            };
            let text = format!("answers {}, the error of an earlier task", seen.code);
            finding = Finding::now(rule, text).and(
                "earlier",
                failed.location,
                format!("task {} failed: {}", failed.ticket, failed.sentence),
            );
        }
        "JMR-CB-009" => {
            let thread = seen.words[POLLING_THREAD];
            let mut polls = PAST.polls.lock();
            let is_new = polls.early.iter().all(|(known, _)| *known != thread);
            if is_new && !polls.subscribed.contains(&thread) {
                polls.early.push((thread, finding));
            }
            return true;
        }
        _ => {}
    }
    check.find(finding);
    true
}

/// Returns whether both ends of a copy lie in memory that the runtime handed out.
fn copies_between_known(check: &Check, words: &[u64; crate::observers::MOST]) -> bool {
    [words[0], words[2]]
        .iter()
        .all(|address| check.allocation(*address as usize).is_some())
}

/// Returns whether the error's sentence has these words.
fn says(seen: &CompletedCall, words: &str) -> bool {
    let sentence = seen.sentence.as_deref();
    sentence.is_some_and(|sentence| sentence.contains(words))
}

/// Returns the rule behind a refused call on images.
fn image_rule(check: &Check, seen: &CompletedCall) -> Option<&'static str> {
    if says(seen, "is not open") {
        return Some("JMR-DVPP-002");
    }
    // An argument that was destroyed is reported before the call.
    let is_reported = lifetimes::IMAGE_OBJECTS.iter().any(|kind| {
        seen.words.iter().any(|word| {
            let object = check.object(kind, *word);
            object.is_some_and(|object| object.ended.is_some())
        })
    });
    (!is_reported).then_some("JMR-DVPP-001")
}

fn rule_for(check: &Check, seen: &CompletedCall) -> Option<&'static str> {
    let name = seen.call.name;
    let call = seen.call;
    if is_question(call) {
        return None;
    }
    if name.starts_with("hi_mpi_") {
        return media::rule_for(seen);
    }
    let first_is_null = seen.words[0] == 0;
    Some(match (seen.code, name) {
        (100_002, "aclInit") => "JMR-INIT-001",
        (100_000, "aclInit") => "JMR-INIT-002",
        (100_003, "aclInit") => "JMR-INIT-003",
        (100_006, "aclInit") => "JMR-INIT-004",
        (100_037, _) => "JMR-INIT-010",
        (107_002, "aclrtDestroyContext") => return None,
        (107_002, "aclrtMallocHost" | "aclrtMallocHostWithCfg") => "JMR-HOST-001",
        (107_002, _) => "JMR-CTX-001",
        (107_003, "aclrtDestroyStream" | "aclrtDestroyStreamForce") => "JMR-STREAM-004",
        (107_003, "aclrtRecordEvent") => "JMR-EVENT-012",
        (107_003, "aclrtRecordNotify" | "aclrtWaitAndResetNotify") => "JMR-NOTIFY-004",
        (107_003, _) => "JMR-STREAM-001",
        (107_001, _) => "JMR-DEV-001",
        (507_007, "aclrtResetDevice" | "aclrtResetDeviceForce") => "JMR-DEV-005",
        (207_001, _) if name.contains("Malloc") => "JMR-MEM-002",
        (100_000, "aclrtMalloc" | "aclrtMallocAlign32" | "aclrtMallocCached") => "JMR-MEM-001",
        (100_000, _) if name.starts_with("acldvpp") && name.ends_with("Async") => {
            return image_rule(check, seen);
        }
        // A wait for callbacks inside a callback has nothing to do with images.
        (
            100_000,
            "aclvdecSendFrame"
            | "aclvdecSendSkippedFrame"
            | "aclvencSendFrame"
            | "aclvdecDestroyChannel"
            | "aclvencDestroyChannel",
        ) if !says(seen, "inside a callback") => return image_rule(check, seen),
        (100_000, "aclrtDestroyContext" | "aclrtSetCurrentContext" | "aclrtCreateContext")
            if first_is_null =>
        {
            "JMR-CTX-006"
        }
        (100_000, "aclrtCreateStream" | "aclrtStreamQuery") => "JMR-STREAM-025",
        (100_000, "aclrtDestroyStream" | "aclrtDestroyStreamForce") => "JMR-STREAM-003",
        (100_000, "aclrtRecordEvent" | "aclrtDestroyEvent" | "aclrtSynchronizeEvent")
            if first_is_null =>
        {
            "JMR-EVENT-015"
        }
        (100_000, "aclrtStreamWaitEvent") => "JMR-EVENT-015",
        (
            100_000,
            "aclmdlExecute"
            | "aclmdlExecuteAsync"
            | "aclmdlAddDatasetBuffer"
            | "aclmdlGetDatasetBuffer",
        ) => "JMR-DATASET-003",
        (207_000, "aclrtStreamWaitEvent") if lifetimes::stream_is_captured(seen.words[0]) => {
            "JMR-CAP-010"
        }
        (207_000, "aclrtRecordEvent") if lifetimes::stream_is_captured(seen.words[1]) => {
            "JMR-CAP-010"
        }
        (207_000, "aclrtStreamWaitEvent") => "JMR-EVENT-002",
        (207_000, "aclrtResetEvent") => "JMR-EVENT-003",
        (207_000, "aclrtQueryEvent" | "aclrtQueryEventWaitStatus") => "JMR-EVENT-005",
        (107_000 | 100_000, _)
            if name.starts_with("aclrtLaunch") && says(seen, "numBlocks is 0") =>
        {
            "JMR-KERNEL-001"
        }
        (107_000, "aclrtCreateEventWithFlag" | "aclrtCreateEventExWithFlag") => "JMR-EVENT-008",
        (107_006, _) | (507_000, "aclrtEventElapsedTime" | "aclrtEventGetTimestamp") => {
            "JMR-EVENT-006"
        }
        (207_007, _) => "JMR-EVENT-017",
        (207_008, _) => "JMR-STREAM-010",
        (107_000, "aclrtSynchronizeStreamWithTimeout" | "aclrtSynchronizeDeviceWithTimeout") => {
            "JMR-SYNC-015"
        }
        (107_000, "aclrtCreateNotify") => "JMR-NOTIFY-001",
        (107_024, _) => "JMR-CAP-009",
        (107_025, _) => "JMR-CAP-008",
        (107_027, "aclrtDestroyStream" | "aclrtDestroyStreamForce") => "JMR-STREAM-008",
        (100_000 | 207_000, "aclmdlRICaptureBegin") | (107_031, _) => "JMR-CAP-005",
        (107_000 | 107_005 | 107_027, "aclmdlRICaptureBegin") => "JMR-CAP-006",
        (107_029 | 107_033, _) if name.contains("TaskGrp") => "JMR-CAP-015",
        (107_033, "aclmdlRICaptureEnd" | "aclmdlRICaptureTaskUpdateEnd") | (507_009, _) => {
            "JMR-CAP-015"
        }
        (107_026 | 107_037, "aclmdlRIDestroy") => "JMR-CAP-019",
        (107_026, _) if name.starts_with("aclmdlRIExecute") => "JMR-CAP-018",
        (107_027, _) => "JMR-CAP-001",
        (107_041, _) => "JMR-CAP-004",
        (107_000, "aclrtMemcpyAsync")
            if lifetimes::stream_is_captured(seen.words[5])
                && !copies_between_known(check, &seen.words) =>
        {
            "JMR-CAP-004"
        }
        (107_030, _) => "JMR-CAP-002",
        (107_029 | 107_036 | 107_038, "aclmdlRICaptureEnd") => "JMR-CAP-007",
        (107_032, _) => "JMR-CAP-011",
        (507_903, _) => "JMR-CAP-012",
        (107_011, _) => "JMR-CB-002",
        (107_015, _) => "JMR-CB-006",
        (107_012, _) => "JMR-CB-009",
        (507_911, _) => "JMR-HOST-004",
        (145_001, _) => "JMR-MODEL-005",
        (145_002, _) => "JMR-MODEL-002",
        (145_003, _) => "JMR-MODEL-001",
        (145_006 | 145_007, _) => "JMR-MODEL-003",
        (145_000, "aclmdlLoadFromFile" | "aclmdlQuerySize") if !first_is_null => "JMR-MODEL-003",
        (145_012..=145_014, _) => "JMR-MODEL-013",
        (500_002, "aclmdlExecute" | "aclmdlExecuteAsync") => "JMR-DATASET-002",
        // The stream has an undelivered callback; otherwise the call itself is refused, inside a callback.
        (507_000, _)
            if name.starts_with("aclrtSynchronize") && says(seen, "callback was not run") =>
        {
            "JMR-CB-008"
        }
        (507_000, _) if name.starts_with("aclrtSynchronize") => "JMR-CB-001",
        // A timeout of the call itself, and a device that this process cannot use, are no task's error.
        (107_020 | 507_001..=507_899, _)
            if name.starts_with("aclrtSynchronize")
                && !matches!(seen.code, 507_046 | 507_047 | 507_012 | 507_033) =>
        {
            "JMR-SYNC-012"
        }
        _ => return None,
    })
}
