//! Structures of the C interface that Python sees as dicts. Their layout is that of the headers on 64-bit Linux.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::ffi::{Count, FromArg, Object, Pointer, SUCCESS, Stop};

/// A structure for which all bits zero is a value.
///
/// # Safety
///
/// It is `repr(C)` and made of integers, floats, arrays of them and addresses.
pub unsafe trait Plain: Sized {}

/// How a structure that C filled looks in Python.
pub trait Describe: Plain {
    fn describe<'py>(&self, py: Python<'py>, ret: i32) -> PyResult<Bound<'py, PyAny>>;
}

/// A structure for C to fill.
pub struct Record<T>(Box<T>);

impl<T: Describe> Record<T> {
    pub fn zeroed() -> Record<T> {
        // On the heap from the start: the largest of them is 300 kB.
        let zeroed = Box::<T>::new_zeroed();
        // SAFETY: `Plain` promises that zero is a value.
        Record(unsafe { zeroed.assume_init() })
    }

    pub fn pointer(&mut self) -> Pointer {
        Pointer::of_mut(&mut *self.0)
    }

    /// Its dict, given the code of the call.
    pub fn described(&self, ret: i32) -> FilledRecord<'_, T> {
        FilledRecord(&self.0, ret)
    }
}

/// A structure and the code of the call that filled it.
pub struct FilledRecord<'a, T>(&'a T, i32);

impl<T: Describe> Object for FilledRecord<'_, T> {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.describe(py, self.1)
    }
}

/// The text in an array of char: up to the first NUL, or all of it.
pub fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}

/// The first `count` elements; the count is the library's word, the array's end is ours.
fn first<T>(array: &[T], count: usize) -> &[T] {
    array.get(..count).unwrap_or(array)
}

fn dict<'py>(py: Python<'py>, entries: &[(&str, &dyn Object)]) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    for (key, value) in entries {
        dict.set_item(*key, value.object(py)?)?;
    }
    Ok(dict.into_any())
}

fn empty(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(PyDict::new(py).into_any())
}

const MOST_DIMS: usize = 128;

/// aclmdlIODims
#[repr(C)]
#[derive(Clone)]
pub struct IoDims {
    name: [u8; 128],
    count: usize,
    dims: [i64; MOST_DIMS],
}

// SAFETY: integers and arrays of them.
unsafe impl Plain for IoDims {}

impl Object for IoDims {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dims = first(&self.dims, self.count);
        dict(
            py,
            &[
                ("name", &text(&self.name)),
                ("dimCount", &self.count),
                ("dims", &dims.to_vec()),
            ],
        )
    }
}

impl Describe for IoDims {
    fn describe<'py>(&self, py: Python<'py>, ret: i32) -> PyResult<Bound<'py, PyAny>> {
        if ret == SUCCESS {
            self.object(py)
        } else {
            empty(py)
        }
    }
}

impl IoDims {
    pub const NONE: IoDims = IoDims {
        name: [0; 128],
        count: 0,
        dims: [0; MOST_DIMS],
    };
}

/// aclmdlBatch
#[repr(C)]
pub struct Batch {
    count: usize,
    batch: [u64; 128],
}

// SAFETY: integers and arrays of them.
unsafe impl Plain for Batch {}

impl Describe for Batch {
    fn describe<'py>(&self, py: Python<'py>, ret: i32) -> PyResult<Bound<'py, PyAny>> {
        if ret != SUCCESS {
            return empty(py);
        }
        dict(
            py,
            &[
                ("batchCount", &self.count),
                ("batch", &first(&self.batch, self.count).to_vec()),
            ],
        )
    }
}

/// aclmdlHW
#[repr(C)]
pub struct Hw {
    count: usize,
    hw: [[u64; 2]; 128],
}

// SAFETY: integers and arrays of them.
unsafe impl Plain for Hw {}

impl Describe for Hw {
    fn describe<'py>(&self, py: Python<'py>, ret: i32) -> PyResult<Bound<'py, PyAny>> {
        if ret != SUCCESS {
            return empty(py);
        }
        dict(
            py,
            &[
                ("hwCount", &self.count),
                ("hw", &first(&self.hw, self.count).to_vec()),
            ],
        )
    }
}

/// aclmdlIODimsRange
#[repr(C)]
pub struct IoDimsRange {
    count: usize,
    range: [[i64; 2]; 128],
}

// SAFETY: integers and arrays of them.
unsafe impl Plain for IoDimsRange {}

impl Describe for IoDimsRange {
    /// Filled whatever the code says, unlike the others.
    fn describe<'py>(&self, py: Python<'py>, _: i32) -> PyResult<Bound<'py, PyAny>> {
        dict(
            py,
            &[
                ("rangeCount", &self.count),
                ("range", &first(&self.range, self.count).to_vec()),
            ],
        )
    }
}

/// aclAippDims
#[repr(C)]
#[derive(Clone)]
struct AippDims {
    src_dims: IoDims,
    src_size: usize,
    aipp_out_dims: IoDims,
    aipp_out_size: usize,
}

impl Object for AippDims {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dict(
            py,
            &[
                ("srcDims", &self.src_dims),
                ("srcSize", &self.src_size),
                // Spelt as the interface spells it.
                ("aippOutdims", &self.aipp_out_dims),
                ("aippOutSize", &self.aipp_out_size),
            ],
        )
    }
}

/// aclAippInfo
#[repr(C)]
pub struct AippInfo {
    input_format: i32,
    src_image_size: [i32; 2],
    crop_switch: i8,
    load_start_pos: [i32; 2],
    crop_size: [i32; 2],
    resize_switch: i8,
    resize_output: [i32; 2],
    padding_switch: i8,
    /// Left, right, top, bottom.
    padding: [i32; 4],
    csc_switch: i8,
    rbuv_swap_switch: i8,
    ax_swap_switch: i8,
    single_line_mode: i8,
    /// Row by row.
    matrix: [i32; 9],
    output_bias: [i32; 3],
    input_bias: [i32; 3],
    mean: [i32; 4],
    min: [f32; 4],
    var_reci: [f32; 4],
    src_format: i32,
    src_data_type: i32,
    src_dim_num: usize,
    shape_count: usize,
    out_dims: [AippDims; 128],
    aipp_extend: usize,
}

const _: () = assert!(
    size_of::<IoDims>() == 1160
        && size_of::<AippDims>() == 2336
        && size_of::<AippInfo>() == 299_216
);

// SAFETY: integers, floats, arrays of them, and an address.
unsafe impl Plain for AippInfo {}

impl Describe for AippInfo {
    fn describe<'py>(&self, py: Python<'py>, ret: i32) -> PyResult<Bound<'py, PyAny>> {
        if ret != SUCCESS {
            return Ok(py.None().into_bound(py));
        }
        let out_dims: Vec<AippDims> = first(&self.out_dims, self.shape_count).to_vec();
        dict(
            py,
            &[
                ("inputFormat", &self.input_format),
                ("srcImageSizeW", &self.src_image_size[0]),
                ("srcImageSizeH", &self.src_image_size[1]),
                ("cropSwitch", &self.crop_switch),
                ("loadStartPosW", &self.load_start_pos[0]),
                ("loadStartPosH", &self.load_start_pos[1]),
                ("cropSizeW", &self.crop_size[0]),
                ("cropSizeH", &self.crop_size[1]),
                ("resizeSwitch", &self.resize_switch),
                ("resizeOutputW", &self.resize_output[0]),
                ("resizeOutputH", &self.resize_output[1]),
                ("paddingSwitch", &self.padding_switch),
                ("leftPaddingSize", &self.padding[0]),
                ("rightPaddingSize", &self.padding[1]),
                ("topPaddingSize", &self.padding[2]),
                ("bottomPaddingSize", &self.padding[3]),
                ("cscSwitch", &self.csc_switch),
                ("rbuvSwapSwitch", &self.rbuv_swap_switch),
                ("axSwapSwitch", &self.ax_swap_switch),
                ("singleLineMode", &self.single_line_mode),
                // R0C2, R2C0 and R2C1 are not reported by the interface.
                ("matrixR0C0", &self.matrix[0]),
                ("matrixR0C1", &self.matrix[1]),
                ("matrixR1C0", &self.matrix[3]),
                ("matrixR1C1", &self.matrix[4]),
                ("matrixR1C2", &self.matrix[5]),
                ("matrixR2C2", &self.matrix[8]),
                ("outputBias0", &self.output_bias[0]),
                ("outputBias1", &self.output_bias[1]),
                ("outputBias2", &self.output_bias[2]),
                ("inputBias0", &self.input_bias[0]),
                ("inputBias1", &self.input_bias[1]),
                ("inputBias2", &self.input_bias[2]),
                ("meanChn0", &self.mean[0]),
                ("meanChn1", &self.mean[1]),
                ("meanChn2", &self.mean[2]),
                ("meanChn3", &self.mean[3]),
                ("minChn0", &self.min[0]),
                ("minChn1", &self.min[1]),
                ("minChn2", &self.min[2]),
                ("minChn3", &self.min[3]),
                ("varReciChn0", &self.var_reci[0]),
                ("varReciChn1", &self.var_reci[1]),
                ("varReciChn2", &self.var_reci[2]),
                ("varReciChn3", &self.var_reci[3]),
                ("srcFormat", &self.src_format),
                ("srcDatatype", &self.src_data_type),
                ("srcDimNum", &self.src_dim_num),
                ("shapeCount", &self.shape_count),
                ("aippExtend", &self.aipp_extend),
                ("outDims", &out_dims),
            ],
        )
    }
}

/// aclCANNPackageVersion
#[repr(C)]
pub struct PackageVersion {
    version: [u8; 128],
    major: [u8; 64],
    minor: [u8; 64],
    release: [u8; 64],
    patch: [u8; 64],
    reserved: [u8; 128],
}

// SAFETY: arrays of integers.
unsafe impl Plain for PackageVersion {}

impl Describe for PackageVersion {
    fn describe<'py>(&self, py: Python<'py>, _: i32) -> PyResult<Bound<'py, PyAny>> {
        dict(
            py,
            &[
                ("version", &text(&self.version)),
                ("major_version", &text(&self.major)),
                ("minor_version", &text(&self.minor)),
                ("release_version", &text(&self.release)),
                ("patch_version", &text(&self.patch)),
                ("reserved", &text(&self.reserved)),
            ],
        )
    }
}

/// aclrtMemLocation
#[repr(C)]
#[derive(Clone, Copy)]
struct MemLocation {
    id: u32,
    kind: i32,
}

impl Object for MemLocation {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dict(py, &[("id", &self.id), ("type", &self.kind)])
    }
}

/// aclrtPtrAttributes
#[repr(C)]
pub struct PointerAttributes {
    location: MemLocation,
    page_size: u32,
    rsv: [u32; 4],
}

// SAFETY: integers and arrays of them.
unsafe impl Plain for PointerAttributes {}

impl Describe for PointerAttributes {
    fn describe<'py>(&self, py: Python<'py>, _: i32) -> PyResult<Bound<'py, PyAny>> {
        dict(
            py,
            &[
                ("location", &self.location),
                ("page_size", &self.page_size),
                ("rsv", &self.rsv),
            ],
        )
    }
}

/// aclrtUtilizationInfo
#[repr(C)]
pub struct UtilizationInfo {
    cube: i32,
    vector: i32,
    aicpu: i32,
    memory: i32,
    extend: usize,
}

// SAFETY: integers and an address.
unsafe impl Plain for UtilizationInfo {}

impl Describe for UtilizationInfo {
    fn describe<'py>(&self, py: Python<'py>, _: i32) -> PyResult<Bound<'py, PyAny>> {
        dict(
            py,
            &[
                ("cubeUtilization", &self.cube),
                ("vectorUtilization", &self.vector),
                ("aicpuUtilization", &self.aicpu),
                ("memoryUtilization", &self.memory),
                ("utilizationExtend", &self.extend),
            ],
        )
    }
}

/// aclrtMemUceInfo
#[repr(C)]
#[derive(Clone)]
pub struct UceInfo {
    addr: u64,
    len: usize,
    reserved: [usize; 14],
}

impl UceInfo {
    pub const NONE: UceInfo = UceInfo {
        addr: 0,
        len: 0,
        reserved: [0; 14],
    };
}

impl Object for UceInfo {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dict(
            py,
            &[
                ("addr", &self.addr),
                ("len", &self.len),
                ("reserved", &self.reserved),
            ],
        )
    }
}

/// acldumpChunk, up to the data that follows it.
#[repr(C)]
pub struct DumpChunk {
    file_name: [u8; 4096],
    buf_len: u32,
    is_last_chunk: u32,
    offset: i64,
    flag: i32,
    data: [u8; 0],
}

impl Object for DumpChunk {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dict(
            py,
            &[
                ("file_name", &text(&self.file_name)),
                ("data_buf", &Pointer::of(&self.data)),
                ("buf_len", &self.buf_len),
                ("is_last_chunk", &self.is_last_chunk),
                ("offset", &self.offset),
                ("flag", &self.flag),
            ],
        )
    }
}

fn as_dict<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Result<&'a Bound<'py, PyDict>, Stop> {
    object.cast::<PyDict>().map_err(|_| Stop::Args)
}

/// The value of a key, or KeyError.
fn required<'py>(dict: &Bound<'py, PyDict>, key: &'static str) -> Result<Bound<'py, PyAny>, Stop> {
    dict.get_item(key)?
        .ok_or_else(|| Stop::Raised(PyKeyError::new_err(key)))
}

fn field<T: FromArg>(dict: &Bound<'_, PyDict>, key: &'static str) -> Result<T, Stop> {
    T::from_arg(&required(dict, key)?)
}

/// aclmdlIODims from a dict.
pub struct IoDimsIn(Box<IoDims>);

impl IoDimsIn {
    pub fn pointer(&self) -> Pointer {
        Pointer::of(&*self.0)
    }
}

impl FromArg for IoDimsIn {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        let dict = as_dict(object)?;
        let get = |key: &str| dict.get_item(key)?.ok_or(Stop::Args);
        let count = usize::from_arg(&get("dimCount")?)?;
        let dims = Vec::<i64>::from_arg(&get("dims")?)?;
        let mut record = Box::new(IoDims::NONE);
        // More dimensions than the list holds, or than the structure does, cannot be meant.
        let given = dims.get(..count).ok_or(Stop::Args)?;
        record
            .dims
            .get_mut(..count)
            .ok_or(Stop::Args)?
            .copy_from_slice(given);
        record.count = count;
        if let Some(name) = dict.get_item("name")? {
            let name = std::ffi::CString::from_arg(&name)?;
            // The last byte stays NUL.
            let bytes = first(name.as_bytes(), record.name.len() - 1);
            record.name[..bytes.len()].copy_from_slice(bytes);
        }
        Ok(IoDimsIn(record))
    }
}

/// aclrtMallocAttribute
#[repr(C, align(4))]
struct MallocAttribute {
    attr: i32,
    value: [u8; 8],
}

/// A head that points at an array: aclrtMallocConfig, aclrtBinaryLoadOptions and aclrtLaunchKernelCfg look alike.
#[repr(C)]
struct Head {
    items: Pointer,
    count: usize,
}

/// aclrtMallocConfig from a dict.
pub struct MallocConfigIn {
    head: Box<Head>,
    _attributes: Vec<MallocAttribute>,
}

impl MallocConfigIn {
    pub fn pointer(&self) -> Pointer {
        Pointer::of(&*self.head)
    }
}

impl FromArg for MallocConfigIn {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        let dict = as_dict(object)?;
        let mut attributes = Vec::new();
        if !dict.is_empty() {
            let count: usize = field(dict, "numAttrs")?;
            let list = required(dict, "attrs")?;
            let list = list.cast::<PyList>().map_err(|_| Stop::Args)?;
            if list.len() != count {
                return Err(Stop::Raised(PyKeyError::new_err(
                    "numAttrs is not the length of attrs",
                )));
            }
            for item in list.iter() {
                let item = as_dict(&item)?;
                let value = required(item, "value")?;
                attributes.push(MallocAttribute {
                    attr: field(item, "attr")?,
                    value: malloc_value(as_dict(&value)?)?,
                });
            }
        }
        let items = if attributes.is_empty() {
            Pointer::default()
        } else {
            Pointer::of(attributes.as_slice())
        };
        Ok(MallocConfigIn {
            head: Box::new(Head {
                items,
                count: attributes.len(),
            }),
            _attributes: attributes,
        })
    }
}

/// aclrtMallocAttrValue, a union.
fn malloc_value(dict: &Bound<'_, PyDict>) -> Result<[u8; 8], Stop> {
    let mut value = [0; 8];
    if let Some(module) = dict.get_item("moduleId")? {
        value[..2].copy_from_slice(&u16::from_arg(&module)?.to_ne_bytes());
    } else if let Some(device) = dict.get_item("deviceId")? {
        value[..4].copy_from_slice(&u32::from_arg(&device)?.to_ne_bytes());
    } else if let Some(reserved) = dict.get_item("rsv")? {
        let bytes = Vec::<u8>::from_arg(&reserved)?;
        value
            .get_mut(..bytes.len())
            .ok_or(Stop::Args)?
            .copy_from_slice(&bytes);
    } else {
        return Err(Stop::Raised(PyKeyError::new_err(
            "value needs moduleId, deviceId or rsv",
        )));
    }
    Ok(value)
}

/// aclrtPhysicalMemProp
#[repr(C)]
struct PhysicalProperties {
    handle_type: i32,
    allocation_type: i32,
    mem_attr: i32,
    location: MemLocation,
    reserve: u64,
}

/// aclrtPhysicalMemProp from a dict.
pub struct PhysicalPropertiesIn(Box<PhysicalProperties>);

impl PhysicalPropertiesIn {
    pub fn pointer(&self) -> Pointer {
        Pointer::of(&*self.0)
    }
}

impl FromArg for PhysicalPropertiesIn {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        let dict = as_dict(object)?;
        let location = required(dict, "location")?;
        let location = as_dict(&location)?;
        Ok(PhysicalPropertiesIn(Box::new(PhysicalProperties {
            handle_type: field(dict, "handleType")?,
            allocation_type: field(dict, "allocationType")?,
            mem_attr: field(dict, "memAttr")?,
            location: MemLocation {
                id: field(location, "id")?,
                kind: field(location, "type")?,
            },
            reserve: field(dict, "reserve")?,
        })))
    }
}

/// aclrtBinaryLoadOption and aclrtLaunchKernelAttr: a number and a union of 16 bytes.
#[repr(C, align(4))]
struct NumberedValue {
    number: i32,
    value: [u8; 16],
}

const _: () = assert!(size_of::<NumberedValue>() == 20 && size_of::<MallocAttribute>() == 12);

/// A list of `{number, value}`; an empty one is null.
struct NumberedValues {
    head: Option<Box<Head>>,
    _values: Vec<NumberedValue>,
}

impl NumberedValues {
    fn from_list(object: &Bound<'_, PyAny>, number: &'static str) -> Result<Self, Stop> {
        let list = object.cast::<PyList>().map_err(|_| Stop::Args)?;
        let mut values = Vec::new();
        for item in list.iter() {
            let item = as_dict(&item)?;
            let mut value = [0; 16];
            // The union's members all begin at its start, and both targets are little-endian: a wider number serves them all.
            value[..8].copy_from_slice(&field::<u64>(item, "value")?.to_le_bytes());
            values.push(NumberedValue {
                number: field(item, number)?,
                value,
            });
        }
        let head = (!values.is_empty()).then(|| {
            Box::new(Head {
                items: Pointer::of(values.as_slice()),
                count: values.len(),
            })
        });
        Ok(NumberedValues {
            head,
            _values: values,
        })
    }

    fn pointer(&self) -> Pointer {
        self.head
            .as_ref()
            .map_or_else(Pointer::default, |head| Pointer::of(&**head))
    }
}

/// aclrtBinaryLoadOptions from a list of dicts.
pub struct LoadOptionsIn(NumberedValues);

impl LoadOptionsIn {
    pub fn pointer(&self) -> Pointer {
        self.0.pointer()
    }
}

impl FromArg for LoadOptionsIn {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        NumberedValues::from_list(object, "type").map(LoadOptionsIn)
    }
}

/// aclrtLaunchKernelCfg from a list of dicts.
pub struct LaunchConfigIn(NumberedValues);

impl LaunchConfigIn {
    pub fn pointer(&self) -> Pointer {
        self.0.pointer()
    }
}

impl FromArg for LaunchConfigIn {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        NumberedValues::from_list(object, "id").map(LaunchConfigIn)
    }
}

/// aclrtPlaceHolderInfo
#[repr(C)]
struct PlaceHolder {
    addr_offset: u32,
    data_offset: u32,
}

/// An array of aclrtPlaceHolderInfo from a list of dicts.
pub struct PlaceHoldersIn(Vec<PlaceHolder>);

impl PlaceHoldersIn {
    pub fn pointer(&self) -> Pointer {
        if self.0.is_empty() {
            Pointer::default()
        } else {
            Pointer::of(self.0.as_slice())
        }
    }
}

impl Count for PlaceHoldersIn {
    fn count(&self) -> usize {
        self.0.len()
    }
}

impl FromArg for PlaceHoldersIn {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        let list = object.cast::<PyList>().map_err(|_| Stop::Args)?;
        let items = list.iter().map(|item| {
            let item = as_dict(&item)?;
            Ok(PlaceHolder {
                addr_offset: field(item, "addrOffset")?,
                data_offset: field(item, "dataOffset")?,
            })
        });
        items.collect::<Result<_, Stop>>().map(PlaceHoldersIn)
    }
}

/// An array of aclrtMemUceInfo from a list of dicts.
pub struct UceInfosIn(Vec<UceInfo>);

impl UceInfosIn {
    /// The library writes nothing here, though its parameter is not const.
    pub fn pointer(&self) -> Pointer {
        Pointer::of(self.0.as_slice())
    }
}

impl Count for UceInfosIn {
    fn count(&self) -> usize {
        self.0.len()
    }
}

impl FromArg for UceInfosIn {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        let list = object.cast::<PyList>().map_err(|_| Stop::Args)?;
        let items = list.iter().map(|item| {
            let item = as_dict(&item)?;
            Ok(UceInfo {
                addr: field(item, "addr")?,
                len: field(item, "len")?,
                reserved: [0; 14],
            })
        });
        items.collect::<Result<_, Stop>>().map(UceInfosIn)
    }
}
