//! The parameters of operators.

use jumar_types::dtype::DataType;

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
    /// The element types that a tensor, or a member of a list, may have.
    pub types: Types,
}

/// A set of element types.
///
/// # Source
///
/// `api/aclnn/types.json` says for each parameter which types its operator accepts, and where that is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u64);

impl Types {
    /// Every type: nothing is known about the parameter, or the operator itself decides.
    pub const ANY: Types = Types(u64::MAX);

    /// Creates a set from bits: bit `n` stands for the type that `aclDataType` numbers `n`.
    pub const fn of_bits(bits: u64) -> Types {
        Types(bits)
    }

    /// Reports whether a type is in the set.
    #[inline]
    pub const fn contains(self, dtype: DataType) -> bool {
        self.0 >> dtype.acl() & 1 != 0
    }

    /// Returns the types, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = DataType> {
        let all = DataType::ALL.iter().copied();
        all.filter(move |dtype| self.contains(*dtype))
    }
}

/// The first phase of one operator, without its last two parameters.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The name of the operator: `aclnnAdd`.
    pub name: &'static str,
    /// The parameters, in order.
    pub params: &'static [Param],
}

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
}
