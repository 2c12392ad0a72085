//! Instructions of work that is to stay as cheap as it is: counted by valgrind, so the same whatever
//! else the machine does. They stand in `tests/instructions.json`, with the compiler that made them.

#[allow(dead_code, reason = "each test uses what it needs")]
mod process;

use std::{
    collections::BTreeMap,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use platen_bench::{
    client::{Request, Target},
    office::documents,
};
use process::{has_libreoffice, is_missing, waiting::wait_until};
use serde_json::{Value as Json, json};

/// How much a count may grow without the table being changed with it.
const TOLERANCE: f64 = 0.03;
/// How much it may grow with another compiler than that of the table, which makes other instructions of the
/// same source.
const OF_ANOTHER_COMPILER: f64 = 0.25;
/// What is counted of a rendering: binding, layout, writing; neither start nor fonts.
const RENDERING: &str = "platen_render::renderer::Renderer::render_all";
/// What is counted of a run of a flow: all of it but the sandbox, which is another process.
const FLOW_RUN: &str = "platen_runs::execution::run::FlowRunner::run";
/// What is counted of operations on PDF files: neither start nor reading arguments.
const PDF_CHANGE: &str = "platen_engine::pdf_change::*change_pdfs";
/// What is left out of it: how many rounds this takes depends on random salts (ISO 32000-2, algorithm 2.B).
const PASSWORD_HASH: &str = "*PasswordAlgorithm::compute_hash";
/// The case that needs LibreOffice.
const CONVERSION: &str = "conversion of a letter, own share";

fn repository() -> PathBuf {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    manifest.ancestors().nth(2).unwrap().to_owned()
}

fn output(command: &mut Command) -> Output {
    command
        .current_dir(repository())
        .output()
        .expect("it starts")
}

fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = output(Command::new(rustc).arg("--version")).stdout;
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// The program under callgrind, which counts within `functions`; everything if there are none.
fn counting(functions: &[&str], arguments: &[&str], folder: &Path) -> Command {
    let mut profile = std::ffi::OsString::from("--callgrind-out-file=");
    profile.push(folder.join("profile"));
    let mut command = Command::new("valgrind");
    let functions = functions.iter().map(|it| format!("--toggle-collect={it}"));
    command
        .arg("--tool=callgrind")
        .args(functions)
        .arg(profile)
        .arg(env!("CARGO_BIN_EXE_platen"))
        .args(arguments);
    command
}

/// Instructions within `functions` while the program runs with `arguments`; what is named within another is
/// left out.
fn instructions(functions: &[&str], arguments: &[&str], folder: &Path) -> u64 {
    let said = output(&mut counting(functions, arguments, folder));
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{text}");
    collected(&text)
}

/// How a count grew, as a part of what it was. One of less than half is of something else: the function
/// that is counted has another name by now, or was inlined.
fn growth(case: &str, before: u64, now: u64) -> f64 {
    assert!(
        now > before / 2,
        "{case}: {before} before, {now} now: is all of it still counted? Then run with UPDATE=1"
    );
    now as f64 / before as f64 - 1.0
}

/// The count that callgrind prints at its end.
fn collected(text: &str) -> u64 {
    let count = text
        .lines()
        .find_map(|line| line.split("Collected : ").nth(1));
    let count = count.and_then(|count| count.trim().parse().ok());
    count.unwrap_or_else(|| panic!("no count: {text}"))
}

/// Instructions of one of several repetitions: the difference of a long and a short run, without
/// what happens once.
fn repeated(counts: [u32; 2], count: impl Fn(u32) -> u64) -> u64 {
    let [few, many] = counts.map(|it| (it, count(it)));
    (many.1 - few.1) / u64::from(many.0 - few.0)
}

/// Instructions of the transport for all of its bodies of 1 MB in chunks of 1 kB.
fn bodies(count: u32, folder: &Path) -> u64 {
    let socket = folder.join("socket");
    let _ = std::fs::remove_file(&socket);
    let bind = format!("unix://{}", socket.display());
    let arguments = ["bench", "http-server", "-w", "1", "--bind", &bind];
    let server = counting(&[], &arguments, folder)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let target = Target::Unix(socket);
    wait_until("the server listens", || target.connect().is_ok());
    let headers = [("Body-Conf", "c1024")];
    let request = Request::new("GET", "/", &headers, &[]);
    let mut connection = target.connect().expect("a connection");
    for _ in 0..count {
        let outcome = connection.send(&request);
        assert!(
            outcome.is_good && outcome.size_bytes == 1 << 20,
            "{outcome:?}"
        );
    }
    drop(connection);
    let pid = server.id().to_string();
    let stopped = Command::new("kill").arg(pid).status().expect("kill");
    assert!(stopped.success());
    let said = server.wait_with_output().expect("it ends");
    collected(&String::from_utf8_lossy(&said.stderr))
}

/// Instructions of Platen's side of so many conversions of a letter, bytes in and bytes out; those
/// of LibreOffice are in another process.
fn conversions(count: u32, folder: &Path) -> u64 {
    let functions = [
        "platen_urp::bridge::read::run::{{closure}}",
        "platen_urp::convert::*Client>::convert::{{closure}}",
    ];
    let mut driver = counting(&functions, &["bench", "office-driver"], folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let [letter, made] = ["letter.docx", "made.pdf"].map(|it| folder.join(it));
    let line = format!("{}\t{}\tfile\n", letter.display(), made.display());
    let mut input = driver.stdin.take().expect("a pipe");
    let lines = line.repeat(count as usize);
    input.write_all(lines.as_bytes()).expect("lines are read");
    drop(input);
    let said = driver.wait_with_output().expect("it ends");
    collected(&String::from_utf8_lossy(&said.stderr))
}

/// Operations on files of nine pages, by their names.
fn pdf_operations(folder: &Path) -> Vec<(String, u64)> {
    let path = |name: &str| folder.join(name).display().to_string();
    let (file, out, password) = (path("report.pdf"), path("out"), path("password"));
    std::fs::write(&password, "secret").expect("a file");
    let mut render = Command::new(env!("CARGO_BIN_EXE_platen"));
    let [template, data] =
        ["template", "data"].map(|it| format!("examples/bench-report/{it}.json"));
    let made = output(render.args(["render", &template, &data, "-o", &file]));
    assert!(made.status.success(), "a report");
    let eight = vec![&*file; 8];
    let cases: [(&str, Vec<&str>); 5] = [
        ("merge", eight),
        ("split", vec!["--every", "1", &file]),
        ("stamp", vec!["--file", &file, &file]),
        ("optimize", vec![&file]),
        ("encrypt", vec!["--user-password-file", &password, &file]),
    ];
    let counted = cases.map(|(operation, arguments)| {
        let out = match operation {
            "split" => out.clone(),
            _ => path(&format!("{operation}.pdf")),
        };
        let arguments = [&["pdf", operation, "-q", "-o", &out], &arguments[..]].concat();
        let count = instructions(&[PDF_CHANGE, PASSWORD_HASH], &arguments, folder);
        (format!("pdf {operation}"), count)
    });
    counted.into()
}

fn counted(folder: &Path) -> BTreeMap<String, u64> {
    // One page, and nine.
    let cases = [
        (
            "bench-invoice",
            &["pdf", "docx", "pptx", "xlsx", "csv", "html"][..],
        ),
        (
            "bench-report",
            &["pdf", "docx", "pptx", "xlsx", "csv", "html"],
        ),
    ];
    let mut found = BTreeMap::new();
    for (example, formats) in cases {
        let template = format!("examples/{example}/template.json");
        let data = format!("examples/{example}/data.json");
        for format in formats {
            let made = folder.join(format!("made.{format}"));
            let made = made.to_str().expect("a path");
            let arguments = ["render", &template, &data, "-o", made];
            let count = instructions(&[RENDERING], &arguments, folder);
            found.insert(format!("{example} {format}"), count);
        }
    }
    let flow = ["flow", "run", "examples/flows/sum.json"];
    found.insert(
        "flow run".to_owned(),
        instructions(&[FLOW_RUN], &flow, folder),
    );
    found.extend(pdf_operations(folder));
    let body = repeated([5, 55], |count| bodies(count, folder));
    found.insert("body of 1 MB".to_owned(), body);
    if !is_missing("LibreOffice", has_libreoffice()) {
        documents::write(folder, &["letter.docx"]).expect("a letter");
        let own = repeated([2, 22], |count| conversions(count, folder));
        found.insert(CONVERSION.to_owned(), own);
    }
    found
}

#[test]
fn work_is_as_cheap_as_it_was() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        let required = std::env::var("REQUIRE_ALL").is_ok_and(|it| it == "1");
        assert!(!required, "valgrind is needed (REQUIRE_ALL=1)");
        eprintln!("SKIP: valgrind is not installed");
        return;
    }
    let path = repository().join("tests/instructions.json");
    let folder = tempfile::tempdir().expect("a folder");
    let (compiler, now) = (compiler(), counted(folder.path()));
    for (case, count) in &now {
        assert!(*count > 10_000, "{case}: {count}: nothing is counted");
    }
    if std::env::var_os("UPDATE").is_some() {
        let table = json!({"compiler": compiler, "instructions": now});
        let text = serde_json::to_string_pretty(&table).expect("JSON");
        std::fs::write(&path, text + "\n").expect("the table is written");
        return;
    }
    let table = std::fs::read(&path).expect("tests/instructions.json");
    let table: Json = serde_json::from_slice(&table).expect("a table");
    let tolerance = match table["compiler"] == compiler.as_str() {
        true => TOLERANCE,
        false => OF_ANOTHER_COMPILER,
    };
    eprintln!("made with {}, by {compiler} now", table["compiler"]);
    let mut table: BTreeMap<String, u64> =
        serde_json::from_value(table["instructions"].clone()).expect("counts");
    if !now.contains_key(CONVERSION) {
        table.remove(CONVERSION);
    }
    let (cases, known): (Vec<_>, Vec<_>) = (now.keys().collect(), table.keys().collect());
    assert_eq!(cases, known, "the table has other cases: run with UPDATE=1");
    let mut grown = String::new();
    for (case, count) in &now {
        let before = table[case];
        let growth = growth(case, before, *count);
        eprintln!("{case}: {count} ({:+.2} %)", growth * 100.0);
        if growth > tolerance {
            grown += &format!("\n{case}: {before} to {count} ({:+.1} %)", growth * 100.0);
        }
    }
    assert!(
        grown.is_empty(),
        "more instructions than tests/instructions.json says; make it cheaper again, or say why in \
         the commit and run with UPDATE=1:{grown}"
    );
}
