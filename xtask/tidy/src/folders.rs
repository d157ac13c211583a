//! Which folders of a crate use each other. Files of one folder may know each other; folders that lie side by side must not depend on each
//! other in a circle.
//!
//! The check follows `crate::`, `super::` and `self::` paths, through the re-exports that lie on the way, to the folder that they lead to.
//! Tests may use everything.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::Problem;
use super::source::{Repository, words};

/// Folders that are one unit in spite of their circle, by crate; each with the reason.
const UNITS: &[(&str, &[&str], &str)] = &[(
    "crates/jumar-core",
    &["capture", "event", "kernel", "stream"],
    "a submit is recorded where its stream is captured, and a capture records streams, events and launches",
)];

/// The names on the way to a module, from the crate's root.
type Module = Vec<String>;

/// What the files of one crate say about each other.
#[derive(Default)]
struct Crate {
    modules: BTreeSet<Module>,
    /// What a name of a module stands for, where a `use` brought it there.
    imports: BTreeMap<(Module, String), Module>,
    /// The modules that a module imports as a whole.
    globs: BTreeMap<Module, Vec<Module>>,
    /// Paths that a module mentions, from the crate's root.
    mentioned: BTreeSet<(Module, Module)>,
}

/// Folders that depend on each other in a circle, unless they are one unit.
pub fn circles(repository: &Repository) -> Result<Vec<Problem>> {
    let mut crates: BTreeMap<&str, Vec<(Module, &str)>> = BTreeMap::new();
    for file in repository.rust() {
        let Some((name, inside)) = file.path.split_once("/src/") else {
            continue;
        };
        let module = module_of(inside);
        if module.iter().any(|part| part == "tests") {
            continue;
        }
        crates
            .entry(name)
            .or_default()
            .push((module, file.shipped.as_str()));
    }
    let mut problems = Vec::new();
    for (name, files) in crates {
        let unit = UNITS.iter().find(|(of, ..)| *of == name);
        for circle in Crate::of(&files).circles() {
            let known: BTreeSet<&str> = circle.iter().map(String::as_str).collect();
            if unit.is_some_and(|(_, folders, _)| {
                folders.iter().copied().collect::<BTreeSet<_>>() == known
            }) {
                continue;
            }
            let folders = circle.join(", ");
            problems.push(Problem::new(
                format!("{name}/src"),
                format!("the folders {folders} depend on each other in a circle: move what both sides need below both"),
            ));
        }
    }
    Ok(problems)
}

fn module_of(inside: &str) -> Module {
    let mut parts: Module = inside
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if parts
        .last()
        .is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main"))
    {
        parts.pop();
    }
    parts
}

impl Crate {
    fn of(files: &[(Module, &str)]) -> Crate {
        let mut all = Crate::default();
        for (module, _) in files {
            for end in 0..=module.len() {
                all.modules.insert(module[..end].to_vec());
            }
        }
        for (module, code) in files {
            for (path, name) in used(code) {
                let Some(mut full) = all.absolute(module, &path) else {
                    continue;
                };
                if name == "*" {
                    all.globs
                        .entry(module.clone())
                        .or_default()
                        .push(full.clone());
                } else {
                    all.imports.insert((module.clone(), name), full.clone());
                }
                all.mentioned
                    .insert((module.clone(), std::mem::take(&mut full)));
            }
            for path in inline(code) {
                if let Some(full) = all.absolute(module, &path) {
                    all.mentioned.insert((module.clone(), full));
                }
            }
        }
        all
    }

    /// Turns a path of a module into one from the crate's root; `None` where it leads out of the crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Module> {
        let mut rest = path;
        let mut base = match rest.first().map(String::as_str) {
            Some("crate") => {
                rest = &rest[1..];
                Vec::new()
            }
            Some("self") => {
                rest = &rest[1..];
                module.to_vec()
            }
            Some("super") => module.to_vec(),
            Some(first)
                if self
                    .modules
                    .contains(&[module, &[first.to_owned()]].concat()) =>
            {
                module.to_vec()
            }
            _ => return None,
        };
        while rest.first().is_some_and(|part| part == "super") {
            base.pop();
            rest = &rest[1..];
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// Finds the module that a path leads to, through re-exports.
    fn target(&self, path: &[String], depth: usize) -> Module {
        let mut at = Module::new();
        for (index, name) in path.iter().enumerate() {
            let mut next = at.clone();
            next.push(name.clone());
            if self.modules.contains(&next) {
                at = next;
                continue;
            }
            let rest = &path[index + 1..];
            let onward = |to: &[String]| self.target(&[to, rest].concat(), depth + 1);
            if depth < 8 {
                if let Some(to) = self.imports.get(&(at.clone(), name.clone()))
                    && to != path
                {
                    return onward(to);
                }
                for glob in self.globs.get(&at).into_iter().flatten() {
                    let inside = [glob.as_slice(), std::slice::from_ref(name)].concat();
                    if self.modules.contains(&inside) {
                        return onward(&inside);
                    }
                    if let Some(to) = self.imports.get(&(glob.clone(), name.clone())) {
                        return onward(to);
                    }
                }
            }
            break;
        }
        at
    }

    /// Lists the sets of neighbouring folders that depend on each other in circles.
    fn circles(&self) -> Vec<Vec<String>> {
        let is_folder = |module: &Module| {
            self.modules
                .iter()
                .any(|other| other.len() > module.len() && other.starts_with(module))
        };
        let mut uses: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (from, path) in &self.mentioned {
            let to = self.target(path, 0);
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if from.len() == common || to.len() == common {
                continue;
            }
            let (from, to) = (from[..=common].to_vec(), to[..=common].to_vec());
            if is_folder(&from) && is_folder(&to) {
                uses.entry(from).or_default().insert(to);
            }
        }
        let mut found: Vec<Vec<String>> = Vec::new();
        let mut seen: BTreeSet<&Module> = BTreeSet::new();
        for folder in uses.keys() {
            if seen.contains(folder) {
                continue;
            }
            // Few folders: a folder that is reached from here and reaches back is part of the circle.
            let reached = reach(&uses, folder);
            let circle: Vec<&Module> = uses
                .keys()
                .filter(|other| reached.contains(*other) && reach(&uses, other).contains(folder))
                .collect();
            if !circle.is_empty() {
                found.push(circle.iter().map(|module| module.join("/")).collect());
                seen.extend(circle);
            }
        }
        found
    }
}

fn reach(uses: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(folder) = open.pop() {
        for next in uses.get(folder).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    reached
}

/// Lists what `use` items import: the path, and the name that it has then; `*` for everything of a module.
fn used(code: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    for (at, word) in words(code) {
        if word != "use" {
            continue;
        }
        let rest = &code[at + word.len()..];
        if let Some(end) = rest.find(';') {
            expand(&[], &rest[..end], &mut found);
        }
    }
    found
}

/// Takes a use tree apart.
fn expand(prefix: &[String], tree: &str, found: &mut Vec<(Vec<String>, String)>) {
    let (mut depth, mut start) = (0usize, 0);
    let mut items = Vec::new();
    for (at, letter) in tree.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&tree[start..]);
    for item in items
        .into_iter()
        .map(str::trim)
        .filter(|item| !item.is_empty())
    {
        let names = |text: &str| -> Vec<String> {
            text.split("::")
                .map(str::trim)
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect()
        };
        if let Some((head, body)) = item.split_once('{') {
            let prefix = [prefix, &names(head)].concat();
            let body = body.trim_end();
            expand(&prefix, body.strip_suffix('}').unwrap_or(body), found);
            continue;
        }
        let (path, name) = match item.split_once(" as ") {
            Some((path, name)) => (path, Some(name.trim().to_owned())),
            None => (item, None),
        };
        let mut path = [prefix, &names(path)].concat();
        let Some(last) = path.last().cloned() else {
            continue;
        };
        match last.as_str() {
            "*" => {
                path.pop();
                found.push((path, last));
            }
            "self" => {
                path.pop();
                let own = path.last().cloned().unwrap_or_default();
                found.push((path, name.unwrap_or(own)));
            }
            _ => found.push((path, name.unwrap_or(last))),
        }
    }
}

/// Lists paths that begin with `crate`, `super` or `self`, wherever they stand.
fn inline(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut end = 0;
    for (at, word) in words(code) {
        if at < end || !matches!(word, "crate" | "super" | "self") {
            continue;
        }
        let mut path = vec![word.to_owned()];
        end = at + word.len();
        while let Some(rest) = code[end..].strip_prefix("::") {
            let length = rest
                .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .unwrap_or(rest.len());
            if length == 0 {
                break;
            }
            path.push(rest[..length].to_owned());
            end += 2 + length;
        }
        if path.len() > 1 {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files: Vec<(Module, &str)> = files
            .iter()
            .map(|(path, code)| (module_of(path), *code))
            .collect();
        Crate::of(&files).circles()
    }

    #[test]
    fn folders_that_use_each_other_are_found_through_re_exports() {
        let root = (
            "lib.rs",
            "mod a;\nmod b;\npub use b::*;\nuse a::inner::Thing;\n",
        );
        let one_way = [
            root,
            ("a/mod.rs", "pub mod inner;"),
            ("a/inner.rs", "use crate::{Other, missing};"),
            ("b/mod.rs", "mod deep;\npub use deep::Other;"),
            ("b/deep.rs", "pub struct Other;"),
        ];
        assert!(circles_of(&one_way).is_empty());
        let mut both = one_way;
        both[4].1 = "fn f() { crate::Thing::new(); }";
        assert_eq!(circles_of(&both), [["a", "b"]]);
    }

    #[test]
    fn files_of_one_folder_and_the_files_beside_the_folders_may_know_each_other() {
        let files = [
            ("lib.rs", "mod a;\nmod shared;"),
            ("a/mod.rs", "mod x;\nmod y;\nuse crate::shared::Shared;"),
            ("a/x.rs", "use super::y::Y;"),
            ("a/y.rs", "use super::x::X;"),
            ("shared.rs", "use crate::a::x::X;"),
        ];
        assert!(circles_of(&files).is_empty());
    }

    #[test]
    fn a_circle_of_three_and_one_inside_a_folder_are_found() {
        let files = [
            ("a/mod.rs", "use crate::b;"),
            ("a/f.rs", ""),
            ("b/mod.rs", "use crate::c::{self, d as e};"),
            ("b/f.rs", ""),
            ("c/mod.rs", "use super::a::f;"),
            ("c/one/mod.rs", "use super::two;"),
            ("c/one/f.rs", ""),
            ("c/two/mod.rs", "use crate::c::one::f;"),
            ("c/two/f.rs", ""),
        ];
        assert_eq!(
            circles_of(&files),
            [vec!["a", "b", "c"], vec!["c/one", "c/two"]]
        );
    }
}
