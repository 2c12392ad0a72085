//! Drawings and forms.

use lopdf::{Object, Stream, dictionary};

use super::{built, redacted, refused, region, text_of, with_font};
use crate::fixture::plain;

#[test]
fn forms_that_several_pages_draw_are_changed_for_one() {
    let form = Stream::new(
        dictionary! {
            "Type" => "XObject", "Subtype" => "Form", "BBox" => vec![0.into(), 0.into(), 200.into(), Object::from(50)],
            "Resources" => with_font(dictionary! {}),
        },
        b"BT /F 10 Tf 20 20 Td (secret) Tj 0 15 Td (public) Tj ET".to_vec(),
    );
    let resources = dictionary! { "XObject" => dictionary! { "X" => Object::Reference((100, 0)) } };
    let content = "q 1 0 0 1 0 100 cm /X Do Q";
    let file = built(&[content, content], resources, vec![form.into()]);
    let area = [19.0, 119.0, 60.0, 127.0];
    let made = redacted(&file, &[region(1, area)]).expect("a file");
    assert_eq!(text_of(&made), "public\u{c}public\nsecret\u{c}");
    let made = redacted(&file, &[region(1, area), region(2, area)]).expect("a file");
    assert_eq!(text_of(&made), "public\u{c}public\u{c}");
    assert!(!plain(&made).contains("secret"));
}

#[test]
fn drawings_go_and_rules_stay() {
    let letters = "20 20 m 22 30 l 24 20 l 23 20 l 22 25 l h f";
    let rule = "10 40 m 190 40 l S 5 5 190 190 re S";
    let file = built(&[&format!("{letters} {rule}")], dictionary! {}, vec![]);
    let made = redacted(&file, &[region(1, [15.0, 15.0, 60.0, 60.0])]).expect("a file");
    let said = plain(&made);
    assert!(!said.contains("22 30 l"), "{said}");
    assert!(
        said.contains("190 40 l") && said.contains("190 190 re"),
        "{said}"
    );
    // What cuts along letters keeps its area and not its outline.
    let file = built(
        &[&format!("q {} W n Q", letters.trim_end_matches(" f"))],
        dictionary! {},
        vec![],
    );
    let made = redacted(&file, &[region(1, [15.0, 15.0, 60.0, 60.0])]).expect("a file");
    assert!(!plain(&made).contains("22 30 l"));
}

#[test]
fn areas_that_cover_a_drawing_together_take_it_out() {
    // Ten lines, which one area alone would leave.
    let drawing =
        "20 20 m 80 20 l 80 50 l 60 50 l 60 30 l 50 30 l 50 50 l 40 50 l 40 30 l 20 50 l f";
    let file = built(&[drawing], dictionary! {}, vec![]);
    let halves = [
        region(1, [15.0, 15.0, 50.0, 55.0]),
        region(1, [50.0, 15.0, 85.0, 55.0]),
    ];
    let made = redacted(&file, &halves).expect("a file");
    assert!(!plain(&made).contains("60 30 l"));
    let made = redacted(&file, &halves[..1]).expect("a file");
    assert!(
        plain(&made).contains("60 30 l"),
        "few lines, and most of it is elsewhere"
    );
    // A thick frame is in an area whose edge only its line crosses.
    let file = built(&["20 w 30 30 40 40 re S"], dictionary! {}, vec![]);
    let made = redacted(&file, &[region(1, [25.0, 25.0, 75.0, 75.0])]).expect("a file");
    assert!(!plain(&made).contains("30 30 40 40 re"));
}

#[test]
fn what_patterns_and_shadings_paint_is_refused_unless_it_is_a_gradient() {
    let gradient = |kind: i64| {
        dictionary! {
            "ShadingType" => kind, "ColorSpace" => "DeviceGray",
            "Coords" => vec![0.into(), 0.into(), 100.into(), Object::from(0)],
            "Function" => dictionary! {
                "FunctionType" => 2, "N" => 1, "Domain" => vec![0.into(), Object::from(1)],
            },
        }
    };
    let mesh = Stream::new(
        dictionary! { "ShadingType" => 4, "ColorSpace" => "DeviceGray" },
        vec![0; 30],
    );
    let resources = dictionary! {
        "Shading" => dictionary! {
            "A" => gradient(2), "F" => gradient(1), "M" => Object::Reference((100, 0)),
        },
        "Pattern" => dictionary! {
            "A" => dictionary! { "PatternType" => 2, "Shading" => gradient(2) },
            "M" => dictionary! { "PatternType" => 2, "Shading" => Object::Reference((100, 0)) },
        },
    };
    let file = |content: &str| built(&[content], resources.clone(), vec![mesh.clone().into()]);
    let area = [region(1, [10.0, 10.0, 60.0, 60.0])];
    let fill = |pattern: &str| format!("/Pattern cs /{pattern} scn 20 20 30 30 re f");
    refused(&file("/M sh"), &area, "a shading");
    refused(&file("/F sh"), &area, "a shading");
    refused(&file(&fill("M")), &area, "a pattern of drawings");
    refused(&file(&fill("Gone")), &area, "a pattern of drawings");
    redacted(&file("/A sh"), &area).expect("a gradient stays");
    let made = redacted(&file(&fill("A")), &area).expect("a file");
    assert!(!plain(&made).contains("20 20 30 30 re"));
    // A color afterwards is a color.
    let made = redacted(&file("/Pattern cs /M scn 0 g 20 20 30 30 re f"), &area);
    assert!(!plain(&made.expect("a file")).contains("20 20 30 30 re"));
}

#[test]
fn a_form_is_painted_with_the_pattern_of_whoever_draws_it() {
    let tiling = Stream::new(
        dictionary! { "PatternType" => 1, "Resources" => dictionary! {} },
        b"0 0 5 5 re f".to_vec(),
    );
    // The form has a gradient of the same name.
    let mut form = super::form("20 20 30 30 re f");
    let gradient =
        dictionary! { "PatternType" => 2, "Shading" => dictionary! { "ShadingType" => 2 } };
    let own = dictionary! { "Pattern" => dictionary! { "P" => gradient } };
    form.dict.set("Resources", own);
    let resources = dictionary! {
        "XObject" => dictionary! { "X" => Object::Reference((100, 0)) },
        "Pattern" => dictionary! { "P" => Object::Reference((101, 0)) },
    };
    let content = "/Pattern cs /P scn /X Do";
    let file = built(&[content], resources, vec![form.into(), tiling.into()]);
    let area = [region(1, [10.0, 10.0, 60.0, 60.0])];
    refused(&file, &area, "a pattern of drawings");
}

#[test]
fn forms_keep_nothing_that_hangs_on_them() {
    let mut form = super::form("BT /F 10 Tf 20 20 Td (abc) Tj ET");
    form.dict.set("AF", Object::Reference((101, 0)));
    form.dict.set("PieceInfo", Object::Reference((101, 0)));
    let more = Stream::new(dictionary! {}, b"secret".to_vec());
    let resources = dictionary! { "XObject" => dictionary! { "X" => Object::Reference((100, 0)) } };
    let file = built(
        &["/X Do"],
        with_font(resources),
        vec![form.into(), more.into()],
    );
    let made = redacted(&file, &[region(1, [26.0, 19.0, 32.0, 26.0])]).expect("a file");
    assert!(!plain(&made).contains("secret"));
    assert_eq!(text_of(&made).replace(' ', ""), "ac\u{c}");
}
