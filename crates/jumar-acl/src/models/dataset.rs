//! Datasets: the data buffers of a model's inputs or outputs, in order.

use std::sync::{Arc, Weak};

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar::offline::{Results, ShapePlan};
use jumar_types::{Error, ErrorKind, IdKind, Result};
use smallvec::SmallVec;

use crate::error::null;
use crate::{Cx, Raw, tensor_desc};

/// A dataset. Buffers belong to the program; attached tensor descriptions belong to the dataset.
pub struct Dataset {
    id: u64,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    entries: Entries,
    /// The results of an execution with dynamic output shapes; they become descriptions at the first query.
    results: Option<Arc<Results>>,
    /// The plan whose outputs the descriptions state, if nothing described them since.
    described: Weak<ShapePlan>,
}

/// The entries of a dataset, in order.
pub(crate) type Entries = SmallVec<[Entry; 4]>;

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

/// Finds a dataset.
///
/// # Errors
/// `NullPointer`, `InvalidHandle`.
pub(crate) fn find(cx: &Cx<'_>, dataset: Raw, name: &str) -> Result<Arc<Dataset>> {
    if dataset.is_null() {
        return Err(null(name));
    }
    cx.process.datasets.get(dataset.0)
}

/// Returns a dataset's entries.
///
/// # Errors
/// As [`find`].
pub(crate) fn entries(cx: &Cx<'_>, dataset: Raw, name: &str) -> Result<Entries> {
    Ok(find(cx, dataset, name)?.entries())
}

pub fn aclmdlCreateDataset(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.datasets.insert(|id| {
        Arc::new(Dataset {
            id,
            content: Mutex::default(),
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
        .content
        .lock()
        .entries
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
    let mut content = found.content.lock();
    content.described = Weak::new();
    content.entries.push(Entry {
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
    let found = find(cx, dataset, "dataset")?;
    if index >= found.content.lock().entries.len() {
        return Err(beyond(cx, dataset, index));
    }
    let copy = if desc.is_null() {
        Raw(0)
    } else {
        tensor_desc::copy(cx, desc)?
    };
    let earlier = {
        let mut content = found.content.lock();
        content.described = Weak::new();
        content
            .entries
            .get_mut(index)
            .map(|entry| std::mem::replace(&mut entry.desc, copy))
    };
    if let Some(earlier) = earlier.filter(|earlier| !earlier.is_null()) {
        drop(cx.process.tensor_descs.remove(earlier.0, cx.call.name));
    }
    Ok(())
}

impl Dataset {
    /// Returns the entries.
    pub(crate) fn entries(&self) -> Entries {
        Entries::from_slice(&self.content.lock().entries)
    }

    /// Expects what an execution finds. Returns where the execution leaves it.
    pub(crate) fn expect(&self) -> Arc<Results> {
        let mut content = self.content.lock();
        content.described = Weak::new();
        let expected = &mut content.results;
        // An execution that has not ended still writes to what it was promised.
        let is_free = |results: &mut Arc<Results>| Arc::get_mut(results).is_some();
        if expected.as_mut().is_some_and(is_free) {
            // What no query collected is out of date.
            expected.as_deref().and_then(Results::take);
        } else {
            *expected = Some(Arc::default());
        }
        expected.clone().unwrap_or_default()
    }

    /// Turns what the last execution found into tensor descriptions and, for outputs without memory, into that memory.
    pub(crate) fn collect(&self, cx: &Cx<'_>) -> Result<()> {
        let Content {
            entries,
            results,
            described,
        } = &mut *self.content.lock();
        if let Some(plan) = described.upgrade() {
            // The program may have changed or destroyed a description that it was lent.
            return describe(cx, entries, &plan);
        }
        let Some(produced) = results.as_deref().and_then(Results::take) else {
            return Ok(());
        };
        for (one, entry) in produced.into_iter().zip(entries) {
            if let Some(memory) = one.allocated {
                let buffer = cx.process.data_buffers.get(entry.buffer.0)?;
                // From here on the program frees it.
                let span = memory.leak();
                *buffer.content.lock() = (span.address(), span.bytes());
            }
            entry.describe(cx, one.data_type, &one.dims)?;
        }
        Ok(())
    }

    /// Describes the outputs of an execution that has ended, which ran by this plan. What earlier ones found is out of date.
    pub(crate) fn describe(&self, cx: &Cx<'_>, plan: &Arc<ShapePlan>) -> Result<()> {
        let mut content = self.content.lock();
        content.results = None;
        if std::ptr::eq(content.described.as_ptr(), Arc::as_ptr(plan)) {
            return Ok(());
        }
        content.described = Weak::new();
        describe(cx, &mut content.entries, plan)?;
        content.described = Arc::downgrade(plan);
        Ok(())
    }
}

/// Describes the outputs of a plan.
fn describe(cx: &Cx<'_>, entries: &mut [Entry], plan: &ShapePlan) -> Result<()> {
    for ((data_type, dims), entry) in plan.outputs().zip(entries) {
        entry.describe(cx, data_type, dims)?;
    }
    Ok(())
}

impl Entry {
    /// Describes the output: in the description that the dataset has, or in a new one.
    fn describe(&mut self, cx: &Cx<'_>, data_type: i32, dims: &[i64]) -> Result<()> {
        if !tensor_desc::describe_anew(cx, self.desc, data_type, FORMAT_ND, dims) {
            let content = tensor_desc::describe(data_type, FORMAT_ND, dims.to_vec());
            self.desc = tensor_desc::create(cx, content)?;
        }
        Ok(())
    }
}

/// ACL_FORMAT_ND.
const FORMAT_ND: i32 = 2;

pub fn aclmdlGetDatasetTensorDesc(cx: &Cx<'_>, dataset: Raw, index: usize) -> Result<Raw> {
    let found = find(cx, dataset, "dataset")?;
    found.collect(cx)?;
    found
        .entries()
        .get(index)
        .map(|entry| entry.desc)
        .ok_or_else(|| beyond(cx, dataset, index))
}
