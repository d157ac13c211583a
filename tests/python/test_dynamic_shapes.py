"""Models with dynamic shapes through the Python module: executions with dimensions that came before, and with new ones, against NumPy."""

import shutil
import subprocess

import numpy as np
import pytest

import acl
from fake import build

onnx = pytest.importorskip("onnx")

SUCCESS = 0
H2D, D2H = 1, 2
FLOAT, ND = 0, 2
MOST, WIDTH = 16, 24
WEIGHTS = [np.random.default_rng(seed).standard_normal((WIDTH, WIDTH)).astype(np.float32) for seed in (1, 2)]


def ok(ret):
    assert ret == SUCCESS, acl.get_recent_err_msg()


def value(result):
    found, ret = result
    ok(ret)
    return found


def wanted(x):
    """Two dense layers, with what lies between them in work memory."""
    return np.maximum(x.astype(np.float64) @ WEIGHTS[0], 0) @ WEIGHTS[1]


def free_bytes():
    available, _, ret = acl.rt.get_mem_info(1)  # ACL_HBM_MEM
    ok(ret)
    return available


def convert(folder, graph, name, *options):
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), folder / f"{name}.onnx")
    atc = build.module_file().resolve().parents[2] / "bin" / "atc"
    command = [str(atc if atc.exists() else shutil.which("atc")), f"--model={folder}/{name}.onnx", "--framework=5"]
    command += [f"--output={folder}/{name}", "--soc_version=Ascend910B1", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return f"{folder}/{name}.om"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "first"], ["hidden"]),
        onnx.helper.make_node("Relu", ["hidden"], ["positive"]),
        onnx.helper.make_node("MatMul", ["positive", "second"], ["y"]),
    ]
    port = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", WIDTH])  # noqa: E731
    weights = [onnx.numpy_helper.from_array(array, name) for array, name in zip(WEIGHTS, ("first", "second"))]
    graph = onnx.helper.make_graph(nodes, "dense", [port("x")], [port("y")], weights)
    return convert(tmp_path_factory.mktemp("dynamic"), graph, "dense", f"--input_shape=x:-1,{WIDTH}")


@pytest.fixture(scope="module")
def model(path, device):
    number = value(acl.mdl.load_from_file(path))
    yield number
    ok(acl.mdl.unload(number))


class Run:
    """Datasets for executions of up to MOST rows."""

    def __init__(self, model, output_bytes=MOST * WIDTH * 4):
        self.model = model
        self.memory = [value(acl.rt.malloc(max(size, 1), 0)) for size in (MOST * WIDTH * 4, output_bytes)]
        self.datasets = []
        for address, size in zip(self.memory, (MOST * WIDTH * 4, output_bytes)):
            dataset = acl.mdl.create_dataset()
            value(acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(address if size else 0, size)))
            self.datasets.append(dataset)

    def give(self, x):
        ok(acl.rt.memcpy(self.memory[0], MOST * WIDTH * 4, x.ctypes.data, x.nbytes, H2D))
        value(acl.mdl.set_dataset_tensor_desc(self.datasets[0], acl.create_tensor_desc(FLOAT, list(x.shape), ND), 0))

    def execute(self, x):
        self.give(x)
        return acl.mdl.execute(self.model, *self.datasets)

    def dims(self):
        """The dimensions of the output, as the dataset describes it."""
        desc = acl.mdl.get_dataset_tensor_desc(self.datasets[1], 0)
        return [value(acl.get_tensor_desc_dim_v2(desc, axis)) for axis in range(acl.get_tensor_desc_num_dims(desc))]

    def result(self):
        y = np.empty(self.dims(), np.float32)
        address = acl.get_data_buffer_addr(acl.mdl.get_dataset_buffer(self.datasets[1], 0))
        ok(acl.rt.memcpy(y.ctypes.data, y.nbytes, address, y.nbytes, D2H))
        return y

    def check(self, x):
        ok(self.execute(x))
        assert self.dims() == list(x.shape)
        assert np.allclose(self.result(), wanted(x), rtol=1e-5, atol=1e-5)

    def close(self):
        for dataset in self.datasets:
            ok(acl.mdl.destroy_dataset(dataset))
        for address in self.memory:
            ok(acl.rt.free(address))


def rows(count):
    return np.random.default_rng(count).standard_normal((count, WIDTH)).astype(np.float32)


def test_dimensions_come_again_and_change(model):
    run = Run(model)
    for count in [3, 3, 5, 3, 5, 5, 1, MOST, 3, *range(1, MOST), *range(1, MOST)]:
        run.check(rows(count))
    run.close()


def test_an_output_that_became_too_small_is_refused_and_changes_nothing(model):
    run = Run(model, output_bytes=4 * WIDTH * 4)
    for _ in range(2):
        for count in (4, 2):
            run.check(rows(count))
        assert run.execute(rows(5)) != SUCCESS
        assert "480 bytes, and its buffer has 384" in acl.get_recent_err_msg()
        run.check(rows(4))
    run.close()


def test_an_output_without_memory_gets_some_each_time(model):
    for count in (3, 3, 6):
        run = Run(model, output_bytes=0)
        run.check(rows(count))
        address = acl.get_data_buffer_addr(acl.mdl.get_dataset_buffer(run.datasets[1], 0))
        assert address not in (0, run.memory[1])
        ok(acl.rt.free(address))
        run.close()


def test_outputs_that_share_a_buffer_without_memory_get_it_once(tmp_path, device):
    nodes = [onnx.helper.make_node(kind, ["x"], [kind]) for kind in ("Relu", "Neg")]
    port = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [MOST, WIDTH])  # noqa: E731
    graph = onnx.helper.make_graph(nodes, "two", [port("x")], [port("Relu"), port("Neg")])
    number = value(acl.mdl.load_from_file(convert(tmp_path, graph, "two")))
    before = free_bytes()
    run = Run(number, output_bytes=0)
    shared = acl.mdl.get_dataset_buffer(run.datasets[1], 0)
    value(acl.mdl.add_dataset_buffer(run.datasets[1], shared))
    ok(acl.mdl.execute(number, *run.datasets))
    ok(acl.rt.free(acl.get_data_buffer_addr(shared)))
    run.close()
    assert free_bytes() == before
    ok(acl.mdl.unload(number))


def test_what_an_earlier_execution_found_is_out_of_date(model):
    stream = value(acl.rt.create_stream())
    run = Run(model)
    run.check(rows(2))
    # The dimensions of the queued execution are not read before the next one.
    run.give(rows(7))
    ok(acl.mdl.execute_async(run.model, *run.datasets, stream))
    ok(acl.rt.synchronize_stream(stream))
    run.check(rows(2))
    run.give(rows(7))
    ok(acl.mdl.execute_async(run.model, *run.datasets, stream))
    ok(acl.rt.synchronize_stream(stream))
    assert run.dims() == [7, WIDTH]
    assert np.allclose(run.result(), wanted(rows(7)), rtol=1e-5, atol=1e-5)
    run.close()
    ok(acl.rt.destroy_stream(stream))


def test_a_description_that_the_program_set_is_kept_up_to_date(model):
    run = Run(model)
    value(acl.mdl.set_dataset_tensor_desc(run.datasets[1], acl.create_tensor_desc(FLOAT, [MOST, WIDTH], ND), 0))
    for count in (4, 4, 9):
        run.check(rows(count))
    run.close()


def test_a_description_that_the_program_kept_follows_the_executions(model):
    run = Run(model)
    run.check(rows(4))
    kept = acl.mdl.get_dataset_tensor_desc(run.datasets[1], 0)
    for count in (4, 9, 9, 4):
        ok(run.execute(rows(count)))
        assert value(acl.get_tensor_desc_dim_v2(kept, 0)) == count
        assert acl.mdl.get_dataset_tensor_desc(run.datasets[1], 0) == kept
    run.close()


def test_a_description_that_the_program_destroyed_is_made_again(model):
    run = Run(model)
    for count in (4, 4, 9):
        run.check(rows(count))
        acl.destroy_tensor_desc(acl.mdl.get_dataset_tensor_desc(run.datasets[1], 0))
        ok(run.execute(rows(count)))
        assert run.dims() == [count, WIDTH]
    run.close()


def test_the_memory_of_executions_is_freed_with_the_model(path, device):
    before = free_bytes()
    model = value(acl.mdl.load_from_file(path))
    run = Run(model)
    for count in (3, MOST, 3, MOST, 3):
        run.check(rows(count))
    run.close()
    ok(acl.mdl.unload(model))
    assert free_bytes() == before
