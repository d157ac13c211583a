//! Decoding channels: packets are copied at the call and decoded on the channel's stream to memory of the program, which fetches and releases
//! the frames.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use jumar::engine::Context;
use jumar_dvpp::Format;
use jumar_dvpp::jpeg::Margins;
use jumar_dvpp::limits::Family;
use jumar_dvpp::video::Codec;
use jumar_dvpp::vpc::Matrix;
use jumar_types::{Error, ErrorKind, Result};

use super::super::images::ImageFields;
use super::super::jpeg::{check_strides, wanted};
use super::super::task;
use super::super::video::LIMITS;
use super::super::{argument, refused};
use super::channel::deadline;
use super::decoded::{
    ALPHA, COMPRESS_MODE, DEC_MODE, DecodingChannel, Kind, OUT_ORDER, Output, PIXEL_FORMAT,
    Request, State, VIDEO_FORMAT, read, set_word, word,
};
use super::table::check_number;
use crate::Cx;
use crate::error::null;
use crate::generated::{enums, types};

/// The largest buffer of streams.
const LARGEST_BUFFER: u32 = 1 << 30;
/// The most frames that a channel's attributes and parameters mention.
const MOST_FRAMES: u32 = 16;
/// The frames that are kept for display unless the program sets another number.
const USUAL_FRAMES: u32 = 2;
/// The alpha of images unless the program sets another one.
const USUAL_ALPHA: u32 = 255;

/// An open decoding channel.
pub struct Decoding {
    context: Arc<Context>,
    attributes: types::hi_vdec_chn_attr,
    kind: Kind,
    shared: Arc<DecodingChannel>,
}

fn unsupported(sentence: impl Into<String>) -> Error {
    Error::new(ErrorKind::FeatureUnsupported, sentence)
}

/// Returns the name of a value, for a sentence.
fn named(enumeration: &str, value: u32) -> String {
    let name = crate::generated::enums::name_of(enumeration, i64::from(value));
    name.map_or_else(|| value.to_string(), |name| format!("{value} ({name})"))
}

/// Finds a channel.
///
/// # Errors
/// As [`Table::find`](super::table::Table::find).
fn find(cx: &Cx<'_>, number: i32) -> Result<Arc<Decoding>> {
    cx.process.dvpp.himpi.decoders.find(number)
}

/// Checks the attributes of a channel. Returns what it decodes.
fn kind(attributes: &types::hi_vdec_chn_attr) -> Result<Kind> {
    let kind = match attributes.r#type {
        enums::HI_PT_H264 => Kind::Video(Codec::H264),
        enums::HI_PT_H265 => Kind::Video(Codec::H265),
        enums::HI_PT_JPEG => Kind::Jpeg,
        other => {
            return Err(argument(format!(
                "the type is {}; HI_PT_H264, HI_PT_H265 and HI_PT_JPEG can be decoded",
                named("hi_payload_type", other)
            )));
        }
    };
    match attributes.mode {
        enums::HI_VDEC_SEND_MODE_FRAME => {}
        mode @ (enums::HI_VDEC_SEND_MODE_STREAM | enums::HI_VDEC_SEND_MODE_COMPAT) => {
            return Err(unsupported(format!(
                "the mode is {}; streams are sent frame by frame, on every product",
                named("hi_vdec_send_mode", mode)
            ))
            .fix("Set the mode to HI_VDEC_SEND_MODE_FRAME, and cut the stream into frames."));
        }
        other => {
            return Err(argument(format!(
                "the mode is {other}; it must be HI_VDEC_SEND_MODE_FRAME"
            )));
        }
    }
    let (width, height) = (attributes.pic_width, attributes.pic_height);
    let mut least = 1;
    if kind != Kind::Jpeg {
        let sizes = LIMITS.smallest as u32..=LIMITS.largest as u32;
        if !sizes.contains(&width) || !sizes.contains(&height) {
            return Err(argument(format!(
                "pic_width and pic_height are {width}x{height}; video has {}x{} to {}x{} pixels",
                LIMITS.smallest, LIMITS.smallest, LIMITS.largest, LIMITS.largest
            )));
        }
        least = width * height / 4 * 3;
        let references = word(&attributes.anonymous.bytes, 0);
        if references > MOST_FRAMES {
            return Err(argument(format!(
                "ref_frame_num is {references}; it must be 0 to {MOST_FRAMES}"
            )));
        }
    }
    if !(least..=LARGEST_BUFFER).contains(&attributes.stream_buf_size) {
        return Err(argument(format!(
            "stream_buf_size is {}; it must be {least} to {LARGEST_BUFFER}",
            attributes.stream_buf_size
        ))
        .fix("Set it to pic_width * pic_height * 3 / 2."));
    }
    Ok(kind)
}

/// Returns the parameters that a channel has until the program sets others.
fn usual_parameters(payload: u32, kind: Kind) -> types::hi_vdec_chn_param {
    let mut parameters = types::hi_vdec_chn_param {
        r#type: payload,
        display_frame_num: USUAL_FRAMES,
        ..types::hi_vdec_chn_param::ZERO
    };
    if kind == Kind::Jpeg {
        let bytes = &mut parameters.anonymous.bytes;
        set_word(
            bytes,
            PIXEL_FORMAT,
            enums::HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420,
        );
        set_word(bytes, ALPHA, USUAL_ALPHA);
    }
    parameters
}

/// The sizes of frame buffers are not read: frames that are kept have memory of their own.
pub fn hi_mpi_vdec_create_chn(
    cx: &Cx<'_>,
    number: i32,
    attributes: Option<&types::hi_vdec_chn_attr>,
) -> Result<()> {
    check_number(number)?;
    let attributes = *attributes.ok_or_else(|| null("attr"))?;
    let kind = kind(&attributes)?;
    let channels = &cx.process.dvpp.himpi.decoders;
    channels.create(number, || {
        let context = cx.context()?;
        let library = match kind {
            Kind::Video(codec) => super::super::ffmpeg::library(cx, codec)?,
            Kind::Jpeg | Kind::Png => None,
        };
        let shared = DecodingChannel::new(
            format!("decoding channel {number}"),
            kind,
            &context,
            State::new(usual_parameters(attributes.r#type, kind)),
            (
                attributes.pic_width as usize,
                attributes.pic_height as usize,
            ),
            library,
        )?;
        Ok(Decoding {
            context,
            attributes,
            kind,
            shared: Arc::new(shared),
        })
    })
}

pub fn hi_mpi_vdec_destroy_chn(cx: &Cx<'_>, number: i32) -> Result<()> {
    let channel = cx.process.dvpp.himpi.decoders.remove(number)?;
    channel.shared.destroy(cx, &channel.context)
}

pub fn hi_mpi_vdec_get_chn_attr(cx: &Cx<'_>, number: i32) -> Result<types::hi_vdec_chn_attr> {
    Ok(find(cx, number)?.attributes)
}

/// What concerns the layout of frames inside the decoder is stored without effect.
pub fn hi_mpi_vdec_set_chn_param(
    cx: &Cx<'_>,
    number: i32,
    parameters: Option<&types::hi_vdec_chn_param>,
) -> Result<()> {
    let channel = find(cx, number)?;
    let parameters = *parameters.ok_or_else(|| null("chn_param"))?;
    if parameters.r#type != channel.attributes.r#type {
        return Err(argument(format!(
            "the type is {}, and the channel was created for {}",
            named("hi_payload_type", parameters.r#type),
            named("hi_payload_type", channel.attributes.r#type)
        ))
        .fix("Change what hi_mpi_vdec_get_chn_param returns."));
    }
    if parameters.display_frame_num > MOST_FRAMES {
        return Err(argument(format!(
            "display_frame_num is {}; it must be 0 to {MOST_FRAMES}",
            parameters.display_frame_num
        )));
    }
    let read = |index| word(&parameters.anonymous.bytes, index);
    let members: &[(&str, &str, usize)] = match channel.kind {
        Kind::Video(_) => &[
            ("dec_mode", "hi_video_dec_mode", DEC_MODE),
            ("out_order", "hi_video_out_order", OUT_ORDER),
            ("compress_mode", "hi_compress_mode", COMPRESS_MODE),
            ("video_format", "hi_video_format", VIDEO_FORMAT),
        ],
        Kind::Jpeg | Kind::Png => &[("pixel_format", "hi_pixel_format", PIXEL_FORMAT)],
    };
    for (member, enumeration, index) in members {
        let value = read(*index);
        if crate::generated::enums::name_of(enumeration, i64::from(value)).is_none() {
            return Err(argument(format!(
                "{member} is {value}, which {enumeration} does not have"
            )));
        }
    }
    if channel.kind != Kind::Jpeg && read(DEC_MODE) != enums::HI_VIDEO_DEC_MODE_IPB {
        return Err(unsupported(format!(
            "dec_mode is {}; all frames of a stream are decoded",
            named("hi_video_dec_mode", read(DEC_MODE))
        ))
        .fix("Set HI_VIDEO_DEC_MODE_IPB, and send only the frames to decode."));
    }
    if channel.kind == Kind::Jpeg && read(ALPHA) > USUAL_ALPHA {
        return Err(argument(format!(
            "alpha is {}; it must be 0 to {USUAL_ALPHA}",
            read(ALPHA)
        )));
    }
    channel.shared.state.lock().parameters = parameters;
    Ok(())
}

pub fn hi_mpi_vdec_get_chn_param(cx: &Cx<'_>, number: i32) -> Result<types::hi_vdec_chn_param> {
    let parameters = find(cx, number)?.shared.state.lock().parameters;
    Ok(parameters)
}

/// Sets the matrix for RGB and BGR frames of packets that are sent from now on.
pub(super) fn set_matrix(cx: &Cx<'_>, number: i32, matrix: Matrix) -> Result<()> {
    find(cx, number)?.shared.state.lock().matrix = matrix;
    Ok(())
}

pub fn hi_mpi_vdec_start_recv_stream(cx: &Cx<'_>, number: i32) -> Result<()> {
    find(cx, number)?.shared.state.lock().is_started = true;
    Ok(())
}

pub fn hi_mpi_vdec_stop_recv_stream(cx: &Cx<'_>, number: i32) -> Result<()> {
    let channel = find(cx, number)?;
    channel.shared.state.lock().is_started = false;
    // A call that waits for space ends.
    channel.shared.changed.notify_all();
    Ok(())
}

pub fn hi_mpi_vdec_reset_chn(cx: &Cx<'_>, number: i32) -> Result<()> {
    let channel = find(cx, number)?;
    if channel.shared.state.lock().is_started {
        return Err(Error::new(
            ErrorKind::Uninitialized,
            format!("decoding channel {number} accepts streams, and cannot be reset"),
        )
        .fix("Call hi_mpi_vdec_stop_recv_stream first."));
    }
    channel.shared.reset();
    Ok(())
}

pub fn hi_mpi_vdec_query_status(cx: &Cx<'_>, number: i32) -> Result<types::hi_vdec_chn_status> {
    let channel = find(cx, number)?;
    let state = channel.shared.state.lock();
    let (width, height, time) = state.latest;
    Ok(types::hi_vdec_chn_status {
        r#type: channel.attributes.r#type,
        left_stream_bytes: state.waiting.values().sum::<usize>() as u32,
        left_stream_frames: state.waiting.len() as u32,
        left_decoded_frames: state.ready.len() as u32,
        is_started: u32::from(state.is_started),
        recv_stream_frames: state.next as u32,
        dec_stream_frames: state.decoded,
        dec_err: state.errors,
        width,
        height,
        latest_frame_pts: time,
    })
}

impl Decoding {
    /// Calls a function with the descriptor of the channel, if it is that one.
    pub(super) fn act_on<T>(
        &self,
        descriptor: i32,
        act: &dyn Fn(BorrowedFd<'_>) -> T,
    ) -> Option<T> {
        let state = self.shared.state.lock();
        state.signal.borrow(descriptor).map(act)
    }

    /// Reads and checks where a frame goes.
    fn output(&self, info: &types::hi_vdec_pic_info) -> Result<Output> {
        let address = info.vir_addr as usize;
        let bytes = info.buffer_size as usize;
        task::memory(&self.shared.stream, address, bytes, "the output")?;
        let mut output = Output {
            address,
            bytes,
            format: None,
            size: (info.width, info.height),
            strides: (info.width_stride, info.height_stride),
            margins: Margins::default(),
        };
        if self.kind != Kind::Jpeg {
            output.format = Some(video_format(info)?);
            check_video(&output)?;
        } else {
            output.margins = margins(info)?;
            output.format = wanted(info.pixel_format, "pixel_format")?;
            // The size of an image is what its header says.
            output.size = (0, 0);
            let fields = ImageFields {
                width_stride: info.width_stride,
                height_stride: info.height_stride,
                ..ImageFields::default()
            };
            check_strides(&fields, "the output")?;
        }
        Ok(output)
    }
}

/// Reads how much of each edge of an image is left out. Only the image's header says whether anything remains.
fn margins(info: &types::hi_vdec_pic_info) -> Result<Margins> {
    let read = |name: &str, offset: i16| {
        usize::try_from(offset).map_err(|_| {
            argument(format!(
                "offset_{name} of the output is {offset}; it must be 0 or the pixels to leave out at this edge"
            ))
        })
    };
    Ok(Margins {
        top: read("top", info.offset_top)?,
        bottom: read("bottom", info.offset_bottom)?,
        left: read("left", info.offset_left)?,
        right: read("right", info.offset_right)?,
    })
}

/// Reads the format of a video frame.
fn video_format(info: &types::hi_vdec_pic_info) -> Result<Format> {
    match Format::from_number(info.pixel_format) {
        Some(format @ (Format::Nv12 | Format::Nv21 | Format::Rgb | Format::Bgr)) => Ok(format),
        _ => Err(argument(format!(
            "pixel_format is {}; video is decoded to HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420, HI_PIXEL_FORMAT_YVU_SEMIPLANAR_420, \
             HI_PIXEL_FORMAT_RGB_888 or HI_PIXEL_FORMAT_BGR_888",
            named("hi_pixel_format", info.pixel_format)
        ))),
    }
}

/// Checks what a program states about a video frame.
fn check_video(output: &Output) -> Result<()> {
    let (width, height) = output.size;
    let is_stated = (width, height) != (0, 0);
    if is_stated && !((10..=4096).contains(&width) && (6..=4096).contains(&height)) {
        return Err(argument(format!(
            "width and height of the output are {width}x{height}; they must be 10x6 to 4096x4096, or both 0 for the size of the stream"
        )));
    }
    let (stride, rows) = output.strides;
    if stride % 16 != 0 {
        return Err(argument(format!(
            "width_stride of the output is {stride}; it must be a multiple of 16"
        )));
    }
    if is_stated {
        let image = output.image((0, 0));
        image
            .check_memory(output.bytes)
            .map_err(|error| refused(&error))?;
    }
    if rows != 0 && rows < height {
        return Err(argument(format!(
            "height_stride of the output is {rows}, and its height {height}"
        )));
    }
    Ok(())
}

/// A packet that ends the stream may contain a frame. Frames that wait for the order of display then become ready.
pub fn hi_mpi_vdec_send_stream(
    cx: &Cx<'_>,
    number: i32,
    stream: Option<&types::hi_vdec_stream>,
    info: Option<&types::hi_vdec_pic_info>,
    milliseconds: i32,
) -> Result<()> {
    let channel = find(cx, number)?;
    let stream = *stream.ok_or_else(|| null("stream"))?;
    let until = deadline(milliseconds)?;
    let shared = &channel.shared;
    if stream.end_of_stream != 0 && (stream.addr == 0 || stream.len == 0) {
        return shared.send_end(cx);
    }
    if stream.len > channel.attributes.stream_buf_size {
        return Err(argument(format!(
            "the packet has {} bytes; stream_buf_size of the channel allows at most {}",
            stream.len, channel.attributes.stream_buf_size
        )));
    }
    let info = info.ok_or_else(|| null("vdec_pic_info"))?;
    // Images are always displayed.
    let is_needed = stream.need_display != 0 || channel.kind == Kind::Jpeg;
    let output = match is_needed {
        true => Some(channel.output(info)?),
        false => None,
    };
    let packet = read(
        &shared.stream,
        stream.addr,
        stream.len as usize,
        "the packet",
    )?;
    let request = Request {
        stream,
        output,
        address: info.vir_addr as usize,
    };
    shared.send(cx, until, packet, &request)
}

/// The supplement has only the type: the decoders do not say which kind of slices a frame has.
pub fn hi_mpi_vdec_get_frame(
    cx: &Cx<'_>,
    number: i32,
    milliseconds: i32,
) -> Result<(
    types::hi_video_frame_info,
    types::hi_vdec_supplement_info,
    types::hi_vdec_stream,
)> {
    let channel = find(cx, number)?;
    let fetched = crate::message::polled(cx, milliseconds, channel.shared.fetch(milliseconds))?;
    let supplement = types::hi_vdec_supplement_info {
        r#type: channel.attributes.r#type,
        ..types::hi_vdec_supplement_info::ZERO
    };
    Ok((fetched.describe(), supplement, fetched.stream()))
}

/// The frame is found by its number, `pool_id`.
pub fn hi_mpi_vdec_release_frame(
    cx: &Cx<'_>,
    number: i32,
    frame: Option<&types::hi_video_frame_info>,
) -> Result<()> {
    let channel = find(cx, number)?;
    let frame = frame.ok_or_else(|| null("frame_info"))?.pool_id;
    if !channel.shared.release(frame) {
        return Err(argument(format!(
            "frame {frame} (pool_id) of decoding channel {number} was not fetched, or was released before"
        ))
        .fix("Pass the structure that hi_mpi_vdec_get_frame wrote, once."));
    }
    Ok(())
}

pub fn hi_mpi_vdec_get_fd(cx: &Cx<'_>, number: i32) -> Result<i32> {
    let channel = find(cx, number)?;
    let mut state = channel.shared.state.lock();
    let is_ready = !state.ready.is_empty();
    state
        .signal
        .descriptor(is_ready, &format!("decoding channel {number}"))
}

/// The bytes of motion vectors for 16 by 16 pixels.
const VECTOR_BYTES: u32 = 64;

/// The sizes suffice; the channel itself needs no memory of the program.
pub fn hi_vdec_get_pic_buf_size(
    cx: &Cx<'_>,
    kind: u32,
    attributes: Option<&types::hi_pic_buf_attr>,
) -> Result<u32> {
    let attributes = attributes.ok_or_else(|| null("buf_attr"))?;
    if kind == enums::HI_PT_JPEG {
        return jpeg_size(cx, attributes);
    }
    check_kind(kind)?;
    let alignment = attributes.align.max(64);
    if !alignment.is_power_of_two() || alignment > 4096 {
        return Err(argument(format!(
            "align is {alignment}; it must be 0 or a power of two up to 4096"
        )));
    }
    let (width, height) = check_size(attributes.width, attributes.height)?;
    let samples = width.next_multiple_of(alignment) * height.next_multiple_of(16) / 2 * 3;
    Ok(match attributes.bit_width {
        enums::HI_DATA_BIT_WIDTH_8 => samples,
        _ => samples * 2,
    })
}

/// Returns the memory of a JPEG image in a format, with the strides that the card has unless the program sets some.
fn jpeg_size(cx: &Cx<'_>, attributes: &types::hi_pic_buf_attr) -> Result<u32> {
    let (width, height) = check_size(attributes.width, attributes.height)?;
    let Some(format) = wanted(attributes.pixel_format, "pixel_format")? else {
        return Err(argument(
            "pixel_format is HI_PIXEL_FORMAT_UNKNOWN, for which no size is known",
        )
        .fix("Call hi_mpi_dvpp_get_image_info, which reads the format of the image."));
    };
    let family = Family::of_chip(&cx.context()?.device().profile().soc_name);
    let (columns, rows) = super::super::jpeg::alignment(family);
    let stride = format.row_bytes((width as usize).next_multiple_of(columns));
    let size = format.size(stride, (height as usize).next_multiple_of(rows));
    size.and_then(|size| u32::try_from(size).ok())
        .ok_or_else(|| {
            argument(format!(
                "the size of an image of {width}x{height} pixels in bytes does not fit into 32 bits"
            ))
        })
}

pub fn hi_vdec_get_tmv_buf_size(_cx: &Cx<'_>, kind: u32, width: u32, height: u32) -> Result<u32> {
    check_kind(kind)?;
    let (width, height) = check_size(width, height)?;
    Ok(width.div_ceil(16) * height.div_ceil(16) * VECTOR_BYTES)
}

fn check_kind(kind: u32) -> Result<()> {
    match kind {
        enums::HI_PT_H264 | enums::HI_PT_H265 => Ok(()),
        other => Err(argument(format!(
            "the type is {}; it must be HI_PT_H264 or HI_PT_H265",
            named("hi_payload_type", other)
        ))),
    }
}

/// Checks a size, for which 8192 pixels suffice.
fn check_size(width: u32, height: u32) -> Result<(u32, u32)> {
    if !(1..=8192).contains(&width) || !(1..=8192).contains(&height) {
        return Err(argument(format!(
            "width and height are {width}x{height}; they must be 1 to 8192"
        )));
    }
    Ok((width, height))
}
