//! Which libavcodec of FFmpeg decodes video with `jumar run --ffmpeg`.

use std::path::{Path, PathBuf};

use jumar::config::FFMPEG_LIBRARIES;

use super::Report;
use super::loader::Loader;
use crate::tree::Tree;

/// Finds the library that a value of `JUMAR_FFMPEG` chooses: the one at a path, or the one that the loader finds.
///
/// # Errors
/// There is none; the sentence names what was looked for.
pub fn find(tree: &Tree, value: &str) -> Result<PathBuf, String> {
    let missing =
        |wanted: &str| format!("the built-in decoders decode video: there is no {wanted}");
    if value.contains('/') {
        let path = Path::new(value);
        return match path.exists() {
            true => Ok(path.to_owned()),
            false => Err(missing(value)),
        };
    }
    let path = tree
        .environment(|name| std::env::var_os(name))
        .into_iter()
        .find(|(name, _)| *name == "LD_LIBRARY_PATH")
        .map(|(_, value)| value);
    let loader = Loader::of_shell(path);
    let found = FFMPEG_LIBRARIES.iter().find_map(|name| loader.find(name));
    found
        .map(|found| found.path)
        .ok_or_else(|| missing(&FFMPEG_LIBRARIES.join(", ")))
}

/// Reports the library that would be used. No program needs it.
pub fn examine(report: &mut Report, tree: &Tree) {
    let about = "FFmpeg";
    let chosen = std::env::var("JUMAR_FFMPEG").unwrap_or_default();
    let is_chosen = !matches!(&chosen[..], "" | "0");
    let file = match find(tree, &chosen) {
        // A link leads to the file that has the complete version in its name: libavcodec.so.59.37.100.
        Ok(found) => found.canonicalize().unwrap_or(found),
        Err(sentence) if is_chosen => return report.problem(about, sentence),
        Err(sentence) => return report.note(about, sentence),
    };
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let version = name
        .split_once(".so.")
        .map_or("of an unknown version", |parts| parts.1);
    let path = file.display();
    report.ok(
        about,
        match is_chosen {
            true => format!("libavcodec {version} decodes video ({path})"),
            false => format!(
                "libavcodec {version} would decode video with `jumar run --ffmpeg` ({path})"
            ),
        },
    );
}
