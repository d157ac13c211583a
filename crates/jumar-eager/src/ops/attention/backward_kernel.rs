//! The gradient of attention in tiles: memory does not grow with the product of the lengths of the sequences.
//!
//! A tile of scores is computed again from the queries and keys, and becomes probabilities by the largest score and the sum
//! that the forward pass stored. One task is a head of the keys of one sequence: it adds to the gradients of its keys and
//! values tile by tile, in an order that does not depend on the number of threads.

use std::sync::OnceLock;

use jumar_ops::math::{Fast, Float, Work, wide};
use jumar_ops::simd::{Epilogue, PANEL, Start, gemm, gemm_strided};
use jumar_ops::view::RowMut;
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::kernel::{
    COLUMNS, MASKED, PARTS, PLAIN, Plane, ROWS, Scaling, Sequence, Soften, Task, Views, reference,
};
use crate::element::any::internal;

const ADD: Epilogue<'static> = Epilogue {
    start: Start::Accumulate,
    ..PLAIN
};

/// One sequence of a batch.
#[derive(Clone, Debug)]
pub(super) struct Gradient {
    /// The operands of the forward pass; its result is the gradient of the queries.
    pub sequence: Sequence,
    /// The gradient of the result.
    pub result: Plane,
    /// What the forward pass stored: the largest score, the sum of the powers, and the result.
    pub stored: Option<[Plane; 3]>,
    /// The gradient of the further entries of the queries.
    pub to_extra: Option<Plane>,
    /// Sums of the gradients of keys, their further entries included, and of values: dense float32.
    pub to_key: Plane,
    pub to_value: Plane,
    pub to_addend: Option<Plane>,
}

/// The kernel of one call.
pub(super) struct Backward {
    pub gradients: Vec<Gradient>,
    /// Heads of the keys, and heads of the query for each of them.
    pub heads: usize,
    pub shared: usize,
    /// Entries of a query, of its further part, and of a value.
    pub width: usize,
    pub extra_width: usize,
    pub value_width: usize,
    pub scaling: Scaling,
    /// The types of the inputs and outputs, by their positions.
    pub inputs: Vec<DataType>,
    pub outputs: Vec<DataType>,
}

/// The scratch memory of one part.
struct Memory<'a> {
    /// Rows of the queries and of the gradient of the result, and the same in panels of the matrix product.
    query: RowMut<'a, f32>,
    query_panels: RowMut<'a, f32>,
    result: RowMut<'a, f32>,
    result_panels: RowMut<'a, f32>,
    /// Columns of keys in panels of entries; keys and values in panels of columns.
    key_panels: RowMut<'a, f32>,
    keys: RowMut<'a, f32>,
    values: RowMut<'a, f32>,
    /// Scores, which become probabilities, and their gradients.
    scores: RowMut<'a, f32>,
    gradients: RowMut<'a, f32>,
    /// A tile with rows and columns exchanged.
    exchanged: RowMut<'a, f32>,
    /// Sums of the gradient of the queries.
    sums: RowMut<'a, f32>,
    line: RowMut<'a, f32>,
    largest: RowMut<'a, f32>,
    total: RowMut<'a, f32>,
    /// For each row the product of the result and its gradient.
    inner: RowMut<'a, f32>,
}

impl Memory<'_> {
    /// Turns the scores of a tile into probabilities.
    fn normalise(&self, rows: usize, columns: usize) {
        wide(Probabilities {
            scores: self.scores,
            largest: self.largest,
            total: self.total,
            rows,
            columns,
        });
    }

    /// Adds the products of a tile of scores and their gradients to those of the rows.
    fn add_inner(&self, rows: usize, columns: usize) {
        for row in 0..rows {
            let scores = self.scores.slice(row * COLUMNS, columns);
            let more = dot(scores, self.gradients.slice(row * COLUMNS, columns));
            self.inner.set(row, self.inner.get(row) + more);
        }
    }
}

/// Turns scores into probabilities.
struct Probabilities<'a> {
    scores: RowMut<'a, f32>,
    largest: RowMut<'a, f32>,
    total: RowMut<'a, f32>,
    rows: usize,
    columns: usize,
}

impl Work for Probabilities<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for row in 0..self.rows {
            let scores = self.scores.slice(row * COLUMNS, self.columns);
            let (largest, total) = (reference(self.largest.get(row)), self.total.get(row));
            // A row that an addend of -inf excludes has no probabilities.
            let factor = if total == 0.0 { 0.0 } else { 1.0 / total };
            scores.map1(scores.as_row(), |score| {
                Fast::<FUSED>(score - largest).exp().0 * factor
            });
        }
    }
}

/// Copies rows to panels of `height` rows, and fills the last panel up with zeros.
fn pack(from: RowMut<'_, f32>, to: RowMut<'_, f32>, row: usize, height: usize) {
    for panel in 0..from.len().div_ceil(PANEL) {
        let start = panel * PANEL;
        let len = PANEL.min(from.len() - start);
        let to = to.slice((panel * height + row) * PANEL, PANEL);
        if len < PANEL {
            to.fill(0.0);
        }
        to.slice(0, len).copy_from(from.slice(start, len).as_row());
    }
}

/// Writes a row as a column of panels whose rows are the entries.
fn pack_column(from: RowMut<'_, f32>, to: RowMut<'_, f32>, column: usize) {
    let depth = from.len();
    let start = column / PANEL * depth * PANEL + column % PANEL;
    to.stepped(start, depth, PANEL).copy_from(from.as_row());
}

fn exchange(from: RowMut<'_, f32>, to: RowMut<'_, f32>, rows: usize, columns: usize) {
    for row in 0..rows {
        to.stepped(row, columns, ROWS)
            .copy_from(from.slice(row * COLUMNS, columns).as_row());
    }
}

impl Backward {
    fn depth(&self) -> usize {
        self.width + self.extra_width
    }

    /// The scratch memory of one part, in float32 values: the sizes of its areas.
    fn areas(&self) -> [usize; 15] {
        let (depth, value) = (self.depth(), self.value_width);
        let panels = |width: usize| width.next_multiple_of(PANEL);
        [
            ROWS * depth,
            ROWS * panels(depth),
            ROWS * value,
            ROWS * panels(value),
            COLUMNS * panels(depth),
            COLUMNS * depth,
            COLUMNS * value,
            ROWS * COLUMNS,
            ROWS * COLUMNS,
            ROWS * COLUMNS,
            ROWS * depth,
            COLUMNS.max(depth).max(value),
            ROWS,
            ROWS,
            ROWS,
        ]
    }

    fn part_len(&self) -> usize {
        self.areas().iter().sum::<usize>().next_multiple_of(16)
    }

    fn tasks(&self) -> usize {
        self.gradients.len() * self.heads
    }

    /// Converts and packs the keys and values of a tile.
    fn pack_tile(
        &self,
        views: &Views<'_>,
        sequence: &Sequence,
        head: usize,
        (first, count): (usize, usize),
        memory: &Memory<'_>,
    ) {
        if count < COLUMNS {
            memory.keys.fill(0.0);
            memory.values.fill(0.0);
        }
        for column in 0..count {
            let line = memory.line.slice(0, self.depth());
            let own = line.slice(0, self.width);
            views.load(&sequence.key, sequence.key.row(head, first + column), own);
            if let Some((_, plane)) = &sequence.extra {
                let more = line.slice(self.width, self.extra_width);
                views.load(plane, plane.row(head, first + column), more);
            }
            pack(line, memory.key_panels, column, COLUMNS);
            pack_column(line, memory.keys, column);
            let line = memory.line.slice(0, self.value_width);
            let plane = &sequence.value;
            views.load(plane, plane.row(head, first + column), line);
            pack_column(line, memory.values, column);
        }
    }

    /// Computes the scores of a tile, and the gradients of its probabilities.
    fn products(
        &self,
        views: &Views<'_>,
        sequence: &Sequence,
        task: Task,
        (rows, first, count): (usize, usize, usize),
        memory: &Memory<'_>,
    ) {
        let (depth, value) = (self.depth(), self.value_width);
        self.pack_tile(views, sequence, task.head, (first, count), memory);
        gemm(
            (rows, count, depth),
            (memory.query.as_row(), depth),
            memory.keys.as_row(),
            (memory.scores, COLUMNS),
            &PLAIN,
        );
        sequence.adjust(
            views,
            task,
            self.scaling,
            (rows, first, count),
            (memory.scores, memory.line),
        );
        gemm(
            (rows, count, value),
            (memory.result.as_row(), value),
            memory.values.as_row(),
            (memory.gradients, COLUMNS),
            &PLAIN,
        );
        sequence.drop_out(views, task, (rows, first, count), memory.line, |row| {
            memory.gradients.slice(row * COLUMNS, count)
        });
    }

    /// Reads the largest score and the sum of each row, or computes them in a pass of its own.
    fn statistics(
        &self,
        views: &Views<'_>,
        gradient: &Gradient,
        task: Task,
        (rows, (first, end)): (usize, (usize, usize)),
        memory: &Memory<'_>,
    ) {
        let sequence = &gradient.sequence;
        if let Some([largest, total, result]) = &gradient.stored {
            // The product of the result and its gradient is subtracted from values of its own size: a result that was rounded
            // to a half is not precise enough, and the product is formed again from the probabilities.
            let precise = self.inputs[result.operand] == DataType::Float32;
            for row in 0..rows {
                let (head, own) = task.head_and_row(sequence, row);
                let start = |plane: &Plane| plane.row(head, own);
                views.load(largest, start(largest), memory.largest.slice(row, 1));
                views.load(total, start(total), memory.total.slice(row, 1));
                if precise {
                    let line = memory.line.slice(0, self.value_width);
                    views.load(result, start(result), line);
                    let given = memory
                        .result
                        .slice(row * self.value_width, self.value_width);
                    memory.inner.set(row, dot(line, given));
                }
            }
            if !precise {
                memory.inner.fill(0.0);
                for first in (first..end).step_by(COLUMNS) {
                    let count = COLUMNS.min(end - first);
                    self.products(views, sequence, task, (rows, first, count), memory);
                    memory.normalise(rows, count);
                    memory.add_inner(rows, count);
                }
            }
            return;
        }
        memory.inner.fill(0.0);
        memory.total.fill(0.0);
        memory.largest.fill(f32::NEG_INFINITY);
        for first in (first..end).step_by(COLUMNS) {
            let count = COLUMNS.min(end - first);
            self.products(views, sequence, task, (rows, first, count), memory);
            wide(Soften {
                scores: memory.scores,
                sums: memory.inner,
                largest: memory.largest,
                total: memory.total,
                rows,
                columns: count,
                width: 1,
            });
            memory.add_inner(rows, count);
        }
        for row in 0..rows {
            let total = memory.total.get(row);
            let inner = match total == 0.0 {
                true => 0.0,
                false => memory.inner.get(row) / total,
            };
            memory.inner.set(row, inner);
        }
    }

    /// Computes the gradients of a tile of rows.
    fn tile(&self, views: &Views<'_>, task: Task, memory: &Memory<'_>) -> Result<(), OpError> {
        let gradient = &self.gradients[task.sequence];
        let sequence = &gradient.sequence;
        let rows = ROWS.min(sequence.rows * self.shared - task.first);
        let (depth, value) = (self.depth(), self.value_width);
        for row in 0..rows {
            let (head, own) = task.head_and_row(sequence, row);
            let to = memory.query.slice(row * depth, depth);
            let plane = &sequence.query;
            views.load(plane, plane.row(head, own), to.slice(0, self.width));
            if let Some((plane, _)) = &sequence.extra {
                let to = to.slice(self.width, self.extra_width);
                views.load(plane, plane.row(head, own), to);
            }
            pack(to, memory.query_panels, row, ROWS);
            let to = memory.result.slice(row * value, value);
            let plane = &gradient.result;
            views.load(plane, plane.row(head, own), to);
            pack(to, memory.result_panels, row, ROWS);
        }
        let seen = sequence.seen(task, rows, false);
        self.statistics(views, gradient, task, (rows, seen), memory);
        memory.sums.fill(0.0);
        // The gradient of the addend is written for all columns.
        let (start, end) = match gradient.to_addend {
            Some(_) => (0, sequence.columns),
            None => seen,
        };
        for first in (start..end).step_by(COLUMNS) {
            let count = COLUMNS.min(end - first);
            self.products(views, sequence, task, (rows, first, count), memory);
            memory.normalise(rows, count);
            exchange(memory.scores, memory.exchanged, rows, count);
            sequence.drop_out(views, task, (rows, first, count), memory.line, |row| {
                memory.exchanged.stepped(row, count, ROWS)
            });
            let sums = |plane: &Plane, width: usize| {
                let start = plane.row(task.head, first);
                let row = views.outputs[plane.operand].float32(start, count * width, 1);
                row.ok_or_else(|| internal("sums of gradients are float32"))
            };
            gemm_strided(
                (count, value, rows),
                (memory.exchanged.as_row(), ROWS),
                (memory.result_panels.as_row(), ROWS * PANEL),
                (sums(&gradient.to_value, value)?, value),
                &ADD,
            );
            self.differentiate(views, gradient, task, (rows, first, count), memory);
            exchange(memory.gradients, memory.exchanged, rows, count);
            gemm_strided(
                (count, depth, rows),
                (memory.exchanged.as_row(), ROWS),
                (memory.query_panels.as_row(), ROWS * PANEL),
                (sums(&gradient.to_key, depth)?, depth),
                &ADD,
            );
            gemm_strided(
                (rows, depth, count),
                (memory.gradients.as_row(), COLUMNS),
                (memory.key_panels.as_row(), COLUMNS * PANEL),
                (memory.sums, depth),
                &ADD,
            );
        }
        for row in 0..rows {
            let (head, own) = task.head_and_row(sequence, row);
            let sums = memory.sums.slice(row * depth, depth);
            let plane = &sequence.out;
            views.store(plane, plane.row(head, own), sums.slice(0, self.width));
            if let Some(plane) = &gradient.to_extra {
                let more = sums.slice(self.width, self.extra_width);
                views.store(plane, plane.row(head, own), more);
            }
        }
        Ok(())
    }

    /// Turns the gradients of probabilities into gradients of the products of queries and keys, and writes the gradient of
    /// the addend.
    fn differentiate(
        &self,
        views: &Views<'_>,
        gradient: &Gradient,
        task: Task,
        (rows, first, count): (usize, usize, usize),
        memory: &Memory<'_>,
    ) {
        let Scaling { factor, addend, .. } = self.scaling;
        for row in 0..rows {
            let (head, own) = task.head_and_row(&gradient.sequence, row);
            let (shares, inner) = (
                memory.scores.slice(row * COLUMNS, count),
                memory.inner.get(row),
            );
            let gradients = memory.gradients.slice(row * COLUMNS, count);
            match memory.largest.get(row) == MASKED {
                // The scores of a row whose mask excludes everything are a constant, so that no gradient passes through them.
                true => gradients.fill(0.0),
                false => gradients.update(shares.as_row(), |to, share| (to - inner) * share),
            }
            let scale = |to: RowMut<'_, f32>| to.map1(to.as_row(), |value| value * factor);
            if addend {
                scale(gradients);
            }
            if let Some(plane) = &gradient.to_addend {
                let start = plane.row(head, own) + first * plane.step;
                views.store(plane, start, gradients);
            }
            if !addend {
                scale(gradients);
            }
        }
    }
}

fn dot(one: RowMut<'_, f32>, two: RowMut<'_, f32>) -> f32 {
    one.as_row().fold2_wide(
        two.as_row(),
        0.0,
        |sum, one, two| sum + one * two,
        |one, two| one + two,
    )
}

impl Kernel for Backward {
    fn scratch_bytes(&self) -> usize {
        PARTS.min(self.tasks()) * self.part_len() * size_of::<f32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let tasks = self.tasks();
        let (parts, len) = (PARTS.min(tasks), self.part_len());
        if parts == 0 {
            return Ok(());
        }
        let scratch = call.scratch::<f32>(0, parts * len)?;
        let views = Views::new(call, &self.inputs, &self.outputs)?;
        let failure = OnceLock::new();
        call.workers().each(parts, |part| {
            let own = scratch.slice(part * len, len);
            let mut start = 0;
            let mut areas = self.areas().into_iter().map(|size| {
                start += size;
                own.slice(start - size, size)
            });
            let mut next = || areas.next().expect("a part has fifteen areas");
            let memory = Memory {
                query: next(),
                query_panels: next(),
                result: next(),
                result_panels: next(),
                key_panels: next(),
                keys: next(),
                values: next(),
                scores: next(),
                gradients: next(),
                exchanged: next(),
                sums: next(),
                line: next(),
                largest: next(),
                total: next(),
                inner: next(),
            };
            for number in (part..tasks).step_by(parts) {
                let (sequence, head) = (number / self.heads, number % self.heads);
                let rows = self.gradients[sequence].sequence.rows * self.shared;
                for first in (0..rows).step_by(ROWS) {
                    let task = Task {
                        sequence,
                        head,
                        shared: self.shared,
                        first,
                    };
                    if let Err(error) = self.tile(&views, task, &memory) {
                        let _ = failure.set(error);
                        return;
                    }
                }
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }
}
