"""Writes the cases that the tests of jumar-eager read. Scripts beside this one make a file of cases a family.

    from cases import Cases, i32, f32 ...
    cases = Cases("elementwise")
    cases.add("aclnnAdd", self=a, other=b, alpha=scalar(2.0), out=Out(torch.add(a, b, alpha=2)))
    cases.write()

Arguments are named as the parameters of the C interface. A torch tensor is an input; `Out(tensor)` is an output and what it
must hold; `InOut(before, after)` is read and written; a list of any of these is a tensor list. `Scalar(value, dtype)` is a
host scalar. Numbers, booleans, strings, lists of numbers and torch data types are what they are. `Null` is a null pointer.
The expected values come from PyTorch on the CPU, never from the code under test.
"""

import os
from dataclasses import dataclass
from typing import Any

import torch

HERE = os.path.dirname(os.path.abspath(__file__))

NAMES = {
    torch.float32: "float32",
    torch.float64: "float64",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.int8: "int8",
    torch.int16: "int16",
    torch.int32: "int32",
    torch.int64: "int64",
    torch.uint8: "uint8",
    torch.uint16: "uint16",
    torch.uint32: "uint32",
    torch.uint64: "uint64",
    torch.bool: "bool",
    torch.complex32: "complex32",
    torch.complex64: "complex64",
    torch.complex128: "complex128",
}


@dataclass
class Out:
    """An output. Without `values` only its type and shape are given, for calls that are refused."""

    values: torch.Tensor
    matters: bool = True


@dataclass
class InOut:
    """A tensor that is read and written."""

    before: torch.Tensor
    after: torch.Tensor


@dataclass
class Scalar:
    """A host scalar."""

    value: Any
    dtype: torch.dtype = torch.float32


@dataclass
class Coded:
    """A tensor of a type that is exchanged by the bits of its elements, such as float8_e4m3fn."""

    name: str
    codes: torch.Tensor

    def __getitem__(self, index):
        return Coded(self.name, self.codes[index])


@dataclass
class Group:
    """The name of a communicator, and the rank of the caller. The ranks of one call are cases that follow each other."""

    rank: int
    size: int
    name: str = "ranks"


class Null:
    """A null pointer."""


def number(value):
    if isinstance(value, complex):
        return f"{value.real!r},{value.imag!r}"
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def tensor(values):
    if isinstance(values, Coded):
        dims = "x".join(map(str, values.codes.shape)) or "x"
        return " ".join([values.name, dims] + [str(code) for code in values.codes.flatten().tolist()])
    dims = "x".join(map(str, values.shape)) or "x"
    if values.dtype in (torch.bfloat16, torch.float16):
        values_list = values.float().flatten().tolist()
    elif values.dtype == torch.complex32:
        values_list = values.to(torch.complex64).flatten().tolist()
    else:
        values_list = values.flatten().tolist()
    if values.dtype == torch.float32:
        # The shortest text that is the same float32.
        texts = [str(number) for number in values.flatten().numpy()] if values.numel() else []
    else:
        texts = [number(value) for value in values_list]
    return " ".join([NAMES[values.dtype], dims] + texts)


class Cases:
    def __init__(self, family):
        self.family = family
        self.lines = []

    def add(cases, operator, /, within=None, refuse=None, shapes=None, dense=False, bare=False, formats=None, **arguments):
        """Adds a case. `within` replaces the tolerance. `refuse` is a status and a part of the sentence. `bare`: dense tensors need no workspace."""
        cases.lines.append(f"case {operator}")
        for name, value in arguments.items():
            cases.argument(name.rstrip("_"), value)
        if within is not None:
            cases.lines.append(f"within {within!r}")
        if refuse is not None:
            cases.lines.append(f"refuse {refuse[0]} {refuse[1]}")
        for name, dims in (shapes or {}).items():
            cases.lines.append(f"shape {name} " + " ".join(map(str, dims)))
        for name, number_of_format in (formats or {}).items():
            cases.lines.append(f"format {name} {number_of_format}")
        if dense:
            cases.lines.append("dense")
        if bare:
            cases.lines.append("bare")

    def argument(self, name, value):
        if value is Null:
            self.lines.append(f"in {name} null")
        elif isinstance(value, (torch.Tensor, Coded)):
            self.lines.append(f"in {name} {tensor(value)}")
        elif isinstance(value, Out):
            text = tensor(value.values) if value.matters else " ".join(tensor(value.values).split()[:2])
            self.lines.append(f"out {name} {text}")
        elif isinstance(value, InOut):
            self.lines.append(f"in {name} {tensor(value.before)}")
            self.lines.append(f"out {name} {tensor(value.after)}")
        elif isinstance(value, Scalar):
            self.lines.append(f"in {name} {NAMES[value.dtype]} {number(value.value)}")
        elif isinstance(value, Group):
            self.lines.append(f"in {name} {value.name} {value.rank} {value.size}")
        elif isinstance(value, torch.dtype):
            self.lines.append(f"in {name} {NAMES[value]}")
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], Scalar):
            texts = [NAMES[value[0].dtype]] + [number(each.value) for each in value]
            self.lines.append(f"in {name} " + " ".join(texts))
        elif isinstance(value, (list, tuple)) and value and not isinstance(value[0], (int, float, bool)):
            for index, member in enumerate(value):
                self.argument(f"{name}[{index}]", member)
        elif isinstance(value, (list, tuple)):
            self.lines.append(f"in {name} " + " ".join(map(number, value)))
        else:
            self.lines.append(f"in {name} {number(value)}")

    def write(self):
        with open(os.path.join(HERE, self.family + ".txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")
