//! The engine by itself, from code that cannot be unsafe: it checks what its callers pass.
#![forbid(unsafe_code)]

use jumar::engine::{Call, Caller, Lookups, Rows, StreamOptions};
use jumar::{ErrorKind, Profile, Settings};

static CALL: Call = Call {
    name: "test",
    number: 0,
};

#[test]
fn a_copy_never_reaches_beyond_the_shorter_end() {
    let profile = Profile {
        memory_bytes: 64 << 20,
        ..Settings::default().profile
    };
    let settings = Settings {
        profile,
        ..Settings::default()
    };
    let runtime = settings.build().expect("a runtime");
    let lookups = Lookups::default();
    let caller = Caller::new(&CALL, &lookups);
    let context = runtime.create_context(0).expect("a context");
    let stream = context
        .create_stream(StreamOptions::default())
        .expect("a stream");
    let allocate = |bytes| {
        context
            .allocate(bytes, bytes, &caller)
            .expect("memory")
            .span
    };
    let pinned = |bytes| {
        runtime
            .allocate_pinned(bytes, &caller)
            .expect("memory")
            .span
    };
    // Side by side, so that a copy that went too far would be seen.
    let (small, beside, large) = (allocate(64), allocate(64), pinned(4096));
    runtime.fill_now(beside, 7, &caller).expect("a fill");
    runtime.fill_now(large, 9, &caller).expect("a fill");
    let is_refused = |result: jumar::Result<()>| {
        let error = result.expect_err("the ends differ in length");
        assert_eq!(error.kind(), ErrorKind::InvalidValue, "{error}");
        assert!(error.to_string().contains("64"), "{error}");
    };
    for (to, from) in [(small, large), (large, small)] {
        is_refused(runtime.copy_now(to, from, &caller));
        is_refused(stream.copy(to, from, &caller));
        is_refused(stream.copy_buffered(to, from, &caller));
        let rows = |span: jumar::engine::Span| {
            Rows::of(span, span.bytes(), span.bytes(), 1).expect("one row")
        };
        is_refused(runtime.copy_rows_now(rows(to), rows(from), &caller));
        is_refused(stream.copy_rows(rows(to), rows(from), &caller));
        let pieces = [(to, to), (to, from)];
        let batch = runtime.copy_batch_now(&pieces, &caller);
        assert_eq!(batch.as_ref().map_err(|(piece, _)| *piece), Err(Some(1)));
        is_refused(batch.map_err(|(_, error)| error));
        is_refused(
            stream
                .copy_batch(pieces.to_vec(), &caller)
                .map_err(|(_, error)| error),
        );
    }
    stream
        .synchronize(None, &caller)
        .expect("nothing was queued");
    let mut found = [0; 64];
    runtime.read(beside, &mut found, &caller).expect("a read");
    assert_eq!(found, [7; 64]);
}
