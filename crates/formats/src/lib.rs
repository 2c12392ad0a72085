//! Writers of Platen, a folder per format: pdf, html, docx, pptx, xlsx, csv, png, svg. Pure.
