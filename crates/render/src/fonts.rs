//! Fonts of an engine: those shipped with Platen, those of font folders, the system's.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use platen_fonts::{FontSettings, SHIPPED, font_files, is_shipped_family, system_font_folders};
use platen_layout::{FontBytes, FontLibrary, FontPart};

/// Largest font file, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Maps a file of at most this many bytes into memory for the lifetime of the process.
pub type MapFile = fn(&Path, u64) -> io::Result<&'static [u8]>;

/// Loads the fonts that `settings` names. Shipped fonts come first, so that a document looks the
/// same whatever fonts a system has installed.
pub(crate) fn load(settings: &FontSettings) -> FontLibrary {
    load_with(settings, add_file)
}

/// Loads the same fonts into memory, so that nothing is read later: for a process that is about to
/// lose access to its files.
pub(crate) fn load_resident(settings: &FontSettings, map: MapFile) -> FontLibrary {
    load_with(settings, |library, path, wanted| {
        add_mapped(library, &path, wanted, map);
    })
}

/// Predicate that selects font families.
type Wanted = fn(&str) -> bool;

fn load_with(
    settings: &FontSettings,
    add: impl Fn(&mut FontLibrary, PathBuf, Wanted),
) -> FontLibrary {
    let mut library = FontLibrary::default();
    for (name, bytes) in SHIPPED {
        library.add_static(bytes, &format!("shipped: {name}"));
    }
    for path in font_files(&settings.folders) {
        add(&mut library, path, |_| true);
    }
    if settings.system {
        for path in font_files(&system_font_folders()) {
            // A system's copy of a shipped family may differ: the page would look different on the
            // next machine.
            add(&mut library, path, |family| !is_shipped_family(family));
        }
    }
    library
}

fn add_file(library: &mut FontLibrary, path: PathBuf, wanted: Wanted) {
    let Some(names) = read_tables(&path, &[*b"name", *b"OS/2", *b"head", *b"post"]) else {
        return;
    };
    let path: Arc<Path> = path.into();
    let infos = FontLibrary::inspect(&names, &path.display().to_string()).into_iter();
    for info in infos.filter(|info| wanted(&info.family)) {
        let path = Arc::clone(&path);
        library.add(info, move |part| {
            let bytes = match part {
                FontPart::Coverage => read_tables(&path, &[*b"cmap", *b"head", *b"maxp"])?,
                FontPart::All => read_all(&path)?,
            };
            Some(FontBytes::Shared(Arc::new(bytes)))
        });
    }
}

fn add_mapped(library: &mut FontLibrary, path: &Path, wanted: Wanted, map: MapFile) {
    let Ok(bytes) = map(path, MAX_FILE_BYTES) else {
        return;
    };
    let infos = FontLibrary::inspect(bytes, &path.display().to_string()).into_iter();
    for info in infos.filter(|info| wanted(&info.family)) {
        library.add(info, move |_| Some(FontBytes::Static(bytes)));
    }
}

fn read_all(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A sparse copy of a font file: only the table directories and `tables` are filled in, so that
/// reading the names of hundreds of fonts does not read the fonts. Source: OpenType 1.9, "Table
/// directory".
fn read_tables(path: &Path, tables: &[[u8; 4]]) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    if !(12..=MAX_FILE_BYTES).contains(&size) {
        return None;
    }
    let mut bytes = vec![0; size as usize];
    fill(&file, &mut bytes, 0, 12)?;
    let directories = if bytes.starts_with(b"ttcf") {
        let count = number(&bytes, 8)?.min(256);
        fill(&file, &mut bytes, 12, count * 4)?;
        (0..count)
            .filter_map(|index| number(&bytes, 12 + index * 4))
            .collect()
    } else {
        vec![0]
    };
    for directory in directories {
        fill(&file, &mut bytes, directory, 12)?;
        let count = (number(&bytes, directory + 4)? >> 16).min(256);
        fill(&file, &mut bytes, directory + 12, count * 16)?;
        for record in (0..count).map(|index| directory + 12 + index * 16) {
            let tag: [u8; 4] = bytes.get(record..record + 4)?.try_into().ok()?;
            if tables.contains(&tag) {
                let (offset, length) = (number(&bytes, record + 8)?, number(&bytes, record + 12)?);
                // A wrong entry in the directory does not invalidate the other tables.
                let _ = fill(&file, &mut bytes, offset, length);
            }
        }
    }
    Some(bytes)
}

fn fill(file: &File, bytes: &mut [u8], offset: usize, length: usize) -> Option<()> {
    let target = bytes.get_mut(offset..offset.checked_add(length)?)?;
    file.read_exact_at(target, offset as u64).ok()
}

fn number(bytes: &[u8], offset: usize) -> Option<usize> {
    let four: [u8; 4] = bytes.get(offset..offset + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(four) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_families_are_there() {
        let library = load(&FontSettings::default());
        for family in [
            "Liberation Sans",
            "Arial",
            "Times New Roman",
            "Courier New",
            "Noto Sans Arabic",
        ] {
            assert!(library.has_family(family), "{family}");
        }
        assert_eq!(library.faces().count(), SHIPPED.len());
    }

    #[test]
    fn fonts_that_lie_are_passed_over() {
        let folder = std::env::temp_dir().join(format!("platen-fonts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let sound = SHIPPED[0].1;
        let mut lying = sound.to_vec();
        for byte in &mut lying[12..400] {
            *byte = 0xFF;
        }
        std::fs::write(folder.join("lying.ttf"), &lying).unwrap();
        std::fs::write(folder.join("short.ttf"), &sound[..40]).unwrap();
        std::fs::write(folder.join("empty.otf"), b"").unwrap();
        std::fs::write(folder.join("sound.ttf"), sound).unwrap();
        let settings = FontSettings {
            folders: vec![folder.clone()],
            system: false,
        };
        let library = load(&settings);
        assert_eq!(library.faces().count(), SHIPPED.len() + 1);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
