//! Frames that are sent to a rank in order, without waiting for it.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

use jumar_hal::sync::{Mutex, thread};

use super::link::{FRAME_HEAD, write_frame};
use crate::os;

/// The frames for a rank, which are sent in order. Callers hold the lock of all ranks, so that they must not wait for one that
/// does not read: while there are frames, a thread writes them.
pub(super) struct Outbox {
    socket: TcpStream,
    queue: Mutex<Frames>,
}

#[derive(Default)]
struct Frames {
    waiting: VecDeque<Vec<u8>>,
    /// A thread writes them.
    has_writer: bool,
}

impl Outbox {
    pub(super) fn new(socket: TcpStream) -> Arc<Outbox> {
        Arc::new(Outbox {
            socket,
            queue: Mutex::default(),
        })
    }

    pub(super) fn send(self: &Arc<Self>, kind: u8, content: &[u8]) {
        let mut frame = Vec::with_capacity(content.len() + FRAME_HEAD);
        // Memory takes every frame that the other end would read.
        if write_frame(&mut frame, kind, content).is_err() {
            return;
        }
        let mut queue = self.queue.lock();
        queue.waiting.push_back(frame);
        if std::mem::replace(&mut queue.has_writer, true) {
            return;
        }
        drop(queue);
        let own = self.clone();
        let started = thread::Builder::new()
            .name("jumar-hccl-root".to_owned())
            .spawn(move || {
                os::block_signals();
                own.write();
            });
        if started.is_err() {
            self.write();
        }
    }

    /// Returns whether a thread still writes.
    #[cfg(test)]
    pub(super) fn is_writing(&self) -> bool {
        self.queue.lock().has_writer
    }

    /// Writes what waits.
    fn write(&self) {
        loop {
            let mut queue = self.queue.lock();
            let Some(frame) = queue.waiting.pop_front() else {
                queue.has_writer = false;
                return;
            };
            drop(queue);
            if (&self.socket).write_all(&frame).is_err() {
                // A part of a frame may be written: nothing can follow it. The rank's conversation ends with that.
                let _ = self.socket.shutdown(Shutdown::Both);
            }
        }
    }
}
