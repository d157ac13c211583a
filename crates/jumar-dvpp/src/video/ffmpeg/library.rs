//! FFmpeg's libavcodec, loaded by name while the program runs: the functions that are called, and the members of its structures that
//! are read. Both are those of the public headers.
//!
//! Frames are taken where the library allocates them, and not where it returns them: it returns them in the order of display, some
//! packets later, while this crate pairs each packet with its own frame.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use crate::error::refuse;
use crate::video::Codec;
use crate::{ImageError, Result};

/// Where members are in a version of the library, in bytes.
struct Layout {
    /// The major version of libavcodec.
    codec: c_uint,
    /// The major version of the libavutil that belongs to it: frames are its.
    util: c_uint,
    /// `AVCodecContext.get_buffer2`
    get_buffer: usize,
    /// `AVCodecParserContext.output_picture_number`
    position: usize,
}

const LAYOUTS: [Layout; 4] = [
    Layout {
        codec: 58,
        util: 56,
        get_buffer: 456,
        position: 324,
    },
    Layout {
        codec: 59,
        util: 57,
        get_buffer: 408,
        position: 308,
    },
    Layout {
        codec: 60,
        util: 58,
        get_buffer: 408,
        position: 308,
    },
    Layout {
        codec: 61,
        util: 59,
        get_buffer: 408,
        position: 308,
    },
];

/// Members that are where they are in each of these versions, in bytes.
mod member {
    /// `AVCodecContext.codec`
    pub(super) const CODEC: usize = 16;
    /// `AVCodecContext.opaque`
    pub(super) const OPAQUE: usize = 48;
    /// `AVCodecParserContext.flags`
    pub(super) const PARSER_FLAGS: usize = 184;
    /// `AVPacket.data`
    pub(super) const PACKET_DATA: usize = 24;
    /// `AVFrame.linesize`, behind the addresses of the planes.
    pub(super) const LINE_SIZES: usize = 64;
    /// `AVFrame.width`
    pub(super) const WIDTH: usize = 104;
    /// `AVFrame.height`
    pub(super) const HEIGHT: usize = 108;
    /// `AVFrame.format`
    pub(super) const FORMAT: usize = 116;
}

/// `PARSER_FLAG_COMPLETE_FRAMES`: each call has what one frame is coded in.
const COMPLETE_FRAMES: c_int = 1;
/// `AV_NOPTS_VALUE`
const NO_TIME: i64 = i64::MIN;
/// `AVERROR(EAGAIN)`: the library needs a further packet.
const NEEDS_MORE: c_int = -11;
/// `AVERROR_EOF`
const ENDED: c_int = -c_int::from_le_bytes(*b"EOF ");
/// Added to the level of each message: none is printed, whatever level the program chose for its own use of the library. The largest
/// level is 56, and a sum above 255 is a color to the library.
const SILENT: i64 = 100;
/// `FF_THREAD_SLICE`: several threads for a frame, and not several frames at a time.
const SLICE_THREADS: i64 = 2;

/// Declares functions of the library, and loads them.
macro_rules! functions {
    ($(#[$comment:meta])* struct $functions:ident; $($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        $(#[$comment])*
        #[derive(Clone, Copy)]
        struct $functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl $functions {
            /// Finds the functions in a loaded library or in those that it needs.
            fn load(library: *mut c_void) -> std::result::Result<$functions, String> {
                Ok($functions {
                    $($name: {
                        let found = symbol(library, concat!(stringify!($name), "\0"))?;
                        // SAFETY: the function has this type in the public headers.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) $(-> $result)?,
                            >(found)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    /// The functions that every version has.
    struct Versions;
    avcodec_version() -> c_uint;
    avutil_version() -> c_uint;
}

functions! {
    /// The functions of the versions in `LAYOUTS`.
    struct Functions;
    avcodec_get_name(c_int) -> *const c_char;
    avcodec_find_decoder_by_name(*const c_char) -> *const c_void;
    avcodec_alloc_context3(*const c_void) -> *mut c_void;
    avcodec_open2(*mut c_void, *const c_void, *mut *mut c_void) -> c_int;
    avcodec_free_context(*mut *mut c_void);
    avcodec_default_get_buffer2(*mut c_void, *mut c_void, c_int) -> c_int;
    avcodec_send_packet(*mut c_void, *const c_void) -> c_int;
    avcodec_receive_frame(*mut c_void, *mut c_void) -> c_int;
    av_parser_init(c_int) -> *mut c_void;
    av_parser_parse2(*mut c_void, *mut c_void, *mut *mut u8, *mut c_int, *const u8, c_int, i64, i64, i64) -> c_int;
    av_parser_close(*mut c_void);
    av_packet_alloc() -> *mut c_void;
    av_new_packet(*mut c_void, c_int) -> c_int;
    av_packet_unref(*mut c_void);
    av_packet_free(*mut *mut c_void);
    av_frame_alloc() -> *mut c_void;
    av_frame_ref(*mut c_void, *const c_void) -> c_int;
    av_frame_move_ref(*mut c_void, *mut c_void);
    av_frame_unref(*mut c_void);
    av_frame_free(*mut *mut c_void);
    av_get_pix_fmt_name(c_int) -> *const c_char;
    av_opt_set(*mut c_void, *const c_char, *const c_char, c_int) -> c_int;
    av_opt_set_int(*mut c_void, *const c_char, i64, c_int) -> c_int;
    av_strerror(c_int, *mut c_char, usize) -> c_int;
}

fn loader_error() -> String {
    // SAFETY: the call takes nothing.
    let text = unsafe { libc::dlerror() };
    text_at(text).unwrap_or_else(|| "the loader reports no cause".to_owned())
}

/// Copies a text of the library.
fn text_at(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: texts that functions return end in a zero, and live until the next call of the same function at least.
    Some(
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    )
}

fn symbol(library: *mut c_void, name: &str) -> std::result::Result<*mut c_void, String> {
    let name = CStr::from_bytes_with_nul(name.as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: the library is loaded and never unloaded; the name ends in a zero.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    match found.is_null() {
        true => Err(loader_error()),
        false => Ok(found),
    }
}

/// The loaded library. It stays loaded until the process ends.
#[derive(Clone)]
pub struct Ffmpeg(Arc<LibraryFunctions>);

struct LibraryFunctions {
    functions: Functions,
    layout: &'static Layout,
    name: String,
    version: String,
}

/// What a codec is in the library.
fn identity(codec: Codec) -> (&'static CStr, c_int) {
    // `AV_CODEC_ID_H264`, `AV_CODEC_ID_HEVC`
    match codec {
        Codec::H264 => (c"h264", 27),
        Codec::H265 => (c"hevc", 173),
    }
}

impl Ffmpeg {
    /// Loads the first of some libraries that is there: names, as the loader finds them, or paths.
    ///
    /// # Errors
    /// None of them can be loaded, or the one that can has another version than those that are supported. The sentence names what
    /// was looked for.
    pub fn load(names: &[&str]) -> Result<Ffmpeg> {
        let mut cause = String::new();
        for &name in names {
            let Ok(text) = CString::new(name) else {
                refuse!("{name:?} is not the name of a library");
            };
            // SAFETY: the name ends in a zero. What the libraries run when they are loaded is what they run in any program.
            let library = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            match library.is_null() {
                true => cause = loader_error(),
                false => return Ffmpeg::examine(name, library),
            }
        }
        Err(ImageError::new(format!(
            "FFmpeg cannot be used: of {} none can be loaded ({cause})",
            names.join(", ")
        )))
    }

    /// Checks the version of a loaded library.
    fn examine(name: &str, library: *mut c_void) -> Result<Ffmpeg> {
        let unusable = |cause: String| ImageError::new(format!("{name} cannot be used: {cause}"));
        let versions = Versions::load(library).map_err(unusable)?;
        // SAFETY: the functions take nothing.
        let (codec, util) = unsafe { ((versions.avcodec_version)(), (versions.avutil_version)()) };
        let version = format!("{}.{}.{}", codec >> 16, codec >> 8 & 0xFF, codec & 0xFF);
        let of_version =
            |layout: &&Layout| (layout.codec, layout.util) == (codec >> 16, util >> 16);
        let Some(layout) = LAYOUTS.iter().find(of_version) else {
            let [first, .., last] = &LAYOUTS;
            return Err(unusable(format!(
                "it is libavcodec {version} with libavutil {}; libavcodec {} to {} are supported",
                util >> 16,
                first.codec,
                last.codec
            )));
        };
        Ok(Ffmpeg(Arc::new(LibraryFunctions {
            functions: Functions::load(library).map_err(unusable)?,
            layout,
            name: name.to_owned(),
            version,
        })))
    }

    /// Returns the name by which the library was loaded.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the version of libavcodec, for example 59.37.100.
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// Checks that the library has a decoder.
    ///
    /// # Errors
    /// It was built without, or cannot open it.
    pub fn check(&self, codec: Codec) -> Result<()> {
        Decoder::new(self, codec, i64::from(c_int::MAX)).map(drop)
    }

    /// Returns the error of a call that failed.
    fn error(&self, what: &str, code: c_int) -> ImageError {
        let mut text: [c_char; 128] = [0; 128];
        // SAFETY: the buffer has the length that is passed, and the function ends what it writes with a zero.
        unsafe { (self.0.functions.av_strerror)(code, text.as_mut_ptr(), text.len()) };
        let cause = text_at(text.as_ptr()).unwrap_or_default();
        ImageError::new(format!("{what} of libavcodec failed: {cause}"))
    }
}

/// The frame that the library allocated for the packet that it decodes.
struct AllocatedFrame {
    functions: Functions,
    /// Holds a reference to the frame's memory.
    frame: *mut c_void,
    has_frame: bool,
    /// The frame of a packet is the first one that is allocated; else the last one.
    is_first: bool,
}

/// Allocates a frame as the library does, and keeps a reference to it.
///
/// # Safety
/// The library calls it with a context that [`Decoder::new`] made, and with a frame.
unsafe extern "C" fn allocate(context: *mut c_void, frame: *mut c_void, flags: c_int) -> c_int {
    // SAFETY: the member was set when the context was created, and its target lives as long as the context. The library has one
    // thread: that of the caller, which does not use the target meanwhile.
    let allocated = unsafe { &mut *read::<*mut AllocatedFrame>(context, member::OPAQUE) };
    let functions = allocated.functions;
    // SAFETY: the arguments are those of the library.
    let done = unsafe { (functions.avcodec_default_get_buffer2)(context, frame, flags) };
    if done >= 0 && !(allocated.has_frame && allocated.is_first) {
        // SAFETY: the frame was allocated by the library.
        unsafe { (functions.av_frame_unref)(allocated.frame) };
        // SAFETY: both are frames, and the first one is empty.
        allocated.has_frame = unsafe { (functions.av_frame_ref)(allocated.frame, frame) } >= 0;
    }
    done
}

/// Reads a member of a structure.
///
/// # Safety
/// The structure has a member of this type there.
unsafe fn read<T: Copy>(structure: *const c_void, offset: usize) -> T {
    // SAFETY: the caller guarantees the member, and the library aligns it.
    unsafe { structure.byte_add(offset).cast::<T>().read() }
}

/// Writes a member of a structure.
///
/// # Safety
/// The structure has a member of this type there, which its documentation lets users set.
unsafe fn write<T: Copy>(structure: *mut c_void, offset: usize, value: T) {
    // SAFETY: the caller guarantees the member, and the library aligns it.
    unsafe { structure.byte_add(offset).cast::<T>().write(value) };
}

/// A decoder of the library, and a parser, which reads the position of each frame in the order of display.
pub(super) struct Decoder {
    library: Ffmpeg,
    context: *mut c_void,
    parser: *mut c_void,
    /// The parser's own context: it notes there what it reads.
    parsed: *mut c_void,
    packet: *mut c_void,
    /// What the library returns, which is not used.
    returned: *mut c_void,
    allocated: *mut AllocatedFrame,
}

// SAFETY: the library stores no thread, and what it allocates belongs to this decoder alone.
unsafe impl Send for Decoder {}

impl Decoder {
    /// Creates a decoder of frames of at most so many pixels.
    ///
    /// # Errors
    /// The library was built without a decoder of the codec, is not laid out as its version states, or has no memory left.
    pub(super) fn new(library: &Ffmpeg, codec: Codec, most_pixels: i64) -> Result<Decoder> {
        let functions = library.0.functions;
        let (name, number) = identity(codec);
        // SAFETY: the name ends in a zero.
        let found = unsafe { (functions.avcodec_find_decoder_by_name)(name.as_ptr()) };
        // SAFETY: the function takes any number.
        let named = text_at(unsafe { (functions.avcodec_get_name)(number) });
        if found.is_null() || named.as_deref() != name.to_str().ok() {
            refuse!("{} has no decoder of {}", library.name(), codec.name());
        }
        // SAFETY: the functions take nothing, or a codec of the library, or the number of one.
        let decoder = unsafe {
            Decoder {
                library: library.clone(),
                context: (functions.avcodec_alloc_context3)(found),
                parser: (functions.av_parser_init)(number),
                parsed: (functions.avcodec_alloc_context3)(found),
                packet: (functions.av_packet_alloc)(),
                returned: (functions.av_frame_alloc)(),
                allocated: Box::into_raw(Box::new(AllocatedFrame {
                    functions,
                    frame: (functions.av_frame_alloc)(),
                    has_frame: false,
                    // Frames that are missing are allocated before the packet's own frame by the decoder of H.264, and behind it
                    // by that of H.265.
                    is_first: codec == Codec::H265,
                })),
            }
        };
        // SAFETY: `allocated` was made from a box, and the library does not run.
        let frame = unsafe { (*decoder.allocated).frame };
        let parts = [
            decoder.context,
            decoder.parser,
            decoder.parsed,
            decoder.packet,
            decoder.returned,
            frame,
        ];
        if parts.iter().any(|part| part.is_null()) {
            refuse!(
                "{} has no memory left, or no parser of {}",
                library.name(),
                codec.name()
            );
        }
        decoder.set_up(found, most_pixels)?;
        Ok(decoder)
    }

    /// Sets what differs from the defaults of the library, and opens the decoder.
    fn set_up(&self, codec: *const c_void, most_pixels: i64) -> Result<()> {
        let functions = self.library.0.functions;
        let layout = self.library.0.layout;
        // SAFETY: these are members of a context of each supported version.
        let (of, get_buffer) = unsafe {
            (
                read::<*const c_void>(self.context, member::CODEC),
                read::<*const c_void>(self.context, layout.get_buffer),
            )
        };
        if of != codec || get_buffer != functions.avcodec_default_get_buffer2 as *const c_void {
            refuse!(
                "{} is not laid out as the public headers of version {} state",
                self.library.name(),
                self.library.version()
            );
        }
        for context in [self.context, self.parsed] {
            self.set(context, c"log_level_offset", SILENT)?;
        }
        // By the thread that calls: its frame is complete when the call ends.
        self.set(self.context, c"threads", 1)?;
        self.set(self.context, c"thread_type", SLICE_THREADS)?;
        self.set(self.context, c"max_pixels", most_pixels)?;
        // Errors are reported, and not concealed.
        self.set(self.context, c"ec", 0)?;
        // SAFETY: the context has options, and the texts end in zeros.
        let done = unsafe {
            (functions.av_opt_set)(self.context, c"err_detect".as_ptr(), c"explode".as_ptr(), 0)
        };
        if done < 0 {
            return Err(self.library.error("the option err_detect", done));
        }
        // SAFETY: users may set these members. The function has the type of the second one, and `allocated` lives longer than the
        // context.
        unsafe {
            write(self.context, member::OPAQUE, self.allocated);
            write(
                self.context,
                layout.get_buffer,
                allocate as unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int,
            );
            write(self.parser, member::PARSER_FLAGS, COMPLETE_FRAMES);
        }
        // SAFETY: the context was allocated for this codec.
        let done = unsafe { (functions.avcodec_open2)(self.context, codec, null_mut()) };
        match done {
            0.. => Ok(()),
            code => Err(self.library.error("avcodec_open2", code)),
        }
    }

    fn set(&self, context: *mut c_void, name: &CStr, value: i64) -> Result<()> {
        // SAFETY: the context has options, and the name ends in a zero.
        let done =
            unsafe { (self.library.0.functions.av_opt_set_int)(context, name.as_ptr(), value, 0) };
        match done {
            0.. => Ok(()),
            code => {
                let what = format!("the option {}", name.to_string_lossy());
                Err(self.library.error(&what, code))
            }
        }
    }

    /// Decodes what at most one frame is coded in. Returns the frame that was begun, and its position in the order of display.
    ///
    /// # Errors
    /// What the library reports. Decoding may continue with the next packet.
    pub(super) fn decode(&mut self, packet: &[u8]) -> Result<Option<(LibraryFrame, c_int)>> {
        let functions = self.library.0.functions;
        let Ok(length) = c_int::try_from(packet.len()) else {
            refuse!("the packet has {} bytes", packet.len());
        };
        // SAFETY: `allocated` was made from a box, and the library does not run.
        unsafe { (*self.allocated).has_frame = false };
        // SAFETY: the packet is empty.
        let done = unsafe { (functions.av_new_packet)(self.packet, length) };
        if done < 0 {
            return Err(self.library.error("av_new_packet", done));
        }
        // SAFETY: the packet has memory for as many bytes, and zeros behind them, as the parser wants.
        let start = unsafe {
            let start = read::<*mut u8>(self.packet, member::PACKET_DATA);
            start.copy_from_nonoverlapping(packet.as_ptr(), packet.len());
            start
        };
        let (mut unit, mut bytes) = (null_mut(), 0);
        // SAFETY: parser and context live, and the data have that length.
        unsafe {
            (functions.av_parser_parse2)(
                self.parser,
                self.parsed,
                &raw mut unit,
                &raw mut bytes,
                start,
                length,
                NO_TIME,
                NO_TIME,
                0,
            );
        }
        // SAFETY: the decoder is open. It keeps what it needs of the packet.
        let sent = unsafe { (functions.avcodec_send_packet)(self.context, self.packet) };
        // SAFETY: the packet was filled above.
        unsafe { (functions.av_packet_unref)(self.packet) };
        let mut code = sent;
        while code >= 0 {
            // SAFETY: the decoder is open, and the function empties the frame first.
            code = unsafe { (functions.avcodec_receive_frame)(self.context, self.returned) };
        }
        if code != NEEDS_MORE && code != ENDED {
            return Err(self.library.error("avcodec_send_packet", code));
        }
        self.take()
    }

    /// Takes the frame that was allocated for the packet.
    fn take(&mut self) -> Result<Option<(LibraryFrame, c_int)>> {
        let functions = self.library.0.functions;
        // SAFETY: `allocated` was made from a box, and the library does not run.
        let allocated = unsafe { &mut *self.allocated };
        if !std::mem::take(&mut allocated.has_frame) {
            return Ok(None);
        }
        // SAFETY: the function takes nothing.
        let frame = unsafe { (functions.av_frame_alloc)() };
        if frame.is_null() {
            refuse!("libavcodec has no memory left");
        }
        // SAFETY: both are frames, and the target is empty.
        unsafe { (functions.av_frame_move_ref)(frame, allocated.frame) };
        let decoded = LibraryFrame::new(self.library.clone(), frame)?;
        // SAFETY: this is a member of each supported version.
        let position = unsafe { read::<c_int>(self.parser, self.library.0.layout.position) };
        Ok(Some((decoded, position)))
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        let functions = self.library.0.functions;
        // SAFETY: each part belongs to this decoder, and is null or valid; the functions accept null. The box is freed behind the
        // context whose functions use it.
        unsafe {
            (functions.avcodec_free_context)(&raw mut self.context);
            (functions.avcodec_free_context)(&raw mut self.parsed);
            if !self.parser.is_null() {
                (functions.av_parser_close)(self.parser);
            }
            (functions.av_packet_free)(&raw mut self.packet);
            (functions.av_frame_free)(&raw mut self.returned);
            let mut allocated = Box::from_raw(self.allocated);
            (functions.av_frame_free)(&raw mut allocated.frame);
        }
    }
}

/// How the samples of a frame lie in memory: planes of luma and chroma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layering {
    /// Whether chroma has half of the columns and of the rows; `None`: luma alone.
    pub(super) chroma: Option<(bool, bool)>,
    /// The bits of a sample. More than eight are two bytes, the lower one first.
    pub(super) depth: u8,
}

impl Layering {
    /// Reads the name of a pixel format, for example yuv420p10le.
    fn of(name: &str) -> Option<Layering> {
        let (chroma, rest) = if let Some(rest) = name.strip_prefix("gray") {
            (None, rest)
        } else {
            let rest = name.strip_prefix("yuvj").or(name.strip_prefix("yuv"))?;
            let (sampling, rest) = rest.split_once('p')?;
            let halves = match sampling {
                "420" => (true, true),
                "422" => (true, false),
                "444" => (false, false),
                _ => return None,
            };
            (Some(halves), rest)
        };
        let depth = match rest {
            "" => 8,
            rest => rest.strip_suffix("le")?.parse().ok()?,
        };
        ((8..=16).contains(&depth)).then_some(Layering { chroma, depth })
    }
}

/// A decoded frame in memory of the library.
pub(super) struct LibraryFrame {
    library: Ffmpeg,
    frame: *mut c_void,
    /// The columns and rows of luma that the memory has.
    pub(super) size: (usize, usize),
    pub(super) layering: Layering,
}

// SAFETY: frames are counted references to memory, which any thread may read and release.
unsafe impl Send for LibraryFrame {}

impl LibraryFrame {
    /// Wraps a frame that [`allocate`] referred to. It is released with the result, also if its format is not known.
    fn new(library: Ffmpeg, frame: *mut c_void) -> Result<LibraryFrame> {
        // SAFETY: these are members of a frame of each supported version.
        let [width, height, format] = unsafe {
            [member::WIDTH, member::HEIGHT, member::FORMAT]
                .map(|offset| read::<c_int>(frame, offset))
        };
        // SAFETY: the function takes any number.
        let name = text_at(unsafe { (library.0.functions.av_get_pix_fmt_name)(format) });
        let known = name.as_deref().and_then(Layering::of);
        let decoded = LibraryFrame {
            library,
            frame,
            size: (width.max(0) as usize, height.max(0) as usize),
            layering: known.unwrap_or(Layering {
                chroma: None,
                depth: 8,
            }),
        };
        match known {
            Some(_) => Ok(decoded),
            None => Err(ImageError::new(format!(
                "frames in the format {} are not supported",
                name.unwrap_or_else(|| format.to_string())
            ))),
        }
    }

    /// Returns the first bytes of a row, `None` if the plane does not have them.
    pub(super) fn row(&self, plane: usize, row: usize, bytes: usize) -> Option<&[u8]> {
        let rows = match (plane, self.layering.chroma) {
            (0, _) => self.size.1,
            (1 | 2, Some((_, true))) => self.size.1.div_ceil(2),
            (1 | 2, Some((_, false))) => self.size.1,
            _ => return None,
        };
        // SAFETY: a frame has eight of each of these members.
        let (start, stride) = unsafe {
            (
                read::<*const u8>(self.frame, plane * size_of::<*const u8>()),
                read::<c_int>(self.frame, member::LINE_SIZES + plane * size_of::<c_int>()),
            )
        };
        let stride = usize::try_from(stride).ok()?;
        if start.is_null() || row >= rows || bytes > stride {
            return None;
        }
        // SAFETY: the library allocated as many rows of `stride` bytes for this format and size. The memory lives as long as the
        // frame, and the decoder no longer writes to a frame that is complete.
        Some(unsafe { std::slice::from_raw_parts(start.add(row * stride), bytes) })
    }
}

impl Drop for LibraryFrame {
    fn drop(&mut self) {
        // SAFETY: the frame was allocated by the library, and this is its last use.
        unsafe { (self.library.0.functions.av_frame_free)(&raw mut self.frame) };
    }
}

#[cfg(test)]
mod tests {
    use super::Layering;

    #[test]
    fn names_of_pixel_formats_state_chroma_and_depth() {
        let of = |name| Layering::of(name).map(|found| (found.chroma, found.depth));
        assert_eq!(of("yuv420p"), Some((Some((true, true)), 8)));
        assert_eq!(of("yuvj422p"), Some((Some((true, false)), 8)));
        assert_eq!(of("yuv444p12le"), Some((Some((false, false)), 12)));
        assert_eq!(of("gray10le"), Some((None, 10)));
        for name in [
            "yuv420p10be",
            "nv12",
            "yuva420p",
            "yuv410p",
            "gbrp",
            "gray32",
            "",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }
}
