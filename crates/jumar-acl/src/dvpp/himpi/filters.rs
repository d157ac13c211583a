//! Rotation and pyramids.

use jumar_dvpp::vpc::{BorderKind, Rotation, Smoothing, pyramid_down, rotate};
use jumar_types::Result;

use super::super::statistics::check_pyramid;
use super::super::task::{Accesses, Operand, check_disjoint};
use super::super::{argument, refused};
use super::vpc::{Call, border_values};
use crate::Cx;
use crate::error::null;
use crate::generated::types;

/// The angle is that of a rotation clockwise.
pub fn hi_mpi_vpc_rotate(
    cx: &Cx<'_>,
    number: i32,
    parameters: Option<&types::hi_rotate_param>,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    let parameters = parameters.ok_or_else(|| null("rotate_param"))?;
    let rotation = Rotation::from_number(parameters.angle).map_err(|error| refused(&error))?;
    let input = call.input(Some(&parameters.src))?;
    let output = call.output(&parameters.dst, "dst")?;
    check_disjoint(&input, &output)?;
    rotate(&input.image, &output.image, rotation, None).map_err(|error| refused(&error))?;
    let accesses = Accesses {
        reads: vec![input.memory.0],
        writes: vec![output.memory.0],
    };
    call.channel.queue(cx, milliseconds, &accesses, move || {
        let memory = &output.memory;
        rotate(
            &input.image,
            &output.image,
            rotation,
            Some((&input.memory, memory, memory)),
        )
    })
}

/// The maximum number of levels of a pyramid.
const MOST_LEVELS: u32 = 4;

/// Checks the number of levels of a pyramid.
///
/// # Errors
/// `InvalidArgument`.
pub fn check_levels(levels: u32) -> Result<()> {
    if !(1..=MOST_LEVELS).contains(&levels) {
        return Err(argument(format!(
            "filter_level is {levels}; it must be 1 to {MOST_LEVELS}"
        )));
    }
    Ok(())
}

/// What a pyramid is made of, and how it smooths.
#[derive(Clone, Copy, Debug)]
pub struct Pyramid<'a> {
    /// The image that is read.
    pub source: Option<&'a types::hi_vpc_pic_info>,
    /// The images that are written, each half as large as the one before.
    pub targets: Option<&'a [types::hi_vpc_pic_info]>,
    /// The weights, row by row; none are those of a Gaussian filter.
    pub kernel: Option<[[i8; 5]; 5]>,
    /// What the weighted sum is divided by.
    pub divisor: u16,
    /// What lies beyond the edges. Its widths are not read: the filter needs two samples.
    pub border: types::hi_vpc_make_border_info,
}

pub fn hi_mpi_vpc_pyrdown(
    cx: &Cx<'_>,
    number: i32,
    pyramid: &Pyramid<'_>,
    milliseconds: i32,
) -> Result<u32> {
    let call = Call::new(cx, number)?;
    let usual = Smoothing::default();
    let border = &pyramid.border;
    let smoothing = Smoothing {
        kernel: pyramid.kernel.unwrap_or(usual.kernel),
        divisor: pyramid.divisor,
        kind: BorderKind::from_number(border.border_type).map_err(|error| refused(&error))?,
        value: border_values(&border.scalar_value)[0],
    };
    let mut images = vec![call.input(pyramid.source)?];
    let targets = pyramid.targets.ok_or_else(|| null("dest_pic"))?;
    for (index, target) in targets.iter().enumerate() {
        let level = |error: jumar_types::Error| {
            argument(format!("dest_pic[{index}]: {}", error.sentence()))
        };
        let input = &images[index];
        let name = match index {
            0 => "source_pic".to_owned(),
            _ => format!("dest_pic[{}]", index - 1),
        };
        check_pyramid(&input.image, &name)?;
        let output = call.output(target, "the image").map_err(level)?;
        for other in &images {
            check_disjoint(other, &output).map_err(level)?;
        }
        pyramid_down(&input.image, &output.image, &smoothing, None)
            .map_err(|error| level(refused(&error)))?;
        images.push(output);
    }
    let memory = |image: &Operand| image.memory.0;
    let accesses = Accesses {
        // Each level reads what the one before has written.
        reads: images[..1].iter().map(memory).collect(),
        writes: images[1..].iter().map(memory).collect(),
    };
    call.channel.queue(cx, milliseconds, &accesses, move || {
        for pair in images.windows(2) {
            let [input, output] = pair else { continue };
            let memory = &output.memory;
            let memory = Some((&input.memory as _, memory as _, memory as _));
            pyramid_down(&input.image, &output.image, &smoothing, memory)?;
        }
        Ok(())
    })
}
