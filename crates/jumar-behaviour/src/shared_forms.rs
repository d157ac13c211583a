//! The cases of notifies and events once more, with objects that processes share.
//!
//! A rule of a notify holds whether it is exported or not, at whatever moment it is exported, and for the process that imports it; a rule
//! of an event of the extended family holds for one that is made for several processes as well. So each case that makes such an object
//! is played in further forms, which are derived from its steps:
//!
//! | form | |
//! |---|---|
//! | `exported` | each notify is exported as soon as it is made; an event is made for several processes, and its handle is taken |
//! | `exported_after_<n>` | a notify is exported after the n-th record or wait of it was queued |
//! | `imported` | notifies and events are those of another process, which does nothing with them |

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use jumar_testkit::api::Api;
use jumar_testkit::language::{self, Action, Call, Expr, Step};
use jumar_testkit::table::Case;

use crate::case_runner::player;
use crate::raw;
use crate::raw_args::RawArgs;

/// What an event of several processes cannot do, though another one of its family can.
const NOT_FOR_SHARED_EVENTS: [(&str, &str); 6] = [
    ("aclmdlRICaptureBegin", "it is refused in captures"),
    (
        "aclrtRecordEventWithFlag",
        "external records are for captures",
    ),
    (
        "aclrtStreamWaitEventWithFlag",
        "external waits are for captures",
    ),
    ("aclrtEventElapsedTime", "it has no time"),
    ("aclrtEventGetTimestamp", "it has no time"),
    ("aclrtGetEventId", "it has no id"),
];
/// The length of a notify's key with its end.
const KEY_BYTES: usize = 65;

/// A form of a case, and how many notifies and events of another process it needs.
pub struct SharedForm<'a> {
    case: Case,
    api: &'a Api,
    others: Vec<SharedKind>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SharedKind {
    Notify,
    Event,
}

/// Returns what a step makes, and the name of the variable.
fn made(step: &Step) -> Option<(SharedKind, &str)> {
    let Action::Call(call) = &step.action else {
        return None;
    };
    let succeeds = call.answer == Some(Expr::Number(0)) && step.thread <= 1;
    match (call.function.as_str(), call.args.as_slice()) {
        ("aclrtCreateNotify", [Expr::Out(name), _]) if succeeds => Some((SharedKind::Notify, name)),
        ("aclrtCreateEventExWithFlag", [Expr::Out(name), Expr::Name(flag)])
            if succeeds && flag == "ACL_EVENT_SYNC" =>
        {
            Some((SharedKind::Event, name))
        }
        _ => None,
    }
}

/// Returns what a step makes that processes can share.
fn shared(step: &Step, is_for_events: bool) -> Option<(SharedKind, &str)> {
    made(step).filter(|(made, _)| *made == SharedKind::Notify || is_for_events)
}

/// Returns the notify of which a step queues a record or a wait.
fn queued(step: &Step) -> Option<&str> {
    match &step.action {
        Action::Call(Call {
            function,
            args,
            answer: Some(Expr::Number(0)),
            ..
        }) => match (function.as_str(), args.first()) {
            ("aclrtRecordNotify" | "aclrtWaitAndResetNotify", Some(Expr::Name(name))) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

fn export(name: &str) -> Result<Vec<Step>> {
    let text = format!(
        "exported_key = host({KEY_BYTES})\naclrtNotifyGetExportKey({name}, exported_key, {KEY_BYTES}, 0) -> 0"
    );
    Ok(language::steps(&text)?)
}

/// Derives the forms of a case that need no other process, and those that do.
///
/// # Errors
/// A step cannot be derived.
pub fn derive<'a>(case: &Case, api: &'a Api) -> Result<Vec<SharedForm<'a>>> {
    let is_for_events = NOT_FOR_SHARED_EVENTS
        .iter()
        .all(|(function, _)| !case.functions().contains(function));
    let others: Vec<SharedKind> = case
        .steps
        .iter()
        .filter_map(|step| Some(shared(step, is_for_events)?.0))
        .collect();
    // A case about exports states its own, and only the process that made a notify exports it.
    let exports = case.functions().contains("aclrtNotifyGetExportKey");
    if others.is_empty() || exports || !case.is_for("rust") {
        return Ok(Vec::new());
    }
    let mut forms = Vec::new();
    let mut add = |form: &str, steps: Vec<Step>, others: Vec<SharedKind>| -> Result<()> {
        let case = case.with_steps(format!("{}@{form}", case.id), steps, api)?;
        forms.push(SharedForm { case, api, others });
        Ok(())
    };
    let mut steps = Vec::new();
    for step in &case.steps {
        match shared(step, is_for_events) {
            Some((SharedKind::Notify, name)) => {
                steps.push(step.clone());
                steps.extend(export(name)?);
            }
            Some((SharedKind::Event, name)) => steps.extend(language::steps(&format!(
                "aclrtCreateEventExWithFlag(&{name}, ACL_EVENT_IPC) -> 0\nvar handle_of_{name}: aclrtIpcEventHandle\n\
                 aclrtIpcGetEventHandle({name}, &handle_of_{name}) -> 0"
            ))?),
            None => steps.push(step.clone()),
        }
    }
    add("exported", steps, Vec::new())?;
    let notifies: Vec<&str> = case
        .steps
        .iter()
        .filter_map(|step| shared(step, is_for_events).filter(|made| made.0 == SharedKind::Notify))
        .map(|(_, name)| name)
        .collect();
    let uses = |step: &Step| queued(step).is_some_and(|name| notifies.contains(&name));
    let moments: Vec<usize> = (0..case.steps.len())
        .filter(|at| uses(&case.steps[*at]))
        .collect();
    for (count, at) in moments.iter().enumerate() {
        let mut steps = case.steps.clone();
        let name = queued(&case.steps[*at]).unwrap_or_default();
        steps.splice(at + 1..at + 1, export(name)?);
        add(&format!("exported_after_{}", count + 1), steps, Vec::new())?;
    }
    add("imported", case.steps.clone(), others)?;
    Ok(forms)
}

impl SharedForm<'_> {
    /// Returns the case's id with the form's name.
    pub fn id(&self) -> &str {
        &self.case.id
    }

    /// Calls a function with the case, while the process that it imports from runs, if it imports.
    ///
    /// # Errors
    /// That process cannot be started, or what the function answers.
    pub fn with<T>(&self, driver: &Path, play: impl FnOnce(&Case) -> Result<T>) -> Result<T> {
        if self.others.is_empty() {
            return play(&self.case);
        }
        let mut owner = Command::new(driver)
            .arg("--owner")
            .args(self.others.iter().map(|made| made.name()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| driver.display().to_string())?;
        let case = self.imported(&mut owner);
        let answer = case.and_then(|case| play(&case));
        drop(owner.stdin.take());
        owner.wait()?;
        answer
    }

    /// Puts an import in place of each creation.
    fn imported(&self, owner: &mut Child) -> Result<Case> {
        let output = owner
            .stdout
            .take()
            .context("the output of the other process")?;
        let mut keys = BufReader::new(output).lines();
        let mut steps = Vec::new();
        let mut left = self.others.as_slice();
        for step in &self.case.steps {
            let made = made(step).filter(|(made, _)| left.first() == Some(made));
            let Some((made, name)) = made else {
                steps.push(step.clone());
                continue;
            };
            left = &left[1..];
            let key = keys.next().context("the other process ended")??;
            let text = match made {
                SharedKind::Notify => format!("aclrtNotifyImportByKey(&{name}, \"{key}\", 0) -> 0"),
                SharedKind::Event => {
                    let bytes = key.split(' ').enumerate();
                    let mut text = format!("var handle_of_{name}: aclrtIpcEventHandle\n");
                    for (at, byte) in bytes.filter(|(_, byte)| *byte != "0") {
                        text += &format!("set handle_of_{name}.reserved[{at}] = {byte}\n");
                    }
                    text + &format!("aclrtIpcOpenEventHandle(handle_of_{name}, &{name}) -> 0")
                }
            };
            steps.extend(language::steps(&text)?);
        }
        ensure!(left.is_empty(), "objects were left over");
        self.case.with_steps(self.case.id.clone(), steps, self.api)
    }
}

impl SharedKind {
    fn name(self) -> &'static str {
        match self {
            SharedKind::Notify => "notify",
            SharedKind::Event => "event",
        }
    }
}

/// Makes notifies and events, prints their keys, and ends when its standard input does: the other process of the form `imported`.
///
/// # Errors
/// What cannot be made.
pub fn own(made: &[String]) -> Result<()> {
    const DEVICE: u64 = 0;
    const ANY_PROCESS: u64 = 2;
    const EVENT_IPC: u64 = 0x40;
    const HANDLE_BYTES: usize = 64;
    call("aclrtSetDevice", &[DEVICE])?;
    for what in made {
        let object = raw::keep(size_of::<u64>(), false);
        let key = raw::keep(KEY_BYTES, false);
        let made =
            |object: usize| u64::from_ne_bytes(raw::read(object, 8).try_into().unwrap_or_default());
        let key = match what.as_str() {
            "notify" => {
                call("aclrtCreateNotify", &[object as u64, 0])?;
                let words = [made(object), key as u64, KEY_BYTES as u64, ANY_PROCESS];
                call("aclrtNotifyGetExportKey", &words)?;
                raw::text(key).unwrap_or_default().into_string()?
            }
            _ => {
                call("aclrtCreateEventExWithFlag", &[object as u64, EVENT_IPC])?;
                call("aclrtIpcGetEventHandle", &[made(object), key as u64])?;
                let bytes = raw::read(key, HANDLE_BYTES);
                let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
                bytes.join(" ")
            }
        };
        writeln!(std::io::stdout(), "{key}")?;
    }
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn call(function: &str, words: &[u64]) -> Result<()> {
    let player = player(function).context("a function without a player")?;
    match player(&RawArgs(words)) {
        Ok(0) => Ok(()),
        Ok(code) => anyhow::bail!("{function} answered {code}"),
        Err(_) => anyhow::bail!("{function} cannot be called"),
    }
}
