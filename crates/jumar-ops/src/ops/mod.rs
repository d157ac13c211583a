//! One file an operator: its definition, the ONNX operators that become it, its kernel and its test table.

use crate::Operator;

pub use self::aipp::{AIPP, Aipp, DYNAMIC_AIPP, PixelFormat};
pub use self::strided_slice::{MaskedSlice, SliceMasks};

mod abs;
mod accumulate;
mod acos;
mod acosh;
mod add;
mod aipp;
mod arg_max;
mod arg_min;
mod asin;
mod asinh;
mod atan;
mod atanh;
mod attention;
mod avg_pool;
mod batch_mat_mul;
mod batch_norm;
mod batch_norm_training;
mod bitcast;
mod bitwise_and;
mod bitwise_or;
mod bitwise_xor;
mod blocked;
mod cast;
mod ceil;
mod celu;
mod center_crop_pad;
mod clip_by_value;
mod common_rnn;
mod compress;
mod concat;
mod constant;
mod conv2d;
mod conv2d_filter_gradient;
mod conv_nd;
mod conv_transpose;
mod cos;
mod cosh;
mod cumsum;
mod deform_conv;
mod depth_to_space;
mod determinant;
mod dilation;
mod div;
mod dropout;
mod einsum;
mod elu;
mod equal;
mod erf;
mod erfc;
mod exp;
mod expand;
mod eye_like;
mod fill;
mod flatten;
mod floor;
mod gather;
mod gather_elements;
mod gather_nd;
mod gelu;
mod global_average_pool;
mod greater;
mod greater_equal;
mod grid_sample;
mod group_norm;
mod hard_max;
mod hard_sigmoid;
mod hard_swish;
mod identity;
#[cfg(feature = "image-formats")]
mod image_decoder;
mod incomplete;
mod invert;
mod is_inf;
mod is_nan;
mod layer_norm;
mod leaky_relu;
mod less;
mod less_equal;
mod linear;
mod linear_attention;
mod log;
mod log_softmax;
mod logical_and;
mod logical_not;
mod logical_or;
mod logical_xor;
mod losses;
mod lp_normalize;
mod lrn;
mod mat_mul;
mod mat_mul_integer;
mod max_pool;
mod maximum;
mod minimum;
mod mish;
mod modulus;
mod mul;
mod muls;
mod neg;
mod non_max_suppression;
mod non_zero;
mod not_equal;
mod one_hot;
mod optimizers;
mod pad;
mod pool_nd;
mod pow;
mod prelu;
mod quantize;
mod random;
mod range;
mod reciprocal;
mod recurrent_steps;
mod reduce_l1;
mod reduce_l2;
mod reduce_log_sum;
mod reduce_log_sum_exp;
mod reduce_max;
mod reduce_mean;
mod reduce_min;
mod reduce_prod;
mod reduce_sum;
mod reduce_sum_square;
mod relu;
mod relu6;
mod reshape;
mod resize;
mod reverse_sequence;
mod roi;
mod roi_rotated;
mod round;
mod round_to_16_bits;
mod scatter_elements;
mod scatter_nd;
mod select;
mod selu;
mod shape;
mod shift;
mod shrink;
mod sigmoid;
mod sign;
mod signal;
mod sin;
mod sinh;
mod size;
mod softmax;
mod softplus;
mod softsign;
mod space_to_depth;
mod special;
mod split;
mod sqrt;
mod squeeze;
mod storage_type;
mod strided_slice;
mod sub;
mod swish;
mod tan;
mod tanh;
mod tensor_scatter;
mod tfidf_vectorizer;
mod thresholded_relu;
mod tile;
mod top_k;
mod transpose;
mod trilu;
mod unique;
mod unsqueeze;

/// Every operator.
pub(crate) static ALL: &[&[&Operator]] = &[
    abs::OPERATORS,
    accumulate::OPERATORS,
    acos::OPERATORS,
    acosh::OPERATORS,
    add::OPERATORS,
    aipp::OPERATORS,
    arg_max::OPERATORS,
    arg_min::OPERATORS,
    asin::OPERATORS,
    asinh::OPERATORS,
    atan::OPERATORS,
    atanh::OPERATORS,
    attention::OPERATORS,
    avg_pool::OPERATORS,
    batch_mat_mul::OPERATORS,
    batch_norm::OPERATORS,
    batch_norm_training::OPERATORS,
    bitcast::OPERATORS,
    bitwise_and::OPERATORS,
    bitwise_or::OPERATORS,
    bitwise_xor::OPERATORS,
    blocked::OPERATORS,
    cast::OPERATORS,
    ceil::OPERATORS,
    celu::OPERATORS,
    center_crop_pad::OPERATORS,
    clip_by_value::OPERATORS,
    common_rnn::OPERATORS,
    compress::OPERATORS,
    concat::OPERATORS,
    constant::OPERATORS,
    conv2d::OPERATORS,
    conv2d_filter_gradient::OPERATORS,
    conv_nd::OPERATORS,
    conv_transpose::OPERATORS,
    cos::OPERATORS,
    cosh::OPERATORS,
    cumsum::OPERATORS,
    deform_conv::OPERATORS,
    depth_to_space::OPERATORS,
    determinant::OPERATORS,
    dilation::OPERATORS,
    div::OPERATORS,
    dropout::OPERATORS,
    einsum::OPERATORS,
    elu::OPERATORS,
    equal::OPERATORS,
    erf::OPERATORS,
    erfc::OPERATORS,
    exp::OPERATORS,
    expand::OPERATORS,
    eye_like::OPERATORS,
    fill::OPERATORS,
    flatten::OPERATORS,
    floor::OPERATORS,
    gather::OPERATORS,
    gather_elements::OPERATORS,
    gather_nd::OPERATORS,
    gelu::OPERATORS,
    global_average_pool::OPERATORS,
    greater::OPERATORS,
    greater_equal::OPERATORS,
    grid_sample::OPERATORS,
    group_norm::OPERATORS,
    hard_max::OPERATORS,
    hard_sigmoid::OPERATORS,
    hard_swish::OPERATORS,
    identity::OPERATORS,
    #[cfg(feature = "image-formats")]
    image_decoder::OPERATORS,
    invert::OPERATORS,
    is_inf::OPERATORS,
    is_nan::OPERATORS,
    layer_norm::OPERATORS,
    leaky_relu::OPERATORS,
    less::OPERATORS,
    less_equal::OPERATORS,
    linear::OPERATORS,
    linear_attention::OPERATORS,
    log::OPERATORS,
    log_softmax::OPERATORS,
    logical_and::OPERATORS,
    logical_not::OPERATORS,
    logical_or::OPERATORS,
    logical_xor::OPERATORS,
    losses::OPERATORS,
    lp_normalize::OPERATORS,
    lrn::OPERATORS,
    mat_mul::OPERATORS,
    mat_mul_integer::OPERATORS,
    max_pool::OPERATORS,
    maximum::OPERATORS,
    minimum::OPERATORS,
    mish::OPERATORS,
    modulus::OPERATORS,
    mul::OPERATORS,
    muls::OPERATORS,
    storage_type::OPERATORS,
    neg::OPERATORS,
    non_max_suppression::OPERATORS,
    non_zero::OPERATORS,
    not_equal::OPERATORS,
    one_hot::OPERATORS,
    optimizers::OPERATORS,
    pad::OPERATORS,
    pool_nd::OPERATORS,
    pow::OPERATORS,
    prelu::OPERATORS,
    quantize::OPERATORS,
    random::OPERATORS,
    range::OPERATORS,
    reciprocal::OPERATORS,
    recurrent_steps::OPERATORS,
    reduce_l1::OPERATORS,
    reduce_l2::OPERATORS,
    reduce_log_sum::OPERATORS,
    reduce_log_sum_exp::OPERATORS,
    reduce_max::OPERATORS,
    reduce_mean::OPERATORS,
    reduce_min::OPERATORS,
    reduce_prod::OPERATORS,
    reduce_sum::OPERATORS,
    reduce_sum_square::OPERATORS,
    relu::OPERATORS,
    relu6::OPERATORS,
    reshape::OPERATORS,
    resize::OPERATORS,
    reverse_sequence::OPERATORS,
    roi::OPERATORS,
    roi_rotated::OPERATORS,
    round::OPERATORS,
    round_to_16_bits::OPERATORS,
    scatter_elements::OPERATORS,
    scatter_nd::OPERATORS,
    select::OPERATORS,
    selu::OPERATORS,
    shape::OPERATORS,
    shift::OPERATORS,
    shrink::OPERATORS,
    sigmoid::OPERATORS,
    sign::OPERATORS,
    signal::OPERATORS,
    sin::OPERATORS,
    sinh::OPERATORS,
    size::OPERATORS,
    softmax::OPERATORS,
    softplus::OPERATORS,
    softsign::OPERATORS,
    space_to_depth::OPERATORS,
    special::OPERATORS,
    split::OPERATORS,
    sqrt::OPERATORS,
    squeeze::OPERATORS,
    strided_slice::OPERATORS,
    sub::OPERATORS,
    swish::OPERATORS,
    tan::OPERATORS,
    tanh::OPERATORS,
    tfidf_vectorizer::OPERATORS,
    tensor_scatter::OPERATORS,
    thresholded_relu::OPERATORS,
    tile::OPERATORS,
    top_k::OPERATORS,
    transpose::OPERATORS,
    trilu::OPERATORS,
    unique::OPERATORS,
    unsqueeze::OPERATORS,
];

pub(crate) use conv2d::window_attrs;
