//! The words that the glossary bans: found in names and prose, and counted.
//!
//! The table in docs/glossary.md is the only list of words. The counts in xtask/vocabulary.tsv are a ratchet: they hold
//! what is left of older wording, and may only become smaller. In prose each use counts. A name counts once, in the folder
//! that uses it most, so that code may use what it did not name.

mod matcher;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Problem;
use super::files::is_generated;
use super::source::{File, Repository};
use matcher::{Hit, Vocabulary};

const GLOSSARY: &str = "docs/glossary.md";
const COUNTS: &str = "xtask/vocabulary.tsv";

/// The files of this check: their tests need the words.
const OWN: &str = "xtask/tidy/src/vocabulary";

/// Endings of files that people write and read.
const ENDINGS: &[&str] = &[
    ".rs", ".py", ".c", ".cc", ".cpp", ".h", ".hpp", ".md", ".toml", ".sh", ".cmake",
];

/// How many lines a problem quotes.
const QUOTED: usize = 8;

/// Hits by word and folder.
type Counts = BTreeMap<(String, String), usize>;

/// No word of the glossary's table is used more often than the ratchet records.
pub fn ratchet(repository: &Repository) -> Result<Vec<Problem>> {
    let vocabulary = vocabulary(repository)?;
    let hits = hits(repository, &vocabulary);
    let recorded = parse(&fs::read_to_string(crate::root().join(COUNTS)).context(COUNTS)?)?;
    let mut problems = Vec::new();
    for word in raised(&recorded, &counts(&hits)).keys() {
        for ((_, folder), found) in hits.range(folders_of(word)) {
            let key = (word.clone(), folder.clone());
            let allowed = recorded.get(&key).copied().unwrap_or(0);
            if found.len() <= allowed {
                continue;
            }
            let mut text = format!(
                "\"{word}\" occurs {} times, {allowed} are recorded; write: {} (docs/glossary.md)",
                found.len(),
                vocabulary.instead(word)
            );
            for (file, hit) in newest(found) {
                let _ = write!(text, "\n    {}: {}", file.location(hit.at), hit.line(file));
            }
            problems.push(Problem::new(folder.as_str(), text));
        }
    }
    Ok(problems)
}

/// Returns the keys of a word: those of all folders.
fn folders_of(word: &str) -> std::ops::Range<(String, String)> {
    (word.to_owned(), String::new())..(format!("{word}\0"), String::new())
}

/// Writes the counts of today, unless a word is used more often than recorded.
///
/// # Errors
/// A word is used more often than recorded, or a file cannot be read or written.
pub fn update(repository: &Repository) -> Result<()> {
    let vocabulary = vocabulary(repository)?;
    let hits = hits(repository, &vocabulary);
    let found = counts(&hits);
    let path = crate::root().join(COUNTS);
    let recorded = match fs::read_to_string(&path) {
        Ok(text) => parse(&text)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Counts::new(),
        Err(error) => return Err(error).context(COUNTS),
    };
    let raised = raised(&recorded, &found);
    ensure!(
        raised.is_empty(),
        "the counts are not raised; these words are used more often than {COUNTS} records: {}",
        raised.values().cloned().collect::<Vec<_>>().join(", ")
    );
    let words: BTreeSet<&str> = vocabulary.words().collect();
    fs::write(&path, written(&words, &found))?;
    println!(
        "{COUNTS}: {} uses of {} banned words, {} before",
        found.values().sum::<usize>(),
        words.len(),
        recorded.values().sum::<usize>()
    );
    Ok(())
}

fn vocabulary(repository: &Repository) -> Result<Vocabulary> {
    let glossary = repository
        .get(GLOSSARY)
        .with_context(|| format!("{GLOSSARY} is missing"))?;
    Vocabulary::parse(&glossary.text).context(GLOSSARY)
}

/// Hits by word and folder, with their files.
type Hits<'a> = BTreeMap<(String, String), Vec<(&'a File, Hit)>>;

/// Finds the banned words in the files that people write.
fn hits<'a>(repository: &'a Repository, vocabulary: &Vocabulary) -> Hits<'a> {
    let mut all = Hits::new();
    let mut names: BTreeMap<(String, String), Hits> = BTreeMap::new();
    for file in &repository.files {
        let checked = ENDINGS.iter().any(|ending| file.path.ends_with(ending));
        if !checked || file.path == GLOSSARY || file.path.starts_with(OWN) || is_generated(file) {
            continue;
        }
        for hit in vocabulary.hits(file) {
            let word = vocabulary.head(&hit).to_owned();
            let key = (word.clone(), folder(&file.path));
            let of = match &hit.name {
                Some(name) => names.entry((word, name.clone())).or_default(),
                None => &mut all,
            };
            of.entry(key).or_default().push((file, hit));
        }
    }
    for uses in names.into_values() {
        let most_used = uses.into_iter().reduce(|most, folder| {
            if folder.1.len() > most.1.len() {
                folder
            } else {
                most
            }
        });
        if let Some((key, uses)) = most_used {
            all.entry(key).or_default().extend(uses.into_iter().take(1));
        }
    }
    all
}

fn counts(hits: &Hits) -> Counts {
    let counts = hits.iter().map(|(key, found)| (key.clone(), found.len()));
    counts.collect()
}

/// Returns the folder that a file is counted in: two levels, as in `crates/jumar-core`.
fn folder(path: &str) -> String {
    let folders: Vec<&str> = path.split('/').collect();
    match folders.as_slice() {
        [_] => ".".into(),
        [first, _] => (*first).into(),
        [first, second, ..] => format!("{first}/{second}"),
        [] => String::new(),
    }
}

/// Returns the hits to quote: those on lines that the last commit does not have, else the first ones.
fn newest<'a>(found: &'a [(&'a File, Hit)]) -> impl Iterator<Item = &'a (&'a File, Hit)> {
    let mut committed: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut is_new = |file: &'a File, hit: &Hit| {
        let lines = committed
            .entry(&file.path)
            .or_insert_with(|| lines_of_last_commit(&file.path));
        !lines.contains(hit.line(file))
    };
    let new: Vec<_> = found
        .iter()
        .filter(|(file, hit)| is_new(file, hit))
        .collect();
    let quoted = if new.is_empty() {
        found.iter().collect()
    } else {
        new
    };
    quoted.into_iter().take(QUOTED)
}

fn lines_of_last_commit(path: &str) -> BTreeSet<String> {
    let output = Command::new("git")
        .args(["show", &format!("HEAD:{path}")])
        .current_dir(crate::root())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = output.map_or(Vec::new(), |output| output.stdout);
    let lines = String::from_utf8_lossy(&text);
    lines.lines().map(|line| line.trim().to_owned()).collect()
}

/// Lists the words that are used more often than recorded. A word that moved from one folder to another is not; a word that
/// the record does not have is new in the glossary.
fn raised(recorded: &Counts, found: &Counts) -> BTreeMap<String, String> {
    let (recorded, found) = (totals(recorded), totals(found));
    recorded
        .iter()
        .filter_map(|(word, before)| {
            let now = found.get(word).copied().unwrap_or(0);
            let text = format!("{word} ({now}, recorded {before})");
            (now > *before).then(|| ((*word).to_owned(), text))
        })
        .collect()
}

fn totals(counts: &Counts) -> BTreeMap<&str, usize> {
    let mut totals = BTreeMap::new();
    for ((word, _), count) in counts {
        *totals.entry(word.as_str()).or_insert(0) += count;
    }
    totals
}

/// Reads the record: `word`, folder and count, with tabs between them.
fn parse(text: &str) -> Result<Counts> {
    let mut counts = Counts::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [word, folder, count] = line.split('\t').collect::<Vec<_>>()[..] else {
            anyhow::bail!("{COUNTS}: not a word, a folder and a count: {line:?}");
        };
        let count = count
            .parse()
            .with_context(|| format!("{COUNTS}: {line:?}"))?;
        counts.insert((word.into(), folder.into()), count);
    }
    Ok(counts)
}

/// Writes the record. A word that is not used any more keeps a line with 0, so that it is not taken for a new one.
fn written(words: &BTreeSet<&str>, found: &Counts) -> String {
    let mut text = String::from(
        "# Uses of the words that docs/glossary.md bans: word, folder, count. Written by `cargo xtask tidy --update-vocabulary`.\n",
    );
    let totals = totals(found);
    for word in words.iter().filter(|word| !totals.contains_key(**word)) {
        let _ = writeln!(text, "{word}\t-\t0");
    }
    for ((word, folder), count) in found {
        let _ = writeln!(text, "{word}\t{folder}\t{count}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_once_where_it_is_used_most() {
        let glossary = "<!-- vocabulary: begin -->\n| a | b | c | d |\n|---|---|---|---|\n| room | both | x | |\n<!-- vocabulary: end -->";
        let vocabulary = Vocabulary::parse(glossary).unwrap();
        let file = |path: &str, text: &str| File::new(path, text.into());
        let repository = Repository {
            files: vec![
                file("crates/a/src/lib.rs", "use b::Room;"),
                file(
                    "crates/b/src/lib.rs",
                    "struct Room; fn f(room: Room) {} // a room, a room",
                ),
            ],
        };
        let hits = hits(&repository, &vocabulary);
        let key = |folder: &str| ("room".to_owned(), folder.to_owned());
        assert_eq!(hits.len(), 1);
        // Twice in the comment; the names Room and room.
        assert_eq!(hits[&key("crates/b")].len(), 4);
    }

    #[test]
    fn the_folders_of_a_word_are_those_of_no_other_word() {
        let counts = recorded(&[("room", "a", 1), ("rooms", "a", 1), ("roo", "z", 1)]);
        let of_room: Vec<_> = counts.range(folders_of("room")).collect();
        assert_eq!(of_room.len(), 1);
    }

    fn recorded(list: &[(&str, &str, usize)]) -> Counts {
        list.iter()
            .map(|(word, folder, count)| (((*word).into(), (*folder).into()), *count))
            .collect()
    }

    #[test]
    fn a_word_may_move_between_folders_and_not_multiply() {
        let before = recorded(&[("told", "a", 2), ("told", "b", 1)]);
        assert!(raised(&before, &recorded(&[("told", "b", 3)])).is_empty());
        assert!(raised(&before, &recorded(&[("told", "a", 1)])).is_empty());
        let raised = raised(&before, &recorded(&[("told", "a", 2), ("told", "c", 2)]));
        assert_eq!(raised["told"], "told (4, recorded 3)");
    }

    #[test]
    fn a_word_that_is_gone_stays_gone() {
        let words = BTreeSet::from(["told", "room"]);
        let record = written(&words, &recorded(&[("room", "a", 1)]));
        let read = parse(&record).unwrap();
        let again = raised(&read, &recorded(&[("told", "a", 1)]));
        assert_eq!(again["told"], "told (1, recorded 0)");
        assert!(raised(&read, &recorded(&[("new", "a", 1)])).is_empty());
    }

    #[test]
    fn a_damaged_record_is_refused() {
        assert!(parse("told\ta\n").is_err());
        assert!(parse("told\ta\tmany\n").is_err());
    }

    #[test]
    fn files_are_counted_two_levels_deep() {
        assert_eq!(folder("README.md"), ".");
        assert_eq!(folder("docs/check.md"), "docs");
        assert_eq!(folder("crates/jumar-core/src/gate.rs"), "crates/jumar-core");
    }

    #[test]
    fn the_glossary_itself_can_be_read() {
        let text = fs::read_to_string(crate::root().join(GLOSSARY)).unwrap();
        let vocabulary = Vocabulary::parse(&text).unwrap();
        assert!(vocabulary.words().any(|word| word == "told"));
        assert!(vocabulary.words().any(|word| word == "whoever"));
    }
}
