//! Pictures: the pixels in the areas go.

use lopdf::{Document, Object, Stream, dictionary};
use platen_pdf::{Limits, read_pictures};

use super::{built, picture, redacted, refused, region};
use crate::fixture::plain;

#[test]
fn pictures_lose_their_pixels_and_are_gone_if_they_are_inside() {
    let resources = dictionary! { "XObject" => dictionary! { "P" => Object::Reference((100, 0)) } };
    let draw = "q 100 0 0 100 50 50 cm /P Do Q";
    let file = built(&[draw, draw], resources, vec![picture(7).into()]);
    let made = redacted(&file, &[region(1, [50.0, 50.0, 100.0, 75.0])]).expect("a file");
    let found = read_pictures(&made, None, &Limits::default(), &|| {}).expect("pictures");
    assert_eq!(found.files.len(), 2, "page 2 shows the old one");
    let pixels = |bytes: &[u8]| {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes.to_vec()))
            .read_info()
            .expect("it");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut pixels).expect("pixels");
        pixels
    };
    let one = pixels(&found.files[0].bytes);
    for (index, pixel) in one.iter().enumerate() {
        let (column, row) = (index % 20, index / 20);
        let is_white = column < 10 && row >= 15;
        assert_eq!(*pixel, if is_white { 255 } else { 7 }, "{column} {row}");
    }
    // On both pages, as a whole: nothing of it is left.
    let all = [50.0, 50.0, 150.0, 150.0];
    let made = redacted(&file, &[region(1, all), region(2, all)]).expect("a file");
    assert!(!plain(&made).contains("/Image"));
    let gone = redacted(&file, &[region(1, all)]).expect("a file");
    let found = read_pictures(&gone, Some("1"), &Limits::default(), &|| {}).expect("pictures");
    assert!(
        found.files.is_empty(),
        "page 1 shows none, and its resources have none"
    );
}

#[test]
fn jpeg_files_lose_whole_blocks_and_masks_their_shape() {
    let mut jpeg = Vec::new();
    let pixels: Vec<u8> = (0..64 * 64)
        .map(|index| if index / 64 % 2 == 0 { 0 } else { 90 })
        .collect();
    jpeg_encoder::Encoder::new(&mut jpeg, 90)
        .encode(&pixels, 64, 64, jpeg_encoder::ColorType::Luma)
        .expect("a picture");
    let mask = Stream::new(
        dictionary! {
            "Type" => "XObject", "Subtype" => "Image", "Width" => 8, "Height" => 8,
            "ColorSpace" => "DeviceGray", "BitsPerComponent" => 1,
        },
        vec![0b1010_1010; 8],
    );
    let picture = Stream::new(
        dictionary! {
            "Type" => "XObject", "Subtype" => "Image", "Width" => 64, "Height" => 64, "Filter" => "DCTDecode",
            "ColorSpace" => "DeviceGray", "BitsPerComponent" => 8, "SMask" => Object::Reference((101, 0)),
        },
        jpeg.clone(),
    );
    let resources = dictionary! { "XObject" => dictionary! { "P" => Object::Reference((100, 0)) } };
    let file = built(
        &["q 128 0 0 128 20 20 cm /P Do Q"],
        resources,
        vec![picture.into(), mask.into()],
    );
    let made = redacted(&file, &[region(1, [20.0, 20.0, 50.0, 50.0])]).expect("a file");
    let document = Document::load_mem(&made).expect("a file");
    let pictures: Vec<&Stream> = (document.objects.values())
        .filter_map(|object| object.as_stream().ok())
        .filter(|stream| stream.dict.has(b"Width"))
        .collect();
    assert_eq!(pictures.len(), 2, "the old ones are gone");
    for picture in pictures {
        if picture.dict.has(b"SMask") {
            assert_ne!(picture.content, jpeg);
            continue;
        }
        // Two pixels of eight both ways, from the lower left corner, are transparent.
        let rows = picture.decompressed_content().expect("rows");
        assert_eq!(rows[..6], [0b1010_1010; 6]);
        assert_eq!(rows[6..8], [0b0010_1010; 2]);
    }
}

#[test]
fn what_hangs_on_a_picture_goes_even_if_its_pixels_show_nothing() {
    let resources = dictionary! { "XObject" => dictionary! { "P" => Object::Reference((100, 0)) } };
    let draw = "q 100 0 0 100 50 50 cm /P Do Q";
    let mut white = picture(255);
    for key in ["Alternates", "Metadata", "AF", "PieceInfo"] {
        white.dict.set(key, Object::Reference((101, 0)));
    }
    let more = Stream::new(dictionary! {}, b"secret".to_vec());
    let file = built(&[draw], resources, vec![white.into(), more.into()]);
    assert!(plain(&file).contains("secret"));
    let made = redacted(&file, &[region(1, [50.0, 50.0, 100.0, 75.0])]).expect("a file");
    let said = plain(&made);
    assert!(
        !said.contains("secret") && said.contains("/Image"),
        "{said}"
    );
}

#[test]
fn a_stencil_that_a_pattern_paints_is_refused() {
    let cell = Stream::new(
        dictionary! {
            "PatternType" => 1, "PaintType" => 1, "TilingType" => 1, "XStep" => 100, "YStep" => 100,
            "BBox" => vec![0.into(), 0.into(), 100.into(), Object::from(100)],
            "Resources" => dictionary! { "Font" => dictionary! { "F" => Object::Reference((90, 0)) } },
        },
        b"BT /F 10 Tf 20 20 Td (secret) Tj ET".to_vec(),
    );
    let stencil = Stream::new(
        dictionary! {
            "Type" => "XObject", "Subtype" => "Image", "Width" => 8, "Height" => 8,
            "ImageMask" => true, "BitsPerComponent" => 1,
        },
        vec![0; 8],
    );
    let resources = dictionary! {
        "XObject" => dictionary! { "P" => Object::Reference((100, 0)) },
        "Pattern" => dictionary! { "T" => Object::Reference((101, 0)) },
    };
    let draw = "/Pattern cs /T scn q 100 0 0 100 50 50 cm /P Do Q";
    let file = built(
        &[draw],
        resources.clone(),
        vec![stencil.clone().into(), cell.clone().into()],
    );
    for area in [[50.0, 50.0, 100.0, 75.0], [40.0, 40.0, 160.0, 160.0]] {
        refused(&file, &[region(1, area)], "a pattern of drawings");
    }
    // In a color it is a picture as others are.
    let plain_color = built(
        &["0 g q 100 0 0 100 50 50 cm /P Do Q"],
        resources,
        vec![stencil.into(), cell.into()],
    );
    let made = redacted(&plain_color, &[region(1, [40.0, 40.0, 160.0, 160.0])]);
    assert!(!plain(&made.expect("a file")).contains("/ImageMask"));
}

#[test]
fn pictures_of_inks_and_inverted_ones_become_white() {
    let resources = dictionary! { "XObject" => dictionary! { "P" => Object::Reference((100, 0)) } };
    let mut inverted = picture(7);
    inverted.dict.set("Decode", vec![1.into(), Object::from(0)]);
    let mut inks = picture(7);
    inks.dict.set("ColorSpace", "DeviceCMYK");
    inks.set_content(vec![7; 1_600]);
    for (picture, blank) in [(inverted, 0), (inks, 0), (picture(7), 255)] {
        let draw = "q 100 0 0 100 50 50 cm /P Do Q";
        let file = built(&[draw], resources.clone(), vec![picture.into()]);
        let made = redacted(&file, &[region(1, [50.0, 100.0, 160.0, 160.0])]).expect("a file");
        let document = Document::load_mem(&made).expect("a file");
        let mut all = document.objects.values();
        let rows = all.find_map(|object| {
            let stream = object.as_stream().ok()?;
            stream
                .dict
                .has(b"Width")
                .then(|| stream.decompressed_content())
        });
        let rows = rows.expect("a picture").expect("rows");
        assert_eq!((rows[0], rows[rows.len() - 1]), (blank, 7));
    }
}
