//! Timers: waits of streams that end at a time, and the times at which waits for values are checked.

use std::sync::Arc;

use jumar_hal::sync::{Instant, Ordering};

use super::{Inner, NEVER, Pool, SETTING, Timer, WAKE_DEFERRED, WakeRequest};
use crate::runnable::Runnable;

impl Inner {
    /// Moves the streams whose time is over into the run queue. Returns whether the caller has to look after the streams that
    /// wait for values, once the lock is released.
    #[must_use = "no other thread checks"]
    pub(super) fn fire(&mut self, pool: &Pool) -> bool {
        let mut poll = false;
        if !pool.timer_expired() {
            return poll;
        }
        let now = Instant::now();
        while let Some(first) = self.timers.first_entry() {
            if first.key().0 > now {
                break;
            }
            match first.remove() {
                Timer::Call(stream) if stream.call() => self.put(pool, stream, true),
                Timer::Call(_) => {}
                Timer::PollValues => poll = true,
            }
        }
        self.note_timer(pool);
        poll
    }

    fn note_timer(&self, pool: &Pool) {
        let first = self.timers.first_key_value();
        pool.first_timer_ns.store(
            first.map_or(NEVER, |((expiry, _), _)| pool.ns(*expiry)),
            Ordering::Relaxed,
        );
    }
}

impl Pool {
    /// Arranges that a stream is called at a moment. Returns the key to cancel it by.
    pub(crate) fn add_timer(
        self: &Arc<Self>,
        expiry: Instant,
        stream: Arc<dyn Runnable>,
    ) -> (Instant, u64) {
        self.set_timer(expiry, Timer::Call(stream))
    }

    /// Sets the timer for the streams that wait for values.
    pub(crate) fn add_poll_timer(self: &Arc<Self>, expiry: Instant) {
        self.set_timer(expiry, Timer::PollValues);
    }

    fn set_timer(self: &Arc<Self>, expiry: Instant, timer: Timer) -> (Instant, u64) {
        let (key, wanted) = {
            let mut inner = self.inner.lock();
            inner.timers_made += 1;
            let key = (expiry, inner.timers_made);
            inner.timers.insert(key, timer);
            inner.note_timer(self);
            match &inner.timed_worker {
                Some(timed_worker) if self.schedule.is_some() => {
                    (key, WakeRequest::Wake(timed_worker.clone()))
                }
                _ if SETTING.get() == Arc::as_ptr(self).addr() => {
                    WAKE_DEFERRED.set(true);
                    (key, WakeRequest::Nobody)
                }
                _ => (key, inner.wanted(self)),
            }
        };
        self.carry_out(wanted);
        key
    }

    pub(crate) fn cancel_timer(&self, key: (Instant, u64)) {
        let mut inner = self.inner.lock();
        // Dropped outside: it may be the last of its stream.
        let timer = inner.timers.remove(&key);
        inner.note_timer(self);
        drop(inner);
        drop(timer);
    }
}
