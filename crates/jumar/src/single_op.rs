//! Files of single operators: descriptions in JSON, and the model files that they become.
//!
//! A model file of a single operator is one of Jumar's like others, and can be loaded as a model. Its description is kept among the
//! options that it was built with, so that a call of the operator finds it by type, tensors and attributes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use jumar_model::graph::{GraphError, GraphErrorKind, Model, Result};
use jumar_model::lowering::{
    Desc, FORMAT_ND, SingleInput, SingleOperator, Value, compile_single, prototype, type_name,
};
use jumar_types::dtype::DataType;
use serde_json::{Map, Value as Json, json};

/// The option of a model file that holds the description.
const OPTION: &str = "single_operator";

/// The formats of descriptions, with their numbers.
const FORMATS: &[(&str, i32)] = &[
    ("NCHW", 0),
    ("NHWC", 1),
    ("ND", 2),
    ("NC1HWC0", 3),
    ("FRACTAL_Z", 4),
    ("HWCN", 16),
    ("NDHWC", 27),
    ("FRACTAL_NZ", 29),
    ("NCDHW", 30),
    ("DHWCN", 31),
    ("NDC1HWC0", 32),
    ("FRACTAL_Z_3D", 33),
    ("NC", 35),
    ("NCL", 47),
];

fn invalid(text: impl Into<String>) -> GraphError {
    GraphError::new(GraphErrorKind::InvalidModel, text)
}

/// Reads a list of descriptions, as `atc --singleop` takes it. The sentence of an error names the entry and the field.
///
/// # Errors
/// InvalidModel: the text is not JSON, or not a list of descriptions.
pub fn read_descriptions(text: &str) -> Result<Vec<SingleOperator>> {
    let json: Json = serde_json::from_str(text)
        .map_err(|error| invalid(format!("the descriptions are not JSON: {error}")))?;
    let Json::Array(entries) = json else {
        return Err(invalid(
            "the descriptions are not a list; write [{\"op\": ..., \"input_desc\": [...], \"output_desc\": [...]}]",
        ));
    };
    if entries.is_empty() {
        return Err(invalid("the list of descriptions is empty"));
    }
    let read = |(index, entry)| {
        operator(entry).map_err(|error: GraphError| error.at(format_args!("operator {index}")))
    };
    entries.iter().enumerate().map(read).collect()
}

fn object<'a>(json: &'a Json, what: &str) -> Result<&'a Map<String, Json>> {
    json.as_object()
        .ok_or_else(|| invalid(format!("{what} is not an object")))
}

fn text<'a>(object: &'a Map<String, Json>, field: &str) -> Result<Option<&'a str>> {
    match object.get(field) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(format!("its field {field} is not a text"))),
    }
}

fn list<'a>(object: &'a Map<String, Json>, field: &str) -> Result<&'a [Json]> {
    match object.get(field) {
        None | Some(Json::Null) => Ok(&[]),
        Some(Json::Array(list)) => Ok(list),
        Some(_) => Err(invalid(format!("its field {field} is not a list"))),
    }
}

fn integers(list: &[Json], what: &str) -> Result<Vec<i64>> {
    let one = |json: &Json| {
        json.as_i64()
            .ok_or_else(|| invalid(format!("{what} has {json}, which is not an integer")))
    };
    list.iter().map(one).collect()
}

fn operator(entry: &Json) -> Result<SingleOperator> {
    let entry = object(entry, "the description")?;
    let kind = text(entry, "op")?.ok_or_else(|| invalid("its field op is missing"))?;
    let mut operator = SingleOperator {
        kind: kind.to_owned(),
        ..SingleOperator::default()
    };
    let at = |error: GraphError, what: &str, index: usize| {
        error.at(format_args!("{kind}: {what}[{index}]"))
    };
    for (index, json) in list(entry, "input_desc")?.iter().enumerate() {
        let input = input(json).map_err(|error| at(error, "input_desc", index))?;
        operator.inputs.push(input);
    }
    for (index, json) in list(entry, "output_desc")?.iter().enumerate() {
        let output = input(json).map_err(|error| at(error, "output_desc", index))?;
        operator.outputs.push(output.desc);
    }
    for (index, json) in list(entry, "attr")?.iter().enumerate() {
        let (name, value) = attribute(json).map_err(|error| at(error, "attr", index))?;
        check_type(kind, &name, &value).map_err(|error| at(error, "attr", index))?;
        operator.attrs.insert(name, value);
    }
    Ok(operator)
}

/// Checks that an attribute has the type that the class of its operator declares.
fn check_type(kind: &str, name: &str, value: &Value) -> Result<()> {
    let attrs = prototype(kind).map_or(&[][..], |prototype| prototype.attrs);
    let Some((_, declared)) = attrs.iter().find(|(own, _)| *own == name) else {
        return Ok(());
    };
    let wanted = declared.type_name();
    let given = value.type_name();
    // Data types are written as their numbers, too.
    let numbers = ["VT_INT", "VT_DATA_TYPE"];
    if wanted == given || [wanted, given].iter().all(|name| numbers.contains(name)) {
        return Ok(());
    }
    let spelled = |name: &str| name.trim_start_matches("VT_").to_ascii_lowercase();
    Err(invalid(format!(
        "{name} of {kind} is described as {}; it must be {}",
        spelled(given),
        spelled(wanted)
    )))
}

/// Finds a data type by its name.
fn data_type(name: &str) -> Result<Option<i32>> {
    let number = match name {
        "UNDEFINED" | "undefined" => return Ok(None),
        "float" => Some(DataType::Float32),
        "double" => Some(DataType::Float64),
        "bf16" => Some(DataType::BFloat16),
        name => DataType::from_name(name.strip_prefix("DT_").unwrap_or(name)),
    };
    match number {
        Some(dtype) => Ok(Some(dtype.acl())),
        None => Err(invalid(format!("{name:?} is not a data type"))),
    }
}

fn format(name: &str) -> Result<i32> {
    FORMATS
        .iter()
        .find(|(own, _)| own.eq_ignore_ascii_case(name))
        .map(|(_, number)| *number)
        .ok_or_else(|| invalid(format!("{name:?} is not a format")))
}

fn input(json: &Json) -> Result<SingleInput> {
    let json = object(json, "the tensor")?;
    let mut input = SingleInput {
        name: text(json, "name")?.unwrap_or_default().to_owned(),
        group: text(json, "dynamic_input")?.unwrap_or_default().to_owned(),
        ..SingleInput::default()
    };
    let name = text(json, "type")?.ok_or_else(|| invalid("its field type is missing"))?;
    let Some(dtype) = data_type(name)? else {
        return Ok(input);
    };
    let dims = integers(list(json, "shape")?, "its shape")?;
    if dims != [-2] && dims.iter().any(|dim| *dim < -1) {
        return Err(invalid(format!("its shape is {dims:?}")));
    }
    let format = format(text(json, "format")?.unwrap_or("ND"))?;
    let desc = Desc {
        dims,
        dtype,
        format,
    };
    if json.get("is_const").and_then(Json::as_bool) == Some(true) {
        input.value = Some(Arc::new(constant(list(json, "const_value")?, &desc)?));
    }
    input.desc = Some(desc);
    Ok(input)
}

/// Reads the value of a constant.
fn constant(values: &[Json], desc: &Desc) -> Result<Vec<u8>> {
    let elements: Option<usize> = desc
        .dims
        .iter()
        .map(|dim| usize::try_from(*dim).ok())
        .try_fold(1usize, |product, dim| product.checked_mul(dim?));
    if elements != Some(values.len()) {
        return Err(invalid(format!(
            "its shape is {:?}, and const_value has {} elements",
            desc.dims,
            values.len()
        )));
    }
    let mut bytes = Vec::new();
    for value in values {
        let wrong = || {
            let name = type_name(desc.dtype);
            invalid(format!(
                "const_value has {value}, which is not a value of {name}"
            ))
        };
        let integer = || value.as_i64().ok_or_else(wrong);
        let number = || value.as_f64().ok_or_else(wrong);
        match DataType::from_acl(desc.dtype) {
            Some(DataType::Int8) => {
                let value = i8::try_from(integer()?).map_err(|_| wrong())?;
                bytes.extend(value.to_le_bytes());
            }
            Some(DataType::UInt8) => {
                bytes.push(u8::try_from(integer()?).map_err(|_| wrong())?);
            }
            Some(DataType::Int32) => {
                let value = i32::try_from(integer()?).map_err(|_| wrong())?;
                bytes.extend(value.to_le_bytes());
            }
            Some(DataType::Int64) => bytes.extend(integer()?.to_le_bytes()),
            Some(DataType::Bool) => bytes.push(u8::from(value.as_bool().ok_or_else(wrong)?)),
            Some(DataType::Float32) => bytes.extend((number()? as f32).to_le_bytes()),
            Some(DataType::Float64) => bytes.extend(number()?.to_le_bytes()),
            _ => {
                return Err(invalid(format!(
                    "constants of type {} cannot be described; int8, uint8, int32, int64, bool, float32 and float64 can",
                    type_name(desc.dtype)
                )));
            }
        }
    }
    Ok(bytes)
}

fn attribute(json: &Json) -> Result<(String, Value)> {
    let json = object(json, "the attribute")?;
    let name = text(json, "name")?.ok_or_else(|| invalid("its field name is missing"))?;
    let kind = text(json, "type")?.ok_or_else(|| invalid("its field type is missing"))?;
    let value = json
        .get("value")
        .ok_or_else(|| invalid("its field value is missing"))?;
    let wrong = || invalid(format!("{name} is {value}, which is not a {kind}"));
    let members = || value.as_array().ok_or_else(wrong);
    let float = |json: &Json| json.as_f64().map(|value| value as f32).ok_or_else(wrong);
    let string = |json: &Json| json.as_str().map(str::to_owned).ok_or_else(wrong);
    let boolean = |json: &Json| json.as_bool().ok_or_else(wrong);
    let number = |json: &Json| {
        let name = json.as_str().ok_or_else(wrong)?;
        data_type(name)?.ok_or_else(wrong)
    };
    let value = match kind {
        "bool" => Value::Bool(boolean(value)?),
        "int" => Value::Int(value.as_i64().ok_or_else(wrong)?),
        "float" => Value::Float(float(value)?),
        "string" => Value::Str(string(value)?),
        "data_type" => Value::Type(number(value)?),
        "list_bool" => Value::Bools(members()?.iter().map(boolean).collect::<Result<_>>()?),
        "list_int" => Value::Ints(integers(members()?, name)?),
        "list_float" => Value::Floats(members()?.iter().map(float).collect::<Result<_>>()?),
        "list_string" => Value::Strs(members()?.iter().map(string).collect::<Result<_>>()?),
        "list_data_type" => Value::Types(members()?.iter().map(number).collect::<Result<_>>()?),
        "list_list_int" => {
            let inner = |json: &Json| integers(json.as_array().ok_or_else(wrong)?, name);
            Value::IntLists(members()?.iter().map(inner).collect::<Result<_>>()?)
        }
        other => {
            return Err(invalid(format!(
                "{name} has the type {other:?}; it must be bool, int, float, string, data_type, list_bool, list_int, list_float, list_string, list_data_type or list_list_int"
            )));
        }
    };
    Ok((name.to_owned(), value))
}

/// Returns the name of the file of an operator: its index, its type, and for each tensor the number of its data type, the number of
/// its format and its dimensions.
pub fn file_name(index: usize, operator: &SingleOperator) -> String {
    let mut name = format!("{index}_{}", operator.kind);
    let inputs = operator.inputs.iter().map(|input| input.desc.as_ref());
    let outputs = operator.outputs.iter().map(Option::as_ref);
    for desc in inputs.chain(outputs).flatten() {
        // A text takes every number.
        let _ = write!(name, "_{}_{}", desc.dtype, desc.format);
        for dim in &desc.dims {
            let _ = write!(name, "_{dim}");
        }
    }
    name.push_str(".om");
    name
}

/// Compiles an operator and returns the contents of its file.
///
/// # Errors
/// As [`compile_single`]. InvalidModel: a constant or an attribute that a file cannot describe.
pub fn write(operator: &SingleOperator) -> Result<Vec<u8>> {
    let description = to_json(operator)?.to_string();
    let recorded = BTreeMap::from([(OPTION.to_owned(), description)]);
    let compiled = compile_single(operator, recorded)?;
    let mut bytes = Vec::new();
    compiled.model.write(&mut bytes)?;
    Ok(bytes)
}

/// Reads the file of an operator.
///
/// # Errors
/// As [`Model::read`]. InvalidModel: the file is a model and not a single operator.
pub fn read(bytes: &[u8]) -> Result<SingleOperator> {
    let model = Model::read(bytes)?;
    let Some(description) = model.options().get(OPTION) else {
        return Err(invalid(format!(
            "the file holds the model \"{}\", which is not a single operator; load it with aclmdlLoadFromFile",
            model.description().name
        )));
    };
    let json = serde_json::from_str(description)
        .map_err(|error| invalid(format!("its description is not JSON: {error}")))?;
    operator(&json)
}

fn to_json(operator: &SingleOperator) -> Result<Json> {
    let inputs = operator.inputs.iter().map(|input| {
        let mut json = tensor(input.desc.as_ref())?;
        if !input.name.is_empty() {
            json.insert("name".to_owned(), input.name.clone().into());
        }
        if !input.group.is_empty() {
            json.insert("dynamic_input".to_owned(), input.group.clone().into());
        }
        if let (Some(value), Some(desc)) = (&input.value, &input.desc) {
            json.insert("is_const".to_owned(), true.into());
            json.insert("const_value".to_owned(), numbers(value, desc)?);
        }
        Ok(json.into())
    });
    let outputs = operator.outputs.iter();
    let outputs = outputs.map(|desc| Ok(tensor(desc.as_ref())?.into()));
    let attrs = operator.attrs.iter();
    let attrs = attrs.map(|(name, value)| {
        let (kind, value) = plain(value).ok_or_else(|| {
            invalid(format!(
                "the attribute {name} cannot be described in a file"
            ))
        })?;
        Ok(json!({"name": name, "type": kind, "value": value}))
    });
    Ok(json!({
        "op": operator.kind,
        "input_desc": inputs.collect::<Result<Vec<Json>>>()?,
        "output_desc": outputs.collect::<Result<Vec<Json>>>()?,
        "attr": attrs.collect::<Result<Vec<Json>>>()?,
    }))
}

fn tensor(desc: Option<&Desc>) -> Result<Map<String, Json>> {
    let mut json = Map::new();
    let Some(desc) = desc else {
        json.insert("type".to_owned(), "UNDEFINED".into());
        return Ok(json);
    };
    let known = FORMATS.iter().find(|(_, number)| *number == desc.format);
    let (format, _) = known.unwrap_or(&("ND", FORMAT_ND));
    json.insert("type".to_owned(), type_name(desc.dtype).into());
    json.insert("format".to_owned(), (*format).into());
    json.insert("shape".to_owned(), desc.dims.clone().into());
    Ok(json)
}

/// Returns the elements of a constant as a list.
fn numbers(bytes: &[u8], desc: &Desc) -> Result<Json> {
    fn each<const N: usize>(bytes: &[u8], one: impl Fn([u8; N]) -> Json) -> Json {
        bytes
            .as_chunks()
            .0
            .iter()
            .map(|chunk| one(*chunk))
            .collect()
    }
    Ok(match DataType::from_acl(desc.dtype) {
        Some(DataType::Int8) => each(bytes, |own| i8::from_le_bytes(own).into()),
        Some(DataType::UInt8) => each(bytes, |[own]| own.into()),
        Some(DataType::Int32) => each(bytes, |own| i32::from_le_bytes(own).into()),
        Some(DataType::Int64) => each(bytes, |own| i64::from_le_bytes(own).into()),
        Some(DataType::Bool) => each(bytes, |[own]| (own != 0).into()),
        Some(DataType::Float32) => each(bytes, |own| f32::from_le_bytes(own).into()),
        Some(DataType::Float64) => each(bytes, |own| f64::from_le_bytes(own).into()),
        _ => {
            return Err(invalid(format!(
                "constants of type {} cannot be described in a file",
                type_name(desc.dtype)
            )));
        }
    })
}

fn plain(value: &Value) -> Option<(&'static str, Json)> {
    let types = |numbers: &[i32]| numbers.iter().map(|number| type_name(*number)).collect();
    Some(match value {
        Value::Bool(value) => ("bool", (*value).into()),
        Value::Int(value) => ("int", (*value).into()),
        Value::Float(value) => ("float", (*value).into()),
        Value::Str(value) => ("string", value.clone().into()),
        Value::Type(value) => ("data_type", type_name(*value).into()),
        Value::Bools(values) => ("list_bool", values.clone().into()),
        Value::Ints(values) => ("list_int", values.clone().into()),
        Value::Floats(values) => ("list_float", values.clone().into()),
        Value::Strs(values) => ("list_string", values.clone().into()),
        Value::Types(values) => ("list_data_type", types(values)),
        Value::IntLists(values) => ("list_list_int", values.clone().into()),
        Value::Tensor(_) | Value::Tensors(_) | Value::Bytes(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[
        {"op": "Add",
         "input_desc": [{"format": "ND", "shape": [8, 16], "type": "int32"},
                        {"format": "ND", "shape": [8, 16], "type": "int32"}],
         "output_desc": [{"format": "ND", "shape": [8, 16], "type": "int32"}]},
        {"op": "ReduceSum",
         "input_desc": [{"format": "NCHW", "shape": [-1, 3], "type": "float16"},
                        {"shape": [1], "type": "int64", "is_const": true, "const_value": [1]}],
         "output_desc": [{"format": "NCHW", "shape": [-1], "type": "float"}],
         "attr": [{"name": "keep_dims", "type": "bool", "value": false}]}
    ]"#;

    #[test]
    fn descriptions_are_read_and_files_are_named_as_documented() {
        let operators = read_descriptions(TEXT).unwrap();
        assert_eq!(
            file_name(0, &operators[0]),
            "0_Add_3_2_8_16_3_2_8_16_3_2_8_16.om"
        );
        assert_eq!(
            file_name(1, &operators[1]),
            "1_ReduceSum_1_0_-1_3_9_2_1_0_0_-1.om"
        );
        assert_eq!(operators[1].attrs["keep_dims"], Value::Bool(false));
        let value = operators[1].inputs[1].value.as_deref().cloned();
        assert_eq!(value, Some(1i64.to_le_bytes().to_vec()));
    }

    #[test]
    fn a_file_gives_its_operator_back() {
        for operator in read_descriptions(TEXT).unwrap() {
            let bytes = write(&operator).unwrap();
            assert_eq!(read(&bytes).unwrap(), operator);
        }
    }

    #[test]
    fn an_attribute_has_the_type_of_its_class() {
        let described = |kind: &str, value: &str| {
            let attr = format!(r#"{{"name": "keep_dims", "type": "{kind}", "value": {value}}}"#);
            let text = TEXT.replace(
                r#"{"name": "keep_dims", "type": "bool", "value": false}"#,
                &attr,
            );
            read_descriptions(&text)
        };
        assert!(described("bool", "true").is_ok());
        let error = described("int", "1").unwrap_err();
        let wanted = "keep_dims of ReduceSum is described as int; it must be bool";
        assert!(error.text().ends_with(wanted), "{}", error.text());
    }

    #[test]
    fn every_kind_of_attribute_survives_a_file() {
        let attrs = r#"[{"op": "Abs", "input_desc": [{"type": "float32", "shape": [2]}],
            "output_desc": [{"type": "float32", "shape": [2]}],
            "attr": [
            {"name": "a", "type": "bool", "value": true},
            {"name": "b", "type": "int", "value": -3},
            {"name": "c", "type": "float", "value": 0.5},
            {"name": "d", "type": "string", "value": "text"},
            {"name": "e", "type": "data_type", "value": "float16"},
            {"name": "f", "type": "list_bool", "value": [true, false]},
            {"name": "g", "type": "list_int", "value": [1, 2]},
            {"name": "h", "type": "list_float", "value": [0.5, 2]},
            {"name": "i", "type": "list_string", "value": ["x", "y"]},
            {"name": "j", "type": "list_data_type", "value": ["int8"]},
            {"name": "k", "type": "list_list_int", "value": [[1], [2, 3]]}]}]"#;
        let operator = read_descriptions(attrs).unwrap().remove(0);
        assert_eq!(operator.attrs.len(), 11);
        assert_eq!(read(&write(&operator).unwrap()).unwrap(), operator);
    }

    #[test]
    fn a_file_that_is_damaged_or_cut_anywhere_is_refused() {
        let operator = read_descriptions(TEXT).unwrap().remove(0);
        let bytes = write(&operator).unwrap();
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            // Bytes between the sections mean nothing.
            if let Ok(found) = read(&damaged) {
                assert_eq!(found, operator, "{at}");
            }
        }
    }

    #[test]
    fn sentences_name_the_entry_and_the_field() {
        let refusal = |text: &str| read_descriptions(text).unwrap_err().text().to_owned();
        assert!(refusal("{").starts_with("the descriptions are not JSON"));
        assert!(refusal("{}").starts_with("the descriptions are not a list"));
        assert_eq!(refusal("[]"), "the list of descriptions is empty");
        assert_eq!(
            refusal("[1]"),
            "operator 0: the description is not an object"
        );
        assert_eq!(refusal("[{}]"), "operator 0: its field op is missing");
        let input = |json: &str| format!("[{{\"op\": \"Abs\", \"input_desc\": [{json}]}}]");
        assert_eq!(
            refusal(&input("{}")),
            "operator 0: Abs: input_desc[0]: its field type is missing"
        );
        assert_eq!(
            refusal(&input(r#"{"type": "float31"}"#)),
            "operator 0: Abs: input_desc[0]: \"float31\" is not a data type"
        );
        assert_eq!(
            refusal(&input(r#"{"type": "float", "shape": [-3]}"#)),
            "operator 0: Abs: input_desc[0]: its shape is [-3]"
        );
        assert_eq!(
            refusal(&input(
                r#"{"type": "int8", "shape": [1], "is_const": true, "const_value": [300]}"#
            )),
            "operator 0: Abs: input_desc[0]: const_value has 300, which is not a value of int8"
        );
        assert_eq!(
            refusal(r#"[{"op": "Abs", "attr": [{"name": "a", "type": "int", "value": "x"}]}]"#),
            "operator 0: Abs: attr[0]: a is \"x\", which is not a int"
        );
    }
}
