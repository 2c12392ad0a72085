//! Files from LibreOffice and Chromium, checked with qpdf and poppler.

mod archive;
mod built;
mod changes;
mod compose;
mod damaged;
mod extract;
mod fill;
mod fixture;
mod forms;
mod hostile;
mod operations;
mod optimize;
mod page_form;
mod redact;
mod stamped;
mod whole;
