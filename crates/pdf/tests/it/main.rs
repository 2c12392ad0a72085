//! Files from LibreOffice and Chromium, checked with qpdf and poppler.

mod archive;
mod changes;
mod fixture;
mod operations;
mod page_form;
mod whole;
