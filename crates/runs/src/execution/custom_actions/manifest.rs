//! What a piece says of itself, and the archive it comes in: a ZIP with `piece.json` and its bundle.

use std::{
    collections::BTreeMap,
    fmt,
    io::{Cursor, Read, Write},
    path::Path,
};

use platen_document::{Diagnostic, InputSchema};
use platen_script::{Language, MAX_SOURCE_BYTES, Prepared, Preparer, Runner};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

/// The largest archive.
pub const MAX_ARCHIVE_BYTES: usize = 2 << 20;

/// The largest manifest.
const MAX_MANIFEST_BYTES: u64 = 256 << 10;
/// Most actions of a piece.
const MAX_ACTIONS: usize = 100;
/// Longest name or version.
const MAX_NAME_BYTES: usize = 64;
/// The manifest in an archive.
const MANIFEST: &str = "piece.json";
/// A path of its own in the service's addresses.
const RESERVED: &str = "archives";

/// What a piece says of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// Its name: lower-case letters, digits and `-`.
    pub name: String,
    /// Its version, such as `1.2.0`.
    pub version: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The file of its code, an ES module that exports a function for each action.
    #[serde(default = "usual_bundle")]
    pub bundle: String,
    /// Names of the secrets that it is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// What it does, by name.
    pub actions: BTreeMap<String, Action>,
}

/// One thing that a piece does.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Action {
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of its input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
}

fn usual_bundle() -> String {
    "bundle.js".to_owned()
}

/// Why an archive is no piece.
#[derive(Debug, thiserror::Error)]
pub enum PieceError {
    /// Larger than allowed.
    #[error("{what} is larger than {limit_bytes} bytes")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The bound.
        limit_bytes: u64,
    },
    /// No archive, or one that lacks a file.
    #[error("the archive cannot be read: {0}")]
    Archive(String),
    /// A mistake in the manifest or the code.
    #[error("{}", .0.iter().map(|one| one.message.as_str()).collect::<Vec<_>>().join("; "))]
    Mistakes(Vec<Diagnostic>),
}

/// A piece that is ready to run.
pub struct Piece {
    manifest: Manifest,
    code: Prepared,
    schemas: BTreeMap<String, InputSchema>,
    digest: String,
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "piece {}@{}", self.manifest.name, self.manifest.version)
    }
}

impl Piece {
    /// Reads and checks an archive of whoever runs this process, or one that was checked when it was
    /// stored.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(archive: &[u8]) -> Result<Self, PieceError> {
        Self::read_with(archive, &Preparer::Thread)
    }

    /// Reads and checks an archive whose code `preparer` parses.
    ///
    /// # Errors
    /// As [`Piece::read`].
    pub fn read_with(archive: &[u8], preparer: &Preparer) -> Result<Self, PieceError> {
        if archive.len() > MAX_ARCHIVE_BYTES {
            return Err(PieceError::TooLarge {
                what: "the archive",
                limit_bytes: MAX_ARCHIVE_BYTES as u64,
            });
        }
        let broken = |error: zip::result::ZipError| PieceError::Archive(error.to_string());
        let mut files = ZipArchive::new(Cursor::new(archive)).map_err(broken)?;
        let manifest = entry(&mut files, MANIFEST, "the manifest", MAX_MANIFEST_BYTES)?;
        let manifest = read_manifest(&manifest)?;
        let bundle = entry(
            &mut files,
            &manifest.bundle,
            "the bundle",
            MAX_SOURCE_BYTES as u64,
        )?;
        Self::new(manifest, &bundle, hex(&Sha256::digest(archive)), preparer)
    }

    /// Reads and checks a folder with `piece.json` and the bundle.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of_folder(folder: &Path) -> Result<Self, PieceError> {
        Self::read(&pack(folder)?)
    }

    fn new(
        manifest: Manifest,
        bundle: &[u8],
        digest: String,
        preparer: &Preparer,
    ) -> Result<Self, PieceError> {
        let mut found = Vec::new();
        let mut mistake = |path: String, message: String| {
            found.push(Diagnostic::error("invalid-piece", path, message));
        };
        let name = format!("{}/{}", manifest.name, manifest.bundle);
        let text = String::from_utf8_lossy(bundle);
        let code = preparer.prepare(&name, &text, Language::of(&manifest.bundle));
        for finding in code.as_ref().err().into_iter().flatten() {
            let place = format!("{name}:{}:{}", finding.line, finding.column);
            mistake(
                "/bundle".to_owned(),
                format!("{place}: {}", finding.message),
            );
        }
        let mut schemas = BTreeMap::new();
        for (action, about) in &manifest.actions {
            match about.input.as_ref().map(InputSchema::new) {
                Some(Ok(schema)) => {
                    schemas.insert(action.clone(), schema);
                }
                Some(Err(wrong)) => {
                    mistake(format!("/actions/{action}/input"), wrong.message.clone());
                }
                None => {}
            }
        }
        match code {
            Ok(code) if found.is_empty() => Ok(Self {
                manifest,
                code,
                schemas,
                digest,
            }),
            _ => Err(PieceError::Mistakes(found)),
        }
    }

    /// What it says of itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// SHA-256 of its archive, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Compiles its code now where that is long, so that no run waits for it; true where it was not
    /// yet. Blocks.
    pub fn compile_ahead(&self, runner: &Runner) -> bool {
        runner.compile_ahead(&self.code)
    }

    /// Its code.
    pub(in crate::execution) fn code(&self) -> &Prepared {
        &self.code
    }

    /// What is wrong with the input of `action`; `None` where there is no such action.
    #[must_use]
    pub fn check(&self, action: &str, input: &Json) -> Option<Vec<Diagnostic>> {
        self.manifest.actions.get(action)?;
        let schema = self.schemas.get(action);
        Some(schema.map_or_else(Vec::new, |schema| schema.check(input)))
    }
}

/// Reads a manifest.
fn read_manifest(bytes: &[u8]) -> Result<Manifest, PieceError> {
    let mistake = |path: &str, message: &str| {
        PieceError::Mistakes(vec![Diagnostic::error("invalid-piece", path, message)])
    };
    let manifest: Manifest = serde_json::from_slice(bytes)
        .map_err(|error| mistake("", &format!("piece.json: {error}")))?;
    if !is_name(&manifest.name) {
        return Err(mistake(
            "/name",
            "a name has lower-case letters, digits and `-`",
        ));
    }
    if manifest.name == RESERVED {
        let message = format!("no piece can have the name `{RESERVED}`");
        return Err(mistake("/name", &message));
    }
    if !is_version(&manifest.version) {
        return Err(mistake("/version", "a version is such as `1.2.0`"));
    }
    let count = manifest.actions.len();
    if count == 0 || count > MAX_ACTIONS {
        let message = format!("a piece has 1 to {MAX_ACTIONS} actions, not {count}");
        return Err(mistake("/actions", &message));
    }
    for action in manifest.actions.keys() {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let sound = action.len() <= MAX_NAME_BYTES
            && action.chars().all(letter)
            && action.starts_with(|c: char| c.is_ascii_alphabetic());
        if !sound {
            let path = format!("/actions/{action}");
            return Err(mistake(&path, "an action is named as a function is"));
        }
    }
    Ok(manifest)
}

/// True for the name of a piece.
#[must_use]
pub(in crate::execution) fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.chars().all(letter)
        && name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// True for a version: three numbers, and what may follow a `-`.
#[must_use]
pub(in crate::execution) fn is_version(version: &str) -> bool {
    let (numbers, rest) = version.split_once('-').unwrap_or((version, "0"));
    let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    version.len() <= MAX_NAME_BYTES
        && numbers.split('.').count() == 3
        && numbers.split('.').all(number)
        && !rest.is_empty()
        && rest.chars().all(letter)
        && !rest.contains("..")
}

fn entry(
    files: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
    what: &'static str,
    limit_bytes: u64,
) -> Result<Vec<u8>, PieceError> {
    let missing = |_| PieceError::Archive(format!("it has no file `{name}`"));
    let file = files.by_name(name).map_err(missing)?;
    let mut bytes = Vec::new();
    // What a directory says of sizes is not believed.
    file.take(limit_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| PieceError::Archive(error.to_string()))?;
    if bytes.len() as u64 > limit_bytes {
        return Err(PieceError::TooLarge { what, limit_bytes });
    }
    Ok(bytes)
}

/// The archive of a folder with `piece.json` and the bundle. The same files give the same bytes.
///
/// # Errors
/// Where a file is missing.
pub fn pack(folder: &Path) -> Result<Vec<u8>, PieceError> {
    let read = |name: &str| {
        std::fs::read(folder.join(name)).map_err(|error| {
            PieceError::Archive(format!("{}: {error}", folder.join(name).display()))
        })
    };
    let text = read(MANIFEST)?;
    let manifest = read_manifest(&text)?;
    let bundle = Path::new(&manifest.bundle);
    if bundle.components().count() != 1 || bundle.file_name().is_none() {
        let message = "the bundle is a file beside piece.json".to_owned();
        return Err(PieceError::Archive(message));
    }
    let code = read(&manifest.bundle)?;
    let broken = |error: &dyn fmt::Display| PieceError::Archive(error.to_string());
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (name, bytes) in [(MANIFEST, &text), (&manifest.bundle, &code)] {
        writer
            .start_file(name, options)
            .map_err(|error| broken(&error))?;
        writer.write_all(bytes).map_err(|error| broken(&error))?;
    }
    let done = writer.finish().map_err(|error| broken(&error))?;
    Ok(done.into_inner())
}

/// Bytes in hexadecimal.
pub(in crate::execution) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(in crate::execution) mod tests {
    use serde_json::json;

    use super::*;

    /// An archive of these files.
    pub(in crate::execution) fn archive(files: &[(&str, &str)]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in files {
            writer
                .start_file(*name, SimpleFileOptions::default())
                .unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    pub(in crate::execution) fn greeter() -> Vec<u8> {
        let manifest = json!({
            "name": "greeter", "version": "1.0.0",
            "actions": {"greet": {"input": {
                "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}},
        });
        let code = "export const greet = ({ name }) => `Hello, ${name}`;";
        archive(&[("piece.json", &manifest.to_string()), ("bundle.js", code)])
    }

    #[test]
    fn a_piece_checks_its_input() {
        let piece = Piece::read(&greeter()).unwrap();
        assert_eq!(piece.manifest().name, "greeter");
        assert_eq!(piece.digest().len(), 64);
        assert_eq!(piece.check("greet", &json!({"name": "Ada"})), Some(vec![]));
        assert_eq!(piece.check("greet", &json!({})).unwrap().len(), 1);
        assert!(piece.check("other", &json!({})).is_none());
    }

    #[test]
    fn what_is_no_piece_is_refused() {
        let manifest = |name: &str, version: &str, actions: Json| {
            json!({"name": name, "version": version, "actions": actions}).to_string()
        };
        let actions = json!({"a": {}});
        let code = "export const a = () => 1;";
        let sound = manifest("a", "1.0.0", actions.clone());
        for (manifest, code) in [
            ("{", code),
            (&*manifest("A", "1.0.0", actions.clone()), code),
            (&*manifest("../a", "1.0.0", actions.clone()), code),
            (&*manifest("archives", "1.0.0", actions.clone()), code),
            (&*manifest("a", "1.0", actions.clone()), code),
            (&*manifest("a", "1.0.0-../b", actions.clone()), code),
            (&*manifest("a", "1.0.0", json!({})), code),
            (&*manifest("a", "1.0.0", json!({"a b": {}})), code),
            (
                &*manifest("a", "1.0.0", json!({"a": {"input": {"type": 7}}})),
                code,
            ),
            (&*sound, "export const a = ;"),
        ] {
            let archive = archive(&[("piece.json", manifest), ("bundle.js", code)]);
            assert!(Piece::read(&archive).is_err(), "{manifest} {code}");
        }
        assert!(Piece::read(&archive(&[("piece.json", &sound)])).is_err());
        assert!(Piece::read(b"text").is_err());
        let long = "x".repeat(MAX_SOURCE_BYTES + 1);
        let large = archive(&[("piece.json", &sound), ("bundle.js", &long)]);
        assert!(matches!(
            Piece::read(&large),
            Err(PieceError::TooLarge { .. })
        ));
        assert!(is_version("1.2.3-beta.1") && !is_version("1.2.3-"));
    }
}
