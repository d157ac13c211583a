//! `jumar info`: the devices that a program would see.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use jumar::{Device, Runtime, Settings};

/// Prints.
pub fn run() -> Result<ExitCode> {
    let mut settings = Settings::from_environment().map_err(|error| anyhow!("{error}"))?;
    // Looking is not running: a timeline of it would overwrite a program's.
    settings.trace = None;
    let runtime = Runtime::with(&settings).map_err(|error| anyhow!("{error}"))?;
    let devices = runtime.devices();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "Jumar {}: {} device(s) on {processors} processor(s)",
        env!("CARGO_PKG_VERSION"),
        devices.len()
    );
    for device in &devices {
        print!("{}", describe(device));
    }
    if devices.is_empty() {
        println!("ASCEND_RT_VISIBLE_DEVICES hides every device");
    }
    println!(
        "instructions: {}",
        jumar::config::instructions(settings.instructions)
    );
    println!("products: {}", jumar::config::products());
    println!("profiles: {}", jumar::config::profile_names().join(", "));
    Ok(ExitCode::SUCCESS)
}

fn describe(device: &Device) -> String {
    let profile = device.profile();
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let mut text = String::new();
    let _ = writeln!(text, "device {}: {}", device.number(), device.name());
    let _ = writeln!(
        text,
        "  memory   {:.1} GiB, {:.1} GiB free",
        gib(device.memory_total()),
        gib(device.memory_free())
    );
    let _ = writeln!(
        text,
        "  cores    {} matrix, {} vector (as reported to programs)",
        profile.cube_cores, profile.vector_cores
    );
    let limits = &profile.limits;
    let _ = writeln!(
        text,
        "  limits   {} streams, {} events, {} notifies",
        limits.streams, limits.events, limits.notifies
    );
    text
}
