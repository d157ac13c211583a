//! Scales in the 64-bit form that matrix products take them in.
//!
//! The lower half is a float32 with its lowest 13 bits cleared. Bit 46 is set. Bits 37 to 45 are an offset with 9 bits.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::Cx;
use crate::view::View;

const KEPT: u32 = 0xffff_e000;

/// Writes scales and offsets in the 64-bit form.
struct Encode {
    has_offset: bool,
}

impl Kernel for Encode {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (scale, output) = (call.input::<f32>(0)?.flat(), call.output::<u64>(0)?.flat());
        let offset = match self.has_offset {
            true => Some(call.input::<f32>(1)?.flat()),
            false => None,
        };
        for index in 0..output.len() {
            let scale = scale.get(if scale.len() == 1 { 0 } else { index });
            let mut word = u64::from(scale.to_bits() & KEPT) | 1 << 46;
            if let Some(offset) = offset {
                let offset = offset.get(if offset.len() == 1 { 0 } else { index });
                let offset = offset.round_ties_even().clamp(-256.0, 255.0) as i64;
                word = word & 0x4000_ffff_ffff | (offset as u64 & 0x1ff) << 37;
            }
            output.set(index, word);
        }
        Ok(())
    }
}

pub(super) fn trans_quant_param(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (scale, offset, out) = (cx.tensor("scale")?, cx.optional("offset")?, cx.out("out")?);
    cx.check_dtype(&scale, DataType::Float32)?;
    cx.check_types(&out, &[DataType::UInt64, DataType::Int64])?;
    let mut count = scale.elements();
    if let Some(offset) = &offset {
        cx.check_dtype(offset, DataType::Float32)?;
        let both = offset.elements().max(count);
        if [count, offset.elements()]
            .iter()
            .any(|&own| own != 1 && own != both)
        {
            return Err(cx.invalid(format_args!(
                "scale has the shape {:?} and offset {:?}; both have equally many elements, or one of them has 1",
                scale.dims(),
                offset.dims()
            )));
        }
        count = both;
    }
    let dims = match scale.rank() {
        1 => vec![count],
        _ => scale.dims().to_vec(),
    };
    cx.check_dims(&out, &dims)?;
    if out.is_empty() {
        return Ok(());
    }
    let scale = cx.dense(scale)?;
    let offset = match offset {
        Some(offset) => Some(cx.dense(offset)?),
        None => None,
    };
    let words = cx.temporary(DataType::UInt64, &dims)?;
    let kernel = Encode {
        has_offset: offset.is_some(),
    };
    let mut inputs = vec![Some(scale)];
    inputs.extend(offset.map(Some));
    cx.kernel(Box::new(kernel), &inputs, &[words], false)?;
    cx.copy(words, out.reinterpret(DataType::UInt64))
}

pub(super) fn trans_quant_param_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match cx.int("roundMode")? {
        0 => trans_quant_param(cx),
        1 => Err(cx
            .unsupported("roundMode 1 is not supported: how halves are rounded is not documented")),
        other => Err(cx.invalid(format_args!("roundMode is {other}; it must be 0 or 1"))),
    }
}

/// Reads the float32 in the lower half of each word.
struct Decode;

impl Kernel for Decode {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<u64>(0)?.flat(), call.output::<f32>(0)?.flat());
        for index in 0..output.len() {
            output.set(index, f32::from_bits(input.get(index) as u32));
        }
        Ok(())
    }
}

/// Returns scales as float32: those of 64 bits are decoded, others converted.
pub(crate) fn decoded_scales(cx: &mut Cx<'_>, scale: View) -> Result<View, Refusal> {
    match scale.dtype() {
        DataType::UInt64 | DataType::Int64 => {
            let words = cx.dense(scale)?;
            let out = cx.temporary_of(&scale, DataType::Float32, scale.dims())?;
            if !out.is_empty() {
                cx.kernel(Box::new(Decode), &[Some(words)], &[out], false)?;
            }
            Ok(out)
        }
        DataType::Float32 | DataType::BFloat16 | DataType::Float16 => {
            cx.cast(scale, DataType::Float32)
        }
        other => Err(cx.refuse_type(
            &cx.param_of(&scale),
            other,
            "uint64, int64, float32, float16 or bfloat16",
        )),
    }
}
