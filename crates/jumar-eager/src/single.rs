//! Outputs of one element, whose rank does not matter.

use jumar_ops::view::MAX_RANK;

use crate::{Arg, Dims, Io, Param, Plan, Refusal, Signature, TensorDesc};

/// Plans a call that was refused once more with other ranks of its outputs of one element: a program that describes the
/// result of a reduction as `[1]` where the operator yields `[]` passes the same memory. Returns `None` where that is not what was
/// wrong with the call.
#[cold]
pub(crate) fn of_other_ranks(
    signature: &Signature,
    args: &[Arg],
    plan: impl Fn(&[Arg]) -> Result<Plan, Refusal>,
) -> Option<Plan> {
    let single: Vec<usize> = signature
        .params
        .iter()
        .zip(args)
        .enumerate()
        .filter(|(_, (param, arg))| is_single(param, arg))
        .map(|(at, _)| at)
        .collect();
    // All outputs have one rank in most operators. Others are tried one at a time.
    let alone = single.iter().map(std::slice::from_ref);
    let alone = alone.filter(|_| single.len() > 1);
    std::iter::once(single.as_slice())
        .filter(|all| !all.is_empty())
        .chain(alone)
        .flat_map(|outputs| (0..=MAX_RANK).map(move |rank| (outputs, rank)))
        .find_map(|(outputs, rank)| plan(&with_rank(args, outputs, rank)?).ok())
}

fn is_single(param: &Param, arg: &Arg) -> bool {
    let Arg::Tensor(tensor) = arg else {
        return false;
    };
    param.io == Io::Out && tensor.desc.dims.iter().all(|&dim| dim == 1)
}

/// Copies arguments, and sets another rank for some outputs of one element. `None`: they have that rank.
fn with_rank(args: &[Arg], outputs: &[usize], rank: usize) -> Option<Vec<Arg>> {
    let mut changed = false;
    let mut args = args.to_vec();
    for &at in outputs {
        if let Arg::Tensor(tensor) = &mut args[at] {
            let TensorDesc { dims, strides, .. } = &mut tensor.desc;
            changed |= dims.len() != rank;
            *dims = Dims::new(&[1; MAX_RANK][..rank]);
            *strides = Dims::contiguous(dims);
        }
    }
    changed.then_some(args)
}
