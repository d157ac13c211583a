//! What the output of cargo's and pytest's tests says in one line.

#[derive(Default)]
pub(super) struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub ignored: u64,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tests", self.passed)?;
        if self.failed > 0 {
            write!(f, ", {} failed", self.failed)?;
        }
        if self.ignored > 0 {
            write!(f, ", {} ignored", self.ignored)?;
        }
        Ok(())
    }
}

/// Adds up the `test result:` lines.
pub(super) fn count_cargo_tests(log: &str) -> Counts {
    let mut counts = Counts::default();
    for line in log
        .lines()
        .filter_map(|line| line.strip_prefix("test result: "))
    {
        let words: Vec<&str> = line
            .split([' ', ';', '.'])
            .filter(|word| !word.is_empty())
            .collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u64>() else {
                continue;
            };
            match pair[1] {
                "passed" => counts.passed += number,
                "failed" => counts.failed += number,
                "ignored" => counts.ignored += number,
                _ => {}
            }
        }
    }
    counts
}

/// Returns whether a summary of pytest counts a test that passed. A step in which every test was skipped has shown nothing.
pub(super) fn passed_any(summary: &str) -> bool {
    summary
        .split(", ")
        .any(|part| part.contains(" passed") && !part.starts_with("0 "))
}

/// Returns the first reason that pytest lists for a test that it skipped: `SKIPPED [7] tests/page/test_page.py:59: no browser`.
pub(super) fn skip_reason(log: &str) -> &str {
    let line = log.lines().find_map(|line| line.strip_prefix("SKIPPED ["));
    let reason = line.and_then(|line| line.split_once(": "));
    reason.map_or("it does not say why", |(_, reason)| reason)
}

/// Returns pytest's last line without its decoration: `12 passed, 1 skipped in 3.20s`.
pub(super) fn pytest_summary(log: &str) -> String {
    let summary = log.lines().rev().find(|line| {
        [" passed", " failed", " error", " skipped", "no tests ran"]
            .iter()
            .any(|word| line.contains(word))
    });
    summary
        .unwrap_or("no summary")
        .trim_matches(['=', ' '])
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_several_test_programs_add_up() {
        let log = "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
                   test result: FAILED. 4 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.02s\n";
        let counts = count_cargo_tests(log);
        assert_eq!((counts.passed, counts.failed, counts.ignored), (7, 1, 2));
    }

    #[test]
    fn the_summary_of_pytest_is_found_behind_other_lines() {
        assert_eq!(
            pytest_summary("....\n12 passed, 1 skipped in 3.20s\nbye\n"),
            "12 passed, 1 skipped in 3.20s"
        );
        assert_eq!(pytest_summary(""), "no summary");
    }

    #[test]
    fn a_run_that_skipped_every_test_has_not_passed() {
        let log = "sssss\nSKIPPED [5] tests/page/test_page.py:59: no browser: apt-get install chromium\n5 skipped in 0.03s\n";
        let summary = pytest_summary(log);
        assert_eq!(summary, "5 skipped in 0.03s");
        assert!(!passed_any(&summary));
        assert_eq!(skip_reason(log), "no browser: apt-get install chromium");
        assert!(!passed_any("no tests ran in 0.01s"));
        assert!(passed_any("12 passed, 1 skipped in 3.20s"));
        assert!(passed_any("1 skipped, 2 passed, 1 warning in 3.20s"));
    }
}
