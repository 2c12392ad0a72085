//! Fonts that are stored beside the templates that use them: each document gets those of the
//! families that it names, behind all fonts of the renderer, so that no other document changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parking_lot::Mutex;
use platen_document::{Host, bound::Document, pins::Pins};
use platen_layout::FontLibrary;

/// Most font files that a document gets.
const MAX_FILES: usize = 32;
/// Size of all font files that a document gets.
const MAX_BYTES: usize = 64 << 20;
/// Libraries that are kept for later documents. Each holds its files in memory.
const MAX_KEPT: usize = 8;

/// The libraries of documents with stored fonts, by the names of the files with their versions,
/// whose content does not change.
#[derive(Debug, Default)]
pub(crate) struct StoredFonts {
    kept: Mutex<Vec<(Vec<String>, Arc<FontLibrary>)>>,
}

impl StoredFonts {
    /// `fonts` with the stored fonts of the families that `document` names and `fonts` does not
    /// have. `None` if there are none.
    pub(crate) fn of(
        &self,
        fonts: &FontLibrary,
        document: &Document,
        pins: &Pins,
        host: &dyn Host,
    ) -> Option<Arc<FontLibrary>> {
        let styles = document.styles.iter();
        let families: BTreeSet<&str> = styles
            .flat_map(|(_, style)| style.font_families.iter().map(String::as_str))
            .filter(|family| !fonts.has_own_family(family))
            .collect();
        let mut files = BTreeMap::new();
        let mut size = 0;
        for family in families {
            let names = pins.fonts(family).unwrap_or_else(|| host.fonts(family));
            for name in names {
                if files.len() >= MAX_FILES || files.contains_key(&name) {
                    continue;
                }
                // Those that were deleted since are not there, as other assets.
                let Some(bytes) = host.asset(&name) else {
                    continue;
                };
                size += bytes.len();
                if size <= MAX_BYTES {
                    files.insert(name, bytes);
                }
            }
        }
        (!files.is_empty()).then(|| self.library(fonts, files))
    }

    fn library(&self, fonts: &FontLibrary, files: BTreeMap<String, Arc<[u8]>>) -> Arc<FontLibrary> {
        let names: Vec<String> = files.keys().cloned().collect();
        let mut kept = self.kept.lock();
        if let Some(at) = kept.iter().position(|(known, _)| *known == names) {
            let found = kept.remove(at);
            let library = Arc::clone(&found.1);
            kept.push(found);
            return library;
        }
        let files: Vec<(String, Arc<[u8]>)> = files
            .into_iter()
            .map(|(name, bytes)| (format!("stored: {name}"), bytes))
            .collect();
        let library = Arc::new(fonts.extended(&files));
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        kept.push((names, Arc::clone(&library)));
        library
    }
}
