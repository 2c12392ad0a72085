//! Writes the results folder of a pack; [`results`](crate::results) lists its files.

use std::{fs, io::Write as _, path::Path};

use flate2::{Compression, write::GzEncoder};
use serde::Serialize;

use crate::{Error, environment::Environment, packs, recorder::Recorder, results::Results};

impl Recorder {
    /// Ends the recording, and writes it if a folder is given.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn finish(
        mut self,
        command: &str,
        environment: Environment,
        folder: Option<&Path>,
    ) -> Result<Results, Error> {
        self.results.command = command.to_owned();
        self.results.environment = environment;
        self.results.seconds = (self.begun.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        if let Some(folder) = folder {
            self.write(folder)?;
        }
        Ok(self.results)
    }

    fn write(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(Error::file("make", folder))?;
        let put = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            fs::write(&path, bytes).map_err(Error::file("write", path))
        };
        let json = |value: Result<String, serde_json::Error>| value.unwrap_or_default() + "\n";
        let summary = json(serde_json::to_string_pretty(&Rounded(&self.results)));
        put("summary.json", summary.as_bytes())?;
        let environment = json(serde_json::to_string_pretty(&self.results.environment));
        put("environment.json", environment.as_bytes())?;
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        let packed = gzip
            .write_all(self.rows.as_bytes())
            .and_then(|()| gzip.finish());
        let path = folder.join("requests.csv.gz");
        put(
            "requests.csv.gz",
            &packed.map_err(Error::file("pack", path))?,
        )?;
        // Tables and plots are generated from what was written, as they will be when they are
        // generated again.
        let written = Results::read(folder)?;
        put("summary.md", written.to_markdown().as_bytes())?;
        for (name, chart) in packs::plots(&written) {
            put(&format!("{name}.svg"), chart.to_svg().as_bytes())?;
        }
        Ok(())
    }
}

/// Results whose numbers are rounded to six decimals.
struct Rounded<'a>(&'a Results);

impl Serialize for Rounded<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut value = serde_json::to_value(self.0).map_err(serde::ser::Error::custom)?;
        round(&mut value);
        value.serialize(serializer)
    }
}

fn round(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(|it| (it * 1e6).round() / 1e6);
            if let Some(rounded) = rounded.and_then(serde_json::Number::from_f64) {
                *number = rounded;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cell, Outcome,
        interval::Basis,
        load::Load,
        name::{Document, RenderName},
        results::client_times_of_requests,
    };

    #[test]
    fn what_is_written_is_read_and_the_requests_agree_with_it() {
        let load = Load::closed(2, 0, 100);
        let mut recorder = Recorder::new("render");
        for document in [Document::Pdf1p, Document::Pdf10p] {
            let run = load
                .run(|| {
                    Ok(|| Outcome {
                        is_good: true,
                        status: 200,
                        size_bytes: 7,
                        pages: Some(1),
                        ..Outcome::default()
                    })
                })
                .unwrap();
            let mut cell = Cell::new(RenderName::Cells { document }, &load);
            cell.take(std::slice::from_ref(&run), Basis::Requests);
            recorder.add(cell, &[run]);
        }
        recorder.note("chromium was left out");
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment {
            date: "2026-11-21".to_owned(),
            ..Environment::default()
        };
        let results = recorder
            .finish("platen bench render", environment, Some(folder.path()))
            .unwrap();
        let read = Results::read(folder.path()).unwrap();
        assert_eq!(read.environment, results.environment);
        assert_eq!(read.to_markdown(), results.to_markdown());
        assert!(read.to_markdown().contains("chromium was left out"));
        for index in 0..2 {
            let times = client_times_of_requests(folder.path(), index).unwrap();
            assert_eq!(
                times.unwrap().shares,
                read.cells[index].client.as_ref().unwrap().shares
            );
        }
        assert_eq!(client_times_of_requests(folder.path(), 2).unwrap(), None);
    }
}
