//! The facade as a Rust program meets it: order of release, forgotten values, errors, streams, events and host functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use std::future::Future;
use std::pin::pin;
use std::task::{Poll, Wake, Waker};

use jumar::{
    Context, DeviceBuffer, ErrorKind, Event, Pending, PinnedBuffer, Profile, Runtime, Settings,
    Stream,
};

const MIB: u64 = 1 << 20;
/// Far longer than anything here takes; only a failure waits for it.
const LONG: Option<Duration> = Some(Duration::from_secs(60));

fn settings(devices: u32, memory_bytes: u64) -> Settings {
    let profile = Profile {
        memory_bytes,
        ..Settings::default().profile
    };
    Settings {
        devices,
        profile,
        ..Settings::default()
    }
}

fn runtime() -> Runtime {
    Runtime::with(&settings(1, 64 * MIB)).expect("a runtime")
}

fn one_stream() -> (Runtime, Context, Stream) {
    let runtime = runtime();
    let context = runtime
        .device(0)
        .and_then(|device| device.context())
        .expect("a context");
    let stream = context.stream().expect("a stream");
    (runtime, context, stream)
}

/// A stream that is blocked by a host function until the returned value is dropped.
fn hold(stream: &Stream) -> mpsc::Sender<()> {
    let (release, held) = mpsc::channel::<()>();
    let wait = move || {
        // An error means that the sender is gone, which releases too.
        let _released = held.recv();
    };
    stream.call(wait).expect("queued");
    release
}

#[test]
fn what_is_written_is_read_back_after_copies_between_buffers() {
    let (_, context, stream) = one_stream();
    let first = DeviceBuffer::from_slice(&context, &[1i64, -2, 3, -4]).expect("memory");
    let second = DeviceBuffer::<i64>::new(&context, 4).expect("memory");
    stream.copy(&first, &second).expect("queued");
    stream
        .copy(
            &second.part(0..2).expect("inside"),
            &second.part(1..3).expect("inside"),
        )
        .expect("overlapping");
    stream
        .write(&second.part(3..4).expect("inside"), &[9])
        .expect("queued");
    assert_eq!(stream.read(&second).expect("read"), [1, 1, -2, 9]);
    stream.fill(&second, 0xff).expect("queued");
    assert_eq!(stream.read(&second).expect("read"), [-1; 4]);
}

#[test]
fn more_than_one_chunk_of_ordinary_memory_goes_up_and_down() {
    let (_, context, stream) = one_stream();
    let numbers: Vec<u32> = (0..5_000_011).collect();
    let written = DeviceBuffer::<u32>::new(&context, numbers.len()).expect("memory");
    stream.write(&written, &numbers).expect("written");
    assert!(stream.read(&written).expect("read") == numbers);
    drop(written);
    let made = DeviceBuffer::from_slice(&context, &numbers).expect("memory");
    assert!(stream.read(&made).expect("read") == numbers);
}

#[test]
fn half_precision_and_empty_buffers_work_like_others() {
    let (runtime, context, stream) = one_stream();
    let halves = [half::f16::from_f32(0.5), half::f16::from_f32(-2.0)];
    let buffer = DeviceBuffer::from_slice(&context, &halves).expect("memory");
    assert_eq!(stream.read(&buffer).expect("read"), halves);
    let empty = DeviceBuffer::<f32>::new(&context, 0).expect("memory");
    stream.fill(&empty, 1).expect("nothing to fill");
    stream.copy(&empty, &empty).expect("nothing to copy");
    stream.write(&empty, &[]).expect("nothing to write");
    let pinned = PinnedBuffer::zeroed(&runtime, 0).expect("memory");
    let pinned = stream
        .upload(pinned, &empty)
        .and_then(Pending::wait)
        .expect("nothing to upload");
    assert!(pinned.is_empty() && stream.read(&empty).expect("nothing to read").is_empty());
}

#[test]
fn an_upload_from_a_shared_buffer_leaves_it_with_its_owners() {
    let (runtime, context, stream) = one_stream();
    let source = Arc::new(PinnedBuffer::from_slice(&runtime, &[5u16; 8]).expect("memory"));
    let targets: Vec<_> = (0..4)
        .map(|_| DeviceBuffer::<u16>::new(&context, 8).expect("memory"))
        .collect();
    for target in &targets {
        drop(stream.upload(source.clone(), target).expect("queued"));
    }
    for target in &targets {
        assert_eq!(stream.read(target).expect("read"), [5; 8]);
    }
    assert_eq!(source.to_vec(), [5; 8]);
}

#[test]
fn every_order_of_drops_ends_well() {
    // Each permutation of dropping runtime, context, stream, event, device buffer, pinned buffer, with work still queued.
    fn permutations(count: usize) -> Vec<Vec<usize>> {
        if count == 0 {
            return vec![Vec::new()];
        }
        let shorter = permutations(count - 1);
        shorter
            .iter()
            .flat_map(|order| {
                (0..=order.len()).map(|position| {
                    let mut longer = order.clone();
                    longer.insert(position, count - 1);
                    longer
                })
            })
            .collect()
    }
    for order in permutations(6) {
        let (runtime, context, stream) = one_stream();
        let event = context.event().expect("an event");
        let device = DeviceBuffer::<u8>::new(&context, 4096).expect("memory");
        let pinned = PinnedBuffer::<u8>::zeroed(&runtime, 4096).expect("memory");
        stream.fill(&device, 3).expect("queued");
        let pending = stream.download(&device, pinned).expect("queued");
        stream.record(&event).expect("queued");
        let mut things: Vec<Option<Box<dyn std::any::Any>>> = vec![
            Some(Box::new(runtime)),
            Some(Box::new(context)),
            Some(Box::new(stream)),
            Some(Box::new(event)),
            Some(Box::new(device)),
            Some(Box::new(pending)),
        ];
        for thing in order {
            things[thing] = None;
        }
    }
}

#[test]
fn memory_of_a_queued_copy_is_not_handed_out_again_before_the_copy_is_done() {
    let (runtime, context, stream) = one_stream();
    let device = DeviceBuffer::<u8>::new(&context, 4096).expect("memory");
    let release = hold(&stream);
    let source = PinnedBuffer::from_slice(&runtime, &[1u8; 4096]).expect("memory");
    // Dropped while the copy is queued, like the buffers below.
    drop(stream.upload(source, &device).expect("queued"));
    let others: Vec<_> = (0..64)
        .map(|_| PinnedBuffer::from_slice(&runtime, &[2u8; 4096]).expect("memory"))
        .collect();
    drop(release);
    assert_eq!(stream.read(&device).expect("read"), [1; 4096]);
    drop(others);
}

#[test]
fn a_forgotten_download_never_writes_into_somebody_elses_memory() {
    let (runtime, context, stream) = one_stream();
    let device = DeviceBuffer::from_slice(&context, &[7u8; 4096]).expect("memory");
    let release = hold(&stream);
    let target = PinnedBuffer::<u8>::zeroed(&runtime, 4096).expect("memory");
    std::mem::forget(stream.download(&device, target).expect("queued"));
    let other = PinnedBuffer::<u8>::zeroed(&runtime, 4096).expect("memory");
    drop(release);
    stream.synchronize(None).expect("done");
    assert_eq!(other.to_vec(), [0; 4096]);
}

#[test]
fn forgetting_everything_leaks_and_does_nothing_worse() {
    let (runtime, context, stream) = one_stream();
    let device = DeviceBuffer::<u8>::new(&context, 64).expect("memory");
    let event = context.event().expect("an event");
    stream.record(&event).expect("queued");
    let pending = stream
        .download(&device, PinnedBuffer::zeroed(&runtime, 64).expect("memory"))
        .expect("queued");
    std::mem::forget(pending);
    std::mem::forget(device);
    std::mem::forget(event);
    std::mem::forget(stream);
    std::mem::forget(context);
    drop(runtime);
}

#[test]
fn freed_memory_can_be_had_again_even_while_a_stream_is_busy() {
    let (runtime, context, stream) = one_stream();
    let most = 40 * MIB as usize;
    let first = DeviceBuffer::<u8>::new(&context, most).expect("memory");
    let release = hold(&stream);
    stream.fill(&first, 1).expect("queued");
    drop(first);
    // Not free yet: the fill is queued.
    assert!(runtime.device(0).expect("a device").memory_free() < most as u64);
    let (ready, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ready.send(()).expect("the receiver lives");
            // Waits for the fill instead of failing.
            DeviceBuffer::<u8>::new(&context, most).expect("memory")
        });
        receiver.recv().expect("the thread started");
        drop(release);
    });
}

#[test]
fn exhausted_memory_is_an_answer() {
    let (runtime, context, _stream) = one_stream();
    let refused = DeviceBuffer::<u8>::new(&context, 65 * MIB as usize).expect_err("too much");
    assert_eq!(refused.kind(), ErrorKind::OutOfMemory);
    assert_eq!(refused.operation_name(), Some("jumar::DeviceBuffer::new"));
    assert_eq!(
        DeviceBuffer::<u64>::new(&context, usize::MAX)
            .expect_err("too much")
            .kind(),
        ErrorKind::OutOfMemory
    );
    let refused = PinnedBuffer::<u64>::zeroed(&runtime, usize::MAX / 8).expect_err("too much");
    assert_eq!(refused.kind(), ErrorKind::OutOfMemory);
}

#[test]
fn a_copy_that_does_not_fit_is_refused_with_both_lengths() {
    let (runtime, context, stream) = one_stream();
    let device = DeviceBuffer::<f32>::new(&context, 8).expect("memory");
    let refused = stream.write(&device, &[0.0; 9]).expect_err("too long");
    assert_eq!(refused.kind(), ErrorKind::InvalidValue);
    assert_eq!(
        refused.to_string(),
        "the source has 9 elements and the target 8"
    );
    let pinned = PinnedBuffer::<f32>::zeroed(&runtime, 7).expect("memory");
    assert_eq!(
        stream
            .download(&device, pinned)
            .expect_err("too short")
            .kind(),
        ErrorKind::InvalidValue
    );
    let mut short = [0.0; 3];
    assert_eq!(
        stream
            .read_into(&device, &mut short)
            .expect_err("too short")
            .kind(),
        ErrorKind::InvalidValue
    );
    for range in [0..9, 9..9, usize::MAX..usize::MAX] {
        assert_eq!(
            device.part(range).expect_err("outside").kind(),
            ErrorKind::InvalidValue
        );
    }
    #[expect(clippy::reversed_empty_ranges, reason = "the point of the test")]
    let backwards = device.part(5..2);
    assert_eq!(
        backwards.expect_err("backwards").kind(),
        ErrorKind::InvalidValue
    );
    let mut pinned = PinnedBuffer::<f32>::zeroed(&runtime, 4).expect("memory");
    assert_eq!(
        pinned.write(3, &[0.0; 2]).expect_err("outside").kind(),
        ErrorKind::InvalidValue
    );
    assert_eq!(
        pinned
            .write(usize::MAX, &[0.0])
            .expect_err("outside")
            .kind(),
        ErrorKind::InvalidValue
    );
    assert_eq!(
        pinned.read(5, &mut []).expect_err("outside").kind(),
        ErrorKind::InvalidValue
    );
    pinned.write(4, &[]).expect("nothing, at the end");
}

#[test]
fn devices_have_separate_memory_and_copy_to_each_other() {
    let runtime = Runtime::with(&settings(2, 64 * MIB)).expect("a runtime");
    let contexts: Vec<_> = runtime
        .devices()
        .iter()
        .map(|device| device.context().expect("a context"))
        .collect();
    let streams: Vec<_> = contexts
        .iter()
        .map(|context| context.stream().expect("a stream"))
        .collect();
    let here = DeviceBuffer::from_slice(&contexts[0], &[1u32, 2, 3]).expect("memory");
    let there = DeviceBuffer::<u32>::new(&contexts[1], 3).expect("memory");

    let refused = streams[0].read(&there).expect_err("another device");
    assert_eq!(refused.kind(), ErrorKind::InvalidDevice);
    assert!(
        refused
            .to_string()
            .starts_with("the buffer lies on device 1, and stream "),
        "{refused}"
    );
    assert_eq!(
        refused.advice(),
        Some("Use a stream of the buffer's device.")
    );
    assert_eq!(
        streams[1]
            .copy(&here, &here)
            .expect_err("another device")
            .kind(),
        ErrorKind::InvalidDevice
    );

    let event = contexts[0].event().expect("an event");
    streams[0].copy(&here, &there).expect("to the other device");
    streams[0].record(&event).expect("queued");
    streams[1].wait(&event, None).expect("queued");
    assert_eq!(streams[1].read(&there).expect("read"), [1, 2, 3]);
    assert_eq!(
        runtime.device(2).expect_err("only two").kind(),
        ErrorKind::InvalidDevice
    );
}

#[test]
fn runtimes_of_one_process_know_nothing_of_each_other() {
    let (_one, first_context, first_stream) = one_stream();
    let (two, second_context, second_stream) = one_stream();
    let buffer = DeviceBuffer::from_slice(&first_context, &[1u8, 2]).expect("memory");
    let refused = second_stream.read(&buffer).expect_err("foreign");
    assert_eq!(refused.kind(), ErrorKind::InvalidHandle);
    assert_eq!(
        refused.to_string(),
        "the buffer belongs to another runtime than the stream"
    );
    let event = first_context.event().expect("an event");
    first_stream.record(&event).expect("queued");
    assert_eq!(
        second_stream
            .wait(&event, None)
            .expect_err("foreign")
            .kind(),
        ErrorKind::InvalidHandle
    );
    assert_eq!(
        second_stream.record(&event).expect_err("foreign").kind(),
        ErrorKind::InvalidHandle
    );
    let pinned = PinnedBuffer::<u8>::zeroed(&two, 2).expect("memory");
    assert_eq!(
        first_stream
            .download(&buffer, pinned)
            .expect_err("foreign")
            .kind(),
        ErrorKind::InvalidHandle
    );
    // One that ends takes nothing from the other.
    drop((two, second_context, second_stream));
    assert_eq!(first_stream.read(&buffer).expect("read"), [1, 2]);
}

#[test]
fn an_event_orders_two_streams() {
    let (_, context, producer) = one_stream();
    let consumer = context.stream().expect("a stream");
    let buffer = DeviceBuffer::from_slice(&context, &[0u8; 1 << 16]).expect("memory");
    let event = context.event().expect("an event");
    for round in 1..=20u8 {
        let release = hold(&producer);
        producer.fill(&buffer, round).expect("queued");
        producer.record(&event).expect("queued");
        consumer.wait(&event, None).expect("queued");
        assert!(!event.is_done() && !consumer.is_idle());
        drop(release);
        assert_eq!(consumer.read(&buffer).expect("read"), [round; 1 << 16]);
    }
}

#[test]
fn events_know_when_they_were_reached() {
    let (_, context, stream) = one_stream();
    let [start, end]: [Event; 2] = std::array::from_fn(|_| context.event().expect("an event"));
    for event in [&start, &end] {
        assert!(!event.is_recorded() && !event.is_done());
        assert_eq!(
            event.synchronize(LONG).expect_err("never recorded").kind(),
            ErrorKind::EventNotRecorded
        );
        let refused = stream.wait(event, None).expect_err("never recorded");
        assert_eq!(refused.kind(), ErrorKind::EventNotRecorded);
        assert_eq!(
            refused.advice(),
            Some("Record it with Stream::record first.")
        );
    }
    stream.record(&start).expect("queued");
    let release = hold(&stream);
    stream.record(&end).expect("queued");
    start.synchronize(LONG).expect("reached");
    assert_eq!(
        end.time_since(&start).expect_err("not reached").kind(),
        ErrorKind::EventTimestamp
    );
    drop(release);
    end.synchronize(LONG).expect("reached");
    assert!(end.time_since(&start).expect("both reached") > Duration::ZERO);
    assert_eq!(
        start.time_since(&end).expect_err("backwards").kind(),
        ErrorKind::InvalidValue
    );
}

#[test]
fn waits_with_a_limit_expire_and_leave_the_work_alone() {
    let (_, context, stream) = one_stream();
    let other = context.stream().expect("a stream");
    let buffer = DeviceBuffer::<u8>::new(&context, 4).expect("memory");
    let event = context.event().expect("an event");
    let release = hold(&stream);
    stream.fill(&buffer, 6).expect("queued");
    stream.record(&event).expect("queued");
    let short = Some(Duration::from_millis(2));
    assert_eq!(
        stream.synchronize(short).expect_err("held").kind(),
        ErrorKind::StreamTimeout
    );
    assert_eq!(
        event.synchronize(short).expect_err("held").kind(),
        ErrorKind::EventTimeout
    );
    assert_eq!(
        context.synchronize(short).expect_err("held").kind(),
        ErrorKind::StreamTimeout
    );
    other.wait(&event, short).expect("queued");
    let expired = other.synchronize(LONG).expect_err("the wait expired");
    assert_eq!(expired.kind(), ErrorKind::WaitTimeout);
    other.synchronize(LONG).expect("an error is reported once");
    drop(release);
    stream.synchronize(LONG).expect("done");
    assert_eq!(stream.read(&buffer).expect("read"), [6; 4]);
}

#[test]
fn host_functions_run_in_the_order_of_their_stream() {
    let (_, context, stream) = one_stream();
    let buffer = DeviceBuffer::<u8>::new(&context, 1).expect("memory");
    let (note, notes) = mpsc::channel();
    for i in 0..50 {
        stream.fill(&buffer, i).expect("queued");
        let note = note.clone();
        stream
            .call(move || note.send(i).expect("the receiver lives"))
            .expect("queued");
    }
    assert_eq!(stream.read(&buffer).expect("read"), [49]);
    assert_eq!(
        notes.try_iter().collect::<Vec<_>>(),
        (0..50).collect::<Vec<_>>()
    );
}

#[test]
fn a_host_function_that_panics_is_an_error_of_its_stream_alone() {
    let (_, context, stream) = one_stream();
    let other = context.stream().expect("a stream");
    stream.call(|| panic!("on purpose, {}", 1)).expect("queued");
    let ran = Arc::new(AtomicBool::new(false));
    let runs = ran.clone();
    stream
        .call(move || runs.store(true, Ordering::SeqCst))
        .expect("queued");
    let error = stream.synchronize(LONG).expect_err("it panicked");
    assert_eq!(error.kind(), ErrorKind::CallbackFailed);
    assert!(
        error.to_string().ends_with("panicked: on purpose, 1"),
        "{error}"
    );
    assert!(ran.load(Ordering::SeqCst));
    stream.synchronize(LONG).expect("an error is reported once");
    other.synchronize(LONG).expect("another stream");
}

#[test]
fn a_host_function_that_waits_for_a_stream_is_refused_instead_of_hanging() {
    let (_, context, stream) = one_stream();
    let event = context.event().expect("an event");
    stream.record(&event).expect("queued");
    let (sender, answers) = mpsc::channel();
    let inside = (stream.clone(), context.clone());
    stream
        .call(move || {
            let (stream, context) = inside;
            for answer in [
                stream.synchronize(None),
                context.synchronize(None),
                event.synchronize(None),
                stream.scope(|_| Ok(())),
            ] {
                sender
                    .send(answer.expect_err("refused").kind())
                    .expect("the receiver lives");
            }
        })
        .expect("queued");
    stream.synchronize(LONG).expect("done");
    assert_eq!(
        answers.iter().collect::<Vec<_>>(),
        [ErrorKind::CallbackFailed; 4]
    );
}

#[test]
fn the_last_name_of_everything_may_be_dropped_in_a_host_function() {
    for _ in 0..50 {
        let (runtime, context, stream) = one_stream();
        let buffer = DeviceBuffer::<u8>::new(&context, 64).expect("memory");
        let (gone, receiver) = mpsc::channel::<()>();
        let last = stream.clone();
        stream.fill(&buffer, 1).expect("queued");
        let everything = (runtime, context, stream, buffer, gone);
        last.call(move || drop(everything)).expect("queued");
        drop(last);
        // The sender went with the function.
        receiver.recv().expect_err("nothing was sent");
    }
}

#[test]
fn a_scope_waits_whether_it_returns_fails_or_panics() {
    let (runtime, context, stream) = one_stream();
    let device = DeviceBuffer::<u8>::new(&context, 4096).expect("memory");
    let mut target = PinnedBuffer::<u8>::zeroed(&runtime, 4096).expect("memory");
    for (value, way) in [(1, "returns"), (2, "fails"), (3, "panics")] {
        let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            stream.scope(|scope| {
                let (release, held) = mpsc::channel::<()>();
                let wait = move || {
                    let _released = held.recv();
                };
                scope.stream().call(wait)?;
                scope.stream().fill(&device, value)?;
                scope.download(&device, &mut target)?;
                drop(release);
                match way {
                    "returns" => Ok(way),
                    "fails" => Err(jumar::Error::new(ErrorKind::Failure, "on purpose")),
                    _ => panic!("on purpose"),
                }
            })
        }));
        match (way, end) {
            ("returns", Ok(Ok("returns"))) => {}
            ("fails", Ok(Err(error))) => assert_eq!(error.kind(), ErrorKind::Failure),
            ("panics", Err(_)) => {}
            (_, other) => panic!("{way}: {other:?}"),
        }
        assert_eq!(target.to_vec(), [value; 4096]);
    }
}

#[test]
fn streams_are_used_from_many_threads_at_once() {
    let (runtime, context, _stream) = one_stream();
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (runtime, context, done) = (runtime.clone(), context.clone(), &done);
            scope.spawn(move || {
                let stream = context.stream().expect("a stream");
                let device = DeviceBuffer::<u32>::new(&context, 1000).expect("memory");
                for round in 0..50 {
                    let sent = PinnedBuffer::from_slice(&runtime, &[thread * 1000 + round; 1000])
                        .expect("memory");
                    let sent = stream.upload(sent, &device).expect("queued");
                    let got = PinnedBuffer::zeroed(&runtime, 1000).expect("memory");
                    let got = stream
                        .download(&device, got)
                        .and_then(Pending::wait)
                        .expect("done");
                    assert!(sent.is_done());
                    assert_eq!(got.to_vec(), [thread * 1000 + round; 1000]);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(done.into_inner(), 200);
}

#[test]
fn no_object_of_the_device_is_left_behind() {
    let runtime = runtime();
    let device = runtime.device(0).expect("a device");
    let free = device.memory_free();
    // More than the device carries at once.
    for _ in 0..100 {
        let context = device.context().expect("a context");
        let streams: Vec<_> = (0..40)
            .map(|_| context.stream().expect("a stream"))
            .collect();
        let buffer = DeviceBuffer::<u8>::new(&context, 1 << 20).expect("memory");
        for stream in &streams {
            let event = context.event().expect("an event");
            stream.fill(&buffer, 1).expect("queued");
            stream.record(&event).expect("queued");
        }
        context.synchronize(LONG).expect("done");
    }
    assert_eq!(device.memory_free(), free);
}

#[test]
fn everything_can_be_sent_shared_and_shown() {
    fn check<T: Send + Sync + std::fmt::Debug>() {}
    check::<Runtime>();
    check::<jumar::Device>();
    check::<Context>();
    check::<Stream>();
    check::<Event>();
    check::<DeviceBuffer<f32>>();
    check::<jumar::DevicePart<'static, f32>>();
    check::<PinnedBuffer<f32>>();
    check::<Pending<PinnedBuffer<f32>>>();
    check::<jumar::Error>();
    let (_, context, stream) = one_stream();
    let buffer = DeviceBuffer::<f32>::new(&context, 3).expect("memory");
    assert_eq!(
        format!("{buffer:?}"),
        "DeviceBuffer { device: 0, type: Float32, len: 3 }"
    );
    assert_eq!(format!("{context:?}"), "Context { device: 0 }");
    assert!(format!("{stream:?}").contains("is_idle: true"));
}

#[test]
fn settings_of_the_environment_are_refused_by_name() {
    let many = Settings {
        visible: Some("0,1".to_owned()),
        ..settings(4, 64 * MIB)
    };
    assert_eq!(Runtime::with(&many).expect("a runtime").devices().len(), 2);
    let none = Settings {
        visible: Some(String::new()),
        ..settings(4, 64 * MIB)
    };
    let runtime = Runtime::with(&none).expect("a runtime");
    assert!(runtime.devices().is_empty());
    let refused = runtime.device(0).expect_err("none is visible");
    assert_eq!(
        refused.to_string(),
        "device 0 does not exist: no device is visible"
    );
    let lost = Settings {
        trace: Some("/no/such/folder/out.json".into()),
        ..settings(1, 64 * MIB)
    };
    assert_eq!(
        Runtime::with(&lost).expect_err("no folder").kind(),
        ErrorKind::InvalidFile
    );
}

/// Wakes the thread that waits for a future, and counts.
struct ThreadWaker {
    thread: std::thread::Thread,
    woken: AtomicUsize,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.woken.fetch_add(1, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// Runs a future to its end: polls when the waker was called, and only then. Returns how often it polled.
fn block_on<F: Future>(future: F, mut waits: impl FnMut()) -> (F::Output, usize) {
    let shared = Arc::new(ThreadWaker {
        thread: std::thread::current(),
        woken: AtomicUsize::new(0),
    });
    let waker = Waker::from(shared.clone());
    let mut cx = std::task::Context::from_waker(&waker);
    let mut future = pin!(future);
    let mut polls = 0;
    loop {
        let woken = shared.woken.load(Ordering::SeqCst);
        polls += 1;
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return (output, polls);
        }
        waits();
        // A park may end for no reason: the future is polled again only for a call of its waker.
        while shared.woken.load(Ordering::SeqCst) == woken {
            std::thread::park_timeout(LONG.expect("a limit"));
        }
    }
}

#[test]
fn an_awaited_copy_wakes_its_task_once_and_no_thread_spins() {
    let (runtime, context, stream) = one_stream();
    let device = DeviceBuffer::<u32>::new(&context, 4).expect("memory");
    let mut held = Some(hold(&stream));
    let host = PinnedBuffer::from_slice(&runtime, &[1, 2, 3, 4]).expect("memory");
    let upload = stream.upload(host, &device).expect("queued");
    let (host, polls) = block_on(upload, || drop(held.take()));
    assert_eq!(polls, 2);
    let zeros = PinnedBuffer::zeroed(&runtime, 4).expect("memory");
    let both = async {
        let first = stream.download(&device, zeros)?.await?;
        stream.download(&device, first)?.await
    };
    let (read, _) = block_on(both, || {});
    assert_eq!(
        read.expect("read").to_vec(),
        host.expect("written").to_vec()
    );
}

#[test]
fn an_awaited_task_that_failed_reports_its_error() {
    let (runtime, context, stream) = one_stream();
    let device = DeviceBuffer::<u8>::new(&context, 1).expect("memory");
    stream.call(|| panic!("on purpose")).expect("queued");
    let host = PinnedBuffer::from_slice(&runtime, &[1]).expect("memory");
    let upload = stream.upload(host, &device).expect("queued");
    let (result, _) = block_on(upload, || {});
    let error = result.expect_err("the host function panicked");
    assert_eq!(error.kind(), ErrorKind::CallbackFailed);
}

#[test]
fn a_future_that_is_dropped_or_polled_by_another_task_wakes_no_earlier_one() {
    let (runtime, context, stream) = one_stream();
    let device = DeviceBuffer::<u8>::new(&context, 1).expect("memory");
    let held = hold(&stream);
    let waker = || {
        Arc::new(ThreadWaker {
            thread: std::thread::current(),
            woken: AtomicUsize::new(0),
        })
    };
    let (first, second, dropped) = (waker(), waker(), waker());
    let upload = || {
        let host = PinnedBuffer::from_slice(&runtime, &[1]).expect("memory");
        stream.upload(host, &device).expect("queued")
    };
    let (mut moved, mut gone) = (upload(), upload());
    let poll = |pending: &mut Pending<PinnedBuffer<u8>>, waker: &Arc<ThreadWaker>| {
        let waker = Waker::from(waker.clone());
        let mut cx = std::task::Context::from_waker(&waker);
        pin!(pending).poll(&mut cx).is_pending()
    };
    assert!(poll(&mut moved, &first) && poll(&mut moved, &second) && poll(&mut gone, &dropped));
    drop(gone);
    drop(held);
    stream.synchronize(LONG).expect("done");
    assert!(!poll(&mut moved, &first));
    let woken = [&first, &second, &dropped].map(|waker| waker.woken.load(Ordering::SeqCst));
    assert_eq!(woken, [0, 1, 0]);
}

#[test]
fn a_captured_graph_keeps_its_memory_and_runs_in_order() {
    let (_, context, stream) = one_stream();
    let target = DeviceBuffer::<u8>::new(&context, 8).expect("memory");
    let graph = {
        let source = DeviceBuffer::from_slice(&context, &[7u8; 8]).expect("memory");
        context
            .capture(|capture| {
                capture.fill(&target.part(0..8)?, 1)?;
                capture.copy(&source.part(0..4)?, &target.part(4..8)?)
            })
            .expect("captured")
    };
    // The source was dropped; its bytes must not serve anybody else.
    let _other = DeviceBuffer::from_slice(&context, &[9u8; 8]).expect("memory");
    stream.fill(&target, 0).expect("queued");
    assert_eq!(stream.read(&target).expect("read"), [0; 8]);
    for _ in 0..3 {
        graph.launch(&stream).expect("queued");
    }
    assert_eq!(
        stream.read(&target).expect("read"),
        [1, 1, 1, 1, 7, 7, 7, 7]
    );
    let elsewhere = context.device().context().expect("a context");
    let error = graph
        .launch(&elsewhere.stream().expect("a stream"))
        .expect_err("another context");
    assert_eq!(error.kind(), ErrorKind::StreamContext);
}

#[test]
fn a_capture_that_fails_leaves_nothing_behind() {
    let (_, context, stream) = one_stream();
    let (short, long) = (
        DeviceBuffer::<u8>::new(&context, 1).expect("memory"),
        DeviceBuffer::<u8>::new(&context, 2).expect("memory"),
    );
    let failed = context.capture(|capture| capture.copy(&short, &long));
    assert_eq!(failed.expect_err("refused").kind(), ErrorKind::InvalidValue);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        context.capture(|_| panic!("on purpose"))
    }));
    assert!(panicked.is_err());
    // More than a device has streams: none was kept.
    for _ in 0..3000 {
        let graph = context.capture(|capture| capture.fill(&short, 3));
        graph.expect("captured").launch(&stream).expect("queued");
    }
    assert_eq!(stream.read(&short).expect("read"), [3]);
}

#[test]
fn a_builder_sets_what_it_says_and_refuses_what_cannot_be() {
    let runtime = Runtime::builder()
        .devices(3)
        .profile_named("ascend310p3")
        .expect("built in")
        .memory_bytes(64 * MIB)
        .workers(2)
        .build()
        .expect("a runtime");
    let devices = runtime.devices();
    assert_eq!(devices.len(), 3);
    assert_eq!(devices[2].name(), "Ascend310P3");
    let refused = |builder: jumar::RuntimeBuilder| {
        let error = builder.build().expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        error.to_string()
    };
    assert!(refused(Runtime::builder().devices(65)).contains("1 to 64"));
    assert!(refused(Runtime::builder().devices(0)).contains("devices is 0"));
    assert!(refused(Runtime::builder().workers(0)).contains("workers is 0"));
    assert!(Runtime::builder().profile_named("Ascend1").is_err());
}
