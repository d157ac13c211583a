//! Batch forms of image processing: their arrays are as long as other arguments add up to.

use std::ffi::c_void;

use jumar_acl::dvpp::{BatchArguments, check_source_count, region_count};
use jumar_acl::{Cx, Result};

use crate::acl::calls;
use crate::raw;

/// The arguments of a batch form as the program passes them.
struct Batch {
    channel: *mut c_void,
    sources: *mut c_void,
    counts: *mut u32,
    size: u32,
    targets: *mut c_void,
    crops: *mut *mut c_void,
    stream: *mut c_void,
}

/// Reads an array of handles.
///
/// # Safety
/// `pointer` is null or points to `length` handles.
unsafe fn handles<'a>(
    pointer: *mut *mut c_void,
    length: usize,
    name: &str,
) -> Result<Option<&'a [u64]>> {
    // SAFETY: the caller's contract; a handle is a number of eight bytes.
    unsafe { raw::slice::<u64>(pointer.cast_const().cast(), length, name) }
}

/// Reads the arrays and calls `work` with them; `more` is a further array of handles.
///
/// # Safety
/// The counts are null or `size` numbers, the arrays null or as many handles as the counts add up to.
unsafe fn with_batch(
    batch: &Batch,
    more: (*mut *mut c_void, &str),
    work: impl FnOnce(&BatchArguments<'_>, Option<&[u64]>) -> Result<()>,
) -> Result<()> {
    // Before the array is formed: a larger count cannot be the length of an array.
    let sources = batch.size as usize;
    check_source_count(sources)?;
    // SAFETY: the caller's contract.
    let counts = unsafe { raw::slice::<u32>(batch.counts, sources, "roiNums") }?;
    let length = region_count(counts)?;
    // SAFETY: the caller's contract.
    let crops = unsafe { handles(batch.crops, length, "cropAreas") }?;
    // SAFETY: the caller's contract.
    let more = unsafe { handles(more.0, length, more.1) }?;
    let args = BatchArguments {
        channel: raw::handle(batch.channel),
        sources: raw::handle(batch.sources),
        counts,
        targets: raw::handle(batch.targets),
        crops,
        stream: raw::handle(batch.stream),
    };
    work(&args, more)
}

/// Defines a batch form. In brackets: the further array, and the configuration of resizing.
macro_rules! batch_form {
    ($(#[$doc:meta])* $name:ident [$($array:ident)?] [$($resize:ident)?]) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Called from C: `roiNums` is null or has `size` numbers, and the other arrays are null or have as many handles as these
        /// add up to.
        #[unsafe(no_mangle)]
        #[expect(non_snake_case, reason = "the C interface sets names and signatures")]
        pub unsafe extern "C" fn $name(
            channelDesc: *mut c_void,
            srcBatchPicDescs: *mut c_void,
            roiNums: *mut u32,
            size: u32,
            dstBatchPicDescs: *mut c_void,
            cropAreas: *mut *mut c_void,
            $($array: *mut *mut c_void,)?
            $($resize: *mut c_void,)?
            stream: *mut c_void,
        ) -> i32 {
            raw::status(&calls::$name, |cx: &Cx<'_>| {
                raw::trace(cx, || {
                    [
                        raw::ArgBits::word(channelDesc),
                        raw::ArgBits::word(srcBatchPicDescs),
                        raw::ArgBits::word(roiNums),
                        raw::ArgBits::word(size),
                        raw::ArgBits::word(dstBatchPicDescs),
                        raw::ArgBits::word(cropAreas),
                        $(raw::ArgBits::word($array),)?
                        $(raw::ArgBits::word($resize),)?
                        raw::ArgBits::word(stream),
                    ]
                })?;
                let batch = Batch {
                    channel: channelDesc,
                    sources: srcBatchPicDescs,
                    counts: roiNums,
                    size,
                    targets: dstBatchPicDescs,
                    crops: cropAreas,
                    stream,
                };
                let more: [(*mut *mut c_void, &str); _] = [
                    $(($array, stringify!($array)),)?
                    (std::ptr::null_mut(), ""),
                ];
                let work = |args: &BatchArguments<'_>, _more: Option<&[u64]>| {
                    jumar_acl::dvpp::$name(
                        cx,
                        args,
                        $({ let $array = _more; $array },)?
                        $(raw::handle($resize),)?
                    )
                };
                // SAFETY: the caller's contract.
                unsafe { with_batch(&batch, more[0], work) }
            })
        }
    };
}

batch_form! {
    /// Queues the cropping of regions of several images.
    acldvppVpcBatchCropAsync [] []
}

batch_form! {
    /// Queues the cropping and scaling of regions of several images.
    acldvppVpcBatchCropResizeAsync [] [resizeConfig]
}

batch_form! {
    /// Queues the cropping of regions of several images and their pasting into others.
    acldvppVpcBatchCropAndPasteAsync [pasteAreas] []
}

batch_form! {
    /// Queues the cropping and scaling of regions of several images and their pasting into others.
    acldvppVpcBatchCropResizePasteAsync [pasteAreas] [resizeConfig]
}

batch_form! {
    /// Queues the cropping and scaling of regions of several images and the making of borders around them.
    acldvppVpcBatchCropResizeMakeBorderAsync [borderCfgs] [resizeConfig]
}
