//! Packages of compiled models, compared with packages that were written and read.

use std::path::Path;

use jumar_model::Package;
use jumar_model::graph::{self, BuildOptions, onnx};

fn compiled(options: &BuildOptions) -> (graph::Model, graph::Executable) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits/digits.onnx");
    let bytes = std::fs::read(file).expect("the digits network");
    let imported = onnx::import(&bytes, None).expect("an ONNX model");
    graph::compile_to_run(imported, options).expect("a model")
}

fn written_and_read(model: &graph::Model) -> Package<'static> {
    let mut bytes = Vec::new();
    model.write(&mut bytes).expect("memory takes all");
    Package::parse(bytes).expect("a model file")
}

#[test]
fn a_compiled_model_is_what_its_file_is() {
    let batches = BuildOptions {
        input_shapes: [("image".to_owned(), vec![(0, -1), (1, 1), (8, 8), (8, 8)])].into(),
        ..BuildOptions::default()
    };
    for options in [BuildOptions::default(), batches] {
        let (model, executable) = compiled(&options);
        let file = written_and_read(&model);
        let direct = Package::from_model(model, executable).expect("a package");
        assert_eq!(
            format!("{:?}", direct.description()),
            format!("{:?}", file.description())
        );
        assert_eq!(direct.work_bytes(), file.work_bytes());
        assert_eq!(direct.weight_bytes(), file.weight_bytes());
        assert!(direct.weight_bytes() > 0);
        assert_eq!(
            (direct.graph_bytes(), direct.external_weights().len()),
            (0, 0)
        );
    }
}

#[test]
fn a_model_without_its_weights_is_refused() {
    let mut bytes = Vec::new();
    let (model, executable) = compiled(&BuildOptions::default());
    model.write(&mut bytes).expect("memory takes all");
    let read = graph::Model::read(&bytes).expect("a model file");
    let refused = Package::from_model(read, executable)
        .err()
        .expect("its weights are in the file");
    assert!(
        refused.sentence().contains("does not own its weights"),
        "{refused}"
    );
}
