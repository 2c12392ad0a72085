//! The list of what an archive contains.

use std::{
    collections::BTreeSet,
    path::{Component, Path},
};

use serde::{Deserialize, Serialize};

use super::{BackupError, DATABASE, MANIFEST};

/// Version of the format of archives.
const FORMAT: u32 = 1;
/// Longest path, in bytes.
const MAX_PATH_BYTES: usize = 1_024;

/// The list of what an archive contains.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    format: u32,
    /// Version of Platen that wrote the archive.
    pub(super) platen_version: String,
    /// Milliseconds since 1970.
    pub(super) created_unix_ms: u64,
    /// Version of the schema of the database; `None` if there is no database in the archive.
    pub(super) schema_version: Option<u32>,
    pub(super) files: Vec<FileEntry>,
}

/// A file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileEntry {
    /// Path in the data folder and in the archive, with slashes.
    pub(super) path: String,
    pub(super) size_bytes: u64,
    /// SHA-256 of the content, in hexadecimal.
    pub(super) sha256: String,
    /// Time of the last change, which is when a stored result expires. Milliseconds since 1970.
    pub(super) modified_unix_ms: u64,
}

impl Manifest {
    pub(super) fn new(created_unix_ms: u64) -> Self {
        Self {
            format: FORMAT,
            platen_version: env!("CARGO_PKG_VERSION").to_owned(),
            created_unix_ms,
            schema_version: None,
            files: Vec::new(),
        }
    }

    /// Parses the manifest of an archive, which anybody may have written.
    ///
    /// # Errors
    /// [`BackupError::Damaged`], also for a path that leads out of the folder.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, BackupError> {
        let damaged = |reason: String| BackupError::Damaged(reason);
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| damaged(format!("{MANIFEST}: {error}")))?;
        if manifest.format != FORMAT {
            let format = manifest.format;
            let reason = format!("its format is {format}, and this version reads {FORMAT}");
            return Err(damaged(reason));
        }
        let mut paths = BTreeSet::new();
        for file in &manifest.files {
            if !is_within(&file.path) || !paths.insert(&*file.path) {
                let path: String = file.path.escape_debug().take(100).collect();
                return Err(damaged(format!("it has no use for the path `{path}`")));
            }
        }
        if paths.contains(DATABASE) != manifest.schema_version.is_some() {
            return Err(damaged(format!("{DATABASE} is missing or not listed")));
        }
        Ok(manifest)
    }
}

/// Whether a path stays within the data folder, and none of its parts is the manifest's place.
fn is_within(path: &str) -> bool {
    let is_normal = |part: Component<'_>| matches!(part, Component::Normal(_));
    let is_plain = !path.is_empty()
        && path.len() <= MAX_PATH_BYTES
        && !path.contains(['\\', '\0'])
        && !path.split('/').any(|part| part.is_empty() || part == ".");
    is_plain && path != MANIFEST && Path::new(path).components().all(is_normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(paths: &[&str], schema_version: Option<u32>) -> Result<Manifest, BackupError> {
        let mut manifest = Manifest::new(0);
        manifest.schema_version = schema_version;
        manifest.files = paths
            .iter()
            .map(|&path| FileEntry {
                path: path.to_owned(),
                size_bytes: 0,
                sha256: String::new(),
                modified_unix_ms: 0,
            })
            .collect();
        Manifest::parse(&serde_json::to_vec(&manifest).unwrap())
    }

    #[test]
    fn paths_stay_within_the_folder() {
        assert!(parse(&["link.key", "blobs/names/a@1", "results/..a"], None).is_ok());
        for path in [
            "",
            "/etc/passwd",
            "../a",
            "a/../../b",
            "a/./b",
            "a//b",
            "a/",
            "..",
            "a\\..\\b",
            "a\0",
            "manifest.json",
        ] {
            assert!(parse(&[path], None).is_err(), "{path:?}");
        }
        assert!(parse(&["a", "a"], None).is_err(), "twice");
        assert!(parse(&[&"a".repeat(1_025)], None).is_err());
    }

    #[test]
    fn the_database_is_listed_or_not_there() {
        assert!(parse(&["platen.db"], Some(4)).is_ok());
        assert!(parse(&["platen.db"], None).is_err());
        assert!(parse(&[], Some(4)).is_err());
    }

    #[test]
    fn other_formats_are_refused() {
        assert!(Manifest::parse(b"{}").is_err());
        let newer = br#"{"format":2,"platenVersion":"9","createdUnixMs":0,"files":[]}"#;
        let error = Manifest::parse(newer).unwrap_err().to_string();
        assert!(error.contains("format is 2"), "{error}");
    }
}
