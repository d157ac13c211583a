//! The table of handles and the lives of a device under every interleaving: `RUSTFLAGS="--cfg loom" cargo test -p
//! jumar-core --lib loom_`.

use std::sync::Arc;

use jumar_hal::sync::{AtomicBool, Mutex, Ordering, thread};
use jumar_types::IdKind;

use crate::device_epoch::DeviceEpoch;
use crate::table::{Epoch, Table};

fn check(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.max_branches = 5_000;
    builder.check(f);
}

fn insert(table: &Table<u64>, value: u64) -> u64 {
    let mut handle = 0;
    table
        .insert(|id| {
            handle = id;
            Arc::new(value)
        })
        .expect("there is space");
    handle
}

#[test]
fn loom_a_handle_never_names_the_next_user_of_its_slot() {
    check(|| {
        let table = Arc::new(Table::<u64>::new(IdKind::Stream, Arc::default()));
        let first = insert(&table, 1);
        let other = table.clone();
        let thread = thread::spawn(move || {
            other
                .remove(first, "test")
                .expect("no other thread removes it");
            insert(&other, 2)
        });
        // Ours while it lives, refused afterwards; never the object that has its slot by now.
        if let Ok(found) = table.get(first) {
            assert_eq!(*found, 1);
        }
        let second = thread.join().unwrap();
        assert!(table.get(first).is_err());
        assert_eq!(*table.get(second).unwrap(), 2);
        assert_eq!(table.len(), 1);
    });
}

#[test]
fn loom_an_object_is_removed_once() {
    check(|| {
        let table = Arc::new(Table::<u64>::new(IdKind::Stream, Arc::default()));
        let handle = insert(&table, 1);
        let other = table.clone();
        let thread = thread::spawn(move || other.remove(handle, "test").is_ok());
        let here = table.remove(handle, "test").is_ok();
        assert!(thread.join().unwrap() != here, "by one of the two");
        assert!(table.is_empty());
        // The slot is free once, so that two objects get two slots.
        assert_ne!(insert(&table, 2), insert(&table, 3));
        assert_eq!(table.len(), 2);
    });
}

#[test]
fn loom_what_a_thread_remembers_is_void_once_a_removal_has_returned() {
    check(|| {
        let epoch: Arc<Epoch> = Arc::default();
        let table = Arc::new(Table::<u64>::new(IdKind::Stream, epoch.clone()));
        let handle = insert(&table, 1);
        let gone = Arc::new(AtomicBool::new(false));
        let (other, mark) = (table.clone(), gone.clone());
        let thread = thread::spawn(move || {
            other
                .remove(handle, "test")
                .expect("no other thread removes it");
            mark.store(true, Ordering::Release);
        });
        // As a thread remembers: the count first, then the look-up.
        let then = epoch.now();
        let remembered = table.get(handle).is_ok();
        if remembered && gone.load(Ordering::Acquire) {
            assert_ne!(epoch.now(), then, "the removal was not seen");
        }
        thread.join().unwrap();
    });
}

/// A device in small: its lives, and the memory that was handed out, each piece with its life.
#[derive(Default)]
struct Bench {
    epoch: DeviceEpoch,
    /// How often the device is set, and the life of its primary context.
    primary: Mutex<(u32, u64)>,
    space: Mutex<Vec<(u32, u64)>>,
}

impl Bench {
    fn set(&self) -> u64 {
        let mut primary = self.primary.lock();
        if primary.0 == 0 {
            primary.1 = self.epoch.enter();
        }
        primary.0 += 1;
        primary.1
    }

    fn reset(&self) {
        let ended = {
            let mut primary = self.primary.lock();
            primary.0 -= 1;
            match primary.0 {
                0 => self.epoch.end(),
                _ => None,
            }
        };
        // Here the work of the old life is waited for, with no lock held.
        if let Some(ended) = ended {
            self.space.lock().retain(|(_, epoch)| *epoch > ended);
        }
    }

    /// Allocates for a context of a life, as `Device::allocate` does.
    fn allocate(&self, piece: u32, epoch: u64) -> bool {
        self.space.lock().push((piece, epoch));
        if epoch == self.epoch.now() {
            return true;
        }
        self.space.lock().retain(|there| *there != (piece, epoch));
        false
    }

    fn holds(&self, piece: u32) -> bool {
        self.space.lock().iter().any(|(there, _)| *there == piece)
    }
}

/// What a thread does that uses the device for a while.
fn uses(bench: &Bench, piece: u32) {
    let epoch = bench.set();
    assert!(bench.allocate(piece, epoch), "the device is set");
    assert!(bench.holds(piece), "another thread's reset took it");
    bench.reset();
}

#[test]
fn loom_a_reset_never_takes_what_was_allocated_since_the_device_was_set_again() {
    check(|| {
        let bench = Arc::new(Bench::default());
        let other = bench.clone();
        let thread = thread::spawn(move || uses(&other, 1));
        uses(&bench, 2);
        thread.join().unwrap();
        assert!(bench.space.lock().is_empty(), "a last reset leaves nothing");
    });
}

#[test]
fn loom_an_allocation_while_its_epoch_ends_is_refused_or_freed_with_it() {
    check(|| {
        let bench = Arc::new(Bench::default());
        let epoch = bench.set();
        let other = bench.clone();
        let thread = thread::spawn(move || other.allocate(1, epoch));
        bench.reset();
        thread.join().unwrap();
        assert!(!bench.holds(1), "memory of a life that has ended");
    });
}
