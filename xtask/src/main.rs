//! Checks of the source tree and generated documentation.
fn main() {}
