//! Queues of messages between threads of a program: a fixed capacity, time limits, and a stop that wakes all waiters.
//!
//! No device and no worker takes part: producers and consumers run on their own threads, and wait there.

use std::collections::VecDeque;
use std::time::Duration;

use jumar_hal::sync::{Condvar, Instant, Mutex, MutexGuard};
use jumar_types::{Error, ErrorKind, Result};

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// What it says.
    pub data: Vec<u8>,
    /// What the program says beside it.
    pub user: Vec<u8>,
}

/// A queue of messages.
pub struct MessageQueue {
    capacity: usize,
    state: Mutex<State>,
    /// Notified whenever a message was added or removed, or the queue was stopped.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    messages: VecDeque<Message>,
    stopped: bool,
}

impl MessageQueue {
    /// Makes an empty queue.
    pub fn new(capacity: usize) -> Self {
        MessageQueue {
            capacity,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Returns how many messages it holds at most.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Counts the messages.
    pub fn len(&self) -> usize {
        self.state.lock().messages.len()
    }

    /// Returns whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a message. Waits for a free slot, forever if there is no limit.
    ///
    /// # Errors
    /// `QueueFull`: no slot became free in time; `Failure`: the queue was stopped.
    pub fn put(&self, message: Message, limit: Option<Duration>) -> Result<()> {
        let capacity = self.capacity;
        let ready = |state: &State| state.messages.len() < capacity;
        let mut state = self.wait(limit, ready, || {
            Error::new(
                ErrorKind::QueueFull,
                format!("the queue is full: it contains {capacity} messages"),
            )
        })?;
        state.messages.push_back(message);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Removes and returns the oldest message. Waits for one, forever if there is no limit.
    ///
    /// # Errors
    /// `QueueEmpty`: none came in time; `Failure`: the queue was stopped.
    pub fn take(&self, limit: Option<Duration>) -> Result<Message> {
        self.take_if(limit, |_| Ok(()))
    }

    /// Takes the oldest message if `accept` agrees; else it stays the oldest one.
    ///
    /// # Errors
    /// As [`MessageQueue::take`]; what `accept` answers.
    pub fn take_if(
        &self,
        limit: Option<Duration>,
        accept: impl FnOnce(&Message) -> Result<()>,
    ) -> Result<Message> {
        let ready = |state: &State| !state.messages.is_empty();
        let mut state = self.wait(limit, ready, || {
            Error::new(ErrorKind::QueueEmpty, "there is no message in the queue")
        })?;
        if let Some(oldest) = state.messages.front() {
            accept(oldest)?;
        }
        let message = state.messages.pop_front();
        drop(state);
        self.changed.notify_all();
        message.ok_or_else(|| Error::new(ErrorKind::Internal, "a message that was there is gone"))
    }

    /// Puts a message back that was taken and could not be used. It is the oldest one again.
    pub fn put_back(&self, message: Message) {
        self.state.lock().messages.push_front(message);
        self.changed.notify_all();
    }

    /// Takes the oldest message if there is one, and every other queue has a free slot for a copy of it.
    pub(crate) fn forward_one(&self, others: &[&MessageQueue]) -> bool {
        let mut state = self.state.lock();
        let has_capacity = |other: &&MessageQueue| other.len() < other.capacity;
        if state.messages.is_empty() || !others.iter().all(has_capacity) {
            return false;
        }
        let Some(message) = state.messages.pop_front() else {
            return false;
        };
        drop(state);
        self.changed.notify_all();
        for other in others {
            other.state.lock().messages.push_back(message.clone());
            other.changed.notify_all();
        }
        true
    }

    /// Drops every message.
    pub fn clear(&self) {
        self.state.lock().messages.clear();
        self.changed.notify_all();
    }

    /// Wakes all waiters, and refuses every use from now on.
    pub fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_all();
    }

    fn wait(
        &self,
        limit: Option<Duration>,
        ready: impl Fn(&State) -> bool,
        too_late: impl FnOnce() -> Error,
    ) -> Result<MutexGuard<'_, State>> {
        let until = limit.map(|limit| Instant::now() + limit);
        let mut state = self.state.lock();
        loop {
            if state.stopped {
                return Err(Error::new(ErrorKind::Failure, "the channel was stopped"));
            }
            if ready(&state) {
                return Ok(state);
            }
            state = match until {
                None => self.changed.wait(state),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(too_late());
                    }
                    self.changed.wait_for(state, left).0
                }
            };
        }
    }
}

/// Moves messages along connections until nothing moves any more. A message goes to every target of its queue, once all of
/// them have a free slot.
pub fn forward(queue: &MessageQueue, targets: &[&MessageQueue]) -> bool {
    let mut moved = false;
    while !targets.is_empty() && queue.forward_one(targets) {
        moved = true;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(byte: u8) -> Message {
        Message {
            data: vec![byte],
            user: Vec::new(),
        }
    }

    const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn messages_come_in_order_and_a_full_queue_says_so() {
        let queue = MessageQueue::new(2);
        assert_eq!(
            queue.take(AT_ONCE).unwrap_err().kind(),
            ErrorKind::QueueEmpty
        );
        queue.put(message(1), AT_ONCE).unwrap();
        queue.put(message(2), AT_ONCE).unwrap();
        let full = queue.put(message(3), AT_ONCE).unwrap_err().kind();
        assert_eq!(full, ErrorKind::QueueFull);
        assert_eq!(queue.take(AT_ONCE).unwrap(), message(1));
        queue.put(message(3), AT_ONCE).unwrap();
        assert_eq!(queue.take(AT_ONCE).unwrap(), message(2));
        assert_eq!(queue.take(AT_ONCE).unwrap(), message(3));
    }

    #[test]
    fn a_message_that_is_refused_stays() {
        let queue = MessageQueue::new(2);
        queue.put(message(1), AT_ONCE).unwrap();
        let refused = queue.take_if(AT_ONCE, |_| Err(Error::new(ErrorKind::InvalidValue, "no")));
        assert!(refused.is_err());
        assert_eq!(queue.take(AT_ONCE).unwrap(), message(1));
    }

    #[test]
    fn a_message_that_was_put_back_is_the_oldest_also_in_a_full_queue() {
        let queue = MessageQueue::new(1);
        queue.put(message(1), AT_ONCE).unwrap();
        let taken = queue.take(AT_ONCE).unwrap();
        queue.put(message(2), AT_ONCE).unwrap();
        queue.put_back(taken);
        let full = queue.put(message(3), AT_ONCE).unwrap_err().kind();
        assert_eq!(full, ErrorKind::QueueFull);
        assert_eq!(queue.take(AT_ONCE).unwrap(), message(1));
        assert_eq!(queue.take(AT_ONCE).unwrap(), message(2));
    }

    #[test]
    fn a_stop_wakes_whoever_waits() {
        let queue = MessageQueue::new(2);
        jumar_hal::sync::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.take(None));
            queue.stop();
            let woken = waiting.join().unwrap();
            assert_eq!(woken.unwrap_err().kind(), ErrorKind::Failure);
        });
    }

    #[test]
    fn a_message_is_forwarded_when_all_targets_have_capacity() {
        let (from, a, b) = (
            MessageQueue::new(4),
            MessageQueue::new(1),
            MessageQueue::new(4),
        );
        from.put(message(1), AT_ONCE).unwrap();
        from.put(message(2), AT_ONCE).unwrap();
        assert!(forward(&from, &[&a, &b]));
        assert_eq!((from.len(), a.len(), b.len()), (1, 1, 1));
        a.take(AT_ONCE).unwrap();
        assert!(forward(&from, &[&a, &b]));
        assert_eq!((from.len(), a.len(), b.len()), (0, 1, 2));
    }
}
