//! Plots as SVG 1.1: lines over linear or logarithmic scales, and bars.

mod bars;
mod lines;
mod scale;

pub use self::{bars::Bars, lines::Lines};
pub(crate) use scale::Scale;

/// Size of a plot and its margins, in pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;

/// Colors that are distinguishable with color blindness too (Okabe and Ito).
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444", "#a5a000",
];

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// Lines.
    Lines(Lines),
    /// Bars.
    Bars(Bars),
}

impl Chart {
    /// Renders the plot as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        match self {
            Self::Lines(lines) => lines.to_svg(),
            Self::Bars(bars) => bars.to_svg(),
        }
    }

    /// The title.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Lines(lines) => &lines.title,
            Self::Bars(bars) => &bars.title,
        }
    }
}

fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

/// Lines that reuse a color are dashed.
fn dashes(index: usize) -> &'static str {
    match index / COLOURS.len() {
        0 => "",
        1 => " stroke-dasharray=\"6 3\"",
        _ => " stroke-dasharray=\"2 3\"",
    }
}

fn open(title: &str, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{0}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"14\" font-weight=\"bold\">{0}</text>\n",
        escape(title)
    )
}

fn text(x: f64, y: f64, anchor: &str, content: &str) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#333\">{}</text>\n",
        escape(content)
    )
}

/// Escapes text for XML.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Formats a number on an axis.
fn number(value: f64) -> String {
    match value.abs() {
        it if it >= 1e6 => format!("{}M", short(value / 1e6)),
        it if it >= 1e4 => format!("{}k", short(value / 1e3)),
        _ => short(value),
    }
}

fn short(value: f64) -> String {
    let text = match value.abs() {
        it if it >= 100.0 => format!("{value:.0}"),
        it if it >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    };
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let written = [0.0, 0.05, 1.0, 2.5, 250.0, 20_000.0, 1_500_000.0].map(number);
        assert_eq!(written, ["0", "0.05", "1", "2.5", "250", "20k", "1.5M"]);
    }

    #[test]
    fn what_is_written_by_others_is_text() {
        let chart = Chart::Bars(Bars {
            title: "a < b & \"c\"".to_owned(),
            unit: "ms".to_owned(),
            bars: vec![("<script>".to_owned(), 1.0)],
        });
        let svg = chart.to_svg();
        assert!(!svg.contains("<script>") && svg.contains("&lt;script&gt;"));
        assert!(svg.ends_with("</svg>\n"));
    }
}
