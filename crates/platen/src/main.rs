//! The `platen` command.
fn main() {}
