//! The project's own commands: `cargo xtask <gen|dist|demo|ci|bench|tidy>`.

fn main() {}
