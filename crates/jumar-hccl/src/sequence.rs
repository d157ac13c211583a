//! Numbers of operations that a rank has reached or ended, in whichever order its streams came to them.

/// Numbers from 0 on, of which most come in order.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    below: u64,
    /// Those that came before a lower one, in no order.
    beyond: Vec<u64>,
}

impl Sequence {
    /// Adds a number.
    pub(crate) fn add(&mut self, number: u64) {
        self.beyond.push(number);
        while let Some(at) = self.beyond.iter().position(|one| *one == self.below) {
            self.beyond.swap_remove(at);
            self.below += 1;
        }
    }

    /// Returns the first number that has not come: all below have.
    pub(crate) fn below(&self) -> u64 {
        self.below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_once_all_before_them_have_come() {
        let mut sequence = Sequence::default();
        let below = [(2, 0), (0, 1), (3, 1), (1, 4), (4, 5)];
        for (number, expected) in below {
            sequence.add(number);
            assert_eq!(sequence.below(), expected, "after {number}");
        }
        assert!(sequence.beyond.is_empty());
    }
}
