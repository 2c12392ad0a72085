//! Printing and its options.

use std::time::Duration;

use platen_browser::{
    Clip, Error, Media, Output, PdfOptions, PictureFormat, PictureOptions, Wait, detect_launcher,
};

use crate::bench::{
    bench, bench_with, has_chromium, job, pages_of, scripted, small, text_of, with_files,
};

fn pdf(change: impl FnOnce(&mut PdfOptions)) -> Output {
    let mut options = PdfOptions::default();
    change(&mut options);
    Output::Pdf(options)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_printed_with_its_files() {
    if !has_chromium() {
        return;
    }
    let bench = bench_with(small(), detect_launcher().await);
    let html = "<!doctype html><link rel=stylesheet href='css/a%20b.css?v=1'>\
        <p class=hidden>not printed</p><p>Straße, naïve, 東京</p><img src=missing.png>";
    let job = with_files(
        html,
        &[("css/a b.css", "text/css", b".hidden { display: none }")],
    );
    let printed = bench.browser.print(job).await.unwrap();
    assert_eq!(printed.report.missing, ["missing.png"]);
    assert!(printed.report.denied.is_empty());
    let text = text_of(&printed.bytes().await.unwrap());
    assert!(text.contains("Straße, naïve"), "{text}");
    assert!(!text.contains("not printed"), "{text}");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sheets_headers_ranges_and_outlines_are_as_asked() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let pages: String = (1..=4)
        .map(|number| format!("<h1 style='break-before: page'>Chapter {number}</h1>"))
        .collect();
    let mut printed = job(&pages);
    printed.output = pdf(|options| {
        options.header_template =
            "<b style='font-size: 10px'>above <i class=pageNumber></i></b>".into();
        options.footer_template =
            "<b style='font-size: 10px'>of <i class=totalPages></i></b>".into();
        options.margin_top_inches = 1.0;
        options.margin_bottom_inches = 1.0;
        options.page_ranges = "2-3".into();
        options.outline = true;
    });
    let bytes = bench.bytes(printed).await.unwrap();
    let text = text_of(&bytes);
    assert!(text.contains("above 2") && text.contains("of 4"), "{text}");
    assert!(
        !text.contains("Chapter 1") && text.contains("Chapter 3"),
        "{text}"
    );
    assert_eq!(pages_of(&bytes), 2);
    let raw = String::from_utf8_lossy(&bytes);
    assert!(raw.contains("/Outlines") && raw.contains("/StructTreeRoot"));

    let mut sheet = job("<p>small</p>");
    sheet.output = pdf(|options| {
        options.paper_width_inches = 2.0;
        options.paper_height_inches = 3.0;
        options.tagged = false;
    });
    let bytes = bench.bytes(sheet).await.unwrap();
    let raw = String::from_utf8_lossy(&bytes);
    assert!(raw.contains("/MediaBox [0 0 144 216]"), "its size");
    assert!(!raw.contains("/StructTreeRoot"));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn impossible_options_are_named() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let cases: [(&str, Output); 5] = [
        ("scale", pdf(|options| options.scale = 3.0)),
        ("marginTop", pdf(|options| options.margin_top_inches = 20.0)),
        (
            "paperWidth",
            pdf(|options| options.paper_width_inches = f64::NAN),
        ),
        (
            "pageRanges",
            pdf(|options| options.page_ranges = "one".into()),
        ),
        (
            "pageRanges",
            pdf(|options| options.page_ranges = "7".into()),
        ),
    ];
    for (name, output) in cases {
        let mut job = job("<p>one page");
        job.output = output;
        let error = bench.bytes(job).await.unwrap_err();
        assert!(
            matches!(&error, Error::BadOption { option, .. } if *option == name),
            "{error:?}"
        );
    }
    let mut job = job("<p>text");
    job.page.wait = vec![Wait::Expression("true".into())];
    assert!(matches!(
        bench.bytes(job).await,
        Err(Error::BadOption { .. })
    ));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_only_when_asked_and_are_waited_for() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let html = "<p id=a>before</p><script>document.getElementById('a').textContent = 'after'; \
        console.log('hello', 7); setTimeout(() => { \
        document.body.insertAdjacentHTML('beforeend', '<p id=late>late</p>'); window.done = true }, 200); \
        setTimeout(() => { throw new Error('broken') }, 1)</script>";
    let text = text_of(&bench.bytes(job(html)).await.unwrap());
    assert!(text.contains("before"), "{text}");

    for wait in [
        Wait::Selector("#late".into()),
        Wait::Expression("window.done".into()),
        Wait::Delay(Duration::from_millis(600)),
        Wait::NetworkIdle,
    ] {
        let mut job = scripted(html);
        job.page.wait = vec![wait];
        job.page.gather_console = true;
        let printed = bench.browser.print(job).await.unwrap();
        assert_eq!(printed.report.console, ["log: hello 7"]);
        let text = text_of(&printed.bytes().await.unwrap());
        assert!(text.contains("after") && text.contains("late"), "{text}");
    }
    let mut strict = scripted(html);
    strict.page.fail_on_exceptions = true;
    strict.page.wait = vec![Wait::Selector("#late".into())];
    let error = bench.bytes(strict).await.unwrap_err();
    assert!(
        matches!(&error, Error::Exceptions(all) if all[0].contains("broken")),
        "{error:?}"
    );
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_page_is_seen_by_the_next() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let html = "<p id=a></p><script>document.getElementById('a').textContent = \
        'seen ' + (window.mark || localStorage.mark || document.cookie || 'nothing'); \
        window.mark = localStorage.mark = 'something'; document.cookie = 'a=something'</script>";
    for _ in 0..4 {
        let text = text_of(&bench.bytes(scripted(html)).await.unwrap());
        assert!(text.contains("seen nothing"), "{text}");
    }
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_have_their_format_and_size() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let html = "<!doctype html><body style='margin:0; background: linear-gradient(red, blue)'>\
        <div style='height: 1500px'>text</div>";
    let mut take = job(html);
    let mut options = PictureOptions {
        width: 400,
        height: 300,
        ..PictureOptions::default()
    };
    take.output = Output::Picture(options.clone());
    let png = bench.bytes(take.clone()).await.unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (400, 1500));

    options.full_page = false;
    options.scale = 2.0;
    take.output = Output::Picture(options.clone());
    let png = bench.bytes(take.clone()).await.unwrap();
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((side(16), side(20)), (800, 600));

    options.format = PictureFormat::Jpeg;
    options.quality = Some(50);
    take.output = Output::Picture(options.clone());
    assert!(
        bench
            .bytes(take.clone())
            .await
            .unwrap()
            .starts_with(b"\xff\xd8\xff")
    );
    options.format = PictureFormat::WebP;
    options.clip = Some(Clip {
        x: 0.0,
        y: 0.0,
        width: 50.0,
        height: 50.0,
    });
    take.output = Output::Picture(options.clone());
    assert_eq!(&bench.bytes(take.clone()).await.unwrap()[8..12], b"WEBP");

    options.clip = Some(Clip {
        x: 0.0,
        y: 0.0,
        width: 1e6,
        height: 1e6,
    });
    take.output = Output::Picture(options);
    assert!(matches!(
        bench.bytes(take).await,
        Err(Error::BadOption { .. })
    ));
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn media_are_emulated() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let html = "<style>@media print { .s { display: none } } @media screen { .p { display: none } }\
        </style><p class=s>screen</p><p class=p>paper</p>";
    let text = text_of(&bench.bytes(job(html)).await.unwrap());
    assert!(text.contains("paper") && !text.contains("screen"), "{text}");
    let mut screen = job(html);
    screen.page.media = Some(Media::Screen);
    let text = text_of(&bench.bytes(screen).await.unwrap());
    assert!(text.contains("screen") && !text.contains("paper"), "{text}");
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_do_not_mix_and_a_long_one_streams() {
    if !has_chromium() {
        return;
    }
    let bench = bench(small());
    let jobs = (0..12).map(|number| {
        let browser = std::sync::Arc::clone(&bench.browser);
        tokio::spawn(async move {
            let printed = browser
                .print(job(&format!("<p>number {number} of all")))
                .await
                .unwrap();
            (number, printed.bytes().await.unwrap())
        })
    });
    for job in jobs.collect::<Vec<_>>() {
        let (number, bytes) = job.await.unwrap();
        assert!(text_of(&bytes).contains(&format!("number {number} of all")));
    }
    let rows: String = (0..20_000)
        .map(|row| format!("<p>row {row} {:x}</p>", row * 7_919))
        .collect();
    let mut printed = bench.browser.print(job(&rows)).await.unwrap();
    let mut chunks = 0;
    let mut all = Vec::new();
    while let Some(chunk) = printed.next().await {
        all.extend_from_slice(&chunk.unwrap());
        chunks += 1;
    }
    assert!(chunks > 1, "{chunks} chunks of {} bytes", all.len());
    assert!(text_of(&all).contains("row 19999"));
    bench.still_works().await;
    bench.end().await;
}
