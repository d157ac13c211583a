//! The C file beside a kernel: its description for the runtime, and the functions that it calls.

use std::fmt::Write as _;

use anyhow::Result;
use jumar::TRITON_KERNELS;

use super::lowered::{CALL, Layout};
use super::module::{Kernel, OutsideFunction};
use super::outside;

/// What the functions of the runtime of kernels look like.
pub const DECLARATIONS: &str = include_str!("runtime.h");

/// Writes the file.
///
/// # Errors
/// A function that the kernel calls is not supported.
pub fn write(kernel: &Kernel, layout: &Layout, functions: &[OutsideFunction]) -> Result<String> {
    let name = &kernel.name;
    let mut text = String::from(DECLARATIONS);
    text.push_str(&outside::define(functions)?);
    writeln!(
        text,
        "void {CALL}(const void *, int32_t, int32_t, int32_t);"
    )?;
    // rtDevBinaryRegister looks for this text: Triton's cache outlives an installation.
    writeln!(
        text,
        "__attribute__((used)) static const char compiled_by[] = \"{TRITON_KERNELS}\";"
    )?;
    writeln!(text, "static const jumar_parameter parameters[] = {{")?;
    let own = kernel.parameters.iter().zip(&layout.offsets).skip(2);
    let mut count = 0;
    for (parameter, (offset, bytes)) in own {
        let access = match (parameter.is_memory(), parameter.use_of_memory) {
            (false, _) => "JUMAR_PARAMETER_VALUE",
            (true, Some(0)) => "JUMAR_PARAMETER_READ",
            (true, Some(_)) => "JUMAR_PARAMETER_WRITE",
            (true, None) => "JUMAR_PARAMETER_UNKNOWN",
        };
        writeln!(text, "    {{{offset}, {bytes}, {access}}},")?;
        count += 1;
    }
    writeln!(text, "}};")?;
    writeln!(
        text,
        "/* The kernel's name may be that of a function of C. */\n\
         __attribute__((visibility(\"default\"))) void run(jumar_launch *) __asm__(\"{name}\");\n\
         void run(jumar_launch *launch) {{ jumar_triton_run(launch, \"{name}\", {CALL}, {}); }}",
        layout.grid()
    )?;
    writeln!(
        text,
        "__attribute__((visibility(\"default\"))) const jumar_kernel_info jumar_kernel_info_{name} = {{\n    \
         JUMAR_KERNEL_VERSION, JUMAR_KERNEL_BLOCKS, {count}, sizeof(jumar_launch), parameters, run}};"
    )?;
    Ok(text)
}
