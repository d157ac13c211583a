//! Memory that Jumar itself owns on the host, for folding constants and for tests.

use super::Region;

/// The alignment of a block and of every buffer of the planner.
const ALIGNMENT: usize = 64;

/// One cache line; a vector of these is aligned without any unsafe allocation.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; ALIGNMENT]);

/// Owned, zeroed host memory, aligned to 64 bytes.
pub struct Block {
    lines: Vec<Line>,
    bytes: usize,
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} bytes)", self.bytes)
    }
}

impl Block {
    /// Allocates `bytes` zeroed bytes.
    pub fn zeroed(bytes: usize) -> Block {
        Block {
            lines: vec![Line([0; ALIGNMENT]); bytes.div_ceil(ALIGNMENT)],
            bytes,
        }
    }

    /// Allocates a block that holds a copy of `bytes`.
    pub fn of(bytes: &[u8]) -> Block {
        let mut block = Block::zeroed(bytes.len());
        block.bytes_mut().copy_from_slice(bytes);
        block
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the vector holds at least `bytes` bytes, all initialised, and is borrowed for as long.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast::<u8>(), self.bytes) }
    }

    /// Lends the block to kernels that only read it.
    pub fn shared(&self) -> Region<'_> {
        Region::shared(self.bytes())
    }

    /// Returns the bytes for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast::<u8>(), self.bytes) }
    }

    /// Lends the block to kernels.
    pub fn region(&mut self) -> Region<'_> {
        Region::exclusive(self.bytes_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_zeroed_aligned_and_as_long_as_asked() {
        for bytes in [0, 1, 63, 64, 65, 1000] {
            let mut block = Block::zeroed(bytes);
            assert_eq!(block.bytes().len(), bytes);
            assert!(block.bytes().iter().all(|&b| b == 0));
            assert_eq!(block.bytes().as_ptr().addr() % ALIGNMENT, 0);
            assert_eq!(block.region().bytes(), bytes);
        }
    }
}
