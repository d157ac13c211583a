//! Bundles: several models in one file, loaded together or one by one.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::{AtomicU32, Mutex, Ordering, RwLock};
use jumar::offline::Bundle;
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::model::{self, Memory};
use crate::{Cx, Raw, model_config, refuse};

/// The bundles of the process by number. Numbers start at 1 and are never used again.
pub struct Bundles {
    open: RwLock<HashMap<u32, Arc<OpenBundle>>>,
    last: AtomicU32,
}

struct OpenBundle {
    content: Bundle,
    /// The numbers of the models in the bundle's order, where all were loaded at once.
    together: Option<Vec<u32>>,
    /// The numbers of the models that are loaded now.
    loaded: Mutex<Vec<u32>>,
}

/// What was asked of a bundle.
pub struct Query {
    id: u64,
    content: Mutex<Option<Vec<Sizes>>>,
}

/// What a model of a bundle needs.
#[derive(Clone, Copy)]
struct Sizes {
    work: usize,
    weights: usize,
}

/// The queries by handle.
pub type Queries = Table<Query>;

pub(crate) fn table() -> Queries {
    Table::new(IdKind::BundleQuery, Arc::default())
}

impl Default for Bundles {
    fn default() -> Self {
        Bundles {
            open: RwLock::new(HashMap::new()),
            last: AtomicU32::new(0),
        }
    }
}

/// Opens a bundle's file.
fn open(path: Option<&CStr>, name: &str) -> Result<Bundle> {
    model::refuse_archive_at(path)?;
    let path = path.ok_or_else(|| null(name))?;
    let text = path.to_str().map_err(|_| {
        Error::new(
            ErrorKind::ModelPath,
            format!("the path {} is not UTF-8", path.to_string_lossy()),
        )
    })?;
    Bundle::open(text.as_ref())
}

/// Reads a bundle from memory; the bytes may be freed after the call.
fn parse(bytes: Option<&[u8]>) -> Result<Bundle> {
    model::refuse_archive(bytes.unwrap_or_default())?;
    match bytes {
        None => Err(null("model")),
        Some([]) => refuse(ErrorKind::InvalidArgument, "modelSize is 0"),
        Some(bytes) => Bundle::parse(bytes.to_vec()),
    }
}

fn find(cx: &Cx<'_>, id: u32) -> Result<Arc<OpenBundle>> {
    let bundles = &cx.process.bundles;
    bundles.open.read().get(&id).cloned().ok_or_else(|| {
        let last = bundles.last.load(Ordering::Relaxed);
        let what = if id == 0 || id > last {
            "was never loaded"
        } else {
            "was unloaded"
        };
        Error::new(ErrorKind::BundleId, format!("bundle {id} {what}"))
    })
}

fn number(cx: &Cx<'_>) -> u32 {
    cx.process.bundles.last.fetch_add(1, Ordering::Relaxed) + 1
}

fn keep(cx: &Cx<'_>, id: u32, opened: OpenBundle) {
    let opened = Arc::new(opened);
    cx.process.bundles.open.write().insert(id, opened);
}

/// Loads every model, or none.
fn load(cx: &Cx<'_>, content: Bundle) -> Result<u32> {
    let id = number(cx);
    let mut models = Vec::with_capacity(content.count());
    for index in 0..content.count() {
        let one = content
            .package(index)
            .and_then(|package| model::load_member(cx, &package, Memory::default(), &[], id));
        match one {
            Ok(model) => models.push(model),
            Err(error) => {
                for model in models {
                    // The first error is returned.
                    drop(model::unload(cx, model));
                }
                return Err(error);
            }
        }
    }
    keep(
        cx,
        id,
        OpenBundle {
            content,
            together: Some(models.clone()),
            loaded: Mutex::new(models),
        },
    );
    Ok(id)
}

pub fn aclmdlBundleLoadFromFile(cx: &Cx<'_>, path: Option<&CStr>) -> Result<u32> {
    model::initialized(cx)?;
    load(cx, open(path, "modelPath")?)
}

pub fn aclmdlBundleLoadFromMem(cx: &Cx<'_>, bytes: Option<&[u8]>, _size: usize) -> Result<u32> {
    model::initialized(cx)?;
    load(cx, parse(bytes)?)
}

/// Models of Jumar have no variables, so that memory for them is not used, however much there is.
fn register(cx: &Cx<'_>, content: Bundle) -> u32 {
    let id = number(cx);
    keep(
        cx,
        id,
        OpenBundle {
            content,
            together: None,
            loaded: Mutex::default(),
        },
    );
    id
}

pub fn aclmdlBundleInitFromFile(
    cx: &Cx<'_>,
    path: Option<&CStr>,
    _variables: usize,
    _variable_size: usize,
) -> Result<u32> {
    model::initialized(cx)?;
    Ok(register(cx, open(path, "modelPath")?))
}

pub fn aclmdlBundleInitFromMem(
    cx: &Cx<'_>,
    bytes: Option<&[u8]>,
    _size: usize,
    _variables: usize,
    _variable_size: usize,
) -> Result<u32> {
    model::initialized(cx)?;
    Ok(register(cx, parse(bytes)?))
}

/// Unloads every model, even if one fails. Then the last error is returned and the bundle stays.
pub fn aclmdlBundleUnload(cx: &Cx<'_>, id: u32) -> Result<()> {
    model::initialized(cx)?;
    let opened = find(cx, id)?;
    let models = opened.loaded.lock().clone();
    let mut last = Ok(());
    for number in models {
        match model::unload(cx, number) {
            Ok(()) => opened.loaded.lock().retain(|&other| other != number),
            Err(error) => last = Err(error),
        }
    }
    last?;
    cx.process.bundles.open.write().remove(&id);
    Ok(())
}

pub fn aclmdlBundleGetModelNum(cx: &Cx<'_>, id: u32) -> Result<usize> {
    Ok(find(cx, id)?.content.count())
}

fn beyond(index: usize, count: usize) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("model {index} does not exist: the number of models in the bundle is {count}"),
    )
}

pub fn aclmdlBundleGetModelId(cx: &Cx<'_>, id: u32, index: usize) -> Result<u32> {
    let opened = find(cx, id)?;
    let Some(models) = &opened.together else {
        return refuse(
            ErrorKind::NotImplemented,
            format!(
                "bundle {id} was opened without loading its models; aclmdlBundleLoadModel returns the id of each"
            ),
        );
    };
    let found = models.get(index).copied();
    let found = found.ok_or_else(|| beyond(index, models.len()))?;
    if opened.loaded.lock().contains(&found) {
        return Ok(found);
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!("model {index} of bundle {id} was unloaded"),
    )
}

/// Loads one model of an open bundle.
fn load_one(
    cx: &Cx<'_>,
    id: u32,
    index: usize,
    memory: Memory,
    external: &[model::External],
) -> Result<u32> {
    model::initialized(cx)?;
    let opened = find(cx, id)?;
    let count = opened.content.count();
    if index >= count {
        return Err(beyond(index, count));
    }
    let package = opened.content.package(index)?;
    let number = model::load_member(cx, &package, memory, external, id)?;
    opened.loaded.lock().push(number);
    Ok(number)
}

pub fn aclmdlBundleLoadModel(cx: &Cx<'_>, id: u32, index: usize) -> Result<u32> {
    load_one(cx, id, index, Memory::default(), &[])
}

pub fn aclmdlBundleLoadModelWithMem(
    cx: &Cx<'_>,
    id: u32,
    index: usize,
    work: usize,
    work_size: usize,
    weights: usize,
    weight_size: usize,
) -> Result<u32> {
    load_one(
        cx,
        id,
        index,
        Memory::given((work, work_size), (weights, weight_size)),
        &[],
    )
}

/// The configuration says memory and priority; where the model comes from, the bundle says.
pub fn aclmdlBundleLoadModelWithConfig(
    cx: &Cx<'_>,
    id: u32,
    index: usize,
    handle: Raw,
) -> Result<u32> {
    let loading = model_config::loading(cx, handle)?;
    let number = load_one(cx, id, index, loading.memory(), loading.external())?;
    model::find(cx, number)?.set_priority(loading.priority);
    Ok(number)
}

pub fn aclmdlBundleUnloadModel(cx: &Cx<'_>, id: u32, number: u32) -> Result<()> {
    model::initialized(cx)?;
    let opened = find(cx, id)?;
    if !opened.loaded.lock().contains(&number) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("model {number} does not belong to bundle {id}"),
        );
    }
    model::unload(cx, number)?;
    opened.loaded.lock().retain(|&other| other != number);
    Ok(())
}

pub fn aclmdlBundleCreateQueryInfo(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.bundle_queries.insert(|id| {
        Arc::new(Query {
            id,
            content: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclmdlBundleDestroyQueryInfo(cx: &Cx<'_>, query: Raw) -> Result<()> {
    if query.is_null() {
        return Err(null("queryInfo"));
    }
    cx.process
        .bundle_queries
        .remove(query.0, cx.call.name)
        .map(drop)
}

fn query(cx: &Cx<'_>, handle: Raw) -> Result<Arc<Query>> {
    if handle.is_null() {
        return Err(null("queryInfo"));
    }
    cx.process.bundle_queries.get(handle.0)
}

fn ask(cx: &Cx<'_>, handle: Raw, bundle: impl FnOnce() -> Result<Bundle>) -> Result<()> {
    let query = query(cx, handle)?;
    model::initialized(cx)?;
    let bundle = bundle()?;
    let sizes = (0..bundle.count())
        .map(|index| {
            let package = bundle.package(index)?;
            Ok(Sizes {
                work: package.work_bytes(),
                weights: package.weight_bytes(),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    *query.content.lock() = Some(sizes);
    Ok(())
}

pub fn aclmdlBundleQueryInfoFromFile(cx: &Cx<'_>, path: Option<&CStr>, handle: Raw) -> Result<()> {
    ask(cx, handle, || open(path, "fileName"))
}

pub fn aclmdlBundleQueryInfoFromMem(
    cx: &Cx<'_>,
    bytes: Option<&[u8]>,
    _size: usize,
    handle: Raw,
) -> Result<()> {
    ask(cx, handle, || parse(bytes))
}

/// Returns what was asked, or refuses an object that was not filled in.
fn answered(cx: &Cx<'_>, handle: Raw) -> Result<Vec<Sizes>> {
    let content = query(cx, handle)?.content.lock().clone();
    content.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidArgument,
            "the object contains no information on a bundle yet",
        )
        .fix("Call aclmdlBundleQueryInfoFromFile or aclmdlBundleQueryInfoFromMem first.")
    })
}

pub fn aclmdlBundleGetQueryModelNum(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    answered(cx, handle).map(|sizes| sizes.len())
}

/// Models of Jumar have no variables.
pub fn aclmdlBundleGetVarWeightSize(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    answered(cx, handle).map(|_| 0)
}

pub fn aclmdlBundleGetSize(cx: &Cx<'_>, handle: Raw, index: usize) -> Result<(usize, usize)> {
    let sizes = answered(cx, handle)?;
    let one = sizes.get(index).copied();
    let one = one.ok_or_else(|| beyond(index, sizes.len()))?;
    Ok((one.work, one.weights))
}
