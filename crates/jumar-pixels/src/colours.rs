//! Conversion of colours.

/// A conversion of three components with eight bits: integer factors, an addend, and a shift that rounds down.
///
/// The addend contains what is subtracted from a component before, what is added afterwards, and the rounding: half of the divisor rounds
/// to the nearest value, nothing rounds down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    factors: [[i32; 3]; 3],
    addends: [i64; 3],
    bits: u32,
}

impl Colours {
    /// Creates the conversion to `((factors * (from - before)) + addends) >> bits`, limited to 0 to 255.
    pub fn new(factors: [[i32; 3]; 3], before: [i32; 3], addends: [i64; 3], bits: u32) -> Colours {
        let addends = std::array::from_fn(|row| {
            let subtracted = factors[row].iter().zip(before);
            let subtracted =
                subtracted.map(|(factor, before)| i64::from(*factor) * i64::from(before));
            addends[row] - subtracted.sum::<i64>()
        });
        Colours {
            factors,
            addends,
            bits,
        }
    }

    /// Converts a row of each component. Samples beyond the shortest row are left out.
    pub fn convert(&self, from: [&[u8]; 3], to: [&mut [u8]; 3]) {
        for ((factors, addend), to) in self.factors.iter().zip(self.addends).zip(to) {
            let factors_sum: i64 = factors
                .iter()
                .map(|factor| i64::from(factor.unsigned_abs()))
                .sum();
            let most = factors_sum * 255 + addend.abs();
            match i32::try_from(addend) {
                Ok(addend) if most <= i64::from(i32::MAX) => {
                    let bits = self.bits;
                    let [a, b, c] = *factors;
                    row(from, to, |x, y, z| {
                        let sum = a * i32::from(x) + b * i32::from(y) + c * i32::from(z) + addend;
                        (sum >> bits).clamp(0, 255) as u8
                    });
                }
                _ => {
                    let [a, b, c] = factors.map(i64::from);
                    row(from, to, |x, y, z| {
                        let sum = a * i64::from(x) + b * i64::from(y) + c * i64::from(z) + addend;
                        (sum >> self.bits).clamp(0, 255) as u8
                    });
                }
            }
        }
    }
}

fn row([first, second, third]: [&[u8]; 3], to: &mut [u8], convert: impl Fn(u8, u8, u8) -> u8) {
    let from = first.iter().zip(second).zip(third);
    for (to, ((x, y), z)) in to.iter_mut().zip(from) {
        *to = convert(*x, *y, *z);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_one(colours: &Colours, from: [u8; 3]) -> [u8; 3] {
        let mut to = [[0]; 3];
        let [a, b, c] = &mut to;
        colours.convert([&from[..1], &from[1..2], &from[2..]], [a, b, c]);
        to.map(|[sample]| sample)
    }

    #[test]
    fn the_addend_decides_how_a_result_is_rounded() {
        let halves = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
        let down = Colours::new(halves, [0; 3], [0; 3], 1);
        let nearest = Colours::new(halves, [0; 3], [1; 3], 1);
        assert_eq!(of_one(&down, [1, 2, 255]), [0, 1, 127]);
        assert_eq!(of_one(&nearest, [1, 2, 255]), [1, 1, 128]);
    }

    #[test]
    fn results_are_limited_and_large_factors_do_not_wrap() {
        let large = 1 << 20;
        let factors = [[large, large, large], [-large, -large, -large], [0, 0, 256]];
        let colours = Colours::new(factors, [-large, 0, large], [0, 0, 0], 8);
        // In 64 bits: 2^20 * (200 + 2^20 + 100 + 50 - 2^20), its negative, and 50 - 2^20.
        assert_eq!(of_one(&colours, [200, 100, 50]), [255, 0, 0]);
        let colours = Colours::new(factors, [0, 0, -205], [0, large as i64 * 255, 0], 8);
        assert_eq!(of_one(&colours, [0, 0, 50]), [255, 0, 255]);
    }
}
