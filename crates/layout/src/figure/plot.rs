//! Draws the values of charts with categories into a [`Plot`]: areas, bars, lines, targets.

use platen_document::{
    Color,
    bound::{Chart, Mark},
    work,
};

use super::{
    Anchor, Shape,
    area::Plot,
    labels::Labels,
    pen::{CAP_HEIGHT, Pen, text_on},
    points,
};

/// Maximum width of a bar in points, so that a chart of one or two categories still looks like one.
const WIDEST_BAR: f32 = 56.0;

pub(super) fn draw(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot, taken: &mut Labels) {
    work::check();
    points::areas(pen, chart, plot);
    let has_bars = chart.series.iter().any(|series| series.mark == Mark::Bar);
    let stacked = chart.kind.is_stacked();
    if has_bars && stacked {
        stack(pen, chart, plot, taken);
    } else if has_bars {
        bars(pen, chart, plot, taken);
    }
    points::lines(pen, chart, plot, taken);
    targets(pen, chart, plot, taken);
}

/// A bar, from its start to its end along the value axis.
struct Bar {
    /// Center across the value axis.
    middle: f32,
    thickness: f32,
    start: f32,
    end: f32,
    color: Color,
}

impl Bar {
    fn draw(&self, pen: &mut Pen<'_>, horizontal: bool) {
        let (low, length) = (
            self.start.min(self.end),
            (self.start - self.end).abs().max(0.0),
        );
        let across = self.middle - self.thickness / 2.0;
        let thickness = self.thickness.max(0.1);
        let (x, y, width, height) = if horizontal {
            (low, across, length, thickness)
        } else {
            (across, low, thickness, length)
        };
        pen.shapes.push(Shape::Rect {
            x,
            y,
            width,
            height,
            fill: self.color,
        });
    }
}

fn bars(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot, taken: &mut Labels) {
    let shown: Vec<usize> = (0..chart.series.len())
        .filter(|place| chart.series[*place].mark == Mark::Bar)
        .collect();
    let count = shown.len().max(1) as f32;
    let share = if count > 1.0 { 0.72 } else { 0.58 };
    let step = (plot.slot() * share / count).min(WIDEST_BAR);
    let thickness = if step > 4.0 { step * 0.94 } else { step };
    let mut drawn = Vec::new();
    for category in 0..plot.slots {
        let start = plot.middle(category) - step * count / 2.0;
        for (index, place) in shown.iter().enumerate() {
            let series = &chart.series[*place];
            let Some(value) = series.value(category) else {
                continue;
            };
            let bar = Bar {
                middle: start + (index as f32 + 0.5) * step,
                thickness,
                start: plot.base(series.secondary),
                end: plot.at(value, series.secondary),
                color: series.color,
            };
            bar.draw(pen, plot.horizontal);
            drawn.push((bar, value < 0.0, *place, category));
        }
    }
    if !chart.labels {
        return;
    }
    let room = if count > 1.0 { step } else { step / share };
    let texts = shown.iter().flat_map(|place| &chart.series[*place].labels);
    let level = texts.map(|text| pen.width(text)).fold(0.0, f32::max) <= room;
    for (bar, negative, place, category) in drawn {
        let Some(text) = chart.series[place].labels.get(category) else {
            continue;
        };
        if plot.horizontal {
            beside(pen, taken, &bar, negative, text);
        } else if level {
            above(pen, taken, &bar, negative, text);
        } else {
            upward(pen, taken, &bar, negative, text);
        }
    }
}

/// Labels a horizontal bar beyond its end or, where there is no room, within.
fn beside(pen: &mut Pen<'_>, taken: &mut Labels, bar: &Bar, negative: bool, text: &str) {
    if bar.thickness < pen.size * 0.8 {
        return;
    }
    let (color, gap) = (pen.text, pen.size * 0.35);
    let y = bar.middle + pen.size * CAP_HEIGHT / 2.0;
    let (sign, outside, inside) = if negative {
        (-1.0, Anchor::End, Anchor::Start)
    } else {
        (1.0, Anchor::Start, Anchor::End)
    };
    let beyond = (bar.end + sign * gap, y);
    if !taken.level(pen, beyond, text, color, outside)
        && (bar.end - bar.start).abs() >= pen.width(text) + 2.0 * gap
    {
        let color = text_on(bar.color, color);
        taken.level(pen, (bar.end - sign * gap, y), text, color, inside);
    }
}

/// Labels an upright bar above its end, or below it if it hangs.
fn above(pen: &mut Pen<'_>, taken: &mut Labels, bar: &Bar, negative: bool, text: &str) {
    let (color, gap) = (pen.text, pen.size * 0.35);
    let y = if negative {
        bar.end + gap + pen.size * CAP_HEIGHT
    } else {
        bar.end - gap
    };
    taken.level(pen, (bar.middle, y), text, color, Anchor::Middle);
}

/// Labels an upright bar that is narrower than its label: upwards beyond its end or, where there is
/// no room, within.
fn upward(pen: &mut Pen<'_>, taken: &mut Labels, bar: &Bar, negative: bool, text: &str) {
    if bar.thickness < pen.size * CAP_HEIGHT {
        return;
    }
    let (color, gap, width) = (pen.text, pen.size * 0.35, pen.width(text));
    let x = bar.middle + pen.size * CAP_HEIGHT / 2.0;
    let (beyond, within) = if negative {
        (bar.end + gap + width, bar.end - gap)
    } else {
        (bar.end - gap, bar.end + gap + width)
    };
    // The title above must not be covered.
    let below_title = beyond - width >= pen.title_end;
    let drawn = below_title && taken.upward(pen, (x, beyond), text, color);
    if !drawn && (bar.end - bar.start).abs() >= width + 2.0 * gap {
        let color = text_on(bar.color, color);
        taken.upward(pen, (x, within), text, color);
    }
}

fn stack(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot, taken: &mut Labels) {
    let thickness = (plot.slot() * 0.6).min(WIDEST_BAR);
    let dark = pen.text;
    for category in 0..plot.slots {
        let (mut above, mut below) = (0.0f64, 0.0f64);
        let middle = plot.middle(category);
        for (place, series) in chart.series.iter().enumerate() {
            if series.mark != Mark::Bar {
                continue;
            }
            let Some(value) = chart.drawn(place, category) else {
                continue;
            };
            let from = if value < 0.0 { &mut below } else { &mut above };
            let start = plot.at(*from, false);
            *from += value;
            let bar = Bar {
                middle,
                thickness,
                start,
                end: plot.at(*from, false),
                color: series.color,
            };
            bar.draw(pen, plot.horizontal);
            let Some(text) = series.labels.get(category).filter(|_| chart.labels) else {
                continue;
            };
            let (length, width) = ((bar.start - bar.end).abs(), pen.width(text));
            let (along, across) = (bar.start / 2.0 + bar.end / 2.0, middle);
            let (x, y, fits) = if plot.horizontal {
                (along, across, width <= length && pen.size <= thickness)
            } else {
                let fits = width <= plot.slot() && length >= pen.size * 1.1;
                (across, along, fits)
            };
            if fits {
                let within = plot.horizontal || width <= thickness;
                let color = if within {
                    text_on(series.color, dark)
                } else {
                    dark
                };
                let y = y + pen.size * CAP_HEIGHT / 2.0;
                taken.level(pen, (x, y), text, color, Anchor::Middle);
            }
        }
    }
}

/// Draws a line for each target, and its label at the end of the line.
pub(super) fn targets(pen: &mut Pen<'_>, chart: &Chart, plot: &Plot, taken: &mut Labels) {
    for target in &chart.targets {
        let at = plot.at(target.value, target.secondary);
        let (from, to) = if plot.horizontal {
            ((at, plot.top), (at, plot.bottom()))
        } else {
            ((plot.left, at), (plot.right(), at))
        };
        pen.shapes.push(Shape::Line {
            points: vec![from, to],
            width: 1.25,
            color: target.color,
            dash: Some((4.0, 2.5)),
        });
        let gap = pen.size * 0.3;
        let height = pen.size * CAP_HEIGHT;
        // At the line's end on either side, the first that is free.
        let places = if plot.horizontal {
            [
                (at + gap, plot.top + height + gap, Anchor::Start),
                (at - gap, plot.top + height + gap, Anchor::End),
            ]
        } else {
            [
                (plot.right() - gap, at - gap, Anchor::End),
                (plot.right() - gap, at + gap + height, Anchor::End),
            ]
        };
        for (x, y, anchor) in places {
            if taken.on_white(pen, (x, y), &target.label, target.color, anchor) {
                break;
            }
        }
    }
}
