//! Where commands take fonts from.

use std::path::PathBuf;

use clap::Args;
use platen_fonts::FontSettings;

/// Where fonts come from.
#[derive(Clone, Debug, Default, Args)]
pub struct FontArguments {
    /// Font folder that takes precedence over system fonts; repeatable.
    #[arg(
        long = "fonts",
        value_name = "DIR",
        env = "PLATEN_FONTS_DIR",
        value_delimiter = ':'
    )]
    folders: Vec<PathBuf>,
    /// Use only Platen's own fonts and those from --fonts.
    #[arg(long)]
    no_system_fonts: bool,
}

impl FontArguments {
    /// As the engine wants them.
    pub fn settings(&self) -> FontSettings {
        FontSettings {
            folders: self.folders.clone(),
            system: !self.no_system_fonts,
        }
    }
}
