//! Decoding of video: packets are consumed at the call, decoded on the channel's stream, and reported one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_dvpp::video::{Codec, Decoder, Failure, FailureKind, Frame, Limits, Order, Outcome};
use jumar_dvpp::vpc::Matrix;
use jumar_dvpp::{Format, Image, Source};
use jumar_types::{Error, ErrorKind, Result};

use super::super::images::{ImageDesc, ImageFields};
use super::super::streams::StreamDesc;
use super::super::task;
use super::decoding_desc::{DecodingFields, of_call};
use super::parameters::check_range;
use super::reports::{FrameCall, Reports};
use super::{argument, find};
use crate::check::frames::{self, SentFrame};
use crate::generated::enums;
use crate::{Cx, Raw};

/// An open decoding channel.
pub(crate) struct Decoding {
    number: u32,
    format: Format,
    matrix: Matrix,
    callback: usize,
    call: FrameCall,
    reports: Arc<Reports>,
    work: Mutex<Work>,
    /// Held while a packet is queued, so that packets are decoded in the order in which they are counted.
    sending: Mutex<()>,
}

/// What the tasks of a channel share.
struct Work {
    decoder: Decoder,
    /// The number of the next packet, as the decoder counts.
    next: u64,
    /// The packets that have no outcome.
    sent: BTreeMap<u64, Sent>,
}

/// A packet on its way.
#[derive(Clone)]
struct Sent {
    input: u64,
    stream: Arc<StreamDesc>,
    output: Option<Output>,
    data: usize,
    /// What the checks know of it, until its callback begins.
    checked: Option<Arc<SentFrame>>,
}

/// Where a frame goes.
#[derive(Clone)]
struct Output {
    handle: u64,
    desc: Arc<ImageDesc>,
    fields: ImageFields,
    format: Format,
}

/// The last channel id.
const LAST_CHANNEL: u32 = 255;

/// The sizes of frames.
pub(in super::super) const LIMITS: Limits = Limits {
    smallest: 128,
    largest: 4096,
};

/// The result codes of frames (`retCode` in the interface's table for video).
mod code {
    pub(super) const OTHER: u32 = 1;
    pub(super) const MEMORY_TOO_SMALL: u32 = 4;
    pub(super) const NOT_CUT: u32 = 0x10003;
    pub(super) const FRAME_FAILED: u32 = 0x10004;
    pub(super) const RESOLUTION: u32 = 0x10006;
    pub(super) const OTHER_CODEC: u32 = 0x10009;
    pub(super) const NO_FRAME: u32 = 0x20000;
}

pub fn aclvdecCreateChannel(cx: &Cx<'_>, desc: Raw, call: FrameCall) -> Result<()> {
    let found = of_call(cx, desc)?;
    let fields = *found.fields.lock();
    check_range("channelId", fields.channel, 0..=LAST_CHANNEL)?;
    if fields.callback == 0 {
        return Err(argument("the callback of the channel is null")
            .fix("Call aclvdecSetChannelDescCallback first."));
    }
    if fields.thread == 0 {
        return Err(argument("the thread of the channel is not set").fix(
            "Call aclvdecSetChannelDescThreadId first, with the pthread id of a thread that calls aclrtProcessReport.",
        ));
    }
    let format = output_format(fields.format, "the output format of the channel")?;
    let device = cx.context()?.device().number();
    let mut open = found.open.lock();
    if open.is_some() {
        return Err(argument("the channel of the description is open already"));
    }
    let mut channels = cx.process.dvpp.decoding.lock();
    if !channels.insert((device, fields.channel)) {
        return Err(Error::new(
            ErrorKind::NoStreamResource,
            format!(
                "decoding channel {} of device {device} is open already",
                fields.channel
            ),
        )
        .fix("Set another channel id, or close the channel with aclvdecDestroyChannel."));
    }
    let opened = Reports::new(cx, fields.thread).and_then(|reports| {
        let matrix =
            Matrix::from_number(fields.matrix).map_err(|error| super::super::refused(&error))?;
        Ok(Arc::new(Decoding {
            number: fields.channel,
            format,
            matrix,
            callback: fields.callback,
            call,
            reports: Arc::new(reports),
            work: Mutex::new(Work {
                decoder: decoder(cx, &fields)?,
                next: 0,
                sent: BTreeMap::new(),
            }),
            sending: Mutex::default(),
        }))
    });
    match opened {
        Ok(channel) => {
            *open = Some(channel);
            Ok(())
        }
        Err(error) => {
            channels.remove(&(device, fields.channel));
            Err(error)
        }
    }
}

fn decoder(cx: &Cx<'_>, fields: &DecodingFields) -> Result<Decoder> {
    let codec = match fields.coding {
        enums::H265_MAIN_LEVEL => Codec::H265,
        // The profile is what the stream says.
        _ => Codec::H264,
    };
    let order = match fields.mode {
        0 => Order::Display,
        _ => Order::Coding,
    };
    let library = super::super::ffmpeg::library(cx, codec)?;
    Ok(Decoder::with(codec, LIMITS, order, library))
}

/// Checks a format that frames can be written in.
fn output_format(number: u32, name: &str) -> Result<Format> {
    match Format::from_number(number) {
        Some(format @ (Format::Nv12 | Format::Nv21 | Format::Rgb | Format::Bgr)) => Ok(format),
        _ => Err(argument(format!(
            "{name} is {number} ({}); video is decoded to PIXEL_FORMAT_YUV_SEMIPLANAR_420, PIXEL_FORMAT_YVU_SEMIPLANAR_420, \
             PIXEL_FORMAT_RGB_888 or PIXEL_FORMAT_BGR_888",
            enums::name_of("acldvppPixelFormat", i64::from(number))
                .unwrap_or("no value of acldvppPixelFormat")
        ))),
    }
}

/// Finds the open channel of a call.
fn channel(cx: &Cx<'_>, desc: Raw) -> Result<Arc<Decoding>> {
    let open = of_call(cx, desc)?.open.lock().clone();
    open.ok_or_else(|| {
        argument("the channel of the description is not open")
            .fix("Call aclvdecCreateChannel first.")
    })
}

pub fn aclvdecDestroyChannel(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    let found = of_call(cx, desc)?;
    let channel = channel(cx, desc)?;
    channel.reports.refuse_inside("aclvdecDestroyChannel")?;
    channel.reports.begin_to_close()?;
    let flushed = match channel.reports.is_gone(cx) {
        true => Ok(()),
        false => channel.flush(cx),
    };
    let returned = channel.reports.wait_for_all(cx);
    let mut open = found.open.lock();
    // Another thread may have closed it meanwhile.
    if !open.as_ref().is_some_and(|now| Arc::ptr_eq(now, &channel)) {
        return Err(argument("the channel of the description is not open"));
    }
    *open = None;
    let mut channels = cx.process.dvpp.decoding.lock();
    channels.remove(&(channel.reports.device(), channel.number));
    drop(channels);
    let ended = channel.reports.end(cx);
    flushed.and(returned).and(ended)
}

/// The configuration is not used: it has nothing that could be set.
pub fn aclvdecSendFrame(
    cx: &Cx<'_>,
    desc: Raw,
    input: Raw,
    output: Raw,
    _config: Raw,
    data: usize,
) -> Result<()> {
    let channel = channel(cx, desc)?;
    let stream = find(&cx.process.dvpp.streams, input, "input")?;
    let fields = *stream.fields.lock();
    if fields.eos != 0 {
        channel.reports.refuse_inside("the end of the stream")?;
        channel.flush(cx)?;
        return channel.reports.wait_for_all(cx);
    }
    if output.is_null() {
        return Err(argument("output is null")
            .fix("Call aclvdecSendSkippedFrame for a packet whose frame is not needed."));
    }
    let packet = channel.packet(fields.data, fields.size)?;
    let output = channel.output(cx, output)?;
    let sent = Sent {
        input: input.0,
        stream,
        output: Some(output),
        data,
        checked: None,
    };
    channel.send(cx, packet, sent)
}

/// The configuration is not used: it has nothing that could be set.
pub fn aclvdecSendSkippedFrame(
    cx: &Cx<'_>,
    desc: Raw,
    input: Raw,
    _config: Raw,
    data: usize,
) -> Result<()> {
    let channel = channel(cx, desc)?;
    let stream = find(&cx.process.dvpp.streams, input, "input")?;
    let fields = *stream.fields.lock();
    if fields.eos != 0 {
        return Err(
            argument("the packet ends the stream; such a packet cannot be skipped")
                .fix("Send the end of the stream with aclvdecSendFrame."),
        );
    }
    let packet = channel.packet(fields.data, fields.size)?;
    let sent = Sent {
        input: input.0,
        stream,
        output: None,
        data,
        checked: None,
    };
    channel.send(cx, packet, sent)
}

impl Decoding {
    /// Copies a packet out of device memory.
    fn packet(&self, address: usize, bytes: u32) -> Result<Vec<u8>> {
        let memory = task::memory(&self.reports.stream, address, bytes as usize, "the packet")?;
        let mut packet = vec![0; bytes as usize];
        memory.read(0, &mut packet);
        Ok(packet)
    }

    /// Reads and checks where a frame goes.
    fn output(&self, cx: &Cx<'_>, output: Raw) -> Result<Output> {
        let (desc, fields) = task::desc(cx, output, "output")?;
        task::memory(
            &self.reports.stream,
            fields.data,
            fields.size as usize,
            "output",
        )?;
        // A new description has the format 0.
        let format = match fields.format {
            0 => self.format,
            format => output_format(format, "the format of output")?,
        };
        let stated = [
            ("width", fields.width),
            ("height", fields.height),
            ("width stride", fields.width_stride),
            ("height stride", fields.height_stride),
        ];
        if stated.iter().any(|(_, value)| *value != 0) {
            if let Some((name, _)) = stated.iter().find(|(_, value)| *value == 0) {
                return Err(argument(format!(
                    "the {name} of output is 0, and other sizes are set; set all four, or none for the size of the stream"
                )));
            }
            check_range("the width of output", fields.width, 10..=4096)?;
            check_range("the height of output", fields.height, 6..=4096)?;
            let row = format.row_bytes(fields.width as usize);
            if (fields.width_stride as usize) < row || fields.width_stride % 16 != 0 {
                return Err(argument(format!(
                    "the width stride of output is {}; it must be a multiple of 16, and a row has {row} bytes",
                    fields.width_stride
                )));
            }
            if fields.height_stride < fields.height {
                return Err(argument(format!(
                    "the height stride of output is {}, and its height {}",
                    fields.height_stride, fields.height
                )));
            }
        }
        Ok(Output {
            handle: output.0,
            desc,
            fields,
            format,
        })
    }

    fn send(self: &Arc<Decoding>, cx: &Cx<'_>, packet: Vec<u8>, mut sent: Sent) -> Result<()> {
        self.reports.wait_for_space(cx)?;
        let output = sent.output.as_ref();
        let output = output.map(|output| (output.handle, output.fields.data));
        sent.checked = frames::sent(sent.input, output).map(Arc::new);
        let _sending = self.sending.lock();
        let channel = self.clone();
        // A task runs once: it takes what it needs.
        let parts = Mutex::new(Some((packet, sent)));
        self.reports.queue(cx, "video decoding", 1, move |reports| {
            if let Some((packet, sent)) = parts.lock().take() {
                channel.decode(reports, &packet, sent);
            }
        })
    }

    /// Queues the end of the stream.
    fn flush(self: &Arc<Decoding>, cx: &Cx<'_>) -> Result<()> {
        let _sending = self.sending.lock();
        let channel = self.clone();
        self.reports
            .queue(cx, "end of decoding", 0, move |reports| {
                let mut work = channel.work.lock();
                let outcomes = work.decoder.flush();
                channel.finish(reports, &mut work, outcomes);
            })
    }

    fn decode(self: &Arc<Decoding>, reports: &Reports, packet: &[u8], sent: Sent) {
        let mut work = self.work.lock();
        let number = work.next;
        work.next += 1;
        work.sent.insert(number, sent);
        let outcomes = work.decoder.send(packet);
        self.finish(reports, &mut work, outcomes);
    }

    /// Writes frames, and makes their reports ready.
    fn finish(self: &Arc<Decoding>, reports: &Reports, work: &mut Work, outcomes: Vec<Outcome>) {
        for outcome in outcomes {
            let Some(sent) = work.sent.remove(&outcome.packet) else {
                continue;
            };
            let code = match (outcome.result, &sent.output) {
                (Ok(frame), Some(output)) => self.write(frame, output, sent.checked.as_deref()),
                (Ok(_skipped), None) => 0,
                (Err(failure), _) => code_of(&failure),
            };
            sent.stream.fields.lock().ret_code = code;
            if let Some(output) = &sent.output {
                output.desc.fields.lock().ret_code = code;
            }
            let (call, callback) = (self.call, self.callback);
            // The program may free everything inside its function; nothing of it is touched afterwards.
            reports.add(Box::new(move || {
                drop(sent.checked);
                let output = sent.output.map_or(0, |output| output.handle);
                call(callback, sent.input, output, sent.data);
            }));
        }
    }

    /// Writes a frame and its shape. Returns the result code.
    fn write(&self, frame: Frame, output: &Output, checked: Option<&SentFrame>) -> u32 {
        let fields = &output.fields;
        let image = match fields.width {
            0 => natural(output.format, (frame.width(), frame.height())),
            _ => Image {
                format: output.format,
                width: fields.width as usize,
                height: fields.height as usize,
                width_stride: fields.width_stride as usize,
                height_stride: fields.height_stride as usize,
            },
        };
        let Ok(size) = image.size() else {
            return code::OTHER;
        };
        if size > fields.size as usize {
            let text = format!(
                "a decoded frame of {}x{} with strides {} and {} needs {size} bytes, and the output has {}",
                image.width, image.height, image.width_stride, image.height_stride, fields.size
            );
            crate::log::reported(&text);
            if let Some(checked) = checked {
                checked.output_is_too_small(&text);
            }
            return code::MEMORY_TOO_SMALL;
        }
        // The program may have freed the memory since the packet was sent.
        let memory = task::memory(&self.reports.stream, fields.data, size, "output");
        let stored = match memory {
            Ok(memory) => frame
                .store(&image, self.matrix, &memory, &memory)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.sentence().to_string()),
        };
        if let Err(sentence) = stored {
            crate::log::reported(&format!("a decoded frame was not written: {sentence}"));
            return code::OTHER;
        }
        let mut state = output.desc.fields.lock();
        state.format = image.format.number();
        state.width = image.width as u32;
        state.height = image.height as u32;
        state.width_stride = image.width_stride as u32;
        state.height_stride = image.height_stride as u32;
        state.size = size as u32;
        0
    }
}

/// Returns the shape of a frame whose output states no strides.
pub(in super::super) fn natural(format: Format, (width, height): (usize, usize)) -> Image {
    let columns = width.next_multiple_of(16).max(32);
    let is_yuv = matches!(format, Format::Nv12 | Format::Nv21);
    Image {
        format,
        width,
        height,
        width_stride: format.row_bytes(columns),
        height_stride: match is_yuv {
            true => height.next_multiple_of(2),
            false => height,
        },
    }
}

/// Returns the result code of a failure, which is logged.
fn code_of(failure: &Failure) -> u32 {
    crate::log::reported(&format!("a video packet has no frame: {failure}"));
    match failure.kind {
        FailureKind::NotCut => code::NOT_CUT,
        FailureKind::OtherCodec => code::OTHER_CODEC,
        FailureKind::Resolution => code::RESOLUTION,
        FailureKind::Damaged => code::FRAME_FAILED,
        FailureKind::NoFrame => code::NO_FRAME,
    }
}
