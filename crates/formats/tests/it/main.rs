//! Every writer on hand-built documents: sound packages, well-formed parts, nothing lost.

mod csv;
mod docx;
mod dump;
mod html;
mod office;
mod package;
mod sample;
mod xlsx;
