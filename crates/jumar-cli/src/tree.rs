//! The install tree that this command belongs to, and the environment that points at it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::vars::{LIBRARIES, SET, Set};

/// An install tree.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Finds the tree whose bin/jumar is running.
    ///
    /// # Errors
    /// The command does not lie in an install tree.
    pub fn own() -> Result<Tree> {
        let command = std::env::current_exe()
            .and_then(|path| path.canonicalize())
            .context("where this command lies")?;
        match command.parent().and_then(Path::parent).map(Tree::at) {
            Some(Ok(tree)) => Ok(tree),
            _ => bail!(
                "{} does not lie in an install tree; lay one out with `cargo xtask dist` and use its bin/jumar",
                command.display()
            ),
        }
    }

    /// Takes a folder for a tree if the runtime library is in it.
    pub fn at(root: &Path) -> Result<Tree> {
        let tree = Tree {
            root: root.to_path_buf(),
        };
        if !tree.library().exists() {
            bail!("{} is missing", tree.library().display());
        }
        Ok(tree)
    }

    /// Returns the tree's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the runtime library.
    pub fn library(&self) -> PathBuf {
        self.root.join("lib64/libascendcl.so")
    }

    /// Returns the module `acl` of the wheel that the tree lies in; none for a tree of its own.
    pub fn wheel_module(&self) -> Option<PathBuf> {
        let package = self.root.parent()?;
        let module = package.parent()?.join("acl.abi3.so");
        (package.join("__init__.py").exists() && module.exists()).then_some(module)
    }

    /// Returns the value of a variable that points into the tree, before it is joined with what the variable holds.
    pub fn value(&self, set: &Set) -> PathBuf {
        match set.below {
            "" => self.root.clone(),
            // A wheel keeps no links. Its tree is in a folder `cann`.
            LIBRARIES if !self.root.join(LIBRARIES).exists() => self.root.join("lib64"),
            below => self.root.join(below),
        }
    }

    /// Returns the environment of a program: each variable with its whole new value.
    ///
    /// `old` looks a variable up. A folder that stands at the head already is not added again.
    pub fn environment(
        &self,
        old: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<(&'static str, OsString)> {
        let complete = |set: &Set| {
            let ours = self.value(set).into_os_string();
            match old(set.name).filter(|held| set.prepend && !held.is_empty()) {
                Some(held)
                    if std::env::split_paths(&held)
                        .next()
                        .is_some_and(|first| first == *ours) =>
                {
                    held
                }
                Some(held) => {
                    let mut joined = ours;
                    joined.push(":");
                    joined.push(held);
                    joined
                }
                None => ours,
            }
        };
        SET.iter().map(|set| (set.name, complete(set))).collect()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Lays out the little of a tree that these tests look at.
    pub fn small_tree() -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("lib64")).unwrap();
        std::fs::write(folder.path().join("lib64/libascendcl.so"), b"x").unwrap();
        let tree = Tree::at(folder.path()).unwrap();
        (folder, tree)
    }

    fn value(environment: &[(&'static str, OsString)], name: &str) -> String {
        environment
            .iter()
            .find(|(n, _)| *n == name)
            .unwrap()
            .1
            .to_str()
            .unwrap()
            .to_string()
    }

    #[test]
    fn lists_keep_what_they_held_and_do_not_grow_when_set_twice() {
        let (_folder, tree) = small_tree();
        let lib = tree.root().join("lib64").display().to_string();
        let once = tree.environment(|name| (name == "LD_LIBRARY_PATH").then(|| "/a:/b".into()));
        assert_eq!(value(&once, "LD_LIBRARY_PATH"), format!("{lib}:/a:/b"));
        let twice = tree.environment(|name| {
            once.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| v.clone())
        });
        assert_eq!(value(&twice, "LD_LIBRARY_PATH"), format!("{lib}:/a:/b"));
    }

    #[test]
    fn an_empty_list_leaves_no_empty_entry_which_would_mean_the_current_folder() {
        let (_folder, tree) = small_tree();
        let environment = tree.environment(|_| Some("".into()));
        assert_eq!(
            value(&environment, "PYTHONPATH"),
            tree.root()
                .join("python/site-packages")
                .display()
                .to_string()
        );
    }

    #[test]
    fn a_folder_without_the_library_is_no_tree() {
        let folder = tempfile::tempdir().unwrap();
        let error = Tree::at(folder.path()).unwrap_err().to_string();
        assert!(error.contains("libascendcl.so is missing"), "{error}");
    }
}
