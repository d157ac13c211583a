//! Which operators are computed.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

/// The tables of jumar-eager. They are read as text: building the kernels for every generated file would take minutes. A
/// test of jumar-eager compares the page that comes of it with its tables.
const TABLES: &str = "crates/jumar-eager/src/ops";

/// Returns the words of the tables; operators among them are computed.
///
/// # Errors
/// A file cannot be read.
pub fn words(root: &Path) -> Result<BTreeSet<String>> {
    let mut words = BTreeSet::new();
    collect(&root.join(TABLES), &mut words)?;
    Ok(words)
}

fn collect(folder: &Path, words: &mut BTreeSet<String>) -> Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, words)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("reading {}", path.display()))?;
            words.extend(names(&text).map(str::to_owned));
        }
    }
    Ok(())
}

/// The names in a source, its comments and tests excepted.
fn names(text: &str) -> impl Iterator<Item = &str> {
    // Tests in a file of their own are named before the tables.
    let code = text.split("#[cfg(test)]\nmod tests {").next();
    let code = code.unwrap_or(text);
    let lines = code.lines().map(str::trim_start);
    let lines = lines.filter(|line| !line.starts_with("//"));
    lines
        .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .filter(|word| word.starts_with("acl"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_comments_and_tests_do_not_count() {
        let text = "const T: &[(&str, F)] = &[(\"aclnnAdd\", add)];\n// aclnnSub\n#[cfg(test)]\nmod trial;\nmacro!(aclnnMul)\n#[cfg(test)]\nmod tests {\n\"aclnnDiv\"";
        let found: Vec<&str> = names(text).collect();
        assert_eq!(found, ["aclnnAdd", "aclnnMul"]);
    }
}
