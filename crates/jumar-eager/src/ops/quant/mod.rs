//! Quantisation and its inverse: by given scales, by the largest magnitude of rows, and behind gated activations.

mod by_rows;
mod by_scales;
mod gated;
mod packed;
mod parameters;
mod rounding;

use super::Table;

pub(crate) use packed::{Quantised, check_number, unpacked};
pub(crate) use parameters::decoded_scales;
pub(crate) use rounding::{by_largest, by_scales, limited};

pub(crate) static TABLE: &Table = &[
    ("aclnnAscendAntiQuant", by_scales::ascend_anti_quant),
    ("aclnnAscendQuant", by_scales::ascend_quant),
    ("aclnnAscendQuantV3", by_scales::ascend_quant_v3),
    ("aclnnDequantBias", by_scales::dequant_bias),
    ("aclnnDequantSwigluQuant", gated::dequant_swiglu_quant),
    ("aclnnDequantSwigluQuantV2", gated::dequant_swiglu_quant_v2),
    ("aclnnDynamicQuant", by_rows::dynamic_quant),
    ("aclnnDynamicQuantV2", by_rows::dynamic_quant_v2),
    ("aclnnDynamicQuantV3", by_rows::dynamic_quant_v3),
    (
        "aclnnFakeQuantPerChannelAffineCachemask",
        by_scales::fake_quant_channels,
    ),
    (
        "aclnnFakeQuantPerTensorAffineCachemask",
        by_scales::fake_quant_tensor,
    ),
    ("aclnnGroupQuant", by_scales::group_quant),
    ("aclnnQuantize", by_scales::quantize),
    ("aclnnTransQuantParamV2", parameters::trans_quant_param),
    ("aclnnTransQuantParamV3", parameters::trans_quant_param_v3),
];
