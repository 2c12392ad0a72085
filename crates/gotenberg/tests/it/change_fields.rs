//! What single fields of changes and options of stages do, where the other tests look at the whole.

use platen_pdf::{Limits, read_attachments, read_bookmarks};
use serde_json::json;

use crate::{
    app::{Answer, TestApp},
    changes::{RED_PNG, red},
    documents::{Field, pdf, send},
    fixture::{encryption, has_all, pixels, plain},
    stages::{made, pipe},
};

/// The result of a route on PDF files.
fn change(app: &TestApp, route: &str, fields: &[Field<'_>]) -> Vec<u8> {
    made(send(app, &format!("pdfengines/{route}"), fields)).bytes
}

/// Two pages, and one of them.
fn pages(app: &TestApp) -> (Vec<u8>, Vec<u8>) {
    let one = pdf(app, "One");
    let both: [Field<'_>; 2] = [("files", "a.pdf", &one), ("files", "b.pdf", &one)];
    (change(app, "merge", &both), one)
}

#[test]
fn pages_that_are_named_are_turned_and_marked_and_no_others() {
    if !has_all(&["pdftoppm", "qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let (both, _) = pages(&app);
    let file: Field<'_> = ("files", "a.pdf", &both);
    let turn: [Field<'_>; 3] = [file, ("rotateAngle", "", b"90"), ("rotatePages", "", b"2")];
    let turned = change(&app, "rotate", &turn);
    let is_wide = |page: usize| {
        let (wide, high, _) = pixels(&turned, page);
        wide > high
    };
    assert_eq!([is_wide(1), is_wide(2)], [false, true]);
    for mark in ["watermark", "stamp"] {
        let names = ["Source", "Expression", "Pages", "Options"].map(|it| format!("{mark}{it}"));
        let [source, expression, which, options] = &names;
        let made = |page: &'static [u8]| {
            let fields: [Field<'_>; 6] = [
                file,
                (mark, "red.png", RED_PNG),
                (source, "", b"image"),
                (expression, "", b"red.png"),
                (which, "", page),
                (options, "", br#"{"opacity": 1, "rotation": 0}"#),
            ];
            change(&app, mark, &fields)
        };
        assert!(red(&made(b"1")).0 > 100, "{mark}");
        assert_eq!(red(&made(b"2")).0, 0, "{mark}");
    }
}

#[test]
fn each_permission_is_one_of_its_own() {
    if !has_all(&["qpdf"]) {
        return;
    }
    let app = TestApp::start();
    let (_, one) = pages(&app);
    for (field, told) in [
        ("allowPrinting", "print low resolution"),
        ("allowCopying", "extract for any purpose"),
        ("allowModifying", "modify other"),
        ("allowAnnotating", "modify annotations"),
        ("allowFillingForms", "modify forms"),
        ("allowAssembling", "modify document assembly"),
    ] {
        for (value, word) in [("false", "not allowed"), ("true", "allowed")] {
            let fields: [Field<'_>; 4] = [
                ("files", "a.pdf", &one),
                ("userPassword", "", b"user"),
                ("ownerPassword", "", b"owner"),
                (field, "", value.as_bytes()),
            ];
            let (sound, said) = encryption(&change(&app, "encrypt", &fields), "user");
            assert!(sound, "{field}: {said}");
            let line = format!("{told}: {word}");
            assert!(
                said.lines().any(|it| it.trim() == line),
                "{field}={value}: {said}"
            );
        }
    }
}

#[test]
fn attached_files_are_described() {
    let app = TestApp::start();
    let (_, one) = pages(&app);
    let fields: [Field<'_>; 3] = [
        ("files", "a.pdf", &one),
        ("embeds", "b.txt", b"text"),
        (
            "embedsMetadata",
            "",
            br#"{"b.txt": {"description": "What it says"}}"#,
        ),
    ];
    let made = change(&app, "embed", &fields);
    let found = read_attachments(&made, &Limits::default()).expect("a file");
    assert_eq!(found[0].description.as_deref(), Some("What it says"));
}

#[test]
fn pictures_have_the_quality_that_is_asked_for() {
    let app = TestApp::start();
    let picture = bitmap(256);
    let size = |quality: &'static [u8]| {
        let fields: [Field<'_>; 3] = [
            ("files", "a.pdf", &picture),
            ("optimizeImages", "", b"true"),
            ("imageQuality", "", quality),
        ];
        change(&app, "optimize", &fields).len()
    };
    let (poor, good) = (size(b"5"), size(b"95"));
    assert!(
        poor * 2 < good && good < picture.len(),
        "{poor}, {good}, {}",
        picture.len()
    );
}

/// A PDF file that shows a picture of noise, not compressed.
fn bitmap(side: u32) -> Vec<u8> {
    let mut state = 1_u32;
    let data = (0..side * side * 3).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let data: Vec<u8> = data.collect();
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    let mut put = |file: &mut Vec<u8>, head: String, stream: &[u8]| {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n{head}", places.len()).bytes());
        if !stream.is_empty() {
            file.extend(b"stream\n");
            file.extend(stream);
            file.extend(b"\nendstream");
        }
        file.extend(b"\nendobj\n");
    };
    put(&mut file, "<</Type/Catalog/Pages 2 0 R>>".to_owned(), &[]);
    put(
        &mut file,
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        &[],
    );
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R\
        /Resources<</XObject<</P 5 0 R>>>>>>";
    put(&mut file, page.to_owned(), &[]);
    let content = b"200 0 0 200 0 0 cm /P Do";
    put(&mut file, format!("<</Length {}>>", content.len()), content);
    let entries = format!(
        "<</Type/XObject/Subtype/Image/Width {side}/Height {side}/ColorSpace/DeviceRGB\
         /BitsPerComponent 8/Length {}>>",
        data.len()
    );
    put(&mut file, entries, &data);
    let start = file.len();
    file.extend(b"xref\n0 6\n0000000000 65535 f \n");
    for place in places {
        file.extend(format!("{place:010} 00000 n \n").bytes());
    }
    file.extend(format!("trailer\n<</Root 1 0 R/Size 6>>\nstartxref\n{start}\n%%EOF\n").bytes());
    file
}

#[test]
fn a_merge_gives_each_file_a_bookmark_if_its_stage_says_so() {
    let app = TestApp::start();
    let (_, one) = pages(&app);
    let files: [Field<'_>; 2] = [("files", "a.pdf", &one), ("files", "b.pdf", &one)];
    let depths = |is_wanted: bool| {
        let stages = json!([{"op": "merge", "fileBookmarks": is_wanted}]);
        let merged = made(pipe(&app, &files, &stages)).bytes;
        let found = read_bookmarks(&merged, &Limits::default()).expect("a file");
        found.iter().map(|it| it.children.len()).collect::<Vec<_>>()
    };
    // Each file has a bookmark of its own, which is below that of the file.
    assert_eq!(depths(false), [0, 0]);
    assert_eq!(depths(true), [1, 1]);
}

#[test]
fn forms_say_which_fields_are_closed_and_which_choices_are_open() {
    let app = TestApp::start();
    let file = closed_form();
    let answer: Answer = made(send(&app, "pdf/form", &[("files", "a.pdf", &file)]));
    let fields = answer.json()["a.pdf"].clone();
    let of = |name: &str| {
        let all = fields.as_array().expect("a list");
        all.iter()
            .find(|it| it["name"] == name)
            .expect("a field")
            .clone()
    };
    assert_eq!(of("closed")["readOnly"], true);
    assert_eq!(of("needed")["required"], true);
    assert_eq!(of("free")["editable"], true);
    assert_eq!(of("several")["multiSelect"], true);
    for member in ["readOnly", "required", "editable", "multiSelect"] {
        assert!(of("plain")[member].is_null(), "{member}: {}", of("plain"));
    }
}

/// Fields with one flag each (ISO 32000-1, tables 221 and 230).
fn closed_form() -> Vec<u8> {
    let fields = [
        ("closed", "Tx", 1),
        ("needed", "Tx", 1 << 1),
        ("free", "Ch", 1 << 17 | 1 << 18),
        ("several", "Ch", 1 << 21),
        ("plain", "Tx", 0),
    ];
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R 6 0 R 7 0 R 8 0 R]>>>>"
            .to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Annots[4 0 R 5 0 R 6 0 R 7 0 R 8 0 R]>>"
            .to_owned(),
    ];
    objects.extend(fields.map(|(name, kind, flags)| {
        format!(
            "<</Type/Annot/Subtype/Widget/FT/{kind}/T({name})/Ff {flags}/Opt[(a)(b)]\
             /Rect[0 0 9 9]/P 3 0 R>>"
        )
    }));
    let mut file = String::from("%PDF-1.7\n");
    let mut table = String::from("xref\n0 9\n0000000000 65535 f \n");
    for (index, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", index + 1));
    }
    let start = file.len();
    file.push_str(&format!(
        "{table}trailer\n<</Root 1 0 R/Size 9>>\nstartxref\n{start}\n%%EOF\n"
    ));
    file.into_bytes()
}

#[test]
fn signatures_say_how_to_reach_who_signs() {
    if !has_all(&["openssl", "qpdf"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let new = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=Ada \
        -keyout key.pem -out cert.pem";
    let mut command = std::process::Command::new("openssl");
    let command = command
        .args(new.split_whitespace())
        .current_dir(folder.path());
    assert!(command.output().expect("openssl starts").status.success());
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("it was made");
    let both = [read("cert.pem"), read("key.pem")].concat();
    let app = TestApp::start();
    let (_, one) = pages(&app);
    let fields: [Field<'_>; 6] = [
        ("files", "a.pdf", &one),
        ("files", "both.pem", &both),
        ("certificate", "", b"both.pem"),
        ("contactInfo", "", b"ada@example.com"),
        ("location", "", b"Kiel"),
        ("pades", "", b"true"),
    ];
    let signed = plain(&made(send(&app, "pdf/sign", &fields)).bytes);
    for part in [
        "/ContactInfo (ada@example.com)",
        "/Location (Kiel)",
        "/ETSI.CAdES.detached",
    ] {
        assert!(signed.contains(part), "{part}");
    }
}
