//! Elements that are written or combined at the positions of an index.

use std::cmp::Ordering;

use jumar_ops::{Call, OpError};
use jumar_types::dtype::DataType;

use super::gather::{along, check_within, located};
use super::kernels::Update;
use super::{INDEX, blocks, everything, put};
use crate::Refusal;
use crate::build::Cx;
use crate::element::compute::Cell;
use crate::element::number::Num;
use crate::ops::Table;
use crate::ops::dense::{Number, Numbers, counted, run_kernel, wide};
use crate::promote;

pub(crate) static COMBINE: &Table = &[
    ("aclnnIndexCopy", index_copy),
    ("aclnnInplacePut", put_elements),
    ("aclnnInplaceScatterReduce", scatter_reduce),
    ("aclnnScatterReduce", scatter_reduce),
];

fn index_copy(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, out) = (cx.tensor_at(0)?, cx.tensor("index")?, cx.out("outRef")?);
    let source = cx.tensor("source")?;
    cx.check_types(&index, &INDEX)?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dtype(&source, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    let blocks = blocks(x.dims(), axis);
    if index.rank() > 1 || source.elements() != blocks.outer * index.elements() * blocks.row {
        return Err(cx.invalid(format_args!(
            "index has the shape {:?} and source {:?}; one entry of source for each number of index is required",
            index.dims(),
            source.dims()
        )));
    }
    if index.is_empty() {
        return cx.copy(x, out);
    }
    let index = cx.reshaped(index, &[index.elements()])?;
    let positions = located(cx, index, blocks.size)?;
    put(cx, x, (source, positions), (blocks, Update::Set), out)
}

fn put_elements(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, source) = (cx.output()?, cx.tensor("index")?, cx.tensor("source")?);
    cx.check_types(&index, &INDEX)?;
    cx.check_dtype(&source, x.dtype())?;
    if index.elements() != source.elements() {
        return Err(cx.invalid(format_args!(
            "index has the shape {:?} and source {:?}; they must have as many elements",
            index.dims(),
            source.dims()
        )));
    }
    if index.is_empty() {
        return Ok(());
    }
    let update = match cx.flag("accumulate")? {
        true => Update::Add,
        false => Update::Set,
    };
    let index = cx.reshaped(index, &[index.elements()])?;
    let positions = located(cx, index, x.elements())?;
    put(cx, x, (source, positions), (everything(&x), update), x)
}

/// How the elements that go to one position are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combination {
    Sum,
    Product,
    Mean,
    Greatest,
    Least,
}

/// Inputs: the tensor, the values, and the position of each in the tensor.
struct Combine {
    how: Combination,
    /// Whether the tensor's own element is one of those that are combined.
    includes_self: bool,
}

impl Combine {
    fn combined<L: Number>(&self, one: L, two: L) -> L {
        match self.how {
            Combination::Sum | Combination::Mean => one.plus(two),
            Combination::Product => one.times(two),
            Combination::Greatest | Combination::Least => {
                let order = order(one, two);
                let wanted = match self.how {
                    Combination::Greatest => Ordering::Less,
                    _ => Ordering::Greater,
                };
                match order {
                    None => L::of_f64(f64::NAN),
                    Some(order) if order == wanted => two,
                    Some(_) => one,
                }
            }
        }
    }
}

impl Numbers for Combine {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, values) = (
            call.input::<C::Raw>(0)?.flat(),
            call.input::<C::Raw>(1)?.flat(),
        );
        let (positions, out) = (
            call.input::<i64>(2)?.flat(),
            call.output::<C::Raw>(0)?.flat(),
        );
        let first = u32::from(self.includes_self);
        let mut cells: Vec<(L, u32)> = (0..x.len())
            .map(|at| (C::upcast(x.get(at)), first))
            .collect();
        for entry in 0..positions.len() {
            // Positions lie inside: they were computed from checked indices.
            let Some(cell) = cells.get_mut(positions.get(entry) as usize) else {
                continue;
            };
            let value = C::upcast(values.get(entry));
            cell.0 = match cell.1 {
                0 => value,
                _ => self.combined(cell.0, value),
            };
            cell.1 += 1;
        }
        for (at, (value, count)) in cells.into_iter().enumerate() {
            let value = match (self.how, count) {
                (Combination::Mean, 1..) => divided(value, count),
                _ => value,
            };
            out.set(at, C::downcast(value));
        }
        Ok(())
    }
}

/// Divides a sum; integers are rounded down.
fn divided<L: Number>(sum: L, count: u32) -> L {
    let divisor = <L as Num>::of(f64::from(count));
    let quotient = sum.over(divisor);
    match quotient.times(divisor) != sum
        && sum.f64() < 0.0
        && sum.f64().fract() == 0.0
        && is_integer::<L>()
    {
        true => quotient.minus(<L as Num>::of(1.0)),
        false => quotient,
    }
}

/// Compares two numbers. `None`: one of them is NaN.
fn order<L: Number>(one: L, two: L) -> Option<Ordering> {
    if !is_integer::<L>() {
        return one.f64().partial_cmp(&two.f64());
    }
    let signed = L::of_i64(-1).f64() < 0.0;
    Some(match signed {
        true => one.i64().cmp(&two.i64()),
        false => one.u64().cmp(&two.u64()),
    })
}

/// Reports whether a type holds integers alone.
fn is_integer<L: Number>() -> bool {
    L::of_f64(0.5).f64() == 0.0
}

/// The numbers of the combinations follow the order of `torch.scatter_reduce`: sum, product, mean, greatest, least.
fn combination(cx: &Cx<'_>) -> Result<Combination, Refusal> {
    match cx.int("reduce")? {
        0 => Ok(Combination::Sum),
        1 => Ok(Combination::Product),
        2 => Ok(Combination::Mean),
        3 => Ok(Combination::Greatest),
        4 => Ok(Combination::Least),
        other => Err(cx.invalid(format_args!(
            "reduce is {other}; it must be 0 (sum), 1 (product), 2 (mean), 3 (greatest) or 4 (least)"
        ))),
    }
}

fn scatter_reduce(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, source) = (cx.tensor_at(0)?, cx.tensor("index")?, cx.tensor("src")?);
    let out = cx.output()?;
    cx.check_types(&index, &INDEX)?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dtype(&source, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    let how = combination(cx)?;
    check_within(cx, &index, x.dims(), Some(axis), &cx.param_of(&x))?;
    check_within(cx, &index, source.dims(), None, "src")?;
    if promote::is_complex(x.dtype()) {
        return Err(cx.unsupported("complex tensors are not supported"));
    }
    if index.is_empty() {
        return cx.copy(x, out);
    }
    let mut values = source;
    for (axis, &dim) in index.dims().iter().enumerate() {
        if axis < values.rank() {
            values = values.slice(axis, 0, dim, 1);
        }
    }
    let positions = along(cx, index, x.dims(), axis, false)?;
    let compute = wide(x.dtype());
    let body = Combine {
        how,
        includes_self: cx.flag("includeSelf")?,
    };
    run_kernel(
        cx,
        counted(compute, body),
        &[
            (x, compute),
            (values, compute),
            (positions, DataType::Int64),
        ],
        &[(out, compute)],
    )
}
