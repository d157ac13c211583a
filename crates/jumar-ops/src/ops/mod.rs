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
    attention,
    avg_pool,
    batch_mat_mul,
    batch_norm,
    batch_norm_training,
    cast,
    clip_by_value,
    common_rnn,
    concat,
    constant,
    conv2d,
    conv_nd,
    conv_transpose,
    deform_conv,
    determinant,
    div,
    dropout,
    einsum,
    exp,
    expand,
    flatten,
    gather,
    global_average_pool,
    grid_sample,
    group_norm,
    identity,
    layer_norm,
    leaky_relu,
    log,
    log_softmax,
    lp_normalize,
    lrn,
    losses,
    mat_mul,
    mat_mul_integer,
    max_pool,
    maximum,
    minimum,
    mul,
    muls,
    neg,
    non_max_suppression,
    optimizers,
    pad,
    pool_nd,
    pow,
    quantize,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    relu,
    relu6,
    reshape,
    resize,
    roi,
    shape,
    sigmoid,
    signal,
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
