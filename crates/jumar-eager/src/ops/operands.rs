//! Checks and shapes that operators of several families share.

use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::Cx;
use crate::view::View;

pub(crate) const FLOATS: &[DataType] = &[DataType::Float32, DataType::Float16, DataType::BFloat16];

/// An output whose last dimensions are joined, so that they are one row.
#[derive(Clone, Copy)]
pub(crate) struct MergedOutput {
    out: View,
    /// What a function of rows writes: the output itself, or a temporary where strides cannot join the dimensions.
    pub rows: View,
}

impl MergedOutput {
    /// Sees an output under another shape of as many elements.
    pub fn new(cx: &mut Cx<'_>, out: View, dims: &[usize]) -> Result<MergedOutput, Refusal> {
        check_elements(cx, &out, dims)?;
        let rows = match out.reshape(dims) {
            Some(rows) => rows,
            None => cx.temporary(out.dtype(), dims)?,
        };
        Ok(MergedOutput { out, rows })
    }

    /// Copies the result where it was computed in a temporary.
    pub fn finish(self, cx: &mut Cx<'_>) -> Result<(), Refusal> {
        if self.rows.base == self.out.base {
            return Ok(());
        }
        let rows = cx.reshaped(self.rows, self.out.dims())?;
        cx.copy(rows, self.out)
    }
}

/// Refuses a tensor with another number of elements than a shape.
pub(crate) fn check_elements(cx: &Cx<'_>, view: &View, dims: &[usize]) -> Result<(), Refusal> {
    match view.elements() == dims.iter().product::<usize>() {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have as many elements as {dims:?}",
            cx.param_of(view),
            view.dims()
        ))),
    }
}

/// The dimensions before the last `count`.
pub(crate) fn leading(view: &View, count: usize) -> &[usize] {
    &view.dims()[..view.rank() - count]
}

/// Refuses a tensor that has not the shape of another.
pub(crate) fn check_same(cx: &Cx<'_>, view: &View, like: &View) -> Result<(), Refusal> {
    cx.check_types(view, FLOATS)?;
    cx.check_dims(view, like.dims())
}

/// Returns parameters as a row of `width` entries: as many, or one that is repeated.
pub(crate) fn entries(cx: &mut Cx<'_>, view: View, width: usize) -> Result<View, Refusal> {
    let count = view.elements();
    if count != width && count != 1 {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have {width} elements or 1",
            cx.param_of(&view),
            view.dims()
        )));
    }
    let view = cx.cast(view, DataType::Float32)?;
    let row = cx.reshaped(view, &[count])?;
    row.expand(&[width])
        .ok_or_else(|| cx.defect("one element is repeated"))
}
