//! Ones on a diagonal of a matrix, and zeros elsewhere.

use jumar_types::dtype::DataType;

use crate::kernels::compute_types::{ConvertibleElement, for_carried};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Call, InputDef, Kernel, OnnxForm, OpError, Operator,
    TensorType, Types,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.EyeLike",
    onnx: &[OnnxForm::new("EyeLike", 9, LATEST, |builder, node| {
        let dtype = node
            .dtype("dtype")?
            .unwrap_or(builder.ty(node.input(0)?).dtype);
        let attrs = Attrs::new()
            .with("dtype", dtype)
            .with("k", node.int_or("k", 0)?);
        Ok(vec![builder.node("jumar.EyeLike", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::required("x", Types::REAL)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("dtype", AttrKind::Type),
        AttrDef::int("k", 0),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: true,
    infer: |cx| {
        let (input, dtype) = (cx.input(0)?, dtype(cx.attrs().attrs)?);
        if input.rank().is_some_and(|rank| rank != 2) {
            return Err(OpError::invalid(format!("{input} is not a matrix")));
        }
        if !Types::REAL.contains(dtype) {
            return Err(OpError::unsupported(format!(
                "a matrix of {dtype} is not supported"
            )));
        }
        Ok(vec![TensorType {
            dtype,
            shape: input.shape.clone(),
        }])
    },
    prepare: |cx| {
        let &[_, columns] = cx.output_shape(0)? else {
            return Err(OpError::internal("no matrix"));
        };
        let shift = cx.attrs().int("k")?;
        for_carried!(cx.output_dtype(0)?, T => {
            Ok(Box::new(Eye::<T> { columns, shift, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn dtype(attrs: &Attrs) -> Result<DataType, OpError> {
    match attrs.get("dtype") {
        Some(&crate::Attr::Type(dtype)) => Ok(dtype),
        _ => Err(OpError::invalid("the attribute dtype is missing")),
    }
}

struct Eye<T> {
    columns: usize,
    shift: i64,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: ConvertibleElement> Kernel for Eye<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let out = call.output::<T>(0)?.flat();
        out.fill(T::from_signed(0));
        for (row, start) in (0..out.len()).step_by(self.columns.max(1)).enumerate() {
            let column = self.shift.saturating_add(row as i64);
            if (0..self.columns as i64).contains(&column) {
                out.set(start + column as usize, T::from_signed(1));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 3], &[9.0; 6]);
        let attrs = || none().with("dtype", DataType::Float32);
        check(
            "jumar.EyeLike",
            &[x()],
            attrs(),
            &f32s(&[2, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
        );
        check(
            "jumar.EyeLike",
            &[x()],
            attrs().with("k", 1),
            &f32s(&[2, 3], &[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
        );
        check(
            "jumar.EyeLike",
            &[x()],
            attrs().with("k", -2),
            &f32s(&[2, 3], &[0.0; 6]),
        );
        let integer = none().with("dtype", DataType::Int64);
        check(
            "jumar.EyeLike",
            &[x()],
            integer,
            &i64s(&[2, 3], &[1, 0, 0, 0, 1, 0]),
        );
        check(
            "jumar.EyeLike",
            &[f32s(&[3, 0], &[])],
            attrs(),
            &f32s(&[3, 0], &[]),
        );
        refuse(
            "jumar.EyeLike",
            &[f32s(&[2], &[0.0; 2])],
            attrs(),
            "not a matrix",
        );
    }
}
