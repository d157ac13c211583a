//! Operators that have no conversion.

use std::collections::BTreeMap;

use super::proto::GraphProto;
use super::{flex, form_of, is_control, sequences, standard_domain};
use crate::{GraphError, Result, control};

/// Collects operators that are not there, and the first node of each.
pub(super) fn unknown_operators(
    graph: &GraphProto,
    opset: i64,
    depth: usize,
    unknown: &mut BTreeMap<String, String>,
) -> Result<()> {
    if depth > control::DEEPEST {
        return Err(GraphError::unsupported(format!(
            "graphs are nested more than {} deep in {}",
            control::DEEPEST,
            graph.name
        )));
    }
    for node in &graph.node {
        for attribute in &node.attribute {
            if let Some(inner) = &attribute.g {
                unknown_operators(inner, opset, depth + 1, unknown)?;
            }
        }
        let name = if node.name.is_empty() {
            "without a name"
        } else {
            &node.name
        };
        let entry = if is_control(node)
            || flex::is_flex_attention(node)
            || sequences::is_sequence_operator(node)
        {
            continue;
        } else if let Err(versions) = form_of(node, opset) {
            match versions.first() {
                None if standard_domain(node) => node.op_type.clone(),
                None => format!("{}::{}", node.domain, node.op_type),
                Some((since, _)) => format!(
                    "{} of operator set {opset} (supported from {since} on)",
                    node.op_type
                ),
            }
        } else {
            continue;
        };
        unknown.entry(entry).or_insert_with(|| name.to_owned());
    }
    Ok(())
}

/// Domains whose operators no model needs to hold, and how a model without them is made.
const DOMAINS: &[(&str, &str)] = &[
    (
        "com.microsoft.nchwc",
        "ONNX Runtime writes the domain com.microsoft.nchwc when it saves a model at the optimisation level \"all\" (ORT_ENABLE_ALL), for one processor: save it at the level \"extended\" (ORT_ENABLE_EXTENDED) or below, or use the model from before",
    ),
    (
        "com.ms.internal.nhwc",
        "ONNX Runtime writes the domain com.ms.internal.nhwc when it saves a model that was prepared for one of its execution providers: save it with the CPU provider alone, or use the model from before",
    ),
    (
        "org.pytorch.aten",
        "PyTorch writes the domain org.pytorch.aten when it exports with a fallback (operator_export_type=ONNX_ATEN_FALLBACK): export with dynamo=True, or with OperatorExportTypes.ONNX",
    ),
    (
        "ai.onnx.ml",
        "The domain ai.onnx.ml holds operators on tables and texts, which no Ascend chip has: run that part in the program, and export the network without it",
    ),
];

fn in_domain(operator: &str, domain: &str) -> bool {
    operator
        .strip_prefix(domain)
        .is_some_and(|rest| rest.starts_with("::"))
}

/// Refuses operators that are not there, all of them in one sentence.
pub(super) fn refuse_unknown(unknown: &BTreeMap<String, String>) -> Result<()> {
    if unknown.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = unknown
        .iter()
        .map(|(operator, node)| format!("{operator} (node {node})"))
        .collect();
    let advice = DOMAINS
        .iter()
        .find(|(domain, _)| unknown.keys().any(|operator| in_domain(operator, domain)))
        .map_or(
            "Replace them in the model, or export it without them",
            |&(_, advice)| advice,
        );
    Err(GraphError::unsupported(format!(
        "operators that are not supported: {}. {advice}",
        list.join(", ")
    )))
}
