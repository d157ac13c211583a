//! Recurrent layers: cells of LSTM, layers of LSTM and GRU, and their gradients.

mod cell;
mod layers;

use super::Table;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::normalization::{check_count, computed};
use crate::view::View;
use crate::{Refusal, Scalar};
use jumar_types::dtype::DataType;

pub(crate) static TABLE: &Table = &[
    ("aclnnGRU", |cx| layers::forward(cx, &layers::GRU)),
    ("aclnnGRUBackward", |cx| {
        layers::backward(cx, &layers::GRU, "batchSizes")
    }),
    ("aclnnLSTM", |cx| layers::forward(cx, &layers::LSTM)),
    ("aclnnLstmBackward", |cx| {
        layers::check_dropout(cx)?;
        layers::backward(cx, &layers::LSTM, "batchSizesOptional")
    }),
    ("aclnnThnnFusedLstmCell", cell::forward),
    ("aclnnThnnFusedLstmCellBackward", cell::backward),
];

/// Adds up terms in the type of the computation.
fn sum_of(
    cx: &mut Cx<'_>,
    compute: DataType,
    terms: &[View],
    dims: &[usize],
) -> Result<View, Refusal> {
    let mut sum = terms[0];
    for term in &terms[1..] {
        let both = [Operand::Tensor(sum), Operand::Tensor(*term)];
        sum = computed(cx, F::Add, compute, &both, dims)?;
    }
    Ok(sum)
}

/// Returns a tensor, or zeros where there is none.
fn or_zeros(
    cx: &mut Cx<'_>,
    view: Option<View>,
    compute: DataType,
    dims: &[usize],
) -> Result<View, Refusal> {
    match view.filter(|view| !view.is_empty() || dims.contains(&0)) {
        Some(view) => {
            check_count(cx, &view, dims)?;
            cx.reshaped(view, dims)
        }
        None => {
            let zeros = cx.temporary(compute, dims)?;
            cx.fill(Scalar::of_i64(0), zeros)?;
            Ok(zeros)
        }
    }
}
