//! An encoder of H.265: main profile, each frame by itself.
//!
//! No library with a permissive licence encodes H.265. This encoder has no motion compensation and no filters, so that it needs several
//! times the bits of others; its streams are valid, and the mean bit rate is kept. Words in comments with underscores, tables and clauses
//! are those of the standard (ITU-T H.265).

mod cabac;
mod headers;
mod intra;
mod residual;
mod transform;
mod tree;

use super::encoder::{EncoderSettings, Packet};
use crate::planar::Samples;

/// The range of quantizers.
const QUANTIZERS: std::ops::RangeInclusive<i32> = 4..=51;
/// Over how many frames a difference from the bit rate is made up for.
const HORIZON: f64 = 8.0;
/// The frame numbers of headers have eight bits.
const NUMBERS: u32 = 256;

/// An encoder of a stream.
pub(super) struct Hevc {
    settings: EncoderSettings,
    /// The quantizer of the next frame, before it is rounded. None before the first one.
    quantizer: Option<f64>,
    /// The bits that the frames so far have taken above their share.
    excess: f64,
    /// The frames since the last key frame, with it.
    since_key: u32,
}

impl Hevc {
    /// Creates an encoder.
    pub(super) fn new(settings: &EncoderSettings) -> Hevc {
        Hevc {
            settings: *settings,
            quantizer: None,
            excess: 0.0,
            since_key: 0,
        }
    }

    /// Codes a frame. `is_key` makes it a key frame, from which the interval counts again.
    pub(super) fn encode(&mut self, planes: [&Samples; 3], is_key: bool) -> Packet {
        let is_key = is_key || self.since_key == 0 || self.since_key >= self.settings.key_interval;
        if is_key {
            self.since_key = 0;
        }
        // Blocks have eight rows and columns at least; what they have beyond the frame repeats its edge.
        let coded = (
            self.settings.width.next_multiple_of(8),
            self.settings.height.next_multiple_of(8),
        );
        let [luma, first, second] = planes;
        let halves = (coded.0 / 2, coded.1 / 2);
        let source = [
            luma.with_size(coded.0, coded.1),
            first.with_size(halves.0, halves.1),
            second.with_size(halves.0, halves.1),
        ];
        let (data, bits, used) = self.code(&source, is_key);
        self.adapt(used, bits);
        self.since_key += 1;
        let mut unit = Vec::with_capacity(data.len() + data.len() / 64 + 128);
        if is_key {
            headers::append_parameters(&mut unit, &self.settings, coded);
        }
        let kind = if is_key {
            headers::IDR
        } else {
            headers::TRAILING
        };
        headers::append(&mut unit, kind, &data);
        Packet { data: unit, is_key }
    }

    /// Codes a frame with the quantizer of rate control. Returns the slice, its bits and the quantizer.
    fn code(&self, source: &[Samples; 3], is_key: bool) -> (Vec<u8>, f64, i32) {
        let code = |quantizer: f64| {
            let used = (quantizer.round() as i32).clamp(*QUANTIZERS.start(), *QUANTIZERS.end());
            let header = headers::slice(is_key, self.since_key % NUMBERS, used);
            let (data, _decoded) = tree::code(source, header, used);
            let bits = data.len() as f64 * 8.0;
            (data, bits, used)
        };
        if let Some(quantizer) = self.quantizer {
            return code(quantizer);
        }
        // Nothing is known of the first frame: it is coded again, until its bits are near its share.
        let mut quantizer = 30.0;
        let mut found = code(quantizer);
        for _ in 0..3 {
            let step = self.step(found.1, self.share());
            if step.abs() < 1.0 {
                break;
            }
            quantizer += step;
            found = code(quantizer);
        }
        found
    }

    /// Returns the bits of a frame at the mean rate.
    fn share(&self) -> f64 {
        f64::from(self.settings.bit_rate) / f64::from(self.settings.frame_rate)
    }

    /// Returns by how much the quantizer changes so that a frame of so many bits has those that are wanted: six steps halve the size of
    /// a coefficient, and five to seven the bits.
    fn step(&self, bits: f64, wanted: f64) -> f64 {
        (6.0 * (bits / wanted).log2()).clamp(-12.0, 12.0)
    }

    /// Sets the quantizer of the next frame.
    fn adapt(&mut self, used: i32, bits: f64) {
        let share = self.share();
        self.excess = (self.excess + bits - share).clamp(-HORIZON * share, HORIZON * share);
        // A frame like this one, with its part of the excess taken away.
        let wanted = (share - self.excess / HORIZON).max(share / 4.0);
        let range = f64::from(*QUANTIZERS.start())..=f64::from(*QUANTIZERS.end());
        let next = f64::from(used) + self.step(bits, wanted);
        self.quantizer = Some(next.clamp(*range.start(), *range.end()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::video::{Codec, Decoder, Limits, Order, Profile};

    /// A plane of one of several kinds: even, steps, waves, noise and extremes.
    fn plane(width: usize, height: usize, kind: usize, random: &mut fastrand::Rng) -> Samples {
        let mut plane = Samples::filled(width, height, random.u8(..));
        let (a, b) = (random.f32() * 0.5, random.f32() * 0.5);
        for row in 0..height {
            for (column, sample) in plane.row_mut(row).iter_mut().enumerate() {
                *sample = match kind {
                    0 => continue,
                    1 => ((column / 5 + row / 9) % 2) as u8 * 180 + (column / 3) as u8 % 32,
                    2 => (128.0 + 120.0 * (column as f32 * a + row as f32 * b).sin()) as u8,
                    3 => random.u8(..),
                    _ => [0, 255][random.usize(..2)],
                };
            }
        }
        plane
    }

    /// Checks that a decoder shows exactly what the encoder has computed, for each kind, quantizer and size.
    #[test]
    fn decoders_and_the_encoder_agree_on_each_sample() {
        let mut random = fastrand::Rng::with_seed(5);
        // Each quantizer three times.
        for case in 0..144 {
            let (width, height) = (64 + 2 * random.usize(..40), 64 + 2 * random.usize(..40));
            let quantizer = 4 + case % 48;
            let settings = EncoderSettings {
                profile: Profile::H265Main,
                width,
                height,
                key_interval: 2,
                frame_rate: 25,
                bit_rate: 1_000_000,
            };
            let coded = (width.next_multiple_of(8), height.next_multiple_of(8));
            let mut decoder = Decoder::new(
                Codec::H265,
                Limits {
                    smallest: 64,
                    largest: 4096,
                },
                Order::Coding,
            );
            for number in 0..2 {
                let is_key = number == 0;
                let kind = random.usize(..5);
                let source =
                    [1, 2, 2].map(|part| plane(coded.0 / part, coded.1 / part, kind, &mut random));
                let header = headers::slice(is_key, number, quantizer);
                let (data, wanted) = tree::code(&source, header, quantizer);
                let mut packet = Vec::new();
                if is_key {
                    headers::append_parameters(&mut packet, &settings, coded);
                }
                let kind = if is_key {
                    headers::IDR
                } else {
                    headers::TRAILING
                };
                headers::append(&mut packet, kind, &data);
                let outcome = decoder.send(&packet).remove(0);
                let frame = outcome.result.unwrap_or_else(|failure| {
                    panic!("case {case}, {width}x{height}, quantizer {quantizer}: {failure}")
                });
                for (component, (found, wanted)) in frame.planes().iter().zip(&wanted).enumerate() {
                    let halves = if component == 0 { 1 } else { 2 };
                    let wanted = wanted.with_size(width / halves, height / halves);
                    assert!(
                        *found == wanted,
                        "case {case}, {width}x{height}, quantizer {quantizer}, plane {component}"
                    );
                }
            }
        }
    }
}
