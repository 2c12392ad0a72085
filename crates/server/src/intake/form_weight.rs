//! What the texts of a form take in memory once they are read.

use platen_fault::{Code, What};

use super::{Intake, MemoryPermit, body::weight, content, multipart::Field};
use crate::problem::Problem;

/// Fields that are read as JSON, also where they are files.
const JSON_FIELDS: [&str; 3] = ["operations", "options", "output"];
/// Fields and files that are read as pages.
const PAGES: [&str; 6] = [
    "html",
    "header",
    "footer",
    "index.html",
    "header.html",
    "footer.html",
];

/// Reserves what the texts of a form take; JSON in them may take a hundred times its length. All else
/// stays in files.
///
/// # Errors
/// 413 if they alone are too much, or 503 if the memory for bodies is exhausted.
pub(super) async fn reserve(
    intake: &Intake,
    fields: &[Field],
    permit: &mut MemoryPermit,
) -> Result<(), Problem> {
    let (texts, pages): (Vec<&Field>, Vec<&Field>) = fields
        .iter()
        .filter(|field| is_read(field))
        .partition(|field| !is_page(field));
    let sum = |fields: &[&Field]| -> u64 {
        let sizes = fields.iter().map(|field| field.content.size_bytes());
        sizes.sum()
    };
    let of_pages = sum(&pages);
    reserve_up_to(intake, permit, of_pages + sum(&texts))?;
    let mut all = of_pages;
    for field in texts {
        let bytes = content::bytes(field.content.clone()).await?;
        all += match bytes.trim_ascii_start().first() {
            Some(b'[' | b'{') => weight(&bytes).await?,
            _ => bytes.len() as u64,
        };
    }
    reserve_up_to(intake, permit, all)
}

fn is_page(field: &Field) -> bool {
    let is_page = |name: &str| PAGES.contains(&name);
    is_page(&field.name) || field.file_name.as_deref().is_some_and(is_page)
}

/// Whether a field is read into memory.
fn is_read(field: &Field) -> bool {
    field.file_name.is_none() || is_page(field) || JSON_FIELDS.contains(&field.name.as_str())
}

fn reserve_up_to(intake: &Intake, permit: &mut MemoryPermit, bytes: u64) -> Result<(), Problem> {
    let limit = intake.max_inflight_body_bytes;
    if bytes > limit {
        let detail = format!(
            "the texts of the form would take about {} MiB of memory once they are read, of {} MiB \
             for all bodies (MAX_INFLIGHT_BODY_BYTES)",
            bytes >> 20,
            limit >> 20
        );
        return Err(Problem::new(Code::TooLarge(What::Form, limit), detail));
    }
    intake.reserve_up_to(permit, bytes)
}
