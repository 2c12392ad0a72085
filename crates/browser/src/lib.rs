//! HTML to PDF and pictures by Chromium, over the DevTools protocol on a pipe.
//!
//! [`Browser::print`] takes a [`Job`] and gives the result as it is produced. Pages are contexts
//! of one shared process, made ahead of need and used once. They have no network: what a document
//! needs is served from memory under a virtual origin, hosts of the allow-list are loaded by us
//! and only at public addresses, and everything else is refused and reported.

mod browser;
mod chromium;
mod config;
mod devtools;
mod error;
mod options;
mod outside;
mod page;
mod program;

pub use platen_pool::{
    BOUNDS_SECONDS, Chosen, Demand, HistogramSnapshot, Isolation, Key, Lane, Launcher, Plain,
    SandboxUnavailable, Snapshot, StartError, announce_sandbox_program, choose_launcher,
    detect_launcher,
};

pub use self::{
    browser::{Browser, Printed, Status},
    chromium::Processes,
    config::Config,
    error::Error,
    options::{
        CSS_PIXELS_PER_INCH, Clip, Cookie, ExtraHeader, File, Files, Job, Media, Output,
        PageOptions, PdfOptions, PictureFormat, PictureOptions, Source, Wait,
    },
    page::Report,
    program::{INSTALL_HINT, find_chromium},
};
