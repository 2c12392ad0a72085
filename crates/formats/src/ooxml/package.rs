//! The package: parts in a ZIP file, with content types and relationships (ECMA-376-2).

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::{DECLARATION, Escaped, zip::Zip};
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

/// A part of a package.
struct Part {
    name: String,
    /// Empty if the file extension determines it.
    content_type: &'static str,
    bytes: Vec<u8>,
    /// Whether other packages have it alike.
    is_common: bool,
}

/// The parts of a package, in the order in which they are added.
#[derive(Default)]
pub(crate) struct Package {
    parts: Vec<Part>,
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

impl Package {
    /// Adds a part. `content_type` is empty if the file extension determines it.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        content_type: &'static str,
        bytes: impl Into<Vec<u8>>,
    ) {
        self.push(name.into(), content_type, bytes.into(), false);
    }

    /// Adds a part that depends on the template more than on its data, such as styles. It is
    /// compressed once for all packages that have it alike.
    pub fn add_common(
        &mut self,
        name: &'static str,
        content_type: &'static str,
        bytes: impl Into<Vec<u8>>,
    ) {
        self.push(name.to_owned(), content_type, bytes.into(), true);
    }

    fn push(&mut self, name: String, content_type: &'static str, bytes: Vec<u8>, is_common: bool) {
        self.parts.push(Part {
            name,
            content_type,
            bytes,
            is_common,
        });
    }

    /// Adds the relationships of the part `name`, if it has any.
    pub fn add_relationships(&mut self, name: &str, relationships: &Relationships) {
        if !relationships.is_empty() {
            let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
            let slash = if folder.is_empty() { "" } else { "/" };
            let path = format!("{folder}{slash}_rels/{file}.rels");
            // Most slides have the same, unless they link somewhere.
            let is_common = relationships.items.iter().all(|(_, _, external)| !external);
            self.push(path, "", relationships.to_xml().into(), is_common);
        }
    }

    /// Assembles the ZIP file, content types first.
    ///
    /// # Errors
    /// [`Error::PackageSize`] if it would exceed 4 GiB.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        let size: usize = self.parts.iter().map(|part| part.bytes.len()).sum();
        let mut zip = Zip::new(size / 6 + 16_384);
        zip.deflate_common("[Content_Types].xml", self.content_types().as_bytes())?;
        for part in &self.parts {
            let is_packed = [".png", ".jpeg", ".gif", ".xlsx"]
                .iter()
                .any(|end| part.name.ends_with(end));
            if is_packed {
                zip.store(&part.name, &part.bytes)?;
            } else if part.is_common {
                zip.deflate_common(&part.name, &part.bytes)?;
            } else {
                zip.deflate(&part.name, &part.bytes)?;
            }
        }
        zip.finish()
    }

    fn content_types(&self) -> String {
        let mut xml = format!(
            "{DECLARATION}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
        );
        for (extension, kind) in DEFAULTS {
            let used = |part: &Part| part.name.rsplit('.').next() == Some(extension);
            if self.parts.iter().any(used) {
                let _ = write!(
                    xml,
                    "<Default Extension=\"{extension}\" ContentType=\"{kind}\"/>"
                );
            }
        }
        for Part {
            name, content_type, ..
        } in &self.parts
        {
            if !content_type.is_empty() {
                let _ = write!(
                    xml,
                    "<Override PartName=\"/{name}\" ContentType=\"{content_type}\"/>"
                );
            }
        }
        xml.push_str("</Types>");
        xml
    }
}
