//! The layouts of the structures that Python has as dicts, from `api/types`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context, bail};

use crate::model::{Api, CType, Field, Struct};

/// A structure with a union, the field that chooses the member, and the member for each value.
type Selector = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// Which field chooses the member of a structure's union.
const SELECTORS: &[Selector] = &[
    (
        "hi_venc_attr",
        "type",
        &[
            ("HI_PT_H264", "h264_attr"),
            ("HI_PT_H265", "h265_attr"),
            ("HI_PT_JPEG", "jpeg_attr"),
        ],
    ),
    ("hi_venc_rc_attr", "rc_mode", RATES),
    (
        "hi_venc_gop_attr",
        "gop_mode",
        &[
            ("HI_VENC_GOP_MODE_NORMAL_P", "normal_p"),
            ("HI_VENC_GOP_MODE_DUAL_P", "dual_p"),
            ("HI_VENC_GOP_MODE_SMART_P", "smart_p"),
            ("HI_VENC_GOP_MODE_BIPRED_B", "bipred_b"),
        ],
    ),
    (
        "hi_venc_mod_param",
        "mod_type",
        &[
            ("HI_VENC_MOD_VENC", "venc_mod_param"),
            ("HI_VENC_MOD_H264", "h264_mod_param"),
            ("HI_VENC_MOD_H265", "h265_mod_param"),
            ("HI_VENC_MOD_JPEG", "jpeg_mod_param"),
        ],
    ),
    (
        "hi_vdec_chn_param",
        "type",
        &[
            ("HI_PT_H264", "video_param"),
            ("HI_PT_H265", "video_param"),
            ("HI_PT_JPEG", "pic_param"),
        ],
    ),
    // Chosen by the rate control of the channel.
    ("hi_venc_rc_param", "", RATES),
];

/// The members of the modes of rate control.
const RATES: &[(&str, &str)] = &[
    ("HI_VENC_RC_MODE_H264_CBR", "h264_cbr"),
    ("HI_VENC_RC_MODE_H264_VBR", "h264_vbr"),
    ("HI_VENC_RC_MODE_H264_AVBR", "h264_avbr"),
    ("HI_VENC_RC_MODE_H264_QVBR", "h264_qvbr"),
    ("HI_VENC_RC_MODE_H264_CVBR", "h264_cvbr"),
    ("HI_VENC_RC_MODE_H264_FIXQP", "h264_fixqp"),
    ("HI_VENC_RC_MODE_MJPEG_CBR", "mjpeg_cbr"),
    ("HI_VENC_RC_MODE_MJPEG_VBR", "mjpeg_vbr"),
    ("HI_VENC_RC_MODE_H265_CBR", "h265_cbr"),
    ("HI_VENC_RC_MODE_H265_VBR", "h265_vbr"),
    ("HI_VENC_RC_MODE_H265_AVBR", "h265_avbr"),
    ("HI_VENC_RC_MODE_H265_QVBR", "h265_qvbr"),
    ("HI_VENC_RC_MODE_H265_CVBR", "h265_cvbr"),
    ("HI_VENC_RC_MODE_H265_FIXQP", "h265_fixqp"),
];

/// Fields that are addresses of arrays of structures, and the field with their length.
const ARRAYS: &[(&str, &str, &str)] = &[("hi_venc_stream", "pack", "pack_cnt")];

/// Returns the name of the constant of a structure's layout.
pub fn layout(name: &str) -> String {
    name.to_uppercase()
}

/// Returns a structure.
pub fn find<'a>(api: &'a Api, name: &str) -> anyhow::Result<&'a Struct> {
    api.structs
        .iter()
        .find(|of| of.name == name)
        .with_context(|| format!("{name} is not a structure of api/types"))
}

/// Writes the layouts of structures and of what they contain.
pub fn write(text: &mut String, api: &Api, names: &BTreeSet<String>) -> anyhow::Result<()> {
    let mut open: Vec<String> = names.iter().rev().cloned().collect();
    let mut done = BTreeSet::new();
    while let Some(name) = open.pop() {
        if !done.insert(name.clone()) {
            continue;
        }
        let of = find(api, &name)?;
        write!(
            text,
            "\npub(super) static {}: Layout = Layout {{ size: {}, fields: &[",
            layout(&name),
            of.size
        )?;
        let selector = SELECTORS.iter().find(|(known, ..)| *known == name);
        for field in &of.fields {
            let Some(ctype) = &field.ctype else {
                for member in &field.members {
                    let ctype = member.ctype.as_ref().context("a union inside a union")?;
                    let when = when(api, of, member, selector)?;
                    let kind = kind(api, of, member, ctype, &mut open)?;
                    line(
                        text,
                        &member.name,
                        field.offset + member.offset,
                        &kind,
                        &when,
                    )?;
                }
                continue;
            };
            let kind = kind(api, of, field, ctype, &mut open)?;
            line(text, &field.name, field.offset, &kind, "When::Always")?;
        }
        text.push_str("] };\n");
    }
    Ok(())
}

fn line(
    text: &mut String,
    name: &str,
    offset: usize,
    kind: &str,
    when: &str,
) -> anyhow::Result<()> {
    let end = if text.ends_with('[') { "" } else { ", " };
    match when {
        "When::Always" => write!(text, "{end}Field::new({name:?}, {offset}, {kind})")?,
        _ => write!(
            text,
            "{end}Field::member({name:?}, {offset}, {kind}, {when})"
        )?,
    }
    Ok(())
}

/// Returns the condition of a member of a union.
fn when(
    api: &Api,
    of: &Struct,
    member: &Field,
    selector: Option<&Selector>,
) -> anyhow::Result<String> {
    let Some((_, by, cases)) = selector else {
        return Ok("When::Always".to_owned());
    };
    let plain = member.name.trim_end_matches("_param");
    let case = cases
        .iter()
        .find(|(_, wanted)| *wanted == member.name || *wanted == plain)
        .with_context(|| format!("no value selects {}.{}", of.name, member.name))?;
    let values = api.enums.iter().flat_map(|of| &of.values);
    let (_, value) = values
        .into_iter()
        .find(|(name, _)| name == case.0)
        .with_context(|| format!("{} is not a constant", case.0))?;
    if by.is_empty() {
        return Ok(format!("When::Selected({value})"));
    }
    let by = of.fields.iter().find(|field| field.name == **by);
    let offset = by.context("the selecting field is missing")?.offset;
    Ok(format!("When::Equal({offset}, {value})"))
}

/// Returns what a field is.
fn kind(
    api: &Api,
    of: &Struct,
    field: &Field,
    ctype: &CType,
    open: &mut Vec<String>,
) -> anyhow::Result<String> {
    let array = ARRAYS
        .iter()
        .find(|(name, known, _)| *name == of.name && *known == field.name);
    if let Some((_, _, count)) = array {
        let count = of.fields.iter().find(|field| field.name == *count);
        let count = count.context("the field with the length is missing")?;
        open.push(ctype.base.clone());
        return Ok(format!(
            "Kind::List(&{}, {})",
            layout(&ctype.base),
            count.offset
        ));
    }
    let (element, size) = match ctype.stars {
        0 => scalar(api, &ctype.base, open)?,
        _ => ("Kind::Unsigned(8)".to_owned(), 8),
    };
    Ok(match ctype.array.as_slice() {
        [] => element,
        [Some(length)] => format!("Kind::Array(&{element}, {size}, {length})"),
        _ => bail!("{}.{} has more than one dimension", of.name, field.name),
    })
}

fn scalar(api: &Api, name: &str, open: &mut Vec<String>) -> anyhow::Result<(String, usize)> {
    if let Some(of) = api.structs.iter().find(|of| of.name == name) {
        open.push(name.to_owned());
        return Ok((format!("Kind::Structure(&{})", layout(name)), of.size));
    }
    if api.enums.iter().any(|of| of.name == name) {
        return Ok(("Kind::Unsigned(4)".to_owned(), 4));
    }
    let plain = api.aliases.iter().find(|of| of.name == name);
    let plain = plain.map_or(name, |of| of.ctype.as_str());
    let bytes = |text: &str| text.parse::<usize>().map(|bits| bits / 8);
    let inner = plain.trim_end_matches("_t");
    Ok(if let Some(bits) = inner.strip_prefix("uint") {
        let bytes = bytes(bits)?;
        (format!("Kind::Unsigned({bytes})"), bytes)
    } else if let Some(bits) = inner.strip_prefix("int") {
        let bytes = bytes(bits)?;
        (format!("Kind::Signed({bytes})"), bytes)
    } else if plain == "double" {
        ("Kind::Double".to_owned(), 8)
    } else {
        bail!("{name} ({plain}) has no form in Python")
    })
}
