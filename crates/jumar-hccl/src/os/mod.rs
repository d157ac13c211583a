//! What the system offers between processes: memory without a name, words to sleep on, descriptors of processes.
//!
//! Shared memory is a sealed memory file. It has no name in any file system: another process opens it through `/proc`, by
//! the number of the owner and of its descriptor, which the system allows to the same user alone. The file disappears
//! with the last process that has it, however that process ends. Its size is sealed, so that no process can take pages
//! away from under another one.

pub mod addresses;
pub mod gloo;

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr;
use std::time::Duration;

use jumar_hal::Span;
use jumar_hal::sync::{AtomicU64, Ordering};

const WORD: usize = size_of::<u64>();
const SEALS: libc::c_int = libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;

/// A memory file that is mapped into this process.
pub struct Mapping {
    address: usize,
    bytes: usize,
    writable: bool,
    /// Open while other processes may look for it.
    file: File,
}

impl Mapping {
    /// Creates a memory file of so many bytes, all zero. Pages take memory once they are written.
    ///
    /// # Errors
    /// What the system refused.
    pub fn create(name: &str, bytes: usize) -> io::Result<Mapping> {
        let name = CString::new(name)?;
        // SAFETY: the name is a string that ends in a zero.
        let made = unsafe {
            libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING)
        };
        let file = File::from(owned(made)?);
        file.set_len(bytes as u64)?;
        // SAFETY: the descriptor is open.
        checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) })?;
        Mapping::map(file, bytes, true)
    }

    /// Opens the memory file of a process, by its name, length and descriptor there.
    ///
    /// # Errors
    /// The process has ended or belongs to another user, or the descriptor is something else.
    pub fn open(
        process: u32,
        descriptor: u32,
        name: &str,
        bytes: usize,
        writable: bool,
    ) -> io::Result<Mapping> {
        let at = format!("/proc/{process}/fd/{descriptor}");
        let other = || io::Error::new(io::ErrorKind::InvalidData, "it is another file");
        // What else the descriptor may be by now is not opened: opening a pipe could wait.
        let link = fs::read_link(&at)?;
        let expected = format!("/memfd:{name}");
        if !link
            .to_str()
            .is_some_and(|link| link.starts_with(&expected))
        {
            return Err(other());
        }
        let file = File::options().read(true).write(writable).open(&at)?;
        // SAFETY: the descriptor is open.
        let seals = checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) })?;
        if seals & SEALS != SEALS || file.metadata()?.len() != bytes as u64 {
            return Err(other());
        }
        Mapping::map(file, bytes, writable)
    }

    fn map(file: File, bytes: usize, writable: bool) -> io::Result<Mapping> {
        let access = match writable {
            true => libc::PROT_READ | libc::PROT_WRITE,
            false => libc::PROT_READ,
        };
        // SAFETY: a new mapping at an address that the system chooses.
        let mapped = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                access,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                file.as_raw_fd(),
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Mapping {
            address: mapped.expose_provenance(),
            bytes,
            writable,
            file,
        })
    }

    /// Returns the number by which another process opens the file.
    pub fn descriptor(&self) -> u32 {
        self.file.as_raw_fd().unsigned_abs()
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.bytes / WORD, "word {index} of a shared file");
        let at = ptr::with_exposed_provenance::<AtomicU64>(self.address + index * WORD);
        // SAFETY: inside the mapping, which lasts as long as `self`; aligned; every process uses these words as atomics.
        unsafe { &*at }
    }

    /// Reads a word; what its writer wrote before is visible.
    pub fn load(&self, index: usize) -> u64 {
        self.word(index).load(Ordering::Acquire)
    }

    /// Writes a word, after all that was written before.
    pub fn store(&self, index: usize, value: u64) {
        assert!(self.writable, "a file that is only read");
        self.word(index).store(value, Ordering::Release);
    }

    /// Adds to a word; no other access of the thread moves across it.
    pub fn add(&self, index: usize, value: u64) -> u64 {
        assert!(self.writable, "a file that is only read");
        self.word(index).fetch_add(value, Ordering::SeqCst)
    }

    /// Replaces a word if it has a value. Reports whether it did.
    pub fn exchange(&self, index: usize, from: u64, to: u64) -> bool {
        assert!(self.writable, "a file that is only read");
        self.word(index)
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }

    /// Sleeps until a word is changed and its waiters are woken, or for `limit`. Returns at once if the low half of the
    /// word is not that of `seen`.
    pub fn sleep(&self, index: usize, seen: u64, limit: Duration) {
        let limit = libc::timespec {
            tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_nsec: libc::c_long::from(limit.subsec_nanos() as i32),
        };
        // The kernel compares 32 bits: the low half, which comes first on machines that store it so.
        let word = ptr::from_ref(self.word(index)).cast::<u32>();
        // SAFETY: the word is mapped, and the limit lives until the call returns.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.wrapping_add(usize::from(cfg!(target_endian = "big"))),
                libc::FUTEX_WAIT,
                seen as u32,
                ptr::from_ref(&limit),
            )
        };
    }

    /// Wakes all that sleep on a word.
    pub fn wake(&self, index: usize) {
        let word = ptr::from_ref(self.word(index)).cast::<u32>();
        // SAFETY: the word is mapped.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.wrapping_add(usize::from(cfg!(target_endian = "big"))),
                libc::FUTEX_WAKE,
                libc::c_int::MAX,
            )
        };
    }

    /// Returns where the memory is in this process.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Returns a part of the memory, for copies while the mapping lasts.
    pub fn span(&self, offset: usize, bytes: usize) -> Option<Span> {
        let end = offset.checked_add(bytes)?;
        // SAFETY: inside the mapping. Those who copy keep the mapping.
        (end <= self.bytes).then(|| unsafe { Span::trusted(self.address + offset, bytes) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let start = ptr::with_exposed_provenance_mut(self.address);
        // SAFETY: the mapping is this object's, and nothing refers to it any more.
        unsafe { libc::munmap(start, self.bytes) };
    }
}

/// Another process, which is known not to be a later one of the same number.
pub struct Process {
    number: u32,
    started: u64,
    descriptor: Option<OwnedFd>,
}

impl Process {
    /// Opens a process that was started at a moment; `None` if it has ended.
    pub fn open(number: u32, started: u64) -> Option<Process> {
        // SAFETY: the call takes numbers alone.
        let made = unsafe { libc::syscall(libc::SYS_pidfd_open, number, 0) };
        let descriptor = i32::try_from(made).ok().and_then(|made| owned(made).ok());
        // Looked at after the descriptor was opened: it belongs to the process that had the number at that moment.
        (start_of(number) == Some(started)).then_some(Process {
            number,
            started,
            descriptor,
        })
    }

    /// Returns the process's number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Reports whether the process runs.
    pub fn is_alive(&self) -> bool {
        let Some(descriptor) = &self.descriptor else {
            return start_of(self.number) == Some(self.started);
        };
        let mut poll = libc::pollfd {
            fd: descriptor.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one structure, which lives until the call returns. The descriptor can be read once the process has ended.
        let ended = unsafe { libc::poll(&raw mut poll, 1, 0) };
        ended <= 0
    }
}

/// Copies memory of a process, by its address there. The system checks that this process may read it, and that it exists.
///
/// # Errors
/// The process has ended; the system does not let this one read its memory; it has no memory there.
pub fn read_memory(process: u32, from: usize, to: Span) -> io::Result<()> {
    // SAFETY: the creator of the span guarantees that it is mapped.
    unsafe { read_to(process, from, to.address(), to.bytes()) }
}

/// Reads a few words of a process, as [`read_memory`] does.
///
/// # Errors
/// As there.
pub fn read_words<const N: usize>(process: u32, from: usize) -> io::Result<[u64; N]> {
    let mut words = [0; N];
    let to = ptr::from_mut(&mut words).expose_provenance();
    // SAFETY: the words have that length.
    unsafe { read_to(process, from, to, size_of_val(&words)) }.map(|()| words)
}

/// # Safety
///
/// So many bytes may be written at `to`.
unsafe fn read_to(process: u32, from: usize, to: usize, bytes: usize) -> io::Result<()> {
    let mut done = 0;
    while done < bytes {
        let vector = |address: usize| libc::iovec {
            iov_base: ptr::with_exposed_provenance_mut(address.wrapping_add(done)),
            iov_len: bytes - done,
        };
        let (target, source) = (vector(to), vector(from));
        // SAFETY: the caller guarantees the target; the system checks the source.
        let read = unsafe {
            libc::process_vm_readv(
                process.cast_signed(),
                &raw const target,
                1,
                &raw const source,
                1,
                0,
            )
        };
        match usize::try_from(read) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => done += read,
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
    Ok(())
}

/// Returns the moment at which a process was started, in ticks since the machine was, if it runs.
pub fn start_of(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold anything, so what counts begins behind the last bracket.
    let mut fields = text[text.rfind(')')? + 1..].split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    // The 22nd field of the line is the 20th from the state on.
    fields.nth(18)?.parse().ok()
}

/// Returns what distinguishes this machine, and this container on it, from others: process numbers mean nothing beyond it.
pub fn machine() -> u64 {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let numbers = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let bytes = boot
        .bytes()
        .chain(numbers.to_string_lossy().bytes().collect::<Vec<_>>());
    crate::operation::digest(bytes.map(u64::from))
}

/// Returns a number that no other process can guess.
///
/// # Errors
/// The system has none.
pub fn random() -> io::Result<u128> {
    let mut bytes = [0u8; 16];
    // SAFETY: the buffer has that length.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    match usize::try_from(got) {
        Ok(16) => Ok(u128::from_ne_bytes(bytes)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the user and the number of the process at the other end of a socket: the one that connected, or the one that listens.
///
/// # Errors
/// What the system refused.
pub fn process_at(socket: &impl AsRawFd) -> io::Result<(u32, u32)> {
    let mut found = libc::ucred {
        pid: 0,
        uid: u32::MAX,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the structure lives until the call returns, and has the length that is passed.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut length,
        )
    };
    checked(done).map(|_| (found.uid, found.pid.unsigned_abs()))
}

/// Connects to a socket with a name in the abstract namespace. Does not wait for a process that accepts no connections.
///
/// # Errors
/// `WouldBlock`: that is so; what the system refused.
pub fn connect_at_once(name: &str) -> io::Result<UnixStream> {
    let mut address = libc::sockaddr_un {
        sun_family: libc::AF_UNIX as libc::sa_family_t,
        sun_path: [0; 108],
    };
    // The name begins behind a zero.
    let Some(path) = address.sun_path.get_mut(1..=name.len()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    for (to, from) in path.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the call takes numbers alone.
    let socket = owned(unsafe { libc::socket(libc::AF_UNIX, kind, 0) })?;
    let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
    // SAFETY: the address lives until the call returns, and holds that many bytes.
    let done = unsafe {
        libc::connect(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            length as libc::socklen_t,
        )
    };
    checked(done)?;
    let socket = UnixStream::from(socket);
    socket.set_nonblocking(false)?;
    Ok(socket)
}

/// Returns this process's user.
pub fn user() -> u32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Returns the number of the processor on which the calling thread runs. It may run on another one right afterwards.
pub fn processor() -> u64 {
    // SAFETY: the function has no arguments, and reads what the system keeps of the calling thread.
    let number = unsafe { libc::sched_getcpu() };
    u64::try_from(number).unwrap_or(u64::MAX - 1)
}

/// The number that stands for the calling thread where the system wants one.
const ME: libc::pid_t = 0;

/// Reads which processors the calling thread may run on.
fn allowed() -> Option<libc::cpu_set_t> {
    // SAFETY: a set of processors is valid when it is all zeros.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set has the length that is given.
    let result = unsafe { libc::sched_getaffinity(ME, size_of_val(&set), &raw mut set) };
    (result == 0).then_some(set)
}

/// Sets the processors that the calling thread may run on. Returns whether the system does so.
fn allow(set: &libc::cpu_set_t) -> bool {
    // SAFETY: the set has the length that is given.
    unsafe { libc::sched_setaffinity(ME, size_of_val(set), set) == 0 }
}

/// Counts the processors that the calling thread may run on; one if that is not known.
pub fn processors() -> usize {
    // SAFETY: the call only reads the set.
    let count = allowed().map(|set| unsafe { libc::CPU_COUNT(&set) });
    count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(1)
}

/// Moves the calling thread to another processor that it may run on. Where it may run stays as it was. Returns whether there is one.
pub fn leave_processor() -> bool {
    let (Some(allowed), Ok(here)) = (allowed(), usize::try_from(processor())) else {
        return false;
    };
    if here >= libc::CPU_SETSIZE as usize {
        return false;
    }
    let mut others = allowed;
    // SAFETY: both calls only touch the set, which has an entry for this processor.
    let left = unsafe {
        libc::CPU_CLR(here, &mut others);
        libc::CPU_COUNT(&others)
    };
    // The first call moves the thread, the second lets it go anywhere again.
    left > 0 && allow(&others) && allow(&allowed)
}

/// Counts the threads of the machine that run or wait for a processor; `None` if the system does not say.
pub fn runnable_threads() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    let (runnable, _) = text.split_whitespace().nth(3)?.split_once('/')?;
    runnable.parse().ok()
}

/// Lets no signal be delivered to the calling thread: handlers are the program's, and belong on its own threads.
pub fn block_signals() {
    // SAFETY: a structure of plain numbers.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the structure lives until the call returns.
    unsafe { libc::sigfillset(&raw mut all) };
    // SAFETY: as before; the former set is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, ptr::null_mut()) };
}

fn checked(answer: libc::c_int) -> io::Result<libc::c_int> {
    match answer {
        -1 => Err(io::Error::last_os_error()),
        other => Ok(other),
    }
}

fn owned(descriptor: libc::c_int) -> io::Result<OwnedFd> {
    let descriptor = checked(descriptor)?;
    // SAFETY: the system has just made it, and nothing else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_by_its_number_and_cannot_change_its_length() {
        let made = Mapping::create("jumar-hccl-test", 8192).expect("a memory file");
        made.store(3, 77);
        let open =
            |name, bytes| Mapping::open(std::process::id(), made.descriptor(), name, bytes, false);
        assert_eq!(open("jumar-hccl-test", 8192).expect("the file").load(3), 77);
        assert!(open("jumar-hccl-other", 8192).is_err());
        assert!(open("jumar-hccl-test", 4096).is_err());
        assert!(made.file.set_len(0).is_err());
        assert!(made.span(8000, 193).is_none());
    }

    #[test]
    fn a_thread_moves_to_another_processor_and_may_run_where_it_could() {
        let count = processors();
        // The system may bring it back at any time.
        let has_moved = (0..100).any(|_| {
            let before = processor();
            leave_processor() && processor() != before
        });
        assert_eq!(has_moved, count > 1);
        assert_eq!(processors(), count);
        assert!(runnable_threads().is_some_and(|running| running > 0));
    }

    #[test]
    fn memory_of_a_process_is_read_where_it_exists() {
        let words = [3_u64, 5];
        let (own, at) = (
            std::process::id(),
            ptr::from_ref(&words).expose_provenance(),
        );
        assert_eq!(read_words(own, at).expect("memory"), words);
        assert!(read_words::<2>(own, 8).is_err());
    }

    #[test]
    fn a_process_is_alive_until_it_has_ended() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("a process");
        let started = start_of(child.id()).expect("it runs");
        let process = Process::open(child.id(), started).expect("it runs");
        assert!(process.is_alive());
        assert!(Process::open(child.id(), started + 1).is_none());
        child.kill().expect("it can be ended");
        // The child stays a zombie until the wait, and counts as ended all the same.
        child.wait().expect("it has ended");
        assert!(!process.is_alive());
    }
}
