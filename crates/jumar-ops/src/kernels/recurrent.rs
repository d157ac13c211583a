//! Recurrent layers: simple, GRU and LSTM cells over sequences, in one or both directions.
//!
//! The part of the gates that comes from the input is one matrix product for many steps at once; what comes from the
//! state is one a step. Weights are packed when a model is compiled, or else once an execution.

use jumar_types::dtype::DataType;

use super::generic::{Algorithm, Io, Working};
use super::linear::pack_matrix;
use super::recurrent_activation::Activation;
use super::recurrent_quantised::{self as quantised, Rounding};
use crate::simd::PANEL;
use crate::simd::wide::{Work, wide};
use crate::view::{Row, RowMut, separate_groups};
use crate::{
    AttrDef, AttrKind, InferCx, OpError, PrepareCx, Tensor, TensorType, UNKNOWN, attr::AttrReader,
};

/// What a step makes of its gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Simple,
    /// Whether the reset gate comes after the product with the state.
    Gru {
        linear_before_reset: bool,
    },
    /// Whether the forget gate is what the input gate leaves.
    Lstm {
        input_forget: bool,
    },
}

impl Cell {
    fn gates(self) -> usize {
        match self {
            Cell::Simple => 1,
            Cell::Gru { .. } => 3,
            Cell::Lstm { .. } => 4,
        }
    }

    fn defaults(self) -> &'static [&'static str] {
        match self {
            Cell::Simple => &["Tanh"],
            Cell::Gru { .. } => &["Sigmoid", "Tanh"],
            Cell::Lstm { .. } => &["Sigmoid", "Tanh", "Tanh"],
        }
    }
}

/// The attributes that all recurrent layers have.
pub(crate) const ATTRS: [AttrDef; 8] = [
    AttrDef::floats("activation_alpha", &[]),
    AttrDef::floats("activation_beta", &[]),
    AttrDef::strs("activations", &[]),
    AttrDef::float("clip", -1.0),
    AttrDef::str("direction", "forward"),
    AttrDef {
        name: "hidden_size",
        kind: AttrKind::Int,
        default: crate::AttrDefault::Int(0),
    },
    // Ours: 1 puts the batch before the sequence.
    AttrDef::int("layout", 0),
    // Ours: 1 where the matrices of each direction are packed; see [`pack_weights`].
    AttrDef::int("packed", 0),
];

/// Reads which directions a layer runs in: whether each is backwards.
fn directions(attrs: AttrReader<'_>) -> Result<&'static [bool], OpError> {
    match attrs.str("direction")? {
        "forward" => Ok(&[false]),
        "reverse" => Ok(&[true]),
        "bidirectional" => Ok(&[false, true]),
        other => Err(OpError::invalid(format!(
            "direction is {other}; it must be forward, reverse or bidirectional"
        ))),
    }
}

/// Infers the outputs of a layer: all states, the last state and, for an LSTM, the last cell.
pub(crate) fn infer(cx: &InferCx<'_>, cell: Cell) -> Result<Vec<TensorType>, OpError> {
    let x = cx.input(0)?;
    let (w, r) = (cx.input(1)?, cx.input(2)?);
    let dtype = cx.same_types([0, 1, 2, 3, 5, 6, 7])?;
    let directions = directions(cx.attrs())?.len() as i64;
    let batch_first = match cx.attrs().int("layout")? {
        0 => false,
        1 => true,
        other => {
            return Err(OpError::invalid(format!(
                "layout is {other}; it must be 0 or 1"
            )));
        }
    };
    let of_rank = |ty: &TensorType, rank: usize| match ty.rank() {
        None => vec![UNKNOWN; rank],
        Some(_) => ty.shape.clone(),
    };
    for (index, rank) in [
        (0, 3),
        (1, 3),
        (2, 3),
        (3, 2),
        (4, 1),
        (5, 3),
        (6, 3),
        (7, 2),
    ] {
        if let Some(Some(ty)) = cx.inputs().get(index)
            && ty.rank().is_some_and(|own| own != rank)
        {
            return Err(OpError::invalid(format!(
                "input {index} is {ty}; it must have {rank} dimensions"
            )));
        }
    }
    let (x, w, r) = (of_rank(x, 3), of_rank(w, 3), of_rank(r, 3));
    let (steps, batch) = if batch_first {
        (x[1], x[0])
    } else {
        (x[0], x[1])
    };
    let gates = cell.gates() as i64;
    let hidden = match cx.attrs().int("hidden_size")? {
        0 if r[2] >= 0 => r[2],
        0 if w[1] >= 0 => w[1] / gates,
        0 => UNKNOWN,
        size => size,
    };
    let rows = if hidden < 0 {
        UNKNOWN
    } else {
        hidden.saturating_mul(gates)
    };
    let states = if batch_first {
        [batch, directions, hidden]
    } else {
        [directions, batch, hidden]
    };
    let wanted: [&[i64]; 8] = [
        &x,
        &[directions, rows, x[2]],
        &[directions, rows, hidden],
        &[
            directions,
            if rows < 0 {
                UNKNOWN
            } else {
                rows.saturating_mul(2)
            },
        ],
        &[batch],
        &states,
        &states,
        &[
            directions,
            if hidden < 0 {
                UNKNOWN
            } else {
                hidden.saturating_mul(3)
            },
        ],
    ];
    for (index, wanted) in wanted.iter().enumerate() {
        if let Some(Some(ty)) = cx.inputs().get(index)
            && ty.rank().is_some()
            && ty
                .shape
                .iter()
                .zip(*wanted)
                .any(|(&own, &dim)| own >= 0 && dim >= 0 && own != dim)
        {
            return Err(OpError::invalid(format!(
                "input {index} is {ty}; it must have the shape {wanted:?}"
            )));
        }
    }
    let all = if batch_first {
        [batch, steps, directions, hidden]
    } else {
        [steps, directions, batch, hidden]
    };
    let mut outputs = vec![TensorType::new(dtype, all), TensorType::new(dtype, states)];
    if matches!(cell, Cell::Lstm { .. }) {
        outputs.push(TensorType::new(dtype, states));
    }
    Ok(outputs)
}

/// Packs a constant matrix of float32 for a layer with the attribute `packed`: that of the input `[directions, rows, input]`,
/// or that of the state. The packed one has the same dimensions. `None` where the rows of a gate do not fill panels, and for
/// another type.
pub fn pack_weights(weights: &Tensor, gates: usize) -> Option<Tensor> {
    let dims = weights.ty().dims()?;
    let &[directions, rows, k] = &dims[..] else {
        return None;
    };
    if weights.ty().dtype != DataType::Float32 || weights.is_empty() {
        return None;
    }
    // The products of a GRU with the state begin at the first and at the third gate.
    let filled = if gates == 3 { rows / gates } else { rows };
    if !filled.is_multiple_of(PANEL) {
        return None;
    }
    let bytes = weights.bytes();
    let mut packed = Vec::with_capacity(bytes.len());
    for direction in bytes.chunks_exact(bytes.len() / directions) {
        let matrix = Tensor::new(DataType::Float32, &[rows, k], direction.to_vec()).ok()?;
        packed.extend_from_slice(pack_matrix(&matrix, true)?.bytes());
    }
    Tensor::new(DataType::Float32, &dims, packed).ok()
}

/// Products of a direction from which on each direction has a thread of its own: about 50 us.
const SHARED: usize = 1 << 20;
/// Sequences that stay on one thread: the products of fewer read the weights more often than they gain by another thread.
const TOGETHER: usize = 4;

/// A layer over sequences of known shape. Inputs as ONNX has them: sequence, weights, recurrent weights, biases,
/// lengths, first state, first cell, peepholes.
pub(crate) struct Recurrent {
    cell: Cell,
    steps: usize,
    batch: usize,
    input: usize,
    hidden: usize,
    directions: &'static [bool],
    batch_first: bool,
    clip: Option<f64>,
    activations: Vec<Activation>,
    packed: bool,
    /// Whether the products are those of 8-bit integers; the inputs 8 and 9 are the scales of the weights.
    quantised: bool,
}

impl Recurrent {
    /// Creates a layer whose input and state are rounded to 8 bits before each product. The weights are integers.
    pub fn quantised(cx: &PrepareCx<'_>, cell: Cell) -> Result<Recurrent, OpError> {
        Ok(Recurrent {
            quantised: true,
            packed: false,
            ..Recurrent::new(cx, cell)?
        })
    }

    pub fn new(cx: &PrepareCx<'_>, cell: Cell) -> Result<Recurrent, OpError> {
        let attrs = cx.attrs();
        let directions = directions(attrs)?;
        let mut names = attrs.strs("activations")?;
        if names.is_empty() {
            names = cell.defaults().repeat(directions.len());
        }
        let wanted = cell.defaults().len() * directions.len();
        if names.len() != wanted {
            return Err(OpError::invalid(format!(
                "activations are {names:?}; there have to be {wanted}"
            )));
        }
        // The numbers belong, in order, to those functions that take one.
        let mut alphas = attrs.floats("activation_alpha")?.iter();
        let mut betas = attrs.floats("activation_beta")?.iter();
        let activations = names
            .iter()
            .map(|name| {
                Activation::named(
                    name,
                    |default| alphas.next().map_or(default, |&alpha| alpha.into()),
                    |default| betas.next().map_or(default, |&beta| beta.into()),
                )
                .ok_or_else(|| OpError::unsupported(format!("the activation {name} is not known")))
            })
            .collect::<Result<_, _>>()?;
        let batch_first = attrs.int("layout")? == 1;
        let (x, clip) = (cx.shape(0)?, attrs.float("clip")?);
        Ok(Recurrent {
            cell,
            steps: x[usize::from(batch_first)],
            batch: x[usize::from(!batch_first)],
            input: x[2],
            hidden: cx.shape(2)?[2],
            directions,
            batch_first,
            clip: (clip > 0.0).then_some(clip.into()),
            activations,
            packed: attrs.int("packed")? != 0,
            quantised: false,
        })
    }

    /// Elements of all gates of one sequence's step.
    fn row(&self) -> usize {
        self.cell.gates() * self.hidden
    }

    /// Steps whose input is multiplied in one go.
    fn chunk(&self) -> usize {
        let sums = self.batch * self.row() * self.partial_sums();
        ((1 << 20) / sums.max(1)).clamp(1, self.steps.max(1))
    }

    /// Returns how many partial sums each product of integers has.
    fn partial_sums(&self) -> usize {
        match self.quantised {
            true => quantised::depths(self.input.max(self.hidden)).count(),
            false => 1,
        }
    }

    /// Returns the gates of the two products with the state: the new gate of a GRU may need the reset state.
    fn gates_of_state(&self) -> [usize; 2] {
        match self.cell {
            Cell::Gru {
                linear_before_reset: false,
            } => [2, 1],
            cell => [cell.gates(), 0],
        }
    }

    /// Returns the elements of scratch for each sequence: gates from the input, gates from the state, state, cell, reset state, and the
    /// input where not all sequences are computed together or where it is rounded, and partial sums. Behind them lie the packed weights of
    /// the input and of the state.
    fn parts<W: Working>(&self) -> ([usize; 7], [usize; 3]) {
        let [one, two] = self
            .gates_of_state()
            .map(|gates| W::packed_len(gates * self.hidden, self.hidden));
        let row = self.row();
        let weights = match (self.packed, self.quantised) {
            (true, _) => [0; 3],
            (false, true) => [
                quantised::packed_len::<W>(row, self.input),
                quantised::packed_len::<W>(row, self.hidden),
                quantised::columns_len(row),
            ],
            (false, false) => [W::packed_len(row, self.input), one, two],
        };
        let gathered = match self.quantised || self.may_part() && !self.batch_first {
            true => self.input * self.chunk(),
            false => 0,
        };
        let (all, state) = (row * self.chunk(), self.hidden);
        let partial = match self.quantised {
            true => all * self.partial_sums(),
            false => 0,
        };
        let each = [all, row, state, state, state, gathered, partial];
        (each, weights)
    }

    /// Returns the elements of scratch of a direction.
    fn scratch_of_direction<W: Working>(&self) -> usize {
        let (each, weights) = self.parts::<W>();
        self.batch * each.iter().sum::<usize>() + weights.iter().sum::<usize>()
    }

    /// Returns whether some sequences may be computed apart from the others. Weights that are packed for an execution are packed
    /// once a direction.
    fn may_part(&self) -> bool {
        self.packed && self.batch >= 2 * TOGETHER
    }

    /// Returns into how many groups the sequences of each direction are parted; `None`: the calling thread computes all.
    fn groups(&self, threads: usize) -> Option<usize> {
        let products = [self.batch, self.row(), self.input + self.hidden]
            .into_iter()
            .fold(self.steps, usize::saturating_mul);
        if threads < 2 || products < SHARED {
            return None;
        }
        let most = (self.batch / TOGETHER).min(products / SHARED);
        let groups = match self.may_part() {
            true => (threads / self.directions.len()).clamp(1, most),
            false => 1,
        };
        (groups * self.directions.len() > 1).then_some(groups)
    }

    fn activation(&self, direction: usize, which: usize) -> Activation {
        self.activations[direction * self.cell.defaults().len() + which]
    }

    /// Returns whether [`LstmStep`] computes what [`Recurrent::step`] would, without peepholes and lengths.
    fn is_usual_lstm(&self, direction: usize) -> bool {
        let usual = [Activation::Sigmoid, Activation::Tanh, Activation::Tanh];
        self.cell
            == Cell::Lstm {
                input_forget: false,
            }
            && self.clip.is_none()
            && (0..3).all(|which| self.activation(direction, which) == usual[which])
    }

    /// Limits the sums of a gate and applies its activation, in place.
    fn activate<W: Working>(&self, direction: usize, which: usize, gate: RowMut<'_, W>) {
        if let Some(clip) = self.clip {
            let (low, high) = (W::of(-clip), W::of(clip));
            gate.map1(gate.as_row(), |x| x.most(low).least(high));
        }
        wide(ActivatedRow {
            activation: self.activation(direction, which),
            row: gate,
        });
    }

    /// Computes the next state of one sequence from `gates`, what the input contributes, and `sums`, what the state
    /// contributes; `sums` is scratch afterwards. A GRU whose reset gate comes before the product has it applied already.
    fn step<W: Working>(
        &self,
        direction: usize,
        gates: RowMut<'_, W>,
        sums: RowMut<'_, W>,
        peepholes: Option<Row<'_, W>>,
        [state, cells, out]: [RowMut<'_, W>; 3],
    ) {
        let hidden = self.hidden;
        let one = W::one();
        let gate = |index: usize| sums.slice(index * hidden, hidden);
        let from_input = |index: usize| gates.as_row().slice(index * hidden, hidden);
        let add = |index: usize| gate(index).update(from_input(index), |sum, x| x + sum);
        // A peephole lets a gate see the cell.
        let peep = |index: usize| {
            if let Some(peepholes) = peepholes {
                let weights = peepholes.slice(index * hidden, hidden);
                for unit in 0..hidden {
                    let sum = gate(index).get(unit);
                    gate(index).set(unit, sum + weights.get(unit) * cells.get(unit));
                }
            }
        };
        match self.cell {
            Cell::Simple => {
                add(0);
                self.activate(direction, 0, gate(0));
                out.copy_from(gate(0).as_row());
            }
            Cell::Gru {
                linear_before_reset,
            } => {
                let (update, reset, new) = (gate(0), gate(1), gate(2));
                add(0);
                self.activate(direction, 0, update);
                if linear_before_reset {
                    add(1);
                    self.activate(direction, 0, reset);
                    new.update(reset.as_row(), |sum, reset| reset * sum);
                }
                add(2);
                self.activate(direction, 1, new);
                new.update(update.as_row(), |new, update| (one - update) * new);
                out.copy_from(state.as_row());
                out.update(update.as_row(), |state, update| update * state);
                out.update(new.as_row(), |kept, new| new + kept);
            }
            Cell::Lstm { input_forget } => {
                let (input, output, forget, new) = (gate(0), gate(1), gate(2), gate(3));
                (0..4).for_each(add);
                peep(0);
                self.activate(direction, 0, input);
                if input_forget {
                    forget.map1(input.as_row(), |input| one - input);
                } else {
                    peep(2);
                    self.activate(direction, 0, forget);
                }
                self.activate(direction, 1, new);
                new.update(input.as_row(), |new, input| input * new);
                cells.update(forget.as_row(), |old, forget| forget * old);
                cells.update(new.as_row(), |kept, new| kept + new);
                peep(1);
                self.activate(direction, 0, output);
                out.copy_from(cells.as_row());
                wide(ActivatedRow {
                    activation: self.activation(direction, 2),
                    row: out,
                });
                out.update(output.as_row(), |cell, output| output * cell);
            }
        }
    }
}

/// An activation of a row, in place. The two usual ones are compiled for each level of instructions.
pub(super) struct ActivatedRow<'a, W> {
    pub activation: Activation,
    pub row: RowMut<'a, W>,
}

impl<W: Working> Work for ActivatedRow<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (row, one) = (self.row, W::one());
        match self.activation {
            Activation::Tanh => row.map1(
                row.as_row(),
                #[inline(always)]
                |x| x.tanh_at::<FUSED>(),
            ),
            Activation::Sigmoid => row.map1(
                row.as_row(),
                #[inline(always)]
                |x| one / (one + (-x).exp_at::<FUSED>()),
            ),
            other => row.map1(row.as_row(), |x| other.apply(x)),
        }
    }
}

/// The step of LSTM cells as they usually are: sigmoid and hyperbolic tangent, without peepholes, limits and lengths. All of a sequence's gates
/// are computed vector by vector, with the operations of [`Recurrent::step`] in their order.
struct LstmStep<'a, W> {
    hidden: usize,
    /// What the input and what the state contribute to the gates of each sequence.
    gates: Row<'a, W>,
    sums: Row<'a, W>,
    state: RowMut<'a, W>,
    cells: RowMut<'a, W>,
    /// The results of the first sequence and of those behind it, `pitch` elements after each other.
    out: RowMut<'a, W>,
    pitch: usize,
}

/// Elements that are computed at a time.
const LANES: usize = 16;

impl<W: Working> Work for LstmStep<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let hidden = self.hidden;
        if hidden == 0 {
            return;
        }
        let full = hidden - hidden % LANES;
        for sequence in 0..self.state.len() / hidden {
            for unit in (0..full).step_by(LANES) {
                self.units::<LANES, FUSED>(sequence, unit);
            }
            for unit in full..hidden {
                self.units::<1, FUSED>(sequence, unit);
            }
        }
    }
}

impl<W: Working> LstmStep<'_, W> {
    // What is called here must become a part of the function for the level: closures are not given to functions of the library.
    #[inline(always)]
    fn units<const N: usize, const FUSED: bool>(&self, sequence: usize, unit: usize) {
        let input = sigmoid::<W, N, FUSED>(self.sum(sequence * 4, unit));
        let output = sigmoid::<W, N, FUSED>(self.sum(sequence * 4 + 1, unit));
        let forget = sigmoid::<W, N, FUSED>(self.sum(sequence * 4 + 2, unit));
        let mut new = self.sum::<N>(sequence * 4 + 3, unit);
        for x in &mut new {
            *x = x.tanh_at::<FUSED>();
        }
        let at = sequence * self.hidden + unit;
        let mut cell = self.cells.as_row().group::<N>(at);
        for lane in 0..N {
            cell[lane] = forget[lane] * cell[lane] + input[lane] * new[lane];
        }
        let mut out = cell;
        for lane in 0..N {
            out[lane] = output[lane] * out[lane].tanh_at::<FUSED>();
        }
        self.cells.set_group(at, cell);
        self.state.set_group(at, out);
        self.out.set_group(sequence * self.pitch + unit, out);
        separate_groups();
    }

    /// Adds what the input and what the state contribute to a gate.
    #[inline(always)]
    fn sum<const N: usize>(&self, gate: usize, unit: usize) -> [W; N] {
        let at = gate * self.hidden + unit;
        let (mut x, sum) = (self.gates.group::<N>(at), self.sums.group::<N>(at));
        for lane in 0..N {
            x[lane] += sum[lane];
        }
        x
    }
}

#[inline(always)]
fn sigmoid<W: Working, const N: usize, const FUSED: bool>(mut gate: [W; N]) -> [W; N] {
    for x in &mut gate {
        *x = W::one() / (W::one() + (-*x).exp_at::<FUSED>());
    }
    gate
}

impl Algorithm for Recurrent {
    fn scratch(&self) -> usize {
        let most = self
            .scratch_of_direction::<f32>()
            .max(self.scratch_of_direction::<f64>());
        self.directions.len() * most
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let Recurrent { steps, hidden, .. } = *self;
        let (x, weights, recurrent) = (io.input(0)?, io.input(1)?, io.input(2)?);
        let (biases, peepholes) = (io.optional(3)?, io.optional(7)?);
        let lengths = if io.has(4) { Some(io.ints(4)?) } else { None };
        let (first, first_cell) = (io.optional(5)?, io.optional(6)?);
        let scales = match self.quantised {
            true => Some((io.input(8)?, io.input(9)?)),
            false => None,
        };
        let input_rounding = scales.map(|_| {
            // Steps after the end of the longest sequence do not count.
            let ends = lengths.map(|lengths| (0..self.batch).map(|at| lengths.get(at)).max());
            let ends = ends.flatten().and_then(|end| usize::try_from(end).ok());
            let count = ends.unwrap_or(steps).min(steps) * self.batch * self.input;
            Rounding::of([x.slice(0, count)])
        });
        let (all, last, last_cell) = (io.output(0)?, io.wanted(1)?, io.wanted(2)?);
        let row = self.row();
        let count = self.directions.len();
        let scratch = io.scratch()?;
        let (each, of_weights) = self.parts::<W>();
        let [first_gates, second_gates] = self.gates_of_state();
        // Where a sequence's state lies in tensors of one state a direction.
        let position = |direction: usize, sequence: usize| {
            let index = if self.batch_first {
                sequence * count + direction
            } else {
                direction * self.batch + sequence
            };
            index * hidden
        };
        // Computes `batch` sequences from `begin` on, in the scratch memory that begins at `at`.
        let compute = |direction: usize, (begin, batch): (usize, usize), mut at: usize| {
            let backwards = self.directions[direction];
            let mut cut = |len: usize| {
                at += len;
                scratch.slice(at - len, len)
            };
            let [
                from_input,
                from_state,
                state,
                cells,
                reset,
                gathered,
                partial,
            ] = each.map(|len| cut(batch * len));
            let [packed, one, two] = of_weights.map(cut);
            let weights = weights.slice(direction * row * self.input, row * self.input);
            let recurrent = recurrent.slice(direction * row * hidden, row * hidden);
            let biases = biases.map(|biases| biases.slice(direction * 2 * row, 2 * row));
            let (input_bias, state_bias) = match biases {
                Some(biases) => (Some(biases.slice(0, row)), Some(biases.slice(row, row))),
                None => (None, None),
            };
            let split = first_gates * hidden;
            let (of_input, of_state, of_reset) = if self.packed {
                let split = split * hidden;
                let rest = recurrent.slice(split, row * hidden - split);
                (weights, recurrent.slice(0, split), rest)
            } else if self.quantised {
                quantised::pack((row, self.input), weights, packed, two);
                quantised::pack((row, hidden), recurrent, one, two);
                (packed.as_row(), one.as_row(), two.as_row())
            } else {
                W::pack(row, self.input, weights, packed);
                W::pack(split, hidden, recurrent.slice(0, split * hidden), one);
                if second_gates > 0 {
                    let rest = recurrent.slice(split * hidden, (row - split) * hidden);
                    W::pack(row - split, hidden, rest, two);
                }
                (packed.as_row(), one.as_row(), two.as_row())
            };
            for sequence in 0..batch {
                let at = position(direction, begin + sequence);
                let load = |to: RowMut<'_, W>, from: Option<Row<'_, W>>| {
                    let to = to.slice(sequence * hidden, hidden);
                    match from {
                        Some(from) => to.copy_from(from.slice(at, hidden)),
                        None => to.fill(W::zero()),
                    }
                };
                load(state, first);
                load(cells, first_cell);
            }
            let mut done = 0;
            while done < steps {
                let len = self.chunk().min(steps - done);
                let start = if backwards { steps - done - len } else { done };
                if let (Some((scales, _)), Some(rounding)) = (scales, input_rounding) {
                    let own = batch * self.input;
                    let integers = gathered.slice(0, len * own);
                    let sizes = (len * batch, row, self.input);
                    rounding.apply(sizes, x.slice(start * own, len * own), integers);
                    let factors = rounding.factors(scales, (direction, count));
                    let sums = from_input.slice(0, len * batch * row);
                    sums.fill(W::zero());
                    quantised::add_product(sizes, integers, of_input, factors, sums, partial);
                } else if self.batch_first {
                    for sequence in 0..batch {
                        let from = ((begin + sequence) * steps + start) * self.input;
                        let to =
                            from_input.slice(sequence * row, from_input.len() - sequence * row);
                        W::packed_product(
                            (len, row, self.input),
                            x.slice(from, len * self.input),
                            of_input,
                            input_bias,
                            (to, batch * row),
                        );
                    }
                } else {
                    let own = batch * self.input;
                    let step_of =
                        |step: usize| x.slice((step * self.batch + begin) * self.input, own);
                    let from = if batch == self.batch {
                        x.slice(start * own, len * own)
                    } else {
                        for index in 0..len {
                            gathered
                                .slice(index * own, own)
                                .copy_from(step_of(start + index));
                        }
                        gathered.as_row().slice(0, len * own)
                    };
                    W::packed_product(
                        (len * batch, row, self.input),
                        from,
                        of_input,
                        input_bias,
                        (from_input, row),
                    );
                }
                for index in 0..len {
                    let step = if backwards {
                        start + len - 1 - index
                    } else {
                        start + index
                    };
                    let gates = from_input.slice((step - start) * batch * row, batch * row);
                    if let Some((_, scales)) = scales {
                        // A sequence that ended with the step before counts for the last time, as in ONNX Runtime.
                        let end = step as i64 + i64::from(backwards);
                        let counts = |sequence: &usize| {
                            lengths.is_none_or(|lengths| end <= lengths.get(*sequence))
                        };
                        let running = (0..batch).filter(counts);
                        let rounding = Rounding::of(
                            running.map(|at| state.as_row().slice(at * hidden, hidden)),
                        );
                        let sizes = (batch, row, hidden);
                        rounding.apply(sizes, state.as_row(), reset);
                        let factors = rounding.factors(scales, (direction, count));
                        quantised::add_product(sizes, reset, of_state, factors, gates, partial);
                        for sequence in 0..batch {
                            let to = from_state.slice(sequence * row, row);
                            match (input_bias, state_bias) {
                                (Some(input), Some(state)) => to.map2(input, state, |a, b| a + b),
                                _ => to.fill(W::zero()),
                            }
                        }
                    } else {
                        W::packed_product(
                            (batch, split, hidden),
                            state.as_row(),
                            of_state,
                            state_bias.map(|bias| bias.slice(0, split)),
                            (from_state, row),
                        );
                    }
                    if let Cell::Gru {
                        linear_before_reset: false,
                    } = self.cell
                    {
                        for sequence in 0..batch {
                            let gate = sequence * row + hidden;
                            let sums = from_state.slice(gate, hidden);
                            sums.update(gates.as_row().slice(gate, hidden), |sum, x| x + sum);
                            self.activate(direction, 0, sums);
                            let [reset, state] =
                                [reset, state].map(|of| of.slice(sequence * hidden, hidden));
                            reset.map2(sums.as_row(), state.as_row(), |gate, state| gate * state);
                        }
                        // A batch of none has no gates to skip.
                        let skip = (2 * hidden).min(from_state.len());
                        let to = from_state.slice(skip, from_state.len() - skip);
                        W::packed_product(
                            (batch, row - split, hidden),
                            reset.as_row(),
                            of_reset,
                            state_bias.map(|bias| bias.slice(split, row - split)),
                            (to, row),
                        );
                    }
                    let result_of = |sequence: usize| {
                        let number = begin + sequence;
                        let to = if self.batch_first {
                            (number * steps + step) * count + direction
                        } else {
                            (step * count + direction) * self.batch + number
                        };
                        to * hidden
                    };
                    if batch > 0
                        && peepholes.is_none()
                        && lengths.is_none()
                        && self.is_usual_lstm(direction)
                    {
                        let (first, last) = (result_of(0), result_of(batch - 1));
                        wide(LstmStep {
                            hidden,
                            gates: gates.as_row(),
                            sums: from_state.as_row(),
                            state,
                            cells,
                            out: all.slice(first, last - first + hidden),
                            pitch: result_of(1) - first,
                        });
                        continue;
                    }
                    for sequence in 0..batch {
                        let number = begin + sequence;
                        let out = all.slice(result_of(sequence), hidden);
                        if lengths.is_some_and(|lengths| step as i64 >= lengths.get(number)) {
                            out.fill(W::zero());
                            continue;
                        }
                        let own = from_state.slice(sequence * row, row);
                        let gates = gates.slice(sequence * row, row);
                        let state = state.slice(sequence * hidden, hidden);
                        let cells = cells.slice(sequence * hidden, hidden);
                        let peepholes =
                            peepholes.map(|p| p.slice(direction * 3 * hidden, 3 * hidden));
                        self.step(direction, gates, own, peepholes, [state, cells, out]);
                        state.copy_from(out.as_row());
                    }
                }
                done += len;
            }
            for sequence in 0..batch {
                let at = position(direction, begin + sequence);
                if let Some(last) = last {
                    last.slice(at, hidden)
                        .copy_from(state.as_row().slice(sequence * hidden, hidden));
                }
                if let Some(last) = last_cell {
                    last.slice(at, hidden)
                        .copy_from(cells.as_row().slice(sequence * hidden, hidden));
                }
            }
        };
        let workers = io.call.workers();
        let Some(groups) = self.groups(workers.threads()) else {
            // The memory of the first direction is still in the caches for the second.
            (0..count).for_each(|direction| compute(direction, (0, self.batch), 0));
            return Ok(());
        };
        workers.each(count * groups, |part| {
            let (direction, group) = (part / groups, part % groups);
            let [begin, end] = [group, group + 1].map(|group| group * self.batch / groups);
            let at =
                direction * self.scratch_of_direction::<W>() + begin * each.iter().sum::<usize>();
            compute(direction, (begin, end - begin), at);
        });
        Ok(())
    }
}
