//! The plug-in for ranks on several machines: `libjumar_gloo.so`, loaded by name. Its interface is `plugins/gloo/jumar_gloo.h`.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jumar_hal::Span;
use jumar_hal::sync::Mutex;

/// The version of the interface.
const VERSION: u32 = 1;
const LIBRARY: &CStr = c"libjumar_gloo.so";
/// The longest sentence that the plug-in writes.
const SENTENCE: usize = 512;
/// The longest address of one end of a connection.
pub const ADDRESS_BYTES: usize = 256;
/// How much memory of transfers that have ended is kept for later ones.
const SPARE_BYTES: usize = 16 << 20;
/// No wait lasts longer: a time that runs out in Gloo ends all its connections.
const FOREVER: Duration = Duration::from_secs(360_000);

type Create = unsafe extern "C" fn(*const c_char, i32, i32, u64, *mut c_char, usize) -> *mut c_void;
type Address = unsafe extern "C" fn(*mut c_void, i32, *mut u8, usize) -> i64;
type Connect = unsafe extern "C" fn(*mut c_void, i32, *const u8, usize, *mut c_char, usize) -> i32;
type Prepare =
    unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut c_char, usize) -> *mut c_void;
type Start = unsafe extern "C" fn(*mut c_void, i32, u64, *mut c_char, usize) -> i32;
type WaitSend = unsafe extern "C" fn(*mut c_void, u64, *mut c_char, usize) -> i32;
type WaitReceive = unsafe extern "C" fn(*mut c_void, u64, *mut i32, *mut c_char, usize) -> i32;
type Consume = unsafe extern "C" fn(*mut c_void);

/// The functions of the plug-in.
#[derive(Clone, Copy)]
struct Functions {
    create: Create,
    address: Address,
    connect: Connect,
    close: Consume,
    destroy: Consume,
    prepare: Prepare,
    send: Start,
    receive: Start,
    wait_send: WaitSend,
    wait_receive: WaitReceive,
    abort: Consume,
    release: Consume,
}

/// The loaded plug-in. It stays loaded: its threads run until the process ends.
#[derive(Clone, Copy)]
pub struct Plugin(Functions);

/// Why a transfer did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Another thread aborted it.
    Aborted,
    /// The connection failed.
    Failed(String),
}

fn loader_error() -> String {
    // SAFETY: the call takes nothing.
    let text = unsafe { libc::dlerror() };
    match text.is_null() {
        true => format!("{} cannot be loaded", LIBRARY.to_string_lossy()),
        // SAFETY: a string that ends in a zero, valid until the thread's next call of the loader.
        false => unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    }
}

fn symbol(library: *mut c_void, name: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: the library is loaded and never unloaded; the name ends in a zero.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    match found.is_null() {
        true => Err(loader_error()),
        false => Ok(found),
    }
}

impl Plugin {
    /// Returns the plug-in, loaded at the first call, or why it cannot be used.
    pub fn get() -> Result<Plugin, String> {
        static LOADED: OnceLock<Result<Plugin, String>> = OnceLock::new();
        LOADED.get_or_init(Plugin::load).clone()
    }

    fn load() -> Result<Plugin, String> {
        // SAFETY: the name ends in a zero. The library runs no code of its own when it is loaded.
        let library = unsafe { libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return Err(loader_error());
        }
        let version = symbol(library, c"jumar_gloo_version")?;
        // SAFETY: the symbol has this type in every version of the interface.
        let version: unsafe extern "C" fn() -> u32 = unsafe { std::mem::transmute(version) };
        // SAFETY: the function takes nothing.
        let version = unsafe { version() };
        if version != VERSION {
            return Err(format!(
                "{} has version {version} of the interface; this library needs version {VERSION}",
                LIBRARY.to_string_lossy()
            ));
        }
        macro_rules! function {
            ($name:literal as $type:ty) => {{
                let found = symbol(library, $name)?;
                // SAFETY: the symbol has this type in version 1 of the interface.
                unsafe { std::mem::transmute::<*mut c_void, $type>(found) }
            }};
        }
        Ok(Plugin(Functions {
            create: function!(c"jumar_gloo_create" as Create),
            address: function!(c"jumar_gloo_address" as Address),
            connect: function!(c"jumar_gloo_connect" as Connect),
            close: function!(c"jumar_gloo_close" as Consume),
            destroy: function!(c"jumar_gloo_destroy" as Consume),
            prepare: function!(c"jumar_gloo_prepare" as Prepare),
            send: function!(c"jumar_gloo_send" as Start),
            receive: function!(c"jumar_gloo_receive" as Start),
            wait_send: function!(c"jumar_gloo_wait_send" as WaitSend),
            wait_receive: function!(c"jumar_gloo_wait_receive" as WaitReceive),
            abort: function!(c"jumar_gloo_abort" as Consume),
            release: function!(c"jumar_gloo_release" as Consume),
        }))
    }
}

/// A buffer for the plug-in's sentences.
struct Sentence([u8; SENTENCE]);

impl Sentence {
    fn new() -> Sentence {
        Sentence([0; SENTENCE])
    }

    fn start(&mut self) -> *mut c_char {
        self.0.as_mut_ptr().cast()
    }

    fn text(&self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0);
        let text = String::from_utf8_lossy(&self.0[..end.unwrap_or(SENTENCE)]);
        // Gloo begins with the position in its own source: "[file:line] ".
        let sentence = text
            .split_once("] ")
            .map_or(&*text, |(_, sentence)| sentence);
        sentence.trim().to_owned()
    }
}

/// One rank's end of the connections between all ranks.
pub struct Ends {
    functions: Functions,
    handle: *mut c_void,
    size: u32,
    rank: u32,
    /// Memory for what is received: fresh memory would cost as much as the transfer.
    spare: Mutex<Vec<Box<[u8]>>>,
}

// SAFETY: the plug-in's functions may be called by any thread.
unsafe impl Send for Ends {}
// SAFETY: as before; at the same time too.
unsafe impl Sync for Ends {}

impl Ends {
    /// Creates the ends of a rank, which listen at an address of this machine.
    ///
    /// # Errors
    /// What Gloo refused.
    pub fn create(
        plugin: Plugin,
        host: IpAddr,
        (size, rank): (u32, u32),
        limit: Duration,
    ) -> Result<Arc<Ends>, String> {
        let mut error = Sentence::new();
        let host = CString::new(host.to_string()).map_err(|error| error.to_string())?;
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let number = |rank: u32| i32::try_from(rank).unwrap_or(i32::MAX);
        let (own, count) = (number(rank), number(size));
        // SAFETY: the host's name ends in a zero, and the buffer for the sentence has the length that is passed.
        let handle =
            unsafe { (plugin.0.create)(host.as_ptr(), own, count, limit, error.start(), SENTENCE) };
        match handle.is_null() {
            true => Err(error.text()),
            false => Ok(Arc::new(Ends {
                functions: plugin.0,
                handle,
                size,
                rank,
                spare: Mutex::default(),
            })),
        }
    }

    fn other(&self, rank: u32) -> Result<c_int, String> {
        match rank < self.size && rank != self.rank {
            true => Ok(rank.cast_signed()),
            false => Err(format!("rank {rank} is not another rank")),
        }
    }

    /// Returns the address at which another rank finds this one.
    ///
    /// # Errors
    /// It is longer than every known one.
    pub fn address(&self, rank: u32) -> Result<Vec<u8>, String> {
        let rank = self.other(rank)?;
        let mut bytes = vec![0; ADDRESS_BYTES];
        // SAFETY: the buffer has the length that is passed.
        let length =
            unsafe { (self.functions.address)(self.handle, rank, bytes.as_mut_ptr(), bytes.len()) };
        let length = usize::try_from(length).ok();
        let length = length.filter(|length| *length <= ADDRESS_BYTES);
        bytes.truncate(length.ok_or("an address of Gloo is too long")?);
        Ok(bytes)
    }

    /// Connects with another rank, and waits for it.
    ///
    /// # Errors
    /// It did not come, or its address is none.
    pub fn connect(&self, rank: u32, address: &[u8]) -> Result<(), String> {
        let rank = self.other(rank)?;
        let mut error = Sentence::new();
        let (start, length) = (address.as_ptr(), address.len());
        // SAFETY: the address has that length, and so has the buffer for the sentence.
        let done = unsafe {
            (self.functions.connect)(self.handle, rank, start, length, error.start(), SENTENCE)
        };
        if done == 0 { Ok(()) } else { Err(error.text()) }
    }

    /// Returns memory of so many bytes; what it holds may be of an earlier transfer.
    fn memory(&self, bytes: usize) -> Box<[u8]> {
        let mut spare = self.spare.lock();
        match spare.iter().rposition(|one| one.len() == bytes) {
            Some(at) => spare.swap_remove(at),
            None => vec![0; bytes].into_boxed_slice(),
        }
    }

    /// Keeps memory for later transfers.
    fn keep(&self, memory: Box<[u8]>) {
        let mut spare = self.spare.lock();
        let kept: usize = spare.iter().map(|one| one.len()).sum();
        if kept + memory.len() <= SPARE_BYTES {
            spare.push(memory);
        }
    }

    /// Closes all connections: what waits fails.
    pub fn close(&self) {
        // SAFETY: the handle is valid.
        unsafe { (self.functions.close)(self.handle) };
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        // SAFETY: the handle is valid, and this is its last use: transfers keep these ends.
        unsafe { (self.functions.destroy)(self.handle) };
    }
}

/// Memory of one transfer.
pub struct Transit {
    ends: Arc<Ends>,
    handle: *mut c_void,
    start: *mut u8,
    bytes: usize,
    /// The memory is this object's own.
    owned: bool,
    sends: bool,
}

// SAFETY: the plug-in's functions may be called by any thread; the memory is read after the transfer has ended alone.
unsafe impl Send for Transit {}
// SAFETY: as before; at the same time too.
unsafe impl Sync for Transit {}

impl Transit {
    fn prepare(
        ends: &Arc<Ends>,
        (start, bytes, owned): (*mut u8, usize, bool),
        sends: bool,
    ) -> Result<Transit, Broken> {
        let mut error = Sentence::new();
        let prepare = ends.functions.prepare;
        // SAFETY: the memory stays until the transit is dropped: it is the transit's own, or the caller guarantees it.
        let handle = unsafe { prepare(ends.handle, start.cast(), bytes, error.start(), SENTENCE) };
        let transit = Transit {
            ends: ends.clone(),
            handle,
            start,
            bytes,
            owned,
            sends,
        };
        match handle.is_null() {
            true => Err(Broken::Failed(error.text())),
            false => Ok(transit),
        }
    }

    fn own(ends: &Arc<Ends>, content: Box<[u8]>, sends: bool) -> Result<Transit, Broken> {
        let content = Box::leak(content);
        let memory = (content.as_mut_ptr(), content.len(), true);
        Transit::prepare(ends, memory, sends)
    }

    fn of(ends: &Arc<Ends>, span: Span, sends: bool) -> Result<Transit, Broken> {
        let start = std::ptr::with_exposed_provenance_mut(span.address());
        Transit::prepare(ends, (start, span.bytes(), false), sends)
    }

    fn begin(self, rank: i32, tag: u64) -> Result<Transit, Broken> {
        let mut error = Sentence::new();
        let functions = &self.ends.functions;
        let start = match self.sends {
            true => functions.send,
            false => functions.receive,
        };
        // SAFETY: the handle is valid, and the buffer for the sentence has the length that is passed.
        let done = unsafe { start(self.handle, rank, tag, error.start(), SENTENCE) };
        match done {
            0 => Ok(self),
            _ => Err(Broken::Failed(error.text())),
        }
    }

    fn to_or_from(ends: &Ends, rank: u32) -> Result<i32, Broken> {
        ends.other(rank).map_err(Broken::Failed)
    }

    /// Starts to send bytes.
    ///
    /// # Errors
    /// The connection failed.
    pub fn send(
        ends: &Arc<Ends>,
        rank: u32,
        tag: u64,
        content: Vec<u8>,
    ) -> Result<Transit, Broken> {
        let rank = Transit::to_or_from(ends, rank)?;
        Transit::own(ends, content.into_boxed_slice(), true)?.begin(rank, tag)
    }

    /// Starts to send memory, which has to stay as it is until the transit is dropped.
    ///
    /// # Errors
    /// The connection failed.
    pub fn send_span(ends: &Arc<Ends>, rank: u32, tag: u64, span: Span) -> Result<Transit, Broken> {
        let rank = Transit::to_or_from(ends, rank)?;
        Transit::of(ends, span, true)?.begin(rank, tag)
    }

    /// Starts to receive up to so many bytes. Those that do not come hold anything.
    ///
    /// # Errors
    /// The connection failed.
    pub fn receive(ends: &Arc<Ends>, rank: u32, tag: u64, most: usize) -> Result<Transit, Broken> {
        let rank = Transit::to_or_from(ends, rank)?;
        Transit::own(ends, ends.memory(most), false)?.begin(rank, tag)
    }

    /// Starts to receive up to so many bytes from any rank, as [`Transit::receive`].
    ///
    /// # Errors
    /// The connections failed.
    pub fn receive_any(ends: &Arc<Ends>, tag: u64, most: usize) -> Result<Transit, Broken> {
        Transit::own(ends, ends.memory(most), false)?.begin(-1, tag)
    }

    /// Starts to receive into memory, which nothing else may use until the transit is dropped.
    ///
    /// # Errors
    /// The connection failed.
    pub fn receive_span(
        ends: &Arc<Ends>,
        rank: u32,
        tag: u64,
        span: Span,
    ) -> Result<Transit, Broken> {
        let rank = Transit::to_or_from(ends, rank)?;
        Transit::of(ends, span, false)?.begin(rank, tag)
    }

    /// Waits until the transfer has ended, for `limit` at most, and returns the other rank of a receive. A time that runs out ends all
    /// connections of the ends.
    ///
    /// # Errors
    /// The connection failed, or [`Transit::abort`] was called.
    pub fn wait(&self, limit: Option<Duration>) -> Result<i32, Broken> {
        let limit = limit.unwrap_or(FOREVER).min(FOREVER);
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let mut error = Sentence::new();
        let mut from = -1;
        let functions = &self.ends.functions;
        let done = match self.sends {
            true => {
                let wait = functions.wait_send;
                // SAFETY: the handle is valid, and the buffer for the sentence has the length that is passed.
                unsafe { wait(self.handle, limit, error.start(), SENTENCE) }
            }
            false => {
                let wait = functions.wait_receive;
                // SAFETY: as before; the rank is written before the call returns.
                unsafe { wait(self.handle, limit, &raw mut from, error.start(), SENTENCE) }
            }
        };
        match done {
            0 => Ok(from),
            1 => Err(Broken::Aborted),
            _ => Err(Broken::Failed(error.text())),
        }
    }

    /// Ends a wait in another thread.
    pub fn abort(&self) {
        // SAFETY: the handle is valid.
        unsafe { (self.ends.functions.abort)(self.handle) };
    }

    /// Returns the memory, for copies and reductions while the transit lasts, after the wait for it.
    pub fn span(&self) -> Span {
        // SAFETY: those who use it keep the transit.
        unsafe { Span::trusted(self.start.expose_provenance(), self.bytes) }
    }
}

impl Drop for Transit {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the handle is valid, and this is its last use. Nothing accesses the memory afterwards.
            unsafe { (self.ends.functions.release)(self.handle) };
        }
        if self.owned {
            let memory = std::ptr::slice_from_raw_parts_mut(self.start, self.bytes);
            // SAFETY: it was leaked from a box of this length, and the plug-in has released it.
            let memory = unsafe { Box::from_raw(memory) };
            if !self.sends {
                self.ends.keep(memory);
            }
        }
    }
}
