//! The font files that are embedded in the program.

/// Shipped fonts: file names and content; see `assets/fonts/README.md`. A `const` would be in the
/// program once for each crate that uses it.
pub static SHIPPED: [(&str, &[u8]); 16] = {
    macro_rules! font {
        ($name:literal) => {
            (
                $name,
                include_bytes!(concat!("../../../assets/fonts/", $name)) as &[u8],
            )
        };
    }
    [
        font!("LiberationSans-Regular.ttf"),
        font!("LiberationSans-Bold.ttf"),
        font!("LiberationSans-Italic.ttf"),
        font!("LiberationSans-BoldItalic.ttf"),
        font!("LiberationSerif-Regular.ttf"),
        font!("LiberationSerif-Bold.ttf"),
        font!("LiberationSerif-Italic.ttf"),
        font!("LiberationSerif-BoldItalic.ttf"),
        font!("LiberationMono-Regular.ttf"),
        font!("LiberationMono-Bold.ttf"),
        font!("LiberationMono-Italic.ttf"),
        font!("LiberationMono-BoldItalic.ttf"),
        font!("NotoSansArabic-Regular.ttf"),
        font!("NotoSansArabic-Bold.ttf"),
        font!("NotoSansJP-Regular.otf"),
        font!("NotoSansJP-Bold.otf"),
    ]
};
