//! Channels that decode PNG images. They work as decoding channels do, without a start and without releases.

use std::sync::Arc;

use jumar::engine::Context;
use jumar_dvpp::jpeg::Margins;
use jumar_types::Result;

use super::super::failed;
use super::super::images::ImageFields;
use super::super::png::output_format;
use super::super::task;
use super::channel::deadline;
use super::decoded::{DecodingChannel, Kind, Output, Request, State, read};
use super::table::check_number;
use crate::Cx;
use crate::error::null;
use crate::generated::{enums, types};

/// An open channel.
pub struct PngDecoding {
    context: Arc<Context>,
    shared: Arc<DecodingChannel>,
}

fn find(cx: &Cx<'_>, number: i32) -> Result<Arc<PngDecoding>> {
    cx.process.dvpp.himpi.png_decoders.find(number)
}

/// The attributes are reserved.
pub fn hi_mpi_pngd_create_chn(
    cx: &Cx<'_>,
    number: i32,
    attributes: Option<&types::hi_pngd_chn_attr>,
) -> Result<()> {
    check_number(number)?;
    attributes.ok_or_else(|| null("attr"))?;
    let channels = &cx.process.dvpp.himpi.png_decoders;
    channels.create(number, || {
        let context = cx.context()?;
        let mut state = State::new(types::hi_vdec_chn_param::ZERO);
        state.is_started = true;
        let name = format!("PNG channel {number}");
        // The limits of video do not concern images.
        let shared = Arc::new(DecodingChannel::new(
            name,
            Kind::Png,
            &context,
            state,
            (0, 0),
            None,
        )?);
        Ok(PngDecoding { context, shared })
    })
}

pub fn hi_mpi_pngd_destroy_chn(cx: &Cx<'_>, number: i32) -> Result<()> {
    let channel = cx.process.dvpp.himpi.png_decoders.remove(number)?;
    channel.shared.destroy(cx, &channel.context)
}

/// The size of the image is what its header says; strides that are 0 are those of the cards.
pub fn hi_mpi_pngd_send_stream(
    cx: &Cx<'_>,
    number: i32,
    stream: Option<&types::hi_img_stream>,
    info: Option<&types::hi_pic_info>,
    milliseconds: i32,
) -> Result<()> {
    let shared = &find(cx, number)?.shared;
    let stream = stream.ok_or_else(|| null("stream"))?;
    let info = info.ok_or_else(|| null("png_pic_info"))?;
    let until = deadline(milliseconds)?;
    let (address, bytes) = (info.picture_address, info.picture_buffer_size as usize);
    task::memory(&shared.stream, address, bytes, "the output")?;
    let fields = ImageFields {
        format: info.picture_format,
        width_stride: info.picture_width_stride,
        height_stride: info.picture_height_stride,
        ..ImageFields::default()
    };
    let output = Output {
        address,
        bytes,
        format: output_format(&fields, "png_pic_info")?,
        size: (0, 0),
        strides: (fields.width_stride, fields.height_stride),
        margins: Margins::default(),
    };
    let packet = read(
        &shared.stream,
        stream.addr,
        stream.len as usize,
        "the image's data",
    )?;
    let request = Request {
        stream: types::hi_vdec_stream {
            addr: stream.addr,
            len: stream.len,
            pts: stream.pts,
            ..types::hi_vdec_stream::ZERO
        },
        output: Some(output),
        address,
    };
    shared.send(cx, until, packet, &request)
}

/// An image that was not decoded is an error, which is fetched once.
pub fn hi_mpi_pngd_get_image_data(
    cx: &Cx<'_>,
    number: i32,
    milliseconds: i32,
) -> Result<(types::hi_pic_info, types::hi_img_stream)> {
    let shared = &find(cx, number)?.shared;
    let fetched = crate::message::polled(cx, milliseconds, shared.fetch(milliseconds))?;
    // There is no call that releases an image.
    shared.release(fetched.number());
    let sent = fetched.stream();
    let Some(image) = fetched.image() else {
        return Err(failed(format!(
            "the image of {} bytes at {:#x} was not decoded; the log says why",
            sent.len, sent.addr
        )));
    };
    let info = types::hi_pic_info {
        picture_address: fetched.address(),
        picture_buffer_size: image.size().map_or(0, |size| size as u32),
        picture_width: image.width as u32,
        picture_height: image.height as u32,
        picture_width_stride: image.width_stride as u32,
        picture_height_stride: image.height_stride as u32,
        picture_format: image.format.number(),
    };
    let stream = types::hi_img_stream {
        r#type: enums::HI_PT_PNG,
        addr: sent.addr,
        len: sent.len,
        pts: sent.pts,
        ..types::hi_img_stream::ZERO
    };
    Ok((info, stream))
}
