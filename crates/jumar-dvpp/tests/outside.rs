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
