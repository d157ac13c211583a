//! Builds the dump file of one operator: the length of the header, the header, and the bytes of the tensors; or, as text, statistics of the tensors.

use std::fmt::Write as _;

use super::number;
use crate::generated::enums;

/// One tensor of an operator.
pub(super) struct Tensor {
    /// An `aclDataType`.
    pub(super) data_type: i32,
    /// An `aclFormat`.
    pub(super) format: i32,
    pub(super) dims: Vec<u64>,
    pub(super) bytes: Vec<u8>,
}

/// One execution of an operator, as the dump file describes it.
#[derive(Default)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) time_us: u64,
    pub(super) inputs: Vec<Tensor>,
    pub(super) outputs: Vec<Tensor>,
    pub(super) workspaces: Vec<Vec<u8>>,
    pub(super) attributes: Vec<(String, String)>,
}

/// A message of the header, encoded as a protocol buffer.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        // Protocol buffers leave out fields with the value 0.
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn shape(&mut self, field: u64, dims: &[u64]) {
        let mut packed = Message::default();
        for dim in dims {
            packed.varint(*dim);
        }
        let mut shape = Message::default();
        if !dims.is_empty() {
            shape.bytes(1, &packed.0);
        }
        self.bytes(field, &shape.0);
    }
}

/// Returns the number of a data type in dump files. It differs from the number in the interface.
pub(super) fn data_type(acl: i32) -> u64 {
    match acl {
        enums::ACL_FLOAT => 1,
        enums::ACL_FLOAT16 => 2,
        enums::ACL_INT8 => 3,
        enums::ACL_UINT8 => 4,
        enums::ACL_INT16 => 5,
        enums::ACL_UINT16 => 6,
        enums::ACL_INT32 => 7,
        enums::ACL_INT64 => 8,
        enums::ACL_UINT32 => 9,
        enums::ACL_UINT64 => 10,
        enums::ACL_BOOL => 11,
        enums::ACL_DOUBLE => 12,
        enums::ACL_STRING => 13,
        enums::ACL_COMPLEX64 => 16,
        enums::ACL_COMPLEX128 => 17,
        enums::ACL_BF16 => 27,
        enums::ACL_INT4 => 28,
        enums::ACL_UINT1 => 29,
        enums::ACL_COMPLEX32 => 32,
        enums::ACL_HIFLOAT8..=enums::ACL_FLOAT4_E1M2 => (acl - 1) as u64,
        _ => 0,
    }
}

/// Returns the number of a format, which is that of the interface; 0 for an unknown format.
fn format(acl: i32) -> u64 {
    u64::try_from(acl).unwrap_or(0)
}

/// Returns the contents of the file: the header and all tensors.
pub(super) fn binary(record: &Record) -> Vec<u8> {
    let mut header = Message::default();
    header.bytes(1, b"2.0");
    header.number(2, record.time_us);
    for tensor in &record.outputs {
        let mut output = Message::default();
        output.number(1, data_type(tensor.data_type));
        output.number(2, format(tensor.format));
        output.shape(3, &tensor.dims);
        output.number(6, tensor.bytes.len() as u64);
        output.shape(7, &tensor.dims);
        header.bytes(3, &output.0);
    }
    for tensor in &record.inputs {
        let mut input = Message::default();
        input.number(1, data_type(tensor.data_type));
        input.number(2, format(tensor.format));
        input.shape(3, &tensor.dims);
        input.number(5, tensor.bytes.len() as u64);
        input.shape(6, &tensor.dims);
        header.bytes(4, &input.0);
    }
    header.bytes(6, record.name.as_bytes());
    for (name, value) in &record.attributes {
        let mut attribute = Message::default();
        attribute.bytes(1, name.as_bytes());
        attribute.bytes(2, value.as_bytes());
        header.bytes(7, &attribute.0);
    }
    for space in &record.workspaces {
        let mut workspace = Message::default();
        workspace.number(3, space.len() as u64);
        header.bytes(8, &workspace.0);
    }
    let mut file = (header.0.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(&header.0);
    let tensors = record.inputs.iter().chain(&record.outputs);
    for bytes in tensors
        .map(|tensor| &tensor.bytes)
        .chain(&record.workspaces)
    {
        file.extend_from_slice(bytes);
    }
    file
}

/// A statistic of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    Max,
    Min,
    Avg,
    Nan,
    NegativeInf,
    PositiveInf,
    L2norm,
}

impl Statistic {
    /// The statistics that are written by default, in the order of the file.
    pub(super) const DEFAULT: [Statistic; 6] = [
        Statistic::Max,
        Statistic::Min,
        Statistic::Avg,
        Statistic::Nan,
        Statistic::NegativeInf,
        Statistic::PositiveInf,
    ];

    /// Finds a statistic by its name in the configuration.
    pub(super) fn named(name: &str) -> Option<Statistic> {
        Some(match name {
            "Max" => Statistic::Max,
            "Min" => Statistic::Min,
            "Avg" => Statistic::Avg,
            "Nan" => Statistic::Nan,
            "Negative Inf" => Statistic::NegativeInf,
            "Positive Inf" => Statistic::PositiveInf,
            "L2norm" => Statistic::L2norm,
            _ => return None,
        })
    }

    fn title(self) -> &'static str {
        match self {
            Statistic::Max => "Max Value",
            Statistic::Min => "Min Value",
            Statistic::Avg => "Avg Value",
            Statistic::Nan => "Nan Count",
            Statistic::NegativeInf => "Negative Inf Count",
            Statistic::PositiveInf => "Positive Inf Count",
            Statistic::L2norm => "l2norm",
        }
    }
}

/// Returns the text: a line for each tensor. If `chosen` is `None`, it contains the default statistics.
pub(super) fn statistics(record: &Record, chosen: Option<&[Statistic]>) -> String {
    let mut text = "Input/Output,Index,Data Size,Data Type,Format,Shape".to_owned();
    // The number of elements comes first if the statistics were chosen, and in the middle of the default ones.
    let (before, after): (&[Statistic], &[Statistic]) = match chosen {
        Some(chosen) => (&[], chosen),
        None => Statistic::DEFAULT.split_at(3),
    };
    for title in before
        .iter()
        .map(|one| one.title())
        .chain(["Count"])
        .chain(after.iter().map(|one| one.title()))
    {
        let _ = write!(text, ",{title}");
    }
    text.push('\n');
    let sides = [("Input", &record.inputs), ("Output", &record.outputs)];
    for (side, tensors) in sides {
        for (index, tensor) in tensors.iter().enumerate() {
            let shape: Vec<String> = tensor.dims.iter().map(u64::to_string).collect();
            let shape = match shape.is_empty() {
                true => "-".to_owned(),
                false => shape.join("x"),
            };
            let name = |of, number, prefix: &str| {
                let name = enums::name_of(of, i64::from(number)).unwrap_or("UNDEFINED");
                name.trim_start_matches(prefix).to_owned()
            };
            let _ = write!(
                text,
                "{side},{index},{},{},{},{shape}",
                tensor.bytes.len(),
                name("aclDataType", tensor.data_type, "ACL_"),
                name("aclFormat", tensor.format, "ACL_FORMAT_"),
            );
            let values = number::values(tensor.data_type, &tensor.bytes);
            let listed = before
                .iter()
                .map(|one| shown(*one, &values))
                .chain([values.len().to_string()])
                .chain(after.iter().map(|one| shown(*one, &values)));
            for value in listed {
                let _ = write!(text, ",{value}");
            }
            text.push('\n');
        }
    }
    text
}

fn shown(statistic: Statistic, values: &[f64]) -> String {
    let not_nan = || values.iter().copied().filter(|value| !value.is_nan());
    let count = |wanted: fn(&f64) -> bool| values.iter().filter(|value| wanted(value)).count();
    match statistic {
        Statistic::Nan => count(|value| value.is_nan()).to_string(),
        Statistic::NegativeInf => count(|value| *value == f64::NEG_INFINITY).to_string(),
        Statistic::PositiveInf => count(|value| *value == f64::INFINITY).to_string(),
        _ if values.is_empty() => "-".to_owned(),
        Statistic::Max => not_nan().fold(f64::NEG_INFINITY, f64::max).to_string(),
        Statistic::Min => not_nan().fold(f64::INFINITY, f64::min).to_string(),
        Statistic::Avg => (values.iter().sum::<f64>() / values.len() as f64).to_string(),
        Statistic::L2norm => values.iter().map(|v| v * v).sum::<f64>().sqrt().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let tensor = |values: &[f32]| Tensor {
            data_type: enums::ACL_FLOAT,
            format: enums::ACL_FORMAT_ND,
            dims: vec![values.len() as u64],
            bytes: values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
        };
        Record {
            name: "add".into(),
            time_us: 300,
            inputs: vec![tensor(&[1.0, 2.0])],
            outputs: vec![tensor(&[3.0, f32::NAN, f32::INFINITY, 1.0])],
            ..Record::default()
        }
    }

    #[test]
    fn a_file_is_its_header_and_then_inputs_before_outputs() {
        let file = binary(&record());
        let header = u64::from_le_bytes(file[..8].try_into().expect("eight")) as usize;
        assert_eq!(file.len(), 8 + header + 8 + 16);
        // Field 1, a text of three bytes; field 2, the number 300 in two bytes.
        assert_eq!(&file[8..16], b"\x0a\x032.0\x10\xac\x02");
        // Field 3, an output: type 1, format 2, a shape of one dimension 4, 16 bytes.
        assert_eq!(&file[16..18], [0x1a, 16]);
        assert_eq!(
            &file[18..34],
            [8, 1, 16, 2, 26, 3, 10, 1, 4, 48, 16, 58, 3, 10, 1, 4]
        );
        assert_eq!(&file[8 + header..8 + header + 4], 1f32.to_le_bytes());
    }

    #[test]
    fn statistics_are_a_line_for_each_tensor() {
        let text = statistics(&record(), None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "Input/Output,Index,Data Size,Data Type,Format,Shape,Max Value,Min Value,Avg Value,Count,Nan Count,Negative Inf Count,Positive Inf Count"
        );
        assert_eq!(lines[1], "Input,0,8,FLOAT,ND,2,2,1,1.5,2,0,0,0");
        assert_eq!(lines[2], "Output,0,16,FLOAT,ND,4,inf,1,NaN,4,1,0,1");
        let own = statistics(&record(), Some(&[Statistic::Max, Statistic::L2norm]));
        assert!(own.starts_with(
            "Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value,l2norm\n"
        ));
    }
}
