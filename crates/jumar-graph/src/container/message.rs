//! From a model to the message that is stored of it.

use jumar_ops::{Attr, TensorType};

use super::proto::{
    AttrMessage, AttrValue, BodyMessage, FloatsMessage, GearMessage, GraphMessage, IntsMessage,
    NodeMessage, OptionMessage, PortMessage, StrsMessage, ValueMessage,
};
use crate::{Graph, Model, Node, Port, Value, ValueId};

/// Makes the message of a model.
pub(super) fn message(model: &Model) -> GraphMessage {
    let graph = model.graph();
    let port = |port: &Port, id: ValueId| PortMessage {
        name: port.name.clone(),
        value: id.0,
        format: port.format.acl(),
        range: port
            .range
            .iter()
            .flat_map(|&(least, most)| [least, most])
            .collect(),
        ..PortMessage::default()
    };
    let description = model.description();
    GraphMessage {
        name: graph.name.clone(),
        values: graph.values.iter().map(value_message).collect(),
        nodes: graph.nodes.iter().map(node_message).collect(),
        inputs: graph
            .inputs
            .iter()
            .zip(&description.inputs)
            .map(|(&id, own)| port(own, id))
            .collect(),
        outputs: graph
            .outputs
            .iter()
            .zip(&description.outputs)
            .map(|(output, own)| PortMessage {
                original: output.name.clone(),
                producer: output.producer.0.clone(),
                producer_output: output.producer.1 as u64,
                ..port(own, output.value)
            })
            .collect(),
        options: model
            .options()
            .iter()
            .map(|(name, value)| OptionMessage {
                name: name.clone(),
                value: value.clone(),
            })
            .collect(),
        producer: concat!("Jumar ", env!("CARGO_PKG_VERSION")).to_owned(),
        gear_kind: description.gear_kind as u32,
        gears: description
            .gears
            .iter()
            .map(|gear| GearMessage {
                values: gear.values.clone(),
                inputs: gear
                    .inputs
                    .iter()
                    .map(|dims| IntsMessage { list: dims.clone() })
                    .collect(),
            })
            .collect(),
        ..GraphMessage::default()
    }
}

fn tensor_message(name: &str, ty: &TensorType) -> ValueMessage {
    ValueMessage {
        name: name.to_owned(),
        dtype: ty.dtype.acl(),
        dims: ty.shape.iter().map(|&dim| dim as u64).collect(),
        ..ValueMessage::default()
    }
}

fn value_message(value: &Value) -> ValueMessage {
    ValueMessage {
        weight: value.weight.map(|offset| offset as u64),
        contents: value
            .constant
            .as_ref()
            .map(|tensor| tensor.bytes().to_vec()),
        ..tensor_message(&value.name, &value.ty)
    }
}

fn node_message(node: &Node) -> NodeMessage {
    NodeMessage {
        name: node.name.clone(),
        operator: node.operator.name.to_owned(),
        inputs: node
            .inputs
            .iter()
            .map(|input| input.map_or(0, |id| id.0 + 1))
            .collect(),
        outputs: node.outputs.iter().map(|id| id.0).collect(),
        attrs: node
            .attrs
            .iter()
            .map(|(name, attr)| AttrMessage {
                name: name.to_owned(),
                value: Some(attr_value(attr)),
            })
            .collect(),
        bodies: node
            .bodies
            .iter()
            .map(|body| BodyMessage {
                graph: Some(body_message(&body.graph)),
                captures: body.captures.iter().map(|&index| index as u32).collect(),
            })
            .collect(),
    }
}

fn body_message(graph: &Graph) -> GraphMessage {
    GraphMessage {
        name: graph.name.clone(),
        values: graph.values.iter().map(value_message).collect(),
        nodes: graph.nodes.iter().map(node_message).collect(),
        inputs: graph
            .inputs
            .iter()
            .map(|id| PortMessage {
                value: id.0,
                ..PortMessage::default()
            })
            .collect(),
        outputs: graph
            .outputs
            .iter()
            .map(|output| PortMessage {
                value: output.value.0,
                original: output.name.clone(),
                producer: output.producer.0.clone(),
                producer_output: output.producer.1 as u64,
                ..PortMessage::default()
            })
            .collect(),
        ..GraphMessage::default()
    }
}

fn attr_value(attr: &Attr) -> AttrValue {
    match attr {
        Attr::Int(value) => AttrValue::Int(*value),
        Attr::Float(value) => AttrValue::Float(*value),
        Attr::Bool(value) => AttrValue::Bool(*value),
        Attr::Str(value) => AttrValue::Str(value.clone()),
        Attr::Ints(list) => AttrValue::Ints(IntsMessage { list: list.clone() }),
        Attr::Floats(list) => AttrValue::Floats(FloatsMessage { list: list.clone() }),
        Attr::Strs(list) => AttrValue::Strs(StrsMessage { list: list.clone() }),
        Attr::Tensor(tensor) => AttrValue::Tensor(ValueMessage {
            contents: Some(tensor.bytes().to_vec()),
            ..tensor_message("", tensor.ty())
        }),
        Attr::Type(dtype) => AttrValue::Type(dtype.acl()),
    }
}
