//! Events in captures and captured models.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::{Task, WaitThen};
use jumar_types::{Error, ErrorKind, Result};

use super::{Event, EventFamily, State, flags};
use crate::capture::{EventAction, EventTask, Recorder, Taken};
use crate::{Caller, Stream};

impl Event {
    pub(super) fn task(&self, flag: u32) -> EventTask {
        EventTask {
            event: self.id,
            number: self.number,
            event_flags: self.flags,
            flag,
        }
    }

    #[cold]
    pub(super) fn not_in_model(&self, stream: &Stream) -> Error {
        Error::new(
            ErrorKind::FeatureUnsupported,
            format!(
                "event {} is of a kind that stream {}, whose tasks are recorded for a model, cannot use",
                self.number,
                stream.number()
            ),
        )
        .fix("In a capture use events of aclrtCreateEventExWithFlag or ACL_EVENT_EXTERNAL; on bound streams notifies, or events made with ACL_EVENT_SYNC.")
    }

    /// Records the event on a stream that is being recorded; false when the recording has ended in the meantime.
    #[cold]
    pub(super) fn record_in_model(
        &self,
        state: &mut State,
        recorder: &Recorder,
        stream: &Stream,
        caller: &Caller<'_>,
    ) -> Result<bool> {
        let captured = recorder.capture().is_some();
        let external = self.flags & flags::EXTERNAL != 0;
        let action = match self.family {
            EventFamily::Ex if captured && self.flags & flags::IPC == 0 => EventAction::Inside,
            EventFamily::Classic if self.is_level() && (external || !captured) => {
                EventAction::Plain(Task::Set(self.level.clone()))
            }
            EventFamily::Ex | EventFamily::Classic | EventFamily::Default => {
                return Err(self.not_in_model(stream));
            }
        };
        match recorder.record_event(action, self.task(0), caller)? {
            Taken::Marked(mark) => state.mark = Some(mark),
            Taken::Recorded => state.in_model = !captured,
            Taken::NotRecording => return Ok(false),
        }
        Ok(true)
    }

    /// Records a wait on a stream that is being recorded; false when the recording has ended in the meantime.
    #[cold]
    pub(super) fn wait_in_model(
        &self,
        state: &State,
        recorder: &Recorder,
        stream: &Stream,
        limit: Option<Duration>,
        caller: &Caller<'_>,
    ) -> Result<bool> {
        let external = self.flags & flags::EXTERNAL != 0;
        let level = || {
            EventAction::Plain(Task::Wait {
                signal: self.level.clone(),
                then: WaitThen::Keep,
                limit,
            })
        };
        let (action, mark) = match (self.family, recorder.capture()) {
            (EventFamily::Classic, Some(_)) if external => (level(), None),
            (EventFamily::Classic, None) if self.is_level() => (level(), None),
            (EventFamily::Ex, Some(graph)) if self.flags & flags::IPC == 0 => {
                let refused = match &state.mark {
                    Some(mark) => match mark.open() {
                        Some(other) if Arc::ptr_eq(&other, graph) => None,
                        Some(other) => Some(Error::new(
                            ErrorKind::CaptureConflict,
                            format!(
                                "event {} was recorded in the capture of model {}, and stream {} is captured into model {}",
                                self.number,
                                other.number(),
                                stream.number(),
                                graph.number()
                            ),
                        )),
                        None => Some(self.recorded_elsewhere("in a capture that has ended")),
                    },
                    None if state.newest.is_some() => {
                        Some(self.recorded_elsewhere("outside of the capture"))
                    }
                    None => None,
                };
                if let Some(error) = refused {
                    graph.invalidate(&error);
                    return Err(error);
                }
                (EventAction::Inside, state.mark.as_ref())
            }
            (EventFamily::Ex | EventFamily::Classic | EventFamily::Default, _) => {
                return Err(self.not_in_model(stream));
            }
        };
        let taken = recorder.wait_for_event(action, mark, self.task(0), caller)?;
        Ok(!matches!(taken, Taken::NotRecording))
    }

    fn recorded_elsewhere(&self, elsewhere: &str) -> Error {
        Error::new(
            ErrorKind::CaptureDependency,
            format!(
                "event {} was recorded {elsewhere}, and a captured stream cannot wait for that",
                self.number
            ),
        )
    }

    /// Fixes the flag of the event's records (`record`) or waits, and refuses another one than the first.
    pub(super) fn fix_flag(&self, record: bool, flag: u32) -> Result<()> {
        let mut state = self.state();
        let (fixed, what) = match record {
            true => (&mut state.record_flag, "records"),
            false => (&mut state.wait_flag, "waits"),
        };
        let first = *fixed.get_or_insert(flag);
        if first != flag {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "the {what} of event {} have flag {first}, fixed by the first of them, and this one has {flag}",
                    self.number
                ),
            )
            .fix("Use an event for external records and waits, and another one for ordinary ones."));
        }
        Ok(())
    }

    /// Returns the recorder of a stream on which the event may order the capture with the outside.
    pub(super) fn external_on(&self, stream: &Stream) -> Result<Recorder> {
        if self.family != EventFamily::Ex || self.flags != flags::SYNC {
            return Err(Error::new(
                ErrorKind::FeatureUnsupported,
                format!(
                    "event {} was made with flags {:#x}; external records and waits take events of the extended (Ex) family made with SYNC alone",
                    self.number, self.flags
                ),
            ));
        }
        stream
            .recorder()
            .filter(|recorder| recorder.capture().is_some_and(|graph| graph.is_capturing()))
            .ok_or_else(|| stream.not_captured())
    }
}
