//! Fourier transforms of signals and of windows that slide over them; the windows, and mel weights. The attributes are
//! ONNX's.

use jumar_types::dtype::DataType;

use crate::kernels::fourier::Fourier;
use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel, generic_kernel_in};
use crate::onnx::{LATEST, alike, attrs_alike};
use crate::operator::OUTPUT_Y;
use crate::view::Row;
use crate::{
    Aliasing, AttrDef, Builder, InferCx, InputDef, Kernel, OnnxForm, OnnxNode, OpError, Operator,
    PrepareCx, Tensor, TensorType, Types, UNKNOWN, ValueRef, infer as check,
};

const NUMBER: AttrDef = AttrDef::int("output_datatype", 1);

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.DFT",
        onnx: &[
            OnnxForm::new("DFT", 17, 19, |builder, node| {
                let axis = builder
                    .add_constant(Tensor::from_ints(&[node.int_or("axis", 1)?]).reshaped(&[])?);
                let attrs = attrs_alike(node, "jumar.DFT")?;
                Ok(vec![builder.node(
                    "jumar.DFT",
                    &[Some(node.input(0)?), node.optional(1), Some(axis)],
                    attrs,
                )?])
            }),
            OnnxForm::new("DFT", 20, LATEST, |builder, node| {
                alike(builder, node, "jumar.DFT")
            }),
        ],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::optional_constant("dft_length", Types::INDEX),
            InputDef::optional_constant("axis", Types::INDEX),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::bool("inverse", false),
            AttrDef::bool("onesided", false),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: infer_dft,
        prepare: |cx| {
            let shape = cx.shape(0)?;
            let known = || {
                OpError::unsupported(
                    "axis and length have to be known before the operator is planned",
                )
            };
            let (axis, len) = dft_axis(cx.infer(), &signed(shape))?.ok_or_else(known)?;
            let line = Line {
                outer: shape[..axis].iter().product(),
                from: shape[axis],
                to: cx.output_shape(0)?[axis],
                inner: shape[axis + 1..shape.len() - 1].iter().product(),
                parts: shape[shape.len() - 1],
                inverse: cx.attrs().bool("inverse")?,
                halved: cx.attrs().bool("inverse")? && cx.attrs().bool("onesided")?,
                fourier: Fourier::new(len as usize)?,
            };
            generic_kernel_in(cx, line, &[0], &[0], true)
        },
    },
    &Operator {
        name: "jumar.STFT",
        onnx: &[OnnxForm::new("STFT", 17, LATEST, |builder, node| {
            alike(builder, node, "jumar.STFT")
        })],
        inputs: &[
            InputDef::required("signal", Types::FLOAT),
            InputDef::constant("frame_step", Types::INDEX),
            InputDef::optional("window", Types::FLOAT),
            InputDef::optional_constant("frame_length", Types::INDEX),
        ],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::bool("onesided", true)],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: infer_stft,
        prepare: |cx| {
            let shape = cx.shape(0)?;
            let (frame, step) = frames(cx.infer())?.ok_or_else(|| {
                OpError::unsupported(
                    "frame step and length have to be known before the operator is planned",
                )
            })?;
            let out = cx.output_shape(0)?;
            let framed = Framing {
                batch: shape[0],
                len: shape[1],
                parts: shape.get(2).copied().unwrap_or(1),
                frames: out[1],
                bins: out[2],
                step: step as usize,
                fourier: Fourier::new(frame as usize)?,
            };
            generic_kernel_in(cx, framed, &[0, 2], &[0], true)
        },
    },
    &Operator {
        name: "jumar.Window",
        onnx: &[
            OnnxForm::new("HannWindow", 17, LATEST, |builder, node| {
                lower_window(builder, node, [0.5, 0.5, 0.0])
            }),
            OnnxForm::new("HammingWindow", 17, LATEST, |builder, node| {
                lower_window(builder, node, [25.0 / 46.0, 21.0 / 46.0, 0.0])
            }),
            OnnxForm::new("BlackmanWindow", 17, LATEST, |builder, node| {
                lower_window(builder, node, [0.42, 0.5, 0.08])
            }),
        ],
        inputs: &[
            InputDef::constant("size", Types::INDEX),
            // The weights of the first three cosines.
            InputDef::constant("weights", Types::of(&[DataType::Float64])),
        ],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::bool("periodic", true), NUMBER],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let size = scalar(cx, 0)?.unwrap_or(UNKNOWN);
            if size < UNKNOWN {
                return Err(OpError::invalid(format!(
                    "size is {size}; it must be 0 or more"
                )));
            }
            Ok(vec![TensorType::new(number_type(cx)?, [size])])
        },
        prepare: |cx| {
            let known = || {
                OpError::unsupported("the weights have to be known before the operator is planned")
            };
            let weights = cx
                .infer()
                .constant(1)
                .and_then(Tensor::floats)
                .filter(|w| w.len() == 3)
                .ok_or_else(known)?;
            let periodic = cx.attrs().bool("periodic")?;
            generic_kernel(
                cx,
                Cosines {
                    weights: [weights[0], weights[1], weights[2]],
                    periodic,
                },
                &[],
                &[0],
            )
        },
    },
    &Operator {
        name: "jumar.MelWeightMatrix",
        onnx: &[OnnxForm::new(
            "MelWeightMatrix",
            17,
            LATEST,
            |builder, node| alike(builder, node, "jumar.MelWeightMatrix"),
        )],
        inputs: &[
            InputDef::constant("num_mel_bins", Types::INDEX),
            InputDef::constant("dft_length", Types::INDEX),
            InputDef::constant("sample_rate", Types::INDEX),
            InputDef::constant("lower_edge_hertz", Types::FLOAT),
            InputDef::constant("upper_edge_hertz", Types::FLOAT),
        ],
        outputs: OUTPUT_Y,
        attrs: &[NUMBER],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let (bins, len) = (
                scalar(cx, 0)?.unwrap_or(UNKNOWN),
                scalar(cx, 1)?.unwrap_or(UNKNOWN),
            );
            if bins < UNKNOWN || len < UNKNOWN || scalar(cx, 2)?.is_some_and(|rate| rate < 1) {
                return Err(OpError::invalid(
                    "num_mel_bins and dft_length have to be 0 or more, and sample_rate 1 or more",
                ));
            }
            let rows = if len < 0 { UNKNOWN } else { len / 2 + 1 };
            Ok(vec![TensorType::new(number_type(cx)?, [rows, bins])])
        },
        prepare: prepare_mel,
    },
];

fn signed(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&dim| dim as i64).collect()
}

/// Returns the one integer of a constant input.
fn scalar(cx: &InferCx<'_>, index: usize) -> Result<Option<i64>, OpError> {
    match cx.ints(index)?.as_deref() {
        None => Ok(None),
        Some(&[value]) => Ok(Some(value)),
        Some(list) => Err(OpError::invalid(format!(
            "input {index} holds {} numbers, not 1",
            list.len()
        ))),
    }
}

/// `output_datatype`, numbered as ONNX numbers types.
fn number_type(cx: &InferCx<'_>) -> Result<DataType, OpError> {
    let number = cx.attrs().int("output_datatype")?;
    i32::try_from(number)
        .ok()
        .and_then(DataType::from_onnx)
        .filter(|&dtype| Types::NUMBER.contains(dtype))
        .ok_or_else(|| OpError::unsupported(format!("output_datatype {number} is not supported")))
}

fn lower_window(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    weights: [f64; 3],
) -> Result<Vec<ValueRef>, OpError> {
    let attrs = attrs_alike(node, "jumar.Window")?;
    let bytes: Vec<u8> = weights
        .iter()
        .flat_map(|weight| weight.to_le_bytes())
        .collect();
    let weights = builder.add_constant(Tensor::new(DataType::Float64, &[3], bytes)?);
    Ok(vec![builder.node(
        "jumar.Window",
        &[Some(node.input(0)?), Some(weights)],
        attrs,
    )?])
}

/// Numbers that are known when the operator is planned.
struct Values(Vec<f64>);

impl Values {
    fn kernel(cx: &PrepareCx<'_>, values: Vec<f64>) -> Result<Box<dyn Kernel>, OpError> {
        generic_kernel(cx, Values(values), &[], &[0])
    }
}

impl Algorithm for Values {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let out = io.output(0)?;
        self.0
            .iter()
            .enumerate()
            .for_each(|(at, &value)| out.set(at, W::of(value)));
        Ok(())
    }
}

/// A window made of cosines.
struct Cosines {
    weights: [f64; 3],
    periodic: bool,
}

impl Algorithm for Cosines {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let out = io.output(0)?;
        let round = if self.periodic {
            out.len()
        } else {
            out.len().saturating_sub(1)
        }
        .max(1) as f64;
        for at in 0..out.len() {
            let angle = 2.0 * std::f64::consts::PI * at as f64 / round;
            // In this order the middle of Blackman's is 1, and not just below it, which integers would show.
            let [one, two, three] = self.weights;
            out.set(
                at,
                W::of(three * (2.0 * angle).cos() - two * angle.cos() + one),
            );
        }
        Ok(())
    }
}

fn prepare_mel(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    let (rows, bins) = (cx.output_shape(0)?[0], cx.output_shape(0)?[1]);
    if rows.max(1).saturating_mul(bins.saturating_add(2)) > 1 << 27 {
        return Err(OpError::too_large(format!(
            "a matrix of {rows} x {bins} weights"
        )));
    }
    let float = |index: usize| {
        let value = cx
            .infer()
            .constant(index)
            .and_then(Tensor::floats)
            .and_then(|list| list.first().copied());
        value.ok_or_else(|| {
            OpError::unsupported("the edges have to be known before the operator is planned")
        })
    };
    let one = |index: usize| {
        Ok::<_, OpError>(
            scalar(cx.infer(), index)?
                .ok_or_else(|| OpError::unsupported("sizes have to be known"))? as f64,
        )
    };
    let (len, rate, low, high) = (one(1)?, one(2)?, float(3)?, float(4)?);
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let (low, high) = (mel(low), mel(high));
    let step = (high - low) / (bins as f64 + 2.0);
    let edges: Vec<i64> = (0..bins + 2)
        .map(|at| {
            let hertz = 700.0 * (10f64.powf((at as f64 * step + low) / 2595.0) - 1.0);
            ((len + 1.0) * hertz / rate).floor() as i64
        })
        .collect();
    let mut values = vec![0.0; rows * bins];
    let mut set = |row: i64, column: usize, value: f64| -> Result<(), OpError> {
        let inside = usize::try_from(row).ok().filter(|&row| row < rows);
        let row = inside.ok_or_else(|| {
            OpError::invalid(format!(
                "an edge at {row} lies outside the spectrum of {rows} values"
            ))
        })?;
        values[row * bins + column] = value;
        Ok(())
    };
    for column in 0..bins {
        let (low, middle, high) = (edges[column], edges[column + 1], edges[column + 2]);
        if middle == low {
            set(middle, column, 1.0)?;
        } else {
            for row in low..=middle {
                set(row, column, (row - low) as f64 / (middle - low) as f64)?;
            }
        }
        for row in middle..high {
            set(row, column, (high - row) as f64 / (high - middle) as f64)?;
        }
    }
    Values::kernel(cx, values)
}

/// The axis and the length of a transform; `None` where they are not known yet.
fn dft_axis(cx: &InferCx<'_>, shape: &[i64]) -> Result<Option<(usize, i64)>, OpError> {
    let axis = if cx.has(2) {
        match scalar(cx, 2)? {
            Some(axis) => axis,
            None => return Ok(None),
        }
    } else {
        -2
    };
    let axis = check::axis(axis, shape.len())?;
    if axis + 1 == shape.len() {
        return Err(OpError::invalid(
            "the axis of a transform cannot be the one of real and imaginary parts",
        ));
    }
    let len = if cx.has(1) {
        match scalar(cx, 1)? {
            Some(len) => len,
            None => return Ok(None),
        }
    } else if cx.attrs().bool("inverse")? && cx.attrs().bool("onesided")? && shape[axis] >= 0 {
        // The half of the spectrum that is given belongs to an even length.
        2 * (shape[axis] - 1)
    } else {
        shape[axis]
    };
    if len == UNKNOWN {
        return Ok(None);
    }
    if len < 1 {
        return Err(OpError::invalid(format!(
            "the transform has a length of {len}; it must be 1 or more"
        )));
    }
    Ok(Some((axis, len)))
}

fn infer_dft(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let x = cx.input(0)?;
    let Some(rank) = x.rank() else {
        return Ok(vec![x.clone()]);
    };
    if rank < 2 || !matches!(x.shape[rank - 1], UNKNOWN | 1 | 2) {
        return Err(OpError::invalid(format!(
            "the last dimension of {x} has to hold real parts, or real and imaginary ones"
        )));
    }
    let (onesided, inverse) = (cx.attrs().bool("onesided")?, cx.attrs().bool("inverse")?);
    if onesided && x.shape[rank - 1] == if inverse { 1 } else { 2 } {
        return Err(OpError::invalid(format!(
            "a onesided transform leads from floats to half a spectrum or back; the input is {x}"
        )));
    }
    let mut shape = x.shape.clone();
    // The way back from half a spectrum leads to floats.
    shape[rank - 1] = if onesided && inverse { 1 } else { 2 };
    match dft_axis(cx, &x.shape)? {
        Some((axis, len)) => {
            shape[axis] = if onesided && !inverse {
                len / 2 + 1
            } else {
                len
            }
        }
        None => shape[..rank - 1].fill(UNKNOWN),
    }
    Ok(vec![TensorType {
        dtype: x.dtype,
        shape,
    }])
}

struct Line {
    outer: usize,
    from: usize,
    to: usize,
    inner: usize,
    parts: usize,
    inverse: bool,
    /// Whether half a spectrum is given, and floats are wanted.
    halved: bool,
    fourier: Fourier,
}

/// Reads a signal of real parts, or of real and imaginary ones, into two rows.
fn load<W: Working>(
    (re, im): (crate::view::RowMut<'_, W>, crate::view::RowMut<'_, W>),
    count: usize,
    parts: usize,
    at: impl Fn(usize) -> usize,
    x: Row<'_, W>,
) {
    re.fill(W::zero());
    im.fill(W::zero());
    for index in 0..count {
        re.set(index, x.get(at(index) * parts));
        if parts == 2 {
            im.set(index, x.get(at(index) * parts + 1));
        }
    }
}

impl Algorithm for Line {
    fn scratch(&self) -> usize {
        2 * self.fourier.size()
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, out, scratch) = (io.input(0)?, io.output(0)?, io.scratch()?);
        let size = self.fourier.size();
        let (re, im) = (scratch.slice(0, size), scratch.slice(size, size));
        let len = self.fourier.len();
        let count = self.from.min(if self.halved { len / 2 + 1 } else { len });
        let scale = W::of(if self.inverse {
            1.0 / self.fourier.len() as f64
        } else {
            1.0
        });
        for outer in 0..self.outer {
            for inner in 0..self.inner {
                load(
                    (re, im),
                    count,
                    self.parts,
                    |at| (outer * self.from + at) * self.inner + inner,
                    x,
                );
                if self.halved {
                    for at in len / 2 + 1..len {
                        re.set(at, re.get(len - at));
                        im.set(at, -im.get(len - at));
                    }
                }
                if self.inverse {
                    self.fourier.run(im, re);
                } else {
                    self.fourier.run(re, im);
                }
                for at in 0..self.to {
                    let target = (outer * self.to + at) * self.inner + inner;
                    if self.halved {
                        out.set(target, re.get(at) * scale);
                        continue;
                    }
                    out.set(2 * target, re.get(at) * scale);
                    out.set(2 * target + 1, im.get(at) * scale);
                }
            }
        }
        Ok(())
    }
}

/// Length of a frame, and the step between frames.
fn frames(cx: &InferCx<'_>) -> Result<Option<(i64, i64)>, OpError> {
    let Some(step) = scalar(cx, 1)? else {
        return Ok(None);
    };
    let window = if cx.has(2) {
        match cx.input(2)?.shape[..] {
            [len] => Some(len),
            _ => {
                return Err(OpError::invalid(format!(
                    "the window is {}; it must have 1 dimension",
                    cx.input(2)?
                )));
            }
        }
    } else {
        None
    };
    let len = if cx.has(3) {
        match scalar(cx, 3)? {
            Some(len) => len,
            None => return Ok(None),
        }
    } else {
        match window {
            Some(UNKNOWN | crate::UNKNOWN_RANK) => return Ok(None),
            Some(len) => len,
            None => {
                return Err(OpError::invalid(
                    "either the window or frame_length has to be given",
                ));
            }
        }
    };
    if step < 1 || len < 1 {
        return Err(OpError::invalid(format!(
            "frame_step is {step} and frame_length {len}; both have to be 1 or more"
        )));
    }
    if window.is_some_and(|window| window >= 0 && window != len) {
        return Err(OpError::invalid(format!(
            "the window is {}, and a frame has {len} elements",
            cx.input(2)?
        )));
    }
    Ok(Some((len, step)))
}

fn infer_stft(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let signal = cx.input(0)?;
    cx.same_types([0, 2])?;
    if signal.rank().is_none() {
        return Ok(vec![TensorType::new(
            signal.dtype,
            [UNKNOWN, UNKNOWN, UNKNOWN, 2],
        )]);
    }
    if !matches!(signal.shape[..], [_, _] | [_, _, UNKNOWN | 1 | 2]) {
        return Err(OpError::invalid(format!(
            "the signal {signal} has to be batch, length, and 1 or 2 parts"
        )));
    }
    let onesided = cx.attrs().bool("onesided")?;
    if onesided && signal.shape.get(2) == Some(&2) {
        return Err(OpError::invalid(
            "a complex signal has no onesided transform",
        ));
    }
    let (batch, len) = (signal.shape[0], signal.shape[1]);
    let (mut count, mut bins) = (UNKNOWN, UNKNOWN);
    if let Some((frame, step)) = frames(cx)? {
        bins = if onesided { frame / 2 + 1 } else { frame };
        if len >= 0 {
            count = if len < frame {
                0
            } else {
                (len - frame) / step + 1
            };
        }
    }
    Ok(vec![TensorType::new(signal.dtype, [batch, count, bins, 2])])
}

struct Framing {
    batch: usize,
    len: usize,
    parts: usize,
    frames: usize,
    bins: usize,
    step: usize,
    fourier: Fourier,
}

impl Algorithm for Framing {
    fn scratch(&self) -> usize {
        2 * self.fourier.size()
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, window, out, scratch) =
            (io.input(0)?, io.optional(2)?, io.output(0)?, io.scratch()?);
        let size = self.fourier.size();
        let (re, im) = (scratch.slice(0, size), scratch.slice(size, size));
        for batch in 0..self.batch {
            for frame in 0..self.frames {
                let start = batch * self.len + frame * self.step;
                load((re, im), self.fourier.len(), self.parts, |at| start + at, x);
                if let Some(window) = window {
                    for row in [re, im] {
                        row.slice(0, self.fourier.len())
                            .update(window, |x, weight| x * weight);
                    }
                }
                self.fourier.run(re, im);
                for bin in 0..self.bins {
                    let target = ((batch * self.frames + frame) * self.bins + bin) * 2;
                    out.set(target, re.get(bin));
                    out.set(target + 1, im.get(bin));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        cases("signal");
    }

    #[test]
    fn lengths_that_make_no_sense_are_refused() {
        refuse(
            "jumar.DFT",
            &[noise(&[1, 4, 1], 1), i64s(&[], &[0])],
            none(),
            "length of 0",
        );
        refuse("jumar.DFT", &[noise(&[1, 4, 3], 1)], none(), "real parts");
        refuse(
            "jumar.DFT",
            &[noise(&[1, 4, 1], 1), i64s(&[], &[1 << 40])],
            none(),
            "",
        );
        let mel = [
            i64s(&[], &[1 << 40]),
            i64s(&[], &[8]),
            i64s(&[], &[8]),
            noise(&[], 1),
            noise(&[], 2),
        ];
        refuse("jumar.MelWeightMatrix", &mel, none(), "");
        refuse(
            "jumar.STFT",
            &[noise(&[1, 9, 1], 1), i64s(&[], &[0]), noise(&[4], 2)],
            none(),
            "frame_step is 0",
        );
    }

    #[test]
    fn a_window_that_does_not_fit_the_frame_is_refused() {
        let step = || i64s(&[], &[2]);
        let signal = || noise(&[1, 9, 1], 1);
        for window in [
            noise(&[4, 4], 2),
            noise(&[4, 1], 2),
            noise(&[], 2),
            noise(&[3], 2),
        ] {
            let inputs = [signal(), step(), window.clone(), i64s(&[], &[4])];
            refuse("jumar.STFT", &inputs, none(), "the window is");
        }
    }
}
