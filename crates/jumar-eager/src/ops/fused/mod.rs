//! Operators that join several: normalization with additions, activations and quantisations, and rotations by position.

mod heads;
mod kv_cache;
mod layer;
mod layer_gradient;
mod rms;
mod rotary;
mod softmax;

use super::{Table, gates};

pub(crate) use rms::norm_of_form;
pub(crate) use rotary::{Pairing, rotate};

pub(crate) static TABLE: &Table = &[
    ("aclnnAddLayerNorm", layer::add_layer_norm),
    ("aclnnAddLayerNormGrad", layer_gradient::add_layer_norm_grad),
    ("aclnnAddRmsNorm", rms::add),
    ("aclnnAddRmsNormBias", rms::add_bias),
    ("aclnnAddRmsNormCast", rms::add_cast),
    ("aclnnAddRmsNormDynamicMxQuant", rms::add_mx_quant),
    ("aclnnAddRmsNormDynamicQuant", rms::add_dynamic),
    ("aclnnAddRmsNormDynamicQuantV2", rms::add_dynamic_v2),
    ("aclnnAddRmsNormQuant", rms::add_quant),
    ("aclnnAddRmsNormQuantV2", rms::add_quant_v2),
    ("aclnnApplyRotaryPosEmb", rotary::apply),
    ("aclnnApplyRotaryPosEmbV2", rotary::apply_v2),
    ("aclnnClippedSwiglu", gates::clipped),
    ("aclnnDeepNorm", layer::deep_norm),
    ("aclnnDeepNormGrad", layer_gradient::deep_norm_grad),
    (
        "aclnnDequantRopeQuantKvcache",
        kv_cache::rotate_and_quantise,
    ),
    ("aclnnFastLayerNorm", layer::fast_layer_norm),
    ("aclnnGeluMul", gates::gelu_mul),
    ("aclnnGemmaRmsNorm", rms::gemma),
    ("aclnnGroupNormSilu", layer::group_norm_silu),
    ("aclnnGroupNormSiluV2", layer::group_norm_silu_v2),
    ("aclnnGroupNormSwish", layer::group_norm_swish),
    ("aclnnInplaceAddRmsNorm", rms::add_in_place),
    ("aclnnInterleaveRope", rotary::interleaved),
    ("aclnnMaskedSoftmaxWithRelPosBias", heads::softmax_with_bias),
    ("aclnnRmsNorm", rms::rms_norm),
    ("aclnnRmsNormDynamicMxQuant", rms::mx_quant),
    ("aclnnRmsNormDynamicQuant", rms::dynamic),
    ("aclnnRmsNormGrad", layer::rms_norm_grad),
    ("aclnnRmsNormGradQuant", layer::rms_norm_grad_quant),
    ("aclnnRmsNormQuant", rms::quant),
    ("aclnnRmsNormQuantV3", rms::quant_v3),
    ("aclnnRopeWithSinCosCache", rotary::by_cache),
    ("aclnnRotaryPositionEmbedding", rotary::embedding),
    (
        "aclnnRotaryPositionEmbeddingGrad",
        rotary::embedding_backward,
    ),
    ("aclnnScaledMaskedSoftmax", softmax::scaled_masked),
    (
        "aclnnScaledMaskedSoftmaxBackward",
        softmax::scaled_masked_backward,
    ),
    ("aclnnTransformBiasRescaleQkv", heads::split),
];
