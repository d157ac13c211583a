//! Scan of operator set 8, which has a batch axis in front of everything.

use std::collections::BTreeMap;

use jumar_ops::{Attrs, Builder, Tensor};

use super::Importer;
use super::proto::{GraphProto, NodeProto};
use crate::{GraphError, Result, ValueId, control};

/// The largest batch that is written out.
const LARGEST_BATCH: i64 = 256;

impl Importer<'_> {
    /// Operator set 8 runs the later Scan once for each element of the batch. Only models of 2018 have it.
    pub(super) fn convert_old_scan(
        &mut self,
        node: &NodeProto,
        inputs: Vec<Option<ValueId>>,
        attrs: Attrs,
        mut bodies: BTreeMap<String, GraphProto>,
    ) -> Result<Vec<ValueId>> {
        let own = self.insert_point.clone();
        let Some((None, given)) = inputs.split_first() else {
            return Err(GraphError::unsupported(
                "Scan of operator set 8 with lengths of sequences is not supported: export the model with operator set 9 or newer",
            ));
        };
        let given = given
            .iter()
            .map(|id| id.ok_or_else(|| GraphError::invalid("an input of it is missing")))
            .collect::<Result<Vec<ValueId>>>()?;
        let mut kept = Attrs::new();
        for (name, value) in attrs.iter() {
            match name {
                "num_scan_inputs" => kept.set(name, value.clone()),
                "directions" => kept.set("scan_input_directions", value.clone()),
                _ => {
                    return Err(GraphError::unsupported(format!(
                        "the attribute {name} is not supported"
                    )));
                }
            }
        }
        let body = bodies
            .remove("body")
            .ok_or_else(|| GraphError::invalid("the attribute body is missing"))?;
        let batch = given
            .first()
            .and_then(|&id| self.ty(id).shape.first().copied())
            .filter(|batch| (1..=LARGEST_BATCH).contains(batch));
        let Some(batch) = batch else {
            return Err(GraphError::unsupported(format!(
                "Scan of operator set 8 needs a batch of 1 to {LARGEST_BATCH} that is known: fix it with input_shape, or export the model with operator set 9 or newer"
            )));
        };
        let first_axis = Attrs::new().with("axes", vec![0]);
        let mut results: Vec<Vec<Option<ValueId>>> = vec![Vec::new(); node.output.len()];
        for element in 0..batch {
            let mut own_inputs = Vec::with_capacity(given.len());
            for &id in &given {
                let index = self.add_constant(Tensor::from_ints(&[element]).reshaped(&[])?);
                let axis = self.add_constant(Tensor::from_ints(&[0]).reshaped(&[])?);
                let parts = [Some(id), Some(index), Some(axis)];
                let taken = self.add_node("GatherV2", &parts, Attrs::new(), 1)?;
                own_inputs.push(taken.first().copied());
            }
            let made = self
                .body(body.clone(), &mut own_inputs)
                .map_err(|error| error.at(format_args!("attribute body")))?;
            self.insert_point = own.clone();
            let scanned = self.add_control(
                &control::SCAN,
                own_inputs,
                kept.clone(),
                vec![made],
                node.output.len(),
            )?;
            for (list, id) in results.iter_mut().zip(scanned) {
                let unsqueezed = self.add_node("Unsqueeze", &[Some(id)], first_axis.clone(), 1)?;
                list.push(unsqueezed.first().copied());
            }
        }
        let along = Attrs::new().with("concat_dim", 0i64).with("N", batch);
        results
            .into_iter()
            .map(|list| {
                let joined = self.add_node("ConcatD", &list, along.clone(), 1)?;
                joined
                    .first()
                    .copied()
                    .ok_or_else(|| GraphError::internal("a node without an output"))
            })
            .collect()
    }
}
