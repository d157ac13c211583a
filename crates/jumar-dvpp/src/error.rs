//! Why image work was refused or failed.

use std::fmt;

/// The cause, as a sentence for the program's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageError(String);

/// The result of image work.
pub type Result<T> = std::result::Result<T, ImageError>;

impl ImageError {
    /// Creates an error from its sentence.
    pub fn new(sentence: impl Into<String>) -> ImageError {
        ImageError(sentence.into())
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ImageError {}

/// Returns an error with a formatted sentence.
macro_rules! refuse {
    ($($sentence:tt)*) => {
        return Err($crate::ImageError::new(format!($($sentence)*)))
    };
}

pub(crate) use refuse;
