//! Which of several queues is served first.

use super::*;

#[test]
fn of_queues_that_are_ready_the_one_of_the_smallest_number_is_served_first() {
    let executor = executor(1);
    let make = |priority| {
        let config = QueueConfig {
            priority,
            number: 0,
        };
        executor.queue(config, Arc::new(RecordingObserver::default()))
    };
    // The one worker is blocked, and the others become ready meanwhile, in the wrong order.
    let (holder, held) = (make(0), Arc::new(Signal::new()));
    let (begun, begins) = std::sync::mpsc::channel();
    let (free, release) = std::sync::mpsc::channel::<()>();
    let release = std::sync::Mutex::new(release);
    holder.submit(
        run_costing(Cost::Unbounded, move || {
            begun.send(()).expect("the test waits");
            release
                .lock()
                .expect("one task")
                .recv()
                .expect("the test frees it");
        }),
        TAG,
    );
    begins.recv().expect("the holder runs");
    let (sender, receiver) = std::sync::mpsc::channel();
    let queues: Vec<_> = [7, 3, 5, 0]
        .map(|priority| (priority, make(priority)))
        .into();
    for (priority, queue) in &queues {
        let (priority, sender) = (*priority, sender.clone());
        queue.submit(wait_on(&held), TAG);
        queue.submit(
            run_costing(Cost::Unbounded, move || {
                sender.send(priority).expect("the test listens");
            }),
            TAG,
        );
    }
    held.set();
    free.send(()).expect("the holder waits");
    // No thread waits for a queue: a thread that does runs it by itself.
    let order: Vec<u8> = (0..4)
        .map(|_| receiver.recv().expect("a task runs"))
        .collect();
    // One look in sixteen begins at the other end, so that no stream starves: at most one of the four is out of turn.
    let in_turn = (0..4).any(|skipped| {
        let mut rest = order.clone();
        rest.remove(skipped);
        rest.is_sorted()
    });
    assert!(in_turn, "served {order:?}");
    for (_, queue) in queues {
        drain(&queue);
    }
    drain(&holder);
}
