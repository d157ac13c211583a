//! Configurations for loading and executing a model, and attributes of a loaded model.

use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::generated::types;
use crate::{Cx, Raw, model, refuse};

/// A configuration for loading.
pub struct ModelConfig {
    id: u64,
    loading: Mutex<Loading>,
}

/// A configuration for executions.
pub struct ExecConfig {
    id: u64,
    execution: Mutex<Execution>,
}

/// The configurations for loading by handle.
pub type ModelConfigs = Table<ModelConfig>;
/// The configurations for executions by handle.
pub type ExecConfigs = Table<ExecConfig>;

pub(crate) fn table() -> ModelConfigs {
    Table::new(IdKind::ModelConfig, Arc::default())
}

pub(crate) fn exec_table() -> ExecConfigs {
    Table::new(IdKind::ExecConfig, Arc::default())
}

/// The options of an execution.
#[derive(Clone, Copy)]
pub(crate) struct Execution {
    /// How long the host waits for the stream, in milliseconds; -1 is without a limit.
    pub(crate) stream_timeout: i32,
    /// Address and size of the work memory, in bytes. With a null address the model uses its own.
    pub(crate) work: (usize, usize),
    /// The priority of an execution without a stream of the program's; `None` for the model's priority.
    pub(crate) priority: Option<u8>,
}

impl Default for Execution {
    fn default() -> Execution {
        Execution {
            stream_timeout: -1,
            work: model::NOTHING,
            priority: None,
        }
    }
}

/// The options of a load.
#[derive(Clone, Default)]
pub(crate) struct Loading {
    /// The load type, one of [`way`].
    way: Option<usize>,
    path: Option<CString>,
    /// The address of the model's bytes.
    memory: usize,
    memory_size: usize,
    /// Address and size of the work memory, in bytes.
    work: (usize, usize),
    /// Address and size of the memory for the weights, in bytes.
    weights: (usize, usize),
    weight_path: Option<CString>,
    /// Address and number of the ids of the input queues, and of the output queues.
    queues: [(usize, usize); 2],
    pub(crate) priority: i32,
    without_graph: bool,
    external: Vec<model::External>,
    /// The model's bytes, once the FFI layer has read them.
    bytes: Option<Vec<u8>>,
    /// The queues' ids, once the FFI layer has read them.
    numbers: Option<[Vec<u32>; 2]>,
}

/// The memory that a configuration points to, as addresses and lengths. The FFI layer reads it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PointedTo {
    /// The model: address, and length in bytes.
    pub model: Option<(usize, usize)>,
    /// The ids of the input queues, and of the output queues: address, and number of ids.
    pub queues: [Option<(usize, usize)>; 2],
}

/// The contents of the memory that [`PointedTo`] describes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Read<'a> {
    /// The bytes of the model.
    pub model: Option<&'a [u8]>,
    /// The ids of the input queues, and of the output queues.
    pub queues: [Option<&'a [u32]>; 2],
}

/// Where a model comes from.
pub(crate) enum Source {
    File(CString),
    Memory(Vec<u8>),
}

/// The load types: ACL_MDL_LOAD_FROM_FILE and the others.
mod way {
    pub(super) const FILE: usize = 1;
    pub(super) const FILE_WITH_MEM: usize = 2;
    pub(super) const MEM: usize = 3;
    pub(super) const MEM_WITH_MEM: usize = 4;
    pub(super) const FILE_WITH_Q: usize = 5;
    pub(super) const MEM_WITH_Q: usize = 6;
}

impl Loading {
    /// Returns the memory that the program provides.
    pub(crate) fn memory(&self) -> model::Memory {
        model::Memory {
            work: self.work,
            weights: self.weights,
            forgetful: self.without_graph,
        }
    }

    /// Returns the weight files that are in device memory.
    pub(crate) fn external(&self) -> &[model::External] {
        &self.external
    }

    /// Returns the folder of the weight files, if the program set one.
    ///
    /// # Errors
    /// `ModelPath`: the path is not UTF-8.
    pub(crate) fn weight_folder(&self) -> Result<Option<&Path>> {
        let Some(folder) = &self.weight_path else {
            return Ok(None);
        };
        match folder.to_str() {
            Ok(text) => Ok(Some(text.as_ref())),
            Err(_) => refuse(
                ErrorKind::ModelPath,
                format!("the path {} is not UTF-8", folder.to_string_lossy()),
            ),
        }
    }

    /// Returns the ids of the input and output queues of a queue-driven model.
    pub(crate) fn queues(&self) -> Option<[&[u32]; 2]> {
        let [inputs, outputs] = self.numbers.as_ref().filter(|_| self.is_queue_driven())?;
        Some([inputs, outputs])
    }

    fn is_queue_driven(&self) -> bool {
        matches!(self.way, Some(way::FILE_WITH_Q | way::MEM_WITH_Q))
    }

    /// Returns address and size of the model's bytes, if the load type is one from memory and both are set.
    fn model(&self) -> Option<(usize, usize)> {
        let from_memory = matches!(
            self.way,
            Some(way::MEM | way::MEM_WITH_MEM | way::MEM_WITH_Q)
        );
        (from_memory && self.memory != 0 && self.memory_size != 0)
            .then_some((self.memory, self.memory_size))
    }

    /// Checks that all options that the load type needs are set, and returns the model's source.
    ///
    /// # Errors
    /// `InvalidArgument`: an option is missing, or options contradict each other.
    pub(crate) fn complete(&self) -> Result<Source> {
        let missing = |what: &str| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!("the configuration does not set {what}"),
            )
        };
        let way = self
            .way
            .ok_or_else(|| missing("the load type (ACL_MDL_LOAD_TYPE_SIZET)"))?;
        match way {
            way::FILE | way::FILE_WITH_MEM | way::FILE_WITH_Q => {
                let path = self
                    .path
                    .clone()
                    .ok_or_else(|| missing("the model's path (ACL_MDL_PATH_PTR)"))?;
                if self.weight_path.is_some() {
                    return refuse(
                        ErrorKind::InvalidArgument,
                        "ACL_MDL_WEIGHT_PATH_PTR is set; it applies to models in memory, and this model is loaded from a file",
                    );
                }
                self.check_queues()?;
                Ok(Source::File(path))
            }
            way::MEM | way::MEM_WITH_MEM | way::MEM_WITH_Q => {
                if self.model().is_none() {
                    return Err(missing(
                        "the model's address and size (ACL_MDL_MEM_ADDR_PTR, ACL_MDL_MEM_SIZET)",
                    ));
                }
                self.check_queues()?;
                let bytes = self.bytes.clone();
                bytes.map(Source::Memory).ok_or_else(|| {
                    Error::new(
                        ErrorKind::Internal,
                        "the FFI layer did not pass the model's bytes",
                    )
                })
            }
            other => refuse(
                ErrorKind::InvalidArgument,
                format!("the load type is {other}; it must be 1 to 6"),
            ),
        }
    }

    fn check_queues(&self) -> Result<()> {
        if self.is_queue_driven()
            && self
                .queues
                .iter()
                .any(|&(address, count)| address == 0 || count == 0)
        {
            return refuse(
                ErrorKind::InvalidArgument,
                "the configuration does not set the queues (ACL_MDL_INPUTQ_ADDR_PTR and the others)",
            );
        }
        Ok(())
    }
}

pub fn aclmdlCreateConfigHandle(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.model_configs.insert(|id| {
        Arc::new(ModelConfig {
            id,
            loading: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclmdlDestroyConfigHandle(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    if handle.is_null() {
        return Err(null("handle"));
    }
    cx.process
        .model_configs
        .remove(handle.0, cx.call.name)
        .map(drop)
}

pub fn aclmdlCreateExecConfigHandle(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.exec_configs.insert(|id| {
        Arc::new(ExecConfig {
            id,
            execution: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclmdlDestroyExecConfigHandle(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    if handle.is_null() {
        return Err(null("handle"));
    }
    cx.process
        .exec_configs
        .remove(handle.0, cx.call.name)
        .map(drop)
}

/// Returns a copy of the load options of a configuration.
///
/// # Errors
/// `NullPointer`, `InvalidHandle`.
pub(crate) fn loading(cx: &Cx<'_>, handle: Raw) -> Result<Loading> {
    if handle.is_null() {
        return Err(null("handle"));
    }
    let loading = cx
        .process
        .model_configs
        .get(handle.0)?
        .loading
        .lock()
        .clone();
    Ok(loading)
}

/// Returns the execution options of a configuration.
///
/// # Errors
/// `NullPointer`, `InvalidHandle`.
pub(crate) fn execution(cx: &Cx<'_>, handle: Raw) -> Result<Execution> {
    if handle.is_null() {
        return Err(null("handle"));
    }
    let execution = *cx.process.exec_configs.get(handle.0)?.execution.lock();
    Ok(execution)
}

/// Returns the value of an option as bytes.
///
/// # Errors
/// `InvalidArgument`: the value does not have `N` bytes.
fn value<const N: usize>(bytes: &[u8], size: usize, what: &str) -> Result<[u8; N]> {
    match bytes.first_chunk() {
        Some(value) if size == N => Ok(*value),
        _ => refuse(
            ErrorKind::InvalidArgument,
            format!("the value of {what} has {size} bytes; it must have {N}"),
        ),
    }
}

/// The type of a load option's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Size,
    /// An address that may not be null.
    Address,
    /// An address that may be null.
    MaybeAddress,
    /// The address of a C string.
    Text,
}

fn option(attr: u32) -> Option<(Kind, &'static str)> {
    Some(match attr {
        0 => (Kind::Int, "ACL_MDL_PRIORITY_INT32"),
        1 => (Kind::Size, "ACL_MDL_LOAD_TYPE_SIZET"),
        2 => (Kind::Text, "ACL_MDL_PATH_PTR"),
        3 => (Kind::Address, "ACL_MDL_MEM_ADDR_PTR"),
        4 => (Kind::Size, "ACL_MDL_MEM_SIZET"),
        5 => (Kind::MaybeAddress, "ACL_MDL_WEIGHT_ADDR_PTR"),
        6 => (Kind::Size, "ACL_MDL_WEIGHT_SIZET"),
        7 => (Kind::MaybeAddress, "ACL_MDL_WORKSPACE_ADDR_PTR"),
        8 => (Kind::Size, "ACL_MDL_WORKSPACE_SIZET"),
        9 => (Kind::Size, "ACL_MDL_INPUTQ_NUM_SIZET"),
        10 => (Kind::Address, "ACL_MDL_INPUTQ_ADDR_PTR"),
        11 => (Kind::Size, "ACL_MDL_OUTPUTQ_NUM_SIZET"),
        12 => (Kind::Address, "ACL_MDL_OUTPUTQ_ADDR_PTR"),
        13 => (Kind::Size, "ACL_MDL_WORKSPACE_MEM_OPTIMIZE"),
        14 => (Kind::Text, "ACL_MDL_WEIGHT_PATH_PTR"),
        25 => (Kind::Size, "ACL_MDL_MEM_MALLOC_POLICY_SIZET"),
        28 => (Kind::Int, "ACL_MDL_WITHOUT_GRAPH_INT32"),
        _ => return None,
    })
}

/// Returns whether the value of an option is a pointer to text, which the FFI layer reads.
pub fn takes_text(attr: u32) -> bool {
    option(attr).is_some_and(|(kind, _)| kind == Kind::Text)
}

/// Sets one load option. `bytes` is the value; `text` is the string that it points to, if the option takes one.
pub fn aclmdlSetConfigOpt(
    cx: &Cx<'_>,
    handle: Raw,
    attr: u32,
    bytes: Option<&[u8]>,
    size: usize,
    text: Option<&CStr>,
) -> Result<()> {
    if handle.is_null() {
        return Err(null("handle"));
    }
    let config = cx.process.model_configs.get(handle.0)?;
    let bytes = bytes.ok_or_else(|| null("attrValue"))?;
    let Some((kind, what)) = option(attr) else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("option {attr} is not a value of aclmdlConfigAttr that Jumar supports"),
        );
    };
    let mut number = 0;
    let mut int = 0;
    match kind {
        Kind::Int => int = i32::from_ne_bytes(value(bytes, size, what)?),
        _ => number = usize::from_ne_bytes(value(bytes, size, what)?),
    }
    if number == 0 && matches!(kind, Kind::Address | Kind::Text) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the value of {what} is a null pointer"),
        );
    }
    let invalid = |sentence: String| Err(Error::new(ErrorKind::InvalidArgument, sentence));
    let mut loading = config.loading.lock();
    match attr {
        0 if !(0..=7).contains(&int) => {
            return invalid(format!("the priority is {int}; it must be 0 to 7"));
        }
        0 => loading.priority = int,
        1 if !(way::FILE..=way::MEM_WITH_Q).contains(&number) => {
            return invalid(format!("the load type is {number}; it must be 1 to 6"));
        }
        1 => loading.way = Some(number),
        2 => loading.path = text.map(CStr::to_owned),
        3 => loading.memory = number,
        4 => loading.memory_size = number,
        5 => loading.weights.0 = number,
        6 => loading.weights.1 = number,
        7 => loading.work.0 = number,
        8 => loading.work.1 = number,
        9 => loading.queues[0].1 = number,
        10 => loading.queues[0].0 = number,
        11 => loading.queues[1].1 = number,
        12 => loading.queues[1].0 = number,
        13 if number > 1 => {
            return invalid(format!("{what} is {number}; it must be 0 or 1"));
        }
        14 => loading.weight_path = text.map(CStr::to_owned),
        28 if !(0..=1).contains(&int) => {
            return invalid(format!("{what} is {int}; it must be 0 or 1"));
        }
        28 => loading.without_graph = int == 1,
        // The other options control the memory layout of a card; a CPU has nothing to control.
        _ => {}
    }
    Ok(())
}

/// Returns where the model and the queue ids are in memory, for the FFI layer to read.
///
/// # Errors
/// `NullPointer`, `InvalidHandle`.
pub fn pointed_to(cx: &Cx<'_>, handle: Raw) -> Result<PointedTo> {
    let loading = loading(cx, handle)?;
    let queues = loading.queues.map(|(address, count)| {
        let is_set = loading.is_queue_driven() && address != 0 && count != 0;
        is_set.then_some((address, count))
    });
    Ok(PointedTo {
        model: loading.model(),
        queues,
    })
}

/// Loads a model with a configuration. `read` is the contents of the memory that the configuration points to ([`pointed_to`]).
pub fn aclmdlLoadWithConfig(cx: &Cx<'_>, handle: Raw, read: Read<'_>) -> Result<u32> {
    let mut loading = loading(cx, handle)?;
    loading.bytes = read.model.map(<[u8]>::to_vec);
    if let [Some(inputs), Some(outputs)] = read.queues {
        loading.numbers = Some([inputs.to_vec(), outputs.to_vec()]);
    }
    model::load_configured(cx, &loading)
}

/// Adds device memory that holds the contents of a weight file. The program keeps the ownership of it.
pub fn aclmdlSetExternalWeightAddress(
    cx: &Cx<'_>,
    handle: Raw,
    name: Option<&CStr>,
    address: usize,
    size: usize,
) -> Result<()> {
    if handle.is_null() {
        return Err(null("handle"));
    }
    let config = cx.process.model_configs.get(handle.0)?;
    let name = name.ok_or_else(|| null("weightFileName"))?;
    if address == 0 {
        return Err(null("devPtr"));
    }
    if size == 0 || !size.is_multiple_of(32) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the size is {size}; it must be a multiple of 32 and not 0"),
        );
    }
    let name = name.to_string_lossy().into_owned();
    config.loading.lock().external.push((name, address, size));
    Ok(())
}

pub fn aclmdlSetExecConfigOpt(
    cx: &Cx<'_>,
    handle: Raw,
    attr: u32,
    bytes: Option<&[u8]>,
    size: usize,
) -> Result<()> {
    if handle.is_null() {
        return Err(null("handle"));
    }
    let config = cx.process.exec_configs.get(handle.0)?;
    let bytes = bytes.ok_or_else(|| null("attrValue"))?;
    match attr {
        0 | 1 => {
            let timeout = i32::from_ne_bytes(value(bytes, size, "a timeout option")?);
            if timeout < -1 {
                return refuse(
                    ErrorKind::InvalidArgument,
                    format!("the timeout is {timeout} ms; it must be -1 (no limit) or more"),
                );
            }
            if attr == 0 {
                config.execution.lock().stream_timeout = timeout;
            }
            Ok(())
        }
        8 => {
            let priority = i32::from_ne_bytes(value(bytes, size, "ACL_MDL_EXEC_PRIORITY_INT32")?);
            match u8::try_from(priority) {
                Ok(known @ 0..=7) => {
                    config.execution.lock().priority = Some(known);
                    Ok(())
                }
                _ => refuse(
                    ErrorKind::InvalidArgument,
                    format!("the priority is {priority}; it must be 0 to 7"),
                ),
            }
        }
        2 => {
            let address = value(bytes, size, "ACL_MDL_WORK_ADDR_PTR")?;
            config.execution.lock().work.0 = usize::from_ne_bytes(address);
            Ok(())
        }
        3 => {
            let bytes = value(bytes, size, "ACL_MDL_WORK_SIZET")?;
            config.execution.lock().work.1 = usize::from_ne_bytes(bytes);
            Ok(())
        }
        // Quality of service of a card's memory: accepted and ignored, since a CPU has none.
        4..=7 => value::<8>(bytes, size, "this option").map(drop),
        other => refuse(
            ErrorKind::InvalidArgument,
            format!("option {other} is not a value of aclmdlExecConfigAttr that Jumar supports"),
        ),
    }
}

/// ACL_MDL_ATTR_PRIORITY_INT32.
const PRIORITY: u32 = 0;

fn known_attribute(attr: u32) -> Result<()> {
    if attr == PRIORITY {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!("attribute {attr} is not a value of aclmdlAttr that Jumar supports"),
    )
}

pub fn aclmdlSetAttribute(
    cx: &Cx<'_>,
    id: u32,
    attr: u32,
    value: Option<&types::aclmdlAttrValue_t>,
) -> Result<()> {
    let value = value.ok_or_else(|| null("attrValue"))?;
    known_attribute(attr)?;
    let priority = i32::try_from(value.mdlPriority()).unwrap_or(i32::MAX);
    if !(0..=7).contains(&priority) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the priority is {priority}; it must be 0 to 7"),
        );
    }
    model::initialized(cx)?;
    model::find(cx, id)?.set_priority(priority);
    Ok(())
}

pub fn aclmdlGetAttribute(cx: &Cx<'_>, id: u32, attr: u32) -> Result<types::aclmdlAttrValue_t> {
    known_attribute(attr)?;
    model::initialized(cx)?;
    let priority = *model::find(cx, id)?.priority.lock();
    let mut value = types::aclmdlAttrValue_t::ZERO;
    value.bytes[..4].copy_from_slice(&priority.to_ne_bytes());
    Ok(value)
}
