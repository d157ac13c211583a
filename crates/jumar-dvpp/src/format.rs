//! Pixel formats: which samples an image has, and how they lie in memory.

/// What the components of an image are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// Luma alone.
    Gray,
    /// Luma, blue and red difference, in this order.
    Yuv,
    /// Red, green, blue, in this order.
    Rgb,
    /// Red, green, blue, alpha, in this order.
    Rgba,
}

impl Color {
    /// Returns the number of components.
    pub fn components(self) -> usize {
        match self {
            Color::Gray => 1,
            Color::Yuv | Color::Rgb => 3,
            Color::Rgba => 4,
        }
    }
}

/// A plane in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// The component of each interleaved sample.
    pub components: &'static [u8],
    /// Two pixels side by side share a sample.
    pub halves_width: bool,
    /// Two rows share a row of samples.
    pub halves_height: bool,
    /// Halves of the width stride that a row takes.
    half_strides: usize,
}

/// How the samples lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Planes, one behind the other, of interleaved components.
    Planes(&'static [Plane]),
    /// One plane, four bytes for two pixels: the positions of both luma samples, U and V.
    Packed422([u8; 4]),
}

macro_rules! formats {
    ($($name:ident = $number:literal, $c_name:literal, $color:ident, $layout:expr;)*) => {
        /// A pixel format that image work supports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        #[expect(missing_docs, reason = "the names are those of the interface")]
        pub enum Format { $($name = $number,)* }

        impl Format {
            /// Lists every format.
            pub const ALL: &'static [Format] = &[$(Format::$name,)*];

            /// Finds the format with a number of the interface.
            pub const fn from_number(number: u32) -> Option<Format> {
                match number { $($number => Some(Format::$name),)* _ => None }
            }

            /// Returns the name in the interface.
            pub const fn name(self) -> &'static str {
                match self { $(Format::$name => $c_name,)* }
            }

            /// Returns what the components are.
            pub const fn color(self) -> Color {
                match self { $(Format::$name => Color::$color,)* }
            }

            /// Returns how the samples lie.
            pub const fn layout(self) -> Layout {
                match self { $(Format::$name => const { $layout },)* }
            }
        }
    };
}

const fn plane(components: &'static [u8], halved: [bool; 2], half_strides: usize) -> Plane {
    Plane {
        components,
        halves_width: halved[0],
        halves_height: halved[1],
        half_strides,
    }
}

const LUMA: Plane = plane(&[0], [false; 2], 2);
const UV: &[u8] = &[1, 2];
const VU: &[u8] = &[2, 1];

/// Defines the layout of luma and interleaved chroma.
macro_rules! semi_planar {
    ($chroma:ident, $halved:expr, $half_strides:literal) => {
        Layout::Planes(&[LUMA, plane($chroma, $halved, $half_strides)])
    };
}

/// Defines the layout of luma, V and U in planes of their own.
macro_rules! planar {
    ($halved:expr, $half_strides:literal) => {
        Layout::Planes(&[
            LUMA,
            plane(&[2], $halved, $half_strides),
            plane(&[1], $halved, $half_strides),
        ])
    };
}

/// Defines the layout of one plane with all components.
macro_rules! packed {
    ($($component:literal)*) => {
        Layout::Planes(&[plane(&[$($component),*], [false; 2], 2)])
    };
}

formats! {
    Yuv400 = 0, "PIXEL_FORMAT_YUV_400", Gray, Layout::Planes(&[LUMA]);
    Nv12 = 1, "PIXEL_FORMAT_YUV_SEMIPLANAR_420", Yuv, semi_planar!(UV, [true, true], 2);
    Nv21 = 2, "PIXEL_FORMAT_YVU_SEMIPLANAR_420", Yuv, semi_planar!(VU, [true, true], 2);
    Nv16 = 3, "PIXEL_FORMAT_YUV_SEMIPLANAR_422", Yuv, semi_planar!(UV, [true, false], 2);
    Nv61 = 4, "PIXEL_FORMAT_YVU_SEMIPLANAR_422", Yuv, semi_planar!(VU, [true, false], 2);
    Nv24 = 5, "PIXEL_FORMAT_YUV_SEMIPLANAR_444", Yuv, semi_planar!(UV, [false, false], 4);
    Nv42 = 6, "PIXEL_FORMAT_YVU_SEMIPLANAR_444", Yuv, semi_planar!(VU, [false, false], 4);
    Yuyv = 7, "PIXEL_FORMAT_YUYV_PACKED_422", Yuv, Layout::Packed422([0, 2, 1, 3]);
    Uyvy = 8, "PIXEL_FORMAT_UYVY_PACKED_422", Yuv, Layout::Packed422([1, 3, 0, 2]);
    Yvyu = 9, "PIXEL_FORMAT_YVYU_PACKED_422", Yuv, Layout::Packed422([0, 2, 3, 1]);
    Vyuy = 10, "PIXEL_FORMAT_VYUY_PACKED_422", Yuv, Layout::Packed422([1, 3, 2, 0]);
    Yuv444 = 11, "PIXEL_FORMAT_YUV_PACKED_444", Yuv, packed!(0 1 2);
    Rgb = 12, "PIXEL_FORMAT_RGB_888", Rgb, packed!(0 1 2);
    Bgr = 13, "PIXEL_FORMAT_BGR_888", Rgb, packed!(2 1 0);
    Argb = 14, "PIXEL_FORMAT_ARGB_8888", Rgba, packed!(3 0 1 2);
    Abgr = 15, "PIXEL_FORMAT_ABGR_8888", Rgba, packed!(3 2 1 0);
    Rgba = 16, "PIXEL_FORMAT_RGBA_8888", Rgba, packed!(0 1 2 3);
    Bgra = 17, "PIXEL_FORMAT_BGRA_8888", Rgba, packed!(2 1 0 3);
    Yv12 = 20, "PIXEL_FORMAT_YVU_PLANAR_420", Yuv, planar!([true, true], 1);
    Yv16 = 21, "PIXEL_FORMAT_YVU_PLANAR_422", Yuv, planar!([true, false], 1);
    Yv24 = 22, "PIXEL_FORMAT_YVU_PLANAR_444", Yuv, planar!([false, false], 2);
    BgrPlanar = 70, "PIXEL_FORMAT_BGR_888_PLANAR", Rgb, Layout::Planes(&[
        plane(&[2], [false; 2], 2),
        plane(&[1], [false; 2], 2),
        plane(&[0], [false; 2], 2),
    ]);
    Nv440 = 1000, "PIXEL_FORMAT_YUV_SEMIPLANAR_440", Yuv, semi_planar!(UV, [false, true], 4);
    Vn440 = 1001, "PIXEL_FORMAT_YVU_SEMIPLANAR_440", Yuv, semi_planar!(VU, [false, true], 4);
}

impl Plane {
    /// Returns the bytes from a row to the next one.
    pub fn stride(&self, width_stride: usize) -> usize {
        width_stride * self.half_strides / 2
    }

    /// Returns the rows that the plane takes in memory.
    pub fn rows(&self, height_stride: usize) -> usize {
        height_stride >> usize::from(self.halves_height)
    }

    /// Returns the samples of each component in a row of `width` pixels.
    pub fn width(&self, width: usize) -> usize {
        halved(width, self.halves_width)
    }

    /// Returns the rows of samples for `height` rows of pixels.
    pub fn height(&self, height: usize) -> usize {
        halved(height, self.halves_height)
    }
}

/// Returns the samples that `pixels` pixels have, where two may share one.
pub fn halved(pixels: usize, is_halved: bool) -> usize {
    if is_halved {
        pixels.div_ceil(2)
    } else {
        pixels
    }
}

impl Format {
    /// Returns the number of the interface.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Returns the bytes of a row of the first plane for `width` pixels.
    pub fn row_bytes(self, width: usize) -> usize {
        match self.layout() {
            Layout::Packed422(_) => width.div_ceil(2) * 4,
            Layout::Planes(planes) => width * planes[0].components.len(),
        }
    }

    /// Returns the bytes of a pixel in the first plane.
    pub fn pixel_bytes(self) -> usize {
        match self.layout() {
            Layout::Packed422(_) => 2,
            Layout::Planes(planes) => planes[0].components.len(),
        }
    }

    /// Returns whether neighbours in a row, and neighbours in a column, share chroma samples.
    pub fn halves(self) -> (bool, bool) {
        match self.layout() {
            Layout::Packed422(_) => (true, false),
            Layout::Planes(planes) => planes.last().map_or((false, false), |plane| {
                (plane.halves_width, plane.halves_height)
            }),
        }
    }

    /// Returns the bytes of an image with these strides; `None` when they exceed the address space.
    pub fn size(self, width_stride: usize, height_stride: usize) -> Option<usize> {
        let first = width_stride.checked_mul(height_stride)?;
        // No format takes more than three times its first plane.
        first.checked_mul(3)?;
        Some(match self.layout() {
            Layout::Packed422(_) => first,
            Layout::Planes(planes) => planes
                .iter()
                .map(|plane| plane.stride(width_stride) * plane.rows(height_stride))
                .sum(),
        })
    }
}
