//! Memory that a process shares with another one: the test starts itself as that one.
#![forbid(unsafe_code)]

use std::process::Command;

use jumar::engine::{Call, Caller, Lookups, MemoryName, Runtime};
use jumar::{Profile, Settings};

static CALL: Call = Call {
    name: "test",
    number: 0,
};

/// The variable by which the other process knows the name of the memory.
const NAME: &str = "JUMAR_TEST_MEMORY";
const BYTES: usize = 64 << 10;

fn runtime() -> Runtime {
    let profile = Profile {
        memory_bytes: 64 << 20,
        ..Settings::default().profile
    };
    let settings = Settings {
        profile,
        ..Settings::default()
    };
    settings.build().expect("a runtime")
}

fn with_caller<T>(work: impl FnOnce(&Caller<'_>) -> T) -> T {
    let lookups = Lookups::default();
    work(&Caller::new(&CALL, &lookups))
}

/// What the other process does: it imports the memory, and once more after it has reset the device.
fn import(name: MemoryName) {
    let runtime = runtime();
    for round in 0..3 {
        let context = runtime.retain_device(0).expect("a context");
        let take = || with_caller(|caller| runtime.import_memory(&context, name, caller));
        let address = take().expect("it is shared");
        let block = runtime.space().find(address);
        let block = block.unwrap_or_else(|| panic!("round {round}: no memory is mapped there"));
        let mut found = [0; 4];
        with_caller(|caller| runtime.read(block.span, &mut found, caller)).expect("it is live");
        assert_eq!(found, *b"mine");
        // Taken again it is where it was, and closed as often.
        assert_eq!(take().expect("it is shared"), address);
        let close = || with_caller(|caller| runtime.close_memory(name, caller));
        if round == 2 {
            close().expect("it was taken twice");
            close().expect("it was taken twice");
            close().expect_err("it was taken twice since the device was reset");
            assert!(runtime.space().find(address).is_none());
        }
        with_caller(|caller| runtime.release_device(0, false, caller)).expect("it is set");
    }
}

#[test]
fn imported_memory_is_mapped_again_after_a_reset_of_the_device() {
    if let Ok(text) = std::env::var(NAME) {
        let mut numbers = text.split(' ').map(|one| one.parse::<u64>());
        let mut next = || numbers.next().expect("three").expect("a number");
        return import(MemoryName {
            number: next(),
            offset: next() as usize,
            bytes: next() as usize,
        });
    }
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let allocate = |caller: &Caller<'_>| context.allocate(BYTES, BYTES, caller);
    let span = with_caller(allocate).expect("memory").span;
    with_caller(|caller| runtime.write(span, b"mine", caller)).expect("it is live");
    let name = runtime.export_memory(span.address(), BYTES, false);
    let name = name.expect("it can be shared");
    let numbers = format!("{} {} {}", name.number, name.offset, name.bytes);
    let this = std::env::current_exe().expect("a test");
    let other = Command::new(this)
        .args([
            "--exact",
            "imported_memory_is_mapped_again_after_a_reset_of_the_device",
        ])
        .env(NAME, numbers)
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&other.stdout);
    assert!(
        other.status.success() && said.contains("1 passed"),
        "{said}"
    );
}
