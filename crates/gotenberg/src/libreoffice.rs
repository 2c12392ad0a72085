//! `/forms/libreoffice/convert`: Office files to PDF, with Gotenberg's fields.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts, response::Response};
use platen_fault::Code;
use platen_office::{Job, Options, Source, Target};
use platen_pdf::Archive;
use platen_server::{intake::content::Content, problem::Problem};

use crate::{
    api::FormApi,
    archival::archive_of,
    changes::Changes,
    form::FormRequest,
    post_process::{answer, apply},
    stages::{Conversion, Stages},
    value::Values,
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
/// Resolution in dots per inch if the form asks for a reduction but names no resolution.
const RESOLUTION: &str = "300";

/// Conversion options of a form.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfficeOptions {
    options: Options,
}

impl OfficeOptions {
    fn set(&mut self, field: &str, name: &str, value: &str) -> Result<(), Problem> {
        self.options.set(name, value).map_err(|error| match error {
            platen_office::Error::BadOption { problem, .. } => {
                let detail = format!("the form field `{field}`: {problem}");
                Problem::new(Code::InvalidRequest, detail)
            }
            other => other.into(),
        })
    }

    /// Takes `pdfa` and `pdfua`: whether the form has either, and how files that were changed
    /// become that again.
    pub(crate) fn take_archive(
        &mut self,
        values: &mut Values,
    ) -> Result<(bool, Option<Archive>), Problem> {
        let standard = values.text("pdfa");
        if let Some(standard) = &standard {
            self.set("pdfa", "pdf_a", standard)?;
        }
        let is_accessible = values.truth("pdfua", false);
        if is_accessible {
            self.set("pdfua", "pdf_ua", "true")?;
        }
        let archive = archive_of(standard.as_deref(), is_accessible);
        Ok((standard.is_some() || is_accessible, archive))
    }

    /// The options, whether the result must stay as it is to be what is asked for, and how it
    /// becomes that again if it does not.
    fn of(values: &mut Values) -> Result<(Self, bool, Option<Archive>), Problem> {
        let mut options = Self::default();
        // Gotenberg's default differs from LibreOffice's.
        options.set("updateIndexes", "update_indexes", "true")?;
        let (is_final, archive) = options.take_archive(values)?;
        for (field, name) in OPTIONS {
            if let Some(value) = values.text(field) {
                options.set(field, name, &value)?;
            }
        }
        // Gotenberg and LibreOffice count tenths of a degree; our option takes degrees.
        let turn: i32 = values.number("nativeWatermarkRotateAngle", 0);
        if turn != 0 {
            let degrees = (f64::from(turn) / 10.0).to_string();
            options.set("nativeWatermarkRotateAngle", "watermark_angle", &degrees)?;
        }
        let resolution = values.text("maxImageResolution");
        // Gotenberg keeps the resolution of images; LibreOffice's default reduces it to 300 dots
        // per inch.
        let resolution = match values.truth("reduceImageResolution", false) {
            true => resolution.as_deref().unwrap_or(RESOLUTION),
            false => "keep",
        };
        options.set("maxImageResolution", "image_resolution", resolution)?;
        for (field, name, words) in CHOICES {
            let Some(value) = values.text(field) else {
                continue;
            };
            let word = value.parse().ok().and_then(|at: usize| words.get(at));
            let word = word.ok_or_else(|| {
                let most = words.len() - 1;
                let detail =
                    format!("the form field `{field}` is not a whole number from 0 to {most}");
                Problem::new(Code::InvalidRequest, detail)
            })?;
            options.set(field, name, word)?;
        }
        Ok((options, is_final, archive))
    }
}

/// Extractor that fails without LibreOffice. It precedes the form, so that the service rejects the
/// request before it reads the body.
pub(crate) struct Installed;

impl FromRequestParts<FormApi> for Installed {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, api: &FormApi) -> Result<Self, Problem> {
        api.libreoffice.check_installed().map(|()| Self)
    }
}

/// Converts Office files to PDF.
pub(crate) async fn convert_office(
    _: Installed,
    mut request: FormRequest,
) -> Result<Response, Problem> {
    let form = &mut request.form;
    let (options, is_final, archive) = OfficeOptions::of(&mut form.values)?;
    let mut changes = Changes::of(form);
    let stages = Stages::of_conversion(form, is_final || !changes.is_nothing(), Conversion::Files)?;
    form.values.refuse_restrictions()?;
    let files = form.take_files()?;
    if is_final && !changes.is_nothing_for(files.len()) {
        if archive.is_none() {
            let detail = "a PDF/A-1b file cannot be merged, split or changed afterwards";
            return Err(Problem::new(Code::UnsupportedOption, detail));
        }
        // An e-invoice has settled how.
        changes.operations.archive = changes.operations.archive.or(archive);
    }
    let files = convert(&request.api, files, &options).await?;
    let files = apply(&request.api, files, changes).await?;
    let files = stages.run(&request.api, files).await?;
    answer(&request.context, &request.headers, files).await
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
            problem.detail = format!("{name}: {}", problem.detail);
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
