//! Gotenberg's fields on how a page is loaded: waits, media, cookies, extra headers.

use std::collections::BTreeMap;

use platen_browser::{Cookie, ExtraHeader, Media, PageOptions, Scope, Wait};
use platen_server::problem::Problem;
use serde::Deserialize;

use crate::{failing::Failing, value::Values};

/// The most extra headers of a page, and the longest expression of a scope, as with Gotenberg: each is
/// tried on each URL that the page loads.
const MAX_EXTRA_HEADERS: usize = 64;
const MAX_SCOPE_BYTES: usize = 1024;

#[derive(Default, Deserialize)]
#[serde(default)]
struct FormCookie {
    name: String,
    value: String,
    domain: String,
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
    let cookies = list.into_iter().map(|cookie| Cookie {
        name: cookie.name,
        value: cookie.value,
        domain: without_port(cookie.domain),
    });
    cookies.collect()
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
