//! Finds the installed LibreOffice.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use platen_pool::{Image, StartError};

/// How to install LibreOffice.
pub const INSTALL_HINT: &str = "install LibreOffice (Debian and Ubuntu: apt-get install libreoffice-writer-nogui \
    libreoffice-calc-nogui libreoffice-impress-nogui), or name the program in LIBREOFFICE_PATH";

/// The actual program, next to the script that users start.
const BINARY: &str = "soffice.bin";

/// Folders to search besides PATH.
const FOLDERS: [&str; 4] = [
    "/usr/lib/libreoffice/program",
    "/usr/lib64/libreoffice/program",
    "/opt/libreoffice/program",
    "/usr/local/lib/libreoffice/program",
];

/// An installed LibreOffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installation {
    /// Path of the program.
    pub program: PathBuf,
    /// Product version, such as `7.4`.
    pub version: String,
}

impl Installation {
    /// The folder that contains `program` and `share`.
    pub(crate) fn root(&self) -> PathBuf {
        let folder = self.program.parent().and_then(Path::parent);
        folder.map_or_else(PathBuf::new, Path::to_owned)
    }
}

/// Finds LibreOffice on this machine: the `named` program, or the first that is installed.
///
/// # Errors
/// LibreOffice was not found.
pub fn find_libreoffice(named: Option<&Path>) -> Result<Installation, StartError> {
    find_libreoffice_in(&Image::host(), named)
}

/// The same in an image.
///
/// # Errors
/// LibreOffice was not found there.
pub fn find_libreoffice_in(
    image: &Image,
    named: Option<&Path>,
) -> Result<Installation, StartError> {
    let candidates: Vec<PathBuf> = match named {
        Some(named) => vec![named.to_owned()],
        None => in_path(image)
            .chain(FOLDERS.map(|it| Path::new(it).join("soffice")))
            .collect(),
    };
    for candidate in &candidates {
        // `soffice` is a link into the folder of the program.
        let Some(script) = image.resolve(candidate) else {
            continue;
        };
        let folder = script.parent().unwrap_or(Path::new("/"));
        let program = folder.join(BINARY);
        if image.is_file(&program) {
            let version = version(&image.place(folder));
            return Ok(Installation { program, version });
        }
    }
    Err(StartError::NotInstalled {
        program: named.map_or_else(|| "LibreOffice".to_owned(), |it| it.display().to_string()),
        hint: image.hint(INSTALL_HINT, "LIBREOFFICE_PATH"),
    })
}

fn in_path(image: &Image) -> impl Iterator<Item = PathBuf> {
    let names = ["soffice", "libreoffice"].map(OsString::from);
    image
        .folders()
        .into_iter()
        .flat_map(move |folder| names.clone().map(|name| folder.join(name)))
}

/// Where distributions install jemalloc, in order of preference.
const ALLOCATORS: [&str; 5] = [
    "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
    "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2",
    "/usr/lib64/libjemalloc.so.2",
    "/usr/lib/libjemalloc.so.2",
    "/usr/local/lib/libjemalloc.so.2",
];

/// Finds jemalloc, with which LibreOffice takes less time and memory.
pub(crate) fn find_allocator(image: &Image) -> Option<&'static Path> {
    let mut all = ALLOCATORS.iter().map(Path::new);
    all.find(|path| image.is_file(path))
}

/// Reads `ProductKey=LibreOffice 7.4` from LibreOffice's own start-up file.
fn version(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("bootstraprc")).unwrap_or_default();
    let key = text.lines().find_map(|it| it.strip_prefix("ProductKey="));
    let version = key.and_then(|it| it.rsplit(' ').next());
    version.unwrap_or_default().trim().to_owned()
}
