//! Rounds, medians and the line that a measurement becomes.

use serde::Serialize;

/// The median of an odd number of rounds is one of them.
pub const ROUNDS: usize = 9;

/// One line of the table.
#[derive(Serialize)]
pub struct Line {
    /// What was measured.
    pub what: String,
    /// Jumar's figure.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What it is compared with, and that figure in the same unit.
    pub limit: Option<(String, f64)>,
    /// The largest value or ratio that is good enough; judged and shown if given.
    pub target: Option<Target>,
}

/// What is good enough.
#[derive(Serialize)]
pub enum Target {
    /// At most this many times the limit.
    Ratio(f64),
    /// At most this much, in the line's unit.
    Value(f64),
}

/// Gives the middle of some figures.
pub fn median(mut figures: Vec<f64>) -> f64 {
    assert!(!figures.is_empty(), "at least one round");
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Measures two things in turn and gives both medians. One round before the first is thrown away.
pub fn in_turn(mut ours: impl FnMut() -> f64, mut limit: impl FnMut() -> f64) -> (f64, f64) {
    ours();
    limit();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        a.push(ours());
        b.push(limit());
    }
    (median(a), median(b))
}

/// Measures one thing.
pub fn alone(mut ours: impl FnMut() -> f64) -> f64 {
    ours();
    median((0..ROUNDS).map(|_| ours()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_in_order_of_size() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![5.0]), 5.0);
    }

    #[test]
    fn both_sides_are_measured_equally_often() {
        let (mut ours, mut limit) = (0, 0);
        in_turn(
            || {
                ours += 1;
                0.0
            },
            || {
                limit += 1;
                0.0
            },
        );
        assert_eq!((ours, limit), (ROUNDS + 1, ROUNDS + 1));
    }
}
