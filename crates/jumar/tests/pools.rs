//! Memory pools: what they keep, and whom they hand memory to.
#![forbid(unsafe_code)]

use std::sync::{Arc, mpsc};
use std::time::Duration;

use jumar::engine::{
    Admission, Call, Caller, Context, Lookups, Op, Pool, Probe, Runtime, Stream, StreamOptions,
};
use jumar::{Error, ErrorKind, Profile, Result, Settings};

static CALL: Call = Call {
    name: "test",
    number: 0,
};

/// What a pool takes from the device at a time, at least.
const CHUNK: usize = 2 << 20;

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

fn stream_of(context: &Arc<Context>) -> Arc<Stream> {
    let stream = context.create_stream(StreamOptions::default());
    stream.expect("a stream")
}

fn allocate(stream: &Stream, pool: &Arc<Pool>, bytes: usize) -> Result<usize> {
    with_caller(|caller| stream.allocate_from(pool, bytes, caller)).map(|span| span.address())
}

fn free(stream: &Stream, address: usize) {
    with_caller(|caller| stream.free_to_pool(address, caller)).expect("the memory is live");
}

fn synchronize(stream: &Stream, limit: Option<Duration>) -> Result<()> {
    with_caller(|caller| stream.synchronize(limit, caller))
}

#[test]
fn a_pool_with_the_greatest_threshold_keeps_all_of_its_memory() {
    let runtime = runtime();
    let context = runtime.create_context(0).expect("a context");
    let stream = stream_of(&context);
    let pool = runtime.create_pool(0, 0).expect("a pool");
    pool.change_rules(|rules| rules.keep_bytes = u64::MAX);
    let part = allocate(&stream, &pool, 4096).expect("memory");
    free(&stream, part);
    synchronize(&stream, None).expect("nothing failed");
    assert_eq!(pool.usage().reserved, CHUNK as u64);
    runtime.trim_pool(&pool, u64::MAX);
    assert_eq!(pool.usage().reserved, CHUNK as u64);
    runtime.trim_pool(&pool, 0);
    assert_eq!(pool.usage().reserved, 0);
}
