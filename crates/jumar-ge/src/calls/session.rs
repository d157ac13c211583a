//! Calls of sessions and their graphs.

use std::sync::Arc;

use super::given;
use crate::plan::Family;
use crate::session::{self, Session};
use crate::wire::{Reader, Writer};
use crate::{FAILED, GeError, GeResult, PARAM_INVALID, UNSUPPORTED, message, run};

/// Reads the number of a graph.
fn number(from: &mut Reader<'_>) -> GeResult<u32> {
    let number = from.u64()?;
    u32::try_from(number).map_err(|_| GeError::new(format!("there is no graph {number}")))
}

/// Reads which session and which graph of it are meant.
fn target(from: &mut Reader<'_>) -> GeResult<(Arc<Session>, u32)> {
    let (id, number) = (from.u64()?, number(from)?);
    Ok((session::find(id)?, number))
}

pub fn new(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    to.u64(session::create(from.map()?)?);
    Ok(())
}

pub fn delete(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    session::destroy(from.u64()?);
    Ok(())
}

pub fn copy_output(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let session = session::find(from.u64()?)?;
    let (lent, target, bytes) = (from.index()?, from.index()?, from.index()?);
    run::copy_output(&session, lent, target, bytes)
}

pub fn free(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    // A tensor may outlive the session, which has freed its memory then.
    if let Ok(session) = session::find(from.u64()?) {
        session.free(from.index()?);
    }
    Ok(())
}

pub fn needs_build(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (id, number) = (from.u64()?, number(from)?);
    let needs = session::find(id).map_or(true, |session| session.needs_build(number));
    to.u64(u64::from(needs));
    Ok(())
}

pub fn add(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    session.add(number, from.u64()?, from.map()?, false)
}

pub fn add_copy(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    session.add(number, from.u64()?, from.map()?, true)
}

pub fn remove(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    session.remove(number)
}

pub fn build(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    let given = given(from)?;
    let entry = session.graph(number)?;
    let built = entry.plan(&session, &given, Family::Build);
    built.map(drop).map_err(|fail| match fail.status {
        UNSUPPORTED => fail,
        _ => fail.status(FAILED),
    })
}

pub fn compile(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    let given = given(from)?;
    let entry = session
        .graph(number)
        .map_err(|fail| fail.status(PARAM_INVALID))?;
    let family = entry.state.lock().family;
    match family {
        Family::Compile => {
            message::warn(format!("graph {number} was compiled already"));
            Ok(())
        }
        Family::Build => Err(GeError::new(format!(
            "graph {number} was built by BuildGraph or RunGraph: CompileGraph does not mix with these"
        ))
        .status(UNSUPPORTED)),
        Family::Fresh => entry.plan(&session, &given, Family::Compile).map(drop),
    }
}

pub fn load(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    let entry = session.graph(number).map_err(|fail| fail.status(FAILED))?;
    session::check(&from.map()?)?;
    if entry.first_plan().is_none() {
        return Err(GeError::new(format!(
            "graph {number} was not compiled: call CompileGraph first"
        )));
    }
    let mut state = entry.state.lock();
    if state.loaded {
        return Err(GeError::new(format!("graph {number} is loaded already")));
    }
    state.loaded = true;
    Ok(())
}

pub fn summary(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    let entry = session.graph(number)?;
    let compiled = entry.state.lock().family == Family::Compile;
    let plan = entry
        .first_plan()
        .filter(|_| compiled)
        .ok_or_else(|| GeError::new(format!("graph {number} was not compiled")))?;
    to.u64(u64::from(!plan.description.open));
    to.u64(plan.sizes.1 as u64);
    to.u64(plan.sizes.0 as u64);
    to.list(&plan.description.outputs[..plan.outputs], |to, tensor| {
        to.ints(&tensor.dims);
        to.int(i64::from(tensor.data_type));
    });
    Ok(())
}

pub fn memory(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    let (what, address, bytes) = (from.text()?, from.index()?, from.index()?);
    run::supply(&session, number, &what, address, bytes)
}

pub fn outputs(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    let given = given(from)?;
    let entry = session.graph(number)?;
    let plan = entry.plan(&session, &given, Family::Fresh)?;
    let open = plan.description.open;
    to.list(&plan.description.outputs[..plan.outputs], |to, tensor| {
        to.int(if open { -1 } else { tensor.bytes as i64 });
    });
    Ok(())
}

pub fn host_inputs(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    // A graph that does not exist is refused where it runs, with the status of that call.
    let indices = match session.graph(number) {
        Ok(entry) => session::host_inputs(&session, &entry),
        Err(_) => Vec::new(),
    };
    to.list(&indices, |to, index| to.u64(*index as u64));
    Ok(())
}

pub fn model(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (session, number) = target(from)?;
    to.bytes = session.graph(number)?.model_file()?;
    Ok(())
}

pub fn variables(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (session, _) = target(from)?;
    let names = from.list(8, Reader::text)?;
    to.bytes = run::read_variables(&session, &names)?;
    Ok(())
}
