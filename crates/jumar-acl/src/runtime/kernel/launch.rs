//! Launches.

use std::sync::Arc;
use std::time::Duration;

use jumar::engine::{Arguments, Attribute, Function, GraphTask, Shape, Span};
use jumar_types::{Error, ErrorKind, Result};

use super::{arguments, function, value};
use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

/// The attributes of a launch as they stand in its configuration: no configuration, one without an array, or the array.
pub type Configuration<'a> = Option<Option<&'a [types::aclrtLaunchKernelAttr]>>;

/// What a configuration asks for, as far as it matters here.
#[derive(Default)]
struct Wishes {
    local_bytes: usize,
    /// `Some(None)` is forever.
    limit: Option<Option<Duration>>,
    /// The attributes as they were given, the last of each.
    attributes: Vec<Attribute>,
}

fn wishes(configuration: Configuration<'_>) -> Result<Wishes> {
    let mut wishes = Wishes::default();
    let Some(attributes) = configuration else {
        return Ok(wishes);
    };
    let Some(attributes) = attributes else {
        return value("cfg has no array of attributes");
    };
    let switch = |name: &str, on: u8| match on {
        0 | 1 => Ok(()),
        _ => value(format!("{name} is {on}; it must be 0 or 1")),
    };
    let (mut seconds, mut micros) = (None, None);
    for attribute in attributes {
        let given = &attribute.value;
        wishes.attributes.retain(|(id, _)| *id != attribute.id);
        wishes.attributes.push((attribute.id, given.bytes));
        match attribute.id {
            enums::ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE => switch("schemMode", given.schemMode())?,
            enums::ACL_RT_LAUNCH_KERNEL_ATTR_LOCAL_MEMORY_SIZE => {
                wishes.local_bytes = given.localMemorySize() as usize;
            }
            enums::ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE
            | enums::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET => {}
            enums::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH => {
                switch("isBlockTaskPrefetch", given.isBlockTaskPrefetch())?;
            }
            enums::ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP => switch("isDataDump", given.isDataDump())?,
            enums::ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING => {
                switch("enableProfiling", given.enableProfiling())?;
            }
            enums::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT => {
                seconds = Some(Duration::from_secs(u64::from(given.timeout())));
            }
            enums::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US => {
                // The low half comes first.
                let half = |at: usize| {
                    let mut bytes = [0; 4];
                    bytes.copy_from_slice(&given.bytes[at..at + 4]);
                    u64::from(u32::from_ne_bytes(bytes))
                };
                micros = Some(Duration::from_micros(half(4) << 32 | half(0)));
            }
            other => return value(crate::not_a_value("aclrtLaunchKernelAttrId", other)),
        }
    }
    if seconds.is_some() && micros.is_some() {
        return value("the configuration has a time limit in seconds and one in microseconds");
    }
    if wishes.local_bytes > function::MOST_LOCAL_BYTES {
        return value(format!(
            "{} bytes of memory for each block were asked for; there are {}",
            wishes.local_bytes,
            function::MOST_LOCAL_BYTES
        ));
    }
    wishes.limit = seconds
        .or(micros)
        .map(|limit| (!limit.is_zero()).then_some(limit));
    Ok(wishes)
}

/// What is launched, and how.
struct Launch<'a> {
    function: Arc<Function>,
    grid: [u32; 3],
    group: [u32; 3],
    local_bytes: usize,
    wishes: Wishes,
    arguments: Arguments<'a>,
    stream: Raw,
}

impl Launch<'_> {
    fn go(self, cx: &Cx<'_>) -> Result<()> {
        // The context's own refusal comes before the stream's.
        cx.context()?;
        let shape = Shape {
            grid: self.grid,
            group: self.group,
            local_bytes: self.local_bytes.max(self.wishes.local_bytes),
            limit: self
                .wishes
                .limit
                .unwrap_or_else(|| super::limits::current(cx)),
            thread: cx.thread.system_number(),
            attributes: &self.wishes.attributes,
        };
        cx.with_stream(self.stream, |stream| {
            self.function
                .launch(stream, self.arguments, shape, &cx.caller())
                .map(drop)
        })
    }
}

/// Lets a recorded launch be another one from the next update of its model on.
pub(crate) fn change(
    cx: &Cx<'_>,
    task: &GraphTask,
    function: &Arc<Function>,
    count: u32,
    arguments: Arguments<'_>,
    configuration: Configuration<'_>,
) -> Result<()> {
    let wishes = wishes(configuration)?;
    let shape = Shape {
        grid: blocks(count, ErrorKind::InvalidValue)?,
        group: [1; 3],
        local_bytes: wishes.local_bytes,
        limit: wishes.limit.unwrap_or_else(|| super::limits::current(cx)),
        thread: cx.thread.system_number(),
        attributes: &wishes.attributes,
    };
    task.set_launch(function, arguments, shape, &cx.caller())
}

fn blocks(count: u32, kind: ErrorKind) -> Result<[u32; 3]> {
    if count == 0 {
        return refuse(kind, "numBlocks is 0");
    }
    Ok([count, 1, 1])
}

fn in_place(arguments: Span) -> Result<Arguments<'static>> {
    if arguments.is_empty() {
        return value("argsSize is 0");
    }
    Ok(Arguments::InPlace(arguments))
}

pub fn aclrtLaunchKernel(
    cx: &Cx<'_>,
    function: Raw,
    count: u32,
    arguments: Span,
    _bytes: usize,
    stream: Raw,
) -> Result<()> {
    Launch {
        function: cx.runtime()?.function(function.0)?,
        arguments: in_place(arguments)?,
        grid: blocks(count, ErrorKind::InvalidValue)?,
        group: [1; 3],
        local_bytes: 0,
        wishes: Wishes::default(),
        stream,
    }
    .go(cx)
}

pub fn aclrtLaunchKernelV2(
    cx: &Cx<'_>,
    function: Raw,
    count: u32,
    arguments: Span,
    configuration: Configuration<'_>,
    stream: Raw,
) -> Result<()> {
    Launch {
        function: cx.runtime()?.function(function.0)?,
        arguments: in_place(arguments)?,
        grid: blocks(count, ErrorKind::InvalidValue)?,
        group: [1; 3],
        local_bytes: 0,
        wishes: wishes(configuration)?,
        stream,
    }
    .go(cx)
}

pub fn aclrtLaunchKernelWithConfig(
    cx: &Cx<'_>,
    function: Raw,
    count: u32,
    stream: Raw,
    configuration: Configuration<'_>,
    list: Raw,
    reserve: usize,
) -> Result<()> {
    if reserve != 0 {
        return refuse(ErrorKind::InvalidArgument, "reserve is not null");
    }
    let function = cx.runtime()?.function(function.0)?;
    let grid = blocks(count, ErrorKind::InvalidArgument)?;
    let ready = arguments::ready(cx, list)?;
    if !Arc::ptr_eq(ready.list.function(), &function) {
        return value(format!(
            "the argument list was made for kernel \"{}\", and \"{}\" is launched",
            ready.list.function().name(),
            function.name()
        ));
    }
    Launch {
        function,
        arguments: Arguments::Copied(ready.list.span(ready.bytes), &ready.addresses),
        grid,
        group: [1; 3],
        local_bytes: 0,
        wishes: wishes(configuration)?,
        stream,
    }
    .go(cx)
}

/// Reads place holders, and checks that they lie in the arguments.
fn holders(
    function: &Function,
    arguments: Span,
    place_holders: Option<&[types::aclrtPlaceHolderInfo]>,
    count: usize,
) -> Result<Vec<(usize, usize)>> {
    let Some(place_holders) = place_holders else {
        if count > 0 && !function.is_of_cpu() {
            return value(format!(
                "placeHolderArray is null, and placeHolderNum is {count}"
            ));
        }
        return Ok(Vec::new());
    };
    let place_holders: Vec<(usize, usize)> = place_holders
        .iter()
        .map(|place_holder| {
            (
                place_holder.addrOffset as usize,
                place_holder.dataOffset as usize,
            )
        })
        .collect();
    let outside = place_holders
        .iter()
        .find(|(at, data)| at.saturating_add(8) > arguments.bytes() || *data >= arguments.bytes());
    match outside {
        Some((at, data)) => value(format!(
            "a place holder at {at} whose data is at {data} leaves the {} bytes of the arguments",
            arguments.bytes()
        )),
        None => Ok(place_holders),
    }
}

/// What the calls with arguments in host memory are given.
pub struct HostArguments<'a> {
    /// The arguments; `None` is a null pointer.
    pub arguments: Option<Span>,
    /// The place holders.
    pub place_holders: Option<&'a [types::aclrtPlaceHolderInfo]>,
    /// How many place holders there are to be.
    pub count: usize,
}

pub fn aclrtLaunchKernelWithHostArgs(
    cx: &Cx<'_>,
    function: Raw,
    count: u32,
    stream: Raw,
    configuration: Configuration<'_>,
    host: &HostArguments<'_>,
) -> Result<()> {
    let function = cx.runtime()?.function(function.0)?;
    let Some(arguments) = host.arguments else {
        return Err(null("hostArgs"));
    };
    if arguments.is_empty() {
        return value("argsSize is 0");
    }
    let place_holders = holders(&function, arguments, host.place_holders, host.count)?;
    Launch {
        arguments: Arguments::Copied(arguments, &place_holders),
        grid: blocks(count, ErrorKind::InvalidValue)?,
        function,
        group: [1; 3],
        local_bytes: 0,
        wishes: wishes(configuration)?,
        stream,
    }
    .go(cx)
}

/// What a call with an array of arguments needs to know before it can read the array: where each value goes, and how long
/// it is.
pub fn array_of(cx: &Cx<'_>, function: usize, is_null: bool) -> Result<Vec<(usize, usize)>> {
    let function = function::symbol_or_handle(cx, function)?;
    let parameters = function::parameters(&function)?;
    if is_null && !parameters.is_empty() {
        return value(format!(
            "args is null, and kernel \"{}\" takes {} arguments",
            function.name(),
            parameters.len()
        ));
    }
    Ok(parameters
        .iter()
        .map(|parameter| (parameter.offset, parameter.bytes))
        .collect())
}

/// `block` has the arguments where [`array_of`] wants them.
pub fn aclrtLaunchKernelWithArgsArray(
    cx: &Cx<'_>,
    function: usize,
    count: u32,
    stream: Raw,
    configuration: Configuration<'_>,
    block: Span,
) -> Result<()> {
    Launch {
        function: function::symbol_or_handle(cx, function)?,
        grid: blocks(count, ErrorKind::InvalidArgument)?,
        arguments: Arguments::Copied(block, &[]),
        group: [1; 3],
        local_bytes: 0,
        wishes: wishes(configuration)?,
        stream,
    }
    .go(cx)
}

/// The grid of a launch on threads.
pub struct Grid {
    /// Blocks along x, y and z.
    pub blocks: types::dim3,
    /// Threads of a block along x, y and z.
    pub threads: types::dim3,
    /// Memory of each block's own.
    pub local_bytes: usize,
}

/// The most blocks, and the most threads of a block.
const MOST_BLOCKS: u64 = u32::MAX as u64;
const MOST_THREADS: u64 = 2048;

fn grid(function: &Function, given: &Grid) -> Result<([u32; 3], [u32; 3])> {
    let extents = |name: &str, size: &types::dim3, most: u64| {
        let all = [size.x, size.y, size.z];
        let count = all
            .iter()
            .try_fold(1_u64, |count, side| count.checked_mul(u64::from(*side)));
        match count {
            Some(1..) if count <= Some(most) => Ok(all),
            _ => value(format!(
                "{name} is {} x {} x {}; each has to be 1 at least, and their product {most} at most",
                size.x, size.y, size.z
            )),
        }
    };
    let blocks = extents("gridDim", &given.blocks, MOST_BLOCKS)?;
    let threads = extents("blockDim", &given.threads, MOST_THREADS)?;
    if !function.is_of_threads()? {
        return value(format!(
            "kernel \"{}\" is not a SIMT kernel (JUMAR_SIMT_KERNEL)",
            function.name()
        ));
    }
    if given.local_bytes > function::MOST_LOCAL_BYTES {
        return value(format!(
            "dynUbufSize is {}; a block has {} bytes",
            given.local_bytes,
            function::MOST_LOCAL_BYTES
        ));
    }
    Ok((blocks, threads))
}

/// `block` has the arguments where [`array_of`] wants them.
pub fn aclrtLaunchSIMTKernelWithArgsArray(
    cx: &Cx<'_>,
    function: usize,
    given: &Grid,
    stream: Raw,
    configuration: Configuration<'_>,
    block: Span,
) -> Result<()> {
    let function = function::symbol_or_handle(cx, function)?;
    let (blocks, threads) = grid(&function, given)?;
    Launch {
        function,
        grid: blocks,
        group: threads,
        local_bytes: given.local_bytes,
        arguments: Arguments::Copied(block, &[]),
        wishes: wishes(configuration)?,
        stream,
    }
    .go(cx)
}

pub fn aclrtLaunchSIMTKernelWithHostArgs(
    cx: &Cx<'_>,
    function: usize,
    given: &Grid,
    stream: Raw,
    configuration: Configuration<'_>,
    host: &HostArguments<'_>,
) -> Result<()> {
    let function = function::symbol_or_handle(cx, function)?;
    let Some(arguments) = host.arguments.filter(|arguments| !arguments.is_empty()) else {
        return Err(Error::new(
            ErrorKind::NullPointer,
            "hostArgs is null, or argsSize is 0",
        ));
    };
    let (blocks, threads) = grid(&function, given)?;
    let place_holders = holders(&function, arguments, host.place_holders, host.count)?;
    Launch {
        arguments: Arguments::Copied(arguments, &place_holders),
        function,
        grid: blocks,
        group: threads,
        local_bytes: given.local_bytes,
        wishes: wishes(configuration)?,
        stream,
    }
    .go(cx)
}
