//! Tasks for the source tree: `cargo run -p xtask -- data` writes the data of the benchmark
//! examples, `cargo run -p xtask -- gallery PLATEN` the gallery of all examples, and
//! `cargo run -p xtask -- nodes PLATEN` the pictures in the reference of nodes.

mod data;
mod gallery;
mod nodes;
mod picture;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match &words[..] {
        ["data"] => data::write(),
        ["gallery", platen] => gallery::write(platen),
        ["nodes", platen] => nodes::write(platen),
        _ => {
            eprintln!("usage: cargo run -p xtask -- data | gallery PLATEN | nodes PLATEN");
            return ExitCode::from(1);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
