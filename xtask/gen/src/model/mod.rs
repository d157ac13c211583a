//! The API data in memory: `api/*.toml` and `api/types/*.toml`, parsed and checked.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

mod read;

/// Everything that the API data says.
pub struct Api {
    /// The groups of functions, by name.
    pub groups: Vec<Group>,
    /// Enumerations, in the order of their file.
    pub enums: Vec<Enum>,
    /// Structures and unions, each after those it contains.
    pub structs: Vec<Struct>,
    /// Handle types.
    pub handles: Vec<Handle>,
    /// Function types that a program hands in.
    pub callbacks: Vec<Callback>,
    /// Plain names for C types.
    pub aliases: Vec<Alias>,
    /// Constants and macros.
    pub constants: Vec<Constant>,
    /// Kinds of errors.
    pub kinds: Vec<Kind>,
    index: HashMap<String, NamedType>,
}

/// What a C type name stands for.
#[derive(Clone, Copy)]
pub enum NamedType {
    /// An enumeration; the position in [`Api::enums`].
    Enum(usize),
    /// A struct or union with a known layout.
    Struct(usize),
    /// A handle.
    Handle(usize),
    /// A function type.
    Callback,
    /// An alias.
    Alias(usize),
}

/// A group of functions. Its module of jumar-acl has the same name.
pub struct Group {
    /// The group's name, which is its file's.
    pub name: String,
    /// The functions, in the order of the file.
    pub functions: Vec<Function>,
}

/// One function.
pub struct Function {
    /// The C name.
    pub name: String,
    /// The header that declares it, relative to `include/acl`.
    pub header: String,
    /// The C type of the result.
    pub ret: CType,
    /// The parameters.
    pub params: Vec<Param>,
    /// Whether it is not implemented yet.
    pub stub: bool,
    /// Whether the shim is written by hand.
    pub manual: bool,
    /// Whether the vendor advises against it.
    pub deprecated: bool,
    /// Whether it takes further arguments.
    pub variadic: bool,
    /// One line in the third person; empty if missing.
    pub brief: String,
    /// The kinds of errors it answers.
    pub errors: Vec<String>,
    /// The kinds for which it answers another code than `errors.toml` says.
    pub codes: BTreeMap<String, i64>,
    /// What a function without a status answers on an error.
    pub neutral: Neutral,
    /// The module of jumar-acl that implements it, if that is not the group's.
    pub module: Option<String>,
    /// An `aclError` that is the answer and no status: the safe function returns it.
    pub code_is_answer: bool,
    /// Where the signature was learnt.
    pub source: String,
}

/// What a function without a status answers on an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Neutral {
    /// A number, or null for a pointer if 0.
    Number(i64),
    /// The empty text.
    EmptyText,
}

/// One parameter.
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its C type.
    pub ctype: CType,
    /// How it is handed on.
    pub passing: Passing,
}

/// How a parameter is handed to the safe function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passing {
    /// By its value.
    Plain,
    /// As an address.
    Address,
    /// As a handle.
    Handle,
    /// As text.
    Text,
    /// As a reference to a struct.
    In,
    /// As a part of the result.
    Out {
        /// Null is allowed and skipped.
        optional: bool,
        /// The function returns a `Box`.
        boxed: bool,
    },
    /// As a vector in the result.
    OutArray {
        /// How long it may be.
        count: Count,
        /// Null is allowed and skipped.
        optional: bool,
    },
    /// By value, and as a part of the result.
    InOut,
    /// As a slice.
    Slice(Count),
    /// As a range of memory.
    Span(Count),
}

/// The length of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Count {
    /// The value of another parameter.
    Param(String),
    /// A number.
    Fixed(usize),
    /// The size in bytes of one element of the data type that another parameter names.
    Element(String),
    /// From the first byte of the first row of a matrix to the last byte of its last one: pitch, width and number of rows.
    Rows([String; 3]),
}

/// The parts of a C type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CType {
    /// As written in the data.
    pub text: String,
    /// The name at its heart.
    pub base: String,
    /// Whether that is `const`.
    pub konst: bool,
    /// How many pointers lie around it.
    pub stars: usize,
    /// `[]` and `[][2]` of array parameters, `[4]` of fields.
    pub array: Vec<Option<usize>>,
    /// A function type written out.
    pub function: bool,
}

impl CType {
    /// Reports whether a function with this result returns a status.
    pub fn is_status(&self) -> bool {
        ["aclError", "aclnnStatus"].contains(&self.text.as_str())
            || self.is_hccl()
            || self.is_media()
    }

    /// Reports whether a function with this result returns a status of collective communication.
    pub fn is_hccl(&self) -> bool {
        self.text == "HcclResult"
    }

    /// Reports whether a function with this result returns a status of the second interface of images and video.
    pub fn is_media(&self) -> bool {
        self.text == "hi_s32"
    }
}

/// An enumeration.
pub struct Enum {
    /// The type's name.
    pub name: String,
    /// The header that declares it.
    pub header: String,
    /// The name after `enum`.
    pub tag: String,
    /// Whether the compiler represents it as an unsigned type.
    pub unsigned: bool,
    /// Names and values.
    pub values: Vec<(String, i64)>,
}

/// A structure or union.
pub struct Struct {
    /// The type's name.
    pub name: String,
    /// The header that declares it.
    pub header: String,
    /// The name after `struct`.
    pub tag: String,
    /// Whether it is a union.
    pub union: bool,
    /// Its size in bytes.
    pub size: usize,
    /// Its alignment in bytes.
    pub align: usize,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// A field.
pub struct Field {
    /// Its name; empty for an anonymous union.
    pub name: String,
    /// Its type; `None` for a union written in place.
    pub ctype: Option<CType>,
    /// The name after `union`, where the union written in place has one.
    pub tag: String,
    /// The members of a union written in place.
    pub members: Vec<Field>,
    /// Its offset in bytes.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

/// A handle type.
pub struct Handle {
    /// The type's name.
    pub name: String,
    /// The header that declares it.
    pub header: String,
    /// The tag of the incomplete struct; `None` for `void *`.
    pub tag: Option<String>,
}

/// A function type that a program hands in.
pub struct Callback {
    /// The type's name.
    pub name: String,
    /// The header that declares it.
    pub header: String,
    /// What it returns.
    pub ret: CType,
    /// Names and types of its parameters.
    pub params: Vec<(String, CType)>,
}

/// A plain name for a C type.
pub struct Alias {
    /// The type's name.
    pub name: String,
    /// The header that declares it.
    pub header: String,
    /// The C type.
    pub ctype: String,
}

/// A constant.
pub struct Constant {
    /// Its name.
    pub name: String,
    /// The header that declares it.
    pub header: String,
    /// Its value.
    pub value: ConstantValue,
}

/// What a constant is.
pub enum ConstantValue {
    /// `static const T NAME = value`.
    Typed(String, i64),
    /// A macro for a number: its literal and its value.
    Macro(String, i64),
    /// A macro for a text.
    Text(String),
}

/// A kind of error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// Its name, as in `jumar_types::ErrorKind`.
    #[serde(skip)]
    pub kind: String,
    /// The number a C program sees.
    pub code: i64,
    /// The constant's name.
    pub name: String,
    /// The `HcclResult` that functions of collective communication return for it.
    #[serde(default)]
    pub hccl: Option<i64>,
    /// The id in the code that functions of the second interface of images and video return for it.
    #[serde(default)]
    pub media: Option<i64>,
    /// The id of the vendor's message that opens the text.
    pub vendor: String,
    /// The general advice.
    pub fix: String,
    /// The Python class, where it is not the base class.
    #[serde(default)]
    #[expect(dead_code, reason = "read by the Python generator only")]
    pub python: Option<String>,
}

impl Api {
    /// Lists the functions of all groups, group by group.
    pub fn functions(&self) -> impl Iterator<Item = (&Group, &Function)> {
        self.groups.iter().flat_map(|group| {
            group
                .functions
                .iter()
                .map(move |function| (group, function))
        })
    }

    /// Finds what a type name stands for; `None` for C's own types.
    pub fn named(&self, name: &str) -> Option<NamedType> {
        self.index.get(name).copied()
    }

    /// Finds an enumeration.
    pub fn find_enum(&self, name: &str) -> Option<&Enum> {
        match self.named(name) {
            Some(NamedType::Enum(at)) => Some(&self.enums[at]),
            _ => None,
        }
    }

    /// Finds a struct or union.
    pub fn find_struct(&self, name: &str) -> Option<&Struct> {
        match self.named(name) {
            Some(NamedType::Struct(at)) => Some(&self.structs[at]),
            _ => None,
        }
    }

    /// Finds a handle.
    pub fn find_handle(&self, name: &str) -> Option<&Handle> {
        match self.named(name) {
            Some(NamedType::Handle(at)) => Some(&self.handles[at]),
            _ => None,
        }
    }

    /// Returns whether a type is a function pointer.
    pub fn is_callback(&self, ctype: &CType) -> bool {
        ctype.function || matches!(self.named(&ctype.base), Some(NamedType::Callback))
    }

    /// Returns whether a type is a handle: `void *` by name, or a pointer to an incomplete struct.
    pub fn is_handle(&self, ctype: &CType) -> bool {
        self.find_handle(&ctype.base)
            .is_some_and(|handle| match handle.tag {
                None => ctype.stars == 0,
                Some(_) => ctype.stars == 1,
            })
            && ctype.array.is_empty()
    }
}
