//! Values that are part of the graph.

use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, Attr, AttrDef, AttrKind, Call, Kernel};
use crate::{
    Builder, OnnxForm, OnnxNode, OpError, Operator, Tensor, TensorType, UNKNOWN, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "Const",
        onnx: &[OnnxForm::new("Constant", 1, LATEST, lower)],
        inputs: &[],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::required("value", AttrKind::Tensor)],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: true,
        infer: |cx| Ok(vec![value(cx.attrs().attrs)?.ty().clone()]),
        prepare: |cx| Ok(Box::new(Write(value(cx.attrs().attrs)?.clone()))),
    },
    &Operator {
        name: "Constant",
        onnx: &[],
        inputs: &[],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::required("value", AttrKind::Tensor)],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: true,
        infer: |cx| Ok(vec![value(cx.attrs().attrs)?.ty().clone()]),
        prepare: |cx| Ok(Box::new(Write(value(cx.attrs().attrs)?.clone()))),
    },
];

fn value(attrs: &crate::Attrs) -> Result<&Tensor, OpError> {
    match attrs.get("value") {
        Some(Attr::Tensor(tensor)) => Ok(tensor),
        _ => Err(OpError::invalid("the attribute value is missing")),
    }
}

struct Write(Tensor);

impl Kernel for Write {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let ty: &TensorType = self.0.ty();
        debug_assert!(!ty.shape.contains(&UNKNOWN));
        crate::kernels::number::for_width!(ty.dtype, T => {
            let layout = ty.layout()?;
            let region = crate::view::Region::shared(self.0.bytes());
            let source = crate::view::View::<T>::new(region, &layout)?.flat();
            call.output::<T>(0)?.flat().copy_from(source);
            Ok(())
        })
    }
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let tensor = if let Some(tensor) = node.tensor("value")? {
        tensor.clone()
    } else if let Some(value) = node.float("value_float")? {
        Tensor::from_floats(&[value]).reshaped(&[])?
    } else if let Some(values) = node.floats("value_floats")? {
        Tensor::from_floats(values)
    } else if let Some(value) = node.int("value_int")? {
        Tensor::from_ints(&[value]).reshaped(&[])?
    } else if let Some(values) = node.ints("value_ints")? {
        Tensor::from_ints(values)
    } else {
        return Err(OpError::unsupported(
            "a constant of text or of sparse values is not supported",
        ));
    };
    Ok(vec![builder.add_constant(tensor)])
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn writes_its_value() {
        let x = noise(&[2, 3], 1);
        check("Const", &[], none().with("value", x.clone()), &x);
        refuse("Const", &[], none(), "value");
    }
}
