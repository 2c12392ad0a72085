//! The configuration of the service, for commands that start it or look after it.

use std::path::{Path, PathBuf};

use clap::Args;
use platen_fault::Code;
use platen_server::{Config, ConfigError, Settings};

use crate::report::Failure;

/// Read where no `--config` is given and it is there.
const DEFAULT_FILE: &str = "platen.toml";

/// Where the service has its settings and its data.
#[derive(Clone, Debug, Args)]
pub struct ConfigurationArguments {
    /// Data folder; default: as configured for the service.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Configuration file; default: `platen.toml` in the current folder, if present.
    #[arg(long, value_name = "FILE", env = "PLATEN_CONFIG")]
    config: Option<PathBuf>,
}

impl ConfigurationArguments {
    /// The configuration that the service would have.
    pub fn load(&self) -> Result<Config, Failure> {
        let flags = Settings {
            data_dir: self.data_dir.clone(),
            ..Settings::default()
        };
        load(self.config.as_deref(), flags)
    }
}

/// Merges the configuration file, the environment and flags.
pub fn load(file: Option<&Path>, flags: Settings) -> Result<Config, Failure> {
    let text = match file {
        Some(path) => Some(path),
        None => Some(Path::new(DEFAULT_FILE)).filter(|path| path.is_file()),
    };
    let text = text.map(|path| {
        std::fs::read_to_string(path)
            .map_err(|error| Failure::file("read", &path.display().to_string(), &error))
    });
    let variable = |name: &str| std::env::var(name).ok();
    Config::load(text.transpose()?.as_deref(), variable, flags).map_err(refused)
}

/// A configuration that cannot be used.
pub fn refused(error: ConfigError) -> Failure {
    let failure = Failure::new(Code::InvalidOption, error.message);
    match error.hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
