//! `platen pdf` on files of our own.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Value as Json, json};

fn platen(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    let command = command.current_dir(folder).args(arguments);
    command.output().expect("platen starts")
}

#[track_caller]
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = platen(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn described(folder: &Path, file: &str) -> Json {
    let said = done(folder, &["pdf", "describe", file]);
    serde_json::from_str::<Json>(&said).expect("JSON")[file].clone()
}

#[test]
fn files_are_changed_and_described() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("a folder"));
    let example = root.join("../../examples/bench-invoice");
    let file = |name: &str| example.join(name).display().to_string();
    let (template, data) = (file("template.json"), file("data.json"));
    done(folder, &["render", &template, &data, "-o", "a.pdf"]);
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");

    let pages = described(folder, "a.pdf")["pages"].as_u64().expect("pages");
    done(folder, &["pdf", "merge", "a.pdf", "a.pdf", "-o", "two.pdf"]);
    assert_eq!(described(folder, "two.pdf")["pages"], pages * 2);
    done(
        folder,
        &["pdf", "split", "two.pdf", "--every", "1", "-o", "parts"],
    );
    let parts = std::fs::read_dir(folder.join("parts"))
        .expect("a folder")
        .count();
    assert_eq!(parts as u64, pages * 2);
    done(
        folder,
        &[
            "pdf",
            "select",
            "two.pdf",
            "--pages",
            "1",
            "-o",
            "first.pdf",
        ],
    );
    assert_eq!(described(folder, "first.pdf")["pages"], 1);
    done(
        folder,
        &[
            "pdf",
            "rotate",
            "a.pdf",
            "--degrees",
            "90",
            "-o",
            "turned.pdf",
        ],
    );
    done(folder, &["pdf", "flatten", "a.pdf", "-o", "flat.pdf"]);
    let stamp = [
        "pdf",
        "stamp",
        "a.pdf",
        "--text",
        "BEZAHLT",
        "--color",
        "red",
        "--diagonal",
    ];
    done(
        folder,
        &[&stamp[..], &["--opacity", "0.3", "-o", "paid.pdf"]].concat(),
    );
    let numbers = [
        "pdf",
        "stamp",
        "two.pdf",
        "--numbered",
        "--text",
        "{page}/{pages}",
    ];
    done(folder, &[&numbers[..], &["-o", "numbered.pdf"]].concat());
    let said = done(folder, &["pdf", "text", "numbered.pdf"]);
    assert!(said.contains("1/2") && said.contains("2/2"), "{said}");
    let letterhead = ["pdf", "stamp", "two.pdf", "--file", "numbered.pdf"];
    done(
        folder,
        &[&letterhead[..], &["--each-page", "-o", "both.pdf"]].concat(),
    );
    let said = done(folder, &["pdf", "text", "both.pdf"]);
    assert!(said.contains("1/2") && said.contains("2/2"), "{said}");
    done(
        folder,
        &[
            "pdf",
            "stamp",
            "a.pdf",
            "--file",
            "paid.pdf",
            "--below",
            "-o",
            "under.pdf",
        ],
    );

    write("marks.json", r#"[{"title": "Start", "page": 1}]"#);
    done(
        folder,
        &[
            "pdf",
            "bookmarks",
            "a.pdf",
            "--bookmarks",
            "marks.json",
            "-o",
            "b.pdf",
        ],
    );
    write("data.xml", "<a/>");
    done(
        folder,
        &[
            "pdf", "attach", "b.pdf", "--file", "data.xml", "-o", "c.pdf",
        ],
    );
    write("about.json", r#"{"Title": "About"}"#);
    done(
        folder,
        &[
            "pdf",
            "metadata",
            "c.pdf",
            "--metadata",
            "about.json",
            "-o",
            "d.pdf",
        ],
    );
    let said = described(folder, "d.pdf");
    assert_eq!(said["bookmarks"], json!([{"title": "Start", "page": 1}]));
    assert_eq!(said["metadata"]["Title"], "About");
    assert_eq!(said["attachments"][0]["name"], "data.xml");
    done(folder, &["pdf", "attachments", "d.pdf", "-o", "files"]);
    assert_eq!(
        std::fs::read(folder.join("files/data.xml")).expect("a file"),
        b"<a/>"
    );
    // What is in the folder stays, whatever a stranger named an attached file.
    let again = platen(folder, &["pdf", "attachments", "d.pdf", "-o", "files"]);
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("choose a folder"));

    write("secret", "päss\n");
    let seal = ["pdf", "encrypt", "d.pdf", "--user-password-file", "secret"];
    done(
        folder,
        &[&seal[..], &["--forbid", "copying", "-o", "sealed.pdf"]].concat(),
    );
    let refused = platen(folder, &["pdf", "describe", "sealed.pdf"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("encrypted"));
    let open = [
        "pdf",
        "decrypt",
        "sealed.pdf",
        "--password-file",
        "secret",
        "-o",
        "open.pdf",
    ];
    done(folder, &open);
    assert_eq!(described(folder, "open.pdf")["pages"], pages);

    write(
        "list.json",
        r#"[{"do": "merge"}, {"do": "attach", "file": "data.xml"}]"#,
    );
    let list = [
        "pdf",
        "change",
        "a.pdf",
        "b.pdf",
        "--operations",
        "list.json",
    ];
    let said = done(
        folder,
        &[
            &list[..],
            &["--beside", "data.xml", "-o", "all.pdf", "--json"],
        ]
        .concat(),
    );
    assert_eq!(
        serde_json::from_str::<Json>(&said).expect("JSON")["ok"],
        true
    );
    assert_eq!(
        described(folder, "all.pdf")["attachments"][0]["sizeBytes"],
        4
    );
}

/// A form of our own, as a PDF.
fn form(folder: &Path) {
    let field = |name: &str, kind: &str| json!({"type": "formField", "name": name, "kind": kind, "label": name});
    let template = json!({
        "kind": "document", "key": "form", "page": {"size": "A5"},
        "body": [
            {"type": "text", "content": "A form to fill in"},
            field("name", "text"), field("agreed", "checkBox"), field("day", "date"),
        ],
    });
    std::fs::write(folder.join("form.json"), template.to_string()).expect("a file");
    std::fs::write(folder.join("none.json"), "{}").expect("a file");
    done(
        folder,
        &["render", "form.json", "none.json", "-o", "form.pdf"],
    );
}

#[test]
fn forms_are_filled_in_and_read_and_made_small() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    form(folder);
    let fields = described(folder, "form.pdf")["fields"].clone();
    let names: Vec<&str> = (fields.as_array().expect("fields").iter())
        .filter_map(|field| field["name"].as_str())
        .collect();
    assert_eq!(names, ["name", "agreed", "day"], "{fields}");
    // The font of the form has no Japanese and no Hebrew: our own layout has.
    let values = json!({"name": "Ada שלום", "agreed": true, "day": "2026-11-27"});
    std::fs::write(folder.join("values.json"), values.to_string()).expect("a file");
    let fill = ["pdf", "fill", "form.pdf", "--values", "values.json", "-o"];
    done(folder, &[&fill[..], &["filled.pdf"]].concat());
    let filled = described(folder, "filled.pdf")["fields"].clone();
    assert_eq!(filled[0]["value"], values["name"]);
    assert_eq!(filled[1]["value"], true);
    done(folder, &[&fill[..], &["flat.pdf", "--flatten"]].concat());
    assert_eq!(described(folder, "flat.pdf")["fields"], json!([]));
    let text = done(folder, &["pdf", "text", "flat.pdf"]);
    assert!(
        text.contains("A form to fill in") && text.contains("שלום"),
        "{text}"
    );
    std::fs::write(folder.join("values.json"), r#"{"nobody": 1}"#).expect("a file");
    let refused = platen(folder, &[&fill[..], &["x.pdf"]].concat());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("no field `nobody`; there are name, agreed, day"),
        "{said}"
    );

    done(
        folder,
        &["pdf", "merge", "form.pdf", "form.pdf", "-o", "two.pdf"],
    );
    let said = done(
        folder,
        &["pdf", "optimize", "two.pdf", "-o", "small.pdf", "--json"],
    );
    let said: Json = serde_json::from_str(said.lines().next().expect("a line")).expect("JSON");
    assert_eq!(said["code"], "optimized");
    let size = std::fs::metadata(folder.join("small.pdf"))
        .expect("a file")
        .len();
    assert_eq!(said["sizeBytes"], size);
    assert!(size < said["sizeBytesBefore"].as_u64().expect("a size"));
    done(folder, &["pdf", "images", "small.pdf", "-o", "pictures"]);
    let draw = [
        "pdf",
        "pages",
        "small.pdf",
        "--pages",
        "2",
        "--dpi",
        "72",
        "-o",
    ];
    done(folder, &[&draw[..], &["pages"]].concat());
    let page = std::fs::read(folder.join("pages/small-2.png")).expect("a page");
    // The width of A5 in points.
    assert_eq!(page[16..20], 420_u32.to_be_bytes());

    let whole = std::fs::read(folder.join("form.pdf")).expect("a file");
    std::fs::write(folder.join("cut.pdf"), &whole[..whole.len() - 20]).expect("a file");
    let output = platen(
        folder,
        &[
            "pdf",
            "rotate",
            "cut.pdf",
            "--degrees",
            "90",
            "-o",
            "mended.pdf",
        ],
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.contains("cut.pdf: repaired"),
        "{said}"
    );
    assert_eq!(described(folder, "mended.pdf")["pages"], 1);
}

#[test]
fn mistakes_say_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("a.pdf"), "no PDF").expect("a file");
    std::fs::write(folder.join("list.json"), r#"[{"do": "burn"}]"#).expect("a file");
    for (arguments, said) in [
        (
            &["pdf", "flatten", "a.pdf", "-o", "b.pdf"][..],
            "a.pdf: this is not a PDF file",
        ),
        (
            &[
                "pdf",
                "change",
                "a.pdf",
                "--operations",
                "list.json",
                "-o",
                "b.pdf",
            ],
            "burn",
        ),
        (
            &[
                "pdf",
                "rotate",
                "missing.pdf",
                "--degrees",
                "90",
                "-o",
                "b.pdf",
            ],
            "missing.pdf",
        ),
    ] {
        let output = platen(folder, arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && text.contains(said),
            "{arguments:?}: {text}"
        );
        assert!(!folder.join("b.pdf").exists());
    }
}

#[test]
fn files_of_ours_are_found_to_be_what_they_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("a folder"));
    for (example, standards) in [
        ("bench-invoice", &["PDF/UA-1"][..]),
        ("invoice-xrechnung-de", &["PDF/A-3b", "PDF/UA-1"]),
    ] {
        let example = root.join("../../examples").join(example);
        let file = |name: &str| example.join(name).display().to_string();
        let (template, data) = (file("template.json"), file("data.json"));
        done(folder, &["render", &template, &data, "-o", "a.pdf"]);
        let said = done(folder, &["pdf", "validate", "a.pdf"]);
        let said: Json = serde_json::from_str(&said).expect("JSON");
        assert_eq!(said["a.pdf"]["valid"], true, "{said}");
        assert_eq!(said["a.pdf"]["standards"], json!(standards), "{said}");
    }
    let wanted = ["pdf", "validate", "a.pdf", "--standard", "pdf-a-2b"];
    let refused = platen(folder, &wanted);
    assert!(!refused.status.success(), "it is PDF/A-3b");
    let wrong = ["pdf", "validate", "a.pdf", "--standard", "pdf-a-9"];
    let refused = platen(folder, &wrong);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("pdf-a-2b"));
}

/// A page, made from a template.
fn page(folder: &Path, name: &str) {
    let template =
        json!({"kind": "document", "key": "a", "body": [{"type": "text", "content": "A page"}]});
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write("template.json", &template.to_string());
    write("data.json", "{}");
    done(
        folder,
        &["render", "template.json", "data.json", "-q", "-o", name],
    );
}

/// Inputs are mapped, and a file that is written over its own mapping would be cut off while it is read.
#[test]
fn a_file_may_be_its_own_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    page(folder, "a.pdf");
    let before = std::fs::read(folder.join("a.pdf")).expect("a file");
    // Nothing to be merged: the result is the input.
    done(folder, &["pdf", "merge", "a.pdf", "-q", "-o", "a.pdf"]);
    done(folder, &["merge", "a.pdf", "-q", "-o", "a.pdf"]);
    assert!(std::fs::read(folder.join("a.pdf")).expect("a file") == before);
    // By another name of the same file, and one of several.
    std::fs::hard_link(folder.join("a.pdf"), folder.join("b.pdf")).expect("a link");
    done(folder, &["pdf", "merge", "a.pdf", "-q", "-o", "b.pdf"]);
    assert!(std::fs::read(folder.join("a.pdf")).expect("a file") == before);
    done(
        folder,
        &[
            "pdf",
            "rotate",
            "a.pdf",
            "--degrees",
            "90",
            "-q",
            "-o",
            "a.pdf",
        ],
    );
    assert_eq!(described(folder, "b.pdf")["pages"], 1);
    // A pipe is read, not mapped.
    let program = env!("CARGO_BIN_EXE_platen");
    let line = format!("cat a.pdf | {program} pdf rotate --degrees 90 -q -o c.pdf /dev/stdin");
    let piped = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder)
        .status();
    assert!(piped.expect("a shell").success());
    assert_eq!(described(folder, "c.pdf")["pages"], 1);
    std::fs::write(folder.join("empty.pdf"), "").expect("a file");
    let output = platen(folder, &["pdf", "describe", "empty.pdf"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a PDF"));
}

/// A file of 96 MiB is in memory once, whatever is done with it: the process may have 150 MiB of its own.
#[test]
fn a_large_file_is_not_in_memory_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    page(folder, "a.pdf");
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..96 << 20)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    std::fs::write(folder.join("noise.bin"), noise).expect("a file");
    let attached = [
        "pdf",
        "attach",
        "a.pdf",
        "--file",
        "noise.bin",
        "-q",
        "-o",
        "large.pdf",
    ];
    done(folder, &attached);
    std::fs::write(folder.join("word"), "secret").expect("a file");
    for operation in [
        &["merge", "large.pdf", "a.pdf"][..],
        &["rotate", "large.pdf", "--degrees", "90"],
        &["flatten", "large.pdf"],
        &["encrypt", "large.pdf", "--user-password-file", "word"],
        &["describe", "large.pdf"],
    ] {
        let mut command = Command::new("prlimit");
        command.arg(format!("--data={}", 150_u64 << 20));
        command
            .arg(env!("CARGO_BIN_EXE_platen"))
            .arg("pdf")
            .args(operation);
        if operation[0] != "describe" {
            command.args(["-q", "-o", "made.pdf"]);
        }
        let output = command.current_dir(folder).output().expect("prlimit");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{operation:?}: {said}");
    }
}
