//! The installed library as a C program sees it: its functions by name, and a few of them behind safe faces.
//!
//! The library is opened at run time from the path that is given, so that what is measured is the shared library of the
//! install tree with all its checks, and nothing that the compiler could have inlined.

use std::ffi::{CString, c_char, c_void};
use std::path::Path;

use anyhow::{Result, bail};

const HOST_TO_DEVICE: i32 = 1;
const DEVICE_TO_DEVICE: i32 = 3;
const EVENT_SYNC: u32 = 1;

/// A handle.
pub type Handle = *mut c_void;

type Function = extern "C" fn(*mut c_void);

extern "C" fn nothing(_argument: *mut c_void) {}

macro_rules! functions {
    ($($field:ident = $name:literal ($($type:ty),*);)*) => {
        /// The functions that are measured.
        #[derive(Clone, Copy)]
        struct Functions { $($field: unsafe extern "C" fn($($type),*) -> i32,)* }

        impl Functions {
            fn find(library: *mut c_void) -> Result<Functions> {
                Ok(Functions { $($field: {
                    let address = symbol(library, $name)?;
                    // SAFETY: the header of the library declares the function with these parameters.
                    unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> i32>(address) }
                },)* })
            }
        }
    };
}

functions! {
    init = "aclInit" (*const c_char);
    finalize = "aclFinalize" ();
    set_device = "aclrtSetDevice" (i32);
    reset_device = "aclrtResetDevice" (i32);
    get_context = "aclrtGetCurrentContext" (*mut Handle);
    set_context = "aclrtSetCurrentContext" (Handle);
    create_stream = "aclrtCreateStream" (*mut Handle);
    destroy_stream = "aclrtDestroyStream" (Handle);
    synchronize_stream = "aclrtSynchronizeStream" (Handle);
    create_event = "aclrtCreateEventWithFlag" (*mut Handle, u32);
    destroy_event = "aclrtDestroyEvent" (Handle);
    record_event = "aclrtRecordEvent" (Handle, Handle);
    wait_event = "aclrtStreamWaitEvent" (Handle, Handle);
    malloc = "aclrtMalloc" (*mut *mut c_void, usize, i32);
    free = "aclrtFree" (*mut c_void);
    memcpy = "aclrtMemcpy" (*mut c_void, usize, *const c_void, usize, i32);
    memcpy_async = "aclrtMemcpyAsync" (*mut c_void, usize, *const c_void, usize, i32, Handle);
    memset_async = "aclrtMemsetAsync" (*mut c_void, usize, i32, usize, Handle);
    capture_begin = "aclmdlRICaptureBegin" (Handle, u32);
    capture_end = "aclmdlRICaptureEnd" (Handle, *mut Handle);
    execute_model = "aclmdlRIExecuteAsync" (Handle, Handle);
    memset = "aclrtMemset" (*mut c_void, usize, i32, usize);
    query_stream = "aclrtStreamQuery" (Handle, *mut u32);
    subscribe = "aclrtSubscribeReport" (u64, Handle);
    unsubscribe = "aclrtUnSubscribeReport" (u64, Handle);
    process_report = "aclrtProcessReport" (i32);
    launch_callback = "aclrtLaunchCallback" (Function, *mut c_void, i32, Handle);
    launch_host_function = "aclrtLaunchHostFunc" (Handle, Function, *mut c_void);
}

/// The opened library, initialised, with device 0 current on the thread that opened it.
#[derive(Clone, Copy)]
pub struct Acl(Functions);

/// A stream. It lives until the process ends: a benchmark measures, it does not clean up.
#[derive(Clone, Copy)]
pub struct Stream(Handle);

/// An event, as a stream.
#[derive(Clone, Copy)]
pub struct Event(Handle);

/// A captured model, as a stream.
#[derive(Clone, Copy)]
pub struct CapturedModel(Handle);

/// A context that threads share.
#[derive(Clone, Copy)]
pub struct Context(Handle);

/// Device memory, as a stream.
#[derive(Clone, Copy)]
pub struct Memory {
    address: *mut c_void,
    bytes: usize,
}

// SAFETY: handles are numbers that any thread may pass to the library.
unsafe impl Send for Stream {}
// SAFETY: as above; a shared reference to a number is a number.
unsafe impl Sync for Context {}
// SAFETY: the memory belongs to the device; this program never follows the address.
unsafe impl Send for Memory {}

impl Acl {
    /// Opens the library.
    pub fn load(path: &Path) -> Result<Acl> {
        let name = CString::new(path.to_string_lossy().as_bytes())?;
        // SAFETY: a C string; the library's initialisers are the only code that runs.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            bail!(
                "{} cannot be opened; run cargo xtask dist first",
                path.display()
            );
        }
        Ok(Acl(Functions::find(library)?))
    }

    /// Initialises it and makes device 0 current.
    pub fn begin(&self) -> Result<()> {
        // SAFETY: null means no configuration file.
        check("aclInit", unsafe { (self.0.init)(std::ptr::null()) })?;
        // SAFETY: a number.
        check("aclrtSetDevice", unsafe { (self.0.set_device)(0) })
    }

    /// Ends what `begin` began.
    pub fn close(self) -> Result<()> {
        // SAFETY: a number.
        check("aclrtResetDevice", unsafe { (self.0.reset_device)(0) })?;
        // SAFETY: no arguments.
        check("aclFinalize", unsafe { (self.0.finalize)() })
    }

    /// Captures what `submit` submits to a stream.
    pub fn capture(&self, stream: Stream, submit: impl FnOnce()) -> Result<CapturedModel> {
        // SAFETY: a handle and a number; 0 is the global mode.
        check("aclmdlRICaptureBegin", unsafe {
            (self.0.capture_begin)(stream.0, 0)
        })?;
        submit();
        let mut model = std::ptr::null_mut();
        // SAFETY: a handle and the address of a variable.
        check("aclmdlRICaptureEnd", unsafe {
            (self.0.capture_end)(stream.0, &mut model)
        })?;
        Ok(CapturedModel(model))
    }

    /// Queues a captured model.
    pub fn execute(&self, model: CapturedModel, stream: Stream) {
        // SAFETY: two handles.
        let code = unsafe { (self.0.execute_model)(model.0, stream.0) };
        assert_eq!(code, 0, "aclmdlRIExecuteAsync");
    }

    /// Returns the thread's context.
    pub fn context(&self) -> Result<Context> {
        let mut context = std::ptr::null_mut();
        // SAFETY: the address of a variable.
        check("aclrtGetCurrentContext", unsafe {
            (self.0.get_context)(&mut context)
        })?;
        Ok(Context(context))
    }

    /// Makes a context current on this thread.
    pub fn enter(&self, context: Context) -> Result<()> {
        // SAFETY: a handle is a number.
        check("aclrtSetCurrentContext", unsafe {
            (self.0.set_context)(context.0)
        })
    }

    /// Makes a stream.
    pub fn stream(&self) -> Result<Stream> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: the address of a variable.
        check("aclrtCreateStream", unsafe {
            (self.0.create_stream)(&mut stream)
        })?;
        Ok(Stream(stream))
    }

    /// Destroys a stream.
    pub fn destroy_stream(&self, stream: Stream) -> Result<()> {
        // SAFETY: a handle is a number.
        check("aclrtDestroyStream", unsafe {
            (self.0.destroy_stream)(stream.0)
        })
    }

    /// Makes an event for ordering streams.
    pub fn event(&self) -> Result<Event> {
        let mut event = std::ptr::null_mut();
        // SAFETY: the address of a variable.
        check("aclrtCreateEventWithFlag", unsafe {
            (self.0.create_event)(&mut event, EVENT_SYNC)
        })?;
        Ok(Event(event))
    }

    /// Destroys an event.
    pub fn destroy_event(&self, event: Event) -> Result<()> {
        // SAFETY: a handle is a number.
        check("aclrtDestroyEvent", unsafe {
            (self.0.destroy_event)(event.0)
        })
    }

    /// Allocates device memory.
    pub fn malloc(&self, bytes: usize) -> Result<Memory> {
        let mut address = std::ptr::null_mut();
        // SAFETY: the address of a variable.
        check("aclrtMalloc", unsafe {
            (self.0.malloc)(&mut address, bytes, 0)
        })?;
        Ok(Memory { address, bytes })
    }

    /// Frees device memory.
    pub fn free(&self, memory: Memory) -> Result<()> {
        // SAFETY: the library checks the address against its allocations.
        check("aclrtFree", unsafe { (self.0.free)(memory.address) })
    }

    /// Copies host memory to the device and waits.
    #[inline]
    pub fn copy_in(&self, to: Memory, from: &[u8]) {
        // SAFETY: `from` is readable for its length; the device range is checked by the library.
        let code = unsafe {
            (self.0.memcpy)(
                to.address,
                to.bytes,
                from.as_ptr().cast(),
                from.len(),
                HOST_TO_DEVICE,
            )
        };
        assert_eq!(code, 0, "aclrtMemcpy");
    }

    /// Queues a copy inside the device.
    #[inline]
    pub fn copy_async(&self, to: Memory, from: Memory, bytes: usize, stream: Stream) {
        // SAFETY: the library checks both ranges.
        let code = unsafe {
            (self.0.memcpy_async)(
                to.address,
                to.bytes,
                from.address,
                bytes,
                DEVICE_TO_DEVICE,
                stream.0,
            )
        };
        assert_eq!(code, 0, "aclrtMemcpyAsync");
    }

    /// Queues a fill.
    #[inline]
    pub fn fill_async(&self, to: Memory, bytes: usize, stream: Stream) {
        // SAFETY: the library checks the range.
        let code = unsafe { (self.0.memset_async)(to.address, to.bytes, 1, bytes, stream.0) };
        assert_eq!(code, 0, "aclrtMemsetAsync");
    }

    /// Queues a record.
    #[inline]
    pub fn record(&self, event: Event, stream: Stream) {
        // SAFETY: handles are numbers.
        let code = unsafe { (self.0.record_event)(event.0, stream.0) };
        assert_eq!(code, 0, "aclrtRecordEvent");
    }

    /// Queues a wait.
    #[inline]
    pub fn wait(&self, stream: Stream, event: Event) {
        // SAFETY: handles are numbers.
        let code = unsafe { (self.0.wait_event)(stream.0, event.0) };
        assert_eq!(code, 0, "aclrtStreamWaitEvent");
    }

    /// Returns whether a stream has done everything.
    #[inline]
    pub fn is_done(&self, stream: Stream) -> bool {
        let mut status = 1;
        // SAFETY: the address of a variable.
        let code = unsafe { (self.0.query_stream)(stream.0, &mut status) };
        assert_eq!(code, 0, "aclrtStreamQuery");
        status == 0
    }

    /// Touches all of some device memory, at once.
    pub fn touch(&self, memory: Memory) {
        // SAFETY: the library checks the range.
        let code = unsafe { (self.0.memset)(memory.address, memory.bytes, 1, memory.bytes) };
        assert_eq!(code, 0, "aclrtMemset");
    }

    /// Lets the calling thread run the callbacks of a stream.
    pub fn subscribe(&self, stream: Stream) -> Result<()> {
        // SAFETY: the call has no preconditions.
        let me = unsafe { libc::pthread_self() } as u64;
        // SAFETY: handles are numbers.
        check("aclrtSubscribeReport", unsafe {
            (self.0.subscribe)(me, stream.0)
        })
    }

    /// Ends what `subscribe` began.
    pub fn unsubscribe(&self, stream: Stream) -> Result<()> {
        // SAFETY: the call has no preconditions.
        let me = unsafe { libc::pthread_self() } as u64;
        // SAFETY: handles are numbers.
        check("aclrtUnSubscribeReport", unsafe {
            (self.0.unsubscribe)(me, stream.0)
        })
    }

    /// Queues a callback that does nothing and holds the stream, and runs it.
    #[inline]
    pub fn call_back(&self, stream: Stream) {
        // SAFETY: the function takes any pointer and does not look behind it.
        let code = unsafe { (self.0.launch_callback)(nothing, std::ptr::null_mut(), 1, stream.0) };
        assert_eq!(code, 0, "aclrtLaunchCallback");
        // SAFETY: a number.
        let code = unsafe { (self.0.process_report)(1000) };
        assert_eq!(code, 0, "aclrtProcessReport");
    }

    /// Queues a host function that does nothing.
    #[inline]
    pub fn host_function(&self, stream: Stream) {
        // SAFETY: the function takes any pointer and does not look behind it.
        let code =
            unsafe { (self.0.launch_host_function)(stream.0, nothing, std::ptr::null_mut()) };
        assert_eq!(code, 0, "aclrtLaunchHostFunc");
    }

    /// Waits for a stream.
    #[inline]
    pub fn synchronize(&self, stream: Stream) {
        // SAFETY: a handle is a number.
        let code = unsafe { (self.0.synchronize_stream)(stream.0) };
        assert_eq!(code, 0, "aclrtSynchronizeStream");
    }
}

fn symbol(library: *mut c_void, name: &str) -> Result<*mut c_void> {
    let text = CString::new(name)?;
    // SAFETY: an open library and a C string.
    let address = unsafe { libc::dlsym(library, text.as_ptr()) };
    if address.is_null() {
        bail!("the library has no function {name}");
    }
    Ok(address)
}

fn check(name: &str, code: i32) -> Result<()> {
    if code != 0 {
        bail!("{name} answered {code}");
    }
    Ok(())
}
