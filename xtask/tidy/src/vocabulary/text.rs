//! Splits a file into the words of its prose and the parts of its names.

use crate::source::File;

/// One word of prose, or one part of a name.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Token<'a> {
    pub text: &'a str,
    /// The name that it is a part of.
    pub name: Option<&'a str>,
    /// The byte of the file where it begins.
    pub at: usize,
    /// Whether it continues the token before it: only blanks between two words, or parts of one name.
    pub continues: bool,
}

/// The words of a file.
pub struct Tokens<'a> {
    pub prose: Vec<Token<'a>>,
    pub names: Vec<Token<'a>>,
}

/// What replaces text that is not prose. It separates words.
const OTHER: u8 = b';';

/// Returns the prose of a file: every byte that is not prose is replaced, so that offsets stay the same.
///
/// In Rust prose is comments and literals. In Markdown it is text without code and link targets. Files of other languages
/// are prose as a whole: their single words may be either.
pub fn prose_of(file: &File) -> String {
    let mut bytes = file.text.as_bytes().to_vec();
    if file.path.ends_with(".rs") {
        for (byte, code) in bytes.iter_mut().zip(file.code.bytes()) {
            if *byte == code && !code.is_ascii_whitespace() {
                *byte = OTHER;
            }
        }
    }
    let marked_up = file.path.ends_with(".rs") || file.path.ends_with(".md");
    let mut in_block = false;
    let mut start = 0;
    while start < bytes.len() {
        let length = bytes[start..].iter().position(|byte| *byte == b'\n');
        let end = length.map_or(bytes.len(), |length| start + length);
        let line = &mut bytes[start..end];
        if marked_up && line.windows(3).any(|window| window == b"```") {
            in_block = !in_block;
            line.fill(OTHER);
        } else if in_block {
            line.fill(OTHER);
        } else {
            replace_between(line, b"`", b"`");
            replace_between(line, b"](", b")");
            replace_between(line, b"://", b" ");
        }
        start = end + 1;
    }
    // Whole characters were replaced: quotes, brackets and line ends are ASCII.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Replaces what stands between two marks of a line, the marks included.
fn replace_between(line: &mut [u8], open: &[u8], close: &[u8]) {
    let find = |line: &[u8], mark: &[u8], from: usize| {
        let rest = line.get(from..)?;
        let at = rest.windows(mark.len()).position(|window| window == mark)?;
        Some(from + at)
    };
    let mut from = 0;
    while let Some(start) = find(line, open, from) {
        let inside = start + open.len();
        let end = find(line, close, inside).map_or(line.len(), |end| end + close.len());
        line[start..end].fill(OTHER);
        from = end;
    }
}

/// Splits a file. `prose` comes from [`prose_of`].
pub fn tokens<'a>(file: &'a File, prose: &'a str) -> Tokens<'a> {
    let is_rust = file.path.ends_with(".rs");
    let mut tokens = Tokens {
        prose: Vec::new(),
        names: Vec::new(),
    };
    let mut end_of_last = None;
    for (at, word) in words(prose) {
        if is_name(word) {
            // Rust's names come from its code below; elsewhere code and text are not distinguished.
            if !is_rust {
                parts(word, at, &mut tokens.names);
            }
            end_of_last = None;
            continue;
        }
        let continues = end_of_last.is_some_and(|end: usize| is_gap(&prose[end..at]));
        tokens.prose.push(Token {
            text: word,
            name: None,
            at,
            continues,
        });
        end_of_last = Some(at + word.len());
    }
    if is_rust {
        for (at, word) in words(&file.code) {
            parts(word, at, &mut tokens.names);
        }
    }
    tokens
}

/// Returns whether two words with this between them stand next to each other: blanks, a hyphen, the start of a comment line.
fn is_gap(between: &str) -> bool {
    between
        .bytes()
        .all(|byte| byte.is_ascii_whitespace() || b"/!#*-|".contains(&byte))
}

/// Returns whether a word can only be an identifier.
fn is_name(word: &str) -> bool {
    let mut bytes = word.bytes();
    let first = bytes.next();
    word.contains('_')
        || first.is_some_and(|byte| !byte.is_ascii_uppercase())
            && bytes.any(|byte| byte.is_ascii_uppercase())
        || parts_of(word).count() > 1
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_word)?;
        let length = text[start..].find(|c| !is_word(c));
        at = length.map_or(text.len(), |length| start + length);
        Some((start, &text[start..at]))
    })
}

/// How names of the vendor's interface start; the last one is that of fields of `hi_vpc_pic_info`.
const OF_INTERFACE: &[&str] = &["acl", "ACL", "hi_", "HI_", "picture_"];

/// Appends the parts of a name, unless it belongs to the vendor's interface.
fn parts<'a>(name: &'a str, at: usize, names: &mut Vec<Token<'a>>) {
    if OF_INTERFACE.iter().any(|prefix| name.starts_with(prefix)) {
        return;
    }
    for (index, (offset, text)) in parts_of(name).enumerate() {
        names.push(Token {
            text,
            name: Some(name),
            at: at + offset,
            continues: index > 0,
        });
    }
}

/// Splits `snake_case` and `CamelCase`; `IPCBoard` is `IPC` and `Board`.
pub fn parts_of(name: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = name.as_bytes();
    let upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let begins = move |at: usize| {
        at == 0
            || bytes[at - 1] == b'_'
            || upper(at)
                && (!upper(at - 1) || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase))
    };
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at) == Some(&b'_') {
            at += 1;
        }
        let start = at;
        if start == bytes.len() {
            return None;
        }
        at += 1;
        while at < bytes.len() && bytes[at] != b'_' && !begins(at) {
            at += 1;
        }
        Some((start, &name[start..at]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(name: &str) -> Vec<&str> {
        parts_of(name).map(|(_, part)| part).collect()
    }

    #[test]
    fn names_split_at_underscores_and_capitals() {
        assert_eq!(split("takes_apart"), ["takes", "apart"]);
        assert_eq!(split("TwiceRunner"), ["Twice", "Runner"]);
        assert_eq!(split("IPCBoard2"), ["IPC", "Board2"]);
        assert_eq!(split("_MOST_LINES_"), ["MOST", "LINES"]);
        assert_eq!(split("größe"), ["größe"]);
    }

    #[test]
    fn rust_prose_is_comments_and_literals_without_code() {
        let text = "/// Uses `place` and\n/// ```\n/// place\n/// ```\nfn room() { f(\"a bed\"); } // shelf\n";
        let file = File::new("a.rs", text.into());
        let prose = prose_of(&file);
        assert_eq!(prose.len(), text.len());
        let tokens = tokens(&file, &prose);
        let prose: Vec<&str> = tokens.prose.iter().map(|token| token.text).collect();
        assert_eq!(prose, ["Uses", "and", "a", "bed", "shelf"]);
        let names: Vec<&str> = tokens.names.iter().map(|token| token.text).collect();
        assert_eq!(names, ["fn", "room", "f"]);
    }

    #[test]
    fn markdown_skips_code_links_and_addresses() {
        let text =
            "A [page](place.md) at https://place.org x\n```c\nplace\n```\nand `place`, é end";
        let file = File::new("a.md", text.into());
        let prose = prose_of(&file);
        let tokens = tokens(&file, &prose);
        let words: Vec<&str> = tokens.prose.iter().map(|token| token.text).collect();
        assert_eq!(words, ["A", "page", "at", "https", "x", "and", "é", "end"]);
    }

    #[test]
    fn words_continue_over_line_ends_of_comments_and_not_over_points() {
        let text = "// it is\n// no file. Is\n";
        let file = File::new("a.rs", text.into());
        let prose = prose_of(&file);
        let continues: Vec<bool> = tokens(&file, &prose)
            .prose
            .iter()
            .map(|t| t.continues)
            .collect();
        assert_eq!(continues, [false, true, true, true, false]);
    }

    #[test]
    fn other_languages_keep_single_words_as_prose_and_compound_ones_as_names() {
        let file = File::new("a.py", "def take_room(place): pass".into());
        let prose = prose_of(&file);
        let tokens = tokens(&file, &prose);
        assert!(tokens.prose.iter().any(|token| token.text == "place"));
        assert!(tokens.names.iter().any(|token| token.text == "room"));
    }
}
