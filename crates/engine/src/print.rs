//! Documents that Chromium prints.

use std::{
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use bytes::Bytes;
use platen_browser::{Error as BrowserError, Job, Lane, Printed};
use platen_document::Diagnostic;
use platen_render::{Format, Rendered, Stage};

use crate::html::{Page, page_warnings};

impl Page {
    /// Prints the page within `timeout`; `print` submits the job to Chromium. The result is
    /// complete except for its bytes, which may still be streaming.
    ///
    /// # Errors
    /// The error of `print`.
    pub async fn print<E, F: Future<Output = Result<Printed, E>>>(
        mut self,
        lane: Lane,
        timeout: Duration,
        print: impl FnOnce(Job) -> F,
    ) -> Result<PrintedDocument, E> {
        let format = self.format();
        let mut warnings = self.take_warnings();
        let mut stages = std::mem::take(&mut self.stages);
        let start = Instant::now();
        let printed = print(self.into_job(lane, timeout)).await?;
        warnings.extend(page_warnings(&printed.report));
        stages.push(Stage {
            name: "print",
            duration: start.elapsed(),
        });
        Ok(PrintedDocument {
            warnings,
            stages,
            ..PrintedDocument::new(printed, format)
        })
    }
}

/// A document that Chromium is streaming.
#[derive(Debug)]
pub struct PrintedDocument {
    printed: Printed,
    /// Its format.
    pub format: Format,
    /// Deviations from the template.
    pub warnings: Vec<Diagnostic>,
    /// Duration of each stage until the first bytes.
    pub stages: Vec<Stage>,
    pages: PageCounter,
    size_bytes: usize,
}

impl PrintedDocument {
    /// A document of a page without a template.
    #[must_use]
    pub fn new(printed: Printed, format: Format) -> Self {
        Self {
            warnings: page_warnings(&printed.report),
            printed,
            format,
            stages: Vec::new(),
            pages: PageCounter::default(),
            size_bytes: 0,
        }
    }

    /// Polls for the next bytes and counts them; `None` at the end.
    ///
    /// # Errors
    /// If Chromium fails midway.
    pub fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, BrowserError>>> {
        let next = ready!(self.printed.poll_next(context));
        if let Some(Ok(piece)) = &next {
            self.pages.read(piece);
            self.size_bytes += piece.len();
        }
        Poll::Ready(next)
    }

    /// Number of pages in the bytes received so far, for a PDF.
    #[must_use]
    pub fn pages(&self) -> Option<u32> {
        (self.format == Format::Pdf).then_some(self.pages.pages)
    }

    /// Number of bytes received so far.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Waits for the whole document.
    ///
    /// # Errors
    /// If Chromium fails midway.
    pub async fn whole(mut self) -> Result<Rendered, BrowserError> {
        let start = Instant::now();
        let bytes = self.printed.bytes().await?;
        if let Some(print) = self.stages.last_mut() {
            print.duration += start.elapsed();
        }
        if self.format == Format::Pdf {
            self.pages.read(&bytes);
        }
        Ok(Rendered {
            pages: (self.format == Format::Pdf).then_some(self.pages.pages),
            bytes,
            format: self.format,
            warnings: self.warnings,
            stages: self.stages,
        })
    }
}

/// Counts the page objects of a PDF. Chromium writes them uncompressed.
#[derive(Debug, Default)]
struct PageCounter {
    pages: u32,
    /// Number of bytes of [`PageCounter::MARK`] matched so far.
    matched: usize,
}

impl PageCounter {
    const MARK: &[u8] = b"/Type /Page\n";

    fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            // After `/Type /`, the second slash may begin another match.
            while *byte != Self::MARK[self.matched] && self.matched > 0 {
                self.matched = usize::from(self.matched == 7);
            }
            if *byte == Self::MARK[self.matched] {
                self.matched += 1;
            }
            if self.matched == Self::MARK.len() {
                self.pages += 1;
                self.matched = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_across_pieces() {
        let mut counter = PageCounter::default();
        let text = b"<</Type /Pages\n/Count 2>>//Type /Page\n/Type /Type /Page\n/Type /Page /X";
        for piece in text.chunks(3) {
            counter.read(piece);
        }
        assert_eq!(counter.pages, 2);
    }
}
