//! `FlexAttention`: attention with a graph of the model's own on the scores, and one on the weights.

use std::collections::BTreeMap;

use jumar_ops::{Attr, Attrs, Builder, OnnxNode, Tensor, find_onnx};
use jumar_types::dtype::DataType;

use super::inline::Item;
use super::proto::{GraphProto, NodeProto};
use super::{Importer, OPSETS};
use crate::{GraphError, Result, ValueId};

/// The domain of operators that ONNX tries out.
const PREVIEW: &str = "ai.onnx.preview";

pub(super) fn is_flex_attention(node: &NodeProto) -> bool {
    node.domain == PREVIEW && node.op_type == "FlexAttention"
}

impl Importer<'_> {
    pub(super) fn convert_flex_attention(
        &mut self,
        inputs: &[Option<ValueId>],
        attrs: &Attrs,
        mut bodies: BTreeMap<String, GraphProto>,
    ) -> Result<Vec<ValueId>> {
        let &[Some(query), Some(key), Some(value)] = inputs else {
            return Err(GraphError::invalid(
                "it has to have a query, a key and a value",
            ));
        };
        let (own, &[_, heads, _, size]) = (self.ty(query).dtype, &self.ty(query).shape[..]) else {
            let text = format!("the query {} has to have 4 dimensions", self.ty(query));
            return Err(GraphError::invalid(text));
        };
        let &[_, kv_heads, _, _] = &self.ty(key).shape[..] else {
            let text = format!("the key {} has to have 4 dimensions", self.ty(key));
            return Err(GraphError::invalid(text));
        };
        if heads < 1 || kv_heads < 1 || size < 1 || heads % kv_heads != 0 {
            return Err(GraphError::unsupported(format!(
                "{heads} heads of {size} numbers that share {kv_heads} of keys are not supported: their numbers have to be known, and the one a multiple of the other"
            )));
        }
        let precision = match attrs.get("softmax_precision") {
            Some(&Attr::Int(number)) => i32::try_from(number).ok().and_then(DataType::from_onnx),
            Some(_) => None,
            None if own == DataType::Float64 => Some(DataType::Float64),
            None => Some(DataType::Float32),
        };
        let precision = precision.filter(|dtype| dtype.is_float()).ok_or_else(|| {
            GraphError::invalid("softmax_precision has to be a floating-point type")
        })?;
        let scale = match attrs.get("scale") {
            Some(&Attr::Float(scale)) => f64::from(scale),
            Some(_) => return Err(GraphError::invalid("the scale has to be a number")),
            None => 1.0 / (size as f64).sqrt(),
        };
        let known = ["scale", "softmax_precision"];
        if let Some((name, _)) = attrs.iter().find(|(name, _)| !known.contains(name)) {
            let text = format!("the attribute {name} is not supported");
            return Err(GraphError::unsupported(text));
        }
        let (key, value) = (
            self.repeated(key, heads, kv_heads)?,
            self.repeated(value, heads, kv_heads)?,
        );
        let turned = Attrs::new().with("perm", vec![0, 1, 3, 2]);
        let key = self.standard("Transpose", &[key], turned)?;
        // A product of half-precision numbers would be rounded before the graph of the scores sees it.
        let (query, key) = (self.cast(query, precision)?, self.cast(key, precision)?);
        let mut scores = self.standard("MatMul", &[query, key], Attrs::new())?;
        if scale != 1.0 {
            let by = self.add_constant(Tensor::scalar(precision, scale)?);
            scores = self.standard("Mul", &[scores, by], Attrs::new())?;
        }
        if let Some(body) = bodies.remove("score_mod") {
            scores = self.modified(body, scores, "score_mod")?;
        }
        let last = Attrs::new().with("axis", -1);
        let mut weights = self.standard("Softmax", &[scores], last)?;
        if let Some(body) = bodies.remove("prob_mod") {
            weights = self.modified(body, weights, "prob_mod")?;
        }
        if let Some(name) = bodies.keys().next() {
            let text = format!("the attribute {name} is not supported");
            return Err(GraphError::unsupported(text));
        }
        let weights = self.cast(weights, own)?;
        Ok(vec![self.standard(
            "MatMul",
            &[weights, value],
            Attrs::new(),
        )?])
    }

    pub(super) fn standard(
        &mut self,
        name: &str,
        inputs: &[ValueId],
        attrs: Attrs,
    ) -> Result<ValueId> {
        let newest = *OPSETS.end();
        let form = find_onnx(name, newest)
            .map_err(|_| GraphError::internal(format!("there is no operator {name}")))?;
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        let values = (form.lower)(self, &OnnxNode::new(newest, &inputs, &[true], &attrs))?;
        values
            .first()
            .copied()
            .ok_or_else(|| GraphError::internal("a node without an output"))
    }

    fn cast(&mut self, value: ValueId, dtype: DataType) -> Result<ValueId> {
        if self.ty(value).dtype == dtype {
            return Ok(value);
        }
        let number = dtype.onnx().map(i64::from).unwrap_or_default();
        self.standard("Cast", &[value], Attrs::new().with("to", number))
    }

    /// Repeats each head of keys or values for the heads of queries that share it.
    fn repeated(&mut self, value: ValueId, heads: i64, kv_heads: i64) -> Result<ValueId> {
        if heads == kv_heads {
            return Ok(value);
        }
        let &[_, _, _, size] = &self.ty(value).shape[..] else {
            let text = format!("{} has to have 4 dimensions", self.ty(value));
            return Err(GraphError::invalid(text));
        };
        let ints = |own: &mut Self, list: &[i64]| own.add_constant(Tensor::from_ints(list));
        let axis = ints(self, &[2]);
        let parted = self.standard("Unsqueeze", &[value, axis], Attrs::new())?;
        let times = ints(self, &[1, 1, heads / kv_heads, 1, 1]);
        let many = self.standard("Expand", &[parted, times], Attrs::new())?;
        let shape = ints(self, &[0, heads, -1, size]);
        self.standard("Reshape", &[many, shape], Attrs::new())
    }

    /// Applies a graph of one input and one output, whose nodes become nodes of this graph.
    fn modified(&mut self, body: GraphProto, value: ValueId, name: &str) -> Result<ValueId> {
        let wanted = self.ty(value).clone();
        let at = |error: GraphError| error.at(format_args!("attribute {name}"));
        let made = self.inlined(body, vec![Item::Value(value)]).map_err(at)?;
        let &[Item::Value(result)] = &made[..] else {
            return Err(at(GraphError::invalid(
                "its graph has to return one tensor",
            )));
        };
        let found = self.ty(result);
        if found.dtype != wanted.dtype || found.dims() != wanted.dims() {
            return Err(GraphError::invalid(format!(
                "attribute {name}: it turns {wanted} into {found}; type and shape have to stay"
            )));
        }
        Ok(result)
    }
}
