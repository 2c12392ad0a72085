//! Files of LibreOffice and of Chromium, looked at by qpdf and poppler.

mod fixture;
mod operations;
mod whole;
