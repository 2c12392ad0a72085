//! Bar charts, in the given order.

use std::fmt::Write as _;

use super::{Scale, TOP, WIDTH, colour, number, open, text};

/// Width of the names.
const NAMES: f64 = 300.0;
const STEP: f64 = 26.0;
/// Width of the values after the longest bar.
const VALUES: f64 = 90.0;

/// Bars with names and lengths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The title.
    pub title: String,
    /// Unit of the lengths.
    pub unit: String,
    /// Names and lengths.
    pub bars: Vec<(String, f64)>,
}

impl Bars {
    /// Renders the plot as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let height = TOP + self.bars.len() as f64 * STEP + 12.0;
        let scale = Scale::of(self.bars.iter().map(|bar| bar.1), false);
        let scale = scale.onto(NAMES, WIDTH - VALUES);
        let mut svg = open(&self.title, height);
        for (index, (name, length)) in self.bars.iter().enumerate() {
            let top = TOP + index as f64 * STEP;
            let end = scale.place(*length);
            let width = (end - NAMES).max(1.0);
            let _ = writeln!(
                svg,
                "<rect x=\"{NAMES}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"18\" fill=\"{}\"/>",
                colour(0)
            );
            svg += &text(NAMES - 8.0, top + 13.0, "end", name);
            let value = format!("{} {}", number(*length), self.unit);
            svg += &text(end + 6.0, top + 13.0, "start", &value);
        }
        svg + "</svg>\n"
    }
}
