//! A fontconfig configuration for programs that Platen starts: the shipped fonts, the configured
//! font folders, and the system's fonts if enabled. The system's own configuration is ignored, so
//! that a family name selects the same font on every machine.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{FontSettings, SHIPPED, STAND_INS, font_files, system_font_folders};

/// Families behind generic names, and other names of shipped families.
const GENERIC: [(&str, &[&str]); 7] = [
    ("Noto Sans JP", &["Noto Sans CJK JP"]),
    (
        "sans-serif",
        &["Liberation Sans", "Noto Sans Arabic", "Noto Sans CJK JP"],
    ),
    ("sans", &["Liberation Sans"]),
    ("serif", &["Liberation Serif"]),
    ("monospace", &["Liberation Mono"]),
    ("mono", &["Liberation Mono"]),
    ("system-ui", &["Liberation Sans"]),
];
/// Timeout of `fc-cache`.
const CACHE_TIME: Duration = Duration::from_secs(20);
/// How often to check whether it has exited.
const CACHE_PAUSE: Duration = Duration::from_millis(10);

/// Fonts installed for programs.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Value of the environment variable `FONTCONFIG_FILE`.
    pub configuration: PathBuf,
    /// Folders that must be visible to a program in a sandbox.
    pub folders: Vec<PathBuf>,
}

/// Writes the shipped fonts and a configuration below `place`, which must exist as long as the
/// programs run. Takes tens of milliseconds; longer if `fc-cache` is installed and fills the cache.
///
/// # Errors
/// The files cannot be written.
pub fn install(settings: &FontSettings, place: &Path) -> io::Result<Installed> {
    let shipped = place.join("shipped");
    let cache = place.join("cache");
    fs::create_dir_all(&shipped)?;
    fs::create_dir_all(&cache)?;
    for (name, bytes) in SHIPPED {
        fs::write(shipped.join(name), bytes)?;
    }
    let mut own = vec![shipped];
    own.extend(
        settings
            .folders
            .iter()
            .filter_map(|it| it.canonicalize().ok()),
    );
    let mut others = Vec::new();
    if settings.system {
        others.extend(system_font_folders().into_iter().filter(|it| it.is_dir()));
    }
    let configuration = place.join("fonts.conf");
    fs::write(&configuration, text(&own, &others, &cache))?;
    read_ahead(&configuration);
    let folders = others.into_iter().chain(own.into_iter().skip(1));
    Ok(Installed {
        configuration,
        folders: std::iter::once(place.to_owned()).chain(folders).collect(),
    })
}

/// The configuration, see fonts-conf(5).
fn text(own: &[PathBuf], others: &[PathBuf], cache: &Path) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"urn:fontconfig:fonts.dtd\">\n<fontconfig>\n",
    );
    for folder in own.iter().chain(others) {
        line(
            &mut text,
            &format!("<dir>{}</dir>", escaped(&folder.display())),
        );
    }
    line(
        &mut text,
        &format!("<cachedir>{}</cachedir>", escaped(&cache.display())),
    );
    // The system's cache, for the system's own font folders.
    line(&mut text, "<cachedir>/var/cache/fontconfig</cachedir>");
    line(&mut text, "<selectfont>");
    // Platen's own fonts regardless of their names: accept patterns take precedence over reject
    // patterns.
    for file in font_files(own) {
        let file = escaped(&file.display());
        line(
            &mut text,
            &format!("<acceptfont>{}</acceptfont>", pattern("file", &file)),
        );
    }
    for (family, others) in STAND_INS {
        for name in std::iter::once(&family).chain(others) {
            line(
                &mut text,
                &format!("<rejectfont>{}</rejectfont>", pattern("family", name)),
            );
        }
    }
    // LibreOffice embeds these formats differently from process to process, and no browser supports
    // them.
    let formats = ["Type 1", "PCF", "BDF"].map(|format| pattern("fontformat", format));
    for format in formats {
        line(&mut text, &format!("<rejectfont>{format}</rejectfont>"));
    }
    line(&mut text, "</selectfont>");
    for (family, others) in STAND_INS {
        for name in others {
            line(&mut text, &alias(name, &[family], "same"));
        }
    }
    for (name, families) in GENERIC {
        line(&mut text, &alias(name, families, "strong"));
    }
    // Fallback for unknown families.
    line(&mut text, &last("Liberation Sans"));
    // Hinting rounds the widths of letters to whole pixels, and Chromium would print with these.
    line(
        &mut text,
        "<match target=\"pattern\"><edit name=\"hinting\" mode=\"assign\"><bool>false</bool></edit></match>",
    );
    text.push_str("</fontconfig>\n");
    text
}

fn line(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn escaped(value: &impl std::fmt::Display) -> String {
    let text = value.to_string();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn pattern(element: &str, value: &str) -> String {
    format!("<pattern><patelt name=\"{element}\"><string>{value}</string></patelt></pattern>")
}

/// A family that is present takes precedence; otherwise `families` replace it.
fn alias(name: &str, families: &[&str], binding: &str) -> String {
    let families: String = families
        .iter()
        .map(|family| format!("<string>{family}</string>"))
        .collect();
    format!(
        "<match target=\"pattern\"><test qual=\"any\" name=\"family\" ignore-blanks=\"true\">\
         <string>{name}</string></test><edit name=\"family\" mode=\"append\" binding=\"{binding}\">\
         {families}</edit></match>"
    )
}

fn last(family: &str) -> String {
    format!(
        "<match target=\"pattern\"><edit name=\"family\" mode=\"append_last\" binding=\"weak\">\
         <string>{family}</string></edit></match>"
    )
}

/// Has fontconfig's own program fill the cache, so that no process does so when it starts. If the
/// program is missing or too slow, the processes do it themselves.
fn read_ahead(configuration: &Path) {
    let started = Command::new("fc-cache")
        .env("FONTCONFIG_FILE", configuration)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut program) = started else { return };
    let end = Instant::now() + CACHE_TIME;
    while let Ok(None) = program.try_wait() {
        if Instant::now() >= end {
            let _ = program.kill();
            let _ = program.wait();
            return;
        }
        std::thread::sleep(CACHE_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file that fontconfig finds for a family, if its program is installed.
    fn matched(installed: &Installed, family: &str) -> Option<String> {
        let found = Command::new("fc-match")
            .args(["-f", "%{file}", family])
            .env("FONTCONFIG_FILE", &installed.configuration)
            .output();
        found
            .ok()
            .map(|it| String::from_utf8_lossy(&it.stdout).into_owned())
    }

    #[test]
    fn names_mean_the_shipped_fonts_unless_a_folder_has_them() {
        let place = tempfile::tempdir().unwrap();
        for system in [false, true] {
            let settings = FontSettings {
                folders: Vec::new(),
                system,
            };
            let installed = install(&settings, &place.path().join(system.to_string())).unwrap();
            for (family, file) in [
                ("Arial", "LiberationSans-Regular.ttf"),
                ("Helvetica:bold", "LiberationSans-Bold.ttf"),
                ("Times New Roman:italic", "LiberationSerif-Italic.ttf"),
                ("Courier New", "LiberationMono-Regular.ttf"),
                ("sans-serif", "LiberationSans-Regular.ttf"),
                ("monospace", "LiberationMono-Regular.ttf"),
                ("No Such Family", "LiberationSans-Regular.ttf"),
                ("Noto Sans CJK JP", "NotoSansJP-Regular.otf"),
                ("Noto Sans JP", "NotoSansJP-Regular.otf"),
            ] {
                match matched(&installed, family) {
                    Some(found) => assert!(found.ends_with(file), "{family}: {found}"),
                    None => assert_ne!(std::env::var("REQUIRE_ALL").as_deref(), Ok("1")),
                }
            }
        }
    }

    #[test]
    fn a_folder_wins() {
        let place = tempfile::tempdir().unwrap();
        // A folder with a font that has the name of a shipped one.
        let folder = place.path().join("corporate & own");
        fs::create_dir_all(&folder).unwrap();
        let (_, bytes) = SHIPPED[1];
        fs::write(folder.join("own.ttf"), bytes).unwrap();
        let settings = FontSettings {
            folders: vec![folder.clone()],
            system: false,
        };
        let installed = install(&settings, &place.path().join("fonts")).unwrap();
        let text = fs::read_to_string(&installed.configuration).unwrap();
        assert!(text.contains("corporate &amp; own/own.ttf"), "{text}");
        assert!(installed.folders.contains(&folder.canonicalize().unwrap()));
    }
}
