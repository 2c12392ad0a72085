//! Results are written and published, and differences are found.

use std::path::Path;

use platen_bench::{
    Cell, Outcome, Recorder,
    environment::Environment,
    interval::Basis,
    load::Load,
    name::{FlowName, Runner, Sandbox},
    report::{Published, Status, fill, update},
};

/// A run with one pack.
fn published(folder: &Path) -> Published {
    let load = Load::closed(2, 0, 40);
    let mut recorder = Recorder::new("flow");
    let run = load
        .run(|| {
            Ok(|| Outcome {
                is_good: true,
                status: 200,
                ..Outcome::default()
            })
        })
        .unwrap();
    let mut cell = Cell::new(
        FlowName::Matrix {
            runner: Runner::OneProcess,
            sandbox: Sandbox::Fresh,
            is_durable: false,
        },
        &load,
    );
    cell.take(std::slice::from_ref(&run), Basis::Requests);
    recorder.add(cell, &[run]);
    let place = folder.join("results/2026-11-21-x-2c");
    let environment = Environment::default();
    let written = recorder.finish("platen bench flow", environment, Some(&place.join("flow")));
    written.unwrap();
    Published::newest(&folder.join("results")).unwrap()
}

/// A document with a marker for each block.
fn document(published: &Published) -> String {
    let mut text = "# Prose before.\n\n<!-- bench: status -->\n<!-- end -->\n\
        <!-- bench: history/plots -->\n<!-- end -->\n"
        .to_owned();
    for block in published.blocks("x") {
        text += &format!(
            "\n<!-- bench: {} -->\nold\n<!-- end -->\nProse.\n",
            block.id
        );
    }
    text
}

#[test]
fn a_report_goes_round() {
    let folder = tempfile::tempdir().unwrap();
    let published = published(folder.path());
    let path = folder.path().join("docs/benchmarks.md");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, document(&published)).unwrap();
    let error = update(&path, &published, Some(Status::Draft), true).unwrap_err();
    assert!(error.hint().unwrap().contains("bench report"));
    let refused = update(&path, &published, Some(Status::Final), false).unwrap_err();
    assert!(refused.to_string().contains("no clean commit"), "{refused}");
    assert!(refused.hint().unwrap().contains("--draft"));
    update(&path, &published, Some(Status::Draft), false).unwrap();
    update(&path, &published, None, true).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("| one process | fresh |"), "{text}");
    assert_eq!(Status::of(&text), Status::Draft);
    let picture = "](../results/2026-11-21-x-2c/flow/throughput.svg)";
    assert!(
        text.contains(picture) && !text.contains("\nold\n"),
        "{text}"
    );
    assert!(text.starts_with("# Prose before.\n") && text.ends_with("\nProse.\n"));
    std::fs::write(&path, text.replace("| one process |", "| two |")).unwrap();
    assert!(update(&path, &published, None, true).is_err());
    update(&path, &published, None, false).unwrap();
    std::fs::write(published.folder.join("flow/throughput.svg"), "<svg/>").unwrap();
    assert!(update(&path, &published, None, true).is_err());
}

#[test]
fn markers_and_results_belong_together() {
    let folder = tempfile::tempdir().unwrap();
    let published = published(folder.path());
    let whole = document(&published);
    let filled = |text: &str, status| fill(Path::new("docs/a.md"), text, &published, status);
    let fill = |text: &str| filled(text, Status::Draft);
    assert!(fill(&whole).is_ok());
    let missing = whole.replace("bench: flow/matrix", "bench: flow/other");
    let error = fill(&missing).unwrap_err().to_string();
    assert!(error.contains("flow/matrix"), "{error}");
    for wrong in [
        whole.replace("bench: flow/matrix", "bench: nothing/such"),
        format!("{whole}<!-- bench: render/cells -->"),
        format!("{whole}<!-- bench: render"),
    ] {
        assert!(fill(&wrong).is_err());
    }
    let other = format!("{whole}<!-- bench: render/cells --><!-- end -->");
    assert!(fill(&other).unwrap().contains("Not measured in this run."));
    let refused = filled(&other, Status::Final).unwrap_err().to_string();
    assert!(refused.contains("no results `render/cells`"), "{refused}");
}
