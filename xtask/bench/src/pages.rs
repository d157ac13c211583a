//! The pages that the benchmarks write: a table for each suite in docs/benchmarks, and the headline of docs/performance.md.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{HEADINGS, Line, Suite, columns};

/// The page that a person reads first.
pub(super) const HEADLINE_PAGE: &str = "docs/performance.md";
const FOLDER: &str = "docs/benchmarks";
/// What the models bench draws, beside its page.
const IMAGE: &str = "profile.svg";

/// The rows of the headline: suite, how its row begins, what the headline calls it.
const HEADLINE: &[(Suite, &str, &str)] = &[
    (
        Suite::Runtime,
        "enqueue: aclrtMemcpyAsync, 64 B inside the device",
        "enqueue a 64-byte copy",
    ),
    (
        Suite::Runtime,
        "round trip, hot: enqueue and aclrtSynchronizeStream",
        "enqueue and synchronise",
    ),
    (
        Suite::Runtime,
        "hop between two streams by an event",
        "event from one stream to another",
    ),
    (
        Suite::Runtime,
        "replay of 1000 captured tasks, a task",
        "replay of a captured task",
    ),
    (
        Suite::Runtime,
        "aclrtMemcpy, host to device, 64 MiB",
        "copy 64 MiB to the device",
    ),
    (
        Suite::Runtime,
        "aclrtMalloc and aclrtFree, 4 KiB, again and again",
        "allocate and free 4 KiB",
    ),
    (
        Suite::Runtime,
        "init, device, first task, run by the thread that waits for it",
        "initialise, first task",
    ),
    (
        Suite::Models,
        "geometric mean of 9 models, batch 1, 1 thread",
        "9 networks, batch 1, 1 thread (time relative to ONNX Runtime)",
    ),
    (
        Suite::Models,
        "geometric mean of 9 models, batch 8, 1 thread",
        "9 networks, batch 8, 1 thread (relative)",
    ),
    (
        Suite::Models,
        "geometric mean of 9 models, batch 1, 2 threads",
        "9 networks, batch 1, 2 threads (relative)",
    ),
    (
        Suite::Models,
        "geometric mean of 9 models, batch 8, 2 threads",
        "9 networks, batch 8, 2 threads (relative)",
    ),
    (
        Suite::Models,
        "load, geometric mean of 9 models",
        "load a model (relative)",
    ),
    (
        Suite::Models,
        "peak memory, geometric mean of 9 models",
        "peak memory (relative)",
    ),
    (
        Suite::LowPrecision,
        "ResNet-50, batch 1, 1 thread, bfloat16",
        "ResNet-50 in bfloat16, 1 thread",
    ),
    (
        Suite::Python,
        "acl.rt.memcpy, beyond the C call",
        "`acl.rt.memcpy` from Python, beyond the C call",
    ),
    (
        Suite::Graph,
        "ResNet-50, built by operators, RunGraphWithStreamAsync, 1 worker",
        "ResNet-50 through the Graph Engine",
    ),
    (
        Suite::Check,
        "a digit read by a model: copy in, execute, copy out, wait: all rules, races too",
        "a small model under `jumar check`",
    ),
    (
        Suite::Ascendc,
        "Add of two tensors of 64 MiB, float, tiles of 8 KiB, all cores, without checks",
        "an Ascend C kernel that adds",
    ),
];

/// Returns the page of a suite, from the repository's root.
pub(super) fn page(suite: Suite) -> PathBuf {
    Path::new(FOLDER).join(format!("{}.md", suite.name()))
}

/// Replaces the table on the suite's page for this processor and its level of instructions, and the headline if that page is the suite's
/// first one. A table of another processor stays: this one's goes to a page of its own, which is created. Returns the page.
///
/// # Errors
/// A page cannot be read or written, or has no marks for the table.
pub(super) fn write(suite: Suite, level: &str, lines: &[Line]) -> Result<PathBuf> {
    let root = crate::root();
    let own = processor(level);
    let mut part = format!(
        "Measured on {own}, {} on {}.\n\n{}",
        machine(),
        today()?,
        markdown(lines)
    );
    let first = page(suite);
    let text = read(&root.join(&first))?;
    if owner(&text).is_none_or(|owner| owner == own) {
        if matches!(suite, Suite::Models) && root.join(FOLDER).join(IMAGE).exists() {
            part += &format!("\n![Share of each operator in a model's time]({IMAGE})\n");
        }
        replace(&root.join(&first), suite.name(), &part)?;
        replace(&root.join(HEADLINE_PAGE), "headline", &headline(root)?)?;
        return Ok(first);
    }
    let further = further_page(suite, &own);
    let path = root.join(&further);
    if !path.exists() {
        fs::write(&path, empty_page(suite, &own)).with_context(|| path.display().to_string())?;
    }
    replace(&path, suite.name(), &part)?;
    Ok(further)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Finds the processor whose table a page holds, with its level.
fn owner(page: &str) -> Option<&str> {
    let measured = page
        .lines()
        .find_map(|line| line.strip_prefix("Measured on "))?;
    measured.split_once(", ").map(|(owner, _)| owner)
}

/// Returns the page of a suite for a processor that is not that of the first page.
fn further_page(suite: Suite, owner: &str) -> PathBuf {
    let words: Vec<String> = owner
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty() && *word != "with")
        .map(str::to_ascii_lowercase)
        .collect();
    Path::new(FOLDER).join(format!("{}-{}.md", suite.name(), words.join("-")))
}

fn empty_page(suite: Suite, owner: &str) -> String {
    let name = suite.name();
    format!(
        "# Benchmark: {name}, {owner}\n\nAs [{name}]({name}.md), which explains the rows, on another processor or level of instructions.\n\n\
         <!-- {name}: begin -->\n<!-- {name}: end -->\n"
    )
}

fn replace(path: &Path, name: &str, part: &str) -> Result<()> {
    let page = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let page = replaced(&page, name, part).with_context(|| path.display().to_string())?;
    fs::write(path, page).with_context(|| path.display().to_string())
}

/// Replaces the part of a page between its two marks.
fn replaced(page: &str, name: &str, part: &str) -> Result<String> {
    let (open, close) = (
        format!("<!-- {name}: begin -->\n"),
        format!("<!-- {name}: end -->\n"),
    );
    let (Some(start), Some(end)) = (page.find(&open), page.find(&close)) else {
        bail!("the lines {} and {} are missing", open.trim(), close.trim());
    };
    Ok(format!("{}{open}{part}{}", &page[..start], &page[end..]))
}

/// Collects the headline from the pages of the suites.
fn headline(root: &Path) -> Result<String> {
    let mut text = String::from(
        "| what | Jumar | compared with | ratio | target | | details |\n|---|---|---|---|---|---|---|\n",
    );
    for (suite, begins, called) in HEADLINE {
        let path = page(*suite);
        let page =
            fs::read_to_string(root.join(&path)).with_context(|| path.display().to_string())?;
        let row = page
            .lines()
            .find_map(|line| line.strip_prefix("| ")?.strip_prefix(begins))
            .with_context(|| format!("{}: no row begins with {begins:?}", path.display()))?;
        let cells: Vec<&str> = row.split('|').skip(1).map(str::trim).collect();
        let [figure, limits, ratio, target, verdict, _] = cells[..] else {
            bail!("{}: not a row of five figures: {row}", path.display());
        };
        // The first one is what the ratio is of.
        let limit = limits.split("; ").next().unwrap_or("");
        let name = suite.name();
        text += &format!(
            "| {called} | {figure} | {limit} | {ratio} | {target} | {verdict} | [{name}](benchmarks/{name}.md) |\n"
        );
    }
    Ok(text)
}

fn markdown(lines: &[Line]) -> String {
    let mut text = format!("| {} |\n|---|---|---|---|---|---|\n", HEADINGS.join(" | "));
    for line in lines {
        text += &format!("| {} | {} |\n", line.what, columns(line).join(" | "));
    }
    text
}

/// Names the processor, and the level of instructions that was measured.
fn processor(level: &str) -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| {
            line.strip_prefix("model name")?
                .split_once(':')
                .map(|(_, name)| name.trim())
        })
        .unwrap_or(std::env::consts::ARCH);
    // Commas separate the processor from the rest of the line.
    format!("{} with {level}", model.replace(',', ""))
}

/// Describes the machine: cores, kernel.
fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let virtual_machine = if cpu.contains(" hypervisor") {
        ", virtual machine"
    } else {
        ""
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores{virtual_machine}, Linux {}", kernel.trim())
}

fn today() -> Result<String> {
    let output = Command::new("date")
        .args(["-u", "+%Y-%m-%d"])
        .stdin(Stdio::null())
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_between_the_marks_changes() {
        let page = "a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n";
        let new = replaced(page, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb\n");
        assert_eq!(replaced(&new, "x", "new\n").unwrap(), new);
        assert!(replaced(page, "y", "").is_err());
    }

    #[test]
    fn a_table_belongs_to_a_processor_and_its_level() {
        let page = "a\nMeasured on AMD EPYC with avx512, 2 cores, Linux 6 on 2026-11-28.\n";
        assert_eq!(owner(page), Some("AMD EPYC with avx512"));
        assert_eq!(owner("a\n"), None);
        let further = further_page(Suite::Models, "AMD EPYC with avx2");
        assert_eq!(
            further.to_str(),
            Some("docs/benchmarks/models-amd-epyc-avx2.md")
        );
        let empty = empty_page(Suite::Models, "AMD EPYC with avx2");
        assert!(replaced(&empty, "models", "x\n").is_ok());
    }

    #[test]
    fn every_suite_has_a_page_with_its_marks() {
        for suite in Suite::ALL {
            let path = page(*suite);
            let text = fs::read_to_string(crate::root().join(&path)).unwrap();
            assert!(
                replaced(&text, suite.name(), "").is_ok(),
                "{}",
                path.display()
            );
        }
    }

    #[test]
    fn the_headline_is_that_of_the_tables() {
        let page = fs::read_to_string(crate::root().join(HEADLINE_PAGE)).unwrap();
        let headline = headline(crate::root()).unwrap();
        assert_eq!(headline.lines().count(), 2 + HEADLINE.len());
        assert_eq!(replaced(&page, "headline", &headline).unwrap(), page);
    }
}
