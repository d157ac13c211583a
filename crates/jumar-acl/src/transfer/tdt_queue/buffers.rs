//! Buffers with a header and rights of queues, which are the device's: on a host every call about them is refused.

use jumar_types::{ErrorKind, Result};

use crate::generated::enums;
use crate::{Cx, Raw, refuse};

fn on_host<T>() -> Result<T> {
    refuse(
        ErrorKind::FrontendFeatureUnsupported,
        "only programs on the device have buffers and permissions of queues; on the host, use acltdtEnqueueData and acltdtDequeueData",
    )
}

pub fn acltdtEnqueue(_cx: &Cx<'_>, _queue: u32, _buffer: Raw, _timeout: i32) -> Result<()> {
    on_host()
}

pub fn acltdtDequeue(_cx: &Cx<'_>, _queue: u32, _timeout: i32) -> Result<Raw> {
    on_host()
}

pub fn acltdtGrantQueue(
    _cx: &Cx<'_>,
    _queue: u32,
    _process: i32,
    _permission: u32,
    _timeout: i32,
) -> Result<()> {
    on_host()
}

pub fn acltdtAttachQueue(_cx: &Cx<'_>, _queue: u32, _timeout: i32) -> Result<u32> {
    on_host()
}

pub fn acltdtAllocBuf(_cx: &Cx<'_>, _size: usize, kind: u32) -> Result<Raw> {
    if kind > enums::ACL_TDT_DVPP_MEM {
        return refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("acltdtAllocBufType", kind),
        );
    }
    on_host()
}

pub fn acltdtFreeBuf(_cx: &Cx<'_>, _buffer: Raw) -> Result<()> {
    on_host()
}

pub fn acltdtGetBufData(_cx: &Cx<'_>, _buffer: Raw) -> Result<(usize, usize)> {
    on_host()
}

pub fn acltdtSetBufDataLen(_cx: &Cx<'_>, _buffer: Raw, _used: usize) -> Result<()> {
    on_host()
}

pub fn acltdtGetBufDataLen(_cx: &Cx<'_>, _buffer: Raw) -> Result<usize> {
    on_host()
}

pub fn acltdtAppendBufChain(_cx: &Cx<'_>, _head: Raw, _buffer: Raw) -> Result<()> {
    on_host()
}

pub fn acltdtGetBufChainNum(_cx: &Cx<'_>, _head: Raw) -> Result<u32> {
    on_host()
}

pub fn acltdtGetBufFromChain(_cx: &Cx<'_>, _head: Raw, _index: u32) -> Result<Raw> {
    on_host()
}

pub fn acltdtGetBufUserData(
    _cx: &Cx<'_>,
    _buffer: Raw,
    _size: usize,
    _offset: usize,
) -> Result<Vec<u8>> {
    on_host()
}

pub fn acltdtSetBufUserData(
    _cx: &Cx<'_>,
    _buffer: Raw,
    _data: Option<&[u8]>,
    _size: usize,
    _offset: usize,
) -> Result<()> {
    on_host()
}

pub fn acltdtCopyBufRef(_cx: &Cx<'_>, _buffer: Raw) -> Result<Raw> {
    on_host()
}
