//! Calls of offline builds.

use crate::wire::{Reader, Writer};
use crate::{GeError, GeResult, graph, offline, session};

pub fn initialize(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    session::initialize_offline(from.map()?)
}

pub fn model(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (graph, options) = (from.u64()?, from.map()?);
    to.bytes = offline::build(graph, &options)?;
    Ok(())
}

pub fn bundle(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let list = from.list(16, |from| Ok((from.u64()?, from.map()?)))?;
    let models = list
        .iter()
        .map(|(graph, options)| offline::build(*graph, options))
        .collect::<GeResult<Vec<_>>>()?;
    Ok(graph::write_bundle(&models, &mut to.bytes)?)
}

pub fn save(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (path, bytes) = (from.text()?, from.bytes()?);
    let path = if path.ends_with(".om") {
        path
    } else {
        format!("{path}.om")
    };
    jumar::output_file::write(path.as_ref(), bytes)
        .map_err(|error| GeError::new(format!("the model {path} cannot be written: {error}")))
}
