//! Snapshots of the process. The state of a software device is memory of the process itself, so that the tool that takes the snapshot
//! saves with everything else: this module completes the work, delays new work, and calls the program's
//! functions.

use std::time::Duration;

use jumar::engine::sync::{AtomicBool, Condvar, Mutex, Ordering};
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::hooks::SnapshotHook;
use crate::{Cx, refuse};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SnapshotState {
    #[default]
    Running,
    Locked,
    BackedUp,
}

/// How far the process's snapshot is.
#[derive(Default)]
pub struct State {
    stage: Mutex<SnapshotState>,
    /// Whether work is delayed; read without the lock.
    held: AtomicBool,
    unlocked: Condvar,
}

impl State {
    /// Waits while work is delayed.
    #[inline]
    pub(crate) fn pass(&self) {
        if self.held.load(Ordering::Acquire) {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        let mut stage = self.stage.lock();
        while *stage != SnapshotState::Running {
            stage = self.unlocked.wait(stage);
        }
    }

    /// Ends a lock, at the end of the runtime's use: no call of the program would end it any more.
    pub(crate) fn reset(&self) {
        self.set(SnapshotState::Running);
    }

    fn set(&self, stage: SnapshotState) {
        *self.stage.lock() = stage;
        self.held
            .store(stage != SnapshotState::Running, Ordering::Release);
        self.unlocked.notify_all();
    }
}

/// How long queued work may take to end.
const PATIENCE: Duration = Duration::from_secs(60);

fn own(pid: i32) -> Result<()> {
    let this = std::process::id();
    if i64::from(pid) == i64::from(this) {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!(
            "pid is {pid}; it must be {this}, because a process can only prepare a snapshot of itself"
        ),
    )
}

fn reserved(reserve: usize) -> Result<()> {
    if reserve == 0 {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        "the second argument is reserved and has to be null",
    )
}

/// Calls the functions of a stage for each device that is open.
fn notify(cx: &Cx<'_>, stage: u32) -> Result<()> {
    let runtime = cx.runtime()?;
    for function in cx.process.hooks.snapshot.of(stage) {
        for number in 0..runtime.device_count() {
            if runtime.device(i64::from(number))?.primary().is_none() {
                continue;
            }
            let answer = function(number as i32);
            if answer != 0 {
                return refuse(
                    ErrorKind::SnapshotCallback,
                    format!(
                        "a function registered for stage {stage} returned {answer} for device {number}; it must return 0"
                    ),
                );
            }
        }
    }
    Ok(())
}

fn expect(cx: &Cx<'_>, wanted: &[SnapshotState], kind: ErrorKind) -> Result<()> {
    let stage = *cx.process.snapshot.stage.lock();
    if wanted.contains(&stage) {
        return Ok(());
    }
    let is = match stage {
        SnapshotState::Running => "runs freely",
        SnapshotState::Locked => "is locked",
        SnapshotState::BackedUp => "is backed up",
    };
    refuse(kind, format!("the process {is}"))
}

pub fn aclrtSnapShotProcessLock(cx: &Cx<'_>, pid: i32, reserve: usize) -> Result<()> {
    own(pid)?;
    reserved(reserve)?;
    expect(cx, &[SnapshotState::Running], ErrorKind::SnapshotLock)?;
    notify(cx, enums::ACL_RT_SNAPSHOT_LOCK_PRE)?;
    let state = &cx.process.snapshot;
    state.set(SnapshotState::Locked);
    if cx.runtime()?.idle_within(PATIENCE) {
        return Ok(());
    }
    state.set(SnapshotState::Running);
    refuse(
        ErrorKind::SnapshotLockTimeout,
        format!(
            "a stream still had work after {} seconds",
            PATIENCE.as_secs()
        ),
    )
}

pub fn aclrtSnapShotProcessUnlock(cx: &Cx<'_>, pid: i32, reserve: usize) -> Result<()> {
    own(pid)?;
    reserved(reserve)?;
    expect(
        cx,
        &[SnapshotState::Locked, SnapshotState::BackedUp],
        ErrorKind::SnapshotUnlock,
    )?;
    cx.process.snapshot.set(SnapshotState::Running);
    notify(cx, enums::ACL_RT_SNAPSHOT_UNLOCK_POST)
}

pub fn aclrtSnapShotProcessBackup(
    cx: &Cx<'_>,
    pid: i32,
    args: Option<&types::aclrtSnapShotBackupArgs>,
) -> Result<()> {
    own(pid)?;
    reserved(usize::from(args.is_some()))?;
    expect(cx, &[SnapshotState::Locked], ErrorKind::SnapshotBackup)?;
    notify(cx, enums::ACL_RT_SNAPSHOT_BACKUP_PRE)?;
    cx.process.snapshot.set(SnapshotState::BackedUp);
    notify(cx, enums::ACL_RT_SNAPSHOT_BACKUP_POST)
}

pub fn aclrtSnapShotProcessRestore(
    cx: &Cx<'_>,
    pid: i32,
    args: Option<&types::aclrtSnapShotRestoreArgs>,
) -> Result<()> {
    own(pid)?;
    reserved(usize::from(args.is_some()))?;
    expect(cx, &[SnapshotState::BackedUp], ErrorKind::SnapshotRestore)?;
    notify(cx, enums::ACL_RT_SNAPSHOT_RESTORE_PRE)?;
    cx.process.snapshot.set(SnapshotState::Locked);
    notify(cx, enums::ACL_RT_SNAPSHOT_RESTORE_POST)
}

fn value<T>(sentence: String) -> Result<T> {
    refuse(ErrorKind::InvalidValue, sentence)
}

fn check_stage(stage: u32) -> Result<()> {
    if stage <= enums::ACL_RT_SNAPSHOT_UNLOCK_POST {
        return Ok(());
    }
    value(crate::not_a_value("aclrtSnapShotStage", stage))
}

pub fn aclrtSnapShotCallbackRegister(
    cx: &Cx<'_>,
    stage: u32,
    function: Option<(usize, SnapshotHook)>,
) -> Result<()> {
    check_stage(stage)?;
    let Some((address, function)) = function else {
        return Err(null_function());
    };
    let twice = |of, at| of == stage && at == address;
    if cx
        .process
        .hooks
        .snapshot
        .add(stage, address, function, twice)
    {
        return Ok(());
    }
    refuse(
        ErrorKind::SnapshotRegister,
        format!("the function is registered for stage {stage} already"),
    )
}

pub fn aclrtSnapShotCallbackUnregister(cx: &Cx<'_>, stage: u32, address: usize) -> Result<()> {
    check_stage(stage)?;
    if address == 0 {
        return Err(null_function());
    }
    if cx.process.hooks.snapshot.remove(stage, address) {
        return Ok(());
    }
    value(format!("the function is not registered for stage {stage}"))
}

fn null_function() -> Error {
    Error::new(ErrorKind::InvalidValue, null("callback").sentence())
}
