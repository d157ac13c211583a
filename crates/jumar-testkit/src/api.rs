//! The API data, as far as the drivers need it: signatures, constants, and how Python spells the functions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// What `api/` says.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Api {
    /// Functions by their C name.
    pub functions: BTreeMap<String, Function>,
    /// Enumerators and macros by their name.
    pub constants: BTreeMap<String, Constant>,
    /// Types that are pointers without looking like one: `void *` handles and callbacks.
    pub pointer_types: BTreeSet<String>,
    /// The C type of each member of a structure: `structure.member`, or `structure.union.member`.
    pub members: BTreeMap<String, String>,
    /// pyACL functions by the name of the C function behind them.
    pub python: BTreeMap<String, PythonFunction>,
}

/// A C function.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Function {
    /// The result's C type.
    pub ret: String,
    /// The parameters in order.
    pub params: Vec<Param>,
    /// Whether it only answers that it is not supported.
    pub stub: bool,
}

impl Function {
    /// Whether the result is a status.
    pub fn answers_code(&self) -> bool {
        ["aclError", "aclnnStatus", "HcclResult", "hi_s32"].contains(&self.ret.as_str())
    }
}

/// A parameter.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Param {
    /// The name.
    pub name: String,
    /// The C type, spaces as the data has them.
    pub ty: String,
}

/// The value of a constant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Constant {
    /// A number; beyond the signed range it stands as its two's complement.
    Number(i64),
    /// A text.
    Text(String),
}

/// A pyACL function.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PythonFunction {
    /// The whole name, such as `acl.rt.malloc`.
    pub name: String,
    /// The C function's arguments in order, as Python passes or gets them; empty where it is written by hand.
    pub args: Vec<PythonArg>,
    /// The name of the input that comes back as first value.
    pub echo: Option<String>,
    /// What the C function returns: a code, nothing, or a value.
    pub result: PythonResult,
    /// Written by hand: `args` says nothing.
    pub manual: bool,
    /// Answers "not supported" whatever is passed.
    pub unsupported: bool,
}

/// How a C argument appears in Python.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PythonArg {
    /// Python passes it.
    In {
        /// The name in Python.
        name: String,
        /// The type as the data spells it.
        ty: String,
    },
    /// Python gets it as a result.
    Out {
        /// The type as the data spells it.
        ty: String,
    },
    /// Python does not pass it: it is the number of elements of the list of this name.
    Count(String),
}

/// The result of a pyACL function beside its out values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PythonResult {
    /// A code, last.
    Code,
    /// Nothing.
    Nothing,
    /// A bare value.
    Value,
}

impl Api {
    /// Returns the functions and constants of these names, with all types that are pointers.
    pub fn part(&self, names: &BTreeSet<&str>) -> Api {
        Api {
            functions: entries(&self.functions, names),
            constants: entries(&self.constants, names),
            pointer_types: self.pointer_types.clone(),
            members: BTreeMap::new(),
            python: entries(&self.python, names),
        }
    }

    /// Reads `api/` below the given folder.
    ///
    /// # Errors
    /// Names the file that is missing or not as `api/README.md` says.
    pub fn read(root: &Path) -> Result<Api> {
        let mut api = Api::default();
        let folder = root.join("api");
        for (path, text) in toml_files(&folder)? {
            if path == "errors.toml" {
                continue;
            }
            api.add_functions(&text)
                .with_context(|| format!("api/{path}"))?;
        }
        let read = |name: &str| {
            fs::read_to_string(folder.join("types").join(name))
                .with_context(|| format!("api/types/{name}"))
        };
        api.add_enums(&read("enums.toml")?)
            .context("api/types/enums.toml")?;
        api.add_constants(&read("constants.toml")?)
            .context("api/types/constants.toml")?;
        api.add_members(&read("structs.toml")?)
            .context("api/types/structs.toml")?;
        api.add_pointer_types(&read("handles.toml")?)
            .context("api/types/handles.toml")?;
        api.add_pointer_types(&read("callbacks.toml")?)
            .context("api/types/callbacks.toml")?;
        for (path, text) in toml_files(&folder.join("pyacl"))? {
            let module = path.trim_end_matches(".toml");
            api.add_python(module, &text)
                .with_context(|| format!("api/pyacl/{path}"))?;
        }
        Ok(api)
    }

    /// Reads the members of structures: `name: type, offset, size`.
    fn add_members(&mut self, text: &str) -> Result<()> {
        let structures: BTreeMap<String, toml::Table> = toml::from_str(text)?;
        for (structure, row) in structures {
            let fields = row.get("fields").and_then(toml::Value::as_array);
            for field in fields.into_iter().flatten().filter_map(toml::Value::as_str) {
                if let Some((name, rest)) = field.split_once(':') {
                    let ty = rest.split(',').next().unwrap_or_default().trim();
                    let member = format!("{structure}.{}", name.trim());
                    self.members.insert(member, ty.to_owned());
                }
            }
        }
        Ok(())
    }

    /// Whether a C type is a pointer.
    pub fn is_pointer(&self, ty: &str) -> bool {
        ty.contains('*') || ty.contains('[') || self.pointer_types.contains(ty)
    }

    pub(crate) fn add_functions(&mut self, text: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Row {
            ret: String,
            #[serde(default)]
            params: Vec<String>,
            status: Option<String>,
        }
        let rows: BTreeMap<String, Row> = toml::from_str(text)?;
        for (name, row) in rows {
            let params = row
                .params
                .iter()
                .map(|param| parameter(param))
                .collect::<Result<Vec<_>>>()
                .with_context(|| name.clone())?;
            let function = Function {
                ret: row.ret,
                params,
                stub: row.status.as_deref() == Some("stub"),
            };
            self.functions.insert(name, function);
        }
        Ok(())
    }

    pub(crate) fn add_enums(&mut self, text: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Row {
            values: Vec<String>,
        }
        let rows: BTreeMap<String, Row> = toml::from_str(text)?;
        for value in rows.values().flat_map(|row| &row.values) {
            // What follows a comma is an annotation, such as "deprecated".
            let value = value.split(',').next().unwrap_or(value);
            let (name, number) = value
                .split_once('=')
                .with_context(|| format!("{value:?} has no value"))?;
            let number = number
                .trim()
                .parse()
                .with_context(|| format!("{value:?}"))?;
            self.constants
                .insert(name.trim().to_string(), Constant::Number(number));
        }
        Ok(())
    }

    fn add_constants(&mut self, text: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Row {
            value: Option<i64>,
            text: Option<String>,
        }
        let rows: BTreeMap<String, Row> = toml::from_str(text)?;
        for (name, row) in rows {
            let constant = match (row.value, row.text) {
                (Some(number), _) => Constant::Number(number),
                (None, Some(text)) => Constant::Text(text),
                (None, None) => continue,
            };
            self.constants.insert(name, constant);
        }
        Ok(())
    }

    fn add_pointer_types(&mut self, text: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Row {
            tag: Option<String>,
        }
        let rows: BTreeMap<String, Row> = toml::from_str(text)?;
        let names = rows.into_iter().filter(|(_, row)| row.tag.is_none());
        self.pointer_types.extend(names.map(|(name, _)| name));
        Ok(())
    }

    fn add_python(&mut self, module: &str, text: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Row {
            c: Option<String>,
            #[serde(default)]
            args: Vec<String>,
            result: Option<String>,
            echo: Option<String>,
            #[serde(default)]
            manual: bool,
            unsupported: Option<toml::Value>,
        }
        let rows: BTreeMap<String, Row> = toml::from_str(text)?;
        for (name, row) in rows {
            let Some(c) = row.c else { continue };
            let name = match module {
                "base" => format!("acl.{name}"),
                module => format!("acl.{module}.{name}"),
            };
            let args = row
                .args
                .iter()
                .map(|arg| python_argument(arg))
                .collect::<Result<Vec<_>>>()
                .with_context(|| name.clone())?;
            let result = match row.result.as_deref() {
                None => PythonResult::Code,
                Some("none") => PythonResult::Nothing,
                Some(_) => PythonResult::Value,
            };
            let function = PythonFunction {
                name,
                args,
                echo: row.echo.clone(),
                result,
                manual: row.manual,
                unsupported: row
                    .unsupported
                    .is_some_and(|value| value.as_bool() != Some(false)),
            };
            self.python.insert(c, function);
        }
        Ok(())
    }
}

/// Splits `name: C type[, annotation]*`.
fn parameter(text: &str) -> Result<Param> {
    let (name, rest) = text
        .split_once(':')
        .with_context(|| format!("{text:?} is not a parameter"))?;
    let ty = up_to_comma(rest).trim();
    Ok(Param {
        name: name.trim().to_string(),
        ty: ty.to_string(),
    })
}

/// The text up to the first comma that is not inside parentheses, where a pointer to a function has its own.
fn up_to_comma(text: &str) -> &str {
    let mut depth = 0_i32;
    let end = text.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

/// Splits `name: type`, `out name: type` and `count(name): type`.
fn python_argument(text: &str) -> Result<PythonArg> {
    let Some((name, ty)) = text.split_once(':') else {
        bail!("{text:?} is not an argument");
    };
    let (name, ty) = (name.trim(), ty.trim().to_string());
    if name.starts_with("out ") {
        return Ok(PythonArg::Out { ty });
    }
    if let Some(list) = name
        .strip_prefix("count(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return Ok(PythonArg::Count(list.to_string()));
    }
    Ok(PythonArg::In {
        name: name.to_string(),
        ty,
    })
}

/// Reads the .toml files of a folder, sorted by name.
pub(crate) fn toml_files(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .with_context(|| format!("{} is not text", path.display()))?;
            files.push((name.to_string(), fs::read_to_string(&path)?));
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the entries of these names that there are.
fn entries<T: Clone>(all: &BTreeMap<String, T>, names: &BTreeSet<&str>) -> BTreeMap<String, T> {
    names
        .iter()
        .filter_map(|name| Some((name.to_string(), all.get(*name)?.clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_lose_their_annotations() {
        let param = parameter("dims: int64_t[][2], slice(n)").unwrap();
        assert_eq!(
            (param.name.as_str(), param.ty.as_str()),
            ("dims", "int64_t[][2]")
        );
        let param = parameter("devPtr: void *, span(maxCount)").unwrap();
        assert_eq!(param.ty, "void *");
    }

    #[test]
    fn python_arguments_are_passed_got_or_counted() {
        assert_eq!(
            python_argument("out e: handle").unwrap(),
            PythonArg::Out {
                ty: "handle".into()
            }
        );
        assert_eq!(
            python_argument("count(dims): i32").unwrap(),
            PythonArg::Count("dims".into())
        );
        assert_eq!(
            python_argument("size: size").unwrap(),
            PythonArg::In {
                name: "size".into(),
                ty: "size".into()
            }
        );
    }

    #[test]
    fn the_projects_data_is_read() {
        let api = Api::read(&crate::root()).unwrap();
        assert!(api.functions.len() > 800);
        assert_eq!(api.constants["ACL_EVENT_SYNC"], Constant::Number(1));
        assert!(api.is_pointer("aclrtStream"));
        assert!(api.is_pointer("aclrtCallback"));
        assert!(!api.is_pointer("aclDataBuffer"));
        assert_eq!(api.python["aclrtMalloc"].name, "acl.rt.malloc");
    }
}
