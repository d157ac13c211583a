//! Archives of the install tree that are the same bytes for the same files.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::dist::filter::tool;

/// Which part of the tree an archive holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    /// Everything.
    All,
    /// What programs need that are built already: no headers, no link-time names, no compilers of kernels.
    Runtime,
}

/// What only builds of programs use, as patterns of tar.
const FOR_BUILDS: &[&str] = &[
    "*/include",
    "*/inc",
    "*/cmake",
    "*/stub",
    "*/devlib",
    "*/ascendc_devkit",
    "*/tikcpp",
    "*/tikicpulib",
    "*/bin/asc-c++",
    "*/bin/bisheng",
    "*/bin/ccec",
    "*/bin/gen_esb",
];

/// Packs the folder `name` of `stage` into `file`, with `date` as the time of every entry.
///
/// # Errors
/// tar or gzip fails.
pub(super) fn pack(
    stage: &Path,
    name: &str,
    contents: Contents,
    date: u64,
    file: &Path,
) -> Result<()> {
    let plain = file.with_extension("");
    let mut tar = Command::new("tar");
    tar.args(["--create", "--format=gnu", "--sort=name"])
        .args(["--owner=0", "--group=0", "--numeric-owner"])
        .args(["--mode=u=rwX,go=rX"])
        .arg(format!("--mtime=@{date}"));
    if contents == Contents::Runtime {
        tar.args(
            FOR_BUILDS
                .iter()
                .map(|pattern| format!("--exclude={pattern}")),
        );
    }
    tar.arg("--file").arg(&plain);
    tar.arg("--directory").arg(stage).arg("--").arg(name);
    tool("tar", &mut tar)?;
    // Without the name and the time of the file.
    tool(
        "gzip",
        Command::new("gzip")
            .args(["--no-name", "--best", "--force", "--"])
            .arg(&plain),
    )?;
    std::fs::metadata(file)
        .map(|_| ())
        .with_context(|| format!("{} was not made", file.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::dist::write;

    #[test]
    fn archives_of_equal_trees_are_equal_whatever_the_order_times_and_permissions() {
        let folder = std::env::temp_dir().join(format!("xtask-archive-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let mut packed = Vec::new();
        for (stage, names, mode) in [("one", ["a", "b"], 0o600), ("two", ["b", "a"], 0o664)] {
            let tree = folder.join(stage).join("tree");
            for name in names {
                let file = tree.join("lib64").join(name);
                write(&file, name).unwrap();
                fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            }
            symlink("a", tree.join("lib64/c")).unwrap();
            write(&tree.join("include/acl.h"), "").unwrap();
            write(&tree.join("share/cmake/jumar/x.cmake"), "").unwrap();
            for contents in [Contents::All, Contents::Runtime] {
                let file = folder.join(format!("{stage}.tar.gz"));
                pack(&folder.join(stage), "tree", contents, 1_700_000_000, &file).unwrap();
                packed.push(fs::read(&file).unwrap());
                let mut list = Command::new("tar");
                list.arg("--list").arg("--file").arg(&file);
                let listed = tool("tar", &mut list).unwrap();
                assert!(listed.contains("tree/lib64/c"), "{listed}");
                let has_headers = contents == Contents::All;
                assert_eq!(listed.contains("acl.h"), has_headers, "{listed}");
                assert_eq!(listed.contains("cmake"), has_headers, "{listed}");
            }
        }
        assert_eq!(packed[0], packed[2]);
        assert_eq!(packed[1], packed[3]);
        assert_ne!(packed[0], packed[1]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
