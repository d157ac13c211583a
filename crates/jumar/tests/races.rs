//! What several threads do to one stream, one model or one context at the same moment. Where the order matters, a probe brings
//! it about: it runs in the middle of an operation, and does there what another thread could do.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use jumar::engine::sync::Mutex;
use jumar::engine::{
    Admission, Call, Caller, CaptureMode, Condition, ConditionKind, Context, GRANULARITY, Graph,
    GraphTask, Lookups, Op, PhysicalMemory, Probe, Program, Runtime, Signal, Stream, StreamOptions,
};
use jumar::{ErrorKind, Profile, Result, Settings};

static CALL: Call = Call {
    name: "test",
    number: 0,
};

/// Far longer than anything here takes; only a failure waits for it.
const LONG: Option<Duration> = Some(Duration::from_secs(20));

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

fn capture(context: &Arc<Context>, stream: &Arc<Stream>) -> Result<Arc<Graph>> {
    with_caller(|caller| Graph::begin(context, stream, CaptureMode::Relaxed, caller))
}

fn end(stream: &Arc<Stream>) -> Arc<Graph> {
    with_caller(|caller| Graph::end(stream, caller)).expect("the capture ends")
}

fn execute(graph: &Arc<Graph>, stream: &Arc<Stream>) -> Result<()> {
    with_caller(|caller| graph.execute(stream, caller))
}

fn synchronize(stream: &Stream, limit: Option<Duration>) -> Result<()> {
    with_caller(|caller| stream.synchronize(limit, caller))
}

fn host_function(
    runtime: &Runtime,
    stream: &Stream,
    function: impl Fn() + Send + Sync + 'static,
) -> Result<()> {
    with_caller(|caller| {
        runtime
            .reports()
            .launch_host_function(stream, Box::new(function), caller)
    })
}

/// Runs a function once, in the middle of the first operation that it is for.
struct Meanwhile<W, F> {
    wanted: W,
    work: Mutex<Option<F>>,
}

impl<W, F> Probe for Meanwhile<W, F>
where
    W: Fn(&Op<'_>) -> bool + Send + Sync,
    F: FnOnce() + Send,
{
    fn before(&self, admission: &Admission<'_>) -> Result<()> {
        if (self.wanted)(&admission.op) {
            let work = self.work.lock().take();
            if let Some(work) = work {
                work();
            }
        }
        Ok(())
    }
}

/// Does `work` in the middle of the operation of `during` that is `wanted`.
fn meanwhile<T>(
    runtime: &Runtime,
    wanted: impl Fn(&Op<'_>) -> bool + Send + Sync + 'static,
    work: impl FnOnce() + Send + 'static,
    during: impl FnOnce() -> T,
) -> T {
    let probe: Arc<dyn Probe> = Arc::new(Meanwhile {
        wanted,
        work: Mutex::new(Some(work)),
    });
    runtime.gate().attach(probe.clone());
    let result = during();
    runtime.gate().detach(&probe);
    result
}

fn is_callback(op: &Op<'_>) -> bool {
    matches!(op, Op::Callback { .. })
}

fn is_named(wanted: &'static str) -> impl Fn(&Op<'_>) -> bool + Send + Sync {
    move |op| matches!(op, Op::Launch { name, .. } if *name == wanted)
}

/// A function that begins a capture of a stream.
fn beginning(context: &Arc<Context>, stream: &Arc<Stream>) -> impl FnOnce() + Send + 'static {
    let (context, stream) = (context.clone(), stream.clone());
    move || drop(capture(&context, &stream).expect("the stream is free"))
}

struct Nothing;

impl Program for Nothing {
    fn run(&self) -> Result<()> {
        Ok(())
    }

    fn name(&self) -> &str {
        "nothing"
    }
}

#[test]
fn a_stream_waits_for_a_host_function_that_was_queued_while_a_capture_began() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let stream = stream_of(&context);
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let wait = move || {
        // An error means that the sender is gone, which releases too.
        let _released = released.lock().recv();
    };
    let begin = beginning(&context, &stream);
    meanwhile(&runtime, is_callback, begin, || {
        host_function(&runtime, &stream, wait).expect("accepted");
    });
    let graph = end(&stream);
    let early = synchronize(&stream, Some(Duration::from_millis(20)));
    assert_eq!(
        early.map_err(|error| error.kind()),
        Err(ErrorKind::StreamTimeout),
        "the function has not returned"
    );
    drop(release);
    synchronize(&stream, LONG).expect("the function returned");
    assert!(graph.describe().is_empty(), "it came before the capture");
}

#[test]
fn an_execution_is_queued_as_a_whole_while_a_capture_of_its_stream_begins() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let stream = stream_of(&context);
    capture(&context, &stream).expect("the stream is free");
    host_function(&runtime, &stream, || {}).expect("recorded");
    let graph = end(&stream);
    let begin = beginning(&context, &stream);
    meanwhile(&runtime, is_named("captured model"), begin, || {
        execute(&graph, &stream).expect("queued");
    });
    let other = end(&stream);
    synchronize(&stream, LONG).expect("executed");
    assert!(!graph.is_running(), "the end of the execution is queued");
    assert!(other.describe().is_empty(), "it came before the capture");
    // An execution on another stream waits for the one before.
    let second = stream_of(&context);
    execute(&graph, &second).expect("queued");
    synchronize(&second, LONG).expect("executed");
}

#[test]
fn the_end_of_a_program_is_queued_with_it_while_a_capture_begins() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let stream = stream_of(&context);
    let done = Arc::new(Signal::untimed());
    let begin = beginning(&context, &stream);
    let queued = meanwhile(&runtime, is_named("nothing"), begin, || {
        with_caller(|caller| {
            let nothing = Arc::new(Nothing);
            stream.launch_in_turn(nothing, (&[], &[]), None, done.clone(), caller)
        })
    });
    assert_eq!(queued.ok(), Some(true), "the capture began later");
    assert!(end(&stream).describe().is_empty());
    synchronize(&stream, LONG).expect("it ran");
    assert!(done.is_set());
}

#[test]
fn a_program_that_is_recorded_is_not_waited_for() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let stream = stream_of(&context);
    capture(&context, &stream).expect("the stream is free");
    let (before, done) = (Arc::new(Signal::untimed()), Arc::new(Signal::untimed()));
    let queued = with_caller(|caller| {
        let before = Some(before.clone());
        stream.launch_in_turn(Arc::new(Nothing), (&[], &[]), before, done.clone(), caller)
    });
    assert_eq!(queued.ok(), Some(false));
    let graph = end(&stream);
    assert_eq!(graph.describe().len(), 1);
    execute(&graph, &stream).expect("queued");
    synchronize(&stream, LONG).expect("`before` is not a part of the model");
    assert!(!done.is_set());
}

#[test]
fn a_host_function_that_was_accepted_runs_though_another_thread_destroys_the_stream() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    for _ in 0..20 {
        let stream = stream_of(&context);
        // Without one before, no thread could run the second.
        host_function(&runtime, &stream, || {}).expect("accepted");
        synchronize(&stream, LONG).expect("it ran");
        let ran = Arc::new(AtomicBool::new(false));
        let (sender, destroyers) = mpsc::channel();
        let destroy = {
            let (context, stream) = (context.clone(), stream.clone());
            let finished = Arc::new(AtomicBool::new(false));
            move || {
                let over = finished.clone();
                let destroyer = thread::spawn(move || {
                    with_caller(|caller| context.destroy_stream(&stream, true, caller))
                        .expect("destroyed once");
                    over.store(true, Ordering::Release);
                });
                // A destroyer that does not wait for the submit is through long before.
                for _ in 0..2000 {
                    if finished.load(Ordering::Acquire) {
                        break;
                    }
                    thread::yield_now();
                }
                sender.send(destroyer).expect("the test listens");
            }
        };
        let flag = ran.clone();
        let accepted = meanwhile(&runtime, is_callback, destroy, || {
            host_function(&runtime, &stream, move || {
                flag.store(true, Ordering::Release)
            })
        });
        let destroyer = destroyers.recv().expect("the probe saw the callback");
        destroyer.join().expect("the stream is destroyed");
        assert_eq!(accepted.is_ok(), ran.load(Ordering::Acquire));
    }
}

/// Returns the recorded tasks of a captured model.
fn tasks(runtime: &Runtime, context: &Arc<Context>, graph: &Arc<Graph>) -> Vec<Arc<GraphTask>> {
    let streams = graph.streams(context).expect("a stream for each part");
    let handles = streams.iter().flat_map(|&stream| {
        let stream = runtime.streams().get(stream).expect("it is alive");
        stream.recorded_tasks().expect("it stands for a part")
    });
    handles
        .map(|task| runtime.graph_tasks().get(task).expect("it is alive"))
        .collect()
}

#[test]
fn a_host_function_that_is_left_out_of_a_model_is_not_waited_for() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let stream = stream_of(&context);
    let count = Arc::new(AtomicUsize::new(0));
    let add = |n: usize| {
        let count = count.clone();
        move || {
            count.fetch_add(n, Ordering::Relaxed);
        }
    };
    capture(&context, &stream).expect("the stream is free");
    host_function(&runtime, &stream, add(1)).expect("recorded");
    host_function(&runtime, &stream, add(100)).expect("recorded");
    let graph = end(&stream);
    let tasks = tasks(&runtime, &context, &graph);
    assert_eq!(tasks.len(), 2);
    // Before the first execution: what the stream waits for has never been set.
    tasks[0].disable().expect("it is alive");
    graph.update().expect("it is idle");
    for _ in 0..2 {
        execute(&graph, &stream).expect("queued");
        synchronize(&stream, LONG).expect("executed without the first");
    }
    assert_eq!(count.load(Ordering::Relaxed), 200);
}

#[test]
fn a_model_that_was_destroyed_answers_that_it_is_gone() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let stream = stream_of(&context);
    capture(&context, &stream).expect("the stream is free");
    host_function(&runtime, &stream, || {}).expect("recorded");
    let graph = end(&stream);
    let handles = graph.streams(&context).expect("a stream for its part");
    let part = runtime.streams().get(handles[0]).expect("it is alive");
    let task = tasks(&runtime, &context, &graph).remove(0);
    with_caller(|caller| graph.destroy(caller)).expect("it is idle");
    assert_eq!(part.recorded_tasks().ok(), Some(Vec::new()));
    let kind = |result: Result<()>| result.map_err(|error| error.kind());
    let gone = Err(ErrorKind::InvalidHandle);
    assert_eq!(kind(task.disable()), gone);
    assert_eq!(kind(task.describe().map(drop)), gone);
    assert_eq!(kind(task.parameters().map(drop)), gone);
    assert_eq!(kind(graph.streams(&context).map(drop)), gone);
    assert_eq!(kind(graph.update()), Err(ErrorKind::GraphUpdate));
}

#[test]
fn models_are_read_while_another_thread_changes_and_destroys_them() {
    let runtime = Arc::new(runtime());
    let context = runtime.retain_device(0).expect("a context");
    let rounds = 300;
    thread::scope(|scope| {
        let (sender, graphs) = mpsc::sync_channel::<(Arc<Graph>, Arc<Stream>)>(1);
        let (context, runtime) = (&context, &runtime);
        let builder = scope.spawn(move || {
            for _ in 0..rounds {
                let stream = stream_of(context);
                capture(context, &stream).expect("the stream is free");
                for _ in 0..8 {
                    host_function(runtime, &stream, || {}).expect("recorded");
                }
                let graph = end(&stream);
                let parts = graph.streams(context).expect("a stream for its part");
                let part = runtime.streams().get(parts[0]).expect("it is alive");
                sender.send((graph.clone(), part)).expect("read");
                with_caller(|caller| graph.destroy(caller)).expect("it is idle");
                with_caller(|caller| context.destroy_stream(&stream, true, caller))
                    .expect("it is alive");
            }
        });
        let reader = scope.spawn(move || {
            for (graph, part) in graphs {
                for task in part.recorded_tasks().unwrap_or_default() {
                    if let Ok(task) = runtime.graph_tasks().get(task) {
                        drop((task.describe(), task.parameters(), task.disable()));
                    }
                }
                drop((graph.describe(), graph.update(), graph.streams(context)));
            }
        });
        builder.join().expect("the builder does not fail");
        reader.join().expect("the reader meets no defect");
    });
    assert_eq!(runtime.graph_tasks().len(), 0, "no handle is left behind");
    assert_eq!(runtime.graphs().len(), 0);
}

#[test]
fn branches_are_added_while_another_thread_ends_the_capture() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let stream = stream_of(&context);
    for _ in 0..20 {
        let graph = capture(&context, &stream).expect("the stream is free");
        let start = Barrier::new(2);
        thread::scope(|scope| {
            let (start, context, stream, graph) = (&start, &context, &stream, &graph);
            let adder = scope.spawn(move || {
                with_caller(|caller| {
                    let condition = Condition::create(context, graph, 0, true, caller)
                        .expect("the model is alive");
                    start.wait();
                    let chosen =
                        condition.choose(context, stream, ConditionKind::Switch, 2000, caller);
                    chosen.map(|branches| branches.len())
                })
            });
            start.wait();
            let ended = end(stream);
            let added = adder.join().expect("the adder meets no defect");
            with_caller(|caller| ended.destroy(caller)).expect("it is idle");
            match added {
                Ok(branches) => assert_eq!(branches, 2000),
                Err(error) => assert_eq!(error.kind(), ErrorKind::StreamNotCaptured),
            }
        });
        assert_eq!(runtime.graphs().len(), 0, "no branch is left behind");
    }
}

#[test]
fn nothing_that_is_made_while_its_context_is_destroyed_outlives_it() {
    let runtime = runtime();
    let _primary = runtime.retain_device(0).expect("the device stays alive");
    let before = runtime.streams().len();
    for _ in 0..300 {
        let context = runtime.create_context(0).expect("a context");
        let ready = Barrier::new(3);
        thread::scope(|scope| {
            let (context, ready) = (&context, &ready);
            scope.spawn(move || {
                ready.wait();
                while context.create_stream(StreamOptions::default()).is_ok() {}
            });
            let captured = stream_of(context);
            scope.spawn(move || {
                ready.wait();
                // A capture that the teardown dropped leaves the stream free for the next one.
                while !context.is_dead() {
                    drop(capture(context, &captured));
                    with_caller(|caller| drop(Graph::end(&captured, caller)));
                }
            });
            ready.wait();
            with_caller(|caller| context.destroy(caller)).expect("destroyed once");
        });
        assert_eq!(runtime.streams().len(), before, "a stream is left");
        assert_eq!(runtime.graphs().len(), 0, "a model is left");
    }
}

/// Runs until the sender is gone.
struct Lasting(Mutex<mpsc::Receiver<()>>);

impl Program for Lasting {
    fn run(&self) -> Result<()> {
        // An error means that the sender is gone, which is what is waited for.
        let _gone = self.0.lock().recv();
        Ok(())
    }

    fn name(&self) -> &str {
        "lasting"
    }
}

#[test]
fn memory_is_shared_while_a_stream_waits_but_not_while_a_task_runs() {
    let runtime = runtime();
    let context = runtime.retain_device(0).expect("a context");
    let stream = stream_of(&context);
    let allocate = || {
        let block = with_caller(|caller| context.allocate(1 << 16, 1 << 16, caller));
        block.expect("memory").span.address()
    };
    let (end, ended) = mpsc::channel();
    let lasting = Arc::new(Lasting(Mutex::new(ended)));
    with_caller(|caller| stream.launch(lasting, &[], &[], caller)).expect("queued");
    let refused = runtime.export_memory(allocate(), 1 << 16, false);
    assert_eq!(
        refused.map(drop).map_err(|error| error.kind()),
        Err(ErrorKind::InvalidValue)
    );
    drop(end);
    synchronize(&stream, LONG).expect("it has ended");

    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let wait = move || {
        let _released = released.lock().recv();
    };
    host_function(&runtime, &stream, wait).expect("queued");
    let shared = runtime.export_memory(allocate(), 1 << 16, false);
    assert!(shared.is_ok(), "no task runs while the stream waits");
    drop(release);
    synchronize(&stream, LONG).expect("it has ended");
}

/// Addresses of one mapping, and physical memory for it.
fn virtual_memory(runtime: &Runtime) -> (usize, Arc<PhysicalMemory>) {
    let device = runtime.device(0).expect("a device");
    let range = runtime
        .reserve_addresses(&device, GRANULARITY)
        .expect("addresses");
    let memory = runtime.create_physical(0, GRANULARITY).expect("memory");
    (range.address(), memory)
}

fn map(runtime: &Runtime, at: usize, memory: &Arc<PhysicalMemory>) -> Result<()> {
    with_caller(|caller| runtime.map_memory(at, GRANULARITY, memory, true, caller))
}

fn unmap(runtime: &Runtime, at: usize) -> Result<()> {
    with_caller(|caller| runtime.unmap_memory(at, caller))
}

/// Returns what a call reports that runs in the middle of the operation of `during` that is `wanted`.
fn outcome_meanwhile(
    runtime: &Runtime,
    wanted: impl Fn(&Op<'_>) -> bool + Send + Sync + 'static,
    call: impl FnOnce() -> Result<()> + Send + 'static,
    during: impl FnOnce(),
) -> Option<ErrorKind> {
    let (sender, outcome) = mpsc::channel();
    let work = move || {
        let failed = call().err().map(|error| error.kind());
        sender.send(failed).expect("the test listens");
    };
    meanwhile(runtime, wanted, work, during);
    outcome.recv().expect("the probe saw the operation")
}

#[test]
fn addresses_stay_reserved_while_memory_is_mapped_into_them() {
    let runtime = Arc::new(runtime());
    let _context = runtime.retain_device(0).expect("a context");
    let (at, memory) = virtual_memory(&runtime);
    let is_map = |op: &Op<'_>| matches!(op, Op::Allocate { .. });
    let release = {
        let runtime = runtime.clone();
        move || runtime.release_addresses(at)
    };
    let refused = outcome_meanwhile(&runtime, is_map, release, || {
        map(&runtime, at, &memory).expect("the range is reserved");
    });
    assert_eq!(refused, Some(ErrorKind::InvalidValue));
    unmap(&runtime, at).expect("it is mapped");
    runtime.release_addresses(at).expect("nothing is mapped");
    // The next range of the size has these addresses, with nothing mapped.
    let refused = unmap(&runtime, at).expect_err("nothing is mapped");
    assert_eq!(refused.kind(), ErrorKind::InvalidValue);
}

#[test]
fn two_threads_do_not_map_memory_into_the_same_addresses() {
    let runtime = Arc::new(runtime());
    let _context = runtime.retain_device(0).expect("a context");
    let (at, memory) = virtual_memory(&runtime);
    let second = runtime.create_physical(0, GRANULARITY).expect("memory");
    let is_map = |op: &Op<'_>| matches!(op, Op::Allocate { .. });
    let other = {
        let runtime = runtime.clone();
        move || map(&runtime, at, &second)
    };
    let refused = outcome_meanwhile(&runtime, is_map, other, || {
        map(&runtime, at, &memory).expect("it came first");
    });
    assert_eq!(refused, Some(ErrorKind::InvalidValue));
    let mapped = runtime.mapped_at(at).expect("memory is mapped");
    assert_eq!(mapped.id(), memory.id());
}

#[test]
fn addresses_are_free_for_the_next_mapping_once_memory_is_unmapped() {
    let runtime = Arc::new(runtime());
    let _context = runtime.retain_device(0).expect("a context");
    let (at, memory) = virtual_memory(&runtime);
    let second = runtime.create_physical(0, GRANULARITY).expect("memory");
    map(&runtime, at, &memory).expect("the range is reserved");
    let is_unmap = |op: &Op<'_>| matches!(op, Op::Free { .. });
    let other = {
        let (runtime, second) = (runtime.clone(), second.clone());
        move || map(&runtime, at, &second)
    };
    // Mapped before the first is unmapped, it would be unmapped with it.
    let refused = outcome_meanwhile(&runtime, is_unmap, other, || {
        unmap(&runtime, at).expect("it is mapped");
    });
    assert_eq!(refused, Some(ErrorKind::InvalidValue));
    map(&runtime, at, &second).expect("the addresses are free");
    let mapped = runtime.mapped_at(at).expect("memory is mapped");
    assert_eq!(mapped.id(), second.id());
}
