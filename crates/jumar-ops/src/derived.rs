//! Constants that are computed from other constants: when, and where, they are stored.
//!
//! The weights of a large model move once, from the memory of the program to that of the device. Normalisation and packing are parts of that
//! move.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::kernels::blocked::FilterPacking;
use crate::kernels::linear::MatrixPacking;
use crate::view::{Layout, Region, Row, RowMut, View};
use crate::{OpError, Tensor, Workers};

/// The elements that a thread writes at a time.
pub(crate) const GRAIN: usize = 16 << 10;

/// A constant that is computed from another one.
pub(crate) struct DerivedConstant {
    from: Derivation,
    /// The elements, where something asked for them before they were stored.
    bytes: OnceLock<Bytes>,
}

/// What a constant is computed from, and how. All elements are float32.
#[derive(Clone, PartialEq)]
pub(crate) enum Derivation {
    Scaled(ScaledConstant),
    Filter(FilterPacking),
    Matrix(MatrixPacking),
}

impl Derivation {
    /// Returns the constant that this one is computed from.
    pub(crate) fn source(&self) -> &Tensor {
        match self {
            Derivation::Scaled(scaled) => &scaled.source,
            Derivation::Filter(packing) => packing.source(),
            Derivation::Matrix(packing) => packing.source(),
        }
    }

    /// Computes all elements.
    fn write(&self, to: RowMut<'_, f32>, workers: Workers<'_>) {
        let source = self.source();
        let Some(layout) = Layout::dense(&[source.len()]) else {
            return;
        };
        let from = View::<f32>::new(Region::shared(source.bytes()), &layout);
        let from = from.expect("a constant of float32 has as many bytes as its shape says");
        match self {
            Derivation::Scaled(scaled) => scaled.write(&from, to, workers),
            Derivation::Filter(packing) => packing.write(&from, to, workers),
            Derivation::Matrix(packing) => packing.write(&from, to, workers),
        }
    }
}

impl DerivedConstant {
    pub(crate) fn new(from: Derivation) -> DerivedConstant {
        DerivedConstant {
            from,
            bytes: OnceLock::new(),
        }
    }

    pub(crate) fn from(&self) -> &Derivation {
        &self.from
    }

    /// Returns the elements if they were computed already.
    pub(crate) fn known(&self) -> Option<&Bytes> {
        self.bytes.get()
    }

    /// Returns the elements, and keeps them.
    pub(crate) fn bytes(&self, length: usize) -> &Bytes {
        self.bytes.get_or_init(|| self.compute(length))
    }

    /// Returns the elements without keeping them.
    pub(crate) fn compute(&self, length: usize) -> Bytes {
        let mut bytes = vec![0; length];
        let to = Region::exclusive(&mut bytes);
        let to = to.scratch(length / size_of::<f32>());
        self.from.write(
            to.expect("as many elements as were asked for"),
            Workers::ALONE,
        );
        bytes.into()
    }

    /// Writes the elements to memory.
    pub(crate) fn write(&self, to: RowMut<'_, f32>, workers: Workers<'_>) {
        self.from.write(to, workers);
    }
}

/// A constant with each entry of its first dimension multiplied by a number.
#[derive(Clone, PartialEq)]
pub(crate) struct ScaledConstant {
    source: Tensor,
    factors: Arc<[f64]>,
}

impl ScaledConstant {
    /// Multiplies a number. The product is exact before it is rounded.
    #[inline(always)]
    pub(crate) fn product(value: f32, factor: f64) -> f32 {
        (f64::from(value) * factor) as f32
    }

    fn write(&self, from: &View<'_, f32>, to: RowMut<'_, f32>, workers: Workers<'_>) {
        let each = from.len() / self.factors.len().max(1);
        workers.ranges(
            self.factors.len(),
            GRAIN.div_ceil(each.max(1)),
            |start, count| {
                for entry in start..start + count {
                    let factor = self.factors[entry];
                    let from = from.row(entry * each, each, 1);
                    to.slice(entry * each, each)
                        .map1(from, |value| ScaledConstant::product(value, factor));
                }
            },
        );
    }
}

impl Tensor {
    /// Returns the tensor with each entry of its first dimension multiplied by a number, in float64, and rounded. It is computed
    /// where it is stored, or when its elements are asked for.
    ///
    /// # Errors
    ///
    /// Invalid: it is not of float32, or has not as many entries.
    pub fn scaled(&self, factors: Vec<f64>) -> Result<Tensor, OpError> {
        let first = self.ty().dims().and_then(|dims| dims.first().copied());
        if first != Some(factors.len()) || self.ty().dtype != jumar_types::dtype::DataType::Float32
        {
            return Err(OpError::invalid(format!(
                "{} factors for the entries of a tensor {}",
                factors.len(),
                self.ty()
            )));
        }
        Ok(Tensor::derived(
            self.ty().clone(),
            Derivation::Scaled(ScaledConstant {
                source: self.clone(),
                factors: factors.into(),
            }),
        ))
    }

    /// Returns what this tensor is a multiple of, and the factors; itself if it is not a multiple, or its elements are known.
    pub(crate) fn unscaled(&self) -> (&Tensor, Option<&Arc<[f64]>>) {
        match self.derivation() {
            Some(Derivation::Scaled(scaled)) => (&scaled.source, Some(&scaled.factors)),
            _ => (self, None),
        }
    }

    /// Writes the elements to memory, computed there if they are not known yet.
    ///
    /// # Errors
    ///
    /// Internal: the memory is not as large as the tensor.
    pub fn write_to(&self, to: Region<'_>, workers: Workers<'_>) -> Result<(), OpError> {
        let small =
            || OpError::internal(format!("{} bytes of memory for {}", to.bytes(), self.ty()));
        if to.bytes() != self.byte_len() {
            return Err(small());
        }
        if let Some(derived) = self.unknown() {
            let to = to
                .scratch(to.bytes() / size_of::<f32>())
                .ok_or_else(small)?;
            derived.write(to, workers);
            return Ok(());
        }
        let (bytes, to) = (
            self.bytes(),
            to.scratch::<u8>(to.bytes()).ok_or_else(small)?,
        );
        workers.ranges(bytes.len(), GRAIN * size_of::<f32>(), |start, count| {
            to.slice(start, count)
                .copy_from(Row::of(&bytes[start..start + count]));
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jumar_types::dtype::DataType;

    use super::*;
    use crate::pack_matrix;
    use crate::packing::{CHANNEL_BLOCK, pack_filter};
    use crate::share::tests::Backwards;

    /// Different numbers, none 0.
    fn numbers(dims: &[usize]) -> Tensor {
        let count: usize = dims.iter().product();
        let values: Vec<f32> = (0..count).map(|at| 0.5 + at as f32 * 0.37).collect();
        Tensor::from_floats(&values).reshaped(dims).unwrap()
    }

    /// The elements, as they are written by several threads to memory that holds something else.
    fn written(tensor: &Tensor) -> Vec<f32> {
        let mut bytes = vec![0xff; tensor.byte_len()];
        let memory = Region::exclusive(&mut bytes);
        tensor.write_to(memory, Workers::of(&Backwards(3))).unwrap();
        let shape: Vec<usize> = tensor.ty().dims().unwrap();
        let copy = Tensor::new(DataType::Float32, &shape, bytes).unwrap();
        copy.float32s().unwrap()
    }

    /// The filter as the definition of the layout says, one element after the other.
    fn packed_by_definition(
        filter: &[f32],
        dims: [usize; 4],
        groups: usize,
        planar: bool,
        factors: Option<&[f64]>,
    ) -> Vec<f32> {
        let [outputs, depth, height, width] = dims;
        let (lanes, taps, own) = (CHANNEL_BLOCK, height * width, outputs / groups);
        let inner = if planar { 1 } else { lanes };
        let (blocks, inputs) = (own.div_ceil(lanes), depth.div_ceil(inner));
        let mut all = Vec::new();
        for group in 0..groups {
            for first in (0..blocks).step_by(2) {
                for input in 0..inputs {
                    for tap in 0..taps {
                        for channel in input * inner..(input + 1) * inner {
                            for block in first..blocks.min(first + 2) {
                                for output in block * lanes..(block + 1) * lanes {
                                    let row = group * own + output;
                                    let known = output < own && channel < depth;
                                    let value =
                                        known.then(|| filter[(row * depth + channel) * taps + tap]);
                                    let value = value.unwrap_or(0.0);
                                    let factor = factors
                                        .and_then(|factors| factors.get(row))
                                        .unwrap_or(&1.0);
                                    all.push((f64::from(value) * factor) as f32);
                                }
                            }
                        }
                    }
                }
            }
        }
        all
    }

    #[test]
    fn filters_are_packed_and_scaled_as_the_layout_says() {
        for (dims, groups, planar) in [
            ([16, 16, 1, 1], 1, false),
            ([40, 24, 3, 3], 1, false),
            ([17, 5, 1, 3], 1, false),
            ([70, 300, 1, 1], 1, false),
            ([64, 3, 7, 7], 1, true),
            ([20, 1, 2, 2], 1, true),
            ([96, 32, 3, 1], 3, false),
        ] {
            let filter = numbers(&dims);
            let values = filter.float32s().unwrap();
            let packed = pack_filter(&filter, groups, planar).unwrap();
            let wanted = packed_by_definition(&values, dims, groups, planar, None);
            assert!(packed.derivation().is_some(), "{dims:?}");
            assert_eq!(written(&packed), wanted, "{dims:?}");
            let factors: Vec<f64> = (0..dims[0]).map(|at| 1.0 / (3.0 + at as f64)).collect();
            let wanted = packed_by_definition(&values, dims, groups, planar, Some(&factors));
            let scaled = filter.scaled(factors).unwrap();
            let packed = pack_filter(&scaled, groups, planar).unwrap();
            assert_eq!(written(&packed), wanted, "{dims:?}, scaled");
            assert!(scaled.derivation().is_some(), "nothing asked for it");
            // Also where the multiple was asked for before.
            let _ = scaled.bytes();
            let again = pack_filter(&scaled, groups, planar).unwrap();
            assert_eq!(again.float32s().unwrap(), wanted, "{dims:?}, scaled before");
            assert_eq!((again == packed, packed.bytes()), (true, again.bytes()));
        }
    }

    #[test]
    fn matrices_are_packed_in_panels_of_32_columns() {
        for (k, n) in [(1, 1), (5, 32), (300, 33), (513, 70)] {
            for turned in [false, true] {
                let dims = if turned { [n, k] } else { [k, n] };
                let matrix = numbers(&dims);
                let values = matrix.float32s().unwrap();
                let mut wanted = Vec::new();
                for panel in 0..n.div_ceil(32) {
                    for row in 0..k {
                        for column in panel * 32..(panel + 1) * 32 {
                            let at = if turned {
                                column * k + row
                            } else {
                                row * n + column
                            };
                            wanted.push(if column < n { values[at] } else { 0.0 });
                        }
                    }
                }
                let packed = pack_matrix(&matrix, turned).unwrap();
                assert_eq!(written(&packed), wanted, "{k} x {n}, {turned}");
                assert_eq!(packed.float32s().unwrap(), wanted, "{k} x {n}, {turned}");
                assert_eq!(written(&packed), wanted, "{k} x {n}, {turned}, once known");
            }
        }
    }

    #[test]
    fn a_multiple_of_another_length_is_refused() {
        assert!(numbers(&[3, 2]).scaled(vec![1.0; 2]).is_err());
        assert!(Tensor::from_ints(&[1, 2]).scaled(vec![1.0; 2]).is_err());
        let scaled = numbers(&[3, 2]).scaled(vec![2.0, 1.0, 0.5]).unwrap();
        assert_eq!(written(&scaled), scaled.float32s().unwrap());
        assert_eq!(scaled.reshaped(&[6]).unwrap().float32s(), scaled.float32s());
        let mut small = [0; 20];
        let small = Region::exclusive(&mut small);
        assert!(scaled.write_to(small, Workers::ALONE).is_err());
    }

    #[test]
    fn constants_are_alike_where_equal_ones_are_made_alike() {
        let (one, two) = (numbers(&[16, 16, 1, 1]), numbers(&[16, 16, 1, 1]));
        let scaled = |tensor: &Tensor, factor: f64| tensor.scaled(vec![factor; 16]).unwrap();
        assert!(scaled(&one, 2.0).is_alike(&scaled(&two, 2.0)));
        assert!(!scaled(&one, 2.0).is_alike(&scaled(&two, 3.0)));
        assert!(!scaled(&one, 1.0).is_alike(&one) && scaled(&one, 1.0) == one);
        let packed = |tensor: &Tensor| pack_filter(tensor, 1, false).unwrap();
        assert!(packed(&scaled(&one, 2.0)).is_alike(&packed(&scaled(&two, 2.0))));
        assert_eq!(packed(&one).origin(), one.bytes());
    }
}
