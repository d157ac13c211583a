//! Events that several processes share.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Task;
use jumar_types::Result;

use super::Event;
use crate::gate::Op;
use crate::ipc_control_page::{BoardRecord, BoardWait, IpcControlPage};
use crate::{Caller, Stream};

impl Event {
    /// Records an event of several processes. The record has its number before it is queued, so that a wait from now
    /// on, in whatever process, waits for this one.
    pub(super) fn record_for_all(
        &self,
        board: &Arc<IpcControlPage>,
        stream: &Stream,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let record = board.begin();
        let op = || Op::Record {
            event: self.number,
            record: self.shared.next_record(),
        };
        let task = Task::Run(BoardRecord::record(board, record));
        // No wait may depend on a record that is never made.
        stream
            .queue_with(caller, task, [], op)
            .map(drop)
            .inspect_err(|_| board.reach(record))
    }

    pub(super) fn wait_for_all(
        &self,
        board: &Arc<IpcControlPage>,
        stream: &Stream,
        limit: Option<Duration>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let newest = board.newest();
        if newest == 0 || board.is_reached(newest) {
            return Ok(());
        }
        let wait = BoardWait::for_record(board, newest);
        let condition = wait.clone();
        let op = || Op::Wait {
            event: self.number,
            record: 0,
        };
        let task = Task::Until { condition, limit };
        stream
            .queue_with(caller, task, [Task::Run(wait)], op)
            .map(drop)
    }
}
