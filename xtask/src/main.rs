//! Tasks of the source tree: `cargo run -p xtask -- data` writes the data of the benchmark examples, `-- office DIR` the
//! documents that conversions are measured with.

mod data;
mod office;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match &words[..] {
        ["data"] => data::write(),
        ["office", folder] => office::write(folder.as_ref()),
        _ => {
            eprintln!("usage: cargo run -p xtask -- data | office DIR");
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
