//! Known findings, which are not reported.

use std::collections::{BTreeMap, BTreeSet};

/// Fingerprints of known findings.
///
/// Lines are inserted in programs: a finding is known if rule, files and functions are those of a known one, wherever in the functions it
/// is. As many are known as there are fingerprints, so that a further mistake of the kind in the same functions is reported.
pub(super) struct Baseline {
    left: BTreeMap<String, usize>,
    /// What was known in this run: one source line may be reached in several ways.
    known: BTreeSet<String>,
}

impl Baseline {
    pub(super) fn new(fingerprints: &[String]) -> Baseline {
        // Several processes of a program record the same finding.
        let distinct: BTreeSet<&String> = fingerprints.iter().collect();
        let mut left = BTreeMap::new();
        for fingerprint in distinct {
            *left.entry(without_lines(fingerprint)).or_default() += 1;
        }
        Baseline {
            left,
            known: BTreeSet::new(),
        }
    }

    /// Returns whether a finding is known.
    pub(super) fn take(&mut self, fingerprint: &str) -> bool {
        if self.known.contains(fingerprint) {
            return true;
        }
        match self.left.get_mut(&without_lines(fingerprint)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                self.known.insert(fingerprint.to_owned());
                true
            }
            _ => false,
        }
    }
}

/// Returns a fingerprint without the numbers of lines in functions that have a name: `now app.c:15  main` is `now app.c  main`.
fn without_lines(fingerprint: &str) -> String {
    let part = |part: &str| {
        let (location, function) = part.split_once("  ")?;
        let (file, line) = location.rsplit_once(':')?;
        let is_line = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
        (is_line && !function.is_empty()).then(|| format!("{file}  {function}"))
    };
    let parts: Vec<String> = fingerprint
        .split('|')
        .map(|text| part(text).unwrap_or_else(|| text.to_owned()))
        .collect();
    parts.join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(fingerprints: &[&str]) -> Baseline {
        Baseline::new(
            &fingerprints
                .iter()
                .map(|one| (*one).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_finding_is_known_after_lines_were_inserted_above_it() {
        let known = "JMR-SYNC-007|now app.c:15  main|earlier app.c:11  main|made ";
        let mut known = baseline(&[known]);
        assert!(!known.take("JMR-SYNC-007|now app.c:15  other|earlier app.c:11  main|made "));
        assert!(!known.take("JMR-SYNC-008|now app.c:15  main|earlier app.c:11  main|made "));
        assert!(known.take("JMR-SYNC-007|now app.c:18  main|earlier app.c:14  main|made "));
    }

    #[test]
    fn a_further_mistake_of_a_known_kind_in_the_same_function_is_not_known() {
        let known = "JMR-SYNC-007|now app.c:15  main";
        let mut known = baseline(&[known, known]);
        assert!(known.take("JMR-SYNC-007|now app.c:15  main"));
        assert!(!known.take("JMR-SYNC-007|now app.c:30  main"));
        assert!(
            known.take("JMR-SYNC-007|now app.c:15  main"),
            "the same line, reached in another way"
        );
    }

    #[test]
    fn without_a_function_the_line_decides() {
        let mut known = baseline(&["JMR-MEM-008|made app.py:3"]);
        assert!(!known.take("JMR-MEM-008|made app.py:4"));
        assert!(known.take("JMR-MEM-008|made app.py:3"));
    }
}
