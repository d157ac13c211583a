//! What the table covers: functions by kind of case, and rows of the misuse tables.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::Api;
use crate::language::{Action, Call, Expr};
use crate::table::{Case, Kind};

/// How often a function is shown at work and refused.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Cases of the kind "works" whose own steps call it with success.
    pub works: usize,
    /// Cases of the kind "refused" in which it answers a code or a neutral value.
    pub refused: usize,
}

/// Counts, for each function of the API that the table calls, the cases that show it.
pub fn functions<'a>(cases: &'a [Case], api: &Api) -> BTreeMap<&'a str, Shown> {
    let mut shown: BTreeMap<&str, Shown> = BTreeMap::new();
    for case in cases {
        let mut counted = BTreeSet::new();
        for (number, step) in case.steps.iter().enumerate() {
            let Action::Call(call) = &step.action else {
                continue;
            };
            let entry = shown.entry(&call.function).or_default();
            let refusal = refuses(call, case.kind, api);
            if number < case.setup_steps || !counted.insert((&call.function, refusal)) {
                continue;
            }
            match (case.kind, refusal) {
                (Kind::Works, false) => entry.works += 1,
                (Kind::Refused, true) => entry.refused += 1,
                (Kind::Works, true) | (Kind::Refused, false) => {}
            }
        }
    }
    shown
}

/// Whether a call answers a code. One that has none to answer is what its case is: a neutral value in a refused one.
fn refuses(call: &Call, kind: Kind, api: &Api) -> bool {
    let answers_code = api
        .functions
        .get(&call.function)
        .is_some_and(|function| function.answers_code());
    if !answers_code {
        return kind == Kind::Refused;
    }
    call.answer
        .as_ref()
        .is_some_and(|answer| *answer != Expr::Number(0))
}

/// Returns the cases of each row or section.
pub fn rows(cases: &[Case]) -> BTreeMap<&str, Vec<&str>> {
    let mut rows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for case in cases {
        rows.entry(&case.row).or_default().push(&case.id);
    }
    rows
}

/// Returns the number of cases that work and that are refused, by group.
pub fn groups(cases: &[Case]) -> BTreeMap<&str, (usize, usize)> {
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for case in cases {
        let entry = groups.entry(&case.group).or_default();
        match case.kind {
            Kind::Works => entry.0 += 1,
            Kind::Refused => entry.1 += 1,
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_every_program_are_shown_both_ways() {
        let root = crate::root();
        let api = Api::read(&root).unwrap();
        let cases = crate::table::read(&root, &api).unwrap();
        let shown = functions(&cases, &api);
        for name in [
            "aclInit",
            "aclFinalize",
            "aclrtSetDevice",
            "aclrtResetDevice",
            "aclrtMalloc",
            "aclrtFree",
            "aclrtMallocHost",
            "aclrtFreeHost",
            "aclrtMemcpy",
            "aclrtMemcpyAsync",
            "aclrtMemset",
            "aclrtMemsetAsync",
            "aclrtCreateContext",
            "aclrtDestroyContext",
            "aclrtCreateStream",
            "aclrtDestroyStream",
            "aclrtSynchronizeStream",
            "aclrtCreateEvent",
            "aclrtRecordEvent",
            "aclrtStreamWaitEvent",
            "aclrtLaunchCallback",
            "aclrtProcessReport",
            "aclmdlLoadFromFile",
            "aclmdlExecute",
            "aclmdlExecuteAsync",
            "aclmdlUnload",
        ] {
            let counts = shown[name];
            assert!(counts.works > 0 && counts.refused > 0, "{name}: {counts:?}");
        }
    }
}
