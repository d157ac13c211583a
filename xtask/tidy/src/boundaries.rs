//! What may stand where in Rust sources.

use anyhow::Result;

use super::Problem;
use super::source::{File, Repository, words};

/// The one module that names locks, atomics, threads and clocks.
const SYNC: &str = "crates/jumar-hal/src/sync.rs";

/// Where rules about shipped code do not apply: tools and tests.
const TOOLS: &[&str] = &[
    "xtask/",
    "benches/",
    "crates/jumar-cli/",
    "crates/jumar-py/",
    "crates/jumar-testkit/",
    "crates/jumar-behaviour/",
];

/// Where unsafe code lives.
const UNSAFE_MODULES: &[&str] = &[
    "crates/jumar-capi/src/raw/",
    "crates/jumar-capi/src/generated/",
    "crates/jumar-capi/src/manual/",
    // The few wide functions below the C++ headers of the Graph Engine.
    "crates/jumar-capi/src/ge/",
    "crates/jumar-py/src/raw/",
    "crates/jumar-sched/src/ring/",
    // A lock whose holder never sleeps, for a few instructions.
    "crates/jumar-hal/src/spin_lock.rs",
    // Work that is shared with workers is lent to them, and not called after its owner has left.
    "crates/jumar-sched/src/team.rs",
    "crates/jumar-cpu/src/mem/",
    "crates/jumar-cpu/src/fault/",
    "crates/jumar-ops/src/simd/",
    "crates/jumar-ops/src/view/",
    "crates/jumar-cuda/src/sys/",
    // The encoder of video is a library in C++, behind its C interface.
    "crates/jumar-dvpp/src/video/openh264.rs",
    // FFmpeg's library is loaded by name; the rest of the folder is safe code.
    "crates/jumar-dvpp/src/video/ffmpeg/library.rs",
    // The codec of JPEG images is a library in C, which accesses device memory through its address.
    "crates/jumar-dvpp/src/jpeg/library.rs",
    // Instructions that only some processors have.
    "crates/jumar-dvpp/src/vpc/shuffle.rs",
    // The root of all memory safety: the creator of a span guarantees its bytes.
    "crates/jumar-types/src/span.rs",
    // Kernels are host code in shared objects: they are loaded, their descriptions are read, and their entries are called.
    "crates/jumar-cpu/src/code.rs",
    // Programs in Rust declare what their kernels do: these functions are unsafe to call, and contain no unsafe code.
    "crates/jumar/src/kernel.rs",
    "crates/jumar/src/graph.rs",
    // What a task must not inherit from its thread: rounding mode, errno, signal mask.
    "crates/jumar-cpu/src/thread.rs",
    // Memory that processes share, and calls of the system between processes that the standard library does not have.
    "crates/jumar-hccl/src/os/",
    // They call the C interface as a program does.
    "crates/jumar-testkit/src/raw/",
    "benches/jumar-bench/src/acl.rs",
    // Placement of threads, and copies past the caches as a yardstick.
    "benches/jumar-bench/src/placement.rs",
    "benches/jumar-bench/src/limits.rs",
    // Cases pass addresses and read memory behind them; a case guarantees them as a program does.
    "crates/jumar-behaviour/src/raw.rs",
];

/// Crates whose root forbids unsafe code.
const FORBIDDING: &[&str] = &[
    "core", "eager", "graph", "model", "diag", "acl", "cli", "ge",
];

/// What is free of `std::sync`.
const FREE_OF_SYNC: &[&str] = &["Arc", "Weak", "OnceLock", "LazyLock"];

/// Code that ships: not tools, not tests, not build scripts.
fn shipped(repository: &Repository) -> impl Iterator<Item = &File> {
    repository.rust().filter(|file| {
        file.path.starts_with("crates/")
            && !TOOLS.iter().any(|tool| file.path.starts_with(tool))
            && !file.path.ends_with("/build.rs")
            && !file.path.contains("/examples/")
    })
}

/// Only sync.rs names locks, atomics, channels, threads and clocks.
pub fn synchronisation(repository: &Repository) -> Result<Vec<Problem>> {
    let files = shipped(repository).filter(|file| file.path != SYNC);
    Ok(files.flat_map(names_of_synchronisation).collect())
}

fn names_of_synchronisation(file: &File) -> Vec<Problem> {
    let code = &file.shipped;
    let mut problems = Vec::new();
    let mut refuse = |at: usize, name: &str| {
        problems.push(Problem::new(
            file.location(at),
            format!("names {name}; take it from jumar_hal::sync"),
        ));
    };
    for prefix in ["std::sync::", "core::sync::"] {
        // jumar_core::sync is another module.
        let is_path_start =
            |at: &usize| !code[..*at].ends_with(|c: char| c == '_' || c.is_alphanumeric());
        for at in code
            .match_indices(prefix)
            .map(|(at, _)| at)
            .filter(is_path_start)
        {
            for name in imported(&code[at + prefix.len()..]) {
                if !FREE_OF_SYNC.contains(&name) {
                    refuse(at, &format!("{prefix}{name}"));
                }
            }
        }
    }
    for (at, _) in code.match_indices("std::thread") {
        if !code[at..].starts_with("std::thread_local") {
            refuse(at, "std::thread");
        }
    }
    for (at, _) in code.match_indices("std::time::") {
        for name in imported(&code[at + "std::time::".len()..]) {
            if !["Duration", "self"].contains(&name) {
                refuse(at, &format!("std::time::{name}"));
            }
        }
    }
    for (at, word) in words(code) {
        if ["parking_lot", "crossbeam_channel", "mpsc"].contains(&word) {
            refuse(at, word);
        }
    }
    problems
}

/// Returns the first names of what follows `a::b::`: one name, or those of a group in braces.
fn imported(rest: &str) -> Vec<&str> {
    let Some(group) = rest.strip_prefix('{') else {
        return words(rest)
            .next()
            .map(|(_, word)| word)
            .into_iter()
            .collect();
    };
    let mut names = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.extend(words(&group[start..at]).next().map(|(_, word)| word));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

/// `unsafe` is used in its modules only, and the roots of the other crates forbid it.
pub fn unsafety(repository: &Repository) -> Result<Vec<Problem>> {
    let outside = repository.rust().filter(|file| {
        file.path.contains("/src/")
            && !UNSAFE_MODULES
                .iter()
                .any(|module| file.path.starts_with(module))
    });
    let mut problems: Vec<Problem> = outside
        .flat_map(|file| {
            let found = words(&file.shipped).filter(|(_, word)| *word == "unsafe");
            found
                .map(|(at, _)| Problem::new(file.location(at), "unsafe outside of its modules"))
                .collect::<Vec<_>>()
        })
        .collect();
    for name in FORBIDDING {
        let root = ["lib.rs", "main.rs"]
            .iter()
            .find_map(|root| repository.get(&format!("crates/jumar-{name}/src/{root}")));
        if let Some(root) = root.filter(|root| !root.code.contains("#![forbid(unsafe_code)]")) {
            problems.push(Problem::new(
                &root.path,
                "its root has no #![forbid(unsafe_code)]",
            ));
        }
    }
    Ok(problems)
}

/// What is written while working and must not stay.
pub fn leftovers(repository: &Repository) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for file in repository.rust() {
        for mark in ["todo!", "unimplemented!", "#[ignore", "dbg!"] {
            for (at, _) in file.code.match_indices(mark) {
                problems.push(Problem::new(
                    file.location(at),
                    format!("{mark} stays nowhere"),
                ));
            }
        }
    }
    // Spelt in two pieces, so that this file does not break its own rule.
    let machine = [
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("/ho", "me/"),
    ];
    for file in repository
        .files
        .iter()
        .filter(|file| file.path != "Cargo.lock")
    {
        for path in machine {
            // A URL or a path below something else is not a path of a machine.
            let found = file.text.match_indices(path).filter(|(at, _)| {
                let before = file.text[..*at].chars().next_back().unwrap_or(' ');
                !before.is_alphanumeric() && !"}])>._-*$~".contains(before)
            });
            problems.extend(found.map(|(at, _)| {
                Problem::new(
                    file.location(at),
                    format!("names {path}, a path of one machine"),
                )
            }));
        }
    }
    Ok(problems)
}

/// A match on kinds of errors has an arm for each of them.
pub fn wildcards(repository: &Repository) -> Result<Vec<Problem>> {
    // A generated table of exceptions has a default, which is every kind's own code.
    let files = repository
        .rust()
        .filter(|file| file.path.starts_with("crates/") && !super::files::is_generated(file));
    Ok(files
        .flat_map(|file| {
            let found = words(&file.shipped)
                .filter(|(_, word)| *word == "match")
                .filter_map(|(at, _)| {
                    let patterns = patterns(&file.shipped[at..])?;
                    let on_kinds = patterns.iter().any(|pattern| matches_error_kinds(pattern));
                    let wild = patterns.contains(&"_");
                    (on_kinds && wild)
                        .then(|| Problem::new(file.location(at), "a _ arm beside kinds of errors"))
                });
            found.collect::<Vec<_>>()
        })
        .collect())
}

/// Returns whether a pattern names a kind of error: `ErrorKind::X`, but not a kind of another library or crate.
fn matches_error_kinds(pattern: &str) -> bool {
    words(pattern).any(|(at, word)| {
        word == "ErrorKind"
            && pattern[at + word.len()..].starts_with("::")
            && !pattern[..at].ends_with("io::")
    })
}

/// Returns the patterns of a match expression, guards included.
fn patterns(code: &str) -> Option<Vec<&str>> {
    let bytes = code.as_bytes();
    let mut depth = 0_i32;
    // The block opens at the first brace outside parentheses.
    let open = bytes.iter().position(|byte| {
        depth += i32::from(matches!(byte, b'(' | b'[')) - i32::from(matches!(byte, b')' | b']'));
        *byte == b'{' && depth == 0
    })?;
    let mut patterns = Vec::new();
    let mut at = open + 1;
    let mut start = at;
    let mut in_pattern = true;
    let mut depth = 0_i32;
    while at < bytes.len() {
        match bytes[at] {
            b'=' if in_pattern && depth == 0 && bytes.get(at + 1) == Some(&b'>') => {
                patterns.push(code[start..at].trim());
                in_pattern = false;
                at += 1;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' => depth -= 1,
            b'}' if depth == 0 => return Some(patterns),
            b'}' => {
                depth -= 1;
                // A body in braces needs no comma behind it, but an expression may continue: `{ .. }.name()`, `S { .. }`.
                let next = code[at + 1..].trim_start();
                if depth == 0 && !in_pattern && !next.starts_with(['.', '?', ',', '}', ')']) {
                    (in_pattern, start) = (true, at + 1);
                }
            }
            b',' if depth == 0 && !in_pattern => (in_pattern, start) = (true, at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arc_is_free_and_a_lock_is_not_however_it_is_named() {
        let file = |text: &str| File::new("crates/jumar-core/src/x.rs", text.into());
        for good in [
            "use std::sync::Arc;",
            "use std::sync::{Arc, OnceLock};",
            "// std::sync::Mutex",
            "std::thread_local! {}",
        ] {
            assert!(names_of_synchronisation(&file(good)).is_empty(), "{good}");
        }
        for bad in [
            "use std::sync::Mutex;",
            "use std::sync::{Arc, atomic::{AtomicU32, Ordering}};",
            "std::thread::sleep(x);",
            "use std::time::{Duration, Instant};",
        ] {
            assert_eq!(names_of_synchronisation(&file(bad)).len(), 1, "{bad}");
        }
    }

    #[test]
    fn only_our_own_kinds_of_errors_count() {
        assert!(matches_error_kinds("ErrorKind::OutOfMemory if full"));
        assert!(matches_error_kinds("(1, jumar_types::ErrorKind::Failure)"));
        assert!(!matches_error_kinds("GraphErrorKind::Truncated"));
        assert!(!matches_error_kinds("std::io::ErrorKind::NotFound"));
    }

    #[test]
    fn a_wildcard_is_found_beside_kinds_and_only_there() {
        let bad = "match e.kind() { ErrorKind::A => 1, ErrorKind::B => { 2 } _ => 3 }";
        assert_eq!(
            patterns(bad).unwrap(),
            ["ErrorKind::A", "ErrorKind::B", "_"]
        );
        let nested = "match x { A(_) => match y { _ => 1 }, B { .. } => f(|_| 2), C if g(|a| a > 1) => S { a: 1 }, D => 4 }";
        assert_eq!(
            patterns(nested).unwrap(),
            ["A(_)", "B { .. }", "C if g(|a| a > 1)", "D"]
        );
    }
}
