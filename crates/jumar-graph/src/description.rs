//! What a model says about its inputs and outputs.

use jumar_types::dtype::DataType;

/// The order of a tensor's axes, numbered as `aclFormat`.
///
/// # Source
///
/// acl_base_rt.h (`aclFormat`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Format {
    /// Batch, channels, height, width.
    Nchw = 0,
    /// Batch, height, width, channels.
    Nhwc = 1,
    /// Any number of axes without a meaning.
    Nd = 2,
    /// Batch, depth, height, width, channels.
    Ndhwc = 27,
    /// Batch, channels, depth, height, width.
    Ncdhw = 30,
}

impl Format {
    /// Returns the number that `aclFormat` uses.
    pub const fn acl(self) -> i32 {
        self as i32
    }

    pub(crate) fn from_acl(number: i32) -> Option<Format> {
        [
            Format::Nchw,
            Format::Nhwc,
            Format::Nd,
            Format::Ndhwc,
            Format::Ncdhw,
        ]
        .into_iter()
        .find(|format| format.acl() == number)
    }

    pub(crate) fn from_name(name: &str) -> Option<Format> {
        Some(match name {
            "NCHW" => Format::Nchw,
            "NHWC" => Format::Nhwc,
            "ND" => Format::Nd,
            "NDHWC" => Format::Ndhwc,
            "NCDHW" => Format::Ncdhw,
            _ => return None,
        })
    }

    /// Returns the number of axes that the format names; `None` for any number.
    pub(crate) const fn rank(self) -> Option<usize> {
        match self {
            Format::Nchw | Format::Nhwc => Some(4),
            Format::Ndhwc | Format::Ncdhw => Some(5),
            Format::Nd => None,
        }
    }
}

/// One input or output of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The name: an input's as in the imported model, an output's as `node:index:name`.
    pub name: String,
    /// The element type.
    pub dtype: DataType,
    /// The dimensions; -1 is open.
    pub dims: Vec<i64>,
    /// The lower and the upper bound of each dimension; empty if all are static or no bounds are known.
    pub range: Vec<(i64, i64)>,
    /// The order of the axes.
    pub format: Format,
    /// The size.
    ///
    /// # Units
    ///
    /// Bytes, without any padding. Of dynamic dimensions the largest counts; 0 where there is none.
    pub bytes: usize,
}

/// The name of the input that says which gear of a model is meant.
pub const GEAR_INPUT: &str = "ascend_mbatch_shape_data";

/// What a model's gears choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GearKind {
    /// There are none.
    #[default]
    None,
    /// The batch size: one number.
    Batch,
    /// Height and width of an image: two numbers.
    Image,
    /// Every dynamic dimension: a number each.
    Dims,
}

/// One of the sizes that a model was built for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Gear {
    /// The numbers that choose it.
    pub values: Vec<i64>,
    /// The dimensions of the model's own inputs.
    pub inputs: Vec<Vec<i64>>,
    /// The dimensions of its outputs.
    pub outputs: Vec<Vec<i64>>,
}

/// Inputs and outputs of a model.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Description {
    /// The model's name.
    pub name: String,
    /// The inputs, in order.
    pub inputs: Vec<Port>,
    /// The outputs, in order.
    pub outputs: Vec<Port>,
    /// What the gears choose.
    pub gear_kind: GearKind,
    /// The gears, in the order in which they were given. Where there are some, an input more says which is meant.
    pub gears: Vec<Gear>,
}
