"""Each function of the data, one by one: what it refuses, what reaches C and where, and what comes back."""

import ctypes
import inspect
import re

import pytest

import acl
from fake import build

STUBS = build.stubs()
TABLE, ENUMS = build.functions()
ENTRIES = build.called_functions()
NAMES = sorted(STUBS)
BUFFER = ctypes.create_string_buffer(64)

# A value of the wrong type for each annotation; an annotation that takes anything has none.
WRONG = {
    "int": (1.5, "1", None, b"1", [1]),
    "SupportsIndex": (1.5, "1", None, b"1", [1]),
    "float": ("1.5", None, [1.5]),
    "str": (b"text", None, 1, "with\0nul"),
    "list[int]": ((1, 2), None, 1, ["x"]),
    "list[float]": ((1.0, 2.0), None, ["x"]),
    "list[str]": (("a",), "a", [1]),
    "list[list[int]]": (((1, 2),), None, [1]),
    "dict[str, Any]": ([], None, 1),
    "dict[str, Any] | None": ([], 1),
    "list[list[int]] | None": ([1], 1, ((1,),)),
    "list[dict[str, Any]]": ((), None, {}, [1]),
    "Callable[..., object]": (1, None),
    "Callable[..., object] | None": (1,),
    "int | str": (),
    "object": (),
}
# A value of the right type.
RIGHT = {
    "int": 1,
    "SupportsIndex": 1,
    "float": 1.0,
    "str": "text",
    "list[int]": [],
    "list[float]": [],
    "list[str]": [],
    "list[list[int]]": [],
    "dict[str, Any]": {},
    "dict[str, Any] | None": {},
    "list[list[int]] | None": None,
    "list[dict[str, Any]]": [],
    "Callable[..., object]": print,
    "Callable[..., object] | None": None,
    "int | str": 1,
    "object": None,
}


def function(name):
    found = acl
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def refusal(name):
    """The text of the TypeError, as it was observed."""
    if name == "acl.rt.set_op_execute_time_out":
        return "acl.rt.set_op_execute_timeout args parse failed"
    exclaims = name.startswith("acl.mdl.") or name.startswith("acl.set_tensor_")
    return f"{name} args parse failed{'!' if exclaims else ''}"


def test_the_stubs_name_what_the_data_names():
    assert set(STUBS) == set(ENTRIES)
    assert len(STUBS) == 630


def test_each_function_has_a_c_function_of_the_interface():
    without = {name for name, entry in ENTRIES.items() if entry.get("c") not in TABLE}
    # The second interface of images and video has some of its functions in C.
    own = {name for name in without if not name.startswith("acl.himpi.")}
    assert own == {name for name in NAMES if name.startswith("acl.util.")}


@pytest.mark.parametrize("name", NAMES)
def test_signature_is_that_of_the_stub(name):
    params, _ = STUBS[name]
    found = inspect.signature(function(name)).parameters.values()
    if not params:
        assert [p.kind for p in found] == [inspect.Parameter.VAR_POSITIONAL]
        return
    assert [(p.name, p.default is not p.empty) for p in found] == [(n, optional) for n, _, optional in params]
    assert all(p.kind is p.POSITIONAL_ONLY for p in found)


# Their refusals are their own: see test_util.py.
OWN_WORDS = {
    "acl.util.start_thread", "acl.util.bytes_to_ptr", "acl.util.numpy_to_ptr", "acl.util.numpy_contiguous_to_ptr",
    "acl.util.ptr_to_numpy", "acl.rt.mem_set_pid_to_shareable_handle",
}


@pytest.mark.parametrize("name", [name for name in NAMES if STUBS[name][0]])
def test_a_wrong_number_of_arguments_is_refused(name, fake):
    params, _ = STUBS[name]
    least = sum(not optional for _, _, optional in params)
    right = [RIGHT.get(kind, None) for _, kind, _ in params]
    cases = [right + [1]] + ([right[: least - 1]] if least else [])
    for arguments in cases:
        with pytest.raises(TypeError) as caught:
            function(name)(*arguments)
        if name != "acl.util.start_thread":
            assert str(caught.value) == refusal(name)
    assert fake.name == ""


@pytest.mark.parametrize("name", [name for name in NAMES if STUBS[name][0] and name not in OWN_WORDS])
def test_each_argument_of_a_wrong_type_is_refused(name, fake):
    params, _ = STUBS[name]
    for index, (_, kind, _) in enumerate(params):
        for wrong in WRONG[kind]:
            arguments = [RIGHT[k] for _, k, _ in params]
            if name == "acl.rt.malloc_physical":
                arguments[1] = dict.fromkeys(("handleType", "allocationType", "memAttr", "reserve"), 0)
                arguments[1]["location"] = {"id": 0, "type": 0}
            if name == "acl.rt.mem_get_allocation_granularity":
                arguments[0] = dict.fromkeys(("handleType", "allocationType", "memAttr", "reserve"), 0)
                arguments[0]["location"] = {"id": 0, "type": 0}
            if name == "acl.mdl.set_input_dynamic_dims":
                arguments[3] = {"dimCount": 0, "dims": []}
            arguments[index] = wrong
            with pytest.raises(TypeError) as caught:
                function(name)(*arguments)
            assert str(caught.value) == refusal(name), (index, wrong)
            assert caught.value.__cause__ is None
    assert fake.name == ""


@pytest.mark.parametrize("name", NAMES)
def test_keywords_are_refused(name):
    params, _ = STUBS[name]
    keyword = params[0][0] if params else "anything"
    with pytest.raises(TypeError, match="no keyword arguments"):
        function(name)(**{keyword: 1})


@pytest.mark.parametrize("name", [name for name in NAMES if not STUBS[name][0]])
def test_without_parameters_anything_is_ignored(name, fake):
    plain, passed = function(name)(), function(name)(0, None, "x")
    assert plain == passed


def value_for(kind, index):
    """A value near the end of a C type's range, different at each index."""
    return {
        "int8_t": 100 + index % 20,
        "uint8_t": 200 + index,
        "int16_t": 32000 + index,
        "uint16_t": 65000 + index,
        "int32_t": -(2**31) + index,
        "int": 2**31 - 50 + index,
        "uint32_t": 2**32 - 50 + index,
        "int64_t": -(2**63) + index,
        "uint64_t": 2**64 - 50 + index,
        "size_t": 2**64 - 90 + index,
        "aclFloat16": 65000 + index,
    }.get(kind)


def plain_call(name):
    """Arguments for a call in which each Python argument is one C argument, or None where that is not so."""
    entry = ENTRIES[name]
    c_name = entry.get("c")
    if c_name not in TABLE or entry.get("unsupported") or name in SPECIAL:
        return None
    ret, c_params = TABLE[c_name]
    params, _ = STUBS[name]
    if any(kind not in ("int", "SupportsIndex", "float", "str") for _, kind, _ in params):
        return None
    outs = [p for p in c_params if p.is_out]
    if len(c_params) - len(outs) != len(params):
        # Some parameters that C writes through are addresses which Python passes.
        outs = [p for p in outs if p.name not in PASSED.get(name, ())]
    if len(c_params) - len(outs) != len(params):
        return None
    arguments = []
    for index, p in enumerate(p for p in c_params if p not in outs):
        if p.is_out:
            # The fake writes there.
            arguments.append(ctypes.addressof(BUFFER))
        elif p.is_real:
            arguments.append(index + 0.5)
        elif p.is_text:
            arguments.append(f"text {index}")
        elif p.is_enum:
            arguments.append(index + 3)
        else:
            arguments.append(value_for(p.bare, index) or 0x7FFF0000 + 16 * index)
    return ret, c_params, outs, arguments


# Python passes the address of what C fills.
PASSED = {
    "acl.media.dvpp_jpeg_encode_async": ["size"],
    "acl.media.dvpp_get_hist_data": ["data"],
    "acl.media.dvpp_get_lut_map_data": ["data"],
    "acl.media.dvpp_jpeg_get_image_info_v2": ["format"],
    "acl.media.dvpp_get_channel_desc_param": ["param"],
    "acl.media.vdec_get_channel_desc_param": ["param"],
    "acl.media.venc_get_channel_desc_param": ["param"],
    "acl.rt.get_overflow_status": ["outputAddr"],
}

# The fake does something for these, or the module does: each has a test of its own in the other files.
SPECIAL = {
    "acl.app_log", "acl.finalize", "acl.get_recent_err_msg", "acl.get_version_str", "acl.init",
    "acl.get_tensor_desc_dim_range", "acl.get_cann_attribute_list", "acl.get_cann_version", "acl.rt.memcpy", "acl.rt.malloc",
    "acl.rt.free", "acl.rt.process_report", "acl.rt.synchronize_stream", "acl.rt.synchronize_device",
    "acl.rt.synchronize_event", "acl.rt.destroy_stream", "acl.rt.reset_device", "acl.rt.record_event",
    "acl.rt.stream_wait_event", "acl.rt.memcpy_async", "acl.rt.get_function_name", "acl.rt.get_group_info_detail",
    "acl.rt.get_group_count", "acl.rt.get_mem_uce_info", "acl.rt.get_stream_attribute", "acl.rt.ipc_mem_get_export_key",
    "acl.rt.notify_get_export_key", "acl.rt.pointer_get_attributes", "acl.rt.get_device_utilization_rate",
    "acl.mdl.execute", "acl.mdl.execute_async", "acl.mdl.unload", "acl.mdl.set_dump", "acl.mdl.set_config_opt",
    "acl.mdl.set_exec_config_opt", "acl.mdl.get_input_dims", "acl.mdl.get_input_dims_v2", "acl.mdl.get_output_dims",
    "acl.mdl.get_cur_output_dims", "acl.mdl.get_dynamic_batch", "acl.mdl.get_dynamic_hw", "acl.mdl.get_input_dims_range",
    "acl.mdl.get_first_aipp_info", "acl.mdl.get_input_dynamic_dims", "acl.mdl.create_and_get_op_desc",
    "acl.mdl.dump_unreg_callback", "acl.prof.get_op_name", "acl.prof.get_op_type", "acl.prof.get_op_name_v2",
    "acl.prof.get_op_type_v2", "acl.prof.set_stamp_trace_message", "acl.media.vdec_destroy_channel_desc", "acl.media.venc_destroy_channel_desc",
    "acl.media.vdec_get_channel_desc_callback", "acl.media.venc_get_channel_desc_callback", "acl.media.dvpp_get_stream_desc_eos",
    "acl.media.venc_get_frame_config_eos",
    # Structures as results.
    "acl.himpi.venc_query_status", "acl.himpi.venc_get_jpeg_param", "acl.himpi.venc_get_chn_attr", "acl.himpi.venc_get_chn_param",
    "acl.himpi.venc_get_rc_param", "acl.himpi.venc_get_h264_vui", "acl.himpi.venc_get_h265_vui", "acl.himpi.vdec_query_status",
    "acl.himpi.vdec_get_chn_attr", "acl.himpi.vdec_get_chn_param", "acl.himpi.vdec_get_frame", "acl.himpi.pngd_get_image_data",
    "acl.himpi.sys_wait_epoll",
}
# Neither plain nor special: lists, dicts and callables, which the other files test one by one.
PLAIN = [name for name in NAMES if plain_call(name) is not None]


def test_most_functions_are_plain():
    rest = [n for n in NAMES if n not in PLAIN and n not in SPECIAL and not n.startswith(("acl.util.", "acl.himpi."))]
    odd = [n for n in rest if all(k in ("int", "SupportsIndex", "float", "str") for _, k, _ in STUBS[n][0])]
    assert odd == ["acl.prof.init", "acl.prof.set_config"]
    assert len(PLAIN) > 430


@pytest.mark.parametrize("name", PLAIN)
def test_arguments_and_outputs_keep_the_order_and_the_width_of_c(name, fake):
    ret, c_params, outs, arguments = plain_call(name)
    result = function(name)(*arguments)
    assert fake.name == ENTRIES[name]["c"]
    passed = fake.arguments
    expected = []
    left = iter(arguments)
    for p in c_params:
        if p in outs:
            expected.append(...)
        else:
            value = next(left)
            expected.append(value % 2**64 if isinstance(value, int) else value)
    # What Python passes by its address where C writes is an output to the fake.
    if name in PASSED:
        expected = [... if p.is_out else e for p, e in zip(c_params, expected)]
    assert passed == expected

    values = []
    index = 0
    for p in c_params:
        if p in outs:
            values.append(output(p, index))
        if p.is_out:
            index += 1
    if ENTRIES[name].get("echo"):
        values.insert(0, arguments[[n for n, _, _ in STUBS[name][0]].index(ENTRIES[name]["echo"])])
    if ret == "aclError":
        assert result == (tuple(values) + (0,) if values else 0)
        assert type(result) is (tuple if values else int)
    elif ret == "void":
        assert result is None
    elif ret.replace(" ", "") == "constchar*":
        assert result == f"text of {ENTRIES[name]['c']}"
    elif ret in ("float", "double"):
        assert result == 0.5
    elif ret in build.INTEGERS:
        assert result == all_ones(ret, 4)
    elif ret in ENUMS:
        assert result == 33
    else:
        assert result == 0x7777000


def output(p, index):
    pointee = p.pointee
    if pointee in build.INTEGERS:
        return all_ones(pointee, index)
    if pointee in ("float", "double"):
        return index + 0.25
    if pointee in ENUMS:
        return index + 20
    return 0x6660000 + index


def all_ones(kind, less):
    """2^n - 1 - less in an unsigned type of n bits, -1 - less in a signed one."""
    bits = re.search(r"\d+", kind)
    bits = {"size_t": 64, "int": 32, "aclError": 32, "unsigned int": 32}.get(kind) or int(bits.group())
    unsigned = kind.startswith("u") or kind in ("size_t", "aclFloat16")
    return 2**bits - 1 - less if unsigned else -1 - less


@pytest.mark.parametrize("name", PLAIN)
def test_failure_is_a_code_and_never_an_exception(name, fake):
    ret, _, _, arguments = plain_call(name)
    fake.answer(507899)
    result = function(name)(*arguments)
    if ret == "aclError":
        assert (result[-1] if isinstance(result, tuple) else result) == 507899
    elif ret.replace(" ", "") == "constchar*":
        assert result is None
    elif ret not in build.INTEGERS and ret not in ENUMS and ret not in ("void", "float", "double"):
        assert result == 0  # a null handle


def test_what_the_library_does_not_have_answers_not_supported(fake):
    # The fake has no himpi functions, and neither has the C interface.
    for name in (n for n in NAMES if ENTRIES[n].get("unsupported")):
        params, returns = STUBS[name]
        result = function(name)(*[RIGHT[kind] for _, kind, _ in params])
        if returns == "int" and name != "acl.himpi.vdec_get_tmv_buf_size":
            assert result == 200001
        elif returns == "int":
            assert result == 0
        else:
            assert result in ((0, 200001), ({}, 200001))
        assert acl.get_recent_err_msg() == f"{name} is not supported"
        assert acl.get_recent_err_msg() is None
