//! Measures the installed library; `cargo xtask bench runtime` builds it, runs this and shows what it says.
//!
//! Usage: `jumar-bench <libascendcl.so> [anywhere|apart|one-core]`. Prints one JSON list of lines.

mod acl;
mod executor;
mod idle;
mod limits;
mod place;
mod rounds;
mod runtime;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};

use place::Place;
use rounds::{Line, Target};

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let library: PathBuf = arguments
        .next()
        .context("usage: jumar-bench <libascendcl.so> [anywhere|apart|one-core]")?
        .into();
    let place = match arguments.next() {
        Some(name) => Place::named(&name.to_string_lossy())?,
        None => Place::Anywhere,
    };
    place.begin()?;
    let mut lines = Vec::new();
    let start = Instant::now();
    let acl = acl::Acl::load(&library)?;
    let loaded = start.elapsed().as_secs_f64() * 1e6;
    let start = Instant::now();
    acl.begin()?;
    let stream = acl.stream()?;
    let memory = (acl.malloc(64)?, acl.malloc(64)?);
    acl.copy_async(memory.0, memory.1, 64, stream);
    acl.synchronize(stream);
    let first = start.elapsed().as_secs_f64() * 1e6;
    let mut once = |what: &str, value: f64, target: Option<Target>| {
        lines.push(Line {
            what: place.names(what),
            value,
            unit: "us",
            limit: None,
            target,
        });
    };
    once("loading the library (once, cold)", loaded, None);
    let target = Some(Target::Value(200.0));
    once("init, device, first task (once, cold)", first, target);
    place.settle(|| {
        acl.copy_async(memory.0, memory.1, 64, stream);
        while !acl.is_done(stream) {
            std::thread::yield_now();
        }
    })?;
    lines.extend(runtime::run(acl, place)?);
    idle::run(acl, place, &mut lines)?;
    acl.close()?;
    executor::run(place, &mut lines)?;
    println!("{}", serde_json::to_string_pretty(&lines)?);
    Ok(())
}
