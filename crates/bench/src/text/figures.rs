//! Lines of a PDF file as poppler's `pdftotext` finds them, and their word spaces.

use std::{fs, process::Command};

use serde::Serialize;

use super::{MARGIN_MM, SIZE};
use crate::Error;

/// Word space of the font, in points.
const SPACE: f64 = 0.25 * SIZE;
/// Words whose tops differ by less are on one line, in points.
const SAME_LINE: f64 = 2.0;
/// A line that ends this far before the right edge is the last of its paragraph. Others may hang
/// over it.
const RAGGED: f64 = 1.5;

/// What the lines of a text look like. Spaces are relative to the word space of the font.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Number of lines.
    pub lines: usize,
    /// Lines that end with a hyphen.
    pub hyphens: usize,
    /// Most of them in a row.
    pub hyphens_in_a_row: usize,
    /// Mean of the lines' mean word spaces, last lines of paragraphs apart.
    pub mean: f64,
    /// The greatest of them.
    pub loosest: f64,
    /// Lines whose spaces are wider than 1.5, 2 and 3.
    pub looser: [usize; 3],
}

/// A word: left edge, right edge, and whether it ends with a hyphen.
type Word = (f64, f64, bool);

impl Figures {
    /// The lines of a PDF file that is `width_mm` wide between its margins.
    ///
    /// # Errors
    /// pdftotext is missing or fails.
    pub fn read(pdf: &[u8], width_mm: u32) -> Result<Self, Error> {
        let folder = tempfile::tempdir().map_err(Error::file("make", "a folder"))?;
        let file = folder.path().join("text.pdf");
        fs::write(&file, pdf).map_err(Error::file("write", &file))?;
        let output = Command::new("pdftotext")
            .arg("-bbox")
            .arg(&file)
            .arg("-")
            .output();
        let output = output.map_err(|_| Error::Missing {
            program: "pdftotext".to_owned(),
            hint: "install poppler-utils".to_owned(),
        })?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(Error::program("pdftotext", said));
        }
        let right = f64::from(MARGIN_MM + width_mm) / 25.4 * 72.0;
        Ok(Self::of(
            &lines(&String::from_utf8_lossy(&output.stdout)),
            right,
        ))
    }

    fn of(lines: &[Vec<Word>], right: f64) -> Self {
        let mut figures = Self {
            lines: lines.len(),
            ..Self::default()
        };
        let mut spaces: Vec<f64> = Vec::new();
        let mut run = 0;
        for line in lines {
            let Some((_, end, hyphen)) = line.last() else {
                continue;
            };
            run = if *hyphen { run + 1 } else { 0 };
            figures.hyphens += usize::from(*hyphen);
            figures.hyphens_in_a_row = figures.hyphens_in_a_row.max(run);
            if line.len() > 1 && *end > right - RAGGED {
                let gaps: f64 = line.windows(2).map(|two| two[1].0 - two[0].1).sum();
                spaces.push(gaps / (line.len() - 1) as f64 / SPACE);
            }
        }
        figures.mean = spaces.iter().sum::<f64>() / spaces.len().max(1) as f64;
        figures.loosest = spaces.iter().copied().fold(0.0, f64::max);
        let looser = |limit: f64| spaces.iter().filter(|space| **space > limit).count();
        figures.looser = [1.5, 2.0, 3.0].map(looser);
        figures
    }
}

/// The lines of `pdftotext -bbox`, page by page, from top to bottom.
fn lines(output: &str) -> Vec<Vec<Word>> {
    let mut lines = Vec::new();
    for page in output.split("<page ").skip(1) {
        let mut rows: Vec<(f64, Vec<Word>)> = Vec::new();
        for word in page.lines().filter(|line| line.contains("<word ")) {
            let number = |name: &str| -> f64 {
                let after = word.split(&format!("{name}=\"")).nth(1).unwrap_or_default();
                let value = after.split('"').next().unwrap_or_default();
                value.parse().unwrap_or_default()
            };
            let text = word.split('>').nth(1).unwrap_or_default();
            let text = text.split("</word").next().unwrap_or_default();
            let hyphen = text.ends_with(['-', '\u{AD}', '\u{2010}']);
            let (top, placed) = (number("yMin"), (number("xMin"), number("xMax"), hyphen));
            match rows.iter_mut().find(|row| (row.0 - top).abs() < SAME_LINE) {
                Some((_, words)) => words.push(placed),
                None => rows.push((top, vec![placed])),
            }
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        lines.extend(rows.into_iter().map(|(_, mut words)| {
            words.sort_by(|a, b| a.0.total_cmp(&b.0));
            words
        }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_page() {
        let word = |x: f64, end: f64, y: f64, text: &str| {
            format!(
                "<word xMin=\"{x}\" yMin=\"{y}\" xMax=\"{end}\" yMax=\"{}\">{text}</word>\n",
                y + 9.0
            )
        };
        let page = [
            "<page width=\"1\" height=\"1\">\n".to_owned(),
            word(10.0, 50.0, 20.0, "Ver-"),
            word(0.0, 4.75, 20.4, "Die"),
            word(0.0, 20.0, 32.0, "sicherung"),
        ]
        .concat();
        let figures = Figures::of(&lines(&page), 50.0);
        assert_eq!(
            (figures.lines, figures.hyphens, figures.hyphens_in_a_row),
            (2, 1, 1)
        );
        assert!((figures.loosest - 2.0).abs() < 1e-9, "{figures:?}");
        assert_eq!(figures.looser, [1, 0, 0]);
    }
}
