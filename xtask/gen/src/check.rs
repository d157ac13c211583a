//! Checks of the generated headers with the system's compilers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};

const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Werror", "-fsyntax-only"];
const DIALECTS: &[(&str, &str)] = &[("cc", "c11"), ("c++", "c++11"), ("c++", "c++17")];

/// Compiles every header alone, as C11, C++11 and C++17, with only `-I include` and with only `-I include/acl`, those of single operators
/// together, and the layout test. `include` is the folder that has `acl/` in it.
///
/// # Errors
/// A compiler cannot be run, or it says something.
pub fn headers(include: &Path) -> Result<()> {
    let root = super::root();
    let scratch = std::env::temp_dir().join(format!("jumar-headers-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let outcome = compile_all(root, include, &scratch);
    fs::remove_dir_all(&scratch).context("removing the scratch folder")?;
    outcome
}

fn compile_all(root: &Path, include: &Path, scratch: &Path) -> Result<()> {
    let mut jobs: Vec<(String, Vec<String>)> = Vec::new();
    for header in super::headers::list(root)? {
        let path = super::headers::included(&header.path);
        let bare = path.strip_prefix("acl/").map(|name| ("acl", name));
        for (folder, name) in bare.into_iter().chain([("", path.as_str())]) {
            // Included twice: the guard works too.
            let text = format!(
                "#include \"{name}\"\n#include \"{name}\"\nint main(void) {{ return 0; }}\n"
            );
            for (compiler, standard) in DIALECTS {
                let suffix = if *compiler == "cc" { "c" } else { "cpp" };
                let stem = format!(
                    "{}-{}-{}",
                    header.path.replace(['/', '.'], "_"),
                    folder,
                    standard.replace('+', "x")
                );
                let file = scratch.join(format!("{stem}.{suffix}"));
                fs::write(&file, &text)?;
                jobs.push((
                    (*compiler).to_owned(),
                    arguments(standard, &include.join(folder), &file),
                ));
            }
        }
    }
    for (index, text) in single_operators(root, include)?.iter().enumerate() {
        let file = scratch.join(format!("aclnnop_{index}.cpp"));
        fs::write(&file, text)?;
        jobs.push(("c++".to_owned(), arguments("c++11", include, &file)));
    }
    let layout = root.join("tests/c/layout.c");
    jobs.push(("cc".to_owned(), arguments("c11", include, &layout)));
    let as_cpp = scratch.join("layout.cpp");
    fs::copy(&layout, &as_cpp)?;
    jobs.push(("c++".to_owned(), arguments("c++11", include, &as_cpp)));
    run_all(&jobs)?;
    println!("headers: {} compilations are clean", jobs.len());
    Ok(())
}

/// Returns programs that include every header of single operators, twice.
///
/// These headers declare functions and no type. Those that include the same others are compiled together: what one of them lacks, the
/// others do not bring. The headers in `level2` only include the one of their name.
fn single_operators(root: &Path, include: &Path) -> Result<Vec<String>> {
    let mut programs: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for name in super::aclnn::Aclnn::load(root)?.headers() {
        let path = include.join("aclnnop").join(name);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let needed = text.lines().filter(|line| line.starts_with("#include"));
        let program = programs
            .entry(needed.map(str::to_owned).collect())
            .or_default();
        for folder in ["aclnnop", "aclnnop/level2", "aclnnop"] {
            *program += &format!("#include \"{folder}/{name}\"\n");
        }
    }
    Ok(programs.into_values().collect())
}

fn arguments(standard: &str, include: &Path, file: &Path) -> Vec<String> {
    let mut all = vec![
        format!("-std={standard}"),
        "-I".to_owned(),
        include.display().to_string(),
    ];
    all.extend(WARNINGS.iter().map(|w| (*w).to_owned()));
    all.push(file.display().to_string());
    all
}

fn run_all(jobs: &[(String, Vec<String>)]) -> Result<()> {
    let next = AtomicUsize::new(0);
    let complaints: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((compiler, arguments)) =
                    jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let complaint = match Command::new(compiler).args(arguments).output() {
                        Ok(output) if output.status.success() => continue,
                        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
                        Err(error) => error.to_string(),
                    };
                    let text = format!("{compiler} {}\n{complaint}", arguments.join(" "));
                    complaints
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push(text);
                }
            });
        }
    });
    let complaints = complaints
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    ensure!(
        complaints.is_empty(),
        "{} of {} compilations failed; the first:\n{}",
        complaints.len(),
        jobs.len(),
        complaints.first().map_or("", String::as_str)
    );
    Ok(())
}

/// Builds `tests/c/layout.c` against a library and runs it: everything that the headers declare links, and the
/// constants have the values of the data.
///
/// # Errors
/// It does not build, or does not return 0.
pub fn links(include: &Path, library_folder: &Path) -> Result<()> {
    let root = super::root();
    let program: PathBuf =
        std::env::temp_dir().join(format!("jumar-layout-{}", std::process::id()));
    let output = Command::new("cc")
        .args(["-std=c11", "-I"])
        .arg(include)
        .arg(root.join("tests/c/layout.c"))
        .arg("-L")
        .arg(library_folder)
        .arg("-lascendcl")
        .arg("-o")
        .arg(&program)
        .output()
        .context("running cc")?;
    ensure!(
        output.status.success(),
        "layout.c does not link:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let status = Command::new(&program)
        .env("LD_LIBRARY_PATH", library_folder)
        .status();
    fs::remove_file(&program).context("removing the program")?;
    ensure!(
        status?.success(),
        "the layout program found a constant that differs"
    );
    Ok(())
}
