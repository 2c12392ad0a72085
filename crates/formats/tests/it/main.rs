//! Every writer on handmade documents: valid packages, well-formed parts, nothing lost.

mod csv;
mod docx;
mod dump;
mod hostile;
mod html;
mod office;
mod package;
mod pptx;
mod sample;
mod slides;
mod whole;
mod xlsx;
