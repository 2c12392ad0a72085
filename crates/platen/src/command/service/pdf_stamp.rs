//! Arguments of `platen pdf stamp`.

use std::path::PathBuf;

use clap::Args;
use platen_engine::StampLook;
use serde_json::{Value as Json, json};

use super::pdf_files::{Files, Pages, name_of};
use crate::command::font_arguments::FontArguments;

/// What is drawn, and where.
#[derive(Debug, Args)]
pub(super) struct StampArguments {
    #[command(flatten)]
    pub(super) files: Files,
    /// A text, of one line or several.
    #[arg(long, conflicts_with = "file")]
    text: Option<String>,
    /// `{page}` and `{pages}` in the text are the number of the page and of all pages.
    #[arg(long, requires = "text")]
    numbered: bool,
    /// A picture or PDF.
    #[arg(long, value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Draw the first page of the PDF given by --file on the first page, its second on the second, and
    /// its last on all later pages.
    #[arg(long, requires = "file")]
    each_page: bool,
    /// Draw below the content of pages.
    #[arg(long)]
    below: bool,
    #[command(flatten)]
    pages: Pages,
    /// Font family of a text.
    #[arg(long)]
    font: Option<String>,
    /// Font size of a text, in points.
    #[arg(long)]
    font_size: Option<f32>,
    /// Whether a text is bold; it is without this.
    #[arg(long, value_name = "BOOL", requires = "text")]
    bold: Option<bool>,
    /// A text is italic.
    #[arg(long, requires = "text")]
    italic: bool,
    /// Color of a text, as `#ff0000` or `red`.
    #[arg(long)]
    color: Option<String>,
    /// From 0, which is invisible, to 1; default: 1.
    #[arg(long)]
    opacity: Option<f32>,
    /// Counter-clockwise, in degrees.
    #[arg(long, allow_negative_numbers = true, conflicts_with = "diagonal")]
    rotation: Option<f32>,
    /// Along the diagonal of the page.
    #[arg(long)]
    diagonal: bool,
    /// top-left, top, top-right, left, center, right, bottom-left, bottom or bottom-right.
    #[arg(long)]
    position: Option<String>,
    /// A multiple of its own size.
    #[arg(long, conflicts_with = "width")]
    scale: Option<f32>,
    /// Width as a part of the page's; default: half of it, and a PDF covers the page.
    #[arg(long)]
    width: Option<f32>,
    #[command(flatten)]
    pub(super) fonts: FontArguments,
}

impl StampArguments {
    /// The operation in JSON.
    pub(super) fn to_json(&self) -> Json {
        let mut one = json!({
            "do": "stamp",
            "text": self.text,
            "numbered": self.numbered,
            "file": self.file.as_deref().map(name_of),
            "eachPage": self.each_page,
            "below": self.below,
            "pages": self.pages.pages,
            "font": self.font,
            "fontSize": self.font_size,
            "bold": self.bold,
            "italic": self.italic,
            "opacity": self.opacity.unwrap_or(StampLook::default().opacity),
            "rotation": self.rotation,
            "diagonal": self.diagonal,
            "position": self.position,
            "scale": self.scale,
            "width": self.width,
        });
        if let Some(color) = &self.color {
            one["color"] = color.as_str().into();
        }
        one
    }
}
