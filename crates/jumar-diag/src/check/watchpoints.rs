//! Pinned memory that a queued copy needs, and what the program did to it meanwhile.
//!
//! The memory's owner takes the program's access away and notes each touch ([`super::Memory`]); here stands which copy it was for,
//! and how it is reported. A touch inside a call of the interface, or inside a function that the runtime calls in stream order, is
//! judged elsewhere and dropped here. If the host may block the stream (a wait for a record that is not queued yet, a function of
//! the program in a queue), the host may be meant to touch the memory first, and nothing is guarded.

use std::sync::Arc;

use jumar_core::{Admission, Op, Phase, Span};

use super::deadlock::For;
use super::race::{OpContext, Races};
use super::source_location::{Stack, own_range};
use super::{Check, EarlyAccess, Finding, Line, Memory, Script, SourceLocation, State};

/// A range that a pending copy needs.
pub(super) struct GuardedRange {
    pub(super) ticket: u64,
    pub(super) span: Span,
    pub(super) stream: u32,
    writes: bool,
    location: SourceLocation,
    call: &'static str,
}

/// The maximum number of guarded rows or pieces of one copy.
const MOST_PIECES: usize = 64;
/// The maximum number of guarded ranges.
const MOST_GUARDED: usize = 512;

impl Races {
    pub(super) fn guards_any(&self) -> bool {
        !self.guarded.is_empty()
    }

    /// Guards what a copy on a stream needs of pinned memory.
    pub(super) fn guard(
        &mut self,
        admission: &Admission<'_>,
        context: &OpContext<'_>,
        memory: &dyn Memory,
    ) {
        let Some(stream) = admission.stream else {
            return;
        };
        if admission.inner
            || self.callbacks.may_run()
            || self.is_blind(stream)
            || self.is_held_back()
        {
            return;
        }
        let mut add = |span: Span, writes: bool| {
            let pinned = self
                .region(span.address())
                .is_some_and(|region| region.allocation.device.is_none());
            if !pinned || self.guarded.len() >= MOST_GUARDED {
                return;
            }
            context.interest.found(admission.ticket);
            self.guarded.push(GuardedRange {
                ticket: admission.ticket,
                span,
                stream,
                writes,
                location: context.location,
                call: admission.call,
            });
            memory.guard(admission.ticket, span, writes);
        };
        match &admission.op {
            Op::Copy { to, from, .. } => {
                add(*from, false);
                add(*to, true);
            }
            Op::CopyRows { to, from, .. } => {
                from.iter()
                    .take(MOST_PIECES)
                    .for_each(|row| add(row, false));
                to.iter().take(MOST_PIECES).for_each(|row| add(row, true));
            }
            Op::CopyBatch { pieces, .. } => {
                for (to, from) in pieces.iter().take(MOST_PIECES) {
                    add(*from, false);
                    add(*to, true);
                }
            }
            _ => {}
        }
    }

    fn is_blind(&self, stream: u32) -> bool {
        let actor = self.order.known_stream(stream);
        actor.is_some_and(|actor| self.order.actors[actor].blind)
    }

    /// Returns whether a stream waits for something that only the host can bring about, as far as is known.
    fn is_held_back(&self) -> bool {
        let deadlock = &self.deadlock;
        deadlock.waits.values().any(|wait| match wait.what {
            For::Record(number) => !deadlock.records.values().any(|(_, of, _)| *of == number),
            For::Value(_) | For::Callback => true,
        })
    }

    /// Classifies a touch; `None` if it is not a known mistake.
    fn touched(&self, touch: &EarlyAccess, location: SourceLocation) -> Option<Finding> {
        let guarded = self.guarded.iter().find(|guarded| {
            guarded.ticket == touch.ticket && guarded.span.contains(touch.address)
        })?;
        let allocation = &self.region(touch.address)?.allocation;
        let (name, start) = (allocation.name(), allocation.start);
        let does = |writes: bool| if writes { "writes" } else { "reads" };
        let range = format!(
            "{name} +{}..{}",
            guarded.span.address() - start,
            guarded.span.end() - start
        );
        let rule = match guarded.writes {
            true => "JMR-SYNC-004",
            false => "JMR-SYNC-003",
        };
        let line = |label, location, text| Line {
            label,
            location,
            text,
        };
        let offset = touch.address - start;
        Some(Finding {
            rule,
            lines: vec![
                line(
                    "now",
                    location,
                    format!("the host {} {name} +{offset}", does(touch.wrote)),
                ),
                line(
                    "earlier",
                    guarded.location,
                    format!(
                        "task {} on stream#{}, which has not run, {} {range}",
                        guarded.ticket,
                        guarded.stream,
                        does(guarded.writes)
                    ),
                ),
                line("made", allocation.made, name.clone()),
            ],
            missing: Some(format!(
                "a synchronise of stream#{} between {} and this",
                guarded.stream, guarded.call
            )),
            fix: None,
        })
    }
}

impl Check {
    /// Returns the memory where pages are guarded.
    pub(super) fn guarding(&self) -> Option<Arc<dyn Memory>> {
        match self.options.protect {
            true => self.memory.lock().clone(),
            false => None,
        }
    }

    /// Hears that an operation began or ended.
    #[cold]
    pub(super) fn hear_guards(&self, state: &mut State, ticket: u64, phase: &Phase) {
        let memory = self.guarding();
        let Some(memory) = memory.as_deref() else {
            return;
        };
        if let Phase::Started = phase {
            return self.report_touches_of(state, memory);
        }
        self.release_guards(state, Some(memory), |guarded| guarded.ticket == ticket);
        // What was thrown away is never reported.
        if let (Some(stream), Phase::Finished) = (state.races.waited(ticket), phase) {
            self.release_guards(state, Some(memory), |guarded| {
                let of_it = stream.is_none_or(|stream| stream == guarded.stream);
                of_it && guarded.ticket < ticket
            });
        }
    }

    /// Returns what the program touched.
    pub(super) fn report_touches(&self) {
        if let Some(memory) = self.guarding() {
            self.report_touches_of(&mut self.state(), memory.as_ref());
        }
    }

    fn report_touches_of(&self, state: &mut State, memory: &dyn Memory) {
        for touch in memory.touches() {
            let own = own_range();
            if touch
                .frames
                .iter()
                .any(|frame| (own.0..own.1).contains(frame))
            {
                continue;
            }
            let stack = Stack::of(&touch.frames, touch.script.clone());
            let location = state.locations.intern("", stack);
            let found = state.races.touched(&touch, location);
            if found.is_some() {
                // The bytes would say the same again when the copy starts.
                state.races.drop_sample(touch.ticket, &self.interest);
            }
            self.report_all(state, found.into_iter().collect());
        }
    }

    /// Ends the guard of some ranges, after touches there have been reported.
    pub(super) fn release_guards(
        &self,
        state: &mut State,
        memory: Option<&dyn Memory>,
        of: impl Fn(&GuardedRange) -> bool,
    ) {
        let Some(memory) = memory else {
            return;
        };
        if !state.races.guarded.iter().any(&of) {
            return;
        }
        self.report_touches_of(state, memory);
        let gone = state.races.guarded.extract_if(.., |guarded| of(guarded));
        for guarded in gone {
            memory.release(guarded.ticket);
            self.interest.lost(guarded.ticket);
        }
    }
}

impl Script {
    /// Finds the program's innermost frame in what Python's fault handler writes of a stack: `  File "a.py", line 3 in main`. Frames of
    /// packages and of the interpreter's library are left out; where there are no others, it is the innermost one.
    #[must_use]
    pub fn of_dump(text: &str) -> Option<Script> {
        const OTHERS: [&str; 4] = [
            "/site-packages/",
            "/dist-packages/",
            "/lib/python",
            "<frozen",
        ];
        let frames = || text.lines().filter_map(Script::of_frame);
        let is_own = |frame: &Script| !OTHERS.iter().any(|part| frame.file.contains(part));
        frames().find(is_own).or_else(|| frames().next())
    }

    fn of_frame(line: &str) -> Option<Script> {
        let rest = line.trim_start().strip_prefix("File \"")?;
        let (file, rest) = rest.rsplit_once("\", line ")?;
        let (line, function) = rest.split_once(" in ")?;
        Some(Script {
            file: file.into(),
            line: line.parse().ok()?,
            function: function.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_line_of_a_python_stack_is_read() {
        let text = "Stack (most recent call first):\n  File \"/a b/c.py\", line 12 in fill\n  File \"/d.py\", line 3 in <module>\n";
        let script = Script::of_dump(text).expect("a line");
        assert_eq!((&*script.file, script.line), ("/a b/c.py", 12));
        assert_eq!(&*script.function, "fill");
        assert_eq!(Script::of_dump("Stack (most recent call first):\n"), None);
    }
    const PACKAGES: &str = r#"Stack (most recent call first):
  File "/usr/lib/python3.11/ctypes/__init__.py", line 517 in string_at
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 125 in forward
"#;

    #[test]
    fn the_innermost_frame_of_the_program_is_found_behind_those_of_packages() {
        let text = format!(
            "{PACKAGES}  File \"/src/my \", line app.py\", line 12 in <lambda>\n  File \"/src/app.py\", line 3 in <module>\n"
        );
        let found = Script::of_dump(&text).expect("there is a frame of the program");
        assert_eq!(&*found.file, "/src/my \", line app.py");
        assert_eq!((found.line, &*found.function), (12, "<lambda>"));
    }

    #[test]
    fn where_only_packages_run_the_innermost_frame_is_named() {
        let found = Script::of_dump(PACKAGES).expect("there is a frame");
        assert_eq!((found.line, &*found.function), (517, "string_at"));
        assert!(
            Script::of_dump("Stack (most recent call first):\n  <no Python frame>\n").is_none()
        );
    }
}
