//! Rounds, medians, and the table that prints each line as soon as it is measured: a stop loses nothing.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::placement::Placement;

/// The median of an odd number of rounds is one of them.
pub const ROUNDS: usize = 21;
/// A row that takes longer is measured in fewer rounds, five at least.
const USUAL: Duration = Duration::from_millis(1500);
const FEWER: usize = 5;
/// Where something else holds the machine up, three rounds have to do.
const LONGEST: Duration = Duration::from_secs(6);
const FEWEST: usize = 3;

/// Returns whether a row that has had some rounds since `start` needs more.
fn goes_on(rounds: usize, start: Instant) -> bool {
    let most = match start.elapsed() {
        spent if spent < USUAL => ROUNDS,
        spent if spent < LONGEST => FEWER,
        _ => FEWEST,
    };
    rounds < most
}

/// Lines as they come.
pub struct Table {
    placement: Placement,
    begin: Instant,
    last: Instant,
}

impl Table {
    /// Begins a table of a placement.
    pub fn new(placement: Placement) -> Table {
        let now = Instant::now();
        Table {
            placement,
            begin: now,
            last: now,
        }
    }

    /// Prints a line, named after the placement, and how long it took.
    pub fn push(&mut self, mut line: Line) {
        line.what = self.placement.names(&line.what);
        let now = Instant::now();
        eprintln!(
            "{:6.1} s, {:4.1} s: {}: {:.4} {}",
            (now - self.begin).as_secs_f64(),
            (now - self.last).as_secs_f64(),
            line.what,
            line.value,
            line.unit
        );
        self.last = now;
        println!(
            "{}",
            serde_json::to_string(&line).expect("plain numbers and text")
        );
    }
}

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

/// Returns the median.
pub fn median(mut figures: Vec<f64>) -> f64 {
    assert!(!figures.is_empty(), "at least one round");
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Measures two functions in turn and returns both medians. A first round is discarded.
pub fn in_turn(mut ours: impl FnMut() -> f64, mut limit: impl FnMut() -> f64) -> (f64, f64) {
    let start = Instant::now();
    ours();
    limit();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    while goes_on(a.len(), start) {
        a.push(ours());
        b.push(limit());
    }
    (median(a), median(b))
}

/// Measures one thing.
pub fn alone(mut ours: impl FnMut() -> f64) -> f64 {
    let start = Instant::now();
    ours();
    let mut figures = Vec::new();
    while goes_on(figures.len(), start) {
        figures.push(ours());
    }
    median(figures)
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
    fn a_long_row_has_fewer_rounds() {
        let ago = |time: Duration| Instant::now().checked_sub(time).expect("a moment ago");
        assert!(goes_on(ROUNDS - 1, ago(Duration::ZERO)));
        assert!(!goes_on(ROUNDS, ago(Duration::ZERO)));
        assert!(goes_on(FEWER - 1, ago(USUAL)) && !goes_on(FEWER, ago(USUAL)));
        assert!(goes_on(FEWEST - 1, ago(LONGEST)) && !goes_on(FEWEST, ago(LONGEST)));
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
