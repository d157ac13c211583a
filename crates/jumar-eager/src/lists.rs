//! Operators over lists of tensors: each member of a list is computed as if it were alone.

use jumar_types::dtype::DataType;

use crate::trial::{Trial, bytes_of};
use crate::{Arg, Io, ParamKind, Scalar, Signature, computed, signatures};

/// Members of different shapes.
const SHAPES: [&[usize]; 4] = [&[3], &[2, 5], &[], &[1, 130]];

/// Returns the operators whose results are a list with a member for each of their lists of tensors.
fn operators() -> impl Iterator<Item = &'static Signature> {
    let is_computed = |signature: &&Signature| computed().any(|name| name == signature.name);
    let all = signatures::ALL.iter().filter(is_computed);
    all.filter(|signature| signature.name.starts_with("aclnnForeach"))
}

fn count(dims: &[usize]) -> usize {
    dims.iter().product()
}

/// Numbers that lie in the domain of every function: between 0 and 1.
fn numbers(seed: usize, dims: &[usize]) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed as u64);
    let values: Vec<f32> = (0..count(dims)).map(|_| 0.1 + 0.8 * random.f32()).collect();
    bytes_of(&values)
}

fn scalar(member: usize) -> f32 {
    0.25 + member as f32 / 8.0
}

/// Describes a call for some members.
fn call(signature: &Signature, members: &[usize]) -> Trial {
    let mut trial = Trial::new(signature.name);
    // A norm has one element for each member.
    let is_reduced = signature.name == "aclnnForeachNorm";
    for (at, param) in signature.params.iter().enumerate() {
        trial = match param.kind {
            ParamKind::Tensors => {
                let member = |&member: &usize| {
                    let is_small = is_reduced && param.io == Io::Out;
                    let dims = if is_small {
                        vec![]
                    } else {
                        SHAPES[member].to_vec()
                    };
                    let bytes = numbers(100 * at + member, &dims);
                    (dims, bytes)
                };
                let list = members.iter().map(member).collect();
                trial.list(param.name, DataType::Float32, list)
            }
            ParamKind::Scalars => {
                let scalars = members.iter();
                let scalars = scalars.map(|&member| Scalar::of_f64(f64::from(scalar(member))));
                trial.set(param.name, Arg::Scalars(scalars.collect()))
            }
            ParamKind::Scalar if param.name == "roundMode" => {
                trial.set(param.name, Arg::Scalar(Scalar::of_i64(1)))
            }
            ParamKind::Scalar => trial.set(param.name, Arg::Scalar(Scalar::of_f64(2.0))),
            ParamKind::Tensor if param.name == "roundMode" => {
                trial.tensor(param.name, DataType::Int8, &[1], vec![1])
            }
            ParamKind::Tensor if param.name == "scalars" => {
                let values: Vec<f32> = members.iter().map(|&member| scalar(member)).collect();
                trial.floats(param.name, &[members.len()], &values)
            }
            ParamKind::Tensor => trial.floats(param.name, &[1], &[0.5]),
            _ => trial,
        };
    }
    trial
}

#[test]
fn members_of_different_shapes_are_computed_as_if_each_were_alone() {
    let mut seen = 0;
    for signature in operators() {
        let mut lists = signature.params.iter();
        let mut lists = lists
            .by_ref()
            .filter(|param| param.kind == ParamKind::Tensors);
        let Some(out) = lists.find(|param| param.io != Io::In) else {
            panic!("{} writes no list", signature.name);
        };
        let all = [0, 1, 2, 3];
        let together = call(signature, &all).run();
        for member in all {
            let alone = call(signature, &[member]).run();
            assert_eq!(
                together.member(out.name, member),
                alone.member(out.name, 0),
                "{}: member {member} of {}",
                signature.name,
                out.name
            );
        }
        seen += 1;
    }
    assert!(seen > 60, "{seen} operators");
}
