//! Parameter sets and headers of slices (clauses 7.3.2 and 7.3.6).

use super::super::encoder::EncoderSettings;

/// The types of units.
pub(super) const TRAILING: u8 = 1;
pub(super) const IDR: u8 = 19;
const VPS: u8 = 32;
const SPS: u8 = 33;
const PPS: u8 = 34;

/// The bits of a frame's number in a header.
const NUMBER_BITS: u32 = 8;
/// The quantizer that slices state theirs against.
const BASE_QUANTIZER: i32 = 26;

/// Writes bits, the highest first.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    free: u32,
}

impl Writer {
    fn bits(&mut self, value: u32, count: u32) {
        for index in (0..count).rev() {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            self.free -= 1;
            if let Some(byte) = self.bytes.last_mut() {
                *byte |= ((value >> index & 1) << self.free) as u8;
            }
        }
    }

    fn flags(&mut self, flags: &[bool]) {
        for flag in flags {
            self.bits(u32::from(*flag), 1);
        }
    }

    /// Writes a number in Exponential-Golomb code.
    fn golomb(&mut self, value: u32) {
        let count = 32 - (value + 1).leading_zeros();
        self.bits(0, count - 1);
        self.bits(value + 1, count);
    }

    fn golombs(&mut self, values: &[u32]) {
        for value in values {
            self.golomb(*value);
        }
    }

    fn signed_golomb(&mut self, value: i32) {
        let doubled = 2 * value.unsigned_abs();
        self.golomb(if value > 0 { doubled - 1 } else { doubled });
    }

    /// Ends with a bit of 1, and bits of 0 up to a byte.
    fn finish(mut self) -> Vec<u8> {
        self.bits(1, 1);
        self.bytes
    }
}

/// Appends a unit with its start code. Bytes that would look like a start code are separated.
pub(super) fn append(to: &mut Vec<u8>, kind: u8, content: &[u8]) {
    to.extend_from_slice(&[0, 0, 0, 1, kind << 1, 1]);
    let mut zeros = 0;
    for byte in content {
        if zeros == 2 && *byte <= 3 {
            to.push(3);
            zeros = 0;
        }
        to.push(*byte);
        zeros = if *byte == 0 { zeros + 1 } else { 0 };
    }
}

/// Returns 30 times the lowest level of the main tier that the stream fits into (tables A.8 and A.9).
fn level(settings: &EncoderSettings) -> u8 {
    // The level, samples of a frame, samples a second, and thousands of bits a second.
    const LEVELS: [(u8, u64, u64, u64); 13] = [
        (30, 36864, 552_960, 128),
        (60, 122_880, 3_686_400, 1500),
        (63, 245_760, 7_372_800, 3000),
        (90, 552_960, 16_588_800, 6000),
        (93, 983_040, 33_177_600, 10_000),
        (120, 2_228_224, 66_846_720, 12_000),
        (123, 2_228_224, 133_693_440, 20_000),
        (150, 8_912_896, 267_386_880, 25_000),
        (153, 8_912_896, 534_773_760, 40_000),
        (156, 8_912_896, 1_069_547_520, 60_000),
        (180, 35_651_584, 1_069_547_520, 60_000),
        (183, 35_651_584, 2_139_095_040, 120_000),
        (186, 35_651_584, 4_278_190_080, 240_000),
    ];
    let (width, height) = (settings.width as u64, settings.height as u64);
    let samples = width * height;
    let rate = samples * u64::from(settings.frame_rate);
    let bits = u64::from(settings.bit_rate).div_ceil(1000);
    let fits = |&&(_, most, most_rate, most_bits): &&(u8, u64, u64, u64)| {
        let sides_fit = width.max(height).pow(2) <= 8 * most;
        samples <= most && rate <= most_rate && bits <= most_bits && sides_fit
    };
    LEVELS.iter().find(fits).map_or(186, |(level, ..)| *level)
}

/// Writes the profile (main), the tier and the level.
fn profile(to: &mut Writer, settings: &EncoderSettings) {
    to.bits(1, 8);
    // Decoders of main and main 10 can decode it.
    to.bits(0x6000_0000, 32);
    // Progressive, not interlaced, not packed, frames alone; 44 reserved bits.
    to.flags(&[true, false, true, true]);
    to.bits(0, 32);
    to.bits(0, 12);
    to.bits(u32::from(level(settings)), 8);
}

/// Appends the parameter sets of a stream whose coded size is a multiple of 8.
pub(super) fn append_parameters(
    to: &mut Vec<u8>,
    settings: &EncoderSettings,
    coded: (usize, usize),
) {
    let mut vps = Writer::default();
    vps.bits(0, 4);
    vps.flags(&[true, true]);
    vps.bits(0, 6);
    vps.bits(0, 3);
    vps.bits(1, 1);
    vps.bits(0xFFFF, 16);
    profile(&mut vps, settings);
    // One frame is buffered, none reordered, and the latency has no limit.
    vps.bits(1, 1);
    vps.golombs(&[0, 0, 0]);
    vps.bits(0, 6);
    vps.golomb(0);
    // The duration of a frame.
    vps.bits(1, 1);
    vps.bits(1, 32);
    vps.bits(settings.frame_rate, 32);
    vps.bits(0, 1);
    vps.golomb(0);
    vps.bits(0, 1);
    append(to, VPS, &vps.finish());

    let mut sps = Writer::default();
    sps.bits(0, 4);
    sps.bits(0, 3);
    sps.bits(1, 1);
    profile(&mut sps, settings);
    // The identifier, and 4:2:0.
    sps.golombs(&[0, 1, coded.0 as u32, coded.1 as u32]);
    let cut = (coded.0 - settings.width, coded.1 - settings.height);
    let is_cut = cut != (0, 0);
    sps.bits(u32::from(is_cut), 1);
    if is_cut {
        // Left, right, top and bottom, in samples of chroma.
        sps.golombs(&[0, cut.0 as u32 / 2, 0, cut.1 as u32 / 2]);
    }
    // Eight bits a sample.
    sps.golombs(&[0, 0, NUMBER_BITS - 4]);
    sps.bits(1, 1);
    sps.golombs(&[0, 0, 0]);
    // Coding blocks of 8 to 32, transforms of 4 to 32, none of which is divided.
    sps.golombs(&[0, 2, 0, 3, 0, 0]);
    // No scaling lists, asymmetric partitions, sample adaptive offset or raw samples.
    sps.flags(&[false, false, false, false]);
    sps.golomb(0);
    // No long-term references, motion candidates of other frames, strong smoothing, usability information or extension.
    sps.flags(&[false, false, false, false, false]);
    append(to, SPS, &sps.finish());

    let mut pps = Writer::default();
    pps.golombs(&[0, 0]);
    // No dependent slices and no output flag; no further bits in headers; no hidden signs and no other contexts.
    pps.flags(&[false, false]);
    pps.bits(0, 3);
    pps.flags(&[false, false]);
    pps.golombs(&[0, 0]);
    pps.signed_golomb(0);
    // No constrained prediction, no skipped transforms, one quantizer for a slice.
    pps.flags(&[false, false, false]);
    pps.signed_golomb(0);
    pps.signed_golomb(0);
    // No offsets in slices, weights, bypass, tiles, parallel rows or filters across slices.
    pps.flags(&[false, false, false, false, false, false, false]);
    // The deblocking filter is off, in all slices.
    pps.flags(&[true, false, true]);
    // No scaling lists and no changed lists of references.
    pps.flags(&[false, false]);
    pps.golomb(0);
    pps.flags(&[false, false]);
    append(to, PPS, &pps.finish());
}

/// Returns the header of a frame's one slice. `number` counts from the last key frame.
pub(super) fn slice(is_key: bool, number: u32, quantizer: i32) -> Vec<u8> {
    let mut header = Writer::default();
    header.bits(1, 1);
    if is_key {
        header.bits(0, 1);
    }
    header.golomb(0);
    const INTRA: u32 = 2;
    header.golomb(INTRA);
    if !is_key {
        header.bits(number, NUMBER_BITS);
        // No frame is a reference.
        header.bits(0, 1);
        header.golombs(&[0, 0]);
    }
    header.signed_golomb(quantizer - BASE_QUANTIZER);
    header.finish()
}
