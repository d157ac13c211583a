//! Preprocessing of images inside a model: what a model was built with, and settings that a program passes before an
//! execution.

use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar::offline::{Aipp, DynamicAipp, PixelFormat, TensorInfo};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, dataset, model, refuse};

/// The index that stands for no input.
const NO_INPUT: usize = 0xFFFF_FFFF;

fn input(cx: &Cx<'_>, id: u32, index: usize) -> Result<TensorInfo> {
    model::initialized(cx)?;
    let loaded = model::find(cx, id)?;
    let inputs = &loaded.model.description().inputs;
    inputs.get(index).cloned().ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "input {index} does not exist: model {id} has {} inputs",
                inputs.len()
            ),
        )
    })
}

/// Returns how the images of an input are preprocessed, and the input of the settings if the program sets them.
pub fn aclmdlGetAippType(cx: &Cx<'_>, id: u32, index: usize) -> Result<(u32, usize)> {
    let input = input(cx, id, index)?;
    Ok(match &input.dynamic_aipp {
        Some(dynamic) if dynamic.images == index => {
            (enums::ACL_DATA_WITH_DYNAMIC_AIPP, dynamic.settings)
        }
        Some(_) => (enums::ACL_DYNAMIC_AIPP_NODE, NO_INPUT),
        None if input.aipp.is_some() => (enums::ACL_DATA_WITH_STATIC_AIPP, NO_INPUT),
        None => (enums::ACL_DATA_WITHOUT_AIPP, NO_INPUT),
    })
}

/// Returns the parameters of an input's preprocessing.
pub fn aclmdlGetFirstAippInfo(
    cx: &Cx<'_>,
    id: u32,
    index: usize,
) -> Result<Box<types::aclAippInfo>> {
    let input = input(cx, id, index)?;
    let Some(found) = &input.aipp else {
        return refuse(
            ErrorKind::AippMissing,
            format!(
                "input {index} (\"{}\") of model {id} {}",
                input.name,
                if input.dynamic_aipp.is_some() {
                    "is preprocessed as the program says before each execution"
                } else {
                    "takes its data as they are"
                }
            ),
        );
    };
    let aipp = &found.aipp;
    let number = |value: usize| i32::try_from(value).unwrap_or(i32::MAX);
    let mut info = Box::new(types::aclAippInfo::ZERO);
    info.inputFormat = aipp.format.number() as _;
    info.srcImageSizeW = number(aipp.source[0]);
    info.srcImageSizeH = number(aipp.source[1]);
    info.cropSwitch = i8::from(aipp.crop != [0, 0, aipp.source[0], aipp.source[1]]);
    [
        info.loadStartPosW,
        info.loadStartPosH,
        info.cropSizeW,
        info.cropSizeH,
    ] = aipp.crop.map(number);
    info.resizeSwitch = i8::from(aipp.scaled != [aipp.crop[2], aipp.crop[3]]);
    [info.resizeOutputW, info.resizeOutputH] = aipp.scaled.map(number);
    info.paddingSwitch = i8::from(aipp.border != [0; 4]);
    [
        info.leftPaddingSize,
        info.rightPaddingSize,
        info.topPaddingSize,
        info.bottomPaddingSize,
    ] = aipp.border.map(number);
    info.cscSwitch = i8::from(aipp.colours.is_some());
    info.rbuvSwapSwitch = i8::from(aipp.swap);
    info.axSwapSwitch = i8::from(aipp.rotate);
    let (matrix, after, before) = aipp.colours.unwrap_or_default();
    [
        info.matrixR0C0,
        info.matrixR0C1,
        info.matrixR0C2,
        info.matrixR1C0,
        info.matrixR1C1,
        info.matrixR1C2,
        info.matrixR2C0,
        info.matrixR2C1,
        info.matrixR2C2,
    ] = matrix;
    [info.outputBias0, info.outputBias1, info.outputBias2] = after;
    [info.inputBias0, info.inputBias1, info.inputBias2] = before;
    [info.meanChn0, info.meanChn1, info.meanChn2, info.meanChn3] =
        aipp.mean.map(|mean| mean as i32);
    [info.minChn0, info.minChn1, info.minChn2, info.minChn3] = aipp.least;
    [
        info.varReciChn0,
        info.varReciChn1,
        info.varReciChn2,
        info.varReciChn3,
    ] = aipp.factor;
    info.srcFormat = NCHW;
    info.srcDatatype = found.data_type;
    info.srcDimNum = found.dims.len();
    info.shapeCount = 1;
    let out = &mut info.outDims[0];
    fill(&mut out.srcDims, &input.dims);
    out.srcSize = input.bytes;
    fill(&mut out.aippOutdims, &found.dims);
    out.aippOutSize = found.bytes;
    Ok(info)
}

/// ACL_FORMAT_NCHW.
const NCHW: i32 = 0;

fn fill(to: &mut types::aclmdlIODims, dims: &[i64]) {
    let count = dims.len().min(to.dims.len());
    to.dimCount = count;
    to.dims[..count].copy_from_slice(&dims[..count]);
}

/// The settings of dynamic preprocessing, as a program puts them together.
pub struct AippSettings {
    id: u64,
    content: Mutex<Settings>,
}

/// The settings by handle.
pub type AippTable = Table<AippSettings>;

pub(crate) fn table() -> AippTable {
    Table::new(IdKind::AippSettings, Arc::default())
}

/// What all images of a batch share, and what each has of its own.
#[derive(Clone)]
struct Settings {
    format: u32,
    source: [i32; 2],
    colours: Option<([i32; 9], [i32; 3], [i32; 3])>,
    swap: bool,
    rotate: bool,
    images: Vec<One>,
}

/// What one image of a batch has of its own.
#[derive(Clone)]
struct One {
    crop: Option<[i32; 4]>,
    scaled: Option<[i32; 4]>,
    border: Option<[i32; 4]>,
    mean: [i16; 4],
    least: [f32; 4],
    factor: [f32; 4],
}

impl Default for One {
    fn default() -> Self {
        One {
            crop: None,
            scaled: None,
            border: None,
            mean: [0; 4],
            least: [0.0; 4],
            factor: [1.0; 4],
        }
    }
}

fn bad<T>(sentence: impl Into<String>) -> Result<T> {
    refuse(ErrorKind::InvalidArgument, sentence)
}

/// The most images that one object has settings for.
const MOST: u64 = 4096;

fn checked_batch(batch: u64) -> Result<usize> {
    if !(1..=MOST).contains(&batch) {
        return bad(format!("batchSize is {batch}; it must be 1 to {MOST}"));
    }
    Ok(batch as usize)
}

/// Nothing is swapped, cut out or converted at first, and channels are multiplied by 1.
pub fn aclmdlCreateAIPP(cx: &Cx<'_>, batch: u64) -> Result<Raw> {
    let count = checked_batch(batch)?;
    let made = cx.process.aipp_settings.insert(|id| {
        Arc::new(AippSettings {
            id,
            content: Mutex::new(Settings {
                format: 0,
                source: [0; 2],
                colours: None,
                swap: false,
                rotate: false,
                images: vec![One::default(); count],
            }),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclmdlDestroyAIPP(cx: &Cx<'_>, settings: Raw) -> Result<()> {
    if settings.is_null() {
        return Err(null("aippParmsSet"));
    }
    cx.process
        .aipp_settings
        .remove(settings.0, cx.call.name)
        .map(drop)
}

/// The layout of the data is Jumar's own; aclmdlSetInputAIPP writes it.
pub fn aclmdlGetAippDataSize(_cx: &Cx<'_>, batch: u64) -> Result<usize> {
    checked_batch(batch).map(Aipp::block_bytes)
}

/// Changes settings; null is refused.
fn change(
    cx: &Cx<'_>,
    settings: Raw,
    work: impl FnOnce(&mut Settings) -> Result<()>,
) -> Result<()> {
    if settings.is_null() {
        return Err(null("aippParmsSet"));
    }
    let found = cx.process.aipp_settings.get(settings.0)?;
    let mut content = found.content.lock();
    work(&mut content)
}

/// Changes the settings of one image.
fn change_one(
    cx: &Cx<'_>,
    settings: Raw,
    index: u64,
    work: impl FnOnce(&mut One) -> Result<()>,
) -> Result<()> {
    change(cx, settings, |content| {
        let count = content.images.len();
        let one = usize::try_from(index)
            .ok()
            .and_then(|index| content.images.get_mut(index));
        match one {
            Some(one) => work(one),
            None => bad(format!(
                "batchIndex is {index}, and the settings are for {count} images"
            )),
        }
    })
}

fn switch(value: i8, name: &str) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => bad(format!("{name} is {value}; it must be 0 or 1")),
    }
}

/// Refuses a number outside its range.
fn within(value: i32, range: std::ops::RangeInclusive<i32>, name: &str) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    bad(format!(
        "{name} is {value}; it must be {} to {}",
        range.start(),
        range.end()
    ))
}

/// Keeps a format of the interface; whether a model can be given it, aclmdlSetInputAIPP says.
pub fn aclmdlSetAIPPInputFormat(cx: &Cx<'_>, settings: Raw, format: u32) -> Result<()> {
    change(cx, settings, |content| {
        if !(enums::ACL_YUV420SP_U8..=enums::ACL_RAW24).contains(&format) {
            return bad(format!(
                "inputFormat: {}",
                crate::not_a_value("aclAippInputFormat", format)
            ));
        }
        content.format = format;
        Ok(())
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclmdlSetAIPPCscParams(
    cx: &Cx<'_>,
    settings: Raw,
    on: i8,
    r0c0: i16,
    r0c1: i16,
    r0c2: i16,
    r1c0: i16,
    r1c1: i16,
    r1c2: i16,
    r2c0: i16,
    r2c1: i16,
    r2c2: i16,
    after0: u8,
    after1: u8,
    after2: u8,
    before0: u8,
    before1: u8,
    before2: u8,
) -> Result<()> {
    change(cx, settings, |content| {
        let matrix = [r0c0, r0c1, r0c2, r1c0, r1c1, r1c2, r2c0, r2c1, r2c2].map(i32::from);
        let colours = (
            matrix,
            [after0, after1, after2].map(i32::from),
            [before0, before1, before2].map(i32::from),
        );
        content.colours = switch(on, "cscSwitch")?.then_some(colours);
        Ok(())
    })
}

pub fn aclmdlSetAIPPRbuvSwapSwitch(cx: &Cx<'_>, settings: Raw, on: i8) -> Result<()> {
    change(cx, settings, |content| {
        content.swap = switch(on, "rbuvSwapSwitch")?;
        Ok(())
    })
}

pub fn aclmdlSetAIPPAxSwapSwitch(cx: &Cx<'_>, settings: Raw, on: i8) -> Result<()> {
    change(cx, settings, |content| {
        content.rotate = switch(on, "axSwapSwitch")?;
        Ok(())
    })
}

pub fn aclmdlSetAIPPSrcImageSize(
    cx: &Cx<'_>,
    settings: Raw,
    width: i32,
    height: i32,
) -> Result<()> {
    change(cx, settings, |content| {
        within(width, 1..=4096, "srcImageSizeW")?;
        within(height, 1..=4096, "srcImageSizeH")?;
        content.source = [width, height];
        Ok(())
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclmdlSetAIPPScfParams(
    cx: &Cx<'_>,
    settings: Raw,
    on: i8,
    from_width: i32,
    from_height: i32,
    to_width: i32,
    to_height: i32,
    index: u64,
) -> Result<()> {
    change_one(cx, settings, index, |one| {
        if !switch(on, "scfSwitch")? {
            one.scaled = None;
            return Ok(());
        }
        within(from_width, 16..=4096, "scfInputSizeW")?;
        within(from_height, 16..=4096, "scfInputSizeH")?;
        within(to_width, 16..=1920, "scfOutputSizeW")?;
        within(to_height, 16..=4096, "scfOutputSizeH")?;
        for (from, to) in [(from_width, to_width), (from_height, to_height)] {
            if to > from * 16 || from > to * 16 {
                return bad(format!(
                    "an image is scaled from {from} to {to} pixels; a sixteenth to sixteen times is possible"
                ));
            }
        }
        one.scaled = Some([from_width, from_height, to_width, to_height]);
        Ok(())
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclmdlSetAIPPCropParams(
    cx: &Cx<'_>,
    settings: Raw,
    on: i8,
    left: i32,
    top: i32,
    width: i32,
    height: i32,
    index: u64,
) -> Result<()> {
    change_one(cx, settings, index, |one| {
        if !switch(on, "cropSwitch")? {
            one.crop = None;
            return Ok(());
        }
        within(left, 0..=4095, "cropStartPosW")?;
        within(top, 0..=4095, "cropStartPosH")?;
        within(width, 1..=4096, "cropSizeW")?;
        within(height, 1..=4096, "cropSizeH")?;
        one.crop = Some([left, top, width, height]);
        Ok(())
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclmdlSetAIPPPaddingParams(
    cx: &Cx<'_>,
    settings: Raw,
    on: i8,
    top: i32,
    bottom: i32,
    left: i32,
    right: i32,
    index: u64,
) -> Result<()> {
    change_one(cx, settings, index, |one| {
        if !switch(on, "paddingSwitch")? {
            one.border = None;
            return Ok(());
        }
        for (size, name) in [
            (top, "paddingSizeTop"),
            (bottom, "paddingSizeBottom"),
            (left, "paddingSizeLeft"),
            (right, "paddingSizeRight"),
        ] {
            within(size, 0..=4096, name)?;
        }
        one.border = Some([left, right, top, bottom]);
        Ok(())
    })
}

pub fn aclmdlSetAIPPDtcPixelMean(
    cx: &Cx<'_>,
    settings: Raw,
    mean0: i16,
    mean1: i16,
    mean2: i16,
    mean3: i16,
    index: u64,
) -> Result<()> {
    change_one(cx, settings, index, |one| {
        one.mean = [mean0, mean1, mean2, mean3];
        Ok(())
    })
}

pub fn aclmdlSetAIPPDtcPixelMin(
    cx: &Cx<'_>,
    settings: Raw,
    least0: f32,
    least1: f32,
    least2: f32,
    least3: f32,
    index: u64,
) -> Result<()> {
    change_one(cx, settings, index, |one| {
        one.least = [least0, least1, least2, least3];
        Ok(())
    })
}

pub fn aclmdlSetAIPPPixelVarReci(
    cx: &Cx<'_>,
    settings: Raw,
    factor0: f32,
    factor1: f32,
    factor2: f32,
    factor3: f32,
    index: u64,
) -> Result<()> {
    change_one(cx, settings, index, |one| {
        one.factor = [factor0, factor1, factor2, factor3];
        Ok(())
    })
}

impl Settings {
    /// Turns the settings of one image into what the operator takes.
    fn image(&self, one: &One, number: usize) -> Result<Aipp> {
        let Some(format) = PixelFormat::of(i64::from(self.format)) else {
            return bad(format!(
                "the images have the format {}; ACL_YUV420SP_U8, ACL_XRGB8888_U8, ACL_RGB888_U8 and ACL_YUV400_U8 can be preprocessed (aclmdlSetAIPPInputFormat)",
                self.format
            ));
        };
        if self.source == [0; 2] {
            return bad("the size of the images was not set (aclmdlSetAIPPSrcImageSize)");
        }
        if one.scaled.is_some() {
            return bad(format!(
                "image {number} is to be scaled (aclmdlSetAIPPScfParams), which no supported part can"
            ));
        }
        let size = |value: i32| usize::try_from(value).unwrap_or_default();
        let [width, height] = self.source.map(size);
        let crop = one
            .crop
            .map_or([0, 0, width, height], |crop| crop.map(size));
        if format == PixelFormat::Yuv420sp
            && let Some(odd) = [width, height]
                .iter()
                .chain(&crop)
                .find(|&size| size % 2 == 1)
        {
            return bad(format!(
                "image {number} of {width} by {height}, of which {crop:?} is used, has the odd size {odd}; with ACL_YUV420SP_U8 all are even"
            ));
        }
        let aipp = Aipp {
            source: [width, height],
            crop,
            scaled: [crop[2], crop[3]],
            border: one.border.map_or([0; 4], |border| border.map(size)),
            swap: self.swap,
            rotate: self.rotate,
            colours: self.colours,
            mean: one.mean.map(f32::from),
            least: one.least,
            factor: one.factor,
            ..Aipp::plain(format, width, height)
        };
        match aipp.check() {
            Ok(()) => Ok(aipp),
            Err(error) => bad(format!("image {number}: {}", error.text())),
        }
    }
}

pub fn aclmdlSetInputAIPP(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    settings: Raw,
) -> Result<()> {
    let input = preparable(cx, id, dataset, index, settings)?;
    match &input.dynamic_aipp {
        Some(dynamic) if dynamic.settings == index => write(cx, id, dataset, dynamic, settings),
        _ => bad(format!(
            "input {index} (\"{}\") of model {id} takes no image settings; aclmdlGetAippType returns the one that does",
            input.name
        )),
    }
}

pub fn aclmdlSetAIPPByInputIndex(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    settings: Raw,
) -> Result<()> {
    let input = preparable(cx, id, dataset, index, settings)?;
    match &input.dynamic_aipp {
        Some(dynamic) if dynamic.images == index => write(cx, id, dataset, dynamic, settings),
        _ => refuse(
            ErrorKind::Failure,
            format!(
                "input {index} (\"{}\") of model {id} was not converted with dynamic preprocessing",
                input.name
            ),
        ),
    }
}

/// Checks what both ways to set settings have in common.
fn preparable(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    settings: Raw,
) -> Result<TensorInfo> {
    dataset::entries(cx, dataset, "dataset")?;
    if settings.is_null() {
        return Err(null("aippParmsSet"));
    }
    input(cx, id, index)
}

/// Writes the settings into the input's buffer, before the call returns.
fn write(cx: &Cx<'_>, id: u32, dataset: Raw, dynamic: &DynamicAipp, settings: Raw) -> Result<()> {
    let content = cx
        .process
        .aipp_settings
        .get(settings.0)?
        .content
        .lock()
        .clone();
    let loaded = model::find(cx, id)?;
    let inputs = &loaded.model.description().inputs;
    let (images, target) = (&inputs[dynamic.images], &inputs[dynamic.settings]);
    let count = content.images.len();
    if count != dynamic.most {
        return bad(format!(
            "the settings are for {count} images, and input {} (\"{}\") of model {id} takes {}",
            dynamic.images, images.name, dynamic.most
        ));
    }
    let size = |axis: usize| dynamic.result.shape.get(axis).copied().unwrap_or(-1);
    let mut list = Vec::with_capacity(count);
    for (number, one) in content.images.iter().enumerate() {
        let aipp = content.image(one, number)?;
        let [width, height] = aipp.result().map(|size| size as i64);
        let channels = aipp.format.channels() as i64;
        if [height, width] != [size(2), size(3)] || channels < size(1) {
            return bad(format!(
                "image {number} becomes {width} by {height} with {channels} channels, and input {} (\"{}\") of model {id} takes {} by {} with {}",
                dynamic.images,
                images.name,
                size(3),
                size(2),
                size(1)
            ));
        }
        list.push(aipp);
    }
    let [width, height] = content
        .source
        .map(|size| usize::try_from(size).unwrap_or_default());
    let bytes: usize = list
        .iter()
        .map(|aipp| aipp.format.dims(height, width).iter().product::<usize>())
        .sum();
    if bytes > images.bytes {
        return bad(format!(
            "{count} images of {width} by {height} have {bytes} bytes, and the model was built for {} (max_src_image_size)",
            images.bytes
        ));
    }
    model::write_input(cx, dataset, dynamic.settings, target, &Aipp::block(&list))
}
