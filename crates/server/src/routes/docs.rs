//! The API documentation page and its files.

use std::sync::LazyLock;

use axum::{extract::Path, response::Response};
use hyper::{
    HeaderMap, Method,
    header::{CONTENT_SECURITY_POLICY, HeaderValue},
};
use platen_fault::{Code, Resource};

use super::page::Page;
use crate::problem::Problem;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Content security policy of the page: it loads only its own files, and shows images in responses
/// as blobs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'";
/// The files must match each other: browsers revalidate each one, usually with a 304.
const CACHE: &str = "no-cache";

macro_rules! page_file {
    ($name:literal, $media_type:expr) => {
        (
            $name,
            $media_type,
            include_bytes!(concat!("../openapi/docs/", $name)).as_slice(),
        )
    };
}

/// Name, media type and bytes of each file.
const FILES: &[(&str, &str, &[u8])] = &[
    page_file!("style.css", STYLE),
    page_file!("parts.css", STYLE),
    page_file!("icon.svg", "image/svg+xml"),
    page_file!("main.js", SCRIPT),
    page_file!("element.js", SCRIPT),
    page_file!("prose.js", SCRIPT),
    page_file!("description.js", SCRIPT),
    page_file!("navigation.js", SCRIPT),
    page_file!("settings.js", SCRIPT),
    page_file!("start.js", SCRIPT),
    page_file!("operation.js", SCRIPT),
    page_file!("schema.js", SCRIPT),
    page_file!("sample.js", SCRIPT),
    page_file!("form.js", SCRIPT),
    page_file!("body.js", SCRIPT),
    page_file!("send.js", SCRIPT),
    page_file!("curl.js", SCRIPT),
    page_file!("answer.js", SCRIPT),
    page_file!("json.js", SCRIPT),
];

static INDEX: LazyLock<Page> =
    LazyLock::new(|| Page::new(include_bytes!("../openapi/docs/index.html").to_vec()));
static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let bytes = FILES.iter().map(|(_, _, bytes)| bytes.to_vec());
    bytes.map(Page::new).collect()
});

/// The documentation page.
pub(crate) async fn get_docs(method: Method, headers: HeaderMap) -> Response {
    let mut response = INDEX.answer(&method, &headers, "text/html; charset=utf-8", CACHE);
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

/// A file of the documentation page.
pub(crate) async fn get_docs_file(
    method: Method,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let place = FILES.iter().position(|(known, ..)| *known == name);
    let found = place.and_then(|place| Some((FILES.get(place)?, PAGES.get(place)?)));
    let Some(((_, media_type, _), page)) = found else {
        let detail = "the page has no such file; GET /docs is the page";
        return Err(Problem::new(Code::NotFound(Resource::Path), detail));
    };
    Ok(page.answer(&method, &headers, media_type, CACHE))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::FILES;

    #[test]
    fn every_file_of_the_page_is_served() {
        let folder =
            Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("src/openapi/docs");
        let entries = std::fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut there: Vec<String> = names.filter(|name| name != "index.html").collect();
        there.sort();
        let mut served: Vec<&str> = FILES.iter().map(|(name, ..)| *name).collect();
        served.sort_unstable();
        assert_eq!(served, there);
    }

    #[test]
    fn the_page_has_no_code_and_no_style_in_it_and_loads_nothing_from_elsewhere() {
        let index = include_str!("../openapi/docs/index.html");
        assert!(!index.contains("<style") && !index.contains(" style="));
        for part in index.split("<script").skip(1) {
            assert!(part.starts_with(" type=\"module\" src=\""), "{part}");
        }
        let all = FILES.iter().map(|(name, _, bytes)| (*name, *bytes));
        for (name, bytes) in all.chain([("index.html", index.as_bytes())]) {
            let text = std::str::from_utf8(bytes).unwrap();
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(
                !text.contains("http://") && !text.contains("https://"),
                "{name}"
            );
            assert!(
                text.lines().count() <= 500,
                "{name} is one idea, in a short file"
            );
        }
    }
}
