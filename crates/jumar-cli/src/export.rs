//! Findings in the formats that services for code review and tests read: SARIF, JUnit, GitLab's code quality, and the annotations of
//! GitHub Actions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use jumar::check::rules;

/// A line of a finding: where, and what happened there.
struct Line<'a> {
    label: &'a str,
    file: Option<&'a str>,
    line: u64,
    function: &'a str,
    call: &'a str,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn of(value: &'a Value) -> Line<'a> {
        let text = |name: &str| value[name].as_str().unwrap_or_default();
        Line {
            label: text("label"),
            file: value["file"].as_str(),
            line: value["line"].as_u64().unwrap_or(1).max(1),
            function: text("function"),
            call: text("call"),
            text: text("text"),
        }
    }
}

/// A finding as the run recorded it.
struct Finding<'a> {
    rule: &'a str,
    severity: &'a str,
    title: &'a str,
    missing: Option<&'a str>,
    fix: &'a str,
    lines: Vec<Line<'a>>,
}

impl<'a> Finding<'a> {
    fn of(value: &'a Value) -> Finding<'a> {
        let text = |name: &str| value[name].as_str().unwrap_or_default();
        Finding {
            rule: text("rule"),
            severity: text("severity"),
            title: text("title"),
            missing: value["missing"].as_str(),
            fix: text("fix"),
            lines: value["lines"]
                .as_array()
                .into_iter()
                .flatten()
                .map(Line::of)
                .collect(),
        }
    }

    /// Returns the first line with a file.
    fn located(&self) -> Option<(&Line<'a>, &'a str)> {
        self.lines
            .iter()
            .find_map(|line| line.file.map(|file| (line, file)))
    }

    /// Returns what happened, what is missing and what to do, in one line each.
    fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for line in &self.lines {
            let call = match line.call {
                "" => String::new(),
                call => format!("{call}: "),
            };
            let function = match line.function {
                "" => String::new(),
                function => format!(", in {function}"),
            };
            sentences.push(format!("{}: {call}{}{function}", line.label, line.text));
        }
        if let Some(missing) = self.missing {
            sentences.push(format!("missing: {missing}"));
        }
        if !self.fix.is_empty() {
            sentences.push(format!("fix: {}", self.fix));
        }
        sentences
    }

    /// Returns what stays the same when lines are inserted above: the rule, and for each line its file, function and call.
    fn identity(&self, sources: &Sources) -> String {
        let mut identity = self.rule.to_owned();
        for line in &self.lines {
            let file = line.file.map(|file| sources.relative(file));
            let _ = write!(
                identity,
                "|{} {} {} {}",
                line.label,
                file.as_deref().unwrap_or(""),
                line.function,
                line.call
            );
        }
        identity
    }
}

/// The folder of the program's sources, below which files are named as the repository names them.
pub(crate) struct Sources {
    root: PathBuf,
}

impl Sources {
    /// Returns the folder that the user named; otherwise the checkout around the current folder, or that folder itself.
    pub(crate) fn new(named: Option<&Path>) -> Sources {
        let current = std::env::current_dir().unwrap_or_default();
        let root = match named {
            Some(named) => current.join(named),
            None => current
                .ancestors()
                .find(|folder| folder.join(".git").exists())
                .unwrap_or(&current)
                .to_owned(),
        };
        // Debug information names files without links.
        Sources {
            root: root.canonicalize().unwrap_or(root),
        }
    }

    /// Returns a file's name from the root, or its absolute name if it is not below it.
    fn relative(&self, file: &str) -> String {
        let file = clean(&self.root.join(file));
        let shown = file.strip_prefix(&self.root).unwrap_or(&file);
        shown.to_string_lossy().into_owned()
    }

    /// Returns a file as SARIF names it.
    fn location(&self, file: &str) -> Value {
        let name = self.relative(file);
        match name.starts_with('/') {
            true => json!({"uri": format!("file://{}", in_uri(&name))}),
            false => json!({"uri": in_uri(&name), "uriBaseId": "SRCROOT"}),
        }
    }
}

/// Removes `.` and `..` from a path without asking the system: the sources need not be on this machine.
fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}

/// Returns a path with the characters that a URI excludes as percent signs and digits.
fn in_uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' | b'+' | b'@' | b'=' | b',' => {
                uri.push(char::from(byte))
            }
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// A number for a text, the same in every version (FNV-1a of 64 bits).
fn number(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns a fingerprint for each finding, which moved lines do not change. Findings that nothing else distinguishes are counted.
fn fingerprints(found: &[Finding], sources: &Sources) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let next = |finding: &Finding| {
        let identity = finding.identity(sources);
        let count = counts.entry(identity.clone()).or_default();
        *count += 1;
        format!("{:016x}:{count}", number(&identity))
    };
    found.iter().map(next).collect()
}

/// Returns the address of a rule's page in the repository that the package names; `None` while it names none.
fn help_address(repository: &str, rule: &str) -> Option<String> {
    let version = env!("CARGO_PKG_VERSION");
    (!repository.is_empty()).then(|| format!("{repository}/blob/v{version}/docs/rules/{rule}.md"))
}

/// Returns the findings as SARIF 2.1.0, which code hosts read.
pub(crate) fn sarif(found: &[Value], sources: &Sources) -> Value {
    let found: Vec<Finding> = found.iter().map(Finding::of).collect();
    let level = |severity: &str| match severity {
        "error" => "error",
        "warning" | "portability" => "warning",
        _ => "note",
    };
    let location = |line: &Line| {
        line.file.map(|file| {
            let mut location = json!({
                "physicalLocation": {
                    "artifactLocation": sources.location(file),
                    "region": {"startLine": line.line},
                },
                "message": {"text": format!("{}: {}", line.label, line.text)},
            });
            if !line.function.is_empty() {
                location["logicalLocations"] = json!([{"name": line.function, "kind": "function"}]);
            }
            location
        })
    };
    let result = |(finding, fingerprint): (&Finding, String)| {
        let mut locations: Vec<Value> = finding.lines.iter().filter_map(location).collect();
        let first = (!locations.is_empty()).then(|| locations.remove(0));
        for (id, related) in locations.iter_mut().enumerate() {
            related["id"] = Value::from(id + 1);
        }
        let mut text = finding.title.to_owned();
        for sentence in finding.sentences() {
            let _ = write!(text, "\n{sentence}");
        }
        json!({
            "ruleId": finding.rule,
            "level": level(finding.severity),
            "message": {"text": text},
            "locations": first.into_iter().collect::<Vec<_>>(),
            "relatedLocations": locations,
            "partialFingerprints": {"jumarFinding/v1": fingerprint},
            "properties": {"missing": finding.missing, "fix": finding.fix},
        })
    };
    let titles: BTreeMap<&str, (&str, &str)> = found
        .iter()
        .map(|finding| (finding.rule, (finding.title, finding.severity)))
        .collect();
    let rule = |(id, (title, severity)): (&str, (&str, &str))| {
        let mut rule = json!({
            "id": id,
            "shortDescription": {"text": title},
            "defaultConfiguration": {"level": level(severity)},
        });
        if let Some(rules::Rule { statement, fix, .. }) = rules::find(id) {
            rule["fullDescription"] = json!({"text": statement});
            rule["help"] = json!({
                "text": format!("{statement}\nFix: {fix}"),
                "markdown": format!("{statement}\n\n**Fix:** `{fix}`"),
            });
        }
        if let Some(address) = help_address(env!("CARGO_PKG_REPOSITORY"), id) {
            rule["helpUri"] = Value::from(address);
        }
        rule
    };
    let fingerprints = fingerprints(&found, sources);
    let root = format!("file://{}/", in_uri(&sources.root.to_string_lossy()));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "jumar check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": titles.into_iter().map(rule).collect::<Vec<_>>(),
            }},
            "originalUriBaseIds": {"SRCROOT": {"uri": root}},
            "results": found.iter().zip(fingerprints).map(result).collect::<Vec<_>>(),
        }],
    })
}

/// Returns the findings as JUnit's XML: a failed test for each, and one that passed if there are none.
pub(crate) fn junit(found: &[Value], sources: &Sources) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"jumar check\" tests=\"{}\" failures=\"{}\">\n",
        found.len().max(1),
        found.len()
    );
    if found.is_empty() {
        text.push_str("    <testcase classname=\"jumar check\" name=\"no findings\"/>\n");
    }
    for finding in found.iter().map(Finding::of) {
        let (at, attributes) = match finding.located() {
            Some((line, file)) => {
                let file = sources.relative(file);
                let attributes = format!(" file=\"{}\" line=\"{}\"", in_xml(&file), line.line);
                (format!(", {file}:{}", line.line), attributes)
            }
            None => (String::new(), String::new()),
        };
        let _ = write!(
            text,
            "    <testcase classname=\"{}\" name=\"{}\"{attributes}>\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
            in_xml(finding.rule),
            in_xml(&format!("{}{at}", finding.title)),
            in_xml(finding.severity),
            in_xml(finding.title),
            in_xml(&finding.located_sentences(sources).join("\n")),
        );
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

impl Finding<'_> {
    /// Returns the sentences with the file and line of those that have one.
    fn located_sentences(&self, sources: &Sources) -> Vec<String> {
        let mut sentences = self.sentences();
        for (sentence, line) in sentences.iter_mut().zip(&self.lines) {
            if let Some(file) = line.file {
                let _ = write!(sentence, " ({}:{})", sources.relative(file), line.line);
            }
        }
        sentences
    }
}

/// Returns a text as it stands in XML, without the characters that XML excludes.
fn in_xml(text: &str) -> String {
    let mut xml = String::new();
    for c in text.chars() {
        match c {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\n' => xml.push_str("&#10;"),
            '\t' => xml.push('\t'),
            c if u32::from(c) < 0x20 || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                xml.push('\u{fffd}')
            }
            c => xml.push(c),
        }
    }
    xml
}

/// Returns the findings as GitLab's reports of code quality. A finding without a file is not in it, because the format requires one.
pub(crate) fn code_quality(found: &[Value], sources: &Sources) -> Value {
    let found: Vec<Finding> = found.iter().map(Finding::of).collect();
    let fingerprints = fingerprints(&found, sources);
    let severity = |severity: &str| match severity {
        "error" => "critical",
        "warning" => "major",
        "portability" => "minor",
        _ => "info",
    };
    let entries = found
        .iter()
        .zip(fingerprints)
        .filter_map(|(finding, fingerprint)| {
            let (line, file) = finding.located()?;
            Some(json!({
                "check_name": finding.rule,
                "description": format!("{}: {}. Fix: {}", finding.title, line.text, finding.fix),
                "fingerprint": fingerprint,
                "severity": severity(finding.severity),
                "location": {"path": sources.relative(file), "lines": {"begin": line.line}},
            }))
        });
    Value::from(entries.collect::<Vec<_>>())
}

/// Returns the findings as commands of GitHub Actions, a line for each, which the service shows at the lines of a change.
pub(crate) fn annotations(found: &[Value], sources: &Sources) -> String {
    let value = |text: &str| {
        text.replace('%', "%25")
            .replace('\r', "%0D")
            .replace('\n', "%0A")
    };
    let property = |text: &str| value(text).replace(':', "%3A").replace(',', "%2C");
    let mut text = String::new();
    for finding in found.iter().map(Finding::of) {
        let command = match finding.severity {
            "error" => "error",
            "warning" | "portability" => "warning",
            _ => "notice",
        };
        let at = finding.located().map(|(line, file)| {
            let file = property(&sources.relative(file));
            format!("file={file},line={},", line.line)
        });
        let _ = writeln!(
            text,
            "::{command} {}title={}::{}",
            at.unwrap_or_default(),
            property(&format!("{} {}", finding.rule, finding.title)),
            value(&finding.located_sentences(sources).join("\n")),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Sources {
        Sources {
            root: PathBuf::from("/src/a b"),
        }
    }

    /// A finding with two lines in the file, in functions that the lines do not change.
    fn finding(file: &str, line: u64) -> Value {
        json!({
            "rule": "JMR-SYNC-007", "severity": "error", "title": "freed while used",
            "fix": "synchronise first", "missing": "a synchronise of stream#2", "process": 7,
            "fingerprint": format!("JMR-SYNC-007|now {file}:{line}"),
            "lines": [
                {"label": "now", "file": file, "line": line, "function": "main", "call": "aclrtFree", "text": "the host frees memory#1"},
                {"label": "earlier", "file": file, "line": line - 4, "function": "main", "call": "aclrtMemsetAsync", "text": "task 3 fills memory#1"},
                {"label": "made", "file": null, "line": 0, "function": "", "call": "", "text": "memory#1"},
            ],
        })
    }

    fn fingerprints_of(found: &[Value]) -> Vec<Value> {
        let sarif = sarif(found, &sources());
        let results = sarif["runs"][0]["results"].as_array().unwrap().iter();
        results
            .map(|result| result["partialFingerprints"]["jumarFinding/v1"].clone())
            .collect()
    }

    #[test]
    fn sarif_names_each_rule_once_with_its_text_and_each_location() {
        let found = [
            finding("/src/a b/src/app.c", 21),
            finding("/src/a b/src/app.c", 31),
        ];
        let sarif = sarif(&found, &sources());
        let run = &sarif["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), 1);
        assert!(
            rules[0]["help"]["markdown"]
                .as_str()
                .unwrap()
                .contains("aclrtFree")
        );
        let result = &run["results"][1];
        assert_eq!(
            result["locations"][0]["physicalLocation"]["region"]["startLine"],
            31
        );
        assert_eq!(result["relatedLocations"].as_array().unwrap().len(), 1);
        let text = result["message"]["text"].as_str().unwrap();
        for part in [
            "the host frees memory#1",
            "missing: a synchronise of stream#2",
            "fix: synchronise first",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn files_below_the_sources_are_relative_and_others_are_addresses() {
        let uri = |file: &str| sources().location(file);
        assert_eq!(
            uri("/src/a b/src/../lib/x#1.c"),
            json!({"uri": "lib/x%231.c", "uriBaseId": "SRCROOT"})
        );
        assert_eq!(
            uri("app.py"),
            json!({"uri": "app.py", "uriBaseId": "SRCROOT"})
        );
        assert_eq!(
            uri("/usr/include/a b.h"),
            json!({"uri": "file:///usr/include/a%20b.h"})
        );
        let sarif = sarif(&[], &sources());
        assert_eq!(
            sarif["runs"][0]["originalUriBaseIds"]["SRCROOT"]["uri"],
            "file:///src/a%20b/"
        );
    }

    #[test]
    fn fingerprints_survive_moved_lines_and_distinguish_findings() {
        let file = "/src/a b/app.c";
        let before = fingerprints_of(&[
            finding(file, 21),
            finding(file, 31),
            finding("/src/a b/b.c", 21),
        ]);
        let after = fingerprints_of(&[
            finding(file, 25),
            finding(file, 35),
            finding("/src/a b/b.c", 29),
        ]);
        assert_eq!(before, after);
        assert_ne!(before[0], before[1], "two in one function");
        assert_ne!(before[0], before[2], "two files");
    }

    #[test]
    fn a_rule_has_the_address_of_its_page_where_the_package_names_a_repository() {
        assert_eq!(help_address("", "JMR-SYNC-007"), None);
        let address = help_address("https://example.org/jumar", "JMR-SYNC-007").unwrap();
        assert!(
            address.starts_with("https://example.org/jumar/blob/v"),
            "{address}"
        );
        assert!(
            address.ends_with("/docs/rules/JMR-SYNC-007.md"),
            "{address}"
        );
    }

    #[test]
    fn annotations_escape_what_ends_a_property_or_a_line() {
        let mut found = finding("/src/a b/x,y.c", 21);
        found["title"] = Value::from("100%: bad, very");
        let text = annotations(&[found], &sources());
        let line = text.lines().next().unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            line.starts_with("::error file=x%2Cy.c,line=21,title=JMR-SYNC-007 100%25%3A bad%2C very::now: aclrtFree"),
            "{line}"
        );
        assert!(line.contains("%0Afix: synchronise first"), "{line}");
    }

    #[test]
    fn junit_escapes_text_and_passes_if_there_are_no_findings() {
        let mut found = finding("/src/a b/app.c", 21);
        found["title"] = Value::from("a < b && \"c\" \u{1}");
        let text = junit(&[found], &sources());
        assert!(text.contains("tests=\"1\" failures=\"1\""), "{text}");
        assert!(text.contains("name=\"a &lt; b &amp;&amp; &quot;c&quot; \u{fffd}, app.c:21\" file=\"app.c\" line=\"21\""), "{text}");
        let text = junit(&[], &sources());
        assert!(
            text.contains("tests=\"1\" failures=\"0\"") && !text.contains("<failure"),
            "{text}"
        );
    }

    #[test]
    fn code_quality_has_path_line_and_severity_for_each_finding_with_a_file() {
        let mut nowhere = finding("/src/a b/app.c", 21);
        for line in nowhere["lines"].as_array_mut().unwrap() {
            line["file"] = Value::Null;
        }
        let report = code_quality(&[finding("/src/a b/app.c", 21), nowhere], &sources());
        let entries = report.as_array().unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!(
            entries[0]["location"],
            json!({"path": "app.c", "lines": {"begin": 21}})
        );
        assert_eq!(entries[0]["severity"], "critical");
    }
}
