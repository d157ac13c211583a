//! Device profiles: what kind of device is imitated, as data in `profiles/`, and files of the user's own.

mod built_in;

use std::borrow::Cow;
use std::path::Path;

use jumar_core::{Chip, Limits, Profile};
use jumar_types::{Error, ErrorKind, Result};
use serde::Deserialize;

/// The profiles that are built in, from files in `profiles/`. The first is the one without any setting.
const BUILT_IN: &[&str] = &[
    "Ascend910B1",
    "Ascend910B2",
    "Ascend910B3",
    "Ascend910B4",
    "Ascend310P3",
    "Ascend310B1",
    "Ascend910A",
];

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Cow<'static, str>,
    memory_gib: u64,
    cube_cores: u32,
    vector_cores: u32,
    aicpu_cores: u32,
    limits: FileLimits,
    #[serde(default)]
    chip: FileChip,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileLimits {
    streams: u32,
    events: u32,
    notifies: u32,
    #[serde(default = "usual_batch_copies")]
    batch_copies: u32,
}

/// The copies of a batch that a profile allows which says nothing about them.
fn usual_batch_copies() -> u32 {
    4096
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileChip {
    l2_mib: Option<u64>,
    unified_buffer: Option<u64>,
    l0a: Option<u64>,
    l0b: Option<u64>,
    l0c: Option<u64>,
    l1: Option<u64>,
    bias_table: Option<u64>,
    core_version: Option<Cow<'static, str>>,
    architecture: Option<u32>,
    memory_type: Option<Cow<'static, str>>,
}

/// Lists the names of the built-in profiles.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.to_vec()
}

/// Finds a built-in profile by name, whatever the case of its letters.
pub fn built_in(name: &str) -> Option<Profile> {
    let name = BUILT_IN
        .iter()
        .find(|known| known.eq_ignore_ascii_case(name))?;
    // Read from its file when the library is made: reading it in each process took a tenth of the first task's time.
    let file = built_in::FILES.iter().find(|file| file.name == **name)?;
    Some(profile(file.clone()))
}

/// The most that a profile's file may hold.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Finds a profile by what `JUMAR_PROFILE` holds: the name of a built-in one, or the path of a file (anything with a slash,
/// or with the ending `.toml`).
///
/// # Errors
/// `InvalidArgument`: no such name, or a file that cannot be read or is not a profile.
pub fn find(setting: &str) -> Result<Profile> {
    if setting.contains('/') || setting.ends_with(".toml") {
        let text =
            crate::input_file::read_text(Path::new(setting), MAX_FILE_BYTES).map_err(|error| {
                bad(format!(
                    "JUMAR_PROFILE is \"{setting}\", a file that cannot be read: {error}"
                ))
            })?;
        return read(&text, setting);
    }
    built_in(setting).ok_or_else(|| {
        bad(format!(
            "JUMAR_PROFILE is \"{setting}\": {}; anything with a slash is the path of a file",
            without_a_profile(setting)
        ))
    })
}

/// Chips that programs name and that no built-in profile describes, or the beginnings of their names.
const WITHOUT_A_PROFILE: &[&str] = &[
    "Ascend310",
    "Ascend310B",
    "Ascend310P",
    "Ascend610",
    "Ascend910",
    "Ascend910_93",
    "Ascend910_95",
    "Ascend950",
];

/// Returns whether a name is that of a chip, with a built-in profile or without. The letters' case does not matter.
pub fn is_chip(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_variant = |known: &&str| {
        name.strip_prefix(&known.to_ascii_lowercase())
            .is_some_and(|rest| {
                rest.len() <= 8 && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            })
    };
    WITHOUT_A_PROFILE.iter().chain(BUILT_IN).any(is_variant)
}

/// Explains why a name has no profile, and what to write instead.
pub fn without_a_profile(name: &str) -> String {
    let known = names().join(", ");
    match is_chip(name) {
        true => format!(
            "no profile describes the chip {name}; the built-in profiles are {known}. Write one as a TOML file and give its path"
        ),
        false => format!("\"{name}\" is not the name of a chip; the built-in profiles are {known}"),
    }
}

fn bad(sentence: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, sentence)
}

/// The least and the most that a number of a profile can be.
fn check(what: &str, whose: &str, value: u64, least: u64, most: u64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(bad(format!(
        "the profile {whose} says {what} = {value}; it must be from {least} to {most}"
    )))
}

fn read(text: &str, whose: &str) -> Result<Profile> {
    let file: File = toml::from_str(text).map_err(|error| {
        bad(format!(
            "the profile {whose} is not one: {}",
            error.message().replace('\n', " ")
        ))
    })?;
    if file.name.is_empty() || file.name.len() > 64 || file.name.contains('\0') {
        return Err(bad(format!(
            "the profile {whose} has a name of {} bytes; 1 to 64 are allowed",
            file.name.len()
        )));
    }
    check("memory_gib", whose, file.memory_gib, 1, 1024)?;
    for (what, cores) in [
        ("cube_cores", file.cube_cores),
        ("vector_cores", file.vector_cores),
        ("aicpu_cores", file.aicpu_cores),
    ] {
        check(what, whose, cores.into(), 1, 4096)?;
    }
    for (what, count) in [
        ("streams", file.limits.streams),
        ("events", file.limits.events),
        ("notifies", file.limits.notifies),
        ("batch_copies", file.limits.batch_copies),
    ] {
        check(what, whose, count.into(), 1, 1 << 20)?;
    }
    Ok(profile(file))
}

fn profile(file: File) -> Profile {
    let chip = file.chip;
    Profile {
        soc_name: file.name.into_owned(),
        memory_bytes: file.memory_gib << 30,
        limits: Limits {
            streams: file.limits.streams,
            events: file.limits.events,
            notifies: file.limits.notifies,
            batch_copies: file.limits.batch_copies,
        },
        cube_cores: file.cube_cores,
        vector_cores: file.vector_cores,
        aicpu_cores: file.aicpu_cores,
        chip: Chip {
            l2_bytes: chip.l2_mib.map(|mib| mib.saturating_mul(1 << 20)),
            unified_buffer_bytes: chip.unified_buffer,
            l0a_bytes: chip.l0a,
            l0b_bytes: chip.l0b,
            l0c_bytes: chip.l0c,
            l1_bytes: chip.l1,
            bias_table_bytes: chip.bias_table,
            core_version: chip.core_version.map(Cow::into_owned),
            architecture: chip.architecture,
            memory_type: chip.memory_type.map(Cow::into_owned),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_profile_can_be_read_and_has_its_own_name() {
        for name in BUILT_IN {
            let file = format!("{}/profiles/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let written = find(&file).expect("a file that can be read");
            let built_in = built_in(name).expect(name);
            assert_eq!(built_in.soc_name, *name);
            assert_eq!(format!("{written:?}"), format!("{built_in:?}"));
        }
        assert_eq!(built_in::FILES.len(), BUILT_IN.len());
    }

    #[test]
    fn a_file_of_the_users_own_is_a_profile() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("small.toml");
        let text = "name = \"Small\"\nmemory_gib = 1\ncube_cores = 2\nvector_cores = 4\naicpu_cores = 1\n\
                    [limits]\nstreams = 3\nevents = 5\nnotifies = 7\n";
        std::fs::write(&path, text).expect("written");
        let profile = find(path.to_str().expect("a name")).expect("read");
        assert_eq!(
            (profile.soc_name.as_str(), profile.limits.events),
            ("Small", 5)
        );
        assert_eq!(profile.chip.l1_bytes, None);
    }

    #[test]
    fn what_is_no_profile_is_refused_with_its_name() {
        for (setting, part) in [
            ("Ascend1", "built-in profiles are Ascend910B1"),
            ("/nowhere/p.toml", "cannot be read"),
        ] {
            let sentence = find(setting).expect_err("refused").to_string();
            assert!(
                sentence.contains(setting) && sentence.contains(part),
                "{sentence}"
            );
        }
        let text = "name = \"X\"\nmemory_gib = 0\ncube_cores = 1\nvector_cores = 1\naicpu_cores = 1\n\
                    [limits]\nstreams = 1\nevents = 1\nnotifies = 1\n";
        let sentence = read(text, "x.toml").expect_err("refused").to_string();
        assert!(sentence.contains("memory_gib = 0"), "{sentence}");
        assert!(read(&text.replace("streams = 1", "rivers = 1"), "x").is_err());
    }
}
