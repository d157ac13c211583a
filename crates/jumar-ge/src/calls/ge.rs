//! Calls of the engine as a whole.

use crate::wire::{Reader, Writer};
use crate::{GeError, GeResult, message, session};

pub fn initialize(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    session::initialize(from.map()?)
}

pub fn finalize(_: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    session::finalize()
}

pub fn error(_: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    jumar_acl::observers::errors_asked();
    to.text(&message::take_errors());
    Ok(())
}

pub fn warning(_: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    to.text(&message::take_warnings());
    Ok(())
}

pub fn fail(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    Err(GeError::new(from.text()?))
}

pub fn libraries(_: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    to.list(&jumar::config::custom_operator_libraries(), |to, path| {
        to.text(&path.to_string_lossy());
    });
    Ok(())
}

pub fn last_error(_: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    to.text(&message::last_error());
    Ok(())
}
