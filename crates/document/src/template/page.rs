//! Page setup: size, orientation, margins, columns, header and footer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Node, Text};
use crate::{Color, Length};

/// Page setup of a template or a section. Properties not given are inherited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PageSetup {
    /// Paper size; A4 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<PaperSize>,
    /// Portrait by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orientation: Option<Orientation>,
    /// Page margins; 20 mm by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margins: Option<Margins>,
    /// Number of text columns, 1 to 6.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 6))]
    pub columns: Option<u8>,
    /// Gap between text columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column_gap: Option<Length>,
    /// Header of every page. Texts may use `{{ pageNumber }}` and `{{ pageCount }}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Vec<Node>>,
    /// Footer of every page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footer: Option<Vec<Node>>,
    /// Header of the first page instead of `header`; `[]` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_header: Option<Vec<Node>>,
    /// Footer of the first page instead of `footer`; `[]` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_footer: Option<Vec<Node>>,
    /// Header of even pages instead of `header`; `[]` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub even_header: Option<Vec<Node>>,
    /// Footer of even pages instead of `footer`; `[]` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub even_footer: Option<Vec<Node>>,
    /// Header of the section's last page instead of `header`; `[]` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_header: Option<Vec<Node>>,
    /// Footer of the section's last page instead of `footer`; `[]` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_footer: Option<Vec<Node>>,
    /// What is behind the text of every page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Background>,
    /// What is behind the text of the section's first page, instead of `background`; `{}` for
    /// nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_background: Option<Background>,
    /// Form of the page numbers; by default as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_numbers: Option<PageNumbers>,
    /// Pages on which the section may start; an empty page precedes it if necessary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_on: Option<StartOn>,
    /// Number of the first page; by default numbering continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_page_number: Option<u32>,
}

/// What is behind the text of a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Background {
    /// Color of the whole page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<Color>,
    /// Name of an asset, or a `data:` URL: an image or a page of a PDF that covers the page. It is
    /// decoration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Text>,
    /// Page of the PDF in `image`; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub image_page: Option<u32>,
    /// Text across the page, such as `DRAFT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watermark: Option<Watermark>,
    /// Marks for folding a letter, at the left edge of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold_marks: Option<FoldMarks>,
}

/// Where the shorter lines of a watermark stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WatermarkAlign {
    /// Left.
    Left,
    /// In the middle.
    #[default]
    Center,
    /// Right.
    Right,
}

/// Text across a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Watermark {
    /// The text.
    pub text: Text,
    /// Color; a light gray by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub color: Option<Color>,
    /// Font size; by default as large as fits the page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub font_size: Option<Length>,
    /// Angle in degrees, counter-clockwise; 45 by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub angle: Option<f32>,
    /// Whether it is bold; true by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bold: Option<bool>,
    /// Whether it is italic.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub italic: Option<bool>,
    /// Where shorter lines stand: `left`, `right`, or in the middle by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub align: Option<WatermarkAlign>,
}

/// Standard of fold marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FoldMarks {
    /// Letters of form A of DIN 5008: folds at 87 and 192 mm, punch mark at 148.5 mm.
    #[serde(rename = "din5008A")]
    Din5008A,
    /// Letters of form B of DIN 5008: folds at 105 and 210 mm, punch mark at 148.5 mm.
    #[serde(rename = "din5008B")]
    Din5008B,
    /// Thirds of the page.
    #[serde(rename = "thirds")]
    Thirds,
}

/// Form of page numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PageNumbers {
    /// 1, 2, 3.
    Decimal,
    /// a, b, c.
    LowerAlpha,
    /// A, B, C.
    UpperAlpha,
    /// i, ii, iii.
    LowerRoman,
    /// I, II, III.
    UpperRoman,
}

/// Pages on which a section may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StartOn {
    /// Any page.
    #[default]
    Any,
    /// Pages with an odd number.
    Odd,
    /// Pages with an even number.
    Even,
}

/// Paper size: a name, or width and height in portrait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum PaperSize {
    /// A3, A4, A5, A6, B5, Letter, Legal, Tabloid, Executive, or the slides `16:9` and `4:3`.
    Named(String),
    /// Custom size.
    Custom {
        /// Width in portrait.
        width: Length,
        /// Height in portrait.
        height: Length,
    },
}

impl PaperSize {
    /// Names for [`PaperSize::Named`], with portrait width and height in points.
    pub const NAMES: [(&'static str, f32, f32); 11] = [
        ("A3", 841.89, 1190.55),
        ("A4", 595.276, 841.89),
        ("A5", 419.528, 595.276),
        ("A6", 297.638, 419.528),
        ("B5", 498.898, 708.661),
        ("Letter", 612.0, 792.0),
        ("Legal", 612.0, 1008.0),
        ("Tabloid", 792.0, 1224.0),
        ("Executive", 522.0, 756.0),
        ("16:9", 540.0, 960.0),
        ("4:3", 540.0, 720.0),
    ];

    /// Portrait width and height in points; `None` for an unknown name.
    #[must_use]
    pub fn dimensions(&self) -> Option<(f32, f32)> {
        match self {
            Self::Named(name) => Self::NAMES
                .iter()
                .find(|(known, ..)| known.eq_ignore_ascii_case(name))
                .map(|(_, width, height)| (*width, *height)),
            Self::Custom { width, height } => Some((width.to_points(), height.to_points())),
        }
    }
}

/// Orientation of the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Orientation {
    /// Taller than wide.
    #[default]
    Portrait,
    /// Wider than tall.
    Landscape,
}

/// Page margins: one length, or one per side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Margins {
    /// The same on all sides.
    All(Length),
    /// One length per side; 20 mm by default.
    Sides {
        /// Top.
        #[serde(default = "default_margin")]
        top: Length,
        /// Right.
        #[serde(default = "default_margin")]
        right: Length,
        /// Bottom.
        #[serde(default = "default_margin")]
        bottom: Length,
        /// Left.
        #[serde(default = "default_margin")]
        left: Length,
    },
}

/// Default margin of a side.
pub(crate) fn default_margin() -> Length {
    Length::millimetres(20.0)
}

/// Points per millimetre.
const MILLIMETRE: f32 = 72.0 / 25.4;

impl FoldMarks {
    /// Distance of the marks from the left edge of the page, in points.
    pub const START: f32 = 4.0 * MILLIMETRE;

    /// The marks of a page that is `height` points high: distance from its top and length, in
    /// points.
    pub fn on(self, height: f32) -> impl Iterator<Item = (f32, f32)> {
        let short = 4.0 * MILLIMETRE;
        let punch = (148.5 * MILLIMETRE, 6.0 * MILLIMETRE);
        let marks = match self {
            Self::Din5008A => vec![
                (87.0 * MILLIMETRE, short),
                punch,
                (192.0 * MILLIMETRE, short),
            ],
            Self::Din5008B => vec![
                (105.0 * MILLIMETRE, short),
                punch,
                (210.0 * MILLIMETRE, short),
            ],
            Self::Thirds => vec![(height / 3.0, short), (height * 2.0 / 3.0, short)],
        };
        marks.into_iter().filter(move |(y, _)| *y < height)
    }
}
