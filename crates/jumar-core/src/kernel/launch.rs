//! One launch: its checks, its task, and the report about it afterwards.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::Instant;
use jumar_hal::{Access, CodeFunction, Launch, Parameter, Program, Span};
use jumar_types::{Error, ErrorKind, Result, TaskSite};

use super::{Arguments, Attribute, Function, Kept, Shape};
use crate::runtime::SharedRuntime;
use crate::{Caller, MemoryKind};

/// What a recorded launch is, as programs ask for it.
#[derive(Clone)]
pub struct LaunchParameters {
    /// The kernel.
    pub function: Arc<Function>,
    /// The argument block: the copy that was made of it, or where the program keeps it.
    pub arguments: Span,
    /// Whether the block is a copy, in host memory.
    pub copied: bool,
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// The numbered values that came with the launch.
    pub attributes: Box<[Attribute]>,
}

impl Function {
    /// Checks a launch and makes its task.
    pub(super) fn prepare(
        self: &Arc<Self>,
        device: u32,
        arguments: Arguments<'_>,
        shape: Shape<'_>,
        overflow: impl FnOnce() -> Result<(Span, bool)>,
        caller: &Caller<'_>,
    ) -> Result<Arc<KernelLaunch>> {
        let code = self.code(device)?;
        code.check_runnable()?;
        let given = match arguments {
            Arguments::InPlace(span) | Arguments::Copied(span, _) => span,
        };
        self.check_length(code.parameters(), given.bytes())?;
        let kept = match arguments {
            Arguments::InPlace(_) => None,
            Arguments::Copied(from, addresses) => {
                Some(Arc::new(Kept::copy(&self.shared, from, addresses)?))
            }
        };
        // What the card could not read fails as it would there: when the kernel runs.
        let unreadable = match arguments {
            Arguments::Copied(..) => None,
            Arguments::InPlace(span) if span.is_empty() => None,
            Arguments::InPlace(span) => {
                match self
                    .shared
                    .space
                    .resolve(span, caller.lookups, "argument block")
                {
                    Ok(found) if found.home == MemoryKind::Host => Some(format!(
                        "the argument block at {:#x} is in pageable host memory, which a device cannot read",
                        span.address()
                    )),
                    Ok(_) => None,
                    Err(error) => Some(error.sentence().to_owned()),
                }
            }
        };
        let (overflow, fails_on_overflow) = overflow()?;
        Ok(Arc::new(KernelLaunch {
            function: self.clone(),
            launch: Launch {
                arguments: kept.as_ref().map_or(given, |kept| kept.used),
                grid: shape.grid,
                group: shape.group,
                local_bytes: shape.local_bytes,
                device,
            },
            code,
            kept,
            limit: shape.limit,
            thread: shape.thread,
            overflow,
            fails_on_overflow,
            unreadable,
            attributes: shape.attributes.into(),
            holders: match arguments {
                Arguments::InPlace(_) => Box::default(),
                Arguments::Copied(_, holders) => holders.into(),
            },
        }))
    }

    fn check_length(&self, parameters: Option<&[Parameter]>, bytes: usize) -> Result<()> {
        let Some(parameters) = parameters else {
            return Ok(());
        };
        let end = parameters.last().map_or(0, |last| last.offset + last.bytes);
        if bytes >= end {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::InvalidValue,
            format!(
                "the arguments have {bytes} bytes, and kernel \"{}\" takes {} parameters in {end} bytes",
                self.name,
                parameters.len()
            ),
        )
        .fix("Let each parameter begin at a multiple of 8 bytes, in the order in which the kernel declares them."))
    }
}

/// One launch.
pub(crate) struct KernelLaunch {
    function: Arc<Function>,
    code: Arc<dyn CodeFunction>,
    launch: Launch,
    kept: Option<Arc<Kept>>,
    limit: Option<Duration>,
    thread: u32,
    overflow: Span,
    fails_on_overflow: bool,
    unreadable: Option<String>,
    attributes: Box<[Attribute]>,
    /// The place holders of copied arguments: the offset of each address, and of what it points to.
    holders: Box<[(usize, usize)]>,
}

impl Program for KernelLaunch {
    fn run(&self) -> Result<()> {
        let name = &self.function.name;
        if let Some(why) = &self.unreadable {
            return Err(self.failed(Error::new(
                ErrorKind::KernelFailed,
                format!("kernel \"{name}\" was not run: {why}"),
            )));
        }
        let begin = self.limit.map(|_| Instant::now());
        let report = self.code.run(&self.launch);
        if report.overflowed
            && let Some(flag) = self.overflow.part(0, 1)
        {
            self.function.shared.backend.fill_now(flag, 1);
        }
        let cpu = self.function.is_of_cpu();
        let error = if let Some(failure) = report.failure {
            let said = match failure.text.as_str() {
                "" => String::new(),
                text => format!(": {text}"),
            };
            let kind = match cpu {
                true => ErrorKind::CpuKernelFailed,
                false => ErrorKind::KernelFailed,
            };
            Error::new(
                kind,
                format!(
                    "kernel \"{name}\" failed in block {} of {} with status {}{said}",
                    failure.block,
                    self.launch.blocks(),
                    failure.status
                ),
            )
        } else if let (Some(begin), Some(limit)) = (begin, self.limit)
            && begin.elapsed() > limit
        {
            let kind = match cpu {
                true => ErrorKind::CpuKernelTimeout,
                false => ErrorKind::KernelTimeout,
            };
            Error::new(
                kind,
                format!(
                    "kernel \"{name}\" took {} microseconds and may take {}; it was run to its end",
                    begin.elapsed().as_micros(),
                    limit.as_micros()
                ),
            )
        } else if report.overflowed && self.fails_on_overflow {
            Error::new(
                ErrorKind::Overflow,
                format!("kernel \"{name}\" met a result that was too large, or divided by zero"),
            )
        } else {
            return Ok(());
        };
        Err(self.failed(error))
    }

    fn name(&self) -> &str {
        &self.function.name
    }
}

impl KernelLaunch {
    /// Returns the launch's description.
    pub(crate) fn parameters(&self) -> LaunchParameters {
        LaunchParameters {
            function: self.function.clone(),
            arguments: self.launch.arguments,
            copied: self.kept.is_some(),
            grid: self.launch.grid,
            attributes: self.attributes.clone(),
        }
    }

    /// Creates a replacement of this launch, on the same device. The same number of blocks has the same layout. Pointers in the
    /// arguments to this launch's own copy of them point to the new copy.
    pub(crate) fn replaced(
        &self,
        function: &Arc<Function>,
        device: u32,
        arguments: Arguments<'_>,
        mut shape: Shape<'_>,
        caller: &Caller<'_>,
    ) -> Result<Arc<KernelLaunch>> {
        let threads = |function: &Function| function.is_of_threads().unwrap_or(false);
        if threads(function) && threads(&self.function) {
            shape.group = self.launch.group;
            shape.local_bytes = shape.local_bytes.max(self.launch.local_bytes);
            if shape.grid == [self.launch.blocks(), 1, 1] {
                shape.grid = self.launch.grid;
            }
        }
        let overflow = || Ok((self.overflow, self.fails_on_overflow));
        let Arguments::Copied(from, []) = arguments else {
            return function.prepare(device, arguments, shape, overflow, caller);
        };
        let own = self.launch.arguments.address() as u64;
        let still_own = |&&(at, target): &&(usize, usize)| {
            let mut bytes = [0; 8];
            from.part(at, 8).is_some_and(|source| {
                self.function.shared.backend.read_now(source, &mut bytes);
                u64::from_ne_bytes(bytes) == own + target as u64
            })
        };
        let holders: Vec<_> = self.holders.iter().filter(still_own).copied().collect();
        let arguments = Arguments::Copied(from, &holders);
        function.prepare(device, arguments, shape, overflow, caller)
    }

    /// Makes the same launch of another kernel.
    ///
    /// # Errors
    /// `InvalidHandle`: the kernel is not loaded on the device; `InvalidValue`: it takes more arguments than there are.
    pub(crate) fn with_function(
        &self,
        function: &Arc<Function>,
        device: u32,
        blocks: u32,
    ) -> Result<Arc<KernelLaunch>> {
        let code = function.code(device)?;
        code.check_runnable()?;
        function.check_length(code.parameters(), self.launch.arguments.bytes())?;
        let grid = match blocks == self.launch.blocks() {
            true => self.launch.grid,
            false => [blocks, 1, 1],
        };
        Ok(Arc::new(KernelLaunch {
            function: function.clone(),
            code,
            launch: Launch {
                grid,
                ..self.launch
            },
            kept: self.kept.clone(),
            holders: self.holders.clone(),
            limit: self.limit,
            thread: self.thread,
            overflow: self.overflow,
            fails_on_overflow: self.fails_on_overflow,
            unreadable: self.unreadable.clone(),
            attributes: self.attributes.clone(),
        }))
    }

    /// Adds the launch to an error, and keeps its arguments for failure callbacks.
    fn failed(&self, error: Error) -> Error {
        self.function.failed.lock().clone_from(&self.kept);
        let arguments = self.launch.arguments;
        error.of_task(TaskSite {
            thread: self.thread,
            function: self.function.id,
            arguments: (arguments.address(), arguments.bytes()),
            ..TaskSite::default()
        })
    }

    /// The memory that the kernel may access, as far as its description and its arguments show: the allocations that its
    /// pointers point into. Arguments in device memory may not be there yet, so that they are not read.
    pub(crate) fn touches(&self) -> (Vec<Span>, Vec<Span>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        if self.kept.is_none() {
            reads.push(self.launch.arguments);
            return (reads, writes);
        }
        let parameters = self.code.parameters().unwrap_or(&[]);
        for (access, rest) in pointed_to(&self.function.shared, parameters, self.launch.arguments) {
            reads.push(rest);
            if access != Access::Read {
                writes.push(rest);
            }
        }
        (reads, writes)
    }
}

/// What the pointers among copied arguments point to, up to the end of its allocation.
fn pointed_to(
    shared: &SharedRuntime,
    parameters: &[Parameter],
    arguments: Span,
) -> Vec<(Access, Span)> {
    let pointers = parameters
        .iter()
        .filter(|parameter| parameter.bytes == 8 && parameter.access != Access::Value);
    pointers
        .filter_map(|parameter| {
            let mut bytes = [0; 8];
            shared
                .backend
                .read_now(arguments.part(parameter.offset, 8)?, &mut bytes);
            let address = u64::from_ne_bytes(bytes) as usize;
            let block = shared.space.reach(address, usize::MAX)?;
            let offset = address - block.span.address();
            let rest = block.span.part(offset, block.span.bytes() - offset)?;
            Some((parameter.access, rest))
        })
        .collect()
}

/// What the launch of a kernel that failed last was given.
pub struct FailedLaunch {
    kept: Arc<Kept>,
    /// What its pointers point to, and what the kernel does with it.
    pub memory: Vec<(Access, Span)>,
}

impl FailedLaunch {
    /// Returns the argument block.
    pub fn arguments(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.kept.used.bytes()];
        let backend = &self.kept.shared.backend;
        backend.read_now(self.kept.used, &mut bytes);
        bytes
    }
}

impl Function {
    /// Returns what the launch was given that failed last; none where its arguments were not copied.
    pub fn failed_launch(&self) -> Option<FailedLaunch> {
        let kept = self.failed.lock().clone()?;
        let parameters = self.parameters().ok().flatten().unwrap_or_default();
        let memory = pointed_to(&self.shared, &parameters, kept.used);
        Some(FailedLaunch { kept, memory })
    }
}
