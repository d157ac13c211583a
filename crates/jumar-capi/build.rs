//! Compiles the few lines of C, and names the shared library as programs expect it.

fn main() {
    println!("cargo::rerun-if-changed=src/manual/app_log.c");
    println!("cargo::rerun-if-changed=src/manual/securec.c");
    println!("cargo::rerun-if-changed=../../include/securec.h");
    println!("cargo::rerun-if-changed=build.rs");
    cc::Build::new()
        .file("src/manual/app_log.c")
        .file("src/manual/securec.c")
        // strtok_r, strnlen.
        .define("_GNU_SOURCE", None)
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
