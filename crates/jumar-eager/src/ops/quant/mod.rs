//! Quantisation and its inverse: by given scales, by the largest magnitude of rows, and behind gated activations.

mod behind;
mod blocks;
mod by_rows;
mod by_scales;
mod encoding;
mod gated;
mod maximum;
pub(crate) mod mx;
mod packed;
mod parameters;
mod rounding;
mod swiglu;

use super::Table;

pub(crate) use by_rows::symmetric;
pub(crate) use by_scales::{Factor, quantised};
pub(crate) use encoding::{EncodedOutput, Encoding, decoded, rounding_to, usual_rounding};
pub(crate) use packed::{QuantisedOutput, check_number, unpacked};
pub(crate) use parameters::decoded_scales;
pub(crate) use rounding::{by_largest, by_scales, limited};

pub(crate) static TABLE: &Table = &[
    ("aclnnAntiMxQuant", mx::inverse),
    ("aclnnAscendAntiQuant", by_scales::ascend_anti_quant),
    ("aclnnAscendQuant", by_scales::ascend_quant),
    ("aclnnAscendQuantV3", by_scales::ascend_quant_v3),
    ("aclnnDequantBias", by_scales::dequant_bias),
    ("aclnnDequantSwigluQuant", gated::dequant_swiglu_quant),
    ("aclnnDequantSwigluQuantV2", gated::dequant_swiglu_quant_v2),
    ("aclnnDynamicBlockMxQuant", blocks::powers),
    ("aclnnDynamicBlockQuant", blocks::first),
    ("aclnnDynamicBlockQuantV2", blocks::second),
    ("aclnnDynamicDualLevelMxQuant", mx::two_levels),
    ("aclnnDynamicMxQuant", mx::first),
    ("aclnnDynamicMxQuantV2", mx::second),
    ("aclnnDynamicMxQuantV3", mx::third),
    ("aclnnDynamicMxQuantWithDualAxis", mx::dual),
    ("aclnnDynamicMxQuantWithDualAxisV2", mx::dual_v2),
    ("aclnnDynamicQuant", by_rows::dynamic_quant),
    ("aclnnDynamicQuantV2", by_rows::dynamic_quant_v2),
    ("aclnnDynamicQuantV3", by_rows::dynamic_quant_v3),
    ("aclnnDynamicQuantV4", by_rows::dynamic_quant_v4),
    (
        "aclnnFakeQuantPerChannelAffineCachemask",
        by_scales::fake_quant_channels,
    ),
    (
        "aclnnFakeQuantPerTensorAffineCachemask",
        by_scales::fake_quant_tensor,
    ),
    ("aclnnFlatQuant", behind::flat),
    ("aclnnFlatQuantV2", behind::flat_v2),
    ("aclnnGeluQuant", behind::gelu),
    ("aclnnGroupQuant", by_scales::group_quant),
    ("aclnnGroupedDynamicBlockQuant", blocks::grouped),
    ("aclnnGroupedDynamicBlockQuantV2", blocks::grouped_v2),
    ("aclnnGroupedDynamicMxQuant", mx::grouped),
    ("aclnnGroupedDynamicMxQuantV2", mx::grouped_v2),
    ("aclnnGroupedQuantMax", maximum::grouped),
    ("aclnnInplaceQuantScatter", behind::scatter),
    ("aclnnInplaceQuantScatterV2", behind::scatter_v2),
    ("aclnnQuantMax", maximum::all),
    ("aclnnRotateQuant", behind::rotate),
    ("aclnnQuantize", by_scales::quantize),
    ("aclnnSwiGluQuant", gated::swiglu_quant),
    ("aclnnSwiGluQuantV2", gated::swiglu_quant_v2),
    (
        "aclnnSwigluBackwardMxQuantWithDualAxis",
        swiglu::backward_dual,
    ),
    ("aclnnSwigluGroupQuant", swiglu::group_quant),
    ("aclnnSwigluGroupQuantGrad", swiglu::group_quant_gradient),
    ("aclnnSwigluMxQuant", swiglu::mx_quant),
    ("aclnnSwigluMxQuantWithDualAxis", swiglu::mx_quant_dual),
    ("aclnnTransQuantParamV2", parameters::trans_quant_param),
    ("aclnnTransQuantParamV3", parameters::trans_quant_param_v3),
];
