//! Dumps: tensors of operators while a model runs, arguments of failed kernels, and tensors that a program saves after a failure.

mod container;
mod number;
mod settings;

use std::ffi::{CStr, CString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jumar::engine::sync::{AtomicU64, Mutex, Ordering, SystemTime, UNIX_EPOCH};
use jumar::engine::{Access, Span};
use jumar::offline::graph::{NodeObserver, Operand, Operands, read_tensor};
use jumar::offline::{Model, Observer};
use jumar::output_file;
use jumar_types::{Error, ErrorKind, Result, TaskSite};

use container::{Record, Tensor};
pub(crate) use settings::Settings;

use crate::configuration;
use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, refuse};

/// A function of the program that receives dumped data instead of a file. It receives the file's name, a chunk of the data, and
/// whether that chunk is the last. A result other than 0 is a failure.
pub type DumpCallback = Arc<dyn Fn(&CStr, &[u8], bool) -> i32 + Send + Sync>;

/// The largest chunk that a dump callback receives, in bytes.
const CHUNK: usize = 128 << 20;

/// The dump settings of the process.
#[derive(Default)]
pub struct State {
    /// Whether aclmdlInitDump was called, and aclmdlFinalizeDump was not.
    started: Mutex<bool>,
    /// The current settings; `None` if nothing is dumped.
    active: Mutex<Option<Arc<Settings>>>,
    callback: Arc<Mutex<Option<DumpCallback>>>,
    /// The folder for arguments of single operators; `None` if they are not dumped.
    arguments: Mutex<Option<PathBuf>>,
    /// The texts that were returned to programs as addresses. They stay valid, so none is ever removed.
    returned: Mutex<Vec<CString>>,
}

impl State {
    /// Replaces the settings; `None` stops dumping.
    pub(crate) fn activate(&self, settings: Option<Settings>) {
        *self.active.lock() = settings.map(Arc::new);
    }

    fn settings(&self) -> Option<Arc<Settings>> {
        let active = self.active.lock().clone();
        active.or_else(|| {
            let scene = jumar::config::DumpEnvironment::read().scene?;
            Some(Arc::new(Settings::for_failures(scene, String::new())))
        })
    }
}

/// Returns the current time as `YYYYMMDDhhmmss` and the milliseconds behind it.
pub(crate) fn stamp() -> (String, String) {
    let (micros, digits) = now();
    (digits, format!("{:03}", micros / 1000 % 1000))
}

fn now() -> (u64, String) {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_micros();
    let digits = crate::log::stamp(now)
        .bytes()
        .filter(u8::is_ascii_digit)
        .take(14)
        .map(char::from)
        .collect();
    (now as u64, digits)
}

fn uninitialized<T>() -> Result<T> {
    refuse(ErrorKind::Uninitialized, "aclInit was not called")
}

pub fn aclmdlInitDump(cx: &Cx<'_>) -> Result<()> {
    if !cx.process.is_initialized() {
        return uninitialized();
    }
    let mut started = cx.process.dump.started.lock();
    if *started {
        return refuse(
            ErrorKind::RepeatInitialize,
            "aclmdlInitDump was already called",
        );
    }
    *started = true;
    Ok(())
}

fn is_started(cx: &Cx<'_>) -> Result<()> {
    if !cx.process.is_initialized() {
        return uninitialized();
    }
    if *cx.process.dump.started.lock() {
        return Ok(());
    }
    refuse(ErrorKind::DumpNotRunning, "aclmdlInitDump was not called")
}

pub fn aclmdlSetDump(cx: &Cx<'_>, path: Option<&CStr>) -> Result<()> {
    is_started(cx)?;
    let path = path.ok_or_else(|| null("dumpCfgPath"))?;
    let text = configuration::read(path)?;
    let settings = configuration::dump_file(&text)?;
    cx.process.dump.activate(settings);
    Ok(())
}

pub fn aclmdlFinalizeDump(cx: &Cx<'_>) -> Result<()> {
    is_started(cx)?;
    cx.process.dump.activate(None);
    *cx.process.dump.started.lock() = false;
    Ok(())
}

pub fn acldumpRegCallback(cx: &Cx<'_>, function: Option<DumpCallback>, flag: i32) -> Result<()> {
    let Some(function) = function.filter(|_| flag == 0) else {
        return refuse(
            ErrorKind::Failure,
            format!("the function is null, or flag is {flag} and not 0"),
        );
    };
    *cx.process.dump.callback.lock() = Some(function);
    Ok(())
}

pub fn acldumpUnregCallback(cx: &Cx<'_>) -> Result<()> {
    *cx.process.dump.callback.lock() = None;
    Ok(())
}

/// The bit of `dumpType` for arguments, the only kind that Jumar can dump.
const ARGUMENTS: u32 = 1;

/// Starts dumping the arguments of single operators.
///
/// # Errors
/// `Failure`: the path is null, or the kind does not include the arguments.
pub fn aclopStartDumpArgs(cx: &Cx<'_>, kind: u32, path: Option<&CStr>) -> Result<()> {
    let Some(path) = path.filter(|_| kind & ARGUMENTS != 0) else {
        return refuse(
            ErrorKind::Failure,
            format!("path is null, or dumpType {kind:#x} does not contain bit {ARGUMENTS:#x}"),
        );
    };
    let path = PathBuf::from(path.to_string_lossy().into_owned());
    *cx.process.dump.arguments.lock() = Some(path);
    Ok(())
}

pub fn aclopStopDumpArgs(cx: &Cx<'_>, kind: u32) -> Result<()> {
    if kind & ARGUMENTS != 0 {
        *cx.process.dump.arguments.lock() = None;
    }
    Ok(())
}

/// How failures of a device are dumped.
struct Failures {
    folder: PathBuf,
    /// Whether files are named after the stream instead of the operator.
    brief: bool,
    callback: Arc<Mutex<Option<DumpCallback>>>,
}

impl State {
    /// Returns the folder for a device's failures: the environment precedes the configuration.
    fn failures(&self, device: u32) -> Option<Failures> {
        let settings = self.settings()?;
        if !settings.has_failures() {
            return None;
        }
        let environment = jumar::config::DumpEnvironment::read();
        let root = environment
            .folder
            .or_else(|| settings.path.clone())
            .or_else(|| std::env::current_dir().ok())?;
        let folder = root.join("extra-info").join("data-dump");
        Some(Failures {
            folder: folder.join(device.to_string()),
            brief: settings.is_brief(),
            callback: self.callback.clone(),
        })
    }
}

impl Failures {
    /// Writes the arguments of a failed task.
    fn write(&self, (operator, name): (&str, &str), stream: u32, task: u64, record: &Record) {
        let (seconds, millis) = stamp();
        let owner = match self.brief {
            true => stream.to_string(),
            false => plain(name),
        };
        let file = format!("{}.{owner}.{task}.{seconds}{millis}", plain(operator));
        let sink = Sink {
            callback: &self.callback,
            folder: &self.folder,
        };
        sink.write(&file, &container::binary(record));
    }
}

fn failure_folder(cx: &Cx<'_>) -> Option<PathBuf> {
    let device = cx.context().map_or(0, |context| context.device().number());
    let failures = cx.process.dump.failures(device)?;
    Some(failures.folder)
}

/// The largest dump of the memory behind one pointer argument, in bytes.
const MOST_OF_A_POINTER: usize = 64 << 20;

/// Dumps the arguments of a failed kernel before the failure is reported, if failures are dumped.
pub(crate) fn kernel_failed(cx: &Cx<'_>, site: &TaskSite) {
    let Some(failures) = cx.process.dump.failures(site.device) else {
        return;
    };
    let Ok(runtime) = cx.runtime() else { return };
    let Ok(function) = runtime.function(site.function) else {
        return;
    };
    let mut record = Record {
        name: function.name().to_owned(),
        time_us: now().0,
        ..Record::default()
    };
    let read = |span: Span| {
        let span = span.part(0, span.bytes().min(MOST_OF_A_POINTER))?;
        let mut bytes = vec![0; span.bytes()];
        runtime.read(span, &mut bytes, &cx.caller()).ok()?;
        Some(bytes)
    };
    if let Some(launch) = function.failed_launch() {
        for (access, span) in &launch.memory {
            let Some(bytes) = read(*span) else { continue };
            let tensor = Tensor {
                data_type: enums::ACL_DT_UNDEFINED,
                format: enums::ACL_FORMAT_ND,
                dims: vec![bytes.len() as u64],
                bytes,
            };
            match access {
                Access::Read => record.inputs.push(tensor),
                _ => record.outputs.push(tensor),
            }
        }
        record.workspaces.push(launch.arguments());
    }
    let names = (function.name(), function.name());
    failures.write(names, site.stream, u64::from(site.task), &record);
}

pub fn acldumpGetPath(cx: &Cx<'_>, kind: u32) -> Result<usize> {
    let folder = match kind {
        enums::AIC_ERR_BRIEF_DUMP | enums::AIC_ERR_NORM_DUMP | enums::AIC_ERR_DETAIL_DUMP => {
            failure_folder(cx)
        }
        enums::DATA_DUMP | enums::OVERFLOW_DUMP => cx
            .process
            .dump
            .settings()
            .filter(|settings| settings.has_data())
            .and_then(|settings| Some(settings.path.clone()?.join(&settings.stamp))),
        _ => None,
    };
    let Some(folder) = folder else { return Ok(0) };
    let text = CString::new(folder.to_string_lossy().as_bytes()).unwrap_or_default();
    let mut returned = cx.process.dump.returned.lock();
    if let Some(known) = returned.iter().find(|known| **known == text) {
        return Ok(known.as_ptr().expose_provenance());
    }
    let address = text.as_ptr().expose_provenance();
    returned.push(text);
    Ok(address)
}

fn not_enabled<T>() -> Result<T> {
    Err(
        Error::new(ErrorKind::Failure, "the dump of failed operators is not switched on").fix(
            "Set dump_scene in the configuration, or ASCEND_DUMP_SCENE, for example to aic_err_norm_dump.",
        ),
    )
}

pub fn acldumpGetExceptionInfoPath(cx: &Cx<'_>, capacity: usize) -> Result<CString> {
    if capacity <= 1 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("maxLen is {capacity}; it must be at least 2"),
        );
    }
    let Some(folder) = failure_folder(cx) else {
        return not_enabled();
    };
    let text = folder.to_string_lossy().into_owned();
    if text.len() >= capacity {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "maxLen is {capacity}; the path needs {} bytes",
                text.len() + 1
            ),
        );
    }
    Ok(CString::new(text).unwrap_or_default())
}

pub fn acldumpSaveExceptionInfo(
    cx: &Cx<'_>,
    name: Option<&CStr>,
    tag: Option<&CStr>,
    tensors: Option<&[types::acldumpTensorInfo]>,
    count: usize,
) -> Result<()> {
    let bad = |sentence: String| Error::new(ErrorKind::InvalidArgument, sentence);
    let name = name.ok_or_else(|| null("fileName"))?.to_string_lossy();
    if name.is_empty() || name.contains("..") || name.contains('/') {
        return Err(bad(format!(
            "fileName is \"{name}\"; it must not be empty or contain \"..\" or \"/\""
        )));
    }
    let tensors = tensors.ok_or_else(|| null("tensors"))?;
    if count == 0 {
        return Err(bad("tensorCount is 0".into()));
    }
    let mut record = Record {
        name: name.clone().into_owned(),
        time_us: now().0,
        ..Record::default()
    };
    if let Some(tag) = tag {
        let tag = tag.to_string_lossy().into_owned();
        record.attributes.push(("user_tag".to_owned(), tag));
    }
    let Some(folder) = failure_folder(cx) else {
        return not_enabled();
    };
    let runtime = cx.runtime()?;
    for (index, tensor) in tensors.iter().enumerate() {
        let wrong = |what: String| bad(format!("tensor {index}: {what}"));
        let most = tensor.shape.len();
        if tensor.shapeNum as usize > most || tensor.originShapeNum as usize > most {
            return Err(wrong(format!(
                "shapeNum or originShapeNum is larger than {most}"
            )));
        }
        if tensor.addrType != enums::ACL_DUMP_ADDR_RAW
            || tensor.placement != enums::ACL_DUMP_PLACEMENT_DEVICE
        {
            return Err(wrong(
                "addrType must be ACL_DUMP_ADDR_RAW and placement ACL_DUMP_PLACEMENT_DEVICE".into(),
            ));
        }
        if tensor.tensorAddr == 0 || tensor.tensorSize == 0 {
            return Err(wrong("tensorAddr is null or tensorSize is 0".into()));
        }
        let block = runtime.space().find(tensor.tensorAddr);
        let span = block.and_then(|block| {
            let offset = tensor.tensorAddr - block.span.address();
            block.span.part(offset, tensor.tensorSize)
        });
        let Some(span) = span else {
            return Err(wrong(format!(
                "{} bytes at {:#x} are not device memory",
                tensor.tensorSize, tensor.tensorAddr
            )));
        };
        let mut bytes = vec![0; tensor.tensorSize];
        runtime.read(span, &mut bytes, &cx.caller())?;
        let read = Tensor {
            data_type: tensor.dataType,
            format: tensor.format,
            dims: tensor.shape[..tensor.shapeNum as usize].to_vec(),
            bytes,
        };
        match tensor.r#type {
            enums::ACL_DUMP_TENSOR_INPUT => record.inputs.push(read),
            enums::ACL_DUMP_TENSOR_OUTPUT => record.outputs.push(read),
            enums::ACL_DUMP_TENSOR_WORKSPACE => record.workspaces.push(read.bytes),
            other => {
                return Err(wrong(crate::not_a_value("acldumpTensorType", other)));
            }
        }
    }
    let (seconds, millis) = stamp();
    let path = folder.join(format!("{name}.custom.{seconds}{millis}"));
    let written = fs::create_dir_all(&folder)
        .and_then(|()| output_file::write(&path, &container::binary(&record)))
        .and_then(|()| {
            let mut permissions = fs::metadata(&path)?.permissions();
            permissions.set_readonly(true);
            fs::set_permissions(&path, permissions)
        });
    written.map_err(|error| {
        Error::new(
            ErrorKind::Failure,
            format!("{} could not be written: {error}", path.display()),
        )
    })
}

/// Returns the observer that dumps a newly loaded model, or `None` if the settings exclude the model.
pub(crate) fn observer(
    cx: &Cx<'_>,
    model: &Model,
    id: u32,
    device: u32,
) -> Option<Arc<dyn Observer>> {
    let settings = cx.process.dump.settings()?;
    let name = model.description().name.clone();
    if !settings.wants_model(&[&name]) && !settings.has_failures() {
        return None;
    }
    Some(Arc::new(DumpObserver {
        state: &cx.process.dump,
        settings,
        name,
        id,
        device,
        executions: AtomicU64::new(0),
    }))
}

/// The observer of a model that is dumped.
struct DumpObserver {
    state: &'static State,
    settings: Arc<Settings>,
    name: String,
    id: u32,
    device: u32,
    /// The number of executions so far.
    executions: AtomicU64,
}

impl Observer for DumpObserver {
    fn begin(&self, stream: u32) -> Option<Box<dyn NodeObserver>> {
        let step = self.executions.fetch_add(1, Ordering::Relaxed);
        let failures = self.state.failures(self.device);
        let folder = self.folder(step);
        if folder.is_none() && failures.is_none() {
            return None;
        }
        Some(Box::new(Execution {
            failures,
            callback: self.state.callback.clone(),
            settings: self.settings.clone(),
            model: self.name.clone(),
            stream,
            folder,
            inside: Mutex::new(vec![false; self.settings.ranges()]),
            tasks: AtomicU64::new(0),
            before: Mutex::default(),
        }))
    }
}

impl DumpObserver {
    /// Returns the folder for the tensors of execution `step`; `None` if they are not dumped.
    fn folder(&self, step: u64) -> Option<PathBuf> {
        let settings = &self.settings;
        let active = self.state.active.lock().clone();
        // The program may have stopped dumping or replaced the settings since the model was loaded.
        if !active.is_some_and(|active| Arc::ptr_eq(&active, settings))
            || !settings.wants_model(&[&self.name])
            || !settings.wants_step(step)
        {
            return None;
        }
        let root = settings.path.clone()?;
        let folder = root
            .join(&settings.stamp)
            .join(self.device.to_string())
            .join(plain(&self.name))
            .join(self.id.to_string());
        Some(folder.join(step.to_string()))
    }
}

/// One execution of a model that is dumped.
struct Execution {
    failures: Option<Failures>,
    callback: Arc<Mutex<Option<DumpCallback>>>,
    settings: Arc<Settings>,
    model: String,
    stream: u32,
    /// The folder for tensors; `None` if only failures are dumped.
    folder: Option<PathBuf>,
    /// For each range of operators in the settings, whether the execution is inside it.
    inside: Mutex<Vec<bool>>,
    /// The number of operators that ran or failed.
    tasks: AtomicU64,
    /// The inputs of the current operator, copied before it runs, because it may overwrite them.
    before: Mutex<Vec<Option<Tensor>>>,
}

/// Returns a name with `_` in place of the characters that a file name may not contain.
fn plain(name: &str) -> String {
    let invalid = |letter: char| matches!(letter, ' ' | '.' | '/' | '\\') || letter.is_control();
    name.replace(invalid, "_")
}

fn tensor(operand: &Operand, memory: &Operands<'_>) -> Option<Tensor> {
    let bytes = read_tensor(operand, memory).ok()?;
    (!bytes.is_empty()).then(|| Tensor {
        data_type: operand.dtype().acl(),
        format: enums::ACL_FORMAT_ND,
        dims: operand
            .layout()
            .shape()
            .iter()
            .map(|dim| *dim as u64)
            .collect(),
        bytes,
    })
}

fn overflowed(tensor: &Tensor) -> bool {
    let values = number::values(tensor.data_type, &tensor.bytes);
    values.iter().any(|value| !value.is_finite())
}

impl NodeObserver for Execution {
    fn starts(&self, inputs: &[Option<Operand>], memory: &Operands<'_>) {
        if self.settings.inputs {
            *self.before.lock() = inputs
                .iter()
                .map(|operand| tensor(operand.as_ref()?, memory))
                .collect();
        }
    }

    fn ran(
        &self,
        name: &str,
        operator: &str,
        _inputs: &[Option<Operand>],
        outputs: &[Operand],
        memory: &Operands<'_>,
    ) {
        let before = std::mem::take(&mut *self.before.lock());
        let task = self.tasks.fetch_add(1, Ordering::Relaxed);
        let Some(folder) = &self.folder else { return };
        let settings = &self.settings;
        let mut inside = self.inside.lock();
        let wanted = settings.wants_operator(&[&self.model], name, operator, &mut inside);
        drop(inside);
        let Some(wanted) = wanted else { return };
        let (time_us, _) = now();
        let mut record = Record {
            name: name.to_owned(),
            time_us,
            ..Record::default()
        };
        if settings.inputs {
            let read = before
                .into_iter()
                .enumerate()
                .filter(|(at, _)| wanted("input", *at));
            record.inputs = read.filter_map(|(_, tensor)| tensor).collect();
        }
        let mut results: Vec<(usize, Tensor)> = outputs
            .iter()
            .enumerate()
            .filter_map(|(at, operand)| Some((at, tensor(operand, memory)?)))
            .collect();
        if settings.overflow && !results.iter().any(|(_, tensor)| overflowed(tensor)) {
            return;
        }
        if settings.outputs {
            results.retain(|(at, _)| wanted("output", *at));
            record.outputs = results.into_iter().map(|(_, tensor)| tensor).collect();
        }
        if record.inputs.is_empty() && record.outputs.is_empty() {
            return;
        }
        let stem = format!(
            "{}.{}.{task}.{}.{time_us}",
            plain(operator),
            plain(name),
            self.stream
        );
        let sink = Sink {
            callback: &self.callback,
            folder,
        };
        match &settings.statistics {
            None => sink.write(&stem, &container::binary(&record)),
            Some(chosen) => {
                let text = container::statistics(&record, chosen.as_deref());
                sink.write(&format!("{stem}.csv"), text.as_bytes());
            }
        }
    }

    fn failed(
        &self,
        name: &str,
        operator: &str,
        inputs: &[Option<Operand>],
        memory: &Operands<'_>,
    ) {
        let task = self.tasks.fetch_add(1, Ordering::Relaxed);
        let Some(failures) = &self.failures else {
            return;
        };
        let read = inputs.iter().flatten();
        let record = Record {
            name: name.to_owned(),
            time_us: now().0,
            inputs: read.filter_map(|operand| tensor(operand, memory)).collect(),
            ..Record::default()
        };
        failures.write((operator, name), self.stream, task, &record);
    }
}

/// The longest file name, in bytes.
const LONGEST: usize = 255;

/// The destination of dumps: a folder, or the program's callback.
struct Sink<'a> {
    callback: &'a Mutex<Option<DumpCallback>>,
    folder: &'a Path,
}

impl Sink<'_> {
    /// Writes a file, or passes its contents to the program's callback. A failure is logged, and does not fail the model.
    fn write(&self, name: &str, bytes: &[u8]) {
        let callback = self.callback.lock().clone();
        let done = match callback {
            Some(callback) => self.deliver(&callback, name, bytes),
            None => self.write_file(name, bytes),
        };
        if let Err(error) = done {
            let path = self.folder.join(name);
            crate::log::problem(&format!("the dump to {} failed: {error}", path.display()));
        }
    }

    fn deliver(
        &self,
        callback: &DumpCallback,
        name: &str,
        bytes: &[u8],
    ) -> std::result::Result<(), String> {
        let path = self.folder.join(name);
        let path = CString::new(path.to_string_lossy().as_bytes()).unwrap_or_default();
        let count = bytes.len().div_ceil(CHUNK).max(1);
        for (at, chunk) in bytes.chunks(CHUNK).enumerate() {
            let status = callback(&path, chunk, at + 1 == count);
            if status != 0 {
                return Err(format!("the registered callback returned {status}"));
            }
        }
        Ok(())
    }

    fn write_file(&self, name: &str, bytes: &[u8]) -> std::result::Result<(), String> {
        let text = |error: std::io::Error| error.to_string();
        fs::create_dir_all(self.folder).map_err(text)?;
        let short = match name.len() > LONGEST {
            false => name.to_owned(),
            true => {
                let mut hasher = DefaultHasher::new();
                name.hash(&mut hasher);
                let number = hasher.finish().to_string();
                note(self.folder, &number, name).map_err(text)?;
                number
            }
        };
        output_file::write(&self.folder.join(short), bytes).map_err(text)
    }
}

/// Appends a line to `mapping.csv`: the number that replaces a name that is too long, and the name.
fn note(folder: &Path, number: &str, name: &str) -> std::io::Result<()> {
    let mut file = output_file::append(&folder.join("mapping.csv"))?;
    writeln!(file, "{number},{name}")
}
