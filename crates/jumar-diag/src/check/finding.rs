//! What a check reports: a [`Finding`] with its lines, and the objects that they name.

use super::{Script, SourceLocation, here};

/// The program touched bytes that a pending copy needs.
#[derive(Clone, Debug)]
pub struct EarlyAccess {
    /// The copy.
    pub ticket: u64,
    /// The first byte that was touched.
    pub address: usize,
    /// Whether it was written.
    pub wrote: bool,
    /// The thread's stack, the innermost frame first: addresses behind calls.
    pub frames: Vec<usize>,
    /// Where its script was, if it was in one.
    pub script: Option<Script>,
}

/// One line of a finding.
#[derive(Clone, Debug)]
pub struct Line {
    /// What the line is: "now", "earlier", "made" and so on.
    pub label: &'static str,
    /// Where in the program.
    pub location: SourceLocation,
    /// What happened there.
    pub text: String,
}

/// Something that a program did wrong.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// What happened where, the newest first.
    pub lines: Vec<Line>,
    /// What is missing, if the rule is about something missing.
    pub missing: Option<String>,
    /// What to do, where it can be said better than by the rule.
    pub fix: Option<String>,
}

impl Finding {
    /// Creates a finding with its current event, at the source location of the current call.
    pub fn now(rule: &'static str, text: impl Into<String>) -> Finding {
        Finding {
            rule,
            lines: vec![Line {
                label: "now",
                location: here(),
                text: text.into(),
            }],
            missing: None,
            fix: None,
        }
    }

    /// Adds a line.
    #[must_use]
    pub fn and(
        mut self,
        label: &'static str,
        location: SourceLocation,
        text: impl Into<String>,
    ) -> Finding {
        self.lines.push(Line {
            label,
            location,
            text: text.into(),
        });
        self
    }

    /// Adds a missing step.
    #[must_use]
    pub fn missing(mut self, text: impl Into<String>) -> Finding {
        self.missing = Some(text.into());
        self
    }

    /// Adds the fix.
    #[must_use]
    pub fn fix(mut self, text: impl Into<String>) -> Finding {
        self.fix = Some(text.into());
        self
    }
}

/// An object of the program, alive or gone.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it is, for people: "stream", "event".
    pub kind: &'static str,
    /// Its number among its kind.
    pub number: u64,
    /// The call that made it.
    pub made_by: &'static str,
    /// Where.
    pub made: SourceLocation,
    /// The call that ended it, and where.
    pub ended: Option<(&'static str, SourceLocation)>,
    /// Something more that its rules need (a device, a size).
    pub note: u64,
    /// The device that it belongs to, if one is known.
    pub device: Option<u32>,
    /// A call that ends it is running on another thread, or on this one.
    pub is_ending: bool,
}

impl Object {
    /// Names the object.
    pub fn name(&self) -> String {
        format!("{}#{}", self.kind, self.number)
    }
}
