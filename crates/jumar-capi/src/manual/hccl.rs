//! Collective communication: arrays as long as the communicator has ranks, and configurations that name their own size.

use std::ffi::{c_char, c_void};

use jumar_acl::hccl::{self, Call, Layout};

use crate::acl::{Cx, Raw, Result, calls, types};
use crate::raw;

/// Takes an array with one number for each rank, or for each pair of ranks.
///
/// # Safety
/// `pointer` is null or points to that many numbers, which stay as they are until the call is done.
unsafe fn per_rank<'a>(
    cx: &Cx<'_>,
    comm: Raw,
    pointer: *const c_void,
    power: u32,
    name: &str,
) -> Result<Option<&'a [u64]>> {
    let length = hccl::comm_size(cx, comm)?.pow(power);
    // SAFETY: the caller's contract.
    unsafe { raw::slice::<u64>(pointer.cast(), length, name) }
}

/// Takes the bytes of a configuration, as many as its head says.
///
/// # Safety
/// `pointer` is null or points to a configuration, which stays as it is until the call is done.
unsafe fn configuration<'a>(pointer: *const types::HcclCommConfig) -> Result<Option<&'a [u8]>> {
    // SAFETY: the caller's contract: every configuration has a head.
    let head = unsafe { raw::slice::<u8>(pointer.cast(), hccl::CONFIG_HEAD, "config") }?;
    let Some(head) = head else { return Ok(None) };
    let length = hccl::config_bytes(head)?;
    // SAFETY: the caller's contract: it has as many bytes as it says.
    unsafe { raw::slice::<u8>(pointer.cast(), length, "config") }
}

/// As [`configuration`], for calls that need one.
///
/// # Safety
/// As [`configuration`].
unsafe fn given<'a>(pointer: *const types::HcclCommConfig) -> Result<&'a [u8]> {
    // SAFETY: the caller's contract.
    let bytes = unsafe { configuration(pointer) }?;
    bytes
        .ok_or_else(|| crate::acl::Error::new(crate::acl::ErrorKind::NullPointer, "config is null"))
}

/// Concatenates buffers of different lengths on every rank.
///
/// # Safety
/// Called from C: the arrays have one number for each rank.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn HcclAllGatherV(
    sendBuf: *mut c_void,
    sendCount: u64,
    recvBuf: *mut c_void,
    recvCounts: *const c_void,
    recvDispls: *const c_void,
    dataType: u32,
    comm: *mut c_void,
    stream: *mut c_void,
) -> u32 {
    raw::hccl_status(&calls::HcclAllGatherV, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(sendBuf),
                raw::ArgBits::word(sendCount),
                raw::ArgBits::word(recvBuf),
                raw::ArgBits::word(recvCounts),
                raw::ArgBits::word(recvDispls),
                raw::ArgBits::word(dataType),
                raw::ArgBits::word(comm),
                raw::ArgBits::word(stream),
            ]
        })?;
        let (comm, stream) = (raw::handle(comm), raw::handle(stream));
        // SAFETY: the program guarantees it: null or one number for each rank.
        let counts = unsafe { per_rank(cx, comm, recvCounts, 1, "recvCounts") }?;
        // SAFETY: the program guarantees it: null or one number for each rank.
        let displacements = unsafe { per_rank(cx, comm, recvDispls, 1, "recvDispls") }?;
        let receive = Layout {
            address: recvBuf.addr(),
            counts,
            displacements,
        };
        let call = Call { comm, stream };
        hccl::all_gather_v(cx, (sendBuf.addr(), sendCount), &receive, dataType, call)
    })
}

/// Combines the buffers of all ranks and leaves each rank a part of its own length.
///
/// # Safety
/// Called from C: the arrays have one number for each rank.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn HcclReduceScatterV(
    sendBuf: *mut c_void,
    sendCounts: *const c_void,
    sendDispls: *const c_void,
    recvBuf: *mut c_void,
    recvCount: u64,
    dataType: u32,
    op: u32,
    comm: *mut c_void,
    stream: *mut c_void,
) -> u32 {
    raw::hccl_status(&calls::HcclReduceScatterV, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(sendBuf),
                raw::ArgBits::word(sendCounts),
                raw::ArgBits::word(sendDispls),
                raw::ArgBits::word(recvBuf),
                raw::ArgBits::word(recvCount),
                raw::ArgBits::word(dataType),
                raw::ArgBits::word(op),
                raw::ArgBits::word(comm),
                raw::ArgBits::word(stream),
            ]
        })?;
        let (comm, stream) = (raw::handle(comm), raw::handle(stream));
        // SAFETY: the program guarantees it: null or one number for each rank.
        let counts = unsafe { per_rank(cx, comm, sendCounts, 1, "sendCounts") }?;
        // SAFETY: the program guarantees it: null or one number for each rank.
        let displacements = unsafe { per_rank(cx, comm, sendDispls, 1, "sendDispls") }?;
        let send = Layout {
            address: sendBuf.addr(),
            counts,
            displacements,
        };
        let receive = (recvBuf.addr(), recvCount);
        hccl::reduce_scatter_v(cx, &send, receive, (dataType, op), Call { comm, stream })
    })
}

/// Exchanges parts of different lengths between all ranks.
///
/// # Safety
/// Called from C: the arrays have one number for each rank.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn HcclAlltoAllV(
    sendBuf: *const c_void,
    sendCounts: *const c_void,
    sdispls: *const c_void,
    sendType: u32,
    recvBuf: *const c_void,
    recvCounts: *const c_void,
    rdispls: *const c_void,
    recvType: u32,
    comm: *mut c_void,
    stream: *mut c_void,
) -> u32 {
    raw::hccl_status(&calls::HcclAlltoAllV, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(sendBuf),
                raw::ArgBits::word(sendCounts),
                raw::ArgBits::word(sdispls),
                raw::ArgBits::word(sendType),
                raw::ArgBits::word(recvBuf),
                raw::ArgBits::word(recvCounts),
                raw::ArgBits::word(rdispls),
                raw::ArgBits::word(recvType),
                raw::ArgBits::word(comm),
                raw::ArgBits::word(stream),
            ]
        })?;
        let (comm, stream) = (raw::handle(comm), raw::handle(stream));
        // SAFETY: the program guarantees it: null or one number for each rank.
        let counts = unsafe { per_rank(cx, comm, sendCounts, 1, "sendCounts") }?;
        // SAFETY: the program guarantees it: null or one number for each rank.
        let displacements = unsafe { per_rank(cx, comm, sdispls, 1, "sdispls") }?;
        let send = Layout {
            address: sendBuf.addr(),
            counts,
            displacements,
        };
        // SAFETY: the program guarantees it: null or one number for each rank.
        let counts = unsafe { per_rank(cx, comm, recvCounts, 1, "recvCounts") }?;
        // SAFETY: the program guarantees it: null or one number for each rank.
        let displacements = unsafe { per_rank(cx, comm, rdispls, 1, "rdispls") }?;
        let receive = Layout {
            address: recvBuf.addr(),
            counts,
            displacements,
        };
        let call = Call { comm, stream };
        hccl::all_to_all_v(cx, (&send, sendType), (&receive, recvType), call)
    })
}

/// Exchanges parts between all ranks, with all counts in one matrix.
///
/// # Safety
/// Called from C: the matrix has one number for each pair of ranks.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn HcclAlltoAllVC(
    sendBuf: *const c_void,
    sendCountMatrix: *const c_void,
    sendType: u32,
    recvBuf: *const c_void,
    recvType: u32,
    comm: *mut c_void,
    stream: *mut c_void,
) -> u32 {
    raw::hccl_status(&calls::HcclAlltoAllVC, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(sendBuf),
                raw::ArgBits::word(sendCountMatrix),
                raw::ArgBits::word(sendType),
                raw::ArgBits::word(recvBuf),
                raw::ArgBits::word(recvType),
                raw::ArgBits::word(comm),
                raw::ArgBits::word(stream),
            ]
        })?;
        let (comm, stream) = (raw::handle(comm), raw::handle(stream));
        // SAFETY: the program guarantees it: null or one number for each pair of ranks.
        let matrix = unsafe { per_rank(cx, comm, sendCountMatrix, 2, "sendCountMatrix") }?;
        let (buffers, types) = ((sendBuf.addr(), recvBuf.addr()), (sendType, recvType));
        hccl::all_to_all_vc(cx, buffers, matrix, types, Call { comm, stream })
    })
}

/// Creates a configured communicator from the root information.
///
/// # Safety
/// Called from C: the pointers are null or lead to what the C declaration says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn HcclCommInitRootInfoConfig(
    nRanks: u32,
    rootInfo: *const types::HcclRootInfo,
    rank: u32,
    config: *const types::HcclCommConfig,
    comm: *mut *mut c_void,
) -> u32 {
    raw::hccl_status(&calls::HcclCommInitRootInfoConfig, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(nRanks),
                raw::ArgBits::word(rootInfo),
                raw::ArgBits::word(rank),
                raw::ArgBits::word(config),
                raw::ArgBits::word(comm),
            ]
        })?;
        // SAFETY: the program guarantees it: null or the address of a variable, as the C declaration says.
        let out = unsafe { raw::Out::<Raw>::new(comm.cast(), "comm") }?;
        // SAFETY: as before.
        let info = unsafe { raw::input(rootInfo, "rootInfo") }?;
        // SAFETY: the program guarantees it: null or a configuration.
        let config = unsafe { given(config) }?;
        out.set(hccl::init_root_info(cx, nRanks, info, rank, Some(config))?);
        Ok(())
    })
}

/// Creates a communicator from several pieces of root information.
///
/// # Safety
/// Called from C: the pointers are null or lead to what the C declaration says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn HcclCommInitRootInfoScalable(
    nRanks: u32,
    nRoot: u32,
    rootInfoList: *const types::HcclRootInfo,
    rank: u32,
    nExtRoot: u32,
    config: *const types::HcclCommConfig,
    comm: *mut *mut c_void,
) -> u32 {
    raw::hccl_status(&calls::HcclCommInitRootInfoScalable, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(nRanks),
                raw::ArgBits::word(nRoot),
                raw::ArgBits::word(rootInfoList),
                raw::ArgBits::word(rank),
                raw::ArgBits::word(nExtRoot),
                raw::ArgBits::word(config),
                raw::ArgBits::word(comm),
            ]
        })?;
        // SAFETY: the program guarantees it: null or the address of a variable, as the C declaration says.
        let out = unsafe { raw::Out::<Raw>::new(comm.cast(), "comm") }?;
        // SAFETY: the program guarantees it: null or as many pieces as `nRoot` says.
        let infos = unsafe { raw::slice(rootInfoList, raw::count(nRoot), "rootInfoList") }?;
        // SAFETY: the program guarantees it: null or a configuration.
        let config = unsafe { configuration(config) }?;
        out.set(hccl::init_scalable(
            cx, nRanks, infos, rank, nExtRoot, config,
        )?);
        Ok(())
    })
}

/// Creates a configured communicator from a rank table file.
///
/// # Safety
/// Called from C: the pointers are null or lead to what the C declaration says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn HcclCommInitClusterInfoConfig(
    clusterInfo: *const c_char,
    rank: u32,
    config: *mut types::HcclCommConfig,
    comm: *mut *mut c_void,
) -> u32 {
    raw::hccl_status(&calls::HcclCommInitClusterInfoConfig, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(clusterInfo),
                raw::ArgBits::word(rank),
                raw::ArgBits::word(config),
                raw::ArgBits::word(comm),
            ]
        })?;
        // SAFETY: the program guarantees it: null or the address of a variable, as the C declaration says.
        let out = unsafe { raw::Out::<Raw>::new(comm.cast(), "comm") }?;
        // SAFETY: the program guarantees it: null or a text that ends in a zero.
        let path = unsafe { raw::text(clusterInfo) };
        // SAFETY: the program guarantees it: null or a configuration.
        let config = unsafe { given(config) }?;
        out.set(hccl::init_cluster_info(cx, path, rank, Some(config))?);
        Ok(())
    })
}

/// Creates a communicator from some ranks of another one.
///
/// # Safety
/// Called from C: the pointers are null or lead to what the C declaration says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn HcclCreateSubCommConfig(
    comm: *mut *mut c_void,
    rankNum: u32,
    rankIds: *mut u32,
    subCommId: u64,
    subCommRankId: u32,
    config: *mut types::HcclCommConfig,
    subComm: *mut *mut c_void,
) -> u32 {
    raw::hccl_status(&calls::HcclCreateSubCommConfig, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(comm),
                raw::ArgBits::word(rankNum),
                raw::ArgBits::word(rankIds),
                raw::ArgBits::word(subCommId),
                raw::ArgBits::word(subCommRankId),
                raw::ArgBits::word(config),
                raw::ArgBits::word(subComm),
            ]
        })?;
        // SAFETY: the program guarantees it: null or the address of a variable, as the C declaration says.
        let out = unsafe { raw::Out::<Raw>::new(subComm.cast(), "subComm") }?;
        // SAFETY: as before.
        let parent = unsafe { raw::InOut::<Raw>::new(comm.cast(), "comm") }?;
        // SAFETY: the program guarantees it: null or as many ranks as `rankNum` says.
        let ranks = unsafe { raw::slice::<u32>(rankIds, raw::count(rankNum), "rankIds") }?;
        // SAFETY: the program guarantees it: null or a configuration.
        let config = unsafe { configuration(config) }?;
        let (parent, index) = (parent.get(), subCommRankId);
        out.set(hccl::create_sub_comm(
            cx, parent, ranks, subCommId, index, config,
        )?);
        Ok(())
    })
}

/// Reports whether groups of calls exist.
///
/// # Safety
/// Called from C: the pointers are null or lead to what the C declaration says.
#[unsafe(no_mangle)]
#[expect(non_snake_case, reason = "the C interface sets names and signatures")]
pub unsafe extern "C" fn HcclGroupStatusGet(isGroupEnabled: *mut bool) -> u32 {
    raw::hccl_status(&calls::HcclGroupStatusGet, |cx| {
        raw::trace(cx, || [raw::ArgBits::word(isGroupEnabled)])?;
        // SAFETY: the program guarantees it: null or the address of a bool, which has the size of a byte.
        let out = unsafe { raw::Out::<u8>::new(isGroupEnabled.cast(), "isGroupEnabled") }?;
        out.set(u8::from(hccl::GROUPS_EXIST));
        Ok(())
    })
}
