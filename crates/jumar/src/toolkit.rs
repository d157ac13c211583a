//! The release of the toolkit (CANN) that programs see when they ask for versions.

use jumar_types::{Error, ErrorKind, Result};

/// The release without `JUMAR_CANN_VERSION`. The install tree's version files are written from the same file.
pub const DEFAULT: &str = include_str!("../../../api/toolkit-version.txt").trim_ascii();

/// A release, such as 9.1.0 or 8.3.RC1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// As programs read it.
    pub text: String,
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number; 0 for a release candidate.
    pub patch: u32,
    /// The number of the release candidate.
    pub candidate: Option<u32>,
}

impl Release {
    /// Reads the release that the environment chooses.
    ///
    /// # Errors
    /// `InvalidArgument`: `JUMAR_CANN_VERSION` does not hold a release.
    pub fn from_environment() -> Result<Release> {
        match crate::config::variable("JUMAR_CANN_VERSION") {
            None => Release::parse(DEFAULT),
            Some(text) => Release::parse(&text),
        }
        .ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidArgument,
                "JUMAR_CANN_VERSION does not hold a release; write it as 9.1.0 or 8.3.RC1",
            )
        })
    }

    fn parse(text: &str) -> Option<Release> {
        let mut parts = text.split('.');
        let (major, minor, last) = (
            number(parts.next()?)?,
            number(parts.next()?)?,
            parts.next()?,
        );
        if parts.next().is_some() {
            return None;
        }
        let (patch, candidate) = match last.strip_prefix("RC") {
            Some(candidate) => (0, Some(number(candidate)?)),
            None => (number(last)?, None),
        };
        Some(Release {
            text: text.to_owned(),
            major,
            minor,
            patch,
            candidate,
        })
    }

    /// Returns the release as one number that grows with the release; candidates come before the release itself.
    pub fn number(&self) -> i32 {
        let release = self.major * 10_000_000 + self.minor * 100_000 + self.patch * 1000;
        let number = match self.candidate {
            Some(candidate) => release.saturating_sub(100) + candidate.min(99),
            None => release,
        };
        number.cast_signed()
    }

    /// Returns the release of the driver that is delivered with this release. Drivers are numbered by year.
    pub fn driver(&self) -> Release {
        let text = match (self.major, self.minor) {
            (9.., _) => "26.0.0",
            (8, 5..) => "25.5.0",
            _ => "25.0.0",
        };
        Release::parse(text).unwrap_or_else(|| self.clone())
    }
}

fn number(text: &str) -> Option<u32> {
    // Larger numbers do not fit into the one number that programs compare.
    text.parse()
        .ok()
        .filter(|&number: &u32| number < 100 && text.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_and_candidates_are_read_and_grow() {
        let release = |text| Release::parse(text).unwrap();
        assert_eq!(release("9.1.0").number(), 90_100_000);
        assert_eq!(release("8.3.RC1").candidate, Some(1));
        assert!(release("8.3.RC1").number() < release("8.3.RC2").number());
        assert!(release("8.3.RC2").number() < release("8.3.0").number());
        assert!(release("8.2.0").number() < release("8.3.RC1").number());
        assert!(release(DEFAULT).number() > 0);
    }

    #[test]
    fn what_is_not_a_release_is_refused() {
        for text in [
            "", "9", "9.1", "9.1.0.1", "9.1.x", "9.1.RC", "9.-1.0", "9.1.+0", "100.0.0",
        ] {
            assert_eq!(Release::parse(text), None, "{text}");
        }
    }
}
