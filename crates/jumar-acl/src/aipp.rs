//! Preprocessing of pictures inside a model: what a model was built with.

use jumar::offline::TensorInfo;
use jumar_types::{Error, ErrorKind, Result};

use crate::generated::types;
use crate::{Cx, model, refuse};

/// ACL_DATA_WITHOUT_AIPP and ACL_DATA_WITH_STATIC_AIPP.
const WITHOUT: u32 = 0;
const STATIC: u32 = 1;

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
                "input {index} was asked of model {id}, which has {} inputs",
                inputs.len()
            ),
        )
    })
}

/// Tells how the pictures of an input are preprocessed. No input is attached to another one here.
pub fn aclmdlGetAippType(cx: &Cx<'_>, id: u32, index: usize) -> Result<(u32, usize)> {
    let kind = match input(cx, id, index)?.aipp {
        None => WITHOUT,
        Some(_) => STATIC,
    };
    Ok((kind, NO_INPUT))
}

/// Tells everything about the preprocessing of an input.
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
                "input {index} (\"{}\") of model {id} takes its data as they are",
                input.name
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
