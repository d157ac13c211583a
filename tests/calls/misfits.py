"""Arguments that do not fit: one argument of a valid call is changed, and the first phase has to refuse it.

`misfits.txt` lists the changes that are refused whatever the other arguments are: null, another type, a size or a rank that does not fit, a list with another number
of members, an attribute at and beyond its limits. `run.py --misfits` writes it from what the engine answers: a line that is lost or new is a check that is lost or new,
and has to be compared with the document of the operator.

A change is a word: `null`, `type NAME`, `size AXIS CHANGE`, `rank CHANGE`, `format`, `longer`, `shorter`, `empty`, `member WORD` for the last member of a list,
`= NUMBER` for an attribute, `= WHAT` relative to a dimension or another attribute, `[AT] = ...` for an element of an array, `text ...`, `is VALUE` for a value
that other calls of the operator have, `given` and `given as NAME` for an argument that is null. Checks that read two or three arguments are changes with a condition:
`WORD if ARGUMENT is VALUE`, `... if ARGUMENT type NAME`, `... if ARGUMENT null`, several joined with `and`.
"""

import collections
import itertools
import json
import math
import pathlib
import random

import numpy as np

from device import ACL, ARRAYS, CODES, NUMPY, PACKED, Array, List, Plain, Scalar, Written

PATH = pathlib.Path(__file__).resolve().parent / "misfits.txt"
#: A format of blocks that plain tensors do not have.
BLOCKED = 29
#: Numbers of an attribute, from the ends of what an enumeration may have to what no dimension has.
CONSTANTS = (*range(-8, 17), 100, 1000, -100, 1 << 31, -(1 << 31) - 1, 1 << 40, -(1 << 40))
REALS = (0.0, -1.0, 1.0, 2.0, -0.5, 0.5, 1.5, 1.0001, -0.0001, math.nan, math.inf, -math.inf, 1e300)
TYPES = tuple(NUMPY)
AXES, CHANGES = (-1, -2, -3, -4, 0, 1), ("+1", "-1", "=1", "=0")
NUMBERS = ("int64_t", "uint64_t", "int32_t", "int8_t", "int")
#: How many calls show that a change is refused: all changes in the first, some in the others.
ALL, SOME, OF = 5, 40, 50
#: A change that fewer calls could have is left out.
LEAST, OFTEN = 4, 8
#: Calls that show on which other arguments a refusal depends, how many have to have a condition, and different values of an argument that are tried.
ASKED, HELD, DISTINCT = 24, 5, 6


def array_of(one):
    return one.array if isinstance(one, Written) else one


def with_array(one, made):
    return Written(made, None, one.check, None, one.reads) if isinstance(one, Written) else made


def zeros(dtype, shape, fmt):
    return Array(dtype, np.broadcast_to(np.zeros((), NUMPY[dtype]), shape), fmt=fmt)


def first_array(value):
    """The tensor of an argument, or the first member of a list."""
    if isinstance(value, List):
        value = next((one for one in value.members if one is not None), None)
    value = array_of(value)
    return value if isinstance(value, Array) else None


# Changes of a tensor.

def tensor_words(array):
    for dtype in TYPES:
        if dtype != array.dtype:
            yield f"type {dtype}"
    yield from SIZES
    yield from ("rank +1", "rank -1", "rank +1 behind", "format")


def changed_tensor(one, word):
    array = array_of(one)
    if array is None:
        return None
    shape, dtype, fmt = list(array.values.shape), array.dtype, array.format
    kind, _, rest = word.partition(" ")
    if kind == "type":
        if rest == dtype:
            return None
        dtype = rest
    elif kind == "size":
        axis, change = rest.split()
        axis = int(axis)
        if not -len(shape) <= axis < len(shape):
            return None
        before = shape[axis]
        shape[axis] = before + int(change) if change[0] in "+-" else int(change[1:])
        if shape[axis] < 0 or shape[axis] == before:
            return None
    elif word == "rank +1":
        shape.insert(0, 1)
    elif word == "rank +1 behind":
        shape.append(1)
    elif word == "rank -1":
        if not shape:
            return None
        shape = shape[1:]
    elif word == "format":
        if fmt == BLOCKED:
            return None
        fmt = BLOCKED
    else:
        return None
    return with_array(one, zeros(dtype, tuple(shape), fmt))


# Changes of numbers.

def relative_words(call, name, array):
    """What a number may be relative to: dimensions and ranks of tensors, and other attributes."""
    tensors = [own for own, value in call.given.items() if first_array(value) is not None][:3]
    for own in tensors:
        yield from (f"= rank {own}", f"= -rank {own} -1")
        for axis in (-1, -2, -3, 0, 1):
            for form in ("{} +0", "{} +1", "-{} -1"):
                yield "= " + form.format(f"size {own} {axis}")
    for own, value in call.given.items():
        if own != name and isinstance(value, Plain) and (call.kinds[own] == "aclIntArray*" if array else call.kinds[own] in NUMBERS):
            yield from (f"= of {own} +0", f"= of {own} +1", f"= half {own} +1")


def tied_words(call):
    """Numbers with which the outputs change alike, so that their shapes do not hide that an attribute is beyond its limit."""
    yield from ("= -1 tied", "= 0 tied")
    tensors = [own for own, value in call.given.items() if own not in call.results and first_array(value) is not None][:2]
    for own in tensors:
        for axis in (-1, -2, -3):
            yield from (f"= size {own} {axis} +0 tied", f"= size {own} {axis} +1 tied")


def number(call, name, word, at):
    """The number that a word stands for in a call, or `None`."""
    parts = word.split()[1:]
    if parts[0] == "rank" or parts[0] == "-rank":
        array = first_array(call.given.get(parts[1]))
        return None if array is None else array.values.ndim if parts[0] == "rank" else -array.values.ndim - 1
    if parts[0] in ("size", "-size"):
        array, axis = first_array(call.given.get(parts[1])), int(parts[2])
        if array is None or not -array.values.ndim <= axis < array.values.ndim:
            return None
        size = array.values.shape[axis]
        return size + int(parts[3]) if parts[0] == "size" else -size + int(parts[3])
    if parts[0] in ("of", "half"):
        value = call.given.get(parts[1])
        value = value.value if isinstance(value, Plain) else None
        if isinstance(value, (list, tuple)):
            value = value[at] if -len(value) <= at < len(value) else None
        if not isinstance(value, (int, np.integer)):
            return None
        return (value // 2 if parts[0] == "half" else value) + int(parts[2])
    return None


def number_words(call, name, array=False):
    for value in CONSTANTS:
        yield f"= {value}"
    yield from relative_words(call, name, array)
    yield from tied_words(call)


def resolved(call, name, word, at=0):
    word = word.removesuffix(" tied")
    text = word[2:]
    if text.lstrip("-").isdigit():
        return int(text)
    return number(call, name, word, at)


# Changes of any argument.

def words(call, name):
    """The changes that an argument may have."""
    kind, value = call.kinds[name], call.given.get(name)
    if kind.endswith("*"):
        yield "null"
    if value is None:
        return
    if isinstance(value, List):
        yield from ("longer", "shorter", "empty")
        if kind == "aclTensorList*":
            array = first_array(value)
            if array is not None:
                for word in ("null", *tensor_words(array)):
                    yield f"member {word}"
        else:
            for dtype in TYPES:
                yield f"member type {dtype}"
    elif first_array(value) is not None:
        yield from tensor_words(first_array(value))
    elif isinstance(value, Scalar):
        for dtype in TYPES:
            if dtype not in PACKED and dtype not in CODES:
                yield f"type {dtype}"
        for one in (*REALS, -2, 3, 4, 8, 100, -100):
            yield f"= {one}"
    elif kind in NUMBERS:
        yield from number_words(call, name)
    elif kind in ("double", "float"):
        for one in REALS:
            yield f"= {one}"
    elif kind == "char*":
        yield from ("text nonsense", "text", "text swapped")
    elif kind == "aclDataType":
        for one in sorted({*ACL.values(), 28, 33, 13, -1, 1000}):
            yield f"= {one}"
    elif kind in ARRAYS:
        yield from ("longer", "shorter", "empty")
        if kind == "aclIntArray*" and len(value.value):
            for at in (0, -1):
                for word in number_words(call, name, True):
                    yield f"[{at}] {word}"
        if kind == "aclFloatArray*" and len(value.value):
            for one in REALS:
                yield f"[0] = {one}"


def tensors_of(call):
    return [own for own, value in call.given.items() if own not in call.results and isinstance(value, Array)]


def presented(call, name, word):
    """A value for an argument that is null."""
    kind = call.kinds[name]
    if word.startswith("given as ") and kind == "aclTensor*":
        like = call.given.get(word[9:])
        made = zeros(like.dtype, like.values.shape, like.format) if isinstance(like, Array) else None
    else:
        made = {"aclIntArray*": Plain([1]), "aclFloatArray*": Plain([1.0]), "aclBoolArray*": Plain([True]), "char*": Plain("x"), "aclScalar*": Scalar("float32", np.float32(1)),
                "aclScalarList*": List([Scalar("float32", np.float32(1))])}.get(kind) or zeros("float32", (1,), 2)
        if kind == "aclTensorList*":
            made = List([made])
    return Written(made, None, None) if isinstance(made, Array) and name in call.results else made


def holds(call, condition):
    """Reports whether a call has a condition."""
    name, word, rest = (condition.split(" ", 2) + [""])[:3]
    value = call.given.get(name)
    if word == "null":
        return value is None
    if word == "type":
        array = first_array(value) if value is not None else None
        return array is not None and array.dtype == rest
    return isinstance(value, Plain) and shown(value.value) == rest


def shown(value):
    """A value as text."""
    if isinstance(value, (list, tuple)):
        value = [one.item() if isinstance(one, np.generic) else one for one in value]
    return json.dumps(value.item() if isinstance(value, np.generic) else value)


def changed(call, name, word, axis=0):
    """Returns the arguments of a call with one of them changed, or `None` where the word changes nothing here. `axis` says which dimension of the outputs changes alike."""
    word, _, conditions = word.partition(" if ")
    if conditions and not all(holds(call, one) for one in conditions.split(" and ")):
        return None
    if word.endswith(" tied"):
        given = changed(call, name, word.removesuffix(" tied"))
        return given and tied(call, given, name, word, axis)
    kind, value = call.kinds.get(name), call.given.get(name)
    made = None
    if word == "null":
        if value is None:
            return None
    elif word.startswith("given"):
        made = presented(call, name, word) if value is None else None
        if made is None:
            return None
    elif value is None:
        return None
    elif word.startswith("is "):
        if not isinstance(value, Plain) or shown(value.value) == word[3:]:
            return None
        made = Plain(json.loads(word[3:]))
    elif isinstance(value, List):
        members = value.members
        if word == "longer":
            last = next((one for one in reversed(members) if one is not None), None)
            if last is None:
                return None
            made = List([*members, last if isinstance(last, Scalar) else with_array(last, zeros(array_of(last).dtype, array_of(last).values.shape, array_of(last).format))])
        elif word == "shorter":
            made = List(members[:-1]) if len(members) > 1 else None
        elif word == "empty":
            made = List([]) if members else None
        elif word.startswith("member ") and members:
            rest, last = word[7:], members[-1]
            if rest == "null":
                made = List([*members[:-1], None]) if last is not None else None
            elif isinstance(last, Scalar):
                dtype = rest[5:]
                made = List([*members[:-1], Scalar(dtype, np.asarray(last.value).astype(NUMPY[dtype]))]) if dtype != last.dtype and dtype not in PACKED else None
            else:
                one = changed_tensor(last, rest)
                made = List([*members[:-1], one]) if one is not None else None
        if made is None:
            return None
    elif first_array(value) is not None:
        made = changed_tensor(value, word)
        if made is None:
            return None
    elif isinstance(value, Scalar):
        if word.startswith("type "):
            if word[5:] == value.dtype:
                return None
            made = Scalar(word[5:], np.asarray(value.value).astype(NUMPY[word[5:]]))
        elif word.startswith("= "):
            dtype = value.dtype
            one = float(word[2:])
            if NUMPY[dtype].kind in "iub" and (not np.isfinite(one) or one != int(one) or abs(one) > 1000):
                return None
            made = Scalar(dtype, np.asarray(one).astype(NUMPY[dtype]))
        else:
            return None
    elif kind in ("double", "float"):
        made = Plain(float(word[2:]))
    elif kind == "aclDataType":
        if (ACL[value.value] if isinstance(value.value, str) else value.value) == int(word[2:]):
            return None
        made = Plain(int(word[2:]))
    elif kind == "char*":
        text = {"text nonsense": "nonsense", "text": "", "text swapped": value.value.swapcase()}[word]
        if text == value.value:
            return None
        made = Plain(text)
    elif kind in NUMBERS:
        one = resolved(call, name, word)
        if one is None or one == value.value or kind == "uint64_t" and one < 0 or abs(one) > {"int8_t": 127, "int32_t": 2**31 - 1, "int": 2**31 - 1}.get(kind, 2**63):
            return None
        made = Plain(one)
    elif kind in ARRAYS:
        own = list(value.value)
        if word == "longer":
            made = Plain([*own, own[-1] if own else 1])
        elif word == "shorter":
            made = Plain(own[:-1]) if own else None
        elif word == "empty":
            made = Plain([]) if own else None
        elif word[0] == "[" and own:
            at, _, rest = word.partition(" ")
            at = int(at[1:-1])
            one = float(rest[2:]) if kind == "aclFloatArray*" else resolved(call, name, rest, at)
            if one is not None and one != own[at] and (kind != "aclIntArray*" or abs(one) < 2**63):
                own[at] = one
                made = Plain(own)
        if made is None:
            return None
    else:
        return None
    given = dict(call.given)
    given[name] = made
    if made is None:
        del given[name]
    # What shared its memory with the argument has its own then.
    for other, one in given.items():
        if isinstance(one, Written) and one.alias is not None and other != name and one.alias is value:
            given[other] = Written(one.array, None, one.check)
    if isinstance(made, Written):
        made.alias = None
    return given


def tied(call, given, name, word, axis):
    """Changes a dimension of the outputs by as much as an attribute changed."""
    at = int(word[1:word.index("]")]) if word[0] == "[" else None
    numbers = [one[name].value if at is None else one[name].value[at] for one in (call.given, given)]
    moved = False
    for own in call.results:
        array = first_array(given.get(own))
        if isinstance(given.get(own), Written) and array.values.ndim:
            shape = list(array.values.shape)
            shape[axis % len(shape)] += numbers[1] - numbers[0]
            if not 0 <= shape[axis % len(shape)] <= 1 << 16:
                return None
            given[own], moved = with_array(given[own], zeros(array.dtype, tuple(shape), array.format)), True
            given[own].alias = None
    return given if moved else None


# The list.

def read():
    """Returns what is refused: for each operator the changes, with the status."""
    found, current = collections.defaultdict(list), None
    for line in PATH.read_text().splitlines() if PATH.exists() else []:
        if line.startswith("acl"):
            current = line
        elif line.startswith("  "):
            name, status, rest = line.split(None, 2)
            condition = ""
            if rest.startswith("if "):
                condition, _, rest = rest.partition(": ")
                condition = " " + condition
            for word in expanded(rest):
                found[current].append((name, word + condition, int(status)))
    return found


#: Lists of words that are written as one.
TYPES_PREFIXES = ("type", "member type")
SIZES = tuple(f"size {axis} {change}" for axis in AXES for change in CHANGES)
SIZE_PREFIXES = ("", "member ")


def compact(own):
    """Words of one argument as text: the types in one word, sizes and numbers side by side."""
    parts = []
    for prefix in TYPES_PREFIXES:
        types = [word[len(prefix) + 1:] for word in own if word.startswith(prefix + " ")]
        if types:
            others = [dtype for dtype in TYPES if dtype not in types]
            parts.append(f"{prefix} not {' '.join(others)}" if len(others) < len(types) and others else f"{prefix} {' '.join(types)}")
    for prefix in SIZE_PREFIXES:
        if all(prefix + word in own for word in SIZES):
            parts.append(f"{prefix}size any")
            continue
        for axis in AXES:
            if all(f"{prefix}size {axis} {change}" in own for change in CHANGES):
                parts.append(f"{prefix}size {axis} any")
    grouped = {word for part in parts for word in expanded(part)}
    return "; ".join(parts + [word for word in own if word not in grouped])


def expanded(text):
    for part in text.split("; "):
        if part.endswith(" any"):
            start = part[: -len("any")]
            yield from (prefix + word for prefix in SIZE_PREFIXES for word in SIZES if (prefix + word).startswith(start))
            continue
        for prefix in TYPES_PREFIXES:
            if part.startswith(prefix + " "):
                names = part[len(prefix) + 1:].split()
                if names[0] == "not":
                    names = [dtype for dtype in TYPES if dtype not in names]
                yield from (f"{prefix} {dtype}" for dtype in names)
                break
        else:
            yield part


def is_number(word):
    return word.lstrip("-").isdigit()


def kept(refused, accepted, values):
    """Leaves out numbers that say nothing more: of numbers in a row the ends, of relative ones those that are not refused as numbers anyway."""
    made, by_start = [], collections.defaultdict(dict)
    for word, status in refused.items():
        start, equals, rest = word.rpartition("= ")
        if rest.endswith(" tied"):
            # Where other numbers are accepted with the same outputs, shapes hide nothing.
            if sum(f"{start}= {one}" in refused for one in range(1, 17)) > 12:
                made.append((word, status))
        elif equals and is_number(rest):
            by_start[start][int(rest)] = status
        elif word not in values or any(f"{start}= {min(max(one, -9), 17)}" in accepted for one in values[word]) or any(not -8 <= one <= 16 and f"{start}= {100 if one > 0 else -100}" in accepted for one in values[word]):
            made.append((word, status))
    for start, numbers in by_start.items():
        negative, positive = sorted((one for one in numbers if one < 0), reverse=True), sorted(one for one in numbers if one >= 0)
        inner = [one for one in range(0, 17) if one in numbers]
        chosen = {*negative[:2], *negative[-1:], *inner[:3], *positive[-1:], *(one for one in inner if one - 1 not in numbers or one + 1 not in numbers)}
        made += [(f"{start}= {one}", numbers[one]) for one in sorted(chosen)]
    return made


def answer(maker, call, name, word):
    """The status that the engine answers to a change, and the arguments: for outputs that change alike, 0 where any dimension is accepted."""
    rank = max([first_array(call.given[own]).values.ndim for own in call.results if first_array(call.given.get(own)) is not None] or [1]) if word.endswith(" tied") else 1
    found = None
    for axis in range(max(rank, 1)):
        given = changed(call, name, word, axis)
        if given is None:
            continue
        try:
            found = (maker.device.first(call.operator, given), given)
        except MemoryError:
            return None
        if found[0] == 0:
            break
    return found


def observed(maker, operator, make, seeds=range(ALL + SOME), some=OF):
    """Asks the engine: which changes of the arguments of an operator are refused in every call, and with which status."""
    state, tried, values = {}, collections.Counter(), collections.defaultdict(lambda: collections.defaultdict(set))
    pick = random.Random(operator)
    for seed in seeds:
        maker.beat()
        call = maker.valid(operator, make, seed)
        if call is None:
            continue
        if seed < ALL:
            pairs = [(name, word) for _, name, *_ in call.params for word in words(call, name) if state.get((name, word)) != "accepted"]
        else:
            alive = [pair for pair, status in state.items() if status != "accepted"]
            pairs = pick.sample(alive, min(some, len(alive)))
        for name, word in pairs:
            status = answer(maker, call, name, word)
            if status is None:
                continue
            status, given = status
            tried[name, word] += 1
            start, equals, rest = word.rpartition("= ")
            if equals and " " in rest and not rest.endswith(" tied"):
                values[name][word].add(made_number(given[name], start))
            before = state.get((name, word))
            state[name, word] = "accepted" if status == 0 or before not in (None, status) else status
    refused, accepted = collections.defaultdict(dict), collections.defaultdict(set)
    for (name, word), status in state.items():
        if status == "accepted":
            accepted[name].add(word)
        elif tried[name, word] >= (OFTEN if " size " in word or " of " in word or " half " in word else LEAST):
            refused[name][word] = status
    return {name: kept(own, accepted[name], values[name]) for name, own in refused.items()}


def made_number(value, start):
    """The number that a word put into an attribute, or into an element of an array."""
    return int(value.value[int(start[1:start.index("]")])] if start else value.value)


def features(call, arguments):
    """What a call has that a refusal may depend on."""
    for name in arguments:
        value = call.given.get(name)
        array = first_array(value) if value is not None else None
        if value is None:
            yield f"{name} null"
        elif isinstance(value, Plain):
            yield f"{name} is {shown(value.value)}"
        elif array is not None:
            yield f"{name} type {array.dtype}"


def types_of(call):
    """The types of the tensors of a call, as a text."""
    return " ".join(sorted(f"{name}:{array.dtype}" for name, value in call.given.items() if (array := first_array(value)) is not None))


def dependent(maker, operator, make):
    """Asks the engine which values and types that occur are refused together with others, and returns the lines of the list by argument."""
    if not any(optional or kind in (*NUMBERS, "bool", "char*", "aclDataType", "double", "float") for kind, _, _, _, optional in maker.device.prototypes[operator]):
        return {}
    calls = [call for call in (maker.valid(operator, make, seed) for seed in range(ASKED)) if call is not None]
    seen = collections.defaultdict(set)
    for call in calls:
        for name in call.kinds:
            seen[name] |= set(features(call, (name,)))
    known = [name for name, own in seen.items() if len(own) <= DISTINCT]
    answers = collections.defaultdict(list)
    for call in calls:
        maker.beat()
        own = set(features(call, [name for name in known if len(seen[name]) > 1]))
        for name in known:
            kind = call.kinds[name]
            words_ = sorted(one.split(" ", 1)[1] for one in seen[name])
            if call.given.get(name) is None and kind.endswith("*"):
                words_ += ["given", *(f"given as {one}" for one in tensors_of(call)[:2])]
            for word in words_:
                given = changed(call, name, word) if word != "null" or kind.endswith("*") else None
                if given is None:
                    continue
                try:
                    answers[name, word].append((own, maker.device.first(operator, given)))
                except MemoryError:
                    continue
    lines = collections.defaultdict(list)
    for (name, word), found in answers.items():
        codes = {code for _, code in found}
        if codes == {0} or len(found) < HELD:
            continue
        if len(codes) == 1:
            if word.startswith(("is ", "given")):
                lines[name].append((codes.pop(), "", word))
            continue
        for condition in conditions_of(name, found):
            code = next(code for own, code in found if condition <= own)
            lines[name].append((code, "if " + " and ".join(sorted(condition)) + ": ", word))
    made = {}
    for name, own in lines.items():
        grouped = collections.defaultdict(list)
        for code, condition, word in own:
            grouped[code, condition].append(word)
        made[name] = [f"  {name} {code} {condition}{'; '.join(words)}" for (code, condition), words in sorted(grouped.items())]
    return made


def conditions_of(name, found):
    """The conditions, of one argument or of two, under which a change is always refused with one status: those that most calls have."""
    for size, most in ((1, 10), (2, 3)):
        counts = collections.defaultdict(collections.Counter)
        for own, code in found:
            for parts in itertools.combinations(sorted(one for one in own if not one.startswith(name + " ")), size):
                counts[parts][code] += 1
        kept = [parts for parts, codes in counts.items() if len(codes) == 1 and 0 not in codes and codes.total() >= HELD]
        if kept:
            return [set(parts) for parts in sorted(kept, key=lambda parts: (-counts[parts].total(), parts))[:most]]
    return []


def text(operator, refused, params, further):
    lines = [operator]
    for _, name, *_ in params:
        by_status = collections.defaultdict(list)
        for word, status in refused.get(name, ()):
            by_status[status].append(word)
        lines += [f"  {name} {status} {compact(own)}" for status, own in sorted(by_status.items())]
        lines += further.get(name, ())
    return lines


def merged(operator, params, further):
    """The lines of an operator, of which those with values and conditions are new."""
    before, current = collections.defaultdict(list), None
    for line in PATH.read_text().splitlines():
        if line.startswith("acl"):
            current = line
        elif line.startswith("  ") and current == operator:
            name, _, rest = line.split(None, 2)
            if not rest.startswith(("if ", "is ", "given")):
                before[name].append(line)
    return [operator] + [line for _, name, *_ in params for line in (*before[name], *further.get(name, ()))]


def write(found):
    """Writes the list. Operators that were not asked keep their lines."""
    blocks, current = {}, None
    for line in PATH.read_text().splitlines() if PATH.exists() else []:
        if line.startswith("acl"):
            current = blocks[line] = [line]
        elif line.startswith("  "):
            current.append(line)
    blocks |= {operator: lines for operator, lines in found.items() if len(lines) > 1}
    head = ["# What the first phase refuses, whatever the other arguments are: written by `run.py --misfits`, compared with the documents by a reader; misfits.py explains the words."]
    PATH.write_text("\n".join(head + [line for operator in sorted(blocks) for line in blocks[operator]]) + "\n")
