//! The table: its cases with their setups put in front, checked against the API data.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::api::{Api, Constant, toml_files};
use crate::language::{self, Action, CALLBACKS, Expr, Step};

/// Whether a case shows how a rule works or how breaking it is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The rule as it works.
    Works,
    /// The rule broken: the calls answer codes or neutral values.
    Refused,
}

/// One scenario.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Case {
    /// Names the rule.
    pub id: String,
    /// The file it stands in, without its ending.
    pub group: String,
    /// The row of a misuse table or the section that states the rule.
    pub row: String,
    /// The rule in a sentence.
    pub says: String,
    /// Works or refused.
    pub kind: Kind,
    /// Environment variables of the process.
    pub env: BTreeMap<String, String>,
    /// Files that lie in the case's folder.
    pub files: BTreeMap<String, FileSpec>,
    /// The frontends that run the case; none means all.
    pub frontends: Option<Vec<String>>,
    /// Setups and own steps.
    pub steps: Vec<Step>,
    /// How many of the steps come from setups.
    pub setup_steps: usize,
    /// The C type of each variable.
    pub variables: BTreeMap<String, String>,
}

/// What lies in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileSpec {
    /// This text.
    Text(String),
    /// A text over and over, up to a number of bytes.
    Repeat(String, u64),
    /// It is a folder.
    Folder,
    /// A model, shorter by `cut` bytes at its end and with the bits of the byte at `flip` turned over.
    Model {
        /// The fixture's name.
        model: String,
        /// Bytes missing at the end.
        cut: u64,
        /// Where a byte is turned over.
        flip: Option<u64>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    case: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    row: String,
    says: String,
    kind: Kind,
    steps: String,
    #[serde(default)]
    setup: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    files: BTreeMap<String, FileRow>,
    frontends: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FileRow {
    Text(String),
    Spec(FileTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTable {
    repeat: Option<String>,
    count: Option<u64>,
    #[serde(default)]
    dir: bool,
    model: Option<String>,
    cut: Option<u64>,
    flip: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetupRow {
    steps: String,
}

/// Reads the table below the given root folder.
///
/// # Errors
/// All that is wrong with it: lines that are not of the language, names that the API does not have, ids used twice.
pub fn read(root: &Path, api: &Api) -> Result<Vec<Case>> {
    let folder = root.join("tests/behaviour");
    let setups: BTreeMap<String, SetupRow> = toml::from_str(
        &fs::read_to_string(folder.join("setups.toml")).context("tests/behaviour/setups.toml")?,
    )
    .context("tests/behaviour/setups.toml")?;
    let mut cases = Vec::new();
    let mut wrong = Vec::new();
    for (file, text) in toml_files(&folder)? {
        let group = file.trim_end_matches(".toml");
        if group == "setups" {
            continue;
        }
        let table: TableFile =
            toml::from_str(&text).with_context(|| format!("tests/behaviour/{file}"))?;
        for row in table.case {
            let id = row.id.clone();
            match case(row, group, &setups, api) {
                Ok(case) => cases.push(case),
                Err(error) => wrong.push(format!("{file}: {id}: {error:#}")),
            }
        }
    }
    let mut ids = BTreeSet::new();
    for case in &cases {
        if !ids.insert(&case.id) {
            wrong.push(format!("{}: the id stands twice", case.id));
        }
    }
    ensure!(
        wrong.is_empty(),
        "the table has mistakes:\n{}",
        wrong.join("\n")
    );
    Ok(cases)
}

fn case(row: Row, group: &str, setups: &BTreeMap<String, SetupRow>, api: &Api) -> Result<Case> {
    ensure!(!row.says.trim().is_empty(), "it says nothing");
    ensure!(!row.row.trim().is_empty(), "it names no row or section");
    let mut steps = Vec::new();
    for name in &row.setup {
        let setup = setups
            .get(name)
            .with_context(|| format!("there is no setup {name}"))?;
        steps.extend(language::steps(&setup.steps)?);
    }
    let setup_steps = steps.len();
    steps.extend(language::steps(&row.steps)?);
    ensure!(steps.len() > setup_steps, "it does nothing");
    let files = row
        .files
        .into_iter()
        .map(|(name, file)| Ok((name, file_spec(file)?)))
        .collect::<Result<_>>()?;
    let variables = check_names(&steps, api)?;
    Ok(Case {
        id: row.id,
        group: group.to_string(),
        row: row.row,
        says: row.says,
        kind: row.kind,
        env: row.env,
        files,
        frontends: row.frontends,
        steps,
        setup_steps,
        variables,
    })
}

fn file_spec(row: FileRow) -> Result<FileSpec> {
    let table = match row {
        FileRow::Text(text) => return Ok(FileSpec::Text(text)),
        FileRow::Spec(table) => table,
    };
    match table {
        FileTable { dir: true, .. } => Ok(FileSpec::Folder),
        FileTable {
            repeat: Some(text),
            count: Some(count),
            ..
        } if !text.is_empty() => Ok(FileSpec::Repeat(text, count)),
        FileTable {
            model: Some(model),
            cut,
            flip,
            ..
        } => Ok(FileSpec::Model {
            model,
            cut: cut.unwrap_or(0),
            flip,
        }),
        _ => bail!("a file is a text, {{repeat, count}}, {{dir}} or {{model, cut, flip}}"),
    }
}

/// Checks that every name means something. Returns the C types of the variables.
fn check_names(steps: &[Step], api: &Api) -> Result<BTreeMap<String, String>> {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    for step in steps {
        check_step(step, api, &mut variables).with_context(|| format!("`{}`", step.text))?;
    }
    Ok(variables)
}

fn check_step(step: &Step, api: &Api, variables: &mut BTreeMap<String, String>) -> Result<()> {
    // What a step reads has to be there before it; what it makes is there after it.
    if let Action::Call(call) = &step.action {
        let function = api
            .functions
            .get(&call.function)
            .with_context(|| format!("the API has no function {}", call.function))?;
        ensure!(
            function.params.len() == call.args.len(),
            "{} takes {} arguments and was given {}",
            call.function,
            function.params.len(),
            call.args.len()
        );
        ensure!(
            !function.answers_code() || call.answer.is_some() || call.until.is_some(),
            "{} answers a code; the step has to say which",
            call.function
        );
        for (arg, param) in call.args.iter().zip(&function.params) {
            if let Expr::Out(name) = arg {
                let pointee = pointee(&param.ty)
                    .with_context(|| format!("{} cannot hold a value", param.ty))?;
                declare(variables, name, pointee)?;
            }
        }
        if let Some(name) = &call.assign {
            ensure!(function.ret != "void", "{} returns nothing", call.function);
            declare(variables, name, function.ret.clone())?;
        }
    }
    match &step.action {
        Action::Declare { name, ty } => declare(variables, name, ty.clone())?,
        Action::Let { name, .. } => declare(variables, name, "void *".to_string())?,
        _ => {}
    }
    let mut unknown = None;
    step.each_expr(&mut |expr| {
        if let Expr::Name(name) = expr {
            let known = variables.contains_key(name)
                || api.constants.contains_key(name)
                || CALLBACKS.contains(&name.as_str())
                || matches!(name.as_str(), "INFINITY" | "NAN")
                || is_thread(name);
            if !known {
                unknown = Some(name.clone());
            }
        }
    });
    match unknown {
        Some(name) => bail!("{name} is neither a variable nor a constant"),
        None => Ok(()),
    }
}

fn is_thread(name: &str) -> bool {
    name.strip_prefix('T')
        .is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
}

/// Returns the type that a pointer points to.
pub fn pointee(ty: &str) -> Option<String> {
    if let Some(element) = ty.strip_suffix("[]") {
        let element = element.trim_end_matches("const").trim_end();
        let number = !element.contains('*');
        let inner = element.strip_prefix("const ").filter(|_| number);
        return Some(inner.unwrap_or(element).to_string());
    }
    let ty = ty.trim_end_matches("const").trim_end();
    let inner = ty.strip_suffix('*')?.trim_end();
    let inner = inner.strip_prefix("const ").unwrap_or(inner);
    (inner != "void").then(|| inner.to_string())
}

fn declare(variables: &mut BTreeMap<String, String>, name: &str, ty: String) -> Result<()> {
    ensure!(
        !name.starts_with("ACL_") && !is_thread(name) && name != "NULL",
        "{name} is not a valid variable name"
    );
    let before = variables
        .entry(name.to_string())
        .or_insert_with(|| ty.clone());
    ensure!(
        *before == ty,
        "{name} is a {before}; a {ty} needs a name of its own"
    );
    Ok(())
}

impl Case {
    /// Returns the case under another id and with other steps, as many of them from setups as before.
    ///
    /// # Errors
    /// A name in the steps means nothing.
    pub fn with_steps(&self, id: String, steps: Vec<Step>, api: &Api) -> Result<Case> {
        let variables = check_names(&steps, api).with_context(|| id.clone())?;
        Ok(Case {
            id,
            steps,
            variables,
            ..self.clone()
        })
    }

    /// The functions of the interface that the case calls, setups included.
    pub fn functions(&self) -> BTreeSet<&str> {
        self.steps
            .iter()
            .filter_map(|step| match &step.action {
                Action::Call(call) => Some(call.function.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Returns every word of the steps, setups included: variables, functions, constants and helpers.
    pub fn names(&self) -> BTreeSet<&str> {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        self.steps
            .iter()
            .flat_map(|step| step.text.split(is_end))
            .collect()
    }

    /// The functions called that are stubs.
    pub fn stubs<'a>(&'a self, api: &Api) -> Vec<&'a str> {
        self.functions()
            .into_iter()
            .filter(|name| api.functions.get(*name).is_some_and(|f| f.stub))
            .collect()
    }

    /// The models that the case needs.
    pub fn models(&self) -> BTreeSet<&str> {
        let mut models = BTreeSet::new();
        for step in &self.steps {
            step.each_expr(&mut |expr| {
                if let Expr::Helper(name, args) = expr
                    && let (true, Some(Expr::Text(model))) = (name == "model", args.first())
                {
                    models.insert(model.as_str());
                }
            });
        }
        for file in self.files.values() {
            if let FileSpec::Model { model, .. } = file {
                models.insert(model);
            }
        }
        models
    }

    /// Returns whether the case is for a frontend.
    pub fn is_for(&self, frontend: &str) -> bool {
        self.frontends
            .as_ref()
            .is_none_or(|frontends| frontends.iter().any(|s| s == frontend))
    }
}

/// Returns a constant's number; a text has none.
pub fn number_of(api: &Api, name: &str) -> Option<i64> {
    match api.constants.get(name) {
        Some(Constant::Number(number)) => Some(*number),
        Some(Constant::Text(_)) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lose_one_star() {
        assert_eq!(pointee("int32_t *").as_deref(), Some("int32_t"));
        assert_eq!(pointee("void **").as_deref(), Some("void *"));
        assert_eq!(pointee("int32_t *const").as_deref(), Some("int32_t"));
        assert_eq!(
            pointee("const aclmdlIODims *").as_deref(),
            Some("aclmdlIODims")
        );
        assert_eq!(pointee("void *"), None);
        assert_eq!(pointee("size_t"), None);
    }

    #[test]
    fn the_projects_table_has_no_mistakes() {
        let root = crate::root();
        let api = Api::read(&root).unwrap();
        let cases = read(&root, &api).unwrap();
        assert!(cases.len() > 600, "{}", cases.len());
    }

    fn tiny_api() -> Api {
        let mut api = Api::default();
        api.add_functions(
            "[aclrtSetDevice]\nret = \"aclError\"\nparams = [\"deviceId: int32_t\"]\n\
             [aclrtGetDevice]\nret = \"aclError\"\nparams = [\"deviceId: int32_t *, out\"]\n",
        )
        .unwrap();
        api
    }

    fn mistakes(steps: &str) -> String {
        let steps = language::steps(steps).unwrap();
        format!("{:#}", check_names(&steps, &tiny_api()).unwrap_err())
    }

    #[test]
    fn names_without_meaning_are_refused() {
        assert!(mistakes("aclrtSetDevice(d) -> 0").contains("neither"));
        assert!(mistakes("aclrtSetDevice(0)").contains("which"));
        assert!(mistakes("aclrtSetDevice(0, 1) -> 0").contains("takes 1"));
        assert!(mistakes("aclrtOpenDevice(0) -> 0").contains("no function"));
        assert!(mistakes("aclrtSetDevice(&x) -> 0").contains("cannot hold"));
        assert!(mistakes("h = host(4)\naclrtGetDevice(&h) -> 0").contains("name of its own"));
    }
}
