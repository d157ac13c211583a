//! Preprocessing of images (AIPP): the configuration file, and the operator that it puts in front of an input.

use std::collections::BTreeMap;

use jumar_ops::{AIPP, Aipp, Attrs, DYNAMIC_AIPP, PixelFormat, TensorType, UNKNOWN, find};
use jumar_types::dtype::DataType;

use crate::{Attr, BuildOptions, GearKind, Graph, GraphError, Node, Result, ValueId};

/// One block of a configuration: names and their values.
type Block = BTreeMap<String, String>;

/// The names that a block may hold.
const KEYS: &[&str] = &[
    "aipp_mode",
    "related_input_rank",
    "related_input_name",
    "input_format",
    "src_image_size_w",
    "src_image_size_h",
    "crop",
    "load_start_pos_w",
    "load_start_pos_h",
    "crop_size_w",
    "crop_size_h",
    "resize",
    "resize_output_w",
    "resize_output_h",
    "padding",
    "left_padding_size",
    "right_padding_size",
    "top_padding_size",
    "bottom_padding_size",
    "padding_value",
    "csc_switch",
    "rbuv_swap_switch",
    "ax_swap_switch",
    "single_line_mode",
    "matrix_r0c0",
    "matrix_r0c1",
    "matrix_r0c2",
    "matrix_r1c0",
    "matrix_r1c1",
    "matrix_r1c2",
    "matrix_r2c0",
    "matrix_r2c1",
    "matrix_r2c2",
    "output_bias_0",
    "output_bias_1",
    "output_bias_2",
    "input_bias_0",
    "input_bias_1",
    "input_bias_2",
    "mean_chn_0",
    "mean_chn_1",
    "mean_chn_2",
    "mean_chn_3",
    "min_chn_0",
    "min_chn_1",
    "min_chn_2",
    "min_chn_3",
    "var_reci_chn_0",
    "var_reci_chn_1",
    "var_reci_chn_2",
    "var_reci_chn_3",
    "max_src_image_size",
    "support_rotation",
];

/// The names that belong to settings which come while the model runs.
const DYNAMIC_KEYS: &[&str] = &["max_src_image_size", "support_rotation"];

/// The names that belong to both modes.
const COMMON_KEYS: &[&str] = &["aipp_mode", "related_input_rank", "related_input_name"];

fn bad(text: impl std::fmt::Display) -> GraphError {
    GraphError::option(format!("insert_op_conf: {text}"))
}

/// Reads `aipp_op { name : value ... }`, several if there are.
fn blocks(text: &str) -> Result<Vec<Block>> {
    let mut words = Vec::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let spaced = line
            .replace('{', " { ")
            .replace('}', " } ")
            .replace([':', ',', ';'], " ");
        words.extend(spaced.split_whitespace().map(str::to_owned));
    }
    let mut words = words.into_iter();
    let mut blocks = Vec::new();
    while let Some(word) = words.next() {
        if word != "aipp_op" || words.next().as_deref() != Some("{") {
            return Err(bad(format_args!(
                "{word:?} stands where a block begins: write aipp_op {{ ... }}"
            )));
        }
        let mut block = Block::new();
        loop {
            let Some(name) = words.next() else {
                return Err(bad("the last block has no closing brace"));
            };
            if name == "}" {
                break;
            }
            if !KEYS.contains(&name.as_str()) {
                return Err(bad(format_args!("{name:?} is not known")));
            }
            let Some(value) = words.next().filter(|value| value != "{" && value != "}") else {
                return Err(bad(format_args!("{name} has no value")));
            };
            let value = value.trim_matches('"').to_owned();
            if block.insert(name.clone(), value).is_some() {
                return Err(bad(format_args!("{name} is given twice")));
            }
        }
        blocks.push(block);
    }
    if blocks.is_empty() {
        return Err(bad("the file holds no block aipp_op"));
    }
    Ok(blocks)
}

struct Reader<'a>(&'a Block);

impl Reader<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| {
                bad(format_args!(
                    "{name} is {text:?}, which is not a number in range"
                ))
            }),
        }
    }

    fn flag(&self, name: &str) -> Result<bool> {
        match self.text(name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(text) => Err(bad(format_args!(
                "{name} is {text:?}; true and false are possible"
            ))),
        }
    }

    fn numbers<T: std::str::FromStr + Copy, const N: usize>(
        &self,
        prefix: &str,
        default: T,
    ) -> Result<[T; N]> {
        let mut values = [default; N];
        for (index, value) in values.iter_mut().enumerate() {
            *value = self.number(&format!("{prefix}{index}"), default)?;
        }
        Ok(values)
    }
}

/// Puts the operators that a configuration describes in front of the graph's inputs.
pub(crate) fn insert(graph: &mut Graph, options: &BuildOptions) -> Result<()> {
    let text = &options.preprocessing;
    if text.is_empty() {
        return Ok(());
    }
    if options.gears.kind == GearKind::Dims {
        return Err(bad(
            "images are not preprocessed in a model with dynamic_dims; dynamic_batch_size is possible",
        ));
    }
    let mut done: Vec<usize> = Vec::new();
    let own = graph.inputs.len();
    for block in blocks(text)? {
        let reader = Reader(&block);
        let index = match reader.text("related_input_name") {
            None => reader.number("related_input_rank", 0_usize)?,
            Some(name) => graph
                .inputs
                .iter()
                .position(|&id| graph.value(id).name == name)
                .ok_or_else(|| bad(format_args!("the model has no input {name:?}")))?,
        };
        if index >= own || done.contains(&index) {
            return Err(bad(format_args!(
                "input {index} is named of a model with {own}, or is named twice"
            )));
        }
        done.push(index);
        let node = if is_dynamic(&reader)? {
            configured_front(graph, &reader, index, options)?
        } else {
            front(graph, &reader, index, options.gears.kind)?
        };
        graph.nodes.insert(0, node);
    }
    Ok(())
}

/// Reads the mode of a block, and checks that it holds nothing of the other one.
fn is_dynamic(reader: &Reader<'_>) -> Result<bool> {
    let dynamic = match reader.text("aipp_mode") {
        Some("static") => false,
        Some("dynamic") => true,
        other => {
            return Err(bad(format_args!(
                "aipp_mode is {:?}; it must be static or dynamic",
                other.unwrap_or_default()
            )));
        }
    };
    let stranger = reader.0.keys().find(|name| {
        !COMMON_KEYS.contains(&name.as_str()) && DYNAMIC_KEYS.contains(&name.as_str()) != dynamic
    });
    match stranger {
        None => Ok(dynamic),
        Some(name) if dynamic => Err(bad(format_args!(
            "{name} belongs to the mode static; in the mode dynamic the program says it before each execution"
        ))),
        Some(name) => Err(bad(format_args!("{name} belongs to the mode dynamic"))),
    }
}

/// The most images that one execution may bring.
fn most_images(options: &BuildOptions, name: &str, batch: i64) -> Result<usize> {
    let most = if batch != UNKNOWN {
        batch
    } else if options.gears.kind == GearKind::Batch {
        let sizes = options.gears.values.iter().filter_map(|gear| gear.first());
        sizes.copied().max().unwrap_or(-1)
    } else {
        let range = options.input_shapes.get(name);
        range
            .and_then(|range| range.first())
            .map_or(-1, |first| first.1)
    };
    usize::try_from(most).ok().filter(|&most| (1..=MOST_IMAGES).contains(&most)).ok_or_else(|| {
        bad(format_args!(
            "the input {name} takes {most} images; the number must be 1 to {MOST_IMAGES}, and a dynamic number needs a bound"
        ))
    })
}

/// The most images that settings are kept for.
const MOST_IMAGES: usize = 4096;

/// The largest `max_src_image_size`.
const LARGEST: usize = 1 << 31;

/// The name of the input with the settings of images, if a program sets them before each execution.
pub const SETTINGS_INPUT: &str = "ascend_dynamic_aipp_data";

/// Puts preprocessing in front whose settings are an input more.
fn configured_front(
    graph: &mut Graph,
    reader: &Reader<'_>,
    index: usize,
    options: &BuildOptions,
) -> Result<Node> {
    if reader.flag("support_rotation")? {
        return Err(bad(
            "support_rotation true is not supported: no function of the interface sets a rotation",
        ));
    }
    let largest = reader.number("max_src_image_size", 0_usize)?;
    if !(1..=LARGEST).contains(&largest) {
        return Err(bad(format_args!(
            "max_src_image_size is {largest}; in the mode dynamic it says how many bytes all images of an execution have at most"
        )));
    }
    let id = graph.inputs[index];
    let value = graph.value(id).clone();
    let [batch, channels, height, width] = value.ty.shape[..] else {
        return Err(bad(format_args!(
            "the input {} is {}, and images have four dimensions",
            value.name, value.ty
        )));
    };
    if [channels, height, width].iter().any(|&dim| dim < 1) {
        return Err(bad(format_args!(
            "the input {} is {}: its channels, height and width have to be fixed",
            value.name, value.ty
        )));
    }
    let most = most_images(options, &value.name, batch)?;
    let bytes = largest.div_ceil(most) as i64;
    let images = graph.add_value(
        value.name.clone(),
        TensorType::new(DataType::UInt8, [batch, bytes]),
    );
    let before = graph
        .inputs
        .iter()
        .filter(|&&id| graph.value(id).name.starts_with(SETTINGS_INPUT))
        .count();
    let name = match before {
        0 => SETTINGS_INPUT.to_owned(),
        more => format!("{SETTINGS_INPUT}_{more}"),
    };
    if graph.values.iter().any(|value| value.name == name) {
        return Err(bad(format_args!(
            "the model has a tensor {name} of its own, the name that settings are given by"
        )));
    }
    let settings = graph.add_value(
        name,
        TensorType::new(DataType::UInt8, [Aipp::block_bytes(most) as i64]),
    );
    graph.inputs.push(settings);
    let name = format!("{}/aipp", value.name);
    graph.value_mut(id).name.clone_from(&name);
    graph.inputs[index] = images;
    let node = Node {
        name,
        operator: find(DYNAMIC_AIPP)
            .ok_or_else(|| GraphError::internal("there is no preprocessing"))?,
        inputs: vec![Some(images), Some(settings)],
        outputs: vec![id],
        attrs: Attrs::new()
            .with("channels", channels)
            .with("height", height)
            .with("width", width)
            .with("dtype", value.ty.dtype),
        bodies: Vec::new(),
    };
    graph.infer(&node).map_err(|error| bad(error.text()))?;
    Ok(node)
}

fn front(graph: &mut Graph, reader: &Reader<'_>, index: usize, gears: GearKind) -> Result<Node> {
    let id = graph.inputs[index];
    let value = graph.value(id).clone();
    let [batch, channels, height, width] = value.ty.shape[..] else {
        return Err(bad(format_args!(
            "the input {} is {}, and images have four dimensions",
            value.name, value.ty
        )));
    };
    if gears == GearKind::Image && (height, width) == (UNKNOWN, UNKNOWN) && channels > 0 {
        return front_of_any_size(graph, reader, index, [batch, channels]);
    }
    let (Ok(channels), Ok(height), Ok(width)) = (
        usize::try_from(channels),
        usize::try_from(height),
        usize::try_from(width),
    ) else {
        return Err(bad(format_args!(
            "the input {} is {}: its channels, height and width have to be fixed",
            value.name, value.ty
        )));
    };
    let aipp = read(reader, width, height)?;
    if aipp.result() != [width, height] {
        let [wide, high] = aipp.result();
        return Err(bad(format_args!(
            "images of {wide} by {high} come out, and the input {} takes {width} by {height}",
            value.name
        )));
    }
    let [rows, columns, depth] = aipp
        .format
        .dims(aipp.source[1], aipp.source[0])
        .map(|dim| dim as i64);
    let images = graph.add_value(
        value.name.clone(),
        TensorType::new(DataType::UInt8, [batch, rows, columns, depth]),
    );
    let name = format!("{}/aipp", value.name);
    graph.value_mut(id).name.clone_from(&name);
    graph.inputs[index] = images;
    let node = Node {
        name,
        operator: find(AIPP).ok_or_else(|| GraphError::internal("there is no preprocessing"))?,
        inputs: vec![Some(images)],
        outputs: vec![id],
        attrs: Attrs::new()
            .with("config", aipp.words())
            .with("channels", channels as i64)
            .with("dtype", value.ty.dtype),
        bodies: Vec::new(),
    };
    graph.infer(&node).map_err(|error| bad(error.text()))?;
    Ok(node)
}

/// Puts preprocessing in front of an input whose height and width each execution chooses: images are as large as the input.
fn front_of_any_size(
    graph: &mut Graph,
    reader: &Reader<'_>,
    index: usize,
    [batch, channels]: [i64; 2],
) -> Result<Node> {
    for name in ["crop", "resize", "padding"] {
        if reader.flag(name)? {
            return Err(bad(format_args!(
                "{name} true is not possible with dynamic_image_size: images are as large as the model's input"
            )));
        }
    }
    for name in ["src_image_size_w", "src_image_size_h"] {
        if reader.number(name, 0_usize)? != 0 {
            return Err(bad(format_args!(
                "{name} is not possible with dynamic_image_size: leave it out"
            )));
        }
    }
    // Any size that every format has: the operator takes that of the image instead.
    let aipp = read(reader, 2, 2)?;
    let depth = aipp.format.dims(2, 2)[2] as i64;
    let id = graph.inputs[index];
    let value = graph.value(id).clone();
    let images = graph.add_value(
        value.name.clone(),
        TensorType::new(DataType::UInt8, [batch, UNKNOWN, UNKNOWN, depth]),
    );
    let name = format!("{}/aipp", value.name);
    graph.value_mut(id).name.clone_from(&name);
    graph.inputs[index] = images;
    let node = Node {
        name,
        operator: find(AIPP).ok_or_else(|| GraphError::internal("there is no preprocessing"))?,
        inputs: vec![Some(images)],
        outputs: vec![id],
        attrs: Attrs::new()
            .with("config", aipp.words())
            .with("channels", channels)
            .with("any_size", true)
            .with("dtype", value.ty.dtype),
        bodies: Vec::new(),
    };
    graph.infer(&node).map_err(|error| bad(error.text()))?;
    Ok(node)
}

/// Returns how many rows of bytes an image of so many lines has in an input.
///
/// # Errors
///
/// InvalidOption: the input's format allows even heights only.
pub(crate) fn rows(graph: &Graph, input: ValueId, height: i64) -> Result<i64> {
    match preprocessing(graph, input) {
        Some((aipp, _)) if aipp.format == PixelFormat::Yuv420sp => {
            if height % 2 != 0 {
                return Err(bad(format_args!(
                    "images of YUV420SP have an even height, not {height}"
                )));
            }
            Ok(height + height / 2)
        }
        _ => Ok(height),
    }
}

fn read(reader: &Reader<'_>, width: usize, height: usize) -> Result<Aipp> {
    let format = match reader.text("input_format") {
        Some("YUV420SP_U8") => PixelFormat::Yuv420sp,
        Some("XRGB8888_U8") => PixelFormat::Xrgb8888,
        Some("RGB888_U8") => PixelFormat::Rgb888,
        Some("YUV400_U8") => PixelFormat::Yuv400,
        other => {
            return Err(bad(format_args!(
                "input_format is {:?}; it must be YUV420SP_U8, XRGB8888_U8, RGB888_U8 or YUV400_U8",
                other.unwrap_or_default()
            )));
        }
    };
    let or = |value: usize, otherwise: usize| if value == 0 { otherwise } else { value };
    let border = if reader.flag("padding")? {
        [
            reader.number("left_padding_size", 0)?,
            reader.number("right_padding_size", 0)?,
            reader.number("top_padding_size", 0)?,
            reader.number("bottom_padding_size", 0)?,
        ]
    } else {
        [0_usize; 4]
    };
    let inner = |size: usize, one: usize, two: usize| {
        size.checked_sub(one.saturating_add(two))
            .ok_or_else(|| bad("the border is larger than the model's input"))
    };
    let inner = [
        inner(width, border[0], border[1])?,
        inner(height, border[2], border[3])?,
    ];
    let source = [
        or(reader.number("src_image_size_w", 0)?, inner[0]),
        or(reader.number("src_image_size_h", 0)?, inner[1]),
    ];
    let scales = reader.flag("resize")?;
    let crop = if reader.flag("crop")? {
        let full = if scales { source } else { inner };
        [
            reader.number("load_start_pos_w", 0)?,
            reader.number("load_start_pos_h", 0)?,
            or(reader.number("crop_size_w", 0)?, full[0]),
            or(reader.number("crop_size_h", 0)?, full[1]),
        ]
    } else {
        [0, 0, source[0], source[1]]
    };
    let scaled = if scales {
        [
            or(reader.number("resize_output_w", 0)?, inner[0]),
            or(reader.number("resize_output_h", 0)?, inner[1]),
        ]
    } else {
        [crop[2], crop[3]]
    };
    let colours = match reader.flag("csc_switch")? {
        true => Some(conversion(reader, format)?),
        false => None,
    };
    let mean = reader.numbers::<u8, 4>("mean_chn_", 0).map_err(|error| {
        bad(format_args!(
            "{}; means are integers from 0 to 255",
            error.text()
        ))
    })?;
    let aipp = Aipp {
        format,
        source,
        crop,
        scaled,
        border,
        border_value: reader.number("padding_value", 0.0)?,
        swap: reader.flag("rbuv_swap_switch")?,
        rotate: reader.flag("ax_swap_switch")?,
        colours,
        mean: mean.map(f32::from),
        least: reader.numbers("min_chn_", 0.0)?,
        factor: reader.numbers("var_reci_chn_", 1.0)?,
    };
    aipp.check().map_err(|error| bad(error.text()))?;
    Ok(aipp)
}

/// The conversion of a configuration that states none: YUV in the narrow range of BT.601 to BGR.
///
/// # Source
///
/// The template of AIPP configuration files in the documents of ATC, whose values are the defaults.
const DEFAULT_MATRIX: [i32; 9] = [298, 516, 0, 298, -100, -208, 298, 0, 409];
const DEFAULT_INPUT_BIAS: [i32; 3] = [16, 128, 128];

/// A conversion of colours: matrix, output bias, input bias.
type Conversion = ([i32; 9], [i32; 3], [i32; 3]);

/// Reads a conversion of colours.
///
/// A matrix that is stated in part is 0 elsewhere, as the documented conversions to grey have it.
fn conversion(reader: &Reader, format: PixelFormat) -> Result<Conversion> {
    let name = |at: usize| format!("matrix_r{}c{}", at / 3, at % 3);
    let stated = (0..9).any(|at| reader.text(&name(at)).is_some());
    if !stated && format != PixelFormat::Yuv420sp {
        return Err(bad(
            "csc_switch is true and no matrix_rNcN is stated; only YUV420SP_U8 has a default conversion, so state the matrix",
        ));
    }
    let (matrix_default, bias_default) = match stated {
        true => ([0; 9], [0; 3]),
        false => (DEFAULT_MATRIX, DEFAULT_INPUT_BIAS),
    };
    let mut matrix = matrix_default;
    let mut input_bias = bias_default;
    for (at, value) in matrix.iter_mut().enumerate() {
        *value = i32::from(reader.number(&name(at), *value as i16)?);
    }
    for (at, value) in input_bias.iter_mut().enumerate() {
        *value = i32::from(reader.number(&format!("input_bias_{at}"), *value as u8)?);
    }
    let output_bias = reader.numbers::<u8, 3>("output_bias_", 0)?;
    Ok((matrix, output_bias.map(i32::from), input_bias))
}

/// Preprocessing whose settings are an input more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicAipp {
    /// The number of the input with the images.
    pub images: usize,
    /// The number of the input with the settings.
    pub settings: usize,
    /// What the images become.
    pub result: TensorType,
    /// How many images there may be at most.
    pub most: usize,
}

/// Finds every preprocessing whose settings are an input more.
pub fn dynamic_preprocessing(graph: &Graph) -> Vec<DynamicAipp> {
    let number = |id: Option<&Option<ValueId>>| {
        let id = (*id?)?;
        graph.inputs.iter().position(|&input| input == id)
    };
    let nodes = graph
        .nodes
        .iter()
        .filter(|node| node.operator.name == DYNAMIC_AIPP);
    nodes
        .filter_map(|node| {
            let (images, settings) = (number(node.inputs.first())?, number(node.inputs.get(1))?);
            let bytes = *graph.value(graph.inputs[settings]).ty.shape.first()?;
            let head = Aipp::block_bytes(0);
            Some(DynamicAipp {
                images,
                settings,
                result: graph.value(*node.outputs.first()?).ty.clone(),
                most: usize::try_from(bytes).ok()?.checked_sub(head)?
                    / (Aipp::block_bytes(1) - head),
            })
        })
        .collect()
}

/// Returns what happens to the images of an input, where something does, and what they become.
pub fn preprocessing(graph: &Graph, input: ValueId) -> Option<(Aipp, TensorType)> {
    let node = graph
        .nodes
        .iter()
        .find(|node| node.operator.name == AIPP && node.inputs.first() == Some(&Some(input)))?;
    match node.attrs.get("config")? {
        Attr::Ints(words) => {
            let result = graph.value(*node.outputs.first()?).ty.clone();
            let mut aipp = Aipp::from_words(words).ok()?;
            if node.attrs.get("any_size") == Some(&Attr::Bool(true)) {
                (aipp.source, aipp.crop, aipp.scaled) = ([0; 2], [0; 4], [0; 2]);
            }
            Some((aipp, result))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_read_with_comments_and_any_spacing() {
        let text = "# of a camera\naipp_op{ aipp_mode: static\ninput_format : RGB888_U8 # bytes\n mean_chn_0:121\nvar_reci_chn_0 : 0.0039 }";
        let found = blocks(text).unwrap();
        assert_eq!(found.len(), 1);
        let aipp = read(&Reader(&found[0]), 6, 4).unwrap();
        assert_eq!(aipp.source, [6, 4]);
        assert_eq!(
            (aipp.mean[0], aipp.factor[0], aipp.factor[1]),
            (121.0, 0.0039, 1.0)
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "no block"),
            ("aipp { }", "where a block begins"),
            ("aipp_op { aipp_mode: static", "closing brace"),
            ("aipp_op { colour: 1 }", "\"colour\" is not known"),
            ("aipp_op { crop: }", "crop has no value"),
            ("aipp_op { crop: true crop: true }", "twice"),
            ("aipp_op { input_format: RGB888_U8 }", "aipp_mode"),
            ("aipp_op { aipp_mode: lively }", "static or dynamic"),
            (
                "aipp_op { aipp_mode: dynamic max_src_image_size: 9 crop: true }",
                "crop belongs to the mode static",
            ),
            (
                "aipp_op { aipp_mode: static input_format: RGB888_U8 max_src_image_size: 9 }",
                "belongs to the mode dynamic",
            ),
            (
                "aipp_op { aipp_mode: static input_format: RGB888_U8 mean_chn_1: 104.5 }",
                "means are integers from 0 to 255",
            ),
            (
                "aipp_op { aipp_mode: static input_format: PNG }",
                "input_format is \"PNG\"",
            ),
            (
                "aipp_op { aipp_mode: static input_format: RGB888_U8 crop: perhaps }",
                "true and false",
            ),
            (
                "aipp_op { aipp_mode: static input_format: RGB888_U8 src_image_size_w: 99999999999999999999 }",
                "not a number",
            ),
            (
                "aipp_op { aipp_mode: static input_format: YUV420SP_U8 src_image_size_w: 7 src_image_size_h: 4 crop: true crop_size_w: 6 crop_size_h: 4 }",
                "even",
            ),
            (
                "aipp_op { aipp_mode: static input_format: RGB888_U8 crop: true load_start_pos_w: 3 }",
                "not inside",
            ),
            (
                "aipp_op { aipp_mode: static input_format: RGB888_U8 padding: true left_padding_size: 50 }",
                "border",
            ),
        ] {
            let found = blocks(text).and_then(|found| {
                is_dynamic(&Reader(&found[0]))?;
                read(&Reader(&found[0]), 6, 4)
            });
            let error = found.unwrap_err().text().to_owned();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_conversion_without_a_matrix_is_the_documented_one() {
        let of = |text: &str| {
            let text = format!("aipp_op {{ aipp_mode: static csc_switch: true {text} }}");
            let found = blocks(&text).and_then(|found| read(&Reader(&found[0]), 6, 4));
            found.map(|aipp| aipp.colours.unwrap())
        };
        let (matrix, output, input) = of("input_format: YUV420SP_U8").unwrap();
        assert_eq!(matrix, [298, 516, 0, 298, -100, -208, 298, 0, 409]);
        assert_eq!((output, input), ([0; 3], [16, 128, 128]));
        let (matrix, _, input) = of("input_format: YUV420SP_U8 matrix_r0c0: 256").unwrap();
        assert_eq!((matrix, input), ([256, 0, 0, 0, 0, 0, 0, 0, 0], [0; 3]));
        let error = of("input_format: RGB888_U8").unwrap_err();
        assert!(
            error.text().contains("state the matrix"),
            "{}",
            error.text()
        );
    }

    #[test]
    fn damaged_configurations_only_answer() {
        let good = "aipp_op { aipp_mode: static input_format: YUV420SP_U8 csc_switch: true matrix_r0c0: 256 padding: true left_padding_size: 2 }";
        for at in 0..good.len() {
            let _ = blocks(&good[..at]).and_then(|found| read(&Reader(&found[0]), 6, 4));
            for byte in ["{", "}", "9", "-", ":", " ", "\u{7f}"] {
                let text = format!("{}{byte}{}", &good[..at], &good[at + 1..]);
                let _ = blocks(&text).and_then(|found| read(&Reader(&found[0]), 6, 4));
            }
        }
    }
}
