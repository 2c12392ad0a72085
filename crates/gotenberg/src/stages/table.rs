//! The stages: name, options and translation, and the route of each. A new one is a row here.

use super::{
    compose::compose,
    options::{Given, Kind, StageOption, Wrong, needed, optional},
    sign::sign,
    translate::{self, Translated},
};

/// A stage.
#[derive(Debug)]
pub(super) struct Stage {
    /// Its name in a list of stages.
    pub(super) op: &'static str,
    /// Its options, which are form fields of its route.
    pub(super) options: &'static [StageOption],
    /// Makes an operation of it.
    pub(super) translate: fn(&Given) -> Result<Translated, Wrong>,
}

const RELATIONSHIPS: &[&str] = &["Source", "Data", "Alternative", "Supplement", "Unspecified"];
const POSITIONS: &[&str] = &[
    "top-left",
    "top",
    "top-right",
    "left",
    "center",
    "right",
    "bottom-left",
    "bottom",
    "bottom-right",
];
const FORMATS: &[&str] = &["text", "markdown"];
const ALGORITHMS: &[&str] = &["aes256", "aes128", "rc4-128", "rc4-40"];
const LEVELS: &[&str] = &[
    "MINIMUM",
    "BASIC WL",
    "BASIC",
    "EN 16931",
    "EXTENDED",
    "XRECHNUNG",
];

/// All stages, given to the macro `$made`: rows of handler, name, path, summary, options and
/// translation.
macro_rules! each_stage {
    ($made:ident) => {
        $made! {
    stage_merge, "merge", "/forms/pdf/merge",
        "Gotenberg 9: merges PDF files in the order of their names.",
        [optional("fileBookmarks", Kind::Truth)], translate::merge;
    stage_split, "split", "/forms/pdf/split",
        "Gotenberg 9: takes PDF files apart.",
        [optional("every", Kind::Integer), optional("ranges", Kind::Json)],
        translate::split;
    stage_select, "select", "/forms/pdf/select",
        "Gotenberg 9: keeps pages, in the order in which they are named.",
        [needed("pages", Kind::Text)], translate::select;
    stage_delete, "delete", "/forms/pdf/delete",
        "Gotenberg 9: removes pages.",
        [needed("pages", Kind::Text)], translate::delete;
    stage_rotate, "rotate", "/forms/pdf/rotate",
        "Gotenberg 9: sets how pages are turned.",
        [needed("angle", Kind::Integer), optional("pages", Kind::Text)],
        translate::rotate;
    stage_stamp_text, "stamp-text", "/forms/pdf/stamp-text",
        "Gotenberg 9: draws a line of text on pages.",
        [
            needed("text", Kind::Text), optional("pages", Kind::Text),
            optional("x", Kind::Number), optional("y", Kind::Number),
            optional("fontSize", Kind::Number), optional("font", Kind::Text),
            optional("color", Kind::Color), optional("opacity", Kind::Number),
            optional("rotation", Kind::Number), optional("position", Kind::Word(POSITIONS)),
        ],
        translate::stamp_text;
    stage_stamp_image, "stamp-image", "/forms/pdf/stamp-image",
        "Gotenberg 9: draws an image on pages.",
        [
            needed("image", Kind::File), optional("pages", Kind::Text),
            optional("x", Kind::Number), optional("y", Kind::Number),
            optional("width", Kind::Number), optional("height", Kind::Number),
            optional("opacity", Kind::Number), optional("rotation", Kind::Number),
            optional("position", Kind::Word(POSITIONS)),
        ],
        translate::stamp_image;
    stage_stamp_pdf, "stamp-pdf", "/forms/pdf/stamp-pdf",
        "Gotenberg 9: draws a page of a PDF on pages.",
        [
            needed("source", Kind::File), optional("sourcePage", Kind::Integer),
            optional("pages", Kind::Text), optional("x", Kind::Number),
            optional("y", Kind::Number), optional("scale", Kind::Number),
            optional("opacity", Kind::Number), optional("rotation", Kind::Number),
            optional("position", Kind::Word(POSITIONS)),
        ],
        translate::stamp_pdf;
    stage_redact, "redact", "/forms/pdf/redact",
        "Gotenberg 9: takes what areas of pages show out of files.",
        [needed("regions", Kind::Json)], translate::redact;
    stage_flatten_form, "flatten-form", "/forms/pdf/flatten-form",
        "Gotenberg 9: draws form fields on the pages.",
        [], translate::flatten_form;
    stage_optimize, "optimize", "/forms/pdf/optimize",
        "Gotenberg 9: makes files smaller, without loss.",
        [optional("compressStreams", Kind::Truth)], translate::optimize;
    stage_set_metadata, "set-metadata", "/forms/pdf/set-metadata",
        "Gotenberg 9: writes document properties.",
        [
            optional("title", Kind::Text), optional("author", Kind::Text),
            optional("subject", Kind::Text), optional("keywords", Kind::Text),
            optional("creator", Kind::Text), optional("producer", Kind::Text),
            optional("creationDate", Kind::Text), optional("modDate", Kind::Text),
        ],
        translate::set_metadata;
    stage_set_bookmarks, "set-bookmarks", "/forms/pdf/set-bookmarks",
        "Gotenberg 9: replaces the bookmarks.",
        [needed("bookmarks", Kind::Json)], translate::set_bookmarks;
    stage_attach, "attach", "/forms/pdf/attach",
        "Gotenberg 9: attaches a file.",
        [
            needed("file", Kind::File), optional("name", Kind::Text),
            optional("mimeType", Kind::Text), optional("relationship", Kind::Word(RELATIONSHIPS)),
        ],
        translate::attach;
    stage_detach, "detach", "/forms/pdf/detach",
        "Gotenberg 9: removes an attached file.",
        [needed("name", Kind::Text)], translate::detach;
    stage_compose, "compose", "/forms/pdf/compose",
        "Gotenberg 9: draws pages on new pages.",
        [
            optional("paperSize", Kind::Text), optional("paperWidth", Kind::Length),
            optional("paperHeight", Kind::Length), needed("placements", Kind::Json),
        ],
        compose;
    stage_set_form, "set-form", "/forms/pdf/set-form",
        "Gotenberg 9: fills in form fields.",
        [needed("fields", Kind::Json)], translate::set_form;
    stage_extract_text, "extract-text", "/forms/pdf/extract-text",
        "Gotenberg 9: takes out the text of pages.",
        [
            optional("pages", Kind::Text), optional("format", Kind::Word(FORMATS)),
            optional("invisible", Kind::Truth), optional("artifacts", Kind::Truth),
            optional("annotations", Kind::Truth),
        ],
        translate::extract_text;
    stage_extract_attachments, "extract-attachments", "/forms/pdf/extract-attachments",
        "Gotenberg 9: takes out attached files.",
        [optional("name", Kind::Text)], translate::extract_attachments;
    stage_encrypt, "encrypt", "/forms/pdf/encrypt",
        "Gotenberg 9: encrypts with AES-256.",
        [
            optional("userPassword", Kind::Text), optional("ownerPassword", Kind::Text),
            optional("algorithm", Kind::Word(ALGORITHMS)), optional("permissions", Kind::Json),
        ],
        translate::encrypt;
    stage_decrypt, "decrypt", "/forms/pdf/decrypt",
        "Gotenberg 9: removes the encryption.",
        [optional("password", Kind::Text)], translate::decrypt;
    stage_remediate, "remediate", "/forms/pdf/remediate",
        "Gotenberg 9: makes PDF/A, PDF/UA or Factur-X.",
        [
            needed("profile", Kind::Texts), optional("language", Kind::Refused),
            optional("aggressive", Kind::Truth), optional("xml", Kind::File),
            optional("level", Kind::Word(LEVELS)),
        ],
        translate::remediate;
    stage_timestamp, "timestamp", "/forms/pdf/timestamp",
        "Gotenberg 9: adds a timestamp by the authority of the service.",
        [needed("timestampUrl", Kind::Text)], translate::timestamp;
    stage_sign, "sign", "/forms/pdf/sign",
        "Gotenberg 9: signs with a key of the form.",
        [
            needed("certificate", Kind::File), optional("key", Kind::File),
            optional("certificatePassword", Kind::Text), optional("reason", Kind::Text),
            optional("location", Kind::Text), optional("contactInfo", Kind::Text),
            optional("name", Kind::Refused), optional("pades", Kind::Truth),
            optional("timestampUrl", Kind::Text),
        ],
        sign;
        }
    };
}
pub(super) use each_stage;

macro_rules! stages {
    ($($handler:ident, $op:literal, $path:literal, $summary:literal, [$($option:expr),* $(,)?], $translate:expr;)*) => {
        /// All stages.
        pub(super) const STAGES: &[Stage] = &[$(Stage {
            op: $op,
            options: &[$($option),*],
            translate: $translate,
        }),*];
    };
}
each_stage!(stages);

/// A stage by its name.
pub(super) fn find(op: &str) -> Option<&'static Stage> {
    STAGES.iter().find(|stage| stage.op == op)
}
