//! The passes of a source that is compiled once for each kind of core, and how their code becomes one object.
//!
//! The passes define the same templates and inline functions with different bodies, which a linker would merge. Each pass but the first
//! therefore becomes an object without global symbols, except for the state that all passes share and a table of its kernels. The first
//! pass finds the code of the other kinds of cores in these tables (`ascendc/launch.h`).

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use super::rewrite::Pass;

/// Macros by which a source distinguishes the kinds of cores.
pub const CORE_MACROS: &[&str] = &["__DAV_C220_CUBE__", "__DAV_C220_VEC__"];

/// Macros by which a source distinguishes host and device.
pub const DEVICE_MACROS: &[&str] = &["__CCE_AICORE__", "__NPU_ARCH__", "__DAV_C220_", "__CCE__"];

/// Symbols that all passes of a program share.
pub const SHARED: &[&str] = &[
    "jumar_current",
    "_ZN5jumar7ascendc12current_coreE",
    "_ZN5jumar7ascendc10tiling_keyE",
];

/// The function of a launch or a kernel in `ascendc/launch.h`, as the ABI of C++ spells its symbol.
const SITES: &[&str] = &[
    "_ZN5jumar7ascendc10LaunchSiteI",
    "_ZN5jumar7ascendc10KernelSiteI",
];
const SITE_END: &str = "3runEv";

impl Pass {
    /// Returns the options of the preprocessor.
    pub fn definitions(self, chip: u32, unit: &str) -> Vec<String> {
        let number = match self {
            Pass::All => 0,
            Pass::VectorAndHost => 1,
            Pass::Cube => 2,
            Pass::Vector => 3,
            Pass::Host => 4,
        };
        let mut all = vec![
            format!("-DJUMAR_ASCENDC_CHIP={chip}"),
            format!("-DJUMAR_ASCENDC_PASS={number}"),
        ];
        if self != Pass::Host {
            all.push(format!("-D__NPU_ARCH__={chip}"));
        }
        if self != Pass::All {
            all.push(format!("-DJUMAR_ASCENDC_UNIT={unit}"));
        }
        all
    }

    /// Returns the name of the table of a pass that is not the first one.
    pub fn table(self, unit: &str) -> Option<String> {
        match self {
            Pass::Cube => Some(format!("jumar_cube_{unit}")),
            Pass::Vector => Some(format!("jumar_vector_{unit}")),
            Pass::All | Pass::VectorAndHost | Pass::Host => None,
        }
    }
}

/// Returns a word that distinguishes the objects of a program.
pub fn unit(source: &Path, object: &Path) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut hasher = DefaultHasher::new();
    absolute(source).hash(&mut hasher);
    absolute(object).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Returns the assembler text of the table of kernels that an assembler text defines.
pub fn table(assembly: &str, name: &str) -> String {
    let mut rows = String::new();
    let mut keys = String::new();
    // Clang adds a comment to a label.
    let labels = assembly
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(label, _)| label);
    for (number, symbol) in labels.filter(|label| is_site(label)).enumerate() {
        // The key is the type's name as std::type_info has it.
        let end = symbol.len() - SITE_END.len();
        let key = &symbol["_Z".len()..end];
        let _ = writeln!(rows, "\t.quad .Ljumar_key{number}\n\t.quad {symbol}");
        let _ = writeln!(keys, ".Ljumar_key{number}:\n\t.string \"{key}E\"");
    }
    format!(
        "\n\t.section .data.rel.ro.jumar,\"aw\"\n\t.balign 8\n\t.globl {name}\n\t.hidden {name}\n{name}:\n{rows}\t.quad 0\n\t.quad 0\n\
         \t.section .rodata.jumar,\"a\"\n{keys}"
    )
}

fn is_site(label: &str) -> bool {
    label.ends_with(SITE_END) && SITES.iter().any(|site| label.starts_with(site))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lists_the_launches_of_an_assembler_text() {
        let site = "_ZN5jumar7ascendc10LaunchSiteIZ4mainEUlDpT_E_JPiEE3runEv";
        let text = table(
            &format!("main:\n\tret\n{site}:    # @{site}\n\tret\n.L2:\n"),
            "t",
        );
        assert!(text.contains(&format!(
            "\t.quad .Ljumar_key0\n\t.quad {site}\n\t.quad 0\n"
        )));
        assert!(text.contains("\t.string \"N5jumar7ascendc10LaunchSiteIZ4mainEUlDpT_E_JPiEEE\"\n"));
        assert!(!text.contains("jumar_key1"));
    }

    #[test]
    fn objects_of_one_source_have_different_words() {
        let one = unit(Path::new("/k.cpp"), Path::new("/a.o"));
        assert_eq!(one, unit(Path::new("/k.cpp"), Path::new("/a.o")));
        assert_ne!(one, unit(Path::new("/k.cpp"), Path::new("/b.o")));
    }

    #[test]
    fn the_host_has_no_macros_of_cores() {
        let host = Pass::Host.definitions(2201, "u");
        assert!(!host.iter().any(|one| one.contains("__NPU_ARCH__")));
        assert_eq!(Pass::Cube.table("u").unwrap(), "jumar_cube_u");
        assert!(Pass::Host.table("u").is_none());
    }
}
