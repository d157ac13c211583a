"""How numbers, texts, lists and dicts are taken."""

import ctypes

import pytest

import acl

numpy = pytest.importorskip("numpy")


class Int(int):
    pass


class Index:
    def __index__(self):
        return 5


class BadIndex:
    def __index__(self):
        raise RuntimeError("the text of this must not be seen")


def test_sizes_and_handles_wrap(fake):
    acl.mdl.get_input_size_by_index(-1, 2**64 + 7)
    assert fake.arguments == [2**64 - 1, 7]
    acl.mdl.get_input_size_by_index(2**200 + 3, -(2**70) - 2)
    assert fake.arguments == [3, 2**64 - 2]


def test_a_subclass_of_int_is_an_int(fake):
    acl.mdl.get_input_size_by_index(True, Int(9))
    assert fake.arguments == [1, 9]


@pytest.mark.parametrize("wrong", [numpy.int64(1), numpy.uint64(1), Index(), 1.0, numpy.zeros(1), None])
def test_a_handle_is_a_real_int(wrong):
    with pytest.raises(TypeError, match="^acl.rt.destroy_event args parse failed(\n|$)"):
        acl.rt.destroy_event(wrong)


@pytest.mark.parametrize("number", [numpy.int64(5), numpy.int8(5), numpy.uint32(5), Index(), Int(5)])
def test_small_numbers_and_enums_take_an_index(fake, number):
    assert acl.rt.set_device(number) == 0
    assert fake.arguments == [5]
    acl.mdl.get_desc(8, number)  # a uint32
    assert fake.arguments == [8, 5]
    acl.rt.set_op_wait_timeout(number)
    assert fake.arguments == [5]


def test_a_failing_index_is_a_wrong_argument():
    with pytest.raises(TypeError, match="^acl.rt.set_device args parse failed(\n|$)") as caught:
        acl.rt.set_device(BadIndex())
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**64, -(2**70)])
def test_a_signed_number_out_of_range_is_a_wrong_argument(number):
    with pytest.raises(TypeError, match="^acl.rt.set_device args parse failed(\n|$)"):
        acl.rt.set_device(number)


def test_an_unsigned_int_wraps(fake):
    acl.mdl.unload(1)
    acl.rt.set_op_wait_timeout(-1)
    assert fake.arguments == [2**32 - 1]
    acl.rt.set_op_wait_timeout(2**40 + 6)
    assert fake.arguments == [6]


def test_floats_take_what_has_a_float(fake):
    acl.op.set_attr_float(1, "a", 2)
    assert fake.arguments == [1, "a", 2.0]
    acl.op.set_attr_float(1, "a", numpy.float32(0.1))
    assert fake.arguments == [1, "a", float(numpy.float32(0.1))]
    acl.op.set_attr_float(1, "a", -1.0)  # the mark of a failure, and a value
    assert fake.arguments == [1, "a", -1.0]
    acl.mdl.get_input_size_by_index(2**64 - 1, 0)  # likewise
    assert fake.arguments == [2**64 - 1, 0]


@pytest.mark.parametrize("source", [b"bytes", bytearray(4), numpy.zeros(4), memoryview(b"1234")])
def test_memcpy_refuses_buffers(source):
    with pytest.raises(TypeError, match="^acl.rt.memcpy args parse failed(\n|$)"):
        acl.rt.memcpy(1, 4, source, 4, 1)


def test_memcpy_writes_through_the_address_of_bytes():
    source = bytes(range(16))
    target = bytes(16)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(target), 16, acl.util.bytes_to_ptr(source), 16, 2) == 0
    assert target == source


def test_any_address_of_the_process_is_legal():
    source = numpy.arange(4, dtype=numpy.float32)
    buffer = (ctypes.c_float * 4)()
    assert acl.rt.memcpy(ctypes.addressof(buffer), 16, source.ctypes.data, 16, 0) == 0
    assert list(buffer) == [0.0, 1.0, 2.0, 3.0]


def test_texts_are_utf_8(fake):
    acl.op.set_model_dir("Modelle/größe/模型")
    assert fake.arguments == ["Modelle/größe/模型"]
    for wrong in ("a\0b", "\ud800"):
        with pytest.raises(TypeError, match="^acl.op.set_model_dir args parse failed(\n|$)"):
            acl.op.set_model_dir(wrong)


def test_optional_texts(fake):
    assert acl.init() == 0
    assert fake.arguments == [None]
    assert acl.init("acl.json") == 0
    assert fake.arguments == ["acl.json"]
    with pytest.raises(TypeError, match="^acl.init args parse failed(\n|$)"):
        acl.init(None)
    assert acl.mdl.set_dump() == 0
    assert fake.arguments == [None]
    with pytest.raises(TypeError, match="^acl.mdl.set_dump args parse failed!(\n|$)"):
        acl.mdl.set_dump(None)


def test_lists(fake):
    assert acl.create_tensor_desc(1, [2, -1, 3], 2) == 0x4470000
    assert fake.arguments == [1, 2, 3, 2, 2**64 - 1, 3]
    acl.create_tensor_desc(1, [], 2)
    assert fake.arguments == [1, 2, 0]
    acl.create_tensor_desc(1, list(numpy.array([4, 5])), 2)
    assert fake.arguments == [1, 2, 2, 4, 5]
    with pytest.raises(TypeError, match="^acl.create_tensor_desc args parse failed(\n|$)"):
        acl.create_tensor_desc(1, (2, 3), 2)
    acl.set_tensor_shape_range(1, [[1, 2], [3, -1]])
    assert fake.arguments == [1, 2, 3, 2**64 - 1]
    with pytest.raises(TypeError, match="^acl.set_tensor_shape_range args parse failed!(\n|$)"):
        acl.set_tensor_shape_range(1, [[1, 2, 3]])
    acl.op.set_attr_list_string(1, "names", ["a", "", "ü"])
    assert fake.arguments == ["names", "a", "", "ü"]
    acl.op.set_attr_list_list_int(1, "lists", [[1, 2], [], [3]])
    assert fake.arguments == [2, 1, 2, 0, 1, 3]
    assert acl.prof.create_config([0, 3], 1, 0, 2**63) == 0x4480000
    assert fake.arguments == [2, 0, 3, 1, 2**63]
    assert acl.prof.init("out") == 0
    assert fake.arguments == ["out", 3]
    assert acl.prof.set_config(1, "größe") == 0
    assert fake.arguments == [1, "größe", 7]


def test_the_counts_of_an_operator_are_the_lengths_of_its_lists(fake):
    assert acl.op.execute_v2("Add", [1, 2], [3, 4], [5], [6], 7, 8) == 0
    assert fake.arguments == ["Add", 2, 1, 2, 4, 5, 6, 7, 8]


def test_lists_that_C_would_read_past_are_refused(fake):
    assert acl.op.execute_v2("Add", [1, 2], [3], [5], [6], 7, 8) == 100000
    assert fake.name == ""
    assert "count(inputs) = count(input_desc)" in acl.get_recent_err_msg()
    assert acl.op.infer_shape("Add", [1], [2], 2, [3], 4) == 100000
    assert acl.op.set_attr_list_float(1, "a", 3, [1.0, 2.0]) == 100000
    assert acl.op.set_attr_list_float(1, "a", 2, [1.0, 2.0]) == 0
    assert acl.media.dvpp_vpc_batch_crop_async(1, 2, [1, 1], 3, [9], 0) == (3, 100000)
    assert acl.media.dvpp_vpc_batch_crop_async(1, 2, [1, 1], 3, [9, 8], 0) == (3, 0)


def test_malloc_configuration(fake):
    assert acl.rt.malloc_with_cfg(64, 0, {}) == (0x4440000, 0)
    assert fake.arguments == [0]
    cfg = {"numAttrs": 2, "attrs": [{"attr": 1, "value": {"moduleId": 9}}, {"attr": 2, "value": {"deviceId": 3}}]}
    assert acl.rt.malloc_with_cfg(64, 0, cfg) == (0x4440000, 0)
    assert fake.arguments == [2, 1, 9, 2, 3]
    for wrong in (
        {"numAttrs": 2, "attrs": [{"attr": 1, "value": {"moduleId": 9}}]},
        {"numAttrs": 1, "attrs": [{"attr": 1, "value": {"other": 9}}]},
        {"numAttrs": 0},
    ):
        with pytest.raises(KeyError):
            acl.rt.malloc_with_cfg(64, 0, wrong)
    with pytest.raises(TypeError, match="^acl.rt.malloc_with_cfg args parse failed(\n|$)"):
        acl.rt.malloc_with_cfg(64, 0, [])


def test_physical_properties(fake):
    prop = {"handleType": 1, "allocationType": 2, "memAttr": 3, "location": {"id": 4, "type": 5}, "reserve": 6}
    assert acl.rt.malloc_physical(64, prop, 0) == (0x4450000, 0)
    assert fake.arguments == [1, 2, 3, 4, 5, 6]
    for key in prop:
        with pytest.raises(KeyError):
            acl.rt.malloc_physical(64, {k: v for k, v in prop.items() if k != key}, 0)


def test_load_options(fake):
    assert acl.rt.binary_load_from_file("k.o", []) == (0x4460000, 0)
    assert fake.arguments == ["k.o", 0]
    assert acl.rt.binary_load_from_file("k.o", [{"type": 2, "value": 0x43554245}]) == (0x4460000, 0)
    assert fake.arguments == ["k.o", 1, 2, 0x43554245]
    with pytest.raises(KeyError):
        acl.rt.binary_load_from_file("k.o", [{"type": 2}])


def test_dynamic_dims_from_a_dict(fake):
    assert acl.mdl.set_input_dynamic_dims(1, 2, 3, {"name": "x", "dimCount": 2, "dims": [4, -1]}) == 0
    assert fake.arguments == [1, 3, 2, 4, 2**64 - 1, "x"]
    assert acl.mdl.set_input_dynamic_dims(1, 2, 3, {"dimCount": 2, "dims": [4, 5, 6]}) == 0
    assert fake.arguments == [1, 3, 2, 4, 5, ""]
    for wrong in ([1], {"dims": [1]}, {"dimCount": 1, "dims": (1,)}, {"dimCount": 2, "dims": [1]},
                  {"dimCount": 129, "dims": [1] * 129}):
        with pytest.raises(TypeError, match="^acl.mdl.set_input_dynamic_dims args parse failed!(\n|$)"):
            acl.mdl.set_input_dynamic_dims(1, 2, 3, wrong)


def test_configuration_values_travel_in_the_width_of_their_attribute(fake):
    assert acl.mdl.set_config_opt(1, 0, -3) == 0  # priority
    assert fake.arguments == [0, 4, 2**64 - 3]
    assert acl.mdl.set_config_opt(1, 3, 2**63) == 0  # an address
    assert fake.arguments == [3, 8, 2**63]
    assert acl.mdl.set_config_opt(1, 2, "model.om") == 0
    assert fake.arguments == [2, 8, "model.om"]
    for attribute, wrong in ((0, "1"), (2, 1), (3, "1")):
        with pytest.raises(TypeError, match="^acl.mdl.set_config_opt args parse failed!(\n|$)"):
            acl.mdl.set_config_opt(1, attribute, wrong)
    assert acl.mdl.set_exec_config_opt(1, 0, 5) == 0
