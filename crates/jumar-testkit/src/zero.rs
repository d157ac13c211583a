//! Builds a library whose functions do nothing and return 0. No behaviour case of a working call may pass against it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::api::Api;
use crate::run::check_output;

/// Writes `zero.c` into a folder and compiles it to `libascendcl.so` there.
///
/// # Errors
/// The source cannot be written, or the compiler fails.
pub fn build(api: &Api, folder: &Path) -> Result<()> {
    let mut source = String::from("/* Generated: every function does nothing and returns 0. */\n");
    for (name, function) in &api.functions {
        // The functions take no parameters: under the C calling convention a callee may ignore arguments that the caller passes.
        match function.ret.as_str() {
            "void" => writeln!(source, "void {name}(void) {{ }}")?,
            "float" => writeln!(source, "float {name}(void) {{ return 0; }}")?,
            "double" => writeln!(source, "double {name}(void) {{ return 0; }}")?,
            _ => writeln!(source, "long {name}(void) {{ return 0; }}")?,
        }
    }
    let file = folder.join("zero.c");
    fs::write(&file, source).with_context(|| file.display().to_string())?;
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-w", "-Wl,-soname,libascendcl.so", "-o"])
        .arg(folder.join("libascendcl.so"))
        .arg(&file);
    check_output("cc", &mut compiler)
}
