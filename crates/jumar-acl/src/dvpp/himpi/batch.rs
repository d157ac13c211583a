//! Image processing of several images by one task.

use jumar_types::{Error, Result};

use super::super::argument;
use super::super::plan::Piece;
use super::super::task::Operand;
use super::vpc::{Call, MOST_REGIONS};
use crate::Cx;
use crate::error::null;
use crate::generated::types;

/// The arrays of a batch form.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a, T> {
    /// The images that are read.
    pub sources: Option<&'a [Option<&'a types::hi_vpc_pic_info>]>,
    /// How many regions are cut from each of them.
    pub counts: Option<&'a [u32]>,
    /// The regions, image by image: as many as the counts add up to.
    pub regions: Option<&'a [T]>,
}

/// Checks the number of images of a batch form.
///
/// # Errors
/// `InvalidArgument`: it is 0, or exceeds the size of a batch.
pub fn check_image_count(count: usize) -> Result<()> {
    if count == 0 || count > MOST_REGIONS {
        return Err(argument(format!(
            "pic_num is {count}; it must be 1 to {MOST_REGIONS}"
        )));
    }
    Ok(())
}

/// Returns the sum of the counts, which is the number of regions.
///
/// # Errors
/// `InvalidArgument`: the sum is 0, or exceeds the size of a batch; `NullPointer`: there are no counts.
pub fn region_sum(counts: Option<&[u32]>) -> Result<usize> {
    let counts = counts.ok_or_else(|| null("count"))?;
    let sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    if sum == 0 || sum > MOST_REGIONS as u64 {
        return Err(argument(format!(
            "the elements of count add up to {sum}; the sum must be 1 to {MOST_REGIONS}"
        )));
    }
    Ok(sum as usize)
}

/// Queues one task with a piece for each region of each image.
fn each<T>(
    cx: &Cx<'_>,
    number: i32,
    batch: &Batch<'_, T>,
    milliseconds: i32,
    plan_piece: impl Fn(&Call, &Operand, &T) -> Result<Piece>,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    let sources = batch.sources.ok_or_else(|| null("source_pic"))?;
    let counts = batch.counts.ok_or_else(|| null("count"))?;
    check_image_count(sources.len())?;
    let sum = region_sum(batch.counts)?;
    let mut regions = batch.regions.ok_or_else(|| null("the array of regions"))?;
    let mut pieces = Vec::with_capacity(sum);
    for (index, (source, count)) in sources.iter().zip(counts).enumerate() {
        let in_image = |error: Error| match source {
            None => error,
            Some(_) => argument(format!("image {index}: {}", error.sentence())),
        };
        if *count == 0 {
            continue;
        }
        let input = call.input(*source).map_err(in_image)?;
        let own = regions
            .split_off(..*count as usize)
            .ok_or_else(|| argument("count states more regions than the array has"))?;
        for region in own {
            let at = pieces.len();
            let piece = plan_piece(&call, &input, region);
            pieces.push(
                piece.map_err(|error: Error| {
                    argument(format!("region {at}: {}", error.sentence()))
                })?,
            );
        }
    }
    call.queue(cx, pieces, milliseconds)
}

pub fn hi_mpi_vpc_batch_crop_resize_paste(
    cx: &Cx<'_>,
    number: i32,
    batch: &Batch<'_, types::hi_vpc_crop_resize_paste_region>,
    milliseconds: i32,
) -> Result<u32> {
    each(cx, number, batch, milliseconds, Call::pasted)
}

pub fn hi_mpi_vpc_batch_crop_resize_make_border(
    cx: &Cx<'_>,
    number: i32,
    batch: &Batch<'_, types::hi_vpc_crop_resize_border_region>,
    milliseconds: i32,
) -> Result<u32> {
    each(cx, number, batch, milliseconds, Call::surrounded)
}
