//! Functions of the second interface of images and video whose arrays are as long as other arguments say, and structures of the program
//! that name memory: the packs of an encoded stream, the bytes of an image.

use jumar_acl::himpi::{Batch, Pyramid, check_image_count, check_levels, region_sum};
use jumar_acl::{Cx, Result};

use crate::acl::{calls, types};
use crate::raw;

/// Reads the arrays of a batch form and calls `work` with them.
///
/// # Safety
/// `sources` and `counts` are null or have `number` elements, each source is null or the address of a structure, and `regions`
/// is null or has as many structures as the counts add up to.
unsafe fn with_batch<T: raw::Plain>(
    (sources, number): (*mut *const types::hi_vpc_pic_info, u32),
    (regions, counts): (*mut T, *mut u32),
    work: impl FnOnce(&Batch<'_, T>) -> Result<u32>,
) -> Result<u32> {
    // Before the arrays are formed: a larger count cannot be the length of an array.
    let number = number as usize;
    check_image_count(number)?;
    // SAFETY: the caller's contract; an address is a number of eight bytes.
    let addresses =
        unsafe { raw::slice::<usize>(sources.cast_const().cast(), number, "source_pic") }?;
    let mut images = Vec::with_capacity(number);
    for address in addresses.unwrap_or_default() {
        let image = raw::address::<types::hi_vpc_pic_info>(*address);
        // SAFETY: the caller's contract.
        images.push(unsafe { raw::input(image.cast_const(), "an element of source_pic") }?);
    }
    // SAFETY: the caller's contract.
    let counts = unsafe { raw::slice::<u32>(counts, number, "count") }?;
    let length = region_sum(counts)?;
    // SAFETY: the caller's contract.
    let regions = unsafe { raw::slice::<T>(regions, length, "the array of regions") }?;
    work(&Batch {
        sources: addresses.map(|_| images.as_slice()),
        counts,
        regions,
    })
}

/// Defines a batch form.
macro_rules! batch_form {
    ($(#[$doc:meta])* $name:ident $regions:ident $region:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Called from C: `source_pic` and `count` are null or have `pic_num` elements, each image is null or the address of a
        /// structure, and the regions are null or as many as the elements of `count` add up to.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            chn: i32,
            source_pic: *mut *const types::hi_vpc_pic_info,
            pic_num: u32,
            $regions: *mut types::$region,
            count: *mut u32,
            task_id: *mut u32,
            milli_sec: i32,
        ) -> i32 {
            raw::status(&calls::$name, |cx: &Cx<'_>| {
                raw::trace(cx, || {
                    [
                        raw::ArgBits::word(chn),
                        raw::ArgBits::word(source_pic),
                        raw::ArgBits::word(pic_num),
                        raw::ArgBits::word($regions),
                        raw::ArgBits::word(count),
                        raw::ArgBits::word(task_id),
                        raw::ArgBits::word(milli_sec),
                    ]
                })?;
                // SAFETY: the caller's contract.
                let task_out = unsafe { raw::Out::<u32>::new(task_id, "task_id") }?;
                let work = |images: &Batch<'_, types::$region>| {
                    jumar_acl::himpi::$name(cx, chn, images, milli_sec)
                };
                // SAFETY: the caller's contract.
                let task = unsafe { with_batch((source_pic, pic_num), ($regions, count), work) }?;
                task_out.set(task);
                Ok(())
            })
        }
    };
}

batch_form! {
    /// Queues the cropping and resizing of regions of several images, each pasted into an image of its own.
    hi_mpi_vpc_batch_crop_resize_paste crop_resize_paste_info hi_vpc_crop_resize_paste_region
}
batch_form! {
    /// Queues the cropping and resizing of regions of several images, each surrounded by a border in an image of its own.
    hi_mpi_vpc_batch_crop_resize_make_border crop_resize_make_border_info hi_vpc_crop_resize_border_region
}

/// Queues the levels of a pyramid, each half as wide and high as the one before. Without a filter, a Gaussian one is used.
///
/// # Safety
/// Called from C: `source_pic` is null or the address of a structure, `dest_pic` null or `filter_level` structures,
/// `gaussian_filter` null or five rows of five weights.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hi_mpi_vpc_pyrdown(
    chn: i32,
    source_pic: *const types::hi_vpc_pic_info,
    dest_pic: *mut types::hi_vpc_pic_info,
    filter_level: u32,
    gaussian_filter: *mut [i8; 5],
    divisor: u16,
    make_border_info: types::hi_vpc_make_border_info,
    task_id: *mut u32,
    milli_sec: i32,
) -> i32 {
    raw::status(&calls::hi_mpi_vpc_pyrdown, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(chn),
                raw::ArgBits::word(source_pic),
                raw::ArgBits::word(dest_pic),
                raw::ArgBits::word(filter_level),
                raw::ArgBits::word(gaussian_filter),
                raw::ArgBits::word(divisor),
                0,
                raw::ArgBits::word(task_id),
                raw::ArgBits::word(milli_sec),
            ]
        })?;
        // SAFETY: the caller's contract.
        let task_out = unsafe { raw::Out::<u32>::new(task_id, "task_id") }?;
        check_levels(filter_level)?;
        // SAFETY: the caller's contract.
        let source = unsafe { raw::input(source_pic, "source_pic") }?;
        let levels = filter_level as usize;
        // SAFETY: the caller's contract.
        let targets =
            unsafe { raw::slice::<types::hi_vpc_pic_info>(dest_pic, levels, "dest_pic") }?;
        // SAFETY: the caller's contract: five rows.
        let kernel = unsafe { raw::slice::<[i8; 5]>(gaussian_filter, 5, "gaussian_filter") }?;
        let pyramid = Pyramid {
            source,
            targets,
            kernel: kernel.and_then(|rows| rows.try_into().ok()),
            divisor,
            border: make_border_info,
        };
        task_out.set(jumar_acl::himpi::hi_mpi_vpc_pyrdown(
            cx, chn, &pyramid, milli_sec,
        )?);
        Ok(())
    })
}

/// Returns the oldest stream of an encoding channel in the packs that the program provides.
///
/// # Safety
/// `stream` is null or the address of a structure, whose `pack` is null or the address of `pack_cnt` packs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hi_mpi_venc_get_stream(
    chn: i32,
    stream: *mut types::hi_venc_stream,
    milli_sec: i32,
) -> i32 {
    raw::status(&calls::hi_mpi_venc_get_stream, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(chn),
                raw::ArgBits::word(stream),
                raw::ArgBits::word(milli_sec),
            ]
        })?;
        // SAFETY: the caller's contract.
        let stream = unsafe { raw::InOut::<types::hi_venc_stream>::new(stream, "stream") }?;
        let given = stream.get();
        let packs = raw::address::<types::hi_venc_pack>(given.pack);
        // SAFETY: the caller's contract; a stream without packs is refused before anything is written.
        let pack_out = unsafe { raw::Out::<types::hi_venc_pack>::new(packs, "stream.pack") }?;
        let (result, pack) = jumar_acl::himpi::hi_mpi_venc_get_stream(cx, chn, given, milli_sec)?;
        pack_out.set(pack);
        stream.set(result);
        Ok(())
    })
}

/// Returns what the header of an image in memory states, and the strides and size of the decoded image.
///
/// # Safety
/// `stream` is null or the address of a structure, whose `addr` is null or the address of `len` bytes; `img_info` is null or the address of a
/// structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hi_mpi_dvpp_get_image_info(
    img_type: u32,
    stream: *const types::hi_vdec_stream,
    img_info: *mut types::hi_img_info,
) -> i32 {
    raw::status(&calls::hi_mpi_dvpp_get_image_info, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(img_type),
                raw::ArgBits::word(stream),
                raw::ArgBits::word(img_info),
            ]
        })?;
        // SAFETY: the caller's contract.
        let info = unsafe { raw::Out::<types::hi_img_info>::new(img_info, "img_info") }?;
        // SAFETY: the caller's contract.
        let data = unsafe { packet(stream, "stream") }?;
        info.set(jumar_acl::himpi::hi_mpi_dvpp_get_image_info(
            cx, img_type, data,
        )?);
        Ok(())
    })
}

/// Returns the size, the strides and the size of memory of a JPEG image decoded to a format.
///
/// # Safety
/// As [`hi_mpi_dvpp_get_image_info`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hi_mpi_vdec_get_jpegd_output_info(
    stream: *const types::hi_vdec_stream,
    output_format: u32,
    img_info: *mut types::hi_img_info,
) -> i32 {
    raw::status(&calls::hi_mpi_vdec_get_jpegd_output_info, |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(stream),
                raw::ArgBits::word(output_format),
                raw::ArgBits::word(img_info),
            ]
        })?;
        // SAFETY: the caller's contract.
        let info = unsafe { raw::Out::<types::hi_img_info>::new(img_info, "img_info") }?;
        // SAFETY: the caller's contract.
        let data = unsafe { packet(stream, "stream") }?;
        info.set(jumar_acl::himpi::hi_mpi_vdec_get_jpegd_output_info(
            cx,
            data,
            output_format,
        )?);
        Ok(())
    })
}

/// Returns what the header of a PNG image in memory states, and the strides and size of the decoded image.
///
/// # Safety
/// `png_stream` is null or the address of a structure, whose `addr` is null or the address of `len` bytes; `img_info` is null or the address
/// of a structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hi_mpi_png_get_image_info(
    png_stream: *const types::hi_img_stream,
    img_info: *mut types::hi_img_info,
) -> i32 {
    raw::status(&calls::hi_mpi_png_get_image_info, |cx| {
        raw::trace(cx, || {
            [raw::ArgBits::word(png_stream), raw::ArgBits::word(img_info)]
        })?;
        // SAFETY: the caller's contract.
        let info = unsafe { raw::Out::<types::hi_img_info>::new(img_info, "img_info") }?;
        // SAFETY: the caller's contract.
        let stream = unsafe { raw::input(png_stream, "png_stream") }?;
        let data = match stream {
            Some(stream) => {
                let address = raw::address::<u8>(stream.addr).cast_const();
                // SAFETY: the caller's contract.
                unsafe { raw::slice(address, stream.len as usize, "addr of png_stream") }?
            }
            None => None,
        };
        info.set(jumar_acl::himpi::hi_mpi_png_get_image_info(cx, data)?);
        Ok(())
    })
}

/// Takes the bytes of a packet.
///
/// # Safety
/// `stream` is null or the address of a structure, whose `addr` is null or the address of `len` bytes, which stay as they are.
unsafe fn packet<'a>(stream: *const types::hi_vdec_stream, name: &str) -> Result<Option<&'a [u8]>> {
    // SAFETY: the caller's contract.
    let Some(stream) = unsafe { raw::input(stream, name) }? else {
        return Ok(None);
    };
    let address = raw::address::<u8>(stream.addr).cast_const();
    // SAFETY: the caller's contract.
    unsafe { raw::slice(address, stream.len as usize, "addr of the stream") }
}
