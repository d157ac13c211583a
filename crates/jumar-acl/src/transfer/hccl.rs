//! Collective communication: so far the options of the process.

use jumar::engine::sync::Mutex;
use jumar_types::{ErrorKind, Result};

use crate::generated::{enums, types};
use crate::{Cx, refuse};

/// What `HcclSetConfig` set.
#[derive(Default)]
pub struct Configuration {
    /// 0 allows results that differ from run to run, 1 does not, 2 also fixes the order of reductions.
    deterministic: Mutex<i32>,
}

/// The largest value of `HCCL_DETERMINISTIC`.
const STRICT: i32 = 2;

fn check_option(option: u32) -> Result<()> {
    if option == enums::HCCL_DETERMINISTIC {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!(
            "option {option} is not a value of HcclConfig; HCCL_DETERMINISTIC (0) is the one option"
        ),
    )
}

pub fn HcclSetConfig(cx: &Cx<'_>, option: u32, value: types::HcclConfigValue) -> Result<u32> {
    check_option(option)?;
    let value = value.value();
    if !(0..=STRICT).contains(&value) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("{value} is not one of 0 to {STRICT}, the values of HCCL_DETERMINISTIC"),
        );
    }
    *cx.process.communication.deterministic.lock() = value;
    Ok(enums::HCCL_SUCCESS)
}

pub fn HcclGetConfig(cx: &Cx<'_>, option: u32) -> Result<(u32, types::HcclConfigValue)> {
    check_option(option)?;
    let mut value = types::HcclConfigValue::ZERO;
    value.set_value(*cx.process.communication.deterministic.lock());
    Ok((enums::HCCL_SUCCESS, value))
}
