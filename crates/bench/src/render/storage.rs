//! What pictures and stores cost: the same page without a picture, with one in its template, and with
//! a stored asset; and the same document sent, stored in the data folder, and stored in a bucket.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use jpeg_encoder::{ColorType, Encoder};
use serde_json::{Value, json};

use super::{cells::INVOICE, report::name_of, sections::Measure};
use crate::{
    Cell, Error, Results,
    client::{Request, Target},
    load::Outcome,
    markdown::{NONE, Table, maybe, ms, percentiles, size},
    name::{Document, Kept, RenderName},
    program::{Program, find, folder, free_port},
    recorder::Recorder,
    rounds::{Contender, Ratio, in_turns},
};

/// Different documents that are sent in turn: equal ones are stored once.
const DOCUMENTS: usize = 500;
/// Pixels of the picture.
const PIXELS: (u16, u16) = (600, 300);
/// The name of the picture, in templates and as an asset.
const PICTURE: &str = "bench-picture.jpg";
const BUCKET: &str = "platen";
const SECRET: &str = "benchmark-bucket-secret";

impl Measure<'_> {
    /// The same page with the picture and the document in different places.
    pub(super) fn storage(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let files = self.serve(&[])?;
        let gateway = match find("versitygw") {
            Some(program) => Some(bucket(&program)?),
            None => {
                recorder.note("versitygw is not installed: documents in a bucket are left out.");
                None
            }
        };
        let bucket = gateway.as_ref().map(|gateway| self.serve_with(gateway));
        let bucket = bucket.transpose()?;
        let mut services = vec![&files];
        services.extend(&bucket);
        for service in &services {
            store(service.target(), &self.options.examples)?;
        }
        let data = self.options.examples.join(INVOICE).join("data.json");
        let data = fs::read(&data).map_err(Error::file("read", &data))?;
        let data: Value = serde_json::from_slice(&data).unwrap_or_default();
        let places: Vec<(Kept, &Program, Vec<Request>)> = Kept::ALL
            .into_iter()
            .filter_map(|kept| {
                let service = match kept {
                    Kept::Bucket => bucket.as_ref()?,
                    _ => &files,
                };
                Some((kept, service, requests(kept, &data)))
            })
            .collect();
        let document = Document::Pdf1p;
        let load = self.options.round(super::cells::find(document), 1);
        let next = AtomicUsize::new(0);
        let mut contenders = Vec::new();
        for (kept, service, requests) in &places {
            let name = RenderName::Storage {
                document,
                kept: *kept,
            };
            let cell = Cell::new(name, &load);
            let target = service.target();
            let (kept, next) = (*kept, &next);
            let connect = move || {
                let mut connection = target.connect()?;
                Ok(move || {
                    let at = next.fetch_add(1, Relaxed) % requests.len();
                    let outcome = connection.send(&requests[at]);
                    Outcome {
                        is_good: outcome.status == kept.status(),
                        ..outcome
                    }
                })
            };
            contenders.push(Contender::new(cell, load, Some(service.pid()), connect));
        }
        self.says("storage, interleaved");
        in_turns(self.options.effort, contenders, recorder)
    }

    fn serve_with(&self, gateway: &Program) -> Result<Program, Error> {
        let endpoint = gateway.target().to_string();
        self.serve(&[
            ("S3_ENDPOINT", &endpoint),
            ("S3_BUCKET", BUCKET),
            ("S3_ACCESS_KEY_ID", BUCKET),
            ("S3_SECRET_ACCESS_KEY", SECRET),
        ])
    }
}

/// The table.
pub(super) fn table(results: &Results) -> Table {
    let mut table = Table::of_cells(&[
        "Cell",
        "Picture and document",
        "p50",
        "p95",
        "p99",
        "Time relative to the first row, median (min to max)",
        "CPU per request",
        "Output",
    ]);
    let all = || {
        results.pick(|name| match name_of(name)? {
            RenderName::Storage { document, kept } => Some((*document, *kept)),
            _ => None,
        })
    };
    let first = all().next();
    for ((document, kept), cell) in all() {
        let name = vec![document.to_string(), kept.as_str().to_owned()];
        table.cell(cell, name, || {
            let mut figures = percentiles(cell.client.as_ref());
            let ratio = first.and_then(|(_, first)| Ratio::of_times(cell, first));
            figures.push(maybe(ratio, |ratio| ratio.to_string()));
            figures.push(maybe(cell.server_cpu_ms(), ms));
            figures.push(match kept {
                // The answer is a link.
                Kept::Folder | Kept::Bucket => NONE.to_owned(),
                _ => size(cell.size_bytes),
            });
            figures
        });
    }
    table
}

/// A server of S3 with an empty bucket, on files.
fn bucket(program: &Path) -> Result<Program, Error> {
    let folder = folder()?;
    let root = folder.path().join("s3");
    let bucket = root.join(BUCKET);
    fs::create_dir_all(&bucket).map_err(Error::file("make", &bucket))?;
    let address = format!("127.0.0.1:{}", free_port()?);
    let mut command = Command::new(program);
    command
        .args(["--port", &address, "--quiet", "posix"])
        .arg(&root)
        .env("ROOT_ACCESS_KEY", BUCKET)
        .env("ROOT_SECRET_KEY", SECRET);
    let mut gateway = Program::start("versitygw", command, folder, Target::Tcp(address))?;
    gateway.wait_listening()?;
    Ok(gateway)
}

/// Noise, which no compression makes small: about 100 kB as JPEG.
fn picture() -> Vec<u8> {
    let (width, height) = PIXELS;
    let mut state = 1_u32;
    let pixels: Vec<u8> = (0..usize::from(width) * usize::from(height) * 3)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    let mut made = Vec::new();
    let encoder = Encoder::new(&mut made, 60);
    encoder
        .encode(&pixels, width, height, ColorType::Rgb)
        .expect("the pixels are as many as the size says");
    made
}

/// Stores the picture, and the invoice with and without it, in a service.
fn store(target: &Target, examples: &Path) -> Result<(), Error> {
    let picture = picture();
    let request = Request::new("PUT", &format!("/assets/{PICTURE}"), &[], &picture);
    request.expect(target, &[200, 201])?;
    let template = examples.join(INVOICE).join("template.json");
    let template = fs::read(&template).map_err(Error::file("read", &template))?;
    let template: Value = serde_json::from_slice(&template).unwrap_or_default();
    for kept in [Kept::NoPicture, Kept::InTemplate, Kept::Asset] {
        let mut template = template.clone();
        template["key"] = key(kept).into();
        if kept != Kept::NoPicture {
            let image = json!({"type": "image", "source": PICTURE, "alt": "Logo", "width": "40mm"});
            let body = template["body"].as_array_mut();
            body.into_iter()
                .for_each(|body| body.insert(0, image.clone()));
        }
        if kept == Kept::InTemplate {
            let url = format!(
                "data:image/jpeg;base64,{}",
                BASE64_STANDARD.encode(&picture)
            );
            template["assets"] = json!({PICTURE: url});
        }
        let body = template.to_string();
        Request::json("POST", "/templates", None, body.as_bytes()).expect(target, &[201])?;
    }
    Ok(())
}

/// The key of the template of a place.
fn key(kept: Kept) -> String {
    let name = match kept {
        Kept::InTemplate => "in-template",
        Kept::Asset => "asset",
        Kept::NoPicture | Kept::Folder | Kept::Bucket => "plain",
    };
    format!("bench-storage-{name}")
}

/// Requests for different documents.
fn requests(kept: Kept, data: &Value) -> Vec<Request> {
    let one = |number: usize| {
        let mut data = data.clone();
        data["invoiceNumber"] = format!("{}-{number}", kept.as_str()).into();
        let mut body = json!({"template": key(kept), "data": data});
        if matches!(kept, Kept::Folder | Kept::Bucket) {
            body["output"] = json!({"store": true, "ttlSeconds": 3600});
        }
        Request::json("POST", "/render/pdf", None, body.to_string().as_bytes())
    };
    (0..DOCUMENTS).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_has_the_size_that_is_said() {
        let size = picture().len();
        assert!((60_000..140_000).contains(&size), "{size}");
    }

    #[test]
    fn documents_differ() {
        let data = json!({"invoiceNumber": "7"});
        let made = requests(Kept::Folder, &data);
        let texts: std::collections::BTreeSet<String> =
            made.iter().map(|it| format!("{it:?}")).collect();
        assert_eq!(texts.len(), DOCUMENTS);
    }
}
