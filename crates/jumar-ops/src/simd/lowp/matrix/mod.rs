//! Tiles by a matrix unit: AMX, whose eight registers hold sixteen rows of 64 bytes each.
//!
//! Two left registers hold up to sixteen pixels each, two right ones sixteen channels each, and four hold the sums of all
//! pixels and channels. A row of a left register is what a pixel sees: pixels lie one distance apart in the image, so that
//! the unit reads them from there. Where some look beside the image, the stretch of the image that a row of taps sees is
//! copied, with zeros around it.
//!
//! The unit's instructions are not among the stable functions of the standard library, so that they are written out. What
//! a register holds lasts from one of these to the next: the compiler never uses the unit by itself, and keeps their order.
//!
//! Sums of bfloat16 have another order here than elsewhere: first products and second products of up to sixteen pairs
//! are added up apart, then to each other, then to the sum. Denormal numbers count as zero.

use std::arch::asm;
use std::mem::MaybeUninit;

use super::tile::{Dots, Out, Tile, phases};
use super::{LANES, PAIR};

/// Rows of a register.
const ROWS: usize = 16;
/// Groups of the copies of stretches of the image, for each left register.
const BUFFER_WORDS: usize = 1024;
/// Bytes of a row of sums.
const ROW: usize = LANES * 4;

/// The configuration of the register sizes: Intel's manual, `LDTILECFG`, palette 1.
#[repr(C, align(64))]
struct Config {
    palette: u8,
    first_row: u8,
    zeros: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

/// Sizes of the registers in use.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Shape {
    /// Pixels of each left register; none where it is not used.
    pixels: [usize; PAIR],
    /// Blocks of output channels.
    count: usize,
    /// Groups that one instruction multiplies and adds.
    depth: usize,
}

impl Shape {
    /// Describes registers: sums of both left sides in 0 to 3, left sides in 4 and 5, right sides in 6 and 7.
    fn config(&self) -> Config {
        let (mut bytes, mut rows) = ([0; 16], [0; 16]);
        let mut set = |register: usize, height: usize, width: usize| {
            if height > 0 {
                (rows[register], bytes[register]) = (height as u8, 4 * width as u16);
            }
        };
        for (side, &pixels) in self.pixels.iter().enumerate() {
            for block in 0..self.count {
                set(PAIR * side + block, pixels, LANES);
            }
            set(4 + side, pixels, self.depth);
        }
        for block in 0..self.count {
            set(6 + block, self.depth, LANES);
        }
        Config {
            palette: 1,
            first_row: 0,
            zeros: [0; 14],
            bytes,
            rows,
        }
    }
}

/// Returns whether all taps of a row of taps are one run of groups, in the image and in the filter.
pub(super) fn runs_on<D: Dots>(tile: &Tile<D>) -> bool {
    tile.taps == 1
        || tile.tap == 1
            && tile.depth == tile.lane
            && (tile.outside.is_null() || tile.taps * tile.lane <= BUFFER_WORDS / 2)
}

/// Where the left sides of one step lie, and bytes from one of their rows to the next.
#[derive(Clone, Copy)]
pub(super) struct Lefts {
    sides: [*const u32; PAIR],
    distance: usize,
    two: bool,
}

macro_rules! step {
    ($name:ident, $dot:literal) => {
        /// Multiplies the left sides with `count` blocks of weights and adds the products to the sums.
        ///
        /// # Safety
        ///
        /// The unit is configured, and all that its registers are to hold lies there.
        pub(super) unsafe fn $name(lefts: &Lefts, right: *const u32, count: usize) {
            let (distance, stride) = (lefts.distance, count * ROW);
            let [first, second] = lefts.sides;
            // SAFETY: the caller's word; the named registers are all that is touched.
            unsafe {
                match (lefts.two, count) {
                    (true, 2) => asm!(
                        "tileloadd tmm6, [{right} + {stride}*1]",
                        "tileloadd tmm4, [{first} + {distance}*1]",
                        concat!($dot, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{other} + {stride}*1]",
                        concat!($dot, " tmm1, tmm4, tmm7"),
                        "tileloadd tmm5, [{second} + {distance}*1]",
                        concat!($dot, " tmm2, tmm5, tmm6"),
                        concat!($dot, " tmm3, tmm5, tmm7"),
                        right = in(reg) right, other = in(reg) right.wrapping_add(LANES), stride = in(reg) stride,
                        first = in(reg) first, second = in(reg) second, distance = in(reg) distance,
                        out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _, out("tmm4") _, out("tmm5") _,
                        out("tmm6") _, out("tmm7") _, options(nostack, readonly, preserves_flags),
                    ),
                    (true, _) => asm!(
                        "tileloadd tmm6, [{right} + {stride}*1]",
                        "tileloadd tmm4, [{first} + {distance}*1]",
                        concat!($dot, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm5, [{second} + {distance}*1]",
                        concat!($dot, " tmm2, tmm5, tmm6"),
                        right = in(reg) right, stride = in(reg) stride,
                        first = in(reg) first, second = in(reg) second, distance = in(reg) distance,
                        out("tmm0") _, out("tmm2") _, out("tmm4") _, out("tmm5") _, out("tmm6") _,
                        options(nostack, readonly, preserves_flags),
                    ),
                    (false, 2) => asm!(
                        "tileloadd tmm6, [{right} + {stride}*1]",
                        "tileloadd tmm4, [{first} + {distance}*1]",
                        concat!($dot, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{other} + {stride}*1]",
                        concat!($dot, " tmm1, tmm4, tmm7"),
                        right = in(reg) right, other = in(reg) right.wrapping_add(LANES), stride = in(reg) stride,
                        first = in(reg) first, distance = in(reg) distance,
                        out("tmm0") _, out("tmm1") _, out("tmm4") _, out("tmm6") _, out("tmm7") _,
                        options(nostack, readonly, preserves_flags),
                    ),
                    _ => asm!(
                        "tileloadd tmm6, [{right} + {stride}*1]",
                        "tileloadd tmm4, [{first} + {distance}*1]",
                        concat!($dot, " tmm0, tmm4, tmm6"),
                        right = in(reg) right, stride = in(reg) stride,
                        first = in(reg) first, distance = in(reg) distance,
                        out("tmm0") _, out("tmm4") _, out("tmm6") _, options(nostack, readonly, preserves_flags),
                    ),
                }
            }
        }
    };
}

step!(step_pairs, "tdpbf16ps");
step!(step_quads, "tdpbusd");

macro_rules! sums {
    ($run:ident, $instruction:literal, $before:literal, $after:literal) => {
        /// # Safety
        ///
        /// The unit is configured for register `at`, and `address` is memory for sixteen rows of sums.
        unsafe fn $run(at: usize, address: *mut u32) {
            // SAFETY: the caller's word.
            unsafe {
                match at {
                    0 => asm!(concat!($instruction, " ", $before, "tmm0", $after), in("rax") address, in("rcx") ROW,
                        out("tmm0") _, options(nostack, preserves_flags)),
                    1 => asm!(concat!($instruction, " ", $before, "tmm1", $after), in("rax") address, in("rcx") ROW,
                        out("tmm1") _, options(nostack, preserves_flags)),
                    2 => asm!(concat!($instruction, " ", $before, "tmm2", $after), in("rax") address, in("rcx") ROW,
                        out("tmm2") _, options(nostack, preserves_flags)),
                    _ => asm!(concat!($instruction, " ", $before, "tmm3", $after), in("rax") address, in("rcx") ROW,
                        out("tmm3") _, options(nostack, preserves_flags)),
                }
            }
        }
    };
}

sums!(clear, "tilezero", "", "");
sums!(fetch, "tileloadd", "", ", [rax + rcx*1]");
sums!(keep, "tilestored", "[rax + rcx*1], ", "");

/// Sixteen pixels at most, side by side.
pub(super) struct Job<D: Dots> {
    pub tile: Tile<D>,
    pub pixels: usize,
}

impl<D: Dots> Job<D> {
    /// Returns whether two jobs have the same taps, so that they share weights.
    fn goes_with(&self, other: &Job<D>) -> bool {
        self.tile.filter == other.tile.filter && self.tile.rows == other.tile.rows
    }
}

#[repr(C, align(64))]
struct Scratch {
    sums: [[u32; ROWS * LANES]; 2 * PAIR],
    buffers: [[u32; BUFFER_WORDS]; PAIR],
}

/// The unit while it is in use, and what it needs of the stack. It is left as it was found: without a configuration.
pub(super) struct Unit {
    shape: Option<Shape>,
    scratch: MaybeUninit<Scratch>,
}

impl Unit {
    /// Takes the unit. Nothing happens before the first job.
    pub fn new() -> Unit {
        Unit {
            shape: None,
            scratch: MaybeUninit::uninit(),
        }
    }

    /// # Safety
    ///
    /// The processor has the unit, and the process may use it.
    unsafe fn configure(&mut self, shape: Shape) {
        // A second left side that is not used may keep its size.
        let one = Shape {
            pixels: [shape.pixels[0], 0],
            ..shape
        };
        let configured = self.shape.map(|mut configured| {
            if shape == one {
                configured.pixels[1] = 0;
            }
            configured
        });
        if configured == Some(shape) {
            return;
        }
        let config = shape.config();
        // SAFETY: the caller's word; the configuration is one that the manual allows.
        unsafe {
            asm!("ldtilecfg [{}]", in(reg) &raw const config,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _, out("tmm4") _, out("tmm5") _,
                out("tmm6") _, out("tmm7") _, options(nostack, readonly, preserves_flags));
        }
        self.shape = Some(shape);
    }

    fn sums(&mut self, register: usize) -> *mut u32 {
        let scratch = self.scratch.as_mut_ptr();
        // SAFETY: a field of what the pointer points to; nothing is read.
        unsafe { (&raw mut (*scratch).sums).cast::<u32>() }.wrapping_add(register * ROWS * LANES)
    }

    /// Finds what pixel 0 of a job sees through a tap; the other pixels follow at their distance.
    ///
    /// # Safety
    ///
    /// As `tile::run`.
    unsafe fn left<D: Dots>(
        &mut self,
        side: usize,
        job: &Job<D>,
        line: *const u32,
        (tap, span): (usize, usize),
    ) -> *const u32 {
        let tile = &job.tile;
        let column = tile.column + (tap * tile.tap) as isize;
        let columns = (job.pixels - 1) * tile.stride + span;
        if column >= 0 && column as usize + columns <= tile.width {
            return line.wrapping_offset(column * tile.lane as isize);
        }
        let columns_of = |at: isize| at.clamp(0, columns as isize) as usize * tile.lane;
        let (before, end) = (
            columns_of(-column),
            columns_of(tile.width as isize - column),
        );
        let scratch = self.scratch.as_mut_ptr();
        // SAFETY: a field of what the pointer points to; nothing is read.
        let buffer = unsafe { (&raw mut (*scratch).buffers).cast::<u32>() }
            .wrapping_add(side * BUFFER_WORDS);
        debug_assert!(columns * tile.lane <= BUFFER_WORDS, "jobs are cut to fit");
        // SAFETY: jobs are cut so that a range of columns holds them; those from `before` to `end` lie in the
        // image.
        unsafe {
            buffer.write_bytes(0, before);
            if end > before {
                let from = line.wrapping_offset(column * tile.lane as isize + before as isize);
                buffer
                    .add(before)
                    .copy_from_nonoverlapping(from, end - before);
            }
            buffer.add(end).write_bytes(0, columns * tile.lane - end);
        }
        buffer
    }

    /// Computes one job or two that go together, in `count` blocks of output.
    ///
    /// # Safety
    ///
    /// As `tile::run`; the processor has the unit for these numbers, and the process may use it.
    pub unsafe fn run<D: Dots>(&mut self, jobs: &[Job<D>], count: usize) {
        let Some(tile) = jobs.first().map(|job| job.tile) else {
            return;
        };
        let (taps, span) = match runs_on(&tile) {
            true => (tile.taps.min(1), tile.taps),
            false => (tile.taps, 1),
        };
        let run = tile.depth * span;
        let mut pixels = [0; PAIR];
        for (pixels, job) in pixels.iter_mut().zip(jobs) {
            *pixels = job.pixels;
        }
        let registers = |side: usize| (PAIR * side..PAIR * side + count).map(move |at| (side, at));
        let all = (0..jobs.len()).flat_map(registers);
        let mut fresh = true;
        for phase in phases(run) {
            if phase.pieces == 0 {
                continue;
            }
            let shape = Shape {
                pixels,
                count,
                depth: phase.depth,
            };
            // SAFETY: the caller's word.
            unsafe { self.configure(shape) };
            for (_, at) in all.clone() {
                let sums = self.sums(at);
                // SAFETY: the registers of sums are configured; where sums are fetched they were kept before.
                unsafe {
                    if fresh {
                        clear(at, sums)
                    } else {
                        fetch(at, sums)
                    }
                };
            }
            fresh = false;
            for input in 0..tile.blocks {
                for row in 0..tile.rows {
                    let to = input * tile.filter_block + row * tile.filter_row;
                    for tap in 0..taps {
                        let mut sides = [std::ptr::null(); PAIR];
                        for (side, job) in jobs.iter().enumerate() {
                            let line = job.tile.x.wrapping_add(input * tile.plane + row * tile.row);
                            // SAFETY: the caller's word.
                            sides[side] = unsafe { self.left(side, job, line, (tap, span)) };
                        }
                        for piece in 0..phase.pieces {
                            let first = phase.first + piece * phase.depth;
                            let lefts = Lefts {
                                sides: sides.map(|side| side.wrapping_add(first)),
                                distance: tile.stride * tile.lane * 4,
                                two: jobs.len() == PAIR,
                            };
                            let at = to + (tap * tile.depth + first) * count * LANES;
                            // SAFETY: pixels and weights lie there by the caller's word; the sizes are configured.
                            unsafe { D::step(&lefts, tile.filter.wrapping_add(at), count) };
                        }
                    }
                }
            }
            for (_, at) in all.clone() {
                // SAFETY: the registers of sums are configured.
                unsafe { keep(at, self.sums(at)) };
            }
        }
        for (side, at) in all {
            let sums = self.sums(at);
            if fresh {
                // SAFETY: the memory holds sixteen rows.
                unsafe { sums.write_bytes(0, ROWS * LANES) };
            }
            let (out, pixels, block) = (&jobs[side].tile.out, jobs[side].pixels, at - PAIR * side);
            let sums = sums.cast::<[D::Sum; LANES]>();
            // SAFETY: the sums were written; the rest is the caller's word.
            unsafe {
                if D::native() {
                    D::store(out, pixels, block, sums);
                } else {
                    for pixel in 0..pixels {
                        out.finish(pixel, block, sums.add(pixel).read());
                    }
                }
            }
        }
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        if self.shape.is_some() {
            // SAFETY: the unit was configured, so that the processor has it. Its registers are given up.
            unsafe {
                asm!("tilerelease",
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _, out("tmm4") _, out("tmm5") _,
                    out("tmm6") _, out("tmm7") _, options(nostack, nomem, preserves_flags));
            }
        }
    }
}

/// Jobs on their way to the unit, two at a time.
pub(super) struct Queue<D: Dots> {
    unit: Unit,
    count: usize,
    held: Option<Job<D>>,
}

impl<D: Dots> Queue<D> {
    /// Takes the unit for jobs of `count` blocks of output.
    pub fn new(count: usize) -> Queue<D> {
        Queue {
            unit: Unit::new(),
            count,
            held: None,
        }
    }

    /// Computes the pixels from `x` to `end` of a row. `tile` describes its pixel 0, which sees column `-before` first.
    ///
    /// # Safety
    ///
    /// As [`Unit::run`], for all pixels of the row.
    pub unsafe fn row(&mut self, tile: &Tile<D>, (mut x, end): (usize, usize), before: usize) {
        // A stretch of the image holds what the pixels of a job see.
        let span = if runs_on(tile) { tile.taps } else { 1 };
        let most = match tile.outside.is_null() {
            true => ROWS,
            false => ((BUFFER_WORDS / tile.lane - span) / tile.stride + 1).min(ROWS),
        };
        while x < end {
            let left = end - x;
            let pixels = left.div_ceil(left.div_ceil(most));
            let column = (x * tile.stride) as isize - before as isize;
            let job = Job {
                tile: tile.at(x, column),
                pixels,
            };
            x += pixels;
            // SAFETY: the caller's word.
            unsafe { self.push(job) };
        }
    }

    /// # Safety
    ///
    /// As [`Unit::run`].
    unsafe fn push(&mut self, job: Job<D>) {
        let Some(first) = self.held.take() else {
            self.held = Some(job);
            return;
        };
        // SAFETY: the caller's word.
        unsafe {
            if first.goes_with(&job) {
                self.unit.run(&[first, job], self.count);
            } else {
                self.unit.run(&[first], self.count);
                self.held = Some(job);
            }
        }
    }

    /// Computes the rest and releases the unit.
    ///
    /// # Safety
    ///
    /// As [`Unit::run`].
    pub unsafe fn finish(mut self) {
        if let Some(job) = self.held.take() {
            // SAFETY: the caller's word.
            unsafe { self.unit.run(&[job], self.count) };
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
pub(super) mod emulator;
