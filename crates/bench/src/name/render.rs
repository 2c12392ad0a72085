//! Names of cells of the pack of renderings.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A document that is measured: what is rendered, and by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Document {
    /// PDF of one page.
    #[serde(rename = "pdf-1p")]
    Pdf1p,
    /// PDF of about ten pages.
    #[serde(rename = "pdf-10p")]
    Pdf10p,
    /// PDF of about a hundred pages.
    #[serde(rename = "pdf-100p")]
    Pdf100p,
    /// DOCX of 400 rows.
    #[serde(rename = "format-docx")]
    Docx,
    /// PPTX of 400 rows.
    #[serde(rename = "format-pptx")]
    Pptx,
    /// XLSX of 400 rows.
    #[serde(rename = "format-xlsx")]
    Xlsx,
    /// CSV of 400 rows.
    #[serde(rename = "csv")]
    Csv,
    /// HTML of 400 rows.
    #[serde(rename = "html")]
    Html,
    /// One page by Chromium.
    #[serde(rename = "chromium-1p")]
    Chromium1p,
    /// Ten pages by Chromium.
    #[serde(rename = "chromium-10p")]
    Chromium10p,
    /// A hundred pages by Chromium.
    #[serde(rename = "chromium-100p")]
    Chromium100p,
}

impl Document {
    /// All documents, in the order of the tables.
    pub const ALL: [Self; 11] = [
        Self::Pdf1p,
        Self::Pdf10p,
        Self::Pdf100p,
        Self::Docx,
        Self::Pptx,
        Self::Xlsx,
        Self::Csv,
        Self::Html,
        Self::Chromium1p,
        Self::Chromium10p,
        Self::Chromium100p,
    ];
    /// The PDF files, each with the same pages by Chromium.
    pub const PAIRS: [(Self, Self); 3] = [
        (Self::Pdf1p, Self::Chromium1p),
        (Self::Pdf10p, Self::Chromium10p),
        (Self::Pdf100p, Self::Chromium100p),
    ];

    /// The name on the command line and in tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf1p => "pdf-1p",
            Self::Pdf10p => "pdf-10p",
            Self::Pdf100p => "pdf-100p",
            Self::Docx => "format-docx",
            Self::Pptx => "format-pptx",
            Self::Xlsx => "format-xlsx",
            Self::Csv => "csv",
            Self::Html => "html",
            Self::Chromium1p => "chromium-1p",
            Self::Chromium10p => "chromium-10p",
            Self::Chromium100p => "chromium-100p",
        }
    }

    /// Parses a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

impl fmt::Display for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Where a document is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Isolation {
    /// In the service.
    Inline,
    /// In a sandbox per document.
    Jail,
}

impl Isolation {
    /// The value of `RENDER_ISOLATION`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Jail => "jail",
        }
    }
}

/// Until when a start is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Until {
    /// Until the service is ready.
    Ready,
    /// Until the first document is complete.
    FirstDocument,
}

impl Until {
    /// Text of tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::FirstDocument => "first document",
        }
    }
}

/// What there is several of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Topology {
    /// Processes of one service (`--workers`).
    Processes,
    /// Services behind nginx.
    Services,
}

impl Topology {
    /// Text of tables for this number of them.
    #[must_use]
    pub fn text(self, count: usize) -> String {
        match self {
            Self::Processes => format!("--workers {count}"),
            Self::Services => count.to_string(),
        }
    }
}

/// How the documents of a batch are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Packaging {
    /// In one JSON document, when all are ready.
    Json,
    /// A line for each, as soon as it is ready.
    Ndjson,
    /// In a ZIP file.
    Zip,
}

impl Packaging {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Json, Self::Ndjson, Self::Zip];

    /// The value of `packaging`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Zip => "zip",
        }
    }
}

/// Where a picture or a document is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kept {
    /// No picture; the document is sent.
    NoPicture,
    /// A picture in the template; the document is sent.
    InTemplate,
    /// A stored picture; the document is sent.
    Asset,
    /// No picture; the document is stored in the data folder.
    Folder,
    /// No picture; the document is stored in a bucket.
    Bucket,
}

impl Kept {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::NoPicture,
        Self::InTemplate,
        Self::Asset,
        Self::Folder,
        Self::Bucket,
    ];

    /// Text of tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoPicture => "no picture, sent",
            Self::InTemplate => "picture in the template, sent",
            Self::Asset => "picture as an asset, sent",
            Self::Folder => "no picture, stored in the data folder",
            Self::Bucket => "no picture, stored in a bucket",
        }
    }

    /// The status of a response.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Folder | Self::Bucket => 201,
            Self::NoPicture | Self::InTemplate | Self::Asset => 200,
        }
    }
}

/// Whose HTTP service makes a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Service {
    /// Platen.
    Platen,
    /// Gotenberg.
    Gotenberg,
}

impl Service {
    /// Text of tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Platen => "Platen",
            Self::Gotenberg => "Gotenberg",
        }
    }
}

/// The name of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    tag = "section",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum RenderName {
    /// The main cells.
    Cells {
        /// What is rendered.
        document: Document,
    },
    /// One request at a time.
    Serial {
        /// What is rendered.
        document: Document,
    },
    /// The same pages by Platen and by Chromium, interleaved.
    Chromium {
        /// What is rendered.
        document: Document,
    },
    /// The same pages by Platen and by Gotenberg, interleaved.
    Gotenberg {
        /// What is rendered.
        document: Document,
        /// Whose service renders it.
        by: Service,
    },
    /// At a fixed rate.
    Open {
        /// What is rendered.
        document: Document,
        /// The rate, as a share of the closed loop's.
        share_percent: u32,
    },
    /// One request at a time, before strict batches.
    SaturationSerial {
        /// What is rendered.
        document: Document,
        /// Slots of the service.
        slots: usize,
        /// How long the page waits for something external, in milliseconds.
        wait_ms: u64,
    },
    /// Strict batches on a number of slots.
    Saturation {
        /// What is rendered.
        document: Document,
        /// Slots of the service.
        slots: usize,
        /// How long the page waits for something external, in milliseconds.
        wait_ms: u64,
    },
    /// In the service and in a sandbox.
    Isolation {
        /// What is rendered.
        document: Document,
        /// Where it is rendered.
        isolation: Isolation,
    },
    /// Starts of the service.
    Cold {
        /// What is rendered first.
        document: Document,
        /// Until when the time counts.
        until: Until,
    },
    /// A growing number of clients.
    Concurrency {
        /// What is rendered.
        document: Document,
    },
    /// A batch of documents in one request.
    Batch {
        /// What is rendered.
        document: Document,
        /// How the documents are sent.
        packaging: Packaging,
    },
    /// Pictures and documents in different places.
    Storage {
        /// What is rendered.
        document: Document,
        /// Where its picture and itself are kept.
        kept: Kept,
    },
    /// Several processes or services.
    Replicas {
        /// What is rendered.
        document: Document,
        /// What there is several of.
        topology: Topology,
        /// Their number.
        count: usize,
    },
}

impl fmt::Display for RenderName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cells { document } => write!(formatter, "cells/{document}"),
            Self::Serial { document } => write!(formatter, "serial/{document}"),
            Self::Chromium { document } => write!(formatter, "chromium/{document}"),
            Self::Gotenberg { document, by } => {
                write!(formatter, "gotenberg/{document} by {}", by.as_str())
            }
            Self::Open {
                document,
                share_percent,
            } => write!(formatter, "open/{document} at {share_percent} %"),
            Self::SaturationSerial {
                document,
                slots,
                wait_ms,
            } => write!(
                formatter,
                "saturation-serial/{document} slots={slots} wait={wait_ms} ms"
            ),
            Self::Saturation {
                document,
                slots,
                wait_ms,
            } => write!(
                formatter,
                "saturation/{document} slots={slots} wait={wait_ms} ms"
            ),
            Self::Isolation {
                document,
                isolation,
            } => write!(formatter, "isolation/{document} {}", isolation.as_str()),
            Self::Cold { document, until } => {
                write!(formatter, "cold/{document} until {}", until.as_str())
            }
            Self::Concurrency { document } => write!(formatter, "concurrency/{document}"),
            Self::Batch {
                document,
                packaging,
            } => write!(formatter, "batch/{document} as {}", packaging.as_str()),
            Self::Storage { document, kept } => {
                write!(formatter, "storage/{document}, {}", kept.as_str())
            }
            Self::Replicas {
                document,
                topology,
                count,
            } => write!(formatter, "replicas/{document} {}", topology.text(*count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_one_name_everywhere() {
        for document in Document::ALL {
            assert_eq!(Document::parse(document.as_str()), Some(document));
            let json = serde_json::to_string(&document).unwrap();
            assert_eq!(json, format!("\"{document}\""));
        }
        assert_eq!(Document::parse("pdf-7p"), None);
    }
}
