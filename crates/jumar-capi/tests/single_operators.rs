//! Single operators through their C++ headers: the programs of `tests/aclnn`, against the library that was built with this test.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use jumar::offline::single_op;

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
    run_with(path, devices, &[])
}

/// As [`run`], with arguments for the program.
fn run_with(path: &str, devices: &str, words: &[&Path]) -> Result<String, Box<dyn Error>> {
    let (root, library) = (root(), library()?);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(folder)?;
    let name = Path::new(path).with_extension("");
    let name = name.to_string_lossy().replace('/', "_");
    let program = folder.join(format!("single_operators_{name}"));
    let (compiler, standard) = match path.ends_with(".c") {
        true => ("cc", "-std=gnu11"),
        false => ("c++", "-std=c++17"),
    };
    let compiled = Command::new(compiler)
        .args([standard, "-O0", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join(path))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&library)
        .args(["-lascendcl", "-lm"])
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .output()?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into());
    }
    let done = Command::new(&program)
        .args(words)
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
    let said = run("tests/aclnn/interface.cpp", "1")?;
    let counts: Vec<usize> = said
        .split(|c: char| !c.is_ascii_digit())
        .filter(|word| !word.is_empty())
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    assert_eq!(counts.len(), 3, "{said}");
    // Without the one whose second phase takes its arguments again.
    assert_eq!(counts.iter().sum::<usize>(), 1093, "{said}");
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

#[test]
fn bad_executors_workspaces_and_indices_answer_codes_and_sentences() -> Outcome {
    assert_eq!(run("tests/aclnn/failures.cpp", "2")?, "done\n");
    Ok(())
}

#[test]
fn operators_run_by_type_and_are_refused_where_they_must_be() -> Outcome {
    assert_eq!(run("tests/aclop/execute.c", "1")?, "done\n");
    Ok(())
}

#[test]
fn a_transformer_of_operators_trains_and_decodes_as_in_float64_call_by_call_and_captured() -> Outcome
{
    let reference = root().join("examples/custom_net/reference.txt");
    let said = run_with("examples/custom_net/main.cpp", "1", &[&reference])?;
    let ways: Vec<_> = said
        .lines()
        .filter(|line| line.ends_with("64 of 64 words"))
        .collect();
    assert_eq!(ways.len(), 2, "{said}");
    Ok(())
}

#[test]
fn many_calls_leave_memory_as_it_was() -> Outcome {
    let said = run_with("tests/aclnn/endurance.cpp", "1", &[Path::new("20000")])?;
    assert!(said.contains("calls, resident"), "{said}");
    Ok(())
}

#[test]
fn products_have_the_documented_types_transposes_and_roundings() -> Outcome {
    assert_eq!(run("tests/aclop/cblas.c", "1")?, "done\n");
    Ok(())
}

const DESCRIPTIONS: &str = r#"[
    {"op": "Add",
     "input_desc": [{"type": "float32", "shape": [2, 3]}, {"type": "float32", "shape": [2, 3]}],
     "output_desc": [{"type": "float32", "shape": [2, 3]}]},
    {"op": "Mul",
     "input_desc": [{"type": "float32", "shape": [-1, 3]}, {"type": "float32", "shape": [-1, 3]}],
     "output_desc": [{"type": "float32", "shape": [-1, 3]}]},
    {"op": "ReduceSumD",
     "input_desc": [{"type": "float32", "shape": [2, 3]}],
     "output_desc": [{"type": "float32", "shape": [2]}],
     "attr": [{"name": "axes", "type": "list_int", "value": [1]}]},
    {"op": "Relu",
     "input_desc": [{"type": "float32", "shape": [2, 3]}],
     "output_desc": [{"type": "float32", "shape": [2, 3]}]}]"#;

#[test]
fn files_of_operators_are_found_in_folders_and_in_memory() -> Outcome {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("single_operator_files");
    let inner = folder.join("models/inner");
    fs::create_dir_all(&inner)?;
    let relu = folder.join("relu.om");
    for (index, operator) in single_op::read_descriptions(DESCRIPTIONS)?
        .iter()
        .enumerate()
    {
        let path = match index {
            3 => relu.clone(),
            _ => inner.join(single_op::file_name(index, operator)),
        };
        fs::write(path, single_op::write(operator)?)?;
    }
    let said = run_with("tests/aclop/files.c", "1", &[&folder.join("models"), &relu])?;
    assert_eq!(said, "done\n");
    Ok(())
}

#[test]
fn operators_with_collectives_agree_with_one_computation_on_the_data_of_all_ranks() -> Outcome {
    for (ranks, count) in [("threads", "2"), ("threads", "4"), ("processes", "2")] {
        let words = [Path::new(ranks), Path::new(count)];
        assert_eq!(run_with("tests/aclnn/joined.cpp", count, &words)?, "done\n");
    }
    Ok(())
}
