//! The reference page of single operators says of each whether it is computed.

use std::collections::BTreeSet;
use std::path::Path;

/// The generator finds computed operators by reading the tables as text; the tables themselves decide.
#[test]
fn the_reference_page_marks_exactly_the_computed_operators() {
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/aclnn-operators.md");
    let text = std::fs::read_to_string(page).expect("the page is generated");
    let mut marked = BTreeSet::new();
    let mut rows = 0;
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, computed, ..] = cells[..] else {
            continue;
        };
        if !name.starts_with("acl") {
            continue;
        }
        rows += 1;
        if computed == "yes" {
            marked.insert(name);
        }
    }
    assert_eq!(rows, jumar_eager::signatures::ALL.len());
    let computed: BTreeSet<&str> = jumar_eager::computed().collect();
    let wrong: Vec<_> = computed.symmetric_difference(&marked).collect();
    assert!(wrong.is_empty(), "run `cargo xtask gen`: {wrong:?}");
}

#[test]
fn signatures_are_sorted_and_every_computed_operator_has_one() {
    let names: Vec<&str> = jumar_eager::signatures::ALL
        .iter()
        .map(|signature| signature.name)
        .collect();
    assert!(names.is_sorted());
    for name in jumar_eager::computed() {
        assert!(
            names.binary_search(&name).is_ok(),
            "{name} has no signature"
        );
    }
}
