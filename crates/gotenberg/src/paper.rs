//! Sizes of paper by their names.

/// Width and height, in millimeters (ISO 216).
const METRIC: [(&str, f64, f64); 8] = [
    ("a0", 841.0, 1189.0),
    ("a1", 594.0, 841.0),
    ("a2", 420.0, 594.0),
    ("a3", 297.0, 420.0),
    ("a4", 210.0, 297.0),
    ("a5", 148.0, 210.0),
    ("b4", 250.0, 353.0),
    ("b5", 176.0, 250.0),
];
/// Width and height, in inches.
const AMERICAN: [(&str, f64, f64); 3] = [
    ("letter", 8.5, 11.0),
    ("legal", 8.5, 14.0),
    ("tabloid", 11.0, 17.0),
];
/// What a name is, for a message.
pub(crate) const NAMES: &str = "one of A0, A1, A2, A3, A4, A5, B4, B5, Letter, Legal and Tabloid";
const MILLIMETERS: f64 = 25.4;

/// Width and height of a size, in inches.
pub(crate) fn size(name: &str) -> Option<(f64, f64)> {
    let is = |known: &str| known.eq_ignore_ascii_case(name.trim());
    let metric = METRIC.iter().find(|size| is(size.0));
    let metric = metric.map(|(_, width, height)| (width / MILLIMETERS, height / MILLIMETERS));
    metric.or_else(|| {
        let (_, width, height) = AMERICAN.iter().find(|size| is(size.0))?;
        Some((*width, *height))
    })
}
