//! Device memory: what a session takes goes back when it is not needed any more, however a run ends.

use std::sync::Barrier;

use jumar::engine::StreamOptions;

use super::*;
use crate::sync::thread;

/// y = x + 1, of any number of elements.
fn plus_one() -> u64 {
    let x = Op::data("x", 0, &[-1], FLOAT);
    let one = Op::constant("one", &[1], FLOAT, &bytes_of(&[1.0]));
    let y = Op::new("Add", "y").input("x1", x).input("x2", one);
    graph("plus_one", &[x], &[y])
}

#[test]
fn plans_of_shapes_that_come_and_go_free_their_memory() {
    let _turn = alone();
    let device = Device::new();
    let session = OwnedSession::new();
    session.add(1, plus_one(), &[]);
    // More shapes than a graph keeps plans of, so that each run replaces one.
    let round = || {
        for count in 1..=12u8 {
            let x: Vec<f32> = (0..1024 * u32::from(count)).map(|i| i as f32).collect();
            let y = session.run(1, &[host_floats(&x)]).expect("a run");
            assert_eq!(floats(&y[0])[1023], 1024.0);
        }
        device.used()
    };
    let first = round();
    for _ in 0..3 {
        assert_eq!(round(), first);
    }
}

#[test]
fn inputs_that_are_copied_from_the_host_are_freed_after_their_run() {
    let _turn = alone();
    let device = Device::new();
    let stream = device
        .0
        .create_stream(StreamOptions::default())
        .expect("a stream");
    let session = OwnedSession::new();
    let x = Op::data("x", 0, &[256], FLOAT);
    let variable = Op::new("Variable", "sum").described(&[256], FLOAT);
    let sum = Op::new("AssignAdd", "add")
        .input("ref", variable)
        .input("value", x);
    let initial = Op::constant("zero", &[256], FLOAT, &bytes_of(&[0.0; 256]));
    let begin = Op::new("Variable", "sum").described(&[256], FLOAT);
    let assign = Op::new("Assign", "assign")
        .input("ref", begin)
        .input("value", initial);
    session.add(1, graph("begin", &[begin], &[assign]), &[]);
    session.add(
        2,
        graph("sum", &[x, variable], &[sum]),
        &[("ge.exec.hostInputIndexes", "0")],
    );
    session.run(1, &[]).expect("the first contents");
    session.build(2);
    let step = || {
        session
            .run_on(stream.id(), 2, &[host_floats(&[0.5; 256])])
            .expect("queued");
        with(|_, caller| Ok(stream.synchronize(None, caller)?));
        // The outputs that the session allocated are the program's to release; here nothing reads them.
        let outputs: Vec<usize> = session.inner().lent.lock().keys().copied().collect();
        outputs
            .into_iter()
            .for_each(|address| session.inner().free(address));
        device.used()
    };
    let first = step();
    for _ in 0..20 {
        assert_eq!(step(), first);
    }
    assert_eq!(session.variable("sum").expect("the sum"), [10.5; 256]);
    with(|_, caller| Ok(device.0.destroy_stream(&stream, true, caller)?));
}

#[test]
fn a_variable_that_does_not_fit_twice_leaves_nothing_allocated() {
    let _turn = alone();
    let device = Device::new();
    let session = OwnedSession::new();
    // Three quarters of the device: one block can be had, and the second cannot.
    let elements = device.0.device().memory_info().1 as i64 / 4 * 3 / 4;
    let variable = Op::new("Variable", "large").described(&[elements], FLOAT);
    let value = Op::data("value", 0, &[1], FLOAT);
    let sum = Op::new("AssignAdd", "add")
        .input("ref", variable)
        .input("value", value);
    session.add(1, graph("large", &[value, variable], &[sum]), &[]);
    let before = device.used();
    let refused = session.run(1, &[host_floats(&[1.0])]);
    let text = refused.expect_err("too large").text;
    assert!(text.contains("bytes are free"), "{text}");
    drop(session);
    assert_eq!(device.used(), before);
}

#[test]
fn a_session_that_is_destroyed_after_a_reset_leaves_the_programs_memory_alone() {
    let _turn = alone();
    let session = OwnedSession::new();
    let variable = Op::new("Variable", "state").described(&[256], FLOAT);
    let value = Op::data("value", 0, &[256], FLOAT);
    let assign = Op::new("Assign", "assign")
        .input("ref", variable)
        .input("value", value);
    session.add(1, graph("state", &[value, variable], &[assign]), &[]);
    session.run(1, &[host_floats(&[1.0; 256])]).expect("a run");
    with(|runtime, caller| Ok(runtime.release_device(0, true, caller)?));
    // In the next life of the device the same addresses are given out again.
    let device = Device::new();
    let blocks: Vec<_> = (0..64)
        .map(|_| with(|_, caller| Ok(device.0.allocate(1024, 1024, caller)?)))
        .collect();
    drop(session);
    for block in blocks {
        with(|_, caller| Ok(device.0.free(block.span.address(), caller)?));
    }
}

#[test]
fn a_session_that_was_destroyed_opens_no_device() {
    let _turn = alone();
    // The test of a blocked stream leaves a session that uses the device.
    let uses = || runtime().device(0).expect("device 0").uses();
    let before = uses();
    let owned = OwnedSession::new();
    // Another thread has found the session before it was deleted.
    let session = owned.inner();
    drop(owned);
    assert!(session.device().is_err());
    assert_eq!(uses(), before);
}

#[test]
fn threads_that_open_a_session_at_once_make_one_stream() {
    let _turn = alone();
    let device = Device::new();
    let streams = device.0.stream_ids().len();
    for _ in 0..50 {
        let session = OwnedSession::new();
        let inner = session.inner();
        let barrier = Barrier::new(4);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    barrier.wait();
                    assert!(inner.device().is_ok());
                });
            }
        });
        assert_eq!(device.0.stream_ids().len(), streams + 1);
        drop(session);
        assert_eq!(device.0.stream_ids().len(), streams);
    }
}
