//! Pages that Chromium prints, and the documents that come of them.

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
    /// Prints the page within `timeout`: `print` asks a Chromium. The document is complete but for
    /// its bytes, which may still be on their way.
    ///
    /// # Errors
    /// What `print` says.
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

/// A document of Chromium on its way.
#[derive(Debug)]
pub struct PrintedDocument {
    printed: Printed,
    /// Its format.
    pub format: Format,
    /// What is not as the template says.
    pub warnings: Vec<Diagnostic>,
    /// Where the time went until its first bytes.
    pub stages: Vec<Stage>,
    pages: PageCounter,
    size_bytes: usize,
}

impl PrintedDocument {
    /// What Chromium prints, of a page that no template was bound to.
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

    /// The next bytes, counted; `None` at the end.
    ///
    /// # Errors
    /// What ended the page midway.
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

    /// Pages of the bytes so far, for a PDF.
    #[must_use]
    pub fn pages(&self) -> Option<u32> {
        (self.format == Format::Pdf).then_some(self.pages.pages)
    }

    /// Bytes so far.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// The whole document.
    ///
    /// # Errors
    /// What ended the page midway.
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

/// Counts the page objects of a PDF as Chromium writes it, where they are never compressed.
#[derive(Debug, Default)]
struct PageCounter {
    pages: u32,
    /// Bytes of [`PageCounter::MARK`] that the last ones were.
    matched: usize,
}

impl PageCounter {
    const MARK: &[u8] = b"/Type /Page\n";

    fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            // After `/Type /` the second slash may begin the mark anew.
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
