use std::sync::mpsc;
use std::time::Duration;

use super::*;
use crate::tests::{Op, OwnedSession, alone, bytes_of, floats, graph, host_floats};
use crate::wire::Reader;

/// A job of a graph that does not exist, and what its callback was called with.
fn job() -> (Job, mpsc::Receiver<u32>) {
    let (sender, receiver) = mpsc::channel();
    let job = Job {
        graph: 77,
        family: Family::Build,
        inputs: Vec::new(),
        done: Box::new(move |status, _| sender.send(status).unwrap_or(())),
    };
    (job, receiver)
}

/// How long a callback may take on a loaded machine before the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts no thread, as if it were about to.
fn later(_: Arc<Session>) -> std::io::Result<()> {
    Ok(())
}

#[test]
fn runs_are_performed_in_order_and_their_callbacks_get_the_outputs() {
    let _turn = alone();
    let session = OwnedSession::new();
    let x = Op::data("x", 0, &[2], 0);
    let two = Op::constant("two", &[1], 0, &bytes_of(&[2.0]));
    let y = Op::new("Mul", "y").input("x1", x).input("x2", two);
    session.add(1, graph("twice", &[x], &[y]), &[]);
    let (sender, receiver) = mpsc::channel();
    for turn in 0..5u8 {
        let sender = sender.clone();
        let done: Done = Box::new(move |status, reply| {
            let mut from = Reader::new(reply);
            let outputs = from.list(8, |from| {
                from.desc()?;
                from.u64()?;
                Ok(from.bytes()?.to_vec())
            });
            sender
                .send((status, outputs.map(|all| floats(&all[0]))))
                .unwrap_or(());
        });
        let inputs = vec![host_floats(&[f32::from(turn), 1.0])];
        run_async(RunMode::Host as u32, session.0, 1, inputs, done).expect("queued");
    }
    for turn in 0..5u8 {
        let (status, outputs) = receiver.recv_timeout(PATIENCE).expect("called");
        assert_eq!(status, SUCCESS);
        assert_eq!(outputs.expect("outputs"), [2.0 * f32::from(turn), 2.0]);
    }
}

#[test]
fn a_closed_queue_refuses_a_run_and_calls_its_callback() {
    let _turn = alone();
    let owned = OwnedSession::new();
    let session = owned.inner();
    // Another thread has found the session, and deletes it only now.
    drop(owned);
    let (job, called) = job();
    let refused = append(&session, job, spawn).expect_err("the session is closed");
    assert!(refused.text.contains("destroyed"), "{}", refused.text);
    assert_eq!(called.try_recv(), Ok(FAILED));
}

#[test]
fn runs_that_wait_when_the_queue_closes_end_as_failed() {
    let _turn = alone();
    let owned = OwnedSession::new();
    let session = owned.inner();
    let (first, second) = (job(), job());
    append(&session, first.0, later).expect("queued");
    append(&session, second.0, later).expect("queued");
    drop(owned);
    // The thread comes to the queue after it was closed: it neither waits nor drops the runs.
    work(&session);
    assert_eq!(
        (first.1.try_recv(), second.1.try_recv()),
        (Ok(FAILED), Ok(FAILED))
    );
}

#[test]
fn runs_that_have_not_begun_are_counted_in_a_warning_at_the_end_of_the_engine() {
    let _turn = alone();
    let owned = OwnedSession::new();
    let session = owned.inner();
    let (first, second) = (job(), job());
    append(&session, first.0, later).expect("queued");
    append(&session, second.0, later).expect("queued");
    message::take_warnings();
    session::finalize().expect("nothing is on a stream");
    let text = message::take_warnings();
    assert!(text.contains("2 runs of RunGraphAsync"), "{text}");
    work(&session);
    assert_eq!(
        (first.1.try_recv(), second.1.try_recv()),
        (Ok(FAILED), Ok(FAILED))
    );
}

#[test]
fn a_thread_that_cannot_be_started_fails_the_runs_and_is_tried_again() {
    let _turn = alone();
    let session = OwnedSession::new();
    let inner = session.inner();
    let (behind, behind_called) = job();
    let (first, first_called) = job();
    let none = |session: Arc<Session>| {
        // Another thread appends a run, counting on the thread that is being started.
        append(&session, behind, |_| unreachable!("one start at a time")).expect("queued");
        Err(std::io::Error::from(std::io::ErrorKind::WouldBlock))
    };
    let refused = append(&inner, first, none).expect_err("there is no thread");
    assert!(
        refused.text.contains("cannot be started"),
        "{}",
        refused.text
    );
    assert_eq!(first_called.try_recv(), Ok(FAILED));
    assert_eq!(behind_called.try_recv(), Ok(FAILED));
    // The next run starts the thread anew.
    let (next, next_called) = job();
    append(&inner, next, spawn).expect("queued");
    assert_eq!(
        next_called.recv_timeout(PATIENCE),
        Ok(crate::GRAPH_NOT_EXIST)
    );
}

#[test]
fn the_thread_leaves_however_the_close_falls_between_its_steps() {
    let _turn = alone();
    // A close that comes while the thread looks for work, or is about to wait, is not missed: every thread ends, and with it
    // its hold on the session.
    for _ in 0..200 {
        let owned = OwnedSession::new();
        let session = owned.inner();
        let (job, called) = job();
        append(&session, job, spawn).expect("queued");
        called.recv_timeout(PATIENCE).expect("called");
        let weak = Arc::downgrade(&session);
        drop((owned, session));
        while weak.strong_count() > 0 {
            thread::yield_now();
        }
    }
}
