//! Frames for the ranks that gather.

use std::collections::VecDeque;
use std::io::Write as _;
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

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::super::link::read_frame;
    use super::*;

    /// What a rank that does not read is sent exceeds what the system holds for it: neither the sender nor other ranks wait.
    #[test]
    fn a_rank_that_does_not_read_delays_no_other_and_gets_its_frames_in_order() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let connect = || {
            let reader = TcpStream::connect(address).expect("it listens");
            let (writer, _) = listener.accept().expect("a connection");
            (Outbox::new(writer), reader)
        };
        let ((deaf, late), (other, reader)) = (connect(), connect());
        let large = vec![7; 200 << 10];
        for _ in 0..100 {
            deaf.send(1, &large);
        }
        deaf.send(2, b"last");
        other.send(3, b"now");
        let (kind, content) = read_frame(&reader).expect("a frame");
        assert_eq!((kind, &content[..]), (3, &b"now"[..]));
        let is_waiting = deaf.queue.lock().has_writer;
        assert!(is_waiting, "twenty megabytes fit nowhere else");
        for _ in 0..100 {
            let (kind, content) = read_frame(&late).expect("a frame");
            assert!(kind == 1 && content == large);
        }
        let (kind, content) = read_frame(&late).expect("a frame");
        assert_eq!((kind, &content[..]), (2, &b"last"[..]));
    }
}
