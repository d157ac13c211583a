"""Preprocessing inside a model (AIPP) against the documented formulas, in float64."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import runner

YUV_TO_RGB = dict(matrix_r0c0=256, matrix_r0c1=0, matrix_r0c2=359, matrix_r1c0=256, matrix_r1c1=-88, matrix_r1c2=-183,
                  matrix_r2c0=256, matrix_r2c1=454, matrix_r2c2=0, input_bias_0=0, input_bias_1=128, input_bias_2=128)
NORMAL = dict(mean_chn_0=104, mean_chn_1=117, mean_chn_2=123, min_chn_0=0.5, min_chn_1=1.5, min_chn_2=2.0,
              var_reci_chn_0=0.0039, var_reci_chn_1=0.01, var_reci_chn_2=0.5)


def image(kind, width, height, count=1, seed=4):
    rng = np.random.default_rng(seed)
    shape = {"YUV420SP_U8": (height * 3 // 2, width, 1), "RGB888_U8": (height, width, 3),
             "XRGB8888_U8": (height, width, 4), "YUV400_U8": (height, width, 1)}[kind]
    return rng.integers(0, 256, (count, *shape), dtype=np.uint8)


def planes(kind, image, width, height):
    """The channels of one image, [C, H, W]."""
    if kind == "YUV420SP_U8":
        flat = image.reshape(-1)
        luma = flat[: width * height].reshape(height, width)
        colour = flat[width * height:].reshape(height // 2, width // 2, 2)
        full = colour.repeat(2, axis=0).repeat(2, axis=1)
        return np.stack([luma, full[..., 0], full[..., 1]])
    return np.moveaxis(image, -1, 0)


# The values of the template of configuration files in the documents of ATC.
DEFAULT = dict(matrix_r0c0=298, matrix_r0c1=516, matrix_r0c2=0, matrix_r1c0=298, matrix_r1c1=-100, matrix_r1c2=-208, matrix_r2c0=298,
               matrix_r2c1=0, matrix_r2c2=409, input_bias_0=16, input_bias_1=128, input_bias_2=128)


def reference(kind, images, config, width, height, channels):
    out = []
    for image in images:
        x = planes(kind, image, width, height).astype(np.float64)
        if config.get("ax_swap_switch"):
            x = np.concatenate([x[1:], x[:1]])
        if config.get("rbuv_swap_switch"):
            a, b = (1, 2) if kind.startswith("YUV") else (0, 2)
            x[[a, b]] = x[[b, a]]
        if config.get("crop"):
            left, top = config.get("load_start_pos_w", 0), config.get("load_start_pos_h", 0)
            x = x[:, top:top + config["crop_size_h"], left:left + config["crop_size_w"]]
        if config.get("csc_switch"):
            if not any(name.startswith("matrix") for name in config):
                config = dict(config, **DEFAULT)
            matrix = np.array([[config.get(f"matrix_r{r}c{c}", 0) for c in range(3)] for r in range(3)], np.float64)
            before = np.array([config.get(f"input_bias_{i}", 0) for i in range(3)])[:, None, None]
            after = np.array([config.get(f"output_bias_{i}", 0) for i in range(3)])[:, None, None]
            mixed = np.einsum("rc,chw->rhw", matrix, x[:3] - before)
            x = np.clip(np.floor(mixed / 256) + after, 0, 255)
        x = x[:channels]
        per = lambda name, default: np.array([config.get(f"{name}_{i}", default) for i in range(channels)])[:, None, None]
        x = (x - per("mean_chn", 0) - per("min_chn", 0)) * per("var_reci_chn", 1)
        if config.get("padding"):
            sizes = [(0, 0)] + [(config.get(f"{a}_padding_size", 0), config.get(f"{b}_padding_size", 0))
                                for a, b in (("top", "bottom"), ("left", "right"))]
            x = np.pad(x, sizes, constant_values=config.get("padding_value", 0))
        out.append(x)
    return np.stack(out).astype(np.float32)


def relu(channels, height, width, count=1, op="Identity"):
    shape = [count, channels, height, width]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def write(folder, kind, config):
    lines = [f"  {name} : {str(value).lower() if isinstance(value, bool) else value}" for name, value in config.items()]
    path = folder / "aipp.cfg"
    path.write_text("aipp_op {\n  aipp_mode: static\n  input_format : " + kind + "\n" + "\n".join(lines) + "\n}\n")
    return str(path)


CASES = {
    "as_it_is": ("RGB888_U8", {}),
    "swapped_and_normal": ("RGB888_U8", dict(rbuv_swap_switch=True, **NORMAL)),
    "grey": ("YUV400_U8", dict(mean_chn_0=10, var_reci_chn_0=0.25)),
    "four_bytes": ("XRGB8888_U8", dict(ax_swap_switch=True, **NORMAL)),
    "yuv": ("YUV420SP_U8", NORMAL),
    "yuv_to_rgb": ("YUV420SP_U8", dict(csc_switch=True, **YUV_TO_RGB, **NORMAL)),
    "vu_to_rgb": ("YUV420SP_U8", dict(csc_switch=True, rbuv_swap_switch=True, **YUV_TO_RGB)),
    "rgb_to_yuv": ("RGB888_U8", dict(csc_switch=True, matrix_r0c0=66, matrix_r0c1=129, matrix_r0c2=25, matrix_r1c0=-38, matrix_r1c1=-74,
                                     matrix_r1c2=112, matrix_r2c0=112, matrix_r2c1=-94, matrix_r2c2=-18, output_bias_0=16,
                                     output_bias_1=128, output_bias_2=128)),
    # No matrix: the documented default.
    "yuv_to_bgr": ("YUV420SP_U8", dict(csc_switch=True)),
    "part": ("YUV420SP_U8", dict(crop=True, load_start_pos_w=2, load_start_pos_h=4, crop_size_w=6, crop_size_h=4, csc_switch=True, **YUV_TO_RGB)),
    "border": ("RGB888_U8", dict(padding=True, left_padding_size=1, right_padding_size=2, top_padding_size=3, padding_value=7, **NORMAL)),
    "part_and_border": ("RGB888_U8", dict(crop=True, load_start_pos_w=1, load_start_pos_h=1, crop_size_w=5, crop_size_h=3, padding=True,
                                          left_padding_size=2, bottom_padding_size=1)),
}


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_images_are_preprocessed_by_the_formulas(tmp_path, name, count):
    kind, config = CASES[name]
    width, height = 12, 10
    config = dict(src_image_size_w=width, src_image_size_h=height, **config)
    channels = 1 if kind == "YUV400_U8" else 3
    images = image(kind, width, height, count)
    wanted = reference(kind, images, config, width, height, channels)
    model = relu(channels, *wanted.shape[2:], count)
    path = runner.save(model, tmp_path)
    found, _ = runner.jumar(path, [images], tmp_path, extra=["--aipp", write(tmp_path, kind, config)])
    assert runner.distance(found[0], wanted) <= 1e-6


def test_scaling_keeps_a_plain_image_and_a_slope(tmp_path):
    image = np.full((1, 8, 8, 3), 77, np.uint8)
    ramp = np.repeat(np.arange(0, 160, 20, dtype=np.uint8)[None, None, :, None], 8, axis=1).repeat(3, axis=3)
    config = dict(src_image_size_w=8, src_image_size_h=8, resize=True, resize_output_w=16, resize_output_h=4)
    path = runner.save(relu(3, 4, 16), tmp_path)
    extra = ["--aipp", write(tmp_path, "RGB888_U8", config)]
    assert (runner.jumar(path, [image], tmp_path, extra=extra)[0][0] == 77).all()
    row = runner.jumar(path, [ramp], tmp_path, extra=extra)[0][0][0, 0, 0]
    assert (np.diff(row) >= 0).all() and row[0] == 0 and row[-1] == 140
    assert np.array_equal(row[1:-1], np.arange(5, 140, 10)[: len(row) - 2])


def test_what_does_not_fit_is_refused_by_name(tmp_path):
    path = runner.save(relu(3, 10, 10), tmp_path)
    extra = ["--aipp", write(tmp_path, "RGB888_U8", dict(src_image_size_w=12, src_image_size_h=10))]
    with pytest.raises(runner.Refused, match="images of 12 by 10 come out.*takes 10 by 10"):
        runner.jumar(path, [image("RGB888_U8", 12, 10)], tmp_path, extra=extra)
