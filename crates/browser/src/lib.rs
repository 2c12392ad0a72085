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
mod remote;
mod starter;

pub use platen_pool::{
    BOUNDS_SECONDS, Bounds, Chosen, ContainerSettings, Containers, Controller, Demand, Greeting,
    HistogramSnapshot, Image, Isolation, Key, Lane, Launcher, Mode, NoController, Origin, Plain,
    Process, Program, Programs, SandboxUnavailable, Server, Snapshot, StartError,
    announce_sandbox_program, choose_origin, detect_launcher, is_address,
};

pub use self::{
    browser::{Browser, Printed, Status},
    chromium::Processes,
    config::Config,
    error::Error,
    options::{
        CSS_PIXELS_PER_INCH, Clip, Cookie, ExtraHeader, File, Files, Job, Media, Output,
        PageOptions, PdfOptions, PictureFormat, PictureOptions, SameSite, Scope, Source, Wait,
    },
    page::{FailedResource, Report},
    program::{INSTALL_HINT, find_chromium, find_chromium_in},
    remote::try_remote,
    starter::Starter,
};
