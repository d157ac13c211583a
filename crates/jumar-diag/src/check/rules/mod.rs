//! What a rule is. The rules themselves are data: `rules.toml` of this crate.

mod table;

pub use table::RULES;

/// What a program loses by breaking a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Wrong results, a crash, a hang, or a call that does nothing.
    Error,
    /// Waste, or an error on another day.
    Warning,
    /// Right here, and refused or wrong on other devices.
    Portability,
    /// Slow, or not as intended; reported on request.
    Lint,
}

impl Severity {
    /// Returns the name as it stands in the data.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Portability => "portability",
            Severity::Lint => "lint",
        }
    }
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its id, which never changes.
    pub id: &'static str,
    /// What breaking it costs.
    pub severity: Severity,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// The rule.
    pub statement: &'static str,
    /// The rule in Chinese.
    pub statement_zh: &'static str,
    /// What to do.
    pub fix: &'static str,
    /// What to do in a program that uses PyTorch; empty: the same.
    pub fix_pytorch: &'static str,
}

/// Reads a list of rules: ids or their beginnings, with commas between them, or `all`.
///
/// # Errors
/// The entry with which no rule's id begins.
pub fn list(text: &str) -> Result<Vec<String>, String> {
    let entry = |entry: &str| {
        let known = entry == "all" || RULES.iter().any(|rule| rule.id.starts_with(entry));
        match known && !entry.is_empty() {
            true => Ok(entry.to_owned()),
            false => Err(entry.to_owned()),
        }
    };
    text.split(',').map(|one| entry(one.trim())).collect()
}

/// Finds a rule by its id.
pub fn find(id: &str) -> Option<&'static Rule> {
    let at = RULES.binary_search_by(|rule| rule.id.cmp(id)).ok()?;
    RULES.get(at)
}
