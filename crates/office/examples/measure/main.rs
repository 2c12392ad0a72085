//! What LibreOffice can be told to leave out, and what each is worth:
//! `cargo run --release -p platen-office --example measure -- FOLDER ROUNDS`, where the folder is what
//! `platen bench office --write-documents FOLDER` made. `make bench-office-costs` does both.

mod costs;
mod soffice;

use std::{error::Error, path::PathBuf};

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

const DOCUMENTS: [&str; 3] = ["letter.docx", "small.docx", "large.docx"];

fn main() -> Result<(), Failure> {
    tokio::runtime::Runtime::new()?.block_on(measure())
}

async fn measure() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("a folder of documents is wanted")?);
    let folder = folder.canonicalize()?;
    let rounds: usize = arguments.next().unwrap_or_else(|| "5".to_owned()).parse()?;
    for name in DOCUMENTS {
        costs::compare(&folder.join(name), rounds).await?;
    }
    Ok(())
}
