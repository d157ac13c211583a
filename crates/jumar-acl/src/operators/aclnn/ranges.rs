//! The memory that an operator touches, as the checks see it.
//!
//! A strided view is a set of ranges. Its hull, from the first byte to the last, would make races of two views that
//! interleave, such as the columns of one matrix.

use std::ops::Range;

use jumar::engine::Span;
use jumar_eager::{AccessedView, Io, Plan};

use super::executor::Executor;

/// The most ranges that one view is described with.
const MOST: usize = 256;

/// The memory of a call, as the gate gets it.
#[derive(Default)]
pub(super) struct CallRanges {
    pub(super) reads: Vec<Span>,
    pub(super) writes: Vec<Span>,
    /// Memory of which the checks do not know exactly which bytes are read or written.
    pub(super) vague: Vec<Span>,
}

impl CallRanges {
    /// Lists the ranges that some steps of a call touch. `buffers` is the memory of each tensor argument from its data pointer
    /// on.
    pub(super) fn exactly(
        executor: &Executor,
        steps: Range<usize>,
        buffers: &[Span],
        workspace: Span,
    ) -> CallRanges {
        let mut touched = CallRanges::default();
        let mut seen: Vec<AccessedView<'_>> = Vec::new();
        for touch in executor.plan.touches_of(steps) {
            let region = buffers.get(touch.buffer).copied().unwrap_or(Span::EMPTY);
            if seen.contains(&touch) || region.is_empty() {
                continue;
            }
            let list = match touch.writes {
                true => &mut touched.writes,
                false => &mut touched.reads,
            };
            let complete = add(&touch, region, list);
            let selected = !touch.writes && executor.selects(touch.buffer);
            if !complete || selected {
                touched.vague.push(region);
            }
            seen.push(touch);
        }
        if !workspace.is_empty() {
            touched.writes.push(workspace);
        }
        touched
    }

    /// Lists one range for each tensor, from its first byte to its last: enough to know which memory a call needs.
    pub(super) fn roughly(plan: &Plan, buffers: &[Span], workspace: Span) -> CallRanges {
        let mut touched = CallRanges::default();
        for access in plan.accesses() {
            let region = buffers[access.buffer];
            let start = access.offset * access.dtype.bits() / 8;
            let bytes = access.bytes().saturating_sub(start);
            let Some(hull) = region.part(start, bytes).filter(|hull| !hull.is_empty()) else {
                continue;
            };
            if access.io != Io::Out {
                touched.reads.push(hull);
            }
            if access.io != Io::In {
                touched.writes.push(hull);
            }
        }
        if !workspace.is_empty() {
            touched.writes.push(workspace);
        }
        touched
    }
}

/// Adds the ranges of `region` that a step touches. Returns whether these are all of them: of a view with more than
/// [`MOST`] ranges, as many are added, at equal distances. So races may be missed, and none is invented.
fn add(touch: &AccessedView<'_>, region: Span, into: &mut Vec<Span>) -> bool {
    let (bits, layout) = (touch.dtype.bits(), touch.layout);
    let strides = layout.strides();
    if strides.iter().any(|stride| *stride < 0) {
        return false;
    }
    if layout.elements() == 0 {
        return true;
    }
    // A dimension that is broadcast touches the same memory again.
    let dims = layout.shape().iter().zip(strides);
    let dims = dims.map(|(dim, stride)| (*dim, stride.unsigned_abs()));
    let mut dims: Vec<_> = dims.filter(|(dim, step)| *dim > 1 && *step > 0).collect();
    dims.sort_unstable_by_key(|(_, step)| *step);
    // The elements that follow each other without a gap, in whichever order the dimensions are.
    let mut run = 1;
    let mut inner = 0;
    while let Some((dim, step)) = dims.get(inner).filter(|(_, step)| *step <= run) {
        run += (dim - 1) * step;
        inner += 1;
    }
    let dims = &dims[inner..];
    let total: usize = dims.iter().map(|(dim, _)| dim).product();
    let count = total.min(MOST);
    for range in 0..count {
        let mut rest = match count < total {
            true => (range as u128 * (total - 1) as u128 / (MOST - 1) as u128) as usize,
            false => range,
        };
        let mut element = 0;
        for (dim, step) in dims {
            element += rest % dim * step;
            rest /= dim;
        }
        let start = touch.offset + element * bits / 8;
        let end = touch.offset + ((element + run) * bits).div_ceil(8);
        into.extend(region.part(start, end - start));
    }
    count == total
}

#[cfg(test)]
mod tests {
    use jumar_eager::{Arg, Dims, Scalar, TensorArg, TensorDesc};
    use jumar_types::dtype::DataType;

    use super::*;
    use crate::generated::calls;

    /// Plans a call that writes `desc`.
    fn plan(desc: TensorDesc) -> Plan {
        let signatures = jumar_eager::signatures::ALL.iter();
        let mut found = signatures.filter(|signature| signature.name == "aclnnAdds");
        let signature = found.next().expect("aclnnAdds has a signature");
        let input = TensorDesc::contiguous(desc.dtype, &desc.dims);
        let tensor = |desc, buffer| Arg::Tensor(TensorArg { desc, buffer });
        let one = || Arg::Scalar(Scalar::of_f64(1.0));
        let args = [tensor(input, 0), one(), one(), tensor(desc, 1)];
        jumar_eager::plan(signature, &args).expect("the call is valid")
    }

    /// Returns start and length of the ranges that are written, in bytes from the data pointer on, and whether they are all.
    fn ranges(plan: &Plan) -> (Vec<(usize, usize)>, bool) {
        let mut touches = plan.touches();
        let touch = touches.find(|touch| touch.writes).expect("out is written");
        crate::enter(&calls::aclrtMalloc, |cx| {
            crate::device::aclrtSetDevice(cx, 0)?;
            let address = crate::memory::aclrtMalloc(cx, 1 << 16, 0)?;
            let block = cx.runtime()?.space().find(address);
            let block = block.expect("it was allocated");
            let mut into = Vec::new();
            let all = add(&touch, block.span, &mut into);
            crate::memory::aclrtFree(cx, address)?;
            let ranges = into.iter();
            let ranges = ranges.map(|range| (range.address() - address, range.bytes()));
            Ok((ranges.collect(), all))
        })
        .expect("there is a device")
    }

    fn view(dtype: DataType, dims: &[i64], strides: &[i64], offset: i64) -> Plan {
        let mut desc = TensorDesc::contiguous(dtype, dims);
        desc.strides = Dims::new(strides);
        desc.offset = offset;
        desc.storage = Dims::new(&[1 << 20]);
        plan(desc)
    }

    #[test]
    fn views_without_gaps_are_one_range_in_any_order_of_dimensions() {
        let float = DataType::Float32;
        for (dims, strides, offset, wanted) in [
            (&[2i64, 3][..], &[3i64, 1][..], 0, (0, 24)),
            (&[2, 3], &[1, 2], 0, (0, 24)),
            (&[4, 2, 3], &[3, 12, 1], 5, (20, 96)),
            (&[1, 7], &[1000, 1], 0, (0, 28)),
        ] {
            let plan = view(float, dims, strides, offset);
            assert_eq!(ranges(&plan), (vec![wanted], true), "{dims:?} {strides:?}");
        }
    }

    #[test]
    fn a_view_with_gaps_is_its_parts() {
        let float = DataType::Float32;
        type Case<'a> = (&'a [i64], &'a [i64], i64, &'a [(usize, usize)]);
        let cases: [Case<'_>; 3] = [
            // Every second element: another view may have the others.
            (&[3], &[2], 1, &[(4, 4), (12, 4), (20, 4)]),
            // Two columns of three rows, five apart.
            (&[3, 2], &[5, 1], 2, &[(8, 8), (28, 8), (48, 8)]),
            // The same, transposed.
            (&[2, 3], &[1, 5], 2, &[(8, 8), (28, 8), (48, 8)]),
        ];
        for (dims, strides, offset, wanted) in cases {
            let plan = view(float, dims, strides, offset);
            assert_eq!(ranges(&plan), (wanted.to_vec(), true), "{dims:?}");
        }
        assert_eq!(
            ranges(&view(DataType::Int8, &[2, 3], &[8, 1], 1)),
            (vec![(1, 3), (9, 3)], true)
        );
    }

    #[test]
    fn of_very_many_parts_as_many_are_listed_and_none_that_the_view_does_not_touch() {
        let (found, all) = ranges(&view(DataType::Float32, &[1000], &[3], 0));
        assert!(!all);
        assert_eq!(found.len(), MOST);
        assert_eq!((found[0], found[MOST - 1]), ((0, 4), (999 * 12, 4)));
        assert!(
            found
                .iter()
                .all(|(start, bytes)| start % 12 == 0 && *bytes == 4)
        );
        assert!(found.is_sorted());
    }
}
