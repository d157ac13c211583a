//! The shared library as a file: what it exports, what it needs, and that everything in it answers.

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fs;
use std::path::{Path, PathBuf};

use object::read::elf::{Dyn as _, ElfFile64};
use object::{Endianness, elf};

type Outcome = Result<(), Box<dyn Error>>;

/// What the library exports beside the C interface: how copies of it recognise each other.
const EXTRA: &[&str] = &[
    "jumar_instance",
    "jumar_last_error",
    "jumar_set_source_location",
    "jumar_script_call_failed",
    "jumar_script_reads_result",
    "jumar_set_script_signal",
    // Below the Python module.
    "jumar_launch_callback",
    // Below the checks of kernels in Ascend C.
    "jumar_find_memory",
    // Below the functions of custom operators.
    "jumar_aclnn_members",
    // Below the C++ headers of the Graph Engine.
    "jumar_ge_call",
    "jumar_ge_version",
    "jumar_ge_run",
    "jumar_ge_run_async",
    "jumar_ge_set_custom",
    // What the library of transformers calls.
    "jumar_atb_create",
    "jumar_atb_destroy",
    "jumar_atb_describe",
    "jumar_atb_infer",
    "jumar_atb_setup",
    "jumar_atb_execute",
    "jumar_atb_prepare",
    "jumar_atb_run",
    "jumar_atb_refuse",
];

/// What it may need. The loader belongs to libc: thread-local variables are found through it.
const NEEDED: &[&str] = &[
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
];

/// The names of the API data, read without the generator's help.
fn api() -> Result<BTreeSet<String>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../api");
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|e| e != "toml") || path.ends_with("errors.toml") {
            continue;
        }
        for line in fs::read_to_string(&path)?.lines() {
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                names.insert(name.to_owned());
            }
        }
    }
    Ok(names)
}

/// The functions of `api/aclnn`: each operator has two phases, each helper is one function.
fn operators() -> Result<BTreeSet<String>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../api/aclnn");
    let mut names = BTreeSet::new();
    for (file, phases) in [("operators.json", true), ("helpers.json", false)] {
        for line in fs::read_to_string(folder.join(file))?.lines() {
            let Some((_, rest)) = line.split_once("\"name\": \"") else {
                continue;
            };
            let name = rest.split('"').next().unwrap_or(rest);
            names.insert(name.to_owned());
            if phases {
                names.insert(format!("{name}GetWorkspaceSize"));
                if line.contains("\"bounded\": true") {
                    names.insert(format!("{name}GetMaxWorkspaceSize"));
                }
            }
        }
    }
    Ok(names)
}

/// The library that was built with this test.
pub fn library() -> Result<PathBuf, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let deps = own.parent().ok_or("a test lies in a folder")?;
    let found = [Some(deps), deps.parent()]
        .into_iter()
        .flatten()
        .map(|f| f.join("libascendcl.so"))
        .find(|p| p.exists());
    Ok(found.ok_or("libascendcl.so was not built")?)
}

#[test]
fn it_exports_the_api_and_nothing_else() -> Outcome {
    let bytes = fs::read(library()?)?;
    let file = ElfFile64::<Endianness>::parse(&*bytes)?;
    let mut exported = BTreeSet::new();
    for symbol in file.elf_dynamic_symbol_table().symbols() {
        if symbol.st_shndx.get(file.endian()) != elf::SHN_UNDEF
            && symbol.st_bind() != elf::STB_LOCAL
        {
            let name = file
                .elf_dynamic_symbol_table()
                .symbol_name(file.endian(), symbol)?;
            exported.insert(String::from_utf8(name.to_vec())?);
        }
    }
    let mut wanted = api()?;
    assert_eq!(wanted.len(), 1133);
    let operators = operators()?;
    assert_eq!(operators.len(), 2 * 1094 + 2 + 7);
    wanted.extend(operators);
    let bounded =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/manual/securec.rs"))?;
    let jumps = bounded
        .lines()
        .filter_map(|line| line.trim().split_once(" -> "));
    let before = wanted.len();
    wanted.extend(
        jumps
            .filter(|(_, to)| to.starts_with("jumar_"))
            .map(|(name, _)| name.to_owned()),
    );
    assert_eq!(wanted.len() - before, 36);
    wanted.extend(EXTRA.iter().map(|name| (*name).to_owned()));
    let missing: Vec<_> = wanted.difference(&exported).collect();
    let surplus: Vec<_> = exported.difference(&wanted).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "missing {missing:?}, surplus {surplus:?}"
    );
    Ok(())
}

#[test]
fn it_needs_nothing_beyond_the_c_library() -> Outcome {
    let bytes = fs::read(library()?)?;
    let file = ElfFile64::<Endianness>::parse(&*bytes)?;
    let endian = file.endian();
    let (entries, strings) = file
        .elf_section_table()
        .dynamic(endian, &*bytes)?
        .ok_or("the library has a dynamic section")?;
    let strings = file.elf_section_table().strings(endian, &*bytes, strings)?;
    let mut needed = Vec::new();
    let mut name = String::new();
    let mut flags = 0;
    for entry in entries {
        let value = entry.d_val(endian);
        let text = || -> Result<String, Box<dyn Error>> {
            let bytes = strings
                .get(u32::try_from(value)?)
                .map_err(|()| "a name lies outside the table")?;
            Ok(String::from_utf8(bytes.to_vec())?)
        };
        match entry.d_tag(endian) {
            elf::DT_NEEDED => needed.push(text()?),
            elf::DT_SONAME => name = text()?,
            elf::DT_FLAGS_1 => flags = value,
            _ => {}
        }
    }
    let strange: Vec<_> = needed
        .iter()
        .filter(|n| !NEEDED.contains(&n.as_str()))
        .collect();
    assert!(strange.is_empty(), "the library needs {strange:?}");
    assert_eq!(name, "libascendcl.so");
    assert_ne!(
        flags & elf::DF_1_NODELETE.0,
        0,
        "the library may be unloaded under its own threads"
    );
    Ok(())
}

#[test]
fn every_stub_answers_not_supported_and_says_its_name() -> Outcome {
    let path = CString::new(library()?.into_os_string().into_encoded_bytes())?;
    // SAFETY: loading the library runs nothing that this test does not want.
    let object = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!object.is_null());
    let find = |name: &str| -> Result<*mut c_void, Box<dyn Error>> {
        let name = CString::new(name)?;
        // SAFETY: the object is open.
        let found = unsafe { libc::dlsym(object, name.as_ptr()) };
        if found.is_null() {
            Err(format!("{} is not there", name.to_string_lossy()).into())
        } else {
            Ok(found)
        }
    };
    // SAFETY: the symbol has this type.
    let message = unsafe {
        std::mem::transmute::<*mut c_void, extern "C" fn() -> *const c_char>(find(
            "aclGetRecentErrMsg",
        )?)
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/generated");
    let mut stubs = 0;
    for entry in fs::read_dir(folder)? {
        for line in fs::read_to_string(entry?.path())?.lines() {
            let Some((start, rest)) = line.split_once("(&calls::") else {
                continue;
            };
            let with_code = match start.trim() {
                "raw::stub" => true,
                "raw::stub_value" => false,
                _ => continue,
            };
            let is_of_name = |c: &char| c.is_alphanumeric() || *c == '_';
            let name: String = rest.chars().take_while(is_of_name).collect();
            // SAFETY: a stub reads none of its arguments, and the caller cleans up after it.
            let call =
                unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> i32>(find(&name)?) };
            let code = call();
            if name.starts_with("hi_") {
                // The third byte is the number of the function's module.
                assert_eq!(code.cast_unsigned() & 0xFF00_FFFF, 0xA000_8008, "{name}");
            } else if with_code {
                assert_eq!(code, 200_001, "{name}");
            }
            let text = message();
            assert!(!text.is_null(), "{name} keeps no text");
            // SAFETY: not null, and the library's texts end in a zero byte.
            let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
            assert!(text.contains(&name), "{name}: {text}");
            stubs += 1;
        }
    }
    println!("{stubs} stubs answered");
    Ok(())
}
