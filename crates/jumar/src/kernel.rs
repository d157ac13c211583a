//! Kernels of the program: functions of shared objects that streams run.
//!
//! A kernel is code of this machine that runs in this process, so that loading it and launching it are unsafe.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use jumar_core::{Access, Arguments, Binary, CodeForm, CodeImage, Function, Parameter, Shape};
use jumar_types::{Error, ErrorKind, Result};

use crate::buffer::{DeviceBuffer, DevicePart, Memory};
use crate::call::{self, by};
use crate::context::{self, Context};
use crate::element::Element;
use crate::stream::Stream;

/// The text in each binary that this release's compiler for Triton's kernels makes: Triton's cache outlives an installation, and a binary
/// of another release is refused. The number behind the release changes with what a binary and its launch agree on.
pub const TRITON_KERNELS: &str = concat!("jumar-triton-kernel:", env!("CARGO_PKG_VERSION"), "/1");

/// A shared object with kernels, compiled with `jumar/kernel.h`. A clone refers to the same one.
///
/// ```no_run
/// use jumar::{DeviceBuffer, KernelModule, Runtime};
///
/// let runtime = Runtime::new()?;
/// let context = runtime.device(0)?.context()?;
/// let stream = context.stream()?;
/// // SAFETY: the file was compiled from a source whose kernels stay inside the buffers that they are passed.
/// let module = unsafe { KernelModule::load(&context, "add.so") }?;
/// let add = module.kernel("add")?;
///
/// let x = DeviceBuffer::from_slice(&context, &[1.0f32, 2.0])?;
/// let z = DeviceBuffer::<f32>::new(&context, 2)?;
/// // SAFETY: void add(const float *x, const float *y, float *z, uint32_t n), with n elements behind each pointer.
/// unsafe { stream.launch(&add, 1, &[(&x).into(), (&x).into(), (&z).into(), 2u32.into()]) }?;
/// assert_eq!(stream.read(&z)?, [2.0, 4.0]);
/// # Ok::<(), jumar::Error>(())
/// ```
///
/// # Ownership
/// It holds its context. Its kernels hold it, and queued launches hold the code that they run.
#[derive(Clone)]
pub struct KernelModule {
    inner: Arc<SharedModule>,
}

/// What the names of a module share.
struct SharedModule {
    context: Arc<context::SharedContext>,
    core: Arc<Binary>,
}

/// A kernel: made by [`KernelModule::kernel`].
#[derive(Clone)]
pub struct Kernel {
    module: KernelModule,
    core: Arc<Function>,
    parameters: Arc<[Parameter]>,
}

/// How many blocks a kernel runs in, and for a kernel of threads how many threads a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub group: [u32; 3],
    /// Memory of each block's own.
    ///
    /// # Units
    /// Bytes.
    pub local_bytes: usize,
}

impl From<u32> for LaunchConfig {
    /// Creates a launch of `blocks` blocks along x, with one thread each.
    fn from(blocks: u32) -> LaunchConfig {
        LaunchConfig {
            grid: [blocks, 1, 1],
            group: [1, 1, 1],
            local_bytes: 0,
        }
    }
}

/// An argument of a kernel: a device buffer or a part of one, made with `(&buffer).into()`, or a number.
#[derive(Clone, Copy)]
pub struct KernelArg<'a>(Value<'a>);

#[derive(Clone, Copy)]
enum Value<'a> {
    Buffer {
        memory: &'a Arc<Memory>,
        device: u32,
        address: usize,
    },
    Number {
        bytes: [u8; 8],
        len: usize,
    },
}

impl<'a, T: Element> From<&'a DeviceBuffer<T>> for KernelArg<'a> {
    fn from(buffer: &'a DeviceBuffer<T>) -> KernelArg<'a> {
        crate::buffer::OnDevice::as_part(buffer).into()
    }
}

impl<'a, T: Element> From<DevicePart<'a, T>> for KernelArg<'a> {
    fn from(part: DevicePart<'a, T>) -> KernelArg<'a> {
        KernelArg(Value::Buffer {
            memory: part.memory,
            device: part.device,
            address: part.span().address(),
        })
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl From<$number> for KernelArg<'_> {
            fn from(number: $number) -> Self {
                let mut bytes = [0; 8];
                bytes[..size_of::<$number>()].copy_from_slice(&number.to_ne_bytes());
                KernelArg(Value::Number { bytes, len: size_of::<$number>() })
            }
        })*
    };
}

numbers!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

impl<'a> KernelArg<'a> {
    pub(crate) fn memory(&self) -> Option<&'a Arc<Memory>> {
        match self.0 {
            Value::Buffer { memory, .. } => Some(memory),
            Value::Number { .. } => None,
        }
    }
}

impl fmt::Debug for KernelArg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Value::Buffer { address, .. } => write!(f, "buffer at {address:#x}"),
            Value::Number { bytes, len } => write!(f, "number {:x?}", &bytes[..*len]),
        }
    }
}

impl KernelModule {
    /// Loads a shared object. Its code is loaded when its first kernel is asked for.
    ///
    /// # Safety
    /// The file's constructors run in this process. They and the kernels are code that the caller trusts.
    ///
    /// # Errors
    /// `InvalidFile`: the file cannot be read; `InvalidValue`: it is not a shared object of this machine.
    #[expect(unsafe_code, reason = "foreign code is loaded into the process")]
    pub unsafe fn load(context: &Context, path: impl AsRef<Path>) -> Result<KernelModule> {
        let path = path.as_ref();
        by(&call::LOAD_KERNELS, |_| {
            let bytes = std::fs::read(path).map_err(|error| {
                let sentence = format!("the kernels {} cannot be read: {error}", path.display());
                Error::new(ErrorKind::InvalidFile, sentence)
            })?;
            let image = CodeImage {
                bytes: bytes.into(),
                file: Some(path.to_owned()),
            };
            let runtime = &context.inner.runtime.core;
            let core = runtime.add_binary(image, CodeForm::Kernel, 0)?;
            Ok(KernelModule {
                inner: Arc::new(SharedModule {
                    context: context.inner.clone(),
                    core,
                }),
            })
        })
    }

    /// Finds a kernel by the name of its function.
    ///
    /// # Errors
    /// `InvalidValue`: the object has none of this name, cannot be loaded, or does not describe the kernel's parameters.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        by(&call::FIND_KERNEL, |_| {
            let device = self.inner.context.core.device().number();
            let core = self.inner.core.function(name, device)?;
            let parameters = core.parameters()?.ok_or_else(|| {
                let sentence = format!("kernel \"{name}\" does not describe its parameters");
                Error::new(ErrorKind::InvalidValue, sentence)
                    .fix("Put JUMAR_KERNEL behind the function; docs/kernels.md shows how.")
            })?;
            Ok(Kernel {
                module: self.clone(),
                core,
                parameters: parameters.into(),
            })
        })
    }
}

impl Drop for SharedModule {
    fn drop(&mut self) {
        // A runtime that was shut down took the binary along.
        drop(by(&call::DROP_KERNELS, |caller| {
            let runtime = &self.context.runtime.core;
            runtime.unload_binary(self.core.id(), caller)
        }));
    }
}

impl fmt::Debug for KernelModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelModule")
            .field("id", &self.inner.core.id())
            .finish()
    }
}

impl Kernel {
    /// Returns the name of the function.
    pub fn name(&self) -> &str {
        self.core.name()
    }

    /// Returns the number of parameters.
    pub fn parameters(&self) -> usize {
        self.parameters.len()
    }

    /// Lays the arguments out as the kernel describes its parameters, and queues the launch.
    pub(crate) fn submit(
        &self,
        stream: &Stream,
        config: LaunchConfig,
        args: &[KernelArg<'_>],
    ) -> Result<()> {
        by(&call::LAUNCH, |caller| {
            let context = &self.module.inner.context;
            if !Arc::ptr_eq(&stream.inner.context, context) {
                let sentence = format!(
                    "kernel \"{}\" was loaded in another context than that of stream {}",
                    self.name(),
                    stream.number()
                );
                return Err(Error::new(ErrorKind::StreamContext, sentence)
                    .fix("Make the stream in the context of the kernel's module."));
            }
            let end = self
                .parameters
                .last()
                .map_or(0, |last| last.offset + last.bytes);
            if args.len() != self.parameters.len() {
                return Err(self.refuse(format!(
                    "takes {} arguments, and {} were given",
                    self.parameters.len(),
                    args.len()
                )));
            }
            let block = context.runtime.core.argument_buffer(end)?;
            for (index, (parameter, arg)) in self.parameters.iter().zip(args).enumerate() {
                match &arg.0 {
                    Value::Buffer {
                        memory,
                        device,
                        address,
                    } => {
                        stream.owns(memory)?;
                        stream.reaches(*device)?;
                        if parameter.access == Access::Value || parameter.bytes != 8 {
                            return Err(self.refuse(format!(
                                "takes a number of {} bytes as argument {index}, and a buffer was given",
                                parameter.bytes
                            )));
                        }
                        block.write(parameter.offset, &address.to_ne_bytes())?;
                    }
                    Value::Number { bytes, len } => {
                        // A description from C does not distinguish pointers from numbers.
                        let pointer = matches!(parameter.access, Access::Read | Access::Write);
                        if pointer || parameter.bytes != *len {
                            return Err(self.refuse(format!(
                                "takes {} of {} bytes as argument {index}, and a number of {len} bytes was given",
                                if pointer { "a pointer" } else { "a number" },
                                parameter.bytes
                            )));
                        }
                        block.write(parameter.offset, &bytes[..*len])?;
                    }
                }
            }
            let shape = Shape {
                grid: config.grid,
                group: config.group,
                local_bytes: config.local_bytes,
                limit: None,
                thread: 0,
                attributes: &[],
            };
            let memory: Vec<&Arc<Memory>> = args.iter().filter_map(KernelArg::memory).collect();
            stream
                .submit(&[], &memory, caller, |core| {
                    let arguments = Arguments::Copied(block.span(), &[]);
                    self.core.launch(core, arguments, shape, caller).map(drop)
                })
                .map(drop)
        })
    }

    fn refuse(&self, what: String) -> Error {
        let sentence = format!("kernel \"{}\" {what}", self.name());
        Error::new(ErrorKind::InvalidValue, sentence)
            .fix("Pass the arguments in the order and types of the kernel's declaration.")
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name())
            .field("parameters", &self.parameters())
            .finish()
    }
}

impl Stream {
    /// Queues a kernel. The numbers among the arguments are copied before the call returns.
    ///
    /// # Safety
    /// The kernel reads and writes nothing but the buffers that it is passed, within their lengths. Number and sizes of the arguments
    /// are compared with the kernel's own description; what they mean is not known.
    ///
    /// # Errors
    /// `InvalidValue`: the number or the sizes of the arguments are not the kernel's; `StreamContext`: the stream is of another
    /// context; `InvalidDevice`, `InvalidHandle`: a buffer lies elsewhere.
    #[expect(
        unsafe_code,
        reason = "the caller guarantees what the kernel does with its arguments"
    )]
    pub unsafe fn launch(
        &self,
        kernel: &Kernel,
        config: impl Into<LaunchConfig>,
        args: &[KernelArg<'_>],
    ) -> Result<()> {
        kernel.submit(self, config.into(), args)
    }
}
