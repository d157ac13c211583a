//! Formulas: the operators of arithmetic as functions that nest.

use std::cell::RefCell;

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::op::Op;
use super::{Cx, invalid};
use jumar_graph::ValueId;

type One = Result<ValueId, OpError>;

/// Adds the nodes of a formula to the graph.
pub(super) struct Formula<'a> {
    cx: RefCell<&'a mut Cx>,
}

impl<'a> Formula<'a> {
    pub fn new(cx: &'a mut Cx) -> Formula<'a> {
        Formula {
            cx: RefCell::new(cx),
        }
    }

    /// Adds a node of one output.
    pub fn node(&self, operator: &'static str, inputs: &[ValueId], attrs: Attrs) -> One {
        self.cx.borrow_mut().one(operator, inputs, attrs)
    }

    /// Adds a node of several outputs.
    pub fn nodes(
        &self,
        operator: &'static str,
        inputs: &[Option<ValueId>],
        attrs: Attrs,
        outputs: usize,
    ) -> Result<Vec<ValueId>, OpError> {
        self.cx
            .borrow_mut()
            .add_node(operator, inputs, attrs, outputs)
    }

    fn plain(&self, operator: &'static str, inputs: &[ValueId]) -> One {
        self.node(operator, inputs, Attrs::new())
    }

    pub fn dtype(&self, value: ValueId) -> DataType {
        self.cx.borrow().ty(value).dtype
    }

    pub fn dims(&self, value: ValueId) -> Result<Vec<i64>, OpError> {
        self.cx.borrow().dims(value)
    }

    pub fn rank(&self, value: ValueId) -> Result<usize, OpError> {
        self.cx.borrow().rank(value)
    }

    pub fn ints(&self, values: &[i64]) -> ValueId {
        self.cx.borrow_mut().ints(values)
    }

    pub fn floats(&self, values: &[f32]) -> ValueId {
        let tensor = Tensor::from_floats(values);
        self.cx.borrow_mut().add_constant(tensor)
    }

    pub fn reshape(&self, value: ValueId, dims: &[i64]) -> One {
        self.cx.borrow_mut().reshape(value, dims)
    }

    pub fn transpose(&self, value: ValueId, order: &[i64]) -> One {
        self.cx.borrow_mut().transpose(value, order)
    }

    /// Returns the entries `from..to` of an axis.
    pub fn part(&self, value: ValueId, axis: i64, from: i64, to: i64) -> One {
        let inputs = [
            value,
            self.ints(&[from]),
            self.ints(&[to]),
            self.ints(&[axis]),
        ];
        self.node("StridedSliceV2", &inputs, Attrs::new())
    }

    /// Returns the values one behind the other along an axis.
    pub fn joined(&self, values: &[ValueId], axis: i64) -> One {
        let attrs = Attrs::new()
            .with("concat_dim", axis)
            .with("N", values.len() as i64);
        self.node("ConcatD", values, attrs)
    }

    pub fn cast(&self, value: ValueId, dtype: DataType) -> One {
        self.cx.borrow_mut().cast(value, dtype)
    }

    /// Returns a number of the type that `like` has.
    pub fn number(&self, value: f64, like: ValueId) -> One {
        self.cx.borrow_mut().number(value, like)
    }

    /// Returns the values in one type that holds them all.
    pub fn promoted<const N: usize>(
        &self,
        mut values: [ValueId; N],
    ) -> Result<[ValueId; N], OpError> {
        self.cx.borrow_mut().promote(&mut values)?;
        Ok(values)
    }

    pub fn add(&self, a: ValueId, b: ValueId) -> One {
        self.plain("Add", &[a, b])
    }

    pub fn sub(&self, a: ValueId, b: ValueId) -> One {
        self.plain("Sub", &[a, b])
    }

    pub fn mul(&self, a: ValueId, b: ValueId) -> One {
        self.plain("Mul", &[a, b])
    }

    pub fn div(&self, a: ValueId, b: ValueId) -> One {
        self.plain("RealDiv", &[a, b])
    }

    pub fn max(&self, a: ValueId, b: ValueId) -> One {
        self.plain("Maximum", &[a, b])
    }

    pub fn min(&self, a: ValueId, b: ValueId) -> One {
        self.plain("Minimum", &[a, b])
    }

    pub fn pow(&self, a: ValueId, b: ValueId) -> One {
        self.plain("Pow", &[a, b])
    }

    /// Returns `a + number`.
    pub fn plus(&self, a: ValueId, number: f64) -> One {
        self.add(a, self.number(number, a)?)
    }

    /// Returns `a * number`.
    pub fn times(&self, a: ValueId, number: f64) -> One {
        self.mul(a, self.number(number, a)?)
    }

    /// Returns `number - a`.
    pub fn from(&self, number: f64, a: ValueId) -> One {
        self.sub(self.number(number, a)?, a)
    }

    pub fn square(&self, a: ValueId) -> One {
        self.mul(a, a)
    }

    /// Applies an operator of one input.
    pub fn of(&self, operator: &'static str, a: ValueId) -> One {
        self.plain(operator, &[a])
    }

    pub fn less(&self, a: ValueId, b: ValueId) -> One {
        self.plain("Less", &[a, b])
    }

    pub fn greater(&self, a: ValueId, b: ValueId) -> One {
        self.plain("Greater", &[a, b])
    }

    /// Returns whether `a > number`.
    pub fn above(&self, a: ValueId, number: f64) -> One {
        self.greater(a, self.number(number, a)?)
    }

    /// Returns whether `a < number`.
    pub fn below(&self, a: ValueId, number: f64) -> One {
        self.less(a, self.number(number, a)?)
    }

    pub fn equal(&self, a: ValueId, b: ValueId) -> One {
        self.plain("Equal", &[a, b])
    }

    /// Returns `yes` where the condition holds, and `no` elsewhere.
    pub fn choose(&self, condition: ValueId, yes: ValueId, no: ValueId) -> One {
        self.plain("SelectV2", &[condition, yes, no])
    }

    /// Returns `value` where the condition holds, and 0 elsewhere.
    pub fn only(&self, condition: ValueId, value: ValueId) -> One {
        self.choose(condition, value, self.number(0.0, value)?)
    }

    /// Reduces over axes; none are all.
    pub fn reduce(&self, operator: &'static str, value: ValueId, axes: &[i64], keep: bool) -> One {
        let attrs = Attrs::new()
            .with("keep_dims", keep)
            .with("noop_with_empty_axes", false);
        if axes.is_empty() {
            return self.node(operator, &[value], attrs);
        }
        self.node(operator, &[value, self.ints(axes)], attrs)
    }

    /// Returns the sum over axes; none are all.
    pub fn sum(&self, value: ValueId, axes: &[i64], keep: bool) -> One {
        self.reduce("ReduceSum", value, axes, keep)
    }
}

/// Adds a constant of one integer without dimensions.
pub(super) fn scalar(f: &Formula<'_>, value: i64) -> One {
    f.reshape(f.ints(&[value]), &[])
}

/// Lowers an operator to a formula of the named inputs, which are brought to one type.
pub(super) fn of<const N: usize>(
    cx: &mut Cx,
    op: &Op<'_>,
    names: [&str; N],
    formula: impl FnOnce(&Formula<'_>, [ValueId; N]) -> Result<Vec<ValueId>, OpError>,
) -> Result<Vec<ValueId>, OpError> {
    let mut values = Vec::with_capacity(N);
    for name in names {
        values.push(op.input(name)?);
    }
    cx.promote(&mut values)?;
    let values = <[ValueId; N]>::try_from(values)
        .map_err(|_| invalid("its inputs are not those of the operator"))?;
    formula(&Formula::new(cx), values)
}
