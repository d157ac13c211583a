//! Weights in files beside a model file, as `--external_weight` wants them.

use std::collections::HashMap;
use std::ops::Range;

use jumar_ops::Tensor;

use super::WeightsCheck;
use super::proto::ExternalMessage;
use crate::compile::{ALIGNMENT, ConstantLayout};
use crate::{GraphError, Result};

/// The folder beside a model file in which its weights are searched by default.
pub const WEIGHT_FOLDER: &str = "weight";

/// How weights are put into files of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeightFiles {
    /// Each constant into a file that its contents name.
    Each,
    /// All of them into one file of this name.
    Together(String),
}

/// A file of weights beside a model file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalWeights {
    /// The file's name, without a folder.
    pub name: String,
    /// Which part of the weights it is.
    ///
    /// # Units
    ///
    /// Bytes.
    pub range: Range<usize>,
    crc: u32,
}

impl ExternalWeights {
    /// Begins to check the file's contents.
    pub fn check(&self) -> WeightsCheck {
        WeightsCheck {
            so_far: crc32fast::Hasher::new(),
            wanted: self.crc,
        }
    }
}

/// Divides weights into files.
pub(super) fn divide(
    weights: &ConstantLayout,
    outside: &WeightFiles,
) -> Vec<(ExternalWeights, ConstantLayout)> {
    let part = |name: String, start: usize, own: ConstantLayout| {
        let mut sum = crc32fast::Hasher::new();
        let Ok(()) = own.each(|bytes| {
            sum.update(bytes);
            Ok::<(), std::convert::Infallible>(())
        });
        let file = ExternalWeights {
            name,
            range: start..start + own.len(),
            crc: sum.finalize(),
        };
        (file, own)
    };
    match outside {
        WeightFiles::Together(name) if !weights.is_empty() => {
            vec![part(name.clone(), 0, weights.clone())]
        }
        WeightFiles::Together(_) => Vec::new(),
        WeightFiles::Each => {
            let mut named: HashMap<String, Tensor> = HashMap::new();
            weights
                .pieces()
                .iter()
                .filter(|(_, tensor)| tensor.byte_len() > 0)
                .map(|(offset, tensor)| {
                    part(
                        name_of(tensor, &mut named),
                        *offset,
                        ConstantLayout::one(tensor.clone()),
                    )
                })
                .collect()
        }
    }
}

/// Names a file by its contents. Others of the same name have another number at the end.
fn name_of(tensor: &Tensor, named: &mut HashMap<String, Tensor>) -> String {
    let bytes = tensor.to_bytes();
    let mut other = crc32fast::Hasher::new_with_initial(!0x9e37_79b9);
    other.update(&(bytes.len() as u64).to_le_bytes());
    other.update(&bytes);
    let stem = format!(
        "weight_{:08x}{:08x}",
        crc32fast::hash(&bytes),
        other.finalize()
    );
    let mut name = stem.clone();
    for number in 1.. {
        match named.get(&name) {
            Some(known) if known.to_bytes() != bytes => name = format!("{stem}_{number}"),
            Some(_) => break,
            None => {
                named.insert(name.clone(), tensor.clone());
                break;
            }
        }
    }
    name
}

pub(super) fn message(file: &ExternalWeights) -> ExternalMessage {
    ExternalMessage {
        name: file.name.clone(),
        at: file.range.start as u64,
        bytes: file.range.len() as u64,
        crc: file.crc,
    }
}

/// Reads the list of files, which is not trusted: each is a part of `total` bytes of weights, behind the one before.
pub(super) fn read(messages: Vec<ExternalMessage>, total: usize) -> Result<Vec<ExternalWeights>> {
    let mut before = 0;
    messages
        .into_iter()
        .map(|message| {
            let plain = !message.name.is_empty()
                && message.name != "."
                && message.name != ".."
                && !message.name.contains(['/', '\\', '\0']);
            let start = usize::try_from(message.at).ok();
            let end = start
                .zip(usize::try_from(message.bytes).ok())
                .and_then(|(start, bytes)| start.checked_add(bytes));
            match start.zip(end) {
                Some((start, end))
                    if plain
                        && start >= before
                        && start.is_multiple_of(ALIGNMENT)
                        && end > start
                        && end <= total =>
                {
                    before = end;
                    Ok(ExternalWeights {
                        name: message.name,
                        range: start..end,
                        crc: message.crc,
                    })
                }
                _ => Err(GraphError::corrupt(format!(
                    "the file {:?} of weights that the model file names is none, or is of a part that it cannot be",
                    message.name
                ))),
            }
        })
        .collect()
}
