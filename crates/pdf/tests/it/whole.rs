//! Operations on whole files.

use platen_pdf::{Error, Limits, Metadata, Split};
use serde_json::json;

use crate::fixture::{check, has_all, info, of_chromium, of_libreoffice, plain, qpdf, texts};

const LIMITS: Limits = Limits {
    size_bytes: 16 << 20,
    unpacked_bytes: 16 << 20,
    objects: 100_000,
    pages: 100,
};

fn merge(files: &[&[u8]]) -> Result<Vec<u8>, Error> {
    platen_pdf::merge(files.iter().copied(), &LIMITS)
}

#[test]
fn files_of_both_programs_are_merged_with_bookmarks_links_and_tags() {
    if !has_all(&["qpdf", "pdftotext", "chromium-headless-shell", "soffice"]) {
        return;
    }
    let (one, two) = (of_chromium("One", 2), of_libreoffice("Two", 3));
    let packed = qpdf(&one, &["--object-streams=generate"]);
    let made = merge(&[&one, &two, &packed]).expect("a file");
    check(&made);
    let texts = texts(&made);
    assert_eq!(texts.len(), 7, "{texts:?}");
    assert!(texts[0].contains("One page 1") && texts[4].contains("Two page 3"));
    assert!(texts[6].contains("One page 2"));
    assert!(
        info(&made, &[]).contains("Tagged:          yes"),
        "{}",
        info(&made, &[])
    );
    let tree = info(&made, &["-struct-text"]);
    assert!(
        tree.matches("One page 1").count() == 2 && tree.contains("Two page 2"),
        "{tree}"
    );
    let marks = plain(&made);
    let title = "/Title (Two page ";
    let utf16 = marks.matches("/Title").count();
    assert!(
        marks.matches(title).count() == 3 || utf16 >= 3,
        "bookmarks: {utf16}"
    );
    assert!(
        info(&made, &["-dests"]).lines().count() <= 1,
        "names became places"
    );
    assert_eq!(
        merge(&[&one, &two, &packed]).expect("again"),
        made,
        "the same bytes"
    );
    // The result can be processed again.
    check(&merge(&[&made, &made]).expect("a file of the file"));
}

#[test]
fn files_are_split_and_what_is_left_out_is_gone() {
    if !has_all(&["qpdf", "pdftotext", "chromium-headless-shell", "soffice"]) {
        return;
    }
    for file in [of_chromium("One", 5), of_libreoffice("One", 5)] {
        let split = |how: Split| platen_pdf::split(&file, &how, &LIMITS);
        let parts = split(Split::Every(2)).expect("parts");
        let counts: Vec<usize> = parts.iter().map(|part| texts(part).len()).collect();
        assert_eq!(counts, [2, 2, 1]);
        parts.iter().for_each(|part| check(part));
        assert!(parts[1].len() < file.len());
        let one = split(Split::Only("4-,2".into())).expect("a part");
        assert_eq!(one.len(), 1);
        let pages = texts(&one[0]);
        assert!(
            pages[0].contains("page 4") && pages[2].contains("page 2"),
            "{pages:?}"
        );
        let each = split(Split::Pages("1,3".into())).expect("parts");
        assert_eq!(each.len(), 2);
        assert!(texts(&each[1])[0].contains("page 3"));
        assert!(!plain(&each[1]).contains("StructTreeRoot"));
        let wrong = split(Split::Pages("6".into()));
        assert!(matches!(wrong, Err(Error::BadPages(_))));
    }
}

#[test]
fn fields_become_part_of_the_page() {
    if !has_all(&["qpdf", "pdftotext", "soffice"]) {
        return;
    }
    let file = of_libreoffice("Form", 2);
    assert!(plain(&file).contains("/AcroForm"));
    let merged = merge(&[&file, &file]).expect("a file");
    assert!(plain(&merged).contains("/AcroForm"));
    for file in [file, merged] {
        let flat = platen_pdf::flatten(&file, &LIMITS).expect("a flat file");
        check(&flat);
        let text = plain(&flat);
        assert!(!text.contains("/AcroForm") && !text.contains("/Widget"));
        assert!(text.contains("/Link"), "links stay");
        assert!(texts(&flat)[0].contains("filled"), "{:?}", texts(&flat));
    }
}

#[test]
fn metadata_is_written_and_read() {
    if !has_all(&["qpdf", "pdftotext", "chromium-headless-shell", "soffice"]) {
        return;
    }
    for file in [of_chromium("One", 2), of_libreoffice("One", 2)] {
        let changes = json!({
            "Title": "Straße <1>", "Author": "A", "Keywords": ["x", "y"], "Trapped": "Unknown",
            "CreationDate": "2006-09-18T16:27:50-04:00", "Copyright": "mine", "Marked": true,
            "Creator": "",
        });
        let json = |value: serde_json::Value| value.as_object().cloned().expect("an object");
        let made = platen_pdf::write_metadata(&file, &json(changes), &LIMITS).expect("a file");
        check(&made);
        assert_eq!(texts(&made), texts(&file));
        let read = platen_pdf::read_metadata(&made, &LIMITS).expect("fields");
        assert_eq!(read["Title"], "Straße <1>");
        assert_eq!(read["Keywords"], json!(["x", "y"]));
        assert_eq!(read["CreateDate"], "2006:09:18 16:27:50-04:00");
        assert_eq!(read["Copyright"], "mine");
        assert_eq!(read["Marked"], true);
        assert_eq!(read["PageCount"], 2);
        assert_eq!(read["FileTypeExtension"], "pdf");
        assert_eq!(read["Linearized"], "No");
        let fast = qpdf(&file, &["--linearize"]);
        let read_fast = platen_pdf::read_metadata(&fast, &LIMITS).expect("fields");
        assert_eq!(read_fast["Linearized"], "Yes");
        assert!(!read.contains_key("Creator"));
        let said = info(&made, &[]);
        assert!(
            said.contains("Straße <1>") && said.contains("x, y"),
            "{said}"
        );
        assert!(info(&made, &["-meta"]).contains("Straße &lt;1&gt;"));
        let refused = |name: &str, value: serde_json::Value| {
            let changes = Metadata::from_iter([(name.to_owned(), value)]);
            platen_pdf::write_metadata(&file, &changes, &LIMITS)
        };
        for (name, value) in [
            ("Nothing", json!("x")),
            ("Title", json!(1)),
            ("ModDate", json!("soon")),
            ("Trapped", json!("perhaps")),
        ] {
            assert!(
                matches!(refused(name, value), Err(Error::BadMetadata { .. })),
                "{name}"
            );
        }
    }
}

#[test]
fn encrypted_cut_and_large_files_are_told() {
    if !has_all(&["qpdf", "chromium-headless-shell"]) {
        return;
    }
    let file = of_chromium("One", 3);
    for user in ["", "secret"] {
        let locked = qpdf(&file, &["--encrypt", user, "owner", "256", "--"]);
        let made = merge(&[&file, &locked]);
        assert!(matches!(made, Err(Error::Encrypted)), "{:?}", made.err());
    }
    for length in [9, 100] {
        let made = merge(&[&file[..length]]);
        assert!(
            matches!(made, Err(Error::Broken(_) | Error::Malformed(_))),
            "{length}"
        );
    }
    let half = platen_pdf::repair(&file[..file.len() / 2], &LIMITS).expect("what is left of it");
    let (_, problem) = half.expect("it is damaged");
    assert!(
        problem.contains("objects that it refers to are lost"),
        "{problem}"
    );
    assert!(matches!(merge(&[b"PK\x03\x04"]), Err(Error::NotPdf)));
    assert!(matches!(merge(&[]), Err(Error::Nothing)));
    let few = Limits { pages: 2, ..LIMITS };
    let made = platen_pdf::merge([file.as_slice()], &few);
    assert!(matches!(made, Err(Error::TooLarge { what: "pages", .. })));
    let few = Limits {
        unpacked_bytes: 64,
        ..LIMITS
    };
    let packed = qpdf(&file, &["--object-streams=generate"]);
    assert!(platen_pdf::merge([packed.as_slice()], &few).is_err());
}

/// A file whose table stands and counts a few bytes too early, behind what is no PDF.
fn shifted(by: usize) -> Vec<u8> {
    let mut file = b"Not a PDF yet\n%PDF-1.7\n".to_vec();
    let begin = file.len() - "%PDF-1.7\n".len();
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        "<</Length 37>>stream\nBT /F 24 Tf 10 10 Td (Here it is) Tj ET\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ];
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (index, object) in objects.iter().enumerate() {
        file.extend(b"% What comes now\n");
        table += &format!("{:010} 00000 n \n", file.len() - begin - by);
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).into_bytes());
    }
    let start = file.len() - begin - by;
    let end = format!(
        "{table}trailer\n<</Root 1 0 R/Size {}>>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    file.extend(end.into_bytes());
    file
}

#[test]
fn objects_behind_comments_are_found_where_the_table_counts_wrong() {
    for by in [0, 4] {
        let file = shifted(by);
        let repaired = platen_pdf::repair(&file, &LIMITS).expect("a file");
        match (by, &repaired) {
            (0, None) => {}
            (4, Some((_, problem))) => {
                assert_eq!(problem, "its table of objects is not where the file says");
            }
            other => panic!("{other:?}"),
        }
        let made = merge(&[&file]).expect("a file");
        let document = lopdf::Document::load_mem(&made).expect("a file");
        let fonts = document.objects.values().filter(|object| {
            let entries = object.as_dict();
            entries.is_ok_and(|it| it.has_type(b"Font"))
        });
        assert_eq!(fonts.count(), 1, "{by}");
    }
}

#[test]
fn objects_at_the_start_of_the_file_are_free() {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut offsets = Vec::new();
    let mut add = |file: &mut Vec<u8>, object: &str| {
        offsets.push(file.len());
        file.extend(object.as_bytes());
    };
    add(
        &mut file,
        "1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n",
    );
    add(
        &mut file,
        "2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n",
    );
    add(
        &mut file,
        "3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>\nendobj\n",
    );
    let first = file.len();
    let table: String = offsets
        .iter()
        .map(|at| format!("{at:010} 00000 n \n"))
        .collect();
    file.extend(
        format!(
            "xref\n0 5\n0000000000 65535 f \n{table}0000000000 00000 n \n\
             trailer\n<</Root 1 0 R/Size 5>>\nstartxref\n{first}\n%%EOF\n"
        )
        .into_bytes(),
    );
    // The catalog is replaced.
    let again = file.len();
    file.extend(b"1 0 obj\n<</Type/Catalog/Pages 2 0 R/Lang(de)>>\nendobj\n");
    let second = file.len();
    file.extend(
        format!(
            "xref\n1 1\n{again:010} 00000 n \ntrailer\n<</Root 1 0 R/Size 5/Prev {first}>>\n\
             startxref\n{second}\n%%EOF\n"
        )
        .into_bytes(),
    );
    let changes = Metadata::from_iter([("Title".to_owned(), json!("A"))]);
    let made = platen_pdf::write_metadata(&file, &changes, &LIMITS).expect("a file");
    let document = lopdf::Document::load_mem(&made).expect("a file");
    assert!(document.catalog().expect("a catalog").has(b"Lang"));
}
