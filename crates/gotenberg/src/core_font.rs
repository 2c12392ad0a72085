//! The standard fonts of PDF, which options of Gotenberg name.

/// A font by the name that PDF has for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CoreFont {
    /// The Liberation family with the same metrics.
    pub(crate) family: &'static str,
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    /// Descent and ascent of its bounding box in ems (Adobe Font Metrics): a line of pdfcpu.
    pub(crate) line: (f32, f32),
}

const SANS: &str = "Liberation Sans";
const SERIF: &str = "Liberation Serif";
const MONO: &str = "Liberation Mono";

/// Name, family, bold, italic, descent and ascent.
const FONTS: [(&str, &str, bool, bool, f32, f32); 13] = [
    ("Helvetica", SANS, false, false, 0.225, 0.931),
    ("Helvetica-Bold", SANS, true, false, 0.228, 0.962),
    ("Helvetica-Oblique", SANS, false, true, 0.225, 0.931),
    ("Helvetica-BoldOblique", SANS, true, true, 0.228, 0.962),
    ("Times", SERIF, false, false, 0.218, 0.898),
    ("Times-Roman", SERIF, false, false, 0.218, 0.898),
    ("Times-Bold", SERIF, true, false, 0.218, 0.935),
    ("Times-Italic", SERIF, false, true, 0.217, 0.883),
    ("Times-BoldItalic", SERIF, true, true, 0.218, 0.921),
    ("Courier", MONO, false, false, 0.25, 0.805),
    ("Courier-Bold", MONO, true, false, 0.25, 0.801),
    ("Courier-Oblique", MONO, false, true, 0.25, 0.805),
    ("Courier-BoldOblique", MONO, true, true, 0.25, 0.801),
];

/// The standard font of this name.
pub(crate) fn core_font(name: &str) -> Option<CoreFont> {
    let found = FONTS.iter().find(|font| font.0 == name)?;
    let (_, family, bold, italic, descent, ascent) = *found;
    Some(CoreFont {
        family,
        bold,
        italic,
        line: (descent, ascent),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_of_readers_have_families_of_the_same_measures() {
        let family = |name| core_font(name).map(|it| (it.family, it.bold, it.italic));
        assert_eq!(family("Times-Roman"), Some((SERIF, false, false)));
        assert_eq!(family("Courier-BoldOblique"), Some((MONO, true, true)));
        assert_eq!(family("Helvetica"), Some((SANS, false, false)));
        assert_eq!(family("Helvetica Neue"), None);
    }
}
