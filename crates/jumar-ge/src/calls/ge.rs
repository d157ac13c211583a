//! Calls of the engine as a whole.

use crate::wire::{Reader, Writer};
use crate::{Fail, Outcome, message, session};

pub fn initialize(from: &mut Reader<'_>, _: &mut Writer) -> Outcome<()> {
    session::initialize(from.map()?)
}

pub fn finalize(_: &mut Reader<'_>, _: &mut Writer) -> Outcome<()> {
    session::finalize();
    Ok(())
}

pub fn error(_: &mut Reader<'_>, to: &mut Writer) -> Outcome<()> {
    to.text(&message::take_errors());
    Ok(())
}

pub fn warning(_: &mut Reader<'_>, to: &mut Writer) -> Outcome<()> {
    to.text(&message::take_warnings());
    Ok(())
}

pub fn fail(from: &mut Reader<'_>, _: &mut Writer) -> Outcome<()> {
    Err(Fail::new(from.text()?))
}
