//! Writes the table as a plan for the Python runner, which drives it through the `acl` module.
//!
//! Some of what a C program can say, pyACL cannot: a null pointer for a result, a function that it does not have.
//! Such a case is left out with its reason; it is counted, and never as passed.

use serde_json::{Value, json};

use crate::api::{Api, Constant, PythonArg, PythonFunction, PythonResult};
use crate::language::{Action, CALLBACKS, Call, Condition, Expr, Step};
use crate::table::{Case, FileSpec, Kind};

/// The runner, a Python program that takes the plan's path.
pub const RUNNER: &str = include_str!("runner.py");

/// Why a case is not one for Python.
type NotForPython = String;

/// Returns the plan: one entry per case, with its steps or the reason why there are none.
pub fn plan(api: &Api, cases: &[Case]) -> Value {
    cases
        .iter()
        .map(|case| {
            let stubs = case.stubs(api).join(", ");
            let head = json!({
                "id": case.id,
                "kind": match case.kind { Kind::Works => "works", Kind::Refused => "refused" },
                "waits_for": stubs,
                "models": case.models(),
                "env": case.env,
                "files": case.files.iter().map(|(name, file)| (name.clone(), file_spec(file))).collect::<serde_json::Map<_, _>>(),
            });
            let mut entry = head;
            match steps(api, case) {
                Ok(steps) => entry["steps"] = steps.into(),
                Err(reason) => entry["not_for_python"] = reason.into(),
            }
            entry
        })
        .collect()
}

fn file_spec(file: &FileSpec) -> Value {
    match file {
        FileSpec::Text(text) => json!({"text": text}),
        FileSpec::Repeat(text, count) => json!({"repeat": text, "count": count}),
        FileSpec::Folder => json!({"dir": true}),
        FileSpec::Model { model, cut, flip } => json!({"model": model, "cut": cut, "flip": flip}),
    }
}

fn steps(api: &Api, case: &Case) -> Result<Vec<Value>, NotForPython> {
    if !case.is_for("python") {
        return Err("the table excludes Python".to_string());
    }
    case.steps
        .iter()
        .map(|step| self::step(api, step))
        .collect()
}

fn step(api: &Api, step: &Step) -> Result<Value, NotForPython> {
    let mut entry = match &step.action {
        Action::Call(call) => self::call(api, call)?,
        Action::Check(condition) => {
            json!({"do": "check", "condition": self::condition(api, condition)?})
        }
        Action::Let { name, value } => {
            json!({"do": "let", "name": name, "value": expr(api, value)?})
        }
        Action::Do { name, args } => {
            json!({"do": "helper", "name": name, "args": exprs(api, args)?})
        }
        Action::Join(thread) => json!({"do": "join", "other": thread}),
        Action::Declare { ty, .. } => return Err(format!("it fills a {ty} itself")),
        Action::Set { .. } => return Err("it fills a structure itself".to_string()),
    };
    entry["text"] = step.text.clone().into();
    entry["thread"] = step.thread.into();
    entry["background"] = step.background.into();
    Ok(entry)
}

fn call(api: &Api, call: &Call) -> Result<Value, NotForPython> {
    let name = &call.function;
    let function = api
        .python
        .get(name)
        .filter(|function| !function.unsupported)
        .ok_or_else(|| format!("pyACL has no {name}"))?;
    let (args, outs) = arguments(api, function, call)?;
    let result = match function.result {
        PythonResult::Code => "code",
        PythonResult::Nothing => "nothing",
        PythonResult::Value => "value",
    };
    // The hand-written getter of the text returns a value.
    let result = if name == "aclGetRecentErrMsg" {
        "value"
    } else {
        result
    };
    Ok(json!({
        "do": "call",
        "function": function.name,
        "args": args,
        "outs": outs,
        "echo": echo(function),
        "result": result,
        "assign": call.assign,
        "answer": call.answer.as_ref().map(|answer| expr(api, answer)).transpose()?,
        "until": call.until.as_ref().map(|until| condition(api, until)).transpose()?,
    }))
}

/// Returns the position of the argument that comes back as first value.
fn echo(function: &PythonFunction) -> Option<usize> {
    let wanted = function.echo.as_ref()?;
    function
        .args
        .iter()
        .filter_map(|arg| match arg {
            PythonArg::In { name, .. } => Some(name),
            _ => None,
        })
        .position(|name| name == wanted)
}

/// Returns what Python passes, and the variables that get its results.
fn arguments(
    api: &Api,
    function: &PythonFunction,
    call: &Call,
) -> Result<(Vec<Value>, Vec<String>), NotForPython> {
    if function.manual {
        return hand_written(api, call);
    }
    let (mut args, mut outs) = (Vec::new(), Vec::new());
    for (given, arg) in call.args.iter().zip(&function.args) {
        match arg {
            PythonArg::Out { ty } => match given {
                Expr::Out(_) if ty.starts_with("buffer") => {
                    return Err("Python makes the buffer itself".to_string());
                }
                Expr::Out(name) => outs.push(name.clone()),
                Expr::Null => return Err("Python cannot pass null for a result".to_string()),
                _ => return Err("Python allocates results itself".to_string()),
            },
            PythonArg::Count(list) => {
                let elements = function
                    .args
                    .iter()
                    .zip(&call.args)
                    .find_map(|(arg, given)| match arg {
                        PythonArg::In { name, .. } if name == list => Some(given),
                        _ => None,
                    });
                let length = match elements {
                    Some(Expr::Array(values)) => values.len() as i128,
                    Some(Expr::Null) => 0,
                    _ => return Err("Python passes a list".to_string()),
                };
                if *given != Expr::Number(length) {
                    return Err("Python counts the list itself".to_string());
                }
            }
            PythonArg::In { ty, .. } => {
                if let Some(value) = passed(api, given, ty)? {
                    args.push(value);
                }
            }
        }
    }
    Ok((args, outs))
}

/// Returns the value for a parameter; a text that is left out has none.
fn passed(api: &Api, given: &Expr, ty: &str) -> Result<Option<Value>, NotForPython> {
    let is_text = ty.starts_with("text");
    let is_list = ty.starts_with("list");
    match given {
        Expr::Out(_) => Err("Python has no structures to pass".to_string()),
        Expr::Null if ty == "text?" => Ok(None),
        Expr::Null if is_text => Err("Python cannot pass null for a text".to_string()),
        Expr::Null if is_list => Ok(Some(json!({"list": []}))),
        Expr::Array(_) if is_list => expr(api, given).map(Some),
        _ if is_list => Err("Python passes a list".to_string()),
        Expr::Array(_) => Err("Python passes no array".to_string()),
        _ if ty.starts_with(char::is_uppercase) => Err("Python passes a dict".to_string()),
        _ => expr(api, given).map(Some),
    }
}

/// The functions that pyACL's authors wrote by hand and that the table calls.
fn hand_written(api: &Api, call: &Call) -> Result<(Vec<Value>, Vec<String>), NotForPython> {
    match call.function.as_str() {
        "aclGetRecentErrMsg" => Ok((Vec::new(), Vec::new())),
        "aclrtLaunchCallback" if call.args.first() == Some(&Expr::Null) => {
            Err("Python cannot pass null for a function".to_string())
        }
        "aclrtLaunchCallback" => Ok((exprs(api, &call.args)?, Vec::new())),
        // C passes an array for the range, Python receives a list.
        "aclGetTensorDescDimRange" => {
            Ok((exprs(api, &call.args[..3])?, vec!["_range".to_string()]))
        }
        name => Err(format!("{name} is another shape in Python")),
    }
}

fn condition(api: &Api, condition: &Condition) -> Result<Value, NotForPython> {
    match condition {
        Condition::Compare(left, comparison, right) => Ok(json!({
            "left": expr(api, left)?,
            "sign": comparison.sign(),
            "right": expr(api, right)?,
        })),
        Condition::Holds(helper) => Ok(json!({"holds": expr(api, helper)?})),
    }
}

fn exprs(api: &Api, values: &[Expr]) -> Result<Vec<Value>, NotForPython> {
    values.iter().map(|value| expr(api, value)).collect()
}

fn expr(api: &Api, value: &Expr) -> Result<Value, NotForPython> {
    Ok(match value {
        Expr::Number(number) => match i64::try_from(*number) {
            Ok(number) => json!({"number": number}),
            Err(_) => json!({"number": u64::try_from(*number).unwrap_or(u64::MAX)}),
        },
        Expr::Real(digits) => json!({"real": digits}),
        Expr::Text(text) => json!({"text": text}),
        Expr::Null => json!({"null": true}),
        Expr::Name(name) => match api.constants.get(name) {
            Some(Constant::Number(number)) => json!({"number": number}),
            Some(Constant::Text(text)) => json!({"text": text}),
            None if matches!(name.as_str(), "INFINITY" | "NAN") => {
                json!({"real": if name == "NAN" { "nan" } else { "inf" }})
            }
            None if CALLBACKS.contains(&name.as_str()) => json!({"callback": name}),
            None => json!({"name": name}),
        },
        Expr::Out(_) => return Err("Python has no pointers to variables".to_string()),
        Expr::Field(inner, field) => json!({"field": python_key(field), "of": expr(api, inner)?}),
        Expr::Index(inner, index) => json!({"index": expr(api, index)?, "of": expr(api, inner)?}),
        Expr::Helper(name, args) => json!({"helper": name, "args": exprs(api, args)?}),
        Expr::Binary(left, sign, right) => {
            json!({"sign": sign.to_string(), "left": expr(api, left)?, "right": expr(api, right)?})
        }
        Expr::Negative(inner) => json!({"negative": expr(api, inner)?}),
        Expr::Array(values) => json!({"list": exprs(api, values)?}),
    })
}

/// The one member of the structures that pyACL spells otherwise.
fn python_key(field: &str) -> &str {
    match field {
        "pageSize" => "page_size",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned() -> Vec<Value> {
        let root = crate::root();
        let api = Api::read(&root).unwrap();
        let table = crate::table::read(&root, &api).unwrap();
        let Value::Array(entries) = plan(&api, &table) else {
            panic!("no list");
        };
        entries
    }

    fn entry(id: &str) -> Value {
        planned()
            .into_iter()
            .find(|entry| entry["id"] == id)
            .unwrap()
    }

    #[test]
    fn results_leave_the_arguments() {
        let malloc = entry("memory.malloc")["steps"][1].clone();
        assert_eq!(malloc["function"], "acl.rt.malloc");
        assert_eq!(malloc["args"].as_array().unwrap().len(), 2);
        assert_eq!(malloc["outs"], json!(["d"]));
    }

    #[test]
    fn what_python_cannot_say_has_a_reason() {
        assert!(
            entry("stream.create.null")["not_for_python"]
                .as_str()
                .unwrap()
                .contains("null")
        );
        assert!(
            entry("host_function.runs")["not_for_python"]
                .as_str()
                .unwrap()
                .contains("no aclrtLaunchHostFunc")
        );
        assert!(entry("memory.virtual")["not_for_python"].is_string());
    }

    #[test]
    fn lists_count_themselves() {
        let create = entry("tensor_desc.create")["steps"][0].clone();
        assert_eq!(create["args"].as_array().unwrap().len(), 3);
        assert!(entry("tensor_desc.create.negative_count")["not_for_python"].is_string());
    }

    #[test]
    fn most_of_the_table_is_for_python() {
        let entries = planned();
        let runnable = entries
            .iter()
            .filter(|entry| entry["steps"].is_array())
            .count();
        assert!(runnable > 400, "{runnable}");
    }
}
