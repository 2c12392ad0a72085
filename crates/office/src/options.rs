//! Conversion options by name, and the LibreOffice properties that they set.

use platen_urp::{
    Property,
    codec::{Any, Type, TypeClass, Value},
};

use crate::{Error, filter_data, format::Format};

/// Options of a conversion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Password of the input.
    pub password: Option<String>,
    /// Whether to repair a damaged input as far as possible.
    pub repair: bool,
    /// Whether to update tables of contents and indexes first.
    pub update_indexes: bool,
    /// Whether to rotate all pages to landscape first.
    pub landscape: bool,
    /// Password that encrypts a result other than PDF.
    pub result_password: Option<String>,
    /// The export filter to use instead of the target's.
    pub filter: Option<String>,
    /// How document and result travel; by default as files, where there is a folder for them.
    pub io: Option<Io>,
    /// Properties of the PDF export.
    pdf: Vec<Property>,
    /// Properties of whatever export filter is used.
    data: Vec<Property>,
    /// Options of the export filter as one text.
    filter_options: Option<String>,
}

/// How a document gets to LibreOffice, and the result back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    /// Both as files in a folder that both sides see.
    File,
    /// Both over the connection.
    Stream,
    /// The document over the connection, the result as a file.
    StreamIn,
    /// The document as a file, the result over the connection.
    StreamOut,
}

impl Io {
    const ALL: [Self; 4] = [Self::File, Self::Stream, Self::StreamIn, Self::StreamOut];

    pub(crate) fn streams_document(self) -> bool {
        matches!(self, Self::Stream | Self::StreamIn)
    }

    pub(crate) fn streams_result(self) -> bool {
        matches!(self, Self::Stream | Self::StreamOut)
    }
}

/// Syntax of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `true` or `false`.
    Flag,
    /// An integer within a range.
    Number(i32, i32),
    /// Degrees within a range, with one decimal.
    Degrees(i32, i32),
    /// One of several words, with the number that LibreOffice uses for it.
    Choice(&'static [(&'static str, i32)]),
    /// Page ranges such as `1-3,7`.
    Pages,
    /// Any text.
    Text,
    /// A JSON object.
    Object,
}

/// Description of an option.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Name of the option.
    pub name: &'static str,
    /// Syntax of its value.
    pub shape: Shape,
    /// Its effect.
    pub about: &'static str,
    /// The PDF export property that it sets; empty if it is not one.
    property: &'static str,
}

const fn spec(
    name: &'static str,
    shape: Shape,
    property: &'static str,
    about: &'static str,
) -> Spec {
    Spec {
        name,
        shape,
        about,
        property,
    }
}

use Shape::{Choice, Degrees, Flag, Number, Object, Pages, Text};

const PDF_A: Shape = Choice(&[("1b", 1), ("2b", 2), ("3b", 3)]);
const RESOLUTIONS: Shape = Choice(&[
    ("keep", 0),
    ("75", 75),
    ("150", 150),
    ("300", 300),
    ("600", 600),
    ("1200", 1200),
]);
const PRINTING: Shape = Choice(&[("none", 0), ("low", 1), ("high", 2)]);
const CHANGES: Shape = Choice(&[
    ("none", 0),
    ("pages", 1),
    ("form", 2),
    ("comments", 3),
    ("all", 4),
]);
/// In the order of `Io::ALL`.
const WAYS: Shape = Choice(&[
    ("file", 0),
    ("stream", 1),
    ("stream-in", 2),
    ("stream-out", 3),
]);
const VIEWS: Shape = Choice(&[("none", 0), ("outline", 1), ("thumbnails", 2)]);

const MAGNIFICATIONS: Shape = Choice(&[
    ("default", 0),
    ("page", 1),
    ("width", 2),
    ("visible", 3),
    ("zoom", 4),
]);
const PAGE_LAYOUTS: Shape = Choice(&[
    ("default", 0),
    ("single", 1),
    ("continuous", 2),
    ("facing", 3),
]);

/// All options.
#[rustfmt::skip]
pub const OPTIONS: &[Spec] = &[
    spec("password", Text, "", "password of the input"),
    spec("repair", Flag, "", "repair a damaged input as far as possible"),
    spec("update_indexes", Flag, "", "update tables of contents and indexes first"),
    spec("landscape", Flag, "", "rotate all pages to landscape first"),
    spec("result_password", Text, "", "password that encrypts a result other than PDF"),
    spec("filter", Text, "", "export filter of LibreOffice, instead of a target format"),
    spec("filter_data", Object, "", "options of the export filter, as JSON"),
    spec("filter_options", Text, "", "options of the export filter that it takes as one text, such as 59,34,76 for CSV"),
    spec("io", WAYS, "", "how document and result travel to LibreOffice and back: file, stream, stream-in, stream-out"),
    spec("pages", Pages, "PageRange", "pages to export, such as 1-3,7"),
    spec("pdf_a", PDF_A, "SelectPdfVersion", "PDF/A: 1b, 2b or 3b"),
    spec("pdf_ua", Flag, "PDFUACompliance", "PDF/UA, which includes tags"),
    spec("tagged", Flag, "UseTaggedPDF", "tagged PDF"),
    spec("quality", Number(1, 100), "Quality", "JPEG quality, 1 to 100"),
    spec("lossless", Flag, "UseLosslessCompression", "lossless image compression"),
    spec("image_resolution", RESOLUTIONS, "MaxImageResolution", "resolution in dots per inch that images are reduced to, or keep; default keep if all are JPEG files, else 300"),
    spec("bookmarks", Flag, "ExportBookmarks", "export headings as bookmarks"),
    spec("notes", Flag, "ExportNotes", "export comments as PDF annotations"),
    spec("notes_pages", Flag, "ExportNotesPages", "export the notes pages of a presentation after its slides"),
    spec("only_notes_pages", Flag, "ExportOnlyNotesPages", "export only the notes pages of a presentation"),
    spec("hidden_slides", Flag, "ExportHiddenSlides", "export hidden slides, too"),
    spec("form_fields", Flag, "ExportFormFields", "export form fields as PDF form fields"),
    spec("placeholders", Flag, "ExportPlaceholders", "export placeholder fields as on screen"),
    spec("skip_empty_pages", Flag, "IsSkipEmptyPages", "skip automatically inserted blank pages"),
    spec("single_page_sheets", Flag, "SinglePageSheets", "fit each sheet of a spreadsheet on one page"),
    spec("embed_original", Flag, "IsAddStream", "embed the original document in the PDF"),
    spec("watermark", Text, "Watermark", "watermark text across every page"),
    spec("open_password", Text, "DocumentOpenPassword", "password to open the PDF"),
    spec("permission_password", Text, "PermissionPassword", "password to change the PDF's permissions"),
    spec("allow_printing", PRINTING, "Printing", "allowed printing, with permission_password: none, low, high"),
    spec("allow_changes", CHANGES, "Changes", "allowed changes, with permission_password: none, pages, form, comments, all"),
    spec("allow_copying", Flag, "EnableCopyingOfContent", "allow copying, with permission_password"),
    spec("duplicate_field_names", Flag, "AllowDuplicateFieldNames", "allow duplicate names of form fields"),
    spec("bookmarks_as_destinations", Flag, "ExportBookmarksToPDFDestination", "export bookmarks in the text as named destinations"),
    spec("notes_in_margin", Flag, "ExportNotesInMargin", "export comments in the margin"),
    spec("office_links_to_pdf", Flag, "ConvertOOoTargetToPDFTarget", "point links to OpenDocument files at PDF files instead"),
    spec("relative_links", Flag, "ExportLinksRelativeFsys", "make links to files relative"),
    spec("watermark_color", Number(0, 0xff_ff_ff), "WatermarkColor", "watermark color, red × 65536 + green × 256 + blue"),
    spec("watermark_font", Text, "WatermarkFontName", "watermark font"),
    spec("watermark_size", Number(1, 2000), "WatermarkFontHeight", "watermark font size in points"),
    spec("watermark_angle", Degrees(-360, 360), "WatermarkRotateAngle", "watermark rotation in degrees"),
    spec("tiled_watermark", Text, "TiledWatermark", "watermark text repeated over every page"),
    spec("initial_view", VIEWS, "InitialView", "panel that viewers open: none, outline, thumbnails"),
    spec("initial_page", Number(1, 1_000_000), "InitialPage", "page that viewers open"),
    spec("magnification", MAGNIFICATIONS, "Magnification", "initial magnification: default, page, width, visible, zoom"),
    spec("zoom", Number(1, 6400), "Zoom", "zoom factor in percent, if magnification is zoom"),
    spec("page_layout", PAGE_LAYOUTS, "PageLayout", "page layout in viewers: default, single, continuous, facing"),
    spec("first_page_on_left", Flag, "FirstPageOnLeft", "place the first page on the left in the facing layout"),
    spec("resize_window", Flag, "ResizeWindowToInitialPage", "resize the viewer's window to the first page"),
    spec("center_window", Flag, "CenterWindow", "center the viewer's window on the screen"),
    spec("full_screen", Flag, "OpenInFullScreenMode", "open in full-screen mode"),
    spec("display_title", Flag, "DisplayPDFDocumentTitle", "show the document title in the viewer's title bar"),
    spec("hide_menu_bar", Flag, "HideViewerMenubar", "hide the viewer's menu bar"),
    spec("hide_tool_bar", Flag, "HideViewerToolbar", "hide the viewer's toolbar"),
    spec("hide_window_controls", Flag, "HideViewerWindowControls", "hide the viewer's window controls"),
    spec("transitions", Flag, "UseTransitionEffects", "export slide transitions as PDF transitions"),
    spec("open_bookmark_levels", Number(-1, 10), "OpenBookmarkLevels", "bookmark levels that viewers expand; -1 for all"),
];

/// Alternative names of options.
const ALIASES: &[(&str, &str)] = &[("page_ranges", "pages"), ("export_bookmarks", "bookmarks")];

impl Options {
    /// Sets an option by name.
    ///
    /// # Errors
    /// There is no such option, or the value is invalid.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
        let name = alias.map_or(name, |(_, name)| name);
        let spec = OPTIONS.iter().find(|spec| spec.name == name);
        let spec = spec.ok_or_else(|| Error::bad_option(name, "unknown option"))?;
        match spec.name {
            "filter_data" => {
                self.data = filter_data::read(name, value)?;
                return Ok(());
            }
            "filter_options" => {
                let checked = filter_data::check_text(value);
                checked.map_err(|problem| Error::bad_option(name, problem))?;
            }
            _ => {}
        }
        let value = spec.shape.read(name, value)?;
        match (spec.name, &value.value) {
            ("password", Value::String(text)) => self.password = Some(text.clone()),
            ("result_password", Value::String(text)) => self.result_password = Some(text.clone()),
            ("io", Value::Long(number)) => {
                let number = usize::try_from(*number).unwrap_or_default();
                self.io = Io::ALL.get(number).copied();
            }
            ("filter", Value::String(text)) => self.filter = Some(text.clone()),
            ("filter_options", Value::String(text)) => self.filter_options = Some(text.clone()),
            ("repair", Value::Boolean(flag)) => self.repair = *flag,
            ("update_indexes", Value::Boolean(flag)) => self.update_indexes = *flag,
            ("landscape", Value::Boolean(flag)) => self.landscape = *flag,
            ("image_resolution", Value::Long(0)) => {
                let keep = Property::new("ReduceImageResolution", false);
                self.put(std::iter::once(keep));
            }
            _ => {
                self.put(implied(spec.name).into_iter().flatten());
                let property = Property::new(spec.property, value);
                self.put(std::iter::once(property));
            }
        }
        Ok(())
    }

    fn put(&mut self, properties: impl Iterator<Item = Property>) {
        for property in properties {
            self.pdf.retain(|it| it.name != property.name);
            self.pdf.push(property);
        }
    }

    /// Whether a PDF is to satisfy PDF/UA.
    #[must_use]
    pub fn makes_accessible(&self) -> bool {
        self.pdf.contains(&Property::new("PDFUACompliance", true))
    }

    /// Whether the result will be encrypted.
    #[must_use]
    pub fn encrypts(&self) -> bool {
        let mut all = self.pdf.iter().chain(&self.data);
        all.any(|it| it.name.ends_with("Password"))
    }

    /// Whether each sheet becomes one page.
    pub(crate) fn has_single_page_sheets(&self) -> bool {
        let wanted = Property::new("SinglePageSheets", true);
        self.pdf.contains(&wanted)
    }

    /// Properties of an export filter that writes a format.
    pub(crate) fn filter_data(&self, format: &Format) -> Vec<Property> {
        let is_given = |property: &&Property| self.data.iter().any(|it| it.name == property.name);
        let own = self.pdf.iter().filter(|_| format.is_pdf());
        let own = own.filter(|property| !is_given(property));
        own.chain(&self.data).cloned().collect()
    }

    /// Has a PDF hold pictures as they are, unless options or `filter_data` say how to pack them.
    /// LibreOffice would unpack and pack even those again that it does not reduce.
    pub(crate) fn keep_pictures(&self, format: &Format, filter_data: &mut Vec<Property>) {
        let packs = |property: &Property| {
            let names = ["ReduceImageResolution", "MaxImageResolution"];
            let others = ["UseLosslessCompression", "Quality"];
            names
                .iter()
                .chain(&others)
                .any(|name| property.name == *name)
        };
        if format.is_pdf() && !filter_data.iter().any(packs) {
            filter_data.push(Property::new("ReduceImageResolution", false));
        }
    }

    /// Options of the export filter as one text, where the filter's own are `usual`.
    pub(crate) fn filter_options<'a>(&'a self, usual: Option<&'a str>) -> Option<&'a str> {
        self.filter_options.as_deref().or(usual)
    }

    /// Export properties besides those of the filter. Microsoft formats take a password in a
    /// different way than LibreOffice's own.
    pub(crate) fn store(&self, format: &Format) -> Vec<Property> {
        let Some(password) = &self.result_password else {
            return Vec::new();
        };
        match &*format.extension {
            "docx" | "xlsx" | "pptx" => {
                let named = |name: &str, value: &str| {
                    Value::Struct(vec![name.into(), Any::from(value).into()])
                };
                let list = vec![
                    named("CryptoType", "Standard"),
                    named("OOXPassword", password),
                ];
                let ty = Type::named(TypeClass::Sequence, "[]com.sun.star.beans.NamedValue");
                vec![Property::new(
                    "EncryptionData",
                    Any::new(ty, Value::Sequence(list)),
                )]
            }
            _ => vec![Property::new("Password", password.as_str())],
        }
    }
}

/// Properties that an option implies.
fn implied(name: &str) -> Option<Vec<Property>> {
    Some(match name {
        "quality" => vec![Property::new("UseLosslessCompression", false)],
        "image_resolution" => vec![Property::new("ReduceImageResolution", true)],
        // ISO 14289-1 §7.1 requires viewers to show the title.
        "pdf_ua" => vec![
            Property::new("UseTaggedPDF", true),
            Property::new("DisplayPDFDocumentTitle", true),
        ],
        "open_password" => vec![Property::new("EncryptFile", true)],
        "permission_password" => vec![Property::new("RestrictPermissions", true)],
        _ => return None,
    })
}

impl Shape {
    fn read(self, name: &str, text: &str) -> Result<Any, Error> {
        let wrong = |problem: String| Err(Error::bad_option(name, problem));
        match self {
            Flag => match text {
                "true" | "1" | "yes" | "on" | "" => Ok(true.into()),
                "false" | "0" | "no" | "off" => Ok(false.into()),
                _ => wrong(format!("`{text}` is neither true nor false")),
            },
            Number(least, most) => match text.parse::<i32>() {
                Ok(number) if (least..=most).contains(&number) => Ok(number.into()),
                _ => wrong(format!(
                    "`{text}` is not a whole number from {least} to {most}"
                )),
            },
            // LibreOffice counts in tenths of a degree.
            Degrees(least, most) => match text.parse::<f64>() {
                Ok(degrees) if (f64::from(least)..=f64::from(most)).contains(&degrees) => {
                    Ok(((degrees * 10.0).round() as i32).into())
                }
                _ => wrong(format!(
                    "`{text}` is not a number of degrees from {least} to {most}"
                )),
            },
            Choice(choices) => {
                let text = text.strip_prefix("PDF/A-").unwrap_or(text);
                let same = |(word, _): &&(&str, i32)| word.eq_ignore_ascii_case(text);
                match choices.iter().find(same) {
                    Some((_, number)) => Ok((*number).into()),
                    None => {
                        let names: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
                        wrong(format!("`{text}` is not one of {}", names.join(", ")))
                    }
                }
            }
            Pages => match is_page_range(text) {
                true => Ok(text.into()),
                false => wrong(format!("`{text}` is not a page range such as 1-3,7")),
            },
            Text if text.len() > 1000 => wrong("longer than 1,000 bytes".to_owned()),
            Text | Object => Ok(text.into()),
        }
    }
}

fn is_page_range(text: &str) -> bool {
    let number = |text: &str| text.trim().parse::<u16>().ok().filter(|it| *it > 0);
    text.split(',').all(|part| match part.split_once('-') {
        None => number(part).is_some(),
        Some((from, "")) => number(from).is_some(),
        Some((from, to)) => match (number(from), number(to)) {
            (Some(from), Some(to)) => from <= to,
            _ => false,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Target;

    #[test]
    fn options_become_properties() {
        let mut options = Options::default();
        for (name, value) in [
            ("page_ranges", "1-3,7"),
            ("quality", "60"),
            ("pdf_a", "PDF/A-2b"),
            ("image_resolution", "150"),
            ("open_password", "x"),
            ("landscape", "true"),
            ("quality", "70"),
            ("watermark_angle", "45"),
        ] {
            options.set(name, value).unwrap();
        }
        let data = options.filter_data(&Target::Pdf.into());
        let value = |name: &str| {
            let mut found = data.iter().filter(|it| it.name == name);
            let value = found.next().map(|it| it.value.clone());
            assert!(found.next().is_none(), "{name} twice");
            value
        };
        assert_eq!(value("PageRange"), Some("1-3,7".into()));
        assert_eq!(value("WatermarkRotateAngle"), Some(450.into()));
        assert_eq!(value("Quality"), Some(70.into()));
        assert_eq!(value("UseLosslessCompression"), Some(false.into()));
        assert_eq!(value("SelectPdfVersion"), Some(2.into()));
        assert_eq!(value("ReduceImageResolution"), Some(true.into()));
        assert_eq!(value("EncryptFile"), Some(true.into()));
        assert!(options.landscape && options.encrypts());
        assert!(options.filter_data(&Target::Docx.into()).is_empty());
    }

    #[test]
    fn wrong_values_are_told() {
        let mut options = Options::default();
        for (name, value) in [
            ("pages", "3-1"),
            ("pages", "x"),
            ("pages", "0"),
            ("quality", "101"),
            ("pdf_a", "4z"),
            ("tagged", "perhaps"),
            ("nothing", "1"),
        ] {
            let error = options.set(name, value);
            assert!(matches!(error, Err(Error::BadOption { .. })), "{name}");
        }
    }
}
