//! The calls on kernels whose C shims are written by hand.

use std::sync::Arc;

use jumar_acl::enter;
use jumar_acl::error::ExceptionCallback;
use jumar_acl::generated::{calls, types};
use jumar_acl::kernel::{self, HostArguments};

use crate::callbacks;
use crate::generated::calls::Player;
use crate::raw;
use crate::raw_args::{CallAnswer, Cell, RawArgs, Stop, span, status};

/// The calls by name.
pub const CALLS: &[(&str, Player)] = &[
    ("aclrtBinaryLoadFromFile", load_from_file),
    ("aclrtBinaryLoadFromData", load_from_data),
    ("aclrtBinaryGetGlobal", get_global),
    ("aclrtBinarySetExceptionCallback", set_callback),
    ("aclrtFunctionGetParamInfo", parameter),
    ("aclrtLaunchKernelV2", launch_v2),
    ("aclrtLaunchKernelWithConfig", launch_with_config),
    ("aclrtLaunchKernelWithHostArgs", launch_with_host_args),
    ("aclrtLaunchKernelWithArgsArray", launch_with_array),
    ("aclrtProcessHostFunc", process_host_function),
    ("aclrtcGetBinData", compiled_binary),
    ("aclrtcGetCompileLog", compile_log),
    ("aclrtExceptionInfoCallbackRegister", register),
    ("aclrtExceptionInfoCallbackUnregister", unregister),
];

/// An array behind an address in a structure; null is none.
fn behind<T: Cell>(address: usize, length: usize) -> Result<Option<Vec<T>>, Stop> {
    RawArgs(&[address as u64]).slice::<T>(0, length)
}

type Attributes = Option<Option<Vec<types::aclrtLaunchKernelAttr>>>;

fn attributes(w: &RawArgs<'_>, at: usize) -> Result<Attributes, Stop> {
    w.input::<types::aclrtLaunchKernelCfg>(at)
        .map(|cfg| behind(cfg.attrs, cfg.numAttrs))
        .transpose()
}

type Options = Option<Option<Vec<types::aclrtBinaryLoadOption>>>;

fn options(w: &RawArgs<'_>, at: usize) -> Result<Options, Stop> {
    w.input::<types::aclrtBinaryLoadOptions>(at)
        .map(|options| behind(options.options, options.numOpt))
        .transpose()
}

fn load_from_file(w: &RawArgs<'_>) -> CallAnswer {
    let (path, options, out) = (w.text(0), options(w, 1)?, w.out(2)?);
    let given = options.as_ref().map(Option::as_deref);
    status(enter(&calls::aclrtBinaryLoadFromFile, |cx| {
        out.set(&kernel::aclrtBinaryLoadFromFile(
            cx,
            path.as_deref(),
            given,
        )?);
        Ok(())
    }))
}

fn load_from_data(w: &RawArgs<'_>) -> CallAnswer {
    let (data, options, out) = (w.slice::<u8>(0, w.plain(1))?, options(w, 2)?, w.out(3)?);
    let given = options.as_ref().map(Option::as_deref);
    status(enter(&calls::aclrtBinaryLoadFromData, |cx| {
        out.set(&kernel::aclrtBinaryLoadFromData(
            cx,
            data.as_deref(),
            given,
        )?);
        Ok(())
    }))
}

/// Two results of which a Rust program gets both, so that it cannot want neither.
fn two(w: &RawArgs<'_>, first: usize) -> Result<[crate::raw_args::VariableAddress; 2], Stop> {
    if w.plain::<u64>(first) == 0 && w.plain::<u64>(first + 1) == 0 {
        return Err(Stop::NotForRust("results are returned".to_string()));
    }
    Ok([w.optional(first), w.optional(first + 1)])
}

fn get_global(w: &RawArgs<'_>) -> CallAnswer {
    let (name, [address, bytes]) = (w.text(1), two(w, 2)?);
    status(enter(&calls::aclrtBinaryGetGlobal, |cx| {
        let found = kernel::aclrtBinaryGetGlobal(cx, w.plain(0), name.as_deref())?;
        address.set(&found.0);
        bytes.set(&found.1);
        Ok(())
    }))
}

fn parameter(w: &RawArgs<'_>) -> CallAnswer {
    let [offset, bytes] = two(w, 2)?;
    status(enter(&calls::aclrtFunctionGetParamInfo, |cx| {
        let found = kernel::aclrtFunctionGetParamInfo(cx, w.plain(0), w.plain(1))?;
        offset.set(&found.0);
        bytes.set(&found.1);
        Ok(())
    }))
}

fn callback(word: u64) -> Option<ExceptionCallback> {
    (word != 0).then(|| {
        let callback: ExceptionCallback = Arc::new(|_info| callbacks::counted());
        callback
    })
}

fn set_callback(w: &RawArgs<'_>) -> CallAnswer {
    let function = callback(w.plain(1));
    status(enter(&calls::aclrtBinarySetExceptionCallback, |cx| {
        kernel::aclrtBinarySetExceptionCallback(cx, w.plain(0), function)
    }))
}

fn register(w: &RawArgs<'_>) -> CallAnswer {
    let function = callback(w.plain(0));
    status(enter(&calls::aclrtExceptionInfoCallbackRegister, |cx| {
        jumar_acl::error::aclrtExceptionInfoCallbackRegister(cx, w.plain(0), function)
    }))
}

fn unregister(w: &RawArgs<'_>) -> CallAnswer {
    status(enter(&calls::aclrtExceptionInfoCallbackUnregister, |cx| {
        jumar_acl::error::aclrtExceptionInfoCallbackUnregister(cx, w.plain(0))
    }))
}

fn process_host_function(w: &RawArgs<'_>) -> CallAnswer {
    status(enter(&calls::aclrtProcessHostFunc, |cx| {
        jumar_acl::callback::aclrtProcessHostFunc(cx, raw::this_thread(), w.plain(0))
    }))
}

fn launch_v2(w: &RawArgs<'_>) -> CallAnswer {
    let (arguments, attributes) = (w.span(2, w.plain(3))?, attributes(w, 4)?);
    let given = attributes.as_ref().map(Option::as_deref);
    status(enter(&calls::aclrtLaunchKernelV2, |cx| {
        kernel::aclrtLaunchKernelV2(cx, w.plain(0), w.plain(1), arguments, given, w.plain(5))
    }))
}

fn launch_with_config(w: &RawArgs<'_>) -> CallAnswer {
    let attributes = attributes(w, 3)?;
    let given = attributes.as_ref().map(Option::as_deref);
    status(enter(&calls::aclrtLaunchKernelWithConfig, |cx| {
        let (list, reserve) = (w.plain(4), w.plain(5));
        kernel::aclrtLaunchKernelWithConfig(
            cx,
            w.plain(0),
            w.plain(1),
            w.plain(2),
            given,
            list,
            reserve,
        )
    }))
}

fn launch_with_host_args(w: &RawArgs<'_>) -> CallAnswer {
    let attributes = attributes(w, 3)?;
    let given = attributes.as_ref().map(Option::as_deref);
    let arguments = match w.plain::<usize>(4) {
        0 => None,
        address => Some(span(address, w.plain(5))?),
    };
    let count = w.plain(7);
    let place_holders = w.slice::<types::aclrtPlaceHolderInfo>(6, count)?;
    let host = HostArguments {
        arguments,
        place_holders: place_holders.as_deref(),
        count,
    };
    status(enter(&calls::aclrtLaunchKernelWithHostArgs, |cx| {
        kernel::aclrtLaunchKernelWithHostArgs(cx, w.plain(0), w.plain(1), w.plain(2), given, &host)
    }))
}

/// The values are put where the kernel wants them before the launch, as a Rust program would do it.
fn launch_with_array(w: &RawArgs<'_>) -> CallAnswer {
    let attributes = attributes(w, 3)?;
    let given = attributes.as_ref().map(Option::as_deref);
    let array = w.plain::<usize>(4);
    status(enter(&calls::aclrtLaunchKernelWithArgsArray, |cx| {
        let function = w.plain(0);
        let slots = kernel::array_of(cx, function, array == 0)?;
        let bytes = slots.iter().map(|(at, bytes)| at + bytes).max();
        let block = raw::keep(bytes.unwrap_or(0), false);
        for (index, (at, bytes)) in slots.iter().enumerate() {
            let pointer = usize::load(&raw::read(array + 8 * index, 8));
            raw::write(block + at, &raw::read(pointer, *bytes));
        }
        let values = raw::span(block, bytes.unwrap_or(0)).unwrap_or(jumar_acl::Span::EMPTY);
        kernel::aclrtLaunchKernelWithArgsArray(cx, function, w.plain(1), w.plain(2), given, values)
    }))
}

fn compiled_binary(w: &RawArgs<'_>) -> CallAnswer {
    let to = w.plain::<usize>(1);
    status(enter(&calls::aclrtcGetBinData, |cx| {
        raw::write(to, &jumar_acl::rtc::binary(cx, w.plain(0))?);
        Ok(())
    }))
}

fn compile_log(w: &RawArgs<'_>) -> CallAnswer {
    let to = w.plain::<usize>(1);
    status(enter(&calls::aclrtcGetCompileLog, |cx| {
        raw::write(to, &jumar_acl::rtc::log(cx, w.plain(0))?);
        Ok(())
    }))
}
