//! Calls of operators in tests: arguments by the names of their parameters, and the bytes of all tensors behind them.

use jumar_ops::view::Block;
use jumar_types::dtype::DataType;

use crate::{Arg, OpError, ParamKind, Refusal, Signature, TensorArg, TensorDesc, Workers};

/// A call that is not planned yet. Parameters that are not set are null, 0, false or empty.
pub(crate) struct Trial {
    signature: &'static Signature,
    args: Vec<Arg>,
    memory: Vec<Vec<u8>>,
}

/// The memory of the tensors of a call that has run.
pub(crate) struct Outcome {
    signature: &'static Signature,
    args: Vec<Arg>,
    memory: Vec<Vec<u8>>,
}

impl Trial {
    pub fn new(name: &str) -> Trial {
        let mut all = crate::signatures::ALL.iter();
        let signature = all.find(|signature| signature.name == name).unwrap();
        let args = signature.params.iter().map(|param| match param.kind {
            ParamKind::Int => Arg::Int(0),
            ParamKind::Float => Arg::Float(0.0),
            ParamKind::Bool => Arg::Bool(false),
            ParamKind::Text => Arg::Text(String::new()),
            _ => Arg::Null,
        });
        Trial {
            signature,
            args: args.collect(),
            memory: Vec::new(),
        }
    }

    /// Sets an argument.
    pub fn set(mut self, param: &str, arg: Arg) -> Trial {
        let mut params = self.signature.params.iter();
        let at = params.position(|own| own.name == param);
        let at = at.unwrap_or_else(|| panic!("{} has no {param}", self.signature.name));
        self.args[at] = arg;
        self
    }

    fn member(&mut self, dtype: DataType, dims: &[usize], bytes: Vec<u8>) -> TensorArg {
        let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        let wanted = dims.iter().product::<i64>() * dtype.bits() as i64 / 8;
        assert_eq!(bytes.len() as i64, wanted, "{dims:?} of {dtype}");
        self.memory.push(bytes);
        TensorArg {
            desc: TensorDesc::contiguous(dtype, &dims),
            buffer: self.memory.len() - 1,
        }
    }

    pub fn tensor(mut self, param: &str, dtype: DataType, dims: &[usize], bytes: Vec<u8>) -> Trial {
        let tensor = self.member(dtype, dims, bytes);
        self.set(param, Arg::Tensor(tensor))
    }

    /// Sets a float32 tensor.
    pub fn floats(self, param: &str, dims: &[usize], values: &[f32]) -> Trial {
        self.tensor(param, DataType::Float32, dims, bytes_of(values))
    }

    /// Sets a tensor that is written.
    pub fn output(self, param: &str, dtype: DataType, dims: &[usize]) -> Trial {
        let bytes = dims.iter().product::<usize>() * dtype.bits() / 8;
        self.tensor(param, dtype, dims, vec![0xa5; bytes])
    }

    /// Sets a list of tensors.
    pub fn list(
        mut self,
        param: &str,
        dtype: DataType,
        members: Vec<(Vec<usize>, Vec<u8>)>,
    ) -> Trial {
        let members = members
            .into_iter()
            .map(|(dims, bytes)| Some(self.member(dtype, &dims, bytes)))
            .collect();
        self.set(param, Arg::Tensors(members))
    }

    pub fn int(self, param: &str, value: i64) -> Trial {
        self.set(param, Arg::Int(value))
    }

    pub fn float(self, param: &str, value: f64) -> Trial {
        self.set(param, Arg::Float(value))
    }

    pub fn flag(self, param: &str, value: bool) -> Trial {
        self.set(param, Arg::Bool(value))
    }

    pub fn text(self, param: &str, value: &str) -> Trial {
        self.set(param, Arg::Text(value.into()))
    }

    pub fn ints(self, param: &str, values: &[i64]) -> Trial {
        self.set(param, Arg::Ints(values.into()))
    }

    /// Returns why the call is refused.
    pub fn refusal(self) -> Refusal {
        match crate::plan(self.signature, &self.args) {
            Ok(_) => panic!("{} is not refused", self.signature.name),
            Err(refusal) => refusal,
        }
    }

    /// Plans and runs the call.
    pub fn run(self) -> Outcome {
        self.attempt().unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`Trial::run`], for a call that may fail as it runs.
    pub fn attempt(self) -> Result<Outcome, OpError> {
        let plan = crate::plan(self.signature, &self.args);
        let plan = plan.unwrap_or_else(|refusal| panic!("{refusal}"));
        let mut blocks: Vec<Block> = self.memory.iter().map(|bytes| Block::of(bytes)).collect();
        let regions: Vec<_> = blocks.iter_mut().map(Block::region).collect();
        let mut workspace = Block::zeroed(plan.workspace_bytes());
        plan.run(&regions, workspace.region(), Workers::ALONE)?;
        Ok(Outcome {
            signature: self.signature,
            args: self.args,
            memory: regions.iter().map(|region| region.to_vec()).collect(),
        })
    }
}

impl Outcome {
    /// Returns the bytes of a tensor, or of the first of a list.
    pub fn bytes(&self, param: &str) -> &[u8] {
        self.member(param, 0)
    }

    /// Returns the bytes of a member of a list.
    pub fn member(&self, param: &str, index: usize) -> &[u8] {
        let mut params = self.signature.params.iter();
        let at = params.position(|own| own.name == param).unwrap();
        match &self.args[at] {
            Arg::Tensor(tensor) => &self.memory[tensor.buffer],
            Arg::Tensors(members) => &self.memory[members[index].as_ref().unwrap().buffer],
            _ => panic!("{param} is not a tensor"),
        }
    }

    pub fn floats(&self, param: &str) -> Vec<f32> {
        let chunks = self.bytes(param).chunks(4);
        chunks
            .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }
}

pub(crate) fn bytes_of(values: &[f32]) -> Vec<u8> {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    bytes.collect()
}
