//! Reads handwritten digits on a device, two images at a time: while one is computed, the next one is on its way.
//!
//! ```text
//! cargo run --example digits [model.onnx | model.om] [images] [labels]
//! ```

use std::path::{Path, PathBuf};

use jumar::{DeviceBuffer, Model, PinnedBuffer, Runtime};

const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
/// The darkest pixel.
const INK: u8 = 16;

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits");
    let mut arguments = std::env::args_os().skip(1);
    let mut file = |name: &str| {
        arguments
            .next()
            .map_or_else(|| folder.join(name), PathBuf::from)
    };
    let (model, images, labels) = (file("digits.onnx"), file("images.u8"), file("labels.u8"));
    let (images, labels) = (std::fs::read(images)?, std::fs::read(labels)?);
    if images.len() != labels.len() * PIXELS {
        return Err(format!(
            "{} bytes of images do not go with {} labels",
            images.len(),
            labels.len()
        )
        .into());
    }
    let images: Vec<&[u8]> = images.chunks(PIXELS).collect();
    let read = read_digits(&model, &images)?;
    report(&images, &labels, &read);
    Ok(())
}

/// Returns the digit that the network sees in each image.
fn read_digits(model: &Path, images: &[&[u8]]) -> Result<Vec<u8>, jumar::Error> {
    let runtime = Runtime::new()?;
    let context = runtime.device(0)?.context()?;
    let model = match model.extension() {
        Some(extension) if extension == "onnx" => Model::from_onnx(&context, model, &[])?,
        _ => Model::load(&context, model)?,
    };
    // One stream carries images up, the other one computes. Each image goes into one of two buffers, after the execution that
    // read that buffer before, and is computed after it has come.
    let (up, compute) = (context.stream()?, context.stream()?);
    let buffers = [
        DeviceBuffer::<f32>::new(&context, PIXELS)?,
        DeviceBuffer::new(&context, PIXELS)?,
    ];
    let (free, there) = ([context.event()?, context.event()?], context.event()?);

    let mut read = Vec::with_capacity(images.len());
    let mut running = None;
    for (index, image) in images.iter().enumerate() {
        let (buffer, free) = (&buffers[index % 2], &free[index % 2]);
        if free.is_recorded() {
            up.wait(free, None)?;
        }
        let floats: Vec<f32> = image.iter().map(|&pixel| f32::from(pixel)).collect();
        // The pinned memory goes back to the runtime when the copy is done.
        drop(up.upload(PinnedBuffer::from_slice(&runtime, &floats)?, buffer)?);
        up.record(&there)?;
        compute.wait(&there, None)?;
        let next = model.run(&compute, &[buffer.into()])?;
        compute.record(free)?;
        // The one before is waited for only now, so that the device is never without work.
        if let Some(before) = running.replace(next) {
            read.push(best(&before.wait()?.read::<f32>(0)?));
        }
    }
    if let Some(last) = running {
        read.push(best(&last.wait()?.read::<f32>(0)?));
    }
    Ok(read)
}

/// Returns the index of the highest score.
fn best(scores: &[f32]) -> u8 {
    let highest = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    highest.map_or(0, |(digit, _)| digit as u8)
}

/// Shows the first images, the first ones that were misread, and how many were read rightly.
fn report(images: &[&[u8]], labels: &[u8], read: &[u8]) {
    let is_right = |&index: &usize| read[index] == labels[index];
    let all = 0..images.len();
    let first: Vec<usize> = all.clone().take(4).collect();
    let wrong: Vec<usize> = all
        .clone()
        .filter(|index| !is_right(index))
        .take(4)
        .collect();
    println!("the first images:\n");
    draw(images, labels, read, &first);
    if !wrong.is_empty() {
        println!("misread:\n");
        draw(images, labels, read, &wrong);
    }
    let right = all.filter(is_right).count();
    println!(
        "accuracy: {:.1} % ({} images)",
        100.0 * right as f64 / images.len() as f64,
        images.len()
    );
}

/// Draws images beside each other, with what was read below.
fn draw(images: &[&[u8]], labels: &[u8], read: &[u8], which: &[usize]) {
    let ramp: Vec<char> = " .:-=+*#%@".chars().collect();
    for row in 0..SIDE {
        for &index in which {
            print!("  ");
            for &pixel in &images[index][row * SIDE..][..SIDE] {
                let shade = ramp[usize::from(pixel.min(INK)) * (ramp.len() - 1) / usize::from(INK)];
                print!("{shade}{shade}");
            }
        }
        println!();
    }
    for &index in which {
        let text = match (labels[index], read[index]) {
            (meant, read) if meant == read => format!("read as {read}"),
            (meant, read) => format!("{meant} read as {read}"),
        };
        print!("  {text:<16}");
    }
    println!("\n");
}
