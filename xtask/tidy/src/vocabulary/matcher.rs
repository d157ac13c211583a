//! The glossary's table, and where its words occur.

use std::collections::HashMap;

use anyhow::{Context, Result, bail, ensure};

use super::text::{Token, parts_of, prose_of, tokens};
use crate::source::File;

const OPEN: &str = "<!-- vocabulary: begin -->";
const CLOSE: &str = "<!-- vocabulary: end -->";

/// The banned words.
pub struct Vocabulary {
    rows: Vec<Row>,
    /// The phrases by their first word in lower case: row and phrase.
    by_first: HashMap<String, Vec<(usize, Phrase)>>,
}

/// A row of the table.
struct Row {
    /// The first of the words, which names the row.
    head: String,
    names: bool,
    prose: bool,
    instead: String,
    /// Phrases in which the word is right.
    except: Vec<Phrase>,
    /// Folders in which the word is right.
    folders: Vec<String>,
}

/// One or more words. A phrase with a capital matches only with that capital.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Phrase {
    words: Vec<String>,
    exact: bool,
}

/// One use of a banned word.
#[derive(Debug)]
pub struct Hit {
    row: usize,
    /// The byte of the file.
    pub at: usize,
    /// The name that contains the word; none in prose.
    pub name: Option<String>,
}

impl Hit {
    /// Returns the line of the file, trimmed.
    pub fn line<'a>(&self, file: &'a File) -> &'a str {
        let start = file.text[..self.at].rfind('\n').map_or(0, |at| at + 1);
        file.text[start..].lines().next().unwrap_or("").trim()
    }
}

impl Phrase {
    fn new(text: &str) -> Phrase {
        let exact = text.contains(|c: char| c.is_uppercase());
        // A name of several parts is found as its parts.
        let words = text.split([' ', '-']).flat_map(parts_of);
        Phrase {
            words: words.map(|(_, word)| word.to_owned()).collect(),
            exact,
        }
    }

    /// Returns whether the phrase starts at a token.
    fn is_at(&self, tokens: &[Token], at: usize) -> bool {
        let Some(tokens) = tokens.get(at..at + self.words.len()) else {
            return false;
        };
        let same = |word: &str, token: &Token| {
            if self.exact {
                word == token.text
            } else {
                word.eq_ignore_ascii_case(token.text)
            }
        };
        self.words
            .iter()
            .zip(tokens)
            .all(|(word, token)| same(word, token))
            && tokens.iter().skip(1).all(|token| token.continues)
    }
}

impl Vocabulary {
    /// Reads the table from the glossary's text.
    ///
    /// # Errors
    /// The table or one of its rows is not as the glossary describes it.
    pub fn parse(glossary: &str) -> Result<Vocabulary> {
        let table = glossary
            .split_once(OPEN)
            .and_then(|(_, rest)| rest.split_once(CLOSE))
            .with_context(|| format!("no table between {OPEN} and {CLOSE}"))?
            .0;
        let mut vocabulary = Vocabulary {
            rows: Vec::new(),
            by_first: HashMap::new(),
        };
        for line in table.lines().filter(|line| line.starts_with('|')).skip(2) {
            vocabulary.add(line).with_context(|| line.to_owned())?;
        }
        ensure!(!vocabulary.rows.is_empty(), "the table is empty");
        Ok(vocabulary)
    }

    fn add(&mut self, line: &str) -> Result<()> {
        let cells: Vec<&str> = line
            .trim()
            .trim_matches('|')
            .split('|')
            .map(str::trim)
            .collect();
        let [banned, usage, instead, except] = cells[..] else {
            bail!("a row has four cells, this one {}", cells.len());
        };
        let (names, prose) = match usage {
            "names" => (true, false),
            "prose" => (false, true),
            "both" => (true, true),
            _ => bail!("not names, prose or both: {usage:?}"),
        };
        ensure!(
            !instead.is_empty(),
            "says nothing about what to write instead"
        );
        let list = |cell: &str| -> Vec<String> {
            let items = cell
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            items.map(str::to_owned).collect()
        };
        let banned = list(banned);
        let head = banned.first().context("bans nothing")?.clone();
        ensure!(
            self.rows.iter().all(|row| row.head != head),
            "the second row for {head:?}"
        );
        let (folders, except): (Vec<String>, Vec<String>) = list(except)
            .into_iter()
            .partition(|item| item.ends_with('/'));
        for phrase in banned.iter().map(|text| Phrase::new(text)) {
            let first = phrase.words.first().context("bans nothing")?.to_lowercase();
            let row = self.rows.len();
            self.by_first.entry(first).or_default().push((row, phrase));
        }
        self.rows.push(Row {
            head,
            names,
            prose,
            instead: instead.into(),
            except: except.iter().map(|text| Phrase::new(text)).collect(),
            folders,
        });
        Ok(())
    }

    /// Lists the first word of each row.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.head.as_str())
    }

    /// Returns the row's word.
    pub fn head(&self, hit: &Hit) -> &str {
        &self.rows[hit.row].head
    }

    /// Returns what to write instead of a row's word.
    pub fn instead(&self, head: &str) -> &str {
        let row = self.rows.iter().find(|row| row.head == head);
        row.map_or("", |row| row.instead.as_str())
    }

    /// Finds the banned words of a file.
    pub fn hits(&self, file: &File) -> Vec<Hit> {
        let prose = prose_of(file);
        let tokens = tokens(file, &prose);
        let mut hits = Vec::new();
        self.search(file, &tokens.prose, |row| row.prose, &mut hits);
        self.search(file, &tokens.names, |row| row.names, &mut hits);
        hits.sort_by_key(|hit| hit.at);
        hits
    }

    fn search(
        &self,
        file: &File,
        tokens: &[Token],
        applies: impl Fn(&Row) -> bool,
        hits: &mut Vec<Hit>,
    ) {
        for (index, token) in tokens.iter().enumerate() {
            let Some(candidates) = self.by_first.get(&token.text.to_lowercase()) else {
                continue;
            };
            for (number, phrase) in candidates {
                let row = &self.rows[*number];
                if applies(row)
                    && phrase.is_at(tokens, index)
                    && !row
                        .folders
                        .iter()
                        .any(|folder| file.path.starts_with(folder.as_str()))
                    && !row.is_excepted(tokens, index, phrase.words.len())
                {
                    hits.push(Hit {
                        row: *number,
                        at: token.at,
                        name: token.name.map(str::to_owned),
                    });
                }
            }
        }
    }
}

impl Row {
    /// Returns whether a phrase in which the word is right covers the `length` tokens at `index`.
    fn is_excepted(&self, tokens: &[Token], index: usize, length: usize) -> bool {
        self.except.iter().any(|phrase| {
            let most = phrase.words.len().saturating_sub(length);
            (0..=most.min(index)).any(|before| phrase.is_at(tokens, index - before))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "x\n<!-- vocabulary: begin -->\n\n| banned | where | write instead | except |\n|---|---|---|---|\n\
        | place, places | both | index | in place, SIMD place, c/simd/ |\n\
        | hand | names | manual | hand written |\n\
        | whole number, whole numbers | prose | integer | |\n\
        | Word | names | RawArg | |\n\
        | LetOver | names | task | |\n\
        | is no | prose | is not a | there is no |\n\
        <!-- vocabulary: end -->\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let vocabulary = Vocabulary::parse(TABLE).unwrap();
        let file = File::new(path, text.into());
        let hits = vocabulary.hits(&file);
        hits.iter()
            .map(|hit| format!("{}@{}", vocabulary.head(hit), hit.at))
            .collect()
    }

    #[test]
    fn words_are_found_in_prose_and_in_parts_of_names() {
        assert_eq!(found("a.rs", "// The Place.\n"), ["place@7"]);
        assert_eq!(found("a.rs", "fn take_places() {}"), ["place@8"]);
        assert_eq!(found("a.rs", "struct MyPlace;"), ["place@9"]);
        assert_eq!(
            found("a.rs", "struct LetOvers; struct LetOver;"),
            ["LetOver@24"]
        );
        assert_eq!(found("a.rs", "f(\"a place\")"), ["place@5"]);
        assert_eq!(found("a.rs", "let replaced = placeholder;"), [""; 0]);
    }

    #[test]
    fn a_row_for_names_leaves_prose_alone() {
        assert_eq!(found("a.rs", "// by hand\nmod hand;"), ["hand@15"]);
        assert_eq!(found("a.md", "by hand"), [""; 0]);
        assert_eq!(found("a.py", "# by hand\nby_hand = 1"), ["hand@13"]);
    }

    #[test]
    fn phrases_are_found_over_line_ends() {
        assert_eq!(
            found("a.rs", "// a whole\n/// number of\n"),
            ["whole number@5"]
        );
        assert_eq!(found("a.md", "the whole. Number of"), [""; 0]);
    }

    #[test]
    fn a_capital_is_kept() {
        assert_eq!(
            found("a.rs", "struct Word; fn word() {} const WORD: u8 = 0;"),
            ["Word@7"]
        );
    }

    #[test]
    fn exceptions_cover_the_word() {
        assert_eq!(found("a.md", "in place, in-place, a SIMD place"), [""; 0]);
        assert_eq!(found("a.rs", "fn in_place() {}"), [""; 0]);
        assert_eq!(found("a.rs", "mod hand_written;"), [""; 0]);
        assert_eq!(
            found("a.md", "there is no file, it is no file"),
            ["is no@21"]
        );
        assert_eq!(found("c/simd/x.md", "a place"), [""; 0]);
        assert_eq!(found("a.md", "in a place"), ["place@5"]);
    }

    #[test]
    fn names_of_the_vendor_are_left_alone() {
        assert_eq!(
            found("a.c", "aclrtGetPlace(); ACL_PLACE_X; my_place();"),
            ["place@33"]
        );
    }

    #[test]
    fn a_table_with_an_error_is_refused() {
        assert!(Vocabulary::parse("nothing").is_err());
        let table =
            |row: &str| format!("{OPEN}\n| a | b | c | d |\n|---|---|---|---|\n{row}\n{CLOSE}");
        assert!(Vocabulary::parse(&table("| x | both | y | |")).is_ok());
        assert!(Vocabulary::parse(&table("| x | sometimes | y | |")).is_err());
        assert!(Vocabulary::parse(&table("| x | both | | |")).is_err());
        assert!(Vocabulary::parse(&table("| x | both | y |")).is_err());
        assert!(Vocabulary::parse(&table("| x | both | y | |\n| x | names | z | |")).is_err());
        assert!(Vocabulary::parse(&table("")).is_err());
    }
}
