//! How the ranks of a communicator find each other: a memory file of the process that made the root information.
//!
//! Each rank takes the record of its number and says there who it is. When all records are filled, each rank knows
//! whether all are in one process. If not, each makes its segment, says where it is, opens the segments of the others,
//! and waits until all have done so. Whatever is read from a record is checked as it is used: a process that lies
//! only harms itself.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::LentMemory;
use jumar_hal::sync::Instant;
use jumar_types::{Error, ErrorKind, Result};

use super::layout::{
    HEAD_ADDRESS, HEAD_KEY, HEAD_LENT, HEAD_LENT_BYTES, HEAD_MAGIC, HEAD_MAPPED, HEAD_RANK,
    HEAD_READABLE, MAGIC, MEETING, MEETING_BYTES, MEETING_CHANGES, MEETING_KEY, MEETING_SIZE,
    MOST_RANKS, MOST_RECORDS, NAME_BYTES, RECORD_DIGEST, RECORD_NAME, RECORD_PROCESS,
    RECORD_SEGMENT, RECORD_STARTED, RECORD_STATE, RECORD_WAKE, SEGMENT, SEGMENT_BYTES, record,
};
use super::mesh::{Mesh, Peer};
use super::wake::WakePage;
use crate::os::{self, Mapping, Process};
use crate::words::{ranks, system};

/// Version of the text; it changes with the layout of what is shared.
const FORM: &str = "JUMAR-HCCL-4";

/// Stands for an address where there is none.
const NO_ADDRESS: &str = "-";

/// Stages of a record.
const TAKEN: u64 = 1;
const FILLED: u64 = 2;
const OFFERED: u64 = 3;
const CONNECTED: u64 = 4;

/// How often waiting ranks look whether the others run.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// What a program carries from the root to all ranks: a text, so that it survives every way of carrying it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootInfo {
    /// The process that made it.
    pub process: u32,
    /// When that process was started.
    pub started: u64,
    /// The descriptor of the meeting there.
    pub descriptor: u32,
    /// A number that no process can guess.
    pub key: u128,
    /// What distinguishes the machine.
    pub machine: u64,
    /// Where ranks of other machines find it, if they can.
    pub address: Option<SocketAddr>,
}

impl RootInfo {
    /// Returns the text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let address = match self.address {
            Some(address) => address.to_string(),
            None => NO_ADDRESS.to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{FORM} {} {} {} {:032x} {:016x} {address} ",
            self.process, self.started, self.descriptor, self.key, self.machine
        );
        text
    }

    /// Reads the bytes that a program carried.
    ///
    /// # Errors
    /// `CommArgument`: they are not root information of this version.
    pub fn read(bytes: &[u8]) -> Result<RootInfo> {
        let end = bytes.iter().position(|byte| *byte == 0);
        let text = std::str::from_utf8(&bytes[..end.unwrap_or(bytes.len())]).unwrap_or("");
        let mut words = text.split(' ');
        let form = words.next().unwrap_or("");
        let mut read = || {
            Some(RootInfo {
                process: words.next()?.parse().ok()?,
                started: words.next()?.parse().ok()?,
                descriptor: words.next()?.parse().ok()?,
                key: u128::from_str_radix(words.next()?, 16).ok()?,
                machine: u64::from_str_radix(words.next()?, 16).ok()?,
                address: match words.next()? {
                    NO_ADDRESS => None,
                    address => Some(address.parse().ok()?),
                },
            })
        };
        match (form, form == FORM) {
            (_, true) => read().ok_or_else(|| not_root_info("its text is damaged")),
            (other, false) if other.starts_with("JUMAR-HCCL-") => Err(not_root_info(&format!(
                "it is of version {}, this library reads {FORM}",
                other.escape_debug()
            ))),
            _ => Err(not_root_info("it does not begin as one")),
        }
    }
}

fn not_root_info(why: &str) -> Error {
    Error::new(
        ErrorKind::CommArgument,
        format!("rootInfo is not what HcclGetRootInfo returned: {why}"),
    )
    .fix("Carry all 4108 bytes unchanged from the root to every rank.")
}

/// A rank that creates a communicator.
pub(super) struct Joiner<'a> {
    pub(super) size: u32,
    pub(super) rank: u32,
    pub(super) device: u32,
    pub(super) name: &'a str,
    pub(super) digest: u64,
    pub(super) until: Instant,
    pub(super) limit: Duration,
}

/// What the ranks learn of each other.
pub(super) struct PeerDetails {
    pub(super) name: String,
    /// All ranks are in this process.
    pub(super) local: bool,
}

/// The file in which ranks meet.
pub(super) struct Meeting {
    file: Mapping,
    key: u128,
}

fn root_gone(info: &RootInfo, why: &str) -> Error {
    Error::new(
        ErrorKind::CommRootGone,
        format!(
            "process {}, which made the root information, cannot be reached: {why}",
            info.process
        ),
    )
}

/// Checks that the process which made root information runs, and that this one can know it.
fn reachable(info: &RootInfo, sees_itself: bool, started: Option<u64>) -> Result<()> {
    if !sees_itself {
        return Err(Error::new(
            ErrorKind::CommUnsupported,
            "the ranks of one machine find each other's memory through /proc, and this process has no /proc",
        )
        .fix("Mount /proc in the container or the root directory that the program runs in."));
    }
    match started == Some(info.started) {
        true => Ok(()),
        false => Err(root_gone(info, "it has ended")),
    }
}

fn halves(key: u128) -> [u64; 2] {
    [key as u64, (key >> 64) as u64]
}

impl Meeting {
    /// Creates the file, and what other ranks find it by.
    pub(super) fn create(key: u128) -> Result<(Meeting, RootInfo)> {
        let failed = |error| system("the memory for the meeting of ranks was refused", error);
        let file = Mapping::create(MEETING, MEETING_BYTES).map_err(failed)?;
        for (at, half) in halves(key).into_iter().enumerate() {
            file.store(MEETING_KEY + at, half);
        }
        file.store(0, MAGIC);
        let process = std::process::id();
        let info = RootInfo {
            process,
            started: os::start_of(process).unwrap_or(0),
            descriptor: file.descriptor(),
            key,
            machine: os::machine(),
            address: None,
        };
        Ok((Meeting { file, key }, info))
    }

    /// Opens the file of the root.
    ///
    /// # Errors
    /// `CommRootGone`: it has ended; `CommArgument`: the file is another.
    pub(super) fn open(info: &RootInfo) -> Result<Meeting> {
        let gone = |why: String| root_gone(info, &why);
        let own = std::process::id();
        reachable(
            info,
            os::start_of(own).is_some(),
            os::start_of(info.process),
        )?;
        let file = Mapping::open(info.process, info.descriptor, MEETING, MEETING_BYTES, true)
            .map_err(|error| gone(error.to_string()))?;
        let same = (0..2).all(|at| file.load(MEETING_KEY + at) == halves(info.key)[at]);
        if file.load(0) != MAGIC || !same {
            return Err(gone(
                "its root information was used up or has expired".to_owned(),
            ));
        }
        Ok(Meeting {
            file,
            key: info.key,
        })
    }

    fn change(&self, rank: u32, state: u64) {
        self.file.store(record(rank as usize) + RECORD_STATE, state);
        self.file.add(MEETING_CHANGES, 1);
        self.file.wake(MEETING_CHANGES);
    }

    fn word(&self, rank: u32, at: usize) -> u64 {
        self.file.load(record(rank as usize) + at)
    }

    fn stage(&self, rank: u32) -> u64 {
        self.word(rank, RECORD_STATE)
    }

    fn name(&self, rank: u32) -> String {
        let words = (0..NAME_BYTES / 8).map(|at| self.word(rank, RECORD_NAME + at));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let end = bytes.iter().position(|byte| *byte == 0);
        String::from_utf8_lossy(&bytes[..end.unwrap_or(NAME_BYTES - 1)]).into_owned()
    }

    /// Takes a rank's record and waits until all ranks have done so.
    ///
    /// # Errors
    /// `CommDisagreement`: other numbers of ranks or configurations, a rank that is taken; `CommIncomplete`: not all came.
    pub(super) fn join(&self, own: &Joiner<'_>, wake: u32) -> Result<PeerDetails> {
        let disagree = |sentence: String| Err(Error::new(ErrorKind::CommDisagreement, sentence));
        if own.size as usize > MOST_RECORDS {
            return Err(Error::new(
                ErrorKind::CommUnsupported,
                format!(
                    "a communicator of {} ranks; this library creates them with up to {MOST_RECORDS}",
                    own.size
                ),
            ));
        }
        let size = u64::from(own.size);
        let file = &self.file;
        if !file.exchange(MEETING_SIZE, 0, size) && file.load(MEETING_SIZE) != size {
            return disagree(format!(
                "rank {} says there are {size} ranks, another rank with the same root information says {}",
                own.rank,
                file.load(MEETING_SIZE)
            ));
        }
        let at = record(own.rank as usize);
        if !file.exchange(at + RECORD_STATE, 0, TAKEN) {
            return disagree(format!(
                "rank {} was taken by process {} before, with the same root information",
                own.rank,
                self.word(own.rank, RECORD_PROCESS)
            ));
        }
        let process = std::process::id();
        file.store(at + RECORD_PROCESS, u64::from(process));
        file.store(at + RECORD_STARTED, os::start_of(process).unwrap_or(0));
        file.store(at + RECORD_DIGEST, own.digest);
        file.store(at + RECORD_WAKE, u64::from(wake));
        for (index, bytes) in own
            .name
            .as_bytes()
            .chunks(8)
            .take(NAME_BYTES / 8)
            .enumerate()
        {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            file.store(at + RECORD_NAME + index, u64::from_le_bytes(word));
        }
        self.change(own.rank, FILLED);
        self.wait_for_all(own, FILLED)?;
        for rank in 0..own.size {
            if self.word(rank, RECORD_DIGEST) != own.digest || self.name(rank) != own.name {
                return disagree(format!(
                    "ranks {} and {rank} configure the communicator differently",
                    own.rank
                ));
            }
        }
        let name = super::shared_name(own.name, self.key);
        let local = (0..own.size).all(|rank| self.word(rank, RECORD_PROCESS) == u64::from(process));
        Ok(PeerDetails { name, local })
    }

    fn wait_for_all(&self, own: &Joiner<'_>, state: u64) -> Result<()> {
        loop {
            let seen = self.file.load(MEETING_CHANGES);
            let missing: Vec<u32> = (0..own.size)
                .filter(|rank| self.stage(*rank) < state)
                .collect();
            if missing.is_empty() {
                return Ok(());
            }
            let incomplete = |sentence| Err(Error::new(ErrorKind::CommIncomplete, sentence));
            // One that has come this far can have ended too. Only one that has all it needs from the meeting may.
            let ended = (0..own.size).find(|rank| {
                let is_through = self.stage(*rank) >= CONNECTED;
                // Written in the other order: where the start is known, so is the process.
                let started = self.word(*rank, RECORD_STARTED);
                let process = u32::try_from(self.word(*rank, RECORD_PROCESS));
                let found = process.ok().and_then(os::start_of);
                !is_through && started != 0 && found != Some(started)
            });
            if let Some(rank) = ended {
                return incomplete(format!(
                    "rank {rank} (process {}) ended while {} ranks were creating a communicator",
                    self.word(rank, RECORD_PROCESS),
                    own.size
                ));
            }
            let now = Instant::now();
            if now >= own.until {
                return incomplete(format!(
                    "{} of {} did not come within {} s",
                    ranks(&missing),
                    own.size,
                    own.limit.as_secs_f64()
                ));
            }
            let rest = own.until.duration_since(now).min(POLL_INTERVAL);
            self.file.sleep(MEETING_CHANGES, seen, rest);
        }
    }

    /// Makes this rank's segment and opens those of the others.
    ///
    /// # Errors
    /// `CommUnsupported`: too many ranks; `CommIncomplete`: a rank ended or did not come; `RuntimeInternal`: the system
    /// refused memory.
    pub(super) fn connect(
        &self,
        own: &Joiner<'_>,
        wake: &Arc<WakePage>,
        backend: Arc<dyn jumar_hal::Backend>,
    ) -> Result<Mesh> {
        if own.size as usize > MOST_RANKS {
            return Err(Error::new(
                ErrorKind::CommUnsupported,
                format!(
                    "a communicator of {} ranks in several processes; this library creates them with up to {MOST_RANKS}",
                    own.size
                ),
            ));
        }
        let failed = |error| system("the memory that ranks share was refused", error);
        let segment = Mapping::create(SEGMENT, SEGMENT_BYTES).map_err(failed)?;
        for (at, half) in halves(self.key).into_iter().enumerate() {
            segment.store(HEAD_KEY + at, half);
        }
        segment.store(HEAD_RANK, u64::from(own.rank));
        segment.store(HEAD_ADDRESS, segment.address() as u64);
        let lent = backend.lent_memory(own.device);
        if let Some(lent) = lent {
            segment.store(HEAD_LENT, u64::from(lent.descriptor) + 1);
            segment.store(HEAD_LENT_BYTES, lent.bytes as u64);
        }
        segment.store(HEAD_MAGIC, MAGIC);
        let at = record(own.rank as usize);
        self.file
            .store(at + RECORD_SEGMENT, u64::from(segment.descriptor()));
        self.change(own.rank, OFFERED);
        self.wait_for_all(own, OFFERED)?;
        let peers = (0..own.size)
            .map(|rank| match rank == own.rank {
                true => Ok(None),
                false => self.peer(rank, own, wake).map(Some),
            })
            .collect::<Result<Vec<_>>>()?;
        let mask = |is_one: &dyn Fn(usize) -> bool| {
            let ranks = (0..own.size as usize).filter(|rank| is_one(*rank));
            ranks.fold(0, |mask, rank| mask | 1 << rank)
        };
        segment.store(HEAD_READABLE, mask(&|rank| self.can_read(&peers, rank)));
        let is_mapped = |rank: usize| peers[rank].as_ref().is_some_and(|peer| peer.lent.is_some());
        segment.store(HEAD_MAPPED, mask(&is_mapped));
        self.change(own.rank, CONNECTED);
        self.wait_for_all(own, CONNECTED)?;
        Ok(Mesh::new(
            (own.rank as usize, own.device),
            segment,
            peers,
            wake.clone(),
            backend,
        ))
    }

    /// Reports whether the system lets this process read the memory of a rank's.
    fn can_read(&self, peers: &[Option<Peer>], rank: usize) -> bool {
        let Some(peer) = &peers[rank] else {
            return false;
        };
        let head = peer.segment.load(HEAD_ADDRESS) as usize;
        let key = os::read_words(peer.process_number(), head.wrapping_add(HEAD_KEY * 8));
        key.is_ok_and(|key| key == halves(self.key))
    }

    fn peer(&self, rank: u32, own: &Joiner<'_>, wake: &Arc<WakePage>) -> Result<Peer> {
        let number = |at| u32::try_from(self.word(rank, at)).unwrap_or(0);
        let process = number(RECORD_PROCESS);
        let cannot = |why: String| {
            Error::new(
                ErrorKind::CommIncomplete,
                format!(
                    "rank {} cannot connect to rank {rank} (process {process}): {why}",
                    own.rank
                ),
            )
        };
        let opened = match process == std::process::id() {
            true => None,
            false => Some(
                Process::open(process, self.word(rank, RECORD_STARTED))
                    .ok_or_else(|| cannot("it has ended".to_owned()))?,
            ),
        };
        let segment = Mapping::open(
            process,
            number(RECORD_SEGMENT),
            SEGMENT,
            SEGMENT_BYTES,
            false,
        )
        .map_err(|error| cannot(error.to_string()))?;
        let same = (0..2).all(|at| segment.load(HEAD_KEY + at) == halves(self.key)[at]);
        let is_it = segment.load(HEAD_MAGIC) == MAGIC && segment.load(HEAD_RANK) == u64::from(rank);
        if !same || !is_it {
            return Err(cannot("its memory is of another communicator".to_owned()));
        }
        let wake = match &opened {
            None => wake.clone(),
            Some(_) => {
                let page = WakePage::open(process, number(RECORD_WAKE));
                Arc::new(page.map_err(|error| cannot(error.to_string()))?)
            }
        };
        Ok(Peer {
            lent: map_lent(process, &segment),
            segment,
            wake,
            process: opened,
            lost: Default::default(),
        })
    }
}

/// Maps what a rank lends of its device's memory; `None` if it lends nothing, or the system refuses it.
fn map_lent(process: u32, segment: &Mapping) -> Option<Mapping> {
    let descriptor = segment.load(HEAD_LENT).checked_sub(1)?;
    let bytes = usize::try_from(segment.load(HEAD_LENT_BYTES)).ok()?;
    Mapping::open(
        process,
        u32::try_from(descriptor).ok()?,
        LentMemory::NAME,
        bytes,
        false,
    )
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_information_survives_its_text_and_nothing_else() {
        let info = RootInfo {
            process: 7,
            started: 123,
            descriptor: 9,
            key: 0xfeed_0000_1111_2222_3333_4444_5555_6666,
            machine: 0x1234,
            address: "[fd00::1]:60000".parse().ok(),
        };
        let mut bytes = [0u8; 4108];
        let text = info.text();
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        assert!(bytes.iter().all(u8::is_ascii));
        assert_eq!(RootInfo::read(&bytes).expect("as written"), info);
        let kind = |bytes: &[u8]| RootInfo::read(bytes).map_err(|error| error.kind());
        let refused = Err(ErrorKind::CommArgument);
        assert_eq!(kind(&[0; 4108]), refused);
        assert_eq!(kind(&bytes[..20]), refused);
        assert_eq!(kind(b"JUMAR-HCCL-1 1 2 3 4 5 "), refused);
        bytes[14] = 200;
        assert_eq!(kind(&bytes), refused);
    }

    #[test]
    fn without_proc_a_process_that_runs_is_not_said_to_have_ended() {
        let (_meeting, info) = Meeting::create(1).expect("memory");
        let kind = |sees_itself, started| {
            let found = reachable(&info, sees_itself, started);
            found.map_err(|error| (error.kind(), error.sentence().to_owned()))
        };
        assert_eq!(kind(true, Some(info.started)), Ok(()));
        let (ended, sentence) = kind(true, Some(info.started + 1)).expect_err("another one");
        assert_eq!(ended, ErrorKind::CommRootGone);
        assert!(sentence.contains("has ended"), "{sentence}");
        let (blind, sentence) = kind(false, None).expect_err("it sees nothing");
        assert_eq!(blind, ErrorKind::CommUnsupported);
        assert!(sentence.contains("has no /proc"), "{sentence}");
    }

    /// The rank that ended had come; another one, which has not, is not what the ranks wait for in vain.
    #[test]
    fn a_rank_that_ended_after_it_had_come_is_named_before_the_limit() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("a process");
        let (meeting, info) = Meeting::create(1).expect("memory");
        let at = record(1);
        let started = os::start_of(child.id()).expect("it runs");
        meeting
            .file
            .store(at + RECORD_PROCESS, u64::from(child.id()));
        meeting.file.store(at + RECORD_STARTED, started);
        meeting.change(1, FILLED);
        child.kill().expect("it runs");
        child.wait().expect("it has ended");
        let limit = Duration::from_secs(60);
        let own = Joiner {
            size: 3,
            rank: 0,
            device: 0,
            name: "",
            digest: 0,
            until: Instant::now() + limit,
            limit,
        };
        let opened = Meeting::open(&info).expect("this process runs");
        let error = opened.join(&own, 0).map(drop).expect_err("rank 1 ended");
        assert_eq!(error.kind(), ErrorKind::CommIncomplete);
        let who = format!("rank 1 (process {}) ended", child.id());
        assert!(error.sentence().contains(&who), "{error}");
    }
}
