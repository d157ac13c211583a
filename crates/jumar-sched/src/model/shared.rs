//! A signal that is shared with other processes while threads of this one use it.

use jumar_hal::SharedLatch;
use jumar_types::{Error, ErrorKind};

use super::*;

/// A bit that another process would see.
struct Latch(AtomicUsize);

impl Latch {
    fn new() -> Arc<Latch> {
        Arc::new(Latch(AtomicUsize::new(0)))
    }
}

impl SharedLatch for Latch {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire) != 0
    }

    fn set(&self) {
        self.0.store(1, Ordering::Release);
    }

    fn take(&self) -> bool {
        self.0.swap(0, Ordering::AcqRel) != 0
    }

    fn address(&self) -> usize {
        ADDRESS
    }

    fn begin_wait(&self) -> u64 {
        0
    }

    fn examine(&self) {}

    fn is_deserted(&self, _: u64) -> bool {
        false
    }

    fn desertion(&self) -> Error {
        Error::new(ErrorKind::Internal, "no other process is modelled")
    }
}

#[test]
fn loom_a_signal_that_is_set_while_it_is_shared_is_taken_once() {
    check(|| {
        let signal = Arc::new(Signal::untimed());
        let (first, second, latch) = (signal.clone(), signal.clone(), Latch::new());
        let set = thread::spawn(move || first.set());
        let seen = latch.clone();
        let share = thread::spawn(move || second.share(latch));
        let taken = signal.take();
        set.join().unwrap();
        share.join().unwrap();
        assert_eq!((signal.is_set(), seen.is_set()), (!taken, !taken));
    });
}

#[test]
fn loom_a_waiter_hears_a_set_that_comes_while_the_signal_is_shared() {
    check(|| {
        let signal = Arc::new(Signal::untimed());
        let (first, second) = (signal.clone(), signal.clone());
        let set = thread::spawn(move || first.set());
        let share = thread::spawn(move || second.share(Latch::new()));
        let count = Arc::new(Count(AtomicUsize::new(0)));
        let registered = signal.register(count.clone());
        set.join().unwrap();
        share.join().unwrap();
        assert!(signal.is_set(), "no thread takes it");
        // Called for the set, or to look again, and then it is found.
        assert!(!registered || count.0.load(Ordering::Relaxed) > 0);
        assert_eq!(signal.waiters(), 0);
    });
}

#[test]
fn loom_a_stream_that_waits_goes_on_after_a_set_that_comes_while_its_signal_is_shared() {
    check(|| {
        let stream = stream();
        let pool = stream.pool.clone();
        // No worker is woken or started here: the model does that.
        let _setting = Setting::enter(&pool);
        let signal = Arc::new(Signal::untimed());
        let wait = Task::Wait {
            signal: signal.clone(),
            then: WaitThen::Clear,
            limit: None,
        };
        let permit = stream.ring.enter(false).expect("there is space");
        let _ = permit.push(tag(0), wait);
        let other = signal.clone();
        let thread = thread::spawn(move || {
            other.share(Latch::new());
            other.set();
        });
        let owner = stream.ring.unlist().expect("is queued");
        stream.drive(owner, false, u32::MAX, || false);
        thread.join().unwrap();
        if stream.ring.completed() == 0 {
            let owner = stream.ring.unlist().expect("was called");
            stream.drive(owner, false, u32::MAX, || false);
        }
        assert_eq!(
            (stream.ring.completed(), pool.value_poller.any()),
            (1, false)
        );
        assert!(!signal.is_set() && signal.waiters() == 0);
        pool.forget_entries();
    });
}
