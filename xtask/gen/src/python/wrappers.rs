//! The Rust side: one function a pyACL function, and a table a submodule.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::ensure;

use super::data::{Arg, Body, CResult, Check, Function, Module, Quantity, Type};
use super::structures;
use crate::model::Api;
use crate::rust::media_code;

const HEAD: &str = "\
// Written by `cargo xtask gen` from api/pyacl. Do not edit.

//! One wrapper for each function of pyACL: it parses what Python passed, calls the C function of the shared library and
//! makes the results, in C order with the code last. A wrapper is a row where its parameters and results are plain values.

use std::ffi::{CString, c_char};

use super::ffi::*;
use super::records::*;
use super::rows::{ArgumentCursor, Parameter};
use super::structures::*;
use super::manual;
use super::table::{END, Table};
";

/// The id of an argument that is refused, in the codes of the second interface of images and video.
const ILLEGAL_PARAM: i64 = 3;

/// Structures whose conversion is manual.
const MANUAL: &[&str] = &["hi_venc_rc_param", "hi_venc_chn_attr"];

pub fn file(modules: &[Module], api: &Api) -> anyhow::Result<String> {
    let mut text = String::from(HEAD);
    for module in modules {
        text += "\nwrappers! {\n";
        for function in &module.functions {
            text.extend(row(module, function)?);
        }
        text += "}\n";
        for function in &module.functions {
            if row(module, function)?.is_none() {
                wrapper(&mut text, module, function, api)?;
            }
        }
        table(&mut text, module)?;
    }
    let mut names: BTreeSet<String> = MANUAL.iter().map(|name| (*name).to_owned()).collect();
    names.extend(modules.iter().flat_map(used));
    structures::write(&mut text, api, &names)?;
    text += "\n/// The tables with the names of their submodules; `base` is the module itself.\n";
    writeln!(
        text,
        "pub(super) static TABLES: [(&str, &Table); {}] = [",
        modules.len()
    )?;
    for module in modules {
        writeln!(
            text,
            "    ({:?}, &{}),",
            module.name,
            module.name.to_uppercase()
        )?;
    }
    text += "];\n";
    Ok(text)
}

/// Returns the structures that the arguments of a module's functions are.
fn used(module: &Module) -> Vec<String> {
    let mut names = Vec::new();
    for function in &module.functions {
        let Body::Call { args, .. } = &function.body else {
            continue;
        };
        for arg in args {
            let (Arg::In(_, kind) | Arg::Out(_, kind) | Arg::InOut(_, kind)) = arg else {
                continue;
            };
            match kind {
                Type::Structure(name) | Type::ByValue(name) | Type::Pointers(name) => {
                    names.push(name.clone());
                }
                Type::List(inner) => {
                    if let Type::Structure(name) = &**inner {
                        names.push(name.clone());
                    }
                }
                _ => {}
            }
        }
    }
    names
}

fn table(text: &mut String, module: &Module) -> anyhow::Result<()> {
    writeln!(
        text,
        "\nstatic {}: Table = Table::new(&[",
        module.name.to_uppercase()
    )?;
    for function in &module.functions {
        let path = match function.body {
            Body::Manual(_) => format!("manual::{}_{}", module.name, function.name),
            Body::Call { .. } | Body::Unsupported(_) => {
                format!("{}_{}", module.name, function.name)
            }
        };
        writeln!(
            text,
            "    method!(c{:?}, {path}, c{:?}, c{:?}),",
            function.name,
            function.failed,
            docstring(function)
        )?;
    }
    text.push_str("    END,\n]);\n");
    Ok(())
}

/// The text opens with the signature in the form that `inspect` understands.
fn docstring(function: &Function) -> String {
    let params = function.params();
    let list = if params.is_empty() {
        "/, *args".to_string()
    } else {
        let names = params
            .iter()
            .map(|(name, _, optional)| format!("{name}{}", if *optional { "=..." } else { "" }));
        names
            .chain(["/".to_string()])
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut text = format!("{}($module, {list})\n--\n", function.name);
    let mut sentences = Vec::new();
    match (&function.body, &function.c) {
        (Body::Unsupported(_), _) => {
            sentences.push("Answers that it is not supported.".to_string())
        }
        (_, Some(c)) => sentences.push(format!("Calls {c}.")),
        (_, None) => {}
    }
    sentences.extend(function.note.clone());
    let _ = write!(
        text,
        "\n{}\n\nReturns {}.",
        sentences.join(" "),
        function.returns()
    );
    text
}

/// Returns the row of a wrapper whose parameters are numbers, addresses and texts, and whose results are numbers and addresses.
fn row(module: &Module, function: &Function) -> anyhow::Result<Option<String>> {
    let Body::Call {
        args,
        result,
        echo: None,
        checks,
    } = &function.body
    else {
        return Ok(None);
    };
    let is_text = |kind: &Type| *kind == Type::Text { optional: false };
    let is_plain = |arg: &Arg| match arg {
        Arg::In(_, kind) => is_text(kind) || rust_scalar(kind).is_ok(),
        Arg::Out(_, kind) => *result == CResult::Status && rust_scalar(kind).is_ok(),
        Arg::InOut(..) | Arg::Count(..) => false,
    };
    let is_result = |arg: &&Arg| matches!(arg, Arg::Out(..));
    let before = args.iter().take_while(is_result).count();
    let after = match args.len() - before {
        0 => 0,
        _ => args.iter().rev().take_while(is_result).count(),
    };
    let parameters = &args[before..args.len() - after];
    if !checks.is_empty()
        || !args.iter().all(is_plain)
        || parameters.iter().any(|arg| is_result(&arg))
    {
        return Ok(None);
    }
    let list = |args: &[Arg]| -> anyhow::Result<String> {
        let each = args.iter().map(|arg| match arg {
            Arg::In(name, kind) => Ok(format!("{}: {}", variable(name), rust_in(kind)?)),
            Arg::Out(name, kind) => Ok(format!("{}: {}", variable(name), rust_scalar(kind)?)),
            Arg::InOut(name, _) | Arg::Count(name, _) => {
                anyhow::bail!("{name} is not a plain value")
            }
        });
        Ok(each.collect::<anyhow::Result<Vec<_>>>()?.join(", "))
    };
    let c_name = function.c.as_deref().unwrap_or_default();
    let kind = match result {
        CResult::Status if c_name.starts_with("hi_mpi_") => "media_status".to_owned(),
        CResult::Status => "status".to_owned(),
        CResult::Nothing => "nothing".to_owned(),
        CResult::Value(Type::Text { .. }) => "value(CText)".to_owned(),
        CResult::Value(kind) => format!("value({})", rust_scalar(kind)?),
    };
    Ok(Some(format!(
        "    {}_{} = {} {c_name} [{}] ({}) [{}] {kind};\n",
        module.name,
        function.name,
        if function.waits { "waits" } else { "returns" },
        list(&args[..before])?,
        list(parameters)?,
        list(&args[args.len() - after..])?,
    )))
}

fn wrapper(
    text: &mut String,
    module: &Module,
    function: &Function,
    api: &Api,
) -> anyhow::Result<()> {
    let head = format!(
        "\nfn {}_{}<'py>(call: &Args<'py>) -> Answer<'py> {{\n",
        module.name, function.name
    );
    match &function.body {
        Body::Manual(_) => return Ok(()),
        Body::Unsupported(signature) => {
            text.push_str(&head);
            let (most, least) = arity(function);
            if most > 0 {
                writeln!(text, "    call.expect({least}, {most})?;")?;
            }
            for (index, (_, kind, _)) in signature.params.iter().enumerate() {
                let kind = match kind.as_str() {
                    "int" => "u64",
                    "str" => "CString",
                    "Callable[..., object]" => "AnyCallable",
                    other => anyhow::bail!("no parser for {other} in an unsupported function"),
                };
                writeln!(text, "    call.get::<{kind}>({index})?;")?;
            }
            writeln!(
                text,
                "    let ret = call.unsupported({:?});",
                function.full_name
            )?;
            let parts: Vec<&str> = signature
                .returns
                .iter()
                .map(|(name, kind)| match (name.as_str(), kind.as_str()) {
                    ("ret", _) => "&ret",
                    (_, "str") => "&\"\"",
                    _ => "&0_u64",
                })
                .collect();
            if let [one] = parts.as_slice() {
                // A bare value cannot carry the code.
                let keep = if *one == "&ret" {
                    ""
                } else {
                    "    let _ = ret;\n"
                };
                writeln!(text, "{keep}    call.one({one})\n}}")?;
            } else {
                writeln!(text, "    call.many(&[{}])\n}}", parts.join(", "))?;
            }
        }
        Body::Call {
            args,
            result,
            echo,
            checks,
        } => {
            text.push_str(&head);
            let call = Call {
                args,
                result,
                echo: echo.as_deref(),
                checks,
            };
            call_body(text, function, &call, api)?;
        }
    }
    Ok(())
}

fn arity(function: &Function) -> (usize, usize) {
    let params = function.params();
    (
        params.len(),
        params.iter().filter(|(_, _, optional)| !optional).count(),
    )
}

/// What a wrapper that calls is made from.
struct Call<'a> {
    args: &'a [Arg],
    result: &'a CResult,
    echo: Option<&'a str>,
    checks: &'a [Check],
}

/// Returns the expression that parses a structure, if an argument is one.
fn parsed(kind: &Type, index: usize) -> Option<String> {
    let (parser, name) = match kind {
        Type::Structure(name) => ("Structure::parse", name),
        Type::ByValue(name) => ("Structure::parse_value", name),
        Type::Pointers(name) => ("StructurePointers::parse", name),
        Type::List(inner) => match &**inner {
            Type::Structure(name) => ("StructureList::parse", name),
            _ => return None,
        },
        _ => return None,
    };
    let layout = structures::layout(name);
    Some(format!("{parser}(&call.object({index})?, &{layout})?"))
}

fn call_body(
    text: &mut String,
    function: &Function,
    call: &Call<'_>,
    api: &Api,
) -> anyhow::Result<()> {
    let Call {
        args,
        result,
        echo,
        checks,
    } = *call;
    let c_name = function.c.as_deref().unwrap_or_default();
    // The codes of the second interface of images and video are documented as numbers without a sign.
    let is_media = *result == CResult::Status && c_name.starts_with("hi_mpi_");
    let (most, least) = arity(function);
    if most > 0 {
        writeln!(text, "    call.expect({least}, {most})?;")?;
    }
    let inputs = args.iter().filter_map(|arg| match arg {
        Arg::In(name, kind) => Some((name, kind, "")),
        Arg::InOut(name, kind) => Some((name, kind, "mut ")),
        Arg::Out(..) | Arg::Count(..) => None,
    });
    for (index, (name, kind, mutable)) in inputs.enumerate() {
        if let Some(parsed) = parsed(kind, index) {
            writeln!(text, "    let {mutable}{} = {parsed};", variable(name))?;
            continue;
        }
        let get = if *kind == (Type::Text { optional: true }) {
            "get_or_none"
        } else {
            "get"
        };
        writeln!(
            text,
            "    let {} = call.{get}::<{}>({index})?;",
            variable(name),
            rust_in(kind)?
        )?;
    }
    let mut guards: Vec<(String, String)> = Vec::new();
    for check in checks {
        let (left, right) = (quantity(&check.left), quantity(&check.right));
        let sign = if check.equal { "!=" } else { ">" };
        guards.push((
            format!("{left} {sign} {right}"),
            format!("{}: {} does not hold", function.full_name, check.text),
        ));
    }
    for arg in args {
        let Arg::Out(name, kind) = arg else { continue };
        let name = variable(name);
        match kind {
            Type::Record(record) => {
                writeln!(text, "    let mut {name} = Record::<{record}>::zeroed();")?
            }
            Type::Structure(of) => {
                let layout = structures::layout(of);
                writeln!(text, "    let mut {name} = Structure::zeroed(&{layout});")?
            }
            Type::Buffer(limit) => {
                let limit = if limit.starts_with(|c: char| c.is_ascii_digit()) {
                    limit.clone()
                } else {
                    format!("wide({})", variable(limit))
                };
                writeln!(text, "    let mut {name} = TextBuffer::new({limit});")?;
                guards.push((
                    format!("{name}.is_refused()"),
                    format!(
                        "{}: the length asked for is over the limit of one MiB",
                        function.full_name
                    ),
                ));
            }
            _ => writeln!(
                text,
                "    let mut {name} = {}::default();",
                rust_scalar(kind)?
            )?,
        }
    }
    let (types, values): (Vec<String>, Vec<String>) = args
        .iter()
        .map(|arg| c_argument(arg, api))
        .collect::<anyhow::Result<Vec<_>>>()?
        .into_iter()
        .unzip();
    let (c_result, missing) = match result {
        CResult::Status => ("i32".to_string(), "NOT_SUPPORTED"),
        CResult::Nothing => ("()".to_string(), "()"),
        CResult::Value(Type::Text { .. }) => ("CText".to_string(), "CText::default()"),
        CResult::Value(kind) => (rust_scalar(kind)?, "Default::default()"),
    };
    let how = if function.waits {
        "call.waits"
    } else {
        "call.returns"
    };
    let the_call = format!(
        "c_call!({how} {c_name}({}) -> {c_result}, [{}], or {missing})",
        types.join(", "),
        values.join(", ")
    );
    let binding = if *result == CResult::Nothing {
        ""
    } else {
        "let ret = "
    };
    if guards.is_empty() {
        writeln!(text, "    {binding}{the_call};")?;
    } else {
        ensure!(
            *result == CResult::Status,
            "checks need a code to answer with"
        );
        write!(text, "    {binding}")?;
        let refusal = |sentence: &str| {
            let refused = format!("call.refuse({sentence:?})");
            match is_media {
                true => {
                    let (code, _) = media_code(api, c_name, Some(ILLEGAL_PARAM));
                    format!("{refused};\n        {code}")
                }
                false => refused,
            }
        };
        for (condition, sentence) in &guards {
            write!(
                text,
                "if {condition} {{\n        {}\n    }} else ",
                refusal(sentence)
            )?;
        }
        writeln!(text, "{{\n        {the_call}\n    }};")?;
    }
    match result {
        CResult::Nothing => writeln!(text, "    call.none()\n}}")?,
        CResult::Value(_) => writeln!(text, "    call.one(&ret)\n}}")?,
        CResult::Status => {
            let mut parts: Vec<String> = echo
                .iter()
                .map(|name| format!("&{}", variable(name)))
                .collect();
            for arg in args {
                let (Arg::Out(name, kind) | Arg::InOut(name, kind)) = arg else {
                    continue;
                };
                let name = variable(name);
                parts.push(match kind {
                    Type::Structure(_) => format!("&{name}.described(ret)"),
                    Type::Record(_) => format!("&{name}.described(ret)"),
                    Type::Buffer(_) => format!("&{name}.text(ret)"),
                    _ => format!("&{name}"),
                });
            }
            let code = match is_media {
                true => "&media_code(ret)",
                false => "&ret",
            };
            if parts.is_empty() {
                writeln!(text, "    call.one({code})\n}}")?;
            } else {
                writeln!(text, "    call.many(&[{}, {code}])\n}}", parts.join(", "))?;
            }
        }
    }
    Ok(())
}

fn quantity(quantity: &Quantity) -> String {
    match quantity {
        Quantity::Count(name) => format!("{}.count()", variable(name)),
        Quantity::Sum(name) => format!("sum(&{})", variable(name)),
        Quantity::Value(name) => format!("wide({})", variable(name)),
    }
}

/// The type of an argument in the C function, and the expression that is passed.
fn c_argument(arg: &Arg, api: &Api) -> anyhow::Result<(String, String)> {
    Ok(match arg {
        Arg::In(name, kind) => {
            let name = variable(name);
            match kind {
                Type::Text { optional: false } => {
                    ("*const c_char".to_string(), format!("{name}.as_ptr()"))
                }
                Type::Text { optional: true } => {
                    ("*const c_char".to_string(), format!("or_null(&{name})"))
                }
                Type::Structure(_) | Type::Pointers(_) | Type::Kernel | Type::Unread => {
                    ("Pointer".to_string(), format!("{name}.pointer()"))
                }
                Type::ByValue(of) => {
                    let of = structures::find(api, of)?;
                    ensure!(
                        of.size > 16 && of.size % 8 == 0,
                        "{} is too small to be passed in memory",
                        of.name
                    );
                    (
                        format!("ByValue<{}>", of.size / 8),
                        format!("{name}.value()"),
                    )
                }
                Type::List(inner) => match **inner {
                    Type::Structure(_) => ("Pointer".to_string(), format!("{name}.pointer()")),
                    Type::Text { .. } => (
                        "*const *const c_char".to_string(),
                        format!("{name}.as_ptr()"),
                    ),
                    ref inner => (
                        format!("*const {}", rust_in(inner)?),
                        format!("{name}.as_ptr()"),
                    ),
                },
                Type::Record(_) => ("Pointer".to_string(), format!("{name}.pointer()")),
                other => (rust_scalar(other)?, name),
            }
        }
        Arg::InOut(name, _) => (
            "Pointer".to_string(),
            format!("{}.pointer_mut()", variable(name)),
        ),
        Arg::Out(name, kind) => {
            let name = variable(name);
            match kind {
                Type::Structure(_) => ("Pointer".to_string(), format!("{name}.pointer_mut()")),
                Type::Record(_) | Type::Buffer(_) => {
                    ("Pointer".to_string(), format!("{name}.pointer()"))
                }
                other => (
                    format!("*mut {}", rust_scalar(other)?),
                    format!("&raw mut {name}"),
                ),
            }
        }
        Arg::Count(name, kind) => (
            rust_scalar(kind)?,
            format!("saturated({}.count())", variable(name)),
        ),
    })
}

/// What a parameter is parsed into.
fn rust_in(kind: &Type) -> anyhow::Result<String> {
    Ok(match kind {
        Type::Text { .. } => "CString".to_string(),
        Type::List(inner) => match **inner {
            Type::Text { .. } => "TextList".to_string(),
            ref inner => format!("Vec<{}>", rust_in(inner)?),
        },
        Type::Pair => "[i64; 2]".to_string(),
        Type::Record(name) => format!("{name}In"),
        Type::Kernel => "Kernel".to_string(),
        Type::Unread => "Unread".to_string(),
        other => rust_scalar(other)?,
    })
}

fn rust_scalar(kind: &Type) -> anyhow::Result<String> {
    Ok(match kind {
        Type::Handle | Type::Address => "Pointer".to_string(),
        Type::Size => "usize".to_string(),
        Type::Int(name) | Type::Float(name) => (*name).to_string(),
        Type::Text { .. }
        | Type::List(_)
        | Type::Pair
        | Type::Buffer(_)
        | Type::Record(_)
        | Type::Structure(_)
        | Type::ByValue(_)
        | Type::Pointers(_)
        | Type::Kernel
        | Type::Unread => {
            anyhow::bail!("a scalar is needed here")
        }
    })
}

/// A parameter's name as a variable: `type` is a word of Rust.
fn variable(name: &str) -> String {
    match name {
        "type" | "fn" | "in" | "ref" | "move" | "match" | "loop" | "call" | "ret" => {
            format!("{name}_")
        }
        _ => name.to_string(),
    }
}
