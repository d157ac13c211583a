//! Interpolation along the columns with the instructions that shuffle bytes (SSSE3), where the processor has them.

/// Four samples of a row: both groups that each is interpolated from lie in 16 bytes.
pub(super) struct Four {
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
    pub(super) fn new(samples: &[([usize; 2], [i32; 2])]) -> Option<Four> {
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

/// Returns whether the processor has the instructions.
pub(super) fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("ssse3");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Interpolates a row, in which [`READ_BEHIND`] bytes follow. The sums lose their lowest four bits.
///
/// # Panics
/// The processor does not have the instructions.
pub(super) fn blend(source: &[u8], fours: &[Four], to: &mut [u16]) {
    assert!(is_supported(), "shuffling is not supported here");
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the processor has SSSE3.
    unsafe {
        with_ssse3(source, fours, to);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (source, fours, to);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "ssse3")]
fn with_ssse3(source: &[u8], fours: &[Four], to: &mut [u16]) {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_madd_epi16, _mm_packs_epi32, _mm_shuffle_epi8,
        _mm_srai_epi32, _mm_storel_epi64,
    };

    for (four, to) in fours.iter().zip(to.as_chunks_mut::<4>().0) {
        let Some(bytes) = source.get(four.start..four.start + 16) else {
            continue;
        };
        // SAFETY: each address is that of 16 bytes that live here, and of the eight bytes that are written.
        unsafe {
            let load = |from: *const u8| _mm_loadu_si128(from.cast::<__m128i>());
            let pairs = _mm_shuffle_epi8(load(bytes.as_ptr()), load(four.bytes.as_ptr()));
            let sums = _mm_madd_epi16(pairs, load(four.weights.as_ptr().cast()));
            let sums = _mm_srai_epi32::<4>(sums);
            _mm_storel_epi64(to.as_mut_ptr().cast(), _mm_packs_epi32(sums, sums));
        }
    }
}
