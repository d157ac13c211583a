//! The JPEG decoder against FFmpeg, and on damaged data.

mod cases;

use std::cell::UnsafeCell;

use cases::{cases, largest_difference, with_damage};
use jumar_dvpp::jpeg::{self, Decoder, Margins, Process, Rounding, Sampling, read_header};
use jumar_dvpp::{Format, Image, Scratch, Sink, Source};
use jumar_types::Span;

/// Memory that the codec may access through its address, or only by copies of rows.
struct Memory {
    bytes: UnsafeCell<Vec<u8>>,
    is_lent: bool,
}

impl Memory {
    fn new(bytes: Vec<u8>, is_lent: bool) -> Memory {
        Memory {
            bytes: UnsafeCell::new(bytes),
            is_lent,
        }
    }

    #[expect(
        unsafe_code,
        reason = "a span, as a device creates it, accesses the bytes"
    )]
    fn lent(&self) -> Option<Span> {
        // SAFETY: one thread uses the memory; no reference to a byte outlives a call below, and the vector never changes its length.
        self.is_lent.then(|| unsafe {
            let bytes = &mut *self.bytes.get();
            Span::trusted(bytes.as_mut_ptr().expose_provenance(), bytes.len())
        })
    }

    #[expect(unsafe_code, reason = "as above")]
    #[expect(clippy::mut_from_ref, reason = "as above")]
    fn slice(&self) -> &mut [u8] {
        // SAFETY: as in `lent`.
        unsafe { &mut *self.bytes.get() }
    }
}

impl Source for Memory {
    fn bytes(&self) -> usize {
        self.slice().len()
    }

    fn read(&self, offset: usize, to: &mut [u8]) {
        to.copy_from_slice(&self.slice()[offset..offset + to.len()]);
    }

    fn span(&self) -> Option<Span> {
        self.lent()
    }
}

impl Sink for Memory {
    fn bytes(&self) -> usize {
        self.slice().len()
    }

    fn write(&self, offset: usize, from: &[u8]) {
        self.slice()[offset..offset + from.len()].copy_from_slice(from);
    }

    fn span(&self) -> Option<Span> {
        self.lent()
    }
}

/// Luma that is decoded where it belongs, and luma that is copied there: each sampling, format and rounding, strides of the size and
/// larger ones, complete data and damaged data.
#[test]
fn an_image_decoded_in_place_is_the_copied_one_and_nothing_else_is_written() {
    let mut decoded = 0;
    let mut scratch = Scratch::default();
    for case in cases("jpeg.bin") {
        let data = &case.parts[0];
        let header = read_header(data).unwrap();
        let Ok(formats) = jpeg::target_formats(header.sampling) else {
            continue;
        };
        for ((format, rounding), (wider, longer)) in formats
            .iter()
            .flat_map(|format| {
                [Rounding::Down, Rounding::Up, Rounding::DownBoth]
                    .map(|rounding| (*format, rounding))
            })
            .zip([(0, 0), (2, 2), (66, 16)].into_iter().cycle())
        {
            let decoder = Decoder {
                rounding,
                ..decoder(Some(format))
            };
            let shape = |format: Format, (width, height): (usize, usize)| Image {
                format,
                width,
                height,
                width_stride: format.row_bytes(width).next_multiple_of(2) + wider,
                height_stride: height.next_multiple_of(2) + longer,
            };
            let mut outcome = |data: &[u8], is_lent: bool| {
                // Guards lie behind the image; what is not written keeps its value.
                let memory = Memory::new(vec![0xA5; 400_000], is_lent);
                let done = decoder.decode_to(data, shape, &memory, &mut scratch);
                (done, memory.bytes.into_inner())
            };
            let (copied, in_place) = (outcome(data, false), outcome(data, true));
            let Ok(image) = &in_place.0 else {
                assert_eq!(copied.0, in_place.0);
                continue;
            };
            assert!(
                copied == in_place,
                "{} {format:?} {rounding:?}",
                case.name()
            );
            let size = image.size().unwrap();
            assert!(in_place.1[size..].iter().all(|byte| *byte == 0xA5));
            decoded += 1;
            for cut in [data.len() / 3, data.len() / 2, data.len() - 3] {
                let (copied, in_place) =
                    (outcome(&data[..cut], false), outcome(&data[..cut], true));
                assert_eq!(copied.0, in_place.0);
                assert!(in_place.1[size..].iter().all(|byte| *byte == 0xA5));
            }
        }
    }
    assert!(decoded >= 100, "{decoded}");
}

#[test]
fn an_image_encoded_in_place_is_the_copied_one_and_fits_or_fails() {
    for format in [Format::Nv12, Format::Nv21, Format::Yuyv] {
        let image = Image {
            format,
            width: 94,
            height: 58,
            width_stride: format.row_bytes(94) + 6,
            height_stride: 60,
        };
        let mut random = fastrand::Rng::with_seed(3);
        let pixels: Vec<u8> = (0..image.size().unwrap()).map(|_| random.u8(..)).collect();
        let bound = jpeg::bound(&image).unwrap();
        let wanted = jpeg::encode(&image, 80, &pixels).unwrap();
        let mut scratch = Scratch::default();
        for (capacity, is_lent) in [(bound, true), (bound, false), (wanted.len(), true)] {
            let (from, to) = (
                Memory::new(pixels.clone(), is_lent),
                Memory::new(vec![0xA5; capacity], is_lent),
            );
            let length = jpeg::encode_to(&image, 80, &from, &to, &mut scratch).unwrap();
            let found = to.bytes.into_inner();
            assert!(found[..length] == wanted[..], "{format:?} {capacity}");
        }
        let from = Memory::new(pixels, true);
        let small = Memory::new(vec![0xA5; wanted.len() - 1], true);
        let refused = jpeg::encode_to(&image, 80, &from, &small, &mut scratch).unwrap_err();
        let sentence = format!(
            "the JPEG image has {} bytes, and data {}",
            wanted.len(),
            wanted.len() - 1
        );
        assert_eq!(refused.to_string(), sentence);
        assert!(small.bytes.into_inner().iter().all(|byte| *byte == 0xA5));
    }
}

fn decoder(format: Option<Format>) -> Decoder {
    Decoder {
        format,
        rounding: Rounding::Up,
        margins: Margins::default(),
        largest: 8192,
    }
}

#[test]
fn jpeg_planes_are_within_one_of_ffmpeg() {
    let mut decoded = 0;
    for case in cases("jpeg.bin") {
        let header = read_header(&case.parts[0]).unwrap();
        assert_eq!(
            (header.width, header.height),
            (case.number("width"), case.number("height"))
        );
        let Some(format) = case.header["format"].as_str() else {
            let error = decoder(None)
                .decode(&case.parts[0])
                .expect_err("refused")
                .to_string();
            let cause = match case.name() {
                "progressive" => "progressive",
                "cmyk" => "CMYK",
                _ => "RGB",
            };
            assert!(error.contains(cause), "{}: {error}", case.name());
            continue;
        };
        let (sampling, own) = match format {
            "yuvj444p" => (Sampling::Yuv444, Format::Nv24),
            "yuvj422p" => (Sampling::Yuv422, Format::Nv16),
            "yuvj420p" => (Sampling::Yuv420, Format::Nv12),
            _ => (Sampling::Gray, Format::Nv12),
        };
        assert_eq!(
            (header.sampling, header.process),
            (sampling, Process::Sequential)
        );
        if header.orientation != 1 {
            continue;
        }
        let (planar, _) = decoder(Some(own)).decode(&case.parts[0]).unwrap();
        let mut rest = &case.parts[1][..];
        for (component, size) in case.header["sizes"].as_array().unwrap().iter().enumerate() {
            let [width, height] = [0, 1].map(|at| size[at].as_u64().unwrap() as usize);
            let plane = planar.planes[component].with_size(width, height);
            let (wanted, behind) = rest.split_at(width * height);
            rest = behind;
            let difference = largest_difference(&plane.data, wanted);
            assert!(
                difference <= 1,
                "{} component {component}: {difference}",
                case.name()
            );
        }
        if sampling == Sampling::Gray {
            assert!(planar.planes[1].data.iter().all(|sample| *sample == 128));
        }
        decoded += 1;
    }
    assert_eq!(decoded, 15);
}

/// Factors of the same ratio as 4:2:0, which no file needs and the library does not decode.
#[test]
fn unusual_sampling_factors_are_named() {
    for (name, factors, stated) in [
        ("420 48x40", [0x44, 0x22, 0x22], "4x4, 2x2 and 2x2"),
        ("422 48x40", [0x41, 0x21, 0x21], "4x1, 2x1 and 2x1"),
    ] {
        let case = cases("jpeg.bin")
            .into_iter()
            .find(|case| case.name() == name)
            .unwrap();
        let mut data = case.parts[0].clone();
        let frame = data.windows(2).position(|two| two == [0xFF, 0xC0]).unwrap();
        for (component, factor) in factors.into_iter().enumerate() {
            data[frame + 11 + 3 * component] = factor;
        }
        let before = read_header(&case.parts[0]).unwrap().sampling;
        assert_eq!(read_header(&data).unwrap().sampling, before);
        let error = decoder(None)
            .decode(&data)
            .expect_err("refused")
            .to_string();
        assert!(error.contains(stated), "{name}: {error}");
        assert!(error.contains("not supported"), "{name}: {error}");
    }
}

/// Regions with even and odd edges have the samples of the complete image.
#[test]
fn a_region_is_that_part_of_the_image() {
    let regions = [(0, 0, 0, 1), (2, 4, 6, 8), (1, 0, 3, 0), (5, 3, 0, 7)];
    let mut seen = 0;
    for case in cases("jpeg.bin") {
        let complete = Decoder {
            rounding: Rounding::Down,
            ..decoder(None)
        };
        let Ok((image, format)) = complete.decode(&case.parts[0]) else {
            continue;
        };
        for (top, bottom, left, right) in regions {
            let margins = Margins {
                top,
                bottom,
                left,
                right,
            };
            let decoder = Decoder {
                margins,
                ..complete
            };
            let (region, same) = decoder.decode(&case.parts[0]).unwrap();
            assert_eq!(same, format);
            let header = read_header(&case.parts[0]).unwrap();
            let of_image = match header.orientation {
                5.. => (header.height, header.width),
                _ => (header.width, header.height),
            };
            let down = |length: usize, is_halved: bool| length & !usize::from(is_halved);
            let halves = format.halves();
            assert_eq!(
                (region.width, region.height),
                (
                    down(of_image.0 - left - right, halves.0),
                    down(of_image.1 - top - bottom, halves.1)
                ),
                "{}",
                case.name()
            );
            for (component, plane) in region.planes.iter().enumerate() {
                let by = |is_halved: bool| usize::from(component > 0 && is_halved);
                let (x, y) = (left >> by(halves.0), top >> by(halves.1));
                let (width, height) = region.plane_size(component, region.width, region.height);
                let full = &image.planes[component];
                for row in 0..height {
                    assert_eq!(
                        plane.row(row)[..width],
                        full.row(y + row)[x..x + width],
                        "{} component {component} row {row}",
                        case.name()
                    );
                }
            }
            seen += 1;
        }
        let nothing = Decoder {
            margins: Margins {
                left: image.width,
                ..Margins::default()
            },
            ..complete
        };
        let error = nothing
            .decode(&case.parts[0])
            .expect_err("no pixel remains");
        assert!(error.to_string().contains("on the left"), "{error}");
    }
    assert!(seen >= 60, "{seen}");
}

#[test]
fn an_image_is_turned_as_its_orientation_says() {
    let mut seen = 0;
    for case in cases("jpeg.bin") {
        let Some(orientation) = case.header["orientation"].as_u64() else {
            continue;
        };
        let header = read_header(&case.parts[0]).unwrap();
        assert_eq!(u64::from(header.orientation), orientation);
        let (planar, _) = decoder(Some(Format::Nv12)).decode(&case.parts[0]).unwrap();
        let (width, height) = (header.width, header.height);
        let turned = orientation >= 5;
        let wanted = if turned {
            (height, width)
        } else {
            (width, height)
        };
        assert_eq!((planar.width, planar.height), wanted);
        let stored = |x: usize, y: usize| case.parts[1][y * width + x];
        // Where a stored pixel appears: the definition of the tag, by the meaning of row 0 and column 0.
        for (x, y) in [(0, 0), (width - 1, 0), (5, 3), (0, height - 1)] {
            let (right, below) = (width - 1 - x, height - 1 - y);
            let (column, row) = match orientation {
                1 => (x, y),
                2 => (right, y),
                3 => (right, below),
                4 => (x, below),
                5 => (y, x),
                6 => (below, x),
                7 => (below, right),
                _ => (y, right),
            };
            let found = planar.planes[0].row(row)[column];
            assert!(
                found.abs_diff(stored(x, y)) <= 1,
                "orientation {orientation} at {x}, {y}"
            );
        }
        seen += 1;
    }
    assert_eq!(seen, 8);
}

#[test]
fn damaged_jpeg_data_is_refused_or_decoded_and_never_panics() {
    for case in cases("jpeg.bin").iter().filter(|case| {
        [
            "420 61x47",
            "gray 33x32",
            "restart markers",
            "orientation 6",
        ]
        .contains(&case.name())
    }) {
        with_damage(&case.parts[0], |data, is_cut| {
            drop(read_header(data));
            let decoded = decoder(None).decode(data);
            // The last two bytes are the end marker, which carries no samples.
            if is_cut && data.len() + 2 < case.parts[0].len() {
                assert!(
                    decoded.is_err(),
                    "{} cut to {} bytes",
                    case.name(),
                    data.len()
                );
            }
        });
    }
}
