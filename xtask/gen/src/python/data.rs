//! The tables of `api/pyacl`, read and checked.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

/// The submodules in the order in which the module makes them; `base` is `acl` itself.
const MODULES: [&str; 10] = [
    "base", "rt", "mdl", "media", "op", "blas", "util", "prof", "himpi", "fv",
];

/// One submodule.
pub struct Module {
    pub name: String,
    pub functions: Vec<Function>,
}

/// One function of Python.
pub struct Function {
    /// The name inside its module.
    pub name: String,
    /// With the module: `acl.rt.memcpy`.
    pub full_name: String,
    /// The text of the TypeError for a wrong argument.
    pub failed: String,
    pub c: Option<String>,
    pub body: Body,
    pub waits: bool,
    pub note: Option<String>,
}

/// How a function is made.
pub enum Body {
    /// A call of the C function.
    Call {
        args: Vec<Arg>,
        result: CResult,
        echo: Option<String>,
        checks: Vec<Check>,
    },
    /// Written by hand.
    Manual(Signature),
    /// Parses its arguments and answers that there is nothing behind it.
    Unsupported(Signature),
}

/// What a stub says of a function that no C signature describes.
pub struct Signature {
    /// Name, Python type, and whether it may be left out.
    pub params: Vec<(String, String, bool)>,
    /// Python types of the results; the code is among them.
    pub returns: Vec<(String, String)>,
}

/// One argument of the C function.
pub enum Arg {
    In(String, Type),
    Out(String, Type),
    /// A structure that the C function reads and writes: Python passes it, and gets the new one back.
    InOut(String, Type),
    Count(String, Type),
}

/// What the C function returns.
#[derive(PartialEq, Eq)]
pub enum CResult {
    Status,
    Nothing,
    Value(Type),
}

/// A condition on the arguments: left side, whether they must be equal (or at most the right side), right side.
pub struct Check {
    pub left: Quantity,
    pub equal: bool,
    pub right: Quantity,
    /// As it stands in the data, for the text of the refusal.
    pub text: String,
}

pub enum Quantity {
    Count(String),
    Sum(String),
    Value(String),
}

#[derive(Clone, PartialEq, Eq)]
pub enum Type {
    Handle,
    Address,
    Size,
    Int(&'static str),
    Float(&'static str),
    Text {
        optional: bool,
    },
    List(Box<Type>),
    Pair,
    Buffer(String),
    Record(String),
    /// A structure of `api/types`.
    Structure(String),
    /// Such a structure, passed by value.
    ByValue(String),
    /// The addresses of such structures.
    Pointers(String),
    /// Weights of five rows and columns.
    Kernel,
    /// What is accepted and not read.
    Unread,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    c: Option<String>,
    args: Option<Vec<String>>,
    result: Option<String>,
    echo: Option<String>,
    #[serde(default)]
    checks: Vec<String>,
    #[serde(default)]
    waits: bool,
    error: Option<String>,
    #[serde(default)]
    manual: bool,
    #[serde(default)]
    unsupported: bool,
    #[serde(default)]
    params: Vec<String>,
    #[serde(default)]
    returns: Vec<String>,
    #[expect(
        dead_code,
        reason = "read by people; listed so that a misspelt key is an error"
    )]
    source: Option<String>,
    note: Option<String>,
}

pub fn read(folder: &Path) -> anyhow::Result<Vec<Module>> {
    let mut modules = Vec::new();
    for name in MODULES {
        let path = folder.join(format!("{name}.toml"));
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let entries: BTreeMap<String, Entry> =
            toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        let functions = entries
            .into_iter()
            .map(|(function, entry)| {
                let full_name = if name == "base" {
                    format!("acl.{function}")
                } else {
                    format!("acl.{name}.{function}")
                };
                check_entry(function, full_name.clone(), entry)
                    .with_context(|| format!("{full_name} in {}", path.display()))
            })
            .collect::<anyhow::Result<_>>()?;
        modules.push(Module {
            name: name.to_string(),
            functions,
        });
    }
    Ok(modules)
}

fn check_entry(name: String, full_name: String, entry: Entry) -> anyhow::Result<Function> {
    let spoken = entry.error.unwrap_or_else(|| full_name.clone());
    // Observed texts: those of acl.mdl and of acl.set_tensor_* end in an exclamation mark, the others do not.
    let exclaims = full_name.starts_with("acl.mdl.") || full_name.starts_with("acl.set_tensor_");
    let failed = format!(
        "{spoken} args parse failed{}",
        if exclaims { "!" } else { "" }
    );
    let body = match (entry.args, entry.manual, entry.unsupported) {
        (Some(args), false, false) => {
            let args = args
                .iter()
                .map(|a| parse_arg(a))
                .collect::<anyhow::Result<Vec<_>>>()?;
            let result = match entry.result.as_deref() {
                None => CResult::Status,
                Some("none") => CResult::Nothing,
                Some(other) => CResult::Value(parse_type(other)?),
            };
            let checks = entry
                .checks
                .iter()
                .map(|c| parse_check(c))
                .collect::<anyhow::Result<_>>()?;
            ensure!(entry.c.is_some(), "a call needs the name of its C function");
            let has_out = args
                .iter()
                .any(|a| matches!(a, Arg::Out(..) | Arg::InOut(..)));
            ensure!(
                result == CResult::Status || !has_out,
                "a value and outputs cannot both be returned"
            );
            Body::Call {
                args,
                result,
                echo: entry.echo,
                checks,
            }
        }
        (None, true, false) => Body::Manual(signature(&entry.params, &entry.returns)?),
        (None, false, true) => Body::Unsupported(signature(&entry.params, &entry.returns)?),
        _ => bail!("exactly one of args, manual and unsupported is needed"),
    };
    Ok(Function {
        name,
        full_name,
        failed,
        c: entry.c,
        body,
        waits: entry.waits,
        note: entry.note,
    })
}

fn signature(params: &[String], returns: &[String]) -> anyhow::Result<Signature> {
    let split = |text: &str| -> anyhow::Result<(String, String)> {
        let (name, kind) = text
            .split_once(": ")
            .with_context(|| format!("`{text}` has no type"))?;
        Ok((name.to_string(), spelling(kind)))
    };
    let params = params
        .iter()
        .map(|p| {
            let inner = p.strip_prefix('[').and_then(|p| p.strip_suffix(']'));
            let (name, kind) = split(inner.unwrap_or(p))?;
            Ok((name, kind, inner.is_some()))
        })
        .collect::<anyhow::Result<_>>()?;
    let returns = returns
        .iter()
        .map(|r| split(r))
        .collect::<anyhow::Result<_>>()?;
    Ok(Signature { params, returns })
}

/// The Python type that a word of the data stands for.
fn spelling(kind: &str) -> String {
    match kind {
        "any" => "object".to_string(),
        "callable" => "Callable[..., object]".to_string(),
        "ndarray" => "Any".to_string(),
        "tuple[int]" => "tuple[int, ...]".to_string(),
        "dict" => "dict[str, Any]".to_string(),
        "list[dict]" => "list[dict[str, Any]]".to_string(),
        "list" => "list[Any]".to_string(),
        other => match other.split_once('|') {
            Some((left, right)) => format!("{} | {}", spelling(left), spelling(right)),
            None => other.to_string(),
        },
    }
}

fn parse_arg(text: &str) -> anyhow::Result<Arg> {
    let (head, kind) = text
        .rsplit_once(": ")
        .with_context(|| format!("`{text}` has no type"))?;
    let kind = parse_type(kind)?;
    Ok(if let Some(name) = head.strip_prefix("out ") {
        Arg::Out(name.to_string(), kind)
    } else if let Some(name) = head.strip_prefix("inout ") {
        Arg::InOut(name.to_string(), kind)
    } else if let Some(name) = head
        .strip_prefix("count(")
        .and_then(|h| h.strip_suffix(')'))
    {
        Arg::Count(name.to_string(), kind)
    } else {
        Arg::In(head.to_string(), kind)
    })
}

fn parse_type(text: &str) -> anyhow::Result<Type> {
    Ok(match text {
        "handle" => Type::Handle,
        "address" => Type::Address,
        "size" => Type::Size,
        "i8" => Type::Int("i8"),
        "i16" => Type::Int("i16"),
        "i32" => Type::Int("i32"),
        "i64" => Type::Int("i64"),
        "u8" => Type::Int("u8"),
        "u16" => Type::Int("u16"),
        "u32" => Type::Int("u32"),
        "u64" => Type::Int("u64"),
        "f32" => Type::Float("f32"),
        "f64" => Type::Float("f64"),
        "text" => Type::Text { optional: false },
        "text?" => Type::Text { optional: true },
        "pair" => Type::Pair,
        "kernel" => Type::Kernel,
        "unread" => Type::Unread,
        _ if text.starts_with("hi_") => Type::Structure(text.to_string()),
        _ => {
            if let Some(inner) = text.strip_prefix("list<").and_then(|t| t.strip_suffix('>')) {
                Type::List(Box::new(parse_type(inner)?))
            } else if let Some(inner) = text
                .strip_prefix("value<")
                .and_then(|t| t.strip_suffix('>'))
            {
                Type::ByValue(inner.to_string())
            } else if let Some(inner) = text
                .strip_prefix("pointers<")
                .and_then(|t| t.strip_suffix('>'))
            {
                Type::Pointers(inner.to_string())
            } else if let Some(limit) = text
                .strip_prefix("buffer(")
                .and_then(|t| t.strip_suffix(')'))
            {
                Type::Buffer(limit.to_string())
            } else if text.starts_with(|c: char| c.is_ascii_uppercase()) {
                Type::Record(text.to_string())
            } else {
                bail!("`{text}` is not a type")
            }
        }
    })
}

fn parse_check(text: &str) -> anyhow::Result<Check> {
    let (left, equal, right) = if let Some((l, r)) = text.split_once(" <= ") {
        (l, false, r)
    } else if let Some((l, r)) = text.split_once(" = ") {
        (l, true, r)
    } else {
        bail!("`{text}` compares nothing")
    };
    let quantity = |text: &str| {
        if let Some(name) = text
            .strip_prefix("count(")
            .and_then(|t| t.strip_suffix(')'))
        {
            Quantity::Count(name.to_string())
        } else if let Some(name) = text.strip_prefix("sum(").and_then(|t| t.strip_suffix(')')) {
            Quantity::Sum(name.to_string())
        } else {
            Quantity::Value(text.to_string())
        }
    };
    Ok(Check {
        left: quantity(left),
        equal,
        right: quantity(right),
        text: text.to_string(),
    })
}

impl Function {
    /// The parameters that Python passes: name, Python type, and whether it may be left out.
    pub fn params(&self) -> Vec<(String, String, bool)> {
        match &self.body {
            Body::Manual(signature) | Body::Unsupported(signature) => signature.params.clone(),
            Body::Call { args, .. } => args
                .iter()
                .filter_map(|arg| match arg {
                    Arg::In(name, kind) | Arg::InOut(name, kind) => {
                        let optional = *kind == Type::Text { optional: true };
                        Some((name.clone(), kind.python_in(), optional))
                    }
                    Arg::Out(..) | Arg::Count(..) => None,
                })
                .collect(),
        }
    }

    /// The Python type of what it returns.
    pub fn returns(&self) -> String {
        let parts: Vec<String> = match &self.body {
            Body::Manual(signature) | Body::Unsupported(signature) => signature
                .returns
                .iter()
                .map(|(_, kind)| kind.clone())
                .collect(),
            Body::Call {
                args, result, echo, ..
            } => match result {
                CResult::Nothing => Vec::new(),
                CResult::Value(kind) => vec![kind.python_out()],
                CResult::Status => echo
                    .iter()
                    .map(|_| "int".to_string())
                    .chain(args.iter().filter_map(|arg| match arg {
                        Arg::Out(_, kind) | Arg::InOut(_, kind) => Some(kind.python_out()),
                        Arg::In(..) | Arg::Count(..) => None,
                    }))
                    .chain(["int".to_string()])
                    .collect(),
            },
        };
        match parts.as_slice() {
            [] => "None".to_string(),
            [one] => one.clone(),
            many => format!("tuple[{}]", many.join(", ")),
        }
    }
}

impl Type {
    fn python_in(&self) -> String {
        match self {
            Type::Handle | Type::Address | Type::Size | Type::Int("u64") => "int".to_string(),
            Type::Int(_) => "SupportsIndex".to_string(),
            Type::Float(_) => "float".to_string(),
            Type::Text { .. } => "str".to_string(),
            // `list` is invariant to a type checker, so the elements are what people have: ints.
            Type::List(inner) => match inner.python_in().as_str() {
                "SupportsIndex" => "list[int]".to_string(),
                "dict[str, Any] | None" => "list[dict[str, Any]]".to_string(),
                inner => format!("list[{inner}]"),
            },
            Type::Pair => "list[int]".to_string(),
            Type::Structure(_) | Type::Unread => "dict[str, Any] | None".to_string(),
            Type::ByValue(_) => "dict[str, Any]".to_string(),
            Type::Pointers(_) => "list[dict[str, Any]]".to_string(),
            Type::Kernel => "list[list[int]] | None".to_string(),
            Type::Buffer(_) => "bytes".to_string(),
            Type::Record(name) => match name.as_str() {
                "LoadOptions" | "LaunchConfig" | "PlaceHolders" | "UceInfos" => {
                    "list[dict[str, Any]]".to_string()
                }
                _ => "dict[str, Any]".to_string(),
            },
        }
    }

    fn python_out(&self) -> String {
        match self {
            Type::Float(_) => "float".to_string(),
            Type::Text { .. } => "str | None".to_string(),
            Type::Buffer(_) => "str".to_string(),
            Type::Record(name) if name == "AippInfo" => "dict[str, Any] | None".to_string(),
            Type::Record(_) | Type::Structure(_) | Type::ByValue(_) => "dict[str, Any]".to_string(),
            Type::Pointers(_)
            | Type::Kernel
            | Type::Unread
            | Type::Handle
            | Type::Address
            | Type::Size
            | Type::Int(_)
            | Type::List(_)
            | Type::Pair => "int".to_string(),
        }
    }
}
