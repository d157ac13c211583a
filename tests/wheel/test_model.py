"""`jumar.load`: against ONNX Runtime, on streams, awaited, and a first notebook."""

import asyncio
import gc
import importlib.util
import inspect
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import jumar
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/models"))


@pytest.fixture(scope="module")
def model(cache, digits):
    model = jumar.load(digits)
    yield model
    model.close()


@pytest.fixture(scope="module")
def expected(digits):
    session = onnxruntime.InferenceSession(str(digits), providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda image: session.run(None, {name: image})[0]


def images(count):
    return np.random.default_rng(3).random((count, 1, 1, 8, 8), np.float32)


def close(a, b):
    assert np.max(np.abs(a - b)) <= 1e-5 * np.max(np.abs(b))


def only(outputs):
    (value,) = outputs.values()
    return value.numpy()


def test_what_the_model_says_of_itself(model):
    (entry,) = model.inputs
    assert (entry.name, entry.shape, entry.dtype, entry.nbytes) == ("image", (1, 1, 8, 8), "float32", 256)
    assert model.outputs[0].shape == (1, 10)
    assert "digits" in repr(model) and "<table>" in model._repr_html_()


def test_the_ways_to_call_it_agree_with_onnxruntime(model, expected):
    image = images(1)[0]
    wanted = expected(image)
    close(only(model({"image": image})), wanted)
    close(only(model(image)), wanted)
    close(only(model([image])), wanted)
    close(only(model(jumar.array(image))), wanted)
    close(only(model(image.tolist())), wanted)


def test_on_a_stream_in_order_with_other_work(model, expected):
    with jumar.Stream() as stream:
        pending = [(image, model(image, stream=stream)) for image in images(8)]
        stream.synchronize()
        assert all(run.done for _, run in pending)
        for image, run in pending:
            close(only(run.result(timeout=10.0)), expected(image))


def test_awaited_together(model, expected):
    async def all_of_them():
        return await asyncio.gather(*[one(image) for image in images(6)])

    async def one(image):
        return image, await model.submit(image)

    for image, outputs in asyncio.run(all_of_them()):
        close(only(outputs), expected(image))


def test_many_threads_share_a_model(model, expected):
    problems = []

    def work(image):
        try:
            jumar.Device(0).use()
            for _ in range(20):
                close(only(model(image)), expected(image))
        except BaseException as problem:  # noqa: BLE001 - reported by the test's thread
            problems.append(repr(problem))

    threads = [threading.Thread(target=work, args=(image,)) for image in images(4)]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    assert not problems


def test_bad_inputs_are_named(model):
    with pytest.raises(ValueError, match=r"there is no input 'photo'; input 'image' is missing"):
        model({"photo": images(1)[0]})
    with pytest.raises(TypeError, match="float64, not float32"):
        model(images(1)[0].astype(np.float64))
    with pytest.raises(ValueError, match=r"takes \(1, 1, 8, 8\), not \(1, 64\)"):
        model(images(1)[0].reshape(1, 64))
    with pytest.raises(ValueError, match="takes 1 inputs"):
        model([images(1)[0], images(1)[0]])


def test_bad_files_are_named(tmp_path, cache):
    with pytest.raises(FileNotFoundError, match="nowhere.om"):
        jumar.load(tmp_path / "nowhere.om")
    (tmp_path / "bad.om").write_bytes(b"not a model")
    with pytest.raises(jumar.Error) as caught:
        jumar.load(tmp_path / "bad.om")
    assert caught.value.code in (145000, 145006)
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x07not a model either")
    with pytest.raises(ValueError):
        jumar.load(tmp_path / "bad.onnx")


def test_a_conversion_is_kept_until_the_file_changes(tmp_path, cache, digits):
    copy = tmp_path / "kept.onnx"
    copy.write_bytes(Path(digits).read_bytes())
    jumar.load(copy).close()
    kept = list((cache / "jumar").glob("kept-*.om"))
    assert len(kept) == 1
    changed = kept[0].stat().st_mtime_ns
    jumar.load(copy).close()
    assert kept[0].stat().st_mtime_ns == changed
    proto = onnx.load(str(copy))
    proto.producer_name = "another producer"
    onnx.save(proto, str(copy))
    jumar.load(copy).close()
    assert len(list((cache / "jumar").glob("kept-*.om"))) == 2


def test_a_long_conversion_reports_that_it_continues(capsys):
    from jumar._convert import Progress

    with Progress("converting net.onnx", True):
        for _ in range(400):
            if "converting" in capsys.readouterr().err:
                break
            threading.Event().wait(0.01)
        else:
            raise AssertionError("nothing was said")
    with Progress("converting net.onnx", False):
        pass
    assert capsys.readouterr().err.count("converting") <= 1


def test_memory_comes_back(cache, digits):
    gc.collect()
    before = jumar.Device(0).memory()[0]
    for _ in range(3):
        with jumar.load(digits) as again:
            again(images(1)[0])
            again.submit(images(1)[0])
    gc.collect()
    assert jumar.Device(0).memory()[0] == before


def test_shapes_that_are_open_until_the_run(tmp_path, cache):
    import nets

    path = tmp_path / "open.onnx"
    onnx.save(nets.digits(), str(path))
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    with jumar.load(path, input_shape={"input": (-1, 1, 8, 8)}) as model:
        assert model.inputs[0].shape == (-1, 1, 8, 8)
        for batch in (1, 5, 2):
            image = np.random.default_rng(batch).random((batch, 1, 8, 8), np.float32)
            wanted = session.run(None, {"input": image})[0]
            close(only(model(image)), wanted)
            with jumar.Stream() as stream:
                close(only(model(image, stream=stream).result()), wanted)
        with pytest.raises(ValueError, match=r"takes \(-1, 1, 8, 8\), not \(1, 64\)"):
            model(np.zeros((1, 64), np.float32))


def test_inputs_in_ordinary_memory_of_several_sizes(tmp_path):
    from nets import Net

    path = tmp_path / "several.onnx"
    net = Net(5)
    y = net.node("Add", [net.node("Relu", ["x"]), net.weight(np.arange(3, dtype=np.float32))])
    path.write_bytes(net.model({"x": (onnx.TensorProto.FLOAT, ["n", 3])}, [y]).SerializeToString())
    atc = [Path(jumar.prefix()) / "bin/atc", f"--model={path}", "--framework=5", f"--output={path.with_suffix('')}"]
    atc += ["--soc_version=Ascend910B1", "--input_shape=x:-1,3", "--dynamic_batch_size=1,4,64"]
    subprocess.run(atc, check=True, capture_output=True, timeout=60)
    with jumar.load(path.with_suffix(".om")) as model:
        assert model._gears is not None
        for count in (1, 64, 4, 1):
            x = np.random.default_rng(count).standard_normal((count, 3), np.float32)
            wanted = np.maximum(x, 0) + np.arange(3, dtype=np.float32)
            assert np.array_equal(only(model(x)), wanted)
            # Elements that do not lie together, and pinned memory.
            assert np.array_equal(only(model(np.asfortranarray(x))), wanted)
            assert np.array_equal(only(model(jumar.array(x))), wanted)
        with pytest.raises(ValueError, match="batch sizes 1, 4, 64"):
            model(np.zeros((2, 3), np.float32))
        with pytest.raises(TypeError, match="float64"):
            model(np.zeros((1, 3)))


def test_a_call_while_a_stream_is_captured(model, expected):
    image = images(1)[0]
    model(image)
    stream = jumar.Stream()
    with jumar.Graph.capture(stream):
        close(only(model(image)), expected(image))
    stream.close()


def test_outputs_as_long_as_they_become(tmp_path, cache):
    import nets

    path = tmp_path / "detector.onnx"
    onnx.save(nets.detector(), str(path))
    image = np.random.default_rng(5).standard_normal((1, 3, 96, 96)).astype(np.float32)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {"input": image})
    with jumar.load(path) as model:
        found = list(model(image).values())
    assert [value.shape for value in found] == [value.shape for value in wanted]
    assert np.array_equal(found[2].numpy(), wanted[2])


def test_a_first_notebook(tmp_path, cache):
    """A network of ResNet's shape, an image, the five best classes."""
    import nets

    made = nets.resnet50(batch=1, blocks=(1, 1, 1, 1), width=16, size=64, classes=100)
    path = tmp_path / "resnet.onnx"
    onnx.save(made if isinstance(made, onnx.ModelProto) else made[0], str(path))
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (64, 64, 3), dtype=np.uint8)

    model = jumar.load(path)
    pixels = image.astype(np.float32).transpose(2, 0, 1)[None] / 255
    pixels = (pixels - 0.45) / 0.225
    scores = only(model(np.ascontiguousarray(pixels)))[0]
    best = np.argsort(scores)[::-1][:5]

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {session.get_inputs()[0].name: pixels})[0][0]
    assert best.tolist() == np.argsort(wanted)[::-1][:5].tolist()
    close(scores, wanted)
    model.close()


def test_calls_and_queued_runs_of_one_model(digits, expected):
    """The runtime binds a model to one kind of execution; the package loads it a second time where a program uses both."""
    image = images(1)[0]
    for first in ("call", "submit"):
        with jumar.load(digits) as both:
            for kind in (first, "submit", "call", "submit"):
                outputs = both(image) if kind == "call" else both.submit(image).result()
                close(only(outputs), expected(image))


def test_a_model_whose_file_is_deleted_after_the_first_call(tmp_path, cache, digits, expected):
    image = images(1)[0]
    with jumar.load(digits) as model:
        close(only(model(image)), expected(image))
        for kept in (cache / "jumar").glob("*.om"):
            kept.unlink()
        close(only(model.submit(image).result()), expected(image))


@pytest.fixture
def stepwise(monkeypatch):
    """The inputs of the runs that the package does step by step, in order."""
    inputs, run = [], jumar.Model._run

    def observed(model, given):
        inputs.append(given)
        return run(model, given)

    monkeypatch.setattr(jumar.Model, "_run", observed)
    return inputs


class Photo(np.ndarray):
    """An array of another class than NumPy's."""


def test_later_calls_with_arrays_are_one_call_of_the_runtime(digits, expected, stepwise):
    image = images(1)[0]
    read_only = image.copy()
    read_only.flags.writeable = False
    with jumar.load(digits) as model:
        close(only(model(image)), expected(image))
        assert len(stepwise) == 1
        stepwise.clear()
        forms = [image, [image], (image,), {"image": image}, jumar.array(image), [jumar.array(image)], read_only, image.view(Photo)]
        # The same type and size, but not the object that NumPy's arrays usually refer to.
        renamed = image.view(np.dtype("f4", metadata={"of": "photos"}))
        for form in [*forms, renamed]:
            close(only(model(form)), expected(image))
        assert stepwise == []
        # What has to be copied, converted or refused first.
        across = np.asfortranarray(np.stack([image, image], -1))[..., 0]
        for form in [image.tolist(), across, image.tobytes()]:
            close(only(model(form)), expected(image))
        for form in [image.astype(">f4"), image.astype(np.float64), image[..., :4], {"photo": image}, [image, image], 3]:
            with pytest.raises((TypeError, ValueError)):
                model(form)
        closed = jumar.array(image)
        closed.close()
        with pytest.raises(ValueError, match="closed"):
            model(closed)
        assert len(stepwise) == 10
        # Results are memory of their own.
        first, second = model(image), model(image * 2)
        close(only(first), expected(image))
        close(only(second), expected(image * 2))
        assert len(stepwise) == 10
        # Another context is current; a keyword; an argument that says nothing.
        with jumar.Context():
            close(only(model(image)), expected(image))
        for call in (lambda: model(inputs=image), lambda: model(image, None), lambda: model(image, stream=None)):
            close(only(call()), expected(image))
        assert len(stepwise) == 14
        for call in (model, lambda: model(image, None, image), lambda: model(photo=image)):
            with pytest.raises(TypeError, match="__call__"):
                call()
        # A module that is loaded again has a class of its own.
        again = importlib.util.module_from_spec(jumar._model.__spec__)
        jumar._model.__spec__.loader.exec_module(again)
        assert again.Model is not jumar.Model
        close(only(model(image)), expected(image))
    with pytest.raises(ValueError, match="closed"):
        model(image)


def test_the_call_of_a_model_is_documented():
    assert list(inspect.signature(jumar.Model.__call__).parameters) == ["self", "inputs", "stream"]
    assert "Returns:" in jumar.Model.__call__.__doc__


def test_a_run_in_one_call_that_fails_says_why_and_the_next_one_works(tmp_path, cache, stepwise):
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    node = onnx.helper.make_node("Gather", ["rows", "at"], ["y"])
    ports = [onnx.helper.make_tensor_value_info("at", onnx.TensorProto.INT64, [2])]
    result = [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 3])]
    weights = [onnx.numpy_helper.from_array(rows, "rows")]
    graph = onnx.helper.make_graph([node], "gather", ports, result, weights)
    path = tmp_path / "gather.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)
    with jumar.load(path) as model:
        for at in ([0, 3], [2, 1]):
            assert np.array_equal(only(model(np.array(at))), rows[at])
        for _ in range(3):
            with pytest.raises(jumar.Error) as caught:
                model(np.array([0, 4]))
            assert caught.value.function == "acl.mdl.execute" and "gather" in caught.value.sentence
            assert np.array_equal(only(model(np.array([3, 0]))), rows[[3, 0]])
    assert len(stepwise) == 1


def test_an_output_of_another_name_is_answered_with_the_names_that_there_are(model):
    [image] = images(1)
    known = model.outputs[0].name
    with jumar.Stream() as stream:
        # The first run goes step by step, later ones in one call.
        for outputs in (model(image), model(image), model(image), model(image, stream=stream).result()):
            assert set(outputs) == {known}
            with pytest.raises(KeyError, match=f"no output 'scor'; its outputs are: '{known}'"):
                outputs["scor"]
            assert outputs.get("scor") is None
