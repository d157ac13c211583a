//! The kernel of a function of elements.

use jumar_ops::math::LowPrecision;
use jumar_ops::view::{Block as Bytes, Layout, PastCaches, Region, RowMut, View, ViewMut};
use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::Source;
use super::compute::{self, Cell, Compute, for_cell, load, round, store};
use super::direct::{AnyDirect, Loop, Operand};
use super::functions::{Block, F, Functions};
use super::nest::{Nest, OPERANDS};
use super::tile::{AHEAD, ROW, Tile, Tiles};

/// Operands that a function can have.
const ARITY: usize = OPERANDS - 1;

/// Elements of a block.
const BLOCK: usize = 256;

/// Elements of a block where there are no more than these.
const SMALL: usize = 16;

/// Pieces of rows that one block can be put together from.
const PIECES: usize = 32;

/// Elements from which on a row of several is computed by a call of its own.
const LONG: usize = 64;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 15;

/// Where an operand comes from.
#[derive(Clone, Copy)]
enum Slot<L> {
    /// An input of the kernel, and the function that rounds it to the type that is computed in.
    Input(usize, Option<fn(&mut [L])>),
    /// A value.
    Value(L),
}

/// A function of elements, computed in one compute type.
pub(super) struct Map<L> {
    nest: Nest,
    /// Where inputs lie the other way round than the output.
    tiles: Option<Tiles>,
    function: Option<Block<L>>,
    slots: [Slot<L>; ARITY],
    arity: usize,
    inputs: [DataType; ARITY],
    tensors: usize,
    output: DataType,
    after: Option<fn(&mut [L])>,
    /// The loop in one pass, where the operands allow it.
    direct: Option<AnyDirect>,
}

impl<L: Functions> Map<L> {
    /// Creates the kernel: see [`super::map`].
    pub fn create(
        function: Option<F>,
        compute: DataType,
        boolean: bool,
        operands: &[Source<'_>],
        output: (DataType, &Layout),
    ) -> Option<Box<dyn Kernel>> {
        let (output, layout) = output;
        let arity = function.map_or(1, F::arity);
        let named = function;
        let function = match function {
            Some(function) => Some(L::find(function)?),
            None => None,
        };
        if operands.len() != arity || !compute::is_cell(output) {
            return None;
        }
        let mut slots = [Slot::Value(L::default()); ARITY];
        let mut inputs = [output; ARITY];
        let mut layouts = [layout; OPERANDS];
        let mut tensors = 0;
        for (slot, operand) in slots.iter_mut().zip(operands) {
            *slot = match *operand {
                Source::Scalar(scalar) => Slot::Value(L::of_scalar(&scalar)),
                Source::Tensor(dtype, layout) => {
                    if !compute::is_cell(dtype) {
                        return None;
                    }
                    inputs[tensors] = dtype;
                    layouts[tensors] = layout;
                    tensors += 1;
                    let exact = dtype == compute
                        || dtype == DataType::Bool
                        || !(is_rounded(compute) || is_wrapped(dtype, compute));
                    Slot::Input(tensors - 1, if exact { None } else { rounding(compute) })
                }
            };
        }
        layouts[tensors] = layout;
        let after = match boolean || output == compute || function.is_none() {
            true => None,
            false => rounding(compute),
        };
        let nest = Nest::new(&layouts[..=tensors]);
        let sizes = inputs[..tensors].iter();
        let sizes: Vec<usize> = sizes.map(|input| input.size().unwrap_or(1)).collect();
        let tiles = Tiles::find(&nest, &sizes);
        let alike = output == compute && inputs[..tensors].iter().all(|&input| input == compute);
        let direct = match named {
            Some(function) if alike && is_direct(&nest, tiles.as_ref(), tensors) => {
                AnyDirect::find(function, compute)
            }
            _ => None,
        };
        Some(Box::new(Map {
            nest,
            tiles,
            direct,
            function,
            slots,
            arity,
            inputs,
            tensors,
            output,
            after,
        }))
    }

    /// Computes some rows, or one part of a row.
    fn part<const N: usize, const R: usize>(
        &self,
        readers: &[Reader<'_>],
        writer: &Writer<'_>,
        rows: (usize, usize),
        columns: (usize, usize),
    ) {
        if let (None, Slot::Value(value)) = (self.function, self.slots[0]) {
            return self.fill(value, writer, rows, columns);
        }
        let mut registers = [[L::default(); N]; R];
        for (register, slot) in registers.iter_mut().zip(&self.slots[..self.arity]) {
            if let Slot::Value(value) = slot {
                register.fill(*value);
            }
        }
        let steps = self.nest.steps();
        let mut pieces = [(0, 0); PIECES];
        let (mut count, mut filled) = (0, 0);
        let (start, len) = columns;
        let step = steps[self.tensors];
        let store = |start: usize, block: &[L]| writer.store(start, step, block);
        self.nest.each(rows.0, rows.1, |offsets| {
            let mut done = 0;
            while done < len {
                let size = (N - filled).min(len - done);
                let at = |operand: usize| {
                    let way = steps[operand].wrapping_mul((start + done) as isize);
                    offsets[operand].wrapping_add_signed(way)
                };
                for (register, slot) in registers.iter_mut().zip(&self.slots[..self.arity]) {
                    if let Slot::Input(input, _) = *slot {
                        let block = &mut register[filled..filled + size];
                        readers[input].load(at(input), steps[input], block);
                    }
                }
                pieces[count] = (at(self.tensors), size);
                count += 1;
                filled += size;
                done += size;
                if filled == N || count == PIECES {
                    self.flush(&mut registers, filled, &pieces[..count], store);
                    (count, filled) = (0, 0);
                }
            }
        });
        if filled > 0 {
            self.flush(&mut registers, filled, &pieces[..count], store);
        }
    }

    /// Writes a value to some rows, or to one part of a row.
    fn fill(
        &self,
        value: L,
        writer: &Writer<'_>,
        rows: (usize, usize),
        (start, len): (usize, usize),
    ) {
        let step = self.nest.steps()[self.tensors];
        self.nest.each(rows.0, rows.1, |offsets| {
            let distance = step.wrapping_mul(start as isize);
            let first = offsets[self.tensors].wrapping_add_signed(distance);
            writer.fill(first, step, len, value);
        });
    }

    /// Computes the first `filled` elements of the registers and calls `store` with the start of each piece of the output.
    #[inline]
    fn flush<const N: usize, const R: usize>(
        &self,
        registers: &mut [[L; N]; R],
        filled: usize,
        pieces: &[(usize, usize)],
        mut store: impl FnMut(usize, &[L]),
    ) {
        for (register, slot) in registers.iter_mut().zip(&self.slots[..self.arity]) {
            if let Slot::Input(_, Some(round)) = slot {
                round(&mut register[..filled]);
            }
        }
        let Some((first, rest)) = registers.split_first_mut() else {
            return;
        };
        let first = &mut first[..filled];
        if let Some(function) = self.function {
            if let Slot::Value(value) = self.slots[0] {
                // The block before left its results there.
                first.fill(value);
            }
            let mut others: [&[L]; ARITY] = [&[]; ARITY];
            for (other, register) in others.iter_mut().zip(rest) {
                *other = &register[..filled];
            }
            function(first, &others[..self.arity - 1]);
        }
        if let Some(after) = self.after {
            after(first);
        }
        let mut done = 0;
        for &(offset, size) in pieces {
            store(offset, &first[done..done + size]);
            done += size;
        }
    }

    /// Computes all rows, a tile at a time.
    fn in_tiles<const N: usize, const R: usize>(
        &self,
        tiles: &Tiles,
        call: &Call<'_>,
        (readers, writer): (&[Reader<'_>], &Writer<'_>),
    ) {
        let steps = self.nest.steps();
        let state = || {
            let mut registers = [[L::default(); N]; R];
            for (register, slot) in registers.iter_mut().zip(&self.slots[..self.arity]) {
                if let Slot::Value(value) = slot {
                    register.fill(*value);
                }
            }
            let size = self.output.size().unwrap_or(0);
            let result = Bytes::zeroed(tiles.elements() * size);
            (registers, self.buffers(tiles), result, tiles.past(size))
        };
        tiles.each(
            call.workers(),
            state,
            |(registers, buffers, result, past), tile| {
                for input in (0..self.tensors).filter(|&input| tiles.is_turned(input)) {
                    readers[input].turn(input, tile, buffers[input].region());
                }
                let dense = (0..self.tensors).filter(|&input| !tiles.is_turned(input));
                let ask = |number: usize| {
                    for input in dense.clone() {
                        readers[input].ask_for(input, tile, number);
                    }
                };
                (0..AHEAD).for_each(&ask);
                let mut pieces = [(0, 0); PIECES];
                let (mut count, mut filled) = (0, 0);
                for (number, line) in tile.lines.clone().enumerate() {
                    ask(number + AHEAD);
                    for (register, slot) in registers.iter_mut().zip(&self.slots[..self.arity]) {
                        let Slot::Input(input, _) = *slot else {
                            continue;
                        };
                        let block = &mut register[filled..filled + tile.len];
                        match tiles.is_turned(input) {
                            true => {
                                readers[input].load_from(
                                    buffers[input].region(),
                                    number * ROW,
                                    block,
                                );
                            }
                            false => {
                                readers[input].load(tile.start(input, line), steps[input], block)
                            }
                        }
                    }
                    pieces[count] = (number * ROW, tile.len);
                    count += 1;
                    filled += tile.len;
                    if filled + tile.len > N || count == PIECES || number + 1 == tile.lines.len() {
                        self.flush(registers, filled, &pieces[..count], |start, block| {
                            writer.store_to(result.region(), start, block);
                        });
                        (count, filled) = (0, 0);
                    }
                }
                writer.store_tile(result.region(), self.tensors, tile, past.as_ref());
            },
        );
    }

    /// Allocates the memory of the tiles that inputs are turned into.
    fn buffers(&self, tiles: &Tiles) -> [Bytes; ARITY] {
        std::array::from_fn(|input| {
            let size = match input < self.tensors && tiles.is_turned(input) {
                true => self.inputs[input].size().unwrap_or(0),
                false => 0,
            };
            Bytes::zeroed(tiles.elements() * size)
        })
    }

    /// Computes all rows without blocks, a tile at a time. The result overwrites the first input that was turned.
    fn in_one_pass_of_tiles<T: LowPrecision>(
        &self,
        tiles: &Tiles,
        (function, by): Loop<T>,
        call: &Call<'_>,
    ) -> Result<(), OpError> {
        let out = call.output::<T>(0)?;
        let views = self.views::<T>(call)?;
        let steps = self.nest.steps();
        let turned = |input: &usize| *input < self.tensors && tiles.is_turned(*input);
        let first = (0..ARITY).find(turned).unwrap_or(0);
        let state = || {
            let buffers = std::array::from_fn::<Vec<T>, ARITY, _>(|input| match turned(&input) {
                true => vec![T::default(); tiles.elements()],
                false => Vec::new(),
            });
            (buffers, tiles.past(size_of::<T>()))
        };
        tiles.each(call.workers(), state, |(buffers, past), tile| {
            let buffers = buffers.each_mut().map(|buffer| RowMut::of(buffer));
            for (input, (&buffer, view)) in buffers.iter().zip(&views).enumerate() {
                if let (true, Some(view)) = (tiles.is_turned(input), view) {
                    tile.turn(input, view, buffer);
                }
            }
            let ask = |number: usize| {
                for (input, view) in views.iter().enumerate() {
                    if let (false, Some(view)) = (tiles.is_turned(input), view) {
                        tile.ask_for(input, view, number);
                    }
                }
            };
            (0..AHEAD).for_each(ask);
            for (number, line) in tile.lines.clone().enumerate() {
                ask(number + AHEAD);
                let mut operands = [Operand::Value(0.0); ARITY];
                for (operand, slot) in operands.iter_mut().zip(&self.slots[..self.arity]) {
                    *operand = match *slot {
                        Slot::Value(value) => Operand::Value(value.f32()),
                        Slot::Input(input, _) if tiles.is_turned(input) => {
                            let row = buffers[input].slice(number * ROW, tile.len);
                            Operand::Row(row.as_row())
                        }
                        Slot::Input(input, _) => {
                            let Some(view) = views[input] else { continue };
                            let start = tile.start(input, line);
                            match steps[input] {
                                0 => Operand::Value(view.row(start, 1, 1).get(0).widen()),
                                _ => Operand::Row(view.row(start, tile.len, 1)),
                            }
                        }
                    };
                }
                let to = buffers[first].slice(number * ROW, tile.len);
                function(by, to, &operands[..self.arity]);
            }
            tile.store(self.tensors, buffers[first].as_row(), &out, past.as_ref());
        });
        Ok(())
    }

    /// Returns the tensors of the inputs.
    fn views<'a, T: LowPrecision>(
        &self,
        call: &Call<'a>,
    ) -> Result<[Option<View<'a, T>>; ARITY], OpError> {
        let mut views = [None; ARITY];
        for (index, view) in views[..self.tensors].iter_mut().enumerate() {
            *view = Some(call.input::<T>(index)?);
        }
        Ok(views)
    }

    /// Computes all rows without blocks.
    fn in_one_pass<T: LowPrecision>(
        &self,
        (function, by): Loop<T>,
        call: &Call<'_>,
    ) -> Result<(), OpError> {
        if let Some(tiles) = &self.tiles {
            return self.in_one_pass_of_tiles(tiles, (function, by), call);
        }
        let out = call.output::<T>(0)?;
        let views = self.views::<T>(call)?;
        let (rows, row, steps) = (self.nest.rows(), self.nest.row(), self.nest.steps());
        let part = |first: usize, count: usize, start: usize, len: usize| {
            let mut operands = [Operand::Value(0.0); ARITY];
            for (operand, slot) in operands.iter_mut().zip(&self.slots[..self.arity]) {
                if let Slot::Value(value) = slot {
                    *operand = Operand::Value(value.f32());
                }
            }
            self.nest.each(first, count, |offsets| {
                for (operand, slot) in operands.iter_mut().zip(&self.slots[..self.arity]) {
                    let Slot::Input(input, _) = *slot else {
                        continue;
                    };
                    let Some(view) = views[input] else {
                        continue;
                    };
                    *operand = match steps[input] {
                        0 => Operand::Value(view.row(offsets[input], 1, 1).get(0).widen()),
                        _ => Operand::Row(view.row(offsets[input] + start, len, 1)),
                    };
                }
                let at = offsets[self.tensors] + start;
                function(by, out.row(at, len, 1), &operands[..self.arity]);
            });
        };
        if rows == 1 {
            call.workers()
                .ranges(row, GRAIN, |start, len| part(0, 1, start, len));
        } else {
            let grain = GRAIN.div_ceil(row.max(1));
            call.workers()
                .ranges(rows, grain, |first, count| part(first, count, 0, row));
        }
        Ok(())
    }

    fn split<const N: usize, const R: usize>(
        &self,
        call: &Call<'_>,
        readers: &[Reader<'_>],
        writer: &Writer<'_>,
    ) {
        if N >= ROW
            && let Some(tiles) = &self.tiles
        {
            return self.in_tiles::<N, R>(tiles, call, (readers, writer));
        }
        let (rows, row) = (self.nest.rows(), self.nest.row());
        if rows == 1 {
            call.workers().ranges(row, GRAIN, |start, len| {
                self.part::<N, R>(readers, writer, (0, 1), (start, len));
            });
        } else {
            let grain = GRAIN.div_ceil(row.max(1));
            call.workers().ranges(rows, grain, |first, count| {
                self.part::<N, R>(readers, writer, (first, count), (0, row));
            });
        }
    }
}

impl<L: Functions> Kernel for Map<L> {
    fn is_elementwise(&self) -> bool {
        true
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match self.direct {
            Some(AnyDirect::Float32(function)) => return self.in_one_pass(function, call),
            Some(AnyDirect::Float16(function)) => return self.in_one_pass(function, call),
            Some(AnyDirect::BFloat16(function)) => return self.in_one_pass(function, call),
            None => {}
        }
        let writer = Writer::new(call, self.output)?;
        let mut readers = [const { Reader::None }; ARITY];
        for (index, &dtype) in self.inputs[..self.tensors].iter().enumerate() {
            readers[index] = Reader::new(call, index, dtype)?;
        }
        match (self.nest.elements() <= SMALL, self.arity <= 3) {
            (true, true) => self.split::<SMALL, 3>(call, &readers, &writer),
            (true, false) => self.split::<SMALL, ARITY>(call, &readers, &writer),
            (false, true) => self.split::<BLOCK, 3>(call, &readers, &writer),
            (false, false) => self.split::<BLOCK, ARITY>(call, &readers, &writer),
        }
        Ok(())
    }
}

/// Reports whether the elements of a row lie side by side, are turned so, or are one element, and whether a row is worth a call of its own.
fn is_direct(nest: &Nest, tiles: Option<&Tiles>, tensors: usize) -> bool {
    let (inputs, out) = nest.steps().split_at(tensors);
    let is_worth = nest.row() >= LONG || nest.rows() == 1;
    let mut inputs = inputs.iter().take(tensors).enumerate();
    let is_turned = |input: usize| tiles.is_some_and(|tiles| tiles.is_turned(input));
    let lies = |(input, &step): (usize, &isize)| step == 0 || step == 1 || is_turned(input);
    is_worth && out[0] == 1 && inputs.all(lies)
}

/// Reports whether values of a compute type lose digits in a type.
fn is_rounded(dtype: DataType) -> bool {
    matches!(
        dtype,
        DataType::Float16 | DataType::BFloat16 | DataType::Complex32
    )
}

/// Reports whether integers of a type may lie beyond a compute type, and wrap around in it.
fn is_wrapped(dtype: DataType, compute: DataType) -> bool {
    dtype.is_integer() && compute.is_integer() && compute.size() <= dtype.size()
}

/// Finds the function that rounds to a type. `None` where the compute type is the type itself.
fn rounding<L: Compute>(dtype: DataType) -> Option<fn(&mut [L])> {
    if matches!(
        dtype,
        DataType::Float32
            | DataType::Float64
            | DataType::Int64
            | DataType::UInt64
            | DataType::Complex64
            | DataType::Complex128
    ) {
        return None;
    }
    for_cell!(dtype, C => Some(round::<C, L> as fn(&mut [L])), None)
}

/// Tensors of each type, so that a row is found with one branch.
macro_rules! typed {
    ($($name:ident => $cell:ty,)*) => {
        /// An input.
        pub(super) enum Reader<'a> {
            None,
            $($name(View<'a, <$cell as Cell>::Raw>),)*
        }

        impl<'a> Reader<'a> {
            pub fn new(call: &Call<'a>, index: usize, dtype: DataType) -> Result<Reader<'a>, OpError> {
                match dtype {
                    $(DataType::$name => Ok(Reader::$name(call.input(index)?)),)*
                    _ => Err(unknown(dtype)),
                }
            }

            #[inline]
            pub fn load<L: Compute>(&self, start: usize, step: isize, block: &mut [L]) {
                match self {
                    Reader::None => {}
                    $(Reader::$name(view) => load::<$cell, L>(view.row(start, block.len(), step), block),)*
                }
            }
        }

        impl Reader<'_> {
            /// Writes the elements of a tile to memory, turned.
            fn turn(&self, input: usize, tile: &Tile<'_>, to: Region<'_>) {
                match self {
                    Reader::None => {}
                    $(Reader::$name(view) => {
                        let len = to.bytes() / size_of::<<$cell as Cell>::Raw>();
                        if let Some(to) = to.scratch(len) {
                            tile.turn(input, view, to);
                        }
                    })*
                }
            }

            /// Asks for a row of a tile.
            fn ask_for(&self, input: usize, tile: &Tile<'_>, number: usize) {
                match self {
                    Reader::None => {}
                    $(Reader::$name(view) => tile.ask_for(input, view, number),)*
                }
            }

            /// Loads elements from the memory of a tile.
            fn load_from<L: Compute>(&self, from: Region<'_>, start: usize, block: &mut [L]) {
                match self {
                    Reader::None => {}
                    $(Reader::$name(_) => {
                        if let Some(from) = from.scratch(start + block.len()) {
                            load::<$cell, L>(from.as_row().slice(start, block.len()), block);
                        }
                    })*
                }
            }
        }

        /// The output.
        enum Writer<'a> {
            $($name(ViewMut<'a, <$cell as Cell>::Raw>),)*
        }

        impl<'a> Writer<'a> {
            fn new(call: &Call<'a>, dtype: DataType) -> Result<Writer<'a>, OpError> {
                match dtype {
                    $(DataType::$name => Ok(Writer::$name(call.output(0)?)),)*
                    _ => Err(unknown(dtype)),
                }
            }

            /// Converts the value once.
            fn fill<L: Compute>(&self, start: usize, step: isize, len: usize, value: L) {
                match self {
                    $(Writer::$name(view) => {
                        let row = view.row(start, len, step);
                        store::<$cell, L>(row.slice(0, 1), &[value]);
                        row.fill(row.get(0));
                    })*
                }
            }

            /// Writes elements to the memory of a tile.
            fn store_to<L: Compute>(&self, to: Region<'_>, start: usize, block: &[L]) {
                match self {
                    $(Writer::$name(_) => {
                        if let Some(to) = to.scratch(start + block.len()) {
                            store::<$cell, L>(to.slice(start, block.len()), block);
                        }
                    })*
                }
            }

            /// Writes a tile from memory.
            fn store_tile(
                &self,
                from: Region<'_>,
                operand: usize,
                tile: &Tile<'_>,
                past: Option<&PastCaches>,
            ) {
                match self {
                    $(Writer::$name(view) => {
                        let len = from.bytes() / size_of::<<$cell as Cell>::Raw>();
                        if let Some(from) = from.scratch(len) {
                            tile.store(operand, from.as_row(), view, past);
                        }
                    })*
                }
            }

            #[inline]
            fn store<L: Compute>(&self, start: usize, step: isize, block: &[L]) {
                match self {
                    $(Writer::$name(view) => store::<$cell, L>(view.row(start, block.len(), step), block),)*
                }
            }
        }
    };
}

typed! {
    Float32 => f32,
    Float64 => f64,
    Float16 => jumar_ops::view::F16,
    BFloat16 => jumar_ops::view::BF16,
    Int8 => i8,
    Int16 => i16,
    Int32 => i32,
    Int64 => i64,
    UInt8 => u8,
    UInt16 => u16,
    UInt32 => u32,
    UInt64 => u64,
    Bool => jumar_ops::view::Bool8,
    Complex32 => compute::Complex32,
    Complex64 => compute::Complex64,
    Complex128 => compute::Complex128,
}

#[cold]
fn unknown(dtype: DataType) -> OpError {
    OpError::new(
        OpErrorKind::Internal,
        format!("elementwise kernels have no elements of type {dtype}"),
    )
}

#[cfg(test)]
mod tests {
    use jumar_ops::view::{Block, F16, Region};
    use jumar_types::dtype::DataType;

    use crate::{Arg, Dims, TensorArg, TensorDesc, Workers, plan};

    /// Returns the product of a transposed tensor and a dense one, over dimensions of the product.
    fn product(dtype: DataType, dims: [i64; 3], values: [Vec<u8>; 2]) -> Vec<u8> {
        let [_, rows, columns] = dims;
        let dense = TensorDesc::contiguous(dtype, &dims);
        let mut turned = dense.clone();
        turned.strides = Dims::new(&[rows * columns, 1, rows]);
        let args = [turned, dense.clone(), dense].into_iter().enumerate();
        let args: Vec<Arg> = args
            .map(|(buffer, desc)| Arg::Tensor(TensorArg { desc, buffer }))
            .collect();
        let mut all = crate::signatures::ALL.iter();
        let signature = all.find(|signature| signature.name == "aclnnMul");
        let plan = plan(signature.unwrap(), &args).unwrap();
        let [mut one, mut two] = values.map(|values| Block::of(&values));
        let mut out = Block::zeroed(two.bytes().len());
        let regions = [one.region(), two.region(), out.region()];
        plan.run(&regions, Region::EMPTY, Workers::ALONE).unwrap();
        out.bytes().to_vec()
    }

    #[test]
    fn transposed_operands_of_any_size_meet_the_same_elements() {
        for dims in [
            [1, 35, 67],
            [3, 32, 64],
            [2, 40, 5],
            [2, 31, 100],
            [1, 300, 320],
        ] {
            let [batch, rows, columns] = dims;
            let count = batch * rows * columns;
            let turned = |at: i64| {
                let (rest, column) = (at / columns, at % columns);
                rest / rows * rows * columns + column * rows + rest % rows
            };
            let ints = |f: &dyn Fn(i64) -> i32| -> Vec<u8> {
                (0..count).flat_map(|at| f(at).to_le_bytes()).collect()
            };
            let found = product(
                DataType::Int32,
                dims,
                [ints(&|at| at as i32), ints(&|at| at as i32 % 7 + 1)],
            );
            assert!(
                found == ints(&|at| turned(at) as i32 * (at as i32 % 7 + 1)),
                "{dims:?}"
            );
            let halves = |f: &dyn Fn(i64) -> f32| -> Vec<u8> {
                let of = |at| F16::from_f32(f(at)).to_le_bytes();
                (0..count).flat_map(of).collect()
            };
            let value = |at: i64| (at % 61) as f32 / 8.0;
            let found = product(
                DataType::Float16,
                dims,
                [halves(&value), halves(&|at| (at % 5) as f32)],
            );
            let wanted = halves(&|at| value(turned(at)) * (at % 5) as f32);
            assert!(found == wanted, "{dims:?}");
        }
    }
}
