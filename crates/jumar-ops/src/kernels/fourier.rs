//! The discrete Fourier transform of any length, in place.
//!
//! Lengths that are powers of two are split in halves; any other becomes a convolution with a chirp, of a length that
//! is one (Bluestein).

use super::generic::Working;
use crate::OpError;
use crate::simd::wide::{Work, wide};
use crate::view::{Block, RowMut};

/// What a transform of one length needs to know.
pub(crate) struct Fourier {
    len: usize,
    /// The power of two that is computed with.
    size: usize,
    /// `exp(-pi i k / half)` for `k < half`, real and imaginary parts: one after the other for each half of 4, 8, ... elements.
    turns: [Vec<f64>; 2],
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
        let mut turns = [Vec::with_capacity(size), Vec::with_capacity(size)];
        let mut half = FIRST;
        while half < size {
            for k in 0..half {
                let (c, s) = turn(std::f64::consts::PI * k as f64 / half as f64);
                turns[0].push(c);
                turns[1].push(s);
            }
            half *= 2;
        }
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
        wide(Halves {
            turns: &self.turns,
            re,
            im,
            size,
        });
    }
}

/// Elements of the halves from which on they are joined by vectors; shorter ones are joined four at a time.
const FIRST: usize = 4;
/// Elements that are joined at a time.
const GROUP: usize = 8;

/// Joins transforms of halves, whose elements lie in the order of their reversed bits.
struct Halves<'a, W> {
    turns: &'a [Vec<f64>; 2],
    re: RowMut<'a, W>,
    im: RowMut<'a, W>,
    size: usize,
}

impl<W: Working> Work for Halves<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        match self.size {
            0 | 1 => return,
            2 => {
                for row in [self.re, self.im] {
                    let [a, b] = row.as_row().group::<2>(0);
                    row.set_group(0, [a + b, a - b]);
                }
                return;
            }
            _ => self.fours(),
        }
        let (mut half, mut begin) = (FIRST, 0);
        while half < self.size {
            let of_half = |part: usize| &self.turns[part][begin..begin + half];
            let (cosines, sines) = (of_half(0), of_half(1));
            for start in (0..self.size).step_by(2 * half) {
                if half < GROUP {
                    self.join::<FIRST>(start, half, cosines, sines);
                } else {
                    self.join::<GROUP>(start, half, cosines, sines);
                }
            }
            begin += half;
            half *= 2;
        }
    }
}

impl<W: Working> Halves<'_, W> {
    /// Transforms each four elements.
    #[inline(always)]
    fn fours(&self) {
        for at in (0..self.size).step_by(4) {
            let [a, b, c, d] = self.re.as_row().group::<4>(at);
            let [e, f, g, h] = self.im.as_row().group::<4>(at);
            let (p, q, r, s) = (a + b, a - b, c + d, c - d);
            let (t, u, v, w) = (e + f, e - f, g + h, g - h);
            self.re.set_group(at, [p + r, q + w, p - r, q - w]);
            self.im.set_group(at, [t + v, u - s, t - v, u + s]);
        }
    }

    /// Joins two halves, N elements at a time.
    #[inline(always)]
    fn join<const N: usize>(&self, start: usize, half: usize, cosines: &[f64], sines: &[f64]) {
        let (cosines, _) = cosines.as_chunks::<N>();
        let (sines, _) = sines.as_chunks::<N>();
        for (at, (cosines, sines)) in cosines.iter().zip(sines).enumerate() {
            let (one, two) = (start + at * N, start + at * N + half);
            let (re, im) = (self.re.as_row(), self.im.as_row());
            let (mut a, mut b) = (re.group::<N>(one), im.group::<N>(one));
            let (mut c, mut d) = (re.group::<N>(two), im.group::<N>(two));
            for lane in 0..N {
                let (cosine, sine) = (W::of(cosines[lane]), W::of(sines[lane]));
                let x = c[lane] * cosine - d[lane] * sine;
                let y = c[lane] * sine + d[lane] * cosine;
                c[lane] = a[lane] - x;
                d[lane] = b[lane] - y;
                a[lane] += x;
                b[lane] += y;
            }
            self.re.set_group(one, a);
            self.im.set_group(one, b);
            self.re.set_group(two, c);
            self.im.set_group(two, d);
        }
    }
}
