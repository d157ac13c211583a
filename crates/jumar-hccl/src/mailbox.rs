//! What other threads leave to those that poll for a rank.

use jumar_hal::SpinLock;
use jumar_hal::sync::{AtomicBool, Ordering};
use smallvec::SmallVec;

/// What others leave to the threads that poll for a rank. It is in one line of a cache: a thread that polls does with the rest what
/// another one would have to fetch from its processor.
#[repr(align(64))]
pub(crate) struct Mailbox<T> {
    has_mail: AtomicBool,
    inner: SpinLock<Mail<T>>,
}

struct Mail<T> {
    pollers: u32,
    left: Left<T>,
}

/// What was left.
pub(crate) type Left<T> = SmallVec<[T; 1]>;

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Mailbox {
            has_mail: AtomicBool::new(false),
            inner: SpinLock::new(Mail {
                pollers: 0,
                left: Left::new(),
            }),
        }
    }
}

impl<T> Mailbox<T> {
    /// Begins to poll. What is left from now on is taken by [`Mailbox::end`].
    pub(crate) fn begin(&self) {
        self.inner.lock().pollers += 1;
    }

    /// Reports whether something was left.
    pub(crate) fn has_mail(&self) -> bool {
        self.has_mail.load(Ordering::Relaxed)
    }

    /// Ends to poll, and takes what was left.
    pub(crate) fn end(&self) -> Left<T> {
        let mut inner = self.inner.lock();
        inner.pollers -= 1;
        self.has_mail.store(false, Ordering::Relaxed);
        std::mem::take(&mut inner.left)
    }

    /// Leaves something to a thread that polls. Returns it if there is none.
    pub(crate) fn leave(&self, one: T) -> Option<T> {
        let mut inner = self.inner.lock();
        if inner.pollers == 0 {
            return Some(one);
        }
        inner.left.push(one);
        self.has_mail.store(true, Ordering::Relaxed);
        None
    }
}

#[cfg(all(test, loom))]
mod tests {
    use std::sync::Arc;

    use jumar_hal::sync::thread;

    use super::*;

    /// Either a thread that polls takes a result, or the one that has it keeps it.
    #[test]
    fn loom_mail_is_neither_lost_nor_doubled() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::default());
            let other = mailbox.clone();
            let poller = thread::spawn(move || {
                other.begin();
                let during = match other.has_mail() {
                    true => {
                        let during = other.end().len();
                        other.begin();
                        during
                    }
                    false => 0,
                };
                during + other.end().len()
            });
            let kept = mailbox.leave(()).is_some();
            let taken = poller.join().expect("no panic");
            assert_eq!(usize::from(kept) + taken, 1);
        });
    }

    /// Two threads poll for a rank, one of which ends.
    #[test]
    fn loom_mail_for_two_pollers_is_taken_by_one() {
        loom::model(|| {
            let mailbox = Arc::new(Mailbox::default());
            mailbox.begin();
            let other = mailbox.clone();
            let poller = thread::spawn(move || {
                other.begin();
                other.end().len()
            });
            assert!(mailbox.leave(()).is_none());
            let taken = mailbox.end().len() + poller.join().expect("no panic");
            assert_eq!(taken, 1);
        });
    }
}
