//! The work of decoding channels: packets on their way, and the frames that the program has not fetched or not released.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jumar::engine::sync::{Condvar, Instant, Mutex};
use jumar::engine::{Context, Stream, StreamOptions};
use jumar_dvpp::jpeg::Margins;
use jumar_dvpp::limits::Family;
use jumar_dvpp::video::{Codec, Decoder, Failure, FailureKind, Ffmpeg, Frame, Order, Outcome};
use jumar_dvpp::vpc::Matrix;
use jumar_dvpp::{Format, Image, Layout, Scratch, Source};
use jumar_types::{Error, ErrorKind, Result};

use super::super::task::{self, Accesses};
use super::super::video::{LIMITS, natural};
use super::super::{jpeg, png};
use super::channel::{deadline, reserve_in_order, wait_until};
use super::signal::Signal;
use crate::Cx;
use crate::check::frames::{self, SentFrame};
use crate::generated::{enums, types};

/// The maximum number of packets and frames that a channel contains.
const LONGEST_QUEUE: usize = 64;

/// What `frame_flag` says about a frame.
mod flag {
    pub(super) const DECODED: u32 = 0;
    pub(super) const FAILED: u32 = 1;
    /// The second field of a frame, or a packet without one.
    pub(super) const NO_FRAME: u32 = 2;
}

/// What a channel decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Video(Codec),
    Jpeg,
    Png,
}

/// What the tasks and the calls of a channel share.
pub(super) struct DecodingChannel {
    /// What sentences call the channel.
    pub(super) name: String,
    kind: Kind,
    pub(super) stream: Arc<Stream>,
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
    /// Locked before `state` where both are.
    work: Mutex<Work>,
    /// Held while a packet is queued, so that packets are decoded in the order in which they are sent.
    sending: Mutex<()>,
    family: Family,
    /// The largest frames of a video channel.
    largest: (usize, usize),
}

/// What only tasks use.
struct Work {
    /// `None`: the channel decodes images.
    coder: Option<Coder>,
    /// What an image leaves for the next one.
    scratch: Scratch,
}

/// The decoder of a video channel.
struct Coder {
    codec: Codec,
    decoder: Decoder,
    library: Option<Ffmpeg>,
    /// The number of the next packet, as the decoder counts.
    next: u64,
    /// The packets that have no outcome.
    sent: BTreeMap<u64, Sent>,
}

/// What a channel contains.
pub(super) struct State {
    pub(super) is_started: bool,
    /// The channel was destroyed: waiting calls end.
    pub(super) is_gone: bool,
    /// Counts resets. Packets that were sent before the latest one are discarded.
    pub(super) round: u64,
    pub(super) parameters: types::hi_vdec_chn_param,
    pub(super) matrix: Matrix,
    /// The number of the next packet.
    pub(super) next: u64,
    /// The bytes of the packets that have no outcome, by number.
    pub(super) waiting: BTreeMap<u64, usize>,
    pub(super) ready: VecDeque<PacketOutcome>,
    /// What the checks know of packets whose frames were not fetched, by number.
    checked: BTreeMap<u64, SentFrame>,
    /// The numbers of frames that were fetched and not released.
    pub(super) lent: BTreeSet<u32>,
    pub(super) signal: Signal,
    /// The packets that were decoded.
    pub(super) decoded: u32,
    pub(super) errors: types::hi_vdec_dec_err,
    /// The size and the time stamp of the latest frame.
    pub(super) latest: (u32, u32, u64),
}

impl State {
    pub(super) fn new(parameters: types::hi_vdec_chn_param) -> State {
        State {
            is_started: false,
            is_gone: false,
            round: 0,
            parameters,
            matrix: Matrix::default(),
            next: 0,
            waiting: BTreeMap::new(),
            ready: VecDeque::new(),
            checked: BTreeMap::new(),
            lent: BTreeSet::new(),
            signal: Signal::default(),
            decoded: 0,
            errors: types::hi_vdec_dec_err::ZERO,
            latest: (0, 0, 0),
        }
    }

    /// Returns how many packets and frames the channel contains.
    fn contained(&self) -> usize {
        self.waiting.len() + self.ready.len() + self.lent.len()
    }

    /// Takes the next frame, which is lent to the program.
    fn take(&mut self) -> Option<PacketOutcome> {
        let fetched = self.ready.pop_front()?;
        self.checked.remove(&fetched.sent.number);
        self.lent.insert(fetched.number());
        if self.ready.is_empty() {
            self.signal.show(false);
        }
        Some(fetched)
    }

    /// Forgets a packet that was not queued.
    fn forget(&mut self, number: u64) {
        self.waiting.remove(&number);
        self.checked.remove(&number);
        self.ready.retain(|fetched| fetched.sent.number != number);
        if self.ready.is_empty() {
            self.signal.show(false);
        }
    }

    /// Discards everything.
    fn clear(&mut self) {
        self.round += 1;
        self.waiting.clear();
        self.ready.clear();
        self.checked.clear();
        self.lent.clear();
        self.signal.show(false);
    }

    fn add(&mut self, fetched: PacketOutcome) {
        self.waiting.remove(&fetched.sent.number);
        if fetched.flag == flag::DECODED {
            self.decoded = self.decoded.wrapping_add(1);
        }
        if let Some(image) = &fetched.image {
            let time = fetched.sent.request.stream.pts;
            self.latest = (image.width as u32, image.height as u32, time);
        }
        self.ready.push_back(fetched);
        self.signal.show(true);
    }

    fn count(&mut self, failure: FailureKind) {
        let errors = &mut self.errors;
        let counter = match failure {
            FailureKind::NotCut => &mut errors.pack_err,
            FailureKind::OtherCodec => &mut errors.stream_unsupport,
            FailureKind::Resolution => &mut errors.set_pic_size_err,
            FailureKind::Damaged => &mut errors.format_err,
            FailureKind::NoFrame => return,
        };
        *counter = counter.wrapping_add(1);
    }
}

/// Where a frame goes, and in which shape; 0 is what the stream says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    pub(super) address: usize,
    pub(super) bytes: usize,
    /// `None` is the format of the image.
    pub(super) format: Option<Format>,
    pub(super) size: (u32, u32),
    pub(super) strides: (u32, u32),
    /// What is left out of an image.
    pub(super) margins: Margins,
}

/// What a program sends.
#[derive(Clone, Copy)]
pub(super) struct Request {
    /// The packet; a PNG image has the members `addr`, `len` and `pts`.
    pub(super) stream: types::hi_vdec_stream,
    /// `None`: the frame is not needed.
    pub(super) output: Option<Output>,
    /// The address that the program stated, needed or not.
    pub(super) address: usize,
}

impl Request {
    /// Records the memory that the packet needs until its frame is fetched, if the program is checked.
    fn checked(&self) -> Option<SentFrame> {
        let mut memory = vec![(self.stream.addr, "the memory of a packet")];
        if let Some(output) = &self.output {
            memory.push((output.address, "the output's memory"));
        }
        frames::sent_to_fetch(memory, "its frame has not been fetched")
    }
}

/// A packet on its way.
#[derive(Clone, Copy)]
struct Sent {
    number: u64,
    round: u64,
    request: Request,
    order: Order,
    matrix: Matrix,
}

/// What became of a packet.
#[derive(Clone, Copy)]
pub(super) struct PacketOutcome {
    sent: Sent,
    flag: u32,
    image: Option<Image>,
}

impl PacketOutcome {
    /// Returns the number by which the frame is released.
    pub(super) fn number(&self) -> u32 {
        self.sent.number as u32
    }

    /// Returns the packet as it was sent.
    pub(super) fn stream(&self) -> types::hi_vdec_stream {
        self.sent.request.stream
    }

    /// Returns the shape of the image that was written.
    pub(super) fn image(&self) -> Option<&Image> {
        self.image.as_ref()
    }

    /// Returns the address that the program stated.
    pub(super) fn address(&self) -> usize {
        self.sent.request.address
    }

    /// Describes the frame. `pool_id` is its number.
    pub(super) fn describe(&self) -> types::hi_video_frame_info {
        let mut frame = types::hi_video_frame {
            field: enums::HI_VIDEO_FIELD_FRAME,
            pts: self.sent.request.stream.pts,
            frame_flag: self.flag,
            ..types::hi_video_frame::ZERO
        };
        frame.virt_addr[0] = self.sent.request.address;
        match &self.image {
            Some(image) => describe(&mut frame, image),
            None => {
                if let Some(output) = self.sent.request.output {
                    (frame.width, frame.height) = output.size;
                    frame.width_stride[0] = output.strides.0;
                    frame.height_stride[0] = output.strides.1;
                    frame.pixel_format = output
                        .format
                        .map_or(enums::HI_PIXEL_FORMAT_UNKNOWN, Format::number);
                }
            }
        }
        types::hi_video_frame_info {
            v_frame: frame,
            pool_id: self.number(),
            mod_id: enums::HI_ID_VDEC,
        }
    }
}

/// Describes an image whose first byte is that of the first plane of a frame.
fn describe(frame: &mut types::hi_video_frame, image: &Image) {
    frame.width = image.width as u32;
    frame.height = image.height as u32;
    frame.pixel_format = image.format.number();
    frame.width_stride[0] = image.width_stride as u32;
    frame.height_stride[0] = image.height_stride as u32;
    if let Layout::Planes(planes) = image.format.layout() {
        let mut address = frame.virt_addr[0];
        for (index, plane) in planes.iter().enumerate().take(3) {
            let (stride, rows) = (
                plane.stride(image.width_stride),
                plane.rows(image.height_stride),
            );
            frame.width_stride[index] = stride as u32;
            frame.height_stride[index] = rows as u32;
            frame.virt_addr[index] = address;
            address += stride * rows;
        }
    }
}

/// A queued packet. One that is discarded with its stream has failed.
struct QueuedPacket {
    shared: Arc<DecodingChannel>,
    /// A task runs once: it takes what it needs.
    parts: Mutex<Option<(Vec<u8>, Sent)>>,
}

impl QueuedPacket {
    fn run(&self) {
        let parts = self.parts.lock().take();
        if let Some((packet, sent)) = parts {
            self.shared.decode(&packet, sent);
        }
    }
}

impl Drop for QueuedPacket {
    fn drop(&mut self) {
        let parts = self.parts.lock().take();
        if let Some((_, sent)) = parts {
            self.shared.fail(
                sent,
                "the packet was discarded before it was decoded: its context ended or failed",
            );
        }
    }
}

impl DecodingChannel {
    pub(super) fn new(
        name: String,
        kind: Kind,
        context: &Arc<Context>,
        state: State,
        largest: (usize, usize),
        library: Option<Ffmpeg>,
    ) -> Result<DecodingChannel> {
        let coder = match kind {
            Kind::Video(codec) => Some(Coder::new(codec, library)),
            Kind::Jpeg | Kind::Png => None,
        };
        Ok(DecodingChannel {
            name,
            kind,
            stream: context.create_stream(StreamOptions::default())?,
            state: Mutex::new(state),
            changed: Condvar::new(),
            work: Mutex::new(Work {
                coder,
                scratch: Scratch::default(),
            }),
            sending: Mutex::default(),
            family: Family::of_chip(&context.device().profile().soc_name),
            largest,
        })
    }

    /// Queues the decoding of a packet, and waits for space until a time limit.
    ///
    /// # Errors
    /// `QueueFull`; `Uninitialized`: the channel was not started; `InvalidHandle`: it was reset or destroyed meanwhile; what the gate or
    /// a stopped context answers.
    pub(super) fn send(
        self: &Arc<DecodingChannel>,
        cx: &Cx<'_>,
        until: Option<Instant>,
        packet: Vec<u8>,
        request: &Request,
    ) -> Result<()> {
        let first = self.state.lock().round;
        let shared = (&self.state, &self.changed);
        let mut checked = request.checked();
        let has_answer = |state: &State| {
            state.is_gone
                || state.round != first
                || !state.is_started
                || state.contained() < LONGEST_QUEUE
        };
        let reserve = |state: &mut State| {
            if state.is_gone || state.round != first {
                return Some(Err(self.interrupted()));
            }
            if !state.is_started {
                return Some(Err(self.not_started()));
            }
            if state.contained() >= LONGEST_QUEUE {
                return None;
            }
            let sent = Sent {
                number: state.next,
                round: state.round,
                request: *request,
                order: order(&state.parameters),
                matrix: state.matrix,
            };
            state.next += 1;
            state.waiting.insert(sent.number, packet.len());
            if let Some(checked) = checked.take() {
                state.checked.insert(sent.number, checked);
            }
            Some(Ok(sent))
        };
        // `None`: the time limit has passed.
        let reserved = reserve_in_order(
            &self.stream,
            shared,
            &self.sending,
            until,
            has_answer,
            reserve,
        );
        let Some((sending, sent)) = reserved else {
            return Err(Error::new(
                ErrorKind::QueueFull,
                format!(
                    "{} contains {LONGEST_QUEUE} packets and frames that were not fetched or not released",
                    self.name
                ),
            )
            .fix(match self.kind {
                Kind::Png => "Fetch images (hi_mpi_pngd_get_image_data), or pass a longer time limit.",
                Kind::Video(_) | Kind::Jpeg => "Fetch frames and release each (hi_mpi_vdec_get_frame, hi_mpi_vdec_release_frame), or pass a longer time limit.",
            }));
        };
        let sent = sent?;
        let queued = QueuedPacket {
            shared: self.clone(),
            parts: Mutex::new(Some((packet, sent))),
        };
        let launched = self.launch(cx, move || queued.run());
        if launched.is_err() {
            // The task, which was dropped, has left its failure behind; the call reports it.
            self.state.lock().forget(sent.number);
        }
        launched?;
        let ended = match request.stream.end_of_stream {
            0 => Ok(()),
            _ => self.end(cx, sent.round),
        };
        drop(sending);
        ended
    }

    /// Queues the end of the stream, if the channel accepts streams.
    ///
    /// # Errors
    /// `Uninitialized`; what the gate or a stopped context answers.
    pub(super) fn send_end(self: &Arc<DecodingChannel>, cx: &Cx<'_>) -> Result<()> {
        let _sending = self.sending.lock();
        let state = self.state.lock();
        let (is_started, round) = (state.is_started, state.round);
        drop(state);
        match is_started {
            true => self.end(cx, round),
            false => Err(self.not_started()),
        }
    }

    fn end(self: &Arc<DecodingChannel>, cx: &Cx<'_>, round: u64) -> Result<()> {
        let shared = self.clone();
        self.launch(cx, move || shared.flush(round))
    }

    fn launch(&self, cx: &Cx<'_>, work: impl Fn() + Send + Sync + 'static) -> Result<()> {
        // What fails is what the program fetches; the context continues.
        let work = move || {
            work();
            Ok(())
        };
        task::launch_with(cx, None, &self.stream, &Accesses::default(), Box::new(work))
    }

    /// Takes the next frame; waits for it until a time limit.
    ///
    /// # Errors
    /// `QueueEmpty`; `InvalidHandle`: the channel was destroyed meanwhile.
    pub(super) fn fetch(&self, milliseconds: i32) -> Result<PacketOutcome> {
        let until = deadline(milliseconds)?;
        let shared = (&self.state, &self.changed);
        let fetched = wait_until(&self.stream, shared, until, |state| match state.is_gone {
            true => Some(None),
            false => state.take().map(Some),
        });
        match fetched {
            Some(Some(fetched)) => Ok(fetched),
            Some(None) => Err(self.interrupted()),
            None => Err(Error::new(
                ErrorKind::QueueEmpty,
                format!("{} has no frame after {milliseconds} ms", self.name),
            )
            .fix("Send a packet first, send the end of the stream, or call again later; -1 waits without limit.")),
        }
    }

    /// Releases a frame. Returns whether it was lent to the program.
    pub(super) fn release(&self, frame: u32) -> bool {
        let was_lent = self.state.lock().lent.remove(&frame);
        // A thread that waits for space may continue.
        self.changed.notify_all();
        was_lent
    }

    /// Discards everything and ends the stream.
    ///
    /// # Errors
    /// What the end of a stream answers.
    pub(super) fn destroy(&self, cx: &Cx<'_>, context: &Arc<Context>) -> Result<()> {
        self.state.lock().is_gone = true;
        self.reset();
        match context.destroy_stream(&self.stream, true, &cx.caller()) {
            // The context was destroyed, and its streams with it.
            Err(error) if error.kind() == ErrorKind::InvalidHandle => Ok(()),
            destroyed => destroyed,
        }
    }

    /// Returns the error of a call that a reset or the end of the channel has interrupted.
    fn interrupted(&self) -> Error {
        Error::new(
            ErrorKind::InvalidHandle,
            format!("{} was reset or destroyed while the call waited", self.name),
        )
        .fix("Let calls of other threads return first.")
    }

    fn not_started(&self) -> Error {
        Error::new(
            ErrorKind::Uninitialized,
            format!(
                "{} accepts no streams: it was not started, or was stopped",
                self.name
            ),
        )
        .fix("Call hi_mpi_vdec_start_recv_stream first.")
    }

    /// Discards what the channel contains, after the task that runs.
    pub(super) fn reset(&self) {
        let mut work = self.work.lock();
        if let Some(coder) = &mut work.coder {
            *coder = Coder::new(coder.codec, coder.library.take());
        }
        self.state.lock().clear();
        drop(work);
        self.changed.notify_all();
    }

    /// Ends the stream of packets that were sent in a round.
    fn flush(&self, round: u64) {
        let mut work = self.work.lock();
        let Some(coder) = &mut work.coder else {
            return;
        };
        if self.state.lock().round == round {
            let outcomes = coder.decoder.flush();
            self.finish(coder, outcomes);
        }
    }

    fn decode(&self, packet: &[u8], sent: Sent) {
        let mut work = self.work.lock();
        let work = &mut *work;
        if self.state.lock().round != sent.round {
            return;
        }
        let Some(coder) = &mut work.coder else {
            let image = self.decode_image(packet, &sent, &mut work.scratch);
            self.add(sent, image);
            return;
        };
        coder.decoder.set_order(sent.order);
        let number = coder.next;
        coder.next += 1;
        coder.sent.insert(number, sent);
        let outcomes = coder.decoder.send(packet);
        self.finish(coder, outcomes);
    }

    fn finish(&self, coder: &mut Coder, outcomes: Vec<Outcome>) {
        for outcome in outcomes {
            let Some(sent) = coder.sent.remove(&outcome.packet) else {
                continue;
            };
            let image = match outcome.result {
                Ok(frame) => self.write(frame, &sent),
                Err(failure) => Err(failure),
            };
            self.add(sent, image);
        }
    }

    /// Writes a frame. Returns its shape; none if it is not needed.
    fn write(&self, frame: Frame, sent: &Sent) -> std::result::Result<Option<Image>, Failure> {
        let (width, height) = self.largest;
        if frame.width() > width || frame.height() > height {
            return Err(failure(
                FailureKind::Resolution,
                format!(
                    "the frame has {}x{} pixels, and the channel was created for {width}x{height}",
                    frame.width(),
                    frame.height()
                ),
            ));
        }
        let Some(output) = sent.request.output else {
            return Ok(None);
        };
        let image = output.image((frame.width(), frame.height()));
        let written = image.size().map_err(|error| error.to_string());
        let written = written.and_then(|size| {
            if size > output.bytes {
                let text = format!(
                    "the frame of {}x{} with strides {} and {} needs {size} bytes, and the output has {}",
                    image.width, image.height, image.width_stride, image.height_stride, output.bytes
                );
                if let Some(checked) = self.state.lock().checked.get(&sent.number) {
                    checked.output_is_too_small(&text);
                }
                return Err(text);
            }
            // The program may have freed the memory since the packet was sent.
            let memory = task::memory(&self.stream, output.address, size, "the output")
                .map_err(|error| error.sentence().to_owned())?;
            frame
                .store(&image, sent.matrix, &memory, &memory)
                .map_err(|error| error.to_string())
        });
        match written {
            Ok(()) => Ok(Some(image)),
            Err(sentence) => Err(failure(FailureKind::Damaged, sentence)),
        }
    }

    /// Decodes an image to its output. Returns its shape.
    fn decode_image(
        &self,
        packet: &[u8],
        sent: &Sent,
        scratch: &mut Scratch,
    ) -> std::result::Result<Option<Image>, Failure> {
        let damaged = |sentence: String| failure(FailureKind::Damaged, sentence);
        let Some(output) = sent.request.output else {
            return Ok(None);
        };
        // The program may have freed the memory since the packet was sent.
        let memory = task::memory(&self.stream, output.address, output.bytes, "the output")
            .map_err(|error| damaged(error.sentence().to_owned()))?;
        let done = if self.kind == Kind::Png {
            png::decode(packet, &memory, output.format, output.strides)
        } else {
            let decoder = jpeg::decoder(self.family, output.format, PRECISION, output.margins)
                .map_err(|error| damaged(error.sentence().to_owned()))?;
            let strides = (output.strides, jpeg::alignment(self.family));
            jpeg::decode(&decoder, packet, &memory, strides, scratch)
        };
        done.map(Some).map_err(|error| damaged(error.to_string()))
    }

    fn fail(&self, sent: Sent, sentence: &str) {
        if self.state.lock().round == sent.round {
            self.add(
                sent,
                Err(failure(FailureKind::Damaged, sentence.to_owned())),
            );
        }
    }

    /// Makes the result of a packet ready to be fetched.
    fn add(&self, sent: Sent, image: std::result::Result<Option<Image>, Failure>) {
        let mut state = self.state.lock();
        // A reset discards what was sent before.
        if state.round != sent.round {
            return;
        }
        let (flag, image) = match image {
            Ok(image) => (flag::DECODED, image),
            Err(failure) => {
                crate::log::reported(&format!("a packet has no frame: {failure}"));
                state.count(failure.kind);
                match failure.kind {
                    FailureKind::NoFrame => (flag::NO_FRAME, None),
                    _ => (flag::FAILED, None),
                }
            }
        };
        state.add(PacketOutcome { sent, flag, image });
        drop(state);
        self.changed.notify_all();
    }
}

/// How odd sizes of JPEG images are rounded: down, which is what the first interface does by default.
const PRECISION: u32 = enums::ACL_YUVOUT_ALIGN_DOWN_COMPAT;

fn failure(kind: FailureKind, sentence: String) -> Failure {
    Failure { kind, sentence }
}

impl Coder {
    fn new(codec: Codec, library: Option<Ffmpeg>) -> Coder {
        Coder {
            codec,
            decoder: Decoder::with(codec, LIMITS, Order::Earliest, library.clone()),
            library,
            next: 0,
            sent: BTreeMap::new(),
        }
    }
}

impl Output {
    /// Returns the shape of a frame of a stream with frames of that size.
    pub(super) fn image(&self, of_stream: (usize, usize)) -> Image {
        let format = self.format.unwrap_or(Format::Nv12);
        let mut image = match self.size {
            (0, _) => natural(format, of_stream),
            (width, height) => natural(format, (width as usize, height as usize)),
        };
        if self.strides.0 != 0 {
            image.width_stride = self.strides.0 as usize;
        }
        if self.strides.1 != 0 {
            image.height_stride = self.strides.1 as usize;
        }
        image
    }
}

/// Returns the order of frames that the parameters of a channel state.
fn order(parameters: &types::hi_vdec_chn_param) -> Order {
    match word(&parameters.anonymous.bytes, OUT_ORDER) {
        enums::HI_VIDEO_OUT_ORDER_DEC => Order::Coding,
        _ => Order::Earliest,
    }
}

/// The members of `video_param` and `pic_param`, which are integers of 32 bits.
pub(super) const DEC_MODE: usize = 3;
pub(super) const OUT_ORDER: usize = 4;
pub(super) const COMPRESS_MODE: usize = 5;
pub(super) const VIDEO_FORMAT: usize = 6;
pub(super) const PIXEL_FORMAT: usize = 0;
pub(super) const ALPHA: usize = 1;

/// Reads an integer of 32 bits of a union.
pub(super) fn word(bytes: &[u8], index: usize) -> u32 {
    let found = bytes.get(4 * index..4 * index + 4);
    found
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_ne_bytes)
}

/// Writes an integer of 32 bits of a union.
pub(super) fn set_word(bytes: &mut [u8], index: usize, value: u32) {
    if let Some(word) = bytes.get_mut(4 * index..4 * index + 4) {
        word.copy_from_slice(&value.to_ne_bytes());
    }
}

/// Reads the bytes of a packet out of device memory.
///
/// # Errors
/// `InvalidArgument`: it does not lie inside an allocation of device memory.
pub(super) fn read(stream: &Stream, address: usize, bytes: usize, name: &str) -> Result<Vec<u8>> {
    let memory = task::memory(stream, address, bytes, name)?;
    let mut packet = vec![0; bytes];
    memory.read(0, &mut packet);
    Ok(packet)
}
