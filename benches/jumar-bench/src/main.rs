//! Measures the installed library; `cargo xtask bench runtime` builds it, runs this and shows what it says.
//!
//! Usage: `jumar-bench <libascendcl.so> [anywhere|separate|one-core]`. Prints each line as JSON as soon as it is measured.

mod acl;
mod executor;
mod idle;
mod limits;
mod placement;
mod rounds;
mod runtime;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use placement::Placement;
use rounds::{Line, Table, Target};

/// How many processes show what the first task costs.
const FIRSTS: usize = 9;

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let library: PathBuf = arguments
        .next()
        .context("usage: jumar-bench <libascendcl.so> [anywhere|separate|one-core]")?
        .into();
    let placement = match arguments.next() {
        Some(name) if name == "first" => {
            let by_worker = arguments.next().is_some_and(|who| who == "worker");
            println!("{}", first(&library, by_worker)?);
            return Ok(());
        }
        Some(name) => Placement::named(&name.to_string_lossy())?,
        None => Placement::Anywhere,
    };
    placement.begin()?;
    let mut lines = Table::new(placement);
    firsts(&library, &mut lines)?;
    // As the library reads it: with separate cores the measuring thread has its own core.
    let workers = std::env::var("JUMAR_WORKERS").map_or(Ok(0), |text| text.parse())?;
    let acl = acl::Acl::load(&library)?;
    acl.begin()?;
    let stream = acl.stream()?;
    let memory = (acl.malloc(64)?, acl.malloc(64)?);
    placement.start_workers(|| {
        acl.copy_async(memory.0, memory.1, 64, stream);
        while !acl.is_done(stream) {
            std::thread::yield_now();
        }
    })?;
    runtime::run(acl, placement, &mut lines)?;
    idle::run(acl, placement, &mut lines)?;
    acl.close()?;
    executor::run(placement, workers, &mut lines)
}

/// Measures the first task of a process, in processes of their own.
fn firsts(library: &Path, lines: &mut Table) -> Result<()> {
    let program = std::env::current_exe()?;
    for (who, what, most) in [
        (
            "caller",
            "init, device, first task, run by the thread that waits for it",
            50.0,
        ),
        (
            "worker",
            "init, device, first task, run by a worker that is started for it",
            200.0,
        ),
    ] {
        let mut figures = Vec::new();
        for _ in 0..FIRSTS {
            let output = Command::new(&program)
                .arg(library)
                .args(["first", who])
                .output()?;
            ensure!(
                output.status.success(),
                "the first task: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            let text = String::from_utf8_lossy(&output.stdout);
            figures.push(text.trim().parse().context("a figure")?);
        }
        lines.push(Line {
            what: what.into(),
            value: rounds::median(figures),
            unit: "us",
            limit: None,
            target: Some(Target::Value(most)),
        });
    }
    Ok(())
}

/// Returns microseconds from aclInit until the first task is done. The library is loaded before.
fn first(library: &Path, by_worker: bool) -> Result<f64> {
    let acl = acl::Acl::load(library)?;
    let host = [1_u8; 64];
    let start = Instant::now();
    acl.begin()?;
    let memory = acl.malloc(64)?;
    if by_worker {
        let other = acl.malloc(64)?;
        let stream = acl.stream()?;
        acl.copy_async(memory, other, 64, stream);
        while !acl.is_done(stream) {
            std::thread::yield_now();
            if start.elapsed().as_secs() > 5 {
                bail!("no worker came");
            }
        }
    } else {
        acl.copy_in(memory, &host);
    }
    Ok(start.elapsed().as_secs_f64() * 1e6)
}
