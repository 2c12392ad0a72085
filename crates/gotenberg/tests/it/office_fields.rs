//! What the fields of LibreOffice's form do, each seen in the result: words, pixels, pages, entries of
//! the file.

mod documents;

use platen_pdf::{Limits, read_bookmarks, read_fields};

use self::documents::{SHEET, SLIDES, presentation, text};
use crate::{
    app::TestApp,
    documents::{Field, send},
    fixture::{pixels, plain, texts},
    programs::is_libreoffice_missing,
};

/// Converts a document, whose ending says what it is.
fn made(app: &TestApp, (name, content): (&str, &str), more: &[(&str, &str)]) -> Vec<u8> {
    let mut fields: Vec<Field<'_>> = vec![("files", name, content.as_bytes())];
    fields.extend(
        more.iter()
            .map(|(name, value)| (*name, "", value.as_bytes())),
    );
    let made = send(app, "libreoffice/convert", &fields);
    let said = String::from_utf8_lossy(&made.bytes);
    assert_eq!(made.status, 200, "{more:?}: {said}");
    made.bytes
}

/// The file as text, without spaces and line breaks that mean nothing.
fn squeezed(bytes: &[u8]) -> String {
    let text = plain(bytes);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Fails unless a file has `part` with the field and lacks it without.
fn is_there_by(app: &TestApp, document: (&str, &str), part: &str, more: &[(&str, &str)]) {
    let without = squeezed(&made(app, document, &[]));
    assert!(!without.contains(part), "{part} without {more:?}");
    let with = squeezed(&made(app, document, more));
    assert!(with.contains(part), "{more:?}: {part} is not in {with}");
}

fn three_pages() -> String {
    text(
        documents::WITH_TITLE,
        "<text:h text:outline-level=\"1\">one</text:h><text:h text:outline-level=\"2\">below</text:h>\
         <text:h text:outline-level=\"1\" text:style-name=\"Next\">two</text:h>\
         <text:p text:style-name=\"Next\">three</text:p>",
    )
}

#[test]
fn viewers_are_told_what_the_form_says() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let source = three_pages();
    let document = ("a.fodt", source.as_str());
    for (field, part) in [
        ("hideViewerMenubar", "/HideMenubar true"),
        ("hideViewerToolbar", "/HideToolbar true"),
        ("hideViewerWindowControls", "/HideWindowUI true"),
        ("displayPDFDocumentTitle", "/DisplayDocTitle true"),
        ("resizeWindowToInitialPage", "/FitWindow true"),
        ("centerWindow", "/CenterWindow true"),
        ("openInFullScreenMode", "/PageMode /FullScreen"),
    ] {
        let off = squeezed(&made(&app, document, &[(field, "false")]));
        assert!(!off.contains(part), "{field}: {part}");
        let on = squeezed(&made(&app, document, &[(field, "true")]));
        assert!(on.contains(part), "{field}: {part} is not in {on}");
    }
    is_there_by(
        &app,
        document,
        "/PageMode /UseOutlines",
        &[("initialView", "1")],
    );
    is_there_by(
        &app,
        document,
        "/PageMode /UseThumbs",
        &[("initialView", "2")],
    );
    is_there_by(
        &app,
        document,
        "/PageLayout /SinglePage",
        &[("pageLayout", "1")],
    );
    is_there_by(
        &app,
        document,
        "/PageLayout /OneColumn",
        &[("pageLayout", "2")],
    );
    let facing = [("pageLayout", "3")];
    is_there_by(&app, document, "/PageLayout /TwoColumnRight", &facing);
    // LibreOffice 7.4 takes the field and does not act on it, as the reference says.
    let left = [("pageLayout", "3"), ("firstPageOnLeft", "true")];
    is_there_by(&app, document, "/PageLayout /TwoColumnRight", &left);
    is_there_by(&app, document, "/Fit ]", &[("magnification", "1")]);
    is_there_by(
        &app,
        document,
        "/XYZ null null 0.5",
        &[("magnification", "4"), ("zoom", "50")],
    );
    // The page that a file is opened at is the first, unless the form names another one.
    let target = |more: &[(&str, &str)]| {
        let text = squeezed(&made(&app, document, more));
        let rest = text
            .split_once("/OpenAction [ ")
            .expect("an action")
            .1
            .to_owned();
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let kids = text.split_once("/Kids [ ").expect("pages").1;
        let kids: Vec<&str> = kids.split(" 0 R").take(3).map(str::trim).collect();
        kids.iter().position(|it| *it == number)
    };
    let first = ("magnification", "1");
    assert_eq!(target(&[first]), Some(0));
    assert_eq!(target(&[first, ("initialPage", "3")]), Some(2));
}

#[test]
fn bookmarks_indexes_and_links_are_those_of_the_form() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let source = three_pages();
    let document = ("a.fodt", source.as_str());
    let titles = |more: &[(&str, &str)]| {
        let file = made(&app, document, more);
        let all = read_bookmarks(&file, &Limits::default()).expect("bookmarks");
        all.into_iter().map(|it| it.title).collect::<Vec<_>>()
    };
    assert_eq!(titles(&[]), ["one", "two"]);
    assert!(titles(&[("exportBookmarks", "false")]).is_empty());
    // A bookmark is open if its count is above 0.
    let is_closed = |levels: &str| {
        let text = squeezed(&made(&app, document, &[("openBookmarkLevels", levels)]));
        text.contains("/Count -1 ")
    };
    assert!(is_closed("1") && !is_closed("-1"));
    let index = text(
        "",
        "<text:table-of-content text:name=\"T\"><text:table-of-content-source text:outline-level=\"3\">\
         <text:table-of-content-entry-template text:outline-level=\"1\" text:style-name=\"Standard\">\
         <text:index-entry-text/></text:table-of-content-entry-template>\
         </text:table-of-content-source><text:index-body><text:p>stale entry</text:p>\
         </text:index-body></text:table-of-content><text:h text:outline-level=\"1\">Heading</text:h>",
    );
    let stale = |more: &[(&str, &str)]| {
        let pages = texts(&made(&app, ("a.fodt", &index), more)).concat();
        pages.contains("stale")
    };
    assert!(!stale(&[]) && !stale(&[("updateIndexes", "true")]));
    assert!(stale(&[("updateIndexes", "false")]));
    let links = text(
        "",
        "<text:p><text:bookmark text:name=\"mine\"/>here</text:p>\
         <text:p><text:a xlink:type=\"simple\" xlink:href=\"other.odt\">other</text:a></text:p>",
    );
    let links = ("a.fodt", links.as_str());
    is_there_by(
        &app,
        links,
        "/URI (other.odt)",
        &[("exportLinksRelativeFsys", "true")],
    );
    is_there_by(
        &app,
        links,
        "other.pdf",
        &[("convertOooTargetToPdfTarget", "true")],
    );
    is_there_by(
        &app,
        links,
        "/Dests",
        &[("exportBookmarksToPdfDestination", "true")],
    );
}

#[test]
fn comments_forms_and_placeholders_are_there_if_the_form_says_so() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let remark = text(
        "",
        "<text:p>with<office:annotation><dc:creator>Ann</dc:creator>\
         <dc:date>2026-01-02T03:04:05</dc:date><text:p>Remark</text:p></office:annotation> it</text:p>",
    );
    let remark = ("a.fodt", remark.as_str());
    for value in ["true", "false"] {
        let text = squeezed(&made(&app, remark, &[("exportNotes", value)]));
        assert_eq!(text.contains("/Subtype /Text"), value == "true", "{value}");
    }
    let placeholder = text(
        "",
        "<text:p>a <text:placeholder text:placeholder-type=\"text\">&lt;NAME&gt;</text:placeholder></text:p>",
    );
    for value in ["true", "false"] {
        let file = made(
            &app,
            ("a.fodt", &placeholder),
            &[("exportPlaceholders", value)],
        );
        assert_eq!(
            texts(&file).concat().contains("NAME"),
            value == "true",
            "{value}"
        );
    }
    let form = "<html><body><form><input type=text name=same value=first>\
        <input type=text name=same value=second></form></body></html>";
    let names = |more: &[(&str, &str)]| {
        let file = made(&app, ("a.html", form), more);
        let fields = read_fields(&file, &Limits::default()).expect("fields");
        fields.into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]).len(), 2);
    assert!(names(&[("exportFormFields", "false")]).is_empty());
    let same = names(&[("allowDuplicateFieldNames", "true")]);
    assert_ne!(same, names(&[("allowDuplicateFieldNames", "false")]));
}

#[test]
fn pages_are_those_that_the_form_asks_for() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let pages = |document: (&str, &str), more: &[(&str, &str)]| texts(&made(&app, document, more));
    let source = three_pages();
    let document = ("a.fodt", source.as_str());
    assert_eq!(
        pages(document, &[("nativePageRanges", "2-3")]),
        ["two", "three"]
    );
    assert_eq!(pages(document, &[("nativePages", "1")]).len(), 1);
    let (wide, high, _) = pixels(&made(&app, document, &[("landscape", "true")]), 1);
    assert!(wide > high);
    let right = text(documents::RIGHT, documents::ON_RIGHT_PAGES);
    let right = ("a.fodt", right.as_str());
    assert_eq!(pages(right, &[]).len(), 2);
    assert_eq!(pages(right, &[("skipEmptyPages", "false")]).len(), 3);
    let slides = presentation(SLIDES);
    let slides = ("a.fodp", slides.as_str());
    assert_eq!(pages(slides, &[]), ["seen"]);
    assert_eq!(pages(slides, &[("exportHiddenSlides", "true")]).len(), 2);
    let notes = pages(slides, &[("exportNotesPages", "true")]);
    assert!(notes.len() == 2 && notes[1].contains("noted"), "{notes:?}");
    let only = [
        ("exportNotesPages", "true"),
        ("exportOnlyNotesPages", "true"),
    ];
    let only = pages(slides, &only);
    assert!(only.len() == 1 && only[0].contains("noted"), "{only:?}");
    let sheet = documents::spreadsheet();
    let sheet = ("a.fods", sheet.as_str());
    assert!(pages(sheet, &[]).len() > 1, "{SHEET} rows");
    assert_eq!(pages(sheet, &[("singlePageSheets", "true")]).len(), 1);
}

#[test]
fn pictures_have_the_quality_of_the_form() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let picture = documents::picture();
    let picture = ("a.fodt", picture.as_str());
    let size = |more: &[(&str, &str)]| made(&app, picture, more).len();
    let (poor, good) = (size(&[("quality", "5")]), size(&[("quality", "95")]));
    assert!(poor * 2 < good, "{poor} and {good}");
    assert!(size(&[("nativeQuality", "5")]) * 2 < good);
    let lossless = squeezed(&made(
        &app,
        picture,
        &[("losslessImageCompression", "true")],
    ));
    assert!(!lossless.contains("/DCTDecode"));
    assert!(squeezed(&made(&app, picture, &[])).contains("/DCTDecode"));
    let width = |more: &[(&str, &str)]| -> u32 {
        let text = squeezed(&made(&app, picture, more));
        let widths = text.split("/Width ").skip(1);
        let numbers = widths.filter_map(|it| it.split(' ').next()?.parse().ok());
        numbers.max().expect("a picture")
    };
    let reduced = [
        ("reduceImageResolution", "true"),
        ("maxImageResolution", "75"),
    ];
    assert_eq!(width(&[]), documents::PIXELS as u32);
    assert!(width(&reduced) < documents::PIXELS as u32 / 2);
}

/// Width, height and number of the pixels of a red watermark.
fn red(file: &[u8]) -> (usize, usize, usize) {
    let (wide, _, all) = pixels(file, 1);
    let is_red = |it: &[u8]| it[0] > 180 && it[1] < 140 && it[2] < 140;
    let found = all.chunks(3).enumerate().filter(|(_, it)| is_red(it));
    let places: Vec<(usize, usize)> = found.map(|(at, _)| (at % wide, at / wide)).collect();
    let span = |of: fn(&(usize, usize)) -> usize| {
        let (least, most) = (places.iter().map(of).min(), places.iter().map(of).max());
        most.unwrap_or_default() - least.unwrap_or_default()
    };
    (span(|it| it.0), span(|it| it.1), places.len())
}

#[test]
fn watermarks_look_as_the_form_says() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let source = text("", "<text:p>below</text:p>");
    let document = ("a.fodt", source.as_str());
    let of = |more: &[(&str, &str)]| {
        let color = ("nativeWatermarkColor", "16711680");
        made(
            &app,
            document,
            &[&[color, ("nativeWatermarkText", "DRAFT")], more].concat(),
        )
    };
    let size = |points: &'static str| ("nativeWatermarkFontHeight", points);
    // The angle is in tenths of a degree, as LibreOffice and Gotenberg have it.
    let angle = |tenths: &'static str| ("nativeWatermarkRotateAngle", tenths);
    let (wide, high, _) = red(&of(&[size("40"), angle("1")]));
    assert!(
        wide > 3 * high && (20..50).contains(&high),
        "{wide} by {high}"
    );
    let (small, ..) = red(&of(&[size("20"), angle("1")]));
    assert!(
        (wide * 4 / 10..wide * 6 / 10).contains(&small),
        "{small} of {wide}"
    );
    let (wide, high, _) = red(&of(&[size("40"), angle("900")]));
    assert!(high > 3 * wide, "{wide} by {high}");
    let (wide, high, _) = red(&of(&[size("40"), angle("450")]));
    assert!(wide < 2 * high && high < 2 * wide, "{wide} by {high}");
    let green = [
        ("nativeWatermarkText", "DRAFT"),
        ("nativeWatermarkColor", "65280"),
    ];
    assert_eq!(red(&made(&app, document, &green)).2, 0);
    let font = |name: &str| squeezed(&of(&[("nativeWatermarkFontName", name)]));
    assert!(font("Liberation Mono").contains("LiberationMono"));
    assert!(!font("Liberation Serif").contains("LiberationMono"));
    let tiled = made(&app, document, &[("nativeTiledWatermarkText", "DRAFT")]);
    let letters = texts(&tiled).concat().matches('D').count();
    assert!(letters > 3, "{:?}", texts(&tiled));
}

#[test]
fn the_original_is_in_the_file_if_the_form_says_so() {
    if is_libreoffice_missing() {
        return;
    }
    let app = TestApp::start();
    let source = text("", "<text:p>words</text:p>");
    let with = made(
        &app,
        ("a.fodt", &source),
        &[("addOriginalDocumentAsStream", "true")],
    );
    // By this entry of the trailer LibreOffice finds it.
    let text = String::from_utf8_lossy(&with);
    let kind = "/application#2Fvnd#2Eoasis#2Eopendocument#2Etext";
    assert!(text.contains(&format!("/AdditionalStreams [{kind} ")));
    assert!(text.contains("/DocChecksum /") && text.contains("mimetypeapplication/vnd.oasis"));
    let without = made(&app, ("a.fodt", &source), &[]);
    assert!(!String::from_utf8_lossy(&without).contains("/AdditionalStreams"));
}
