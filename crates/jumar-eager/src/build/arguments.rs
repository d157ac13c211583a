//! Arguments by name, and the checks that all operators share.

use jumar_ops::view::{Layout, MAX_RANK};
use jumar_types::dtype::DataType;

use super::{Cx, writes};
use crate::plan::Access;
use crate::promote;
use crate::refusal::RESHAPE;
use crate::view::{Base, View, broadcast};
use crate::{Arg, Group, Io, Param, ParamKind, Refusal, Scalar, TensorArg};

/// Elements that any tensor stays below, so that no sum of sizes overflows and no loop runs for days.
const MAX_ELEMENTS: usize = 1 << 46;

/// The most sequences, steps or positions that a plan keeps an entry for.
const MOST_PLANNED: usize = 1 << 24;

/// An operand that is a tensor or a host scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    /// A tensor.
    Tensor(View),
    /// A host scalar.
    Scalar(Scalar),
}

impl Cx<'_> {
    /// Refuses a tensor of a type that its parameter does not accept.
    pub(super) fn check_listed_types(&self) -> Result<(), Refusal> {
        for (param, arg) in self.params().iter().zip(self.args) {
            match arg {
                Arg::Tensor(tensor) if !param.types.contains(tensor.desc.dtype) => {
                    return Err(self.refuse_listed_type(param, None, tensor.desc.dtype));
                }
                Arg::Tensors(members) => {
                    let members = members.iter().enumerate();
                    for (index, tensor) in members.filter_map(|(at, one)| Some((at, one.as_ref()?)))
                    {
                        if !param.types.contains(tensor.desc.dtype) {
                            return Err(self.refuse_listed_type(
                                param,
                                Some(index),
                                tensor.desc.dtype,
                            ));
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    #[cold]
    fn refuse_listed_type(&self, param: &Param, member: Option<usize>, dtype: DataType) -> Refusal {
        let name = match member {
            Some(index) => format!("{}[{index}]", param.name),
            None => param.name.to_owned(),
        };
        let accepted: Vec<&str> = param.types.iter().map(DataType::name).collect();
        self.refuse_type(&name, dtype, &accepted.join(", "))
    }

    /// Checks the geometry of a tensor, and notes how the call uses it.
    pub(super) fn admit(&mut self, param: &Param, tensor: &TensorArg) -> Result<(), Refusal> {
        let desc = &tensor.desc;
        let name = param.name;
        let (rank, dims) = (desc.dims.len(), &desc.dims);
        if rank > MAX_RANK {
            return Err(self.invalid(format_args!(
                "{name} has {rank} dimensions; at most {MAX_RANK} are supported"
            )));
        }
        let (mut shape, mut strides) = ([0usize; MAX_RANK], [0isize; MAX_RANK]);
        let sizes = shape.iter_mut().zip(dims.iter());
        if desc.strides.len() != rank || sizes.fold(false, |bad, (to, &dim)| bad | set(to, dim)) {
            return Err(self.invalid(format_args!(
                "{name} has the shape {dims:?} and the strides {:?}; both need one number of at least 0 a dimension",
                desc.strides
            )));
        }
        let empty = shape[..rank].contains(&0);
        for (axis, stride) in strides[..rank].iter_mut().enumerate() {
            // No step is ever made along these.
            if empty || shape[axis] <= 1 {
                continue;
            }
            match isize::try_from(desc.strides[axis]) {
                Ok(own) if own >= 0 => *stride = own,
                _ => {
                    return Err(self.invalid(format_args!(
                        "{name} has the strides {:?}; strides must not be negative",
                        desc.strides
                    )));
                }
            }
        }
        // Dimensions of size 1 get the stride that a dense tensor has, so that more views are recognised as dense.
        let mut step = 1isize;
        for axis in (0..rank).rev() {
            if empty || shape[axis] == 1 {
                strides[axis] = step;
            }
            step = step
                .saturating_mul(shape[axis].max(1) as isize)
                .min(1 << 46);
        }
        let layout = Layout::strided(&shape[..rank], &strides[..rank])
            .filter(|layout| layout.elements() <= MAX_ELEMENTS && layout.reach() <= MAX_ELEMENTS);
        let Some(layout) = layout else {
            return Err(self.invalid(format_args!(
                "{name} with the shape {dims:?} and the strides {:?} is larger than any memory",
                desc.strides
            )));
        };
        let storage = desc.storage.iter().try_fold(1usize, |all, &dim| {
            usize::try_from(dim)
                .ok()
                .and_then(|dim| all.checked_mul(dim))
        });
        let offset = usize::try_from(desc.offset)
            .ok()
            .filter(|&offset| offset <= MAX_ELEMENTS);
        let (Some(storage), Some(offset)) = (storage, offset) else {
            return Err(self.invalid(format_args!(
                "{name} has the offset {} and the storage {:?}; neither may be negative or larger than any memory",
                desc.offset, desc.storage
            )));
        };
        if writes(param.io) && overlaps_itself(&layout) {
            return Err(self.invalid(format_args!(
                "{name} has the shape {dims:?} and the strides {:?}; two elements of an output must not share memory",
                desc.strides
            )));
        }
        self.accesses.push(Access {
            buffer: tensor.buffer,
            io: param.io,
            dtype: desc.dtype,
            offset,
            layout,
            beyond_storage: layout.reach() > 0 && offset + layout.reach() > storage,
        });
        Ok(())
    }

    fn position(&self, name: &str) -> Result<usize, Refusal> {
        let found = self.params().iter().position(|param| param.name == name);
        found.ok_or_else(|| self.defect(format_args!("there is no parameter {name}")))
    }

    /// Returns the argument of a parameter.
    pub fn arg(&self, name: &str) -> Result<&Arg, Refusal> {
        Ok(&self.args[self.position(name)?])
    }

    #[cold]
    fn other(&self, param: &Param) -> Refusal {
        self.defect(format_args!("{} is not a {:?}", param.name, param.kind))
    }

    fn view(&self, tensor: &TensorArg) -> Result<View, Refusal> {
        // Buffers are numbered in the order of the signature; only null tensors have no access.
        let same = |access: &&Access| access.buffer == tensor.buffer;
        let near = self.accesses.get(tensor.buffer).filter(same);
        let Some(access) = near.or_else(|| self.accesses.iter().find(same)) else {
            return Err(self.defect("a tensor was not admitted"));
        };
        Ok(View::new(
            Base::Buffer(access.buffer),
            access.dtype,
            access.offset,
            access.layout,
        ))
    }

    fn optional_at(&self, at: usize) -> Result<Option<View>, Refusal> {
        match &self.args[at] {
            Arg::Tensor(tensor) => self.view(tensor).map(Some),
            Arg::Null => Ok(None),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns the tensor at a position of the signature.
    pub fn tensor_at(&self, at: usize) -> Result<View, Refusal> {
        let found = self.optional_at(at)?;
        found.ok_or_else(|| self.null(self.params()[at].name))
    }

    /// Returns a tensor, input or output.
    pub fn tensor(&self, name: &str) -> Result<View, Refusal> {
        self.tensor_at(self.position(name)?)
    }

    /// Returns a tensor that may be null, input or output.
    pub fn optional(&self, name: &str) -> Result<Option<View>, Refusal> {
        self.optional_at(self.position(name)?)
    }

    /// Returns an output. The same as [`Cx::tensor`]; it reads better.
    pub fn out(&self, name: &str) -> Result<View, Refusal> {
        self.tensor(name)
    }

    /// Returns the first tensor that the operator writes, whatever its name.
    pub fn output(&self) -> Result<View, Refusal> {
        let written = |param: &Param| param.kind == ParamKind::Tensor && writes(param.io);
        match self.params().iter().position(written) {
            Some(at) => self.tensor_at(at),
            None => Err(self.defect("there is no output")),
        }
    }

    /// Returns the storage of a tensor under the shape that its descriptor has for it, from the data pointer on. It may be larger than the
    /// tensor: blocks are filled up.
    pub fn stored(&mut self, name: &str) -> Result<View, Refusal> {
        self.stored_member(name, None)
    }

    /// As [`Cx::stored`], of a tensor or of a member of a list.
    pub fn stored_member(&mut self, name: &str, member: Option<usize>) -> Result<View, Refusal> {
        let at = self.position(name)?;
        let tensor = match (&self.args[at], member) {
            (Arg::Tensor(tensor), None) => Some(tensor),
            (Arg::Tensors(members), Some(index)) => members.get(index).and_then(Option::as_ref),
            _ => None,
        };
        let Some(tensor) = tensor else {
            return Err(self.null(name));
        };
        let desc = &tensor.desc;
        let dims: Vec<usize> = desc
            .storage
            .iter()
            .map(|&dim| usize::try_from(dim).unwrap_or(0))
            .collect();
        let layout = match dims.len() <= MAX_RANK {
            true => Layout::dense(&dims).filter(|layout| layout.elements() <= MAX_ELEMENTS),
            false => None,
        };
        let Some(layout) = layout else {
            return Err(self.invalid(format_args!(
                "{name} has the storage {:?}, which is larger than any memory",
                desc.storage
            )));
        };
        let access = Access {
            buffer: tensor.buffer,
            io: self.params()[at].io,
            dtype: desc.dtype,
            offset: 0,
            layout,
            beyond_storage: false,
        };
        let view = View::new(Base::Buffer(access.buffer), access.dtype, 0, layout);
        // The call needs the memory behind the tensor as well.
        self.accesses.push(access);
        Ok(view)
    }

    /// Returns the members of a list, none of which may be null. An absent list is empty.
    pub fn tensors(&self, name: &str) -> Result<Vec<View>, Refusal> {
        self.tensors_at(self.position(name)?)
    }

    /// Returns the members of the list at a position of the signature.
    pub fn tensors_at(&self, at: usize) -> Result<Vec<View>, Refusal> {
        let param = &self.params()[at];
        match &self.args[at] {
            Arg::Tensors(members) => members
                .iter()
                .enumerate()
                .map(|(index, member)| match member {
                    Some(tensor) => self.view(tensor),
                    None => Err(self.null(&format!("{}[{index}]", param.name))),
                })
                .collect(),
            Arg::Null => Ok(Vec::new()),
            _ => Err(self.other(param)),
        }
    }

    /// Returns the members of a list, null ones included.
    pub fn optional_tensors(&self, name: &str) -> Result<Vec<Option<View>>, Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Tensors(members) => members
                .iter()
                .map(|member| member.as_ref().map(|tensor| self.view(tensor)).transpose())
                .collect(),
            Arg::Null => Ok(Vec::new()),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns a host scalar.
    pub fn scalar(&self, name: &str) -> Result<Scalar, Refusal> {
        let found = self.optional_scalar(name)?;
        found.ok_or_else(|| self.null(name))
    }

    /// Returns a host scalar that may be null.
    pub fn optional_scalar(&self, name: &str) -> Result<Option<Scalar>, Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Scalar(scalar) => Ok(Some(*scalar)),
            Arg::Null => Ok(None),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns a list of host scalars.
    pub fn scalars(&self, name: &str) -> Result<&[Scalar], Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Scalars(scalars) => Ok(scalars),
            Arg::Null => Err(self.null(name)),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns the tensor or host scalar at a position of the signature.
    pub fn operand_at(&self, at: usize) -> Result<Operand, Refusal> {
        match &self.args[at] {
            Arg::Scalar(scalar) => Ok(Operand::Scalar(*scalar)),
            _ => self.tensor_at(at).map(Operand::Tensor),
        }
    }

    /// Returns a tensor, a host scalar, or a number as a host scalar.
    pub fn operand(&self, name: &str) -> Result<Operand, Refusal> {
        let found = self.optional_operand(name)?;
        found.ok_or_else(|| self.null(name))
    }

    /// As [`Cx::operand`], of a parameter that may be null.
    pub fn optional_operand(&self, name: &str) -> Result<Option<Operand>, Refusal> {
        let at = self.position(name)?;
        Ok(Some(match &self.args[at] {
            Arg::Null => return Ok(None),
            Arg::Scalar(scalar) => Operand::Scalar(*scalar),
            Arg::Int(value) => Operand::Scalar(Scalar::of_i64(*value)),
            Arg::Float(value) => Operand::Scalar(Scalar::of_f64(*value)),
            Arg::Bool(value) => Operand::Scalar(Scalar::of_bool(*value)),
            _ => Operand::Tensor(self.tensor_at(at)?),
        }))
    }

    /// Returns an array of integers.
    pub fn ints(&self, name: &str) -> Result<&[i64], Refusal> {
        let found = self.optional_ints(name)?;
        found.ok_or_else(|| self.null(name))
    }

    /// Returns an array of integers that may be null.
    pub fn optional_ints(&self, name: &str) -> Result<Option<&[i64]>, Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Ints(values) => Ok(Some(values)),
            Arg::Null => Ok(None),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns an array of numbers.
    pub fn floats(&self, name: &str) -> Result<&[f32], Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Floats(values) => Ok(values),
            Arg::Null => Err(self.null(name)),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns an array of booleans.
    pub fn bools(&self, name: &str) -> Result<&[bool], Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Bools(values) => Ok(values),
            Arg::Null => Err(self.null(name)),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns booleans. `None` for a null pointer.
    pub fn optional_bools(&self, name: &str) -> Result<Option<&[bool]>, Refusal> {
        match &self.args[self.position(name)?] {
            Arg::Null => Ok(None),
            _ => self.bools(name).map(Some),
        }
    }

    /// Returns an integer.
    pub fn int(&self, name: &str) -> Result<i64, Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Int(value) => Ok(*value),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns a number.
    pub fn float(&self, name: &str) -> Result<f64, Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Float(value) => Ok(*value),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns a boolean.
    pub fn flag(&self, name: &str) -> Result<bool, Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Bool(value) => Ok(*value),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns a string. A null pointer is an empty string.
    pub fn text(&self, name: &str) -> Result<&str, Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Text(value) => Ok(value),
            Arg::Group(group) => Ok(&group.name),
            Arg::Null => Ok(""),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns the communicator of a name.
    pub fn group(&self, name: &str) -> Result<&Group, Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Group(group) => Ok(group),
            Arg::Text(text) => Err(self.invalid(format_args!(
                "{name} is {text:?}, and the current device has no communicator of that name; pass what HcclGetCommName returns"
            ))),
            Arg::Null => Err(self.null(name)),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns a data type.
    pub fn dtype(&self, name: &str) -> Result<DataType, Refusal> {
        let at = self.position(name)?;
        match &self.args[at] {
            Arg::Type(value) => Ok(*value),
            _ => Err(self.other(&self.params()[at])),
        }
    }

    /// Returns the position of a dimension, where negative ones count from the end. Of a tensor without dimensions, 0 and -1
    /// name the one element.
    pub fn axis(&self, param: &str, dim: i64, rank: usize) -> Result<usize, Refusal> {
        let size = rank.max(1) as i64;
        if dim < -size || dim >= size {
            return Err(self.invalid(format_args!(
                "{param} is {dim}; it must be between {} and {}",
                -size,
                size - 1
            )));
        }
        Ok(dim.rem_euclid(size) as usize)
    }

    /// Returns the positions of several dimensions, none of them twice.
    pub fn axes(&self, param: &str, dims: &[i64], rank: usize) -> Result<Vec<usize>, Refusal> {
        let mut axes = Vec::with_capacity(dims.len());
        for &dim in dims {
            let axis = self.axis(param, dim, rank)?;
            if axes.contains(&axis) {
                return Err(self.invalid(format_args!("{param} names the dimension {dim} twice")));
            }
            axes.push(axis);
        }
        Ok(axes)
    }

    /// Returns the type that two tensors are promoted to.
    pub fn promote(&self, one: DataType, two: DataType) -> Result<DataType, Refusal> {
        promote::tensors(one, two).ok_or_else(|| {
            self.invalid(format_args!(
                "tensors of the types {one} and {two} have no common type"
            ))
        })
    }

    /// Returns the type that a tensor and a host scalar are promoted to.
    pub fn promote_scalar(&self, tensor: DataType, scalar: DataType) -> Result<DataType, Refusal> {
        promote::scalar(tensor, scalar).ok_or_else(|| {
            self.invalid(format_args!(
                "a tensor of the type {tensor} and a scalar of the type {scalar} have no common type"
            ))
        })
    }

    /// Refuses an output that the result cannot be converted to.
    pub fn check_converts(&self, result: DataType, out: &View) -> Result<(), Refusal> {
        match promote::converts(result, out.dtype()) {
            true => Ok(()),
            false => Err(self.invalid(format_args!(
                "the result has the type {result}, which does not convert to {} of {}",
                out.dtype(),
                self.param_of(out)
            ))),
        }
    }

    /// Refuses a tensor of another shape.
    pub fn check_dims(&self, view: &View, dims: &[usize]) -> Result<(), Refusal> {
        match view.dims() == dims {
            true => Ok(()),
            false => Err(self
                .invalid(format_args!(
                    "{} has the shape {:?}; it must be {dims:?}",
                    self.param_of(view),
                    view.dims()
                ))
                .with_fix(RESHAPE)),
        }
    }

    /// Refuses sizes for which the plan itself would need memory: an entry for each of them. The memory of tensors is not there yet when
    /// a call is planned, so that a described size may be anything.
    pub fn check_planned(&self, what: &str, count: usize) -> Result<(), Refusal> {
        match count <= MOST_PLANNED {
            true => Ok(()),
            false => Err(self
                .invalid(format_args!(
                    "{what} are {count}; at most {MOST_PLANNED} are supported"
                ))
                .with_fix(RESHAPE)),
        }
    }

    /// Refuses tensors without elements.
    pub fn check_elements(&self, views: &[&View]) -> Result<(), Refusal> {
        match views.iter().find(|view| view.is_empty()) {
            None => Ok(()),
            Some(view) => Err(self
                .invalid(format_args!(
                    "{} has the shape {:?}; it must have elements",
                    self.param_of(view),
                    view.dims()
                ))
                .with_fix(RESHAPE)),
        }
    }

    /// Refuses a tensor without dimensions.
    pub fn check_not_scalar(&self, view: &View) -> Result<(), Refusal> {
        match view.rank() {
            0 => Err(self.invalid(format_args!(
                "{} has no dimensions; it must have at least 1",
                self.param_of(view)
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses a tensor of another type.
    pub fn check_dtype(&self, view: &View, dtype: DataType) -> Result<(), Refusal> {
        match view.dtype() == dtype {
            true => Ok(()),
            false => Err(self.refuse_type(&self.param_of(view), view.dtype(), dtype.name())),
        }
    }

    /// Refuses a tensor whose type is not one of a set.
    pub fn check_types(&self, view: &View, types: &[DataType]) -> Result<(), Refusal> {
        if types.contains(&view.dtype()) {
            return Ok(());
        }
        let names: Vec<&str> = types.iter().map(|dtype| dtype.name()).collect();
        Err(self.refuse_type(&self.param_of(view), view.dtype(), &names.join(", ")))
    }

    /// Returns the shape that views are broadcast to.
    pub fn broadcast<'v>(
        &self,
        views: impl IntoIterator<Item = &'v View, IntoIter: Clone>,
    ) -> Result<([usize; MAX_RANK], usize), Refusal> {
        let views = views.into_iter();
        let (mut dims, mut rank) = ([1; MAX_RANK], 0);
        for view in views.clone() {
            let Some(both) = broadcast(&dims[..rank], view.dims()) else {
                let shapes: Vec<String> = views
                    .map(|view| format!("{:?} of {}", view.dims(), self.param_of(view)))
                    .collect();
                return Err(self.invalid(format_args!(
                    "the shapes {} cannot be broadcast together",
                    shapes.join(" and ")
                )));
            };
            (dims, rank) = both;
        }
        Ok((dims, rank))
    }

    /// Returns the name of the parameter that a view belongs to.
    pub fn param_of(&self, view: &View) -> String {
        let Some(buffer) = self.buffer_of(view) else {
            return "an intermediate result".into();
        };
        for (param, arg) in self.params().iter().zip(self.args) {
            match arg {
                Arg::Tensor(tensor) if tensor.buffer == buffer => return param.name.into(),
                Arg::Tensors(members) => {
                    let same = |member: &Option<TensorArg>| {
                        member
                            .as_ref()
                            .is_some_and(|tensor| tensor.buffer == buffer)
                    };
                    if let Some(index) = members.iter().position(same) {
                        return format!("{}[{index}]", param.name);
                    }
                }
                _ => {}
            }
        }
        format!("tensor {buffer}")
    }

    /// Reports whether a parameter is read and written in place.
    pub fn is_in_place(&self) -> bool {
        self.params().iter().any(|param| param.io == Io::InOut)
    }
}

/// Stores a dimension, and reports whether it is negative.
fn set(to: &mut usize, dim: i64) -> bool {
    match usize::try_from(dim) {
        Ok(dim) => {
            *to = dim;
            false
        }
        Err(_) => true,
    }
}

/// Reports whether two elements of a layout lie at one offset because a dimension is repeated.
fn overlaps_itself(layout: &Layout) -> bool {
    let mut dims = layout.shape().iter().zip(layout.strides());
    layout.elements() > 0 && dims.any(|(&dim, &stride)| dim > 1 && stride == 0)
}
