//! Fields of Gotenberg's form for LibreOffice, in the order in which Gotenberg reads them, and which
//! files are documents.

use platen_pdf::Archive;

use crate::{
    form::Form,
    office::OfficeOptions,
    value::{Values, not_parsed},
};

/// Names of fields in Gotenberg 9, and in Gotenberg 8.
pub(crate) const NEW_NAMES: [(&str, &str); 4] = [
    ("nativePages", "nativePageRanges"),
    ("nativeQuality", "quality"),
    ("nativePdfa", "pdfa"),
    ("nativePdfua", "pdfua"),
];

/// Extensions of the files that Gotenberg converts; it leaves others alone.
const EXTENSIONS: &str = ".123 .602 .abw .bib .bmp .cdr .cgm .cmx .csv .cwk .dbf .dif .doc .docm .docx .dot \
    .dotm .dotx .dxf .emf .eps .epub .fodg .fodp .fods .fodt .fopd .gif .htm .html .hwp \
    .jpeg .jpg .key .ltx .lwp .mcw .met .mml .mw .numbers .odd .odg .odm .odp .ods .odt \
    .otg .oth .otp .ots .ott .pages .pbm .pcd .pct .pcx .pdb .pdf .pgm .png .pot .potm \
    .potx .ppm .pps .ppsm .ppsx .ppt .pptm .pptx .psd .psw .pub .pwp .pxl .ras .rtf \
    .sda .sdc .sdd .sdp .sdw .sgl .slk .smf .stc .std .sti .stw .svg .svm .swf .sxc \
    .sxd .sxg .sxi .sxm .sxw .tga .tif .tiff .txt .uof .uop .uos .uot .vdx .vor .vsd \
    .vsdm .vsdx .wb2 .wk1 .wks .wmf .wpd .wpg .wps .xbm .xhtml .xls .xlsb .xlsm .xlsx \
    .xlt .xltm .xltx .xlw .xml .xpm .zabw";

/// How a field becomes an option.
#[derive(Clone, Copy)]
enum Kind {
    /// With its own text.
    Plain,
    /// As ranges of pages.
    Ranges,
    /// As a whole number, of which this says what is wrong with it.
    Whole(fn(i64) -> Option<&'static str>),
    /// As the name at its place in a list; what is wrong with other places.
    Choice(&'static [&'static str], &'static str),
    /// As the resolution of pictures, with the field `maxImageResolution`.
    Resolution,
    /// As a size, where 0 leaves it to LibreOffice.
    Size,
    /// As degrees; LibreOffice and Gotenberg count tenths.
    Angle,
}

/// Resolution in dots per inch if the form asks for a reduction but names no resolution.
const RESOLUTION: &str = "300";
const RESOLUTIONS: [i64; 5] = [75, 150, 300, 600, 1200];

/// Gotenberg's fields, and our options.
#[rustfmt::skip]
const FIELDS: [(&str, &str, Kind); 43] = [
    ("password", "password", Kind::Plain),
    ("landscape", "landscape", Kind::Plain),
    ("nativePageRanges", "pages", Kind::Ranges),
    ("updateIndexes", "update_indexes", Kind::Plain),
    ("exportFormFields", "form_fields", Kind::Plain),
    ("allowDuplicateFieldNames", "duplicate_field_names", Kind::Plain),
    ("exportBookmarks", "bookmarks", Kind::Plain),
    ("exportBookmarksToPdfDestination", "bookmarks_as_destinations", Kind::Plain),
    ("exportPlaceholders", "placeholders", Kind::Plain),
    ("exportNotes", "notes", Kind::Plain),
    ("exportNotesPages", "notes_pages", Kind::Plain),
    ("exportOnlyNotesPages", "only_notes_pages", Kind::Plain),
    ("exportNotesInMargin", "notes_in_margin", Kind::Plain),
    ("convertOooTargetToPdfTarget", "office_links_to_pdf", Kind::Plain),
    ("exportLinksRelativeFsys", "relative_links", Kind::Plain),
    ("exportHiddenSlides", "hidden_slides", Kind::Plain),
    ("skipEmptyPages", "skip_empty_pages", Kind::Plain),
    ("addOriginalDocumentAsStream", "embed_original", Kind::Plain),
    ("singlePageSheets", "single_page_sheets", Kind::Plain),
    ("initialView", "initial_view",
     Kind::Choice(&["none", "outline", "thumbnails"], "value is not 0, 1 or 2")),
    ("initialPage", "initial_page", Kind::Whole(positive)),
    ("magnification", "magnification",
     Kind::Choice(&["default", "page", "width", "visible", "zoom"], "value is not 0, 1, 2, 3 or 4")),
    ("zoom", "zoom", Kind::Whole(positive)),
    ("pageLayout", "page_layout",
     Kind::Choice(&["default", "single", "continuous", "facing"], "value is not 0, 1, 2 or 3")),
    ("firstPageOnLeft", "first_page_on_left", Kind::Plain),
    ("resizeWindowToInitialPage", "resize_window", Kind::Plain),
    ("centerWindow", "center_window", Kind::Plain),
    ("openInFullScreenMode", "full_screen", Kind::Plain),
    ("displayPDFDocumentTitle", "display_title", Kind::Plain),
    ("hideViewerMenubar", "hide_menu_bar", Kind::Plain),
    ("hideViewerToolbar", "hide_tool_bar", Kind::Plain),
    ("hideViewerWindowControls", "hide_window_controls", Kind::Plain),
    ("useTransitionEffects", "transitions", Kind::Plain),
    ("openBookmarkLevels", "open_bookmark_levels", Kind::Whole(levels)),
    ("losslessImageCompression", "lossless", Kind::Plain),
    ("quality", "quality", Kind::Whole(percent)),
    ("reduceImageResolution", "image_resolution", Kind::Resolution),
    ("nativeWatermarkText", "watermark", Kind::Plain),
    ("nativeWatermarkColor", "watermark_color", Kind::Whole(any)),
    ("nativeWatermarkFontHeight", "watermark_size", Kind::Size),
    ("nativeWatermarkRotateAngle", "watermark_angle", Kind::Angle),
    ("nativeWatermarkFontName", "watermark_font", Kind::Plain),
    ("nativeTiledWatermarkText", "tiled_watermark", Kind::Plain),
];

fn any(_: i64) -> Option<&'static str> {
    None
}

fn not_negative(number: i64) -> Option<&'static str> {
    (number < 0).then_some("value is inferior to 0")
}

fn positive(number: i64) -> Option<&'static str> {
    (number < 1).then_some("value is inferior to 1")
}

fn percent(number: i64) -> Option<&'static str> {
    positive(number).or((number > 100).then_some("value is superior to 100"))
}

fn levels(number: i64) -> Option<&'static str> {
    let is_known = number == -1 || (1..=10).contains(&number);
    (!is_known).then_some("value is not -1 or between 1 and 10")
}

/// Whether a file is a document, by its name.
pub(crate) fn is_document(name: &str) -> bool {
    let Some((_, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let mut known = EXTENSIONS.split(' ');
    known.any(|it| it[1..].eq_ignore_ascii_case(extension))
}

/// What is wrong with a form without a document.
pub(crate) fn no_document() -> String {
    format!("no form file found for extensions: [{EXTENSIONS}]")
}

/// The options, whether the result must stay as it is to be what is asked for, and how it becomes that
/// again if it does not. What is wrong with the form is recorded there.
pub(crate) fn read(form: &mut Form) -> (OfficeOptions, bool, Option<Archive>) {
    let mut options = OfficeOptions::default();
    let has_document = form.files.keys().any(|name| is_document(name));
    let values = &mut form.values;
    let (is_final, archive) = options.take_archive(values, |standard| {
        let shown: String = standard.chars().take(100).collect();
        format!(
            "The PDF format '{shown}' is not supported. Valid formats include PDF/A-1b, PDF/A-2b, \
             PDF/A-3b, and PDF/UA."
        )
    });
    if !has_document {
        values.mistake(no_document());
    }
    // Gotenberg's default differs from LibreOffice's.
    options.set_field(values, ("updateIndexes", "update_indexes"), "true");
    for (field, option, kind) in FIELDS {
        options.take_field(values, (field, option), kind);
    }
    (options, is_final, archive)
}

impl OfficeOptions {
    fn take_field(&mut self, values: &mut Values, names: (&str, &str), kind: Kind) {
        let field = names.0;
        match kind {
            Kind::Plain => {
                if let Some(text) = values.text(field) {
                    self.set_field(values, names, &text);
                }
            }
            Kind::Ranges => {
                if let Some(text) = values.text(field) {
                    self.set_ranges(names.1, &text);
                }
            }
            Kind::Whole(wrong) => {
                if let Some(text) = whole(values, field, wrong) {
                    self.set_field(values, names, &text);
                }
            }
            Kind::Choice(words, why) => {
                let index = |number: i64| usize::try_from(number).ok();
                let word = |number| index(number).and_then(|at| words.get(at));
                let number = values.text(field).and_then(|text| {
                    let number = text.parse().ok();
                    if number.and_then(word).is_none() {
                        let unread = not_parsed("Atoi", &text);
                        values.wrong(field, &text, number.map_or(unread.as_str(), |_| why));
                    }
                    number
                });
                if let Some(word) = number.and_then(word) {
                    self.set_field(values, names, word);
                }
            }
            Kind::Size => {
                if let Some(text) = whole(values, field, not_negative).filter(|text| text != "0") {
                    self.set_field(values, names, &text);
                }
            }
            Kind::Resolution => self.take_resolution(values, names),
            Kind::Angle => {
                let turn: i32 = values.number(field, 0);
                if turn != 0 {
                    let degrees = (f64::from(turn) / 10.0).to_string();
                    self.set_field(values, names, &degrees);
                }
            }
        }
    }

    /// Gotenberg keeps the resolution of pictures; LibreOffice's default reduces it to 300 dots per inch.
    fn take_resolution(&mut self, values: &mut Values, (field, option): (&str, &str)) {
        const MOST: &str = "maxImageResolution";
        let is_reduced = values.truth(field, false);
        let known = |number| {
            let is_known = RESOLUTIONS.contains(&number);
            (!is_known).then_some("value is not 75, 150, 300, 600 or 1200")
        };
        let most = whole(values, MOST, known);
        let resolution = match is_reduced {
            true => most.as_deref().unwrap_or(RESOLUTION),
            false => "keep",
        };
        self.set_field(values, (MOST, option), resolution);
    }
}

/// Takes a field that is a whole number. What is wrong with it is recorded.
fn whole(
    values: &mut Values,
    field: &str,
    wrong: impl Fn(i64) -> Option<&'static str>,
) -> Option<String> {
    let text = values.text(field)?;
    let why = match text.parse() {
        Ok(number) => wrong(number).map(str::to_owned),
        Err(_) => Some(not_parsed("Atoi", &text)),
    };
    match why {
        Some(why) => {
            values.wrong(field, &text, &why);
            None
        }
        None => Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_an_extension_that_gotenberg_knows() {
        assert!(is_document("a.docx") && is_document("a.b.ODT"));
        assert!(!is_document("docx") && !is_document("a.foo") && !is_document("a."));
        assert!(no_document().contains("[.123 .602") && no_document().ends_with(".xpm .zabw]"));
    }

    #[test]
    fn numbers_are_wrong_in_gotenbergs_words() {
        let mut values = Values::default();
        for (name, value) in [
            ("zoom", "0"),
            ("quality", "101"),
            ("initialView", "5"),
            ("pageLayout", "x"),
        ] {
            values.add(name, value);
        }
        let mut options = OfficeOptions::default();
        for (field, option, kind) in FIELDS {
            options.take_field(&mut values, (field, option), kind);
        }
        let said = values.finish().unwrap_err().detail;
        let why = [
            "not 0, 1 or 2",
            "inferior to 1",
            "strconv.Atoi: parsing \"x\"",
            "superior to 100",
        ];
        let places = why.map(|it| said.find(it).expect(it));
        assert!(places.is_sorted(), "{said}");
    }
}
