//! Scalars, arrays of host values, and lists of tensors or scalars.

use std::sync::Arc;

use jumar::engine::Table;
use jumar_types::{Error, ErrorKind, Result};

use super::tensor::known_type;
use crate::error::null;
use crate::{Cx, Raw, refuse};

/// A scalar on the host.
pub struct Scalar {
    id: u64,
    pub(super) value: jumar_eager::Scalar,
}

/// Host values that never change.
pub struct Array<T> {
    id: u64,
    pub(super) values: Box<[T]>,
}

/// An array of integers.
pub type IntArray = Array<i64>;
/// An array of floats.
pub type FloatArray = Array<f32>;
/// An array of booleans; a byte that is not 0 is true.
pub type BoolArray = Array<bool>;

/// A list of tensors, which it owns; 0 stands for null.
pub struct TensorList {
    id: u64,
    pub(super) members: Box<[u64]>,
}

/// A list of scalars, which it owns.
pub struct ScalarList {
    id: u64,
    pub(super) members: Box<[u64]>,
}

/// Returns how many bytes of host memory a scalar of a type is read from.
///
/// # Errors
/// `InvalidArgument`: there are no scalars of the type.
pub fn scalar_bytes(data_type: i32) -> Result<usize> {
    let dtype = known_type(data_type)?;
    dtype.size().ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("scalars of type {} are not supported", dtype.name()),
        )
    })
}

/// `value` are the bytes of one element, as many as [`scalar_bytes`] says.
pub fn aclCreateScalar(cx: &Cx<'_>, value: Option<&[u8]>, data_type: i32) -> Result<Raw> {
    let bytes = value.ok_or_else(|| null("value"))?;
    let dtype = known_type(data_type)?;
    let Some(value) = jumar_eager::Scalar::new(dtype, bytes) else {
        let sentence = format!("scalars of type {} are not supported", dtype.name());
        return refuse(ErrorKind::InvalidArgument, sentence);
    };
    let scalars = &cx.process.operators.scalars;
    let scalar = scalars.insert(|id| Arc::new(Scalar { id, value }))?;
    Ok(Raw(scalar.id))
}

fn array<T>(table: &Table<Array<T>>, values: Box<[T]>) -> Result<Raw> {
    let array = table.insert(|id| Arc::new(Array { id, values }))?;
    Ok(Raw(array.id))
}

/// The values that a call passes; no values need no address.
fn given<T>(values: Option<&[T]>, size: u64) -> Result<&[T]> {
    match values {
        Some(values) => Ok(values),
        None if size == 0 => Ok(&[]),
        None => Err(null("value")),
    }
}

pub fn aclCreateIntArray(cx: &Cx<'_>, values: Option<&[i64]>, size: u64) -> Result<Raw> {
    array(&cx.process.operators.ints, given(values, size)?.into())
}

pub fn aclCreateFloatArray(cx: &Cx<'_>, values: Option<&[f32]>, size: u64) -> Result<Raw> {
    array(&cx.process.operators.floats, given(values, size)?.into())
}

pub fn aclCreateBoolArray(cx: &Cx<'_>, values: Option<&[u8]>, size: u64) -> Result<Raw> {
    let values = given(values, size)?.iter().map(|byte| *byte != 0).collect();
    array(&cx.process.operators.bools, values)
}

/// Checks that members are alive; null members stay null.
fn members<T>(table: &Table<T>, values: Option<&[Raw]>, size: u64) -> Result<Box<[u64]>> {
    let member = |(at, one): (usize, &Raw)| match one.is_null() {
        true => Ok(0),
        false => match table.get(one.0) {
            Ok(_) => Ok(one.0),
            Err(error) => Err(Error::new(error.kind(), format!("value[{at}]: {error}"))),
        },
    };
    given(values, size)?
        .iter()
        .enumerate()
        .map(member)
        .collect()
}

pub fn aclCreateTensorList(cx: &Cx<'_>, values: Option<&[Raw]>, size: u64) -> Result<Raw> {
    let objects = &cx.process.operators;
    let members = members(&objects.tensors, values, size)?;
    let list = objects
        .tensor_lists
        .insert(|id| Arc::new(TensorList { id, members }))?;
    Ok(Raw(list.id))
}

/// What an array or a list holds, by the number that generated code uses for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    Integers,
    Floats,
    Booleans,
    Tensors,
}

impl MemberKind {
    /// Returns the kind of a number.
    ///
    /// # Errors
    /// `InvalidArgument`: it is none of them.
    pub fn of(number: u32) -> Result<MemberKind> {
        match number {
            0 => Ok(MemberKind::Integers),
            1 => Ok(MemberKind::Floats),
            2 => Ok(MemberKind::Booleans),
            3 => Ok(MemberKind::Tensors),
            _ => refuse(
                ErrorKind::InvalidArgument,
                format!("{number} is not a kind of members"),
            ),
        }
    }
}

/// Returns the members of an array or a list of tensors as words of 64 bits: integers, the bits of floats, 0 and 1, handles.
///
/// # Errors
/// What a handle of another kind of object, or of a destroyed one, is answered with.
pub fn members_as_words(cx: &Cx<'_>, object: Raw, kind: MemberKind) -> Result<Vec<u64>> {
    let objects = &cx.process.operators;
    Ok(match kind {
        MemberKind::Integers => {
            let array = objects.ints.get(object.0)?;
            array.values.iter().map(|value| *value as u64).collect()
        }
        MemberKind::Floats => {
            let array = objects.floats.get(object.0)?;
            let bits = |value: &f32| u64::from(value.to_bits());
            array.values.iter().map(bits).collect()
        }
        MemberKind::Booleans => {
            let array = objects.bools.get(object.0)?;
            array.values.iter().map(|value| u64::from(*value)).collect()
        }
        MemberKind::Tensors => objects.tensor_lists.get(object.0)?.members.to_vec(),
    })
}

/// Returns the members of a list of tensors or scalars, for the checks. None if there is no such list.
pub(crate) fn members_of(list: u64) -> Vec<u64> {
    let objects = &crate::process::get().operators;
    let tensors = objects.tensor_lists.get(list);
    let members = match tensors {
        Ok(list) => list.members.to_vec(),
        Err(_) => match objects.scalar_lists.get(list) {
            Ok(list) => list.members.to_vec(),
            Err(_) => Vec::new(),
        },
    };
    members.into_iter().filter(|member| *member != 0).collect()
}

pub fn aclCreateScalarList(cx: &Cx<'_>, values: Option<&[Raw]>, size: u64) -> Result<Raw> {
    let objects = &cx.process.operators;
    let members = members(&objects.scalars, values, size)?;
    let list = objects
        .scalar_lists
        .insert(|id| Arc::new(ScalarList { id, members }))?;
    Ok(Raw(list.id))
}

/// Destroys an object; null is ignored.
fn destroy<T>(cx: &Cx<'_>, table: &Table<T>, object: Raw) -> Result<Option<Arc<T>>> {
    if object.is_null() {
        return Ok(None);
    }
    table.remove(object.0, cx.call.name).map(Some)
}

/// Destroys the members of a list. A member that the program destroyed by itself is gone already.
fn destroy_members<T>(cx: &Cx<'_>, table: &Table<T>, members: &[u64]) {
    for member in members.iter().filter(|member| **member != 0) {
        drop(table.remove(*member, cx.call.name));
    }
}

pub fn aclDestroyScalar(cx: &Cx<'_>, scalar: Raw) -> Result<()> {
    destroy(cx, &cx.process.operators.scalars, scalar).map(drop)
}

pub fn aclDestroyIntArray(cx: &Cx<'_>, array: Raw) -> Result<()> {
    destroy(cx, &cx.process.operators.ints, array).map(drop)
}

pub fn aclDestroyFloatArray(cx: &Cx<'_>, array: Raw) -> Result<()> {
    destroy(cx, &cx.process.operators.floats, array).map(drop)
}

pub fn aclDestroyBoolArray(cx: &Cx<'_>, array: Raw) -> Result<()> {
    destroy(cx, &cx.process.operators.bools, array).map(drop)
}

pub fn aclDestroyTensorList(cx: &Cx<'_>, list: Raw) -> Result<()> {
    let objects = &cx.process.operators;
    if let Some(list) = destroy(cx, &objects.tensor_lists, list)? {
        destroy_members(cx, &objects.tensors, &list.members);
    }
    Ok(())
}

pub fn aclDestroyScalarList(cx: &Cx<'_>, list: Raw) -> Result<()> {
    let objects = &cx.process.operators;
    if let Some(list) = destroy(cx, &objects.scalar_lists, list)? {
        destroy_members(cx, &objects.scalars, &list.members);
    }
    Ok(())
}

pub fn aclGetIntArraySize(cx: &Cx<'_>, array: Raw) -> Result<u64> {
    Ok(cx.process.operators.ints.get(array.0)?.values.len() as u64)
}

pub fn aclGetFloatArraySize(cx: &Cx<'_>, array: Raw) -> Result<u64> {
    Ok(cx.process.operators.floats.get(array.0)?.values.len() as u64)
}

pub fn aclGetBoolArraySize(cx: &Cx<'_>, array: Raw) -> Result<u64> {
    Ok(cx.process.operators.bools.get(array.0)?.values.len() as u64)
}

pub fn aclGetTensorListSize(cx: &Cx<'_>, list: Raw) -> Result<u64> {
    let list = cx.process.operators.tensor_lists.get(list.0)?;
    Ok(list.members.len() as u64)
}

pub fn aclGetScalarListSize(cx: &Cx<'_>, list: Raw) -> Result<u64> {
    let list = cx.process.operators.scalar_lists.get(list.0)?;
    Ok(list.members.len() as u64)
}
