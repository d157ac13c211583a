"""Networks with seeded random weights, built with the ONNX helper."""

from .cnn import (
    densenet121,
    detector,
    digits,
    inception_v2,
    mobilenet_v2,
    mobilenet_v3,
    resnet50,
    shufflenet,
    squeezenet,
    vgg19,
)
from .net import Net
from .sequence import bert, decoder, gru, lstm, mlp, sensor, tcn

__all__ = [
    "Net",
    "bert",
    "decoder",
    "densenet121",
    "detector",
    "digits",
    "gru",
    "inception_v2",
    "lstm",
    "mlp",
    "mobilenet_v2",
    "mobilenet_v3",
    "resnet50",
    "sensor",
    "shufflenet",
    "squeezenet",
    "tcn",
    "vgg19",
]
