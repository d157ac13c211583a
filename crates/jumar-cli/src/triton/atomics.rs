//! Atomic operations. triton-ascend writes them as ordinary loops with a mark, `GenericAtomicRMW`, and copies the old values beside
//! them. Here each element becomes an atomic operation, which also yields the old value.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};

use super::module::{shape, split, up_to_close};

const MARK: &str = "GenericAtomicRMW = \"";

/// A marked loop.
struct Loop<'a> {
    operation: &'a str,
    inputs: Vec<&'a str>,
    input_types: Vec<&'a str>,
    view: &'a str,
    view_type: &'a str,
}

/// Returns the operands and their types out of `ins(%a, %b : A, B)`.
fn operands(list: &str) -> Option<(Vec<&str>, Vec<&str>)> {
    let (names, types) = list.split_once(" : ")?;
    Some((split(names), split(types)))
}

fn parse(line: &str) -> Option<Loop<'_>> {
    let operation = line.split_once(MARK)?.1.split('"').next()?;
    let inputs = up_to_close(line.split_once(" ins(")?.1)?.0;
    let outputs = up_to_close(line.split_once(" outs(")?.1)?.0;
    let (inputs, input_types) = operands(inputs)?;
    let (views, view_types) = operands(outputs)?;
    // Elements have to have the same index in all operands.
    let maps = up_to_close(line.split_once("indexing_maps = [")?.1)?.0;
    let maps = split(maps);
    if maps.iter().any(|map| map != &maps[0]) || inputs.first() != views.first() {
        return None;
    }
    Some(Loop {
        operation,
        inputs,
        input_types,
        view: views[0],
        view_type: view_types[0],
    })
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the line number of the brace that closes the operation which begins at a line.
fn end_of(lines: &[String], begin: usize) -> Option<usize> {
    let depth = indentation(&lines[begin]);
    (begin + 1..lines.len())
        .find(|at| indentation(&lines[*at]) == depth && lines[*at].trim_start().starts_with('}'))
}

/// A copy `memref.copy %root, %local` of the old values.
struct Old {
    line: usize,
    local: String,
    local_type: String,
}

/// Returns what a view was cut out of, and at which offsets.
fn root_of(lines: &[String], at: usize, view: &str) -> (String, Vec<String>) {
    let begin = format!("{view} = memref.subview ");
    for line in lines[..at].iter().rev() {
        if let Some(rest) = line.trim_start().strip_prefix(&begin)
            && let Some((root, rest)) = rest.split_once('[')
            && let Some((offsets, _)) = up_to_close(rest)
        {
            let offsets = split(offsets).into_iter().map(str::to_owned).collect();
            return (root.to_owned(), offsets);
        }
    }
    (view.to_owned(), Vec::new())
}

/// Finds the copy of the old values: before the loop, or behind it for a comparison.
fn old_values(lines: &[String], begin: usize, end: usize, root: &str) -> Option<Old> {
    let depth = indentation(&lines[begin]);
    let start = format!("memref.copy {root}, ");
    let read = |at: usize| {
        let line = lines.get(at)?;
        let rest = line.trim_start().strip_prefix(&start)?;
        let (local, types) = rest.split_once(" : ")?;
        let local_type = types.split_once(" to ")?.1;
        let local_type = local_type.split(" loc(").next()?.trim();
        (indentation(line) == depth).then(|| Old {
            line: at,
            local: local.to_owned(),
            local_type: local_type.to_owned(),
        })
    };
    (begin.saturating_sub(8)..begin)
        .rev()
        .chain(end + 1..end + 5)
        .find_map(read)
}

fn is_float(element: &str) -> bool {
    element.starts_with('f') || element.starts_with("bf")
}

/// Writes the atomic operation on one element; `%old` becomes the old value.
fn element(
    atomic: &Loop<'_>,
    name: &str,
    element: &str,
    at: &str,
    text: &mut String,
) -> Result<()> {
    let (view, kind) = (atomic.view, atomic.view_type);
    let simple = match (atomic.operation, is_float(element)) {
        ("fadd", true) => "addf",
        ("add", false) => "addi",
        ("and", false) => "andi",
        ("or", false) => "ori",
        ("max", false) => "maxs",
        ("min", false) => "mins",
        ("umax", false) => "maxu",
        ("umin", false) => "minu",
        ("max" | "fmax", true) => "maximumf",
        ("min" | "fmin", true) => "minimumf",
        ("exch" | "xchg", _) => "assign",
        _ => "",
    };
    if !simple.is_empty() {
        writeln!(
            text,
            "%{name}_old = memref.atomic_rmw {simple} %{name}_v1, {view}[{at}] : ({element}, {kind}) -> {element}"
        )?;
        return Ok(());
    }
    let change = match (atomic.operation, is_float(element)) {
        ("xor", false) => format!("%{name}_new = arith.xori %{name}_now, %{name}_v1 : {element}"),
        ("cas", false) => format!(
            "%{name}_is = arith.cmpi eq, %{name}_now, %{name}_v1 : {element}\n%{name}_new = arith.select %{name}_is, %{name}_v2, %{name}_now : {element}"
        ),
        (operation, _) => {
            bail!("the atomic operation \"{operation}\" on {element} is not supported")
        }
    };
    writeln!(
        text,
        "%{name}_old = memref.generic_atomic_rmw {view}[{at}] : {kind} {{\n^bb0(%{name}_now : {element}):\n{change}\nmemref.atomic_yield %{name}_new : {element}\n}}"
    )?;
    Ok(())
}

/// Replaces each marked loop by a loop of atomic operations.
///
/// # Errors
/// An operation is not known, or its form is another one than triton-ascend 3.2 writes.
pub fn make_atomic(text: &str) -> Result<String> {
    if !text.contains(MARK) {
        return Ok(text.to_owned());
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut number = 0;
    while let Some(begin) = lines.iter().position(|line| line.contains(MARK)) {
        let end = end_of(&lines, begin).context("an atomic operation does not end")?;
        let line = lines[begin].clone();
        let atomic = parse(&line).with_context(|| {
            format!(
                "an atomic operation has a form that is not supported: {}",
                line.trim()
            )
        })?;
        let (extents, kind) =
            shape(atomic.view_type).context("an atomic operation has no shape")?;
        let name = format!("jumar_a{number}");
        let (root, offsets) = root_of(&lines, begin, atomic.view);
        let old = old_values(&lines, begin, end, &root);
        let mut made = format!(
            "%{name}_c0 = arith.constant 0 : index\n%{name}_c1 = arith.constant 1 : index\n"
        );
        let mut indices = Vec::new();
        for (axis, _) in extents.iter().enumerate() {
            writeln!(made, "%{name}_d{axis} = arith.constant {axis} : index")?;
            writeln!(
                made,
                "%{name}_n{axis} = memref.dim {}, %{name}_d{axis} : {}",
                atomic.view, atomic.view_type
            )?;
            indices.push(format!("%{name}_i{axis}"));
        }
        let at = indices.join(", ");
        for axis in 0..extents.len() {
            writeln!(
                made,
                "scf.for %{name}_i{axis} = %{name}_c0 to %{name}_n{axis} step %{name}_c1 {{"
            )?;
        }
        for (which, (input, input_type)) in atomic
            .inputs
            .iter()
            .zip(&atomic.input_types)
            .enumerate()
            .skip(1)
        {
            writeln!(
                made,
                "%{name}_v{which} = memref.load {input}[{at}] : {input_type}"
            )?;
        }
        element(&atomic, &name, kind, &at, &mut made)?;
        if let Some(old) = &old {
            let mut indices = indices.clone();
            for (axis, offset) in offsets.iter().enumerate() {
                let offset = match offset.parse::<u64>() {
                    Ok(0) => continue,
                    Ok(number) => {
                        writeln!(made, "%{name}_k{axis} = arith.constant {number} : index")?;
                        format!("%{name}_k{axis}")
                    }
                    Err(_) => offset.clone(),
                };
                writeln!(
                    made,
                    "%{name}_o{axis} = arith.addi {}, {offset} : index",
                    indices[axis]
                )?;
                indices[axis] = format!("%{name}_o{axis}");
            }
            writeln!(
                made,
                "memref.store %{name}_old, {}[{}] : {}",
                old.local,
                indices.join(", "),
                old.local_type
            )?;
        }
        made.push_str(&"}\n".repeat(extents.len()));
        let mut replaced: Vec<(usize, usize, String)> = vec![(begin, end, made)];
        if let Some(old) = old {
            let zero = if is_float(kind) { "0.0" } else { "0" };
            let fill = format!(
                "%{name}_z = arith.constant {zero} : {kind}\nlinalg.fill ins(%{name}_z : {kind}) outs({} : {})",
                old.local, old.local_type
            );
            if old.line < begin {
                replaced.push((old.line, old.line, fill));
            } else {
                // The copy follows: its memory is made before the loop, whose results go there.
                let alloc = format!("{} = memref.alloc", old.local);
                let made_at =
                    (end..old.line).find(|at| lines[*at].trim_start().starts_with(&alloc));
                let made_at =
                    made_at.context("the old values of an atomic operation have no memory")?;
                let alloc = lines[made_at].clone();
                replaced[0].2 = format!("{alloc}\n{fill}\n{}", replaced[0].2);
                replaced.push((made_at, made_at, String::new()));
                replaced.push((old.line, old.line, String::new()));
            }
        }
        replaced.sort_by_key(|(begin, ..)| std::cmp::Reverse(*begin));
        for (begin, end, text) in replaced {
            lines.splice(
                begin..=end,
                text.lines().map(str::to_owned).collect::<Vec<_>>(),
            );
        }
        number += 1;
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marked_loop_becomes_atomic_and_stores_the_old_values() {
        let text = "    %s = memref.subview %r[0] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
    %v = memref.subview %a[0] [%n] [1] : memref<64xf32> to memref<?xf32, strided<[1]>>
    %o = memref.alloc() : memref<64xf32>
    memref.copy %r, %o : memref<64xf32> to memref<64xf32>
    linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = [\"parallel\"]} ins(%s, %v : memref<?xf32, strided<[1]>>, memref<?xf32, strided<[1]>>) outs(%s : memref<?xf32, strided<[1]>>) attrs =  {GenericAtomicRMW = \"fadd\"} {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %9 = arith.addf %in, %in_7 : f32
      linalg.yield %9 : f32
    }
    return
";
        let made = make_atomic(text).unwrap();
        assert!(
            !made.contains("linalg.generic") && !made.contains("memref.copy"),
            "{made}"
        );
        assert!(
            made.contains("memref.atomic_rmw addf %jumar_a0_v1, %s[%jumar_a0_i0]"),
            "{made}"
        );
        assert!(
            made.contains("memref.store %jumar_a0_old, %o[%jumar_a0_i0] : memref<64xf32>"),
            "{made}"
        );
        assert!(made.trim_end().ends_with("return"), "{made}");
    }
}
