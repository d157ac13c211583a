//! Reads REG_OP classes from C++ files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use jumar::offline::lowering::Occurs;

use super::definition::{Attribute, Operator};

/// Reads the classes of files, and of what they include by a quoted name.
///
/// # Errors
/// A file cannot be read, a class has no end, or the files have no class.
pub fn read(files: &[PathBuf], folders: &[PathBuf]) -> Result<Vec<Operator>> {
    let mut waiting: Vec<PathBuf> = files.to_vec();
    let mut seen = BTreeSet::new();
    let mut operators = Vec::new();
    while let Some(path) = waiting.pop() {
        let own = path
            .canonicalize()
            .with_context(|| format!("cannot read {}", path.display()))?;
        if !seen.insert(own.clone()) {
            continue;
        }
        let text =
            fs::read_to_string(&own).with_context(|| format!("cannot read {}", path.display()))?;
        let text = without_comments(&text);
        operators.extend(parse(&text).with_context(|| path.display().to_string())?);
        let beside = own.parent().unwrap_or(Path::new("."));
        waiting.extend(included(&text).into_iter().filter_map(|name| {
            std::iter::once(beside)
                .chain(folders.iter().map(PathBuf::as_path))
                .map(|folder| folder.join(&name))
                .find(|path| path.is_file())
        }));
    }
    ensure!(
        !operators.is_empty(),
        "there is no REG_OP in {}",
        files
            .iter()
            .map(|file| file.display().to_string())
            .collect::<Vec<_>>()
            .join(", ")
    );
    Ok(operators)
}

/// Finds the classes in a text without comments.
pub fn parse(text: &str) -> Result<Vec<Operator>> {
    let mut operators = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("REG_OP(") {
        let before = rest[..at].lines().last().unwrap_or("");
        rest = &rest[at + "REG_OP".len()..];
        // The macro itself, or a name that ends so.
        if before.trim_start().starts_with('#')
            || before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            continue;
        }
        let (name, behind) = argument(rest)?;
        let name = name.trim().to_owned();
        let end = behind
            .find("OP_END")
            .with_context(|| format!("REG_OP({name}) has no OP_END_FACTORY_REG"))?;
        operators.push(operator(name, &behind[..end])?);
        rest = &behind[end..];
    }
    Ok(operators)
}

fn operator(name: String, chain: &str) -> Result<Operator> {
    let mut operator = Operator {
        name,
        inputs: Vec::new(),
        outputs: Vec::new(),
        attrs: Vec::new(),
        graphs: Vec::new(),
    };
    let mut rest = chain;
    while let Some(at) = rest.find('.') {
        rest = &rest[at + 1..];
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at(length);
        if !behind.trim_start().starts_with('(') {
            continue;
        }
        let (inside, behind) = argument(behind.trim_start())?;
        rest = behind;
        let parts = split(inside);
        let Some(own) = parts.first().map(|part| (*part).to_owned()) else {
            continue;
        };
        let kind = parts.get(1).map(|part| (*part).to_owned());
        match word {
            "INPUT" => operator.inputs.push((own, Occurs::Once)),
            "OPTIONAL_INPUT" => operator.inputs.push((own, Occurs::Maybe)),
            "DYNAMIC_INPUT" => operator.inputs.push((own, Occurs::Often)),
            "OUTPUT" => operator.outputs.push((own, Occurs::Once)),
            "DYNAMIC_OUTPUT" => operator.outputs.push((own, Occurs::Often)),
            "GRAPH" => operator.graphs.push((own, false)),
            "DYNAMIC_GRAPH" => operator.graphs.push((own, true)),
            "ATTR" | "REQUIRED_ATTR" => operator.attrs.push(Attribute {
                default: (word == "ATTR").then(|| parts[2.min(parts.len())..].join(", ")),
                kind: kind.with_context(|| format!("the attribute {own} has no type"))?,
                name: own,
            }),
            // Symbols of types say nothing about the function.
            "DATATYPE" => {}
            other => bail!(
                "{}: .{other}({inside}) is not a part of REG_OP that is known",
                operator.name
            ),
        }
    }
    Ok(operator)
}

/// Splits a text that begins with a parenthesis into what is inside it and what is behind it.
fn argument(text: &str) -> Result<(&str, &str)> {
    let mut depth = 0;
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' | '{' | '[' if !quoted => depth += 1,
            ')' | '}' | ']' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Ok((&text[1..at], &text[at + 1..]));
                }
            }
            _ => {}
        }
    }
    bail!(
        "a parenthesis is not closed: {}",
        text.chars().take(40).collect::<String>()
    )
}

/// Splits arguments at the commas between them.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' | '{' | '[' if !quoted => depth += 1,
            ')' | '}' | ']' if !quoted => depth -= 1,
            ',' if depth == 0 && !quoted => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn included(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            line.trim_start()
                .strip_prefix('#')?
                .trim_start()
                .strip_prefix("include")
        })
        .filter_map(|rest| {
            rest.trim_start()
                .strip_prefix('"')?
                .split('"')
                .next()
                .map(str::to_owned)
        })
        .collect()
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(_)) if quoted => {
                out.push(c);
                out.extend(chars.next());
            }
            ('"', _) => {
                quoted = !quoted;
                out.push(c);
            }
            ('/', Some('/')) if !quoted => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        out.push('\n');
                        break;
                    }
                }
            }
            ('/', Some('*')) if !quoted => {
                let mut last = ' ';
                chars.next();
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                out.push(' ');
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_with_every_part_is_read() {
        let text = r#"
            #define REG_OP(x) nothing
            // REG_OP(Comment).OP_END_FACTORY_REG(Comment)
            REG_OP(Own)
                .INPUT(x, TensorType({DT_FLOAT, DT_FLOAT16}))
                .OPTIONAL_INPUT(bias, "T") /* .INPUT(no, T) */
                .DYNAMIC_INPUT(more, TensorType::ALL())
                .OUTPUT(y, TensorType::ALL())
                .DYNAMIC_OUTPUT(z, TensorType::ALL())
                .ATTR(mode, String, "a,b(")
                .ATTR(sizes, ListInt, {1, 2})
                .ATTR(rate, Float, 0.5f)
                .REQUIRED_ATTR(axis, Int)
                .GRAPH(body)
                .DATATYPE(T, TensorType({DT_FLOAT}))
                .OP_END_FACTORY_REG(Own)"#;
        let all = parse(&without_comments(text)).unwrap();
        let [own] = &all[..] else {
            panic!("{all:?}");
        };
        let slot = |name: &str, occurs| (name.to_owned(), occurs);
        assert_eq!(own.name, "Own");
        assert_eq!(
            own.inputs,
            [
                slot("x", Occurs::Once),
                slot("bias", Occurs::Maybe),
                slot("more", Occurs::Often)
            ]
        );
        assert_eq!(
            own.outputs,
            [slot("y", Occurs::Once), slot("z", Occurs::Often)]
        );
        let attrs: Vec<_> = own
            .attrs
            .iter()
            .map(|one| (one.name.as_str(), one.kind.as_str(), one.default.as_deref()))
            .collect();
        assert_eq!(
            attrs,
            [
                ("mode", "String", Some("\"a,b(\"")),
                ("sizes", "ListInt", Some("{1, 2}")),
                ("rate", "Float", Some("0.5f")),
                ("axis", "Int", None),
            ]
        );
        assert_eq!(own.graphs, [("body".to_owned(), false)]);
    }

    #[test]
    fn a_class_without_an_end_is_refused_with_its_name() {
        let error = parse("REG_OP(Own).INPUT(x, T)").unwrap_err().to_string();
        assert!(error.contains("REG_OP(Own)"), "{error}");
    }
}
