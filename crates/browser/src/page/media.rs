//! When a page takes on the media of its output.
//!
//! Printing lays a page out for `screen` when it has loaded, for `print` once to count pages and once to
//! draw them, and for `screen` again. A page that already has the media of its output is spared most of
//! that, a quarter of the time of a long table.

use serde_json::{Value, json};

use super::Page;
use crate::{
    error::Error,
    options::{Job, Media, Output, Source, Wait},
};

/// When a page takes on the media of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before it loads.
    BeforeLoading,
    /// Just before it is printed: until then its scripts find the media of a window.
    BeforePrinting,
}

impl Moment {
    /// For a job, if nothing but its scripts could tell.
    pub(super) fn of(job: &Job) -> Self {
        let page = &job.page;
        let Output::Pdf(pdf) = &job.output else {
            return Self::BeforeLoading;
        };
        // A single page is measured before it is printed.
        let is_asked_for = page.media.is_some() || !page.media_features.is_empty();
        if is_asked_for || pdf.single_page || !may_run_scripts(job) {
            return Self::BeforeLoading;
        }
        Self::BeforePrinting
    }
}

fn may_run_scripts(job: &Job) -> bool {
    let waits_for_script =
        |wait: &Wait| matches!(wait, Wait::Expression(_) | Wait::DefinedExpression(_));
    job.page.java_script
        && match &job.source {
            Source::Address(_) => true,
            Source::Document { html, .. } => {
                job.page.wait.iter().any(waits_for_script) || has_scripts(html)
            }
        }
}

/// Whether HTML may run a script: true where in doubt.
fn has_scripts(html: &str) -> bool {
    const SIGNS: [&str; 7] = [
        "<script",
        // Other documents, with scripts of their own.
        "<iframe",
        "<frame",
        "<object",
        "<embed",
        "<portal",
        "http-equiv",
    ];
    let html = html.as_bytes();
    (0..html.len()).any(|at| {
        let rest = &html[at..];
        match rest[0] {
            b'<' | b'h' | b'H' => SIGNS.iter().any(|sign| {
                rest.len() >= sign.len() && rest[..sign.len()].eq_ignore_ascii_case(sign.as_bytes())
            }),
            b'o' | b'O' => is_handler(html, at),
            _ => false,
        }
    })
}

/// Whether an attribute such as `onload=` begins here.
fn is_handler(html: &[u8], at: usize) -> bool {
    let begins = at > 0
        && matches!(
            html[at - 1],
            b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'/' | b'"' | b'\''
        );
    let rest = &html[at + 1..];
    if !begins
        || !rest
            .first()
            .is_some_and(|it| it.eq_ignore_ascii_case(&b'n'))
    {
        return false;
    }
    let name = rest[1..]
        .iter()
        .take_while(|it| it.is_ascii_alphabetic())
        .count();
    let after = rest[1 + name..].iter().find(|it| !it.is_ascii_whitespace());
    name > 0 && after == Some(&b'=')
}

impl Page {
    /// Gives the page the media of its output.
    pub(super) async fn take_on_media(&self, job: &Job) -> Result<(), Error> {
        let usual = match job.output {
            Output::Pdf(_) => Media::Print,
            Output::Picture(_) => Media::Screen,
        };
        let name = match job.page.media.unwrap_or(usual) {
            Media::Print => "print",
            Media::Screen => "screen",
        };
        let features: Vec<Value> = (job.page.media_features.iter())
            .map(|(name, value)| json!({ "name": name, "value": value }))
            .collect();
        let params = json!({ "media": name, "features": features });
        let set: Result<Value, Error> = self.call("Emulation.setEmulatedMedia", params).await;
        set.map(drop).map_err(|error| match error {
            Error::Refused { message, .. } => Error::bad_option("emulatedMediaFeatures", message),
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_wherever_html_may_have_them() {
        for html in [
            "<p><SCRIPT src=a.js></SCRIPT>",
            "<body onload=\"go()\">",
            "<body\nONLOAD = go()>",
            "<img src=a.png/onerror=go()>",
            "<img alt=''onerror=go()>",
            "<iframe src=a.html>",
            "<object data=a.html>",
            "<meta http-equiv=refresh content='0;url=a.html'>",
        ] {
            assert!(has_scripts(html), "{html}");
        }
        for html in [
            "",
            "o",
            "<p>on</p>",
            "<p>Based on = nothing</p><h1>One</h1>",
            "<a href=\"javascript:go()\">nobody clicks</a>",
            "<",
            "<style>@media print { p { color: red } }</style><link rel=stylesheet href=a.css>",
        ] {
            assert!(!has_scripts(html), "{html}");
        }
    }
}
