"""The cases, one file a family. Importing this package fills `cases.ALL`."""

from . import activation, array, diagonal, elementwise, filter, image, index, layout, matrix, norm, pool, random, recurrent, reduce, sequence, state  # noqa: F401
