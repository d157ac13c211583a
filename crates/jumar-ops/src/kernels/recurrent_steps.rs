//! LSTM and GRU cells over the times of a sequence, with all that their gradients read, and the gradients.
//!
//! The caller multiplies the input by its weights, for all times in one product. These kernels add what the state contributes,
//! one time after the other. The rows of a time are contiguous. A packed sequence has fewer rows from time to time.

use super::generic::{Algorithm, Ints, Io, Working};
use super::recurrent::ActivatedRow;
use super::recurrent_activation::Activation;
use crate::simd::wide::wide;
use crate::view::{Row, RowMut};
use crate::{InferCx, OpError, PrepareCx, TensorType, UNKNOWN};

/// Elements of gates that are worth a thread. Tests have few.
const GRAIN: usize = if cfg!(test) { 8 } else { 1 << 14 };

/// What a cell computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Lstm,
    Gru,
}

impl Kind {
    /// Returns the number of gates.
    pub fn gates(self) -> usize {
        match self {
            Kind::Lstm => 4,
            Kind::Gru => 3,
        }
    }
}

/// The rows of one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: usize,
    count: usize,
}

/// The times of a sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    rows: usize,
    batch: usize,
    hidden: usize,
    reversed: bool,
    /// The number of times; none where another input has the number of rows of each.
    steps: Option<usize>,
}

impl Times {
    /// Reads the sizes of a forward or backward pass from the input that has a row for each time and sequence, and from the
    /// first state. `sizes` is the input with the number of rows of each time.
    pub fn new(
        cx: &PrepareCx<'_>,
        rows: usize,
        state: usize,
        sizes: usize,
    ) -> Result<Times, OpError> {
        let (rows, state) = (cx.shape(rows)?[0], cx.shape(state)?);
        let (batch, hidden) = (state[0], state[1]);
        let steps = match cx.has(sizes) {
            true => None,
            false => Some(rows.checked_div(batch).unwrap_or(0)),
        };
        Ok(Times {
            rows,
            batch,
            hidden,
            reversed: cx.attrs().int("reversed")? != 0,
            steps,
        })
    }

    /// Returns the elements of the state of the whole batch.
    fn state(&self) -> usize {
        self.batch * self.hidden
    }

    /// Returns how many rows are worth a thread.
    fn grain(&self, gates: usize) -> usize {
        GRAIN.div_ceil((gates * self.hidden).max(1))
    }

    /// Returns the rows of each time. `sizes` is the input that holds their numbers.
    ///
    /// # Errors
    ///
    /// Data: numbers that grow, are negative or larger than the batch, or do not add up to all rows.
    fn spans<'a, W: Working>(&self, io: &Io<'a, W>, sizes: usize) -> Result<Spans<'a>, OpError> {
        let (batch, rows) = (self.batch, self.rows);
        if let Some(steps) = self.steps {
            let sizes = None;
            return Ok(Spans {
                steps,
                batch,
                rows,
                sizes,
            });
        }
        let sizes = io.ints(sizes)?;
        let (mut most, mut sum) = (batch as i64, 0i64);
        for time in 0..sizes.len() {
            let size = sizes.get(time);
            if !(0..=most).contains(&size) {
                return Err(OpError::data(format!(
                    "the packed sequence has {size} rows at time {time}; at most {most} are possible"
                )));
            }
            most = size;
            sum += size;
        }
        if sum != rows as i64 {
            return Err(OpError::data(format!(
                "the times of the packed sequence have {sum} rows together; {rows} are given"
            )));
        }
        Ok(Spans {
            steps: sizes.len(),
            batch,
            rows,
            sizes: Some(sizes),
        })
    }
}

/// The rows of each time of a sequence.
struct Spans<'a> {
    steps: usize,
    batch: usize,
    rows: usize,
    sizes: Option<Ints<'a>>,
}

impl Spans<'_> {
    /// Calls `visit` with the rows of each time and with those of the time that is visited next. `up`: from the first time on.
    fn walk(&self, up: bool, mut visit: impl FnMut(Span, Option<Span>)) {
        let mut start = if up { 0 } else { self.rows };
        let mut span = |step: usize| {
            if step >= self.steps {
                return None;
            }
            let time = if up { step } else { self.steps - 1 - step };
            let count = match &self.sizes {
                Some(sizes) => sizes.get(time) as usize,
                None => self.batch,
            };
            if up {
                start += count;
                Some(Span {
                    start: start - count,
                    count,
                })
            } else {
                start -= count;
                Some(Span { start, count })
            }
        };
        let (mut step, mut current) = (1, span(0));
        while let Some(own) = current {
            current = span(step);
            step += 1;
            visit(own, current);
        }
    }
}

/// Returns the rows and columns of an input with two dimensions.
fn matrix(cx: &InferCx<'_>, index: usize) -> Result<[i64; 2], OpError> {
    let ty = cx.input(index)?;
    match (ty.rank(), &ty.shape[..]) {
        (None, _) => Ok([UNKNOWN; 2]),
        (_, &[rows, columns]) => Ok([rows, columns]),
        _ => Err(OpError::invalid(format!(
            "input {index} is {ty}; it must have 2 dimensions"
        ))),
    }
}

/// Refuses inputs of other shapes.
fn check(cx: &InferCx<'_>, inputs: &[(usize, [i64; 2])]) -> Result<(), OpError> {
    for &(index, wanted) in inputs {
        if !cx.has(index) {
            continue;
        }
        let own = matrix(cx, index)?;
        let differs = |(own, wanted): (&i64, &i64)| *own >= 0 && *wanted >= 0 && own != wanted;
        if own.iter().zip(&wanted).any(differs) {
            return Err(OpError::invalid(format!(
                "input {index} is {}; it must have the shape {wanted:?}",
                cx.input(index)?
            )));
        }
    }
    Ok(())
}

/// Refuses rows that the batch does not divide, unless a packed sequence has them.
fn check_rows(cx: &InferCx<'_>, rows: i64, batch: i64, sizes: usize) -> Result<(), OpError> {
    if cx.has(sizes) {
        let sizes = cx.input(sizes)?;
        return match sizes.rank() {
            None | Some(1) => Ok(()),
            _ => Err(OpError::invalid(format!(
                "the number of rows of each time is {sizes}; it must have 1 dimension"
            ))),
        };
    }
    let divides = rows < 0 || batch < 0 || rows.checked_rem(batch).unwrap_or(rows) == 0;
    if divides {
        return Ok(());
    }
    Err(OpError::invalid(format!(
        "the sequence has {rows} rows, which is not a multiple of the batch {batch}"
    )))
}

/// Infers the outputs of a forward pass: `kept` outputs with a row for each time and sequence, and the last states. An LSTM has
/// one more of the former, which the mask zeroes.
pub(crate) fn infer(
    cx: &InferCx<'_>,
    kind: Kind,
    [kept, states]: [usize; 2],
) -> Result<Vec<TensorType>, OpError> {
    let dtype = cx.input(0)?.dtype;
    let [rows, _] = matrix(cx, 0)?;
    let [batch, hidden] = matrix(cx, 2)?;
    let all = if hidden < 0 {
        UNKNOWN
    } else {
        hidden.saturating_mul(kind.gates() as i64)
    };
    check(cx, &[(0, [rows, all]), (1, [all, hidden])])?;
    let row = TensorType::new(dtype, [rows, hidden]);
    let state = TensorType::new(dtype, [batch, hidden]);
    let mut outputs = vec![row.clone(); kept];
    outputs.extend(vec![state; states]);
    let sizes = match kind {
        Kind::Lstm => {
            cx.same_types([0, 1, 2, 3])?;
            check(cx, &[(3, [batch, hidden]), (4, [rows, hidden])])?;
            outputs.push(row);
            5
        }
        Kind::Gru => {
            cx.same_types([0, 1, 2, 3])?;
            check(cx, &[(3, [1, all])])?;
            4
        }
    };
    check_rows(cx, rows, batch, sizes)?;
    Ok(outputs)
}

/// Infers the outputs of a backward pass. `rows`: the inputs with a row for each time and sequence; `states`: those of the batch;
/// the weights follow them. The results are `sums` gradients of the sums of the gates, `firsts` of the first states, and the
/// hidden value that each row began with.
pub(crate) fn infer_gradient(
    cx: &InferCx<'_>,
    kind: Kind,
    [rows, states]: [&[usize]; 2],
    [weights, sizes]: [usize; 2],
    [sums, firsts]: [usize; 2],
) -> Result<Vec<TensorType>, OpError> {
    let dtype = cx.input(0)?.dtype;
    let [count, _] = matrix(cx, 0)?;
    let [batch, hidden] = matrix(cx, states[0])?;
    let all = if hidden < 0 {
        UNKNOWN
    } else {
        hidden.saturating_mul(kind.gates() as i64)
    };
    for (inputs, shape) in [(rows, [count, hidden]), (states, [batch, hidden])] {
        for &index in inputs {
            check(cx, &[(index, shape)])?;
        }
    }
    check(cx, &[(weights, [hidden, all])])?;
    check_rows(cx, count, batch, sizes)?;
    cx.same_types(0..=weights)?;
    let mut outputs = vec![TensorType::new(dtype, [count, all]); sums];
    outputs.extend(vec![TensorType::new(dtype, [batch, hidden]); firsts]);
    outputs.push(TensorType::new(dtype, [count, hidden]));
    Ok(outputs)
}

/// Applies an activation to a row, in place.
fn activate<W: Working>(activation: Activation, row: RowMut<'_, W>) {
    wide(ActivatedRow { activation, row });
}

/// Cuts memory into parts of these lengths.
fn parts<W: Working, const N: usize>(
    scratch: RowMut<'_, W>,
    lens: [usize; N],
) -> [RowMut<'_, W>; N] {
    let mut at = 0;
    lens.map(|len| {
        at += len;
        scratch.slice(at - len, len)
    })
}

/// Returns the row `at` of rows of `len` elements.
fn row_of<W: Working>(of: RowMut<'_, W>, at: usize, len: usize) -> RowMut<'_, W> {
    of.slice(at * len, len)
}

/// Returns the larger of the scratch that both working types need.
fn largest(f32: impl IntoIterator<Item = usize>, f64: impl IntoIterator<Item = usize>) -> usize {
    let (one, two): (usize, usize) = (f32.into_iter().sum(), f64.into_iter().sum());
    one.max(two)
}

/// Long short-term memory.
///
/// Inputs: sums of the gates by the input `[rows, 4 * hidden]`, weights of the state `[4 * hidden, hidden]`, first hidden values
/// and cells, a mask `[rows, hidden]`, the number of rows of each time. Outputs: input gate, candidate, forget gate, output gate,
/// hidden values, cells and their hyperbolic tangents, each with a row for each time and sequence; the last hidden values and
/// cells; the hidden values where the mask is 1, and 0 elsewhere. Where the mask is 0, the state stays as it was.
pub(crate) struct Lstm {
    times: Times,
    gates: Gates,
    forget_bias: f64,
}

/// The positions of the input gate, the candidate, the forget gate and the output gate among the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gates([usize; 4]);

impl Gates {
    /// Reads an order such as `ijfo`. The candidate has the letter j or c.
    fn named(order: &str) -> Result<Gates, OpError> {
        let position = |letters: [char; 2]| order.chars().position(|own| letters.contains(&own));
        let found = [['i'; 2], ['j', 'c'], ['f'; 2], ['o'; 2]].map(position);
        match found {
            [Some(i), Some(j), Some(f), Some(o)] if order.len() == 4 => Ok(Gates([i, j, f, o])),
            _ => Err(OpError::invalid(format!(
                "gate_order is {order}; it must have each of the letters i, j, f and o once"
            ))),
        }
    }
}

impl Lstm {
    pub fn new(cx: &PrepareCx<'_>) -> Result<Lstm, OpError> {
        let attrs = cx.attrs();
        Ok(Lstm {
            times: Times::new(cx, 0, 2, 5)?,
            gates: Gates::named(attrs.str("gate_order")?)?,
            forget_bias: attrs.float("forget_bias")?.into(),
        })
    }

    fn parts<W: Working>(&self) -> [usize; 2] {
        let hidden = self.times.hidden;
        [4 * self.times.state(), W::packed_len(4 * hidden, hidden)]
    }
}

impl Algorithm for Lstm {
    fn scratch(&self) -> usize {
        largest(self.parts::<f32>(), self.parts::<f64>())
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let Times {
            hidden, reversed, ..
        } = self.times;
        let (sums, mask) = (io.input(0)?, io.optional(4)?);
        let spans = self.times.spans(io, 5)?;
        let output = |index: usize| io.output(index);
        let [i, j, f, o] = [output(0)?, output(1)?, output(2)?, output(3)?];
        let [values, cells, squashed] = [output(4)?, output(5)?, output(6)?];
        let (state, memory, shown) = (output(7)?, output(8)?, io.wanted(9)?);
        state.copy_from(io.input(2)?);
        memory.copy_from(io.input(3)?);
        if hidden == 0 {
            return Ok(());
        }
        let [from_state, packed] = parts(io.scratch()?, self.parts::<W>());
        W::pack(4 * hidden, hidden, io.input(1)?, packed);
        let (one, bias) = (W::one(), W::of(self.forget_bias));
        let row = 4 * hidden;
        let step = |at: usize, sequence: usize| {
            let sum = |gate: usize| sums.slice(at * row + self.gates.0[gate] * hidden, hidden);
            let own = |gate: usize| {
                from_state.slice(sequence * row + self.gates.0[gate] * hidden, hidden)
            };
            let [i, j, f, o] = [i, j, f, o].map(|of| row_of(of, at, hidden));
            let [value, cell, squashed] =
                [values, cells, squashed].map(|of| row_of(of, at, hidden));
            let [state, memory] = [state, memory].map(|of| of.slice(sequence * hidden, hidden));
            i.map2(sum(0), own(0).as_row(), |a: W, b: W| a + b);
            j.map2(sum(1), own(1).as_row(), |a: W, b: W| a + b);
            f.map2(sum(2), own(2).as_row(), |a: W, b: W| a + b + bias);
            o.map2(sum(3), own(3).as_row(), |a: W, b: W| a + b);
            for gate in [i, f, o] {
                activate(Activation::Sigmoid, gate);
            }
            activate(Activation::Tanh, j);
            let part = own(0);
            part.map2(i.as_row(), j.as_row(), |i: W, j: W| i * j);
            cell.map2(f.as_row(), memory.as_row(), |f: W, c: W| f * c);
            cell.update(part.as_row(), |kept, new| kept + new);
            squashed.copy_from(cell.as_row());
            activate(Activation::Tanh, squashed);
            value.map2(o.as_row(), squashed.as_row(), |o: W, c: W| o * c);
            let mask = mask.map(|mask| mask.slice(at * hidden, hidden));
            if let Some(mask) = mask {
                value.update(mask, |new, mask| mask * new);
                cell.update(mask, |new, mask| mask * new);
            }
            if let Some(shown) = shown {
                row_of(shown, at, hidden).copy_from(value.as_row());
            }
            if let Some(mask) = mask {
                for (new, old) in [(value, state), (cell, memory)] {
                    part.map2(old.as_row(), mask, |old: W, mask: W| (one - mask) * old);
                    new.update(part.as_row(), |new, old| new + old);
                }
            }
            state.copy_from(value.as_row());
            memory.copy_from(cell.as_row());
        };
        spans.walk(!reversed, |span, _| {
            let grain = self.times.grain(4);
            io.call.workers().ranges(span.count, grain, |first, count| {
                let from = state.as_row().slice(first * hidden, count * hidden);
                let to = from_state.slice(first * row, count * row);
                W::packed_product((count, row, hidden), from, packed.as_row(), None, (to, row));
                for sequence in first..first + count {
                    step(span.start + sequence, sequence);
                }
            });
        });
        Ok(())
    }
}

/// The gradient of [`Lstm`].
///
/// Inputs: gradients of the hidden values of all times, of the last hidden values and of the last cells; the seven outputs with
/// a row for each time, as there; first hidden values and cells; weights of the state `[hidden, 4 * hidden]`; the mask; the number
/// of rows of each time. Outputs: gradients of the sums, of the first hidden values and of the first cells; the hidden values
/// that each row began with.
pub(crate) struct LstmGradient {
    times: Times,
    gates: Gates,
}

impl LstmGradient {
    pub fn new(cx: &PrepareCx<'_>) -> Result<LstmGradient, OpError> {
        Ok(LstmGradient {
            times: Times::new(cx, 0, 1, 14)?,
            gates: Gates::named(cx.attrs().str("gate_order")?)?,
        })
    }

    fn parts<W: Working>(&self) -> [usize; 2] {
        let hidden = self.times.hidden;
        [self.times.state(), W::packed_len(hidden, 4 * hidden)]
    }
}

/// Returns the row that a sequence began a time with: that of the time before, or the first state.
fn before<'a, W: Working>(
    all: Row<'a, W>,
    first: Row<'a, W>,
    earlier: Option<Span>,
    sequence: usize,
    hidden: usize,
) -> Row<'a, W> {
    match earlier {
        Some(span) if sequence < span.count => all.slice((span.start + sequence) * hidden, hidden),
        _ => first.slice(sequence * hidden, hidden),
    }
}

impl Algorithm for LstmGradient {
    fn scratch(&self) -> usize {
        largest(self.parts::<f32>(), self.parts::<f64>())
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let Times {
            hidden, reversed, ..
        } = self.times;
        let by_values = io.input(0)?;
        let [i, j, f, o] = [io.input(3)?, io.input(4)?, io.input(5)?, io.input(6)?];
        let [values, cells, squashed] = [io.input(7)?, io.input(8)?, io.input(9)?];
        let (first_values, first_cells) = (io.input(10)?, io.input(11)?);
        let mask = io.optional(13)?;
        let spans = self.times.spans(io, 14)?;
        let (to_sums, starts) = (io.output(0)?, io.output(3)?);
        // What arrives from later times.
        let (by_state, by_memory) = (io.output(1)?, io.output(2)?);
        by_state.copy_from(io.input(1)?);
        by_memory.copy_from(io.input(2)?);
        if hidden == 0 {
            return Ok(());
        }
        let [product, packed] = parts(io.scratch()?, self.parts::<W>());
        let row = 4 * hidden;
        W::pack(hidden, row, io.input(12)?, packed);
        let (zero, one) = (W::zero(), W::one());
        let step = |at: usize, sequence: usize, earlier: Option<Span>| {
            let start = before(values, first_values, earlier, sequence, hidden);
            let memory = before(cells, first_cells, earlier, sequence, hidden);
            starts.slice(at * hidden, hidden).copy_from(start);
            let slope = |gate: W| gate * (one - gate);
            for unit in 0..hidden {
                let (own, carried) = (at * hidden + unit, sequence * hidden + unit);
                let kept = mask.map_or(one, |mask| mask.get(own));
                let [i, j, f, o, squashed] = [i, j, f, o, squashed].map(|of| of.get(own));
                let by_value = kept * (by_state.get(carried) + by_values.get(own));
                let by_cell =
                    kept * by_memory.get(carried) + by_value * o * (one - squashed * squashed);
                let gates = [
                    by_cell * j * slope(i),
                    by_cell * i * (one - j * j),
                    by_cell * memory.get(unit) * slope(f),
                    by_value * squashed * slope(o),
                ];
                for (position, gate) in self.gates.0.into_iter().zip(gates) {
                    to_sums.set(at * row + position * hidden + unit, gate);
                }
                let passed = |by: W| match mask {
                    Some(_) => (one - kept) * by,
                    None => zero,
                };
                by_memory.set(carried, by_cell * f + passed(by_memory.get(carried)));
                by_state.set(carried, passed(by_state.get(carried)));
            }
        };
        spans.walk(reversed, |span, earlier| {
            let grain = self.times.grain(4);
            io.call.workers().ranges(span.count, grain, |first, count| {
                for sequence in first..first + count {
                    step(span.start + sequence, sequence, earlier);
                }
                let at = span.start + first;
                let from = to_sums.as_row().slice(at * row, count * row);
                let to = product.slice(first * hidden, count * hidden);
                W::packed_product(
                    (count, hidden, row),
                    from,
                    packed.as_row(),
                    None,
                    (to, hidden),
                );
                by_state
                    .slice(first * hidden, count * hidden)
                    .update(to.as_row(), |kept, new| kept + new);
            });
        });
        Ok(())
    }
}

/// A gated recurrent unit whose reset gate comes after the product with the state.
///
/// Inputs: sums of the gates by the input `[rows, 3 * hidden]` in the order reset, update, candidate; weights of the state
/// `[3 * hidden, hidden]`; first hidden values; biases of the state `[1, 3 * hidden]`; the number of rows of each time. Outputs:
/// reset gate, update gate, candidate, what the state contributes to the candidate, and hidden values, each with a row for each
/// time and sequence; the last hidden values.
pub(crate) struct Gru {
    times: Times,
}

impl Gru {
    pub fn new(cx: &PrepareCx<'_>) -> Result<Gru, OpError> {
        Ok(Gru {
            times: Times::new(cx, 0, 2, 4)?,
        })
    }

    fn parts<W: Working>(&self) -> [usize; 2] {
        let hidden = self.times.hidden;
        [3 * self.times.state(), W::packed_len(3 * hidden, hidden)]
    }
}

impl Algorithm for Gru {
    fn scratch(&self) -> usize {
        largest(self.parts::<f32>(), self.parts::<f64>())
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let Times {
            hidden, reversed, ..
        } = self.times;
        let (sums, biases) = (io.input(0)?, io.optional(3)?);
        let spans = self.times.spans(io, 4)?;
        let output = |index: usize| io.output(index);
        let [reset, update, new] = [output(0)?, output(1)?, output(2)?];
        let (own_part, values, state) = (output(3)?, output(4)?, output(5)?);
        state.copy_from(io.input(2)?);
        if hidden == 0 {
            return Ok(());
        }
        let [from_state, packed] = parts(io.scratch()?, self.parts::<W>());
        let row = 3 * hidden;
        W::pack(row, hidden, io.input(1)?, packed);
        let step = |at: usize, sequence: usize| {
            let sum = |gate: usize| sums.slice(at * row + gate * hidden, hidden);
            let own = |gate: usize| {
                let start = sequence * row + gate * hidden;
                from_state.as_row().slice(start, hidden)
            };
            let [reset, update, new] = [reset, update, new].map(|of| row_of(of, at, hidden));
            let [own_part, value] = [own_part, values].map(|of| row_of(of, at, hidden));
            let state = state.slice(sequence * hidden, hidden);
            reset.map2(sum(0), own(0), |a: W, b: W| a + b);
            update.map2(sum(1), own(1), |a: W, b: W| a + b);
            activate(Activation::Sigmoid, reset);
            activate(Activation::Sigmoid, update);
            own_part.copy_from(own(2));
            new.map2(reset.as_row(), own(2), |reset: W, part: W| reset * part);
            new.update(sum(2), |new, sum| new + sum);
            activate(Activation::Tanh, new);
            value.map2(state.as_row(), new.as_row(), |old: W, new: W| old - new);
            value.update(update.as_row(), |difference, update| update * difference);
            value.update(new.as_row(), |part, new| part + new);
            state.copy_from(value.as_row());
        };
        spans.walk(!reversed, |span, _| {
            let grain = self.times.grain(3);
            io.call.workers().ranges(span.count, grain, |first, count| {
                let from = state.as_row().slice(first * hidden, count * hidden);
                let to = from_state.slice(first * row, count * row);
                let sizes = (count, row, hidden);
                W::packed_product(sizes, from, packed.as_row(), biases, (to, row));
                for sequence in first..first + count {
                    step(span.start + sequence, sequence);
                }
            });
        });
        Ok(())
    }
}

/// The gradient of [`Gru`].
///
/// Inputs: gradients of the hidden values of all times and of the last ones; the five outputs with a row for each time, as there;
/// first hidden values; weights of the state `[hidden, 3 * hidden]`; the number of rows of each time. Outputs: gradients of the
/// sums by the input and of those by the state; of the first hidden values; the hidden values that each row began with.
pub(crate) struct GruGradient {
    times: Times,
}

impl GruGradient {
    pub fn new(cx: &PrepareCx<'_>) -> Result<GruGradient, OpError> {
        Ok(GruGradient {
            times: Times::new(cx, 0, 1, 9)?,
        })
    }

    fn parts<W: Working>(&self) -> [usize; 2] {
        let hidden = self.times.hidden;
        [self.times.state(), W::packed_len(hidden, 3 * hidden)]
    }
}

impl Algorithm for GruGradient {
    fn scratch(&self) -> usize {
        largest(self.parts::<f32>(), self.parts::<f64>())
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let Times {
            hidden, reversed, ..
        } = self.times;
        let by_values = io.input(0)?;
        let [reset, update, new] = [io.input(2)?, io.input(3)?, io.input(4)?];
        let (own_part, values, first_values) = (io.input(5)?, io.input(6)?, io.input(7)?);
        let spans = self.times.spans(io, 9)?;
        let (to_sums, to_own, by_state) = (io.output(0)?, io.output(1)?, io.output(2)?);
        let starts = io.output(3)?;
        by_state.copy_from(io.input(1)?);
        if hidden == 0 {
            return Ok(());
        }
        let [product, packed] = parts(io.scratch()?, self.parts::<W>());
        let row = 3 * hidden;
        W::pack(hidden, row, io.input(8)?, packed);
        let one = W::one();
        let step = |at: usize, sequence: usize, earlier: Option<Span>| {
            let start = before(values, first_values, earlier, sequence, hidden);
            starts.slice(at * hidden, hidden).copy_from(start);
            for unit in 0..hidden {
                let (own, carried) = (at * hidden + unit, sequence * hidden + unit);
                let [reset, update, new, part] =
                    [reset, update, new, own_part].map(|of| of.get(own));
                let by_value = by_state.get(carried) + by_values.get(own);
                let by_new = by_value * (one - update) * (one - new * new);
                let by_reset = by_new * part * reset * (one - reset);
                let by_update = by_value * (start.get(unit) - new) * update * (one - update);
                let sums = [by_reset, by_update, by_new];
                let state = [by_reset, by_update, by_new * reset];
                for gate in 0..3 {
                    let to = at * row + gate * hidden + unit;
                    to_sums.set(to, sums[gate]);
                    to_own.set(to, state[gate]);
                }
                by_state.set(carried, by_value * update);
            }
        };
        spans.walk(reversed, |span, earlier| {
            let grain = self.times.grain(3);
            io.call.workers().ranges(span.count, grain, |first, count| {
                for sequence in first..first + count {
                    step(span.start + sequence, sequence, earlier);
                }
                let at = span.start + first;
                let from = to_own.as_row().slice(at * row, count * row);
                let to = product.slice(first * hidden, count * hidden);
                W::packed_product(
                    (count, hidden, row),
                    from,
                    packed.as_row(),
                    None,
                    (to, hidden),
                );
                by_state
                    .slice(first * hidden, count * hidden)
                    .update(to.as_row(), |kept, new| kept + new);
            });
        });
        Ok(())
    }
}
