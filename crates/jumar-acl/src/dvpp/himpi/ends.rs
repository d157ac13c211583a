//! Events behind the tasks of a channel, while probes watch. They show the probes that the host waits for a task when it fetches the
//! result.

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{Context, Event, EventFamily, Stream, event_flags};
use jumar_types::Result;

use crate::Cx;

/// The events behind tasks whose results were not fetched, by the number of the task.
#[derive(Default)]
pub(super) struct Ends(Mutex<BTreeMap<u32, Arc<Event>>>);

impl Ends {
    /// Queues a task by `launch` and, while probes watch, an event behind it.
    ///
    /// # Errors
    /// Those of `launch`, and of creating the event.
    pub(super) fn queue(
        &self,
        cx: &Cx<'_>,
        (context, stream): (&Arc<Context>, &Stream),
        number: u32,
        launch: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        if !cx.runtime()?.gate().is_observed() {
            return launch();
        }
        // Another thread may fetch the result as soon as the task is queued: it waits here for the event.
        let mut events = self.0.lock();
        launch()?;
        let end = context.create_event(EventFamily::Default, event_flags::CAPTURE_PROGRESS)?;
        end.record(stream, &cx.caller())?;
        events.insert(number, end);
        Ok(())
    }

    /// Shows the probes that the host has waited for a task. The task has ended.
    ///
    /// # Errors
    /// The device was reset.
    pub(super) fn show(&self, cx: &Cx<'_>, number: u32) -> Result<()> {
        let end = self.0.lock().remove(&number);
        let Some(end) = end else { return Ok(()) };
        end.synchronize(None, &cx.caller())?;
        end.destroy(&cx.caller())
    }

    /// Waits for the tasks whose ends the probes have not seen.
    pub(super) fn show_all(&self, cx: &Cx<'_>) {
        let tasks: Vec<u32> = self.0.lock().keys().copied().collect();
        for task in tasks {
            // An error says that the device was reset: no task uses its memory any more.
            let _ = self.show(cx, task);
        }
    }
}
