//! Files made by real programs, and checks of results with real programs.

use std::{io::Write, path::Path, process::Command};

use tempfile::{NamedTempFile, TempDir};

/// Whether a program is installed. If not, the test says so and ends, or fails if all programs are
/// required.
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        let required = std::env::var("REQUIRE_ALL").is_ok_and(|it| it == "1");
        assert!(!required, "{program} is needed (REQUIRE_ALL=1)");
        eprintln!("SKIP: {program} is not installed");
    }
    found
}

pub fn has_all(programs: &[&str]) -> bool {
    programs.iter().all(|program| has(program))
}

/// Gives a program the fonts of the service, because a machine may have none of its own.
fn with_fonts(command: &mut Command, folder: &Path) {
    let place = folder.join("fonts");
    let fonts = platen_fonts::install(&platen_fonts::FontSettings::default(), &place);
    command.env("FONTCONFIG_FILE", fonts.expect("fonts").configuration);
}

fn run(command: &mut Command) -> (bool, String) {
    let output = command.output().expect("it starts");
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text += &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("it is written");
    file
}

/// Fails if qpdf finds an error in the file.
pub fn check(bytes: &[u8]) {
    let file = file(bytes);
    let (sound, text) = run(Command::new("qpdf").arg("--check").arg(file.path()));
    assert!(sound && !text.contains("WARNING"), "{text}");
}

/// The text of each page.
pub fn texts(bytes: &[u8]) -> Vec<String> {
    let file = file(bytes);
    let (done, text) = run(Command::new("pdftotext").arg(file.path()).arg("-"));
    assert!(done, "{text}");
    let pages = text.trim_end_matches('\u{c}').split('\u{c}');
    pages.map(|page| page.trim().replace('\n', " ")).collect()
}

/// The words of each page, with where they are: left, top, right and bottom, from the upper left corner.
pub fn words(bytes: &[u8]) -> Vec<(usize, String, [f32; 4])> {
    let file = file(bytes);
    let (done, text) = run(Command::new("pdftotext")
        .args(["-bbox", "-cropbox"])
        .arg(file.path())
        .arg("-"));
    assert!(done, "{text}");
    let mut page = 0;
    let mut found = Vec::new();
    for line in text.lines() {
        page += usize::from(line.trim_start().starts_with("<page "));
        let Some(rest) = line.trim_start().strip_prefix("<word ") else {
            continue;
        };
        let (places, word) = rest.split_once('>').expect("a word");
        let mut numbers = places
            .split('"')
            .skip(1)
            .step_by(2)
            .map(|it| it.parse().expect("a number"));
        let area = [(); 4].map(|()| numbers.next().expect("four numbers"));
        let (word, _) = word.split_once('<').expect("an end");
        found.push((page, word.to_owned(), area));
    }
    found
}

/// The output of pdfinfo with some flags.
pub fn info(bytes: &[u8], flags: &[&str]) -> String {
    let file = file(bytes);
    run(Command::new("pdfinfo").args(flags).arg(file.path())).1
}

/// What qpdf says of an encrypted file that a password opens, and whether it finds it sound.
pub fn encryption(bytes: &[u8], password: &str) -> (bool, String) {
    let file = file(bytes);
    let mut command = Command::new("qpdf");
    command.arg(format!("--password={password}"));
    let (sound, said) = run(command
        .args(["--show-encryption", "--check"])
        .arg(file.path()));
    (sound && !said.contains("WARNING"), said)
}

/// The attached files, as poppler takes them out: name and content.
pub fn attached(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let (from, folder) = (file(bytes), TempDir::new().expect("a folder"));
    let mut command = Command::new("pdfdetach");
    command.arg("-saveall").arg("-o").arg(folder.path());
    let (done, text) = run(command.arg(from.path()));
    assert!(done, "{text}");
    let files = std::fs::read_dir(folder.path()).expect("a folder");
    let mut found: Vec<_> = files
        .map(|file| {
            let file = file.expect("a file");
            let name = file.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(file.path()).expect("it is read"))
        })
        .collect();
    found.sort();
    found
}

/// The pixels of a page, at one for each point: width, height, and red, green and blue of each.
pub fn pixels(bytes: &[u8], page: usize) -> (usize, usize, Vec<u8>) {
    let (from, folder) = (file(bytes), TempDir::new().expect("a folder"));
    let page = page.to_string();
    let mut command = Command::new("pdftoppm");
    command.args(["-r", "72", "-singlefile", "-f", &page]);
    let (done, text) = run(command.arg(from.path()).arg(folder.path().join("page")));
    assert!(done, "{text}");
    let image = std::fs::read(folder.path().join("page.ppm")).expect("a picture");
    let mut parts = image.splitn(4, |byte| byte.is_ascii_whitespace());
    let mut next = || {
        let part = parts.next().expect("a head");
        String::from_utf8_lossy(part).into_owned()
    };
    assert_eq!(next(), "P6");
    let (wide, high) = (
        next().parse().expect("a width"),
        next().parse().expect("a height"),
    );
    let rest = parts.next().expect("pixels");
    let start = rest
        .iter()
        .position(u8::is_ascii_whitespace)
        .expect("a depth")
        + 1;
    (wide, high, rest[start..].to_vec())
}

/// The file as rewritten by qpdf.
pub fn qpdf(bytes: &[u8], flags: &[&str]) -> Vec<u8> {
    let (from, to) = (file(bytes), file(b""));
    let mut command = Command::new("qpdf");
    let (done, text) = run(command.args(flags).arg(from.path()).arg(to.path()));
    assert!(done, "{text}");
    std::fs::read(to.path()).expect("it is read")
}

/// The file as readable text.
pub fn plain(bytes: &[u8]) -> String {
    let flags = ["--qdf", "--object-streams=disable"];
    String::from_utf8_lossy(&qpdf(bytes, &flags)).into_owned()
}

fn html(title: &str, pages: usize) -> String {
    let mut body = String::new();
    for page in 1..=pages {
        let broken = if page > 1 {
            "page-break-before: always"
        } else {
            ""
        };
        body += &format!(
            "<h1 id=\"h{page}\" style=\"{broken}\">{title} page {page}</h1>\
             <p><a href=\"#h1\">to the start</a></p>"
        );
    }
    format!("<!doctype html><html lang=en><title>{title}</title><body>{body}</body></html>")
}

/// A tagged file from Chromium.
pub fn of_chromium(title: &str, pages: usize) -> Vec<u8> {
    let folder = TempDir::new().expect("a folder");
    let (from, to) = (folder.path().join("a.html"), folder.path().join("a.pdf"));
    std::fs::write(&from, html(title, pages)).expect("it is written");
    let mut command = Command::new("chromium-headless-shell");
    with_fonts(&mut command, folder.path());
    command.args(["--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]);
    command.arg(format!(
        "--user-data-dir={}",
        folder.path().join("u").display()
    ));
    command
        .arg(format!("--print-to-pdf={}", to.display()))
        .arg(&from);
    let (_, text) = run(&mut command);
    std::fs::read(&to).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A file from LibreOffice with bookmarks, tags, a form and a comment.
pub fn of_libreoffice(title: &str, pages: usize) -> Vec<u8> {
    let folder = TempDir::new().expect("a folder");
    let from = folder.path().join("a.html");
    let form = "<form><input type=text name=field value=filled></form>";
    let text = html(title, pages).replacen("</h1>", &format!("</h1>{form}"), 1);
    std::fs::write(&from, text).expect("it is written");
    let options = r#"{"UseTaggedPDF":{"type":"boolean","value":"true"},"ExportBookmarks":{"type":"boolean","value":"true"}}"#;
    convert(folder.path(), &from, options)
}

fn convert(folder: &Path, from: &Path, options: &str) -> Vec<u8> {
    let mut command = Command::new("soffice");
    with_fonts(&mut command, folder);
    command.arg(format!(
        "-env:UserInstallation=file://{}/u",
        folder.display()
    ));
    command.args(["--headless", "--norestore", "--infilter=HTML (StarWriter)"]);
    command.args(["--convert-to", &format!("pdf:writer_pdf_Export:{options}")]);
    command.arg("--outdir").arg(folder).arg(from);
    let (_, text) = run(&mut command);
    let made = from.with_extension("pdf");
    std::fs::read(made).unwrap_or_else(|error| panic!("{error}: {text}"))
}
