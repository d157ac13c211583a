//! The text of a module, read as far as the rewriting needs it.

use anyhow::{Context, Result, bail};

/// A parameter of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The type as it is written: `memref<?xf32>`, `i32`, `f16`.
    pub kind: String,
    /// How the kernel uses memory: 0 reads, 1 writes, 2 both.
    pub use_of_memory: Option<u32>,
}

impl Parameter {
    /// Returns whether the parameter is memory.
    pub fn is_memory(&self) -> bool {
        self.kind.starts_with("memref<")
    }
}

/// The kernel of a module.
#[derive(Debug)]
pub struct Kernel {
    pub name: String,
    pub parameters: Vec<Parameter>,
}

/// A function that the module calls and does not define.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideFunction {
    pub name: String,
    pub parameters: Vec<String>,
    pub results: Vec<String>,
    /// The text between the braces behind `attributes`.
    pub attributes: String,
}

/// Returns the text up to the bracket that closes the one before it, and what follows.
pub fn up_to_close(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    let mut in_text = false;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '"' if before != '\\' => in_text = !in_text,
            _ if in_text => {}
            '(' | '{' | '[' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | '}' | ']' | '>' => {
                depth -= 1;
                if depth == 0 {
                    return Some((&text[..at], &text[at + 1..]));
                }
            }
            _ => {}
        }
        before = letter;
    }
    None
}

/// Splits a list at the commas that are in no brackets.
pub fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin, mut before, mut in_text) = (Vec::new(), 0, 0, ' ', false);
    for (at, letter) in list.char_indices() {
        match letter {
            '"' if before != '\\' => in_text = !in_text,
            _ if in_text => {}
            '(' | '{' | '[' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | '}' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
        before = letter;
    }
    let last = list[begin..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

/// Returns the type at the beginning of a text, without attributes and location.
fn type_of(text: &str) -> &str {
    let end = text.find([' ', '{']).filter(|_| !text.contains('<'));
    if let Some(end) = end {
        return text[..end].trim();
    }
    let Some(open) = text.find('<') else {
        return text.trim();
    };
    // An attribute may hold the bracket, and a scalar stands before it.
    if let Some(space) = text[..open].find([' ', '{']) {
        return text[..space].trim();
    }
    match up_to_close(&text[open + 1..]) {
        Some((inner, _)) => &text[..open + inner.len() + 2],
        None => text.trim(),
    }
}

/// Finds the kernel: the first function that is not private.
///
/// # Errors
/// There is none, or its text is not understood.
pub fn kernel(text: &str) -> Result<Kernel> {
    const BEGIN: &str = "func.func @";
    let at = text
        .find(BEGIN)
        .context("the module has no kernel (func.func)")?;
    let rest = &text[at + BEGIN.len()..];
    let open = rest.find('(').context("the kernel has no parameters")?;
    let name = rest[..open].to_owned();
    let (list, _) = up_to_close(&rest[open + 1..]).context("the kernel's parameters do not end")?;
    let mut parameters = Vec::new();
    for part in split(list) {
        let (_, described) = part
            .split_once(": ")
            .with_context(|| format!("the parameter {part} has no type"))?;
        let use_of_memory = described
            .split_once("tt.tensor_kind = ")
            .and_then(|(_, rest)| {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                digits.parse().ok()
            });
        parameters.push(Parameter {
            kind: type_of(described).to_owned(),
            use_of_memory,
        });
    }
    // The lock, the work memory, and two times three numbers of the grid.
    if parameters.len() < 8 || !parameters[0].is_memory() || !parameters[1].is_memory() {
        bail!(
            "the kernel \"{name}\" has {} parameters, which is not the form of triton-ascend 3.2",
            parameters.len()
        );
    }
    Ok(Kernel { name, parameters })
}

/// Finds the functions that the module calls and does not define.
pub fn outside(text: &str) -> Vec<OutsideFunction> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix("func.func private @") else {
            continue;
        };
        let Some(open) = rest.find('(') else { continue };
        let Some((list, after)) = up_to_close(&rest[open + 1..]) else {
            continue;
        };
        if line.trim_end().ends_with('{') {
            continue;
        }
        let results = match after.trim_start().strip_prefix("-> ") {
            Some(results) => match results.strip_prefix('(') {
                Some(list) => up_to_close(list).map_or("", |(list, _)| list),
                None => type_of(results),
            },
            None => "",
        };
        let attributes = after
            .split_once("attributes {")
            .and_then(|(_, rest)| up_to_close(rest))
            .map_or("", |(inner, _)| inner);
        found.push(OutsideFunction {
            name: rest[..open].to_owned(),
            parameters: split(list)
                .iter()
                .map(|one| type_of(one).to_owned())
                .collect(),
            results: split(results)
                .iter()
                .map(|one| type_of(one).to_owned())
                .collect(),
            attributes: attributes.to_owned(),
        });
    }
    found
}

/// Returns the extents and the element type of a tensor or memref type. `None` is an extent that is not known.
pub fn shape(kind: &str) -> Option<(Vec<Option<u64>>, &str)> {
    let inner = kind
        .strip_prefix("tensor<")
        .or_else(|| kind.strip_prefix("memref<"))?;
    let inner = inner.split([',', '>']).next()?;
    let mut extents = Vec::new();
    let mut rest = inner;
    while let Some((extent, after)) = rest.split_once('x') {
        if extent == "?" {
            extents.push(None);
        } else if let Ok(extent) = extent.parse() {
            extents.push(Some(extent));
        } else {
            break;
        }
        rest = after;
    }
    Some((extents, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_read_with_its_parameters() {
        let text = "module {\n  func.func private @triton_sort(tensor<4x8xf32>, i64, i1) -> tensor<4x8xf32>\n  func.func @add(%arg0: memref<?xi8>, \
                    %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.divisibility = 16 : i32, tt.tensor_kind = 0 : i32} loc(\"x\"(#loc)), %arg3: f16, \
                    %a: i32, %b: i32, %c: i32, %d: i32, %e: i32, %f: i32) attributes {global_kernel = \"local\"} {\n";
        let kernel = kernel(text).unwrap();
        assert_eq!(kernel.name, "add");
        assert_eq!(kernel.parameters.len(), 10);
        assert_eq!(kernel.parameters[2].kind, "memref<?xf32>");
        assert_eq!(kernel.parameters[2].use_of_memory, Some(0));
        assert_eq!(kernel.parameters[3].kind, "f16");
        let outside = outside(text);
        assert_eq!(outside.len(), 1);
        assert_eq!(outside[0].parameters, ["tensor<4x8xf32>", "i64", "i1"]);
        assert_eq!(outside[0].results, ["tensor<4x8xf32>"]);
    }

    #[test]
    fn shapes_are_read() {
        assert_eq!(shape("tensor<4x?xf32>"), Some((vec![Some(4), None], "f32")));
        assert_eq!(
            shape("memref<?xi8, strided<[1], offset: ?>>"),
            Some((vec![None], "i8"))
        );
        assert_eq!(shape("tensor<f32>"), Some((vec![], "f32")));
        assert_eq!(shape("i32"), None);
    }
}
