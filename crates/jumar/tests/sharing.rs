//! Memory that a process shares with another one: the test starts itself as that one.
#![forbid(unsafe_code)]

use std::process::Command;

use jumar::engine::{Call, Caller, GRANULARITY, Lookups, MemoryName, Runtime};
use jumar::{ErrorKind, Profile, Settings};

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
        return import(name_of(&text));
    }
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let allocate = |caller: &Caller<'_>| context.allocate(BYTES, BYTES, caller);
    let span = with_caller(allocate).expect("memory").span;
    with_caller(|caller| runtime.write(span, b"mine", caller)).expect("it is live");
    let name = runtime.export_memory(span.address(), BYTES, false);
    let name = name.expect("it can be shared");
    let this = std::env::current_exe().expect("a test");
    let other = Command::new(this)
        .args([
            "--exact",
            "imported_memory_is_mapped_again_after_a_reset_of_the_device",
        ])
        .env(NAME, text_of(name))
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&other.stdout);
    assert!(
        other.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

/// The variable by which the other process knows names of memory, the first of which is not shared any more.
const NAMES: &str = "JUMAR_TEST_NAMES";

fn text_of(name: MemoryName) -> String {
    format!("{} {} {}", name.number, name.offset, name.bytes)
}

fn name_of(text: &str) -> MemoryName {
    let mut numbers = text.split(' ').map(|one| one.parse::<u64>());
    let mut next = || numbers.next().expect("three").expect("a number");
    MemoryName {
        number: next(),
        offset: next() as usize,
        bytes: next() as usize,
    }
}

#[test]
fn mapped_memory_is_not_found_once_its_name_is_closed_and_can_be_shared_again() {
    const TEST: &str = "mapped_memory_is_not_found_once_its_name_is_closed_and_can_be_shared_again";
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    if let Ok(text) = std::env::var(NAMES) {
        let (closed, open) = text.split_once(';').expect("two names");
        let import =
            |name| with_caller(|caller| runtime.import_memory(&context, name, caller)).map(drop);
        let error = import(name_of(closed)).expect_err("it was closed");
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
        return import(name_of(open)).expect("it is shared");
    }
    let range = runtime.reserve_addresses(context.device(), GRANULARITY);
    let at = range.expect("addresses").address();
    let memory = runtime.create_physical(0, GRANULARITY).expect("memory");
    let map = || with_caller(|caller| runtime.map_memory(at, GRANULARITY, &memory, true, caller));
    let share = || runtime.export_memory(at, GRANULARITY, false);
    map().expect("the range is reserved");
    let first = share().expect("it is mapped");
    assert_eq!(share().expect("it is shared"), first, "the name stays");
    with_caller(|caller| runtime.close_memory(first, caller)).expect("it is shared");
    let second = share().expect("it is shared no longer");
    // Unmapped, it is shared no longer either.
    with_caller(|caller| runtime.unmap_memory(at, caller)).expect("it is mapped");
    map().expect("the range is free");
    let third = share().expect("it is another allocation");
    assert!(first != second && second != third && first != third);
    for closed in [first, second] {
        let this = std::env::current_exe().expect("a test");
        let other = Command::new(this)
            .args(["--exact", TEST])
            .env(NAMES, format!("{};{}", text_of(closed), text_of(third)))
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&other.stdout);
        assert!(
            other.status.success() && said.contains("1 passed"),
            "{said}"
        );
    }
}
