//! Running graphs: from host memory, on a stream, and from a queue.

use std::sync::Arc;

use jumar::engine::{Block, Caller, Context, Home, Runtime, Span};
use jumar::offline::{Produced, Results, Shaped, Supplied};

use crate::graph::TensorType;
use crate::graph::ge::Desc;
use crate::session::{self, Entry, Family, Place, Plan, Session, Stored};
use crate::sync::Ordering;
use crate::wire::Writer;
use crate::{FAILED, Fail, Outcome, SUCCESS, message};

/// A tensor that a program passes to a run.
#[derive(Clone, Debug)]
pub struct HostTensor {
    /// The dimensions.
    pub dims: Vec<i64>,
    /// The number of the element type.
    pub dtype: i32,
    /// The number of the format.
    pub format: i32,
    /// The memory, which the program vouches for.
    pub span: Span,
    /// The contents, where they are read on the host.
    pub bytes: Vec<u8>,
}

/// Who hears of a run that was queued.
pub type Done = Box<dyn FnOnce(u32, &[u8]) + Send>;

/// A run that waits for its turn.
pub struct Job {
    graph: u32,
    family: Family,
    inputs: Vec<HostTensor>,
    done: Done,
}

/// How a graph is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// From host memory; the caller waits. A graph that was compiled is refused, or taken as well.
    Waiting(Family),
    /// On a stream, in place.
    Stream(u64),
    /// On a stream, in place; the graph has to be loaded.
    Loaded(u64),
}

/// Runs a graph. `how` is 0 to wait, 1 to run on `stream`, 2 to run on it what was loaded, 3 to wait for a graph that
/// may have been compiled.
///
/// # Errors
///
/// The status; the text is kept for the thread.
pub fn run(
    how: u32,
    session: u64,
    graph: u32,
    stream: u64,
    inputs: Vec<HostTensor>,
    outputs: &[HostTensor],
) -> Result<Vec<u8>, u32> {
    let how = match how {
        0 => How::Waiting(Family::Build),
        1 => How::Stream(stream),
        3 => How::Waiting(Family::Fresh),
        _ => How::Loaded(stream),
    };
    let outcome = session::find(session).and_then(|session| match how {
        How::Waiting(family) => {
            let entry = session.graph(graph)?;
            let Some(_turn) = session.running.try_lock() else {
                return Err(Fail::new("another graph of this session is running"));
            };
            on_host(&session, &entry, &inputs, family)
        }
        How::Stream(stream) | How::Loaded(stream) => {
            let loaded = matches!(how, How::Loaded(_));
            on_stream(&session, graph, stream, &inputs, outputs, loaded)
                .map_err(|fail| fail.status(FAILED))
        }
    });
    outcome.map_err(|fail| {
        message::error(&fail);
        fail.status
    })
}

/// Queues a run; `done` hears of its end. `how` is 3 for a graph that may have been compiled, else 0.
///
/// # Errors
///
/// The status; `done` heard of it as well.
pub fn run_async(
    how: u32,
    session: u64,
    graph: u32,
    inputs: Vec<HostTensor>,
    done: Done,
) -> Result<(), u32> {
    let family = if how == 3 {
        Family::Fresh
    } else {
        Family::Build
    };
    let found = session::find(session).and_then(|session| {
        let entry = session.graph(graph)?;
        let state = entry.state.lock();
        if state.family == Family::Compile && family == Family::Build {
            return Err(Fail::new(format!(
                "graph {graph} was compiled by CompileGraph: RunGraphAsync does not mix with that"
            ))
            .status(crate::UNSUPPORTED));
        }
        drop(state);
        Ok(session)
    });
    match found {
        Ok(session) => {
            session.queue.lock().push_back(Job {
                graph,
                family,
                inputs,
                done,
            });
            session::start_worker(&session);
            session.queued.notify_one();
            Ok(())
        }
        Err(fail) => {
            message::error(&fail);
            done(fail.status, &[]);
            Err(fail.status)
        }
    }
}

/// What the thread of a session does.
pub fn work_off(session: &Arc<Session>) {
    loop {
        let mut queue = session.queue.lock();
        let job = loop {
            if session.closed.load(Ordering::Acquire) {
                let left = std::mem::take(&mut *queue);
                drop(queue);
                for job in left {
                    (job.done)(FAILED, &[]);
                }
                return;
            }
            match queue.pop_front() {
                Some(job) => break job,
                None => queue = session.queued.wait(queue),
            }
        };
        drop(queue);
        let outcome = {
            let _turn = session.running.lock();
            session
                .graph(job.graph)
                .and_then(|entry| on_host(session, &entry, &job.inputs, job.family))
        };
        match outcome {
            Ok(bytes) => (job.done)(SUCCESS, &bytes),
            Err(fail) => {
                message::error(&fail);
                (job.done)(fail.status, &[]);
            }
        }
    }
}

/// The types of tensors that a program gives.
pub fn types(inputs: &[HostTensor]) -> Outcome<Vec<Option<TensorType>>> {
    inputs
        .iter()
        .map(|tensor| {
            let ty = session::type_of(&tensor.dims, tensor.dtype)?;
            // A tensor without dimensions that holds more than one element says nothing about its shape.
            let said = !tensor.dims.is_empty() || ty.bytes() == Some(tensor.span.bytes());
            Ok(said.then_some(ty))
        })
        .collect()
}

/// What a run takes and leaves of the session's variables.
struct Held {
    reads: Vec<Span>,
    writes: Vec<(String, Span)>,
}

/// Finds the variables of a plan, and makes those that are not there yet.
fn variables(session: &Session, plan: &Plan, place: &Place, caller: &Caller<'_>) -> Outcome<Held> {
    let mut held = Held {
        reads: Vec::new(),
        writes: Vec::new(),
    };
    let mut all = session.variables.lock();
    for used in &plan.variables {
        let what = &used.what;
        if !all.contains_key(&what.name) {
            let bytes = what.ty.bytes().unwrap_or(0).max(1);
            let block = || place.context.allocate(bytes, bytes, caller);
            let (now, spare) = (block()?, block()?);
            if let Some(tensor) = &what.initial {
                place.context.write(now.span, tensor.bytes(), caller)?;
            }
            all.insert(
                what.name.clone(),
                Stored {
                    ty: what.ty.clone(),
                    now,
                    spare,
                    set: what.initial.is_some(),
                },
            );
        }
        let Some(stored) = all.get(&what.name) else {
            continue;
        };
        if stored.ty != what.ty {
            return Err(Fail::new(format!(
                "the variable {} is {} in this session, and the graph has it as {}",
                what.name, stored.ty, what.ty
            )));
        }
        if used.reads && !stored.set {
            return Err(Fail::new(format!(
                "the variable {} is read before anything was assigned to it",
                what.name
            )));
        }
        held.reads.push(stored.now.span);
        if what.output.is_some() {
            held.writes.push((what.name.clone(), stored.spare.span));
        }
    }
    Ok(held)
}

/// Lets what a run wrote be what the variables hold.
fn settle(session: &Session, held: &Held) {
    let mut all = session.variables.lock();
    for (name, _) in &held.writes {
        if let Some(stored) = all.get_mut(name) {
            std::mem::swap(&mut stored.now, &mut stored.spare);
            stored.set = true;
        }
    }
}

fn count(entry: &Entry, plan: &Plan, given: usize) -> Outcome<()> {
    if given == plan.inputs {
        return Ok(());
    }
    Err(Fail::new(format!(
        "graph {} has {} inputs, and {given} are given",
        entry.number, plan.inputs
    ))
    .code("E13025"))
}

fn short(index: usize, what: &str, has: usize, needs: usize) -> Fail {
    Fail::new(format!(
        "{what} {index} has {has} bytes, and the graph needs {needs}"
    ))
    .code("E13025")
}

/// Runs from host memory and waits.
fn on_host(
    session: &Arc<Session>,
    entry: &Entry,
    inputs: &[HostTensor],
    family: Family,
) -> Outcome<Vec<u8>> {
    let plan = entry.plan(&types(inputs)?, family)?;
    count(entry, &plan, inputs.len())?;
    let place = session.place()?;
    session::with_runtime(|runtime, caller| {
        let model = plan.model(place, Supplied::default(), caller)?;
        let description = plan.description.clone();
        let open = description.open;
        for (index, tensor) in inputs.iter().enumerate() {
            let needs = description.inputs[index].bytes;
            if !open && tensor.bytes.len() < needs {
                return Err(short(index, "input", tensor.bytes.len(), needs));
            }
        }
        let held = variables(session, &plan, place, caller)?;
        let (staged, results) = stage(&plan, place, inputs, caller)?;
        let mut reply = Writer::default();
        let done = if open {
            let found = Arc::<Results>::default();
            let shaped: Vec<Shaped> = inputs
                .iter()
                .zip(&staged)
                .map(|(tensor, block)| Shaped {
                    span: block.span,
                    dims: tensor.dims.clone(),
                })
                .chain(
                    held.reads
                        .iter()
                        .zip(&plan.variables)
                        .map(|(span, used)| Shaped {
                            span: *span,
                            dims: used.what.ty.shape.clone(),
                        }),
                )
                .collect();
            let mut targets: Vec<Option<Span>> = vec![None; plan.outputs];
            targets.extend(held.writes.iter().map(|(_, span)| Some(*span)));
            model
                .submit_open(&place.stream, shaped, targets, found.clone(), caller)
                .and_then(|()| place.stream.synchronize(None, caller))
                .map_err(Fail::from)
                .and_then(|()| collect(runtime, &plan, &place.context, &found, &mut reply, caller))
        } else {
            let reads: Vec<Span> = staged
                .iter()
                .map(|block| block.span)
                .chain(held.reads.iter().copied())
                .collect();
            let writes: Vec<Span> = results
                .iter()
                .map(|block| block.span)
                .chain(held.writes.iter().map(|(_, span)| *span))
                .collect();
            model
                .submit(&place.stream, &reads, &writes, caller)
                .and_then(|()| place.stream.synchronize(None, caller))
                .map_err(Fail::from)
                .and_then(|()| {
                    reply.u64(plan.outputs as u64);
                    for (block, tensor) in results.iter().zip(&description.outputs) {
                        let desc = Desc {
                            dims: tensor.dims.clone(),
                            dtype: tensor.data_type,
                            format: tensor.format,
                        };
                        let mut bytes = vec![0; tensor.bytes];
                        if let Some(span) = block.span.part(0, tensor.bytes)
                            && !bytes.is_empty()
                        {
                            runtime.read(span, &mut bytes, caller)?;
                        }
                        output(&mut reply, &desc, 0, &bytes);
                    }
                    Ok(())
                })
        };
        if open {
            for block in &staged {
                // Nothing of the program's is lost if this fails.
                drop(place.context.free(block.span.address(), caller));
            }
        } else {
            *plan.staging.lock() = Some((staged, results));
        }
        done?;
        settle(session, &held);
        saved(session, &plan, runtime, &mut reply, caller)?;
        Ok(reply.bytes)
    })
}

/// Brings the inputs onto the device, and gets memory for the outputs of known sizes.
fn stage(
    plan: &Plan,
    place: &Place,
    inputs: &[HostTensor],
    caller: &Caller<'_>,
) -> Outcome<(Vec<Block>, Vec<Block>)> {
    let open = plan.description.open;
    let kept = plan.staging.lock().take();
    let (staged, results) = match kept {
        Some(kept) => kept,
        None => {
            let allocate =
                |bytes: usize| place.context.allocate(bytes.max(1), bytes.max(1), caller);
            let mut staged = Vec::new();
            for (index, tensor) in inputs.iter().enumerate() {
                let bytes = if open {
                    tensor.bytes.len()
                } else {
                    plan.description.inputs[index].bytes
                };
                staged.push(allocate(bytes)?);
            }
            let mut results = Vec::new();
            if !open {
                for tensor in plan.description.outputs.iter().take(plan.outputs) {
                    results.push(allocate(tensor.bytes)?);
                }
            }
            (staged, results)
        }
    };
    for (index, (tensor, block)) in inputs.iter().zip(&staged).enumerate() {
        let bytes = if open {
            tensor.bytes.len()
        } else {
            plan.description.inputs[index].bytes
        };
        if let Some(span) = block.span.part(0, bytes)
            && bytes > 0
        {
            place.context.write(span, &tensor.bytes[..bytes], caller)?;
        }
    }
    Ok((staged, results))
}

fn output(reply: &mut Writer, desc: &Desc, address: usize, bytes: &[u8]) {
    reply.told(desc, &[]);
    reply.u64(address as u64);
    reply.blob(bytes);
}

/// Reads what a run of unknown sizes found, and frees its memory.
fn collect(
    runtime: &Runtime,
    plan: &Plan,
    context: &Context,
    found: &Results,
    reply: &mut Writer,
    caller: &Caller<'_>,
) -> Outcome<()> {
    let produced: Vec<Produced> = found
        .take()
        .ok_or_else(|| Fail::new("the run left no results"))?;
    reply.u64(plan.outputs as u64);
    let mut first = None;
    for one in produced.iter().take(plan.outputs) {
        let desc = Desc {
            dims: one.dims.clone(),
            dtype: one.data_type,
            format: 2,
        };
        let bytes = session::type_of(&one.dims, one.data_type)?
            .bytes()
            .unwrap_or(0);
        let mut contents = vec![0; bytes];
        if let Some(span) = one.allocated.and_then(|block| block.span.part(0, bytes))
            && bytes > 0
        {
            first = first.or(runtime.read(span, &mut contents, caller).err());
        }
        output(reply, &desc, 0, &contents);
    }
    for block in produced.iter().filter_map(|one| one.allocated) {
        // Nothing of the program's is lost if this fails.
        drop(context.free(block.span.address(), caller));
    }
    first.map_or(Ok(()), |error| Err(error.into()))
}

/// Adds what Save nodes collect, for the program's callback.
fn saved(
    session: &Session,
    plan: &Plan,
    runtime: &Runtime,
    reply: &mut Writer,
    caller: &Caller<'_>,
) -> Outcome<()> {
    let names: &[String] = if session.training { &plan.saved } else { &[] };
    let all = session.variables.lock();
    let known: Vec<_> = names
        .iter()
        .filter_map(|name| Some((name, all.get(name)?)))
        .collect();
    reply.u64(known.len() as u64);
    for (name, stored) in known {
        let bytes = stored.ty.bytes().unwrap_or(0);
        let mut contents = vec![0; bytes];
        if let Some(span) = stored.now.span.part(0, bytes)
            && bytes > 0
        {
            runtime.read(span, &mut contents, caller)?;
        }
        reply.text(name);
        let desc = Desc {
            dims: stored.ty.shape.clone(),
            dtype: stored.ty.dtype.acl(),
            format: 2,
        };
        output(reply, &desc, 0, &contents);
    }
    Ok(())
}

/// The part of device memory that a tensor is.
fn on_device(
    runtime: &Runtime,
    tensor: &HostTensor,
    bytes: usize,
    index: usize,
    what: &str,
) -> Outcome<Span> {
    if tensor.span.bytes() < bytes {
        return Err(short(index, what, tensor.span.bytes(), bytes));
    }
    if bytes == 0 {
        return Ok(Span::EMPTY);
    }
    let address = tensor.span.address();
    let block = runtime
        .space()
        .find(address)
        .filter(|block| matches!(block.home, Home::Device(_) | Home::Variable(_)));
    block
        .and_then(|block| block.span.part(address - block.span.address(), bytes))
        .ok_or_else(|| {
            Fail::new(format!(
                "{what} {index} at {address:#x} is not {bytes} bytes of live device memory: allocate it with aclrtMalloc"
            ))
        })
}

/// How the memory that a program gives a graph has to lie.
const ALIGNED: usize = 64;

/// Memory of a device that a program gives a graph.
fn memory(runtime: &Runtime, address: usize, bytes: usize, what: &str) -> Outcome<Span> {
    let block = runtime
        .space()
        .find(address)
        .filter(|block| matches!(block.home, Home::Device(_) | Home::Variable(_)));
    block
        .and_then(|block| block.span.part(address - block.span.address(), bytes))
        .ok_or_else(|| {
            Fail::new(format!(
                "the {what} at {address:#x} is not {bytes} bytes of live device memory: allocate it with aclrtMalloc"
            ))
        })
}

/// Takes memory for a compiled graph: "const", "feature", "refreshable", "fixed" or "fixed, p2p".
///
/// # Errors
///
/// GRAPH_NOT_BUILT: the graph was not compiled. FAILED: it is too short, it is no live memory of the device or does not lie
/// at a multiple of 64 bytes, the shapes of the graph are open, its constants are in place already, or the part that may be
/// given anew was given by the other call.
pub fn give(
    session: &Arc<Session>,
    number: u32,
    what: &str,
    address: usize,
    bytes: usize,
) -> Outcome<()> {
    let entry = session.graph(number)?;
    let plan = entry.first_plan();
    let mut state = entry.state.lock();
    let (Family::Compile, Some(plan)) = (state.family, plan) else {
        return Err(Fail::new(format!(
            "graph {number} was not compiled: call CompileGraph first"
        ))
        .status(crate::GRAPH_NOT_BUILT));
    };
    if what.starts_with("fixed") {
        message::warn(format!(
            "graph {number} has no fixed feature memory: what is given for it is not used"
        ));
        return Ok(());
    }
    if plan.description.open {
        return Err(Fail::new(format!(
            "the shapes of graph {number} are open, and memory can be given to graphs of known shapes alone"
        )));
    }
    let constants = what == "const";
    let (name, needs) = if constants {
        ("constant memory", plan.sizes.1)
    } else {
        ("feature memory", plan.sizes.0)
    };
    if constants && plan.is_loaded() {
        return Err(Fail::new(format!(
            "graph {number} has run, and its constants are in place: give it constant memory before"
        )));
    }
    let refreshable = what == "refreshable";
    if !constants && state.bases.work.is_some() && state.bases.refreshable != refreshable {
        return Err(Fail::new(format!(
            "graph {number} has its feature memory: UpdateGraphFeatureMemoryBase and UpdateGraphRefreshableFeatureMemoryBase do not go together"
        )));
    }
    let base = if address == 0 && bytes == 0 {
        None
    } else {
        if bytes < needs {
            return Err(Fail::new(format!(
                "the {name} has {bytes} bytes, and graph {number} needs {needs}"
            )));
        }
        if !address.is_multiple_of(ALIGNED) {
            return Err(Fail::new(format!(
                "the {name} begins at {address:#x}; it has to lie at a multiple of {ALIGNED} bytes"
            )));
        }
        session::with_runtime(|runtime, _| memory(runtime, address, bytes, name))?;
        Some((address, bytes))
    };
    if constants {
        state.bases.constants = base;
    } else {
        state.bases.work = base;
        state.bases.refreshable = refreshable;
    }
    Ok(())
}

/// Brings an output of a run whose sizes depend on data into memory that the program's allocator gave, and frees what the
/// session had lent for it.
///
/// # Errors
///
/// FAILED: the session has lent no such memory; the target is no live memory of the device.
pub fn hand_over(session: &Session, lent: usize, target: usize, bytes: usize) -> Outcome<()> {
    if bytes == 0 {
        session.free(lent);
        return Ok(());
    }
    let block = session.lent.lock().get(&lent).copied();
    let source = block
        .and_then(|block| block.span.part(0, bytes))
        .ok_or_else(|| {
            Fail::new(format!(
                "the session has lent no {bytes} bytes at {lent:#x}"
            ))
        })?;
    let place = session.place()?;
    session::with_runtime(|runtime, caller| {
        let target = memory(runtime, target, bytes, "memory of the external allocator")?;
        let mut contents = vec![0; bytes];
        runtime.read(source, &mut contents, caller)?;
        place.context.write(target, &contents, caller)?;
        Ok(())
    })?;
    session.free(lent);
    Ok(())
}

/// Which inputs may lie in host memory.
fn host_inputs(session: &Session, entry: &Entry) -> Vec<usize> {
    let key = "ge.exec.hostInputIndexes";
    let text = entry.options.get(key).or_else(|| session.options.get(key));
    text.map_or(Vec::new(), |text| {
        text.split([',', ';'])
            .filter_map(|part| part.trim().parse().ok())
            .collect()
    })
}

/// Runs on a stream, in place.
fn on_stream(
    session: &Arc<Session>,
    graph: u32,
    stream: u64,
    inputs: &[HostTensor],
    outputs: &[HostTensor],
    loaded: bool,
) -> Outcome<Vec<u8>> {
    let entry = session.graph(graph)?;
    if loaded && !entry.state.lock().loaded {
        return Err(Fail::new(format!(
            "graph {graph} was not loaded: call LoadGraph first"
        )));
    }
    let stream = jumar_acl::surface::stream(stream)?;
    let fresh = session.needs_build(graph);
    let plan = entry.plan(&types(inputs)?, Family::Fresh)?;
    count(&entry, &plan, inputs.len())?;
    if outputs.len() != plan.outputs && (!outputs.is_empty() || fresh) {
        return Err(Fail::new(format!(
            "graph {graph} has {} outputs, and {} are given{}",
            plan.outputs,
            outputs.len(),
            if fresh {
                "; only a graph that was built may get none"
            } else {
                ""
            }
        )));
    }
    let place = session.place()?;
    if stream.device() != place.context.device().number() {
        return Err(Fail::new(format!(
            "the stream is of device {}, and the session of device {}",
            stream.device(),
            place.context.device().number()
        )));
    }
    session::with_runtime(|runtime, caller| {
        let bases = entry.state.lock().bases;
        let given = |base: Option<(usize, usize)>, needs: usize, what: &str| match base {
            Some((_, bytes)) if bytes < needs => Err(Fail::new(format!(
                "the {what} has {bytes} bytes, and graph {graph} needs {needs} for these inputs"
            ))),
            Some((address, _)) => memory(runtime, address, needs, what).map(Some),
            None => Ok(None),
        };
        let work = given(bases.work, plan.sizes.0, "feature memory")?;
        let supplied = Supplied {
            weights: given(bases.constants, plan.sizes.1, "constant memory")?,
            work,
            ..Supplied::default()
        };
        let model = plan.model(place, supplied, caller)?;
        let description = plan.description.clone();
        let open = description.open;
        let by_host = host_inputs(session, &entry);
        let mut spans = Vec::with_capacity(inputs.len());
        for (index, tensor) in inputs.iter().enumerate() {
            let needs = if open {
                tensor.span.bytes()
            } else {
                description.inputs[index].bytes
            };
            if by_host.contains(&index) {
                if tensor.bytes.len() < needs {
                    return Err(short(index, "input", tensor.bytes.len(), needs));
                }
                let block = place.context.allocate(needs.max(1), needs.max(1), caller)?;
                session.lent.lock().insert(block.span.address(), block);
                if let Some(span) = block.span.part(0, needs)
                    && needs > 0
                {
                    place.context.write(span, &tensor.bytes[..needs], caller)?;
                }
                spans.push(block.span);
                continue;
            }
            spans.push(on_device(runtime, tensor, needs, index, "input")?);
        }
        let mut targets: Vec<Option<Span>> = Vec::with_capacity(plan.outputs);
        for index in 0..plan.outputs {
            let tensor = outputs
                .get(index)
                .filter(|tensor| tensor.span.address() != 0);
            let needs = if open {
                tensor.map_or(0, |tensor| tensor.span.bytes())
            } else {
                description.outputs[index].bytes
            };
            targets.push(match tensor {
                Some(tensor) => Some(on_device(runtime, tensor, needs, index, "output")?),
                None if open => None,
                None => {
                    let block = place.context.allocate(needs.max(1), needs.max(1), caller)?;
                    session.lent.lock().insert(block.span.address(), block);
                    Some(block.span)
                }
            });
        }
        let held = variables(session, &plan, place, caller)?;
        let mut reply = Writer::default();
        if open {
            let found = Arc::<Results>::default();
            let shaped: Vec<Shaped> = inputs
                .iter()
                .zip(&spans)
                .map(|(tensor, span)| Shaped {
                    span: *span,
                    dims: tensor.dims.clone(),
                })
                .chain(
                    held.reads
                        .iter()
                        .zip(&plan.variables)
                        .map(|(span, used)| Shaped {
                            span: *span,
                            dims: used.what.ty.shape.clone(),
                        }),
                )
                .collect();
            let mut all = targets.clone();
            all.extend(held.writes.iter().map(|(_, span)| Some(*span)));
            model.submit_open(&stream, shaped, all, found.clone(), caller)?;
            // The shapes depend on the data, so that the caller has to wait for them.
            stream.synchronize(None, caller)?;
            let produced = found
                .take()
                .ok_or_else(|| Fail::new("the run left no results"))?;
            reply.u64(plan.outputs as u64);
            for (one, target) in produced.iter().take(plan.outputs).zip(&targets) {
                let desc = Desc {
                    dims: one.dims.clone(),
                    dtype: one.data_type,
                    format: 2,
                };
                let bytes = session::type_of(&one.dims, one.data_type)?
                    .bytes()
                    .unwrap_or(0);
                let address = match (one.allocated, target) {
                    (Some(block), _) => {
                        session.lent.lock().insert(block.span.address(), block);
                        block.span.address()
                    }
                    (None, Some(span)) => span.address(),
                    (None, None) => 0,
                };
                reply.told(&desc, &[]);
                reply.u64(address as u64);
                reply.u64(8);
                reply.u64(bytes as u64);
            }
        } else {
            let reads: Vec<Span> = spans
                .into_iter()
                .chain(held.reads.iter().copied())
                .collect();
            let writes: Vec<Span> = targets
                .iter()
                .copied()
                .flatten()
                .chain(held.writes.iter().map(|(_, span)| *span))
                .collect();
            model.submit_in(&stream, &reads, &writes, work, caller)?;
            reply.u64(plan.outputs as u64);
            for (tensor, target) in description.outputs.iter().zip(&targets) {
                let desc = Desc {
                    dims: tensor.dims.clone(),
                    dtype: tensor.data_type,
                    format: tensor.format,
                };
                reply.told(&desc, &[]);
                reply.u64(target.map_or(0, |span| span.address() as u64));
                reply.u64(8);
                reply.u64(tensor.bytes as u64);
            }
        }
        settle(session, &held);
        reply.u64(0);
        Ok(reply.bytes)
    })
}

/// Reads the contents of a session's variables.
pub fn read_variables(session: &Session, names: &[String]) -> Outcome<Vec<u8>> {
    session::with_runtime(|runtime, caller| {
        let all = session.variables.lock();
        let mut reply = Writer::default();
        reply.u64(names.len() as u64);
        for name in names {
            let stored = all
                .get(name)
                .filter(|stored| stored.set)
                .ok_or_else(|| Fail::new(format!("the session has no variable {name}")))?;
            let bytes = stored.ty.bytes().unwrap_or(0);
            let mut contents = vec![0; bytes];
            if let Some(span) = stored.now.span.part(0, bytes)
                && bytes > 0
            {
                runtime.read(span, &mut contents, caller)?;
            }
            let desc = Desc {
                dims: stored.ty.shape.clone(),
                dtype: stored.ty.dtype.acl(),
                format: 2,
            };
            output(&mut reply, &desc, 0, &contents);
        }
        Ok(reply.bytes)
    })
}
