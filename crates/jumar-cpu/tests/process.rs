//! What a process that uses the backend can see: its threads, its address space.

use std::process::Command;
use std::sync::Arc;

use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig};
use jumar_hal::{
    Backend, Call, Device, QueueConfig, QueueObserver, Span, Tag, Task, Transfer, Verdict,
};
use jumar_types::{Error, ErrorKind, Result};

static CALL: Call = Call {
    name: "test",
    number: 0,
};
const TAG: Tag = Tag {
    ticket: 0,
    call: &CALL,
};

struct NoObserver;

impl QueueObserver for NoObserver {
    fn started(&self, _tag: Tag) {}
    fn finished(&self, _tag: Tag) {}
    fn failed(&self, _tag: Tag, _error: Error) -> Verdict {
        Verdict::Continue
    }
}

fn backend(memory_bytes: usize) -> Result<CpuBackend> {
    CpuBackend::new(CpuConfig {
        devices: vec![CpuDeviceConfig { memory_bytes }; 2],
        ..CpuConfig::default()
    })
}

fn device(backend: &CpuBackend, number: u32) -> Arc<dyn Device> {
    backend.open(number).expect("the device exists")
}

#[test]
fn an_address_identifies_its_device() {
    let backend = backend(1 << 24).expect("address space");
    let spans = [0, 1].map(|n| device(&backend, n).allocate(100, 64).expect("space"));
    let pinned = backend.allocate_pinned(100).expect("space");
    assert_eq!(backend.device_of(spans[0].address()), Some(0));
    assert_eq!(backend.device_of(spans[1].end() - 1), Some(1));
    assert_eq!(backend.device_of(pinned.address()), None);
    assert!(backend.pinned_range().contains(&pinned.address()));
    assert_eq!(backend.device_of(&raw const backend as usize), None);
    let range = device(&backend, 0).range();
    assert_eq!(backend.device_of(range.start), Some(0));
    assert_eq!(backend.device_of(range.end), None);
    assert_eq!(
        backend.open(2).map(|_| ()).map_err(|e| e.kind()),
        Err(ErrorKind::InvalidDevice)
    );
}

#[test]
fn exhaustion_names_the_bytes_and_loses_nothing() {
    let backend = backend(1 << 24).expect("address space");
    let device = device(&backend, 0);
    let all = device.allocate(1 << 24, 64).expect("all of it");
    let error = device.allocate(1, 64).expect_err("nothing is left");
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    let text = error.to_string();
    for part in ["device 0", "1 bytes", "0 of 16777216 are free"] {
        assert!(text.contains(part), "{text}");
    }
    device.free(all);
    for bytes in [usize::MAX, usize::MAX - 64, (1 << 24) + 1] {
        assert_eq!(
            device.allocate(bytes, 1 << 21).map_err(|e| e.kind()),
            Err(ErrorKind::OutOfMemory)
        );
    }
    let again = device.allocate(1 << 24, 1 << 21).expect("all of it again");
    assert_eq!(again.address(), all.address());
}

#[test]
fn a_span_that_was_freed_can_still_be_read() {
    let backend = backend(1 << 30).expect("address space");
    let device = device(&backend, 0);
    let span = device.allocate(300 << 20, 64).expect("space");
    let end = span.part((300 << 20) - 64, 64).expect("inside");
    backend.fill_now(end, 7);
    device.free(span);
    let mut found = [0u8; 64];
    backend.read_now(end, &mut found);
    drop((device, backend));
    backend_free_copy(&mut found, end);
}

#[test]
fn bytes_go_into_a_span_and_come_back() {
    let backend = backend(1 << 21).expect("address space");
    let span = backend.allocate_pinned(5).expect("space");
    jumar_cpu::write(span, b"clamp");
    let mut found = [0; 5];
    jumar_cpu::read(span, &mut found);
    assert_eq!(&found, b"clamp");
    jumar_cpu::write(Span::EMPTY, &[]);
}

#[test]
fn long_copies_are_complete_at_any_alignment() {
    let backend = backend(256 << 20).expect("address space");
    let device = device(&backend, 0);
    let queue = device
        .queue(QueueConfig::default(), Arc::new(NoObserver))
        .expect("a queue");
    for (bytes, shift) in [
        ((4 << 20) - 1, 0),
        ((4 << 20) + 13, 3),
        ((32 << 20) + 77, 0),
        ((33 << 20) - 1, 31),
    ] {
        let source = device.allocate(bytes + 64, 64).expect("space");
        let target = device.allocate(bytes + 64, 64).expect("space");
        let pattern: Vec<u8> = (0..bytes)
            .map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8)
            .collect();
        let from = source.part(0, bytes).expect("inside");
        let to = target.part(shift, bytes).expect("inside");
        jumar_cpu::write(from, &pattern);
        backend.fill_now(target, 0x5a);
        let copy = |to| Task::Copy(Transfer::new(to, from).expect("of one length"));
        queue.submit(copy(to), TAG);
        assert!(queue.wait(queue.submitted(), None));
        let mut found = vec![0; bytes + 64];
        jumar_cpu::read(target, &mut found);
        assert!(found[..shift].iter().all(|byte| *byte == 0x5a));
        assert!(found[shift..shift + bytes] == pattern);
        assert!(found[shift + bytes..].iter().all(|byte| *byte == 0x5a));
        // Overlapping, by less than a part.
        queue.submit(copy(source.part(40, bytes).expect("inside")), TAG);
        assert!(queue.wait(queue.submitted(), None));
        jumar_cpu::read(source, &mut found);
        assert!(found[40..40 + bytes] == pattern);
        device.free(source);
        device.free(target);
    }
}

/// Reads through another backend what the first one left behind.
fn backend_free_copy(to: &mut [u8], from: Span) {
    let other = backend(1 << 21).expect("address space");
    other.read_now(from, to);
}

#[test]
fn a_limit_on_address_space_makes_the_device_smaller_and_says_so() {
    if std::env::var_os("JUMAR_TEST_LIMITED").is_some() {
        let backend = backend(64 << 30).expect("a smaller device");
        let bytes = backend.memory_bytes(0).expect("the device exists");
        assert!((16 << 20..64 << 30).contains(&bytes));
        assert!(backend.notes().iter().any(|note| note.contains("device 0")));
        let sizes = [0, 1].map(|n| device(&backend, n).range().len());
        assert_eq!(sizes[0], sizes[1]);
        // Half of the limit is left to the program.
        assert!(sizes[0] + sizes[1] + backend.pinned_range().len() < 2_100_000_000);
        let span = device(&backend, 0).allocate(1 << 20, 64).expect("space");
        backend.fill_now(span, 1);
        return;
    }
    let me = std::env::current_exe().expect("a path");
    let limited = |arguments: &str| {
        Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -v 4000000 && exec \"$0\" {arguments}"))
            .arg(&me)
            .env("JUMAR_TEST_LIMITED", "1")
            .output()
            .expect("a shell")
    };
    if !limited("--list").status.success() {
        eprintln!(
            "this build needs more address space than the limit (a sanitizer): nothing was tested"
        );
        return;
    }
    let output = limited("--exact a_limit_on_address_space_makes_the_device_smaller_and_says_so");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}
