//! Sets the cfg `every_level`: loops are compiled for every level of instructions.
//!
//! Two thirds of what has to be compiled are the levels above the portable one, and without optimization they are no faster. A build for a
//! developer's tests therefore leaves them out. A release has them, and so has `cargo xtask ci`, which asks for them by a variable.

use std::env;

/// The variable by which `cargo xtask ci` asks for every level.
const VARIABLE: &str = "JUMAR_EVERY_LEVEL";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={VARIABLE}");
    println!("cargo:rustc-check-cfg=cfg(every_level)");
    if env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_none() || env::var_os(VARIABLE).is_some() {
        println!("cargo:rustc-cfg=every_level");
    }
}
