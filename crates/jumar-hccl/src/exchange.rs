//! How ranks that know a name find the root information: rank 0 listens on a socket of that name while it waits for them. Ranks of other
//! machines ask it over the network.
//!
//! The name is in the abstract namespace: it is in no file system, and disappears with the process. Both ends check that
//! the other one belongs to the same user, since any user may take a name there.

use std::io::{ErrorKind as IoKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

use jumar_hal::sync::{AtomicBool, Instant, Ordering, thread};
use jumar_types::{Error, ErrorKind, Result};

use crate::os;
use crate::remote::RootInfo;

/// The longest text that is read.
const LONGEST: u64 = 512;
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(2);
/// How long one conversation may take.
const PATIENCE: Duration = Duration::from_secs(2);

fn address(name: &str) -> Result<SocketAddr> {
    // Names of sockets are short.
    let digest = crate::operation::digest(name.bytes().map(u64::from));
    let short = format!("jumar-hccl-{}-{digest:016x}", os::user());
    SocketAddr::from_abstract_name(short).map_err(failed)
}

fn failed(error: std::io::Error) -> Error {
    Error::new(
        ErrorKind::CommIncomplete,
        format!("the ranks cannot find each other: {error}"),
    )
}

/// Hands root information to those that ask, while `work` runs.
///
/// # Errors
/// `CommIncomplete`: the name is taken; whatever `work` returns.
pub(crate) fn answer_while<T>(
    name: &str,
    info: &RootInfo,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let listener =
        UnixListener::bind_addr(&address(name)?).map_err(|error| match error.kind() {
            IoKind::AddrInUse => Error::new(
                ErrorKind::CommIncomplete,
                "another process is rank 0 of the same rank table at this moment",
            )
            .fix("Set JUMAR_JOB to a word of its own for each job."),
            _ => failed(error),
        })?;
    listener.set_nonblocking(true).map_err(failed)?;
    let (text, done) = (info.text(), AtomicBool::new(false));
    thread::scope(|scope| {
        let serving = thread::Builder::new().name("jumar-hccl-root".to_owned());
        serving
            .spawn_scoped(scope, || {
                os::block_signals();
                while !done.load(Ordering::Acquire) {
                    match listener.accept() {
                        Ok((mut socket, _)) => {
                            if os::user_of(&socket).is_ok_and(|user| user == os::user()) {
                                // Who went away meanwhile asks again, or has ended.
                                let _ = socket.set_write_timeout(Some(PATIENCE));
                                let _ = socket.write_all(text.as_bytes());
                            }
                        }
                        Err(_) => thread::sleep(PAUSE),
                    }
                }
            })
            .map_err(failed)?;
        let outcome = work();
        done.store(true, Ordering::Release);
        outcome
    })
}

/// Asks rank 0 for the root information, on this machine and in `elsewhere`.
///
/// # Errors
/// `CommIncomplete`: rank 0 does not come within the limit.
pub(crate) fn ask(
    name: &str,
    elsewhere: impl Fn() -> Option<RootInfo>,
    limit: Duration,
) -> Result<RootInfo> {
    let address = address(name)?;
    let until = Instant::now() + limit;
    loop {
        if let Some(info) = ask_once(&address).or_else(&elsewhere) {
            return Ok(info);
        }
        if Instant::now() >= until {
            return Err(Error::new(
                ErrorKind::CommIncomplete,
                format!("rank 0 did not come within {} s", limit.as_secs_f64()),
            ));
        }
        thread::sleep(PAUSE);
    }
}

fn ask_once(address: &SocketAddr) -> Option<RootInfo> {
    let socket = UnixStream::connect_addr(address).ok()?;
    if os::user_of(&socket).ok()? != os::user() {
        return None;
    }
    socket.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut text = Vec::new();
    socket.take(LONGEST).read_to_end(&mut text).ok()?;
    RootInfo::read(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_ask_get_the_root_information_whenever_they_come() {
        let info = RootInfo {
            process: 1,
            started: 2,
            descriptor: 3,
            key: 4,
            machine: 5,
            address: None,
        };
        let name = format!("test-{}", std::process::id());
        let limit = Duration::from_secs(30);
        thread::scope(|scope| {
            let early = scope.spawn(|| ask(&name, || None, limit));
            let answers = answer_while(&name, &info, || {
                let late = ask(&name, || None, limit)?;
                let taken = answer_while(&name, &info, || Ok(()));
                assert_eq!(
                    taken.map_err(|error| error.kind()),
                    Err(ErrorKind::CommIncomplete)
                );
                Ok([early.join().expect("no panic")?, late])
            });
            assert_eq!(answers.expect("both"), [info, info]);
        });
        let elsewhere = ask(&name, || Some(info), limit);
        assert_eq!(elsewhere.map_err(|error| error.kind()), Ok(info));
        let unanswered = ask(&name, || None, Duration::from_millis(5));
        assert_eq!(
            unanswered.map_err(|error| error.kind()),
            Err(ErrorKind::CommIncomplete)
        );
    }
}
