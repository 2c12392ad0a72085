//! The export filters of a LibreOffice, for clients that name one instead of a format.

use std::{borrow::Cow, time::Duration};

use platen_urp::{Client, Filter};

use crate::{
    Error,
    format::{Family, Format, Target},
};

/// A filter by which LibreOffice writes documents of one kind.
#[derive(Clone, Debug)]
pub struct ExportFilter {
    /// Its name, such as `writer_pdf_Export`.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The kind of documents that it writes.
    pub family: Family,
    /// The format of its results.
    pub format: Format,
}

/// The export filters of a LibreOffice.
#[derive(Clone, Debug)]
pub struct ExportFilters {
    /// The version of that LibreOffice.
    pub version: String,
    /// The filters, in the order of their names.
    pub all: Vec<ExportFilter>,
}

/// Filters that write a folder of pages and pictures, of which a result could only be the first.
const OF_SEVERAL_FILES: [&str; 2] = ["draw_html_Export", "impress_html_Export"];

/// Names that are similar enough to tell.
const SIMILARITY: f64 = 0.75;
const MAX_SIMILAR: usize = 3;

/// How long a list may take: some milliseconds here, but each filter is two calls to one elsewhere.
pub(crate) const LIST_TIMEOUT: Duration = Duration::from_secs(30);

impl ExportFilters {
    /// Asks a LibreOffice.
    pub(crate) async fn of(client: &Client) -> Result<Self, platen_urp::Error> {
        let version = client.version().await?;
        let all = client.describe_filters().await?;
        Ok(Self {
            version,
            all: all.into_iter().filter_map(usable).collect(),
        })
    }

    /// The filter of a name.
    ///
    /// # Errors
    /// There is none; the error names similar ones.
    pub fn find(&self, name: &str) -> Result<&ExportFilter, Error> {
        let found = self.all.iter().find(|filter| filter.name == name);
        found.ok_or_else(|| Error::bad_option("filter", self.unknown(name)))
    }

    /// The filter of a name, for a document of a kind.
    pub(crate) fn find_for(&self, name: &str, family: Family) -> Result<&ExportFilter, Error> {
        let found = self.find(name)?;
        match found.family == family {
            true => Ok(found),
            false => {
                let (own, other) = (found.family.name(), family.name());
                let problem = format!("`{name}` writes a {own}, and the document is a {other}");
                Err(Error::bad_option("filter", problem))
            }
        }
    }

    fn unknown(&self, name: &str) -> String {
        if OF_SEVERAL_FILES.contains(&name) {
            return format!("`{name}` writes several files, and a result is one");
        }
        let version = &self.version;
        let mut text = format!("LibreOffice {version} has no export filter `{name}`");
        let wanted = name.to_lowercase();
        let mut near: Vec<(f64, &str)> = self
            .all
            .iter()
            .map(|filter| {
                let known = filter.name.to_lowercase();
                (strsim::jaro_winkler(&known, &wanted), &*filter.name)
            })
            .filter(|(similarity, _)| *similarity >= SIMILARITY)
            .collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.truncate(MAX_SIMILAR);
        for (index, (_, name)) in near.iter().enumerate() {
            text.push_str(if index == 0 { "; similar: " } else { ", " });
            text.push_str(&format!("`{name}`"));
        }
        text
    }
}

/// The filter, if documents can be written with it.
fn usable(filter: Filter) -> Option<ExportFilter> {
    let is_left_out = filter.is_internal() || OF_SEVERAL_FILES.contains(&&*filter.name);
    if !filter.exports() || is_left_out {
        return None;
    }
    let family = match &*filter.document_service {
        "com.sun.star.text.TextDocument" => Family::Text,
        "com.sun.star.text.WebDocument" => Family::Web,
        "com.sun.star.sheet.SpreadsheetDocument" => Family::Sheet,
        "com.sun.star.presentation.PresentationDocument" => Family::Slides,
        "com.sun.star.drawing.DrawingDocument" => Family::Drawing,
        "com.sun.star.formula.FormulaProperties" => Family::Formula,
        _ => return None,
    };
    Some(ExportFilter {
        format: format(&filter, family),
        family,
        name: filter.name,
        label: filter.label,
    })
}

/// What is known of a format here, where LibreOffice says less: it takes plain text for CSV, and
/// Word files of all kinds for the oldest.
fn format(filter: &Filter, family: Family) -> Format {
    let is_text = filter.media_type == "text/plain" && family != Family::Sheet;
    let extension = if is_text { "txt" } else { &*filter.extension };
    if let Some(target) = Target::from_extension(extension) {
        let is_other = extension == "html" && filter.media_type == "application/xhtml+xml";
        if !is_other {
            return target.into();
        }
    }
    let is_plain = |text: &str, besides: &str, most: usize| {
        let plain = |it: char| it.is_ascii_alphanumeric() || besides.contains(it);
        !text.is_empty() && text.len() <= most && text.chars().all(plain)
    };
    let extension = match is_plain(extension, "", 8) {
        true => extension.to_ascii_lowercase(),
        false => "bin".to_owned(),
    };
    let media_type = match (&*filter.media_type, &*extension) {
        (media_type, _) if is_plain(media_type, "/.+-", 100) => media_type.to_owned(),
        (_, "xml") => "application/xml".to_owned(),
        _ => "application/octet-stream".to_owned(),
    };
    Format {
        extension: Cow::Owned(extension),
        media_type: Cow::Owned(media_type),
    }
}
