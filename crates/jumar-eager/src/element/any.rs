//! Views of tensors whose type is known when a kernel runs, and whose rows are converted to float32 and back.

use jumar_ops::math::{convert, round, widen};
use jumar_ops::view::{BF16, Bool8, F16, Layout, Row, RowMut, View, ViewMut};
use jumar_ops::{Call, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::compute::Cell;

/// Creates the report of a defect of a kernel's own plan.
#[cold]
pub(crate) fn internal(text: &str) -> OpError {
    OpError::new(OpErrorKind::Internal, text)
}

macro_rules! any_view {
    ($($name:ident $type:ty, $load:path, $store:path;)*) => {
        /// An input of any real type, which threads may share.
        #[derive(Clone, Copy)]
        pub(crate) enum AnyView<'a> {
            $($name(View<'a, $type>),)*
        }

        /// An output of any real type, which threads may share.
        #[derive(Clone, Copy)]
        pub(crate) enum AnyViewMut<'a> {
            $($name(ViewMut<'a, $type>),)*
        }

        impl<'a> AnyView<'a> {
            /// Returns an input of a call.
            pub fn new(call: &Call<'a>, index: usize, dtype: DataType) -> Result<AnyView<'a>, OpError> {
                match dtype {
                    $(DataType::$name => Ok(AnyView::$name(call.input::<$type>(index)?)),)*
                    _ => Err(internal("an input of this type has no rows")),
                }
            }

            /// Returns shape and strides.
            pub fn layout(&self) -> &'a Layout {
                match self {
                    $(AnyView::$name(view) => view.layout(),)*
                }
            }

            /// Converts a row.
            pub fn load(&self, start: usize, step: isize, to: RowMut<'_, f32>) {
                match self {
                    $(AnyView::$name(view) => {
                        let row = view.row(start, to.len(), step);
                        $load(row, to);
                    })*
                }
            }
        }

        impl<'a> AnyViewMut<'a> {
            /// Returns an output of a call.
            pub fn new(call: &Call<'a>, index: usize, dtype: DataType) -> Result<AnyViewMut<'a>, OpError> {
                match dtype {
                    $(DataType::$name => Ok(AnyViewMut::$name(call.output::<$type>(index)?)),)*
                    _ => Err(internal("an output of this type has no rows")),
                }
            }

            /// Returns shape and strides.
            pub fn layout(&self) -> &'a Layout {
                match self {
                    $(AnyViewMut::$name(view) => view.layout(),)*
                }
            }

            /// Converts a row of float32 to the type of the view.
            pub fn store(&self, start: usize, step: isize, from: Row<'_, f32>) {
                match self {
                    $(AnyViewMut::$name(view) => {
                        let row = view.row(start, from.len(), step);
                        $store(from, row);
                    })*
                }
            }
        }
    };
}

/// Converts a row to float32.
fn load<C: Cell>(from: Row<'_, C::Raw>, to: RowMut<'_, f32>) {
    convert(from, to, C::upcast::<f32>);
}

/// Converts a row from float32.
fn store<C: Cell>(from: Row<'_, f32>, to: RowMut<'_, C::Raw>) {
    convert(from, to, C::downcast::<f32>);
}

any_view! {
    Float32 f32, widen, round;
    Float64 f64, load::<f64>, store::<f64>;
    Float16 F16, widen, round;
    BFloat16 BF16, widen, round;
    Int8 i8, load::<i8>, store::<i8>;
    Int16 i16, load::<i16>, store::<i16>;
    Int32 i32, load::<i32>, store::<i32>;
    Int64 i64, load::<i64>, store::<i64>;
    UInt8 u8, load::<u8>, store::<u8>;
    UInt16 u16, load::<u16>, store::<u16>;
    UInt32 u32, load::<u32>, store::<u32>;
    UInt64 u64, load::<u64>, store::<u64>;
    Bool Bool8, load::<Bool8>, store::<Bool8>;
}

impl<'a> AnyView<'a> {
    /// Returns a row where it lies, if it is float32.
    pub fn float32(&self, start: usize, len: usize, step: isize) -> Option<Row<'a, f32>> {
        match self {
            AnyView::Float32(view) => Some(view.row(start, len, step)),
            _ => None,
        }
    }

    /// Returns a row where it lies, if it is int64.
    pub fn int64(&self, start: usize, len: usize, step: isize) -> Option<Row<'a, i64>> {
        match self {
            AnyView::Int64(view) => Some(view.row(start, len, step)),
            _ => None,
        }
    }
}

impl<'a> AnyViewMut<'a> {
    /// Returns a row where it lies, if it is float32.
    pub fn float32(&self, start: usize, len: usize, step: isize) -> Option<RowMut<'a, f32>> {
        match self {
            AnyViewMut::Float32(view) => Some(view.row(start, len, step)),
            _ => None,
        }
    }
}
