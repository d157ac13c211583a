//! H.264 by the library rust_h264.

use rust_h264::decoder::{ChromaFormat, Decoder, Frame as Decoded};
use rust_h264::nal::{self, NalUnit, NalUnitType, SpsInfo};

use super::bits::Bits;
use super::engine::{
    Engine, Failure, FailureKind, Headers, Limits, Parts, Shape, Shapes, Step, check_depth,
    check_plane, reduce, units,
};
use super::frame::Frame;
use crate::Result;

pub(super) struct H264 {
    decoder: Decoder,
    headers: H264Headers,
    /// The rows of the frame that a slice has begun last.
    begun: usize,
}

/// What is read of a stream in front of the library.
pub(super) struct H264Headers {
    limits: Limits,
    shapes: Shapes,
    /// The latest parameters of the sequence.
    sequence: Option<Sequence>,
    /// Why the latest parameters were refused. Slices are not decoded with older ones.
    refusal: Option<Failure>,
    /// A key frame has not been seen.
    needs_key: bool,
}

#[derive(Clone, Copy)]
struct Sequence {
    reordered: usize,
    /// Frames may be coded as two fields, each in a packet of its own.
    has_fields: bool,
    /// The rows of a frame.
    height: usize,
}

impl H264 {
    pub(super) fn new(limits: Limits) -> H264 {
        H264 {
            decoder: Decoder::new(),
            headers: H264Headers::new(limits),
            begun: 0,
        }
    }
}

impl H264Headers {
    pub(super) fn new(limits: Limits) -> H264Headers {
        H264Headers {
            limits,
            shapes: Shapes::default(),
            sequence: None,
            refusal: None,
            needs_key: true,
        }
    }

    /// Reads the parameters of a sequence, and refuses what exceeds the limits before the library sees it.
    fn note_sequence(&mut self, unit: &NalUnit<'_>) -> std::result::Result<(), Failure> {
        let info = nal::parse_sps_info(unit).map_err(Failure::damaged)?;
        self.limits.check(info.width.into(), info.height.into())?;
        // Coded sizes are multiples of 16, or of 32 with fields.
        let largest = self.limits.largest as u64 + 31;
        if u64::from(info.coded_width) > largest || u64::from(info.coded_height) > largest {
            self.limits
                .check(info.coded_width.into(), info.coded_height.into())?;
        }
        if let Some(corner) = corner(&unit.rbsp) {
            self.shapes.note(Shape {
                coded: (info.coded_width as usize, info.coded_height as usize),
                corner,
                size: (info.width as usize, info.height as usize),
            });
        }
        self.sequence = Some(Sequence {
            reordered: reordered(&info, unit.rbsp.get(2).copied().unwrap_or(0)),
            has_fields: !info.progressive,
            height: info.height as usize,
        });
        Ok(())
    }
}

/// Returns the most frames that are displayed before one that is coded earlier.
fn reordered(info: &SpsInfo, level: u8) -> usize {
    // The baseline profile has no B slices.
    if info.profile == 66 {
        return 0;
    }
    // Table A-1 of the standard: the macroblocks that the buffer of decoded frames has.
    let macroblocks: u32 = match level {
        0..=10 => 396,
        11 => 900,
        12..=20 => 2376,
        21 => 4752,
        22..=30 => 8100,
        31 => 18000,
        32 => 20480,
        33..=41 => 32768,
        42 => 34816,
        43..=50 => 110_400,
        51..=52 => 184_320,
        _ => 696_320,
    };
    let of_frame = (info.coded_width / 16 * (info.coded_height / 16)).max(1);
    let most = (macroblocks / of_frame).clamp(1, 16);
    info.max_reorder_frames.unwrap_or(most).min(16) as usize
}

/// Returns how many columns and rows of a sequence's frames are left out on the left and at the top.
fn corner(bytes: &[u8]) -> Option<(usize, usize)> {
    /// The profiles that state the resolution of chroma.
    const HIGH: [u32; 12] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134];
    let mut bits = Bits::new(bytes);
    let profile = bits.number(8)?;
    // Constraints and the level.
    bits.skip(16);
    bits.golomb()?;
    let mut chroma = 1;
    if HIGH.contains(&profile) {
        chroma = bits.golomb()?;
        bits.skip(usize::from(chroma == 3));
        bits.golomb()?;
        bits.golomb()?;
        bits.skip(1);
        if bits.flag()? {
            for list in 0..if chroma == 3 { 12 } else { 8 } {
                if bits.flag()? {
                    skip_scaling(&mut bits, if list < 6 { 16 } else { 64 })?;
                }
            }
        }
    }
    bits.golomb()?;
    match bits.golomb()? {
        0 => {
            bits.golomb()?;
        }
        1 => {
            bits.skip(1);
            bits.golomb()?;
            bits.golomb()?;
            for _ in 0..bits.golomb()? {
                bits.golomb()?;
            }
        }
        _ => {}
    }
    // Reference frames, gaps in their numbers, width and height.
    bits.golomb()?;
    bits.skip(1);
    bits.golomb()?;
    bits.golomb()?;
    let is_progressive = bits.flag()?;
    bits.skip(usize::from(!is_progressive) + 1);
    if !bits.flag()? {
        return Some((0, 0));
    }
    let left = bits.golomb()? as usize;
    bits.golomb()?;
    let top = bits.golomb()? as usize;
    let columns = if matches!(chroma, 1 | 2) { 2 } else { 1 };
    let rows = if chroma == 1 { 2 } else { 1 } * if is_progressive { 1 } else { 2 };
    Some((left.checked_mul(columns)?, top.checked_mul(rows)?))
}

/// Skips a list of scaling factors: differences, until a factor is 0.
fn skip_scaling(bits: &mut Bits<'_>, count: usize) -> Option<()> {
    let mut factor = 8_i64;
    for _ in 0..count {
        let code = i64::from(bits.golomb()?);
        let difference = if code % 2 == 1 {
            code / 2 + 1
        } else {
            -(code / 2)
        };
        factor = (factor + difference).rem_euclid(256);
        if factor == 0 {
            break;
        }
    }
    Some(())
}

impl Headers for H264Headers {
    fn read(&mut self, packet: &[u8]) -> (Step, Parts) {
        let all = nal::parse_annex_b(packet);
        let mut parts = Parts::default();
        let mut step = self.begin(packet, &all);
        if step.failure.is_some() {
            return (step, parts);
        }
        for bytes in units(packet) {
            for unit in nal::parse_annex_b(bytes) {
                match self.check(&unit, &all) {
                    Ok(()) => parts.add(bytes, is_slice(&unit), starts_frame(&unit)),
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
        self.sequence.is_some_and(|sequence| sequence.has_fields)
    }
}

impl H264Headers {
    /// Returns what a packet is, before its units are checked.
    fn begin(&self, packet: &[u8], units: &[NalUnit<'_>]) -> Step {
        let mut step = Step::default();
        if units.is_empty() {
            step.failure = Some(Failure::new(
                FailureKind::NotCut,
                "the packet contains no start code (00 00 01) of Annex B",
            ));
            return step;
        }
        if self.sequence.is_none() && self.refusal.is_none() && is_h265(units, packet) {
            step.failure = Some(Failure::new(
                FailureKind::OtherCodec,
                "the packet is not H.264; its parameter sets are those of H.265",
            ));
            return step;
        }
        for unit in units.iter().filter(|unit| is_slice(unit)) {
            step.has_slices = true;
            step.starts_period |= unit.nal_unit_type == NalUnitType::SliceIdr;
        }
        step
    }

    /// Checks a unit before the library sees it.
    fn check(
        &mut self,
        unit: &NalUnit<'_>,
        units: &[NalUnit<'_>],
    ) -> std::result::Result<(), Failure> {
        match unit.nal_unit_type {
            NalUnitType::Sps => {
                self.refusal = None;
                if let Err(failure) = self.note_sequence(unit) {
                    self.refusal = Some(failure.clone());
                    return Err(failure);
                }
            }
            NalUnitType::SliceDataA | NalUnitType::SliceDataB | NalUnitType::SliceDataC => {
                return Err(Failure::damaged(
                    "the stream uses data partitioning, which is not supported",
                ));
            }
            _ if is_slice(unit) => {
                if let Some(refusal) = &self.refusal {
                    return Err(refusal.clone());
                }
                // Frames that follow a key frame in the same packet may refer to it.
                let is_idr = unit.nal_unit_type == NalUnitType::SliceIdr;
                if self.needs_key && !is_idr && !is_key(units) {
                    return Err(Failure::damaged(
                        "the frame refers to others, and no key frame came before it",
                    ));
                }
                self.needs_key = false;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Engine for H264 {
    fn decode(&mut self, packet: &[u8]) -> Step {
        let units = nal::parse_annex_b(packet);
        let mut step = self.headers.begin(packet, &units);
        if step.failure.is_some() {
            return step;
        }
        for unit in &units {
            if let Err(failure) = self.feed(unit, &units, &mut step) {
                step.failure.get_or_insert(failure);
            }
        }
        if step.has_slices && !self.completes_later() {
            let last = self.decoder.flush();
            keep(&mut step, last, self.begun);
        }
        step
    }

    fn end(&mut self) -> Option<Frame> {
        let decoded = self.decoder.flush()?;
        convert(decoded, self.begun).ok()
    }

    fn reordered(&self) -> usize {
        self.headers.reordered()
    }

    fn completes_later(&self) -> bool {
        self.headers.completes_later()
    }
}

impl H264 {
    /// Feeds one unit to the library.
    fn feed(
        &mut self,
        unit: &NalUnit<'_>,
        units: &[NalUnit<'_>],
        step: &mut Step,
    ) -> std::result::Result<(), Failure> {
        self.headers.check(unit, units)?;
        let earlier = self.begun;
        if let (true, Some(sequence)) = (starts_frame(unit), &self.headers.sequence) {
            self.begun = sequence.height;
        }
        match self.decoder.decode_nal(unit) {
            // The first slice of a packet completes the frame of an earlier one.
            Ok(Some(decoded)) if self.completes_later() && starts_frame(unit) => {
                match convert(decoded, earlier) {
                    Ok(frame) => step.earlier = Some(frame),
                    Err(error) => return Err(Failure::damaged(error)),
                }
            }
            Ok(decoded) => keep(step, decoded, self.begun),
            Err(error) => return Err(Failure::damaged(error)),
        }
        Ok(())
    }
}

/// Returns whether a unit is the first slice of a frame or field.
fn starts_frame(unit: &NalUnit<'_>) -> bool {
    is_slice(unit) && Bits::new(&unit.rbsp).golomb() == Some(0)
}

/// Keeps the first frame of a packet. Others have no output, and are dropped.
fn keep(step: &mut Step, decoded: Option<Decoded>, height: usize) {
    let Some(decoded) = decoded else { return };
    if step.own.is_some() {
        return;
    }
    match convert(decoded, height) {
        Ok(frame) => step.own = Some(frame),
        Err(error) => {
            step.failure.get_or_insert(Failure::damaged(error));
        }
    }
}

fn is_slice(unit: &NalUnit<'_>) -> bool {
    matches!(
        unit.nal_unit_type,
        NalUnitType::Slice | NalUnitType::SliceIdr
    )
}

/// Returns whether decoding can begin with a packet: it has an IDR frame, intra slices alone, or a recovery point.
fn is_key(units: &[NalUnit<'_>]) -> bool {
    let is_intra = |unit: &NalUnit<'_>| {
        let mut bits = Bits::new(&unit.rbsp);
        let kind = bits.golomb().and_then(|_first| bits.golomb());
        // 2 and 7 are I; the larger number states the same of all slices of the frame.
        unit.nal_unit_type == NalUnitType::SliceIdr || matches!(kind, Some(2 | 7))
    };
    let recovers = |unit: &NalUnit<'_>| {
        unit.nal_unit_type == NalUnitType::Sei && unit.rbsp.first() == Some(&6)
    };
    units.iter().any(recovers) || units.iter().filter(|unit| is_slice(unit)).all(is_intra)
}

/// Returns whether a packet without parameters of H.264 has some of H.265.
fn is_h265(units: &[NalUnit<'_>], packet: &[u8]) -> bool {
    units
        .iter()
        .all(|unit| unit.nal_unit_type != NalUnitType::Sps)
        && [0x40, 0x42, 0x44].iter().any(|first| {
            let start = [0, 0, 1, *first, 1];
            packet.windows(5).any(|window| window == start)
        })
}

/// Converts a frame of the library, of a sequence whose frames have `rows`. A field whose second one is missing stands for both.
fn convert(decoded: Decoded, rows: usize) -> Result<Frame> {
    let (width, height) = (decoded.width as usize, decoded.height as usize);
    let is_field = rows > 0 && height * 2 == rows;
    let halves = (true, decoded.chroma_format == ChromaFormat::Yuv420);
    let planes = match decoded.bit_depth {
        8 => [decoded.y, decoded.u, decoded.v],
        depth => {
            check_depth(depth)?;
            [decoded.y, decoded.u, decoded.v].map(|plane| {
                let samples = plane.as_chunks::<2>().0.iter();
                samples
                    .map(|bytes| reduce(u16::from_le_bytes(*bytes), depth))
                    .collect()
            })
        }
    };
    check_plane(planes[0].len(), width, height)?;
    if is_field {
        let widths = [width, width.div_ceil(2), width.div_ceil(2)];
        let mut doubled = planes.iter().zip(widths).map(|(plane, width)| {
            let rows = plane.chunks_exact(width.max(1));
            rows.flat_map(|row| [row, row]).flatten().copied().collect()
        });
        let planes = std::array::from_fn(|_| doubled.next().unwrap_or_default());
        return Frame::new((width, rows), halves, planes, decoded.pic_order_cnt);
    }
    Frame::new((width, height), halves, planes, decoded.pic_order_cnt)
}
