//! Preprocessing of images inside a model (AIPP): from the bytes of an image to the numbers that a network takes.
//!
//! In this order: a part is cut out, scaled, its channels swapped, its colours converted, mean and variance applied, and a
//! border put around it.
//!
//! # Source
//!
//! The formulas of the AIPP configuration in the toolchain's documentation. It leaves open how a division by 256 is rounded
//! (here: downwards, as a shift does) and how pixels are scaled (here: bilinear, between pixel centres).

use jumar_pixels::{Colours, rows};
use jumar_types::dtype::DataType;

use crate::operator::OUTPUT_Y;
use crate::view::{F16, Row, RowMut};
use crate::{
    Aliasing, AttrDef, AttrKind, Call, InputDef, Kernel, OpError, Operator, PrepareCx, TensorType,
    Types, UNKNOWN,
};

/// The order of bytes of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelFormat {
    /// All of Y, then U and V alternating for each two by two pixels.
    Yuv420sp,
    /// Four bytes a pixel, of which the first is padding.
    Xrgb8888,
    /// Three bytes a pixel.
    Rgb888,
    /// Y alone.
    Yuv400,
}

impl PixelFormat {
    /// The number of the format in the interface (`aclAippInputFormat`).
    pub const fn number(self) -> i64 {
        match self {
            PixelFormat::Yuv420sp => 1,
            PixelFormat::Xrgb8888 => 2,
            PixelFormat::Rgb888 => 3,
            PixelFormat::Yuv400 => 4,
        }
    }

    /// Finds the format of a number.
    pub fn of(number: i64) -> Option<PixelFormat> {
        [
            PixelFormat::Yuv420sp,
            PixelFormat::Xrgb8888,
            PixelFormat::Rgb888,
            PixelFormat::Yuv400,
        ]
        .into_iter()
        .find(|format| format.number() == number)
    }

    /// Returns the dimensions of one image's bytes: rows, columns, bytes a pixel.
    pub const fn dims(self, height: usize, width: usize) -> [usize; 3] {
        match self {
            PixelFormat::Yuv420sp => [height + height / 2, width, 1],
            PixelFormat::Xrgb8888 => [height, width, 4],
            PixelFormat::Rgb888 => [height, width, 3],
            PixelFormat::Yuv400 => [height, width, 1],
        }
    }

    /// Returns the number of channels that a pixel has.
    pub const fn channels(self) -> usize {
        match self {
            PixelFormat::Yuv420sp | PixelFormat::Rgb888 => 3,
            PixelFormat::Xrgb8888 => 4,
            PixelFormat::Yuv400 => 1,
        }
    }
}

/// What happens to images on their way into a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Aipp {
    /// The order of their bytes.
    pub format: PixelFormat,
    /// Their width and height.
    ///
    /// # Units
    ///
    /// Pixels, as all sizes here.
    pub source: [usize; 2],
    /// The part that is used: left, top, width, height.
    pub crop: [usize; 4],
    /// The width and height that the part is scaled to; its own where nothing is scaled.
    pub scaled: [usize; 2],
    /// The border: left, right, top, bottom.
    pub border: [usize; 4],
    /// What the border holds.
    pub border_value: f32,
    /// Whether the first and third channel are swapped (for YUV the second and third).
    pub swap: bool,
    /// Whether the first of four channels becomes the last.
    pub rotate: bool,
    /// The conversion of colours: nine factors in 256ths, what is added afterwards, what is taken off before.
    pub colours: Option<([i32; 9], [i32; 3], [i32; 3])>,
    /// What is taken off each channel, first.
    pub mean: [f32; 4],
    /// What is taken off each channel, too.
    pub least: [f32; 4],
    /// What each channel is multiplied by then.
    pub factor: [f32; 4],
}

/// How many words an [`Aipp`] becomes.
const WORDS: usize = 46;

impl Aipp {
    /// Images that are used as they are.
    pub fn plain(format: PixelFormat, width: usize, height: usize) -> Aipp {
        Aipp {
            format,
            source: [width, height],
            crop: [0, 0, width, height],
            scaled: [width, height],
            border: [0; 4],
            border_value: 0.0,
            swap: false,
            rotate: false,
            colours: None,
            mean: [0.0; 4],
            least: [0.0; 4],
            factor: [1.0; 4],
        }
    }

    /// Returns the same for images of any size, which are used completely: `rows` and `columns` are those of their bytes.
    ///
    /// # Errors
    ///
    /// Invalid: no image of this format has so many rows, or as [`check`](Aipp::check).
    pub fn fitted(&self, rows: usize, columns: usize) -> Result<Aipp, OpError> {
        let height = match self.format {
            PixelFormat::Yuv420sp => rows / 3 * 2,
            PixelFormat::Xrgb8888 | PixelFormat::Rgb888 | PixelFormat::Yuv400 => rows,
        };
        if self.format.dims(height, columns)[0] != rows {
            return Err(OpError::invalid(format!(
                "an image of YUV420SP has three rows of bytes for two lines, and {rows} rows are given"
            )));
        }
        let fitted = Aipp {
            source: [columns, height],
            crop: [0, 0, columns, height],
            scaled: [columns, height],
            ..self.clone()
        };
        fitted.check()?;
        Ok(fitted)
    }

    /// Returns the width and height that come out.
    pub fn result(&self) -> [usize; 2] {
        [
            self.scaled[0] + self.border[0] + self.border[1],
            self.scaled[1] + self.border[2] + self.border[3],
        ]
    }

    /// Reports contradicting settings.
    ///
    /// # Errors
    ///
    /// Invalid: sizes of nothing, or beyond what an image has, and odd ones where colours are shared by two pixels.
    pub fn check(&self) -> Result<(), OpError> {
        let invalid = |text: String| Err(OpError::invalid(text));
        let ([width, height], [left, top, part_width, part_height]) = (self.source, self.crop);
        let all = [
            width,
            height,
            part_width,
            part_height,
            self.scaled[0],
            self.scaled[1],
        ];
        if all.iter().any(|&size| size == 0 || size > MOST)
            || self.border.iter().any(|&size| size > MOST)
        {
            return invalid(format!(
                "an image of {width} by {height}, a part of {part_width} by {part_height}, or a border of {:?} is none, or larger than {MOST}",
                self.border
            ));
        }
        if left + part_width > width || top + part_height > height {
            return invalid(format!(
                "the part of {part_width} by {part_height} at {left}, {top} is not inside the image of {width} by {height}"
            ));
        }
        if self.format == PixelFormat::Yuv420sp && (width % 2 == 1 || height % 2 == 1) {
            return invalid(format!(
                "an image of YUV420SP has an even width and height, not {width} by {height}"
            ));
        }
        Ok(())
    }

    /// Writes this as numbers, for an attribute.
    pub fn words(&self) -> Vec<i64> {
        let size = |list: &[usize]| list.iter().map(|&one| one as i64).collect::<Vec<_>>();
        let float = |list: &[f32]| {
            list.iter()
                .map(|one| i64::from(one.to_bits()))
                .collect::<Vec<_>>()
        };
        let int = |list: &[i32]| list.iter().map(|&one| i64::from(one)).collect::<Vec<_>>();
        let (matrix, after, before) = self.colours.unwrap_or_default();
        [
            vec![self.format.number()],
            size(&self.source),
            size(&self.crop),
            size(&self.scaled),
            size(&self.border),
            float(&[self.border_value]),
            vec![
                i64::from(self.swap),
                i64::from(self.rotate),
                i64::from(self.colours.is_some()),
            ],
            int(&matrix),
            int(&after),
            int(&before),
            float(&self.mean),
            float(&self.least),
            float(&self.factor),
            vec![0; 2],
        ]
        .concat()
    }

    /// Reads what [`words`](Aipp::words) wrote, and checks it.
    ///
    /// # Errors
    ///
    /// Invalid: numbers that mean nothing.
    pub fn from_words(words: &[i64]) -> Result<Aipp, OpError> {
        let wrong = || OpError::invalid("the description of the preprocessing cannot be read");
        if words.len() != WORDS {
            return Err(wrong());
        }
        let mut rest = words.iter().copied();
        let mut next = || rest.next().ok_or_else(wrong);
        fn list<T: Copy + Default, const N: usize>(
            next: &mut dyn FnMut() -> Result<i64, OpError>,
            read: impl Fn(i64) -> Option<T>,
        ) -> Result<[T; N], OpError> {
            let mut values = [T::default(); N];
            for value in &mut values {
                *value = read(next()?).ok_or_else(|| {
                    OpError::invalid("a number of the preprocessing means nothing")
                })?;
            }
            Ok(values)
        }
        let size = |value: i64| usize::try_from(value).ok().filter(|&size| size <= MOST);
        let float = |value: i64| u32::try_from(value).ok().map(f32::from_bits);
        let flag = |value: i64| Some(value != 0);
        let int = |value: i64| {
            i32::try_from(value)
                .ok()
                .filter(|value| value.abs() <= 1 << 20)
        };
        let format = PixelFormat::of(next()?).ok_or_else(wrong)?;
        let next = &mut next;
        let mut aipp = Aipp {
            format,
            source: list(next, size)?,
            crop: list(next, size)?,
            scaled: list(next, size)?,
            border: list(next, size)?,
            border_value: list::<_, 1>(next, float)?[0],
            swap: false,
            rotate: false,
            colours: None,
            mean: [0.0; 4],
            least: [0.0; 4],
            factor: [0.0; 4],
        };
        let flags: [bool; 3] = list(next, flag)?;
        (aipp.swap, aipp.rotate) = (flags[0], flags[1]);
        let colours = (list(next, int)?, list(next, int)?, list(next, int)?);
        aipp.colours = flags[2].then_some(colours);
        aipp.mean = list(next, float)?;
        aipp.least = list(next, float)?;
        aipp.factor = list(next, float)?;
        aipp.check()?;
        Ok(aipp)
    }

    /// Writes the settings of several images, as [`DYNAMIC_AIPP`] reads them while a model runs: what is read as this, how many
    /// there are, and the words of each.
    pub fn block(images: &[Aipp]) -> Vec<u8> {
        let head = [BLOCK, images.len() as i64];
        head.into_iter()
            .chain(images.iter().flat_map(Aipp::words))
            .flat_map(i64::to_le_bytes)
            .collect()
    }

    /// Returns the length of such a block.
    ///
    /// # Units
    ///
    /// Bytes.
    pub const fn block_bytes(images: usize) -> usize {
        (2 + WORDS * images) * size_of::<i64>()
    }

    /// Reads the settings of the first `wanted` images of a block.
    ///
    /// # Errors
    ///
    /// Data: no settings were written there, or not for as many images, or they are invalid.
    fn from_block(block: &Row<'_, u8>, wanted: usize) -> Result<Vec<Aipp>, OpError> {
        let word = |index: usize| -> i64 {
            let bytes = std::array::from_fn(|byte| block.get(index * size_of::<i64>() + byte));
            i64::from_le_bytes(bytes)
        };
        if block.len() < Aipp::block_bytes(wanted) || word(0) != BLOCK {
            return Err(OpError::data(
                "nothing says yet how the images are to be preprocessed",
            ));
        }
        if usize::try_from(word(1)).is_ok_and(|count| count >= wanted) {
            (0..wanted)
                .map(|image| {
                    let words: Vec<i64> =
                        (0..WORDS).map(|at| word(2 + image * WORDS + at)).collect();
                    Aipp::from_words(&words).map_err(|error| OpError::data(error.text()))
                })
                .collect()
        } else {
            Err(OpError::data(format!(
                "the settings are for {} images, and there are {wanted}",
                word(1)
            )))
        }
    }

    /// Writes one image where `position` says for each channel, line and column.
    fn convert(
        &self,
        image: &Row<'_, u8>,
        channels: usize,
        into: &Into<'_>,
        position: impl Fn(usize, usize, usize) -> usize,
    ) {
        let [width, height] = self.result();
        let [left, _, top, _] = self.border;
        let mut lines = Lines::new(self);
        for y in 0..height {
            let line = y.checked_sub(top).filter(|line| *line < self.scaled[1]);
            if let Some(line) = line {
                lines.load(self, image, line);
            }
            for channel in 0..channels {
                let taken = self.mean[channel];
                let (least, factor) = (self.least[channel], self.factor[channel]);
                let samples = &lines.result[channel];
                for x in 0..width {
                    let sample = line.and(x.checked_sub(left)).and_then(|x| samples.get(x));
                    let value = sample.map_or(self.border_value, |sample| {
                        (f32::from(*sample) - taken - least) * factor
                    });
                    into.set(position(channel, y, x), value);
                }
            }
        }
    }

    /// Reads a line of the part that is used, a row for each channel as the format has them, channels swapped.
    fn read(&self, image: &Row<'_, u8>, y: usize, bytes: &mut [u8], channels: &mut [Vec<u8>; 4]) {
        let ([width, height], [left, _, columns, _]) = (self.source, self.crop);
        let pixel = y * width + left;
        match self.format {
            PixelFormat::Yuv420sp => {
                image
                    .slice(pixel, columns)
                    .load(&mut channels[0], |byte| byte);
                // The pairs of U and V that belong to the columns; each is of two columns.
                let pairs = (left + columns).div_ceil(2) - left / 2;
                let start = width * height + y / 2 * width + left / 2 * 2;
                let line = &mut bytes[..pairs * 2];
                image.slice(start, pairs * 2).load(line, |byte| byte);
                let mut chroma = [vec![0; pairs], vec![0; pairs]];
                let [u, v] = &mut chroma;
                rows::separate(line, u, v);
                for (samples, channel) in chroma.iter().zip(&mut channels[1..3]) {
                    rows::repeat(samples, left % 2 == 1, channel);
                }
            }
            PixelFormat::Xrgb8888 | PixelFormat::Rgb888 => {
                let count = self.format.channels();
                let line = &mut bytes[..columns * count];
                image
                    .slice(pixel * count, columns * count)
                    .load(line, |byte| byte);
                for (index, channel) in channels.iter_mut().enumerate().take(count) {
                    rows::gather(line, count, index, channel);
                }
            }
            PixelFormat::Yuv400 => image
                .slice(pixel, columns)
                .load(&mut channels[0], |byte| byte),
        }
        if self.rotate && self.format == PixelFormat::Xrgb8888 {
            channels.rotate_left(1);
        }
        if self.swap {
            match self.format {
                PixelFormat::Yuv420sp => channels.swap(1, 2),
                PixelFormat::Xrgb8888 if !self.rotate => channels.swap(1, 3),
                PixelFormat::Xrgb8888 | PixelFormat::Rgb888 => channels.swap(0, 2),
                PixelFormat::Yuv400 => {}
            }
        }
    }
}

/// A sample between two others: their positions, and how far it lies behind the first.
type Tap = (usize, usize, f32);

/// Returns where the samples of a scaled axis lie.
///
/// The image processing of DVPP (`vpc/resize.rs` in jumar-dvpp) computes other values: it scales each plane by itself, with weights of 11
/// bits as OpenCV does. Here the channels of a pixel, chroma already repeated, are scaled together and rounded once.
fn taps(from: usize, to: usize) -> Vec<Tap> {
    let tap = |at: usize| {
        let centre =
            ((at as f64 + 0.5) * from as f64 / to as f64 - 0.5).clamp(0.0, (from - 1) as f64);
        let first = centre.floor() as usize;
        (
            first,
            (first + 1).min(from - 1),
            (centre - first as f64) as f32,
        )
    };
    (0..to).map(tap).collect()
}

/// What an image is converted with, line by line.
struct Lines {
    /// The bytes of a line.
    bytes: Vec<u8>,
    /// The channels of two lines of the part, and of the line that comes out.
    upper: [Vec<u8>; 4],
    lower: [Vec<u8>; 4],
    result: [Vec<u8>; 4],
    /// Where scaled samples lie along both axes, if the part is scaled.
    taps: Option<[Vec<Tap>; 2]>,
    colours: Option<Colours>,
}

impl Lines {
    fn new(aipp: &Aipp) -> Lines {
        let [_, _, columns, lines] = aipp.crop;
        let channels = |width: usize| [0; 4].map(|value| vec![value; width]);
        let is_scaled = aipp.scaled != [columns, lines];
        Lines {
            bytes: vec![0; (columns + 2) * aipp.format.channels()],
            upper: channels(columns),
            lower: channels(columns),
            result: channels(aipp.scaled[0]),
            taps: is_scaled.then(|| [taps(columns, aipp.scaled[0]), taps(lines, aipp.scaled[1])]),
            colours: aipp.colours.map(|(matrix, after, before)| {
                // Sums are rounded down: a division by 256, as the configuration states it. DVPP rounds to the nearest value.
                let factors = [0, 3, 6].map(|row| [matrix[row], matrix[row + 1], matrix[row + 2]]);
                Colours::new(factors, before, after.map(|value| i64::from(value) << 8), 8)
            }),
        }
    }

    /// Computes a line of the scaled part, with its colours converted.
    fn load(&mut self, aipp: &Aipp, image: &Row<'_, u8>, line: usize) {
        let top = aipp.crop[1];
        // The conversion of the line before may have written channels that the format does not have.
        for missing in &mut self.result[aipp.format.channels()..] {
            missing.fill(0);
        }
        match &self.taps {
            None => aipp.read(image, top + line, &mut self.bytes, &mut self.result),
            Some([along, down]) => {
                let (first, second, part) = down[line];
                aipp.read(image, top + first, &mut self.bytes, &mut self.upper);
                aipp.read(image, top + second, &mut self.bytes, &mut self.lower);
                for channel in 0..aipp.format.channels() {
                    let (upper, lower) = (&self.upper[channel], &self.lower[channel]);
                    for (to, (x0, x1, along)) in self.result[channel].iter_mut().zip(along) {
                        let between = |line: &[u8]| {
                            let [a, b] = [line[*x0], line[*x1]].map(f32::from);
                            a + (b - a) * along
                        };
                        let (upper, lower) = (between(upper), between(lower));
                        *to = (upper + (lower - upper) * part).round_ties_even() as u8;
                    }
                }
            }
        }
        if let Some(colours) = &self.colours {
            let [a, b, c, _] = &self.result;
            let from = [a, b, c].map(Vec::clone);
            let [a, b, c, _] = &mut self.result;
            colours.convert([&from[0], &from[1], &from[2]], [a, b, c]);
        }
    }
}

/// The longest side of an image.
const MOST: usize = 8192;

/// What a block of settings begins with.
const BLOCK: i64 = i64::from_le_bytes(*b"JUMARPIX");

/// The operator's name.
pub const AIPP: &str = "jumar.Aipp";

/// The name of the operator whose settings are an input of its own.
pub const DYNAMIC_AIPP: &str = "jumar.DynamicAipp";

pub(super) static OPERATORS: &[&Operator] = &[&STATIC, &DYNAMIC];

static DYNAMIC: Operator = Operator {
    name: DYNAMIC_AIPP,
    onnx: &[],
    inputs: &[
        InputDef::required("images", Types::of(&[DataType::UInt8])),
        InputDef::required("settings", Types::of(&[DataType::UInt8])),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::int("channels", 3),
        AttrDef::int("height", 0),
        AttrDef::int("width", 0),
        AttrDef::dtype("dtype", DataType::Float32),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let size = |name: &str, most: usize| -> Result<i64, OpError> {
            let size = cx.attrs().int(name)?;
            if (1..=most as i64).contains(&size) {
                return Ok(size);
            }
            Err(OpError::invalid(format!(
                "{name} is {size}; it must be 1 to {most}"
            )))
        };
        let (images, settings) = (cx.input(0)?, cx.input(1)?);
        if images.rank() != Some(2) || settings.rank() != Some(1) {
            return Err(OpError::invalid(format!(
                "images are a row of bytes each and settings one row, and {images} and {settings} are given"
            )));
        }
        let dtype = cx.attrs().dtype("dtype")?;
        if !matches!(
            dtype,
            DataType::Float32 | DataType::Float16 | DataType::UInt8
        ) {
            return Err(OpError::unsupported(format!(
                "images cannot become {dtype}"
            )));
        }
        let shape = [
            images.shape[0],
            size("channels", 4)?,
            size("height", 2 * MOST)?,
            size("width", 2 * MOST)?,
        ];
        Ok(vec![TensorType::new(dtype, shape)])
    },
    prepare: |cx: &PrepareCx<'_>| {
        Ok(Box::new(DynamicPreprocess {
            channels: cx.attrs().int("channels")? as usize,
            result: [
                cx.attrs().int("width")? as usize,
                cx.attrs().int("height")? as usize,
            ],
            dtype: cx.output_dtype(0)?,
            count: cx.shape(0)?[0],
        }))
    },
};

static STATIC: Operator = Operator {
    name: AIPP,
    onnx: &[],
    inputs: &[InputDef::required("images", Types::of(&[DataType::UInt8]))],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("config", AttrKind::Ints),
        AttrDef::int("channels", 3),
        AttrDef::bool("channels_last", false),
        AttrDef::dtype("dtype", DataType::Float32),
        // The sizes of the configuration mean nothing: images of any size are used completely.
        AttrDef::bool("any_size", false),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let mut aipp = Aipp::from_words(cx.attrs().ints("config")?)?;
        let any_size = cx.attrs().bool("any_size")?;
        let mut open = false;
        if any_size && let [_, rows, columns, _] = cx.input(0)?.shape[..] {
            match (usize::try_from(rows), usize::try_from(columns)) {
                (Ok(rows), Ok(columns)) => aipp = aipp.fitted(rows, columns)?,
                _ => open = true,
            }
        }
        let channels = cx.attrs().int("channels")?;
        if !(1..=aipp.format.channels() as i64).contains(&channels) {
            return Err(OpError::invalid(format!(
                "{channels} channels are wanted of images of {}",
                aipp.format.channels()
            )));
        }
        let input = cx.input(0)?;
        let own = aipp
            .format
            .dims(aipp.source[1], aipp.source[0])
            .map(|dim| dim as i64);
        let fits = input.rank() == Some(4)
            && if open {
                input.shape[3] == own[2]
            } else {
                input.shape[1..] == own
            };
        if !fits {
            return Err(OpError::invalid(format!(
                "images of {own:?} are described, and {input} is given"
            )));
        }
        let dtype = cx.attrs().dtype("dtype")?;
        if !matches!(
            dtype,
            DataType::Float32 | DataType::Float16 | DataType::UInt8
        ) {
            return Err(OpError::unsupported(format!(
                "images cannot become {dtype}"
            )));
        }
        let [width, height] = match open {
            true => [UNKNOWN; 2],
            false => aipp.result().map(|size| size as i64),
        };
        let shape = if cx.attrs().bool("channels_last")? {
            vec![input.shape[0], height, width, channels]
        } else {
            vec![input.shape[0], channels, height, width]
        };
        Ok(vec![TensorType::new(dtype, shape)])
    },
    prepare: |cx: &PrepareCx<'_>| {
        let described = Aipp::from_words(cx.attrs().ints("config")?)?;
        let shape = cx.shape(0)?;
        Ok(Box::new(Preprocess {
            aipp: match cx.attrs().bool("any_size")? {
                true => described.fitted(shape[1], shape[2])?,
                false => described,
            },
            channels: cx.attrs().int("channels")? as usize,
            channels_last: cx.attrs().bool("channels_last")?,
            dtype: cx.output_dtype(0)?,
            count: cx.shape(0)?[0],
        }))
    },
};

struct Preprocess {
    aipp: Aipp,
    channels: usize,
    channels_last: bool,
    dtype: DataType,
    count: usize,
}

enum Into<'a> {
    Float(RowMut<'a, f32>),
    Half(RowMut<'a, F16>),
    Byte(RowMut<'a, u8>),
}

impl<'a> Into<'a> {
    fn of(call: &Call<'a>, dtype: DataType) -> Result<Into<'a>, OpError> {
        Ok(match dtype {
            DataType::Float16 => Into::Half(call.output(0)?.flat()),
            DataType::UInt8 => Into::Byte(call.output(0)?.flat()),
            _ => Into::Float(call.output(0)?.flat()),
        })
    }

    fn set(&self, at: usize, value: f32) {
        match self {
            Into::Float(row) => row.set(at, value),
            Into::Half(row) => row.set(at, F16::from_f64(f64::from(value))),
            Into::Byte(row) => row.set(at, value.clamp(0.0, 255.0) as u8),
        }
    }
}

impl Kernel for Preprocess {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (aipp, channels) = (&self.aipp, self.channels);
        let images = call.input::<u8>(0)?.flat();
        let into = Into::of(call, self.dtype)?;
        let [rows, columns, depth] = aipp.format.dims(aipp.source[1], aipp.source[0]);
        let bytes = rows * columns * depth;
        let [width, height] = aipp.result();
        for index in 0..self.count {
            let image = images.slice(index * bytes, bytes);
            if self.channels_last {
                aipp.convert(&image, channels, &into, |channel, y, x| {
                    ((index * height + y) * width + x) * channels + channel
                });
            } else {
                aipp.convert(&image, channels, &into, |channel, y, x| {
                    ((index * channels + channel) * height + y) * width + x
                });
            }
        }
        Ok(())
    }
}

/// Preprocessing whose settings come with the images.
struct DynamicPreprocess {
    channels: usize,
    result: [usize; 2],
    dtype: DataType,
    count: usize,
}

impl Kernel for DynamicPreprocess {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        // Images may be smaller than the largest of the input, and so may the caller's buffer.
        let there = call.bytes_there(0)?;
        let images = call.input_bytes(0, &there)?.flat();
        let settings = Aipp::from_block(&call.input::<u8>(1)?.flat(), self.count)?;
        let into = Into::of(call, self.dtype)?;
        let [width, height] = self.result;
        let mut start = 0_usize;
        for (index, aipp) in settings.iter().enumerate() {
            let [rows, columns, depth] = aipp.format.dims(aipp.source[1], aipp.source[0]);
            let bytes = rows * columns * depth;
            if aipp.result() != self.result || aipp.format.channels() < self.channels {
                return Err(OpError::data(format!(
                    "the settings make images of {:?} with {} channels, and {:?} with {} are wanted",
                    aipp.result(),
                    aipp.format.channels(),
                    self.result,
                    self.channels
                )));
            }
            if images.len() - start < bytes {
                return Err(OpError::buffer(format!(
                    "image {index} has {bytes} bytes from {start} on, and the buffer ends after {}",
                    images.len()
                )));
            }
            aipp.convert(
                &images.slice(start, bytes),
                self.channels,
                &into,
                |channel, y, x| ((index * self.channels + channel) * height + y) * width + x,
            );
            start += bytes;
        }
        Ok(())
    }
}
