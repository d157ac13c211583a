//! Whether the prebuilt PyTorch adapter (`torch_npu`), where it is installed, can be loaded with this Jumar.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Report, prebuilt};
use crate::tree::Tree;

/// Prints name, version, folder and, for the adapter, its requirement of PyTorch; then the folder of packages, and the file there
/// that makes Python import `jumar_torch`. Neither package is imported: an import that fails may end the process.
const FIND: &str = "
import importlib.metadata as metadata, importlib.machinery as machinery, os, sysconfig
for name in ('torch', 'torch_npu', 'vllm_ascend'):
    spec = machinery.PathFinder.find_spec(name)
    if not spec or not spec.submodule_search_locations:
        continue
    try:
        found = metadata.distribution(name.replace('_', '-'))
        needs = [need for need in found.requires or [] if need.replace(' ', '').startswith(('torch=', 'torch(='))]
        version = found.version
    except metadata.PackageNotFoundError:
        version, needs = '', []
    print(name, version, spec.submodule_search_locations[0], needs[0] if needs else '', sep='\\t')
packages = sysconfig.get_paths()['purelib']
hook = os.path.join(packages, 'jumar_torch.pth')
print('packages', '', packages, hook if os.path.exists(hook) else '', sep='\\t')
";

/// The first release of PyTorch whose build for CUDA and the adapter register names of options twice.
const FIRST_WITH_DUPLICATES: (u32, u32) = (2, 10);

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Package {
    name: String,
    pub(crate) version: String,
    folder: PathBuf,
    requirement: String,
}

impl Package {
    /// Returns the version without the build's name.
    pub(crate) fn release(&self) -> &str {
        self.version.split('+').next().unwrap_or_default()
    }
}

/// What an environment of Python has.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Environment {
    pub(crate) torch: Option<Package>,
    pub(crate) adapter: Option<Package>,
    /// vLLM's plug-in, which loads its library behind those of the adapter.
    server: Option<Package>,
    /// The folder that packages are installed into.
    pub(crate) packages: PathBuf,
    /// Whether Python imports `jumar_torch` when it starts.
    pub(crate) is_set_up: bool,
}

/// Asks an interpreter what its environment has. Returns nothing where there is no such interpreter.
pub(crate) fn find(python: &Path) -> Option<Environment> {
    let output = Command::new(python)
        .args(["-c", FIND])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    environment(&String::from_utf8_lossy(&output.stdout))
}

/// Examines the adapter of an interpreter. Reports nothing where none is installed.
pub(crate) fn examine(report: &mut Report, tree: &Tree, python: &Path) {
    let Some(found) = find(python) else { return };
    let Some(adapter) = &found.adapter else {
        return;
    };
    let about = "torch_npu";
    report.ok(
        about,
        format!("{} in {}", adapter.version, adapter.folder.display()),
    );
    match &found.torch {
        None => report.problem(about, "PyTorch itself is not installed: pip install torch"),
        Some(torch) => examine_torch(report, torch, adapter, found.is_set_up),
    }
    examine_libraries(report, tree, adapter, found.torch.as_ref());
    examine_plugin(report, tree, adapter);
    if let Some(server) = &found.server {
        examine_server(report, tree, server);
    }
}

/// The library with the kernels of vLLM's plug-in, which its other libraries link.
const KERNELS: &str = "libvllm_ascend_kernels.so";

/// Reports whether the libraries of vLLM's plug-in can be loaded. The plug-in replaces them by slower code where they cannot, and by
/// nothing where it traces a model.
fn examine_server(report: &mut Report, tree: &Tree, server: &Package) {
    let about = "vllm_ascend";
    report.ok(
        about,
        format!("{} in {}", server.version, server.folder.display()),
    );
    let file = server.folder.join(KERNELS);
    if file.exists() {
        prebuilt::examine(report, about, tree, &file, Some(&server.folder));
    }
}

/// The adapter's plug-in of Transformer Boost, and the library that it links.
const PLUGIN: (&str, &str) = ("libop_plugin_atb.so", "libatb.so");

/// Reports that the plug-in cannot be loaded. The adapter keeps the loader's error to itself until an operator of the plug-in is called.
fn examine_plugin(report: &mut Report, tree: &Tree, adapter: &Package) {
    let (plugin, library) = PLUGIN;
    let file = adapter.folder.join("lib").join(plugin);
    let missing = prebuilt::missing_libraries(tree, &file).unwrap_or_default();
    if missing.iter().any(|name| name == library) {
        report.note(
            "torch_npu",
            format!(
                "{library} (Ascend Transformer Boost) is missing, so that {plugin} does not load: operators of torch_npu.atb and \
                 torch.ops.atb raise OSError, all others work"
            ),
        );
    }
}

fn examine_torch(report: &mut Report, torch: &Package, adapter: &Package, is_set_up: bool) {
    let about = "torch";
    if let Some(problem) = mismatch(torch, adapter) {
        report.problem(about, problem);
    }
    let version = &torch.version;
    if !torch.folder.join("lib/libtorch_cuda.so").exists() {
        report.ok(about, format!("{version} is a build for the CPU"));
    } else if is_set_up || !has_duplicates(torch.release()) {
        report.ok(
            about,
            format!("{version} is a build for CUDA, beside which torch_npu loads"),
        );
    } else {
        report.problem(
            about,
            format!(
                "{version} is a build for CUDA: importing torch_npu beside it ends the process (\"Duplicated key\"); run \
                 `jumar torch --setup`, or install the CPU build: pip install torch=={} --index-url https://download.pytorch.org/whl/cpu",
                torch.release()
            ),
        );
    }
}

/// Returns a sentence if PyTorch's release is not that which the adapter was built for.
pub(crate) fn mismatch(torch: &Package, adapter: &Package) -> Option<String> {
    let fit = fits(&adapter.requirement, &torch.version);
    (!fit).then(|| {
        format!(
            "{} is installed, and torch_npu {} requires {}",
            torch.version, adapter.version, adapter.requirement
        )
    })
}

fn has_duplicates(release: &str) -> bool {
    let mut numbers = release.split('.').map_while(|part| part.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => (major, minor) >= FIRST_WITH_DUPLICATES,
        _ => true,
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

fn environment(printed: &str) -> Option<Environment> {
    let mut found = Environment::default();
    for line in printed.lines() {
        let mut parts = line.split('\t').map(str::to_owned);
        let (Some(name), Some(version), Some(folder), Some(last)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        if name == "packages" {
            found.packages = folder.into();
            found.is_set_up = !last.is_empty();
            continue;
        }
        let own = match name.as_str() {
            "torch" => &mut found.torch,
            "torch_npu" => &mut found.adapter,
            "vllm_ascend" => &mut found.server,
            _ => continue,
        };
        *own = Some(Package {
            name,
            version,
            folder: folder.into(),
            requirement: last,
        });
    }
    (!found.packages.as_os_str().is_empty()).then_some(found)
}

/// Returns whether a version fulfils a requirement such as `torch==2.14.0.*`. One of another form counts as fulfilled.
fn fits(requirement: &str, version: &str) -> bool {
    // Older packages write `torch (==2.6.0+cpu)`.
    let requirement: String = requirement
        .chars()
        .filter(|each| !each.is_whitespace() && !"()".contains(*each))
        .collect();
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
            ("torch (==2.6.0+cpu)", "2.6.0+cu124", true),
            ("torch (==2.6.0+cpu)", "2.5.1", false),
            ("torch==2.9.0", "2.9.1", false),
            ("torch>=2.9", "2.14.0", true),
            ("", "2.14.0", true),
        ] {
            assert_eq!(fits(requirement, version), fit, "{requirement} {version}");
        }
    }

    #[test]
    fn what_python_prints_becomes_an_environment() {
        let printed = "torch\t2.14.0+cu130\t/site/torch\t\ntorch_npu\t2.14.0\t/site/torch_npu\ttorch==2.14.0.*\nnoise\n\
                       vllm_ascend\t0.18.0\t/site/vllm_ascend\t\n\
                       packages\t\t/site\t/site/jumar_torch.pth\n";
        let found = environment(printed).unwrap();
        assert_eq!(found.adapter.unwrap().requirement, "torch==2.14.0.*");
        assert_eq!(found.server.unwrap().release(), "0.18.0");
        let torch = found.torch.unwrap();
        assert_eq!(torch.folder, Path::new("/site/torch"));
        assert_eq!(torch.release(), "2.14.0");
        assert_eq!(found.packages, Path::new("/site"));
        assert!(found.is_set_up);
        assert!(!environment("packages\t\t/site\t\n").unwrap().is_set_up);
        assert_eq!(
            environment("an interpreter that prints something else"),
            None
        );
    }

    #[test]
    fn duplicate_names_came_with_release_2_10() {
        assert!(has_duplicates("2.10.0") && has_duplicates("2.14.0") && has_duplicates("3.0"));
        assert!(!has_duplicates("2.9.1") && !has_duplicates("2.6.0"));
    }
}
