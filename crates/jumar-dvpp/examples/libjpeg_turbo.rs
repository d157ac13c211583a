//! Times libjpeg-turbo, called without Jumar: what `cargo xtask bench images` compares the JPEG codecs with.
//!
//! Argument: a JPEG image. For each line of standard input, `decode` or `encode`, it does the work once and prints the milliseconds.
//! An encode compresses the planes of the image with quality 90.

use std::io::BufRead;
use std::time::Instant;

use turbojpeg::{Compressor, Decompressor, YuvImage};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let path = std::env::args().nth(1).ok_or("no image is named")?;
    let data = std::fs::read(path)?;
    let mut decoder = Decompressor::new()?;
    let header = decoder.read_header(&data)?;
    let size = turbojpeg::yuv_pixels_len(header.width, 1, header.height, header.subsamp)?;
    let mut pixels = vec![0; size];
    let mut encoder = Compressor::new()?;
    encoder.set_quality(90)?;
    encoder.set_subsamp(header.subsamp)?;
    let mut coded =
        vec![0; turbojpeg::compressed_buf_len(header.width, header.height, header.subsamp)?];
    let mut image = YuvImage {
        pixels: &mut pixels[..],
        width: header.width,
        align: 1,
        height: header.height,
        subsamp: header.subsamp,
    };
    for line in std::io::stdin().lock().lines() {
        let start = Instant::now();
        match line?.trim() {
            "decode" => decoder.decompress_to_yuv(&data, image.as_deref_mut())?,
            "encode" => {
                encoder.compress_yuv_to_slice(image.as_deref(), &mut coded)?;
            }
            other => return Err(format!("{other:?} is neither decode nor encode").into()),
        }
        println!("{}", start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}
