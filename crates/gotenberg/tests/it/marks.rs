//! Stamps and watermarks with the options of pdfcpu, seen on the pages.

use crate::{
    app::TestApp,
    changes::{RED_PNG, change, red},
    dialect::said,
    documents::{Field, pdf, send},
    fixture::{check, has_all, pixels, texts},
};

/// The box around what is red on the first page: left, bottom, right and top, in points from the lower
/// left corner.
fn extent(file: &[u8]) -> [f64; 4] {
    let (wide, high, all) = pixels(file, 1);
    let red = all.as_chunks::<3>().0.iter().enumerate();
    let red = red.filter(|(_, it)| it[0] > 180 && it[1] < 120 && it[2] < 120);
    let places: Vec<(usize, usize)> = red.map(|(at, _)| (at % wide, high - at / wide)).collect();
    let points = |pixels: Option<usize>| pixels.expect("red") as f64 * WIDTH / wide as f64;
    let (across, up) = (places.iter().map(|it| it.0), places.iter().map(|it| it.1));
    [
        points(across.clone().min()),
        points(up.clone().min()),
        points(across.max()),
        points(up.max()),
    ]
}

/// Whether the red of the first page rises from the left to the right.
fn rises(file: &[u8]) -> bool {
    let [left, _, right, _] = extent(file);
    let (wide, high, all) = pixels(file, 1);
    let middle = f64::midpoint(left, right) / WIDTH * wide as f64;
    let (mut before, mut after) = ((0, 0), (0, 0));
    for (at, it) in all.as_chunks::<3>().0.iter().enumerate() {
        if it[0] > 180 && it[1] < 120 && it[2] < 120 {
            let half = if ((at % wide) as f64) < middle {
                &mut before
            } else {
                &mut after
            };
            *half = (half.0 + high - at / wide, half.1 + 1);
        }
    }
    let mean = |(sum, count): (usize, usize)| sum as f64 / count.max(1) as f64;
    mean(after) > mean(before)
}

/// Width of a page, in points.
const WIDTH: f64 = 595.28;

fn is_about(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 6.0
}

fn stamped(app: &TestApp, file: &[u8], source: &str, expression: &str, options: &str) -> Vec<u8> {
    let fields: [Field<'_>; 5] = [
        ("files", "a.pdf", file),
        ("stamp", "red.png", RED_PNG),
        ("stampSource", "", source.as_bytes()),
        ("stampExpression", "", expression.as_bytes()),
        ("stampOptions", "", options.as_bytes()),
    ];
    change(app, "stamp", &fields).bytes
}

#[test]
fn texts_stand_where_pdfcpu_places_them() {
    if !has_all(&["pdftoppm", "qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let text = |options: &str| stamped(&app, &one, "text", "DRAFT", options);
    // Without options: along the diagonal, half as wide as the page, whatever the points.
    let usual = text(r#"{"color": "1 0 0"}"#);
    check(&usual);
    let [left, bottom, right, top] = extent(&usual);
    assert!(
        is_about(f64::midpoint(left, right), 291.5),
        "{left} {right}"
    );
    assert!((190.0..250.0).contains(&(right - left)), "{left} {right}");
    assert!((240.0..310.0).contains(&(top - bottom)), "{bottom} {top}");
    let [.., x, y] = extent(&text(r#"{"color": "1 0 0", "points": "80"}"#));
    assert!(is_about(x, right) && is_about(y, top), "{x} {y}");
    // Downwards it takes the same space.
    let falling = text(r#"{"color": "1 0 0", "diagonal": "2"}"#);
    assert!(rises(&usual) && !rises(&falling));
    let [.., x, y] = extent(&falling);
    assert!(
        (x - right).abs() < 20.0 && (y - top).abs() < 20.0,
        "{x} {y}"
    );
    // At an edge with the space that letters need below the line.
    let flat = r#"{"color": "1 0 0", "rot": "0", "pos": "bl", "points": "40", "scale": "1 abs"}"#;
    let [left, bottom, right, top] = extent(&text(flat));
    assert!(
        left < 6.0 && (120.0..140.0).contains(&right),
        "{left} {right}"
    );
    assert!(
        is_about(bottom, 9.0) && is_about(top, 9.0 + 28.0),
        "{bottom} {top}"
    );
    // Two lines, as pdfcpu reads them, stand as far from each other as its font is high.
    for lines in ["DRAFT\\nDRAFT", "DRAFT\nDRAFT"] {
        let both = stamped(&app, &one, "text", lines, flat);
        let [left, bottom, right, top] = extent(&both);
        assert!(
            left < 6.0 && (120.0..140.0).contains(&right),
            "{left} {right}"
        );
        let next = 9.0 + 40.0 * 1.156 + 28.0;
        assert!(
            is_about(bottom, 9.0) && is_about(top, next),
            "{bottom} {top}"
        );
        let said = texts(&both).concat();
        assert_eq!(said.matches("DRAFT").count(), 2, "{said}");
    }
    // Lines stand at the side of the position, or where they are aligned.
    let both = r#"{"color": "1 0 0", "rot": "0", "pos": "bl", "points": "40", "scale": "1 abs"}"#;
    let is_left = |file: &[u8]| {
        let (wide, high, all) = pixels(file, 1);
        let row = high - (20.0 / WIDTH * wide as f64) as usize;
        let red =
            |x: &usize| all[3 * (row * wide + x)] > 180 && all[3 * (row * wide + x) + 1] < 120;
        let at = (0..wide).filter(red).min().expect("the second line");
        (at as f64 / wide as f64 * WIDTH) < 30.0
    };
    let lines = |options: &str| stamped(&app, &one, "text", "HHHHHHHH\nI", options);
    assert!(is_left(&lines(both)));
    let middle = both.replace("\"rot\"", "\"align\": \"c\", \"rot\"");
    assert!(!is_left(&lines(&middle)));
    // A font says how bold it is.
    let wide = |font: &str| {
        let options = both.replace("\"rot\"", &format!("\"font\": \"{font}\", \"rot\""));
        let [left, _, right, _] = extent(&stamped(&app, &one, "text", "million", &options));
        right - left
    };
    assert!(wide("Helvetica-Bold") > wide("Helvetica") + 5.0);
    assert!((150.0..170.0).contains(&wide("Courier")));
    // A quarter turn keeps to the edge.
    let up = r#"{"color": "1 0 0", "rot": "90", "pos": "l", "points": "40", "scale": "1 abs"}"#;
    let [left, bottom, right, top] = extent(&text(up));
    assert!(left > 0.0 && right < 50.0, "{left} {right}");
    assert!((120.0..140.0).contains(&(top - bottom)), "{bottom} {top}");
    // What is turned otherwise has its middle where it would be, so that it may stick out.
    let half = r#"{"color": "1 0 0", "rot": "180", "pos": "l", "off": "20 -30", "scale": "0.5"}"#;
    let [left, _, right, _] = extent(&text(half));
    assert!(
        is_about(left, 20.0) && is_about(right, 20.0 + WIDTH / 2.0),
        "{left} {right}"
    );
}

#[test]
fn pictures_stand_where_pdfcpu_places_them() {
    if !has_all(&["pdftoppm", "qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let picture = |options: &str| stamped(&app, &one, "image", "red.png", options);
    let [left, bottom, right, top] = extent(&picture("{}"));
    // A square of half of the width, turned by the angle of the diagonal of A4, 54.7 degrees.
    let side = WIDTH / 2.0 * (0.578 + 0.816);
    assert!(
        is_about(right - left, side) && is_about(top - bottom, side),
        "{left} {right}"
    );
    let corner = r#"{"scale": "0.25 rel", "position": "br", "rotation": "0"}"#;
    let [left, bottom, right, top] = extent(&picture(corner));
    assert!(
        is_about(left, WIDTH * 0.75) && is_about(right, WIDTH),
        "{left} {right}"
    );
    assert!(
        bottom < 3.0 && is_about(top, WIDTH * 0.25),
        "{bottom} {top}"
    );
    // The longer side of what is higher than wide lies along the diagonal, as long as half of the height.
    let tall = r##"{"definition": {"kind": "document", "key": "tall", "page": {"size": {"width": "100pt",
        "height": "800pt"}, "margins": "0pt", "background": {"color": "#FF0000"}}, "body": [{"type": "spacer", "height": "1pt"}]}, "data": {}}"##;
    let headers = [("content-type", "application/json")];
    let tall = app.send("POST", "/render/pdf", &headers, tall.as_bytes());
    assert_eq!(tall.status, 200, "{}", String::from_utf8_lossy(&tall.bytes));
    for (diagonal, is_rising) in [("1", true), ("2", false)] {
        let options = format!(r#"{{"diagonal": "{diagonal}"}}"#);
        let fields: [Field<'_>; 4] = [
            ("files", "a.pdf", &one),
            ("stamp", "tall.pdf", &tall.bytes),
            ("stampSource", "", b"pdf"),
            ("stampOptions", "", options.as_bytes()),
        ];
        let made = change(&app, "stamp", &fields).bytes;
        assert_eq!(rises(&made), is_rising, "diagonal {diagonal}");
        let [left, bottom, right, top] = extent(&made);
        // 421 by 53 points, turned by 54.7 - 90 degrees.
        assert!(
            is_about(top - bottom, 421.0 * 0.816 + 53.0 * 0.578),
            "{bottom} {top}"
        );
        assert!(
            is_about(right - left, 421.0 * 0.578 + 53.0 * 0.816),
            "{left} {right}"
        );
    }
    // A point for each pixel.
    let [left, _, right, _] = extent(&picture(r#"{"scale": "10 abs", "rotation": "0"}"#));
    assert!(is_about(right - left, 80.0), "{left} {right}");
}

#[test]
fn pages_of_a_pdf_are_drawn_on_pages_of_the_same_number() {
    if !has_all(&["pdftotext", "qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let [one, two] = ["Alpha", "Beta"].map(|text| pdf(&app, text));
    let merged = |files: &[&[u8]]| {
        let names = ["1.pdf", "2.pdf", "3.pdf"];
        let fields = files.iter().zip(names);
        let fields: Vec<Field<'_>> = fields.map(|(file, name)| ("files", name, *file)).collect();
        change(&app, "merge", &fields).bytes
    };
    let (letterhead, letter) = (merged(&[&one, &two]), merged(&[&one, &one, &one]));
    let drawn = |pages: &str| {
        let fields: [Field<'_>; 5] = [
            ("files", "a.pdf", &letter),
            ("watermark", "w.pdf", &letterhead),
            ("watermarkSource", "", b"pdf"),
            ("watermarkOptions", "", br#"{"rotation": "0"}"#),
            ("watermarkPages", "", pages.as_bytes()),
        ];
        let made = change(&app, "watermark", &fields).bytes;
        check(&made);
        texts(&made)
    };
    let counts = |pages: &str| {
        let all = drawn(pages);
        let count = |text: &String| (text.matches("Alpha").count(), text.matches("Beta").count());
        all.iter().map(count).collect::<Vec<_>>()
    };
    // The last one is on all pages after it.
    assert_eq!(counts(""), [(2, 0), (1, 1), (1, 1)]);
    // As pdfcpu reads pages: what the file does not have is passed over.
    assert_eq!(counts("-1,3-9"), [(2, 0), (1, 0), (1, 1)]);
    assert_eq!(counts("l"), [(1, 0), (1, 0), (1, 1)]);
    assert_eq!(counts("9"), [(1, 0); 3]);
}

#[test]
fn pages_are_split_in_the_order_of_the_file() {
    if !has_all(&["pdftotext"]) {
        return;
    }
    let app = TestApp::start();
    let [one, two] = ["Alpha", "Beta"].map(|text| pdf(&app, text));
    let both: [Field<'_>; 2] = [("files", "1.pdf", &one), ("files", "2.pdf", &two)];
    let both = change(&app, "merge", &both).bytes;
    let part = |span: &'static str| {
        let fields: [Field<'_>; 4] = [
            ("files", "a.pdf", &both),
            ("splitMode", "", b"pages"),
            ("splitSpan", "", span.as_bytes()),
            ("splitUnify", "", b"true"),
        ];
        let found = texts(&change(&app, "split", &fields).bytes);
        let name = |text: &String| ["Alpha", "Beta"].into_iter().find(|it| text.contains(it));
        found.iter().filter_map(name).collect::<Vec<_>>()
    };
    assert_eq!(part("2,1"), ["Alpha", "Beta"]);
    assert_eq!(part("2-9"), ["Beta"]);
    assert_eq!(part("l"), ["Beta"]);
    // QPDF's name of the last page, in the order of QPDF.
    assert_eq!(part("2-z,1"), ["Beta", "Alpha"]);
}

#[test]
fn nothing_to_embed_leaves_a_file_as_it_is() {
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let made = change(&app, "embed", &[("files", "a.pdf", &one)]);
    assert_eq!(made.bytes, one);
}

#[test]
fn stamps_and_watermarks_have_page_numbers() {
    if !has_all(&["pdftotext", "qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let (one, two) = (pdf(&app, "One"), pdf(&app, "Two"));
    let options = br#"{"position": "bc", "rotation": "0"}"#;
    let fields: [Field<'_>; 9] = [
        ("files", "1.pdf", &one),
        ("files", "2.pdf", &two),
        ("stampSource", "", b"text"),
        ("stampExpression", "", b"Page %p of %P"),
        ("stampOptions", "", options),
        ("watermarkSource", "", b"text"),
        ("watermarkExpression", "", b"Sheet %p, 50 % off"),
        ("watermarkOptions", "", br#"{"rotation": "0"}"#),
        ("watermarkPages", "", b"2"),
    ];
    let answer = send(&app, "pdfengines/merge", &fields);
    assert_eq!(answer.status, 200);
    check(&answer.bytes);
    let pages = texts(&answer.bytes);
    assert!(
        pages[0].contains("One") && pages[0].contains("Page 1 of 2"),
        "{pages:?}"
    );
    assert!(
        pages[1].contains("Two") && pages[1].contains("Page 2 of 2"),
        "{pages:?}"
    );
    assert!(
        !pages[0].contains("Sheet") && pages[1].contains("Sheet 2, 50 % off"),
        "{pages:?}"
    );
}

#[test]
fn fields_of_stamps_are_repeated_and_take_their_files_in_order() {
    if !has_all(&["pdftoppm"]) {
        return;
    }
    let app = TestApp::start();
    let one = pdf(&app, "One");
    let place =
        |at: &str| format!(r#"{{"rotation":"0","position":"{at}","points":24,"color":"1 0 0"}}"#);
    let (top, bottom) = (place("tl"), place("br"));
    let fields: [Field<'_>; 9] = [
        ("files", "a.pdf", &one),
        ("stampSource", "", b"text"),
        ("stampExpression", "", b"STAMPONE"),
        ("stampOptions", "", top.as_bytes()),
        ("stampSource", "", b"text"),
        ("stampExpression", "", b"STAMPTWO"),
        ("stampOptions", "", bottom.as_bytes()),
        ("stampSource", "", b"image"),
        ("stamp", "red.png", RED_PNG),
    ];
    let drawn = |count: usize| {
        let made = send(&app, "pdfengines/stamp", &fields[..count]);
        assert_eq!(made.status, 200, "{}", String::from_utf8_lossy(&made.bytes));
        red(&made.bytes)
    };
    let (one_text, x, y) = drawn(4);
    assert!(
        one_text > 100 && x < 0.4 && y < 0.2,
        "{one_text} at {x}, {y}"
    );
    // The second one is as large, in the opposite corner.
    let (two_texts, x, y) = drawn(7);
    assert!(
        two_texts.abs_diff(2 * one_text) < one_text / 2,
        "{two_texts}"
    );
    assert!(
        (0.4..0.6).contains(&x) && (0.4..0.6).contains(&y),
        "{x}, {y}"
    );
    let (all, ..) = drawn(9);
    assert!(all > two_texts + 1_000, "the picture is drawn: {all}");

    let missing = [fields[0], fields[7]];
    assert_eq!(
        said(&app, "pdfengines/stamp", &missing, 400),
        "Invalid form data: a stamp file is required for image or pdf source"
    );
    let wrong = [fields[0], ("watermarkSource", "", &b"foo"[..])];
    assert_eq!(
        said(&app, "pdfengines/watermark", &wrong, 400),
        "Invalid form data: form field 'watermarkSource' is invalid (got 'foo', resulting to wrong \
         value, expected either 'text', 'image' or 'pdf')"
    );
}
