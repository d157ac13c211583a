//! Single operators (`aclnn...`): headers, shims, and the table of signatures.
//!
//! `api/aclnn/operators.json` has one line for each operator, `api/aclnn/helpers.json` the few functions beside them that
//! are no pair of phases, and `api/aclnn/types.json` the element types that parameters accept. The objects that operators take (`aclTensor` and so on) are described in `api/aclnn.toml` as
//! every other function is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use jumar_types::dtype::DataType;
use serde::Deserialize;

mod computed;
mod headers;
mod pages;
mod rust;
mod types;

pub use pages::coverage;

/// The operators and helpers of the data.
pub struct Aclnn {
    /// The operators by name.
    operators: Vec<Operator>,
    /// The helpers by name.
    helpers: Vec<Helper>,
}

/// One operator.
struct Operator {
    /// The name of the second phase.
    name: String,
    /// The header, below `include/aclnnop`.
    header: String,
    /// Where the signature was published.
    source: String,
    /// The parameters of the first phase without the last two, which all operators share.
    params: Vec<Param>,
    /// The parameters of the second phase, where they are not the usual ones.
    second_phase: Option<Vec<Param>>,
    /// Whether a third function returns how much workspace the call needs for any values of its arrays.
    bounded: bool,
    /// Whether jumar-eager computes it.
    computed: bool,
}

/// A function beside the operators.
struct Helper {
    name: String,
    header: String,
    brief: String,
    params: Vec<Param>,
}

/// One parameter.
struct Param {
    /// The name in the header.
    name: String,
    /// The C type as the header spells it.
    ctype: String,
    /// Whether it may be null.
    optional: bool,
    /// Whether it is written, and whether it is also read.
    io: Io,
    /// The element types that it accepts, where they are known.
    types: Option<Vec<DataType>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Io {
    In,
    Out,
    InOut,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOperator {
    name: String,
    header: String,
    source: String,
    params: Vec<String>,
    second_phase: Option<Vec<String>>,
    #[serde(default)]
    bounded: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHelper {
    name: String,
    header: String,
    brief: String,
    params: Vec<String>,
}

impl Aclnn {
    /// Reads the data.
    ///
    /// # Errors
    /// A file cannot be read, or what it says contradicts itself.
    pub fn load(root: &Path) -> Result<Aclnn> {
        let computed = computed::words(root)?;
        let mut operators = read::<RawOperator>(root, "api/aclnn/operators.json")?
            .into_iter()
            .map(|raw| {
                let second = raw.second_phase.as_deref().map(params).transpose();
                Ok(Operator {
                    params: params(&raw.params).with_context(|| raw.name.clone())?,
                    second_phase: second.with_context(|| raw.name.clone())?,
                    bounded: raw.bounded,
                    computed: computed.contains(&raw.name),
                    name: raw.name,
                    header: raw.header,
                    source: raw.source,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        operators.sort_by(|a, b| a.name.cmp(&b.name));
        types::read(root, &mut operators)?;
        let mut helpers = read::<RawHelper>(root, "api/aclnn/helpers.json")?
            .into_iter()
            .map(|raw| {
                Ok(Helper {
                    params: params(&raw.params).with_context(|| raw.name.clone())?,
                    name: raw.name,
                    header: raw.header,
                    brief: raw.brief,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        helpers.sort_by(|a, b| a.name.cmp(&b.name));
        let mut names = BTreeSet::new();
        let all = operators.iter().map(|operator| &operator.name);
        for name in all.chain(helpers.iter().map(|helper| &helper.name)) {
            ensure!(names.insert(name), "{name} stands twice");
        }
        for operator in &operators {
            for param in &operator.params {
                kind(&param.ctype).with_context(|| operator.name.clone())?;
            }
        }
        Ok(Aclnn { operators, helpers })
    }

    /// Counts the operators.
    pub fn len(&self) -> usize {
        self.operators.len()
    }
}

/// Writes everything that follows from the data.
///
/// # Errors
/// The data is wrong.
pub fn write(root: &Path, files: &mut Vec<(PathBuf, String)>) -> Result<()> {
    let aclnn = Aclnn::load(root)?;
    headers::write(&aclnn, files);
    rust::write(&aclnn, files)?;
    pages::write(&aclnn, files);
    Ok(())
}

fn read<T: for<'de> Deserialize<'de>>(root: &Path, path: &str) -> Result<Vec<T>> {
    let file = root.join(path);
    let text =
        std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("parsing {path}"))
}

fn params(texts: &[String]) -> Result<Vec<Param>> {
    texts.iter().map(|text| param(text)).collect()
}

/// Reads `const aclTensor *self: optional`.
fn param(text: &str) -> Result<Param> {
    let (declaration, notes) = text.split_once(':').unwrap_or((text, ""));
    let declaration = declaration.trim();
    let at = declaration
        .rfind([' ', '*'])
        .with_context(|| format!("\"{text}\" has no name"))?;
    let mut read = Param {
        name: declaration[at + 1..].to_owned(),
        ctype: declaration[..=at].trim_end().to_owned(),
        optional: false,
        io: Io::In,
        types: None,
    };
    for note in notes.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        match note {
            "optional" => read.optional = true,
            "out" => read.io = Io::Out,
            "inout" => read.io = Io::InOut,
            _ => bail!("\"{text}\": unknown note \"{note}\""),
        }
    }
    Ok(read)
}

/// What a parameter of an operator is: the name of the kind in jumar-eager, and the type in the shim.
fn kind(ctype: &str) -> Result<(&'static str, &'static str)> {
    let plain = ctype.strip_prefix("const ").unwrap_or(ctype);
    Ok(match plain {
        "aclTensor *" => ("Tensor", "P"),
        "aclTensorList *" => ("Tensors", "P"),
        "aclScalar *" => ("Scalar", "P"),
        "aclScalarList *" => ("Scalars", "P"),
        "aclIntArray *" => ("Ints", "P"),
        "aclFloatArray *" => ("Floats", "P"),
        "aclBoolArray *" => ("Bools", "P"),
        "char *" => ("Text", "P"),
        "int64_t" => ("Int", "i64"),
        "uint64_t" => ("Int", "u64"),
        "int32_t" | "int" => ("Int", "i32"),
        "int8_t" => ("Int", "i8"),
        "double" => ("Float", "f64"),
        "float" => ("Float", "f32"),
        "bool" => ("Bool", "Bool"),
        "aclDataType" => ("Type", "i32"),
        _ => bail!("no kind of argument has the type {ctype}"),
    })
}

/// The type of a further parameter of a second phase.
fn plain_type(ctype: &str) -> Result<&'static str> {
    match ctype.trim_start_matches("const ") {
        "aclrtStream" => Ok("P"),
        text if text.ends_with('*') => Ok("P"),
        _ => kind(ctype).map(|(_, of)| of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_read_with_its_notes() {
        let read = param("const aclTensor *biasOptional: optional").unwrap();
        assert_eq!(
            (read.name.as_str(), read.ctype.as_str(), read.optional),
            ("biasOptional", "const aclTensor *", true)
        );
        let read = param("aclTensor *selfRef: inout").unwrap();
        assert!(read.io == Io::InOut && !read.optional);
        let read = param("int64_t dim").unwrap();
        assert_eq!(
            (read.name.as_str(), read.ctype.as_str()),
            ("dim", "int64_t")
        );
        assert!(param("int64_t dim: sometimes").is_err());
    }

    #[test]
    fn no_type_is_guessed() {
        assert_eq!(kind("const bool").unwrap(), ("Bool", "Bool"));
        assert!(kind("const aclStrange *").is_err());
    }
}
