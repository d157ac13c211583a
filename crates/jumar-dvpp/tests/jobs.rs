//! Random jobs against a reference in double precision that knows nothing of rows and planes.

use std::cell::RefCell;

use jumar_dvpp::vpc::{Filter, Job, Matrix};
use jumar_dvpp::{Color, Format, Image, Rect};

/// Returns the offset of a component's sample, by the description of the formats in the interface's documentation.
fn offset(image: &Image, component: usize, x: usize, y: usize) -> usize {
    let (ws, hs) = (image.width_stride, image.height_stride);
    let plane = ws * hs;
    let swapped = |first: usize| usize::from(component != first);
    let packed = |order: [usize; 4]| {
        y * ws
            + x / 2 * 4
            + match component {
                0 => order[x % 2],
                other => order[other + 1],
            }
    };
    let pixel = |order: &[usize]| {
        let at = order
            .iter()
            .position(|known| *known == component)
            .expect("a component");
        y * ws + x * order.len() + at
    };
    match (image.format.number(), component) {
        (0..=6 | 1000..=1001, 0) => y * ws + x,
        (1, _) => plane + y / 2 * ws + x / 2 * 2 + swapped(1),
        (2, _) => plane + y / 2 * ws + x / 2 * 2 + swapped(2),
        (3, _) => plane + y * ws + x / 2 * 2 + swapped(1),
        (4, _) => plane + y * ws + x / 2 * 2 + swapped(2),
        (5, _) => plane + y * 2 * ws + x * 2 + swapped(1),
        (6, _) => plane + y * 2 * ws + x * 2 + swapped(2),
        (7, _) => packed([0, 2, 1, 3]),
        (8, _) => packed([1, 3, 0, 2]),
        (9, _) => packed([0, 2, 3, 1]),
        (10, _) => packed([1, 3, 2, 0]),
        (11 | 12, _) => pixel(&[0, 1, 2]),
        (13, _) => pixel(&[2, 1, 0]),
        (14, _) => pixel(&[3, 0, 1, 2]),
        (15, _) => pixel(&[3, 2, 1, 0]),
        (16, _) => pixel(&[0, 1, 2, 3]),
        (17, _) => pixel(&[2, 1, 0, 3]),
        (20..=22, 0) => y * ws + x,
        (20, 2) => plane + y / 2 * (ws / 2) + x / 2,
        (20, _) => plane + plane / 4 + y / 2 * (ws / 2) + x / 2,
        (21, 2) => plane + y * (ws / 2) + x / 2,
        (21, _) => plane + plane / 2 + y * (ws / 2) + x / 2,
        (22, 2) => plane + y * ws + x,
        (22, _) => 2 * plane + y * ws + x,
        (70, other) => (2 - other) * plane + y * ws + x,
        (1000, _) => plane + y / 2 * 2 * ws + x * 2 + swapped(1),
        (1001, _) => plane + y / 2 * 2 * ws + x * 2 + swapped(2),
        other => unreachable!("{other:?}"),
    }
}

fn halves(format: Format, component: usize) -> (usize, usize) {
    match (format.number(), component) {
        (_, 0) => (1, 1),
        (1 | 2 | 20, _) => (2, 2),
        (3 | 4 | 7..=10 | 21, _) => (2, 1),
        (1000 | 1001, _) => (1, 2),
        _ => (1, 1),
    }
}

/// A component as a grid of numbers.
#[derive(Clone)]
struct Grid {
    width: usize,
    height: usize,
    data: Vec<f64>,
}

impl Grid {
    fn at(&self, x: usize, y: usize) -> f64 {
        self.data[y.min(self.height - 1) * self.width + x.min(self.width - 1)]
    }

    fn of(width: usize, height: usize, mut value: impl FnMut(usize, usize) -> f64) -> Grid {
        let mut data = Vec::new();
        for y in 0..height {
            for x in 0..width {
                data.push(value(x, y));
            }
        }
        Grid {
            width,
            height,
            data,
        }
    }
}

fn resized(grid: &Grid, width: usize, height: usize, filter: Filter) -> Grid {
    if (grid.width, grid.height) == (width, height) {
        return grid.clone();
    }
    let scale = (
        grid.width as f64 / width as f64,
        grid.height as f64 / height as f64,
    );
    Grid::of(width, height, |x, y| match filter {
        Filter::Bilinear => {
            let axis = |at: usize, scale: f64, length: usize| {
                let position = ((at as f64 + 0.5) * scale - 0.5).clamp(0.0, length as f64 - 1.0);
                (position.floor() as usize, position.fract())
            };
            let ((x, fx), (y, fy)) = (axis(x, scale.0, grid.width), axis(y, scale.1, grid.height));
            let row = |y: usize| grid.at(x, y) * (1.0 - fx) + grid.at(x + 1, y) * fx;
            row(y) * (1.0 - fy) + row(y + 1) * fy
        }
        Filter::CornerBilinear => {
            let axis = |at: usize, scale: f64, length: usize| {
                let position = (at as f64 * scale).min(length as f64 - 1.0);
                (position.floor() as usize, position.fract())
            };
            let ((x, fx), (y, fy)) = (axis(x, scale.0, grid.width), axis(y, scale.1, grid.height));
            let row = |y: usize| grid.at(x, y) * (1.0 - fx) + grid.at(x + 1, y) * fx;
            row(y) * (1.0 - fy) + row(y + 1) * fy
        }
        // The expressions of OpenCV and TensorFlow to the last bit: where a position is an integer, their rounding decides.
        Filter::Nearest => {
            let axis = |at: usize, from: usize, to: usize| {
                (at as f64 * (1.0 / (to as f64 / from as f64))).floor() as usize
            };
            grid.at(axis(x, grid.width, width), axis(y, grid.height, height))
        }
        Filter::CornerNearest => {
            let axis = |at: usize, from: usize, to: usize| {
                (at as f32 * (from as f32 / to as f32)).floor() as usize
            };
            grid.at(axis(x, grid.width, width), axis(y, grid.height, height))
        }
    })
}

/// What luma is multiplied by, and what it is less by; what red gets from V, green from U and V, and blue from U.
fn of_rgb(matrix: Matrix) -> (f64, f64, [f64; 4]) {
    match matrix {
        // As the interface's documentation states them.
        Matrix::Bt601Full => (1.0, 0.0, [1.402, -0.344, -0.714, 1.772]),
        Matrix::Bt601Limited => (1.16438, 16.0, [1.59602, -0.39176, -0.81297, 2.01723]),
        // As the recommendations of the ITU state them.
        Matrix::Bt709Full => (1.0, 0.0, [1.5748, -0.18732, -0.46812, 1.8556]),
        Matrix::Bt709Limited => (1.164384, 16.0, [1.792741, -0.213249, -0.532909, 2.112402]),
        Matrix::Bt2020Full => (1.0, 0.0, [1.4746, -0.164553, -0.571353, 1.8814]),
        Matrix::Bt2020Limited => (1.164384, 16.0, [1.678674, -0.187326, -0.650424, 2.141772]),
    }
}

fn rgb([y, u, v]: [f64; 3], matrix: Matrix) -> [f64; 3] {
    let (factor, black, [red, green_u, green_v, blue]) = of_rgb(matrix);
    let (y, u, v) = ((y - black) * factor, u - 128.0, v - 128.0);
    [y + red * v, y + green_u * u + green_v * v, y + blue * u]
}

fn yuv([r, g, b]: [f64; 3], matrix: Matrix) -> [f64; 3] {
    let (red, blue) = match matrix {
        // As the interface's documentation states it.
        Matrix::Bt601Full => {
            return [
                -0.5 + 0.299 * r + 0.587 * g + 0.114 * b,
                127.5 - 0.168 * r - 0.331 * g + 0.5 * b,
                127.5 + 0.5 * r - 0.419 * g - 0.081 * b,
            ];
        }
        Matrix::Bt601Limited => (0.299, 0.114),
        Matrix::Bt709Full | Matrix::Bt709Limited => (0.2126, 0.0722),
        Matrix::Bt2020Full | Matrix::Bt2020Limited => (0.2627, 0.0593),
    };
    let y = red * r + (1.0 - red - blue) * g + blue * b;
    let (u, v) = ((b - y) / (2.0 - 2.0 * blue), (r - y) / (2.0 - 2.0 * red));
    match of_rgb(matrix).1 {
        0.0 => [y, 128.0 + u, 128.0 + v],
        black => [
            black + y * 219.0 / 255.0,
            128.0 + u * 224.0 / 255.0,
            128.0 + v * 224.0 / 255.0,
        ],
    }
}

fn rounded(value: f64) -> f64 {
    (value + 0.5).floor().clamp(0.0, 255.0)
}

/// Returns the samples that a job writes: for each component, the value at each of its own samples.
fn reference(job: &Job, memory: &[u8]) -> Vec<Grid> {
    let (from, to) = (job.source.format, job.target.format);
    let components = from.color().components();
    let planes: Vec<Grid> = (0..components)
        .map(|component| {
            let (hx, hy) = if from.color() == Color::Yuv {
                halves(from, component)
            } else {
                (1, 1)
            };
            let cut = Grid::of(
                job.crop.width.div_ceil(hx),
                job.crop.height.div_ceil(hy),
                |x, y| {
                    let (x, y) = ((job.crop.left / hx + x) * hx, (job.crop.top / hy + y) * hy);
                    f64::from(memory[offset(&job.source, component, x, y)])
                },
            );
            let size = (job.paste.width.div_ceil(hx), job.paste.height.div_ceil(hy));
            let mut grid = resized(&cut, size.0, size.1, job.filter);
            grid.data
                .iter_mut()
                .for_each(|value| *value = rounded(*value));
            grid
        })
        .collect();
    let (width, height) = (job.paste.width, job.paste.height);
    // A value for each pixel, in the colours of the output.
    let pixel = |x: usize, y: usize| -> [f64; 4] {
        let value = |component: usize| {
            let (hx, hy) = if from.color() == Color::Yuv {
                halves(from, component)
            } else {
                (1, 1)
            };
            planes[component].at(x / hx, y / hy)
        };
        let alpha = if components == 4 { value(3) } else { 255.0 };
        if components == 1 {
            return [value(0), 0.0, 0.0, 0.0];
        }
        let own = [value(0), value(1), value(2)];
        let [a, b, c] = match (from.color() == Color::Yuv, to.color() == Color::Yuv) {
            (true, false) => rgb(own, job.matrix).map(rounded),
            (false, true) => yuv(own, job.matrix).map(rounded),
            _ => own,
        };
        [a, b, c, alpha]
    };
    (0..to.color().components())
        .map(|component| {
            let (hx, hy) = if to.color() == Color::Yuv {
                halves(to, component)
            } else {
                (1, 1)
            };
            Grid::of(width.div_ceil(hx), height.div_ceil(hy), |x, y| {
                let mut sum = 0.0;
                for dy in 0..hy {
                    for dx in 0..hx {
                        let x = (x * hx + dx).min(width - 1);
                        let y = (y * hy + dy).min(height - 1);
                        sum += pixel(x, y)[component];
                    }
                }
                rounded(sum / (hx * hy) as f64)
            })
        })
        .collect()
}

fn random_image(random: &mut fastrand::Rng, format: Format, width: usize, height: usize) -> Image {
    let row = format.row_bytes(width).next_multiple_of(2);
    Image {
        format,
        width,
        height,
        width_stride: row + 2 * random.usize(..20),
        height_stride: height.next_multiple_of(2) + 2 * random.usize(..3),
    }
}

fn random_rect(random: &mut fastrand::Rng, image: &Image) -> Rect {
    let axis = |random: &mut fastrand::Rng, total: usize| {
        let length = match random.u8(..4) {
            0 => 1,
            1 => total,
            _ => random.usize(1..=total),
        };
        (random.usize(..=total - length), length)
    };
    let (left, width) = axis(random, image.width);
    let (top, height) = axis(random, image.height);
    Rect {
        left,
        top,
        width,
        height,
    }
}

#[test]
fn random_jobs_write_what_the_reference_has_and_nothing_else() {
    let mut random = fastrand::Rng::with_seed(400);
    let mut jobs = 0;
    while jobs < 600 {
        let [from, to] = [(); 2].map(|()| Format::ALL[random.usize(..Format::ALL.len())]);
        if (from.color() == Color::Gray) != (to.color() == Color::Gray) {
            continue;
        }
        jobs += 1;
        let size = |random: &mut fastrand::Rng| (random.usize(1..40), random.usize(1..30));
        let ((width, height), (new_width, new_height)) = (size(&mut random), size(&mut random));
        let source = random_image(&mut random, from, width, height);
        let target = random_image(&mut random, to, new_width, new_height);
        let (crop, mut paste) = (
            random_rect(&mut random, &source),
            random_rect(&mut random, &target),
        );
        if random.bool() {
            // The same size on both sides: no filter at all.
            paste.width = crop.width.min(target.width);
            paste.height = crop.height.min(target.height);
            (paste.left, paste.top) = (target.width - paste.width, target.height - paste.height);
        }
        // Chroma of an odd corner is shared with pixels outside; the reference has no opinion on those.
        let mut job = Job::new(source, crop, target, paste);
        job.filter = [
            Filter::Bilinear,
            Filter::Nearest,
            Filter::CornerBilinear,
            Filter::CornerNearest,
        ][jobs % 4];
        job.matrix = Matrix::from_number(random.u32(..6)).unwrap();
        check(jobs, &job, &mut random);
    }
}

/// Images as large as the interface has them along an axis, with the largest stride, shrunk, grown and converted.
#[test]
fn the_largest_images_have_what_the_reference_has() {
    let mut random = fastrand::Rng::with_seed(8192);
    let shape = |format: Format, width: usize, height: usize| Image {
        format,
        width,
        height,
        width_stride: format.row_bytes(width).max(16384),
        height_stride: height.next_multiple_of(2),
    };
    for (from, to) in [
        (shape(Format::Nv12, 8192, 6), shape(Format::Nv21, 4096, 10)),
        (shape(Format::Nv12, 10, 8192), shape(Format::Rgb, 20, 8192)),
        (shape(Format::Rgb, 4096, 6), shape(Format::Nv12, 4096, 6)),
        (
            shape(Format::Yuv400, 130, 6),
            shape(Format::Yuv400, 4096, 192),
        ),
    ] {
        check(0, &Job::new(from, from.rect(), to, to.rect()), &mut random);
    }
}

/// Runs a job on random samples, and compares what it writes.
fn check(number: usize, job: &Job, random: &mut fastrand::Rng) {
    let (source, crop, target, paste) = (job.source, job.crop, job.target, job.paste);
    let (from, to) = (source.format, target.format);
    let memory: Vec<u8> = (0..source.size().unwrap()).map(|_| random.u8(..)).collect();
    let before: Vec<u8> = (0..target.size().unwrap()).map(|_| random.u8(..)).collect();
    let result = RefCell::new(before.clone());
    job.run(&memory, &result, &before).unwrap();
    let found = result.into_inner();
    let converts = (from.color() == Color::Yuv) != (to.color() == Color::Yuv);
    let resizes = (crop.width, crop.height) != (paste.width, paste.height);
    // A step of one before a conversion grows with its coefficients.
    let most = if converts && resizes { 4.0 } else { 1.0 };
    let mut written = vec![false; found.len()];
    for (component, grid) in reference(job, &memory).iter().enumerate() {
        let (hx, hy) = if to.color() == Color::Yuv {
            halves(to, component)
        } else {
            (1, 1)
        };
        for y in 0..grid.height {
            for x in 0..grid.width {
                let (px, py) = ((paste.left / hx + x) * hx, (paste.top / hy + y) * hy);
                let at = offset(&target, component, px, py);
                written[at] = true;
                let difference = (f64::from(found[at]) - grid.at(x, y)).abs();
                assert!(
                    difference <= most,
                    "job {number}: {job:?}: component {component} at {x}, {y}: {} and {}",
                    found[at],
                    grid.at(x, y)
                );
            }
        }
    }
    for (at, written) in written.iter().enumerate() {
        assert!(
            *written || found[at] == before[at],
            "job {number}: {job:?}: byte {at} was written"
        );
    }
}

#[test]
fn filters_of_corners_follow_their_definition() {
    let image = |width| Image {
        format: Format::Yuv400,
        width,
        height: 1,
        width_stride: width,
        height_stride: 1,
    };
    let run = |filter, from: &[u8], to: usize| {
        let (source, target) = (image(from.len()), image(to));
        let result = RefCell::new(vec![0; to]);
        let mut job = Job::new(source, source.rect(), target, target.rect());
        job.filter = filter;
        job.run(&from.to_vec(), &result, &from.to_vec()).unwrap();
        result.into_inner()
    };
    // tf.compat.v1.image.resize with align_corners=False: position d * source / target.
    assert_eq!(
        run(Filter::CornerBilinear, &[0, 100, 200], 6),
        [0, 50, 100, 150, 200, 200]
    );
    assert_eq!(
        run(Filter::CornerBilinear, &[10, 20, 30, 40, 50], 2),
        [10, 35]
    );
    assert_eq!(
        run(Filter::CornerNearest, &[10, 20, 30, 40, 50], 3),
        [10, 20, 40]
    );
}

#[test]
fn memory_that_is_too_small_is_refused_and_nothing_is_written() {
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..200 {
        let format = Format::ALL[random.usize(..Format::ALL.len())];
        let image = random_image(&mut random, format, 12, 8);
        let total = image.size().unwrap();
        let job = Job::new(image, image.rect(), image, image.rect());
        for short in [0, 1, total / 2, total - 1] {
            let (full, cut) = (vec![1u8; total], vec![1u8; short]);
            let result = RefCell::new(vec![0u8; total]);
            assert!(job.run(&cut, &result, &full).is_err());
            assert!(result.borrow().iter().all(|byte| *byte == 0));
            let result = RefCell::new(vec![0u8; short]);
            assert!(job.run(&full, &result, &full).is_err());
        }
    }
}
