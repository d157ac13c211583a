//! Host functions that use memory of tasks behind them.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use jumar::{Context, DeviceBuffer, ErrorKind, PinnedBuffer, Profile, Runtime, Settings, Stream};

/// Far longer than anything here takes; only a failure waits for it.
const LONG: Option<Duration> = Some(Duration::from_secs(60));

/// A stream of a device with 64 MiB.
fn one_stream() -> (Runtime, Context, Stream) {
    let profile = Profile {
        memory_bytes: 64 << 20,
        ..Settings::default().profile
    };
    let settings = Settings {
        devices: 1,
        profile,
        ..Settings::default()
    };
    let runtime = Runtime::with(&settings).expect("a runtime");
    let device = runtime.device(0);
    let context = device
        .and_then(|device| device.context())
        .expect("a context");
    let stream = context.stream().expect("a stream");
    (runtime, context, stream)
}

#[test]
fn a_host_function_reads_a_pinned_buffer_that_a_later_copy_of_its_stream_reads_too() {
    let (runtime, context, stream) = one_stream();
    let pinned = PinnedBuffer::<u32>::from_slice(&runtime, &[1, 2, 3, 4]).expect("memory");
    let pinned = Arc::new(pinned);
    let device = DeviceBuffer::<u32>::new(&context, 4).expect("memory");
    let (queued, is_queued) = mpsc::channel::<()>();
    let (sender, answer) = mpsc::channel();
    let inside = pinned.clone();
    stream
        .call(move || {
            let _ended = is_queued.recv();
            sender.send(inside.to_vec()).expect("the receiver lives");
        })
        .expect("queued");
    let pending = stream.upload(pinned, &device).expect("queued");
    drop(queued);
    assert_eq!(
        answer.recv_timeout(Duration::from_secs(60)),
        Ok(vec![1, 2, 3, 4])
    );
    pending.wait().expect("done");
}

#[test]
fn memory_that_a_later_task_holds_is_not_waited_for_in_a_host_function() {
    let (_, context, stream) = one_stream();
    let (queued, is_queued) = mpsc::channel::<()>();
    let (sender, answer) = mpsc::channel();
    let inside = context.clone();
    stream
        .call(move || {
            let _ended = is_queued.recv();
            let refused = DeviceBuffer::<u8>::new(&inside, 40 << 20).map(drop);
            sender.send(refused).expect("the receiver lives");
        })
        .expect("queued");
    let large = DeviceBuffer::<u8>::new(&context, 40 << 20).expect("memory");
    stream.fill(&large, 1).expect("queued");
    // It is freed after the fill, and the fill comes after the function.
    drop(large);
    drop(queued);
    let refused = answer
        .recv_timeout(Duration::from_secs(60))
        .expect("an answer");
    assert_eq!(refused.expect_err("refused").kind(), ErrorKind::OutOfMemory);
    stream.synchronize(LONG).expect("done");
    DeviceBuffer::<u8>::new(&context, 40 << 20).expect("freed by now");
}
