//! What a queue begins and others end.

use std::sync::{Arc, Mutex};

use jumar_hal::{Cost, Joining, Joint, Program, Queue, QueueConfig, Signal, Tag, Task};
use jumar_types::{Error, ErrorKind, Result};

use super::{RecordingObserver, TAG, TEST, drain, executor, queue, run};

/// Notes what is done with it.
struct Noting {
    signal: Arc<Signal>,
    /// It ends as soon as it begins.
    ends_at_once: bool,
    begins: Result<()>,
    ends: Result<()>,
    is_short: bool,
    notes: Mutex<Vec<&'static str>>,
}

impl Noting {
    fn new() -> Noting {
        Noting {
            signal: Arc::new(Signal::untimed()),
            ends_at_once: false,
            begins: Ok(()),
            ends: Ok(()),
            is_short: true,
            notes: Mutex::default(),
        }
    }

    fn note(&self, what: &'static str) {
        self.notes.lock().unwrap().push(what);
    }

    fn notes(&self) -> Vec<&'static str> {
        self.notes.lock().unwrap().clone()
    }
}

impl Program for Noting {
    fn run(&self) -> Result<()> {
        self.note("begins");
        if self.ends_at_once {
            self.signal.set();
        }
        self.begins.clone()
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn is_short(&self) -> bool {
        self.is_short
    }

    fn name(&self) -> &str {
        "noting"
    }
}

impl Joint for Noting {
    fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }

    fn end(&self) -> Result<()> {
        self.note("ends");
        self.ends.clone()
    }

    fn abandon(&self) {
        self.note("is abandoned");
    }

    fn parts(self: Arc<Self>) -> (Arc<dyn Program>, Arc<dyn Program>) {
        unreachable!("nothing is recorded")
    }
}

fn join(joint: &Arc<Noting>) -> Task {
    Task::Join(Joining::new(joint.clone()))
}

/// Queues a program that notes when it runs.
fn note_behind(queue: &Arc<dyn Queue>, joint: &Arc<Noting>) {
    let joint = joint.clone();
    queue.submit(run(move || joint.note("the next task runs")), TAG);
}

#[test]
fn a_queue_begins_it_once_and_continues_when_it_has_ended() {
    for is_short in [true, false] {
        let executor = executor(1);
        let queue = queue(&executor);
        let joint = Arc::new(Noting {
            is_short,
            ..Noting::new()
        });
        assert_eq!(queue.submit(join(&joint), TAG), 1, "it is one task");
        note_behind(&queue, &joint);
        while joint.notes().is_empty() || !queue.is_held() {
            std::thread::yield_now();
        }
        assert_eq!((joint.notes(), queue.completed()), (vec!["begins"], 0));
        joint.signal.set();
        drain(&queue);
        assert_eq!(joint.notes(), ["begins", "ends", "the next task runs"]);
        assert!(!joint.signal.is_set(), "the wait clears it");
    }
}

#[test]
fn one_that_ends_as_it_begins_is_over_when_the_submit_returns() {
    let executor = executor(1);
    let queue = queue(&executor);
    let joint = Arc::new(Noting {
        ends_at_once: true,
        ..Noting::new()
    });
    queue.submit(join(&joint), TAG);
    assert_eq!(queue.completed(), 1);
    assert_eq!(joint.notes(), ["begins", "ends"]);
}

#[test]
fn how_it_began_and_ended_is_reported_once() {
    let failure = |kind| Err(Error::new(kind, "as asked"));
    let cases = [
        (Ok(()), Ok(()), "finished 7", "ends"),
        (
            Ok(()),
            failure(ErrorKind::CommPeerLost),
            "failed 7 CommPeerLost",
            "ends",
        ),
        (
            failure(ErrorKind::Internal),
            Ok(()),
            "failed 7 Internal",
            "is abandoned",
        ),
    ];
    for (begins, ends, reported, last) in cases {
        let executor = executor(1);
        let observer = Arc::new(RecordingObserver::default());
        let queue = executor.queue(QueueConfig::default(), observer.clone());
        let joint = Arc::new(Noting {
            ends_at_once: true,
            begins,
            ends,
            ..Noting::new()
        });
        let tag = Tag {
            ticket: 7,
            call: &TEST,
        };
        queue.submit(join(&joint), tag);
        drain(&queue);
        assert_eq!(observer.heard(), ["started 7", reported]);
        assert_eq!(joint.notes(), ["begins", last]);
    }
}

#[test]
fn one_that_is_discarded_is_abandoned_and_not_reported() {
    for begins in [true, false] {
        let executor = executor(1);
        let observer = Arc::new(RecordingObserver::default());
        let queue = executor.queue(QueueConfig::default(), observer.clone());
        let before = Arc::new(Noting::new());
        let joint = Arc::new(Noting::new());
        if !begins {
            queue.submit(join(&before), TAG);
        }
        queue.submit(join(&joint), TAG);
        queue.discard();
        drain(&queue);
        let expected = match begins {
            true => ["begins", "is abandoned"].as_slice(),
            false => &["is abandoned"],
        };
        assert_eq!(joint.notes(), expected);
        assert!(observer.heard().is_empty());
    }
}

#[test]
fn one_whose_wait_is_dropped_ends_and_what_is_behind_runs() {
    let executor = executor(1);
    let observer = Arc::new(RecordingObserver::default());
    let queue = executor.queue(QueueConfig::default(), observer.clone());
    let joint = Arc::new(Noting {
        ends: Err(Error::new(ErrorKind::CommPeerLost, "as asked")),
        ..Noting::new()
    });
    queue.submit(join(&joint), TAG);
    note_behind(&queue, &joint);
    queue.drop_wait();
    drain(&queue);
    assert_eq!(joint.notes(), ["begins", "ends", "the next task runs"]);
    assert_eq!(observer.heard(), ["failed 0 CommPeerLost"]);
}
