"""Operators whose shapes and axes are decided by inputs of the graph, or by what the graph computes."""

import numpy as np

from build import HERE, PREFIX, compile_program, run


def x(*dims):
    return np.arange(np.prod(dims), dtype=np.float64).reshape(dims)


def resized(height, width):
    """Bilinear with aligned corners, between the corners 0, 1, 2 and 3."""
    rows, columns = np.linspace(0, 1, height)[:, None], np.linspace(0, 1, width)[None]
    return (2 * rows + columns).reshape(1, height, width, 1)


WANTED = {
    "Reshape": x(2, 3).reshape(3, 2),
    "Tile": np.tile(x(2, 2), (1, 3)),
    "Slice": x(4, 5)[1:3, 2:],
    "StridedSlice": x(4, 4)[0:4:2, 1:3],
    "StridedSliceV2": x(4, 4)[:, 1:3],
    "Pad": np.pad(x(2, 2), ((1, 0), (0, 2))),
    "PadV3": np.pad(x(2, 2), ((1, 0), (0, 2))),
    "Transpose": x(2, 3, 4).transpose(2, 0, 1),
    "ReduceSum": x(2, 3).sum(1),
    "ReduceMean": x(2, 3).mean(0, keepdims=True),
    "ReduceMax": x(2, 3).max(1),
    "ReduceMin": x(2, 3).min(),
    "ReduceProd": x(2, 3).prod(1),
    "GatherV2": x(2, 3)[:, [1, 0]],
    "Fill": np.full((2, 3), 5.0),
    "Range": np.arange(1, 8, 3),
    "ResizeBilinearV2": resized(3, 4),
    "ResizeNearestNeighborV2": x(1, 1, 2, 2).repeat(2, 2).repeat(3, 3),
    "Resize": x(1, 1, 2, 2).repeat(2, 2).repeat(2, 3),
    "Expand": np.broadcast_to(x(1, 2), (3, 2)),
    "BroadcastTo": np.broadcast_to(x(1, 2), (3, 2)),
    "TopK": np.array([4, 3]),
    "TopKV2": np.array([4, 3, 2]),
    "OneHot": np.eye(3)[[1, 0]],
    "Cumsum": x(2, 3).cumsum(1),
    "Split": x(2, 4)[:, 2:],
    "SplitV": x(2, 4)[:, 1:],
    "ExpandDims": x(2, 2)[:, None],
}


def test_sizes_and_axes_may_be_tensors_of_the_graph(tmp_path):
    flags = ["-I", PREFIX / "include/es", "-les_all", "-lge_runner"]
    compile_program(HERE / "shapes.cpp", tmp_path / "shapes", *flags, std="c++17")
    seen = set()
    for line in run(tmp_path / "shapes", tmp_path).splitlines():
        head, dims, values = line.split("|")
        name, computed = head.split()
        seen.add((name, computed))
        found = np.array([float(one) for one in values.split()]).reshape([int(one) for one in dims.split()])
        assert found.shape == np.shape(WANTED[name]), line
        np.testing.assert_allclose(found, WANTED[name], rtol=1e-6, err_msg=line)
    assert seen == {(name, computed) for name in WANTED for computed in "01"}
