//! The cells of the pack, and their requests.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    Error,
    client::{Request, Target},
    name::{Document, Packaging},
};

/// What produces the document of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Platen, from a template, in this format.
    Native(&'static str),
    /// Chromium, from the HTML that Platen creates from the same template and data.
    Chromium,
}

/// A cell of the pack.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The document.
    pub document: Document,
    /// Description.
    pub about: &'static str,
    /// Key of the template.
    pub template: &'static str,
    /// What produces the document.
    pub kind: Kind,
    /// How many light renderings one of these counts as.
    pub weight: usize,
}

pub(super) const INVOICE: &str = "bench-invoice";
const REPORT: &str = "bench-report";
const QUARTERLY: &str = "bench-quarterly";

const fn spec(
    document: Document,
    about: &'static str,
    template: &'static str,
    kind: Kind,
    weight: usize,
) -> Spec {
    Spec {
        document,
        about,
        template,
        kind,
        weight,
    }
}

/// All cells.
pub const CELLS: [Spec; 11] = [
    spec(
        Document::Pdf1p,
        "PDF, invoice of 8 items",
        INVOICE,
        Kind::Native("pdf"),
        1,
    ),
    spec(
        Document::Pdf10p,
        "PDF, report of 400 rows",
        REPORT,
        Kind::Native("pdf"),
        1,
    ),
    spec(
        Document::Pdf100p,
        "PDF, quarterly of 4,000 rows",
        QUARTERLY,
        Kind::Native("pdf"),
        10,
    ),
    spec(
        Document::Docx,
        "DOCX, 400 rows",
        REPORT,
        Kind::Native("docx"),
        1,
    ),
    spec(
        Document::Pptx,
        "PPTX, 400 rows",
        REPORT,
        Kind::Native("pptx"),
        1,
    ),
    spec(
        Document::Xlsx,
        "XLSX, 400 rows",
        REPORT,
        Kind::Native("xlsx"),
        1,
    ),
    spec(
        Document::Csv,
        "CSV, 400 rows",
        REPORT,
        Kind::Native("csv"),
        1,
    ),
    spec(
        Document::Html,
        "HTML, 400 rows",
        REPORT,
        Kind::Native("html"),
        1,
    ),
    spec(
        Document::Chromium1p,
        "the invoice's HTML by Chromium",
        INVOICE,
        Kind::Chromium,
        4,
    ),
    spec(
        Document::Chromium10p,
        "the report's HTML by Chromium",
        REPORT,
        Kind::Chromium,
        10,
    ),
    spec(
        Document::Chromium100p,
        "the quarterly's HTML by Chromium",
        QUARTERLY,
        Kind::Chromium,
        30,
    ),
];

/// What is measured of a document.
pub(crate) fn find(document: Document) -> &'static Spec {
    CELLS
        .iter()
        .find(|spec| spec.document == document)
        .unwrap_or(&CELLS[0])
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(Error::file("read", path))
}

/// Stores the templates of the pack in a service; existing ones are left as they are. Returns how
/// many were new.
///
/// # Errors
/// The service rejects one.
pub fn seed(target: &Target, key: Option<&str>, examples: &Path) -> Result<usize, Error> {
    let mut stored = 0;
    for template in [INVOICE, REPORT, QUARTERLY] {
        let content = read(&examples.join(template).join("template.json"))?;
        let request = Request::json("POST", "/templates", key, &content);
        let (answer, body) = request.fetch(target)?;
        match answer.status {
            200..=299 => stored += 1,
            409 => {}
            status => {
                let text: String = String::from_utf8_lossy(&body).chars().take(300).collect();
                let what = format!("storing {template}");
                return Err(Error::answer(
                    what,
                    format!("answered with {status}: {text}"),
                ));
            }
        }
    }
    Ok(stored)
}

/// Documents of a batch.
pub(crate) const BATCH_ITEMS: usize = 20;

/// A request for a batch of the document of a cell.
pub(crate) fn batch_request(
    spec: &Spec,
    packaging: Packaging,
    key: Option<&str>,
    examples: &Path,
) -> Result<Request, Error> {
    let data = read(&examples.join(spec.template).join("data.json"))?;
    let data: Value = serde_json::from_slice(&data).unwrap_or_default();
    let item = json!({"template": spec.template, "data": data});
    let body = json!({"packaging": packaging.as_str(), "items": vec![item; BATCH_ITEMS]});
    let body = body.to_string();
    Ok(Request::json(
        "POST",
        "/render/batch/pdf",
        key,
        body.as_bytes(),
    ))
}

/// A request that renders the template of a cell.
fn rendering(
    spec: &Spec,
    format: &str,
    key: Option<&str>,
    examples: &Path,
) -> Result<Request, Error> {
    let data = read(&examples.join(spec.template).join("data.json"))?;
    let mut body = format!("{{\"template\":\"{}\",\"data\":", spec.template).into_bytes();
    body.extend_from_slice(&data);
    body.push(b'}');
    Ok(Request::json(
        "POST",
        &format!("/render/{format}"),
        key,
        &body,
    ))
}

/// The HTML of the template of a cell.
pub(crate) fn html(
    spec: &Spec,
    target: &Target,
    key: Option<&str>,
    examples: &Path,
) -> Result<Vec<u8>, Error> {
    rendering(spec, "html", key, examples)?.expect(target, &[200])
}

/// The request of a cell.
pub(crate) fn request(
    spec: &Spec,
    target: &Target,
    key: Option<&str>,
    examples: &Path,
    wait_ms: Option<u64>,
) -> Result<Request, Error> {
    match spec.kind {
        Kind::Native(format) => rendering(spec, format, key, examples),
        Kind::Chromium => {
            let html = html(spec, target, key, examples)?;
            let html = String::from_utf8_lossy(&html);
            let mut options = json!({"tagged": true});
            if let Some(wait_ms) = wait_ms {
                options["waitDelayMs"] = wait_ms.into();
            }
            let body = json!({"html": html, "options": options}).to_string();
            let path = "/render/html-to-pdf";
            Ok(Request::json("POST", path, key, body.as_bytes()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_is_measured_in_the_order_of_the_tables() {
        assert_eq!(CELLS.map(|spec| spec.document), Document::ALL);
    }
}
