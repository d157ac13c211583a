//! `jumar report`: a timeline as one page for a browser, with what the checks found.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// What `jumar report` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  jumar run --trace run.json -- ./app
  jumar report run.json -o run.html
  JUMAR_TRACE=run.json jumar check --json found.json -- ./app
  jumar report run.json --findings found.json -o run.html")]
pub struct Options {
    /// A timeline written by `jumar run --trace`.
    timeline: PathBuf,
    /// Findings written by `jumar check --json`.
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,
    /// The web page to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

const PAGE: &str = include_str!("page.html");

/// Writes the page.
pub fn run(options: &Options) -> Result<ExitCode> {
    write(
        &options.timeline,
        options.findings.as_deref(),
        &options.output,
    )?;
    println!("{}", options.output.display());
    Ok(ExitCode::SUCCESS)
}

/// Makes a page of a timeline, and of findings where there are any.
///
/// # Errors
/// A file cannot be read or written, or is not a timeline or a list of findings.
pub fn write(timeline: &Path, findings: Option<&Path>, output: &Path) -> Result<()> {
    let mut trace = read(timeline)?;
    let Some(events) = trace["traceEvents"].as_array_mut() else {
        bail!("{} is not a timeline", timeline.display());
    };
    // The page finds the call of a task by the number that both have.
    events.retain(|event| event["cat"] != "queue");
    let findings = match findings {
        Some(file) => read(file)?,
        None => Value::Array(Vec::new()),
    };
    fs::write(output, page(&trace, &findings))
        .with_context(|| format!("writing {}", output.display()))
}

fn read(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))
}

/// Puts the data into the page. A program's names must not end the script that they stand in.
fn page(trace: &Value, findings: &Value) -> String {
    let inert = |value: &Value| value.to_string().replace('<', "\\u003c");
    let (head, rest) = PAGE.split_once("@TRACE@").unwrap_or((PAGE, ""));
    let (middle, tail) = rest.split_once("@FINDINGS@").unwrap_or((rest, ""));
    [head, &inert(trace), middle, &inert(findings), tail].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_of_the_program_cannot_end_the_script() {
        let name = "</script><script>alert(1)</script>@FINDINGS@";
        let page = page(&json!({"traceEvents": [{"name": name}]}), &json!([]));
        assert!(!page.contains("alert(1)</script>"));
        assert_eq!(
            page.matches("</script>").count(),
            PAGE.matches("</script>").count()
        );
        assert!(page.contains("<script id=\"found\" type=\"application/json\">[]</script>"));
    }
}
