//! Image processing tasks.

use std::sync::Arc;

use jumar_dvpp::limits;
use jumar_dvpp::vpc::{Border, BorderKind, Filter, make_border};
use jumar_dvpp::{Image, Rect};
use jumar_types::{Error, Result};

use super::super::images::ImageFields;
use super::super::plan::{self, Piece, Rules};
use super::super::task::{Accesses, Operand, check_disjoint, operand_of};
use super::super::{argument, refused};
use super::channel::{self, Channel};
use crate::Cx;
use crate::error::null;
use crate::generated::types;

/// The maximum number of regions of a call.
pub(super) const MOST_REGIONS: usize = 256;

/// What a call of this group works with.
pub(super) struct Call {
    pub(super) channel: Arc<Channel>,
    rules: Rules,
}

fn fields(image: &types::hi_vpc_pic_info) -> ImageFields {
    ImageFields {
        data: image.picture_address,
        size: image.picture_buffer_size,
        format: image.picture_format,
        width: image.picture_width,
        height: image.picture_height,
        width_stride: image.picture_width_stride,
        height_stride: image.picture_height_stride,
        ret_code: 0,
    }
}

impl Call {
    pub(super) fn new(cx: &Cx<'_>, number: i32) -> Result<Call> {
        let channel = channel::find(cx, number)?;
        let rules = channel.rules();
        Ok(Call { channel, rules })
    }

    pub(super) fn input(&self, image: Option<&types::hi_vpc_pic_info>) -> Result<Operand> {
        let image = image.ok_or_else(|| null("source_pic"))?;
        let adjust = |image| self.rules.input(image);
        operand_of(&self.channel.stream, &fields(image), "source_pic", adjust)
    }

    pub(super) fn output(&self, image: &types::hi_vpc_pic_info, name: &str) -> Result<Operand> {
        let adjust = |image| self.rules.output(image);
        operand_of(&self.channel.stream, &fields(image), name, adjust)
    }

    fn crop(&self, region: &types::hi_vpc_crop_region) -> Result<Rect> {
        let rect = Rect {
            left: region.left_offset as usize,
            top: region.top_offset as usize,
            width: region.crop_width as usize,
            height: region.crop_height as usize,
        };
        self.check_region(rect, "crop_region", false)?;
        Ok(rect)
    }

    fn check_region(&self, rect: Rect, name: &str, is_paste: bool) -> Result<()> {
        limits::check_region(rect, self.rules.family, is_paste)
            .map_err(|error| argument(format!("{name}: {error}")))
    }

    fn filter(&self, interpolation: u32) -> Result<Filter> {
        limits::check_filter(interpolation, self.rules.family).map_err(|error| refused(&error))
    }

    /// Plans a region that is resized and pasted into an image.
    pub(super) fn pasted(
        &self,
        input: &Operand,
        region: &types::hi_vpc_crop_resize_paste_region,
    ) -> Result<Piece> {
        let output = self.output(&region.dest_pic_info, "dest_pic_info")?;
        let crop = self.crop(&region.crop_region)?;
        let corner = (region.dest_left_offset, region.dest_top_offset);
        let paste = part(&output.image, corner, &region.resize_info);
        self.check_region(paste, "the paste region", true)?;
        let mut job = self.rules.job(input, &output, crop, paste)?;
        job.filter = self.filter(region.resize_info.interpolation)?;
        Ok((job, input.clone(), output))
    }

    /// Plans a region that is resized and surrounded by a border, which fills the rest of an image.
    pub(super) fn surrounded(
        &self,
        input: &Operand,
        region: &types::hi_vpc_crop_resize_border_region,
    ) -> Result<Piece> {
        let output = self.output(&region.dest_pic_info, "dest_pic_info")?;
        let crop = self.crop(&region.crop_region)?;
        let corner = (region.dest_left_offset, region.dest_top_offset);
        let inner = part(&output.image, corner, &region.resize_info);
        output
            .image
            .check_inside(inner)
            .map_err(|error| refused(&error))?;
        let kind = BorderKind::from_number(region.border_type).map_err(|error| refused(&error))?;
        if matches!(kind, BorderKind::Reflect | BorderKind::Reflect101) {
            return Err(argument(format!(
                "the border_type is {}; HI_BORDER_CONSTANT and HI_BORDER_REPLICATE are supported here",
                region.border_type
            )));
        }
        let outer = output.image.rect();
        let mut job = self.rules.job(input, &output, crop, outer)?;
        job.filter = self.filter(region.resize_info.interpolation)?;
        job.border = Some(Border {
            left: inner.left,
            right: outer.width - inner.left - inner.width,
            top: inner.top,
            bottom: outer.height - inner.top - inner.height,
            kind,
            values: border_values(&region.scalar_value),
        });
        Ok((job, input.clone(), output))
    }

    /// Queues regions as one task.
    pub(super) fn queue(&self, cx: &Cx<'_>, pieces: Vec<Piece>, milliseconds: i32) -> Result<u32> {
        let accesses = self.rules.accesses(&pieces)?;
        let work = move || plan::run(&pieces);
        self.channel.queue(cx, milliseconds, &accesses, work)
    }
}

/// Returns the part of an output that the resized region takes, from its left upper corner. Odd sizes are rounded down where chroma
/// has half of them, as those of images are.
fn part(output: &Image, corner: (u32, u32), resize: &types::hi_vpc_resize_info) -> Rect {
    let rounded = limits::round_down(Image {
        width: resize.resize_width as usize,
        height: resize.resize_height as usize,
        ..*output
    });
    Rect {
        left: corner.0 as usize,
        top: corner.1 as usize,
        width: rounded.width,
        height: rounded.height,
    }
}

/// Queues one task with a piece for each of `regions`.
fn each<T>(
    cx: &Cx<'_>,
    call: &Call,
    source: Option<&types::hi_vpc_pic_info>,
    regions: Option<&[T]>,
    milliseconds: i32,
    mut plan_piece: impl FnMut(&Operand, &T) -> Result<Piece>,
) -> Result<u32> {
    let input = call.input(source)?;
    let regions = regions.ok_or_else(|| null("the array of regions"))?;
    if regions.is_empty() || regions.len() > MOST_REGIONS {
        return Err(argument(format!(
            "count is {}; it must be 1 to {MOST_REGIONS}",
            regions.len()
        )));
    }
    let pieces = regions
        .iter()
        .enumerate()
        .map(|(index, region)| {
            plan_piece(&input, region)
                .map_err(|error: Error| argument(format!("region {index}: {}", error.sentence())))
        })
        .collect::<Result<Vec<Piece>>>()?;
    call.queue(cx, pieces, milliseconds)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn hi_mpi_vpc_resize(
    cx: &Cx<'_>,
    number: i32,
    source: Option<&types::hi_vpc_pic_info>,
    target: Option<&types::hi_vpc_pic_info>,
    fx: f64,
    fy: f64,
    interpolation: u32,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    let input = call.input(source)?;
    let mut target = *target.ok_or_else(|| null("dest_pic"))?;
    for (length, scale, from, name) in [
        (&mut target.picture_width, fx, input.image.width, "fx"),
        (&mut target.picture_height, fy, input.image.height, "fy"),
    ] {
        if *length == 0 {
            let scaled = (from as f64 * scale).round();
            if !(1.0..=f64::from(u32::MAX)).contains(&scaled) {
                return Err(argument(format!(
                    "{name} is {scale}, and the output states no size of its own"
                )));
            }
            *length = scaled as u32;
        }
    }
    let output = call.output(&target, "dest_pic")?;
    let (crop, paste) = (input.image.rect(), output.image.rect());
    let mut job = call.rules.job(&input, &output, crop, paste)?;
    job.filter = call.filter(interpolation)?;
    call.queue(cx, vec![(job, input, output)], milliseconds)
}

pub fn hi_mpi_vpc_crop(
    cx: &Cx<'_>,
    number: i32,
    source: Option<&types::hi_vpc_pic_info>,
    regions: Option<&[types::hi_vpc_crop_region_info]>,
    _count: u32,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    each(cx, &call, source, regions, milliseconds, |input, region| {
        let output = call.output(&region.dest_pic_info, "dest_pic_info")?;
        let crop = call.crop(&region.crop_region)?;
        let paste = output.image.rect();
        let job = call.rules.job(input, &output, crop, paste)?;
        Ok((job, input.clone(), output))
    })
}

pub fn hi_mpi_vpc_crop_resize(
    cx: &Cx<'_>,
    number: i32,
    source: Option<&types::hi_vpc_pic_info>,
    regions: Option<&[types::hi_vpc_crop_resize_region]>,
    _count: u32,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    each(cx, &call, source, regions, milliseconds, |input, region| {
        let output = call.output(&region.dest_pic_info, "dest_pic_info")?;
        let crop = call.crop(&region.crop_region)?;
        let paste = part(&output.image, (0, 0), &region.resize_info);
        let mut job = call.rules.job(input, &output, crop, paste)?;
        job.filter = call.filter(region.resize_info.interpolation)?;
        Ok((job, input.clone(), output))
    })
}

pub fn hi_mpi_vpc_crop_resize_paste(
    cx: &Cx<'_>,
    number: i32,
    source: Option<&types::hi_vpc_pic_info>,
    regions: Option<&[types::hi_vpc_crop_resize_paste_region]>,
    _count: u32,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    each(cx, &call, source, regions, milliseconds, |input, region| {
        call.pasted(input, region)
    })
}

/// Returns the value of each component for a constant border.
pub(super) fn border_values(scalar: &types::hi_vpc_scalar) -> [u8; 4] {
    scalar
        .val
        .map(|value| value.round().clamp(0.0, 255.0) as u8)
}

pub fn hi_mpi_vpc_crop_resize_make_border(
    cx: &Cx<'_>,
    number: i32,
    source: Option<&types::hi_vpc_pic_info>,
    regions: Option<&[types::hi_vpc_crop_resize_border_region]>,
    _count: u32,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    each(cx, &call, source, regions, milliseconds, |input, region| {
        call.surrounded(input, region)
    })
}

pub fn hi_mpi_vpc_convert_color(
    cx: &Cx<'_>,
    number: i32,
    source: Option<&types::hi_vpc_pic_info>,
    target: Option<&types::hi_vpc_pic_info>,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    let input = call.input(source)?;
    let output = call.output(target.ok_or_else(|| null("dest_pic"))?, "dest_pic")?;
    plan::check_same_size(&input.image, &output.image)?;
    let (crop, paste) = (input.image.rect(), output.image.rect());
    let job = call.rules.job(&input, &output, crop, paste)?;
    call.queue(cx, vec![(job, input, output)], milliseconds)
}

pub fn hi_mpi_vpc_copy_make_border(
    cx: &Cx<'_>,
    number: i32,
    source: Option<&types::hi_vpc_pic_info>,
    target: Option<&types::hi_vpc_pic_info>,
    info: types::hi_vpc_make_border_info,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    let input = call.input(source)?;
    let output = call.output(target.ok_or_else(|| null("dest_pic"))?, "dest_pic")?;
    let border = Border {
        left: info.left as usize,
        right: info.right as usize,
        top: info.top as usize,
        bottom: info.bottom as usize,
        kind: BorderKind::from_number(info.border_type).map_err(|error| refused(&error))?,
        values: border_values(&info.scalar_value),
    };
    check_disjoint(&input, &output)?;
    make_border(&input.image, &output.image, &border, None).map_err(|error| refused(&error))?;
    let accesses = Accesses {
        reads: vec![input.memory.0],
        writes: vec![output.memory.0],
    };
    call.channel.queue(cx, milliseconds, &accesses, move || {
        let memory = &output.memory;
        make_border(
            &input.image,
            &output.image,
            &border,
            Some((&input.memory, memory, memory)),
        )
    })
}
