//! What strangers do to signed files is found, and what they send ends in an error.

use platen_pades::{KeyFile, Level, Signing, Validity, verify};
use platen_pdf::{
    Appearance, Change, Conditions, Error, Limits, NamedFile, Operations, Rotation, Split,
    read_signatures,
};

use crate::{
    authority::authority,
    file::{pdf, pdf_of, updated},
    signing::{judged, now, signed, signing},
};

/// The list of pages of files whose third object is their page.
const ONE_PAGE: &str = "<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 300 200]>>";

fn basic(modern: bool) -> Vec<u8> {
    signed(&pdf(modern), &signing(Level::Basic), "p256")
}

/// The validity, and the problems in one line.
fn told(file: &[u8]) -> (Validity, String) {
    let judgement = judged(file);
    let report = &judgement.signatures[0];
    (report.validity, report.problems.join("; "))
}

#[test]
fn a_changed_byte_breaks_the_signature() {
    let mut file = basic(false);
    let at = file.windows(5).position(|it| it == b"First").expect("text");
    file[at] = b'W';
    let (validity, problems) = told(&file);
    assert_eq!(validity, Validity::Invalid);
    assert!(problems.contains("was changed"), "{problems}");
}

#[test]
fn changes_behind_a_signature_are_named() {
    let file = basic(false);
    let content = "6 0 obj\n<</Length 3>>stream\nq Q\nendstream\nendobj\n";
    let page = "3 0 obj\n<</Type/Page/Parent 2 0 R/Rotate 90>>\nendobj\n";
    let properties = "60 0 obj\n<</Title(New)>>\nendobj\n";
    let pages = "2 0 obj\n<</Type/Pages/Count 1/Kids[4 0 R]/MediaBox[0 0 300 200]>>\nendobj\n";
    let catalog =
        "1 0 obj\n<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(1)>>>>\nendobj\n";
    for (object, extra, expected) in [
        (content, "", vec![Change::Content]),
        // A page without its annotations loses the field of the signature.
        (
            page,
            "",
            vec![Change::Annotations { page: 1 }, Change::Page { page: 1 }],
        ),
        (pages, "", vec![Change::Pages, Change::Content]),
    ] {
        let made = updated(&file, &[object], extra);
        let judgement = judged(&made);
        let report = &judgement.signatures[0];
        assert_eq!(report.changes, expected, "{object}");
        assert_eq!(report.validity, Validity::Invalid, "{object}");
        assert!(!report.covers_whole_file);
    }
    // Programs that add a signature also write when.
    let judgement = judged(&updated(&file, &[properties], "/Info 60 0 R"));
    assert_eq!(judgement.signatures[0].changes, [Change::Properties]);
    assert!(judgement.valid, "{judgement:#?}");
    // Without its form the file has no signature to be seen.
    assert!(
        judged(&updated(&file, &[catalog], ""))
            .signatures
            .is_empty()
    );
}

#[test]
fn an_object_that_was_missing_counts_as_a_change() {
    let file = String::from_utf8(pdf(false)).expect("text");
    let file = file.replace("/F 5 0 R", "/F 9 0 R");
    let file = signed(file.as_bytes(), &signing(Level::Basic), "p256");
    let font = "9 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Symbol>>\nendobj\n";
    let judgement = judged(&updated(&file, &[font], ""));
    let report = &judgement.signatures[0];
    assert_eq!(report.validity, Validity::Invalid, "{judgement:#?}");
}

/// The changes since a file of these objects was signed, and `object` changed.
fn shadowed(objects: &[&str], object: &str) -> (Validity, Vec<Change>) {
    let objects: Vec<String> = objects.iter().map(|&it| it.to_owned()).collect();
    let file = signed(&pdf_of(&objects), &signing(Level::Basic), "p256");
    assert!(judged(&file).valid, "{objects:?}");
    let judgement = judged(&updated(&file, &[object], ""));
    let report = &judgement.signatures[0];
    (report.validity, report.changes.clone())
}

/// A file that its author made for what is changed after somebody else signed it.
#[test]
fn what_was_prepared_to_be_changed_is_found() {
    let page = "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>";
    let content = "<</Length 3>>stream\nq Q\nendstream";
    // Content that says of itself that it is a table of objects.
    let table = "<</Type/XRef/Length 3>>stream\nq Q\nendstream";
    let new = "4 0 obj\n<</Type/XRef/Length 9>>stream\n0 0 m 9 9\nendstream\nendobj\n";
    let catalog = "<</Type/Catalog/Pages 2 0 R>>";
    let (validity, changes) = shadowed(&[catalog, ONE_PAGE, page, table], new);
    assert_eq!(validity, Validity::Invalid, "{changes:?}");
    // A list of contents that is also one of certificates.
    let catalog = "<</Type/Catalog/Pages 2 0 R/DSS<</Certs 4 0 R>>>>";
    let new = "4 0 obj\n[6 0 R]\nendobj\n";
    let (validity, changes) =
        shadowed(&[catalog, ONE_PAGE, page, "[5 0 R]", content, content], new);
    assert_eq!(
        (validity, changes),
        (Validity::Invalid, vec![Change::Content])
    );
    // Content that is also what the file says of itself.
    let catalog = "<</Type/Catalog/Pages 2 0 R/Metadata 4 0 R>>";
    let new = "4 0 obj\n<</Length 9>>stream\n0 0 m 9 9\nendstream\nendobj\n";
    let (validity, _) = shadowed(&[catalog, ONE_PAGE, page, content], new);
    assert_eq!(validity, Validity::Invalid);
    let new = "4 0 obj\n[6 0 R]\nendobj\n";
    // A list of certificates that becomes one of contents afterwards.
    let catalog = "<</Type/Catalog/Pages 2 0 R>>";
    let objects = [catalog, ONE_PAGE, page, "[5 0 R]", content, content];
    let (validity, _) = shadowed(&objects, new);
    assert_eq!(validity, Validity::Invalid);
}

#[test]
fn a_field_that_waits_for_a_signature_is_signed_where_it_is() {
    let form = "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields 6 0 R>>>>";
    let page = "<</Type/Page/Parent 2 0 R/Annots 4 0 R>>";
    let field = "<</Type/Annot/Subtype/Widget/FT/Sig/T(Here)/Rect[9 9 99 29]/F 4>>";
    let objects = [form, ONE_PAGE, page, "[5 0 R]", field, "[5 0 R]"].map(str::to_owned);
    let file = pdf_of(&objects);
    let first = signed(&file, &signing(Level::Basic), "rsa");
    let there = Signing {
        field: Some("Here".to_owned()),
        appearance: Some(Appearance {
            file: pdf(false),
            extent: platen_pdf::Extent::Page,
            place: None,
            is_needed: true,
        }),
        ..signing(Level::Basic)
    };
    let second = signed(&first, &there, "p256");
    let judgement = judged(&second);
    assert!(judgement.valid, "{judgement:#?}");
    let reports = &judgement.signatures;
    assert_eq!(
        (reports[1].field.as_str(), reports[1].page),
        ("Here", Some(1))
    );
    let field = "Here".to_owned();
    assert_eq!(reports[0].changes, [Change::Signature { field }]);
    // A new field without a place cannot show it.
    let nowhere = Signing {
        field: Some("Elsewhere".to_owned()),
        ..there
    };
    let authority = authority();
    let signer = authority.signer("rsa");
    let refused = platen_pades::sign(&file, &nowhere, &signer, authority, &Limits::default());
    assert!(
        refused
            .expect_err("nowhere")
            .to_string()
            .contains("nothing says where")
    );
}

/// `object` with the number of the signature's field for 8.
fn field_list(file: &[u8], object: &str) -> String {
    let text = String::from_utf8_lossy(file);
    let (before, _) = text.split_once("/T(Signature1)").expect("the field");
    let (before, _) = before.rsplit_once(" 0 obj").expect("its number");
    let number = before.rsplit('\n').next().expect("its number");
    object.replace("8 0 R", &format!("{number} 0 R"))
}

#[test]
fn a_form_that_multiplies_is_read_in_bounds() {
    let name = "n".repeat(1_000_000);
    let kids = "5 0 R ".repeat(100_000);
    let objects = [
        "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>".to_owned(),
        ONE_PAGE.to_owned(),
        "<</Type/Page/Parent 2 0 R>>".to_owned(),
        format!("<</T({name})/Kids[{kids}]>>"),
        format!("<</T({name})/FT/Tx/Parent 4 0 R>>"),
    ];
    assert!(judged(&pdf_of(&objects)).signatures.is_empty());
}

#[test]
fn a_new_field_is_not_filled_in() {
    let form = "<</Type/Catalog/Pages 2 0 R/AcroForm 4 0 R>>";
    let page = "<</Type/Page/Parent 2 0 R/Annots[5 0 R]>>";
    let fields = "<</Fields[5 0 R]>>";
    let field = "<</Type/Annot/Subtype/Widget/FT/Tx/T(Name)/Rect[9 9 99 29]/F 4>>";
    let objects = [form, ONE_PAGE, page, fields, field].map(str::to_owned);
    let file = signed(&pdf_of(&objects), &signing(Level::Basic), "p256");
    let filled = "5 0 obj\n<</Type/Annot/Subtype/Widget/FT/Tx/T(Name)/Rect[9 9 99 29]/F 4/V(Ada)>>\nendobj\n";
    let judgement = judged(&updated(&file, &[filled], ""));
    let field = "Name".to_owned();
    assert_eq!(judgement.signatures[0].changes, [Change::Field { field }]);
    assert!(judgement.valid, "{judgement:#?}");
    // Another field of that name is not the one that was there.
    let page = "3 0 obj\n<</Type/Page/Parent 2 0 R/Annots[5 0 R 8 0 R 60 0 R]>>\nendobj\n";
    let form = "4 0 obj\n<</Fields[5 0 R 8 0 R 60 0 R]/SigFlags 3>>\nendobj\n";
    let form = field_list(&file, form);
    let page = field_list(&file, page);
    let cover =
        "60 0 obj\n<</Type/Annot/Subtype/Widget/FT/Tx/T(Name)/Rect[0 0 300 200]/F 4>>\nendobj\n";
    let (validity, problems) = told(&updated(&file, &[&page, &form, cover], ""));
    assert_eq!(validity, Validity::Invalid, "{problems}");
    let moved = filled.replace("99 29", "299 199");
    assert_eq!(told(&updated(&file, &[&moved], "")).0, Validity::Invalid);
}

#[test]
fn a_signature_covers_all_but_itself() {
    let file = basic(false);
    let signature = &read_signatures(&file, &Limits::default()).expect("read")[0];
    let [first, second] = signature.covered.clone();
    let old = format!(
        "[0 {} {} {}]",
        first.end,
        second.start,
        second.end - second.start
    );
    let place = (file.windows(old.len())).position(|it| it == old.as_bytes());
    let place = place.expect("the range");
    for (range, problem) in [
        (
            format!("[0 {} {} 3]", first.end - 50, second.start),
            "more than its own",
        ),
        (
            format!("[0 9 {} 99999]", second.start),
            "more than the file",
        ),
        (format!("[5 9 {} 3]", second.start), "which part"),
        ("[0 9 -5 3]".to_owned(), "which part"),
        ("[]".to_owned(), "which part"),
        (format!("[0 {} 9 3]", first.end), "more than the file"),
    ] {
        let range = format!("{range:<width$}", width = old.len());
        let mut forged = file.clone();
        forged[place..place + old.len()].copy_from_slice(range.as_bytes());
        let (validity, problems) = told(&forged);
        assert_eq!(validity, Validity::Invalid, "{range}");
        assert!(problems.contains(problem), "{range}: {problems}");
    }
}

#[test]
fn broken_signatures_end_in_a_report() {
    let file = signed(&pdf(false), &signing(Level::LongTerm), "p256");
    let signature = &read_signatures(&file, &Limits::default()).expect("read")[0];
    let hole = signature.covered[0].end + 1..signature.covered[1].start - 1;
    let length = hole.len();
    let whole = judged(&file).signatures[0].signer.clone();
    for step in 0..400 {
        let mut broken = file.clone();
        let at = hole.start + (step * 97) % (length / 2);
        broken[at] = if broken[at] == b'7' { b'8' } else { b'7' };
        let judgement = verify(
            &broken,
            &authority().trust(),
            now(),
            &Limits::default(),
            &|| {},
        );
        let judgement = judgement.expect("a report");
        let report = &judgement.signatures[0];
        // What its signature does not cover, such as certificates of the chain that the file carries
        // twice, changes nothing of who signed what.
        assert!(
            report.validity != Validity::Valid || report.signer == whole,
            "byte {at}"
        );
    }
    let mut empty = file.clone();
    empty[hole].fill(b'0');
    assert_eq!(told(&empty).1, "it cannot be read");
}

#[test]
fn nothing_changes_a_signed_file_but_what_makes_a_new_one() {
    let file = basic(true);
    let apply = |operations: &Operations| {
        let file = NamedFile {
            name: "a.pdf".to_owned(),
            bytes: file.clone(),
        };
        let made = operations.apply(vec![file], &Conditions::default());
        made.map(|mut files| files.remove(0).bytes)
    };
    let rotate = Operations {
        rotation: Some(Rotation {
            degrees: 90,
            ..Rotation::default()
        }),
        ..Operations::default()
    };
    let metadata = Operations {
        metadata: [("Title".to_owned(), "New".into())].into_iter().collect(),
        ..Operations::default()
    };
    for operations in [&rotate, &metadata] {
        let refused = apply(operations).expect_err("it would break the signature");
        assert!(matches!(refused.error, Error::Signed), "{refused}");
    }
    let select = Operations {
        split: Some(Split::Only("1".into())),
        ..Operations::default()
    };
    let flatten = Operations {
        flatten: true,
        ..Operations::default()
    };
    for operations in [&select, &flatten] {
        let made = apply(operations).expect("a new file");
        assert!(judged(&made).signatures.is_empty());
    }
    let two = [&file[..], &file[..]];
    let merged = platen_pdf::merge(two, &Limits::default()).expect("merged");
    assert!(judged(&merged).signatures.is_empty());
    let again = signed(&merged, &signing(Level::Basic), "rsa");
    assert!(judged(&again).valid);
}

#[test]
fn broken_keys_end_in_an_error() {
    let authority = authority();
    let pem = authority.text("p256.key") + &authority.text("p256.crt");
    for end in (0..pem.len()).filter(|end| pem.is_char_boundary(*end)) {
        let _ = KeyFile::read(&pem.as_bytes()[..end], None);
    }
    authority
        .run("pkcs12 -export -inkey p256.key -in p256.crt -iter 1 -passout pass: -out broken.p12");
    let file = std::fs::read(authority.path("broken.p12")).expect("a file");
    for at in 0..file.len() {
        assert!(KeyFile::read(&file[..at], Some("")).is_err());
        let mut broken = file.clone();
        broken[at] ^= 0x55;
        let _ = KeyFile::read(&broken, Some(""));
    }
}

#[test]
fn no_changed_byte_of_what_is_signed_goes_unseen() {
    for modern in [false, true] {
        let file = signed(&pdf(modern), &signing(Level::Timestamp), "p256");
        let signature = &read_signatures(&file, &Limits::default()).expect("read")[0];
        let hole = signature.covered[0].end..signature.covered[1].start;
        for step in 0..file.len() {
            let at = (step * 7) % file.len();
            if hole.contains(&at) || step % 3 != 0 {
                continue;
            }
            let mut broken = file.clone();
            broken[at] ^= 1 << (step % 8);
            let trust = authority().trust();
            let Ok(judgement) = verify(&broken, &trust, now(), &Limits::default(), &|| {}) else {
                continue;
            };
            let valid = (judgement.signatures.iter()).any(|it| it.validity != Validity::Invalid);
            assert!(!valid, "byte {at}: {judgement:#?}");
        }
    }
}
