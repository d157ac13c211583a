// Written by `cargo xtask gen` from api/pyacl. Do not edit.

//! One function for each function of pyACL: it parses what Python passed, calls the C function of the shared library and
//! makes the results, in C order with the code last.

use std::ffi::{CString, c_char};

use super::ffi::*;
use super::records::*;
use super::structures::*;
use super::manual;
use super::table::{END, Table};

fn base_create_data_buffer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let data = call.get::<Pointer>(0)?;
    let size = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclCreateDataBuffer(Pointer, usize) -> Pointer, [data, size], or Default::default());
    call.one(&ret)
}

fn base_create_tensor_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let data_type = call.get::<i32>(0)?;
    let dims = call.get::<Vec<i64>>(1)?;
    let format = call.get::<i32>(2)?;
    let ret = c_call!(call.returns aclCreateTensorDesc(i32, i32, *const i64, i32) -> Pointer, [data_type, saturated(dims.count()), dims.as_ptr(), format], or Default::default());
    call.one(&ret)
}

fn base_data_type_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let data_type = call.get::<i32>(0)?;
    let ret = c_call!(call.returns aclDataTypeSize(i32) -> usize, [data_type], or Default::default());
    call.one(&ret)
}

fn base_destroy_data_buffer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let data_buffer = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclDestroyDataBuffer(Pointer) -> i32, [data_buffer], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_destroy_tensor_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    c_call!(call.returns aclDestroyTensorDesc(Pointer) -> (), [desc], or ());
    call.none()
}

fn base_finalize<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.waits aclFinalize() -> i32, [], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_finalize_reference<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut count = u64::default();
    let ret = c_call!(call.waits aclFinalizeReference(*mut u64) -> i32, [&raw mut count], or NOT_SUPPORTED);
    call.many(&[&count, &ret])
}

fn base_float16_to_float<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let value = call.get::<u16>(0)?;
    let ret = c_call!(call.returns aclFloat16ToFloat(u16) -> f32, [value], or Default::default());
    call.one(&ret)
}

fn base_float_to_float16<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let value = call.get::<f32>(0)?;
    let ret = c_call!(call.returns aclFloatToFloat16(f32) -> u16, [value], or Default::default());
    call.one(&ret)
}

fn base_get_cann_attribute<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let attr = call.get::<i32>(0)?;
    let mut value = i32::default();
    let ret = c_call!(call.returns aclGetCannAttribute(i32, *mut i32) -> i32, [attr, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn base_get_cann_version<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pkg = call.get::<i32>(0)?;
    let mut version = Record::<PackageVersion>::zeroed();
    let ret = c_call!(call.returns aclsysGetCANNVersion(i32, Pointer) -> i32, [pkg, version.pointer()], or NOT_SUPPORTED);
    call.many(&[&version.described(ret), &ret])
}

fn base_get_data_buffer_addr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let data_buffer = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetDataBufferAddr(Pointer) -> Pointer, [data_buffer], or Default::default());
    call.one(&ret)
}

fn base_get_data_buffer_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let data_buffer = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetDataBufferSize(Pointer) -> u32, [data_buffer], or Default::default());
    call.one(&ret)
}

fn base_get_data_buffer_size_v2<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let data_buffer = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetDataBufferSizeV2(Pointer) -> usize, [data_buffer], or Default::default());
    call.one(&ret)
}

fn base_get_device_capability<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let device_id = call.get::<u32>(0)?;
    let info = call.get::<i32>(1)?;
    let mut value = i64::default();
    let ret = c_call!(call.returns aclGetDeviceCapability(u32, i32, *mut i64) -> i32, [device_id, info, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn base_get_soc_name<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclrtGetSocName() -> CText, [], or CText::default());
    call.one(&ret)
}

fn base_get_tensor_desc_address<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetTensorDescAddress(Pointer) -> Pointer, [desc], or Default::default());
    call.one(&ret)
}

fn base_get_tensor_desc_by_index<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclGetTensorDescByIndex(Pointer, usize) -> Pointer, [desc, index], or Default::default());
    call.one(&ret)
}

fn base_get_tensor_desc_dim<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclGetTensorDescDim(Pointer, usize) -> i64, [desc, index], or Default::default());
    call.one(&ret)
}

fn base_get_tensor_desc_dim_v2<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut size = i64::default();
    let ret = c_call!(call.returns aclGetTensorDescDimV2(Pointer, usize, *mut i64) -> i32, [desc, index, &raw mut size], or NOT_SUPPORTED);
    call.many(&[&size, &ret])
}

fn base_get_tensor_desc_element_count<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetTensorDescElementCount(Pointer) -> usize, [desc], or Default::default());
    call.one(&ret)
}

fn base_get_tensor_desc_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetTensorDescFormat(Pointer) -> i32, [desc], or Default::default());
    call.one(&ret)
}

fn base_get_tensor_desc_name<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetTensorDescName(Pointer) -> CText, [desc], or CText::default());
    call.one(&ret)
}

fn base_get_tensor_desc_num_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetTensorDescNumDims(Pointer) -> usize, [desc], or Default::default());
    call.one(&ret)
}

fn base_get_tensor_desc_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetTensorDescSize(Pointer) -> usize, [desc], or Default::default());
    call.one(&ret)
}

fn base_get_tensor_desc_type<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclGetTensorDescType(Pointer) -> i32, [desc], or Default::default());
    call.one(&ret)
}

fn base_get_version<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut major_version = i32::default();
    let mut minor_version = i32::default();
    let mut patch_version = i32::default();
    let ret = c_call!(call.returns aclrtGetVersion(*mut i32, *mut i32, *mut i32) -> i32, [&raw mut major_version, &raw mut minor_version, &raw mut patch_version], or NOT_SUPPORTED);
    call.many(&[&major_version, &minor_version, &patch_version, &ret])
}

fn base_get_version_str<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pkg_name = call.get::<CString>(0)?;
    let mut version = TextBuffer::new(128);
    let ret = if version.is_refused() {
        call.refuse("acl.get_version_str: the length asked for is over the limit of one MiB")
    } else {
        c_call!(call.returns aclsysGetVersionStr(*const c_char, Pointer) -> i32, [pkg_name.as_ptr(), version.pointer()], or NOT_SUPPORTED)
    };
    call.many(&[&version.text(ret), &ret])
}

fn base_init<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(0, 1)?;
    let config_path = call.get_or_none::<CString>(0)?;
    let ret = c_call!(call.waits aclInit(*const c_char) -> i32, [or_null(&config_path)], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_const<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let desc = call.get::<Pointer>(0)?;
    let data = call.get::<Pointer>(1)?;
    let length = call.get::<usize>(2)?;
    let ret = c_call!(call.returns aclSetTensorConst(Pointer, Pointer, usize) -> i32, [desc, data, length], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_desc_name<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let name = call.get::<CString>(1)?;
    c_call!(call.returns aclSetTensorDescName(Pointer, *const c_char) -> (), [desc, name.as_ptr()], or ());
    call.none()
}

fn base_set_tensor_dynamic_input<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let dynamic_input_name = call.get::<CString>(1)?;
    let ret = c_call!(call.returns aclSetTensorDynamicInput(Pointer, *const c_char) -> i32, [desc, dynamic_input_name.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let format = call.get::<i32>(1)?;
    let ret = c_call!(call.returns aclSetTensorFormat(Pointer, i32) -> i32, [desc, format], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_origin_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let format = call.get::<i32>(1)?;
    let ret = c_call!(call.returns aclSetTensorOriginFormat(Pointer, i32) -> i32, [desc, format], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_origin_shape<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let dims = call.get::<Vec<i64>>(1)?;
    let ret = c_call!(call.returns aclSetTensorOriginShape(Pointer, i32, *const i64) -> i32, [desc, saturated(dims.count()), dims.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_place_ment<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let mem_type = call.get::<i32>(1)?;
    let ret = c_call!(call.returns aclSetTensorPlaceMent(Pointer, i32) -> i32, [desc, mem_type], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_shape<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let dims = call.get::<Vec<i64>>(1)?;
    let ret = c_call!(call.returns aclSetTensorShape(Pointer, i32, *const i64) -> i32, [desc, saturated(dims.count()), dims.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_shape_range<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let dims_range = call.get::<Vec<[i64; 2]>>(1)?;
    let ret = c_call!(call.returns aclSetTensorShapeRange(Pointer, usize, *const [i64; 2]) -> i32, [desc, saturated(dims_range.count()), dims_range.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_storage_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let format = call.get::<i32>(1)?;
    let ret = c_call!(call.returns aclSetTensorStorageFormat(Pointer, i32) -> i32, [desc, format], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_storage_shape<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let dims = call.get::<Vec<i64>>(1)?;
    let ret = c_call!(call.returns aclSetTensorStorageShape(Pointer, i32, *const i64) -> i32, [desc, saturated(dims.count()), dims.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_set_tensor_value_range<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let value_range = call.get::<Vec<[i64; 2]>>(1)?;
    let ret = c_call!(call.returns aclSetTensorValueRange(Pointer, usize, *const [i64; 2]) -> i32, [desc, saturated(value_range.count()), value_range.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn base_trans_tensor_desc_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let src_desc = call.get::<Pointer>(0)?;
    let format = call.get::<i32>(1)?;
    let mut dst_desc = Pointer::default();
    let ret = c_call!(call.returns aclTransTensorDescFormat(Pointer, i32, *mut Pointer) -> i32, [src_desc, format, &raw mut dst_desc], or NOT_SUPPORTED);
    call.many(&[&dst_desc, &ret])
}

fn base_update_data_buffer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let data_buffer = call.get::<Pointer>(0)?;
    let data = call.get::<Pointer>(1)?;
    let size = call.get::<usize>(2)?;
    let ret = c_call!(call.returns aclUpdateDataBuffer(Pointer, Pointer, usize) -> i32, [data_buffer, data, size], or NOT_SUPPORTED);
    call.one(&ret)
}

static BASE: Table = Table::new(&[
    method!(c"app_log", manual::base_app_log, c"acl.app_log args parse failed", c"app_log($module, log_level, msg, /)\n--\n\nCalls aclAppLog. The text goes out as data: per-cent signs in it mean nothing.\n\nReturns None."),
    method!(c"create_data_buffer", base_create_data_buffer, c"acl.create_data_buffer args parse failed", c"create_data_buffer($module, data, size, /)\n--\n\nCalls aclCreateDataBuffer. 0 when it fails.\n\nReturns int."),
    method!(c"create_tensor_desc", base_create_tensor_desc, c"acl.create_tensor_desc args parse failed", c"create_tensor_desc($module, data_type, dims, format, /)\n--\n\nCalls aclCreateTensorDesc. An empty list of dimensions makes a scalar.\n\nReturns int."),
    method!(c"data_type_size", base_data_type_size, c"acl.data_type_size args parse failed", c"data_type_size($module, data_type, /)\n--\n\nCalls aclDataTypeSize.\n\nReturns int."),
    method!(c"destroy_data_buffer", base_destroy_data_buffer, c"acl.destroy_data_buffer args parse failed", c"destroy_data_buffer($module, data_buffer, /)\n--\n\nCalls aclDestroyDataBuffer. The memory behind the buffer stays with its owner.\n\nReturns int."),
    method!(c"destroy_tensor_desc", base_destroy_tensor_desc, c"acl.destroy_tensor_desc args parse failed", c"destroy_tensor_desc($module, desc, /)\n--\n\nCalls aclDestroyTensorDesc.\n\nReturns None."),
    method!(c"finalize", base_finalize, c"acl.finalize args parse failed", c"finalize($module, /, *args)\n--\n\nCalls aclFinalize. A second call answers 100037.\n\nReturns int."),
    method!(c"finalize_reference", base_finalize_reference, c"acl.finalize_reference args parse failed", c"finalize_reference($module, /, *args)\n--\n\nCalls aclFinalizeReference.\n\nReturns tuple[int, int]."),
    method!(c"float16_to_float", base_float16_to_float, c"acl.float16_to_float args parse failed", c"float16_to_float($module, value, /)\n--\n\nCalls aclFloat16ToFloat. The argument is the 16-bit pattern.\n\nReturns float."),
    method!(c"float_to_float16", base_float_to_float16, c"acl.float_to_float16 args parse failed", c"float_to_float16($module, value, /)\n--\n\nCalls aclFloatToFloat16. The result is the 16-bit pattern.\n\nReturns int."),
    method!(c"get_cann_attribute", base_get_cann_attribute, c"acl.get_cann_attribute args parse failed", c"get_cann_attribute($module, attr, /)\n--\n\nCalls aclGetCannAttribute.\n\nReturns tuple[int, int]."),
    method!(c"get_cann_attribute_list", manual::base_get_cann_attribute_list, c"acl.get_cann_attribute_list args parse failed", c"get_cann_attribute_list($module, /, *args)\n--\n\nCalls aclGetCannAttributeList.\n\nReturns tuple[list[int], int, int]."),
    method!(c"get_cann_version", base_get_cann_version, c"acl.get_cann_version args parse failed", c"get_cann_version($module, pkg, /)\n--\n\nCalls aclsysGetCANNVersion.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_data_buffer_addr", base_get_data_buffer_addr, c"acl.get_data_buffer_addr args parse failed", c"get_data_buffer_addr($module, data_buffer, /)\n--\n\nCalls aclGetDataBufferAddr.\n\nReturns int."),
    method!(c"get_data_buffer_size", base_get_data_buffer_size, c"acl.get_data_buffer_size args parse failed", c"get_data_buffer_size($module, data_buffer, /)\n--\n\nCalls aclGetDataBufferSize. get_data_buffer_size_v2 also reads sizes past 32 bits.\n\nReturns int."),
    method!(c"get_data_buffer_size_v2", base_get_data_buffer_size_v2, c"acl.get_data_buffer_size_v2 args parse failed", c"get_data_buffer_size_v2($module, data_buffer, /)\n--\n\nCalls aclGetDataBufferSizeV2.\n\nReturns int."),
    method!(c"get_device_capability", base_get_device_capability, c"acl.get_device_capability args parse failed", c"get_device_capability($module, device_id, info, /)\n--\n\nCalls aclGetDeviceCapability.\n\nReturns tuple[int, int]."),
    method!(c"get_recent_err_msg", manual::base_get_recent_err_msg, c"acl.get_recent_err_msg args parse failed", c"get_recent_err_msg($module, /, *args)\n--\n\nCalls aclGetRecentErrMsg. None when nothing is waiting; reading takes the text away.\n\nReturns str | None."),
    method!(c"get_soc_name", base_get_soc_name, c"acl.get_soc_name args parse failed", c"get_soc_name($module, /, *args)\n--\n\nCalls aclrtGetSocName. None when there is no name to give.\n\nReturns str | None."),
    method!(c"get_tensor_desc_address", base_get_tensor_desc_address, c"acl.get_tensor_desc_address args parse failed", c"get_tensor_desc_address($module, desc, /)\n--\n\nCalls aclGetTensorDescAddress.\n\nReturns int."),
    method!(c"get_tensor_desc_by_index", base_get_tensor_desc_by_index, c"acl.get_tensor_desc_by_index args parse failed", c"get_tensor_desc_by_index($module, desc, index, /)\n--\n\nCalls aclGetTensorDescByIndex.\n\nReturns int."),
    method!(c"get_tensor_desc_dim", base_get_tensor_desc_dim, c"acl.get_tensor_desc_dim args parse failed", c"get_tensor_desc_dim($module, desc, index, /)\n--\n\nCalls aclGetTensorDescDim.\n\nReturns int."),
    method!(c"get_tensor_desc_dim_range", manual::base_get_tensor_desc_dim_range, c"acl.get_tensor_desc_dim_range args parse failed", c"get_tensor_desc_dim_range($module, desc, index, dim_range_num, /)\n--\n\nCalls aclGetTensorDescDimRange. None in place of the list on failure; more than 4096 values are refused with 100000.\n\nReturns tuple[list[int] | None, int]."),
    method!(c"get_tensor_desc_dim_v2", base_get_tensor_desc_dim_v2, c"acl.get_tensor_desc_dim_v2 args parse failed", c"get_tensor_desc_dim_v2($module, desc, index, /)\n--\n\nCalls aclGetTensorDescDimV2.\n\nReturns tuple[int, int]."),
    method!(c"get_tensor_desc_element_count", base_get_tensor_desc_element_count, c"acl.get_tensor_desc_element_count args parse failed", c"get_tensor_desc_element_count($module, desc, /)\n--\n\nCalls aclGetTensorDescElementCount.\n\nReturns int."),
    method!(c"get_tensor_desc_format", base_get_tensor_desc_format, c"acl.get_tensor_desc_format args parse failed", c"get_tensor_desc_format($module, desc, /)\n--\n\nCalls aclGetTensorDescFormat.\n\nReturns int."),
    method!(c"get_tensor_desc_name", base_get_tensor_desc_name, c"acl.get_tensor_desc_name args parse failed", c"get_tensor_desc_name($module, desc, /)\n--\n\nCalls aclGetTensorDescName.\n\nReturns str | None."),
    method!(c"get_tensor_desc_num_dims", base_get_tensor_desc_num_dims, c"acl.get_tensor_desc_num_dims args parse failed", c"get_tensor_desc_num_dims($module, desc, /)\n--\n\nCalls aclGetTensorDescNumDims.\n\nReturns int."),
    method!(c"get_tensor_desc_size", base_get_tensor_desc_size, c"acl.get_tensor_desc_size args parse failed", c"get_tensor_desc_size($module, desc, /)\n--\n\nCalls aclGetTensorDescSize.\n\nReturns int."),
    method!(c"get_tensor_desc_type", base_get_tensor_desc_type, c"acl.get_tensor_desc_type args parse failed", c"get_tensor_desc_type($module, desc, /)\n--\n\nCalls aclGetTensorDescType.\n\nReturns int."),
    method!(c"get_version", base_get_version, c"acl.get_version args parse failed", c"get_version($module, /, *args)\n--\n\nCalls aclrtGetVersion.\n\nReturns tuple[int, int, int, int]."),
    method!(c"get_version_str", base_get_version_str, c"acl.get_version_str args parse failed", c"get_version_str($module, pkg_name, /)\n--\n\nCalls aclsysGetVersionStr.\n\nReturns tuple[str, int]."),
    method!(c"init", base_init, c"acl.init args parse failed", c"init($module, config_path=..., /)\n--\n\nCalls aclInit. A second call answers 100002. The argument may be left out, but may not be None.\n\nReturns int."),
    method!(c"set_tensor_const", base_set_tensor_const, c"acl.set_tensor_const args parse failed!", c"set_tensor_const($module, desc, data, length, /)\n--\n\nCalls aclSetTensorConst.\n\nReturns int."),
    method!(c"set_tensor_desc_name", base_set_tensor_desc_name, c"acl.set_tensor_desc_name args parse failed!", c"set_tensor_desc_name($module, desc, name, /)\n--\n\nCalls aclSetTensorDescName.\n\nReturns None."),
    method!(c"set_tensor_dynamic_input", base_set_tensor_dynamic_input, c"acl.set_tensor_dynamic_input args parse failed!", c"set_tensor_dynamic_input($module, desc, dynamic_input_name, /)\n--\n\nCalls aclSetTensorDynamicInput.\n\nReturns int."),
    method!(c"set_tensor_format", base_set_tensor_format, c"acl.set_tensor_format args parse failed!", c"set_tensor_format($module, desc, format, /)\n--\n\nCalls aclSetTensorFormat.\n\nReturns int."),
    method!(c"set_tensor_origin_format", base_set_tensor_origin_format, c"acl.set_tensor_origin_format args parse failed!", c"set_tensor_origin_format($module, desc, format, /)\n--\n\nCalls aclSetTensorOriginFormat.\n\nReturns int."),
    method!(c"set_tensor_origin_shape", base_set_tensor_origin_shape, c"acl.set_tensor_origin_shape args parse failed!", c"set_tensor_origin_shape($module, desc, dims, /)\n--\n\nCalls aclSetTensorOriginShape.\n\nReturns int."),
    method!(c"set_tensor_place_ment", base_set_tensor_place_ment, c"acl.set_tensor_place_ment args parse failed!", c"set_tensor_place_ment($module, desc, mem_type, /)\n--\n\nCalls aclSetTensorPlaceMent.\n\nReturns int."),
    method!(c"set_tensor_shape", base_set_tensor_shape, c"acl.set_tensor_shape args parse failed!", c"set_tensor_shape($module, desc, dims, /)\n--\n\nCalls aclSetTensorShape.\n\nReturns int."),
    method!(c"set_tensor_shape_range", base_set_tensor_shape_range, c"acl.set_tensor_shape_range args parse failed!", c"set_tensor_shape_range($module, desc, dims_range, /)\n--\n\nCalls aclSetTensorShapeRange.\n\nReturns int."),
    method!(c"set_tensor_storage_format", base_set_tensor_storage_format, c"acl.set_tensor_storage_format args parse failed!", c"set_tensor_storage_format($module, desc, format, /)\n--\n\nCalls aclSetTensorStorageFormat.\n\nReturns int."),
    method!(c"set_tensor_storage_shape", base_set_tensor_storage_shape, c"acl.set_tensor_storage_shape args parse failed!", c"set_tensor_storage_shape($module, desc, dims, /)\n--\n\nCalls aclSetTensorStorageShape.\n\nReturns int."),
    method!(c"set_tensor_value_range", base_set_tensor_value_range, c"acl.set_tensor_value_range args parse failed!", c"set_tensor_value_range($module, desc, value_range, /)\n--\n\nCalls aclSetTensorValueRange.\n\nReturns int."),
    method!(c"trans_tensor_desc_format", base_trans_tensor_desc_format, c"acl.trans_tensor_desc_format args parse failed", c"trans_tensor_desc_format($module, src_desc, format, /)\n--\n\nCalls aclTransTensorDescFormat.\n\nReturns tuple[int, int]."),
    method!(c"update_data_buffer", base_update_data_buffer, c"acl.update_data_buffer args parse failed", c"update_data_buffer($module, data_buffer, data, size, /)\n--\n\nCalls aclUpdateDataBuffer.\n\nReturns int."),
    END,
]);

fn rt_binary_get_function<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let bin_handle = call.get::<Pointer>(0)?;
    let kernel_name = call.get::<CString>(1)?;
    let mut func_handle = Pointer::default();
    let ret = c_call!(call.returns aclrtBinaryGetFunction(Pointer, *const c_char, *mut Pointer) -> i32, [bin_handle, kernel_name.as_ptr(), &raw mut func_handle], or NOT_SUPPORTED);
    call.many(&[&func_handle, &ret])
}

fn rt_binary_load<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let binary = call.get::<Pointer>(0)?;
    let mut bin_handle = Pointer::default();
    let ret = c_call!(call.waits aclrtBinaryLoad(Pointer, *mut Pointer) -> i32, [binary, &raw mut bin_handle], or NOT_SUPPORTED);
    call.many(&[&bin_handle, &ret])
}

fn rt_binary_load_from_data<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let mem_addr = call.get::<Pointer>(0)?;
    let length = call.get::<usize>(1)?;
    let options = call.get::<LoadOptionsIn>(2)?;
    let mut bin_handle = Pointer::default();
    let ret = c_call!(call.waits aclrtBinaryLoadFromData(Pointer, usize, Pointer, *mut Pointer) -> i32, [mem_addr, length, options.pointer(), &raw mut bin_handle], or NOT_SUPPORTED);
    call.many(&[&bin_handle, &ret])
}

fn rt_binary_load_from_file<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let bin_path = call.get::<CString>(0)?;
    let options = call.get::<LoadOptionsIn>(1)?;
    let mut bin_handle = Pointer::default();
    let ret = c_call!(call.waits aclrtBinaryLoadFromFile(*const c_char, Pointer, *mut Pointer) -> i32, [bin_path.as_ptr(), options.pointer(), &raw mut bin_handle], or NOT_SUPPORTED);
    call.many(&[&bin_handle, &ret])
}

fn rt_binary_unload<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let bin_handle = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtBinaryUnLoad(Pointer) -> i32, [bin_handle], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_cmo_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let src = call.get::<Pointer>(0)?;
    let size = call.get::<usize>(1)?;
    let cmo_type = call.get::<i32>(2)?;
    let stream = call.get::<Pointer>(3)?;
    let ret = c_call!(call.waits aclrtCmoAsync(Pointer, usize, i32, Pointer) -> i32, [src, size, cmo_type, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_create_binary<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let data = call.get::<Pointer>(0)?;
    let data_len = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclrtCreateBinary(Pointer, usize) -> Pointer, [data, data_len], or Default::default());
    call.one(&ret)
}

fn rt_create_context<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let device_id = call.get::<i32>(0)?;
    let mut context = Pointer::default();
    let ret = c_call!(call.waits aclrtCreateContext(*mut Pointer, i32) -> i32, [&raw mut context, device_id], or NOT_SUPPORTED);
    call.many(&[&context, &ret])
}

fn rt_create_event<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut event = Pointer::default();
    let ret = c_call!(call.returns aclrtCreateEvent(*mut Pointer) -> i32, [&raw mut event], or NOT_SUPPORTED);
    call.many(&[&event, &ret])
}

fn rt_create_event_ex_with_flag<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let flag = call.get::<u32>(0)?;
    let mut event = Pointer::default();
    let ret = c_call!(call.returns aclrtCreateEventExWithFlag(*mut Pointer, u32) -> i32, [&raw mut event, flag], or NOT_SUPPORTED);
    call.many(&[&event, &ret])
}

fn rt_create_event_with_flag<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let flag = call.get::<u32>(0)?;
    let mut event = Pointer::default();
    let ret = c_call!(call.returns aclrtCreateEventWithFlag(*mut Pointer, u32) -> i32, [&raw mut event, flag], or NOT_SUPPORTED);
    call.many(&[&event, &ret])
}

fn rt_create_group_info<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclrtCreateGroupInfo() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn rt_create_notify<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let flag = call.get::<u64>(0)?;
    let mut notify = Pointer::default();
    let ret = c_call!(call.returns aclrtCreateNotify(*mut Pointer, u64) -> i32, [&raw mut notify, flag], or NOT_SUPPORTED);
    call.many(&[&notify, &ret])
}

fn rt_create_stream<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut stream = Pointer::default();
    let ret = c_call!(call.waits aclrtCreateStream(*mut Pointer) -> i32, [&raw mut stream], or NOT_SUPPORTED);
    call.many(&[&stream, &ret])
}

fn rt_create_stream_with_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let priority = call.get::<u32>(0)?;
    let flag = call.get::<u32>(1)?;
    let mut stream = Pointer::default();
    let ret = c_call!(call.waits aclrtCreateStreamWithConfig(*mut Pointer, u32, u32) -> i32, [&raw mut stream, priority, flag], or NOT_SUPPORTED);
    call.many(&[&stream, &ret])
}

fn rt_ctx_get_sys_param_opt<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let opt = call.get::<i32>(0)?;
    let mut value = i64::default();
    let ret = c_call!(call.returns aclrtCtxGetSysParamOpt(i32, *mut i64) -> i32, [opt, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn rt_ctx_set_sys_param_opt<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let opt = call.get::<i32>(0)?;
    let value = call.get::<i64>(1)?;
    let ret = c_call!(call.returns aclrtCtxSetSysParamOpt(i32, i64) -> i32, [opt, value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_destroy_binary<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let binary = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclrtDestroyBinary(Pointer) -> i32, [binary], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_destroy_context<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let context = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtDestroyContext(Pointer) -> i32, [context], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_destroy_event<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let event = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtDestroyEvent(Pointer) -> i32, [event], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_destroy_group_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let group_info = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclrtDestroyGroupInfo(Pointer) -> i32, [group_info], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_destroy_notify<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let notify = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtDestroyNotify(Pointer) -> i32, [notify], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_destroy_stream<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtDestroyStream(Pointer) -> i32, [stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_destroy_stream_force<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtDestroyStreamForce(Pointer) -> i32, [stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_device_can_access_peer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let device_id = call.get::<i32>(0)?;
    let peer_device_id = call.get::<i32>(1)?;
    let mut can_access_peer = i32::default();
    let ret = c_call!(call.returns aclrtDeviceCanAccessPeer(*mut i32, i32, i32) -> i32, [&raw mut can_access_peer, device_id, peer_device_id], or NOT_SUPPORTED);
    call.many(&[&can_access_peer, &ret])
}

fn rt_device_disable_peer_access<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let peer_device_id = call.get::<i32>(0)?;
    let ret = c_call!(call.returns aclrtDeviceDisablePeerAccess(i32) -> i32, [peer_device_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_device_enable_peer_access<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let peer_device_id = call.get::<i32>(0)?;
    let flags = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclrtDeviceEnablePeerAccess(i32, u32) -> i32, [peer_device_id, flags], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_device_get_bare_tgid<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut pid = i32::default();
    let ret = c_call!(call.returns aclrtDeviceGetBareTgid(*mut i32) -> i32, [&raw mut pid], or NOT_SUPPORTED);
    call.many(&[&pid, &ret])
}

fn rt_device_get_limit<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let limit = call.get::<i32>(0)?;
    let mut value = usize::default();
    let ret = c_call!(call.returns aclrtDeviceGetLimit(i32, *mut usize) -> i32, [limit, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn rt_device_get_stream_priority_range<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut min = i32::default();
    let mut max = i32::default();
    let ret = c_call!(call.returns aclrtDeviceGetStreamPriorityRange(*mut i32, *mut i32) -> i32, [&raw mut min, &raw mut max], or NOT_SUPPORTED);
    call.many(&[&min, &max, &ret])
}

fn rt_device_peer_access_status<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let device_id = call.get::<i32>(0)?;
    let peer_device_id = call.get::<i32>(1)?;
    let mut status = i32::default();
    let ret = c_call!(call.returns aclrtDevicePeerAccessStatus(i32, i32, *mut i32) -> i32, [device_id, peer_device_id, &raw mut status], or NOT_SUPPORTED);
    call.many(&[&status, &ret])
}

fn rt_device_set_limit<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let limit = call.get::<i32>(0)?;
    let value = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclrtDeviceSetLimit(i32, usize) -> i32, [limit, value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_event_elapsed_time<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let start = call.get::<Pointer>(0)?;
    let end = call.get::<Pointer>(1)?;
    let mut ms = f32::default();
    let ret = c_call!(call.returns aclrtEventElapsedTime(*mut f32, Pointer, Pointer) -> i32, [&raw mut ms, start, end], or NOT_SUPPORTED);
    call.many(&[&ms, &ret])
}

fn rt_event_get_timestamp<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let event = call.get::<Pointer>(0)?;
    let mut timestamp = u64::default();
    let ret = c_call!(call.returns aclrtEventGetTimestamp(Pointer, *mut u64) -> i32, [event, &raw mut timestamp], or NOT_SUPPORTED);
    call.many(&[&timestamp, &ret])
}

fn rt_free<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let dev_ptr = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtFree(Pointer) -> i32, [dev_ptr], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_free_host<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let host_ptr = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtFreeHost(Pointer) -> i32, [host_ptr], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_free_physical<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let handle = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtFreePhysical(Pointer) -> i32, [handle], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_get_all_group_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let group_info = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclrtGetAllGroupInfo(Pointer) -> i32, [group_info], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_get_context<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut context = Pointer::default();
    let ret = c_call!(call.returns aclrtGetCurrentContext(*mut Pointer) -> i32, [&raw mut context], or NOT_SUPPORTED);
    call.many(&[&context, &ret])
}

fn rt_get_device<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut device_id = i32::default();
    let ret = c_call!(call.returns aclrtGetDevice(*mut i32) -> i32, [&raw mut device_id], or NOT_SUPPORTED);
    call.many(&[&device_id, &ret])
}

fn rt_get_device_capability<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let device_id = call.get::<i32>(0)?;
    let dev_feature_type = call.get::<i32>(1)?;
    let mut value = i32::default();
    let ret = c_call!(call.returns aclrtGetDeviceCapability(i32, i32, *mut i32) -> i32, [device_id, dev_feature_type, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn rt_get_device_count<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut count = u32::default();
    let ret = c_call!(call.returns aclrtGetDeviceCount(*mut u32) -> i32, [&raw mut count], or NOT_SUPPORTED);
    call.many(&[&count, &ret])
}

fn rt_get_device_id_from_exception_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let info = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclrtGetDeviceIdFromExceptionInfo(Pointer) -> u32, [info], or Default::default());
    call.one(&ret)
}

fn rt_get_device_res_limit<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let device_id = call.get::<i32>(0)?;
    let type_ = call.get::<i32>(1)?;
    let mut value = u32::default();
    let ret = c_call!(call.returns aclrtGetDeviceResLimit(i32, i32, *mut u32) -> i32, [device_id, type_, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn rt_get_device_sat_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut mode = i32::default();
    let ret = c_call!(call.returns aclrtGetDeviceSatMode(*mut i32) -> i32, [&raw mut mode], or NOT_SUPPORTED);
    call.many(&[&mode, &ret])
}

fn rt_get_device_utilization_rate<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let device_id = call.get::<i32>(0)?;
    let mut utilization_info = Record::<UtilizationInfo>::zeroed();
    let ret = c_call!(call.returns aclrtGetDeviceUtilizationRate(i32, Pointer) -> i32, [device_id, utilization_info.pointer()], or NOT_SUPPORTED);
    call.many(&[&utilization_info.described(ret), &ret])
}

fn rt_get_devices_topo<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let device_id = call.get::<u32>(0)?;
    let other_device_id = call.get::<u32>(1)?;
    let mut value = u64::default();
    let ret = c_call!(call.returns aclrtGetDevicesTopo(u32, u32, *mut u64) -> i32, [device_id, other_device_id, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn rt_get_error_code_from_exception_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let info = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclrtGetErrorCodeFromExceptionInfo(Pointer) -> u32, [info], or Default::default());
    call.one(&ret)
}

fn rt_get_event_avail_num<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut event_count = u32::default();
    let ret = c_call!(call.returns aclrtGetEventAvailNum(*mut u32) -> i32, [&raw mut event_count], or NOT_SUPPORTED);
    call.many(&[&event_count, &ret])
}

fn rt_get_event_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let event = call.get::<Pointer>(0)?;
    let mut event_id = u32::default();
    let ret = c_call!(call.returns aclrtGetEventId(Pointer, *mut u32) -> i32, [event, &raw mut event_id], or NOT_SUPPORTED);
    call.many(&[&event_id, &ret])
}

fn rt_get_function_addr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let func_handle = call.get::<Pointer>(0)?;
    let mut aic_addr = Pointer::default();
    let mut aiv_addr = Pointer::default();
    let ret = c_call!(call.returns aclrtGetFunctionAddr(Pointer, *mut Pointer, *mut Pointer) -> i32, [func_handle, &raw mut aic_addr, &raw mut aiv_addr], or NOT_SUPPORTED);
    call.many(&[&aic_addr, &aiv_addr, &ret])
}

fn rt_get_function_name<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let func_handle = call.get::<Pointer>(0)?;
    let max_len = call.get::<u32>(1)?;
    let mut func_name = TextBuffer::new(wide(max_len));
    let ret = if func_name.is_refused() {
        call.refuse("acl.rt.get_function_name: the length asked for is over the limit of one MiB")
    } else {
        c_call!(call.returns aclrtGetFunctionName(Pointer, u32, Pointer) -> i32, [func_handle, max_len, func_name.pointer()], or NOT_SUPPORTED)
    };
    call.many(&[&func_name.text(ret), &ret])
}

fn rt_get_last_error<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let level = call.get::<i32>(0)?;
    let ret = c_call!(call.returns aclrtGetLastError(i32) -> i32, [level], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_get_mem_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let attr = call.get::<i32>(0)?;
    let mut free = usize::default();
    let mut total = usize::default();
    let ret = c_call!(call.returns aclrtGetMemInfo(i32, *mut usize, *mut usize) -> i32, [attr, &raw mut free, &raw mut total], or NOT_SUPPORTED);
    call.many(&[&free, &total, &ret])
}

fn rt_get_memcpy_desc_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let kind = call.get::<i32>(0)?;
    let mut desc_size = usize::default();
    let ret = c_call!(call.returns aclrtGetMemcpyDescSize(i32, *mut usize) -> i32, [kind, &raw mut desc_size], or NOT_SUPPORTED);
    call.many(&[&desc_size, &ret])
}

fn rt_get_op_execute_timeout<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut time_out_ms = u32::default();
    let ret = c_call!(call.returns aclrtGetOpExecuteTimeout(*mut u32) -> i32, [&raw mut time_out_ms], or NOT_SUPPORTED);
    call.many(&[&time_out_ms, &ret])
}

fn rt_get_op_timeout_interval<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut interval = u64::default();
    let ret = c_call!(call.returns aclrtGetOpTimeOutInterval(*mut u64) -> i32, [&raw mut interval], or NOT_SUPPORTED);
    call.many(&[&interval, &ret])
}

fn rt_get_overflow_status<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let output_addr = call.get::<Pointer>(0)?;
    let output_size = call.get::<usize>(1)?;
    let stream = call.get::<Pointer>(2)?;
    let ret = c_call!(call.waits aclrtGetOverflowStatus(Pointer, usize, Pointer) -> i32, [output_addr, output_size, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_get_res_in_current_thread<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let type_ = call.get::<i32>(0)?;
    let mut value = u32::default();
    let ret = c_call!(call.returns aclrtGetResInCurrentThread(i32, *mut u32) -> i32, [type_, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn rt_get_run_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut run_mode = i32::default();
    let ret = c_call!(call.returns aclrtGetRunMode(*mut i32) -> i32, [&raw mut run_mode], or NOT_SUPPORTED);
    call.many(&[&run_mode, &ret])
}

fn rt_get_stream_available_num<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut stream_count = u32::default();
    let ret = c_call!(call.returns aclrtGetStreamAvailableNum(*mut u32) -> i32, [&raw mut stream_count], or NOT_SUPPORTED);
    call.many(&[&stream_count, &ret])
}

fn rt_get_stream_id_from_exception_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let info = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclrtGetStreamIdFromExceptionInfo(Pointer) -> u32, [info], or Default::default());
    call.one(&ret)
}

fn rt_get_stream_res_limit<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream = call.get::<Pointer>(0)?;
    let type_ = call.get::<i32>(1)?;
    let mut value = u32::default();
    let ret = c_call!(call.waits aclrtGetStreamResLimit(Pointer, i32, *mut u32) -> i32, [stream, type_, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn rt_get_sys_param_opt<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let opt = call.get::<i32>(0)?;
    let mut value = i64::default();
    let ret = c_call!(call.returns aclrtGetSysParamOpt(i32, *mut i64) -> i32, [opt, &raw mut value], or NOT_SUPPORTED);
    call.many(&[&value, &ret])
}

fn rt_get_task_id_from_exception_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let info = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclrtGetTaskIdFromExceptionInfo(Pointer) -> u32, [info], or Default::default());
    call.one(&ret)
}

fn rt_get_thread_id_from_exception_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let info = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclrtGetThreadIdFromExceptionInfo(Pointer) -> u32, [info], or Default::default());
    call.one(&ret)
}

fn rt_get_thread_last_task_id<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut task_id = u32::default();
    let ret = c_call!(call.returns aclrtGetThreadLastTaskId(*mut u32) -> i32, [&raw mut task_id], or NOT_SUPPORTED);
    call.many(&[&task_id, &ret])
}

fn rt_host_get_device_pointer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let ptr_host = call.get::<Pointer>(0)?;
    let flag = call.get::<u32>(1)?;
    let mut ptr_device = Pointer::default();
    let ret = c_call!(call.returns aclrtHostGetDevicePointer(Pointer, *mut Pointer, u32) -> i32, [ptr_host, &raw mut ptr_device, flag], or NOT_SUPPORTED);
    call.many(&[&ptr_device, &ret])
}

fn rt_host_register<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let ptr = call.get::<Pointer>(0)?;
    let size = call.get::<u64>(1)?;
    let type_ = call.get::<i32>(2)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtHostRegister(Pointer, u64, i32, *mut Pointer) -> i32, [ptr, size, type_, &raw mut dev_ptr], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
}

fn rt_host_register_v2<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let ptr = call.get::<Pointer>(0)?;
    let size = call.get::<u64>(1)?;
    let flag = call.get::<u32>(2)?;
    let ret = c_call!(call.waits aclrtHostRegisterV2(Pointer, u64, u32) -> i32, [ptr, size, flag], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_host_unregister<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let ptr = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtHostUnregister(Pointer) -> i32, [ptr], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_ipc_mem_close<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let key = call.get::<CString>(0)?;
    let ret = c_call!(call.returns aclrtIpcMemClose(*const c_char) -> i32, [key.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_ipc_mem_import_by_key<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let key = call.get::<CString>(0)?;
    let flags = call.get::<u64>(1)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.returns aclrtIpcMemImportByKey(*mut Pointer, *const c_char, u64) -> i32, [&raw mut dev_ptr, key.as_ptr(), flags], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
}

fn rt_ipc_mem_set_import_pid<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let key = call.get::<CString>(0)?;
    let pids = call.get::<Vec<i32>>(1)?;
    let ret = c_call!(call.returns aclrtIpcMemSetImportPid(*const c_char, *const i32, usize) -> i32, [key.as_ptr(), pids.as_ptr(), saturated(pids.count())], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_kernel_args_append<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let args_handle = call.get::<Pointer>(0)?;
    let param = call.get::<Pointer>(1)?;
    let param_size = call.get::<usize>(2)?;
    let mut param_handle = Pointer::default();
    let ret = c_call!(call.returns aclrtKernelArgsAppend(Pointer, Pointer, usize, *mut Pointer) -> i32, [args_handle, param, param_size, &raw mut param_handle], or NOT_SUPPORTED);
    call.many(&[&param_handle, &ret])
}

fn rt_kernel_args_append_place_holder<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let args_handle = call.get::<Pointer>(0)?;
    let mut param_handle = Pointer::default();
    let ret = c_call!(call.returns aclrtKernelArgsAppendPlaceHolder(Pointer, *mut Pointer) -> i32, [args_handle, &raw mut param_handle], or NOT_SUPPORTED);
    call.many(&[&param_handle, &ret])
}

fn rt_kernel_args_finalize<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let args_handle = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtKernelArgsFinalize(Pointer) -> i32, [args_handle], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_kernel_args_get_handle_mem_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let func_handle = call.get::<Pointer>(0)?;
    let mut mem_size = usize::default();
    let ret = c_call!(call.returns aclrtKernelArgsGetHandleMemSize(Pointer, *mut usize) -> i32, [func_handle, &raw mut mem_size], or NOT_SUPPORTED);
    call.many(&[&mem_size, &ret])
}

fn rt_kernel_args_get_mem_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let func_handle = call.get::<Pointer>(0)?;
    let user_args_size = call.get::<usize>(1)?;
    let mut actual_args_size = usize::default();
    let ret = c_call!(call.returns aclrtKernelArgsGetMemSize(Pointer, usize, *mut usize) -> i32, [func_handle, user_args_size, &raw mut actual_args_size], or NOT_SUPPORTED);
    call.many(&[&actual_args_size, &ret])
}

fn rt_kernel_args_get_place_holder_buffer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let args_handle = call.get::<Pointer>(0)?;
    let param_handle = call.get::<Pointer>(1)?;
    let data_size = call.get::<usize>(2)?;
    let mut buffer_addr = Pointer::default();
    let ret = c_call!(call.returns aclrtKernelArgsGetPlaceHolderBuffer(Pointer, Pointer, usize, *mut Pointer) -> i32, [args_handle, param_handle, data_size, &raw mut buffer_addr], or NOT_SUPPORTED);
    call.many(&[&buffer_addr, &ret])
}

fn rt_kernel_args_init<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let func_handle = call.get::<Pointer>(0)?;
    let mut args_handle = Pointer::default();
    let ret = c_call!(call.waits aclrtKernelArgsInit(Pointer, *mut Pointer) -> i32, [func_handle, &raw mut args_handle], or NOT_SUPPORTED);
    call.many(&[&args_handle, &ret])
}

fn rt_kernel_args_init_by_user_mem<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let func_handle = call.get::<Pointer>(0)?;
    let args_handle = call.get::<Pointer>(1)?;
    let user_host_mem = call.get::<Pointer>(2)?;
    let actual_args_size = call.get::<usize>(3)?;
    let ret = c_call!(call.waits aclrtKernelArgsInitByUserMem(Pointer, Pointer, Pointer, usize) -> i32, [func_handle, args_handle, user_host_mem, actual_args_size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_kernel_args_para_update<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let args_handle = call.get::<Pointer>(0)?;
    let param_handle = call.get::<Pointer>(1)?;
    let param = call.get::<Pointer>(2)?;
    let param_size = call.get::<usize>(3)?;
    let ret = c_call!(call.returns aclrtKernelArgsParaUpdate(Pointer, Pointer, Pointer, usize) -> i32, [args_handle, param_handle, param, param_size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_launch_kernel<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let func_handle = call.get::<Pointer>(0)?;
    let num_blocks = call.get::<u32>(1)?;
    let args_data = call.get::<Pointer>(2)?;
    let args_size = call.get::<usize>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits aclrtLaunchKernel(Pointer, u32, Pointer, usize, Pointer) -> i32, [func_handle, num_blocks, args_data, args_size, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_launch_kernel_with_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let func_handle = call.get::<Pointer>(0)?;
    let num_blocks = call.get::<u32>(1)?;
    let stream = call.get::<Pointer>(2)?;
    let cfg = call.get::<LaunchConfigIn>(3)?;
    let args_handle = call.get::<Pointer>(4)?;
    let reserve = call.get::<Pointer>(5)?;
    let ret = c_call!(call.waits aclrtLaunchKernelWithConfig(Pointer, u32, Pointer, Pointer, Pointer, Pointer) -> i32, [func_handle, num_blocks, stream, cfg.pointer(), args_handle, reserve], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_launch_kernel_with_host_args<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(8, 8)?;
    let func_handle = call.get::<Pointer>(0)?;
    let num_blocks = call.get::<u32>(1)?;
    let stream = call.get::<Pointer>(2)?;
    let cfg = call.get::<LaunchConfigIn>(3)?;
    let host_args_ptr = call.get::<Pointer>(4)?;
    let host_args_size = call.get::<usize>(5)?;
    let place_holder_list = call.get::<PlaceHoldersIn>(6)?;
    let place_holder_num = call.get::<usize>(7)?;
    let ret = if wide(place_holder_num) > place_holder_list.count() {
        call.refuse("acl.rt.launch_kernel_with_host_args: place_holder_num <= count(place_holder_list) does not hold")
    } else {
        c_call!(call.waits aclrtLaunchKernelWithHostArgs(Pointer, u32, Pointer, Pointer, Pointer, usize, Pointer, usize) -> i32, [func_handle, num_blocks, stream, cfg.pointer(), host_args_ptr, host_args_size, place_holder_list.pointer(), place_holder_num], or NOT_SUPPORTED)
    };
    call.one(&ret)
}

fn rt_malloc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let size = call.get::<usize>(0)?;
    let policy = call.get::<i32>(1)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtMalloc(*mut Pointer, usize, i32) -> i32, [&raw mut dev_ptr, size, policy], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
}

fn rt_malloc_align32<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let size = call.get::<usize>(0)?;
    let policy = call.get::<i32>(1)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtMallocAlign32(*mut Pointer, usize, i32) -> i32, [&raw mut dev_ptr, size, policy], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
}

fn rt_malloc_cached<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let size = call.get::<usize>(0)?;
    let policy = call.get::<i32>(1)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtMallocCached(*mut Pointer, usize, i32) -> i32, [&raw mut dev_ptr, size, policy], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
}

fn rt_malloc_for_task_scheduler<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let size = call.get::<usize>(0)?;
    let policy = call.get::<i32>(1)?;
    let cfg = call.get::<MallocConfigIn>(2)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtMallocForTaskScheduler(*mut Pointer, usize, i32, Pointer) -> i32, [&raw mut dev_ptr, size, policy, cfg.pointer()], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
}

fn rt_malloc_host<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let size = call.get::<usize>(0)?;
    let mut host_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtMallocHost(*mut Pointer, usize) -> i32, [&raw mut host_ptr, size], or NOT_SUPPORTED);
    call.many(&[&host_ptr, &ret])
}

fn rt_malloc_host_with_cfg<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let size = call.get::<u64>(0)?;
    let cfg = call.get::<MallocConfigIn>(1)?;
    let mut host_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtMallocHostWithCfg(*mut Pointer, u64, Pointer) -> i32, [&raw mut host_ptr, size, cfg.pointer()], or NOT_SUPPORTED);
    call.many(&[&host_ptr, &ret])
}

fn rt_malloc_physical<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let size = call.get::<usize>(0)?;
    let prop = call.get::<PhysicalPropertiesIn>(1)?;
    let flags = call.get::<u64>(2)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.waits aclrtMallocPhysical(*mut Pointer, usize, Pointer, u64) -> i32, [&raw mut handle, size, prop.pointer(), flags], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn rt_malloc_with_cfg<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let size = call.get::<usize>(0)?;
    let policy = call.get::<i32>(1)?;
    let cfg = call.get::<MallocConfigIn>(2)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtMallocWithCfg(*mut Pointer, usize, i32, Pointer) -> i32, [&raw mut dev_ptr, size, policy, cfg.pointer()], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
}

fn rt_map_mem<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let vir_ptr = call.get::<Pointer>(0)?;
    let size = call.get::<usize>(1)?;
    let offset = call.get::<usize>(2)?;
    let handle = call.get::<Pointer>(3)?;
    let flags = call.get::<u64>(4)?;
    let ret = c_call!(call.waits aclrtMapMem(Pointer, usize, usize, Pointer, u64) -> i32, [vir_ptr, size, offset, handle, flags], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_mem_export_to_shareable_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let handle = call.get::<Pointer>(0)?;
    let handle_type = call.get::<i32>(1)?;
    let flags = call.get::<u64>(2)?;
    let mut shareable_handle = u64::default();
    let ret = c_call!(call.returns aclrtMemExportToShareableHandle(Pointer, i32, u64, *mut u64) -> i32, [handle, handle_type, flags, &raw mut shareable_handle], or NOT_SUPPORTED);
    call.many(&[&shareable_handle, &ret])
}

fn rt_mem_flush<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let dev_ptr = call.get::<Pointer>(0)?;
    let size = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclrtMemFlush(Pointer, usize) -> i32, [dev_ptr, size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_mem_get_allocation_granularity<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let prop = call.get::<PhysicalPropertiesIn>(0)?;
    let option = call.get::<i32>(1)?;
    let mut granularity = usize::default();
    let ret = c_call!(call.returns aclrtMemGetAllocationGranularity(Pointer, i32, *mut usize) -> i32, [prop.pointer(), option, &raw mut granularity], or NOT_SUPPORTED);
    call.many(&[&granularity, &ret])
}

fn rt_mem_import_from_shareable_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let shareable_handle = call.get::<u64>(0)?;
    let device_id = call.get::<i32>(1)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.returns aclrtMemImportFromShareableHandle(u64, i32, *mut Pointer) -> i32, [shareable_handle, device_id, &raw mut handle], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn rt_mem_invalidate<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let dev_ptr = call.get::<Pointer>(0)?;
    let size = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclrtMemInvalidate(Pointer, usize) -> i32, [dev_ptr, size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_mem_uce_repair<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let device_id = call.get::<i32>(0)?;
    let infos = call.get::<UceInfosIn>(1)?;
    let ret = c_call!(call.returns aclrtMemUceRepair(i32, Pointer, usize) -> i32, [device_id, infos.pointer(), saturated(infos.count())], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_memcpy<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let dst = call.get::<Pointer>(0)?;
    let dest_max = call.get::<usize>(1)?;
    let src = call.get::<Pointer>(2)?;
    let count = call.get::<usize>(3)?;
    let kind = call.get::<i32>(4)?;
    let ret = c_call!(call.waits aclrtMemcpy(Pointer, usize, Pointer, usize, i32) -> i32, [dst, dest_max, src, count, kind], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_memcpy2d<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let dst = call.get::<Pointer>(0)?;
    let dpitch = call.get::<usize>(1)?;
    let src = call.get::<Pointer>(2)?;
    let spitch = call.get::<usize>(3)?;
    let width = call.get::<usize>(4)?;
    let height = call.get::<usize>(5)?;
    let kind = call.get::<i32>(6)?;
    let ret = c_call!(call.waits aclrtMemcpy2d(Pointer, usize, Pointer, usize, usize, usize, i32) -> i32, [dst, dpitch, src, spitch, width, height, kind], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_memcpy2d_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(8, 8)?;
    let dst = call.get::<Pointer>(0)?;
    let dpitch = call.get::<usize>(1)?;
    let src = call.get::<Pointer>(2)?;
    let spitch = call.get::<usize>(3)?;
    let width = call.get::<usize>(4)?;
    let height = call.get::<usize>(5)?;
    let kind = call.get::<i32>(6)?;
    let stream = call.get::<Pointer>(7)?;
    let ret = c_call!(call.waits aclrtMemcpy2dAsync(Pointer, usize, Pointer, usize, usize, usize, i32, Pointer) -> i32, [dst, dpitch, src, spitch, width, height, kind, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_memcpy_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let dst = call.get::<Pointer>(0)?;
    let dest_max = call.get::<usize>(1)?;
    let src = call.get::<Pointer>(2)?;
    let count = call.get::<usize>(3)?;
    let kind = call.get::<i32>(4)?;
    let stream = call.get::<Pointer>(5)?;
    let ret = c_call!(call.waits aclrtMemcpyAsync(Pointer, usize, Pointer, usize, i32, Pointer) -> i32, [dst, dest_max, src, count, kind, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_memcpy_async_with_condition<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let dst = call.get::<Pointer>(0)?;
    let dest_max = call.get::<usize>(1)?;
    let src = call.get::<Pointer>(2)?;
    let count = call.get::<usize>(3)?;
    let kind = call.get::<i32>(4)?;
    let stream = call.get::<Pointer>(5)?;
    let ret = c_call!(call.waits aclrtMemcpyAsyncWithCondition(Pointer, usize, Pointer, usize, i32, Pointer) -> i32, [dst, dest_max, src, count, kind, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_memcpy_async_with_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let desc = call.get::<Pointer>(0)?;
    let kind = call.get::<i32>(1)?;
    let stream = call.get::<Pointer>(2)?;
    let ret = c_call!(call.waits aclrtMemcpyAsyncWithDesc(Pointer, i32, Pointer) -> i32, [desc, kind, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_memset<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let dev_ptr = call.get::<Pointer>(0)?;
    let max_count = call.get::<usize>(1)?;
    let value = call.get::<i32>(2)?;
    let count = call.get::<usize>(3)?;
    let ret = c_call!(call.waits aclrtMemset(Pointer, usize, i32, usize) -> i32, [dev_ptr, max_count, value, count], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_memset_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let dev_ptr = call.get::<Pointer>(0)?;
    let max_count = call.get::<usize>(1)?;
    let value = call.get::<i32>(2)?;
    let count = call.get::<usize>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits aclrtMemsetAsync(Pointer, usize, i32, usize, Pointer) -> i32, [dev_ptr, max_count, value, count, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_notify_batch_reset<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let notifies = call.get::<Vec<Pointer>>(0)?;
    let ret = c_call!(call.waits aclrtNotifyBatchReset(*const Pointer, usize) -> i32, [notifies.as_ptr(), saturated(notifies.count())], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_notify_get_export_key<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let notify = call.get::<Pointer>(0)?;
    let len = call.get::<usize>(1)?;
    let flags = call.get::<u64>(2)?;
    let mut key = TextBuffer::new(wide(len));
    let ret = if key.is_refused() {
        call.refuse("acl.rt.notify_get_export_key: the length asked for is over the limit of one MiB")
    } else {
        c_call!(call.returns aclrtNotifyGetExportKey(Pointer, Pointer, usize, u64) -> i32, [notify, key.pointer(), len, flags], or NOT_SUPPORTED)
    };
    call.many(&[&key.text(ret), &ret])
}

fn rt_notify_import_by_key<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let key = call.get::<CString>(0)?;
    let flags = call.get::<u64>(1)?;
    let mut notify = Pointer::default();
    let ret = c_call!(call.returns aclrtNotifyImportByKey(*mut Pointer, *const c_char, u64) -> i32, [&raw mut notify, key.as_ptr(), flags], or NOT_SUPPORTED);
    call.many(&[&notify, &ret])
}

fn rt_notify_set_import_pid<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let notify = call.get::<Pointer>(0)?;
    let pid = call.get::<Vec<i32>>(1)?;
    let ret = c_call!(call.returns aclrtNotifySetImportPid(Pointer, *const i32, usize) -> i32, [notify, pid.as_ptr(), saturated(pid.count())], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_peek_at_last_error<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let level = call.get::<i32>(0)?;
    let ret = c_call!(call.returns aclrtPeekAtLastError(i32) -> i32, [level], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_pointer_get_attributes<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let ptr = call.get::<Pointer>(0)?;
    let mut attributes = Record::<PointerAttributes>::zeroed();
    let ret = c_call!(call.returns aclrtPointerGetAttributes(Pointer, Pointer) -> i32, [ptr, attributes.pointer()], or NOT_SUPPORTED);
    call.many(&[&attributes.described(ret), &ret])
}

fn rt_process_report<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let timeout = call.get::<i32>(0)?;
    let ret = c_call!(call.waits aclrtProcessReport(i32) -> i32, [timeout], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_query_device_status<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let device_id = call.get::<i32>(0)?;
    let mut device_status = i32::default();
    let ret = c_call!(call.returns aclrtQueryDeviceStatus(i32, *mut i32) -> i32, [device_id, &raw mut device_status], or NOT_SUPPORTED);
    call.many(&[&device_status, &ret])
}

fn rt_query_event<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let event = call.get::<Pointer>(0)?;
    let mut status = i32::default();
    let ret = c_call!(call.waits aclrtQueryEvent(Pointer, *mut i32) -> i32, [event, &raw mut status], or NOT_SUPPORTED);
    call.many(&[&status, &ret])
}

fn rt_query_event_status<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let event = call.get::<Pointer>(0)?;
    let mut status = i32::default();
    let ret = c_call!(call.waits aclrtQueryEventStatus(Pointer, *mut i32) -> i32, [event, &raw mut status], or NOT_SUPPORTED);
    call.many(&[&status, &ret])
}

fn rt_query_event_wait_status<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let event = call.get::<Pointer>(0)?;
    let mut status = i32::default();
    let ret = c_call!(call.waits aclrtQueryEventWaitStatus(Pointer, *mut i32) -> i32, [event, &raw mut status], or NOT_SUPPORTED);
    call.many(&[&status, &ret])
}

fn rt_record_event<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let event = call.get::<Pointer>(0)?;
    let stream = call.get::<Pointer>(1)?;
    let ret = c_call!(call.waits aclrtRecordEvent(Pointer, Pointer) -> i32, [event, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_record_notify<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let notify = call.get::<Pointer>(0)?;
    let stream = call.get::<Pointer>(1)?;
    let ret = c_call!(call.waits aclrtRecordNotify(Pointer, Pointer) -> i32, [notify, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_reduce_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let dst = call.get::<Pointer>(0)?;
    let src = call.get::<Pointer>(1)?;
    let count = call.get::<u64>(2)?;
    let kind = call.get::<i32>(3)?;
    let type_ = call.get::<i32>(4)?;
    let stream = call.get::<Pointer>(5)?;
    let reserve = call.get::<Pointer>(6)?;
    let ret = c_call!(call.waits aclrtReduceAsync(Pointer, Pointer, u64, i32, i32, Pointer, Pointer) -> i32, [dst, src, count, kind, type_, stream, reserve], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_register_cpu_func<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let bin_handle = call.get::<Pointer>(0)?;
    let func_name = call.get::<CString>(1)?;
    let kernel_name = call.get::<CString>(2)?;
    let mut func_handle = Pointer::default();
    let ret = c_call!(call.returns aclrtRegisterCpuFunc(Pointer, *const c_char, *const c_char, *mut Pointer) -> i32, [bin_handle, func_name.as_ptr(), kernel_name.as_ptr(), &raw mut func_handle], or NOT_SUPPORTED);
    call.many(&[&func_handle, &ret])
}

fn rt_release_mem_address<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let vir_ptr = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtReleaseMemAddress(Pointer) -> i32, [vir_ptr], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_reserve_mem_address<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let size = call.get::<usize>(0)?;
    let alignment = call.get::<usize>(1)?;
    let expect_ptr = call.get::<Pointer>(2)?;
    let flags = call.get::<u64>(3)?;
    let mut vir_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtReserveMemAddress(*mut Pointer, usize, usize, Pointer, u64) -> i32, [&raw mut vir_ptr, size, alignment, expect_ptr, flags], or NOT_SUPPORTED);
    call.many(&[&vir_ptr, &ret])
}

fn rt_reset_device<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let device_id = call.get::<i32>(0)?;
    let ret = c_call!(call.waits aclrtResetDevice(i32) -> i32, [device_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_reset_device_force<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let device_id = call.get::<i32>(0)?;
    let ret = c_call!(call.waits aclrtResetDeviceForce(i32) -> i32, [device_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_reset_device_res_limit<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let device_id = call.get::<i32>(0)?;
    let ret = c_call!(call.waits aclrtResetDeviceResLimit(i32) -> i32, [device_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_reset_event<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let event = call.get::<Pointer>(0)?;
    let stream = call.get::<Pointer>(1)?;
    let ret = c_call!(call.waits aclrtResetEvent(Pointer, Pointer) -> i32, [event, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_reset_overflow_status<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtResetOverflowStatus(Pointer) -> i32, [stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_reset_stream_res_limit<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtResetStreamResLimit(Pointer) -> i32, [stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_context<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let context = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtSetCurrentContext(Pointer) -> i32, [context], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_device<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let device_id = call.get::<i32>(0)?;
    let ret = c_call!(call.waits aclrtSetDevice(i32) -> i32, [device_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_device_res_limit<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let device_id = call.get::<i32>(0)?;
    let type_ = call.get::<i32>(1)?;
    let value = call.get::<u32>(2)?;
    let ret = c_call!(call.returns aclrtSetDeviceResLimit(i32, i32, u32) -> i32, [device_id, type_, value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_device_sat_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let mode = call.get::<i32>(0)?;
    let ret = c_call!(call.returns aclrtSetDeviceSatMode(i32) -> i32, [mode], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_group<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let group_id = call.get::<i32>(0)?;
    let ret = c_call!(call.returns aclrtSetGroup(i32) -> i32, [group_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_memcpy_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let desc = call.get::<Pointer>(0)?;
    let kind = call.get::<i32>(1)?;
    let src = call.get::<Pointer>(2)?;
    let dst = call.get::<Pointer>(3)?;
    let count = call.get::<usize>(4)?;
    let config = call.get::<Pointer>(5)?;
    let ret = c_call!(call.returns aclrtSetMemcpyDesc(Pointer, i32, Pointer, Pointer, usize, Pointer) -> i32, [desc, kind, src, dst, count, config], or NOT_SUPPORTED);
    call.many(&[&desc, &ret])
}

fn rt_set_op_execute_time_out<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let timeout = call.get::<u32>(0)?;
    let ret = c_call!(call.returns aclrtSetOpExecuteTimeOut(u32) -> i32, [timeout], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_op_wait_timeout<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let timeout = call.get::<u32>(0)?;
    let ret = c_call!(call.returns aclrtSetOpWaitTimeout(u32) -> i32, [timeout], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_stream_overflow_switch<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream = call.get::<Pointer>(0)?;
    let flag = call.get::<u32>(1)?;
    let ret = c_call!(call.waits aclrtSetStreamOverflowSwitch(Pointer, u32) -> i32, [stream, flag], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_stream_res_limit<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let stream = call.get::<Pointer>(0)?;
    let type_ = call.get::<i32>(1)?;
    let value = call.get::<u32>(2)?;
    let ret = c_call!(call.waits aclrtSetStreamResLimit(Pointer, i32, u32) -> i32, [stream, type_, value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_set_sys_param_opt<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let opt = call.get::<i32>(0)?;
    let value = call.get::<i64>(1)?;
    let ret = c_call!(call.returns aclrtSetSysParamOpt(i32, i64) -> i32, [opt, value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_stream_abort<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtStreamAbort(Pointer) -> i32, [stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_stream_query<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream = call.get::<Pointer>(0)?;
    let mut status = i32::default();
    let ret = c_call!(call.waits aclrtStreamQuery(Pointer, *mut i32) -> i32, [stream, &raw mut status], or NOT_SUPPORTED);
    call.many(&[&status, &ret])
}

fn rt_stream_wait_event<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream = call.get::<Pointer>(0)?;
    let event = call.get::<Pointer>(1)?;
    let ret = c_call!(call.waits aclrtStreamWaitEvent(Pointer, Pointer) -> i32, [stream, event], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_subscribe_report<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let thread_id = call.get::<u64>(0)?;
    let stream = call.get::<Pointer>(1)?;
    let ret = c_call!(call.waits aclrtSubscribeReport(u64, Pointer) -> i32, [thread_id, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_synchronize_device<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.waits aclrtSynchronizeDevice() -> i32, [], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_synchronize_device_with_timeout<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let timeout = call.get::<i32>(0)?;
    let ret = c_call!(call.waits aclrtSynchronizeDeviceWithTimeout(i32) -> i32, [timeout], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_synchronize_event<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let event = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtSynchronizeEvent(Pointer) -> i32, [event], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_synchronize_event_with_timeout<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let event = call.get::<Pointer>(0)?;
    let timeout = call.get::<i32>(1)?;
    let ret = c_call!(call.waits aclrtSynchronizeEventWithTimeout(Pointer, i32) -> i32, [event, timeout], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_synchronize_stream<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtSynchronizeStream(Pointer) -> i32, [stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_synchronize_stream_with_timeout<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream = call.get::<Pointer>(0)?;
    let timeout = call.get::<i32>(1)?;
    let ret = c_call!(call.waits aclrtSynchronizeStreamWithTimeout(Pointer, i32) -> i32, [stream, timeout], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_unmap_mem<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let vir_ptr = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtUnmapMem(Pointer) -> i32, [vir_ptr], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_unsubscribe_report<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let thread_id = call.get::<u64>(0)?;
    let stream = call.get::<Pointer>(1)?;
    let ret = c_call!(call.waits aclrtUnSubscribeReport(u64, Pointer) -> i32, [thread_id, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_unuse_stream_res_in_current_thread<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtUnuseStreamResInCurrentThread(Pointer) -> i32, [stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_use_stream_res_in_current_thread<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclrtUseStreamResInCurrentThread(Pointer) -> i32, [stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_value_wait<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let dev_addr = call.get::<Pointer>(0)?;
    let value = call.get::<u64>(1)?;
    let flag = call.get::<u32>(2)?;
    let stream = call.get::<Pointer>(3)?;
    let ret = c_call!(call.waits aclrtValueWait(Pointer, u64, u32, Pointer) -> i32, [dev_addr, value, flag, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_value_write<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let dev_addr = call.get::<Pointer>(0)?;
    let value = call.get::<u64>(1)?;
    let flag = call.get::<u32>(2)?;
    let stream = call.get::<Pointer>(3)?;
    let ret = c_call!(call.waits aclrtValueWrite(Pointer, u64, u32, Pointer) -> i32, [dev_addr, value, flag, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_wait_and_reset_notify<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let notify = call.get::<Pointer>(0)?;
    let stream = call.get::<Pointer>(1)?;
    let timeout = call.get::<u32>(2)?;
    let ret = c_call!(call.waits aclrtWaitAndResetNotify(Pointer, Pointer, u32) -> i32, [notify, stream, timeout], or NOT_SUPPORTED);
    call.one(&ret)
}

static RT: Table = Table::new(&[
    method!(c"binary_get_function", rt_binary_get_function, c"acl.rt.binary_get_function args parse failed", c"binary_get_function($module, bin_handle, kernel_name, /)\n--\n\nCalls aclrtBinaryGetFunction.\n\nReturns tuple[int, int]."),
    method!(c"binary_load", rt_binary_load, c"acl.rt.binary_load args parse failed", c"binary_load($module, binary, /)\n--\n\nCalls aclrtBinaryLoad.\n\nReturns tuple[int, int]."),
    method!(c"binary_load_from_data", rt_binary_load_from_data, c"acl.rt.binary_load_from_data args parse failed", c"binary_load_from_data($module, mem_addr, length, options, /)\n--\n\nCalls aclrtBinaryLoadFromData. Options: [] or [{\"type\": t, \"value\": v}, ...].\n\nReturns tuple[int, int]."),
    method!(c"binary_load_from_file", rt_binary_load_from_file, c"acl.rt.binary_load_from_file args parse failed", c"binary_load_from_file($module, bin_path, options, /)\n--\n\nCalls aclrtBinaryLoadFromFile. Options: [] or [{\"type\": t, \"value\": v}, ...].\n\nReturns tuple[int, int]."),
    method!(c"binary_unload", rt_binary_unload, c"acl.rt.binary_unload args parse failed", c"binary_unload($module, bin_handle, /)\n--\n\nCalls aclrtBinaryUnLoad.\n\nReturns int."),
    method!(c"cmo_async", rt_cmo_async, c"acl.rt.cmo_async args parse failed", c"cmo_async($module, src, size, cmo_type, stream, /)\n--\n\nCalls aclrtCmoAsync.\n\nReturns int."),
    method!(c"create_binary", rt_create_binary, c"acl.rt.create_binary args parse failed", c"create_binary($module, data, data_len, /)\n--\n\nCalls aclrtCreateBinary.\n\nReturns int."),
    method!(c"create_context", rt_create_context, c"acl.rt.create_context args parse failed", c"create_context($module, device_id, /)\n--\n\nCalls aclrtCreateContext.\n\nReturns tuple[int, int]."),
    method!(c"create_event", rt_create_event, c"acl.rt.create_event args parse failed", c"create_event($module, /, *args)\n--\n\nCalls aclrtCreateEvent.\n\nReturns tuple[int, int]."),
    method!(c"create_event_ex_with_flag", rt_create_event_ex_with_flag, c"acl.rt.create_event_ex_with_flag args parse failed", c"create_event_ex_with_flag($module, flag, /)\n--\n\nCalls aclrtCreateEventExWithFlag.\n\nReturns tuple[int, int]."),
    method!(c"create_event_with_flag", rt_create_event_with_flag, c"acl.rt.create_event_with_flag args parse failed", c"create_event_with_flag($module, flag, /)\n--\n\nCalls aclrtCreateEventWithFlag.\n\nReturns tuple[int, int]."),
    method!(c"create_group_info", rt_create_group_info, c"acl.rt.create_group_info args parse failed", c"create_group_info($module, /, *args)\n--\n\nCalls aclrtCreateGroupInfo.\n\nReturns int."),
    method!(c"create_notify", rt_create_notify, c"acl.rt.create_notify args parse failed", c"create_notify($module, flag, /)\n--\n\nCalls aclrtCreateNotify.\n\nReturns tuple[int, int]."),
    method!(c"create_stream", rt_create_stream, c"acl.rt.create_stream args parse failed", c"create_stream($module, /, *args)\n--\n\nCalls aclrtCreateStream.\n\nReturns tuple[int, int]."),
    method!(c"create_stream_with_config", rt_create_stream_with_config, c"acl.rt.create_stream_with_config args parse failed", c"create_stream_with_config($module, priority, flag, /)\n--\n\nCalls aclrtCreateStreamWithConfig.\n\nReturns tuple[int, int]."),
    method!(c"ctx_get_sys_param_opt", rt_ctx_get_sys_param_opt, c"acl.rt.ctx_get_sys_param_opt args parse failed", c"ctx_get_sys_param_opt($module, opt, /)\n--\n\nCalls aclrtCtxGetSysParamOpt.\n\nReturns tuple[int, int]."),
    method!(c"ctx_set_sys_param_opt", rt_ctx_set_sys_param_opt, c"acl.rt.ctx_set_sys_param_opt args parse failed", c"ctx_set_sys_param_opt($module, opt, value, /)\n--\n\nCalls aclrtCtxSetSysParamOpt.\n\nReturns int."),
    method!(c"destroy_binary", rt_destroy_binary, c"acl.rt.destroy_binary args parse failed", c"destroy_binary($module, binary, /)\n--\n\nCalls aclrtDestroyBinary.\n\nReturns int."),
    method!(c"destroy_context", rt_destroy_context, c"acl.rt.destroy_context args parse failed", c"destroy_context($module, context, /)\n--\n\nCalls aclrtDestroyContext.\n\nReturns int."),
    method!(c"destroy_event", rt_destroy_event, c"acl.rt.destroy_event args parse failed", c"destroy_event($module, event, /)\n--\n\nCalls aclrtDestroyEvent.\n\nReturns int."),
    method!(c"destroy_group_info", rt_destroy_group_info, c"acl.rt.destroy_group_info args parse failed", c"destroy_group_info($module, group_info, /)\n--\n\nCalls aclrtDestroyGroupInfo.\n\nReturns int."),
    method!(c"destroy_notify", rt_destroy_notify, c"acl.rt.destroy_notify args parse failed", c"destroy_notify($module, notify, /)\n--\n\nCalls aclrtDestroyNotify.\n\nReturns int."),
    method!(c"destroy_stream", rt_destroy_stream, c"acl.rt.destroy_stream args parse failed", c"destroy_stream($module, stream, /)\n--\n\nCalls aclrtDestroyStream.\n\nReturns int."),
    method!(c"destroy_stream_force", rt_destroy_stream_force, c"acl.rt.destroy_stream_force args parse failed", c"destroy_stream_force($module, stream, /)\n--\n\nCalls aclrtDestroyStreamForce.\n\nReturns int."),
    method!(c"device_can_access_peer", rt_device_can_access_peer, c"acl.rt.device_can_access_peer args parse failed", c"device_can_access_peer($module, device_id, peer_device_id, /)\n--\n\nCalls aclrtDeviceCanAccessPeer.\n\nReturns tuple[int, int]."),
    method!(c"device_disable_peer_access", rt_device_disable_peer_access, c"acl.rt.device_disable_peer_access args parse failed", c"device_disable_peer_access($module, peer_device_id, /)\n--\n\nCalls aclrtDeviceDisablePeerAccess.\n\nReturns int."),
    method!(c"device_enable_peer_access", rt_device_enable_peer_access, c"acl.rt.device_enable_peer_access args parse failed", c"device_enable_peer_access($module, peer_device_id, flags, /)\n--\n\nCalls aclrtDeviceEnablePeerAccess.\n\nReturns int."),
    method!(c"device_get_bare_tgid", rt_device_get_bare_tgid, c"acl.rt.device_get_bare_tgid args parse failed", c"device_get_bare_tgid($module, /, *args)\n--\n\nCalls aclrtDeviceGetBareTgid.\n\nReturns tuple[int, int]."),
    method!(c"device_get_limit", rt_device_get_limit, c"acl.rt.device_get_limit args parse failed", c"device_get_limit($module, limit, /)\n--\n\nCalls aclrtDeviceGetLimit.\n\nReturns tuple[int, int]."),
    method!(c"device_get_stream_priority_range", rt_device_get_stream_priority_range, c"acl.rt.device_get_stream_priority_range args parse failed", c"device_get_stream_priority_range($module, /, *args)\n--\n\nCalls aclrtDeviceGetStreamPriorityRange. Least first, then greatest.\n\nReturns tuple[int, int, int]."),
    method!(c"device_peer_access_status", rt_device_peer_access_status, c"acl.rt.device_peer_access_status args parse failed", c"device_peer_access_status($module, device_id, peer_device_id, /)\n--\n\nCalls aclrtDevicePeerAccessStatus.\n\nReturns tuple[int, int]."),
    method!(c"device_set_limit", rt_device_set_limit, c"acl.rt.device_set_limit args parse failed", c"device_set_limit($module, limit, value, /)\n--\n\nCalls aclrtDeviceSetLimit.\n\nReturns int."),
    method!(c"event_elapsed_time", rt_event_elapsed_time, c"acl.rt.event_elapsed_time args parse failed", c"event_elapsed_time($module, start, end, /)\n--\n\nCalls aclrtEventElapsedTime.\n\nReturns tuple[float, int]."),
    method!(c"event_get_timestamp", rt_event_get_timestamp, c"acl.rt.event_get_timestamp args parse failed", c"event_get_timestamp($module, event, /)\n--\n\nCalls aclrtEventGetTimestamp.\n\nReturns tuple[int, int]."),
    method!(c"free", rt_free, c"acl.rt.free args parse failed", c"free($module, dev_ptr, /)\n--\n\nCalls aclrtFree.\n\nReturns int."),
    method!(c"free_host", rt_free_host, c"acl.rt.free_host args parse failed", c"free_host($module, host_ptr, /)\n--\n\nCalls aclrtFreeHost.\n\nReturns int."),
    method!(c"free_physical", rt_free_physical, c"acl.rt.free_physical args parse failed", c"free_physical($module, handle, /)\n--\n\nCalls aclrtFreePhysical.\n\nReturns int."),
    method!(c"get_all_group_info", rt_get_all_group_info, c"acl.rt.get_all_group_info args parse failed", c"get_all_group_info($module, group_info, /)\n--\n\nCalls aclrtGetAllGroupInfo.\n\nReturns int."),
    method!(c"get_context", rt_get_context, c"acl.rt.get_context args parse failed", c"get_context($module, /, *args)\n--\n\nCalls aclrtGetCurrentContext.\n\nReturns tuple[int, int]."),
    method!(c"get_device", rt_get_device, c"acl.rt.get_device args parse failed", c"get_device($module, /, *args)\n--\n\nCalls aclrtGetDevice.\n\nReturns tuple[int, int]."),
    method!(c"get_device_capability", rt_get_device_capability, c"acl.rt.get_device_capability args parse failed", c"get_device_capability($module, device_id, dev_feature_type, /)\n--\n\nCalls aclrtGetDeviceCapability.\n\nReturns tuple[int, int]."),
    method!(c"get_device_count", rt_get_device_count, c"acl.rt.get_device_count args parse failed", c"get_device_count($module, /, *args)\n--\n\nCalls aclrtGetDeviceCount.\n\nReturns tuple[int, int]."),
    method!(c"get_device_id_from_exception_info", rt_get_device_id_from_exception_info, c"acl.rt.get_device_id_from_exception_info args parse failed", c"get_device_id_from_exception_info($module, info, /)\n--\n\nCalls aclrtGetDeviceIdFromExceptionInfo.\n\nReturns int."),
    method!(c"get_device_res_limit", rt_get_device_res_limit, c"acl.rt.get_device_res_limit args parse failed", c"get_device_res_limit($module, device_id, type, /)\n--\n\nCalls aclrtGetDeviceResLimit.\n\nReturns tuple[int, int]."),
    method!(c"get_device_sat_mode", rt_get_device_sat_mode, c"acl.rt.get_device_sat_mode args parse failed", c"get_device_sat_mode($module, /, *args)\n--\n\nCalls aclrtGetDeviceSatMode.\n\nReturns tuple[int, int]."),
    method!(c"get_device_utilization_rate", rt_get_device_utilization_rate, c"acl.rt.get_device_utilization_rate args parse failed", c"get_device_utilization_rate($module, device_id, /)\n--\n\nCalls aclrtGetDeviceUtilizationRate. The keys are the member names of C, which is inferred.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_devices_topo", rt_get_devices_topo, c"acl.rt.get_devices_topo args parse failed", c"get_devices_topo($module, device_id, other_device_id, /)\n--\n\nCalls aclrtGetDevicesTopo.\n\nReturns tuple[int, int]."),
    method!(c"get_error_code_from_exception_info", rt_get_error_code_from_exception_info, c"acl.rt.get_error_code_from_exception_info args parse failed", c"get_error_code_from_exception_info($module, info, /)\n--\n\nCalls aclrtGetErrorCodeFromExceptionInfo.\n\nReturns int."),
    method!(c"get_event_avail_num", rt_get_event_avail_num, c"acl.rt.get_event_avail_num args parse failed", c"get_event_avail_num($module, /, *args)\n--\n\nCalls aclrtGetEventAvailNum.\n\nReturns tuple[int, int]."),
    method!(c"get_event_id", rt_get_event_id, c"acl.rt.get_event_id args parse failed", c"get_event_id($module, event, /)\n--\n\nCalls aclrtGetEventId.\n\nReturns tuple[int, int]."),
    method!(c"get_function_addr", rt_get_function_addr, c"acl.rt.get_function_addr args parse failed", c"get_function_addr($module, func_handle, /)\n--\n\nCalls aclrtGetFunctionAddr.\n\nReturns tuple[int, int, int]."),
    method!(c"get_function_name", rt_get_function_name, c"acl.rt.get_function_name args parse failed", c"get_function_name($module, func_handle, max_len, /)\n--\n\nCalls aclrtGetFunctionName.\n\nReturns tuple[str, int]."),
    method!(c"get_group_count", manual::rt_get_group_count, c"acl.rt.get_group_count args parse failed", c"get_group_count($module, count=..., /)\n--\n\nCalls aclrtGetGroupCount. An argument is taken and ignored.\n\nReturns tuple[int, int]."),
    method!(c"get_group_info_detail", manual::rt_get_group_info_detail, c"acl.rt.get_group_info_detail args parse failed", c"get_group_info_detail($module, group_info, group_id, attr, /)\n--\n\nCalls aclrtGetGroupInfoDetail. Raises RuntimeError where other calls answer a code.\n\nReturns tuple[list[int], int]."),
    method!(c"get_last_error", rt_get_last_error, c"acl.rt.get_last_error args parse failed", c"get_last_error($module, level, /)\n--\n\nCalls aclrtGetLastError.\n\nReturns int."),
    method!(c"get_mem_info", rt_get_mem_info, c"acl.rt.get_mem_info args parse failed", c"get_mem_info($module, attr, /)\n--\n\nCalls aclrtGetMemInfo.\n\nReturns tuple[int, int, int]."),
    method!(c"get_mem_uce_info", manual::rt_get_mem_uce_info, c"acl.rt.get_mem_uce_info args parse failed", c"get_mem_uce_info($module, device_id, array_size, /)\n--\n\nCalls aclrtGetMemUceInfo.\n\nReturns tuple[list[dict[str, Any]], int]."),
    method!(c"get_memcpy_desc_size", rt_get_memcpy_desc_size, c"acl.rt.get_memcpy_desc_size args parse failed", c"get_memcpy_desc_size($module, kind, /)\n--\n\nCalls aclrtGetMemcpyDescSize.\n\nReturns tuple[int, int]."),
    method!(c"get_op_execute_timeout", rt_get_op_execute_timeout, c"acl.rt.get_op_execute_timeout args parse failed", c"get_op_execute_timeout($module, /, *args)\n--\n\nCalls aclrtGetOpExecuteTimeout.\n\nReturns tuple[int, int]."),
    method!(c"get_op_timeout_interval", rt_get_op_timeout_interval, c"acl.rt.get_op_timeout_interval args parse failed", c"get_op_timeout_interval($module, /, *args)\n--\n\nCalls aclrtGetOpTimeOutInterval.\n\nReturns tuple[int, int]."),
    method!(c"get_overflow_status", rt_get_overflow_status, c"acl.rt.get_overflow_status args parse failed", c"get_overflow_status($module, output_addr, output_size, stream, /)\n--\n\nCalls aclrtGetOverflowStatus.\n\nReturns int."),
    method!(c"get_res_in_current_thread", rt_get_res_in_current_thread, c"acl.rt.get_res_in_current_thread args parse failed", c"get_res_in_current_thread($module, type, /)\n--\n\nCalls aclrtGetResInCurrentThread.\n\nReturns tuple[int, int]."),
    method!(c"get_run_mode", rt_get_run_mode, c"acl.rt.get_run_mode args parse failed", c"get_run_mode($module, /, *args)\n--\n\nCalls aclrtGetRunMode.\n\nReturns tuple[int, int]."),
    method!(c"get_stream_attribute", manual::rt_get_stream_attribute, c"acl.rt.get_stream_attribute args parse failed", c"get_stream_attribute($module, stream, stm_attr_type, /)\n--\n\nCalls aclrtGetStreamAttribute. The key is the member name of C that fits the attribute, which is inferred.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_stream_available_num", rt_get_stream_available_num, c"acl.rt.get_stream_available_num args parse failed", c"get_stream_available_num($module, /, *args)\n--\n\nCalls aclrtGetStreamAvailableNum.\n\nReturns tuple[int, int]."),
    method!(c"get_stream_id_from_exception_info", rt_get_stream_id_from_exception_info, c"acl.rt.get_stream_id_from_exception_info args parse failed", c"get_stream_id_from_exception_info($module, info, /)\n--\n\nCalls aclrtGetStreamIdFromExceptionInfo.\n\nReturns int."),
    method!(c"get_stream_res_limit", rt_get_stream_res_limit, c"acl.rt.get_stream_res_limit args parse failed", c"get_stream_res_limit($module, stream, type, /)\n--\n\nCalls aclrtGetStreamResLimit.\n\nReturns tuple[int, int]."),
    method!(c"get_sys_param_opt", rt_get_sys_param_opt, c"acl.rt.get_sys_param_opt args parse failed", c"get_sys_param_opt($module, opt, /)\n--\n\nCalls aclrtGetSysParamOpt.\n\nReturns tuple[int, int]."),
    method!(c"get_task_id_from_exception_info", rt_get_task_id_from_exception_info, c"acl.rt.get_task_id_from_exception_info args parse failed", c"get_task_id_from_exception_info($module, info, /)\n--\n\nCalls aclrtGetTaskIdFromExceptionInfo.\n\nReturns int."),
    method!(c"get_thread_id_from_exception_info", rt_get_thread_id_from_exception_info, c"acl.rt.get_thread_id_from_exception_info args parse failed", c"get_thread_id_from_exception_info($module, info, /)\n--\n\nCalls aclrtGetThreadIdFromExceptionInfo.\n\nReturns int."),
    method!(c"get_thread_last_task_id", rt_get_thread_last_task_id, c"acl.rt.get_thread_last_task_id args parse failed", c"get_thread_last_task_id($module, /, *args)\n--\n\nCalls aclrtGetThreadLastTaskId.\n\nReturns tuple[int, int]."),
    method!(c"host_get_device_pointer", rt_host_get_device_pointer, c"acl.rt.host_get_device_pointer args parse failed", c"host_get_device_pointer($module, ptr_host, flag, /)\n--\n\nCalls aclrtHostGetDevicePointer.\n\nReturns tuple[int, int]."),
    method!(c"host_register", rt_host_register, c"acl.rt.host_register args parse failed", c"host_register($module, ptr, size, type, /)\n--\n\nCalls aclrtHostRegister.\n\nReturns tuple[int, int]."),
    method!(c"host_register_v2", rt_host_register_v2, c"acl.rt.host_register_v2 args parse failed", c"host_register_v2($module, ptr, size, flag, /)\n--\n\nCalls aclrtHostRegisterV2.\n\nReturns int."),
    method!(c"host_unregister", rt_host_unregister, c"acl.rt.host_unregister args parse failed", c"host_unregister($module, ptr, /)\n--\n\nCalls aclrtHostUnregister.\n\nReturns int."),
    method!(c"ipc_mem_close", rt_ipc_mem_close, c"acl.rt.ipc_mem_close args parse failed", c"ipc_mem_close($module, key, /)\n--\n\nCalls aclrtIpcMemClose.\n\nReturns int."),
    method!(c"ipc_mem_get_export_key", manual::rt_ipc_mem_get_export_key, c"acl.rt.ipc_mem_get_export_key args parse failed", c"ipc_mem_get_export_key($module, dev_ptr, size, len, flags, /)\n--\n\nCalls aclrtIpcMemGetExportKey. A length of 1024 or more raises ValueError.\n\nReturns tuple[str, int]."),
    method!(c"ipc_mem_import_by_key", rt_ipc_mem_import_by_key, c"acl.rt.ipc_mem_import_by_key args parse failed", c"ipc_mem_import_by_key($module, key, flags, /)\n--\n\nCalls aclrtIpcMemImportByKey.\n\nReturns tuple[int, int]."),
    method!(c"ipc_mem_set_import_pid", rt_ipc_mem_set_import_pid, c"acl.rt.ipc_mem_set_import_pid args parse failed", c"ipc_mem_set_import_pid($module, key, pids, /)\n--\n\nCalls aclrtIpcMemSetImportPid.\n\nReturns int."),
    method!(c"kernel_args_append", rt_kernel_args_append, c"acl.rt.kernel_args_append args parse failed", c"kernel_args_append($module, args_handle, param, param_size, /)\n--\n\nCalls aclrtKernelArgsAppend.\n\nReturns tuple[int, int]."),
    method!(c"kernel_args_append_place_holder", rt_kernel_args_append_place_holder, c"acl.rt.kernel_args_append_place_holder args parse failed", c"kernel_args_append_place_holder($module, args_handle, /)\n--\n\nCalls aclrtKernelArgsAppendPlaceHolder.\n\nReturns tuple[int, int]."),
    method!(c"kernel_args_finalize", rt_kernel_args_finalize, c"acl.rt.kernel_args_finalize args parse failed", c"kernel_args_finalize($module, args_handle, /)\n--\n\nCalls aclrtKernelArgsFinalize.\n\nReturns int."),
    method!(c"kernel_args_get_handle_mem_size", rt_kernel_args_get_handle_mem_size, c"acl.rt.kernel_args_get_handle_mem_size args parse failed", c"kernel_args_get_handle_mem_size($module, func_handle, /)\n--\n\nCalls aclrtKernelArgsGetHandleMemSize.\n\nReturns tuple[int, int]."),
    method!(c"kernel_args_get_mem_size", rt_kernel_args_get_mem_size, c"acl.rt.kernel_args_get_mem_size args parse failed", c"kernel_args_get_mem_size($module, func_handle, user_args_size, /)\n--\n\nCalls aclrtKernelArgsGetMemSize.\n\nReturns tuple[int, int]."),
    method!(c"kernel_args_get_place_holder_buffer", rt_kernel_args_get_place_holder_buffer, c"acl.rt.kernel_args_get_place_holder_buffer args parse failed", c"kernel_args_get_place_holder_buffer($module, args_handle, param_handle, data_size, /)\n--\n\nCalls aclrtKernelArgsGetPlaceHolderBuffer.\n\nReturns tuple[int, int]."),
    method!(c"kernel_args_init", rt_kernel_args_init, c"acl.rt.kernel_args_init args parse failed", c"kernel_args_init($module, func_handle, /)\n--\n\nCalls aclrtKernelArgsInit.\n\nReturns tuple[int, int]."),
    method!(c"kernel_args_init_by_user_mem", rt_kernel_args_init_by_user_mem, c"acl.rt.kernel_args_init_by_user_mem args parse failed", c"kernel_args_init_by_user_mem($module, func_handle, args_handle, user_host_mem, actual_args_size, /)\n--\n\nCalls aclrtKernelArgsInitByUserMem.\n\nReturns int."),
    method!(c"kernel_args_para_update", rt_kernel_args_para_update, c"acl.rt.kernel_args_para_update args parse failed", c"kernel_args_para_update($module, args_handle, param_handle, param, param_size, /)\n--\n\nCalls aclrtKernelArgsParaUpdate.\n\nReturns int."),
    method!(c"launch_callback", manual::rt_launch_callback, c"acl.rt.launch_callback args parse failed", c"launch_callback($module, fn, user_data_list, block_type, stream, /)\n--\n\nCalls aclrtLaunchCallback. fn gets the very object that was passed, on the thread that was subscribed. An exception in it goes to sys.unraisablehook.\n\nReturns int."),
    method!(c"launch_kernel", rt_launch_kernel, c"acl.rt.launch_kernel args parse failed", c"launch_kernel($module, func_handle, num_blocks, args_data, args_size, stream, /)\n--\n\nCalls aclrtLaunchKernel.\n\nReturns int."),
    method!(c"launch_kernel_with_config", rt_launch_kernel_with_config, c"acl.rt.launch_kernel_with_config args parse failed", c"launch_kernel_with_config($module, func_handle, num_blocks, stream, cfg, args_handle, reserve, /)\n--\n\nCalls aclrtLaunchKernelWithConfig. cfg: [] or [{\"id\": i, \"value\": v}, ...].\n\nReturns int."),
    method!(c"launch_kernel_with_host_args", rt_launch_kernel_with_host_args, c"acl.rt.launch_kernel_with_host_args args parse failed", c"launch_kernel_with_host_args($module, func_handle, num_blocks, stream, cfg, host_args_ptr, host_args_size, place_holder_list, place_holder_num, /)\n--\n\nCalls aclrtLaunchKernelWithHostArgs. A placeholder is {\"addrOffset\": a, \"dataOffset\": d}; the keys are inferred from C.\n\nReturns int."),
    method!(c"malloc", rt_malloc, c"acl.rt.malloc args parse failed", c"malloc($module, size, policy, /)\n--\n\nCalls aclrtMalloc.\n\nReturns tuple[int, int]."),
    method!(c"malloc_align32", rt_malloc_align32, c"acl.rt.malloc_align32 args parse failed", c"malloc_align32($module, size, policy, /)\n--\n\nCalls aclrtMallocAlign32.\n\nReturns tuple[int, int]."),
    method!(c"malloc_cached", rt_malloc_cached, c"acl.rt.malloc_cached args parse failed", c"malloc_cached($module, size, policy, /)\n--\n\nCalls aclrtMallocCached.\n\nReturns tuple[int, int]."),
    method!(c"malloc_for_task_scheduler", rt_malloc_for_task_scheduler, c"acl.rt.malloc_for_task_scheduler args parse failed", c"malloc_for_task_scheduler($module, size, policy, cfg, /)\n--\n\nCalls aclrtMallocForTaskScheduler.\n\nReturns tuple[int, int]."),
    method!(c"malloc_host", rt_malloc_host, c"acl.rt.malloc_host args parse failed", c"malloc_host($module, size, /)\n--\n\nCalls aclrtMallocHost.\n\nReturns tuple[int, int]."),
    method!(c"malloc_host_with_cfg", rt_malloc_host_with_cfg, c"acl.rt.malloc_host_with_cfg args parse failed", c"malloc_host_with_cfg($module, size, cfg, /)\n--\n\nCalls aclrtMallocHostWithCfg.\n\nReturns tuple[int, int]."),
    method!(c"malloc_physical", rt_malloc_physical, c"acl.rt.malloc_physical args parse failed", c"malloc_physical($module, size, prop, flags, /)\n--\n\nCalls aclrtMallocPhysical. prop: handleType, allocationType, memAttr, location {id, type}, reserve; all of them.\n\nReturns tuple[int, int]."),
    method!(c"malloc_with_cfg", rt_malloc_with_cfg, c"acl.rt.malloc_with_cfg args parse failed", c"malloc_with_cfg($module, size, policy, cfg, /)\n--\n\nCalls aclrtMallocWithCfg. cfg: {} or {\"numAttrs\": n, \"attrs\": [{\"attr\": a, \"value\": {\"moduleId\"|\"deviceId\"|\"rsv\": v}}, ...]}.\n\nReturns tuple[int, int]."),
    method!(c"map_mem", rt_map_mem, c"acl.rt.map_mem args parse failed", c"map_mem($module, vir_ptr, size, offset, handle, flags, /)\n--\n\nCalls aclrtMapMem.\n\nReturns int."),
    method!(c"mem_export_to_shareable_handle", rt_mem_export_to_shareable_handle, c"acl.rt.mem_export_to_shareable_handle args parse failed", c"mem_export_to_shareable_handle($module, handle, handle_type, flags, /)\n--\n\nCalls aclrtMemExportToShareableHandle.\n\nReturns tuple[int, int]."),
    method!(c"mem_flush", rt_mem_flush, c"acl.rt.mem_flush args parse failed", c"mem_flush($module, dev_ptr, size, /)\n--\n\nCalls aclrtMemFlush.\n\nReturns int."),
    method!(c"mem_get_allocation_granularity", rt_mem_get_allocation_granularity, c"acl.rt.mem_get_allocation_granularity args parse failed", c"mem_get_allocation_granularity($module, prop, option, /)\n--\n\nCalls aclrtMemGetAllocationGranularity.\n\nReturns tuple[int, int]."),
    method!(c"mem_import_from_shareable_handle", rt_mem_import_from_shareable_handle, c"acl.rt.mem_import_from_shareable_handle args parse failed", c"mem_import_from_shareable_handle($module, shareable_handle, device_id, /)\n--\n\nCalls aclrtMemImportFromShareableHandle.\n\nReturns tuple[int, int]."),
    method!(c"mem_invalidate", rt_mem_invalidate, c"acl.rt.mem_invalidate args parse failed", c"mem_invalidate($module, dev_ptr, size, /)\n--\n\nCalls aclrtMemInvalidate.\n\nReturns int."),
    method!(c"mem_set_pid_to_shareable_handle", manual::rt_mem_set_pid_to_shareable_handle, c"acl.rt.mem_set_pid_to_shareable_handle args parse failed", c"mem_set_pid_to_shareable_handle($module, shareable_handle, pids, /)\n--\n\nCalls aclrtMemSetPidToShareableHandle. Raises ValueError when the pids are no list.\n\nReturns int."),
    method!(c"mem_uce_repair", rt_mem_uce_repair, c"acl.rt.mem_uce_repair args parse failed", c"mem_uce_repair($module, device_id, infos, /)\n--\n\nCalls aclrtMemUceRepair.\n\nReturns int."),
    method!(c"memcpy", rt_memcpy, c"acl.rt.memcpy args parse failed", c"memcpy($module, dst, dest_max, src, count, kind, /)\n--\n\nCalls aclrtMemcpy.\n\nReturns int."),
    method!(c"memcpy2d", rt_memcpy2d, c"acl.rt.memcpy2d args parse failed", c"memcpy2d($module, dst, dpitch, src, spitch, width, height, kind, /)\n--\n\nCalls aclrtMemcpy2d.\n\nReturns int."),
    method!(c"memcpy2d_async", rt_memcpy2d_async, c"acl.rt.memcpy2d_async args parse failed", c"memcpy2d_async($module, dst, dpitch, src, spitch, width, height, kind, stream, /)\n--\n\nCalls aclrtMemcpy2dAsync.\n\nReturns int."),
    method!(c"memcpy_async", rt_memcpy_async, c"acl.rt.memcpy_async args parse failed", c"memcpy_async($module, dst, dest_max, src, count, kind, stream, /)\n--\n\nCalls aclrtMemcpyAsync.\n\nReturns int."),
    method!(c"memcpy_async_with_condition", rt_memcpy_async_with_condition, c"acl.rt.memcpy_async_with_condition args parse failed", c"memcpy_async_with_condition($module, dst, dest_max, src, count, kind, stream, /)\n--\n\nCalls aclrtMemcpyAsyncWithCondition.\n\nReturns int."),
    method!(c"memcpy_async_with_desc", rt_memcpy_async_with_desc, c"acl.rt.memcpy_async_with_desc args parse failed", c"memcpy_async_with_desc($module, desc, kind, stream, /)\n--\n\nCalls aclrtMemcpyAsyncWithDesc.\n\nReturns int."),
    method!(c"memset", rt_memset, c"acl.rt.memset args parse failed", c"memset($module, dev_ptr, max_count, value, count, /)\n--\n\nCalls aclrtMemset.\n\nReturns int."),
    method!(c"memset_async", rt_memset_async, c"acl.rt.memset_async args parse failed", c"memset_async($module, dev_ptr, max_count, value, count, stream, /)\n--\n\nCalls aclrtMemsetAsync.\n\nReturns int."),
    method!(c"notify_batch_reset", rt_notify_batch_reset, c"acl.rt.notify_batch_reset args parse failed", c"notify_batch_reset($module, notifies, /)\n--\n\nCalls aclrtNotifyBatchReset.\n\nReturns int."),
    method!(c"notify_get_export_key", rt_notify_get_export_key, c"acl.rt.notify_get_export_key args parse failed", c"notify_get_export_key($module, notify, len, flags, /)\n--\n\nCalls aclrtNotifyGetExportKey.\n\nReturns tuple[str, int]."),
    method!(c"notify_import_by_key", rt_notify_import_by_key, c"acl.rt.notify_import_by_key args parse failed", c"notify_import_by_key($module, key, flags, /)\n--\n\nCalls aclrtNotifyImportByKey.\n\nReturns tuple[int, int]."),
    method!(c"notify_set_import_pid", rt_notify_set_import_pid, c"acl.rt.notify_set_import_pid args parse failed", c"notify_set_import_pid($module, notify, pid, /)\n--\n\nCalls aclrtNotifySetImportPid.\n\nReturns int."),
    method!(c"peek_at_last_error", rt_peek_at_last_error, c"acl.rt.peek_at_last_error args parse failed", c"peek_at_last_error($module, level, /)\n--\n\nCalls aclrtPeekAtLastError.\n\nReturns int."),
    method!(c"pointer_get_attributes", rt_pointer_get_attributes, c"acl.rt.pointer_get_attributes args parse failed", c"pointer_get_attributes($module, ptr, /)\n--\n\nCalls aclrtPointerGetAttributes. {\"location\": {\"id\", \"type\"}, \"page_size\", \"rsv\"}.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"process_report", rt_process_report, c"acl.rt.process_report args parse failed", c"process_report($module, timeout, /)\n--\n\nCalls aclrtProcessReport. The timeout is in milliseconds, -1 waits for ever.\n\nReturns int."),
    method!(c"query_device_status", rt_query_device_status, c"acl.rt.query_device_status args parse failed", c"query_device_status($module, device_id, /)\n--\n\nCalls aclrtQueryDeviceStatus.\n\nReturns tuple[int, int]."),
    method!(c"query_event", rt_query_event, c"acl.rt.query_event args parse failed", c"query_event($module, event, /)\n--\n\nCalls aclrtQueryEvent.\n\nReturns tuple[int, int]."),
    method!(c"query_event_status", rt_query_event_status, c"acl.rt.query_event_status args parse failed", c"query_event_status($module, event, /)\n--\n\nCalls aclrtQueryEventStatus.\n\nReturns tuple[int, int]."),
    method!(c"query_event_wait_status", rt_query_event_wait_status, c"acl.rt.query_event_wait_status args parse failed", c"query_event_wait_status($module, event, /)\n--\n\nCalls aclrtQueryEventWaitStatus.\n\nReturns tuple[int, int]."),
    method!(c"record_event", rt_record_event, c"acl.rt.record_event args parse failed", c"record_event($module, event, stream, /)\n--\n\nCalls aclrtRecordEvent.\n\nReturns int."),
    method!(c"record_notify", rt_record_notify, c"acl.rt.record_notify args parse failed", c"record_notify($module, notify, stream, /)\n--\n\nCalls aclrtRecordNotify.\n\nReturns int."),
    method!(c"reduce_async", rt_reduce_async, c"acl.rt.reduce_async args parse failed", c"reduce_async($module, dst, src, count, kind, type, stream, reserve, /)\n--\n\nCalls aclrtReduceAsync.\n\nReturns int."),
    method!(c"register_cpu_func", rt_register_cpu_func, c"acl.rt.register_cpu_func args parse failed", c"register_cpu_func($module, bin_handle, func_name, kernel_name, /)\n--\n\nCalls aclrtRegisterCpuFunc.\n\nReturns tuple[int, int]."),
    method!(c"release_mem_address", rt_release_mem_address, c"acl.rt.release_mem_address args parse failed", c"release_mem_address($module, vir_ptr, /)\n--\n\nCalls aclrtReleaseMemAddress.\n\nReturns int."),
    method!(c"reserve_mem_address", rt_reserve_mem_address, c"acl.rt.reserve_mem_address args parse failed", c"reserve_mem_address($module, size, alignment, expect_ptr, flags, /)\n--\n\nCalls aclrtReserveMemAddress.\n\nReturns tuple[int, int]."),
    method!(c"reset_device", rt_reset_device, c"acl.rt.reset_device args parse failed", c"reset_device($module, device_id, /)\n--\n\nCalls aclrtResetDevice.\n\nReturns int."),
    method!(c"reset_device_force", rt_reset_device_force, c"acl.rt.reset_device_force args parse failed", c"reset_device_force($module, device_id, /)\n--\n\nCalls aclrtResetDeviceForce.\n\nReturns int."),
    method!(c"reset_device_res_limit", rt_reset_device_res_limit, c"acl.rt.reset_device_res_limit args parse failed", c"reset_device_res_limit($module, device_id, /)\n--\n\nCalls aclrtResetDeviceResLimit.\n\nReturns int."),
    method!(c"reset_event", rt_reset_event, c"acl.rt.reset_event args parse failed", c"reset_event($module, event, stream, /)\n--\n\nCalls aclrtResetEvent.\n\nReturns int."),
    method!(c"reset_overflow_status", rt_reset_overflow_status, c"acl.rt.reset_overflow_status args parse failed", c"reset_overflow_status($module, stream, /)\n--\n\nCalls aclrtResetOverflowStatus.\n\nReturns int."),
    method!(c"reset_stream_res_limit", rt_reset_stream_res_limit, c"acl.rt.reset_stream_res_limit args parse failed", c"reset_stream_res_limit($module, stream, /)\n--\n\nCalls aclrtResetStreamResLimit.\n\nReturns int."),
    method!(c"set_context", rt_set_context, c"acl.rt.set_context args parse failed", c"set_context($module, context, /)\n--\n\nCalls aclrtSetCurrentContext.\n\nReturns int."),
    method!(c"set_device", rt_set_device, c"acl.rt.set_device args parse failed", c"set_device($module, device_id, /)\n--\n\nCalls aclrtSetDevice.\n\nReturns int."),
    method!(c"set_device_res_limit", rt_set_device_res_limit, c"acl.rt.set_device_res_limit args parse failed", c"set_device_res_limit($module, device_id, type, value, /)\n--\n\nCalls aclrtSetDeviceResLimit.\n\nReturns int."),
    method!(c"set_device_sat_mode", rt_set_device_sat_mode, c"acl.rt.set_device_sat_mode args parse failed", c"set_device_sat_mode($module, mode, /)\n--\n\nCalls aclrtSetDeviceSatMode.\n\nReturns int."),
    method!(c"set_exception_info_callback", manual::rt_set_exception_info_callback, c"acl.rt.set_exception_info_callback args parse failed", c"set_exception_info_callback($module, fn=..., /)\n--\n\nCalls aclrtSetExceptionInfoCallback. None or no argument takes the function away; so does an exception that it raises.\n\nReturns int."),
    method!(c"set_group", rt_set_group, c"acl.rt.set_group args parse failed", c"set_group($module, group_id, /)\n--\n\nCalls aclrtSetGroup.\n\nReturns int."),
    method!(c"set_memcpy_desc", rt_set_memcpy_desc, c"acl.rt.set_memcpy_desc args parse failed", c"set_memcpy_desc($module, desc, kind, src, dst, count, config, /)\n--\n\nCalls aclrtSetMemcpyDesc. The description comes back as the first value.\n\nReturns tuple[int, int]."),
    method!(c"set_op_execute_time_out", rt_set_op_execute_time_out, c"acl.rt.set_op_execute_timeout args parse failed", c"set_op_execute_time_out($module, timeout, /)\n--\n\nCalls aclrtSetOpExecuteTimeOut. In seconds.\n\nReturns int."),
    method!(c"set_op_wait_timeout", rt_set_op_wait_timeout, c"acl.rt.set_op_wait_timeout args parse failed", c"set_op_wait_timeout($module, timeout, /)\n--\n\nCalls aclrtSetOpWaitTimeout. In seconds.\n\nReturns int."),
    method!(c"set_stream_overflow_switch", rt_set_stream_overflow_switch, c"acl.rt.set_stream_overflow_switch args parse failed", c"set_stream_overflow_switch($module, stream, flag, /)\n--\n\nCalls aclrtSetStreamOverflowSwitch.\n\nReturns int."),
    method!(c"set_stream_res_limit", rt_set_stream_res_limit, c"acl.rt.set_stream_res_limit args parse failed", c"set_stream_res_limit($module, stream, type, value, /)\n--\n\nCalls aclrtSetStreamResLimit.\n\nReturns int."),
    method!(c"set_sys_param_opt", rt_set_sys_param_opt, c"acl.rt.set_sys_param_opt args parse failed", c"set_sys_param_opt($module, opt, value, /)\n--\n\nCalls aclrtSetSysParamOpt.\n\nReturns int."),
    method!(c"stream_abort", rt_stream_abort, c"acl.rt.stream_abort args parse failed", c"stream_abort($module, stream, /)\n--\n\nCalls aclrtStreamAbort.\n\nReturns int."),
    method!(c"stream_query", rt_stream_query, c"acl.rt.stream_query args parse failed", c"stream_query($module, stream, /)\n--\n\nCalls aclrtStreamQuery.\n\nReturns tuple[int, int]."),
    method!(c"stream_wait_event", rt_stream_wait_event, c"acl.rt.stream_wait_event args parse failed", c"stream_wait_event($module, stream, event, /)\n--\n\nCalls aclrtStreamWaitEvent.\n\nReturns int."),
    method!(c"subscribe_report", rt_subscribe_report, c"acl.rt.subscribe_report args parse failed", c"subscribe_report($module, thread_id, stream, /)\n--\n\nCalls aclrtSubscribeReport. The thread is the number that start_thread gave.\n\nReturns int."),
    method!(c"synchronize_device", rt_synchronize_device, c"acl.rt.synchronize_device args parse failed", c"synchronize_device($module, /, *args)\n--\n\nCalls aclrtSynchronizeDevice.\n\nReturns int."),
    method!(c"synchronize_device_with_timeout", rt_synchronize_device_with_timeout, c"acl.rt.synchronize_device_with_timeout args parse failed", c"synchronize_device_with_timeout($module, timeout, /)\n--\n\nCalls aclrtSynchronizeDeviceWithTimeout.\n\nReturns int."),
    method!(c"synchronize_event", rt_synchronize_event, c"acl.rt.synchronize_event args parse failed", c"synchronize_event($module, event, /)\n--\n\nCalls aclrtSynchronizeEvent.\n\nReturns int."),
    method!(c"synchronize_event_with_timeout", rt_synchronize_event_with_timeout, c"acl.rt.synchronize_event_with_timeout args parse failed", c"synchronize_event_with_timeout($module, event, timeout, /)\n--\n\nCalls aclrtSynchronizeEventWithTimeout.\n\nReturns int."),
    method!(c"synchronize_stream", rt_synchronize_stream, c"acl.rt.synchronize_stream args parse failed", c"synchronize_stream($module, stream, /)\n--\n\nCalls aclrtSynchronizeStream.\n\nReturns int."),
    method!(c"synchronize_stream_with_timeout", rt_synchronize_stream_with_timeout, c"acl.rt.synchronize_stream_with_timeout args parse failed", c"synchronize_stream_with_timeout($module, stream, timeout, /)\n--\n\nCalls aclrtSynchronizeStreamWithTimeout.\n\nReturns int."),
    method!(c"unmap_mem", rt_unmap_mem, c"acl.rt.unmap_mem args parse failed", c"unmap_mem($module, vir_ptr, /)\n--\n\nCalls aclrtUnmapMem.\n\nReturns int."),
    method!(c"unsubscribe_report", rt_unsubscribe_report, c"acl.rt.unsubscribe_report args parse failed", c"unsubscribe_report($module, thread_id, stream, /)\n--\n\nCalls aclrtUnSubscribeReport.\n\nReturns int."),
    method!(c"unuse_stream_res_in_current_thread", rt_unuse_stream_res_in_current_thread, c"acl.rt.unuse_stream_res_in_current_thread args parse failed", c"unuse_stream_res_in_current_thread($module, stream, /)\n--\n\nCalls aclrtUnuseStreamResInCurrentThread.\n\nReturns int."),
    method!(c"use_stream_res_in_current_thread", rt_use_stream_res_in_current_thread, c"acl.rt.use_stream_res_in_current_thread args parse failed", c"use_stream_res_in_current_thread($module, stream, /)\n--\n\nCalls aclrtUseStreamResInCurrentThread.\n\nReturns int."),
    method!(c"value_wait", rt_value_wait, c"acl.rt.value_wait args parse failed", c"value_wait($module, dev_addr, value, flag, stream, /)\n--\n\nCalls aclrtValueWait.\n\nReturns int."),
    method!(c"value_write", rt_value_write, c"acl.rt.value_write args parse failed", c"value_write($module, dev_addr, value, flag, stream, /)\n--\n\nCalls aclrtValueWrite.\n\nReturns int."),
    method!(c"wait_and_reset_notify", rt_wait_and_reset_notify, c"acl.rt.wait_and_reset_notify args parse failed", c"wait_and_reset_notify($module, notify, stream, timeout, /)\n--\n\nCalls aclrtWaitAndResetNotify.\n\nReturns int."),
    END,
]);

fn mdl_add_dataset_buffer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let dataset = call.get::<Pointer>(0)?;
    let data_buffer = call.get::<Pointer>(1)?;
    let ret = c_call!(call.returns aclmdlAddDatasetBuffer(Pointer, Pointer) -> i32, [dataset, data_buffer], or NOT_SUPPORTED);
    call.many(&[&dataset, &ret])
}

fn mdl_bundle_get_model_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let bundle_id = call.get::<u32>(0)?;
    let index = call.get::<usize>(1)?;
    let mut model_id = u32::default();
    let ret = c_call!(call.returns aclmdlBundleGetModelId(u32, usize, *mut u32) -> i32, [bundle_id, index, &raw mut model_id], or NOT_SUPPORTED);
    call.many(&[&model_id, &ret])
}

fn mdl_bundle_get_model_num<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let bundle_id = call.get::<u32>(0)?;
    let mut model_num = usize::default();
    let ret = c_call!(call.returns aclmdlBundleGetModelNum(u32, *mut usize) -> i32, [bundle_id, &raw mut model_num], or NOT_SUPPORTED);
    call.many(&[&model_num, &ret])
}

fn mdl_bundle_load_from_file<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let model_path = call.get::<CString>(0)?;
    let mut bundle_id = u32::default();
    let ret = c_call!(call.waits aclmdlBundleLoadFromFile(*const c_char, *mut u32) -> i32, [model_path.as_ptr(), &raw mut bundle_id], or NOT_SUPPORTED);
    call.many(&[&bundle_id, &ret])
}

fn mdl_bundle_load_from_mem<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let model = call.get::<Pointer>(0)?;
    let model_size = call.get::<usize>(1)?;
    let mut bundle_id = u32::default();
    let ret = c_call!(call.waits aclmdlBundleLoadFromMem(Pointer, usize, *mut u32) -> i32, [model, model_size, &raw mut bundle_id], or NOT_SUPPORTED);
    call.many(&[&bundle_id, &ret])
}

fn mdl_bundle_unload<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let bundle_id = call.get::<u32>(0)?;
    let ret = c_call!(call.waits aclmdlBundleUnload(u32) -> i32, [bundle_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_create_aipp<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let batch_size = call.get::<u64>(0)?;
    let ret = c_call!(call.returns aclmdlCreateAIPP(u64) -> Pointer, [batch_size], or Default::default());
    call.one(&ret)
}

fn mdl_create_config_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclmdlCreateConfigHandle() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn mdl_create_dataset<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclmdlCreateDataset() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn mdl_create_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclmdlCreateDesc() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn mdl_create_exec_config_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.waits aclmdlCreateExecConfigHandle() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn mdl_destroy_aipp<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let aipp = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclmdlDestroyAIPP(Pointer) -> i32, [aipp], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_destroy_config_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let handle = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclmdlDestroyConfigHandle(Pointer) -> i32, [handle], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_destroy_dataset<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let dataset = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclmdlDestroyDataset(Pointer) -> i32, [dataset], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_destroy_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclmdlDestroyDesc(Pointer) -> i32, [desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_destroy_exec_config_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let handle = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclmdlDestroyExecConfigHandle(Pointer) -> i32, [handle], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_execute<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let model_id = call.get::<u32>(0)?;
    let input = call.get::<Pointer>(1)?;
    let output = call.get::<Pointer>(2)?;
    let ret = c_call!(call.waits aclmdlExecute(u32, Pointer, Pointer) -> i32, [model_id, input, output], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_execute_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let model_id = call.get::<u32>(0)?;
    let input = call.get::<Pointer>(1)?;
    let output = call.get::<Pointer>(2)?;
    let stream = call.get::<Pointer>(3)?;
    let ret = c_call!(call.waits aclmdlExecuteAsync(u32, Pointer, Pointer, Pointer) -> i32, [model_id, input, output, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_execute_v2<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let model_id = call.get::<u32>(0)?;
    let input = call.get::<Pointer>(1)?;
    let output = call.get::<Pointer>(2)?;
    let stream = call.get::<Pointer>(3)?;
    let handle = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits aclmdlExecuteV2(u32, Pointer, Pointer, Pointer, Pointer) -> i32, [model_id, input, output, stream, handle], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_finalize_dump<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.waits aclmdlFinalizeDump() -> i32, [], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_get_aipp_data_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let batch_size = call.get::<u64>(0)?;
    let mut size = usize::default();
    let ret = c_call!(call.returns aclmdlGetAippDataSize(u64, *mut usize) -> i32, [batch_size, &raw mut size], or NOT_SUPPORTED);
    call.many(&[&size, &ret])
}

fn mdl_get_aipp_type<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let model_id = call.get::<u32>(0)?;
    let index = call.get::<usize>(1)?;
    let mut type_ = i32::default();
    let mut dynamic_attached_data_index = usize::default();
    let ret = c_call!(call.returns aclmdlGetAippType(u32, usize, *mut i32, *mut usize) -> i32, [model_id, index, &raw mut type_, &raw mut dynamic_attached_data_index], or NOT_SUPPORTED);
    call.many(&[&type_, &dynamic_attached_data_index, &ret])
}

fn mdl_get_cur_output_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut dims = Record::<IoDims>::zeroed();
    let ret = c_call!(call.returns aclmdlGetCurOutputDims(Pointer, usize, Pointer) -> i32, [desc, index, dims.pointer()], or NOT_SUPPORTED);
    call.many(&[&dims.described(ret), &ret])
}

fn mdl_get_dataset_buffer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let dataset = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetDatasetBuffer(Pointer, usize) -> Pointer, [dataset, index], or Default::default());
    call.one(&ret)
}

fn mdl_get_dataset_num_buffers<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let dataset = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclmdlGetDatasetNumBuffers(Pointer) -> usize, [dataset], or Default::default());
    call.one(&ret)
}

fn mdl_get_dataset_tensor_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let dataset = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetDatasetTensorDesc(Pointer, usize) -> Pointer, [dataset, index], or Default::default());
    call.one(&ret)
}

fn mdl_get_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let model_id = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclmdlGetDesc(Pointer, u32) -> i32, [desc, model_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_get_desc_from_file<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let model_path = call.get::<CString>(1)?;
    let ret = c_call!(call.waits aclmdlGetDescFromFile(Pointer, *const c_char) -> i32, [desc, model_path.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_get_desc_from_mem<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let desc = call.get::<Pointer>(0)?;
    let model = call.get::<Pointer>(1)?;
    let model_size = call.get::<usize>(2)?;
    let ret = c_call!(call.waits aclmdlGetDescFromMem(Pointer, Pointer, usize) -> i32, [desc, model, model_size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_get_dynamic_batch<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let mut batch = Record::<Batch>::zeroed();
    let ret = c_call!(call.returns aclmdlGetDynamicBatch(Pointer, Pointer) -> i32, [desc, batch.pointer()], or NOT_SUPPORTED);
    call.many(&[&batch.described(ret), &ret])
}

fn mdl_get_dynamic_hw<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut hw = Record::<Hw>::zeroed();
    let ret = c_call!(call.returns aclmdlGetDynamicHW(Pointer, usize, Pointer) -> i32, [desc, index, hw.pointer()], or NOT_SUPPORTED);
    call.many(&[&hw.described(ret), &ret])
}

fn mdl_get_first_aipp_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let model_id = call.get::<u32>(0)?;
    let index = call.get::<usize>(1)?;
    let mut aipp_info = Record::<AippInfo>::zeroed();
    let ret = c_call!(call.returns aclmdlGetFirstAippInfo(u32, usize, Pointer) -> i32, [model_id, index, aipp_info.pointer()], or NOT_SUPPORTED);
    call.many(&[&aipp_info.described(ret), &ret])
}

fn mdl_get_input_data_type<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetInputDataType(Pointer, usize) -> i32, [desc, index], or Default::default());
    call.one(&ret)
}

fn mdl_get_input_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut dims = Record::<IoDims>::zeroed();
    let ret = c_call!(call.returns aclmdlGetInputDims(Pointer, usize, Pointer) -> i32, [desc, index, dims.pointer()], or NOT_SUPPORTED);
    call.many(&[&dims.described(ret), &ret])
}

fn mdl_get_input_dims_range<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut dims_range = Record::<IoDimsRange>::zeroed();
    let ret = c_call!(call.returns aclmdlGetInputDimsRange(Pointer, usize, Pointer) -> i32, [desc, index, dims_range.pointer()], or NOT_SUPPORTED);
    call.many(&[&dims_range.described(ret), &ret])
}

fn mdl_get_input_dims_v2<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut dims = Record::<IoDims>::zeroed();
    let ret = c_call!(call.returns aclmdlGetInputDimsV2(Pointer, usize, Pointer) -> i32, [desc, index, dims.pointer()], or NOT_SUPPORTED);
    call.many(&[&dims.described(ret), &ret])
}

fn mdl_get_input_dynamic_gear_count<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut gear_count = usize::default();
    let ret = c_call!(call.returns aclmdlGetInputDynamicGearCount(Pointer, usize, *mut usize) -> i32, [desc, index, &raw mut gear_count], or NOT_SUPPORTED);
    call.many(&[&gear_count, &ret])
}

fn mdl_get_input_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetInputFormat(Pointer, usize) -> i32, [desc, index], or Default::default());
    call.one(&ret)
}

fn mdl_get_input_index_by_name<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let name = call.get::<CString>(1)?;
    let mut index = usize::default();
    let ret = c_call!(call.returns aclmdlGetInputIndexByName(Pointer, *const c_char, *mut usize) -> i32, [desc, name.as_ptr(), &raw mut index], or NOT_SUPPORTED);
    call.many(&[&index, &ret])
}

fn mdl_get_input_name_by_index<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetInputNameByIndex(Pointer, usize) -> CText, [desc, index], or CText::default());
    call.one(&ret)
}

fn mdl_get_input_size_by_index<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetInputSizeByIndex(Pointer, usize) -> usize, [desc, index], or Default::default());
    call.one(&ret)
}

fn mdl_get_num_inputs<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclmdlGetNumInputs(Pointer) -> usize, [desc], or Default::default());
    call.one(&ret)
}

fn mdl_get_num_outputs<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclmdlGetNumOutputs(Pointer) -> usize, [desc], or Default::default());
    call.one(&ret)
}

fn mdl_get_op_attr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let desc = call.get::<Pointer>(0)?;
    let op_name = call.get::<CString>(1)?;
    let attr = call.get::<CString>(2)?;
    let ret = c_call!(call.returns aclmdlGetOpAttr(Pointer, *const c_char, *const c_char) -> CText, [desc, op_name.as_ptr(), attr.as_ptr()], or CText::default());
    call.one(&ret)
}

fn mdl_get_output_data_type<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetOutputDataType(Pointer, usize) -> i32, [desc, index], or Default::default());
    call.one(&ret)
}

fn mdl_get_output_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut dims = Record::<IoDims>::zeroed();
    let ret = c_call!(call.returns aclmdlGetOutputDims(Pointer, usize, Pointer) -> i32, [desc, index, dims.pointer()], or NOT_SUPPORTED);
    call.many(&[&dims.described(ret), &ret])
}

fn mdl_get_output_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetOutputFormat(Pointer, usize) -> i32, [desc, index], or Default::default());
    call.one(&ret)
}

fn mdl_get_output_index_by_name<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let name = call.get::<CString>(1)?;
    let mut index = usize::default();
    let ret = c_call!(call.returns aclmdlGetOutputIndexByName(Pointer, *const c_char, *mut usize) -> i32, [desc, name.as_ptr(), &raw mut index], or NOT_SUPPORTED);
    call.many(&[&index, &ret])
}

fn mdl_get_output_name_by_index<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetOutputNameByIndex(Pointer, usize) -> CText, [desc, index], or CText::default());
    call.one(&ret)
}

fn mdl_get_output_size_by_index<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let ret = c_call!(call.returns aclmdlGetOutputSizeByIndex(Pointer, usize) -> usize, [desc, index], or Default::default());
    call.one(&ret)
}

fn mdl_get_tensor_real_name<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let name = call.get::<CString>(1)?;
    let ret = c_call!(call.returns aclmdlGetTensorRealName(Pointer, *const c_char) -> CText, [desc, name.as_ptr()], or CText::default());
    call.one(&ret)
}

fn mdl_init_dump<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.waits aclmdlInitDump() -> i32, [], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_load_from_file<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let model_path = call.get::<CString>(0)?;
    let mut model_id = u32::default();
    let ret = c_call!(call.waits aclmdlLoadFromFile(*const c_char, *mut u32) -> i32, [model_path.as_ptr(), &raw mut model_id], or NOT_SUPPORTED);
    call.many(&[&model_id, &ret])
}

fn mdl_load_from_file_with_mem<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let model_path = call.get::<CString>(0)?;
    let work_ptr = call.get::<Pointer>(1)?;
    let work_size = call.get::<usize>(2)?;
    let weight_ptr = call.get::<Pointer>(3)?;
    let weight_size = call.get::<usize>(4)?;
    let mut model_id = u32::default();
    let ret = c_call!(call.waits aclmdlLoadFromFileWithMem(*const c_char, *mut u32, Pointer, usize, Pointer, usize) -> i32, [model_path.as_ptr(), &raw mut model_id, work_ptr, work_size, weight_ptr, weight_size], or NOT_SUPPORTED);
    call.many(&[&model_id, &ret])
}

fn mdl_load_from_file_with_q<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let model_path = call.get::<CString>(0)?;
    let input_q = call.get::<Pointer>(1)?;
    let input_q_num = call.get::<usize>(2)?;
    let output_q = call.get::<Pointer>(3)?;
    let output_q_num = call.get::<usize>(4)?;
    let mut model_id = u32::default();
    let ret = c_call!(call.waits aclmdlLoadFromFileWithQ(*const c_char, *mut u32, Pointer, usize, Pointer, usize) -> i32, [model_path.as_ptr(), &raw mut model_id, input_q, input_q_num, output_q, output_q_num], or NOT_SUPPORTED);
    call.many(&[&model_id, &ret])
}

fn mdl_load_from_mem<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let model = call.get::<Pointer>(0)?;
    let model_size = call.get::<usize>(1)?;
    let mut model_id = u32::default();
    let ret = c_call!(call.waits aclmdlLoadFromMem(Pointer, usize, *mut u32) -> i32, [model, model_size, &raw mut model_id], or NOT_SUPPORTED);
    call.many(&[&model_id, &ret])
}

fn mdl_load_from_mem_with_mem<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let model = call.get::<Pointer>(0)?;
    let model_size = call.get::<usize>(1)?;
    let work_ptr = call.get::<Pointer>(2)?;
    let work_size = call.get::<usize>(3)?;
    let weight_ptr = call.get::<Pointer>(4)?;
    let weight_size = call.get::<usize>(5)?;
    let mut model_id = u32::default();
    let ret = c_call!(call.waits aclmdlLoadFromMemWithMem(Pointer, usize, *mut u32, Pointer, usize, Pointer, usize) -> i32, [model, model_size, &raw mut model_id, work_ptr, work_size, weight_ptr, weight_size], or NOT_SUPPORTED);
    call.many(&[&model_id, &ret])
}

fn mdl_load_from_mem_with_q<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let model = call.get::<Pointer>(0)?;
    let model_size = call.get::<usize>(1)?;
    let input_q = call.get::<Pointer>(2)?;
    let input_q_num = call.get::<usize>(3)?;
    let output_q = call.get::<Pointer>(4)?;
    let output_q_num = call.get::<usize>(5)?;
    let mut model_id = u32::default();
    let ret = c_call!(call.waits aclmdlLoadFromMemWithQ(Pointer, usize, *mut u32, Pointer, usize, Pointer, usize) -> i32, [model, model_size, &raw mut model_id, input_q, input_q_num, output_q, output_q_num], or NOT_SUPPORTED);
    call.many(&[&model_id, &ret])
}

fn mdl_load_with_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let config_handle = call.get::<Pointer>(0)?;
    let mut model_id = u32::default();
    let ret = c_call!(call.waits aclmdlLoadWithConfig(Pointer, *mut u32) -> i32, [config_handle, &raw mut model_id], or NOT_SUPPORTED);
    call.many(&[&model_id, &ret])
}

fn mdl_query_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let file_name = call.get::<CString>(0)?;
    let mut work_size = usize::default();
    let mut weight_size = usize::default();
    let ret = c_call!(call.waits aclmdlQuerySize(*const c_char, *mut usize, *mut usize) -> i32, [file_name.as_ptr(), &raw mut work_size, &raw mut weight_size], or NOT_SUPPORTED);
    call.many(&[&work_size, &weight_size, &ret])
}

fn mdl_query_size_from_mem<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let model = call.get::<Pointer>(0)?;
    let model_size = call.get::<usize>(1)?;
    let mut work_size = usize::default();
    let mut weight_size = usize::default();
    let ret = c_call!(call.waits aclmdlQuerySizeFromMem(Pointer, usize, *mut usize, *mut usize) -> i32, [model, model_size, &raw mut work_size, &raw mut weight_size], or NOT_SUPPORTED);
    call.many(&[&work_size, &weight_size, &ret])
}

fn mdl_set_aipp_ax_swap_switch<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let aipp = call.get::<Pointer>(0)?;
    let switch = call.get::<i8>(1)?;
    let ret = c_call!(call.returns aclmdlSetAIPPAxSwapSwitch(Pointer, i8) -> i32, [aipp, switch], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_by_input_index<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let model_id = call.get::<u32>(0)?;
    let dataset = call.get::<Pointer>(1)?;
    let index = call.get::<usize>(2)?;
    let aipp = call.get::<Pointer>(3)?;
    let ret = c_call!(call.returns aclmdlSetAIPPByInputIndex(u32, Pointer, usize, Pointer) -> i32, [model_id, dataset, index, aipp], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_crop_params<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let aipp = call.get::<Pointer>(0)?;
    let switch = call.get::<i8>(1)?;
    let start_w = call.get::<i32>(2)?;
    let start_h = call.get::<i32>(3)?;
    let size_w = call.get::<i32>(4)?;
    let size_h = call.get::<i32>(5)?;
    let batch_index = call.get::<u64>(6)?;
    let ret = c_call!(call.returns aclmdlSetAIPPCropParams(Pointer, i8, i32, i32, i32, i32, u64) -> i32, [aipp, switch, start_w, start_h, size_w, size_h, batch_index], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_csc_params<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(17, 17)?;
    let aipp = call.get::<Pointer>(0)?;
    let csc_switch = call.get::<i8>(1)?;
    let r0c0 = call.get::<i16>(2)?;
    let r0c1 = call.get::<i16>(3)?;
    let r0c2 = call.get::<i16>(4)?;
    let r1c0 = call.get::<i16>(5)?;
    let r1c1 = call.get::<i16>(6)?;
    let r1c2 = call.get::<i16>(7)?;
    let r2c0 = call.get::<i16>(8)?;
    let r2c1 = call.get::<i16>(9)?;
    let r2c2 = call.get::<i16>(10)?;
    let out_bias_r0 = call.get::<u8>(11)?;
    let out_bias_r1 = call.get::<u8>(12)?;
    let out_bias_r2 = call.get::<u8>(13)?;
    let in_bias_r0 = call.get::<u8>(14)?;
    let in_bias_r1 = call.get::<u8>(15)?;
    let in_bias_r2 = call.get::<u8>(16)?;
    let ret = c_call!(call.returns aclmdlSetAIPPCscParams(Pointer, i8, i16, i16, i16, i16, i16, i16, i16, i16, i16, u8, u8, u8, u8, u8, u8) -> i32, [aipp, csc_switch, r0c0, r0c1, r0c2, r1c0, r1c1, r1c2, r2c0, r2c1, r2c2, out_bias_r0, out_bias_r1, out_bias_r2, in_bias_r0, in_bias_r1, in_bias_r2], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_dtc_pixel_mean<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let aipp = call.get::<Pointer>(0)?;
    let c0 = call.get::<i16>(1)?;
    let c1 = call.get::<i16>(2)?;
    let c2 = call.get::<i16>(3)?;
    let c3 = call.get::<i16>(4)?;
    let batch_index = call.get::<u64>(5)?;
    let ret = c_call!(call.returns aclmdlSetAIPPDtcPixelMean(Pointer, i16, i16, i16, i16, u64) -> i32, [aipp, c0, c1, c2, c3, batch_index], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_dtc_pixel_min<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let aipp = call.get::<Pointer>(0)?;
    let c0 = call.get::<f32>(1)?;
    let c1 = call.get::<f32>(2)?;
    let c2 = call.get::<f32>(3)?;
    let c3 = call.get::<f32>(4)?;
    let batch_index = call.get::<u64>(5)?;
    let ret = c_call!(call.returns aclmdlSetAIPPDtcPixelMin(Pointer, f32, f32, f32, f32, u64) -> i32, [aipp, c0, c1, c2, c3, batch_index], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_input_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let aipp = call.get::<Pointer>(0)?;
    let input_format = call.get::<i32>(1)?;
    let ret = c_call!(call.returns aclmdlSetAIPPInputFormat(Pointer, i32) -> i32, [aipp, input_format], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_padding_params<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let aipp = call.get::<Pointer>(0)?;
    let switch = call.get::<i8>(1)?;
    let top = call.get::<i32>(2)?;
    let bottom = call.get::<i32>(3)?;
    let left = call.get::<i32>(4)?;
    let right = call.get::<i32>(5)?;
    let batch_index = call.get::<u64>(6)?;
    let ret = c_call!(call.returns aclmdlSetAIPPPaddingParams(Pointer, i8, i32, i32, i32, i32, u64) -> i32, [aipp, switch, top, bottom, left, right, batch_index], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_pixel_var_reci<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let aipp = call.get::<Pointer>(0)?;
    let c0 = call.get::<f32>(1)?;
    let c1 = call.get::<f32>(2)?;
    let c2 = call.get::<f32>(3)?;
    let c3 = call.get::<f32>(4)?;
    let batch_index = call.get::<u64>(5)?;
    let ret = c_call!(call.returns aclmdlSetAIPPPixelVarReci(Pointer, f32, f32, f32, f32, u64) -> i32, [aipp, c0, c1, c2, c3, batch_index], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_rbuv_swap_switch<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let aipp = call.get::<Pointer>(0)?;
    let switch = call.get::<i8>(1)?;
    let ret = c_call!(call.returns aclmdlSetAIPPRbuvSwapSwitch(Pointer, i8) -> i32, [aipp, switch], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_scf_params<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let aipp = call.get::<Pointer>(0)?;
    let switch = call.get::<i8>(1)?;
    let in_w = call.get::<i32>(2)?;
    let in_h = call.get::<i32>(3)?;
    let out_w = call.get::<i32>(4)?;
    let out_h = call.get::<i32>(5)?;
    let batch_index = call.get::<u64>(6)?;
    let ret = c_call!(call.returns aclmdlSetAIPPScfParams(Pointer, i8, i32, i32, i32, i32, u64) -> i32, [aipp, switch, in_w, in_h, out_w, out_h, batch_index], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_aipp_src_image_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let aipp = call.get::<Pointer>(0)?;
    let w = call.get::<i32>(1)?;
    let h = call.get::<i32>(2)?;
    let ret = c_call!(call.returns aclmdlSetAIPPSrcImageSize(Pointer, i32, i32) -> i32, [aipp, w, h], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_dataset_tensor_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let dataset = call.get::<Pointer>(0)?;
    let tensor_desc = call.get::<Pointer>(1)?;
    let index = call.get::<usize>(2)?;
    let ret = c_call!(call.returns aclmdlSetDatasetTensorDesc(Pointer, Pointer, usize) -> i32, [dataset, tensor_desc, index], or NOT_SUPPORTED);
    call.many(&[&dataset, &ret])
}

fn mdl_set_dump<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(0, 1)?;
    let dump_cfg_path = call.get_or_none::<CString>(0)?;
    let ret = c_call!(call.waits aclmdlSetDump(*const c_char) -> i32, [or_null(&dump_cfg_path)], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_dynamic_batch_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let model_id = call.get::<u32>(0)?;
    let dataset = call.get::<Pointer>(1)?;
    let index = call.get::<usize>(2)?;
    let batch_size = call.get::<u64>(3)?;
    let ret = c_call!(call.returns aclmdlSetDynamicBatchSize(u32, Pointer, usize, u64) -> i32, [model_id, dataset, index, batch_size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_dynamic_hw_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let model_id = call.get::<u32>(0)?;
    let dataset = call.get::<Pointer>(1)?;
    let index = call.get::<usize>(2)?;
    let height = call.get::<u64>(3)?;
    let width = call.get::<u64>(4)?;
    let ret = c_call!(call.returns aclmdlSetDynamicHWSize(u32, Pointer, usize, u64, u64) -> i32, [model_id, dataset, index, height, width], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_input_aipp<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let model_id = call.get::<u32>(0)?;
    let dataset = call.get::<Pointer>(1)?;
    let index = call.get::<usize>(2)?;
    let aipp = call.get::<Pointer>(3)?;
    let ret = c_call!(call.returns aclmdlSetInputAIPP(u32, Pointer, usize, Pointer) -> i32, [model_id, dataset, index, aipp], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_set_input_dynamic_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let model_id = call.get::<u32>(0)?;
    let dataset = call.get::<Pointer>(1)?;
    let index = call.get::<usize>(2)?;
    let dims = call.get::<IoDimsIn>(3)?;
    let ret = c_call!(call.returns aclmdlSetInputDynamicDims(u32, Pointer, usize, Pointer) -> i32, [model_id, dataset, index, dims.pointer()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn mdl_unload<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let model_id = call.get::<u32>(0)?;
    let ret = c_call!(call.waits aclmdlUnload(u32) -> i32, [model_id], or NOT_SUPPORTED);
    call.one(&ret)
}

static MDL: Table = Table::new(&[
    method!(c"add_dataset_buffer", mdl_add_dataset_buffer, c"acl.mdl.add_dataset_buffer args parse failed!", c"add_dataset_buffer($module, dataset, data_buffer, /)\n--\n\nCalls aclmdlAddDatasetBuffer. The dataset comes back as the first value.\n\nReturns tuple[int, int]."),
    method!(c"bundle_get_model_id", mdl_bundle_get_model_id, c"acl.mdl.bundle_get_model_id args parse failed!", c"bundle_get_model_id($module, bundle_id, index, /)\n--\n\nCalls aclmdlBundleGetModelId.\n\nReturns tuple[int, int]."),
    method!(c"bundle_get_model_num", mdl_bundle_get_model_num, c"acl.mdl.bundle_get_model_num args parse failed!", c"bundle_get_model_num($module, bundle_id, /)\n--\n\nCalls aclmdlBundleGetModelNum.\n\nReturns tuple[int, int]."),
    method!(c"bundle_load_from_file", mdl_bundle_load_from_file, c"acl.mdl.bundle_load_from_file args parse failed!", c"bundle_load_from_file($module, model_path, /)\n--\n\nCalls aclmdlBundleLoadFromFile.\n\nReturns tuple[int, int]."),
    method!(c"bundle_load_from_mem", mdl_bundle_load_from_mem, c"acl.mdl.bundle_load_from_mem args parse failed!", c"bundle_load_from_mem($module, model, model_size, /)\n--\n\nCalls aclmdlBundleLoadFromMem.\n\nReturns tuple[int, int]."),
    method!(c"bundle_unload", mdl_bundle_unload, c"acl.mdl.bundle_unload args parse failed!", c"bundle_unload($module, bundle_id, /)\n--\n\nCalls aclmdlBundleUnload.\n\nReturns int."),
    method!(c"create_aipp", mdl_create_aipp, c"acl.mdl.create_aipp args parse failed!", c"create_aipp($module, batch_size, /)\n--\n\nCalls aclmdlCreateAIPP.\n\nReturns int."),
    method!(c"create_and_get_op_desc", manual::mdl_create_and_get_op_desc, c"acl.mdl.create_and_get_op_desc args parse failed!", c"create_and_get_op_desc($module, device_id, stream_id, task_id, op_name_len, /)\n--\n\nCalls aclmdlCreateAndGetOpDesc. A name length over 4096 is refused with 100000.\n\nReturns tuple[str, int, int, int, int, int]."),
    method!(c"create_config_handle", mdl_create_config_handle, c"acl.mdl.create_config_handle args parse failed!", c"create_config_handle($module, /, *args)\n--\n\nCalls aclmdlCreateConfigHandle.\n\nReturns int."),
    method!(c"create_dataset", mdl_create_dataset, c"acl.mdl.create_dataset args parse failed!", c"create_dataset($module, /, *args)\n--\n\nCalls aclmdlCreateDataset.\n\nReturns int."),
    method!(c"create_desc", mdl_create_desc, c"acl.mdl.create_desc args parse failed!", c"create_desc($module, /, *args)\n--\n\nCalls aclmdlCreateDesc.\n\nReturns int."),
    method!(c"create_exec_config_handle", mdl_create_exec_config_handle, c"acl.mdl.create_exec_config_handle args parse failed!", c"create_exec_config_handle($module, /, *args)\n--\n\nCalls aclmdlCreateExecConfigHandle.\n\nReturns int."),
    method!(c"destroy_aipp", mdl_destroy_aipp, c"acl.mdl.destroy_aipp args parse failed!", c"destroy_aipp($module, aipp, /)\n--\n\nCalls aclmdlDestroyAIPP.\n\nReturns int."),
    method!(c"destroy_config_handle", mdl_destroy_config_handle, c"acl.mdl.destroy_config_handle args parse failed!", c"destroy_config_handle($module, handle, /)\n--\n\nCalls aclmdlDestroyConfigHandle.\n\nReturns int."),
    method!(c"destroy_dataset", mdl_destroy_dataset, c"acl.mdl.destroy_dataset args parse failed!", c"destroy_dataset($module, dataset, /)\n--\n\nCalls aclmdlDestroyDataset.\n\nReturns int."),
    method!(c"destroy_desc", mdl_destroy_desc, c"acl.mdl.destroy_desc args parse failed!", c"destroy_desc($module, desc, /)\n--\n\nCalls aclmdlDestroyDesc.\n\nReturns int."),
    method!(c"destroy_exec_config_handle", mdl_destroy_exec_config_handle, c"acl.mdl.destroy_exec_config_handle args parse failed!", c"destroy_exec_config_handle($module, handle, /)\n--\n\nCalls aclmdlDestroyExecConfigHandle.\n\nReturns int."),
    method!(c"dump_reg_callback", manual::mdl_dump_reg_callback, c"acl.mdl.dump_reg_callback args parse failed!", c"dump_reg_callback($module, callback, flag, /)\n--\n\nCalls acldumpRegCallback. The callback gets one dict a chunk; what it returns is ignored and an exception counts as failure.\n\nReturns int."),
    method!(c"dump_unreg_callback", manual::mdl_dump_unreg_callback, c"acl.mdl.dump_unreg_callback args parse failed!", c"dump_unreg_callback($module, /, *args)\n--\n\nCalls acldumpUnregCallback.\n\nReturns None."),
    method!(c"execute", mdl_execute, c"acl.mdl.execute args parse failed!", c"execute($module, model_id, input, output, /)\n--\n\nCalls aclmdlExecute.\n\nReturns int."),
    method!(c"execute_async", mdl_execute_async, c"acl.mdl.execute_async args parse failed!", c"execute_async($module, model_id, input, output, stream, /)\n--\n\nCalls aclmdlExecuteAsync.\n\nReturns int."),
    method!(c"execute_v2", mdl_execute_v2, c"acl.mdl.execute_v2 args parse failed!", c"execute_v2($module, model_id, input, output, stream, handle, /)\n--\n\nCalls aclmdlExecuteV2.\n\nReturns int."),
    method!(c"finalize_dump", mdl_finalize_dump, c"acl.mdl.finalize_dump args parse failed!", c"finalize_dump($module, /, *args)\n--\n\nCalls aclmdlFinalizeDump.\n\nReturns int."),
    method!(c"get_aipp_data_size", mdl_get_aipp_data_size, c"acl.mdl.get_aipp_data_size args parse failed!", c"get_aipp_data_size($module, batch_size, /)\n--\n\nCalls aclmdlGetAippDataSize.\n\nReturns tuple[int, int]."),
    method!(c"get_aipp_type", mdl_get_aipp_type, c"acl.mdl.get_aipp_type args parse failed!", c"get_aipp_type($module, model_id, index, /)\n--\n\nCalls aclmdlGetAippType.\n\nReturns tuple[int, int, int]."),
    method!(c"get_cur_output_dims", mdl_get_cur_output_dims, c"acl.mdl.get_cur_output_dims args parse failed!", c"get_cur_output_dims($module, desc, index, /)\n--\n\nCalls aclmdlGetCurOutputDims. An empty dict on failure.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_dataset_buffer", mdl_get_dataset_buffer, c"acl.mdl.get_dataset_buffer args parse failed!", c"get_dataset_buffer($module, dataset, index, /)\n--\n\nCalls aclmdlGetDatasetBuffer. 0 when the index is out of range.\n\nReturns int."),
    method!(c"get_dataset_num_buffers", mdl_get_dataset_num_buffers, c"acl.mdl.get_dataset_num_buffers args parse failed!", c"get_dataset_num_buffers($module, dataset, /)\n--\n\nCalls aclmdlGetDatasetNumBuffers.\n\nReturns int."),
    method!(c"get_dataset_tensor_desc", mdl_get_dataset_tensor_desc, c"acl.mdl.get_dataset_tensor_desc args parse failed!", c"get_dataset_tensor_desc($module, dataset, index, /)\n--\n\nCalls aclmdlGetDatasetTensorDesc.\n\nReturns int."),
    method!(c"get_desc", mdl_get_desc, c"acl.mdl.get_desc args parse failed!", c"get_desc($module, desc, model_id, /)\n--\n\nCalls aclmdlGetDesc.\n\nReturns int."),
    method!(c"get_desc_from_file", mdl_get_desc_from_file, c"acl.mdl.get_desc_from_file args parse failed!", c"get_desc_from_file($module, desc, model_path, /)\n--\n\nCalls aclmdlGetDescFromFile.\n\nReturns int."),
    method!(c"get_desc_from_mem", mdl_get_desc_from_mem, c"acl.mdl.get_desc_from_mem args parse failed!", c"get_desc_from_mem($module, desc, model, model_size, /)\n--\n\nCalls aclmdlGetDescFromMem.\n\nReturns int."),
    method!(c"get_dynamic_batch", mdl_get_dynamic_batch, c"acl.mdl.get_dynamic_batch args parse failed!", c"get_dynamic_batch($module, desc, /)\n--\n\nCalls aclmdlGetDynamicBatch. An empty dict on failure.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_dynamic_hw", mdl_get_dynamic_hw, c"acl.mdl.get_dynamic_hw args parse failed!", c"get_dynamic_hw($module, desc, index, /)\n--\n\nCalls aclmdlGetDynamicHW. An empty dict on failure; each size is a list [height, width].\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_first_aipp_info", mdl_get_first_aipp_info, c"acl.mdl.get_first_aipp_info args parse failed!", c"get_first_aipp_info($module, model_id, index, /)\n--\n\nCalls aclmdlGetFirstAippInfo. None on failure. The matrix cells R0C2, R2C0 and R2C1 are not reported.\n\nReturns tuple[dict[str, Any] | None, int]."),
    method!(c"get_input_data_type", mdl_get_input_data_type, c"acl.mdl.get_input_data_type args parse failed!", c"get_input_data_type($module, desc, index, /)\n--\n\nCalls aclmdlGetInputDataType.\n\nReturns int."),
    method!(c"get_input_dims", mdl_get_input_dims, c"acl.mdl.get_input_dims args parse failed!", c"get_input_dims($module, desc, index, /)\n--\n\nCalls aclmdlGetInputDims. An empty dict on failure.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_input_dims_range", mdl_get_input_dims_range, c"acl.mdl.get_input_dims_range args parse failed!", c"get_input_dims_range($module, desc, index, /)\n--\n\nCalls aclmdlGetInputDimsRange. The dict is filled whatever the code says.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_input_dims_v2", mdl_get_input_dims_v2, c"acl.mdl.get_input_dims_v2 args parse failed!", c"get_input_dims_v2($module, desc, index, /)\n--\n\nCalls aclmdlGetInputDimsV2. An empty dict on failure.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_input_dynamic_dims", manual::mdl_get_input_dynamic_dims, c"acl.mdl.get_input_dynamic_dims args parse failed!", c"get_input_dynamic_dims($module, desc, index, gear_count, /)\n--\n\nCalls aclmdlGetInputDynamicDims. The index is -1; one dict a gear, with the dimensions of all inputs in a row. More than 4096 gears answer (None, 100000).\n\nReturns tuple[list[dict[str, Any]], int]."),
    method!(c"get_input_dynamic_gear_count", mdl_get_input_dynamic_gear_count, c"acl.mdl.get_input_dynamic_gear_count args parse failed!", c"get_input_dynamic_gear_count($module, desc, index, /)\n--\n\nCalls aclmdlGetInputDynamicGearCount. The index is -1.\n\nReturns tuple[int, int]."),
    method!(c"get_input_format", mdl_get_input_format, c"acl.mdl.get_input_format args parse failed!", c"get_input_format($module, desc, index, /)\n--\n\nCalls aclmdlGetInputFormat.\n\nReturns int."),
    method!(c"get_input_index_by_name", mdl_get_input_index_by_name, c"acl.mdl.get_input_index_by_name args parse failed!", c"get_input_index_by_name($module, desc, name, /)\n--\n\nCalls aclmdlGetInputIndexByName.\n\nReturns tuple[int, int]."),
    method!(c"get_input_name_by_index", mdl_get_input_name_by_index, c"acl.mdl.get_input_name_by_index args parse failed!", c"get_input_name_by_index($module, desc, index, /)\n--\n\nCalls aclmdlGetInputNameByIndex.\n\nReturns str | None."),
    method!(c"get_input_size_by_index", mdl_get_input_size_by_index, c"acl.mdl.get_input_size_by_index args parse failed!", c"get_input_size_by_index($module, desc, index, /)\n--\n\nCalls aclmdlGetInputSizeByIndex.\n\nReturns int."),
    method!(c"get_num_inputs", mdl_get_num_inputs, c"acl.mdl.get_num_inputs args parse failed!", c"get_num_inputs($module, desc, /)\n--\n\nCalls aclmdlGetNumInputs.\n\nReturns int."),
    method!(c"get_num_outputs", mdl_get_num_outputs, c"acl.mdl.get_num_outputs args parse failed!", c"get_num_outputs($module, desc, /)\n--\n\nCalls aclmdlGetNumOutputs.\n\nReturns int."),
    method!(c"get_op_attr", mdl_get_op_attr, c"acl.mdl.get_op_attr args parse failed!", c"get_op_attr($module, desc, op_name, attr, /)\n--\n\nCalls aclmdlGetOpAttr.\n\nReturns str | None."),
    method!(c"get_output_data_type", mdl_get_output_data_type, c"acl.mdl.get_output_data_type args parse failed!", c"get_output_data_type($module, desc, index, /)\n--\n\nCalls aclmdlGetOutputDataType.\n\nReturns int."),
    method!(c"get_output_dims", mdl_get_output_dims, c"acl.mdl.get_output_dims args parse failed!", c"get_output_dims($module, desc, index, /)\n--\n\nCalls aclmdlGetOutputDims. An empty dict on failure.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"get_output_format", mdl_get_output_format, c"acl.mdl.get_output_format args parse failed!", c"get_output_format($module, desc, index, /)\n--\n\nCalls aclmdlGetOutputFormat.\n\nReturns int."),
    method!(c"get_output_index_by_name", mdl_get_output_index_by_name, c"acl.mdl.get_output_index_by_name args parse failed!", c"get_output_index_by_name($module, desc, name, /)\n--\n\nCalls aclmdlGetOutputIndexByName.\n\nReturns tuple[int, int]."),
    method!(c"get_output_name_by_index", mdl_get_output_name_by_index, c"acl.mdl.get_output_name_by_index args parse failed!", c"get_output_name_by_index($module, desc, index, /)\n--\n\nCalls aclmdlGetOutputNameByIndex.\n\nReturns str | None."),
    method!(c"get_output_size_by_index", mdl_get_output_size_by_index, c"acl.mdl.get_output_size_by_index args parse failed!", c"get_output_size_by_index($module, desc, index, /)\n--\n\nCalls aclmdlGetOutputSizeByIndex.\n\nReturns int."),
    method!(c"get_tensor_real_name", mdl_get_tensor_real_name, c"acl.mdl.get_tensor_real_name args parse failed!", c"get_tensor_real_name($module, desc, name, /)\n--\n\nCalls aclmdlGetTensorRealName. None for an unknown name.\n\nReturns str | None."),
    method!(c"init_dump", mdl_init_dump, c"acl.mdl.init_dump args parse failed!", c"init_dump($module, /, *args)\n--\n\nCalls aclmdlInitDump.\n\nReturns int."),
    method!(c"load_from_file", mdl_load_from_file, c"acl.mdl.load_from_file args parse failed!", c"load_from_file($module, model_path, /)\n--\n\nCalls aclmdlLoadFromFile.\n\nReturns tuple[int, int]."),
    method!(c"load_from_file_with_mem", mdl_load_from_file_with_mem, c"acl.mdl.load_from_file_with_mem args parse failed!", c"load_from_file_with_mem($module, model_path, work_ptr, work_size, weight_ptr, weight_size, /)\n--\n\nCalls aclmdlLoadFromFileWithMem.\n\nReturns tuple[int, int]."),
    method!(c"load_from_file_with_q", mdl_load_from_file_with_q, c"acl.mdl.load_from_file_with_q args parse failed!", c"load_from_file_with_q($module, model_path, input_q, input_q_num, output_q, output_q_num, /)\n--\n\nCalls aclmdlLoadFromFileWithQ.\n\nReturns tuple[int, int]."),
    method!(c"load_from_mem", mdl_load_from_mem, c"acl.mdl.load_from_mem args parse failed!", c"load_from_mem($module, model, model_size, /)\n--\n\nCalls aclmdlLoadFromMem.\n\nReturns tuple[int, int]."),
    method!(c"load_from_mem_with_mem", mdl_load_from_mem_with_mem, c"acl.mdl.load_from_mem_with_mem args parse failed!", c"load_from_mem_with_mem($module, model, model_size, work_ptr, work_size, weight_ptr, weight_size, /)\n--\n\nCalls aclmdlLoadFromMemWithMem.\n\nReturns tuple[int, int]."),
    method!(c"load_from_mem_with_q", mdl_load_from_mem_with_q, c"acl.mdl.load_from_mem_with_q args parse failed!", c"load_from_mem_with_q($module, model, model_size, input_q, input_q_num, output_q, output_q_num, /)\n--\n\nCalls aclmdlLoadFromMemWithQ.\n\nReturns tuple[int, int]."),
    method!(c"load_with_config", mdl_load_with_config, c"acl.mdl.load_with_config args parse failed!", c"load_with_config($module, config_handle, /)\n--\n\nCalls aclmdlLoadWithConfig.\n\nReturns tuple[int, int]."),
    method!(c"query_size", mdl_query_size, c"acl.mdl.query_size args parse failed!", c"query_size($module, file_name, /)\n--\n\nCalls aclmdlQuerySize.\n\nReturns tuple[int, int, int]."),
    method!(c"query_size_from_mem", mdl_query_size_from_mem, c"acl.mdl.query_size_from_mem args parse failed!", c"query_size_from_mem($module, model, model_size, /)\n--\n\nCalls aclmdlQuerySizeFromMem.\n\nReturns tuple[int, int, int]."),
    method!(c"set_aipp_ax_swap_switch", mdl_set_aipp_ax_swap_switch, c"acl.mdl.set_aipp_ax_swap_switch args parse failed!", c"set_aipp_ax_swap_switch($module, aipp, switch, /)\n--\n\nCalls aclmdlSetAIPPAxSwapSwitch.\n\nReturns int."),
    method!(c"set_aipp_by_input_index", mdl_set_aipp_by_input_index, c"acl.mdl.set_aipp_by_input_index args parse failed!", c"set_aipp_by_input_index($module, model_id, dataset, index, aipp, /)\n--\n\nCalls aclmdlSetAIPPByInputIndex.\n\nReturns int."),
    method!(c"set_aipp_crop_params", mdl_set_aipp_crop_params, c"acl.mdl.set_aipp_crop_params args parse failed!", c"set_aipp_crop_params($module, aipp, switch, start_w, start_h, size_w, size_h, batch_index, /)\n--\n\nCalls aclmdlSetAIPPCropParams.\n\nReturns int."),
    method!(c"set_aipp_csc_params", mdl_set_aipp_csc_params, c"acl.mdl.set_aipp_csc_params args parse failed!", c"set_aipp_csc_params($module, aipp, csc_switch, r0c0, r0c1, r0c2, r1c0, r1c1, r1c2, r2c0, r2c1, r2c2, out_bias_r0, out_bias_r1, out_bias_r2, in_bias_r0, in_bias_r1, in_bias_r2, /)\n--\n\nCalls aclmdlSetAIPPCscParams.\n\nReturns int."),
    method!(c"set_aipp_dtc_pixel_mean", mdl_set_aipp_dtc_pixel_mean, c"acl.mdl.set_aipp_dtc_pixel_mean args parse failed!", c"set_aipp_dtc_pixel_mean($module, aipp, c0, c1, c2, c3, batch_index, /)\n--\n\nCalls aclmdlSetAIPPDtcPixelMean.\n\nReturns int."),
    method!(c"set_aipp_dtc_pixel_min", mdl_set_aipp_dtc_pixel_min, c"acl.mdl.set_aipp_dtc_pixel_min args parse failed!", c"set_aipp_dtc_pixel_min($module, aipp, c0, c1, c2, c3, batch_index, /)\n--\n\nCalls aclmdlSetAIPPDtcPixelMin.\n\nReturns int."),
    method!(c"set_aipp_input_format", mdl_set_aipp_input_format, c"acl.mdl.set_aipp_input_format args parse failed!", c"set_aipp_input_format($module, aipp, input_format, /)\n--\n\nCalls aclmdlSetAIPPInputFormat.\n\nReturns int."),
    method!(c"set_aipp_padding_params", mdl_set_aipp_padding_params, c"acl.mdl.set_aipp_padding_params args parse failed!", c"set_aipp_padding_params($module, aipp, switch, top, bottom, left, right, batch_index, /)\n--\n\nCalls aclmdlSetAIPPPaddingParams.\n\nReturns int."),
    method!(c"set_aipp_pixel_var_reci", mdl_set_aipp_pixel_var_reci, c"acl.mdl.set_aipp_pixel_var_reci args parse failed!", c"set_aipp_pixel_var_reci($module, aipp, c0, c1, c2, c3, batch_index, /)\n--\n\nCalls aclmdlSetAIPPPixelVarReci.\n\nReturns int."),
    method!(c"set_aipp_rbuv_swap_switch", mdl_set_aipp_rbuv_swap_switch, c"acl.mdl.set_aipp_rbuv_swap_switch args parse failed!", c"set_aipp_rbuv_swap_switch($module, aipp, switch, /)\n--\n\nCalls aclmdlSetAIPPRbuvSwapSwitch.\n\nReturns int."),
    method!(c"set_aipp_scf_params", mdl_set_aipp_scf_params, c"acl.mdl.set_aipp_scf_params args parse failed!", c"set_aipp_scf_params($module, aipp, switch, in_w, in_h, out_w, out_h, batch_index, /)\n--\n\nCalls aclmdlSetAIPPScfParams.\n\nReturns int."),
    method!(c"set_aipp_src_image_size", mdl_set_aipp_src_image_size, c"acl.mdl.set_aipp_src_image_size args parse failed!", c"set_aipp_src_image_size($module, aipp, w, h, /)\n--\n\nCalls aclmdlSetAIPPSrcImageSize.\n\nReturns int."),
    method!(c"set_config_opt", manual::mdl_set_config_opt, c"acl.mdl.set_config_opt args parse failed!", c"set_config_opt($module, config_handle, attr, attr_value, /)\n--\n\nCalls aclmdlSetConfigOpt. The attribute decides whether the value is a number or a path; its size follows from that.\n\nReturns int."),
    method!(c"set_dataset_tensor_desc", mdl_set_dataset_tensor_desc, c"acl.mdl.set_dataset_tensor_desc args parse failed!", c"set_dataset_tensor_desc($module, dataset, tensor_desc, index, /)\n--\n\nCalls aclmdlSetDatasetTensorDesc. The dataset comes back as the first value.\n\nReturns tuple[int, int]."),
    method!(c"set_dump", mdl_set_dump, c"acl.mdl.set_dump args parse failed!", c"set_dump($module, dump_cfg_path=..., /)\n--\n\nCalls aclmdlSetDump.\n\nReturns int."),
    method!(c"set_dynamic_batch_size", mdl_set_dynamic_batch_size, c"acl.mdl.set_dynamic_batch_size args parse failed!", c"set_dynamic_batch_size($module, model_id, dataset, index, batch_size, /)\n--\n\nCalls aclmdlSetDynamicBatchSize.\n\nReturns int."),
    method!(c"set_dynamic_hw_size", mdl_set_dynamic_hw_size, c"acl.mdl.set_dynamic_hw_size args parse failed!", c"set_dynamic_hw_size($module, model_id, dataset, index, height, width, /)\n--\n\nCalls aclmdlSetDynamicHWSize.\n\nReturns int."),
    method!(c"set_exec_config_opt", manual::mdl_set_exec_config_opt, c"acl.mdl.set_exec_config_opt args parse failed!", c"set_exec_config_opt($module, handle, attr, attr_value, /)\n--\n\nCalls aclmdlSetExecConfigOpt. The value travels as 32 bits, as addresses and sizes that need more do as 64.\n\nReturns int."),
    method!(c"set_input_aipp", mdl_set_input_aipp, c"acl.mdl.set_input_aipp args parse failed!", c"set_input_aipp($module, model_id, dataset, index, aipp, /)\n--\n\nCalls aclmdlSetInputAIPP.\n\nReturns int."),
    method!(c"set_input_dynamic_dims", mdl_set_input_dynamic_dims, c"acl.mdl.set_input_dynamic_dims args parse failed!", c"set_input_dynamic_dims($module, model_id, dataset, index, dims, /)\n--\n\nCalls aclmdlSetInputDynamicDims. The dict needs dimCount and dims (a list); name may be left out.\n\nReturns int."),
    method!(c"unload", mdl_unload, c"acl.mdl.unload args parse failed!", c"unload($module, model_id, /)\n--\n\nCalls aclmdlUnload.\n\nReturns int."),
    END,
]);

fn media_dvpp_clear_hist<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let hist = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppClearHist(Pointer) -> i32, [hist], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_create_batch_pic_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let batch_size = call.get::<u32>(0)?;
    let ret = c_call!(call.returns acldvppCreateBatchPicDesc(u32) -> Pointer, [batch_size], or Default::default());
    call.one(&ret)
}

fn media_dvpp_create_border_config<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns acldvppCreateBorderConfig() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_dvpp_create_channel<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits acldvppCreateChannel(Pointer) -> i32, [channel_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_create_channel_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns acldvppCreateChannelDesc() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_dvpp_create_hist<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns acldvppCreateHist() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_dvpp_create_jpege_config<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns acldvppCreateJpegeConfig() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_dvpp_create_lut_map<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns acldvppCreateLutMap() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_dvpp_create_pic_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns acldvppCreatePicDesc() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_dvpp_create_resize_config<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns acldvppCreateResizeConfig() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_dvpp_create_roi_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let left = call.get::<u32>(0)?;
    let right = call.get::<u32>(1)?;
    let top = call.get::<u32>(2)?;
    let bottom = call.get::<u32>(3)?;
    let ret = c_call!(call.returns acldvppCreateRoiConfig(u32, u32, u32, u32) -> Pointer, [left, right, top, bottom], or Default::default());
    call.one(&ret)
}

fn media_dvpp_create_stream_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns acldvppCreateStreamDesc() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_dvpp_destroy_batch_pic_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let batch_pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyBatchPicDesc(Pointer) -> i32, [batch_pic_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_border_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let border_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyBorderConfig(Pointer) -> i32, [border_config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_channel<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits acldvppDestroyChannel(Pointer) -> i32, [channel_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_channel_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyChannelDesc(Pointer) -> i32, [channel_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_hist<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let hist = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyHist(Pointer) -> i32, [hist], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_jpege_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let jpege_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyJpegeConfig(Pointer) -> i32, [jpege_config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_lut_map<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let lut_map = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyLutMap(Pointer) -> i32, [lut_map], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_pic_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyPicDesc(Pointer) -> i32, [pic_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_resize_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let resize_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyResizeConfig(Pointer) -> i32, [resize_config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_roi_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let roi_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyRoiConfig(Pointer) -> i32, [roi_config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_destroy_stream_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppDestroyStreamDesc(Pointer) -> i32, [stream_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_free<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let dev_ptr = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits acldvppFree(Pointer) -> i32, [dev_ptr], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_get_border_config_border_type<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let border_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetBorderConfigBorderType(Pointer) -> i32, [border_config], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_border_config_bottom<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let border_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetBorderConfigBottom(Pointer) -> u32, [border_config], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_border_config_left<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let border_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetBorderConfigLeft(Pointer) -> u32, [border_config], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_border_config_right<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let border_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetBorderConfigRight(Pointer) -> u32, [border_config], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_border_config_top<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let border_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetBorderConfigTop(Pointer) -> u32, [border_config], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_border_config_value<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let border_config = call.get::<Pointer>(0)?;
    let index = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppGetBorderConfigValue(Pointer, u32) -> f64, [border_config, index], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_channel_desc_channel_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetChannelDescChannelId(Pointer) -> u64, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_channel_desc_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let param_type = call.get::<i32>(1)?;
    let length = call.get::<usize>(2)?;
    let param = call.get::<Pointer>(3)?;
    let mut param_ret_size = usize::default();
    let ret = c_call!(call.returns acldvppGetChannelDescParam(Pointer, i32, usize, *mut usize, Pointer) -> i32, [channel_desc, param_type, length, &raw mut param_ret_size, param], or NOT_SUPPORTED);
    call.many(&[&param_ret_size, &ret])
}

fn media_dvpp_get_hist_data<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let hist = call.get::<Pointer>(0)?;
    let dim = call.get::<u32>(1)?;
    let mut data = Pointer::default();
    let mut len = u16::default();
    let ret = c_call!(call.returns acldvppGetHistData(Pointer, u32, *mut Pointer, *mut u16) -> i32, [hist, dim, &raw mut data, &raw mut len], or NOT_SUPPORTED);
    call.many(&[&data, &len, &ret])
}

fn media_dvpp_get_hist_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let hist = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetHistDims(Pointer) -> u32, [hist], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_hist_ret_code<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let hist = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetHistRetCode(Pointer) -> u32, [hist], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_jpege_config_level<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let jpege_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetJpegeConfigLevel(Pointer) -> u32, [jpege_config], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_lut_map_data<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let lut_map = call.get::<Pointer>(0)?;
    let dim = call.get::<u32>(1)?;
    let mut data = Pointer::default();
    let mut len = u32::default();
    let ret = c_call!(call.returns acldvppGetLutMapData(Pointer, u32, *mut Pointer, *mut u32) -> i32, [lut_map, dim, &raw mut data, &raw mut len], or NOT_SUPPORTED);
    call.many(&[&data, &len, &ret])
}

fn media_dvpp_get_lut_map_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let lut_map = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetLutMapDims(Pointer) -> u32, [lut_map], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_pic_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let batch_pic_desc = call.get::<Pointer>(0)?;
    let index = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppGetPicDesc(Pointer, u32) -> Pointer, [batch_pic_desc, index], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_pic_desc_data<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetPicDescData(Pointer) -> Pointer, [pic_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_pic_desc_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetPicDescFormat(Pointer) -> i32, [pic_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_pic_desc_height<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetPicDescHeight(Pointer) -> u32, [pic_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_pic_desc_height_stride<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetPicDescHeightStride(Pointer) -> u32, [pic_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_pic_desc_ret_code<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetPicDescRetCode(Pointer) -> u32, [pic_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_pic_desc_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetPicDescSize(Pointer) -> u32, [pic_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_pic_desc_width<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetPicDescWidth(Pointer) -> u32, [pic_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_pic_desc_width_stride<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetPicDescWidthStride(Pointer) -> u32, [pic_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_resize_config_interpolation<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let resize_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetResizeConfigInterpolation(Pointer) -> u32, [resize_config], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_stream_desc_data<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetStreamDescData(Pointer) -> Pointer, [stream_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_stream_desc_eos<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetStreamDescEos(Pointer) -> u8, [stream_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_stream_desc_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetStreamDescFormat(Pointer) -> i32, [stream_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_stream_desc_ret_code<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetStreamDescRetCode(Pointer) -> u32, [stream_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_stream_desc_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetStreamDescSize(Pointer) -> u32, [stream_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_get_stream_desc_timestamp<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns acldvppGetStreamDescTimestamp(Pointer) -> u64, [stream_desc], or Default::default());
    call.one(&ret)
}

fn media_dvpp_jpeg_decode_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let data = call.get::<Pointer>(1)?;
    let size = call.get::<u32>(2)?;
    let output_desc = call.get::<Pointer>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits acldvppJpegDecodeAsync(Pointer, Pointer, u32, Pointer, Pointer) -> i32, [channel_desc, data, size, output_desc, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_jpeg_encode_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let pic_desc = call.get::<Pointer>(1)?;
    let data = call.get::<Pointer>(2)?;
    let size_ptr = call.get::<Pointer>(3)?;
    let config = call.get::<Pointer>(4)?;
    let stream = call.get::<Pointer>(5)?;
    let ret = c_call!(call.waits acldvppJpegEncodeAsync(Pointer, Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, pic_desc, data, size_ptr, config, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_jpeg_get_image_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let data = call.get::<Pointer>(0)?;
    let size = call.get::<u32>(1)?;
    let mut width = u32::default();
    let mut height = u32::default();
    let mut components = i32::default();
    let ret = c_call!(call.returns acldvppJpegGetImageInfo(Pointer, u32, *mut u32, *mut u32, *mut i32) -> i32, [data, size, &raw mut width, &raw mut height, &raw mut components], or NOT_SUPPORTED);
    call.many(&[&width, &height, &components, &ret])
}

fn media_dvpp_jpeg_get_image_info_v2<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let data = call.get::<Pointer>(0)?;
    let size = call.get::<u32>(1)?;
    let mut width = u32::default();
    let mut height = u32::default();
    let mut components = i32::default();
    let mut format = i32::default();
    let ret = c_call!(call.returns acldvppJpegGetImageInfoV2(Pointer, u32, *mut u32, *mut u32, *mut i32, *mut i32) -> i32, [data, size, &raw mut width, &raw mut height, &raw mut components, &raw mut format], or NOT_SUPPORTED);
    call.many(&[&width, &height, &components, &format, &ret])
}

fn media_dvpp_jpeg_predict_dec_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let data = call.get::<Pointer>(0)?;
    let size = call.get::<u32>(1)?;
    let format = call.get::<i32>(2)?;
    let mut dec_size = u32::default();
    let ret = c_call!(call.returns acldvppJpegPredictDecSize(Pointer, u32, i32, *mut u32) -> i32, [data, size, format, &raw mut dec_size], or NOT_SUPPORTED);
    call.many(&[&dec_size, &ret])
}

fn media_dvpp_jpeg_predict_enc_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let config = call.get::<Pointer>(1)?;
    let mut size = u32::default();
    let ret = c_call!(call.returns acldvppJpegPredictEncSize(Pointer, Pointer, *mut u32) -> i32, [pic_desc, config, &raw mut size], or NOT_SUPPORTED);
    call.many(&[&size, &ret])
}

fn media_dvpp_malloc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let size = call.get::<usize>(0)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.waits acldvppMalloc(*mut Pointer, usize) -> i32, [&raw mut dev_ptr, size], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
}

fn media_dvpp_malloc_with_cfg<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let size = call.get::<usize>(0)?;
    let policy = call.get::<i32>(1)?;
    let cfg = call.get::<Pointer>(2)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.waits acldvppMallocWithCfg(*mut Pointer, usize, i32, Pointer) -> i32, [&raw mut dev_ptr, size, policy, cfg], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
}

fn media_dvpp_png_decode_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let data = call.get::<Pointer>(1)?;
    let size = call.get::<u32>(2)?;
    let output_desc = call.get::<Pointer>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits acldvppPngDecodeAsync(Pointer, Pointer, u32, Pointer, Pointer) -> i32, [channel_desc, data, size, output_desc, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_png_get_image_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let data = call.get::<Pointer>(0)?;
    let data_size = call.get::<u32>(1)?;
    let mut width = u32::default();
    let mut height = u32::default();
    let mut components = i32::default();
    let ret = c_call!(call.returns acldvppPngGetImageInfo(Pointer, u32, *mut u32, *mut u32, *mut i32) -> i32, [data, data_size, &raw mut width, &raw mut height, &raw mut components], or NOT_SUPPORTED);
    call.many(&[&width, &height, &components, &ret])
}

fn media_dvpp_png_predict_dec_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let data = call.get::<Pointer>(0)?;
    let data_size = call.get::<u32>(1)?;
    let output_pixel_format = call.get::<i32>(2)?;
    let mut dec_size = u32::default();
    let ret = c_call!(call.returns acldvppPngPredictDecSize(Pointer, u32, i32, *mut u32) -> i32, [data, data_size, output_pixel_format, &raw mut dec_size], or NOT_SUPPORTED);
    call.many(&[&dec_size, &ret])
}

fn media_dvpp_set_border_config_border_type<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let border_config = call.get::<Pointer>(0)?;
    let border_type = call.get::<i32>(1)?;
    let ret = c_call!(call.returns acldvppSetBorderConfigBorderType(Pointer, i32) -> i32, [border_config, border_type], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_border_config_bottom<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let border_config = call.get::<Pointer>(0)?;
    let bottom = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetBorderConfigBottom(Pointer, u32) -> i32, [border_config, bottom], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_border_config_left<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let border_config = call.get::<Pointer>(0)?;
    let left = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetBorderConfigLeft(Pointer, u32) -> i32, [border_config, left], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_border_config_right<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let border_config = call.get::<Pointer>(0)?;
    let right = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetBorderConfigRight(Pointer, u32) -> i32, [border_config, right], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_border_config_top<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let border_config = call.get::<Pointer>(0)?;
    let top = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetBorderConfigTop(Pointer, u32) -> i32, [border_config, top], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_border_config_value<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let border_config = call.get::<Pointer>(0)?;
    let index = call.get::<u32>(1)?;
    let value = call.get::<f64>(2)?;
    let ret = c_call!(call.returns acldvppSetBorderConfigValue(Pointer, u32, f64) -> i32, [border_config, index, value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_channel_desc_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let mode = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetChannelDescMode(Pointer, u32) -> i32, [channel_desc, mode], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_channel_desc_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let param_type = call.get::<i32>(1)?;
    let length = call.get::<usize>(2)?;
    let param = call.get::<Pointer>(3)?;
    let ret = c_call!(call.returns acldvppSetChannelDescParam(Pointer, i32, usize, Pointer) -> i32, [channel_desc, param_type, length, param], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_jpege_config_level<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let jpege_config = call.get::<Pointer>(0)?;
    let level = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetJpegeConfigLevel(Pointer, u32) -> i32, [jpege_config, level], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_pic_desc_data<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let data_dev = call.get::<Pointer>(1)?;
    let ret = c_call!(call.returns acldvppSetPicDescData(Pointer, Pointer) -> i32, [pic_desc, data_dev], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_pic_desc_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let format = call.get::<i32>(1)?;
    let ret = c_call!(call.returns acldvppSetPicDescFormat(Pointer, i32) -> i32, [pic_desc, format], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_pic_desc_height<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let height = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetPicDescHeight(Pointer, u32) -> i32, [pic_desc, height], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_pic_desc_height_stride<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let height_stride = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetPicDescHeightStride(Pointer, u32) -> i32, [pic_desc, height_stride], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_pic_desc_ret_code<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let ret_code = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetPicDescRetCode(Pointer, u32) -> i32, [pic_desc, ret_code], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_pic_desc_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let size = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetPicDescSize(Pointer, u32) -> i32, [pic_desc, size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_pic_desc_width<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let width = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetPicDescWidth(Pointer, u32) -> i32, [pic_desc, width], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_pic_desc_width_stride<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let pic_desc = call.get::<Pointer>(0)?;
    let width_stride = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetPicDescWidthStride(Pointer, u32) -> i32, [pic_desc, width_stride], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_resize_config_interpolation<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let resize_config = call.get::<Pointer>(0)?;
    let interpolation = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetResizeConfigInterpolation(Pointer, u32) -> i32, [resize_config, interpolation], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_roi_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let config = call.get::<Pointer>(0)?;
    let left = call.get::<u32>(1)?;
    let right = call.get::<u32>(2)?;
    let top = call.get::<u32>(3)?;
    let bottom = call.get::<u32>(4)?;
    let ret = c_call!(call.returns acldvppSetRoiConfig(Pointer, u32, u32, u32, u32) -> i32, [config, left, right, top, bottom], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_roi_config_bottom<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let config = call.get::<Pointer>(0)?;
    let bottom = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetRoiConfigBottom(Pointer, u32) -> i32, [config, bottom], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_roi_config_left<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let config = call.get::<Pointer>(0)?;
    let left = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetRoiConfigLeft(Pointer, u32) -> i32, [config, left], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_roi_config_right<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let config = call.get::<Pointer>(0)?;
    let right = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetRoiConfigRight(Pointer, u32) -> i32, [config, right], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_roi_config_top<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let config = call.get::<Pointer>(0)?;
    let top = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetRoiConfigTop(Pointer, u32) -> i32, [config, top], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_stream_desc_data<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let data_dev = call.get::<Pointer>(1)?;
    let ret = c_call!(call.returns acldvppSetStreamDescData(Pointer, Pointer) -> i32, [stream_desc, data_dev], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_stream_desc_eos<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let eos = call.get::<u8>(1)?;
    let ret = c_call!(call.returns acldvppSetStreamDescEos(Pointer, u8) -> i32, [stream_desc, eos], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_stream_desc_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let format = call.get::<i32>(1)?;
    let ret = c_call!(call.returns acldvppSetStreamDescFormat(Pointer, i32) -> i32, [stream_desc, format], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_stream_desc_ret_code<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let ret_code = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetStreamDescRetCode(Pointer, u32) -> i32, [stream_desc, ret_code], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_stream_desc_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let size = call.get::<u32>(1)?;
    let ret = c_call!(call.returns acldvppSetStreamDescSize(Pointer, u32) -> i32, [stream_desc, size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_set_stream_desc_timestamp<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream_desc = call.get::<Pointer>(0)?;
    let timestamp = call.get::<u64>(1)?;
    let ret = c_call!(call.returns acldvppSetStreamDescTimestamp(Pointer, u64) -> i32, [stream_desc, timestamp], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_batch_crop_and_paste_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let src_batch = call.get::<Pointer>(1)?;
    let roi_num_list = call.get::<Vec<u32>>(2)?;
    let dst_batch = call.get::<Pointer>(3)?;
    let crop_area_list = call.get::<Vec<Pointer>>(4)?;
    let paste_area_list = call.get::<Vec<Pointer>>(5)?;
    let stream = call.get::<Pointer>(6)?;
    let ret = if sum(&roi_num_list) > crop_area_list.count() {
        call.refuse("acl.media.dvpp_vpc_batch_crop_and_paste_async: sum(roi_num_list) <= count(crop_area_list) does not hold")
    } else if sum(&roi_num_list) > paste_area_list.count() {
        call.refuse("acl.media.dvpp_vpc_batch_crop_and_paste_async: sum(roi_num_list) <= count(paste_area_list) does not hold")
    } else {
        c_call!(call.waits acldvppVpcBatchCropAndPasteAsync(Pointer, Pointer, *const u32, u32, Pointer, *const Pointer, *const Pointer, Pointer) -> i32, [channel_desc, src_batch, roi_num_list.as_ptr(), saturated(roi_num_list.count()), dst_batch, crop_area_list.as_ptr(), paste_area_list.as_ptr(), stream], or NOT_SUPPORTED)
    };
    call.many(&[&dst_batch, &ret])
}

fn media_dvpp_vpc_batch_crop_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let src_batch = call.get::<Pointer>(1)?;
    let roi_num_list = call.get::<Vec<u32>>(2)?;
    let dst_batch = call.get::<Pointer>(3)?;
    let crop_area_list = call.get::<Vec<Pointer>>(4)?;
    let stream = call.get::<Pointer>(5)?;
    let ret = if sum(&roi_num_list) > crop_area_list.count() {
        call.refuse("acl.media.dvpp_vpc_batch_crop_async: sum(roi_num_list) <= count(crop_area_list) does not hold")
    } else {
        c_call!(call.waits acldvppVpcBatchCropAsync(Pointer, Pointer, *const u32, u32, Pointer, *const Pointer, Pointer) -> i32, [channel_desc, src_batch, roi_num_list.as_ptr(), saturated(roi_num_list.count()), dst_batch, crop_area_list.as_ptr(), stream], or NOT_SUPPORTED)
    };
    call.many(&[&dst_batch, &ret])
}

fn media_dvpp_vpc_batch_crop_resize_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let src_batch = call.get::<Pointer>(1)?;
    let roi_num_list = call.get::<Vec<u32>>(2)?;
    let dst_batch = call.get::<Pointer>(3)?;
    let crop_area_list = call.get::<Vec<Pointer>>(4)?;
    let resize_config = call.get::<Pointer>(5)?;
    let stream = call.get::<Pointer>(6)?;
    let ret = if sum(&roi_num_list) > crop_area_list.count() {
        call.refuse("acl.media.dvpp_vpc_batch_crop_resize_async: sum(roi_num_list) <= count(crop_area_list) does not hold")
    } else {
        c_call!(call.waits acldvppVpcBatchCropResizeAsync(Pointer, Pointer, *const u32, u32, Pointer, *const Pointer, Pointer, Pointer) -> i32, [channel_desc, src_batch, roi_num_list.as_ptr(), saturated(roi_num_list.count()), dst_batch, crop_area_list.as_ptr(), resize_config, stream], or NOT_SUPPORTED)
    };
    call.many(&[&dst_batch, &ret])
}

fn media_dvpp_vpc_batch_crop_resize_make_border_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(8, 8)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let src_batch = call.get::<Pointer>(1)?;
    let roi_num_list = call.get::<Vec<u32>>(2)?;
    let dst_batch = call.get::<Pointer>(3)?;
    let crop_area_list = call.get::<Vec<Pointer>>(4)?;
    let border_cfg_list = call.get::<Vec<Pointer>>(5)?;
    let resize_config = call.get::<Pointer>(6)?;
    let stream = call.get::<Pointer>(7)?;
    let ret = if sum(&roi_num_list) > crop_area_list.count() {
        call.refuse("acl.media.dvpp_vpc_batch_crop_resize_make_border_async: sum(roi_num_list) <= count(crop_area_list) does not hold")
    } else if sum(&roi_num_list) > border_cfg_list.count() {
        call.refuse("acl.media.dvpp_vpc_batch_crop_resize_make_border_async: sum(roi_num_list) <= count(border_cfg_list) does not hold")
    } else {
        c_call!(call.waits acldvppVpcBatchCropResizeMakeBorderAsync(Pointer, Pointer, *const u32, u32, Pointer, *const Pointer, *const Pointer, Pointer, Pointer) -> i32, [channel_desc, src_batch, roi_num_list.as_ptr(), saturated(roi_num_list.count()), dst_batch, crop_area_list.as_ptr(), border_cfg_list.as_ptr(), resize_config, stream], or NOT_SUPPORTED)
    };
    call.many(&[&dst_batch, &ret])
}

fn media_dvpp_vpc_batch_crop_resize_paste_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(8, 8)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let src_batch = call.get::<Pointer>(1)?;
    let roi_num_list = call.get::<Vec<u32>>(2)?;
    let dst_batch = call.get::<Pointer>(3)?;
    let crop_area_list = call.get::<Vec<Pointer>>(4)?;
    let paste_area_list = call.get::<Vec<Pointer>>(5)?;
    let resize_config = call.get::<Pointer>(6)?;
    let stream = call.get::<Pointer>(7)?;
    let ret = if sum(&roi_num_list) > crop_area_list.count() {
        call.refuse("acl.media.dvpp_vpc_batch_crop_resize_paste_async: sum(roi_num_list) <= count(crop_area_list) does not hold")
    } else if sum(&roi_num_list) > paste_area_list.count() {
        call.refuse("acl.media.dvpp_vpc_batch_crop_resize_paste_async: sum(roi_num_list) <= count(paste_area_list) does not hold")
    } else {
        c_call!(call.waits acldvppVpcBatchCropResizePasteAsync(Pointer, Pointer, *const u32, u32, Pointer, *const Pointer, *const Pointer, Pointer, Pointer) -> i32, [channel_desc, src_batch, roi_num_list.as_ptr(), saturated(roi_num_list.count()), dst_batch, crop_area_list.as_ptr(), paste_area_list.as_ptr(), resize_config, stream], or NOT_SUPPORTED)
    };
    call.many(&[&dst_batch, &ret])
}

fn media_dvpp_vpc_calc_hist_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let src_pic_desc = call.get::<Pointer>(1)?;
    let hist = call.get::<Pointer>(2)?;
    let reserve = call.get::<Pointer>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits acldvppVpcCalcHistAsync(Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, src_pic_desc, hist, reserve, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_convert_color_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let input_desc = call.get::<Pointer>(1)?;
    let output_desc = call.get::<Pointer>(2)?;
    let stream = call.get::<Pointer>(3)?;
    let ret = c_call!(call.waits acldvppVpcConvertColorAsync(Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, input_desc, output_desc, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_crop_and_paste_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let input_desc = call.get::<Pointer>(1)?;
    let output_desc = call.get::<Pointer>(2)?;
    let crop_area = call.get::<Pointer>(3)?;
    let paste_area = call.get::<Pointer>(4)?;
    let stream = call.get::<Pointer>(5)?;
    let ret = c_call!(call.waits acldvppVpcCropAndPasteAsync(Pointer, Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, input_desc, output_desc, crop_area, paste_area, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_crop_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let input_desc = call.get::<Pointer>(1)?;
    let output_desc = call.get::<Pointer>(2)?;
    let crop_area = call.get::<Pointer>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits acldvppVpcCropAsync(Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, input_desc, output_desc, crop_area, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_crop_resize_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let input_desc = call.get::<Pointer>(1)?;
    let output_desc = call.get::<Pointer>(2)?;
    let crop_area = call.get::<Pointer>(3)?;
    let resize_config = call.get::<Pointer>(4)?;
    let stream = call.get::<Pointer>(5)?;
    let ret = c_call!(call.waits acldvppVpcCropResizeAsync(Pointer, Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, input_desc, output_desc, crop_area, resize_config, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_crop_resize_paste_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let input_desc = call.get::<Pointer>(1)?;
    let output_desc = call.get::<Pointer>(2)?;
    let crop_area = call.get::<Pointer>(3)?;
    let paste_area = call.get::<Pointer>(4)?;
    let resize_config = call.get::<Pointer>(5)?;
    let stream = call.get::<Pointer>(6)?;
    let ret = c_call!(call.waits acldvppVpcCropResizePasteAsync(Pointer, Pointer, Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, input_desc, output_desc, crop_area, paste_area, resize_config, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_equalize_hist_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let input_desc = call.get::<Pointer>(1)?;
    let output_desc = call.get::<Pointer>(2)?;
    let lut_map = call.get::<Pointer>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits acldvppVpcEqualizeHistAsync(Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, input_desc, output_desc, lut_map, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_make_border_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let input_desc = call.get::<Pointer>(1)?;
    let output_desc = call.get::<Pointer>(2)?;
    let border_config = call.get::<Pointer>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits acldvppVpcMakeBorderAsync(Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, input_desc, output_desc, border_config, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_pyr_down_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let input_desc = call.get::<Pointer>(1)?;
    let output_desc = call.get::<Pointer>(2)?;
    let reserve = call.get::<Pointer>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits acldvppVpcPyrDownAsync(Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, input_desc, output_desc, reserve, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_dvpp_vpc_resize_async<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let input_desc = call.get::<Pointer>(1)?;
    let output_desc = call.get::<Pointer>(2)?;
    let resize_config = call.get::<Pointer>(3)?;
    let stream = call.get::<Pointer>(4)?;
    let ret = c_call!(call.waits acldvppVpcResizeAsync(Pointer, Pointer, Pointer, Pointer, Pointer) -> i32, [channel_desc, input_desc, output_desc, resize_config, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_create_channel<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclvdecCreateChannel(Pointer) -> i32, [channel_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_create_channel_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclvdecCreateChannelDesc() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_vdec_create_frame_config<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclvdecCreateFrameConfig() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_vdec_destroy_channel<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclvdecDestroyChannel(Pointer) -> i32, [channel_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_destroy_frame_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let vdec_frame_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclvdecDestroyFrameConfig(Pointer) -> i32, [vdec_frame_config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_get_channel_desc_bit_depth<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvdecGetChannelDescBitDepth(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_vdec_get_channel_desc_channel_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvdecGetChannelDescChannelId(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_vdec_get_channel_desc_entype<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvdecGetChannelDescEnType(Pointer) -> i32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_vdec_get_channel_desc_out_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvdecGetChannelDescOutMode(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_vdec_get_channel_desc_out_pic_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvdecGetChannelDescOutPicFormat(Pointer) -> i32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_vdec_get_channel_desc_out_pic_height<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvdecGetChannelDescOutPicHeight(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_vdec_get_channel_desc_out_pic_width<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvdecGetChannelDescOutPicWidth(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_vdec_get_channel_desc_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let param_type = call.get::<i32>(1)?;
    let length = call.get::<usize>(2)?;
    let param = call.get::<Pointer>(3)?;
    let mut param_ret_size = usize::default();
    let ret = c_call!(call.returns aclvdecGetChannelDescParam(Pointer, i32, usize, *mut usize, Pointer) -> i32, [channel_desc, param_type, length, &raw mut param_ret_size, param], or NOT_SUPPORTED);
    call.many(&[&param_ret_size, &ret])
}

fn media_vdec_get_channel_desc_ref_frame_num<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvdecGetChannelDescRefFrameNum(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_vdec_get_channel_desc_thread_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvdecGetChannelDescThreadId(Pointer) -> u64, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_vdec_set_channel_desc_bit_depth<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let bit_depth = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescBitDepth(Pointer, u32) -> i32, [channel_desc, bit_depth], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_set_channel_desc_channel_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let channel_id = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescChannelId(Pointer, u32) -> i32, [channel_desc, channel_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_set_channel_desc_entype<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let en_type = call.get::<i32>(1)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescEnType(Pointer, i32) -> i32, [channel_desc, en_type], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_set_channel_desc_out_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let out_mode = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescOutMode(Pointer, u32) -> i32, [channel_desc, out_mode], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_set_channel_desc_out_pic_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let out_pic_format = call.get::<i32>(1)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescOutPicFormat(Pointer, i32) -> i32, [channel_desc, out_pic_format], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_set_channel_desc_out_pic_height<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let out_pic_height = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescOutPicHeight(Pointer, u32) -> i32, [channel_desc, out_pic_height], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_set_channel_desc_out_pic_width<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let out_pic_width = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescOutPicWidth(Pointer, u32) -> i32, [channel_desc, out_pic_width], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_set_channel_desc_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let param_type = call.get::<i32>(1)?;
    let length = call.get::<usize>(2)?;
    let param = call.get::<Pointer>(3)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescParam(Pointer, i32, usize, Pointer) -> i32, [channel_desc, param_type, length, param], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_set_channel_desc_ref_frame_num<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ref_frame_num = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescRefFrameNum(Pointer, u32) -> i32, [channel_desc, ref_frame_num], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_vdec_set_channel_desc_thread_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let thread_id = call.get::<u64>(1)?;
    let ret = c_call!(call.returns aclvdecSetChannelDescThreadId(Pointer, u64) -> i32, [channel_desc, thread_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_create_channel<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclvencCreateChannel(Pointer) -> i32, [channel_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_create_channel_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclvencCreateChannelDesc() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_venc_create_frame_config<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclvencCreateFrameConfig() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn media_venc_destroy_channel<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclvencDestroyChannel(Pointer) -> i32, [channel_desc], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_destroy_frame_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclvencDestroyFrameConfig(Pointer) -> i32, [config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_get_channel_desc_buf_addr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescBufAddr(Pointer) -> Pointer, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_buf_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescBufSize(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_channel_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescChannelId(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_entype<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescEnType(Pointer) -> i32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_key_frame_interval<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescKeyFrameInterval(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_max_bit_rate<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescMaxBitRate(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let param_type = call.get::<i32>(1)?;
    let length = call.get::<usize>(2)?;
    let param = call.get::<Pointer>(3)?;
    let mut param_ret_size = usize::default();
    let ret = c_call!(call.returns aclvencGetChannelDescParam(Pointer, i32, usize, *mut usize, Pointer) -> i32, [channel_desc, param_type, length, &raw mut param_ret_size, param], or NOT_SUPPORTED);
    call.many(&[&param_ret_size, &ret])
}

fn media_venc_get_channel_desc_pic_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescPicFormat(Pointer) -> i32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_pic_height<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescPicHeight(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_pic_width<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescPicWidth(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_rc_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescRcMode(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_src_rate<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescSrcRate(Pointer) -> u32, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_channel_desc_thread_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetChannelDescThreadId(Pointer) -> u64, [channel_desc], or Default::default());
    call.one(&ret)
}

fn media_venc_get_frame_config_eos<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetFrameConfigEos(Pointer) -> u8, [config], or Default::default());
    call.one(&ret)
}

fn media_venc_get_frame_config_force_i_frame<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclvencGetFrameConfigForceIFrame(Pointer) -> u8, [config], or Default::default());
    call.one(&ret)
}

fn media_venc_set_channel_desc_buf_addr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let buf_addr = call.get::<Pointer>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescBufAddr(Pointer, Pointer) -> i32, [channel_desc, buf_addr], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_buf_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let buf_size = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescBufSize(Pointer, u32) -> i32, [channel_desc, buf_size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_entype<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let en_type = call.get::<i32>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescEnType(Pointer, i32) -> i32, [channel_desc, en_type], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_key_frame_interval<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let key_frame_interval = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescKeyFrameInterval(Pointer, u32) -> i32, [channel_desc, key_frame_interval], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_max_bit_rate<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let max_bit_rate = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescMaxBitRate(Pointer, u32) -> i32, [channel_desc, max_bit_rate], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let param_type = call.get::<i32>(1)?;
    let length = call.get::<usize>(2)?;
    let param = call.get::<Pointer>(3)?;
    let ret = c_call!(call.returns aclvencSetChannelDescParam(Pointer, i32, usize, Pointer) -> i32, [channel_desc, param_type, length, param], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_pic_format<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let pic_format = call.get::<i32>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescPicFormat(Pointer, i32) -> i32, [channel_desc, pic_format], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_pic_height<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let pic_height = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescPicHeight(Pointer, u32) -> i32, [channel_desc, pic_height], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_pic_width<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let pic_width = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescPicWidth(Pointer, u32) -> i32, [channel_desc, pic_width], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_rc_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let rc_mode = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescRcMode(Pointer, u32) -> i32, [channel_desc, rc_mode], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_src_rate<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let src_rate = call.get::<u32>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescSrcRate(Pointer, u32) -> i32, [channel_desc, src_rate], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_channel_desc_thread_id<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let channel_desc = call.get::<Pointer>(0)?;
    let thread_id = call.get::<u64>(1)?;
    let ret = c_call!(call.returns aclvencSetChannelDescThreadId(Pointer, u64) -> i32, [channel_desc, thread_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_frame_config_eos<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let config = call.get::<Pointer>(0)?;
    let eos = call.get::<u8>(1)?;
    let ret = c_call!(call.returns aclvencSetFrameConfigEos(Pointer, u8) -> i32, [config, eos], or NOT_SUPPORTED);
    call.one(&ret)
}

fn media_venc_set_frame_config_force_i_frame<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let config = call.get::<Pointer>(0)?;
    let force_i_frame = call.get::<u8>(1)?;
    let ret = c_call!(call.returns aclvencSetFrameConfigForceIFrame(Pointer, u8) -> i32, [config, force_i_frame], or NOT_SUPPORTED);
    call.one(&ret)
}

static MEDIA: Table = Table::new(&[
    method!(c"dvpp_clear_hist", media_dvpp_clear_hist, c"acl.media.dvpp_clear_hist args parse failed", c"dvpp_clear_hist($module, hist, /)\n--\n\nCalls acldvppClearHist.\n\nReturns int."),
    method!(c"dvpp_create_batch_pic_desc", media_dvpp_create_batch_pic_desc, c"acl.media.dvpp_create_batch_pic_desc args parse failed", c"dvpp_create_batch_pic_desc($module, batch_size, /)\n--\n\nCalls acldvppCreateBatchPicDesc.\n\nReturns int."),
    method!(c"dvpp_create_border_config", media_dvpp_create_border_config, c"acl.media.dvpp_create_border_config args parse failed", c"dvpp_create_border_config($module, /, *args)\n--\n\nCalls acldvppCreateBorderConfig.\n\nReturns int."),
    method!(c"dvpp_create_channel", media_dvpp_create_channel, c"acl.media.dvpp_create_channel args parse failed", c"dvpp_create_channel($module, channel_desc, /)\n--\n\nCalls acldvppCreateChannel.\n\nReturns int."),
    method!(c"dvpp_create_channel_desc", media_dvpp_create_channel_desc, c"acl.media.dvpp_create_channel_desc args parse failed", c"dvpp_create_channel_desc($module, /, *args)\n--\n\nCalls acldvppCreateChannelDesc.\n\nReturns int."),
    method!(c"dvpp_create_hist", media_dvpp_create_hist, c"acl.media.dvpp_create_hist args parse failed", c"dvpp_create_hist($module, /, *args)\n--\n\nCalls acldvppCreateHist.\n\nReturns int."),
    method!(c"dvpp_create_jpege_config", media_dvpp_create_jpege_config, c"acl.media.dvpp_create_jpege_config args parse failed", c"dvpp_create_jpege_config($module, /, *args)\n--\n\nCalls acldvppCreateJpegeConfig.\n\nReturns int."),
    method!(c"dvpp_create_lut_map", media_dvpp_create_lut_map, c"acl.media.dvpp_create_lut_map args parse failed", c"dvpp_create_lut_map($module, /, *args)\n--\n\nCalls acldvppCreateLutMap.\n\nReturns int."),
    method!(c"dvpp_create_pic_desc", media_dvpp_create_pic_desc, c"acl.media.dvpp_create_pic_desc args parse failed", c"dvpp_create_pic_desc($module, /, *args)\n--\n\nCalls acldvppCreatePicDesc.\n\nReturns int."),
    method!(c"dvpp_create_resize_config", media_dvpp_create_resize_config, c"acl.media.dvpp_create_resize_config args parse failed", c"dvpp_create_resize_config($module, /, *args)\n--\n\nCalls acldvppCreateResizeConfig.\n\nReturns int."),
    method!(c"dvpp_create_roi_config", media_dvpp_create_roi_config, c"acl.media.dvpp_create_roi_config args parse failed", c"dvpp_create_roi_config($module, left, right, top, bottom, /)\n--\n\nCalls acldvppCreateRoiConfig.\n\nReturns int."),
    method!(c"dvpp_create_stream_desc", media_dvpp_create_stream_desc, c"acl.media.dvpp_create_stream_desc args parse failed", c"dvpp_create_stream_desc($module, /, *args)\n--\n\nCalls acldvppCreateStreamDesc.\n\nReturns int."),
    method!(c"dvpp_destroy_batch_pic_desc", media_dvpp_destroy_batch_pic_desc, c"acl.media.dvpp_destroy_batch_pic_desc args parse failed", c"dvpp_destroy_batch_pic_desc($module, batch_pic_desc, /)\n--\n\nCalls acldvppDestroyBatchPicDesc.\n\nReturns int."),
    method!(c"dvpp_destroy_border_config", media_dvpp_destroy_border_config, c"acl.media.dvpp_destroy_border_config args parse failed", c"dvpp_destroy_border_config($module, border_config, /)\n--\n\nCalls acldvppDestroyBorderConfig.\n\nReturns int."),
    method!(c"dvpp_destroy_channel", media_dvpp_destroy_channel, c"acl.media.dvpp_destroy_channel args parse failed", c"dvpp_destroy_channel($module, channel_desc, /)\n--\n\nCalls acldvppDestroyChannel.\n\nReturns int."),
    method!(c"dvpp_destroy_channel_desc", media_dvpp_destroy_channel_desc, c"acl.media.dvpp_destroy_channel_desc args parse failed", c"dvpp_destroy_channel_desc($module, channel_desc, /)\n--\n\nCalls acldvppDestroyChannelDesc.\n\nReturns int."),
    method!(c"dvpp_destroy_hist", media_dvpp_destroy_hist, c"acl.media.dvpp_destroy_hist args parse failed", c"dvpp_destroy_hist($module, hist, /)\n--\n\nCalls acldvppDestroyHist.\n\nReturns int."),
    method!(c"dvpp_destroy_jpege_config", media_dvpp_destroy_jpege_config, c"acl.media.dvpp_destroy_jpege_config args parse failed", c"dvpp_destroy_jpege_config($module, jpege_config, /)\n--\n\nCalls acldvppDestroyJpegeConfig.\n\nReturns int."),
    method!(c"dvpp_destroy_lut_map", media_dvpp_destroy_lut_map, c"acl.media.dvpp_destroy_lut_map args parse failed", c"dvpp_destroy_lut_map($module, lut_map, /)\n--\n\nCalls acldvppDestroyLutMap.\n\nReturns int."),
    method!(c"dvpp_destroy_pic_desc", media_dvpp_destroy_pic_desc, c"acl.media.dvpp_destroy_pic_desc args parse failed", c"dvpp_destroy_pic_desc($module, pic_desc, /)\n--\n\nCalls acldvppDestroyPicDesc.\n\nReturns int."),
    method!(c"dvpp_destroy_resize_config", media_dvpp_destroy_resize_config, c"acl.media.dvpp_destroy_resize_config args parse failed", c"dvpp_destroy_resize_config($module, resize_config, /)\n--\n\nCalls acldvppDestroyResizeConfig.\n\nReturns int."),
    method!(c"dvpp_destroy_roi_config", media_dvpp_destroy_roi_config, c"acl.media.dvpp_destroy_roi_config args parse failed", c"dvpp_destroy_roi_config($module, roi_config, /)\n--\n\nCalls acldvppDestroyRoiConfig.\n\nReturns int."),
    method!(c"dvpp_destroy_stream_desc", media_dvpp_destroy_stream_desc, c"acl.media.dvpp_destroy_stream_desc args parse failed", c"dvpp_destroy_stream_desc($module, stream_desc, /)\n--\n\nCalls acldvppDestroyStreamDesc.\n\nReturns int."),
    method!(c"dvpp_free", media_dvpp_free, c"acl.media.dvpp_free args parse failed", c"dvpp_free($module, dev_ptr, /)\n--\n\nCalls acldvppFree.\n\nReturns int."),
    method!(c"dvpp_get_border_config_border_type", media_dvpp_get_border_config_border_type, c"acl.media.dvpp_get_border_config_border_type args parse failed", c"dvpp_get_border_config_border_type($module, border_config, /)\n--\n\nCalls acldvppGetBorderConfigBorderType.\n\nReturns int."),
    method!(c"dvpp_get_border_config_bottom", media_dvpp_get_border_config_bottom, c"acl.media.dvpp_get_border_config_bottom args parse failed", c"dvpp_get_border_config_bottom($module, border_config, /)\n--\n\nCalls acldvppGetBorderConfigBottom.\n\nReturns int."),
    method!(c"dvpp_get_border_config_left", media_dvpp_get_border_config_left, c"acl.media.dvpp_get_border_config_left args parse failed", c"dvpp_get_border_config_left($module, border_config, /)\n--\n\nCalls acldvppGetBorderConfigLeft.\n\nReturns int."),
    method!(c"dvpp_get_border_config_right", media_dvpp_get_border_config_right, c"acl.media.dvpp_get_border_config_right args parse failed", c"dvpp_get_border_config_right($module, border_config, /)\n--\n\nCalls acldvppGetBorderConfigRight.\n\nReturns int."),
    method!(c"dvpp_get_border_config_top", media_dvpp_get_border_config_top, c"acl.media.dvpp_get_border_config_top args parse failed", c"dvpp_get_border_config_top($module, border_config, /)\n--\n\nCalls acldvppGetBorderConfigTop.\n\nReturns int."),
    method!(c"dvpp_get_border_config_value", media_dvpp_get_border_config_value, c"acl.media.dvpp_get_border_config_value args parse failed", c"dvpp_get_border_config_value($module, border_config, index, /)\n--\n\nCalls acldvppGetBorderConfigValue.\n\nReturns float."),
    method!(c"dvpp_get_channel_desc_channel_id", media_dvpp_get_channel_desc_channel_id, c"acl.media.dvpp_get_channel_desc_channel_id args parse failed", c"dvpp_get_channel_desc_channel_id($module, channel_desc, /)\n--\n\nCalls acldvppGetChannelDescChannelId.\n\nReturns int."),
    method!(c"dvpp_get_channel_desc_param", media_dvpp_get_channel_desc_param, c"acl.media.dvpp_get_channel_desc_param args parse failed", c"dvpp_get_channel_desc_param($module, channel_desc, param_type, length, param, /)\n--\n\nCalls acldvppGetChannelDescParam.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_get_hist_data", media_dvpp_get_hist_data, c"acl.media.dvpp_get_hist_data args parse failed", c"dvpp_get_hist_data($module, hist, dim, /)\n--\n\nCalls acldvppGetHistData.\n\nReturns tuple[int, int, int]."),
    method!(c"dvpp_get_hist_dims", media_dvpp_get_hist_dims, c"acl.media.dvpp_get_hist_dims args parse failed", c"dvpp_get_hist_dims($module, hist, /)\n--\n\nCalls acldvppGetHistDims.\n\nReturns int."),
    method!(c"dvpp_get_hist_ret_code", media_dvpp_get_hist_ret_code, c"acl.media.dvpp_get_hist_ret_code args parse failed", c"dvpp_get_hist_ret_code($module, hist, /)\n--\n\nCalls acldvppGetHistRetCode.\n\nReturns int."),
    method!(c"dvpp_get_jpege_config_level", media_dvpp_get_jpege_config_level, c"acl.media.dvpp_get_jpege_config_level args parse failed", c"dvpp_get_jpege_config_level($module, jpege_config, /)\n--\n\nCalls acldvppGetJpegeConfigLevel.\n\nReturns int."),
    method!(c"dvpp_get_lut_map_data", media_dvpp_get_lut_map_data, c"acl.media.dvpp_get_lut_map_data args parse failed", c"dvpp_get_lut_map_data($module, lut_map, dim, /)\n--\n\nCalls acldvppGetLutMapData.\n\nReturns tuple[int, int, int]."),
    method!(c"dvpp_get_lut_map_dims", media_dvpp_get_lut_map_dims, c"acl.media.dvpp_get_lut_map_dims args parse failed", c"dvpp_get_lut_map_dims($module, lut_map, /)\n--\n\nCalls acldvppGetLutMapDims.\n\nReturns int."),
    method!(c"dvpp_get_pic_desc", media_dvpp_get_pic_desc, c"acl.media.dvpp_get_pic_desc args parse failed", c"dvpp_get_pic_desc($module, batch_pic_desc, index, /)\n--\n\nCalls acldvppGetPicDesc.\n\nReturns int."),
    method!(c"dvpp_get_pic_desc_data", media_dvpp_get_pic_desc_data, c"acl.media.dvpp_get_pic_desc_data args parse failed", c"dvpp_get_pic_desc_data($module, pic_desc, /)\n--\n\nCalls acldvppGetPicDescData.\n\nReturns int."),
    method!(c"dvpp_get_pic_desc_format", media_dvpp_get_pic_desc_format, c"acl.media.dvpp_get_pic_desc_format args parse failed", c"dvpp_get_pic_desc_format($module, pic_desc, /)\n--\n\nCalls acldvppGetPicDescFormat.\n\nReturns int."),
    method!(c"dvpp_get_pic_desc_height", media_dvpp_get_pic_desc_height, c"acl.media.dvpp_get_pic_desc_height args parse failed", c"dvpp_get_pic_desc_height($module, pic_desc, /)\n--\n\nCalls acldvppGetPicDescHeight.\n\nReturns int."),
    method!(c"dvpp_get_pic_desc_height_stride", media_dvpp_get_pic_desc_height_stride, c"acl.media.dvpp_get_pic_desc_height_stride args parse failed", c"dvpp_get_pic_desc_height_stride($module, pic_desc, /)\n--\n\nCalls acldvppGetPicDescHeightStride.\n\nReturns int."),
    method!(c"dvpp_get_pic_desc_ret_code", media_dvpp_get_pic_desc_ret_code, c"acl.media.dvpp_get_pic_desc_ret_code args parse failed", c"dvpp_get_pic_desc_ret_code($module, pic_desc, /)\n--\n\nCalls acldvppGetPicDescRetCode.\n\nReturns int."),
    method!(c"dvpp_get_pic_desc_size", media_dvpp_get_pic_desc_size, c"acl.media.dvpp_get_pic_desc_size args parse failed", c"dvpp_get_pic_desc_size($module, pic_desc, /)\n--\n\nCalls acldvppGetPicDescSize.\n\nReturns int."),
    method!(c"dvpp_get_pic_desc_width", media_dvpp_get_pic_desc_width, c"acl.media.dvpp_get_pic_desc_width args parse failed", c"dvpp_get_pic_desc_width($module, pic_desc, /)\n--\n\nCalls acldvppGetPicDescWidth.\n\nReturns int."),
    method!(c"dvpp_get_pic_desc_width_stride", media_dvpp_get_pic_desc_width_stride, c"acl.media.dvpp_get_pic_desc_width_stride args parse failed", c"dvpp_get_pic_desc_width_stride($module, pic_desc, /)\n--\n\nCalls acldvppGetPicDescWidthStride.\n\nReturns int."),
    method!(c"dvpp_get_resize_config_interpolation", media_dvpp_get_resize_config_interpolation, c"acl.media.dvpp_get_resize_config_interpolation args parse failed", c"dvpp_get_resize_config_interpolation($module, resize_config, /)\n--\n\nCalls acldvppGetResizeConfigInterpolation.\n\nReturns int."),
    method!(c"dvpp_get_stream_desc_data", media_dvpp_get_stream_desc_data, c"acl.media.dvpp_get_stream_desc_data args parse failed", c"dvpp_get_stream_desc_data($module, stream_desc, /)\n--\n\nCalls acldvppGetStreamDescData.\n\nReturns int."),
    method!(c"dvpp_get_stream_desc_eos", media_dvpp_get_stream_desc_eos, c"acl.media.dvpp_get_stream_desc_eos args parse failed", c"dvpp_get_stream_desc_eos($module, stream_desc, /)\n--\n\nCalls acldvppGetStreamDescEos.\n\nReturns int."),
    method!(c"dvpp_get_stream_desc_format", media_dvpp_get_stream_desc_format, c"acl.media.dvpp_get_stream_desc_format args parse failed", c"dvpp_get_stream_desc_format($module, stream_desc, /)\n--\n\nCalls acldvppGetStreamDescFormat.\n\nReturns int."),
    method!(c"dvpp_get_stream_desc_ret_code", media_dvpp_get_stream_desc_ret_code, c"acl.media.dvpp_get_stream_desc_ret_code args parse failed", c"dvpp_get_stream_desc_ret_code($module, stream_desc, /)\n--\n\nCalls acldvppGetStreamDescRetCode.\n\nReturns int."),
    method!(c"dvpp_get_stream_desc_size", media_dvpp_get_stream_desc_size, c"acl.media.dvpp_get_stream_desc_size args parse failed", c"dvpp_get_stream_desc_size($module, stream_desc, /)\n--\n\nCalls acldvppGetStreamDescSize.\n\nReturns int."),
    method!(c"dvpp_get_stream_desc_timestamp", media_dvpp_get_stream_desc_timestamp, c"acl.media.dvpp_get_stream_desc_timestamp args parse failed", c"dvpp_get_stream_desc_timestamp($module, stream_desc, /)\n--\n\nCalls acldvppGetStreamDescTimestamp.\n\nReturns int."),
    method!(c"dvpp_jpeg_decode_async", media_dvpp_jpeg_decode_async, c"acl.media.dvpp_jpeg_decode_async args parse failed", c"dvpp_jpeg_decode_async($module, channel_desc, data, size, output_desc, stream, /)\n--\n\nCalls acldvppJpegDecodeAsync.\n\nReturns int."),
    method!(c"dvpp_jpeg_encode_async", media_dvpp_jpeg_encode_async, c"acl.media.dvpp_jpeg_encode_async args parse failed", c"dvpp_jpeg_encode_async($module, channel_desc, pic_desc, data, size_ptr, config, stream, /)\n--\n\nCalls acldvppJpegEncodeAsync. size_ptr is the address of a 32-bit size, read and written.\n\nReturns int."),
    method!(c"dvpp_jpeg_get_image_info", media_dvpp_jpeg_get_image_info, c"acl.media.dvpp_jpeg_get_image_info args parse failed", c"dvpp_jpeg_get_image_info($module, data, size, /)\n--\n\nCalls acldvppJpegGetImageInfo.\n\nReturns tuple[int, int, int, int]."),
    method!(c"dvpp_jpeg_get_image_info_v2", media_dvpp_jpeg_get_image_info_v2, c"acl.media.dvpp_jpeg_get_image_info_v2 args parse failed", c"dvpp_jpeg_get_image_info_v2($module, data, size, /)\n--\n\nCalls acldvppJpegGetImageInfoV2.\n\nReturns tuple[int, int, int, int, int]."),
    method!(c"dvpp_jpeg_predict_dec_size", media_dvpp_jpeg_predict_dec_size, c"acl.media.dvpp_jpeg_predict_dec_size args parse failed", c"dvpp_jpeg_predict_dec_size($module, data, size, format, /)\n--\n\nCalls acldvppJpegPredictDecSize.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_jpeg_predict_enc_size", media_dvpp_jpeg_predict_enc_size, c"acl.media.dvpp_jpeg_predict_enc_size args parse failed", c"dvpp_jpeg_predict_enc_size($module, pic_desc, config, /)\n--\n\nCalls acldvppJpegPredictEncSize.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_malloc", media_dvpp_malloc, c"acl.media.dvpp_malloc args parse failed", c"dvpp_malloc($module, size, /)\n--\n\nCalls acldvppMalloc.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_malloc_with_cfg", media_dvpp_malloc_with_cfg, c"acl.media.dvpp_malloc_with_cfg args parse failed", c"dvpp_malloc_with_cfg($module, size, policy, cfg, /)\n--\n\nCalls acldvppMallocWithCfg.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_png_decode_async", media_dvpp_png_decode_async, c"acl.media.dvpp_png_decode_async args parse failed", c"dvpp_png_decode_async($module, channel_desc, data, size, output_desc, stream, /)\n--\n\nCalls acldvppPngDecodeAsync.\n\nReturns int."),
    method!(c"dvpp_png_get_image_info", media_dvpp_png_get_image_info, c"acl.media.dvpp_png_get_image_info args parse failed", c"dvpp_png_get_image_info($module, data, data_size, /)\n--\n\nCalls acldvppPngGetImageInfo.\n\nReturns tuple[int, int, int, int]."),
    method!(c"dvpp_png_predict_dec_size", media_dvpp_png_predict_dec_size, c"acl.media.dvpp_png_predict_dec_size args parse failed", c"dvpp_png_predict_dec_size($module, data, data_size, output_pixel_format, /)\n--\n\nCalls acldvppPngPredictDecSize.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_set_border_config_border_type", media_dvpp_set_border_config_border_type, c"acl.media.dvpp_set_border_config_border_type args parse failed", c"dvpp_set_border_config_border_type($module, border_config, border_type, /)\n--\n\nCalls acldvppSetBorderConfigBorderType.\n\nReturns int."),
    method!(c"dvpp_set_border_config_bottom", media_dvpp_set_border_config_bottom, c"acl.media.dvpp_set_border_config_bottom args parse failed", c"dvpp_set_border_config_bottom($module, border_config, bottom, /)\n--\n\nCalls acldvppSetBorderConfigBottom.\n\nReturns int."),
    method!(c"dvpp_set_border_config_left", media_dvpp_set_border_config_left, c"acl.media.dvpp_set_border_config_left args parse failed", c"dvpp_set_border_config_left($module, border_config, left, /)\n--\n\nCalls acldvppSetBorderConfigLeft.\n\nReturns int."),
    method!(c"dvpp_set_border_config_right", media_dvpp_set_border_config_right, c"acl.media.dvpp_set_border_config_right args parse failed", c"dvpp_set_border_config_right($module, border_config, right, /)\n--\n\nCalls acldvppSetBorderConfigRight.\n\nReturns int."),
    method!(c"dvpp_set_border_config_top", media_dvpp_set_border_config_top, c"acl.media.dvpp_set_border_config_top args parse failed", c"dvpp_set_border_config_top($module, border_config, top, /)\n--\n\nCalls acldvppSetBorderConfigTop.\n\nReturns int."),
    method!(c"dvpp_set_border_config_value", media_dvpp_set_border_config_value, c"acl.media.dvpp_set_border_config_value args parse failed", c"dvpp_set_border_config_value($module, border_config, index, value, /)\n--\n\nCalls acldvppSetBorderConfigValue.\n\nReturns int."),
    method!(c"dvpp_set_channel_desc_mode", media_dvpp_set_channel_desc_mode, c"acl.media.dvpp_set_channel_desc_mode args parse failed", c"dvpp_set_channel_desc_mode($module, channel_desc, mode, /)\n--\n\nCalls acldvppSetChannelDescMode.\n\nReturns int."),
    method!(c"dvpp_set_channel_desc_param", media_dvpp_set_channel_desc_param, c"acl.media.dvpp_set_channel_desc_param args parse failed", c"dvpp_set_channel_desc_param($module, channel_desc, param_type, length, param, /)\n--\n\nCalls acldvppSetChannelDescParam.\n\nReturns int."),
    method!(c"dvpp_set_jpege_config_level", media_dvpp_set_jpege_config_level, c"acl.media.dvpp_set_jpege_config_level args parse failed", c"dvpp_set_jpege_config_level($module, jpege_config, level, /)\n--\n\nCalls acldvppSetJpegeConfigLevel.\n\nReturns int."),
    method!(c"dvpp_set_pic_desc_data", media_dvpp_set_pic_desc_data, c"acl.media.dvpp_set_pic_desc_data args parse failed", c"dvpp_set_pic_desc_data($module, pic_desc, data_dev, /)\n--\n\nCalls acldvppSetPicDescData.\n\nReturns int."),
    method!(c"dvpp_set_pic_desc_format", media_dvpp_set_pic_desc_format, c"acl.media.dvpp_set_pic_desc_format args parse failed", c"dvpp_set_pic_desc_format($module, pic_desc, format, /)\n--\n\nCalls acldvppSetPicDescFormat.\n\nReturns int."),
    method!(c"dvpp_set_pic_desc_height", media_dvpp_set_pic_desc_height, c"acl.media.dvpp_set_pic_desc_height args parse failed", c"dvpp_set_pic_desc_height($module, pic_desc, height, /)\n--\n\nCalls acldvppSetPicDescHeight.\n\nReturns int."),
    method!(c"dvpp_set_pic_desc_height_stride", media_dvpp_set_pic_desc_height_stride, c"acl.media.dvpp_set_pic_desc_height_stride args parse failed", c"dvpp_set_pic_desc_height_stride($module, pic_desc, height_stride, /)\n--\n\nCalls acldvppSetPicDescHeightStride.\n\nReturns int."),
    method!(c"dvpp_set_pic_desc_ret_code", media_dvpp_set_pic_desc_ret_code, c"acl.media.dvpp_set_pic_desc_ret_code args parse failed", c"dvpp_set_pic_desc_ret_code($module, pic_desc, ret_code, /)\n--\n\nCalls acldvppSetPicDescRetCode.\n\nReturns int."),
    method!(c"dvpp_set_pic_desc_size", media_dvpp_set_pic_desc_size, c"acl.media.dvpp_set_pic_desc_size args parse failed", c"dvpp_set_pic_desc_size($module, pic_desc, size, /)\n--\n\nCalls acldvppSetPicDescSize.\n\nReturns int."),
    method!(c"dvpp_set_pic_desc_width", media_dvpp_set_pic_desc_width, c"acl.media.dvpp_set_pic_desc_width args parse failed", c"dvpp_set_pic_desc_width($module, pic_desc, width, /)\n--\n\nCalls acldvppSetPicDescWidth.\n\nReturns int."),
    method!(c"dvpp_set_pic_desc_width_stride", media_dvpp_set_pic_desc_width_stride, c"acl.media.dvpp_set_pic_desc_width_stride args parse failed", c"dvpp_set_pic_desc_width_stride($module, pic_desc, width_stride, /)\n--\n\nCalls acldvppSetPicDescWidthStride.\n\nReturns int."),
    method!(c"dvpp_set_resize_config_interpolation", media_dvpp_set_resize_config_interpolation, c"acl.media.dvpp_set_resize_config_interpolation args parse failed", c"dvpp_set_resize_config_interpolation($module, resize_config, interpolation, /)\n--\n\nCalls acldvppSetResizeConfigInterpolation.\n\nReturns int."),
    method!(c"dvpp_set_roi_config", media_dvpp_set_roi_config, c"acl.media.dvpp_set_roi_config args parse failed", c"dvpp_set_roi_config($module, config, left, right, top, bottom, /)\n--\n\nCalls acldvppSetRoiConfig.\n\nReturns int."),
    method!(c"dvpp_set_roi_config_bottom", media_dvpp_set_roi_config_bottom, c"acl.media.dvpp_set_roi_config_bottom args parse failed", c"dvpp_set_roi_config_bottom($module, config, bottom, /)\n--\n\nCalls acldvppSetRoiConfigBottom.\n\nReturns int."),
    method!(c"dvpp_set_roi_config_left", media_dvpp_set_roi_config_left, c"acl.media.dvpp_set_roi_config_left args parse failed", c"dvpp_set_roi_config_left($module, config, left, /)\n--\n\nCalls acldvppSetRoiConfigLeft.\n\nReturns int."),
    method!(c"dvpp_set_roi_config_right", media_dvpp_set_roi_config_right, c"acl.media.dvpp_set_roi_config_right args parse failed", c"dvpp_set_roi_config_right($module, config, right, /)\n--\n\nCalls acldvppSetRoiConfigRight.\n\nReturns int."),
    method!(c"dvpp_set_roi_config_top", media_dvpp_set_roi_config_top, c"acl.media.dvpp_set_roi_config_top args parse failed", c"dvpp_set_roi_config_top($module, config, top, /)\n--\n\nCalls acldvppSetRoiConfigTop.\n\nReturns int."),
    method!(c"dvpp_set_stream_desc_data", media_dvpp_set_stream_desc_data, c"acl.media.dvpp_set_stream_desc_data args parse failed", c"dvpp_set_stream_desc_data($module, stream_desc, data_dev, /)\n--\n\nCalls acldvppSetStreamDescData.\n\nReturns int."),
    method!(c"dvpp_set_stream_desc_eos", media_dvpp_set_stream_desc_eos, c"acl.media.dvpp_set_stream_desc_eos args parse failed", c"dvpp_set_stream_desc_eos($module, stream_desc, eos, /)\n--\n\nCalls acldvppSetStreamDescEos.\n\nReturns int."),
    method!(c"dvpp_set_stream_desc_format", media_dvpp_set_stream_desc_format, c"acl.media.dvpp_set_stream_desc_format args parse failed", c"dvpp_set_stream_desc_format($module, stream_desc, format, /)\n--\n\nCalls acldvppSetStreamDescFormat.\n\nReturns int."),
    method!(c"dvpp_set_stream_desc_ret_code", media_dvpp_set_stream_desc_ret_code, c"acl.media.dvpp_set_stream_desc_ret_code args parse failed", c"dvpp_set_stream_desc_ret_code($module, stream_desc, ret_code, /)\n--\n\nCalls acldvppSetStreamDescRetCode.\n\nReturns int."),
    method!(c"dvpp_set_stream_desc_size", media_dvpp_set_stream_desc_size, c"acl.media.dvpp_set_stream_desc_size args parse failed", c"dvpp_set_stream_desc_size($module, stream_desc, size, /)\n--\n\nCalls acldvppSetStreamDescSize.\n\nReturns int."),
    method!(c"dvpp_set_stream_desc_timestamp", media_dvpp_set_stream_desc_timestamp, c"acl.media.dvpp_set_stream_desc_timestamp args parse failed", c"dvpp_set_stream_desc_timestamp($module, stream_desc, timestamp, /)\n--\n\nCalls acldvppSetStreamDescTimestamp.\n\nReturns int."),
    method!(c"dvpp_vpc_batch_crop_and_paste_async", media_dvpp_vpc_batch_crop_and_paste_async, c"acl.media.dvpp_vpc_batch_crop_and_paste_async args parse failed", c"dvpp_vpc_batch_crop_and_paste_async($module, channel_desc, src_batch, roi_num_list, dst_batch, crop_area_list, paste_area_list, stream, /)\n--\n\nCalls acldvppVpcBatchCropAndPasteAsync.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_vpc_batch_crop_async", media_dvpp_vpc_batch_crop_async, c"acl.media.dvpp_vpc_batch_crop_async args parse failed", c"dvpp_vpc_batch_crop_async($module, channel_desc, src_batch, roi_num_list, dst_batch, crop_area_list, stream, /)\n--\n\nCalls acldvppVpcBatchCropAsync.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_vpc_batch_crop_resize_async", media_dvpp_vpc_batch_crop_resize_async, c"acl.media.dvpp_vpc_batch_crop_resize_async args parse failed", c"dvpp_vpc_batch_crop_resize_async($module, channel_desc, src_batch, roi_num_list, dst_batch, crop_area_list, resize_config, stream, /)\n--\n\nCalls acldvppVpcBatchCropResizeAsync. The lists follow the other batch calls, which is inferred.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_vpc_batch_crop_resize_make_border_async", media_dvpp_vpc_batch_crop_resize_make_border_async, c"acl.media.dvpp_vpc_batch_crop_resize_make_border_async args parse failed", c"dvpp_vpc_batch_crop_resize_make_border_async($module, channel_desc, src_batch, roi_num_list, dst_batch, crop_area_list, border_cfg_list, resize_config, stream, /)\n--\n\nCalls acldvppVpcBatchCropResizeMakeBorderAsync. The lists follow the other batch calls, which is inferred.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_vpc_batch_crop_resize_paste_async", media_dvpp_vpc_batch_crop_resize_paste_async, c"acl.media.dvpp_vpc_batch_crop_resize_paste_async args parse failed", c"dvpp_vpc_batch_crop_resize_paste_async($module, channel_desc, src_batch, roi_num_list, dst_batch, crop_area_list, paste_area_list, resize_config, stream, /)\n--\n\nCalls acldvppVpcBatchCropResizePasteAsync. The lists follow the other batch calls, which is inferred.\n\nReturns tuple[int, int]."),
    method!(c"dvpp_vpc_calc_hist_async", media_dvpp_vpc_calc_hist_async, c"acl.media.dvpp_vpc_calc_hist_async args parse failed", c"dvpp_vpc_calc_hist_async($module, channel_desc, src_pic_desc, hist, reserve, stream, /)\n--\n\nCalls acldvppVpcCalcHistAsync.\n\nReturns int."),
    method!(c"dvpp_vpc_convert_color_async", media_dvpp_vpc_convert_color_async, c"acl.media.dvpp_vpc_convert_color_async args parse failed", c"dvpp_vpc_convert_color_async($module, channel_desc, input_desc, output_desc, stream, /)\n--\n\nCalls acldvppVpcConvertColorAsync.\n\nReturns int."),
    method!(c"dvpp_vpc_crop_and_paste_async", media_dvpp_vpc_crop_and_paste_async, c"acl.media.dvpp_vpc_crop_and_paste_async args parse failed", c"dvpp_vpc_crop_and_paste_async($module, channel_desc, input_desc, output_desc, crop_area, paste_area, stream, /)\n--\n\nCalls acldvppVpcCropAndPasteAsync.\n\nReturns int."),
    method!(c"dvpp_vpc_crop_async", media_dvpp_vpc_crop_async, c"acl.media.dvpp_vpc_crop_async args parse failed", c"dvpp_vpc_crop_async($module, channel_desc, input_desc, output_desc, crop_area, stream, /)\n--\n\nCalls acldvppVpcCropAsync.\n\nReturns int."),
    method!(c"dvpp_vpc_crop_resize_async", media_dvpp_vpc_crop_resize_async, c"acl.media.dvpp_vpc_crop_resize_async args parse failed", c"dvpp_vpc_crop_resize_async($module, channel_desc, input_desc, output_desc, crop_area, resize_config, stream, /)\n--\n\nCalls acldvppVpcCropResizeAsync.\n\nReturns int."),
    method!(c"dvpp_vpc_crop_resize_paste_async", media_dvpp_vpc_crop_resize_paste_async, c"acl.media.dvpp_vpc_crop_resize_paste_async args parse failed", c"dvpp_vpc_crop_resize_paste_async($module, channel_desc, input_desc, output_desc, crop_area, paste_area, resize_config, stream, /)\n--\n\nCalls acldvppVpcCropResizePasteAsync.\n\nReturns int."),
    method!(c"dvpp_vpc_equalize_hist_async", media_dvpp_vpc_equalize_hist_async, c"acl.media.dvpp_vpc_equalize_hist_async args parse failed", c"dvpp_vpc_equalize_hist_async($module, channel_desc, input_desc, output_desc, lut_map, stream, /)\n--\n\nCalls acldvppVpcEqualizeHistAsync.\n\nReturns int."),
    method!(c"dvpp_vpc_make_border_async", media_dvpp_vpc_make_border_async, c"acl.media.dvpp_vpc_make_border_async args parse failed", c"dvpp_vpc_make_border_async($module, channel_desc, input_desc, output_desc, border_config, stream, /)\n--\n\nCalls acldvppVpcMakeBorderAsync.\n\nReturns int."),
    method!(c"dvpp_vpc_pyr_down_async", media_dvpp_vpc_pyr_down_async, c"acl.media.dvpp_vpc_pyr_down_async args parse failed", c"dvpp_vpc_pyr_down_async($module, channel_desc, input_desc, output_desc, reserve, stream, /)\n--\n\nCalls acldvppVpcPyrDownAsync.\n\nReturns int."),
    method!(c"dvpp_vpc_resize_async", media_dvpp_vpc_resize_async, c"acl.media.dvpp_vpc_resize_async args parse failed", c"dvpp_vpc_resize_async($module, channel_desc, input_desc, output_desc, resize_config, stream, /)\n--\n\nCalls acldvppVpcResizeAsync.\n\nReturns int."),
    method!(c"vdec_create_channel", media_vdec_create_channel, c"acl.media.vdec_create_channel args parse failed", c"vdec_create_channel($module, channel_desc, /)\n--\n\nCalls aclvdecCreateChannel.\n\nReturns int."),
    method!(c"vdec_create_channel_desc", media_vdec_create_channel_desc, c"acl.media.vdec_create_channel_desc args parse failed", c"vdec_create_channel_desc($module, /, *args)\n--\n\nCalls aclvdecCreateChannelDesc.\n\nReturns int."),
    method!(c"vdec_create_frame_config", media_vdec_create_frame_config, c"acl.media.vdec_create_frame_config args parse failed", c"vdec_create_frame_config($module, /, *args)\n--\n\nCalls aclvdecCreateFrameConfig.\n\nReturns int."),
    method!(c"vdec_destroy_channel", media_vdec_destroy_channel, c"acl.media.vdec_destroy_channel args parse failed", c"vdec_destroy_channel($module, channel_desc, /)\n--\n\nCalls aclvdecDestroyChannel.\n\nReturns int."),
    method!(c"vdec_destroy_channel_desc", manual::media_vdec_destroy_channel_desc, c"acl.media.vdec_destroy_channel_desc args parse failed", c"vdec_destroy_channel_desc($module, channel_desc, /)\n--\n\nCalls aclvdecDestroyChannelDesc.\n\nReturns int."),
    method!(c"vdec_destroy_frame_config", media_vdec_destroy_frame_config, c"acl.media.vdec_destroy_frame_config args parse failed", c"vdec_destroy_frame_config($module, vdec_frame_config, /)\n--\n\nCalls aclvdecDestroyFrameConfig.\n\nReturns int."),
    method!(c"vdec_get_channel_desc_bit_depth", media_vdec_get_channel_desc_bit_depth, c"acl.media.vdec_get_channel_desc_bit_depth args parse failed", c"vdec_get_channel_desc_bit_depth($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescBitDepth.\n\nReturns int."),
    method!(c"vdec_get_channel_desc_callback", manual::media_vdec_get_channel_desc_callback, c"acl.media.vdec_get_channel_desc_callback args parse failed", c"vdec_get_channel_desc_callback($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescCallback. The function that was set, or None.\n\nReturns Callable[..., object]."),
    method!(c"vdec_get_channel_desc_channel_id", media_vdec_get_channel_desc_channel_id, c"acl.media.vdec_get_channel_desc_channel_id args parse failed", c"vdec_get_channel_desc_channel_id($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescChannelId.\n\nReturns int."),
    method!(c"vdec_get_channel_desc_entype", media_vdec_get_channel_desc_entype, c"acl.media.vdec_get_channel_desc_entype args parse failed", c"vdec_get_channel_desc_entype($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescEnType.\n\nReturns int."),
    method!(c"vdec_get_channel_desc_out_mode", media_vdec_get_channel_desc_out_mode, c"acl.media.vdec_get_channel_desc_out_mode args parse failed", c"vdec_get_channel_desc_out_mode($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescOutMode.\n\nReturns int."),
    method!(c"vdec_get_channel_desc_out_pic_format", media_vdec_get_channel_desc_out_pic_format, c"acl.media.vdec_get_channel_desc_out_pic_format args parse failed", c"vdec_get_channel_desc_out_pic_format($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescOutPicFormat.\n\nReturns int."),
    method!(c"vdec_get_channel_desc_out_pic_height", media_vdec_get_channel_desc_out_pic_height, c"acl.media.vdec_get_channel_desc_out_pic_height args parse failed", c"vdec_get_channel_desc_out_pic_height($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescOutPicHeight.\n\nReturns int."),
    method!(c"vdec_get_channel_desc_out_pic_width", media_vdec_get_channel_desc_out_pic_width, c"acl.media.vdec_get_channel_desc_out_pic_width args parse failed", c"vdec_get_channel_desc_out_pic_width($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescOutPicWidth.\n\nReturns int."),
    method!(c"vdec_get_channel_desc_param", media_vdec_get_channel_desc_param, c"acl.media.vdec_get_channel_desc_param args parse failed", c"vdec_get_channel_desc_param($module, channel_desc, param_type, length, param, /)\n--\n\nCalls aclvdecGetChannelDescParam.\n\nReturns tuple[int, int]."),
    method!(c"vdec_get_channel_desc_ref_frame_num", media_vdec_get_channel_desc_ref_frame_num, c"acl.media.vdec_get_channel_desc_ref_frame_num args parse failed", c"vdec_get_channel_desc_ref_frame_num($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescRefFrameNum.\n\nReturns int."),
    method!(c"vdec_get_channel_desc_thread_id", media_vdec_get_channel_desc_thread_id, c"acl.media.vdec_get_channel_desc_thread_id args parse failed", c"vdec_get_channel_desc_thread_id($module, channel_desc, /)\n--\n\nCalls aclvdecGetChannelDescThreadId.\n\nReturns int."),
    method!(c"vdec_send_frame", manual::media_vdec_send_frame, c"acl.media.vdec_send_frame args parse failed", c"vdec_send_frame($module, channel_desc, input_stream_desc, output_pic_desc, config, user_data, /)\n--\n\nCalls aclvdecSendFrame. user_data may be any object; the callback gets the same one.\n\nReturns int."),
    method!(c"vdec_send_skipped_frame", manual::media_vdec_send_skipped_frame, c"acl.media.vdec_send_skipped_frame args parse failed", c"vdec_send_skipped_frame($module, channel_desc, input, config, user_data, /)\n--\n\nCalls aclvdecSendSkippedFrame.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_bit_depth", media_vdec_set_channel_desc_bit_depth, c"acl.media.vdec_set_channel_desc_bit_depth args parse failed", c"vdec_set_channel_desc_bit_depth($module, channel_desc, bit_depth, /)\n--\n\nCalls aclvdecSetChannelDescBitDepth.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_callback", manual::media_vdec_set_channel_desc_callback, c"acl.media.vdec_set_channel_desc_callback args parse failed", c"vdec_set_channel_desc_callback($module, channel_desc, callback, /)\n--\n\nCalls aclvdecSetChannelDescCallback.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_channel_id", media_vdec_set_channel_desc_channel_id, c"acl.media.vdec_set_channel_desc_channel_id args parse failed", c"vdec_set_channel_desc_channel_id($module, channel_desc, channel_id, /)\n--\n\nCalls aclvdecSetChannelDescChannelId.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_entype", media_vdec_set_channel_desc_entype, c"acl.media.vdec_set_channel_desc_entype args parse failed", c"vdec_set_channel_desc_entype($module, channel_desc, en_type, /)\n--\n\nCalls aclvdecSetChannelDescEnType.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_out_mode", media_vdec_set_channel_desc_out_mode, c"acl.media.vdec_set_channel_desc_out_mode args parse failed", c"vdec_set_channel_desc_out_mode($module, channel_desc, out_mode, /)\n--\n\nCalls aclvdecSetChannelDescOutMode.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_out_pic_format", media_vdec_set_channel_desc_out_pic_format, c"acl.media.vdec_set_channel_desc_out_pic_format args parse failed", c"vdec_set_channel_desc_out_pic_format($module, channel_desc, out_pic_format, /)\n--\n\nCalls aclvdecSetChannelDescOutPicFormat.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_out_pic_height", media_vdec_set_channel_desc_out_pic_height, c"acl.media.vdec_set_channel_desc_out_pic_height args parse failed", c"vdec_set_channel_desc_out_pic_height($module, channel_desc, out_pic_height, /)\n--\n\nCalls aclvdecSetChannelDescOutPicHeight.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_out_pic_width", media_vdec_set_channel_desc_out_pic_width, c"acl.media.vdec_set_channel_desc_out_pic_width args parse failed", c"vdec_set_channel_desc_out_pic_width($module, channel_desc, out_pic_width, /)\n--\n\nCalls aclvdecSetChannelDescOutPicWidth.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_param", media_vdec_set_channel_desc_param, c"acl.media.vdec_set_channel_desc_param args parse failed", c"vdec_set_channel_desc_param($module, channel_desc, param_type, length, param, /)\n--\n\nCalls aclvdecSetChannelDescParam.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_ref_frame_num", media_vdec_set_channel_desc_ref_frame_num, c"acl.media.vdec_set_channel_desc_ref_frame_num args parse failed", c"vdec_set_channel_desc_ref_frame_num($module, channel_desc, ref_frame_num, /)\n--\n\nCalls aclvdecSetChannelDescRefFrameNum.\n\nReturns int."),
    method!(c"vdec_set_channel_desc_thread_id", media_vdec_set_channel_desc_thread_id, c"acl.media.vdec_set_channel_desc_thread_id args parse failed", c"vdec_set_channel_desc_thread_id($module, channel_desc, thread_id, /)\n--\n\nCalls aclvdecSetChannelDescThreadId.\n\nReturns int."),
    method!(c"venc_create_channel", media_venc_create_channel, c"acl.media.venc_create_channel args parse failed", c"venc_create_channel($module, channel_desc, /)\n--\n\nCalls aclvencCreateChannel.\n\nReturns int."),
    method!(c"venc_create_channel_desc", media_venc_create_channel_desc, c"acl.media.venc_create_channel_desc args parse failed", c"venc_create_channel_desc($module, /, *args)\n--\n\nCalls aclvencCreateChannelDesc.\n\nReturns int."),
    method!(c"venc_create_frame_config", media_venc_create_frame_config, c"acl.media.venc_create_frame_config args parse failed", c"venc_create_frame_config($module, /, *args)\n--\n\nCalls aclvencCreateFrameConfig.\n\nReturns int."),
    method!(c"venc_destroy_channel", media_venc_destroy_channel, c"acl.media.venc_destroy_channel args parse failed", c"venc_destroy_channel($module, channel_desc, /)\n--\n\nCalls aclvencDestroyChannel.\n\nReturns int."),
    method!(c"venc_destroy_channel_desc", manual::media_venc_destroy_channel_desc, c"acl.media.venc_destroy_channel_desc args parse failed", c"venc_destroy_channel_desc($module, channel_desc, /)\n--\n\nCalls aclvencDestroyChannelDesc.\n\nReturns int."),
    method!(c"venc_destroy_frame_config", media_venc_destroy_frame_config, c"acl.media.venc_destroy_frame_config args parse failed", c"venc_destroy_frame_config($module, config, /)\n--\n\nCalls aclvencDestroyFrameConfig.\n\nReturns int."),
    method!(c"venc_get_channel_desc_buf_addr", media_venc_get_channel_desc_buf_addr, c"acl.media.venc_get_channel_desc_buf_addr args parse failed", c"venc_get_channel_desc_buf_addr($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescBufAddr.\n\nReturns int."),
    method!(c"venc_get_channel_desc_buf_size", media_venc_get_channel_desc_buf_size, c"acl.media.venc_get_channel_desc_buf_size args parse failed", c"venc_get_channel_desc_buf_size($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescBufSize.\n\nReturns int."),
    method!(c"venc_get_channel_desc_callback", manual::media_venc_get_channel_desc_callback, c"acl.media.venc_get_channel_desc_callback args parse failed", c"venc_get_channel_desc_callback($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescCallback. The function that was set, or None.\n\nReturns Callable[..., object]."),
    method!(c"venc_get_channel_desc_channel_id", media_venc_get_channel_desc_channel_id, c"acl.media.venc_get_channel_desc_channel_id args parse failed", c"venc_get_channel_desc_channel_id($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescChannelId.\n\nReturns int."),
    method!(c"venc_get_channel_desc_entype", media_venc_get_channel_desc_entype, c"acl.media.venc_get_channel_desc_entype args parse failed", c"venc_get_channel_desc_entype($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescEnType.\n\nReturns int."),
    method!(c"venc_get_channel_desc_key_frame_interval", media_venc_get_channel_desc_key_frame_interval, c"acl.media.venc_get_channel_desc_key_frame_interval args parse failed", c"venc_get_channel_desc_key_frame_interval($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescKeyFrameInterval.\n\nReturns int."),
    method!(c"venc_get_channel_desc_max_bit_rate", media_venc_get_channel_desc_max_bit_rate, c"acl.media.venc_get_channel_desc_max_bit_rate args parse failed", c"venc_get_channel_desc_max_bit_rate($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescMaxBitRate.\n\nReturns int."),
    method!(c"venc_get_channel_desc_param", media_venc_get_channel_desc_param, c"acl.media.venc_get_channel_desc_param args parse failed", c"venc_get_channel_desc_param($module, channel_desc, param_type, length, param, /)\n--\n\nCalls aclvencGetChannelDescParam.\n\nReturns tuple[int, int]."),
    method!(c"venc_get_channel_desc_pic_format", media_venc_get_channel_desc_pic_format, c"acl.media.venc_get_channel_desc_pic_format args parse failed", c"venc_get_channel_desc_pic_format($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescPicFormat.\n\nReturns int."),
    method!(c"venc_get_channel_desc_pic_height", media_venc_get_channel_desc_pic_height, c"acl.media.venc_get_channel_desc_pic_height args parse failed", c"venc_get_channel_desc_pic_height($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescPicHeight.\n\nReturns int."),
    method!(c"venc_get_channel_desc_pic_width", media_venc_get_channel_desc_pic_width, c"acl.media.venc_get_channel_desc_pic_width args parse failed", c"venc_get_channel_desc_pic_width($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescPicWidth.\n\nReturns int."),
    method!(c"venc_get_channel_desc_rc_mode", media_venc_get_channel_desc_rc_mode, c"acl.media.venc_get_channel_desc_rc_mode args parse failed", c"venc_get_channel_desc_rc_mode($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescRcMode.\n\nReturns int."),
    method!(c"venc_get_channel_desc_src_rate", media_venc_get_channel_desc_src_rate, c"acl.media.venc_get_channel_desc_src_rate args parse failed", c"venc_get_channel_desc_src_rate($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescSrcRate.\n\nReturns int."),
    method!(c"venc_get_channel_desc_thread_id", media_venc_get_channel_desc_thread_id, c"acl.media.venc_get_channel_desc_thread_id args parse failed", c"venc_get_channel_desc_thread_id($module, channel_desc, /)\n--\n\nCalls aclvencGetChannelDescThreadId.\n\nReturns int."),
    method!(c"venc_get_frame_config_eos", media_venc_get_frame_config_eos, c"acl.media.venc_get_frame_config_eos args parse failed", c"venc_get_frame_config_eos($module, config, /)\n--\n\nCalls aclvencGetFrameConfigEos.\n\nReturns int."),
    method!(c"venc_get_frame_config_force_i_frame", media_venc_get_frame_config_force_i_frame, c"acl.media.venc_get_frame_config_force_i_frame args parse failed", c"venc_get_frame_config_force_i_frame($module, config, /)\n--\n\nCalls aclvencGetFrameConfigForceIFrame.\n\nReturns int."),
    method!(c"venc_send_frame", manual::media_venc_send_frame, c"acl.media.venc_send_frame args parse failed", c"venc_send_frame($module, channel_desc, input_pic_desc, reserve, config, user_data, /)\n--\n\nCalls aclvencSendFrame. user_data may be any object; the callback gets the same one.\n\nReturns int."),
    method!(c"venc_set_channel_desc_buf_addr", media_venc_set_channel_desc_buf_addr, c"acl.media.venc_set_channel_desc_buf_addr args parse failed", c"venc_set_channel_desc_buf_addr($module, channel_desc, buf_addr, /)\n--\n\nCalls aclvencSetChannelDescBufAddr.\n\nReturns int."),
    method!(c"venc_set_channel_desc_buf_size", media_venc_set_channel_desc_buf_size, c"acl.media.venc_set_channel_desc_buf_size args parse failed", c"venc_set_channel_desc_buf_size($module, channel_desc, buf_size, /)\n--\n\nCalls aclvencSetChannelDescBufSize.\n\nReturns int."),
    method!(c"venc_set_channel_desc_callback", manual::media_venc_set_channel_desc_callback, c"acl.media.venc_set_channel_desc_callback args parse failed", c"venc_set_channel_desc_callback($module, channel_desc, callback, /)\n--\n\nCalls aclvencSetChannelDescCallback.\n\nReturns int."),
    method!(c"venc_set_channel_desc_entype", media_venc_set_channel_desc_entype, c"acl.media.venc_set_channel_desc_entype args parse failed", c"venc_set_channel_desc_entype($module, channel_desc, en_type, /)\n--\n\nCalls aclvencSetChannelDescEnType.\n\nReturns int."),
    method!(c"venc_set_channel_desc_key_frame_interval", media_venc_set_channel_desc_key_frame_interval, c"acl.media.venc_set_channel_desc_key_frame_interval args parse failed", c"venc_set_channel_desc_key_frame_interval($module, channel_desc, key_frame_interval, /)\n--\n\nCalls aclvencSetChannelDescKeyFrameInterval.\n\nReturns int."),
    method!(c"venc_set_channel_desc_max_bit_rate", media_venc_set_channel_desc_max_bit_rate, c"acl.media.venc_set_channel_desc_max_bit_rate args parse failed", c"venc_set_channel_desc_max_bit_rate($module, channel_desc, max_bit_rate, /)\n--\n\nCalls aclvencSetChannelDescMaxBitRate.\n\nReturns int."),
    method!(c"venc_set_channel_desc_param", media_venc_set_channel_desc_param, c"acl.media.venc_set_channel_desc_param args parse failed", c"venc_set_channel_desc_param($module, channel_desc, param_type, length, param, /)\n--\n\nCalls aclvencSetChannelDescParam.\n\nReturns int."),
    method!(c"venc_set_channel_desc_pic_format", media_venc_set_channel_desc_pic_format, c"acl.media.venc_set_channel_desc_pic_format args parse failed", c"venc_set_channel_desc_pic_format($module, channel_desc, pic_format, /)\n--\n\nCalls aclvencSetChannelDescPicFormat.\n\nReturns int."),
    method!(c"venc_set_channel_desc_pic_height", media_venc_set_channel_desc_pic_height, c"acl.media.venc_set_channel_desc_pic_height args parse failed", c"venc_set_channel_desc_pic_height($module, channel_desc, pic_height, /)\n--\n\nCalls aclvencSetChannelDescPicHeight.\n\nReturns int."),
    method!(c"venc_set_channel_desc_pic_width", media_venc_set_channel_desc_pic_width, c"acl.media.venc_set_channel_desc_pic_width args parse failed", c"venc_set_channel_desc_pic_width($module, channel_desc, pic_width, /)\n--\n\nCalls aclvencSetChannelDescPicWidth.\n\nReturns int."),
    method!(c"venc_set_channel_desc_rc_mode", media_venc_set_channel_desc_rc_mode, c"acl.media.venc_set_channel_desc_rc_mode args parse failed", c"venc_set_channel_desc_rc_mode($module, channel_desc, rc_mode, /)\n--\n\nCalls aclvencSetChannelDescRcMode.\n\nReturns int."),
    method!(c"venc_set_channel_desc_src_rate", media_venc_set_channel_desc_src_rate, c"acl.media.venc_set_channel_desc_src_rate args parse failed", c"venc_set_channel_desc_src_rate($module, channel_desc, src_rate, /)\n--\n\nCalls aclvencSetChannelDescSrcRate.\n\nReturns int."),
    method!(c"venc_set_channel_desc_thread_id", media_venc_set_channel_desc_thread_id, c"acl.media.venc_set_channel_desc_thread_id args parse failed", c"venc_set_channel_desc_thread_id($module, channel_desc, thread_id, /)\n--\n\nCalls aclvencSetChannelDescThreadId.\n\nReturns int."),
    method!(c"venc_set_frame_config_eos", media_venc_set_frame_config_eos, c"acl.media.venc_set_frame_config_eos args parse failed", c"venc_set_frame_config_eos($module, config, eos, /)\n--\n\nCalls aclvencSetFrameConfigEos.\n\nReturns int."),
    method!(c"venc_set_frame_config_force_i_frame", media_venc_set_frame_config_force_i_frame, c"acl.media.venc_set_frame_config_force_i_frame args parse failed", c"venc_set_frame_config_force_i_frame($module, config, force_i_frame, /)\n--\n\nCalls aclvencSetFrameConfigForceIFrame.\n\nReturns int."),
    END,
]);

fn op_cast<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let src_desc = call.get::<Pointer>(0)?;
    let src_buffer = call.get::<Pointer>(1)?;
    let dst_desc = call.get::<Pointer>(2)?;
    let dst_buffer = call.get::<Pointer>(3)?;
    let truncate = call.get::<u8>(4)?;
    let stream = call.get::<Pointer>(5)?;
    let ret = c_call!(call.waits aclopCast(Pointer, Pointer, Pointer, Pointer, u8, Pointer) -> i32, [src_desc, src_buffer, dst_desc, dst_buffer, truncate, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_create_attr<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclopCreateAttr() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn op_create_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let op_type = call.get::<CString>(0)?;
    let input_desc = call.get::<Vec<Pointer>>(1)?;
    let output_desc = call.get::<Vec<Pointer>>(2)?;
    let op_attr = call.get::<Pointer>(3)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.returns aclopCreateHandle(*const c_char, i32, *const Pointer, i32, *const Pointer, Pointer, *mut Pointer) -> i32, [op_type.as_ptr(), saturated(input_desc.count()), input_desc.as_ptr(), saturated(output_desc.count()), output_desc.as_ptr(), op_attr, &raw mut handle], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn op_create_handle_for_cast<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let src_desc = call.get::<Pointer>(0)?;
    let dst_desc = call.get::<Pointer>(1)?;
    let truncate = call.get::<u8>(2)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.returns aclopCreateHandleForCast(Pointer, Pointer, u8, *mut Pointer) -> i32, [src_desc, dst_desc, truncate, &raw mut handle], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn op_create_kernel<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let op_type = call.get::<CString>(0)?;
    let kernel_id = call.get::<CString>(1)?;
    let kernel_name = call.get::<CString>(2)?;
    let bin_data = call.get::<Pointer>(3)?;
    let bin_size = call.get::<i32>(4)?;
    let enginetype = call.get::<i32>(5)?;
    let deallocator = call.get::<Pointer>(6)?;
    let ret = c_call!(call.returns aclopCreateKernel(*const c_char, *const c_char, *const c_char, Pointer, i32, i32, Pointer) -> i32, [op_type.as_ptr(), kernel_id.as_ptr(), kernel_name.as_ptr(), bin_data, bin_size, enginetype, deallocator], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_destroy_attr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let attr = call.get::<Pointer>(0)?;
    c_call!(call.returns aclopDestroyAttr(Pointer) -> (), [attr], or ());
    call.none()
}

fn op_destroy_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let handle = call.get::<Pointer>(0)?;
    c_call!(call.waits aclopDestroyHandle(Pointer) -> (), [handle], or ());
    call.none()
}

fn op_execute<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let op_type = call.get::<CString>(0)?;
    let input_desc = call.get::<Vec<Pointer>>(1)?;
    let inputs = call.get::<Vec<Pointer>>(2)?;
    let output_desc = call.get::<Vec<Pointer>>(3)?;
    let outputs = call.get::<Vec<Pointer>>(4)?;
    let attr = call.get::<Pointer>(5)?;
    let stream = call.get::<Pointer>(6)?;
    let ret = if inputs.count() != input_desc.count() {
        call.refuse("acl.op.execute: count(inputs) = count(input_desc) does not hold")
    } else if outputs.count() != output_desc.count() {
        call.refuse("acl.op.execute: count(outputs) = count(output_desc) does not hold")
    } else {
        c_call!(call.waits aclopExecute(*const c_char, i32, *const Pointer, *const Pointer, i32, *const Pointer, *const Pointer, Pointer, Pointer) -> i32, [op_type.as_ptr(), saturated(input_desc.count()), input_desc.as_ptr(), inputs.as_ptr(), saturated(output_desc.count()), output_desc.as_ptr(), outputs.as_ptr(), attr, stream], or NOT_SUPPORTED)
    };
    call.one(&ret)
}

fn op_execute_v2<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let op_type = call.get::<CString>(0)?;
    let input_desc = call.get::<Vec<Pointer>>(1)?;
    let inputs = call.get::<Vec<Pointer>>(2)?;
    let output_desc = call.get::<Vec<Pointer>>(3)?;
    let outputs = call.get::<Vec<Pointer>>(4)?;
    let attr = call.get::<Pointer>(5)?;
    let stream = call.get::<Pointer>(6)?;
    let ret = if inputs.count() != input_desc.count() {
        call.refuse("acl.op.execute_v2: count(inputs) = count(input_desc) does not hold")
    } else if outputs.count() != output_desc.count() {
        call.refuse("acl.op.execute_v2: count(outputs) = count(output_desc) does not hold")
    } else {
        c_call!(call.waits aclopExecuteV2(*const c_char, i32, *const Pointer, *const Pointer, i32, *const Pointer, *const Pointer, Pointer, Pointer) -> i32, [op_type.as_ptr(), saturated(input_desc.count()), input_desc.as_ptr(), inputs.as_ptr(), saturated(output_desc.count()), output_desc.as_ptr(), outputs.as_ptr(), attr, stream], or NOT_SUPPORTED)
    };
    call.one(&ret)
}

fn op_execute_with_handle<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let handle = call.get::<Pointer>(0)?;
    let inputs = call.get::<Vec<Pointer>>(1)?;
    let outputs = call.get::<Vec<Pointer>>(2)?;
    let stream = call.get::<Pointer>(3)?;
    let ret = c_call!(call.waits aclopExecWithHandle(Pointer, i32, *const Pointer, i32, *const Pointer, Pointer) -> i32, [handle, saturated(inputs.count()), inputs.as_ptr(), saturated(outputs.count()), outputs.as_ptr(), stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_infer_shape<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let op_type = call.get::<CString>(0)?;
    let input_desc = call.get::<Vec<Pointer>>(1)?;
    let inputs = call.get::<Vec<Pointer>>(2)?;
    let num_outputs = call.get::<i32>(3)?;
    let output_desc = call.get::<Vec<Pointer>>(4)?;
    let attr = call.get::<Pointer>(5)?;
    let ret = if inputs.count() != input_desc.count() {
        call.refuse("acl.op.infer_shape: count(inputs) = count(input_desc) does not hold")
    } else if wide(num_outputs) > output_desc.count() {
        call.refuse("acl.op.infer_shape: num_outputs <= count(output_desc) does not hold")
    } else {
        c_call!(call.returns aclopInferShape(*const c_char, i32, *const Pointer, *const Pointer, i32, *const Pointer, Pointer) -> i32, [op_type.as_ptr(), saturated(input_desc.count()), input_desc.as_ptr(), inputs.as_ptr(), num_outputs, output_desc.as_ptr(), attr], or NOT_SUPPORTED)
    };
    call.one(&ret)
}

fn op_load<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let model = call.get::<Pointer>(0)?;
    let model_size = call.get::<usize>(1)?;
    let ret = c_call!(call.waits aclopLoad(Pointer, usize) -> i32, [model, model_size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_register_compile_func<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    call.get::<CString>(0)?;
    call.get::<AnyCallable>(1)?;
    let ret = call.unsupported("acl.op.register_compile_func");
    call.one(&ret)
}

fn op_set_attr_bool<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let attr = call.get::<Pointer>(0)?;
    let attr_name = call.get::<CString>(1)?;
    let attr_value = call.get::<u8>(2)?;
    let ret = c_call!(call.returns aclopSetAttrBool(Pointer, *const c_char, u8) -> i32, [attr, attr_name.as_ptr(), attr_value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_attr_data_type<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let attr = call.get::<Pointer>(0)?;
    let attr_name = call.get::<CString>(1)?;
    let attr_value = call.get::<i32>(2)?;
    let ret = c_call!(call.returns aclopSetAttrDataType(Pointer, *const c_char, i32) -> i32, [attr, attr_name.as_ptr(), attr_value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_attr_float<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let attr = call.get::<Pointer>(0)?;
    let attr_name = call.get::<CString>(1)?;
    let attr_value = call.get::<f32>(2)?;
    let ret = c_call!(call.returns aclopSetAttrFloat(Pointer, *const c_char, f32) -> i32, [attr, attr_name.as_ptr(), attr_value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_attr_int<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let attr = call.get::<Pointer>(0)?;
    let attr_name = call.get::<CString>(1)?;
    let attr_value = call.get::<i64>(2)?;
    let ret = c_call!(call.returns aclopSetAttrInt(Pointer, *const c_char, i64) -> i32, [attr, attr_name.as_ptr(), attr_value], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_attr_list_bool<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let attr = call.get::<Pointer>(0)?;
    let attr_name = call.get::<CString>(1)?;
    let attr_value = call.get::<Vec<u8>>(2)?;
    let ret = c_call!(call.returns aclopSetAttrListBool(Pointer, *const c_char, i32, *const u8) -> i32, [attr, attr_name.as_ptr(), saturated(attr_value.count()), attr_value.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_attr_list_float<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let attr = call.get::<Pointer>(0)?;
    let attr_name = call.get::<CString>(1)?;
    let num_values = call.get::<i32>(2)?;
    let attr_value = call.get::<Vec<f32>>(3)?;
    let ret = if wide(num_values) > attr_value.count() {
        call.refuse("acl.op.set_attr_list_float: num_values <= count(attr_value) does not hold")
    } else {
        c_call!(call.returns aclopSetAttrListFloat(Pointer, *const c_char, i32, *const f32) -> i32, [attr, attr_name.as_ptr(), num_values, attr_value.as_ptr()], or NOT_SUPPORTED)
    };
    call.one(&ret)
}

fn op_set_attr_list_int<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let attr = call.get::<Pointer>(0)?;
    let attr_name = call.get::<CString>(1)?;
    let attr_value = call.get::<Vec<i64>>(2)?;
    let ret = c_call!(call.returns aclopSetAttrListInt(Pointer, *const c_char, i32, *const i64) -> i32, [attr, attr_name.as_ptr(), saturated(attr_value.count()), attr_value.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_attr_list_string<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let attr = call.get::<Pointer>(0)?;
    let attr_name = call.get::<CString>(1)?;
    let attr_value = call.get::<TextList>(2)?;
    let ret = c_call!(call.returns aclopSetAttrListString(Pointer, *const c_char, i32, *const *const c_char) -> i32, [attr, attr_name.as_ptr(), saturated(attr_value.count()), attr_value.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_attr_string<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let attr = call.get::<Pointer>(0)?;
    let attr_name = call.get::<CString>(1)?;
    let attr_value = call.get::<CString>(2)?;
    let ret = c_call!(call.returns aclopSetAttrString(Pointer, *const c_char, *const c_char) -> i32, [attr, attr_name.as_ptr(), attr_value.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_kernel_args<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let kernel_desc = call.get::<Pointer>(0)?;
    let kernel_id = call.get::<CString>(1)?;
    let block_dim = call.get::<u32>(2)?;
    let args = call.get::<Pointer>(3)?;
    let arg_size = call.get::<u32>(4)?;
    let ret = c_call!(call.returns aclopSetKernelArgs(Pointer, *const c_char, u32, Pointer, u32) -> i32, [kernel_desc, kernel_id.as_ptr(), block_dim, args, arg_size], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_max_op_queue_num<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let max_op_num = call.get::<u64>(0)?;
    let ret = c_call!(call.returns aclopSetMaxOpQueueNum(u64) -> i32, [max_op_num], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_set_model_dir<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let model_dir = call.get::<CString>(0)?;
    let ret = c_call!(call.returns aclopSetModelDir(*const c_char) -> i32, [model_dir.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_start_dump_args<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let dump_type = call.get::<u32>(0)?;
    let path = call.get::<CString>(1)?;
    let ret = c_call!(call.waits aclopStartDumpArgs(u32, *const c_char) -> i32, [dump_type, path.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_stop_dump_args<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let dump_type = call.get::<u32>(0)?;
    let ret = c_call!(call.waits aclopStopDumpArgs(u32) -> i32, [dump_type], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_unregister_compile_func<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let op_type = call.get::<CString>(0)?;
    let ret = c_call!(call.waits aclopUnregisterCompileFunc(*const c_char) -> i32, [op_type.as_ptr()], or NOT_SUPPORTED);
    call.one(&ret)
}

fn op_update_params<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let op_type = call.get::<CString>(0)?;
    let input_desc = call.get::<Vec<Pointer>>(1)?;
    let output_desc = call.get::<Vec<Pointer>>(2)?;
    let attr = call.get::<Pointer>(3)?;
    let ret = c_call!(call.returns aclopUpdateParams(*const c_char, i32, *const Pointer, i32, *const Pointer, Pointer) -> i32, [op_type.as_ptr(), saturated(input_desc.count()), input_desc.as_ptr(), saturated(output_desc.count()), output_desc.as_ptr(), attr], or NOT_SUPPORTED);
    call.one(&ret)
}

static OP: Table = Table::new(&[
    method!(c"cast", op_cast, c"acl.op.cast args parse failed", c"cast($module, src_desc, src_buffer, dst_desc, dst_buffer, truncate, stream, /)\n--\n\nCalls aclopCast.\n\nReturns int."),
    method!(c"create_attr", op_create_attr, c"acl.op.create_attr args parse failed", c"create_attr($module, /, *args)\n--\n\nCalls aclopCreateAttr.\n\nReturns int."),
    method!(c"create_handle", op_create_handle, c"acl.op.create_handle args parse failed", c"create_handle($module, op_type, input_desc, output_desc, op_attr, /)\n--\n\nCalls aclopCreateHandle.\n\nReturns tuple[int, int]."),
    method!(c"create_handle_for_cast", op_create_handle_for_cast, c"acl.op.create_handle_for_cast args parse failed", c"create_handle_for_cast($module, src_desc, dst_desc, truncate, /)\n--\n\nCalls aclopCreateHandleForCast.\n\nReturns tuple[int, int]."),
    method!(c"create_kernel", op_create_kernel, c"acl.op.create_kernel args parse failed", c"create_kernel($module, op_type, kernel_id, kernel_name, bin_data, bin_size, enginetype, deallocator, /)\n--\n\nCalls aclopCreateKernel.\n\nReturns int."),
    method!(c"destroy_attr", op_destroy_attr, c"acl.op.destroy_attr args parse failed", c"destroy_attr($module, attr, /)\n--\n\nCalls aclopDestroyAttr.\n\nReturns None."),
    method!(c"destroy_handle", op_destroy_handle, c"acl.op.destroy_handle args parse failed", c"destroy_handle($module, handle, /)\n--\n\nCalls aclopDestroyHandle.\n\nReturns None."),
    method!(c"execute", op_execute, c"acl.op.execute args parse failed", c"execute($module, op_type, input_desc, inputs, output_desc, outputs, attr, stream, /)\n--\n\nCalls aclopExecute.\n\nReturns int."),
    method!(c"execute_v2", op_execute_v2, c"acl.op.execute_v2 args parse failed", c"execute_v2($module, op_type, input_desc, inputs, output_desc, outputs, attr, stream, /)\n--\n\nCalls aclopExecuteV2. The counts are the lengths of the lists.\n\nReturns int."),
    method!(c"execute_with_handle", op_execute_with_handle, c"acl.op.execute_with_handle args parse failed", c"execute_with_handle($module, handle, inputs, outputs, stream, /)\n--\n\nCalls aclopExecWithHandle.\n\nReturns int."),
    method!(c"infer_shape", op_infer_shape, c"acl.op.infer_shape args parse failed", c"infer_shape($module, op_type, input_desc, inputs, num_outputs, output_desc, attr, /)\n--\n\nCalls aclopInferShape. Fills the output descriptions in place.\n\nReturns int."),
    method!(c"load", op_load, c"acl.op.load args parse failed", c"load($module, model, model_size, /)\n--\n\nCalls aclopLoad.\n\nReturns int."),
    method!(c"register_compile_func", op_register_compile_func, c"acl.op.register_compile_func args parse failed", c"register_compile_func($module, op_type, func, /)\n--\n\nAnswers that it is not supported. The C callback does not say for which operator it was called, so one function cannot serve several.\n\nReturns int."),
    method!(c"set_attr_bool", op_set_attr_bool, c"acl.op.set_attr_bool args parse failed", c"set_attr_bool($module, attr, attr_name, attr_value, /)\n--\n\nCalls aclopSetAttrBool.\n\nReturns int."),
    method!(c"set_attr_data_type", op_set_attr_data_type, c"acl.op.set_attr_data_type args parse failed", c"set_attr_data_type($module, attr, attr_name, attr_value, /)\n--\n\nCalls aclopSetAttrDataType.\n\nReturns int."),
    method!(c"set_attr_float", op_set_attr_float, c"acl.op.set_attr_float args parse failed", c"set_attr_float($module, attr, attr_name, attr_value, /)\n--\n\nCalls aclopSetAttrFloat.\n\nReturns int."),
    method!(c"set_attr_int", op_set_attr_int, c"acl.op.set_attr_int args parse failed", c"set_attr_int($module, attr, attr_name, attr_value, /)\n--\n\nCalls aclopSetAttrInt.\n\nReturns int."),
    method!(c"set_attr_list_bool", op_set_attr_list_bool, c"acl.op.set_attr_list_bool args parse failed", c"set_attr_list_bool($module, attr, attr_name, attr_value, /)\n--\n\nCalls aclopSetAttrListBool.\n\nReturns int."),
    method!(c"set_attr_list_float", op_set_attr_list_float, c"acl.op.set_attr_list_float args parse failed", c"set_attr_list_float($module, attr, attr_name, num_values, attr_value, /)\n--\n\nCalls aclopSetAttrListFloat. The number of values is an argument of its own here, and only here.\n\nReturns int."),
    method!(c"set_attr_list_int", op_set_attr_list_int, c"acl.op.set_attr_list_int args parse failed", c"set_attr_list_int($module, attr, attr_name, attr_value, /)\n--\n\nCalls aclopSetAttrListInt.\n\nReturns int."),
    method!(c"set_attr_list_list_int", manual::op_set_attr_list_list_int, c"acl.op.set_attr_list_list_int args parse failed", c"set_attr_list_list_int($module, attr, attr_name, attr_value, /)\n--\n\nCalls aclopSetAttrListListInt.\n\nReturns int."),
    method!(c"set_attr_list_string", op_set_attr_list_string, c"acl.op.set_attr_list_string args parse failed", c"set_attr_list_string($module, attr, attr_name, attr_value, /)\n--\n\nCalls aclopSetAttrListString.\n\nReturns int."),
    method!(c"set_attr_string", op_set_attr_string, c"acl.op.set_attr_string args parse failed", c"set_attr_string($module, attr, attr_name, attr_value, /)\n--\n\nCalls aclopSetAttrString.\n\nReturns int."),
    method!(c"set_kernel_args", op_set_kernel_args, c"acl.op.set_kernel_args args parse failed", c"set_kernel_args($module, kernel_desc, kernel_id, block_dim, args, arg_size, /)\n--\n\nCalls aclopSetKernelArgs.\n\nReturns int."),
    method!(c"set_max_op_queue_num", op_set_max_op_queue_num, c"acl.op.set_max_op_queue_num args parse failed", c"set_max_op_queue_num($module, max_op_num, /)\n--\n\nCalls aclopSetMaxOpQueueNum.\n\nReturns int."),
    method!(c"set_model_dir", op_set_model_dir, c"acl.op.set_model_dir args parse failed", c"set_model_dir($module, model_dir, /)\n--\n\nCalls aclopSetModelDir.\n\nReturns int."),
    method!(c"start_dump_args", op_start_dump_args, c"acl.op.start_dump_args args parse failed", c"start_dump_args($module, dump_type, path, /)\n--\n\nCalls aclopStartDumpArgs.\n\nReturns int."),
    method!(c"stop_dump_args", op_stop_dump_args, c"acl.op.stop_dump_args args parse failed", c"stop_dump_args($module, dump_type, /)\n--\n\nCalls aclopStopDumpArgs.\n\nReturns int."),
    method!(c"unregister_compile_func", op_unregister_compile_func, c"acl.op.unregister_compile_func args parse failed", c"unregister_compile_func($module, op_type, /)\n--\n\nCalls aclopUnregisterCompileFunc.\n\nReturns int."),
    method!(c"update_params", op_update_params, c"acl.op.update_params args parse failed", c"update_params($module, op_type, input_desc, output_desc, attr, /)\n--\n\nCalls aclopUpdateParams.\n\nReturns int."),
    END,
]);

fn blas_create_handle_for_gemm_ex<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(10, 10)?;
    let trans_a = call.get::<i32>(0)?;
    let trans_b = call.get::<i32>(1)?;
    let trans_c = call.get::<i32>(2)?;
    let m = call.get::<i32>(3)?;
    let n = call.get::<i32>(4)?;
    let k = call.get::<i32>(5)?;
    let data_type_a = call.get::<i32>(6)?;
    let data_type_b = call.get::<i32>(7)?;
    let data_type_c = call.get::<i32>(8)?;
    let type_ = call.get::<i32>(9)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.returns aclblasCreateHandleForGemmEx(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, *mut Pointer) -> i32, [trans_a, trans_b, trans_c, m, n, k, data_type_a, data_type_b, data_type_c, type_, &raw mut handle], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn blas_create_handle_for_gemv_ex<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let trans_a = call.get::<i32>(0)?;
    let m = call.get::<i32>(1)?;
    let n = call.get::<i32>(2)?;
    let data_type_a = call.get::<i32>(3)?;
    let data_type_x = call.get::<i32>(4)?;
    let data_type_y = call.get::<i32>(5)?;
    let type_ = call.get::<i32>(6)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.returns aclblasCreateHandleForGemvEx(i32, i32, i32, i32, i32, i32, i32, *mut Pointer) -> i32, [trans_a, m, n, data_type_a, data_type_x, data_type_y, type_, &raw mut handle], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn blas_create_handle_for_hgemm<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let trans_a = call.get::<i32>(0)?;
    let trans_b = call.get::<i32>(1)?;
    let trans_c = call.get::<i32>(2)?;
    let m = call.get::<i32>(3)?;
    let n = call.get::<i32>(4)?;
    let k = call.get::<i32>(5)?;
    let type_ = call.get::<i32>(6)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.returns aclblasCreateHandleForHgemm(i32, i32, i32, i32, i32, i32, i32, *mut Pointer) -> i32, [trans_a, trans_b, trans_c, m, n, k, type_, &raw mut handle], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn blas_create_handle_for_hgemv<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let trans_a = call.get::<i32>(0)?;
    let m = call.get::<i32>(1)?;
    let n = call.get::<i32>(2)?;
    let type_ = call.get::<i32>(3)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.returns aclblasCreateHandleForHgemv(i32, i32, i32, i32, *mut Pointer) -> i32, [trans_a, m, n, type_, &raw mut handle], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn blas_create_handle_for_s8gemm<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let trans_a = call.get::<i32>(0)?;
    let trans_b = call.get::<i32>(1)?;
    let trans_c = call.get::<i32>(2)?;
    let m = call.get::<i32>(3)?;
    let n = call.get::<i32>(4)?;
    let k = call.get::<i32>(5)?;
    let type_ = call.get::<i32>(6)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.returns aclblasCreateHandleForS8gemm(i32, i32, i32, i32, i32, i32, i32, *mut Pointer) -> i32, [trans_a, trans_b, trans_c, m, n, k, type_, &raw mut handle], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn blas_create_handle_for_s8gemv<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let trans_a = call.get::<i32>(0)?;
    let m = call.get::<i32>(1)?;
    let n = call.get::<i32>(2)?;
    let type_ = call.get::<i32>(3)?;
    let mut handle = Pointer::default();
    let ret = c_call!(call.returns aclblasCreateHandleForS8gemv(i32, i32, i32, i32, *mut Pointer) -> i32, [trans_a, m, n, type_, &raw mut handle], or NOT_SUPPORTED);
    call.many(&[&handle, &ret])
}

fn blas_gemm_ex<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(19, 19)?;
    let trans_a = call.get::<i32>(0)?;
    let trans_b = call.get::<i32>(1)?;
    let trans_c = call.get::<i32>(2)?;
    let m = call.get::<i32>(3)?;
    let n = call.get::<i32>(4)?;
    let k = call.get::<i32>(5)?;
    let alpha = call.get::<Pointer>(6)?;
    let matrix_a = call.get::<Pointer>(7)?;
    let lda = call.get::<i32>(8)?;
    let data_type_a = call.get::<i32>(9)?;
    let matrix_b = call.get::<Pointer>(10)?;
    let ldb = call.get::<i32>(11)?;
    let data_type_b = call.get::<i32>(12)?;
    let beta = call.get::<Pointer>(13)?;
    let matrix_c = call.get::<Pointer>(14)?;
    let ldc = call.get::<i32>(15)?;
    let data_type_c = call.get::<i32>(16)?;
    let type_ = call.get::<i32>(17)?;
    let stream = call.get::<Pointer>(18)?;
    let ret = c_call!(call.waits aclblasGemmEx(i32, i32, i32, i32, i32, i32, Pointer, Pointer, i32, i32, Pointer, i32, i32, Pointer, Pointer, i32, i32, i32, Pointer) -> i32, [trans_a, trans_b, trans_c, m, n, k, alpha, matrix_a, lda, data_type_a, matrix_b, ldb, data_type_b, beta, matrix_c, ldc, data_type_c, type_, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn blas_gemv_ex<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(16, 16)?;
    let trans_a = call.get::<i32>(0)?;
    let m = call.get::<i32>(1)?;
    let n = call.get::<i32>(2)?;
    let alpha = call.get::<Pointer>(3)?;
    let a = call.get::<Pointer>(4)?;
    let lda = call.get::<i32>(5)?;
    let data_type_a = call.get::<i32>(6)?;
    let x = call.get::<Pointer>(7)?;
    let incx = call.get::<i32>(8)?;
    let data_type_x = call.get::<i32>(9)?;
    let beta = call.get::<Pointer>(10)?;
    let y = call.get::<Pointer>(11)?;
    let incy = call.get::<i32>(12)?;
    let data_type_y = call.get::<i32>(13)?;
    let type_ = call.get::<i32>(14)?;
    let stream = call.get::<Pointer>(15)?;
    let ret = c_call!(call.waits aclblasGemvEx(i32, i32, i32, Pointer, Pointer, i32, i32, Pointer, i32, i32, Pointer, Pointer, i32, i32, i32, Pointer) -> i32, [trans_a, m, n, alpha, a, lda, data_type_a, x, incx, data_type_x, beta, y, incy, data_type_y, type_, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn blas_hgemm<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(16, 16)?;
    let trans_a = call.get::<i32>(0)?;
    let trans_b = call.get::<i32>(1)?;
    let trans_c = call.get::<i32>(2)?;
    let m = call.get::<i32>(3)?;
    let n = call.get::<i32>(4)?;
    let k = call.get::<i32>(5)?;
    let alpha = call.get::<Pointer>(6)?;
    let matrix_a = call.get::<Pointer>(7)?;
    let lda = call.get::<i32>(8)?;
    let matrix_b = call.get::<Pointer>(9)?;
    let ldb = call.get::<i32>(10)?;
    let beta = call.get::<Pointer>(11)?;
    let matrix_c = call.get::<Pointer>(12)?;
    let ldc = call.get::<i32>(13)?;
    let type_ = call.get::<i32>(14)?;
    let stream = call.get::<Pointer>(15)?;
    let ret = c_call!(call.waits aclblasHgemm(i32, i32, i32, i32, i32, i32, Pointer, Pointer, i32, Pointer, i32, Pointer, Pointer, i32, i32, Pointer) -> i32, [trans_a, trans_b, trans_c, m, n, k, alpha, matrix_a, lda, matrix_b, ldb, beta, matrix_c, ldc, type_, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn blas_hgemv<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(13, 13)?;
    let trans_a = call.get::<i32>(0)?;
    let m = call.get::<i32>(1)?;
    let n = call.get::<i32>(2)?;
    let alpha = call.get::<Pointer>(3)?;
    let a = call.get::<Pointer>(4)?;
    let lda = call.get::<i32>(5)?;
    let x = call.get::<Pointer>(6)?;
    let incx = call.get::<i32>(7)?;
    let beta = call.get::<Pointer>(8)?;
    let y = call.get::<Pointer>(9)?;
    let incy = call.get::<i32>(10)?;
    let type_ = call.get::<i32>(11)?;
    let stream = call.get::<Pointer>(12)?;
    let ret = c_call!(call.waits aclblasHgemv(i32, i32, i32, Pointer, Pointer, i32, Pointer, i32, Pointer, Pointer, i32, i32, Pointer) -> i32, [trans_a, m, n, alpha, a, lda, x, incx, beta, y, incy, type_, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn blas_s8gemm<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(16, 16)?;
    let trans_a = call.get::<i32>(0)?;
    let trans_b = call.get::<i32>(1)?;
    let trans_c = call.get::<i32>(2)?;
    let m = call.get::<i32>(3)?;
    let n = call.get::<i32>(4)?;
    let k = call.get::<i32>(5)?;
    let alpha = call.get::<Pointer>(6)?;
    let matrix_a = call.get::<Pointer>(7)?;
    let lda = call.get::<i32>(8)?;
    let matrix_b = call.get::<Pointer>(9)?;
    let ldb = call.get::<i32>(10)?;
    let beta = call.get::<Pointer>(11)?;
    let matrix_c = call.get::<Pointer>(12)?;
    let ldc = call.get::<i32>(13)?;
    let type_ = call.get::<i32>(14)?;
    let stream = call.get::<Pointer>(15)?;
    let ret = c_call!(call.waits aclblasS8gemm(i32, i32, i32, i32, i32, i32, Pointer, Pointer, i32, Pointer, i32, Pointer, Pointer, i32, i32, Pointer) -> i32, [trans_a, trans_b, trans_c, m, n, k, alpha, matrix_a, lda, matrix_b, ldb, beta, matrix_c, ldc, type_, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

fn blas_s8gemv<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(13, 13)?;
    let trans_a = call.get::<i32>(0)?;
    let m = call.get::<i32>(1)?;
    let n = call.get::<i32>(2)?;
    let alpha = call.get::<Pointer>(3)?;
    let a = call.get::<Pointer>(4)?;
    let lda = call.get::<i32>(5)?;
    let x = call.get::<Pointer>(6)?;
    let incx = call.get::<i32>(7)?;
    let beta = call.get::<Pointer>(8)?;
    let y = call.get::<Pointer>(9)?;
    let incy = call.get::<i32>(10)?;
    let type_ = call.get::<i32>(11)?;
    let stream = call.get::<Pointer>(12)?;
    let ret = c_call!(call.waits aclblasS8gemv(i32, i32, i32, Pointer, Pointer, i32, Pointer, i32, Pointer, Pointer, i32, i32, Pointer) -> i32, [trans_a, m, n, alpha, a, lda, x, incx, beta, y, incy, type_, stream], or NOT_SUPPORTED);
    call.one(&ret)
}

static BLAS: Table = Table::new(&[
    method!(c"create_handle_for_gemm_ex", blas_create_handle_for_gemm_ex, c"acl.blas.create_handle_for_gemm_ex args parse failed", c"create_handle_for_gemm_ex($module, trans_a, trans_b, trans_c, m, n, k, data_type_a, data_type_b, data_type_c, type, /)\n--\n\nCalls aclblasCreateHandleForGemmEx.\n\nReturns tuple[int, int]."),
    method!(c"create_handle_for_gemv_ex", blas_create_handle_for_gemv_ex, c"acl.blas.create_handle_for_gemv_ex args parse failed", c"create_handle_for_gemv_ex($module, trans_a, m, n, data_type_a, data_type_x, data_type_y, type, /)\n--\n\nCalls aclblasCreateHandleForGemvEx.\n\nReturns tuple[int, int]."),
    method!(c"create_handle_for_hgemm", blas_create_handle_for_hgemm, c"acl.blas.create_handle_for_hgemm args parse failed", c"create_handle_for_hgemm($module, trans_a, trans_b, trans_c, m, n, k, type, /)\n--\n\nCalls aclblasCreateHandleForHgemm.\n\nReturns tuple[int, int]."),
    method!(c"create_handle_for_hgemv", blas_create_handle_for_hgemv, c"acl.blas.create_handle_for_hgemv args parse failed", c"create_handle_for_hgemv($module, trans_a, m, n, type, /)\n--\n\nCalls aclblasCreateHandleForHgemv.\n\nReturns tuple[int, int]."),
    method!(c"create_handle_for_s8gemm", blas_create_handle_for_s8gemm, c"acl.blas.create_handle_for_s8gemm args parse failed", c"create_handle_for_s8gemm($module, trans_a, trans_b, trans_c, m, n, k, type, /)\n--\n\nCalls aclblasCreateHandleForS8gemm.\n\nReturns tuple[int, int]."),
    method!(c"create_handle_for_s8gemv", blas_create_handle_for_s8gemv, c"acl.blas.create_handle_for_s8gemv args parse failed", c"create_handle_for_s8gemv($module, trans_a, m, n, type, /)\n--\n\nCalls aclblasCreateHandleForS8gemv.\n\nReturns tuple[int, int]."),
    method!(c"gemm_ex", blas_gemm_ex, c"acl.blas.gemm_ex args parse failed", c"gemm_ex($module, trans_a, trans_b, trans_c, m, n, k, alpha, matrix_a, lda, data_type_a, matrix_b, ldb, data_type_b, beta, matrix_c, ldc, data_type_c, type, stream, /)\n--\n\nCalls aclblasGemmEx.\n\nReturns int."),
    method!(c"gemv_ex", blas_gemv_ex, c"acl.blas.gemv_ex args parse failed", c"gemv_ex($module, trans_a, m, n, alpha, a, lda, data_type_a, x, incx, data_type_x, beta, y, incy, data_type_y, type, stream, /)\n--\n\nCalls aclblasGemvEx.\n\nReturns int."),
    method!(c"hgemm", blas_hgemm, c"acl.blas.hgemm args parse failed", c"hgemm($module, trans_a, trans_b, trans_c, m, n, k, alpha, matrix_a, lda, matrix_b, ldb, beta, matrix_c, ldc, type, stream, /)\n--\n\nCalls aclblasHgemm.\n\nReturns int."),
    method!(c"hgemv", blas_hgemv, c"acl.blas.hgemv args parse failed", c"hgemv($module, trans_a, m, n, alpha, a, lda, x, incx, beta, y, incy, type, stream, /)\n--\n\nCalls aclblasHgemv.\n\nReturns int."),
    method!(c"s8gemm", blas_s8gemm, c"acl.blas.s8gemm args parse failed", c"s8gemm($module, trans_a, trans_b, trans_c, m, n, k, alpha, matrix_a, lda, matrix_b, ldb, beta, matrix_c, ldc, type, stream, /)\n--\n\nCalls aclblasS8gemm.\n\nReturns int."),
    method!(c"s8gemv", blas_s8gemv, c"acl.blas.s8gemv args parse failed", c"s8gemv($module, trans_a, m, n, alpha, a, lda, x, incx, beta, y, incy, type, stream, /)\n--\n\nCalls aclblasS8gemv.\n\nReturns int."),
    END,
]);

static UTIL: Table = Table::new(&[
    method!(c"bytes_to_ptr", manual::util_bytes_to_ptr, c"acl.util.bytes_to_ptr args parse failed", c"bytes_to_ptr($module, data, /)\n--\n\nThe address of the object itself: no copy, and no reference is kept. ValueError for anything but bytes.\n\nReturns int."),
    method!(c"numpy_contiguous_to_ptr", manual::util_numpy_contiguous_to_ptr, c"acl.util.numpy_contiguous_to_ptr args parse failed", c"numpy_contiguous_to_ptr($module, data, /)\n--\n\nDeprecated. Keep the second value alive as long as the address is used. ValueError for anything but an array.\n\nReturns tuple[int, Any]."),
    method!(c"numpy_to_ptr", manual::util_numpy_to_ptr, c"acl.util.numpy_to_ptr args parse failed", c"numpy_to_ptr($module, data, /)\n--\n\nDeprecated. The address of the array itself; no reference is kept. ValueError for anything but an array.\n\nReturns int."),
    method!(c"ptr_to_bytes", manual::util_ptr_to_bytes, c"acl.util.ptr_to_bytes args parse failed", c"ptr_to_bytes($module, ptr, size, /)\n--\n\nCopies.\n\nReturns bytes."),
    method!(c"ptr_to_numpy", manual::util_ptr_to_numpy, c"acl.util.ptr_to_numpy args parse failed", c"ptr_to_numpy($module, ptr, shape, npy_type, /)\n--\n\nDeprecated. A writable view, which owns nothing; the type is NumPy's own number. ValueError when shape is not a tuple of int.\n\nReturns Any."),
    method!(c"start_thread", manual::util_start_thread, c"acl.util.start_thread args parse failed", c"start_thread($module, thr_func, args_list, /)\n--\n\nthr_func gets args_list as one argument, or none when it is None. The number equals threading.get_ident() inside.\n\nReturns tuple[int, int]."),
    method!(c"stop_thread", manual::util_stop_thread, c"acl.util.stop_thread args parse failed", c"stop_thread($module, thr_id, /)\n--\n\nWaits for the thread to end, and never ends it. RuntimeError when its function raised.\n\nReturns int."),
    END,
]);

fn prof_create_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let device_list = call.get::<Vec<u32>>(0)?;
    let aicore_metrics = call.get::<i32>(1)?;
    let aicore_events = call.get::<Pointer>(2)?;
    let data_type_config = call.get::<u64>(3)?;
    let ret = c_call!(call.returns aclprofCreateConfig(*const u32, u32, i32, Pointer, u64) -> Pointer, [device_list.as_ptr(), saturated(device_list.count()), aicore_metrics, aicore_events, data_type_config], or Default::default());
    call.one(&ret)
}

fn prof_create_stamp<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclprofCreateStamp() -> Pointer, [], or Default::default());
    call.one(&ret)
}

fn prof_create_subscribe_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let time_info_switch = call.get::<i8>(0)?;
    let aicore_metrics = call.get::<i32>(1)?;
    let fd = call.get::<Pointer>(2)?;
    let ret = c_call!(call.waits aclprofCreateSubscribeConfig(i8, i32, Pointer) -> Pointer, [time_info_switch, aicore_metrics, fd], or Default::default());
    call.one(&ret)
}

fn prof_destroy_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclprofDestroyConfig(Pointer) -> i32, [config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_destroy_stamp<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stamp = call.get::<Pointer>(0)?;
    c_call!(call.returns aclprofDestroyStamp(Pointer) -> (), [stamp], or ());
    call.none()
}

fn prof_destroy_subscribe_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let subscribe_config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclprofDestroySubscribeConfig(Pointer) -> i32, [subscribe_config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_finalize<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.waits aclprofFinalize() -> i32, [], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_get_op_desc_size<'py>(call: &Args<'py>) -> Answer<'py> {
    let mut op_desc_size = usize::default();
    let ret = c_call!(call.returns aclprofGetOpDescSize(*mut usize) -> i32, [&raw mut op_desc_size], or NOT_SUPPORTED);
    call.many(&[&op_desc_size, &ret])
}

fn prof_get_op_name<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let op_info = call.get::<Pointer>(0)?;
    let op_info_len = call.get::<usize>(1)?;
    let index = call.get::<u32>(2)?;
    let op_name_len = call.get::<usize>(3)?;
    let mut op_name = TextBuffer::new(wide(op_name_len));
    let ret = if op_name.is_refused() {
        call.refuse("acl.prof.get_op_name: the length asked for is over the limit of one MiB")
    } else {
        c_call!(call.returns aclprofGetOpName(Pointer, usize, u32, Pointer, usize) -> i32, [op_info, op_info_len, index, op_name.pointer(), op_name_len], or NOT_SUPPORTED)
    };
    call.many(&[&op_name.text(ret), &ret])
}

fn prof_get_op_num<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let op_info = call.get::<Pointer>(0)?;
    let op_info_len = call.get::<usize>(1)?;
    let mut op_num = u32::default();
    let ret = c_call!(call.returns aclprofGetOpNum(Pointer, usize, *mut u32) -> i32, [op_info, op_info_len, &raw mut op_num], or NOT_SUPPORTED);
    call.many(&[&op_num, &ret])
}

fn prof_get_op_type<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let op_info = call.get::<Pointer>(0)?;
    let op_info_len = call.get::<usize>(1)?;
    let index = call.get::<u32>(2)?;
    let op_type_len = call.get::<usize>(3)?;
    let mut op_type = TextBuffer::new(wide(op_type_len));
    let ret = if op_type.is_refused() {
        call.refuse("acl.prof.get_op_type: the length asked for is over the limit of one MiB")
    } else {
        c_call!(call.returns aclprofGetOpType(Pointer, usize, u32, Pointer, usize) -> i32, [op_info, op_info_len, index, op_type.pointer(), op_type_len], or NOT_SUPPORTED)
    };
    call.many(&[&op_type.text(ret), &ret])
}

fn prof_init<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let profiler_result_path = call.get::<CString>(0)?;
    let ret = c_call!(call.waits aclprofInit(*const c_char, usize) -> i32, [profiler_result_path.as_ptr(), saturated(profiler_result_path.count())], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_mark<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stamp = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclprofMark(Pointer) -> i32, [stamp], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_model_subscribe<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let model_id = call.get::<u32>(0)?;
    let subscribe_config = call.get::<Pointer>(1)?;
    let ret = c_call!(call.waits aclprofModelSubscribe(u32, Pointer) -> i32, [model_id, subscribe_config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_model_unsubscribe<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let model_id = call.get::<u32>(0)?;
    let ret = c_call!(call.waits aclprofModelUnSubscribe(u32) -> i32, [model_id], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_pop<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns aclprofPop() -> i32, [], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_push<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let stamp = call.get::<Pointer>(0)?;
    let ret = c_call!(call.returns aclprofPush(Pointer) -> i32, [stamp], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_set_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let config_type = call.get::<i32>(0)?;
    let config = call.get::<CString>(1)?;
    let ret = c_call!(call.returns aclprofSetConfig(i32, *const c_char, usize) -> i32, [config_type, config.as_ptr(), saturated(config.count())], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_set_stamp_trace_message<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let stamp = call.get::<Pointer>(0)?;
    let msg = call.get::<Pointer>(1)?;
    let msg_len = call.get::<u32>(2)?;
    let ret = c_call!(call.returns aclprofSetStampTraceMessage(Pointer, Pointer, u32) -> i32, [stamp, msg, msg_len], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_start<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclprofStart(Pointer) -> i32, [config], or NOT_SUPPORTED);
    call.one(&ret)
}

fn prof_stop<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let config = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclprofStop(Pointer) -> i32, [config], or NOT_SUPPORTED);
    call.one(&ret)
}

static PROF: Table = Table::new(&[
    method!(c"create_config", prof_create_config, c"acl.prof.create_config args parse failed", c"create_config($module, device_list, aicore_metrics, aicore_events, data_type_config, /)\n--\n\nCalls aclprofCreateConfig.\n\nReturns int."),
    method!(c"create_stamp", prof_create_stamp, c"acl.prof.create_stamp args parse failed", c"create_stamp($module, /, *args)\n--\n\nCalls aclprofCreateStamp.\n\nReturns int."),
    method!(c"create_subscribe_config", prof_create_subscribe_config, c"acl.prof.create_subscribe_config args parse failed", c"create_subscribe_config($module, time_info_switch, aicore_metrics, fd, /)\n--\n\nCalls aclprofCreateSubscribeConfig.\n\nReturns int."),
    method!(c"destroy_config", prof_destroy_config, c"acl.prof.destroy_config args parse failed", c"destroy_config($module, config, /)\n--\n\nCalls aclprofDestroyConfig.\n\nReturns int."),
    method!(c"destroy_stamp", prof_destroy_stamp, c"acl.prof.destroy_stamp args parse failed", c"destroy_stamp($module, stamp, /)\n--\n\nCalls aclprofDestroyStamp.\n\nReturns None."),
    method!(c"destroy_subscribe_config", prof_destroy_subscribe_config, c"acl.prof.destroy_subscribe_config args parse failed", c"destroy_subscribe_config($module, subscribe_config, /)\n--\n\nCalls aclprofDestroySubscribeConfig.\n\nReturns int."),
    method!(c"finalize", prof_finalize, c"acl.prof.finalize args parse failed", c"finalize($module, /, *args)\n--\n\nCalls aclprofFinalize.\n\nReturns int."),
    method!(c"get_op_desc_size", prof_get_op_desc_size, c"acl.prof.get_op_desc_size args parse failed", c"get_op_desc_size($module, /, *args)\n--\n\nCalls aclprofGetOpDescSize.\n\nReturns tuple[int, int]."),
    method!(c"get_op_name", prof_get_op_name, c"acl.prof.get_op_name args parse failed", c"get_op_name($module, op_info, op_info_len, index, op_name_len, /)\n--\n\nCalls aclprofGetOpName.\n\nReturns tuple[str, int]."),
    method!(c"get_op_name_v2", manual::prof_get_op_name_v2, c"acl.prof.get_op_name_v2 args parse failed", c"get_op_name_v2($module, op_info, op_info_len, index, /)\n--\n\nCalls aclprofGetOpNameLen. Asks for the length itself.\n\nReturns tuple[str, int]."),
    method!(c"get_op_num", prof_get_op_num, c"acl.prof.get_op_num args parse failed", c"get_op_num($module, op_info, op_info_len, /)\n--\n\nCalls aclprofGetOpNum.\n\nReturns tuple[int, int]."),
    method!(c"get_op_type", prof_get_op_type, c"acl.prof.get_op_type args parse failed", c"get_op_type($module, op_info, op_info_len, index, op_type_len, /)\n--\n\nCalls aclprofGetOpType.\n\nReturns tuple[str, int]."),
    method!(c"get_op_type_v2", manual::prof_get_op_type_v2, c"acl.prof.get_op_type_v2 args parse failed", c"get_op_type_v2($module, op_info, op_info_len, index, /)\n--\n\nCalls aclprofGetOpTypeLen. Asks for the length itself.\n\nReturns tuple[str, int]."),
    method!(c"init", prof_init, c"acl.prof.init args parse failed", c"init($module, profiler_result_path, /)\n--\n\nCalls aclprofInit.\n\nReturns int."),
    method!(c"mark", prof_mark, c"acl.prof.mark args parse failed", c"mark($module, stamp, /)\n--\n\nCalls aclprofMark.\n\nReturns int."),
    method!(c"model_subscribe", prof_model_subscribe, c"acl.prof.model_subscribe args parse failed", c"model_subscribe($module, model_id, subscribe_config, /)\n--\n\nCalls aclprofModelSubscribe.\n\nReturns int."),
    method!(c"model_unsubscribe", prof_model_unsubscribe, c"acl.prof.model_unsubscribe args parse failed", c"model_unsubscribe($module, model_id, /)\n--\n\nCalls aclprofModelUnSubscribe.\n\nReturns int."),
    method!(c"pop", prof_pop, c"acl.prof.pop args parse failed", c"pop($module, /, *args)\n--\n\nCalls aclprofPop.\n\nReturns int."),
    method!(c"push", prof_push, c"acl.prof.push args parse failed", c"push($module, stamp, /)\n--\n\nCalls aclprofPush.\n\nReturns int."),
    method!(c"set_config", prof_set_config, c"acl.prof.set_config args parse failed", c"set_config($module, config_type, config, /)\n--\n\nCalls aclprofSetConfig.\n\nReturns int."),
    method!(c"set_stamp_trace_message", prof_set_stamp_trace_message, c"acl.prof.set_stamp_trace_message args parse failed", c"set_stamp_trace_message($module, stamp, msg, msg_len, /)\n--\n\nCalls aclprofSetStampTraceMessage. The message is an address.\n\nReturns int."),
    method!(c"start", prof_start, c"acl.prof.start args parse failed", c"start($module, config, /)\n--\n\nCalls aclprofStart.\n\nReturns int."),
    method!(c"stop", prof_stop, c"acl.prof.stop args parse failed", c"stop($module, config, /)\n--\n\nCalls aclprofStop.\n\nReturns int."),
    END,
]);

fn himpi_dvpp_free<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let addr = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits hi_mpi_dvpp_free(Pointer) -> i32, [addr], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_dvpp_get_image_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let img_type = call.get::<u32>(0)?;
    let stream = Structure::parse(&call.object(1)?, &HI_VDEC_STREAM)?;
    let mut img_info = Structure::zeroed(&HI_IMG_INFO);
    let ret = c_call!(call.returns hi_mpi_dvpp_get_image_info(u32, Pointer, Pointer) -> i32, [img_type, stream.pointer(), img_info.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&img_info.described(ret), &media_code(ret)])
}

fn himpi_dvpp_malloc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let dev_id = call.get::<u32>(0)?;
    let size = call.get::<u64>(1)?;
    let mut addr = Pointer::default();
    let ret = c_call!(call.returns hi_mpi_dvpp_malloc(u32, *mut Pointer, u64) -> i32, [dev_id, &raw mut addr, size], or NOT_SUPPORTED);
    call.many(&[&addr, &media_code(ret)])
}

fn himpi_png_get_image_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let png_stream = Structure::parse(&call.object(0)?, &HI_IMG_STREAM)?;
    let mut img_info = Structure::zeroed(&HI_IMG_INFO);
    let ret = c_call!(call.returns hi_mpi_png_get_image_info(Pointer, Pointer) -> i32, [png_stream.pointer(), img_info.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&img_info.described(ret), &media_code(ret)])
}

fn himpi_pngd_create_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let attr = Structure::parse(&call.object(1)?, &HI_PNGD_CHN_ATTR)?;
    let ret = c_call!(call.returns hi_mpi_pngd_create_chn(i32, Pointer) -> i32, [chn, attr.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_pngd_destroy_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.waits hi_mpi_pngd_destroy_chn(i32) -> i32, [chn], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_pngd_get_image_data<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let milli_sec = call.get::<i32>(1)?;
    let mut png_pic_info = Structure::zeroed(&HI_PIC_INFO);
    let mut stream = Structure::zeroed(&HI_IMG_STREAM);
    let ret = c_call!(call.waits hi_mpi_pngd_get_image_data(i32, Pointer, Pointer, i32) -> i32, [chn, png_pic_info.pointer_mut(), stream.pointer_mut(), milli_sec], or NOT_SUPPORTED);
    call.many(&[&png_pic_info.described(ret), &stream.described(ret), &media_code(ret)])
}

fn himpi_pngd_send_stream<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let chn = call.get::<i32>(0)?;
    let stream = Structure::parse(&call.object(1)?, &HI_IMG_STREAM)?;
    let png_pic_info = Structure::parse(&call.object(2)?, &HI_PIC_INFO)?;
    let milli_sec = call.get::<i32>(3)?;
    let ret = c_call!(call.waits hi_mpi_pngd_send_stream(i32, Pointer, Pointer, i32) -> i32, [chn, stream.pointer(), png_pic_info.pointer(), milli_sec], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_sys_close_epoll<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let epoll_fd = call.get::<i32>(0)?;
    let ret = c_call!(call.returns hi_mpi_sys_close_epoll(i32) -> i32, [epoll_fd], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_sys_create_epoll<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let size = call.get::<i32>(0)?;
    let mut epoll_fd = i32::default();
    let ret = c_call!(call.returns hi_mpi_sys_create_epoll(i32, *mut i32) -> i32, [size, &raw mut epoll_fd], or NOT_SUPPORTED);
    call.many(&[&epoll_fd, &media_code(ret)])
}

fn himpi_sys_ctl_epoll<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let epoll_fd = call.get::<i32>(0)?;
    let operation = call.get::<i32>(1)?;
    let fd = call.get::<i32>(2)?;
    let event = Structure::parse(&call.object(3)?, &HI_DVPP_EPOLL_EVENT)?;
    let ret = c_call!(call.returns hi_mpi_sys_ctl_epoll(i32, i32, i32, Pointer) -> i32, [epoll_fd, operation, fd, event.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_sys_exit<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns hi_mpi_sys_exit() -> i32, [], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_sys_get_image_align_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let mod_type = call.get::<Vec<u32>>(0)?;
    let mod_num = call.get::<u32>(1)?;
    let img_base_info = Structure::parse(&call.object(2)?, &HI_IMG_BASE_INFO)?;
    let mut img_align_info = Structure::zeroed(&HI_IMG_ALIGN_INFO);
    let ret = if wide(mod_num) > mod_type.count() {
        call.refuse("acl.himpi.sys_get_image_align_info: mod_num <= count(mod_type) does not hold");
        -1610448893
    } else {
        c_call!(call.returns hi_mpi_sys_get_image_align_info(*const u32, u32, Pointer, Pointer) -> i32, [mod_type.as_ptr(), mod_num, img_base_info.pointer(), img_align_info.pointer_mut()], or NOT_SUPPORTED)
    };
    call.many(&[&img_align_info.described(ret), &media_code(ret)])
}

fn himpi_sys_init<'py>(call: &Args<'py>) -> Answer<'py> {
    let ret = c_call!(call.returns hi_mpi_sys_init() -> i32, [], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_sys_set_chn_csc_matrix<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let mode = call.get::<u32>(0)?;
    let chn = call.get::<i32>(1)?;
    let csc_matrix = call.get::<u32>(2)?;
    let csc_coefficient = call.get::<Unread>(3)?;
    let ret = c_call!(call.returns hi_mpi_sys_set_chn_csc_matrix(u32, i32, u32, Pointer) -> i32, [mode, chn, csc_matrix, csc_coefficient.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vdec_create_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let attr = Structure::parse(&call.object(1)?, &HI_VDEC_CHN_ATTR)?;
    let ret = c_call!(call.returns hi_mpi_vdec_create_chn(i32, Pointer) -> i32, [chn, attr.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vdec_destroy_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.waits hi_mpi_vdec_destroy_chn(i32) -> i32, [chn], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vdec_get_chn_attr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut attr = Structure::zeroed(&HI_VDEC_CHN_ATTR);
    let ret = c_call!(call.returns hi_mpi_vdec_get_chn_attr(i32, Pointer) -> i32, [chn, attr.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&attr.described(ret), &media_code(ret)])
}

fn himpi_vdec_get_chn_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut chn_param = Structure::zeroed(&HI_VDEC_CHN_PARAM);
    let ret = c_call!(call.returns hi_mpi_vdec_get_chn_param(i32, Pointer) -> i32, [chn, chn_param.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&chn_param.described(ret), &media_code(ret)])
}

fn himpi_vdec_get_fd<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.returns hi_mpi_vdec_get_fd(i32) -> i32, [chn], or Default::default());
    call.one(&ret)
}

fn himpi_vdec_get_frame<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let milli_sec = call.get::<i32>(1)?;
    let mut frame_info = Structure::zeroed(&HI_VIDEO_FRAME_INFO);
    let mut supplement = Structure::zeroed(&HI_VDEC_SUPPLEMENT_INFO);
    let mut stream = Structure::zeroed(&HI_VDEC_STREAM);
    let ret = c_call!(call.waits hi_mpi_vdec_get_frame(i32, Pointer, Pointer, Pointer, i32) -> i32, [chn, frame_info.pointer_mut(), supplement.pointer_mut(), stream.pointer_mut(), milli_sec], or NOT_SUPPORTED);
    call.many(&[&frame_info.described(ret), &supplement.described(ret), &stream.described(ret), &media_code(ret)])
}

fn himpi_vdec_get_jpegd_output_info<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let stream = Structure::parse(&call.object(0)?, &HI_VDEC_STREAM)?;
    let output_format = call.get::<u32>(1)?;
    let mut img_info = Structure::zeroed(&HI_IMG_INFO);
    let ret = c_call!(call.returns hi_mpi_vdec_get_jpegd_output_info(Pointer, u32, Pointer) -> i32, [stream.pointer(), output_format, img_info.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&img_info.described(ret), &media_code(ret)])
}

fn himpi_vdec_get_pic_buf_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let type_ = call.get::<u32>(0)?;
    let buf_attr = Structure::parse(&call.object(1)?, &HI_PIC_BUF_ATTR)?;
    let ret = c_call!(call.returns hi_vdec_get_pic_buf_size(u32, Pointer) -> u32, [type_, buf_attr.pointer()], or Default::default());
    call.one(&ret)
}

fn himpi_vdec_get_tmv_buf_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let type_ = call.get::<u32>(0)?;
    let width = call.get::<u32>(1)?;
    let height = call.get::<u32>(2)?;
    let ret = c_call!(call.returns hi_vdec_get_tmv_buf_size(u32, u32, u32) -> u32, [type_, width, height], or Default::default());
    call.one(&ret)
}

fn himpi_vdec_query_status<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut status = Structure::zeroed(&HI_VDEC_CHN_STATUS);
    let ret = c_call!(call.returns hi_mpi_vdec_query_status(i32, Pointer) -> i32, [chn, status.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&status.described(ret), &media_code(ret)])
}

fn himpi_vdec_release_frame<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let frame_info = Structure::parse(&call.object(1)?, &HI_VIDEO_FRAME_INFO)?;
    let ret = c_call!(call.returns hi_mpi_vdec_release_frame(i32, Pointer) -> i32, [chn, frame_info.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vdec_reset_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.waits hi_mpi_vdec_reset_chn(i32) -> i32, [chn], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vdec_send_stream<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let chn = call.get::<i32>(0)?;
    let stream = Structure::parse(&call.object(1)?, &HI_VDEC_STREAM)?;
    let vdec_pic_info = Structure::parse(&call.object(2)?, &HI_VDEC_PIC_INFO)?;
    let milli_sec = call.get::<i32>(3)?;
    let ret = c_call!(call.waits hi_mpi_vdec_send_stream(i32, Pointer, Pointer, i32) -> i32, [chn, stream.pointer(), vdec_pic_info.pointer(), milli_sec], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vdec_set_chn_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let chn_param = Structure::parse(&call.object(1)?, &HI_VDEC_CHN_PARAM)?;
    let ret = c_call!(call.returns hi_mpi_vdec_set_chn_param(i32, Pointer) -> i32, [chn, chn_param.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vdec_start_recv_stream<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.returns hi_mpi_vdec_start_recv_stream(i32) -> i32, [chn], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vdec_stop_recv_stream<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.returns hi_mpi_vdec_stop_recv_stream(i32) -> i32, [chn], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_close_fd<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.returns hi_mpi_venc_close_fd(i32) -> i32, [chn], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_create_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let attr = Structure::parse(&call.object(1)?, &HI_VENC_CHN_ATTR)?;
    let ret = c_call!(call.returns hi_mpi_venc_create_chn(i32, Pointer) -> i32, [chn, attr.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_destroy_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.waits hi_mpi_venc_destroy_chn(i32) -> i32, [chn], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_get_chn_attr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut attr = Structure::zeroed(&HI_VENC_CHN_ATTR);
    let ret = c_call!(call.returns hi_mpi_venc_get_chn_attr(i32, Pointer) -> i32, [chn, attr.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&attr.described(ret), &media_code(ret)])
}

fn himpi_venc_get_chn_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut chn_param = Structure::zeroed(&HI_VENC_CHN_PARAM);
    let ret = c_call!(call.returns hi_mpi_venc_get_chn_param(i32, Pointer) -> i32, [chn, chn_param.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&chn_param.described(ret), &media_code(ret)])
}

fn himpi_venc_get_fd<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.returns hi_mpi_venc_get_fd(i32) -> i32, [chn], or Default::default());
    call.one(&ret)
}

fn himpi_venc_get_h264_vui<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut h264_vui = Structure::zeroed(&HI_VENC_H264_VUI);
    let ret = c_call!(call.returns hi_mpi_venc_get_h264_vui(i32, Pointer) -> i32, [chn, h264_vui.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&h264_vui.described(ret), &media_code(ret)])
}

fn himpi_venc_get_h265_vui<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut h265_vui = Structure::zeroed(&HI_VENC_H265_VUI);
    let ret = c_call!(call.returns hi_mpi_venc_get_h265_vui(i32, Pointer) -> i32, [chn, h265_vui.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&h265_vui.described(ret), &media_code(ret)])
}

fn himpi_venc_get_jpeg_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut jpeg_param = Structure::zeroed(&HI_VENC_JPEG_PARAM);
    let ret = c_call!(call.returns hi_mpi_venc_get_jpeg_param(i32, Pointer) -> i32, [chn, jpeg_param.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&jpeg_param.described(ret), &media_code(ret)])
}

fn himpi_venc_get_jpege_predicted_size<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let frame = Structure::parse(&call.object(0)?, &HI_VIDEO_FRAME_INFO)?;
    let jpeg_param = Structure::parse(&call.object(1)?, &HI_VENC_JPEG_PARAM)?;
    let mut size = u32::default();
    let ret = c_call!(call.returns hi_mpi_venc_get_jpege_predicted_size(Pointer, Pointer, *mut u32) -> i32, [frame.pointer(), jpeg_param.pointer(), &raw mut size], or NOT_SUPPORTED);
    call.many(&[&size, &media_code(ret)])
}

fn himpi_venc_get_mod_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let mut mod_param = Structure::parse(&call.object(0)?, &HI_VENC_MOD_PARAM)?;
    let ret = c_call!(call.returns hi_mpi_venc_get_mod_param(Pointer) -> i32, [mod_param.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&mod_param.described(ret), &media_code(ret)])
}

fn himpi_venc_get_scene_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut scene_mode = u32::default();
    let ret = c_call!(call.returns hi_mpi_venc_get_scene_mode(i32, *mut u32) -> i32, [chn, &raw mut scene_mode], or NOT_SUPPORTED);
    call.many(&[&scene_mode, &media_code(ret)])
}

fn himpi_venc_get_stream<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let chn = call.get::<i32>(0)?;
    let mut stream = Structure::parse(&call.object(1)?, &HI_VENC_STREAM)?;
    let milli_sec = call.get::<i32>(2)?;
    let ret = c_call!(call.waits hi_mpi_venc_get_stream(i32, Pointer, i32) -> i32, [chn, stream.pointer_mut(), milli_sec], or NOT_SUPPORTED);
    call.many(&[&stream.described(ret), &media_code(ret)])
}

fn himpi_venc_query_status<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let mut status = Structure::zeroed(&HI_VENC_CHN_STATUS);
    let ret = c_call!(call.returns hi_mpi_venc_query_status(i32, Pointer) -> i32, [chn, status.pointer_mut()], or NOT_SUPPORTED);
    call.many(&[&status.described(ret), &media_code(ret)])
}

fn himpi_venc_release_stream<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let stream = Structure::parse(&call.object(1)?, &HI_VENC_STREAM)?;
    let ret = c_call!(call.returns hi_mpi_venc_release_stream(i32, Pointer) -> i32, [chn, stream.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_request_idr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let instant = call.get::<u32>(1)?;
    let ret = c_call!(call.returns hi_mpi_venc_request_idr(i32, u32) -> i32, [chn, instant], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_send_frame<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let chn = call.get::<i32>(0)?;
    let frame = Structure::parse(&call.object(1)?, &HI_VIDEO_FRAME_INFO)?;
    let milli_sec = call.get::<i32>(2)?;
    let ret = c_call!(call.waits hi_mpi_venc_send_frame(i32, Pointer, i32) -> i32, [chn, frame.pointer(), milli_sec], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_send_jpege_frame<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let chn = call.get::<i32>(0)?;
    let frame = Structure::parse(&call.object(1)?, &HI_VIDEO_FRAME_INFO)?;
    let jpege_stream = Structure::parse(&call.object(2)?, &HI_IMG_STREAM)?;
    let milli_sec = call.get::<i32>(3)?;
    let ret = c_call!(call.waits hi_mpi_venc_send_jpege_frame(i32, Pointer, Pointer, i32) -> i32, [chn, frame.pointer(), jpege_stream.pointer(), milli_sec], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_set_chn_attr<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let attr = Structure::parse(&call.object(1)?, &HI_VENC_CHN_ATTR)?;
    let ret = c_call!(call.returns hi_mpi_venc_set_chn_attr(i32, Pointer) -> i32, [chn, attr.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_set_chn_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let chn_param = Structure::parse(&call.object(1)?, &HI_VENC_CHN_PARAM)?;
    let ret = c_call!(call.returns hi_mpi_venc_set_chn_param(i32, Pointer) -> i32, [chn, chn_param.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_set_h264_vui<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let h264_vui = Structure::parse(&call.object(1)?, &HI_VENC_H264_VUI)?;
    let ret = c_call!(call.returns hi_mpi_venc_set_h264_vui(i32, Pointer) -> i32, [chn, h264_vui.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_set_h265_vui<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let h265_vui = Structure::parse(&call.object(1)?, &HI_VENC_H265_VUI)?;
    let ret = c_call!(call.returns hi_mpi_venc_set_h265_vui(i32, Pointer) -> i32, [chn, h265_vui.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_set_jpeg_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let jpeg_param = Structure::parse(&call.object(1)?, &HI_VENC_JPEG_PARAM)?;
    let ret = c_call!(call.returns hi_mpi_venc_set_jpeg_param(i32, Pointer) -> i32, [chn, jpeg_param.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_set_mod_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let mod_param = Structure::parse(&call.object(0)?, &HI_VENC_MOD_PARAM)?;
    let ret = c_call!(call.returns hi_mpi_venc_set_mod_param(Pointer) -> i32, [mod_param.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_set_rc_param<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let rc_param = Structure::parse(&call.object(1)?, &HI_VENC_RC_PARAM)?;
    let ret = c_call!(call.returns hi_mpi_venc_set_rc_param(i32, Pointer) -> i32, [chn, rc_param.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_set_scene_mode<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let scene_mode = call.get::<u32>(1)?;
    let ret = c_call!(call.returns hi_mpi_venc_set_scene_mode(i32, u32) -> i32, [chn, scene_mode], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_start_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let recv_param = Structure::parse(&call.object(1)?, &HI_VENC_START_PARAM)?;
    let ret = c_call!(call.returns hi_mpi_venc_start_chn(i32, Pointer) -> i32, [chn, recv_param.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_venc_stop_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.returns hi_mpi_venc_stop_chn(i32) -> i32, [chn], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vpc_batch_crop_resize_make_border<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = StructurePointers::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let pic_num = call.get::<u32>(2)?;
    let crop_resize_make_border_info = StructureList::parse(&call.object(3)?, &HI_VPC_CROP_RESIZE_BORDER_REGION)?;
    let count = call.get::<Vec<u32>>(4)?;
    let milli_sec = call.get::<i32>(5)?;
    let mut task_id = u32::default();
    let ret = if wide(pic_num) > source_pic.count() {
        call.refuse("acl.himpi.vpc_batch_crop_resize_make_border: pic_num <= count(source_pic) does not hold");
        -1610121213
    } else if wide(pic_num) > count.count() {
        call.refuse("acl.himpi.vpc_batch_crop_resize_make_border: pic_num <= count(count) does not hold");
        -1610121213
    } else if sum(&count) > crop_resize_make_border_info.count() {
        call.refuse("acl.himpi.vpc_batch_crop_resize_make_border: sum(count) <= count(crop_resize_make_border_info) does not hold");
        -1610121213
    } else {
        c_call!(call.waits hi_mpi_vpc_batch_crop_resize_make_border(i32, Pointer, u32, Pointer, *const u32, *mut u32, i32) -> i32, [chn, source_pic.pointer(), pic_num, crop_resize_make_border_info.pointer(), count.as_ptr(), &raw mut task_id, milli_sec], or NOT_SUPPORTED)
    };
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_batch_crop_resize_paste<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(6, 6)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = StructurePointers::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let pic_num = call.get::<u32>(2)?;
    let crop_resize_paste_info = StructureList::parse(&call.object(3)?, &HI_VPC_CROP_RESIZE_PASTE_REGION)?;
    let count = call.get::<Vec<u32>>(4)?;
    let milli_sec = call.get::<i32>(5)?;
    let mut task_id = u32::default();
    let ret = if wide(pic_num) > source_pic.count() {
        call.refuse("acl.himpi.vpc_batch_crop_resize_paste: pic_num <= count(source_pic) does not hold");
        -1610121213
    } else if wide(pic_num) > count.count() {
        call.refuse("acl.himpi.vpc_batch_crop_resize_paste: pic_num <= count(count) does not hold");
        -1610121213
    } else if sum(&count) > crop_resize_paste_info.count() {
        call.refuse("acl.himpi.vpc_batch_crop_resize_paste: sum(count) <= count(crop_resize_paste_info) does not hold");
        -1610121213
    } else {
        c_call!(call.waits hi_mpi_vpc_batch_crop_resize_paste(i32, Pointer, u32, Pointer, *const u32, *mut u32, i32) -> i32, [chn, source_pic.pointer(), pic_num, crop_resize_paste_info.pointer(), count.as_ptr(), &raw mut task_id, milli_sec], or NOT_SUPPORTED)
    };
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_calc_hist<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let hist_config = call.get::<Pointer>(2)?;
    let milli_sec = call.get::<i32>(3)?;
    let mut task_id = u32::default();
    let ret = c_call!(call.waits hi_mpi_vpc_calc_hist(i32, Pointer, Pointer, *mut u32, i32) -> i32, [chn, source_pic.pointer(), hist_config, &raw mut task_id, milli_sec], or NOT_SUPPORTED);
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_convert_color<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let dest_pic = Structure::parse(&call.object(2)?, &HI_VPC_PIC_INFO)?;
    let milli_sec = call.get::<i32>(3)?;
    let mut task_id = u32::default();
    let ret = c_call!(call.waits hi_mpi_vpc_convert_color(i32, Pointer, Pointer, *mut u32, i32) -> i32, [chn, source_pic.pointer(), dest_pic.pointer(), &raw mut task_id, milli_sec], or NOT_SUPPORTED);
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_copy_make_border<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let dest_pic = Structure::parse(&call.object(2)?, &HI_VPC_PIC_INFO)?;
    let make_border_info = Structure::parse_value(&call.object(3)?, &HI_VPC_MAKE_BORDER_INFO)?;
    let milli_sec = call.get::<i32>(4)?;
    let mut task_id = u32::default();
    let ret = c_call!(call.waits hi_mpi_vpc_copy_make_border(i32, Pointer, Pointer, ByValue<7>, *mut u32, i32) -> i32, [chn, source_pic.pointer(), dest_pic.pointer(), make_border_info.value(), &raw mut task_id, milli_sec], or NOT_SUPPORTED);
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_create_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let attr = Structure::parse(&call.object(1)?, &HI_VPC_CHN_ATTR)?;
    let ret = c_call!(call.returns hi_mpi_vpc_create_chn(i32, Pointer) -> i32, [chn, attr.pointer()], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vpc_crop<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let crop_info = StructureList::parse(&call.object(2)?, &HI_VPC_CROP_REGION_INFO)?;
    let count = call.get::<u32>(3)?;
    let milli_sec = call.get::<i32>(4)?;
    let mut task_id = u32::default();
    let ret = if wide(count) > crop_info.count() {
        call.refuse("acl.himpi.vpc_crop: count <= count(crop_info) does not hold");
        -1610121213
    } else {
        c_call!(call.waits hi_mpi_vpc_crop(i32, Pointer, Pointer, u32, *mut u32, i32) -> i32, [chn, source_pic.pointer(), crop_info.pointer(), count, &raw mut task_id, milli_sec], or NOT_SUPPORTED)
    };
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_crop_resize<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let crop_resize_info = StructureList::parse(&call.object(2)?, &HI_VPC_CROP_RESIZE_REGION)?;
    let count = call.get::<u32>(3)?;
    let milli_sec = call.get::<i32>(4)?;
    let mut task_id = u32::default();
    let ret = if wide(count) > crop_resize_info.count() {
        call.refuse("acl.himpi.vpc_crop_resize: count <= count(crop_resize_info) does not hold");
        -1610121213
    } else {
        c_call!(call.waits hi_mpi_vpc_crop_resize(i32, Pointer, Pointer, u32, *mut u32, i32) -> i32, [chn, source_pic.pointer(), crop_resize_info.pointer(), count, &raw mut task_id, milli_sec], or NOT_SUPPORTED)
    };
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_crop_resize_make_border<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let crop_resize_make_border_info = StructureList::parse(&call.object(2)?, &HI_VPC_CROP_RESIZE_BORDER_REGION)?;
    let count = call.get::<u32>(3)?;
    let milli_sec = call.get::<i32>(4)?;
    let mut task_id = u32::default();
    let ret = if wide(count) > crop_resize_make_border_info.count() {
        call.refuse("acl.himpi.vpc_crop_resize_make_border: count <= count(crop_resize_make_border_info) does not hold");
        -1610121213
    } else {
        c_call!(call.waits hi_mpi_vpc_crop_resize_make_border(i32, Pointer, Pointer, u32, *mut u32, i32) -> i32, [chn, source_pic.pointer(), crop_resize_make_border_info.pointer(), count, &raw mut task_id, milli_sec], or NOT_SUPPORTED)
    };
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_crop_resize_paste<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let crop_resize_paste_info = StructureList::parse(&call.object(2)?, &HI_VPC_CROP_RESIZE_PASTE_REGION)?;
    let count = call.get::<u32>(3)?;
    let milli_sec = call.get::<i32>(4)?;
    let mut task_id = u32::default();
    let ret = if wide(count) > crop_resize_paste_info.count() {
        call.refuse("acl.himpi.vpc_crop_resize_paste: count <= count(crop_resize_paste_info) does not hold");
        -1610121213
    } else {
        c_call!(call.waits hi_mpi_vpc_crop_resize_paste(i32, Pointer, Pointer, u32, *mut u32, i32) -> i32, [chn, source_pic.pointer(), crop_resize_paste_info.pointer(), count, &raw mut task_id, milli_sec], or NOT_SUPPORTED)
    };
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_destroy_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let chn = call.get::<i32>(0)?;
    let ret = c_call!(call.waits hi_mpi_vpc_destroy_chn(i32) -> i32, [chn], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vpc_equalize_hist<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(5, 5)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let dest_pic = Structure::parse(&call.object(2)?, &HI_VPC_PIC_INFO)?;
    let lut_remap = call.get::<Pointer>(3)?;
    let milli_sec = call.get::<i32>(4)?;
    let mut task_id = u32::default();
    let ret = c_call!(call.waits hi_mpi_vpc_equalize_hist(i32, Pointer, Pointer, Pointer, *mut u32, i32) -> i32, [chn, source_pic.pointer(), dest_pic.pointer(), lut_remap, &raw mut task_id, milli_sec], or NOT_SUPPORTED);
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_get_process_result<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let chn = call.get::<i32>(0)?;
    let task_id = call.get::<u32>(1)?;
    let milli_sec = call.get::<i32>(2)?;
    let ret = c_call!(call.waits hi_mpi_vpc_get_process_result(i32, u32, i32) -> i32, [chn, task_id, milli_sec], or NOT_SUPPORTED);
    call.one(&media_code(ret))
}

fn himpi_vpc_pyrdown<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(8, 8)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let dest_pic = StructureList::parse(&call.object(2)?, &HI_VPC_PIC_INFO)?;
    let filter_level = call.get::<u32>(3)?;
    let gaussian_filter = call.get::<Kernel>(4)?;
    let divisor = call.get::<u16>(5)?;
    let make_border_info = Structure::parse_value(&call.object(6)?, &HI_VPC_MAKE_BORDER_INFO)?;
    let milli_sec = call.get::<i32>(7)?;
    let mut task_id = u32::default();
    let ret = if wide(filter_level) > dest_pic.count() {
        call.refuse("acl.himpi.vpc_pyrdown: filter_level <= count(dest_pic) does not hold");
        -1610121213
    } else {
        c_call!(call.waits hi_mpi_vpc_pyrdown(i32, Pointer, Pointer, u32, Pointer, u16, ByValue<7>, *mut u32, i32) -> i32, [chn, source_pic.pointer(), dest_pic.pointer(), filter_level, gaussian_filter.pointer(), divisor, make_border_info.value(), &raw mut task_id, milli_sec], or NOT_SUPPORTED)
    };
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_resize<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(7, 7)?;
    let chn = call.get::<i32>(0)?;
    let source_pic = Structure::parse(&call.object(1)?, &HI_VPC_PIC_INFO)?;
    let dest_pic = Structure::parse(&call.object(2)?, &HI_VPC_PIC_INFO)?;
    let fx = call.get::<f64>(3)?;
    let fy = call.get::<f64>(4)?;
    let interpolation = call.get::<u32>(5)?;
    let milli_sec = call.get::<i32>(6)?;
    let mut task_id = u32::default();
    let ret = c_call!(call.waits hi_mpi_vpc_resize(i32, Pointer, Pointer, f64, f64, u32, *mut u32, i32) -> i32, [chn, source_pic.pointer(), dest_pic.pointer(), fx, fy, interpolation, &raw mut task_id, milli_sec], or NOT_SUPPORTED);
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_rotate<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let chn = call.get::<i32>(0)?;
    let rotate_param = Structure::parse(&call.object(1)?, &HI_ROTATE_PARAM)?;
    let milli_sec = call.get::<i32>(2)?;
    let mut task_id = u32::default();
    let ret = c_call!(call.waits hi_mpi_vpc_rotate(i32, Pointer, *mut u32, i32) -> i32, [chn, rotate_param.pointer(), &raw mut task_id, milli_sec], or NOT_SUPPORTED);
    call.many(&[&task_id, &media_code(ret)])
}

fn himpi_vpc_sys_create_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let attr = Structure::parse(&call.object(0)?, &HI_VPC_CHN_ATTR)?;
    let mut chnl = i32::default();
    let ret = c_call!(call.returns hi_mpi_vpc_sys_create_chn(*mut i32, Pointer) -> i32, [&raw mut chnl, attr.pointer()], or NOT_SUPPORTED);
    call.many(&[&chnl, &media_code(ret)])
}

static HIMPI: Table = Table::new(&[
    method!(c"dvpp_free", himpi_dvpp_free, c"acl.himpi.dvpp_free args parse failed", c"dvpp_free($module, addr, /)\n--\n\nCalls hi_mpi_dvpp_free.\n\nReturns int."),
    method!(c"dvpp_get_image_info", himpi_dvpp_get_image_info, c"acl.himpi.dvpp_get_image_info args parse failed", c"dvpp_get_image_info($module, img_type, stream, /)\n--\n\nCalls hi_mpi_dvpp_get_image_info.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"dvpp_malloc", himpi_dvpp_malloc, c"acl.himpi.dvpp_malloc args parse failed", c"dvpp_malloc($module, dev_id, size, /)\n--\n\nCalls hi_mpi_dvpp_malloc.\n\nReturns tuple[int, int]."),
    method!(c"png_get_image_info", himpi_png_get_image_info, c"acl.himpi.png_get_image_info args parse failed", c"png_get_image_info($module, png_stream, /)\n--\n\nCalls hi_mpi_png_get_image_info.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"pngd_create_chn", himpi_pngd_create_chn, c"acl.himpi.pngd_create_chn args parse failed", c"pngd_create_chn($module, chn, attr, /)\n--\n\nCalls hi_mpi_pngd_create_chn.\n\nReturns int."),
    method!(c"pngd_destroy_chn", himpi_pngd_destroy_chn, c"acl.himpi.pngd_destroy_chn args parse failed", c"pngd_destroy_chn($module, chn, /)\n--\n\nCalls hi_mpi_pngd_destroy_chn.\n\nReturns int."),
    method!(c"pngd_get_image_data", himpi_pngd_get_image_data, c"acl.himpi.pngd_get_image_data args parse failed", c"pngd_get_image_data($module, chn, milli_sec, /)\n--\n\nCalls hi_mpi_pngd_get_image_data.\n\nReturns tuple[dict[str, Any], dict[str, Any], int]."),
    method!(c"pngd_send_stream", himpi_pngd_send_stream, c"acl.himpi.pngd_send_stream args parse failed", c"pngd_send_stream($module, chn, stream, png_pic_info, milli_sec, /)\n--\n\nCalls hi_mpi_pngd_send_stream.\n\nReturns int."),
    method!(c"sys_close_epoll", himpi_sys_close_epoll, c"acl.himpi.sys_close_epoll args parse failed", c"sys_close_epoll($module, epoll_fd, /)\n--\n\nCalls hi_mpi_sys_close_epoll.\n\nReturns int."),
    method!(c"sys_create_epoll", himpi_sys_create_epoll, c"acl.himpi.sys_create_epoll args parse failed", c"sys_create_epoll($module, size, /)\n--\n\nCalls hi_mpi_sys_create_epoll.\n\nReturns tuple[int, int]."),
    method!(c"sys_ctl_epoll", himpi_sys_ctl_epoll, c"acl.himpi.sys_ctl_epoll args parse failed", c"sys_ctl_epoll($module, epoll_fd, operation, fd, event, /)\n--\n\nCalls hi_mpi_sys_ctl_epoll.\n\nReturns int."),
    method!(c"sys_exit", himpi_sys_exit, c"acl.himpi.sys_exit args parse failed", c"sys_exit($module, /, *args)\n--\n\nCalls hi_mpi_sys_exit.\n\nReturns int."),
    method!(c"sys_get_image_align_info", himpi_sys_get_image_align_info, c"acl.himpi.sys_get_image_align_info args parse failed", c"sys_get_image_align_info($module, mod_type, mod_num, img_base_info, /)\n--\n\nCalls hi_mpi_sys_get_image_align_info.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"sys_init", himpi_sys_init, c"acl.himpi.sys_init args parse failed", c"sys_init($module, /, *args)\n--\n\nCalls hi_mpi_sys_init.\n\nReturns int."),
    method!(c"sys_set_chn_csc_matrix", himpi_sys_set_chn_csc_matrix, c"acl.himpi.sys_set_chn_csc_matrix args parse failed", c"sys_set_chn_csc_matrix($module, mode, chn, csc_matrix, csc_coefficient, /)\n--\n\nCalls hi_mpi_sys_set_chn_csc_matrix.\n\nReturns int."),
    method!(c"sys_wait_epoll", manual::himpi_sys_wait_epoll, c"acl.himpi.sys_wait_epoll args parse failed", c"sys_wait_epoll($module, epoll_fd, max_events, timeout, /)\n--\n\nCalls hi_mpi_sys_wait_epoll.\n\nReturns tuple[list[dict[str, Any]], int, int]."),
    method!(c"vdec_create_chn", himpi_vdec_create_chn, c"acl.himpi.vdec_create_chn args parse failed", c"vdec_create_chn($module, chn, attr, /)\n--\n\nCalls hi_mpi_vdec_create_chn.\n\nReturns int."),
    method!(c"vdec_destroy_chn", himpi_vdec_destroy_chn, c"acl.himpi.vdec_destroy_chn args parse failed", c"vdec_destroy_chn($module, chn, /)\n--\n\nCalls hi_mpi_vdec_destroy_chn.\n\nReturns int."),
    method!(c"vdec_get_chn_attr", himpi_vdec_get_chn_attr, c"acl.himpi.vdec_get_chn_attr args parse failed", c"vdec_get_chn_attr($module, chn, /)\n--\n\nCalls hi_mpi_vdec_get_chn_attr.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"vdec_get_chn_param", himpi_vdec_get_chn_param, c"acl.himpi.vdec_get_chn_param args parse failed", c"vdec_get_chn_param($module, chn, /)\n--\n\nCalls hi_mpi_vdec_get_chn_param.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"vdec_get_fd", himpi_vdec_get_fd, c"acl.himpi.vdec_get_fd args parse failed", c"vdec_get_fd($module, chn, /)\n--\n\nCalls hi_mpi_vdec_get_fd.\n\nReturns int."),
    method!(c"vdec_get_frame", himpi_vdec_get_frame, c"acl.himpi.vdec_get_frame args parse failed", c"vdec_get_frame($module, chn, milli_sec, /)\n--\n\nCalls hi_mpi_vdec_get_frame.\n\nReturns tuple[dict[str, Any], dict[str, Any], dict[str, Any], int]."),
    method!(c"vdec_get_jpegd_output_info", himpi_vdec_get_jpegd_output_info, c"acl.himpi.vdec_get_jpegd_output_info args parse failed", c"vdec_get_jpegd_output_info($module, stream, output_format, /)\n--\n\nCalls hi_mpi_vdec_get_jpegd_output_info.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"vdec_get_pic_buf_size", himpi_vdec_get_pic_buf_size, c"acl.himpi.vdec_get_pic_buf_size args parse failed", c"vdec_get_pic_buf_size($module, type, buf_attr, /)\n--\n\nCalls hi_vdec_get_pic_buf_size.\n\nReturns int."),
    method!(c"vdec_get_tmv_buf_size", himpi_vdec_get_tmv_buf_size, c"acl.himpi.vdec_get_tmv_buf_size args parse failed", c"vdec_get_tmv_buf_size($module, type, width, height, /)\n--\n\nCalls hi_vdec_get_tmv_buf_size.\n\nReturns int."),
    method!(c"vdec_query_status", himpi_vdec_query_status, c"acl.himpi.vdec_query_status args parse failed", c"vdec_query_status($module, chn, /)\n--\n\nCalls hi_mpi_vdec_query_status.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"vdec_release_frame", himpi_vdec_release_frame, c"acl.himpi.vdec_release_frame args parse failed", c"vdec_release_frame($module, chn, frame_info, /)\n--\n\nCalls hi_mpi_vdec_release_frame.\n\nReturns int."),
    method!(c"vdec_reset_chn", himpi_vdec_reset_chn, c"acl.himpi.vdec_reset_chn args parse failed", c"vdec_reset_chn($module, chn, /)\n--\n\nCalls hi_mpi_vdec_reset_chn.\n\nReturns int."),
    method!(c"vdec_send_stream", himpi_vdec_send_stream, c"acl.himpi.vdec_send_stream args parse failed", c"vdec_send_stream($module, chn, stream, vdec_pic_info, milli_sec, /)\n--\n\nCalls hi_mpi_vdec_send_stream.\n\nReturns int."),
    method!(c"vdec_set_chn_param", himpi_vdec_set_chn_param, c"acl.himpi.vdec_set_chn_param args parse failed", c"vdec_set_chn_param($module, chn, chn_param, /)\n--\n\nCalls hi_mpi_vdec_set_chn_param.\n\nReturns int."),
    method!(c"vdec_start_recv_stream", himpi_vdec_start_recv_stream, c"acl.himpi.vdec_start_recv_stream args parse failed", c"vdec_start_recv_stream($module, chn, /)\n--\n\nCalls hi_mpi_vdec_start_recv_stream.\n\nReturns int."),
    method!(c"vdec_stop_recv_stream", himpi_vdec_stop_recv_stream, c"acl.himpi.vdec_stop_recv_stream args parse failed", c"vdec_stop_recv_stream($module, chn, /)\n--\n\nCalls hi_mpi_vdec_stop_recv_stream.\n\nReturns int."),
    method!(c"venc_close_fd", himpi_venc_close_fd, c"acl.himpi.venc_close_fd args parse failed", c"venc_close_fd($module, chn, /)\n--\n\nCalls hi_mpi_venc_close_fd.\n\nReturns int."),
    method!(c"venc_create_chn", himpi_venc_create_chn, c"acl.himpi.venc_create_chn args parse failed", c"venc_create_chn($module, chn, attr, /)\n--\n\nCalls hi_mpi_venc_create_chn.\n\nReturns int."),
    method!(c"venc_destroy_chn", himpi_venc_destroy_chn, c"acl.himpi.venc_destroy_chn args parse failed", c"venc_destroy_chn($module, chn, /)\n--\n\nCalls hi_mpi_venc_destroy_chn.\n\nReturns int."),
    method!(c"venc_get_chn_attr", himpi_venc_get_chn_attr, c"acl.himpi.venc_get_chn_attr args parse failed", c"venc_get_chn_attr($module, chn, /)\n--\n\nCalls hi_mpi_venc_get_chn_attr.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"venc_get_chn_param", himpi_venc_get_chn_param, c"acl.himpi.venc_get_chn_param args parse failed", c"venc_get_chn_param($module, chn, /)\n--\n\nCalls hi_mpi_venc_get_chn_param.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"venc_get_fd", himpi_venc_get_fd, c"acl.himpi.venc_get_fd args parse failed", c"venc_get_fd($module, chn, /)\n--\n\nCalls hi_mpi_venc_get_fd.\n\nReturns int."),
    method!(c"venc_get_h264_vui", himpi_venc_get_h264_vui, c"acl.himpi.venc_get_h264_vui args parse failed", c"venc_get_h264_vui($module, chn, /)\n--\n\nCalls hi_mpi_venc_get_h264_vui.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"venc_get_h265_vui", himpi_venc_get_h265_vui, c"acl.himpi.venc_get_h265_vui args parse failed", c"venc_get_h265_vui($module, chn, /)\n--\n\nCalls hi_mpi_venc_get_h265_vui.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"venc_get_jpeg_param", himpi_venc_get_jpeg_param, c"acl.himpi.venc_get_jpeg_param args parse failed", c"venc_get_jpeg_param($module, chn, /)\n--\n\nCalls hi_mpi_venc_get_jpeg_param.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"venc_get_jpege_predicted_size", himpi_venc_get_jpege_predicted_size, c"acl.himpi.venc_get_jpege_predicted_size args parse failed", c"venc_get_jpege_predicted_size($module, frame, jpeg_param, /)\n--\n\nCalls hi_mpi_venc_get_jpege_predicted_size.\n\nReturns tuple[int, int]."),
    method!(c"venc_get_mod_param", himpi_venc_get_mod_param, c"acl.himpi.venc_get_mod_param args parse failed", c"venc_get_mod_param($module, mod_param, /)\n--\n\nCalls hi_mpi_venc_get_mod_param.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"venc_get_rc_param", manual::himpi_venc_get_rc_param, c"acl.himpi.venc_get_rc_param args parse failed", c"venc_get_rc_param($module, chn, /)\n--\n\nCalls hi_mpi_venc_get_rc_param.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"venc_get_scene_mode", himpi_venc_get_scene_mode, c"acl.himpi.venc_get_scene_mode args parse failed", c"venc_get_scene_mode($module, chn, /)\n--\n\nCalls hi_mpi_venc_get_scene_mode.\n\nReturns tuple[int, int]."),
    method!(c"venc_get_stream", himpi_venc_get_stream, c"acl.himpi.venc_get_stream args parse failed", c"venc_get_stream($module, chn, stream, milli_sec, /)\n--\n\nCalls hi_mpi_venc_get_stream. The key pack_cnt says how many packs there is space for.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"venc_query_status", himpi_venc_query_status, c"acl.himpi.venc_query_status args parse failed", c"venc_query_status($module, chn, /)\n--\n\nCalls hi_mpi_venc_query_status.\n\nReturns tuple[dict[str, Any], int]."),
    method!(c"venc_release_stream", himpi_venc_release_stream, c"acl.himpi.venc_release_stream args parse failed", c"venc_release_stream($module, chn, stream, /)\n--\n\nCalls hi_mpi_venc_release_stream.\n\nReturns int."),
    method!(c"venc_request_idr", himpi_venc_request_idr, c"acl.himpi.venc_request_idr args parse failed", c"venc_request_idr($module, chn, instant, /)\n--\n\nCalls hi_mpi_venc_request_idr.\n\nReturns int."),
    method!(c"venc_send_frame", himpi_venc_send_frame, c"acl.himpi.venc_send_frame args parse failed", c"venc_send_frame($module, chn, frame, milli_sec, /)\n--\n\nCalls hi_mpi_venc_send_frame.\n\nReturns int."),
    method!(c"venc_send_jpege_frame", himpi_venc_send_jpege_frame, c"acl.himpi.venc_send_jpege_frame args parse failed", c"venc_send_jpege_frame($module, chn, frame, jpege_stream, milli_sec, /)\n--\n\nCalls hi_mpi_venc_send_jpege_frame.\n\nReturns int."),
    method!(c"venc_set_chn_attr", himpi_venc_set_chn_attr, c"acl.himpi.venc_set_chn_attr args parse failed", c"venc_set_chn_attr($module, chn, attr, /)\n--\n\nCalls hi_mpi_venc_set_chn_attr.\n\nReturns int."),
    method!(c"venc_set_chn_param", himpi_venc_set_chn_param, c"acl.himpi.venc_set_chn_param args parse failed", c"venc_set_chn_param($module, chn, chn_param, /)\n--\n\nCalls hi_mpi_venc_set_chn_param.\n\nReturns int."),
    method!(c"venc_set_h264_vui", himpi_venc_set_h264_vui, c"acl.himpi.venc_set_h264_vui args parse failed", c"venc_set_h264_vui($module, chn, h264_vui, /)\n--\n\nCalls hi_mpi_venc_set_h264_vui.\n\nReturns int."),
    method!(c"venc_set_h265_vui", himpi_venc_set_h265_vui, c"acl.himpi.venc_set_h265_vui args parse failed", c"venc_set_h265_vui($module, chn, h265_vui, /)\n--\n\nCalls hi_mpi_venc_set_h265_vui.\n\nReturns int."),
    method!(c"venc_set_jpeg_param", himpi_venc_set_jpeg_param, c"acl.himpi.venc_set_jpeg_param args parse failed", c"venc_set_jpeg_param($module, chn, jpeg_param, /)\n--\n\nCalls hi_mpi_venc_set_jpeg_param.\n\nReturns int."),
    method!(c"venc_set_mod_param", himpi_venc_set_mod_param, c"acl.himpi.venc_set_mod_param args parse failed", c"venc_set_mod_param($module, mod_param, /)\n--\n\nCalls hi_mpi_venc_set_mod_param.\n\nReturns int."),
    method!(c"venc_set_rc_param", himpi_venc_set_rc_param, c"acl.himpi.venc_set_rc_param args parse failed", c"venc_set_rc_param($module, chn, rc_param, /)\n--\n\nCalls hi_mpi_venc_set_rc_param.\n\nReturns int."),
    method!(c"venc_set_scene_mode", himpi_venc_set_scene_mode, c"acl.himpi.venc_set_scene_mode args parse failed", c"venc_set_scene_mode($module, chn, scene_mode, /)\n--\n\nCalls hi_mpi_venc_set_scene_mode.\n\nReturns int."),
    method!(c"venc_start_chn", himpi_venc_start_chn, c"acl.himpi.venc_start_chn args parse failed", c"venc_start_chn($module, chn, recv_param, /)\n--\n\nCalls hi_mpi_venc_start_chn.\n\nReturns int."),
    method!(c"venc_stop_chn", himpi_venc_stop_chn, c"acl.himpi.venc_stop_chn args parse failed", c"venc_stop_chn($module, chn, /)\n--\n\nCalls hi_mpi_venc_stop_chn.\n\nReturns int."),
    method!(c"vpc_batch_crop_resize_make_border", himpi_vpc_batch_crop_resize_make_border, c"acl.himpi.vpc_batch_crop_resize_make_border args parse failed", c"vpc_batch_crop_resize_make_border($module, chn, source_pic, pic_num, crop_resize_make_border_info, count, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_batch_crop_resize_make_border.\n\nReturns tuple[int, int]."),
    method!(c"vpc_batch_crop_resize_paste", himpi_vpc_batch_crop_resize_paste, c"acl.himpi.vpc_batch_crop_resize_paste args parse failed", c"vpc_batch_crop_resize_paste($module, chn, source_pic, pic_num, crop_resize_paste_info, count, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_batch_crop_resize_paste.\n\nReturns tuple[int, int]."),
    method!(c"vpc_calc_hist", himpi_vpc_calc_hist, c"acl.himpi.vpc_calc_hist args parse failed", c"vpc_calc_hist($module, chn, source_pic, hist_config, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_calc_hist.\n\nReturns tuple[int, int]."),
    method!(c"vpc_convert_color", himpi_vpc_convert_color, c"acl.himpi.vpc_convert_color args parse failed", c"vpc_convert_color($module, chn, source_pic, dest_pic, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_convert_color.\n\nReturns tuple[int, int]."),
    method!(c"vpc_copy_make_border", himpi_vpc_copy_make_border, c"acl.himpi.vpc_copy_make_border args parse failed", c"vpc_copy_make_border($module, chn, source_pic, dest_pic, make_border_info, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_copy_make_border.\n\nReturns tuple[int, int]."),
    method!(c"vpc_create_chn", himpi_vpc_create_chn, c"acl.himpi.vpc_create_chn args parse failed", c"vpc_create_chn($module, chn, attr, /)\n--\n\nCalls hi_mpi_vpc_create_chn.\n\nReturns int."),
    method!(c"vpc_crop", himpi_vpc_crop, c"acl.himpi.vpc_crop args parse failed", c"vpc_crop($module, chn, source_pic, crop_info, count, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_crop.\n\nReturns tuple[int, int]."),
    method!(c"vpc_crop_resize", himpi_vpc_crop_resize, c"acl.himpi.vpc_crop_resize args parse failed", c"vpc_crop_resize($module, chn, source_pic, crop_resize_info, count, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_crop_resize.\n\nReturns tuple[int, int]."),
    method!(c"vpc_crop_resize_make_border", himpi_vpc_crop_resize_make_border, c"acl.himpi.vpc_crop_resize_make_border args parse failed", c"vpc_crop_resize_make_border($module, chn, source_pic, crop_resize_make_border_info, count, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_crop_resize_make_border.\n\nReturns tuple[int, int]."),
    method!(c"vpc_crop_resize_paste", himpi_vpc_crop_resize_paste, c"acl.himpi.vpc_crop_resize_paste args parse failed", c"vpc_crop_resize_paste($module, chn, source_pic, crop_resize_paste_info, count, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_crop_resize_paste.\n\nReturns tuple[int, int]."),
    method!(c"vpc_destroy_chn", himpi_vpc_destroy_chn, c"acl.himpi.vpc_destroy_chn args parse failed", c"vpc_destroy_chn($module, chn, /)\n--\n\nCalls hi_mpi_vpc_destroy_chn.\n\nReturns int."),
    method!(c"vpc_equalize_hist", himpi_vpc_equalize_hist, c"acl.himpi.vpc_equalize_hist args parse failed", c"vpc_equalize_hist($module, chn, source_pic, dest_pic, lut_remap, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_equalize_hist.\n\nReturns tuple[int, int]."),
    method!(c"vpc_get_process_result", himpi_vpc_get_process_result, c"acl.himpi.vpc_get_process_result args parse failed", c"vpc_get_process_result($module, chn, task_id, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_get_process_result.\n\nReturns int."),
    method!(c"vpc_pyrdown", himpi_vpc_pyrdown, c"acl.himpi.vpc_pyrdown args parse failed", c"vpc_pyrdown($module, chn, source_pic, dest_pic, filter_level, gaussian_filter, divisor, make_border_info, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_pyrdown.\n\nReturns tuple[int, int]."),
    method!(c"vpc_resize", himpi_vpc_resize, c"acl.himpi.vpc_resize args parse failed", c"vpc_resize($module, chn, source_pic, dest_pic, fx, fy, interpolation, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_resize.\n\nReturns tuple[int, int]."),
    method!(c"vpc_rotate", himpi_vpc_rotate, c"acl.himpi.vpc_rotate args parse failed", c"vpc_rotate($module, chn, rotate_param, milli_sec, /)\n--\n\nCalls hi_mpi_vpc_rotate.\n\nReturns tuple[int, int]."),
    method!(c"vpc_sys_create_chn", himpi_vpc_sys_create_chn, c"acl.himpi.vpc_sys_create_chn args parse failed", c"vpc_sys_create_chn($module, attr, /)\n--\n\nCalls hi_mpi_vpc_sys_create_chn.\n\nReturns tuple[int, int]."),
    END,
]);

fn fv_create_init_para<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let fs_num = call.get::<u64>(0)?;
    let ret = c_call!(call.waits aclfvCreateInitPara(u64) -> Pointer, [fs_num], or Default::default());
    call.one(&ret)
}

fn fv_init<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let init_para = call.get::<Pointer>(0)?;
    let ret = c_call!(call.waits aclfvInit(Pointer) -> i32, [init_para], or NOT_SUPPORTED);
    call.one(&ret)
}

static FV: Table = Table::new(&[
    method!(c"create_init_para", fv_create_init_para, c"acl.fv.create_init_para args parse failed", c"create_init_para($module, fs_num, /)\n--\n\nCalls aclfvCreateInitPara.\n\nReturns int."),
    method!(c"init", fv_init, c"acl.fv.init args parse failed", c"init($module, init_para, /)\n--\n\nCalls aclfvInit.\n\nReturns int."),
    END,
]);

pub(super) static HI_DVPP_EPOLL_EVENT: Layout = Layout {
    size: 16,
    fields: &[
        Field { name: "events", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "data", offset: 8, kind: Kind::Unsigned(8), when: When::Always },
    ],
};

pub(super) static HI_IMG_ALIGN_INFO: Layout = Layout {
    size: 32,
    fields: &[
        Field { name: "width_stride", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height_stride", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "img_buf_size", offset: 8, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "reserved", offset: 16, kind: Kind::Array(&Kind::Unsigned(8), 8, 2), when: When::Always },
    ],
};

pub(super) static HI_IMG_BASE_INFO: Layout = Layout {
    size: 32,
    fields: &[
        Field { name: "width", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pixel_format", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "reserved", offset: 16, kind: Kind::Array(&Kind::Unsigned(8), 8, 2), when: When::Always },
    ],
};

pub(super) static HI_IMG_INFO: Layout = Layout {
    size: 40,
    fields: &[
        Field { name: "width", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "width_stride", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height_stride", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "img_buf_size", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pixel_format", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "png_pixel_format", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "reserved", offset: 24, kind: Kind::Array(&Kind::Unsigned(4), 4, 4), when: When::Always },
    ],
};

pub(super) static HI_IMG_STREAM: Layout = Layout {
    size: 40,
    fields: &[
        Field { name: "type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "addr", offset: 8, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "len", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pts", offset: 24, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "reserved", offset: 32, kind: Kind::Array(&Kind::Signed(4), 4, 2), when: When::Always },
    ],
};

pub(super) static HI_PIC_BUF_ATTR: Layout = Layout {
    size: 24,
    fields: &[
        Field { name: "width", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "align", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "bit_width", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pixel_format", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "compress_mode", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_PIC_INFO: Layout = Layout {
    size: 32,
    fields: &[
        Field { name: "picture_address", offset: 0, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "picture_buffer_size", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_width", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_height", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_width_stride", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_height_stride", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_format", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_PNGD_CHN_ATTR: Layout = Layout {
    size: 40,
    fields: &[
        Field { name: "stream_que_cnt", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "reserved", offset: 8, kind: Kind::Array(&Kind::Unsigned(8), 8, 4), when: When::Always },
    ],
};

pub(super) static HI_ROTATE_PARAM: Layout = Layout {
    size: 72,
    fields: &[
        Field { name: "src", offset: 0, kind: Kind::Structure(&HI_VPC_PIC_INFO), when: When::Always },
        Field { name: "dst", offset: 32, kind: Kind::Structure(&HI_VPC_PIC_INFO), when: When::Always },
        Field { name: "angle", offset: 64, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VPC_PIC_INFO: Layout = Layout {
    size: 32,
    fields: &[
        Field { name: "picture_address", offset: 0, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "picture_buffer_size", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_width", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_height", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_width_stride", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_height_stride", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "picture_format", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VDEC_CHN_ATTR: Layout = Layout {
    size: 40,
    fields: &[
        Field { name: "type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "mode", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pic_width", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pic_height", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stream_buf_size", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "frame_buf_size", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "frame_buf_cnt", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "video_attr", offset: 28, kind: Kind::Structure(&HI_VDEC_VIDEO_ATTR), when: When::Always },
    ],
};

pub(super) static HI_VDEC_VIDEO_ATTR: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "ref_frame_num", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "temporal_mvp_en", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "tmv_buf_size", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VDEC_CHN_PARAM: Layout = Layout {
    size: 40,
    fields: &[
        Field { name: "type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "display_frame_num", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "video_param", offset: 8, kind: Kind::Structure(&HI_VDEC_VIDEO_PARAM), when: When::Equal(0, 96) },
        Field { name: "pic_param", offset: 8, kind: Kind::Structure(&HI_VDEC_PIC_PARAM), when: When::Equal(0, 26) },
    ],
};

pub(super) static HI_VDEC_PIC_PARAM: Layout = Layout {
    size: 8,
    fields: &[
        Field { name: "pixel_format", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "alpha", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VDEC_VIDEO_PARAM: Layout = Layout {
    size: 32,
    fields: &[
        Field { name: "composite_dec_en", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "slice_input_en", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "err_threshold", offset: 8, kind: Kind::Signed(4), when: When::Always },
        Field { name: "dec_mode", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "out_order", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "compress_mode", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "video_format", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "quick_mark_mode", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VDEC_CHN_STATUS: Layout = Layout {
    size: 80,
    fields: &[
        Field { name: "type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "left_stream_bytes", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "left_stream_frames", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "left_decoded_frames", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "is_started", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "recv_stream_frames", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dec_stream_frames", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dec_err", offset: 28, kind: Kind::Structure(&HI_VDEC_DEC_ERR), when: When::Always },
        Field { name: "width", offset: 64, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height", offset: 68, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "latest_frame_pts", offset: 72, kind: Kind::Unsigned(8), when: When::Always },
    ],
};

pub(super) static HI_VDEC_DEC_ERR: Layout = Layout {
    size: 36,
    fields: &[
        Field { name: "set_pic_size_err", offset: 0, kind: Kind::Signed(4), when: When::Always },
        Field { name: "set_protocol_num_err", offset: 4, kind: Kind::Signed(4), when: When::Always },
        Field { name: "set_ref_num_err", offset: 8, kind: Kind::Signed(4), when: When::Always },
        Field { name: "set_pic_buf_size_err", offset: 12, kind: Kind::Signed(4), when: When::Always },
        Field { name: "format_err", offset: 16, kind: Kind::Signed(4), when: When::Always },
        Field { name: "stream_unsupport", offset: 20, kind: Kind::Signed(4), when: When::Always },
        Field { name: "pack_err", offset: 24, kind: Kind::Signed(4), when: When::Always },
        Field { name: "stream_size_over", offset: 28, kind: Kind::Signed(4), when: When::Always },
        Field { name: "stream_not_release", offset: 32, kind: Kind::Signed(4), when: When::Always },
    ],
};

pub(super) static HI_VDEC_PIC_INFO: Layout = Layout {
    size: 48,
    fields: &[
        Field { name: "width", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "width_stride", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height_stride", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pixel_format", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "vir_addr", offset: 24, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "buffer_size", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "offset_top", offset: 36, kind: Kind::Signed(2), when: When::Always },
        Field { name: "offset_bottom", offset: 38, kind: Kind::Signed(2), when: When::Always },
        Field { name: "offset_left", offset: 40, kind: Kind::Signed(2), when: When::Always },
        Field { name: "offset_right", offset: 42, kind: Kind::Signed(2), when: When::Always },
    ],
};

pub(super) static HI_VDEC_STREAM: Layout = Layout {
    size: 48,
    fields: &[
        Field { name: "end_of_frame", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "end_of_stream", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "need_display", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pts", offset: 16, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "private_data", offset: 24, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "len", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "addr", offset: 40, kind: Kind::Unsigned(8), when: When::Always },
    ],
};

pub(super) static HI_VDEC_SUPPLEMENT_INFO: Layout = Layout {
    size: 16,
    fields: &[
        Field { name: "type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "video_supplement_info", offset: 4, kind: Kind::Structure(&HI_VDEC_VIDEO_SUPPLEMENT_INFO), when: When::Always },
    ],
};

pub(super) static HI_VDEC_VIDEO_SUPPLEMENT_INFO: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "frame_type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "err_rate", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "poc", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_CHN_ATTR: Layout = Layout {
    size: 116,
    fields: &[
        Field { name: "venc_attr", offset: 0, kind: Kind::Structure(&HI_VENC_ATTR), when: When::Always },
        Field { name: "rc_attr", offset: 60, kind: Kind::Structure(&HI_VENC_RC_ATTR), when: When::Always },
        Field { name: "gop_attr", offset: 100, kind: Kind::Structure(&HI_VENC_GOP_ATTR), when: When::Always },
    ],
};

pub(super) static HI_VENC_GOP_ATTR: Layout = Layout {
    size: 16,
    fields: &[
        Field { name: "gop_mode", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "normal_p", offset: 4, kind: Kind::Structure(&HI_VENC_GOP_NORMAL_P), when: When::Equal(0, 0) },
        Field { name: "dual_p", offset: 4, kind: Kind::Structure(&HI_VENC_GOP_DUAL_P), when: When::Equal(0, 1) },
        Field { name: "smart_p", offset: 4, kind: Kind::Structure(&HI_VENC_GOP_SMART_P), when: When::Equal(0, 2) },
        Field { name: "bipred_b", offset: 4, kind: Kind::Structure(&HI_VENC_GOP_BIPRED_B), when: When::Equal(0, 4) },
    ],
};

pub(super) static HI_VENC_GOP_BIPRED_B: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "b_frame_num", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "b_qp_delta", offset: 4, kind: Kind::Signed(4), when: When::Always },
        Field { name: "ip_qp_delta", offset: 8, kind: Kind::Signed(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_GOP_SMART_P: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "bg_interval", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "bg_qp_delta", offset: 4, kind: Kind::Signed(4), when: When::Always },
        Field { name: "vi_qp_delta", offset: 8, kind: Kind::Signed(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_GOP_DUAL_P: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "sp_interval", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "sp_qp_delta", offset: 4, kind: Kind::Signed(4), when: When::Always },
        Field { name: "ip_qp_delta", offset: 8, kind: Kind::Signed(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_GOP_NORMAL_P: Layout = Layout {
    size: 4,
    fields: &[
        Field { name: "ip_qp_delta", offset: 0, kind: Kind::Signed(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_RC_ATTR: Layout = Layout {
    size: 40,
    fields: &[
        Field { name: "rc_mode", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "h264_cbr", offset: 4, kind: Kind::Structure(&HI_VENC_H264_CBR), when: When::Equal(0, 1) },
        Field { name: "h264_vbr", offset: 4, kind: Kind::Structure(&HI_VENC_H264_VBR), when: When::Equal(0, 2) },
        Field { name: "h264_avbr", offset: 4, kind: Kind::Structure(&HI_VENC_H264_AVBR), when: When::Equal(0, 3) },
        Field { name: "h264_qvbr", offset: 4, kind: Kind::Structure(&HI_VENC_H264_QVBR), when: When::Equal(0, 4) },
        Field { name: "h264_cvbr", offset: 4, kind: Kind::Structure(&HI_VENC_H264_CVBR), when: When::Equal(0, 5) },
        Field { name: "h264_fixqp", offset: 4, kind: Kind::Structure(&HI_VENC_H264_FIXQP), when: When::Equal(0, 6) },
        Field { name: "h265_cbr", offset: 4, kind: Kind::Structure(&HI_VENC_H265_CBR), when: When::Equal(0, 11) },
        Field { name: "h265_vbr", offset: 4, kind: Kind::Structure(&HI_VENC_H265_VBR), when: When::Equal(0, 12) },
        Field { name: "h265_avbr", offset: 4, kind: Kind::Structure(&HI_VENC_H265_AVBR), when: When::Equal(0, 13) },
        Field { name: "h265_qvbr", offset: 4, kind: Kind::Structure(&HI_VENC_H265_QVBR), when: When::Equal(0, 14) },
        Field { name: "h265_cvbr", offset: 4, kind: Kind::Structure(&HI_VENC_H265_CVBR), when: When::Equal(0, 15) },
        Field { name: "h265_fixqp", offset: 4, kind: Kind::Structure(&HI_VENC_H265_FIXQP), when: When::Equal(0, 16) },
    ],
};

pub(super) static HI_VENC_H265_FIXQP: Layout = Layout {
    size: 24,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "i_qp", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "p_qp", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "b_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_CVBR: Layout = Layout {
    size: 36,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "short_term_stats_time", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "long_term_stats_time", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "long_term_max_bit_rate", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "long_term_min_bit_rate", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_QVBR: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "target_bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_AVBR: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_VBR: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_CBR: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_FIXQP: Layout = Layout {
    size: 24,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "i_qp", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "p_qp", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "b_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_CVBR: Layout = Layout {
    size: 36,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "short_term_stats_time", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "long_term_stats_time", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "long_term_max_bit_rate", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "long_term_min_bit_rate", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_QVBR: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "target_bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_AVBR: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_VBR: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_CBR: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "gop", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "stats_time", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "src_frame_rate", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "bit_rate", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_ATTR: Layout = Layout {
    size: 60,
    fields: &[
        Field { name: "type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_pic_width", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_pic_height", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "buf_size", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "profile", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "is_by_frame", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pic_width", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pic_height", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "h264_attr", offset: 32, kind: Kind::Structure(&HI_VENC_H264_ATTR), when: When::Equal(0, 96) },
        Field { name: "h265_attr", offset: 32, kind: Kind::Structure(&HI_VENC_H265_ATTR), when: When::Equal(0, 265) },
        Field { name: "jpeg_attr", offset: 32, kind: Kind::Structure(&HI_VENC_JPEG_ATTR), when: When::Equal(0, 26) },
    ],
};

pub(super) static HI_VENC_JPEG_ATTR: Layout = Layout {
    size: 28,
    fields: &[
        Field { name: "dcf_en", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "mpf_cfg", offset: 4, kind: Kind::Structure(&HI_VENC_MPF_CFG), when: When::Always },
        Field { name: "recv_mode", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_MPF_CFG: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "large_thumbnail_num", offset: 0, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "large_thumbnail_size", offset: 4, kind: Kind::Array(&Kind::Structure(&HI_VIDEO_SIZE), 8, 2), when: When::Always },
    ],
};

pub(super) static HI_VIDEO_SIZE: Layout = Layout {
    size: 8,
    fields: &[
        Field { name: "width", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_ATTR: Layout = Layout {
    size: 8,
    fields: &[
        Field { name: "rcn_ref_share_buf_en", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "frame_buf_ratio", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_ATTR: Layout = Layout {
    size: 8,
    fields: &[
        Field { name: "rcn_ref_share_buf_en", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "frame_buf_ratio", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_CHN_PARAM: Layout = Layout {
    size: 44,
    fields: &[
        Field { name: "color_to_grey_en", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "priority", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_stream_cnt", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "poll_wake_up_frame_cnt", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "crop_info", offset: 16, kind: Kind::Structure(&HI_CROP_INFO), when: When::Always },
        Field { name: "frame_rate", offset: 36, kind: Kind::Structure(&HI_FRAME_RATE_CTRL), when: When::Always },
    ],
};

pub(super) static HI_FRAME_RATE_CTRL: Layout = Layout {
    size: 8,
    fields: &[
        Field { name: "src_frame_rate", offset: 0, kind: Kind::Signed(4), when: When::Always },
        Field { name: "dst_frame_rate", offset: 4, kind: Kind::Signed(4), when: When::Always },
    ],
};

pub(super) static HI_CROP_INFO: Layout = Layout {
    size: 20,
    fields: &[
        Field { name: "enable", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "rect", offset: 4, kind: Kind::Structure(&HI_RECT), when: When::Always },
    ],
};

pub(super) static HI_RECT: Layout = Layout {
    size: 16,
    fields: &[
        Field { name: "x", offset: 0, kind: Kind::Signed(4), when: When::Always },
        Field { name: "y", offset: 4, kind: Kind::Signed(4), when: When::Always },
        Field { name: "width", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_CHN_STATUS: Layout = Layout {
    size: 40,
    fields: &[
        Field { name: "left_pics", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "left_stream_bytes", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "left_stream_frames", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "cur_packs", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "left_recv_pics", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "left_enc_pics", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "is_jpeg_snap_end", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "release_pic_pts", offset: 32, kind: Kind::Unsigned(8), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_VUI: Layout = Layout {
    size: 28,
    fields: &[
        Field { name: "vui_aspect_ratio", offset: 0, kind: Kind::Structure(&HI_VENC_VUI_ASPECT_RATIO), when: When::Always },
        Field { name: "vui_time_info", offset: 8, kind: Kind::Structure(&HI_VENC_H264_VUI_TIME_INFO), when: When::Always },
        Field { name: "vui_video_signal", offset: 20, kind: Kind::Structure(&HI_VENC_VUI_VIDEO_SIGNAL), when: When::Always },
        Field { name: "vui_bitstream_restric", offset: 27, kind: Kind::Structure(&HI_VENC_VUI_BITSTREAM_RESTRIC), when: When::Always },
    ],
};

pub(super) static HI_VENC_VUI_BITSTREAM_RESTRIC: Layout = Layout {
    size: 1,
    fields: &[
        Field { name: "bitstream_restriction_flag", offset: 0, kind: Kind::Unsigned(1), when: When::Always },
    ],
};

pub(super) static HI_VENC_VUI_VIDEO_SIGNAL: Layout = Layout {
    size: 7,
    fields: &[
        Field { name: "video_signal_type_present_flag", offset: 0, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "video_format", offset: 1, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "video_full_range_flag", offset: 2, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "colour_description_present_flag", offset: 3, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "colour_primaries", offset: 4, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "transfer_characteristics", offset: 5, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "matrix_coefficients", offset: 6, kind: Kind::Unsigned(1), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_VUI_TIME_INFO: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "timing_info_present_flag", offset: 0, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "fixed_frame_rate_flag", offset: 1, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "num_units_in_tick", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "time_scale", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_VUI_ASPECT_RATIO: Layout = Layout {
    size: 8,
    fields: &[
        Field { name: "aspect_ratio_info_present_flag", offset: 0, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "aspect_ratio_idc", offset: 1, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "overscan_info_present_flag", offset: 2, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "overscan_appropriate_flag", offset: 3, kind: Kind::Unsigned(1), when: When::Always },
        Field { name: "sar_width", offset: 4, kind: Kind::Unsigned(2), when: When::Always },
        Field { name: "sar_height", offset: 6, kind: Kind::Unsigned(2), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_VUI: Layout = Layout {
    size: 32,
    fields: &[
        Field { name: "vui_aspect_ratio", offset: 0, kind: Kind::Structure(&HI_VENC_VUI_ASPECT_RATIO), when: When::Always },
        Field { name: "vui_time_info", offset: 8, kind: Kind::Structure(&HI_VENC_H265_VUI_TIME_INFO), when: When::Always },
        Field { name: "vui_video_signal", offset: 24, kind: Kind::Structure(&HI_VENC_VUI_VIDEO_SIGNAL), when: When::Always },
        Field { name: "vui_bitstream_restric", offset: 31, kind: Kind::Structure(&HI_VENC_VUI_BITSTREAM_RESTRIC), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_VUI_TIME_INFO: Layout = Layout {
    size: 16,
    fields: &[
        Field { name: "timing_info_present_flag", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "num_units_in_tick", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "time_scale", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "num_ticks_poc_diff_one_minus1", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_JPEG_PARAM: Layout = Layout {
    size: 204,
    fields: &[
        Field { name: "qfactor", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "y_qt", offset: 4, kind: Kind::Array(&Kind::Unsigned(1), 1, 64), when: When::Always },
        Field { name: "cb_qt", offset: 68, kind: Kind::Array(&Kind::Unsigned(1), 1, 64), when: When::Always },
        Field { name: "cr_qt", offset: 132, kind: Kind::Array(&Kind::Unsigned(1), 1, 64), when: When::Always },
        Field { name: "mcu_per_ecs", offset: 196, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "ecs_output_en", offset: 200, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_MOD_PARAM: Layout = Layout {
    size: 28,
    fields: &[
        Field { name: "mod_type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "venc_mod_param", offset: 4, kind: Kind::Structure(&HI_VENC_VENC_MOD_PARAM), when: When::Equal(0, 1) },
        Field { name: "h264_mod_param", offset: 4, kind: Kind::Structure(&HI_VENC_H264_MOD_PARAM), when: When::Equal(0, 2) },
        Field { name: "h265_mod_param", offset: 4, kind: Kind::Structure(&HI_VENC_H265_MOD_PARAM), when: When::Equal(0, 3) },
        Field { name: "jpeg_mod_param", offset: 4, kind: Kind::Structure(&HI_VENC_JPEG_MOD_PARAM), when: When::Equal(0, 4) },
    ],
};

pub(super) static HI_VENC_JPEG_MOD_PARAM: Layout = Layout {
    size: 16,
    fields: &[
        Field { name: "one_stream_buf", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "mini_buf_mode", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "clear_stream_buf", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dering_mode", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_MOD_PARAM: Layout = Layout {
    size: 24,
    fields: &[
        Field { name: "one_stream_buf", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "mini_buf_mode", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "low_power_mode", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "vb_src", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qp_hist_en", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_user_data_len", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_MOD_PARAM: Layout = Layout {
    size: 24,
    fields: &[
        Field { name: "one_stream_buf", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "mini_buf_mode", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "low_power_mode", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "vb_src", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qp_hist_en", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_user_data_len", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_VENC_MOD_PARAM: Layout = Layout {
    size: 8,
    fields: &[
        Field { name: "buf_cache", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "frame_buf_recycle", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_RC_PARAM: Layout = Layout {
    size: 272,
    fields: &[
        Field { name: "threshold_i", offset: 0, kind: Kind::Array(&Kind::Unsigned(4), 4, 16), when: When::Always },
        Field { name: "threshold_p", offset: 64, kind: Kind::Array(&Kind::Unsigned(4), 4, 16), when: When::Always },
        Field { name: "threshold_b", offset: 128, kind: Kind::Array(&Kind::Unsigned(4), 4, 16), when: When::Always },
        Field { name: "direction", offset: 192, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "row_qp_delta", offset: 196, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "first_frame_start_qp", offset: 200, kind: Kind::Signed(4), when: When::Always },
        Field { name: "scene_chg_detect", offset: 204, kind: Kind::Structure(&HI_VENC_SCENE_CHG_DETECT), when: When::Always },
        Field { name: "h264_cbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H264_CBR_PARAM), when: When::Selected(1) },
        Field { name: "h264_vbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H264_VBR_PARAM), when: When::Selected(2) },
        Field { name: "h264_avbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H264_AVBR_PARAM), when: When::Selected(3) },
        Field { name: "h264_qvbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H264_QVBR_PARAM), when: When::Selected(4) },
        Field { name: "h264_cvbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H264_CVBR_PARAM), when: When::Selected(5) },
        Field { name: "h265_cbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H265_CBR_PARAM), when: When::Selected(11) },
        Field { name: "h265_vbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H265_VBR_PARAM), when: When::Selected(12) },
        Field { name: "h265_avbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H265_AVBR_PARAM), when: When::Selected(13) },
        Field { name: "h265_qvbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H265_QVBR_PARAM), when: When::Selected(14) },
        Field { name: "h265_cvbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_H265_CVBR_PARAM), when: When::Selected(15) },
        Field { name: "mjpeg_cbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_MJPEG_CBR_PARAM), when: When::Selected(8) },
        Field { name: "mjpeg_vbr_param", offset: 212, kind: Kind::Structure(&HI_VENC_MJPEG_VBR_PARAM), when: When::Selected(9) },
    ],
};

pub(super) static HI_VENC_MJPEG_VBR_PARAM: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "chg_pos", offset: 0, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_qfactor", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qfactor", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_MJPEG_CBR_PARAM: Layout = Layout {
    size: 8,
    fields: &[
        Field { name: "max_qfactor", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qfactor", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_CVBR_PARAM: Layout = Layout {
    size: 52,
    fields: &[
        Field { name: "max_i_proportion", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 8, kind: Kind::Signed(4), when: When::Always },
        Field { name: "qpmap_en", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qpmap_mode", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp_delta", offset: 36, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp_delta", offset: 40, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "extra_bit_percent", offset: 44, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "long_term_stats_time_unit", offset: 48, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_QVBR_PARAM: Layout = Layout {
    size: 52,
    fields: &[
        Field { name: "max_i_proportion", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 8, kind: Kind::Signed(4), when: When::Always },
        Field { name: "qpmap_en", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qpmap_mode", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_bit_percent", offset: 36, kind: Kind::Signed(4), when: When::Always },
        Field { name: "min_bit_percent", offset: 40, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_psnr_fluctuate", offset: 44, kind: Kind::Signed(4), when: When::Always },
        Field { name: "min_psnr_fluctuate", offset: 48, kind: Kind::Signed(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_AVBR_PARAM: Layout = Layout {
    size: 60,
    fields: &[
        Field { name: "chg_pos", offset: 0, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 12, kind: Kind::Signed(4), when: When::Always },
        Field { name: "min_still_percent", offset: 16, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_still_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_still_psnr", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 36, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 40, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp_delta", offset: 44, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "motion_sensitivity", offset: 48, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qpmap_en", offset: 52, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qpmap_mode", offset: 56, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_VBR_PARAM: Layout = Layout {
    size: 40,
    fields: &[
        Field { name: "chg_pos", offset: 0, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 12, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_qp", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qpmap_en", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qpmap_mode", offset: 36, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H265_CBR_PARAM: Layout = Layout {
    size: 36,
    fields: &[
        Field { name: "max_i_proportion", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 24, kind: Kind::Signed(4), when: When::Always },
        Field { name: "qpmap_en", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qpmap_mode", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_CVBR_PARAM: Layout = Layout {
    size: 52,
    fields: &[
        Field { name: "max_i_proportion", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 8, kind: Kind::Signed(4), when: When::Always },
        Field { name: "qpmap_en", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp_delta", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp_delta", offset: 36, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "extra_bit_percent", offset: 40, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "long_term_stats_time_unit", offset: 44, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "save_bitrate_en", offset: 48, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_QVBR_PARAM: Layout = Layout {
    size: 48,
    fields: &[
        Field { name: "max_i_proportion", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 8, kind: Kind::Signed(4), when: When::Always },
        Field { name: "qpmap_en", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_bit_percent", offset: 32, kind: Kind::Signed(4), when: When::Always },
        Field { name: "min_bit_percent", offset: 36, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_psnr_fluctuate", offset: 40, kind: Kind::Signed(4), when: When::Always },
        Field { name: "min_psnr_fluctuate", offset: 44, kind: Kind::Signed(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_AVBR_PARAM: Layout = Layout {
    size: 60,
    fields: &[
        Field { name: "chg_pos", offset: 0, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 12, kind: Kind::Signed(4), when: When::Always },
        Field { name: "qpmap_en", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_still_percent", offset: 20, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_still_qp", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_still_psnr", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 36, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 40, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 44, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp_delta", offset: 48, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "motion_sensitivity", offset: 52, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "save_bitrate_en", offset: 56, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_VBR_PARAM: Layout = Layout {
    size: 36,
    fields: &[
        Field { name: "chg_pos", offset: 0, kind: Kind::Signed(4), when: When::Always },
        Field { name: "max_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 12, kind: Kind::Signed(4), when: When::Always },
        Field { name: "qpmap_en", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_CBR_PARAM: Layout = Layout {
    size: 32,
    fields: &[
        Field { name: "max_i_proportion", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_proportion", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_qp", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_qp", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_i_qp", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "min_i_qp", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "max_reencode_times", offset: 24, kind: Kind::Signed(4), when: When::Always },
        Field { name: "qpmap_en", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_SCENE_CHG_DETECT: Layout = Layout {
    size: 8,
    fields: &[
        Field { name: "detect_scene_chg_en", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "adapt_insert_idr_frame_en", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_START_PARAM: Layout = Layout {
    size: 4,
    fields: &[
        Field { name: "recv_pic_num", offset: 0, kind: Kind::Signed(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_STREAM: Layout = Layout {
    size: 64,
    fields: &[
        Field { name: "pack", offset: 0, kind: Kind::List(&HI_VENC_PACK, 8), when: When::Always },
        Field { name: "pack_cnt", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "seq", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "h264_info", offset: 16, kind: Kind::Structure(&HI_VENC_H264_STREAM_INFO), when: When::Always },
        Field { name: "jpeg_info", offset: 16, kind: Kind::Structure(&HI_VENC_JPEG_STREAM_INFO), when: When::Always },
    ],
};

pub(super) static HI_VENC_JPEG_STREAM_INFO: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "pic_bytes", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "update_attr_cnt", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "qfactor", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_H264_STREAM_INFO: Layout = Layout {
    size: 44,
    fields: &[
        Field { name: "pic_bytes", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "inter16x16_mb_num", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "inter8x8_mb_num", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "intra16_mb_num", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "intra8_mb_num", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "intra4_mb_num", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "ref_type", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "update_attr_cnt", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "start_qp", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "mean_qp", offset: 36, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "is_p_skip", offset: 40, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_PACK: Layout = Layout {
    size: 144,
    fields: &[
        Field { name: "phys_addr", offset: 0, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "input_addr", offset: 0, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "addr", offset: 8, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "len", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pts", offset: 24, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "is_frame_end", offset: 32, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "data_type", offset: 36, kind: Kind::Structure(&HI_VENC_DATA_TYPE), when: When::Always },
        Field { name: "offset", offset: 40, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "data_num", offset: 44, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pack_info", offset: 48, kind: Kind::Array(&Kind::Structure(&HI_VENC_PACK_INFO), 12, 8), when: When::Always },
    ],
};

pub(super) static HI_VENC_PACK_INFO: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "pack_type", offset: 0, kind: Kind::Structure(&HI_VENC_DATA_TYPE), when: When::Always },
        Field { name: "pack_offset", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pack_len", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VENC_DATA_TYPE: Layout = Layout {
    size: 4,
    fields: &[
        Field { name: "h264_type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "h265_type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "jpeg_type", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VIDEO_FRAME_INFO: Layout = Layout {
    size: 264,
    fields: &[
        Field { name: "v_frame", offset: 0, kind: Kind::Structure(&HI_VIDEO_FRAME), when: When::Always },
        Field { name: "pool_id", offset: 256, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "mod_id", offset: 260, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VIDEO_FRAME: Layout = Layout {
    size: 256,
    fields: &[
        Field { name: "width", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "height", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "field", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pixel_format", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "video_format", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "compress_mode", offset: 20, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dynamic_range", offset: 24, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "color_gamut", offset: 28, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "header_stride", offset: 32, kind: Kind::Array(&Kind::Unsigned(4), 4, 3), when: When::Always },
        Field { name: "width_stride", offset: 44, kind: Kind::Array(&Kind::Unsigned(4), 4, 3), when: When::Always },
        Field { name: "height_stride", offset: 56, kind: Kind::Array(&Kind::Unsigned(4), 4, 3), when: When::Always },
        Field { name: "header_phys_addr", offset: 72, kind: Kind::Array(&Kind::Unsigned(8), 8, 3), when: When::Always },
        Field { name: "phys_addr", offset: 96, kind: Kind::Array(&Kind::Unsigned(8), 8, 3), when: When::Always },
        Field { name: "header_virt_addr", offset: 120, kind: Kind::Array(&Kind::Unsigned(8), 8, 3), when: When::Always },
        Field { name: "virt_addr", offset: 144, kind: Kind::Array(&Kind::Unsigned(8), 8, 3), when: When::Always },
        Field { name: "time_ref", offset: 168, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pts", offset: 176, kind: Kind::Unsigned(8), when: When::Always },
        Field { name: "user_data", offset: 184, kind: Kind::Array(&Kind::Unsigned(8), 8, 8), when: When::Always },
        Field { name: "frame_flag", offset: 248, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VPC_CHN_ATTR: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "attr", offset: 0, kind: Kind::Signed(4), when: When::Always },
        Field { name: "pic_width", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "pic_height", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VPC_CROP_REGION_INFO: Layout = Layout {
    size: 48,
    fields: &[
        Field { name: "dest_pic_info", offset: 0, kind: Kind::Structure(&HI_VPC_PIC_INFO), when: When::Always },
        Field { name: "crop_region", offset: 32, kind: Kind::Structure(&HI_VPC_CROP_REGION), when: When::Always },
    ],
};

pub(super) static HI_VPC_CROP_REGION: Layout = Layout {
    size: 16,
    fields: &[
        Field { name: "top_offset", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "left_offset", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "crop_width", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "crop_height", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VPC_CROP_RESIZE_BORDER_REGION: Layout = Layout {
    size: 104,
    fields: &[
        Field { name: "dest_pic_info", offset: 0, kind: Kind::Structure(&HI_VPC_PIC_INFO), when: When::Always },
        Field { name: "crop_region", offset: 32, kind: Kind::Structure(&HI_VPC_CROP_REGION), when: When::Always },
        Field { name: "resize_info", offset: 48, kind: Kind::Structure(&HI_VPC_RESIZE_INFO), when: When::Always },
        Field { name: "dest_top_offset", offset: 60, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dest_left_offset", offset: 64, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "border_type", offset: 68, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "scalar_value", offset: 72, kind: Kind::Structure(&HI_VPC_SCALAR), when: When::Always },
    ],
};

pub(super) static HI_VPC_SCALAR: Layout = Layout {
    size: 32,
    fields: &[
        Field { name: "val", offset: 0, kind: Kind::Array(&Kind::Double, 8, 4), when: When::Always },
    ],
};

pub(super) static HI_VPC_RESIZE_INFO: Layout = Layout {
    size: 12,
    fields: &[
        Field { name: "resize_width", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "resize_height", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "interpolation", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VPC_CROP_RESIZE_PASTE_REGION: Layout = Layout {
    size: 72,
    fields: &[
        Field { name: "dest_pic_info", offset: 0, kind: Kind::Structure(&HI_VPC_PIC_INFO), when: When::Always },
        Field { name: "crop_region", offset: 32, kind: Kind::Structure(&HI_VPC_CROP_REGION), when: When::Always },
        Field { name: "resize_info", offset: 48, kind: Kind::Structure(&HI_VPC_RESIZE_INFO), when: When::Always },
        Field { name: "dest_top_offset", offset: 60, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "dest_left_offset", offset: 64, kind: Kind::Unsigned(4), when: When::Always },
    ],
};

pub(super) static HI_VPC_CROP_RESIZE_REGION: Layout = Layout {
    size: 64,
    fields: &[
        Field { name: "dest_pic_info", offset: 0, kind: Kind::Structure(&HI_VPC_PIC_INFO), when: When::Always },
        Field { name: "crop_region", offset: 32, kind: Kind::Structure(&HI_VPC_CROP_REGION), when: When::Always },
        Field { name: "resize_info", offset: 48, kind: Kind::Structure(&HI_VPC_RESIZE_INFO), when: When::Always },
    ],
};

pub(super) static HI_VPC_MAKE_BORDER_INFO: Layout = Layout {
    size: 56,
    fields: &[
        Field { name: "top", offset: 0, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "bottom", offset: 4, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "left", offset: 8, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "right", offset: 12, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "border_type", offset: 16, kind: Kind::Unsigned(4), when: When::Always },
        Field { name: "scalar_value", offset: 24, kind: Kind::Structure(&HI_VPC_SCALAR), when: When::Always },
    ],
};

/// The tables with the names of their submodules; `base` is the module itself.
pub(super) static TABLES: [(&str, &Table); 10] = [
    ("base", &BASE),
    ("rt", &RT),
    ("mdl", &MDL),
    ("media", &MEDIA),
    ("op", &OP),
    ("blas", &BLAS),
    ("util", &UTIL),
    ("prof", &PROF),
    ("himpi", &HIMPI),
    ("fv", &FV),
];
