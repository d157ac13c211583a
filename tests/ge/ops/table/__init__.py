"""The cases, one file a family. Importing this package fills `cases.ALL`."""

from . import activation, array, channels, diagonal, elementwise, filter, fused, gradient, image, index, lamb, layout, loss, matrix, norm, partition, points, pool, random, recurrent, reduce, search, sequence, single, sparse, special, state, training  # noqa: F401
