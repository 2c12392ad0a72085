//! SVG pictures: parsed without files, network or scripts, and with bounds.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use usvg::{
    ImageHrefResolver, ImageKind, Options, Tree,
    roxmltree::{Document, ParsingOptions},
};

use super::{image::too_large, svg_text, svg_weight};
use crate::{
    bound::{ImageData, ImageFormat},
    expression::Failure,
    host::Host,
};

/// Maximum size of an SVG in bytes. A small one may still repeat its elements a million times, which
/// the parser refuses.
const MAX_BYTES: usize = 4 << 20;
/// Longest side in pixels.
const MAX_SIDE: f32 = 100_000.0;

/// Whether a file looks like an SVG.
pub(super) fn is_svg(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1_024)]);
    start
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
        && start.contains("<svg")
}

/// A drawing that the program itself made, as an image. `None` if it breaks the bounds of drawings.
#[must_use]
pub fn svg_picture(bytes: &Arc<[u8]>) -> Option<ImageData> {
    read(bytes).ok()
}

/// Parses a drawing, with its texts as outlines. Also says whether texts are missing.
///
/// # Errors
/// It is too large, damaged, or refers to other files.
pub(super) fn parse(bytes: &Arc<[u8]>, host: &dyn Host) -> Result<(ImageData, bool), Failure> {
    if bytes.len() > MAX_BYTES {
        return Err(too_large(format!(
            "the SVG has {} bytes; at most {MAX_BYTES} are allowed",
            bytes.len()
        )));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
    if !text.contains("<text") {
        return Ok((read(bytes)?, false));
    }
    let document = xml(text)?;
    let drawn = svg_text::outlined(text, &document, host);
    Ok((read(&Arc::from(drawn.source.into_bytes()))?, drawn.lacks))
}

fn unreadable(reason: String) -> Failure {
    Failure::new("invalid-image", format!("the SVG cannot be read: {reason}"))
}

/// Maximum number of attributes of an element: the parser compares each with each.
const MAX_ATTRIBUTES: usize = 5_000;

/// Maximum number of nodes, comments and blanks among them.
const MAX_NODES: u32 = 2_000_000;
/// Most bytes that references to the entities of a document type may become.
const MAX_EXPANDED: usize = 64 << 20;
/// References within an entity that the parser follows.
const MAX_NESTED: usize = 255;

/// At least as many bytes as the parser makes of references to entities: it bounds those within
/// entities only.
fn expanded_bytes(text: &str) -> usize {
    let mut values = 0_usize;
    let mut has_nested = false;
    for declaration in text.split("<!ENTITY").skip(1) {
        let Some(quote) = declaration.find(['"', '\'']) else {
            continue;
        };
        let (sign, rest) = declaration[quote..].split_at(1);
        let value = rest.split(sign).next().unwrap_or_default();
        values = values.saturating_add(value.len());
        has_nested |= value.contains('&');
    }
    if values == 0 {
        return 0;
    }
    let is_own = |rest: &&str| {
        let known = ["#", "amp;", "lt;", "gt;", "quot;", "apos;"];
        !known.iter().any(|name| rest.starts_with(name))
    };
    let references = text.split('&').skip(1).filter(is_own).count();
    let each = if has_nested { 1 + MAX_NESTED } else { 1 };
    references.saturating_mul(values).saturating_mul(each)
}

/// The elements of a drawing that usvg can read within bounds.
fn xml(text: &str) -> Result<Document<'_>, Failure> {
    // Between two of these is a tag with all of its attributes.
    if text
        .split('<')
        .any(|tag| tag.matches('=').count() > MAX_ATTRIBUTES)
    {
        return Err(too_large(format!(
            "an element of the SVG has more than {MAX_ATTRIBUTES} attributes"
        )));
    }
    if expanded_bytes(text) > MAX_EXPANDED {
        return Err(too_large(
            "the SVG repeats the entities of its document type too often".to_owned(),
        ));
    }
    // Illustrator begins its files with a document type.
    let parsing = ParsingOptions {
        allow_dtd: true,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, parsing)
        .map_err(|error| unreadable(error.to_string()))?;
    svg_weight::check(&document).map_err(too_large)?;
    Ok(document)
}

fn read(bytes: &Arc<[u8]>) -> Result<ImageData, Failure> {
    let refers = Arc::new(AtomicBool::new(false));
    let noticed = Arc::clone(&refers);
    let options = Options {
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|media_type, data, _| match media_type {
                "image/jpg" | "image/jpeg" => Some(ImageKind::JPEG(data)),
                "image/png" => Some(ImageKind::PNG(data)),
                "image/gif" => Some(ImageKind::GIF(data)),
                "image/webp" => Some(ImageKind::WEBP(data)),
                // A drawing in a drawing could hold a further one, and so on.
                _ => None,
            }),
            resolve_string: Box::new(move |_, _| {
                noticed.store(true, Ordering::Relaxed);
                None
            }),
        },
        ..Options::default()
    };
    let text = std::str::from_utf8(bytes).map_err(|error| unreadable(error.to_string()))?;
    let document = xml(text)?;
    let tree =
        Tree::from_xmltree(&document, &options).map_err(|error| unreadable(error.to_string()))?;
    if refers.load(Ordering::Relaxed) {
        return Err(Failure {
            hint: Some("embed the picture in the SVG as a `data:` URL".to_owned()),
            ..Failure::new(
                "invalid-image",
                "the SVG refers to a picture elsewhere, which is not fetched",
            )
        });
    }
    let (width, height) = (tree.size().width(), tree.size().height());
    if width > MAX_SIDE || height > MAX_SIDE {
        return Err(too_large(format!(
            "the SVG measures {width} x {height}; a side has at most {MAX_SIDE}"
        )));
    }
    Ok(ImageData {
        bytes: Arc::clone(bytes),
        format: ImageFormat::Svg,
        page: 0,
        width_px: width.ceil().max(1.0) as u32,
        height_px: height.ceil().max(1.0) as u32,
        drawing: Some(Arc::new(tree)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(svg: &str) -> Result<ImageData, Failure> {
        let bytes: Arc<[u8]> = Arc::from(svg.as_bytes());
        assert!(is_svg(&bytes), "{svg}");
        read(&bytes)
    }

    #[test]
    fn a_drawing_has_its_size() {
        let data = parsed(
            "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 30 20.5\">\
             <rect width=\"30\" height=\"20\"/></svg>",
        )
        .unwrap();
        assert_eq!(data.size(), (30.0, 20.5));
        assert_eq!((data.width_px, data.height_px), (30, 21));
    }

    #[test]
    fn what_is_no_drawing_is_refused() {
        let outside = "<svg xmlns=\"http://www.w3.org/2000/svg\" \
                       xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"9\" height=\"9\">\
                       <image xlink:href=\"/etc/hostname\" width=\"9\" height=\"9\"/></svg>";
        assert!(parsed(outside).unwrap_err().message.contains("elsewhere"));
        for svg in [
            "<svg",
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"0\" height=\"4\"/>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1e7\" height=\"4\"/>",
        ] {
            assert!(parsed(svg).is_err(), "{svg}");
        }
    }

    #[test]
    fn bombs_end() {
        // Each group uses the one before ten times.
        let mut svg = String::from(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
             width=\"9\" height=\"9\"><g id=\"g0\"><rect width=\"1\" height=\"1\"/></g>",
        );
        for level in 1..9 {
            svg.push_str(&format!("<g id=\"g{level}\">"));
            for _ in 0..10 {
                svg.push_str(&format!("<use xlink:href=\"#g{}\"/>", level - 1));
            }
            svg.push_str("</g>");
        }
        svg.push_str("</svg>");
        assert!(parsed(&svg).is_err());
        let laughs = "<!DOCTYPE svg [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">\
                      <!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">]><svg xmlns=\"http://www.w3.org/2000/svg\" \
                      width=\"9\" height=\"9\"><title>&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;</title></svg>";
        let _ = parsed(laughs);
        let deep = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\">{}{}</svg>",
            "<g>".repeat(20_000),
            "</g>".repeat(20_000)
        );
        assert!(parsed(&deep).is_err());
        let mut chain = String::from(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\">\
             <g id=\"g0\"><rect width=\"1\" height=\"1\"/></g>",
        );
        for level in 1..5_000 {
            let before = level - 1;
            chain.push_str(&format!(
                "<g id=\"g{level}\"><use href=\"#g{before}\"/></g>"
            ));
        }
        chain.push_str("</svg>");
        assert!(parsed(&chain).is_err());
        let itself = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\">\
                      <g id=\"a\"><use href=\"#a\"/></g></svg>";
        assert!(parsed(itself).is_err());
    }

    fn drawing(body: &str) -> String {
        let size = "width=\"9\" height=\"9\"";
        format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {size}>{body}</svg>")
    }

    #[test]
    fn what_is_repeated_before_it_is_weighed_is_refused() {
        let entity = |value: &str, references: usize| {
            let document = drawing(&"&a;".repeat(references));
            format!("<!DOCTYPE svg [<!ENTITY a \"{value}\">]>{document}")
        };
        assert!(parsed(&entity("<path/>", 10)).is_ok());
        assert!(xml(&entity(&"<g/>".repeat(100_000), 1_000)).is_err());
        assert!(xml(&entity(&"x".repeat(100_000), 1_000)).is_err());
        let copies = "<use href=\"#a\"/>".repeat(20_000);
        for silent in ["<?a?>", "<!---->"] {
            let named = format!("<g id=\"a\">{}</g>", silent.repeat(100_000));
            assert!(parsed(&drawing(&format!("{named}{copies}"))).is_err());
        }
    }

    #[test]
    fn drawings_as_programs_write_them_are_read() {
        // Joined icons have the same names again and again.
        let icon = "<linearGradient id=\"a\"><stop stop-color=\"red\"/></linearGradient>\
                    <path fill=\"url(#a)\" d=\"M0 0H9V9z\"/>";
        let twisted = "<linearGradient id=\"a\"/><linearGradient id=\"b\" href=\"#a\"/>\
                       <linearGradient id=\"b\"/><linearGradient id=\"a\" href=\"#b\"/>\
                       <path fill=\"url(#a)\" d=\"M0 0H9V9z\"/>";
        // Rules also mean what is inside of what they name.
        let hatched = "<style>rect{fill:url(#h)}</style><pattern id=\"h\" width=\"4\" height=\"4\" \
                       patternUnits=\"userSpaceOnUse\"><rect width=\"2\" height=\"2\"/></pattern>\
                       <rect width=\"9\" height=\"9\"/>";
        let arrow = "<marker id=\"m\"><path d=\"M0 0H2V2z\"/></marker>";
        let ruled = format!("<style>path{{marker-end:url(#m)}}</style>{arrow}<path d=\"M0 0H9\"/>");
        let inherited =
            format!("<g marker-end=\"url(#m)\"><defs>{arrow}</defs><path d=\"M0 0H9\"/></g>");
        for body in [&icon.repeat(40), twisted, hatched, &ruled, &inherited] {
            assert!(parsed(&drawing(body)).is_ok(), "{body}");
        }
        // Looking for such a paint begins anew after each one.
        let rects = "<rect width=\"2\" height=\"2\"/>".repeat(300);
        let many = hatched.replace("<rect width=\"2\" height=\"2\"/>", &rects);
        assert!(parsed(&drawing(&many)).is_err());
    }

    #[test]
    fn chains_end_however_they_are_written() {
        let masks = |levels: usize, attribute: &dyn Fn(usize) -> String| -> String {
            let mask = |level: usize| {
                let attribute = level.checked_sub(1).map(attribute).unwrap_or_default();
                format!("<mask id=\"m{level}\" {attribute}><path d=\"M0 0H9V9\"/></mask>")
            };
            let last = levels - 1;
            let shown = format!("<path d=\"M0 0H9V9\" mask=\"url(#m{last})\"/>");
            (0..levels).map(mask).chain([shown]).collect()
        };
        let style = masks(20_000, &|to| {
            format!("style=\"fill:url(#none);mask:url(#m{to})\"")
        });
        let newline = masks(20_000, &|to| format!("mask=\"url(&#10;#m{to})\""));
        let rules: String = (1..200)
            .map(|level| format!("#m{level}{{mask:url(#m{})}}\n", level - 1))
            .collect();
        let sheet = format!("<style>{rules}</style>{}", masks(200, &|_| String::new()));
        let uses: String = (1..5_000)
            .map(|level| format!("<g id=\"g{level}\"><use href=\"#g{}\"/></g>", level - 1))
            .collect();
        let harmless: String = (0..5_000)
            .map(|level| format!("<g id=\"g{level}\"/>"))
            .collect();
        // The rectangle inside of the pattern has the fill of the group: the pattern itself.
        let inherited = "<g fill=\"url(#p)\"><pattern id=\"p\" width=\"1\" height=\"1\">\
                         <rect width=\"1\" height=\"1\"/></pattern></g>\
                         <rect width=\"9\" height=\"9\" fill=\"url(#p)\"/>";
        for body in [
            style.as_str(),
            &newline,
            &sheet,
            &format!("<g id=\"g0\"/>{uses}{harmless}"),
            inherited,
        ] {
            let refused = parsed(&drawing(body)).err().map(|it| it.code);
            assert_eq!(refused, Some("image-too-large"), "{}", &body[..60]);
        }
        let own = inherited.replace("<rect width=\"1\"", "<rect fill=\"red\" width=\"1\"");
        assert!(parsed(&drawing(&own)).is_ok());
        let twice = "<clipPath id=\"a\"><path d=\"M0 0H9V9\"/></clipPath>\
                     <path id=\"b\" d=\"M0 0H9V9\" clip-path=\"url(#a)\"/><use href=\"#b\"/>";
        assert!(parsed(&drawing(&twice.repeat(3))).is_ok());
    }

    #[test]
    fn style_rules_take_a_bounded_time() {
        let groups = |count: usize, inner: &str| {
            format!("{}{inner}{}", "<g>".repeat(count), "</g>".repeat(count))
        };
        let ways = format!(
            "<style>x{}{{fill:red}}</style>{}",
            " g".repeat(10),
            groups(120, "")
        );
        let many = format!(
            "<style>{}</style>{}",
            ".a{fill:red}\n".repeat(30_000),
            "<g class=\"b\"/>".repeat(50_000)
        );
        let copied = format!(
            "<style>*{{font-family:\"{}\"}}</style>{}",
            "x".repeat(100_000),
            "<g/>".repeat(50_000)
        );
        for body in [ways, many, copied] {
            assert!(parsed(&drawing(&body)).is_err(), "{}", &body[..60]);
        }
        let classes: String = (0..100)
            .map(|at| format!(".cls-{at}{{fill:#1a2b{at:02}}}\n"))
            .collect();
        let paths: String = (0..10_000)
            .map(|at| format!("<path class=\"cls-{}\" d=\"M0 0h9v9z\"/>", at % 100))
            .collect();
        let parts = "svg g path{fill:red} g g > path.cls-1{stroke:#00f}";
        let chart = format!("<style>{classes}{parts}</style>{}", groups(5, &paths));
        assert!(parsed(&drawing(&chart)).is_ok());
    }

    #[test]
    fn tags_have_a_bounded_number_of_attributes() {
        let svg = |count: usize| {
            let attributes: String = (0..count).map(|it| format!(" a{it}=\"\"")).collect();
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\">\
                 <rect width=\"1\" height=\"1\"{attributes}/></svg>"
            )
        };
        assert!(parsed(&svg(MAX_ATTRIBUTES - 10)).is_ok());
        let refused = parsed(&svg(MAX_ATTRIBUTES + 1));
        let code = refused.err().map(|it| it.code);
        assert_eq!(code, Some("image-too-large"));
    }
}
