//! Renderings in real sandboxes: this program is its own zygote, so the tests have a `main` of their
//! own.

mod assets;
mod background;
mod cases;
mod helpers;
mod pages;
mod rehearsal;

use std::{
    io::Write,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cases::cases;
use platen_engine::{
    Data, Engine, Error, Isolation, IsolationError, IsolationSettings, Job, Origin, PageWorker,
    Product, RenderWorker,
};
use platen_fonts::FontSettings;
use platen_jail::{Allocator, Ending, Level, MARK, Worker, escape_probes};
use platen_render::{
    Attachment, Error as RenderError, Format, Relationship, RenderOptions, Rendered, Standard,
};
use platen_script::ScriptWorker;
use serde_json::{Value as Json, json};

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn settings() -> IsolationSettings {
    IsolationSettings {
        spares: 2,
        ..IsolationSettings::default()
    }
}

fn isolation(settings: IsolationSettings) -> Isolation {
    Isolation::start(settings).expect("a sandbox")
}

fn engine() -> Engine {
    Engine::new(&FontSettings::default())
}

fn options() -> RenderOptions {
    RenderOptions {
        now_unix_seconds: Some(1_700_000_000),
        ..RenderOptions::default()
    }
}

fn inline(
    engine: &Engine,
    source: &[u8],
    data: &str,
    formats: &[Format],
    options: &RenderOptions,
) -> Result<Vec<Rendered>, Error> {
    let made = engine.produce(Job {
        template: &engine.prepare(&Arc::from(source), Origin::Stranger)?,
        data: Data::Text(data.into()),
        formats,
        options,
    })?;
    let documents = made.into_iter().map(|product| match product {
        Product::Document(document) => document,
        Product::Page(page) => panic!("{page:?}"),
    });
    Ok(documents.collect())
}

#[track_caller]
fn assert_same(
    name: &str,
    inside: Result<Vec<Rendered>, Error>,
    outside: Result<Vec<Rendered>, Error>,
) {
    match (inside, outside) {
        (Ok(inside), Ok(outside)) => {
            assert_eq!(inside.len(), outside.len(), "{name}");
            for (inside, outside) in inside.iter().zip(&outside) {
                let name = format!("{name}: {}", outside.format);
                assert!(inside.bytes == outside.bytes, "{name}: bytes differ");
                assert_eq!(inside.format, outside.format, "{name}");
                assert_eq!(inside.pages, outside.pages, "{name}");
                assert_eq!(inside.warnings, outside.warnings, "{name}");
            }
        }
        (Err(inside), Err(outside)) => {
            assert_eq!(inside.code(), outside.code(), "{name}");
            assert_eq!(format!("{inside:?}"), format!("{outside:?}"), "{name}");
        }
        (inside, outside) => panic!(
            "{name}: {:?} in the sandbox, {:?} without",
            inside.map(|_| "made"),
            outside.map(|_| "made")
        ),
    }
}

fn every_case_gives_the_same_bytes() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let mut folders = Vec::new();
    cases(&root.join("tests/cases"), &mut folders);
    cases(&root.join("examples"), &mut folders);
    assert!(folders.len() > 20, "{} cases", folders.len());
    let (engine, isolation) = (engine(), isolation(settings()));
    for folder in folders {
        let source = std::fs::read(folder.join("template.json")).expect("a template");
        if String::from_utf8_lossy(&source).contains("\"kind\": \"html\"") {
            continue;
        }
        let data = std::fs::read_to_string(folder.join("data.json")).expect("data");
        let options = RenderOptions {
            assets: Some(folder.clone()),
            ..options()
        };
        // Not all formats of all cases: a CSV wants a table.
        for format in Format::ALL {
            let inside = isolation.render(&engine, &source, data.as_bytes(), &[format], &options);
            let outside = inline(&engine, &source, &data, &[format], &options);
            assert_same(&folder.display().to_string(), inside, outside);
        }
        let together = [Format::Docx, Format::Pdf, Format::Png];
        let inside = isolation.render(&engine, &source, data.as_bytes(), &together, &options);
        let outside = inline(&engine, &source, &data, &together, &options);
        assert_same(&folder.display().to_string(), inside, outside);
    }
}

fn mistakes_come_back_as_they_are() {
    let (engine, isolation) = (engine(), isolation(settings()));
    let text = |content: &str| {
        let body = json!([{"type": "text", "content": content}]);
        json!({"key": "a", "name": "A", "body": body}).to_string()
    };
    let page = |page| RenderOptions {
        page: Some(page),
        ..options()
    };
    let large = RenderOptions {
        dots_per_inch: Some(5_000.0),
        ..options()
    };
    let attached = RenderOptions {
        standard: Some(Standard::PdfA2b),
        attachments: vec![Attachment {
            name: "a.bin".to_owned(),
            media_type: "application/octet-stream".to_owned(),
            description: Some("what".to_owned()),
            relationship: Relationship::Data,
            bytes: Arc::new(vec![0, 1, 2, 255]),
        }],
        ..options()
    };
    let sound = text("{{ name }}");
    let given = r#"{"name": "Ada"}"#;
    let pictured = json!({"key": "a", "name": "A", "body": [
        {"type": "image", "source": "missing.png", "alternativeText": "nothing"}]})
    .to_string();
    for (name, source, data, format, options) in [
        ("no JSON", "{", given, Format::Pdf, options()),
        (
            "an unknown member",
            r#"{"key":"a","name":"A","bdy":[]}"#,
            given,
            Format::Pdf,
            options(),
        ),
        (
            "an expression",
            &text("{{ name | upperr }}"),
            given,
            Format::Pdf,
            options(),
        ),
        ("a missing asset", &pictured, given, Format::Pdf, options()),
        ("data that is no JSON", &sound, "{", Format::Pdf, options()),
        ("data that lacks", &sound, "{}", Format::Html, options()),
        ("no table", &sound, given, Format::Csv, options()),
        ("no such page", &sound, given, Format::Svg, page(7)),
        ("a page", &sound, given, Format::Svg, page(1)),
        ("a large picture", &sound, given, Format::Png, large),
        ("an attachment", &sound, given, Format::Pdf, attached),
    ] {
        let inside = isolation.render(
            &engine,
            source.as_bytes(),
            data.as_bytes(),
            &[format],
            &options,
        );
        let outside = inline(&engine, source.as_bytes(), data, &[format], &options);
        assert_same(name, inside, outside);
    }
}

/// A table of many rows: work without end for a small bound.
fn long(rows: usize) -> (String, String) {
    let template = json!({"key": "long", "name": "Long", "body": [{
    "type": "table", "rows": "rows", "columns": [
        {"key": "a", "header": "A", "value": "{{ item.a }}"},
        {"key": "b", "header": "B", "value": "{{ item.b }}"}
    ]}]});
    let rows: Vec<Json> = (0..rows)
        .map(|number| json!({"a": format!("row {number}"), "b": number}))
        .collect();
    (template.to_string(), json!({"rows": rows}).to_string())
}

fn render_long(isolation: &Isolation, rows: usize) -> Result<Vec<Rendered>, Error> {
    let (template, data) = long(rows);
    isolation.render(
        &engine(),
        template.as_bytes(),
        data.as_bytes(),
        &[Format::Pdf],
        &options(),
    )
}

fn prepared_cells_give_what_fresh_ones_give() {
    let (engine, isolation) = (engine(), isolation(settings()));
    let (template, _) = long(0);
    let other = template.replace("\"Long\"", "\"Other\"");
    let broken = template.replace("item.b", "item..b");
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let (engine, isolation) = (&engine, &isolation);
            let sources = [&template, &other, &broken];
            scope.spawn(move || {
                for round in 0..12 {
                    let source = sources[(worker + round) % sources.len()].as_bytes();
                    let (_, data) = long(worker * 12 + round);
                    let formats = [Format::Csv, Format::Pdf];
                    let inside =
                        isolation.render(engine, source, data.as_bytes(), &formats, &options());
                    let outside = inline(engine, source, &data, &formats, &options());
                    assert_same(&format!("{worker}, {round}"), inside, outside);
                }
            });
        }
    });
}

fn a_hostile_rendering_dies_alone() {
    let sound = |isolation: &Isolation| {
        let (engine, (template, data)) = (engine(), long(3));
        let inside = isolation.render(
            &engine,
            template.as_bytes(),
            data.as_bytes(),
            &[Format::Pdf],
            &options(),
        );
        let outside = inline(
            &engine,
            template.as_bytes(),
            &data,
            &[Format::Pdf],
            &options(),
        );
        assert_same("the next rendering", inside, outside);
    };
    let quick = isolation(IsolationSettings {
        cpu_ms: 200,
        ..settings()
    });
    let late = render_long(&quick, 200_000);
    assert!(
        matches!(
            late,
            Err(Error::Isolation(IsolationError::CpuTime { limit_ms: 200 }))
        ),
        "{:?}",
        late.err()
    );
    sound(&quick);
    let hasty = isolation(IsolationSettings {
        wall_ms: 100,
        ..settings()
    });
    let late = render_long(&hasty, 200_000);
    assert!(
        matches!(
            late,
            Err(Error::Isolation(IsolationError::Deadline { limit_ms: 100 }))
        ),
        "{:?}",
        late.err()
    );
    let small = isolation(IsolationSettings {
        memory_bytes: 48 << 20,
        ..settings()
    });
    let large = render_long(&small, 200_000);
    assert!(
        matches!(large, Err(Error::Isolation(IsolationError::Memory { .. }))),
        "{:?}",
        large.err()
    );
    sound(&small);
    let terse = isolation(IsolationSettings {
        output_bytes: 50_000,
        ..settings()
    });
    let long = render_long(&terse, 4_000);
    assert!(
        matches!(
            long,
            Err(Error::Isolation(IsolationError::Output {
                limit_bytes: 50_000
            }))
        ),
        "{:?}",
        long.err()
    );
    sound(&terse);
    let narrow = isolation(IsolationSettings {
        input_bytes: 4_000,
        ..settings()
    });
    let wide = render_long(&narrow, 1_000);
    assert!(
        matches!(
            wide,
            Err(Error::Isolation(IsolationError::Input {
                limit_bytes: 4_000
            }))
        ),
        "{:?}",
        wide.err()
    );
    sound(&narrow);
}

fn a_rendering_that_nobody_wants_is_stopped() {
    let isolation = isolation(settings());
    let stop = Arc::new(AtomicBool::new(false));
    let wanted = RenderOptions {
        stop: Some(Arc::clone(&stop)),
        ..options()
    };
    let (template, data) = long(300_000);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Models a client that waits for a while: any instant of the rendering will do.
            std::thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        let result = isolation.render(
            &engine(),
            template.as_bytes(),
            data.as_bytes(),
            &[Format::Pdf],
            &wanted,
        );
        assert!(
            matches!(result, Err(Error::Render(RenderError::Stopped))),
            "{:?}",
            result.err()
        );
    });
}

fn escape_probes_fail() {
    let isolation = isolation(settings());
    assert!(
        isolation.level() >= Level::NoNamespaces,
        "{:?}",
        isolation.level()
    );
    for probe in escape_probes::EscapeProbe::ALL {
        let ending = isolation.jail().probe(probe).expect("a sandbox");
        assert_eq!(ending, Ending::ForbiddenCall, "{}", probe.name());
    }
}

fn long_sheets_need_no_files() {
    let (engine, isolation) = (engine(), isolation(settings()));
    let (template, data) = long(20_500);
    let formats = [Format::Xlsx];
    let inside = isolation.render(
        &engine,
        template.as_bytes(),
        data.as_bytes(),
        &formats,
        &options(),
    );
    let inside = inside.expect("a workbook").remove(0);
    let outside = inline(&engine, template.as_bytes(), &data, &formats, &options());
    let outside = outside.expect("a workbook").remove(0);
    assert_eq!(inside.warnings, outside.warnings);
    assert!(inside.bytes.starts_with(b"PK"));
    // Shared strings instead of their own: smaller, never much larger.
    assert!(inside.bytes.len() < outside.bytes.len() * 2);
}

fn every_rendering_has_a_process_of_its_own() {
    let isolation = isolation(settings());
    let before = isolation.jail().snapshot().forked;
    for _ in 0..10 {
        render_long(&isolation, 2).expect("a document");
    }
    assert!(isolation.jail().snapshot().forked >= before + 10);
}

const TESTS: [(&str, fn()); 15] = [
    ("rehearsals_succeed", rehearsal::rehearsals_succeed),
    (
        "damaged_backgrounds_are_mistakes",
        background::damaged_backgrounds_are_mistakes,
    ),
    (
        "every_case_gives_the_same_bytes",
        every_case_gives_the_same_bytes,
    ),
    (
        "prepared_cells_give_what_fresh_ones_give",
        prepared_cells_give_what_fresh_ones_give,
    ),
    (
        "helpers_give_the_same_in_and_out_of_a_sandbox",
        helpers::helpers_give_the_same_in_and_out_of_a_sandbox,
    ),
    (
        "mistakes_come_back_as_they_are",
        mistakes_come_back_as_they_are,
    ),
    (
        "a_hostile_rendering_dies_alone",
        a_hostile_rendering_dies_alone,
    ),
    (
        "a_rendering_that_nobody_wants_is_stopped",
        a_rendering_that_nobody_wants_is_stopped,
    ),
    (
        "pages_look_like_our_own_pictures",
        pages::pages_look_like_our_own_pictures,
    ),
    (
        "pages_come_in_the_order_in_which_they_are_named",
        pages::pages_come_in_the_order_in_which_they_are_named,
    ),
    ("hostile_pages_end", pages::hostile_pages_end),
    (
        "what_a_silent_store_has_is_neither_left_out_nor_a_mistake",
        assets::what_a_silent_store_has_is_neither_left_out_nor_a_mistake,
    ),
    ("escape_probes_fail", escape_probes_fail),
    ("long_sheets_need_no_files", long_sheets_need_no_files),
    (
        "every_rendering_has_a_process_of_its_own",
        every_rendering_has_a_process_of_its_own,
    ),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == MARK) {
        let rest = &arguments[3..];
        let serve = |worker: &mut dyn Worker| std::process::exit(platen_jail::serve(rest, worker));
        if let Some(mut worker) = PageWorker::of_kind(&arguments[2]) {
            serve(&mut worker);
        }
        match RenderWorker::of_kind(&arguments[2]) {
            Some(mut worker) => serve(&mut worker),
            None => serve(&mut ScriptWorker::default()),
        }
    }
    let wanted = arguments[1..]
        .iter()
        .find(|argument| !argument.starts_with('-'));
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in TESTS {
        if wanted.is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let sound = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {}", if sound { "ok" } else { "FAILED" });
        let _ = std::io::stdout().flush();
        if sound { passed += 1 } else { failed += 1 }
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n"
    );
    std::process::exit(i32::from(failed > 0));
}
