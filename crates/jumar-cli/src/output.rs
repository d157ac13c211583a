//! Files that commands write for their user.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result};

/// Writes a complete file, or leaves what was there: the text is written beside it and renamed. What is not a regular file, such as
/// `/dev/stdout` or a pipe, is written directly.
///
/// # Errors
/// The folder does not exist or cannot be written, or the disk is full.
pub(crate) fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    let name = || format!("cannot write {}", file.display());
    // The file behind a link is replaced, not the link.
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let metadata = fs::metadata(&target).ok();
    if metadata.as_ref().is_some_and(|found| !found.is_file()) {
        return fs::write(&target, bytes).with_context(name);
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut permissions = fs::Permissions::from_mode(0o666);
    if let Some(found) = metadata {
        permissions = found.permissions();
    }
    let mut temporary = tempfile::Builder::new()
        .prefix(".jumar-")
        .permissions(permissions)
        .tempfile_in(folder)
        .with_context(name)?;
    temporary
        .write_all(bytes)
        .and_then(|()| temporary.flush())
        .with_context(name)?;
    temporary
        .persist(&target)
        .map_err(|error| error.error)
        .with_context(name)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_created_and_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("out.json");
        write(&file, b"first").expect("created");
        write(&file, b"2nd").expect("replaced");
        assert_eq!(fs::read(&file).expect("read"), b"2nd");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }

    #[test]
    fn the_file_behind_a_link_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        write(&link, b"new").expect("written");
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).expect("read"), b"new");
    }

    #[test]
    fn a_folder_that_does_not_exist_and_a_full_device_are_errors_with_the_name() {
        for file in ["/nowhere/out.json", "/dev/full"] {
            let error = write(Path::new(file), b"bytes").expect_err("it cannot be written");
            assert!(format!("{error:#}").contains(file), "{error:#}");
        }
        write(Path::new("/dev/null"), b"bytes").expect("a device is written directly");
    }
}
