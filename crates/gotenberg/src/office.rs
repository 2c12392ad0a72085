//! Conversions by LibreOffice: Gotenberg's fields as its options, and files to PDF.

use std::sync::Arc;

use platen_fault::Code;
use platen_office::{Job, Options, Source, Target};
use platen_pdf::Archive;
use platen_server::{intake::content::Content, problem::Problem};

use crate::{
    api::FormApi,
    archival::{NOT_SUPPORTED, archive_of},
    value::{Values, not_parsed, truth},
};

/// Gotenberg's option names and ours.
#[rustfmt::skip]
const OPTIONS: [(&str, &str); 38] = [
    ("password", "password"),
    ("nativePageRanges", "pages"),
    ("landscape", "landscape"),
    ("updateIndexes", "update_indexes"),
    ("exportFormFields", "form_fields"),
    ("allowDuplicateFieldNames", "duplicate_field_names"),
    ("exportBookmarks", "bookmarks"),
    ("exportBookmarksToPdfDestination", "bookmarks_as_destinations"),
    ("exportNotes", "notes"),
    ("exportNotesPages", "notes_pages"),
    ("exportOnlyNotesPages", "only_notes_pages"),
    ("exportNotesInMargin", "notes_in_margin"),
    ("exportPlaceholders", "placeholders"),
    ("exportHiddenSlides", "hidden_slides"),
    ("convertOooTargetToPdfTarget", "office_links_to_pdf"),
    ("exportLinksRelativeFsys", "relative_links"),
    ("skipEmptyPages", "skip_empty_pages"),
    ("addOriginalDocumentAsStream", "embed_original"),
    ("singlePageSheets", "single_page_sheets"),
    ("losslessImageCompression", "lossless"),
    ("quality", "quality"),
    ("nativeWatermarkText", "watermark"),
    ("nativeWatermarkColor", "watermark_color"),
    ("nativeWatermarkFontName", "watermark_font"),
    ("nativeWatermarkFontHeight", "watermark_size"),
    ("nativeTiledWatermarkText", "tiled_watermark"),
    ("initialPage", "initial_page"),
    ("zoom", "zoom"),
    ("firstPageOnLeft", "first_page_on_left"),
    ("resizeWindowToInitialPage", "resize_window"),
    ("centerWindow", "center_window"),
    ("openInFullScreenMode", "full_screen"),
    ("displayPDFDocumentTitle", "display_title"),
    ("hideViewerMenubar", "hide_menu_bar"),
    ("hideViewerToolbar", "hide_tool_bar"),
    ("hideViewerWindowControls", "hide_window_controls"),
    ("useTransitionEffects", "transitions"),
    ("openBookmarkLevels", "open_bookmark_levels"),
];
/// Names of fields in Gotenberg 9, and in Gotenberg 8.
pub(crate) const NEW_NAMES: [(&str, &str); 4] = [
    ("nativePages", "nativePageRanges"),
    ("nativeQuality", "quality"),
    ("nativePdfa", "pdfa"),
    ("nativePdfua", "pdfua"),
];
/// Options with numeric values in Gotenberg; the number is the index into our names.
const CHOICES: [(&str, &str, &[&str]); 3] = [
    (
        "initialView",
        "initial_view",
        &["none", "outline", "thumbnails"],
    ),
    (
        "magnification",
        "magnification",
        &["default", "page", "width", "visible", "zoom"],
    ),
    (
        "pageLayout",
        "page_layout",
        &["default", "single", "continuous", "facing"],
    ),
];
/// The standard that LibreOffice alone makes.
const BY_LIBREOFFICE: &str = "PDF/A-1b";
/// Resolution in dots per inch if the form asks for a reduction but names no resolution.
const RESOLUTION: &str = "300";

/// Conversion options of a form.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfficeOptions {
    options: Options,
}

impl OfficeOptions {
    /// Sets an option, or says why it cannot have this value.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        self.options.set(name, value).map_err(|error| match error {
            platen_office::Error::BadOption { problem, .. } => problem.to_string(),
            other => other.to_string(),
        })
    }

    /// Sets the option of a form field; what is wrong with it is recorded in the form.
    fn set_field(&mut self, values: &mut Values, (field, name): (&str, &str), value: &str) {
        if let Err(why) = self.set(name, value) {
            let why = match why.ends_with("is neither true nor false") {
                true => not_parsed("ParseBool", value),
                false => why,
            };
            values.wrong(field, value, &why);
        }
    }

    /// What LibreOffice makes of PDF files if `pdfa` is the standard that it alone makes. The fields
    /// stay.
    pub(crate) fn rewriting(values: &Values) -> Option<Self> {
        if values.given("pdfa") != Some(BY_LIBREOFFICE) {
            return None;
        }
        let mut options = Self::default();
        options.set("pdf_a", BY_LIBREOFFICE).ok()?;
        if values.given("pdfua").and_then(truth) == Some(true) {
            options.set("pdf_ua", "true").ok()?;
        }
        Some(options)
    }

    /// Takes `pdfa` and `pdfua`: whether the form has either, and how files that were changed
    /// become that again.
    pub(crate) fn take_archive(&mut self, values: &mut Values) -> (bool, Option<Archive>) {
        let standard = values.text("pdfa");
        if let Some(standard) = &standard
            && self.set("pdf_a", standard).is_err()
        {
            values.refuse(NOT_SUPPORTED);
        }
        let is_accessible = values.truth("pdfua", false);
        if is_accessible {
            self.set_field(values, ("pdfua", "pdf_ua"), "true");
        }
        let archive = archive_of(standard.as_deref(), is_accessible);
        (standard.is_some() || is_accessible, archive)
    }

    /// The options, whether the result must stay as it is to be what is asked for, and how it
    /// becomes that again if it does not. What is wrong with the fields is recorded in the form.
    pub(crate) fn of(values: &mut Values) -> (Self, bool, Option<Archive>) {
        let mut options = Self::default();
        // Gotenberg's default differs from LibreOffice's.
        options.set_field(values, ("updateIndexes", "update_indexes"), "true");
        let (is_final, archive) = options.take_archive(values);
        for (field, name) in OPTIONS {
            if let Some(value) = values.text(field) {
                options.set_field(values, (field, name), &value);
            }
        }
        // Gotenberg and LibreOffice count tenths of a degree; our option takes degrees.
        let turn: i32 = values.number("nativeWatermarkRotateAngle", 0);
        if turn != 0 {
            let degrees = (f64::from(turn) / 10.0).to_string();
            let angle = ("nativeWatermarkRotateAngle", "watermark_angle");
            options.set_field(values, angle, &degrees);
        }
        let resolution = values.text("maxImageResolution");
        // Gotenberg keeps the resolution of images; LibreOffice's default reduces it to 300 dots
        // per inch.
        let resolution = match values.truth("reduceImageResolution", false) {
            true => resolution.as_deref().unwrap_or(RESOLUTION),
            false => "keep",
        };
        options.set_field(
            values,
            ("maxImageResolution", "image_resolution"),
            resolution,
        );
        for (field, name, words) in CHOICES {
            let Some(value) = values.text(field) else {
                continue;
            };
            match value.parse().ok().and_then(|at: usize| words.get(at)) {
                Some(word) => options.set_field(values, (field, name), word),
                None => {
                    let most = words.len() - 1;
                    let why = format!("it is not a whole number from 0 to {most}");
                    values.wrong(field, &value, &why);
                }
            }
        }
        (options, is_final, archive)
    }
}

/// Converts documents concurrently, bounded by the slots, and keeps their order.
pub(crate) async fn convert(
    api: &FormApi,
    files: Vec<(String, Content)>,
    options: &OfficeOptions,
) -> Result<Vec<(String, Content)>, Problem> {
    // No limit of its own: the form bounds the number of files, and the pool bounds its queue.
    let mut running = Vec::with_capacity(files.len());
    for (name, content) in files {
        let mut job = Job::new(Source::Content(content), Target::Pdf);
        job.name = Some(name.clone());
        job.options = options.options.clone();
        job.timeout = api.office_timeout;
        let libreoffice = Arc::clone(&api.libreoffice);
        let work = async move { libreoffice.convert(job).await };
        running.push((name, Task(tokio::spawn(work))));
    }
    let mut made = Vec::with_capacity(running.len());
    for (name, mut task) in running {
        let document = (&mut task.0).await;
        let document = document.map_err(|error| Problem::internal(error.to_string()))?;
        let outcome = document
            .as_ref()
            .map_or_else(|problem| problem.code.name(), |_| "ok");
        api.metrics.rendered("pdf", outcome);
        let document = document.map_err(|mut problem| {
            problem.detail = match problem.code {
                Code::PasswordNeeded => format!(
                    "The document '{name}' is password-protected. Provide its password in the \
                     'password' form field."
                ),
                _ => format!("{name}: {}", problem.detail),
            };
            problem
        })?;
        // A rewritten PDF keeps its name.
        let name = name.strip_suffix(".pdf").map_or(&*name, |stem| stem);
        made.push((format!("{name}.pdf"), document.body));
    }
    Ok(made)
}

/// A conversion task that aborts when the request is dropped.
struct Task<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
