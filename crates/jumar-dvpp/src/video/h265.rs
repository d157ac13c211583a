//! H.265 by the library rust_h265.

use rust_h265::{
    Decoder, Frame as Decoded, NalUnit, NalUnitType, PixelData, parse_annex_b, parse_nal,
};

use super::bits::Bits;
use super::engine::{
    Engine, Failure, FailureKind, Headers, Limits, Parts, Shape, Shapes, Step, check_depth, reduce,
    units,
};
use super::frame::Frame;
use crate::Result;

pub(super) struct H265 {
    decoder: Decoder,
    headers: H265Headers,
}

/// What is read of a stream in front of the library.
pub(super) struct H265Headers {
    limits: Limits,
    shapes: Shapes,
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
    shape: Shape,
    reordered: usize,
}

/// An access unit delimiter: the library completes a frame when it comes.
const DELIMITER: [u8; 3] = [0x46, 0x01, 0x50];

impl H265 {
    pub(super) fn new(limits: Limits) -> H265 {
        H265 {
            // It refuses frames beyond level 6.2 itself.
            decoder: Decoder::new(),
            headers: H265Headers::new(limits),
        }
    }

    /// Feeds one unit to the library.
    fn feed(&mut self, unit: &NalUnit<'_>, step: &mut Step) -> std::result::Result<(), Failure> {
        self.headers.check(unit, step)?;
        let decoded = self.decoder.decode_nal(unit).map_err(Failure::damaged)?;
        keep(step, decoded)
    }
}

impl H265Headers {
    pub(super) fn new(limits: Limits) -> H265Headers {
        H265Headers {
            limits,
            shapes: Shapes::default(),
            sequence: None,
            refusal: None,
            needs_key: true,
            skips_leading: false,
        }
    }

    /// Returns why a packet cannot be one of the stream.
    fn begin(&self, packet: &[u8], units: &[NalUnit<'_>]) -> Option<Failure> {
        if self.sequence.is_none() && self.refusal.is_none() && is_h264(packet) {
            return Some(Failure::new(
                FailureKind::OtherCodec,
                "the packet is not H.265; its parameter sets are those of H.264",
            ));
        }
        units.is_empty().then(|| {
            Failure::new(
                FailureKind::NotCut,
                "the packet contains no start code (00 00 01) of Annex B",
            )
        })
    }

    /// Notes what a unit is, and checks it before the library sees it.
    fn check(&mut self, unit: &NalUnit<'_>, step: &mut Step) -> std::result::Result<(), Failure> {
        let kind = unit.nal_unit_type;
        if kind.is_vcl() {
            step.has_slices = true;
            step.starts_period |= kind.is_irap() && (!kind.is_cra() || self.needs_key);
        }
        if kind == NalUnitType::Sps {
            self.refusal = None;
            let checked = read_sequence(&unit.rbsp)
                .ok_or_else(|| Failure::damaged("the parameters of the sequence are damaged"))
                .and_then(|sequence| {
                    let (width, height) = sequence.shape.size;
                    self.limits.check(width as u64, height as u64)?;
                    Ok(sequence)
                });
            match checked {
                Ok(sequence) => {
                    self.shapes.note(sequence.shape);
                    self.sequence = Some(sequence);
                }
                Err(failure) => {
                    self.refusal = Some(failure.clone());
                    return Err(failure);
                }
            }
        }
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
        Ok(())
    }
}

impl Headers for H265Headers {
    fn read(&mut self, packet: &[u8]) -> (Step, Parts) {
        let mut parts = Parts::default();
        let mut step = Step {
            failure: self.begin(packet, &parse_annex_b(packet)),
            ..Step::default()
        };
        if step.failure.is_some() {
            return (step, parts);
        }
        for bytes in units(packet) {
            let of_first_layer = |unit: &NalUnit<'_>| unit.nuh_layer_id == 0;
            for unit in parse_annex_b(bytes).into_iter().filter(of_first_layer) {
                let is_slice = unit.nal_unit_type.is_vcl();
                let starts_frame = is_slice && unit.rbsp.first().is_some_and(|byte| byte >> 7 == 1);
                match self.check(&unit, &mut step) {
                    Ok(()) => parts.add(bytes, is_slice, starts_frame),
                    Err(failure) => {
                        step.failure.get_or_insert(failure);
                    }
                }
            }
        }
        (step, parts)
    }

    fn shape(&self, coded: (usize, usize)) -> Option<Shape> {
        self.shapes.find(coded)
    }

    fn reordered(&self) -> usize {
        self.sequence.map_or(0, |sequence| sequence.reordered)
    }

    fn completes_later(&self) -> bool {
        false
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
        let mut step = Step {
            failure: self.headers.begin(packet, &units),
            ..Step::default()
        };
        if step.failure.is_some() {
            return step;
        }
        // Layers beyond the first one belong to extensions.
        for unit in units.iter().filter(|unit| unit.nuh_layer_id == 0) {
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
        self.headers.reordered()
    }

    fn completes_later(&self) -> bool {
        self.headers.completes_later()
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
    let (width, height) = (bits.golomb()? as usize, bits.golomb()? as usize);
    let (mut corner, mut hidden) = ((0, 0), (0, 0));
    if bits.flag()? {
        let unit = match chroma {
            1 => (2, 2),
            2 => (2, 1),
            _ => (1, 1),
        };
        let [left, right] = [
            unit.0 * bits.golomb()? as usize,
            unit.0 * bits.golomb()? as usize,
        ];
        let [top, bottom] = [
            unit.1 * bits.golomb()? as usize,
            unit.1 * bits.golomb()? as usize,
        ];
        (corner, hidden) = ((left, top), (left + right, top + bottom));
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
        shape: Shape {
            coded: (width, height),
            corner,
            size: (width.checked_sub(hidden.0)?, height.checked_sub(hidden.1)?),
        },
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
