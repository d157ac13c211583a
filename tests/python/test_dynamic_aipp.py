"""Dynamic preprocessing (AIPP) through the Python module: against the documented formulas in float64, and the same bytes as the
same settings built into the model."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

import acl
from fake import build

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
sys.path.insert(0, str(build.ROOT / "tests" / "models"))

import runner  # noqa: E402
import test_aipp as static  # noqa: E402

SUCCESS = 0
H2D, D2H = 1, 2
FORMATS = {"YUV420SP_U8": 1, "XRGB8888_U8": 2, "RGB888_U8": 3, "YUV400_U8": 4}
WIDTH, HEIGHT = 12, 10
# Settings before an execution always state a matrix: a configuration that leaves the default one to the tool has no counterpart.
CASES = [
    name
    for name, (_, config) in static.CASES.items()
    if "padding_value" not in config and ("csc_switch" not in config or any(key.startswith("matrix") for key in config))
] + ["border of zeros"]


def case(name):
    if name != "border of zeros":
        return static.CASES[name]
    kind, config = static.CASES["border"]
    return kind, {key: value for key, value in config.items() if key != "padding_value"}


def convert(folder, name, model, text):
    tree = build.module_file().resolve().parents[2]
    atc = tree / "bin" / "atc"
    atc = atc if atc.exists() else shutil.which("atc")
    (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    (folder / f"{name}.cfg").write_text(text)
    done = subprocess.run(
        [str(atc), f"--model={folder / name}.onnx", "--framework=5", f"--output={folder / name}", "--soc_version=Ascend910B1",
         f"--insert_op_conf={folder / name}.cfg"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return f"{folder / name}.om"


def ok(ret):
    assert ret == SUCCESS, acl.get_recent_err_msg()


class Loaded:
    """A model with buffers of its own."""

    def __init__(self, path):
        self.id, ret = acl.mdl.load_from_file(path)
        ok(ret)
        self.desc = acl.mdl.create_desc()
        ok(acl.mdl.get_desc(self.desc, self.id))
        self.memory = []
        self.inputs = self.dataset(acl.mdl.get_num_inputs(self.desc), acl.mdl.get_input_size_by_index)
        self.outputs = self.dataset(acl.mdl.get_num_outputs(self.desc), acl.mdl.get_output_size_by_index)

    def dataset(self, count, size_of):
        dataset = acl.mdl.create_dataset()
        for index in range(count):
            size = size_of(self.desc, index)
            address, ret = acl.rt.malloc(size, 0)
            ok(ret)
            self.memory.append((address, size))
            _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(address, size))
            ok(ret)
        return dataset

    def run(self, images, shape):
        data = np.ascontiguousarray(images)
        address, size = self.memory[0]
        assert data.nbytes <= size
        ok(acl.rt.memcpy(address, size, data.ctypes.data, data.nbytes, H2D))
        ok(acl.mdl.execute(self.id, self.inputs, self.outputs))
        result = np.empty(shape, np.float32)
        address, size = self.memory[-1]
        ok(acl.rt.memcpy(result.ctypes.data, result.nbytes, address, size, D2H))
        return result

    def close(self):
        ok(acl.mdl.unload(self.id))
        for address, _ in self.memory:
            ok(acl.rt.free(address))


def settings(kind, configs, width, height):
    """Returns the settings of images, one configuration each."""
    aipp = acl.mdl.create_aipp(len(configs))
    assert aipp != 0
    first = configs[0]
    ok(acl.mdl.set_aipp_input_format(aipp, FORMATS[kind]))
    ok(acl.mdl.set_aipp_src_image_size(aipp, width, height))
    ok(acl.mdl.set_aipp_rbuv_swap_switch(aipp, int(first.get("rbuv_swap_switch", False))))
    ok(acl.mdl.set_aipp_ax_swap_switch(aipp, int(first.get("ax_swap_switch", False))))
    matrix = [first.get(f"matrix_r{r}c{c}", 0) for r in range(3) for c in range(3)]
    after = [first.get(f"output_bias_{i}", 0) for i in range(3)]
    before = [first.get(f"input_bias_{i}", 0) for i in range(3)]
    ok(acl.mdl.set_aipp_csc_params(aipp, int(first.get("csc_switch", False)), *matrix, *after, *before))
    for index, config in enumerate(configs):
        four = lambda name, default: [config.get(f"{name}_{i}", default) for i in range(4)]
        ok(acl.mdl.set_aipp_crop_params(
            aipp, int(config.get("crop", False)), config.get("load_start_pos_w", 0), config.get("load_start_pos_h", 0),
            config.get("crop_size_w", 0), config.get("crop_size_h", 0), index))
        ok(acl.mdl.set_aipp_padding_params(
            aipp, int(config.get("padding", False)),
            *(config.get(f"{side}_padding_size", 0) for side in ("top", "bottom", "left", "right")), index))
        ok(acl.mdl.set_aipp_dtc_pixel_mean(aipp, *four("mean_chn", 0), index))
        ok(acl.mdl.set_aipp_dtc_pixel_min(aipp, *(float(v) for v in four("min_chn", 0)), index))
        ok(acl.mdl.set_aipp_pixel_var_reci(aipp, *(float(v) for v in four("var_reci_chn", 1)), index))
    return aipp


def dynamic(folder, model, largest):
    return Loaded(convert(folder, "dynamic", model, f"aipp_op {{\n  aipp_mode: dynamic\n  max_src_image_size: {largest}\n}}\n"))


@pytest.mark.parametrize("name", CASES)
def test_settings_before_an_execution_give_what_settings_built_in_give(device, tmp_path, name):
    kind, config = case(name)
    images = static.image(kind, WIDTH, HEIGHT, 2)
    channels = 1 if kind == "YUV400_U8" else 3
    wanted = static.reference(kind, images, config, WIDTH, HEIGHT, channels)
    model = static.relu(channels, *wanted.shape[2:], 2)
    lines = dict(src_image_size_w=WIDTH, src_image_size_h=HEIGHT, **config)
    text = "\n".join(f"  {key} : {str(value).lower() if isinstance(value, bool) else value}" for key, value in lines.items())
    built = Loaded(convert(tmp_path, "built", model, f"aipp_op {{\n  aipp_mode: static\n  input_format : {kind}\n{text}\n}}\n"))
    loaded = dynamic(tmp_path, model, images.nbytes)
    index, ret = acl.mdl.get_input_index_by_name(loaded.desc, "ascend_dynamic_aipp_data")
    ok(ret)
    aipp = settings(kind, [config, config], WIDTH, HEIGHT)
    ok(acl.mdl.set_input_aipp(loaded.id, loaded.inputs, index, aipp))
    ok(acl.mdl.destroy_aipp(aipp))
    found = loaded.run(images, wanted.shape)
    assert runner.distance(found, wanted) <= 1e-6
    assert found.tobytes() == built.run(images, wanted.shape).tobytes()
    loaded.close()
    built.close()


def test_each_image_has_its_own_settings_and_they_change_between_executions(device, tmp_path):
    kind = "RGB888_U8"
    loaded = dynamic(tmp_path, static.relu(3, 4, 5, 2), 2 * 3 * WIDTH * HEIGHT)
    rng = np.random.default_rng(8)
    for width, height in [(WIDTH, HEIGHT), (7, 9), (12, 4), (5, 4)]:
        images = static.image(kind, width, height, 2, seed=width)
        configs = [
            dict(crop=True, load_start_pos_w=int(rng.integers(0, width - 4)), load_start_pos_h=int(rng.integers(0, height - 3)),
                 crop_size_w=5, crop_size_h=4, mean_chn_0=int(rng.integers(-9, 200)), min_chn_1=0.25, var_reci_chn_2=0.125 * (i + 1))
            for i in range(2)
        ]
        wanted = np.concatenate([
            static.reference(kind, images[i:i + 1], configs[i], width, height, 3) for i in range(2)])
        aipp = settings(kind, configs, width, height)
        ok(acl.mdl.set_aipp_by_input_index(loaded.id, loaded.inputs, 0, aipp))
        ok(acl.mdl.destroy_aipp(aipp))
        assert runner.distance(loaded.run(images, wanted.shape), wanted) <= 1e-6
    loaded.close()
