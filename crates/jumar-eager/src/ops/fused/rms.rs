//! Root mean square normalization, with an addition before it and quantisations behind it.

use jumar_ops::view::{Row, RowMut};
use jumar_types::dtype::DataType;

use super::super::quant::{self, EncodedOutput, Encoding, mx};
use crate::build::Cx;
use crate::ops::operands::{FLOATS, MergedOutput, check_same, entries, leading};
use crate::rows::{RowFunction, Rows, sum_of_squares};
use crate::view::View;
use crate::{Arg, Refusal};

// The operands of the function.
const X: usize = 0;
const OTHER: usize = 1;
const GAMMA: usize = 2;
const BETA: usize = 3;
const SCALE: [usize; 2] = [4, 6];
const OFFSET: [usize; 2] = [5, 7];
const BIAS: usize = 8;
const INPUTS: usize = 9;
const Y: usize = 0;
const Y_AGAIN: usize = 1;
const RSTD: usize = 2;
const SUM: usize = 3;
const QUANTISED: [usize; 2] = [4, 6];
const SCALE_OUT: [usize; 2] = [5, 7];
const OUTPUTS: usize = 8;

/// What is done with the normalized row.
#[derive(Clone, Copy)]
enum Behind {
    Nothing,
    /// Quantised by scales that are given, which multiply or divide.
    Static {
        divides: bool,
    },
    /// Quantised by the largest magnitude of each row.
    Dynamic,
}

/// `y = x / rms(x) * (gamma + shift) + beta`
struct Rms {
    width: usize,
    epsilon: f32,
    shift: f32,
    behind: Behind,
    encodings: [Option<Encoding>; 2],
}

impl Rms {
    #[inline(always)]
    fn quantise(&self, rows: &Rows<'_>, path: usize, y: Row<'_, f32>) {
        let (Some(out), Some(encoding)) = (rows.wanted(QUANTISED[path]), self.encodings[path])
        else {
            return;
        };
        let scale = rows.optional(SCALE[path]);
        match self.behind {
            Behind::Nothing => {}
            Behind::Static { divides } => {
                let offset = rows.optional(OFFSET[path]);
                quant::by_scales(out, y, rows.input(SCALE[path]), offset, divides, encoding);
            }
            Behind::Dynamic => {
                match scale {
                    Some(smooth) => out.map2(y, smooth, |value, smooth| value * smooth),
                    None => out.copy_from(y),
                }
                let scale = encoding.by_largest(out, encoding.largest());
                rows.output(SCALE_OUT[path]).set(0, scale);
            }
        }
    }
}

impl RowFunction for Rms {
    fn scratch(&self) -> usize {
        2 * self.width
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let scratch = rows.scratch();
        let mut x = rows.input(X);
        if let Some(other) = rows.optional(OTHER) {
            let sum: RowMut<'_, f32> = rows.wanted(SUM).unwrap_or(scratch.slice(0, self.width));
            sum.map2(x, other, |one, two| one + two);
            if let Some(bias) = rows.optional(BIAS) {
                sum.update(bias, |value, bias| value + bias);
            }
            x = sum.as_row();
        }
        let mean = sum_of_squares(x) / self.width as f32;
        let rstd = 1.0 / (mean + self.epsilon).sqrt();
        if let Some(out) = rows.wanted(RSTD) {
            out.set(0, rstd);
        }
        let y = rows
            .wanted(Y)
            .unwrap_or(scratch.slice(self.width, self.width));
        let shift = self.shift;
        y.map2(x, rows.input(GAMMA), |value, gamma| {
            value * rstd * (gamma + shift)
        });
        if let Some(beta) = rows.optional(BETA) {
            y.update(beta, |value, beta| value + beta);
        }
        if let Some(again) = rows.wanted(Y_AGAIN) {
            again.copy_from(y.as_row());
        }
        self.quantise(rows, 0, y.as_row());
        self.quantise(rows, 1, y.as_row());
    }
}

/// The operands of one call. `x` has the dimensions that are normalized last; they are joined to one.
struct Operands {
    inputs: [Option<View>; INPUTS],
    outputs: [Option<View>; OUTPUTS],
    merged: Vec<MergedOutput>,
    quantised: Vec<EncodedOutput>,
    x: View,
    /// How many dimensions are normalized.
    count: usize,
    width: usize,
    encodings: [Option<Encoding>; 2],
}

impl Operands {
    fn new(cx: &mut Cx<'_>, x: &str, gamma: &str) -> Result<Operands, Refusal> {
        let (x, gamma) = (cx.tensor(x)?, cx.tensor(gamma)?);
        cx.check_types(&x, FLOATS)?;
        cx.check_types(&gamma, FLOATS)?;
        let fits = !gamma.dims().is_empty() && x.dims().ends_with(gamma.dims());
        // A single row of parameters for the last dimension is also written with a dimension of size 1 before it.
        let gamma = match gamma.dims() {
            &[1, width] if !fits && x.dims().last() == Some(&width) => gamma.squeeze(0),
            _ if fits => gamma,
            _ => {
                return Err(cx.invalid(format_args!(
                    "{} has the shape {:?}; it must be the last dimensions of {:?}",
                    cx.param_of(&gamma),
                    gamma.dims(),
                    x.dims()
                )));
            }
        };
        let (count, width) = (gamma.rank(), gamma.elements());
        let mut operands = Operands {
            inputs: [None; INPUTS],
            outputs: [None; OUTPUTS],
            merged: Vec::new(),
            quantised: Vec::new(),
            x,
            count,
            width,
            encodings: [None; 2],
        };
        operands.input(cx, X, x)?;
        operands.parameter(cx, GAMMA, Some(gamma))?;
        Ok(operands)
    }

    /// The dimensions of `x` with the normalized ones joined.
    fn dims(&self) -> Vec<usize> {
        let mut dims = leading(&self.x, self.count).to_vec();
        dims.push(self.width);
        dims
    }

    fn input(&mut self, cx: &mut Cx<'_>, slot: usize, view: View) -> Result<(), Refusal> {
        check_same(cx, &view, &self.x)?;
        let dims = self.dims();
        self.inputs[slot] = Some(cx.reshaped(view, &dims)?);
        Ok(())
    }

    /// Adds a row of parameters: as many as a row has entries, or one.
    fn parameter(
        &mut self,
        cx: &mut Cx<'_>,
        slot: usize,
        view: Option<View>,
    ) -> Result<(), Refusal> {
        if let Some(view) = view {
            self.inputs[slot] = Some(entries(cx, view, self.width)?);
        }
        Ok(())
    }

    fn output(&mut self, cx: &mut Cx<'_>, slot: usize, out: Option<View>) -> Result<(), Refusal> {
        let Some(out) = out else { return Ok(()) };
        cx.check_types(&out, FLOATS)?;
        cx.check_dims(&out, self.x.dims())?;
        let merged = MergedOutput::new(cx, out, &self.dims())?;
        self.outputs[slot] = Some(merged.rows);
        self.merged.push(merged);
        Ok(())
    }

    /// Adds an output with one number for each row.
    fn number(&mut self, cx: &mut Cx<'_>, slot: usize, out: Option<View>) -> Result<(), Refusal> {
        let Some(out) = out else { return Ok(()) };
        cx.check_dtype(&out, DataType::Float32)?;
        let mut dims = leading(&self.x, self.count).to_vec();
        dims.push(1);
        let merged = MergedOutput::new(cx, out, &dims)?;
        self.outputs[slot] = Some(merged.rows);
        self.merged.push(merged);
        Ok(())
    }

    fn quantised(&mut self, cx: &mut Cx<'_>, path: usize, out: View) -> Result<(), Refusal> {
        let dims = self.x.dims().to_vec();
        let quantised = EncodedOutput::new(cx, out, &dims, quant::usual_rounding(out.dtype()))?;
        let merged = MergedOutput::new(cx, quantised.rows(), &self.dims())?;
        self.encodings[path] = Some(quantised.encoding);
        self.outputs[QUANTISED[path]] = Some(merged.rows);
        self.merged.push(merged);
        self.quantised.push(quantised);
        Ok(())
    }

    fn run(self, cx: &mut Cx<'_>, shift: f32, behind: Behind) -> Result<(), Refusal> {
        let function = Rms {
            width: self.width,
            epsilon: cx.float("epsilon")? as f32,
            shift,
            behind,
            encodings: self.encodings,
        };
        if self.width == 0 {
            return Err(
                cx.invalid("gamma is empty; the dimensions that are normalized must have entries")
            );
        }
        cx.rows(function, &self.inputs, &self.outputs)?;
        for merged in self.merged {
            merged.finish(cx)?;
        }
        for quantised in self.quantised {
            quantised.finish(cx)?;
        }
        Ok(())
    }
}

/// Returns an output unless it is absent or empty, which says that it is not wanted.
fn filled(cx: &Cx<'_>, param: &str) -> Result<Option<View>, Refusal> {
    Ok(cx.optional(param)?.filter(|out| !out.is_empty()))
}

pub(super) fn rms_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plain(cx, 0.0)
}

pub(super) fn gemma(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plain(cx, 1.0)
}

fn plain(cx: &mut Cx<'_>, shift: f32) -> Result<(), Refusal> {
    let mut operands = Operands::new(cx, "x", "gamma")?;
    let out = cx.out("yOut")?;
    operands.output(cx, Y, Some(out))?;
    let rstd = filled(cx, "rstdOut")?;
    operands.number(cx, RSTD, rstd)?;
    operands.run(cx, shift, Behind::Nothing)
}

/// `x1 + x2`, normalized: the operands that all forms with an addition share.
fn added(cx: &mut Cx<'_>, one: &str, two: &str, sum: &str) -> Result<Operands, Refusal> {
    let mut operands = Operands::new(cx, one, "gamma")?;
    let other = cx.tensor(two)?;
    operands.input(cx, OTHER, other)?;
    let sum = filled(cx, sum)?;
    operands.output(cx, SUM, sum)?;
    Ok(operands)
}

pub(super) fn add(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let operands = added(cx, "x1", "x2", "xOut")?;
    add_to(cx, operands)
}

pub(super) fn add_bias(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut operands = added(cx, "x1", "x2", "xOut")?;
    let beta = cx.optional("betaOptional")?;
    if let Some(beta) = &beta {
        cx.check_types(beta, FLOATS)?;
    }
    operands.parameter(cx, BETA, beta)?;
    add_to(cx, operands)
}

fn add_to(cx: &mut Cx<'_>, mut operands: Operands) -> Result<(), Refusal> {
    let out = cx.out("yOut")?;
    operands.output(cx, Y, Some(out))?;
    let rstd = filled(cx, "rstdOut")?;
    operands.number(cx, RSTD, rstd)?;
    operands.run(cx, 0.0, Behind::Nothing)
}

/// The sum is written to `x2Ref`, the result to `x1Ref`.
pub(super) fn add_in_place(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut operands = added(cx, "x1Ref", "x2Ref", "x2Ref")?;
    let out = cx.out("x1Ref")?;
    operands.output(cx, Y, Some(out))?;
    let rstd = filled(cx, "rstdOut")?;
    operands.number(cx, RSTD, rstd)?;
    operands.run(cx, 0.0, Behind::Nothing)
}

pub(super) fn add_cast(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut operands = added(cx, "x1", "x2", "xOut")?;
    let (wide, own) = (cx.out("y1Out")?, cx.out("y2Out")?);
    operands.output(cx, Y, Some(wide))?;
    operands.output(cx, Y_AGAIN, Some(own))?;
    let rstd = filled(cx, "rstdOut")?;
    operands.number(cx, RSTD, rstd)?;
    operands.run(cx, 0.0, Behind::Nothing)
}

pub(super) fn quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut operands = Operands::new(cx, "x", "gamma")?;
    let beta = cx.optional("beta")?;
    operands.parameter(cx, BETA, beta)?;
    let scale = cx.tensor("scale")?;
    operands.parameter(cx, SCALE[0], Some(scale))?;
    let offset = cx.optional("offset")?;
    operands.parameter(cx, OFFSET[0], offset)?;
    let out = cx.out("y")?;
    operands.quantised(cx, 0, out)?;
    operands.run(cx, 0.0, Behind::Static { divides: true })
}

pub(super) fn quant_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut operands = Operands::new(cx, "x", "gamma")?;
    let beta = cx.optional("beta")?;
    operands.parameter(cx, BETA, beta)?;
    let scale = cx.tensor("scale")?;
    cx.check_types(&scale, FLOATS)?;
    operands.parameter(cx, SCALE[0], Some(scale))?;
    let offset = cx.optional("offset")?;
    operands.parameter(cx, OFFSET[0], offset)?;
    let out = cx.out("y")?;
    operands.quantised(cx, 0, out)?;
    // The root is not written where it is not wanted, whatever the shape of its tensor.
    if cx.flag("outputRstd")? {
        let rstd = cx.out("rstd")?;
        operands.number(cx, RSTD, Some(rstd))?;
    }
    let divides = cx.flag("divMode")?;
    operands.run(cx, 0.0, Behind::Static { divides })
}

/// All forms of the transformer library: its tensors say which one a call is. Types and shapes were checked.
pub(crate) fn norm_of_form(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut operands = Operands::new(cx, "x", "gamma")?;
    if let Some(residual) = cx.optional("residual")? {
        operands.input(cx, OTHER, residual)?;
    }
    for (slot, param) in [
        (BIAS, "bias"),
        (BETA, "beta"),
        (SCALE[0], "scale"),
        (OFFSET[0], "offset"),
    ] {
        let view = cx.optional(param)?;
        operands.parameter(cx, slot, view)?;
    }
    for (slot, param) in [(Y, "output"), (SUM, "sum")] {
        let out = cx.optional(param)?;
        operands.output(cx, slot, out)?;
    }
    for (slot, param) in [(RSTD, "rstd"), (SCALE_OUT[0], "rowScale")] {
        let out = cx.optional(param)?;
        operands.number(cx, slot, out)?;
    }
    let behind = match (cx.optional("quantised")?, cx.optional("rowScale")?) {
        (Some(out), scale) => {
            operands.quantised(cx, 0, out)?;
            match scale {
                Some(_) => Behind::Dynamic,
                None => Behind::Static { divides: true },
            }
        }
        (None, _) => Behind::Nothing,
    };
    let shift = if cx.flag("gemma")? { 1.0 } else { 0.0 };
    operands.run(cx, shift, behind)
}

/// Quantises the normalized rows in blocks with a power of two each.
fn in_blocks(cx: &mut Cx<'_>, mut operands: Operands) -> Result<(), Refusal> {
    let (out, scale, x) = (cx.out("yOut")?, cx.out("mxscaleOut")?, operands.x);
    cx.check_types(&x, &[DataType::Float16, DataType::BFloat16])?;
    mx::check_operands(cx, &x, "dstType", &[&out])?;
    if operands.count != 1 {
        return Err(cx.invalid(format_args!(
            "gamma has {} dimensions; expected 1",
            operands.count
        )));
    }
    let algorithm = cx.int("scaleAlg")?;
    if algorithm == 2 {
        return Err(cx.invalid("scaleAlg is 2; it must be 0 or 1"));
    }
    let rule = mx::rule(cx, out.dtype(), &mx::Choice::plain("scaleAlg", algorithm))?;
    let rounding = quant::rounding_to(cx, "roundMode", out.dtype())?;
    let beta = cx.optional("beta")?;
    operands.parameter(cx, BETA, beta)?;
    if cx.flag("outputRstd")? {
        let rstd = cx.out("rstdOut")?;
        operands.number(cx, RSTD, Some(rstd))?;
    }
    let normalized = cx.temporary(DataType::Float32, x.dims())?;
    operands.output(cx, Y, Some(normalized))?;
    operands.run(cx, 0.0, Behind::Nothing)?;
    let shape = mx::Shape {
        axis: x.rank() - 1,
        block: mx::BLOCK,
        ends: None,
    };
    mx::quantise(cx, normalized, shape, (rule, rounding), (out, scale))
}

pub(super) fn mx_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let operands = Operands::new(cx, "x", "gamma")?;
    in_blocks(cx, operands)
}

pub(super) fn add_mx_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let operands = added(cx, "x1", "x2", "xOut")?;
    in_blocks(cx, operands)
}

pub(super) fn dynamic(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut operands = Operands::new(cx, "x", "gamma")?;
    let beta = cx.optional("betaOptional")?;
    operands.parameter(cx, BETA, beta)?;
    let smooth = cx.optional("smoothScalesOptional")?;
    operands.parameter(cx, SCALE[0], smooth)?;
    let out = cx.out("yOut")?;
    quant::check_number(cx, "dstType", &out)?;
    operands.quantised(cx, 0, out)?;
    let scale = cx.out("scaleOut")?;
    operands.number(cx, SCALE_OUT[0], Some(scale))?;
    operands.run(cx, 0.0, Behind::Dynamic)
}

pub(super) fn add_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    quantised_by_scales(cx, None, None)
}

pub(super) fn add_quant_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    quantised_by_scales(cx, Some("betaOptional"), Some("rmsNormOut"))
}

fn quantised_by_scales(
    cx: &mut Cx<'_>,
    beta: Option<&str>,
    normalized: Option<&str>,
) -> Result<(), Refusal> {
    let mut operands = added(cx, "x1", "x2", "xOut")?;
    if let Some(beta) = beta {
        let beta = cx.optional(beta)?;
        operands.parameter(cx, BETA, beta)?;
    }
    if let Some(normalized) = normalized {
        let out = filled(cx, normalized)?;
        operands.output(cx, Y, out)?;
    }
    let axis = cx.axis("axis", cx.int("axis")?, operands.x.rank())?;
    if axis + 1 != operands.x.rank() {
        return Err(cx.unsupported("scales of another dimension than the last are not supported"));
    }
    let paths = [
        ("scales1", "zeroPoints1Optional", "y1Out"),
        ("scales2Optional", "zeroPoints2Optional", "y2Out"),
    ];
    for (path, (scale, offset, out)) in paths.into_iter().enumerate() {
        let Some(scale) = cx.optional(scale)? else {
            // Without its scales the second result has no meaning, and is not written.
            continue;
        };
        operands.parameter(cx, SCALE[path], Some(scale))?;
        let offset = cx.optional(offset)?;
        operands.parameter(cx, OFFSET[path], offset)?;
        let out = cx.out(out)?;
        operands.quantised(cx, path, out)?;
    }
    let divides = cx.flag("divMode")?;
    operands.run(cx, 0.0, Behind::Static { divides })
}

pub(super) fn add_dynamic(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let operands = added(cx, "x1", "x2", "xOut")?;
    // Without its scales the second result has no meaning, and is not written.
    let second = cx.optional("smoothScale2Optional")?.is_some();
    quantised_by_rows(cx, operands, [true, second])
}

pub(super) fn add_dynamic_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut operands = added(cx, "x1", "x2", "xOut")?;
    let beta = cx.optional("betaOptional")?;
    operands.parameter(cx, BETA, beta)?;
    let smooth = [
        cx.optional("smoothScale1Optional")?.is_some(),
        cx.optional("smoothScale2Optional")?.is_some(),
    ];
    let mask = match cx.arg("outputMask")? {
        Arg::Null => None,
        _ => Some(cx.bools("outputMask")?),
    };
    let wanted = match mask {
        None => match smooth {
            [false, true] => {
                return Err(cx.invalid(
                    "smoothScale2Optional is given without smoothScale1Optional and without outputMask",
                ));
            }
            [one, two] => [true, one && two],
        },
        Some(&[one, two]) => {
            let scaled_away = smooth
                .iter()
                .zip([one, two])
                .any(|(&scale, wanted)| scale && !wanted);
            if scaled_away || [one, two] == [false; 2] {
                return Err(cx.invalid(format_args!(
                    "outputMask is [{one}, {two}]; expected at least one result, and each that has a smoothScale"
                )));
            }
            [one, two]
        }
        Some(other) => {
            return Err(cx.invalid(format_args!(
                "outputMask has {} entries; expected 2",
                other.len()
            )));
        }
    };
    quantised_by_rows(cx, operands, wanted)
}

fn quantised_by_rows(
    cx: &mut Cx<'_>,
    mut operands: Operands,
    wanted: [bool; 2],
) -> Result<(), Refusal> {
    let paths = [
        ("smoothScale1Optional", "y1Out", "scale1Out"),
        ("smoothScale2Optional", "y2Out", "scale2Out"),
    ];
    for (path, (smooth, out, scale)) in paths.into_iter().enumerate() {
        if !wanted[path] {
            continue;
        }
        let smooth = cx.optional(smooth)?;
        operands.parameter(cx, SCALE[path], smooth)?;
        let (out, scale) = (cx.out(out)?, cx.out(scale)?);
        operands.quantised(cx, path, out)?;
        operands.number(cx, SCALE_OUT[path], Some(scale))?;
    }
    operands.run(cx, 0.0, Behind::Dynamic)
}
