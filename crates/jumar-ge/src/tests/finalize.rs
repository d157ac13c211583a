//! The end of the engine while runs are still queued.

use jumar::engine::StreamOptions;

use super::*;

/// y = 2 x, of 4 elements.
fn twice() -> u64 {
    let x = Op::data("x", 0, &[4], FLOAT);
    let two = Op::constant("two", &[1], FLOAT, &bytes_of(&[2.0]));
    let y = Op::new("Mul", "y").input("x1", x).input("x2", two);
    graph("twice", &[x], &[y])
}

#[test]
fn a_run_behind_a_blocked_stream_bounds_the_end_of_the_engine_and_is_reported() {
    let _turn = alone();
    let device = Device::new();
    let stream = device
        .0
        .create_stream(StreamOptions::default())
        .expect("a stream");
    let session = OwnedSession::new();
    session.add(1, twice(), &[("ge.exec.hostInputIndexes", "0")]);
    session.build(1);
    let gate = device.0.create_notify().expect("a notify");
    with(|_, caller| Ok(gate.wait_and_reset(&stream, None, caller)?));
    session
        .run_on(stream.id(), 1, &[host_floats(&[1.0; 4])])
        .expect("queued");
    let held = session.inner();
    let text = try_send(number::GE_FINALIZE, |_| {}).expect_err("the stream is blocked");
    for part in ["did not end", &format!("stream {}", stream.number())] {
        assert!(text.contains(part), "{text}");
    }
    // The run uses the session's memory when its stream resumes: it is still allocated.
    assert!(!held.lent.lock().is_empty());
    let other = device
        .0
        .create_stream(StreamOptions::default())
        .expect("a stream");
    with(|_, caller| {
        gate.record(&other, caller)?;
        Ok(stream.synchronize(None, caller)?)
    });
    // The engine has ended, and starts again.
    let after = try_send(number::SESSION_NEW, |to| to.u64(0)).expect_err("ended");
    assert!(after.contains("GEInitialize"), "{after}");
    send(number::GE_INITIALIZE, |to| to.u64(0));
    drop(session);
    for stream in [&stream, &other] {
        with(|_, caller| Ok(device.0.destroy_stream(stream, true, caller)?));
    }
}
