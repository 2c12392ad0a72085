//! Tasks of the source tree: `cargo run -p xtask -- data` writes the data of the benchmark examples.

mod data;

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("data") => match data::write() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::from(2)
            }
        },
        _ => {
            eprintln!("usage: cargo run -p xtask -- data");
            ExitCode::from(1)
        }
    }
}
