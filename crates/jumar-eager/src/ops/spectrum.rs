//! Fourier transforms of windows that slide over a signal.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use super::Table;
use super::reduction::accumulator;
use crate::build::{Cx, Input, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar, promote};

pub(crate) static TABLE: &Table = &[("aclStft", short_time)];

/// Returns a weight for each element of a frame: the window in its middle, zeros around it.
fn weights(
    cx: &mut Cx<'_>,
    dtype: DataType,
    frame: usize,
    covered: usize,
) -> Result<Option<View>, Refusal> {
    let window = cx.optional("windowOptional")?;
    if let Some(window) = &window {
        cx.check_dims(window, &[covered])?;
        if promote::is_complex(window.dtype()) {
            return Err(cx.unsupported("complex windows are not supported"));
        }
    } else if covered == frame {
        return Ok(None);
    }
    let weights = cx.temporary(dtype, &[frame])?;
    cx.fill(Scalar::of_i64(0), weights)?;
    let middle = weights.slice(0, (frame - covered) / 2, covered, 1);
    match window {
        Some(window) => cx.copy(window, middle)?,
        None => cx.fill(Scalar::ONE, middle)?,
    }
    Ok(Some(weights))
}

fn short_time(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let (frame, step, covered) = (cx.int("nFft")?, cx.int("hopLength")?, cx.int("winLength")?);
    let (normalized, onesided) = (cx.flag("normalized")?, cx.flag("onesided")?);
    let is_complex = promote::is_complex(x.dtype());
    if onesided && is_complex {
        return Err(cx.invalid(format_args!(
            "onesided is true and self has the type {}: a complex signal has no onesided transform",
            x.dtype()
        )));
    }
    let (signal, batch) = match *x.dims() {
        [_] => (x.unsqueeze(0), None),
        [batch, _] => (x, Some(batch)),
        ref dims => {
            return Err(cx.invalid(format_args!(
                "self has the shape {dims:?}; it must have 1 or 2 dimensions"
            )));
        }
    };
    let len = signal.dims()[1];
    let valid = frame > 0 && frame <= len as i64 && step > 0 && (1..=frame).contains(&covered);
    if !valid {
        return Err(cx.invalid(format_args!(
            "nFft is {frame}, hopLength {step} and winLength {covered} for {len} elements; nFft must be between 1 and the \
             number of elements, hopLength positive, and winLength between 1 and nFft"
        )));
    }
    let (frame, covered) = (frame as usize, covered as usize);
    let bins = if onesided { frame / 2 + 1 } else { frame };
    let frames = (len - frame) / step as usize + 1;
    let as_complex = cx.flag("returnComplex")?;
    let mut dims: Vec<usize> = batch.into_iter().chain([bins, frames]).collect();
    if !as_complex {
        dims.push(2);
    }
    cx.check_dims(&out, &dims)?;
    if out.is_empty() {
        return Ok(());
    }
    let dtype = accumulator(promote::part(x.dtype()));
    let signal = match signal.parts() {
        None => cx.cast(signal, dtype)?,
        Some(parts) => {
            let pairs = cx.temporary(dtype, &[signal.dims()[0], len, 2])?;
            for (index, part) in parts.into_iter().enumerate() {
                cx.copy(part, pairs.select(2, index))?;
            }
            pairs
        }
    };
    let weights = weights(cx, dtype, frame, covered)?;
    let result = cx.temporary(dtype, &[signal.dims()[0], frames, bins, 2])?;
    let inputs = [
        signal.into(),
        Input::ints(&[step]),
        weights.into(),
        Input::ints(&[frame as i64]),
    ];
    let attrs = Attrs::new().with("onesided", onesided);
    cx.op("jumar.STFT", &inputs, &attrs, &[result])?;
    // Frames are columns.
    let mut result = result.transpose(1, 2);
    if batch.is_none() {
        result = result.select(0, 0);
    }
    let axis = result.rank() - 1;
    let parts = match (as_complex, out.parts()) {
        (false, _) => [0, 1].map(|part| out.select(axis, part)),
        (true, Some(parts)) => parts,
        (true, None) => {
            return Err(cx.refuse_type("out", out.dtype(), "a complex type"));
        }
    };
    let scale = match normalized {
        true => (frame as f64).sqrt().recip(),
        false => 1.0,
    };
    for (index, part) in parts.into_iter().enumerate() {
        let from = Operand::Tensor(result.select(axis, index));
        let scale = Operand::Scalar(Scalar::of_f64(scale));
        cx.map(F::Mul, dtype, &[from, scale], part)?;
    }
    Ok(())
}
