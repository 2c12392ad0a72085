//! When a page takes on the media of its output.
//!
//! Printing a page that has loaded for a window lays it out anew: for `print`, in pages, and for the window
//! again, each time with new styles. A page that has the media `print` from its beginning is spared most
//! of that, a quarter of the time of a long table. Scripts could tell, and transitions would begin if the
//! media changed later, so it does so for pages without scripts only.

use serde_json::{Value, json};

use super::Page;
use crate::{
    error::Error,
    options::{Job, Media, Output, Source, Wait},
};

/// Whether a page takes on the media of its output before it loads, and not by being printed.
fn is_early(job: &Job) -> bool {
    let page = &job.page;
    let Output::Pdf(pdf) = &job.output else {
        return true;
    };
    // A single page is measured before it is printed.
    page.media == Some(Media::Screen)
        || !page.media_features.is_empty()
        || pdf.single_page
        || !may_run_scripts(job)
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
    // Besides scripts, other documents, which may have their own, and the value of `http-equiv` that leads
    // to one.
    const SIGNS: [&str; 7] = [
        "<script", "<iframe", "<frame", "<object", "<embed", "<portal", "refresh",
    ];
    let html = html.as_bytes();
    let begins = |at: usize, sign: &str| {
        let rest = html.get(at..at + sign.len());
        rest.is_some_and(|rest| rest.eq_ignore_ascii_case(sign.as_bytes()))
    };
    html.iter().enumerate().any(|(at, byte)| match byte {
        b'<' | b'r' | b'R' => SIGNS.iter().any(|sign| begins(at, sign)),
        b'o' | b'O' => is_handler(html, at),
        _ => false,
    })
}

/// Whether an attribute such as `onload=` begins here.
fn is_handler(html: &[u8], at: usize) -> bool {
    let is_start = at > 0 && matches!(html[at - 1], b'/' | b'"' | b'\'' | 0..=b' ');
    let rest = &html[at + 1..];
    if !is_start
        || !rest
            .first()
            .is_some_and(|it| it.eq_ignore_ascii_case(&b'n'))
    {
        return false;
    }
    let name = rest[1..].iter().take_while(|it| it.is_ascii_alphabetic());
    let name = name.count();
    let after = rest[1 + name..].iter().find(|it| !it.is_ascii_whitespace());
    name > 0 && after == Some(&b'=')
}

impl Page {
    /// Gives a page that has not loaded yet the media of its output, unless it gets it by being printed.
    pub(super) async fn take_on_media(&self, job: &Job) -> Result<(), Error> {
        if !is_early(job) {
            return Ok(());
        }
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
            Error::Refused { message, .. } if !job.page.media_features.is_empty() => {
                Error::bad_option("emulatedMediaFeatures", message)
            }
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
            "<meta http-equiv=Refresh content='0;url=a.html'>",
        ] {
            assert!(has_scripts(html), "{html}");
        }
        for html in [
            "",
            "o",
            "<p>on</p>",
            "<p>Based on = nothing</p><h1>One</h1>",
            "<a href=\"javascript:go()\">nobody clicks</a>",
            "<meta http-equiv=Content-Type content='text/html; charset=utf-8'>",
            "<",
            "<style>@media print { p { color: red } }</style><link rel=stylesheet href=a.css>",
        ] {
            assert!(!has_scripts(html), "{html}");
        }
    }
}
