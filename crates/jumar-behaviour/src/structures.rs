//! What the driver knows of a C structure: its size, and where its fields lie.

/// A structure.
pub struct Structure {
    /// The C name.
    pub name: &'static str,
    /// Its size in bytes.
    pub size: usize,
    /// Its fields.
    pub fields: &'static [Field],
}

/// A field: its name, a dot before that of a union's member, its C type, and where it lies.
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The C type.
    pub of: &'static str,
    /// Its offset in bytes.
    pub at: usize,
    /// The lengths of an array.
    pub lengths: &'static [usize],
}

/// Defines the table of structures: name, size, and for each field offset, name, type and lengths.
macro_rules! structures {
    ($($name:ident $size:literal { $($at:literal $field:literal: $of:literal [$($length:literal),*]),* })*) => {
        /// The structures.
        pub const STRUCTURES: &[$crate::structures::Structure] = &[$($crate::structures::Structure {
            name: stringify!($name),
            size: $size,
            fields: &[$($crate::structures::Field {
                name: $field,
                of: $of,
                at: $at,
                lengths: &[$($length),*],
            }),*],
        }),*];
    };
}
pub(crate) use structures;
