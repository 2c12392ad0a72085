//! The package: parts in a ZIP file, with content types and relationships (ECMA-376-2). Order and
//! time stamps are fixed, so that equal parts give equal bytes.

use std::{
    fmt::Write as _,
    io::{Cursor, Write as _},
};

use rustc_hash::FxHashMap;
use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

use super::{DECLARATION, Escaped};
use crate::Error;

/// The relationships of one part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Relationships {
    items: Vec<(&'static str, String, bool)>,
    ids: FxHashMap<(&'static str, String), usize>,
}

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/";
const CORE: &str =
    "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties";

impl Relationships {
    /// Id of the relationship of `kind`, such as `image`, to the part `target`. Equal ones share an
    /// id.
    pub fn add(&mut self, kind: &'static str, target: impl Into<String>) -> String {
        self.insert(kind, target.into(), false)
    }

    /// Id of the hyperlink to the external address `target`.
    pub fn link(&mut self, target: &str) -> String {
        self.insert("hyperlink", target.to_owned(), true)
    }

    fn insert(&mut self, kind: &'static str, target: String, external: bool) -> String {
        let next = self.items.len() + 1;
        let id = *self.ids.entry((kind, target.clone())).or_insert(next);
        if id == next {
            self.items.push((kind, target, external));
        }
        format!("rId{id}")
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn to_xml(&self) -> String {
        let mut xml = format!(
            "{DECLARATION}<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
        );
        for (index, (kind, target, external)) in self.items.iter().enumerate() {
            let (base, kind) = if *kind == "core-properties" {
                (CORE, "")
            } else {
                (OFFICE, *kind)
            };
            let mode = if *external {
                " TargetMode=\"External\""
            } else {
                ""
            };
            let (id, target) = (index + 1, Escaped(target));
            let _ = write!(
                xml,
                "<Relationship Id=\"rId{id}\" Type=\"{base}{kind}\" Target=\"{target}\"{mode}/>"
            );
        }
        xml.push_str("</Relationships>");
        xml
    }
}

/// The parts of a package, in the order in which they are added.
#[derive(Default)]
pub(crate) struct Package {
    parts: Vec<(String, &'static str, Vec<u8>)>,
}

/// Content types by file extension (ECMA-376-2 §7.2.3.2).
const DEFAULTS: [(&str, &str); 6] = [
    (
        "rels",
        "application/vnd.openxmlformats-package.relationships+xml",
    ),
    ("xml", "application/xml"),
    ("png", "image/png"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
];

/// Deflate level, chosen for speed over size. Not measured against other levels.
const LEVEL: i64 = 4;

impl Package {
    /// Adds a part. `content_type` is empty if the file extension determines it.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        content_type: &'static str,
        bytes: impl Into<Vec<u8>>,
    ) {
        self.parts.push((name.into(), content_type, bytes.into()));
    }

    /// Adds the relationships of the part `name`, if it has any.
    pub fn add_relationships(&mut self, name: &str, relationships: &Relationships) {
        if !relationships.is_empty() {
            let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
            let slash = if folder.is_empty() { "" } else { "/" };
            let path = format!("{folder}{slash}_rels/{file}.rels");
            self.add(path, "", relationships.to_xml());
        }
    }

    /// Assembles the ZIP file, content types first.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        let size: usize = self.parts.iter().map(|(_, _, bytes)| bytes.len()).sum();
        let mut zip = ZipWriter::new(Cursor::new(Vec::with_capacity(size / 6 + 16_384)));
        let deflated = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .last_modified_time(DateTime::default());
        let stored = deflated
            .compression_method(CompressionMethod::Stored)
            .compression_level(None);
        zip.start_file("[Content_Types].xml", deflated)?;
        zip.write_all(self.content_types().as_bytes())?;
        for (name, _, bytes) in &self.parts {
            // These are compressed already.
            let packed = [".png", ".jpeg", ".gif", ".xlsx"]
                .iter()
                .any(|end| name.ends_with(end));
            zip.start_file(name.as_str(), if packed { stored } else { deflated })?;
            zip.write_all(bytes)?;
        }
        Ok(zip.finish()?.into_inner())
    }

    fn content_types(&self) -> String {
        let mut xml = format!(
            "{DECLARATION}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
        );
        for (extension, kind) in DEFAULTS {
            let used = |(name, _, _): &(String, _, _)| name.rsplit('.').next() == Some(extension);
            if self.parts.iter().any(used) {
                let _ = write!(
                    xml,
                    "<Default Extension=\"{extension}\" ContentType=\"{kind}\"/>"
                );
            }
        }
        for (name, kind, _) in &self.parts {
            if !kind.is_empty() {
                let _ = write!(
                    xml,
                    "<Override PartName=\"/{name}\" ContentType=\"{kind}\"/>"
                );
            }
        }
        xml.push_str("</Types>");
        xml
    }
}
