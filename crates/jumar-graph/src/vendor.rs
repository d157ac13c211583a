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
    /// The length in the header of all that follows it.
    ///
    /// # Units
    ///
    /// Bytes.
    pub rest: u64,
    /// Whether that length stands in the wide field, so that tables of partitions are wide, too.
    wide: bool,
    /// How many models the file holds, each with a table of its own.
    pub models: u32,
}

/// A part of a vendor's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Which model of the file it belongs to, counted from 0.
    pub model: u32,
    /// The number of its kind.
    pub kind: u32,
    /// Where it begins.
    ///
    /// # Units
    ///
    /// Bytes, from the start of the file.
    pub start: u64,
    /// Its length.
    ///
    /// # Units
    ///
    /// Bytes.
    pub bytes: u64,
}

impl Partition {
    /// Returns a description of its content.
    pub fn what(&self) -> &'static str {
        match self.kind {
            0 => "model definition",
            1 => "weights",
            2 => "tasks",
            3 => "kernels",
            4 => "kernels for the card's processors",
            5 => "shared objects of host code",
            6 => "flow model",
            7 => "part of a flow model",
            8 => "inputs and outputs",
            9 => "static tasks",
            10 => "dynamic tasks",
            11 => "parameters of tasks",
            12 => "tilings",
            20..=23 => "part of a prepared model",
            24 => "bundle",
            25 => "variables of a bundle",
            26 => "custom operators",
            _ => "unknown",
        }
    }
}

/// The most entries of a table, and the most tables, that are believed.
const MOST: u32 = 4096;

/// Lists the partitions, as far as the file holds what its tables say. `None` where a table contradicts the file, which is so when
/// it is encrypted or damaged.
pub fn partitions(bytes: &[u8]) -> Option<Vec<Partition>> {
    let header = header(bytes)?;
    let length = bytes.len() as u64;
    let u32_at = |at: u64| {
        let at = usize::try_from(at).ok()?;
        let word = bytes.get(at..at.checked_add(4)?)?.first_chunk()?;
        Some(u32::from_le_bytes(*word))
    };
    let number_at = |at: u64| match header.wide {
        true => Some(u64::from(u32_at(at)?) | u64::from(u32_at(at + 4)?) << 32),
        false => u32_at(at).map(u64::from),
    };
    // Wide tables keep their eight-byte numbers aligned.
    let (head, entry, first, second) = match header.wide {
        true => (8, 24, 8, 16),
        false => (4, 12, 4, 8),
    };
    let mut found = Vec::new();
    let mut table = HEADER_BYTES as u64;
    for model in 0..header.models.clamp(1, MOST) {
        let count = u32_at(table).filter(|&count| count <= MOST)?;
        let data = table + head + entry * u64::from(count);
        let mut next = 0u64;
        for index in 0..u64::from(count) {
            let at = table + head + entry * index;
            let (offset, size) = (number_at(at + first)?, number_at(at + second)?);
            let end = |from: u64| {
                let end = data.checked_add(from)?.checked_add(size)?;
                (end <= length).then_some(from)
            };
            // Payloads follow each other. If they are padded, the offset shows it; otherwise it is not reliable.
            let from = Some(offset)
                .filter(|&offset| offset >= next)
                .and_then(end)
                .or_else(|| end(next))?;
            found.push(Partition {
                model,
                kind: u32_at(at)?,
                start: data + from,
                bytes: size,
            });
            next = from + size;
        }
        table = data + next;
    }
    Some(found)
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
    let old = u32_at(8) < 0x2000_0000;
    let long = u64::from(u32_at(184)) | u64::from(u32_at(188)) << 32;
    Some(Header {
        version: u32_at(8),
        encrypted: header[80] != 0,
        kind: header[82],
        name: text(84, 32),
        // Files of the first format have no number of models, and the text begins there.
        platform: text(if old { 156 } else { 160 }, 20),
        rest: if long == 0 {
            u64::from(u32_at(76))
        } else {
            long
        },
        wide: long != 0 || header[82] == 3,
        models: if old { 1 } else { u32_at(156) },
    })
}

/// Returns the kind of the file and the fix.
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

    /// A file with a table of the given width for each list of partitions (kind, padding before it, length).
    fn file(wide: bool, models: &[&[(u32, u64, u64)]]) -> Vec<u8> {
        let mut file = vec![0u8; HEADER_BYTES];
        file[..4].copy_from_slice(&MAGIC);
        file[8..12].copy_from_slice(&0x2000_0000u32.to_le_bytes());
        file[156..160].copy_from_slice(&(models.len() as u32).to_le_bytes());
        file[160..164].copy_from_slice(b"1.11");
        for parts in models {
            let mut table = (parts.len() as u32).to_le_bytes().to_vec();
            let mut data = Vec::new();
            if wide {
                table.extend([0; 4]);
            }
            for &(kind, padding, length) in *parts {
                data.extend(vec![0; padding as usize]);
                let (offset, length) = (data.len() as u64, length);
                table.extend(kind.to_le_bytes());
                if wide {
                    table.extend([0; 4]);
                    table.extend(offset.to_le_bytes());
                    table.extend(length.to_le_bytes());
                } else {
                    table.extend((offset as u32).to_le_bytes());
                    table.extend((length as u32).to_le_bytes());
                }
                data.extend(vec![kind as u8; length as usize]);
            }
            file.extend(table);
            file.extend(data);
        }
        let rest = (file.len() - HEADER_BYTES) as u64;
        match wide {
            true => file[184..192].copy_from_slice(&rest.to_le_bytes()),
            false => file[76..80].copy_from_slice(&(rest as u32).to_le_bytes()),
        }
        file
    }

    #[test]
    fn partitions_are_found_in_tables_of_either_width() {
        let model: &[(u32, u64, u64)] = &[(0, 0, 100), (1, 0, 512), (3, 0, 7)];
        let padded: &[(u32, u64, u64)] = &[(0, 0, 100), (1, 412, 512)];
        for wide in [false, true] {
            for models in [&[model][..], &[padded], &[model, padded, model]] {
                let file = file(wide, models);
                let found = partitions(&file).unwrap();
                let wanted: Vec<(u32, u64)> = models
                    .iter()
                    .flat_map(|parts| parts.iter().map(|part| (part.0, part.2)))
                    .collect();
                let listed: Vec<(u32, u64)> =
                    found.iter().map(|part| (part.kind, part.bytes)).collect();
                assert_eq!(listed, wanted);
                for part in &found {
                    let range = part.start as usize..(part.start + part.bytes) as usize;
                    assert!(file[range].iter().all(|&byte| byte == part.kind as u8));
                }
                assert_eq!(header(&file).unwrap().platform, "1.11");
            }
        }
    }

    #[test]
    fn tables_that_contradict_the_file_are_no_tables() {
        let complete = file(true, &[&[(0, 0, 100), (1, 0, 512)]]);
        assert!(partitions(&complete).is_some());
        for length in 0..complete.len() {
            assert_eq!(partitions(&complete[..length]), None, "{length} bytes");
        }
        let mut many = complete.clone();
        many[HEADER_BYTES..HEADER_BYTES + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(partitions(&many), None);
    }
}
