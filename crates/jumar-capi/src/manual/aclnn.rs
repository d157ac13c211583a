//! The functions beside single operators.

#![expect(
    clippy::missing_safety_doc,
    reason = "the C interface sets names and signatures"
)]

use std::ffi::c_void;

use jumar_acl::aclnn;

use crate::acl::Call;
use crate::raw;

/// The weight of a matrix product without a type counts as half precision.
const FLOAT16: i32 = 1;

/// Returns how many elements a weight matrix has in the layout of matrix products.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclnnCalculateMatmulWeightSize(
    shape: *mut c_void,
    elements: *mut u64,
) -> i32 {
    static CALL: Call = raw::operator::call("aclnnCalculateMatmulWeightSize");
    // SAFETY: the caller guarantees the result, as the C declaration says.
    unsafe { matmul_weight(&CALL, shape, FLOAT16, elements) }
}

/// Returns how many elements a weight matrix of a data type has in the layout of matrix products.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclnnCalculateMatmulWeightSizeV2(
    shape: *mut c_void,
    data_type: i32,
    elements: *mut u64,
) -> i32 {
    static CALL: Call = raw::operator::call("aclnnCalculateMatmulWeightSizeV2");
    // SAFETY: the caller guarantees the result, as the C declaration says.
    unsafe { matmul_weight(&CALL, shape, data_type, elements) }
}

/// # Safety
/// `elements` is null or the address of a variable.
unsafe fn matmul_weight(
    call: &'static Call,
    shape: *mut c_void,
    data_type: i32,
    elements: *mut u64,
) -> i32 {
    raw::status(call, |cx| {
        aclnn::answer(cx, || {
            // SAFETY: the caller's contract.
            let elements = unsafe { raw::Out::<u64>::new(elements, "weightTensorSize") }?;
            let counted = aclnn::matmul_weight_elements(cx, raw::handle(shape), data_type)?;
            elements.set(counted);
            Ok(())
        })
    })
}

/// Returns the shape and the format that a tensor has after a cast to a format. The caller frees the shape.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclnnNpuFormatCastCalculateSizeAndFormat(
    source: *const c_void,
    format: i32,
    additional_type: i32,
    shape: *mut *mut i64,
    shape_size: *mut u64,
    actual_format: *mut i32,
) -> i32 {
    static CALL: Call = raw::operator::call("aclnnNpuFormatCastCalculateSizeAndFormat");
    raw::status(&CALL, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(source),
                raw::ArgBits::word(format),
                raw::ArgBits::word(additional_type),
                raw::ArgBits::word(shape),
                raw::ArgBits::word(shape_size),
                raw::ArgBits::word(actual_format),
            ]
        })?;
        aclnn::answer(cx, || {
            // SAFETY: the caller guarantees that the results are null or addresses of variables.
            let shape = unsafe { raw::Out::<usize>::new(shape.cast(), "dstShape") }?;
            // SAFETY: as above.
            let shape_size = unsafe { raw::Out::<u64>::new(shape_size, "dstShapeSize") }?;
            // SAFETY: as above.
            let actual_format = unsafe { raw::Out::<i32>::new(actual_format, "actualFormat") }?;
            let ((address, count), format) =
                aclnn::format_cast_shape(cx, raw::handle(source), format, additional_type)?;
            shape.set(address);
            shape_size.set(count);
            actual_format.set(format);
            Ok(())
        })
    })
}

/// Copies the members of an array (`kind` 0: integers, 1: floats, 2: booleans) or of a list of tensors (3), as words of 64 bits. There
/// are as many as `aclGetIntArraySize` and its relatives return. Not part of the C interface: custom operators read their arguments by it.
///
/// # Safety
/// `members` is null or the address of `count` words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_aclnn_members(
    object: *const c_void,
    kind: u32,
    members: *mut u64,
    count: u64,
) -> i32 {
    static CALL: Call = raw::operator::call("jumar_aclnn_members");
    raw::status(&CALL, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(object),
                raw::ArgBits::word(kind),
                raw::ArgBits::word(members),
                raw::ArgBits::word(count),
            ]
        })?;
        // SAFETY: the caller's contract.
        let out = unsafe { raw::OutArray::<u64>::new(members, raw::count(count), "members") }?;
        let kind = aclnn::MemberKind::of(kind)?;
        let words = aclnn::members_as_words(cx, raw::handle(object), kind)?;
        out.set(&words)
    })
}

fn refuse(call: &'static Call) -> i32 {
    raw::status(call, |cx| aclnn::answer(cx, || aclnn::not_implemented(cx)))
}

/// Functions beside the operators that are not implemented: they read none of their arguments.
macro_rules! not_implemented {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> i32 {
            static CALL: Call = raw::operator::call(stringify!($name));
            refuse(&CALL)
        }
    )*};
}

not_implemented! {
    /// Would return the size of a convolution's weight in the layout of convolutions.
    aclnnCalculateConvolutionWeightSize;
    /// Would pack scales and offsets of a quantisation.
    aclnnTransQuantParam;
    /// Would compress a weight of which half of the values are zero.
    aclnnTransSparse4to2Para;
    /// Would be the second phase of barriers between processes.
    aclnnDistributeBarrierCommon;
}
