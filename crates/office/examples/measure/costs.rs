//! What LibreOffice can be told to leave out, and what each is worth: processes that differ in one
//! thing, in turns, measured by their processor time, which other load changes least.

use std::{path::Path, time::Instant};

use bytes::Bytes;
use platen_urp::{Conversion, Input, Output, Property};

use crate::{
    Failure,
    soffice::{Difference, Soffice},
};

/// What Platen tells LibreOffice for a document of Word.
fn conversion() -> Conversion {
    Conversion {
        filter: "writer_pdf_Export".to_owned(),
        import_filter: Some("MS Word 2007 XML".to_owned()),
        ..Conversion::default()
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => 0.0,
        0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

struct Variant {
    name: &'static str,
    difference: Difference,
    change: fn(&mut Conversion),
}

const fn variables(
    name: &'static str,
    variables: &'static [(&'static str, &'static str)],
) -> Variant {
    Variant {
        name,
        difference: Difference {
            variables,
            settings: &[],
        },
        change: |_| {},
    }
}

const fn settings(
    name: &'static str,
    settings: &'static [(&'static str, &'static str, &'static str)],
) -> Variant {
    Variant {
        name,
        difference: Difference {
            variables: &[],
            settings,
        },
        change: |_| {},
    }
}

const fn changed(name: &'static str, change: fn(&mut Conversion)) -> Variant {
    Variant {
        name,
        difference: Difference {
            variables: &[],
            settings: &[],
        },
        change,
    }
}

const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

#[rustfmt::skip]
const VARIANTS: &[Variant] = &[
    variables("as it is", &[]),
    variables("as it is, again", &[]),
    variables("MALLOC_ARENA_MAX=1", &[("MALLOC_ARENA_MAX", "1")]),
    variables("no trim, no mmap threshold", &[("MALLOC_TRIM_THRESHOLD_", "268435456"), ("MALLOC_MMAP_THRESHOLD_", "268435456"), ("MALLOC_TOP_PAD_", "16777216")]),
    variables("jemalloc", &[("LD_PRELOAD", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")]),
    variables("tcmalloc", &[("LD_PRELOAD", "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4")]),
    variables("huge pages (glibc)", &[("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")]),
    variables("SAL_DISABLE_OPENCL, no skia", &[("SAL_DISABLE_OPENCL", "1"), ("SAL_DISABLESKIA", "1")]),
    variables("locale C.UTF-8", &[("LC_ALL", "C.UTF-8"), ("LANG", "C.UTF-8")]),
    settings("hyphenation and spelling off", &[
        ("/org.openoffice.Office.Linguistic/Hyphenation", "IsHyphAuto", "false"),
        ("/org.openoffice.Office.Linguistic/Hyphenation", "IsHyphSpecial", "false"),
        ("/org.openoffice.Office.Linguistic/GrammarChecking", "IsAutoCheck", "false"),
        ("/org.openoffice.Office.Common/AutoCorrect", "Enable", "false"),
    ]),
    settings("no font history, no replacement table", &[
        ("/org.openoffice.Office.Common/Font/View", "History", "false"),
        ("/org.openoffice.Office.Common/Font/Substitution", "Replacement", "false"),
        ("/org.openoffice.Office.Common/Font/View", "ShowFontBoxWYSIWYG", "false"),
    ]),
    settings("no anti-aliasing", &[
        ("/org.openoffice.Office.Common/Drawinglayer", "AntiAliasing", "false"),
    ]),
    settings("graphics memory 512 MB", &[
        ("/org.openoffice.Office.Common/Cache/GraphicManager", "GraphicMemoryLimit", "536870912"),
        ("/org.openoffice.Office.Common/Cache/GraphicManager", "TotalCacheSize", "536870912"),
        ("/org.openoffice.Office.Common/Cache/GraphicManager", "ObjectCacheSize", "67108864"),
    ]),
    changed("images: resolution as it is", |it| it.filter_data.push(Property::new("ReduceImageResolution", false))),
    changed("images: to 150 dpi", |it| {
        it.filter_data.push(Property::new("ReduceImageResolution", true));
        it.filter_data.push(Property::new("MaxImageResolution", 150));
    }),
    changed("images: lossless", |it| it.filter_data.push(Property::new("UseLosslessCompression", true))),
    changed("not tagged", |it| it.filter_data.push(Property::new("UseTaggedPDF", false))),
    changed("tagged", |it| it.filter_data.push(Property::new("UseTaggedPDF", true))),
    changed("no bookmarks", |it| it.filter_data.push(Property::new("ExportBookmarks", false))),
    changed("PDF/A-2b", |it| it.filter_data.push(Property::new("SelectPdfVersion", 2))),
    changed("indexes brought up to date", |it| it.update_indexes = true),
];

/// Prints a table for a document. `COSTS` names variants to measure, by a part of their names.
pub(crate) async fn compare(path: &Path, rounds: usize) -> Result<(), Failure> {
    let wanted = std::env::var("COSTS").unwrap_or_default();
    let is_wanted = |variant: &&Variant| {
        let named = wanted.split(',').any(|part| variant.name.contains(part));
        wanted.is_empty() || variant.name.starts_with("as it is") || named
    };
    let is_there = |variant: &&Variant| {
        let mut files = variant.difference.variables.iter().map(|(_, value)| *value);
        files.all(|value| !value.starts_with(LIBRARIES) || Path::new(value).exists())
    };
    let variants: Vec<&Variant> = VARIANTS.iter().filter(is_wanted).filter(is_there).collect();
    let mut measured: Vec<Measured> = Vec::new();
    for variant in &variants {
        measured.push(Measured::start(variant, path).await?);
    }
    for round in 0..rounds {
        for step in 0..variants.len() {
            let index = (round + step) % variants.len();
            measured[index].convert(path).await?;
        }
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    println!("\n### {name}, {rounds} rounds\n");
    println!(
        "| | CPU median, ms | of as it is | wall median, ms | of as it is | PDF bytes | peak MB |"
    );
    println!("|---|---|---|---|---|---|---|");
    let (cpu, wall) = (median(&measured[0].cpu_ms), median(&measured[0].wall_ms));
    for (variant, one) in variants.iter().zip(&measured) {
        println!(
            "| {} | {:.0} | {:.3} | {:.1} | {:.3} | {} | {:.0} |",
            variant.name,
            median(&one.cpu_ms),
            median(&one.cpu_ms) / cpu,
            median(&one.wall_ms),
            median(&one.wall_ms) / wall,
            one.size_bytes,
            one.soffice.peak_mb(),
        );
    }
    Ok(())
}

struct Measured {
    soffice: Soffice,
    conversion: Conversion,
    cpu_ms: Vec<f64>,
    wall_ms: Vec<f64>,
    size_bytes: usize,
    /// Conversions a sample: short ones are measured together, as processor time comes in 10 ms.
    count: u32,
}

impl Measured {
    async fn start(variant: &Variant, path: &Path) -> Result<Self, Failure> {
        let mut conversion = conversion();
        (variant.change)(&mut conversion);
        let mut made = Self {
            soffice: Soffice::start(variant.difference).await?,
            conversion,
            cpu_ms: Vec::new(),
            wall_ms: Vec::new(),
            size_bytes: 0,
            count: if path.metadata()?.len() < 100_000 {
                20
            } else {
                1
            },
        };
        made.convert(path).await?;
        made.cpu_ms.clear();
        made.wall_ms.clear();
        Ok(made)
    }

    async fn convert(&mut self, path: &Path) -> Result<(), Failure> {
        let bytes = Bytes::from(tokio::fs::read(path).await?);
        let (start, before) = (Instant::now(), self.soffice.cpu_ms());
        for _ in 0..self.count {
            let (input, output) = (Input::Bytes(bytes.clone()), Output::Bytes);
            let converted = self.soffice.client.convert(input, output, &self.conversion);
            self.size_bytes = converted.await?.bytes.map_or(0, |it| it.len());
        }
        let count = f64::from(self.count);
        self.wall_ms
            .push(start.elapsed().as_secs_f64() * 1e3 / count);
        self.cpu_ms.push((self.soffice.cpu_ms() - before) / count);
        Ok(())
    }
}
