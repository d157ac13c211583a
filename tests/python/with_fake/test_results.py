"""Dicts, lists and texts that come back."""

import pytest

import acl


@pytest.mark.parametrize("function, name", [
    ("get_input_dims", "in"), ("get_input_dims_v2", "v2"), ("get_output_dims", "out"), ("get_cur_output_dims", "cur"),
])
def test_dims(fake, function, name):
    get = getattr(acl.mdl, function)
    assert get(1, 3) == ({"name": name, "dimCount": 3, "dims": [-1, 0, 1]}, 0)
    assert get(1, 0) == ({"name": name, "dimCount": 0, "dims": []}, 0)
    dims, _ = get(1, 1000)  # a library that lies about the count
    assert len(dims["dims"]) == 128
    fake.answer(100000)
    assert get(1, 3) == ({}, 100000)


def test_dynamic_batch_and_sizes(fake):
    assert acl.mdl.get_dynamic_batch(1) == ({"batchCount": 3, "batch": [1, 2, 8]}, 0)
    info, ret = acl.mdl.get_dynamic_hw(1, -1)
    assert (info, ret) == ({"hwCount": 2, "hw": [[224, 224], [448, 640]]}, 0)
    assert [448, 640] in info["hw"]  # what programs ask
    fake.answer(5)
    assert acl.mdl.get_dynamic_batch(1) == ({}, 5)
    assert acl.mdl.get_dynamic_hw(1, -1) == ({}, 5)


def test_the_range_of_dims_is_filled_even_on_failure(fake):
    expected = {"rangeCount": 2, "range": [[1, -1], [3, 4]]}
    assert acl.mdl.get_input_dims_range(1, 0) == (expected, 0)
    fake.answer(5)
    assert acl.mdl.get_input_dims_range(1, 0) == (expected, 5)


def test_gears(fake):
    dims, ret = acl.mdl.get_input_dynamic_dims(1, -1, 2)
    assert ret == 0
    assert dims == [{"name": "", "dimCount": 1, "dims": [-1]}, {"name": "", "dimCount": 2, "dims": [-1, 0]}]
    assert fake.arguments == [2**64 - 1]
    fake.forget()
    assert acl.mdl.get_input_dynamic_dims(1, -1, 4097) == (None, 100000)
    assert fake.name == ""
    assert acl.mdl.set_input_dynamic_dims(1, 2, 3, dims[1]) == 0  # an element goes back as it came


def test_aipp(fake):
    info, ret = acl.mdl.get_first_aipp_info(1, 0)
    assert ret == 0
    assert info["cropSwitch"] == 1
    assert info["matrixR2C2"] == 22 and info["matrixR1C2"] == 12
    assert not {"matrixR0C2", "matrixR2C0", "matrixR2C1"} & set(info)
    assert info["bottomPaddingSize"] == 9 and info["inputBias2"] == 7 and info["meanChn3"] == 4
    assert info["minChn0"] == 0.5 and info["varReciChn3"] == 0.25
    assert info["srcDimNum"] == 4 and info["shapeCount"] == 1 and info["aippExtend"] == 0
    assert info["outDims"] == [{
        "srcDims": {"name": "src", "dimCount": 2, "dims": [-1, 0]}, "srcSize": 11,
        "aippOutdims": {"name": "aipp", "dimCount": 1, "dims": [-1]}, "aippOutSize": 13,
    }]
    assert len(info) == 50  # the members in C, less those three
    fake.answer(5)
    assert acl.mdl.get_first_aipp_info(1, 0) == (None, 5)


def test_other_records(fake):
    assert acl.rt.pointer_get_attributes(1) == (
        {"location": {"id": 2, "type": 1}, "page_size": 4096, "rsv": [0, 0, 0, 5]}, 0)
    assert acl.get_cann_version(0) == ({
        "version": "8.1", "major_version": "8", "minor_version": "", "release_version": "", "patch_version": "p",
        "reserved": ""}, 0)
    infos, ret = acl.rt.get_mem_uce_info(0, 5)
    assert ret == 0 and [(i["addr"], i["len"]) for i in infos] == [(0x1000, 1), (0x2000, 2)]
    assert infos[0]["reserved"] == [0] * 14
    assert acl.rt.mem_uce_repair(0, infos) == 0


def test_lists(fake):
    assert acl.get_tensor_desc_dim_range(1, 0, 2) == ([-1, 0], 0)
    assert acl.get_tensor_desc_dim_range(1, 0, 4097) == (None, 100000)
    fake.answer(5)
    assert acl.get_tensor_desc_dim_range(1, 0, 2) == (None, 5)
    fake.answer(0)
    assert acl.get_cann_attribute_list() == ([1, 2], 2, 0)
    assert acl.rt.get_group_info_detail(1, 0, 0) == ([8, -1], 0)
    fake.answer(5)
    with pytest.raises(RuntimeError):
        acl.rt.get_group_info_detail(1, 0, 0)


def test_texts(fake):
    assert acl.get_version_str("cann") == ("8.1.RC1", 0)
    assert fake.arguments == ["cann"]
    assert acl.rt.get_function_name(1, 5) == ("xxxxx", 0)  # a text that fills its buffer
    assert acl.rt.get_function_name(1, 2**31) == ("", 100000)
    assert acl.prof.get_op_name_v2(1, 2, 3) == ("Conv2", 0)
    assert acl.mdl.create_and_get_op_desc(0, 0, 0, 4097) == ("", 0, 0, 0, 0, 100000)
    with pytest.raises(ValueError):
        acl.rt.ipc_mem_get_export_key(1, 2, 1024, 0)
    fake.answer(5)
    assert acl.get_version_str("cann") == ("", 5)
    assert acl.get_soc_name() is None
    assert acl.mdl.get_input_name_by_index(1, 0) is None


def test_the_recent_message(fake):
    assert acl.get_recent_err_msg() is None
    fake.message("Größe".encode())
    assert acl.get_recent_err_msg() == "Größe"
    fake.message(b"not \xff utf-8")
    assert acl.get_recent_err_msg() == "not \ufffd utf-8"


def test_what_comes_back_as_it_went_in(fake):
    dataset = 0x123456789
    assert acl.mdl.add_dataset_buffer(dataset, 2) == (dataset, 0)
    assert acl.mdl.set_dataset_tensor_desc(dataset, 2, 0) == (dataset, 0)
    assert acl.rt.set_memcpy_desc(dataset, 1, 2, 3, 4, 0) == (dataset, 0)
    fake.answer(5)
    assert acl.mdl.add_dataset_buffer(-1, 2) == (2**64 - 1, 5)


def test_the_log_takes_the_text_as_data(fake):
    assert acl.app_log(2, "100 % done %s %n") is None
    level, function, file, line, text = fake.arguments
    assert (level, function, text) == (2, "test_the_log_takes_the_text_as_data", "100 % done %s %n")
    assert file.endswith("test_results.py") and line > 1


def test_an_address_is_a_number_that_one_can_add_to(fake):
    pointer, ret = acl.rt.malloc(64, 0)
    assert ret == 0 and type(pointer) is int
    assert acl.rt.memcpy(pointer + 32, 32, acl.util.bytes_to_ptr(b"x" * 32), 32, 0) == 0
    assert acl.util.ptr_to_bytes(pointer + 32, 32) == b"x" * 32
    assert acl.rt.free(pointer) == 0
    fake.answer(5)
    assert acl.rt.malloc(64, 0) == (0, 5)
