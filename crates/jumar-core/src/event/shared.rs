//! Events that several processes share.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Task;
use jumar_types::Result;

use super::Event;
use crate::gate::{Op, WaitEnd};
use crate::ipc_control_page::{ControlPageRecord, ControlPageWait, IpcControlPage};
use crate::{Caller, Stream};

impl Event {
    /// Records an event of several processes. The record has its number before it is queued, so that a wait from now
    /// on, in whatever process, waits for this one.
    pub(super) fn record_for_all(
        &self,
        control_page: &Arc<IpcControlPage>,
        stream: &Stream,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let record = control_page.begin();
        let op = || Op::Record {
            event: self.number,
            record: self.shared.next_record(),
        };
        let task = Task::Run(ControlPageRecord::record(control_page, record));
        // No wait may depend on a record that is never made.
        stream
            .queue_with(caller, task, [], op)
            .map(drop)
            .inspect_err(|_| control_page.reach(record))
    }

    pub(super) fn wait_for_all(
        &self,
        control_page: &Arc<IpcControlPage>,
        stream: &Stream,
        limit: Option<Duration>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let newest = control_page.newest();
        if newest == 0 || control_page.is_reached(newest) {
            return Ok(());
        }
        let wait = ControlPageWait::for_record(control_page, newest);
        let condition = wait.clone();
        let op = || Op::Wait {
            event: self.number,
            record: 0,
            ends: WaitEnd::Newest,
        };
        let task = Task::Until { condition, limit };
        stream
            .queue_with(caller, task, [Task::Run(wait)], op)
            .map(drop)
    }
}
