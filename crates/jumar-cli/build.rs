//! Compiles the runtime of Triton's kernels, which the compiler links into each of them.

fn main() {
    for name in [
        "src/triton/runtime.c",
        "src/triton/runtime.h",
        "../../include/jumar/kernel.h",
        "build.rs",
    ] {
        println!("cargo::rerun-if-changed={name}");
    }
    cc::Build::new()
        .file("src/triton/runtime.c")
        .include("../../include")
        .std("gnu11")
        .opt_level(2)
        .pic(true)
        .warnings(true)
        .extra_warnings(true)
        .flag("-ffunction-sections")
        .flag("-fvisibility=hidden")
        .cargo_metadata(false)
        .compile("jumar_triton");
}
