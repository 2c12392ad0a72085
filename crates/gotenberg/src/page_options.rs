//! Gotenberg's fields on how a page is loaded: waits, media, cookies, extra headers.

use std::collections::BTreeMap;

use platen_browser::{Cookie, ExtraHeader, Media, PageOptions, SameSite, Scope, Wait};
use platen_server::problem::Problem;
use serde::Deserialize;

use crate::{failing::Failing, value::Values};

/// The most extra headers of a page, and the longest expression of a scope, as with Gotenberg: each is
/// tried on each URL that the page loads.
const MAX_EXTRA_HEADERS: usize = 64;
const MAX_SCOPE_BYTES: usize = 1024;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct FormCookie {
    name: String,
    value: String,
    domain: String,
    path: Option<String>,
    secure: Option<bool>,
    http_only: Option<bool>,
    same_site: Option<String>,
}

impl FormCookie {
    /// The cookie, or what is wrong with it.
    fn read(self) -> Result<Cookie, String> {
        let path = self.path.filter(|path| !path.is_empty());
        let path = path.unwrap_or_else(|| "/".to_owned());
        if !path.starts_with('/') {
            return Err(format!("its path '{path}' must begin with '/'"));
        }
        let same_site = match self.same_site.as_deref() {
            None | Some("") => None,
            Some("Strict") => Some(SameSite::Strict),
            Some("Lax") => Some(SameSite::Lax),
            Some("None") => Some(SameSite::None),
            Some(other) => {
                return Err(format!(
                    "its sameSite '{other}' must be 'Strict', 'Lax' or 'None'"
                ));
            }
        };
        Ok(Cookie {
            name: self.name,
            value: self.value,
            domain: without_port(self.domain),
            path,
            secure: self.secure.unwrap_or_default(),
            http_only: self.http_only.unwrap_or_default(),
            same_site,
        })
    }
}

#[derive(Deserialize)]
struct MediaFeature {
    name: String,
    value: String,
}

/// Media features: a list, or an object by their names.
#[derive(Deserialize)]
#[serde(untagged)]
enum MediaFeatures {
    List(Vec<MediaFeature>),
    Named(BTreeMap<String, String>),
}

impl Default for MediaFeatures {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl MediaFeatures {
    fn pairs(self) -> Vec<(String, String)> {
        match self {
            Self::List(list) => (list.into_iter())
                .map(|feature| (feature.name, feature.value))
                .collect(),
            Self::Named(named) => named.into_iter().collect(),
        }
    }
}

/// How the page is loaded and waited for, and what fails it.
pub(crate) fn page(values: &mut Values) -> Result<(PageOptions, Failing), Problem> {
    let mut wait = Vec::new();
    if !values.truth("skipNetworkIdleEvent", true) {
        wait.push(Wait::NetworkIdle);
    }
    if !values.truth("skipNetworkAlmostIdleEvent", true) {
        wait.push(Wait::NetworkAlmostIdle);
    }
    let failing = Failing::of(values);
    let fail_on_exceptions = values.truth("failOnConsoleExceptions", false);
    wait.extend(values.duration("waitDelay").map(Wait::Delay));
    wait.extend(
        values
            .text("waitForExpression")
            .map(Wait::DefinedExpression),
    );
    wait.extend(values.text("waitForSelector").map(Wait::Selector));
    wait.extend(values.text("waitWindowStatus").map(|status| {
        let status = serde_json::Value::String(status);
        Wait::DefinedExpression(format!("window.status === {status}"))
    }));
    let features: MediaFeatures = values.json("emulatedMediaFeatures");
    let cookies = cookies(values);
    let mut extra = extra_headers(values)?;
    if let Some(agent) = values.text("userAgent") {
        extra.push(ExtraHeader::new("user-agent", &agent, None)?);
    }
    let options = PageOptions {
        wait,
        fail_on_exceptions,
        media: media(values),
        media_features: features.pairs(),
        extra_headers: extra,
        cookies,
        ..PageOptions::default()
    };
    Ok((options, failing))
}

fn media(values: &mut Values) -> Option<Media> {
    let name = values.text("emulatedMediaType")?;
    match name.as_str() {
        "print" => Some(Media::Print),
        "screen" => Some(Media::Screen),
        _ => {
            let why = "wrong value, expected either 'screen', 'print' or empty";
            values.wrong("emulatedMediaType", &name, why);
            None
        }
    }
}

fn cookies(values: &mut Values) -> Vec<Cookie> {
    const FIELD: &str = "cookies";
    let given = values.given(FIELD).unwrap_or_default().to_owned();
    let list: Vec<FormCookie> = values.json(FIELD);
    let is_whole = |it: &FormCookie| ![&it.name, &it.value, &it.domain].contains(&&String::new());
    if let Some(at) = list.iter().position(|it| !is_whole(it)) {
        let why = format!("cookie {at} must have its name, value and domain set");
        values.wrong(FIELD, &given, &why);
    }
    let mut cookies = Vec::new();
    for (at, cookie) in list.into_iter().enumerate() {
        match cookie.read() {
            Ok(cookie) => cookies.push(cookie),
            Err(why) => values.wrong(FIELD, &given, &format!("cookie {at}: {why}")),
        }
    }
    cookies
}

fn extra_headers(values: &mut Values) -> Result<Vec<ExtraHeader>, Problem> {
    const FIELD: &str = "extraHttpHeaders";
    let given = values.given(FIELD).unwrap_or_default().to_owned();
    let all: BTreeMap<String, String> = values.json(FIELD);
    if all.len() > MAX_EXTRA_HEADERS {
        let count = all.len();
        let why = format!("too many headers, got {count}, expected at most {MAX_EXTRA_HEADERS}");
        values.wrong(FIELD, &given, &why);
        return Ok(Vec::new());
    }
    let mut headers = Vec::new();
    for (name, value) in &all {
        match scoped(name, value) {
            Ok((value, scope)) => headers.push(ExtraHeader::new(name, &value, scope)?),
            Err(why) => values.wrong(FIELD, &given, &why),
        }
    }
    Ok(headers)
}

/// The value and the scope of an extra header in Gotenberg's syntax: Chromium sends
/// `VALUE;scope=EXPRESSION` only to URLs that match the expression. Or what is wrong with the scope.
fn scoped(name: &str, value: &str) -> Result<(String, Option<Scope>), String> {
    let mut expression = String::new();
    let mut kept = Vec::new();
    for token in value.split(';') {
        let word: String = token.split_whitespace().collect();
        let is_scope = word
            .get(..5)
            .is_some_and(|it| it.eq_ignore_ascii_case("scope"));
        if !is_scope {
            kept.extend(Some(token.trim()).filter(|it| !it.is_empty()));
            continue;
        }
        match word[5..].strip_prefix('=').filter(|it| !it.is_empty()) {
            Some(given) => expression = given.to_owned(),
            None => return Err(format!("invalid scope '{expression}' for header '{name}'")),
        }
    }
    let expression = Some(expression).filter(|it| !it.is_empty());
    let scope = expression.map(|expression| {
        if expression.len() > MAX_SCOPE_BYTES {
            let length = expression.len();
            return Err(format!(
                "scope regex pattern for header '{name}' is too long, got {length} characters, \
                 expected at most {MAX_SCOPE_BYTES}"
            ));
        }
        Scope::new(&expression).map_err(|error| {
            let why = match expression.starts_with(['*', '+', '?']) {
                true => format!("missing argument to repetition operator in `{expression}`"),
                false => error,
            };
            format!("invalid scope regex pattern for header '{name}': error parsing regexp: {why}")
        })
    });
    Ok((kept.join("; "), scope.transpose()?))
}

/// The domain of a cookie without its port. Cookies are not isolated by port (RFC 6265, section
/// 8.5).
fn without_port(domain: String) -> String {
    match domain.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host.to_owned(),
        _ => domain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Cookie>, Values) {
        let mut values = Values::default();
        values.add("cookies", text);
        let cookies = cookies(&mut values);
        (cookies, values)
    }

    #[test]
    fn cookies_keep_all_that_they_say() {
        let (cookies, values) = read(
            r#"[{"name": "a", "value": "b", "domain": "c:8080", "path": "/d", "secure": true,
                "httpOnly": true, "sameSite": "Lax"},
                {"name": "a", "value": "b", "domain": "c", "path": null, "sameSite": null}]"#,
        );
        assert!(values.is_sound());
        let whole = Cookie {
            name: "a".to_owned(),
            value: "b".to_owned(),
            domain: "c".to_owned(),
            path: "/d".to_owned(),
            secure: true,
            http_only: true,
            same_site: Some(SameSite::Lax),
        };
        let plain = Cookie {
            path: "/".to_owned(),
            secure: false,
            http_only: false,
            same_site: None,
            ..whole.clone()
        };
        assert_eq!(cookies, [whole, plain]);
    }

    #[test]
    fn wrong_parts_of_cookies_are_named() {
        for (part, why) in [
            (r#""sameSite": "strict""#, "cookie 0: its sameSite 'strict'"),
            (r#""path": "d""#, "cookie 0: its path 'd'"),
            (r#""secure": "yes""#, "cookies"),
        ] {
            let cookie = r#""name": "a", "value": "b", "domain": "c""#;
            let (_, mut values) = read(&format!("[{{{cookie}, {part}}}]"));
            let problem = values.finish().expect_err(part);
            assert!(problem.detail.contains(why), "{}", problem.detail);
        }
    }
}
