//! What a reset of a device takes along, and what it leaves to those who come after it.
#![forbid(unsafe_code)]

use jumar::engine::{Call, Caller, Label, Lookups, Runtime};
use jumar::{Profile, Settings};

static CALL: Call = Call {
    name: "test",
    number: 0,
};

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

#[test]
fn a_list_of_labels_from_before_a_reset_frees_no_later_allocation() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let labels = vec![Label::create(&context).expect("a label")];
    let lists = runtime.label_lists();
    let list = with_caller(|caller| lists.create(&context, labels, caller)).expect("a list");
    with_caller(|caller| runtime.release_device(0, false, caller)).expect("it is set");
    let context = runtime.retain_device(0).expect("a context");
    let own = with_caller(|caller| context.allocate(64, 64, caller)).expect("memory");
    assert_eq!(own.span.address(), list, "the address is free again");
    let gone = with_caller(|caller| lists.destroy(&context, list, caller));
    assert!(
        gone.expect_err("the device took it along")
            .to_string()
            .contains("there is no list")
    );
    let live = runtime.space().find(list).map(|block| block.number);
    assert_eq!(live, Some(own.number));
}
