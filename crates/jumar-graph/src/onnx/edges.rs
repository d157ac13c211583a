//! Inputs of a graph, and the types of its inputs and outputs.

use jumar_ops::{Attrs, Builder, StorageType, TensorType, UNKNOWN};
use jumar_types::dtype::DataType;

use super::Importer;
use super::proto::TypeProto;
use crate::insert_point::InsertPoint;
use crate::{GraphError, Result, ValueId};

impl Importer<'_> {
    /// Adds an input of the graph and returns its elements, as operators read them.
    pub(super) fn input(&mut self, name: &str, proto: Option<&TypeProto>) -> Result<ValueId> {
        let (mut ty, storage) = value_type(proto)?;
        if self.around.is_none()
            && let Some(shape) = self.settings.shapes.get(name)
        {
            ty.shape = sharpen(name, &ty, shape)?;
        }
        let shown = storage
            .and_then(StorageType::acl)
            .filter(|_| self.around.is_none());
        let stored = ty.dtype;
        ty.dtype = shown.unwrap_or(stored);
        let mut id = self.graph.add_value(name, ty);
        self.graph.inputs.push(id);
        if storage.is_some_and(|storage| storage.is_integer()) && self.around.is_none() {
            // Only the lowest bits of a byte of the caller are the element.
            self.insert_point = InsertPoint::at(format!("{}/bits", name));
            id = self.lowest_bits(id, storage)?;
        }
        if shown.is_some() {
            self.insert_point = InsertPoint::at(format!("{}/bytes", name));
            id = self.bytes_as(id, stored)?;
        }
        if let Some(storage) = storage {
            self.storage.insert(id, storage);
        }
        Ok(id)
    }

    /// Adds an input for each tensor of a sequence; the shapes of inputs that the caller states say how many there are.
    pub(super) fn sequence_input(
        &mut self,
        name: &str,
        element: &TypeProto,
    ) -> Result<Vec<ValueId>> {
        let mut list = Vec::new();
        loop {
            let part = format!("{name}_{}", list.len());
            if !self.settings.shapes.contains_key(&part) {
                break;
            }
            list.push(self.input(&part, Some(element))?);
        }
        if list.is_empty() {
            return Err(GraphError::unsupported(format!(
                "it is a sequence of tensors, and a model has an input for each of them: state their shapes with input_shape, as {name}_0:2,3;{name}_1:2,3"
            )));
        }
        Ok(list)
    }

    /// Adds nodes that keep the bits that an integer of few bits has.
    fn lowest_bits(&mut self, value: ValueId, storage: Option<StorageType>) -> Result<ValueId> {
        let attrs = Attrs::new().with("dst_type", i64::from(DataType::Int32.acl()));
        let wide = self.add_node("Cast", &[Some(value)], attrs, 1)?;
        let format = storage.map_or(0, StorageType::onnx);
        let attrs = Attrs::new().with("format", format);
        let made = self.add_node("jumar.Encode", &[wide.first().copied()], attrs, 1)?;
        made.first()
            .copied()
            .ok_or_else(|| GraphError::internal("a node without an output"))
    }

    /// Adds a node that reads bytes as another type.
    pub(super) fn bytes_as(&mut self, value: ValueId, dtype: DataType) -> Result<ValueId> {
        let attrs = Attrs::new().with("type", dtype);
        let made = self.add_node("Bitcast", &[Some(value)], attrs, 1)?;
        made.first()
            .copied()
            .ok_or_else(|| GraphError::internal("a node without an output"))
    }
}

/// Joins what the file says about an input's shape with what the caller says.
fn sharpen(name: &str, ty: &TensorType, shape: &[i64]) -> Result<Vec<i64>> {
    if ty.rank().is_some_and(|rank| rank != shape.len()) {
        return Err(GraphError::option(format!(
            "input_shape has {} dimensions for {name}, and the model has {ty}",
            shape.len()
        )));
    }
    Ok(shape.iter().map(|&dim| dim.max(UNKNOWN)).collect())
}

/// The type of what may be left out: a caller sets such an input as any other.
pub(super) fn without_optional(proto: &TypeProto) -> &TypeProto {
    let inner = proto.optional_type.as_ref();
    inner
        .and_then(|one| one.elem_type.as_deref())
        .unwrap_or(proto)
}

/// The type of the tensors of a sequence.
pub(super) fn sequence_element(proto: Option<&TypeProto>) -> Option<&TypeProto> {
    let sequence = without_optional(proto?).sequence_type.as_ref()?;
    let element = sequence.elem_type.as_deref()?;
    element.tensor_type.is_some().then_some(element)
}

fn value_type(proto: Option<&TypeProto>) -> Result<(TensorType, Option<StorageType>)> {
    let proto = proto.map(without_optional);
    let Some(tensor) = proto.and_then(|proto| proto.tensor_type.as_ref()) else {
        let what = match proto {
            Some(proto) if proto.sequence_type.is_some() => "a sequence of other than tensors",
            Some(proto) if proto.map_type.is_some() => "a map",
            _ => "not a tensor",
        };
        return Err(GraphError::unsupported(format!(
            "it is {what}, and inputs and outputs of a model are tensors"
        )));
    };
    let storage = StorageType::of_onnx(tensor.elem_type.into());
    let dtype = storage
        .map(StorageType::dtype)
        .or(DataType::from_onnx(tensor.elem_type))
        .filter(|dtype| dtype.size().is_some())
        .ok_or_else(|| {
            GraphError::unsupported(format!(
                "its element type (number {} in ONNX) is not supported",
                tensor.elem_type
            ))
        })?;
    let Some(shape) = &tensor.shape else {
        return Ok((TensorType::of_unknown_rank(dtype), storage));
    };
    let dims: Vec<i64> = shape
        .dim
        .iter()
        .map(|dim| dim.dim_value.unwrap_or(UNKNOWN).max(UNKNOWN))
        .collect();
    Ok((TensorType::new(dtype, dims), storage))
}
