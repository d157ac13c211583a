//! Allocation with attributes: a list behind a pointer in a structure.

use std::ffi::c_void;

use jumar_acl::memory::MallocConfig;
use jumar_acl::{Cx, Result};

use crate::acl::{calls, types};
use crate::raw;

/// Takes the attributes that a configuration points to.
///
/// # Safety
/// `config` is null or the address of a configuration, whose list is null or as long as it says.
unsafe fn config<'a>(config: *const types::aclrtMallocConfig) -> Result<Option<MallocConfig<'a>>> {
    // SAFETY: the caller's contract.
    let Some(config) = (unsafe { raw::input(config, "cfg") })? else {
        return Ok(None);
    };
    let list = raw::address::<types::aclrtMallocAttribute>(config.attrs);
    // SAFETY: the caller's contract.
    let attributes = unsafe { raw::slice(list.cast_const(), config.numAttrs, "attrs") }?;
    Ok(Some(MallocConfig {
        attributes,
        count: config.numAttrs,
    }))
}

/// Allocates, and writes the address.
///
/// # Safety
/// As for [`config`]; `to` is null or the address of a variable.
unsafe fn allocate(
    to: *mut *mut c_void,
    cfg: *const types::aclrtMallocConfig,
    make: impl FnOnce(Option<MallocConfig<'_>>) -> Result<usize>,
) -> Result<()> {
    // SAFETY: the caller's contract.
    let out = unsafe { raw::Out::<usize>::new(to.cast(), "devPtr") }?;
    // SAFETY: the caller's contract.
    let config = unsafe { config(cfg) }?;
    out.set(make(config)?);
    Ok(())
}

macro_rules! on_device {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Called from C: `devPtr` is null or the address of a variable, and `cfg` null or a configuration.
        #[unsafe(no_mangle)]
        #[expect(non_snake_case, reason = "the C interface sets names and signatures")]
        pub unsafe extern "C" fn $name(
            devPtr: *mut *mut c_void,
            size: usize,
            policy: u32,
            cfg: *mut types::aclrtMallocConfig,
        ) -> i32 {
            raw::status(&calls::$name, |cx: &Cx<'_>| {
                raw::trace(cx, || {
                    [
                        raw::ArgBits::word(devPtr),
                        raw::ArgBits::word(size),
                        raw::ArgBits::word(policy),
                        raw::ArgBits::word(cfg),
                    ]
                })?;
                let make = |config: Option<MallocConfig<'_>>| {
                    jumar_acl::memory::$name(cx, size, policy, config)
                };
                // SAFETY: the caller's contract.
                unsafe { allocate(devPtr, cfg, make) }
            })
        }
    };
}

on_device! {
    /// Allocates memory on the current device with attributes.
    aclrtMallocWithCfg
}

on_device! {
    /// Allocates memory that the task scheduler can reach.
    aclrtMallocForTaskScheduler
}

on_device! {
    /// Allocates device memory for images with attributes.
    acldvppMallocWithCfg
}

/// Allocates pinned host memory with attributes.
///
/// # Safety
/// Called from C: `ptr` is null or the address of a variable, and `cfg` null or a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclrtMallocHostWithCfg(
    ptr: *mut *mut c_void,
    size: u64,
    cfg: *mut types::aclrtMallocConfig,
) -> i32 {
    raw::status(&calls::aclrtMallocHostWithCfg, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(ptr),
                raw::ArgBits::word(size),
                raw::ArgBits::word(cfg),
            ]
        })?;
        let make = |config: Option<MallocConfig<'_>>| {
            jumar_acl::memory::aclrtMallocHostWithCfg(cx, size, config)
        };
        // SAFETY: the caller's contract.
        unsafe { allocate(ptr, cfg, make) }
    })
}
