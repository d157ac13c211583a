//! Finding operators by name.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::{OnnxForm, Operator, ops};

/// Lists every operator.
pub fn operators() -> impl Iterator<Item = &'static Operator> {
    ops::ALL.iter().flat_map(|file| file.iter().copied())
}

/// Finds an operator by its name in the Graph Engine's IR.
pub fn find(name: &str) -> Option<&'static Operator> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Operator>> = OnceLock::new();
    INDEX
        .get_or_init(|| {
            operators()
                .map(|operator| (operator.name, operator))
                .collect()
        })
        .get(name)
        .copied()
}

/// Finds the conversion of an ONNX operator for one version of the operator set.
///
/// # Errors
///
/// The versions that are understood, where this one is not; an empty list where the operator is unknown.
pub fn find_onnx(name: &str, opset: i64) -> Result<&'static OnnxForm, Vec<(i64, i64)>> {
    let forms = || {
        operators()
            .flat_map(|operator| operator.onnx)
            .filter(|form| form.name == name)
    };
    forms()
        .find(|form| (form.since..=form.until).contains(&opset))
        .ok_or_else(|| forms().map(|form| (form.since, form.until)).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{AttrDefault, AttrKind, InputKind};

    #[test]
    fn names_are_unique_and_definitions_are_sound() {
        let mut names = HashSet::new();
        for operator in operators() {
            assert!(
                names.insert(operator.name),
                "{} is defined twice",
                operator.name
            );
            assert!(!operator.outputs.is_empty(), "{}", operator.name);
            let mut attrs = HashSet::new();
            for attr in operator.attrs {
                assert!(
                    attrs.insert(attr.name),
                    "{}: {} is defined twice",
                    operator.name,
                    attr.name
                );
                let agrees = match attr.default {
                    AttrDefault::Required => true,
                    AttrDefault::Int(_) => attr.kind == AttrKind::Int,
                    AttrDefault::Float(_) => attr.kind == AttrKind::Float,
                    AttrDefault::Bool(_) => attr.kind == AttrKind::Bool,
                    AttrDefault::Str(_) => attr.kind == AttrKind::Str,
                    AttrDefault::Ints(_) => attr.kind == AttrKind::Ints,
                    AttrDefault::Floats(_) => attr.kind == AttrKind::Floats,
                    AttrDefault::Strs(_) => attr.kind == AttrKind::Strs,
                    AttrDefault::Type(_) => attr.kind == AttrKind::Type,
                };
                assert!(agrees, "{}: {}", operator.name, attr.name);
            }
            for (index, input) in operator.inputs.iter().enumerate() {
                let last = index + 1 == operator.inputs.len();
                assert!(
                    last || input.kind != InputKind::Variadic,
                    "{}: {}",
                    operator.name,
                    input.name
                );
            }
        }
    }

    #[test]
    fn an_onnx_operator_has_one_conversion_a_version() {
        for form in operators().flat_map(|operator| operator.onnx) {
            for opset in form.since..=form.until {
                let found: Vec<_> = operators()
                    .flat_map(|operator| operator.onnx)
                    .filter(|other| {
                        other.name == form.name && (other.since..=other.until).contains(&opset)
                    })
                    .collect();
                assert_eq!(found.len(), 1, "{} {opset}", form.name);
            }
        }
        assert!(find_onnx("Conv", 13).is_ok());
        assert_eq!(
            find_onnx("Einstein", 13).map(|form| form.name),
            Err(Vec::new())
        );
        assert!(find_onnx("Conv", 99).is_err_and(|versions| !versions.is_empty()));
    }
}
