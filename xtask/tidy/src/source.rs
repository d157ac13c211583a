//! The repository's files, and Rust sources reduced to code.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Every file that git knows or would take in.
pub struct Repository {
    /// Files in the order of their paths.
    pub files: Vec<File>,
}

/// One file.
pub struct File {
    /// The path below the root, with slashes.
    pub path: String,
    /// The text; empty where the file is none.
    pub text: String,
    /// For Rust: the text with comments and the insides of literals blanked, every byte at its offset.
    pub code: String,
    /// For Rust: `code` without the parts that only tests see.
    pub shipped: String,
}

impl Repository {
    /// Reads everything.
    pub fn read(root: &Path) -> Result<Repository> {
        let output = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root)
            .stdin(Stdio::null())
            .output()
            .context("git lists the files")?;
        ensure!(
            output.status.success(),
            "git ls-files failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let list = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
        let mut paths: Vec<&str> = list.split('\0').filter(|path| !path.is_empty()).collect();
        paths.sort_unstable();
        paths.dedup();
        let read = |path: &&str| {
            let text = String::from_utf8(fs::read(root.join(path)).ok()?).unwrap_or_default();
            Some(File::new(path, text))
        };
        let mut repository = Repository {
            files: paths.iter().filter_map(read).collect(),
        };
        repository.unship_test_modules();
        Ok(repository)
    }

    /// A file whose `mod` line only tests or the model checker see does not ship.
    fn unship_test_modules(&mut self) {
        let folders = |path: &str| match path.rsplit_once('/') {
            Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder.to_string(),
            _ => path.trim_end_matches(".rs").to_string(),
        };
        let modules: Vec<String> = self
            .rust()
            .flat_map(|file| {
                let folder = folders(&file.path);
                let items = test_items(&file.code).map(|item| &file.code[item]);
                let names = items.filter_map(|item| {
                    item.strip_suffix(';')?
                        .rsplit_once("mod ")
                        .map(|(_, name)| name)
                });
                names
                    .map(|name| format!("{folder}/{name}"))
                    .collect::<Vec<_>>()
            })
            .collect();
        for file in &mut self.files {
            let below = |module: &String| {
                file.path
                    .strip_prefix(module.as_str())
                    .is_some_and(|rest| rest.starts_with(['.', '/']))
            };
            if modules.iter().any(below) {
                file.shipped = String::new();
            }
        }
    }

    /// Finds a file by its path.
    pub fn get(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Lists the Rust sources.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }
}

impl File {
    /// Prepares a file.
    pub fn new(path: &str, text: String) -> File {
        let code = if path.ends_with(".rs") {
            code_only(&text)
        } else {
            String::new()
        };
        let only_tests =
            path.ends_with("/tests.rs") || path.contains("/tests/") || path.contains("/benches/");
        let shipped = if only_tests {
            String::new()
        } else {
            without_tests(&code)
        };
        File {
            path: path.into(),
            text,
            code,
            shipped,
        }
    }

    /// Writes `path:line` for a byte of the text.
    pub fn location(&self, byte: usize) -> String {
        format!(
            "{}:{}",
            self.path,
            1 + self.text.as_bytes()[..byte]
                .iter()
                .filter(|b| **b == b'\n')
                .count()
        )
    }
}

/// Blanks comments and the insides of string and character literals, keeping line ends and lengths.
pub fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => blank(&mut out, at, line_end(bytes, at)),
            b'/' if bytes[at..].starts_with(b"/*") => blank(&mut out, at, comment_end(bytes, at)),
            b'"' => {
                let end = string_end(bytes, at);
                blank(&mut out, at + 1, end.saturating_sub(1).max(at + 1));
                end
            }
            b'r' if !continues_a_word(bytes, at) => match raw_string(bytes, at) {
                Some((inside, end)) => {
                    blank(&mut out, inside.start, inside.end);
                    end
                }
                None => at + 1,
            },
            b'\'' => match char_end(bytes, at) {
                Some(end) => {
                    blank(&mut out, at + 1, end - 1);
                    end
                }
                None => at + 1,
            },
            _ => at + 1,
        };
        at = end;
    }
    String::from_utf8(out).unwrap_or_default()
}

fn blank(out: &mut [u8], from: usize, to: usize) -> usize {
    let to = to.min(out.len());
    for byte in out[from.min(to)..to]
        .iter_mut()
        .filter(|byte| **byte != b'\n')
    {
        *byte = b' ';
    }
    to
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |n| at + n)
}

fn comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if bytes[at..].starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Recognises `r"..."` and `r#"..."#` and returns the inside and the end. `br` and `cr` arrive here at their `r`.
fn raw_string(bytes: &[u8], start: usize) -> Option<(std::ops::Range<usize>, usize)> {
    let hashes = bytes[start + 1..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    let open = start + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
    let length = bytes[open + 1..]
        .windows(close.len())
        .position(|window| window == close)?;
    let end = open + 1 + length;
    Some((open + 1..end, end + close.len()))
}

fn continues_a_word(bytes: &[u8], at: usize) -> bool {
    // The b of br"..." and the c of cr"..." belong to the literal.
    let before = |n: usize| at.checked_sub(n).map(|i| bytes[i]);
    let is_word = |byte: Option<u8>| byte.is_some_and(|b| b == b'_' || b.is_ascii_alphanumeric());
    match before(1) {
        Some(b'b' | b'c') => is_word(before(2)),
        other => is_word(other),
    }
}

/// Returns the end of a character literal; none for a lifetime.
fn char_end(bytes: &[u8], start: usize) -> Option<usize> {
    if bytes.get(start + 1) == Some(&b'\\') {
        let close = bytes[start + 3..].iter().position(|byte| *byte == b'\'')?;
        return Some(start + 3 + close + 1);
    }
    let text = std::str::from_utf8(&bytes[start + 1..(start + 6).min(bytes.len())]);
    let text = text
        .or_else(|error| std::str::from_utf8(&bytes[start + 1..start + 1 + error.valid_up_to()]))
        .ok()?;
    let width = text.chars().next()?.len_utf8();
    (bytes.get(start + 1 + width) == Some(&b'\'')).then_some(start + 2 + width)
}

/// Blanks what follows `#[cfg(test)]` and its kin: an item up to its closing brace or semicolon.
pub fn without_tests(code: &str) -> String {
    let mut out = code.as_bytes().to_vec();
    for item in test_items(code) {
        blank(&mut out, item.start, item.end);
    }
    String::from_utf8(out).unwrap_or_default()
}

/// Finds the items that only tests or the model checker see, with the attribute before them.
fn test_items(code: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let marks = ["#[cfg(test)]", "#[cfg(all(test", "#[cfg(loom)]", "#[test]"];
    let starts = marks.into_iter().flat_map(|mark| code.match_indices(mark));
    starts.map(|(start, _)| start..item_end(code.as_bytes(), start))
}

fn item_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_i32;
    let mut at = start;
    let mut in_attribute = 0_i32;
    while at < bytes.len() {
        match bytes[at] {
            b'[' => in_attribute += 1,
            b']' => in_attribute -= 1,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            b';' if depth == 0 && in_attribute == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Lists the words (identifiers and keywords) of a code text with their offsets.
pub fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + code[at..].find(is_word)?;
        let length = code[start..]
            .find(|c| !is_word(c))
            .unwrap_or(code.len() - start);
        at = start + length;
        Some((start, &code[start..at]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_the_insides_of_literals_vanish_and_nothing_moves() {
        let text = "let a = \"unsafe \\\" {\"; // unsafe\nlet b = 'x'; /* unsafe /* { */ */ let c: &'a str = r#\"un\"safe\"#;\nlet d = '\\'';let e = b\"q\";";
        let code = code_only(text);
        assert_eq!(code.len(), text.len());
        assert!(
            !code.contains("unsafe") && !code.contains('{') && !code.contains("safe"),
            "{code}"
        );
        assert!(
            code.contains("let c: &'a str = r#\"") && code.contains("let e = b\""),
            "{code}"
        );
        assert_eq!(code.matches('\n').count(), 2);
    }

    #[test]
    fn test_modules_are_not_shipped() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { { } } }\nfn c() {}\n#[cfg(test)]\nuse x;\nfn d() {}";
        let shipped = without_tests(code);
        assert!(shipped.contains("fn a") && shipped.contains("fn c") && shipped.contains("fn d"));
        assert!(
            !shipped.contains("fn b") && !shipped.contains("use x"),
            "{shipped}"
        );
    }

    #[test]
    fn a_file_that_only_tests_see_does_not_ship() {
        let file = |path: &str, text: &str| File::new(path, text.into());
        let mut repository = Repository {
            files: vec![
                file(
                    "c/src/lib.rs",
                    "#[cfg(all(test, loom))]\n#[expect(\n    x\n)]\nmod model;\n#[cfg(not(test))]\nmod real;",
                ),
                file("c/src/model.rs", "unsafe {}"),
                file("c/src/real.rs", "unsafe {}"),
            ],
        };
        repository.unship_test_modules();
        assert_eq!(repository.files[1].shipped, "");
        assert_eq!(repository.files[2].shipped, "unsafe {}");
    }

    #[test]
    fn a_location_counts_lines_from_one() {
        let file = File::new("a.rs", "x\ny\n".into());
        assert_eq!(file.location(0), "a.rs:1");
        assert_eq!(file.location(2), "a.rs:2");
    }
}
