//! Gears: the sizes that a model was built for, of which each execution chooses one.

use crate::description::{Format, GEAR_INPUT, Gear, GearKind};
use crate::{
    BuildOptions, Description, Graph, GraphError, GraphErrorKind, InputShapes, Plan, Port, Result,
    aipp, dynamic,
};
use jumar_types::dtype::DataType;

/// The most gears that a model may have; the interface carries 128.
const MOST: usize = 128;

/// The gear options of `atc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GearOptions {
    /// What they choose.
    pub kind: GearKind,
    /// The numbers of each.
    pub values: Vec<Vec<i64>>,
    /// The inputs in the order in which their shapes were given: the numbers are for their dynamic dimensions in this order.
    pub order: Vec<String>,
}

impl BuildOptions {
    /// Reads `1,2,4` (batch), `224,224;448,448` (image) or `1,224;8,448` (dims), of which one at most is given.
    ///
    /// # Errors
    ///
    /// InvalidOption: what cannot be read so.
    pub fn parse_gears(batch: &str, image: &str, dims: &str, shapes: &str) -> Result<GearOptions> {
        let given: Vec<(GearKind, &str, &str)> = [
            (GearKind::Batch, "dynamic_batch_size", batch),
            (GearKind::Image, "dynamic_image_size", image),
            (GearKind::Dims, "dynamic_dims", dims),
        ]
        .into_iter()
        .filter(|(_, _, text)| !text.is_empty())
        .collect();
        let (kind, name, text) = match given[..] {
            [] => return Ok(GearOptions::default()),
            [one] => one,
            [(_, one, _), (_, two, _), ..] => {
                return Err(GraphError::option(format!(
                    "{one} and {two} cannot be given together: choose one kind of gears"
                )));
            }
        };
        let bad = |why: &str| GraphError::option(format!("{name} {text:?} {why}"));
        let parts: Vec<&str> = match kind {
            GearKind::Batch => text.split(',').collect(),
            GearKind::None | GearKind::Image | GearKind::Dims => text
                .split(';')
                .filter(|part| !part.trim().is_empty())
                .collect(),
        };
        let mut values: Vec<Vec<i64>> = Vec::new();
        for part in parts {
            let gear = part
                .split(',')
                .map(|number| number.trim().parse::<i64>().ok().filter(|&one| one > 0))
                .collect::<Option<Vec<i64>>>()
                .ok_or_else(|| bad("has a part that is not a list of positive numbers"))?;
            if kind == GearKind::Image && gear.len() != 2 {
                return Err(bad(
                    "has to hold a height and a width in each part, as 224,224;448,448",
                ));
            }
            if values.contains(&gear) {
                return Err(bad("names a size twice"));
            }
            values.push(gear);
        }
        if values.is_empty() || values.len() > MOST {
            return Err(bad(&format!(
                "has {} sizes; it must have 1 to {MOST}",
                values.len()
            )));
        }
        let order = shapes
            .split(';')
            .filter_map(|part| Some(part.rsplit_once(':')?.0.trim().to_owned()))
            .collect();
        Ok(GearOptions {
            kind,
            values,
            order,
        })
    }
}

/// Computes the dimensions of each gear, plans it, and adds the input that selects the gear.
pub(crate) fn describe(
    graph: &Graph,
    options: &GearOptions,
    shapes: &InputShapes,
    weight_bytes: usize,
    description: &mut Description,
) -> Result<()> {
    if options.kind == GearKind::None {
        return Ok(());
    }
    let unbounded = shapes
        .values()
        .flatten()
        .all(|&(least, most)| least == most || (least, most) == (0, -1));
    if !unbounded {
        return Err(GraphError::option(
            "sizes to choose from and ranges of dimensions cannot be given together: write -1 in input_shape",
        ));
    }
    // The position of each dynamic dimension, in the order of the option.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let rank = |name: &str| options.order.iter().position(|own| own == name);
    let mut inputs: Vec<usize> = (0..graph.inputs.len()).collect();
    inputs.sort_by_key(|&index| rank(&graph.value(graph.inputs[index]).name).unwrap_or(usize::MAX));
    for index in inputs {
        let value = graph.value(graph.inputs[index]);
        let axes: Vec<usize> = (0..value.ty.shape.len())
            .filter(|&axis| value.ty.shape[axis] < 0)
            .collect();
        let fits = match options.kind {
            GearKind::None | GearKind::Dims => true,
            GearKind::Batch => axes.is_empty() || axes == [0],
            GearKind::Image => axes.is_empty() || axes.len() == 2,
        };
        if !fits {
            return Err(GraphError::option(format!(
                "the input {} is {}: {}",
                value.name,
                value.ty,
                match options.kind {
                    GearKind::Batch => "with dynamic_batch_size only the first dimension may be -1",
                    _ => "with dynamic_image_size height and width have to be -1, and nothing else",
                }
            )));
        }
        open.extend(axes.into_iter().map(|axis| (index, axis)));
    }
    if open.is_empty() {
        return Err(GraphError::option(
            "sizes to choose from are given, and input_shape leaves no dimension open with -1",
        ));
    }
    for values in &options.values {
        let numbers: Vec<i64> = match options.kind {
            GearKind::Batch => vec![values[0]; open.len()],
            GearKind::Image => values.iter().copied().cycle().take(open.len()).collect(),
            GearKind::None | GearKind::Dims => values.clone(),
        };
        if numbers.len() != open.len() {
            return Err(GraphError::option(format!(
                "dynamic_dims {values:?} has {} numbers, and input_shape leaves {} dimensions open",
                numbers.len(),
                open.len()
            )));
        }
        let mut gear = Gear {
            values: values.clone(),
            inputs: graph
                .inputs
                .iter()
                .map(|&id| graph.value(id).ty.shape.clone())
                .collect(),
            outputs: Vec::new(),
        };
        for (&(input, axis), number) in open.iter().zip(numbers) {
            gear.inputs[input][axis] = match (options.kind, axis) {
                (GearKind::Image, 1) => aipp::rows(graph, graph.inputs[input], number)?,
                _ => number,
            };
        }
        let plan = plan(graph, &gear, weight_bytes)
            .map_err(|error| error.at(format_args!("size {values:?}")))?;
        gear.outputs = plan
            .outputs
            .iter()
            .map(|port| port.dims.iter().map(|&dim| dim as i64).collect())
            .collect();
        description.gears.push(gear);
    }
    description.gear_kind = options.kind;
    finish(description)
}

/// Sets dynamic dimensions of ports to the size of the largest gear, and adds the input that selects the gear.
pub(crate) fn finish(description: &mut Description) -> Result<()> {
    let gears = &description.gears;
    let largest = |dtype: DataType, dims: &mut dyn Iterator<Item = &Vec<i64>>| {
        dims.map(|dims| crate::compile::largest_bytes(dtype, dims, &[]))
            .max()
            .unwrap_or(0)
    };
    for (index, port) in description.inputs.iter_mut().enumerate() {
        let mut dims = gears.iter().filter_map(|gear| gear.inputs.get(index));
        port.bytes = largest(port.dtype, &mut dims);
        port.range.clear();
    }
    for (index, port) in description.outputs.iter_mut().enumerate() {
        let mut dims = gears.iter().filter_map(|gear| gear.outputs.get(index));
        port.bytes = largest(port.dtype, &mut dims);
    }
    let count = gears.first().map_or(0, |gear| gear.values.len());
    if description
        .inputs
        .iter()
        .any(|port| port.name == GEAR_INPUT)
    {
        return Err(GraphError::invalid(format!(
            "the model has an input {GEAR_INPUT} of its own, the name that the size is given by"
        )));
    }
    description.inputs.push(Port {
        name: GEAR_INPUT.into(),
        dtype: DataType::Int64,
        dims: vec![count as i64],
        range: Vec::new(),
        format: Format::Nd,
        bytes: count * size_of::<i64>(),
    });
    Ok(())
}

/// Plans one gear.
pub(crate) fn plan(graph: &Graph, gear: &Gear, weight_bytes: usize) -> Result<Plan> {
    dynamic::specialise(graph, &gear.inputs, weight_bytes)?.ok_or_else(|| {
        GraphError::new(
            GraphErrorKind::NotSupported,
            "shapes depend on values that are computed while the model runs; leave the dimensions open without sizes to choose from",
        )
    })
}

#[cfg(test)]
mod tests {
    use jumar_ops::{Attrs, TensorType, find};

    use super::*;
    use crate::{Executable, GraphOutput, Model, Node, compile};

    fn parsed(batch: &str, image: &str, dims: &str) -> Result<GearOptions> {
        BuildOptions::parse_gears(batch, image, dims, "x:-1,3;y:-1,3")
    }

    #[test]
    fn sizes_are_read_in_the_order_of_the_option() {
        let batch = parsed("4, 1,2", "", "").unwrap();
        assert_eq!(
            (batch.kind, batch.values),
            (GearKind::Batch, vec![vec![4], vec![1], vec![2]])
        );
        let image = parsed("", "8,6;16,12", "").unwrap();
        assert_eq!(
            (image.kind, image.values),
            (GearKind::Image, vec![vec![8, 6], vec![16, 12]])
        );
        let dims = parsed("", "", "1,2,3;4,5,6;").unwrap();
        assert_eq!(
            (dims.kind, dims.values),
            (GearKind::Dims, vec![vec![1, 2, 3], vec![4, 5, 6]])
        );
        assert_eq!(dims.order, ["x", "y"]);
        assert_eq!(parsed("", "", "").unwrap().kind, GearKind::None);
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for (batch, image, dims) in [
            ("0", "", ""),
            ("-1", "", ""),
            ("1,1", "", ""),
            ("1;2", "", ""),
            ("one", "", ""),
            ("99999999999999999999", "", ""),
            (",", "", ""),
            ("", "8", ""),
            ("", "8,8,8", ""),
            ("", "8,8;8,8", ""),
            ("", ";", ""),
            ("", "", "1,,2"),
            ("1,2", "8,8", ""),
            ("1", "", "1"),
        ] {
            assert!(
                parsed(batch, image, dims).is_err(),
                "{batch:?} {image:?} {dims:?}"
            );
        }
        let many: Vec<String> = (1..=129).map(|size| size.to_string()).collect();
        assert!(parsed(&many.join(","), "", "").is_err());
        assert_eq!(
            parsed(&many[..128].join(","), "", "").unwrap().values.len(),
            128
        );
    }

    #[test]
    fn damaged_options_only_answer() {
        for text in ["1,2,4", "8,6;16,12", "1,2,3;4,5,6"] {
            for at in 0..text.len() {
                for byte in [",", ";", "-", "9", " ", "\u{7f}", ""] {
                    let damaged = format!("{}{byte}{}", &text[..at], &text[at + 1..]);
                    let _ = parsed(&damaged, "", "");
                    let _ = parsed("", &damaged, "");
                    let _ = parsed("", "", &damaged);
                }
            }
        }
    }

    /// z = x + y, both of the dynamic shape that is given.
    fn model(shape: &[i64], gears: GearOptions) -> Result<Model> {
        let mut graph = Graph {
            name: "sum".into(),
            ..Graph::default()
        };
        let ty = || TensorType::new(DataType::Float32, shape.to_vec());
        let inputs = [graph.add_value("x", ty()), graph.add_value("y", ty())];
        let sum = graph.add_value("z", ty());
        graph.inputs = inputs.to_vec();
        graph.outputs.push(GraphOutput {
            name: "z".into(),
            producer: ("add".into(), 0),
            value: sum,
        });
        graph.nodes.push(Node {
            name: "add".into(),
            operator: find("Add").unwrap(),
            inputs: inputs.map(Some).to_vec(),
            outputs: vec![sum],
            attrs: Attrs::new(),
            bodies: Vec::new(),
        });
        let range: Vec<(i64, i64)> = shape
            .iter()
            .map(|&dim| if dim < 0 { (0, -1) } else { (dim, dim) })
            .collect();
        let options = BuildOptions {
            input_shapes: [("x", &range), ("y", &range)]
                .map(|(name, range)| (name.to_owned(), range.clone()))
                .into(),
            gears,
            ..BuildOptions::default()
        };
        compile(graph, &options)
    }

    #[test]
    fn each_size_has_its_dimensions_its_plan_and_the_largest_says_the_bytes() {
        let model = model(&[-1, 3], parsed("1,4,2", "", "").unwrap()).unwrap();
        let description = model.description();
        assert_eq!(description.gear_kind, GearKind::Batch);
        let dims: Vec<_> = description
            .gears
            .iter()
            .map(|gear| gear.outputs[0].clone())
            .collect();
        assert_eq!(dims, [[1, 3], [4, 3], [2, 3]]);
        assert_eq!(description.gears[1].inputs, [[4, 3], [4, 3]]);
        assert_eq!(description.inputs.len(), 3);
        assert_eq!(description.inputs[0].bytes, 4 * 3 * 4);
        assert_eq!(description.inputs[0].dims, [-1, 3]);
        assert_eq!(
            (
                description.inputs[2].name.as_str(),
                description.inputs[2].bytes
            ),
            (GEAR_INPUT, 8)
        );
        let Executable::Geared(plans) = model.executable().unwrap() else {
            panic!("a model with sizes to choose from has a plan for each")
        };
        assert_eq!(plans.len(), 3);
        assert_eq!(plans[2].outputs[0].dims, [2, 3]);
    }

    #[test]
    fn numbers_go_to_open_dimensions_in_the_order_in_which_shapes_were_given() {
        let mut gears = parsed("", "", "1,2;1,4").unwrap();
        gears.order = vec!["y".into(), "x".into()];
        let model = model(&[-1, 3], gears).unwrap();
        assert_eq!(model.description().gears[1].inputs, [[4, 3], [1, 3]]);
        assert_eq!(model.description().gears[1].outputs, [[4, 3]]);
        assert_eq!(model.description().inputs[2].bytes, 16);
    }

    #[test]
    fn sizes_that_do_not_fit_the_shapes_are_refused() {
        for (shape, gears) in [
            (&[1, 3][..], parsed("1,2", "", "")),
            (&[1, -1][..], parsed("1,2", "", "")),
            (&[1, 1, -1, 4][..], parsed("", "8,8", "")),
            (&[-1, 3][..], parsed("", "", "1;2")),
        ] {
            assert!(model(shape, gears.unwrap()).is_err(), "{shape:?}");
        }
    }
}
