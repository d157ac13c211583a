//! The element types that operators accept: `api/aclnn/types.json`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use jumar_types::dtype::DataType;
use serde::Deserialize;

use super::{Operator, Param};

/// One operator of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    /// Where the lists were read: `document`, or `inferred` with the reason.
    from: String,
    /// Types by parameters: several parameters with the same types share an entry (`self, out`).
    types: BTreeMap<String, String>,
    /// Types that are accepted although the document does not list them.
    #[serde(default)]
    beyond: BTreeMap<String, String>,
    /// Why these are.
    because: Option<String>,
}

/// Adds to each operator what the file says.
///
/// # Errors
/// The file cannot be read, or it names an operator, a parameter or a type that does not exist.
pub fn read(root: &Path, operators: &mut [Operator]) -> Result<()> {
    let mut before = String::new();
    for raw in super::read::<Raw>(root, "api/aclnn/types.json")? {
        ensure!(
            before < raw.name,
            "types.json: {} does not stand in alphabetical order",
            raw.name
        );
        let found = operators.binary_search_by(|operator| operator.name.cmp(&raw.name));
        let Ok(at) = found else {
            anyhow::bail!("types.json: there is no operator {}", raw.name);
        };
        add(&mut operators[at].params, &raw)
            .with_context(|| format!("types.json: {}", raw.name))?;
        before = raw.name;
    }
    Ok(())
}

fn add(params: &mut [Param], raw: &Raw) -> Result<()> {
    ensure!(
        raw.from == "document" || raw.from.starts_with("inferred: "),
        "\"from\" says neither \"document\" nor \"inferred: \" and the reason"
    );
    ensure!(
        raw.beyond.is_empty() == raw.because.is_none(),
        "\"beyond\" and \"because\" go together"
    );
    for (names, types) in &raw.types {
        for name in names.split(", ") {
            let param = find(params, name)?;
            ensure!(param.types.is_none(), "{name} stands twice");
            param.types = Some(list(types)?);
        }
    }
    for (names, types) in &raw.beyond {
        for name in names.split(", ") {
            let param = find(params, name)?;
            let listed = param.types.as_mut();
            let listed = listed.with_context(|| format!("{name} has no types to go beyond"))?;
            for one in list(types)? {
                ensure!(!listed.contains(&one), "{name} lists {one} twice");
                listed.push(one);
            }
        }
    }
    Ok(())
}

fn find<'a>(params: &'a mut [Param], name: &str) -> Result<&'a mut Param> {
    let found = params.iter_mut().find(|param| param.name == name);
    let found = found.with_context(|| format!("there is no parameter {name}"))?;
    ensure!(
        found.ctype.contains("aclTensor"),
        "{name} is not a tensor and not a list of tensors"
    );
    Ok(found)
}

fn list(types: &str) -> Result<Vec<DataType>> {
    let names = types.split(", ");
    let found = names
        .map(|name| DataType::from_name(name).with_context(|| format!("there is no type {name}")));
    found.collect()
}
