//! The discrete Fourier transform of any length, in place.
//!
//! Lengths that are powers of two are split in halves; any other becomes a convolution with a chirp, of a length that
//! is one (Bluestein).

use super::generic::Working;
use crate::OpError;
use crate::view::{Block, RowMut};

/// What a transform of one length needs to know.
pub(crate) struct Fourier {
    len: usize,
    /// The power of two that is computed with.
    size: usize,
    /// `exp(-2 pi i k / size)` for the first half.
    turns: Vec<(f64, f64)>,
    /// `exp(-pi i k^2 / len)`; empty for powers of two.
    chirp: Vec<(f64, f64)>,
    /// The transform of what the chirp is convolved with.
    filter: Vec<(f64, f64)>,
}

impl Fourier {
    pub fn new(len: usize) -> Result<Fourier, OpError> {
        let size = if len.is_power_of_two() {
            len
        } else {
            (2 * len).next_power_of_two()
        };
        if len == 0 || len > 1 << 26 {
            return Err(OpError::invalid(format!(
                "a transform of length {len}; it must be 1 to 2^26"
            )));
        }
        let turn = |part: f64| (part.cos(), -part.sin());
        let turns = (0..size / 2)
            .map(|k| turn(2.0 * std::f64::consts::PI * k as f64 / size as f64))
            .collect();
        let mut fourier = Fourier {
            len,
            size,
            turns,
            chirp: Vec::new(),
            filter: Vec::new(),
        };
        if size != len {
            // Squares are taken modulo two turns, so that angles stay exact.
            fourier.chirp = (0..len)
                .map(|k| turn(std::f64::consts::PI * (k * k % (2 * len)) as f64 / len as f64))
                .collect();
            let mut block = Block::zeroed(2 * size * size_of::<f64>());
            let region = block.region();
            let both = region
                .scratch::<f64>(2 * size)
                .ok_or_else(|| OpError::internal("a block too small"))?;
            let (re, im) = (both.slice(0, size), both.slice(size, size));
            for (k, &(c, s)) in fourier.chirp.iter().enumerate() {
                for at in [k, (size - k) % size] {
                    re.set(at, c);
                    im.set(at, -s);
                }
            }
            fourier.halve(re, im);
            fourier.filter = (0..size).map(|k| (re.get(k), im.get(k))).collect();
        }
        Ok(fourier)
    }

    /// Returns the length of each of the two rows that [`run`](Fourier::run) works on.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the length of the transform.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Transforms the first elements of two rows of [`size`](Fourier::size) elements. For the way back, exchange the
    /// rows and divide by the length.
    pub fn run<W: Working>(&self, re: RowMut<'_, W>, im: RowMut<'_, W>) {
        if self.chirp.is_empty() {
            return self.halve(re, im);
        }
        let turn = |at: usize, (c, s): (f64, f64)| {
            let (x, y, c, s) = (re.get(at), im.get(at), W::of(c), W::of(s));
            re.set(at, x * c - y * s);
            im.set(at, x * s + y * c);
        };
        self.chirp
            .iter()
            .enumerate()
            .for_each(|(at, &by)| turn(at, by));
        re.slice(self.len, self.size - self.len).fill(W::zero());
        im.slice(self.len, self.size - self.len).fill(W::zero());
        self.halve(re, im);
        self.filter
            .iter()
            .enumerate()
            .for_each(|(at, &by)| turn(at, by));
        self.halve(im, re);
        let scale = 1.0 / self.size as f64;
        self.chirp
            .iter()
            .enumerate()
            .for_each(|(at, &(c, s))| turn(at, (c * scale, s * scale)));
    }

    /// The transform of a power of two.
    fn halve<W: Working>(&self, re: RowMut<'_, W>, im: RowMut<'_, W>) {
        let size = self.size;
        if size < 2 {
            return;
        }
        let shift = usize::BITS - size.trailing_zeros();
        for at in 0..size {
            let other = at.reverse_bits() >> shift;
            if at < other {
                for row in [re, im] {
                    let (a, b) = (row.get(at), row.get(other));
                    row.set(at, b);
                    row.set(other, a);
                }
            }
        }
        let mut half = 1;
        while half < size {
            let step = size / (2 * half);
            for start in (0..size).step_by(2 * half) {
                for at in 0..half {
                    let (c, s) = self.turns[at * step];
                    let (c, s) = (W::of(c), W::of(s));
                    let (one, two) = (start + at, start + at + half);
                    let (x, y) = (
                        re.get(two) * c - im.get(two) * s,
                        re.get(two) * s + im.get(two) * c,
                    );
                    let (a, b) = (re.get(one), im.get(one));
                    re.set(one, a + x);
                    im.set(one, b + y);
                    re.set(two, a - x);
                    im.set(two, b - y);
                }
            }
            half *= 2;
        }
    }
}
