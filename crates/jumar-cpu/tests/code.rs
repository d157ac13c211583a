//! Kernel binaries: two loads share nothing, and a load returns the requested binary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use jumar_cpu::{CpuBackend, CpuConfig};
use jumar_hal::{Backend, Code, CodeForm, CodeImage, Launch, Span};
use jumar_types::ErrorKind;

/// A C++17 inline variable: plain g++ makes a symbol of it that the loader keeps once for the process.
const COUNTER: &str = "inline unsigned n;\nextern \"C\" unsigned count(void *) { return ++n; }\n";

fn backend() -> CpuBackend {
    CpuBackend::new(CpuConfig::default()).expect("a backend without devices")
}

/// Compiles a shared object as a program's author would: with nothing but what docs/kernels.md asks for.
fn compile(folder: &Path, name: &str, source: &str, more: &[&str]) -> PathBuf {
    let (from, to) = (folder.join(format!("{name}.cc")), folder.join(name));
    std::fs::write(&from, source).expect("a source");
    let compiler = std::env::var("JUMAR_TEST_CXX").unwrap_or_else(|_| "c++".into());
    let status = Command::new(compiler)
        .args(["-std=c++17", "-O1", "-shared", "-fPIC", "-o"])
        .args([&to, &from])
        .args(more)
        .status()
        .expect("a C++ compiler");
    assert!(status.success(), "{name} compiles");
    to
}

fn image(path: &Path, from_file: bool) -> CodeImage {
    CodeImage {
        bytes: std::fs::read(path).expect("the binary").into(),
        file: from_file.then(|| path.to_owned()),
    }
}

fn load(backend: &CpuBackend, path: &Path, from_file: bool) -> Arc<dyn Code> {
    let loaded = backend.load_code(&image(path, from_file));
    loaded.unwrap_or_else(|error| panic!("{} loads: {error}", path.display()))
}

/// Calls a function that answers a number other than 0.
fn call(code: &dyn Code, name: &str) -> i32 {
    let function = code.function(name, CodeForm::Status).expect("it is there");
    let launch = Launch {
        arguments: Span::EMPTY,
        grid: [1; 3],
        group: [1; 3],
        local_bytes: 0,
        device: 0,
    };
    function.run(&launch).failure.expect("a number").status
}

#[test]
fn a_load_gives_the_binary_that_was_asked_for_after_others_were_unloaded() {
    let (folder, backend) = (tempfile::tempdir().expect("a folder"), backend());
    // The first kind leaves on its own account, the second was kept by the loader for its unique symbols, the third asks to be kept.
    for (kind, variable, more) in [
        ("plain", "static unsigned v;", &[][..]),
        ("unique", "inline unsigned v;", &[][..]),
        ("kept", "static unsigned v;", &["-Wl,-z,nodelete"][..]),
    ] {
        for number in 1..=4 {
            let source = format!(
                "{variable}\nextern \"C\" unsigned which(void *) {{ v = {number}; return v; }}\n"
            );
            let path = compile(folder.path(), &format!("{kind}{number}.so"), &source, more);
            let code = load(&backend, &path, false);
            assert_eq!(call(&*code, "which"), number, "{kind}");
        }
    }
}

#[test]
fn two_loads_share_no_inline_variable() {
    let (folder, backend) = (tempfile::tempdir().expect("a folder"), backend());
    let path = compile(folder.path(), "counter.so", COUNTER, &[]);
    for from_file in [false, true] {
        let (one, two) = (
            load(&backend, &path, from_file),
            load(&backend, &path, from_file),
        );
        assert_eq!(call(&*one, "count"), 1);
        assert_eq!(call(&*one, "count"), 2);
        assert_eq!(call(&*two, "count"), 1, "from a file: {from_file}");
    }
}

#[test]
fn two_binaries_share_no_inline_variable_of_one_name() {
    let (folder, backend) = (tempfile::tempdir().expect("a folder"), backend());
    let paths = ["one.so", "two.so"].map(|name| compile(folder.path(), name, COUNTER, &[]));
    let loads = paths.each_ref().map(|path| load(&backend, path, true));
    assert_eq!(call(&*loads[0], "count"), 1);
    assert_eq!(call(&*loads[1], "count"), 1);
}

#[test]
fn a_binary_that_finds_its_neighbours_beside_it_is_loaded_from_its_file() {
    let (folder, backend) = (tempfile::tempdir().expect("a folder"), backend());
    compile(
        folder.path(),
        "libneighbour.so",
        "extern \"C\" unsigned neighbour() { return 7; }\n",
        &[],
    );
    let source = format!(
        "{COUNTER}extern \"C\" unsigned neighbour();\nextern \"C\" unsigned ask(void *) {{ return neighbour(); }}\n"
    );
    let search = format!("-L{}", folder.path().display());
    let more = [&*search, "-lneighbour", "-Wl,-rpath,$ORIGIN"];
    let path = compile(folder.path(), "asks.so", &source, &more);
    assert_eq!(call(&*load(&backend, &path, true), "ask"), 7);
}

#[test]
fn a_description_that_is_too_short_is_refused() {
    let (folder, backend) = (tempfile::tempdir().expect("a folder"), backend());
    let source = "extern \"C\" { void f(void *) {} extern const unsigned jumar_kernel_info_f; const unsigned jumar_kernel_info_f = 1; }\n";
    let path = compile(folder.path(), "short.so", source, &[]);
    let code = load(&backend, &path, false);
    let Err(error) = code.function("f", CodeForm::Kernel) else {
        panic!("4 bytes are read as a description");
    };
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert!(error.to_string().contains("has 4 bytes"), "{error}");
}

/// Two kernels without a symbol of their own. A call reports status 7 if it got all blocks of the launch, and 9 on another device than 3.
const OBJECTS: &str = r#"
#include "jumar/kernel.h"
static void run(jumar_launch *launch)
{
    if (launch->end - launch->begin != launch->grid[0]) return;
    launch->status = launch->device == 3 ? 7 : 9;
    launch->failed_block = launch->begin;
}
extern "C" {
extern const jumar_kernel_object cores, together;
const jumar_kernel_object cores = {JUMAR_KERNEL_MAGIC, "independent", {JUMAR_KERNEL_VERSION, JUMAR_KERNEL_CORES, 0, sizeof(jumar_launch), nullptr, run}};
const jumar_kernel_object together = {JUMAR_KERNEL_MAGIC, "joint", {JUMAR_KERNEL_VERSION, JUMAR_KERNEL_TOGETHER, 0, sizeof(jumar_launch), nullptr, run}};
}
"#;

#[test]
fn a_kernel_object_is_found_by_its_address_and_its_kind_decides_how_blocks_run() {
    let (folder, backend) = (tempfile::tempdir().expect("a folder"), backend());
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../include");
    let path = compile(folder.path(), "objects.so", OBJECTS, &[include]);
    let code = load(&backend, &path, true);
    let address = |name: &str| code.variable(name).expect("a variable").address();
    let status = |name: &str, blocks: u32| {
        let (_, function) = backend.code_at(address(name)).expect("a kernel");
        let launch = Launch {
            arguments: Span::EMPTY,
            grid: [blocks, 1, 1],
            group: [1; 3],
            local_bytes: 0,
            device: 3,
        };
        function.run(&launch).failure
    };
    assert_eq!(
        backend.code_at(address("cores")).map(|found| found.0),
        Some("independent".to_owned())
    );
    assert!(status("cores", 8).is_none());
    assert_eq!(status("together", 8).map(|failure| failure.status), Some(7));
    assert!(status("cores", 65_535).is_none());
    let failure = status("cores", 65_536).expect("too many blocks");
    assert!(
        failure.text.contains("65536 blocks; 1 to 65535"),
        "{}",
        failure.text
    );
    // Addresses of other things: inside of the object, of the code, and of no object.
    for wrong in [address("cores") + 8, address("cores") + 1, 0, 4096] {
        assert!(backend.code_at(wrong).is_none(), "{wrong:#x}");
    }
}
