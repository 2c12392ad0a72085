//! Studio, the page for authors: its files, as plain ES modules that browsers run unchanged.
//!
//! `vendor-` files in `web` are copies of published packages; `web/README.md` names them.

mod assets;

use self::assets::{ASSETS, GALLERY};

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

/// All files besides the page, with those of the gallery.
pub fn files() -> impl Iterator<Item = &'static Asset> {
    ASSETS.iter().chain(GALLERY.iter().flatten())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

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
