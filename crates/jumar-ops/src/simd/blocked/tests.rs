//! Every level against sums in float64 over images in planes.

mod case;

use case::{Case, PLAIN};

use super::gathered::convolve_gathered_at;
use super::order::convolve_share;
use super::*;
use crate::kernels::blocked::{pack_channels, pack_depthwise, pack_filter, pack_gathered};
use crate::table::noise;
use crate::view::{Block, Layout, View, ViewMut};
use crate::{Tensor, simd::Level};

fn levels() -> Vec<Level> {
    let mut levels = vec![Level::Portable];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            levels.push(Level::Avx2);
        }
        if is_x86_feature_detected!("avx512f") {
            levels.push(Level::Avx512);
        }
    }
    levels
}

struct Buffer(Block, Layout);

impl Buffer {
    fn of(values: &[f32]) -> Buffer {
        let bytes: Vec<u8> = values.iter().copied().flat_map(f32::to_le_bytes).collect();
        Buffer(
            Block::of(&bytes),
            Layout::dense(&[values.len()]).expect("a small tensor"),
        )
    }

    fn row(&self) -> Row<'_, f32> {
        View::new(self.0.shared(), &self.1)
            .expect("as long as its layout")
            .flat()
    }

    fn row_mut(&mut self) -> RowMut<'_, f32> {
        ViewMut::new(self.0.region(), &self.1)
            .expect("as long as its layout")
            .flat()
    }
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.values::<f32>().expect("float32")
}

/// Brings images of any number of channels into blocks.
fn blocks(values: &[f32], images: usize, channels: usize, pixels: usize) -> Vec<f32> {
    let count = channels.div_ceil(LANES);
    let mut out = vec![0f32; images * count * pixels * LANES];
    for (index, &value) in values.iter().enumerate() {
        let (pixel, rest) = (index % pixels, index / pixels);
        let (channel, image) = (rest % channels, rest / channels);
        out[((image * count + channel / LANES) * pixels + pixel) * LANES + channel % LANES] = value;
    }
    out
}

fn cases() -> Vec<Case> {
    vec![
        PLAIN,
        Case {
            images: 2,
            channels: 33,
            outputs: 50,
            image: [5, 31],
            ..PLAIN
        },
        Case {
            channels: 40,
            outputs: 32,
            kernel: [1, 1],
            before: [0; 2],
            after: [0; 2],
            image: [1, 45],
            ..PLAIN
        },
        Case {
            channels: 20,
            outputs: 24,
            stride: [2, 2],
            image: [9, 36],
            before: [0, 1],
            after: [1, 0],
            ..PLAIN
        },
        Case {
            kernel: [5, 2],
            dilation: [2, 3],
            before: [4, 1],
            after: [4, 2],
            image: [6, 40],
            ..PLAIN
        },
        Case {
            image: [2, 2],
            before: [3; 2],
            after: [3; 2],
            ..PLAIN
        },
        Case {
            images: 2,
            channels: 64,
            outputs: 96,
            groups: 2,
            image: [4, 16],
            ..PLAIN
        },
        Case {
            channels: 700,
            outputs: 16,
            kernel: [1, 1],
            before: [0; 2],
            after: [0; 2],
            image: [3, 5],
            ..PLAIN
        },
        Case {
            channels: 80,
            outputs: 48,
            kernel: [3, 3],
            image: [4, 30],
            ..PLAIN
        },
        // Weights that many images share, in several passes.
        Case {
            images: 5,
            channels: 300,
            outputs: 70,
            image: [7, 7],
            ..PLAIN
        },
        // An image that is gone through in stretches.
        Case {
            channels: 64,
            outputs: 40,
            kernel: [1, 1],
            before: [0; 2],
            after: [0; 2],
            image: [1, 2500],
            ..PLAIN
        },
        Case {
            channels: 32,
            outputs: 48,
            image: [61, 62],
            stride: [1, 2],
            ..PLAIN
        },
        Case { images: 0, ..PLAIN },
        Case {
            image: [1, 1],
            kernel: [1, 1],
            before: [0; 2],
            after: [0; 2],
            channels: 1,
            outputs: 1,
            ..PLAIN
        },
    ]
}

/// `sums` are what the rounding is a part of.
fn compare(level: Level, case: &Case, found: &[f32], wanted: &[f64], sums: &[f64]) {
    let largest = sums.iter().fold(1f64, |most, x| most.max(x.abs()));
    for (index, &value) in wanted.iter().enumerate() {
        let pixels = case.pixels();
        let (pixel, rest) = (index % pixels, index / pixels);
        let (output, image) = (rest % case.outputs, rest / case.outputs);
        let per = case.outputs / case.groups;
        let per_blocks = per.div_ceil(LANES);
        let block =
            image * case.groups * per_blocks + output / per * per_blocks + output % per / LANES;
        let own = found[(block * pixels + pixel) * LANES + output % per % LANES];
        assert!(
            (f64::from(own) - value).abs() <= 1e-5 * largest,
            "{level:?} {case:?} at {index}: {own}, has to be {value}"
        );
    }
}

/// Adds what comes after the sums: case 0 nothing, 1 a bias, 2 bias, residual and bounds.
fn finish(case: &Case, extra: usize, sums: &mut [f64], bias: &[f32], residual: &[f32]) {
    for (index, sum) in sums.iter_mut().enumerate() {
        if extra > 0 {
            *sum += f64::from(bias[index / case.pixels() % case.outputs]);
        }
        if extra > 1 {
            *sum = (*sum + f64::from(residual[index])).clamp(-0.75, 0.5);
        }
    }
}

/// Puts foreign numbers between the images.
fn spread(values: &[f32], images: usize, between: usize) -> Vec<f32> {
    let one = values.len() / images.max(1);
    let each = values.chunks(one.max(1));
    each.flat_map(|image| {
        image
            .iter()
            .copied()
            .chain(std::iter::repeat_n(f32::NAN, between))
    })
    .collect()
}

fn run(case: &Case, kind: &str) {
    let depth = case.channels / case.groups;
    let x = values(&noise(
        &[case.images * case.channels * case.image[0] * case.image[1]],
        3,
    ));
    let filter = noise(&[case.outputs, depth, case.kernel[0], case.kernel[1]], 7);
    let sums = case.sums(&x, &values(&filter));
    run_strided(case, kind, (&x, &filter, &sums), None);
    run_strided(case, kind, (&x, &filter, &sums), Some([48, 7, 80]));
}

/// `between`: how many foreign numbers are between images, residuals and outputs.
fn run_strided(
    case: &Case,
    kind: &str,
    (x, filter, sums): (&[f32], &Tensor, &[f64]),
    between: Option<[usize; 3]>,
) {
    let gaps = between.unwrap_or_default();
    let window = case.window();
    let depth = case.channels / case.groups;
    let pixels = case.image[0] * case.image[1];
    let bias = noise(&[case.outputs], 11);
    let residual = values(&noise(&[sums.len()], 13));
    // Channels of their own lie in blocks as those of one group do.
    let case = &Case {
        groups: if kind == "depthwise" { 1 } else { case.groups },
        ..*case
    };
    let out_blocks = case.groups * (case.outputs / case.groups).div_ceil(LANES);
    let packed = match kind {
        "depthwise" => pack_depthwise(filter),
        _ => pack_filter(filter, case.groups, kind == "planar"),
    };
    let packed = Buffer::of(&values(&packed.expect("a filter that can be packed")));
    let packed_bias = Buffer::of(&values(&pack_channels(&bias).expect("float32")));
    let image = match kind {
        "planar" => x.to_vec(),
        _ => blocks(x, case.images, case.channels, pixels),
    };
    let packed_residual = blocks(&residual, case.images, case.outputs, case.pixels());
    let one = [
        image.len() / case.images.max(1),
        packed_residual.len() / case.images.max(1),
        out_blocks * case.pixels() * LANES,
    ];
    let strides = [0, 1, 2].map(|at| between.map(|gaps| one[at] + gaps[at]));
    let image = Buffer::of(&spread(&image, case.images, gaps[0]));
    let packed_residual = Buffer::of(&spread(&packed_residual, case.images, gaps[1]));
    for level in levels() {
        let mut plain = Vec::new();
        for extra in 0..5_usize {
            let rounding = [Some(Rounding::Float16), Some(Rounding::BFloat16)];
            let rounding = rounding.get(extra.wrapping_sub(3)).copied().flatten();
            // What is rounded has nothing else.
            let extra = if extra > 2 { 0 } else { extra };
            let mut wanted = sums.to_vec();
            finish(case, extra, &mut wanted, &values(&bias), &residual);
            let mut out = Buffer::of(&vec![f32::NAN; case.images * (one[2] + gaps[2])]);
            {
                let operands = Operands {
                    x: image.row(),
                    filter: packed.row(),
                    bias: (extra > 0).then(|| packed_bias.row()),
                    residual: (extra > 1).then(|| packed_residual.row()),
                    clamp: (extra > 1).then_some((-0.75, 0.5)),
                    rounding,
                    out: out.row_mut(),
                    batch_strides: BatchStrides {
                        x: strides[0],
                        residual: strides[1],
                        out: strides[2],
                    },
                };
                let many = if kind == "dense" {
                    case.images.max(1)
                } else {
                    1
                };
                for index in (0..case.images).step_by(many) {
                    // Cut in two, as workers cut it.
                    let cut = window.output[0] / 2;
                    for rows in [(0, cut), (cut, window.output[0])] {
                        let part = Part {
                            image: index,
                            rows,
                            columns: (0, window.output[1]),
                        };
                        match kind {
                            "planar" => {
                                let planar = Planar {
                                    window,
                                    channels: case.channels,
                                    outputs: out_blocks,
                                };
                                planar_at(level, &planar, &operands, part);
                            }
                            "depthwise" => {
                                for block in 0..out_blocks {
                                    apply_window_at(
                                        level,
                                        &window,
                                        WindowOp::Weigh,
                                        (block, out_blocks),
                                        &operands,
                                        part,
                                    );
                                }
                            }
                            _ => {
                                let dense = Dense {
                                    window,
                                    groups: case.groups,
                                    inputs: depth.div_ceil(LANES),
                                    last: (depth + LANES - 1) % LANES + 1,
                                    outputs: out_blocks / case.groups,
                                };
                                // All images at once, in two pieces of the pairs.
                                let pairs = case.groups * dense.pairs();
                                for pairs in [(0, pairs / 2), (pairs / 2, pairs)] {
                                    let share = Share {
                                        images: (index, case.images.min(index + many)),
                                        pairs,
                                        rows,
                                        columns: part.columns,
                                    };
                                    convolve_share(level, &dense, &operands, share);
                                }
                            }
                        }
                    }
                }
            }
            let row = out.row();
            let all: Vec<f32> = (0..row.len()).map(|index| row.get(index)).collect();
            let images = all
                .chunks((one[2] + gaps[2]).max(1))
                .map(|all| all.split_at(one[2]));
            let mut found = Vec::new();
            for (image, between) in images {
                found.extend_from_slice(image);
                assert!(between.iter().all(|number| number.is_nan()), "{case:?}");
            }
            match rounding {
                None => compare(level, case, &found, &wanted, sums),
                Some(rounding) => {
                    let rounded = plain.iter().map(|&x: &f32| match rounding {
                        Rounding::Float16 => half::f16::from_f32(x).to_f32(),
                        Rounding::BFloat16 => half::bf16::from_f32(x).to_f32(),
                    });
                    assert!(
                        rounded.eq(found.iter().copied()),
                        "{level:?} {case:?} {rounding:?}"
                    );
                }
            }
            if extra == 0 && rounding.is_none() {
                plain = found;
            }
        }
    }
}

#[test]
fn convolution_over_blocks_agrees_with_its_definition() {
    cases().iter().for_each(|case| run(case, "dense"));
}

/// Computes a case whose channels lie in another order, at every level, and compares with sums in float64.
fn run_gathered(case: &Case) {
    let window = case.window();
    let depth = case.channels / case.groups;
    let (pixels, outputs) = (case.image[0] * case.image[1], case.pixels());
    let x = values(&noise(&[case.images * case.channels * pixels], 3));
    let filter = noise(&[case.outputs, depth, case.kernel[0], case.kernel[1]], 7);
    let sums = case.sums(&x, &values(&filter));
    // Dealt out in turn: seven and the number of channels have no common divisor here.
    assert!(!case.channels.is_multiple_of(7));
    let positions: Vec<usize> = (0..case.channels)
        .map(|channel| channel * 7 % case.channels)
        .collect();
    let mut moved = vec![0f32; x.len()];
    for (index, &value) in x.iter().enumerate() {
        let (image, rest) = (
            index / (case.channels * pixels),
            index % (case.channels * pixels),
        );
        let position = positions[rest / pixels];
        moved[(image * case.channels + position) * pixels + rest % pixels] = value;
    }
    let (packed, units) =
        pack_gathered(&filter, case.groups, &positions).expect("a filter to pack");
    let (packed, units) = (
        Buffer::of(&values(&packed)),
        units.values::<i32>().expect("int32"),
    );
    let image = Buffer::of(&blocks(&moved, case.images, case.channels, pixels));
    let bias = noise(&[case.outputs], 11);
    let packed_bias = Buffer::of(&values(&pack_channels(&bias).expect("float32")));
    let residual = values(&noise(&[sums.len()], 13));
    let packed_residual = Buffer::of(&blocks(&residual, case.images, case.outputs, outputs));
    let gathered = GatheredConvolution {
        window,
        inputs: case.channels.div_ceil(LANES),
        outputs: case.outputs.div_ceil(LANES),
        units: &units,
    };
    let mut wanted = sums.clone();
    finish(case, 2, &mut wanted, &values(&bias), &residual);
    for level in levels() {
        let size = case.images * gathered.outputs * outputs * LANES;
        let mut out = Buffer::of(&vec![f32::NAN; size]);
        let operands = Operands {
            x: image.row(),
            filter: packed.row(),
            bias: Some(packed_bias.row()),
            residual: Some(packed_residual.row()),
            clamp: Some((-0.75, 0.5)),
            rounding: None,
            out: out.row_mut(),
            batch_strides: BatchStrides::default(),
        };
        let cut = window.output[0] / 2;
        for rows in [(0, cut), (cut, window.output[0])] {
            let share = Share {
                images: (0, case.images),
                pairs: (0, gathered.units()),
                rows,
                columns: (0, window.output[1]),
            };
            convolve_gathered_at(level, &gathered, &operands, share);
        }
        let row = out.row();
        let found: Vec<f32> = (0..row.len()).map(|index| row.get(index)).collect();
        let ungrouped = Case { groups: 1, ..*case };
        compare(level, &ungrouped, &found, &wanted, &sums);
    }
}

#[test]
fn gathered_channels_agree_with_the_definition() {
    let single = Case {
        kernel: [1, 1],
        before: [0; 2],
        after: [0; 2],
        ..PLAIN
    };
    for case in [
        Case {
            images: 2,
            channels: 60,
            outputs: 240,
            groups: 3,
            image: [1, 50],
            ..single
        },
        Case {
            channels: 240,
            outputs: 60,
            groups: 3,
            image: [20, 28],
            ..single
        },
        Case {
            channels: 24,
            outputs: 60,
            image: [9, 33],
            ..PLAIN
        },
        Case {
            images: 2,
            channels: 40,
            outputs: 72,
            groups: 2,
            image: [9, 40],
            stride: [2, 2],
            dilation: [2, 1],
            ..PLAIN
        },
    ] {
        run_gathered(&case);
    }
}

#[test]
fn units_that_do_not_fit_are_reported() {
    let case = Case {
        channels: 60,
        outputs: 240,
        groups: 3,
        kernel: [1, 1],
        before: [0; 2],
        after: [0; 2],
        ..PLAIN
    };
    let filter = noise(&[240, 20, 1, 1], 7);
    let positions: Vec<usize> = (0..60).collect();
    let (packed, units) = pack_gathered(&filter, 3, &positions).expect("a filter to pack");
    let lines = packed.len() / LANES;
    let units = units.values::<i32>().expect("int32");
    let fits = |units: &[i32], lines: usize| {
        GatheredConvolution {
            window: case.window(),
            inputs: 4,
            outputs: 15,
            units,
        }
        .fits(lines)
    };
    assert!(fits(&units, lines));
    assert!(!fits(&units, lines - 1));
    assert!(!fits(&units[1..], lines));
    // Which block, how many of them, the first line of weights, and which channels.
    for (at, values) in [
        (0, [-1, 15, i32::MAX]),
        (1, [0, 3, -1]),
        (2, [-1, lines as i32 + 1, i32::MAX]),
        (3, [-1, 1 << 16, i32::MIN]),
    ] {
        for value in values {
            let mut units = units.clone();
            units[at] = value;
            assert!(!fits(&units, lines), "{value} at {at}");
        }
    }
    // Groups of one channel would be products with zeros nearly all.
    assert!(pack_gathered(&noise(&[60, 1, 1, 1], 7), 60, &positions).is_none());
}

#[test]
fn convolution_over_planes_agrees_with_its_definition() {
    for case in [
        Case {
            channels: 3,
            outputs: 40,
            kernel: [7, 7],
            stride: [2, 2],
            before: [3; 2],
            after: [3; 2],
            image: [20, 40],
            ..PLAIN
        },
        // Several strips of rows, the last one shorter.
        Case {
            images: 2,
            channels: 3,
            outputs: 33,
            kernel: [5, 3],
            stride: [2, 1],
            before: [2, 1],
            after: [1, 2],
            image: [91, 40],
            ..PLAIN
        },
        Case {
            channels: 1,
            image: [3, 200],
            ..PLAIN
        },
        Case {
            images: 2,
            channels: 3,
            outputs: 17,
            kernel: [3, 2],
            dilation: [3, 1],
            image: [9, 8],
            ..PLAIN
        },
        Case {
            channels: 2,
            outputs: 16,
            image: [1, 1],
            before: [3; 2],
            after: [3; 2],
            ..PLAIN
        },
        Case {
            channels: 3,
            outputs: 32,
            kernel: [11, 11],
            stride: [4, 4],
            before: [2; 2],
            after: [2; 2],
            image: [40, 300],
            ..PLAIN
        },
    ] {
        run(&case, "planar");
    }
}

#[test]
fn depthwise_convolution_agrees_with_its_definition() {
    for case in [
        PLAIN,
        Case {
            images: 2,
            channels: 40,
            outputs: 40,
            image: [6, 33],
            ..PLAIN
        },
        Case {
            stride: [2, 2],
            image: [9, 40],
            ..PLAIN
        },
        Case {
            stride: [3, 3],
            kernel: [5, 5],
            before: [2; 2],
            after: [2; 2],
            image: [9, 50],
            ..PLAIN
        },
        Case {
            kernel: [2, 3],
            dilation: [2, 4],
            image: [5, 30],
            ..PLAIN
        },
        Case {
            kernel: [1, 1],
            before: [0; 2],
            after: [0; 2],
            ..PLAIN
        },
        Case {
            image: [1, 1],
            before: [2; 2],
            after: [2; 2],
            ..PLAIN
        },
    ] {
        run(
            &Case {
                groups: case.channels,
                outputs: case.channels,
                ..case
            },
            "depthwise",
        );
    }
}

#[test]
fn pooling_agrees_with_its_definition() {
    let base = Case {
        channels: 20,
        outputs: 20,
        groups: 20,
        ..PLAIN
    };
    for case in [
        base,
        Case {
            images: 2,
            image: [6, 40],
            stride: [2, 2],
            ..base
        },
        Case {
            image: [7, 30],
            kernel: [2, 3],
            dilation: [2, 2],
            ..base
        },
        Case {
            image: [7, 7],
            kernel: [7, 7],
            before: [0; 2],
            after: [0; 2],
            ..base
        },
        Case {
            image: [4, 50],
            kernel: [3, 3],
            stride: [3, 1],
            before: [0; 2],
            after: [2; 2],
            ..base
        },
    ] {
        let window = case.window();
        let pixels = case.image[0] * case.image[1];
        let x = values(&noise(&[case.images * case.channels * pixels], 5));
        let image = Buffer::of(&blocks(&x, case.images, case.channels, pixels));
        let count = case.channels.div_ceil(LANES);
        let total = case.images * case.outputs * case.pixels();
        for what in [
            WindowOp::Max,
            WindowOp::MeanInside,
            WindowOp::MeanPadded(case.after),
            WindowOp::SumBy(5),
        ] {
            let mut wanted = vec![
                if what == WindowOp::Max {
                    f64::NEG_INFINITY
                } else {
                    0.0
                };
                total
            ];
            let mut counts = vec![0f64; total];
            case.each(|position, [_, tap_y, tap_x], seen| {
                let at = case.position(position);
                let end = |axis: usize, tap: usize, position: usize| {
                    position * case.stride[axis] + tap * case.dilation[axis]
                        < case.image[axis] + case.before[axis] + case.after[axis]
                };
                if let Some(seen) = seen {
                    let value = f64::from(x[seen]);
                    match what {
                        WindowOp::Max => wanted[at] = wanted[at].max(value),
                        _ => wanted[at] += value,
                    }
                }
                let padded = matches!(what, WindowOp::MeanPadded(_));
                if seen.is_some()
                    || (padded && end(0, tap_y, position[2]) && end(1, tap_x, position[3]))
                {
                    counts[at] += 1.0;
                }
            });
            for (sum, count) in wanted.iter_mut().zip(&counts) {
                match what {
                    WindowOp::Max | WindowOp::Weigh => {}
                    WindowOp::SumBy(number) => *sum /= number as f64,
                    _ => *sum /= count.max(1.0),
                }
            }
            for level in levels() {
                let mut out =
                    Buffer::of(&vec![f32::NAN; case.images * count * case.pixels() * LANES]);
                let none = Buffer::of(&[]);
                {
                    let operands = Operands {
                        x: image.row(),
                        filter: none.row(),
                        bias: None,
                        residual: None,
                        clamp: None,
                        rounding: None,
                        out: out.row_mut(),
                        batch_strides: BatchStrides::default(),
                    };
                    for index in 0..case.images {
                        for block in 0..count {
                            let part = Part {
                                image: index,
                                rows: (0, window.output[0]),
                                columns: (0, window.output[1]),
                            };
                            apply_window_at(level, &window, what, (block, count), &operands, part);
                        }
                    }
                }
                let row = out.row();
                let found: Vec<f32> = (0..row.len()).map(|index| row.get(index)).collect();
                compare(level, &Case { groups: 1, ..case }, &found, &wanted, &wanted);
            }
        }
    }
}

#[test]
fn blocks_and_planes_are_each_other_s_inverse() {
    for level in levels() {
        for (channels, pixels) in [(16, 35), (16, 48), (5, 16), (1, 1), (13, 100), (7, 0)] {
            let x = values(&noise(&[channels * pixels], 2));
            let planes = Buffer::of(&x);
            // What lies behind the block stays as it is.
            let mut block = Buffer::of(&vec![f32::NAN; (pixels + 1) * LANES]);
            interleave_at(level, planes.row(), block.row_mut(), pixels);
            for (index, wanted) in blocks(&x, 1, channels, pixels.max(1))
                .iter()
                .take(pixels * LANES)
                .enumerate()
            {
                assert_eq!(block.row().get(index), *wanted, "{level:?}");
            }
            for index in pixels * LANES..(pixels + 1) * LANES {
                assert!(block.row().get(index).is_nan(), "{level:?}");
            }
            let mut back = Buffer::of(&vec![f32::NAN; channels * pixels]);
            separate_at(level, block.row(), back.row_mut(), pixels);
            for (index, wanted) in x.iter().enumerate() {
                assert_eq!(back.row().get(index), *wanted, "{level:?}");
            }
        }
    }
}

#[test]
fn tiles_of_a_row_are_never_much_narrower_than_their_neighbours() {
    for allows_wide in [false, true] {
        for row in 1..200 {
            let mut rest = row;
            let mut widths = Vec::new();
            while rest > 0 {
                let width = tile_width(rest, allows_wide);
                assert!(width <= if allows_wide { WIDE } else { STANDARD }, "{row}");
                widths.push(width);
                rest -= width;
            }
            let narrowest = widths.iter().min().copied();
            assert!(narrowest >= Some(row.min(4)), "{row}: {widths:?}");
        }
    }
}
