//! Measures the installed library; `cargo xtask bench runtime` builds it, runs this and shows what it says.
//!
//! Usage: `jumar-bench <libascendcl.so>`. Prints one JSON list of lines.

mod acl;
mod limits;
mod rounds;
mod runtime;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use rounds::Line;

fn main() -> Result<()> {
    let library: PathBuf = std::env::args_os()
        .nth(1)
        .context("usage: jumar-bench <libascendcl.so>")?
        .into();
    let start = Instant::now();
    let acl = acl::Acl::open(&library)?;
    let stream = acl.stream()?;
    let memory = (acl.malloc(64)?, acl.malloc(64)?);
    acl.copy_async(memory.0, memory.1, 64, stream);
    acl.synchronize(stream);
    let first_task = start.elapsed().as_secs_f64() * 1e6;

    let mut lines = vec![Line {
        what: "opening the library, init, device, first task".into(),
        value: first_task,
        unit: "us",
        limit: None,
        target: None,
    }];
    lines.extend(runtime::run(acl)?);
    acl.close()?;
    println!("{}", serde_json::to_string_pretty(&lines)?);
    Ok(())
}
