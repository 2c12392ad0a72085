//! What the fields of Chromium's forms do, each seen in what is made: words, pixels, sizes.

use std::{
    io::{Read, Write},
    net::TcpListener,
    time::Duration,
};

use platen_server::Settings;

use crate::{
    app::{Answer, TestApp},
    documents::{Field, send},
    fixture::{pixels, plain, texts},
    programs::is_chromium_missing,
};

const BLUE: [u8; 3] = [0, 0, 255];
const WHITE: [u8; 3] = [255, 255, 255];
/// A blue square of 300 by 300 points in the corner of a page without margins.
const SQUARE: &str = "<style>body { margin: 0 } div { background: #00f; width: 400px; height: 400px }\
    </style><div></div>";
const BACKGROUND: Field<'_> = ("printBackground", "", b"true");
const NO_MARGINS: [Field<'_>; 4] = [
    ("marginTop", "", b"0"),
    ("marginBottom", "", b"0"),
    ("marginLeft", "", b"0"),
    ("marginRight", "", b"0"),
];

fn made(app: &TestApp, route: &str, html: &str, more: &[Field<'_>]) -> Vec<u8> {
    let mut fields = vec![("files", "index.html", html.as_bytes())];
    fields.extend(more);
    let made = send(app, &format!("chromium/{route}"), &fields);
    let said = String::from_utf8_lossy(&made.bytes);
    assert_eq!(made.status, 200, "{more:?}: {said}");
    made.bytes
}

fn printed(app: &TestApp, html: &str, more: &[Field<'_>]) -> Vec<u8> {
    made(app, "convert/html", html, more)
}

/// A page without margins, but for those that are named, with backgrounds.
fn bare(app: &TestApp, html: &str, more: &[Field<'_>]) -> Vec<u8> {
    let is_other = |field: &&Field<'_>| !more.iter().any(|it| it.0 == field.0);
    let mut fields: Vec<Field<'_>> = NO_MARGINS.iter().filter(is_other).copied().collect();
    fields.push(BACKGROUND);
    fields.extend(more);
    printed(app, html, &fields)
}

fn size(bytes: &[u8]) -> (usize, usize) {
    let (wide, high, _) = pixels(bytes, 1);
    (wide, high)
}

/// The color of a point of the first page, from its upper left corner.
fn color(bytes: &[u8], x: usize, y: usize) -> [u8; 3] {
    let (wide, _, all) = pixels(bytes, 1);
    let at = (y * wide + x) * 3;
    [all[at], all[at + 1], all[at + 2]]
}

#[test]
fn sizes_margins_and_backgrounds_are_those_of_the_form() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let whole = bare(&app, SQUARE, &[]);
    assert_eq!(size(&whole), (612, 792));
    assert_eq!([color(&whole, 2, 2), color(&whole, 297, 297)], [BLUE, BLUE]);
    assert_eq!(color(&whole, 303, 303), WHITE);
    // Without its field, only the background of the whole page is left out, as with Gotenberg.
    let square = format!("<style>html, body {{ background: #0f0 }}</style>{SQUARE}");
    let of_elements = printed(&app, &square, &NO_MARGINS);
    let seen = [color(&of_elements, 9, 9), color(&of_elements, 303, 303)];
    assert_eq!(seen, [BLUE, WHITE]);
    assert_eq!(color(&bare(&app, &square, &[]), 303, 303), [0, 255, 0]);
    let left = bare(&app, SQUARE, &[("marginLeft", "", b"1")]);
    assert_eq!([color(&left, 69, 9), color(&left, 75, 9)], [WHITE, BLUE]);
    let top = bare(&app, SQUARE, &[("marginTop", "", b"2in")]);
    assert_eq!([color(&top, 9, 141), color(&top, 9, 147)], [WHITE, BLUE]);
    let wide = SQUARE.replace("width: 400px", "width: 100%");
    let right = bare(&app, &wide, &[("marginRight", "", b"72pt")]);
    assert_eq!(
        [color(&right, 537, 9), color(&right, 543, 9)],
        [BLUE, WHITE]
    );
    let high = SQUARE.replace("height: 400px", "height: 9.5in");
    let pages = |more: &[Field<'_>]| texts(&bare(&app, &format!("{high}<p>end</p>"), more)).len();
    assert_eq!(pages(&[]), 1);
    assert_eq!(pages(&[("marginBottom", "", b"2")]), 2);
    let wide: [Field<'_>; 3] = [
        ("files", "index.html", SQUARE.as_bytes()),
        ("marginLeft", "", b"5"),
        ("marginRight", "", b"5"),
    ];
    let refused = send(&app, "chromium/convert/html", &wide);
    let said = String::from_utf8_lossy(&refused.bytes);
    assert_eq!(refused.status, 400, "{said}");
    assert!(said.contains("the margins leave no room"), "{said}");
    let half = bare(&app, SQUARE, &[("scale", "", b"0.5")]);
    assert_eq!([color(&half, 147, 9), color(&half, 153, 9)], [BLUE, WHITE]);

    let paper: [Field<'_>; 2] = [("paperWidth", "", b"5"), ("paperHeight", "", b"6in")];
    assert_eq!(size(&bare(&app, SQUARE, &paper)), (360, 432));
    let landscape: Field<'_> = ("landscape", "", b"true");
    let turned = [&paper[..], &[landscape]].concat();
    assert_eq!(size(&bare(&app, SQUARE, &turned)), (432, 360));
    let own = format!("<style>@page {{ size: 3in 4in }}</style>{SQUARE}");
    assert_eq!(size(&bare(&app, &own, &[])), (612, 792));
    let preferred: [Field<'_>; 1] = [("preferCssPageSize", "", b"true")];
    assert_eq!(size(&bare(&app, &own, &preferred)), (216, 288));
    let long = "<div style='height: 3000px'>one</div><p>two</p>";
    let single: [Field<'_>; 1] = [("singlePage", "", b"true")];
    let single = bare(&app, long, &single);
    assert_eq!(texts(&single).len(), 1);
    assert!(size(&single).1 > 2_250, "{:?}", size(&single));
}

#[test]
fn letters_are_as_wide_as_in_their_font() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    // An `i` of Liberation Sans is 0.222 em wide: 3.55 pixels here. A hundred of them are 266 points
    // wide, and 300 with widths of whole pixels.
    let line = format!(
        "<body style='margin: 0'><span style=\"font: 16px 'Liberation Sans'; background: #00f; \
         color: #00f\">{}</span>",
        "i".repeat(100)
    );
    let made = bare(&app, &line, &[]);
    assert_eq!([color(&made, 264, 9), color(&made, 269, 9)], [BLUE, WHITE]);
}

#[test]
fn headers_footers_ranges_and_tags_are_those_of_the_form() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let pages = "<h1>one</h1><h1 style='break-before: page'>two</h1>";
    let around: [Field<'_>; 2] = [
        ("files", "header.html", b"<p style='font-size: 16px'>Top words</p>"),
        (
            "files",
            "footer.html",
            b"<p style='font-size: 16px'>Page <span class=pageNumber></span> of <span class=totalPages></span></p>",
        ),
    ];
    let all = texts(&printed(&app, pages, &around));
    for (page, word) in [(1, "one"), (2, "two")] {
        for part in ["Top words", word, &format!("Page {page} of 2")] {
            assert!(all[page - 1].contains(part), "{part}: {all:?}");
        }
    }
    assert!(!texts(&printed(&app, pages, &[]))[0].contains("Top"));
    let second = texts(&printed(&app, pages, &[("nativePageRanges", "", b"2")]));
    assert_eq!(second, ["two"]);
    for (field, part) in [
        ("generateTaggedPdf", "/StructTreeRoot"),
        ("nativeTaggedPdf", "/StructTreeRoot"),
        ("generateDocumentOutline", "/Outlines"),
        ("nativeBookmarks", "/Outlines"),
    ] {
        for is_wanted in [true, false] {
            let value = is_wanted.to_string();
            let file = printed(&app, pages, &[(field, "", value.as_bytes())]);
            assert_eq!(plain(&file).contains(part), is_wanted, "{field}: {value}");
        }
    }
}

#[test]
fn pages_say_what_they_were_told_of_the_browser() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let agent = "<p id=a></p><script>a.textContent = navigator.userAgent</script>";
    let said = texts(&printed(&app, agent, &[("userAgent", "", b"Mine/7.5")]));
    assert_eq!(said, ["Mine/7.5"]);
    let media = "<style>@media print { .screen { display: none } } @media screen { .print { \
        display: none } }</style><p class=print>on paper</p><p class=screen>on screen</p>";
    for (value, text) in [("print", "on paper"), ("screen", "on screen")] {
        let file = printed(&app, media, &[("emulatedMediaType", "", value.as_bytes())]);
        assert_eq!(texts(&file), [text]);
    }
}

#[test]
fn scripts_find_a_window_until_the_page_is_printed() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let style = "<style>@media print { .screen { display: none } }</style><p class=screen>on screen</p>\
        <p>on paper</p>";
    assert_eq!(texts(&printed(&app, style, &[])), ["on paper"]);
    let script = "<p id=a></p><script>a.textContent = matchMedia('print').matches ? 'sheet' : 'window'\
        </script>";
    let file = printed(&app, &format!("{style}{script}"), &[]);
    assert_eq!(texts(&file), ["on paper window"]);
    let asked = [("emulatedMediaType", "", b"print".as_slice())];
    let file = printed(&app, &format!("{style}{script}"), &asked);
    assert_eq!(texts(&file), ["on paper window"]);
}

#[test]
fn pages_are_waited_for_as_long_as_the_form_says() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let page = |ms: u32| {
        format!(
            "<p>first</p><script>setTimeout(() => {{ document.body.insertAdjacentHTML('beforeend', \
             '<p id=late>late</p>'); window.done = true }}, {ms})</script>"
        )
    };
    let is_late = |ms: u32, more: &[Field<'_>]| {
        let text = texts(&printed(&app, &page(ms), more)).concat();
        assert!(text.contains("first"), "{text}");
        text.contains("late")
    };
    assert!(!is_late(20_000, &[]));
    assert!(is_late(1_000, &[("waitDelay", "", b"2.5s")]));
    assert!(is_late(1_000, &[("waitForSelector", "", b"#late")]));
    let expression: Field<'_> = ("waitForExpression", "", b"window.done === true");
    assert!(is_late(1_000, &[expression]));
}

/// A server whose answers to a number take as many seconds; others are a page that asks for the number
/// in its query.
fn slow() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                let count = stream.read(&mut buffer).unwrap_or(0);
                let head = String::from_utf8_lossy(&buffer[..count]).into_owned();
                let (status, body) = match head.split(' ').nth(1) {
                    Some(path) if path[1..].parse::<u64>().is_ok() => {
                        let seconds = path[1..].parse().unwrap_or_default();
                        std::thread::sleep(Duration::from_secs(seconds));
                        ("200 OK", "late")
                    }
                    Some(path) if path.starts_with("/?") => (
                        "404 Not Found",
                        "<p id=a>first</p><script>setTimeout(async () => { const it = await \
                         fetch('/' + location.search.slice(1)); a.textContent += await it.text() }, 1)</script>",
                    ),
                    _ => ("200 OK", ""),
                };
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {length}\r\n\
                     connection: close\r\n\r\n{body}"
                );
            });
        }
    });
    port
}

#[test]
fn the_network_and_the_status_of_a_page_count_as_the_form_says() {
    if is_chromium_missing() {
        return;
    }
    let port = slow();
    let app = TestApp::with(Settings {
        chromium_allowed_hosts: Some(vec![format!("localhost:{port}")]),
        chromium_allow_private_addresses: Some(true),
        ..Settings::default()
    });
    let asked_for = |seconds: u32, more: &[Field<'_>]| -> Answer {
        let address = format!("http://localhost:{port}/?{seconds}");
        let mut fields = vec![("url", "", address.as_bytes())];
        fields.extend(more);
        send(&app, "chromium/convert/url", &fields)
    };
    let asked = |more: &[Field<'_>]| asked_for(0, more);
    // A page that is not found fails, unless the form says otherwise.
    asked(&[]).problem(409, "page-status");
    asked(&[("failOnHttpStatusCodes", "", b"[404]")]).problem(409, "page-status");
    let others: Field<'_> = ("failOnHttpStatusCodes", "", b"[500,599]");
    let text = |seconds: u32, more: &[Field<'_>]| {
        let made = asked_for(seconds, &[&[others][..], more].concat());
        assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
        texts(&made.bytes).concat()
    };
    assert_eq!(text(20, &[("skipNetworkIdleEvent", "", b"true")]), "first");
    assert_eq!(
        text(1, &[("skipNetworkIdleEvent", "", b"false")]),
        "firstlate"
    );
}

/// Width and height of a PNG.
fn size_of_png(bytes: &[u8]) -> (u32, u32) {
    assert!(bytes.starts_with(b"\x89PNG"));
    let side = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (side(16), side(20))
}

#[test]
fn screenshots_have_the_format_size_and_quality_of_the_form() {
    if is_chromium_missing() {
        return;
    }
    let app = TestApp::start();
    let stripes = "repeating-linear-gradient(31deg, red 0 3px, blue 3px 7px, lime 7px 8px)";
    let page =
        format!("<body style='margin: 0'><div style='height: 900px; background: {stripes}'>");
    let shot = |more: &[Field<'_>]| made(&app, "screenshot/html", &page, more);
    let sides: [Field<'_>; 2] = [("width", "", b"320"), ("height", "", b"200")];
    // The whole page without `clip`, what the window shows with it.
    assert_eq!(size_of_png(&shot(&sides)), (320, 900));
    let clip: Field<'_> = ("clip", "", b"true");
    let clipped = [&sides[..], &[clip]].concat();
    assert_eq!(size_of_png(&shot(&clipped)), (320, 200));
    let double: Field<'_> = ("deviceScaleFactor", "", b"2");
    let doubled = [&clipped[..], &[double]].concat();
    assert_eq!(size_of_png(&shot(&doubled)), (640, 400));
    let of = |format: &'static str, quality: &'static str| {
        let more: [Field<'_>; 2] = [
            ("format", "", format.as_bytes()),
            ("quality", "", quality.as_bytes()),
        ];
        shot(&[&clipped[..], &more].concat())
    };
    let (poor, good) = (of("jpeg", "5"), of("jpeg", "95"));
    assert!(poor.starts_with(b"\xff\xd8") && good.starts_with(b"\xff\xd8"));
    assert!(
        poor.len() * 2 < good.len(),
        "{} and {}",
        poor.len(),
        good.len()
    );
    // Chromium has no quality of WebP.
    let webp = of("webp", "5");
    assert!(webp.starts_with(b"RIFF") && &webp[8..12] == b"WEBP");
    // The kind of colors stands in the head of a PNG: 2 has no alpha, 6 has.
    let clear = |value: &'static [u8]| {
        made(
            &app,
            "screenshot/html",
            "<p>a",
            &[("omitBackground", "", value)],
        )[25]
    };
    assert_eq!((clear(b"true"), clear(b"false")), (6, 2));
}
