//! Memory pools: what they keep, and whom they hand memory to.
#![forbid(unsafe_code)]

use std::sync::{Arc, Barrier, mpsc};
use std::thread;
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

/// Refuses every allocation.
struct Refuses;

impl Probe for Refuses {
    fn before(&self, admission: &Admission<'_>) -> Result<()> {
        match admission.op {
            Op::Allocate { .. } => Err(Error::new(ErrorKind::OutOfMemory, "refused by a probe")),
            _ => Ok(()),
        }
    }
}

/// Allocates while a probe refuses it.
fn refused(runtime: &Runtime, stream: &Stream, pool: &Arc<Pool>, bytes: usize) {
    let probe: Arc<dyn Probe> = Arc::new(Refuses);
    runtime.gate().attach(probe.clone());
    let error = allocate(stream, pool, bytes).expect_err("the probe refuses it");
    runtime.gate().detach(&probe);
    assert!(error.to_string().contains("by a probe"), "{error}");
}

/// Queues a host function that runs until the sender is dropped.
fn block(runtime: &Runtime, stream: &Stream) -> mpsc::Sender<()> {
    let (sender, receiver) = mpsc::channel::<()>();
    let receiver = std::sync::Mutex::new(receiver);
    let wait = move || {
        // It ends without a message when the sender is dropped.
        let _ended = receiver.lock().expect("no panic").recv();
    };
    with_caller(|caller| {
        let reports = runtime.reports();
        reports.launch_host_function(stream, Box::new(wait), caller)
    })
    .expect("it is queued");
    sender
}

#[test]
fn a_refused_allocation_hands_no_memory_to_a_stream_before_the_uses_that_are_queued() {
    let runtime = runtime();
    let context = runtime.create_context(0).expect("a context");
    let (user, other) = (stream_of(&context), stream_of(&context));
    let pool = runtime.create_pool(0, 0).expect("a pool");
    let part = allocate(&user, &pool, CHUNK).expect("memory");
    let blocked = block(&runtime, &user);
    free(&user, part);
    // The stream that returned the part may have it again at once, and is refused.
    refused(&runtime, &user, &pool, CHUNK);
    let next = allocate(&other, &pool, CHUNK).expect("memory");
    assert_ne!(next, part, "what is queued on the first stream may use it");
    drop(blocked);
    synchronize(&user, None).expect("nothing failed");
}

#[test]
fn a_refused_allocation_that_would_wait_leaves_the_wait_to_the_next_one() {
    let runtime = runtime();
    let context = runtime.create_context(0).expect("a context");
    let (user, other) = (stream_of(&context), stream_of(&context));
    let pool = runtime.create_pool(0, CHUNK as u64).expect("a pool");
    let part = allocate(&user, &pool, CHUNK).expect("memory");
    let blocked = block(&runtime, &user);
    free(&user, part);
    // No other memory is left, so that the second stream would get the part behind a wait.
    refused(&runtime, &other, &pool, CHUNK);
    let again = allocate(&other, &pool, CHUNK).expect("it may wait");
    assert_eq!(again, part);
    let early = synchronize(&other, Some(Duration::from_millis(200)));
    let early = early.expect_err("the first stream has not reached the return of the part");
    assert_eq!(early.kind(), ErrorKind::StreamTimeout, "{early}");
    drop(blocked);
    synchronize(&other, None).expect("nothing failed");
}

#[test]
fn threads_that_grow_a_pool_together_stay_below_its_limit() {
    let runtime = runtime();
    let context = runtime.create_context(0).expect("a context");
    let streams = [stream_of(&context), stream_of(&context)];
    for _ in 0..200 {
        let pool = runtime.create_pool(0, CHUNK as u64).expect("a pool");
        let start = Barrier::new(2);
        let outcomes = thread::scope(|scope| {
            let threads = streams.each_ref().map(|stream| {
                let (pool, start) = (&pool, &start);
                scope.spawn(move || {
                    start.wait();
                    allocate(stream, pool, CHUNK)
                })
            });
            threads.map(|thread| thread.join().expect("no panic"))
        });
        let allocated = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(allocated, 1, "the limit is one allocation");
        assert_eq!(pool.usage().reserved_high, CHUNK as u64);
        for (stream, outcome) in streams.iter().zip(outcomes) {
            if let Ok(part) = outcome {
                free(stream, part);
                synchronize(stream, None).expect("nothing failed");
            }
        }
        with_caller(|caller| runtime.destroy_pool(pool.id(), caller)).expect("it is alive");
    }
}

#[test]
fn a_pool_with_a_limit_below_a_chunk_hands_out_memory_up_to_it() {
    let runtime = runtime();
    let context = runtime.create_context(0).expect("a context");
    let stream = stream_of(&context);
    for limit in [1_u64, 512, 1000, 4096, 100_000] {
        let pool = runtime.create_pool(0, limit).expect("a pool");
        let part = allocate(&stream, &pool, limit as usize).expect("it is not beyond the limit");
        assert!(pool.usage().reserved < limit + 512);
        let error = allocate(&stream, &pool, 512).expect_err("the pool is full");
        assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
        free(&stream, part);
        synchronize(&stream, None).expect("nothing failed");
        allocate(&stream, &pool, limit as usize).expect("what was returned is free again");
    }
}
