//! Writes the table as a C program: the cases as generated code, the driver by hand.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use crate::api::{Api, Constant};
use crate::language::{Action, CALLBACKS, Call, Condition, Expr, Step};
use crate::table::{Case, FileSpec, Kind, pointee};

/// The driver's files, by name.
pub const DRIVER: &[(&str, &str)] = &[
    ("driver.h", include_str!("driver.h")),
    ("driver.c", include_str!("driver.c")),
];

/// Writes the source with the cases.
///
/// # Errors
/// A step that C cannot express: the table is wrong then, since every case is one for C.
pub fn cases(api: &Api, cases: &[Case]) -> Result<String> {
    let mut source = String::from(
        "/* Generated from tests/behaviour by jumar-testkit; never edited. */\n#include \"driver.h\"\n",
    );
    let mut rows = String::new();
    for (number, case) in cases.iter().enumerate() {
        let writer = Writer { api, case, number };
        source += &writer.case()?;
        rows += &writer.row();
    }
    write!(
        source,
        "\nconst jm_case jm_cases[] = {{\n{rows}}};\nconst int jm_case_count = {};\n",
        cases.len()
    )?;
    Ok(source)
}

struct Writer<'a> {
    api: &'a Api,
    case: &'a Case,
    number: usize,
}

/// How a value is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Number,
    Real,
    Text,
}

impl Writer<'_> {
    fn case(&self) -> Result<String> {
        let number = self.number;
        let mut text = format!("\n/* {} */\n", self.case.id);
        for (name, ty) in &self.case.variables {
            writeln!(text, "static {ty} {};", self.variable(name))?;
        }
        writeln!(text, "static const jm_step steps_{number}[] = {{")?;
        for step in &self.case.steps {
            let background = step.background;
            writeln!(
                text,
                "    {{{}, {}, {background}}},",
                quote(&step.text),
                step.thread
            )?;
        }
        text += "};\n";
        if !self.case.files.is_empty() {
            writeln!(text, "static void files_{number}(void)\n{{")?;
            for (name, file) in &self.case.files {
                writeln!(text, "    {};", file_call(name, file))?;
            }
            text += "}\n";
        }
        writeln!(
            text,
            "static void run_{number}(int step)\n{{\n    switch (step) {{"
        )?;
        for (at, step) in self.case.steps.iter().enumerate() {
            writeln!(text, "    case {at}: {{")?;
            if at == 0 {
                text += &self.poison();
            }
            for line in self.step(step)?.lines() {
                writeln!(text, "        {line}")?;
            }
            text += "        break;\n    }\n";
        }
        text += "    }\n}\n";
        Ok(text)
    }

    fn row(&self) -> String {
        let case = self.case;
        let or_null = |text: String| {
            if text.is_empty() {
                "NULL".to_string()
            } else {
                quote(&text)
            }
        };
        let stubs = case.stubs(self.api).join(", ");
        let models: String = case
            .models()
            .iter()
            .map(|model| format!("{model} "))
            .collect();
        let env: String = case
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect();
        let kind = match case.kind {
            Kind::Works => "works",
            Kind::Refused => "refused",
        };
        let number = self.number;
        let files = if case.files.is_empty() {
            "NULL".to_string()
        } else {
            format!("files_{number}")
        };
        format!(
            "    {{{}, \"{kind}\", {}, {}, {}, {files}, run_{number}, steps_{number}, {}}},\n",
            quote(&case.id),
            or_null(stubs),
            or_null(models),
            or_null(env),
            case.steps.len()
        )
    }

    /// Unwritten values are unlikely answers, so that a call that writes nothing is seen.
    fn poison(&self) -> String {
        self.case
            .variables
            .iter()
            .filter(|(name, ty)| !self.api.is_pointer(ty) && !self.is_declared(name))
            .map(|(name, _)| {
                let name = self.variable(name);
                format!("        memset(&{name}, 0x5a, sizeof {name});\n")
            })
            .collect()
    }

    fn is_declared(&self, variable: &str) -> bool {
        self.case
            .steps
            .iter()
            .any(|step| matches!(&step.action, Action::Declare { name, .. } if name == variable))
    }

    fn variable(&self, name: &str) -> String {
        format!("v{}_{name}", self.number)
    }

    fn step(&self, step: &Step) -> Result<String> {
        Ok(match &step.action {
            Action::Call(call) => self.call(call)?,
            Action::Check(condition) => self.check(condition)?,
            Action::Declare { name, .. } => {
                let name = self.variable(name);
                format!("memset(&{name}, 0, sizeof {name});")
            }
            Action::Set { target, value } if self.form(value) == Form::Real => {
                format!("{} = {};", self.target(target)?, self.real(value)?)
            }
            Action::Set { target, value } => {
                let target = self.target(target)?;
                // C decides what the number becomes; a pointer field takes it through an integer of its size.
                format!(
                    "{{ __typeof__({target}) *at = &{target}; int64_t value = {}; memcpy(at, &value, sizeof *at); }}",
                    self.number(value)?
                )
            }
            Action::Let { name, value } => {
                format!("{} = {};", self.variable(name), self.maker(value)?)
            }
            Action::Do { name, args } => self.doer(name, args)?,
            Action::Join(thread) => format!("jm_join({thread});"),
        })
    }

    fn call(&self, call: &Call) -> Result<String> {
        let function = &self.api.functions[&call.function];
        let args = call
            .args
            .iter()
            .zip(&function.params)
            .map(|(arg, param)| self.argument(arg, &param.ty))
            .collect::<Result<Vec<_>>>()?
            .join(", ");
        let invoke = format!("{}({args})", call.function);
        let mut text = String::new();
        if function.ret == "void" {
            if call.answer.is_some() || call.until.is_some() {
                bail!("{} answers nothing", call.function);
            }
            return Ok(format!("{invoke};"));
        }
        if let Some(until) = &call.until {
            text += "bool reached = false;\njm_start_time();\ndo {\n";
            writeln!(text, "    {} answer = {invoke};", function.ret)?;
            match &call.answer {
                Some(answer) => {
                    writeln!(
                        text,
                        "    {}",
                        self.expect("answer", &function.ret, answer)?
                    )?;
                }
                None => text += "    (void)answer;\n",
            }
            writeln!(text, "    reached = {};", self.holds(until)?)?;
            text += "    if (!reached) {\n        jm_pause();\n    }\n} while (!reached && jm_still_time());\n";
            text += "if (!reached) {\n    jm_fail(\"it to hold at last\", \"it not in time\");\n}";
            return Ok(text);
        }
        writeln!(text, "{} answer = {invoke};", function.ret)?;
        match &call.answer {
            Some(answer) => writeln!(text, "{}", self.expect("answer", &function.ret, answer)?)?,
            None => text += "(void)answer;\n",
        }
        if let Some(name) = &call.assign {
            writeln!(text, "{} = answer;", self.variable(name))?;
        }
        Ok(text)
    }

    fn expect(&self, got: &str, ty: &str, expected: &Expr) -> Result<String> {
        Ok(match self.form(expected) {
            Form::Text => format!("jm_expect_text({got}, {});", self.text(expected)?),
            Form::Real => format!("jm_expect_real((double){got}, {});", self.real(expected)?),
            Form::Number => format!(
                "jm_expect_int({}, {});",
                self.as_number(got, ty),
                self.number(expected)?
            ),
        })
    }

    fn check(&self, condition: &Condition) -> Result<String> {
        let Condition::Compare(left, comparison, right) = condition else {
            return Ok(format!("(void){};", self.holds(condition)?));
        };
        let sign = comparison.sign();
        Ok(match self.pair(left, right) {
            Form::Text => {
                let (left, right) = (self.text(left)?, self.text(right)?);
                format!(
                    "const char *left = {left}, *right = {right};\n\
                     jm_compare_text(left, \"{sign}\", right, {});",
                    text_comparison("left", sign, "right")?
                )
            }
            Form::Real => format!(
                "double left = {}, right = {};\njm_compare_real(left, \"{sign}\", right, left {sign} right);",
                self.real(left)?,
                self.real(right)?
            ),
            Form::Number => format!(
                "int64_t left = {}, right = {};\njm_compare_int(left, \"{sign}\", right, left {sign} right);",
                self.number(left)?,
                self.number(right)?
            ),
        })
    }

    fn holds(&self, condition: &Condition) -> Result<String> {
        match condition {
            Condition::Holds(Expr::Helper(name, args)) => match (name.as_str(), args.as_slice()) {
                ("same", [memory, value, size]) => Ok(format!(
                    "jm_same({}, (int)({}), {})",
                    self.pointer(memory)?,
                    self.number(value)?,
                    self.number(size)?
                )),
                ("contains", [text, part]) => Ok(format!(
                    "jm_contains({}, {})",
                    self.text(text)?,
                    self.text(part)?
                )),
                _ => bail!("{name} answers neither yes nor no"),
            },
            Condition::Holds(_) => bail!("a condition is missing"),
            Condition::Compare(left, comparison, right) => {
                let sign = comparison.sign();
                match self.pair(left, right) {
                    Form::Text => text_comparison(&self.text(left)?, sign, &self.text(right)?),
                    Form::Real => Ok(format!(
                        "({} {sign} {})",
                        self.real(left)?,
                        self.real(right)?
                    )),
                    Form::Number => Ok(format!(
                        "({} {sign} {})",
                        self.number(left)?,
                        self.number(right)?
                    )),
                }
            }
        }
    }

    fn pair(&self, left: &Expr, right: &Expr) -> Form {
        match (self.form(left), self.form(right)) {
            (Form::Text, _) | (_, Form::Text) => Form::Text,
            (Form::Real, _) | (_, Form::Real) => Form::Real,
            (Form::Number, Form::Number) => Form::Number,
        }
    }

    fn form(&self, expr: &Expr) -> Form {
        match expr {
            Expr::Text(_) => Form::Text,
            Expr::Real(_) => Form::Real,
            Expr::Helper(name, _) if matches!(name.as_str(), "text" | "file" | "model") => {
                Form::Text
            }
            Expr::Helper(name, _) if name == "f32" => Form::Real,
            Expr::Name(name) if matches!(name.as_str(), "INFINITY" | "NAN") => Form::Real,
            Expr::Name(name) if matches!(self.api.constants.get(name), Some(Constant::Text(_))) => {
                Form::Text
            }
            Expr::Name(name) => match self.case.variables.get(name) {
                Some(ty) if is_real(ty) => Form::Real,
                _ => Form::Number,
            },
            Expr::Negative(inner) => self.form(inner),
            Expr::Field(..) | Expr::Index(..) => match self.type_of(expr) {
                Some(ty) if is_real(&ty) => Form::Real,
                _ => Form::Number,
            },
            Expr::Number(_)
            | Expr::Null
            | Expr::Out(_)
            | Expr::Helper(..)
            | Expr::Binary(..)
            | Expr::Array(_) => Form::Number,
        }
    }

    /// The C type of an assignment's target, if the data have it.
    fn type_of(&self, target: &Expr) -> Option<String> {
        match target {
            Expr::Name(name) => self.case.variables.get(name).cloned(),
            Expr::Field(inner, field) => {
                // A union inside a structure has its members under its own name.
                let member = |of: &Expr, path: &str| {
                    let of = self.type_of(of)?;
                    self.api.members.get(&format!("{of}.{path}")).cloned()
                };
                member(inner, field).or_else(|| match &**inner {
                    Expr::Field(outer, union) => member(outer, &format!("{union}.{field}")),
                    _ => None,
                })
            }
            Expr::Index(inner, _) => {
                let ty = self.type_of(inner)?;
                ty.split_once('[')
                    .map(|(element, _)| element.trim().to_owned())
            }
            _ => None,
        }
    }

    fn argument(&self, arg: &Expr, ty: &str) -> Result<String> {
        if let Expr::Out(name) = arg {
            let address = format!("&{}", self.variable(name));
            // C does not turn `T **` into `const T **` by itself.
            return Ok(
                match ty.starts_with("const ") && ty.replace("const ", "").ends_with("**") {
                    true => format!("({ty})(void *){address}"),
                    false => address,
                },
            );
        }
        if let Expr::Name(name) = arg
            && CALLBACKS.contains(&name.as_str())
        {
            // One function stands in for callbacks of several types; what it does not read does not matter to it.
            return Ok(format!("({ty})(uintptr_t){name}"));
        }
        if let Expr::Name(name) = arg
            && self.case.variables.get(name).is_some_and(|of| of == ty)
            && !self.api.is_pointer(ty)
        {
            // A structure by value, among others.
            return Ok(self.variable(name));
        }
        if let Expr::Array(values) = arg {
            let element = match pointee(ty) {
                Some(element) => element,
                None => bail!("{ty} is not an array"),
            };
            let values = values
                .iter()
                .map(|value| self.argument(value, &element))
                .collect::<Result<Vec<_>>>()?;
            let array = format!("({element}[]){{{}}}", values.join(", "));
            // C does not turn `T **` into `const T **` by itself.
            return Ok(
                match ty.starts_with("const ") && ty.replace("const ", "").ends_with("**") {
                    true => format!("({ty})(void *){array}"),
                    false => array,
                },
            );
        }
        if is_real(ty) {
            return Ok(format!("({ty}){}", self.real(arg)?));
        }
        if self.form(arg) == Form::Text {
            return self.text(arg);
        }
        let value = self.number(arg)?;
        // An array parameter is a pointer to its rows.
        if let Some((row, rest)) = ty.split_once("[]") {
            return Ok(format!("({row} (*){rest})(uintptr_t){value}"));
        }
        Ok(if self.api.is_pointer(ty) {
            format!("({ty})(uintptr_t){value}")
        } else {
            format!("({ty}){value}")
        })
    }

    /// An integer of 64 bits; pointers and handles are numbers here.
    fn number(&self, expr: &Expr) -> Result<String> {
        Ok(match expr {
            Expr::Number(value) => match i64::try_from(*value) {
                Ok(value) => format!("INT64_C({value})"),
                Err(_) => format!("(int64_t)UINT64_C({value})"),
            },
            Expr::Null => "INT64_C(0)".to_string(),
            Expr::Name(name) => match self.case.variables.get(name) {
                Some(ty) => self.as_number(&self.variable(name), ty),
                None => format!("(int64_t){name}"),
            },
            Expr::Field(..) | Expr::Index(..) => format!("(int64_t){}", self.target(expr)?),
            Expr::Negative(inner) => format!("(-{})", self.number(inner)?),
            Expr::Binary(left, sign, right) => {
                format!("({} {sign} {})", self.number(left)?, self.number(right)?)
            }
            Expr::Helper(name, args) => match (name.as_str(), args.as_slice()) {
                ("counter", []) => "jm_counter()".to_string(),
                ("callback_thread", []) => "jm_callback_thread()".to_string(),
                ("process_id", []) => "(int64_t)getpid()".to_string(),
                ("recorded", [index]) => format!("jm_recorded({})", self.number(index)?),
                ("length", [memory]) => format!("jm_length({})", self.pointer(memory)?),
                ("i64", [memory, index]) => {
                    format!("jm_i64({}, {})", self.pointer(memory)?, self.number(index)?)
                }
                ("tid", [Expr::Name(thread)]) => {
                    format!("jm_tid({})", thread.trim_start_matches('T'))
                }
                _ => bail!("{name} returns no number"),
            },
            Expr::Real(_) | Expr::Text(_) | Expr::Out(_) | Expr::Array(_) => {
                bail!("{expr:?} is not a number")
            }
        })
    }

    fn as_number(&self, value: &str, ty: &str) -> String {
        if self.api.is_pointer(ty) {
            format!("(int64_t)(uintptr_t){value}")
        } else {
            format!("(int64_t){value}")
        }
    }

    fn real(&self, expr: &Expr) -> Result<String> {
        Ok(match expr {
            Expr::Real(digits) => digits.clone(),
            Expr::Negative(inner) => format!("(-{})", self.real(inner)?),
            Expr::Name(name) if matches!(name.as_str(), "INFINITY" | "NAN") => {
                format!("(double){name}")
            }
            Expr::Name(name) if self.form(expr) == Form::Real => {
                format!("(double){}", self.variable(name))
            }
            Expr::Field(..) | Expr::Index(..) if self.form(expr) == Form::Real => {
                format!("(double){}", self.target(expr)?)
            }
            Expr::Helper(name, args) => match (name.as_str(), args.as_slice()) {
                ("f32", [memory, index]) => {
                    format!("jm_f32({}, {})", self.pointer(memory)?, self.number(index)?)
                }
                _ => format!("(double){}", self.number(expr)?),
            },
            other => format!("(double){}", self.number(other)?),
        })
    }

    fn text(&self, expr: &Expr) -> Result<String> {
        Ok(match expr {
            Expr::Text(text) => quote(text),
            Expr::Null => "(const char *)NULL".to_string(),
            Expr::Name(name) if self.case.variables.contains_key(name) => {
                format!("(const char *){}", self.variable(name))
            }
            Expr::Name(name) => name.clone(),
            Expr::Field(..) | Expr::Index(..) => format!("(const char *){}", self.target(expr)?),
            Expr::Helper(name, args) => match (name.as_str(), args.as_slice()) {
                ("text", [inner]) => self.text(inner)?,
                ("file", [inner]) => format!("jm_file({})", self.text(inner)?),
                ("model", [inner]) => format!("jm_model({})", self.text(inner)?),
                _ => bail!("{name} returns no text"),
            },
            _ => bail!("a text is missing"),
        })
    }

    fn pointer(&self, expr: &Expr) -> Result<String> {
        Ok(format!("(void *)(uintptr_t){}", self.number(expr)?))
    }

    fn target(&self, expr: &Expr) -> Result<String> {
        Ok(match expr {
            Expr::Name(name) => self.variable(name),
            Expr::Field(inner, field) => format!("{}.{field}", self.target(inner)?),
            Expr::Index(inner, index) => {
                format!("{}[{}]", self.target(inner)?, self.number(index)?)
            }
            _ => bail!("a variable is missing"),
        })
    }

    fn maker(&self, value: &Expr) -> Result<String> {
        let Expr::Helper(name, args) = value else {
            bail!("a helper is missing");
        };
        Ok(match (name.as_str(), args.as_slice()) {
            ("host" | "pages", [size]) => format!("jm_{name}({})", self.number(size)?),
            ("cstring" | "read", [text]) => format!("jm_{name}({})", self.text(text)?),
            _ => bail!("{name} makes nothing"),
        })
    }

    fn doer(&self, name: &str, args: &[Expr]) -> Result<String> {
        Ok(match (name, args) {
            ("fill", [memory, value, size]) => format!(
                "jm_fill({}, (int)({}), {});",
                self.pointer(memory)?,
                self.number(value)?,
                self.number(size)?
            ),
            ("put_f32", [memory, Expr::Array(values)]) => {
                let reals = values
                    .iter()
                    .map(|value| self.real(value))
                    .collect::<Result<Vec<_>>>()?;
                format!(
                    "jm_put_f32({}, (const double[]){{{}}}, {});",
                    self.pointer(memory)?,
                    reals.join(", "),
                    values.len()
                )
            }
            ("put_i64", [memory, Expr::Array(values)]) => {
                let numbers = values
                    .iter()
                    .map(|value| self.number(value))
                    .collect::<Result<Vec<_>>>()?;
                format!(
                    "jm_put_i64({}, (const int64_t[]){{{}}}, {});",
                    self.pointer(memory)?,
                    numbers.join(", "),
                    values.len()
                )
            }
            ("release_held" | "await_held", []) => format!("jm_{name}();"),
            ("await_count", [count]) => format!("jm_await_count({});", self.number(count)?),
            _ => bail!("{name} is not a helper"),
        })
    }
}

fn text_comparison(left: &str, sign: &str, right: &str) -> Result<String> {
    match sign {
        "==" => Ok(format!("jm_equal({left}, {right})")),
        "!=" => Ok(format!("!jm_equal({left}, {right})")),
        _ => bail!("texts are equal or not"),
    }
}

fn file_call(name: &str, file: &FileSpec) -> String {
    let name = quote(name);
    match file {
        FileSpec::Text(text) => format!("jm_make_file({name}, {}, {})", quote(text), text.len()),
        FileSpec::Repeat(text, count) => {
            format!(
                "jm_make_repeat({name}, {}, {}, {count})",
                quote(text),
                text.len()
            )
        }
        FileSpec::Folder => format!("jm_make_folder({name})"),
        FileSpec::Model { model, cut, flip } => {
            let flip = flip.map_or("-1".to_string(), |at| at.to_string());
            format!("jm_make_model({name}, {}, {cut}, {flip})", quote(model))
        }
    }
}

/// Returns a C string literal.
fn quote(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' => literal += "\\\"",
            b'\\' => literal += "\\\\",
            b'\n' => literal += "\\n",
            // Three octal digits end by themselves, whatever follows; a ? could begin a trigraph.
            0..=31 | 127..=255 | b'?' => literal += &format!("\\{byte:03o}"),
            _ => literal.push(char::from(byte)),
        }
    }
    literal.push('"');
    literal
}

/// Returns whether numbers of a C type are floating-point numbers.
fn is_real(ty: &str) -> bool {
    matches!(ty, "float" | "double" | "hi_double")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_survive_every_byte() {
        assert_eq!(quote("a\"b\\\n\u{1}2"), "\"a\\\"b\\\\\\n\\0012\"");
        assert_eq!(quote("ä"), "\"\\303\\244\"");
    }

    #[test]
    fn every_case_of_the_table_becomes_c() {
        let root = crate::root();
        let api = Api::read(&root).unwrap();
        let table = crate::table::read(&root, &api).unwrap();
        let source = cases(&api, &table).unwrap();
        assert!(source.contains("aclrtDestroyStream((aclrtStream)(uintptr_t)"));
        assert_eq!(source.matches("static void run_").count(), table.len());
    }
}
