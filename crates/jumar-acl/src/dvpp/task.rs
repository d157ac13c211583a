//! Tasks of image work: operands are read from their descriptions at the call, results are written when the task has ended.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{Cost, Program, Span, Stream};
use jumar_dvpp::limits::Family;
use jumar_dvpp::{Format, Image, ImageError, Scratch, Sink, Source};
use jumar_eager::Region;
use jumar_types::Result;

use super::channel::{Channel, Ticket};
use super::images::{ImageDesc, ImageFields};
use super::{argument, failed, find, refused_for};
use crate::{Cx, Raw};

/// Device memory, as image work reads and writes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory(pub(super) Span);

impl Memory {
    /// Returns a copy, which the program cannot change.
    pub(super) fn copy(&self, scratch: &mut Scratch) -> Vec<u8> {
        let mut bytes = scratch.take(self.0.bytes());
        self.read(0, &mut bytes);
        bytes
    }
}

/// Does work with what earlier tasks of a channel have left, and leaves it for later ones. Tasks of several streams do not wait for
/// each other: only one of them finds it.
pub(super) fn with_scratch<T>(shared: &Mutex<Scratch>, work: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = std::mem::take(&mut *shared.lock());
    let result = work(&mut scratch);
    shared.lock().append(scratch);
    result
}

impl Source for Memory {
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn read(&self, offset: usize, to: &mut [u8]) {
        Region::of(self.0).read(offset, to);
    }

    fn span(&self) -> Option<Span> {
        Some(self.0)
    }
}

impl Sink for Memory {
    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn write(&self, offset: usize, from: &[u8]) {
        Region::of(self.0).write(offset, from);
    }

    fn span(&self) -> Option<Span> {
        Some(self.0)
    }
}

/// A result of image work.
pub(super) type Done = std::result::Result<(), ImageError>;

/// The work of a task.
pub(super) type Work = Box<dyn Fn() -> Done + Send + Sync>;

/// A queued piece of image work.
struct ImageTask {
    name: &'static str,
    work: Work,
    /// Dropped when the task has ended, or was discarded.
    ticket: Mutex<Option<Ticket>>,
}

impl Program for ImageTask {
    fn run(&self) -> Result<()> {
        let done = (self.work)();
        self.ticket.lock().take();
        done.map_err(|error| failed(format!("{} failed: {error}", self.name)))
    }

    fn cost(&self) -> Cost {
        Cost::Large
    }

    fn name(&self) -> &str {
        self.name
    }
}

/// What a task reads and writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Accesses {
    pub(super) reads: Vec<Span>,
    pub(super) writes: Vec<Span>,
}

/// Queues image work.
///
/// # Errors
/// What the gate or a stopped context answers.
pub(super) fn launch(
    cx: &Cx<'_>,
    channel: &Channel,
    stream: &Arc<Stream>,
    accesses: &Accesses,
    work: Work,
) -> Result<()> {
    launch_with(cx, Some(channel.pending.ticket()), stream, accesses, work)
}

/// As [`launch`], for a task that no channel of the first interface waits for.
///
/// # Errors
/// As [`launch`].
pub(super) fn launch_with(
    cx: &Cx<'_>,
    ticket: Option<Ticket>,
    stream: &Arc<Stream>,
    accesses: &Accesses,
    work: Work,
) -> Result<()> {
    // The interface has no images among the tasks that a model can contain.
    stream.refuse_captured()?;
    let task = Arc::new(ImageTask {
        name: cx.call.name,
        work,
        ticket: Mutex::new(ticket),
    });
    stream
        .launch(task, &accesses.reads, &accesses.writes, &cx.caller())
        .map(drop)
}

/// An image that a call names: its description, its shape and its memory.
#[derive(Clone)]
pub(super) struct Operand {
    /// The description, in the first interface.
    pub(super) desc: Option<Arc<ImageDesc>>,
    pub(super) image: Image,
    pub(super) memory: Memory,
}

/// Returns the family of the device that a stream belongs to.
///
/// # Errors
/// The device is gone.
pub(super) fn family(cx: &Cx<'_>, stream: &Stream) -> Result<Family> {
    let device = cx.runtime()?.device(i64::from(stream.device()))?;
    Ok(Family::of_chip(&device.profile().soc_name))
}

/// Finds the memory that a call names.
///
/// # Errors
/// `InvalidArgument`: it is null, does not lie inside an allocation of device memory, or is memory of another device.
pub(super) fn memory(stream: &Stream, address: usize, bytes: usize, name: &str) -> Result<Memory> {
    if address == 0 {
        return Err(argument(format!("{name} is null")));
    }
    if bytes == 0 {
        return Err(argument(format!("the size of {name} is 0")));
    }
    stream
        .own_device_range(address, bytes, name)
        .map(Memory)
        .map_err(|error| {
            argument(error.sentence())
                .fix("Pass memory of acldvppMalloc or aclrtMalloc, of the device of the stream.")
        })
}

/// Reads the format of a description.
///
/// # Errors
/// `InvalidArgument`: image work does not have it.
pub(super) fn format(fields: &ImageFields, name: &str) -> Result<Format> {
    Format::from_number(fields.format).ok_or_else(|| {
        argument(format!(
            "the format of {name} is {} ({}), which is not supported",
            fields.format,
            crate::generated::enums::name_of("acldvppPixelFormat", i64::from(fields.format))
                .unwrap_or("no value of acldvppPixelFormat")
        ))
    })
}

/// Reads a description.
///
/// # Errors
/// As [`find`].
pub(super) fn desc(cx: &Cx<'_>, handle: Raw, name: &str) -> Result<(Arc<ImageDesc>, ImageFields)> {
    let desc = find(&cx.process.dvpp.images, handle, name)?;
    let fields = *desc.fields.lock();
    Ok((desc, fields))
}

/// Returns the shape that a description states.
///
/// # Errors
/// As [`format`].
pub(super) fn shape(fields: &ImageFields, name: &str) -> Result<Image> {
    Ok(Image {
        format: format(fields, name)?,
        width: fields.width as usize,
        height: fields.height as usize,
        width_stride: fields.width_stride as usize,
        height_stride: fields.height_stride as usize,
    })
}

impl super::State {
    /// Returns the image that a description states, or none if there is no such description or format.
    pub(crate) fn image(&self, desc: u64) -> Option<Image> {
        let fields = *self.images.get(desc).ok()?.fields.lock();
        shape(&fields, "image").ok()
    }
}

/// Reads an image that a call names, and finds its memory. `adjust` completes and checks the shape.
///
/// # Errors
/// `InvalidArgument`: a field does not fit.
pub(super) fn operand(
    cx: &Cx<'_>,
    stream: &Stream,
    handle: Raw,
    name: &str,
    adjust: impl FnOnce(Image) -> std::result::Result<Image, ImageError>,
) -> Result<Operand> {
    let (desc, fields) = desc(cx, handle, name)?;
    let mut found = operand_of(stream, &fields, name, adjust)?;
    found.desc = Some(desc);
    Ok(found)
}

/// As [`operand`], for an image that no description names.
///
/// # Errors
/// `InvalidArgument`: a field does not fit.
pub(super) fn operand_of(
    stream: &Stream,
    fields: &ImageFields,
    name: &str,
    adjust: impl FnOnce(Image) -> std::result::Result<Image, ImageError>,
) -> Result<Operand> {
    let memory = memory(stream, fields.data, fields.size as usize, name)?;
    let image = adjust(shape(fields, name)?).map_err(|error| refused_for(name, &error))?;
    image
        .check_memory(fields.size as usize)
        .map_err(|error| refused_for(name, &error))?;
    Ok(Operand {
        desc: None,
        image,
        memory,
    })
}

impl Operand {
    /// Notes in the description how a task ended.
    pub(super) fn report(&self, done: &Done) {
        let Some(desc) = &self.desc else { return };
        let mut fields = desc.fields.lock();
        match done {
            Ok(()) => {
                fields.ret_code = 0;
                fields.size = self.image.size().map_or(fields.size, |size| size as u32);
            }
            Err(_) => fields.ret_code = FAILED,
        }
    }
}

/// The result code of an image whose task failed.
pub(super) const FAILED: u32 = 1;

/// Refuses an output that overlaps an input.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_disjoint(input: &Operand, output: &Operand) -> Result<()> {
    let (from, to) = (input.memory.0, output.memory.0);
    if from.address() < to.end() && to.address() < from.end() {
        return Err(argument(format!(
            "the memory of the input ({} bytes at {:#x}) and of the output ({} bytes at {:#x}) overlap",
            from.bytes(),
            from.address(),
            to.bytes(),
            to.address()
        )));
    }
    Ok(())
}
