//! Models through the facade, with the digits network and its images.

use std::path::{Path, PathBuf};
use std::sync::mpsc;

use jumar::{
    Context, DataType, DeviceBuffer, ErrorKind, Model, Pending, Profile, Runtime, Settings, Stream,
};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/digits")
        .join(name)
}

fn context() -> Context {
    let profile = Profile {
        memory_bytes: 64 << 20,
        ..Settings::default().profile
    };
    let runtime = Runtime::with(&Settings {
        profile,
        ..Settings::default()
    })
    .expect("a runtime");
    runtime
        .device(0)
        .and_then(|device| device.context())
        .expect("a context")
}

fn digits(context: &Context) -> Model {
    Model::from_onnx(context, file("digits.onnx"), &[]).expect("the digits network")
}

fn images() -> Vec<[f32; 64]> {
    let bytes = std::fs::read(file("images.u8")).expect("the images");
    bytes
        .chunks(64)
        .map(|image| std::array::from_fn(|pixel| f32::from(image[pixel])))
        .collect()
}

fn labels() -> Vec<u8> {
    std::fs::read(file("labels.u8")).expect("the labels")
}

fn best(scores: &[f32]) -> u8 {
    let highest = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    highest.expect("ten scores").0 as u8
}

fn started(
    context: &Context,
    stream: &Stream,
    model: &Model,
    image: &[f32; 64],
) -> Pending<jumar::Outputs> {
    let image = DeviceBuffer::from_slice(context, image).expect("memory");
    // The buffer goes out of scope while the execution is queued.
    model.run(stream, &[(&image).into()]).expect("queued")
}

#[test]
fn the_digits_network_describes_itself() {
    let model = digits(&context());
    assert_eq!(model.name(), "digits");
    let [image] = model.inputs() else {
        panic!("one input")
    };
    assert_eq!(
        (image.name.as_str(), image.data_type, image.shape.as_slice()),
        ("image", DataType::Float32, &[1, 1, 8, 8][..])
    );
    let [scores] = model.outputs() else {
        panic!("one output")
    };
    // Node, index and name, as the interface names outputs.
    assert_eq!(
        (scores.name.as_str(), scores.len()),
        ("scores:0:scores", 10)
    );
}

#[test]
fn images_are_read_as_onnx_runtime_reads_them() {
    // ONNX Runtime 1.31 reads 316 of the 320 images rightly; examples/digits/README.md.
    let context = context();
    let stream = context.stream().expect("a stream");
    let model = digits(&context);
    let pending: Vec<_> = images()
        .iter()
        .map(|image| started(&context, &stream, &model, image))
        .collect();
    let read = pending.into_iter().map(|pending| {
        let scores = pending
            .wait()
            .and_then(|outputs| outputs.read::<f32>(0))
            .expect("done");
        // The network ends in a softmax.
        assert!(
            (scores.iter().sum::<f32>() - 1.0).abs() < 1e-5,
            "{scores:?}"
        );
        best(&scores)
    });
    let right = read
        .zip(labels())
        .filter(|(read, meant)| read == meant)
        .count();
    assert_eq!(right, 316);
}

#[test]
fn executions_of_one_model_on_two_streams_do_not_disturb_each_other() {
    let context = context();
    let model = digits(&context);
    let alone = context.stream().expect("a stream");
    let images = &images()[..40];
    let expected: Vec<Vec<f32>> = images
        .iter()
        .map(|image| {
            started(&context, &alone, &model, image)
                .wait()
                .and_then(|outputs| outputs.read(0))
                .expect("done")
        })
        .collect();
    let streams = [
        context.stream().expect("a stream"),
        context.stream().expect("a stream"),
    ];
    let pending: Vec<_> = images
        .iter()
        .zip(streams.iter().cycle())
        .map(|(image, stream)| started(&context, stream, &model, image))
        .collect();
    for (pending, expected) in pending.into_iter().zip(expected) {
        assert_eq!(
            pending
                .wait()
                .and_then(|outputs| outputs.read::<f32>(0))
                .expect("done"),
            expected
        );
    }
}

#[test]
fn outputs_go_on_on_the_device_or_into_buffers_of_the_program() {
    let context = context();
    let stream = context.stream().expect("a stream");
    let model = digits(&context);
    let image = DeviceBuffer::from_slice(&context, &images()[0]).expect("memory");
    let outputs = model
        .run(&stream, &[(&image).into()])
        .and_then(Pending::wait)
        .expect("done");
    let scores: DeviceBuffer<f32> = outputs.buffer(0).expect("scores");
    let both = DeviceBuffer::<f32>::new(&context, 20).expect("memory");
    stream
        .copy(&scores, &both.part(0..10).expect("inside"))
        .expect("queued");
    model
        .run_into(
            &stream,
            &[(&image).into()],
            &[both.part(10..20).expect("inside").into()],
        )
        .expect("queued");
    drop(outputs);
    let read = stream.read(&both).expect("read");
    assert_eq!(read[..10], read[10..]);
    assert_eq!(best(&read[..10]), labels()[0]);
}

#[test]
fn what_does_not_fit_the_model_is_refused_by_name() {
    let context = context();
    let stream = context.stream().expect("a stream");
    let model = digits(&context);
    let image = DeviceBuffer::<f32>::new(&context, 64).expect("memory");

    let refused = model.run(&stream, &[]).expect_err("no input");
    assert_eq!(
        (refused.kind(), refused.operation_name()),
        (ErrorKind::InvalidValue, Some("jumar::Model::run"))
    );
    assert_eq!(
        refused.to_string(),
        "model \"digits\" has 1 inputs, and 0 were given"
    );

    let short = DeviceBuffer::<f32>::new(&context, 63).expect("memory");
    let refused = model
        .run(&stream, &[(&short).into()])
        .expect_err("too short");
    assert_eq!(
        refused.to_string(),
        "input 0 (\"image\") of model \"digits\" is 64 elements of float32, and the buffer is 63 of float32"
    );
    let bytes = DeviceBuffer::<u8>::new(&context, 64).expect("memory");
    assert_eq!(
        model
            .run(&stream, &[(&bytes).into()])
            .expect_err("bytes")
            .kind(),
        ErrorKind::InvalidValue
    );
    let refused = model
        .run_into(&stream, &[(&image).into()], &[(&image).into()])
        .expect_err("no scores");
    assert!(
        refused
            .to_string()
            .starts_with("output 0 (\"scores:0:scores\")"),
        "{refused}"
    );

    let other = context
        .device()
        .context()
        .and_then(|context| context.stream())
        .expect("another context");
    assert_eq!(
        model
            .run(&other, &[(&image).into()])
            .expect_err("another context")
            .kind(),
        ErrorKind::ModelContext
    );

    let outputs = model
        .run(&stream, &[(&image).into()])
        .and_then(Pending::wait)
        .expect("done");
    assert_eq!(
        outputs.read::<f32>(1).expect_err("one output").to_string(),
        "there is no output 1: the model has 1"
    );
    assert_eq!(
        outputs.read::<i32>(0).expect_err("floats").to_string(),
        "output 0 (\"scores:0:scores\") is of float32, not of int32"
    );
    assert_eq!(
        outputs.buffer::<half::f16>(0).expect_err("floats").kind(),
        ErrorKind::InvalidValue
    );
}

#[test]
fn files_that_are_no_models_are_refused_by_kind() {
    let context = context();
    assert_eq!(
        Model::load(&context, "/no/such/model.om")
            .expect_err("no file")
            .kind(),
        ErrorKind::ModelPath
    );
    assert_eq!(
        Model::from_onnx(&context, "/no/such/model.onnx", &[])
            .expect_err("no file")
            .kind(),
        ErrorKind::ModelPath
    );
    assert_eq!(
        Model::load(&context, file("labels.u8"))
            .expect_err("no model")
            .kind(),
        ErrorKind::ModelInvalid
    );
    assert_eq!(
        Model::from_onnx(&context, file("labels.u8"), &[])
            .expect_err("no model")
            .kind(),
        ErrorKind::ModelInvalid
    );
    assert_eq!(
        Model::from_bytes(&context, Vec::new())
            .expect_err("nothing")
            .kind(),
        ErrorKind::ModelDataSize
    );
    let refused = Model::from_onnx(&context, file("digits.onnx"), &[("photo", &[1, 1, 8, 8])])
        .expect_err("no such input");
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument, "{refused}");
}

/// A context whose stream is blocked, with an execution queued on it, and what the device had free before.
struct Held {
    context: Context,
    free: u64,
    stream: Stream,
    model: Model,
    pending: Pending<jumar::Outputs>,
    release: mpsc::Sender<()>,
}

fn held() -> Held {
    let context = context();
    let free = context.device().memory_free();
    let stream = context.stream().expect("a stream");
    let model = digits(&context);
    let (release, held) = mpsc::channel::<()>();
    let wait = move || {
        // An error means that the sender is gone, which releases too.
        let _released = held.recv();
    };
    stream.call(wait).expect("queued");
    let pending = started(&context, &stream, &model, &images()[0]);
    Held {
        context,
        free,
        stream,
        model,
        pending,
        release,
    }
}

#[test]
fn dropping_a_model_and_everything_else_while_an_execution_is_queued_frees_all_memory() {
    let Held {
        context,
        free,
        stream,
        model,
        pending,
        release,
    } = held();
    drop(release);
    drop((model, pending, stream));
    assert_eq!(context.device().memory_free(), free);
}

#[test]
fn the_drop_of_a_model_waits_for_its_execution_and_outputs_outlive_the_model() {
    let Held {
        context,
        free,
        stream,
        model,
        pending,
        release,
    } = held();
    let waits = std::thread::spawn(move || drop(model));
    assert!(!pending.is_done());
    drop(release);
    let outputs = pending.wait().expect("done");
    waits.join().expect("dropped");
    assert_eq!(best(&outputs.read::<f32>(0).expect("read")), labels()[0]);
    drop((outputs, stream));
    assert_eq!(context.device().memory_free(), free);
}

#[test]
fn a_forgotten_execution_leaks_its_outputs_and_nothing_else() {
    let Held {
        context,
        free,
        stream,
        model,
        pending,
        release,
    } = held();
    std::mem::forget(pending);
    drop(release);
    stream.synchronize(None).expect("done");
    drop(model);
    // Ten numbers, and what the device sets aside with them.
    let leaked = free - context.device().memory_free();
    assert!((40..=128).contains(&leaked), "{leaked}");
}
