"""Networks with seeded random weights, built with the ONNX helper."""

from .cnn import (
    densenet121,
    detector,
    digits,
    inception_v2,
    mobilenet_v2,
    resnet50,
    shufflenet,
    squeezenet,
    vgg19,
)
from .net import Net
from .sequence import bert, decoder, lstm

__all__ = [
    "Net",
    "bert",
    "decoder",
    "densenet121",
    "detector",
    "digits",
    "inception_v2",
    "lstm",
    "mobilenet_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
]
