//! Recurrent layers: simple ones, GRU and LSTM.

use jumar_types::dtype::DataType;

use crate::kernels::generic::generic_kernel;
use crate::kernels::recurrent::{self, ATTRS, Cell, Recurrent};
use crate::onnx::{LATEST, alike};
use crate::{
    Aliasing, AttrDef, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator, OutputDef,
    PrepareCx, TensorType, Types,
};

const X: InputDef = InputDef::required("x", Types::FLOAT);
const W: InputDef = InputDef::required("w", Types::FLOAT);
const R: InputDef = InputDef::required("r", Types::FLOAT);
const B: InputDef = InputDef::optional("b", Types::FLOAT);
const LENGTHS: InputDef = InputDef::optional("sequence_lens", Types::of(&[DataType::Int32]));
const INITIAL_H: InputDef = InputDef::optional("initial_h", Types::FLOAT);
const Y: OutputDef = OutputDef { name: "y" };
const Y_H: OutputDef = OutputDef { name: "y_h" };

const fn with<const N: usize>(more: AttrDef) -> [AttrDef; N] {
    let mut attrs = [more; N];
    let mut index = 0;
    while index < ATTRS.len() {
        attrs[index] = ATTRS[index];
        index += 1;
    }
    attrs
}

static GRU_ATTRS: [AttrDef; 9] = with(AttrDef::int("linear_before_reset", 0));
static LSTM_ATTRS: [AttrDef; 9] = with(AttrDef::int("input_forget", 0));

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.RNN",
        onnx: &[OnnxForm::new("RNN", 7, LATEST, |builder, node| {
            alike(builder, node, "jumar.RNN")
        })],
        inputs: &[X, W, R, B, LENGTHS, INITIAL_H],
        outputs: &[Y, Y_H],
        attrs: &ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| recurrent::infer(cx, Cell::Simple),
        prepare: |cx| prepare(cx, Cell::Simple),
    },
    &Operator {
        name: "CommonGRU",
        onnx: &[OnnxForm::new("GRU", 7, LATEST, |builder, node| {
            alike(builder, node, "CommonGRU")
        })],
        inputs: &[X, W, R, B, LENGTHS, INITIAL_H],
        outputs: &[Y, Y_H],
        attrs: &GRU_ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| recurrent::infer(cx, gru(cx)?),
        prepare: |cx| prepare(cx, gru(cx.infer())?),
    },
    &Operator {
        name: "CommonLSTM",
        onnx: &[OnnxForm::new("LSTM", 7, LATEST, |builder, node| {
            alike(builder, node, "CommonLSTM")
        })],
        inputs: &[
            X,
            W,
            R,
            B,
            LENGTHS,
            INITIAL_H,
            InputDef::optional("initial_c", Types::FLOAT),
            InputDef::optional("p", Types::FLOAT),
        ],
        outputs: &[Y, Y_H, OutputDef { name: "y_c" }],
        attrs: &LSTM_ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| recurrent::infer(cx, lstm(cx)?),
        prepare: |cx| prepare(cx, lstm(cx.infer())?),
    },
    // An LSTM of integer weights, stored as floats, whose input and state are rounded to 8 bits.
    &Operator {
        name: "jumar.QuantisedLSTM",
        onnx: &[],
        inputs: &[
            X,
            W,
            R,
            B,
            LENGTHS,
            INITIAL_H,
            InputDef::optional("initial_c", Types::FLOAT),
            InputDef::optional("p", Types::FLOAT),
            InputDef::required("w_scale", Types::FLOAT),
            InputDef::required("r_scale", Types::FLOAT),
        ],
        outputs: &[Y, Y_H, OutputDef { name: "y_c" }],
        attrs: &LSTM_ATTRS,
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let outputs = recurrent::infer(cx, lstm(cx)?)?;
            for (index, weights) in [(8, 1), (9, 2)] {
                check_scales(cx.input(index)?, cx.input(weights)?)?;
            }
            Ok(outputs)
        },
        prepare: |cx| {
            generic_kernel(
                cx,
                Recurrent::quantised(cx, lstm(cx.infer())?)?,
                &[0, 1, 2, 3, 5, 6, 7, 8, 9],
                &[0, 1, 2],
            )
        },
    },
];

/// Checks that there is one scale a direction, or one for each row of the weights.
fn check_scales(scales: &TensorType, weights: &TensorType) -> Result<(), OpError> {
    let (scale_dims, dims) = (&scales.shape, &weights.shape);
    let fits = |one: i64, other: i64| one < 0 || other < 0 || one == other;
    let is_right = match (scales.rank(), weights.rank()) {
        (None, _) | (_, None) => true,
        (Some(1), _) => fits(scale_dims[0], dims[0]),
        (Some(2), _) => (0..2).all(|axis| fits(scale_dims[axis], dims[axis])),
        _ => false,
    };
    match is_right {
        true => Ok(()),
        false => Err(OpError::invalid(format!(
            "the scales are {scales}; weights of {weights} need one scale for each direction, or for each row of it"
        ))),
    }
}

fn gru(cx: &InferCx<'_>) -> Result<Cell, OpError> {
    Ok(Cell::Gru {
        linear_before_reset: cx.attrs().int("linear_before_reset")? != 0,
    })
}

fn lstm(cx: &InferCx<'_>) -> Result<Cell, OpError> {
    Ok(Cell::Lstm {
        input_forget: cx.attrs().int("input_forget")? != 0,
    })
}

fn prepare(cx: &PrepareCx<'_>, cell: Cell) -> Result<Box<dyn Kernel>, OpError> {
    generic_kernel(
        cx,
        Recurrent::new(cx, cell)?,
        &[0, 1, 2, 3, 5, 6, 7],
        &[0, 1, 2],
    )
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("common_rnn");
    }

    #[test]
    fn packed_weights_give_the_same_bits() {
        for (operator, gates, attrs) in [
            ("jumar.RNN", 1, none()),
            ("CommonGRU", 3, none()),
            ("CommonGRU", 3, none().with("linear_before_reset", 1)),
            ("CommonLSTM", 4, none()),
        ] {
            let (hidden, input) = (32, 5);
            let (w, r) = (
                noise(&[2, gates * hidden, input], 1),
                noise(&[2, gates * hidden, hidden], 2),
            );
            let packed = [&w, &r].map(|weights| crate::pack_weights(weights, gates).unwrap());
            let bias = noise(&[2, 2 * gates * hidden], 3);
            for batch in [1, 3] {
                let x = noise(&[4, batch, input], 4);
                let attrs = attrs.clone().with("direction", "bidirectional");
                let plain = [x.clone(), w.clone(), r.clone(), bias.clone()];
                let [w, r] = packed.clone();
                let own = [x, w, r, bias.clone()];
                let wanted = run(operator, &plain, attrs.clone()).unwrap();
                let found = run(operator, &own, attrs.with("packed", 1)).unwrap();
                assert_eq!(found, wanted, "{operator}, batch {batch}");
            }
        }
        // The third gate of a GRU would begin within a panel, and the rows of a simple layer would not fill one.
        assert!(crate::pack_weights(&noise(&[1, 48, 16], 1), 3).is_none());
        assert!(crate::pack_weights(&noise(&[1, 8, 8], 1), 1).is_none());
        assert!(crate::pack_weights(&noise(&[1, 32, 8], 1), 4).is_some());
    }

    #[test]
    fn shapes_that_contradict_each_other_are_refused() {
        let (x, w, r) = (
            noise(&[2, 1, 3], 1),
            noise(&[1, 8, 3], 2),
            noise(&[1, 8, 2], 3),
        );
        let lstm = |x, w, r, attrs, part| refuse("CommonLSTM", &[x, w, r], attrs, part);
        lstm(
            x.clone(),
            noise(&[1, 8, 4], 2),
            r.clone(),
            none(),
            "input 1",
        );
        lstm(
            x.clone(),
            w.clone(),
            r.clone(),
            none().with("direction", "sideways"),
            "sideways",
        );
        lstm(
            x.clone(),
            w.clone(),
            r.clone(),
            none().with("activations", vec!["Tanh".to_owned()]),
            "activations",
        );
        lstm(x, w, r, none().with("hidden_size", 3), "input 1");
    }
}
