//! Datasets: the data buffers of a model's inputs or outputs, in order.

use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar::offline::Results;
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::{Cx, Raw, tensor_desc};

/// A dataset. Buffers belong to the program; attached tensor descriptions belong to the dataset.
pub struct Dataset {
    id: u64,
    entries: Mutex<Vec<Entry>>,
    /// The results of an execution with dynamic output shapes; they become descriptions at the first query.
    results: Mutex<Option<Arc<Results>>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) buffer: Raw,
    pub(crate) desc: Raw,
}

/// The datasets by handle.
pub type Datasets = Table<Dataset>;

pub(crate) fn table() -> Datasets {
    Table::new(IdKind::Dataset, Arc::default())
}

/// Returns a dataset's entries.
///
/// # Errors
/// `NullPointer`, `InvalidHandle`.
pub(crate) fn entries(cx: &Cx<'_>, dataset: Raw, name: &str) -> Result<Vec<Entry>> {
    if dataset.is_null() {
        return Err(null(name));
    }
    Ok(cx.process.datasets.get(dataset.0)?.entries.lock().clone())
}

pub fn aclmdlCreateDataset(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.datasets.insert(|id| {
        Arc::new(Dataset {
            id,
            entries: Mutex::default(),
            results: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclmdlDestroyDataset(cx: &Cx<'_>, dataset: Raw) -> Result<()> {
    if dataset.is_null() {
        return Err(null("dataset"));
    }
    let gone = cx.process.datasets.remove(dataset.0, cx.call.name)?;
    for entry in gone
        .entries
        .lock()
        .iter()
        .filter(|entry| !entry.desc.is_null())
    {
        // A program that destroyed the description itself, by the handle that it was lent, has done our work.
        drop(cx.process.tensor_descs.remove(entry.desc.0, cx.call.name));
    }
    Ok(())
}

pub fn aclmdlAddDatasetBuffer(cx: &Cx<'_>, dataset: Raw, buffer: Raw) -> Result<()> {
    if dataset.is_null() {
        return Err(null("dataset"));
    }
    if buffer.is_null() {
        return Err(null("dataBuffer"));
    }
    let found = cx.process.datasets.get(dataset.0)?;
    cx.process.data_buffers.get(buffer.0)?;
    found.entries.lock().push(Entry {
        buffer,
        desc: Raw(0),
    });
    Ok(())
}

pub fn aclmdlGetDatasetNumBuffers(cx: &Cx<'_>, dataset: Raw) -> Result<usize> {
    entries(cx, dataset, "dataset").map(|entries| entries.len())
}

pub fn aclmdlGetDatasetBuffer(cx: &Cx<'_>, dataset: Raw, index: usize) -> Result<Raw> {
    entries(cx, dataset, "dataset")?
        .get(index)
        .map(|entry| entry.buffer)
        .ok_or_else(|| beyond(cx, dataset, index))
}

#[cold]
fn beyond(cx: &Cx<'_>, dataset: Raw, index: usize) -> Error {
    let count = entries(cx, dataset, "dataset").map_or(0, |entries| entries.len());
    Error::new(
        ErrorKind::InvalidArgument,
        format!("buffer {index} does not exist: the dataset has {count} buffers"),
    )
}

/// The description is copied; null takes an earlier one away.
pub fn aclmdlSetDatasetTensorDesc(
    cx: &Cx<'_>,
    dataset: Raw,
    desc: Raw,
    index: usize,
) -> Result<()> {
    if dataset.is_null() {
        return Err(null("dataset"));
    }
    let found = cx.process.datasets.get(dataset.0)?;
    if index >= found.entries.lock().len() {
        return Err(beyond(cx, dataset, index));
    }
    let copy = if desc.is_null() {
        Raw(0)
    } else {
        tensor_desc::copy(cx, desc)?
    };
    let earlier = {
        let mut entries = found.entries.lock();
        entries
            .get_mut(index)
            .map(|entry| std::mem::replace(&mut entry.desc, copy))
    };
    if let Some(earlier) = earlier.filter(|earlier| !earlier.is_null()) {
        drop(cx.process.tensor_descs.remove(earlier.0, cx.call.name));
    }
    Ok(())
}

/// Lets a dataset expect what an execution finds.
pub(crate) fn expect(cx: &Cx<'_>, dataset: Raw, results: Arc<Results>) -> Result<()> {
    *cx.process.datasets.get(dataset.0)?.results.lock() = Some(results);
    Ok(())
}

/// Turns what the last execution found into tensor descriptions and, for outputs without memory, into that memory.
pub(crate) fn collect(cx: &Cx<'_>, dataset: Raw) -> Result<()> {
    let found = cx.process.datasets.get(dataset.0)?;
    let Some(produced) = found
        .results
        .lock()
        .as_ref()
        .and_then(|results| results.take())
    else {
        return Ok(());
    };
    let mut entries = found.entries.lock();
    for (one, entry) in produced.into_iter().zip(entries.iter_mut()) {
        if let Some(memory) = one.allocated {
            let buffer = cx.process.data_buffers.get(entry.buffer.0)?;
            // From here on the program frees it.
            let span = memory.leak();
            *buffer.content.lock() = (span.address(), span.bytes());
        }
        if tensor_desc::describe_anew(cx, entry.desc, one.data_type, FORMAT_ND, &one.dims) {
            continue;
        }
        let content = tensor_desc::describe(one.data_type, FORMAT_ND, one.dims);
        let made = tensor_desc::create(cx, content)?;
        entry.desc = made;
    }
    Ok(())
}

/// ACL_FORMAT_ND.
const FORMAT_ND: i32 = 2;

pub fn aclmdlGetDatasetTensorDesc(cx: &Cx<'_>, dataset: Raw, index: usize) -> Result<Raw> {
    if !dataset.is_null() {
        collect(cx, dataset)?;
    }
    entries(cx, dataset, "dataset")?
        .get(index)
        .map(|entry| entry.desc)
        .ok_or_else(|| beyond(cx, dataset, index))
}
