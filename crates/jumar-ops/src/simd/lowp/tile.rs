//! One tile of a product of narrow numbers: the version for every processor, and the choice between versions.

use crate::simd::Level;
use crate::simd::wide::{Work, wide_at};
use crate::view::BF16;

#[cfg(target_arch = "x86_64")]
use super::matrix::{Job, Lefts, Unit, step_pairs, step_quads};
use super::{LANES, to_bf16};

/// Numbers that are multiplied in groups of 32 bits: two of bfloat16, or four bytes.
///
/// A processor's instruction takes sixteen groups at once. The order of weights in memory, step by step sixteen groups
/// for each block, is also the one that matrix units (AMX) load.
pub(super) trait Dots: Copy + Sized + Sync + 'static {
    /// What products are added up in.
    type Sum: Copy + Default;
    /// Where sums go.
    type Out: Out<Sum = Self::Sum>;

    /// Adds the products of one group to a sum.
    fn dot<const FUSED: bool>(sum: Self::Sum, value: u32, weights: u32) -> Self::Sum;

    /// Returns whether the processor has an instruction for it.
    fn native() -> bool;

    /// Computes a tile by that instruction.
    ///
    /// # Safety
    ///
    /// As [`run`]; the processor has the instruction.
    unsafe fn tile(tile: &Tile<Self>, pixels: usize, count: usize, reach: Reach);

    /// Returns whether the processor has a matrix unit for it that this process may use.
    fn unit() -> bool;

    /// Multiplies and adds by the matrix unit.
    ///
    /// # Safety
    ///
    /// The unit is configured, and all that its registers are to hold lies there.
    #[cfg(target_arch = "x86_64")]
    unsafe fn step(lefts: &Lefts, right: *const u32, count: usize);

    /// Writes pixels of one block, as [`Out::finish`], by vector instructions.
    ///
    /// # Safety
    ///
    /// As [`run`]; the processor has the instruction for dot products; `sums` points to those of each pixel.
    #[cfg(target_arch = "x86_64")]
    unsafe fn store(out: &Self::Out, pixels: usize, block: usize, sums: *const [Self::Sum; LANES]);
}

/// Where sums go, and what happens to them on the way.
pub(super) trait Out: Copy {
    type Sum;

    /// Describes what lies `pixels` further.
    fn ahead(&self, pixels: usize) -> Self;

    /// Writes one pixel of one block.
    ///
    /// # Safety
    ///
    /// As [`run`].
    unsafe fn finish(&self, pixel: usize, block: usize, sums: [Self::Sum; LANES]);
}

/// Where a tile finds its operands. Distances are in groups of 32 bits.
#[derive(Clone, Copy)]
pub(super) struct Tile<D: Dots> {
    /// Column 0 of the row under the first tap, in the first block of input.
    pub x: *const u32,
    pub blocks: usize,
    pub plane: usize,
    /// Rows of taps, all inside the image, and how far their image rows lie apart.
    pub rows: usize,
    pub row: usize,
    /// Taps across, and how many columns they lie apart.
    pub taps: usize,
    pub tap: usize,
    /// The column that pixel 0 sees through the first tap; columns from one pixel to the next; columns of the image.
    pub column: isize,
    pub stride: usize,
    pub width: usize,
    /// Groups from one column to the next, and groups of a column that count.
    pub lane: usize,
    pub depth: usize,
    /// What is seen beside the image: `depth` groups.
    pub outside: *const u32,
    pub filter: *const u32,
    pub filter_row: usize,
    pub filter_block: usize,
    pub out: D::Out,
}

impl<D: Dots> Tile<D> {
    /// Describes the tile that starts at pixel `x` of the row.
    pub fn at(&self, x: usize, column: isize) -> Tile<D> {
        Tile {
            column,
            out: self.out.ahead(x),
            ..*self
        }
    }

    /// Finds what a pixel sees through a tap.
    #[inline(always)]
    pub fn seen(&self, line: *const u32, tap: usize, pixel: usize) -> *const u32 {
        let column = self.column + (tap * self.tap + pixel * self.stride) as isize;
        if (column as usize) < self.width {
            line.wrapping_offset(column * self.lane as isize)
        } else {
            self.outside
        }
    }
}

/// What is known of where the pixels of a tile look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Some may look beside the image; seven pixels at most.
    Checked,
    /// All look into the image; eight pixels at most.
    Regular,
    /// Fourteen pixels, all look into the image, and lie side by side in blocks of sixteen channels of bfloat16.
    Near,
}

/// How tiles are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// By the processor's instruction for dot products.
    Native,
    /// By the processor's matrix unit.
    Matrix,
    /// By what the compiler makes of a loop, at a level of instructions.
    Plain(Level),
}

impl Engine {
    pub fn best<D: Dots>() -> Engine {
        Engine::among::<D>(D::unit())
    }

    /// Names it; `instruction` is the native one.
    pub fn name(self, instruction: &'static str) -> &'static str {
        match self {
            Engine::Matrix => "amx",
            Engine::Native => instruction,
            #[cfg(target_arch = "x86_64")]
            Engine::Plain(Level::Avx512) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Engine::Plain(Level::Avx2) => "avx2",
            Engine::Plain(Level::Portable) => "plain",
        }
    }

    /// Returns the best engine with a matrix unit that may be used, or without.
    pub fn among<D: Dots>(unit: bool) -> Engine {
        if unit {
            Engine::Matrix
        } else if D::native() {
            Engine::Native
        } else {
            Engine::Plain(Level::best())
        }
    }
}

/// Groups of 32 bits of a row of a register of a matrix unit.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no such unit"))]
pub(super) const DEPTH: usize = 16;

/// Groups that follow each other in the image and in the filter, cut into pieces that a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no such unit"))]
pub(super) struct Phase {
    pub first: usize,
    pub depth: usize,
    pub pieces: usize,
}

/// Cuts `run` groups into pieces: all alike where that takes no more of them, else a last one by itself.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no such unit"))]
pub(super) fn phases(run: usize) -> [Phase; 2] {
    let pieces = run.div_ceil(DEPTH);
    let phase = |first, depth, pieces| Phase {
        first,
        depth,
        pieces,
    };
    if pieces == 0 || run.is_multiple_of(pieces) {
        return [phase(0, run / pieces.max(1), pieces), phase(run, 0, 0)];
    }
    let full = run / DEPTH;
    [phase(0, DEPTH, full), phase(full * DEPTH, run % DEPTH, 1)]
}

/// Computes a tile of `count` blocks (1 or 2) of output.
///
/// # Safety
///
/// Operands cover all that the tile describes; pixels look where `reach` says.
pub(super) unsafe fn run<D: Dots>(
    engine: Engine,
    tile: &Tile<D>,
    pixels: usize,
    count: usize,
    reach: Reach,
) {
    match engine {
        // SAFETY: the engine is chosen where the processor has the instruction; the rest is the caller's word.
        Engine::Native => unsafe { D::tile(tile, pixels, count, reach) },
        // SAFETY: as above. Fourteen pixels at most are a job.
        #[cfg(target_arch = "x86_64")]
        Engine::Matrix => unsafe {
            let tile = *tile;
            Unit::new().run(&[Job { tile, pixels }], count);
        },
        #[cfg(not(target_arch = "x86_64"))]
        Engine::Matrix => unreachable!("no such unit"),
        Engine::Plain(level) => wide_at(
            level,
            Plain {
                tile,
                pixels,
                count,
            },
        ),
    }
}

/// A tile whose operands the caller guarantees; see [`run`].
struct Plain<'a, D: Dots> {
    tile: &'a Tile<D>,
    pixels: usize,
    count: usize,
}

impl<D: Dots> Work for Plain<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for block in 0..self.count {
            let mut pixel = 0;
            while pixel < self.pixels {
                // SAFETY: the word of `run`'s caller.
                pixel += unsafe {
                    match self.pixels - pixel {
                        4.. => piece::<D, FUSED, 4>(self.tile, block, self.count, pixel),
                        2.. => piece::<D, FUSED, 2>(self.tile, block, self.count, pixel),
                        _ => piece::<D, FUSED, 1>(self.tile, block, self.count, pixel),
                    }
                };
            }
        }
    }
}

/// Computes PIXELS pixels of one block. Returns PIXELS.
///
/// # Safety
///
/// As [`run`].
#[inline(always)]
unsafe fn piece<D: Dots, const FUSED: bool, const PIXELS: usize>(
    tile: &Tile<D>,
    block: usize,
    count: usize,
    from: usize,
) -> usize {
    let mut sums = [[D::Sum::default(); LANES]; PIXELS];
    for input in 0..tile.blocks {
        for row in 0..tile.rows {
            let line = tile.x.wrapping_add(input * tile.plane + row * tile.row);
            let mut filter = tile
                .filter
                .wrapping_add(input * tile.filter_block + row * tile.filter_row + block * LANES);
            for tap in 0..tile.taps {
                let mut seen = [line; PIXELS];
                for (pixel, seen) in seen.iter_mut().enumerate() {
                    *seen = tile.seen(line, tap, from + pixel);
                }
                for step in 0..tile.depth {
                    // SAFETY: the weights of this step, by the caller's word.
                    let weights = unsafe { filter.cast::<[u32; LANES]>().read_unaligned() };
                    for (sums, seen) in sums.iter_mut().zip(seen) {
                        // SAFETY: a pixel of the image under this tap, or what lies beside it.
                        let value = unsafe { seen.wrapping_add(step).read_unaligned() };
                        for lane in 0..LANES {
                            sums[lane] = D::dot::<FUSED>(sums[lane], value, weights[lane]);
                        }
                    }
                    filter = filter.wrapping_add(count * LANES);
                }
            }
        }
    }
    for (pixel, sums) in sums.into_iter().enumerate() {
        // SAFETY: the caller's word.
        unsafe { tile.out.finish(from + pixel, block, sums) };
    }
    PIXELS
}

/// Pairs of bfloat16, summed in float32.
#[derive(Clone, Copy)]
pub(super) struct Pairs;

impl Dots for Pairs {
    type Sum = f32;
    type Out = Floats;

    /// The second product is added first, each sum is rounded, as `vdpbf16ps` does it. A product of two numbers of eight
    /// bits is exact in float32, so that it does not matter whether it is rounded by itself.
    #[inline(always)]
    fn dot<const FUSED: bool>(sum: f32, value: u32, weights: u32) -> f32 {
        let high = |pair: u32| f32::from_bits(pair & 0xffff_0000);
        let low = |pair: u32| f32::from_bits(pair << 16);
        if FUSED {
            low(value).mul_add(low(weights), high(value).mul_add(high(weights), sum))
        } else {
            (sum + high(value) * high(weights)) + low(value) * low(weights)
        }
    }

    fn native() -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            Level::best() == Level::Avx512 && is_x86_feature_detected!("avx512bf16")
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            false
        }
    }

    unsafe fn tile(tile: &Tile<Pairs>, pixels: usize, count: usize, reach: Reach) {
        // SAFETY: the caller's word.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            super::x86::pairs(tile, pixels, count, reach);
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!(
            "no instruction for {pixels} x {count} {reach:?} at {:?}",
            tile.x
        );
    }

    fn unit() -> bool {
        crate::simd::unit::allowed().bfloat16 && Self::native()
    }

    #[cfg(target_arch = "x86_64")]
    unsafe fn step(lefts: &Lefts, right: *const u32, count: usize) {
        // SAFETY: the caller's word.
        unsafe { step_pairs(lefts, right, count) };
    }

    #[cfg(target_arch = "x86_64")]
    unsafe fn store(out: &Floats, pixels: usize, block: usize, sums: *const [f32; LANES]) {
        // SAFETY: the caller's word.
        unsafe { super::x86::store_pairs(out, pixels, block, sums) };
    }
}

/// Where sums in float32 go.
#[derive(Clone, Copy)]
pub(super) struct Floats {
    /// The output: in bfloat16 where `to_bf16`, else in float32.
    pub to: *mut u8,
    pub bf16: bool,
    /// Numbers from one pixel to the next, and from one block to the next.
    pub pixel: usize,
    pub plane: usize,
    /// Channels of all blocks that count.
    pub lanes: usize,
    /// Null, or a number for each channel.
    pub bias: *const f32,
    /// Null, or laid out as the output.
    pub residual: *const f32,
    pub clamp: Option<(f32, f32)>,
}

impl Floats {
    /// Counts the channels of a block.
    #[inline(always)]
    pub fn lanes(&self, block: usize) -> usize {
        self.lanes.saturating_sub(block * LANES).min(LANES)
    }

    /// Bytes of a number of the output.
    #[inline(always)]
    pub fn size(&self) -> usize {
        if self.bf16 { 2 } else { 4 }
    }
}

impl Out for Floats {
    type Sum = f32;

    fn ahead(&self, pixels: usize) -> Floats {
        let by = pixels * self.pixel;
        Floats {
            to: self.to.wrapping_add(by * self.size()),
            residual: if self.residual.is_null() {
                self.residual
            } else {
                self.residual.wrapping_add(by)
            },
            ..*self
        }
    }

    #[inline(always)]
    unsafe fn finish(&self, pixel: usize, block: usize, sums: [f32; LANES]) {
        let at = pixel * self.pixel + block * self.plane;
        for (lane, &sum) in sums.iter().enumerate().take(self.lanes(block)) {
            let mut value = sum;
            // SAFETY: each pointer is null, or covers the channel, by the caller's word.
            unsafe {
                if !self.bias.is_null() {
                    value += self.bias.add(block * LANES + lane).read_unaligned();
                }
                if !self.residual.is_null() {
                    value += self.residual.add(at + lane).read_unaligned();
                }
            }
            if let Some((low, high)) = self.clamp {
                value = if value < low { low } else { value };
                value = if value > high { high } else { value };
            }
            // SAFETY: the output covers the channel, by the caller's word.
            unsafe {
                let to = self.to.add((at + lane) * self.size());
                if self.bf16 {
                    to.cast::<BF16>().write_unaligned(to_bf16(value));
                } else {
                    to.cast::<f32>().write_unaligned(value);
                }
            }
        }
    }
}

/// Groups of four: bytes without sign times bytes with one, summed in 32 bits.
#[derive(Clone, Copy)]
pub(super) struct Quads;

impl Dots for Quads {
    type Sum = i32;
    type Out = Int32Sums;

    #[inline(always)]
    fn dot<const FUSED: bool>(sum: i32, value: u32, weights: u32) -> i32 {
        let mut sum = sum;
        for byte in 0..4 {
            let value = (value >> (8 * byte) & 0xff) as i32;
            let weight = i32::from((weights >> (8 * byte)) as u8 as i8);
            sum = sum.wrapping_add(value * weight);
        }
        sum
    }

    fn native() -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            Level::best() == Level::Avx512 && is_x86_feature_detected!("avx512vnni")
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            false
        }
    }

    unsafe fn tile(tile: &Tile<Quads>, pixels: usize, count: usize, reach: Reach) {
        // SAFETY: the caller's word.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            super::x86::quads(tile, pixels, count, reach);
        }
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!(
            "no instruction for {pixels} x {count} {reach:?} at {:?}",
            tile.x
        );
    }

    fn unit() -> bool {
        crate::simd::unit::allowed().bytes && Self::native()
    }

    #[cfg(target_arch = "x86_64")]
    unsafe fn step(lefts: &Lefts, right: *const u32, count: usize) {
        // SAFETY: the caller's word.
        unsafe { step_quads(lefts, right, count) };
    }

    #[cfg(target_arch = "x86_64")]
    unsafe fn store(out: &Int32Sums, pixels: usize, block: usize, sums: *const [i32; LANES]) {
        // SAFETY: the caller's word.
        unsafe { super::x86::store_quads(out, pixels, block, sums) };
    }
}

/// Where whole sums go.
#[derive(Clone, Copy)]
pub(super) struct Int32Sums {
    pub to: *mut i32,
    /// Numbers from one pixel to the next; blocks lie side by side.
    pub pixel: usize,
    /// Channels of all blocks that count.
    pub lanes: usize,
}

impl Int32Sums {
    /// Counts the channels of a block.
    #[inline(always)]
    pub fn lanes(&self, block: usize) -> usize {
        self.lanes.saturating_sub(block * LANES).min(LANES)
    }
}

impl Out for Int32Sums {
    type Sum = i32;

    fn ahead(&self, pixels: usize) -> Int32Sums {
        Int32Sums {
            to: self.to.wrapping_add(pixels * self.pixel),
            ..*self
        }
    }

    #[inline(always)]
    unsafe fn finish(&self, pixel: usize, block: usize, sums: [i32; LANES]) {
        for (lane, &sum) in sums.iter().enumerate().take(self.lanes(block)) {
            let at = pixel * self.pixel + block * LANES + lane;
            // SAFETY: the output covers the channel, by the caller's word.
            unsafe { self.to.add(at).write_unaligned(sum) };
        }
    }
}
