//! Resolved styles, interned so that equal styles share one [`StyleId`].

use std::{collections::HashMap, sync::Arc};

pub use crate::template::{Align, LineStyle, TabAlign, TabLeader, VerticalAlign};
use crate::{
    Color,
    font::{FontAxis, FontFeature},
};

/// Values for the four sides of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sides<T> {
    /// Top.
    pub top: T,
    /// Right.
    pub right: T,
    /// Bottom.
    pub bottom: T,
    /// Left.
    pub left: T,
}

impl<T: Copy> Sides<T> {
    /// The same value on all sides.
    #[must_use]
    pub const fn all(value: T) -> Self {
        Self {
            top: value,
            right: value,
            bottom: value,
            left: value,
        }
    }
}

/// A line along one side of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Border {
    /// Width, in points.
    pub width: f32,
    /// Color.
    pub color: Color,
    /// Solid, dashed or dotted.
    pub style: LineStyle,
}

/// Borders of a box.
pub type Borders = Sides<Option<Border>>;

/// A position to which a tab leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TabStop {
    /// Distance from the start side of the column, in points.
    pub position: f32,
    /// Which part of the text behind the tab stands there.
    pub align: TabAlign,
    /// What fills the gap.
    pub leader: TabLeader,
}

/// All resolved properties of a text or box. Lengths are in points.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// Name of the theme style that it equals, if any.
    pub name: Option<Arc<str>>,
    /// Font families in order of preference.
    pub font_families: Arc<[String]>,
    /// Font size, in points.
    pub font_size: f32,
    /// Weight of the font, 1 to 1000, where it is given; otherwise bold or not decides.
    pub font_weight: Option<u16>,
    /// Width of the font in percent of its normal one.
    pub font_width: u16,
    /// OpenType features.
    pub font_features: Arc<[FontFeature]>,
    /// Positions on the axes of variable fonts.
    pub font_axes: Arc<[FontAxis]>,
    /// Bold.
    pub bold: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Struck through.
    pub strike: bool,
    /// BCP 47 tag of its language, where it is not that of the document.
    pub lang: Option<Arc<str>>,
    /// Whether it is code, set in a monospaced font.
    pub code: bool,
    /// Position relative to the baseline.
    pub baseline: Baseline,
    /// Text color.
    pub color: Color,
    /// Background color.
    pub background: Option<Color>,
    /// Horizontal alignment.
    pub align: Align,
    /// Vertical alignment in a table cell.
    pub vertical_align: VerticalAlign,
    /// Whether the text of a table cell is turned by 90 degrees, to be read from the bottom up.
    pub turned: bool,
    /// Line height as a multiple of the font size.
    pub line_height: f32,
    /// Additional space between letters, in points.
    pub letter_spacing: f32,
    /// Space above the block, in points.
    pub space_before: f32,
    /// Space below the block, in points.
    pub space_after: f32,
    /// Indent at the start side, in points.
    pub indent_start: f32,
    /// Indent at the end side, in points.
    pub indent_end: f32,
    /// Additional indent of the first line, in points; negative for a hanging indent.
    pub indent_first_line: f32,
    /// Where tabs lead, in ascending order.
    pub tabs: Arc<[TabStop]>,
    /// Space between border and content, in points.
    pub padding: Sides<f32>,
    /// Borders.
    pub borders: Borders,
    /// Whether the block spans all text columns of its section.
    pub column_span: bool,
    /// Whether punctuation at the ends of lines hangs beyond them, in part.
    pub hanging_punctuation: bool,
    /// Whether justified Arabic lines grow at the connections between letters.
    pub kashida: bool,
    /// Whether to hyphenate words at line ends.
    pub hyphenate: bool,
    /// Whether to stay on the page of the next block.
    pub keep_with_next: bool,
    /// Whether to avoid page breaks inside the block.
    pub keep_together: bool,
    /// Minimum number of lines at the top of a page.
    pub widows: u8,
    /// Minimum number of lines at the bottom of a page.
    pub orphans: u8,
}

/// Position of a run relative to the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Baseline {
    /// On the baseline.
    #[default]
    Normal,
    /// Raised by a third of the font size, at 65 % of the size.
    Superscript,
    /// Lowered by a seventh of the font size, at 65 % of the size.
    Subscript,
}

impl Style {
    /// Weight of the font, 1 to 1000.
    #[must_use]
    pub fn weight(&self) -> u16 {
        self.font_weight
            .unwrap_or(if self.bold { 700 } else { 400 })
    }

    /// Makes it bold or not, whatever its weight was.
    pub fn set_bold(&mut self, bold: bool) {
        self.bold = bold;
        self.font_weight = None;
    }
}

impl Default for Style {
    fn default() -> Self {
        Self {
            name: None,
            font_families: Arc::from(["Liberation Sans".to_owned()]),
            font_size: 10.0,
            font_weight: None,
            font_width: 100,
            font_features: Arc::default(),
            font_axes: Arc::default(),
            bold: false,
            italic: false,
            underline: false,
            strike: false,
            lang: None,
            code: false,
            baseline: Baseline::Normal,
            color: Color::from_rgb(0x1F_2933),
            background: None,
            align: Align::Start,
            vertical_align: VerticalAlign::Top,
            turned: false,
            line_height: 1.3,
            letter_spacing: 0.0,
            space_before: 0.0,
            space_after: 0.0,
            indent_start: 0.0,
            indent_end: 0.0,
            indent_first_line: 0.0,
            tabs: Arc::default(),
            padding: Sides::all(0.0),
            borders: Sides::all(None),
            column_span: false,
            hanging_punctuation: false,
            kashida: false,
            hyphenate: false,
            keep_with_next: false,
            keep_together: false,
            widows: 2,
            orphans: 2,
        }
    }
}

/// Index of a style in a [`StyleTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StyleId(pub u32);

/// Interned styles. Id 0 is always the default style.
#[derive(Clone, Debug)]
pub struct StyleTable {
    styles: Vec<Style>,
    /// Indices by a cheap fingerprint; equality then decides.
    index: HashMap<u64, Vec<u32>>,
}

impl Default for StyleTable {
    fn default() -> Self {
        let mut table = Self {
            styles: Vec::new(),
            index: HashMap::new(),
        };
        table.intern(Style::default());
        table
    }
}

impl StyleTable {
    /// Returns the id of `style`, adding it if it is new.
    pub fn intern(&mut self, style: Style) -> StyleId {
        let ids = self.index.entry(fingerprint(&style)).or_default();
        if let Some(id) = ids.iter().find(|id| self.styles[**id as usize] == style) {
            return StyleId(*id);
        }
        let id = u32::try_from(self.styles.len()).expect("fewer than 2^32 styles");
        ids.push(id);
        self.styles.push(style);
        StyleId(id)
    }

    /// The style with this id.
    #[must_use]
    pub fn get(&self, id: StyleId) -> &Style {
        &self.styles[id.0 as usize]
    }

    /// All styles with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (StyleId, &Style)> {
        self.styles
            .iter()
            .enumerate()
            .map(|(index, style)| (StyleId(index as u32), style))
    }
}

impl std::ops::Index<StyleId> for StyleTable {
    type Output = Style;

    fn index(&self, id: StyleId) -> &Style {
        self.get(id)
    }
}

fn fingerprint(style: &Style) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    style.name.hash(&mut hasher);
    style.font_families.hash(&mut hasher);
    style.font_size.to_bits().hash(&mut hasher);
    (
        style.weight(),
        style.font_width,
        &style.lang,
        style.italic,
        style.code,
        style.color,
        style.align,
    )
        .hash(&mut hasher);
    (style.baseline, style.background, style.underline).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_styles_share_an_id() {
        let mut table = StyleTable::default();
        let bold = Style {
            bold: true,
            ..Style::default()
        };
        let id = table.intern(bold.clone());
        assert_eq!(table.intern(bold), id);
        assert_eq!(table.intern(Style::default()), StyleId(0));
        let wide = Style {
            letter_spacing: 1.0,
            ..Style::default()
        };
        assert_ne!(table.intern(wide), StyleId(0));
    }
}
