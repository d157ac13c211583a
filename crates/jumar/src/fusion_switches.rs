//! The file that switches fusion passes on and off by their names.
//!
//! ```json
//! {"Switch": {"GraphFusion": {"ALL": "off", "AddZero": "on"}, "UBFusion": {"ALL": "off"}}}
//! ```

use std::collections::BTreeMap;

use jumar_model::graph::{GraphError, GraphErrorKind, files};
use serde_json::Value as Json;

type Result<T> = std::result::Result<T, GraphError>;

/// The name that stands for every pass that is not named.
const ALL: &str = "ALL";
/// The passes that change graphs.
const GRAPH: &str = "GraphFusion";
/// Passes over buffers of the card. No pass here is one.
const BUFFER: &str = "UBFusion";

/// Which passes are on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FusionSwitches {
    named: BTreeMap<String, bool>,
}

fn invalid(text: impl Into<String>) -> GraphError {
    GraphError::new(GraphErrorKind::InvalidOption, text)
}

impl FusionSwitches {
    /// Reads the file at a path.
    ///
    /// # Errors
    ///
    /// InvalidOption: the file cannot be read, or is not such a file. The sentence names the file and the entry.
    pub fn read(path: &str) -> Result<FusionSwitches> {
        let text = files::read_text(path, files::LARGEST_TEXT)
            .map_err(|error| invalid(format!("the file {path} cannot be read: {error}")))?;
        FusionSwitches::parse(&text).map_err(|error| error.at(format_args!("the file {path}")))
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    ///
    /// As [`read`](FusionSwitches::read).
    pub fn parse(text: &str) -> Result<FusionSwitches> {
        let json: Json = serde_json::from_str(text)
            .map_err(|error| invalid(format!("it is not JSON: {error}")))?;
        let switch = json
            .as_object()
            .and_then(|root| root.get("Switch"))
            .and_then(Json::as_object)
            .ok_or_else(|| {
                invalid("it has no object Switch; write {\"Switch\": {\"GraphFusion\": {\"NameOfAPass\": \"off\"}}}")
            })?;
        let mut switches = FusionSwitches::default();
        for (kind, passes) in switch {
            if kind != GRAPH && kind != BUFFER {
                return Err(invalid(format!(
                    "Switch has the entry {kind}; it can have {GRAPH} and {BUFFER}"
                )));
            }
            let passes = passes.as_object().ok_or_else(|| {
                invalid(format!(
                    "{kind} is {passes}; an object of names is required"
                ))
            })?;
            for (name, value) in passes {
                let on = match value.as_str() {
                    Some("on") => true,
                    Some("off") => false,
                    _ => {
                        return Err(invalid(format!(
                            "{kind}: {name} is {value}; it must be \"on\" or \"off\""
                        )));
                    }
                };
                if kind == GRAPH {
                    switches.named.insert(name.clone(), on);
                }
            }
        }
        Ok(switches)
    }

    /// Returns whether a pass that changes graphs is on. A pass that the file does not name is on, unless ALL is off.
    pub fn is_on(&self, pass: &str) -> bool {
        let named = |name| self.named.get(name).copied();
        named(pass).or_else(|| named(ALL)).unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_decides_and_all_decides_for_the_rest() {
        let some =
            r#"{"Switch": {"GraphFusion": {"A": "off", "B": "on"}, "UBFusion": {"C": "off"}}}"#;
        let all = r#"{"Switch": {"GraphFusion": {"ALL": "off", "B": "on"}}}"#;
        for (text, on) in [
            (some, [false, true, true]),
            (all, [false, true, false]),
            (r#"{"Switch": {}}"#, [true; 3]),
        ] {
            let switches = FusionSwitches::parse(text).unwrap();
            assert_eq!(
                ["A", "B", "C"].map(|name| switches.is_on(name)),
                on,
                "{text}"
            );
        }
    }

    #[test]
    fn a_damaged_file_is_refused_by_its_entry() {
        for (text, named) in [
            ("", "not JSON"),
            ("[]", "no object Switch"),
            (r#"{"Switch": 1}"#, "no object Switch"),
            (r#"{"Switch": {"Fusion": {}}}"#, "Fusion"),
            (
                r#"{"Switch": {"GraphFusion": "off"}}"#,
                "GraphFusion is \"off\"",
            ),
            (r#"{"Switch": {"GraphFusion": {"A": true}}}"#, "A is true"),
            (r#"{"Switch": {"UBFusion": {"A": "Off"}}}"#, "A is \"Off\""),
        ] {
            let error = FusionSwitches::parse(text).unwrap_err();
            assert!(error.text().contains(named), "{text}: {error}");
        }
        let error = FusionSwitches::read("/no/such/file").unwrap_err();
        assert!(error.text().contains("/no/such/file"), "{error}");
    }
}
