// Written by `cargo xtask gen` from api/pyacl. Do not edit.

//! One wrapper for each function of pyACL: it parses what Python passed, calls the C function of the shared library and
//! makes the results, in C order with the code last. A wrapper is a row where its parameters and results are plain values.

use std::ffi::{CString, c_char};

use super::ffi::*;
use super::records::*;
use super::rows::{ArgumentCursor, Parameter};
use super::structures::*;
use super::manual;
use super::table::{END, Table};

wrappers! {
    base_create_data_buffer = returns aclCreateDataBuffer [] (data: Pointer, size: usize) [] value(Pointer);
    base_data_type_size = returns aclDataTypeSize [] (data_type: i32) [] value(usize);
    base_destroy_data_buffer = returns aclDestroyDataBuffer [] (data_buffer: Pointer) [] status;
    base_destroy_tensor_desc = returns aclDestroyTensorDesc [] (desc: Pointer) [] nothing;
    base_finalize = waits aclFinalize [] () [] status;
    base_finalize_reference = waits aclFinalizeReference [count: u64] () [] status;
    base_float16_to_float = returns aclFloat16ToFloat [] (value: u16) [] value(f32);
    base_float_to_float16 = returns aclFloatToFloat16 [] (value: f32) [] value(u16);
    base_get_cann_attribute = returns aclGetCannAttribute [] (attr: i32) [value: i32] status;
    base_get_data_buffer_addr = returns aclGetDataBufferAddr [] (data_buffer: Pointer) [] value(Pointer);
    base_get_data_buffer_size = returns aclGetDataBufferSize [] (data_buffer: Pointer) [] value(u32);
    base_get_data_buffer_size_v2 = returns aclGetDataBufferSizeV2 [] (data_buffer: Pointer) [] value(usize);
    base_get_device_capability = returns aclGetDeviceCapability [] (device_id: u32, info: i32) [value: i64] status;
    base_get_soc_name = returns aclrtGetSocName [] () [] value(CText);
    base_get_tensor_desc_address = returns aclGetTensorDescAddress [] (desc: Pointer) [] value(Pointer);
    base_get_tensor_desc_by_index = returns aclGetTensorDescByIndex [] (desc: Pointer, index: usize) [] value(Pointer);
    base_get_tensor_desc_dim = returns aclGetTensorDescDim [] (desc: Pointer, index: usize) [] value(i64);
    base_get_tensor_desc_dim_v2 = returns aclGetTensorDescDimV2 [] (desc: Pointer, index: usize) [size: i64] status;
    base_get_tensor_desc_element_count = returns aclGetTensorDescElementCount [] (desc: Pointer) [] value(usize);
    base_get_tensor_desc_format = returns aclGetTensorDescFormat [] (desc: Pointer) [] value(i32);
    base_get_tensor_desc_name = returns aclGetTensorDescName [] (desc: Pointer) [] value(CText);
    base_get_tensor_desc_num_dims = returns aclGetTensorDescNumDims [] (desc: Pointer) [] value(usize);
    base_get_tensor_desc_size = returns aclGetTensorDescSize [] (desc: Pointer) [] value(usize);
    base_get_tensor_desc_type = returns aclGetTensorDescType [] (desc: Pointer) [] value(i32);
    base_get_version = returns aclrtGetVersion [major_version: i32, minor_version: i32, patch_version: i32] () [] status;
    base_set_tensor_const = returns aclSetTensorConst [] (desc: Pointer, data: Pointer, length: usize) [] status;
    base_set_tensor_desc_name = returns aclSetTensorDescName [] (desc: Pointer, name: CString) [] nothing;
    base_set_tensor_dynamic_input = returns aclSetTensorDynamicInput [] (desc: Pointer, dynamic_input_name: CString) [] status;
    base_set_tensor_format = returns aclSetTensorFormat [] (desc: Pointer, format: i32) [] status;
    base_set_tensor_origin_format = returns aclSetTensorOriginFormat [] (desc: Pointer, format: i32) [] status;
    base_set_tensor_place_ment = returns aclSetTensorPlaceMent [] (desc: Pointer, mem_type: i32) [] status;
    base_set_tensor_storage_format = returns aclSetTensorStorageFormat [] (desc: Pointer, format: i32) [] status;
    base_trans_tensor_desc_format = returns aclTransTensorDescFormat [] (src_desc: Pointer, format: i32) [dst_desc: Pointer] status;
    base_update_data_buffer = returns aclUpdateDataBuffer [] (data_buffer: Pointer, data: Pointer, size: usize) [] status;
}

fn base_create_tensor_desc<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let data_type = call.get::<i32>(0)?;
    let dims = call.get::<Vec<i64>>(1)?;
    let format = call.get::<i32>(2)?;
    let ret = c_call!(call.returns aclCreateTensorDesc(i32, i32, *const i64, i32) -> Pointer, [data_type, saturated(dims.count()), dims.as_ptr(), format], or Default::default());
    call.one(&ret)
}

fn base_get_cann_version<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let pkg = call.get::<i32>(0)?;
    let mut version = Record::<PackageVersion>::zeroed();
    let ret = c_call!(call.returns aclsysGetCANNVersion(i32, Pointer) -> i32, [pkg, version.pointer()], or NOT_SUPPORTED);
    call.many(&[&version.described(ret), &ret])
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

fn base_set_tensor_origin_shape<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let dims = call.get::<Vec<i64>>(1)?;
    let ret = c_call!(call.returns aclSetTensorOriginShape(Pointer, i32, *const i64) -> i32, [desc, saturated(dims.count()), dims.as_ptr()], or NOT_SUPPORTED);
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

wrappers! {
    rt_binary_get_function = returns aclrtBinaryGetFunction [] (bin_handle: Pointer, kernel_name: CString) [func_handle: Pointer] status;
    rt_binary_load = waits aclrtBinaryLoad [] (binary: Pointer) [bin_handle: Pointer] status;
    rt_binary_unload = waits aclrtBinaryUnLoad [] (bin_handle: Pointer) [] status;
    rt_cmo_async = waits aclrtCmoAsync [] (src: Pointer, size: usize, cmo_type: i32, stream: Pointer) [] status;
    rt_create_binary = returns aclrtCreateBinary [] (data: Pointer, data_len: usize) [] value(Pointer);
    rt_create_context = waits aclrtCreateContext [context: Pointer] (device_id: i32) [] status;
    rt_create_event = returns aclrtCreateEvent [event: Pointer] () [] status;
    rt_create_event_ex_with_flag = returns aclrtCreateEventExWithFlag [event: Pointer] (flag: u32) [] status;
    rt_create_event_with_flag = returns aclrtCreateEventWithFlag [event: Pointer] (flag: u32) [] status;
    rt_create_group_info = returns aclrtCreateGroupInfo [] () [] value(Pointer);
    rt_create_notify = returns aclrtCreateNotify [notify: Pointer] (flag: u64) [] status;
    rt_create_stream = waits aclrtCreateStream [stream: Pointer] () [] status;
    rt_create_stream_with_config = waits aclrtCreateStreamWithConfig [stream: Pointer] (priority: u32, flag: u32) [] status;
    rt_ctx_get_sys_param_opt = returns aclrtCtxGetSysParamOpt [] (opt: i32) [value: i64] status;
    rt_ctx_set_sys_param_opt = returns aclrtCtxSetSysParamOpt [] (opt: i32, value: i64) [] status;
    rt_destroy_binary = returns aclrtDestroyBinary [] (binary: Pointer) [] status;
    rt_destroy_context = waits aclrtDestroyContext [] (context: Pointer) [] status;
    rt_destroy_event = waits aclrtDestroyEvent [] (event: Pointer) [] status;
    rt_destroy_group_info = returns aclrtDestroyGroupInfo [] (group_info: Pointer) [] status;
    rt_destroy_notify = waits aclrtDestroyNotify [] (notify: Pointer) [] status;
    rt_destroy_stream = waits aclrtDestroyStream [] (stream: Pointer) [] status;
    rt_destroy_stream_force = waits aclrtDestroyStreamForce [] (stream: Pointer) [] status;
    rt_device_can_access_peer = returns aclrtDeviceCanAccessPeer [can_access_peer: i32] (device_id: i32, peer_device_id: i32) [] status;
    rt_device_disable_peer_access = returns aclrtDeviceDisablePeerAccess [] (peer_device_id: i32) [] status;
    rt_device_enable_peer_access = returns aclrtDeviceEnablePeerAccess [] (peer_device_id: i32, flags: u32) [] status;
    rt_device_get_bare_tgid = returns aclrtDeviceGetBareTgid [pid: i32] () [] status;
    rt_device_get_limit = returns aclrtDeviceGetLimit [] (limit: i32) [value: usize] status;
    rt_device_get_stream_priority_range = returns aclrtDeviceGetStreamPriorityRange [min: i32, max: i32] () [] status;
    rt_device_peer_access_status = returns aclrtDevicePeerAccessStatus [] (device_id: i32, peer_device_id: i32) [status: i32] status;
    rt_device_set_limit = returns aclrtDeviceSetLimit [] (limit: i32, value: usize) [] status;
    rt_event_elapsed_time = returns aclrtEventElapsedTime [ms: f32] (start: Pointer, end: Pointer) [] status;
    rt_event_get_timestamp = returns aclrtEventGetTimestamp [] (event: Pointer) [timestamp: u64] status;
    rt_free = waits aclrtFree [] (dev_ptr: Pointer) [] status;
    rt_free_host = waits aclrtFreeHost [] (host_ptr: Pointer) [] status;
    rt_free_physical = waits aclrtFreePhysical [] (handle: Pointer) [] status;
    rt_get_all_group_info = returns aclrtGetAllGroupInfo [] (group_info: Pointer) [] status;
    rt_get_context = returns aclrtGetCurrentContext [context: Pointer] () [] status;
    rt_get_device = returns aclrtGetDevice [device_id: i32] () [] status;
    rt_get_device_capability = returns aclrtGetDeviceCapability [] (device_id: i32, dev_feature_type: i32) [value: i32] status;
    rt_get_device_count = returns aclrtGetDeviceCount [count: u32] () [] status;
    rt_get_device_id_from_exception_info = returns aclrtGetDeviceIdFromExceptionInfo [] (info: Pointer) [] value(u32);
    rt_get_device_res_limit = returns aclrtGetDeviceResLimit [] (device_id: i32, type_: i32) [value: u32] status;
    rt_get_device_sat_mode = returns aclrtGetDeviceSatMode [mode: i32] () [] status;
    rt_get_devices_topo = returns aclrtGetDevicesTopo [] (device_id: u32, other_device_id: u32) [value: u64] status;
    rt_get_error_code_from_exception_info = returns aclrtGetErrorCodeFromExceptionInfo [] (info: Pointer) [] value(u32);
    rt_get_event_avail_num = returns aclrtGetEventAvailNum [event_count: u32] () [] status;
    rt_get_event_id = returns aclrtGetEventId [] (event: Pointer) [event_id: u32] status;
    rt_get_function_addr = returns aclrtGetFunctionAddr [] (func_handle: Pointer) [aic_addr: Pointer, aiv_addr: Pointer] status;
    rt_get_last_error = returns aclrtGetLastError [] (level: i32) [] status;
    rt_get_mem_info = returns aclrtGetMemInfo [] (attr: i32) [free: usize, total: usize] status;
    rt_get_memcpy_desc_size = returns aclrtGetMemcpyDescSize [] (kind: i32) [desc_size: usize] status;
    rt_get_op_execute_timeout = returns aclrtGetOpExecuteTimeout [time_out_ms: u32] () [] status;
    rt_get_op_timeout_interval = returns aclrtGetOpTimeOutInterval [interval: u64] () [] status;
    rt_get_overflow_status = waits aclrtGetOverflowStatus [] (output_addr: Pointer, output_size: usize, stream: Pointer) [] status;
    rt_get_res_in_current_thread = returns aclrtGetResInCurrentThread [] (type_: i32) [value: u32] status;
    rt_get_run_mode = returns aclrtGetRunMode [run_mode: i32] () [] status;
    rt_get_stream_available_num = returns aclrtGetStreamAvailableNum [stream_count: u32] () [] status;
    rt_get_stream_id_from_exception_info = returns aclrtGetStreamIdFromExceptionInfo [] (info: Pointer) [] value(u32);
    rt_get_stream_res_limit = waits aclrtGetStreamResLimit [] (stream: Pointer, type_: i32) [value: u32] status;
    rt_get_sys_param_opt = returns aclrtGetSysParamOpt [] (opt: i32) [value: i64] status;
    rt_get_task_id_from_exception_info = returns aclrtGetTaskIdFromExceptionInfo [] (info: Pointer) [] value(u32);
    rt_get_thread_id_from_exception_info = returns aclrtGetThreadIdFromExceptionInfo [] (info: Pointer) [] value(u32);
    rt_get_thread_last_task_id = returns aclrtGetThreadLastTaskId [task_id: u32] () [] status;
    rt_host_register = waits aclrtHostRegister [] (ptr: Pointer, size: u64, type_: i32) [dev_ptr: Pointer] status;
    rt_host_register_v2 = waits aclrtHostRegisterV2 [] (ptr: Pointer, size: u64, flag: u32) [] status;
    rt_host_unregister = waits aclrtHostUnregister [] (ptr: Pointer) [] status;
    rt_ipc_mem_close = returns aclrtIpcMemClose [] (key: CString) [] status;
    rt_ipc_mem_import_by_key = returns aclrtIpcMemImportByKey [dev_ptr: Pointer] (key: CString, flags: u64) [] status;
    rt_kernel_args_append = returns aclrtKernelArgsAppend [] (args_handle: Pointer, param: Pointer, param_size: usize) [param_handle: Pointer] status;
    rt_kernel_args_append_place_holder = returns aclrtKernelArgsAppendPlaceHolder [] (args_handle: Pointer) [param_handle: Pointer] status;
    rt_kernel_args_finalize = waits aclrtKernelArgsFinalize [] (args_handle: Pointer) [] status;
    rt_kernel_args_get_handle_mem_size = returns aclrtKernelArgsGetHandleMemSize [] (func_handle: Pointer) [mem_size: usize] status;
    rt_kernel_args_get_mem_size = returns aclrtKernelArgsGetMemSize [] (func_handle: Pointer, user_args_size: usize) [actual_args_size: usize] status;
    rt_kernel_args_get_place_holder_buffer = returns aclrtKernelArgsGetPlaceHolderBuffer [] (args_handle: Pointer, param_handle: Pointer, data_size: usize) [buffer_addr: Pointer] status;
    rt_kernel_args_init = waits aclrtKernelArgsInit [] (func_handle: Pointer) [args_handle: Pointer] status;
    rt_kernel_args_init_by_user_mem = waits aclrtKernelArgsInitByUserMem [] (func_handle: Pointer, args_handle: Pointer, user_host_mem: Pointer, actual_args_size: usize) [] status;
    rt_kernel_args_para_update = returns aclrtKernelArgsParaUpdate [] (args_handle: Pointer, param_handle: Pointer, param: Pointer, param_size: usize) [] status;
    rt_launch_kernel = waits aclrtLaunchKernel [] (func_handle: Pointer, num_blocks: u32, args_data: Pointer, args_size: usize, stream: Pointer) [] status;
    rt_malloc = waits aclrtMalloc [dev_ptr: Pointer] (size: usize, policy: i32) [] status;
    rt_malloc_align32 = waits aclrtMallocAlign32 [dev_ptr: Pointer] (size: usize, policy: i32) [] status;
    rt_malloc_cached = waits aclrtMallocCached [dev_ptr: Pointer] (size: usize, policy: i32) [] status;
    rt_malloc_host = waits aclrtMallocHost [host_ptr: Pointer] (size: usize) [] status;
    rt_map_mem = waits aclrtMapMem [] (vir_ptr: Pointer, size: usize, offset: usize, handle: Pointer, flags: u64) [] status;
    rt_mem_export_to_shareable_handle = returns aclrtMemExportToShareableHandle [] (handle: Pointer, handle_type: i32, flags: u64) [shareable_handle: u64] status;
    rt_mem_flush = returns aclrtMemFlush [] (dev_ptr: Pointer, size: usize) [] status;
    rt_mem_import_from_shareable_handle = returns aclrtMemImportFromShareableHandle [] (shareable_handle: u64, device_id: i32) [handle: Pointer] status;
    rt_mem_invalidate = returns aclrtMemInvalidate [] (dev_ptr: Pointer, size: usize) [] status;
    rt_memcpy = waits aclrtMemcpy [] (dst: Pointer, dest_max: usize, src: Pointer, count: usize, kind: i32) [] status;
    rt_memcpy2d = waits aclrtMemcpy2d [] (dst: Pointer, dpitch: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: i32) [] status;
    rt_memcpy2d_async = waits aclrtMemcpy2dAsync [] (dst: Pointer, dpitch: usize, src: Pointer, spitch: usize, width: usize, height: usize, kind: i32, stream: Pointer) [] status;
    rt_memcpy_async = waits aclrtMemcpyAsync [] (dst: Pointer, dest_max: usize, src: Pointer, count: usize, kind: i32, stream: Pointer) [] status;
    rt_memcpy_async_with_condition = waits aclrtMemcpyAsyncWithCondition [] (dst: Pointer, dest_max: usize, src: Pointer, count: usize, kind: i32, stream: Pointer) [] status;
    rt_memcpy_async_with_desc = waits aclrtMemcpyAsyncWithDesc [] (desc: Pointer, kind: i32, stream: Pointer) [] status;
    rt_memset = waits aclrtMemset [] (dev_ptr: Pointer, max_count: usize, value: i32, count: usize) [] status;
    rt_memset_async = waits aclrtMemsetAsync [] (dev_ptr: Pointer, max_count: usize, value: i32, count: usize, stream: Pointer) [] status;
    rt_notify_import_by_key = returns aclrtNotifyImportByKey [notify: Pointer] (key: CString, flags: u64) [] status;
    rt_peek_at_last_error = returns aclrtPeekAtLastError [] (level: i32) [] status;
    rt_process_report = waits aclrtProcessReport [] (timeout: i32) [] status;
    rt_query_device_status = returns aclrtQueryDeviceStatus [] (device_id: i32) [device_status: i32] status;
    rt_query_event = waits aclrtQueryEvent [] (event: Pointer) [status: i32] status;
    rt_query_event_status = waits aclrtQueryEventStatus [] (event: Pointer) [status: i32] status;
    rt_query_event_wait_status = waits aclrtQueryEventWaitStatus [] (event: Pointer) [status: i32] status;
    rt_record_event = waits aclrtRecordEvent [] (event: Pointer, stream: Pointer) [] status;
    rt_record_notify = waits aclrtRecordNotify [] (notify: Pointer, stream: Pointer) [] status;
    rt_reduce_async = waits aclrtReduceAsync [] (dst: Pointer, src: Pointer, count: u64, kind: i32, type_: i32, stream: Pointer, reserve: Pointer) [] status;
    rt_register_cpu_func = returns aclrtRegisterCpuFunc [] (bin_handle: Pointer, func_name: CString, kernel_name: CString) [func_handle: Pointer] status;
    rt_release_mem_address = waits aclrtReleaseMemAddress [] (vir_ptr: Pointer) [] status;
    rt_reserve_mem_address = waits aclrtReserveMemAddress [vir_ptr: Pointer] (size: usize, alignment: usize, expect_ptr: Pointer, flags: u64) [] status;
    rt_reset_device = waits aclrtResetDevice [] (device_id: i32) [] status;
    rt_reset_device_force = waits aclrtResetDeviceForce [] (device_id: i32) [] status;
    rt_reset_device_res_limit = waits aclrtResetDeviceResLimit [] (device_id: i32) [] status;
    rt_reset_event = waits aclrtResetEvent [] (event: Pointer, stream: Pointer) [] status;
    rt_reset_overflow_status = waits aclrtResetOverflowStatus [] (stream: Pointer) [] status;
    rt_reset_stream_res_limit = waits aclrtResetStreamResLimit [] (stream: Pointer) [] status;
    rt_set_context = waits aclrtSetCurrentContext [] (context: Pointer) [] status;
    rt_set_device = waits aclrtSetDevice [] (device_id: i32) [] status;
    rt_set_device_res_limit = returns aclrtSetDeviceResLimit [] (device_id: i32, type_: i32, value: u32) [] status;
    rt_set_device_sat_mode = returns aclrtSetDeviceSatMode [] (mode: i32) [] status;
    rt_set_group = returns aclrtSetGroup [] (group_id: i32) [] status;
    rt_set_op_execute_time_out = returns aclrtSetOpExecuteTimeOut [] (timeout: u32) [] status;
    rt_set_op_wait_timeout = returns aclrtSetOpWaitTimeout [] (timeout: u32) [] status;
    rt_set_stream_overflow_switch = waits aclrtSetStreamOverflowSwitch [] (stream: Pointer, flag: u32) [] status;
    rt_set_stream_res_limit = waits aclrtSetStreamResLimit [] (stream: Pointer, type_: i32, value: u32) [] status;
    rt_set_sys_param_opt = returns aclrtSetSysParamOpt [] (opt: i32, value: i64) [] status;
    rt_stream_abort = waits aclrtStreamAbort [] (stream: Pointer) [] status;
    rt_stream_query = waits aclrtStreamQuery [] (stream: Pointer) [status: i32] status;
    rt_stream_wait_event = waits aclrtStreamWaitEvent [] (stream: Pointer, event: Pointer) [] status;
    rt_subscribe_report = waits aclrtSubscribeReport [] (thread_id: u64, stream: Pointer) [] status;
    rt_synchronize_device = waits aclrtSynchronizeDevice [] () [] status;
    rt_synchronize_device_with_timeout = waits aclrtSynchronizeDeviceWithTimeout [] (timeout: i32) [] status;
    rt_synchronize_event = waits aclrtSynchronizeEvent [] (event: Pointer) [] status;
    rt_synchronize_event_with_timeout = waits aclrtSynchronizeEventWithTimeout [] (event: Pointer, timeout: i32) [] status;
    rt_synchronize_stream = waits aclrtSynchronizeStream [] (stream: Pointer) [] status;
    rt_synchronize_stream_with_timeout = waits aclrtSynchronizeStreamWithTimeout [] (stream: Pointer, timeout: i32) [] status;
    rt_unmap_mem = waits aclrtUnmapMem [] (vir_ptr: Pointer) [] status;
    rt_unsubscribe_report = waits aclrtUnSubscribeReport [] (thread_id: u64, stream: Pointer) [] status;
    rt_unuse_stream_res_in_current_thread = waits aclrtUnuseStreamResInCurrentThread [] (stream: Pointer) [] status;
    rt_use_stream_res_in_current_thread = waits aclrtUseStreamResInCurrentThread [] (stream: Pointer) [] status;
    rt_value_wait = waits aclrtValueWait [] (dev_addr: Pointer, value: u64, flag: u32, stream: Pointer) [] status;
    rt_value_write = waits aclrtValueWrite [] (dev_addr: Pointer, value: u64, flag: u32, stream: Pointer) [] status;
    rt_wait_and_reset_notify = waits aclrtWaitAndResetNotify [] (notify: Pointer, stream: Pointer, timeout: u32) [] status;
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

fn rt_get_device_utilization_rate<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let device_id = call.get::<i32>(0)?;
    let mut utilization_info = Record::<UtilizationInfo>::zeroed();
    let ret = c_call!(call.returns aclrtGetDeviceUtilizationRate(i32, Pointer) -> i32, [device_id, utilization_info.pointer()], or NOT_SUPPORTED);
    call.many(&[&utilization_info.described(ret), &ret])
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

fn rt_host_get_device_pointer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let ptr_host = call.get::<Pointer>(0)?;
    let flag = call.get::<u32>(1)?;
    let mut ptr_device = Pointer::default();
    let ret = c_call!(call.returns aclrtHostGetDevicePointer(Pointer, *mut Pointer, u32) -> i32, [ptr_host, &raw mut ptr_device, flag], or NOT_SUPPORTED);
    call.many(&[&ptr_device, &ret])
}

fn rt_ipc_mem_set_import_pid<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let key = call.get::<CString>(0)?;
    let pids = call.get::<Vec<i32>>(1)?;
    let ret = c_call!(call.returns aclrtIpcMemSetImportPid(*const c_char, *const i32, usize) -> i32, [key.as_ptr(), pids.as_ptr(), saturated(pids.count())], or NOT_SUPPORTED);
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

fn rt_malloc_for_task_scheduler<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(3, 3)?;
    let size = call.get::<usize>(0)?;
    let policy = call.get::<i32>(1)?;
    let cfg = call.get::<MallocConfigIn>(2)?;
    let mut dev_ptr = Pointer::default();
    let ret = c_call!(call.waits aclrtMallocForTaskScheduler(*mut Pointer, usize, i32, Pointer) -> i32, [&raw mut dev_ptr, size, policy, cfg.pointer()], or NOT_SUPPORTED);
    call.many(&[&dev_ptr, &ret])
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

fn rt_mem_get_allocation_granularity<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let prop = call.get::<PhysicalPropertiesIn>(0)?;
    let option = call.get::<i32>(1)?;
    let mut granularity = usize::default();
    let ret = c_call!(call.returns aclrtMemGetAllocationGranularity(Pointer, i32, *mut usize) -> i32, [prop.pointer(), option, &raw mut granularity], or NOT_SUPPORTED);
    call.many(&[&granularity, &ret])
}

fn rt_mem_uce_repair<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let device_id = call.get::<i32>(0)?;
    let infos = call.get::<UceInfosIn>(1)?;
    let ret = c_call!(call.returns aclrtMemUceRepair(i32, Pointer, usize) -> i32, [device_id, infos.pointer(), saturated(infos.count())], or NOT_SUPPORTED);
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

fn rt_notify_set_import_pid<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let notify = call.get::<Pointer>(0)?;
    let pid = call.get::<Vec<i32>>(1)?;
    let ret = c_call!(call.returns aclrtNotifySetImportPid(Pointer, *const i32, usize) -> i32, [notify, pid.as_ptr(), saturated(pid.count())], or NOT_SUPPORTED);
    call.one(&ret)
}

fn rt_pointer_get_attributes<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(1, 1)?;
    let ptr = call.get::<Pointer>(0)?;
    let mut attributes = Record::<PointerAttributes>::zeroed();
    let ret = c_call!(call.returns aclrtPointerGetAttributes(Pointer, Pointer) -> i32, [ptr, attributes.pointer()], or NOT_SUPPORTED);
    call.many(&[&attributes.described(ret), &ret])
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

wrappers! {
    mdl_bundle_get_model_id = returns aclmdlBundleGetModelId [] (bundle_id: u32, index: usize) [model_id: u32] status;
    mdl_bundle_get_model_num = returns aclmdlBundleGetModelNum [] (bundle_id: u32) [model_num: usize] status;
    mdl_bundle_load_from_file = waits aclmdlBundleLoadFromFile [] (model_path: CString) [bundle_id: u32] status;
    mdl_bundle_load_from_mem = waits aclmdlBundleLoadFromMem [] (model: Pointer, model_size: usize) [bundle_id: u32] status;
    mdl_bundle_unload = waits aclmdlBundleUnload [] (bundle_id: u32) [] status;
    mdl_create_aipp = returns aclmdlCreateAIPP [] (batch_size: u64) [] value(Pointer);
    mdl_create_config_handle = returns aclmdlCreateConfigHandle [] () [] value(Pointer);
    mdl_create_dataset = returns aclmdlCreateDataset [] () [] value(Pointer);
    mdl_create_desc = returns aclmdlCreateDesc [] () [] value(Pointer);
    mdl_create_exec_config_handle = waits aclmdlCreateExecConfigHandle [] () [] value(Pointer);
    mdl_destroy_aipp = returns aclmdlDestroyAIPP [] (aipp: Pointer) [] status;
    mdl_destroy_config_handle = returns aclmdlDestroyConfigHandle [] (handle: Pointer) [] status;
    mdl_destroy_dataset = returns aclmdlDestroyDataset [] (dataset: Pointer) [] status;
    mdl_destroy_desc = returns aclmdlDestroyDesc [] (desc: Pointer) [] status;
    mdl_destroy_exec_config_handle = waits aclmdlDestroyExecConfigHandle [] (handle: Pointer) [] status;
    mdl_execute = waits aclmdlExecute [] (model_id: u32, input: Pointer, output: Pointer) [] status;
    mdl_execute_async = waits aclmdlExecuteAsync [] (model_id: u32, input: Pointer, output: Pointer, stream: Pointer) [] status;
    mdl_execute_v2 = waits aclmdlExecuteV2 [] (model_id: u32, input: Pointer, output: Pointer, stream: Pointer, handle: Pointer) [] status;
    mdl_finalize_dump = waits aclmdlFinalizeDump [] () [] status;
    mdl_get_aipp_data_size = returns aclmdlGetAippDataSize [] (batch_size: u64) [size: usize] status;
    mdl_get_aipp_type = returns aclmdlGetAippType [] (model_id: u32, index: usize) [type_: i32, dynamic_attached_data_index: usize] status;
    mdl_get_dataset_buffer = returns aclmdlGetDatasetBuffer [] (dataset: Pointer, index: usize) [] value(Pointer);
    mdl_get_dataset_num_buffers = returns aclmdlGetDatasetNumBuffers [] (dataset: Pointer) [] value(usize);
    mdl_get_dataset_tensor_desc = returns aclmdlGetDatasetTensorDesc [] (dataset: Pointer, index: usize) [] value(Pointer);
    mdl_get_desc = returns aclmdlGetDesc [] (desc: Pointer, model_id: u32) [] status;
    mdl_get_desc_from_file = waits aclmdlGetDescFromFile [] (desc: Pointer, model_path: CString) [] status;
    mdl_get_desc_from_mem = waits aclmdlGetDescFromMem [] (desc: Pointer, model: Pointer, model_size: usize) [] status;
    mdl_get_input_data_type = returns aclmdlGetInputDataType [] (desc: Pointer, index: usize) [] value(i32);
    mdl_get_input_dynamic_gear_count = returns aclmdlGetInputDynamicGearCount [] (desc: Pointer, index: usize) [gear_count: usize] status;
    mdl_get_input_format = returns aclmdlGetInputFormat [] (desc: Pointer, index: usize) [] value(i32);
    mdl_get_input_index_by_name = returns aclmdlGetInputIndexByName [] (desc: Pointer, name: CString) [index: usize] status;
    mdl_get_input_name_by_index = returns aclmdlGetInputNameByIndex [] (desc: Pointer, index: usize) [] value(CText);
    mdl_get_input_size_by_index = returns aclmdlGetInputSizeByIndex [] (desc: Pointer, index: usize) [] value(usize);
    mdl_get_num_inputs = returns aclmdlGetNumInputs [] (desc: Pointer) [] value(usize);
    mdl_get_num_outputs = returns aclmdlGetNumOutputs [] (desc: Pointer) [] value(usize);
    mdl_get_op_attr = returns aclmdlGetOpAttr [] (desc: Pointer, op_name: CString, attr: CString) [] value(CText);
    mdl_get_output_data_type = returns aclmdlGetOutputDataType [] (desc: Pointer, index: usize) [] value(i32);
    mdl_get_output_format = returns aclmdlGetOutputFormat [] (desc: Pointer, index: usize) [] value(i32);
    mdl_get_output_index_by_name = returns aclmdlGetOutputIndexByName [] (desc: Pointer, name: CString) [index: usize] status;
    mdl_get_output_name_by_index = returns aclmdlGetOutputNameByIndex [] (desc: Pointer, index: usize) [] value(CText);
    mdl_get_output_size_by_index = returns aclmdlGetOutputSizeByIndex [] (desc: Pointer, index: usize) [] value(usize);
    mdl_get_tensor_real_name = returns aclmdlGetTensorRealName [] (desc: Pointer, name: CString) [] value(CText);
    mdl_init_dump = waits aclmdlInitDump [] () [] status;
    mdl_load_from_file = waits aclmdlLoadFromFile [] (model_path: CString) [model_id: u32] status;
    mdl_load_from_mem = waits aclmdlLoadFromMem [] (model: Pointer, model_size: usize) [model_id: u32] status;
    mdl_load_with_config = waits aclmdlLoadWithConfig [] (config_handle: Pointer) [model_id: u32] status;
    mdl_query_size = waits aclmdlQuerySize [] (file_name: CString) [work_size: usize, weight_size: usize] status;
    mdl_query_size_from_mem = waits aclmdlQuerySizeFromMem [] (model: Pointer, model_size: usize) [work_size: usize, weight_size: usize] status;
    mdl_set_aipp_ax_swap_switch = returns aclmdlSetAIPPAxSwapSwitch [] (aipp: Pointer, switch: i8) [] status;
    mdl_set_aipp_by_input_index = returns aclmdlSetAIPPByInputIndex [] (model_id: u32, dataset: Pointer, index: usize, aipp: Pointer) [] status;
    mdl_set_aipp_crop_params = returns aclmdlSetAIPPCropParams [] (aipp: Pointer, switch: i8, start_w: i32, start_h: i32, size_w: i32, size_h: i32, batch_index: u64) [] status;
    mdl_set_aipp_csc_params = returns aclmdlSetAIPPCscParams [] (aipp: Pointer, csc_switch: i8, r0c0: i16, r0c1: i16, r0c2: i16, r1c0: i16, r1c1: i16, r1c2: i16, r2c0: i16, r2c1: i16, r2c2: i16, out_bias_r0: u8, out_bias_r1: u8, out_bias_r2: u8, in_bias_r0: u8, in_bias_r1: u8, in_bias_r2: u8) [] status;
    mdl_set_aipp_dtc_pixel_mean = returns aclmdlSetAIPPDtcPixelMean [] (aipp: Pointer, c0: i16, c1: i16, c2: i16, c3: i16, batch_index: u64) [] status;
    mdl_set_aipp_dtc_pixel_min = returns aclmdlSetAIPPDtcPixelMin [] (aipp: Pointer, c0: f32, c1: f32, c2: f32, c3: f32, batch_index: u64) [] status;
    mdl_set_aipp_input_format = returns aclmdlSetAIPPInputFormat [] (aipp: Pointer, input_format: i32) [] status;
    mdl_set_aipp_padding_params = returns aclmdlSetAIPPPaddingParams [] (aipp: Pointer, switch: i8, top: i32, bottom: i32, left: i32, right: i32, batch_index: u64) [] status;
    mdl_set_aipp_pixel_var_reci = returns aclmdlSetAIPPPixelVarReci [] (aipp: Pointer, c0: f32, c1: f32, c2: f32, c3: f32, batch_index: u64) [] status;
    mdl_set_aipp_rbuv_swap_switch = returns aclmdlSetAIPPRbuvSwapSwitch [] (aipp: Pointer, switch: i8) [] status;
    mdl_set_aipp_scf_params = returns aclmdlSetAIPPScfParams [] (aipp: Pointer, switch: i8, in_w: i32, in_h: i32, out_w: i32, out_h: i32, batch_index: u64) [] status;
    mdl_set_aipp_src_image_size = returns aclmdlSetAIPPSrcImageSize [] (aipp: Pointer, w: i32, h: i32) [] status;
    mdl_set_dynamic_batch_size = returns aclmdlSetDynamicBatchSize [] (model_id: u32, dataset: Pointer, index: usize, batch_size: u64) [] status;
    mdl_set_dynamic_hw_size = returns aclmdlSetDynamicHWSize [] (model_id: u32, dataset: Pointer, index: usize, height: u64, width: u64) [] status;
    mdl_set_input_aipp = returns aclmdlSetInputAIPP [] (model_id: u32, dataset: Pointer, index: usize, aipp: Pointer) [] status;
    mdl_unload = waits aclmdlUnload [] (model_id: u32) [] status;
}

fn mdl_add_dataset_buffer<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let dataset = call.get::<Pointer>(0)?;
    let data_buffer = call.get::<Pointer>(1)?;
    let ret = c_call!(call.returns aclmdlAddDatasetBuffer(Pointer, Pointer) -> i32, [dataset, data_buffer], or NOT_SUPPORTED);
    call.many(&[&dataset, &ret])
}

fn mdl_get_cur_output_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut dims = Record::<IoDims>::zeroed();
    let ret = c_call!(call.returns aclmdlGetCurOutputDims(Pointer, usize, Pointer) -> i32, [desc, index, dims.pointer()], or NOT_SUPPORTED);
    call.many(&[&dims.described(ret), &ret])
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

fn mdl_get_output_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let desc = call.get::<Pointer>(0)?;
    let index = call.get::<usize>(1)?;
    let mut dims = Record::<IoDims>::zeroed();
    let ret = c_call!(call.returns aclmdlGetOutputDims(Pointer, usize, Pointer) -> i32, [desc, index, dims.pointer()], or NOT_SUPPORTED);
    call.many(&[&dims.described(ret), &ret])
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

fn mdl_set_input_dynamic_dims<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let model_id = call.get::<u32>(0)?;
    let dataset = call.get::<Pointer>(1)?;
    let index = call.get::<usize>(2)?;
    let dims = call.get::<IoDimsIn>(3)?;
    let ret = c_call!(call.returns aclmdlSetInputDynamicDims(u32, Pointer, usize, Pointer) -> i32, [model_id, dataset, index, dims.pointer()], or NOT_SUPPORTED);
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

wrappers! {
    media_dvpp_clear_hist = returns acldvppClearHist [] (hist: Pointer) [] status;
    media_dvpp_create_batch_pic_desc = returns acldvppCreateBatchPicDesc [] (batch_size: u32) [] value(Pointer);
    media_dvpp_create_border_config = returns acldvppCreateBorderConfig [] () [] value(Pointer);
    media_dvpp_create_channel = waits acldvppCreateChannel [] (channel_desc: Pointer) [] status;
    media_dvpp_create_channel_desc = returns acldvppCreateChannelDesc [] () [] value(Pointer);
    media_dvpp_create_hist = returns acldvppCreateHist [] () [] value(Pointer);
    media_dvpp_create_jpege_config = returns acldvppCreateJpegeConfig [] () [] value(Pointer);
    media_dvpp_create_lut_map = returns acldvppCreateLutMap [] () [] value(Pointer);
    media_dvpp_create_pic_desc = returns acldvppCreatePicDesc [] () [] value(Pointer);
    media_dvpp_create_resize_config = returns acldvppCreateResizeConfig [] () [] value(Pointer);
    media_dvpp_create_roi_config = returns acldvppCreateRoiConfig [] (left: u32, right: u32, top: u32, bottom: u32) [] value(Pointer);
    media_dvpp_create_stream_desc = returns acldvppCreateStreamDesc [] () [] value(Pointer);
    media_dvpp_destroy_batch_pic_desc = returns acldvppDestroyBatchPicDesc [] (batch_pic_desc: Pointer) [] status;
    media_dvpp_destroy_border_config = returns acldvppDestroyBorderConfig [] (border_config: Pointer) [] status;
    media_dvpp_destroy_channel = waits acldvppDestroyChannel [] (channel_desc: Pointer) [] status;
    media_dvpp_destroy_channel_desc = returns acldvppDestroyChannelDesc [] (channel_desc: Pointer) [] status;
    media_dvpp_destroy_hist = returns acldvppDestroyHist [] (hist: Pointer) [] status;
    media_dvpp_destroy_jpege_config = returns acldvppDestroyJpegeConfig [] (jpege_config: Pointer) [] status;
    media_dvpp_destroy_lut_map = returns acldvppDestroyLutMap [] (lut_map: Pointer) [] status;
    media_dvpp_destroy_pic_desc = returns acldvppDestroyPicDesc [] (pic_desc: Pointer) [] status;
    media_dvpp_destroy_resize_config = returns acldvppDestroyResizeConfig [] (resize_config: Pointer) [] status;
    media_dvpp_destroy_roi_config = returns acldvppDestroyRoiConfig [] (roi_config: Pointer) [] status;
    media_dvpp_destroy_stream_desc = returns acldvppDestroyStreamDesc [] (stream_desc: Pointer) [] status;
    media_dvpp_free = waits acldvppFree [] (dev_ptr: Pointer) [] status;
    media_dvpp_get_border_config_border_type = returns acldvppGetBorderConfigBorderType [] (border_config: Pointer) [] value(i32);
    media_dvpp_get_border_config_bottom = returns acldvppGetBorderConfigBottom [] (border_config: Pointer) [] value(u32);
    media_dvpp_get_border_config_left = returns acldvppGetBorderConfigLeft [] (border_config: Pointer) [] value(u32);
    media_dvpp_get_border_config_right = returns acldvppGetBorderConfigRight [] (border_config: Pointer) [] value(u32);
    media_dvpp_get_border_config_top = returns acldvppGetBorderConfigTop [] (border_config: Pointer) [] value(u32);
    media_dvpp_get_border_config_value = returns acldvppGetBorderConfigValue [] (border_config: Pointer, index: u32) [] value(f64);
    media_dvpp_get_channel_desc_channel_id = returns acldvppGetChannelDescChannelId [] (channel_desc: Pointer) [] value(u64);
    media_dvpp_get_hist_data = returns acldvppGetHistData [] (hist: Pointer, dim: u32) [data: Pointer, len: u16] status;
    media_dvpp_get_hist_dims = returns acldvppGetHistDims [] (hist: Pointer) [] value(u32);
    media_dvpp_get_hist_ret_code = returns acldvppGetHistRetCode [] (hist: Pointer) [] value(u32);
    media_dvpp_get_jpege_config_level = returns acldvppGetJpegeConfigLevel [] (jpege_config: Pointer) [] value(u32);
    media_dvpp_get_lut_map_data = returns acldvppGetLutMapData [] (lut_map: Pointer, dim: u32) [data: Pointer, len: u32] status;
    media_dvpp_get_lut_map_dims = returns acldvppGetLutMapDims [] (lut_map: Pointer) [] value(u32);
    media_dvpp_get_pic_desc = returns acldvppGetPicDesc [] (batch_pic_desc: Pointer, index: u32) [] value(Pointer);
    media_dvpp_get_pic_desc_data = returns acldvppGetPicDescData [] (pic_desc: Pointer) [] value(Pointer);
    media_dvpp_get_pic_desc_format = returns acldvppGetPicDescFormat [] (pic_desc: Pointer) [] value(i32);
    media_dvpp_get_pic_desc_height = returns acldvppGetPicDescHeight [] (pic_desc: Pointer) [] value(u32);
    media_dvpp_get_pic_desc_height_stride = returns acldvppGetPicDescHeightStride [] (pic_desc: Pointer) [] value(u32);
    media_dvpp_get_pic_desc_ret_code = returns acldvppGetPicDescRetCode [] (pic_desc: Pointer) [] value(u32);
    media_dvpp_get_pic_desc_size = returns acldvppGetPicDescSize [] (pic_desc: Pointer) [] value(u32);
    media_dvpp_get_pic_desc_width = returns acldvppGetPicDescWidth [] (pic_desc: Pointer) [] value(u32);
    media_dvpp_get_pic_desc_width_stride = returns acldvppGetPicDescWidthStride [] (pic_desc: Pointer) [] value(u32);
    media_dvpp_get_resize_config_interpolation = returns acldvppGetResizeConfigInterpolation [] (resize_config: Pointer) [] value(u32);
    media_dvpp_get_stream_desc_data = returns acldvppGetStreamDescData [] (stream_desc: Pointer) [] value(Pointer);
    media_dvpp_get_stream_desc_eos = returns acldvppGetStreamDescEos [] (stream_desc: Pointer) [] value(u8);
    media_dvpp_get_stream_desc_format = returns acldvppGetStreamDescFormat [] (stream_desc: Pointer) [] value(i32);
    media_dvpp_get_stream_desc_ret_code = returns acldvppGetStreamDescRetCode [] (stream_desc: Pointer) [] value(u32);
    media_dvpp_get_stream_desc_size = returns acldvppGetStreamDescSize [] (stream_desc: Pointer) [] value(u32);
    media_dvpp_get_stream_desc_timestamp = returns acldvppGetStreamDescTimestamp [] (stream_desc: Pointer) [] value(u64);
    media_dvpp_jpeg_decode_async = waits acldvppJpegDecodeAsync [] (channel_desc: Pointer, data: Pointer, size: u32, output_desc: Pointer, stream: Pointer) [] status;
    media_dvpp_jpeg_encode_async = waits acldvppJpegEncodeAsync [] (channel_desc: Pointer, pic_desc: Pointer, data: Pointer, size_ptr: Pointer, config: Pointer, stream: Pointer) [] status;
    media_dvpp_jpeg_get_image_info = returns acldvppJpegGetImageInfo [] (data: Pointer, size: u32) [width: u32, height: u32, components: i32] status;
    media_dvpp_jpeg_get_image_info_v2 = returns acldvppJpegGetImageInfoV2 [] (data: Pointer, size: u32) [width: u32, height: u32, components: i32, format: i32] status;
    media_dvpp_jpeg_predict_dec_size = returns acldvppJpegPredictDecSize [] (data: Pointer, size: u32, format: i32) [dec_size: u32] status;
    media_dvpp_jpeg_predict_enc_size = returns acldvppJpegPredictEncSize [] (pic_desc: Pointer, config: Pointer) [size: u32] status;
    media_dvpp_malloc = waits acldvppMalloc [dev_ptr: Pointer] (size: usize) [] status;
    media_dvpp_malloc_with_cfg = waits acldvppMallocWithCfg [dev_ptr: Pointer] (size: usize, policy: i32, cfg: Pointer) [] status;
    media_dvpp_png_decode_async = waits acldvppPngDecodeAsync [] (channel_desc: Pointer, data: Pointer, size: u32, output_desc: Pointer, stream: Pointer) [] status;
    media_dvpp_png_get_image_info = returns acldvppPngGetImageInfo [] (data: Pointer, data_size: u32) [width: u32, height: u32, components: i32] status;
    media_dvpp_png_predict_dec_size = returns acldvppPngPredictDecSize [] (data: Pointer, data_size: u32, output_pixel_format: i32) [dec_size: u32] status;
    media_dvpp_set_border_config_border_type = returns acldvppSetBorderConfigBorderType [] (border_config: Pointer, border_type: i32) [] status;
    media_dvpp_set_border_config_bottom = returns acldvppSetBorderConfigBottom [] (border_config: Pointer, bottom: u32) [] status;
    media_dvpp_set_border_config_left = returns acldvppSetBorderConfigLeft [] (border_config: Pointer, left: u32) [] status;
    media_dvpp_set_border_config_right = returns acldvppSetBorderConfigRight [] (border_config: Pointer, right: u32) [] status;
    media_dvpp_set_border_config_top = returns acldvppSetBorderConfigTop [] (border_config: Pointer, top: u32) [] status;
    media_dvpp_set_border_config_value = returns acldvppSetBorderConfigValue [] (border_config: Pointer, index: u32, value: f64) [] status;
    media_dvpp_set_channel_desc_mode = returns acldvppSetChannelDescMode [] (channel_desc: Pointer, mode: u32) [] status;
    media_dvpp_set_channel_desc_param = returns acldvppSetChannelDescParam [] (channel_desc: Pointer, param_type: i32, length: usize, param: Pointer) [] status;
    media_dvpp_set_jpege_config_level = returns acldvppSetJpegeConfigLevel [] (jpege_config: Pointer, level: u32) [] status;
    media_dvpp_set_pic_desc_data = returns acldvppSetPicDescData [] (pic_desc: Pointer, data_dev: Pointer) [] status;
    media_dvpp_set_pic_desc_format = returns acldvppSetPicDescFormat [] (pic_desc: Pointer, format: i32) [] status;
    media_dvpp_set_pic_desc_height = returns acldvppSetPicDescHeight [] (pic_desc: Pointer, height: u32) [] status;
    media_dvpp_set_pic_desc_height_stride = returns acldvppSetPicDescHeightStride [] (pic_desc: Pointer, height_stride: u32) [] status;
    media_dvpp_set_pic_desc_ret_code = returns acldvppSetPicDescRetCode [] (pic_desc: Pointer, ret_code: u32) [] status;
    media_dvpp_set_pic_desc_size = returns acldvppSetPicDescSize [] (pic_desc: Pointer, size: u32) [] status;
    media_dvpp_set_pic_desc_width = returns acldvppSetPicDescWidth [] (pic_desc: Pointer, width: u32) [] status;
    media_dvpp_set_pic_desc_width_stride = returns acldvppSetPicDescWidthStride [] (pic_desc: Pointer, width_stride: u32) [] status;
    media_dvpp_set_resize_config_interpolation = returns acldvppSetResizeConfigInterpolation [] (resize_config: Pointer, interpolation: u32) [] status;
    media_dvpp_set_roi_config = returns acldvppSetRoiConfig [] (config: Pointer, left: u32, right: u32, top: u32, bottom: u32) [] status;
    media_dvpp_set_roi_config_bottom = returns acldvppSetRoiConfigBottom [] (config: Pointer, bottom: u32) [] status;
    media_dvpp_set_roi_config_left = returns acldvppSetRoiConfigLeft [] (config: Pointer, left: u32) [] status;
    media_dvpp_set_roi_config_right = returns acldvppSetRoiConfigRight [] (config: Pointer, right: u32) [] status;
    media_dvpp_set_roi_config_top = returns acldvppSetRoiConfigTop [] (config: Pointer, top: u32) [] status;
    media_dvpp_set_stream_desc_data = returns acldvppSetStreamDescData [] (stream_desc: Pointer, data_dev: Pointer) [] status;
    media_dvpp_set_stream_desc_eos = returns acldvppSetStreamDescEos [] (stream_desc: Pointer, eos: u8) [] status;
    media_dvpp_set_stream_desc_format = returns acldvppSetStreamDescFormat [] (stream_desc: Pointer, format: i32) [] status;
    media_dvpp_set_stream_desc_ret_code = returns acldvppSetStreamDescRetCode [] (stream_desc: Pointer, ret_code: u32) [] status;
    media_dvpp_set_stream_desc_size = returns acldvppSetStreamDescSize [] (stream_desc: Pointer, size: u32) [] status;
    media_dvpp_set_stream_desc_timestamp = returns acldvppSetStreamDescTimestamp [] (stream_desc: Pointer, timestamp: u64) [] status;
    media_dvpp_vpc_calc_hist_async = waits acldvppVpcCalcHistAsync [] (channel_desc: Pointer, src_pic_desc: Pointer, hist: Pointer, reserve: Pointer, stream: Pointer) [] status;
    media_dvpp_vpc_convert_color_async = waits acldvppVpcConvertColorAsync [] (channel_desc: Pointer, input_desc: Pointer, output_desc: Pointer, stream: Pointer) [] status;
    media_dvpp_vpc_crop_and_paste_async = waits acldvppVpcCropAndPasteAsync [] (channel_desc: Pointer, input_desc: Pointer, output_desc: Pointer, crop_area: Pointer, paste_area: Pointer, stream: Pointer) [] status;
    media_dvpp_vpc_crop_async = waits acldvppVpcCropAsync [] (channel_desc: Pointer, input_desc: Pointer, output_desc: Pointer, crop_area: Pointer, stream: Pointer) [] status;
    media_dvpp_vpc_crop_resize_async = waits acldvppVpcCropResizeAsync [] (channel_desc: Pointer, input_desc: Pointer, output_desc: Pointer, crop_area: Pointer, resize_config: Pointer, stream: Pointer) [] status;
    media_dvpp_vpc_crop_resize_paste_async = waits acldvppVpcCropResizePasteAsync [] (channel_desc: Pointer, input_desc: Pointer, output_desc: Pointer, crop_area: Pointer, paste_area: Pointer, resize_config: Pointer, stream: Pointer) [] status;
    media_dvpp_vpc_equalize_hist_async = waits acldvppVpcEqualizeHistAsync [] (channel_desc: Pointer, input_desc: Pointer, output_desc: Pointer, lut_map: Pointer, stream: Pointer) [] status;
    media_dvpp_vpc_make_border_async = waits acldvppVpcMakeBorderAsync [] (channel_desc: Pointer, input_desc: Pointer, output_desc: Pointer, border_config: Pointer, stream: Pointer) [] status;
    media_dvpp_vpc_pyr_down_async = waits acldvppVpcPyrDownAsync [] (channel_desc: Pointer, input_desc: Pointer, output_desc: Pointer, reserve: Pointer, stream: Pointer) [] status;
    media_dvpp_vpc_resize_async = waits acldvppVpcResizeAsync [] (channel_desc: Pointer, input_desc: Pointer, output_desc: Pointer, resize_config: Pointer, stream: Pointer) [] status;
    media_vdec_create_channel = waits aclvdecCreateChannel [] (channel_desc: Pointer) [] status;
    media_vdec_create_channel_desc = returns aclvdecCreateChannelDesc [] () [] value(Pointer);
    media_vdec_create_frame_config = returns aclvdecCreateFrameConfig [] () [] value(Pointer);
    media_vdec_destroy_channel = waits aclvdecDestroyChannel [] (channel_desc: Pointer) [] status;
    media_vdec_destroy_frame_config = waits aclvdecDestroyFrameConfig [] (vdec_frame_config: Pointer) [] status;
    media_vdec_get_channel_desc_bit_depth = returns aclvdecGetChannelDescBitDepth [] (channel_desc: Pointer) [] value(u32);
    media_vdec_get_channel_desc_channel_id = returns aclvdecGetChannelDescChannelId [] (channel_desc: Pointer) [] value(u32);
    media_vdec_get_channel_desc_entype = returns aclvdecGetChannelDescEnType [] (channel_desc: Pointer) [] value(i32);
    media_vdec_get_channel_desc_out_mode = returns aclvdecGetChannelDescOutMode [] (channel_desc: Pointer) [] value(u32);
    media_vdec_get_channel_desc_out_pic_format = returns aclvdecGetChannelDescOutPicFormat [] (channel_desc: Pointer) [] value(i32);
    media_vdec_get_channel_desc_out_pic_height = returns aclvdecGetChannelDescOutPicHeight [] (channel_desc: Pointer) [] value(u32);
    media_vdec_get_channel_desc_out_pic_width = returns aclvdecGetChannelDescOutPicWidth [] (channel_desc: Pointer) [] value(u32);
    media_vdec_get_channel_desc_ref_frame_num = returns aclvdecGetChannelDescRefFrameNum [] (channel_desc: Pointer) [] value(u32);
    media_vdec_get_channel_desc_thread_id = returns aclvdecGetChannelDescThreadId [] (channel_desc: Pointer) [] value(u64);
    media_vdec_set_channel_desc_bit_depth = returns aclvdecSetChannelDescBitDepth [] (channel_desc: Pointer, bit_depth: u32) [] status;
    media_vdec_set_channel_desc_channel_id = returns aclvdecSetChannelDescChannelId [] (channel_desc: Pointer, channel_id: u32) [] status;
    media_vdec_set_channel_desc_entype = returns aclvdecSetChannelDescEnType [] (channel_desc: Pointer, en_type: i32) [] status;
    media_vdec_set_channel_desc_out_mode = returns aclvdecSetChannelDescOutMode [] (channel_desc: Pointer, out_mode: u32) [] status;
    media_vdec_set_channel_desc_out_pic_format = returns aclvdecSetChannelDescOutPicFormat [] (channel_desc: Pointer, out_pic_format: i32) [] status;
    media_vdec_set_channel_desc_out_pic_height = returns aclvdecSetChannelDescOutPicHeight [] (channel_desc: Pointer, out_pic_height: u32) [] status;
    media_vdec_set_channel_desc_out_pic_width = returns aclvdecSetChannelDescOutPicWidth [] (channel_desc: Pointer, out_pic_width: u32) [] status;
    media_vdec_set_channel_desc_param = returns aclvdecSetChannelDescParam [] (channel_desc: Pointer, param_type: i32, length: usize, param: Pointer) [] status;
    media_vdec_set_channel_desc_ref_frame_num = returns aclvdecSetChannelDescRefFrameNum [] (channel_desc: Pointer, ref_frame_num: u32) [] status;
    media_vdec_set_channel_desc_thread_id = returns aclvdecSetChannelDescThreadId [] (channel_desc: Pointer, thread_id: u64) [] status;
    media_venc_create_channel = waits aclvencCreateChannel [] (channel_desc: Pointer) [] status;
    media_venc_create_channel_desc = returns aclvencCreateChannelDesc [] () [] value(Pointer);
    media_venc_create_frame_config = returns aclvencCreateFrameConfig [] () [] value(Pointer);
    media_venc_destroy_channel = waits aclvencDestroyChannel [] (channel_desc: Pointer) [] status;
    media_venc_destroy_frame_config = waits aclvencDestroyFrameConfig [] (config: Pointer) [] status;
    media_venc_get_channel_desc_buf_addr = returns aclvencGetChannelDescBufAddr [] (channel_desc: Pointer) [] value(Pointer);
    media_venc_get_channel_desc_buf_size = returns aclvencGetChannelDescBufSize [] (channel_desc: Pointer) [] value(u32);
    media_venc_get_channel_desc_channel_id = returns aclvencGetChannelDescChannelId [] (channel_desc: Pointer) [] value(u32);
    media_venc_get_channel_desc_entype = returns aclvencGetChannelDescEnType [] (channel_desc: Pointer) [] value(i32);
    media_venc_get_channel_desc_key_frame_interval = returns aclvencGetChannelDescKeyFrameInterval [] (channel_desc: Pointer) [] value(u32);
    media_venc_get_channel_desc_max_bit_rate = returns aclvencGetChannelDescMaxBitRate [] (channel_desc: Pointer) [] value(u32);
    media_venc_get_channel_desc_pic_format = returns aclvencGetChannelDescPicFormat [] (channel_desc: Pointer) [] value(i32);
    media_venc_get_channel_desc_pic_height = returns aclvencGetChannelDescPicHeight [] (channel_desc: Pointer) [] value(u32);
    media_venc_get_channel_desc_pic_width = returns aclvencGetChannelDescPicWidth [] (channel_desc: Pointer) [] value(u32);
    media_venc_get_channel_desc_rc_mode = returns aclvencGetChannelDescRcMode [] (channel_desc: Pointer) [] value(u32);
    media_venc_get_channel_desc_src_rate = returns aclvencGetChannelDescSrcRate [] (channel_desc: Pointer) [] value(u32);
    media_venc_get_channel_desc_thread_id = returns aclvencGetChannelDescThreadId [] (channel_desc: Pointer) [] value(u64);
    media_venc_get_frame_config_eos = returns aclvencGetFrameConfigEos [] (config: Pointer) [] value(u8);
    media_venc_get_frame_config_force_i_frame = returns aclvencGetFrameConfigForceIFrame [] (config: Pointer) [] value(u8);
    media_venc_set_channel_desc_buf_addr = returns aclvencSetChannelDescBufAddr [] (channel_desc: Pointer, buf_addr: Pointer) [] status;
    media_venc_set_channel_desc_buf_size = returns aclvencSetChannelDescBufSize [] (channel_desc: Pointer, buf_size: u32) [] status;
    media_venc_set_channel_desc_entype = returns aclvencSetChannelDescEnType [] (channel_desc: Pointer, en_type: i32) [] status;
    media_venc_set_channel_desc_key_frame_interval = returns aclvencSetChannelDescKeyFrameInterval [] (channel_desc: Pointer, key_frame_interval: u32) [] status;
    media_venc_set_channel_desc_max_bit_rate = returns aclvencSetChannelDescMaxBitRate [] (channel_desc: Pointer, max_bit_rate: u32) [] status;
    media_venc_set_channel_desc_param = returns aclvencSetChannelDescParam [] (channel_desc: Pointer, param_type: i32, length: usize, param: Pointer) [] status;
    media_venc_set_channel_desc_pic_format = returns aclvencSetChannelDescPicFormat [] (channel_desc: Pointer, pic_format: i32) [] status;
    media_venc_set_channel_desc_pic_height = returns aclvencSetChannelDescPicHeight [] (channel_desc: Pointer, pic_height: u32) [] status;
    media_venc_set_channel_desc_pic_width = returns aclvencSetChannelDescPicWidth [] (channel_desc: Pointer, pic_width: u32) [] status;
    media_venc_set_channel_desc_rc_mode = returns aclvencSetChannelDescRcMode [] (channel_desc: Pointer, rc_mode: u32) [] status;
    media_venc_set_channel_desc_src_rate = returns aclvencSetChannelDescSrcRate [] (channel_desc: Pointer, src_rate: u32) [] status;
    media_venc_set_channel_desc_thread_id = returns aclvencSetChannelDescThreadId [] (channel_desc: Pointer, thread_id: u64) [] status;
    media_venc_set_frame_config_eos = returns aclvencSetFrameConfigEos [] (config: Pointer, eos: u8) [] status;
    media_venc_set_frame_config_force_i_frame = returns aclvencSetFrameConfigForceIFrame [] (config: Pointer, force_i_frame: u8) [] status;
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

wrappers! {
    op_cast = waits aclopCast [] (src_desc: Pointer, src_buffer: Pointer, dst_desc: Pointer, dst_buffer: Pointer, truncate: u8, stream: Pointer) [] status;
    op_create_attr = returns aclopCreateAttr [] () [] value(Pointer);
    op_create_handle_for_cast = returns aclopCreateHandleForCast [] (src_desc: Pointer, dst_desc: Pointer, truncate: u8) [handle: Pointer] status;
    op_create_kernel = returns aclopCreateKernel [] (op_type: CString, kernel_id: CString, kernel_name: CString, bin_data: Pointer, bin_size: i32, enginetype: i32, deallocator: Pointer) [] status;
    op_destroy_attr = returns aclopDestroyAttr [] (attr: Pointer) [] nothing;
    op_destroy_handle = waits aclopDestroyHandle [] (handle: Pointer) [] nothing;
    op_load = waits aclopLoad [] (model: Pointer, model_size: usize) [] status;
    op_set_attr_bool = returns aclopSetAttrBool [] (attr: Pointer, attr_name: CString, attr_value: u8) [] status;
    op_set_attr_data_type = returns aclopSetAttrDataType [] (attr: Pointer, attr_name: CString, attr_value: i32) [] status;
    op_set_attr_float = returns aclopSetAttrFloat [] (attr: Pointer, attr_name: CString, attr_value: f32) [] status;
    op_set_attr_int = returns aclopSetAttrInt [] (attr: Pointer, attr_name: CString, attr_value: i64) [] status;
    op_set_attr_string = returns aclopSetAttrString [] (attr: Pointer, attr_name: CString, attr_value: CString) [] status;
    op_set_kernel_args = returns aclopSetKernelArgs [] (kernel_desc: Pointer, kernel_id: CString, block_dim: u32, args: Pointer, arg_size: u32) [] status;
    op_set_max_op_queue_num = returns aclopSetMaxOpQueueNum [] (max_op_num: u64) [] status;
    op_set_model_dir = returns aclopSetModelDir [] (model_dir: CString) [] status;
    op_start_dump_args = waits aclopStartDumpArgs [] (dump_type: u32, path: CString) [] status;
    op_stop_dump_args = waits aclopStopDumpArgs [] (dump_type: u32) [] status;
    op_unregister_compile_func = waits aclopUnregisterCompileFunc [] (op_type: CString) [] status;
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

fn op_register_compile_func<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    call.get::<CString>(0)?;
    call.get::<AnyCallable>(1)?;
    let ret = call.unsupported("acl.op.register_compile_func");
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

wrappers! {
    blas_create_handle_for_gemm_ex = returns aclblasCreateHandleForGemmEx [] (trans_a: i32, trans_b: i32, trans_c: i32, m: i32, n: i32, k: i32, data_type_a: i32, data_type_b: i32, data_type_c: i32, type_: i32) [handle: Pointer] status;
    blas_create_handle_for_gemv_ex = returns aclblasCreateHandleForGemvEx [] (trans_a: i32, m: i32, n: i32, data_type_a: i32, data_type_x: i32, data_type_y: i32, type_: i32) [handle: Pointer] status;
    blas_create_handle_for_hgemm = returns aclblasCreateHandleForHgemm [] (trans_a: i32, trans_b: i32, trans_c: i32, m: i32, n: i32, k: i32, type_: i32) [handle: Pointer] status;
    blas_create_handle_for_hgemv = returns aclblasCreateHandleForHgemv [] (trans_a: i32, m: i32, n: i32, type_: i32) [handle: Pointer] status;
    blas_create_handle_for_s8gemm = returns aclblasCreateHandleForS8gemm [] (trans_a: i32, trans_b: i32, trans_c: i32, m: i32, n: i32, k: i32, type_: i32) [handle: Pointer] status;
    blas_create_handle_for_s8gemv = returns aclblasCreateHandleForS8gemv [] (trans_a: i32, m: i32, n: i32, type_: i32) [handle: Pointer] status;
    blas_gemm_ex = waits aclblasGemmEx [] (trans_a: i32, trans_b: i32, trans_c: i32, m: i32, n: i32, k: i32, alpha: Pointer, matrix_a: Pointer, lda: i32, data_type_a: i32, matrix_b: Pointer, ldb: i32, data_type_b: i32, beta: Pointer, matrix_c: Pointer, ldc: i32, data_type_c: i32, type_: i32, stream: Pointer) [] status;
    blas_gemv_ex = waits aclblasGemvEx [] (trans_a: i32, m: i32, n: i32, alpha: Pointer, a: Pointer, lda: i32, data_type_a: i32, x: Pointer, incx: i32, data_type_x: i32, beta: Pointer, y: Pointer, incy: i32, data_type_y: i32, type_: i32, stream: Pointer) [] status;
    blas_hgemm = waits aclblasHgemm [] (trans_a: i32, trans_b: i32, trans_c: i32, m: i32, n: i32, k: i32, alpha: Pointer, matrix_a: Pointer, lda: i32, matrix_b: Pointer, ldb: i32, beta: Pointer, matrix_c: Pointer, ldc: i32, type_: i32, stream: Pointer) [] status;
    blas_hgemv = waits aclblasHgemv [] (trans_a: i32, m: i32, n: i32, alpha: Pointer, a: Pointer, lda: i32, x: Pointer, incx: i32, beta: Pointer, y: Pointer, incy: i32, type_: i32, stream: Pointer) [] status;
    blas_s8gemm = waits aclblasS8gemm [] (trans_a: i32, trans_b: i32, trans_c: i32, m: i32, n: i32, k: i32, alpha: Pointer, matrix_a: Pointer, lda: i32, matrix_b: Pointer, ldb: i32, beta: Pointer, matrix_c: Pointer, ldc: i32, type_: i32, stream: Pointer) [] status;
    blas_s8gemv = waits aclblasS8gemv [] (trans_a: i32, m: i32, n: i32, alpha: Pointer, a: Pointer, lda: i32, x: Pointer, incx: i32, beta: Pointer, y: Pointer, incy: i32, type_: i32, stream: Pointer) [] status;
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

wrappers! {
}

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

wrappers! {
    prof_create_stamp = returns aclprofCreateStamp [] () [] value(Pointer);
    prof_create_subscribe_config = waits aclprofCreateSubscribeConfig [] (time_info_switch: i8, aicore_metrics: i32, fd: Pointer) [] value(Pointer);
    prof_destroy_config = returns aclprofDestroyConfig [] (config: Pointer) [] status;
    prof_destroy_stamp = returns aclprofDestroyStamp [] (stamp: Pointer) [] nothing;
    prof_destroy_subscribe_config = waits aclprofDestroySubscribeConfig [] (subscribe_config: Pointer) [] status;
    prof_finalize = waits aclprofFinalize [] () [] status;
    prof_get_op_desc_size = returns aclprofGetOpDescSize [op_desc_size: usize] () [] status;
    prof_get_op_num = returns aclprofGetOpNum [] (op_info: Pointer, op_info_len: usize) [op_num: u32] status;
    prof_mark = returns aclprofMark [] (stamp: Pointer) [] status;
    prof_model_subscribe = waits aclprofModelSubscribe [] (model_id: u32, subscribe_config: Pointer) [] status;
    prof_model_unsubscribe = waits aclprofModelUnSubscribe [] (model_id: u32) [] status;
    prof_pop = returns aclprofPop [] () [] status;
    prof_push = returns aclprofPush [] (stamp: Pointer) [] status;
    prof_set_stamp_trace_message = returns aclprofSetStampTraceMessage [] (stamp: Pointer, msg: Pointer, msg_len: u32) [] status;
    prof_start = waits aclprofStart [] (config: Pointer) [] status;
    prof_stop = waits aclprofStop [] (config: Pointer) [] status;
}

fn prof_create_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let device_list = call.get::<Vec<u32>>(0)?;
    let aicore_metrics = call.get::<i32>(1)?;
    let aicore_events = call.get::<Pointer>(2)?;
    let data_type_config = call.get::<u64>(3)?;
    let ret = c_call!(call.returns aclprofCreateConfig(*const u32, u32, i32, Pointer, u64) -> Pointer, [device_list.as_ptr(), saturated(device_list.count()), aicore_metrics, aicore_events, data_type_config], or Default::default());
    call.one(&ret)
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

fn prof_set_config<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let config_type = call.get::<i32>(0)?;
    let config = call.get::<CString>(1)?;
    let ret = c_call!(call.returns aclprofSetConfig(i32, *const c_char, usize) -> i32, [config_type, config.as_ptr(), saturated(config.count())], or NOT_SUPPORTED);
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

wrappers! {
    himpi_dvpp_free = waits hi_mpi_dvpp_free [] (addr: Pointer) [] media_status;
    himpi_pngd_destroy_chn = waits hi_mpi_pngd_destroy_chn [] (chn: i32) [] media_status;
    himpi_sys_close_epoll = returns hi_mpi_sys_close_epoll [] (epoll_fd: i32) [] media_status;
    himpi_sys_create_epoll = returns hi_mpi_sys_create_epoll [] (size: i32) [epoll_fd: i32] media_status;
    himpi_sys_exit = returns hi_mpi_sys_exit [] () [] media_status;
    himpi_sys_init = returns hi_mpi_sys_init [] () [] media_status;
    himpi_vdec_destroy_chn = waits hi_mpi_vdec_destroy_chn [] (chn: i32) [] media_status;
    himpi_vdec_get_fd = returns hi_mpi_vdec_get_fd [] (chn: i32) [] value(i32);
    himpi_vdec_get_tmv_buf_size = returns hi_vdec_get_tmv_buf_size [] (type_: u32, width: u32, height: u32) [] value(u32);
    himpi_vdec_reset_chn = waits hi_mpi_vdec_reset_chn [] (chn: i32) [] media_status;
    himpi_vdec_start_recv_stream = returns hi_mpi_vdec_start_recv_stream [] (chn: i32) [] media_status;
    himpi_vdec_stop_recv_stream = returns hi_mpi_vdec_stop_recv_stream [] (chn: i32) [] media_status;
    himpi_venc_close_fd = returns hi_mpi_venc_close_fd [] (chn: i32) [] media_status;
    himpi_venc_destroy_chn = waits hi_mpi_venc_destroy_chn [] (chn: i32) [] media_status;
    himpi_venc_get_fd = returns hi_mpi_venc_get_fd [] (chn: i32) [] value(i32);
    himpi_venc_get_scene_mode = returns hi_mpi_venc_get_scene_mode [] (chn: i32) [scene_mode: u32] media_status;
    himpi_venc_request_idr = returns hi_mpi_venc_request_idr [] (chn: i32, instant: u32) [] media_status;
    himpi_venc_set_scene_mode = returns hi_mpi_venc_set_scene_mode [] (chn: i32, scene_mode: u32) [] media_status;
    himpi_venc_stop_chn = returns hi_mpi_venc_stop_chn [] (chn: i32) [] media_status;
    himpi_vpc_destroy_chn = waits hi_mpi_vpc_destroy_chn [] (chn: i32) [] media_status;
    himpi_vpc_get_process_result = waits hi_mpi_vpc_get_process_result [] (chn: i32, task_id: u32, milli_sec: i32) [] media_status;
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

fn himpi_sys_ctl_epoll<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(4, 4)?;
    let epoll_fd = call.get::<i32>(0)?;
    let operation = call.get::<i32>(1)?;
    let fd = call.get::<i32>(2)?;
    let event = Structure::parse(&call.object(3)?, &HI_DVPP_EPOLL_EVENT)?;
    let ret = c_call!(call.returns hi_mpi_sys_ctl_epoll(i32, i32, i32, Pointer) -> i32, [epoll_fd, operation, fd, event.pointer()], or NOT_SUPPORTED);
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

fn himpi_venc_create_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let attr = Structure::parse(&call.object(1)?, &HI_VENC_CHN_ATTR)?;
    let ret = c_call!(call.returns hi_mpi_venc_create_chn(i32, Pointer) -> i32, [chn, attr.pointer()], or NOT_SUPPORTED);
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

fn himpi_venc_start_chn<'py>(call: &Args<'py>) -> Answer<'py> {
    call.expect(2, 2)?;
    let chn = call.get::<i32>(0)?;
    let recv_param = Structure::parse(&call.object(1)?, &HI_VENC_START_PARAM)?;
    let ret = c_call!(call.returns hi_mpi_venc_start_chn(i32, Pointer) -> i32, [chn, recv_param.pointer()], or NOT_SUPPORTED);
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

wrappers! {
    fv_create_init_para = waits aclfvCreateInitPara [] (fs_num: u64) [] value(Pointer);
    fv_init = waits aclfvInit [] (init_para: Pointer) [] status;
}

static FV: Table = Table::new(&[
    method!(c"create_init_para", fv_create_init_para, c"acl.fv.create_init_para args parse failed", c"create_init_para($module, fs_num, /)\n--\n\nCalls aclfvCreateInitPara.\n\nReturns int."),
    method!(c"init", fv_init, c"acl.fv.init args parse failed", c"init($module, init_para, /)\n--\n\nCalls aclfvInit.\n\nReturns int."),
    END,
]);

pub(super) static HI_DVPP_EPOLL_EVENT: Layout = Layout { size: 16, fields: &[Field::new("events", 0, Kind::Unsigned(4)), Field::new("data", 8, Kind::Unsigned(8))] };

pub(super) static HI_IMG_ALIGN_INFO: Layout = Layout { size: 32, fields: &[Field::new("width_stride", 0, Kind::Unsigned(4)), Field::new("height_stride", 4, Kind::Unsigned(4)), Field::new("img_buf_size", 8, Kind::Unsigned(8)), Field::new("reserved", 16, Kind::Array(&Kind::Unsigned(8), 8, 2))] };

pub(super) static HI_IMG_BASE_INFO: Layout = Layout { size: 32, fields: &[Field::new("width", 0, Kind::Unsigned(4)), Field::new("height", 4, Kind::Unsigned(4)), Field::new("pixel_format", 8, Kind::Unsigned(4)), Field::new("reserved", 16, Kind::Array(&Kind::Unsigned(8), 8, 2))] };

pub(super) static HI_IMG_INFO: Layout = Layout { size: 40, fields: &[Field::new("width", 0, Kind::Unsigned(4)), Field::new("height", 4, Kind::Unsigned(4)), Field::new("width_stride", 8, Kind::Unsigned(4)), Field::new("height_stride", 12, Kind::Unsigned(4)), Field::new("img_buf_size", 16, Kind::Unsigned(4)), Field::new("pixel_format", 20, Kind::Unsigned(4)), Field::new("png_pixel_format", 20, Kind::Unsigned(4)), Field::new("reserved", 24, Kind::Array(&Kind::Unsigned(4), 4, 4))] };

pub(super) static HI_IMG_STREAM: Layout = Layout { size: 40, fields: &[Field::new("type", 0, Kind::Unsigned(4)), Field::new("addr", 8, Kind::Unsigned(8)), Field::new("len", 16, Kind::Unsigned(4)), Field::new("pts", 24, Kind::Unsigned(8)), Field::new("reserved", 32, Kind::Array(&Kind::Signed(4), 4, 2))] };

pub(super) static HI_PIC_BUF_ATTR: Layout = Layout { size: 24, fields: &[Field::new("width", 0, Kind::Unsigned(4)), Field::new("height", 4, Kind::Unsigned(4)), Field::new("align", 8, Kind::Unsigned(4)), Field::new("bit_width", 12, Kind::Unsigned(4)), Field::new("pixel_format", 16, Kind::Unsigned(4)), Field::new("compress_mode", 20, Kind::Unsigned(4))] };

pub(super) static HI_PIC_INFO: Layout = Layout { size: 32, fields: &[Field::new("picture_address", 0, Kind::Unsigned(8)), Field::new("picture_buffer_size", 8, Kind::Unsigned(4)), Field::new("picture_width", 12, Kind::Unsigned(4)), Field::new("picture_height", 16, Kind::Unsigned(4)), Field::new("picture_width_stride", 20, Kind::Unsigned(4)), Field::new("picture_height_stride", 24, Kind::Unsigned(4)), Field::new("picture_format", 28, Kind::Unsigned(4))] };

pub(super) static HI_PNGD_CHN_ATTR: Layout = Layout { size: 40, fields: &[Field::new("stream_que_cnt", 0, Kind::Unsigned(4)), Field::new("reserved", 8, Kind::Array(&Kind::Unsigned(8), 8, 4))] };

pub(super) static HI_ROTATE_PARAM: Layout = Layout { size: 72, fields: &[Field::new("src", 0, Kind::Structure(&HI_VPC_PIC_INFO)), Field::new("dst", 32, Kind::Structure(&HI_VPC_PIC_INFO)), Field::new("angle", 64, Kind::Unsigned(4))] };

pub(super) static HI_VPC_PIC_INFO: Layout = Layout { size: 32, fields: &[Field::new("picture_address", 0, Kind::Unsigned(8)), Field::new("picture_buffer_size", 8, Kind::Unsigned(4)), Field::new("picture_width", 12, Kind::Unsigned(4)), Field::new("picture_height", 16, Kind::Unsigned(4)), Field::new("picture_width_stride", 20, Kind::Unsigned(4)), Field::new("picture_height_stride", 24, Kind::Unsigned(4)), Field::new("picture_format", 28, Kind::Unsigned(4))] };

pub(super) static HI_VDEC_CHN_ATTR: Layout = Layout { size: 40, fields: &[Field::new("type", 0, Kind::Unsigned(4)), Field::new("mode", 4, Kind::Unsigned(4)), Field::new("pic_width", 8, Kind::Unsigned(4)), Field::new("pic_height", 12, Kind::Unsigned(4)), Field::new("stream_buf_size", 16, Kind::Unsigned(4)), Field::new("frame_buf_size", 20, Kind::Unsigned(4)), Field::new("frame_buf_cnt", 24, Kind::Unsigned(4)), Field::new("video_attr", 28, Kind::Structure(&HI_VDEC_VIDEO_ATTR))] };

pub(super) static HI_VDEC_VIDEO_ATTR: Layout = Layout { size: 12, fields: &[Field::new("ref_frame_num", 0, Kind::Unsigned(4)), Field::new("temporal_mvp_en", 4, Kind::Unsigned(4)), Field::new("tmv_buf_size", 8, Kind::Unsigned(4))] };

pub(super) static HI_VDEC_CHN_PARAM: Layout = Layout { size: 40, fields: &[Field::new("type", 0, Kind::Unsigned(4)), Field::new("display_frame_num", 4, Kind::Unsigned(4)), Field::member("video_param", 8, Kind::Structure(&HI_VDEC_VIDEO_PARAM), When::Equal(0, 96)), Field::member("pic_param", 8, Kind::Structure(&HI_VDEC_PIC_PARAM), When::Equal(0, 26))] };

pub(super) static HI_VDEC_PIC_PARAM: Layout = Layout { size: 8, fields: &[Field::new("pixel_format", 0, Kind::Unsigned(4)), Field::new("alpha", 4, Kind::Unsigned(4))] };

pub(super) static HI_VDEC_VIDEO_PARAM: Layout = Layout { size: 32, fields: &[Field::new("composite_dec_en", 0, Kind::Unsigned(4)), Field::new("slice_input_en", 4, Kind::Unsigned(4)), Field::new("err_threshold", 8, Kind::Signed(4)), Field::new("dec_mode", 12, Kind::Unsigned(4)), Field::new("out_order", 16, Kind::Unsigned(4)), Field::new("compress_mode", 20, Kind::Unsigned(4)), Field::new("video_format", 24, Kind::Unsigned(4)), Field::new("quick_mark_mode", 28, Kind::Unsigned(4))] };

pub(super) static HI_VDEC_CHN_STATUS: Layout = Layout { size: 80, fields: &[Field::new("type", 0, Kind::Unsigned(4)), Field::new("left_stream_bytes", 4, Kind::Unsigned(4)), Field::new("left_stream_frames", 8, Kind::Unsigned(4)), Field::new("left_decoded_frames", 12, Kind::Unsigned(4)), Field::new("is_started", 16, Kind::Unsigned(4)), Field::new("recv_stream_frames", 20, Kind::Unsigned(4)), Field::new("dec_stream_frames", 24, Kind::Unsigned(4)), Field::new("dec_err", 28, Kind::Structure(&HI_VDEC_DEC_ERR)), Field::new("width", 64, Kind::Unsigned(4)), Field::new("height", 68, Kind::Unsigned(4)), Field::new("latest_frame_pts", 72, Kind::Unsigned(8))] };

pub(super) static HI_VDEC_DEC_ERR: Layout = Layout { size: 36, fields: &[Field::new("set_pic_size_err", 0, Kind::Signed(4)), Field::new("set_protocol_num_err", 4, Kind::Signed(4)), Field::new("set_ref_num_err", 8, Kind::Signed(4)), Field::new("set_pic_buf_size_err", 12, Kind::Signed(4)), Field::new("format_err", 16, Kind::Signed(4)), Field::new("stream_unsupport", 20, Kind::Signed(4)), Field::new("pack_err", 24, Kind::Signed(4)), Field::new("stream_size_over", 28, Kind::Signed(4)), Field::new("stream_not_release", 32, Kind::Signed(4))] };

pub(super) static HI_VDEC_PIC_INFO: Layout = Layout { size: 48, fields: &[Field::new("width", 0, Kind::Unsigned(4)), Field::new("height", 4, Kind::Unsigned(4)), Field::new("width_stride", 8, Kind::Unsigned(4)), Field::new("height_stride", 12, Kind::Unsigned(4)), Field::new("pixel_format", 16, Kind::Unsigned(4)), Field::new("vir_addr", 24, Kind::Unsigned(8)), Field::new("buffer_size", 32, Kind::Unsigned(4)), Field::new("offset_top", 36, Kind::Signed(2)), Field::new("offset_bottom", 38, Kind::Signed(2)), Field::new("offset_left", 40, Kind::Signed(2)), Field::new("offset_right", 42, Kind::Signed(2))] };

pub(super) static HI_VDEC_STREAM: Layout = Layout { size: 48, fields: &[Field::new("end_of_frame", 0, Kind::Unsigned(4)), Field::new("end_of_stream", 4, Kind::Unsigned(4)), Field::new("need_display", 8, Kind::Unsigned(4)), Field::new("pts", 16, Kind::Unsigned(8)), Field::new("private_data", 24, Kind::Unsigned(8)), Field::new("len", 32, Kind::Unsigned(4)), Field::new("addr", 40, Kind::Unsigned(8))] };

pub(super) static HI_VDEC_SUPPLEMENT_INFO: Layout = Layout { size: 16, fields: &[Field::new("type", 0, Kind::Unsigned(4)), Field::new("video_supplement_info", 4, Kind::Structure(&HI_VDEC_VIDEO_SUPPLEMENT_INFO))] };

pub(super) static HI_VDEC_VIDEO_SUPPLEMENT_INFO: Layout = Layout { size: 12, fields: &[Field::new("frame_type", 0, Kind::Unsigned(4)), Field::new("err_rate", 4, Kind::Unsigned(4)), Field::new("poc", 8, Kind::Unsigned(4))] };

pub(super) static HI_VENC_CHN_ATTR: Layout = Layout { size: 116, fields: &[Field::new("venc_attr", 0, Kind::Structure(&HI_VENC_ATTR)), Field::new("rc_attr", 60, Kind::Structure(&HI_VENC_RC_ATTR)), Field::new("gop_attr", 100, Kind::Structure(&HI_VENC_GOP_ATTR))] };

pub(super) static HI_VENC_GOP_ATTR: Layout = Layout { size: 16, fields: &[Field::new("gop_mode", 0, Kind::Unsigned(4)), Field::member("normal_p", 4, Kind::Structure(&HI_VENC_GOP_NORMAL_P), When::Equal(0, 0)), Field::member("dual_p", 4, Kind::Structure(&HI_VENC_GOP_DUAL_P), When::Equal(0, 1)), Field::member("smart_p", 4, Kind::Structure(&HI_VENC_GOP_SMART_P), When::Equal(0, 2)), Field::member("bipred_b", 4, Kind::Structure(&HI_VENC_GOP_BIPRED_B), When::Equal(0, 4))] };

pub(super) static HI_VENC_GOP_BIPRED_B: Layout = Layout { size: 12, fields: &[Field::new("b_frame_num", 0, Kind::Unsigned(4)), Field::new("b_qp_delta", 4, Kind::Signed(4)), Field::new("ip_qp_delta", 8, Kind::Signed(4))] };

pub(super) static HI_VENC_GOP_SMART_P: Layout = Layout { size: 12, fields: &[Field::new("bg_interval", 0, Kind::Unsigned(4)), Field::new("bg_qp_delta", 4, Kind::Signed(4)), Field::new("vi_qp_delta", 8, Kind::Signed(4))] };

pub(super) static HI_VENC_GOP_DUAL_P: Layout = Layout { size: 12, fields: &[Field::new("sp_interval", 0, Kind::Unsigned(4)), Field::new("sp_qp_delta", 4, Kind::Signed(4)), Field::new("ip_qp_delta", 8, Kind::Signed(4))] };

pub(super) static HI_VENC_GOP_NORMAL_P: Layout = Layout { size: 4, fields: &[Field::new("ip_qp_delta", 0, Kind::Signed(4))] };

pub(super) static HI_VENC_RC_ATTR: Layout = Layout { size: 40, fields: &[Field::new("rc_mode", 0, Kind::Unsigned(4)), Field::member("h264_cbr", 4, Kind::Structure(&HI_VENC_H264_CBR), When::Equal(0, 1)), Field::member("h264_vbr", 4, Kind::Structure(&HI_VENC_H264_VBR), When::Equal(0, 2)), Field::member("h264_avbr", 4, Kind::Structure(&HI_VENC_H264_AVBR), When::Equal(0, 3)), Field::member("h264_qvbr", 4, Kind::Structure(&HI_VENC_H264_QVBR), When::Equal(0, 4)), Field::member("h264_cvbr", 4, Kind::Structure(&HI_VENC_H264_CVBR), When::Equal(0, 5)), Field::member("h264_fixqp", 4, Kind::Structure(&HI_VENC_H264_FIXQP), When::Equal(0, 6)), Field::member("h265_cbr", 4, Kind::Structure(&HI_VENC_H265_CBR), When::Equal(0, 11)), Field::member("h265_vbr", 4, Kind::Structure(&HI_VENC_H265_VBR), When::Equal(0, 12)), Field::member("h265_avbr", 4, Kind::Structure(&HI_VENC_H265_AVBR), When::Equal(0, 13)), Field::member("h265_qvbr", 4, Kind::Structure(&HI_VENC_H265_QVBR), When::Equal(0, 14)), Field::member("h265_cvbr", 4, Kind::Structure(&HI_VENC_H265_CVBR), When::Equal(0, 15)), Field::member("h265_fixqp", 4, Kind::Structure(&HI_VENC_H265_FIXQP), When::Equal(0, 16))] };

pub(super) static HI_VENC_H265_FIXQP: Layout = Layout { size: 24, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("src_frame_rate", 4, Kind::Unsigned(4)), Field::new("dst_frame_rate", 8, Kind::Unsigned(4)), Field::new("i_qp", 12, Kind::Unsigned(4)), Field::new("p_qp", 16, Kind::Unsigned(4)), Field::new("b_qp", 20, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_CVBR: Layout = Layout { size: 36, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("max_bit_rate", 16, Kind::Unsigned(4)), Field::new("short_term_stats_time", 20, Kind::Unsigned(4)), Field::new("long_term_stats_time", 24, Kind::Unsigned(4)), Field::new("long_term_max_bit_rate", 28, Kind::Unsigned(4)), Field::new("long_term_min_bit_rate", 32, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_QVBR: Layout = Layout { size: 20, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("target_bit_rate", 16, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_AVBR: Layout = Layout { size: 20, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("max_bit_rate", 16, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_VBR: Layout = Layout { size: 20, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("max_bit_rate", 16, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_CBR: Layout = Layout { size: 20, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("bit_rate", 16, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_FIXQP: Layout = Layout { size: 24, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("src_frame_rate", 4, Kind::Unsigned(4)), Field::new("dst_frame_rate", 8, Kind::Unsigned(4)), Field::new("i_qp", 12, Kind::Unsigned(4)), Field::new("p_qp", 16, Kind::Unsigned(4)), Field::new("b_qp", 20, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_CVBR: Layout = Layout { size: 36, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("max_bit_rate", 16, Kind::Unsigned(4)), Field::new("short_term_stats_time", 20, Kind::Unsigned(4)), Field::new("long_term_stats_time", 24, Kind::Unsigned(4)), Field::new("long_term_max_bit_rate", 28, Kind::Unsigned(4)), Field::new("long_term_min_bit_rate", 32, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_QVBR: Layout = Layout { size: 20, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("target_bit_rate", 16, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_AVBR: Layout = Layout { size: 20, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("max_bit_rate", 16, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_VBR: Layout = Layout { size: 20, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("max_bit_rate", 16, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_CBR: Layout = Layout { size: 20, fields: &[Field::new("gop", 0, Kind::Unsigned(4)), Field::new("stats_time", 4, Kind::Unsigned(4)), Field::new("src_frame_rate", 8, Kind::Unsigned(4)), Field::new("dst_frame_rate", 12, Kind::Unsigned(4)), Field::new("bit_rate", 16, Kind::Unsigned(4))] };

pub(super) static HI_VENC_ATTR: Layout = Layout { size: 60, fields: &[Field::new("type", 0, Kind::Unsigned(4)), Field::new("max_pic_width", 4, Kind::Unsigned(4)), Field::new("max_pic_height", 8, Kind::Unsigned(4)), Field::new("buf_size", 12, Kind::Unsigned(4)), Field::new("profile", 16, Kind::Unsigned(4)), Field::new("is_by_frame", 20, Kind::Unsigned(4)), Field::new("pic_width", 24, Kind::Unsigned(4)), Field::new("pic_height", 28, Kind::Unsigned(4)), Field::member("h264_attr", 32, Kind::Structure(&HI_VENC_H264_ATTR), When::Equal(0, 96)), Field::member("h265_attr", 32, Kind::Structure(&HI_VENC_H265_ATTR), When::Equal(0, 265)), Field::member("jpeg_attr", 32, Kind::Structure(&HI_VENC_JPEG_ATTR), When::Equal(0, 26))] };

pub(super) static HI_VENC_JPEG_ATTR: Layout = Layout { size: 28, fields: &[Field::new("dcf_en", 0, Kind::Unsigned(4)), Field::new("mpf_cfg", 4, Kind::Structure(&HI_VENC_MPF_CFG)), Field::new("recv_mode", 24, Kind::Unsigned(4))] };

pub(super) static HI_VENC_MPF_CFG: Layout = Layout { size: 20, fields: &[Field::new("large_thumbnail_num", 0, Kind::Unsigned(1)), Field::new("large_thumbnail_size", 4, Kind::Array(&Kind::Structure(&HI_VIDEO_SIZE), 8, 2))] };

pub(super) static HI_VIDEO_SIZE: Layout = Layout { size: 8, fields: &[Field::new("width", 0, Kind::Unsigned(4)), Field::new("height", 4, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_ATTR: Layout = Layout { size: 8, fields: &[Field::new("rcn_ref_share_buf_en", 0, Kind::Unsigned(4)), Field::new("frame_buf_ratio", 4, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_ATTR: Layout = Layout { size: 8, fields: &[Field::new("rcn_ref_share_buf_en", 0, Kind::Unsigned(4)), Field::new("frame_buf_ratio", 4, Kind::Unsigned(4))] };

pub(super) static HI_VENC_CHN_PARAM: Layout = Layout { size: 44, fields: &[Field::new("color_to_grey_en", 0, Kind::Unsigned(4)), Field::new("priority", 4, Kind::Unsigned(4)), Field::new("max_stream_cnt", 8, Kind::Unsigned(4)), Field::new("poll_wake_up_frame_cnt", 12, Kind::Unsigned(4)), Field::new("crop_info", 16, Kind::Structure(&HI_CROP_INFO)), Field::new("frame_rate", 36, Kind::Structure(&HI_FRAME_RATE_CTRL))] };

pub(super) static HI_FRAME_RATE_CTRL: Layout = Layout { size: 8, fields: &[Field::new("src_frame_rate", 0, Kind::Signed(4)), Field::new("dst_frame_rate", 4, Kind::Signed(4))] };

pub(super) static HI_CROP_INFO: Layout = Layout { size: 20, fields: &[Field::new("enable", 0, Kind::Unsigned(4)), Field::new("rect", 4, Kind::Structure(&HI_RECT))] };

pub(super) static HI_RECT: Layout = Layout { size: 16, fields: &[Field::new("x", 0, Kind::Signed(4)), Field::new("y", 4, Kind::Signed(4)), Field::new("width", 8, Kind::Unsigned(4)), Field::new("height", 12, Kind::Unsigned(4))] };

pub(super) static HI_VENC_CHN_STATUS: Layout = Layout { size: 40, fields: &[Field::new("left_pics", 0, Kind::Unsigned(4)), Field::new("left_stream_bytes", 4, Kind::Unsigned(4)), Field::new("left_stream_frames", 8, Kind::Unsigned(4)), Field::new("cur_packs", 12, Kind::Unsigned(4)), Field::new("left_recv_pics", 16, Kind::Unsigned(4)), Field::new("left_enc_pics", 20, Kind::Unsigned(4)), Field::new("is_jpeg_snap_end", 24, Kind::Unsigned(4)), Field::new("release_pic_pts", 32, Kind::Unsigned(8))] };

pub(super) static HI_VENC_H264_VUI: Layout = Layout { size: 28, fields: &[Field::new("vui_aspect_ratio", 0, Kind::Structure(&HI_VENC_VUI_ASPECT_RATIO)), Field::new("vui_time_info", 8, Kind::Structure(&HI_VENC_H264_VUI_TIME_INFO)), Field::new("vui_video_signal", 20, Kind::Structure(&HI_VENC_VUI_VIDEO_SIGNAL)), Field::new("vui_bitstream_restric", 27, Kind::Structure(&HI_VENC_VUI_BITSTREAM_RESTRIC))] };

pub(super) static HI_VENC_VUI_BITSTREAM_RESTRIC: Layout = Layout { size: 1, fields: &[Field::new("bitstream_restriction_flag", 0, Kind::Unsigned(1))] };

pub(super) static HI_VENC_VUI_VIDEO_SIGNAL: Layout = Layout { size: 7, fields: &[Field::new("video_signal_type_present_flag", 0, Kind::Unsigned(1)), Field::new("video_format", 1, Kind::Unsigned(1)), Field::new("video_full_range_flag", 2, Kind::Unsigned(1)), Field::new("colour_description_present_flag", 3, Kind::Unsigned(1)), Field::new("colour_primaries", 4, Kind::Unsigned(1)), Field::new("transfer_characteristics", 5, Kind::Unsigned(1)), Field::new("matrix_coefficients", 6, Kind::Unsigned(1))] };

pub(super) static HI_VENC_H264_VUI_TIME_INFO: Layout = Layout { size: 12, fields: &[Field::new("timing_info_present_flag", 0, Kind::Unsigned(1)), Field::new("fixed_frame_rate_flag", 1, Kind::Unsigned(1)), Field::new("num_units_in_tick", 4, Kind::Unsigned(4)), Field::new("time_scale", 8, Kind::Unsigned(4))] };

pub(super) static HI_VENC_VUI_ASPECT_RATIO: Layout = Layout { size: 8, fields: &[Field::new("aspect_ratio_info_present_flag", 0, Kind::Unsigned(1)), Field::new("aspect_ratio_idc", 1, Kind::Unsigned(1)), Field::new("overscan_info_present_flag", 2, Kind::Unsigned(1)), Field::new("overscan_appropriate_flag", 3, Kind::Unsigned(1)), Field::new("sar_width", 4, Kind::Unsigned(2)), Field::new("sar_height", 6, Kind::Unsigned(2))] };

pub(super) static HI_VENC_H265_VUI: Layout = Layout { size: 32, fields: &[Field::new("vui_aspect_ratio", 0, Kind::Structure(&HI_VENC_VUI_ASPECT_RATIO)), Field::new("vui_time_info", 8, Kind::Structure(&HI_VENC_H265_VUI_TIME_INFO)), Field::new("vui_video_signal", 24, Kind::Structure(&HI_VENC_VUI_VIDEO_SIGNAL)), Field::new("vui_bitstream_restric", 31, Kind::Structure(&HI_VENC_VUI_BITSTREAM_RESTRIC))] };

pub(super) static HI_VENC_H265_VUI_TIME_INFO: Layout = Layout { size: 16, fields: &[Field::new("timing_info_present_flag", 0, Kind::Unsigned(4)), Field::new("num_units_in_tick", 4, Kind::Unsigned(4)), Field::new("time_scale", 8, Kind::Unsigned(4)), Field::new("num_ticks_poc_diff_one_minus1", 12, Kind::Unsigned(4))] };

pub(super) static HI_VENC_JPEG_PARAM: Layout = Layout { size: 204, fields: &[Field::new("qfactor", 0, Kind::Unsigned(4)), Field::new("y_qt", 4, Kind::Array(&Kind::Unsigned(1), 1, 64)), Field::new("cb_qt", 68, Kind::Array(&Kind::Unsigned(1), 1, 64)), Field::new("cr_qt", 132, Kind::Array(&Kind::Unsigned(1), 1, 64)), Field::new("mcu_per_ecs", 196, Kind::Unsigned(4)), Field::new("ecs_output_en", 200, Kind::Unsigned(4))] };

pub(super) static HI_VENC_MOD_PARAM: Layout = Layout { size: 28, fields: &[Field::new("mod_type", 0, Kind::Unsigned(4)), Field::member("venc_mod_param", 4, Kind::Structure(&HI_VENC_VENC_MOD_PARAM), When::Equal(0, 1)), Field::member("h264_mod_param", 4, Kind::Structure(&HI_VENC_H264_MOD_PARAM), When::Equal(0, 2)), Field::member("h265_mod_param", 4, Kind::Structure(&HI_VENC_H265_MOD_PARAM), When::Equal(0, 3)), Field::member("jpeg_mod_param", 4, Kind::Structure(&HI_VENC_JPEG_MOD_PARAM), When::Equal(0, 4))] };

pub(super) static HI_VENC_JPEG_MOD_PARAM: Layout = Layout { size: 16, fields: &[Field::new("one_stream_buf", 0, Kind::Unsigned(4)), Field::new("mini_buf_mode", 4, Kind::Unsigned(4)), Field::new("clear_stream_buf", 8, Kind::Unsigned(4)), Field::new("dering_mode", 12, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_MOD_PARAM: Layout = Layout { size: 24, fields: &[Field::new("one_stream_buf", 0, Kind::Unsigned(4)), Field::new("mini_buf_mode", 4, Kind::Unsigned(4)), Field::new("low_power_mode", 8, Kind::Unsigned(4)), Field::new("vb_src", 12, Kind::Unsigned(4)), Field::new("qp_hist_en", 16, Kind::Unsigned(4)), Field::new("max_user_data_len", 20, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_MOD_PARAM: Layout = Layout { size: 24, fields: &[Field::new("one_stream_buf", 0, Kind::Unsigned(4)), Field::new("mini_buf_mode", 4, Kind::Unsigned(4)), Field::new("low_power_mode", 8, Kind::Unsigned(4)), Field::new("vb_src", 12, Kind::Unsigned(4)), Field::new("qp_hist_en", 16, Kind::Unsigned(4)), Field::new("max_user_data_len", 20, Kind::Unsigned(4))] };

pub(super) static HI_VENC_VENC_MOD_PARAM: Layout = Layout { size: 8, fields: &[Field::new("buf_cache", 0, Kind::Unsigned(4)), Field::new("frame_buf_recycle", 4, Kind::Unsigned(4))] };

pub(super) static HI_VENC_RC_PARAM: Layout = Layout { size: 272, fields: &[Field::new("threshold_i", 0, Kind::Array(&Kind::Unsigned(4), 4, 16)), Field::new("threshold_p", 64, Kind::Array(&Kind::Unsigned(4), 4, 16)), Field::new("threshold_b", 128, Kind::Array(&Kind::Unsigned(4), 4, 16)), Field::new("direction", 192, Kind::Unsigned(4)), Field::new("row_qp_delta", 196, Kind::Unsigned(4)), Field::new("first_frame_start_qp", 200, Kind::Signed(4)), Field::new("scene_chg_detect", 204, Kind::Structure(&HI_VENC_SCENE_CHG_DETECT)), Field::member("h264_cbr_param", 212, Kind::Structure(&HI_VENC_H264_CBR_PARAM), When::Selected(1)), Field::member("h264_vbr_param", 212, Kind::Structure(&HI_VENC_H264_VBR_PARAM), When::Selected(2)), Field::member("h264_avbr_param", 212, Kind::Structure(&HI_VENC_H264_AVBR_PARAM), When::Selected(3)), Field::member("h264_qvbr_param", 212, Kind::Structure(&HI_VENC_H264_QVBR_PARAM), When::Selected(4)), Field::member("h264_cvbr_param", 212, Kind::Structure(&HI_VENC_H264_CVBR_PARAM), When::Selected(5)), Field::member("h265_cbr_param", 212, Kind::Structure(&HI_VENC_H265_CBR_PARAM), When::Selected(11)), Field::member("h265_vbr_param", 212, Kind::Structure(&HI_VENC_H265_VBR_PARAM), When::Selected(12)), Field::member("h265_avbr_param", 212, Kind::Structure(&HI_VENC_H265_AVBR_PARAM), When::Selected(13)), Field::member("h265_qvbr_param", 212, Kind::Structure(&HI_VENC_H265_QVBR_PARAM), When::Selected(14)), Field::member("h265_cvbr_param", 212, Kind::Structure(&HI_VENC_H265_CVBR_PARAM), When::Selected(15)), Field::member("mjpeg_cbr_param", 212, Kind::Structure(&HI_VENC_MJPEG_CBR_PARAM), When::Selected(8)), Field::member("mjpeg_vbr_param", 212, Kind::Structure(&HI_VENC_MJPEG_VBR_PARAM), When::Selected(9))] };

pub(super) static HI_VENC_MJPEG_VBR_PARAM: Layout = Layout { size: 12, fields: &[Field::new("chg_pos", 0, Kind::Signed(4)), Field::new("max_qfactor", 4, Kind::Unsigned(4)), Field::new("min_qfactor", 8, Kind::Unsigned(4))] };

pub(super) static HI_VENC_MJPEG_CBR_PARAM: Layout = Layout { size: 8, fields: &[Field::new("max_qfactor", 0, Kind::Unsigned(4)), Field::new("min_qfactor", 4, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_CVBR_PARAM: Layout = Layout { size: 52, fields: &[Field::new("max_i_proportion", 0, Kind::Unsigned(4)), Field::new("min_i_proportion", 4, Kind::Unsigned(4)), Field::new("max_reencode_times", 8, Kind::Signed(4)), Field::new("qpmap_en", 12, Kind::Unsigned(4)), Field::new("qpmap_mode", 16, Kind::Unsigned(4)), Field::new("max_qp", 20, Kind::Unsigned(4)), Field::new("min_qp", 24, Kind::Unsigned(4)), Field::new("max_i_qp", 28, Kind::Unsigned(4)), Field::new("min_i_qp", 32, Kind::Unsigned(4)), Field::new("min_qp_delta", 36, Kind::Unsigned(4)), Field::new("max_qp_delta", 40, Kind::Unsigned(4)), Field::new("extra_bit_percent", 44, Kind::Unsigned(4)), Field::new("long_term_stats_time_unit", 48, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_QVBR_PARAM: Layout = Layout { size: 52, fields: &[Field::new("max_i_proportion", 0, Kind::Unsigned(4)), Field::new("min_i_proportion", 4, Kind::Unsigned(4)), Field::new("max_reencode_times", 8, Kind::Signed(4)), Field::new("qpmap_en", 12, Kind::Unsigned(4)), Field::new("qpmap_mode", 16, Kind::Unsigned(4)), Field::new("max_qp", 20, Kind::Unsigned(4)), Field::new("min_qp", 24, Kind::Unsigned(4)), Field::new("max_i_qp", 28, Kind::Unsigned(4)), Field::new("min_i_qp", 32, Kind::Unsigned(4)), Field::new("max_bit_percent", 36, Kind::Signed(4)), Field::new("min_bit_percent", 40, Kind::Signed(4)), Field::new("max_psnr_fluctuate", 44, Kind::Signed(4)), Field::new("min_psnr_fluctuate", 48, Kind::Signed(4))] };

pub(super) static HI_VENC_H265_AVBR_PARAM: Layout = Layout { size: 60, fields: &[Field::new("chg_pos", 0, Kind::Signed(4)), Field::new("max_i_proportion", 4, Kind::Unsigned(4)), Field::new("min_i_proportion", 8, Kind::Unsigned(4)), Field::new("max_reencode_times", 12, Kind::Signed(4)), Field::new("min_still_percent", 16, Kind::Signed(4)), Field::new("max_still_qp", 20, Kind::Unsigned(4)), Field::new("min_still_psnr", 24, Kind::Unsigned(4)), Field::new("max_qp", 28, Kind::Unsigned(4)), Field::new("min_qp", 32, Kind::Unsigned(4)), Field::new("max_i_qp", 36, Kind::Unsigned(4)), Field::new("min_i_qp", 40, Kind::Unsigned(4)), Field::new("min_qp_delta", 44, Kind::Unsigned(4)), Field::new("motion_sensitivity", 48, Kind::Unsigned(4)), Field::new("qpmap_en", 52, Kind::Unsigned(4)), Field::new("qpmap_mode", 56, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_VBR_PARAM: Layout = Layout { size: 40, fields: &[Field::new("chg_pos", 0, Kind::Signed(4)), Field::new("max_i_proportion", 4, Kind::Unsigned(4)), Field::new("min_i_proportion", 8, Kind::Unsigned(4)), Field::new("max_reencode_times", 12, Kind::Signed(4)), Field::new("max_qp", 16, Kind::Unsigned(4)), Field::new("min_qp", 20, Kind::Unsigned(4)), Field::new("max_i_qp", 24, Kind::Unsigned(4)), Field::new("min_i_qp", 28, Kind::Unsigned(4)), Field::new("qpmap_en", 32, Kind::Unsigned(4)), Field::new("qpmap_mode", 36, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H265_CBR_PARAM: Layout = Layout { size: 36, fields: &[Field::new("max_i_proportion", 0, Kind::Unsigned(4)), Field::new("min_i_proportion", 4, Kind::Unsigned(4)), Field::new("max_qp", 8, Kind::Unsigned(4)), Field::new("min_qp", 12, Kind::Unsigned(4)), Field::new("max_i_qp", 16, Kind::Unsigned(4)), Field::new("min_i_qp", 20, Kind::Unsigned(4)), Field::new("max_reencode_times", 24, Kind::Signed(4)), Field::new("qpmap_en", 28, Kind::Unsigned(4)), Field::new("qpmap_mode", 32, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_CVBR_PARAM: Layout = Layout { size: 52, fields: &[Field::new("max_i_proportion", 0, Kind::Unsigned(4)), Field::new("min_i_proportion", 4, Kind::Unsigned(4)), Field::new("max_reencode_times", 8, Kind::Signed(4)), Field::new("qpmap_en", 12, Kind::Unsigned(4)), Field::new("max_qp", 16, Kind::Unsigned(4)), Field::new("min_qp", 20, Kind::Unsigned(4)), Field::new("max_i_qp", 24, Kind::Unsigned(4)), Field::new("min_i_qp", 28, Kind::Unsigned(4)), Field::new("min_qp_delta", 32, Kind::Unsigned(4)), Field::new("max_qp_delta", 36, Kind::Unsigned(4)), Field::new("extra_bit_percent", 40, Kind::Unsigned(4)), Field::new("long_term_stats_time_unit", 44, Kind::Unsigned(4)), Field::new("save_bitrate_en", 48, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_QVBR_PARAM: Layout = Layout { size: 48, fields: &[Field::new("max_i_proportion", 0, Kind::Unsigned(4)), Field::new("min_i_proportion", 4, Kind::Unsigned(4)), Field::new("max_reencode_times", 8, Kind::Signed(4)), Field::new("qpmap_en", 12, Kind::Unsigned(4)), Field::new("max_qp", 16, Kind::Unsigned(4)), Field::new("min_qp", 20, Kind::Unsigned(4)), Field::new("max_i_qp", 24, Kind::Unsigned(4)), Field::new("min_i_qp", 28, Kind::Unsigned(4)), Field::new("max_bit_percent", 32, Kind::Signed(4)), Field::new("min_bit_percent", 36, Kind::Signed(4)), Field::new("max_psnr_fluctuate", 40, Kind::Signed(4)), Field::new("min_psnr_fluctuate", 44, Kind::Signed(4))] };

pub(super) static HI_VENC_H264_AVBR_PARAM: Layout = Layout { size: 60, fields: &[Field::new("chg_pos", 0, Kind::Signed(4)), Field::new("max_i_proportion", 4, Kind::Unsigned(4)), Field::new("min_i_proportion", 8, Kind::Unsigned(4)), Field::new("max_reencode_times", 12, Kind::Signed(4)), Field::new("qpmap_en", 16, Kind::Unsigned(4)), Field::new("min_still_percent", 20, Kind::Signed(4)), Field::new("max_still_qp", 24, Kind::Unsigned(4)), Field::new("min_still_psnr", 28, Kind::Unsigned(4)), Field::new("max_qp", 32, Kind::Unsigned(4)), Field::new("min_qp", 36, Kind::Unsigned(4)), Field::new("max_i_qp", 40, Kind::Unsigned(4)), Field::new("min_i_qp", 44, Kind::Unsigned(4)), Field::new("min_qp_delta", 48, Kind::Unsigned(4)), Field::new("motion_sensitivity", 52, Kind::Unsigned(4)), Field::new("save_bitrate_en", 56, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_VBR_PARAM: Layout = Layout { size: 36, fields: &[Field::new("chg_pos", 0, Kind::Signed(4)), Field::new("max_i_proportion", 4, Kind::Unsigned(4)), Field::new("min_i_proportion", 8, Kind::Unsigned(4)), Field::new("max_reencode_times", 12, Kind::Signed(4)), Field::new("qpmap_en", 16, Kind::Unsigned(4)), Field::new("max_qp", 20, Kind::Unsigned(4)), Field::new("min_qp", 24, Kind::Unsigned(4)), Field::new("max_i_qp", 28, Kind::Unsigned(4)), Field::new("min_i_qp", 32, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_CBR_PARAM: Layout = Layout { size: 32, fields: &[Field::new("max_i_proportion", 0, Kind::Unsigned(4)), Field::new("min_i_proportion", 4, Kind::Unsigned(4)), Field::new("max_qp", 8, Kind::Unsigned(4)), Field::new("min_qp", 12, Kind::Unsigned(4)), Field::new("max_i_qp", 16, Kind::Unsigned(4)), Field::new("min_i_qp", 20, Kind::Unsigned(4)), Field::new("max_reencode_times", 24, Kind::Signed(4)), Field::new("qpmap_en", 28, Kind::Unsigned(4))] };

pub(super) static HI_VENC_SCENE_CHG_DETECT: Layout = Layout { size: 8, fields: &[Field::new("detect_scene_chg_en", 0, Kind::Unsigned(4)), Field::new("adapt_insert_idr_frame_en", 4, Kind::Unsigned(4))] };

pub(super) static HI_VENC_START_PARAM: Layout = Layout { size: 4, fields: &[Field::new("recv_pic_num", 0, Kind::Signed(4))] };

pub(super) static HI_VENC_STREAM: Layout = Layout { size: 64, fields: &[Field::new("pack", 0, Kind::List(&HI_VENC_PACK, 8)), Field::new("pack_cnt", 8, Kind::Unsigned(4)), Field::new("seq", 12, Kind::Unsigned(4)), Field::new("h264_info", 16, Kind::Structure(&HI_VENC_H264_STREAM_INFO)), Field::new("jpeg_info", 16, Kind::Structure(&HI_VENC_JPEG_STREAM_INFO))] };

pub(super) static HI_VENC_JPEG_STREAM_INFO: Layout = Layout { size: 12, fields: &[Field::new("pic_bytes", 0, Kind::Unsigned(4)), Field::new("update_attr_cnt", 4, Kind::Unsigned(4)), Field::new("qfactor", 8, Kind::Unsigned(4))] };

pub(super) static HI_VENC_H264_STREAM_INFO: Layout = Layout { size: 44, fields: &[Field::new("pic_bytes", 0, Kind::Unsigned(4)), Field::new("inter16x16_mb_num", 4, Kind::Unsigned(4)), Field::new("inter8x8_mb_num", 8, Kind::Unsigned(4)), Field::new("intra16_mb_num", 12, Kind::Unsigned(4)), Field::new("intra8_mb_num", 16, Kind::Unsigned(4)), Field::new("intra4_mb_num", 20, Kind::Unsigned(4)), Field::new("ref_type", 24, Kind::Unsigned(4)), Field::new("update_attr_cnt", 28, Kind::Unsigned(4)), Field::new("start_qp", 32, Kind::Unsigned(4)), Field::new("mean_qp", 36, Kind::Unsigned(4)), Field::new("is_p_skip", 40, Kind::Unsigned(4))] };

pub(super) static HI_VENC_PACK: Layout = Layout { size: 144, fields: &[Field::new("phys_addr", 0, Kind::Unsigned(8)), Field::new("input_addr", 0, Kind::Unsigned(8)), Field::new("addr", 8, Kind::Unsigned(8)), Field::new("len", 16, Kind::Unsigned(4)), Field::new("pts", 24, Kind::Unsigned(8)), Field::new("is_frame_end", 32, Kind::Unsigned(4)), Field::new("data_type", 36, Kind::Structure(&HI_VENC_DATA_TYPE)), Field::new("offset", 40, Kind::Unsigned(4)), Field::new("data_num", 44, Kind::Unsigned(4)), Field::new("pack_info", 48, Kind::Array(&Kind::Structure(&HI_VENC_PACK_INFO), 12, 8))] };

pub(super) static HI_VENC_PACK_INFO: Layout = Layout { size: 12, fields: &[Field::new("pack_type", 0, Kind::Structure(&HI_VENC_DATA_TYPE)), Field::new("pack_offset", 4, Kind::Unsigned(4)), Field::new("pack_len", 8, Kind::Unsigned(4))] };

pub(super) static HI_VENC_DATA_TYPE: Layout = Layout { size: 4, fields: &[Field::new("h264_type", 0, Kind::Unsigned(4)), Field::new("h265_type", 0, Kind::Unsigned(4)), Field::new("jpeg_type", 0, Kind::Unsigned(4))] };

pub(super) static HI_VIDEO_FRAME_INFO: Layout = Layout { size: 264, fields: &[Field::new("v_frame", 0, Kind::Structure(&HI_VIDEO_FRAME)), Field::new("pool_id", 256, Kind::Unsigned(4)), Field::new("mod_id", 260, Kind::Unsigned(4))] };

pub(super) static HI_VIDEO_FRAME: Layout = Layout { size: 256, fields: &[Field::new("width", 0, Kind::Unsigned(4)), Field::new("height", 4, Kind::Unsigned(4)), Field::new("field", 8, Kind::Unsigned(4)), Field::new("pixel_format", 12, Kind::Unsigned(4)), Field::new("video_format", 16, Kind::Unsigned(4)), Field::new("compress_mode", 20, Kind::Unsigned(4)), Field::new("dynamic_range", 24, Kind::Unsigned(4)), Field::new("color_gamut", 28, Kind::Unsigned(4)), Field::new("header_stride", 32, Kind::Array(&Kind::Unsigned(4), 4, 3)), Field::new("width_stride", 44, Kind::Array(&Kind::Unsigned(4), 4, 3)), Field::new("height_stride", 56, Kind::Array(&Kind::Unsigned(4), 4, 3)), Field::new("header_phys_addr", 72, Kind::Array(&Kind::Unsigned(8), 8, 3)), Field::new("phys_addr", 96, Kind::Array(&Kind::Unsigned(8), 8, 3)), Field::new("header_virt_addr", 120, Kind::Array(&Kind::Unsigned(8), 8, 3)), Field::new("virt_addr", 144, Kind::Array(&Kind::Unsigned(8), 8, 3)), Field::new("time_ref", 168, Kind::Unsigned(4)), Field::new("pts", 176, Kind::Unsigned(8)), Field::new("user_data", 184, Kind::Array(&Kind::Unsigned(8), 8, 8)), Field::new("frame_flag", 248, Kind::Unsigned(4))] };

pub(super) static HI_VPC_CHN_ATTR: Layout = Layout { size: 12, fields: &[Field::new("attr", 0, Kind::Signed(4)), Field::new("pic_width", 4, Kind::Unsigned(4)), Field::new("pic_height", 8, Kind::Unsigned(4))] };

pub(super) static HI_VPC_CROP_REGION_INFO: Layout = Layout { size: 48, fields: &[Field::new("dest_pic_info", 0, Kind::Structure(&HI_VPC_PIC_INFO)), Field::new("crop_region", 32, Kind::Structure(&HI_VPC_CROP_REGION))] };

pub(super) static HI_VPC_CROP_REGION: Layout = Layout { size: 16, fields: &[Field::new("top_offset", 0, Kind::Unsigned(4)), Field::new("left_offset", 4, Kind::Unsigned(4)), Field::new("crop_width", 8, Kind::Unsigned(4)), Field::new("crop_height", 12, Kind::Unsigned(4))] };

pub(super) static HI_VPC_CROP_RESIZE_BORDER_REGION: Layout = Layout { size: 104, fields: &[Field::new("dest_pic_info", 0, Kind::Structure(&HI_VPC_PIC_INFO)), Field::new("crop_region", 32, Kind::Structure(&HI_VPC_CROP_REGION)), Field::new("resize_info", 48, Kind::Structure(&HI_VPC_RESIZE_INFO)), Field::new("dest_top_offset", 60, Kind::Unsigned(4)), Field::new("dest_left_offset", 64, Kind::Unsigned(4)), Field::new("border_type", 68, Kind::Unsigned(4)), Field::new("scalar_value", 72, Kind::Structure(&HI_VPC_SCALAR))] };

pub(super) static HI_VPC_SCALAR: Layout = Layout { size: 32, fields: &[Field::new("val", 0, Kind::Array(&Kind::Double, 8, 4))] };

pub(super) static HI_VPC_RESIZE_INFO: Layout = Layout { size: 12, fields: &[Field::new("resize_width", 0, Kind::Unsigned(4)), Field::new("resize_height", 4, Kind::Unsigned(4)), Field::new("interpolation", 8, Kind::Unsigned(4))] };

pub(super) static HI_VPC_CROP_RESIZE_PASTE_REGION: Layout = Layout { size: 72, fields: &[Field::new("dest_pic_info", 0, Kind::Structure(&HI_VPC_PIC_INFO)), Field::new("crop_region", 32, Kind::Structure(&HI_VPC_CROP_REGION)), Field::new("resize_info", 48, Kind::Structure(&HI_VPC_RESIZE_INFO)), Field::new("dest_top_offset", 60, Kind::Unsigned(4)), Field::new("dest_left_offset", 64, Kind::Unsigned(4))] };

pub(super) static HI_VPC_CROP_RESIZE_REGION: Layout = Layout { size: 64, fields: &[Field::new("dest_pic_info", 0, Kind::Structure(&HI_VPC_PIC_INFO)), Field::new("crop_region", 32, Kind::Structure(&HI_VPC_CROP_REGION)), Field::new("resize_info", 48, Kind::Structure(&HI_VPC_RESIZE_INFO))] };

pub(super) static HI_VPC_MAKE_BORDER_INFO: Layout = Layout { size: 56, fields: &[Field::new("top", 0, Kind::Unsigned(4)), Field::new("bottom", 4, Kind::Unsigned(4)), Field::new("left", 8, Kind::Unsigned(4)), Field::new("right", 12, Kind::Unsigned(4)), Field::new("border_type", 16, Kind::Unsigned(4)), Field::new("scalar_value", 24, Kind::Structure(&HI_VPC_SCALAR))] };

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
