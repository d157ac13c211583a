//! Random numbers.

use jumar::engine::{Distribution, NumberType, RandomNumbers, Stream, Value};
use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

fn type_of(data_type: i32) -> Result<NumberType> {
    Ok(match data_type {
        enums::ACL_INT32 => NumberType::Int32,
        enums::ACL_INT64 => NumberType::Int64,
        enums::ACL_UINT32 => NumberType::UInt32,
        enums::ACL_UINT64 => NumberType::UInt64,
        enums::ACL_BF16 => NumberType::BFloat16,
        enums::ACL_FLOAT16 => NumberType::Float16,
        enums::ACL_FLOAT => NumberType::Float32,
        other => {
            let name = enums::name_of("aclDataType", i64::from(other))
                .unwrap_or("no value of aclDataType");
            return refuse(
                ErrorKind::InvalidArgument,
                format!("random numbers of type {other} ({name}) are not supported"),
            );
        }
    })
}

/// Reads a parameter: the number itself, or where device memory holds it. `bytes`: the length that it has to have.
fn value(
    stream: &Stream,
    parameter: &types::aclrtRandomParaInfo,
    bytes: Option<usize>,
    name: &str,
) -> Result<Value> {
    let size = usize::from(parameter.size);
    if size == 0 || size > 8 || bytes.is_some_and(|bytes| bytes != size) {
        let wanted = bytes.map_or_else(|| "1 to 8".to_owned(), |bytes| bytes.to_string());
        return refuse(
            ErrorKind::InvalidValue,
            format!("the size of {name} is {size} bytes; it must be {wanted}"),
        );
    }
    match parameter.isAddr {
        0 => {
            let mut own = [0; 8];
            own[..size].copy_from_slice(&parameter.valueOrAddr[..size]);
            Ok(Value::Given(own))
        }
        1 => {
            let address = u64::from_ne_bytes(parameter.valueOrAddr) as usize;
            stream.device_range(address, size, name).map(Value::At)
        }
        other => refuse(
            ErrorKind::InvalidValue,
            format!("isAddr of {name} is {other}; it must be 0 or 1"),
        ),
    }
}

/// Reads parameter `index` of those that the union holds one after the other.
fn parameter(task: &types::aclrtRandomNumTaskInfo, index: usize) -> types::aclrtRandomParaInfo {
    const SIZE: usize = size_of::<types::aclrtRandomParaInfo>();
    let bytes = &task.randomNumFuncParaInfo.paramInfo.bytes[index * SIZE..(index + 1) * SIZE];
    let mut parameter = types::aclrtRandomParaInfo::ZERO;
    parameter.isAddr = bytes[0];
    parameter.valueOrAddr.copy_from_slice(&bytes[1..9]);
    parameter.size = bytes[9];
    parameter
}

/// `randomParaAddr` is scratch memory for the card, and not used.
pub fn aclrtRandomNumAsync(
    cx: &Cx<'_>,
    task: Option<&types::aclrtRandomNumTaskInfo>,
    stream: Raw,
    reserved: usize,
) -> Result<()> {
    let task = task.ok_or_else(|| null("taskInfo"))?;
    if reserved != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            "reserve is reserved and has to be null",
        );
    }
    let of = type_of(task.dataType)?;
    if task.randomResultAddr == 0 {
        return Err(null("randomResultAddr"));
    }
    let function = task.randomNumFuncParaInfo.funcType;
    if of.is_integer() && function != enums::ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS {
        return refuse(
            ErrorKind::InvalidValue,
            format!("distribution {function} does not support integers"),
        );
    }
    cx.with_stream(stream, |stream| {
        let number = |index, name| value(stream, &parameter(task, index), Some(of.bytes()), name);
        let distribution = match function {
            enums::ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK => Distribution::Dropout {
                ratio: number(0, "dropoutRation")?,
            },
            enums::ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS => Distribution::Uniform {
                min: number(0, "min")?,
                max: number(1, "max")?,
            },
            enums::ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS => Distribution::Normal {
                mean: number(0, "mean")?,
                deviation: number(1, "stddev")?,
            },
            enums::ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS => {
                Distribution::TruncatedNormal {
                    mean: number(0, "mean")?,
                    deviation: number(1, "stddev")?,
                }
            }
            other => {
                return refuse(
                    ErrorKind::InvalidValue,
                    crate::not_a_value("aclrtRandomNumFuncType", other),
                );
            }
        };
        // The count may be known only later: until then the destination is the rest of the allocation.
        let to = stream.rest_of_device_range(task.randomResultAddr, "randomResultAddr")?;
        let counter = match task.randomCounterAddr {
            0 => None,
            address => Some(stream.device_range(address, 16, "randomCounterAddr")?),
        };
        let wanted = RandomNumbers {
            of,
            distribution,
            to,
            counter,
            seed: value(stream, &task.randomSeed, None, "randomSeed")?,
            count: value(stream, &task.randomNum, None, "randomNum")?,
        };
        stream.random_numbers(wanted, &cx.caller())
    })
}
