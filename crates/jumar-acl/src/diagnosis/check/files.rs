//! Files that functions of the interface write: whether a path may destroy what the program did not make.

use std::path::{Component, Path};

use jumar::check::Finding;

/// Looks at a file that a call is about to write.
pub(crate) fn is_about_to_be_written(path: &Path) {
    let Some(check) = crate::observers::watcher().and_then(|watcher| watcher.check.as_ref()) else {
        return;
    };
    let Ok(working) = std::env::current_dir() else {
        return;
    };
    if let Some(what) = danger(&working, path) {
        let text = format!("{} {what} {}", path.display(), working.display());
        check.find(Finding::now("JMR-FILE-001", text));
    }
}

/// Returns in what way a path leaves the working folder, if it does: a relative one climbs out, an absolute one names an existing
/// file.
fn danger(working: &Path, path: &Path) -> Option<&'static str> {
    if path.is_absolute() {
        let outside = !path.starts_with(working) || climbs_out(path.strip_prefix(working).ok()?);
        return (outside && path.exists()).then_some("exists, outside of the working folder");
    }
    climbs_out(path).then_some("climbs out of the working folder")
}

fn climbs_out(path: &Path) -> bool {
    let mut depth = 0i32;
    path.components().any(|part| {
        depth += match part {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => 0,
        };
        depth < 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_the_working_folder_or_overwrites_a_file_elsewhere_is_found() {
        let working = Path::new("/work folder/here");
        let found = |path: &str| danger(working, Path::new(path)).is_some();
        for path in [
            "graph.json",
            "a/../b.json",
            "./a/b.json",
            "/work folder/here/new.json",
        ] {
            assert!(!found(path), "{path}");
        }
        for path in [
            "../graph.json",
            "a/../../b.json",
            "./../x",
            "/proc/self/status",
        ] {
            assert!(found(path), "{path}");
        }
        assert!(!found("/no such folder/new.json"), "it overwrites nothing");
    }
}
