//! Studio, the page for authors: its files, which are plain ES modules, and what browsers load.
//!
//! `vendor-` files in `web` are copies of published packages; `web/README.md` names them.

mod assets;
mod bundle;

use std::borrow::Cow;

use self::assets::{ASSETS, GALLERY, SCRIPT, STYLE};

/// The editor of code, a bundle that loads when it is needed.
const CODE_EDITOR: &str = "vendor-codemirror.js";

/// A file of Studio.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Name below `/studio/`.
    pub name: &'static str,
    /// Media type.
    pub media_type: &'static str,
    /// Content.
    pub bytes: &'static [u8],
}

/// The page that loads the others.
pub const INDEX: Asset = Asset {
    name: "index.html",
    media_type: "text/html; charset=utf-8",
    bytes: include_bytes!("../web/index.html"),
};

/// Content security policy of the page: its own files only. Pictures of pages are blobs, and a PDF
/// is shown in a frame of a blob.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
    style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; \
    frame-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// [`CONTENT_SECURITY_POLICY`], for a page that pages of these origins may frame.
#[must_use]
pub fn policy_for_frames(ancestors: &[String]) -> String {
    let (start, _) = CONTENT_SECURITY_POLICY
        .rsplit_once("frame-ancestors ")
        .unwrap_or_default();
    let ancestors = match ancestors {
        [] => "'none'".to_owned(),
        some => some.join(" "),
    };
    format!("{start}frame-ancestors {ancestors}")
}

/// The scripts that browsers load, each with the modules that it imports.
const SCRIPTS: [&str; 3] = ["main.js", "schema-de.js", "text-de.js"];
/// The style sheet that browsers load, and those that it is made of.
const SHEET: &str = "studio.css";
const SHEETS: [&str; 4] = ["tokens.css", "parts.css", "editor.css", "work.css"];

/// A file that browsers load.
#[derive(Clone, Debug)]
pub struct Served {
    /// Name below `/studio/`.
    pub name: &'static str,
    /// Media type.
    pub media_type: &'static str,
    /// Content.
    pub bytes: Cow<'static, [u8]>,
}

impl Served {
    /// The content by brotli at its highest level, which takes seconds for a megabyte.
    #[must_use]
    pub fn brotli(&self) -> Vec<u8> {
        let parameters = brotli::enc::BrotliEncoderParams {
            quality: 11,
            size_hint: self.bytes.len(),
            ..Default::default()
        };
        let mut packed = Vec::new();
        // Neither reading from memory nor writing to it fails.
        let done = brotli::BrotliCompress(&mut &self.bytes[..], &mut packed, &parameters);
        done.map(|_| packed).unwrap_or_default()
    }
}

/// All files besides the page, with those of the gallery, as browsers load them: modules as one
/// script, style sheets as one, without comments and with short names. It takes some 50 ms.
///
/// # Errors
/// Modules cannot be joined.
pub fn files() -> Result<Vec<Served>, String> {
    let texts = ASSETS.iter().filter_map(|asset| {
        let text = std::str::from_utf8(asset.bytes).ok()?;
        Some((asset.name, text))
    });
    let texts: Vec<(&str, &str)> = texts.collect();
    let mut served = Vec::new();
    for name in SCRIPTS {
        served.push(Served {
            name,
            media_type: SCRIPT,
            bytes: bundle::link(&texts, name)?.into_bytes().into(),
        });
    }
    let sheets = SHEETS
        .iter()
        .filter_map(|name| texts.iter().find(|(of, _)| of == name));
    let sheets: Vec<&str> = sheets.map(|(_, text)| *text).collect();
    served.push(Served {
        name: SHEET,
        media_type: STYLE,
        bytes: bundle::joined(&sheets).into_bytes().into(),
    });
    let alone = ASSETS.iter().filter(|asset| {
        let is_joined = asset.media_type == STYLE || asset.media_type == SCRIPT;
        !is_joined || asset.name == CODE_EDITOR
    });
    let alone = alone.chain(GALLERY.iter().flatten());
    served.extend(alone.map(|asset| Served {
        name: asset.name,
        media_type: asset.media_type,
        bytes: asset.bytes.into(),
    }));
    Ok(served)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn browsers_load_few_files() {
        let served = files().unwrap();
        let names: Vec<&str> = served.iter().map(|one| one.name).collect();
        assert_eq!(
            names[..6],
            [
                "main.js",
                "schema-de.js",
                "text-de.js",
                "studio.css",
                "icon.svg",
                CODE_EDITOR
            ]
        );
    }

    /// Bytes by brotli of everything that a session in one language may load, but the editor of code
    /// and the templates of the gallery, which are content.
    const MAX_PACKED_BYTES: usize = 80_499;

    #[test]
    fn studio_stays_small() {
        let index = Served {
            name: INDEX.name,
            media_type: INDEX.media_type,
            bytes: INDEX.bytes.into(),
        };
        let mut all = files().unwrap();
        all.push(index);
        let is_counted = |one: &&Served| {
            let is_german = ["schema-de.js", "text-de.js"].contains(&one.name);
            !one.name.starts_with("gallery-") && one.name != CODE_EDITOR && !is_german
        };
        let sizes = all.iter().filter(is_counted);
        let sizes: Vec<(&str, usize)> = sizes.map(|one| (one.name, one.brotli().len())).collect();
        println!("{sizes:?}");
        let sum: usize = sizes.iter().map(|(_, size)| size).sum();
        assert!(sum <= MAX_PACKED_BYTES, "{sum} bytes: {sizes:?}");
    }

    #[test]
    fn every_file_is_served() {
        let web = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("web");
        let entries = std::fs::read_dir(web).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let is_served = |name: &String| {
            ![".html", ".md", ".txt", ".d.ts"]
                .iter()
                .any(|end| name.ends_with(end))
        };
        let mut there: Vec<String> = names.filter(is_served).collect();
        there.sort();
        let served: Vec<&str> = ASSETS.iter().map(|asset| asset.name).collect();
        assert_eq!(served, there, "`assets.rs` lists the files");
    }

    #[test]
    fn every_export_says_what_it_is() {
        let own = ASSETS.iter().filter(|one| !one.name.starts_with("vendor-"));
        for asset in own.filter(|one| one.media_type.starts_with("text/javascript")) {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                let is_list = pair[1].starts_with("export {");
                let is_said = !pair[1].starts_with("export ") || is_list || pair[0].ends_with("*/");
                assert!(is_said, "{}: {}", asset.name, pair[1]);
            }
        }
    }

    /// The texts of calls such as `t("Add")` in a script.
    fn texts<'a>(script: &'a str, call: &str) -> Vec<&'a str> {
        let calls = script.split(call).skip(1);
        let of_call = calls.filter_map(|rest| {
            let rest = rest
                .split_once('"')
                .filter(|(before, _)| before.is_empty())?
                .1;
            let mut is_escaped = false;
            let end = rest.find(|letter| {
                let is_end = letter == '"' && !is_escaped;
                is_escaped = letter == '\\' && !is_escaped;
                is_end
            });
            end.map(|end| &rest[..end])
        });
        of_call.collect()
    }

    #[test]
    fn every_text_has_a_german_one() {
        let text = |asset: &Asset| std::str::from_utf8(asset.bytes).unwrap();
        let catalogues = ASSETS.iter().filter(|one| one.name.starts_with("text-de"));
        let catalogues: Vec<&str> = catalogues.map(text).collect();
        let own = ASSETS.iter().filter(|one| !one.name.starts_with("vendor-"));
        let mut seen = 0;
        for asset in own.filter(|one| one.name.ends_with(".js") && !one.name.starts_with("text-")) {
            let script = text(asset);
            let calls = ["{t(", " t(", "(t(", "[t(", "!t("];
            for english in calls.iter().flat_map(|call| texts(script, call)) {
                let entry = format!("  \"{english}\": \"");
                let word = format!("  {english}: \"");
                let has = |one: &str| one.contains(&entry) || one.contains(&word);
                assert!(
                    catalogues.iter().any(|one| has(one)),
                    "{}: {english}",
                    asset.name
                );
                seen += 1;
            }
        }
        assert!(seen > 400, "{seen}");
    }

    #[test]
    fn every_filter_has_a_german_description() {
        let find = |name: &str| ASSETS.iter().find(|asset| asset.name == name);
        let text = |name: &str| std::str::from_utf8(find(name).unwrap().bytes).unwrap();
        let of_line = |line: &'static str| line.strip_prefix("  [")?.strip_suffix("],");
        let filters = text("filters.js").lines().filter_map(of_line);
        let english: Vec<&str> = filters
            .map(|line| line.rsplit("\", \"").next().unwrap())
            .collect();
        let german = text("schema-de-filters.js").lines();
        let german: Vec<&str> = german
            .filter_map(|line| line.strip_prefix("  \""))
            .collect();
        assert!(english.len() > 40 && english.len() == german.len());
        for (english, entry) in english.iter().zip(german) {
            assert!(
                entry.starts_with(&format!("{english}: ")),
                "{english} {entry}"
            );
        }
    }

    #[test]
    fn the_gallery_has_the_templates_that_it_names() {
        let list = ASSETS.iter().find(|asset| asset.name == "gallery.js");
        let list = std::str::from_utf8(list.unwrap().bytes).unwrap();
        let mut named: Vec<String> = (list.split("{\"key\": \"").skip(1))
            .map(|rest| rest.split('"').next().unwrap())
            .flat_map(|key| ["template", "data"].map(|part| format!("gallery-{key}-{part}.json")))
            .collect();
        named.sort();
        let mut carried: Vec<&str> = GALLERY.iter().flatten().map(|one| one.name).collect();
        carried.sort_unstable();
        assert_eq!(named, carried);
    }

    #[test]
    fn the_page_has_no_code_and_no_style_in_it_and_loads_nothing_from_elsewhere() {
        let index = std::str::from_utf8(INDEX.bytes).unwrap();
        assert!(!index.contains("<style") && !index.contains(" style="));
        for part in index.split("<script").skip(1) {
            assert!(part.starts_with(" type=\"module\" src=\""), "{part}");
        }
        let own = ASSETS.iter().filter(|one| !one.name.starts_with("vendor-"));
        for asset in own.chain([&INDEX]) {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            let name = asset.name;
            assert!(
                !text.contains("http://") && !text.contains("https://"),
                "{name}"
            );
            assert!(!text.contains("innerHTML"), "{name} writes markup");
            let lines = text.lines().count();
            assert!(lines <= 500, "{name} has {lines} lines: one idea a file");
        }
    }
}
