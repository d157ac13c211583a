//! The times of recurrent layers while they are trained: what comes from the state, and the gradients.

use crate::kernels::generic::generic_kernel;
use crate::kernels::recurrent_steps::{
    Gru, GruGradient, Kind, Lstm, LstmGradient, infer, infer_gradient,
};
use crate::{Aliasing, AttrDef, InputDef, Operator, OutputDef, Types};

const fn input(name: &'static str) -> InputDef {
    InputDef::required(name, Types::FLOAT)
}

const fn output(name: &'static str) -> OutputDef {
    OutputDef { name }
}

const SIZES: InputDef = InputDef::optional("batch_sizes", Types::INDEX);
const MASK: InputDef = InputDef::optional("mask", Types::FLOAT);
const REVERSED: AttrDef = AttrDef::int("reversed", 0);
const ORDER: AttrDef = AttrDef::str("gate_order", "ifjo");

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.LstmSteps",
        onnx: &[],
        inputs: &[
            input("sums"),
            input("weights"),
            input("initial_h"),
            input("initial_c"),
            MASK,
            SIZES,
        ],
        outputs: &[
            output("i"),
            output("j"),
            output("f"),
            output("o"),
            output("h"),
            output("c"),
            output("tanhc"),
            output("last_h"),
            output("last_c"),
            output("y"),
        ],
        attrs: &[REVERSED, ORDER, AttrDef::float("forget_bias", 0.0)],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| infer(cx, Kind::Lstm, [7, 2]),
        prepare: |cx| {
            let outputs: Vec<usize> = (0..10).collect();
            generic_kernel(cx, Lstm::new(cx)?, &[0, 1, 2, 3, 4], &outputs)
        },
    },
    &Operator {
        name: "jumar.LstmStepsGrad",
        onnx: &[],
        inputs: &[
            input("dy"),
            input("dh"),
            input("dc"),
            input("i"),
            input("j"),
            input("f"),
            input("o"),
            input("h"),
            input("c"),
            input("tanhc"),
            input("initial_h"),
            input("initial_c"),
            input("weights"),
            MASK,
            SIZES,
        ],
        outputs: &[
            output("dsums"),
            output("dinitial_h"),
            output("dinitial_c"),
            output("starts"),
        ],
        attrs: &[REVERSED, ORDER],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let rows = &[0, 3, 4, 5, 6, 7, 8, 9, 13];
            let inputs: [&[usize]; 2] = [rows, &[1, 2, 10, 11]];
            infer_gradient(cx, Kind::Lstm, inputs, [12, 14], [1, 2])
        },
        prepare: |cx| {
            let inputs: Vec<usize> = (0..14).collect();
            generic_kernel(cx, LstmGradient::new(cx)?, &inputs, &[0, 1, 2, 3])
        },
    },
    &Operator {
        name: "jumar.GruSteps",
        onnx: &[],
        inputs: &[
            input("sums"),
            input("weights"),
            input("initial_h"),
            InputDef::optional("bias", Types::FLOAT),
            SIZES,
        ],
        outputs: &[
            output("r"),
            output("z"),
            output("n"),
            output("hn"),
            output("h"),
            output("last_h"),
        ],
        attrs: &[REVERSED],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| infer(cx, Kind::Gru, [5, 1]),
        prepare: |cx| {
            let outputs: Vec<usize> = (0..6).collect();
            generic_kernel(cx, Gru::new(cx)?, &[0, 1, 2, 3], &outputs)
        },
    },
    &Operator {
        name: "jumar.GruStepsGrad",
        onnx: &[],
        inputs: &[
            input("dy"),
            input("dh"),
            input("r"),
            input("z"),
            input("n"),
            input("hn"),
            input("h"),
            input("initial_h"),
            input("weights"),
            SIZES,
        ],
        outputs: &[
            output("dsums"),
            output("dstate_sums"),
            output("dinitial_h"),
            output("starts"),
        ],
        attrs: &[REVERSED],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let inputs: [&[usize]; 2] = [&[0, 2, 3, 4, 5, 6], &[1, 7]];
            infer_gradient(cx, Kind::Gru, inputs, [8, 9], [2, 1])
        },
        prepare: |cx| {
            let inputs: Vec<usize> = (0..9).collect();
            generic_kernel(cx, GruGradient::new(cx)?, &inputs, &[0, 1, 2, 3])
        },
    },
];
