//! `atc --singleop`: a model file for each operator of a list.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use jumar::offline::{graph::files, single_op};

/// The largest list of descriptions.
const LARGEST: u64 = 16 << 20;

/// Compiles the operators of a list, and writes a file for each into a folder. Nothing is written unless all of them compile.
pub fn convert(list: &str, folder: &str) -> Result<()> {
    let text = files::read_text(list, LARGEST).with_context(|| list.to_owned())?;
    let operators =
        single_op::read_descriptions(&text).map_err(|error| anyhow!("{list}: {error}"))?;
    let mut written: Vec<(PathBuf, Vec<u8>)> = Vec::with_capacity(operators.len());
    for (index, operator) in operators.iter().enumerate() {
        let bytes = single_op::write(operator)
            .map_err(|error| anyhow!("{list}: operator {index}: {error}"))?;
        let path = Path::new(folder).join(single_op::file_name(index, operator));
        written.push((path, bytes));
    }
    if Path::new(folder).exists() && !Path::new(folder).is_dir() {
        bail!("--output={folder} is not a folder; single operators are written as one file each");
    }
    fs::create_dir_all(folder).with_context(|| folder.to_owned())?;
    for (path, bytes) in &written {
        crate::output::write(path, bytes)?;
        println!("{}: {} bytes", path.display(), bytes.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: &str = r#"[{"op": "Add",
        "input_desc": [{"type": "float32", "shape": [2]}, {"type": "float32", "shape": [2]}],
        "output_desc": [{"type": "float32", "shape": [2]}]},
       {"op": "Relu", "input_desc": [{"type": "float16", "shape": [-1, 4]}],
        "output_desc": [{"type": "float16", "shape": [-1, 4]}]}]"#;

    #[test]
    fn each_operator_becomes_a_file_that_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("operators.json");
        fs::write(&list, ADD).unwrap();
        let to = folder.path().join("op_models");
        convert(list.to_str().unwrap(), to.to_str().unwrap()).unwrap();
        let mut names: Vec<String> = fs::read_dir(&to)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        let wanted = ["0_Add_0_2_2_0_2_2_0_2_2.om", "1_Relu_1_2_-1_4_1_2_-1_4.om"];
        assert_eq!(names, wanted);
        for (name, kind) in wanted.iter().zip(["Add", "Relu"]) {
            let bytes = fs::read(to.join(name)).unwrap();
            assert_eq!(single_op::read(&bytes).unwrap().kind, kind);
        }
    }

    #[test]
    fn nothing_is_written_where_one_operator_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("operators.json");
        fs::write(&list, ADD.replace("Relu", "NoSuchOperator")).unwrap();
        let to = folder.path().join("op_models");
        let error = convert(list.to_str().unwrap(), to.to_str().unwrap()).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("operator 1: NoSuchOperator: no operator has this type"),
            "{error}"
        );
        assert!(!to.exists());
    }
}
