//! Operators that compute each element from the elements at the same place.

use super::loops::{Loops, broadcast_strides, dense_strides};
use super::number::{Number, Real, for_number, for_real};
use crate::{Call, InferCx, Kernel, OpError, PrepareCx, TensorType, infer};

/// A function of one real number, for any width.
pub(crate) trait RealFunction: Copy + Send + Sync + 'static {
    fn apply<T: Real>(&self, x: T) -> T;
}

/// A function of one number, for any type.
pub(crate) trait NumberFunction: Copy + Send + Sync + 'static {
    fn apply<T: Number>(&self, x: T) -> T;
}

/// A function of two numbers of one type.
pub(crate) trait PairFunction: Copy + Send + Sync + 'static {
    /// Whether the function is a vector instruction.
    const LIGHT: bool = true;
    fn apply<T: Number>(&self, a: T, b: T) -> T;
}

/// The output is like the first input.
pub(crate) fn infer_same(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    Ok(vec![cx.input(0)?.clone()])
}

/// The output is the two inputs broadcast together.
pub(crate) fn infer_pair(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let dtype = cx.same_types([0, 1])?;
    Ok(vec![TensorType {
        dtype,
        shape: infer::broadcast(cx.input(0)?, cx.input(1)?)?,
    }])
}

struct Map<T, F> {
    function: F,
    types: std::marker::PhantomData<fn(T)>,
}

/// A map by a function that is no vector instruction.
struct MapEach<T, F> {
    function: F,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Number, F: Fn(T) -> T + Send + Sync> Kernel for MapEach<T, F> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        call.output::<T>(0)?
            .flat()
            .map1_each(call.input::<T>(0)?.flat(), &self.function);
        Ok(())
    }
}

impl<T: Number, F: Fn(T) -> T + Send + Sync> Kernel for Map<T, F> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        call.output::<T>(0)?
            .flat()
            .map1(call.input::<T>(0)?.flat(), &self.function);
        Ok(())
    }
}

/// Makes a kernel that maps each element.
pub(crate) fn map<T: Number>(function: impl Fn(T) -> T + Send + Sync + 'static) -> Box<dyn Kernel> {
    Box::new(Map::<T, _> {
        function,
        types: std::marker::PhantomData,
    })
}

/// Makes the kernel of a function of one real number.
pub(crate) fn real_map(
    cx: &PrepareCx<'_>,
    function: impl RealFunction,
) -> Result<Box<dyn Kernel>, OpError> {
    for_real!(cx.dtype(0)?, T => {
        let function = move |x: T| function.apply(x);
        Ok(Box::new(MapEach::<T, _> { function, types: std::marker::PhantomData }) as Box<dyn Kernel>)
    })
}

/// Makes the kernel of a function of one number.
pub(crate) fn number_map(
    cx: &PrepareCx<'_>,
    function: impl NumberFunction,
) -> Result<Box<dyn Kernel>, OpError> {
    for_number!(cx.dtype(0)?, T => Ok(map::<T>(move |x| function.apply(x))))
}

struct Pair<T, F> {
    loops: Loops<3>,
    function: F,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Number, F: PairFunction> Kernel for Pair<T, F> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (one, two, out) = (
            call.input::<T>(0)?,
            call.input::<T>(1)?,
            call.output::<T>(0)?,
        );
        let (len, steps, f) = (self.loops.row(), self.loops.steps(), self.function);
        self.loops.each([0; 3], |[to, a, b]| {
            let row = out.row(to, len, steps[0]);
            if !F::LIGHT {
                let (one, two) = (one.row(a, len, steps[1]), two.row(b, len, steps[2]));
                for index in 0..len {
                    row.set(index, f.apply(one.get(index), two.get(index)));
                }
                return Ok(());
            }
            // A repeated operand is read once a row, so that the rest of the row is a plain vector loop.
            match (steps[1], steps[2]) {
                (0, _) => {
                    let left = one.row(a, 1, 1).get(0);
                    row.map1(two.row(b, len, steps[2]), |right| f.apply(left, right));
                }
                (_, 0) => {
                    let right = two.row(b, 1, 1).get(0);
                    row.map1(one.row(a, len, steps[1]), |left| f.apply(left, right));
                }
                _ => row.map2(
                    one.row(a, len, steps[1]),
                    two.row(b, len, steps[2]),
                    |a, b| f.apply(a, b),
                ),
            }
            Ok(())
        })
    }
}

/// Makes the kernel of a function of two numbers, with broadcasting.
pub(crate) fn pair(
    cx: &PrepareCx<'_>,
    function: impl PairFunction,
) -> Result<Box<dyn Kernel>, OpError> {
    let shape = cx.output_shape(0)?;
    let strides = [
        dense_strides(shape),
        broadcast_strides(cx.shape(0)?, shape),
        broadcast_strides(cx.shape(1)?, shape),
    ];
    let loops = Loops::new(shape, [&strides[0], &strides[1], &strides[2]]);
    for_number!(cx.dtype(0)?, T => {
        Ok(Box::new(Pair::<T, _> { loops, function, types: std::marker::PhantomData }) as Box<dyn Kernel>)
    })
}
