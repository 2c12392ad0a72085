//! Files that commands on PDF files read and write.

use std::path::{Path, PathBuf};

use clap::Args;
use platen_pdf::Note;
use serde_json::json;

use crate::report::{Failure, OutputArguments, print_line, say};

/// Files of an operation.
#[derive(Debug, Args)]
pub(super) struct Files {
    /// PDF files, in order.
    #[arg(required = true, value_name = "IN")]
    pub(super) inputs: Vec<PathBuf>,
    /// Output file, or the folder of several.
    #[arg(long, short, value_name = "OUT")]
    pub(super) output: PathBuf,
}

/// Pages that an operation is about.
#[derive(Debug, Args)]
pub(super) struct Pages {
    /// Pages, as in `1-3,7`; default: all.
    #[arg(long)]
    pub(super) pages: Option<String>,
}

/// The name of a file.
pub(super) fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Makes a folder.
pub(super) fn create(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::file("create", &folder.display().to_string(), &error))
}

/// Says what was written.
pub(super) fn tell(path: &Path, size: usize, output: OutputArguments) {
    let name = path.display().to_string();
    if output.json {
        let report = json!({"ok": true, "output": name, "sizeBytes": size});
        print_line(&report.to_string());
    } else if !output.quiet && name != "-" {
        say(format_args!("{name}: {size} bytes"));
    }
}

/// Says what there is to say of files that were changed.
pub(super) fn tell_notes(notes: &[Note], output: OutputArguments) {
    for note in notes {
        if output.json {
            print_line(&serde_json::to_string(note).unwrap_or_default());
        } else if !output.quiet {
            say(format_args!("{note}"));
        }
    }
}
