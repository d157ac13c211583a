//! The parameters of operators.

/// What a parameter is in the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// `aclTensor*`.
    Tensor,
    /// `aclTensorList*`.
    Tensors,
    /// `aclScalar*`.
    Scalar,
    /// `aclScalarList*`.
    Scalars,
    /// `aclIntArray*`.
    Ints,
    /// `aclFloatArray*`.
    Floats,
    /// `aclBoolArray*`.
    Bools,
    /// An integer of any width.
    Int,
    /// `float` or `double`.
    Float,
    /// `bool`.
    Bool,
    /// `char*`.
    Text,
    /// `aclDataType`.
    Type,
}

/// Whether the operator reads a tensor, writes it, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    /// Read.
    In,
    /// Written.
    Out,
    /// Read and written: `…Ref` parameters.
    InOut,
}

/// One parameter of the first phase.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The name in the header.
    pub name: &'static str,
    /// The kind.
    pub kind: ParamKind,
    /// Whether it may be null.
    pub optional: bool,
    /// Whether it is read or written.
    pub io: Io,
}

/// The first phase of one operator, without its last two parameters.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The name of the operator: `aclnnAdd`.
    pub name: &'static str,
    /// The parameters, in order.
    pub params: &'static [Param],
}

/// Parameters that may be null although their headers do not say so: operators document it, or programs rely on it.
const NULLABLE: &[(&str, &[&str])] = &[
    ("aclnnAllGatherMatmul", &["gatherOut"]),
    ("aclnnFFN", FEED_FORWARD),
    ("aclnnFFNV2", FEED_FORWARD),
    ("aclnnTopKTopPSample", &["q", "logitsTopKPSelect"]),
    (
        "aclnnTopKTopPSampleV2",
        &[
            "q",
            "minPs",
            "logitsSelectIdx",
            "logitsTopKPSelect",
            "logitsIdx",
            "logitsSortMasked",
        ],
    ),
    ("aclnnDropoutV3", &["optionalNoiseShape"]),
    ("aclnnDequantRopeQuantKvcache", &["kOut", "vOut"]),
    ("aclnnDistributeBarrierV2", &["timeOut", "elasticInfo"]),
    ("aclnnMatmulAllReduce", REDUCED_PRODUCT),
    ("aclnnMatmulAllReduceV2", REDUCED_PRODUCT),
    ("aclnnMatmulReduceScatter", REDUCED_PRODUCT),
    (
        "aclnnMoeDistributeCombine",
        &[
            "tpSendCounts",
            "xActiveMask",
            "activationScale",
            "weightScale",
            "groupList",
            "expandScales",
            "groupTp",
        ],
    ),
    ("aclnnMoeDistributeCombineAddRmsNorm", DISTRIBUTED),
    ("aclnnMoeDistributeCombineAddRmsNormV2", DISTRIBUTED),
    ("aclnnMoeDistributeCombineV2", DISTRIBUTED),
    ("aclnnMoeDistributeCombineV3", DISTRIBUTED),
    (
        "aclnnMoeDistributeDispatch",
        &[
            "scales",
            "xActiveMask",
            "expertScales",
            "groupTp",
            "dynamicScales",
            "tpRecvCounts",
            "expandScales",
        ],
    ),
    ("aclnnMoeDistributeDispatchV2", DISTRIBUTED),
    ("aclnnMoeDistributeDispatchV3", DISTRIBUTED),
    ("aclnnMoeTokenUnpermuteWithRoutingMap", &["permuteProbs"]),
    ("aclnnQuantMatmulAllReduce", REDUCED_PRODUCT),
    ("aclnnQuantMatmulAllReduceV2", REDUCED_PRODUCT),
    ("aclnnQuantMatmulAllReduceV3", REDUCED_PRODUCT),
    ("aclnnQuantMatmulAllReduceV4", REDUCED_PRODUCT),
    ("aclnnWeightQuantMatmulAllReduce", REDUCED_PRODUCT),
    ("aclnnApplyTopKTopP", &["p", "k"]),
    ("aclnnBatchNormElemtBackward", &["weight"]),
    (
        "aclnnBatchNormGatherStatsWithCounts",
        &["runningMean", "runningVar"],
    ),
    (
        "aclnnBatchNormReduceBackward",
        &["weight", "sumDy", "sumDyXmu", "gradWeight", "gradBias"],
    ),
    ("aclnnConvDepthwise2d", &["bias"]),
    ("aclnnCrossEntropyLoss", &["zlossOut", "lseForZlossOut"]),
    ("aclnnFusedMatmul", &["bias", "x3"]),
    ("aclnnGroupNormSwishGrad", &["dgammaOut", "dbetaOut"]),
    ("aclnnScale", &["bias"]),
    ("aclnnSearchSorteds", &["sorter"]),
    ("aclnnAddRmsNormDynamicQuantV2", &["outputMask"]),
    ("aclnnApplyAdamWV2", &["maxGradNormOptionalRef"]),
    ("aclnnAddRmsNormCast", &["rstdOut", "xOut"]),
    ("aclnnAddRmsNorm", &["rstdOut", "xOut"]),
    ("aclnnAscendAntiQuant", &["offset"]),
    ("aclnnAscendQuant", &["offset", "roundMode"]),
    ("aclnnAscendQuantV3", &["offset", "roundMode"]),
    (
        "aclnnBatchNorm",
        &[
            "weight",
            "bias",
            "runningMean",
            "runningVar",
            "saveMean",
            "saveInvstd",
        ],
    ),
    (
        "aclnnBatchNormBackward",
        &[
            "weight",
            "runningMean",
            "runningVar",
            "saveMean",
            "saveInvstd",
            "gradInput",
            "gradWeight",
            "gradBias",
        ],
    ),
    ("aclnnBinaryCrossEntropy", &["weight"]),
    ("aclnnBincount", &["weights"]),
    ("aclnnClamp", &["clipValueMin", "clipValueMax"]),
    ("aclnnClampTensor", &["clipValueMin", "clipValueMax"]),
    (
        "aclnnConvolutionBackward",
        &["biasSizes", "gradInput", "gradWeight", "gradBias"],
    ),
    ("aclnnDynamicQuantV2", &["scaleOut", "offsetOut"]),
    ("aclnnDynamicQuantV3", &["scaleOut", "offsetOut"]),
    ("aclnnEmbeddingBag", &["perSampleWeights"]),
    (
        "aclnnFlashAttentionScore",
        &["softmaxMaxOut", "softmaxSumOut", "softmaxOutOut"],
    ),
    ("aclnnFlashAttentionScoreGrad", &["dpseOut"]),
    ("aclnnFlashAttentionScoreGradV2", &["dpseOut"]),
    ("aclnnFlashAttentionUnpaddingScoreGrad", &["dpseOut"]),
    ("aclnnFlashAttentionUnpaddingScoreGradV2", &["dpseOut"]),
    ("aclnnFlashAttentionUnpaddingScoreGradV3", &["dpseOut"]),
    ("aclnnFlashAttentionUnpaddingScoreGradV4", &["dpseOut"]),
    ("aclnnGridSampler2DBackward", &["inputGrad", "gridGrad"]),
    ("aclnnGridSampler3DBackward", &["inputGrad", "gridGrad"]),
    ("aclnnGroupNorm", &["gamma", "beta"]),
    (
        "aclnnGRU",
        &["hx", "batchSizes", "rOut", "zOut", "nOut", "hnOut", "hOut"],
    ),
    (
        "aclnnGRUBackward",
        &["dy", "dh", "batchSizes", "dparamsOut"],
    ),
    (
        "aclnnGroupNormBackward",
        &["gamma", "gradInput", "gradGammaOut", "gradBetaOut"],
    ),
    (
        "aclnnFlashAttentionScoreV2",
        &["softmaxMaxOut", "softmaxSumOut", "softmaxOutOut"],
    ),
    (
        "aclnnFlashAttentionVarLenScore",
        &["softmaxMaxOut", "softmaxSumOut", "softmaxOutOut"],
    ),
    (
        "aclnnFlashAttentionVarLenScoreV2",
        &["softmaxMaxOut", "softmaxSumOut", "softmaxOutOut"],
    ),
    (
        "aclnnFlashAttentionVarLenScoreV3",
        &["softmaxMaxOut", "softmaxSumOut", "softmaxOutOut"],
    ),
    (
        "aclnnFlashAttentionVarLenScoreV4",
        &["softmaxMaxOut", "softmaxSumOut", "softmaxOutOut"],
    ),
    ("aclnnFusedInferAttentionScore", FUSED_ATTENTION),
    ("aclnnFusedInferAttentionScoreV2", &["softmaxLse"]),
    ("aclnnFusedInferAttentionScoreV3", &["softmaxLse"]),
    ("aclnnFusedInferAttentionScoreV4", &["softmaxLse"]),
    ("aclnnGroupedMatmul", &["groupListOptional"]),
    ("aclnnGroupNormSilu", &["gamma", "beta"]),
    ("aclnnGroupNormSiluV2", &["gamma", "beta"]),
    ("aclnnIncreFlashAttention", INCREMENTAL_ATTENTION),
    ("aclnnIncreFlashAttentionV2", INCREMENTAL_ATTENTION),
    ("aclnnIncreFlashAttentionV3", INCREMENTAL_ATTENTION),
    ("aclnnIncreFlashAttentionV4", INCREMENTAL_ATTENTION),
    (
        "aclnnLayerNormBackward",
        &["gradInputOut", "gradWeightOut", "gradBiasOut"],
    ),
    (
        "aclnnLSTM",
        &[
            "hx",
            "batchSizes",
            "iOut",
            "jOut",
            "fOut",
            "oOut",
            "hOut",
            "cOut",
            "tanhCOut",
        ],
    ),
    (
        "aclnnLstmBackward",
        &["dy", "dh", "dc", "outputMask", "dparamsOut"],
    ),
    ("aclnnMaxPool2dWithMask", &["indices"]),
    ("aclnnMaxPool2dWithMaskBackward", &["indices"]),
    ("aclnnMoeGatingTopK", &["outOut"]),
    (
        "aclnnMoeTokenUnpermuteGrad",
        &["permutedTokens", "probsGradOut"],
    ),
    ("aclnnPromptFlashAttention", PROMPT_ATTENTION),
    ("aclnnPromptFlashAttentionV2", PROMPT_ATTENTION),
    ("aclnnPromptFlashAttentionV3", PROMPT_ATTENTION),
    ("aclnnQuantMatmul", QUANTISED_PRODUCT),
    ("aclnnQuantMatmulV2", QUANTISED_PRODUCT),
    ("aclnnQuantMatmulV3", QUANTISED_PRODUCT),
    ("aclnnQuantMatmulV4", QUANTISED_PRODUCT),
    ("aclnnQuantMatmulV5", QUANTISED_PRODUCT),
    ("aclnnQuantMatmulWeightNz", QUANTISED_PRODUCT),
    ("aclnnQuantize", &["zeroPoints"]),
    ("aclnnRmsNorm", &["rstdOut"]),
    ("aclnnRmsNormQuant", &["beta", "offset"]),
    ("aclnnRopeWithSinCosCache", &["mropeSection"]),
    ("aclnnRotaryPositionEmbeddingGrad", &["dcosOut", "dsinOut"]),
    ("aclnnSearchSorted", &["sorter"]),
    ("aclnnSvd", &["u", "v"]),
    ("aclnnThnnFusedLstmCellBackward", &["gradBiasOut"]),
    (
        "aclnnTransposeBatchMatMul",
        &["scale", "permX1", "permX2", "permY"],
    ),
    (
        "aclnnTransposeBatchMatMulWeightNz",
        &["scale", "permX1", "permX2", "permY"],
    ),
    ("aclnnTransQuantParamV2", &["offset"]),
    ("aclnnTransQuantParamV3", &["offset"]),
    ("aclnnUniqueConsecutive", &["inverseOut", "countsOut"]),
    ("aclnnUniqueDim", &["inverseOut"]),
    ("aclnnAddRmsNormDynamicMxQuant", &["beta", "rstdOut"]),
    ("aclnnDynamicQuantV4", &["scaleOut", "offsetOut"]),
    (
        "aclnnGroupedMatmulFinalizeRoutingV3",
        &["tuningConfigOptional"],
    ),
    (
        "aclnnGroupedMatmulFinalizeRoutingWeightNzV2",
        &["tuningConfigOptional"],
    ),
    ("aclnnGroupedMatmulSwigluQuant", &["offset", "outputOffset"]),
    (
        "aclnnGroupedMatmulSwigluQuantWeightNZ",
        &["offset", "outputOffset"],
    ),
    ("aclnnInplaceQuantScatter", &["quantZeroPoints"]),
    ("aclnnInplaceQuantScatterV2", &["quantZeroPoints"]),
    (
        "aclnnQuantConvolution",
        &["offset", "outputPadding", "roundMode"],
    ),
    ("aclnnRotateQuant", &["alpha", "roundMode"]),
    (
        "aclnnQuantMatmulReduceSumWeightNz",
        &["yScale", "x1Offset", "x2Offset", "yOffset"],
    ),
    ("aclnnRmsNormDynamicMxQuant", &["beta", "rstdOut"]),
    ("aclnnRmsNormQuantV3", &["offset", "beta", "rstd"]),
    ("aclnnTransposeQuantBatchMatMul", &["permX2"]),
    ("aclnnTransposeQuantBatchMatMulWeightNz", &["permX2"]),
];

const FEED_FORWARD: &[&str] = &[
    "expertTokens",
    "bias1",
    "bias2",
    "scale",
    "offset",
    "deqScale1",
    "deqScale2",
    "antiquantScale1",
    "antiquantScale2",
    "antiquantOffset1",
    "antiquantOffset2",
];

const DISTRIBUTED: &[&str] = &[
    "groupTp",
    "commAlg",
    "dynamicScalesOut",
    "tpRecvCountsOut",
    "expandScalesOut",
];

const REDUCED_PRODUCT: &[&str] = &["antiquantOffset", "reduceOp", "x3"];

const PROMPT_ATTENTION: &[&str] = &[
    "pseShift",
    "attenMask",
    "actualSeqLengths",
    "actualSeqLengthsKv",
    "deqScale1",
    "quantScale1",
    "deqScale2",
    "quantScale2",
    "quantOffset2",
];

const INCREMENTAL_ATTENTION: &[&str] = &[
    "pseShift",
    "attenMask",
    "actualSeqLengths",
    "dequantScale1",
    "quantScale1",
    "dequantScale2",
    "quantScale2",
    "quantOffset2",
    "antiquantScale",
    "antiquantOffset",
    "blocktable",
    "kvPaddingSize",
];

const FUSED_ATTENTION: &[&str] = &[
    "pseShift",
    "attenMask",
    "actualSeqLengths",
    "actualSeqLengthsKv",
    "deqScale1",
    "quantScale1",
    "deqScale2",
    "quantScale2",
    "quantOffset2",
    "antiquantScale",
    "antiquantOffset",
    "blockTable",
    "queryPaddingSize",
    "kvPaddingSize",
    "softmaxLse",
];

const QUANTISED_PRODUCT: &[&str] = &[
    "bias", "offset", "x1Scale", "yScale", "x1Offset", "x2Offset", "yOffset",
];

/// Words in the names of operators that touch the elements which their data select, such as the rows of a table, the filled
/// part of a cache, or what a mask shows.
const SELECTING: &[&str] = &[
    "Cache",
    "Embedding",
    "FusedInfer",
    "Gather",
    "Incre",
    "Index",
    "Masked",
    "Paged",
    "Prompt",
    "Put",
    "Scatter",
    "Take",
];

/// Parameters of these operators that are read as a whole.
const SELECTORS: &[&str] = &["index", "indices", "mask"];

impl Param {
    /// Reports whether data decide which elements of the parameter an operator reads.
    pub fn is_selected(&self, operator: &str) -> bool {
        SELECTING.iter().any(|word| operator.contains(word)) && !SELECTORS.contains(&self.name)
    }

    /// Reports whether the parameter is the name of a communicator.
    pub fn is_group(&self) -> bool {
        self.kind == ParamKind::Text && self.name.starts_with("group")
    }

    /// Reports whether the parameter of an operator may be null.
    pub(crate) fn is_nullable(&self, operator: &str) -> bool {
        self.optional
            || self.name.contains("ptional")
            || NULLABLE
                .iter()
                .any(|(name, params)| *name == operator && params.contains(&self.name))
    }
}
