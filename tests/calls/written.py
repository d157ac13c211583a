"""Writes a call as a Python program that repeats it."""

import numpy as np

from device import Array, List, Plain, Scalar, Written

#: Elements that are written out.
MOST = 64


def values(array):
    found = array.values
    text = np.array2string(found.astype(float) if found.dtype.name == "bfloat16" else found, separator=", ", threshold=MOST, floatmode="unique") if found.size else f"empty {found.shape}"
    return " ".join(text.split())


def tensor(array, wanted=None):
    dims = "x".join(map(str, array.values.shape)) or "scalar"
    memory = "" if array.plain else f", strides {list(array.strides)}, offset {array.offset}"
    return f"{array.dtype} {dims}{memory}" + ("" if wanted else f": {values(array)}")


def argument(value):
    if value is None:
        return "None"
    if isinstance(value, Array):
        return tensor(value)
    if isinstance(value, Scalar):
        return f"{value.dtype} scalar {value.value}"
    if isinstance(value, Plain):
        return repr(value.value)
    if isinstance(value, List):
        return "[" + "; ".join(map(argument, value.members)) + "]"
    if isinstance(value, Written):
        return ("in place: " if value.reads else "out: ") + tensor(value.array, not value.reads) + (" in the memory of an input" if value.alias is not None else "")
    return repr(value)


def written(call):
    """Returns the lines of a call: the operator, and each argument with its type, shape, memory and elements."""
    lines = [f"{call.operator}("]
    for _, name, *_ in call.params:
        if call.given.get(name) is None:
            continue  # null, or 0
        lines.append(f"    {name}={argument(call.given.get(name))},")
    return "\n".join([*lines, ")"])
