//! Coded video: what a decoder makes of it, key frames and bit rates.

use jumar_dvpp::video::{Codec, Decoder, Encoder, EncoderSettings, Limits, Order, Profile};
use jumar_dvpp::{Format, Image};

const SETTINGS: EncoderSettings = EncoderSettings {
    profile: Profile::Main,
    width: 150,
    height: 130,
    key_interval: 8,
    frame_rate: 25,
    bit_rate: 600_000,
};

const ALL: [Profile; 4] = [
    Profile::Baseline,
    Profile::Main,
    Profile::High,
    Profile::H265Main,
];

/// Returns a moving frame in NV12 or NV21 with padding behind its rows.
fn scene(index: usize, format: Format, width: usize, height: usize) -> (Image, Vec<u8>) {
    let image = Image {
        format,
        width,
        height,
        width_stride: width.next_multiple_of(16),
        height_stride: height,
    };
    let mut memory = vec![0; image.size().expect("a size")];
    let wave = |value: f32, amplitude: f32| (128.0 + amplitude * value.sin()) as u8;
    for row in 0..height {
        for column in 0..width {
            let edge = u8::from((row + index) / 24 % 2 == (column + 2 * index) / 32 % 2) * 40;
            let at = row * image.width_stride + column;
            memory[at] = wave((column + 3 * index) as f32 / 13.0 + row as f32 / 17.0, 60.0) - edge;
        }
    }
    for row in 0..height / 2 {
        for column in 0..width / 2 {
            let at = (height + row) * image.width_stride + 2 * column;
            let (u, v) = (
                wave((column + index) as f32 / 21.0, 50.0),
                wave((row + 2 * index) as f32 / 19.0, 50.0),
            );
            let pair = match format {
                Format::Nv12 => [u, v],
                _ => [v, u],
            };
            memory[at..at + 2].copy_from_slice(&pair);
        }
    }
    (image, memory)
}

/// Encodes frames, with a key frame forced at some of them.
fn encode(
    settings: EncoderSettings,
    format: Format,
    count: usize,
    forced: &[usize],
) -> Vec<(Vec<u8>, bool)> {
    let mut encoder = Encoder::new(settings).expect("an encoder");
    (0..count)
        .map(|index| {
            let (image, memory) = scene(index, format, settings.width, settings.height);
            let packet = encoder
                .encode(&image, &memory, forced.contains(&index))
                .expect("a packet");
            (packet.data, packet.is_key)
        })
        .collect()
}

/// Returns the noise of luma and of both chroma planes in decibels.
fn noise(settings: EncoderSettings, packets: &[(Vec<u8>, bool)]) -> [f64; 3] {
    let limits = Limits {
        smallest: 64,
        largest: 4096,
    };
    let codec = match settings.profile {
        Profile::H265Main => Codec::H265,
        _ => Codec::H264,
    };
    let mut decoder = Decoder::new(codec, limits, Order::Coding);
    let mut squares = [0.0; 3];
    let mut samples = [0.0; 3];
    for (index, (packet, _)) in packets.iter().enumerate() {
        let outcome = decoder.send(packet).remove(0);
        let frame = outcome.result.expect("a frame");
        let (image, memory) = scene(index, Format::Nv12, settings.width, settings.height);
        for (component, plane) in frame.planes().iter().enumerate() {
            for row in 0..plane.height {
                for column in 0..plane.width {
                    let at = match component {
                        0 => row * image.width_stride + column,
                        _ => {
                            (settings.height + row) * image.width_stride + 2 * column + component
                                - 1
                        }
                    };
                    let difference = f64::from(plane.row(row)[column]) - f64::from(memory[at]);
                    squares[component] += difference * difference;
                    samples[component] += 1.0;
                }
            }
        }
    }
    std::array::from_fn(|component| {
        10.0 * (255.0 * 255.0 / (squares[component] / samples[component]).max(1e-9)).log10()
    })
}

#[test]
fn decoded_frames_resemble_what_was_encoded() {
    for profile in ALL {
        for (width, height) in [(128, 128), (150, 130), (320, 192)] {
            for format in [Format::Nv12, Format::Nv21] {
                let settings = EncoderSettings {
                    profile,
                    width,
                    height,
                    bit_rate: 1_000_000,
                    ..SETTINGS
                };
                let packets = encode(settings, format, 12, &[]);
                let noise = noise(settings, &packets);
                assert!(
                    noise.iter().all(|noise| *noise > 32.0),
                    "{profile:?} {width}x{height} {}: {noise:?} dB",
                    format.name()
                );
            }
        }
    }
}

/// The types of the units of a packet.
fn units(packet: &[u8], profile: Profile) -> Vec<u8> {
    let starts = packet.windows(4).filter(|window| window[..3] == [0, 0, 1]);
    starts
        .map(|window| match profile {
            Profile::H265Main => window[3] >> 1,
            _ => window[3] & 31,
        })
        .collect()
}

#[test]
fn key_frames_come_at_the_interval_and_on_demand_with_parameter_sets() {
    for profile in ALL {
        let settings = EncoderSettings {
            profile,
            ..SETTINGS
        };
        // The parameter sets and the key frame: SPS and PPS, in H.265 also a VPS.
        let (sets, key): (&[u8], u8) = match profile {
            Profile::H265Main => (&[32, 33, 34], 19),
            _ => (&[7, 8], 5),
        };
        let packets = encode(settings, Format::Nv12, 30, &[11]);
        let keys: Vec<usize> = (0..30).filter(|index| packets[*index].1).collect();
        // The interval counts from the key frame on demand.
        assert_eq!(keys, [0, 8, 11, 19, 27], "{profile:?}");
        for (packet, is_key) in &packets {
            let units = units(packet, profile);
            assert_eq!(units.contains(&key), *is_key, "an IDR frame");
            if *is_key {
                assert_eq!(units[..sets.len()], *sets, "parameter sets come first");
            }
        }
    }
}

#[test]
fn each_frame_may_be_a_key_frame() {
    for profile in ALL {
        let settings = EncoderSettings {
            profile,
            key_interval: 1,
            ..SETTINGS
        };
        let packets = encode(settings, Format::Nv12, 5, &[]);
        assert!(packets.iter().all(|(_, is_key)| *is_key), "{profile:?}");
    }
}

#[test]
fn the_profile_is_the_one_asked_for() {
    // The type of the SPS, where its profile is, and the profile.
    for (profile, sps, at, number) in [
        (Profile::Baseline, 0x67, 1, 66),
        (Profile::Main, 0x67, 1, 77),
        (Profile::High, 0x67, 1, 100),
        (Profile::H265Main, 0x42, 3, 1),
    ] {
        let settings = EncoderSettings {
            profile,
            ..SETTINGS
        };
        let packet = &encode(settings, Format::Nv12, 1, &[])[0].0;
        let sps = packet
            .windows(8)
            .find(|window| window[..4] == [0, 0, 1, sps])
            .expect("an SPS");
        assert_eq!(sps[3 + at], number, "{profile:?}");
    }
}

/// Returns the mean bit rate of four seconds, and the noise of luma.
fn four_seconds(profile: Profile, (width, height): (usize, usize), bit_rate: u32) -> (f64, f64) {
    let settings = EncoderSettings {
        profile,
        width,
        height,
        bit_rate,
        key_interval: 25,
        ..SETTINGS
    };
    let packets = encode(settings, Format::Nv12, 100, &[]);
    let bits: usize = packets.iter().map(|(packet, _)| packet.len() * 8).sum();
    (bits as f64 / 4.0, noise(settings, &packets)[0])
}

#[test]
fn the_bit_rate_is_kept() {
    for (profile, size, rates) in [
        (Profile::Baseline, (320, 240), [150_000, 300_000].as_slice()),
        (Profile::Main, (320, 240), &[150_000, 500_000]),
        (Profile::High, (320, 240), &[300_000, 500_000]),
        // Frames by themselves need more.
        (Profile::H265Main, (144, 128), &[150_000, 300_000, 900_000]),
    ] {
        let mut before = 0.0;
        for &bit_rate in rates {
            let (rate, noise) = four_seconds(profile, size, bit_rate);
            let ratio = rate / f64::from(bit_rate);
            assert!(
                (0.9..=1.1).contains(&ratio),
                "{profile:?}: {rate} of {bit_rate} bits a second"
            );
            assert!(
                noise > before,
                "{profile:?}: {noise} dB with {bit_rate} bits a second, {before} dB with fewer"
            );
            before = noise;
        }
    }
}

/// A clip with noise, which motion compensation does not remove: key frames that come often leave nothing to make up for them.
#[test]
fn the_bit_rate_of_noise_is_kept_with_every_interval_of_key_frames() {
    let mut random = fastrand::Rng::with_seed(7);
    let (width, height) = (160, 128);
    let clip: Vec<(Image, Vec<u8>)> = (0..100)
        .map(|index| {
            let (image, mut memory) = scene(index, Format::Nv12, width, height);
            for sample in &mut memory {
                *sample = sample.saturating_add_signed(random.i8(-8..=8));
            }
            (image, memory)
        })
        .collect();
    for profile in ALL {
        // Frames of H.265 are coded by themselves, whatever the interval.
        let (intervals, rates): (&[u32], &[u32]) = match profile {
            Profile::H265Main => (&[1], &[400_000]),
            _ => (&[1, 2, 30], &[200_000, 1_000_000]),
        };
        for &key_interval in intervals {
            for &bit_rate in rates {
                let settings = EncoderSettings {
                    profile,
                    width,
                    height,
                    key_interval,
                    frame_rate: 25,
                    bit_rate,
                };
                let mut encoder = Encoder::new(settings).expect("an encoder");
                let bytes: usize = clip
                    .iter()
                    .map(|(image, memory)| {
                        let packet = encoder.encode(image, memory, false).expect("a packet");
                        packet.data.len()
                    })
                    .sum();
                let ratio = bytes as f64 * 8.0 / 4.0 / f64::from(bit_rate);
                assert!(
                    (0.9..=1.1).contains(&ratio),
                    "{profile:?}, interval {key_interval}: {ratio} of {bit_rate} bits a second"
                );
            }
        }
    }
}

#[test]
fn the_bit_rate_is_kept_with_many_frames_a_second() {
    for profile in [Profile::Main, Profile::H265Main] {
        let settings = EncoderSettings {
            profile,
            frame_rate: 100,
            bit_rate: 600_000,
            ..SETTINGS
        };
        let packets = encode(settings, Format::Nv12, 100, &[]);
        let bits: usize = packets.iter().map(|(packet, _)| packet.len() * 8).sum();
        assert!(
            (510_000..=690_000).contains(&bits),
            "{profile:?}: {bits} bits in a second"
        );
    }
}

#[test]
fn the_largest_and_the_longest_frames_are_encoded() {
    for (profile, sizes) in [
        (
            Profile::High,
            [(4096, 2304), (2304, 4096), (4096, 128), (128, 4096)].as_slice(),
        ),
        (Profile::H265Main, &[(4096, 128), (128, 4096)]),
    ] {
        for &(width, height) in sizes {
            let settings = EncoderSettings {
                profile,
                width,
                height,
                bit_rate: 20_000_000,
                ..SETTINGS
            };
            let packets = encode(settings, Format::Nv12, 1, &[]);
            let noise = noise(settings, &packets)[0];
            assert!(noise > 28.0, "{profile:?} {width}x{height}: {noise} dB");
        }
    }
}

/// Noise becomes larger than its samples with the bit rate that is allowed: it is coded coarsely, up to the next key frame.
#[test]
fn noise_is_encoded_and_what_follows_is_as_good_as_before() {
    let mut random = fastrand::Rng::with_seed(3);
    for profile in ALL {
        let settings = EncoderSettings {
            profile,
            bit_rate: 100_000_000,
            ..SETTINGS
        };
        let mut encoder = Encoder::new(settings).expect("an encoder");
        let (image, calm) = scene(0, Format::Nv12, settings.width, settings.height);
        let noise: Vec<u8> = calm.iter().map(|_| random.u8(..)).collect();
        let mut sizes = Vec::new();
        let mut keys = Vec::new();
        for index in 0..24 {
            let memory = if (4..7).contains(&index) {
                &noise
            } else {
                &calm
            };
            let packet = encoder.encode(&image, memory, false).expect("a packet");
            sizes.push(packet.data.len());
            keys.push(packet.is_key);
        }
        let last = keys
            .iter()
            .rposition(|is_key| *is_key)
            .expect("a key frame");
        assert!(last > 7, "{profile:?}: {keys:?}");
        let (before, after) = (sizes[0] as f64, sizes[last] as f64);
        assert!(
            (0.7..1.4).contains(&(after / before)),
            "{profile:?}: key frames of {before} and {after} bytes"
        );
    }
}

/// The library has no quantizer below 12: a simple scene takes fewer bits than it may.
#[test]
fn a_stream_of_the_best_quality_needs_no_more_bits() {
    let (rate, noise) = four_seconds(Profile::Main, (320, 240), 5_000_000);
    assert!(
        rate < 5_500_000.0 && noise > 45.0,
        "{rate} bits a second, {noise} dB"
    );
}

#[test]
fn settings_and_frames_that_do_not_fit_are_refused() {
    for settings in [
        EncoderSettings {
            width: 151,
            ..SETTINGS
        },
        EncoderSettings {
            height: 0,
            ..SETTINGS
        },
        EncoderSettings {
            key_interval: 0,
            ..SETTINGS
        },
        EncoderSettings {
            bit_rate: 0,
            ..SETTINGS
        },
        EncoderSettings {
            frame_rate: 0,
            ..SETTINGS
        },
    ] {
        assert!(Encoder::new(settings).is_err(), "{settings:?}");
    }
    let mut encoder = Encoder::new(SETTINGS).expect("an encoder");
    let (image, memory) = scene(0, Format::Nv12, 128, 128);
    let error = encoder
        .encode(&image, &memory, false)
        .expect_err("another size");
    assert!(error.to_string().contains("128x128"), "{error}");
    let (image, memory) = scene(0, Format::Nv12, 150, 130);
    let error = encoder
        .encode(&image, &memory[..memory.len() - 1].to_vec(), false)
        .expect_err("too little memory");
    assert!(error.to_string().contains("needs"), "{error}");
    // A refused frame leaves the encoder as it was.
    assert!(
        encoder
            .encode(&image, &memory, false)
            .expect("a packet")
            .is_key
    );
}
