//! Calls every operator with each element type: what its list of types excludes is refused, and nothing else because of the list.

use jumar_types::dtype::DataType;

use crate::{Arg, Param, ParamKind, Scalar, Signature, Status, TensorArg, TensorDesc, Types};
use crate::{is_computed, plan};

/// Creates arguments in which every tensor has a type that `of` chooses.
fn arguments(signature: &Signature, of: &dyn Fn(usize, &Param) -> DataType) -> Vec<Arg> {
    let params = signature.params.iter().enumerate();
    params
        .map(|(at, param)| {
            let desc = TensorDesc::contiguous(of(at, param), &[2, 2]);
            let tensor = TensorArg { desc, buffer: at };
            match param.kind {
                ParamKind::Tensor => Arg::Tensor(tensor),
                ParamKind::Tensors => Arg::Tensors(vec![Some(tensor)]),
                ParamKind::Scalar => Arg::Scalar(Scalar::of_f64(1.0)),
                ParamKind::Scalars => Arg::Scalars(vec![Scalar::of_f64(1.0)]),
                ParamKind::Ints => Arg::Ints(vec![1, 1]),
                ParamKind::Floats => Arg::Floats(vec![1.0]),
                ParamKind::Bools => Arg::Bools(vec![true]),
                ParamKind::Int => Arg::Int(1),
                ParamKind::Float => Arg::Float(0.5),
                ParamKind::Bool => Arg::Bool(false),
                ParamKind::Text => Arg::Text(String::new()),
                ParamKind::Type => Arg::Type(DataType::Float32),
            }
        })
        .collect()
}

fn usual(param: &Param) -> DataType {
    match param.types.contains(DataType::Float32) {
        true => DataType::Float32,
        false => param.types.iter().next().unwrap(),
    }
}

#[test]
fn each_type_outside_a_list_is_refused_and_each_type_inside_passes_it() {
    let (mut lists, mut refused, mut passed) = (0, 0, 0);
    for signature in &crate::signatures::ALL {
        if !is_computed(signature.name) {
            continue;
        }
        for (at, param) in signature.params.iter().enumerate() {
            if param.types == Types::ANY {
                continue;
            }
            lists += 1;
            for &dtype in DataType::ALL {
                let args = arguments(signature, &|own, other| match own == at {
                    true => dtype,
                    false => usual(other),
                });
                let name = match param.kind {
                    ParamKind::Tensors => format!("{}[0]", param.name),
                    _ => param.name.to_owned(),
                };
                let types: Vec<&str> = param.types.iter().map(DataType::name).collect();
                let sentence = format!(
                    "{name} has the type {dtype}; it must be {}",
                    types.join(", ")
                );
                let found = plan(signature, &args);
                let by_list = found.as_ref().err().filter(|one| one.text() == sentence);
                if param.types.contains(dtype) {
                    assert_eq!(by_list, None, "{} {dtype}", signature.name);
                    passed += 1;
                } else {
                    let refusal = by_list
                        .unwrap_or_else(|| panic!("{}: {sentence}: {found:?}", signature.name));
                    assert_eq!(refusal.status(), Status::Invalid);
                    assert!(refusal.fix().contains("aclnnCast"), "{}", refusal.fix());
                    refused += 1;
                }
            }
        }
    }
    println!("{lists} lists: {refused} types refused, {passed} passed");
    assert!(lists > 1500, "{lists} lists");
}

#[test]
fn a_list_of_tensors_names_the_member_of_the_wrong_type() {
    let mut all = crate::signatures::ALL.iter();
    let signature = all.find(|one| one.name == "aclnnForeachExp").unwrap();
    let member = |dtype, buffer| {
        let desc = TensorDesc::contiguous(dtype, &[2]);
        Some(TensorArg { desc, buffer })
    };
    let (float, int) = (DataType::Float32, DataType::Int32);
    let args = [
        Arg::Tensors(vec![member(float, 0), member(int, 1)]),
        Arg::Tensors(vec![member(float, 2), member(float, 3)]),
    ];
    let refusal = plan(signature, &args).unwrap_err();
    assert_eq!(
        refusal.text(),
        "x[1] has the type int32; it must be float32, float16, bfloat16"
    );
    // A caller with types of its own is not held to the list.
    let refusal = crate::plan_of_any_type(signature, &args).unwrap_err();
    assert!(refusal.text().contains("are not supported"), "{refusal}");
}
