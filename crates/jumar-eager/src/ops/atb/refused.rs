//! Why a call of an operation is refused.

use crate::Refusal;

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// The status that a call returns, as the interface numbers them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i32)]
        pub enum Status { $($(#[$doc])* $name = $code,)* }

        impl Status {
            /// Lists all.
            pub const ALL: &'static [Status] = &[$(Status::$name,)*];

            /// Returns the name in the headers.
            pub const fn name(self) -> &'static str {
                match self { $(Status::$name => $text,)* }
            }
        }
    };
}

statuses! {
    /// A parameter of an operation.
    InvalidParam = 1, "ERROR_INVALID_PARAM";
    /// A graph whose nodes do not fit each other.
    InvalidGraph = 2, "ERROR_INVALID_GRAPH";
    /// A defect of Jumar.
    Internal = 3, "ERROR_INTERNAL_ERROR";
    /// A call of the runtime failed.
    Runtime = 4, "ERROR_RT_FAIL";
    /// The number of inputs.
    InTensorNum = 5, "ERROR_INVALID_IN_TENSOR_NUM";
    /// An element type that is not one of those of the tensor.
    TensorDtype = 6, "ERROR_INVALID_TENSOR_DTYPE";
    /// A format.
    TensorFormat = 7, "ERROR_INVALID_TENSOR_FORMAT";
    /// A shape.
    TensorDim = 8, "ERROR_INVALID_TENSOR_DIM";
    /// The number of bytes of a tensor.
    TensorSize = 9, "ERROR_INVALID_TENSOR_SIZE";
    /// A function that finds the outputs of a graph.
    InferShapeFunction = 11, "ERROR_GRAPH_INFERSHAPE_FUNC_FAIL";
    /// A type that does not fit the other tensors, or a combination that is not computed.
    Combination = 13, "ERROR_INVALID_TENSOR_INI_MATCH";
    /// An address that is missing or cannot be used.
    TensorAddress = 14, "ERROR_INVALID_TENSOR_ADDR";
    /// The number of outputs.
    OutTensorNum = 15, "ERROR_INVALID_TENSOR_NUM";
    /// The number of dimensions.
    TensorDimNum = 16, "ERROR_INVALID_TENSOR_DIM_NUM";
    /// A function that reshapes an input of a node.
    ReshapeFunction = 18, "ERROR_GRAPH_NODE_RESHAPE_FUNC_FAIL";
    /// A part of a tensor that a node does not have.
    Chunk = 19, "ERROR_INVALID_GRAPH_NODE_CHUNK";
    /// A null context.
    ContextAddress = 20, "ERROR_INVALID_CONTEXT_ADDR";
    /// A stream that was not set, or does not exist.
    Stream = 21, "ERROR_INVALID_STREAM";
    /// A workspace that is too small.
    WorkspaceSize = 22, "ERROR_INVALID_WORKSPACE_SIZE";
    /// A workspace that is null or cannot be used.
    WorkspaceAddress = 23, "ERROR_INVALID_WORKSPACE_ADDR";
    /// An operation that is null or was destroyed.
    OperationAddress = 24, "ERROR_INVALID_OPERATION_ADDR";
    /// No memory is left on the host.
    HostMemory = 27, "ERROR_OUT_OF_HOST_MEMORY";
}

/// A refusal: a status, and a sentence that names the object, what was wanted and what was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The status.
    pub status: Status,
    /// The sentence.
    pub text: String,
    /// What the caller can do.
    pub fix: &'static str,
}

/// What a caller can do about a tensor of the wrong shape or type.
const TENSOR: &str =
    "Change the tensor that the message names. docs/atb.md lists the tensors of each operation.";
/// What a caller can do about a parameter.
const PARAM: &str =
    "Change the parameter that the message names. docs/atb.md lists what is supported.";

impl Refused {
    /// Creates a refusal of a tensor.
    #[cold]
    pub fn new(status: Status, text: impl Into<String>) -> Refused {
        Refused {
            status,
            text: text.into(),
            fix: TENSOR,
        }
    }

    /// Creates the refusal of a parameter.
    #[cold]
    pub fn param(text: impl Into<String>) -> Refused {
        Refused {
            status: Status::InvalidParam,
            text: text.into(),
            fix: PARAM,
        }
    }

    /// Sets what the caller can do.
    #[cold]
    #[must_use]
    pub fn with_fix(mut self, fix: &'static str) -> Refused {
        self.fix = fix;
        self
    }
}

/// What a plan refuses. Types, ranks and addresses were checked before: what is left are shapes that do not fit each other.
impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        let status = match refusal.status() {
            crate::Status::Invalid | crate::Status::InferShape | crate::Status::Tiling => {
                Status::TensorDim
            }
            crate::Status::NullPointer | crate::Status::InnerNull => Status::TensorAddress,
            crate::Status::NoKernel => Status::Combination,
            crate::Status::Runtime => Status::Runtime,
            crate::Status::Inner => Status::Internal,
        };
        Refused::new(status, refusal.text())
    }
}
