//! Compiles what OpenH264 needs of the C++ runtime.

fn main() {
    println!("cargo::rerun-if-changed=src/video/operator_new.c");
    println!("cargo::rerun-if-changed=build.rs");
    cc::Build::new()
        .file("src/video/operator_new.c")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .compile("jumar_operator_new");
}
