//! A results folder as one self-contained HTML page: tables and plots.

use std::{fmt::Write as _, path::Path};

use pulldown_cmark::{Event, Options, Parser, html};

use crate::{
    Error,
    packs::{blocks, plots},
    plot::escape,
    report::{Published, run_of},
};

const STYLE: &str = include_str!("page.css");

/// Creates the page for a folder: that of a pack, of a run, or of several runs, in which case the
/// newest is shown.
///
/// # Errors
/// There are no results.
pub fn page(folder: &Path) -> Result<String, Error> {
    let published = match Published::read(folder) {
        Ok(published) => published,
        Err(first) => Published::newest(folder).map_err(|_| first)?,
    };
    let name = published.folder.file_name().unwrap_or_default();
    let title = format!("Benchmarks: {}", name.to_string_lossy());
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head>\n\
         <body><main><h1>{0}</h1>\n",
        escape(&title)
    );
    for block in published.blocks("").iter().take(1) {
        text += &to_html(&block.body);
    }
    for results in &published.packs {
        let pack = escape(&results.pack);
        let _ = writeln!(text, "<section id=\"{pack}\"><h2>{pack}</h2>");
        let _ = writeln!(
            text,
            "<div class=\"note\">{}</div>",
            to_html(&run_of(results))
        );
        if results.is_void() {
            text += "<p class=\"void\">Requests failed: the cells marked <b>void</b> have no figures.</p>\n";
        }
        for (_, chart) in plots(results) {
            let _ = writeln!(text, "<figure>{}</figure>", chart.to_svg());
        }
        for block in blocks(results) {
            let _ = writeln!(text, "<h3>{}</h3>", escape(&block.title));
            text += &format!("<div class=\"table\">{}</div>\n", to_html(&block.body));
        }
        text += "</section>\n";
    }
    Ok(text + "</main></body></html>\n")
}

/// Converts Markdown with tables to HTML; HTML in it is escaped.
fn to_html(markdown: &str) -> String {
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cell, Recorder,
        environment::Environment,
        load::Load,
        name::{FlowName, Runner, Sandbox},
    };

    #[test]
    fn a_page_of_results_shows_them_and_runs_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new("flow");
        let mut cell = Cell::new(
            FlowName::Matrix {
                runner: Runner::Address("<script>alert(1)</script>".to_owned()),
                sandbox: Sandbox::Fresh,
                is_durable: true,
            },
            &Load::closed(5, 0, 1),
        );
        cell.requests = 10;
        cell.failures = 2;
        recorder.add(cell, &[]);
        recorder.note("<img src=x>");
        let place = folder.path().join("2026-11-21-x-2c/flow");
        let environment = Environment {
            commit: "1a2b".to_owned(),
            ..Environment::default()
        };
        recorder
            .finish("platen bench flow", environment, Some(&place))
            .unwrap();
        for folder in [place.as_path(), place.parent().unwrap(), folder.path()] {
            let page = page(folder).unwrap();
            assert!(page.contains("<td>void</td>"), "{page}");
            assert!(page.contains("have no figures"));
            assert!(page.contains("A quick run") && page.contains("of commit 1a2b"));
            assert!(
                !page.contains("<script") && !page.contains("<img"),
                "{page}"
            );
            assert!(page.contains("<svg"));
        }
        assert!(page(Path::new("/nonexistent")).is_err());
    }
}
