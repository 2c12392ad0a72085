//! Warnings for options that none of the requested formats supports, so that no option is ignored
//! silently.

use platen_document::Diagnostic;
use platen_formats::csv::CsvOptions;

use crate::{Format, RenderOptions};

/// Layout engine of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Platen itself.
    Native,
    /// Chromium, for an HTML template.
    Html,
}

/// An option: its path in a request, the formats that support it, whether it is set.
struct Carried {
    path: &'static str,
    carriers: &'static str,
    is_given: fn(&RenderOptions) -> bool,
    is_carried: fn(Format, Medium) -> bool,
}

/// Options that only some formats support. Locale, time zone and instant apply to binding, and so
/// to every format.
const CARRIED: [Carried; 10] = [
    Carried {
        path: "/options/paperSize",
        carriers: "formats with pages or sheets",
        is_given: |options| options.paper_size.is_some(),
        is_carried: has_paper,
    },
    Carried {
        path: "/options/orientation",
        carriers: "formats with pages or sheets",
        is_given: |options| options.orientation.is_some(),
        is_carried: has_paper,
    },
    Carried {
        path: "/options/page",
        carriers: "PNG and SVG of templates of kind `document`",
        is_given: |options| options.page.is_some(),
        is_carried: |format, medium| {
            medium == Medium::Native && matches!(format, Format::Png | Format::Svg)
        },
    },
    Carried {
        path: "/options/dpi",
        carriers: "PNG",
        is_given: |options| options.dots_per_inch.is_some(),
        is_carried: |format, _| format == Format::Png,
    },
    Carried {
        path: "/options/table",
        carriers: "CSV",
        is_given: |options| options.csv.table.is_some(),
        is_carried: |format, _| format == Format::Csv,
    },
    Carried {
        path: "/options/csv",
        carriers: "CSV",
        is_given: |options| {
            let plain = CsvOptions {
                table: options.csv.table.clone(),
                ..CsvOptions::default()
            };
            options.csv != plain
        },
        is_carried: |format, _| format == Format::Csv,
    },
    Carried {
        path: "/options/html/fonts",
        carriers: "HTML of templates of kind `document`",
        is_given: |options| options.embed_fonts,
        is_carried: |format, medium| medium == Medium::Native && format == Format::Html,
    },
    Carried {
        path: "/options/pdf/standard",
        carriers: "PDF",
        is_given: |options| options.standard.is_some(),
        is_carried: is_pdf,
    },
    Carried {
        path: "/options/pdf/tagged",
        carriers: "PDF",
        is_given: |options| options.untagged,
        is_carried: is_pdf,
    },
    Carried {
        path: "/options/pdf/attachments",
        carriers: "PDF",
        is_given: |options| !options.attachments.is_empty(),
        is_carried: is_pdf,
    },
];

/// Warns about each of `options` that none of `formats` supports.
#[must_use]
pub fn unused_options(
    options: &RenderOptions,
    formats: &[Format],
    medium: Medium,
) -> Vec<Diagnostic> {
    let unused = CARRIED.iter().filter(|option| {
        let mut formats = formats.iter();
        (option.is_given)(options) && !formats.any(|format| (option.is_carried)(*format, medium))
    });
    unused
        .map(|option| {
            let (name, carriers) = (option.path.rsplit('/').next(), option.carriers);
            let name = name.unwrap_or_default();
            let message =
                format!("the option `{name}` has no effect here: it applies to {carriers}");
            Diagnostic::warning("unused-option", option.path, message)
        })
        .collect()
}

fn has_paper(format: Format, medium: Medium) -> bool {
    match format {
        Format::Csv | Format::Xml => false,
        // Natively, the page's text; only Chromium knows the page size of HTML.
        Format::Html => medium == Medium::Native,
        _ => true,
    }
}

fn is_pdf(format: Format, _: Medium) -> bool {
    format == Format::Pdf
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use platen_document::template::{Orientation, PaperSize};

    use super::*;
    use crate::{Attachment, Relationship, Standard};

    /// Sets every field explicitly, without `..`, so that a new option does not compile until
    /// someone decides which formats support it.
    fn all() -> RenderOptions {
        RenderOptions {
            locale: Some("de-DE".to_owned()),
            time_zone: Some("UTC".to_owned()),
            paper_size: Some(PaperSize::Named("A5".to_owned())),
            orientation: Some(Orientation::Landscape),
            standard: Some(Standard::PdfA2b),
            untagged: true,
            attachments: vec![Attachment {
                name: "a".to_owned(),
                media_type: "text/plain".to_owned(),
                description: None,
                relationship: Relationship::Data,
                bytes: Arc::new(Vec::new()),
            }],
            page: Some(2),
            dots_per_inch: Some(72.0),
            preview: None,
            embed_fonts: true,
            csv: CsvOptions {
                table: Some("t".to_owned()),
                bom: true,
                ..CsvOptions::default()
            },
            now_unix_seconds: Some(0),
            assets: None,
            stored: None,
            stop: None,
        }
    }

    #[test]
    fn every_format_says_what_it_does_not_carry() {
        let unused = |formats: &[Format], medium| -> String {
            let found = unused_options(&all(), formats, medium);
            assert!(
                found
                    .iter()
                    .all(|one| one.code == "unused-option" && !one.is_error())
            );
            let names = found.iter().filter_map(|one| one.path.rsplit('/').next());
            names.collect::<Vec<_>>().join(" ")
        };
        let of_pdf = "standard tagged attachments";
        for (format, native) in [
            (Format::Pdf, "page dpi table csv fonts".to_owned()),
            (Format::Png, format!("table csv fonts {of_pdf}")),
            (Format::Svg, format!("dpi table csv fonts {of_pdf}")),
            (
                Format::Csv,
                format!("paperSize orientation page dpi fonts {of_pdf}"),
            ),
            (Format::Html, format!("page dpi table csv {of_pdf}")),
            (Format::Docx, format!("page dpi table csv fonts {of_pdf}")),
            (Format::Pptx, format!("page dpi table csv fonts {of_pdf}")),
            (Format::Xlsx, format!("page dpi table csv fonts {of_pdf}")),
        ] {
            assert_eq!(unused(&[format], Medium::Native), native, "{format}");
        }
        let pages = unused(&[Format::Pdf], Medium::Html);
        assert_eq!(pages, "page dpi table csv fonts");
        let picture = format!("page table csv fonts {of_pdf}");
        assert_eq!(unused(&[Format::Png], Medium::Html), picture);
        let text = format!("paperSize orientation page dpi table csv fonts {of_pdf}");
        assert_eq!(unused(&[Format::Html], Medium::Html), text);
    }

    #[test]
    fn an_option_that_one_of_the_formats_carries_is_used() {
        let formats = [Format::Pdf, Format::Png, Format::Csv, Format::Html];
        assert!(unused_options(&all(), &formats, Medium::Native).is_empty());
        let none = RenderOptions::default();
        assert!(unused_options(&none, &[Format::Csv], Medium::Html).is_empty());
    }
}
