//! The words that the glossary bans: found in names and prose, and counted.
//!
//! The table in docs/glossary.md is the only list of words. The counts in xtask/vocabulary.tsv are a ratchet: they hold
//! what is left of older wording, and may only become smaller.

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
    for (key, found) in &hits {
        let allowed = recorded.get(key).copied().unwrap_or(0);
        if found.len() <= allowed {
            continue;
        }
        let (word, folder) = key;
        let instead = vocabulary.instead(word);
        let mut text = format!(
            "\"{word}\" is used {} times, {allowed} are recorded; write: {instead}",
            found.len()
        );
        for (file, hit) in newest(found) {
            let _ = write!(text, "\n    {}: {}", file.place(hit.at), hit.line(file));
        }
        problems.push(Problem::new(folder.as_str(), text));
    }
    if !problems.is_empty() {
        problems.push(Problem::new(
            GLOSSARY,
            "has the table of words. After moving files between folders: cargo xtask tidy --update-vocabulary",
        ));
    }
    Ok(problems)
}

/// Writes the counts of today, unless a word is used more often than recorded.
///
/// # Errors
/// A word is used more often than recorded, or a file cannot be read or written.
pub fn update(repository: &Repository) -> Result<()> {
    let vocabulary = vocabulary(repository)?;
    let hits = hits(repository, &vocabulary);
    let found: Counts = hits
        .into_iter()
        .map(|(key, found)| (key, found.len()))
        .collect();
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
        raised.join(", ")
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

/// Finds every use of a banned word in the files that people write.
fn hits<'a>(
    repository: &'a Repository,
    vocabulary: &Vocabulary,
) -> BTreeMap<(String, String), Vec<(&'a File, Hit)>> {
    let mut all: BTreeMap<(String, String), Vec<(&File, Hit)>> = BTreeMap::new();
    for file in &repository.files {
        let checked = ENDINGS.iter().any(|ending| file.path.ends_with(ending));
        if !checked || file.path == GLOSSARY || is_generated(file) {
            continue;
        }
        for hit in vocabulary.hits(file) {
            let key = (vocabulary.head(&hit).to_owned(), folder(&file.path));
            all.entry(key).or_default().push((file, hit));
        }
    }
    all
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
fn raised(recorded: &Counts, found: &Counts) -> Vec<String> {
    let (recorded, found) = (totals(recorded), totals(found));
    recorded
        .iter()
        .filter_map(|(word, before)| {
            let now = found.get(word).copied().unwrap_or(0);
            (now > *before).then(|| format!("{word} ({now}, recorded {before})"))
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

    fn counts(list: &[(&str, &str, usize)]) -> Counts {
        list.iter()
            .map(|(word, folder, count)| (((*word).into(), (*folder).into()), *count))
            .collect()
    }

    #[test]
    fn a_word_may_move_between_folders_and_not_multiply() {
        let recorded = counts(&[("told", "a", 2), ("told", "b", 1)]);
        assert!(raised(&recorded, &counts(&[("told", "b", 3)])).is_empty());
        assert!(raised(&recorded, &counts(&[("told", "a", 1)])).is_empty());
        assert_eq!(
            raised(&recorded, &counts(&[("told", "a", 2), ("told", "c", 2)])),
            ["told (4, recorded 3)"]
        );
    }

    #[test]
    fn a_word_that_is_gone_stays_gone() {
        let words = BTreeSet::from(["told", "room"]);
        let record = written(&words, &counts(&[("room", "a", 1)]));
        let read = parse(&record).unwrap();
        assert_eq!(
            raised(&read, &counts(&[("told", "a", 1)])),
            ["told (1, recorded 0)"]
        );
        assert!(raised(&read, &counts(&[("new", "a", 1)])).is_empty());
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
