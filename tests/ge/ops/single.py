"""Runs the cases of the Graph Engine's operators (table/) through aclopInferShape and aclopCompileAndExecuteV2.

    python tests/ge/ops/single.py [OPERATOR ..]

One lowering serves graphs and single operators, and these cases show it: each operator is called by its type, with the case's
tensors and attributes, and compared with what NumPy says, as the graphs are. The library is that of the install tree
(JUMAR_PREFIX), or the file that JUMAR_LIBRARY names. What a single call cannot express is left out, each with its reason."""

import ctypes
import math
import os
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))

import cases as suite  # noqa: E402
import signatures  # noqa: E402
import table  # noqa: E402, F401

PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or ROOT / "target/jumar").resolve()
LIBRARY = os.environ.get("JUMAR_LIBRARY") or PREFIX / "lib64/libascendcl.so"

UNDEFINED = -1
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
# An output whose shape an execution finds: more than any case has.
FOUND_BYTES = 1 << 20



def cases():
    """The cases, and those that are left out with their reasons."""
    chosen, left = [], {}
    for one in [*suite.ALL, *signatures.spread()]:
        roles = {fill.role for fills in one.inputs.values() for fill in (fills if isinstance(fills, list) else [fills])}
        reason = None
        if one.code:
            reason = "it is a graph of several nodes"
        elif one.open:
            reason = "it differs from another case in the shapes that its graph leaves open"
        elif one.refused:
            reason = "its graph is refused"
        elif one.op.startswith("Hcom"):
            reason = "it is a collective, which only graphs run"
        elif one.runs > 1:
            reason = "it compares graphs of several names"
        elif suite.FILE in roles:
            reason = "its operator reads a file of its graph"
        if reason:
            left[one.id] = reason
        else:
            chosen.append(one)
    return chosen, left


class Library:
    def __init__(self):
        self.c = ctypes.CDLL(str(LIBRARY))
        for name in ("aclCreateTensorDesc", "aclCreateDataBuffer", "aclopCreateAttr"):
            getattr(self.c, name).restype = ctypes.c_void_p
        for name in ("aclGetTensorDescNumDims", "aclGetTensorDescSize"):
            getattr(self.c, name).restype = ctypes.c_size_t
        self.c.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.ok("aclInit", None)
        self.ok("aclrtSetDevice", 0)

    def ok(self, name, *arguments):
        code = getattr(self.c, name)(*arguments)
        if code != 0:
            text = self.c.aclGetRecentErrMsg() or b""
            raise RuntimeError(f"{name} answers {code}: {text.decode()}")

    def malloc(self, size):
        data = ctypes.c_void_p()
        self.ok("aclrtMalloc", ctypes.byref(data), ctypes.c_size_t(max(size, 1)), 0)
        return data

    def desc(self, dtype, dims, form=2):
        dims = (ctypes.c_int64 * max(len(dims), 1))(*dims)
        rank = 0 if dtype == UNDEFINED else len(dims)
        return ctypes.c_void_p(self.c.aclCreateTensorDesc(dtype, rank, dims, UNDEFINED if dtype == UNDEFINED else form))

    def described(self, desc):
        """Type and dimensions of a description."""
        count = self.c.aclGetTensorDescNumDims(desc)
        if count > 64:
            return self.c.aclGetTensorDescType(desc), [-2]
        dims = []
        for axis in range(count):
            dim = ctypes.c_int64()
            self.ok("aclGetTensorDescDimV2", desc, ctypes.c_size_t(axis), ctypes.byref(dim))
            dims.append(dim.value)
        return self.c.aclGetTensorDescType(desc), dims


def array(ctype, values):
    values = list(values)
    return (ctype * max(len(values), 1))(*values)


def set_attribute(lib, attr, kind, name, given):
    """Sets an attribute as its class declares it."""
    name = name.encode()

    def number(value):
        return suite.TYPES[value][0] if isinstance(value, str) else int(value)

    if kind == "Int":
        lib.ok("aclopSetAttrInt", attr, name, ctypes.c_int64(number(given)))
    elif kind == "Type":
        lib.ok("aclopSetAttrDataType", attr, name, number(given))
    elif kind == "Float":
        lib.ok("aclopSetAttrFloat", attr, name, ctypes.c_float(given))
    elif kind == "Bool":
        lib.ok("aclopSetAttrBool", attr, name, ctypes.c_uint8(bool(given)))
    elif kind == "String":
        lib.ok("aclopSetAttrString", attr, name, given.encode())
    elif kind == "ListInt":
        lib.ok("aclopSetAttrListInt", attr, name, len(given), array(ctypes.c_int64, map(int, given)))
    elif kind == "ListFloat":
        lib.ok("aclopSetAttrListFloat", attr, name, len(given), array(ctypes.c_float, given))
    elif kind == "ListBool":
        lib.ok("aclopSetAttrListBool", attr, name, len(given), array(ctypes.c_uint8, map(bool, given)))
    elif kind == "ListString":
        lib.ok("aclopSetAttrListString", attr, name, len(given), array(ctypes.c_char_p, (one.encode() for one in given)))
    elif kind == "ListListInt":
        lists = [array(ctypes.c_int64, map(int, one)) for one in given]
        pointers = array(ctypes.c_void_p, (ctypes.addressof(one) for one in lists))
        lib.ok("aclopSetAttrListListInt", attr, name, len(given), array(ctypes.c_int, map(len, given)), pointers)
    else:
        raise RuntimeError(f"attribute {name} has the type {kind}")


def run(lib, one):
    """Calls a case's operator. Returns its outputs, and after them the inputs that it updates."""
    prototype = suite.PROTOTYPES[one.op]
    kept, descs, buffers, updated, values = [], [], [], [], []
    # A single call names no inputs: they are in the order of the operator's class, those of a case may be in any.
    flat, given = [], one.tensors()
    for name, fills in one.inputs.items():
        count = len(fills) if isinstance(fills, list) else 1
        flat.append((name, given[:count]))
        del given[:count]
    order = [name for name, *_ in prototype["inputs"]]
    flat = [tensor for _, tensors in sorted(flat, key=lambda own: order.index(own[0])) for tensor in tensors]

    def absent():
        descs.append(lib.desc(UNDEFINED, []))
        buffers.append(ctypes.c_void_p(lib.c.aclCreateDataBuffer(None, ctypes.c_size_t(0))))
        values.append(buffers[-1])

    def add(fill, dtype, content, group):
        number = (suite.TYPES.get(dtype) or suite.FOREIGN[dtype])[0]
        content = np.ascontiguousarray(content)
        desc = lib.desc(number, content.shape, suite.FORMATS[fill.format])
        host = content.tobytes()
        kept.append(host)
        size = ctypes.c_size_t(len(host))
        if group:
            lib.ok("aclSetTensorDynamicInput", desc, group.encode())
        if fill.role == suite.CONST:
            if host:
                lib.ok("aclSetTensorConst", desc, host, size)
        data = lib.malloc(len(host))
        kept.append(data)
        if host:
            lib.ok("aclrtMemcpy", data, size, host, size, HOST_TO_DEVICE)
        descs.append(desc)
        buffers.append(ctypes.c_void_p(lib.c.aclCreateDataBuffer(data, size)))
        where = host if fill.role == suite.CONST else None
        values.append(ctypes.c_void_p(lib.c.aclCreateDataBuffer(where, ctypes.c_size_t(len(host) if where else 0))))
        if fill.role == suite.VARIABLE:
            updated.append((data, dtype, content.shape))

    attrs = dict(one.attrs)
    # Without a name, the members of a list are counted by what the other inputs leave.
    several = sum(occurs == "dynamic" for _, occurs in prototype["inputs"]) > 1 or any(occurs == "optional" for _, occurs in prototype["inputs"])
    names = [name for name, *_ in prototype["inputs"]]
    last = max([names.index(name) for name in one.inputs], default=-1)
    for name, occurs in prototype["inputs"][: last + 1]:
        if name not in one.inputs:
            absent()
        elif occurs == "dynamic":
            if any(own == "N" for own, *_ in prototype["attrs"]):
                attrs.setdefault("N", len(one.inputs[name]))
            for _ in one.inputs[name]:
                add(*flat.pop(0), name if several else None)
        else:
            add(*flat.pop(0), None)
    attr = ctypes.c_void_p(lib.c.aclopCreateAttr())
    kinds = {name: kind for name, kind, *_ in prototype["attrs"]}
    for name, given in attrs.items():
        set_attribute(lib, attr, kinds[name], name, given)

    outputs = []
    for _, occurs in prototype["outputs"]:
        for _ in range(one.outs if occurs == "dynamic" else 1):
            outputs.append(lib.desc(0, [-2], suite.FORMATS[one.form] if one.form else 2))
    kind = one.op.encode()
    ins, outs = array(ctypes.c_void_p, (d.value for d in descs)), array(ctypes.c_void_p, (d.value for d in outputs))
    given = array(ctypes.c_void_p, (b.value for b in values))
    try:
        lib.ok("aclopInferShape", kind, len(descs), ins, given, len(outputs), outs, attr)
        memory, targets = [], []
        for desc in outputs:
            _, dims = lib.described(desc)
            size = FOUND_BYTES if any(dim < 0 for dim in dims) else lib.c.aclGetTensorDescSize(desc)
            memory.append(lib.malloc(size))
            targets.append(ctypes.c_void_p(lib.c.aclCreateDataBuffer(memory[-1], ctypes.c_size_t(size))))
        data, to = array(ctypes.c_void_p, (b.value for b in buffers)), array(ctypes.c_void_p, (b.value for b in targets))
        results = []
        for _ in range(one.repeats):
            lib.ok("aclopCompileAndExecuteV2", kind, len(descs), ins, data, len(outputs), outs, to, attr, 0, 0, None, None)
            lib.ok("aclrtSynchronizeStream", None)
            for desc, source in zip(outputs, memory):
                number, dims = lib.described(desc)
                results.append(fetch(lib, source, suite.NUMBERS.get(number, str(number)), dims))
        for source, dtype, dims in updated:
            results.append(fetch(lib, source, dtype, dims))
        for one_memory in memory:
            lib.ok("aclrtFree", one_memory)
        for buffer in targets:
            lib.ok("aclDestroyDataBuffer", buffer)
        return results
    finally:
        lib.c.aclopDestroyAttr(attr)
        for desc in [*descs, *outputs]:
            lib.c.aclDestroyTensorDesc(desc)
        for buffer in {b.value: b for b in [*buffers, *values]}.values():
            lib.c.aclDestroyDataBuffer(buffer)
        for memory in kept:
            if isinstance(memory, ctypes.c_void_p):
                lib.c.aclrtFree(memory)


def fetch(lib, source, dtype, dims):
    count, of = math.prod(dims), suite.TYPES[dtype][1]
    content = np.empty(count, of)
    if content.nbytes:
        size = ctypes.c_size_t(content.nbytes)
        lib.ok("aclrtMemcpy", content.ctypes.data_as(ctypes.c_void_p), size, source, size, DEVICE_TO_HOST)
    return dtype, content.reshape(dims)


def main(names):
    chosen, left = cases()
    chosen = [one for one in chosen if not names or one.op in names]
    lib = Library()
    wrong = []
    for one in chosen:
        try:
            text = "; ".join(suite.compare(one, run(lib, one)))
        except RuntimeError as error:
            text = str(error)
        if text:
            wrong.append(f"{one.id}: {text}")
    reasons = sorted(set(left.values()))
    for reason in reasons:
        print(f"left out: {sum(own == reason for own in left.values())} cases: {reason}")
    print(f"{len(chosen)} cases of {len({one.op for one in chosen})} operators, {len(wrong)} wrong")
    for line in wrong:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
