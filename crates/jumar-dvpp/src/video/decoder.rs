//! Decoding: which packet a frame belongs to, and in which order frames are returned.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Codec;
use super::engine::{Engine, Failure, FailureKind, Limits, Step};
use super::ffmpeg::{self, Ffmpeg};
use super::frame::Frame;
use super::h264::H264;
use super::h265::H265;

/// When a frame is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// In the order of display, when that is final and a later packet has come, or at the end.
    Display,
    /// In the order of display, as soon as that is final, or at the end.
    Earliest,
    /// In the order of coding, at once.
    Coding,
}

/// What became of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The number of the packet: packets are numbered from 0.
    pub packet: u64,
    /// Its frame, or why it has none.
    pub result: Result<Frame, Failure>,
}

/// A decoder of a stream. Each packet has exactly one outcome.
pub struct Decoder {
    codec: Codec,
    limits: Limits,
    order: Order,
    /// The library that decodes instead of the built-in decoders.
    ffmpeg: Option<Ffmpeg>,
    engine: Box<dyn Engine>,
    /// The number of the next packet.
    next: u64,
    /// Packets whose frame is not complete; only fields leave more than one.
    started: VecDeque<u64>,
    /// Frames that wait for others that are displayed before them.
    held: Vec<Held>,
    /// Packets without a frame, returned with the next packet.
    failed: Vec<Outcome>,
    /// Counts the parts of the stream between which frames are not reordered.
    period: u64,
    /// The period and the position of the latest frame that was returned.
    returned: Option<(u64, i32)>,
}

struct Held {
    key: (u64, i32),
    packet: u64,
    frame: Frame,
}

impl Decoder {
    /// Creates a decoder.
    pub fn new(codec: Codec, limits: Limits, order: Order) -> Decoder {
        Decoder::with(codec, limits, order, None)
    }

    /// Creates a decoder that uses a library. If the library has no decoder of the codec, a built-in one is used.
    pub fn with(codec: Codec, limits: Limits, order: Order, ffmpeg: Option<Ffmpeg>) -> Decoder {
        Decoder {
            codec,
            limits,
            order,
            engine: engine(codec, limits, ffmpeg.as_ref()),
            ffmpeg,
            next: 0,
            started: VecDeque::new(),
            held: Vec::new(),
            failed: Vec::new(),
            period: 0,
            returned: None,
        }
    }

    /// Changes the order of the frames that come from now on.
    pub fn set_order(&mut self, order: Order) {
        self.order = order;
    }

    /// Decodes a packet: what one frame is coded in, with the parameter sets in front of it. Returns the outcomes that are ready,
    /// of this packet or of earlier ones.
    pub fn send(&mut self, packet: &[u8]) -> Vec<Outcome> {
        let number = self.next;
        self.next += 1;
        let decoded = catch_unwind(AssertUnwindSafe(|| self.engine.decode(packet)));
        let mut step = decoded.unwrap_or_else(|_panic| {
            // What the library keeps may be inconsistent: decoding restarts with the next key frame.
            self.restart();
            let defect = Failure::damaged(format!(
                "the {} decoder failed on this packet with a defect of its own",
                self.codec.name()
            ));
            while let Some(packet) = self.started.pop_front() {
                self.fail(packet, defect.clone());
            }
            Step {
                failure: Some(defect),
                ..Step::default()
            }
        });
        let mut ready = Vec::new();
        if let Some(frame) = step.earlier.take() {
            match self.started.pop_front() {
                Some(packet) => self.keep(packet, frame, &mut ready),
                // The packet contains more than one frame.
                None => step.own = Some(frame),
            }
            self.drop_second_fields();
        }
        self.release(step.starts_period, &mut ready);
        ready.append(&mut self.failed);
        if step.starts_period {
            self.period += 1;
        }
        self.note(number, step, &mut ready);
        if self.order == Order::Earliest {
            self.release(false, &mut ready);
            ready.append(&mut self.failed);
        }
        ready
    }

    /// Ends the stream. Returns the outcomes of all packets that have none yet. The next packet begins a new stream.
    pub fn flush(&mut self) -> Vec<Outcome> {
        let last = catch_unwind(AssertUnwindSafe(|| self.engine.end()));
        let mut ready = Vec::new();
        if let Some(packet) = self.started.pop_front() {
            match last {
                Ok(Some(frame)) => self.keep(packet, frame, &mut ready),
                _ => self.fail(
                    packet,
                    Failure::damaged("the stream ended before the frame was complete"),
                ),
            }
        }
        self.drop_second_fields();
        self.release(true, &mut ready);
        ready.append(&mut self.failed);
        self.restart();
        self.period += 1;
        ready
    }

    /// Forgets what the library keeps of the stream.
    fn restart(&mut self) {
        self.engine = engine(self.codec, self.limits, self.ffmpeg.as_ref());
    }

    /// Notes what a packet led to.
    fn note(&mut self, number: u64, step: Step, ready: &mut Vec<Outcome>) {
        let failure = match (step.failure, step.own) {
            (Some(failure), _) => failure,
            (None, Some(frame)) => {
                self.keep(number, frame, ready);
                return;
            }
            (None, None) if step.has_slices && self.engine.completes_later() => {
                self.started.push_back(number);
                return;
            }
            (None, None) if step.has_slices => Failure::damaged(format!(
                "the {} decoder returned no frame",
                self.codec.name()
            )),
            (None, None) => Failure::new(
                FailureKind::NoFrame,
                "the packet contains no slice of a frame",
            ),
        };
        self.fail(number, failure);
        if self.order == Order::Coding {
            ready.append(&mut self.failed);
        }
    }

    /// Keeps a frame until it is ready.
    fn keep(&mut self, packet: u64, frame: Frame, ready: &mut Vec<Outcome>) {
        if self.order == Order::Coding {
            ready.push(Outcome {
                packet,
                result: Ok(frame),
            });
            return;
        }
        // A frame that belongs before one that was returned begins a period of its own: its position was reset.
        if self
            .returned
            .is_some_and(|(period, position)| period == self.period && frame.position < position)
        {
            self.period += 1;
        }
        self.held.push(Held {
            key: (self.period, frame.position),
            packet,
            frame,
        });
    }

    fn fail(&mut self, packet: u64, failure: Failure) {
        self.failed.push(Outcome {
            packet,
            result: Err(failure),
        });
    }

    /// The packets that a completed frame leaves were its second field, or had a frame that the library dropped.
    fn drop_second_fields(&mut self) {
        while let Some(packet) = self.started.pop_front() {
            self.fail(
                packet,
                Failure::new(
                    FailureKind::NoFrame,
                    "the packet contains the second field of a frame, which is returned with the first",
                ),
            );
        }
    }

    /// Returns the frames whose position in the order of display is final.
    fn release(&mut self, all: bool, ready: &mut Vec<Outcome>) {
        self.held.sort_by_key(|held| held.key);
        let kept = match all {
            true => 0,
            false => self.engine.reordered(),
        };
        let of_period = |held: &&Held| held.key.0 == self.period;
        let waiting = self.held.iter().filter(of_period).count();
        // Frames of earlier periods are final.
        let count = self.held.len() - waiting.min(kept);
        for held in self.held.drain(..count) {
            self.returned = Some(held.key);
            ready.push(Outcome {
                packet: held.packet,
                result: Ok(held.frame),
            });
        }
    }
}

fn engine(codec: Codec, limits: Limits, ffmpeg: Option<&Ffmpeg>) -> Box<dyn Engine> {
    if let Some(Ok(engine)) = ffmpeg.map(|library| ffmpeg::engine(library, codec, limits)) {
        return engine;
    }
    match codec {
        Codec::H264 => Box::new(H264::new(limits)),
        Codec::H265 => Box::new(H265::new(limits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        smallest: 1,
        largest: 64,
    };

    /// A library that makes a frame of two fields: each packet's first byte is the position of its frame. The second packet of
    /// a pair completes nothing; the frame comes with the slice that follows. The byte 255 is a defect.
    #[derive(Default)]
    struct Fields {
        fields: Vec<u8>,
    }

    impl Fields {
        fn complete(&mut self) -> Option<Frame> {
            if self.fields.len() < 2 {
                return None;
            }
            let position = i32::from(self.fields.remove(0));
            self.fields.remove(0);
            let planes = [vec![0; 4], vec![0], vec![0]];
            Frame::new((2, 2), (true, true), planes, position).ok()
        }
    }

    impl Engine for Fields {
        fn decode(&mut self, packet: &[u8]) -> Step {
            assert_ne!(packet[0], 255, "a defect");
            let earlier = self.complete();
            self.fields.push(packet[0]);
            Step {
                earlier,
                has_slices: true,
                starts_period: packet[0] == 0,
                ..Step::default()
            }
        }

        fn end(&mut self) -> Option<Frame> {
            self.complete()
        }

        fn reordered(&self) -> usize {
            1
        }

        fn completes_later(&self) -> bool {
            true
        }
    }

    fn decoder() -> Decoder {
        Decoder {
            engine: Box::new(Fields::default()),
            ..Decoder::new(Codec::H264, LIMITS, Order::Display)
        }
    }

    /// Lists packets, and whether they have a frame.
    fn list(outcomes: Vec<Outcome>) -> Vec<(u64, bool)> {
        let state = |outcome: Outcome| (outcome.packet, outcome.result.is_ok());
        outcomes.into_iter().map(state).collect()
    }

    #[test]
    fn a_frame_of_two_fields_belongs_to_the_first_packet() {
        let mut decoder = decoder();
        let mut found = Vec::new();
        // Three frames: the second is displayed after the third.
        for position in [1, 1, 5, 5, 3, 3] {
            found.extend(list(decoder.send(&[position])));
        }
        found.extend(list(decoder.flush()));
        let frames: Vec<u64> = found.iter().filter(|one| one.1).map(|one| one.0).collect();
        assert_eq!(frames, [0, 4, 2]);
        let mut second: Vec<u64> = found.iter().filter(|one| !one.1).map(|one| one.0).collect();
        second.sort_unstable();
        assert_eq!(second, [1, 3, 5]);
    }

    #[test]
    fn a_field_without_its_second_is_a_failure_at_the_end() {
        let mut decoder = decoder();
        assert!(decoder.send(&[1]).is_empty());
        assert_eq!(list(decoder.flush()), [(0, false)]);
    }

    #[test]
    fn a_panic_of_the_library_fails_the_frames_it_was_at() {
        let mut decoder = decoder();
        assert!(decoder.send(&[1]).is_empty());
        let mut found = list(decoder.send(&[255]));
        found.extend(list(decoder.flush()));
        found.sort_unstable();
        assert_eq!(found, [(0, false), (1, false)]);
    }

    #[test]
    fn a_position_before_a_returned_one_begins_a_period() {
        let mut decoder = decoder();
        let mut found = Vec::new();
        for position in [1, 1, 90, 90, 91, 91, 2, 2, 3, 3] {
            found.extend(list(decoder.send(&[position])));
        }
        found.extend(list(decoder.flush()));
        let frames: Vec<u64> = found.iter().filter(|one| one.1).map(|one| one.0).collect();
        assert_eq!(frames, [0, 2, 4, 6, 8]);
    }
}
