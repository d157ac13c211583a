//! Models of the engine: what they hold is released, however they are let go.

use std::path::Path;
use std::sync::{Arc, Barrier};

use jumar::engine::{Call, Caller, Context, Lookups, Runtime};
use jumar::offline::graph::{self, BuildOptions, onnx};
use jumar::offline::{Model, Package, Results, ShapedInput, SuppliedMemory, Targets};
use jumar::{ErrorKind, Settings};

static TEST: Call = Call {
    name: "a test",
    number: u16::MAX,
};

/// A runtime of its own for each test, so that its memory can be measured.
struct Engine {
    _runtime: Runtime,
    context: Arc<Context>,
}

impl Engine {
    fn new() -> Engine {
        let runtime = Settings::default().build().expect("a runtime");
        let context = runtime.retain_device(0).expect("device 0");
        Engine {
            _runtime: runtime,
            context,
        }
    }

    fn used(&self) -> u64 {
        self.context.device().memory_use().0
    }

    fn load(&self, options: &BuildOptions) -> Arc<Model> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits/digits.onnx");
        let bytes = std::fs::read(file).expect("the digits network");
        let imported = onnx::import(&bytes, None).expect("an ONNX model");
        let (model, executable) = graph::compile_to_run(imported, options).expect("a model");
        let package = Package::from_model(model, executable).expect("a package");
        by(|caller| Model::load(&package, &self.context, SuppliedMemory::default(), caller))
            .expect("loaded")
    }
}

fn by<T>(work: impl FnOnce(&Caller<'_>) -> T) -> T {
    let lookups = Lookups::default();
    work(&Caller::new(&TEST, &lookups))
}

#[test]
fn a_model_that_nobody_unloads_frees_its_memory_and_its_streams() {
    let engine = Engine::new();
    let (before, streams) = (engine.used(), engine.context.stream_ids().len());
    let model = engine.load(&BuildOptions::default());
    model.own_stream().expect("a stream");
    assert!(engine.used() > before);
    drop(model);
    assert_eq!(engine.used(), before);
    assert_eq!(engine.context.stream_ids().len(), streams);
}

#[test]
fn a_model_that_was_unloaded_refuses_executions_and_makes_no_stream() {
    let engine = Engine::new();
    let streams = engine.context.stream_ids().len();
    let model = engine.load(&BuildOptions::default());
    by(|caller| model.unload(caller));
    let stream = engine.context.default_stream().expect("the default stream");
    let refused = by(|caller| model.submit(&stream, &[], &[], caller));
    let refused = refused.expect_err("its weights are freed");
    assert_eq!(refused.kind(), ErrorKind::ModelExecute);
    assert!(refused.sentence().contains("unloaded"), "{refused}");
    assert_eq!(
        model.own_stream().map(drop).map_err(|error| error.kind()),
        Err(ErrorKind::ModelExecute)
    );
    assert_eq!(engine.context.stream_ids().len(), streams);
}

#[test]
fn threads_that_need_the_models_stream_at_once_make_one() {
    let engine = Engine::new();
    let streams = engine.context.stream_ids().len();
    for _ in 0..20 {
        let model = engine.load(&BuildOptions::default());
        let barrier = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    barrier.wait();
                    assert!(model.own_stream().is_ok());
                });
            }
        });
        assert_eq!(engine.context.stream_ids().len(), streams + 1);
        drop(model);
        assert_eq!(engine.context.stream_ids().len(), streams);
    }
}

#[test]
fn outputs_that_nobody_takes_are_freed_with_the_results() {
    let engine = Engine::new();
    let open = BuildOptions {
        input_shapes: [("image".to_owned(), vec![(0, -1), (1, 1), (8, 8), (8, 8)])].into(),
        ..BuildOptions::default()
    };
    let before = engine.used();
    let model = engine.load(&open);
    assert!(model.description().open, "the batch is not known");
    let image = by(|caller| engine.context.allocate(256, 256, caller)).expect("memory");
    let results = Arc::<Results>::default();
    let inputs = vec![ShapedInput {
        span: image.span,
        dims: [1, 1, 8, 8].into_iter().collect(),
    }];
    by(|caller| model.execute_open(inputs, Targets::from_iter([None]), results.clone(), caller))
        .expect("a run");
    drop(results);
    by(|caller| engine.context.free(image.span.address(), caller)).expect("freed");
    drop(model);
    assert_eq!(engine.used(), before);
}
