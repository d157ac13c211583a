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
    (
        "aclnnFlashAttentionScore",
        &["softmaxMaxOut", "softmaxSumOut", "softmaxOutOut"],
    ),
    ("aclnnFlashAttentionScoreGrad", &["dpseOut"]),
    (
        "aclnnLayerNormBackward",
        &["gradInputOut", "gradWeightOut", "gradBiasOut"],
    ),
    ("aclnnMaxPool2dWithMask", &["indices"]),
    ("aclnnMaxPool2dWithMaskBackward", &["indices"]),
    ("aclnnSearchSorted", &["sorter"]),
];

impl Param {
    /// Reports whether the parameter of an operator may be null.
    pub(crate) fn is_nullable(&self, operator: &str) -> bool {
        self.optional
            || self.name.contains("ptional")
            || NULLABLE
                .iter()
                .any(|(name, params)| *name == operator && params.contains(&self.name))
    }
}
