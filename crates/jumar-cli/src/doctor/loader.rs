//! What the dynamic loader would do, worked out from the same sources: RPATH, LD_LIBRARY_PATH, RUNPATH, cache, defaults.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::elf;
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Endianness, Object as _, ObjectSymbol as _};

/// Where the loader looks besides everything else.
const DEFAULTS: &[&str] = &["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// A library that was found, and how.
pub struct Found {
    /// Where it lies.
    pub path: PathBuf,
    /// Which rule of the loader led there.
    pub why: String,
}

/// What a program asks of the loader.
#[derive(Default)]
pub struct Needs {
    /// The library names that it was linked with.
    pub names: Vec<String>,
    rpath: Vec<PathBuf>,
    runpath: Vec<PathBuf>,
}

/// The folders that are searched, in order.
pub struct Loader {
    folders: Vec<(PathBuf, String)>,
}

impl Loader {
    /// What holds for a program without paths of its own.
    pub fn of_shell(library_path: Option<OsString>) -> Loader {
        Loader::of_program(&Needs::default(), library_path)
    }

    /// What holds for a program that brings its own paths.
    pub fn of_program(needs: &Needs, library_path: Option<OsString>) -> Loader {
        let mut folders = Vec::new();
        // RPATH counts only where there is no RUNPATH, and comes before LD_LIBRARY_PATH.
        if needs.runpath.is_empty() {
            folders.extend(
                needs
                    .rpath
                    .iter()
                    .map(|path| (path.clone(), "from the program's RPATH".to_string())),
            );
        }
        for (index, path) in library_path
            .iter()
            .flat_map(std::env::split_paths)
            .enumerate()
        {
            // An empty entry means the current folder.
            let path = if path.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                path
            };
            folders.push((path, format!("entry {} of LD_LIBRARY_PATH", index + 1)));
        }
        folders.extend(
            needs
                .runpath
                .iter()
                .map(|path| (path.clone(), "from the program's RUNPATH".to_string())),
        );
        Loader { folders }
    }

    /// Finds a library by its name.
    pub fn find(&self, name: &str) -> Option<Found> {
        let in_folder = |(folder, why): &(PathBuf, String)| {
            let path = folder.join(name);
            path.exists().then(|| Found {
                path,
                why: why.clone(),
            })
        };
        let default = |folder: &&str| {
            let path = Path::new(folder).join(name);
            path.exists().then(|| Found {
                path,
                why: "a default folder".into(),
            })
        };
        let cache = || {
            Some(Found {
                path: in_cache(name)?,
                why: "from the loader's cache".into(),
            })
        };
        self.folders
            .iter()
            .find_map(in_folder)
            .or_else(cache)
            .or_else(|| DEFAULTS.iter().find_map(default))
    }
}

/// Looks a name up in what ldconfig prints: `name (kind) => path`.
fn in_cache(name: &str) -> Option<PathBuf> {
    let ldconfig = ["/sbin/ldconfig", "/usr/sbin/ldconfig"]
        .into_iter()
        .find(|path| Path::new(path).exists())?;
    let output = Command::new(ldconfig)
        .arg("-p")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| {
        let (left, path) = line.trim().split_once(" => ")?;
        (left.split(' ').next()? == name).then(|| PathBuf::from(path))
    })
}

/// Reads what a compiled program asks of the loader.
pub fn needs(program: &Path) -> Result<Needs, String> {
    let bytes = fs::read(program).map_err(|error| error.to_string())?;
    let file = ElfFile64::<Endianness>::parse(&*bytes)
        .map_err(|_| "not a 64-bit ELF program".to_string())?;
    let (header, endian) = (file.elf_header(), file.endian());
    let mut needs = Needs::default();
    let broken = |_| "its dynamic section is damaged".to_string();
    let sections = header.sections(endian, &*bytes).map_err(broken)?;
    let Some((dynamic, link)) = sections.dynamic(endian, &*bytes).map_err(broken)? else {
        let dynamic = header
            .program_headers(endian, &*bytes)
            .map_err(broken)?
            .iter()
            .any(|h| h.p_type(endian) == elf::PT_DYNAMIC);
        return match dynamic {
            true => Err("it has no section table, which is needed to read what it links".into()),
            false => Err("statically linked: no library can be put under it".into()),
        };
    };
    let strings = sections.strings(endian, &*bytes, link).map_err(broken)?;
    let origin = program
        .canonicalize()
        .ok()
        .and_then(|path| path.parent().map(Path::to_path_buf))
        .unwrap_or_default();
    for entry in dynamic {
        let tag = entry.tag(endian);
        if !matches!(tag, elf::DT_NEEDED | elf::DT_RPATH | elf::DT_RUNPATH) {
            continue;
        }
        let text = entry.string(endian, strings).map_err(broken)?;
        let text = String::from_utf8_lossy(text).into_owned();
        let folders = || {
            let text = text
                .replace("${ORIGIN}", "$ORIGIN")
                .replace("$ORIGIN", &origin.to_string_lossy());
            text.split(':')
                .filter(|part| !part.is_empty())
                .map(PathBuf::from)
                .collect::<Vec<_>>()
        };
        match tag {
            elf::DT_RPATH => needs.rpath = folders(),
            elf::DT_RUNPATH => needs.runpath = folders(),
            _ => needs.names.push(text),
        }
    }
    Ok(needs)
}

/// Returns the library that a filter object stands for: the loader takes every definition from that one.
pub fn filtered(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let file = ElfFile64::<Endianness>::parse(&*bytes).ok()?;
    let (header, endian) = (file.elf_header(), file.endian());
    let sections = header.sections(endian, &*bytes).ok()?;
    let (dynamic, link) = sections.dynamic(endian, &*bytes).ok()??;
    let strings = sections.strings(endian, &*bytes, link).ok()?;
    let filter = dynamic
        .iter()
        .find(|entry| entry.tag(endian) == elf::DT_FILTER)?;
    let name = filter.string(endian, strings).ok()?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// Whose library a file is.
#[derive(Debug, PartialEq)]
pub enum Maker {
    /// The tree's own.
    ThisTree,
    /// Another build of Jumar.
    OtherJumar,
    /// Something to link against that has no code behind its names.
    Stub,
    /// Another library of that name.
    Other,
    /// It cannot be read as a library.
    Unreadable(String),
}

/// Finds out whose library a file is.
pub fn maker(path: &Path, ours: &Path) -> Maker {
    if path
        .canonicalize()
        .ok()
        .is_some_and(|path| Some(path) == ours.canonicalize().ok())
    {
        return Maker::ThisTree;
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return Maker::Unreadable(error.to_string()),
    };
    let Ok(file) = ElfFile64::<Endianness>::parse(&*bytes) else {
        return Maker::Unreadable("not a 64-bit ELF library".into());
    };
    let mut jumar = false;
    let mut code_bytes = 0;
    for symbol in file
        .dynamic_symbols()
        .filter(|symbol| symbol.is_definition())
    {
        code_bytes += symbol.size();
        jumar |= symbol.name().is_ok_and(|name| name.starts_with("jumar"));
    }
    // Jumar names itself in its messages, whether or not it exports a name of its own.
    jumar |= bytes.windows(6).any(|window| window == b"Jumar ");
    match jumar {
        true => Maker::OtherJumar,
        // The functions of a stub return at once: a few bytes each.
        false if code_bytes < 64 * file.dynamic_symbols().count() as u64 => Maker::Stub,
        false => Maker::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(folder: &Path, name: &str) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(name), b"x").unwrap();
        folder.join(name)
    }

    #[test]
    fn rpath_comes_before_the_environment_and_runpath_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let (own, env) = (folder.path().join("own"), folder.path().join("env"));
        touch(&own, "libx.so");
        touch(&env, "libx.so");
        let library_path = Some(env.clone().into_os_string());

        let rpath = Needs {
            rpath: vec![own.clone()],
            ..Needs::default()
        };
        assert_eq!(
            Loader::of_program(&rpath, library_path.clone())
                .find("libx.so")
                .unwrap()
                .path,
            own.join("libx.so")
        );

        let runpath = Needs {
            runpath: vec![own.clone()],
            rpath: vec![own],
            ..Needs::default()
        };
        assert_eq!(
            Loader::of_program(&runpath, library_path)
                .find("libx.so")
                .unwrap()
                .path,
            env.join("libx.so")
        );
    }

    #[test]
    fn this_test_program_needs_libc() {
        let needs = needs(&std::env::current_exe().unwrap()).unwrap();
        assert!(
            needs.names.iter().any(|name| name.starts_with("libc.so")),
            "{:?}",
            needs.names
        );
    }

    #[test]
    fn a_filter_object_names_the_library_that_it_stands_for() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, extra: &[&str]| {
            let path = folder.path().join(name);
            let done = Command::new("cc")
                .args(["-shared", "-nostdlib", "-x", "c", "/dev/null", "-o"])
                .arg(&path)
                .args(extra)
                .status();
            assert!(done.unwrap().success());
            path
        };
        let filter = make("liba.so", &["-Wl,-F,libascendcl.so"]);
        assert_eq!(filtered(&filter).as_deref(), Some("libascendcl.so"));
        assert_eq!(filtered(&make("libb.so", &[])), None);
        assert_eq!(filtered(&touch(folder.path(), "libc.so")), None);
    }

    #[test]
    fn text_is_no_library() {
        let folder = tempfile::tempdir().unwrap();
        let text = touch(folder.path(), "libascendcl.so");
        assert!(matches!(
            maker(&text, Path::new("/nowhere")),
            Maker::Unreadable(_)
        ));
        assert!(needs(&text).is_err());
    }
}
