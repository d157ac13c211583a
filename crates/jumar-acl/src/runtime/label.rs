//! Labels: positions in the streams of a model that are targets of jumps.

use jumar::engine::{Label, Span};
use jumar_types::{Error, ErrorKind, Result};

use crate::{Cx, Raw, refuse};

/// How many labels fit a list.
const MOST: usize = 65535;

impl Cx<'_> {
    /// Finds a label of the current context.
    fn label(&self, label: Raw) -> Result<std::sync::Arc<Label>> {
        let found = self.runtime()?.labels().get(label.0)?;
        if found.context_id() != self.context()?.id() {
            return refuse(
                ErrorKind::LabelContext,
                format!(
                    "label {:#x} belongs to another context than this thread's current one",
                    label.0
                ),
            );
        }
        Ok(found)
    }
}

pub fn aclrtCreateLabel(cx: &Cx<'_>) -> Result<Raw> {
    Label::create(&*cx.context()?).map(|label| Raw(label.id()))
}

pub fn aclrtDestroyLabel(cx: &Cx<'_>, label: Raw) -> Result<()> {
    let label = cx.label(label)?;
    label.destroy(&*cx.context()?, &cx.caller())
}

pub fn aclrtSetLabel(cx: &Cx<'_>, label: Raw, stream: Raw) -> Result<()> {
    let label = cx.label(label)?;
    own_stream(stream)?;
    cx.with_stream(stream, |stream| label.set(stream, &cx.caller()))
}

/// A default stream belongs to no model, so null stands for none here.
fn own_stream(stream: Raw) -> Result<()> {
    if stream.is_null() {
        return refuse(ErrorKind::NullPointer, "stream is null");
    }
    Ok(())
}

pub fn aclrtCreateLabelList(cx: &Cx<'_>, labels: Option<&[Raw]>, count: usize) -> Result<Raw> {
    let Some(labels) = labels else {
        return refuse(ErrorKind::NullPointer, "labels is null");
    };
    if count == 0 || count > MOST {
        return refuse(
            ErrorKind::InvalidValue,
            format!("num is {count}; it must be 1 to {MOST}"),
        );
    }
    let context = cx.context()?;
    let found = labels
        .iter()
        .enumerate()
        .map(|(index, &label)| {
            if label.is_null() {
                return refuse(
                    ErrorKind::InvalidValue,
                    format!("label {index} of the list is null"),
                );
            }
            cx.label(label)
        })
        .collect::<Result<Vec<_>>>()?;
    let lists = cx.runtime()?.label_lists();
    let address = lists.create(&context, found, &cx.caller())?;
    Ok(Raw(address as u64))
}

pub fn aclrtDestroyLabelList(cx: &Cx<'_>, list: Raw) -> Result<()> {
    if list.is_null() {
        return refuse(ErrorKind::NullPointer, "labelList is null");
    }
    let context = cx.context()?;
    let lists = cx.runtime()?.label_lists();
    lists.destroy(&context, list.0 as usize, &cx.caller())
}

pub fn aclrtSwitchLabelByIndex(
    cx: &Cx<'_>,
    index: Span,
    most: u32,
    list: Raw,
    stream: Raw,
) -> Result<()> {
    own_stream(stream)?;
    if list.is_null() {
        return Err(Error::new(ErrorKind::NullPointer, "labelList is null"));
    }
    let lists = cx.runtime()?.label_lists();
    cx.with_stream(stream, |stream| {
        stream.jump(index, most, lists, list.0 as usize, &cx.caller())
    })
}
