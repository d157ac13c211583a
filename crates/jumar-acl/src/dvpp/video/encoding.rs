//! Encoding of video: frames are copied at the call, encoded on the channel's stream, and reported one by one.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_dvpp::video::{CopiedFrame, Encoder, EncoderSettings, Profile};
use jumar_dvpp::{Format, Image, Scratch, Sink};
use jumar_types::{Error, ErrorKind, Result};

use super::super::streams::{self, StreamFields};
use super::super::{refused, task};
use super::encoding_desc::{EncodingFields, of_call};
use super::parameters::check_range;
use super::reports::{FrameCall, Reports};
use super::{argument, find};
use crate::generated::enums;
use crate::process::Process;
use crate::{Cx, Raw};

/// An open encoding channel.
pub(crate) struct Encoding {
    process: &'static Process,
    number: u32,
    image: Image,
    coding: u32,
    callback: usize,
    call: FrameCall,
    reports: Arc<Reports>,
    settings: EncoderSettings,
    encoder: Mutex<Encoder>,
    /// What a frame leaves for a later one.
    scratch: Mutex<Scratch>,
    /// Where the program finds a packet during its callback.
    buffer: Buffer,
    /// Held while a frame is queued, so that frames are encoded in the order in which they are sent.
    sending: Mutex<()>,
}

/// Device memory for packets.
#[derive(Clone, Copy)]
struct Buffer {
    address: usize,
    size: usize,
    /// The channel allocated it, and frees it.
    is_own: bool,
}

/// The bytes of a buffer that the channel allocates.
const OWN_BUFFER: usize = 8 << 20;
/// The least bytes of a buffer that the program states.
const SMALLEST_BUFFER: usize = 5 << 20;
/// The smallest and the largest width and height.
const SIZES: std::ops::RangeInclusive<u32> = 128..=4096;
/// The most pixels of a frame.
const MOST_PIXELS: u64 = 4096 * 2304;
/// The longest interval of key frames.
const LONGEST_INTERVAL: u32 = 65536;
/// Frames a second, and thousands of bits a second, where the program states none.
const USUAL_RATES: (u32, u32) = (30, 2000);
/// The largest of both.
const LARGEST_RATES: (u32, u32) = (240, 1_000_000);
/// The most open channels of a device.
const MOST_CHANNELS: u32 = 256;

/// The result code of a frame that was not encoded.
const FAILED: u32 = 1;
/// The result code of a packet that is larger than the buffer.
const MEMORY_TOO_SMALL: u32 = 4;

/// Checks the settings of a channel.
fn settings(fields: &EncodingFields) -> Result<(EncoderSettings, Image)> {
    let profile = match fields.coding {
        enums::H264_BASELINE_LEVEL => Profile::Baseline,
        enums::H264_MAIN_LEVEL => Profile::Main,
        enums::H264_HIGH_LEVEL => Profile::High,
        _ => Profile::H265Main,
    };
    let format = match Format::from_number(fields.format) {
        Some(format @ (Format::Nv12 | Format::Nv21)) => format,
        _ => {
            return Err(argument(format!(
                "the format of the channel is {}; it must be PIXEL_FORMAT_YUV_SEMIPLANAR_420 or PIXEL_FORMAT_YVU_SEMIPLANAR_420",
                fields.format
            )));
        }
    };
    let settings = encoder_settings(&VideoRequest {
        profile,
        width: fields.width,
        height: fields.height,
        interval: fields.interval,
        source_rate: fields.source_rate,
        bit_rate: fields.bit_rate,
    })?;
    let image = Image {
        format,
        width: settings.width,
        height: settings.height,
        width_stride: settings.width.next_multiple_of(16),
        height_stride: settings.height,
    };
    Ok((settings, image))
}

/// The properties of a stream to encode that both interfaces state.
pub(in super::super) struct VideoRequest {
    pub(in super::super) profile: Profile,
    pub(in super::super) width: u32,
    pub(in super::super) height: u32,
    pub(in super::super) interval: u32,
    /// Frames a second; 0 are 30.
    pub(in super::super) source_rate: u32,
    /// Thousands of bits a second; 0 are 2000.
    pub(in super::super) bit_rate: u32,
}

/// Checks the properties of a stream to encode.
///
/// # Errors
/// `InvalidArgument`: a value is out of range.
pub(in super::super) fn encoder_settings(request: &VideoRequest) -> Result<EncoderSettings> {
    let (width, height) = (request.width, request.height);
    check_range("the width of the channel", width, SIZES)?;
    check_range("the height of the channel", height, SIZES)?;
    if width % 2 != 0 || height % 2 != 0 {
        return Err(argument(format!(
            "the size of the channel is {width}x{height}; width and height must be even"
        )));
    }
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(argument(format!(
            "the size of the channel is {width}x{height}; a frame has at most {MOST_PIXELS} pixels"
        )));
    }
    check_range(
        "the key frame interval",
        request.interval,
        1..=LONGEST_INTERVAL,
    )?;
    check_range("the source rate", request.source_rate, 0..=LARGEST_RATES.0)?;
    check_range("the bit rate", request.bit_rate, 0..=LARGEST_RATES.1)?;
    let or_usual = |value: u32, usual: u32| if value == 0 { usual } else { value };
    Ok(EncoderSettings {
        profile: request.profile,
        width: width as usize,
        height: height as usize,
        key_interval: request.interval,
        frame_rate: or_usual(request.source_rate, USUAL_RATES.0),
        bit_rate: or_usual(request.bit_rate, USUAL_RATES.1) * 1000,
    })
}

pub fn aclvencCreateChannel(cx: &Cx<'_>, desc: Raw, call: FrameCall) -> Result<()> {
    let found = of_call(cx, desc)?;
    let fields = *found.fields.lock();
    if fields.callback == 0 {
        return Err(argument("the callback of the channel is null")
            .fix("Call aclvencSetChannelDescCallback first."));
    }
    if fields.thread == 0 {
        return Err(argument("the thread of the channel is not set").fix(
            "Call aclvencSetChannelDescThreadId first, with the pthread id of a thread that calls aclrtProcessReport.",
        ));
    }
    let (settings, image) = settings(&fields)?;
    let device = cx.context()?.device().number();
    let mut open = found.open.lock();
    if open.is_some() {
        return Err(argument("the channel of the description is open already"));
    }
    let mut channels = cx.process.dvpp.encoding.lock();
    let free = (1..=MOST_CHANNELS).find(|number| !channels.contains(&(device, *number)));
    let Some(number) = free else {
        return Err(Error::new(
            ErrorKind::NoStreamResource,
            format!("device {device} has {MOST_CHANNELS} open encoding channels"),
        )
        .fix("Close channels with aclvencDestroyChannel."));
    };
    let encoder = Encoder::new(settings).map_err(|error| refused(&error))?;
    let reports = Reports::new(cx, fields.thread)?;
    let buffer = match buffer(cx, &reports, &fields) {
        Ok(buffer) => buffer,
        Err(error) => {
            reports.end(cx)?;
            return Err(error);
        }
    };
    channels.insert((device, number));
    *open = Some(Arc::new(Encoding {
        process: cx.process,
        number,
        image,
        coding: fields.coding,
        callback: fields.callback,
        call,
        reports: Arc::new(reports),
        settings,
        encoder: Mutex::new(encoder),
        scratch: Mutex::default(),
        buffer,
        sending: Mutex::default(),
    }));
    Ok(())
}

/// Checks the program's buffer, or allocates one.
fn buffer(cx: &Cx<'_>, reports: &Reports, fields: &EncodingFields) -> Result<Buffer> {
    let size = match fields.buffer_size {
        0 => OWN_BUFFER,
        size => size as usize,
    };
    if size < SMALLEST_BUFFER {
        return Err(argument(format!(
            "the size of the channel's buffer is {size}; it must be at least {SMALLEST_BUFFER}"
        )));
    }
    let runtime = cx.runtime()?;
    let is_own = fields.buffer == 0;
    let span = if is_own {
        reports.context().allocate(size, size, &cx.caller())?.span
    } else {
        task::memory(&reports.stream, fields.buffer, size, "the channel's buffer")?.0
    };
    // No task names a packet as its output, because its size is known when it has been written.
    runtime.gate().may_be_written(span);
    Ok(Buffer {
        address: span.address(),
        size,
        is_own,
    })
}

/// Finds the open channel of a call.
fn channel(cx: &Cx<'_>, desc: Raw) -> Result<Arc<Encoding>> {
    let open = of_call(cx, desc)?.open.lock().clone();
    open.ok_or_else(|| {
        argument("the channel of the description is not open")
            .fix("Call aclvencCreateChannel first.")
    })
}

pub fn aclvencDestroyChannel(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    let found = of_call(cx, desc)?;
    let channel = channel(cx, desc)?;
    channel.reports.refuse_inside("aclvencDestroyChannel")?;
    channel.reports.begin_to_close()?;
    let returned = channel.reports.wait_for_all(cx);
    let mut open = found.open.lock();
    // Another thread may have closed it meanwhile.
    if !open.as_ref().is_some_and(|now| Arc::ptr_eq(now, &channel)) {
        return Err(argument("the channel of the description is not open"));
    }
    *open = None;
    let mut channels = cx.process.dvpp.encoding.lock();
    channels.remove(&(channel.reports.device(), channel.number));
    drop(channels);
    // With its device the memory is gone.
    let is_gone = channel.reports.is_gone(cx);
    let ended = channel.reports.end(cx);
    if channel.buffer.is_own && !is_gone {
        cx.runtime()?
            .free_device(channel.buffer.address, &cx.caller())?;
    }
    returned.and(ended)
}

/// `reserve` is not used.
pub fn aclvencSendFrame(
    cx: &Cx<'_>,
    desc: Raw,
    input: Raw,
    _reserve: usize,
    config: Raw,
    data: usize,
) -> Result<()> {
    let channel = channel(cx, desc)?;
    let config = find(&cx.process.dvpp.frame_configs, config, "config")?;
    let settings = *config.fields.lock();
    if settings.eos != 0 {
        channel.reports.refuse_inside("the end of the stream")?;
        return channel.reports.wait_for_all(cx);
    }
    let frame = channel.frame(cx, input)?;
    channel.reports.wait_for_space(cx)?;
    let _sending = channel.sending.lock();
    let parts = Mutex::new(Some(frame));
    let encoding = channel.clone();
    channel
        .reports
        .queue(cx, "video encoding", 1, move |reports| {
            if let Some(frame) = parts.lock().take() {
                encoding.encode(reports, frame, settings.is_key != 0, (input.0, data));
            }
        })
}

impl Encoding {
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Copies a frame out of device memory. Fields that are not set are those of the channel.
    fn frame(&self, cx: &Cx<'_>, input: Raw) -> Result<CopiedFrame> {
        let (_desc, fields) = task::desc(cx, input, "input")?;
        let wanted = &self.image;
        for (name, value, wanted) in [
            ("width", fields.width, wanted.width),
            ("height", fields.height, wanted.height),
            ("format", fields.format, wanted.format.number() as usize),
        ] {
            if value != 0 && value as usize != wanted {
                return Err(argument(format!(
                    "the {name} of input is {value}, and that of the channel {wanted}"
                )));
            }
        }
        let mut image = *wanted;
        if fields.width_stride != 0 {
            image.width_stride = fields.width_stride as usize;
        }
        if !image.width_stride.is_multiple_of(16) {
            return Err(argument(format!(
                "the width stride of input is {}; it must be a multiple of 16",
                image.width_stride
            )));
        }
        let size = match fields.size {
            0 => 0,
            size => size as usize,
        };
        image
            .check_memory(size)
            .map_err(|error| argument(format!("input: {error}")))?;
        let needed = image.size().map_err(|error| refused(&error))?;
        let memory = task::memory(&self.reports.stream, fields.data, needed, "input")?;
        let loaded = task::with_scratch(&self.scratch, |scratch| {
            self.settings.load(&image, &memory, scratch)
        });
        loaded.map_err(|error| refused(&error))
    }

    fn encode(
        self: &Arc<Encoding>,
        reports: &Reports,
        frame: CopiedFrame,
        is_key: bool,
        (input, data): (u64, usize),
    ) {
        let coded = self.encoder.lock().encode_loaded(&frame, is_key);
        frame.recycle(&mut self.scratch.lock());
        let packet = match coded {
            Ok(packet) => Ok(packet.data),
            Err(error) => {
                crate::log::reported(&format!("a frame was not encoded: {error}"));
                Err(FAILED)
            }
        };
        let encoding = self.clone();
        reports.add(Box::new(move || encoding.report(packet, input, data)));
    }

    /// Calls the program with a packet, which lies in the channel's buffer until the function returns.
    fn report(&self, packet: std::result::Result<Vec<u8>, u32>, input: u64, data: usize) {
        let mut fields = StreamFields {
            data: self.buffer.address,
            format: self.coding,
            ..StreamFields::default()
        };
        match packet.and_then(|packet| self.write(&packet)) {
            Ok(size) => fields.size = size,
            Err(code) => fields.ret_code = code,
        }
        let table = &self.process.dvpp.streams;
        // Without memory for a handle the program gets none, and knows that the packet is lost.
        let output = streams::lend(table, fields).unwrap_or(0);
        (self.call)(self.callback, input, output, data);
        if output != 0 {
            streams::take_back(table, output);
        }
    }

    /// Copies a packet to the channel's buffer. Returns its size.
    fn write(&self, packet: &[u8]) -> std::result::Result<u32, u32> {
        if packet.len() > self.buffer.size {
            crate::log::reported(&format!(
                "an encoded frame has {} bytes, and the channel's buffer {}",
                packet.len(),
                self.buffer.size
            ));
            return Err(MEMORY_TOO_SMALL);
        }
        let stream = &self.reports.stream;
        match task::memory(stream, self.buffer.address, packet.len(), "the buffer") {
            Ok(memory) => {
                memory.write(0, packet);
                Ok(packet.len() as u32)
            }
            Err(error) => {
                crate::log::reported(error.sentence());
                Err(FAILED)
            }
        }
    }
}
