"""Repeats a call that `run.py` printed: put it behind `from again import *`, and the outputs are printed.

    PYTHONPATH=tests/calls JUMAR_PREFIX=target/jumar target/venv/bin/python -c 'from again import *
    call("aclnnAdd", self=tensor("float32", [1], [1.0]), other=tensor("float32", [1], [2.0]), alpha=scalar("float32", 1.0), out=out("float32", [1]))'
"""

import numpy as np

from device import NUMPY, Array, Device, List, Plain, Scalar, Written

__all__ = ["INF", "NAN", "call", "in_place", "out", "scalar", "tensor"]

INF, NAN = float("inf"), float("nan")


def tensor(dtype, shape, values, strides=None, offset=0):
    return Array(dtype, np.array(values).astype(NUMPY[dtype]).reshape(shape), None if strides is None else tuple(strides), offset)


def scalar(dtype, value):
    return Scalar(dtype, np.array(value).astype(NUMPY[dtype]))


def shown(found, wanted):
    print("  ", found.tolist())


def out(dtype, shape, strides=None, offset=0, memory_of=None):
    made = Written(Array(dtype, np.zeros(shape, NUMPY[dtype]), None if strides is None else tuple(strides), offset), 0, shown)
    made.alias = memory_of
    return made


def in_place(dtype, shape, values, strides=None, offset=0):
    return Written(tensor(dtype, shape, values, strides, offset), 0, shown, None, True)


def call(operator, **arguments):
    """Runs a call and prints its outputs, in the order of the parameters, or why it fails."""
    given = {}
    for name, value in arguments.items():
        plain = not isinstance(value, (Array, Scalar, Written)) and value is not None
        is_list = isinstance(value, list) and value and isinstance(value[0], (Array, Scalar, Written))
        given[name.rstrip("_")] = List(value) if is_list else Plain(value) if plain else value
    for value in given.values():
        if isinstance(value, Written) and isinstance(value.alias, str):
            value.alias = given[value.alias]
    device = Device()
    print(operator)
    problem = device.run(operator, given)
    if problem:
        print("  ", *problem)
    device.close()
    return problem
