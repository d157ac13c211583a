//! Components of interleaved rows.

/// Copies the samples of pairs to two rows, in one pass.
pub fn separate(bytes: &[u8], first: &mut [u8], second: &mut [u8]) {
    let (pairs, _) = bytes.as_chunks::<2>();
    for ((pair, first), second) in pairs.iter().zip(first).zip(second) {
        let pair = u16::from_le_bytes(*pair);
        *first = pair as u8;
        *second = (pair >> 8) as u8;
    }
}

/// Copies two rows to the samples of pairs.
pub fn interleave(first: &[u8], second: &[u8], bytes: &mut [u8]) {
    let (pairs, _) = bytes.as_chunks_mut::<2>();
    for (pair, (first, second)) in pairs.iter_mut().zip(first.iter().zip(second)) {
        *pair = [*first, *second];
    }
}

/// Copies sample `index` of each group of `count` bytes; a group has 1 to 4.
pub fn gather(bytes: &[u8], count: usize, index: usize, to: &mut [u8]) {
    match count {
        1 => to.copy_from_slice(&bytes[..to.len()]),
        2 => gather_groups::<2>(bytes, index, to),
        3 => gather_groups::<3>(bytes, index, to),
        _ => gather_groups::<4>(bytes, index, to),
    }
}

/// The size of the groups is a constant, so that vectors do the work.
fn gather_groups<const COUNT: usize>(bytes: &[u8], index: usize, to: &mut [u8]) {
    let (groups, _) = bytes.as_chunks::<COUNT>();
    let take = |to: &mut [u8], at: usize| {
        for (sample, group) in to.iter_mut().zip(groups) {
            *sample = group[at];
        }
    };
    match index {
        0 => take(to, 0),
        1 => take(to, 1),
        _ => take(to, index),
    }
}

/// Writes sample `index` of each group of `count` bytes; a group has 1 to 4.
pub fn scatter(from: &[u8], count: usize, index: usize, bytes: &mut [u8]) {
    match count {
        1 => scatter_groups::<1>(from, index, bytes),
        2 => scatter_groups::<2>(from, index, bytes),
        3 => scatter_groups::<3>(from, index, bytes),
        _ => scatter_groups::<4>(from, index, bytes),
    }
}

fn scatter_groups<const COUNT: usize>(from: &[u8], index: usize, bytes: &mut [u8]) {
    let (groups, _) = bytes.as_chunks_mut::<COUNT>();
    for (sample, group) in from.iter().zip(groups) {
        group[index] = *sample;
    }
}

/// Repeats each sample of a row whose samples belong to two pixels. `is_second`: the row of pixels begins with the second pixel of the
/// first sample.
pub fn repeat(from: &[u8], is_second: bool, to: &mut [u8]) {
    let (from, to) = match (from, to, is_second) {
        ([first, from @ ..], [pixel, to @ ..], true) => {
            *pixel = *first;
            (from, to)
        }
        (from, to, _) => (from, to),
    };
    let (pairs, last) = to.as_chunks_mut::<2>();
    let complete = pairs.len();
    for (pair, sample) in pairs.iter_mut().zip(from) {
        *pair = [*sample; 2];
    }
    if let ([pixel], Some(sample)) = (last, from.get(complete)) {
        *pixel = *sample;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_separated_and_interleaved_again() {
        let bytes: Vec<u8> = (0..24).collect();
        for count in 1..=4 {
            let mut again = vec![0; 24];
            for index in 0..count {
                let mut row = vec![0; 24 / count];
                gather(&bytes, count, index, &mut row);
                let wanted: Vec<u8> = bytes.iter().skip(index).step_by(count).copied().collect();
                assert_eq!(row, wanted);
                scatter(&row, count, index, &mut again);
            }
            assert_eq!(again, bytes);
        }
        let (mut first, mut second, mut again) = ([0; 12], [0; 12], [0; 24]);
        separate(&bytes, &mut first, &mut second);
        assert!(first.iter().all(|sample| sample % 2 == 0));
        interleave(&first, &second, &mut again);
        assert_eq!(again[..], bytes);
    }

    #[test]
    fn a_sample_is_repeated_for_each_of_its_pixels() {
        let repeated = |is_second: bool, pixels: usize| {
            let mut to = vec![0; pixels];
            repeat(&[1, 2, 3], is_second, &mut to);
            to
        };
        assert_eq!(repeated(false, 6), [1, 1, 2, 2, 3, 3]);
        assert_eq!(repeated(false, 5), [1, 1, 2, 2, 3]);
        assert_eq!(repeated(true, 5), [1, 2, 2, 3, 3]);
        assert_eq!(repeated(true, 4), [1, 2, 2, 3]);
        assert_eq!(repeated(true, 1), [1]);
        assert_eq!(repeated(false, 0), []);
    }
}
