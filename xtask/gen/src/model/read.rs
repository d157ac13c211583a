//! Reads the API data and checks it.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;

use super::{
    Alias, Api, CType, Callback, Constant, ConstantValue, Count, Enum, Field, Function, Group,
    Handle, Kind, NamedType, Neutral, Param, Passing, Struct,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFunction {
    header: String,
    ret: String,
    params: Vec<String>,
    status: Option<String>,
    #[serde(default)]
    deprecated: bool,
    #[serde(default)]
    variadic: bool,
    #[serde(default)]
    brief: String,
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    codes: BTreeMap<String, i64>,
    shim: Option<String>,
    neutral: Option<toml::Value>,
    module: Option<String>,
    answer: Option<String>,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEnum {
    header: String,
    tag: Option<String>,
    underlying: String,
    values: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStruct {
    header: String,
    tag: Option<String>,
    kind: Option<String>,
    size: usize,
    align: usize,
    fields: Vec<RawField>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawField {
    Plain(String),
    Union {
        name: String,
        tag: Option<String>,
        offset: usize,
        size: usize,
        union: Vec<RawField>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHandle {
    header: String,
    tag: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCallback {
    header: String,
    ret: String,
    params: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAlias {
    header: String,
    r#type: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConstant {
    header: String,
    r#type: Option<String>,
    value: Option<i64>,
    literal: Option<String>,
    text: Option<String>,
}

impl Api {
    /// Reads the data below `root`, the repository's root.
    pub fn load(root: &Path) -> Result<Api> {
        let folder = root.join("api");
        let types = folder.join("types");
        let mut api = Api {
            groups: Vec::new(),
            enums: entries::<RawEnum>(&types.join("enums.toml"))?
                .into_iter()
                .map(|(name, raw)| enumeration(name, raw))
                .collect::<Result<_>>()?,
            structs: entries::<RawStruct>(&types.join("structs.toml"))?
                .into_iter()
                .map(|(name, raw)| structure(name, raw))
                .collect::<Result<_>>()?,
            handles: entries::<RawHandle>(&types.join("handles.toml"))?
                .into_iter()
                .map(|(name, raw)| Handle {
                    name,
                    header: raw.header,
                    tag: raw.tag,
                })
                .collect(),
            callbacks: entries::<RawCallback>(&types.join("callbacks.toml"))?
                .into_iter()
                .map(|(name, raw)| callback(name, raw))
                .collect::<Result<_>>()?,
            aliases: entries::<RawAlias>(&types.join("aliases.toml"))?
                .into_iter()
                .map(|(name, raw)| Alias {
                    name,
                    header: raw.header,
                    ctype: raw.r#type,
                })
                .collect(),
            constants: entries::<RawConstant>(&types.join("constants.toml"))?
                .into_iter()
                .map(|(name, raw)| constant(name, raw))
                .collect::<Result<_>>()?,
            kinds: entries::<Kind>(&folder.join("errors.toml"))?
                .into_iter()
                .map(|(name, raw)| Kind { kind: name, ..raw })
                .collect(),
            index: HashMap::new(),
        };
        api.build_index()?;
        api.groups = api.load_groups(&folder)?;
        api.check_codes()?;
        Ok(api)
    }

    fn build_index(&mut self) -> Result<()> {
        let mut all: Vec<(String, NamedType)> = Vec::new();
        all.extend(
            self.enums
                .iter()
                .enumerate()
                .map(|(at, x)| (x.name.clone(), NamedType::Enum(at))),
        );
        all.extend(
            self.structs
                .iter()
                .enumerate()
                .map(|(at, x)| (x.name.clone(), NamedType::Struct(at))),
        );
        all.extend(
            self.handles
                .iter()
                .enumerate()
                .map(|(at, x)| (x.name.clone(), NamedType::Handle(at))),
        );
        all.extend(
            self.callbacks
                .iter()
                .map(|x| (x.name.clone(), NamedType::Callback)),
        );
        all.extend(
            self.aliases
                .iter()
                .enumerate()
                .map(|(at, x)| (x.name.clone(), NamedType::Alias(at))),
        );
        for (name, what) in all {
            ensure!(
                self.index.insert(name.clone(), what).is_none(),
                "the type {name} is defined twice"
            );
        }
        Ok(())
    }

    fn load_groups(&self, folder: &Path) -> Result<Vec<Group>> {
        let mut names = Vec::new();
        for entry in
            fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?
        {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if let Some(stem) = name.strip_suffix(".toml")
                && stem != "errors"
            {
                names.push(stem.to_owned());
            }
        }
        names.sort();
        let mut groups = Vec::new();
        let mut seen = HashMap::new();
        for name in names {
            let file = folder.join(format!("{name}.toml"));
            let mut functions = Vec::new();
            for (function, raw) in entries::<RawFunction>(&file)? {
                if let Some(other) = seen.insert(function.clone(), name.clone()) {
                    bail!("{function} stands in {other}.toml and in {name}.toml");
                }
                functions.push(
                    self.function(function.clone(), raw)
                        .with_context(|| format!("{name}.toml: {function}"))?,
                );
            }
            groups.push(Group { name, functions });
        }
        Ok(groups)
    }

    fn function(&self, name: String, raw: RawFunction) -> Result<Function> {
        let stub = match raw.status.as_deref() {
            None => false,
            Some("stub") => true,
            Some(other) => bail!("status is \"{other}\"; it can only be \"stub\""),
        };
        let manual = match raw.shim.as_deref() {
            None => false,
            Some("manual") => true,
            Some(other) => bail!("shim is \"{other}\"; it can only be \"manual\""),
        };
        let code_is_answer = match raw.answer.as_deref() {
            None => false,
            Some("code") => true,
            Some(other) => bail!("answer is \"{other}\"; it can only be \"code\""),
        };
        let ret = ctype(&raw.ret)?;
        let params = raw
            .params
            .iter()
            .map(|text| self.param(text))
            .collect::<Result<Vec<_>>>()?;
        for param in &params {
            let count = match &param.passing {
                Passing::OutArray { count, .. } | Passing::Slice(count) | Passing::Span(count) => {
                    count
                }
                _ => continue,
            };
            let counts = match count {
                Count::Param(count) | Count::Element(count) => std::slice::from_ref(count),
                Count::Rows(counts) => counts.as_slice(),
                Count::Fixed(_) => &[],
            };
            for count in counts {
                ensure!(
                    params.iter().any(|p| p.name == *count),
                    "{}: no parameter is named {count}",
                    param.name
                );
            }
        }
        for kind in raw.errors.iter().chain(raw.codes.keys()) {
            ensure!(
                self.kinds.iter().any(|k| k.kind == *kind),
                "errors.toml has no kind {kind}"
            );
        }
        let undefined = self
            .find_enum(&ret.base)
            .and_then(|e| {
                e.values
                    .iter()
                    .find(|(name, _)| name.ends_with("UNDEFINED"))
            })
            .map_or(0, |(_, value)| *value);
        let neutral = match raw.neutral {
            None => Neutral::Number(undefined),
            Some(toml::Value::Integer(number)) => Neutral::Number(number),
            Some(toml::Value::String(text)) if text.is_empty() => Neutral::EmptyText,
            Some(other) => bail!("neutral is {other}; it can only be a number or the empty text"),
        };
        Ok(Function {
            name,
            header: raw.header,
            ret,
            params,
            stub,
            manual,
            deprecated: raw.deprecated,
            variadic: raw.variadic,
            brief: raw.brief,
            errors: raw.errors,
            codes: raw.codes,
            neutral,
            module: raw.module,
            code_is_answer,
            source: raw.source,
        })
    }

    fn param(&self, text: &str) -> Result<Param> {
        let (name, rest) = text
            .split_once(':')
            .ok_or_else(|| anyhow!("\"{text}\" is not \"name: C type\""))?;
        let mut parts = split_outside_parentheses(rest);
        ensure!(!parts.is_empty(), "\"{text}\" has no type");
        let ctype = ctype(&parts.remove(0))?;
        let mut passing = Passing::Plain;
        let mut boxed = false;
        for part in parts {
            let (word, argument) = match part.split_once('(') {
                Some((word, rest)) => (
                    word.to_owned(),
                    Some(rest.trim_end_matches(')').trim().to_owned()),
                ),
                None => (part.clone(), None),
            };
            let count = |argument: Option<String>| -> Result<Count> {
                let argument = argument.ok_or_else(|| anyhow!("\"{part}\" needs a length"))?;
                Ok(argument
                    .parse()
                    .map_or(Count::Param(argument), Count::Fixed))
            };
            passing = match (word.as_str(), argument) {
                ("boxed", None) => {
                    boxed = true;
                    passing
                }
                ("addr", None) => Passing::Address,
                ("handle", None) => Passing::Handle,
                ("text", None) => Passing::Text,
                ("in", None) => Passing::In,
                ("inout", None) => Passing::InOut,
                ("out", None) => Passing::Out {
                    optional: false,
                    boxed: false,
                },
                ("out?", None) => Passing::Out {
                    optional: true,
                    boxed: false,
                },
                ("out", argument) => Passing::OutArray {
                    count: count(argument)?,
                    optional: false,
                },
                ("out?", argument) => Passing::OutArray {
                    count: count(argument)?,
                    optional: true,
                },
                ("slice", argument) => Passing::Slice(count(argument)?),
                ("element", Some(argument)) => Passing::Slice(Count::Element(argument)),
                ("span", argument) => Passing::Span(count(argument)?),
                ("rows", Some(argument)) => {
                    let names: Vec<String> = argument
                        .split(',')
                        .map(|name| name.trim().to_owned())
                        .collect();
                    let names = <[String; 3]>::try_from(names)
                        .map_err(|_| anyhow!("\"{part}\" is not rows(pitch, width, height)"))?;
                    Passing::Span(Count::Rows(names))
                }
                _ => bail!("\"{text}\": unknown annotation \"{part}\""),
            };
        }
        if let (true, Passing::Out { boxed, .. }) = (boxed, &mut passing) {
            *boxed = true;
        }
        Ok(Param {
            name: name.trim().to_owned(),
            ctype,
            passing,
        })
    }

    /// Every kind's code is a constant of that name and value. The run-time compiler's header, which is not described as data,
    /// names its codes itself: they have none here.
    fn check_codes(&self) -> Result<()> {
        for kind in self.kinds.iter().filter(|kind| !kind.name.is_empty()) {
            let constant = self.constants.iter().find(|c| c.name == kind.name);
            let value = constant.map(|c| match &c.value {
                ConstantValue::Typed(_, value) | ConstantValue::Macro(_, value) => *value,
                ConstantValue::Text(_) => -1,
            });
            match value {
                None => bail!(
                    "errors.toml, {}: there is no constant {}",
                    kind.kind,
                    kind.name
                ),
                Some(value) if value != kind.code => {
                    bail!(
                        "errors.toml, {}: {} is {value}, not {}",
                        kind.kind,
                        kind.name,
                        kind.code
                    )
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

fn entries<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<Vec<(String, T)>> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let table: toml::Table = text
        .parse()
        .with_context(|| format!("parsing {}", file.display()))?;
    table
        .into_iter()
        .map(|(name, value)| {
            let entry = value
                .try_into()
                .with_context(|| format!("{}: {name}", file.display()))?;
            Ok((name, entry))
        })
        .collect()
}

fn enumeration(name: String, raw: RawEnum) -> Result<Enum> {
    let values = raw
        .values
        .iter()
        .map(|text| {
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| anyhow!("{text} is not \"NAME = value\""))?;
            Ok((name.trim().to_owned(), value.trim().parse()?))
        })
        .collect::<Result<_>>()
        .with_context(|| name.clone())?;
    let tag = raw.tag.unwrap_or_else(|| name.clone());
    Ok(Enum {
        name,
        header: raw.header,
        tag,
        unsigned: raw.underlying.starts_with("unsigned"),
        values,
    })
}

fn structure(name: String, raw: RawStruct) -> Result<Struct> {
    let fields = raw
        .fields
        .into_iter()
        .map(field)
        .collect::<Result<_>>()
        .with_context(|| name.clone())?;
    let tag = raw.tag.unwrap_or_else(|| name.clone());
    let union = raw.kind.as_deref() == Some("union");
    Ok(Struct {
        name,
        header: raw.header,
        tag,
        union,
        size: raw.size,
        align: raw.align,
        fields,
    })
}

fn field(raw: RawField) -> Result<Field> {
    match raw {
        RawField::Plain(text) => {
            let (name, rest) = text
                .split_once(':')
                .ok_or_else(|| anyhow!("\"{text}\" is not a field"))?;
            let parts: Vec<&str> = rest.split(',').map(str::trim).collect();
            let [of, offset, size] = parts[..] else {
                bail!("\"{text}\" is not \"name: type, offset, size\"")
            };
            Ok(Field {
                name: name.trim().to_owned(),
                ctype: Some(ctype(of)?),
                tag: String::new(),
                members: Vec::new(),
                offset: offset.parse()?,
                size: size.parse()?,
            })
        }
        RawField::Union {
            name,
            tag,
            offset,
            size,
            union,
        } => Ok(Field {
            name,
            ctype: None,
            tag: tag.unwrap_or_default(),
            members: union.into_iter().map(field).collect::<Result<_>>()?,
            offset,
            size,
        }),
    }
}

fn callback(name: String, raw: RawCallback) -> Result<Callback> {
    let params = raw
        .params
        .iter()
        .map(|text| {
            let (name, of) = text
                .split_once(':')
                .ok_or_else(|| anyhow!("\"{text}\" is not \"name: C type\""))?;
            Ok((name.trim().to_owned(), ctype(of)?))
        })
        .collect::<Result<_>>()?;
    Ok(Callback {
        name,
        header: raw.header,
        ret: ctype(&raw.ret)?,
        params,
    })
}

fn constant(name: String, raw: RawConstant) -> Result<Constant> {
    let value = match (raw.r#type, raw.value, raw.literal, raw.text) {
        (Some(of), Some(value), None, None) => ConstantValue::Typed(of, value),
        (None, Some(value), Some(literal), None) => ConstantValue::Macro(literal, value),
        (None, None, None, Some(text)) => ConstantValue::Text(text),
        _ => bail!("{name}: a constant has type and value, or literal and value, or text"),
    };
    Ok(Constant {
        name,
        header: raw.header,
        value,
    })
}

fn split_outside_parentheses(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(c);
        }
    }
    parts
        .into_iter()
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect()
}

/// Splits a C type into its parts.
fn ctype(text: &str) -> Result<CType> {
    let text = text.trim();
    if text.contains("(*") {
        let base = text.to_owned();
        return Ok(CType {
            text: base.clone(),
            base,
            konst: false,
            stars: 0,
            array: Vec::new(),
            function: true,
        });
    }
    let (head, array) = match text.find('[') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let array = array
        .split(']')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let length = part.trim_start_matches('[');
            if length.is_empty() {
                Ok(None)
            } else {
                Ok(Some(length.parse()?))
            }
        })
        .collect::<Result<Vec<_>>>()?;
    let spaced = head.replace('*', " * ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    let konst = words.first() == Some(&"const");
    if konst {
        words.remove(0);
    }
    let stars = words.iter().filter(|word| **word == "*").count();
    let base: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| *word != "*" && *word != "const")
        .collect();
    ensure!(!base.is_empty(), "\"{text}\" is not a C type");
    Ok(CType {
        text: text.to_owned(),
        base: base.join(" "),
        konst,
        stars,
        array,
        function: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_split_into_parts() {
        let t = ctype("const aclTensorDesc *const[]").unwrap();
        assert_eq!(
            (t.base.as_str(), t.konst, t.stars, t.array.len()),
            ("aclTensorDesc", true, 1, 1)
        );
        let t = ctype("int64_t[][2]").unwrap();
        assert_eq!(
            (t.base.as_str(), t.stars, t.array),
            ("int64_t", 0, vec![None, Some(2)])
        );
        let t = ctype("int32_t *const").unwrap();
        assert_eq!((t.base.as_str(), t.konst, t.stars), ("int32_t", false, 1));
        assert!(
            ctype("int32_t (*const)(const acldumpChunk *, int32_t)")
                .unwrap()
                .function
        );
    }

    #[test]
    fn annotations_end_at_commas_outside_parentheses() {
        assert_eq!(
            split_outside_parentheses(" f (*)(a, b), out"),
            ["f (*)(a, b)", "out"]
        );
    }
}
