//! Texts with page numbers, which are set anew for each page by whoever has a layout.

use crate::Error;

/// Sets what a text says on a page: a PDF file of one page that draws nothing else.
pub type SetText<'a> = dyn Fn(&NumberedText, &str) -> Result<Vec<u8>, Error> + 'a;

/// Sets the text of a page.
pub(crate) struct Setter<'a> {
    pub(crate) set: &'a SetText<'a>,
    /// Called before each text; may unwind, to end it all.
    pub(crate) checkpoint: &'a dyn Fn(),
}

/// A text with page numbers, and how it is set.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedText {
    /// The text in its order.
    pub pieces: Vec<Piece>,
    /// How it looks.
    pub look: TextLook,
}

/// How a text looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextLook {
    /// Font family; the usual one without it.
    pub font: Option<String>,
    /// Font size in points; the usual one without it.
    pub font_size: Option<f32>,
    /// Color, as in `#808080`.
    pub color: String,
    /// Whether it is bold.
    pub bold: bool,
    /// Whether it is italic.
    pub italic: bool,
    /// Where shorter lines stand: 0 is at the left, 0.5 in the middle, 1 at the right.
    pub across: f32,
}

/// A piece of such a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The same on every page.
    Text(String),
    /// The number of the page, from 1.
    Page,
    /// How many pages the file has.
    Pages,
}

impl Piece {
    /// The pieces of a text in which these marks stand for the number of the page and of all pages.
    #[must_use]
    pub fn all_of(text: &str, page: &str, pages: &str) -> Vec<Self> {
        let mut found = Vec::new();
        let mut rest = text;
        loop {
            let marks = [(page, Self::Page), (pages, Self::Pages)];
            let first = marks
                .into_iter()
                .filter_map(|(mark, piece)| Some((rest.find(mark)?, mark, piece)))
                .min_by_key(|(at, ..)| *at);
            let Some((at, mark, piece)) = first else {
                break;
            };
            if at > 0 {
                found.push(Self::Text(rest[..at].to_owned()));
            }
            found.push(piece);
            rest = &rest[at + mark.len()..];
        }
        if !rest.is_empty() {
            found.push(Self::Text(rest.to_owned()));
        }
        found
    }
}

impl NumberedText {
    /// What it says on a page, from 1, of a file with so many pages.
    #[must_use]
    pub fn on(&self, page: usize, pages: usize) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Page => page.to_string(),
            Piece::Pages => pages.to_string(),
        };
        self.pieces.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_where_their_marks_are() {
        let says = |text: &str| {
            let text = NumberedText {
                pieces: Piece::all_of(text, "%p", "%P"),
                look: TextLook::default(),
            };
            text.on(3, 12)
        };
        assert_eq!(says("Page %p of %P"), "Page 3 of 12");
        assert_eq!(says("%P%p%p"), "1233");
        assert_eq!(says("50 % off"), "50 % off");
        assert_eq!(says(""), "");
    }
}
