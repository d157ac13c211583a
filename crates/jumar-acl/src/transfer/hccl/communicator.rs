//! Creating and destroying communicators.

use std::ffi::CStr;
use std::sync::{Arc, OnceLock};

use jumar::engine::sync::{AtomicUsize, Mutex, Ordering};
use jumar_hccl::{Communicator, Options, RootAddress, RootInfo, digest};
use jumar_types::{Error, ErrorKind, Result};

use super::settings::Chosen;
use super::table::RankTable;
use super::{Comm, wrong};
use crate::check::collectives;
use crate::error::null;
use crate::generated::types;
use crate::{Cx, Raw};

/// The name of a communicator that comes from a rank table.
const WORLD: &str = "hccl_world_group";

/// A communicator that is to be created, at once or at the end of a group.
pub(super) struct Request {
    pub(super) comm: Arc<Comm>,
    pub(super) size_and_rank: (u32, u32),
    pub(super) options: Options,
    pub(super) way: Way,
}

/// How ranks find each other.
pub(super) enum Way {
    Root(RootInfo),
    /// A name made from a rank table, and where ranks of other servers find rank 0.
    Table(String, Option<RootAddress>),
}

impl Request {
    /// Meets the other ranks.
    pub(super) fn fulfil(self, cx: &Cx<'_>) -> Result<()> {
        let (domain, limit) = (cx.domain()?, cx.comm_settings()?.connect);
        let device = self.comm.device;
        let made = match &self.way {
            Way::Root(info) => {
                domain.join(info, self.size_and_rank, device, self.options, limit)?
            }
            Way::Table(name, root_address) => {
                let name = (name.as_str(), root_address.as_ref());
                domain.join_by_name(name, self.size_and_rank, device, self.options, limit)?
            }
        };
        // A handle has one request.
        let _ = self.comm.engine.set(made);
        Ok(())
    }
}

/// Makes the handle of a communicator whose ranks have not met.
fn reserve(
    cx: &Cx<'_>,
    chosen: &Chosen,
    device: u32,
    table: Option<(u64, u32)>,
) -> Result<Arc<Comm>> {
    let made = cx.process.communication.comms.insert(|id| {
        Arc::new(Comm {
            id,
            engine: OnceLock::new(),
            device,
            deterministic: Mutex::new(chosen.deterministic),
            buffer: chosen.buffer,
            expansion: chosen.expansion,
            algorithm: chosen.algorithm.clone(),
            table,
            users: AtomicUsize::new(0),
            own_buffer: Mutex::default(),
        })
    })?;
    collectives::was_created(made.id, cx.call.name);
    Ok(made)
}

fn adopt(cx: &Cx<'_>, chosen: &Chosen, device: u32, made: Arc<Communicator>) -> Result<Raw> {
    let comm = reserve(cx, chosen, device, None)?;
    let _ = comm.engine.set(made);
    Ok(Raw(comm.id))
}

/// Refuses a name that a live communicator of the device has.
fn refuse_name(cx: &Cx<'_>, name: &str, device: u32) -> Result<()> {
    let comms = cx.process.communication.comms.all();
    let taken = comms.iter().any(|comm| {
        comm.device == device && comm.engine.get().is_some_and(|one| one.name() == name)
    });
    match taken && !name.is_empty() {
        true => wrong(format!(
            "a communicator of device {device} is named \"{name}\" already"
        )),
        false => Ok(()),
    }
}

fn check_rank(size: u32, rank: u32) -> Result<()> {
    if size == 0 {
        return wrong("nRanks is 0; a communicator has one rank or more");
    }
    match rank < size {
        true => Ok(()),
        false => wrong(format!("rank is {rank}; it must be below nRanks, {size}")),
    }
}

pub fn HcclGetRootInfo(cx: &Cx<'_>) -> Result<Box<types::HcclRootInfo>> {
    let settings = cx.comm_settings()?;
    cx.comm_device()?;
    let text = cx.domain()?.root_info(settings.connect)?.text();
    let mut info = Box::new(types::HcclRootInfo::ZERO);
    for (to, from) in info.internal.iter_mut().zip(text.bytes()) {
        *to = from;
    }
    Ok(info)
}

pub fn HcclGetRootInfoScalable(cx: &Cx<'_>) -> Result<Box<types::HcclRootInfo>> {
    HcclGetRootInfo(cx)
}

fn root_info(info: Option<&types::HcclRootInfo>, what: &str) -> Result<RootInfo> {
    let info = info.ok_or_else(|| null(what))?;
    RootInfo::read(&info.internal)
}

pub fn HcclCommInitRootInfo(
    cx: &Cx<'_>,
    size: u32,
    info: Option<&types::HcclRootInfo>,
    rank: u32,
) -> Result<Raw> {
    init_root_info(cx, size, info, rank, None)
}

/// Creates a communicator by root information, with the bytes of a configuration if there is one.
pub fn init_root_info(
    cx: &Cx<'_>,
    size: u32,
    info: Option<&types::HcclRootInfo>,
    rank: u32,
    config: Option<&[u8]>,
) -> Result<Raw> {
    cx.comm_settings()?;
    let info = root_info(info, "rootInfo")?;
    check_rank(size, rank)?;
    let device = cx.comm_device()?;
    let chosen = cx.chosen(config)?;
    refuse_name(cx, &chosen.options.name, device)?;
    let comm = reserve(cx, &chosen, device, None)?;
    create(
        cx,
        Request {
            comm,
            size_and_rank: (size, rank),
            options: chosen.options,
            way: Way::Root(info),
        },
    )
}

/// Fulfils a request now, or at the end of the thread's group.
fn create(cx: &Cx<'_>, request: Request) -> Result<Raw> {
    let handle = Raw(request.comm.id);
    let Some(request) = super::group::defer(cx, request)? else {
        return Ok(handle);
    };
    match request.fulfil(cx) {
        Ok(()) => Ok(handle),
        Err(error) => {
            forget(cx, handle);
            Err(error)
        }
    }
}

/// Takes back the handle of a communicator that was not created.
pub(super) fn forget(cx: &Cx<'_>, handle: Raw) {
    collectives::was_not_created(handle.0, cx.call.name);
    // It is there: the program has not got it yet.
    drop(
        cx.process
            .communication
            .comms
            .remove(handle.0, cx.call.name),
    );
}

/// Creates a communicator by several roots: the ranks meet at the first of them.
pub fn init_scalable(
    cx: &Cx<'_>,
    size: u32,
    infos: Option<&[types::HcclRootInfo]>,
    rank: u32,
    extra: u32,
    config: Option<&[u8]>,
) -> Result<Raw> {
    let infos = infos.ok_or_else(|| null("rootInfoList"))?;
    if extra != 0 {
        return wrong(format!("nExtRoot is {extra}; it must be 0"));
    }
    if infos.is_empty() || infos.len() > size as usize {
        return wrong(format!(
            "nRoot is {}; it must be 1 to nRanks, {size}",
            infos.len()
        ));
    }
    init_root_info(cx, size, infos.first(), rank, config)
}

pub fn HcclCommInitClusterInfo(cx: &Cx<'_>, path: Option<&CStr>, rank: u32) -> Result<Raw> {
    init_cluster_info(cx, path, rank, None)
}

/// Creates a communicator from a rank table, with the bytes of a configuration if there is one.
pub fn init_cluster_info(
    cx: &Cx<'_>,
    path: Option<&CStr>,
    rank: u32,
    config: Option<&[u8]>,
) -> Result<Raw> {
    let settings = cx.comm_settings()?;
    let path = path.ok_or_else(|| null("clusterInfo"))?;
    let device = cx.comm_device()?;
    let mut chosen = cx.chosen(config)?;
    if chosen.options.name.is_empty() {
        chosen.options.name = WORLD.to_owned();
    }
    let (table, bytes) = RankTable::read(path)?;
    let own = table.rank(rank)?;
    let physical = jumar::config::physical_number(device);
    if own.device != physical {
        return Err(Error::new(
            ErrorKind::CommTableRank,
            format!(
                "rank {rank} of the rank table has device_id {}, the current device is {physical}",
                own.device
            ),
        ));
    }
    let mark = digest(bytes.iter().map(|byte| u64::from(*byte)));
    let live = cx.process.communication.comms.all();
    if live.iter().any(|comm| comm.table == Some((mark, rank))) {
        return wrong(format!(
            "rank {rank} has a communicator of this rank table already"
        ));
    }
    refuse_name(cx, &chosen.options.name, device)?;
    let words = [mark, digest(settings.job.bytes().map(u64::from))];
    let name = format!("{:016x}-{}", digest(words), chosen.options.name);
    let root_address = table.root_address().map(|address| RootAddress {
        address,
        key: u128::from(digest(words)) << 64 | u128::from(digest(name.bytes().map(u64::from))),
    });
    let comm = reserve(cx, &chosen, device, Some((mark, rank)))?;
    create(
        cx,
        Request {
            comm,
            size_and_rank: (table.size(), rank),
            options: chosen.options,
            way: Way::Table(name, root_address),
        },
    )
}

pub fn HcclCommInitAll(cx: &Cx<'_>, count: u32, devices: Option<&[i32]>) -> Result<Vec<Raw>> {
    let chosen = cx.chosen(None)?;
    let devices = devices.ok_or_else(|| null("devices"))?;
    if count == 0 {
        return wrong("ndev is 0; a communicator has one rank or more");
    }
    let runtime = cx.runtime()?;
    let mut numbers = Vec::with_capacity(devices.len());
    for device in devices {
        let found = runtime.device(i64::from(*device));
        let number = match found {
            Ok(device) => device.number(),
            Err(error) => return wrong(format!("devices: {error}")),
        };
        if numbers.contains(&number) {
            return wrong(format!("device {device} is listed twice"));
        }
        numbers.push(number);
    }
    let made = cx.domain()?.create_all(&numbers, &chosen.options)?;
    made.into_iter()
        .zip(numbers)
        .map(|(made, device)| adopt(cx, &chosen, device, made))
        .collect()
}

/// The answer for ranks that are not members: no communicator.
const NOT_A_MEMBER: u64 = 0xffff_ffff;

/// Creates a communicator from some ranks of another one.
pub fn create_sub_comm(
    cx: &Cx<'_>,
    parent: Raw,
    ranks: Option<&[u32]>,
    identity: u64,
    index: u32,
    config: Option<&[u8]>,
) -> Result<Raw> {
    let parent = cx.comm(parent)?;
    let engine = parent.engine()?;
    if engine.is_child() {
        return Err(Error::new(
            ErrorKind::CommUnsupported,
            format!(
                "communicator \"{}\" was created from another one, and cannot be split again",
                engine.name()
            ),
        )
        .fix("Create all sub-communicators from the first communicator."));
    }
    let Some(ranks) = ranks else {
        return match identity {
            NOT_A_MEMBER => Ok(Raw(0)),
            _ => Err(null("rankIds")),
        };
    };
    let chosen = cx.chosen(config)?;
    let name = match chosen.options.name.as_str() {
        "" => format!("{}_sub_{identity}", engine.name()),
        name => name.to_owned(),
    };
    refuse_name(cx, &name, parent.device)?;
    let made = cx
        .domain()?
        .split(engine, (ranks, index), identity, chosen.options.clone())?;
    adopt(cx, &chosen, parent.device, made)
}

pub fn HcclCommDestroy(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    if handle.is_null() {
        return Err(null("comm"));
    }
    let comms = &cx.process.communication.comms;
    let comm = comms.get(handle.0)?;
    if comm.users.load(Ordering::Acquire) > 0 {
        return Err(Error::new(
            ErrorKind::CommBusy,
            format!(
                "another thread is inside a call with communicator {:#x}",
                handle.0
            ),
        ));
    }
    let comm = comms.remove(handle.0, cx.call.name)?;
    super::memory::release(cx, &comm);
    if let Some(engine) = comm.engine.get() {
        engine.close();
        let left = cx.process.communication.engines();
        let is_last = left.iter().all(|other| other.name() != engine.name());
        collectives::was_destroyed(comm.id, engine.name(), is_last);
    }
    Ok(())
}
