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
