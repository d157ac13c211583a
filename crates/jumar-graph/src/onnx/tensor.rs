//! Tensors of an ONNX file, inside it or beside it.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

use jumar_ops::{StorageType, Tensor};
use jumar_types::dtype::DataType;

use super::{proto::TensorProto, storage_type};
use crate::{GraphError, GraphErrorKind, Result, files};

/// TensorProto.DataLocation.EXTERNAL.
const EXTERNAL: i32 = 1;

/// Makes a tensor of ours. External data are read from `dir`, and only from inside it.
pub(super) fn tensor(proto: TensorProto, dir: Option<&Path>) -> Result<Tensor> {
    let name = proto.name.clone();
    read(proto, dir).map_err(|error| error.at(format_args!("tensor {name}")))
}

fn read(proto: TensorProto, dir: Option<&Path>) -> Result<Tensor> {
    let storage = StorageType::of_onnx(proto.data_type.into());
    let dtype = storage
        .map(StorageType::dtype)
        .or(DataType::from_onnx(proto.data_type))
        .filter(|dtype| dtype.size().is_some())
        .ok_or_else(|| {
            GraphError::unsupported(format!(
                "its element type (number {} in ONNX) is not supported",
                proto.data_type
            ))
        })?;
    let dims: Vec<usize> = proto
        .dims
        .iter()
        .map(|&dim| usize::try_from(dim))
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| {
            GraphError::invalid(format!(
                "its shape {:?} has a negative dimension",
                proto.dims
            ))
        })?;
    if let Some(storage) = storage {
        let size = |count| storage_type::bytes(storage, count);
        let packed = if proto.data_location == EXTERNAL {
            external(&proto, storage.name(), size, &dims, dir)?.into()
        } else if !proto.raw_data.is_empty() {
            proto.raw_data
        } else {
            storage_type::typed(storage, &proto).into()
        };
        // Bytes are elements already.
        if storage.bits() == 8 {
            return Ok(Tensor::shared(dtype, &dims, packed)?);
        }
        return storage_type::unpack(storage, &dims, &packed);
    }
    let bytes = if proto.data_location == EXTERNAL {
        external(
            &proto,
            dtype.name(),
            |count| dtype.size_of(count),
            &dims,
            dir,
        )?
        .into()
    } else if !proto.raw_data.is_empty() {
        proto.raw_data
    } else {
        typed(&proto, dtype)?.into()
    };
    Ok(Tensor::shared(dtype, &dims, bytes)?)
}

/// Collects elements from the field that ONNX uses for a type. StorageType types lie in 32-bit fields, half-precision
/// numbers as their bits.
fn typed(proto: &TensorProto, dtype: DataType) -> Result<Vec<u8>> {
    fn pack<T: Copy, const N: usize>(list: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
        list.iter().flat_map(|&value| bytes(value)).collect()
    }
    let int32 = &proto.int32_data;
    Ok(match dtype {
        DataType::Float32 => pack(&proto.float_data, f32::to_le_bytes),
        DataType::Float64 => pack(&proto.double_data, f64::to_le_bytes),
        DataType::Int64 => pack(&proto.int64_data, i64::to_le_bytes),
        DataType::UInt64 => pack(&proto.uint64_data, u64::to_le_bytes),
        DataType::UInt32 => pack(&proto.uint64_data, |value| (value as u32).to_le_bytes()),
        DataType::Int32 => pack(int32, i32::to_le_bytes),
        DataType::Int16 | DataType::UInt16 | DataType::Float16 | DataType::BFloat16 => {
            pack(int32, |value| (value as u16).to_le_bytes())
        }
        DataType::Int8 | DataType::UInt8 | DataType::Bool => pack(int32, |value| [value as u8]),
        other => {
            return Err(GraphError::unsupported(format!(
                "its element type {other} is not supported"
            )));
        }
    })
}

fn external(
    proto: &TensorProto,
    dtype: &str,
    size: impl Fn(usize) -> Option<usize>,
    dims: &[usize],
    dir: Option<&Path>,
) -> Result<Vec<u8>> {
    let find = |key: &str| {
        proto
            .external_data
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| entry.value.as_str())
    };
    let number = |key: &str| match find(key) {
        None => Ok(None),
        Some(text) => match text.parse::<u64>() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(GraphError::invalid(format!(
                "its external data have the {key} {text:?}, which is not a number"
            ))),
        },
    };
    let location = find("location")
        .ok_or_else(|| GraphError::invalid("its external data have no location"))?;
    let dir = dir.ok_or_else(|| {
        GraphError::unsupported(format!(
            "its data lie in the file {location:?} beside the model, and the model was given as bytes: give it as a file"
        ))
    })?;
    let relative = Path::new(location);
    let inside = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let escapes = || {
        GraphError::invalid(format!(
            "its data lie in {location:?}, which is not inside the model's own folder"
        ))
    };
    if !inside || location.is_empty() {
        return Err(escapes());
    }
    let io = |error: std::io::Error| {
        GraphError::new(
            GraphErrorKind::Io,
            format!("its data in {location:?}: {error}"),
        )
    };
    // A link inside the folder may still lead out of it.
    let folder = dir.canonicalize().map_err(io)?;
    let path = dir.join(relative).canonicalize().map_err(io)?;
    if !path.starts_with(&folder) {
        return Err(escapes());
    }
    let (mut file, file_length) = files::open(&path).map_err(io)?;
    let offset = number("offset")?.unwrap_or(0);
    let left = file_length.checked_sub(offset);
    let length = number("length")?.or(left).unwrap_or(u64::MAX);
    if left.is_none_or(|left| length > left) {
        let text = format!(
            "its {length} bytes from {offset} on are not inside {location:?}, which has {file_length} bytes"
        );
        return Err(GraphError::new(GraphErrorKind::Truncated, text));
    }
    // A file may be far longer than the tensor, and the tensor's length is known: neither decides what is allocated alone.
    let wanted = dims
        .iter()
        .try_fold(1usize, |product, &dim| product.checked_mul(dim))
        .and_then(size);
    if wanted.map(|bytes| bytes as u64) != Some(length) {
        return Err(GraphError::invalid(format!(
            "its shape {dims:?} of {dtype} does not have the {length} bytes that lie in {location:?}"
        )));
    }
    file.seek(SeekFrom::Start(offset)).map_err(io)?;
    let mut bytes = Vec::new();
    let capacity = usize::try_from(length).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(capacity).map_err(|_| {
        GraphError::new(
            GraphErrorKind::NoMemory,
            format!("there is no memory for its {length} bytes"),
        )
    })?;
    file.take(length).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() != capacity {
        let text = format!("its data in {location:?} were cut short while they were read");
        return Err(GraphError::new(GraphErrorKind::Truncated, text));
    }
    Ok(bytes)
}
