//! What the generator knows of an operator.

use jumar::offline::lowering::{Default, Occurs, Value, prototypes};

/// An operator.
#[derive(Debug, PartialEq)]
pub struct Operator {
    pub name: String,
    pub inputs: Vec<(String, Occurs)>,
    pub outputs: Vec<(String, Occurs)>,
    pub attrs: Vec<Attribute>,
    /// Graphs inside, and whether there may be several of the name.
    pub graphs: Vec<(String, bool)>,
}

/// An attribute.
#[derive(Debug, PartialEq)]
pub struct Attribute {
    pub name: String,
    /// The type as REG_OP has it, such as ListInt.
    pub kind: String,
    /// The default in C++; none if the attribute is required.
    pub default: Option<String>,
}

/// Returns the operators of the headers.
pub fn built_in() -> Vec<Operator> {
    let owned = |slots: &[(&str, Occurs)]| {
        slots
            .iter()
            .map(|(name, occurs)| ((*name).to_owned(), *occurs))
            .collect()
    };
    prototypes()
        .iter()
        .map(|one| Operator {
            name: one.name.to_owned(),
            inputs: owned(one.inputs),
            outputs: owned(one.outputs),
            attrs: one.attrs.iter().map(attribute).collect(),
            graphs: one
                .bodies
                .iter()
                .map(|(name, several)| ((*name).to_owned(), *several))
                .collect(),
        })
        .collect()
}

fn attribute((name, default): &(&str, Default)) -> Attribute {
    let kind = match default.type_name() {
        "VT_INT" => "Int",
        "VT_FLOAT" => "Float",
        "VT_BOOL" => "Bool",
        "VT_STRING" => "String",
        "VT_TENSOR" => "Tensor",
        "VT_DATA_TYPE" => "Type",
        "VT_LIST_INT" => "ListInt",
        "VT_LIST_FLOAT" => "ListFloat",
        "VT_LIST_BOOL" => "ListBool",
        "VT_LIST_STRING" => "ListString",
        "VT_LIST_DATA_TYPE" => "ListType",
        "VT_LIST_LIST_INT" => "ListListInt",
        // The generator names the operator as one that it leaves out.
        other => other,
    };
    Attribute {
        name: (*name).to_owned(),
        kind: kind.to_owned(),
        default: default.value().map(|value| text(&value)),
    }
}

fn text(value: &Value) -> String {
    let list = |items: Vec<String>| format!("{{{}}}", items.join(", "));
    match value {
        Value::Int(value) => value.to_string(),
        Value::Float(value) => float(*value),
        Value::Bool(value) => value.to_string(),
        Value::Str(value) => format!("{value:?}"),
        Value::Type(number) => format!("static_cast<ge::DataType>({number})"),
        Value::Ints(values) => list(values.iter().map(i64::to_string).collect()),
        Value::Floats(values) => list(values.iter().map(|value| float(*value)).collect()),
        Value::Bools(values) => list(values.iter().map(bool::to_string).collect()),
        Value::Strs(values) => list(values.iter().map(|value| format!("{value:?}")).collect()),
        // A tensor that is not set.
        _ => "nullptr".into(),
    }
}

fn float(value: f32) -> String {
    if value.is_infinite() {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}std::numeric_limits<float>::infinity()");
    }
    format!("{value:?}f")
}
