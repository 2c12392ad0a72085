//! Files made smaller, seen by qpdf and poppler.

use std::io::Write as _;

use flate2::{Compression, write::ZlibEncoder};
use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};
use platen_pdf::{
    Conditions, Error, Limits, NamedFile, Note, NoteKind, Operations, Optimization, PictureQuality,
    merge,
};

use crate::built::{node, whole};
use crate::fixture::{check, has_all, info, pixels, qpdf, texts};

const PROGRAMS: [&str; 3] = ["qpdf", "pdftoppm", "pdftotext"];

/// A file of `count` pages, each with its own copy of a font, of a picture and of what is on it.
fn wasteful(count: usize, picture: &Stream) -> Vec<u8> {
    let mut document = Document::with_version("1.4");
    let tree = document.new_object_id();
    let mut kids: Vec<Object> = Vec::new();
    for number in 0..count {
        let font = document.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica",
        });
        let picture = document.add_object(picture.clone());
        let resources = document.add_object(dictionary! {
            "Font" => dictionary! { "F" => font }, "XObject" => dictionary! { "P" => picture },
        });
        let text = format!(
            "q 100 0 0 100 50 50 cm /P Do Q BT /F 12 Tf 50 180 Td (Page {number}) Tj ET{}",
            " ".repeat(500)
        );
        let content = document.add_object(Stream::new(Dictionary::new(), text.into_bytes()));
        kids.push(page(&mut document, tree, resources, content));
    }
    document.add_object(Stream::new(Dictionary::new(), vec![b'x'; 10_000]));
    whole(document, tree, node(kids), dictionary! {})
}

fn page(document: &mut Document, tree: ObjectId, resources: ObjectId, content: ObjectId) -> Object {
    let page = dictionary! {
        "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 200.into(), 200.into()],
    };
    document.add_object(page).into()
}

/// A picture of smooth colors.
fn picture(side: usize) -> Stream {
    let data = (0..side * side).flat_map(|at| {
        let (x, y) = (at % side, at / side);
        let noise = (at * 7_919 % 11) as u8;
        [
            (x * 240 / side) as u8 + noise,
            (y * 240 / side) as u8 + noise,
            128 + noise,
        ]
    });
    let entries = dictionary! {
        "Type" => "XObject", "Subtype" => "Image", "Width" => side as i64, "Height" => side as i64,
        "ColorSpace" => "DeviceRGB", "BitsPerComponent" => 8,
    };
    Stream::new(entries, data.collect())
}

fn optimized(
    bytes: &[u8],
    pictures: Option<PictureQuality>,
) -> Result<(Vec<u8>, Vec<Note>), Error> {
    let notes = std::cell::RefCell::new(Vec::new());
    let operations = Operations {
        optimization: Some(Optimization { pictures }),
        ..Operations::default()
    };
    let conditions = Conditions {
        note: &|note| notes.borrow_mut().push(note),
        ..Conditions::default()
    };
    let file = NamedFile {
        name: "a.pdf".to_owned(),
        bytes: bytes.to_vec(),
    };
    let made = operations.apply(vec![file], &conditions);
    let made = made.map_err(|error| error.error)?.remove(0).bytes;
    Ok((made, notes.into_inner()))
}

#[test]
fn what_is_there_twice_or_unused_goes_and_nothing_else() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let file = wasteful(10, &picture(50));
    let (made, notes) = optimized(&file, None).expect("a file");
    check(&made);
    let what = NoteKind::Optimized {
        size_bytes_before: file.len(),
        size_bytes: made.len(),
    };
    let file_name = "a.pdf".to_owned();
    assert_eq!(
        notes,
        [Note {
            file: file_name,
            what
        }]
    );
    // Ten pictures of 7,500 bytes became one.
    assert!(made.len() < 12_000, "{} of {}", made.len(), file.len());
    assert_eq!(texts(&made), texts(&file));
    for page in [1, 10] {
        assert!(pixels(&made, page) == pixels(&file, page), "page {page}");
    }
    let read = Document::load_mem(&made).expect("a file");
    let fonts = (read.objects.values())
        .filter(|object| object.as_dict().is_ok_and(|it| it.has_type(b"Font")))
        .count();
    assert_eq!(fonts, 1);
    assert_eq!(read.page_iter().count(), 10);
    // The same again gives the same, and what is small already stays.
    let (again, _) = optimized(&made, None).expect("a file");
    assert_eq!(again.len(), made.len());
}

#[test]
fn files_of_programs_become_smaller_and_look_the_same() {
    if !has_all(&["qpdf", "pdftoppm", "pdftotext", "chromium-headless-shell"]) {
        return;
    }
    let one = crate::fixture::of_chromium("One", 3);
    let file = merge([one.as_slice(), &one], &Limits::default()).expect("a file");
    let (made, _) = optimized(&file, None).expect("a file");
    check(&made);
    assert!(
        made.len() * 100 < file.len() * 80,
        "fonts are there once: {} of {}",
        made.len(),
        file.len()
    );
    assert_eq!(texts(&made), texts(&file));
    assert!(pixels(&made, 6) == pixels(&file, 6));
    assert!(
        info(&made, &[]).contains("Tagged:          yes"),
        "tags stay"
    );
    let by_qpdf = qpdf(
        &file,
        &[
            "--object-streams=generate",
            "--recompress-flate",
            "--compression-level=9",
        ],
    );
    assert!(
        made.len() <= by_qpdf.len(),
        "{} by qpdf {}",
        made.len(),
        by_qpdf.len()
    );
}

#[test]
fn pictures_become_jpeg_no_finer_than_they_are_shown() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let file = wasteful(2, &picture(400));
    let quality = |quality, max_dpi| PictureQuality {
        quality,
        max_dpi,
        again: false,
    };
    let (lossless, _) = optimized(&file, None).expect("a file");
    let (good, _) = optimized(&file, Some(quality(80, None))).expect("a file");
    let (poor, _) = optimized(&file, Some(quality(20, None))).expect("a file");
    // 100 points at 144 dots per inch are 200 pixels.
    let (scaled, _) = optimized(&file, Some(quality(80, Some(144.0)))).expect("a file");
    assert!(
        good.len() * 3 < lossless.len(),
        "{} of {}",
        good.len(),
        lossless.len()
    );
    assert!(poor.len() < good.len() && scaled.len() < good.len());
    let side = |bytes: &[u8]| {
        let read = Document::load_mem(bytes).expect("a file");
        let mut all = read.objects.values().filter_map(|it| it.as_stream().ok());
        let picture = all.find(|it| it.dict.has(b"Width")).expect("a picture");
        picture
            .dict
            .get(b"Width")
            .and_then(Object::as_i64)
            .expect("a width")
    };
    assert_eq!((side(&good), side(&scaled)), (400, 200));
    let before = pixels(&file, 1).2;
    for made in [&good, &scaled] {
        check(made);
        let now = pixels(made, 1).2;
        let far = before
            .iter()
            .zip(&now)
            .filter(|(one, two)| one.abs_diff(**two) > 24);
        assert!(far.count() * 100 < before.len(), "they look alike");
    }
    // What is JPEG already is coded once more only if that is wanted.
    let (same, _) = optimized(&good, Some(quality(20, None))).expect("a file");
    assert!(same.len() + 100 > good.len());
    let again = PictureQuality {
        again: true,
        ..quality(20, None)
    };
    let (smaller, _) = optimized(&good, Some(again)).expect("a file");
    assert!(smaller.len() < same.len());
    for wrong in [
        quality(0, None),
        quality(101, None),
        quality(80, Some(f32::NAN)),
    ] {
        let refused = optimized(&file, Some(wrong));
        assert!(
            matches!(refused, Err(Error::BadOptimization(_))),
            "{wrong:?}"
        );
    }
}

#[test]
fn transparency_palettes_and_masks_stay() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let how = PictureQuality {
        quality: 10,
        max_dpi: Some(20.0),
        again: true,
    };
    let mut masked = picture(100);
    masked.dict.set(
        "Mask",
        vec![
            Object::from(0),
            10.into(),
            0.into(),
            10.into(),
            0.into(),
            10.into(),
        ],
    );
    let mut cmyk = picture(100);
    cmyk.dict.set("ColorSpace", "DeviceCMYK");
    cmyk.set_content(cmyk.content.repeat(2)[..40_000].to_vec());
    for picture in [masked, cmyk] {
        let file = wasteful(1, &picture);
        let (made, _) = optimized(&file, Some(how)).expect("a file");
        check(&made);
        assert!(pixels(&made, 1) == pixels(&file, 1));
    }
}

/// A list of one filter has a list of parameters; with a name beside that list, readers draw noise.
#[test]
fn predictors_in_lists_stay_with_their_filter() {
    if !has_all(&PROGRAMS) {
        return;
    }
    let mut picture = picture(50);
    let mut above = vec![0; 150];
    let mut rows = Vec::new();
    for row in picture.content.chunks(150) {
        // Filter type 2 is the difference from the row above.
        rows.push(2);
        rows.extend(
            row.iter()
                .zip(&above)
                .map(|(new, old)| new.wrapping_sub(*old)),
        );
        above = row.to_vec();
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&rows).expect("memory");
    picture.set_content(packed.finish().expect("memory"));
    let parameters = dictionary! {
        "Predictor" => 15, "Colors" => 3, "BitsPerComponent" => 8, "Columns" => 50,
    };
    picture.dict.set("Filter", vec!["FlateDecode".into()]);
    picture.dict.set("DecodeParms", vec![parameters.into()]);
    let file = wasteful(1, &picture);
    let (made, _) = optimized(&file, None).expect("a file");
    check(&made);
    let read = Document::load_mem(&made).expect("a file");
    let streams = read.objects.values().filter_map(|it| it.as_stream().ok());
    let pictures: Vec<_> = streams.filter(|it| it.dict.has(b"DecodeParms")).collect();
    let image = pictures.iter().find(|it| it.dict.has(b"ColorSpace"));
    let image = image.expect("the picture");
    assert!(
        image.content.len() < picture.content.len(),
        "it was packed anew"
    );
    assert!(pixels(&made, 1) == pixels(&file, 1));
}

#[test]
fn bombs_stay_as_they_are() {
    let mut zeros = Stream::new(Dictionary::new(), vec![0; 64 << 20]);
    zeros.compress().expect("data");
    let mut document = Document::load_mem(&wasteful(1, &picture(20))).expect("a file");
    let page = document.page_iter().next().expect("a page");
    let bombs: Vec<Object> = (0..20)
        .map(|number| {
            let mut bomb = zeros.clone();
            bomb.dict.set("Number", number);
            document.add_object(bomb).into()
        })
        .collect();
    document
        .get_dictionary_mut(page)
        .expect("it")
        .set("Bombs", bombs);
    let mut file = Vec::new();
    document.save_to(&mut file).expect("a file");
    let begin = std::time::Instant::now();
    let (made, _) = optimized(&file, None).expect("a file");
    assert!(made.len() <= file.len());
    eprintln!("{:?} for 20 bombs of 64 MiB", begin.elapsed());
}
