//! Page labels: the printed page numbers, as readers show them (ISO 32000-1 §12.4.2).

use platen_document::numbering::Counter;
use platen_layout::page::Page;

use super::syntax::Syntax;

/// Consecutive pages with one form of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// Index of its first page.
    first: usize,
    /// Number of that page.
    number: u32,
    form: Counter,
}

/// The ranges of `pages`; none if their numbers are their positions.
pub(super) fn ranges(pages: &[Page]) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let continues = ranges.last().is_some_and(|range| {
            let number = u64::from(range.number) + (index - range.first) as u64;
            range.form == page.form && number == u64::from(page.number)
        });
        if !continues {
            ranges.push(Range {
                first: index,
                number: page.number,
                form: page.form,
            });
        }
    }
    match ranges.as_slice() {
        [
            Range {
                number: 1,
                form: Counter::Decimal,
                ..
            },
        ] => Vec::new(),
        _ => ranges,
    }
}

/// Writes the entry of the catalog, if there is one.
pub(super) fn write(out: &mut Vec<u8>, ranges: &[Range]) {
    if ranges.is_empty() {
        return;
    }
    out.raw("/PageLabels<</Nums[");
    for range in ranges {
        let style = match range.form {
            Counter::Decimal => "D",
            Counter::LowerAlpha => "a",
            Counter::UpperAlpha => "A",
            Counter::LowerRoman => "r",
            Counter::UpperRoman => "R",
        };
        out.integer(range.first as i64).raw("<</S/").raw(style);
        // A label starts at 1 at least.
        out.raw("/St ").integer(i64::from(range.number.max(1)));
        out.raw(">>");
    }
    out.raw("]>>");
}
