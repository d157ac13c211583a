//! How ranks that know a name find the root information: rank 0 listens on a socket of that name while it waits for them. Ranks of other
//! machines ask it over the network.
//!
//! The name is in the abstract namespace: it is in no file system, and disappears with the process. Any user may take a name there, so
//! there are several: a rank passes over those that another user has, and both ends check that the other one belongs to the same user.

use std::io::{ErrorKind as IoKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
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

/// How many names there are for the same ranks.
const NAMES: u32 = 16;

/// Returns the names for ranks of a user, in the order in which rank 0 takes the first that is free.
fn sockets(name: &str, user: u32) -> impl Iterator<Item = String> + use<> {
    // Names of sockets are short.
    let digest = crate::operation::digest(name.bytes().map(u64::from));
    (0..NAMES).map(move |at| match at {
        0 => format!("jumar-hccl-{user}-{digest:016x}"),
        at => format!("jumar-hccl-{user}-{digest:016x}-{at}"),
    })
}

/// Listens at the first name that no other user has.
///
/// # Errors
/// `CommIncomplete`: another process of the user does already, or other users have all names.
fn listen(name: &str, user: u32) -> Result<UnixListener> {
    let mut holder = None;
    for socket in sockets(name, user) {
        let address = SocketAddr::from_abstract_name(&socket).map_err(failed)?;
        match UnixListener::bind_addr(&address) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == IoKind::AddrInUse => {}
            Err(error) => return Err(failed(error)),
        }
        let found = os::connect_at_once(&socket).and_then(|socket| os::process_at(&socket));
        match found {
            Ok((other, process)) if other == user => {
                return Err(Error::new(
                    ErrorKind::CommIncomplete,
                    format!("process {process} is rank 0 of the same rank table at this moment"),
                )
                .fix("Set JUMAR_JOB to a word of its own for each job."));
            }
            Ok(stranger) => holder = Some(stranger),
            // It accepts no connections, or has ended meanwhile.
            Err(_) => {}
        }
    }
    let who = match holder {
        Some((other, process)) => format!("process {process} of user {other}"),
        None => "a process that does not answer".to_owned(),
    };
    Err(Error::new(
        ErrorKind::CommIncomplete,
        format!("{who} holds the sockets by which the ranks of this rank table find each other"),
    )
    .fix("End that process, or set JUMAR_JOB to a word that others do not know, for all ranks."))
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
    let user = os::user();
    let listener = listen(name, user)?;
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
                            if os::process_at(&socket).is_ok_and(|(other, _)| other == user) {
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
    let sockets: Vec<String> = sockets(name, os::user()).collect();
    let until = Instant::now() + limit;
    loop {
        let here = sockets.iter().find_map(|socket| ask_once(socket));
        if let Some(info) = here.or_else(&elsewhere) {
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

fn ask_once(socket: &str) -> Option<RootInfo> {
    let socket = os::connect_at_once(socket).ok()?;
    if os::process_at(&socket).ok()?.0 != os::user() {
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

    /// Binds a name as another user would: its thread belongs to that one meanwhile.
    #[expect(
        unsafe_code,
        reason = "the standard library changes the user of no thread"
    )]
    fn bind_as(user: u32, socket: &str) -> UnixListener {
        let change = |user: u32| {
            // SAFETY: the call takes numbers alone, and concerns this thread alone.
            unsafe { libc::syscall(libc::SYS_setresuid, u32::MAX, user, u32::MAX) }
        };
        let own = os::user();
        assert_eq!(change(user), 0);
        let address = SocketAddr::from_abstract_name(socket).expect("a name");
        let bound = UnixListener::bind_addr(&address);
        assert_eq!(change(own), 0);
        bound.expect("it is free")
    }

    #[test]
    fn ranks_find_each_other_though_another_user_has_taken_names() {
        const OTHER: u32 = 54_321;
        if os::user() != 0 {
            eprintln!("skipped: to act as another user needs the administrator");
            return;
        }
        let info = RootInfo {
            process: 1,
            started: 2,
            descriptor: 3,
            key: 4,
            machine: 5,
            address: None,
        };
        let name = format!("taken-{}", std::process::id());
        let limit = Duration::from_secs(30);
        let names: Vec<String> = sockets(&name, os::user()).collect();
        let mut taken: Vec<UnixListener> = names[..3]
            .iter()
            .map(|socket| bind_as(OTHER, socket))
            .collect();
        let answer = answer_while(&name, &info, || ask(&name, || None, limit));
        assert_eq!(answer.expect("there are more names"), info);
        taken.extend(names[3..].iter().map(|socket| bind_as(OTHER, socket)));
        let error = answer_while(&name, &info, || Ok(())).expect_err("all are taken");
        assert_eq!(error.kind(), ErrorKind::CommIncomplete);
        let holder = format!("process {} of user {OTHER} holds", std::process::id());
        assert!(error.sentence().contains(&holder), "{error}");
    }

    /// A process that listens and accepts no connection fills the queue of those that connect.
    #[test]
    fn a_rank_does_not_wait_for_a_process_that_accepts_no_connection() {
        let name = format!("full-{}", std::process::id());
        let socket = sockets(&name, os::user()).next().expect("a name");
        let address = SocketAddr::from_abstract_name(&socket).expect("a name");
        let _holder = UnixListener::bind_addr(&address).expect("it is free");
        let mut waiting = Vec::new();
        let full = loop {
            match os::connect_at_once(&socket) {
                Ok(connected) => waiting.push(connected),
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), IoKind::WouldBlock, "after {}", waiting.len());
        let error = ask(&name, || None, Duration::from_millis(5)).expect_err("there is no answer");
        assert_eq!(error.kind(), ErrorKind::CommIncomplete);
    }
}
