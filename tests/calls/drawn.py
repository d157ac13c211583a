"""Prints which values the arguments of each operator are drawn with, and which are never drawn: `run.py --drawn`.

A line is `operator argument: values`. Behind `never` stands what the argument could have and no call gave: null, not null, a type that the interface lists, a number
that is not finite, a negative number, zero, another number than the only one.
"""

import collections
import math

import numpy as np

from device import CODES, PACKED, Array, Device, List, Plain, Scalar, Written
from maker import Call, Draws, Values

#: Calls of each operator that are made, not run.
SAMPLE = 400
#: Numbers of an argument that are printed.
SHOWN = 12


class Argument:
    """What was drawn for an argument."""

    def __init__(self):
        self.values, self.types, self.specials, self.given, self.absent = collections.Counter(), set(), set(), 0, 0

    def add(self, value):
        if value is None:
            self.absent += 1
            return
        self.given += 1
        if isinstance(value, List):
            self.values[f"{len(value.members)} members"] += 1
            for one in value.members:
                self.member(one)
        elif isinstance(value, Plain):
            self.values[tuple(value.value) if isinstance(value.value, (list, tuple)) else value.value] += 1
        else:
            self.member(value)

    def member(self, one):
        one = one.array if isinstance(one, Written) else one
        if isinstance(one, Scalar):
            self.types.add(one.dtype)
            self.values[complex(one.value) if one.dtype.startswith("complex") else float(one.value)] += 1
        elif isinstance(one, Array):
            self.types.add(one.dtype)
            if one.dtype not in CODES and one.dtype not in PACKED and np.dtype(one.values.dtype).kind in "fV" and one.values.size:
                values = one.values.astype(np.float64)
                self.specials |= {word for word, test in (("nan", np.isnan), ("inf", np.isposinf), ("-inf", np.isneginf)) if test(values).any()}

    def never(self, kind, name, optional, output, listed):
        missing = []
        if optional and not self.absent:
            missing.append("null")
        if not self.given:
            return ["given"]
        if listed:
            missing += sorted(set(listed) - self.types)
        numbers = [one for one in self.values if isinstance(one, (int, float)) and not isinstance(one, bool)]
        if kind in ("double", "float") or kind == "aclScalar*":
            missing += [word for word, test in (("negative", lambda v: v < 0), ("0", lambda v: v == 0), ("infinite", math.isinf)) if numbers and not any(map(test, numbers))]
        if kind == "bool" and len(self.values) < 2:
            missing.append(str(not next(iter(self.values))))
        elif not kind.startswith("aclTensor") and len(self.values) == 1:
            missing.append("another number")
        if not output and kind.startswith("aclTensor") and self.types & {"float32", "float16", "bfloat16"}:
            missing += [word for word in ("nan", "inf", "-inf") if word not in self.specials]
        return missing

    def text(self):
        if self.values:
            return " ".join(str(one) for one, _ in self.values.most_common(SHOWN)) + (" ..." if len(self.values) > SHOWN else "")
        return " ".join(sorted(self.types))


def main(families):
    device, values = Device(), Values(1)
    np.seterr(all="ignore")
    for family in families:
        for operator, make in family.makers.items():
            found = collections.defaultdict(Argument)
            for number in range(SAMPLE):
                call = Call(device, values, Draws(number), operator)
                try:
                    make(call)
                except Exception as error:  # a call that cannot be made is a failure of its own
                    print(f"{operator}: {error!r}")
                    break
                if call.accepted() and not call.expected:
                    call.lighten(())
                    for _, name, *_ in call.params:
                        found[name].add(call.given.get(name))
            for kind, name, output, _, optional in device.prototypes[operator]:
                one = found[name]
                never = one.never(kind, name, optional, output, device.types.get(operator, {}).get(name))
                print(f"{operator} {name}: {one.text()}" + (f"; never {', '.join(never)}" if never else ""))
    device.close()
    return 0
