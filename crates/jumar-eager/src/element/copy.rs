//! Copies between views of one element width.

use std::marker::PhantomData;

use jumar_ops::view::{Element, Layout, PastCaches, Row, RowMut};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::nest::Nest;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 15;

/// Rows and columns of a tile of a transposition. A tile is read row by row into a buffer: its rows often lie so far apart that the
/// caches hold only a few of them at a time.
const TILE: usize = 64;

/// From how many bytes on a transposed result goes past the caches. Its lines are whole, so that none has to be read first.
const PAST_BYTES: usize = 4 << 20;

struct Copy<T> {
    nest: Nest,
    types: PhantomData<fn(T)>,
}

/// Creates the kernel that copies input 0 to output 0; the layouts have one shape. `None`: elements of the type do not fill
/// integer bytes.
pub(crate) fn copy(dtype: DataType, from: &Layout, to: &Layout) -> Option<Box<dyn Kernel>> {
    let nest = Nest::new(&[from, to]);
    match dtype.size()? {
        1 => Some(of::<u8>(nest)),
        2 => Some(of::<u16>(nest)),
        4 => Some(of::<u32>(nest)),
        8 => Some(of::<u64>(nest)),
        _ => Some(of::<u128>(nest)),
    }
}

fn of<T: Element>(nest: Nest) -> Box<dyn Kernel> {
    Box::new(Copy::<T> {
        nest,
        types: PhantomData,
    })
}

impl<T: Element> Kernel for Copy<T> {
    fn is_elementwise(&self) -> bool {
        true
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<T>(0)?, call.output::<T>(0)?);
        let (rows, row, steps) = (self.nest.rows(), self.nest.row(), self.nest.steps());
        if rows == 1 {
            let (from, to) = (input.row(0, row, steps[0]), output.row(0, row, steps[1]));
            call.workers().ranges(row, GRAIN, |start, len| {
                to.slice(start, len).copy_from(from.slice(start, len));
            });
            return Ok(());
        }
        if let Some((outer, columns, strides)) = self.nest.split()
            && strides[0] < steps[0]
            && row >= TILE
        {
            let is_long = self.nest.elements() * size_of::<T>() >= PAST_BYTES;
            let bands = columns.div_ceil(TILE);
            let grain = GRAIN.div_ceil(TILE * row);
            call.workers()
                .ranges(outer.rows() * bands, grain, |first, count| {
                    let mut tile = vec![[T::default(); TILE]; TILE];
                    let past = PastCaches::default();
                    for band in first..first + count {
                        let start = band % bands * TILE;
                        let columns = start..columns.min(start + TILE);
                        outer.each(band / bands, 1, |offsets| {
                            for begin in (0..row).step_by(TILE) {
                                let len = TILE.min(row - begin);
                                let at = |operand: usize, column: usize, index: usize| {
                                    let way = strides[operand] * column as isize
                                        + steps[operand] * index as isize;
                                    offsets[operand].wrapping_add_signed(way)
                                };
                                for (index, line) in tile[..len].iter_mut().enumerate() {
                                    let line = RowMut::of(&mut line[..columns.len()]);
                                    let first = at(0, columns.start, begin + index);
                                    line.copy_from(input.row(first, line.len(), strides[0]));
                                }
                                for (index, column) in columns.clone().enumerate() {
                                    let mut line = [T::default(); TILE];
                                    for (slot, from) in line.iter_mut().zip(&tile) {
                                        *slot = from[index];
                                    }
                                    let (from, to) = (
                                        Row::of(&line[..len]),
                                        output.row(at(1, column, begin), len, steps[1]),
                                    );
                                    match is_long {
                                        true => to.copy_past_caches(from, &past),
                                        false => to.copy_from(from),
                                    }
                                }
                            }
                        });
                    }
                });
            return Ok(());
        }
        let grain = GRAIN.div_ceil(row.max(1));
        call.workers().ranges(rows, grain, |first, count| {
            self.nest.each(first, count, |offsets| {
                output
                    .row(offsets[1], row, steps[1])
                    .copy_from(input.row(offsets[0], row, steps[0]));
            });
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jumar_ops::Share;
    use jumar_ops::view::{Block, Region};
    use jumar_types::dtype::DataType;

    use crate::{Arg, Dims, TensorArg, TensorDesc, Workers, plan};

    struct Backwards;

    impl Share for Backwards {
        fn threads(&self) -> usize {
            3
        }

        fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
            (0..parts).rev().for_each(work);
        }
    }

    #[test]
    fn transpositions_of_any_size_copy_every_element() {
        for dims in [
            [1, 35, 67],
            [3, 32, 64],
            [2, 40, 5],
            [2, 3, 100],
            [5, 300, 320],
            [1, 1100, 1024],
        ] {
            let [batch, rows, columns] = dims;
            let to = TensorDesc::contiguous(DataType::Int32, &dims);
            let mut from = to.clone();
            from.strides = Dims::new(&[rows * columns, 1, rows]);
            let args = [to, from].into_iter().enumerate();
            let args: Vec<Arg> = args
                .map(|(buffer, desc)| Arg::Tensor(TensorArg { desc, buffer }))
                .collect();
            let mut all = crate::signatures::ALL.iter();
            let signature = all.find(|signature| signature.name == "aclnnInplaceCopy");
            let plan = plan(signature.unwrap(), &args).unwrap();
            let count = (batch * rows * columns) as usize;
            let values: Vec<u8> = (0..count as i32).flat_map(i32::to_le_bytes).collect();
            for workers in [Workers::ALONE, Workers::of(&Backwards)] {
                let (mut from, mut to) = (Block::of(&values), Block::zeroed(values.len()));
                plan.run(&[to.region(), from.region()], Region::EMPTY, workers)
                    .unwrap();
                for (index, bytes) in to.bytes().chunks(4).enumerate() {
                    let (rest, column) = (index as i64 / columns, index as i64 % columns);
                    let wanted = rest / rows * rows * columns + column * rows + rest % rows;
                    let found = i32::from_le_bytes(bytes.try_into().unwrap());
                    assert_eq!(i64::from(found), wanted, "{dims:?} {index}");
                }
            }
        }
    }
}
