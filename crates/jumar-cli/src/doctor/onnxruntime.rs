//! Whether ONNX Runtime's prebuilt CANN provider (`onnxruntime-cann`), where it is installed, can be loaded with this Jumar.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{Report, prebuilt};
use crate::tree::Tree;

/// Prints the folder of the package, its version and NumPy's. Nothing is imported: an import that fails may print pages.
const FIND: &str = "
import importlib.metadata as metadata, importlib.util as util
def version(name):
    try:
        return metadata.distribution(name).version
    except metadata.PackageNotFoundError:
        return ''
spec = util.find_spec('onnxruntime')
if spec and spec.submodule_search_locations:
    print(spec.submodule_search_locations[0], version('onnxruntime-cann'), version('onnxruntime'), version('numpy'), sep='\\t')
";

/// The provider's library, below the package.
const PROVIDER: &str = "capi/libonnxruntime_providers_cann.so";

#[derive(Debug, PartialEq)]
struct Package {
    folder: PathBuf,
    version: String,
    /// The version of the package without the provider, which has the same files.
    plain: String,
    numpy: String,
}

/// Examines the package of the `python3` on PATH. Reports nothing where there is no provider.
pub fn examine(report: &mut Report, tree: &Tree) {
    let output = Command::new("python3")
        .args(["-c", FIND])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else { return };
    let Some(package) = package(&String::from_utf8_lossy(&output.stdout)) else {
        return;
    };
    let about = "onnxruntime";
    let provider = package.folder.join(PROVIDER);
    if !provider.exists() {
        if !package.version.is_empty() {
            report.problem(about, replaced(&package));
        }
        return;
    }
    report.ok(
        about,
        format!("{} in {}", package.version, package.folder.display()),
    );
    if !package.plain.is_empty() {
        report.problem(about, replaced(&package));
    }
    if needs_older_numpy(&package) {
        report.problem(
            about,
            format!(
                "NumPy {} is installed, and onnxruntime-cann {} was compiled for NumPy 1: pip install 'numpy<2'",
                package.numpy, package.version
            ),
        );
    }
    prebuilt::examine(report, about, tree, &provider, None);
}

fn replaced(package: &Package) -> String {
    format!(
        "onnxruntime-cann {} and onnxruntime {} are both installed and overwrite each other's files: pip uninstall onnxruntime \
         onnxruntime-cann, then pip install onnxruntime-cann",
        package.version, package.plain
    )
}

/// The releases that are known were compiled for NumPy 1.
fn needs_older_numpy(package: &Package) -> bool {
    let major = |version: &str| {
        version
            .split('.')
            .next()
            .and_then(|first| first.parse().ok())
    };
    package.version.starts_with("1.24.")
        && major(&package.numpy).is_some_and(|major: u32| major >= 2)
}

fn package(printed: &str) -> Option<Package> {
    let mut parts = printed.lines().next()?.split('\t').map(str::to_owned);
    Some(Package {
        folder: parts.next()?.into(),
        version: parts.next()?,
        plain: parts.next()?,
        numpy: parts.next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(version: &str, numpy: &str) -> Package {
        package(&format!("/site/onnxruntime\t{version}\t\t{numpy}\n")).unwrap()
    }

    #[test]
    fn what_python_prints_becomes_a_package() {
        let found = with("1.24.4", "1.26.4");
        assert_eq!(found.folder, PathBuf::from("/site/onnxruntime"));
        assert_eq!(
            (found.version.as_str(), found.numpy.as_str()),
            ("1.24.4", "1.26.4")
        );
        assert_eq!(package(""), None);
    }

    #[test]
    fn a_numpy_that_the_provider_was_not_compiled_for_is_recognised() {
        assert!(needs_older_numpy(&with("1.24.4", "2.4.6")));
        assert!(!needs_older_numpy(&with("1.24.4", "1.26.4")));
        assert!(!needs_older_numpy(&with("1.24.4", "")));
    }
}
