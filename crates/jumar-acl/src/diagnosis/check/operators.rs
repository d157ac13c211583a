//! The rules of single operators: their objects, executors, workspaces and memory.

use std::cell::Cell;

use jumar::check::{Check, Finding};
use jumar_eager::ParamKind;

use crate::Call;
use crate::aclnn;
use crate::observers::MOST;

use super::memory::left;
use super::{CompletedCall, recent};

/// What the sentence of a run on a thread without a context says.
const NO_CONTEXT: &str = "current context";

/// How many words of a first phase come before the operator's arguments.
const RESULTS: usize = 2;

thread_local! {
    /// Whether the cause of a refusal was reported before the call under way was carried out.
    static EXPLAINED: Cell<bool> = const { Cell::new(false) };
}

fn set_explained(explained: bool) {
    let _ = EXPLAINED.try_with(|cell| cell.set(explained));
}

fn is_explained() -> bool {
    EXPLAINED.try_with(|cell| cell.take()).unwrap_or(false)
}

/// Returns the kind of the objects that an argument is a handle of.
fn kind_of(kind: ParamKind) -> Option<&'static str> {
    Some(match kind {
        ParamKind::Tensor => "tensor",
        ParamKind::Tensors => "tensor list",
        ParamKind::Scalar => "scalar",
        ParamKind::Scalars => "scalar list",
        ParamKind::Ints => "integer array",
        ParamKind::Floats => "float array",
        ParamKind::Bools => "boolean array",
        _ => return None,
    })
}

/// Finds arguments of a first phase that were destroyed.
pub(super) fn before_plan(check: &Check, call: &Call, words: &[u64; MOST]) {
    set_explained(false);
    let Some((operator, _)) = aclnn::phase_of(call) else {
        return;
    };
    let params = aclnn::parameters(operator);
    for (param, handle) in params.iter().zip(&words[RESULTS..]) {
        let Some(kind) = kind_of(param.kind).filter(|_| *handle != 0) else {
            continue;
        };
        if recent::is_alive(check, *handle) {
            continue;
        }
        let now = check.ends();
        let Some(object) = check.object(kind, *handle) else {
            continue;
        };
        let Some((by, location)) = object.ended else {
            recent::set_alive(*handle, now);
            continue;
        };
        let name = object.name();
        set_explained(true);
        check.find(
            Finding::now(
                "JMR-OP-013",
                format!(
                    "{} of {} is {name}, which was destroyed",
                    param.name, call.name
                ),
            )
            .and("earlier", location, format!("{name} is destroyed by {by}"))
            .and("made", object.made, name),
        );
    }
}

/// Finds memory of a second phase that was freed, or that ends too early.
pub(super) fn before_run(check: &Check, call: &'static Call, words: &[u64; MOST]) {
    set_explained(false);
    let [workspace, bytes, executor, ..] = *words;
    if let Some(object) = check.object("executor", executor) {
        check.continue_script(call.name, object.made);
    }
    let Some(executor) = aclnn::planned(executor) else {
        return;
    };
    for (tensor, address, bytes) in executor.memory() {
        memory(
            check,
            ["JMR-MEM-007", "JMR-MEM-010"],
            address,
            bytes,
            || executor.name_of(tensor),
        );
    }
    let needed = executor.workspace_bytes();
    if needed > 0 && workspace != 0 && bytes >= needed as u64 {
        memory(
            check,
            ["JMR-OP-003", "JMR-OP-003"],
            workspace as usize,
            needed,
            || format!("the workspace of {}", executor.operator()),
        );
    }
}

/// Looks at one range that an operator uses: `rules` are for freed memory, and for memory that is too small.
fn memory(
    check: &Check,
    rules: [&'static str; 2],
    address: usize,
    bytes: usize,
    what: impl Fn() -> String,
) {
    if recent::fits(check, address, bytes) {
        return;
    }
    if let Some(allocation) = recent::allocation(check, address) {
        let name = allocation.name();
        // Mappings without a gap between them are checked by the call itself.
        if bytes > left(&allocation, address) && allocation.made_by.contains("Malloc") {
            set_explained(true);
            let text = format!(
                "{} spans {bytes} bytes from +{} of {name} on, which has {} bytes",
                what(),
                address - allocation.start,
                allocation.asked
            );
            check.find(Finding::now(rules[1], text).and("made", allocation.made, name));
        }
    } else if let Some((allocation, location)) = check.freed(address)
        && allocation.device.is_some()
    {
        let name = allocation.name();
        set_explained(true);
        check.find(
            Finding::now(rules[0], format!("{} is {name}, which was freed", what()))
                .and("earlier", location, format!("{name} is freed"))
                .and("made", allocation.made, name),
        );
    }
}

/// Reports the arguments that a first phase refused.
pub(super) fn plan_refused(check: &Check, seen: &CompletedCall) {
    // A missing kernel is not the program's mistake.
    if is_explained() || !matches!(seen.code, 161_001 | 161_002 | 561_103) {
        return;
    }
    check.find(refusal("JMR-OP-002", seen));
}

/// Reports why a second phase was refused.
pub(super) fn run_refused(check: &Check, seen: &CompletedCall) {
    let key = seen.words[2];
    let object = check.object("executor", key);
    if let Some(object) = object.as_ref().filter(|object| object.ended.is_none())
        && aclnn::planned(key).is_none()
    {
        // It was used up although the run failed.
        check.ended(object.kind, key, seen.call.name);
    }
    if is_explained() {
        return;
    }
    let sentence = seen.sentence.as_deref().unwrap_or_default();
    let rule = match seen.code {
        // An executor that is known to be gone was reported before the call.
        561_103 if object.as_ref().is_some_and(|known| known.ended.is_some()) => return,
        561_103 => "JMR-OP-004",
        161_001 | 161_002 if sentence.contains("workspace") => "JMR-OP-003",
        161_001 | 161_002 => "JMR-OP-002",
        361_001 if sentence.contains(NO_CONTEXT) => "JMR-CTX-001",
        _ => return,
    };
    let mut finding = refusal(rule, seen);
    if let Some(object) = object {
        finding = finding.and("planned", object.made, object.name());
    }
    check.find(finding);
}

fn refusal(rule: &'static str, seen: &CompletedCall) -> Finding {
    let text = match &seen.sentence {
        Some(sentence) => format!("refused with {}: {sentence}", seen.code),
        None => format!("refused with {}", seen.code),
    };
    Finding::now(rule, text)
}

/// Notes that a run used its executor up.
pub(super) fn ran(check: &Check, seen: &CompletedCall) {
    let key = seen.words[2];
    if aclnn::planned(key).is_none() {
        check.ended("executor", key, seen.call.name);
    }
}
