//! libjpeg-turbo, with planes where the program has them: luma is read from device memory, and written to it, without a copy.
#![expect(
    unsafe_code,
    reason = "the safe interface of the library takes slices, which memory that others may change must not become"
)]

use std::ffi::{CStr, c_int, c_uchar};
use std::ptr::{self, NonNull, with_exposed_provenance_mut};

use jumar_types::Span;
use turbojpeg::{Subsamp, raw};

use super::header::{Header, Sampling};
use crate::error::refuse;
use crate::format::halved;
use crate::planar::Samples;
use crate::{ImageError, Result, Scratch, guarded};

/// Rows of samples in memory that others may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    /// From the first sample on.
    pub(super) memory: Span,
    /// The bytes from a row to the next one.
    pub(super) stride: usize,
}

impl Rows {
    /// Returns the rows for the library.
    ///
    /// # Errors
    /// A plane of this size does not lie inside, or the stride exceeds what the library takes.
    fn checked(self, width: usize, height: usize) -> Result<(*mut c_uchar, c_int)> {
        let end = (height - 1)
            .checked_mul(self.stride)
            .and_then(|start| start.checked_add(width));
        match (end, c_int::try_from(self.stride)) {
            (Some(end), Ok(stride)) if end <= self.memory.bytes() && width <= self.stride => {
                Ok((with_exposed_provenance_mut(self.memory.address()), stride))
            }
            _ => refuse!(
                "a plane of {width}x{height} samples with the stride {} does not lie inside {} bytes",
                self.stride,
                self.memory.bytes()
            ),
        }
    }
}

/// A codec of the library.
struct Codec(NonNull<std::ffi::c_void>);

impl Codec {
    fn new(kind: c_int) -> Result<Codec> {
        // SAFETY: the call has no conditions.
        let handle = unsafe { raw::tj3Init(kind) };
        let codec = NonNull::new(handle).map(Codec);
        codec.ok_or_else(|| ImageError::new("libjpeg-turbo has no memory for a codec"))
    }

    fn set(&self, parameter: c_int, value: c_int) -> Result<()> {
        // SAFETY: the handle is valid until `drop`.
        self.check(unsafe { raw::tj3Set(self.0.as_ptr(), parameter, value) })
    }

    fn get(&self, parameter: c_int) -> c_int {
        // SAFETY: as in `set`.
        unsafe { raw::tj3Get(self.0.as_ptr(), parameter) }
    }

    /// Turns what a call has returned into an error with the library's sentence.
    fn check(&self, returned: c_int) -> Result<()> {
        if returned == 0 {
            return Ok(());
        }
        // SAFETY: the handle is valid; the library returns a string of its own, which stays until the next call.
        let text = unsafe { CStr::from_ptr(raw::tj3GetErrorStr(self.0.as_ptr())) };
        Err(ImageError::new(text.to_string_lossy()))
    }
}

impl Drop for Codec {
    fn drop(&mut self) {
        // SAFETY: the handle is valid, and nothing uses it afterwards.
        unsafe { raw::tj3Destroy(self.0.as_ptr()) };
    }
}

/// Returns the sizes of the planes of an image, which extend to complete chroma samples.
pub(super) fn plane_sizes(sampling: Sampling, width: usize, height: usize) -> Vec<(usize, usize)> {
    let halves = sampling.halves();
    let chroma = (halved(width, halves.0), halved(height, halves.1));
    let luma = (
        chroma.0 << usize::from(halves.0),
        chroma.1 << usize::from(halves.1),
    );
    match sampling {
        Sampling::Gray => vec![luma],
        _ => vec![luma, chroma, chroma],
    }
}

/// Decodes to planes of the sizes that [`plane_sizes`] returns. With `luma`, the first one is written there, and has no samples in
/// the result. The others are buffers of `scratch`.
///
/// # Errors
/// The data is damaged, or contradicts the header.
pub(super) fn decompress(
    data: &[u8],
    header: &Header,
    luma: Option<Rows>,
    scratch: &mut Scratch,
) -> Result<Vec<Samples>> {
    let sizes = plane_sizes(header.sampling, header.width, header.height);
    let mut addresses = [ptr::null_mut(); 3];
    let mut strides = [0; 3];
    let mut planes = Vec::new();
    for (index, (width, height)) in sizes.into_iter().enumerate() {
        let mut plane = Samples {
            width,
            height,
            data: Vec::new(),
        };
        (addresses[index], strides[index]) = match luma.filter(|_| index == 0) {
            Some(rows) => rows.checked(width, height)?,
            None => {
                plane.data = scratch.take(width * height);
                (plane.data.as_mut_ptr(), width as c_int)
            }
        };
        planes.push(plane);
    }
    guarded("the JPEG decoder", || {
        let codec = Codec::new(raw::TJINIT_TJINIT_DECOMPRESS as c_int)?;
        let handle = codec.0.as_ptr();
        // SAFETY: the handle is valid, and the data has as many bytes.
        codec.check(unsafe {
            raw::tj3DecompressHeader(handle, data.as_ptr(), data.len() as raw::size_t)
        })?;
        let found = [
            codec.get(raw::TJPARAM_TJPARAM_JPEGWIDTH as c_int),
            codec.get(raw::TJPARAM_TJPARAM_JPEGHEIGHT as c_int),
        ];
        let sampling = codec.get(raw::TJPARAM_TJPARAM_SUBSAMP as c_int);
        let is_of_header = found == [header.width as c_int, header.height as c_int];
        if is_of_header && sampling == raw::TJSAMP_TJSAMP_UNKNOWN as c_int {
            let [(y0, y1), (u0, u1), (v0, v1)] = header.factors;
            refuse!(
                "the JPEG image has the sampling factors {y0}x{y1}, {u0}x{u1} and {v0}x{v1}, which are not supported; {:?} is supported with factors of 1 for chroma",
                header.sampling
            );
        }
        if !is_of_header || sampling != subsampling(header.sampling)? as c_int {
            refuse!("the JPEG data contains a second frame header that contradicts the first");
        }
        // SAFETY: the handle and the data are valid. The library computes the sizes of the planes from the width, the height and the
        // sampling that were just compared, as `plane_sizes` does; each plane has rows of that size.
        codec.check(unsafe {
            raw::tj3DecompressToYUVPlanes8(
                handle,
                data.as_ptr(),
                data.len() as raw::size_t,
                addresses.as_mut_ptr(),
                strides.as_mut_ptr(),
            )
        })
    })?;
    Ok(planes)
}

fn subsampling(sampling: Sampling) -> Result<Subsamp> {
    Ok(match sampling {
        Sampling::Yuv444 => Subsamp::None,
        Sampling::Yuv422 => Subsamp::Sub2x1,
        Sampling::Yuv420 => Subsamp::Sub2x2,
        Sampling::Yuv440 => Subsamp::Sub1x2,
        Sampling::Gray => Subsamp::Gray,
        Sampling::Yuv411 | Sampling::Unknown => {
            refuse!("the chroma sampling {sampling:?} is not supported")
        }
    })
}

/// Returns a size that no encoded image of this size exceeds.
///
/// # Errors
/// The size exceeds what the library encodes.
pub(super) fn bound(sampling: Sampling, width: usize, height: usize) -> Result<usize> {
    turbojpeg::compressed_buf_len(width, height, subsampling(sampling)?)
        .map_err(|error| ImageError::new(format!("no bound for the JPEG image: {error}")))
}

/// An image to encode.
pub(super) struct Encodable {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) sampling: Sampling,
    /// 1 to 100.
    pub(super) quality: u32,
    /// Where luma lies, if it has no samples in `planes`.
    pub(super) luma: Option<Rows>,
    /// Luma, U and V.
    pub(super) planes: Vec<Samples>,
}

impl Encodable {
    /// Encodes to new memory of `capacity` bytes.
    ///
    /// # Errors
    /// The image does not fit, or the library fails.
    pub(super) fn compress(&self, capacity: usize) -> Result<Vec<u8>> {
        let mut data = Vec::with_capacity(capacity);
        let address = data.as_mut_ptr();
        // SAFETY: as many bytes are reserved, and used by nothing else.
        let length = unsafe { self.compress_at(address, capacity) }?;
        // SAFETY: the library has written so many bytes, of those that are reserved.
        unsafe { data.set_len(length) };
        Ok(data)
    }

    /// Encodes to memory. Returns the length.
    ///
    /// # Errors
    /// As [`Encodable::compress`].
    pub(super) fn compress_to(&self, to: Span) -> Result<usize> {
        let address = with_exposed_provenance_mut(to.address());
        // SAFETY: the creator of the span guarantees that it can be written.
        unsafe { self.compress_at(address, to.bytes()) }
    }

    /// # Safety
    /// `capacity` bytes can be written at `address`.
    unsafe fn compress_at(&self, address: *mut u8, capacity: usize) -> Result<usize> {
        let sizes = plane_sizes(self.sampling, self.width, self.height);
        if sizes.len() != self.planes.len() {
            refuse!(
                "the image has {} planes instead of {}",
                self.planes.len(),
                sizes.len()
            );
        }
        let mut addresses = [ptr::null::<c_uchar>(); 3];
        let mut strides = [0; 3];
        for (index, (plane, (width, height))) in self.planes.iter().zip(sizes).enumerate() {
            let (first, stride) = match self.luma.filter(|_| index == 0) {
                Some(rows) => rows.checked(width, height)?,
                None if plane.data.len() == width * height && plane.width == width => {
                    (plane.data.as_ptr().cast_mut(), width as c_int)
                }
                None => refuse!(
                    "a plane has {} samples instead of {width}x{height}",
                    plane.data.len()
                ),
            };
            (addresses[index], strides[index]) = (first.cast_const(), stride);
        }
        guarded("the JPEG encoder", || {
            let codec = Codec::new(raw::TJINIT_TJINIT_COMPRESS as c_int)?;
            let subsampling = subsampling(self.sampling)? as c_int;
            codec.set(raw::TJPARAM_TJPARAM_QUALITY as c_int, self.quality as c_int)?;
            codec.set(raw::TJPARAM_TJPARAM_SUBSAMP as c_int, subsampling)?;
            codec.set(raw::TJPARAM_TJPARAM_NOREALLOC as c_int, 1)?;
            let (mut address, mut length) = (address, capacity as raw::size_t);
            // SAFETY: the handle is valid. The planes have rows of the sizes that the library computes from width, height and
            // sampling, as `plane_sizes` does. The output has the stated capacity, which the library neither exceeds nor
            // extends (NOREALLOC).
            codec.check(unsafe {
                raw::tj3CompressFromYUVPlanes8(
                    codec.0.as_ptr(),
                    addresses.as_ptr(),
                    self.width as c_int,
                    strides.as_ptr(),
                    self.height as c_int,
                    &raw mut address,
                    &raw mut length,
                )
            })?;
            Ok(length as usize)
        })
    }
}
