//! `platen fonts`.

use std::process::ExitCode;

use clap::Args;
use platen_render::Renderer;

use super::font_arguments::FontArguments;
use crate::report::{Failure, OutputArguments, print_line};

/// Arguments of `platen fonts`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    fonts: FontArguments,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: OutputArguments) -> Result<ExitCode, Failure> {
    let renderer = Renderer::new(&arguments.fonts.settings());
    if output.json {
        let fonts: Vec<serde_json::Value> = renderer
            .fonts()
            .map(|face| {
                serde_json::json!({
                    "family": face.family,
                    "weight": face.weight,
                    "italic": face.italic,
                    "origin": face.origin,
                })
            })
            .collect();
        print_line(&serde_json::Value::from(fonts).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    for face in renderer.fonts() {
        let slant = if face.italic { "italic" } else { "" };
        print_line(&format!(
            "{:<34} {:>4} {slant:<7} {}",
            face.family, face.weight, face.origin
        ));
    }
    Ok(ExitCode::SUCCESS)
}
