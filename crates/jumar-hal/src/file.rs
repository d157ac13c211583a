//! Files whose bytes a device uses where they lie.

use std::fs::File;
use std::sync::Arc;

/// A part of an open file.
#[derive(Clone, Debug)]
pub struct FileImage {
    /// The file, open for reading.
    pub file: Arc<File>,
    /// Where the part begins: a multiple of [`FileImage::PAGE`].
    pub offset: u64,
    /// Its length.
    ///
    /// # Units
    /// Bytes.
    pub bytes: usize,
}

impl FileImage {
    /// What the part and the memory that it is mapped to begin at a multiple of.
    pub const PAGE: usize = 4096;
}

/// A part of a file that stands in a device's memory. The memory goes back as any other; this only answers.
pub trait FileMapping: Send + Sync {
    /// Returns whether every byte that was looked for was there. Otherwise the file was cut short, or its disk failed, and zeros
    /// replace the missing bytes.
    fn is_intact(&self) -> bool;
}
