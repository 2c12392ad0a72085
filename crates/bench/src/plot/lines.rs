//! Line charts.

use std::fmt::Write as _;

use super::{
    BOTTOM, HEIGHT, LEFT, RIGHT, Scale, TOP, WIDTH, colour, dashes, escape, number, open, text,
};

/// Lines over a numeric axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The title.
    pub title: String,
    /// Label of the x axis.
    pub x: String,
    /// Label of the y axis.
    pub y: String,
    /// Whether the x axis is logarithmic.
    pub is_x_logarithmic: bool,
    /// Whether the y axis is logarithmic.
    pub is_y_logarithmic: bool,
    /// Labeled values on the x axis; round values if empty.
    pub marks: Vec<(f64, String)>,
    /// Names and points of the lines.
    pub series: Vec<(String, Vec<(f64, f64)>)>,
}

impl Lines {
    /// Renders the plot as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let points = || self.series.iter().flat_map(|(_, points)| points);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let x = Scale::of(points().map(|it| it.0), self.is_x_logarithmic);
        let mut x = x.onto(LEFT, right);
        if let (Some(first), Some(last)) = (self.marks.first(), self.marks.last()) {
            (x.low, x.high) = (first.0, last.0);
        }
        let y = Scale::of(points().map(|it| it.1), self.is_y_logarithmic).onto(bottom, TOP);
        let mut svg = open(&self.title, HEIGHT);
        for tick in y.ticks() {
            let place = y.place(tick);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {place:.1}H{right}\" stroke=\"#ddd\"/>"
            );
            svg += &text(LEFT - 6.0, place + 4.0, "end", &number(tick));
        }
        let ticks: Vec<(f64, String)> = match self.marks.is_empty() {
            true => x.ticks().into_iter().map(|it| (it, number(it))).collect(),
            false => self.marks.clone(),
        };
        for (tick, name) in ticks {
            let place = x.place(tick);
            let _ = writeln!(
                svg,
                "<path d=\"M{place:.1} {TOP}V{bottom}\" stroke=\"#eee\"/>"
            );
            svg += &text(place, bottom + 16.0, "middle", &name);
        }
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#333\"/>"
        );
        svg += &text((LEFT + right) / 2.0, HEIGHT - 14.0, "middle", &self.x);
        let middle = (TOP + bottom) / 2.0;
        let _ = writeln!(
            svg,
            "<text transform=\"translate(16 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" \
             fill=\"#333\">{}</text>",
            escape(&self.y)
        );
        for (index, (name, points)) in self.series.iter().enumerate() {
            svg += &line(index, name, points, &x, &y);
        }
        svg + "</svg>\n"
    }
}

fn line(index: usize, name: &str, points: &[(f64, f64)], x: &Scale, y: &Scale) -> String {
    let (colour, dashes) = (colour(index), dashes(index));
    let places: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (x.place(point.0), y.place(point.1)))
        .collect();
    let path: Vec<String> = places
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    let mut svg = format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\n",
        path.join(" ")
    );
    for (x, y) in places {
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>"
        );
    }
    let (left, top) = (WIDTH - RIGHT + 14.0, TOP + 8.0 + index as f64 * 18.0);
    let _ = writeln!(
        svg,
        "<path d=\"M{left} {top}h18\" stroke=\"{colour}\" stroke-width=\"3\"{dashes}/>"
    );
    svg + &text(left + 24.0, top + 4.0, "start", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_inside_the_picture() {
        let chart = Lines {
            title: "t".to_owned(),
            is_y_logarithmic: true,
            series: vec![
                ("a".to_owned(), vec![(1.0, 0.02), (32.0, 5_000.0)]),
                ("empty".to_owned(), Vec::new()),
            ],
            ..Lines::default()
        };
        let svg = chart.to_svg();
        let numbers = |name: &str| -> Vec<f64> {
            let parts = svg.split(name).skip(1);
            parts
                .map(|part| part.split('"').next().unwrap().parse().unwrap())
                .collect()
        };
        assert_eq!(numbers("cx=\"").len(), 2);
        assert!(numbers("cx=\"").iter().all(|x| (LEFT..=WIDTH).contains(x)));
        assert!(numbers("cy=\"").iter().all(|y| (0.0..=HEIGHT).contains(y)));
    }
}
