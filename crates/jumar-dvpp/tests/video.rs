//! Decoded video against FFmpeg: `cases/make_video.py` writes the clips and digests of what FFmpeg returns.
//!
//! With `JUMAR_FFMPEG`, the name or path of a libavcodec, that library decodes instead of the built-in decoders (`cargo xtask ci --only ffmpeg`).

use std::cell::RefCell;
use std::path::Path;

use jumar_dvpp::video::{Codec, Decoder, FailureKind, Ffmpeg, Frame, Limits, Order, Outcome};
use jumar_dvpp::vpc::{Job, Matrix};
use jumar_dvpp::{Format, Image};
use serde_json::Value;

const LIMITS: Limits = Limits {
    smallest: 128,
    largest: 4096,
};

struct Clip {
    name: String,
    codec: Codec,
    packets: Vec<Vec<u8>>,
    /// In the order of display: the packet, the size and the digest of each frame.
    frames: Vec<(u64, (usize, usize), String)>,
}

fn clips() -> Vec<Clip> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/video.bin");
    let bytes = std::fs::read(path).expect("a case file");
    let end = bytes.iter().position(|byte| *byte == b'\n').expect("JSON");
    let header: Value = serde_json::from_slice(&bytes[..end]).expect("JSON");
    let mut rest = &bytes[end + 1..];
    let cases = header["cases"].as_array().expect("cases");
    let number = |value: &Value| value.as_u64().expect("a number");
    let clips: Vec<Clip> = cases
        .iter()
        .map(|case| Clip {
            name: format!("{} {}", case["codec"], case["name"]),
            codec: match case["codec"].as_str() {
                Some("h264") => Codec::H264,
                _ => Codec::H265,
            },
            packets: (case["packets"].as_array().expect("packets").iter())
                .map(|length| {
                    let (packet, behind) = rest.split_at(number(length) as usize);
                    rest = behind;
                    packet.to_vec()
                })
                .collect(),
            frames: (case["frames"].as_array().expect("frames").iter())
                .map(|frame| {
                    let size = [&frame["width"], &frame["height"]].map(number);
                    let digest = frame["digest"].as_str().expect("a digest");
                    let size = (size[0] as usize, size[1] as usize);
                    (number(&frame["packet"]), size, digest.to_owned())
                })
                .collect(),
        })
        .collect();
    assert!(!clips.is_empty());
    clips
}

fn clip(name: &str) -> Clip {
    let found = clips().into_iter().find(|clip| clip.name == name);
    found.unwrap_or_else(|| panic!("no clip has the name {name}"))
}

fn digest(frame: &Frame) -> String {
    let mut value = 0xCBF2_9CE4_8422_2325_u64;
    for byte in frame.planes().iter().flat_map(|plane| &plane.data) {
        value = (value ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    }
    format!("{value:016x}")
}

fn decoder(codec: Codec, limits: Limits, order: Order) -> Decoder {
    let library = std::env::var("JUMAR_FFMPEG").ok().map(|name| {
        let library = Ffmpeg::load(&[&name]).unwrap_or_else(|error| panic!("{error}"));
        let checked = library.check(codec);
        checked.unwrap_or_else(|error| panic!("{error}"));
        library
    });
    Decoder::with(codec, limits, order, library)
}

/// Decodes packets. Returns what each call returned, the last of them at the end of the stream.
fn decode(codec: Codec, order: Order, packets: &[Vec<u8>]) -> Vec<Vec<Outcome>> {
    let mut decoder = decoder(codec, LIMITS, order);
    let mut outcomes: Vec<_> = packets.iter().map(|packet| decoder.send(packet)).collect();
    outcomes.push(decoder.flush());
    outcomes
}

#[test]
fn frames_equal_those_of_ffmpeg_in_the_order_of_display() {
    for clip in clips() {
        let outcomes = decode(clip.codec, Order::Display, &clip.packets);
        let mut wanted = clip.frames.iter();
        let mut without = 0;
        for outcome in outcomes.iter().flatten() {
            let frame = match &outcome.result {
                Ok(frame) => frame,
                Err(failure) => {
                    assert_eq!(failure.kind, FailureKind::NoFrame, "{}", clip.name);
                    assert!(clip.frames.iter().all(|frame| frame.0 != outcome.packet));
                    without += 1;
                    continue;
                }
            };
            let (packet, size, wanted) = wanted.next().expect("as many frames as packets");
            assert_eq!(outcome.packet, *packet, "{}", clip.name);
            assert_eq!((frame.width(), frame.height()), *size, "{}", clip.name);
            assert_eq!(digest(frame), *wanted, "{} {packet}", clip.name);
        }
        assert_eq!(wanted.next(), None, "{}", clip.name);
        // The second field of a frame, and nothing else, has no frame.
        let seconds = clip.packets.len() - clip.frames.len();
        assert_eq!(without, seconds, "{}", clip.name);
        assert!(seconds == 0 || clip.name.contains("pairs of fields"));
    }
}

/// A program may fetch each frame before it sends the next packet.
#[test]
fn the_earliest_order_returns_the_same_frames_sooner() {
    for clip in clips() {
        let late = decode(clip.codec, Order::Display, &clip.packets);
        let early = decode(clip.codec, Order::Earliest, &clip.packets);
        let frames = |outcomes: &[Vec<Outcome>]| {
            let found = outcomes.iter().flatten();
            let found = found.filter_map(|outcome| {
                Some((outcome.packet, outcome.result.as_ref().ok()?.clone()))
            });
            found.collect::<Vec<_>>()
        };
        assert_eq!(frames(&early), frames(&late), "{}", clip.name);
        let count = |outcomes: &[Vec<Outcome>]| outcomes.iter().flatten().count();
        for calls in 1..=clip.packets.len() {
            assert!(
                count(&early[..calls]) >= count(&late[..calls]),
                "{}",
                clip.name
            );
        }
    }
    let clip = clip("\"h264\" \"baseline\"");
    for outcomes in decode(clip.codec, Order::Earliest, &clip.packets)
        .iter()
        .take(clip.packets.len())
    {
        assert_eq!(outcomes.len(), 1);
    }
}

/// A program concludes from the last callback that it has sent everything.
#[test]
fn a_frame_is_returned_only_after_a_later_packet_or_at_the_end() {
    for clip in clips() {
        let outcomes = decode(clip.codec, Order::Display, &clip.packets);
        for (call, outcomes) in outcomes.iter().enumerate() {
            assert!(
                outcomes.iter().all(|outcome| outcome.packet < call as u64),
                "{}: call {call}",
                clip.name
            );
        }
    }
}

#[test]
fn frames_are_not_held_longer_than_the_stream_reorders() {
    for name in ["\"h264\" \"baseline\"", "\"hevc\" \"main\""] {
        let clip = clip(name);
        let outcomes = decode(clip.codec, Order::Display, &clip.packets);
        for (call, outcomes) in outcomes.iter().enumerate().skip(1) {
            let packets: Vec<u64> = outcomes.iter().map(|outcome| outcome.packet).collect();
            assert_eq!(packets, [call as u64 - 1], "{name}");
        }
    }
}

#[test]
fn in_the_order_of_coding_each_packet_returns_its_frame_at_once() {
    for clip in clips() {
        // Frames of an interlaced stream may be two packets.
        if clip.name.contains("interlaced") || clip.name.contains("field") {
            continue;
        }
        let outcomes = decode(clip.codec, Order::Coding, &clip.packets);
        assert!(outcomes[clip.packets.len()].is_empty(), "{}", clip.name);
        for (call, outcomes) in outcomes[..clip.packets.len()].iter().enumerate() {
            let [outcome] = &outcomes[..] else {
                panic!("{}: {} outcomes", clip.name, outcomes.len());
            };
            assert_eq!(outcome.packet, call as u64);
            let frame = outcome.result.as_ref().expect(&clip.name);
            let wanted = clip.frames.iter().find(|wanted| wanted.0 == call as u64);
            assert_eq!(digest(frame), wanted.expect("a frame").2);
        }
    }
}

/// Counts the outcomes of each packet, and checks what a damaged stream may return.
fn check_damaged(codec: Codec, packets: &[Vec<u8>]) {
    for order in [Order::Display, Order::Coding] {
        let outcomes = decode(codec, order, packets);
        let mut packets: Vec<u64> = outcomes
            .iter()
            .flatten()
            .map(|outcome| {
                if let Ok(frame) = &outcome.result {
                    assert!((128..=4096).contains(&frame.width()));
                    assert!((128..=4096).contains(&frame.height()));
                }
                outcome.packet
            })
            .collect();
        packets.sort_unstable();
        let wanted: Vec<u64> = (0..packets.len() as u64).collect();
        assert_eq!(packets, wanted, "exactly one outcome for each packet");
    }
}

#[test]
fn truncated_packets_fail_and_others_have_outcomes() {
    for name in [
        "\"h264\" \"baseline\"",
        "\"h264\" \"interlaced\"",
        "\"hevc\" \"B frames\"",
    ] {
        let clip = clip(name);
        for damaged in 0..clip.packets.len().min(4) {
            let length = clip.packets[damaged].len();
            let step = (length / 40).max(1);
            for kept in (0..length).step_by(step) {
                let mut packets = clip.packets[..clip.packets.len().min(6)].to_vec();
                packets[damaged].truncate(kept);
                check_damaged(clip.codec, &packets);
            }
        }
    }
}

/// Cuts the shortest packet of two clips at each length, and the key frame in front of it at each length up to its slice.
#[test]
fn packets_are_cut_at_every_length() {
    for codec in [Codec::H264, Codec::H265] {
        let clips = clips();
        let of_codec = clips.iter().filter(|clip| clip.codec == codec);
        let clip = of_codec
            .min_by_key(|clip| clip.packets[1].len())
            .expect("a clip");
        for (damaged, longest) in [(0, 200), (1, usize::MAX)] {
            for kept in 0..clip.packets[damaged].len().min(longest) {
                let mut packets = clip.packets[..3].to_vec();
                packets[damaged].truncate(kept);
                check_damaged(clip.codec, &packets);
            }
        }
    }
}

#[test]
fn flipped_bits_never_crash() {
    let mut random = fastrand::Rng::with_seed(11);
    for clip in clips() {
        for _ in 0..25 {
            let mut packets = clip.packets.clone();
            for _ in 0..random.usize(1..6) {
                let packet = &mut packets[random.usize(..clip.packets.len())];
                // Headers are where a flipped bit changes most.
                let reach = match random.bool() {
                    true => packet.len().min(60),
                    false => packet.len(),
                };
                packet[random.usize(..reach)] ^= 1 << random.u8(..8);
            }
            check_damaged(clip.codec, &packets);
        }
    }
}

#[test]
fn lost_packets_leave_outcomes_for_the_others() {
    for clip in clips() {
        for lost in 0..clip.packets.len() {
            let mut packets = clip.packets.clone();
            packets.remove(lost);
            check_damaged(clip.codec, &packets);
        }
    }
}

fn only_failure(codec: Codec, packet: &[u8]) -> (FailureKind, String) {
    let mut decoder = decoder(codec, LIMITS, Order::Coding);
    match &decoder.send(packet)[..] {
        [
            Outcome {
                result: Err(failure),
                ..
            },
        ] => (failure.kind, failure.to_string()),
        other => panic!("{} outcomes, or a frame", other.len()),
    }
}

#[test]
fn packets_that_cannot_be_decoded_are_distinguished() {
    let (h264, h265) = (clip("\"h264\" \"baseline\""), clip("\"hevc\" \"main\""));
    for (codec, packet, wanted) in [
        (Codec::H264, &h265.packets[0][..], FailureKind::OtherCodec),
        (Codec::H265, &h264.packets[0][..], FailureKind::OtherCodec),
        (Codec::H264, &h264.packets[1][..], FailureKind::Damaged),
        (Codec::H265, &h265.packets[1][..], FailureKind::Damaged),
        (Codec::H264, b"no start code", FailureKind::NotCut),
        (Codec::H265, b"no start code", FailureKind::NotCut),
        (Codec::H264, &[0, 0, 1, 9, 0x10], FailureKind::NoFrame),
        (Codec::H265, &[0, 0, 1, 0x46, 1, 0x50], FailureKind::NoFrame),
    ] {
        let (kind, sentence) = only_failure(codec, packet);
        assert_eq!(kind, wanted, "{sentence}");
    }
}

#[test]
fn sizes_outside_of_the_limits_are_refused() {
    for name in [
        "\"h264\" \"changing resolution\"",
        "\"hevc\" \"changing resolution\"",
    ] {
        let clip = clip(name);
        let limits = Limits {
            smallest: 64,
            largest: 144,
        };
        let mut decoder = decoder(clip.codec, limits, Order::Coding);
        let outcomes: Vec<Outcome> = (clip.packets.iter())
            .flat_map(|packet| decoder.send(packet))
            .collect();
        for outcome in outcomes {
            let wanted = clip.frames.iter().find(|one| one.0 == outcome.packet);
            let (_, size, _) = wanted.expect("a frame");
            match outcome.result {
                Ok(_) => assert_eq!(*size, (128, 128)),
                Err(failure) => {
                    assert_eq!(*size, (176, 144));
                    assert_eq!(failure.kind, FailureKind::Resolution);
                    assert!(failure.to_string().contains("176x144"), "{failure}");
                }
            }
        }
    }
}

#[test]
fn a_packet_with_two_frames_has_the_first() {
    for name in ["\"h264\" \"baseline\"", "\"hevc\" \"main\""] {
        let clip = clip(name);
        let mut packets = clip.packets.clone();
        let second = packets.remove(1);
        packets[0].extend(second);
        let outcomes = decode(clip.codec, Order::Coding, &packets);
        for (number, outcome) in outcomes.iter().flatten().enumerate() {
            let wanted = &clip.frames[if number == 0 { 0 } else { number + 1 }];
            let frame = outcome.result.as_ref().expect(name);
            assert_eq!(digest(frame), wanted.2, "{name} {number}");
        }
        assert_eq!(outcomes.iter().flatten().count(), packets.len());
    }
}

#[test]
fn libraries_that_cannot_decode_are_named() {
    for (names, parts) in [
        (
            &["libavcodec.so.1", "/nowhere/libavcodec.so.2"][..],
            &[
                "libavcodec.so.1, /nowhere/libavcodec.so.2",
                "none can be loaded",
            ][..],
        ),
        (
            &["libc.so.6"],
            &["libc.so.6 cannot be used", "avcodec_version"],
        ),
        (&["a\0b"], &["not the name of a library"]),
    ] {
        let Err(error) = Ffmpeg::load(names) else {
            panic!("{names:?} can be loaded");
        };
        for part in parts {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}

/// A stream that ends and begins again in the same decoder.
#[test]
fn a_new_stream_may_follow_the_end() {
    let clip = clip("\"h264\" \"baseline\"");
    let mut decoder = decoder(clip.codec, LIMITS, Order::Display);
    let mut numbers = Vec::new();
    for _ in 0..3 {
        for packet in &clip.packets {
            numbers.extend(
                decoder
                    .send(packet)
                    .into_iter()
                    .map(|outcome| outcome.packet),
            );
        }
        numbers.extend(decoder.flush().into_iter().map(|outcome| outcome.packet));
    }
    assert_eq!(numbers, (0..30).collect::<Vec<u64>>());
    assert!(decoder.flush().is_empty());
}

/// Returns the first frame of a clip, and the memory of an NV12 image with the same samples.
fn first_frame() -> (Frame, Image, Vec<u8>) {
    let clip = clip("\"h264\" \"high, cropped\"");
    let mut outcomes = decode(clip.codec, Order::Coding, &clip.packets[..1]);
    let frame = outcomes.remove(0).remove(0).result.expect("a frame");
    let image = Image {
        format: Format::Nv12,
        width: 150,
        height: 138,
        width_stride: 160,
        height_stride: 140,
    };
    let mut memory = vec![0; image.size().expect("a size")];
    let [y, u, v] = frame.planes() else {
        panic!("three planes");
    };
    for row in 0..138 {
        memory[row * 160..][..150].copy_from_slice(y.row(row));
    }
    for row in 0..69 {
        let chroma = &mut memory[(140 + row) * 160..][..150];
        for (pair, (u, v)) in chroma
            .chunks_exact_mut(2)
            .zip(u.row(row).iter().zip(v.row(row)))
        {
            pair.copy_from_slice(&[*u, *v]);
        }
    }
    (frame, image, memory)
}

#[test]
fn frames_are_written_in_each_format_with_strides_and_scaled() {
    let (frame, source, memory) = first_frame();
    for format in [Format::Nv12, Format::Nv21, Format::Rgb, Format::Bgr] {
        for (width, height) in [(150, 138), (64, 200)] {
            let target = Image {
                format,
                width,
                height,
                width_stride: format.row_bytes(width) + 32,
                height_stride: height + 6,
            };
            let size = target.size().expect("a size");
            let (found, wanted) = (RefCell::new(vec![7; size]), RefCell::new(vec![7; size]));
            let old = vec![7; size];
            frame
                .clone()
                .store(&target, Matrix::default(), &found, &old)
                .expect("a stored frame");
            Job::new(source, source.rect(), target, target.rect())
                .run(&memory, &wanted, &old)
                .expect("a processed image");
            assert!(found == wanted, "{} {width}x{height}", format.name());
            assert_eq!(found.borrow()[size - 1], 7, "bytes of the strides stay");
        }
    }
}

#[test]
fn memory_that_is_too_small_is_refused() {
    let (frame, image, memory) = first_frame();
    let small = RefCell::new(vec![0; memory.len() - 1]);
    let done = frame.store(&image, Matrix::default(), &small, &memory);
    let sentence = done.expect_err("too small").to_string();
    assert!(sentence.contains(&memory.len().to_string()), "{sentence}");
}
