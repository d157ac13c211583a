//! Every engine against sums in float64 of numbers rounded by hand, and all engines against each other, bit by bit; a
//! matrix unit, which is emulated here, against a model of its order of sums.

use super::tile::phases;
use super::*;
use crate::simd::unit::{self, Answer};
use crate::view::{Block, Layout, ViewMut};

/// The engines that this processor has.
fn engines<D: Dots>() -> Vec<Engine> {
    let mut engines: Vec<Engine> = super::super::levels()
        .into_iter()
        .map(Engine::Plain)
        .collect();
    if D::native() {
        engines.push(Engine::Native);
    }
    if has_unit() {
        engines.push(Engine::Matrix);
    }
    engines
}

/// Whether the machine code for a matrix unit can be run here, by the unit or by its emulator.
fn has_unit() -> bool {
    let emulated = cfg!(all(target_arch = "x86_64", target_os = "linux"));
    match unit::ask() {
        Answer::Granted(unit) => unit.bfloat16 && unit.bytes,
        // Some of its instructions do not stop a processor that has the unit, so that they cannot be emulated there.
        Answer::Refused(_) => false,
        Answer::Absent | Answer::Unasked => emulated,
    }
}

/// Runs an engine; a matrix unit that is not there is emulated, and may read the two operands.
fn on<T: crate::view::Element>(
    engine: Engine,
    (x, filter): (Row<'_, T>, Row<'_, T>),
    run: impl FnOnce(),
) {
    let range = |row: Row<'_, T>| {
        let from = row.address() as u64;
        (from, from + (row.len() * size_of::<T>()) as u64)
    };
    if engine != Engine::Matrix || unit::ask() != Answer::Absent {
        return run();
    }
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    matrix::emulator::emulated([range(x), range(filter)], run);
}

/// Two numbers of the left side with two of the right.
type Group = [(f32, f32); 2];

/// What a matrix unit makes of runs of groups, all of one length: pieces of a run are summed apart, first numbers and
/// second ones, which are added, and then to the sum.
fn modelled(runs: &[Vec<Group>]) -> f32 {
    let mut sum = 0f32;
    let len = runs.first().map_or(0, Vec::len);
    for phase in phases(len) {
        for run in runs {
            for piece in 0..phase.pieces {
                let groups = &run[phase.first + piece * phase.depth..][..phase.depth];
                let halves = [0, 1].map(|half| {
                    groups
                        .iter()
                        .fold(0f32, |sum, group| sum + group[half].0 * group[half].1)
                });
                sum += halves[0] + halves[1];
            }
        }
    }
    sum
}

/// The largest error of such sums: each rounding on the way of a product is off by half a unit of all that was added.
fn bound(runs: &[Vec<Group>], more: f64) -> f64 {
    let pieces: usize = runs.iter().map(|run| run.len().div_ceil(16) + 1).sum();
    let all: f64 = runs
        .iter()
        .flatten()
        .flatten()
        .map(|&(a, b)| f64::from((a * b).abs()))
        .sum();
    (16 + 1 + pieces + 3) as f64 * f64::from(f32::EPSILON) / 2.0 * (all + more)
}

fn finished(sum: f32, more: &[f32], (low, high): (f32, f32)) -> f32 {
    more.iter()
        .fold(sum, |sum, more| sum + more)
        .clamp(low, high)
}

#[test]
fn runs_are_cut_into_pieces_that_a_register_holds() {
    for run in 0..200 {
        let mut next = 0;
        for phase in phases(run) {
            assert!(phase.pieces == 0 || phase.first == next && (1..=16).contains(&phase.depth));
            next += phase.pieces * phase.depth;
        }
        assert_eq!(next, run);
        let pieces: usize = phases(run).iter().map(|phase| phase.pieces).sum();
        assert_eq!(pieces, run.div_ceil(16), "{run}: no more than are needed");
    }
}

fn noise(index: usize) -> f32 {
    ((index.wrapping_mul(2_654_435_761) >> 7) % 2001) as f32 / 1000.0 - 1.0
}

fn byte(index: usize) -> u8 {
    (index.wrapping_mul(2_654_435_761) >> 9) as u8
}

/// What the nearest number of eight bits is, worked out by the distance to its neighbours.
fn nearest(value: f32) -> f32 {
    let below = f32::from_bits(value.to_bits() & 0xffff_0000);
    let above = f32::from_bits((value.to_bits() & 0xffff_0000).wrapping_add(0x1_0000));
    let (down, up) = (
        (f64::from(value) - f64::from(below)).abs(),
        (f64::from(above) - f64::from(value)).abs(),
    );
    if down < up || (down == up && below.to_bits() >> 16 & 1 == 0) {
        below
    } else {
        above
    }
}

fn row<T: crate::view::Element>(block: &mut Block, len: usize, run: impl FnOnce(RowMut<'_, T>)) {
    let layout = Layout::dense(&[len]).unwrap();
    run(ViewMut::<T>::new(block.region(), &layout).unwrap().flat());
}

fn bytes_of(values: &[f32]) -> Block {
    Block::of(
        &values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<_>>(),
    )
}

fn halves(values: &[f32]) -> Block {
    Block::of(
        &values
            .iter()
            .flat_map(|&v| to_bf16(v).to_le_bytes())
            .collect::<Vec<_>>(),
    )
}

#[test]
fn numbers_are_rounded_to_the_nearest_even() {
    let mut values: Vec<f32> = (0..4000)
        .map(|i| noise(i) * 10f32.powi(i as i32 % 60 - 30))
        .collect();
    // Just between two numbers, and a little beside.
    for bits in [
        0x3f80_8000u32,
        0x3f81_8000,
        0x3f80_7fff,
        0x3f80_8001,
        0xbf81_8000,
    ] {
        values.push(f32::from_bits(bits));
    }
    for &value in &values {
        assert_eq!(to_bf16(value).to_f32(), nearest(value), "{value:e}");
    }
    for (value, wanted) in [
        (f32::INFINITY, f32::INFINITY),
        (f32::NEG_INFINITY, f32::NEG_INFINITY),
        (f32::MAX, f32::INFINITY),
        (1e-40, 0.0),
        (-0.0, -0.0),
        (-1e-40, -0.0),
    ] {
        assert_eq!(
            to_bf16(value).to_f32().to_bits(),
            wanted.to_bits(),
            "{value:e}"
        );
        values.push(value);
    }
    values.push(f32::NAN);
    values.push(f32::from_bits(0x7f80_0001));
    assert!(to_bf16(f32::from_bits(0x7f80_0001)).to_f32().is_nan());
    let mut from = bytes_of(&values);
    let wanted: Vec<u8> = values
        .iter()
        .flat_map(|&v| to_bf16(v).to_le_bytes())
        .collect();
    for engine in engines::<Pairs>() {
        let mut to = Block::of(&vec![0; values.len() * 2]);
        row::<f32>(&mut from, values.len(), |from| {
            row::<BF16>(&mut to, values.len(), |to| {
                round_at(engine, from.as_row(), to)
            });
        });
        assert_eq!(to.bytes(), wanted, "{engine:?}");
    }
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn a_call_configures_the_unit_no_oftener_than_sizes_change() {
    use super::matrix::emulator::{ExecutedInstructions, tried};
    if unit::ask() != Answer::Absent {
        return; // Instructions of the unit itself are not counted.
    }
    // Rows, depth in bytes; the number of configurations; products: pieces of the depth, jobs of 16 rows, two blocks.
    for (m, k, configurations, products) in [
        (64, 128, 1, 2 * 4 * 2),
        (31, 64, 1, 2 * 2),
        (33, 64, 1, 3 * 2),
        (32, 68, 2, 2 * 2 * 2),
        (64, 68, 4, 2 * 4 * 2),
        (0, 64, 0, 0),
        (5, 0, 0, 0),
    ] {
        let (mut x, mut filter) = (Block::of(&vec![1; m * k]), Block::of(&vec![1; k * PANEL]));
        let mut c = Block::of(&vec![0; m * PANEL * 4]);
        let mut seen = Ok(ExecutedInstructions::default());
        row::<u8>(&mut x, m * k, |x| {
            row::<u8>(&mut filter, k * PANEL, |filter| {
                row::<i32>(&mut c, m * PANEL, |c| {
                    seen = tried(|| {
                        let sides = (x.as_row(), filter.as_row());
                        int8_product_at(Engine::Matrix, (m, PANEL, k), sides, (c, PANEL));
                    });
                });
            });
        });
        let seen = seen.unwrap();
        let observed = (seen.configurations, seen.products, seen.releases);
        assert_eq!(
            observed,
            (configurations, products, configurations.min(1)),
            "{m} x {k}"
        );
    }
}

#[test]
fn without_the_permission_other_engines_compute() {
    let best = [Engine::best::<Pairs>(), Engine::best::<Quads>()];
    if !matches!(unit::ask(), Answer::Granted(_)) {
        assert!(!best.contains(&Engine::Matrix));
    }
    let other = [Pairs::native(), Quads::native()].map(|native| match native {
        true => Engine::Native,
        false => Engine::Plain(super::super::Level::best()),
    });
    for answer in [Answer::Unasked, Answer::Absent, Answer::Refused(28)] {
        assert_eq!(answer.unit(), unit::Unit::default(), "{answer:?}");
        let engines = [
            Engine::among::<Pairs>(answer.unit().bfloat16),
            Engine::among::<Quads>(answer.unit().bytes),
        ];
        assert_eq!(engines, other, "{answer:?}");
    }
}

#[test]
fn products_are_those_of_rounded_numbers_and_the_same_at_every_level() {
    for (m, n, k) in [
        (1usize, 1usize, 2usize),
        (1, 32, 64),
        (3, 17, 10),
        (8, 32, 128),
        (9, 16, 6),
        (23, 31, 40),
        (33, 32, 34),
        (16, 9, 70),
        (5, 3, 0),
    ] {
        let stride = n + 3;
        let a: Vec<f32> = (0..m * k).map(|i| noise(i + 3)).collect();
        let b: Vec<f32> = (0..k * PANEL).map(|i| noise(i + 777)).collect();
        // Pairs of rows side by side.
        let packed: Vec<f32> = (0..k * PANEL)
            .map(|at| b[(at / (2 * PANEL) * 2 + at % 2) * PANEL + at / 2 % PANEL])
            .collect();
        let (bias, residual): (Vec<f32>, Vec<f32>) = (
            (0..n).map(|i| noise(i + 5)).collect(),
            (0..m * stride).map(|i| noise(i + 9)).collect(),
        );
        let mut first: [Option<Vec<u8>>; 2] = [None, None];
        for engine in engines::<Pairs>() {
            for (case, first) in first.iter_mut().enumerate() {
                let more = case == 1;
                let (mut x, mut filter) = (halves(&a), halves(&packed));
                let (mut bias_block, mut residual_block) = (bytes_of(&bias), bytes_of(&residual));
                let mut c = bytes_of(&vec![7.0; m * stride]);
                row::<BF16>(&mut x, m * k, |x| {
                    row::<BF16>(&mut filter, k * PANEL, |filter| {
                        row::<f32>(&mut bias_block, n, |bias| {
                            row::<f32>(&mut residual_block, m * stride, |residual| {
                                row::<f32>(&mut c, m * stride, |c| {
                                    let operands = Operands {
                                        x: x.as_row(),
                                        filter: filter.as_row(),
                                        bias: more.then_some(bias.as_row()),
                                        residual: more.then_some(residual.as_row()),
                                        clamp: more.then_some((-1.0, 2.0)),
                                        out: Out::Wide(c),
                                    };
                                    on(engine, (x.as_row(), filter.as_row()), || {
                                        product_at(engine, (m, n, k), &operands, stride)
                                    });
                                });
                            });
                        });
                    });
                });
                let found: Vec<f32> = c
                    .bytes()
                    .chunks_exact(4)
                    .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
                    .collect();
                for i in 0..m {
                    for j in 0..stride {
                        let mut wanted = 7.0;
                        if j < n {
                            wanted = (0..k)
                                .map(|p| {
                                    f64::from(nearest(a[i * k + p]))
                                        * f64::from(nearest(b[p * PANEL + j]))
                                })
                                .sum();
                            if more {
                                wanted += f64::from(bias[j]) + f64::from(residual[i * stride + j]);
                                wanted = wanted.clamp(-1.0, 2.0);
                            }
                        }
                        let off = (f64::from(found[i * stride + j]) - wanted).abs();
                        assert!(
                            off < 1e-5,
                            "{engine:?} {m}x{n}x{k} case {case} at {i},{j}: {off}"
                        );
                        if engine == Engine::Matrix && j < n {
                            let number =
                                |p: usize| (nearest(a[i * k + p]), nearest(b[p * PANEL + j]));
                            let run = (0..k / 2).map(|p| [number(2 * p), number(2 * p + 1)]);
                            let runs = [run.collect::<Vec<_>>()];
                            assert!(off <= bound(&runs, 8.0), "{m}x{n}x{k} at {i},{j}: {off}");
                            let mut sum = modelled(&runs);
                            if more {
                                sum = finished(
                                    sum,
                                    &[bias[j], residual[i * stride + j]],
                                    (-1.0, 2.0),
                                );
                            }
                            let found = found[i * stride + j];
                            assert_eq!(found.to_bits(), sum.to_bits(), "{m}x{n}x{k} at {i},{j}");
                        }
                    }
                }
                if engine == Engine::Matrix {
                    continue;
                }
                let same = first.get_or_insert_with(|| c.bytes().to_vec());
                assert!(same == c.bytes(), "{engine:?} {m}x{n}x{k} differs in bits");
            }
        }
    }
}

#[test]
fn convolutions_of_blocks_agree_with_sums_in_float64() {
    // Image, kernel, stride, dilation, padding, groups, blocks of input and output of a group.
    let cases = [
        (
            [9usize, 30usize],
            [3usize, 3usize],
            1usize,
            1usize,
            1usize,
            1usize,
            2usize,
            3usize,
        ),
        ([5, 7], [3, 3], 2, 1, 1, 1, 1, 2),
        ([1, 45], [1, 1], 1, 1, 0, 1, 3, 2),
        ([6, 29], [1, 1], 2, 1, 0, 1, 1, 1),
        ([8, 19], [3, 3], 1, 2, 2, 2, 1, 2),
        ([4, 16], [5, 5], 1, 1, 2, 1, 1, 2),
        // Small images, whose rows a matrix unit takes two at a time, or as one.
        ([7, 7], [3, 3], 1, 1, 1, 1, 2, 2),
        ([5, 7], [1, 1], 1, 1, 0, 2, 2, 3),
        // Windows larger than the image, rows that see nothing of it, and more taps than are copied at once.
        ([2, 2], [5, 5], 1, 1, 2, 1, 1, 1),
        ([2, 80], [1, 70], 1, 1, 3, 1, 1, 1),
        ([5, 37], [7, 7], 2, 1, 3, 1, 1, 2),
        ([3, 90], [1, 3], 40, 7, 9, 1, 1, 2),
    ];
    for (image, kernel, stride, dilation, pad, groups, inputs, outputs) in cases {
        let size =
            |axis: usize| (image[axis] + 2 * pad - (kernel[axis] - 1) * dilation - 1) / stride + 1;
        let window = Sliding {
            image,
            output: [size(0), size(1)],
            kernel,
            stride: [stride; 2],
            dilation: [dilation; 2],
            before: [pad; 2],
        };
        let dense = Dense {
            window,
            groups,
            inputs,
            last: LANES,
            outputs,
        };
        let (pixels, outs, taps) = (window.pixels(), window.outputs(), window.taps());
        let (in_len, out_len) = (
            2 * groups * inputs * pixels * LANES,
            2 * groups * outputs * outs * LANES,
        );
        let x: Vec<f32> = (0..in_len).map(|i| noise(i + 1)).collect();
        let all_out = groups * outputs;
        // Output channel (over all groups), input channel of the group, tap.
        let depth = inputs * LANES;
        let w: Vec<f32> = (0..all_out * LANES * depth * taps)
            .map(|i| noise(i + 4242))
            .collect();
        let mut packed = Vec::new();
        for group in 0..groups {
            for pair in (0..outputs).step_by(PAIR) {
                let count = PAIR.min(outputs - pair);
                for input in 0..inputs {
                    for tap in 0..taps {
                        for step in 0..BLOCK {
                            for block in 0..count {
                                for lane in 0..LANES {
                                    for half in 0..2 {
                                        let output =
                                            (group * outputs + pair + block) * LANES + lane;
                                        let channel = input * LANES + 2 * step + half;
                                        packed.push(w[(output * depth + channel) * taps + tap]);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        let bias: Vec<f32> = (0..all_out * LANES).map(|i| noise(i + 99)).collect();
        let residual: Vec<f32> = (0..out_len).map(|i| noise(i + 31)).collect();
        // Where an output lies: its row, its channel, and its column, group and image.
        let position = |at: usize| {
            let (lane, rest) = (at % LANES, at / LANES);
            let (column, rest) = (rest % window.output[1], rest / window.output[1]);
            let (line, rest) = (rest % window.output[0], rest / window.output[0]);
            let (block, image) = (rest % all_out, rest / all_out);
            (line, block * LANES + lane, (column, block / outputs, image))
        };
        let near = |values: &[f32]| values.iter().map(|&v| nearest(v)).collect::<Vec<_>>();
        let (rounded, weights) = (near(&x), near(&w));
        // What an output is the sum of, by channel and tap.
        let seen = |at: usize| {
            let (line, output, (column, group, image_index)) = position(at);
            let mut seen = vec![(0f32, 0f32); depth * taps];
            for channel in 0..depth {
                for tap in 0..taps {
                    let y = (line * stride + tap / kernel[1] * dilation) as isize - pad as isize;
                    let z = (column * stride + tap % kernel[1] * dilation) as isize - pad as isize;
                    if y < 0 || z < 0 || y as usize >= image[0] || z as usize >= image[1] {
                        continue;
                    }
                    let plane = (image_index * groups + group) * inputs + channel / LANES;
                    let from = (plane * pixels + y as usize * image[1] + z as usize) * LANES;
                    seen[channel * taps + tap] = (
                        rounded[from + channel % LANES],
                        weights[(output * depth + channel) * taps + tap],
                    );
                }
            }
            seen
        };
        let sum = |at: usize| {
            seen(at)
                .iter()
                .map(|&(a, b)| f64::from(a) * f64::from(b))
                .sum()
        };
        let exact: Vec<f64> = (0..out_len).map(sum).collect();
        let mut first: [Option<Vec<u8>>; 2] = [None, None];
        for engine in engines::<Pairs>() {
            for (case, first) in first.iter_mut().enumerate() {
                let (mut xb, mut fb, mut bb, mut rb) = (
                    halves(&x),
                    halves(&packed),
                    bytes_of(&bias),
                    bytes_of(&residual),
                );
                let mut out = Block::of(&vec![0; out_len * if case == 0 { 4 } else { 2 }]);
                let mut work = |out: Out<'_>| {
                    row::<BF16>(&mut xb, in_len, |x| {
                        row::<BF16>(&mut fb, packed.len(), |filter| {
                            row::<f32>(&mut bb, bias.len(), |bias| {
                                row::<f32>(&mut rb, out_len, |residual| {
                                    let operands = Operands {
                                        x: x.as_row(),
                                        filter: filter.as_row(),
                                        bias: Some(bias.as_row()),
                                        residual: (case == 0).then_some(residual.as_row()),
                                        clamp: Some((0.0, f32::INFINITY)),
                                        out,
                                    };
                                    for image in 0..2 {
                                        for group in 0..groups {
                                            for pair in 0..outputs.div_ceil(PAIR) {
                                                let part = Part {
                                                    image,
                                                    rows: (0, window.output[0]),
                                                    columns: (0, window.output[1]),
                                                };
                                                on(engine, (x.as_row(), filter.as_row()), || {
                                                    convolve_at(
                                                        engine,
                                                        &dense,
                                                        &operands,
                                                        (group, pair),
                                                        part,
                                                    );
                                                });
                                            }
                                        }
                                    }
                                });
                            });
                        });
                    });
                };
                if case == 0 {
                    row::<f32>(&mut out, out_len, |out| work(Out::Wide(out)));
                } else {
                    row::<BF16>(&mut out, out_len, |out| work(Out::Bf16(out)));
                }
                let found: Vec<f32> = match case {
                    0 => out
                        .bytes()
                        .chunks_exact(4)
                        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
                        .collect(),
                    _ => out
                        .bytes()
                        .chunks_exact(2)
                        .map(|b| BF16::from_le_bytes(b.try_into().unwrap()).to_f32())
                        .collect(),
                };
                for at in 0..out_len {
                    let (line, output, _) = position(at);
                    let mut wanted = f64::from(bias[output]) + exact[at];
                    if case == 0 {
                        wanted += f64::from(residual[at]);
                    }
                    wanted = wanted.max(0.0);
                    let bound = if case == 0 {
                        3e-5
                    } else {
                        0.004 * wanted + 1e-4
                    };
                    let off = (f64::from(found[at]) - wanted).abs();
                    assert!(
                        off <= bound,
                        "{engine:?} {window:?} case {case} at {at}: {} and {wanted}",
                        found[at]
                    );
                    if engine != Engine::Matrix {
                        continue;
                    }
                    let seen = seen(at);
                    // Taps across follow each other where they lie side by side.
                    let together = match dilation == 1 && kernel[1] <= 64 {
                        true => kernel[1],
                        false => 1,
                    };
                    let mut runs = Vec::new();
                    for (input, tap) in
                        (0..inputs).flat_map(|i| (0..taps).step_by(together).map(move |t| (i, t)))
                    {
                        let y =
                            (line * stride + tap / kernel[1] * dilation) as isize - pad as isize;
                        if y < 0 || y as usize >= image[0] {
                            continue;
                        }
                        let group = |at: usize| {
                            [0, 1].map(|half| {
                                let channel = input * LANES + at % BLOCK * 2 + half;
                                seen[channel * taps + tap + at / BLOCK]
                            })
                        };
                        runs.push((0..together * BLOCK).map(group).collect());
                    }
                    let added = match case {
                        0 => vec![bias[output], residual[at]],
                        _ => vec![bias[output]],
                    };
                    let mut sum = finished(modelled(&runs), &added, (0.0, f32::INFINITY));
                    if case == 0 {
                        assert!(off <= self::bound(&runs, 4.0), "{window:?} at {at}: {off}");
                    } else {
                        sum = nearest(sum);
                    }
                    assert_eq!(
                        found[at].to_bits(),
                        sum.to_bits(),
                        "{window:?} case {case} at {at}"
                    );
                }
                if engine == Engine::Matrix {
                    continue;
                }
                let same = first.get_or_insert_with(|| out.bytes().to_vec());
                assert!(
                    same == out.bytes(),
                    "{engine:?} {window:?} case {case} differs in bits"
                );
            }
        }
    }
}

#[test]
fn products_of_bytes_are_exact_at_every_level() {
    for (m, n, k) in [
        (1usize, 1usize, 4usize),
        (9, 32, 64),
        (5, 17, 1000),
        (17, 31, 12),
        (40, 32, 272),
        (2, 5, 0),
    ] {
        let stride = n + 1;
        let mut a: Vec<u8> = (0..m * k).map(byte).collect();
        let mut b: Vec<u8> = (0..k * PANEL).map(|i| byte(i + 11)).collect();
        // The largest sums.
        a.iter_mut().take(k).for_each(|x| *x = 255);
        b.iter_mut()
            .enumerate()
            .filter(|(at, _)| at / 4 % PANEL == 0)
            .for_each(|(_, x)| *x = 0x80);
        for engine in engines::<Quads>() {
            let (mut x, mut filter) = (Block::of(&a), Block::of(&b));
            let mut c = Block::of(&vec![1; m * stride * 4]);
            row::<u8>(&mut x, a.len(), |x| {
                row::<u8>(&mut filter, b.len(), |filter| {
                    row::<i32>(&mut c, m * stride, |c| {
                        on(engine, (x.as_row(), filter.as_row()), || {
                            int8_product_at(
                                engine,
                                (m, n, k),
                                (x.as_row(), filter.as_row()),
                                (c, stride),
                            );
                        });
                    });
                });
            });
            for i in 0..m {
                for j in 0..stride {
                    let wanted = match j < n {
                        true => (0..k)
                            .map(|p| {
                                i64::from(a[i * k + p])
                                    * i64::from(b[(p / 4 * PANEL + j) * 4 + p % 4] as i8)
                            })
                            .sum(),
                        false => 0x0101_0101,
                    };
                    let at = 4 * (i * stride + j);
                    let found = i32::from_le_bytes(c.bytes()[at..at + 4].try_into().unwrap());
                    assert_eq!(
                        i64::from(found),
                        wanted,
                        "{engine:?} {m}x{n}x{k} at {i},{j}"
                    );
                }
            }
        }
    }
}

#[test]
fn convolutions_of_bytes_are_exact_at_every_level() {
    for (output, kernel, stride, dilation, pixel, depth, channels) in [
        ([3usize, 19usize], [3usize, 3usize], 1, 1, 8, 8, 32),
        ([2, 9], [1, 1], 2, 1, 12, 4, 7),
        ([4, 1], [2, 3], 2, 2, 4, 4, 17),
        ([2, 37], [1, 7], 2, 1, 4, 4, 32),
        ([1, 33], [3, 3], 1, 2, 72, 68, 30),
    ] {
        let image =
            [0, 1].map(|axis| (output[axis] - 1) * stride + (kernel[axis] - 1) * dilation + 1);
        let window = Sliding {
            image,
            output,
            kernel,
            stride: [stride; 2],
            dilation: [dilation; 2],
            before: [0; 2],
        };
        let convolution = Int8Convolution {
            window,
            pixel,
            depth,
        };
        let x: Vec<u8> = (0..image[0] * image[1] * pixel).map(byte).collect();
        let w: Vec<u8> = (0..window.taps() * depth * PANEL)
            .map(|i| byte(i + 5))
            .collect();
        for engine in engines::<Quads>() {
            for y in 0..output[0] {
                let (mut xb, mut wb, mut c) = (
                    Block::of(&x),
                    Block::of(&w),
                    Block::of(&vec![0; output[1] * channels * 4]),
                );
                row::<u8>(&mut xb, x.len(), |x| {
                    row::<u8>(&mut wb, w.len(), |w| {
                        row::<i32>(&mut c, output[1] * channels, |c| {
                            on(engine, (x.as_row(), w.as_row()), || {
                                int8_convolve_at(
                                    engine,
                                    &convolution,
                                    (x.as_row(), w.as_row()),
                                    (c, channels, channels),
                                    y,
                                );
                            });
                        });
                    });
                });
                for (at, found) in c.bytes().chunks_exact(4).enumerate() {
                    let (column, channel) = (at / channels, at % channels);
                    let mut wanted = 0;
                    for tap in 0..window.taps() {
                        let line = y * stride + tap / kernel[1] * dilation;
                        let from = (line * image[1] + column * stride + tap % kernel[1] * dilation)
                            * pixel;
                        for p in 0..depth {
                            let weight =
                                w[((tap * depth / 4 + p / 4) * PANEL + channel) * 4 + p % 4] as i8;
                            wanted += i32::from(x[from + p]) * i32::from(weight);
                        }
                    }
                    assert_eq!(
                        i32::from_le_bytes(found.try_into().unwrap()),
                        wanted,
                        "{engine:?} {window:?} {at}"
                    );
                }
            }
        }
    }
}
