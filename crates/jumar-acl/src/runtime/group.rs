//! Groups of cores. A software device has one, with all of them.

use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar_types::{ErrorKind, IdKind, Result};

use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// How many groups there are.
const GROUPS: u32 = 1;

/// The description of the groups of a device.
pub struct GroupInfo {
    id: u64,
    filled: Mutex<Option<Group>>,
}

#[derive(Clone, Copy)]
struct Group {
    cube_cores: u32,
    vector_cores: u32,
}

/// The descriptions by handle.
pub type GroupInfos = Table<GroupInfo>;

pub(crate) fn table() -> GroupInfos {
    Table::new(IdKind::GroupInfo, Arc::default())
}

pub fn aclrtGetGroupCount(cx: &Cx<'_>) -> Result<u32> {
    cx.context().map(|_| GROUPS)
}

pub fn aclrtSetGroup(cx: &Cx<'_>, group: i32) -> Result<()> {
    cx.context()?;
    check(group)
}

fn check(group: i32) -> Result<()> {
    if u32::try_from(group).is_ok_and(|group| group < GROUPS) {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidValue,
        format!("group {group} does not exist: the only group is 0"),
    )
}

pub fn aclrtCreateGroupInfo(cx: &Cx<'_>) -> Result<Raw> {
    let info = cx.process.group_infos.insert(|id| {
        Arc::new(GroupInfo {
            id,
            filled: Mutex::new(None),
        })
    })?;
    Ok(Raw(info.id))
}

pub fn aclrtDestroyGroupInfo(cx: &Cx<'_>, info: Raw) -> Result<()> {
    cx.process
        .group_infos
        .remove(info.0, cx.call.name)
        .map(drop)
}

pub fn aclrtGetAllGroupInfo(cx: &Cx<'_>, info: Raw) -> Result<()> {
    let info = cx.process.group_infos.get(info.0)?;
    let context = cx.context()?;
    let profile = context.device().profile();
    *info.filled.lock() = Some(Group {
        cube_cores: profile.cube_cores,
        vector_cores: profile.vector_cores,
    });
    Ok(())
}

/// Each attribute is a number of 32 bits.
pub fn aclrtGetGroupInfoDetail(
    cx: &Cx<'_>,
    info: Raw,
    group: i32,
    attribute: u32,
    capacity: usize,
) -> Result<(Vec<u8>, usize)> {
    let info = cx.process.group_infos.get(info.0)?;
    check(group)?;
    let Some(filled) = *info.filled.lock() else {
        return refuse(
            ErrorKind::InvalidArgument,
            "the group information is empty: aclrtGetAllGroupInfo fills it",
        );
    };
    let value: u32 = match attribute {
        enums::ACL_GROUP_AICORE_INT | enums::ACL_GROUP_AIC_INT => filled.cube_cores,
        enums::ACL_GROUP_AIV_INT => filled.vector_cores,
        // A CPU has no copy engines and no queues for collective work.
        enums::ACL_GROUP_SDMANUM_INT
        | enums::ACL_GROUP_ASQNUM_INT
        | enums::ACL_GROUP_GROUPID_INT => 0,
        other => {
            return refuse(
                ErrorKind::InvalidArgument,
                crate::not_a_value("aclrtGroupAttr", other),
            );
        }
    };
    let bytes = value.to_ne_bytes().to_vec();
    if capacity < bytes.len() {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "valueLen is {capacity}; the attribute needs {} bytes",
                bytes.len()
            ),
        );
    }
    let length = bytes.len();
    Ok((bytes, length))
}
