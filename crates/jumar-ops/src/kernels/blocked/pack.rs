//! Constants of convolutions as the kernels for images in blocks read them.

use jumar_types::dtype::DataType;

use super::UNITS;
use crate::Tensor;
use crate::simd::blocked::{LANES, PAIR, Planar, Sliding};

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
    let (taps, own) = (height * width, outputs / groups);
    let (inner, inputs) = match planar {
        true => (1, depth),
        false => (LANES, depth.div_ceil(LANES)),
    };
    let blocks = own.div_ceil(LANES);
    let steps = inputs * taps * inner;
    // Weights are large: they are copied once, from their bytes to those of the result.
    let (values, _) = filter.bytes().as_chunks::<4>();
    let mut packed = vec![0u8; groups * blocks * steps * LANES * size_of::<f32>()];
    let (cells, _) = packed.as_chunks_mut::<4>();
    let mut lines = cells.chunks_exact_mut(LANES);
    for group in 0..groups {
        for first in (0..blocks).step_by(PAIR) {
            let count = PAIR.min(blocks - first);
            for input in 0..inputs {
                for tap in 0..taps {
                    for channel in (input * inner..).take(inner) {
                        for (block, line) in lines.by_ref().take(count).enumerate() {
                            if channel >= depth {
                                continue;
                            }
                            let output = (first + block) * LANES;
                            let from = ((group * own + output) * depth + channel) * taps + tap;
                            let rows = values[from..].iter().step_by(depth * taps);
                            for (to, value) in line.iter_mut().take(own - output).zip(rows) {
                                *to = *value;
                            }
                        }
                    }
                }
            }
        }
    }
    Tensor::new(DataType::Float32, &[groups * blocks, steps, LANES], packed).ok()
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
