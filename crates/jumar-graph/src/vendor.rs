//! Recognises offline models of the vendor's toolchain, which are refused.
//!
//! # Source
//!
//! The layout of the header was read out of real files.

use crate::{GraphError, GraphErrorKind};

/// The letters that such a file begins with.
pub(crate) const MAGIC: [u8; 4] = *b"IMOD";

/// The length of the header.
///
/// # Units
///
/// Bytes.
pub const HEADER_BYTES: usize = 256;

/// What the header of a vendor's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version of the format.
    pub version: u32,
    /// Whether the contents are encrypted.
    pub encrypted: bool,
    /// The kind of model: 0 graph, 1 standard, 2 tiny, 3 flow, 4 lite, 5 bundle.
    pub kind: u8,
    /// The model's name.
    pub name: String,
    /// The version of the toolchain's platform; empty in older files.
    pub platform: String,
    /// The length that the header gives for all that follows it.
    ///
    /// # Units
    ///
    /// Bytes.
    pub rest: u64,
}

/// Reads the header; `None` where the bytes are no vendor's file or end too early.
pub fn header(bytes: &[u8]) -> Option<Header> {
    let header = bytes
        .get(..HEADER_BYTES)
        .filter(|header| header.starts_with(&MAGIC))?;
    let u32_at = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let text = |from: usize, len: usize| {
        let field = &header[from..from + len];
        let end = field.iter().position(|&byte| byte == 0).unwrap_or(len);
        String::from_utf8_lossy(&field[..end])
            .chars()
            .filter(|c| !c.is_control())
            .collect::<String>()
    };
    let long = u64::from(u32_at(184)) | u64::from(u32_at(188)) << 32;
    Some(Header {
        version: u32_at(8),
        encrypted: header[80] != 0,
        kind: header[82],
        name: text(84, 32),
        platform: text(160, 20),
        rest: if long == 0 {
            u64::from(u32_at(76))
        } else {
            long
        },
    })
}

/// Says what the file is and what to do.
pub(crate) fn refusal(bytes: &[u8]) -> GraphError {
    let Some(header) = header(bytes) else {
        let text = format!(
            "this begins like an offline model of the vendor's toolchain and ends after {} bytes",
            bytes.len()
        );
        return GraphError::new(GraphErrorKind::Truncated, text);
    };
    let name = if header.name.is_empty() {
        String::new()
    } else {
        format!(" named {:?}", header.name)
    };
    let hidden = if header.encrypted { ", encrypted" } else { "" };
    GraphError::new(
        GraphErrorKind::VendorFile,
        format!(
            "this is an offline model of the vendor's toolchain{name} (format {:#x}{hidden}), compiled for the cores of a \
             card: Jumar cannot run it. Convert the ONNX model that it was made of with Jumar's atc: \
             atc --model=model.onnx --framework=5 --output=model --soc_version=...",
            header.version
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vendors_file_is_named_and_the_way_out_too() {
        let mut file = vec![0u8; 300];
        file[..4].copy_from_slice(b"IMOD");
        file[8..12].copy_from_slice(&0x2000_0000u32.to_le_bytes());
        file[84..90].copy_from_slice(b"resnet");
        let error = crate::Model::read(&file).unwrap_err();
        assert_eq!(error.kind(), GraphErrorKind::VendorFile);
        assert!(
            error.text().contains("resnet") && error.text().contains("atc --model"),
            "{error}"
        );
        let error = crate::Model::read(&file[..100]).unwrap_err();
        assert_eq!(error.kind(), GraphErrorKind::Truncated);
        assert_eq!(
            crate::onnx::import(&file, None).unwrap_err().kind(),
            GraphErrorKind::VendorFile
        );
    }
}
