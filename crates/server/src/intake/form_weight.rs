//! What the texts of a form take in memory once they are read.

use super::{body::weight, content, multipart::Field};
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

/// Bytes that the texts take; JSON in them may take a hundred times its length. All others stay in
/// files.
pub(super) async fn of_texts(fields: &[Field]) -> Result<u64, Problem> {
    let mut all = 0;
    for field in fields {
        let file_name = field.file_name.as_deref();
        let name = field.name.as_str();
        let is_page = PAGES.contains(&name) || file_name.is_some_and(|it| PAGES.contains(&it));
        all += match file_name {
            _ if is_page => field.content.size_bytes(),
            Some(_) if !JSON_FIELDS.contains(&name) => 0,
            _ => {
                let bytes = content::bytes(field.content.clone()).await?;
                match bytes.trim_ascii_start().first() {
                    Some(b'[' | b'{') => weight(&bytes).await?,
                    _ => bytes.len() as u64,
                }
            }
        };
    }
    Ok(all)
}
