//! Whether the packages of vLLM and MindSpore, where they are installed, are complete and belong together.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

use super::Report;

/// What vLLM and its plug-in import, which pip cannot install as their dependencies: the two do not agree on PyTorch.
const SERVING: &str = include_str!("../../../../examples/vllm/requirements.txt");

/// The releases that are measured, and the release of CPython with which they are.
const MEASURED: &[(&str, &str)] = &[
    ("vllm", "0.18.0"),
    ("vllm-ascend", "0.18.0"),
    ("mindspore", "2.10.0"),
];
const PYTHON: &str = "3.11";

/// Prints the release of Python, that of each installed package, and what the packages named here require.
const FIND: &str = "
import importlib.metadata as metadata, sys
print('python', '%d.%d' % sys.version_info[:2], sep='\\t')
for found in metadata.distributions():
    name = (found.metadata['Name'] or '').lower().replace('_', '-').replace('.', '-')
    print('package', name, found.version, sep='\\t')
    if name in ('vllm-ascend', 'mindspore'):
        for need in found.requires or []:
            if 'extra ==' not in need:
                print('need', name, need.split(';')[0].replace(' ', ''), sep='\\t')
";

/// The packages of an environment.
#[derive(Debug, Default)]
struct Packages {
    python: String,
    versions: HashMap<String, String>,
    /// What packages require: the package, and the name with the condition.
    needs: Vec<(String, String)>,
}

/// Examines the packages of an interpreter. Reports nothing where neither framework is installed.
pub(crate) fn examine(report: &mut Report, python: &Path) {
    let output = Command::new(python)
        .args(["-c", FIND])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else { return };
    let packages = packages(&String::from_utf8_lossy(&output.stdout));
    if packages.has("vllm") || packages.has("vllm-ascend") {
        finish(report, "vllm", serving(&packages), &packages);
    }
    if packages.has("mindspore") {
        finish(report, "mindspore", mindspore(&packages), &packages);
    }
}

/// Reports problems, and releases that were not measured.
fn finish(report: &mut Report, about: &'static str, problems: Vec<String>, packages: &Packages) {
    if problems.is_empty() {
        let version = packages.version(about).unwrap_or("an unknown release");
        report.ok(about, format!("{version}: its packages are complete"));
    }
    for problem in problems {
        report.problem(about, problem);
    }
    for (name, measured) in MEASURED {
        let own = name.starts_with(about);
        match packages.version(name) {
            Some(version) if own && version != *measured => report.note(
                about,
                format!(
                    "{name} {version} is installed; the release that was measured is {measured}"
                ),
            ),
            _ => {}
        }
    }
    if packages.python != PYTHON {
        report.note(
            about,
            format!(
                "the interpreter is Python {}; the packages were measured with CPython {PYTHON}",
                packages.python
            ),
        );
    }
}

impl Packages {
    fn has(&self, name: &str) -> bool {
        self.versions.contains_key(name)
    }

    fn version(&self, name: &str) -> Option<&str> {
        self.versions.get(name).map(String::as_str)
    }

    /// Returns which of some requirements name a package that is not installed.
    fn missing<'a>(&self, needs: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        needs.filter(|need| !self.has(&name_of(need))).collect()
    }
}

fn packages(printed: &str) -> Packages {
    let mut found = Packages::default();
    for line in printed.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["python", version] => found.python = version.to_owned(),
            ["package", name, version] => {
                found.versions.insert(name.to_owned(), version.to_owned());
            }
            ["need", name, need] => found.needs.push((name.to_owned(), need.to_owned())),
            _ => {}
        }
    }
    found
}

/// Returns the name of the package in a requirement, as indexes compare it.
fn name_of(need: &str) -> String {
    let end = need.find(|letter: char| !(letter.is_alphanumeric() || "-_.".contains(letter)));
    let name = &need[..end.unwrap_or(need.len())];
    name.to_lowercase().replace(['_', '.'], "-")
}

/// Returns the first three numbers of a release: those of `0.18.0rc1` are 0.18.0.
fn numbers(version: &str) -> String {
    let end = version.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
    version[..end.unwrap_or(version.len())].to_owned()
}

/// What prevents vLLM from working, and the commands that change it.
fn serving(packages: &Packages) -> Vec<String> {
    let mut problems = Vec::new();
    match (packages.version("vllm"), packages.version("vllm-ascend")) {
        (Some(server), None) => problems.push(format!(
            "vllm {server} is installed without its plug-in for Ascend devices: pip install --no-deps vllm-ascend=={}",
            numbers(server)
        )),
        (None, Some(plugin)) => problems.push(format!(
            "vllm-ascend {plugin} is installed without vllm: pip install --no-deps vllm=={}",
            numbers(plugin)
        )),
        (Some(server), Some(plugin)) if numbers(server) != numbers(plugin) => {
            problems.push(format!(
                "vllm {server} and vllm-ascend {plugin} do not belong together: pip install --no-deps vllm-ascend=={}",
                numbers(server)
            ));
        }
        _ => {}
    }
    // The plug-in is compiled for one release of PyTorch and of its adapter, and vLLM asks for another one.
    let exact = packages.needs.iter().filter(|(by, need)| {
        let family = ["torch", "torch-npu", "torchvision", "torchaudio"];
        by == "vllm-ascend" && family.contains(&name_of(need).as_str())
    });
    for (_, need) in exact {
        let Some((_, wanted)) = need.split_once("==") else {
            continue;
        };
        let name = name_of(need);
        match packages.version(&name) {
            Some(own) if numbers(own) == numbers(wanted) => {}
            Some(own) => problems.push(format!(
                "vllm-ascend requires {need}, and {name} {own} is installed: pip install --no-deps {name}=={wanted}"
            )),
            None => problems.push(format!(
                "vllm-ascend requires {need}, which is missing: pip install --no-deps {name}=={wanted}"
            )),
        }
    }
    let needs = SERVING.lines().map(str::trim);
    let needs = needs.filter(|line| !line.is_empty() && !line.starts_with('#'));
    problems.extend(install(&packages.missing(needs)));
    problems
}

/// What prevents MindSpore from working.
fn mindspore(packages: &Packages) -> Vec<String> {
    let own = packages.needs.iter().filter(|(by, _)| by == "mindspore");
    let missing = packages.missing(own.map(|(_, need)| need.as_str()));
    let mut problems: Vec<String> = install(&missing).into_iter().collect();
    let numpy = packages.version("numpy").unwrap_or_default();
    let is_new = numpy.split('.').next().and_then(|major| major.parse().ok()) >= Some(2u32);
    if is_new && !missing.iter().any(|need| name_of(need) == "numpy") {
        problems.push(format!(
            "numpy {numpy} is installed, and MindSpore was compiled for an earlier one: pip install \"numpy<2\""
        ));
    }
    problems
}

/// Names packages that are missing, with the command that installs them.
fn install(missing: &[&str]) -> Option<String> {
    let quoted: Vec<String> = missing.iter().map(|need| format!("\"{need}\"")).collect();
    (!quoted.is_empty()).then(|| {
        format!(
            "{} {} missing: pip install {}",
            missing
                .iter()
                .map(|need| name_of(need))
                .collect::<Vec<_>>()
                .join(", "),
            if missing.len() == 1 { "is" } else { "are" },
            quoted.join(" ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An environment with all that vLLM imports.
    fn complete() -> Packages {
        let mut found = packages(
            "python\t3.11\npackage\tvllm\t0.18.0\npackage\tvllm-ascend\t0.18.0rc1\npackage\ttorch-npu\t2.9.0\n\
             need\tvllm-ascend\ttorch-npu==2.9.0\nneed\tvllm-ascend\ttorch==2.9.0+cpu\nneed\tvllm-ascend\tcmake>=3.26\n",
        );
        let needs = SERVING.lines().filter(|line| !line.starts_with('#'));
        for need in needs {
            found.versions.insert(name_of(need), "1.0".to_owned());
        }
        found
            .versions
            .insert("torch".to_owned(), "2.9.0".to_owned());
        found
    }

    #[test]
    fn a_complete_environment_has_no_problems() {
        assert_eq!(serving(&complete()), Vec::<String>::new());
    }

    #[test]
    fn what_is_missing_or_does_not_belong_together_is_named_with_the_command() {
        let mut found = complete();
        found.versions.remove("xgrammar");
        found
            .versions
            .insert("torch".to_owned(), "2.10.0+cu128".to_owned());
        found
            .versions
            .insert("vllm".to_owned(), "0.19.1".to_owned());
        let problems = serving(&found);
        let expected = [
            "vllm 0.19.1 and vllm-ascend 0.18.0rc1 do not belong together: pip install --no-deps vllm-ascend==0.19.1",
            "vllm-ascend requires torch==2.9.0+cpu, and torch 2.10.0+cu128 is installed: pip install --no-deps torch==2.9.0+cpu",
            "xgrammar is missing: pip install \"xgrammar>=0.1.32,<1.0.0\"",
        ];
        assert_eq!(problems, expected);
        found.versions.remove("vllm-ascend");
        assert!(serving(&found)[0].contains("pip install --no-deps vllm-ascend==0.19.1"));
    }

    #[test]
    fn a_numpy_that_mindspore_was_not_compiled_for_is_named() {
        let printed = "python\t3.12\npackage\tmindspore\t2.10.0\npackage\tnumpy\t2.1.0\nneed\tmindspore\tnumpy>=1.25.0\n\
                       need\tmindspore\tdill>=0.3.7\n";
        let problems = mindspore(&packages(printed));
        assert_eq!(problems[0], "dill is missing: pip install \"dill>=0.3.7\"");
        assert!(problems[1].ends_with("pip install \"numpy<2\""));
    }
}
