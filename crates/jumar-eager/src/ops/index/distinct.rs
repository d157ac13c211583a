//! Distinct slices of a tensor, in order, and runs of equal ones.

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::kernels::Blocks;
use super::sort::{Keys, keys};
use super::{blocks, everything};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::Table;
use crate::ops::dense::run_kernel;
use crate::view::View;

pub(crate) static DISTINCT: &Table = &[
    ("aclnnUniqueConsecutive", runs),
    ("aclnnUniqueDim", distinct),
];

/// A dimension that stands for all elements in row-major order.
const NO_DIMENSION: i64 = 1000;

/// Finds distinct slices. Outputs: the index of the first of each class in order, and -1 in the rest; the class of each
/// slice; the members of each class; the shape of the result.
struct Classes {
    keys: Keys,
    slices: Blocks,
    /// Whether equal slices that are not neighbours are of one class too.
    sorted: bool,
    /// The shape that is reported; `None` is the number of classes.
    report: Vec<Option<usize>>,
    /// The most classes that the outputs have space for.
    space: usize,
    operator: &'static str,
}

impl Kernel for Classes {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let output = |index: usize| call.output::<i64>(index).map(|output| output.flat());
        let (firsts, classes, counts) = (output(0)?, output(1)?, output(2)?);
        let Blocks { outer, size, row } = self.slices;
        let mut keys = vec![0; outer * size * row];
        self.keys.cells(call)?.load(0, &mut keys);
        let slice = |index: usize| {
            (0..outer)
                .flat_map(move |block| (0..row).map(move |at| (block * size + index) * row + at))
        };
        let compare = |one: usize, two: usize| {
            slice(one)
                .map(|at| keys[at])
                .cmp(slice(two).map(|at| keys[at]))
        };
        let differs = |one: usize, two: usize| {
            let nan = || slice(two).any(|at| self.keys.is_nan(keys[at]));
            compare(one, two).is_ne() || nan()
        };
        let mut order: Vec<usize> = (0..size).collect();
        if self.sorted {
            order.sort_by(|&one, &two| compare(one, two).then(one.cmp(&two)));
        }
        firsts.fill(-1);
        counts.fill(0);
        let mut found = 0;
        for (slot, &own) in order.iter().enumerate() {
            if slot == 0 || differs(order[slot - 1], own) {
                firsts.set(found, own as i64);
                found += 1;
            }
            classes.set(own, found as i64 - 1);
            counts.set(found - 1, counts.get(found - 1) + 1);
        }
        if found > self.space {
            let text = format!(
                "{}: self has {found} distinct slices, and the outputs have space for {}",
                self.operator, self.space
            );
            return Err(OpError::new(OpErrorKind::Data, text));
        }
        let shape = output(3)?;
        for (slot, dim) in self.report.iter().enumerate() {
            shape.set(slot, dim.unwrap_or(found) as i64);
        }
        output(4)?.set(0, found as i64);
        Ok(())
    }
}

/// Writes the first slice of each class side by side: dense in the shape that is reported.
struct Firsts {
    slices: Blocks,
}

impl Kernel for Firsts {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (firsts, number) = (call.input::<i64>(0)?.flat(), call.input::<i64>(1)?.flat());
        let out = call.output::<i64>(0)?.flat();
        let Blocks { outer, size, row } = self.slices;
        let found = number.get(0) as usize;
        out.fill(-1);
        for block in 0..outer {
            for class in 0..found {
                let from = block * size + firsts.get(class) as usize;
                for at in 0..row {
                    let to = (block * found + class) * row + at;
                    out.set(to, (from * row + at) as i64);
                }
            }
        }
        Ok(())
    }
}

/// Writes the classes of the slices along `axis`; without one, those of all elements.
fn classes(cx: &mut Cx<'_>, axis: Option<usize>, sorted: bool) -> Result<(), Refusal> {
    let (x, values) = (cx.tensor("self")?, cx.out("valueOut")?);
    cx.check_dtype(&values, x.dtype())?;
    let keys = keys(cx, &x)?;
    let slices = match axis {
        Some(axis) => blocks(x.dims(), axis),
        None => Blocks {
            outer: 1,
            size: x.elements(),
            row: 1,
        },
    };
    // As many slices as there can be, or as many as the caller knows that there are.
    let (along, mut wanted) = match axis {
        Some(axis) => (axis, x.dims().to_vec()),
        None => (0, vec![slices.size]),
    };
    let space = match (values.dims().get(along), wanted.get_mut(along)) {
        (Some(&own), Some(most)) if own < *most => {
            *most = own;
            own
        }
        _ => slices.size,
    };
    cx.check_dims(&values, &wanted)?;
    let inverse_dims = match axis {
        Some(_) => vec![slices.size],
        None => x.dims().to_vec(),
    };
    let inverse = match cx.flag("returnInverse")? {
        true => {
            let inverse = cx.out("inverseOut")?;
            cx.check_dtype(&inverse, DataType::Int64)?;
            cx.check_dims(&inverse, &inverse_dims)?;
            Some(inverse)
        }
        false => None,
    };
    // Without a flag of their own the numbers of members are always wanted.
    let has_flag = cx.params().iter().any(|param| param.name == "returnCounts");
    let counts = match !has_flag || cx.flag("returnCounts")? {
        true => {
            let counts = cx.out("countsOut")?;
            cx.check_dtype(&counts, DataType::Int64)?;
            match counts.dims() {
                &[own] if (space..=slices.size).contains(&own) => {}
                _ => cx.check_dims(&counts, &[space])?,
            }
            Some(counts)
        }
        false => None,
    };
    let report: Vec<Option<usize>> = match axis {
        Some(axis) if x.rank() > 0 => x
            .dims()
            .iter()
            .enumerate()
            .map(|(own, &dim)| (own != axis).then_some(dim))
            .collect(),
        _ => vec![None],
    };
    let int64 = DataType::Int64;
    let x = cx.dense(x)?;
    let (firsts, members) = (
        cx.temporary(int64, &[slices.size])?,
        cx.temporary(int64, &[slices.size])?,
    );
    let class = cx.temporary(int64, &inverse_dims)?;
    let (shape, number) = (
        cx.temporary(int64, &[report.len()])?,
        cx.temporary(int64, &[1])?,
    );
    let kernel = Classes {
        keys,
        slices,
        sorted,
        report,
        space,
        operator: cx.name(),
    };
    let outputs = [firsts, class, members, shape, number];
    cx.kernel(Box::new(kernel), &[Some(x)], &outputs, false)?;
    let positions = cx.temporary(int64, values.dims())?;
    let gather = Box::new(Firsts { slices });
    run_kernel(
        cx,
        gather,
        &[(firsts, int64), (number, int64)],
        &[(positions, int64)],
    )?;
    super::take(cx, x, positions, everything(&x), values)?;
    cx.report_dims(&values, shape)?;
    if let Some(inverse) = inverse {
        cx.copy(class, inverse)?;
    }
    if let Some(counts) = counts {
        let len = counts.elements();
        cx.copy(members.slice(0, 0, len, 1), counts)?;
        cx.report_dims(&counts, number)?;
    }
    Ok(())
}

fn runs(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, dim) = (cx.tensor("self")?, cx.int("dim")?);
    let axis = match dim {
        NO_DIMENSION => None,
        dim => Some(cx.axis("dim", dim, x.rank())?),
    };
    classes(cx, axis, false)
}

/// The result is sorted whether or not it has to be.
fn distinct(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x: View = cx.tensor("self")?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    classes(cx, Some(axis), true)
}
