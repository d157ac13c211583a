//! Memory between the tasks of a channel.

/// Buffers that later tasks use again: memory that the system provides anew costs more than the work on it.
#[derive(Debug, Default)]
pub struct Scratch(Vec<Vec<u8>>);

/// What a JPEG image needs: its data, and two planes of chroma.
const MOST_BUFFERS: usize = 3;

impl Scratch {
    /// Returns a buffer of so many bytes, whose contents are unspecified.
    pub fn take(&mut self, bytes: usize) -> Vec<u8> {
        // The smallest one that is large enough, or else the largest one.
        let rank = |buffer: &Vec<u8>| match buffer.capacity() {
            capacity if capacity >= bytes => (0, capacity),
            capacity => (1, usize::MAX - capacity),
        };
        let best = (0..self.0.len()).min_by_key(|index| rank(&self.0[*index]));
        let mut buffer = best.map_or_else(Vec::new, |index| self.0.swap_remove(index));
        buffer.resize(bytes, 0);
        buffer
    }

    /// Takes what another one has.
    pub fn append(&mut self, other: Scratch) {
        other.0.into_iter().for_each(|buffer| self.put(buffer));
    }

    /// Takes a buffer back.
    pub fn put(&mut self, buffer: Vec<u8>) {
        if self.0.len() < MOST_BUFFERS {
            self.0.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_one_size_are_used_again() {
        let mut scratch = Scratch::default();
        let buffers: Vec<_> = [900, 50, 50].map(|bytes| scratch.take(bytes)).into();
        let mut first: Vec<_> = buffers.iter().map(|buffer| buffer.as_ptr()).collect();
        buffers.into_iter().for_each(|buffer| scratch.put(buffer));
        let again = [900, 50, 50].map(|bytes| scratch.take(bytes));
        let mut then: Vec<_> = again.iter().map(|buffer| buffer.as_ptr()).collect();
        first.sort();
        then.sort();
        assert_eq!(first, then);
        assert_eq!(again.map(|buffer| buffer.len()), [900, 50, 50]);
    }
}
