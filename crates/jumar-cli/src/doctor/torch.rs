//! Whether the prebuilt PyTorch adapter (`torch_npu`), where it is installed, can be loaded with this Jumar.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{Report, prebuilt};
use crate::tree::Tree;

/// Prints name, version, folder and, for the adapter, its requirement of PyTorch. Neither package is imported: an import that
/// fails may end the process.
const FIND: &str = "
import importlib.metadata as metadata, importlib.util as util
for name in ('torch', 'torch_npu'):
    spec = util.find_spec(name)
    if not spec or not spec.submodule_search_locations:
        continue
    try:
        found = metadata.distribution(name.replace('_', '-'))
        needs = [need for need in found.requires or [] if need.replace(' ', '').startswith('torch=')]
        version = found.version
    except metadata.PackageNotFoundError:
        version, needs = '', []
    print(name, version, spec.submodule_search_locations[0], needs[0] if needs else '', sep='\\t')
";

#[derive(Debug, Default, PartialEq)]
struct Package {
    name: String,
    version: String,
    folder: PathBuf,
    requirement: String,
}

/// Examines the adapter of the `python3` on PATH. Reports nothing where none is installed.
pub fn examine(report: &mut Report, tree: &Tree) {
    let output = Command::new("python3")
        .args(["-c", FIND])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else { return };
    let packages = packages(&String::from_utf8_lossy(&output.stdout));
    let find = |name: &str| packages.iter().find(|package| package.name == name);
    let Some(adapter) = find("torch_npu") else {
        return;
    };
    let about = "torch_npu";
    report.ok(
        about,
        format!("{} in {}", adapter.version, adapter.folder.display()),
    );
    match find("torch") {
        None => report.problem(about, "PyTorch itself is not installed: pip install torch"),
        Some(torch) => examine_torch(report, torch, adapter),
    }
    examine_libraries(report, tree, adapter, find("torch"));
}

fn examine_torch(report: &mut Report, torch: &Package, adapter: &Package) {
    let about = "torch";
    if !fits(&adapter.requirement, &torch.version) {
        report.problem(
            about,
            format!(
                "{} is installed, and torch_npu {} requires {}",
                torch.version, adapter.version, adapter.requirement
            ),
        );
    }
    let release = torch.version.split('+').next().unwrap_or_default();
    if torch.folder.join("lib/libtorch_cuda.so").exists() {
        report.problem(
            about,
            format!(
                "{} is a build for CUDA: importing torch_npu beside it ends the process (\"Duplicated key\"); install the CPU build: \
                 pip install torch=={release} --index-url https://download.pytorch.org/whl/cpu",
                torch.version
            ),
        );
    } else {
        report.ok(about, format!("{} is a build for the CPU", torch.version));
    }
}

fn examine_libraries(report: &mut Report, tree: &Tree, adapter: &Package, torch: Option<&Package>) {
    let about = "torch_npu";
    let file = adapter.folder.join("lib/libtorch_npu.so");
    // PyTorch has loaded its own libraries before.
    let own = torch.map(|torch| torch.folder.join("lib"));
    let Some(ours) = prebuilt::examine(report, about, tree, &file, own.as_deref()) else {
        return;
    };

    let operators = ours
        .iter()
        .filter(|name| name.starts_with("aclnn") && name.ends_with("GetWorkspaceSize"))
        .count();
    report.note(
        about,
        format!("{operators} operators (aclnn) are there; others end with \"not supported\""),
    );
}

fn packages(printed: &str) -> Vec<Package> {
    let package = |line: &str| {
        let mut parts = line.split('\t').map(str::to_owned);
        Some(Package {
            name: parts.next()?,
            version: parts.next()?,
            folder: parts.next()?.into(),
            requirement: parts.next()?,
        })
    };
    printed.lines().filter_map(package).collect()
}

/// Returns whether a version fulfils a requirement such as `torch==2.14.0.*`. One of another form counts as fulfilled.
fn fits(requirement: &str, version: &str) -> bool {
    let requirement: String = requirement.split_whitespace().collect();
    let Some(wanted) = requirement.strip_prefix("torch==") else {
        return true;
    };
    let release = version.split('+').next().unwrap_or_default();
    match wanted.strip_suffix(".*") {
        Some(prefix) => release == prefix || release.starts_with(&format!("{prefix}.")),
        None => release == wanted.split('+').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_version_fits_its_requirement() {
        for (requirement, version, fit) in [
            ("torch==2.14.0.*", "2.14.0", true),
            ("torch==2.14.0.*", "2.14.0+cu130", true),
            ("torch == 2.14.0.*", "2.14.0.1", true),
            ("torch==2.14.0.*", "2.14.1", false),
            ("torch==2.14.0.*", "2.14.01", false),
            ("torch==2.9.0", "2.9.0+cpu", true),
            ("torch==2.9.0", "2.9.1", false),
            ("torch>=2.9", "2.14.0", true),
            ("", "2.14.0", true),
        ] {
            assert_eq!(fits(requirement, version), fit, "{requirement} {version}");
        }
    }

    #[test]
    fn what_python_prints_becomes_packages() {
        let found = packages(
            "torch\t2.14.0+cu130\t/site/torch\t\ntorch_npu\t2.14.0\t/site/torch_npu\ttorch==2.14.0.*\nnoise\n",
        );
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].requirement, "torch==2.14.0.*");
        assert_eq!(found[0].folder, Path::new("/site/torch"));
    }
}
