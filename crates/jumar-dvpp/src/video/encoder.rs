//! Encoding of H.264 by the library OpenH264, and of H.265.
//!
//! The stream has no B slices: each frame is coded when it comes. Parameter sets precede each key frame.

use super::allowance::Allowance;
use super::hevc::Hevc;
use super::openh264::Library;
use crate::error::refuse;
use crate::format::Format;
use crate::image::Image;
use crate::memory::Source;
use crate::planar::{PlanarImage, Samples};
use crate::{Result, Scratch};

/// A profile of H.264 or H.265.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Constrained baseline: variable-length codes.
    Baseline,
    /// Main: arithmetic coding.
    Main,
    /// High: as main; the library codes no transforms of 8x8.
    High,
    /// Main of H.265: each frame by itself.
    H265Main,
}

/// What an encoder is created for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncoderSettings {
    /// The profile.
    pub profile: Profile,
    /// The columns of each frame.
    pub width: usize,
    /// The rows of each frame.
    pub height: usize,
    /// The frames from a key frame to the next one.
    pub key_interval: u32,
    /// Frames a second.
    pub frame_rate: u32,
    /// Bits a second.
    pub bit_rate: u32,
}

impl EncoderSettings {
    /// Copies a frame out of memory, to buffers of `scratch`.
    ///
    /// # Errors
    /// The image has another size than the settings, or is not YUV 4:2:0; the memory is smaller than the image.
    pub fn load(
        &self,
        image: &Image,
        from: &dyn Source,
        scratch: &mut Scratch,
    ) -> Result<CopiedFrame> {
        if !matches!(image.format, Format::Nv12 | Format::Nv21) {
            refuse!("{} cannot be encoded", image.format.name());
        }
        let (width, height) = (self.width, self.height);
        if (image.width, image.height) != (width, height) {
            refuse!(
                "the frame has {}x{} pixels, and the encoder was created for {width}x{height}",
                image.width,
                image.height
            );
        }
        image.check_memory(from.bytes())?;
        Ok(CopiedFrame(PlanarImage::load_from(0, image, from, scratch)))
    }
}

/// A coded frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The coded frame in Annex B, with parameter sets in front of a key frame.
    pub data: Vec<u8>,
    /// Decoding can begin with this frame.
    pub is_key: bool,
}

enum Engine {
    H264(H264),
    H265(Hevc),
}

/// The library, which does not code a frame that becomes larger than its samples: noise with a high bit rate.
struct H264 {
    settings: EncoderSettings,
    library: Library,
    /// The smallest quantizer of the library.
    quantizer: u8,
    /// The frames that the library has coded.
    coded: u32,
    /// The next key frame would have the number of the one just before it.
    repeats_number: bool,
    /// The quantizers are larger than they need to be for most frames.
    is_coarse: bool,
    /// The frames since the last key frame, with it.
    since_key: u32,
    allowance: Allowance,
}

impl H264 {
    fn new(settings: &EncoderSettings) -> Result<H264> {
        let allowance = Allowance::new(settings);
        let quantizer = allowance.quantizer();
        let allowed = allowance.apply(settings);
        Ok(H264 {
            settings: *settings,
            library: Library::new(&allowed, level(settings), quantizer)?,
            quantizer,
            coded: 0,
            repeats_number: false,
            is_coarse: false,
            since_key: 0,
            allowance,
        })
    }

    /// Replaces the library by one that begins with a key frame, and with quantizers of at least `least`.
    fn replace_library(&mut self, least: u8) -> Result<()> {
        self.quantizer = self.allowance.quantizer().max(least);
        let allowed = self.allowance.apply(&self.settings);
        self.library = Library::new(&allowed, level(&self.settings), self.quantizer)?;
        // A library counts key frames from the same number on, and two in a row must not have the same one.
        self.repeats_number |= self.since_key == 1 && self.coded == 1;
        self.coded = 0;
        Ok(())
    }

    fn encode(&mut self, planes: [&Samples; 3], is_key: bool) -> Result<Packet> {
        let starts = is_key || self.since_key >= self.settings.key_interval;
        if starts {
            let changes = self.allowance.adapt();
            if self.is_coarse || self.quantizer != self.allowance.quantizer() {
                self.replace_library(0)?;
                self.is_coarse = false;
            } else if changes {
                self.library
                    .set_bit_rate(&self.allowance.apply(&self.settings))?;
            }
        }
        let mut coded = self.code(planes, is_key);
        // A library that has failed is replaced by one that begins with a key frame.
        for least in [24, 36, 48] {
            if coded.is_ok() {
                break;
            }
            self.replace_library(least)?;
            self.is_coarse = true;
            coded = self.code(planes, false);
        }
        let packet = coded?;
        self.coded += 1;
        self.repeats_number = false;
        self.allowance.spend(packet.data.len());
        if packet.is_key {
            self.since_key = 0;
        }
        self.since_key += 1;
        Ok(packet)
    }

    fn code(&mut self, planes: [&Samples; 3], is_key: bool) -> Result<Packet> {
        if self.repeats_number {
            // This one takes the number, and no decoder sees it.
            self.library.encode(planes, true)?;
        }
        self.library.encode(planes, is_key || self.repeats_number)
    }
}

/// An encoder of a stream.
pub struct Encoder {
    engine: Engine,
    settings: EncoderSettings,
}

impl Encoder {
    /// Creates an encoder.
    ///
    /// # Errors
    /// A setting is out of range.
    pub fn new(settings: EncoderSettings) -> Result<Encoder> {
        let EncoderSettings { width, height, .. } = settings;
        if width == 0 || height == 0 || !width.is_multiple_of(2) || !height.is_multiple_of(2) {
            refuse!("the size is {width}x{height}; width and height must be even");
        }
        if settings.key_interval == 0 || settings.frame_rate == 0 || settings.bit_rate == 0 {
            refuse!("the key frame interval, the frame rate and the bit rate must not be 0");
        }
        let engine = match settings.profile {
            Profile::H265Main => Engine::H265(Hevc::new(&settings)),
            _ => Engine::H264(H264::new(&settings)?),
        };
        Ok(Encoder { engine, settings })
    }

    /// Codes a frame; `is_key` makes it a key frame, from which the interval counts again.
    ///
    /// # Errors
    /// As [`EncoderSettings::load`] and [`Encoder::encode_loaded`].
    pub fn encode(&mut self, image: &Image, from: &dyn Source, is_key: bool) -> Result<Packet> {
        let frame = self.settings.load(image, from, &mut Scratch::default())?;
        self.encode_loaded(&frame, is_key)
    }

    /// As [`Encoder::encode`], of a frame that was copied before.
    ///
    /// # Errors
    /// The library refuses the frame.
    pub fn encode_loaded(&mut self, frame: &CopiedFrame, is_key: bool) -> Result<Packet> {
        let planes = &frame.0.planes;
        let [y, u, v] = &planes[..] else {
            refuse!("the frame has {} planes", planes.len());
        };
        match &mut self.engine {
            Engine::H264(encoder) => encoder.encode([y, u, v], is_key),
            Engine::H265(encoder) => {
                crate::guarded(
                    "the H.265 encoder",
                    || Ok(encoder.encode([y, u, v], is_key)),
                )
            }
        }
    }
}

/// A frame that was copied out of memory.
#[derive(Debug)]
pub struct CopiedFrame(PlanarImage);

impl CopiedFrame {
    /// Returns the memory of the frame to `scratch`.
    pub fn recycle(self, scratch: &mut Scratch) {
        self.0.recycle(scratch);
    }
}

/// Returns the lowest level that the stream fits into (table A-1 of the standard).
fn level(settings: &EncoderSettings) -> u8 {
    let (wide, high) = (
        settings.width.div_ceil(16) as u64,
        settings.height.div_ceil(16) as u64,
    );
    let macroblocks = wide * high;
    let rate = macroblocks * u64::from(settings.frame_rate);
    // The level, macroblocks a second, of a frame, and thousands of bits a second.
    const LEVELS: [(u8, u64, u64, u64); 16] = [
        (10, 1485, 99, 64),
        (11, 3000, 396, 192),
        (12, 6000, 396, 384),
        (13, 11880, 396, 768),
        (20, 11880, 396, 2000),
        (21, 19800, 792, 4000),
        (22, 20250, 1620, 4000),
        (30, 40500, 1620, 10000),
        (31, 108_000, 3600, 14000),
        (32, 216_000, 5120, 20000),
        (40, 245_760, 8192, 20000),
        (41, 245_760, 8192, 50000),
        (42, 522_240, 8704, 50000),
        (50, 589_824, 22080, 135_000),
        (51, 983_040, 36864, 240_000),
        (52, 2_073_600, 36864, 240_000),
    ];
    let bits = u64::from(settings.bit_rate).div_ceil(1000);
    let fits = |&&(_, most_rate, most, most_bits): &&(u8, u64, u64, u64)| {
        // A side may have the root of eight times the frame's macroblocks.
        let sides_fit = wide * wide <= 8 * most && high * high <= 8 * most;
        rate <= most_rate && macroblocks <= most && bits <= most_bits && sides_fit
    };
    LEVELS.iter().find(fits).map_or(52, |(level, ..)| *level)
}
