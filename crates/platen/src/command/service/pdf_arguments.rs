//! Arguments of `platen pdf`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};

use super::{
    pdf_files::{Files, Pages},
    pdf_sign::SignArguments,
    pdf_stamp::StampArguments,
};

/// Arguments of `platen pdf`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    platen pdf rotate scan.pdf --degrees 90 --pages 1-3 -o turned.pdf\n  \
    platen pdf stamp invoice.pdf --text PAID --color red --diagonal --opacity 0.3 -o paid.pdf\n  \
    platen pdf sign contract.pdf --key company.pem --box 60,60,180,50 -o signed.pdf\n  \
    platen pdf verify signed.pdf --trust authorities.pem\n  \
    platen pdf fill form.pdf --values values.json --flatten -o filled.pdf\n  \
    platen pdf optimize report.pdf --max-dpi 150 -o small.pdf\n  \
    platen pdf encrypt report.pdf --user-password-file secret.txt -o sealed.pdf\n  \
    platen pdf change a.pdf b.pdf --operations operations.json -o both.pdf\n  \
    platen pdf text report.pdf --pages 1-3\n  \
    platen pdf pages report.pdf --pages 1 --dpi 96 -o pictures\n  \
    platen pdf describe report.pdf")]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) operation: Operation,
}

#[derive(Debug, Subcommand)]
pub(super) enum Operation {
    /// Say what PDF files are: pages, properties, bookmarks, attached files.
    Describe {
        /// PDF files.
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
    },
    /// Verify the signatures of PDF files: who signed, whether they hold, and what was changed since.
    ///
    /// Fails if a file has no signature, or one that is not valid.
    Verify {
        /// PDF files.
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
        /// PEM file with the authorities that are trusted.
        #[arg(long, value_name = "FILE")]
        trust: Option<PathBuf>,
    },
    /// Validate PDF files: whether they satisfy PDF/A or PDF/UA, by the rules of `archive`.
    ///
    /// Fails if a file does not.
    Validate {
        /// PDF files.
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
        /// pdf-a-2b or pdf-a-3b; default: what the file says it satisfies.
        #[arg(long)]
        standard: Option<String>,
        /// PDF/UA-1 as well; without a standard, only that.
        #[arg(long)]
        accessible: bool,
    },
    /// Print the text of a PDF file, with a form feed after each page.
    Text {
        /// PDF file.
        #[arg(value_name = "IN")]
        input: PathBuf,
        #[command(flatten)]
        pages: Pages,
        /// Output file; default: standard output.
        #[arg(long, short, value_name = "OUT", default_value = "-")]
        output: PathBuf,
    },
    /// Write the pictures of a PDF file to a folder: JPEG as it is, others as PNG.
    Images {
        /// PDF file.
        #[arg(value_name = "IN")]
        input: PathBuf,
        #[command(flatten)]
        pages: Pages,
        /// Folder for the pictures.
        #[arg(long, short, value_name = "OUT")]
        output: PathBuf,
    },
    /// Draw the pages of a PDF file as PNG, in a sandbox, and write them to a folder.
    #[command(name = "pages")]
    DrawPages {
        /// PDF file.
        #[arg(value_name = "IN")]
        input: PathBuf,
        #[command(flatten)]
        pages: Pages,
        /// Dots per inch, 10 to 1200.
        #[arg(long, default_value_t = platen_engine::DEFAULT_DPI)]
        dpi: f32,
        /// Folder for the pictures.
        #[arg(long, short, value_name = "OUT")]
        output: PathBuf,
    },
    /// Write the attached files of a PDF file to a folder.
    Attachments {
        /// PDF file.
        #[arg(value_name = "IN")]
        input: PathBuf,
        /// Folder for the files.
        #[arg(long, short, value_name = "OUT")]
        output: PathBuf,
    },
    #[command(flatten)]
    Change(Change),
}

/// Operations that make PDF files.
#[derive(Debug, Subcommand)]
pub(super) enum Change {
    /// Apply a list of operations, as `POST /pdf` does.
    #[command(name = "change")]
    List {
        #[command(flatten)]
        files: Files,
        /// JSON file with the list.
        #[arg(long, value_name = "FILE")]
        operations: PathBuf,
        /// File that operations attach or draw, by its name; repeatable.
        #[arg(long, value_name = "FILE")]
        beside: Vec<PathBuf>,
    },
    /// Merge PDF files.
    Merge {
        #[command(flatten)]
        files: Files,
    },
    /// Take PDF files apart.
    Split {
        #[command(flatten)]
        files: Files,
        /// Pages of a part.
        #[arg(long, conflicts_with = "pages")]
        every: Option<usize>,
        #[command(flatten)]
        pages: Pages,
    },
    /// Keep some pages, in the order in which they are named.
    Select {
        #[command(flatten)]
        files: Files,
        /// Pages, as in `1-3,7`.
        #[arg(long)]
        pages: String,
    },
    /// Turn pages clockwise.
    Rotate {
        #[command(flatten)]
        files: Files,
        /// 90, 180 or 270.
        #[arg(long)]
        degrees: u16,
        #[command(flatten)]
        pages: Pages,
    },
    /// Draw annotations and form fields on the pages.
    Flatten {
        #[command(flatten)]
        files: Files,
    },
    /// Draw a text, a picture or a PDF on pages.
    Stamp(Box<StampArguments>),
    #[command(flatten)]
    Detailed(Detailed),
}

/// Operations whose details are in files.
#[derive(Debug, Subcommand)]
pub(super) enum Detailed {
    /// Write bookmarks.
    Bookmarks {
        #[command(flatten)]
        files: Files,
        /// JSON file with a list of `{"title", "page", "children"}`; an empty list removes all.
        #[arg(long, value_name = "FILE")]
        bookmarks: PathBuf,
    },
    /// Attach a file.
    Attach {
        #[command(flatten)]
        files: Files,
        /// The file.
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
        /// What it is to the document: Source, Data, Alternative, Supplement and others.
        #[arg(long)]
        relationship: Option<String>,
    },
    /// Fill in form fields; `describe` lists them.
    Fill {
        #[command(flatten)]
        files: Files,
        /// JSON file with the values by the names of fields: texts, true or false, lists, or null.
        #[arg(long, value_name = "FILE")]
        values: PathBuf,
        /// Draw the fields on the pages afterwards.
        #[arg(long)]
        flatten: bool,
    },
    /// Take what areas of pages show out of the files.
    Redact {
        #[command(flatten)]
        files: Files,
        /// An area: its page, and in points its lower left corner from that of the page, its width
        /// and height; repeatable.
        #[arg(long = "region", value_name = "PAGE,X,Y,W,H", value_parser = region, required = true)]
        regions: Vec<Json>,
    },
    /// Sign, behind what a file has.
    Sign(Box<SignArguments>),
    /// Add a timestamp of the whole document.
    Timestamp {
        #[command(flatten)]
        files: Files,
        /// Address of the timestamp authority.
        #[arg(long, value_name = "URL")]
        timestamp_url: String,
    },
    /// Make files PDF/A, PDF/UA or both.
    Archive {
        #[command(flatten)]
        files: Files,
        /// pdf-a-2b or pdf-a-3b.
        #[arg(long, required_unless_present = "accessible")]
        standard: Option<String>,
        /// PDF/UA-1 as well; without a standard, only that.
        #[arg(long)]
        accessible: bool,
    },
    /// Embed the XML of an e-invoice, and make files PDF/A-3b.
    Invoice {
        #[command(flatten)]
        files: Files,
        /// The XML: CII of Factur-X or XRechnung.
        #[arg(long, value_name = "FILE")]
        xml: PathBuf,
    },
    /// Change document properties.
    Metadata {
        #[command(flatten)]
        files: Files,
        /// JSON file with the properties by name; an empty text removes one.
        #[arg(long, value_name = "FILE")]
        metadata: PathBuf,
    },
    /// Make files smaller: without loss, and pictures by JPEG if a quality or a resolution is given.
    Optimize {
        #[command(flatten)]
        files: Files,
        /// Quality of pictures as JPEG, from 1 to 100; default with --max-dpi: 80.
        #[arg(long)]
        image_quality: Option<u8>,
        /// Dots per inch that pictures have at most where they are shown largest.
        #[arg(long)]
        max_dpi: Option<f32>,
    },
    /// Encrypt with AES-256.
    Encrypt {
        #[command(flatten)]
        files: Files,
        /// File with the password that opens the PDF, or `-`.
        #[arg(long, value_name = "FILE")]
        user_password_file: Option<PathBuf>,
        /// File with the password that lifts restrictions; default: the user password.
        #[arg(long, value_name = "FILE")]
        owner_password_file: Option<PathBuf>,
        /// Forbid printing, modifying, copying, annotating, filling or assembling; repeatable.
        #[arg(long, value_name = "WHAT")]
        forbid: Vec<String>,
    },
    /// Write encrypted files without encryption.
    Decrypt {
        #[command(flatten)]
        files: Files,
        /// File with the user or the owner password, or `-`.
        #[arg(long, value_name = "FILE")]
        password_file: PathBuf,
    },
}

/// An area to redact, as the operation takes it.
fn region(text: &str) -> Result<Json, String> {
    let wrong = || "five numbers, as in 1,72,600,200,14".to_owned();
    let (page, rest) = text.split_once(',').ok_or_else(wrong)?;
    let page: usize = page.trim().parse().map_err(|_| wrong())?;
    let numbers: Result<Vec<f32>, _> = rest.split(',').map(|it| it.trim().parse()).collect();
    match numbers.map_err(|_| wrong())?.as_slice() {
        [x, y, width, height] => {
            Ok(json!({"page": page, "x": x, "y": y, "width": width, "height": height}))
        }
        _ => Err(wrong()),
    }
}
