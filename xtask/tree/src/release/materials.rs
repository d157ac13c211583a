//! What the files of a release are made of: a bill of materials (CycloneDX), and the licences of all parts.
//!
//! The packages are those that cargo compiles into the libraries and commands for the platform: dependencies of the three packages
//! that are built, without macros, build scripts and tests. Libraries in C that a package contains are parts of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dist::{self, filter::tool};
use crate::platform::Platform;

/// The packages that a release is built from.
const ROOTS: &[&str] = &["jumar-capi", "jumar-py", "jumar-cli"];

/// Libraries in C and C++ inside packages: package, library, licence, folder, and what comes before the version in which file.
const CONTAINED: &[NativeLibrary] = &[
    NativeLibrary {
        package: "turbojpeg-sys",
        library: "libjpeg-turbo",
        licence: "IJG AND BSD-3-Clause AND Zlib",
        folder: "libjpeg-turbo",
        version_file: "CMakeLists.txt",
        version_after: "set(VERSION ",
    },
    NativeLibrary {
        package: "openh264-sys2",
        library: "openh264",
        licence: "BSD-2-Clause",
        folder: "upstream",
        version_file: "codec/api/wels/codec_ver.h",
        version_after: "\"OpenH264 version:",
    },
];

struct NativeLibrary {
    package: &'static str,
    library: &'static str,
    licence: &'static str,
    folder: &'static str,
    version_file: &'static str,
    version_after: &'static str,
}

/// Beginnings of the names of files with licences.
const LICENCE_NAMES: &[&str] = &[
    "license",
    "licence",
    "copying",
    "copyright",
    "notice",
    "unlicense",
    "readme.ijg",
];

/// A part of the libraries and commands.
#[derive(Debug)]
struct Part {
    id: String,
    name: String,
    version: String,
    licence: String,
    /// The checksum of the package in the registry; `None` for Jumar's own and for contained libraries.
    checksum: Option<String>,
    is_own: bool,
    folder: PathBuf,
    needs: BTreeSet<String>,
}

/// The parts of a platform's build.
pub(crate) struct Materials {
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<LockEntry>,
}

#[derive(Deserialize)]
struct LockEntry {
    name: String,
    version: String,
    checksum: Option<String>,
}

impl Materials {
    /// Finds the parts.
    ///
    /// # Errors
    /// cargo fails, or a part names no licence or version.
    pub fn of(platform: Platform) -> Result<Materials> {
        let root = crate::root();
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .args([
                "metadata",
                "--format-version",
                "1",
                "--locked",
                "--filter-platform",
            ])
            .arg(platform.triple())
            .current_dir(root)
            .stdin(Stdio::null());
        let output = cargo.output().context("cargo cannot be started")?;
        ensure!(
            output.status.success(),
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
        let lock: Lock =
            toml::from_str(&fs::read_to_string(root.join("Cargo.lock"))?).context("Cargo.lock")?;
        let mut parts = linked(&metadata, &lock)?;
        parts.push(standard_library()?);
        parts.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(Materials { parts })
    }

    /// Returns the bill of materials, as CycloneDX 1.5 in JSON.
    ///
    /// # Errors
    /// The system does not write the date.
    pub fn bill(&self, date: u64) -> Result<String> {
        let component = |part: &Part| {
            let mut component = json!({
                "type": "library",
                "bom-ref": part.id,
                "name": part.name,
                "version": part.version,
                "licenses": [{"expression": part.licence}],
            });
            if part.id.starts_with("pkg:") {
                component["purl"] = Value::from(part.id.clone());
            }
            if let Some(checksum) = &part.checksum {
                component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
            }
            component
        };
        let version = env!("CARGO_PKG_VERSION");
        let own = format!("jumar@{version}");
        let roots: Vec<&str> = self
            .parts
            .iter()
            .filter(|part| part.is_own && ROOTS.contains(&part.name.as_str()))
            .map(|part| part.id.as_str())
            .collect();
        let mut dependencies = vec![json!({"ref": own, "dependsOn": roots})];
        dependencies.extend(
            self.parts
                .iter()
                .map(|part| json!({"ref": part.id, "dependsOn": part.needs})),
        );
        let bill = json!({
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {
                "timestamp": timestamp(date)?,
                "component": {
                    "type": "library", "bom-ref": own, "name": "jumar", "version": version,
                    "licenses": [{"expression": env!("CARGO_PKG_LICENSE")}],
                },
            },
            "components": self.parts.iter().map(component).collect::<Vec<_>>(),
            "dependencies": dependencies,
        });
        Ok(serde_json::to_string_pretty(&bill)? + "\n")
    }

    /// Writes Jumar's licence and those of the other parts into a folder.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn write_licences(&self, folder: &Path) -> Result<()> {
        dist::copy(&crate::root().join("LICENSE"), &folder.join("LICENSE"))?;
        dist::write(&folder.join("THIRD-PARTY.txt"), &self.third_party()?)
    }

    /// Returns the licences of the parts that others wrote. A text that several parts share is there once.
    fn third_party(&self) -> Result<String> {
        let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for part in self.parts.iter().filter(|part| !part.is_own) {
            let name = format!("{} {} ({})", part.name, part.version, part.licence);
            let files = licence_files(&part.folder)?;
            if files.is_empty() {
                // The registry's package lacks the file that its manifest promises.
                by_text
                    .entry(format!(
                        "Licence: {}. The package contains no text of it.",
                        part.licence
                    ))
                    .or_default()
                    .push(name);
                continue;
            }
            for file in files {
                let text =
                    fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
                let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
                by_text
                    .entry(text.trim().to_owned())
                    .or_default()
                    .push(name.clone());
            }
        }
        let mut blocks: Vec<(Vec<String>, String)> = by_text
            .into_iter()
            .map(|(text, mut names)| {
                names.sort_unstable();
                names.dedup();
                (names, text)
            })
            .collect();
        blocks.sort_unstable();
        let line = "=".repeat(80);
        let mut all = String::from(
            "Jumar's libraries and commands contain these works of others, under these licences.\n",
        );
        for (names, text) in blocks {
            all.push_str(&format!(
                "\n{line}\n{}\n{line}\n\n{text}\n",
                names.join("\n")
            ));
        }
        Ok(all)
    }
}

/// Returns the packages that are linked, and the libraries that they contain.
fn linked(metadata: &Metadata, lock: &Lock) -> Result<Vec<Part>> {
    let packages: BTreeMap<&str, &Package> = metadata
        .packages
        .iter()
        .map(|package| (package.id.as_str(), package))
        .collect();
    let nodes: BTreeMap<&str, &Node> = metadata
        .resolve
        .nodes
        .iter()
        .map(|node| (node.id.as_str(), node))
        .collect();
    let is_macro = |package: &Package| {
        let kinds = package.targets.iter().flat_map(|target| &target.kind);
        kinds.into_iter().any(|kind| kind == "proc-macro")
    };
    let mut waiting: Vec<&str> = metadata
        .packages
        .iter()
        .filter(|package| package.source.is_none() && ROOTS.contains(&package.name.as_str()))
        .map(|package| package.id.as_str())
        .collect();
    ensure!(
        waiting.len() == ROOTS.len(),
        "cargo metadata lacks one of {ROOTS:?}"
    );
    let mut seen: BTreeSet<&str> = waiting.iter().copied().collect();
    let mut parts = Vec::new();
    while let Some(id) = waiting.pop() {
        let package = packages[id];
        let mut needs = BTreeSet::new();
        for dependency in &nodes[id].deps {
            let is_linked = dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
            let other = packages[dependency.pkg.as_str()];
            if !is_linked || is_macro(other) {
                continue;
            }
            needs.insert(id_of(other));
            if seen.insert(&other.id) {
                waiting.push(&other.id);
            }
        }
        let folder = package
            .manifest_path
            .parent()
            .context("a manifest without a folder")?;
        for contained in CONTAINED.iter().filter(|one| one.package == package.name) {
            let part = contained.part(folder)?;
            needs.insert(part.id.clone());
            parts.push(part);
        }
        let checksum = lock
            .package
            .iter()
            .find(|locked| locked.name == package.name && locked.version == package.version)
            .and_then(|locked| locked.checksum.clone());
        let Some(licence) = &package.license else {
            bail!("{} {} names no licence", package.name, package.version);
        };
        parts.push(Part {
            id: id_of(package),
            name: package.name.clone(),
            version: package.version.clone(),
            // The slash is how old manifests write OR.
            licence: licence.replace('/', " OR "),
            checksum,
            is_own: package.source.is_none(),
            folder: folder.to_owned(),
            needs,
        });
    }
    Ok(parts)
}

fn id_of(package: &Package) -> String {
    match package.source {
        Some(_) => format!("pkg:cargo/{}@{}", package.name, package.version),
        None => format!("{}@{}", package.name, package.version),
    }
}

impl NativeLibrary {
    fn part(&self, package: &Path) -> Result<Part> {
        let folder = package.join(self.folder);
        let file = folder.join(self.version_file);
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let after = text
            .split_once(self.version_after)
            .map(|(_, rest)| rest.trim_start());
        let version: String = after
            .unwrap_or("")
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        ensure!(
            !version.is_empty(),
            "{} does not state the version of {} as expected",
            file.display(),
            self.library
        );
        Ok(Part {
            id: format!("pkg:generic/{}@{version}", self.library),
            name: self.library.to_owned(),
            version,
            licence: self.licence.to_owned(),
            checksum: None,
            is_own: false,
            folder,
            needs: BTreeSet::new(),
        })
    }
}

/// Returns Rust's standard library, which is linked into each file.
fn standard_library() -> Result<Part> {
    let version = tool("rustc", Command::new("rustc").arg("--version"))?;
    let version = version
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_owned();
    Ok(Part {
        id: format!("pkg:generic/rust-std@{version}"),
        name: "rust-std".to_owned(),
        version,
        licence: "MIT OR Apache-2.0".to_owned(),
        checksum: None,
        is_own: false,
        // Its text of the Apache licence is that of Jumar's own file; an installation of Rust need not have one.
        folder: crate::root().to_owned(),
        needs: BTreeSet::new(),
    })
}

/// Returns the files of a folder that hold licences, in order.
fn licence_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let is_named = LICENCE_NAMES.iter().any(|start| name.starts_with(start));
        if path.is_file() && is_named && !name.ends_with(".rs") {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Returns a time in the form of RFC 3339.
fn timestamp(seconds: u64) -> Result<String> {
    let mut date = Command::new("date");
    date.args(["--utc", "+%Y-%m-%dT%H:%M:%SZ"])
        .arg(format!("--date=@{seconds}"));
    Ok(tool("date", &mut date)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Processor;

    fn materials() -> Materials {
        Materials::of(Platform {
            processor: Processor::X86_64,
            is_portable: true,
        })
        .unwrap()
    }

    #[test]
    fn the_bill_names_each_part_once_with_licence_and_each_dependency_is_a_part() {
        let bill: Value = serde_json::from_str(&materials().bill(1_700_000_000).unwrap()).unwrap();
        assert_eq!(bill["specVersion"], "1.5");
        assert_eq!(bill["metadata"]["timestamp"], "2023-11-14T22:13:20Z");
        let components = bill["components"].as_array().unwrap();
        let mut ids: Vec<&str> = components
            .iter()
            .map(|component| component["bom-ref"].as_str().unwrap())
            .collect();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all, "sorted, and none twice");
        for component in components {
            let licence = &component["licenses"][0]["expression"];
            assert!(!licence.as_str().unwrap().is_empty(), "{component}");
            let is_from_registry = component["bom-ref"]
                .as_str()
                .unwrap()
                .starts_with("pkg:cargo/");
            assert_eq!(
                component["hashes"].is_array(),
                is_from_registry,
                "{component}"
            );
        }
        for dependency in bill["dependencies"].as_array().unwrap().iter().skip(1) {
            for needed in dependency["dependsOn"].as_array().unwrap() {
                assert!(ids.contains(&needed.as_str().unwrap()), "{dependency}");
            }
        }
        // What is linked into the runtime, in Rust and in C, and nothing that only compiles or tests it.
        let has = |name: &str| components.iter().any(|component| component["name"] == name);
        for part in [
            "half",
            "libjpeg-turbo",
            "openh264",
            "rust-std",
            "jumar-core",
            "jumar-cli",
        ] {
            assert!(has(part), "{part} is missing");
        }
        for tool in [
            "syn",
            "cc",
            "loom",
            "serde_derive",
            "xtask",
            "jumar-testkit",
        ] {
            assert!(!has(tool), "{tool} is not linked");
        }
    }

    #[test]
    fn each_part_of_others_is_under_the_text_of_its_licence() {
        let materials = materials();
        let text = materials.third_party().unwrap();
        for part in materials.parts.iter().filter(|part| !part.is_own) {
            assert!(
                text.contains(&format!("{} {} (", part.name, part.version)),
                "{part:?}"
            );
        }
        assert!(text.contains("Independent JPEG Group"), "of libjpeg-turbo");
        assert!(text.contains("Cisco Systems"), "of OpenH264");
    }
}
