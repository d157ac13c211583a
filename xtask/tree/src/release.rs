//! `cargo xtask release`: everything that a version is published with, in one folder.
//!
//! For each processor a wheel and two archives of the install tree, with and without what only builds of programs need; a bill of
//! materials, the licences of all parts, the notes of the version, and the checksums of these files. The files do not depend on the
//! folder that they are built in, the user or the time.

mod archive;
pub(crate) mod materials;
mod notes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::dist::filter::tool;
use crate::dist::{self, graph_engine};
use crate::platform::{Platform, Processor, source_date};
use crate::wheel;

/// What `cargo xtask release` takes.
#[derive(clap::Args)]
pub struct Options {
    /// The processors, separated by commas. Default: that of this machine.
    #[arg(long, value_enum, value_name = "NAME,...", value_delimiter = ',')]
    processors: Vec<Processor>,
    /// Builds against this machine's glibc, for this machine and newer ones.
    #[arg(long, conflicts_with = "processors")]
    local: bool,
    /// The tag that is released; refused if it is not "v" and the version.
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// The folder of the files, which is replaced. Default: target/release-files.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Marks a folder of an earlier run, which may be replaced.
const MARK: &str = "SHA256SUMS";

/// Builds the files of a release. Returns their folder.
///
/// # Errors
/// The tag is not that of the version, the changelog has no section for it, a build fails, or a tool is missing.
pub fn run(options: &Options, callers_folder: &Path) -> Result<PathBuf> {
    let root = crate::root();
    let version = env!("CARGO_PKG_VERSION");
    if let Some(tag) = &options.tag {
        ensure!(
            *tag == format!("v{version}"),
            "the tag is {tag}, and Cargo.toml has version {version}; tag v{version}, or change `version` in Cargo.toml"
        );
    }
    let changelog = fs::read_to_string(root.join("CHANGELOG.md")).context("CHANGELOG.md")?;
    let section = notes::section(&changelog, version)?;
    let date = source_date()?;
    let out = match &options.out {
        Some(out) => callers_folder.join(out),
        None => root.join("target/release-files"),
    };
    empty_folder(&out)?;

    let log = root.join("target/dist/release.log");
    let mut files = Vec::new();
    for platform in platforms(options)? {
        let built = platform.build(&log)?;
        files.push(wheel::pack(&built, &out, date, &log)?);
        files.extend(archives(&built, &out, date)?);
        let materials = materials::Materials::of(platform)?;
        let bill = out.join(format!(
            "jumar-{version}-{}.cdx.json",
            platform.processor.name()
        ));
        dist::write(&bill, &materials.bill(date)?)?;
        files.push(bill);
    }
    let names: Vec<String> = files.iter().map(|file| name_of(file)).collect();
    dist::write(&out.join("NOTES.md"), &notes::text(section, &names))?;
    dist::write(&out.join(MARK), &checksums(&out, &names)?)?;
    Ok(out)
}

fn platforms(options: &Options) -> Result<Vec<Platform>> {
    if options.local {
        return Ok(vec![Platform::of_this_machine()?]);
    }
    let mut processors = options.processors.clone();
    if processors.is_empty() {
        processors.push(Processor::of_this_machine()?);
    }
    processors.sort_unstable();
    processors.dedup();
    let portable = |processor| Platform {
        processor,
        is_portable: true,
    };
    Ok(processors.into_iter().map(portable).collect())
}

/// Removes the files of an earlier run; refuses a folder that holds anything else.
fn empty_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        let is_ours = folder.join(MARK).exists();
        let is_empty = fs::read_dir(folder)
            .with_context(|| format!("cannot read {}", folder.display()))?
            .next()
            .is_none();
        let is_in_target = folder.starts_with(crate::root().join("target"));
        ensure!(
            is_ours || is_empty || is_in_target,
            "{} holds files that are not of a release; name a folder that is empty or does not exist",
            folder.display()
        );
        fs::remove_dir_all(folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Packs the install tree twice: as it is, and without what only builds of programs need.
fn archives(built: &dist::Built, out: &Path, date: u64) -> Result<Vec<PathBuf>> {
    let root = crate::root();
    let version = env!("CARGO_PKG_VERSION");
    let processor = built.platform.processor.name();
    let stage = root.join("target/dist/archive");
    let _ = fs::remove_dir_all(&stage);
    let name = format!("jumar-{version}-{processor}-linux");
    let tree = stage.join(&name);
    dist::lay_out(built, root, &tree)?;
    xtask_gen::write_coverage(&tree)?;
    materials::Materials::of(built.platform)?.write_licences(&tree.join("licenses"))?;
    for file in [
        dist::RUNTIME.to_owned(),
        format!("lib64/{}", graph_engine::FILE),
        "bin/jumar".to_owned(),
        "python/site-packages/acl.so".to_owned(),
    ] {
        strip(built.platform, &tree.join(file))?;
    }
    let complete = out.join(format!("{name}.tar.gz"));
    archive::pack(&stage, &name, archive::Contents::All, date, &complete)?;
    let runtime = out.join(format!("{name}-runtime.tar.gz"));
    archive::pack(&stage, &name, archive::Contents::Runtime, date, &runtime)?;
    Ok(vec![complete, runtime])
}

/// Removes lines of source. Names of functions stay, for stack traces.
pub(crate) fn strip(platform: Platform, file: &Path) -> Result<()> {
    let name = platform.tool("strip");
    tool(&name, Command::new(&name).arg("--strip-debug").arg(file)).map(|_| ())
}

fn checksums(folder: &Path, names: &[String]) -> Result<String> {
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    tool(
        "sha256sum",
        Command::new("sha256sum")
            .arg("--")
            .args(&sorted)
            .current_dir(folder),
    )
}

fn name_of(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_foreign_files_is_not_emptied() {
        let folder = std::env::temp_dir().join(format!("xtask-release-{}", std::process::id()));
        dist::write(&folder.join("thesis.txt"), "years of work").unwrap();
        let error = empty_folder(&folder).unwrap_err().to_string();
        assert!(error.contains("not of a release"), "{error}");
        assert!(folder.join("thesis.txt").exists());

        dist::write(&folder.join(MARK), "").unwrap();
        empty_folder(&folder).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_tag_of_another_version_is_refused_before_anything_is_built() {
        let options = Options {
            processors: Vec::new(),
            local: true,
            tag: Some("v99.0.0".to_owned()),
            out: None,
        };
        let error = run(&options, Path::new("/")).unwrap_err().to_string();
        assert!(
            error.contains("v99.0.0") && error.contains("Cargo.toml"),
            "{error}"
        );
    }
}
