//! The measurements of a pack, read from its results folder.
//!
//! `summary.json` has the cells, `environment.json` the machine, `requests.csv.gz` the requests of
//! the harness's client (evenly thinned if a cell has more than
//! [`MAX_RAW_ROWS`](crate::recorder::MAX_RAW_ROWS)), `summary.md` the tables, and the
//! `.svg` files the plots. Tables and plots are generated from `summary.json` alone.

use std::{fs, io::Read, path::Path};

use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Cell, Effort, Error, Name, Times,
    environment::Environment,
    markdown::{NONE, maybe},
    target::Measured,
};

/// Maximum size of a results file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The measurements of a pack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Results {
    /// `render`, `flow`, `office` or `http`.
    pub pack: String,
    /// The command that created them.
    pub command: String,
    /// Duration, in seconds.
    pub seconds: f64,
    /// The service that was already running, if one was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Measured>,
    /// How much was measured at least and at most.
    pub effort: Option<Effort>,
    /// What was omitted, and why.
    pub notes: Vec<String>,
    /// The cells.
    pub cells: Vec<Cell>,
    /// The machine; stored in a file of its own.
    #[serde(skip)]
    pub environment: Environment,
}

impl Results {
    /// Processor time of the server per request; `-` of one that was already running, whose processes the
    /// harness does not see.
    #[must_use]
    pub(crate) fn server_cpu(&self, cell: Option<&Cell>, show: impl Fn(f64) -> String) -> String {
        match (&self.target, cell.and_then(Cell::server_cpu_ms)) {
            (Some(_), None) => NONE.to_owned(),
            (_, value) => maybe(value, show),
        }
    }

    /// The cells whose names `of` accepts, with what it takes from the name.
    pub fn pick<'a, T>(
        &'a self,
        of: impl Fn(&'a Name) -> Option<T> + 'a,
    ) -> impl Iterator<Item = (T, &'a Cell)> + 'a {
        let cells = self.cells.iter();
        cells.filter_map(move |cell| Some((of(&cell.name)?, cell)))
    }

    /// Reads a folder.
    ///
    /// # Errors
    /// The folder has no results.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let mut results: Self = read_json(&folder.join("summary.json"))?;
        results.environment = read_json(&folder.join("environment.json"))?;
        Ok(results)
    }

    /// Whether a request of any cell failed.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.cells.iter().any(Cell::is_void)
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let bytes = read_file(path)?;
    serde_json::from_slice(&bytes).map_err(|error| Error::Results {
        path: path.to_owned(),
        detail: error.to_string(),
    })
}

fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(Error::file("read", path))?;
    let read = file.take(MAX_FILE_BYTES).read_to_end(&mut bytes);
    read.map_err(Error::file("read", path))?;
    Ok(bytes)
}

/// The client times of a cell, from the raw requests of a folder. They must match the summary if no
/// request was omitted.
///
/// # Errors
/// The folder has no such file, or it is damaged.
pub fn client_times_of_requests(folder: &Path, cell: usize) -> Result<Option<Times>, Error> {
    let path = folder.join("requests.csv.gz");
    let packed = read_file(&path)?;
    let mut text = String::new();
    GzDecoder::new(packed.as_slice())
        .take(MAX_FILE_BYTES)
        .read_to_string(&mut text)
        .map_err(Error::file("unpack", &path))?;
    let time = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let is_this = fields.first()?.parse::<usize>().ok()? == cell;
        let is_good = *fields.get(6)? == "1";
        (is_this && is_good).then(|| fields.get(3)?.parse::<u64>().ok())?
    };
    Ok(Times::of(text.lines().skip(1).filter_map(time)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_none_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Results::read(folder.path()).is_err());
        fs::write(folder.path().join("summary.json"), "{").unwrap();
        let error = Results::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("summary.json"), "{error}");
    }
}
