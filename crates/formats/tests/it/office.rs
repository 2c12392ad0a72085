//! Round trips through LibreOffice, if it is installed; with `REQUIRE_ALL=1` it must be.

use platen_fonts::FontSettings;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The text that LibreOffice and pdftotext find in `bytes`. `None`, with a visible message, without
/// LibreOffice.
pub fn text_by_office(bytes: &[u8], name: &str) -> Option<String> {
    let folder = std::env::temp_dir().join(format!("platen-formats-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join(name);
    std::fs::write(&source, bytes).unwrap();
    let pdf = convert(&folder, &source);
    let text = pdf.map(|pdf| {
        let output = Command::new("pdftotext")
            .arg("-layout")
            .arg(&pdf)
            .arg("-")
            .output();
        String::from_utf8_lossy(&output.expect("pdftotext runs").stdout).into_owned()
    });
    let _ = std::fs::remove_dir_all(&folder);
    if text.is_none() {
        assert!(
            std::env::var("REQUIRE_ALL").as_deref() != Ok("1"),
            "LibreOffice is required"
        );
        eprintln!("SKIPPED: soffice or pdftotext is missing");
    }
    text
}

fn convert(folder: &Path, source: &Path) -> Option<PathBuf> {
    Command::new("pdftotext").arg("-v").output().ok()?;
    // The fonts of the service, so that pages break in the same places on every machine.
    let fonts = platen_fonts::install(&FontSettings::default(), &folder.join("fonts"));
    let output = Command::new("soffice")
        .env("FONTCONFIG_FILE", fonts.expect("fonts").configuration)
        .arg(format!(
            "-env:UserInstallation=file://{}/profile",
            folder.display()
        ))
        .args(["--headless", "--convert-to", "pdf", "--outdir"])
        .arg(folder)
        .arg(source)
        .output()
        .ok()?;
    let pdf = source.with_extension("pdf");
    assert!(
        pdf.exists(),
        "LibreOffice: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(pdf)
}

/// Asserts that `text` contains every piece, ignoring spaces.
pub fn assert_holds(text: &str, pieces: &[&str]) {
    let squeeze = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
    };
    let found = squeeze(text);
    for piece in pieces {
        assert!(
            found.contains(&squeeze(piece)),
            "`{piece}` is missing in\n{text}"
        );
    }
}
