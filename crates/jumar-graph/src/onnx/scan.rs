//! Scan of operator set 8, which has a batch axis in front of everything.

use std::collections::BTreeMap;

use jumar_ops::Attrs;

use super::Importer;
use super::proto::{GraphProto, NodeProto};
use crate::{GraphError, Result, ValueId};

impl Importer<'_> {
    /// Operator set 8 runs the later Scan once for each element of the batch. Only models of 2018 have it.
    pub(super) fn convert_old_scan(
        &mut self,
        _node: &NodeProto,
        _inputs: Vec<Option<ValueId>>,
        _attrs: Attrs,
        _bodies: BTreeMap<String, GraphProto>,
    ) -> Result<Vec<ValueId>> {
        Err(GraphError::unsupported(
            "Scan of operator set 8, with its batch axis, is not supported: export the model with operator set 9 or newer",
        ))
    }
}
