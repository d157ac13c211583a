//! Whether the plug-in for collectives between machines can be loaded.

use super::Report;
use super::loader::{self, Loader};
use crate::tree::Tree;

pub const PLUGIN: &str = "libjumar_gloo.so";
const ENGINE: &str = "libgloo.so.0";

/// Reports the plug-in, or what to install for it. Programs on one machine do not need it.
pub fn examine(report: &mut Report, tree: &Tree) {
    let about = "several machines";
    let path = tree
        .environment(|name| std::env::var_os(name))
        .into_iter()
        .find(|(name, _)| *name == "LD_LIBRARY_PATH")
        .map(|(_, value)| value);
    let loader = match loader::needs(&tree.library()) {
        Ok(needs) => Loader::of_program(&needs, path.clone()),
        Err(_) => Loader::of_shell(path.clone()),
    };
    let Some(found) = loader.find(PLUGIN) else {
        report.note(
            about,
            format!(
                "collectives work on this machine alone: {PLUGIN} is missing (install libgloo-dev, then make -C plugins/gloo install)"
            ),
        );
        return;
    };
    let missing = match loader::needs(&found.path) {
        Ok(needs) => {
            let loader = Loader::of_program(&needs, path);
            let absent = |name: &&String| loader.find(name).is_none();
            needs.names.iter().find(absent).cloned()
        }
        Err(error) => {
            report.problem(about, format!("{}: {error}", found.path.display()));
            return;
        }
    };
    match missing {
        None => report.ok(about, format!("{} ({})", found.path.display(), found.why)),
        Some(name) => {
            let fix = if name.starts_with("libgloo") {
                ENGINE
            } else {
                &name
            };
            report.problem(
                about,
                format!(
                    "{} needs {name}, which nothing provides (install the package of {fix}; Debian: libgloo0)",
                    found.path.display()
                ),
            );
        }
    }
}
