//! Plans of image processing, which both interfaces make alike: what is checked before the work is queued, and the work.

use jumar_dvpp::limits::{self, Family};
use jumar_dvpp::vpc::{Job, Matrix};
use jumar_dvpp::{Image, ImageError, Rect};
use jumar_types::Result;

use super::task::{Accesses, Done, Operand, check_disjoint};
use super::{argument, refused};

/// The rules that a call works by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The family of the chip.
    pub(super) family: Family,
    /// The matrix between YUV and RGB.
    pub(super) matrix: Matrix,
}

/// A region of one image that goes to one image.
pub(super) type Piece = (Job, Operand, Operand);

impl Rules {
    /// Completes and checks the shape of an image that is read.
    ///
    /// # Errors
    /// As [`limits::check_input`].
    pub(super) fn input(self, image: Image) -> std::result::Result<Image, ImageError> {
        let image = limits::round_down(image);
        limits::check_input(&image, self.family).map(|()| image)
    }

    /// Completes and checks the shape of an image that is written.
    ///
    /// # Errors
    /// As [`limits::check_output`].
    pub(super) fn output(self, image: Image) -> std::result::Result<Image, ImageError> {
        let image = limits::round_down(image);
        limits::check_output(&image, self.family).map(|()| image)
    }

    /// Plans one region.
    ///
    /// # Errors
    /// `InvalidArgument`: the memory of both images overlaps.
    pub(super) fn job(
        self,
        input: &Operand,
        output: &Operand,
        crop: Rect,
        paste: Rect,
    ) -> Result<Job> {
        check_disjoint(input, output)?;
        let mut job = Job::new(input.image, crop, output.image, paste);
        job.matrix = self.matrix;
        job.clears_alpha = self.family.clears_alpha();
        Ok(job)
    }

    /// Checks one region and what it becomes.
    fn check(self, job: &Job) -> Result<()> {
        job.check().map_err(|error| refused(&error))?;
        let (width, height) = match &job.border {
            Some(border) => (border.left + border.right, border.top + border.bottom),
            None => (0, 0),
        };
        let inner = (job.paste.width - width, job.paste.height - height);
        limits::check_scale((job.crop.width, job.crop.height), inner, self.family)
            .map_err(|error| refused(&error))
    }

    /// Checks all regions of a task. Returns what the task reads and writes.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub(super) fn accesses(self, pieces: &[Piece]) -> Result<Accesses> {
        let mut accesses = Accesses::default();
        for (job, input, output) in pieces {
            self.check(job)?;
            accesses.reads.push(input.memory.0);
            accesses.writes.push(output.memory.0);
        }
        Ok(accesses)
    }
}

/// Runs the regions of a task. Each output reports how its own region ended; the first failure is returned.
pub(super) fn run(pieces: &[Piece]) -> Done {
    let mut first = Ok(());
    for (index, (job, input, output)) in pieces.iter().enumerate() {
        let done = job.run(&input.memory, &output.memory, &output.memory);
        output.report(&done);
        if let (true, Err(error)) = (first.is_ok(), done) {
            first = Err(ImageError::new(format!("region {index}: {error}")));
        }
    }
    first
}

/// Refuses a conversion that would change the size.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_same_size(input: &Image, output: &Image) -> Result<()> {
    if (input.width, input.height) != (output.width, output.height) {
        return Err(argument(format!(
            "the output is {}x{} and the input {}x{}; a conversion keeps the size",
            output.width, output.height, input.width, input.height
        )));
    }
    Ok(())
}
