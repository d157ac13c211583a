"""The cases, one file a family. Importing this package fills `cases.ALL`."""

from . import activation, alias, array, attention, boxes, channels, collective, detection, diagonal, elementwise, filter, framework, fused, gradient, image, index, lamb, layout, lists, linear, loss, matrix, norm, partition, points, pool, random, recurrent, reduce, regions, sampling, search, sequence, single, sparse, special, state, training  # noqa: F401
