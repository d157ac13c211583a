//! What the `dump` object of a configuration asks for. It was checked before it gets here.

use std::path::PathBuf;

use serde_json::Value;

use super::container::Statistic;

/// What is dumped, how, and where to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// The folder that was given.
    pub(super) path: Option<PathBuf>,
    /// When the settings were accepted, as `YYYYMMDDhhmmss`: the folder of all that they write.
    pub(super) stamp: String,
    pub(super) inputs: bool,
    pub(super) outputs: bool,
    /// Text with statistics instead of tensors; none inside is the usual choice.
    pub(super) statistics: Option<Option<Vec<Statistic>>>,
    /// The executions that are dumped, from first to last; empty for all.
    steps: Vec<(u64, u64)>,
    /// Only operators whose results are infinite or no numbers.
    pub(super) overflow: bool,
    /// Single operators too.
    operators: bool,
    scene: Option<String>,
    entries: Option<Vec<Entry>>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    model: Option<String>,
    layers: Vec<String>,
    type_blacklist: Vec<ExcludedOperator>,
    name_blacklist: Vec<ExcludedOperator>,
    ranges: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default)]
struct ExcludedOperator {
    name: String,
    /// `input0`, `output1`; empty for all of the operator.
    positions: Vec<String>,
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    let texts = list(value, key).iter();
    texts
        .filter_map(|text| Some(text.as_str()?.to_owned()))
        .collect()
}

fn banned(value: &Value, key: &str) -> Vec<ExcludedOperator> {
    let entries = list(value, key).iter();
    entries
        .map(|entry| ExcludedOperator {
            name: text(entry, "name").unwrap_or_default(),
            positions: texts(entry, "pos"),
        })
        .collect()
}

impl Settings {
    /// Reads a checked `dump` object; none when nothing is to be dumped.
    pub(crate) fn read(section: &Value, stamp: String) -> Option<Settings> {
        let on = |key| text(section, key).as_deref() == Some("on");
        let mode = text(section, "dump_mode").unwrap_or_else(|| "output".into());
        let entries = section.get("dump_list").and_then(Value::as_array);
        let entries = entries
            .filter(|entries| !entries.is_empty())
            .map(|entries| {
                let read = |entry: &Value| Entry {
                    model: text(entry, "model_name"),
                    layers: texts(entry, "layer"),
                    type_blacklist: banned(entry, "optype_blacklist"),
                    name_blacklist: banned(entry, "opname_blacklist"),
                    ranges: list(entry, "opname_range")
                        .iter()
                        .filter_map(|range| Some((text(range, "begin")?, text(range, "end")?)))
                        .collect(),
                };
                entries.iter().map(read).collect()
            });
        let statistics = (text(section, "dump_data").as_deref() == Some("stats")).then(|| {
            section.get("dump_stats").map(|_| {
                let names = texts(section, "dump_stats");
                names
                    .iter()
                    .filter_map(|name| Statistic::named(name))
                    .collect()
            })
        });
        let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
        let steps = text(section, "dump_step").map(|steps| {
            let parts = steps.split('|').map(|part| match part.split_once('-') {
                Some((first, last)) => (number(first), number(last)),
                None => (number(part), number(part)),
            });
            parts.collect()
        });
        let settings = Settings {
            path: text(section, "dump_path").map(PathBuf::from),
            stamp,
            inputs: mode != "output",
            outputs: mode != "input",
            statistics,
            steps: steps.unwrap_or_default(),
            overflow: on("dump_debug"),
            operators: on("dump_op_switch"),
            scene: text(section, "dump_scene"),
            entries,
        };
        let any = settings.entries.is_some()
            || settings.operators
            || settings.overflow
            || settings.scene.is_some();
        any.then_some(settings)
    }

    /// The settings for failures alone.
    pub(super) fn for_failures(scene: String, stamp: String) -> Settings {
        Settings {
            scene: Some(scene),
            stamp,
            ..Settings::default()
        }
    }

    /// Returns whether tensors of operators are dumped, as opposed to those of failures.
    pub(super) fn has_data(&self) -> bool {
        self.path.is_some() && (self.entries.is_some() || self.operators || self.overflow)
    }

    /// Returns whether failures are dumped.
    pub(super) fn has_failures(&self) -> bool {
        self.scene
            .as_deref()
            .is_some_and(|scene| scene != "watcher")
    }

    /// Returns whether the dump of a failure is a brief one.
    pub(super) fn is_brief(&self) -> bool {
        self.scene.as_deref() == Some("aic_err_brief_dump")
    }

    /// Returns whether an execution is dumped, the first being 0.
    pub(super) fn wants_step(&self, step: u64) -> bool {
        self.steps.is_empty()
            || self
                .steps
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&step))
    }

    /// Returns whether anything of a model is dumped, which has a name and comes from a graph with one.
    pub(super) fn wants_model(&self, names: &[&str]) -> bool {
        if !self.has_data() {
            return false;
        }
        match &self.entries {
            None => self.overflow,
            Some(entries) => entries.iter().any(|entry| entry.is_for(names)),
        }
    }

    /// What is dumped of an operator: for each input and output, by its position. `inside` remembers which ranges of
    /// operators have begun.
    pub(super) fn wants_operator(
        &self,
        names: &[&str],
        operator: &str,
        kind: &str,
        inside: &mut [bool],
    ) -> Option<impl Fn(&str, usize) -> bool + use<>> {
        let mut bans: Vec<String> = Vec::new();
        if let Some(entries) = &self.entries {
            let mut wanted = false;
            let mut at = 0;
            for entry in entries {
                let mut in_range = false;
                for (begin, end) in &entry.ranges {
                    let began = inside.get_mut(at);
                    at += 1;
                    let Some(began) = began else { continue };
                    *began |= begin == operator;
                    in_range |= *began;
                    if end == operator {
                        *began = false;
                    }
                }
                if !entry.is_for(names) {
                    continue;
                }
                let chosen = match (entry.layers.is_empty(), entry.ranges.is_empty()) {
                    (true, true) => true,
                    _ => entry.layers.iter().any(|layer| layer == operator) || in_range,
                };
                if !chosen {
                    continue;
                }
                wanted = true;
                let hit = |list: &'_ [ExcludedOperator], name: &str| {
                    let hits = list.iter().filter(|banned| banned.name == name);
                    hits.map(|banned| banned.positions.clone())
                        .collect::<Vec<_>>()
                };
                for positions in hit(&entry.type_blacklist, kind)
                    .into_iter()
                    .chain(hit(&entry.name_blacklist, operator))
                {
                    if positions.is_empty() {
                        return None;
                    }
                    bans.extend(positions);
                }
            }
            if !wanted {
                return None;
            }
        }
        Some(move |side: &str, index: usize| !bans.contains(&format!("{side}{index}")))
    }

    /// How many ranges of operators there are.
    pub(super) fn ranges(&self) -> usize {
        let entries = self.entries.iter().flatten();
        entries.map(|entry| entry.ranges.len()).sum()
    }
}

impl Entry {
    fn is_for(&self, names: &[&str]) -> bool {
        self.model
            .as_deref()
            .is_none_or(|model| names.contains(&model))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Option<Settings> {
        let value = serde_json::from_str(text).expect("json");
        Settings::read(&value, "20260101000000".into())
    }

    #[test]
    fn nothing_is_dumped_unless_something_asks_for_it() {
        assert!(settings(r#"{"dump_path": "/tmp", "dump_mode": "all"}"#).is_none());
        assert!(settings(r#"{"dump_path": "/tmp", "dump_list": []}"#).is_none());
        assert!(settings(r#"{"dump_path": "/tmp", "dump_list": [{}]}"#).is_some());
    }

    #[test]
    fn models_layers_and_bans_choose() {
        let all = settings(r#"{"dump_path": "/tmp", "dump_list": [{}]}"#).expect("some");
        assert!(all.wants_model(&["any"]));
        let some = settings(
            r#"{"dump_path": "/tmp", "dump_mode": "all", "dump_step": "0|3-5",
                "dump_list": [{"model_name": "net", "layer": ["a", "b"],
                               "opname_blacklist": [{"name": "b", "pos": ["input0"]}]}]}"#,
        )
        .expect("some");
        assert!(some.wants_model(&["net"]) && !some.wants_model(&["other"]));
        assert_eq!(
            [0, 1, 3, 5, 6].map(|step| some.wants_step(step)),
            [true, false, true, true, false]
        );
        let mut inside = vec![false; some.ranges()];
        assert!(
            some.wants_operator(&["net"], "c", "Add", &mut inside)
                .is_none()
        );
        let b = some
            .wants_operator(&["net"], "b", "Add", &mut inside)
            .expect("chosen");
        assert!(!b("input", 0) && b("input", 1) && b("output", 0));
    }

    #[test]
    fn a_range_goes_from_its_first_to_its_last_operator() {
        let some = settings(
            r#"{"dump_path": "/tmp", "dump_list": [{"model_name": "net", "opname_range": [{"begin": "b", "end": "c"}]}]}"#,
        )
        .expect("some");
        let mut inside = vec![false; some.ranges()];
        let chosen = ["a", "b", "x", "c", "d"].map(|name| {
            some.wants_operator(&["net"], name, "Add", &mut inside)
                .is_some()
        });
        assert_eq!(chosen, [false, true, true, true, false]);
    }
}
