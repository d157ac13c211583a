//! The `.pyi` files: one a submodule, in a package that holds stubs alone.

use super::data::{Function, Module};

const FIRST_LINE: &str = "# Written by `cargo xtask gen` from api/pyacl. Do not edit.\n";

/// File names and texts.
pub fn files(modules: &[Module]) -> Vec<(String, String)> {
    let submodules: Vec<&str> = modules
        .iter()
        .map(|m| m.name.as_str())
        .filter(|name| *name != "base")
        .collect();
    modules
        .iter()
        .map(|module| {
            let base = module.name == "base";
            let mut text = String::from(FIRST_LINE);
            let body: String = module.functions.iter().map(function).collect();
            let names: Vec<&str> = ["Any", "Callable", "SupportsIndex"]
                .into_iter()
                .filter(|name| body.contains(name))
                .collect();
            if !names.is_empty() {
                text += &format!("\nfrom typing import {}\n", names.join(", "));
            }
            if base {
                text += "\nfrom . import (\n";
                for name in &submodules {
                    text += &format!("    {name} as {name},\n");
                }
                text += ")\n";
            }
            text += "\n";
            text += &body;
            let file = if base {
                "__init__.pyi".to_string()
            } else {
                format!("{}.pyi", module.name)
            };
            (file, text)
        })
        .collect()
}

fn function(function: &Function) -> String {
    let params = function.params();
    let list = if params.is_empty() {
        // Whatever is passed to a function without parameters is ignored.
        "*args: object".to_string()
    } else {
        let mut list: Vec<String> = params
            .iter()
            .map(|(name, kind, optional)| {
                format!("{name}: {kind}{}", if *optional { " = ..." } else { "" })
            })
            .collect();
        list.push("/".to_string());
        list.join(", ")
    };
    format!(
        "def {}({list}) -> {}: ...\n",
        function.name,
        function.returns()
    )
}
