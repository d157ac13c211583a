//! Kernel binaries, their functions, and launches.
//!
//! A binary is bytes until a device needs it; then the backend loads a copy for that device, once. A function is a name in
//! a binary, known on those devices on which it was asked for. A launch is an ordinary program in a stream's order. It holds
//! the code that it runs, so that unloading a binary never pulls code away from under a kernel: the handles are stale at
//! once, the code goes when the last launch has ended.

mod launch;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::Mutex;
use jumar_hal::{Code, CodeForm, CodeFunction, CodeImage, Parameter, Span, Task};
use jumar_types::{Error, ErrorKind, Result};

pub(crate) use launch::KernelLaunch;
pub use launch::{FailedLaunch, LaunchParameters};

use crate::copy::transfer;
use crate::device::Device;
use crate::gate::Op;
use crate::memory::Owner;
use crate::runtime::SharedRuntime;
use crate::{Caller, MemoryKind, Runtime, Stream};

/// A kernel binary.
pub struct Binary {
    id: u64,
    image: CodeImage,
    form: CodeForm,
    /// A number of the frontend, kept for queries.
    tag: u32,
    shared: Arc<SharedRuntime>,
    copies: Mutex<HashMap<u32, Arc<dyn Code>>>,
    functions: Mutex<HashMap<String, Arc<Function>>>,
    variables: Mutex<HashMap<(u32, String), Span>>,
}

/// A kernel.
pub struct Function {
    id: u64,
    name: String,
    form: CodeForm,
    /// The binary's handle; 0 for a kernel of the program's own objects.
    binary: u64,
    tag: u32,
    shared: Arc<SharedRuntime>,
    /// What runs on each device where the kernel was asked for; a kernel of the program's own objects runs on all.
    on: Mutex<HashMap<u32, Arc<dyn CodeFunction>>>,
    everywhere: Option<Arc<dyn CodeFunction>>,
    /// The arguments of the launch that failed last, for failure callbacks.
    failed: Mutex<Option<Arc<Kept>>>,
}

/// Where the arguments of a launch come from.
#[derive(Clone, Copy, Debug)]
pub enum Arguments<'a> {
    /// The kernel reads this memory when it runs.
    InPlace(Span),
    /// These bytes are copied before the launch returns. Each pair is the offset of an address, and the offset in the copy
    /// of what it is to point to.
    Copied(Span, &'a [(usize, usize)]),
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub group: [u32; 3],
    /// Memory of each block's own.
    ///
    /// # Units
    /// Bytes.
    pub local_bytes: usize,
    /// How long it may take; `None` forever. What takes longer is run to its end and then counts as failed, as code of the
    /// processor cannot be stopped.
    pub limit: Option<Duration>,
    /// The submitting thread, as the system numbers threads.
    pub thread: u32,
    /// Numbered values of the frontend, kept for queries of a recorded launch.
    pub attributes: &'a [Attribute],
}

/// A numbered value that a frontend keeps with a launch.
pub type Attribute = (u32, [u8; 16]);

/// Device memory that says whether kernels of a context met a result that was too large.
#[derive(Default)]
pub(crate) struct Overflow {
    state: Mutex<OverflowState>,
}

#[derive(Default)]
enum OverflowState {
    #[default]
    Unused,
    /// The memory, and what was reserved for it.
    Made(Span, Span),
    /// The context was torn down.
    Gone,
}

/// How many bytes the overflow state has.
pub const OVERFLOW_BYTES: usize = 64;

impl Overflow {
    /// Returns the memory, made now if need be.
    pub(crate) fn state(&self, shared: &SharedRuntime, device: &Device) -> Result<Span> {
        let mut state = self.state.lock();
        match *state {
            OverflowState::Unused => {}
            OverflowState::Made(span, _) => return Ok(span),
            // A launch that a teardown overtook: the memory would have no owner.
            OverflowState::Gone => {
                return Err(Error::new(
                    ErrorKind::NoContext,
                    format!("the context of device {} was destroyed", device.number()),
                ));
            }
        }
        let reserved = device.hardware(shared)?.allocate(OVERFLOW_BYTES, 64)?;
        let span = reserved
            .part(0, OVERFLOW_BYTES)
            .expect("a backend returns at least the requested bytes");
        shared.backend.fill_now(span, 0);
        let home = MemoryKind::Variable(device.number());
        shared.space.insert(
            span,
            reserved,
            home,
            Owner::Nobody,
            "the context's overflow state",
        );
        *state = OverflowState::Made(span, reserved);
        Ok(span)
    }

    pub(crate) fn drop_state(&self, shared: &SharedRuntime, device: &Device) {
        let state = std::mem::replace(&mut *self.state.lock(), OverflowState::Gone);
        let OverflowState::Made(span, reserved) = state else {
            return;
        };
        // It was put there by `state`, and only this may remove it.
        drop(shared.space.remove(span.address(), false, |_| Ok(())));
        if let Ok(hardware) = device.hardware(shared) {
            hardware.free(reserved);
        }
    }
}

/// Arguments that were copied for a launch.
struct Kept {
    shared: Arc<SharedRuntime>,
    reserved: Span,
    used: Span,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.shared.backend.free_pinned(self.reserved);
    }
}

impl Kept {
    fn copy(shared: &Arc<SharedRuntime>, from: Span, addresses: &[(usize, usize)]) -> Result<Kept> {
        let reserved = shared.backend.allocate_pinned(from.bytes().max(8))?;
        let used = reserved
            .part(0, from.bytes())
            .expect("a backend returns at least the requested bytes");
        let kept = Kept {
            shared: shared.clone(),
            reserved,
            used,
        };
        if !from.is_empty() {
            shared.backend.copy_now(transfer(used, from)?);
        }
        for &(at, target) in addresses {
            let outside = || {
                Error::new(
                    ErrorKind::InvalidValue,
                    format!(
                        "a place holder at {at} that points to {target} does not lie in arguments of {} bytes",
                        from.bytes()
                    ),
                )
            };
            let slot = used.part(at, 8).ok_or_else(outside)?;
            if target >= used.bytes() {
                return Err(outside());
            }
            let address = (used.address() + target) as u64;
            shared.backend.write_now(slot, &address.to_ne_bytes());
        }
        Ok(kept)
    }
}

impl Runtime {
    /// Takes a binary in. Nothing is loaded yet, but bytes that cannot be are refused.
    ///
    /// # Errors
    /// `InvalidValue`: what the bytes are instead.
    pub fn add_binary(&self, image: CodeImage, form: CodeForm, tag: u32) -> Result<Arc<Binary>> {
        self.shared.backend.exported_functions(&image)?;
        self.insert_binary(image, form, tag)
    }

    /// As [`Runtime::add_binary`]; code for the cores of a card is taken in too. The launch of its kernels is refused.
    ///
    /// # Errors
    /// `InvalidValue`: the bytes are neither.
    pub fn add_binary_of_any_device(
        &self,
        image: CodeImage,
        form: CodeForm,
        tag: u32,
    ) -> Result<Arc<Binary>> {
        match self.shared.backend.is_device_code(&image) {
            true => self.insert_binary(image, form, tag),
            false => self.add_binary(image, form, tag),
        }
    }

    fn insert_binary(&self, image: CodeImage, form: CodeForm, tag: u32) -> Result<Arc<Binary>> {
        self.shared.binaries.insert(|id| {
            Arc::new(Binary {
                id,
                image,
                form,
                tag,
                shared: self.shared.clone(),
                copies: Mutex::default(),
                functions: Mutex::default(),
                variables: Mutex::default(),
            })
        })
    }

    /// Lists the functions that a binary would export, without loading it.
    ///
    /// # Errors
    /// `InvalidValue`: what the bytes are instead.
    pub fn exported_functions(&self, image: &CodeImage) -> Result<Vec<String>> {
        self.shared.backend.exported_functions(image)
    }

    /// Finds a binary.
    ///
    /// # Errors
    /// `NullPointer`, `InvalidHandle`.
    pub fn binary(&self, id: u64) -> Result<Arc<Binary>> {
        self.shared.binaries.get(id)
    }

    /// Finds a kernel.
    ///
    /// # Errors
    /// `NullPointer`, `InvalidHandle`.
    pub fn function(&self, id: u64) -> Result<Arc<Function>> {
        self.shared.functions.get(id)
    }

    /// Unloads a binary: its handle, those of its kernels and its variables are gone at once. Launches that were queued
    /// still run.
    ///
    /// # Errors
    /// `NullPointer`, `InvalidHandle`.
    pub fn unload_binary(&self, id: u64, caller: &Caller<'_>) -> Result<()> {
        let binary = self.shared.binaries.remove(id, caller.call.name)?;
        let functions = std::mem::take(&mut *binary.functions.lock());
        for function in functions.values() {
            // Each handle was made with the binary and goes with it.
            drop(self.shared.functions.remove(function.id, caller.call.name));
        }
        let variables = std::mem::take(&mut *binary.variables.lock());
        for span in variables.values() {
            drop(self.shared.space.remove(span.address(), false, |_| Ok(())));
        }
        Ok(())
    }

    /// Finds the kernel of the program's own objects that begins at an address. The same address returns the same kernel.
    ///
    /// # Errors
    /// `FunctionUnknown`: no kernel that describes itself begins there.
    pub fn function_of_symbol(&self, address: usize) -> Result<Arc<Function>> {
        let unknown = || {
            Error::new(
                ErrorKind::FunctionUnknown,
                format!("no described kernel begins at {address:#x}"),
            )
        };
        let (name, code) = self.shared.backend.code_at(address).ok_or_else(unknown)?;
        let known = self.shared.functions.all().into_iter().find(|function| {
            let own = function.everywhere.as_ref();
            own.is_some_and(|own| own.code_range().0 == address)
        });
        if let Some(known) = known {
            return Ok(known);
        }
        self.shared.functions.insert(|id| {
            Arc::new(Function {
                id,
                name,
                form: CodeForm::Kernel,
                binary: 0,
                tag: 0,
                shared: self.shared.clone(),
                on: Mutex::default(),
                everywhere: Some(code),
                failed: Mutex::default(),
            })
        })
    }

    /// Finds the variable of the program's own objects that begins at an address. From then on it counts as memory of the
    /// device, unless it is registered as something else.
    ///
    /// # Errors
    /// `SymbolUnknown`: no variable that is offered to the host begins there.
    pub fn variable_of_symbol(&self, address: usize, device: u32) -> Result<Span> {
        let found = self.shared.backend.variable_at(address).ok_or_else(|| {
            Error::new(
                ErrorKind::SymbolUnknown,
                format!("no variable that is offered to the host begins at {address:#x}"),
            )
        })?;
        self.shared.make_variable(found, device);
        Ok(found)
    }
}

impl SharedRuntime {
    fn make_variable(&self, span: Span, device: u32) {
        if !span.is_empty() && self.space.find(span.address()).is_none() {
            self.space.insert(
                span,
                span,
                MemoryKind::Variable(device),
                Owner::Nobody,
                "a kernel binary",
            );
        }
    }
}

impl Binary {
    /// Returns the handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the number that the frontend keeps with it.
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// Returns how its functions are called where they do not say.
    pub fn form(&self) -> CodeForm {
        self.form
    }

    /// Loads the binary onto a device, where it is not there yet.
    ///
    /// # Errors
    /// `InvalidValue`: the system's loader refuses it.
    pub fn load(&self, device: u32) -> Result<()> {
        self.on(device).map(drop)
    }

    fn on(&self, device: u32) -> Result<Arc<dyn Code>> {
        // One load at a time; a constructor of the binary that came back here would wait for itself, so the lock is not
        // held while code of the program runs.
        if let Some(code) = self.copies.lock().get(&device) {
            return Ok(code.clone());
        }
        let code = self.shared.backend.load_code(&self.image)?;
        Ok(self.copies.lock().entry(device).or_insert(code).clone())
    }

    /// Finds a kernel by name, on a device. The same name returns the same kernel.
    ///
    /// # Errors
    /// `InvalidValue`: there is none, or the binary cannot be loaded.
    pub fn function(&self, name: &str, device: u32) -> Result<Arc<Function>> {
        self.function_called(name, name, device)
    }

    /// Finds a function and assigns it a key of the caller's; later calls with that key return the same function, whatever function
    /// they ask for.
    ///
    /// # Errors
    /// As [`Binary::function`].
    pub fn function_called(
        &self,
        name: &str,
        function: &str,
        device: u32,
    ) -> Result<Arc<Function>> {
        let known = self.functions.lock().get(name).cloned();
        let exported = known.as_ref().map_or(function, |known| known.name.as_str());
        if let Some(known) = &known
            && known.on.lock().contains_key(&device)
        {
            return Ok(known.clone());
        }
        let code = self.on(device)?.function(exported, self.form)?;
        let found = match known {
            Some(known) => known,
            None => {
                let made = self.shared.functions.insert(|id| {
                    Arc::new(Function {
                        id,
                        name: function.to_owned(),
                        form: self.form,
                        binary: self.id,
                        tag: self.tag,
                        shared: self.shared.clone(),
                        on: Mutex::default(),
                        everywhere: None,
                        failed: Mutex::default(),
                    })
                })?;
                let kept = self
                    .functions
                    .lock()
                    .entry(name.to_owned())
                    .or_insert(made.clone())
                    .clone();
                if !Arc::ptr_eq(&kept, &made) {
                    // Another thread was faster; the handle was never given out.
                    drop(
                        self.shared
                            .functions
                            .remove(made.id, "a second search for the same kernel"),
                    );
                }
                kept
            }
        };
        found.on.lock().entry(device).or_insert(code);
        Ok(found)
    }

    /// Returns the name of the exported function whose symbol has this value.
    ///
    /// # Errors
    /// `InvalidValue`: there is none, or the binary cannot be loaded.
    pub fn name_at(&self, value: u64, device: u32) -> Result<String> {
        self.on(device)?.name_at(value).ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidValue,
                format!("the binary exports no function whose symbol has the value {value:#x}"),
            )
        })
    }

    /// Finds a variable, on a device. It counts as memory of that device until the binary is unloaded.
    ///
    /// # Errors
    /// `SymbolUnknown`: the binary exports none of the name.
    pub fn variable(&self, name: &str, device: u32) -> Result<Span> {
        let found = self.on(device)?.variable(name).ok_or_else(|| {
            Error::new(
                ErrorKind::SymbolUnknown,
                format!("the binary exports no variable \"{name}\""),
            )
        })?;
        self.shared.make_variable(found, device);
        self.variables
            .lock()
            .insert((device, name.to_owned()), found);
        Ok(found)
    }

    /// Returns the memory that the binary lies in on a device.
    ///
    /// # Errors
    /// `InvalidValue`: the system's loader refuses it.
    pub fn image(&self, device: u32) -> Result<Span> {
        Ok(self.on(device)?.image())
    }
}

impl Function {
    /// Returns the handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the name under which the binary exports it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the binary's handle; 0 for a kernel of the program's own objects.
    pub fn binary(&self) -> u64 {
        self.binary
    }

    /// Returns the number that the frontend keeps with the binary.
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// Returns whether it is a function of the device's own CPU.
    pub fn is_of_cpu(&self) -> bool {
        self.form == CodeForm::Status
    }

    fn code(&self, device: u32) -> Result<Arc<dyn CodeFunction>> {
        if let Some(code) = &self.everywhere {
            return Ok(code.clone());
        }
        self.on.lock().get(&device).cloned().ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidHandle,
                format!("kernel \"{}\" was not loaded on device {device}", self.name),
            )
            .fix("Get the function again while a context of that device is current.")
        })
    }

    /// The code on some device: its description is the same on each.
    fn any_code(&self) -> Result<Arc<dyn CodeFunction>> {
        if let Some(code) = &self.everywhere {
            return Ok(code.clone());
        }
        let on = self.on.lock();
        let lowest = on.iter().min_by_key(|(device, _)| **device);
        lowest.map(|(_, code)| code.clone()).ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidHandle,
                format!("kernel \"{}\" is not loaded on any device", self.name),
            )
        })
    }

    /// Returns where its first instruction lies and how many bytes it has, on a device.
    ///
    /// # Errors
    /// `InvalidHandle`: it was not loaded there.
    pub fn code_range(&self, device: Option<u32>) -> Result<(usize, usize)> {
        match device {
            Some(device) => self.code(device).map(|code| code.code_range()),
            None => self.any_code().map(|code| code.code_range()),
        }
    }

    /// Returns the parameters; `None` where the binary does not describe them.
    ///
    /// # Errors
    /// `InvalidHandle`: it is loaded nowhere.
    pub fn parameters(&self) -> Result<Option<Vec<Parameter>>> {
        Ok(self.any_code()?.parameters().map(<[Parameter]>::to_vec))
    }

    /// Returns whether it is a kernel of threads.
    ///
    /// # Errors
    /// `InvalidHandle`: it is loaded nowhere.
    pub fn is_of_threads(&self) -> Result<bool> {
        Ok(self.any_code()?.is_of_threads())
    }

    /// Queues the kernel.
    ///
    /// # Errors
    /// `InvalidHandle`: it was not loaded on the stream's device; `InvalidValue`: the arguments are too short, or a place
    /// holder leaves them; what the gate answers.
    pub fn launch(
        self: &Arc<Self>,
        stream: &Stream,
        arguments: Arguments<'_>,
        shape: Shape<'_>,
        caller: &Caller<'_>,
    ) -> Result<u64> {
        let device = self.shared.device(i64::from(stream.device()))?;
        let overflow = || {
            let state = stream.overflow.state(&self.shared, &device)?;
            Ok((state, stream.detects_overflow()))
        };
        let program = self.prepare(stream.device(), arguments, shape, overflow, caller)?;
        if !self.shared.gate.is_observed() && !stream.is_recorded() {
            let task = Task::Run(program);
            let op = || Op::Launch {
                name: &self.name,
                reads: &[],
                writes: &[],
            };
            return stream.queue_with(caller, task, [], op);
        }
        let (reads, writes) = program.touches();
        stream.launch(program, &reads, &writes, caller)
    }
}

/// Host memory in which a list of arguments is put together. A program may write parts of it by itself.
pub struct ArgumentBuffer {
    kept: Kept,
}

impl ArgumentBuffer {
    /// Returns the memory.
    pub fn span(&self) -> Span {
        self.kept.used
    }

    /// Copies bytes into it.
    ///
    /// # Errors
    /// `InvalidValue`: they do not fit.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let Some(target) = self.kept.used.part(offset, bytes.len()) else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "{} bytes at {offset} do not fit into arguments of {} bytes",
                    bytes.len(),
                    self.kept.used.bytes()
                ),
            ));
        };
        self.kept.shared.backend.write_now(target, bytes);
        Ok(())
    }
}

impl Runtime {
    /// Makes memory for a list of arguments, all zero.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn argument_buffer(&self, bytes: usize) -> Result<ArgumentBuffer> {
        let reserved = self.shared.backend.allocate_pinned(bytes.max(8))?;
        let used = reserved
            .part(0, bytes)
            .expect("a backend returns at least the requested bytes");
        self.shared.backend.fill_now(used, 0);
        Ok(ArgumentBuffer {
            kept: Kept {
                shared: self.shared.clone(),
                reserved,
                used,
            },
        })
    }
}
