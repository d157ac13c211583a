"""Exports networks to ONNX with each exporter of PyTorch, and compares the files' results with PyTorch in double precision.

    python exporters.py [--only REGEX]

The networks are made here and taken from torchvision, with random weights. Each is exported by the exporter of TorchScript and by that of torch.export,
with a fixed and with a dynamic batch; the fixed file of TorchScript is also converted to float16 by onnxconverter-common. A file is right if its results are
as near to those in double precision as PyTorch's own are, in the precision of the file: at most 4 times as far, or 1e-5 (1e-3 in float16). An export that fails is wrong, and so is a file that Jumar does not convert, with one exception: the
converter to float16 writes nodes whose inputs have different types where ONNX wants one. Such a file has to be refused, with the name of the node.
"""

import argparse
import collections
import contextlib
import copy
import io
import os
import re
import sys
import tempfile
import warnings

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import jumar
import numpy as np
import onnx
import torch
import torchvision
from onnxconverter_common import float16
from torch import nn
from torch.nn import functional as F

# How near is near enough, by the type of the file's weights; and how much farther than PyTorch a file may be.
CLOSE, TIMES = {torch.float32: 1e-5, torch.float16: 1e-3}, 4.0


class RootMeanSquare(nn.Module):
    """nn.RMSNorm, which the exporter of TorchScript does not have."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


class Residual(nn.Module):
    def __init__(self, *layers, after=None):
        super().__init__()
        self.layers, self.after = nn.Sequential(*layers), after

    def forward(self, x):
        y = self.layers(x)
        y = x + y
        return self.after(y) if self.after else y


class Recurrent(nn.Module):
    """A recurrent layer with what its states start with, and a head over the last step."""

    def __init__(self, kind, **options):
        super().__init__()
        self.layer = kind(12, 16, batch_first=True, **options)
        self.head = nn.Linear(16 * (2 if options.get("bidirectional") else 1), 5)

    def forward(self, x):
        y, _ = self.layer(x)
        return self.head(y[:, -1]), y


class Language(nn.Module):
    """A decoder: embeddings, causal attention by scaled_dot_product_attention, RMS norms and gated units."""

    def __init__(self, words=50, width=32, heads=4):
        super().__init__()
        self.heads, self.words, self.positions = heads, nn.Embedding(words, width), nn.Embedding(16, width)
        self.norms = nn.ModuleList(RootMeanSquare(width) for _ in range(3))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.gate, self.up, self.down = nn.Linear(width, 64), nn.Linear(width, 64), nn.Linear(64, width)

    def forward(self, ids):
        batch, length = ids.shape
        x = self.words(ids) + self.positions(torch.arange(length, device=ids.device))
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norms[0](x)).chunk(3, -1))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, -1))
        y = self.norms[1](x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return self.norms[2](x) @ self.words.weight.T


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.middle = nn.Sequential(nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.InstanceNorm2d(16, affine=True), nn.LeakyReLU())
        self.up = nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1)
        self.head = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        before = self.down(x)
        return self.head(torch.cat([before, self.up(self.middle(before))], 1))


class SqueezeExcitation(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.reduce, self.expand = nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.Conv2d(16, 4, 1), nn.Conv2d(4, 16, 1)

    def forward(self, x):
        x = F.hardswish(self.stem(x))
        scale = F.hardsigmoid(self.expand(F.relu(self.reduce(x.mean((2, 3), keepdim=True)))))
        return torch.flatten(F.adaptive_avg_pool2d(x * scale, 4), 1)


class Graph(nn.Module):
    """Two graph convolutions over a dense adjacency, with a readout by maximum and mean."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 16), nn.Linear(16, 16)

    def forward(self, x, adjacency):
        degrees = adjacency.sum(-1, keepdim=True).clamp(min=1.0)
        x = torch.tanh(self.first(adjacency @ x / degrees))
        x = F.elu(self.second(adjacency @ x / degrees))
        return torch.cat([x.amax(1), x.mean(1)], -1)


class Indexing(nn.Module):
    """What programs do between layers: slices, gathers, masks, comparisons, sorting and sums along axes."""

    def forward(self, x, at):
        best, order = torch.topk(x, 3, dim=-1)
        picked = torch.gather(x, -1, at)
        masked = torch.where(x > 0, x.exp(), x.abs().sqrt()).masked_fill(x < -1, 0.5)
        return best, order, picked, masked[:, 1::2].cumsum(-1), F.pad(x, (1, 2)).roll(1, -1), torch.einsum("bij,bkj->bik", x, x)


def networks():
    """Yields a name, a network and its inputs."""
    torch.manual_seed(0)
    image, row, ids = torch.randn(2, 3, 32, 32), torch.randn(2, 10, 12), torch.randint(0, 50, (2, 10))
    yield "perceptron", nn.Sequential(nn.Linear(12, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 5), nn.LogSoftmax(-1)), (torch.randn(2, 12),)
    yield "convolutions", nn.Sequential(
        nn.Conv2d(3, 8, 5, padding=2), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 12, 1),
        nn.PReLU(12), nn.AvgPool2d(3, 2, 1, count_include_pad=False), nn.Flatten(), nn.Linear(12 * 64, 4),
    ), (image,)  # fmt: skip
    yield "residual", nn.Sequential(nn.Conv2d(3, 8, 3), Residual(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), after=nn.ReLU6())), (image,)
    yield "dilated", nn.Sequential(*(Residual(nn.Conv1d(10, 10, 3, padding=2**n, dilation=2**n), nn.ELU()) for n in range(3))), (row,)
    yield "transposed", nn.Sequential(nn.ConvTranspose2d(3, 6, 3, 2, 1, 1), nn.Tanh(), nn.ConvTranspose2d(6, 2, 4, 2, groups=2)), (image[..., :8, :8],)
    yield "shuffled", nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.PixelShuffle(2), nn.Upsample(scale_factor=2, mode="bilinear")), (image,)
    yield "volume", nn.Sequential(nn.Conv3d(2, 4, 3), nn.Softplus(), nn.MaxPool3d(2), nn.Conv3d(4, 2, 1)), (torch.randn(2, 2, 8, 8, 8),)
    yield "u-net", UNet(), (image,)
    yield "squeeze-excitation", SqueezeExcitation(), (image,)
    yield "lstm", Recurrent(nn.LSTM, num_layers=2), (row,)
    yield "gru", Recurrent(nn.GRU, bidirectional=True), (row,)
    yield "rnn", Recurrent(nn.RNN, nonlinearity="relu"), (row,)
    encoder = nn.TransformerEncoderLayer(12, 3, 24, dropout=0.0, batch_first=True, norm_first=True)
    yield "encoder", nn.TransformerEncoder(encoder, 2, enable_nested_tensor=False), (row,)
    yield "attention", nn.MultiheadAttention(12, 3, batch_first=True), (row, row, row)
    yield "language", Language(), (ids,)
    yield "graph", Graph(), (torch.randn(2, 7, 6), torch.randint(0, 2, (2, 7, 7)).float())
    yield "indexing", Indexing(), (torch.randn(2, 6, 8), torch.randint(0, 8, (2, 6, 4)))
    for name, options in (("resnet18", {}), ("mobilenet_v3_small", {}), ("shufflenet_v2_x0_5", {}), ("swin_t", {}), ("squeezenet1_1", {}), ("efficientnet_b0", {})):
        yield name, getattr(torchvision.models, name)(weights=None, num_classes=10, **options), (torch.randn(2, 3, 64, 64),)


def tensors(results):
    results = [results] if isinstance(results, torch.Tensor) else results
    return [each for each in results if each is not None]


def exported(network, inputs, path, dynamo, dynamic):
    """Writes a file with one of the exporters."""
    options = {"external_data": False} if dynamo else {"opset_version": 17}
    names = [f"in{number}" for number in range(len(inputs))]
    if dynamic and dynamo:
        options["dynamic_shapes"] = tuple({0: torch.export.Dim("batch", min=1, max=64)} for _ in inputs)
    elif dynamic:
        options["dynamic_axes"] = {name: {0: "batch"} for name in names}
    # The exporters write about their progress.
    with contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(network, inputs, path, dynamo=dynamo, input_names=names, **options)


def difference(found, wanted):
    """Returns the largest distance in relation to the largest value; infinity for a result of another shape."""
    if tuple(found.shape) != tuple(wanted.shape):
        return float("inf")
    if not wanted.is_floating_point():
        return 0.0 if np.array_equal(found, wanted.numpy()) else float("inf")
    apart = (torch.from_numpy(found.astype(np.float64)) - wanted).abs().max().item()
    return apart / max(wanted.abs().max().item(), 1e-30)


def with_own_statistics(network, inputs):
    """Lets normalisations by batches take the means and variances of an input: with others, values vanish on their way through a deep network."""
    network.train()
    for part in network.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.momentum = None
    network(*inputs)
    return network.eval()


def in_precision(network, inputs, change):
    """Returns PyTorch's results in another precision."""
    return tensors(change(copy.deepcopy(network))(*(change(each) if each.is_floating_point() else each for each in inputs)))


def node_of_mixed_types(path):
    """Returns the name of a node whose inputs have different types where the operator's definition wants one, or None."""
    model = onnx.load(path)
    del model.graph.value_info[:]
    model = onnx.shape_inference.infer_shapes(model)
    graph = model.graph
    types = {each.name: each.type.tensor_type.elem_type for each in (*graph.value_info, *graph.input)}
    types.update({each.name: each.data_type for each in graph.initializer})
    for node in graph.node:
        schema = onnx.defs.get_schema(node.op_type, model.opset_import[0].version, node.domain)
        found = {}
        for number, name in enumerate(node.input):
            port = schema.inputs[min(number, len(schema.inputs) - 1)]
            if name in types and port.is_homogeneous:
                found.setdefault(port.type_str, set()).add(types[name])
        if any(len(each) > 1 for each in found.values()):
            return node.name
    return None


def results_of(path, inputs):
    """Converts and runs a file with Jumar."""
    with jumar.load(path) as model:
        given = {info.name: value.numpy() for info, value in zip(model.inputs, inputs, strict=True)}
        made = model(given)
        return [np.array(made[info.name].numpy()) for info in model.outputs]


def files(network, inputs, folder):
    """Yields what each file is called, its path, the inputs to run it with, and its type; or the exporter's error."""
    other = tuple(torch.cat([each, each[:1]]) for each in inputs)
    for exporter, dynamo in (("TorchScript", False), ("torch.export", True)):
        for dynamic in (False, True):
            title = f"{exporter}{', dynamic batch' if dynamic else ''}"
            path = os.path.join(folder, f"{exporter}-{dynamic}.onnx")
            try:
                exported(copy.deepcopy(network), inputs, path, dynamo, dynamic)
            except Exception as error:  # noqa: BLE001  (an exporter's error of any kind is a result)
                yield title, error, None, None
                continue
            yield title, path, other if dynamic else inputs, torch.float32
            if not dynamo and not dynamic:
                half = os.path.join(folder, "float16.onnx")
                onnx.save(float16.convert_float_to_float16(onnx.load(path), keep_io_types=True), half)
                yield "float16", half, inputs, torch.float16


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a regular expression of networks")
    options = parser.parse_args()
    counts = collections.Counter()
    for name, network, inputs in networks():
        if not re.search(options.only, name):
            continue
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            # Where converted models are kept.
            os.environ["XDG_CACHE_HOME"] = folder
            network = with_own_statistics(network, inputs)
            for title, path, given, dtype in files(network, inputs, folder):
                if isinstance(path, Exception):
                    state, text = "WRONG", f"{type(path).__name__}: {' '.join(str(path).split())[:300]}"
                else:
                    wanted = in_precision(network, given, lambda part: part.double())
                    own = in_precision(network, given, lambda part, dtype=dtype: part.to(dtype))
                    close = max(CLOSE[dtype], TIMES * max(difference(one.numpy(), other) for one, other in zip(own, wanted, strict=True)))
                    mixed = node_of_mixed_types(path)
                    try:
                        found = results_of(path, given)
                        away = max(difference(one, other) for one, other in zip(found, wanted, strict=True))
                        state, text = ("right" if away <= close and not mixed else "WRONG"), f"{away:.1e} of {close:.1e}"
                    except Exception as error:  # noqa: BLE001  (a refusal of any kind is a result)
                        text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
                        state = "invalid" if mixed and f"node {mixed} " in str(error) and "must be of one type" in str(error) else "WRONG"
                counts[state] += 1
                print(f"{name:20} {title:28} {state}: {text}", flush=True)
    print(", ".join(f"{count} {state}" for state, count in counts.items()))
    return 1 if counts["WRONG"] or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
