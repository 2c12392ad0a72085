//! The fonts shipped with Platen, and which of the system's fonts are visible in addition: to the
//! layout engine directly, and to LibreOffice and Chromium through a fontconfig configuration. So
//! Arial is Liberation Sans everywhere, and page breaks do not change from machine to machine.

mod fontconfig;
mod shipped;

use std::path::{Path, PathBuf};

pub use self::{
    fontconfig::{Installed, install},
    shipped::SHIPPED,
};

/// Where fonts come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FontSettings {
    /// Folders whose fonts take precedence over all others.
    pub folders: Vec<PathBuf>,
    /// Whether to use the system's fonts too, after the shipped ones.
    pub system: bool,
}

impl FontSettings {
    /// The shipped fonts and the system's: the default of a service.
    #[must_use]
    pub fn with_system() -> Self {
        Self {
            folders: Vec::new(),
            system: true,
        }
    }
}

/// Folders where systems keep fonts, by the XDG conventions.
#[must_use]
pub fn system_font_folders() -> Vec<PathBuf> {
    let mut folders = vec![
        PathBuf::from("/usr/share/fonts"),
        PathBuf::from("/usr/local/share/fonts"),
    ];
    if let Some(home) = std::env::var_os("HOME") {
        folders.push(Path::new(&home).join(".local/share/fonts"));
        folders.push(Path::new(&home).join(".fonts"));
    }
    folders
}

/// Families that a shipped family replaces: it has the same metrics, or is the usual substitute.
/// fontconfig calls most of them metric aliases.
pub const STAND_INS: [(&str, &[&str]); 3] = [
    (
        "Liberation Sans",
        &[
            "Arial",
            "Helvetica",
            "Helvetica Neue",
            "Arimo",
            "Albany",
            "Albany AMT",
            "Nimbus Sans",
            "Nimbus Sans L",
            "TeX Gyre Heros",
            "FreeSans",
        ],
    ),
    (
        "Liberation Serif",
        &[
            "Times New Roman",
            "Times",
            "Tinos",
            "Thorndale",
            "Thorndale AMT",
            "Nimbus Roman",
            "Nimbus Roman No9 L",
            "TeX Gyre Termes",
            "FreeSerif",
        ],
    ),
    (
        "Liberation Mono",
        &[
            "Courier New",
            "Courier",
            "Cousine",
            "Cumberland",
            "Cumberland AMT",
            "Nimbus Mono PS",
            "Nimbus Mono L",
            "TeX Gyre Cursor",
            "FreeMono",
        ],
    ),
];

/// Whether a shipped family replaces this one. The system's font of that name is ignored then,
/// because not every machine has it.
#[must_use]
pub fn is_shipped_family(family: &str) -> bool {
    let same = |name: &str| name.eq_ignore_ascii_case(family);
    STAND_INS
        .iter()
        .any(|(shipped, others)| same(shipped) || others.iter().any(|name| same(name)))
}

/// Maximum number of font files, in all folders together.
const MAX_FILES: usize = 5_000;
/// Maximum depth of subfolders.
const MAX_DEPTH: usize = 6;

/// Font files below `folders`, in the order of their names, at most 5,000.
#[must_use]
pub fn font_files<'a>(folders: impl IntoIterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders {
        find(folder, 0, &mut files);
    }
    files
}

fn find(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        if files.len() >= MAX_FILES {
            return;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_font = matches!(
            extension.map(str::to_ascii_lowercase).as_deref(),
            Some("ttf" | "otf" | "ttc" | "otc")
        );
        if is_font {
            files.push(path);
        } else if depth < MAX_DEPTH && path.is_dir() {
            find(&path, depth + 1, files);
        }
    }
}
