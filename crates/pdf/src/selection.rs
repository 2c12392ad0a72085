//! Which pages of a file a text names.

use std::collections::HashSet;

use lopdf::ObjectId;

use crate::{Error, Limits};

/// A choice of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    text: String,
    rules: Rules,
}

/// How a choice is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    /// In the order in which the pages are named. All of them exist.
    Own,
    /// As pdfcpu: in the order of the file. Later parts override earlier ones, except `even` and `odd`,
    /// which add only pages that no part has named. Pages that do not exist are ignored, so the choice
    /// may be empty.
    Pdfcpu,
}

impl From<String> for Selection {
    fn from(text: String) -> Self {
        let rules = Rules::Own;
        Self { text, rules }
    }
}

impl From<&str> for Selection {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Selection {
    /// A text as pdfcpu reads it: `1-3,7`, `-3`, `5-`, `even`, `odd`, `l` for the last page, `l-2` for
    /// two before it, `!` or `n` for pages that are left out. `None` if it is not such a text.
    #[must_use]
    pub fn of_pdfcpu(text: &str) -> Option<Self> {
        let is_known = |token: &str| matches!(token, "even" | "odd") || bounds(token, 1).is_some();
        let rules = Rules::Pdfcpu;
        let text = text.to_owned();
        (text.split(',').all(is_known)).then_some(Self { text, rules })
    }

    /// The text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Which of `pages` are chosen.
    pub(crate) fn of(&self, pages: &[ObjectId], limits: &Limits) -> Result<Vec<ObjectId>, Error> {
        match self.rules {
            Rules::Own => named(&self.text, pages, limits),
            Rules::Pdfcpu => as_pdfcpu(&self.text, pages, limits),
        }
    }

    /// The pages of a choice, all without one.
    pub(crate) fn or_all(
        choice: Option<&Self>,
        pages: &[ObjectId],
        limits: &Limits,
    ) -> Result<Vec<ObjectId>, Error> {
        match choice {
            None => Ok(pages.to_vec()),
            Some(selection) if selection.text.trim().is_empty() => Ok(pages.to_vec()),
            Some(selection) => selection.of(pages, limits),
        }
    }
}

/// The error about a text that chooses no pages, with its beginning.
pub(crate) fn bad_pages(text: &str) -> Error {
    Error::BadPages(text.chars().take(100).collect())
}

/// The pages that a text of pdfcpu chooses.
fn as_pdfcpu(text: &str, pages: &[ObjectId], limits: &Limits) -> Result<Vec<ObjectId>, Error> {
    let wrong = || bad_pages(text);
    let count = pages.len();
    // A short text may name all pages again and again.
    let mut left = limits.pages.saturating_mul(4);
    let mut is_chosen: Vec<Option<bool>> = vec![None; count];
    for token in text.split(',') {
        if matches!(token, "even" | "odd") {
            left = left.checked_sub(count).ok_or_else(wrong)?;
            let others = is_chosen.iter_mut().skip(usize::from(token == "even"));
            for page in others.step_by(2) {
                page.get_or_insert(true);
            }
            continue;
        }
        let (is_left_out, first, last) = bounds(token, count).ok_or_else(wrong)?;
        let (first, last) = (first.max(1), last.min(count));
        if first <= last {
            left = left.checked_sub(last - first + 1).ok_or_else(wrong)?;
            is_chosen[first - 1..last].fill(Some(!is_left_out));
        }
    }
    let found = pages.iter().zip(is_chosen);
    let found = found.filter(|(_, is_chosen)| *is_chosen == Some(true));
    Ok(found.map(|(page, _)| *page).collect())
}

/// Whether a part of a text of pdfcpu leaves pages out, and the first and the last of them in a file
/// with so many, which may be none.
fn bounds(token: &str, count: usize) -> Option<(bool, usize, usize)> {
    const NONE: (usize, usize) = (1, 0);
    let number = |text: &str| {
        let is_number = text.bytes().all(|sign| sign.is_ascii_digit());
        text.parse::<usize>().ok().filter(|_| is_number)
    };
    let before_last = |text: &str| Some(count.saturating_sub(number(text)?));
    let end = |text: &str| match text.strip_prefix('l') {
        None => number(text),
        Some("") => Some(count),
        Some(rest) => before_last(rest.strip_prefix('-')?),
    };
    let pages = token.strip_prefix(['!', 'n']);
    let (first, last) = match pages.unwrap_or(token).split_once('-') {
        None => match pages.unwrap_or(token) {
            "l" => (count, count),
            one => (number(one)?, number(one)?),
        },
        Some(("", last)) => (1, end(last)?),
        Some(("l", rest)) => {
            let first = before_last(rest.strip_suffix('-').unwrap_or(rest))?;
            match (first, rest.ends_with('-')) {
                (0, _) => NONE,
                (first, true) => (first, count),
                (first, false) => (first, first),
            }
        }
        Some((first, "")) => (number(first)?, count),
        Some((first, last)) => (number(first)?, end(last)?),
    };
    Some((pages.is_some(), first, last))
}

/// The pages that `text` names; all without it.
pub(crate) fn chosen(
    text: Option<&str>,
    pages: &[ObjectId],
    limits: &Limits,
) -> Result<Vec<ObjectId>, Error> {
    Selection::or_all(text.map(Into::into).as_ref(), pages, limits)
}

/// Parses page ranges such as `1-3,7`; `5-` extends to the last page. `all`, `odd`, `even` and `last`
/// name pages, too, and `!` leaves out those that follow it: of all, where nothing else is named. A
/// page that is named twice is included once.
pub(crate) fn named(
    text: &str,
    pages: &[ObjectId],
    limits: &Limits,
) -> Result<Vec<ObjectId>, Error> {
    let wrong = || bad_pages(text);
    // A short text may name all pages again and again.
    let mut left = limits.pages.saturating_mul(4);
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut left_out = HashSet::new();
    let mut is_of_all = true;
    for part in text.split(',') {
        let (is_left_out, part) = match part.trim().strip_prefix('!') {
            Some(part) => (true, part),
            None => (false, part),
        };
        let (first, last, step) = range(part.trim(), pages.len()).ok_or_else(wrong)?;
        left = left.checked_sub(last - first + 1).ok_or_else(wrong)?;
        let some = pages[first - 1..last].iter().step_by(step).copied();
        if is_left_out {
            left_out.extend(some);
        } else {
            is_of_all = false;
            found.extend(some.filter(|page| seen.insert(*page)));
        }
    }
    if is_of_all {
        found = pages.to_vec();
    }
    found.retain(|page| !left_out.contains(page));
    match found.is_empty() {
        true => Err(wrong()),
        false => Ok(found),
    }
}

/// The first and the last page that a part of page ranges names, and each which of them.
fn range(part: &str, count: usize) -> Option<(usize, usize, usize)> {
    let number = |text: &str| {
        let number = text.trim().parse::<usize>().ok();
        number.filter(|number| (1..=count).contains(number))
    };
    let (first, last) = match (part, part.split_once('-')) {
        ("all", _) => (1, count),
        ("odd", _) => return (count >= 1).then_some((1, count, 2)),
        ("even", _) => return (count >= 2).then_some((2, count, 2)),
        ("last", _) => (count, count),
        (_, None) => (number(part)?, number(part)?),
        (_, Some((first, last))) if last.trim().is_empty() => (number(first)?, count),
        (_, Some((first, last))) => (number(first)?, number(last)?),
    };
    (1 <= first && first <= last).then_some((first, last, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_pdfcpu_choose_the_pages_that_it_would() {
        let pages: Vec<ObjectId> = (1..=5).map(|number| (number, 0)).collect();
        let limits = Limits::default();
        let numbers = |text: &str| {
            let found = Selection::of_pdfcpu(text)?.of(&pages, &limits).ok()?;
            Some(found.iter().map(|id| id.0).collect::<Vec<u32>>())
        };
        for (text, expected) in [
            ("3,1", &[1, 3][..]),
            ("-2", &[1, 2]),
            ("4-", &[4, 5]),
            ("4-9", &[4, 5]),
            ("9", &[]),
            ("0", &[]),
            ("4-2", &[]),
            ("l", &[5]),
            ("l-1", &[4]),
            ("l-1-", &[4, 5]),
            ("l-7-", &[]),
            ("-l-3", &[1, 2]),
            ("2-l-1", &[2, 3, 4]),
            ("1-,!4", &[1, 2, 3, 5]),
            ("n3,1-5", &[1, 2, 3, 4, 5]),
            ("!3,odd", &[1, 5]),
            ("even", &[2, 4]),
            ("!2", &[]),
        ] {
            assert_eq!(numbers(text).as_deref(), Some(expected), "{text}");
        }
        for wrong in [
            "", "1, 2", "a", "1-z", "last", "--1", "+1", "1-2-3", "!", "!even", "²",
        ] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
        let again = ["-5"; 5].join(",");
        let few = Limits {
            pages: 5,
            ..Limits::default()
        };
        let again = Selection::of_pdfcpu(&again).expect("a text");
        assert!(again.of(&pages, &few).is_err(), "it names too many");
    }

    #[test]
    fn pages_are_named_in_ranges() {
        let pages: Vec<ObjectId> = (1..=9).map(|number| (number, 0)).collect();
        let limits = Limits::default();
        let numbers = |text: &str| {
            let found = named(text, &pages, &limits).ok()?;
            Some(found.iter().map(|id| id.0).collect::<Vec<u32>>())
        };
        assert_eq!(numbers("1-3, 7"), Some(vec![1, 2, 3, 7]));
        assert_eq!(numbers("8-,2,8"), Some(vec![8, 9, 2]));
        assert_eq!(numbers("last,odd"), Some(vec![9, 1, 3, 5, 7]));
        assert_eq!(numbers("even"), Some(vec![2, 4, 6, 8]));
        assert_eq!(numbers("!1, !5-"), Some(vec![2, 3, 4]));
        assert_eq!(numbers("3,1-4,!2"), Some(vec![3, 1, 4]));
        let many = ["all"; 5];
        let few = Limits {
            pages: 9,
            ..Limits::default()
        };
        assert!(super::named(&many[..4].join(","), &pages, &few).is_ok());
        assert!(super::named(&many.join(","), &pages, &few).is_err());
        for wrong in [
            "", "0", "10", "3-1", "a", "1-10", "-2", "!all", "2,!2", "!", "!!1", "ODD",
        ] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}
