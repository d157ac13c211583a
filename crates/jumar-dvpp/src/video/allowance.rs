//! What the library that codes H.264 may spend, so that the stream keeps its mean bit rate.
//!
//! Rate control of the library grants a key frame four times the bits of a mean frame, and lets the frames behind it make up for that. Where
//! few frames or none follow, the stream has up to four times its bit rate. So the library gets a part of the bit rate,
//! which is adapted to what its frames have taken.

use super::encoder::EncoderSettings;
use super::openh264::{LARGEST_QUANTIZER, LEAST_QUANTIZER};

/// The share of a key frame, in those of mean frames.
const KEY_SHARES: f64 = 4.0;
/// Over how many frames a difference from the bit rate is made up for.
const HORIZON: f64 = 16.0;
/// The fewest frames that a period is judged by.
const PERIOD: f64 = 4.0;
/// From so many frames on, those behind a key frame make up for it.
const LONG_INTERVAL: u32 = 8;
/// How much of a difference the part makes up for at once: the bits of noise change by more than the part.
const DAMPING: f64 = 0.6;
/// The least part of the bit rate that the library gets.
const LEAST: f64 = 1.0 / 16.0;

/// The part of the bit rate that the library gets.
pub(super) struct Allowance {
    bit_rate: f64,
    /// The bits of a frame at the mean rate.
    share: f64,
    part: f64,
    /// The smallest quantizer that the library may use: what limits it where even the least part does not.
    quantizer: f64,
    /// The bits and the frames since the part was set.
    spent: f64,
    frames: f64,
    /// The bits above their share that the frames before took.
    excess: f64,
}

impl Allowance {
    pub(super) fn new(settings: &EncoderSettings) -> Allowance {
        let interval = f64::from(settings.key_interval);
        let bit_rate = f64::from(settings.bit_rate);
        Allowance {
            bit_rate,
            share: bit_rate / f64::from(settings.frame_rate),
            part: match settings.key_interval < LONG_INTERVAL {
                true => interval / (KEY_SHARES + interval - 1.0),
                false => 1.0,
            },
            quantizer: f64::from(LEAST_QUANTIZER),
            spent: 0.0,
            frames: 0.0,
            excess: 0.0,
        }
    }

    /// Returns the settings with the bits a second that the library gets.
    pub(super) fn apply(&self, settings: &EncoderSettings) -> EncoderSettings {
        EncoderSettings {
            bit_rate: (self.bit_rate * self.part).max(1.0) as u32,
            ..*settings
        }
    }

    /// Returns the smallest quantizer that the library may use.
    pub(super) fn quantizer(&self) -> u8 {
        self.quantizer.round() as u8
    }

    /// Counts a coded frame.
    pub(super) fn spend(&mut self, bytes: usize) {
        self.spent += bytes as f64 * 8.0;
        self.frames += 1.0;
    }

    /// Adapts the part in front of a key frame, from which the library begins to count again. Returns whether it has changed.
    pub(super) fn adapt(&mut self) -> bool {
        if self.frames < PERIOD {
            return false;
        }
        let most = HORIZON * self.share;
        self.excess = (self.excess + self.spent - self.frames * self.share).clamp(-most, most);
        let wanted = (self.share - self.excess / HORIZON).max(self.share / 2.0);
        let before = (self.part, self.quantizer());
        let factor = wanted * self.frames / self.spent.max(1.0);
        let quantizers = f64::from(LEAST_QUANTIZER)..=f64::from(LARGEST_QUANTIZER);
        // Six steps halve the size of a coefficient, and about that the bits.
        let quantizer = self.quantizer - 6.0 * factor.log2();
        match factor < 1.0 && self.part <= LEAST || self.quantizer > *quantizers.start() {
            true => self.quantizer = quantizer.clamp(*quantizers.start(), *quantizers.end()),
            // A simple scene takes less than it may, and no part makes it take more.
            false => self.part = (self.part * factor.powf(DAMPING)).clamp(LEAST, 1.0),
        }
        (self.spent, self.frames) = (0.0, 0.0);
        (self.part, self.quantizer()) != before
    }
}
