//! Declarations of Gotenberg's forms. They list the most used fields; the handlers accept others,
//! too.

use platen_server::{
    deferred,
    operation::{Content, Kind, Route, Tag, binary, description, post},
};
use serde_json::{Map, Value as Json, json};

use crate::{api::FormApi, chromium, libreoffice, pdf_engines};

type Fields = &'static [(&'static str, &'static str)];

const PDF: Fields = &[
    ("paperSize", "string"),
    ("paperWidth", "string"),
    ("paperHeight", "string"),
    ("marginTop", "string"),
    ("marginBottom", "string"),
    ("marginLeft", "string"),
    ("marginRight", "string"),
    ("landscape", "boolean"),
    ("scale", "number"),
    ("printBackground", "boolean"),
    ("nativePageRanges", "string"),
    ("preferCssPageSize", "boolean"),
    ("singlePage", "boolean"),
    ("generateTaggedPdf", "boolean"),
    ("generateDocumentOutline", "boolean"),
];
const PICTURE: Fields = &[
    ("format", "string"),
    ("quality", "integer"),
    ("width", "integer"),
    ("height", "integer"),
    ("clip", "boolean"),
    ("omitBackground", "boolean"),
    ("deviceScaleFactor", "number"),
];
const PAGE: Fields = &[
    ("waitDelay", "string"),
    ("waitForExpression", "string"),
    ("waitForSelector", "string"),
    ("emulatedMediaType", "string"),
    ("userAgent", "string"),
];
const OFFICE: Fields = &[
    ("merge", "boolean"),
    TITLES,
    ("password", "string"),
    ("landscape", "boolean"),
    ("nativePageRanges", "string"),
    ("quality", "integer"),
];
const ARCHIVE: Fields = &[("pdfa", "string"), ("pdfua", "boolean")];
const SPLIT: Fields = &[
    ("splitMode", "string"),
    ("splitSpan", "string"),
    ("splitUnify", "boolean"),
];
const METADATA: Fields = &[("metadata", "string")];
const FLATTEN: Fields = &[("flatten", "boolean")];
const OPTIMIZE: Fields = &[("optimizeImages", "boolean"), QUALITY];
const QUALITY: (&str, &str) = ("imageQuality", "integer");
const ROTATE: Fields = &[("rotateAngle", "integer"), ("rotatePages", "string")];
const BOOKMARKS: Fields = &[("bookmarks", "string")];
const TITLES: (&str, &str) = ("titleBookmarks", "boolean");
const PASSWORDS: Fields = &[
    ("userPassword", "string"),
    ("ownerPassword", "string"),
    ("allowPrinting", "boolean"),
    ("allowCopying", "boolean"),
    ("allowModifying", "boolean"),
    ("allowAnnotating", "boolean"),
    ("allowFillingForms", "boolean"),
    ("allowAssembling", "boolean"),
];
const WATERMARK: Fields = &[
    ("watermarkSource", "string"),
    ("watermarkExpression", "string"),
    ("watermarkPages", "string"),
    ("watermarkOptions", "string"),
];
const STAMP: Fields = &[
    ("stampSource", "string"),
    ("stampExpression", "string"),
    ("stampPages", "string"),
    ("stampOptions", "string"),
];
const FACTURX: Fields = &[
    ("facturxConformanceLevel", "string"),
    ("facturxDocumentType", "string"),
    ("facturxVersion", "string"),
];
const EMBEDS: Fields = &[("embedsMetadata", "string")];

const PAGE_FILES: &str =
    "`index.html` and the files that it references; optionally `header.html` and `footer.html`.";
const MARKDOWN_FILES: &str =
    "`index.html`, which includes Markdown files with `{{ toHTML \"text.md\" }}`, and those files.";
const PDF_FILES: &str = "PDF files.";

/// The routes of the forms.
pub(crate) fn routes() -> Vec<Route<FormApi>> {
    let mut all = chromium_routes();
    all.extend(office_and_pdf_routes());
    all.extend(change_routes());
    let all = all.into_iter().map(|one| {
        deferred::declared(one)
            .kind(Kind::Render)
            .tag(Tag::Forms)
            .answer(204, Content::default())
            .answer_is("Accepted; the result goes to the URL in `Gotenberg-Webhook-Url`.")
            .problems(&[403, 409, 415, 501])
    });
    all.collect()
}

fn chromium_routes() -> Vec<Route<FormApi>> {
    let page: [Fields; 8] = [
        PDF, PAGE, METADATA, FLATTEN, SPLIT, ARCHIVE, FACTURX, OPTIMIZE,
    ];
    let picture: [Fields; 2] = [PICTURE, PAGE];
    let pdf = || binary(&["application/pdf"]);
    let pictures = || binary(&["image/png", "image/jpeg", "image/webp"]);
    vec![
        post("/forms/chromium/convert/html", chromium::convert_html)
            .summary("Gotenberg-compatible: converts `index.html` and its files to PDF.")
            .body(form(PAGE_FILES, &page))
            .answer(200, pdf()),
        post(
            "/forms/chromium/convert/markdown",
            chromium::convert_markdown,
        )
        .summary("Gotenberg-compatible: converts `index.html` with Markdown files to PDF.")
        .body(form(MARKDOWN_FILES, &page))
        .answer(200, pdf()),
        post("/forms/chromium/convert/url", chromium::convert_url)
            .summary("Gotenberg-compatible: converts a URL at an allowed host to PDF.")
            .body(address_form(&page))
            .answer(200, pdf()),
        post("/forms/chromium/screenshot/html", chromium::screenshot_html)
            .summary("Gotenberg-compatible: takes a screenshot of `index.html` and its files.")
            .body(form(PAGE_FILES, &picture))
            .answer(200, pictures()),
        post(
            "/forms/chromium/screenshot/markdown",
            chromium::screenshot_markdown,
        )
        .summary("Gotenberg-compatible: takes a screenshot of `index.html` with Markdown files.")
        .body(form(MARKDOWN_FILES, &picture))
        .answer(200, pictures()),
        post("/forms/chromium/screenshot/url", chromium::screenshot_url)
            .summary("Gotenberg-compatible: takes a screenshot of a URL at an allowed host.")
            .body(address_form(&picture))
            .answer(200, pictures()),
    ]
}

fn office_and_pdf_routes() -> Vec<Route<FormApi>> {
    let files = || binary(&["application/pdf", "application/zip"]);
    vec![
        post("/forms/libreoffice/convert", libreoffice::convert_office)
            .summary("Gotenberg-compatible: converts Office files to PDF, optionally merged.")
            .body(form(
                "Office files.",
                &[OFFICE, ARCHIVE, METADATA, FLATTEN, SPLIT, FACTURX, OPTIMIZE],
            ))
            .answer(200, files()),
        post("/forms/pdfengines/merge", pdf_engines::merge_pdfs)
            .summary("Gotenberg-compatible: merges PDF files in the order of their names.")
            .body(form(
                PDF_FILES,
                &[&[TITLES], BOOKMARKS, METADATA, FLATTEN, ARCHIVE, OPTIMIZE],
            ))
            .answer(200, files()),
        post("/forms/pdfengines/split", pdf_engines::split_pdfs)
            .summary("Gotenberg-compatible: splits PDF files.")
            .body(form(PDF_FILES, &[SPLIT, METADATA, FLATTEN, ARCHIVE, OPTIMIZE]))
            .answer(200, files()),
        post("/forms/pdfengines/flatten", pdf_engines::flatten_pdfs)
            .summary("Gotenberg-compatible: flattens annotations and form fields.")
            .body(form(PDF_FILES, &[]))
            .answer(200, files()),
        post("/forms/pdfengines/factur-x", pdf_engines::embed_invoice)
            .summary(
                "Gotenberg-compatible: embeds the XML of an e-invoice and makes the files PDF/A-3b.",
            )
            .body(form(
                "PDF files; the XML is in the field `facturxXml`.",
                &[FACTURX, ARCHIVE],
            ))
            .answer(200, files()),
        post("/forms/pdfengines/convert", pdf_engines::convert_pdfs)
            .summary("Gotenberg-compatible: converts PDF files to PDF/A or PDF/UA.")
            .body(form(PDF_FILES, &[ARCHIVE]))
            .answer(200, files()),
    ]
}

/// Routes that change PDF files, or read what they say of themselves.
fn change_routes() -> Vec<Route<FormApi>> {
    let files = || binary(&["application/pdf", "application/zip"]);
    vec![
        post("/forms/pdfengines/optimize", pdf_engines::optimize_pdfs)
            .summary("Gotenberg-compatible: makes PDF files smaller, their pictures by JPEG.")
            .body(form(PDF_FILES, &[&[QUALITY]]))
            .answer(200, files()),
        post("/forms/pdfengines/rotate", pdf_engines::rotate_pdfs)
            .summary("Gotenberg-compatible: turns pages of PDF files.")
            .body(form(PDF_FILES, &[ROTATE]))
            .answer(200, files()),
        post("/forms/pdfengines/watermark", pdf_engines::watermark_pdfs)
            .summary(
                "Gotenberg-compatible: draws text, an image or a PDF below the content of pages.",
            )
            .body(form(PDF_FILES, &[WATERMARK]))
            .answer(200, files()),
        post("/forms/pdfengines/stamp", pdf_engines::stamp_pdfs)
            .summary(
                "Gotenberg-compatible: draws text, an image or a PDF above the content of pages.",
            )
            .body(form(PDF_FILES, &[STAMP]))
            .answer(200, files()),
        post("/forms/pdfengines/embed", pdf_engines::embed_pdfs)
            .summary("Gotenberg-compatible: attaches files to PDF files.")
            .body(form(PDF_FILES, &[EMBEDS]))
            .answer(200, files()),
        post("/forms/pdfengines/encrypt", pdf_engines::encrypt_pdfs)
            .summary("Gotenberg-compatible: encrypts PDF files with AES-256.")
            .body(form(PDF_FILES, &[PASSWORDS]))
            .answer(200, files()),
        post(
            "/forms/pdfengines/bookmarks/write",
            pdf_engines::write_pdf_bookmarks,
        )
        .summary("Gotenberg-compatible: writes the bookmarks of PDF files.")
        .body(form(PDF_FILES, &[BOOKMARKS]))
        .answer(200, files()),
        post(
            "/forms/pdfengines/bookmarks/read",
            pdf_engines::read_pdf_bookmarks,
        )
        .summary("Gotenberg-compatible: reads the bookmarks of PDF files.")
        .body(form(PDF_FILES, &[]))
        .answer(
            200,
            description("application/json", json!({"type": "object"})),
        ),
        post(
            "/forms/pdfengines/metadata/read",
            pdf_engines::read_pdf_metadata,
        )
        .summary("Gotenberg-compatible: reads the metadata of PDF files.")
        .body(form(PDF_FILES, &[]))
        .answer(
            200,
            description("application/json", json!({"type": "object"})),
        ),
        post(
            "/forms/pdfengines/metadata/write",
            pdf_engines::write_pdf_metadata,
        )
        .summary("Gotenberg-compatible: writes the metadata of PDF files.")
        .body(form(PDF_FILES, &[METADATA]))
        .answer(200, files()),
    ]
}

/// A multipart form with files and these fields.
fn form(about_files: &str, lists: &[Fields]) -> Content {
    described(Map::new(), "files", about_files, lists)
}

/// A multipart form with a URL and these fields.
fn address_form(lists: &[Fields]) -> Content {
    let about = "URL at an allowed host.";
    let url = json!({"type": "string", "format": "uri", "description": about});
    let properties = Map::from_iter([("url".to_owned(), url)]);
    described(properties, "url", "`header.html` and `footer.html`.", lists)
}

fn described(
    mut properties: Map<String, Json>,
    needed: &str,
    about_files: &str,
    lists: &[Fields],
) -> Content {
    let file = json!({"type": "string", "format": "binary"});
    let files = json!({"type": "array", "items": file, "description": about_files});
    properties.insert("files".into(), files);
    for (name, kind) in lists.iter().copied().flatten() {
        properties.insert((*name).into(), json!({"type": kind}));
    }
    let form = json!({
        "type": "object", "required": [needed], "additionalProperties": true, "properties": properties,
    });
    description("multipart/form-data", form)
}
