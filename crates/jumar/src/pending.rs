//! The result of a queued copy or execution.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use jumar_core::sync::Mutex;
use jumar_core::{Signal, Waiter};
use jumar_types::Result;

use crate::call::{self, by};
use crate::context::refuse_in_host_function;
use crate::stream::Stream;

/// A value that a queued task works with. Waiting for the task returns it.
///
/// It is a future, too. A worker wakes the future's task when the queued task has ended; no thread polls or waits meanwhile.
///
/// ```
/// # use jumar::{DeviceBuffer, PinnedBuffer, Runtime, Stream};
/// async fn round_trip(stream: &Stream, device: &DeviceBuffer<i32>, host: PinnedBuffer<i32>) -> jumar::Result<PinnedBuffer<i32>> {
///     let host = stream.upload(host, device)?.await?;
///     stream.download(device, host)?.await
/// }
/// ```
///
/// # Ownership
/// Dropping or forgetting it takes nothing from the task: the task is done in its turn, and memory is freed after that.
#[must_use = "the value is returned by waiting"]
pub struct Pending<T> {
    /// `None` once the future has returned it.
    value: Option<T>,
    stream: Stream,
    done: Arc<Signal>,
    /// What the signal calls, once the future was polled before the task had ended.
    waker: Option<Arc<SignalWaker>>,
}

/// Wakes the task that polled last when a signal is set.
struct SignalWaker(Mutex<Option<Waker>>);

impl Waiter for SignalWaker {
    fn signalled(self: Arc<Self>) {
        // The lock is not held while code of the program runs.
        let waker = self.0.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Pending<T> {
    pub(crate) fn new(value: T, stream: Stream, done: Arc<Signal>) -> Pending<T> {
        Pending {
            value: Some(value),
            stream,
            done,
            waker: None,
        }
    }

    /// Returns whether the task has ended. Never blocks.
    pub fn is_done(&self) -> bool {
        self.done.is_set()
    }

    /// Waits for the task and returns the value.
    ///
    /// # Threads
    /// Blocks the calling thread, which helps with the work meanwhile.
    ///
    /// # Errors
    /// What a task of the stream failed with: this one, or one before it whose error was not reported yet, as
    /// [`Stream::synchronize`]. `CallbackFailed`: called in a host function.
    ///
    /// # Panics
    /// The future has returned the value already.
    pub fn wait(self) -> Result<T> {
        let (value, result) = self.wait_with_result();
        result.map(|()| value)
    }

    /// Waits as [`Pending::wait`] does, and returns the value whatever happened.
    ///
    /// # Panics
    /// As [`Pending::wait`].
    pub fn wait_with_result(mut self) -> (T, Result<()>) {
        let result = refuse_in_host_function()
            .map_err(|error| error.operation(call::PENDING.name))
            .and_then(|()| self.finish());
        (self.take(), result)
    }

    /// Waits for the task, as probes see it, and returns what went wrong.
    fn finish(&self) -> Result<()> {
        by(&call::PENDING, |caller| {
            self.stream.reach(&self.done, caller)?;
            self.stream.inner.take_error()
        })
    }

    fn take(&mut self) -> T {
        self.value
            .take()
            .expect("the value is taken once: the future has returned it")
    }

    /// Has the waker called at the end of the task. Returns whether the task has not ended.
    fn wake_at_end(&mut self, waker: &Waker) -> bool {
        match &self.waker {
            Some(registered) => {
                let before = registered.0.lock().replace(waker.clone());
                drop(before);
                // Set before the replacement, the signal has called the waker before.
                !self.done.is_set()
            }
            None => {
                let registered = Arc::new(SignalWaker(Mutex::new(Some(waker.clone()))));
                self.waker = Some(registered.clone());
                self.done.register(registered)
            }
        }
    }
}

/// The value never has an address that anything relies on.
impl<T> Unpin for Pending<T> {}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    /// Returns the value once the task has ended, and the error of a task as [`Pending::wait`]. The value is dropped then.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<T>> {
        let pending = self.get_mut();
        if !pending.is_done() && pending.wake_at_end(cx.waker()) {
            return Poll::Pending;
        }
        let value = pending.take();
        Poll::Ready(pending.finish().map(|()| value))
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        if let Some(waker) = self.waker.take() {
            let waker: Arc<dyn Waiter> = waker;
            self.done.forget(&waker);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("value", &self.value)
            .field("is_done", &self.is_done())
            .finish()
    }
}
