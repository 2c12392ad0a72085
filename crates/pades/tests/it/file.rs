//! Files to be signed.

use std::fmt::Write as _;

/// A PDF with two pages, with a classic table of objects, or with streams of objects.
pub(crate) fn pdf(modern: bool) -> Vec<u8> {
    let objects: Vec<String> = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]/MediaBox[0 0 300 200]>>".to_owned(),
        page("First page"),
        page("Second page"),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
        stream("First page"),
        stream("Second page"),
    ];
    let file = pdf_of(&objects);
    match modern {
        false => file,
        true => platen_pdf::flatten(&file, &platen_pdf::Limits::default())
            .expect("a file with streams of objects"),
    }
}

/// A PDF of these objects, the first of which is the catalog.
pub(crate) fn pdf_of(objects: &[String]) -> Vec<u8> {
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let _ = write!(
        file,
        "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    file.into_bytes()
}

fn page(text: &str) -> String {
    let content = if text.starts_with("First") { 6 } else { 7 };
    format!("<</Type/Page/Parent 2 0 R/Contents {content} 0 R/Resources<</Font<</F 5 0 R>>>>>>")
}

fn stream(text: &str) -> String {
    let content = format!("BT /F 24 Tf 40 100 Td ({text}) Tj ET");
    format!("<</Length {}>>stream\n{content}\nendstream", content.len())
}

/// A file with objects behind it, by an incremental update with a classic table; `extra` stands in
/// its trailer.
pub(crate) fn updated(file: &[u8], objects: &[&str], extra: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(file);
    let (_, last) = text.rsplit_once("startxref\n").expect("a table");
    let previous: usize = last
        .lines()
        .next()
        .and_then(|it| it.parse().ok())
        .expect("a number");
    let mut made = file.to_vec();
    let mut table = String::new();
    for object in objects {
        let number = object.split(' ').next().expect("a number");
        let _ = write!(table, "{number} 1\n{:010} 00000 n \n", made.len());
        made.extend(object.as_bytes());
    }
    let start = made.len();
    let update = format!(
        "xref\n{table}trailer\n<</Size 100/Root 1 0 R/Prev {previous}{extra}>>\nstartxref\n{start}\n\
         %%EOF\n"
    );
    made.extend(update.into_bytes());
    made
}
