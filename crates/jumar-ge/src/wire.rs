//! Messages: what crosses the edge of the library, as bytes. Numbers are little endian; a text or a list has its length
//! before it. Both ends come from one build, so that there is no version; a message is checked all the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lowering::{Data, Desc, Value};
use crate::{GeError, GeResult};

/// Reads a message from its beginning.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads these bytes.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// Returns whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, count: usize) -> GeResult<&'a [u8]> {
        let Some((head, rest)) = self.rest.split_at_checked(count) else {
            return Err(GeError::new(format!(
                "the data is cut short: {count} bytes are wanted and {} are left",
                self.rest.len()
            )));
        };
        self.rest = rest;
        Ok(head)
    }

    pub fn u64(&mut self) -> GeResult<u64> {
        let bytes = self.take(8)?;
        Ok(bytes.first_chunk().map_or(0, |b| u64::from_le_bytes(*b)))
    }

    pub fn int(&mut self) -> GeResult<i64> {
        Ok(self.u64()?.cast_signed())
    }

    pub fn index(&mut self) -> GeResult<usize> {
        usize::try_from(self.u64()?).map_err(|_| GeError::new("a number is too large"))
    }

    fn number32(&mut self) -> GeResult<i32> {
        i32::try_from(self.int()?).map_err(|_| GeError::new("a number is too large"))
    }

    /// A length, of items that take this many bytes at least each.
    fn length(&mut self, least: usize) -> GeResult<usize> {
        let length = self.index()?;
        if length
            .checked_mul(least)
            .is_none_or(|bytes| bytes > self.rest.len())
        {
            return Err(GeError::new(format!(
                "the data is damaged: a list of {length} does not fit"
            )));
        }
        Ok(length)
    }

    pub fn bytes(&mut self) -> GeResult<&'a [u8]> {
        let length = self.length(1)?;
        self.take(length)
    }

    pub fn text(&mut self) -> GeResult<String> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| GeError::new("a text is not UTF-8"))
    }

    pub fn list<T>(
        &mut self,
        least: usize,
        mut each: impl FnMut(&mut Self) -> GeResult<T>,
    ) -> GeResult<Vec<T>> {
        let length = self.length(least)?;
        (0..length).map(|_| each(self)).collect()
    }

    pub fn ints(&mut self) -> GeResult<Vec<i64>> {
        self.list(8, Self::int)
    }

    pub fn map(&mut self) -> GeResult<BTreeMap<String, String>> {
        let pairs = self.list(16, |from| Ok((from.text()?, from.text()?)))?;
        Ok(pairs.into_iter().collect())
    }

    pub fn desc(&mut self) -> GeResult<TensorDescExt> {
        Ok(TensorDescExt {
            desc: Desc {
                dtype: self.number32()?,
                format: self.number32()?,
                dims: self.ints()?,
            },
            rest: self.bytes()?.to_vec(),
        })
    }

    fn data(&mut self) -> GeResult<Data> {
        Ok(Data {
            desc: self.desc()?.desc,
            bytes: Arc::new(self.bytes()?.to_vec()),
        })
    }

    pub fn value(&mut self) -> GeResult<Value> {
        let float = |from: &mut Self| Ok(f32::from_bits(from.u64()? as u32));
        Ok(match self.u64()? {
            1 => Value::Int(self.int()?),
            2 => Value::Float(float(self)?),
            3 => Value::Bool(self.u64()? != 0),
            4 => Value::Str(self.text()?),
            5 => Value::Tensor(self.data()?),
            6 => Value::Type(self.number32()?),
            7 => Value::Ints(self.ints()?),
            8 => Value::Floats(self.list(8, float)?),
            9 => Value::Bools(self.list(8, |from| Ok(from.u64()? != 0))?),
            10 => Value::Strs(self.list(8, Self::text)?),
            11 => Value::IntLists(self.list(8, Self::ints)?),
            12 => Value::Types(self.list(8, Self::number32)?),
            13 => Value::Bytes(self.bytes()?.to_vec()),
            14 => Value::Tensors(self.list(40, Self::data)?),
            other => {
                return Err(GeError::new(format!(
                    "attributes of kind {other} are not known"
                )));
            }
        })
    }
}

/// A description, and what a program said beside it, which is only kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorDescExt {
    pub desc: Desc,
    pub rest: Vec<u8>,
}

/// Writes a message.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub fn int(&mut self, value: i64) {
        self.u64(value.cast_unsigned());
    }

    pub fn blob(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.blob(text.as_bytes());
    }

    pub fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.u64(items.len() as u64);
        items.iter().for_each(|item| each(self, item));
    }

    pub fn ints(&mut self, list: &[i64]) {
        self.list(list, |to, value| to.int(*value));
    }

    pub fn tensor_desc(&mut self, desc: &Desc, rest: &[u8]) {
        self.int(i64::from(desc.dtype));
        self.int(i64::from(desc.format));
        self.ints(&desc.dims);
        self.blob(rest);
    }

    fn data(&mut self, data: &Data) {
        self.tensor_desc(&data.desc, &[]);
        self.blob(&data.bytes);
    }

    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Int(value) => {
                self.u64(1);
                self.int(*value);
            }
            Value::Float(value) => {
                self.u64(2);
                self.u64(u64::from(value.to_bits()));
            }
            Value::Bool(value) => {
                self.u64(3);
                self.u64(u64::from(*value));
            }
            Value::Str(text) => {
                self.u64(4);
                self.text(text);
            }
            Value::Tensor(data) => {
                self.u64(5);
                self.data(data);
            }
            Value::Type(number) => {
                self.u64(6);
                self.int(i64::from(*number));
            }
            Value::Ints(list) => {
                self.u64(7);
                self.ints(list);
            }
            Value::Floats(list) => {
                self.u64(8);
                self.list(list, |to, value| to.u64(u64::from(value.to_bits())));
            }
            Value::Bools(list) => {
                self.u64(9);
                self.list(list, |to, value| to.u64(u64::from(*value)));
            }
            Value::Strs(list) => {
                self.u64(10);
                self.list(list, |to, text| to.text(text));
            }
            Value::IntLists(list) => {
                self.u64(11);
                self.list(list, |to, list| to.ints(list));
            }
            Value::Types(list) => {
                self.u64(12);
                self.list(list, |to, number| to.int(i64::from(*number)));
            }
            Value::Bytes(bytes) => {
                self.u64(13);
                self.blob(bytes);
            }
            Value::Tensors(list) => {
                self.u64(14);
                self.list(list, |to, data| to.data(data));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_a_cut_is_noticed_wherever_it_falls() {
        let value = Value::Tensors(vec![Data {
            desc: Desc {
                dims: vec![2, 1],
                dtype: 3,
                format: 1,
            },
            bytes: Arc::new(vec![1, 2, 3, 4, 5, 6, 7, 8]),
        }]);
        let mut to = Writer::default();
        to.value(&value);
        assert_eq!(Reader::new(&to.bytes).value().ok(), Some(value));
        for cut in 0..to.bytes.len() {
            assert!(Reader::new(&to.bytes[..cut]).value().is_err(), "{cut}");
        }
        let mut absurd = 7u64.to_le_bytes().to_vec();
        absurd.extend(u64::MAX.to_le_bytes());
        assert!(Reader::new(&absurd).value().is_err());
    }
}
