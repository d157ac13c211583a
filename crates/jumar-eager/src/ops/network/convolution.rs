//! Convolutions over one and two dimensions, transposed ones, and their gradients. `volume` has those over three.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use super::super::reduction::{accumulator, reduce};
use super::volume;
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;

/// The window of a two-dimensional convolution, its attributes in the order of the Graph Engine.
pub(super) struct Window {
    pub strides: [i64; 2],
    /// Before and behind the rows, before and behind the columns.
    pub pads: [i64; 4],
    pub dilations: [i64; 2],
    pub groups: i64,
}

/// Reads the window of a convolution over `space` dimensions.
fn window(cx: &Cx<'_>, space: usize) -> Result<Window, Refusal> {
    let spread = |param: &str, fill: i64| -> Result<[i64; 2], Refusal> {
        match (cx.ints(param)?, space) {
            // A convolution over one dimension is one over two, the first of which has size 1.
            ([one], 1) => Ok([fill, *one]),
            ([one], _) => Ok([*one, *one]),
            ([one, two], 2) => Ok([*one, *two]),
            (other, _) => Err(cx.invalid(format_args!(
                "{param} has {} entries for {space} dimensions of space; 1 or {space} are required",
                other.len()
            ))),
        }
    };
    let pads = match (cx.ints("padding")?, space) {
        (&[before, behind], 1) => [0, 0, before, behind],
        (&[top, bottom, left, right], 2) => [top, bottom, left, right],
        _ => {
            let [rows, columns] = spread("padding", 0)?;
            [rows, rows, columns, columns]
        }
    };
    let window = Window {
        strides: spread("stride", 1)?,
        pads,
        dilations: spread("dilation", 1)?,
        groups: cx.int("groups")?,
    };
    let positive = window
        .strides
        .iter()
        .chain(&window.dilations)
        .chain([&window.groups])
        .all(|&step| step > 0 && step <= i64::from(i32::MAX));
    let padded = window
        .pads
        .iter()
        .all(|&pad| (0..=i64::from(i32::MAX)).contains(&pad));
    if !positive || !padded {
        return Err(cx.invalid(format_args!(
            "stride {:?}, dilation {:?} and groups {} must be positive, and padding {:?} not negative",
            window.strides, window.dilations, window.groups, window.pads
        )));
    }
    Ok(window)
}

/// Returns how many dimensions of space a convolution has, all operands of which have as many dimensions.
fn space(cx: &Cx<'_>, operands: [&View; 3]) -> Result<usize, Refusal> {
    let rank = operands[0].rank();
    if let Some(other) = operands.iter().find(|view| view.rank() != rank) {
        return Err(cx.invalid(format_args!(
            "{} has {rank} dimensions and {} has {}; they must be as many",
            cx.param_of(operands[0]),
            cx.param_of(other),
            other.rank()
        )));
    }
    match rank {
        3..=5 => Ok(rank - 2),
        _ => Err(cx.invalid(format_args!(
            "{} has {rank} dimensions; 3, 4 or 5 are required",
            cx.param_of(operands[0])
        ))),
    }
}

/// Returns the type that convolutions of a type are computed in. Sums of integers are exact below 2^53.
pub(super) fn compute_type(dtype: DataType) -> DataType {
    match dtype.is_integer() {
        true => DataType::Float64,
        false => accumulator(dtype),
    }
}

/// Checks the shape of the result of a transposed convolution.
fn check_transposed(
    cx: &Cx<'_>,
    window: &Window,
    space: usize,
    [x, filter, out]: [&View; 3],
) -> Result<(), Refusal> {
    let added = cx.ints("outputPadding")?;
    let mut wanted = out.dims().to_vec();
    wanted[0] = x.dims()[0];
    wanted[1] = filter.dims()[1] * window.groups as usize;
    for axis in 0..2 {
        let added = match added {
            [] => 0,
            // A convolution over one dimension is one over two, the first of which has size 1.
            [_] if axis == 0 && space == 1 => 0,
            [one] => *one,
            many => many.get(axis).copied().unwrap_or(0),
        };
        let (stride, dilation) = (window.strides[axis], window.dilations[axis]);
        let size = (x.dims()[axis + 2] as i64 - 1) * stride
            + dilation * (filter.dims()[axis + 2] as i64 - 1)
            + 1
            + added
            - window.pads[2 * axis]
            - window.pads[2 * axis + 1];
        if added < 0 || (added > 0 && added >= stride.max(dilation)) {
            return Err(cx.invalid(format_args!(
                "outputPadding is {:?}; it must not be negative, and less than stride {:?} or dilation {:?}",
                cx.ints("outputPadding")?,
                window.strides,
                window.dilations
            )));
        }
        wanted[axis + 2] = usize::try_from(size).unwrap_or(0);
    }
    cx.check_dims(out, &wanted)
}

/// Views images, filters or results of one dimension as two.
fn as_images(cx: &Cx<'_>, view: View) -> Result<View, Refusal> {
    match view.rank() {
        3 => Ok(view.unsqueeze(2)),
        4 => Ok(view),
        rank => Err(cx.unsupported(format_args!(
            "{} has {rank} dimensions; convolutions of batches with 1 and 2 dimensions are computed",
            cx.param_of(&view)
        ))),
    }
}

pub(super) fn convolution(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("output")?;
    // Sums of integers wrap around in the type of the result.
    let target = match out.dtype().is_integer() {
        true => cx.temporary(DataType::Int64, out.dims())?,
        false => out,
    };
    let operands = [cx.tensor("input")?, cx.tensor("weight")?];
    let bias = cx.optional("bias")?;
    convolve(cx, operands, bias, target)?;
    cx.copy(target, out)
}

/// Computes the convolution that the parameters describe, of other operands.
pub(super) fn convolve(
    cx: &mut Cx<'_>,
    [input, weight]: [View; 2],
    bias: Option<View>,
    out: View,
) -> Result<(), Refusal> {
    let space = space(cx, [&input, &weight, &out])?;
    if space == 3 {
        return volume::convolution(cx, [input, weight], bias, out);
    }
    let window = window(cx, space)?;
    let transposed = cx.flag("transposed")?;
    let (x, filter) = (as_images(cx, input)?, as_images(cx, weight)?);
    let out = as_images(cx, out)?;
    let dtype = cx.promote(x.dtype(), filter.dtype())?;
    let dtype = match transposed || dtype.is_integer() {
        true => compute_type(dtype),
        false => dtype,
    };
    if transposed {
        check_transposed(cx, &window, space, [&x, &filter, &out])?;
        if let Some(bias) = &bias {
            cx.check_dims(bias, &[out.dims()[1]])?;
        }
    }
    let (x, filter) = (cx.cast(x, dtype)?, cx.cast(filter, dtype)?);
    let bias = match bias {
        Some(bias) => Some(cx.cast(bias, dtype)?),
        None => None,
    };
    if out.is_empty() {
        return Ok(());
    }
    let attrs = window.attrs();
    if !transposed {
        return cx.op(
            "Conv2D",
            &[x.into(), filter.into(), bias.into()],
            &attrs,
            &[out],
        );
    }
    // A transposed convolution is the gradient of one by its input.
    if x.is_empty() {
        return Err(cx.unsupported("transposed convolutions of no elements are not supported"));
    }
    let Some(bias) = bias else {
        return input_gradient(cx, filter, x, &window, out);
    };
    let result = cx.temporary(dtype, out.dims())?;
    input_gradient(cx, filter, x, &window, result)?;
    let bias = cx.reshaped(bias, &[1, out.dims()[1], 1, 1])?;
    let operands = [Operand::Tensor(result), Operand::Tensor(bias)];
    cx.map(F::Add, dtype, &operands, out)
}

impl Window {
    /// Returns the part of a transposed convolution's result that its windows reach, for an input `small`. The padding behind it
    /// becomes what the windows reach beyond.
    fn reached(&mut self, large: View, filter: &View, small: &View) -> View {
        let mut part = large;
        for axis in 0..2 {
            let size = |view: &View| view.dims()[axis + 2] as i64;
            let reach = self.dilations[axis].saturating_mul(size(filter) - 1);
            let last = (size(small) - 1).saturating_mul(self.strides[axis]);
            // The entries before the end of the last window, the padding in front included.
            let end = last.saturating_add(reach).saturating_add(1);
            let reached = end.saturating_sub(self.pads[2 * axis]).max(0);
            let len = reached.min(size(&large));
            if reached - len <= self.pads[2 * axis + 1] {
                part = part.slice(axis + 2, 0, len as usize, 1);
                self.pads[2 * axis + 1] = reached - len;
            }
        }
        part
    }

    /// Returns the attributes of Conv2D.
    fn attrs(&self) -> Attrs {
        let ([rows, columns], [high, wide]) = (self.strides, self.dilations);
        Attrs::new()
            .with("strides", vec![1, 1, rows, columns])
            .with("pads", self.pads.to_vec())
            .with("dilations", vec![1, 1, high, wide])
            .with("groups", self.groups)
            .with("data_format", "NCHW")
    }
}

/// Computes the gradient of a convolution by its input, in the type of the operands.
pub(super) fn input_gradient(
    cx: &mut Cx<'_>,
    filter: View,
    gradient: View,
    window: &Window,
    out: View,
) -> Result<(), Refusal> {
    let [top, bottom, left, right] = window.pads;
    // What the windows do not reach at the end belongs to the result, too.
    let rest = |axis: usize, pads: i64| {
        let size = |view: &View| view.dims()[axis + 2] as i64;
        let reach = (size(&gradient) - 1) * window.strides[axis]
            + window.dilations[axis] * (size(&filter) - 1)
            + 1;
        size(&out) + pads - reach
    };
    let attrs = Attrs::new()
        .with("strides", window.strides.to_vec())
        .with("dilations", window.dilations.to_vec())
        .with("pads", vec![top, left, bottom, right])
        .with("group", window.groups)
        .with(
            "output_padding",
            vec![rest(0, top + bottom), rest(1, left + right)],
        );
    let inputs = [gradient.into(), filter.into()];
    cx.op("jumar.ConvTranspose", &inputs, &attrs, &[out])
}

/// Computes the gradient of a convolution by its filter.
pub(super) fn filter_gradient(
    cx: &mut Cx<'_>,
    x: View,
    gradient: View,
    window: &Window,
    out: View,
) -> Result<(), Refusal> {
    let kernel: Vec<i64> = out.dims()[2..].iter().map(|&dim| dim as i64).collect();
    // It is summed in float32, whatever the images are.
    let x = cx.cast(x, DataType::Float32)?;
    let gradient = cx.cast(gradient, DataType::Float32)?;
    let attrs = window.attrs().with("kernel", kernel);
    let inputs = [x.into(), gradient.into()];
    cx.op("jumar.Conv2DFilterGradient", &inputs, &attrs, &[out])
}

/// Refuses a gradient that has not the shape of the convolution's result. `large` is what the window moves over.
fn check_gradient(
    cx: &Cx<'_>,
    window: &Window,
    large: &View,
    filter: &View,
    small: &View,
) -> Result<(), Refusal> {
    let batch = large.dims()[0] == small.dims()[0];
    let channels = filter.dims()[0] == small.dims()[1]
        && filter.dims()[1] as i64 * window.groups == large.dims()[1] as i64;
    let space = (0..2).all(|axis| {
        let size = |view: &View| view.dims()[axis + 2] as i64;
        let reach = window.dilations[axis] * (size(filter) - 1) + 1;
        let padded = size(large) + window.pads[2 * axis] + window.pads[2 * axis + 1];
        padded >= reach && (padded - reach) / window.strides[axis] + 1 == size(small)
    });
    match batch && channels && space {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "the shapes {:?} of gradOutput, {:?} of input and {:?} of weight do not belong to one convolution",
            cx.tensor("gradOutput")?.dims(),
            cx.tensor("input")?.dims(),
            cx.tensor("weight")?.dims()
        ))),
    }
}

pub(super) fn convolution_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, input) = (cx.tensor("gradOutput")?, cx.tensor("input")?);
    let weight = cx.tensor("weight")?;
    let space = space(cx, [&gradient, &input, &weight])?;
    if space == 3 {
        return volume::convolution_backward(cx);
    }
    let mut window = window(cx, space)?;
    let transposed = cx.flag("transposed")?;
    let mask = cx.bools("outputMask")?;
    let &[to_input, to_weight, to_bias] = mask else {
        return Err(cx.invalid(format_args!(
            "outputMask has {} flags; expected 3",
            mask.len()
        )));
    };
    let compute = compute_type(input.dtype());
    let gradient_images = as_images(cx, gradient)?;
    let (x, filter) = (as_images(cx, input)?, as_images(cx, weight)?);
    let g = cx.cast(gradient_images, compute)?;
    let (x, filter) = (cx.cast(x, compute)?, cx.cast(filter, compute)?);
    // Rows and columns of the result that no window reached hold the bias alone.
    let all = g;
    let g = match transposed {
        false => g,
        true => window.reached(g, &filter, &x),
    };
    match transposed {
        false => check_gradient(cx, &window, &x, &filter, &g)?,
        true => check_gradient(cx, &window, &g, &filter, &x)?,
    }
    if let Some(out) = cx.optional("gradBias")?.filter(|_| to_bias) {
        let sum = cx.temporary(compute, &[all.dims()[1]])?;
        reduce(cx, "ReduceSum", all, &[0, 2, 3], false, sum)?;
        cx.check_dims(&out, sum.dims())?;
        cx.copy(sum, out)?;
    }
    if let Some(out) = cx.optional("gradInput")?.filter(|_| to_input) {
        let out = as_images(cx, out)?;
        if transposed {
            cx.check_dims(&out, x.dims())?;
            let operands = [g.into(), filter.into()];
            cx.op("Conv2D", &operands, &window.attrs(), &[out])?;
        } else {
            cx.check_dims(&out, x.dims())?;
            input_gradient(cx, filter, g, &window, out)?;
        }
    }
    if let Some(out) = cx.optional("gradWeight")?.filter(|_| to_weight) {
        let out = as_images(cx, out)?;
        cx.check_dims(&out, filter.dims())?;
        // The roles of input and gradient are exchanged in a transposed convolution.
        let (x, g) = if transposed { (g, x) } else { (x, g) };
        filter_gradient(cx, x, g, &window, out)?;
    }
    Ok(())
}
