//! Calls of custom operators.

use crate::custom;
use crate::wire::{Reader, Writer};
use crate::{GeError, GeResult};

pub fn allocate(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (execution, bytes) = (from.u64()?, from.index()?);
    to.u64(custom::allocate(execution, bytes)? as u64);
    Ok(())
}

pub fn replaced(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    Err(GeError::new(format!(
        "the custom operator {} was registered again by REG_AUTO_MAPPING_OP: the class that was registered last executes it",
        from.text()?
    )))
}
