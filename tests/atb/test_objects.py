"""Contexts, operations and packs: their life, what is refused, threads, capture, and programs of both layouts of strings."""

import ctypes
import pathlib
import subprocess
import sys
import threading

import numpy
import pytest
from client import (
    BF16, FLOAT, FLOAT16, INT8, INT32, LIB64, NZ, PREFIX, Function, Operation, Refused, VariantPack, absent, acl, atb, check, describe, host, message, method,
    pack,
)

INCLUDE = PREFIX / "include"
# What prebuilt clients import.
IMPORTED = """_ZN3atb13CreateContextEPPNS_7ContextE _ZN3atb14DestroyContextEPNS_7ContextE _ZN3atb16DestroyOperationEPNS_9OperationE
    _ZN3atb5Utils13GetTensorSizeERKNS_6TensorE
    _ZN3atb15CreateOperationINS_5infer11LinearParamEEEiRKT_PPNS_9OperationE _ZN3atb15CreateOperationINS_5infer12ElewiseParamEEEiRKT_PPNS_9OperationE
    _ZN3atb15CreateOperationINS_5infer12RmsNormParamEEEiRKT_PPNS_9OperationE _ZN3atb15CreateOperationINS_5infer14GroupTopkParamEEEiRKT_PPNS_9OperationE
    _ZN3atb15CreateOperationINS_5infer18SelfAttentionParamEEEiRKT_PPNS_9OperationE
    _ZN3atb15CreateOperationINS_5infer19PagedAttentionParamEEEiRKT_PPNS_9OperationE
    _ZN3atb15CreateOperationINS_5infer20ReshapeAndCacheParamEEEiRKT_PPNS_9OperationE _ZN3atb15CreateOperationINS_5infer9RopeParamEEEiRKT_PPNS_9OperationE
    _ZN3atb15CreateOperationINS_5infer28GroupedMatmulInplaceAddParamEEEiRKT_PPNS_9OperationE
    _ZN3atb5Utils13GetAtbVersionEv _ZN3atb5Utils13GetAtbVersionB5cxx11Ev _ZN3atb5Utils14GetTensorNumelERKNS_6TensorE
    _ZN3atb5Utils13GetTensorSizeERKNS_10TensorDescE _ZN3atb5Utils14GetTensorNumelERKNS_10TensorDescE _ZN3atb5Utils17QuantParamConvertEPKfPmm
    AtbFusedAddTopkDiv AtbPagedCacheLoad AtbRingMLA AtbMLA AtbMLAPreprocess AtbSelfAttentionPrefixEncoder""".split()


def test_the_library_exports_what_prebuilt_clients_import_and_no_thread_locals_of_theirs():
    done = subprocess.run(["nm", "-D", "--defined-only", LIB64 / "libatb.so"], capture_output=True, text=True, check=True)
    names = {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}
    assert set(IMPORTED) - names == set()
    assert {name for name in IMPORTED if name.startswith("Atb") and f"{name}GetWorkspaceSize" not in names} == set()
    # Clients define these themselves.
    assert not {name for name in names if "g_hash" in name or "SVector" in name}
    # A client looks for functions of tensors in this library first.
    assert ctypes.cast(atb.aclCreateTensor, ctypes.c_void_p).value == ctypes.cast(acl.aclCreateTensor, ctypes.c_void_p).value


SIZES = {
    "Dims": 72, "TensorDesc": 80, "Tensor": 104, "VariantPack": 13568, "SVector<uint32_t>": 288, "SVector<int64_t>": 544, "SVector<Chunk>": 544,
    "SVector<Tensor>": 6784, "SVector<TensorDesc>": 5224, "SVector<ReshapeFunc>": 2104, "Node": 3232, "Chunk": 8, "Context": 8, "Operation": 8,
    "infer::LinearParam": 32, "infer::RmsNormParam": 144, "infer::GroupTopkParam": 24, "infer::PagedAttentionParam": 120,
    "infer::ReshapeAndCacheParam": 24, "infer::RopeParam": 16, "infer::SelfAttentionParam": 144, "infer::ElewiseParam": 64,
    "infer::GroupedMatmulInplaceAddParam": 24,
}
OFFSETS = {
    ("infer::LinearParam", "outDataType"): 4, ("infer::LinearParam", "enAccum"): 8, ("infer::LinearParam", "quantMode"): 10,
    ("infer::ElewiseParam", "mulsParam"): 36, ("infer::ElewiseParam", "outTensorType"): 52, ("infer::RmsNormParam", "normParam"): 8,
    ("infer::RmsNormParam", "preNormParam"): 72, ("infer::RmsNormParam", "postNormParam"): 104, ("infer::GroupTopkParam", "n"): 10,
    ("infer::PagedAttentionParam", "quantType"): 20, ("infer::PagedAttentionParam", "mlaVHeadSize"): 48, ("infer::PagedAttentionParam", "rsv"): 56,
    ("infer::SelfAttentionParam", "isTriuMask"): 28, ("infer::SelfAttentionParam", "maskType"): 52, ("infer::SelfAttentionParam", "windowSize"): 76,
    ("Node", "inTensorReshapeFuncs"): 584, ("Node", "inTensorChunks"): 2688, ("VariantPack", "outTensors"): 6784,
}


@pytest.mark.parametrize("abi", [0, 1])
@pytest.mark.parametrize("std", ["c++11", "c++20"])
def test_the_headers_have_the_layouts_of_prebuilt_clients(tmp_path, abi, std):
    sizes = {**SIZES, "GraphParam": 104 if abi else 80}
    lines = [f'static_assert(sizeof({name}) == {size}, "{name}");' for name, size in sizes.items()]
    lines += [f'static_assert(offsetof({of}, {field}) == {at}, "{of}::{field}");' for (of, field), at in OFFSETS.items()]
    (tmp_path / "sizes.cpp").write_text('#include <cstddef>\n#include "atb/atb_infer.h"\nusing namespace atb;\n' + "\n".join(lines) + "\n")
    command = ["g++", f"-std={std}", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-Wall", "-Wextra", "-Werror", "-Wno-invalid-offsetof", "-I", INCLUDE, "-fsyntax-only"]
    done = subprocess.run([*command, tmp_path / "sizes.cpp"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]


# A client that is compiled with the headers: names in its own layout of strings, destruction by delete.
PROGRAM = r"""
#include <cstdio>
#include <cstring>
#include <memory>
#include "atb/atb_infer.h"

int main() {
  aclrtStream stream = nullptr;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return 1;
  atb::Context *context = nullptr;
  if (atb::CreateContext(&context) != 0 || context->SetExecuteStream(stream) != 0) return 2;
  if (context->GetExecuteStream() != stream) return 3;
  atb::infer::ElewiseParam param;
  param.elewiseType = atb::infer::ElewiseParam::ELEWISE_ADD;
  atb::Operation *operation = nullptr;
  if (atb::CreateOperation(param, &operation) != 0) return 4;
  char guard[64];
  std::memset(guard, 0x5a, sizeof(guard));
  const std::string name = operation->GetName();
  for (char one : guard) if (one != 0x5a) return 5;
  if (name != "ElewiseOperation" || operation->GetInputNum() != 2 || operation->GetOutputNum() != 1) return 6;
  atb::infer::ElewiseParam copy;
  atb::infer::RopeParam other;
  if (atb::CloneOperationParam(operation, copy) != 0 || copy.elewiseType != param.elewiseType) return 7;
  if (atb::CloneOperationParam(operation, other) != atb::ERROR_INVALID_PARAM) return 8;
  copy.elewiseType = atb::infer::ElewiseParam::ELEWISE_COS;
  if (atb::UpdateOperationParam(operation, copy) != 0 || operation->GetInputNum() != 1) return 9;
  if (atb::Utils::GetAtbVersion().empty()) return 10;
  delete operation;
  if (atb::DestroyOperation(operation) != atb::ERROR_INVALID_OPERATION_ADDR) return 11;
  delete context;
  if (atb::DestroyContext(context) != atb::ERROR_INVALID_CONTEXT_ADDR) return 12;
  std::puts("ok");
  return 0;
}
"""


@pytest.mark.parametrize("abi", [0, 1])
def test_programs_of_both_layouts_of_strings_get_names_in_their_own(tmp_path, abi):
    (tmp_path / "program.cpp").write_text(PROGRAM)
    command = ["g++", "-std=c++14", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-Wall", "-Wextra", "-I", INCLUDE, tmp_path / "program.cpp", "-o", tmp_path / "program"]
    done = subprocess.run([*command, "-L", LIB64, "-latb", "-lascendcl", f"-Wl,-rpath,{LIB64}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "ok"), done.stderr


@pytest.mark.parametrize("abi", [0, 1])
def test_a_graph_runs_operations_of_the_library_and_of_the_program(tmp_path, abi):
    source = pathlib.Path(__file__).with_name("graph.cpp")
    command = ["g++", "-std=c++14", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-Wall", "-Wextra", "-I", INCLUDE, source, "-o", tmp_path / "program"]
    done = subprocess.run([*command, "-L", LIB64, "-latb", "-lascendcl", f"-Wl,-rpath,{LIB64}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "ok"), done.stdout + done.stderr


CORRECT = """
import sys
sys.path.insert(0, {here!r})
import numpy
from client import FLOAT16, Operation, Runtime, acl, atb, check

runtime = Runtime()
ins = [runtime.device(numpy.ones((2, 3)), FLOAT16) for _ in range(2)]
[found] = Operation("Elewise", elewiseType=8).run(runtime, ins, [runtime.empty(FLOAT16, (2, 3))])
assert (found == 2).all()
runtime.free()
check(acl.aclrtDestroyStream(runtime.stream))
check(atb._ZN3atb14DestroyContextEPNS_7ContextE(runtime.context))
check(acl.aclrtResetDevice(0))
check(acl.aclFinalize())
"""


def test_the_checks_see_the_calls_of_a_correct_program_and_the_timeline_the_operation(tmp_path):
    program, timeline = tmp_path / "program.py", tmp_path / "timeline.json"
    program.write_text(CORRECT.format(here=str(pathlib.Path(__file__).parent)))
    jumar = PREFIX / "bin/jumar"
    done = subprocess.run([jumar, "check", "--", sys.executable, program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "0 findings" in done.stderr + done.stdout, done.stderr[-2000:]
    done = subprocess.run([jumar, "run", "--trace", timeline, "--", sys.executable, program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    text = timeline.read_text()
    assert '"ElewiseOperation"' in text and '"atb::Operation::Execute"' in text


def refused(status, call, *words):
    with pytest.raises(Refused) as error:
        call()
    assert error.value.status == status, error.value.text
    for word in words:
        assert str(word) in error.value.text, error.value.text


PARAMETERS = [
    ("Linear", dict(hasBias=True, enAccum=True), ["hasBias", "enAccum"]),
    ("Linear", dict(outDataType=3), ["outDataType", 3]),
    ("Linear", dict(hasBias=False, quantMode=2), ["quantMode", 2]),
    ("Linear", dict(hasBias=False, rsv=1), ["byte 11"]),
    ("Elewise", dict(elewiseType=0), ["elewiseType", 0]),
    ("Elewise", dict(elewiseType=21), ["elewiseType", 21]),
    ("Elewise", dict(elewiseType=6, asymmetric=True), ["asymmetric"]),
    ("Elewise", dict(elewiseType=1), ["outTensorType"]),
    ("RmsNorm", dict(), ["layerType", 0]),
    ("RmsNorm", dict(layerType=1, rstd=True, modelType=1), ["exclude"]),
    ("RmsNorm", dict(layerType=1, quantType=2, rstd=True), ["quantType"]),
    ("RmsNorm", {"layerType": 2, "pre.quantType": 2}, ["preNormParam.quantType"]),
    ("GroupTopk", dict(groupNum=2, k=3), ["k is 3"]),
    ("PagedAttention", dict(), ["headNum", 0]),
    ("PagedAttention", dict(headNum=4, kvHeadNum=3), ["kvHeadNum", 3]),
    ("PagedAttention", dict(headNum=4, compressType=1), ["compressType", 1]),
    ("PagedAttention", dict(headNum=4, quantType=2), ["quantType", 2]),
    ("PagedAttention", dict(headNum=4, maskType=3), ["maskType", 3]),
    ("PagedAttention", dict(headNum=4, scaleType=1), ["scaleType", 1]),
    ("ReshapeAndCache", dict(compressType=1), ["compressType", 1]),
    ("ReshapeAndCache", dict(kvCacheCfg=3), ["kvCacheCfg", 3]),
    ("Rope", dict(cosFormat=1), ["cosFormat", 1]),
    ("SelfAttention", dict(headNum=2, calcType=1), ["calcType", 1]),
    ("SelfAttention", dict(headNum=2, calcType=3, maskType=4), ["maskType", 4]),
    ("SelfAttention", dict(headNum=2, calcType=3, quantType=2), ["quantType", 2]),
]


@pytest.mark.parametrize("name, values, words", PARAMETERS)
def test_parameters_without_a_meaning_are_refused_by_their_names(runtime, name, values, words):
    pointer = ctypes.c_void_p(0xDEAD)
    from client import mangled, parameters

    status = getattr(atb, mangled(name))(parameters(name, **values), ctypes.byref(pointer))
    text = message()
    assert status == 1 and pointer.value is None, text
    for word in words:
        assert str(word) in text, text


def add(runtime, dtype=FLOAT16):
    ins = [runtime.device(numpy.ones((2, 3)), dtype), runtime.device(numpy.full((2, 3), 2.0), dtype)]
    return ins, [runtime.empty(dtype, (2, 3))]


def changed(tensor, **values):
    copy = describe(tensor.desc.dtype, [tensor.desc.dims[axis] for axis in range(tensor.desc.dim_num)], tensor.desc.format)
    copy.device, copy.size = tensor.device, tensor.size
    for name, value in values.items():
        target = copy.desc if name in ("dtype", "format", "dim_num") else copy
        setattr(target, name, value)
    return copy


def test_tensors_that_are_not_those_of_the_operation_are_refused_by_setup_and_execute(runtime):
    made = Operation("Elewise", elewiseType=8)
    ins, outs = add(runtime)
    cases = [
        (5, ins[:1], outs, ["1 input", "x, other"]),
        (15, ins, [], ["0 output"]),
        (6, [changed(ins[0], dtype=BF16 + 1), ins[1]], outs, ["x has the type"]),
        (6, [changed(ins[0], dtype=12), ins[1]], outs, ["bool"]),
        (7, [changed(ins[0], format=NZ), ins[1]], outs, ["format 29"]),
        (13, [changed(ins[0], dtype=BF16), ins[1]], outs, ["other has the type float16", "bfloat16"]),
        (16, [absent(), ins[1]], outs, ["x"]),
        (16, [changed(ins[0], dim_num=9), ins[1]], outs, [9]),
        (9, [changed(ins[0], size=11), ins[1]], outs, ["11 bytes", 12]),
        (8, [runtime.device(numpy.ones((2, 4)), FLOAT16), ins[1]], outs, ["[2, 4]", "[2, 3]"]),
        (6, ins, [runtime.empty(FLOAT, (2, 3))], ["output has the type float32"]),
        (8, ins, [runtime.empty(FLOAT16, (3, 2))], ["[3, 2]", "[2, 3]"]),
    ]
    negative = changed(ins[0])
    negative.desc.dims[0] = -2
    cases.append((8, [negative, ins[1]], outs, ["-2"]))
    huge = changed(ins[0], size=1 << 63)
    huge.desc.dims[0] = 1 << 40
    cases.append((8, [huge, ins[1]], outs, ["256 GB"]))
    for status, given, results, words in cases:
        refused(status, lambda: made.setup(runtime, given, results), *words)
        refused(status, lambda: made.execute(runtime, given, results, None, 0), *words)
    made.destroy()


def test_addresses_may_be_null_in_setup_and_not_in_execute(runtime):
    made = Operation("Elewise", elewiseType=8)
    ins, outs = add(runtime)
    without = [changed(ins[0], device=None), ins[1]]
    size = made.setup(runtime, without, outs)
    refused(14, lambda: made.execute(runtime, without, outs, None, size), "x", "null")
    lost = [changed(ins[0], device=0x1230), ins[1]]
    refused(14, lambda: made.execute(runtime, lost, outs, None, size), "0x1230")
    on_host = [host(numpy.ones((2, 3), numpy.float32).view(numpy.int32)), ins[1]]
    on_host[0].desc.dtype, on_host[0].size = FLOAT16, 12
    refused(14, lambda: made.setup(runtime, on_host, outs), "hostData")
    made.destroy()


def paged(runtime, lengths, keys=None):
    random = numpy.random.default_rng(4)
    query = runtime.device(random.standard_normal((len(lengths), 2, 16)), FLOAT16)
    cache = [runtime.device(random.standard_normal((4, 16, 2, 16)), FLOAT16) for _ in range(2)]
    table = runtime.device(numpy.array([[0, 1], [2, 3]], numpy.int32)[: len(lengths)])
    return [query, *cache, table, host(lengths)], [runtime.empty(FLOAT16, (len(lengths), 2, 16))]


def test_lengths_are_read_on_the_host_and_have_to_fit_the_table(runtime):
    made = Operation("PagedAttention", headNum=2)
    ins, outs = paged(runtime, [3, 4])
    device = runtime.device(numpy.array([3, 4], numpy.int32))
    refused(14, lambda: made.setup(runtime, [*ins[:4], device], outs), "contextLens", "hostData")
    refused(8, lambda: made.setup(runtime, [*ins[:4], host([3, 33])], outs), 33)
    refused(8, lambda: made.setup(runtime, [*ins[:4], host([3, -1])], outs), "contextLens[1]", -1)
    refused(8, lambda: made.setup(runtime, [*ins[:4], host([3])], outs), "2")
    made.destroy()


def test_a_call_needs_no_workspace_and_leaves_one_that_is_given_alone(runtime):
    """Clients free a workspace after Execute, also while a stream is captured: a captured model must not write to it later."""
    made = Operation("PagedAttention", headNum=2)
    ins, outs = paged(runtime, [3, 4])
    assert made.setup(runtime, ins, outs) == 0
    made.execute(runtime, ins, outs, None, 0)
    runtime.synchronize()
    wanted = runtime.read(outs[0])
    given = runtime.device(numpy.full(4096, 7, numpy.int32))
    made.execute(runtime, ins, outs, given.device, given.size)
    runtime.synchronize()
    numpy.testing.assert_array_equal(runtime.read(outs[0]), wanted)
    assert (runtime.read(given) == 7).all()
    made.destroy()


def test_slots_and_blocks_outside_of_the_cache_fail_on_the_stream_and_write_nothing(runtime):
    cache = runtime.device(numpy.zeros((2, 16, 1, 16)), FLOAT16)
    rows = runtime.device(numpy.ones((2, 1, 16)), FLOAT16)
    made = Operation("ReshapeAndCache", kvCacheCfg=1)
    ins = [rows, cache, runtime.device(numpy.array([3, 32], numpy.int32))]
    size = made.setup(runtime, ins, [cache])
    made.execute(runtime, ins, [cache], runtime.memory(size), size)
    assert acl.aclrtSynchronizeStream(runtime.stream) != 0
    assert "slotMapping[1] is 32" in message()
    assert not runtime.read(cache).any()
    other = runtime.device(numpy.zeros((2, 16, 1, 16)), FLOAT16)
    refused(14, lambda: made.execute(runtime, ins, [other], runtime.memory(size), size), "in place")
    made.destroy()


def test_null_and_destroyed_objects_are_refused(runtime):
    create, destroy = atb._ZN3atb13CreateContextEPPNS_7ContextE, atb._ZN3atb14DestroyContextEPNS_7ContextE
    assert create(None) == 1 and destroy(None) == 20
    assert atb._ZN3atb16DestroyOperationEPNS_9OperationE(None) == 24
    from client import mangled, parameters

    assert getattr(atb, mangled("Rope"))(parameters("Rope"), None) == 1
    made = Operation("Elewise", elewiseType=8)
    ins, outs = add(runtime)
    made.destroy()
    refused(24, made.destroy, "destroyed")
    refused(24, lambda: made.setup(runtime, ins, outs), "destroyed")
    refused(24, lambda: made.execute(runtime, ins, outs, None, 0), "destroyed")
    context = ctypes.c_void_p()
    check(create(ctypes.byref(context)))
    made = Operation("Elewise", elewiseType=8)
    call = method(made.pointer, 7, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
    run = lambda of: call(made.pointer, ctypes.byref(pack(ins, outs)), None, 0, of)
    assert run(context) == 21 and "SetExecuteStream" in message()
    assert run(None) == 20
    check(destroy(context))
    assert run(context) == 20 and destroy(context) == 20
    # The default stream is a stream.
    check(create(ctypes.byref(context)))
    check(method(context, 2, ctypes.c_int, ctypes.c_void_p)(context, None))
    check(run(context))
    check(acl.aclrtSynchronizeStream(None))
    assert (runtime.read(outs[0]) == 3).all()
    check(destroy(context))
    made.destroy()


def test_a_second_setup_between_setup_and_execute_changes_nothing(runtime):
    made = Operation("Elewise", elewiseType=8)
    ins, outs = add(runtime)
    size = made.setup(runtime, ins, outs)
    others = [runtime.device(numpy.zeros((7, 5)), BF16) for _ in range(2)]
    made.setup(runtime, others, [runtime.empty(BF16, (7, 5))])
    made.execute(runtime, ins, outs, None, size)
    made.destroy()
    runtime.synchronize()
    assert (runtime.read(outs[0]) == 3).all()


def test_a_context_has_the_stream_that_was_set_last_on_any_thread(runtime):
    """The adapter sets the stream on the thread of Python, and executes on that of its queue, which has set another one before."""
    get = method(runtime.context, 3, ctypes.c_void_p)
    stream, release, seen = ctypes.c_void_p(), threading.Event(), []
    check(acl.aclrtCreateStream(ctypes.byref(stream)))

    def queue():
        runtime.set_stream(runtime.stream)
        seen.append(get(runtime.context))
        release.wait(60)
        seen.append(get(runtime.context))

    thread = threading.Thread(target=queue)
    thread.start()
    while not seen:
        pass
    runtime.set_stream(stream)
    release.set()
    thread.join()
    assert seen == [runtime.stream.value, stream.value]
    runtime.set_stream(runtime.stream)
    check(acl.aclrtDestroyStream(stream))


def attention(query, keys, values, lengths):
    out = numpy.zeros(query.shape)
    for token, length in enumerate(lengths):
        for head in range(query.shape[1]):
            rows = slice(token * 32, token * 32 + length)
            scores = keys[rows, head] @ query[token, head]
            powers = numpy.exp(scores - scores.max())
            out[token, head] = powers / powers.sum() @ values[rows, head]
    return out


def test_a_captured_call_is_replayed_after_its_operation_was_destroyed_and_updated_with_other_lengths(runtime):
    ins, outs = paged(runtime, [3, 20])
    query, keys, values = (runtime.read(tensor) for tensor in ins[:3])
    keys, values = keys.reshape(64, 2, 16), values.reshape(64, 2, 16)
    model, group = ctypes.c_void_p(), ctypes.c_void_p()

    def call(lengths):
        made, own = Operation("PagedAttention", headNum=2), host(lengths)
        made.setup(runtime, [*ins[:4], own], outs)
        made.execute(runtime, [*ins[:4], own], outs, None, 0)
        made.destroy()
        own.kept[:] = 99

    check(acl.aclmdlRICaptureBegin(runtime.stream, 0))
    check(acl.aclmdlRICaptureTaskGrpBegin(runtime.stream))
    call([3, 20])
    check(acl.aclmdlRICaptureTaskGrpEnd(runtime.stream, ctypes.byref(group)))
    check(acl.aclmdlRICaptureEnd(runtime.stream, ctypes.byref(model)))
    for lengths in ([3, 20], [32, 1]):
        if lengths != [3, 20]:
            check(acl.aclmdlRICaptureTaskUpdateBegin(runtime.stream, group))
            call(lengths)
            check(acl.aclmdlRICaptureTaskUpdateEnd(runtime.stream))
        check(acl.aclrtMemset(ctypes.c_void_p(outs[0].device), outs[0].size, 0, outs[0].size))
        check(acl.aclmdlRIExecuteAsync(model, runtime.stream))
        runtime.synchronize()
        numpy.testing.assert_allclose(runtime.read(outs[0]), attention(query, keys, values, lengths), atol=5e-3)
    check(acl.aclmdlRIDestroy(model))


def test_a_function_keeps_what_it_read_until_it_runs_and_is_prepared_again_with_other_tensors(runtime):
    function = Function("AtbFusedAddTopkDiv")
    u = ctypes.c_uint32

    def arguments(seed):
        random = numpy.random.default_rng(seed)
        x = runtime.device(random.standard_normal((2, 8)), FLOAT)
        y, indices = runtime.empty(FLOAT, (2, 2)), runtime.empty(INT32, (2, 2))
        return (
            [x, runtime.device(numpy.zeros(8), FLOAT), None, None, u(2), u(1), u(1), u(2), ctypes.c_int(8), ctypes.c_bool(False), ctypes.c_float(1),
             ctypes.c_bool(False), y, indices],
            y,
        )

    refused(24, lambda: function.execute(runtime, 0), "null")
    for seed in (1, 2):
        given, y = arguments(seed)
        size = function.prepare(runtime, *given)
        function.execute(runtime, size)
        runtime.synchronize()
        best = numpy.sort(1 / (1 + numpy.exp(-runtime.read(given[0]))), -1)
        numpy.testing.assert_allclose(runtime.read(y)[:, 0], best[:, -1], rtol=1e-5)
    given, _ = arguments(3)
    given[8] = ctypes.c_int(3)
    refused(1, lambda: function.prepare(runtime, *given), "activationType", 3)
    strange = Function("AtbRingMLA")
    strange.operation = function.operation
    refused(24, lambda: strange_call(strange, runtime), "FusedAddTopkDivOperation")
    function.destroy()


def strange_call(function, runtime):
    number = ctypes.c_int
    return function.prepare(
        runtime, *[None] * 9, number(2), number(2), ctypes.c_float(1), number(0), number(0), number(0), number(0), None, None,
    )


def test_sizes_of_tensors():
    size, elements = atb._ZN3atb5Utils13GetTensorSizeERKNS_6TensorE, atb._ZN3atb5Utils14GetTensorNumelERKNS_6TensorE
    size.restype = elements.restype = ctypes.c_uint64
    for tensor, wanted in [(describe(BF16, (3, 5)), (30, 15)), (describe(FLOAT, (7,)), (28, 7)), (absent(), (0, 0)), (describe(INT8, (4, 0)), (0, 0))]:
        assert (size(ctypes.byref(tensor)), elements(ctypes.byref(tensor))) == wanted
    values = numpy.array([1.0, -2.5], numpy.float32)
    words = numpy.full(2, -1, numpy.int64)
    atb._ZN3atb5Utils17QuantParamConvertEPKfPmm(
        ctypes.c_void_p(values.ctypes.data), ctypes.c_void_p(words.ctypes.data), ctypes.c_size_t(2)
    )
    assert list(words) == [0x3F800000, 0xC0200000]


def test_the_pack_of_a_client_may_lie_on_its_heap(runtime):
    made = Operation("Elewise", elewiseType=8)
    ins, outs = add(runtime)
    given = pack(ins, outs)
    moved = (type(ins[0]) * 2)(*ins)
    given.ins.heap = ctypes.addressof(moved)
    given.ins.storage[0] = absent()
    call = method(made.pointer, 7, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
    check(call(made.pointer, ctypes.byref(given), None, 0, runtime.context))
    runtime.synchronize()
    assert (runtime.read(outs[0]) == 3).all() and isinstance(given, VariantPack)
    made.destroy()
