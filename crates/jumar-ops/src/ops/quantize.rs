//! Numbers in fewer bits: scaled, rounded and shifted, and back. The attributes are ONNX's.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::onnx::{LATEST, alike, attrs_alike, decoded, encoded};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Builder, InferCx, InputDef, OnnxForm, OnnxNode, OpError,
    Operator, OutputDef, PrepareCx, StorageType, TensorType, Types, ValueRef, attr::AttrReader,
    infer,
};

const SMALL: Types = Types::of(&[
    DataType::Int8,
    DataType::UInt8,
    DataType::Int16,
    DataType::UInt16,
]);
const QUANTISED: Types = SMALL.and(Types::of(&[DataType::Int32]));
const FLOAT32: Types = Types::of(&[DataType::Float32]);
const NUMBERS: Types = Types::FLOAT.and(Types::of(&[DataType::Int32]));

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.QuantizeLinear",
        onnx: &[OnnxForm::new("QuantizeLinear", 10, LATEST, lower_quantize)],
        inputs: &[
            InputDef::required("x", NUMBERS),
            InputDef::required("y_scale", NUMBERS),
            InputDef::optional("y_zero_point", SMALL),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::int("axis", 1),
            AttrDef::int("block_size", 0),
            AttrDef {
                name: "output_dtype",
                kind: AttrKind::Int,
                default: crate::AttrDefault::Int(0),
            },
            // Ours: 4 or 2 where the integers of 8 bits hold as many bits each. -1: the quotient as a float32, for types of few
            // bits that are not integers.
            AttrDef::int("bits", 0),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            if cx.attrs().int("bits")? == -1 {
                scales_fit(cx)?;
                return Ok(vec![TensorType {
                    dtype: DataType::Float32,
                    shape: cx.input(0)?.shape.clone(),
                }]);
            }
            let asked = asked_dtype(cx.attrs())?;
            let zero = if cx.has(2) {
                Some(cx.input(2)?.dtype)
            } else {
                None
            };
            let dtype = match (zero, asked) {
                (Some(zero), Some(asked)) if zero != asked => {
                    return Err(OpError::invalid(format!(
                        "output_dtype is {asked}, and the zero point is {zero}"
                    )));
                }
                (zero, asked) => zero.or(asked).unwrap_or(DataType::UInt8),
            };
            if !SMALL.contains(dtype) {
                return Err(OpError::unsupported(format!(
                    "quantising to {dtype} is not supported"
                )));
            }
            scales_fit(cx)?;
            Ok(vec![TensorType {
                dtype,
                shape: cx.input(0)?.shape.clone(),
            }])
        },
        prepare: |cx| {
            let steps = match (cx.attrs().int("bits")?, cx.output_dtype(0)?) {
                (0, dtype) => bounds(dtype).map(|(low, high)| Steps::Rounded(low, high))?,
                (4, DataType::UInt8) => Steps::Rounded(0.0, 15.0),
                (4, DataType::Int8) => Steps::Rounded(-8.0, 7.0),
                (2, DataType::UInt8) => Steps::Rounded(0.0, 3.0),
                (2, DataType::Int8) => Steps::Rounded(-2.0, 1.0),
                (-1, DataType::Float32) => Steps::Quotient,
                (bits, dtype) => {
                    return Err(OpError::invalid(format!(
                        "bits is {bits} and the result {dtype}; only integers of 8 bits may hold fewer"
                    )));
                }
            };
            generic_kernel(
                cx,
                Linear {
                    blocks: Blocks::new(cx)?,
                    steps,
                },
                &[0, 1, 2],
                &[0],
            )
        },
    },
    &Operator {
        name: "jumar.DequantizeLinear",
        onnx: &[OnnxForm::new(
            "DequantizeLinear",
            10,
            LATEST,
            lower_dequantize,
        )],
        // Ours: float32 is what floating-point types of few bits were converted to.
        inputs: &[
            InputDef::required("x", QUANTISED.and(FLOAT32)),
            InputDef::required("x_scale", Types::FLOAT),
            InputDef::optional("x_zero_point", QUANTISED.and(FLOAT32)),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::int("axis", 1),
            AttrDef::int("block_size", 0),
            AttrDef::int("output_dtype", 0),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            cx.same_types([0, 2])?;
            let dtype = asked_dtype(cx.attrs())?.unwrap_or(cx.input(1)?.dtype);
            if !Types::FLOAT.contains(dtype) {
                return Err(OpError::unsupported(format!(
                    "dequantising to {dtype} is not supported"
                )));
            }
            scales_fit(cx)?;
            Ok(vec![TensorType {
                dtype,
                shape: cx.input(0)?.shape.clone(),
            }])
        },
        prepare: |cx| {
            generic_kernel(
                cx,
                Linear {
                    blocks: Blocks::new(cx)?,
                    steps: Steps::Back,
                },
                &[0, 1, 2],
                &[0],
            )
        },
    },
    &Operator {
        name: "jumar.DynamicQuantizeLinear",
        onnx: &[OnnxForm::new(
            "DynamicQuantizeLinear",
            11,
            LATEST,
            |builder, node| alike(builder, node, "jumar.DynamicQuantizeLinear"),
        )],
        inputs: &[InputDef::required("x", Types::of(&[DataType::Float32]))],
        outputs: &[
            OUTPUT_Y[0],
            OutputDef { name: "y_scale" },
            OutputDef {
                name: "y_zero_point",
            },
        ],
        attrs: &[],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            Ok(vec![
                TensorType {
                    dtype: DataType::UInt8,
                    shape: cx.input(0)?.shape.clone(),
                },
                TensorType::new(DataType::Float32, []),
                TensorType::new(DataType::UInt8, []),
            ])
        },
        prepare: |cx| generic_kernel(cx, Dynamic, &[0], &[0, 1, 2]),
    },
];

fn lower_quantize(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
) -> Result<Vec<ValueRef>, OpError> {
    // In which type to divide: float32 at least is what happens here in any case.
    node.ignore("precision");
    let saturate = node.bool_or("saturate", true)?;
    let asked = node.int_or("output_dtype", 0)?;
    let zero = node.optional(2);
    let storage = match zero {
        Some(zero) => builder.storage(zero),
        None => StorageType::of_onnx(asked),
    };
    let Some(storage) = storage else {
        return alike(builder, node, "jumar.QuantizeLinear");
    };
    if asked != 0 && asked != storage.onnx() {
        return Err(OpError::invalid(format!(
            "output_dtype is {asked}, and the zero point is {}",
            storage.name()
        )));
    }
    let mut attrs = Attrs::new()
        .with("axis", node.int_or("axis", 1)?)
        .with("block_size", node.int_or("block_size", 0)?);
    if storage.is_integer() {
        attrs.set("bits", storage.bits() as i64);
        let number = storage.dtype().onnx().unwrap_or_default();
        attrs.set("output_dtype", i64::from(number));
        let value = builder.node("jumar.QuantizeLinear", node.inputs(), attrs)?;
        builder.set_storage(value, storage);
        return Ok(vec![value]);
    }
    // The zero point of a floating-point type is 0.
    attrs.set("bits", -1);
    let quotient = builder.node("jumar.QuantizeLinear", &node.inputs()[..2], attrs)?;
    Ok(vec![encoded(builder, quotient, storage, saturate, "up")?])
}

fn lower_dequantize(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
) -> Result<Vec<ValueRef>, OpError> {
    let attrs = attrs_alike(node, "jumar.DequantizeLinear")?;
    let mut inputs = node.inputs().to_vec();
    for index in [0, 2] {
        if let Some(Some(value)) = inputs.get(index).copied() {
            inputs[index] = Some(decoded(builder, value)?);
        }
    }
    builder.add_node("jumar.DequantizeLinear", &inputs, attrs, 1)
}

/// `output_dtype`, which is numbered as ONNX numbers types; 0: not given.
fn asked_dtype(attrs: AttrReader<'_>) -> Result<Option<DataType>, OpError> {
    match attrs.int("output_dtype")? {
        0 => Ok(None),
        number => i32::try_from(number)
            .ok()
            .and_then(DataType::from_onnx)
            .map(Some)
            .ok_or_else(|| OpError::invalid(format!("output_dtype {number} is not a data type"))),
    }
}

/// The smallest and the largest number of a type of few bits.
pub(super) fn bounds(dtype: DataType) -> Result<(f64, f64), OpError> {
    match dtype {
        DataType::UInt8 => Ok((0.0, 255.0)),
        DataType::Int8 => Ok((-128.0, 127.0)),
        DataType::UInt16 => Ok((0.0, 65535.0)),
        DataType::Int16 => Ok((-32768.0, 32767.0)),
        other => Err(OpError::unsupported(format!(
            "quantising to {other} is not supported"
        ))),
    }
}

/// Checks that scales (and zero points) are one, one along the axis, or one a block.
fn scales_fit(cx: &InferCx<'_>) -> Result<(), OpError> {
    let (x, scale) = (cx.input(0)?, cx.input(1)?);
    // Quantisers write one scale as [1] and one zero point as [], or the reverse.
    let is_one = |ty: &TensorType| ty.elements() == Some(1) && ty.rank() <= Some(1);
    if cx.has(2)
        && cx.input(2)?.elements().is_some()
        && scale.elements().is_some()
        && cx.input(2)?.shape != scale.shape
        && !(is_one(cx.input(2)?) && is_one(scale))
    {
        return Err(OpError::invalid(format!(
            "the scale is {scale}, and the zero point {}",
            cx.input(2)?
        )));
    }
    if x.bytes().is_none() || scale.bytes().is_none() {
        return Ok(());
    }
    let (Some(dims), Some(own)) = (x.dims(), scale.dims()) else {
        return Ok(());
    };
    Blocks::of(cx.attrs(), &dims, &own).map(|_| ())
}

/// Which scale belongs to which element: the tensor as outer, length of the axis, and inner.
struct Blocks {
    outer: usize,
    len: usize,
    inner: usize,
    /// Elements along the axis that share a scale, and how many scales there are along it.
    block: usize,
    blocks: usize,
    /// Whether scales vary over outer and inner, too.
    full: bool,
}

impl Blocks {
    fn new(cx: &PrepareCx<'_>) -> Result<Blocks, OpError> {
        Blocks::of(cx.attrs(), cx.shape(0)?, cx.shape(1)?)
    }

    fn of(attrs: AttrReader<'_>, x: &[usize], scale: &[usize]) -> Result<Blocks, OpError> {
        let size = attrs.int("block_size")?;
        if size < 0 {
            return Err(OpError::invalid(format!(
                "block_size is {size}; it must be 0 or more"
            )));
        }
        let wrong = || {
            OpError::invalid(format!(
                "scales of shape {scale:?} do not fit an input of shape {x:?}"
            ))
        };
        if scale.iter().product::<usize>() == 1 && size == 0 && scale.len() <= 1 {
            let len = x.iter().product();
            return Ok(Blocks {
                outer: 1,
                len,
                inner: 1,
                block: Ord::max(len, 1),
                blocks: 1,
                full: false,
            });
        }
        let axis = infer::axis(attrs.int("axis")?, x.len())?;
        let (outer, len, inner) = (
            x[..axis].iter().product(),
            x[axis],
            x[axis + 1..].iter().product(),
        );
        if size == 0 {
            if scale != [len] {
                return Err(wrong());
            }
            return Ok(Blocks {
                outer,
                len,
                inner,
                block: 1,
                blocks: len,
                full: false,
            });
        }
        let (block, blocks) = (size as usize, len.div_ceil(size as usize));
        let fits = scale.len() == x.len()
            && scale
                .iter()
                .enumerate()
                .all(|(at, &dim)| dim == if at == axis { blocks } else { x[at] });
        if !fits {
            return Err(wrong());
        }
        Ok(Blocks {
            outer,
            len,
            inner,
            block,
            blocks,
            full: true,
        })
    }
}

/// Which way numbers go.
enum Steps {
    /// To integers between two bounds.
    Rounded(f64, f64),
    /// To the quotient, which is rounded elsewhere.
    Quotient,
    /// From integers.
    Back,
}

struct Linear {
    blocks: Blocks,
    steps: Steps,
}

impl Algorithm for Linear {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, scales, zeros, out) = (io.input(0)?, io.input(1)?, io.optional(2)?, io.output(0)?);
        let Blocks {
            outer,
            len,
            inner,
            block,
            blocks,
            full,
        } = self.blocks;
        let apply = |start: usize, count: usize, scale: W, zero: W| {
            let (x, out) = (x.slice(start, count), out.slice(start, count));
            match self.steps {
                Steps::Back => out.map1(x, |x| (x - zero) * scale),
                Steps::Quotient => out.map1(x, |x| x / scale),
                Steps::Rounded(low, high) => out.map1_each(x, |x| {
                    let value = (x / scale).f64().round_ties_even() + zero.f64();
                    W::of(value.max(low).min(high))
                }),
            }
        };
        let zero = |index: usize| zeros.map_or(W::zero(), |zeros| zeros.get(index));
        for outer in 0..outer {
            for at in (0..len).step_by(block) {
                let count = block.min(len - at);
                let start = (outer * len + at) * inner;
                if !full {
                    let index = at / block;
                    apply(start, count * inner, scales.get(index), zero(index));
                    continue;
                }
                for row in 0..count {
                    for column in 0..inner {
                        let index = (outer * blocks + at / block) * inner + column;
                        apply(
                            start + row * inner + column,
                            1,
                            scales.get(index),
                            zero(index),
                        );
                    }
                }
            }
        }
        Ok(())
    }
}

/// Scale and zero point from the smallest and the largest number.
struct Dynamic;

impl Algorithm for Dynamic {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, out) = (io.input(0)?, io.output(0)?);
        let (low, high) = x.fold((W::zero(), W::zero()), |(low, high), x| {
            (low.least(x), high.most(x))
        });
        // Where all are 0 any scale does; the definition has the next step divide by it.
        let scale = if high == low {
            W::one()
        } else {
            (high - low) / W::of(255.0)
        };
        let zero = W::of((-(low / scale)).f64().round_ties_even().clamp(0.0, 255.0));
        out.map1_each(x, |x| {
            W::of(((x / scale).f64().round_ties_even() + zero.f64()).clamp(0.0, 255.0))
        });
        if let Some(to) = io.wanted(1)? {
            to.set(0, if high == low { W::zero() } else { scale });
        }
        if let Some(to) = io.wanted(2)? {
            to.set(0, zero);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jumar_types::dtype::DataType;

    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("quantize");
    }

    #[test]
    fn one_scale_and_one_zero_point_fit_whatever_their_ranks() {
        let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let bytes = cast(&x, DataType::UInt8);
        for (scale, zero) in [(&[1][..], &[][..]), (&[], &[1])] {
            let scale = f32s(scale, &[0.5]);
            let zero = cast(&f32s(zero, &[1.0]), DataType::UInt8);
            let up = f32s(&[2, 3], &[3.0, 5.0, 7.0, 9.0, 11.0, 13.0]);
            check(
                "jumar.QuantizeLinear",
                &[x.clone(), scale.clone(), zero.clone()],
                none(),
                &cast(&up, DataType::UInt8),
            );
            let down = f32s(&[2, 3], &[0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
            let inputs = [bytes.clone(), scale, zero];
            check("jumar.DequantizeLinear", &inputs, none(), &down);
        }
    }

    #[test]
    fn scales_that_do_not_fit_are_refused() {
        let x = noise(&[2, 3], 1);
        refuse(
            "jumar.QuantizeLinear",
            &[x.clone(), noise(&[2], 2)],
            none(),
            "scales of shape",
        );
        refuse(
            "jumar.QuantizeLinear",
            &[x, noise(&[2, 1], 2)],
            none().with("block_size", 2),
            "scales of shape",
        );
    }
}
