//! One case: its files, what it must give, and how the two are compared.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    reduce,
    tools::{Tools, platen, print_of, repository},
};

/// How much of a case is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every line.
    Whole,
    /// The first and last lines and a checksum of the rest: for examples of many pages.
    Ends,
    /// Pages, text, CSV and warnings: for examples of kinds of documents, whose nodes have cases of
    /// their own.
    Text,
}

/// A template with data and what they give.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name in messages.
    pub name: String,
    /// Folder of `template.json` and `data.json`.
    pub source: PathBuf,
    /// Folder of what is expected.
    pub expected: PathBuf,
    /// How much is compared.
    pub extent: Extent,
}

const FORMATS: [&str; 5] = ["pdf", "docx", "pptx", "xlsx", "html"];

impl Case {
    /// Renders and compares. All that is wrong.
    pub fn run(&self, tools: Tools) -> Vec<String> {
        let mut wrong = Vec::new();
        let folder = tempfile::tempdir().expect("a folder");
        match self.results(folder.path(), tools, &mut wrong) {
            Ok(results) => self.compare(&results, &mut wrong),
            Err(reason) => wrong.push(reason),
        }
        for reason in &mut wrong {
            *reason = format!("{}: {reason}", self.name);
        }
        wrong
    }

    /// Arguments of `platen render` with the fonts of the examples, for those that need more than
    /// the shipped ones.
    pub fn font_arguments(&self) -> Vec<String> {
        let own = std::fs::read_to_string(self.source.join("fonts.txt"));
        let folder = match (own, self.extent) {
            (Ok(folder), _) => repository().join(folder.trim()),
            (Err(_), Extent::Text) => repository().join("examples/fonts"),
            (Err(_), _) => return Vec::new(),
        };
        vec!["--fonts".to_owned(), folder.display().to_string()]
    }

    fn input(&self, name: &str) -> String {
        self.source.join(name).display().to_string()
    }

    /// Renders `formats` into `folder`; what `platen` said.
    fn render(&self, folder: &Path, formats: &[&str]) -> Result<String, String> {
        let outputs: Vec<PathBuf> = formats
            .iter()
            .map(|format| folder.join(format!("out.{format}")))
            .collect();
        let (template, data) = (self.input("template.json"), self.input("data.json"));
        let fonts = self.font_arguments();
        let mut arguments = vec!["render", &template, &data];
        arguments.extend(fonts.iter().map(String::as_str));
        let output = platen(&arguments, &outputs);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(said);
        }
        let place = folder.display().to_string();
        Ok(said
            .lines()
            .filter(|line| !line.starts_with(&place))
            .map(|line| format!("{line}\n"))
            .collect())
    }

    /// What the case gives, by file name of its expectation.
    fn results(
        &self,
        folder: &Path,
        tools: Tools,
        wrong: &mut Vec<String>,
    ) -> Result<BTreeMap<&'static str, String>, String> {
        let mut results = BTreeMap::new();
        let mut formats = FORMATS.to_vec();
        if self.has_table() {
            formats.push("csv");
        }
        let warnings = self.render(folder, &formats)?;
        results.insert("warnings.txt", warnings);
        let again = tempfile::tempdir().expect("a folder");
        self.render(again.path(), &formats)?;
        for format in &formats {
            let name = format!("out.{format}");
            if read(&folder.join(&name))? != read(&again.path().join(&name))? {
                wrong.push(format!("rendering twice gives different {format} files"));
            }
        }
        self.pdf_results(&folder.join("out.pdf"), tools, &mut results, wrong);
        if formats.contains(&"csv") {
            results.insert("out.csv", text_of(&folder.join("out.csv"))?);
        }
        let package = |format| read(&folder.join(format!("out.{format}")));
        let docx = reduce::parts(&package("docx")?, reduce::is_docx_part)?;
        results.insert("docx.xml", docx);
        let pptx = reduce::parts(&package("pptx")?, reduce::is_pptx_part)?;
        results.insert("pptx.xml", pptx);
        let xlsx = reduce::parts(&package("xlsx")?, reduce::is_xlsx_part)?;
        results.insert("xlsx.xml", xlsx);
        results.insert("out.html", text_of(&folder.join("out.html"))?);
        if self.extent == Extent::Ends {
            for text in results.values_mut() {
                *text = reduce::ends(text);
            }
        }
        if self.extent == Extent::Text {
            let kept = ["pages.txt", "text.txt", "out.csv", "warnings.txt"];
            results.retain(|name, _| kept.contains(name));
        }
        Ok(results)
    }

    fn pdf_results(
        &self,
        pdf: &Path,
        tools: Tools,
        results: &mut BTreeMap<&'static str, String>,
        wrong: &mut Vec<String>,
    ) {
        let name = pdf.display().to_string();
        let mut keep = |file, found: Result<String, String>| match found {
            Ok(text) => {
                results.insert(file, text);
            }
            Err(reason) => wrong.push(reason),
        };
        if tools.poppler {
            keep("boxes.txt", reduce::boxes(pdf));
            keep("text.txt", reduce::text(pdf));
            let facts = print_of("pdfinfo", &[&name]);
            let pages = facts.as_deref().map(|facts| fact(facts, "Pages"));
            keep("pages.txt", pages.map_err(String::clone));
            match facts {
                Ok(facts) if fact(&facts, "Tagged") == "yes\n" => {}
                Ok(_) => wrong.push("the PDF is not tagged".to_owned()),
                Err(reason) => wrong.push(reason),
            }
        }
        if tools.qpdf
            && let Err(reason) = print_of("qpdf", &["--check", &name])
        {
            wrong.push(reason);
        }
    }

    /// True where the template shows a table that CSV can hold.
    pub fn has_table(&self) -> bool {
        text_of(&self.source.join("template.json"))
            .is_ok_and(|template| template.contains("\"type\": \"table\""))
    }

    fn compare(&self, results: &BTreeMap<&'static str, String>, wrong: &mut Vec<String>) {
        let update = std::env::var("UPDATE").as_deref() == Ok("1");
        if update {
            std::fs::create_dir_all(&self.expected).expect("a folder");
        }
        for (name, found) in results {
            let path = self.expected.join(name);
            let known = std::fs::read_to_string(&path).unwrap_or_default();
            if known == *found {
                continue;
            }
            if update && found.is_empty() {
                std::fs::remove_file(&path).expect("a file that can go");
            } else if update {
                std::fs::write(&path, found).expect("a file that can be written");
            } else {
                wrong.push(format!("{name} {}", first_difference(&known, found)));
            }
        }
    }
}

fn fact(facts: &str, name: &str) -> String {
    facts
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .map(|value| format!("{}\n", value.trim()))
        .unwrap_or_default()
}

fn first_difference(known: &str, found: &str) -> String {
    if known.is_empty() {
        return "is not expected yet; `UPDATE=1` writes it".to_owned();
    }
    let mut line = 1;
    let (mut known, mut found) = (known.lines(), found.lines());
    loop {
        match (known.next(), found.next()) {
            (None, None) => return "differs in its line ends".to_owned(),
            (known, found) if known == found => line += 1,
            (known, found) => {
                let show = |text: Option<&str>| text.unwrap_or("(end)").to_owned();
                return format!(
                    "differs at line {line}\n  expected: {}\n  found:    {}",
                    show(known),
                    show(found)
                );
            }
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn text_of(path: &Path) -> Result<String, String> {
    let bytes = read(path)?;
    String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8", path.display()))
}
