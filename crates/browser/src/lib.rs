//! HTML to PDF and images with Chromium, over the DevTools protocol on a pipe.
//!
//! [`Browser::print`] takes a [`Job`] and returns the result as Chromium produces it. A page is a
//! browser context in a shared process, prepared ahead of need and used once. Pages have no
//! network: files of a document are served from memory under a virtual origin, hosts on the
//! allow-list are requested by this crate and only at public addresses, and everything else is
//! denied and reported.

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
