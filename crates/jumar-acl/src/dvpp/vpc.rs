//! Image processing: resize, crop, paste, convert, alone and in batches.

use std::sync::Arc;

use jumar::engine::Stream;
use jumar_dvpp::Rect;
use jumar_dvpp::limits::{self, Family};
use jumar_dvpp::vpc::{Filter, Matrix};
use jumar_types::Result;

use super::channel::{self, Channel};
use super::plan::{self, Piece, Rules};
use super::task::{self, Operand, operand};
use super::{argument, border, find, images, refused, regions};
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw};

/// What a call of this group works with.
pub(super) struct Call<'a> {
    pub(super) cx: &'a Cx<'a>,
    pub(super) channel: Arc<Channel>,
    pub(super) stream: &'a Arc<Stream>,
    pub(super) rules: Rules,
}

/// Checks channel and stream, and queues what `work` plans.
///
/// # Errors
/// `InvalidArgument`, `StreamContext`, what the gate answers.
pub(super) fn call(
    cx: &Cx<'_>,
    channel: Raw,
    stream: Raw,
    work: impl FnOnce(&Call<'_>) -> Result<()>,
) -> Result<()> {
    let channel = channel::of_call(cx, channel)?;
    cx.with_stream(stream, |stream| {
        let settings = channel.admit(enums::DVPP_CHNMODE_VPC, stream)?;
        let matrix = Matrix::from_number(settings.matrix).map_err(|error| refused(&error))?;
        work(&Call {
            cx,
            channel,
            stream,
            rules: Rules {
                family: task::family(cx, stream)?,
                matrix,
            },
        })
    })
}

impl Call<'_> {
    /// Reads an image that is processed.
    pub(super) fn input(&self, handle: Raw, name: &str) -> Result<Operand> {
        operand(self.cx, self.stream, handle, name, |image| {
            self.rules.input(image)
        })
    }

    /// Reads an image that is written.
    pub(super) fn output(&self, handle: Raw, name: &str) -> Result<Operand> {
        operand(self.cx, self.stream, handle, name, |image| {
            self.rules.output(image)
        })
    }

    /// Reads a region.
    fn region(&self, handle: Raw, name: &str, is_paste: bool) -> Result<Rect> {
        let rect = regions::rect(self.cx, handle, name)?;
        limits::check_region(rect, self.rules.family, is_paste)
            .map_err(|error| argument(format!("{name}: {error}")))?;
        Ok(rect)
    }

    /// Reads a configuration of resizing.
    fn filter(&self, config: Raw) -> Result<Filter> {
        let number = find(&self.cx.process.dvpp.resizes, config, "resizeConfig")?
            .fields
            .lock()
            .interpolation;
        limits::check_filter(number, self.rules.family).map_err(|error| refused(&error))
    }

    /// Queues regions as one task. Each output reports how its own regions ended.
    fn queue(&self, pieces: Vec<Piece>) -> Result<()> {
        let accesses = self.rules.accesses(&pieces)?;
        let work = move || plan::run(&pieces);
        task::launch(
            self.cx,
            &self.channel,
            self.stream,
            &accesses,
            Box::new(work),
        )
    }
}

/// A region of one image that goes to one image.
#[derive(Clone, Copy, Default)]
struct Single {
    input: Raw,
    output: Raw,
    crop: Option<Raw>,
    paste: Option<Raw>,
    resize: Option<Raw>,
}

fn single(cx: &Cx<'_>, channel: Raw, stream: Raw, args: Single) -> Result<()> {
    call(cx, channel, stream, |call| {
        let input = call.input(args.input, "inputDesc")?;
        let output = call.output(args.output, "outputDesc")?;
        let crop = match args.crop {
            Some(region) => call.region(region, "cropArea", false)?,
            None => input.image.rect(),
        };
        let paste = match args.paste {
            Some(region) => call.region(region, "pasteArea", true)?,
            None => output.image.rect(),
        };
        let mut job = call.rules.job(&input, &output, crop, paste)?;
        if let Some(config) = args.resize {
            job.filter = call.filter(config)?;
        }
        call.queue(vec![(job, input, output)])
    })
}

pub fn acldvppVpcResizeAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    output: Raw,
    resize: Raw,
    stream: Raw,
) -> Result<()> {
    let args = Single {
        input,
        output,
        resize: Some(resize),
        ..Single::default()
    };
    single(cx, channel, stream, args)
}

pub fn acldvppVpcCropAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    output: Raw,
    crop: Raw,
    stream: Raw,
) -> Result<()> {
    let args = Single {
        input,
        output,
        crop: Some(crop),
        ..Single::default()
    };
    single(cx, channel, stream, args)
}

pub fn acldvppVpcCropResizeAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    output: Raw,
    crop: Raw,
    resize: Raw,
    stream: Raw,
) -> Result<()> {
    let args = Single {
        input,
        output,
        crop: Some(crop),
        resize: Some(resize),
        ..Single::default()
    };
    single(cx, channel, stream, args)
}

pub fn acldvppVpcCropAndPasteAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    output: Raw,
    crop: Raw,
    paste: Raw,
    stream: Raw,
) -> Result<()> {
    let args = Single {
        input,
        output,
        crop: Some(crop),
        paste: Some(paste),
        resize: None,
    };
    single(cx, channel, stream, args)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn acldvppVpcCropResizePasteAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    output: Raw,
    crop: Raw,
    paste: Raw,
    resize: Raw,
    stream: Raw,
) -> Result<()> {
    let args = Single {
        input,
        output,
        crop: Some(crop),
        paste: Some(paste),
        resize: Some(resize),
    };
    single(cx, channel, stream, args)
}

/// The arguments that all batch forms have.
#[derive(Clone, Copy, Debug)]
pub struct BatchArguments<'a> {
    /// The channel.
    pub channel: Raw,
    /// The batch of inputs.
    pub sources: Raw,
    /// How many regions are cut from each input.
    pub counts: Option<&'a [u32]>,
    /// The batch of outputs.
    pub targets: Raw,
    /// The regions of the inputs: as many handles as the counts add up to.
    pub crops: Option<&'a [u64]>,
    /// The stream.
    pub stream: Raw,
}

/// What a batch form has besides.
#[derive(Clone, Copy, Default)]
struct BatchExtras<'a> {
    pastes: Option<Option<&'a [u64]>>,
    borders: Option<Option<&'a [u64]>>,
    resize: Option<Raw>,
}

/// Checks the number of sources of a batch form.
///
/// # Errors
/// `InvalidArgument`: it is 0, or exceeds the size of a batch.
pub fn check_source_count(count: usize) -> Result<()> {
    if count == 0 || count > images::LARGEST_BATCH {
        return Err(argument(format!(
            "size is {count}; it must be 1 to {}",
            images::LARGEST_BATCH
        )));
    }
    Ok(())
}

/// Returns the sum of the counts, which is the number of regions.
///
/// # Errors
/// `InvalidArgument`: the sum is 0, or exceeds the size of a batch.
pub fn region_count(counts: Option<&[u32]>) -> Result<usize> {
    let counts = counts.ok_or_else(|| null("roiNums"))?;
    check_source_count(counts.len())?;
    let sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    if sum == 0 || sum > images::LARGEST_BATCH as u64 {
        return Err(argument(format!(
            "roiNums add up to {sum}; the sum must be 1 to {}",
            images::LARGEST_BATCH
        )));
    }
    Ok(sum as usize)
}

/// Returns element `index` of an array of handles.
fn element(array: Option<&[u64]>, index: usize, name: &str) -> Result<Raw> {
    let array = array.ok_or_else(|| null(name))?;
    match array.get(index) {
        Some(handle) if *handle != 0 => Ok(Raw(*handle)),
        Some(_) => Err(null(&format!("element {index} of {name}"))),
        None => Err(argument(format!(
            "{name} has {} elements, which are fewer than roiNums add up to",
            array.len()
        ))),
    }
}

fn batch(cx: &Cx<'_>, args: &BatchArguments<'_>, extras: BatchExtras<'_>) -> Result<()> {
    call(cx, args.channel, args.stream, |call| {
        let counts = args.counts.unwrap_or_default();
        let regions = region_count(args.counts)?;
        let sources = images::handles(cx, args.sources, "srcBatchPicDescs")?;
        let targets = images::handles(cx, args.targets, "dstBatchPicDescs")?;
        if sources.len() < counts.len() {
            return Err(argument(format!(
                "size is {}, but srcBatchPicDescs has {} images; both must be equal",
                counts.len(),
                sources.len()
            )));
        }
        if targets.len() != regions {
            return Err(argument(format!(
                "roiNums add up to {regions}, but dstBatchPicDescs has {} images; both must be equal",
                targets.len()
            )));
        }
        let filter = match extras.resize {
            Some(config) => call.filter(config)?,
            None => Filter::Bilinear,
        };
        let mut jobs = Vec::with_capacity(regions);
        for (source, count) in sources.iter().zip(counts) {
            if *count == 0 {
                continue;
            }
            let input = call.input(*source, "an image of srcBatchPicDescs")?;
            for _ in 0..*count {
                let index = jobs.len();
                let in_region = |error: jumar_types::Error| {
                    argument(format!("region {index}: {}", error.sentence()))
                };
                let output = call
                    .output(targets[index], "its image of dstBatchPicDescs")
                    .map_err(in_region)?;
                let crop = element(args.crops, index, "cropAreas")?;
                let crop = call.region(crop, "cropArea", false).map_err(in_region)?;
                let paste = match extras.pastes {
                    Some(pastes) => {
                        let region = element(pastes, index, "pasteAreas")?;
                        call.region(region, "pasteArea", true).map_err(in_region)?
                    }
                    None => output.image.rect(),
                };
                let mut job = call.rules.job(&input, &output, crop, paste)?;
                job.filter = filter;
                if let Some(borders) = extras.borders {
                    let config = element(borders, index, "borderCfgs")?;
                    job.border = Some(border::of_batch(cx, config)?);
                }
                jobs.push((job, input.clone(), output));
            }
        }
        call.queue(jobs)
    })
}

pub fn acldvppVpcBatchCropAsync(cx: &Cx<'_>, args: &BatchArguments<'_>) -> Result<()> {
    batch(cx, args, BatchExtras::default())
}

pub fn acldvppVpcBatchCropResizeAsync(
    cx: &Cx<'_>,
    args: &BatchArguments<'_>,
    resize: Raw,
) -> Result<()> {
    let extras = BatchExtras {
        resize: Some(resize),
        ..BatchExtras::default()
    };
    batch(cx, args, extras)
}

pub fn acldvppVpcBatchCropAndPasteAsync(
    cx: &Cx<'_>,
    args: &BatchArguments<'_>,
    pastes: Option<&[u64]>,
) -> Result<()> {
    let extras = BatchExtras {
        pastes: Some(pastes),
        ..BatchExtras::default()
    };
    batch(cx, args, extras)
}

pub fn acldvppVpcBatchCropResizePasteAsync(
    cx: &Cx<'_>,
    args: &BatchArguments<'_>,
    pastes: Option<&[u64]>,
    resize: Raw,
) -> Result<()> {
    let extras = BatchExtras {
        pastes: Some(pastes),
        resize: Some(resize),
        ..BatchExtras::default()
    };
    batch(cx, args, extras)
}

pub fn acldvppVpcBatchCropResizeMakeBorderAsync(
    cx: &Cx<'_>,
    args: &BatchArguments<'_>,
    borders: Option<&[u64]>,
    resize: Raw,
) -> Result<()> {
    let extras = BatchExtras {
        borders: Some(borders),
        resize: Some(resize),
        ..BatchExtras::default()
    };
    batch(cx, args, extras)
}

/// An output without a width or height takes the input's, and strides by the alignment of the chip.
pub fn acldvppVpcConvertColorAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    output: Raw,
    stream: Raw,
) -> Result<()> {
    call(cx, channel, stream, |call| {
        let input = call.input(input, "inputDesc")?;
        let (desc, fields) = task::desc(cx, output, "outputDesc")?;
        if fields.width == 0 || fields.height == 0 {
            let format = task::format(&fields, "outputDesc")?;
            let (_, halves_height) = format.halves();
            let row = format.row_bytes(input.image.width);
            let height = input.image.height;
            let mut fields = desc.fields.lock();
            fields.width = input.image.width as u32;
            fields.height = height as u32;
            fields.width_stride =
                row.next_multiple_of(call.rules.family.stride_alignment(format)) as u32;
            fields.height_stride = match halves_height || call.rules.family == Family::First {
                true => height.next_multiple_of(2),
                false => height,
            } as u32;
        }
        let output = call.output(output, "outputDesc")?;
        plan::check_same_size(&input.image, &output.image)?;
        let job = call
            .rules
            .job(&input, &output, input.image.rect(), output.image.rect())?;
        call.queue(vec![(job, input, output)])
    })
}
