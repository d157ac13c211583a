//! The cases that `cases/make.py` wrote, and what several tests do with them.

use std::path::Path;

use serde_json::Value;

/// A case: what its header states, and its parts.
pub struct Case {
    /// What its line of the header has.
    pub header: Value,
    /// What goes in, and what comes out.
    pub parts: [Vec<u8>; 2],
}

impl Case {
    pub fn number(&self, name: &str) -> usize {
        self.header[name].as_u64().expect("a number") as usize
    }

    pub fn name(&self) -> &str {
        self.header["name"].as_str().expect("a name")
    }
}

pub fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("cases")
        .join(file);
    let bytes = std::fs::read(path).expect("a case file");
    let end = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("a header");
    let header: Value = serde_json::from_slice(&bytes[..end]).expect("JSON");
    let mut rest = &bytes[end + 1..];
    let mut parts = header["lengths"]
        .as_array()
        .expect("lengths")
        .iter()
        .map(|length| {
            let (part, behind) = rest.split_at(length.as_u64().expect("a length") as usize);
            rest = behind;
            part.to_vec()
        });
    let found: Vec<Case> = header["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .map(|header| Case {
            header: header.clone(),
            parts: [parts.next().expect("a part"), parts.next().expect("a part")],
        })
        .collect();
    assert!(!found.is_empty());
    found
}

/// Returns the largest difference of two samples.
pub fn largest_difference(found: &[u8], wanted: &[u8]) -> u8 {
    assert_eq!(found.len(), wanted.len());
    let pairs = found.iter().zip(wanted);
    pairs.map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}

/// Runs `check` with each beginning of the data, and with bits flipped at positions that a fixed generator chooses.
pub fn with_damage(data: &[u8], mut check: impl FnMut(&[u8], bool)) {
    for length in 0..data.len() {
        check(&data[..length], true);
    }
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let mut damaged = data.to_vec();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(..damaged.len());
            damaged[at] ^= 1 << random.u8(..8);
        }
        check(&damaged, false);
    }
}
