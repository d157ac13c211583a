//! H.265 by the library rust_h265.

use rust_h265::{
    Decoder, Frame as Decoded, NalUnit, NalUnitType, PixelData, parse_annex_b, parse_nal,
};

use super::bits::Bits;
use super::engine::{Engine, Failure, FailureKind, Limits, Step, check_depth, reduce};
use super::frame::Frame;
use crate::Result;

pub(super) struct H265 {
    decoder: Decoder,
    limits: Limits,
    /// The latest parameters of the sequence.
    sequence: Option<Sequence>,
    /// Why the latest parameters were refused. Slices are not decoded with older ones.
    refusal: Option<Failure>,
    /// A key frame has not been seen.
    needs_key: bool,
    /// Frames that are displayed before the key frame, and refer to frames before it, cannot be decoded.
    skips_leading: bool,
}

/// What the parameters of a sequence state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sequence {
    width: u64,
    height: u64,
    reordered: usize,
}

/// An access unit delimiter: the library completes a frame when it comes.
const DELIMITER: [u8; 3] = [0x46, 0x01, 0x50];

impl H265 {
    pub(super) fn new(limits: Limits) -> H265 {
        H265 {
            // It refuses frames beyond level 6.2 itself.
            decoder: Decoder::new(),
            limits,
            sequence: None,
            refusal: None,
            needs_key: true,
            skips_leading: false,
        }
    }

    /// Feeds one unit to the library.
    fn feed(&mut self, unit: &NalUnit<'_>, step: &mut Step) -> std::result::Result<(), Failure> {
        if unit.nal_unit_type == NalUnitType::Sps {
            self.refusal = None;
            let checked = read_sequence(&unit.rbsp)
                .ok_or_else(|| Failure::damaged("the parameters of the sequence are damaged"))
                .and_then(|sequence| {
                    self.limits.check(sequence.width, sequence.height)?;
                    Ok(sequence)
                });
            match checked {
                Ok(sequence) => self.sequence = Some(sequence),
                Err(failure) => {
                    self.refusal = Some(failure.clone());
                    return Err(failure);
                }
            }
        }
        let kind = unit.nal_unit_type;
        if kind.is_vcl() {
            if let Some(refusal) = &self.refusal {
                return Err(refusal.clone());
            }
            if kind.is_irap() {
                self.skips_leading = self.needs_key && kind.is_cra();
                self.needs_key = false;
            } else if self.needs_key {
                return Err(Failure::damaged(
                    "the frame refers to others, and no key frame came before it",
                ));
            }
            if self.skips_leading && matches!(kind, NalUnitType::RaslN | NalUnitType::RaslR) {
                return Err(Failure::damaged(
                    "the frame refers to others before the key frame that the stream begins with",
                ));
            }
        }
        let decoded = self.decoder.decode_nal(unit).map_err(Failure::damaged)?;
        keep(step, decoded)
    }
}

/// Keeps the first frame of a packet. Others have no output, and are dropped.
fn keep(step: &mut Step, decoded: Option<Decoded>) -> std::result::Result<(), Failure> {
    if let Some(decoded) = decoded
        && step.own.is_none()
    {
        step.own = Some(convert(&decoded).map_err(Failure::damaged)?);
    }
    Ok(())
}

impl Engine for H265 {
    fn decode(&mut self, packet: &[u8]) -> Step {
        let units = parse_annex_b(packet);
        let mut step = Step::default();
        if self.sequence.is_none() && self.refusal.is_none() && is_h264(packet) {
            step.failure = Some(Failure::new(
                FailureKind::OtherCodec,
                "the packet is not H.265; its parameter sets are those of H.264",
            ));
            return step;
        }
        if units.is_empty() {
            step.failure = Some(Failure::new(
                FailureKind::NotCut,
                "the packet contains no start code (00 00 01) of Annex B",
            ));
            return step;
        }
        // Layers beyond the first one belong to extensions.
        for unit in units.iter().filter(|unit| unit.nuh_layer_id == 0) {
            let kind = unit.nal_unit_type;
            if kind.is_vcl() {
                step.has_slices = true;
                step.starts_period |= kind.is_irap() && (!kind.is_cra() || self.needs_key);
            }
            if let Err(failure) = self.feed(unit, &mut step) {
                step.failure.get_or_insert(failure);
            }
        }
        if step.has_slices
            && let Some(delimiter) = parse_nal(&DELIMITER)
        {
            let last = self.decoder.decode_nal(&delimiter);
            let kept = last
                .map_err(Failure::damaged)
                .and_then(|decoded| keep(&mut step, decoded));
            if let Err(failure) = kept {
                step.failure.get_or_insert(failure);
            }
        }
        step
    }

    fn end(&mut self) -> Option<Frame> {
        // Each packet's frame is complete when the packet ends.
        None
    }

    fn reordered(&self) -> usize {
        self.sequence.map_or(0, |sequence| sequence.reordered)
    }

    fn completes_later(&self) -> bool {
        false
    }
}

/// Returns whether a packet without parameters of H.265 has some of H.264.
fn is_h264(packet: &[u8]) -> bool {
    let has = |matches: &dyn Fn(u8, u8) -> bool| {
        packet
            .windows(5)
            .any(|window| window[..3] == [0, 0, 1] && matches(window[3], window[4]))
    };
    let is_parameter_set = |first: u8, second: u8| matches!(first, 0x40 | 0x42) && second == 1;
    // A sequence parameter set of H.264, and a profile that exists.
    let is_sequence = |first: u8, second: u8| {
        matches!(first, 0x27 | 0x47 | 0x67)
            && matches!(
                second,
                44 | 66 | 77 | 83 | 86 | 88 | 100 | 110 | 118 | 122 | 128 | 244
            )
    };
    has(&is_sequence) && !has(&is_parameter_set)
}

/// Reads the parameters of a sequence, as far as its size and order need them.
fn read_sequence(bytes: &[u8]) -> Option<Sequence> {
    let mut bits = Bits::new(bytes);
    bits.skip(4);
    let layers = bits.number(3)? as usize;
    bits.skip(1);
    skip_profile(&mut bits, layers)?;
    bits.golomb()?;
    let chroma = bits.golomb()?;
    if chroma == 3 {
        bits.skip(1);
    }
    let (width, height) = (u64::from(bits.golomb()?), u64::from(bits.golomb()?));
    let (mut hidden_width, mut hidden_height) = (0, 0);
    if bits.flag()? {
        let unit = match chroma {
            1 => (2, 2),
            2 => (2, 1),
            _ => (1, 1),
        };
        hidden_width = unit.0 * (u64::from(bits.golomb()?) + u64::from(bits.golomb()?));
        hidden_height = unit.1 * (u64::from(bits.golomb()?) + u64::from(bits.golomb()?));
    }
    for _depth_of_luma_and_chroma_and_bits_of_the_order in 0..3 {
        bits.golomb()?;
    }
    let is_for_each_layer = bits.flag()?;
    let mut reordered = 0;
    for _ in 0..=(if is_for_each_layer { layers } else { 0 }) {
        bits.golomb()?;
        // The last one is that of the whole stream.
        reordered = bits.golomb()?;
        bits.golomb()?;
    }
    Some(Sequence {
        width: width.checked_sub(hidden_width)?,
        height: height.checked_sub(hidden_height)?,
        reordered: reordered.min(16) as usize,
    })
}

/// Skips profile, tier and level of a stream and of its temporal layers.
fn skip_profile(bits: &mut Bits<'_>, layers: usize) -> Option<()> {
    const PROFILE: usize = 88;
    const LEVEL: usize = 8;
    bits.skip(PROFILE + LEVEL);
    let mut present = Vec::new();
    for _ in 0..layers {
        present.push((bits.flag()?, bits.flag()?));
    }
    if layers > 0 {
        bits.skip(2 * (8 - layers));
    }
    for (has_profile, has_level) in present {
        bits.skip(usize::from(has_profile) * PROFILE + usize::from(has_level) * LEVEL);
    }
    Some(())
}

/// Converts a frame of the library.
fn convert(decoded: &Decoded) -> Result<Frame> {
    check_depth(decoded.bit_depth)?;
    let plane = |samples: &PixelData| match samples {
        PixelData::U8(samples) => samples.clone(),
        PixelData::U16(samples) => samples
            .iter()
            .map(|sample| reduce(*sample, decoded.bit_depth))
            .collect(),
    };
    let halves = decoded.chroma_format_idc == 1;
    Frame::new(
        (decoded.width as usize, decoded.height as usize),
        (halves, halves),
        [&decoded.y, &decoded.u, &decoded.v].map(plane),
        decoded.pic_order_cnt,
    )
}
