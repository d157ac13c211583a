"""`jumar.load`: what decides whether a model is converted anew, dynamic dimensions, gears, captures."""

import multiprocessing
import pickle
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import jumar
from conftest import clean_environment

F = TensorProto.FLOAT


def port(name, dims, dtype=F):
    return helper.make_tensor_value_info(name, dtype, dims)


def saved(path, nodes, inputs, outputs, stored=(), **how):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(stored))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path), **how)
    return path


def reference(path, inputs):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def close(found, wanted):
    assert found.shape == wanted.shape
    assert np.max(np.abs(found - wanted)) <= 1e-5 * max(1, np.max(np.abs(wanted)))


def with_weights_beside(folder, value):
    weights = numpy_helper.from_array(np.full((64,), value, np.float32), "w")
    return saved(
        folder / "net.onnx", [helper.make_node("Add", ["x", "w"], ["y"])], [port("x", [64])], [port("y", [64])], [weights],
        save_as_external_data=True, location="weights.bin", size_threshold=0,
    )


def test_a_changed_file_of_weights_is_noticed_whatever_its_name(tmp_path, cache):
    x = np.zeros(64, np.float32)
    for value in (1.0, 2.0, 3.0):
        (tmp_path / "weights.bin").unlink(missing_ok=True)
        path = with_weights_beside(tmp_path, value)
        with jumar.load(path) as model:
            assert model(x)["y"].tolist() == [value] * 64
    # The model's own file is the same each time.
    assert len(list((cache / "jumar").glob("net-*.om"))) == 3
    weights = np.full(64, 4.0, np.float32).tobytes()
    (tmp_path / "weights.bin").write_bytes(weights)
    with jumar.load(path) as model:
        assert model(x)["y"].tolist() == [4.0] * 64


def test_weights_beside_that_a_node_inside_a_branch_refers_to(tmp_path):
    from jumar._onnx import external_files

    path = with_weights_beside(tmp_path, 1.0)
    model = onnx.load(str(path), load_external_data=False)
    (weights,) = model.graph.initializer
    inner = helper.make_graph([helper.make_node("Constant", [], ["c"], value=weights)], "inner", [], [port("c", [64])])
    outer = helper.make_graph([helper.make_node("If", ["b"], ["y"], then_branch=inner, else_branch=inner)], "g", [], [])
    path.write_bytes(helper.make_model(outer).SerializeToString())
    assert external_files(path) == [tmp_path / "weights.bin"]
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at])
        external_files(path)


def test_dimensions_that_the_file_leaves_open_stay_open(tmp_path, cache):
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Add", ["r", "b"], ["y"])]
    path = saved(tmp_path / "open.ONNX", nodes, [port("x", ["N", 1000]), port("b", [None, 1000])], [port("y", None)])
    with jumar.load(path) as model:
        assert model.inputs[0].shape == (-1, 1000)
        # The last one has an output above 1 MiB.
        for count in (1, 7, 263):
            x = np.random.default_rng(count).standard_normal((count, 1000)).astype(np.float32)
            b = np.random.default_rng(1).standard_normal((1, 1000)).astype(np.float32)
            (wanted,) = reference(path, {"x": x, "b": b})
            close(model({"x": x, "b": b})["y"].numpy(), wanted)
        with pytest.raises(ValueError, match=r"takes \(-1, 1000\), not \(3, 5\)"):
            model([np.zeros((3, 5), np.float32), b])
    with jumar.load(path, input_shape={"x": (2, 1000), "b": (1, 1000)}) as model:
        assert model.outputs[0].shape == (2, 1000)


def test_memory_of_open_outputs_comes_back(tmp_path, cache):
    path = saved(tmp_path / "copy.onnx", [helper.make_node("Neg", ["x"], ["y"])], [port("x", ["N"])], [port("y", ["N"])])
    with jumar.load(path) as model:
        model(np.zeros(1 << 20, np.float32))
        before = jumar.Device(0).memory()[0]
        for _ in range(3):
            model(np.zeros(1 << 20, np.float32))
        assert jumar.Device(0).memory()[0] == before


def test_a_dimension_of_0_is_fixed(tmp_path, cache):
    """An empty cache, as language models have it: an input without elements beside others, and an output without elements."""
    path = saved(
        tmp_path / "cache.onnx",
        [helper.make_node("Concat", ["x", "z"], ["y"], axis=0), helper.make_node("Identity", ["x"], ["rest"]),
         helper.make_node("ReduceSum", ["z"], ["sum"], keepdims=0)],
        [port("x", [0, 3]), port("z", [2, 3])], [port("y", [2, 3]), port("rest", [0, 3]), port("sum", [])],
    )
    x, z = np.zeros((0, 3), np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)
    wanted = reference(path, {"x": x, "z": z})
    with jumar.load(path) as model:
        for how in (model, model, lambda given: model.submit(given).result()):
            found = how({"x": x, "z": z})
            for one, other in zip((found["y"], found["rest"], found["sum"]), wanted):
                assert np.array_equal(np.asarray(one), other) and np.asarray(one).shape == other.shape
        with jumar.Stream() as stream:
            with jumar.Graph.capture(stream) as graph:
                run = model({"x": x, "z": z}, stream=stream)
            graph.launch()
            assert run.result()["y"].tolist() == z.tolist() and run.result()["rest"].shape == (0, 3)
            graph.close()


def test_an_output_of_a_dynamic_model_may_be_empty(tmp_path, cache):
    path = saved(
        tmp_path / "cache.onnx",
        [helper.make_node("Concat", ["x", "z"], ["y"], axis=0), helper.make_node("Identity", ["x"], ["rest"]),
         helper.make_node("Identity", ["w"], ["none"])],
        [port("x", ["n", 3]), port("z", [2, 3]), port("w", [4, 0])], [port("y", None), port("rest", ["n", 3]), port("none", [4, 0])],
    )
    z, w = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((4, 0), np.float32)
    with jumar.load(path) as model:
        for rows in (0, 2, 0):
            x = np.ones((rows, 3), np.float32)
            found = model({"x": x, "z": z, "w": w})
            assert np.asarray(found["y"]).tolist() == [*x.tolist(), *z.tolist()]
            assert (np.asarray(found["rest"]).shape, np.asarray(found["none"]).shape) == ((rows, 3), (4, 0))


def squeezes(folder):
    """What exporters write for a squeeze of a dimension of which they do not know whether it is 1."""
    squeeze = helper.make_graph([helper.make_node("Squeeze", ["x", "last"], ["s"])], "then", [], [port("s", None)])
    keep = helper.make_graph([helper.make_node("Identity", ["x"], ["i"])], "else", [], [port("i", None)])
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "last"], ["dim"]),
        helper.make_node("Equal", ["dim", "one"], ["is_one"]),
        helper.make_node("If", ["is_one"], ["y"], then_branch=squeeze, else_branch=keep),
    ]
    stored = [numpy_helper.from_array(np.array([-1]), "last"), numpy_helper.from_array(np.array([1]), "one")]
    return saved(folder / "squeeze.onnx", nodes, [port("x", ["a", "b"])], [port("y", None)], stored)


def test_a_branch_that_is_not_taken_does_not_have_to_fit(tmp_path, cache):
    path = squeezes(tmp_path)
    with jumar.load(path) as model:
        for dims in ((4, 2), (4, 1), (1, 5)):
            x = np.random.default_rng(1).standard_normal(dims).astype(np.float32)
            close(model(x)["y"].numpy(), reference(path, {"x": x})[0])


def test_weights_that_are_joined_inside_a_branch(tmp_path, cache):
    rng = np.random.default_rng(3)
    stored = [numpy_helper.from_array(rng.standard_normal((128, 64)).astype(np.float32), name) for name in ("w0", "w1")]
    stored += [numpy_helper.from_array(np.array([0]), name) for name in ("first", "none")]
    join = [helper.make_node("Concat", ["w0", "w1"], ["w"], axis=1), helper.make_node("MatMul", ["x", "w"], ["p"])]
    product = helper.make_graph(join, "then", [], [port("p", None)])
    other = helper.make_graph([helper.make_node("Neg", ["x"], ["n"])], "else", [], [port("n", None)])
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "first"], ["batch"]),
        helper.make_node("Greater", ["batch", "none"], ["any"]),
        helper.make_node("If", ["any"], ["y"], then_branch=product, else_branch=other),
    ]
    path = saved(tmp_path / "joined.onnx", nodes, [port("x", ["N", 128])], [port("y", None)], stored)
    x = rng.standard_normal((3, 128)).astype(np.float32)
    with jumar.load(path) as model:
        close(model(x)["y"].numpy(), reference(path, {"x": x})[0])


def built(folder, path, *options):
    """Converts a model with `atc`."""
    command = [str(jumar.prefix() / "bin" / "jumar"), "atc", f"--model={path}", "--framework=5", f"--output={folder / 'built'}"]
    done = subprocess.run([*command, "--soc_version=Ascend910B1", *options], capture_output=True, text=True, check=False,
                          env=clean_environment())
    assert done.returncode == 0, done.stderr
    return folder / "built.om"


@pytest.mark.parametrize("option, dims, shapes, wrong", [
    ("--dynamic_batch_size=1,2,4", "-1,3,8,8", [(1, 3, 8, 8), (4, 3, 8, 8), (2, 3, 8, 8)], (3, 3, 8, 8)),
    ("--dynamic_image_size=8,8;16,12", "1,3,-1,-1", [(1, 3, 16, 12), (1, 3, 8, 8)], (1, 3, 8, 12)),
    ("--dynamic_dims=1,8;2,16", "-1,3,-1,8", [(2, 3, 16, 8), (1, 3, 8, 8)], (2, 3, 8, 8)),
])
def test_models_with_sizes_to_choose_from(tmp_path, option, dims, shapes, wrong):
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c"], ["y"])]
    weights = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)
    path = saved(tmp_path / "net.onnx", nodes, [port("x", ["n", 3, "h", "w"])], [port("y", None)],
                 [numpy_helper.from_array(weights, "w")])
    with jumar.load(built(tmp_path, path, option, f"--input_shape=x:{dims}")) as model:
        assert [info.name for info in model.inputs] == ["x"]
        with jumar.Stream() as stream:
            runs = []
            for shape in shapes:
                x = np.random.default_rng(2).standard_normal(shape).astype(np.float32)
                runs.append((x, model(x), model({"x": x}, stream=stream)))
            for x, at_once, queued in runs:
                wanted = reference(path, {"x": x})[0]
                close(at_once["y"].numpy(), wanted)
                close(queued.result()["y"].numpy(), wanted)
        with pytest.raises(ValueError, match="was built for the"):
            model(np.zeros(wrong, np.float32))


@pytest.mark.parametrize("kind", ["YUV420SP_U8", "RGB888_U8"])
def test_images_of_several_sizes_are_preprocessed(tmp_path, kind):
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    path = saved(tmp_path / "net.onnx", nodes, [port("x", [1, 3, "h", "w"])], [port("y", None)])
    settings = tmp_path / "aipp.cfg"
    settings.write_text(f"aipp_op {{ aipp_mode: static input_format: {kind} mean_chn_0: 10 var_reci_chn_1: 0.5 }}")
    options = ["--dynamic_image_size=8,8;12,16", "--input_shape=x:1,3,-1,-1", f"--insert_op_conf={settings}"]
    with jumar.load(built(tmp_path, path, *options)) as model:
        for height, width in ((12, 16), (8, 8)):
            rows, depth = (height * 3 // 2, 1) if kind.startswith("YUV") else (height, 3)
            image = np.random.default_rng(height).integers(0, 256, (1, rows, width, depth), np.uint8)
            if depth == 3:
                planes = image[0].transpose(2, 0, 1)
            else:
                flat = image.reshape(-1)
                colour = flat[height * width:].reshape(height // 2, width // 2, 2).repeat(2, 0).repeat(2, 1)
                planes = np.stack([flat[: height * width].reshape(height, width), colour[..., 0], colour[..., 1]])
            wanted = planes.astype(np.float32)
            wanted[0] -= 10
            wanted[1] *= 0.5
            close(model(image)["y"].numpy(), np.maximum(wanted, 0)[None])
        with pytest.raises(ValueError, match="was built for the image sizes"):
            model(np.zeros((1, 9, 9, depth), np.uint8))
    settings.write_text(f"aipp_op {{ aipp_mode: static input_format: {kind} crop: true crop_size_w: 4 crop_size_h: 4 }}")
    command = [str(jumar.prefix() / "bin/jumar"), "atc", f"--model={path}", "--framework=5", f"--output={tmp_path / 'no'}"]
    done = subprocess.run([*command, "--soc_version=Ascend910B1", *options], capture_output=True, text=True, check=False,
                          env=clean_environment())
    assert done.returncode and "crop true is not possible with dynamic_image_size" in done.stderr


def doubles(folder):
    return saved(folder / "double.onnx", [helper.make_node("Add", ["x", "x"], ["y"])], [port("x", [2, 4])], [port("y", [2, 4])])


def test_a_model_in_a_captured_graph(tmp_path, cache):
    with jumar.load(doubles(tmp_path)) as model, jumar.Stream() as stream:
        image = jumar.zeros((2, 4))
        with jumar.Graph.capture(stream) as graph:
            run = model({"x": image}, stream=stream)
        assert not run.done
        with pytest.raises(RuntimeError, match="launch the graph first"):
            run.result()
        for value in (1.0, 5.0):
            image.numpy()[:] = value
            graph.launch()
            assert run.result()["y"].tolist() == [[2 * value] * 4] * 2
        graph.close()


def test_a_model_that_cannot_be_captured_says_so_and_leaves_the_stream_usable(tmp_path, cache):
    with jumar.load(squeezes(tmp_path)) as model, jumar.Stream() as stream:
        x = np.ones((2, 1), np.float32)
        with pytest.raises(ValueError, match="dynamic shapes"):
            with jumar.Graph.capture(stream):
                model(x, stream=stream)
        assert model(x, stream=stream).result()["y"].tolist() == [1.0, 1.0]


def test_a_closed_model_says_so(tmp_path, cache):
    model = jumar.load(doubles(tmp_path))
    model.close()
    with pytest.raises(ValueError, match="the model double is closed"):
        model(np.zeros((2, 4), np.float32))


def test_bytes_and_flat_buffers_take_the_shape_of_the_input(tmp_path, cache):
    with jumar.load(doubles(tmp_path)) as model:
        x = np.arange(8, dtype=np.float32)
        for value in (x.tobytes(), bytearray(x.tobytes()), memoryview(x), memoryview(x).cast("B")):
            assert model(value)["y"].tolist() == (2 * x).reshape(2, 4).tolist()
        with pytest.raises(TypeError, match="uint8, not float32"):
            model(x.tobytes()[:-4])


def test_an_unwritable_cache_folder_is_no_error(tmp_path, cache, monkeypatch):
    occupied = tmp_path / "file"
    occupied.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(occupied))
    with jumar.load(doubles(tmp_path)) as model:
        assert model(np.ones((2, 4), np.float32))["y"].tolist() == [[2.0] * 4] * 2


def test_the_cache_is_kept_within_its_limit(tmp_path, cache, monkeypatch):
    from jumar import _convert

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    path = doubles(tmp_path)
    jumar.load(path).close()
    (first,) = (tmp_path / "own/jumar").glob("*.om")
    monkeypatch.setattr(_convert, "_MOST", first.stat().st_size)
    jumar.load(path, input_shape={"x": (2, 4)}).close()
    (second,) = (tmp_path / "own/jumar").iterdir()
    assert second != first


def test_what_cannot_be_converted_is_an_error_of_the_package(tmp_path, cache):
    nodes = [helper.make_node("NoSuchOperator", ["x"], ["y"])]
    path = saved(tmp_path / "bad.onnx", nodes, [port("x", [1])], [port("y", [1])])
    with pytest.raises(jumar.ConversionError, match="NoSuchOperator") as caught:
        jumar.load(path)
    assert isinstance(caught.value, jumar.Error) and caught.value.function == "atc"
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is jumar.ConversionError and str(again) == str(caught.value)


def total(queue, array):
    queue.put((array.shape, array.dtype, float(np.asarray(array).sum())))


def test_arrays_travel_by_value(cache):
    array = jumar.array(np.arange(6, dtype=np.float32).reshape(2, 3))
    again = pickle.loads(pickle.dumps(array))
    assert again.address != array.address and again.tolist() == array.tolist()
    for dtype, shape in (("bfloat16", (3,)), ("bool", ()), ("int64", (0, 2))):
        one = jumar.zeros(shape, dtype)
        back = pickle.loads(pickle.dumps(one))
        assert (back.shape, back.dtype, bytes(back._bytes())) == (one.shape, one.dtype, bytes(one._bytes()))
    spawn = multiprocessing.get_context("spawn")
    queue = spawn.Queue()
    child = spawn.Process(target=total, args=(queue, array))
    child.start()
    assert queue.get(timeout=60) == ((2, 3), "float32", 15.0)
    child.join(60)
    assert child.exitcode == 0


def test_what_belongs_to_a_process_is_not_pickled(tmp_path, cache):
    with jumar.Stream() as stream, jumar.load(doubles(tmp_path)) as model:
        for one in (stream, model, jumar.Event(), jumar.DeviceArray(3), jumar.Graph(stream)):
            with pytest.raises(TypeError, match="cannot be pickled"):
                pickle.dumps(one)
    with pytest.raises(TypeError, match="to_host"):
        pickle.dumps(jumar.DeviceArray(3))


def test_errors_are_pickled_with_all_that_they_say():
    with pytest.raises(jumar.Error) as caught:
        jumar.DeviceArray(1 << 60)
    again = pickle.loads(pickle.dumps(caught.value))
    for name in ("code", "kind", "fix", "function", "args"):
        assert getattr(again, name) == getattr(caught.value, name)
    assert type(again) is type(caught.value)


ENDLESS = """
import sys
import numpy, onnx
from onnx import TensorProto, helper, numpy_helper
import acl, jumar
from jumar._open import _Bindings

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
port = helper.make_tensor_value_info
body = helper.make_graph(
    [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Neg", ["v"], ["w"])], "body",
    [port("i", I, []), port("go", B, []), port("v", F, [1])], [port("go_on", B, []), port("w", F, [1])])
graph = helper.make_graph(
    [helper.make_node("Loop", ["count", "", "x"], ["y"], body=body)], "g", [port("x", F, [1])], [port("y", F, [1])],
    [numpy_helper.from_array(numpy.array(2**62), "count")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[1])
model, stream, started = jumar.load(sys.argv[1]), jumar.Stream(), jumar.Event()
x, y = jumar.DeviceArray(1), jumar.DeviceArray(1)
bindings = _Bindings()
inputs, outputs = bindings.dataset(), bindings.dataset()
bindings.add(inputs, x.handle, 4)
bindings.add(outputs, y.handle, 4)
stream.record(started)
assert acl.mdl.execute_async(model._id, inputs, outputs, stream.handle) == 0
started.synchronize()
if sys.argv[2] == "abort":
    assert acl.rt.stream_abort(stream.handle) == 0
    stream.synchronize()
    y.copy_from(jumar.array([3.0], "float32"), None)
    assert y.tolist() == [3.0]
    model.close()
else:
    assert acl.rt.reset_device_force(0) == 0
print("ended")
"""


@pytest.mark.parametrize("way", ["abort", "reset"])
def test_a_loop_without_end_is_stopped(tmp_path, cache, run_python, way):
    assert run_python(ENDLESS, tmp_path / "loop.onnx", way, XDG_CACHE_HOME=str(tmp_path)) == "ended"


def test_a_tensor_whose_elements_do_not_lie_together_is_copied():
    class Tensor:
        """As PyTorch's: DLPack, and a copy with its elements side by side."""

        def __init__(self, inner):
            self.inner = inner

        def contiguous(self):
            return Tensor(np.ascontiguousarray(self.inner))

        def __dlpack__(self, **_):
            return self.inner.__dlpack__()

        def __dlpack_device__(self):
            return self.inner.__dlpack_device__()

    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert jumar.array(Tensor(x.T)).tolist() == x.T.tolist()
