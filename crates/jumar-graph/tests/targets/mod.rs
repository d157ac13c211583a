//! What is fuzzed: every reader of foreign input. A target takes any bytes; whatever it answers is right, as
//! long as it answers: in bounded time and memory, and without a panic.

use jumar_graph::{BuildOptions, GearKind, Graph, Model, compile, onnx};

/// The network of the example, in ONNX.
pub const DIGITS: &[u8] = include_bytes!("../../../../examples/digits/digits.onnx");

const AIPP: &str = "aipp_op {\n aipp_mode: static\n related_input_rank: 0\n input_format: RGB888_U8\n src_image_size_w: 12\n \
    src_image_size_h: 10\n crop: true\n load_start_pos_w: 2\n load_start_pos_h: 1\n crop_size_w: 8\n crop_size_h: 8\n csc_switch: true\n \
    rbuv_swap_switch: false\n matrix_r0c0: 298\n matrix_r0c1: 0\n matrix_r0c2: 409\n input_bias_0: 16\n mean_chn_0: 104\n min_chn_0: 0.5\n \
    var_reci_chn_0: 0.0039\n}\n";
const YUV: &str = "aipp_op {\n aipp_mode: static\n input_format: YUV420SP_U8\n src_image_size_w: 8\n src_image_size_h: 8\n resize: true\n \
    resize_output_w: 8\n resize_output_h: 8\n padding: true\n left_padding_size: 0\n top_padding_size: 0\n padding_value: 3\n}\n";
const DYNAMIC: &str = "aipp_op {\n aipp_mode: dynamic\n max_src_image_size: 800\n}\n";

/// A target: its name, what it is started from, and how it takes what was made of that.
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// Where changes start.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Takes any bytes.
    pub run: fn(&[u8]),
}

/// All of them.
pub const ALL: &[Target] = &[
    Target {
        name: "onnx",
        seeds: || vec![DIGITS.to_vec()],
        run: import,
    },
    Target {
        name: "om",
        seeds: || vec![digits_om(), geared_om()],
        run: read,
    },
    Target {
        name: "aipp",
        seeds: || {
            [AIPP, YUV, DYNAMIC]
                .map(|text| text.as_bytes().to_vec())
                .to_vec()
        },
        run: preprocess,
    },
    Target {
        name: "gears",
        seeds: || {
            [
                "1,2,4\n\n\nimage:-1,1,8,8\nFP16",
                "\n8,8;16,16\n\nimage:1,1,-1,-1\nimage:0:FP32",
                "\n\n1,8;2,16\nimage:-1,1,-1,8\nUINT8",
                "\n\n\nimage:[1~4,1,8,8]\n",
            ]
            .map(|text| text.as_bytes().to_vec())
            .to_vec()
        },
        run: options,
    },
    Target {
        name: "bombs",
        seeds: || {
            let seed = |first: u8| (0..48).map(|at| first.wrapping_mul(at) ^ at).collect();
            (1..12).map(seed).collect()
        },
        run: bomb,
    },
];

fn digits() -> Graph {
    onnx::import(DIGITS, None).expect("the example is right")
}

fn written(model: &Model) -> Vec<u8> {
    let mut bytes = Vec::new();
    model.write(&mut bytes).expect("memory takes all");
    bytes
}

fn digits_om() -> Vec<u8> {
    written(&compile(digits(), &BuildOptions::default()).expect("the example is right"))
}

/// With preprocessing, whose attributes are read back, too.
fn geared_om() -> Vec<u8> {
    let options = BuildOptions {
        preprocessing: YUV.replace("YUV420SP_U8", "YUV400_U8"),
        ..BuildOptions::default()
    };
    match compile(digits(), &options) {
        Ok(model) => written(&model),
        Err(_) => digits_om(),
    }
}

/// Memory that a case may lay hands on. A model that needs more was planned, and that is all.
const SMALL: usize = 1 << 22;

fn import(bytes: &[u8]) {
    let Ok(graph) = onnx::import(bytes, None) else {
        return;
    };
    // Dynamic dimensions are given some.
    let shapes = graph
        .inputs
        .iter()
        .map(|&id| {
            let value = graph.value(id);
            let dims = value.ty.shape.iter().map(|&dim| match dim {
                0.. => (dim, dim),
                _ => (2, 2),
            });
            (value.name.clone(), dims.collect())
        })
        .collect();
    let options = BuildOptions {
        input_shapes: shapes,
        ..BuildOptions::default()
    };
    if let Ok(model) = compile(graph, &options)
        && model.weights_len() < SMALL
    {
        // What was accepted can be written and read back.
        let bytes = written(&model);
        if let Err(error) = Model::read(&bytes) {
            panic!("what was just written is refused: {error}");
        }
    }
}

/// A message of protocol buffers under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(mut self, field: u64, value: i64) -> Message {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Operators whose results may be far larger than their inputs; the inputs, and which of them is a list of integers.
const GROWING: &[(&str, &[bool])] = &[
    ("ConstantOfShape", &[true]),
    ("Expand", &[false, true]),
    ("Tile", &[false, true]),
    ("Reshape", &[false, true]),
    ("Unsqueeze", &[false, true]),
    ("Pad", &[false, true]),
    ("Range", &[true, true, true]),
    ("OneHot", &[true, true, false]),
    ("Add", &[false, false]),
    ("Concat", &[false, false]),
    ("MatMul", &[false, false]),
    ("Gather", &[false, true]),
    ("Shape", &[false]),
    ("EyeLike", &[false]),
    ("Resize", &[false, false, false, true]),
    ("Einsum", &[false, false]),
];

/// Builds a small model whose tensors are as large as the bytes say, and imports it.
fn bomb(bytes: &[u8]) {
    const SIZES: [i64; 16] = [
        0,
        1,
        2,
        3,
        8,
        255,
        1 << 12,
        1 << 16,
        1 << 20,
        1 << 24,
        1 << 31,
        1 << 40,
        1 << 62,
        i64::MAX,
        i64::MIN,
        -1,
    ];
    let mut bytes = bytes.iter().copied();
    let mut pick = |end: usize| usize::from(bytes.next().unwrap_or(0)) % end;
    let (mut graph, mut lists) = (Message::default(), Vec::new());
    // An initializer: its dimensions, type, name and contents.
    for index in 0..1 + pick(4) {
        let name = format!("list{index}");
        let count = pick(4);
        // Now and then the dimension says more than there is.
        let declared = if pick(8) == 0 {
            SIZES[pick(16)]
        } else {
            count as i64
        };
        let mut data = Message::default();
        for _ in 0..count {
            data.varint(SIZES[pick(16)] as u64);
        }
        let tensor = Message::default()
            .number(1, declared)
            .number(2, 7)
            .bytes(7, &data.0)
            .bytes(8, name.as_bytes());
        graph = graph.bytes(5, &tensor.0);
        lists.push(name);
    }
    let mut values = vec!["x".to_owned()];
    for index in 0..1 + pick(6) {
        let (operator, inputs) = GROWING[pick(GROWING.len())];
        let output = format!("v{index}");
        let mut node = Message::default();
        for &is_list in inputs {
            let from = if is_list && pick(4) > 0 {
                &lists
            } else {
                &values
            };
            node = node.bytes(1, from[pick(from.len())].as_bytes());
        }
        node = node
            .bytes(2, output.as_bytes())
            .bytes(4, operator.as_bytes());
        let attribute = match operator {
            "Concat" => Some(("axis", 2)),
            "OneHot" => Some(("axis", 2)),
            _ => None,
        };
        if let Some((name, kind)) = attribute {
            let attribute = Message::default()
                .bytes(1, name.as_bytes())
                .number(3, SIZES[pick(4)])
                .number(20, kind);
            node = node.bytes(5, &attribute.0);
        }
        if operator == "Einsum" {
            let attribute = Message::default()
                .bytes(1, b"equation")
                .bytes(
                    4,
                    [b"ab,cd->abcd".as_slice(), b"a,b,c", b"...a,...b->ab..."][pick(3)],
                )
                .number(20, 3);
            node = node.bytes(5, &attribute.0);
        }
        graph = graph.bytes(1, &node.0);
        values.push(output.clone());
        lists.push(output);
    }
    let dimensions = (0..pick(4)).fold(Message::default(), |shape, _| {
        shape.bytes(1, &Message::default().number(1, SIZES[pick(16)]).0)
    });
    let tensor = Message::default().number(1, 1).bytes(2, &dimensions.0);
    let port = |name: &str, typed: bool| {
        let port = Message::default().bytes(1, name.as_bytes());
        match typed {
            true => port.bytes(2, &Message::default().bytes(1, &tensor.0).0),
            false => port,
        }
    };
    let last = values.last().map_or("x", String::as_str);
    graph = graph
        .bytes(2, b"bomb")
        .bytes(11, &port("x", true).0)
        .bytes(12, &port(last, false).0);
    let model = Message::default()
        .number(1, 8)
        .bytes(7, &graph.0)
        .bytes(8, &Message::default().bytes(1, b"").number(2, 17).0);
    import(&model.0);
}

/// Puts the right checksums on a file, so that what they guard is reached.
fn seal(bytes: &mut [u8]) {
    const HEADER: usize = jumar_graph::HEADER_BYTES;
    if bytes.len() < HEADER {
        return;
    }
    let word = |bytes: &[u8], at: usize| {
        let word: [u8; 8] = bytes[at..at + 8].try_into().expect("eight bytes");
        usize::try_from(u64::from_le_bytes(word)).unwrap_or(usize::MAX)
    };
    for (at, sum) in [(24, 56), (40, 60)] {
        let (start, len) = (word(bytes, at), word(bytes, at + 8));
        if let Some(section) = start.checked_add(len).and_then(|end| bytes.get(start..end)) {
            let crc = crc32fast::hash(section);
            bytes[sum..sum + 4].copy_from_slice(&crc.to_le_bytes());
        }
    }
    let crc = crc32fast::hash(&bytes[..HEADER - 4]);
    bytes[HEADER - 4..HEADER].copy_from_slice(&crc.to_le_bytes());
}

fn read(bytes: &[u8]) {
    let _ = jumar_graph::vendor::header(bytes);
    let _ = Model::read(bytes).and_then(|model| model.executable());
    let mut sealed = bytes.to_vec();
    seal(&mut sealed);
    let _ = Model::read(&sealed).and_then(|model| model.executable());
}

fn preprocess(bytes: &[u8]) {
    let options = BuildOptions {
        preprocessing: String::from_utf8_lossy(bytes).into_owned(),
        ..BuildOptions::default()
    };
    let _ = compile(digits(), &options);
}

/// Five lines: batch sizes, image sizes, dimensions, shapes, output types.
fn options(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let (batch, image, dims, shapes, types) = (line(), line(), line(), line(), line());
    let _ = BuildOptions::parse_input_shape_range(shapes);
    let _ = BuildOptions::parse_out_nodes(types);
    let _ = BuildOptions::parse_input_format(types);
    let Ok(input_shapes) = BuildOptions::parse_input_shapes(shapes) else {
        return;
    };
    let output_type = BuildOptions::parse_output_type(types).unwrap_or_default();
    let gears = BuildOptions::parse_gears(batch, image, dims, shapes).unwrap_or_default();
    let several = gears.kind != GearKind::None;
    let options = BuildOptions {
        input_shapes,
        output_type,
        gears,
        ..BuildOptions::default()
    };
    let shapes = BuildOptions::open_shapes(&options.input_shapes);
    let Ok(graph) = onnx::import_with(DIGITS, None, &shapes) else {
        return;
    };
    if let Ok(model) = compile(graph, &options) {
        assert!(several || model.description().gears.is_empty());
    }
}

/// Makes cases, the same in every run.
pub struct Random(fastrand::Rng);

impl Random {
    /// Starts one.
    pub fn new(seed: u64) -> Random {
        Random(fastrand::Rng::with_seed(seed))
    }

    fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end.max(1))
    }

    /// Makes a case of one of the seeds: cuts, changes, repeats, moves, or takes a part of another.
    pub fn case(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(5) {
            let reach = match self.below(2) {
                0 => bytes.len().min(600),
                _ => bytes.len(),
            };
            let (at, len) = (self.below(reach), 1 + self.below(24));
            let end = (at + len).min(bytes.len());
            match self.below(10) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let part = bytes[at..end].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, part);
                }
                3 => {
                    let other = &seeds[self.below(seeds.len())];
                    let from = self.below(other.len());
                    let part = other[from..(from + len).min(other.len())].to_vec();
                    bytes.splice(at..end, part);
                }
                4 => {
                    // Numbers that are often one too many.
                    let number = [0, 1, -1, i64::MAX, i64::MIN, 1 << 31, 1 << 62][self.below(7)];
                    let word = number.to_le_bytes();
                    let capacity = end - at;
                    bytes.splice(at..end, word.into_iter().take(capacity));
                }
                5 => {
                    let text: &[&[u8]] = &[
                        b"-1",
                        b"0",
                        b"99999999999",
                        b"1e38",
                        b"nan",
                        b"{",
                        b"}",
                        b":",
                        b";",
                        b",",
                        b"~",
                    ];
                    let word = text[self.below(text.len())].to_vec();
                    bytes.splice(at..at, word);
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = match self.below(4) {
                            0 => 0,
                            1 => 0xFF,
                            2 => *byte ^ (1 << self.below(8)),
                            _ => self.0.u8(..),
                        };
                    }
                }
            }
        }
        bytes
    }
}
