//! Facts about the chip of the current device, as text. They are the profile's.

use std::ffi::CString;

use jumar_types::{ErrorKind, Result};

use crate::generated::enums;
use crate::{Cx, refuse};

pub fn aclplatformGetDeviceInfo(cx: &Cx<'_>, fact: u32, capacity: u32) -> Result<CString> {
    let context = cx.context()?;
    let profile = context.device().profile();
    let chip = &profile.chip;
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    let text = match fact {
        enums::ACL_PLATFORM_AICORE_CNT | enums::ACL_PLATFORM_CUBE_CORE_CNT => {
            Some(profile.cube_cores.to_string())
        }
        enums::ACL_PLATFORM_VECTOR_CORE_CNT => Some(profile.vector_cores.to_string()),
        enums::ACL_PLATFORM_MEMORY_SIZE => Some(profile.memory_bytes.to_string()),
        enums::ACL_PLATFORM_SOC_VERSION => Some(profile.soc_name.clone()),
        enums::ACL_PLATFORM_AICORE_UB_SIZE => number(chip.unified_buffer_bytes),
        enums::ACL_PLATFORM_L2_SIZE => number(chip.l2_bytes),
        enums::ACL_PLATFORM_BT_SIZE => number(chip.bias_table_bytes),
        enums::ACL_PLATFORM_L0_A_SIZE => number(chip.l0a_bytes),
        enums::ACL_PLATFORM_L0_B_SIZE => number(chip.l0b_bytes),
        enums::ACL_PLATFORM_L0_C_SIZE => number(chip.l0c_bytes),
        enums::ACL_PLATFORM_L1_SIZE => number(chip.l1_bytes),
        enums::ACL_PLATFORM_AIC_VERSION => chip.core_version.clone(),
        enums::ACL_PLATFORM_NPU_ARCH => chip.architecture.map(|number| number.to_string()),
        enums::ACL_PLATFORM_MEMORY_TYPE => chip.memory_type.clone(),
        // A processor's clock is not the cores' clock.
        enums::ACL_PLATFORM_CUBE_FREQ | enums::ACL_PLATFORM_VEC_FREQ => None,
        other => {
            return refuse(
                ErrorKind::InvalidArgument,
                crate::not_a_value("aclplatformDevInfo", other),
            );
        }
    };
    let Some(text) = text else {
        return refuse(
            ErrorKind::FeatureUnsupported,
            format!(
                "the profile {} does not contain the value {fact}",
                profile.soc_name
            ),
        );
    };
    if text.len() >= capacity as usize {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "maxLen is {capacity}; the text needs {} bytes",
                text.len() + 1
            ),
        );
    }
    Ok(CString::new(text).unwrap_or_default())
}
