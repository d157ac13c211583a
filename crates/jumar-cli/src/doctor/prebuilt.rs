//! Whether a prebuilt library that was linked with the toolkit can be loaded with this Jumar.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use object::{Object as _, ObjectSymbol as _};

use super::Report;
use super::loader::{self, Loader};
use crate::tree::Tree;

/// How many missing names a line lists.
const LISTED: usize = 8;
/// The C++ library of the Graph Engine, beside the runtime.
const GRAPH_ENGINE: &str = "libjumar_ge.so";
/// The library with the classes of transformers.
const TRANSFORMERS: &str = "libatb.so";

/// Reports the functions and libraries that `file` links and no library provides. `own` is a folder of libraries that its package
/// loads before. Returns the names of all functions that Jumar has, or nothing if they cannot be read.
pub fn examine(
    report: &mut Report,
    about: &'static str,
    tree: &Tree,
    file: &Path,
    own: Option<&Path>,
) -> Option<BTreeSet<String>> {
    let wanted = match symbols(file) {
        Ok(symbols) => symbols.undefined,
        Err(error) => {
            report.problem(about, error);
            return None;
        }
    };
    let mut ours = match symbols(&tree.library()) {
        Ok(symbols) => symbols.defined,
        Err(error) => {
            report.problem("runtime", error);
            return None;
        }
    };
    for (file, what) in [
        (GRAPH_ENGINE, "Graph Engine"),
        (TRANSFORMERS, "transformer library"),
    ] {
        match symbols(&tree.library().with_file_name(file)) {
            Ok(symbols) => ours.extend(symbols.defined),
            Err(error) => report.problem(what, error),
        }
    }
    let missing: Vec<&str> = wanted
        .iter()
        .map(String::as_str)
        .filter(|name| is_of_the_toolkit(name) && !ours.contains(*name))
        .collect();
    if missing.is_empty() {
        report.ok(about, "every function that it links is there");
    } else {
        let listed = missing[..missing.len().min(LISTED)].join(", ");
        let more = match missing.len().checked_sub(LISTED) {
            None | Some(0) => String::new(),
            Some(more) => format!(" and {more} more"),
        };
        report.problem(
            about,
            format!("links functions that this Jumar lacks: {listed}{more}"),
        );
    }

    match missing_libraries(tree, file) {
        Err(error) => report.problem(about, format!("{}: {error}", file.display())),
        Ok(missing) => {
            let is_own = |name: &String| own.is_some_and(|own| own.join(name).exists());
            for name in missing.iter().filter(|name| !is_own(name)) {
                report.problem(about, format!("needs {name}, which nothing provides"));
            }
        }
    }
    Some(ours)
}

/// Lists the libraries that a file links and the loader does not find.
pub fn missing_libraries(tree: &Tree, file: &Path) -> Result<Vec<String>, String> {
    let path = tree
        .environment(|name| std::env::var_os(name))
        .into_iter()
        .find(|(name, _)| *name == "LD_LIBRARY_PATH")
        .map(|(_, value): (_, OsString)| value);
    let needs = loader::needs(file).map_err(|error| error.to_string())?;
    let loader = Loader::of_program(&needs, path);
    let missing = needs
        .names
        .iter()
        .filter(|name| loader.find(name).is_none());
    Ok(missing.cloned().collect())
}

/// Returns whether a symbol belongs to the toolkit's libraries, to judge by its name.
fn is_of_the_toolkit(name: &str) -> bool {
    let capital_after = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
    };
    name.starts_with("acl")
        || ["Hccl", "Hcom", "Msprof", "rt", "hal"]
            .into_iter()
            .any(capital_after)
        || ["_ZN2ge", "_ZNK2ge", "_ZTVN2ge"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

#[derive(Default)]
struct Symbols {
    defined: BTreeSet<String>,
    undefined: BTreeSet<String>,
}

fn symbols(path: &Path) -> Result<Symbols, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = fs::read(path).map_err(|error| failed(&error))?;
    let file = object::File::parse(&*bytes).map_err(|error| failed(&error))?;
    let mut symbols = Symbols::default();
    for symbol in file.dynamic_symbols() {
        let Ok(name) = symbol.name() else { continue };
        let names = match symbol.is_undefined() {
            // A weak name may stay without a definition.
            true if symbol.is_weak() => continue,
            true => &mut symbols.undefined,
            false => &mut symbols.defined,
        };
        names.insert(name.to_owned());
    }
    Ok(symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolkit_names_are_distinguished_from_those_of_other_libraries() {
        for name in [
            "aclInit",
            "HcclSetConfig",
            "MsprofReportApi",
            "rtKernelLaunch",
            "_ZN2ge5GraphC1Ev",
        ] {
            assert!(is_of_the_toolkit(name), "{name}");
        }
        for name in [
            "malloc",
            "rtld_db",
            "halt",
            "_ZN2at4_ops3add4callE",
            "cudaMalloc",
        ] {
            assert!(!is_of_the_toolkit(name), "{name}");
        }
    }

    #[test]
    fn a_program_has_undefined_symbols_and_a_text_file_is_refused() {
        let symbols = symbols(&std::env::current_exe().unwrap()).unwrap();
        assert!(!symbols.undefined.is_empty());
        assert!(super::symbols(Path::new("Cargo.toml")).is_err());
    }
}
