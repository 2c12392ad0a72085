//! Pages of PDF files, drawn in sandboxes.

use std::path::PathBuf;

use platen_engine::{Engine, IsolationSettings};
use platen_fault::Code;
use platen_fonts::FontSettings;
use platen_render::{Format, RenderOptions};

use crate::{inline, options};

fn engine() -> Engine {
    Engine::new(&FontSettings::default())
}

/// Columns, and the red, green and blue of each pixel.
fn pixels(png: &[u8]) -> (u32, Vec<[u8; 3]>) {
    let decoder = png::Decoder::new(std::io::Cursor::new(png));
    let mut reader = decoder.read_info().expect("a PNG");
    let mut samples = vec![0; reader.output_buffer_size().expect("a size")];
    let found = reader.next_frame(&mut samples).expect("pixels");
    let parts = found.color_type.samples();
    let all = samples[..found.buffer_size()].chunks_exact(parts);
    let all = all.map(|one| [one[0], one[parts / 2], one[parts.min(3) - 1]]);
    (found.width, all.collect())
}

/// Mean difference of the parts of colors, of 255.
fn difference(one: &[[u8; 3]], other: &[[u8; 3]]) -> f64 {
    let parts = one.as_flattened().iter().zip(other.as_flattened());
    let sum: u64 = parts.map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / (one.len() * 3) as f64
}

/// The PDF and the first page as our own picture.
fn example(engine: &Engine, name: &str) -> (Vec<u8>, Vec<u8>) {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let folder = root.join("examples").join(name);
    let source = std::fs::read(folder.join("template.json")).expect("a template");
    let data = std::fs::read_to_string(folder.join("data.json")).expect("data");
    let options = RenderOptions {
        assets: Some(folder),
        dots_per_inch: Some(144.0),
        ..options()
    };
    let made = inline(
        engine,
        &source,
        &data,
        &[Format::Pdf, Format::Png],
        &options,
    );
    let mut made = made.expect("documents");
    let picture = made.pop().expect("a picture").bytes;
    (made.pop().expect("a PDF").bytes, picture)
}

pub fn pages_look_like_our_own_pictures() {
    let engine = engine();
    for name in ["invoice-de", "bench-report"] {
        let (file, ours) = example(&engine, name);
        let drawn = engine.draw_pages(&file, Some("1"), 144.0, None);
        let drawn = drawn.expect("pages");
        assert_eq!((drawn.len(), drawn[0].page), (1, 1), "{name}");
        let ((across, ours), (columns, drawn)) = (pixels(&ours), pixels(&drawn[0].png));
        assert_eq!((across, ours.len()), (columns, drawn.len()), "{name}");
        let blank = vec![[255; 3]; ours.len()];
        let (apart, from_blank) = (difference(&ours, &drawn), difference(&ours, &blank));
        assert!(
            apart < from_blank / 3.0,
            "{name}: {apart} from ours, {from_blank} from an empty page"
        );
    }
}

pub fn pages_come_in_the_order_in_which_they_are_named() {
    let engine = engine();
    let (file, _) = example(&engine, "bench-report");
    let drawn = engine.draw_pages(&file, Some("3,1"), 20.0, None);
    let numbers: Vec<u32> = drawn.expect("pages").iter().map(|it| it.page).collect();
    assert_eq!(numbers, [3, 1]);
    let again = |dpi| engine.draw_pages(&file, Some("2"), dpi, None);
    let (one, other) = (again(50.0).expect("a page"), again(50.0).expect("a page"));
    assert!(one == other, "the same input gives the same bytes");
    let code = |pages, dpi| {
        let drawn = engine.draw_pages(&file, pages, dpi, None);
        drawn.expect_err("no pages").code()
    };
    assert!(matches!(code(Some("99"), 96.0), Code::InvalidOption));
    assert!(matches!(code(None, 9.0), Code::InvalidOption));
    assert!(matches!(code(None, f32::NAN), Code::InvalidOption));
    assert!(matches!(code(Some("1"), 1200.0), Code::TooLarge(..)));
}

/// A file of one page with this content and these entries of its resources.
fn file(content: &str, resources: &str, more: &[String]) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R \
             /Resources << {resources} >> >>"
        ),
        format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ),
    ];
    objects.extend_from_slice(more);
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut table = String::from("0000000000 65535 f \n");
    for (index, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).bytes());
    }
    let (start, count) = (file.len(), objects.len() + 1);
    file.extend(
        format!(
            "xref\n0 {count}\n{table}trailer << /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
        )
        .bytes(),
    );
    file
}

fn form(entries: &str, content: &str) -> String {
    let length = content.len();
    format!("<< {entries} /Length {length} >>\nstream\n{content}\nendstream")
}

/// Forms that draw the next one ten times: ten to the power of `levels` squares.
fn doubling(levels: usize) -> Vec<u8> {
    let entries = |next: usize| {
        format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 300 300] \
             /Resources << /XObject << /F {next} 0 R >> >>"
        )
    };
    let mut more: Vec<String> = (0..levels)
        .map(|level| form(&entries(6 + level), &"/F Do ".repeat(10)))
        .collect();
    more.push(form(&entries(5 + levels), "0 0 300 300 re f"));
    file("/F Do", "/XObject << /F 5 0 R >>", &more)
}

pub fn hostile_pages_end() {
    let settings = IsolationSettings {
        cpu_ms: 2_000,
        wall_ms: 20_000,
        memory_bytes: 256 << 20,
        ..IsolationSettings::default()
    };
    let engine = engine().with_pages_in(settings);
    let draw = |file: &[u8]| engine.draw_pages(file, None, 150.0, None);
    draw(&file("0 0 100 100 re f", "", &[])).expect("a page");
    let error = draw(&doubling(9)).expect_err("a billion squares");
    assert!(
        matches!(error.code(), Code::CpuLimit(..) | Code::MemoryLimit(..)),
        "{error}"
    );
    let itself = form(
        "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F 5 0 R >> >>",
        "/F Do",
    );
    // It may be drawn as nothing, or refused.
    if let Err(error) = draw(&file("/F Do", "/XObject << /F 5 0 R >>", &[itself])) {
        assert!(!matches!(error.code(), Code::InternalError), "{error}");
    }
    let tiles = "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] \
                 /XStep 0.0001 /YStep 0.0001 /Resources << >>";
    let tiles = form(tiles, "0 0 1 1 re f");
    let content = "/Pattern cs /P scn 0 0 300 300 re f";
    if let Err(error) = draw(&file(content, "/Pattern << /P 5 0 R >>", &[tiles])) {
        assert!(!matches!(error.code(), Code::InternalError), "{error}");
    }
    // The next file is drawn as if nothing had happened.
    draw(&file("0 0 100 100 re f", "", &[])).expect("a page");
    let error = draw(b"%PDF-1.7 nothing").expect_err("no file");
    assert!(matches!(error.code(), Code::DocumentDamaged), "{error}");
}
