//! The table through Rust, in processes of the driver's own.

use std::path::Path;

use jumar_behaviour::run;

/// Like the drivers that want the install tree: the step `test` of `cargo xtask ci` leaves it to a step of its own.
mod install_tree {
    use super::*;

    #[test]
    fn the_table_holds_through_rust() {
        let driver = Path::new(env!("CARGO_BIN_EXE_jumar-behaviour"));
        let report = run::table(driver, &[]).unwrap_or_else(|error| panic!("{error:#}"));
        assert!(
            run::conclude(&report),
            "Rust: {} of the table's cases fail, see above",
            report.failures().len()
        );
    }
}
