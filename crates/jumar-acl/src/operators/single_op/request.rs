//! What a call asks for: an operator, its tensors and attributes, copied from the program's objects.

use std::sync::Arc;

use jumar::offline::graph::TensorType;
use jumar::offline::lowering::{
    Desc, FORMAT_FRACTAL_NZ, FORMAT_ND, SingleInput, SingleOperator, Value, fractal_dims,
};
use jumar_types::dtype::DataType;
use jumar_types::{Error, ErrorKind, Result};

use super::attributes;
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// An operator, and the kind of memory of each tensor.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) operator: SingleOperator,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) outputs: Vec<Tensor>,
}

/// A tensor of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tensor {
    /// The type and the dimensions; `None` for an optional tensor that is left out.
    pub(crate) ty: Option<TensorType>,
    /// Whether its data buffer is host memory.
    pub(crate) on_host: bool,
    /// Whether the operator is never compiled for its value, even where that is known.
    pub(crate) is_input: bool,
}

impl Tensor {
    /// Creates a tensor in device memory.
    pub(crate) fn on_device(dtype: DataType, dims: &[i64]) -> Tensor {
        Tensor {
            ty: Some(TensorType::new(dtype, dims)),
            ..Tensor::default()
        }
    }

    /// Creates a tensor in host memory, which each call copies.
    pub(crate) fn copied(dtype: DataType, dims: &[i64]) -> Tensor {
        Tensor {
            on_host: true,
            is_input: true,
            ..Tensor::on_device(dtype, dims)
        }
    }

    /// Returns the size of the data in bytes, where all dimensions are known.
    pub(super) fn bytes(&self) -> Option<usize> {
        self.ty.as_ref().map_or(Some(0), TensorType::bytes)
    }
}

/// An array of descriptions with its length.
pub(super) type Descs<'a> = (i32, Option<&'a [Raw]>);

/// Checks an array of handles.
pub(super) fn handles<'a>((count, array): Descs<'a>, what: &str) -> Result<&'a [Raw]> {
    if count < 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the number of {what} is {count}; it must be at least 0"),
        );
    }
    let array = match array {
        None if count > 0 => return Err(null(what)),
        array => array.unwrap_or_default(),
    };
    match array.iter().position(|handle| handle.is_null()) {
        Some(index) => Err(null(&format!("{what}[{index}]"))),
        None => Ok(array),
    }
}

impl Request {
    /// Reads the descriptions and attributes of a call.
    ///
    /// # Errors
    /// `NullPointer`, `InvalidHandle`, `InvalidArgument`: what cannot be used; the sentence names the argument.
    pub(super) fn read(
        cx: &Cx<'_>,
        kind: &str,
        inputs: Descs<'_>,
        outputs: Descs<'_>,
        attr: Raw,
    ) -> Result<Request> {
        let named = |error: Error| {
            let sentence = format!("{kind}: {}", error.sentence());
            Error::new(error.kind(), sentence)
        };
        let (inputs, outputs) = (
            handles(inputs, "inputDesc").map_err(named)?,
            handles(outputs, "outputDesc").map_err(named)?,
        );
        let mut request = Request {
            operator: SingleOperator {
                kind: kind.to_owned(),
                attrs: attributes::values(cx, attr).map_err(named)?,
                ..SingleOperator::default()
            },
            inputs: Vec::with_capacity(inputs.len()),
            outputs: Vec::with_capacity(outputs.len()),
        };
        for (index, desc) in inputs.iter().enumerate() {
            let what = format!("{kind}: input {index}");
            let (input, tensor) = read_tensor(cx, *desc, &what)?;
            request.operator.inputs.push(input);
            request.inputs.push(tensor);
        }
        for (index, desc) in outputs.iter().enumerate() {
            let what = format!("{kind}: output {index}");
            let (output, tensor) = read_tensor(cx, *desc, &what)?;
            request.operator.outputs.push(output.desc);
            request.outputs.push(tensor);
        }
        Ok(request)
    }

    /// Creates a request of tensors in device memory, all of them plain.
    pub(crate) fn plain(
        kind: &str,
        inputs: Vec<Tensor>,
        outputs: Vec<Tensor>,
        attrs: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Request {
        let desc = |tensor: &Tensor| {
            tensor.ty.as_ref().map(|ty| Desc {
                dims: ty.shape.clone(),
                dtype: ty.dtype.acl(),
                format: FORMAT_ND,
            })
        };
        let single = |tensor: &Tensor| SingleInput {
            desc: desc(tensor),
            ..SingleInput::default()
        };
        Request {
            operator: SingleOperator {
                kind: kind.to_owned(),
                inputs: inputs.iter().map(single).collect(),
                outputs: outputs.iter().map(desc).collect(),
                attrs: attrs
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            },
            inputs,
            outputs,
        }
    }
}

/// Reads a description.
fn read_tensor(cx: &Cx<'_>, desc: Raw, what: &str) -> Result<(SingleInput, Tensor)> {
    let found = cx.process.tensor_descs.get(desc.0).map_err(|error| {
        Error::new(
            error.kind(),
            format!("the description of {what}: {}", error.sentence()),
        )
    })?;
    let content = found.content.lock();
    let mut input = SingleInput {
        name: content.name.to_string_lossy().into_owned(),
        group: content.dynamic_input.to_string_lossy().into_owned(),
        ..SingleInput::default()
    };
    if content.data_type == enums::ACL_DT_UNDEFINED {
        return Ok((input, Tensor::default()));
    }
    let refused =
        |sentence: String| refuse(ErrorKind::InvalidArgument, format!("{what} {sentence}"));
    let Some(dtype) = DataType::from_acl(content.data_type) else {
        return refused(format!(
            "has the data type {}, which is not a value of aclDataType",
            content.data_type
        ));
    };
    let dims = content.dims.clone();
    let unknown_rank = dims == [-2];
    if !unknown_rank && dims.iter().any(|dim| *dim < -1) {
        return refused(format!(
            "has the shape {dims:?}; -1 stands for an dynamic dimension, and a lone -2 for an unknown number of dimensions"
        ));
    }
    let in_order = content.storage_format == enums::ACL_FORMAT_UNDEFINED
        || content.storage_format == content.format
        || (content.storage_dims == dims && is_plain(content.storage_format));
    // Blocks of 16 x 16 elements, which are rearranged.
    let blocks = fractal_dims(&dims).filter(|blocks| {
        content.storage_format == FORMAT_FRACTAL_NZ
            && content.storage_dims == *blocks
            && is_plain(content.format)
            && content.constant.is_none()
    });
    if !in_order && blocks.is_none() {
        let name = |format: i32| {
            enums::name_of("aclFormat", i64::from(format))
                .map_or_else(|| format.to_string(), str::to_owned)
        };
        return refuse(
            ErrorKind::NotImplemented,
            format!(
                "{what} is stored in {}; single operators read tensors in the order of their dimensions ({})",
                name(content.storage_format),
                name(content.format)
            ),
        );
    }
    if !is_plain(content.format) {
        let name = enums::name_of("aclFormat", i64::from(content.format))
            .map_or_else(|| content.format.to_string(), str::to_owned);
        return refuse(
            ErrorKind::NotImplemented,
            format!("{what} has the blocked format {name}; describe the tensor in a plain format"),
        );
    }
    let is_blocked = blocks.is_some();
    let ty = match blocks {
        Some(blocks) => TensorType::new(dtype, blocks),
        None if unknown_rank => TensorType::of_unknown_rank(dtype),
        None => TensorType::new(dtype, dims.clone()),
    };
    input.desc = Some(Desc {
        dims,
        dtype: content.data_type,
        format: match content.format {
            _ if is_blocked => FORMAT_FRACTAL_NZ,
            enums::ACL_FORMAT_UNDEFINED => FORMAT_ND,
            format => format,
        },
    });
    if let Some(bytes) = &content.constant {
        if let Some(wanted) = ty.bytes()
            && wanted != bytes.len()
        {
            return refused(format!(
                "is {ty}, {wanted} bytes, and its constant has {}",
                bytes.len()
            ));
        }
        input.value = Some(Arc::new(bytes.clone()));
    } else if dtype.is_integer() && ty.shape == [0] {
        // An empty list of axes or sizes has no bytes that a program could set.
        input.value = Some(Arc::default());
    }
    let tensor = Tensor {
        ty: Some(ty),
        on_host: content.placement != enums::ACL_MEMTYPE_DEVICE,
        is_input: false,
    };
    Ok((input, tensor))
}

/// A format of filters that the Graph Engine numbers and aclFormat does not: the outputs last, in three dimensions.
const FORMAT_DHWCN: i32 = 31;

/// Reports whether the elements of a format lie in the order of the dimensions.
fn is_plain(format: i32) -> bool {
    [
        enums::ACL_FORMAT_UNDEFINED,
        enums::ACL_FORMAT_ND,
        enums::ACL_FORMAT_NCHW,
        enums::ACL_FORMAT_NHWC,
        enums::ACL_FORMAT_HWCN,
        enums::ACL_FORMAT_NCDHW,
        enums::ACL_FORMAT_NDHWC,
        FORMAT_DHWCN,
        enums::ACL_FORMAT_NC,
        enums::ACL_FORMAT_NCL,
    ]
    .contains(&format)
}
