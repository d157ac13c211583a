//! Products of each row with two small matrices that an index chooses, added to a part of the columns of another.

use jumar_ops::{Call, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::dense::{Body, Real, bad_data, run};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[("aclnnAddLora", add)];

/// Multiplies each row by the matrices of its group. Inputs, dense: the rows, the second matrices, the groups as int64, and the first
/// matrices if there are any; a matrix has a row for each of its results. Output: the products.
struct Adapt {
    operator: &'static str,
    groups: usize,
    /// The entries of a row, of the product with the first matrix, and of the result.
    width: usize,
    rank: usize,
    columns: usize,
    has_first: bool,
}

impl Body for Adapt {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, second) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let groups = call.input::<i64>(2)?.flat();
        let first = match self.has_first {
            true => Some(call.input::<T>(3)?.flat()),
            false => None,
        };
        let out = call.output::<T>(0)?.flat();
        for row in 0..groups.len() {
            if groups.get(row) >= self.groups as i64 {
                return Err(bad_data(format!(
                    "{}: indices[{row}] is {}; there are {} groups of matrices",
                    self.operator,
                    groups.get(row),
                    self.groups
                )));
            }
        }
        call.workers().each(groups.len(), |row| {
            let (x, out) = (
                x.slice(row * self.width, self.width),
                out.slice(row * self.columns, self.columns),
            );
            // Not documented: a row without a group has a negative index, and nothing is added to it.
            let Ok(group) = usize::try_from(groups.get(row)) else {
                return out.fill(T::of(0.0));
            };
            let product = |matrix: jumar_ops::view::Row<'_, T>, line: usize, from: &[f64]| -> f64 {
                let line = matrix.slice(line * from.len(), from.len());
                (0..from.len())
                    .map(|at| line.get(at).number() * from[at])
                    .sum()
            };
            let mut values: Vec<f64> = (0..self.width).map(|at| x.get(at).number()).collect();
            if let Some(first) = first {
                let size = self.rank * self.width;
                let own = first.slice(group * size, size);
                values = (0..self.rank)
                    .map(|line| product(own, line, &values))
                    .collect();
            }
            let size = self.columns * self.rank;
            let own = second.slice(group * size, size);
            for line in 0..self.columns {
                out.set(line, T::of(product(own, line, &values)));
            }
        });
        Ok(())
    }
}

fn add(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (y, x, out) = (cx.tensor("y")?, cx.tensor("x")?, cx.out("out")?);
    let (second, first) = (cx.tensor("weightB")?, cx.optional("weightAOptional")?);
    let indices = cx.tensor("indices")?;
    for view in [Some(y), Some(x), Some(second), first, Some(out)]
        .iter()
        .flatten()
    {
        cx.check_dtype(view, DataType::Float16)?;
    }
    cx.check_dtype(&indices, DataType::Int32)?;
    let (&[rows, all], &[own, width], &[groups, layers, columns, rank]) =
        (y.dims(), x.dims(), second.dims())
    else {
        return Err(cx.invalid(format_args!(
            "y has the shape {:?}, x {:?} and weightB {:?}; 2, 2 and 4 dimensions are required",
            y.dims(),
            x.dims(),
            second.dims()
        )));
    };
    if own != rows || [rows, all, width, groups, layers, columns, rank].contains(&0) {
        return Err(cx.invalid(format_args!(
            "y has the shape {:?}, x {:?} and weightB {:?}; x and y must have as many rows, and all must have elements",
            y.dims(),
            x.dims(),
            second.dims()
        )));
    }
    cx.check_dims(&indices, &[rows])?;
    cx.check_dims(&out, y.dims())?;
    match &first {
        Some(first) => cx.check_dims(first, &[groups, layers, rank, width])?,
        None if width != rank => {
            return Err(cx.invalid(format_args!(
                "x has {width} columns and weightB {rank}; without weightAOptional both must be equal"
            )));
        }
        None => {}
    }
    let given = cx.int("layerIdx")?;
    let layer = usize::try_from(given).ok().filter(|own| *own < layers);
    let Some(layer) = layer else {
        return Err(cx.invalid(format_args!(
            "layerIdx is {given}; it must be between 0 and {}",
            layers - 1
        )));
    };
    let part = [cx.int("yOffset")?, cx.int("ySliceSize")?];
    let fits = match part.map(usize::try_from) {
        [Ok(start), Ok(size)] if size == columns && start < all && size <= all - start => {
            Some(start)
        }
        _ => None,
    };
    let Some(start) = fits else {
        return Err(cx.invalid(format_args!(
            "yOffset and ySliceSize are {part:?}; the slice must lie inside the {all} columns of y, and have the {columns} of weightB"
        )));
    };
    let compute = DataType::Float32;
    let products = cx.temporary(compute, &[rows, columns])?;
    let body = Adapt {
        operator: cx.name(),
        groups,
        width,
        rank,
        columns,
        has_first: first.is_some(),
    };
    let mut inputs = vec![
        (x, compute),
        (second.select(1, layer), compute),
        (indices, DataType::Int64),
    ];
    inputs.extend(first.map(|first| (first.select(1, layer), compute)));
    run(cx, compute, body, &inputs, &[(products, compute)])?;
    cx.copy(y, out)?;
    let scale = Scalar::of_f64(cx.float("scale")?);
    let operands = [
        Operand::Tensor(y.slice(1, start, columns, 1)),
        Operand::Tensor(products),
        Operand::Scalar(scale),
    ];
    cx.map(
        F::AddScaled,
        compute,
        &operands,
        out.slice(1, start, columns, 1),
    )
}
