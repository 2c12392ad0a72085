//! Documents in flat OpenDocument, each with what a field is about.

/// Rows of the spreadsheet.
pub const SHEET: usize = 200;
/// Width and height of the picture, in pixels.
pub const PIXELS: usize = 600;

fn document(kind: &str, styles: &str, body: &str) -> String {
    let spaces = [
        "office",
        "text",
        "style",
        "table",
        "drawing",
        "xsl-fo-compatible",
        "svg-compatible",
        "presentation",
    ];
    let prefixes = [
        "office",
        "text",
        "style",
        "table",
        "draw",
        "fo",
        "svg",
        "presentation",
    ];
    let declared: String = prefixes
        .iter()
        .zip(spaces)
        .map(|(prefix, space)| {
            format!(" xmlns:{prefix}=\"urn:oasis:names:tc:opendocument:xmlns:{space}:1.0\"")
        })
        .collect();
    let body = format!("<office:{kind}>{body}</office:{kind}>");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><office:document{declared} \
         xmlns:xlink=\"http://www.w3.org/1999/xlink\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         office:version=\"1.3\" office:mimetype=\"application/vnd.oasis.opendocument.{kind}\">{styles}\
         <office:body>{body}</office:body></office:document>"
    )
}

/// What stands before the text of a document that has a title; the style `Next` begins a page.
pub const WITH_TITLE: &str = "<office:meta><dc:title>Title</dc:title></office:meta>\
    <office:automatic-styles><style:style style:name=\"Next\" style:family=\"paragraph\">\
    <style:paragraph-properties fo:break-before=\"page\"/></style:style></office:automatic-styles>";

/// A text; the style `Next` begins a page.
pub fn text(styles: &str, body: &str) -> String {
    let own = "<office:automatic-styles><style:style style:name=\"Next\" style:family=\"paragraph\">\
        <style:paragraph-properties fo:break-before=\"page\"/></style:style></office:automatic-styles>";
    let styles = if styles.is_empty() { own } else { styles };
    document("text", styles, body)
}

/// Styles with pages that are right ones always.
pub const RIGHT: &str = "<office:automatic-styles><style:page-layout style:name=\"L\" \
    style:page-usage=\"right\"><style:page-layout-properties fo:page-width=\"21cm\" \
    fo:page-height=\"29.7cm\"/></style:page-layout><style:style style:name=\"R\" \
    style:family=\"paragraph\" style:master-page-name=\"Right\"/></office:automatic-styles>\
    <office:master-styles><style:master-page style:name=\"Standard\" style:page-layout-name=\"L\"/>\
    <style:master-page style:name=\"Right\" style:page-layout-name=\"L\"/></office:master-styles>";
/// Two paragraphs that each begin on such a page.
pub const ON_RIGHT_PAGES: &str =
    "<text:p text:style-name=\"R\">one</text:p><text:p text:style-name=\"R\">three</text:p>";

/// A slide with notes, and a hidden one.
pub const SLIDES: &[(&str, &str, bool)] = &[("seen", "noted", false), ("hidden", "", true)];

/// Slides: what is on them, their notes, and whether they are hidden.
pub fn presentation(slides: &[(&str, &str, bool)]) -> String {
    let styles = "<office:automatic-styles><style:style style:name=\"hidden\" \
        style:family=\"drawing-page\"><style:drawing-page-properties \
        presentation:visibility=\"hidden\"/></style:style><style:style style:name=\"shown\" \
        style:family=\"drawing-page\"/><style:page-layout style:name=\"P\">\
        <style:page-layout-properties fo:page-width=\"28cm\" fo:page-height=\"15.75cm\"/>\
        </style:page-layout></office:automatic-styles><office:master-styles><style:master-page \
        style:name=\"M\" style:page-layout-name=\"P\"/></office:master-styles>";
    let frame = |text: &str| {
        format!(
            "<draw:frame svg:x=\"2cm\" svg:y=\"2cm\" svg:width=\"10cm\" svg:height=\"3cm\">\
             <draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"
        )
    };
    let pages = slides.iter().map(|(text, notes, is_hidden)| {
        let style = if *is_hidden { "hidden" } else { "shown" };
        format!(
            "<draw:page draw:style-name=\"{style}\" draw:master-page-name=\"M\">{}\
             <presentation:notes>{}</presentation:notes></draw:page>",
            frame(text),
            frame(notes),
        )
    });
    document("presentation", styles, &pages.collect::<String>())
}

/// A sheet of several pages.
pub fn spreadsheet() -> String {
    let rows = (0..SHEET).map(|row| {
        format!(
            "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>row {row}\
             </text:p></table:table-cell></table:table-row>"
        )
    });
    let body = format!(
        "<table:table table:name=\"S\">{}</table:table>",
        rows.collect::<String>()
    );
    document("spreadsheet", "", &body)
}

/// A text with a picture of noise, ten centimeters wide, as BMP.
pub fn picture() -> String {
    let size = PIXELS * PIXELS * 3;
    let mut bytes = b"BM".to_vec();
    for number in [54 + size, 0, 54, 40, PIXELS, PIXELS] {
        bytes.extend((number as u32).to_le_bytes());
    }
    // One plane of 24 bits, not compressed.
    bytes.extend([1, 0, 24, 0]);
    for number in [0, size, 2_835, 2_835, 0, 0] {
        bytes.extend((number as u32).to_le_bytes());
    }
    let mut state = 1_u32;
    for _ in 0..size {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes.push((state >> 24) as u8);
    }
    let body = format!(
        "<text:p><draw:frame text:anchor-type=\"as-char\" svg:width=\"10cm\" svg:height=\"10cm\">\
         <draw:image><office:binary-data>{}</office:binary-data></draw:image></draw:frame></text:p>",
        base64(&bytes)
    );
    text("", &body)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut made = String::new();
    for three in bytes.chunks(3) {
        let at = |index: usize| u32::from(three.get(index).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            match digit <= three.len() {
                true => made.push(char::from(DIGITS[value as usize])),
                false => made.push('='),
            }
        }
    }
    made
}
