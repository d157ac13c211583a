//! The `jumar` command.

fn main() {}
