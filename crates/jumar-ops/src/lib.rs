//! Operators: one definition each, with its names, attributes, inference, kernel and test table.
//!
//! An [`Operator`] is named after the Graph Engine's IR and lists the ONNX operators that become it. Four callers end
//! here: ONNX models, Graph Engine graphs, aclop and aclnn calls. Each goes the same way:
//!
//! 1. attributes are checked against the definition ([`Attrs`], [`Operator::check_attrs`]);
//! 2. [`Operator::infer`] returns types and shapes of the outputs, and may read constant inputs;
//! 3. [`Operator::prepare`] makes a [`Kernel`] for these very shapes, which knows its scratch memory;
//! 4. [`Kernel::run`] computes, as often as wanted, on memory described by a [`Call`]. It allocates nothing and knows
//!    nothing of streams or devices.
//!
//! `unsafe` lives in [`view`] (addresses become elements) and `simd` (vector instructions), nowhere else.
#![deny(unsafe_code)]
#![cfg_attr(
    test,
    allow(
        clippy::cloned_ref_to_slice_refs,
        reason = "test tables read better with all inputs written alike"
    )
)]

mod attr;
mod call;
mod contrib;
mod derived;
mod error;
mod float;
mod infer;
pub(crate) mod kernels;
pub mod minifloat;
mod onnx;
mod operator;
mod ops;
mod registry;
mod share;
#[allow(unsafe_code, reason = "vector instructions; each block has its proof")]
pub mod simd;
mod storage_type;
#[cfg(test)]
mod table;
mod tensor;
#[allow(
    unsafe_code,
    reason = "the only module in which addresses become elements; each block has its proof"
)]
pub mod view;

/// How weights are packed for images whose channels lie in blocks, and what is packed rounded to bfloat16.
pub mod packing {
    pub use crate::kernels::blocked::{
        pack_channels, pack_depthwise, pack_filter, pack_gathered, takes_planes,
    };
    pub use crate::kernels::int8::PackedBytes;
    pub use crate::kernels::lowp::{bf16_filter, bf16_matrix};
    pub use crate::simd::blocked::LANES as CHANNEL_BLOCK;
}

/// Functions of floats, and loops compiled once for each level of vector instructions.
pub mod math {
    pub use crate::float::Float;
    pub use crate::simd::convert::{LowPrecision, convert, round, widen};
    pub use crate::simd::math::{Fast, NEAR};
    pub use crate::simd::wide::{Work, wide};
}

/// Functions of single rows, which kernels of other crates share.
pub mod rows {
    pub use crate::kernels::norm::NormalisedRow;
    pub use crate::kernels::softmax::SoftmaxRow;
}

/// Values between pixels, as deformable convolutions read them.
pub mod sampling {
    pub use crate::kernels::space::deform::{Corner, corners};
}

/// What computes products of storage numbers on this machine.
pub mod processor {
    pub use crate::simd::lowp::engines;
    pub use crate::simd::unit::{Answer, Unit, answered, ask};
    pub use crate::simd::{Instructions, limit};
}

pub use attr::{Attr, AttrDef, AttrDefault, AttrKind, Attrs};
pub use call::{BufferKind, Call, Memory, Operand};
pub use contrib::find_contrib;
pub use error::{OpError, OpErrorKind};
pub use infer::{InferCx, PrepareCx};
pub use kernels::{compute, compute_known, pack_matrix, pack_weights};
pub use onnx::{Builder, OnnxForm, OnnxNode, ValueRef};
pub use operator::{
    Aliasing, InputDef, InputKind, InputPlacement, Kernel, Operator, OutputDef, OutputView, Slot,
    Types,
};
pub use ops::{AIPP, Aipp, DYNAMIC_AIPP, MaskedSlice, PixelFormat, SliceMasks};
pub use registry::{find, find_onnx, operators};
pub use share::{Share, Workers};
pub use storage_type::StorageType;
pub use tensor::{Tensor, TensorType, UNKNOWN, UNKNOWN_RANK};
