"""Writes a call as Python: `again.py` beside this file has the names that it uses."""

import numpy as np

from device import Array, List, Plain, Scalar, Written

#: Elements that are written out; of larger tensors the seed repeats the call.
MOST = 4096


def number(value):
    """A number as Python source."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    value = complex(value) if np.iscomplexobj(value) else value.item() if hasattr(value, "item") else value
    return repr(value).replace("nan", "NAN").replace("inf", "INF")


def elements(values):
    """The elements of a tensor, with runs of equal ones written once."""
    if values.size > MOST:
        return f"...  # {values.size} elements"
    flat = [number(value) for value in (values.astype(float) if values.dtype.name == "bfloat16" else values).reshape(-1)]
    parts, start = [], 0
    while start < len(flat):
        end = start
        while end < len(flat) and flat[end] == flat[start]:
            end += 1
        if end - start > 3:
            parts.append(f"*[{flat[start]}] * {end - start}")
        else:
            parts += flat[start:end]
        start = end
    return "[" + ", ".join(parts) + "]"


def tensor(array, with_elements=True):
    memory = "" if array.plain else f", strides={list(array.strides)}, offset={array.offset}"
    return f'"{array.dtype}", {list(array.values.shape)}' + (f", {elements(array.values)}" if with_elements else "") + memory


def argument(value, given):
    if value is None:
        return "None"
    if isinstance(value, Array):
        return f"tensor({tensor(value)})"
    if isinstance(value, Scalar):
        return f'scalar("{value.dtype}", {number(value.value)})'
    if isinstance(value, Plain):
        return repr(value.value).replace("inf", "INF").replace("nan", "NAN")
    if isinstance(value, List):
        return "[" + ", ".join(argument(one, given) for one in value.members) + "]"
    if isinstance(value, Written) and value.reads:
        return f"in_place({tensor(value.array)})"
    alias = next((f", memory_of={name!r}" for name, other in given.items() if value.alias is not None and other is value.alias), "")
    return f"out({tensor(value.array, False)}{alias})"


def written(call):
    """Returns the lines of a call: the operator, and each argument that is given."""
    lines = ["call(", f'    "{call.operator}",']
    lines += [f"    {name if name != 'lambda' else 'lambda_'}={argument(call.given[name], call.given)}," for _, name, *_ in call.params if call.given.get(name) is not None]
    return "\n".join([*lines, ")"])
