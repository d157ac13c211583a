//! Encoding channels: frames are copied at the call and encoded on the channel's stream; the program fetches the results.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use jumar::engine::sync::{Condvar, Mutex};
use jumar::engine::{Context, Stream, StreamOptions};
use jumar_dvpp::video::{Encoder, Profile};
use jumar_dvpp::{ImageError, Sink, Source, jpeg};
use jumar_types::{Error, ErrorKind, Result};

use super::super::encode::LARGEST;
use super::super::task::{self, Accesses, Memory};
use super::super::{argument, failed, refused};
use super::channel::{deadline, reserve_in_order, wait_until};
use super::ends::Ends;
use super::frames::{Coding, coding, jpeg_image};
use super::parameters::Parameters;
use super::signal::Signal;
use super::table::check_number;
use crate::Cx;
use crate::check::frames::{self, SentFrame};
use crate::error::null;
use crate::generated::{enums, types};

/// The maximum number of frames and streams that a channel contains.
const LONGEST_QUEUE: usize = 64;
/// The quality of JPEG images unless the program sets one.
const USUAL_QUALITY: u32 = 100;
/// The frames that a channel accepts when the program states no number.
const UNLIMITED: u32 = u32::MAX;
/// The value of chroma without colour.
const NO_COLOR: u8 = 0x80;
/// The packs of a stream.
const PACKS: u32 = 1;

/// An open encoding channel.
pub struct Encoding {
    context: Arc<Context>,
    stream: Arc<Stream>,
    pub(super) coding: Coding,
    /// The encoder of the frames that are sent next; none for JPEG.
    pub(super) encoder: Mutex<Option<Arc<Mutex<Encoder>>>>,
    pub(super) parameters: Mutex<Parameters>,
    shared: Arc<EncodingChannel>,
    /// Held while a frame is queued, so that frames are encoded in the order in which they are sent.
    sending: Mutex<()>,
    ends: Ends,
}

#[derive(Default)]
struct EncodingChannel {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The frames that the channel still accepts; 0 is a channel that was not started or was stopped.
    accepted: u32,
    /// The frames that are not encoded.
    pending: usize,
    streams: VecDeque<EncodedFrame>,
    /// What the checks know of frames whose streams were not fetched, by number.
    checked: BTreeMap<u32, SentFrame>,
    /// Memory of the streams that the program has fetched, by number. Memory of the program is `None`.
    lent: BTreeMap<u32, Option<usize>>,
    /// The number of the last frame.
    last: u32,
    /// The number of the next stream.
    next: u32,
    /// The descriptor of the program, which is readable while there are streams.
    signal: Signal,
    parameters: types::hi_venc_jpeg_param,
    scene: u32,
    /// The next frame that is sent is to be a key frame.
    wants_key: bool,
}

impl Default for State {
    fn default() -> State {
        State {
            accepted: 0,
            pending: 0,
            streams: VecDeque::new(),
            checked: BTreeMap::new(),
            lent: BTreeMap::new(),
            last: 0,
            next: 0,
            signal: Signal::default(),
            parameters: types::hi_venc_jpeg_param {
                qfactor: USUAL_QUALITY,
                ..types::hi_venc_jpeg_param::ZERO
            },
            scene: 0,
            wants_key: false,
        }
    }
}

/// An encoded frame.
struct EncodedFrame {
    data: std::result::Result<Data, ImageError>,
    frame: Sent,
    is_key: bool,
}

/// Where the bytes of an encoded frame are.
enum Data {
    Own(Vec<u8>),
    /// Address and length in memory of the program.
    Program(usize, usize),
}

impl Data {
    fn bytes(&self) -> usize {
        match self {
            Data::Own(bytes) => bytes.len(),
            Data::Program(_, bytes) => *bytes,
        }
    }
}

/// What a stream says about the frame that it contains.
#[derive(Clone, Copy)]
struct Sent {
    number: u32,
    address: usize,
    time: u64,
    quality: u32,
    /// The program has requested a key frame.
    wants_key: bool,
}

impl State {
    fn add(&mut self, coded: EncodedFrame) {
        self.pending -= 1;
        self.streams.push_back(coded);
        self.show();
    }

    /// Makes the descriptor readable while there are streams.
    fn show(&mut self) {
        self.signal.show(!self.streams.is_empty());
    }

    fn take(&mut self) -> Option<EncodedFrame> {
        let coded = self.streams.pop_front()?;
        if self.streams.is_empty() {
            self.show();
        }
        Some(coded)
    }

    fn put_back(&mut self, coded: EncodedFrame) {
        self.streams.push_front(coded);
        self.show();
    }
}

/// A frame that is not encoded. One that is discarded with its stream has failed.
struct Pending {
    shared: Arc<EncodingChannel>,
    sent: Sent,
    has_ended: Mutex<bool>,
}

impl Pending {
    fn end(&self, data: std::result::Result<Data, ImageError>, is_key: bool) {
        let mut has_ended = self.has_ended.lock();
        if !std::mem::replace(&mut *has_ended, true) {
            self.shared.state.lock().add(EncodedFrame {
                data,
                frame: self.sent,
                is_key,
            });
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let reason = "the frame was discarded before it was encoded: its context ended or failed";
        self.end(Err(ImageError::new(reason)), false);
    }
}

/// Finds a channel.
///
/// # Errors
/// As [`Table::find`](super::table::Table::find).
pub(super) fn find(cx: &Cx<'_>, number: i32) -> Result<Arc<Encoding>> {
    cx.process.dvpp.himpi.encoders.find(number)
}

/// The size of the buffer of streams is not read: streams have memory of their own.
pub fn hi_mpi_venc_create_chn(
    cx: &Cx<'_>,
    number: i32,
    attributes: Option<&types::hi_venc_chn_attr>,
) -> Result<()> {
    check_number(number)?;
    let attributes = attributes.ok_or_else(|| null("attr"))?;
    let coding = coding(attributes)?;
    let encoder = match coding {
        Coding::Video(settings) => {
            let encoder = Encoder::new(settings).map_err(|error| refused(&error))?;
            Some(Arc::new(Mutex::new(encoder)))
        }
        Coding::Jpeg(..) => None,
    };
    let channels = &cx.process.dvpp.himpi.encoders;
    channels.create(number, || {
        let context = cx.context()?;
        let stream = context.create_stream(StreamOptions::default())?;
        Ok(Encoding {
            context,
            stream,
            coding,
            encoder: Mutex::new(encoder),
            parameters: Mutex::new(Parameters::new(attributes)),
            shared: Arc::default(),
            sending: Mutex::default(),
            ends: Ends::default(),
        })
    })
}

pub fn hi_mpi_venc_destroy_chn(cx: &Cx<'_>, number: i32) -> Result<()> {
    let channel = cx.process.dvpp.himpi.encoders.remove(number)?;
    channel.ends.show_all(cx);
    let (context, stream) = (&channel.context, &channel.stream);
    match context.destroy_stream(stream, true, &cx.caller()) {
        // The context was destroyed, and with it its streams and their memory.
        Err(error) if error.kind() == ErrorKind::InvalidHandle => return Ok(()),
        destroyed => destroyed?,
    }
    let mut state = channel.shared.state.lock();
    state.checked.clear();
    let lent = std::mem::take(&mut state.lent);
    drop(state);
    for address in lent.into_values().flatten() {
        cx.runtime()?.free_device(address, &cx.caller())?;
    }
    Ok(())
}

pub fn hi_mpi_venc_start_chn(
    cx: &Cx<'_>,
    number: i32,
    parameters: Option<&types::hi_venc_start_param>,
) -> Result<()> {
    let channel = find(cx, number)?;
    let frames = match parameters.ok_or_else(|| null("recv_param"))?.recv_pic_num {
        -1 => UNLIMITED,
        frames @ 1.. => frames.unsigned_abs(),
        other => {
            return Err(argument(format!(
                "recv_pic_num is {other}; it must be -1 (no limit) or at least 1"
            )));
        }
    };
    channel.shared.state.lock().accepted = frames;
    Ok(())
}

pub fn hi_mpi_venc_stop_chn(cx: &Cx<'_>, number: i32) -> Result<()> {
    find(cx, number)?.shared.state.lock().accepted = 0;
    Ok(())
}

pub fn hi_mpi_venc_send_frame(
    cx: &Cx<'_>,
    number: i32,
    frame: Option<&types::hi_video_frame_info>,
    milliseconds: i32,
) -> Result<()> {
    send(cx, number, frame, None, milliseconds)
}

pub fn hi_mpi_venc_send_jpege_frame(
    cx: &Cx<'_>,
    number: i32,
    frame: Option<&types::hi_video_frame_info>,
    target: Option<&types::hi_img_stream>,
    milliseconds: i32,
) -> Result<()> {
    let target = target.ok_or_else(|| null("jpege_stream"))?;
    send(cx, number, frame, Some(target), milliseconds)
}

fn send(
    cx: &Cx<'_>,
    number: i32,
    frame: Option<&types::hi_video_frame_info>,
    target: Option<&types::hi_img_stream>,
    milliseconds: i32,
) -> Result<()> {
    let channel = find(cx, number)?;
    let frame = &frame.ok_or_else(|| null("frame"))?.v_frame;
    let until = deadline(milliseconds)?;
    let image = channel.coding.image(frame)?;
    let needed = image.size().map_err(|error| refused(&error))?;
    let stream = &channel.stream;
    let from = task::memory(stream, frame.virt_addr[0], needed, "the frame")?;
    let mut accesses = Accesses::default();
    let target = match target {
        Some(_) if matches!(channel.coding, Coding::Video(_)) => {
            return Err(argument(format!("channel {number} does not encode JPEG"))
                .fix("Call hi_mpi_venc_send_frame, or create the channel with HI_PT_JPEG."));
        }
        Some(target) => {
            let name = "the output of the frame";
            let to = task::memory(stream, target.addr, target.len as usize, name)?;
            accesses.writes.push(to.0);
            Some(to)
        }
        None => None,
    };
    let mut pixels = vec![0; needed];
    from.read(0, &mut pixels);
    if channel.parameters.lock().is_gray() {
        // Both planes of chroma, which follow luma.
        let luma = image.width_stride * image.height_stride;
        pixels[luma..].fill(NO_COLOR);
    }
    // An output of the program is an access of the task, which the checks see as one.
    let memory = vec![(frame.virt_addr[0], "the memory of a frame")];
    let mut checked = frames::sent_to_fetch(memory, "its stream has not been fetched");
    let shared = (&channel.shared.state, &channel.shared.changed);
    let has_space = |state: &State| state.pending + state.streams.len() < LONGEST_QUEUE;
    let has_answer = |state: &State| state.accepted == 0 || has_space(state);
    let reserve = |state: &mut State| {
        if state.accepted == 0 {
            return Some(None);
        }
        if !has_space(state) {
            return None;
        }
        state.pending += 1;
        if state.accepted != UNLIMITED {
            state.accepted -= 1;
        }
        state.last = state.last.wrapping_add(1);
        if let Some(checked) = checked.take() {
            let number = state.last;
            state.checked.insert(number, checked);
        }
        Some(Some(Sent {
            number: state.last,
            address: frame.virt_addr[0],
            time: frame.pts,
            quality: state.parameters.qfactor,
            wants_key: std::mem::take(&mut state.wants_key),
        }))
    };
    // `None`: the time limit has passed.
    let reserved = reserve_in_order(stream, shared, &channel.sending, until, has_answer, reserve);
    let (sending, sent) = match reserved {
        Some((sending, Some(sent))) => (sending, sent),
        Some((_, None)) => {
            return Err(Error::new(
                ErrorKind::Uninitialized,
                format!("encoding channel {number} accepts no frames: it was not started, was stopped, or has got recv_pic_num frames"),
            )
            .fix("Call hi_mpi_venc_start_chn first."));
        }
        None => {
            return Err(Error::new(
                ErrorKind::QueueFull,
                format!("encoding channel {number} contains {LONGEST_QUEUE} frames and streams"),
            )
            .fix("Fetch streams with hi_mpi_venc_get_stream, or pass a longer time limit."));
        }
    };
    let pending = Pending {
        shared: channel.shared.clone(),
        sent,
        has_ended: Mutex::new(false),
    };
    let pixels = Mutex::new(Some(pixels));
    let encoder = channel.encoder.lock().clone();
    let work = move || {
        let Some(pixels) = pixels.lock().take() else {
            return Ok(());
        };
        let coded = match &encoder {
            Some(encoder) => encoder
                .lock()
                .encode(&image, &pixels, sent.wants_key)
                .map(|packet| (packet.data, packet.is_key)),
            None => jpeg::encode(&image, sent.quality, &pixels).map(|data| (data, true)),
        };
        match coded {
            Ok((data, is_key)) => pending.end(deliver(data, target), is_key),
            Err(error) => pending.end(Err(error), false),
        }
        // The failure of a frame is what the program fetches; the context continues.
        Ok(())
    };
    let queue = (&channel.context, &**stream);
    let launch = || task::launch_with(cx, None, stream, &accesses, Box::new(work));
    let queued = channel.ends.queue(cx, queue, sent.number, launch);
    drop(sending);
    if queued.is_err() {
        // The task, which was dropped, has left its failure behind; the call reports it.
        let mut state = channel.shared.state.lock();
        state.streams.pop_back();
        state.checked.remove(&sent.number);
        state.show();
    }
    queued
}

/// Writes an encoded frame to the memory that the program provided for it.
fn deliver(data: Vec<u8>, target: Option<Memory>) -> std::result::Result<Data, ImageError> {
    let Some(target) = target else {
        return Ok(Data::Own(data));
    };
    let capacity = target.0.bytes();
    if data.len() > capacity {
        return Err(ImageError::new(format!(
            "the JPEG image has {} bytes, and the output of the frame {capacity}",
            data.len()
        )));
    }
    target.write(0, &data);
    Ok(Data::Program(target.0.address(), data.len()))
}

pub fn hi_mpi_venc_query_status(cx: &Cx<'_>, number: i32) -> Result<types::hi_venc_chn_status> {
    let channel = find(cx, number)?;
    let state = channel.shared.state.lock();
    let bytes = |coded: &EncodedFrame| coded.data.as_ref().map_or(0, Data::bytes);
    let is_limited = state.accepted != UNLIMITED;
    Ok(types::hi_venc_chn_status {
        left_pics: state.pending as u32,
        left_enc_pics: state.pending as u32,
        left_stream_bytes: state.streams.iter().map(bytes).sum::<usize>() as u32,
        left_stream_frames: state.streams.len() as u32,
        cur_packs: if state.streams.is_empty() { 0 } else { PACKS },
        left_recv_pics: if is_limited { state.accepted } else { 0 },
        is_jpeg_snap_end: u32::from(state.accepted == 0 && state.pending == 0),
        ..types::hi_venc_chn_status::ZERO
    })
}

/// Returns the stream and the one pack that it has.
///
/// # Errors
/// `QueueEmpty`: no stream after the time limit; `CpuKernelFailed`: the frame was not encoded, and has no stream.
pub fn hi_mpi_venc_get_stream(
    cx: &Cx<'_>,
    number: i32,
    stream: types::hi_venc_stream,
    milliseconds: i32,
) -> Result<(types::hi_venc_stream, types::hi_venc_pack)> {
    let channel = find(cx, number)?;
    let until = deadline(milliseconds)?;
    if stream.pack_cnt < PACKS {
        return Err(argument("pack_cnt of the stream is 0").fix(
            "Provide an array of at least cur_packs packs, which hi_mpi_venc_query_status returns.",
        ));
    }
    let shared = (&channel.shared.state, &channel.shared.changed);
    let found = wait_until(&channel.stream, shared, until, State::take);
    let Some(coded) = found else {
        let nothing = Error::new(
            ErrorKind::QueueEmpty,
            format!("encoding channel {number} has no stream after {milliseconds} ms"),
        )
        .fix("Send a frame first, or call again later; -1 waits without limit.");
        return crate::message::polled(cx, milliseconds, Err(nothing));
    };
    // A thread that waits for space may continue.
    channel.shared.changed.notify_all();
    channel.ends.show(cx, coded.frame.number)?;
    let size = match &coded.data {
        Ok(data) => data.bytes(),
        Err(error) => {
            channel
                .shared
                .state
                .lock()
                .checked
                .remove(&coded.frame.number);
            return Err(failed(format!(
                "a frame of encoding channel {number} was not encoded: {error}"
            )));
        }
    };
    let (address, lent) = match &coded.data {
        Ok(Data::Own(bytes)) => match channel.context.allocate(size, size, &cx.caller()) {
            Ok(block) => {
                Memory(block.span).write(0, bytes);
                let address = block.span.address();
                (address, Some(address))
            }
            Err(error) => {
                channel.shared.state.lock().put_back(coded);
                return Err(error);
            }
        },
        Ok(Data::Program(address, _)) => (*address, None),
        Err(_) => (0, None),
    };
    let mut state = channel.shared.state.lock();
    state.checked.remove(&coded.frame.number);
    let seq = state.next;
    state.next = seq.wrapping_add(1);
    state.lent.insert(seq, lent);
    drop(state);
    Ok(described(&channel, stream, &coded, (address, size, seq)))
}

/// Returns the structures that describe a stream.
fn described(
    channel: &Encoding,
    stream: types::hi_venc_stream,
    coded: &EncodedFrame,
    (address, size, seq): (usize, usize, u32),
) -> (types::hi_venc_stream, types::hi_venc_pack) {
    let size = size as u32;
    let mut result = types::hi_venc_stream {
        pack: stream.pack,
        pack_cnt: PACKS,
        seq,
        ..types::hi_venc_stream::ZERO
    };
    // Both members of the union begin with the bytes of the frame.
    result.anonymous.bytes[..4].copy_from_slice(&size.to_ne_bytes());
    let mut pack = types::hi_venc_pack {
        addr: address,
        len: size,
        pts: coded.frame.time,
        is_frame_end: enums::HI_TRUE,
        ..types::hi_venc_pack::ZERO
    };
    pack.anonymous.set_input_addr(coded.frame.address as u64);
    let kind = match (channel.coding, coded.is_key) {
        (Coding::Jpeg(..), _) => {
            result.anonymous.bytes[8..12].copy_from_slice(&coded.frame.quality.to_ne_bytes());
            enums::HI_VENC_JPEG_PACK_PIC
        }
        (Coding::Video(settings), is_key) => match (settings.profile, is_key) {
            (Profile::H265Main, true) => enums::HI_VENC_H265_NALU_IDR_SLICE,
            (Profile::H265Main, false) => enums::HI_VENC_H265_NALU_I_SLICE,
            (_, true) => enums::HI_VENC_H264_NALU_IDR_SLICE,
            (_, false) => enums::HI_VENC_H264_NALU_P_SLICE,
        },
    };
    // The members of the union have one address and size.
    pack.data_type.set_h264_type(kind);
    (result, pack)
}

/// The stream is found by its number, `seq`.
pub fn hi_mpi_venc_release_stream(
    cx: &Cx<'_>,
    number: i32,
    stream: Option<&types::hi_venc_stream>,
) -> Result<()> {
    let channel = find(cx, number)?;
    let seq = stream.ok_or_else(|| null("stream"))?.seq;
    let released = channel.shared.state.lock().lent.remove(&seq);
    match released {
        Some(Some(address)) => cx.runtime()?.free_device(address, &cx.caller()),
        Some(None) => Ok(()),
        None => Err(argument(format!(
            "stream {seq} of encoding channel {number} was not fetched, or was released before"
        ))
        .fix("Pass the structure that hi_mpi_venc_get_stream wrote, once.")),
    }
}

pub fn hi_mpi_venc_close_fd(cx: &Cx<'_>, number: i32) -> Result<()> {
    find(cx, number)?.shared.state.lock().signal = Signal::default();
    Ok(())
}

pub fn hi_mpi_venc_get_fd(cx: &Cx<'_>, number: i32) -> Result<i32> {
    let channel = find(cx, number)?;
    let mut state = channel.shared.state.lock();
    let is_ready = !state.streams.is_empty();
    state
        .signal
        .descriptor(is_ready, &format!("encoding channel {number}"))
}

impl Encoding {
    /// Makes the next frame that is sent a key frame.
    pub(super) fn request_key_frame(&self) {
        self.shared.state.lock().wants_key = true;
    }

    /// Calls a function with the descriptor of the channel, if it is that one.
    pub(super) fn act_on<T>(
        &self,
        descriptor: i32,
        act: &dyn Fn(BorrowedFd<'_>) -> T,
    ) -> Option<T> {
        let state = self.shared.state.lock();
        state.signal.borrow(descriptor).map(act)
    }

    fn check_jpeg(&self, number: i32) -> Result<()> {
        match self.coding {
            Coding::Jpeg(..) => Ok(()),
            Coding::Video(_) => Err(argument(format!(
                "encoding channel {number} encodes H.264, and has no JPEG parameters"
            ))),
        }
    }
}

fn check_quality(parameters: &types::hi_venc_jpeg_param) -> Result<u32> {
    match parameters.qfactor {
        quality @ 1..=100 => Ok(quality),
        other => Err(argument(format!("qfactor is {other}; it must be 1 to 100"))),
    }
}

/// The tables of quantizers are stored; the quality decides.
pub fn hi_mpi_venc_set_jpeg_param(
    cx: &Cx<'_>,
    number: i32,
    parameters: Option<&types::hi_venc_jpeg_param>,
) -> Result<()> {
    let channel = find(cx, number)?;
    channel.check_jpeg(number)?;
    let parameters = parameters.ok_or_else(|| null("jpeg_param"))?;
    check_quality(parameters)?;
    channel.shared.state.lock().parameters = *parameters;
    Ok(())
}

pub fn hi_mpi_venc_get_jpeg_param(cx: &Cx<'_>, number: i32) -> Result<types::hi_venc_jpeg_param> {
    let channel = find(cx, number)?;
    channel.check_jpeg(number)?;
    let parameters = channel.shared.state.lock().parameters;
    Ok(parameters)
}

pub fn hi_mpi_venc_get_jpege_predicted_size(
    _cx: &Cx<'_>,
    frame: Option<&types::hi_video_frame_info>,
    parameters: Option<&types::hi_venc_jpeg_param>,
) -> Result<u32> {
    let frame = frame.ok_or_else(|| null("frame"))?;
    check_quality(parameters.ok_or_else(|| null("jpeg_param"))?)?;
    let image = jpeg_image(&frame.v_frame, LARGEST)?;
    let bound = jpeg::bound(&image).map_err(|error| refused(&error))?;
    u32::try_from(bound).map_err(|_| argument("the image is too large to encode"))
}

pub fn hi_mpi_venc_set_scene_mode(cx: &Cx<'_>, number: i32, scene: u32) -> Result<()> {
    let channel = find(cx, number)?;
    if scene > enums::HI_VENC_SCENE_2 {
        return Err(argument(format!(
            "scene_mode is {scene}; it must be HI_VENC_SCENE_0, HI_VENC_SCENE_1 or HI_VENC_SCENE_2"
        )));
    }
    channel.shared.state.lock().scene = scene;
    Ok(())
}

pub fn hi_mpi_venc_get_scene_mode(cx: &Cx<'_>, number: i32) -> Result<u32> {
    let channel = find(cx, number)?;
    let scene = channel.shared.state.lock().scene;
    Ok(scene)
}
