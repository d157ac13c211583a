//! The table against the install tree that `cargo xtask dist` makes, through C and through Python.

use std::path::PathBuf;
use std::process::Command;

use jumar_testkit::api::Api;
use jumar_testkit::run::{self, Outcome, Report, Selection};
use jumar_testkit::table::{self, Case};
use jumar_testkit::{models, root, tree};

fn table() -> (Api, Vec<Case>) {
    let api = Api::read(&root()).expect("the API data");
    let cases = table::read(&root(), &api).expect("the table");
    (api, cases)
}

/// Makes the models with the tree's own atc. What cannot be made shows as cases that lack a model.
fn fixtures(folder: &str) -> PathBuf {
    let folder = root().join("target").join(folder);
    match models::make(&tree(), &folder) {
        Ok(missing) => {
            for (name, reason) in missing {
                eprintln!("{name}.om could not be made: {reason}");
            }
        }
        Err(error) => eprintln!("no models: {error:#}"),
    }
    folder
}

/// The environment that the tests have made; the system's own where there is none.
fn interpreter() -> PathBuf {
    let made = root().join("target/venv/bin/python");
    if made.exists() {
        made
    } else {
        "python3".into()
    }
}

fn conclude(frontend: &str, report: &Report) {
    for (id, outcome) in &report.cases {
        match outcome {
            Outcome::Passed => {}
            Outcome::Failed(reason) => println!("FAIL {id}: {reason}"),
            Outcome::Waits(functions) => println!("waits {id}: {functions}"),
            Outcome::NoModel(model) => println!("no model {id}: {model}"),
            Outcome::NotApplicable(reason) => println!("not for {frontend} {id}: {reason}"),
        }
    }
    println!("{frontend}: {}", report.summary());
    assert!(
        report.count(|outcome| *outcome == Outcome::Passed) > 0,
        "no case ran"
    );
    assert!(
        report.failures().is_empty(),
        "{frontend}: {} of the table's cases fail, see above",
        report.failures().len()
    );
}

/// What wants the install tree; the step `test` of `cargo xtask ci` leaves it to steps of its own.
mod install_tree {
    use super::*;

    #[test]
    fn the_table_holds_through_c() {
        let (api, cases) = table();
        let models = fixtures("test-models-c");
        let report = run::c(&api, &cases, &tree(), Some(&models), &Selection::default())
            .unwrap_or_else(|error| panic!("{error:#}"));
        conclude("C", &report);
    }

    #[test]
    fn the_table_holds_through_python() {
        let (api, cases) = table();
        let models = fixtures("test-models-python");
        let selection = Selection::default();
        let report = run::python(
            &api,
            &cases,
            &tree(),
            &interpreter(),
            Some(&models),
            &selection,
        )
        .unwrap_or_else(|error| panic!("{error:#}"));
        conclude("Python", &report);
    }

    #[test]
    fn no_case_that_works_passes_against_a_library_that_does_nothing() {
        let (api, cases) = table();
        let passing = run::against_zero(&api, &cases, &root().join("include"))
            .unwrap_or_else(|error| panic!("{error:#}"));
        assert!(passing.is_empty(), "these show nothing: {passing:?}");
    }

    #[test]
    fn the_python_runner_is_python() {
        let folder = tempfile::tempdir().expect("a folder");
        let runner = folder.path().join("runner.py");
        std::fs::write(&runner, jumar_testkit::python::RUNNER).expect("written");
        let status = Command::new(interpreter())
            .args(["-W", "error", "-m", "py_compile"])
            .arg(runner)
            .status()
            .expect("python3 starts");
        assert!(status.success());
    }
}
