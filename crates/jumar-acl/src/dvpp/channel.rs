//! Channels: what a program opens to process images.

use std::sync::{Arc, Weak};
use std::time::Duration;

use jumar::engine::Stream;
use jumar::engine::sync::{Condvar, Mutex};
use jumar_dvpp::Scratch;
use jumar_types::{Error, ErrorKind, Result};

use super::{argument, find, remove};
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// A description of a channel, and the channel while one is open.
pub struct Channel {
    id: u64,
    state: Mutex<State>,
    /// The tasks of the channel that have not ended.
    pub(super) pending: Arc<Pending>,
    /// What tasks leave for later ones.
    pub(super) scratch: Arc<Mutex<Scratch>>,
}

struct State {
    mode: Option<u32>,
    matrix: u32,
    /// The largest width and height of an image that is encoded as JPEG.
    largest: (u32, u32),
    precision: u32,
    open: Option<Open>,
    /// The streams that tasks of the channel were queued on.
    streams: Vec<Weak<Stream>>,
}

/// What an open channel has.
#[derive(Clone, Copy, Debug)]
struct Open {
    number: u64,
    device: u32,
}

/// What a task needs to know of its channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) matrix: u32,
    pub(super) largest: (u32, u32),
    pub(super) precision: u32,
}

/// Counts the tasks that have not ended.
#[derive(Default)]
pub(super) struct Pending {
    count: Mutex<usize>,
    ended: Condvar,
}

/// A task that has not ended.
pub(super) struct Ticket(Arc<Pending>);

impl Pending {
    pub(super) fn ticket(self: &Arc<Pending>) -> Ticket {
        *self.count.lock() += 1;
        Ticket(self.clone())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        *self.0.count.lock() -= 1;
        self.0.ended.notify_all();
    }
}

/// All functions that a channel can have.
const ALL_MODES: u32 = enums::DVPP_CHNMODE_VPC
    | enums::DVPP_CHNMODE_JPEGD
    | enums::DVPP_CHNMODE_JPEGE
    | enums::DVPP_CHNMODE_PNGD;

/// The largest width or height of an image that is encoded as JPEG.
const LARGEST_JPEG: u32 = 16384;
/// The same for a new channel.
const USUAL_JPEG: u32 = 8192;
/// The smallest width or height of such an image.
const SMALLEST_JPEG: u32 = 32;

/// The most open channels of a device.
const MOST_CHANNELS: usize = 256;

/// Interval between attempts to run the tasks of a channel that waits for them.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);

pub fn acldvppCreateChannelDesc(cx: &Cx<'_>) -> Result<Raw> {
    let state = State {
        mode: None,
        matrix: enums::ACL_DVPP_CSC_MATRIX_BT601_WIDE,
        largest: (USUAL_JPEG, USUAL_JPEG),
        precision: enums::ACL_YUVOUT_ALIGN_DOWN_COMPAT,
        open: None,
        streams: Vec::new(),
    };
    let made = cx.process.dvpp.channels.insert(|id| {
        Arc::new(Channel {
            id,
            state: Mutex::new(state),
            pending: Arc::default(),
            scratch: Arc::default(),
        })
    })?;
    Ok(Raw(made.id))
}

fn channel(cx: &Cx<'_>, desc: Raw) -> Result<Arc<Channel>> {
    find(&cx.process.dvpp.channels, desc, "channelDesc")
}

pub fn acldvppDestroyChannelDesc(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    if channel(cx, desc)?.state.lock().open.is_some() {
        return Err(argument("the channel of the description is open")
            .fix("Call acldvppDestroyChannel first."));
    }
    remove(cx, &cx.process.dvpp.channels, desc, "channelDesc").map(drop)
}

pub fn acldvppGetChannelDescChannelId(cx: &Cx<'_>, desc: Raw) -> Result<u64> {
    let open = channel(cx, desc)?.state.lock().open;
    Ok(open.map_or(0, |open| open.number))
}

pub fn acldvppSetChannelDescMode(cx: &Cx<'_>, desc: Raw, mode: u32) -> Result<()> {
    let found = channel(cx, desc)?;
    if mode == 0 || mode & !ALL_MODES != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "the mode is {mode}; it must be 1 to {ALL_MODES}, values of acldvppChannelMode combined"
            ),
        );
    }
    let mut state = found.state.lock();
    if state.open.is_some() {
        return Err(argument("the channel is open, and its mode is fixed")
            .fix("Set the mode before acldvppCreateChannel."));
    }
    state.mode = Some(mode);
    Ok(())
}

pub fn acldvppCreateChannel(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    let found = channel(cx, desc)?;
    let device = cx.context()?.device().number();
    let open: Vec<Open> = cx
        .process
        .dvpp
        .channels
        .all()
        .iter()
        .filter_map(|channel| channel.state.lock().open)
        .collect();
    if open.iter().filter(|open| open.device == device).count() >= MOST_CHANNELS {
        return Err(Error::new(
            ErrorKind::NoStreamResource,
            format!("device {device} has {MOST_CHANNELS} open image channels"),
        )
        .fix("Close channels with acldvppDestroyChannel."));
    }
    let mut state = found.state.lock();
    if state.open.is_some() {
        return Err(argument("the channel of the description is open already"));
    }
    // The handle of the description is unique in the process, and never 0.
    state.open = Some(Open {
        number: found.id,
        device,
    });
    Ok(())
}

pub fn acldvppDestroyChannel(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    let found = channel(cx, desc)?;
    let streams = {
        let mut state = found.state.lock();
        if state.open.is_none() {
            return Err(argument("the channel of the description is not open"));
        }
        std::mem::take(&mut state.streams)
    };
    loop {
        for stream in streams.iter().filter_map(Weak::upgrade) {
            // A thread that waits helps: it runs the tasks that no worker has taken.
            if *found.pending.count.lock() > 0 {
                stream.drain_briefly();
            }
        }
        let count = found.pending.count.lock();
        if *count == 0 {
            break;
        }
        drop(found.pending.ended.wait_for(count, DRAIN_INTERVAL));
    }
    found.state.lock().open = None;
    *found.scratch.lock() = Scratch::default();
    Ok(())
}

impl Channel {
    /// Checks that the channel is open for a kind of work on a stream, and notes the stream.
    ///
    /// # Errors
    /// `InvalidArgument`: it is not open, or not for this; `StreamContext`: it belongs to another device.
    pub(super) fn admit(&self, mode: u32, stream: &Arc<Stream>) -> Result<Settings> {
        let mut state = self.state.lock();
        let Some(open) = state.open else {
            return Err(argument("the channel of the description is not open")
                .fix("Call acldvppCreateChannel first."));
        };
        let has = state.mode.unwrap_or(ALL_MODES);
        if has & mode == 0 {
            let name = enums::name_of("acldvppChannelMode", i64::from(mode)).unwrap_or_default();
            return Err(argument(format!(
                "the channel has the mode {has}, which does not contain {name} ({mode})"
            ))
            .fix("Leave the mode unset, or set it with acldvppSetChannelDescMode before the channel is created."));
        }
        if open.device != stream.device() {
            return Err(Error::new(
                ErrorKind::StreamContext,
                format!(
                    "the channel belongs to device {}, and stream {} to device {}",
                    open.device,
                    stream.number(),
                    stream.device()
                ),
            ));
        }
        let weak = Arc::downgrade(stream);
        state.streams.retain(|known| known.strong_count() > 0);
        if !state.streams.iter().any(|known| known.ptr_eq(&weak)) {
            state.streams.push(weak);
        }
        Ok(Settings {
            matrix: state.matrix,
            largest: state.largest,
            precision: state.precision,
        })
    }
}

/// Finds the channel of a call.
///
/// # Errors
/// As [`find`].
pub(super) fn of_call(cx: &Cx<'_>, desc: Raw) -> Result<Arc<Channel>> {
    channel(cx, desc)
}

/// Reads a parameter of four bytes.
fn word(value: &[u8], length: usize) -> Result<u32> {
    match <[u8; 4]>::try_from(value) {
        Ok(bytes) => Ok(u32::from_ne_bytes(bytes)),
        Err(_) => refuse(
            ErrorKind::InvalidArgument,
            format!("length is {length}; the parameter has 4 bytes"),
        ),
    }
}

/// Checks that a value lies in a range.
fn check_range(name: &str, value: u32, range: std::ops::RangeInclusive<u32>) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!(
            "{name} is {value}; it must be {} to {}",
            range.start(),
            range.end()
        ),
    )
}

pub fn acldvppSetChannelDescParam(
    cx: &Cx<'_>,
    desc: Raw,
    parameter: u32,
    length: usize,
    value: Option<&[u8]>,
) -> Result<()> {
    let found = channel(cx, desc)?;
    let value = value.ok_or_else(|| null("param"))?;
    match parameter {
        enums::ACL_DVPP_CSC_MATRIX_UINT32 => {
            let matrix = word(value, length)?;
            let last = enums::ACL_DVPP_CSC_MATRIX_BT2020_NARROW;
            check_range("the colour matrix", matrix, 0..=last)?;
            found.state.lock().matrix = matrix;
        }
        enums::ACL_DVPP_MODE_UINT32 => {
            return acldvppSetChannelDescMode(cx, desc, word(value, length)?);
        }
        enums::ACL_DVPP_CHANNEL_ID_UINT64 => {
            return refuse(
                ErrorKind::InvalidArgument,
                "the id of a channel cannot be set",
            );
        }
        enums::ACL_DVPP_CHANNEL_HEIGHT_UINT32 => {
            let height = word(value, length)?;
            check_range("the largest height", height, SMALLEST_JPEG..=LARGEST_JPEG)?;
            found.state.lock().largest.1 = height;
        }
        enums::ACL_DVPP_CHANNEL_WIDTH_UINT32 => {
            let width = word(value, length)?;
            check_range("the largest width", width, SMALLEST_JPEG..=LARGEST_JPEG)?;
            found.state.lock().largest.0 = width;
        }
        enums::ACL_DVPP_JPEGD_PRECISION_MODE_ENUM => {
            let precision = word(value, length)?;
            let last = enums::ACL_YUVOUT_ALIGN_DOWN_COMPAT;
            check_range("the precision mode", precision, 0..=last)?;
            found.state.lock().precision = precision;
        }
        other => return Err(unknown(other)),
    }
    Ok(())
}

fn unknown(parameter: u32) -> Error {
    argument(crate::not_a_value("acldvppChannelDescParamType", parameter))
}

pub fn acldvppGetChannelDescParam(
    cx: &Cx<'_>,
    desc: Raw,
    parameter: u32,
    length: usize,
) -> Result<(usize, Vec<u8>)> {
    let found = channel(cx, desc)?;
    let state = found.state.lock();
    let word = |value: u32| value.to_ne_bytes().to_vec();
    let value = match parameter {
        enums::ACL_DVPP_CSC_MATRIX_UINT32 => word(state.matrix),
        enums::ACL_DVPP_MODE_UINT32 => word(state.mode.unwrap_or(ALL_MODES)),
        enums::ACL_DVPP_CHANNEL_ID_UINT64 => state
            .open
            .map_or(0, |open| open.number)
            .to_ne_bytes()
            .to_vec(),
        enums::ACL_DVPP_CHANNEL_HEIGHT_UINT32 => word(state.largest.1),
        enums::ACL_DVPP_CHANNEL_WIDTH_UINT32 => word(state.largest.0),
        enums::ACL_DVPP_JPEGD_PRECISION_MODE_ENUM => word(state.precision),
        other => return Err(unknown(other)),
    };
    if length < value.len() {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "length is {length}; the parameter has {} bytes",
                value.len()
            ),
        );
    }
    Ok((value.len(), value))
}
