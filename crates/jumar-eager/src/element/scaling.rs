//! Kernels of mixed precision: the check of gradients, and the update of their scale.

use jumar_ops::view::Layout;
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::map::Reader;
use super::nest::Nest;

/// Elements of a block.
const BLOCK: usize = 256;

struct NonFinite {
    nest: Nest,
    dtype: DataType,
}

/// Creates the kernel that writes 1 to output 0, a float32, where input 0 has an infinity or not-a-number. Otherwise it leaves
/// the output as it is.
pub(crate) fn non_finite(dtype: DataType, layout: &Layout) -> Box<dyn Kernel> {
    Box::new(NonFinite {
        nest: Nest::new(&[layout]),
        dtype,
    })
}

impl Kernel for NonFinite {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (reader, found) = (Reader::new(call, 0, self.dtype)?, call.output::<f32>(0)?);
        let (row, step) = (self.nest.row(), self.nest.steps()[0]);
        let mut any = false;
        let mut block = [0.0f64; BLOCK];
        self.nest.each(0, self.nest.rows(), |offsets| {
            for start in (0..row).step_by(BLOCK) {
                let block = &mut block[..BLOCK.min(row - start)];
                let at = offsets[0].wrapping_add_signed(step * start as isize);
                reader.load(at, step, block);
                any |= block.iter().any(|value| !value.is_finite());
            }
        });
        if any {
            found.row(0, 1, 1).set(0, 1.0);
        }
        Ok(())
    }
}

struct UpdateScale {
    growth: f32,
    backoff: f32,
    interval: i64,
}

/// Creates the kernel that computes the next scale and growth tracker from scale, tracker and the sign of an overflow.
pub(crate) fn update_scale(growth: f64, backoff: f64, interval: i64) -> Box<dyn Kernel> {
    Box::new(UpdateScale {
        growth: growth as f32,
        backoff: backoff as f32,
        interval,
    })
}

impl Kernel for UpdateScale {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let scale = call.input::<f32>(0)?.row(0, 1, 1).get(0);
        let tracker = call.input::<i32>(1)?.row(0, 1, 1).get(0);
        let found = call.input::<f32>(2)?.row(0, 1, 1).get(0);
        let (next, count) = if found != 0.0 {
            (scale * self.backoff, 0)
        } else if i64::from(tracker) + 1 == self.interval {
            // A scale that would overflow stays what it is.
            let grown = scale * self.growth;
            (if grown.is_finite() { grown } else { scale }, 0)
        } else {
            (scale, tracker.wrapping_add(1))
        };
        call.output::<f32>(0)?.row(0, 1, 1).set(0, next);
        call.output::<i32>(1)?.row(0, 1, 1).set(0, count);
        Ok(())
    }
}
