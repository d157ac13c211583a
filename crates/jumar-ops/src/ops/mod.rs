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
    common_rnn,
    concat,
    constant,
    conv2d,
    conv_nd,
    conv_transpose,
    deform_conv,
    div,
    dropout,
    exp,
    expand,
    flatten,
    gather,
    global_average_pool,
    group_norm,
    identity,
    layer_norm,
    leaky_relu,
    log,
    log_softmax,
    lp_normalize,
    lrn,
    mat_mul,
    max_pool,
    maximum,
    minimum,
    mul,
    muls,
    neg,
    pad,
    pool_nd,
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
