//! Sums of products over named dimensions.
//!
//! Operands are taken two at a time: each is brought into the form batch, rows, columns, and the pair becomes matrix
//! products. Dimensions that only one of them has are summed while it is brought into its form.

use crate::kernels::generic::{Algorithm, Io, Product, Working, generic_kernel};
use crate::kernels::loops::{Loops, dense_strides};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::{MAX_RANK, Row, RowMut};
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, InferCx, InputDef, OnnxForm, OpError, Operator, PrepareCx,
    TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Einsum",
    onnx: &[OnnxForm::new("Einsum", 12, LATEST, |builder, node| {
        let attrs = Attrs::new()
            .with("equation", node.str_or("equation", "")?)
            .with("N", node.inputs().len() as i64);
        Ok(vec![builder.node("Einsum", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::variadic("x", Types::NUMBER)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("equation", AttrKind::Str),
        AttrDef::int("N", 0),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer,
    prepare: |cx| {
        let inputs: Vec<usize> = (0..cx.inputs()).collect();
        generic_kernel(cx, Sums::new(cx)?, &inputs, &[0])
    },
}];

/// A dimension's name: a letter, or a position in the ellipsis counted from its end.
type Label = u16;
const ELLIPSIS: Label = 256;

struct Equation {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
}

/// Reads one term; the ellipsis stands for as many dimensions as the operand has beyond its letters.
fn term(text: &str, rank: Option<usize>, ellipsis: usize) -> Result<Vec<Label>, OpError> {
    let (before, after, dots) = match text.split_once("...") {
        Some((before, after)) => (before, after, true),
        None => (text, "", false),
    };
    let letters = |part: &str| -> Result<Vec<Label>, OpError> {
        part.bytes()
            .map(|byte| match byte.is_ascii_alphabetic() {
                true => Ok(Label::from(byte)),
                false => Err(OpError::invalid(format!(
                    "the equation holds {:?}",
                    char::from(byte)
                ))),
            })
            .collect()
    };
    let (before, after) = (letters(before)?, letters(after)?);
    let own = before.len() + after.len();
    let more = match rank {
        None => {
            if dots {
                ellipsis
            } else {
                0
            }
        }
        Some(rank) if rank >= own && (dots || rank == own) => rank - own,
        Some(rank) => {
            return Err(OpError::invalid(format!(
                "the term {text} does not fit an operand of {rank} dimensions"
            )));
        }
    };
    let middle = (0..more).rev().map(|at| ELLIPSIS + at as Label);
    Ok(before.into_iter().chain(middle).chain(after).collect())
}

fn equation(text: &str, ranks: &[usize]) -> Result<Equation, OpError> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match text.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (&text[..], None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != ranks.len() {
        return Err(OpError::invalid(format!(
            "the equation {text} has {} terms for {} operands",
            terms.len(),
            ranks.len()
        )));
    }
    let inputs = terms
        .iter()
        .zip(ranks)
        .map(|(text, &rank)| term(text, Some(rank), 0))
        .collect::<Result<Vec<_>, _>>()?;
    let all = || inputs.iter().flatten().copied();
    let ellipsis = all()
        .filter(|&label| label >= ELLIPSIS)
        .map(|label| usize::from(label - ELLIPSIS) + 1)
        .max()
        .unwrap_or(0);
    let output = match right {
        Some(right) => term(right, None, ellipsis)?,
        None => {
            // What is named once, in the order of letters, after the ellipsis.
            let mut once: Vec<Label> = all()
                .filter(|&label| {
                    label < ELLIPSIS && all().filter(|&other| other == label).count() == 1
                })
                .collect();
            once.sort_unstable();
            (0..ellipsis)
                .rev()
                .map(|at| ELLIPSIS + at as Label)
                .chain(once)
                .collect()
        }
    };
    for (at, label) in output.iter().enumerate() {
        if output[..at].contains(label) || !all().any(|other| other == *label) {
            return Err(OpError::invalid(format!(
                "the result of the equation {text} names a dimension twice or from nowhere"
            )));
        }
    }
    Ok(Equation { inputs, output })
}

fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let dtype = cx.same_types(0..cx.len())?;
    let mut ranks = Vec::new();
    for index in 0..cx.len() {
        match cx.input(index)?.rank() {
            Some(rank) => ranks.push(rank),
            None => return Ok(vec![TensorType::of_unknown_rank(dtype)]),
        }
    }
    let equation = equation(cx.attrs().str("equation")?, &ranks)?;
    let mut shape = vec![1; equation.output.len()];
    for (at, &label) in equation.output.iter().enumerate() {
        shape[at] = size_of(label, &equation, |index| {
            cx.inputs()[index].map_or(&[][..], |ty| &ty.shape[..])
        })?;
    }
    for &label in equation.inputs.iter().flatten() {
        size_of(label, &equation, |index| {
            cx.inputs()[index].map_or(&[][..], |ty| &ty.shape[..])
        })?;
    }
    Ok(vec![TensorType { dtype, shape }])
}

/// The size of a dimension over all operands; 1 is repeated.
fn size_of<'a>(
    label: Label,
    equation: &Equation,
    shape: impl Fn(usize) -> &'a [i64],
) -> Result<i64, OpError> {
    let mut size = 1;
    for (index, labels) in equation.inputs.iter().enumerate() {
        for (axis, _) in labels.iter().enumerate().filter(|(_, own)| **own == label) {
            let own = shape(index)[axis];
            match (size, own) {
                (_, 1) => {}
                (1 | UNKNOWN, own) => size = own,
                (_, UNKNOWN) => {}
                (size, own) if size != own => {
                    return Err(OpError::invalid(format!(
                        "one dimension of the equation is both {size} and {own}"
                    )));
                }
                _ => {}
            }
        }
    }
    Ok(size)
}

/// Copies an operand into another order of dimensions, with those that are not in it summed.
struct Form {
    loops: Loops<2>,
    len: usize,
}

impl Form {
    /// `from`: names and strides of the operand's dimensions; `to`: the order wanted; `sizes`: of all dimensions.
    fn new(
        from: &[(Label, isize, usize)],
        to: &[Label],
        sizes: &dyn Fn(Label) -> usize,
    ) -> Result<Form, OpError> {
        let mut labels: Vec<Label> = to.to_vec();
        for &(label, ..) in from {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        if labels.len() > MAX_RANK {
            return Err(OpError::unsupported(format!(
                "an equation over {} dimensions at once; {MAX_RANK} are supported",
                labels.len()
            )));
        }
        // A dimension that the operand repeats walks along its diagonal; one of size 1 stands still.
        let own = |label: Label| {
            from.iter()
                .filter(|part| part.0 == label && part.2 != 1)
                .map(|part| part.1)
                .sum::<isize>()
        };
        let held = |label: Label| {
            from.iter()
                .filter(|part| part.0 == label)
                .map(|part| part.2)
                .max()
        };
        let dims: Vec<usize> = labels
            .iter()
            .map(|&label| {
                if to.contains(&label) {
                    sizes(label)
                } else {
                    held(label).unwrap_or(1)
                }
            })
            .collect();
        let len = dims[..to.len()]
            .iter()
            .try_fold(1usize, |product, &dim| product.checked_mul(dim));
        let len = len.filter(|&len| len < 1 << 42).ok_or_else(|| {
            OpError::too_large("an intermediate result of the equation does not fit any memory")
        })?;
        let dense = dense_strides(&dims[..to.len()]);
        let strides_from: Vec<isize> = labels.iter().map(|&label| own(label)).collect();
        let strides_to: Vec<isize> = (0..labels.len())
            .map(|at| dense.get(at).copied().unwrap_or(0))
            .collect();
        Ok(Form {
            loops: Loops::new(&dims, [&strides_from, &strides_to]),
            len,
        })
    }

    fn run<W: Working>(&self, from: Row<'_, W>, to: RowMut<'_, W>) -> Result<(), OpError> {
        to.fill(W::zero());
        let (len, [from_step, to_step]) = (self.loops.row(), self.loops.steps());
        self.loops.each([0; 2], |[at, target]| {
            let seen = from.slice(at, from.len() - at);
            if to_step == 0 {
                let mut sum = to.get(target);
                for index in 0..len {
                    sum += seen.get(index * from_step as usize);
                }
                to.set(target, sum);
                return;
            }
            if from_step == 0 {
                let x = seen.get(0);
                let row = to
                    .slice(target, to.len() - target)
                    .stepped(0, len, to_step as usize);
                row.map1(row.as_row(), |sum| sum + x);
                return;
            }
            let row = to
                .slice(target, to.len() - target)
                .stepped(0, len, to_step as usize);
            row.update(seen.stepped(0, len, from_step as usize), |sum, x| sum + x);
        });
        Ok(())
    }
}

/// One more operand multiplied in.
struct Step {
    /// The result so far as batch, rows, sums; the operand as batch, sums, columns.
    one: Form,
    two: Form,
    batch: usize,
    product: Product,
}

struct Sums {
    /// The first operand's form, where there is no other.
    steps: Vec<Step>,
    last: Form,
}

impl Sums {
    fn new(cx: &PrepareCx<'_>) -> Result<Sums, OpError> {
        let shapes: Vec<Vec<i64>> = (0..cx.inputs())
            .map(|index| Ok(cx.shape(index)?.iter().map(|&dim| dim as i64).collect()))
            .collect::<Result<_, OpError>>()?;
        let ranks: Vec<usize> = shapes.iter().map(Vec::len).collect();
        let equation = equation(cx.attrs().str("equation")?, &ranks)?;
        let mut known = std::collections::BTreeMap::new();
        for &label in equation.inputs.iter().flatten() {
            known.insert(
                label,
                size_of(label, &equation, |index| &shapes[index])? as usize,
            );
        }
        let sizes = |label: Label| known.get(&label).copied().unwrap_or(1);
        let described = |index: usize| -> Vec<(Label, isize, usize)> {
            let dims: Vec<usize> = shapes[index].iter().map(|&dim| dim as usize).collect();
            let strides = dense_strides(&dims);
            equation.inputs[index]
                .iter()
                .zip(strides)
                .zip(dims)
                .map(|((&label, stride), dim)| (label, stride, dim))
                .collect()
        };
        let mut current = described(0);
        let mut steps = Vec::new();
        for index in 1..cx.inputs() {
            let operand = described(index);
            let has = |parts: &[(Label, isize, usize)], label: Label| {
                parts.iter().any(|part| part.0 == label)
            };
            let later = |label: Label| {
                equation.output.contains(&label)
                    || equation.inputs[index + 1..]
                        .iter()
                        .any(|labels| labels.contains(&label))
            };
            let (mut batch, mut rows, mut sums, mut columns) = (vec![], vec![], vec![], vec![]);
            for &(label, ..) in current.iter().chain(&operand) {
                let (one, two) = (has(&current, label), has(&operand, label));
                let list = match (one, two, later(label)) {
                    (true, true, true) => &mut batch,
                    (true, true, false) => &mut sums,
                    (true, false, true) => &mut rows,
                    (false, true, true) => &mut columns,
                    // Named by one of them alone: summed while it is brought into its form.
                    _ => continue,
                };
                if !list.contains(&label) {
                    list.push(label);
                }
            }
            let count =
                |labels: &[Label]| labels.iter().map(|&label| sizes(label)).product::<usize>();
            let (m, n, k) = (count(&rows), count(&columns), count(&sums));
            let products = [count(&batch), m, n]
                .iter()
                .try_fold(1usize, |product, &part| product.checked_mul(part));
            if products.is_none_or(|products| products >= 1 << 42) {
                return Err(OpError::too_large(
                    "an intermediate result of the equation does not fit any memory",
                ));
            }
            steps.push(Step {
                one: Form::new(&current, &[&batch[..], &rows, &sums].concat(), &sizes)?,
                two: Form::new(&operand, &[&batch[..], &sums, &columns].concat(), &sizes)?,
                batch: count(&batch),
                product: Product::dense(m, n, k),
            });
            let result = [batch, rows, columns].concat();
            let dims: Vec<usize> = result.iter().map(|&label| sizes(label)).collect();
            current = result
                .iter()
                .zip(dense_strides(&dims))
                .zip(&dims)
                .map(|((&label, stride), &dim)| (label, stride, dim))
                .collect();
        }
        Ok(Sums {
            last: Form::new(&current, &equation.output, &sizes)?,
            steps,
        })
    }

    /// Elements of scratch: both forms, two results that take turns, panels.
    fn parts(&self) -> [usize; 5] {
        let most = |of: &dyn Fn(&Step) -> usize| self.steps.iter().map(of).max().unwrap_or(0);
        let result = most(&|step| step.batch * step.product.m * step.product.n);
        [
            most(&|step| step.one.len),
            most(&|step| step.two.len),
            result,
            result,
            most(&|step| step.product.panels()),
        ]
    }
}

impl Algorithm for Sums {
    fn scratch(&self) -> usize {
        self.parts().iter().sum()
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let scratch = io.scratch()?;
        let mut at = 0;
        let [one, two, even, odd, panels] = self.parts().map(|len| {
            at += len;
            scratch.slice(at - len, len)
        });
        let mut current = io.input(0)?;
        for (number, step) in self.steps.iter().enumerate() {
            step.one.run(current, one.slice(0, step.one.len))?;
            step.two
                .run(io.input(number + 1)?, two.slice(0, step.two.len))?;
            let Product { m, n, k, .. } = step.product;
            let result = if number % 2 == 0 { even } else { odd }.slice(0, step.batch * m * n);
            for batch in 0..step.batch {
                let (a, b) = (
                    one.as_row().slice(batch * m * k, m * k),
                    two.as_row().slice(batch * k * n, k * n),
                );
                step.product
                    .run(a, b, result.slice(batch * m * n, m * n), panels);
            }
            current = result.as_row();
        }
        self.last.run(current, io.output(0)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        cases("einsum");
    }

    #[test]
    fn equations_that_make_no_sense_are_refused() {
        let x = noise(&[2, 3], 1);
        for (text, part) in [
            ("ij,jk", "terms"),
            ("ijk", "does not fit"),
            ("i1", "holds"),
            ("ij->ii", "twice"),
            ("ij->k", "nowhere"),
            ("ii", "both 2 and 3"),
        ] {
            refuse("Einsum", &[x.clone()], none().with("equation", text), part);
        }
    }
}
