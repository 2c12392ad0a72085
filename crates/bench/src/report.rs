//! Generates `docs/benchmarks.md` from committed results: tables and plots between markers; the
//! prose around them is written by hand.
//!
//! A marker is `<!-- bench: render/cells -->`, and it ends with `<!-- end -->`. The content between
//! them is generated from the newest folder in `bench/results`; a test compares both.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Error, Results,
    figures::fill_in,
    history::chart,
    markdown::{Block, Table, size},
    packs::{PACKS, blocks, plots},
    plot::Chart,
    publication::{BUSY, is_busy, obstacles},
};

const OPEN: &str = "<!-- bench: ";
const CLOSE: &str = " -->";
const END: &str = "<!-- end -->";
/// File of the plot of all runs, in their folder.
const HISTORY: &str = "history.svg";
/// Id of the block that says whether the page is a draft.
const STATUS: &str = "status";
/// Start of that block in a draft, and of every block with figures.
const DRAFT: &str = "**Draft.**";

/// Whether a page of results is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Fit for publication.
    Final,
    /// Every table says that it is a draft.
    Draft,
}

impl Status {
    /// The status that a document has.
    #[must_use]
    pub fn of(document: &str) -> Self {
        let marker = format!("{OPEN}{STATUS}{CLOSE}");
        let block = document.split_once(&marker).map(|(_, rest)| rest);
        let block = block.and_then(|rest| rest.split_once(END));
        match block {
            Some((block, _)) if !block.contains(DRAFT) => Self::Final,
            _ => Self::Draft,
        }
    }
}

/// A run: the folder for a day and a machine, with a subfolder for each pack.
#[derive(Clone, Debug)]
pub struct Published {
    /// The folder.
    pub folder: PathBuf,
    /// The packs in it.
    pub packs: Vec<Results>,
}

impl Published {
    /// Reads a run: a folder of packs, or that of a single pack.
    ///
    /// # Errors
    /// The folder has no results.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let mut packs = Vec::new();
        for pack in PACKS {
            let place = folder.join(pack);
            if place.join("summary.json").is_file() {
                packs.push(Results::read(&place)?);
            }
        }
        if packs.is_empty() {
            packs.push(Results::read(folder)?);
        }
        Ok(Self {
            folder: folder.to_owned(),
            packs,
        })
    }

    /// The newest run in a folder of runs, by the dates at the start of their names.
    ///
    /// # Errors
    /// There is none.
    pub fn newest(root: &Path) -> Result<Self, Error> {
        let newest = folders(root)?.pop().ok_or_else(|| {
            Error::argument(
                format!("`{}` holds no results", root.display()),
                "create some with `platen bench all`",
            )
        })?;
        Self::read(&newest)
    }

    /// This run and those beside it, oldest first.
    fn history(&self) -> Result<Vec<Self>, Error> {
        let root = self.folder.parent().unwrap_or(&self.folder);
        let is_run = |folder: &PathBuf| PACKS.iter().any(|pack| folder.join(pack).is_dir());
        let runs: Vec<PathBuf> = folders(root)?.into_iter().filter(is_run).collect();
        runs.iter().map(|folder| Self::read(folder)).collect()
    }

    /// The plot of all runs; its file is beside their folders.
    fn history_chart(&self) -> Result<Chart, Error> {
        let runs = self.history()?;
        let packs: Vec<&[Results]> = runs.iter().map(|run| run.packs.as_slice()).collect();
        Ok(chart(&packs))
    }

    /// What keeps the run from being published as final.
    #[must_use]
    pub fn obstacles(&self) -> Vec<String> {
        obstacles(&self.packs, &self.environment().body)
    }

    /// Says whether the figures are final, and why they are not.
    fn status(&self, status: Status) -> Block {
        let body = match status {
            Status::Final => {
                let first = self.packs.first();
                let commit = first.map_or("", |results| &results.environment.commit);
                format!("All figures are of full runs of commit {commit}.\n")
            }
            Status::Draft => {
                let why = self.obstacles().into_iter();
                let why: String = why.map(|it| format!("- {it}\n")).collect();
                format!("{DRAFT} The figures are not final:\n\n{why}")
            }
        };
        Block {
            id: STATUS.to_owned(),
            title: "Status".to_owned(),
            body,
        }
    }

    /// All blocks of a page with this status.
    fn marked(&self, place: &str, status: Status) -> Result<Vec<Block>, Error> {
        let mut blocks = self.blocks(place);
        blocks.push(Block {
            id: "history/plots".to_owned(),
            title: "History".to_owned(),
            body: format!(
                "![{}]({place}/../{HISTORY})\n",
                self.history_chart()?.title()
            ),
        });
        if status == Status::Draft {
            for block in &mut blocks {
                block.body = format!("{DRAFT}\n\n{}", block.body);
            }
        }
        blocks.push(self.status(status));
        Ok(blocks)
    }

    /// All blocks with figures, including those of the machine and of the plots. `place` is the path from the
    /// document to the run's folder.
    #[must_use]
    pub fn blocks(&self, place: &str) -> Vec<Block> {
        let mut all = vec![self.environment()];
        for results in &self.packs {
            let pack = &results.pack;
            all.extend(blocks(results));
            let mut pictures = String::new();
            for (name, chart) in plots(results) {
                let title = chart.title().replace(['[', ']'], "");
                let _ = writeln!(pictures, "![{title}]({place}/{pack}/{name}.svg)\n");
            }
            all.push(Block {
                id: format!("{pack}/plots"),
                title: "Plots".to_owned(),
                body: pictures,
            });
            all.push(Block {
                id: format!("{pack}/run"),
                title: "The run".to_owned(),
                body: run_of(results),
            });
        }
        all
    }

    fn environment(&self) -> Block {
        let mut table = Table::new(&["What", "Value"]);
        if let Some(results) = self.packs.first() {
            let it = &results.environment;
            let rows = [
                ("Processor", format!("{}, {} cores", it.processor, it.cores)),
                ("Memory", size(Some(it.memory_bytes))),
                ("System", format!("{}, {}", it.system, it.kernel)),
            ];
            for (name, value) in rows {
                table.row(vec![name.to_owned(), value]);
            }
            for (name, version) in &it.programs {
                table.row(vec![format!("`{name}`"), version.clone()]);
            }
        }
        let mut packs = Table::new(&["Pack", "Day", "Platen", "Run", "Load before"]);
        for results in &self.packs {
            let it = &results.environment;
            packs.row(vec![
                results.pack.clone(),
                it.date.clone(),
                format!("{}, commit {}", it.version, it.commit),
                match results.how_quick() {
                    Some(why) => format!("quick: {why}"),
                    None => "whole".to_owned(),
                },
                match is_busy(it) {
                    true => format!("{:.2}, {BUSY}", it.load()),
                    false => format!("{:.2}", it.load()),
                },
            ]);
        }
        Block {
            id: "environment".to_owned(),
            title: "The machine".to_owned(),
            body: format!("{table}\n{packs}"),
        }
    }
}

/// Describes the run: its command, commit, duration, and what was omitted.
pub(crate) fn run_of(results: &Results) -> String {
    let it = &results.environment;
    let mut text = format!(
        "`{}` of commit {} took {:.0} s on a machine with a load of {:.2} before it.\n",
        results.command,
        it.commit,
        results.seconds,
        it.load()
    );
    if let Some(target) = &results.target {
        let _ = writeln!(
            text,
            "\nIt measured {}, version {}, which was already running.",
            target.url, target.version
        );
    }
    if let Some(why) = results.how_quick() {
        let _ = writeln!(
            text,
            "\n**A quick run ({why}):** its percentiles are rough, and it was not repeated."
        );
    }
    if is_busy(it) {
        text += "\n**The machine was busy with other work:** trust the ratios of interleaved \
            rounds, not the rates and times.\n";
    }
    for note in &results.notes {
        let _ = write!(text, "\n- {}", note.replace('\n', " "));
    }
    if !results.notes.is_empty() {
        text.push('\n');
    }
    text
}

/// Replaces the content between the markers of a document.
///
/// # Errors
/// A marker has no end or no results, or results have no marker.
pub fn fill(
    document: &Path,
    text: &str,
    published: &Published,
    status: Status,
) -> Result<String, Error> {
    let wrong = |findings: String| Error::Disagreement {
        path: document.to_owned(),
        findings,
    };
    let blocks = published.marked(&place(document, &published.folder), status)?;
    let mut used = Vec::new();
    let (mut filled, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(OPEN) {
        let (before, marker) = rest.split_at(at);
        let (id, _) = marker[OPEN.len()..]
            .split_once(CLOSE)
            .ok_or_else(|| wrong("a marker is not closed".to_owned()))?;
        let (_, after) = marker
            .split_once(END)
            .ok_or_else(|| wrong(format!("the marker `{id}` has no end")))?;
        filled += before;
        let block = blocks.iter().find(|block| block.id == id);
        let body = match block {
            Some(block) => block.body.trim_end().to_owned(),
            // Final pages have no empty sections.
            None if status == Status::Draft && PACKS.iter().any(|pack| id.starts_with(pack)) => {
                "Not measured in this run.".to_owned()
            }
            None => return Err(wrong(format!("there are no results `{id}`"))),
        };
        let _ = write!(filled, "{OPEN}{id}{CLOSE}\n\n{body}\n\n{END}");
        used.push(id);
        rest = after;
    }
    let missing: Vec<&str> = blocks
        .iter()
        .map(|block| block.id.as_str())
        .filter(|id| !used.contains(id))
        .collect();
    if !missing.is_empty() {
        return Err(wrong(format!(
            "it has no marker for {}",
            missing.join(", ")
        )));
    }
    Ok(filled + rest)
}

/// Fills in the figures of another document, which has no tables. With `is_check`, only reports
/// differences.
///
/// # Errors
/// A figure is unknown; the document cannot be read or written; with `is_check`, it differs.
pub fn update_figures(document: &Path, published: &Published, is_check: bool) -> Result<(), Error> {
    let text = fs::read_to_string(document).map_err(Error::file("read", document))?;
    let disagreement = |findings| Error::Disagreement {
        path: document.to_owned(),
        findings,
    };
    let filled = fill_in(&text, &published.packs).map_err(disagreement)?;
    if filled == text {
        return Ok(());
    }
    if is_check {
        return Err(disagreement("it differs from the results".to_owned()));
    }
    fs::write(document, filled).map_err(Error::file("write", document))
}

/// The folders in a folder, by name.
fn folders(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(root).map_err(Error::file("read", root))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort_by_key(|path| path.file_name().map(std::ffi::OsStr::to_owned));
    Ok(folders)
}

/// The relative path from the folder of a document to a folder in the same tree.
fn place(document: &Path, folder: &Path) -> String {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let from = absolute(document);
    let to = absolute(folder);
    let from: Vec<_> = from
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .collect();
    let to: Vec<_> = to.components().collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut parts = vec!["..".to_owned(); from.len() - shared];
    let names = to[shared..]
        .iter()
        .map(|it| it.as_os_str().to_string_lossy());
    parts.extend(names.map(|it| it.into_owned()));
    parts.join("/")
}

/// Writes the document, and the summaries and plots of the run; without a status, the document
/// keeps its own. With `is_check`, only reports differences.
///
/// # Errors
/// Those of [`fill`]; the figures are to be final and something keeps them from it; a file cannot
/// be read or written; with `is_check`, a file differs.
pub fn update(
    document: &Path,
    published: &Published,
    status: Option<Status>,
    is_check: bool,
) -> Result<(), Error> {
    let text = fs::read_to_string(document).map_err(Error::file("read", document))?;
    let status = status.unwrap_or_else(|| Status::of(&text));
    let obstacles = published.obstacles();
    if status == Status::Final && !obstacles.is_empty() {
        return Err(Error::argument(
            format!("these results are not final: {}", obstacles.join("; ")),
            "measure again, or mark all tables as drafts with --draft",
        ));
    }
    let disagreement = |findings| Error::Disagreement {
        path: document.to_owned(),
        findings,
    };
    let filled = fill(document, &text, published, status)?;
    let filled = fill_in(&filled, &published.packs).map_err(disagreement)?;
    let mut files = vec![(document.to_owned(), filled)];
    let root = published.folder.parent().unwrap_or(&published.folder);
    files.push((root.join(HISTORY), published.history_chart()?.to_svg()));
    for results in &published.packs {
        let folder = match published.folder.join(&results.pack) {
            folder if folder.is_dir() => folder,
            _ => published.folder.clone(),
        };
        files.push((folder.join("summary.md"), results.to_markdown()));
        for (name, chart) in plots(results) {
            files.push((folder.join(format!("{name}.svg")), chart.to_svg()));
        }
    }
    for (path, content) in files {
        if fs::read_to_string(&path).is_ok_and(|known| known == content) {
            continue;
        }
        if is_check {
            return Err(Error::Disagreement {
                path,
                findings: "it differs from the results".to_owned(),
            });
        }
        fs::write(&path, content).map_err(Error::file("write", &path))?;
    }
    Ok(())
}
