//! Image work against OpenCV and Pillow: `cases/make.py` writes what they return.

mod cases;

use std::cell::RefCell;

use cases::{Case, cases, largest_difference, with_damage};
use jumar_dvpp::vpc::{Border, BorderKind, Filter, Job, Smoothing, make_border, pyramid_down};
use jumar_dvpp::{Format, Image, png};

/// Returns the width and height that a case states.
fn size(case: &Case, name: &str) -> (usize, usize) {
    let at = |index: usize| case.header[name][index].as_u64().expect("a number") as usize;
    (at(0), at(1))
}

/// An image of interleaved components without gaps.
fn image(count: usize, (width, height): (usize, usize)) -> Image {
    let format = match count {
        1 => Format::Yuv400,
        3 => Format::Rgb,
        4 => Format::Rgba,
        _ => unreachable!("no format has {count} components in a plane of full size"),
    };
    Image {
        format,
        width,
        height,
        width_stride: width * count,
        height_stride: height,
    }
}

#[test]
fn bilinear_is_within_one_of_opencv_and_nearest_is_equal() {
    let (mut samples, mut equal) = (0, 0);
    for case in cases("resize.bin") {
        let count = case.number("count");
        let (from, to) = (size(&case, "from"), size(&case, "to"));
        let filter = Filter::from_number(case.number("filter") as u32).unwrap();
        // Two components come as the chroma of 4:2:0, behind luma that nothing looks at.
        let (source, target, skip) = match count {
            2 => {
                let chroma = |(width, height): (usize, usize)| Image {
                    format: Format::Nv12,
                    width: width * 2,
                    height: height * 2,
                    width_stride: width * 2,
                    height_stride: height * 2,
                };
                (chroma(from), chroma(to), true)
            }
            _ => (image(count, from), image(count, to), false),
        };
        let luma = |image: &Image| match skip {
            true => image.width * image.height,
            false => 0,
        };
        let mut memory = vec![0; luma(&source)];
        memory.extend_from_slice(&case.parts[0]);
        let result = RefCell::new(vec![0; target.size().unwrap()]);
        let mut job = Job::new(source, source.rect(), target, target.rect());
        job.filter = filter;
        job.run(&memory, &result, &memory).unwrap();
        let found = &result.borrow()[luma(&target)..];
        let most = if filter == Filter::Bilinear { 1 } else { 0 };
        let difference = largest_difference(found, &case.parts[1]);
        assert!(difference <= most, "{}: {difference}", case.header);
        samples += found.len();
        equal += found
            .iter()
            .zip(&case.parts[1])
            .filter(|(a, b)| a == b)
            .count();
    }
    assert!(
        equal * 1000 >= samples * 985,
        "{equal} of {samples} are equal"
    );
}

#[test]
fn png_images_are_those_of_pillow() {
    for case in cases("png.bin") {
        let count = case.number("count");
        let header = png::read_header(&case.parts[0]).unwrap();
        assert_eq!(
            (header.width, header.height),
            (case.number("width"), case.number("height"))
        );
        let wanted = if count == 4 {
            Format::Rgba
        } else {
            Format::Rgb
        };
        let (planar, format) = png::decode(&case.parts[0], None).unwrap();
        assert_eq!(format, wanted, "{}", case.name());
        let found: Vec<u8> = (0..planar.width * planar.height)
            .flat_map(|at| planar.planes.iter().map(move |plane| plane.data[at]))
            .collect();
        assert_eq!(found, case.parts[1], "{}", case.name());
    }
}

/// The header, the prediction made of it and the decoder agree: memory of the predicted size holds the image.
#[test]
fn png_images_with_a_transparent_color_have_alpha_in_header_and_pixels() {
    for case in cases("png_transparency.bin") {
        let data = &case.parts[0];
        let name = case.name();
        let header = png::read_header(data).unwrap();
        let is_gray = case.header["gray"].as_bool().unwrap();
        assert_eq!(header.components, if is_gray { 2 } else { 4 }, "{name}");
        assert_eq!(png::output_format(&header, None).unwrap(), Format::Rgba);
        let pixels = |wanted| {
            let (planar, format) = png::decode(data, wanted).unwrap();
            assert_eq!(
                format,
                png::output_format(&header, wanted).unwrap(),
                "{name}"
            );
            let pixels: Vec<u8> = (0..planar.width * planar.height)
                .flat_map(|at| planar.planes.iter().map(move |plane| plane.data[at]))
                .collect();
            pixels
        };
        assert_eq!(pixels(None), case.parts[1], "{name}");
        assert_eq!(pixels(Some(Format::Rgba)), case.parts[1], "{name}");
        let opaque: Vec<u8> = case.parts[1]
            .chunks_exact(4)
            .flat_map(|pixel| pixel[..3].to_vec())
            .collect();
        assert_eq!(pixels(Some(Format::Rgb)), opaque, "{name}");
    }
}

/// A decoder skips a chunk whose checksum is wrong; the image keeps the size that its header promised.
#[test]
fn a_damaged_chunk_of_transparency_leaves_an_opaque_image() {
    let case = cases("png_transparency.bin").swap_remove(0);
    let mut data = case.parts[0].clone();
    let at = data.windows(4).position(|four| four == b"tRNS").unwrap();
    data[at + 4] ^= 1;
    assert_eq!(png::read_header(&data).unwrap().components, 4);
    let (planar, format) = png::decode(&data, None).unwrap();
    assert_eq!((format, planar.planes.len()), (Format::Rgba, 4));
    assert!(planar.planes[3].data.iter().all(|alpha| *alpha == 255));
}

#[test]
fn borders_are_those_of_opencv() {
    for case in cases("border.bin") {
        let border = Border {
            left: case.number("left"),
            right: case.number("right"),
            top: case.number("top"),
            bottom: case.number("bottom"),
            kind: BorderKind::from_number(case.number("kind") as u32).unwrap(),
            values: [10, 20, 30, 0],
        };
        let (width, height) = size(&case, "from");
        let source = image(3, (width, height));
        let target = image(
            3,
            (
                width + border.left + border.right,
                height + border.top + border.bottom,
            ),
        );
        let result = RefCell::new(vec![0; target.size().unwrap()]);
        make_border(
            &source,
            &target,
            &border,
            Some((&case.parts[0], &result, &case.parts[0])),
        )
        .unwrap();
        assert_eq!(*result.borrow(), case.parts[1], "{:?}", border.kind);
    }
}

#[test]
fn a_pyramid_is_that_of_opencv() {
    for case in cases("pyramid.bin") {
        let (source, target) = (image(1, size(&case, "from")), image(1, size(&case, "to")));
        let result = RefCell::new(vec![0; target.size().unwrap()]);
        pyramid_down(
            &source,
            &target,
            &Smoothing::default(),
            Some((&case.parts[0], &result, &case.parts[0])),
        )
        .unwrap();
        assert_eq!(*result.borrow(), case.parts[1], "{:?}", size(&case, "from"));
    }
}

#[test]
fn damaged_png_data_is_refused_or_decoded_and_never_panics() {
    for case in cases("png.bin")
        .iter()
        .filter(|case| ["rgb", "palette"].contains(&case.name()))
        .chain(cases("png_transparency.bin").iter().take(1))
    {
        with_damage(&case.parts[0], |data, is_cut| {
            drop(png::read_header(data));
            let decoded = png::decode(data, None);
            // The last twelve bytes are the end chunk, which carries no samples.
            if is_cut && data.len() + 12 < case.parts[0].len() {
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
