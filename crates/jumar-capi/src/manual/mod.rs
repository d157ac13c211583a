//! Shims that the generator cannot express: callbacks, variable arguments, structures behind pointers.
//!
//! Each stands in the API data with `shim = "hand"` and the reason beside it, but for those of `securec`, which are no part of the
//! interface.

pub mod aclnn;
pub mod allocator;
pub mod atb;
pub mod callback;
pub mod capture;
pub mod dump;
pub mod dvpp;
pub mod error;
pub mod hal;
pub mod hccl;
pub mod himpi;
pub mod hooks;
pub mod ipc;
pub mod kernel;
pub mod log;
pub mod managed_memory;
pub mod memcpy;
pub mod memory;
pub mod memory_extent;
pub mod model_config;
pub mod mspti;
pub mod prof;
pub mod rtc;
pub mod rts;
pub mod securec;
pub mod single_op;
pub mod source_location;
pub mod tdt_queue;
pub mod video;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// Observers of calls (checks, faults, leaks) see arguments only if a shim shows them.
    #[test]
    fn every_shim_shows_its_arguments() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let read = |path: &Path| fs::read_to_string(path).expect("a source file");
        let (mut shims, mut silent) = (0, Vec::new());
        for entry in fs::read_dir(folder.join("manual")).expect("the folder of the shims") {
            let text = read(&entry.expect("an entry").path());
            for part in text.split("extern \"C\" fn ").skip(1) {
                let body = part.split("\n}\n").next().unwrap_or(part);
                let name = body.split(['(', '<']).next().unwrap_or("");
                let enters = ["raw::status(", "raw::code(", "raw::value("]
                    .iter()
                    .any(|way| body.contains(way));
                if !enters {
                    continue;
                }
                shims += 1;
                if !body.contains("raw::trace(") {
                    silent.push(name.to_owned());
                }
            }
        }
        // Generated shims are rows of one macro.
        let macros = read(&folder.join("raw/shim.rs"));
        let rows = macros
            .split("macro_rules! shims")
            .nth(1)
            .expect("the macro");
        let rows = rows.split("macro_rules!").next().unwrap_or_default();
        assert!(
            rows.contains("raw::trace(cx, ||"),
            "rows show their arguments"
        );
        for entry in fs::read_dir(folder.join("generated")).expect("the folder of the rows") {
            let text = read(&entry.expect("an entry").path());
            if let Some(rows) = text.split("raw::shims! {").nth(1) {
                shims += rows.matches("\n    fn ").count();
            }
        }
        assert!(shims > 600, "{shims} shims were found");
        assert_eq!(silent, Vec::<String>::new());
    }
}
