//! Interpolation along the columns with the instructions that shuffle bytes (SSSE3), where the processor has them.

/// How a row is interpolated, four samples at a time.
pub(super) struct Plan {
    fours: Vec<Four>,
    /// The bytes of a row that are read.
    reach: usize,
}

/// Four samples of a row: both groups that each is interpolated from lie in 16 bytes.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct Four {
    /// The first of the 16 bytes.
    start: usize,
    /// Which byte each half of a 16 bit number is: the first sample, the second one, and nothing in the upper halves.
    bytes: [u8; 16],
    weights: [i16; 8],
}

/// The bytes behind a row that are read, whose weight is 0.
pub(super) const READ_BEHIND: usize = 16;
/// What makes a byte 0.
const NOTHING: u8 = 0x80;

impl Four {
    /// Plans four samples, of which each has the positions and the weights of both groups. None if they lie too far apart.
    fn new(samples: &[([usize; 2], [i32; 2])]) -> Option<Four> {
        let start = samples.iter().map(|([first, _], _)| *first).min()?;
        let mut four = Four {
            start,
            bytes: [NOTHING; 16],
            weights: [0; 8],
        };
        let numbers = samples
            .iter()
            .flat_map(|(at, weights)| at.iter().zip(weights));
        for (index, (at, weight)) in numbers.enumerate() {
            let distance = at - start;
            if distance >= 16 {
                return None;
            }
            *four.bytes.get_mut(2 * index)? = distance as u8;
            *four.weights.get_mut(index)? = *weight as i16;
        }
        Some(four)
    }
}

impl Plan {
    /// Plans a row. None if the processor does not have the instructions, or samples lie too far apart.
    pub(super) fn new(samples: &[([usize; 2], [i32; 2])]) -> Option<Plan> {
        if !is_supported() {
            return None;
        }
        let fours: Option<Vec<Four>> = samples.chunks(4).map(Four::new).collect();
        let fours = fours?;
        let reach = fours.iter().map(|four| four.start + 16).max()?;
        Some(Plan { fours, reach })
    }

    /// Interpolates a row, in which [`READ_BEHIND`] bytes follow, to a line whose length is a multiple of 4. The sums lose their lowest
    /// four bits.
    ///
    /// # Panics
    /// The row or the line is shorter than planned.
    pub(super) fn blend(&self, source: &[u8], to: &mut [u16]) {
        assert!(source.len() >= self.reach && to.len() >= 4 * self.fours.len());
        #[cfg(target_arch = "x86_64")]
        // SAFETY: there is no plan without SSSE3; the lengths were checked.
        unsafe {
            with_ssse3(source, &self.fours, to);
        }
    }
}

/// Returns whether the processor has the instructions.
pub(super) fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("ssse3");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// As [`Plan::blend`].
///
/// # Safety
/// 16 bytes of the source follow each start, and the line has four samples for each of `fours`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "ssse3")]
unsafe fn with_ssse3(source: &[u8], fours: &[Four], to: &mut [u16]) {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_madd_epi16, _mm_packs_epi32, _mm_shuffle_epi8,
        _mm_srai_epi32, _mm_storel_epi64, _mm_storeu_si128,
    };

    let sums = |four: &Four| {
        // SAFETY: each address is that of 16 bytes, in the source by what the caller guarantees.
        unsafe {
            let load = |from: *const u8| _mm_loadu_si128(from.cast::<__m128i>());
            let bytes = load(source.as_ptr().add(four.start));
            let pairs = _mm_shuffle_epi8(bytes, load(four.bytes.as_ptr()));
            let sums = _mm_madd_epi16(pairs, load(four.weights.as_ptr().cast()));
            _mm_srai_epi32::<4>(sums)
        }
    };
    let (pairs, last) = fours.as_chunks::<2>();
    let (eights, rest) = to.as_chunks_mut::<8>();
    for ([first, second], to) in pairs.iter().zip(eights) {
        let packed = _mm_packs_epi32(sums(first), sums(second));
        // SAFETY: the address is that of eight samples.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), packed) };
    }
    if let ([four], Some(to)) = (last, rest.first_chunk_mut::<4>()) {
        let sums = sums(four);
        // SAFETY: four samples are left.
        unsafe { _mm_storel_epi64(to.as_mut_ptr().cast(), _mm_packs_epi32(sums, sums)) };
    }
}
