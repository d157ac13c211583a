//! What is rewritten in a module after the passes, in MLIR's LLVM dialect.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context, Result, bail};

use super::module::{Kernel, Parameter};

/// The kernel's function; its own name could be that of a function of C.
const KERNEL: &str = "jumar_triton_kernel";
/// Calls the kernel for a program of the grid, with arguments out of the block.
pub const CALL: &str = "jumar_triton_call";

/// Where the arguments of a launch lie in their block, as the launcher of triton-ascend packs them.
#[derive(Debug)]
pub struct Layout {
    /// The offset and the bytes of each parameter: the lock, the work memory, the program's own, and the grid's three extents.
    pub offsets: Vec<(usize, usize)>,
}

/// Returns the bytes of a parameter in the block of arguments.
fn bytes(parameter: &Parameter) -> usize {
    match parameter.kind.as_str() {
        _ if parameter.is_memory() => 8,
        "i64" | "f64" => 8,
        _ => 4,
    }
}

impl Layout {
    pub fn of(kernel: &Kernel, has_sync_address: bool) -> Layout {
        let mut at: usize = if has_sync_address { 8 } else { 0 };
        let mut offsets = Vec::new();
        for parameter in &kernel.parameters[..kernel.parameters.len() - 3] {
            let bytes = bytes(parameter);
            at = at.next_multiple_of(bytes);
            offsets.push((at, bytes));
            at += bytes;
        }
        Layout { offsets }
    }

    /// Returns the offset of the grid's extents.
    pub fn grid(&self) -> usize {
        self.offsets[self.offsets.len() - 3].0
    }
}

/// Rewrites a module.
///
/// # Errors
/// The module has no such kernel, or a parameter has a type that no launch passes.
pub fn rewrite(text: &str, kernel: &Kernel, layout: &Layout) -> Result<String> {
    let begin = format!("llvm.func @{}(", kernel.name);
    if !text.contains(&begin) {
        bail!("the passes lost the kernel \"{}\"", kernel.name);
    }
    let mut made = String::with_capacity(text.len() + 8192);
    let mut helpers = BTreeSet::new();
    let mut is_open = false;
    for line in text.lines() {
        if !is_open && line.starts_with("module") {
            // The code generator chooses vectors by the target, which only an attribute names.
            made.push_str(
                "module attributes {llvm.target_triple = \"x86_64-unknown-linux-gnu\"} {\n",
            );
            is_open = true;
            continue;
        }
        let trimmed = line.trim_start();
        if trimmed.starts_with(&begin) {
            made.push_str(&line.replacen(&begin, &format!("llvm.func internal @{KERNEL}("), 1));
        } else if trimmed.starts_with("llvm.func @_mlir_memref_to_llvm_alloc(") {
            // Local memory overlaps nothing else, which lets loops over it use vectors.
            made.push_str("  llvm.func @_mlir_memref_to_llvm_alloc(i64) -> (!llvm.ptr {llvm.noalias, llvm.align = 64 : i64})");
        } else if let Some(call) = guarded(line, &mut helpers) {
            made.push_str(&call);
        } else {
            made.push_str(line);
        }
        made.push('\n');
    }
    let end = made.rfind('}').context("the module does not end")?;
    let end = match made.find("\n#loc") {
        Some(locations) if locations < end => made[..locations]
            .rfind('}')
            .context("the module does not end")?,
        _ => end,
    };
    let mut tail = String::new();
    for (operation, kind) in &helpers {
        tail.push_str(&helper(operation, kind)?);
    }
    tail.push_str(&call(kernel, layout)?);
    made.insert_str(end, &tail);
    Ok(made)
}

/// Turns an operation into a call of a helper: divisions of integers, which would raise a signal for elements that a mask excludes, and
/// exponentials, which are computed in vectors then.
fn guarded(line: &str, helpers: &mut BTreeSet<(String, String)>) -> Option<String> {
    let (result, rest) = line.split_once(" = llvm.")?;
    let (operation, operands, kind) = ["sdiv", "udiv", "srem", "urem"]
        .iter()
        .find_map(|name| {
            let rest = rest.strip_prefix(name)?.strip_prefix(' ')?;
            let (operands, kind) = rest.split_once(" : ")?;
            let operands = operands.trim_start_matches("exact ");
            Some((*name, operands.to_owned(), kind))
        })
        .or_else(|| {
            let rest = rest.strip_prefix("intr.exp(")?;
            let (operand, kind) = rest.split_once(") ")?;
            let kind = kind.split(" -> ").nth(1)?;
            (kind.split(' ').next() == Some("f32")).then(|| ("exp", operand.to_owned(), kind))
        })?;
    let (kind, location) = match kind.find(" loc(") {
        Some(at) => kind.split_at(at),
        None => (kind, ""),
    };
    let kind = kind.trim();
    helpers.insert((operation.to_owned(), kind.to_owned()));
    let types = vec![kind; operands.split(',').count()].join(", ");
    Some(format!(
        "{result} = llvm.call @jumar_{operation}_{kind}({operands}) : ({types}) -> {kind}{location}"
    ))
}

fn helper(operation: &str, kind: &str) -> Result<String> {
    let mut text = String::new();
    if operation == "exp" {
        return Ok(EXP.to_owned());
    }
    let is_signed = operation.starts_with('s');
    let is_quotient = operation.ends_with("div");
    writeln!(
        text,
        "  llvm.func internal @jumar_{operation}_{kind}(%a: {kind}, %b: {kind}) -> {kind} {{"
    )?;
    writeln!(
        text,
        "    %zero = llvm.mlir.constant(0 : {kind}) : {kind}\n    %one = llvm.mlir.constant(1 : {kind}) : {kind}"
    )?;
    writeln!(
        text,
        "    %nothing = llvm.icmp \"eq\" %b, %zero : {kind}\n    %b1 = llvm.select %nothing, %one, %b : i1, {kind}"
    )?;
    if is_signed {
        // The quotient of the lowest number and -1 does not fit.
        writeln!(
            text,
            "    %minus = llvm.mlir.constant(-1 : {kind}) : {kind}\n    %turned = llvm.icmp \"eq\" %b, %minus : {kind}"
        )?;
        writeln!(
            text,
            "    %b2 = llvm.select %turned, %one, %b1 : i1, {kind}\n    %q = llvm.{operation} %a, %b2 : {kind}"
        )?;
        let other = if is_quotient { "%n" } else { "%zero" };
        writeln!(
            text,
            "    %n = llvm.sub %zero, %a : {kind}\n    %r = llvm.select %turned, {other}, %q : i1, {kind}"
        )?;
    } else {
        writeln!(text, "    %r = llvm.{operation} %a, %b1 : {kind}")?;
    }
    writeln!(text, "    llvm.return %r : {kind}\n  }}")?;
    Ok(text)
}

/// The exponential of a `float`, within one unit of the last digit: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2]. The power of two
/// is applied in two steps, so that subnormal results are right.
const EXP: &str = r#"  llvm.func internal @jumar_exp_f32(%x: f32) -> f32 {
    %high = llvm.mlir.constant(89.0 : f32) : f32
    %low = llvm.mlir.constant(-104.5 : f32) : f32
    %log2e = llvm.mlir.constant(1.44269504088896341 : f32) : f32
    %ln2a = llvm.mlir.constant(-0.693359375 : f32) : f32
    %ln2b = llvm.mlir.constant(2.12194440e-4 : f32) : f32
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %p0 = llvm.mlir.constant(1.9875691500e-4 : f32) : f32
    %p1 = llvm.mlir.constant(1.3981999507e-3 : f32) : f32
    %p2 = llvm.mlir.constant(8.3334519073e-3 : f32) : f32
    %p3 = llvm.mlir.constant(4.1665795894e-2 : f32) : f32
    %p4 = llvm.mlir.constant(1.6666665459e-1 : f32) : f32
    %p5 = llvm.mlir.constant(5.0000001201e-1 : f32) : f32
    %bias = llvm.mlir.constant(127 : i32) : i32
    %digits = llvm.mlir.constant(23 : i32) : i32
    %half = llvm.mlir.constant(1 : i32) : i32
    %over = llvm.fcmp "ogt" %x, %high : f32
    %x1 = llvm.select %over, %high, %x : i1, f32
    %under = llvm.fcmp "olt" %x1, %low : f32
    %x2 = llvm.select %under, %low, %x1 : i1, f32
    %unknown = llvm.fcmp "uno" %x, %x : f32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    %x3 = llvm.select %unknown, %zero, %x2 : i1, f32
    %scaled = llvm.fmul %x3, %log2e : f32
    %n = llvm.intr.rint(%scaled) : (f32) -> f32
    %r1 = llvm.intr.fma(%n, %ln2a, %x3) : (f32, f32, f32) -> f32
    %r = llvm.intr.fma(%n, %ln2b, %r1) : (f32, f32, f32) -> f32
    %y1 = llvm.intr.fma(%p0, %r, %p1) : (f32, f32, f32) -> f32
    %y2 = llvm.intr.fma(%y1, %r, %p2) : (f32, f32, f32) -> f32
    %y3 = llvm.intr.fma(%y2, %r, %p3) : (f32, f32, f32) -> f32
    %y4 = llvm.intr.fma(%y3, %r, %p4) : (f32, f32, f32) -> f32
    %y5 = llvm.intr.fma(%y4, %r, %p5) : (f32, f32, f32) -> f32
    %rr = llvm.fmul %r, %r : f32
    %y6 = llvm.intr.fma(%y5, %rr, %r) : (f32, f32, f32) -> f32
    %y = llvm.fadd %y6, %one : f32
    %whole = llvm.fptosi %n : f32 to i32
    %first = llvm.ashr %whole, %half : i32
    %second = llvm.sub %whole, %first : i32
    %e1 = llvm.add %first, %bias : i32
    %e2 = llvm.add %second, %bias : i32
    %s1 = llvm.shl %e1, %digits : i32
    %s2 = llvm.shl %e2, %digits : i32
    %f1 = llvm.bitcast %s1 : i32 to f32
    %f2 = llvm.bitcast %s2 : i32 to f32
    %z1 = llvm.fmul %y, %f1 : f32
    %z2 = llvm.fmul %z1, %f2 : f32
    %z = llvm.select %unknown, %x, %z2 : i1, f32
    llvm.return %z : f32
  }
"#;

/// Writes the function that takes the arguments out of their block and calls the kernel for one program.
fn call(kernel: &Kernel, layout: &Layout) -> Result<String> {
    let mut text = format!(
        "  llvm.func @{CALL}(%block: !llvm.ptr, %x: i32, %y: i32, %z: i32) {{
    %zero = llvm.mlir.constant(0 : i64) : i64
    %all = llvm.mlir.constant(9223372036854775807 : i64) : i64
    %one = llvm.mlir.constant(1 : i64) : i64\n"
    );
    let (mut values, mut types) = (Vec::new(), Vec::new());
    for (number, (parameter, (offset, _))) in
        kernel.parameters.iter().zip(&layout.offsets).enumerate()
    {
        writeln!(
            text,
            "    %p{number} = llvm.getelementptr %block[{offset}] : (!llvm.ptr) -> !llvm.ptr, i8"
        )?;
        if parameter.is_memory() {
            writeln!(
                text,
                "    %v{number} = llvm.load %p{number} : !llvm.ptr -> !llvm.ptr"
            )?;
            values.extend([format!("%v{number}"), format!("%v{number}")]);
            values.extend(["%zero", "%all", "%one"].map(str::to_owned));
            types.extend(["!llvm.ptr", "!llvm.ptr", "i64", "i64", "i64"].map(str::to_owned));
            continue;
        }
        let kind = parameter.kind.as_str();
        let (loaded, change) = match kind {
            "i1" | "i8" | "i16" => ("i32", "trunc"),
            // The launcher passes every short float as a float.
            "f16" | "bf16" => ("f32", "fptrunc"),
            "i32" | "i64" | "f32" | "f64" => (kind, ""),
            "index" => ("i64", ""),
            _ => bail!("a parameter of type {kind} is not supported"),
        };
        writeln!(
            text,
            "    %l{number} = llvm.load %p{number} : !llvm.ptr -> {loaded}"
        )?;
        if change.is_empty() {
            values.push(format!("%l{number}"));
        } else {
            writeln!(
                text,
                "    %v{number} = llvm.{change} %l{number} : {loaded} to {kind}"
            )?;
            values.push(format!("%v{number}"));
        }
        types.push(kind.to_owned());
    }
    values.extend(["%x", "%y", "%z"].map(str::to_owned));
    types.extend(["i32", "i32", "i32"].map(str::to_owned));
    writeln!(
        text,
        "    llvm.call @{KERNEL}({}) : ({}) -> ()\n    llvm.return\n  }}",
        values.join(", "),
        types.join(", ")
    )?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triton::module;

    #[test]
    fn arguments_lie_where_the_launcher_packs_them() {
        let text = "func.func @k(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32>, %arg3: f16, %arg4: i64, %arg5: i32, %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) {";
        let kernel = module::kernel(text).unwrap();
        let offsets = |layout: Layout| layout.offsets.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        assert_eq!(
            offsets(Layout::of(&kernel, true)),
            [8, 16, 24, 32, 40, 48, 52, 56, 60]
        );
        assert_eq!(
            offsets(Layout::of(&kernel, false)),
            [0, 8, 16, 24, 32, 40, 44, 48, 52]
        );
        assert_eq!(Layout::of(&kernel, true).grid(), 52);
    }

    #[test]
    fn a_division_of_integers_is_guarded() {
        let mut helpers = BTreeSet::new();
        let made = guarded("    %3 = llvm.sdiv %1, %2  : i32", &mut helpers).unwrap();
        assert_eq!(
            made,
            "    %3 = llvm.call @jumar_sdiv_i32(%1, %2 ) : (i32, i32) -> i32"
        );
        assert_eq!(
            guarded("    %3 = llvm.fdiv %1, %2  : f32", &mut helpers),
            None
        );
    }
}
