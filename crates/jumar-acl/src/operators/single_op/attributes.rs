//! Sets of attributes.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::offline::lowering::Value;
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::{Cx, Raw, refuse};

/// A set of attributes.
pub struct Attributes {
    id: u64,
    values: Mutex<BTreeMap<String, Value>>,
}

pub fn aclopCreateAttr(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.single_operators.attributes.insert(|id| {
        Arc::new(Attributes {
            id,
            values: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

/// Null is ignored.
pub fn aclopDestroyAttr(cx: &Cx<'_>, attributes: Raw) -> Result<()> {
    if attributes.is_null() {
        return Ok(());
    }
    let all = &cx.process.single_operators.attributes;
    all.remove(attributes.0, cx.call.name).map(drop)
}

/// Returns a copy of the attributes; null has none.
pub(super) fn values(cx: &Cx<'_>, attributes: Raw) -> Result<BTreeMap<String, Value>> {
    if attributes.is_null() {
        return Ok(BTreeMap::new());
    }
    let found = cx.process.single_operators.attributes.get(attributes.0)?;
    Ok(found.values.lock().clone())
}

fn set(cx: &Cx<'_>, attributes: Raw, name: Option<&CStr>, value: Value) -> Result<()> {
    if attributes.is_null() {
        return Err(null("attr"));
    }
    let found = cx.process.single_operators.attributes.get(attributes.0)?;
    let name = text("attrName", name)?;
    if name.is_empty() {
        return refuse(ErrorKind::InvalidArgument, "attrName is empty");
    }
    found.values.lock().insert(name, value);
    Ok(())
}

fn text(argument: &str, text: Option<&CStr>) -> Result<String> {
    let text = text.ok_or_else(|| null(argument))?;
    text.to_str().map(str::to_owned).map_err(|_| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("{argument} \"{}\" is not UTF-8", text.to_string_lossy()),
        )
    })
}

/// Checks a list of values. One without elements may be null.
fn list<T>(count: i32, values: Option<&[T]>) -> Result<&[T]> {
    if count < 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the number of values is {count}; it must be at least 0"),
        );
    }
    match values {
        None if count > 0 => Err(null("values")),
        values => Ok(values.unwrap_or_default()),
    }
}

pub fn aclopSetAttrBool(cx: &Cx<'_>, attr: Raw, name: Option<&CStr>, value: u8) -> Result<()> {
    set(cx, attr, name, Value::Bool(value != 0))
}

pub fn aclopSetAttrInt(cx: &Cx<'_>, attr: Raw, name: Option<&CStr>, value: i64) -> Result<()> {
    set(cx, attr, name, Value::Int(value))
}

pub fn aclopSetAttrFloat(cx: &Cx<'_>, attr: Raw, name: Option<&CStr>, value: f32) -> Result<()> {
    set(cx, attr, name, Value::Float(value))
}

pub fn aclopSetAttrString(
    cx: &Cx<'_>,
    attr: Raw,
    name: Option<&CStr>,
    value: Option<&CStr>,
) -> Result<()> {
    set(cx, attr, name, Value::Str(text("attrValue", value)?))
}

pub fn aclopSetAttrDataType(cx: &Cx<'_>, attr: Raw, name: Option<&CStr>, value: i32) -> Result<()> {
    set(cx, attr, name, Value::Type(value))
}

pub fn aclopSetAttrListDataType(
    cx: &Cx<'_>,
    attr: Raw,
    name: Option<&CStr>,
    count: i32,
    values: Option<&[i32]>,
) -> Result<()> {
    let values = list(count, values)?.to_vec();
    set(cx, attr, name, Value::Types(values))
}

pub fn aclopSetAttrListBool(
    cx: &Cx<'_>,
    attr: Raw,
    name: Option<&CStr>,
    count: i32,
    values: Option<&[u8]>,
) -> Result<()> {
    let values = list(count, values)?.iter().map(|value| *value != 0);
    set(cx, attr, name, Value::Bools(values.collect()))
}

pub fn aclopSetAttrListInt(
    cx: &Cx<'_>,
    attr: Raw,
    name: Option<&CStr>,
    count: i32,
    values: Option<&[i64]>,
) -> Result<()> {
    let values = list(count, values)?.to_vec();
    set(cx, attr, name, Value::Ints(values))
}

pub fn aclopSetAttrListFloat(
    cx: &Cx<'_>,
    attr: Raw,
    name: Option<&CStr>,
    count: i32,
    values: Option<&[f32]>,
) -> Result<()> {
    let values = list(count, values)?.to_vec();
    set(cx, attr, name, Value::Floats(values))
}

pub fn aclopSetAttrListString(
    cx: &Cx<'_>,
    attr: Raw,
    name: Option<&CStr>,
    count: i32,
    values: Option<&[Option<&CStr>]>,
) -> Result<()> {
    let values = list(count, values)?;
    let texts = values.iter().enumerate();
    let texts = texts.map(|(index, value)| text(&format!("values[{index}]"), *value));
    set(cx, attr, name, Value::Strs(texts.collect::<Result<_>>()?))
}

/// Checks one list of a list of lists.
///
/// # Errors
/// `InvalidArgument`, `NullPointer`.
pub fn check_list(count: i32, is_null: bool) -> Result<()> {
    list::<i64>(count, (!is_null).then_some(&[])).map(drop)
}

/// `values` has the lists one by one.
pub fn aclopSetAttrListListInt(
    cx: &Cx<'_>,
    attr: Raw,
    name: Option<&CStr>,
    count: i32,
    values: Option<Vec<Vec<i64>>>,
) -> Result<()> {
    let values = list(count, values.as_deref())?.to_vec();
    set(cx, attr, name, Value::IntLists(values))
}
