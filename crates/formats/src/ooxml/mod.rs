//! Parts common to the Office Open XML formats (ECMA-376 parts 1 and 2): the package, escaping,
//! document properties, theme, images and native charts.

mod chart;
mod package;
mod picture;
mod properties;
mod theme;
mod workbook;
mod xml;
mod zip;

pub(crate) use self::{
    chart::{
        ChartParts, DrawnSeries, axis_format, chart_parts, drawn_series, ends, lost_in_native,
        values_format,
    },
    package::{Package, Relationships},
    picture::{Media, RASTERIZED, UNDRAWN, barcode_png, source_rectangle, svg_to_png, webp_to_png},
    properties::{app_properties, core_properties},
    theme::theme,
    workbook::write_chart_data,
    xml::{Escaped, push_escaped},
};

/// XML declaration at the start of every part.
pub(crate) const DECLARATION: &str =
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

/// Points to English Metric Units, 12,700 per point.
pub(crate) fn emu(points: f32) -> i64 {
    (f64::from(points) * 12_700.0).round() as i64
}

/// Points to twips, twentieths of a point.
pub(crate) fn twips(points: f32) -> i32 {
    (points * 20.0).round() as i32
}
