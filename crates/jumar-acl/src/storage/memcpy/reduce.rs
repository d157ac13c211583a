//! Reductions in memory.

use jumar::engine::{ReduceKind, ReduceType};
use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

fn type_of(data_type: i32) -> Result<ReduceType> {
    Ok(match data_type {
        enums::ACL_FLOAT => ReduceType::Float32,
        enums::ACL_FLOAT16 => ReduceType::Float16,
        enums::ACL_BF16 => ReduceType::BFloat16,
        enums::ACL_INT8 => ReduceType::Int8,
        enums::ACL_INT16 => ReduceType::Int16,
        enums::ACL_INT32 => ReduceType::Int32,
        enums::ACL_UINT8 => ReduceType::UInt8,
        enums::ACL_UINT16 => ReduceType::UInt16,
        enums::ACL_UINT32 => ReduceType::UInt32,
        other => {
            let name = enums::name_of("aclDataType", i64::from(other))
                .unwrap_or("no value of aclDataType");
            return refuse(
                ErrorKind::FeatureUnsupported,
                format!("arrays of type {other} ({name}) are not reduced in memory"),
            );
        }
    })
}

/// `count` is the length of the arrays in bytes, as for every copy.
#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclrtReduceAsync(
    cx: &Cx<'_>,
    to: usize,
    from: usize,
    count: u64,
    kind: u32,
    data_type: i32,
    stream: Raw,
    reserved: usize,
) -> Result<()> {
    for (address, name) in [(to, "dst"), (from, "src")] {
        if address == 0 {
            return Err(null(name));
        }
    }
    if reserved != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            "reserve is reserved and has to be null",
        );
    }
    let kind = match kind {
        enums::ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM => ReduceKind::Sum,
        enums::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX => ReduceKind::Max,
        enums::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN => ReduceKind::Min,
        enums::ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL => {
            return refuse(
                ErrorKind::FeatureUnsupported,
                "the kind ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL is not reduced in memory",
            );
        }
        other => {
            return refuse(
                ErrorKind::InvalidValue,
                crate::not_a_value("aclrtReduceKind", other),
            );
        }
    };
    let of = type_of(data_type)?;
    if count == 0 || !count.is_multiple_of(of.bytes() as u64) {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "{count} bytes are not a positive multiple of the element size of {} bytes",
                of.bytes()
            ),
        );
    }
    let elements = count / of.bytes() as u64;
    cx.with_stream(stream, |stream| {
        stream.reduce(to, from, elements, kind, of, &cx.caller())
    })
}
