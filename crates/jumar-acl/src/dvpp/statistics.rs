//! Histograms, look-up tables and pyramids.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{Block, Caller};
use jumar_dvpp::vpc::{
    HISTOGRAM_BINS, Histogram, SampleTables, Smoothing, apply_tables, count, pyramid_down,
};
use jumar_dvpp::{Color, Image, Sink, Source};
use jumar_types::Result;

use super::task::{self, Accesses, Done, FAILED, Memory, check_disjoint};
use super::vpc::call;
use super::{argument, find, refused, remove};
use crate::{Cx, Raw};

/// The components that tables and histograms have.
const DIMS: usize = 3;
/// The bytes of the counts of a component.
const COUNT_BYTES: usize = HISTOGRAM_BINS * size_of::<u32>();

/// Look-up tables, in host memory that the program writes.
pub struct Tables {
    id: u64,
    memory: Block,
}

/// A histogram, in host memory that the program reads.
pub struct Counts {
    id: u64,
    memory: Block,
    ret_code: Mutex<u32>,
}

fn allocate(cx: &Cx<'_>, bytes: usize) -> Result<Block> {
    let block = cx.runtime()?.allocate_pinned(bytes, &cx.caller())?;
    clear(&block);
    Ok(block)
}

fn clear(block: &Block) {
    Memory(block.span).write(0, &vec![0; block.span.bytes()]);
}

fn free(cx: &Cx<'_>, block: &Block, caller: &Caller<'_>) -> Result<()> {
    cx.runtime()?.free_pinned(block.span.address(), caller)
}

/// Checks the number of a component.
fn check_dim(dim: u32) -> Result<usize> {
    match dim as usize {
        dim if dim < DIMS => Ok(dim),
        _ => Err(argument(format!("dim is {dim}; it must be 0 to 2"))),
    }
}

pub fn acldvppCreateLutMap(cx: &Cx<'_>) -> Result<Raw> {
    let memory = allocate(cx, DIMS * HISTOGRAM_BINS)?;
    let identity: Vec<u8> = (0..DIMS).flat_map(|_| 0..=u8::MAX).collect();
    Memory(memory.span).write(0, &identity);
    let made = cx
        .process
        .dvpp
        .tables
        .insert(|id| Arc::new(Tables { id, memory }))?;
    Ok(Raw(made.id))
}

pub fn acldvppDestroyLutMap(cx: &Cx<'_>, map: Raw) -> Result<()> {
    let gone = remove(cx, &cx.process.dvpp.tables, map, "lutMap")?;
    free(cx, &gone.memory, &cx.caller())
}

pub fn acldvppGetLutMapDims(cx: &Cx<'_>, map: Raw) -> Result<u32> {
    find(&cx.process.dvpp.tables, map, "lutMap")?;
    Ok(DIMS as u32)
}

pub fn acldvppGetLutMapData(cx: &Cx<'_>, map: Raw, dim: u32) -> Result<(usize, u32)> {
    let found = find(&cx.process.dvpp.tables, map, "lutMap")?;
    let address = found.memory.span.address() + check_dim(dim)? * HISTOGRAM_BINS;
    Ok((address, HISTOGRAM_BINS as u32))
}

/// Checks that an image has look-up tables, and that the output is alike.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_tables(input: &Image, output: &Image, names: [&str; 2]) -> Result<()> {
    let [input_name, output_name] = names;
    if !matches!(input.format.number(), 0..=4 | 11..=13) {
        return Err(argument(format!(
            "the format of {input_name} is {}; YUV_400, the semi-planar 4:2:0 and 4:2:2 formats, YUV_PACKED_444, RGB_888 and BGR_888 have look-up tables",
            input.format.name()
        )));
    }
    let shape = |image: &Image| {
        (
            image.format,
            image.rect(),
            image.width_stride,
            image.height_stride,
        )
    };
    if shape(input) != shape(output) {
        return Err(argument(format!(
            "{output_name} differs from {input_name}; format, size and strides must be the same"
        )));
    }
    Ok(())
}

/// Checks that an image has a histogram.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_histogram(input: &Image, name: &str) -> Result<()> {
    let has_histogram = matches!(input.format.number(), 0..=13 | 1000 | 1001);
    if !has_histogram || input.format.color() == Color::Rgba {
        return Err(argument(format!(
            "the format of {name} is {}, which has no histogram",
            input.format.name()
        )));
    }
    Ok(())
}

/// Returns the counts as programs find them in memory.
pub(super) fn histogram_bytes(counts: &Histogram) -> Vec<u8> {
    let counts = counts.iter().flatten();
    counts.flat_map(|count| count.to_ne_bytes()).collect()
}

/// Reads look-up tables, which lie one after the other in memory.
pub(super) fn read_tables(memory: Memory) -> SampleTables {
    let mut tables: SampleTables = [[0; HISTOGRAM_BINS]; DIMS];
    for (dim, table) in tables.iter_mut().enumerate() {
        memory.read(dim * HISTOGRAM_BINS, table);
    }
    tables
}

/// The bytes of the tables of an image.
pub(super) const TABLES_BYTES: usize = DIMS * HISTOGRAM_BINS;
/// The bytes of the counts of an image.
pub(super) const COUNTS_BYTES: usize = DIMS * COUNT_BYTES;

/// The tables are copied when the task is queued.
pub fn acldvppVpcEqualizeHistAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    output: Raw,
    map: Raw,
    stream: Raw,
) -> Result<()> {
    call(cx, channel, stream, |call| {
        let input = call.input(input, "inputDesc")?;
        let output = call.output(output, "outputDesc")?;
        check_tables(&input.image, &output.image, ["inputDesc", "outputDesc"])?;
        check_disjoint(&input, &output)?;
        let found = find(&cx.process.dvpp.tables, map, "lutMap")?;
        let tables = read_tables(Memory(found.memory.span));
        let accesses = Accesses {
            reads: vec![input.memory.0],
            writes: vec![output.memory.0],
        };
        let work = move || -> Done {
            let memory = &output.memory;
            let done = apply_tables(
                &input.image,
                &output.image,
                &tables,
                (&input.memory, memory, memory),
            );
            output.report(&done);
            done
        };
        task::launch(cx, &call.channel, call.stream, &accesses, Box::new(work))
    })
}

pub fn acldvppCreateHist(cx: &Cx<'_>) -> Result<Raw> {
    let memory = allocate(cx, DIMS * COUNT_BYTES)?;
    let made = cx.process.dvpp.histograms.insert(|id| {
        Arc::new(Counts {
            id,
            memory,
            ret_code: Mutex::new(0),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acldvppDestroyHist(cx: &Cx<'_>, hist: Raw) -> Result<()> {
    let gone = remove(cx, &cx.process.dvpp.histograms, hist, "hist")?;
    // A task that still counts keeps the lock while it writes.
    let _last = gone.ret_code.lock();
    free(cx, &gone.memory, &cx.caller())
}

pub fn acldvppGetHistDims(cx: &Cx<'_>, hist: Raw) -> Result<u32> {
    find(&cx.process.dvpp.histograms, hist, "hist")?;
    Ok(DIMS as u32)
}

pub fn acldvppGetHistData(cx: &Cx<'_>, hist: Raw, dim: u32) -> Result<(usize, u16)> {
    let found = find(&cx.process.dvpp.histograms, hist, "hist")?;
    let address = found.memory.span.address() + check_dim(dim)? * COUNT_BYTES;
    Ok((address, HISTOGRAM_BINS as u16))
}

pub fn acldvppGetHistRetCode(cx: &Cx<'_>, hist: Raw) -> Result<u32> {
    let code = *find(&cx.process.dvpp.histograms, hist, "hist")?
        .ret_code
        .lock();
    Ok(code)
}

pub fn acldvppClearHist(cx: &Cx<'_>, hist: Raw) -> Result<()> {
    let found = find(&cx.process.dvpp.histograms, hist, "hist")?;
    let mut code = found.ret_code.lock();
    clear(&found.memory);
    *code = 0;
    Ok(())
}

/// The counts of a destroyed histogram are dropped.
pub fn acldvppVpcCalcHistAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    hist: Raw,
    _reserve: usize,
    stream: Raw,
) -> Result<()> {
    call(cx, channel, stream, |call| {
        let input = call.input(input, "srcPicDesc")?;
        check_histogram(&input.image, "srcPicDesc")?;
        find(&cx.process.dvpp.histograms, hist, "hist")?;
        let accesses = Accesses {
            reads: vec![input.memory.0],
            writes: Vec::new(),
        };
        let process = cx.process;
        let work = move || -> Done {
            let counted = count(&input.image, &input.memory);
            let Ok(found) = process.dvpp.histograms.get(hist.0) else {
                return Ok(());
            };
            let mut code = found.ret_code.lock();
            // It may have been destroyed, and its memory freed, before the lock was taken.
            if process.dvpp.histograms.get(hist.0).is_err() {
                return Ok(());
            }
            match &counted {
                Ok(counts) => {
                    Memory(found.memory.span).write(0, &histogram_bytes(counts));
                    *code = 0;
                }
                Err(_) => *code = FAILED,
            }
            counted.map(drop)
        };
        task::launch(cx, &call.channel, call.stream, &accesses, Box::new(work))
    })
}

/// The smallest and largest images that a pyramid starts from.
const PYRAMID_SIZES: [(usize, usize); 2] = [(20, 12), (2048, 2048)];

/// Checks the size of an image that a pyramid starts from.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_pyramid(image: &Image, name: &str) -> Result<()> {
    let [least, most] = PYRAMID_SIZES;
    let (width, height) = (image.width, image.height);
    let fits = (least.0..=most.0).contains(&width) && (least.1..=most.1).contains(&height);
    if !fits {
        return Err(argument(format!(
            "{name} has {width}x{height}; a pyramid starts from {}x{} to {}x{}",
            least.0, least.1, most.0, most.1
        )));
    }
    Ok(())
}

pub fn acldvppVpcPyrDownAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    output: Raw,
    _reserve: usize,
    stream: Raw,
) -> Result<()> {
    call(cx, channel, stream, |call| {
        let input = call.input(input, "inputDesc")?;
        let output = call.output(output, "outputDesc")?;
        check_pyramid(&input.image, "inputDesc")?;
        check_disjoint(&input, &output)?;
        let smoothing = Smoothing::default();
        pyramid_down(&input.image, &output.image, &smoothing, None)
            .map_err(|error| refused(&error))?;
        let accesses = Accesses {
            reads: vec![input.memory.0],
            writes: vec![output.memory.0],
        };
        let work = move || -> Done {
            let memory = &output.memory;
            let done = pyramid_down(
                &input.image,
                &output.image,
                &smoothing,
                Some((&input.memory, memory, memory)),
            );
            output.report(&done);
            done
        };
        task::launch(cx, &call.channel, call.stream, &accesses, Box::new(work))
    })
}
