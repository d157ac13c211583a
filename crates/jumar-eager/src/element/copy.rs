//! Copies between views of one element width.

use std::marker::PhantomData;

use jumar_ops::view::{Element, Layout, Row, RowMut};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::nest::Nest;
use super::tile::Tiles;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 15;

struct Copy<T> {
    nest: Nest,
    tiles: Option<Tiles>,
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
        tiles: Tiles::find(&nest, &[size_of::<T>()]),
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
        if let Some(tiles) = &self.tiles {
            let size = size_of::<T>();
            let state = || (vec![T::default(); tiles.elements()], tiles.past(size));
            tiles.each(call.workers(), state, |(buffer, past), tile| {
                tile.turn(0, &input, RowMut::of(buffer));
                tile.store(1, Row::of(buffer), &output, past.as_ref());
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
