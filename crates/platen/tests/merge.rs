//! `platen merge` on files of our own, which are tagged and hold compressed objects.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn platen(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_platen"));
    let command = command.current_dir(folder).args(arguments);
    command.output().expect("platen starts")
}

fn example(name: &str, file: &str) -> String {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../examples");
    let path: PathBuf = root.join(name).join(file);
    path.canonicalize()
        .expect("an example")
        .display()
        .to_string()
}

/// What a program says of the merged file; nothing where it is not installed.
fn said(folder: &Path, program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program)
        .current_dir(folder)
        .args(arguments)
        .output()
    {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Some(text + &String::from_utf8_lossy(&output.stderr))
        }
        Err(error) => {
            let all = std::env::var("REQUIRE_ALL").is_ok_and(|value| value == "1");
            assert!(!all, "{program}: {error}");
            eprintln!("SKIP: {program} is not installed");
            None
        }
    }
}

#[test]
fn our_own_files_become_one_that_is_sound_and_tagged() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for (name, output) in [("invoice-de", "a.pdf"), ("bench-invoice", "b.pdf")] {
        let (template, data) = (example(name, "template.json"), example(name, "data.json"));
        let made = platen(folder, &["render", &template, &data, "-o", output]);
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
    }
    let made = platen(folder, &["merge", "a.pdf", "b.pdf", "a.pdf", "-o", "c.pdf"]);
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    std::fs::write(folder.join("no.pdf"), "no").expect("a file");
    let made = platen(folder, &["merge", "a.pdf", "no.pdf", "-o", "d.pdf"]);
    let text = String::from_utf8_lossy(&made.stderr);
    assert!(
        !made.status.success() && text.contains("no.pdf: this is not a PDF file"),
        "{text}"
    );
    assert!(!folder.join("d.pdf").exists());

    if let Some(text) = said(folder, "qpdf", &["--check", "c.pdf"]) {
        assert!(
            text.contains("No syntax or stream encoding errors"),
            "{text}"
        );
    }
    let pages = |file: &str| {
        let text = said(folder, "pdfinfo", &[file])?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pages:"))?;
        line.trim().parse::<u32>().ok()
    };
    let Some((a, b)) = pages("a.pdf").zip(pages("b.pdf")) else {
        return;
    };
    assert_eq!(pages("c.pdf"), Some(2 * a + b));
    let tags = |file: &str| said(folder, "pdfinfo", &["-struct", file]).unwrap_or_default();
    let count = |file: &str| {
        tags(file)
            .lines()
            .filter(|line| line.contains("TR"))
            .count()
    };
    assert!(count("a.pdf") > 0);
    assert_eq!(count("c.pdf"), 2 * count("a.pdf") + count("b.pdf"));
}
