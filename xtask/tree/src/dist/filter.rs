//! Symbols of libraries, and filter objects: small libraries with the symbols of others, for each of which the loader takes the
//! definition of the library that is filtered.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A symbol that a library exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub name: String,
    /// The size of an object such as a class's table of functions; `None` for a function.
    pub object: Option<u64>,
}

/// Returns what a library exports.
///
/// # Errors
/// `nm` fails, or the library exports nothing.
pub(crate) fn exported(library: &Path) -> Result<Vec<Symbol>> {
    let text = tool(
        "nm",
        Command::new("nm")
            .args(["-D", "-S", "--defined-only"])
            .arg(library),
    )?;
    let symbols: Vec<Symbol> = text.lines().filter_map(symbol).collect();
    if symbols.is_empty() {
        bail!("{} exports nothing", library.display());
    }
    Ok(symbols)
}

/// Reads a line of `nm -S`: address, size, kind, name. A symbol of size 0 has no second word.
fn symbol(line: &str) -> Option<Symbol> {
    let mut words = line.split_whitespace().rev();
    let (name, kind) = (words.next()?, words.next()?);
    let size = words.next()?;
    let object = match kind {
        "T" | "W" => None,
        "V" | "D" | "R" | "B" => Some(u64::from_str_radix(size, 16).ok()?),
        _ => return None,
    };
    // A version behind an @ belongs to another library's symbol.
    Some(Symbol {
        name: name.split('@').next()?.to_owned(),
        object,
    })
}

/// Returns assembler text that defines the symbols. Nothing of it is ever used: the loader finds the filtered library first.
pub(crate) fn source(symbols: &[Symbol]) -> Result<String> {
    let mut text = String::new();
    for Symbol { name, object } in symbols {
        match object {
            None => writeln!(
                text,
                ".section .text.filter,\"ax\",%progbits\n.globl {name}\n.type {name}, %function\n{name}:\n.size {name}, 0"
            )?,
            Some(size) => writeln!(
                text,
                ".section .bss.filter,\"aw\",%nobits\n.balign 8\n.weak {name}\n.type {name}, %object\n{name}:\n.skip {size}\n.size {name}, {size}"
            )?,
        }
    }
    text.push_str(".section .note.GNU-stack,\"\",%progbits\n");
    Ok(text)
}

/// Runs a tool of the compiler and returns what it prints.
///
/// # Errors
/// The tool cannot be started or fails.
pub(crate) fn tool(name: &str, command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| {
        format!("{name} cannot be started; on Debian and Ubuntu: apt-get install g++")
    })?;
    if !output.status.success() {
        bail!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_and_objects_are_read_and_the_rest_is_left_out() {
        let function = symbol("0000000000012340 0000000000000010 T aclInit");
        assert_eq!(
            function.map(|one| (one.name, one.object)),
            Some(("aclInit".to_owned(), None))
        );
        let table = symbol("0000000000045670 0000000000000020 V _ZTVN2ge8OperatorE");
        assert_eq!(table.and_then(|one| one.object), Some(32));
        assert_eq!(
            symbol("0000000000012340 T empty").map(|one| one.name),
            Some("empty".to_owned())
        );
        assert_eq!(symbol("                 U malloc@GLIBC_2.2.5"), None);
        assert_eq!(symbol(""), None);
    }

    #[test]
    fn the_text_has_each_symbol_once_with_its_kind_and_size() {
        let symbols = [
            Symbol {
                name: "call".into(),
                object: None,
            },
            Symbol {
                name: "table".into(),
                object: Some(48),
            },
        ];
        let text = source(&symbols).unwrap();
        assert_eq!(text.matches(".type call, %function").count(), 1);
        assert!(text.contains(".type table, %object") && text.contains(".size table, 48"));
    }
}
