//! Operators that compute each element from the elements at the same index.

use std::convert::Infallible;

use jumar_types::dtype::DataType;

use super::compute_types::{
    BLOCK, ComputeType, ConvertibleElement, Float, Lanes1, Lanes2, for_carried,
};
use super::loops::{Loops, broadcast_strides, dense_strides};
use super::number::{Number, for_width};
use crate::simd::convert::convert;
use crate::simd::math::Fast;
use crate::simd::wide::{Work, wide};
use crate::view::{Bool8, Element, GROUP, Layout, Row, RowMut, View, ViewMut};
use crate::{Call, InferCx, Kernel, OpError, PrepareCx, Slot, TensorType, infer};

/// Runs a body with an unsigned integer type as wide as the data type, up to 64 bits.
macro_rules! for_full_width {
    ($dtype:expr, $T:ident => $body:expr) => {
        match DataType::size($dtype) {
            Some(1) => {
                type $T = u8;
                $body
            }
            Some(2) => {
                type $T = u16;
                $body
            }
            Some(4) => {
                type $T = u32;
                $body
            }
            Some(8) => {
                type $T = u64;
                $body
            }
            _ => Err(OpError::unsupported(format!(
                "the type {} is not supported",
                $dtype
            ))),
        }
    };
}

/// How many elements a thread takes at least, where several share the work.
const GRAIN: usize = 1 << 15;

/// A function of one float, for any width.
pub(crate) trait RealFunction: Copy + Send + Sync + 'static {
    fn apply<A: Float>(&self, x: A) -> A;
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

/// What is asked of two values of one type.
pub(crate) trait PairTest: Copy + Send + Sync + 'static {
    fn apply<T: PartialOrd>(&self, a: T, b: T) -> bool;
}

/// What is asked of one float.
pub(crate) trait RealTest: Copy + Send + Sync + 'static {
    fn apply<A: Float>(&self, x: A) -> bool;
}

/// A function of the bits of two integers, which are extended with zeros; the low bits of the result count.
pub(crate) type BitFunction = fn(u64, u64) -> u64;

/// Keeps a number between two bounds; not-a-number stays what it is.
#[inline(always)]
pub(crate) fn between<A: Float>(x: A, low: A, high: A) -> A {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// The output is like the first input.
pub(crate) fn infer_same(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    Ok(vec![cx.input(0)?.clone()])
}

/// The output has the shape of the first input, and says yes or no.
pub(crate) fn infer_boolean(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let shape = cx.input(0)?.shape.clone();
    Ok(vec![TensorType {
        dtype: DataType::Bool,
        shape,
    }])
}

/// The output is the two inputs broadcast together.
pub(crate) fn infer_pair(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let dtype = cx.same_types([0, 1])?;
    Ok(vec![TensorType {
        dtype,
        shape: infer::broadcast(cx.input(0)?, cx.input(1)?)?,
    }])
}

/// The output is the two inputs broadcast together, and says yes or no.
pub(crate) fn infer_pair_boolean(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let mut types = infer_pair(cx)?;
    types[0].dtype = DataType::Bool;
    Ok(types)
}

struct OfReal<F>(F);
struct OfNumber<F>(F);
struct OfPair<F>(F);
struct OfPairTest<F>(F);
struct OfRealTest<F>(F);

macro_rules! lanes1 {
    ($adaptor:ident, $trait:ident: $($type:ident)*; $self:ident, $x:ident => $result:expr) => {
        impl<F: $trait> Lanes1 for $adaptor<F> {
            $(fn $type(&$self, block: &mut [$type]) {
                type One = $type;
                for slot in block {
                    let $x: One = *slot;
                    *slot = $result as One;
                }
            })*
        }
    };
}

macro_rules! lanes2 {
    ($adaptor:ident, $trait:ident; $self:ident, $a:ident, $b:ident => $result:expr) => {
        lanes2! { @each $adaptor, $trait: f32 f64 i64 u64; $self, $a, $b => $result }
    };
    (@each $adaptor:ident, $trait:ident: $($type:ident)*; $self:ident, $a:ident, $b:ident => $result:expr) => {
        impl<F: $trait> Lanes2 for $adaptor<F> {
            $(fn $type(&$self, block: &mut [$type], others: &[$type]) {
                for (slot, &$b) in block.iter_mut().zip(others) {
                    let $a = *slot;
                    *slot = $result as $type;
                }
            })*
        }
    };
}

impl<F: RealFunction> Lanes1 for OfReal<F> {
    fn f32(&self, block: &mut [f32]) {
        wide(RealBlock(self.0, block));
    }

    fn f64(&self, block: &mut [f64]) {
        for slot in block {
            *slot = self.0.apply(*slot);
        }
    }
}

lanes1! { OfNumber, NumberFunction: f32 f64 i64 u64; self, x => self.0.apply(x) }
lanes1! { OfRealTest, RealTest: f32 f64; self, x => u8::from(self.0.apply(x)) }
lanes2! { OfPair, PairFunction; self, a, b => self.0.apply(a, b) }
lanes2! { OfPairTest, PairTest; self, a, b => u8::from(self.0.apply(a, b)) }

/// A function of the bits of two integers.
struct OfBits(BitFunction);

impl Lanes2 for OfBits {
    fn u64(&self, block: &mut [u64], others: &[u64]) {
        for (slot, &other) in block.iter_mut().zip(others) {
            *slot = (self.0)(*slot, other);
        }
    }
}

/// A function over a block of float32.
struct RealBlock<'a, F>(F, &'a mut [f32]);

impl<F: RealFunction> Work for RealBlock<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for slot in self.1 {
            *slot = self.0.apply(Fast::<FUSED>(*slot)).0;
        }
    }
}

/// A function of each float32 of a row.
struct RealRow<'a, F>(F, Row<'a, f32>, RowMut<'a, f32>);

impl<F: RealFunction> Work for RealRow<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.2.map1(
            self.1,
            #[inline(always)]
            |x| self.0.apply(Fast::<FUSED>(x)).0,
        );
    }
}

/// Calls `work` with rows of the same elements of two tensors of one shape whose entries may lie apart, shared among the threads.
fn each_row(
    call: &Call<'_>,
    input: View<'_, f32>,
    out: ViewMut<'_, f32>,
    work: impl Fn(Row<'_, f32>, RowMut<'_, f32>) + Sync,
) {
    let ((from, from_stride), (to, to_stride)) = (input.spread(), out.spread());
    let entries = out.shape().first().copied().unwrap_or(1).max(1);
    let each = out.len() / entries;
    // Where nothing lies between them, entries are one row.
    let (entries, each) = match from_stride == each && to_stride == each {
        true => (1, out.len()),
        false => (entries, each),
    };
    for entry in 0..entries {
        call.workers().ranges(each, GRAIN, |start, len| {
            work(
                from.slice(entry * from_stride + start, len),
                to.slice(entry * to_stride + start, len),
            );
        });
    }
}

/// A map over float32 without the detour through blocks.
struct RealMap<F>(F);

impl<F: RealFunction> Kernel for RealMap<F> {
    fn accepts_batch_stride(&self, slot: Slot) -> bool {
        matches!(slot, Slot::Input(0) | Slot::Output(0))
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        each_row(
            call,
            call.input::<f32>(0)?,
            call.output::<f32>(0)?,
            |from, to| wide(RealRow(self.0, from, to)),
        );
        Ok(())
    }
}

fn store_same<T: ConvertibleElement>(block: &[T::ComputeType], to: RowMut<'_, T>) {
    convert(Row::of(block), to, T::from_compute);
}

fn store_boolean<T: ConvertibleElement>(block: &[T::ComputeType], to: RowMut<'_, Bool8>) {
    convert(Row::of(block), to, |value: T::ComputeType| {
        Bool8::from(value.to_bool())
    });
}

/// Runs over blocks of the elements, all in one row.
struct Blocks1 {
    function: Box<dyn Lanes1>,
    run: fn(&Blocks1, &Call<'_>) -> Result<(), OpError>,
}

impl Kernel for Blocks1 {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        (self.run)(self, call)
    }
}

impl Blocks1 {
    fn same<T: ConvertibleElement>(&self, call: &Call<'_>) -> Result<(), OpError> {
        self.blocks::<T, T>(call, store_same::<T>)
    }

    fn boolean<T: ConvertibleElement>(&self, call: &Call<'_>) -> Result<(), OpError> {
        self.blocks::<T, Bool8>(call, store_boolean::<T>)
    }

    fn blocks<T: ConvertibleElement, U: Element>(
        &self,
        call: &Call<'_>,
        store: fn(&[T::ComputeType], RowMut<'_, U>),
    ) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<U>(0)?.flat());
        call.workers().ranges(input.len(), GRAIN, |first, len| {
            let mut block = [T::ComputeType::default(); BLOCK];
            for start in (first..first + len).step_by(BLOCK) {
                let len = BLOCK.min(first + len - start);
                let block = &mut block[..len];
                let row = input.slice(start, len);
                convert(row, RowMut::of(block), T::to_compute);
                T::ComputeType::run1(&*self.function, block);
                store(block, out.slice(start, len));
            }
        });
        Ok(())
    }
}

fn blocks1(
    cx: &PrepareCx<'_>,
    function: impl Lanes1,
    boolean: bool,
) -> Result<Box<dyn Kernel>, OpError> {
    let function = Box::new(function);
    for_carried!(cx.dtype(0)?, T => Ok(Box::new(Blocks1 {
        function,
        run: if boolean { Blocks1::boolean::<T> } else { Blocks1::same::<T> },
    }) as Box<dyn Kernel>))
}

/// Runs over blocks of two broadcast operands.
struct Blocks2 {
    loops: Loops<3>,
    function: Box<dyn Lanes2>,
    run: fn(&Blocks2, &Call<'_>) -> Result<(), OpError>,
}

impl Kernel for Blocks2 {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        (self.run)(self, call)
    }
}

impl Blocks2 {
    fn same<T: ConvertibleElement>(&self, call: &Call<'_>) -> Result<(), OpError> {
        self.blocks::<T, T>(call, store_same::<T>)
    }

    fn boolean<T: ConvertibleElement>(&self, call: &Call<'_>) -> Result<(), OpError> {
        self.blocks::<T, Bool8>(call, store_boolean::<T>)
    }

    fn blocks<T: ConvertibleElement, U: Element>(
        &self,
        call: &Call<'_>,
        store: fn(&[T::ComputeType], RowMut<'_, U>),
    ) -> Result<(), OpError> {
        let (one, two, out) = (
            call.input::<T>(0)?,
            call.input::<T>(1)?,
            call.output::<U>(0)?,
        );
        let steps = self.loops.steps();
        let part = |loops: &Loops<3>, start: [usize; 3]| {
            let len = loops.row();
            let mut block = [T::ComputeType::default(); BLOCK];
            let mut others = [T::ComputeType::default(); BLOCK];
            loops.each(start, |[to, a, b]| {
                let (one, two, out) = (
                    one.row(a, len, steps[1]),
                    two.row(b, len, steps[2]),
                    out.row(to, len, steps[0]),
                );
                for start in (0..len).step_by(BLOCK) {
                    let len = BLOCK.min(len - start);
                    let (block, others) = (&mut block[..len], &mut others[..len]);
                    convert(one.slice(start, len), RowMut::of(block), T::to_compute);
                    convert(two.slice(start, len), RowMut::of(others), T::to_compute);
                    T::ComputeType::run2(&*self.function, block, others);
                    store(block, out.slice(start, len));
                }
            });
        };
        self.loops.share([0; 3], call.workers(), GRAIN, part);
        Ok(())
    }
}

/// Returns the loops over an output and two inputs that are broadcast to it.
fn pair_loops(cx: &PrepareCx<'_>) -> Result<Loops<3>, OpError> {
    let shape = cx.output_shape(0)?;
    let strides = [
        dense_strides(shape),
        broadcast_strides(cx.shape(0)?, shape),
        broadcast_strides(cx.shape(1)?, shape),
    ];
    Ok(Loops::new(shape, [&strides[0], &strides[1], &strides[2]]))
}

fn blocks2(
    cx: &PrepareCx<'_>,
    function: impl Lanes2,
    boolean: bool,
) -> Result<Box<dyn Kernel>, OpError> {
    let (loops, function) = (pair_loops(cx)?, Box::new(function));
    for_carried!(cx.dtype(0)?, T => Ok(Box::new(Blocks2 {
        loops,
        function,
        run: if boolean { Blocks2::boolean::<T> } else { Blocks2::same::<T> },
    }) as Box<dyn Kernel>))
}

/// Makes the kernel of a function of one float.
pub(crate) fn real_map(
    cx: &PrepareCx<'_>,
    function: impl RealFunction,
) -> Result<Box<dyn Kernel>, OpError> {
    match cx.dtype(0)? {
        DataType::Float32 => Ok(Box::new(RealMap(function))),
        _ => blocks1(cx, OfReal(function), false),
    }
}

/// Makes the kernel that asks each float.
pub(crate) fn real_test(
    cx: &PrepareCx<'_>,
    function: impl RealTest,
) -> Result<Box<dyn Kernel>, OpError> {
    blocks1(cx, OfRealTest(function), true)
}

/// Makes the kernel of a function of one number.
pub(crate) fn number_map(
    cx: &PrepareCx<'_>,
    function: impl NumberFunction,
) -> Result<Box<dyn Kernel>, OpError> {
    match cx.dtype(0)? {
        DataType::Float32 => Ok(Box::new(Map(function))),
        _ => blocks1(cx, OfNumber(function), false),
    }
}

/// A map over float32 without the detour through blocks.
struct Map<F>(F);

/// A function of each float32 of a row, as any number's.
struct NumberRow<'a, F>(F, Row<'a, f32>, RowMut<'a, f32>);

impl<F: NumberFunction> Work for NumberRow<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.2.map1(
            self.1,
            #[inline(always)]
            |x| self.0.apply(x),
        );
    }
}

impl<F: NumberFunction> Kernel for Map<F> {
    fn accepts_batch_stride(&self, slot: Slot) -> bool {
        matches!(slot, Slot::Input(0) | Slot::Output(0))
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        each_row(
            call,
            call.input::<f32>(0)?,
            call.output::<f32>(0)?,
            |from, to| wide(NumberRow(self.0, from, to)),
        );
        Ok(())
    }
}

/// A function of two numbers in the types that most tensors have, without the detour through blocks.
struct Pair<T, F> {
    loops: Loops<3>,
    function: F,
    /// Which inputs are of the output's shape.
    alike: [bool; 2],
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Number, F: PairFunction> Kernel for Pair<T, F> {
    fn accepts_batch_stride(&self, slot: Slot) -> bool {
        self.loops.is_one_row()
            && match slot {
                Slot::Input(index) => self.alike.get(index) == Some(&true),
                Slot::Output(_) => true,
            }
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (one, two, out) = (
            call.input::<T>(0)?,
            call.input::<T>(1)?,
            call.output::<T>(0)?,
        );
        let (len, steps, f) = (self.loops.row(), self.loops.steps(), self.function);
        if self.loops.is_one_row() {
            // Entries of the first dimension may lie apart in each of them.
            let dense =
                out.layout().is_dense() && one.layout().is_dense() && two.layout().is_dense();
            let (entries, each, strides) = match (dense, out.shape().first()) {
                (false, Some(&entries)) if entries > 0 => {
                    let far = |alike, layout: &Layout| match alike {
                        true => layout.batch_stride(),
                        false => Some(0),
                    };
                    let strides = [
                        out.layout().batch_stride(),
                        far(self.alike[0], one.layout()),
                        far(self.alike[1], two.layout()),
                    ];
                    (
                        entries,
                        len / entries,
                        strides.map(|stride| stride.unwrap_or(0)),
                    )
                }
                _ => (1, len, [0; 3]),
            };
            for entry in 0..entries {
                let [to, a, b] = strides.map(|stride| entry * stride);
                let row = PairRow {
                    function: f,
                    one: one.row(a, each, steps[1]),
                    two: two.row(b, each, steps[2]),
                    to: out.row(to, each, steps[0]),
                    repeated: (steps[1] == 0, steps[2] == 0),
                };
                call.workers().ranges(each, GRAIN, |start, len| {
                    wide(PairRow {
                        one: row.one.slice(start, len),
                        two: row.two.slice(start, len),
                        to: row.to.slice(start, len),
                        ..row
                    });
                });
            }
            return Ok(());
        }
        let row = |lens: [usize; 3], [to, a, b]: [usize; 3]| PairRow {
            function: f,
            one: one.row(a, lens[1], steps[1]),
            two: two.row(b, lens[2], steps[2]),
            to: out.row(to, lens[0], steps[0]),
            repeated: (steps[1] == 0, steps[2] == 0),
        };
        let part = |loops: &Loops<3>, start| wide(PairRows { loops, start, row });
        self.loops.share([0; 3], call.workers(), GRAIN, part);
        Ok(())
    }
}

/// A function of the pairs of all rows of a loop. Rows may be as short as a vector, so that the level is not chosen for each.
struct PairRows<'a, R> {
    loops: &'a Loops<3>,
    start: [usize; 3],
    /// Makes a row from the lengths and the offsets of its operands.
    row: R,
}

impl<'a, T: Number, F: PairFunction, R> Work for PairRows<'_, R>
where
    R: Fn([usize; 3], [usize; 3]) -> PairRow<'a, T, F>,
{
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let (len, (rows, strides)) = (self.loops.row(), self.loops.rows());
        // A factor for each channel of a block, for all pixels: a run is one row, and the factors are read once.
        let step = len as isize;
        let repeats = T::GROUPED && len > 1 && GROUP.is_multiple_of(len);
        let run = rows * len;
        let lens = match strides {
            _ if !repeats || self.loops.steps() != [1; 3] => None,
            [to, one, 0] if [to, one] == [step; 2] => Some([run, run, len]),
            [to, 0, two] if [to, two] == [step; 2] => Some([run, len, run]),
            _ => None,
        };
        if let Some(lens) = lens {
            let Ok(()) = self.loops.try_each_run::<Infallible>(
                self.start,
                #[inline(always)]
                |offsets| {
                    (self.row)(lens, offsets).run_repeated();
                    Ok(())
                },
            );
            return;
        }
        self.loops.each(
            self.start,
            #[inline(always)]
            |offsets| {
                (self.row)([len; 3], offsets).run::<FUSED>();
            },
        );
    }
}

/// A function of the pairs of two rows.
#[derive(Clone, Copy)]
struct PairRow<'a, T, F> {
    function: F,
    one: Row<'a, T>,
    two: Row<'a, T>,
    to: RowMut<'a, T>,
    repeated: (bool, bool),
}

impl<T: Number, F: PairFunction> Work for PairRow<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let PairRow {
            function: f,
            one,
            two,
            to,
            repeated,
        } = self;
        if to.is_empty() {
            return;
        }
        // A repeated operand is read once a row, so that the rest of the row is a plain vector loop.
        match repeated {
            (true, _) => {
                let left = one.get(0);
                to.map1(
                    two,
                    #[inline(always)]
                    |right| f.apply(left, right),
                );
            }
            (_, true) => {
                let right = two.get(0);
                to.map1(
                    one,
                    #[inline(always)]
                    |left| f.apply(left, right),
                );
            }
            _ => to.map2(
                one,
                two,
                #[inline(always)]
                |a, b| f.apply(a, b),
            ),
        }
    }
}

impl<T: Number, F: PairFunction> PairRow<'_, T, F> {
    /// Computes a row of which the shorter operand is repeated from its first element on.
    #[inline(always)]
    fn run_repeated(self) {
        let f = self.function;
        if self.one.len() < self.two.len() {
            self.to.map2_repeated(
                self.two,
                self.one,
                #[inline(always)]
                |b, a| f.apply(a, b),
            );
        } else {
            self.to.map2_repeated(
                self.one,
                self.two,
                #[inline(always)]
                |a, b| f.apply(a, b),
            );
        }
    }
}

/// Makes the kernel of a function of two numbers, with broadcasting.
pub(crate) fn pair(
    cx: &PrepareCx<'_>,
    function: impl PairFunction,
) -> Result<Box<dyn Kernel>, OpError> {
    direct(cx, function)
}

fn direct<F: PairFunction>(cx: &PrepareCx<'_>, function: F) -> Result<Box<dyn Kernel>, OpError> {
    let types = std::marker::PhantomData;
    if F::LIGHT {
        let loops = pair_loops(cx)?;
        let alike = |index: usize| Ok::<_, OpError>(cx.shape(index)? == cx.output_shape(0)?);
        let alike = [alike(0)?, alike(1)?];
        match cx.dtype(0)? {
            DataType::Float32 => {
                return Ok(Box::new(Pair::<f32, F> {
                    loops,
                    function,
                    alike,
                    types,
                }));
            }
            DataType::Int64 => {
                return Ok(Box::new(Pair::<i64, F> {
                    loops,
                    function,
                    alike,
                    types: std::marker::PhantomData,
                }));
            }
            _ => {}
        }
    }
    blocks2(cx, OfPair(function), false)
}

/// Makes the kernel that asks pairs of values, with broadcasting.
pub(crate) fn pair_test(
    cx: &PrepareCx<'_>,
    function: impl PairTest,
) -> Result<Box<dyn Kernel>, OpError> {
    blocks2(cx, OfPairTest(function), true)
}

/// Makes the kernel of a function of the bits of two integers, with broadcasting.
pub(crate) fn bits(cx: &PrepareCx<'_>, function: BitFunction) -> Result<Box<dyn Kernel>, OpError> {
    let (loops, function) = (pair_loops(cx)?, Box::new(OfBits(function)));
    if cx.dtype(0)? == DataType::Bool {
        return Ok(Box::new(Blocks2 {
            loops,
            function,
            run: Blocks2::same::<Bool8>,
        }));
    }
    for_full_width!(cx.dtype(0)?, T => Ok(Box::new(Blocks2 { loops, function, run: Blocks2::same::<T> }) as Box<dyn Kernel>))
}

/// A function of the bits of an integer.
struct OfBits1(fn(u64) -> u64);

impl Lanes1 for OfBits1 {
    fn u64(&self, block: &mut [u64]) {
        for slot in block {
            *slot = (self.0)(*slot);
        }
    }
}

/// Makes the kernel of a function of the bits of an integer.
pub(crate) fn bits1(
    cx: &PrepareCx<'_>,
    function: fn(u64) -> u64,
) -> Result<Box<dyn Kernel>, OpError> {
    let function = Box::new(OfBits1(function));
    if cx.dtype(0)? == DataType::Bool {
        return Ok(Box::new(Blocks1 {
            function,
            run: Blocks1::same::<Bool8>,
        }));
    }
    for_full_width!(cx.dtype(0)?, T => Ok(Box::new(Blocks1 { function, run: Blocks1::same::<T> }) as Box<dyn Kernel>))
}

/// Selects one of two values for each element by a third tensor.
struct Choose<T> {
    loops: Loops<4>,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Choose<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let condition = call.input::<Bool8>(0)?;
        let (yes, no, out) = (
            call.input::<T>(1)?,
            call.input::<T>(2)?,
            call.output::<T>(0)?,
        );
        let steps = self.loops.steps();
        let part = |loops: &Loops<4>, start: [usize; 4]| {
            let len = loops.row();
            loops.each(start, |[to, c, a, b]| {
                let (condition, yes, no, out) = (
                    condition.row(c, len, steps[1]),
                    yes.row(a, len, steps[2]),
                    no.row(b, len, steps[3]),
                    out.row(to, len, steps[0]),
                );
                for index in 0..len {
                    let source = if condition.get(index).get() { yes } else { no };
                    out.set(index, source.get(index));
                }
            });
        };
        self.loops.share([0; 4], call.workers(), GRAIN, part);
        Ok(())
    }
}

/// Makes the kernel that chooses between inputs 1 and 2 as input 0 says, with broadcasting.
pub(crate) fn choose(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    let shape = cx.output_shape(0)?;
    let input = |index: usize| Ok::<_, OpError>(broadcast_strides(cx.shape(index)?, shape));
    let strides = [dense_strides(shape), input(0)?, input(1)?, input(2)?];
    let loops = Loops::new(shape, [&strides[0], &strides[1], &strides[2], &strides[3]]);
    for_width!(cx.dtype(1)?, T => {
        Ok(Box::new(Choose::<T> { loops, types: std::marker::PhantomData }) as Box<dyn Kernel>)
    })
}
