//! Figures in prose: those that come from results stand between inline markers, such as
//! `<!-- figure: pdf-1p -->1.15 ms<!-- end -->`, and are filled in; all others name the decision that
//! has measured them.

use std::fmt::Write as _;

use crate::{
    Cell, Name, Results,
    markdown::ms,
    name::{Document, RenderName},
    rounds::Ratio,
    sizing,
};

const OPEN: &str = "<!-- figure: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";
/// Units of measured figures.
const UNITS: [&str; 15] = [
    "ns",
    "µs",
    "ms",
    "s",
    "%",
    "kB",
    "MB",
    "GB",
    "second",
    "seconds",
    "milliseconds",
    "minutes",
    "times",
    "faults",
    "/s",
];

/// The figures of a run by their names.
fn figures(packs: &[Results]) -> Vec<(String, String)> {
    let of = |wanted: RenderName| {
        let mut cells = packs.iter().flat_map(|results| &results.cells);
        cells.find(move |cell| cell.name == Name::Render(wanted) && !cell.is_void())
    };
    let alone = |document| {
        let cell = of(RenderName::Serial { document })?;
        Some(ms(cell.client.as_ref()?.p50))
    };
    let ratio = |(ours, theirs): (Document, Document)| {
        let [ours, theirs] = [ours, theirs].map(|document| of(RenderName::Chromium { document }));
        Ratio::of_times(theirs?, ours?).map(|ratio| ratio.median)
    };
    let ratios: Option<Vec<f64>> = Document::PAIRS.into_iter().map(ratio).collect();
    let range = ratios.map(|ratios| {
        let least = ratios.iter().copied().fold(f64::MAX, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        format!("{least:.0} to {most:.0} times")
    });
    let quick = |cell: Option<&Cell>| cell.map(|_| quickness(packs));
    let document = Document::Pdf1p;
    let all = [
        ("pdf-1p", alone(Document::Pdf1p)),
        ("pdf-100p", alone(Document::Pdf100p)),
        ("chromium-ratios", range),
        ("render-run", quick(of(RenderName::Serial { document }))),
    ];
    let known = all.into_iter();
    known
        .filter_map(|(name, figure)| Some((name.to_owned(), figure?)))
        .chain(sizing::figures(packs))
        .collect()
}

/// What kind of run the figures are of.
fn quickness(packs: &[Results]) -> String {
    let render = packs.iter().find(|results| results.pack == "render");
    match render.and_then(Results::how_quick) {
        Some(_) => "a quick run".to_owned(),
        None => "a full run".to_owned(),
    }
}

/// Fills in the figures of a text.
///
/// # Errors
/// A marker has no end, or there is no figure of its name.
pub(crate) fn fill_in(text: &str, packs: &[Results]) -> Result<String, String> {
    let figures = figures(packs);
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, marker)) = rest.split_once(OPEN) {
        let (name, after) = marker
            .split_once(CLOSE)
            .ok_or("a marker of a figure is not closed")?;
        let (_, after) = after
            .split_once(END)
            .ok_or_else(|| format!("the figure `{name}` has no end"))?;
        let figure = figures.iter().find(|(known, _)| *known == name);
        let (_, figure) = figure.ok_or_else(|| format!("there is no figure `{name}`"))?;
        let _ = write!(filled, "{before}{OPEN}{name}{CLOSE}{figure}{END}");
        rest = after;
    }
    Ok(filled + rest)
}

/// Sentences of a document with a figure that comes neither from a marker nor from a decision that
/// they name. Code and everything between markers is left out.
#[must_use]
pub fn unfounded(document: &str) -> Vec<String> {
    let prose = without(document, "<!-- bench: ", END);
    let prose = without(&prose, OPEN, END);
    let prose = without(&prose, "```", "```");
    let mut found = Vec::new();
    for line in prose.lines() {
        for sentence in line.split_inclusive(". ") {
            if has_figure(sentence) && !sentence.contains("decisions/") {
                found.push(sentence.trim().to_owned());
            }
        }
    }
    found
}

/// A text without its parts between these marks.
fn without(text: &str, open: &str, close: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, inside)) = rest.split_once(open) {
        kept += before;
        rest = inside.split_once(close).map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Whether a number is followed by a unit.
fn has_figure(sentence: &str) -> bool {
    let bare = |word: &str| {
        let word = word.trim_start_matches(['(', '~', '±', '"']);
        word.trim_end_matches(['.', ',', ';', ':', ')', '?', '!', '"'])
            .to_owned()
    };
    let words: Vec<String> = sentence.split_whitespace().map(bare).collect();
    let is_number = |word: &str| {
        word.starts_with(|it: char| it.is_ascii_digit())
            && word
                .chars()
                .all(|it| it.is_ascii_digit() || ".,".contains(it))
    };
    words.windows(3).any(|words| {
        let [number, unit, next] = words else {
            return false;
        };
        let is_unit = UNITS.contains(&unit.as_str()) || unit == "page" && next == "faults";
        is_number(number) && is_unit
    }) || words
        .last_chunk::<2>()
        .is_some_and(|[number, unit]| is_number(number) && UNITS.contains(&unit.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Times, load::Load};

    #[test]
    fn figures_are_filled_in() {
        let name = RenderName::Serial {
            document: Document::Pdf1p,
        };
        let mut cell = Cell::new(name, &Load::closed(1, 0, 1));
        cell.requests = 1;
        cell.client = Times::of([1_234]);
        let results = Results {
            pack: "render".to_owned(),
            cells: vec![cell],
            ..Results::default()
        };
        let packs = [results];
        let text = "A page takes <!-- figure: pdf-1p -->9 s<!-- end -->, in \
            <!-- figure: render-run --><!-- end -->.";
        let filled = fill_in(text, &packs).unwrap();
        assert!(filled.contains("-->1.23 ms<!-- end -->, in"), "{filled}");
        assert!(filled.ends_with("-->a quick run<!-- end -->."), "{filled}");
        for wrong in [
            "<!-- figure: pdf-9p -->1<!-- end -->",
            "<!-- figure: pdf-1p",
            "<!-- figure: pdf-1p -->1",
        ] {
            assert!(fill_in(wrong, &packs).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_figure_without_a_source_is_found() {
        for (text, is_found) in [
            ("An invoice takes 2.5 ms.", true),
            ("It is 42 to 62 times as fast.", true),
            ("That costs 420 page faults each.", true),
            ("It has 8 items and 1,000 rows.", false),
            ("It takes 3 ms ([decision 8](decisions/0008-x.md)).", false),
            ("It takes <!-- figure: x -->3 ms<!-- end --> alone.", false),
            ("<!-- bench: a -->\n| 3 ms |\n<!-- end -->", false),
            ("```sh\nsleep 3 s\n```", false),
        ] {
            assert_eq!(!unfounded(text).is_empty(), is_found, "{text}");
        }
    }
}
