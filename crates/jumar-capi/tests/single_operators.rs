//! Single operators through their C++ headers: the programs of `tests/aclnn`, against the library that was built with this test.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Outcome = Result<(), Box<dyn Error>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the library that was built with this test.
fn library() -> Result<PathBuf, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let deps = own.parent().ok_or("a test lies in a folder")?;
    let found = [Some(deps), deps.parent()]
        .into_iter()
        .flatten()
        .find(|folder| folder.join("libascendcl.so").exists());
    Ok(found.ok_or("libascendcl.so was not built")?.to_owned())
}

/// Compiles a program of the repository, runs it, and returns what it printed.
fn run(path: &str, devices: &str) -> Result<String, Box<dyn Error>> {
    let (root, library) = (root(), library()?);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder)?;
    let name = Path::new(path).file_stem().ok_or("a program has a name")?;
    let name = name.to_string_lossy();
    let program = folder.join(format!("single_operators_{name}"));
    let compiled = Command::new("c++")
        .args(["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join(path))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&library)
        .arg("-lascendcl")
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .output()?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into());
    }
    let done = Command::new(&program)
        .env("LD_LIBRARY_PATH", &library)
        .env("JUMAR_DEVICES", devices)
        .output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() {
        return Err(format!("{name}: {}\n{said}", done.status).into());
    }
    Ok(String::from_utf8(done.stdout)?)
}

#[test]
fn every_operator_links_and_answers_in_both_phases() -> Outcome {
    let said = run("tests/aclnn/surface.cpp", "1")?;
    let counts: Vec<usize> = said
        .split(|c: char| !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    assert_eq!(counts.len(), 3, "{said}");
    // Without the one whose second phase takes its arguments again.
    assert_eq!(counts.iter().sum::<usize>(), 1084, "{said}");
    Ok(())
}

#[test]
fn objects_hold_what_they_were_given_and_refuse_misuse() -> Outcome {
    assert_eq!(run("tests/aclnn/objects.cpp", "1")?, "done\n");
    Ok(())
}

#[test]
fn an_addition_runs_queued_repeated_captured_and_is_refused_where_it_must_be() -> Outcome {
    assert_eq!(run("tests/aclnn/add.cpp", "2")?, "done\n");
    Ok(())
}
