"""Models through the Python module: the calls of the guides' flow, and the shapes of what they return."""

import shutil
import subprocess

import numpy
import pytest

import acl
from fake import build

SUCCESS = 0
H2D, D2H = 1, 2
DIGITS = build.ROOT / "examples" / "digits"


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    tree = build.module_file().resolve().parents[2]
    atc = tree / "bin" / "atc"
    if not atc.exists():
        atc = shutil.which("atc")
    output = tmp_path_factory.mktemp("model") / "digits"
    subprocess.run(
        [str(atc), f"--model={DIGITS / 'digits.onnx'}", "--framework=5", f"--output={output}", "--soc_version=Ascend910B1"],
        check=True, capture_output=True, timeout=120)
    return f"{output}.om"


@pytest.fixture
def model(device, model_file):
    model_id, ret = acl.mdl.load_from_file(model_file)
    assert ret == SUCCESS, acl.get_recent_err_msg()
    assert model_id >= 1  # some programs ask `if self.model_id:`
    yield model_id
    assert acl.mdl.unload(model_id) == SUCCESS


@pytest.fixture
def description(model):
    description = acl.mdl.create_desc()
    assert description != 0
    assert acl.mdl.get_desc(description, model) == SUCCESS
    yield description
    assert acl.mdl.destroy_desc(description) == SUCCESS


def onnx_values():
    """Names and shapes from the ONNX file itself."""
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(str(DIGITS / "digits.onnx")).graph
    constants = {i.name for i in graph.initializer}

    def shape(value):
        return [d.dim_value for d in value.type.tensor_type.shape.dim]

    inputs = [v for v in graph.input if v.name not in constants]
    return [(v.name, shape(v)) for v in inputs], [(v.name, shape(v)) for v in graph.output]


def test_description(description):
    assert acl.mdl.get_num_inputs(description) == acl.mdl.get_num_outputs(description) == 1
    assert acl.mdl.get_input_size_by_index(description, 0) == 4 * 64
    assert acl.mdl.get_output_size_by_index(description, 0) == 4 * 10
    assert acl.mdl.get_input_data_type(description, 0) == acl.mdl.get_output_data_type(description, 0) == 0
    inputs, outputs = onnx_values()
    dims, ret = acl.mdl.get_input_dims(description, 0)
    assert ret == SUCCESS
    assert set(dims) == {"name", "dimCount", "dims"}
    assert (dims["dims"], dims["dimCount"]) == (inputs[0][1], len(inputs[0][1]))
    name = acl.mdl.get_input_name_by_index(description, 0)
    assert name == inputs[0][0]
    assert acl.mdl.get_input_index_by_name(description, name) == (0, SUCCESS)
    dims, ret = acl.mdl.get_output_dims(description, 0)
    assert (dims["dims"], ret) == (outputs[0][1], SUCCESS)
    assert acl.mdl.get_cur_output_dims(description, 0) == (dims, SUCCESS)


def test_what_a_bad_index_gets(description):
    for index in (1, -1, 2**40):
        assert acl.mdl.get_input_size_by_index(description, index) == 0
        dims, ret = acl.mdl.get_input_dims(description, index)
        assert dims == {} and ret != SUCCESS
        dims, ret = acl.mdl.get_output_dims(description, index)
        assert dims == {} and ret != SUCCESS
    _, ret = acl.mdl.get_input_index_by_name(description, "no such input")
    assert ret != SUCCESS


class Session:
    """Datasets for one image, like those of the samples."""

    def __init__(self, description):
        self.input, self.input_pointer, self.input_size = self.dataset(acl.mdl.get_input_size_by_index(description, 0))
        self.output, self.output_pointer, self.output_size = self.dataset(
            acl.mdl.get_output_size_by_index(description, 0))

    @staticmethod
    def dataset(size):
        pointer, ret = acl.rt.malloc(size, 0)
        assert ret == SUCCESS
        dataset = acl.mdl.create_dataset()
        assert acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(pointer, size)) == (dataset, SUCCESS)
        return dataset, pointer, size

    def write(self, image):
        data = image.astype(numpy.float32).tobytes()
        assert acl.rt.memcpy(
            self.input_pointer, self.input_size, acl.util.bytes_to_ptr(data), len(data), H2D) == SUCCESS

    def read(self):
        data = bytes(self.output_size)
        assert acl.rt.memcpy(
            acl.util.bytes_to_ptr(data), self.output_size, self.output_pointer, self.output_size, D2H) == SUCCESS
        return numpy.frombuffer(data, dtype=numpy.float32)

    def close(self):
        for dataset, pointer in ((self.input, self.input_pointer), (self.output, self.output_pointer)):
            buffer = acl.mdl.get_dataset_buffer(dataset, 0)
            assert acl.get_data_buffer_addr(buffer) == pointer
            assert acl.destroy_data_buffer(buffer) == SUCCESS
            assert acl.mdl.destroy_dataset(dataset) == SUCCESS
            assert acl.rt.free(pointer) == SUCCESS


def digit_images():
    images = numpy.fromfile(DIGITS / "images.u8", dtype=numpy.uint8).reshape(-1, 64)
    labels = numpy.fromfile(DIGITS / "labels.u8", dtype=numpy.uint8)
    return images, labels


def reference(images):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(DIGITS / "digits.onnx"), providers=["CPUExecutionProvider"])
    shape = [1, *session.get_inputs()[0].shape[1:]]
    name = session.get_inputs()[0].name
    return numpy.stack([
        session.run(None, {name: image.astype(numpy.float32).reshape(shape)})[0].reshape(-1) for image in images])


def test_execute_agrees_with_onnxruntime(model, description):
    images, labels = digit_images()
    images, labels = images[:64], labels[:64]
    expected = reference(images)
    session = Session(description)
    scores = []
    for image in images:
        session.write(image)
        assert acl.mdl.execute(model, session.input, session.output) == SUCCESS
        scores.append(session.read())
    session.close()
    scores = numpy.stack(scores)
    assert numpy.abs(scores - expected).max() / numpy.abs(expected).max() <= 1e-5
    assert (scores.argmax(axis=1) == labels).mean() >= 0.95


def test_execute_async_with_callbacks_between(model, description, model_file):
    """The flow of the samples with callbacks: each result is read on the thread of the reports."""
    images, _ = digit_images()
    stream, ret = acl.rt.create_stream()
    assert ret == SUCCESS
    context, ret = acl.rt.get_context()
    assert ret == SUCCESS
    session = Session(description)
    results, state = [], {"run": True}

    def reports(arguments):
        assert acl.rt.set_context(context) == SUCCESS
        while state["run"]:
            acl.rt.process_report(50)

    thread, ret = acl.util.start_thread(reports, [])
    assert ret == SUCCESS
    assert acl.rt.subscribe_report(thread, stream) == SUCCESS
    for image in images[:8]:
        session.write(image)
        assert acl.mdl.execute_async(model, session.input, session.output, stream) == SUCCESS
        assert acl.rt.launch_callback(lambda given: given.append(session.read()), results, 1, stream) == SUCCESS
        assert acl.rt.synchronize_stream(stream) == SUCCESS
    assert acl.rt.unsubscribe_report(thread, stream) == SUCCESS
    state["run"] = False
    assert acl.util.stop_thread(thread) == SUCCESS
    # The first execution of a model decides whether it is one for execute or for execute_async.
    assert acl.mdl.execute(model, session.input, session.output) == 500002
    other, ret = acl.mdl.load_from_file(model_file)
    assert ret == SUCCESS
    again = []
    for image in images[:8]:
        session.write(image)
        assert acl.mdl.execute(other, session.input, session.output) == SUCCESS
        again.append(session.read())
    assert acl.mdl.unload(other) == SUCCESS
    assert (numpy.stack(results) == numpy.stack(again)).all()
    session.close()
    assert acl.rt.destroy_stream(stream) == SUCCESS


def test_from_memory_and_with_memory(device, model_file):
    with open(model_file, "rb") as file:
        data = file.read()
    model_id, ret = acl.mdl.load_from_mem(acl.util.bytes_to_ptr(data), len(data))
    assert ret == SUCCESS
    assert acl.mdl.unload(model_id) == SUCCESS
    work, weight, ret = acl.mdl.query_size(model_file)
    assert ret == SUCCESS and weight > 0
    memory = [acl.rt.malloc(max(size, 1), 0) for size in (work, weight)]
    assert all(ret == SUCCESS for _, ret in memory)
    model_id, ret = acl.mdl.load_from_file_with_mem(model_file, memory[0][0], work, memory[1][0], weight)
    assert ret == SUCCESS
    assert acl.mdl.unload(model_id) == SUCCESS
    for pointer, _ in memory:
        assert acl.rt.free(pointer) == SUCCESS


def test_files_that_are_no_models(device, tmp_path):
    wrong = tmp_path / "wrong.om"
    for content in (b"", b"no model", bytes(range(256)) * 16):
        wrong.write_bytes(content)
        model_id, ret = acl.mdl.load_from_file(str(wrong))
        assert model_id == 0 and ret != SUCCESS
        assert "aclmdlLoadFromFile" in acl.get_recent_err_msg()
    model_id, ret = acl.mdl.load_from_file(str(tmp_path / "missing.om"))
    assert model_id == 0 and ret != SUCCESS
    assert acl.mdl.unload(12345) != SUCCESS


def test_the_exception_callback_receives_the_failed_operator(device, tmp_path):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["h"], name="before"), helper.make_node("Gather", ["h", "at"], ["z"], name="pick")],
        "net",
        [helper.make_tensor_value_info("x", 1, [4, 3]), helper.make_tensor_value_info("at", 7, [2])],
        [helper.make_tensor_value_info("z", 1, [2, 3])],
    )
    source = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), source)
    tree = build.module_file().resolve().parents[2]
    subprocess.run(
        [str(tree / "bin/atc"), f"--model={source}", "--framework=5", f"--output={tmp_path / 'net'}", "--soc_version=Ascend910B1"],
        check=True, capture_output=True, timeout=120)
    model, ret = acl.mdl.load_from_file(str(tmp_path / "net.om"))
    assert ret == SUCCESS
    buffers, addresses = [], []
    for data in (bytes(48), numpy.array([0, 9]).tobytes(), bytes(24)):
        address, ret = acl.rt.malloc(len(data), 0)
        assert ret == SUCCESS
        assert acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), H2D) == SUCCESS
        addresses.append(address)
        buffers.append(acl.create_data_buffer(address, len(data)))
    inputs, outputs = acl.mdl.create_dataset(), acl.mdl.create_dataset()
    for dataset, buffer in ((inputs, buffers[0]), (inputs, buffers[1]), (outputs, buffers[2])):
        acl.mdl.add_dataset_buffer(dataset, buffer)
    received = []

    def callback(info):
        numbers = [
            acl.rt.get_device_id_from_exception_info(info),
            acl.rt.get_stream_id_from_exception_info(info),
            acl.rt.get_task_id_from_exception_info(info),
        ]
        name, ins, n, outs, m, ret = acl.mdl.create_and_get_op_desc(*numbers, 256)
        described = []
        for desc, count in ((ins, n), (outs, m)):
            for index in range(count):
                one = acl.get_tensor_desc_by_index(desc, index)
                dims = [acl.get_tensor_desc_dim_v2(one, axis)[0] for axis in range(acl.get_tensor_desc_num_dims(one))]
                described.append((acl.get_tensor_desc_type(one), dims, acl.get_tensor_desc_address(one)))
            acl.destroy_tensor_desc(desc)
        received.append((ret, name, n, m, described))

    assert acl.rt.set_exception_info_callback(callback) == SUCCESS
    assert acl.mdl.execute(model, inputs, outputs) != SUCCESS
    assert acl.rt.set_exception_info_callback(None) == SUCCESS
    assert len(received) == 1
    ret, name, n, m, described = received[0]
    assert (ret, name, n, m) == (SUCCESS, "pick", 2, 1)
    assert described[0][:2] == (0, [4, 3]) and described[0][2] != 0
    assert described[1] == (9, [2], addresses[1])
    assert described[2] == (0, [2, 3], addresses[2])
    assert acl.mdl.create_and_get_op_desc(0, 4000, 1, 64)[-1] != SUCCESS
    assert acl.mdl.unload(model) == SUCCESS
    for dataset in (inputs, outputs):
        assert acl.mdl.destroy_dataset(dataset) == SUCCESS
    for buffer, address in zip(buffers, addresses):
        assert acl.destroy_data_buffer(buffer) == SUCCESS
        assert acl.rt.free(address) == SUCCESS
