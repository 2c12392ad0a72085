//! The same pages three ways: Platen's PDF, and that of a Gotenberg's Chromium and of Platen's from the
//! same HTML, in the same form.

use super::{
    cells::{find, html},
    report::name_of,
    sections::{BATCH, Measure, contender},
};
use crate::{
    Cell, Error, Results,
    client::{Request, Target},
    gotenberg::{self, File},
    markdown::{Table, maybe, percentiles, rate, size},
    name::{Document, RenderName, Service},
    recorder::Recorder,
    rounds::{Ratio, in_turns},
};

/// Gotenberg's route for HTML, which Platen has, too.
const ROUTE: &str = "/forms/chromium/convert/html";
/// Cells that Gotenberg renders: three documents, one at a time and five.
pub const COMPARED: usize = 2 * Document::PAIRS.len();

impl Measure<'_> {
    /// The three ways, one at a time and five.
    pub(super) fn gotenberg(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let Some(url) = &self.options.gotenberg else {
            recorder.note(
                "Gotenberg was left out: give its address with --gotenberg, or use `make bench`, which \
                 builds it where Go is installed.",
            );
            return Ok(());
        };
        if !self.has_chromium {
            return Ok(());
        }
        let theirs = Target::parse(url)?;
        let (here, pid) = self.here();
        for (native, printed) in Document::PAIRS {
            let own = self.request(find(native), here)?;
            let page = html(find(printed), here, self.key(), &self.options.examples)?;
            let file = File {
                name: "index.html",
                media_type: "text/html",
                content: &page,
            };
            let form: Request = gotenberg::request(ROUTE, &[], &file);
            for concurrency in [1, BATCH] {
                let mut contenders = Vec::new();
                for (document, by, request, at) in [
                    (native, Service::Platen, &own, (here, pid)),
                    (printed, Service::Platen, &form, (here, pid)),
                    (printed, Service::Gotenberg, &form, (&theirs, None)),
                ] {
                    let mut load = self.options.round(find(document), concurrency);
                    if concurrency > 1 {
                        // Otherwise the last ones of a round, which run alone, would count most.
                        load.samples = load.samples.max(2 * concurrency);
                    }
                    let cell = Cell::new(RenderName::Gotenberg { document, by }, &load);
                    contenders.push(contender(cell, load, request, at));
                }
                self.says(&format!(
                    "{printed} c{concurrency}, in turns with Gotenberg"
                ));
                in_turns(self.options.effort, contenders, recorder)?;
            }
        }
        Ok(())
    }
}

/// The table; without rows if no Gotenberg was compared.
pub(super) fn table(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Cell",
        "At a time",
        "By",
        "RPS",
        "RPS relative to Gotenberg, median (min to max)",
        "p50",
        "p95",
        "p99",
        "Output",
    ]);
    let all = || {
        results.pick(|name| match name_of(name)? {
            RenderName::Gotenberg { document, by } => Some((*document, *by)),
            _ => None,
        })
    };
    for ((document, by), cell) in all() {
        let pair = Document::PAIRS
            .into_iter()
            .find(|(native, printed)| [*native, *printed].contains(&document));
        let theirs = all().find(|((printed, by), theirs)| {
            *by == Service::Gotenberg
                && pair.is_some_and(|pair| pair.1 == *printed)
                && theirs.concurrency == cell.concurrency
        });
        let name = vec![
            document.to_string(),
            cell.concurrency.to_string(),
            by.as_str().to_owned(),
        ];
        table.cell(cell, name, || {
            let ratio = theirs.and_then(|(_, theirs)| Ratio::of_rates(cell, theirs));
            let mut figures = vec![
                rate(cell.median_rps()),
                maybe(ratio, |ratio| ratio.to_string()),
            ];
            figures.extend(percentiles(cell.client.as_ref()));
            figures.push(size(cell.size_bytes));
            figures
        });
    }
    table
}
