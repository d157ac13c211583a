//! Kernels of a Rust program: loaded, launched, captured, and refused where the arguments are not the kernel's.

use std::path::{Path, PathBuf};
use std::process::Command;

use jumar::{Context, DeviceBuffer, ErrorKind, Kernel, KernelArg, KernelModule, Runtime, Stream};

const SOURCE: &str = r#"
#include "jumar/kernel.h"

extern "C" void scale(const float *x, float *z, float factor, uint32_t n)
{
    for (uint32_t i = get_block_idx(); i < n; i += get_block_num()) z[i] = x[i] * factor;
}
JUMAR_KERNEL(scale)

extern "C" void plain(void *arguments, uint64_t bytes, uint32_t block, uint32_t blocks)
{
    (void)arguments; (void)bytes; (void)block; (void)blocks;
}
"#;

fn compile(folder: &Path) -> PathBuf {
    let source = folder.join("kernels.cpp");
    std::fs::write(&source, SOURCE).expect("written");
    let library = folder.join("kernels.so");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let done = Command::new("c++")
        .args(["-shared", "-fPIC", "-O1", "-I"])
        .arg(include)
        .arg(&source)
        .arg("-o")
        .arg(&library)
        .output()
        .expect("a C++ compiler");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    library
}

fn module(folder: &Path) -> (Context, Stream, KernelModule) {
    let runtime = Runtime::builder()
        .memory_bytes(64 << 20)
        .build()
        .expect("a runtime");
    let context = runtime
        .device(0)
        .and_then(|device| device.context())
        .expect("a context");
    let stream = context.stream().expect("a stream");
    // SAFETY: the source above: its kernel stays within the lengths that it is passed.
    let module = unsafe { KernelModule::load(&context, compile(folder)) }.expect("loaded");
    (context, stream, module)
}

fn launch(stream: &Stream, kernel: &Kernel, args: &[KernelArg<'_>]) -> jumar::Result<()> {
    // SAFETY: every launch here passes no more elements than its buffers have.
    unsafe { stream.launch(kernel, 2, args) }
}

#[test]
fn a_kernel_computes_in_the_order_of_its_stream_and_outlives_its_module() {
    let folder = tempfile::tempdir().expect("a folder");
    let (context, stream, module) = module(folder.path());
    let scale = module.kernel("scale").expect("found");
    drop(module);
    assert_eq!((scale.name(), scale.parameters()), ("scale", 4));
    let x = DeviceBuffer::from_slice(&context, &[1.0f32, 2.0, 3.0]).expect("memory");
    let z = DeviceBuffer::<f32>::new(&context, 3).expect("memory");
    launch(
        &stream,
        &scale,
        &[(&x).into(), (&z).into(), 2.0f32.into(), 3u32.into()],
    )
    .expect("queued");
    launch(
        &stream,
        &scale,
        &[(&z).into(), (&z).into(), 10.0f32.into(), 2u32.into()],
    )
    .expect("queued");
    drop(scale);
    assert_eq!(stream.read(&z).expect("read"), [20.0, 40.0, 6.0]);
}

#[test]
fn a_captured_kernel_reads_what_its_buffers_hold_at_each_launch() {
    let folder = tempfile::tempdir().expect("a folder");
    let (context, stream, module) = module(folder.path());
    let x = DeviceBuffer::from_slice(&context, &[1.0f32, 2.0]).expect("memory");
    let z = DeviceBuffer::<f32>::new(&context, 2).expect("memory");
    let graph = {
        let scale = module.kernel("scale").expect("found");
        drop(module);
        context
            .capture(|capture| {
                let args = [(&x).into(), (&z).into(), 3.0f32.into(), 2u32.into()];
                // SAFETY: two elements lie behind each pointer, and the graph keeps both buffers.
                unsafe { capture.launch(&scale, 1, &args) }
            })
            .expect("captured")
    };
    graph.launch(&stream).expect("queued");
    assert_eq!(stream.read(&z).expect("read"), [3.0, 6.0]);
    stream.write(&x, &[5.0, 7.0]).expect("queued");
    graph.launch(&stream).expect("queued");
    assert_eq!(stream.read(&z).expect("read"), [15.0, 21.0]);
}

#[test]
fn arguments_that_are_not_the_kernels_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (context, stream, module) = module(folder.path());
    let scale = module.kernel("scale").expect("found");
    let x = DeviceBuffer::from_slice(&context, &[1.0f32]).expect("memory");
    let buffer = || KernelArg::from(&x);
    for (args, part) in [
        (vec![buffer()], "takes 4 arguments, and 1 were given"),
        (
            vec![buffer(), 1u64.into(), 2.0f32.into(), 1u32.into()],
            "a pointer of 8 bytes as argument 1",
        ),
        (
            vec![buffer(), buffer(), 2.0f64.into(), 1u32.into()],
            "a number of 4 bytes as argument 2",
        ),
        (
            vec![buffer(), buffer(), buffer(), 1u32.into()],
            "argument 2, and a buffer was given",
        ),
    ] {
        let error = launch(&stream, &scale, &args).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        assert!(error.to_string().contains(part), "{error}");
    }
    let unknown = module.kernel("none").expect_err("refused");
    assert_eq!(unknown.kind(), ErrorKind::InvalidValue);
    let undescribed = module.kernel("plain").expect_err("refused");
    assert!(
        undescribed.to_string().contains("describe"),
        "{undescribed}"
    );
    // SAFETY: no such file.
    let missing = unsafe { KernelModule::load(&context, folder.path().join("nowhere.so")) };
    assert_eq!(missing.expect_err("refused").kind(), ErrorKind::InvalidFile);
}
