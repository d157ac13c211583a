//! One file an operator: its definition, the ONNX operators that become it, its kernel and its test table.

use crate::Operator;

macro_rules! operators {
    ($($module:ident,)*) => {
        $(mod $module;)*

        /// Every operator.
        pub(crate) static ALL: &[&[&Operator]] = &[$($module::OPERATORS,)*];
    };
}

operators! {
    abs,
    add,
    arg_max,
    avg_pool,
    batch_mat_mul,
    batch_norm,
    cast,
    clip_by_value,
    concat,
    constant,
    conv2d,
    div,
    dropout,
    exp,
    expand,
    flatten,
    gather,
    global_average_pool,
    identity,
    leaky_relu,
    log,
    log_softmax,
    mat_mul,
    max_pool,
    maximum,
    minimum,
    mul,
    muls,
    neg,
    pad,
    pow,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    relu,
    relu6,
    reshape,
    shape,
    sigmoid,
    softmax,
    sqrt,
    squeeze,
    strided_slice,
    sub,
    tanh,
    transpose,
    unsqueeze,
}

pub(crate) use conv2d::window_attrs;
