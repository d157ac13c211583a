//! Structures of the second interface of images and video, which Python has as dicts.
//!
//! The generator writes a [`Layout`] for each structure. A key that a dict lacks is 0; keys without a field are not read.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::ffi::{Count, FromArg, Object, Pointer, SUCCESS, Stop};

/// How a structure lies in memory. Its alignment is at most 8.
pub struct Layout {
    pub size: usize,
    pub fields: &'static [Field],
}

/// A field, or a member of a union.
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    pub kind: Kind,
    /// Which value selects a member of a union.
    pub when: When,
}

impl Field {
    /// Returns a field that is always there.
    pub const fn new(name: &'static str, offset: usize, kind: Kind) -> Field {
        Field {
            name,
            offset,
            kind,
            when: When::Always,
        }
    }

    /// Returns a member of a union.
    pub const fn member(name: &'static str, offset: usize, kind: Kind, when: When) -> Field {
        Field {
            name,
            offset,
            kind,
            when,
        }
    }
}

/// When a field is there.
pub enum When {
    Always,
    /// The number at an offset has this value.
    Equal(usize, u32),
    /// The number that is known from elsewhere has this value.
    Selected(u32),
}

/// What a field is.
pub enum Kind {
    Unsigned(usize),
    Signed(usize),
    Double,
    Structure(&'static Layout),
    /// Elements of a kind, and the bytes of each.
    Array(&'static Kind, usize, usize),
    /// The address of an array of structures, whose length is the 32-bit number at an offset.
    List(&'static Layout, usize),
}

/// The elements of an array that a dict names by its length alone.
const MOST_ELEMENTS: usize = 4096;

/// A structure, or a null pointer for `None`.
pub struct Structure {
    layout: &'static Layout,
    words: Vec<u64>,
    is_null: bool,
    /// The arrays that fields point to, by the offset of the field.
    arrays: Vec<(usize, Vec<u64>)>,
    /// What selects members of unions from outside.
    selector: Option<u32>,
}

/// Returns memory for a number of bytes, in words so that each structure is aligned.
fn words(bytes: usize) -> Vec<u64> {
    vec![0; bytes.div_ceil(8)]
}

fn store(words: &mut [u64], offset: usize, bytes: &[u8]) {
    for (at, byte) in (offset..).zip(bytes) {
        let mut word = words[at / 8].to_ne_bytes();
        word[at % 8] = *byte;
        words[at / 8] = u64::from_ne_bytes(word);
    }
}

fn load<const N: usize>(words: &[u64], offset: usize) -> [u8; N] {
    std::array::from_fn(|index| {
        let at = offset + index;
        words[at / 8].to_ne_bytes()[at % 8]
    })
}

/// Reads a number of up to eight bytes without a sign.
fn number(words: &[u64], offset: usize, bytes: usize) -> u64 {
    let mut value = [0; 8];
    for (at, byte) in (offset..).zip(&mut value[..bytes]) {
        [*byte] = load(words, at);
    }
    u64::from_le_bytes(value)
}

impl Structure {
    pub fn zeroed(layout: &'static Layout) -> Structure {
        Structure {
            layout,
            words: words(layout.size),
            is_null: false,
            arrays: Vec::new(),
            selector: None,
        }
    }

    /// Chooses the members of unions which nothing in the structure chooses.
    pub fn selected(mut self, selector: u32) -> Structure {
        self.selector = Some(selector);
        self
    }

    /// Reads a dict, or `None` for a null pointer.
    pub fn parse(object: &Bound<'_, PyAny>, layout: &'static Layout) -> Result<Structure, Stop> {
        let mut made = Structure::zeroed(layout);
        if object.is_none() {
            made.is_null = true;
            return Ok(made);
        }
        let dict = object.cast::<PyDict>().map_err(|_| Stop::Args)?;
        made.read(layout, 0, dict)?;
        Ok(made)
    }

    /// Reads a dict that is passed by value.
    pub fn parse_value(
        object: &Bound<'_, PyAny>,
        layout: &'static Layout,
    ) -> Result<Structure, Stop> {
        match object.is_none() {
            true => Err(Stop::Args),
            false => Structure::parse(object, layout),
        }
    }

    fn read(
        &mut self,
        layout: &'static Layout,
        base: usize,
        dict: &Bound<'_, PyDict>,
    ) -> Result<(), Stop> {
        for field in layout.fields {
            if let Some(value) = dict.get_item(field.name)?
                && self.has(field, base)
                && !matches!(field.kind, Kind::List(..))
            {
                self.read_field(&field.kind, base + field.offset, &value)?;
            }
        }
        // Their lengths are known now.
        for field in layout.fields {
            if let Kind::List(element, count) = &field.kind {
                let value = dict.get_item(field.name)?;
                let mut array = self.array(element, base + count, value.as_ref())?;
                let address = match array.is_empty() {
                    true => 0,
                    false => Pointer::of_mut(array.as_mut_slice()).number(),
                };
                // The memory stays where it is when the vector moves.
                self.arrays.push((base + field.offset, array));
                store(&mut self.words, base + field.offset, &address.to_ne_bytes());
            }
        }
        Ok(())
    }

    /// Reads the structures of an array. Without a list, makes as many as the structure says.
    fn array(
        &self,
        element: &'static Layout,
        count: usize,
        value: Option<&Bound<'_, PyAny>>,
    ) -> Result<Vec<u64>, Stop> {
        let count = number(&self.words, count, 4) as usize;
        let given = match value {
            Some(value) if !value.is_none() => StructureList::parse(value, element)?,
            _ => StructureList {
                words: Vec::new(),
                count: 0,
            },
        };
        let mut array = given.words;
        if count > MOST_ELEMENTS {
            return Err(Stop::Args);
        }
        let needed = words(count * element.size).len();
        array.resize(array.len().max(needed), 0);
        Ok(array)
    }

    fn read_field(
        &mut self,
        kind: &'static Kind,
        offset: usize,
        value: &Bound<'_, PyAny>,
    ) -> Result<(), Stop> {
        match kind {
            Kind::Unsigned(8) => {
                let value = u64::from_arg(value)?;
                store(&mut self.words, offset, &value.to_ne_bytes());
            }
            Kind::Unsigned(4) => {
                let value = u32::from_arg(value)?;
                store(&mut self.words, offset, &value.to_ne_bytes());
            }
            Kind::Unsigned(2) => {
                let value = u16::from_arg(value)?;
                store(&mut self.words, offset, &value.to_ne_bytes());
            }
            Kind::Unsigned(_) => {
                let value = u8::from_arg(value)?;
                store(&mut self.words, offset, &[value]);
            }
            Kind::Signed(8) => {
                let value = i64::from_arg(value)?;
                store(&mut self.words, offset, &value.to_ne_bytes());
            }
            Kind::Signed(4) => {
                let value = i32::from_arg(value)?;
                store(&mut self.words, offset, &value.to_ne_bytes());
            }
            Kind::Signed(2) => {
                let value = i16::from_arg(value)?;
                store(&mut self.words, offset, &value.to_ne_bytes());
            }
            Kind::Signed(_) => {
                let value = i8::from_arg(value)?;
                store(&mut self.words, offset, &value.to_ne_bytes());
            }
            Kind::Double => {
                let value = f64::from_arg(value)?;
                store(&mut self.words, offset, &value.to_ne_bytes());
            }
            Kind::Structure(layout) => {
                let dict = value.cast::<PyDict>().map_err(|_| Stop::Args)?;
                self.read(layout, offset, dict)?;
            }
            Kind::Array(element, size, length) => {
                let list = value.cast::<PyList>().map_err(|_| Stop::Args)?;
                if list.len() > *length {
                    return Err(Stop::Args);
                }
                for (index, item) in list.iter().enumerate() {
                    self.read_field(element, offset + index * size, &item)?;
                }
            }
            // Read by its structure, which knows the length.
            Kind::List(..) => return Err(Stop::Args),
        }
        Ok(())
    }

    fn has(&self, field: &Field, base: usize) -> bool {
        match field.when {
            When::Always => true,
            When::Equal(at, value) => number(&self.words, base + at, 4) == u64::from(value),
            When::Selected(value) => self.selector.is_none_or(|selector| selector == value),
        }
    }

    pub fn pointer(&self) -> Pointer {
        match self.is_null {
            true => Pointer::default(),
            false => Pointer::of(self.words.as_slice()),
        }
    }

    pub fn pointer_mut(&mut self) -> Pointer {
        match self.is_null {
            true => Pointer::default(),
            false => Pointer::of_mut(self.words.as_mut_slice()),
        }
    }

    /// Returns the structure as it is passed by value.
    pub fn value<const N: usize>(&self) -> ByValue<N> {
        ByValue(std::array::from_fn(|index| self.words[index]))
    }

    /// Reads a number of 32 bits.
    pub fn word(&self, offset: usize) -> u32 {
        u32::from_ne_bytes(load(&self.words, offset))
    }

    /// Its dict, given the code of the call.
    pub fn described(&self, ret: i32) -> DescribedStructure<'_> {
        DescribedStructure(self, ret)
    }

    fn dict<'py>(
        &self,
        py: Python<'py>,
        layout: &'static Layout,
        base: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dict = PyDict::new(py);
        for field in layout.fields {
            if self.has(field, base) {
                let value = self.object(py, &field.kind, base, base + field.offset)?;
                dict.set_item(field.name, value)?;
            }
        }
        Ok(dict.into_any())
    }

    fn object<'py>(
        &self,
        py: Python<'py>,
        kind: &'static Kind,
        base: usize,
        offset: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        match kind {
            Kind::Unsigned(bytes) => number(&self.words, offset, *bytes).object(py),
            Kind::Signed(bytes) => {
                let value = number(&self.words, offset, *bytes).cast_signed();
                let unused = 64 - 8 * *bytes;
                ((value << unused) >> unused).object(py)
            }
            Kind::Double => f64::from_ne_bytes(load(&self.words, offset)).object(py),
            Kind::Structure(layout) => self.dict(py, layout, offset),
            Kind::Array(element, size, length) => {
                let items = (0..*length)
                    .map(|index| self.object(py, element, base, offset + index * size))
                    .collect::<PyResult<Vec<_>>>()?;
                Ok(PyList::new(py, items)?.into_any())
            }
            Kind::List(layout, count) => {
                let wanted = number(&self.words, base + count, 4) as usize;
                let array = self.arrays.iter().find(|(at, _)| *at == offset);
                let array = array.map_or(&[][..], |(_, array)| array.as_slice());
                // The count is the library's word, the array's end is ours.
                let most = array.len() * 8 / layout.size;
                let mut elements = Structure::zeroed(layout);
                elements.words = array.to_vec();
                let items = (0..wanted.min(most))
                    .map(|index| elements.dict(py, layout, index * layout.size))
                    .collect::<PyResult<Vec<_>>>()?;
                Ok(PyList::new(py, items)?.into_any())
            }
        }
    }
}

/// A structure and the code of the call that filled it.
pub struct DescribedStructure<'a>(&'a Structure, i32);

impl Object for DescribedStructure<'_> {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.1 {
            SUCCESS => self.0.dict(py, self.0.layout, 0),
            _ => Ok(PyDict::new(py).into_any()),
        }
    }
}

/// A structure of more than 16 bytes that is passed by value. The calling conventions of x86-64 and aarch64 copy those to memory,
/// whatever their fields are.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ByValue<const N: usize>([u64; N]);

/// Structures one after the other, from a list of dicts.
pub struct StructureList {
    words: Vec<u64>,
    count: usize,
}

impl StructureList {
    pub fn parse(
        object: &Bound<'_, PyAny>,
        layout: &'static Layout,
    ) -> Result<StructureList, Stop> {
        let list = object.cast::<PyList>().map_err(|_| Stop::Args)?;
        let mut all = words(list.len() * layout.size);
        for (index, item) in list.iter().enumerate() {
            let one = Structure::parse(&item, layout)?;
            if one.is_null || !one.arrays.is_empty() {
                return Err(Stop::Args);
            }
            for at in 0..layout.size {
                store(
                    &mut all,
                    index * layout.size + at,
                    &load::<1>(&one.words, at),
                );
            }
        }
        Ok(StructureList {
            words: all,
            count: list.len(),
        })
    }

    /// The library writes nothing here, though its parameter is not const.
    pub fn pointer(&self) -> Pointer {
        match self.count {
            0 => Pointer::default(),
            _ => Pointer::of(self.words.as_slice()),
        }
    }
}

impl Count for StructureList {
    fn count(&self) -> usize {
        self.count
    }
}

/// Structures that a call fills, of which it says how many.
pub struct StructureSpace {
    layout: &'static Layout,
    words: Vec<u64>,
}

impl StructureSpace {
    /// Makes space for a number of structures, at most [`MOST_ELEMENTS`].
    pub fn new(layout: &'static Layout, most: usize) -> StructureSpace {
        StructureSpace {
            layout,
            words: words(most.min(MOST_ELEMENTS) * layout.size),
        }
    }

    /// Returns how many structures there is space for.
    pub fn space(&self) -> usize {
        self.words.len() * 8 / self.layout.size
    }

    pub fn pointer_mut(&mut self) -> Pointer {
        Pointer::of_mut(self.words.as_mut_slice())
    }

    /// The dicts of the first structures, at most of those there was space for.
    pub fn first(&self, count: usize) -> FilledStructures<'_> {
        FilledStructures(self, count.min(self.space()))
    }
}

/// Structures that a call filled, and their number.
pub struct FilledStructures<'a>(&'a StructureSpace, usize);

impl Object for FilledStructures<'_> {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let FilledStructures(of, count) = self;
        let mut all = Structure::zeroed(of.layout);
        all.words.clone_from(&of.words);
        let items = (0..*count)
            .map(|index| all.dict(py, of.layout, index * of.layout.size))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, items)?.into_any())
    }
}

/// The addresses of structures, from a list of dicts; `None` is a null pointer.
pub struct StructurePointers {
    addresses: Vec<Pointer>,
    _structures: Vec<Structure>,
}

impl StructurePointers {
    pub fn parse(
        object: &Bound<'_, PyAny>,
        layout: &'static Layout,
    ) -> Result<StructurePointers, Stop> {
        let list = object.cast::<PyList>().map_err(|_| Stop::Args)?;
        let structures = list
            .iter()
            .map(|item| Structure::parse(&item, layout))
            .collect::<Result<Vec<_>, Stop>>()?;
        Ok(StructurePointers {
            addresses: structures.iter().map(Structure::pointer).collect(),
            _structures: structures,
        })
    }

    pub fn pointer(&self) -> Pointer {
        Pointer::of(self.addresses.as_slice())
    }
}

impl Count for StructurePointers {
    fn count(&self) -> usize {
        self.addresses.len()
    }
}

/// Five rows of five weights, from a list of lists; `None` is a null pointer.
pub struct Kernel(Option<[[i8; 5]; 5]>);

impl Kernel {
    pub fn pointer(&self) -> Pointer {
        self.0.as_ref().map_or_else(Pointer::default, Pointer::of)
    }
}

impl FromArg for Kernel {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        if object.is_none() {
            return Ok(Kernel(None));
        }
        let rows = Vec::<Vec<i8>>::from_arg(object)?
            .into_iter()
            .map(|row| row.try_into().map_err(|_| Stop::Args))
            .collect::<Result<Vec<[i8; 5]>, Stop>>()?;
        Ok(Kernel(Some(rows.try_into().map_err(|_| Stop::Args)?)))
    }
}

/// A dict or `None` that no call reads: it is passed as a null pointer.
pub struct Unread;

impl Unread {
    pub fn pointer(&self) -> Pointer {
        Pointer::default()
    }
}

impl FromArg for Unread {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        match object.is_none() || object.cast::<PyDict>().is_ok() {
            true => Ok(Unread),
            false => Err(Stop::Args),
        }
    }
}

/// Returns a code of the second interface as its documentation lists it: without a sign.
pub fn media_code(ret: i32) -> u32 {
    ret.cast_unsigned()
}
