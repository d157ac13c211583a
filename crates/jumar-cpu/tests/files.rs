//! Files that stand in device memory.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig};
use jumar_hal::{Backend, Device, FileImage, Span};
use jumar_types::ErrorKind;

const BYTES: usize = 1 << 20;

fn device() -> (CpuBackend, Arc<dyn Device>) {
    let backend = CpuBackend::new(CpuConfig {
        devices: vec![CpuDeviceConfig {
            memory_bytes: 64 << 20,
        }],
        ..CpuConfig::default()
    })
    .expect("address space");
    let device = backend.open(0).expect("the device exists");
    (backend, device)
}

/// A file of which every page begins with its own number.
fn numbered(name: &str) -> (std::path::PathBuf, Arc<File>) {
    let path = std::env::temp_dir().join(format!("jumar-files-{}-{name}", std::process::id()));
    let mut file = File::create(&path).expect("a temporary file");
    for page in 0..BYTES / FileImage::PAGE {
        let mut bytes = [0; FileImage::PAGE];
        bytes[..8].copy_from_slice(&(page as u64 + 1).to_le_bytes());
        file.write_all(&bytes).expect("space on the disk");
    }
    let file = Arc::new(File::open(&path).expect("just written"));
    (path, file)
}

fn first_word(backend: &CpuBackend, span: Span, page: usize) -> u64 {
    let mut bytes = [0; 8];
    let part = span.part(page * FileImage::PAGE, 8).expect("inside");
    backend.read_now(part, &mut bytes);
    u64::from_le_bytes(bytes)
}

#[test]
fn a_file_stands_in_an_allocation_until_that_is_freed() {
    let (backend, device) = device();
    let (path, file) = numbered("stands");
    let span = device
        .allocate(BYTES - FileImage::PAGE, FileImage::PAGE)
        .expect("space");
    let image = FileImage {
        file,
        offset: FileImage::PAGE as u64,
        bytes: span.bytes(),
    };
    let mapping = device.map_file(span, &image).expect("a mapping");
    assert_eq!(first_word(&backend, span, 0), 2);
    assert_eq!(first_word(&backend, span, 254), 256);
    // A write stays in this process.
    backend.write_now(span.part(0, 8).expect("inside"), &77u64.to_le_bytes());
    assert_eq!(first_word(&backend, span, 0), 77);
    let kept = std::fs::read(&path).expect("the file");
    assert_eq!(kept[FileImage::PAGE..][..8], 2u64.to_le_bytes());
    assert!(mapping.is_intact());
    device.free(span);
    assert_eq!(first_word(&backend, span, 1), 0);
    let again = device.allocate(BYTES, FileImage::PAGE).expect("space");
    assert_eq!(first_word(&backend, again, 3), 0);
    std::fs::remove_file(path).expect("it is there");
}

#[test]
fn a_file_that_is_cut_short_reads_as_zeros_and_says_so() {
    let (backend, device) = device();
    let (path, file) = numbered("short");
    let span = device.allocate(BYTES, FileImage::PAGE).expect("space");
    let image = FileImage {
        file,
        offset: 0,
        bytes: BYTES,
    };
    let mapping = device.map_file(span, &image).expect("a mapping");
    assert_eq!(first_word(&backend, span, 200), 201);
    let shorter = File::options().write(true).open(&path).expect("the file");
    shorter.set_len(100 * FileImage::PAGE as u64).expect("cut");
    assert_eq!(first_word(&backend, span, 99), 100);
    assert!(mapping.is_intact());
    assert_eq!(first_word(&backend, span, 100), 0);
    assert!(!mapping.is_intact());
    assert_eq!(first_word(&backend, span, 255), 0);
    device.free(span);
    // The next file at the same address is not affected.
    let (other, file) = numbered("next");
    let span = device.allocate(BYTES, FileImage::PAGE).expect("space");
    let image = FileImage { file, ..image };
    let next = device.map_file(span, &image).expect("a mapping");
    assert_eq!(first_word(&backend, span, 255), 256);
    assert!(next.is_intact());
    std::fs::remove_file(path).expect("it is there");
    std::fs::remove_file(other).expect("it is there");
}

#[test]
fn what_cannot_stand_there_is_refused() {
    let (_backend, device) = device();
    let (path, file) = numbered("refused");
    let image = |offset, bytes| FileImage {
        file: file.clone(),
        offset,
        bytes,
    };
    let span = device.allocate(BYTES, FileImage::PAGE).expect("space");
    for (offset, bytes) in [(1, BYTES), (0, BYTES - 1), (64, BYTES)] {
        let refused = device.map_file(span, &image(offset, bytes)).err();
        assert_eq!(
            refused.map(|error| error.kind()),
            Some(ErrorKind::FeatureUnsupported)
        );
    }
    std::fs::remove_file(path).expect("it is there");
}
