//! Conversion between element types.

use jumar_types::dtype::DataType;

use crate::kernels::compute_types::{BLOCK, ConvertibleElement, Wide, for_carried};
use crate::kernels::widened::{round_shared, widen_shared};
use crate::onnx::{LATEST, decoded, encoded};
use crate::operator::OUTPUT_Y;
use crate::simd::convert::{LowPrecision, convert};
use crate::view::{BF16, F16, RowMut};
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Builder, Call, InferCx, InputDef, Kernel, OnnxForm,
    OnnxNode, OpError, Operator, StorageType, TensorType, Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Cast",
    onnx: &[
        OnnxForm::new("Cast", 6, LATEST, lower),
        OnnxForm::new("CastLike", 15, LATEST, |builder, node| {
            let like = node.input(1)?;
            let to = match builder.storage(like) {
                Some(storage) => Target::StorageType(storage),
                None => Target::Full(builder.ty(like).dtype),
            };
            Ok(vec![convert_to(builder, node, to)?])
        }),
    ],
    inputs: &[InputDef::required("x", Types::REAL)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::required("dst_type", AttrKind::Int)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let dtype = target(cx)?;
        if !Types::REAL.contains(dtype) {
            return Err(OpError::unsupported(format!(
                "a conversion to {dtype} is not supported"
            )));
        }
        Ok(vec![TensorType {
            dtype,
            shape: cx.input(0)?.shape.clone(),
        }])
    },
    prepare: |cx| {
        if let Some(kernel) = direct(cx.dtype(0)?, target(cx.infer())?) {
            return Ok(kernel);
        }
        let store = for_carried!(target(cx.infer())?, T => Ok(Box::new(Store::<T>(std::marker::PhantomData)) as Box<dyn Stores>))?;
        for_carried!(cx.dtype(0)?, F => {
            Ok(Box::new(Convert::<F> { store, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

/// The Graph Engine numbers types as ACL does.
fn target(cx: &InferCx<'_>) -> Result<DataType, OpError> {
    let number = cx.attrs().int("dst_type")?;
    i32::try_from(number)
        .ok()
        .and_then(DataType::from_acl)
        .ok_or_else(|| OpError::invalid(format!("dst_type {number} is not a data type")))
}

/// What a conversion leads to.
enum Target {
    Full(DataType),
    StorageType(StorageType),
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let number = node
        .int("to")?
        .ok_or_else(|| OpError::invalid("the attribute to is missing"))?;
    let to = match StorageType::of_onnx(number) {
        Some(storage) => Target::StorageType(storage),
        None => Target::Full(node.dtype("to")?.unwrap_or(DataType::String)),
    };
    Ok(vec![convert_to(builder, node, to)?])
}

fn convert_to(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    to: Target,
) -> Result<ValueRef, OpError> {
    // Both matter for floating-point types of 8 bits alone.
    let saturate = node.bool_or("saturate", true)?;
    let round_mode = node.str_or("round_mode", "up")?;
    let x = decoded(builder, node.input(0)?)?;
    match to {
        Target::StorageType(storage) => encoded(builder, x, storage, saturate, round_mode),
        Target::Full(dtype) => {
            let attrs = Attrs::new().with("dst_type", i64::from(dtype.acl()));
            builder.node("Cast", &[Some(x)], attrs)
        }
    }
}

/// The way from one type is to float64 or to 64 whole bits, a block at a time, and from there to the other: a kernel for
/// each pair of types would be most of the library.
struct Convert<F> {
    store: Box<dyn Stores>,
    types: std::marker::PhantomData<fn(F)>,
}

/// Returns the kernel of a conversion between float32 and a 16-bit type, which has instructions of its own.
fn direct(from: DataType, to: DataType) -> Option<Box<dyn Kernel>> {
    use DataType::{BFloat16, Float16, Float32};
    Some(match (from, to) {
        (Float16, Float32) => Box::new(Widening::<F16>(std::marker::PhantomData)),
        (BFloat16, Float32) => Box::new(Widening::<BF16>(std::marker::PhantomData)),
        (Float32, Float16) => Box::new(Narrowing::<F16>(std::marker::PhantomData)),
        (Float32, BFloat16) => Box::new(Narrowing::<BF16>(std::marker::PhantomData)),
        _ => return None,
    })
}

/// From a 16-bit type to float32.
struct Widening<T>(std::marker::PhantomData<fn(T)>);

impl<T: LowPrecision> Kernel for Widening<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, to) = (call.input::<T>(0)?.flat(), call.output::<f32>(0)?.flat());
        widen_shared(call.workers(), from, to);
        Ok(())
    }
}

/// From float32 to a 16-bit type.
struct Narrowing<T>(std::marker::PhantomData<fn(T)>);

impl<T: LowPrecision> Kernel for Narrowing<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, to) = (call.input::<f32>(0)?.flat(), call.output::<T>(0)?.flat());
        round_shared(call.workers(), from, to);
        Ok(())
    }
}

/// A block on its way.
enum Block<'a> {
    Real(&'a [f64]),
    Signed(&'a [i64]),
    Unsigned(&'a [u64]),
}

/// What a block can be on its way.
trait Way: Wide {
    fn block(elements: &[Self]) -> Block<'_>;
}

impl Way for f64 {
    fn block(elements: &[f64]) -> Block<'_> {
        Block::Real(elements)
    }
}

impl Way for i64 {
    fn block(elements: &[i64]) -> Block<'_> {
        Block::Signed(elements)
    }
}

impl Way for u64 {
    fn block(elements: &[u64]) -> Block<'_> {
        Block::Unsigned(elements)
    }
}

/// Writes blocks to an output of one type.
trait Stores: Send + Sync {
    fn store(&self, call: &Call<'_>, start: usize, block: Block<'_>) -> Result<(), OpError>;
}

struct Store<T>(std::marker::PhantomData<fn(T)>);

impl<T: ConvertibleElement> Stores for Store<T> {
    fn store(&self, call: &Call<'_>, start: usize, block: Block<'_>) -> Result<(), OpError> {
        let out = call.output::<T>(0)?.flat();
        match block {
            Block::Real(block) => out.slice(start, block.len()).store(block, T::from_real),
            Block::Signed(block) => out.slice(start, block.len()).store(block, T::from_signed),
            Block::Unsigned(block) => out.slice(start, block.len()).store(block, T::from_unsigned),
        }
        Ok(())
    }
}

impl<F: ConvertibleElement<Wide: Way>> Kernel for Convert<F> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let input = call.input::<F>(0)?.flat();
        let mut block = [F::Wide::ZERO; BLOCK];
        for start in (0..input.len()).step_by(BLOCK) {
            let len = BLOCK.min(input.len() - start);
            let block = &mut block[..len];
            convert(input.slice(start, len), RowMut::of(block), F::widen);
            self.store.store(call, start, Way::block(block))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let to = |dtype: DataType| none().with("dst_type", i64::from(dtype.acl()));
        let x = f32s(&[5], &[-1.9, 0.0, 0.5, 2.5, 100.0]);
        check(
            "Cast",
            &[x.clone()],
            to(DataType::Int64),
            &i64s(&[5], &[-1, 0, 0, 2, 100]),
        );
        let booleans = run("Cast", &[x.clone()], to(DataType::Bool)).unwrap();
        assert_eq!(booleans[0].bytes(), [1, 0, 1, 1, 1]);
        let half = run("Cast", &[x.clone()], to(DataType::Float16)).unwrap();
        check(
            "Cast",
            &half,
            to(DataType::Float32),
            &f32s(&[5], &[-1.900_390_6, 0.0, 0.5, 2.5, 100.0]),
        );
        let large = i64s(&[2], &[i64::MAX, 258]);
        assert_eq!(
            run("Cast", &[large], to(DataType::UInt8)).unwrap()[0].bytes(),
            [255, 2]
        );
        refuse("Cast", &[x.clone()], to(DataType::String), "not supported");
        refuse("Cast", &[x], none().with("dst_type", 5), "not a data type");
    }
}
