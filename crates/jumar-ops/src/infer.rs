//! What an operator sees while shapes are inferred, and while it is prepared.

use jumar_types::dtype::DataType;

use crate::attr::AttrReader;
use crate::view::Layout;
use crate::{Attr, Attrs, OpError, Operator, Tensor, TensorType, UNKNOWN};

/// What shape inference sees of one node.
#[derive(Clone, Copy)]
pub struct InferCx<'a> {
    inputs: &'a [Option<&'a TensorType>],
    constants: &'a [Option<&'a Tensor>],
    attrs: AttrReader<'a>,
    operator: &'static str,
}

impl<'a> InferCx<'a> {
    /// Makes the context of a node. `constants` holds the inputs whose values are known, by position.
    pub fn new(
        inputs: &'a [Option<&'a TensorType>],
        constants: &'a [Option<&'a Tensor>],
        attrs: &'a Attrs,
    ) -> InferCx<'a> {
        InferCx {
            inputs,
            constants,
            attrs: AttrReader { attrs, defs: &[] },
            operator: "",
        }
    }

    pub(crate) fn with_definition(&self, operator: &Operator) -> InferCx<'a> {
        InferCx {
            attrs: AttrReader {
                attrs: self.attrs.attrs,
                defs: operator.attrs,
            },
            operator: operator.name,
            ..*self
        }
    }

    /// Returns the name of the operator.
    pub fn operator(&self) -> &'static str {
        self.operator
    }

    /// Returns an attribute as it was set, or else its default.
    pub fn attr(&self, name: &str) -> Option<Attr> {
        self.attrs.attr(name)
    }

    pub(crate) fn attributes(&self) -> &'a Attrs {
        self.attrs.attrs
    }

    pub(crate) fn attrs(&self) -> AttrReader<'a> {
        self.attrs
    }

    pub(crate) fn inputs(&self) -> &'a [Option<&'a TensorType>] {
        self.inputs
    }

    /// Returns the number of inputs, given or not.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Returns whether there is no input.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Returns whether an input was given.
    pub fn has(&self, index: usize) -> bool {
        matches!(self.inputs.get(index), Some(Some(_)))
    }

    /// Returns the type of an input that has to be there.
    pub fn input(&self, index: usize) -> Result<&'a TensorType, OpError> {
        match self.inputs.get(index) {
            Some(Some(ty)) => Ok(ty),
            _ => Err(OpError::invalid(format!("input {index} is missing"))),
        }
    }

    /// Returns an input whose values are known.
    pub fn constant(&self, index: usize) -> Option<&'a Tensor> {
        self.constants.get(index).copied().flatten()
    }

    /// Returns the integers of a constant input. `Ok(None)`: the input is there but its values are not known.
    pub fn ints(&self, index: usize) -> Result<Option<Vec<i64>>, OpError> {
        match self.constant(index) {
            None => Ok(None),
            Some(tensor) => tensor
                .ints()
                .map(Some)
                .ok_or_else(|| OpError::invalid(format!("input {index} has to hold integers"))),
        }
    }

    /// Refuses inputs of different types among those given.
    pub(crate) fn same_types(
        &self,
        indices: impl IntoIterator<Item = usize>,
    ) -> Result<DataType, OpError> {
        let mut found: Option<(usize, DataType)> = None;
        for index in indices {
            let Some(Some(ty)) = self.inputs.get(index) else {
                continue;
            };
            match found {
                Some((first, dtype)) if dtype != ty.dtype => {
                    return Err(OpError::invalid(format!(
                        "input {first} is {dtype} and input {index} is {}; they must be of one type",
                        ty.dtype
                    )));
                }
                Some(_) => {}
                None => found = Some((index, ty.dtype)),
            }
        }
        found
            .map(|(_, dtype)| dtype)
            .ok_or_else(|| OpError::invalid("there is no input"))
    }
}

/// What an operator sees when its kernel is made: everything that inference saw, with all shapes known, and the
/// outputs.
pub struct PrepareCx<'a> {
    infer: InferCx<'a>,
    inputs: Vec<Option<(DataType, Layout)>>,
    outputs: Vec<(DataType, Layout)>,
}

impl<'a> PrepareCx<'a> {
    /// Makes the context of a node whose tensors are all dense.
    pub fn new(infer: InferCx<'a>, outputs: &[TensorType]) -> Result<PrepareCx<'a>, OpError> {
        let mut inputs = Vec::with_capacity(infer.inputs.len());
        for (index, input) in infer.inputs.iter().enumerate() {
            inputs.push(match input {
                None => None,
                Some(ty) => Some((
                    ty.dtype,
                    ty.layout()
                        .map_err(|error| error.at(format_args!("input {index}")))?,
                )),
            });
        }
        let outputs = outputs
            .iter()
            .enumerate()
            .map(|(index, ty)| {
                Ok((
                    ty.dtype,
                    ty.layout()
                        .map_err(|error| error.at(format_args!("output {index}")))?,
                ))
            })
            .collect::<Result<_, OpError>>()?;
        Ok(PrepareCx {
            infer,
            inputs,
            outputs,
        })
    }

    pub(crate) fn with_definition(&self, operator: &Operator) -> PrepareCx<'a> {
        PrepareCx {
            infer: self.infer.with_definition(operator),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
        }
    }

    /// Returns the context of the same node with float32 instead of 16-bit types.
    pub(crate) fn in_float32(&self) -> PrepareCx<'a> {
        let wide = |(dtype, layout): &(DataType, Layout)| match dtype {
            DataType::Float16 | DataType::BFloat16 => (DataType::Float32, *layout),
            _ => (*dtype, *layout),
        };
        PrepareCx {
            infer: self.infer,
            inputs: self
                .inputs
                .iter()
                .map(|input| input.as_ref().map(wide))
                .collect(),
            outputs: self.outputs.iter().map(wide).collect(),
        }
    }

    pub(crate) fn attrs(&self) -> AttrReader<'a> {
        self.infer.attrs
    }

    /// Returns what inference saw.
    pub fn infer(&self) -> &InferCx<'a> {
        &self.infer
    }

    /// Returns whether an input was given.
    pub fn has(&self, index: usize) -> bool {
        self.infer.has(index)
    }

    /// Returns the number of inputs, given or not.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    fn input_at(&self, index: usize) -> Result<&(DataType, Layout), OpError> {
        match self.inputs.get(index) {
            Some(Some(input)) => Ok(input),
            _ => Err(OpError::invalid(format!("input {index} is missing"))),
        }
    }

    fn output_at(&self, index: usize) -> Result<&(DataType, Layout), OpError> {
        self.outputs
            .get(index)
            .ok_or_else(|| OpError::internal(format!("output {index} is missing")))
    }

    /// Returns the type of an input.
    pub fn dtype(&self, index: usize) -> Result<DataType, OpError> {
        Ok(self.input_at(index)?.0)
    }

    /// Returns the dimensions of an input.
    pub fn shape(&self, index: usize) -> Result<&[usize], OpError> {
        Ok(self.input_at(index)?.1.shape())
    }

    /// Returns the strides of an input, in elements.
    pub fn strides(&self, index: usize) -> Result<&[isize], OpError> {
        Ok(self.input_at(index)?.1.strides())
    }

    /// Returns the type of an output.
    pub fn output_dtype(&self, index: usize) -> Result<DataType, OpError> {
        Ok(self.output_at(index)?.0)
    }

    /// Returns the dimensions of an output.
    pub fn output_shape(&self, index: usize) -> Result<&[usize], OpError> {
        Ok(self.output_at(index)?.1.shape())
    }

    /// Returns the integers of an input that has to be constant.
    pub(crate) fn ints(&self, index: usize) -> Result<Vec<i64>, OpError> {
        self.infer.ints(index)?.ok_or_else(|| {
            OpError::unsupported(format!(
                "input {index} has to be a constant: values computed while the model runs are not supported here"
            ))
        })
    }
}

/// Brings an axis that may be counted from the end into `0..rank`.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize, OpError> {
    let rank_signed = rank as i64;
    if (-rank_signed..rank_signed).contains(&axis) {
        Ok(axis.rem_euclid(rank_signed) as usize)
    } else {
        Err(OpError::invalid(format!(
            "the axis {axis} is outside a tensor of {rank} dimensions"
        )))
    }
}

/// Brings several axes into `0..rank`, sorted, and refuses one named twice.
pub(crate) fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, OpError> {
    let mut axes = list
        .iter()
        .map(|&one| axis(one, rank))
        .collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    if axes.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(OpError::invalid(format!(
            "the axes {list:?} name one dimension twice"
        )));
    }
    Ok(axes)
}

/// Joins two shapes as NumPy broadcasts them.
pub(crate) fn broadcast(one: &TensorType, two: &TensorType) -> Result<Vec<i64>, OpError> {
    let (Some(rank_one), Some(rank_two)) = (one.rank(), two.rank()) else {
        return Ok(vec![crate::UNKNOWN_RANK]);
    };
    let rank = rank_one.max(rank_two);
    let dim = |ty: &TensorType, own: usize, axis: usize| {
        if axis + own < rank {
            1
        } else {
            ty.shape[axis + own - rank]
        }
    };
    (0..rank)
        .map(
            |axis| match (dim(one, rank_one, axis), dim(two, rank_two, axis)) {
                (a, b) if a == b => Ok(a),
                (1, b) => Ok(b),
                (a, 1) => Ok(a),
                // A dimension of neither 1 nor unknown decides: the other can only be equal to it or 1.
                (UNKNOWN, b) => Ok(b),
                (a, UNKNOWN) => Ok(a),
                _ => Err(OpError::invalid(format!(
                    "the shapes {one} and {two} cannot be broadcast together"
                ))),
            },
        )
        .collect()
}
