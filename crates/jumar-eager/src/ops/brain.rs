//! Products of bfloat16 matrices by the processor's instructions for them, summed in float32.

use jumar_ops::simd::lowp::{Operands, Out, PANEL, multiplies_bf16, product};
use jumar_ops::view::{BF16, RowMut, View as Tensor};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::Cx;
use crate::view::View;

/// Rows of the left side that are worked on at once: they stay in the second cache.
const ROWS: usize = 128;
/// Multiplications below which float32 is as fast: the right side is packed for each product.
const WORTH: usize = 1 << 15;
/// Multiplications that are worth a thread.
const GRAIN: usize = 1 << 20;

/// Writes the products of a batch of matrices to a float32 view. Returns `false` without a step where the processor has no
/// instructions for that, or shapes or sizes are others.
pub(super) fn multiply(cx: &mut Cx<'_>, one: View, two: View, out: View) -> Result<bool, Refusal> {
    if one.dtype() != DataType::BFloat16 || out.dtype() != DataType::Float32 {
        return Ok(false);
    }
    let (batch, m, k, n) = match (one.dims(), two.dims()) {
        (&[m, k], &[_, n]) => (1, m, k, n),
        (&[batch, m, k], &[other, _, n]) if batch == other => (batch, m, k, n),
        _ => return Ok(false),
    };
    let size = m.saturating_mul(n).saturating_mul(k);
    let fits = k % 2 == 0 && m >= 4 && size >= WORTH && out.is_dense();
    if !fits || !multiplies_bf16() {
        return Ok(false);
    }
    let one = cx.dense(one)?;
    let kernel = Product { batch, m, n, k };
    cx.kernel(Box::new(kernel), &[Some(one), Some(two)], &[out], false)?;
    Ok(true)
}

struct Product {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
}

impl Product {
    fn panels(&self) -> usize {
        self.n.div_ceil(PANEL)
    }

    /// Packs columns of the right side: pairs of rows, column by column. Columns that are missing stay zero.
    fn pack(&self, two: &Tensor<'_, BF16>, entry: usize, panel: usize, to: RowMut<'_, BF16>) {
        let strides = two.strides();
        let [step, across] = [strides[strides.len() - 2], strides[strides.len() - 1]];
        let first = if strides.len() > 2 {
            entry as isize * strides[0]
        } else {
            0
        };
        let column = panel * PANEL;
        let count = PANEL.min(self.n - column);
        let start = |row: usize, column: usize| {
            (first + row as isize * step + column as isize * across) as usize
        };
        if step == 1 && self.k > 1 {
            // The right side lies transposed: the pairs lie side by side.
            for index in 0..PANEL {
                let slots = to.stepped(2 * index, self.k / 2, 2 * PANEL);
                let others = to.stepped(2 * index + 1, self.k / 2, 2 * PANEL);
                if index >= count {
                    slots.fill(BF16::ZERO);
                    others.fill(BF16::ZERO);
                    continue;
                }
                let from = two.row(start(0, column + index), self.k, 1);
                slots.copy_from(from.stepped(0, self.k / 2, 2));
                others.copy_from(from.stepped(1, self.k / 2, 2));
            }
            return;
        }
        let mut rows = [[BF16::ZERO; PANEL]; 2];
        for pair in 0..self.k / 2 {
            for (number, row) in rows.iter_mut().enumerate() {
                let from = two.row(start(2 * pair + number, column), count, across);
                RowMut::of(&mut row[..count]).copy_from(from);
            }
            let mut both = [BF16::ZERO; 2 * PANEL];
            for index in 0..PANEL {
                both[2 * index] = rows[0][index];
                both[2 * index + 1] = rows[1][index];
            }
            to.set_group(2 * pair * PANEL, both);
        }
    }
}

impl Kernel for Product {
    fn scratch_bytes(&self) -> usize {
        self.batch * self.panels() * PANEL * self.k * size_of::<BF16>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let &Product { batch, m, n, k } = self;
        let (one, two) = (call.input::<BF16>(0)?.flat(), call.input::<BF16>(1)?);
        let out = call.output::<f32>(0)?.flat();
        let (panels, blocks) = (self.panels(), m.div_ceil(ROWS));
        let len = PANEL * k;
        let packed = call.scratch::<BF16>(0, batch * panels * len)?;
        let grain = GRAIN.div_ceil(len);
        call.workers()
            .ranges(batch * panels, grain, |first, count| {
                for number in first..first + count {
                    let to = packed.slice(number * len, len);
                    self.pack(&two, number / panels, number % panels, to);
                }
            });
        let grain = GRAIN.div_ceil(len * ROWS.min(m));
        call.workers()
            .ranges(batch * blocks * panels, grain, |first, count| {
                for number in first..first + count {
                    let (panel, block) = (number % panels, number / panels);
                    let (entry, row) = (block / blocks, block % blocks * ROWS);
                    let (rows, column) = (ROWS.min(m - row), panel * PANEL);
                    let columns = PANEL.min(n - column);
                    let at = (entry * m + row) * n + column;
                    let operands = Operands {
                        x: one.slice((entry * m + row) * k, rows * k),
                        filter: packed.slice((entry * panels + panel) * len, len).as_row(),
                        bias: None,
                        residual: None,
                        clamp: None,
                        out: Out::Wide(out.slice(at, (rows - 1) * n + columns)),
                    };
                    product((rows, columns, k), &operands, n);
                }
            });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jumar_ops::view::{BF16, Block, Region};
    use jumar_types::dtype::DataType;

    use crate::{Arg, Dims, TensorArg, TensorDesc, Workers, plan};

    fn value(index: i64) -> f32 {
        ((index * 7919 % 61) - 30) as f32 / 16.0
    }

    fn check(name: &str, [batch, m, k, n]: [i64; 4], swapped: bool) {
        let with_batch = |dims: [i64; 2]| match batch {
            0 => dims.to_vec(),
            batch => vec![batch, dims[0], dims[1]],
        };
        let desc = |dims: [i64; 2]| TensorDesc::contiguous(DataType::BFloat16, &with_batch(dims));
        let mut two = desc([k, n]);
        if swapped {
            two.strides = match batch {
                0 => Dims::new(&[1, k]),
                _ => Dims::new(&[k * n, 1, k]),
            };
        }
        let descs = [desc([m, k]), two, desc([m, n])];
        let mut args: Vec<Arg> = descs
            .iter()
            .enumerate()
            .map(|(buffer, desc)| {
                Arg::Tensor(TensorArg {
                    desc: desc.clone(),
                    buffer,
                })
            })
            .collect();
        args.push(Arg::Int(0));
        let mut all = crate::signatures::ALL.iter();
        let signature = all.find(|signature| signature.name == name).unwrap();
        let plan = plan(signature, &args).unwrap();
        let count = batch.max(1);
        let filled = |len: i64, first: i64| {
            let values =
                (first..first + len).flat_map(|at| BF16::from_f32(value(at)).to_le_bytes());
            Block::of(&values.collect::<Vec<u8>>())
        };
        let mut blocks = [
            filled(count * m * k, 0),
            filled(count * k * n, 5),
            filled(count * m * n, 0),
        ];
        let mut workspace = Block::zeroed(plan.workspace_bytes());
        let regions: Vec<Region<'_>> = blocks.iter_mut().map(Block::region).collect();
        plan.run(&regions, workspace.region(), Workers::ALONE)
            .unwrap();
        let found = blocks[2].bytes().chunks(2);
        for (index, pair) in found.enumerate() {
            let found = f64::from(BF16::from_le_bytes([pair[0], pair[1]]));
            let (entry, at) = (index as i64 / (m * n), index as i64 % (m * n));
            let (row, column) = (at / n, at % n);
            let terms = (0..k).map(|p| {
                let other = if swapped {
                    column * k + p
                } else {
                    p * n + column
                };
                let one = value(entry * m * k + row * k + p);
                f64::from(one) * f64::from(value(5 + entry * k * n + other))
            });
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| {
                (sum + term, size + f64::abs(term))
            });
            // One rounding to bfloat16, and one in float32 for each term.
            let bound = sum.abs() / 256.0 + size * k as f64 * f64::from(f32::EPSILON);
            assert!(
                (found - sum).abs() <= bound,
                "{name} {batch}x{m}x{k}x{n} {swapped} at {index}: {found}, not {sum}"
            );
        }
    }

    #[test]
    fn products_of_bfloat16_agree_with_float64() {
        for swapped in [false, true] {
            for (m, k, n) in [
                (4, 64, 130),
                (33, 34, 31),
                (130, 64, 70),
                (7, 33, 400),
                (300, 2, 96),
            ] {
                check("aclnnMatmul", [0, m, k, n], swapped);
            }
            check("aclnnBatchMatMul", [3, 40, 32, 48], swapped);
        }
    }
}
