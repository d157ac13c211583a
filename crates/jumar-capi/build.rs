//! Compiles the few lines of C, and names the shared library as programs expect it.

fn main() {
    println!("cargo::rerun-if-changed=src/manual/app_log.c");
    for name in [
        "securec.c",
        "securec_scan.c",
        "securec_scan.h",
        "securec_text.h",
    ] {
        println!("cargo::rerun-if-changed=src/manual/{name}");
    }
    println!("cargo::rerun-if-changed=../../include/securec.h");
    println!("cargo::rerun-if-changed=build.rs");
    cc::Build::new()
        .file("src/manual/app_log.c")
        .file("src/manual/securec.c")
        .file("src/manual/securec_scan.c")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .compile("jumar_hand");
    // Programs are linked against this name, whichever of the names in lib64 they found.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libascendcl.so");
    // Threads of the library may still run when a program calls dlclose.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // A program that jumps through a table of ours stops at load time, not in the middle of its work.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,relro,-z,now");
}
