//! Executors: planned calls that wait for their second phase.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_eager::{Io, Param, ParamKind, Plan, Signature};
use jumar_types::{Error, ErrorKind, Result};

use super::tensor;
use crate::{Cx, Raw, refuse};

/// A planned call.
pub struct Executor {
    pub(super) signature: &'static Signature,
    pub(super) plan: Arc<Plan>,
    /// One for each tensor argument, members of lists counted one by one, null ones too.
    pub(super) tensors: Vec<TensorSlot>,
    pub(super) state: Mutex<State>,
}

/// A tensor argument of a call.
pub(super) struct TensorSlot {
    /// The index of the parameter.
    pub(super) param: usize,
    /// The index in its list, where it is a member of one.
    pub(super) member: Option<usize>,
    /// The tensor's handle; 0 for null.
    pub(super) handle: u64,
}

/// What may change between runs.
pub(super) struct State {
    /// The data pointer of each tensor argument.
    pub(super) addresses: Vec<usize>,
    /// Whether a run leaves the executor alive.
    pub(super) repeatable: bool,
}

impl Executor {
    /// Names a tensor argument for messages.
    pub(crate) fn name_of(&self, tensor: usize) -> String {
        let operator = self.signature.name;
        let Some(slot) = self.tensors.get(tensor) else {
            return format!("tensor {tensor} of {operator}");
        };
        let param = self.signature.params[slot.param].name;
        match slot.member {
            None => format!("{param} of {operator}"),
            Some(member) => format!("{param}[{member}] of {operator}"),
        }
    }
}

/// Finds an executor that was planned and is not used up, for the checks.
pub(crate) fn planned(executor: u64) -> Option<Arc<Executor>> {
    let executors = &crate::process::get().operators.executors;
    executors.get(executor).ok()
}

impl Executor {
    /// Returns the tensors that the call uses: index, data pointer, and the bytes from there on.
    pub(crate) fn memory(&self) -> Vec<(usize, usize, usize)> {
        let addresses = self.state.lock().addresses.clone();
        let accesses = self.plan.accesses().iter();
        let used = accesses.map(|one| (one.buffer, addresses[one.buffer], one.bytes()));
        used.filter(|(_, address, bytes)| *address != 0 && *bytes > 0)
            .collect()
    }

    /// Returns the size of the workspace in bytes.
    pub(crate) fn workspace_bytes(&self) -> usize {
        self.plan.workspace_bytes()
    }

    /// Returns the name of the operator.
    pub(crate) fn operator(&self) -> &'static str {
        self.signature.name
    }

    /// Reports whether data decide which elements of a tensor argument are read.
    pub(super) fn selects(&self, tensor: usize) -> bool {
        self.tensors.get(tensor).is_some_and(|slot| {
            let param = &self.signature.params[slot.param];
            param.is_selected(self.signature.name)
        })
    }
}

/// Finds an executor.
///
/// # Errors
/// `NullPointer`, `InvalidHandle`: it is null, was used, or never existed.
pub(super) fn find(cx: &Cx<'_>, executor: Raw) -> Result<Arc<Executor>> {
    cx.process
        .operators
        .executors
        .get(executor.0)
        .map_err(|error| {
            error.fix("Call the first phase before each second phase, or aclSetAclOpExecutorRepeatable between the two.")
        })
}

pub fn aclSetAclOpExecutorRepeatable(cx: &Cx<'_>, executor: Raw) -> Result<()> {
    find(cx, executor)?.state.lock().repeatable = true;
    Ok(())
}

pub fn aclDestroyAclOpExecutor(cx: &Cx<'_>, executor: Raw) -> Result<()> {
    let executors = &cx.process.operators.executors;
    executors.remove(executor.0, cx.call.name).map(drop)
}

/// Which tensor arguments an index counts.
#[derive(Clone, Copy)]
enum Side {
    All,
    Inputs,
    Outputs,
}

impl Side {
    fn counts(self, io: Io) -> bool {
        match self {
            Side::All => true,
            Side::Inputs => io != Io::Out,
            Side::Outputs => io != Io::In,
        }
    }

    /// Returns the tensors and lists of tensors that the index counts among the parameters.
    fn params(
        self,
        signature: &'static Signature,
    ) -> impl Iterator<Item = (usize, &'static Param)> {
        let params = signature.params.iter().enumerate();
        params.filter(move |(_, param)| {
            matches!(param.kind, ParamKind::Tensor | ParamKind::Tensors) && self.counts(param.io)
        })
    }

    fn noun(self) -> &'static str {
        match self {
            Side::All => "tensors",
            Side::Inputs => "input tensors",
            Side::Outputs => "output tensors",
        }
    }
}

/// Sets the data pointer of one tensor argument, and of the tensor that the call passes.
fn set(
    cx: &Cx<'_>,
    executor: &Executor,
    position: usize,
    tensor: Option<Raw>,
    address: usize,
) -> Result<()> {
    let slot = &executor.tensors[position];
    if slot.handle == 0 {
        let sentence = format!(
            "{} was null in the first phase, so it has no data pointer",
            executor.name_of(position)
        );
        return refuse(ErrorKind::InvalidArgument, sentence);
    }
    if let Some(tensor) = tensor {
        check_tensor(cx, executor, position, tensor)?;
        tensor::find(cx, tensor)?.set_address(address);
    }
    executor.state.lock().addresses[position] = address;
    Ok(())
}

/// Checks that a tensor can stand for an argument: it is the one of the first phase, or one of the same type and shape that is
/// not another argument of the call.
fn check_tensor(cx: &Cx<'_>, executor: &Executor, position: usize, tensor: Raw) -> Result<()> {
    let slot = &executor.tensors[position];
    if slot.handle == tensor.0 {
        return Ok(());
    }
    let name = executor.name_of(position);
    let mut slots = executor.tensors.iter();
    if let Some(other) = slots.position(|slot| slot.handle == tensor.0) {
        let other = executor.name_of(other);
        let sentence = format!("the index is that of {name}, and the tensor is {other}");
        return Err(wrong_tensor(sentence));
    }
    // Without the tensor of the first phase there is nothing to compare with.
    let Ok(planned) = tensor::find(cx, Raw(slot.handle)) else {
        return Ok(());
    };
    let (planned, given) = (
        planned.content().desc,
        tensor::find(cx, tensor)?.content().desc,
    );
    if planned.dtype != given.dtype || planned.dims != given.dims {
        let sentence = format!(
            "{name} was planned with type {} and shape {:?}, and the tensor has type {} and shape {:?}",
            planned.dtype.name(),
            &planned.dims[..],
            given.dtype.name(),
            &given.dims[..]
        );
        return Err(wrong_tensor(sentence));
    }
    Ok(())
}

fn wrong_tensor(sentence: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, sentence).fix(
        "Pass the tensor of the first phase with its own index: each tensor and each list of tensors among the parameters counts once.",
    )
}

/// Returns the position of the tensor argument with an index.
///
/// Programs count each list as one argument. The documents count the members of lists one by one; where the tensor is the
/// argument that this count leads to, it decides.
fn position_of(executor: &Executor, side: Side, index: usize, tensor: Raw) -> Result<usize> {
    let signature = executor.signature;
    let slots = || executor.tensors.iter().enumerate();
    let is_tensor = |position: &usize| executor.tensors[*position].handle == tensor.0;
    let of = |slot: &TensorSlot| signature.params[slot.param].io;
    let by_member = slots().filter(|(_, slot)| side.counts(of(slot)));
    let by_member = by_member.map(|(position, _)| position).nth(index);
    let param = side.params(signature).nth(index);
    let by_param = param.and_then(|(param, _)| {
        let mut slots = slots().filter(|(_, slot)| slot.param == param && slot.member.is_none());
        slots.next().map(|(position, _)| position)
    });
    let exact = [by_param, by_member].into_iter().flatten().find(is_tensor);
    if let Some(position) = exact.or(by_param) {
        return Ok(position);
    }
    match (param, by_member) {
        (Some((_, list)), _) => {
            let sentence = format!(
                "index is {index}, which is the list {} of {}, and the tensor is not the argument that it leads to when each member counts",
                list.name, signature.name
            );
            Err(Error::new(ErrorKind::InvalidArgument, sentence)
                .fix("Use aclSetDynamicTensorAddr for members of lists."))
        }
        (None, Some(position)) => Ok(position),
        (None, None) => {
            let count = side.params(signature).count();
            let sentence = format!(
                "index is {index}, and the call of {} has {count} {}",
                signature.name,
                side.noun()
            );
            refuse(ErrorKind::InvalidArgument, sentence)
        }
    }
}

fn set_tensor(
    cx: &Cx<'_>,
    side: Side,
    executor: Raw,
    index: usize,
    tensor: Raw,
    address: usize,
) -> Result<()> {
    let executor = find(cx, executor)?;
    tensor::find(cx, tensor)?;
    let position = position_of(&executor, side, index, tensor)?;
    set(cx, &executor, position, Some(tensor), address)
}

/// `parameter` counts the tensors and lists of tensors among the parameters, `member` those of the list.
fn set_member(
    cx: &Cx<'_>,
    side: Side,
    executor: Raw,
    (parameter, member): (usize, usize),
    list: Raw,
    address: usize,
) -> Result<()> {
    let executor = find(cx, executor)?;
    let list = cx.process.operators.tensor_lists.get(list.0)?;
    let signature = executor.signature;
    let found = side.params(signature).nth(parameter);
    let Some((param, _)) = found.filter(|(_, param)| param.kind == ParamKind::Tensors) else {
        let sentence = format!(
            "irIndex is {parameter}, which is not a list among the {} of {}",
            side.noun(),
            signature.name
        );
        return refuse(ErrorKind::InvalidArgument, sentence);
    };
    let mut slots = executor.tensors.iter();
    let position = slots.position(|slot| slot.param == param && slot.member == Some(member));
    let Some(position) = position else {
        let slots = executor.tensors.iter();
        let count = slots.filter(|slot| slot.param == param).count();
        let sentence = format!(
            "relativeIndex is {member}, and {} of {} has {count} tensors",
            signature.params[param].name, signature.name
        );
        return refuse(ErrorKind::InvalidArgument, sentence);
    };
    // The list may be another one with fewer members: the index decides.
    let tensor = list.members.get(member).filter(|handle| **handle != 0);
    set(
        cx,
        &executor,
        position,
        tensor.map(|handle| Raw(*handle)),
        address,
    )
}

macro_rules! setters {
    ($($one:ident, $other:ident, $list:ident, $other_list:ident: $side:ident;)*) => {$(
        pub fn $one(
            cx: &Cx<'_>,
            executor: Raw,
            index: usize,
            tensor: Raw,
            address: usize,
        ) -> Result<()> {
            set_tensor(cx, Side::$side, executor, index, tensor, address)
        }

        pub fn $other(
            cx: &Cx<'_>,
            executor: Raw,
            index: usize,
            tensor: Raw,
            address: usize,
        ) -> Result<()> {
            set_tensor(cx, Side::$side, executor, index, tensor, address)
        }

        pub fn $list(
            cx: &Cx<'_>,
            executor: Raw,
            parameter: usize,
            member: usize,
            list: Raw,
            address: usize,
        ) -> Result<()> {
            set_member(cx, Side::$side, executor, (parameter, member), list, address)
        }

        pub fn $other_list(
            cx: &Cx<'_>,
            executor: Raw,
            parameter: usize,
            member: usize,
            list: Raw,
            address: usize,
        ) -> Result<()> {
            set_member(cx, Side::$side, executor, (parameter, member), list, address)
        }
    )*};
}

setters! {
    aclSetTensorAddr, AclSetTensorAddr, aclSetDynamicTensorAddr, AclSetDynamicTensorAddr: All;
    aclSetInputTensorAddr, AclSetInputTensorAddr,
        aclSetDynamicInputTensorAddr, AclSetDynamicInputTensorAddr: Inputs;
    aclSetOutputTensorAddr, AclSetOutputTensorAddr,
        aclSetDynamicOutputTensorAddr, AclSetDynamicOutputTensorAddr: Outputs;
}

/// An executor that another operator made.
pub(super) fn of_another(executor: &Executor, wanted: &str) -> Error {
    let made = executor.signature.name;
    Error::new(
        ErrorKind::InvalidHandle,
        format!("the executor was made by {made}GetWorkspaceSize, so {wanted} cannot run it"),
    )
    .fix("Pass each executor to the second phase of the operator that made it.")
}
