"""The cases, one file a family. Importing this package fills `cases.ALL`."""

from . import activation, array, diagonal, elementwise, filter, fused, gradient, image, index, layout, loss, matrix, norm, pool, random, recurrent, reduce, search, sequence, single, state, training  # noqa: F401
