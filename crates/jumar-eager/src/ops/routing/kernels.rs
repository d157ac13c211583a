//! The order of tokens by expert.

use jumar_ops::view::RowMut;
use jumar_ops::{Call, Kernel, OpError, OpErrorKind};

use crate::element::any::internal;

fn data(text: String) -> OpError {
    OpError::new(OpErrorKind::Data, text)
}

/// Writes `column * rows + row` to each element of a matrix of int32.
pub(super) struct ColumnNumbers;

impl Kernel for ColumnNumbers {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let output = call.output::<i32>(0)?;
        let (&[rows, columns], &[down, right]) = (output.shape(), output.strides()) else {
            return Err(internal("row numbers are a matrix"));
        };
        for row in 0..rows {
            let to = output.row(row * down as usize, columns, right);
            for column in 0..columns {
                to.set(column, (column * rows + row) as i32);
            }
        }
        Ok(())
    }
}

/// Sorts keys by merging, with `other` as memory of the same length.
fn sort(keys: RowMut<'_, u64>, other: RowMut<'_, u64>) {
    let len = keys.len();
    let (mut from, mut to, mut width, mut moved) = (keys, other, 1, false);
    while width < len {
        let mut start = 0;
        while start < len {
            let (middle, end) = ((start + width).min(len), (start + 2 * width).min(len));
            let (mut left, mut right) = (start, middle);
            for slot in start..end {
                let take_left =
                    left < middle && (right >= end || from.get(left) <= from.get(right));
                let next = if take_left { &mut left } else { &mut right };
                to.set(slot, from.get(*next));
                *next += 1;
            }
            start = end;
        }
        std::mem::swap(&mut from, &mut to);
        (width, moved) = (2 * width, !moved);
    }
    if moved {
        keys.copy_from(from.as_row());
    }
}

/// Where the rows of the result go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// One behind the other, by expert.
    Joined,
    /// Each expert has space for this many rows; further ones are dropped.
    Padded(usize),
}

/// Orders assignments of tokens to experts by expert, and counts them.
///
/// Input 0 holds the experts, dense int64; input 1, if there is one, the number of each assignment. Outputs, dense int64:
/// the row of the result for each assignment (-1: none), the assignment of each row of the result (-1: none), the token of each
/// row of the result (-1: none), and the number of assignments of each expert. The last two may be absent.
pub(super) struct Route {
    pub operator: &'static str,
    /// The number of tokens, and of assignments of a token.
    pub tokens: usize,
    pub each: usize,
    /// Whether input 1 numbers the assignments.
    pub numbered: bool,
    /// The experts that count, from the first to behind the last.
    pub experts: (i64, i64),
    /// Whether an expert outside is skipped, and not an error.
    pub lenient: bool,
    pub space: Space,
}

impl Kernel for Route {
    fn scratch_bytes(&self) -> usize {
        2 * self.tokens * self.each * size_of::<u64>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let experts = call.input::<i64>(0)?.flat();
        let count = experts.len();
        let numbers = match self.numbered {
            true => Some(call.input::<i64>(1)?.flat()),
            false => None,
        };
        let keys = call.scratch::<u64>(0, count)?;
        let other = call.scratch::<u64>(count * size_of::<u64>(), count)?;
        let (first, end) = self.experts;
        for index in 0..count {
            let expert = experts.get(index);
            let inside = expert >= first && expert < end;
            if !inside && !self.lenient {
                return Err(data(format!(
                    "{}: the expert {expert} of assignment {index} lies outside; it must be between {first} and {}",
                    self.operator,
                    end - 1
                )));
            }
            let own = if inside {
                (expert - first) as u64
            } else {
                u64::from(u32::MAX)
            };
            keys.set(index, own << 32 | index as u64);
        }
        sort(keys, other);
        let (inverse, order) = (call.output::<i64>(0)?.flat(), call.output::<i64>(1)?.flat());
        let tokens = match call.outputs() > 2 {
            true => Some(call.output::<i64>(2)?.flat()),
            false => None,
        };
        let counts = match call.outputs() > 3 {
            true => Some(call.output::<i64>(3)?.flat()),
            false => None,
        };
        inverse.fill(-1);
        order.fill(-1);
        if let Some(tokens) = tokens {
            tokens.fill(-1);
        }
        if let Some(counts) = counts {
            counts.fill(0);
        }
        let (mut last, mut within) = (u64::MAX, 0);
        for slot in 0..count {
            let key = keys.get(slot);
            let (expert, index) = (key >> 32, (key & u64::from(u32::MAX)) as usize);
            if expert == u64::from(u32::MAX) {
                break;
            }
            if let Some(counts) = counts
                && (expert as usize) < counts.len()
            {
                let at = expert as usize;
                counts.set(at, counts.get(at) + 1);
            }
            (last, within) = match expert == last {
                true => (last, within + 1),
                false => (expert, 0),
            };
            let number = match numbers {
                Some(numbers) => {
                    let number = numbers.get(index);
                    match usize::try_from(number) {
                        Ok(own) if own < count => own,
                        _ => {
                            return Err(data(format!(
                                "{}: rowIdx is {number} at assignment {index}; it must be between 0 and {}",
                                self.operator,
                                count - 1
                            )));
                        }
                    }
                }
                None => index,
            };
            let row = match self.space {
                Space::Joined => slot,
                Space::Padded(capacity) if within < capacity => expert as usize * capacity + within,
                Space::Padded(_) => continue,
            };
            inverse.set(number, row as i64);
            if row < order.len() {
                order.set(row, number as i64);
            }
            if let Some(tokens) = tokens
                && row < tokens.len()
            {
                let token = match self.numbered {
                    true => number % self.tokens,
                    false => number / self.each,
                };
                tokens.set(row, token as i64);
            }
        }
        Ok(())
    }
}

/// Adds the numbers before each of a row of int64 to it.
pub(crate) struct RunningSum;

impl Kernel for RunningSum {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<i64>(0)?.flat(), call.output::<i64>(0)?.flat());
        let mut sum = 0;
        for index in 0..input.len() {
            sum = i64::saturating_add(sum, input.get(index));
            output.set(index, sum);
        }
        Ok(())
    }
}

/// Counts, for each number of the output's positions, the sorted int64 of the input that are not larger.
pub(super) struct CountUpTo;

impl Kernel for CountUpTo {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<i64>(0)?.flat(), call.output::<i64>(0)?.flat());
        for index in 0..output.len() {
            let (mut low, mut high) = (0, input.len());
            while low < high {
                let middle = low.midpoint(high);
                match input.get(middle) <= index as i64 {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            output.set(index, low as i64);
        }
        Ok(())
    }
}

/// Checks positions in a table: those outside are an error, or none (-1).
pub(crate) struct Positions {
    pub operator: &'static str,
    pub size: usize,
    pub lenient: bool,
}

impl Kernel for Positions {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<i64>(0)?.flat(), call.output::<i64>(0)?.flat());
        for index in 0..input.len() {
            let position = input.get(index);
            let inside = usize::try_from(position).is_ok_and(|position| position < self.size);
            if !inside && !self.lenient {
                return Err(data(format!(
                    "{}: the index {position} of a row lies outside; it must be between 0 and {}",
                    self.operator,
                    self.size as i64 - 1
                )));
            }
            output.set(index, if inside { position } else { -1 });
        }
        Ok(())
    }
}

/// Lists the true elements of a matrix of tokens and experts in the order of experts.
///
/// Input 0 is dense booleans as bytes. Outputs, dense int64: for each true element in the order of tokens, its slot in the
/// order of experts; and for each in the order of experts, its index in the matrix, and its token.
pub(super) struct RouteByMap {
    pub operator: &'static str,
    pub tokens: usize,
    pub experts: usize,
}

impl Kernel for RouteByMap {
    fn scratch_bytes(&self) -> usize {
        self.tokens * size_of::<i64>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let map = call.input::<u8>(0)?.flat();
        let (slots, elements) = (call.output::<i64>(0)?.flat(), call.output::<i64>(1)?.flat());
        let owners = call.output::<i64>(2)?.flat();
        let starts = call.scratch::<i64>(0, self.tokens)?;
        let mut total = 0;
        for token in 0..self.tokens {
            starts.set(token, total as i64);
            for expert in 0..self.experts {
                total += usize::from(map.get(token * self.experts + expert) != 0);
            }
        }
        if total != slots.len() {
            return Err(data(format!(
                "{}: routingMap is true for {total} elements, and numOutTokens and the outputs are for {} rows; pass as many as there are true elements",
                self.operator,
                slots.len()
            )));
        }
        let mut slot = 0;
        for expert in 0..self.experts {
            for token in 0..self.tokens {
                let element = token * self.experts + expert;
                if map.get(element) == 0 {
                    continue;
                }
                let start = starts.get(token);
                starts.set(token, start + 1);
                slots.set(start as usize, slot);
                elements.set(slot as usize, element as i64);
                owners.set(slot as usize, token as i64);
                slot += 1;
            }
        }
        Ok(())
    }
}
