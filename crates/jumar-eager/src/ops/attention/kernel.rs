//! Attention in tiles: scores of a few rows and columns at a time, with a running maximum and a running sum for each row.
//!
//! Memory does not grow with the length of the sequences. Queries and results are read and written where they lie; tiles
//! of keys and values are converted to float32 and packed for the matrix product. The heads of a query that share a head
//! of the keys are rows of one tile.

use std::sync::OnceLock;

use jumar_ops::math::{Fast, Float, Work, wide};
use jumar_ops::simd::{Epilogue, PANEL, Start, gemm};
use jumar_ops::view::{Row, RowMut};
use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use crate::element::any::{AnyView, AnyViewMut, internal};

/// Rows of a tile.
pub(super) const ROWS: usize = 64;

/// Columns of a tile: whole panels of the matrix product.
pub(super) const COLUMNS: usize = 4 * PANEL;

/// Parts of the work, each with scratch memory of its own. The number is fixed when the plan is made.
pub(super) const PARTS: usize = 16;

/// The score of what a mask excludes.
pub(super) const MASKED: f32 = -1e30;

/// Returns what the scores of a row are compared with before they become powers: the largest of them so far, or 0 while all of
/// them are -inf. Their difference from -inf itself would not be a number.
#[inline(always)]
pub(super) fn reference(largest: f32) -> f32 {
    match largest == f32::NEG_INFINITY {
        true => 0.0,
        false => largest,
    }
}

pub(super) const PLAIN: Epilogue<'static> = Epilogue {
    start: Start::Zero,
    residual: None,
    clamp: None,
};

/// Where one operand of a sequence lies: element `(head, row, entry)` is `start + head * heads + row * rows + entry * step`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    /// The position among the inputs, or outputs, of the call.
    pub operand: usize,
    pub start: usize,
    pub heads: usize,
    pub rows: usize,
    pub step: usize,
}

impl Plane {
    pub fn row(&self, head: usize, row: usize) -> usize {
        self.start + head * self.heads + row * self.rows
    }
}

/// Pages of a cache: column `j` is row `j % size` of the page that the table names at `j / size`.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachePages {
    /// The input that holds the table, dense int32, and where the sequence's entries start in it.
    pub table: usize,
    pub start: usize,
    pub entries: usize,
    pub size: usize,
    /// How many pages the cache has.
    pub count: usize,
    /// From one page to the next, of keys and of values.
    pub key_stride: usize,
    pub value_stride: usize,
    /// From one page to the next, of the further entries of keys.
    pub extra_stride: usize,
}

/// Which columns a row may see: `row + shift - before ..= row + shift + after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Band {
    pub before: i64,
    pub after: i64,
    pub shift: i64,
}

impl Band {
    /// Returns the first column that a row may see, and the one behind the last.
    fn of(self, row: usize, columns: usize) -> (usize, usize) {
        let own = (row as i64).saturating_add(self.shift);
        let clamp = |value: i64| value.clamp(0, columns as i64) as usize;
        let first = clamp(own.saturating_sub(self.before));
        let end = clamp(own.saturating_add(self.after).saturating_add(1));
        (first, end.max(first))
    }
}

/// A bias that falls with the distance: `slope * |row + shift - column|` is subtracted from the scores, with a slope for each head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slopes {
    pub plane: Plane,
    pub shift: i64,
}

/// Dropout of the probabilities: a dense bit for each head, row and column, which is 1 where a probability is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropout {
    /// The input that holds the bits, and the first bit of the sequence.
    pub operand: usize,
    pub start: usize,
    /// Kept probabilities are multiplied by this factor.
    pub factor: f32,
}

/// One sequence of a batch.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    pub rows: usize,
    pub columns: usize,
    pub query: Plane,
    pub key: Plane,
    pub value: Plane,
    pub out: Plane,
    /// Further entries of queries and keys, whose products are added.
    pub extra: Option<(Plane, Plane)>,
    pub addend: Option<Plane>,
    pub slopes: Option<Slopes>,
    pub mask: Option<Plane>,
    pub dropout: Option<Dropout>,
    /// The largest score, the sum of the powers, and the logarithm of the sum.
    pub largest: Option<Plane>,
    pub sum: Option<Plane>,
    pub log_sum: Option<Plane>,
    pub pages: Option<CachePages>,
    pub band: Option<Band>,
}

/// The kernel of one call.
pub(super) struct TiledAttention {
    pub operator: &'static str,
    pub sequences: Vec<Sequence>,
    /// Heads of the keys, and heads of the query for each of them.
    pub heads: usize,
    pub shared: usize,
    /// Entries of a query, of its further part, and of a value.
    pub width: usize,
    pub extra_width: usize,
    pub value_width: usize,
    pub scaling: Scaling,
    /// Whether a row that sees no column becomes 0, and not the mean of all values.
    pub invalid_is_zero: bool,
    /// The types of the inputs and outputs, by their positions.
    pub inputs: Vec<DataType>,
    pub outputs: Vec<DataType>,
}

/// One tile of rows: a sequence, a head of the keys, and the first row. The heads of the query that share the head of the
/// keys follow one another as rows.
#[derive(Clone, Copy)]
pub(super) struct Task {
    pub sequence: usize,
    pub head: usize,
    /// Heads of the query for each head of the keys.
    pub shared: usize,
    pub first: usize,
}

impl Task {
    /// Returns the head of the query and the row of the sequence that a row of the tile is.
    pub fn head_and_row(&self, sequence: &Sequence, row: usize) -> (usize, usize) {
        let row = self.first + row;
        (
            self.head * self.shared + row / sequence.rows,
            row % sequence.rows,
        )
    }
}

/// The factor of the scores, and whether the addend is scaled along with the products.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaling {
    pub factor: f32,
    pub addend: bool,
    /// The limits of the scaled scores, before the addend.
    pub clamp: Option<(f32, f32)>,
}

impl Sequence {
    /// Adds to the scores of a tile, scales them, and excludes what masks exclude. `line` is scratch memory for one row.
    pub fn adjust(
        &self,
        views: &Views<'_>,
        task: Task,
        scaling: Scaling,
        (rows, first, count): (usize, usize, usize),
        (scores, line): (RowMut<'_, f32>, RowMut<'_, f32>),
    ) {
        let scale = scaling.factor;
        for row in 0..rows {
            let (head, own) = task.head_and_row(self, row);
            let scores = scores.slice(row * COLUMNS, count);
            let line = line.slice(0, count);
            if let Some((low, high)) = scaling.clamp {
                scores.map1(scores.as_row(), |score| (score * scale).clamp(low, high));
            }
            match &self.addend {
                Some(plane) if scaling.clamp.is_some() => {
                    let start = plane.row(head, own) + first * plane.step;
                    views.load(plane, start, line);
                    scores.update(line.as_row(), |score, more| score + more);
                }
                None if scaling.clamp.is_some() => {}
                Some(plane) => {
                    let start = plane.row(head, own) + first * plane.step;
                    views.load(plane, start, line);
                    match scaling.addend {
                        true => scores.update(line.as_row(), |score, more| (score + more) * scale),
                        false => scores.update(line.as_row(), |score, more| score * scale + more),
                    }
                }
                None => scores.map1(scores.as_row(), |score| score * scale),
            }
            if let Some(slopes) = &self.slopes {
                let slope = line.slice(0, 1);
                views.load(&slopes.plane, slopes.plane.row(head, 0), slope);
                let slope = slope.get(0);
                let distance = own as i64 + slopes.shift - first as i64;
                for column in 0..count {
                    let distance = (distance - column as i64).unsigned_abs() as f32;
                    scores.set(column, scores.get(column) - slope * distance);
                }
            }
            if let Some(plane) = &self.mask {
                let start = plane.row(head, own) + first * plane.step;
                views.load(plane, start, line);
                scores.update(line.as_row(), |score, mask| match mask == 0.0 {
                    true => score,
                    false => MASKED,
                });
            }
            if let Some(band) = self.band {
                let (low, high) = band.of(own, self.columns);
                let low = low.clamp(first, first + count) - first;
                let high = high.clamp(first, first + count) - first;
                scores.slice(0, low).fill(MASKED);
                scores.slice(high, count - high).fill(MASKED);
            }
        }
    }

    /// Applies dropout to a tile of probabilities or of their gradients. `row_of` returns the elements of a row. `line` is scratch
    /// memory for one row.
    pub fn drop_out<'a>(
        &self,
        views: &Views<'_>,
        task: Task,
        (rows, first, count): (usize, usize, usize),
        line: RowMut<'_, f32>,
        row_of: impl Fn(usize) -> RowMut<'a, f32>,
    ) {
        let Some(dropout) = self.dropout else { return };
        for row in 0..rows {
            let (head, own) = task.head_and_row(self, row);
            let bit = dropout.start + (head * self.rows + own) * self.columns + first;
            let bytes = line.slice(0, (bit % 8 + count).div_ceil(8));
            views.inputs[dropout.operand].load(bit / 8, 1, bytes);
            let values = row_of(row);
            for column in 0..count {
                let at = bit % 8 + column;
                let kept = bytes.get(at / 8) as u8 >> (at % 8) & 1 == 1;
                let value = match kept {
                    true => values.get(column) * dropout.factor,
                    false => 0.0,
                };
                values.set(column, value);
            }
        }
    }

    /// Returns the columns that the rows of a tile may see, if a band alone decides. `skip_invalid`: rows that see no
    /// column need none; otherwise they need all.
    pub fn seen(&self, task: Task, rows: usize, skip_invalid: bool) -> (usize, usize) {
        let all = (0, self.columns);
        let (Some(band), None) = (self.band, &self.mask) else {
            return all;
        };
        let (mut first, mut end) = (self.columns, 0);
        for row in 0..rows {
            let (_, own) = task.head_and_row(self, row);
            let (low, high) = band.of(own, self.columns);
            if low == high {
                // A row that sees nothing is the mean of all values, unless it is 0.
                if skip_invalid {
                    continue;
                }
                return all;
            }
            (first, end) = (first.min(low), end.max(high));
        }
        (first.min(end), end)
    }
}

/// The operands of one call.
pub(super) struct Views<'a> {
    pub inputs: Vec<AnyView<'a>>,
    pub outputs: Vec<AnyViewMut<'a>>,
    /// The table of pages.
    pub table: Option<Row<'a, i32>>,
}

impl<'a> Views<'a> {
    /// Returns the operands of a call, which have these types.
    pub fn new(
        call: &Call<'a>,
        inputs: &[DataType],
        outputs: &[DataType],
    ) -> Result<Views<'a>, OpError> {
        let (inputs, outputs) = (inputs.iter().enumerate(), outputs.iter().enumerate());
        Ok(Views {
            inputs: inputs
                .map(|(index, &dtype)| AnyView::new(call, index, dtype))
                .collect::<Result<_, _>>()?,
            outputs: outputs
                .map(|(index, &dtype)| AnyViewMut::new(call, index, dtype))
                .collect::<Result<_, _>>()?,
            table: None,
        })
    }

    /// Converts a row of an input.
    pub fn load(&self, plane: &Plane, start: usize, to: RowMut<'_, f32>) {
        self.inputs[plane.operand].load(start, plane.step as isize, to);
    }

    /// Converts a row of an output.
    pub fn store(&self, plane: &Plane, start: usize, from: RowMut<'_, f32>) {
        self.outputs[plane.operand].store(start, plane.step as isize, from.as_row());
    }

    /// Writes the copies of a number, which lie side by side: `step` counts them.
    fn number(&self, plane: &Option<Plane>, (head, row): (usize, usize), value: f32) {
        let Some(plane) = plane else { return };
        let start = plane.row(head, row);
        if let Some(copies) = self.outputs[plane.operand].float32(start, plane.step, 1) {
            copies.fill(value);
        }
    }
}

/// The scratch memory of one part.
struct Memory<'a> {
    query: RowMut<'a, f32>,
    keys: RowMut<'a, f32>,
    values: RowMut<'a, f32>,
    scores: RowMut<'a, f32>,
    sums: RowMut<'a, f32>,
    addend: RowMut<'a, f32>,
    largest: RowMut<'a, f32>,
    total: RowMut<'a, f32>,
}

/// The softmax of a tile of scores against the running maximum: scores become powers.
pub(super) struct Soften<'a> {
    pub scores: RowMut<'a, f32>,
    /// Sums of `width` numbers for each row, which are rescaled when its maximum grows.
    pub sums: RowMut<'a, f32>,
    pub largest: RowMut<'a, f32>,
    pub total: RowMut<'a, f32>,
    pub rows: usize,
    pub columns: usize,
    pub width: usize,
}

impl Work for Soften<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for row in 0..self.rows {
            let scores = self.scores.slice(row * COLUMNS, self.columns);
            let most = scores
                .as_row()
                .fold_wide(f32::NEG_INFINITY, f32::max, f32::max);
            let before = self.largest.get(row);
            let largest = before.max(most);
            let reference = reference(largest);
            let correction = Fast::<FUSED>(before - reference).exp().0;
            scores.map1(scores.as_row(), |score| {
                Fast::<FUSED>(score - reference).exp().0
            });
            let sum =
                scores
                    .as_row()
                    .fold_wide(0.0, |sum, power| sum + power, |one, two| one + two);
            self.total.set(row, self.total.get(row) * correction + sum);
            self.largest.set(row, largest);
            if correction != 1.0 {
                let sums = self.sums.slice(row * self.width, self.width);
                sums.map1(sums.as_row(), |value| value * correction);
            }
        }
    }
}

impl TiledAttention {
    fn views<'a>(&self, call: &Call<'a>) -> Result<Views<'a>, OpError> {
        let table = self.sequences.iter().find_map(|sequence| sequence.pages);
        let table = match table {
            Some(pages) => Some(call.input::<i32>(pages.table)?.flat()),
            None => None,
        };
        Ok(Views {
            table,
            ..Views::new(call, &self.inputs, &self.outputs)?
        })
    }

    fn depth(&self) -> usize {
        self.width + self.extra_width
    }

    fn panels(width: usize) -> usize {
        width.div_ceil(PANEL)
    }

    /// The scratch memory of one part, in float32 values: the sizes of its areas.
    fn areas(&self) -> [usize; 8] {
        [
            ROWS * self.depth(),
            COLUMNS * self.depth(),
            Self::panels(self.value_width) * COLUMNS * PANEL,
            ROWS * COLUMNS,
            ROWS * self.value_width,
            COLUMNS,
            ROWS,
            ROWS,
        ]
    }

    fn part_len(&self) -> usize {
        self.areas().iter().sum::<usize>().next_multiple_of(16)
    }

    fn tasks(&self) -> usize {
        let tiles = |sequence: &Sequence| (sequence.rows * self.shared).div_ceil(ROWS);
        self.heads * self.sequences.iter().map(tiles).sum::<usize>()
    }

    /// Returns the task with a number.
    fn task(&self, number: usize) -> Option<Task> {
        let mut rest = number;
        for (index, sequence) in self.sequences.iter().enumerate() {
            let tiles = (sequence.rows * self.shared).div_ceil(ROWS);
            if rest < tiles * self.heads {
                return Some(Task {
                    sequence: index,
                    head: rest / tiles,
                    shared: self.shared,
                    first: rest % tiles * ROWS,
                });
            }
            rest -= tiles * self.heads;
        }
        None
    }

    /// Returns where the keys, the values and the further entries of a column start.
    fn column(
        &self,
        views: &Views<'_>,
        sequence: &Sequence,
        head: usize,
        column: usize,
    ) -> Result<[usize; 3], OpError> {
        let further = sequence.extra.map(|(_, extra)| extra);
        let further = |row: usize| further.map_or(0, |extra| extra.row(head, row));
        let Some(pages) = &sequence.pages else {
            return Ok([
                sequence.key.row(head, column),
                sequence.value.row(head, column),
                further(column),
            ]);
        };
        let entry = column / pages.size;
        let page = match (views.table, entry < pages.entries) {
            (Some(table), true) => table.get(pages.start + entry),
            _ => -1,
        };
        match usize::try_from(page) {
            Ok(page) if page < pages.count => Ok([
                page * pages.key_stride + sequence.key.row(head, column % pages.size),
                page * pages.value_stride + sequence.value.row(head, column % pages.size),
                page * pages.extra_stride + further(column % pages.size),
            ]),
            _ => Err(OpError::new(
                OpErrorKind::Data,
                format!(
                    "{}: the table of pages has {page} for column {column}; it must be between 0 and {}",
                    self.operator,
                    pages.count as i64 - 1
                ),
            )),
        }
    }

    /// Packs a tile of keys and values.
    fn pack(
        &self,
        views: &Views<'_>,
        sequence: &Sequence,
        head: usize,
        (first, count): (usize, usize),
        memory: &Memory<'_>,
    ) -> Result<(), OpError> {
        let depth = self.depth();
        // A row of a key goes down a column of a panel: it is converted into the area of addends first, or piece by piece.
        let line = memory.addend;
        if count < COLUMNS {
            memory.keys.fill(0.0);
        }
        for column in 0..count {
            let [key, value, further] = self.column(views, sequence, head, first + column)?;
            let (panel, inside) = (column / PANEL, column % PANEL);
            let base = panel * depth * PANEL + inside;
            let mut parts = [Some((sequence.key, key, 0, self.width)), None];
            if let Some((_, extra)) = &sequence.extra {
                parts[1] = Some((*extra, further, self.width, self.extra_width));
            }
            for (plane, start, offset, width) in parts.into_iter().flatten() {
                let mut done = 0;
                while done < width {
                    let len = (width - done).min(line.len());
                    let piece = line.slice(0, len);
                    views.load(&plane, start + done * plane.step, piece);
                    memory
                        .keys
                        .stepped(base + (offset + done) * PANEL, len, PANEL)
                        .copy_from(piece.as_row());
                    done += len;
                }
            }
            for panel in 0..Self::panels(self.value_width) {
                let start = panel * PANEL;
                let len = PANEL.min(self.value_width - start);
                let to = memory
                    .values
                    .slice((panel * COLUMNS + column) * PANEL, PANEL);
                if len < PANEL {
                    to.fill(0.0);
                }
                let from = value + start * sequence.value.step;
                views.load(&sequence.value, from, to.slice(0, len));
            }
        }
        Ok(())
    }

    fn tile(&self, views: &Views<'_>, task: Task, memory: &Memory<'_>) -> Result<(), OpError> {
        let sequence = &self.sequences[task.sequence];
        let rows = ROWS.min(sequence.rows * self.shared - task.first);
        let (depth, width) = (self.depth(), self.value_width);
        for row in 0..rows {
            let (head, own) = task.head_and_row(sequence, row);
            let to = memory.query.slice(row * depth, depth);
            let plane = &sequence.query;
            views.load(plane, plane.row(head, own), to.slice(0, self.width));
            if let Some((plane, _)) = &sequence.extra {
                let to = to.slice(self.width, self.extra_width);
                views.load(plane, plane.row(head, own), to);
            }
        }
        memory.sums.fill(0.0);
        memory.total.fill(0.0);
        memory.largest.fill(f32::NEG_INFINITY);
        let (mut first, end) = sequence.seen(task, rows, self.invalid_is_zero);
        while first < end {
            let count = COLUMNS.min(end - first);
            self.pack(views, sequence, task.head, (first, count), memory)?;
            for panel in 0..count.div_ceil(PANEL) {
                let columns = PANEL.min(count - panel * PANEL);
                gemm(
                    (rows, columns, depth),
                    (memory.query.as_row(), depth),
                    memory
                        .keys
                        .slice(panel * depth * PANEL, depth * PANEL)
                        .as_row(),
                    (
                        memory
                            .scores
                            .slice(panel * PANEL, ROWS * COLUMNS - panel * PANEL),
                        COLUMNS,
                    ),
                    &PLAIN,
                );
            }
            sequence.adjust(
                views,
                task,
                self.scaling,
                (rows, first, count),
                (memory.scores, memory.addend),
            );
            wide(Soften {
                scores: memory.scores,
                sums: memory.sums,
                largest: memory.largest,
                total: memory.total,
                rows,
                columns: count,
                width,
            });
            sequence.drop_out(views, task, (rows, first, count), memory.addend, |row| {
                memory.scores.slice(row * COLUMNS, count)
            });
            for panel in 0..Self::panels(width) {
                let start = panel * PANEL;
                let columns = PANEL.min(width - start);
                gemm(
                    (rows, columns, count),
                    (memory.scores.as_row(), COLUMNS),
                    memory
                        .values
                        .slice(panel * COLUMNS * PANEL, COLUMNS * PANEL)
                        .as_row(),
                    (memory.sums.slice(start, ROWS * width - start), width),
                    &Epilogue {
                        start: Start::Accumulate,
                        ..PLAIN
                    },
                );
            }
            first += count;
        }
        for row in 0..rows {
            self.finish(views, task, row, memory);
        }
        Ok(())
    }

    /// Divides a row by its sum, and writes it and its statistics.
    fn finish(&self, views: &Views<'_>, task: Task, row: usize, memory: &Memory<'_>) {
        let sequence = &self.sequences[task.sequence];
        let at = task.head_and_row(sequence, row);
        let sums = memory.sums.slice(row * self.value_width, self.value_width);
        let (largest, total) = (memory.largest.get(row), memory.total.get(row));
        // Without columns, or where an addend of -inf excludes all of them, there is nothing to add. Where a mask does, the result
        // may be asked to be 0.
        let nothing = total == 0.0 || (self.invalid_is_zero && largest == MASKED);
        match nothing {
            true => sums.fill(0.0),
            false => {
                let factor = 1.0 / total;
                sums.map1(sums.as_row(), |value| value * factor);
            }
        }
        let out = &sequence.out;
        views.store(out, out.row(at.0, at.1), sums);
        views.number(&sequence.largest, at, largest);
        views.number(&sequence.sum, at, total);
        let log_sum = match nothing {
            true => f32::INFINITY,
            false => largest + total.ln(),
        };
        views.number(&sequence.log_sum, at, log_sum);
    }
}

impl Kernel for TiledAttention {
    /// The same for all lengths of sequences, so that a captured call can be updated with others: its workspace stays.
    fn scratch_bytes(&self) -> usize {
        PARTS * self.part_len() * size_of::<f32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let tasks = self.tasks();
        let (parts, len) = (PARTS.min(tasks), self.part_len());
        if parts == 0 {
            return Ok(());
        }
        let scratch = call.scratch::<f32>(0, parts * len)?;
        let views = self.views(call)?;
        let failure = OnceLock::new();
        call.workers().each(parts, |part| {
            let own = scratch.slice(part * len, len);
            let mut start = 0;
            let mut areas = self.areas().into_iter().map(|size| {
                start += size;
                own.slice(start - size, size)
            });
            let mut next = || areas.next().expect("a part has eight areas");
            let memory = Memory {
                query: next(),
                keys: next(),
                values: next(),
                scores: next(),
                sums: next(),
                addend: next(),
                largest: next(),
                total: next(),
            };
            // Later tiles of a causal band are longer: parts take turns.
            for number in (part..tasks).step_by(parts) {
                let done = match self.task(number) {
                    Some(task) => self.tile(&views, task, &memory),
                    None => Err(internal("a tile has no task")),
                };
                if let Err(error) = done {
                    let _ = failure.set(error);
                    return;
                }
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }
}
