//! Data against data: kinds of errors, functions and their cases, variables and their page.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::Problem;
use super::source::{File, Repository, words};

/// errors.toml lists exactly the kinds of the closed enum.
pub fn kinds(repository: &Repository) -> Result<Vec<Problem>> {
    const DATA: &str = "api/errors.toml";
    let file = repository
        .get(DATA)
        .with_context(|| format!("{DATA} is missing"))?;
    let table: toml::Table = toml::from_str(&file.text).context(DATA)?;
    let listed: BTreeSet<&str> = table.keys().map(String::as_str).collect();
    let known: BTreeSet<&str> = jumar_types::ErrorKind::ALL
        .iter()
        .map(|kind| kind.name())
        .collect();
    let missing = known
        .difference(&listed)
        .map(|kind| Problem::new(DATA, format!("says nothing about {kind}")));
    let extra = listed
        .difference(&known)
        .map(|kind| Problem::new(DATA, format!("{kind} is not a kind of error")));
    Ok(missing.chain(extra).collect())
}

/// The groups of the runtime in which every function is either implemented or on the page.
const COMPLETE: &[&str] = &[
    "device", "context", "init", "group", "model", "notify", "peer", "ipc", "snapshot", "platform",
    "dump", "dvpp",
];

/// The page of what stays not supported names stubs only, and every stub of the groups that are complete otherwise.
pub fn not_supported(repository: &Repository) -> Result<Vec<Problem>> {
    const PAGE: &str = "docs/not-supported.md";
    let page = repository
        .get(PAGE)
        .with_context(|| format!("{PAGE} is missing"))?;
    let rows = page.text.lines().filter_map(|line| {
        let name = line.strip_prefix("| `")?.split('`').next()?;
        name.starts_with("acl").then_some(name)
    });
    let on_page: BTreeSet<&str> = rows.collect();
    let (mut stubs, mut problems) = (BTreeSet::new(), Vec::new());
    for file in api_files(repository) {
        let functions: BTreeMap<String, Function> =
            toml::from_str(&file.text).with_context(|| file.path.clone())?;
        let group = file
            .path
            .trim_start_matches("api/")
            .trim_end_matches(".toml");
        for (name, function) in functions {
            if function.status.as_deref() != Some("stub") {
                continue;
            }
            if COMPLETE.contains(&group) && !on_page.contains(name.as_str()) {
                let what = format!("{name} is a stub, and {PAGE} does not say why");
                problems.push(Problem::new(file.path.as_str(), what));
            }
            stubs.insert(name);
        }
    }
    let wrong = on_page.iter().filter(|name| !stubs.contains(**name));
    problems.extend(wrong.map(|name| Problem::new(PAGE, format!("{name} is not a stub"))));
    Ok(problems)
}

#[derive(Deserialize)]
struct Function {
    ret: Option<String>,
    status: Option<String>,
    params: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Cases {
    #[serde(default)]
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    steps: String,
    #[serde(default)]
    setup: Vec<String>,
}

#[derive(Deserialize)]
struct Setup {
    steps: String,
}

/// Functions that refuse nothing, with what they do instead; the table shows that.
const REFUSE_NOTHING: &[(&str, &str)] = &[
    ("aclrtSetOpWaitTimeout", "any number is a limit"),
    ("aclrtSetOpExecuteTimeOut", "any number is a limit"),
    ("aclrtSetOpExecuteTimeOutWithMs", "any number is a limit"),
    (
        "aclrtDeviceGetStreamPriorityRange",
        "a null pointer is skipped",
    ),
    (
        "aclSetTensorDescName",
        "it answers nothing; null is ignored",
    ),
    (
        "aclSetTensorFormat",
        "null is ignored, as the interface says",
    ),
    (
        "aclSetTensorOriginFormat",
        "null is ignored, as the interface says",
    ),
    (
        "aclSetTensorStorageFormat",
        "null is ignored, as the interface says",
    ),
    (
        "aclrtSetExceptionInfoCallback",
        "null takes the callback away",
    ),
    ("aclopStopDumpArgs", "what was not begun is ended too"),
    ("aclnnFinalize", "what was not begun is ended too"),
];

/// Functions that only a callback for failed tasks can call with an object; the table has no words for one, so that
/// tests/c/test_exception.py shows how they work.
const INSIDE_A_CALLBACK: &[&str] = &[
    "aclrtGetArgsFromExceptionInfo",
    "aclrtGetDeviceIdFromExceptionInfo",
    "aclrtGetErrorCodeFromExceptionInfo",
    "aclrtGetFuncHandleFromExceptionInfo",
    "aclrtGetStreamIdFromExceptionInfo",
    "aclrtGetTaskIdFromExceptionInfo",
    "aclrtGetThreadIdFromExceptionInfo",
];

/// Functions that work only with a second process; the table plays one, so that tests/programs/c/shared_memory.c and
/// tests/programs/c/shared_objects.c show how they work.
const BETWEEN_PROCESSES: &[&str] = &[
    "aclrtMemImportFromShareableHandle",
    "aclrtMemImportFromShareableHandleV2",
    "aclrtIpcMemImportByKey",
    "aclrtIpcOpenEventHandle",
    "aclrtNotifyImportByKey",
];

/// Functions that work on a card and are refused on a host, as the interface has it: there is nothing that could work.
const REFUSED_ON_A_HOST: &[&str] = &[
    "acltdtEnqueue",
    "acltdtDequeue",
    "acltdtGrantQueue",
    "acltdtAttachQueue",
    "acltdtAllocBuf",
    "acltdtFreeBuf",
    "acltdtGetBufData",
    "acltdtSetBufDataLen",
    "acltdtGetBufDataLen",
    "acltdtAppendBufChain",
    "acltdtGetBufChainNum",
    "acltdtGetBufFromChain",
    "acltdtGetBufUserData",
    "acltdtSetBufUserData",
    "acltdtCopyBufRef",
];

/// Functions of an executor, which only the first phase of an operator makes: tests/aclnn/add.cpp shows how they work.
const OF_AN_EXECUTOR: &[&str] = &[
    "aclDestroyAclOpExecutor",
    "aclSetAclOpExecutorRepeatable",
    "aclSetDynamicInputTensorAddr",
    "AclSetDynamicInputTensorAddr",
    "aclSetDynamicOutputTensorAddr",
    "AclSetDynamicOutputTensorAddr",
    "aclSetDynamicTensorAddr",
    "AclSetDynamicTensorAddr",
    "aclSetInputTensorAddr",
    "AclSetInputTensorAddr",
    "aclSetOutputTensorAddr",
    "AclSetOutputTensorAddr",
    "aclSetTensorAddr",
    "AclSetTensorAddr",
];

/// Functions that no profile's chip has: they can only be refused.
const ON_NO_CHIP: &[&str] = &["aclrtGetHardwareSyncAddr"];

/// Functions that take a structure by value, or a function or a structure of a type that the table has no words for; so that
/// tests/programs/kernels/launches.c, tests/programs/kernels/registered.c, tests/programs/c/adapter_start.c and tests/programs/c/linked_kernels.c
/// show how they work and what they refuse.
const BY_VALUE: &[&str] = &[
    "aclrtLaunchSIMTKernelWithArgsArray",
    "aclrtLaunchSIMTKernelWithHostArgs",
    "HcclSetConfig",
    "HcclSetCommConfig",
    "MsprofRegisterCallback",
    "mmGetTid",
    "rtDevBinaryRegister",
    "rtDevBinaryUnRegister",
    "rtDeviceSetLimit",
    "rtFree",
    "rtFreeHost",
    "rtFunctionRegister",
    "rtGetAiCoreCount",
    "rtGetC2cCtrlAddr",
    "rtGetSocVersion",
    "rtKernelLaunch",
    "rtKernelLaunchWithFlagV2",
    "rtKernelLaunchWithHandle",
    "rtKernelLaunchWithHandleV2",
    "rtMalloc",
    "rtMallocHost",
    "rtMemcpy",
    "rtRegStreamStateCallback",
    "rtRegisterAllKernel",
    "rtSetDevice",
    "rtStreamCreate",
    "rtStreamDestroy",
    "rtStreamSynchronize",
    "rtVectorCoreKernelLaunchWithHandle",
];

/// Functions that take a file which no case can make; tests/aclop/files.c shows how they work.
const TAKES_A_FILE: &[&str] = &["aclopLoad"];

/// Each function without the stub mark is named by a case that works and by one that is refused.
///
/// A function that cannot be refused (it takes numbers alone and answers a value) needs only the first.
pub fn behaviour(repository: &Repository) -> Result<Vec<Problem>> {
    let (works, refused) = named_by_cases(repository)?;
    let mut problems = Vec::new();
    for file in api_files(repository) {
        let functions: BTreeMap<String, Function> =
            toml::from_str(&file.text).with_context(|| file.path.clone())?;
        for (name, function) in functions {
            let Some(ret) = &function.ret else { continue };
            if function.status.as_deref() == Some("stub") {
                continue;
            }
            if BY_VALUE.contains(&name.as_str()) {
                continue;
            }
            let elsewhere = [
                INSIDE_A_CALLBACK,
                BETWEEN_PROCESSES,
                OF_AN_EXECUTOR,
                REFUSED_ON_A_HOST,
                ON_NO_CHIP,
                TAKES_A_FILE,
            ]
            .iter()
            .any(|shown| shown.contains(&name.as_str()));
            if !works.contains(&name) && !elsewhere {
                problems.push(Problem::new(&name, "no case that works names it"));
            }
            // What answers with a code has to be seen to answer one; what answers with a value has a neutral one.
            let is_refused = match ret.as_str() {
                "aclError" | "aclnnStatus" | "HcclResult" => refused.with_code.contains(&name),
                _ => refused.named.contains(&name) || !takes_a_pointer(&function),
            };
            let refuses = !REFUSE_NOTHING.iter().any(|(other, _)| *other == name);
            if refuses && !is_refused {
                problems.push(Problem::new(&name, "no case that is refused names it"));
            }
        }
    }
    Ok(problems)
}

fn takes_a_pointer(function: &Function) -> bool {
    let parameters = function.params.as_deref().unwrap_or_default();
    parameters.iter().any(|parameter| parameter.contains('*'))
}

/// The functions that refused cases name.
#[derive(Default)]
struct RefusedFunctions {
    /// Those with an answer that is not 0.
    with_code: BTreeSet<String>,
    /// All of them.
    named: BTreeSet<String>,
}

/// The files of functions: those directly in api/, the list of errors excepted.
fn api_files(repository: &Repository) -> impl Iterator<Item = &File> {
    repository.files.iter().filter(|file| {
        let name = file.path.strip_prefix("api/").unwrap_or("/");
        name.ends_with(".toml") && !name.contains('/') && name != "errors.toml"
    })
}

fn named_by_cases(repository: &Repository) -> Result<(BTreeSet<String>, RefusedFunctions)> {
    const SETUPS: &str = "tests/behaviour/setups.toml";
    let setups: BTreeMap<String, Setup> = match repository.get(SETUPS) {
        Some(file) => toml::from_str(&file.text).context(SETUPS)?,
        None => BTreeMap::new(),
    };
    let (mut works, mut refused) = (BTreeSet::new(), RefusedFunctions::default());
    let tables = repository.files.iter().filter(|file| {
        file.path.starts_with("tests/behaviour/")
            && file.path.ends_with(".toml")
            && file.path != SETUPS
    });
    for file in tables {
        let cases: Cases = toml::from_str(&file.text).with_context(|| file.path.clone())?;
        for case in cases.case {
            let own = calls(&case.steps);
            if case.kind == "refused" {
                // The call that is refused is one of the case's own; its setup works.
                refused.with_code.extend(refused_calls(&case.steps));
                refused.named.extend(own);
            } else {
                works.extend(own);
            }
            for setup in case.setup.iter().filter_map(|name| setups.get(name)) {
                works.extend(calls(&setup.steps));
            }
        }
    }
    Ok((works, refused))
}

/// Returns the words that a parenthesis follows.
fn calls(steps: &str) -> BTreeSet<String> {
    words(steps)
        .filter(|(at, word)| steps[at + word.len()..].starts_with('('))
        .map(|(_, word)| word.to_string())
        .collect()
}

/// Returns the calls that return something other than 0.
fn refused_calls(steps: &str) -> BTreeSet<String> {
    let refused = steps.lines().filter(|line| {
        line.rsplit_once("->")
            .is_some_and(|(_, answer)| answer.trim() != "0")
    });
    refused.flat_map(calls).collect()
}

/// The page of environment variables, the table behind it and the sources name the same variables.
pub fn variables(repository: &Repository) -> Result<Vec<Problem>> {
    const PAGE: &str = "docs/environment.md";
    const TABLE: &str = "crates/jumar-cli/src/vars.rs";
    let page = repository
        .get(PAGE)
        .with_context(|| format!("{PAGE} is missing"))?;
    let on_page: BTreeSet<&str> = variable_names(&page.text).map(|(_, name)| name).collect();
    let mut problems = Vec::new();
    let mut read = BTreeSet::new();
    let sources = repository.rust().filter(|file| {
        file.path.starts_with("crates/")
            && file.path.contains("/src/")
            && !file.path.starts_with("crates/jumar-testkit/")
    });
    for file in
        sources.filter(|file| file.path != TABLE && !file.path.starts_with("crates/jumar-cli/"))
    {
        for (at, name) in variable_names(&file.text) {
            // Only names in code count: blanked text means that it stood in a comment or in a literal, so the quote is looked for.
            if !file.text[..at].ends_with('"') {
                continue;
            }
            read.insert(name);
            if !on_page.contains(name) {
                problems.push(Problem::new(
                    file.location(at),
                    format!("reads {name}, which is not in {TABLE}"),
                ));
            }
        }
    }
    if let Some(table) = repository.get(TABLE) {
        let what_is_read = table.text.split("pub const SET").next().unwrap_or("");
        for (at, name) in variable_names(what_is_read) {
            let listed = table.text[..at].ends_with("name: \"");
            if listed && !read.contains(name) {
                problems.push(Problem::new(
                    table.location(at),
                    format!("says that the runtime reads {name}, but nothing does"),
                ));
            }
        }
    }
    Ok(problems)
}

/// Finds words that look like one of our variables.
fn variable_names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    words(text).filter(|(_, word)| {
        (word.starts_with("JUMAR_") || word.starts_with("ASCEND_"))
            && !word.ends_with('_')
            && word
                .bytes()
                .all(|b| b == b'_' || b.is_ascii_uppercase() || b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(files: &[(&str, &str)]) -> Repository {
        Repository {
            files: files
                .iter()
                .map(|(path, text)| File::new(path, text.to_string()))
                .collect(),
        }
    }

    #[test]
    fn a_function_needs_a_case_of_each_kind_and_a_setup_counts_as_one_that_works() {
        let repository = repository(&[
            (
                "api/a.toml",
                "[aclA]\nret = \"aclError\"\nparams = [\"x: int\"]\n[aclB]\nret = \"aclError\"\nparams = [\"x: int\"]\n\
                 [aclC]\nret = \"aclError\"\nparams = []\nstatus = \"stub\"\n[aclD]\nret = \"int\"\nparams = []\n",
            ),
            (
                "tests/behaviour/setups.toml",
                "[b]\nsteps = 'aclB(1) -> 0'\n",
            ),
            (
                "tests/behaviour/a.toml",
                "[[case]]\nkind = \"works\"\nsetup = [\"b\"]\nsteps = '''\naclA(1) -> 0\naclD() -> 3\n'''\n\
                 [[case]]\nkind = \"refused\"\nsteps = '''\naclB(1) -> 0\naclA(2) -> 107000\n'''\n",
            ),
        ]);
        let problems = behaviour(&repository).unwrap();
        let found: Vec<String> = problems
            .iter()
            .map(|p| format!("{}: {}", p.location, p.text))
            .collect();
        assert_eq!(found, ["aclB: no case that is refused names it"]);
    }

    #[test]
    fn variables_are_compared_both_ways() {
        let repository = repository(&[
            ("docs/environment.md", "| `JUMAR_A` | `JUMAR_UNREAD` |"),
            (
                "crates/jumar-cli/src/vars.rs",
                "READ name: \"JUMAR_A\" name: \"JUMAR_UNREAD\"; pub const SET",
            ),
            (
                "crates/jumar/src/config.rs",
                "env(\"JUMAR_A\"); env(\"JUMAR_SECRET\"); // JUMAR_COMMENT",
            ),
        ]);
        let problems = variables(&repository).unwrap();
        assert_eq!(problems.len(), 2);
        assert!(
            problems[0].text.contains("JUMAR_SECRET") && problems[1].text.contains("JUMAR_UNREAD")
        );
    }
}
