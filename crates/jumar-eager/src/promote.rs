//! Type promotion of aclnn operators.

use jumar_types::dtype::DataType;

use DataType as D;

/// The kinds of types, in the order in which they win over each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Bool,
    Integer,
    Float,
    Complex,
}

fn kind(dtype: DataType) -> Option<Kind> {
    Some(match dtype {
        D::Bool => Kind::Bool,
        D::Complex32 | D::Complex64 | D::Complex128 => Kind::Complex,
        dtype if dtype.is_integer() => Kind::Integer,
        dtype if dtype.is_float() => Kind::Float,
        _ => return None,
    })
}

/// Reports whether a type is complex.
pub(crate) fn is_complex(dtype: DataType) -> bool {
    kind(dtype) == Some(Kind::Complex)
}

/// Returns the type of the parts of a complex type; other types stay.
pub(crate) fn part(dtype: DataType) -> DataType {
    match dtype {
        D::Complex32 => D::Float16,
        D::Complex64 => D::Float32,
        D::Complex128 => D::Float64,
        other => other,
    }
}

/// uint16, uint32 and uint64 combine with no other type.
fn is_lone(dtype: DataType) -> bool {
    matches!(dtype, D::UInt16 | D::UInt32 | D::UInt64)
}

/// Returns the type of the result of two tensors. `None`: the two do not combine.
pub(crate) fn tensors(one: DataType, two: DataType) -> Option<DataType> {
    if one == two {
        return Some(one);
    }
    let (first, second) = (kind(one)?, kind(two)?);
    if is_lone(one) || is_lone(two) {
        return None;
    }
    // `low` has the lower kind.
    let (low, high) = if first <= second {
        (one, two)
    } else {
        (two, one)
    };
    match kind(high)? {
        Kind::Bool => Some(D::Bool),
        Kind::Integer if low == D::Bool => Some(high),
        Kind::Integer => {
            let width = |dtype: DataType| match dtype {
                D::UInt8 => 0,
                D::Int8 => 1,
                D::Int16 => 2,
                D::Int32 => 3,
                _ => 4,
            };
            let larger = if width(low) > width(high) { low } else { high };
            // int8 and uint8 have no common type of 8 bits.
            Some(if width(larger) == 1 { D::Int16 } else { larger })
        }
        Kind::Float if kind(low) != Some(Kind::Float) => Some(high),
        Kind::Float => Some(match (low, high) {
            (D::Float64, _) | (_, D::Float64) => D::Float64,
            _ => D::Float32,
        }),
        Kind::Complex => {
            let part = |dtype: DataType| match dtype {
                D::Complex128 | D::Float64 => 2,
                D::Complex64 | D::Float32 => 1,
                _ => 0,
            };
            Some([D::Complex32, D::Complex64, D::Complex128][part(low).max(part(high))])
        }
    }
}

/// Returns the type of the result of a tensor and a host scalar. `None`: the two do not combine.
pub(crate) fn scalar(tensor: DataType, scalar: DataType) -> Option<DataType> {
    let (own, other) = (kind(tensor)?, kind(scalar)?);
    match other {
        Kind::Bool => Some(tensor),
        Kind::Integer if own == Kind::Bool => (!is_lone(scalar)).then_some(scalar),
        Kind::Integer => Some(tensor),
        Kind::Float => match own {
            Kind::Float => Some(tensor),
            Kind::Complex if scalar == D::Float64 => Some(D::Complex128),
            Kind::Complex => Some(tensor),
            Kind::Integer | Kind::Bool => (!is_lone(tensor)).then_some(D::Float32),
        },
        Kind::Complex => match tensor {
            D::Float16 => Some(D::Complex32),
            D::Float64 => Some(D::Complex128),
            _ if own == Kind::Complex => Some(tensor),
            _ => (!is_lone(tensor)).then_some(D::Complex64),
        },
    }
}

/// Reports whether results of one type may be written to an output of another.
pub(crate) fn converts(from: DataType, to: DataType) -> bool {
    if from == to {
        return true;
    }
    match (kind(from), kind(to)) {
        (Some(Kind::Bool), Some(_)) => true,
        (Some(_), Some(Kind::Bool)) => false,
        (Some(Kind::Complex), Some(Kind::Integer)) => false,
        (Some(_), Some(_)) => true,
        _ => false,
    }
}

/// Returns the type that functions of floats compute integers in.
pub(crate) fn real(dtype: DataType) -> DataType {
    match kind(dtype) {
        Some(Kind::Bool | Kind::Integer) => D::Float32,
        _ => dtype,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_combine_as_table_1_says() {
        for (one, two, result) in [
            (D::Float16, D::Float16, Some(D::Float16)),
            (D::UInt16, D::UInt16, Some(D::UInt16)),
            (D::UInt16, D::Int64, None),
            (D::UInt64, D::Float32, None),
            (D::Bool, D::UInt32, None),
            (D::Bool, D::Int8, Some(D::Int8)),
            (D::Bool, D::Complex64, Some(D::Complex64)),
            (D::Int8, D::UInt8, Some(D::Int16)),
            (D::UInt8, D::Int16, Some(D::Int16)),
            (D::Int8, D::Int16, Some(D::Int16)),
            (D::Int16, D::Int32, Some(D::Int32)),
            (D::UInt8, D::Int64, Some(D::Int64)),
            (D::Int64, D::Float16, Some(D::Float16)),
            (D::Float16, D::BFloat16, Some(D::Float32)),
            (D::BFloat16, D::Float32, Some(D::Float32)),
            (D::Float16, D::Float64, Some(D::Float64)),
            (D::Int32, D::Complex32, Some(D::Complex32)),
            (D::BFloat16, D::Complex32, Some(D::Complex32)),
            (D::Float32, D::Complex32, Some(D::Complex64)),
            (D::Float64, D::Complex64, Some(D::Complex128)),
            (D::Float64, D::Complex32, Some(D::Complex128)),
            (D::Complex32, D::Complex64, Some(D::Complex64)),
            (D::Complex64, D::Complex128, Some(D::Complex128)),
            (D::Int4, D::Float32, None),
        ] {
            assert_eq!(tensors(one, two), result, "{one} {two}");
            assert_eq!(tensors(two, one), result, "{two} {one}");
        }
    }

    #[test]
    fn scalars_combine_as_table_2_says() {
        for (tensor, other, result) in [
            (D::Float16, D::Float64, Some(D::Float16)),
            (D::Int64, D::Float64, Some(D::Float32)),
            (D::Bool, D::Float16, Some(D::Float32)),
            (D::UInt32, D::Float32, None),
            (D::Complex64, D::Float32, Some(D::Complex64)),
            (D::Complex64, D::Float64, Some(D::Complex128)),
            (D::UInt16, D::Int64, Some(D::UInt16)),
            (D::Int8, D::Int64, Some(D::Int8)),
            (D::Bool, D::Int64, Some(D::Int64)),
            (D::Bool, D::UInt16, None),
            (D::Float16, D::Bool, Some(D::Float16)),
            (D::Float16, D::Complex128, Some(D::Complex32)),
            (D::Float32, D::Complex128, Some(D::Complex64)),
            (D::Int32, D::Complex64, Some(D::Complex64)),
            (D::Float64, D::Complex64, Some(D::Complex128)),
            (D::Complex64, D::Complex128, Some(D::Complex64)),
        ] {
            assert_eq!(scalar(tensor, other), result, "{tensor} {other}");
        }
    }

    #[test]
    fn results_convert_unless_they_would_lose_their_kind() {
        for (from, to, allowed) in [
            (D::Float32, D::Int8, true),
            (D::Int64, D::Complex64, true),
            (D::Complex64, D::Float32, true),
            (D::Complex64, D::Int32, false),
            (D::Float32, D::Bool, false),
            (D::Bool, D::Complex128, true),
            (D::Float32, D::String, false),
        ] {
            assert_eq!(converts(from, to), allowed, "{from} {to}");
        }
    }
}
