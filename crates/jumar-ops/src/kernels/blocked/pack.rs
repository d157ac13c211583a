//! Constants of convolutions as the kernels for images in blocks read them.

use std::sync::Arc;

use jumar_types::dtype::DataType;

use super::UNITS;
use crate::derived::{Derivation, GRAIN, ScaledConstant};
use crate::simd::blocked::{LANES, PAIR, Planar, Sliding};
use crate::simd::wide::{Work, wide};
use crate::view::{Part, RowMut, View, turn};
use crate::{Tensor, TensorType, Workers};

/// Weights of a convolution as the kernels for images in blocks read them.
///
/// # Shapes
///
/// `filter`: output channel, channel of the group, down, across. `planar`: the image lies in planes. `None`: no float32
/// tensor of four dimensions, or groups that are no whole blocks.
pub fn pack_filter(filter: &Tensor, groups: usize, planar: bool) -> Option<Tensor> {
    let dims = filter.ty().dims()?;
    if filter.ty().dtype != DataType::Float32 {
        return None;
    }
    let &[outputs, depth, height, width] = &dims[..] else {
        return None;
    };
    let divides =
        |size: usize| groups == 1 || (size.is_multiple_of(groups * LANES) && size > 0 && !planar);
    if groups == 0 || !divides(outputs) || !divides(depth * groups) {
        return None;
    }
    let (source, factors) = filter.unscaled();
    let packing = FilterPacking {
        source: source.clone(),
        factors: factors.cloned(),
        groups,
        own: outputs / groups,
        depth,
        taps: height * width,
        inner: if planar { 1 } else { LANES },
    };
    let dims = [groups * packing.blocks(), packing.steps(), LANES];
    let ty = TensorType::new(DataType::Float32, dims.map(|dim| dim as i64));
    ty.bytes()?;
    Some(Tensor::derived(ty, Derivation::Filter(packing)))
}

/// How a filter is packed: for each group, each two blocks of output channels and each block of input channels a strip. A strip has for
/// each tap and each channel a line of sixteen output channels a block.
#[derive(Clone, PartialEq)]
pub(crate) struct FilterPacking {
    source: Tensor,
    /// What each output channel is multiplied by.
    factors: Option<Arc<[f64]>>,
    groups: usize,
    /// The output channels of a group.
    own: usize,
    /// The input channels of a group.
    depth: usize,
    taps: usize,
    /// The input channels of a strip.
    inner: usize,
}

impl FilterPacking {
    pub(crate) fn source(&self) -> &Tensor {
        &self.source
    }

    fn blocks(&self) -> usize {
        self.own.div_ceil(LANES)
    }

    fn inputs(&self) -> usize {
        self.depth.div_ceil(self.inner)
    }

    /// Returns the lines of a block.
    fn steps(&self) -> usize {
        self.inputs() * self.strip()
    }

    /// Returns the lines of a strip of one block.
    fn strip(&self) -> usize {
        self.taps * self.inner
    }

    /// Packs all strips.
    pub(crate) fn write(&self, from: &View<'_, f32>, to: RowMut<'_, f32>, workers: Workers<'_>) {
        let (pairs, inputs) = (self.blocks().div_ceil(PAIR), self.inputs());
        let most = TURNED.div_ceil(self.strip().max(1));
        let pieces = inputs.div_ceil(most);
        let elements = most * self.strip() * PAIR * LANES;
        workers.ranges(
            self.groups * pairs * pieces,
            GRAIN.div_ceil(elements.max(1)),
            |start, count| {
                let mut turned = vec![0.0; most * self.strip() * LANES];
                for index in start..start + count {
                    let (pair, input) = (index / pieces, index % pieces * most);
                    let (group, first) = (pair / pairs, pair % pairs * PAIR);
                    let blocks = PAIR.min(self.blocks() - first);
                    let line = (group * self.blocks() + first) * self.steps()
                        + input * self.strip() * blocks;
                    let count = most.min(inputs - input);
                    let to = to.slice(line * LANES, count * self.strip() * blocks * LANES);
                    for block in 0..blocks {
                        let output = (first + block) * LANES;
                        let row = group * self.own + output;
                        let lanes = LANES.min(self.own - output);
                        if lanes < LANES {
                            turned.fill(0.0);
                        }
                        let channel = input * self.inner;
                        let channels = (count * self.inner).min(self.depth - channel);
                        let part = Part {
                            start: (row * self.depth + channel) * self.taps,
                            step: 1,
                            stride: (self.depth * self.taps) as isize,
                            len: channels * self.taps,
                            rows: lanes,
                            known: lanes,
                        };
                        turn(from.span(), part, RowMut::of(&mut turned), LANES);
                        wide(Lines {
                            from: &turned,
                            factors: self.factors.as_ref().map(|factors| {
                                std::array::from_fn(|lane| {
                                    factors.get(row + lane).copied().unwrap_or(0.0)
                                })
                            }),
                            channels,
                            strips: count,
                            packing: self,
                            to,
                            block: (block, blocks),
                        });
                    }
                }
            },
        );
    }
}

/// How many elements of a row are read at a time at least: memory is slow where few are read of each of many rows.
const TURNED: usize = 128;

/// Lines of one block in the order of the source, channel by channel, which go tap by tap into strips.
struct Lines<'a> {
    from: &'a [f32],
    factors: Option<[f64; LANES]>,
    /// How many channels there are; the others of the strips are 0.
    channels: usize,
    strips: usize,
    packing: &'a FilterPacking,
    to: RowMut<'a, f32>,
    /// Which block, and how many share a strip.
    block: (usize, usize),
}

impl Work for Lines<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let FilterPacking { taps, inner, .. } = *self.packing;
        let (lines, _) = self.from.as_chunks::<LANES>();
        let (block, blocks) = self.block;
        for strip in 0..self.strips {
            for tap in 0..taps {
                for channel in 0..inner {
                    let from = strip * inner + channel;
                    let mut line = match from < self.channels {
                        true => lines[from * taps + tap],
                        false => [0.0; LANES],
                    };
                    if let Some(factors) = &self.factors {
                        for (value, &factor) in line.iter_mut().zip(factors) {
                            *value = ScaledConstant::product(*value, factor);
                        }
                    }
                    let at = ((strip * taps + tap) * inner + channel) * blocks + block;
                    self.to.set_group(at * LANES, line);
                }
            }
        }
    }
}

/// Weights of a convolution in groups that are no whole blocks, and which channels each unit of its output reads: the inputs
/// `filter` and `units` of `jumar.BlockedPickedConv2D`.
///
/// # Shapes
///
/// `filter`: output channel, channel of the group, down, across. `positions`: where each channel lies in the image, counted through
/// its blocks; each lies somewhere else. `None`: no float32 tensor of four dimensions, groups that do not fit, or groups so small that most
/// of the products would be with zeros.
pub fn pack_gathered(
    filter: &Tensor,
    groups: usize,
    positions: &[usize],
) -> Option<(Tensor, Tensor)> {
    let (dims, values) = (filter.ty().dims()?, filter.float32s()?);
    let &[outputs, depth, height, width] = &dims[..] else {
        return None;
    };
    if groups == 0
        || outputs == 0
        || !outputs.is_multiple_of(groups)
        || depth.checked_mul(groups) != Some(positions.len())
    {
        return None;
    }
    let (taps, own) = (height * width, outputs / groups);
    let inputs = positions.len().div_ceil(LANES);
    let mut channel_at = vec![None; inputs * LANES];
    for (channel, &position) in positions.iter().enumerate() {
        *channel_at.get_mut(position)? = Some(channel);
    }
    let masks: Vec<Vec<i32>> = (0..outputs.div_ceil(LANES))
        .map(|block| {
            let mut masks = vec![0; inputs];
            let (first, last) = (block * LANES, outputs.min((block + 1) * LANES) - 1);
            for &position in &positions[first / own * depth..(last / own + 1) * depth] {
                masks[position / LANES] |= 1 << (position % LANES);
            }
            masks
        })
        .collect();
    let count =
        |masks: &[i32]| -> usize { masks.iter().map(|mask| mask.count_ones() as usize).sum() };
    let (mut units, mut packed) = (Vec::new(), Vec::new());
    let mut products = 0;
    let mut first = 0;
    while first < masks.len() {
        let mut unit = masks[first].clone();
        let mut blocks = 1;
        if let Some(next) = masks.get(first + 1) {
            let both: Vec<i32> = unit.iter().zip(next).map(|(a, b)| a | b).collect();
            // A tile of one block does somewhat less at a time than one of two.
            if 200 * count(&both) <= 115 * (count(&unit) + count(next)) {
                (unit, blocks) = (both, 2);
            }
        }
        let start = packed.len() / LANES;
        units
            .extend([first, blocks, start].map(|number| i32::try_from(number).unwrap_or(i32::MAX)));
        units.extend(&unit);
        products += blocks * LANES * count(&unit);
        for (input, &mask) in unit.iter().enumerate() {
            for tap in 0..taps {
                for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
                    let channel = channel_at[input * LANES + lane]?;
                    for output in first * LANES..(first + blocks) * LANES {
                        let reads = output < outputs && output / own == channel / depth;
                        packed.push(if reads {
                            values[(output * depth + channel % depth) * taps + tap]
                        } else {
                            0.0
                        });
                    }
                }
            }
        }
        first += blocks;
    }
    if units.len() > UNITS || products > 3 * outputs * depth {
        return None;
    }
    let lines = packed.len() / LANES;
    let bytes = units
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let each = inputs + 3;
    Some((
        Tensor::from_floats(&packed)
            .reshaped(&[lines, LANES])
            .ok()?,
        Tensor::new(DataType::Int32, &[units.len() / each, each], bytes).ok()?,
    ))
}

/// Weights of a convolution of each channel by itself, as the kernels for images in blocks read them.
///
/// # Shapes
///
/// `filter`: channel, 1, down, across.
pub fn pack_depthwise(filter: &Tensor) -> Option<Tensor> {
    let (dims, values) = (filter.ty().dims()?, filter.float32s()?);
    let &[channels, 1, height, width] = &dims[..] else {
        return None;
    };
    let (taps, blocks) = (height * width, channels.div_ceil(LANES));
    let mut packed = vec![0f32; blocks * taps * LANES];
    for (index, &value) in values.iter().enumerate() {
        let (channel, tap) = (index / taps, index % taps);
        packed[(channel / LANES * taps + tap) * LANES + channel % LANES] = value;
    }
    Tensor::from_floats(&packed)
        .reshaped(&[blocks, taps, LANES])
        .ok()
}

/// A number for each channel, with zeros for those that fill the last block up.
pub fn pack_channels(numbers: &Tensor) -> Option<Tensor> {
    let mut values = numbers.float32s()?;
    values.resize(values.len().next_multiple_of(LANES), 0.0);
    Some(Tensor::from_floats(&values))
}

/// Returns how many columns of the output the kernel for an image in planes makes at a time; 0 where it cannot.
pub fn takes_planes(channels: usize, kernel: [usize; 2], stride: usize) -> bool {
    let window = Sliding {
        image: [0; 2],
        output: [0; 2],
        kernel,
        stride: [stride.max(1); 2],
        dilation: [1; 2],
        before: [0; 2],
    };
    let planar = Planar {
        window,
        channels,
        outputs: 1,
    };
    channels > 0 && planar.columns() > 0
}
