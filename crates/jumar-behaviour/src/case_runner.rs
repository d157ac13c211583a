//! One case in this process: its variables, its threads, its steps.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result};
use jumar_testkit::api::{Api, Constant};
use jumar_testkit::language::{Action, Call, Comparison, Condition, Expr};
use jumar_testkit::table::{Case, FileSpec, pointee};

use crate::callbacks;
use crate::generated::calls::{CALLS, Player};
use crate::generated::layout::{SCALARS, STRUCTURES};
use crate::himpi;
use crate::images;
use crate::kernels;
use crate::manual;
use crate::raw;
use crate::raw_args::{ARRAY_BYTES, RawArgs, Stop};
use crate::structures::Structure;

/// What a variable holds before a call has written it: no likely answer.
const POISON: u8 = 0x5a;
/// The largest structures of the interface have half a megabyte and are copied a few times.
const STACK: usize = 16 << 20;

/// Why a case ends early.
#[derive(Debug)]
pub enum End {
    /// A step was not answered as the table says.
    Failed(String),
    /// A Rust program cannot say it.
    NotForRust(String),
}

impl From<anyhow::Error> for End {
    fn from(error: anyhow::Error) -> Self {
        End::Failed(format!("a driver that works, got {error:#}"))
    }
}

type Step<T> = std::result::Result<T, End>;

fn failed<T>(expected: impl std::fmt::Display, got: impl std::fmt::Display) -> Step<T> {
    Err(End::Failed(format!("{expected}, got {got}")))
}

/// A text of C, or null.
type Text = Option<Vec<u8>>;

/// How a value is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Number,
    Real,
    Text,
}

/// A variable, a field or an element: where it lies and what it is.
struct Spot {
    address: usize,
    of: String,
    lengths: Vec<usize>,
}

/// The state of a case while it runs.
pub struct CaseRunner {
    api: Api,
    case: Case,
    folder: PathBuf,
    models: PathBuf,
    variables: BTreeMap<String, usize>,
    blocks: Mutex<Vec<(usize, usize)>>,
    /// The numbers of the threads that have begun.
    threads: Mutex<BTreeMap<u32, u64>>,
}

struct Worker {
    steps: Sender<usize>,
    done: Receiver<Step<()>>,
    busy: bool,
}

impl CaseRunner {
    /// Makes the files and the variables of a case.
    ///
    /// # Errors
    /// What cannot be made.
    pub fn new(api: Api, case: Case, folder: PathBuf, models: PathBuf) -> Result<CaseRunner> {
        let mut stage = CaseRunner {
            api,
            case,
            folder,
            models,
            variables: BTreeMap::new(),
            blocks: Mutex::default(),
            threads: Mutex::default(),
        };
        for (name, file) in &stage.case.files {
            stage.make_file(name, file).with_context(|| name.clone())?;
        }
        for (name, ty) in &stage.case.variables {
            let size = stage.size_of(ty)?;
            let address = raw::keep(size, false);
            if !stage.api.is_pointer(ty) && !stage.is_declared(name) {
                raw::write(address, &vec![POISON; size]);
            }
            stage.variables.insert(name.clone(), address);
        }
        Ok(stage)
    }

    fn make_file(&self, name: &str, file: &FileSpec) -> Result<()> {
        let path = self.folder.join(name);
        match file {
            FileSpec::Text(text) => fs::write(path, text)?,
            FileSpec::Repeat(text, count) => {
                let bytes = text.bytes().cycle().take(usize::try_from(*count)?);
                fs::write(path, bytes.collect::<Vec<u8>>())?;
            }
            FileSpec::Folder => fs::create_dir(path)?,
            FileSpec::Model { model, cut, flip } => {
                let mut bytes = fs::read(self.models.join(format!("{model}.om")))?;
                let length = bytes.len() as u64;
                if let Some(at) = flip.filter(|at| *at < length) {
                    bytes[at as usize] ^= 0xff;
                }
                let left = length
                    .checked_sub(*cut)
                    .context("more is cut off than there is")?;
                bytes.truncate(left as usize);
                fs::write(path, bytes)?;
            }
        }
        Ok(())
    }

    fn is_declared(&self, variable: &str) -> bool {
        let declares =
            |action: &Action| matches!(action, Action::Declare { name, .. } if name == variable);
        self.case.steps.iter().any(|step| declares(&step.action))
    }

    /// Runs the steps. `begun` is called before each.
    ///
    /// # Errors
    /// The step that ended the case, and why.
    pub fn play(&'static self, mut begun: impl FnMut(usize)) -> Step<()> {
        let mut workers: BTreeMap<u32, Worker> = BTreeMap::new();
        for (at, step) in self.case.steps.iter().enumerate() {
            begun(at);
            if let Action::Join(thread) = &step.action {
                self.worker(&mut workers, *thread)?.wait()?;
                continue;
            }
            // tid() has a number for a thread that has done nothing yet.
            for thread in mentioned(step) {
                self.worker(&mut workers, thread)?;
            }
            if step.thread <= 1 {
                self.own_step(at)?;
                continue;
            }
            let worker = self.worker(&mut workers, step.thread)?;
            worker.wait()?;
            worker.steps.send(at).context("a thread is gone")?;
            worker.busy = true;
            if !step.background {
                worker.wait()?;
            }
        }
        Ok(())
    }

    fn worker<'a>(
        &'static self,
        workers: &'a mut BTreeMap<u32, Worker>,
        thread: u32,
    ) -> Step<&'a mut Worker> {
        let entry = match workers.entry(thread) {
            Entry::Occupied(entry) => return Ok(entry.into_mut()),
            Entry::Vacant(entry) => entry,
        };
        let (steps, todo) = channel::<usize>();
        let (answer, done) = channel();
        let (say, hear) = channel();
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || {
                let mut open = say.send(raw::this_thread()).is_ok();
                while open && let Ok(at) = todo.recv() {
                    open = answer.send(self.own_step(at)).is_ok();
                }
            })
            .context("a thread")?;
        let number = hear.recv().context("a thread")?;
        lock(&self.threads).insert(thread, number);
        Ok(entry.insert(Worker {
            steps,
            done,
            busy: false,
        }))
    }

    /// Does a step on this thread; what fails says where and what the library said.
    fn own_step(&self, at: usize) -> Step<()> {
        let step = &self.case.steps[at];
        self.step(&step.action).map_err(|end| match end {
            End::Failed(reason) => {
                let mut text = format!("step {} `{}`: expected {reason}", at + 1, step.text);
                if let Some(said) = said() {
                    let _ = write!(text, "\n      the library says: {said}");
                }
                End::Failed(text)
            }
            End::NotForRust(reason) => End::NotForRust(format!("`{}`: {reason}", step.text)),
        })
    }

    fn step(&self, action: &Action) -> Step<()> {
        match action {
            Action::Call(call) => self.call(call),
            Action::Check(condition) => self.check(condition),
            Action::Declare { name, ty } => {
                let spot = self.locate(&Expr::Name(name.clone()))?;
                raw::write(spot.address, &vec![0; self.size_of(ty)?]);
                Ok(())
            }
            Action::Set { target, value } => {
                let spot = self.locate(target)?;
                let size = self.size_of(&spot.of)?;
                let value = match self.primitive(&spot.of) {
                    "f64" => self.real(value)?.to_ne_bytes(),
                    _ => self.number(value)?.to_ne_bytes(),
                };
                let part = value.get(..size).context("a field that is not a number")?;
                raw::write(spot.address, part);
                Ok(())
            }
            Action::Let { name, value } => {
                let address = self.made(value)? as u64;
                let spot = self.locate(&Expr::Name(name.clone()))?;
                raw::write(spot.address, &address.to_ne_bytes());
                Ok(())
            }
            Action::Do { name, args } => self.doer(name, args),
            Action::Join(_) => Ok(()),
        }
    }

    fn call(&self, call: &Call) -> Step<()> {
        let end = Instant::now() + callbacks::PATIENCE;
        loop {
            self.call_once(call)?;
            match &call.until {
                None => return Ok(()),
                Some(until) if self.holds(until)? => return Ok(()),
                Some(_) if Instant::now() > end => {
                    return failed("it to hold at last", "it not in time");
                }
                Some(_) => std::thread::yield_now(),
            }
        }
    }

    fn call_once(&self, call: &Call) -> Step<()> {
        let name = &call.function;
        let function = &self.api.functions[name];
        let Some(player) = player(name) else {
            return Err(End::NotForRust(format!(
                "{name} takes what only its C shim can make sense of"
            )));
        };
        let words = call
            .args
            .iter()
            .zip(&function.params)
            .map(|(arg, param)| self.argument(arg, &param.ty))
            .collect::<Step<Vec<u64>>>()?;
        let answer = player(&RawArgs(&words)).map_err(|stop| match stop {
            Stop::NotForRust(reason) => End::NotForRust(reason),
            Stop::Broken(what) => End::Failed(format!(
                "at most as many values as the array holds, got {what}"
            )),
        })?;
        let real = matches!(function.ret.as_str(), "float" | "double");
        if let Some(expected) = &call.answer {
            let number = answer.cast_signed();
            match self.form(expected) {
                Form::Text => {
                    let got = raw::text(answer as usize).map(std::ffi::CString::into_bytes);
                    compare_texts(&got, Comparison::Equal, &self.text(expected)?)?;
                }
                Form::Real => {
                    let got = if real {
                        f64::from_bits(answer)
                    } else {
                        number as f64
                    };
                    compare(got, Comparison::Equal, self.real(expected)?)?;
                }
                Form::Number => {
                    let got = if real {
                        f64::from_bits(answer) as i64
                    } else {
                        number
                    };
                    compare(got, Comparison::Equal, self.number(expected)?)?;
                }
            }
        }
        if let Some(variable) = &call.assign {
            let spot = self.locate(&Expr::Name(variable.clone()))?;
            let bytes = match spot.of.as_str() {
                "float" => (f64::from_bits(answer) as f32).to_ne_bytes().to_vec(),
                of => answer.to_ne_bytes()[..self.size_of(of)?].to_vec(),
            };
            raw::write(spot.address, &bytes);
        }
        Ok(())
    }

    fn argument(&self, arg: &Expr, ty: &str) -> Step<u64> {
        match arg {
            Expr::Out(name) => return Ok(self.locate(&Expr::Name(name.clone()))?.address as u64),
            Expr::Name(name) => {
                if let Some(word) = callbacks::word(name) {
                    return Ok(word);
                }
                // The call takes a structure by value from its address, if it is larger than a word.
                if structure(ty).is_some_and(|by_value| by_value.size > size_of::<u64>()) {
                    return Ok(self.locate(arg)?.address as u64);
                }
            }
            Expr::Array(values) => {
                let element = pointee(ty).with_context(|| format!("{ty} is not an array"))?;
                let size = self.size_of(&element)?;
                // A call that is refused may state a longer array, which the driver reads.
                let at = raw::keep((values.len() * size).max(ARRAY_BYTES), false);
                let is_large = structure(&element).is_some_and(|of| of.size > size_of::<u64>());
                for (index, value) in values.iter().enumerate() {
                    if is_large {
                        let from = self.locate(value)?.address;
                        raw::write(at + index * size, &raw::read(from, size));
                        continue;
                    }
                    let word = self.argument(value, &element)?;
                    let bytes = match element.as_str() {
                        "float" => (f64::from_bits(word) as f32).to_ne_bytes().to_vec(),
                        _ => word.to_ne_bytes()[..size].to_vec(),
                    };
                    raw::write(at + index * size, &bytes);
                }
                return Ok(at as u64);
            }
            _ => {}
        }
        if matches!(self.primitive(ty), "f32" | "f64") {
            return Ok(self.real(arg)?.to_bits());
        }
        if self.form(arg) == Form::Text {
            return Ok(keep_text(&self.text(arg)?) as u64);
        }
        Ok(self.number(arg)?.cast_unsigned())
    }

    fn check(&self, condition: &Condition) -> Step<()> {
        let Condition::Compare(left, comparison, right) = condition else {
            return self.holds(condition).map(|_| ());
        };
        match self.pair(left, right) {
            Form::Text => compare_texts(&self.text(left)?, *comparison, &self.text(right)?),
            Form::Real => compare(self.real(left)?, *comparison, self.real(right)?),
            Form::Number => compare(self.number(left)?, *comparison, self.number(right)?),
        }
    }

    fn holds(&self, condition: &Condition) -> Step<bool> {
        match condition {
            Condition::Compare(left, comparison, right) => Ok(match self.pair(left, right) {
                Form::Text => {
                    compare_texts(&self.text(left)?, *comparison, &self.text(right)?).is_ok()
                }
                Form::Real => is(self.real(left)?, *comparison, self.real(right)?),
                Form::Number => is(self.number(left)?, *comparison, self.number(right)?),
            }),
            Condition::Holds(Expr::Helper(name, args)) => match (name.as_str(), args.as_slice()) {
                ("same", [memory, value, size]) => {
                    let wanted = self.number(value)? as u8;
                    let bytes = raw::read(self.pointer(memory)?, self.number(size)? as usize);
                    match bytes.iter().position(|byte| *byte != wanted) {
                        None => Ok(true),
                        Some(at) => failed(
                            format!("{wanted:#04x} at byte {at}"),
                            format!("{:#04x}", bytes[at]),
                        ),
                    }
                }
                ("contains", [text, part]) => {
                    let (text, part) = (shown(&self.text(text)?), shown(&self.text(part)?));
                    if text.contains(&part) {
                        Ok(true)
                    } else {
                        failed(format!("a text with \"{part}\""), text)
                    }
                }
                _ => Err(anyhow::anyhow!("{name} answers neither yes nor no").into()),
            },
            Condition::Holds(_) => Err(anyhow::anyhow!("a condition is missing").into()),
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
            Expr::Helper(name, _) => match name.as_str() {
                "text" | "file" | "model" => Form::Text,
                "f32" => Form::Real,
                _ => Form::Number,
            },
            Expr::Name(name) if matches!(name.as_str(), "INFINITY" | "NAN") => Form::Real,
            Expr::Name(name) => {
                let constant = self.api.constants.get(name);
                match self.case.variables.get(name).map(String::as_str) {
                    Some("float" | "double") => Form::Real,
                    None if matches!(constant, Some(Constant::Text(_))) => Form::Text,
                    _ => Form::Number,
                }
            }
            Expr::Negative(inner) => self.form(inner),
            Expr::Field(..) | Expr::Index(..) => {
                let real = |spot: Spot| {
                    spot.lengths.is_empty() && matches!(self.primitive(&spot.of), "f32" | "f64")
                };
                if self.locate(expr).is_ok_and(real) {
                    Form::Real
                } else {
                    Form::Number
                }
            }
            Expr::Number(_) | Expr::Null | Expr::Out(_) | Expr::Binary(..) | Expr::Array(_) => {
                Form::Number
            }
        }
    }

    /// An integer of 64 bits; pointers and handles are numbers here.
    fn number(&self, expr: &Expr) -> Step<i64> {
        Ok(match expr {
            Expr::Number(value) => *value as i64,
            Expr::Null => 0,
            Expr::Name(name) if self.variables.contains_key(name) => self.loaded(expr)?,
            Expr::Name(name) => match self.api.constants.get(name) {
                Some(Constant::Number(number)) => *number,
                _ => bail_step(format!("{name} is not a number"))?,
            },
            Expr::Field(..) | Expr::Index(..) => self.loaded(expr)?,
            Expr::Negative(inner) => self.number(inner)?.wrapping_neg(),
            Expr::Binary(left, sign, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                let value = match sign {
                    '+' => Some(left.wrapping_add(right)),
                    '-' => Some(left.wrapping_sub(right)),
                    '*' => Some(left.wrapping_mul(right)),
                    '/' => left.checked_div(right),
                    '%' => left.checked_rem(right),
                    '|' => Some(left | right),
                    _ => None,
                };
                value.with_context(|| format!("{left} {sign} {right}"))?
            }
            Expr::Helper(name, args) => match (name.as_str(), args.as_slice()) {
                ("counter", []) => callbacks::counter(),
                ("callback_thread", []) => callbacks::thread(),
                ("process_id", []) => i64::from(std::process::id()),
                ("recorded", [index]) => callbacks::recorded(self.number(index)?),
                ("length", [memory]) => {
                    let address = self.pointer(memory)?;
                    let blocks = lock(&self.blocks);
                    let block = blocks.iter().find(|(at, _)| *at == address);
                    block.context("memory of another case")?.1 as i64
                }
                ("i64", [memory, index]) => {
                    let at = self.pointer(memory)? + 8 * self.number(index)? as usize;
                    word(&raw::read(at, 8)).cast_signed()
                }
                ("tid", [Expr::Name(thread)]) => {
                    let thread: u32 = thread.trim_start_matches('T').parse().unwrap_or(1);
                    let known = lock(&self.threads).get(&thread).copied();
                    known.unwrap_or_else(raw::this_thread).cast_signed()
                }
                _ => bail_step(format!("{name} returns no number"))?,
            },
            Expr::Real(_) | Expr::Text(_) | Expr::Out(_) | Expr::Array(_) => {
                bail_step("a number is missing".to_string())?
            }
        })
    }

    fn loaded(&self, expr: &Expr) -> Step<i64> {
        let spot = self.locate(expr)?;
        if !spot.lengths.is_empty() {
            return Ok(spot.address as i64);
        }
        let bytes = raw::read(spot.address, self.size_of(&spot.of)?.min(8));
        let bits = word(&bytes).cast_signed();
        Ok(match self.primitive(&spot.of) {
            "i8" => i64::from(bits as i8),
            "i16" => i64::from(bits as i16),
            "i32" => i64::from(bits as i32),
            "f32" => f32::from_bits(bits as u32) as i64,
            "f64" => f64::from_bits(bits.cast_unsigned()) as i64,
            _ => bits,
        })
    }

    fn real(&self, expr: &Expr) -> Step<f64> {
        Ok(match expr {
            Expr::Real(digits) => digits.parse().context("a float")?,
            Expr::Negative(inner) => -self.real(inner)?,
            Expr::Name(name) if name == "INFINITY" => f64::INFINITY,
            Expr::Name(name) if name == "NAN" => f64::NAN,
            Expr::Name(_) | Expr::Field(..) | Expr::Index(..) if self.form(expr) == Form::Real => {
                let spot = self.locate(expr)?;
                if self.primitive(&spot.of) == "f32" {
                    f64::from(f32::from_bits(word(&raw::read(spot.address, 4)) as u32))
                } else {
                    f64::from_bits(word(&raw::read(spot.address, 8)))
                }
            }
            Expr::Helper(name, args) if name == "f32" && args.len() == 2 => {
                let at = self.pointer(&args[0])? + 4 * self.number(&args[1])? as usize;
                f64::from(f32::from_bits(word(&raw::read(at, 4)) as u32))
            }
            other => self.number(other)? as f64,
        })
    }

    fn text(&self, expr: &Expr) -> Step<Text> {
        Ok(match expr {
            Expr::Text(text) => Some(text.clone().into_bytes()),
            Expr::Null => None,
            Expr::Name(name) => match self.api.constants.get(name) {
                Some(Constant::Text(text)) if !self.variables.contains_key(name) => {
                    Some(text.clone().into_bytes())
                }
                _ => self.text_at(expr)?,
            },
            Expr::Field(..) | Expr::Index(..) => self.text_at(expr)?,
            Expr::Helper(name, args) => match (name.as_str(), args.as_slice()) {
                ("text", [inner]) => self.text(inner)?,
                ("file", [inner]) => {
                    let path = self.folder.join(shown(&self.text(inner)?));
                    Some(path.into_os_string().into_encoded_bytes())
                }
                ("model", [inner]) => {
                    let name = jumar_testkit::models::file_of(&shown(&self.text(inner)?));
                    Some(self.models.join(name).into_os_string().into_encoded_bytes())
                }
                _ => bail_step(format!("{name} returns no text"))?,
            },
            _ => bail_step("a text is missing".to_string())?,
        })
    }

    fn text_at(&self, expr: &Expr) -> Step<Text> {
        let address = self.number(expr)? as usize;
        Ok(raw::text(address).map(std::ffi::CString::into_bytes))
    }

    fn pointer(&self, expr: &Expr) -> Step<usize> {
        Ok(self.number(expr)? as usize)
    }

    fn locate(&self, expr: &Expr) -> Step<Spot> {
        match expr {
            Expr::Name(name) => Ok(Spot {
                address: *self.variables.get(name).with_context(|| name.clone())?,
                of: self.case.variables[name].clone(),
                lengths: Vec::new(),
            }),
            Expr::Field(..) => {
                // A union inside a structure has its members under its own name.
                let (mut path, mut inner) = (Vec::new(), expr);
                while let Expr::Field(of, name) = inner {
                    path.insert(0, name.clone());
                    inner = of;
                }
                let mut spot = self.locate(inner)?;
                while !path.is_empty() {
                    spot = self.field(&spot, &mut path)?;
                }
                Ok(spot)
            }
            Expr::Index(inner, index) => {
                let mut spot = self.locate(inner)?;
                if spot.lengths.is_empty() {
                    return bail_step(format!("a {} has no elements", spot.of));
                }
                spot.lengths.remove(0);
                let rows: usize = spot.lengths.iter().product();
                let at = self.number(index)? as usize;
                spot.address += at * rows * self.size_of(&spot.of)?;
                Ok(spot)
            }
            _ => bail_step("a variable is missing".to_string()),
        }
    }

    /// Goes down one field, or two where the first is a union written in place.
    fn field(&self, spot: &Spot, path: &mut Vec<String>) -> Step<Spot> {
        let structure =
            structure(&spot.of).with_context(|| format!("{} has no fields", spot.of))?;
        for names in 1..=path.len() {
            let name = path[..names].join(".");
            if let Some(field) = structure.fields.iter().find(|field| field.name == name) {
                path.drain(..names);
                return Ok(Spot {
                    address: spot.address + field.at,
                    of: field.of.to_string(),
                    lengths: field.lengths.to_vec(),
                });
            }
        }
        bail_step(format!("{} has no {}", spot.of, path.join(".")))
    }

    fn made(&self, value: &Expr) -> Step<usize> {
        let Expr::Helper(name, args) = value else {
            return bail_step("a helper is missing".to_string());
        };
        let (address, size) = match (name.as_str(), args.as_slice()) {
            ("host" | "pages", [size]) => {
                let size = self.number(size)? as usize;
                (raw::keep(size, name == "pages"), size)
            }
            ("cstring", [text]) => {
                let text = self.text(text)?;
                (keep_text(&text), text.map_or(0, |text| text.len() + 1))
            }
            ("read", [path]) => {
                let path = shown(&self.text(path)?);
                let bytes = fs::read(&path).with_context(|| path.clone())?;
                let address = raw::keep(bytes.len(), false);
                raw::write(address, &bytes);
                (address, bytes.len())
            }
            _ => return bail_step(format!("{name} makes nothing")),
        };
        lock(&self.blocks).push((address, size));
        Ok(address)
    }

    fn doer(&self, name: &str, args: &[Expr]) -> Step<()> {
        match (name, args) {
            ("fill", [memory, value, size]) => {
                let bytes = vec![self.number(value)? as u8; self.number(size)? as usize];
                raw::write(self.pointer(memory)?, &bytes);
            }
            ("put_f32", [memory, Expr::Array(values)]) => {
                for (at, value) in values.iter().enumerate() {
                    let bytes = (self.real(value)? as f32).to_ne_bytes();
                    raw::write(self.pointer(memory)? + 4 * at, &bytes);
                }
            }
            ("put_i64", [memory, Expr::Array(values)]) => {
                for (at, value) in values.iter().enumerate() {
                    let bytes = self.number(value)?.to_ne_bytes();
                    raw::write(self.pointer(memory)? + 8 * at, &bytes);
                }
            }
            ("release_held", []) => callbacks::release_held(),
            ("await_held", []) if !callbacks::await_held() => {
                return failed("the callback to have begun", "nothing in time");
            }
            ("await_count", [count]) if !callbacks::await_count(self.number(count)?) => {
                return failed("callbacks to have run", "nothing in time");
            }
            ("await_held" | "await_count", _) => {}
            _ => return bail_step(format!("{name} is not a helper")),
        }
        Ok(())
    }

    fn size_of(&self, ty: &str) -> Result<usize> {
        if self.api.is_pointer(ty) {
            return Ok(8);
        }
        Ok(match self.primitive(ty) {
            "u8" | "i8" => 1,
            "u16" | "i16" => 2,
            "u32" | "i32" | "f32" => 4,
            "u64" | "i64" | "usize" | "f64" | "Raw" => 8,
            other => {
                structure(other)
                    .with_context(|| format!("{other} has no size"))?
                    .size
            }
        })
    }

    /// Returns Rust's name of a C number type; other types keep theirs.
    fn primitive<'a>(&self, ty: &'a str) -> &'a str {
        match ty {
            "char" | "unsigned char" | "uint8_t" | "bool" => "u8",
            "int8_t" => "i8",
            "int16_t" => "i16",
            "uint16_t" => "u16",
            "int" | "int32_t" => "i32",
            "unsigned int" | "uint32_t" => "u32",
            "int64_t" => "i64",
            "uint64_t" => "u64",
            "size_t" => "usize",
            "float" => "f32",
            "double" => "f64",
            _ => SCALARS
                .iter()
                .find(|(name, _)| *name == ty)
                .map_or(ty, |(_, rust)| rust),
        }
    }
}

impl Worker {
    fn wait(&mut self) -> Step<()> {
        if std::mem::take(&mut self.busy) {
            self.done.recv().context("a thread is gone")??;
        }
        Ok(())
    }
}

/// The threads whose numbers a step asks for.
fn mentioned(step: &jumar_testkit::language::Step) -> Vec<u32> {
    let mut threads = Vec::new();
    step.each_expr(&mut |expr| {
        if let Expr::Helper(name, args) = expr
            && let (true, Some(Expr::Name(thread))) = (name == "tid", args.first())
            && let Ok(thread) = thread.trim_start_matches('T').parse()
            && thread > 1
        {
            threads.push(thread);
        }
    });
    threads
}

pub(crate) fn player(name: &str) -> Option<Player> {
    let mut calls = CALLS
        .iter()
        .chain(manual::CALLS)
        .chain(kernels::CALLS)
        .chain(images::CALLS)
        .chain(himpi::CALLS);
    calls
        .find(|(known, _)| *known == name)
        .map(|(_, player)| *player)
}

fn structure(name: &str) -> Option<&'static Structure> {
    STRUCTURES.iter().find(|known| known.name == name)
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bail_step<T>(reason: String) -> Step<T> {
    Err(anyhow::anyhow!(reason).into())
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_ne_bytes(word)
}

fn keep_text(text: &Text) -> usize {
    let Some(text) = text else { return 0 };
    let address = raw::keep(text.len() + 1, false);
    raw::write(address, text);
    address
}

fn shown(text: &Text) -> String {
    text.as_ref().map_or_else(
        || "NULL".to_string(),
        |text| String::from_utf8_lossy(text).into_owned(),
    )
}

/// What the library said last on this thread.
fn said() -> Option<String> {
    let answer = player("aclGetRecentErrMsg")?(&RawArgs(&[])).ok()?;
    let text = raw::text(answer as usize)?;
    let text = text.to_string_lossy().replace('\n', "\n        ");
    (!text.is_empty()).then_some(text)
}

fn is<T: PartialOrd>(left: T, comparison: Comparison, right: T) -> bool {
    match comparison {
        Comparison::Equal => left == right,
        Comparison::Different => left != right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}

fn compare<T: PartialOrd + Copy + std::fmt::Display>(
    left: T,
    comparison: Comparison,
    right: T,
) -> Step<()> {
    if is(left, comparison, right) {
        Ok(())
    } else {
        failed(format!("{} {right}", comparison.sign()), left)
    }
}

fn compare_texts(left: &Text, comparison: Comparison, right: &Text) -> Step<()> {
    let holds = match comparison {
        Comparison::Equal => left == right,
        Comparison::Different => left != right,
        _ => return bail_step("texts are equal or not".to_string()),
    };
    if holds {
        Ok(())
    } else {
        failed(
            format!("{} \"{}\"", comparison.sign(), shown(right)),
            shown(left),
        )
    }
}
