//! Lays out templates with the shipped fonts, and reads them back as lines of text.

use std::sync::{Arc, LazyLock};

use platen_document::{BindOptions, bind, compile, host::FixedHost, template_from_json};
use platen_layout::{
    FontLibrary, Layout, LayoutOptions, Shaper, layout,
    page::{Item, Page, TextRun},
};
use serde_json::{Value, json};

macro_rules! font {
    ($name:literal) => {
        include_bytes!(concat!("../../../../assets/fonts/", $name)) as &[u8]
    };
}

static FONTS: LazyLock<Arc<FontLibrary>> = LazyLock::new(|| {
    let mut library = FontLibrary::default();
    for bytes in [
        font!("LiberationSans-Regular.ttf"),
        font!("LiberationSans-Bold.ttf"),
        font!("LiberationMono-Regular.ttf"),
        font!("NotoSansArabic-Regular.ttf"),
        font!("NotoSansJP-Regular.otf"),
        // An emoji of color layers.
        include_bytes!("../../../../tests/fonts/Layers.ttf").as_slice(),
    ] {
        library.add_static(bytes, "test");
    }
    Arc::new(library)
});

/// A laid-out document, with the shaper that has its words.
pub struct Sheet {
    pub layout: Layout,
    pub shaper: Shaper,
}

/// A text with its position.
#[derive(Clone, Debug)]
pub struct Placed {
    pub text: String,
    pub x: f32,
    pub y: f32,
    pub width: f32,
}

/// Lays out `body` on a page of 300 by 400 points with margins of 30 points.
pub fn sheet(body: Value, data: Value) -> Sheet {
    sheet_with(json!({"body": body}), data)
}

/// Lays out a template; missing parts are as in [`sheet`].
pub fn sheet_with(parts: Value, data: Value) -> Sheet {
    laid_out(parts, data, LayoutOptions::default())
}

/// Lays out `body` as [`sheet`] does, and records where its nodes are.
pub fn sheet_with_nodes(body: Value, data: Value) -> Sheet {
    let options = LayoutOptions {
        node_boxes: true,
        ..LayoutOptions::default()
    };
    laid_out(json!({"body": body}), data, options)
}

fn laid_out(parts: Value, data: Value, options: LayoutOptions<'_>) -> Sheet {
    let mut template = json!({
        "key": "test", "name": "Test",
        "page": {"size": {"width": "300pt", "height": "400pt"}, "margins": "30pt"},
        "body": []
    });
    for (key, value) in parts.as_object().unwrap() {
        template[key] = value.clone();
    }
    let template = template_from_json(template).expect("the template is sound");
    let compiled = compile(template).expect("the template compiles");
    let host = FixedHost::default();
    let document = bind(&compiled, &data, &BindOptions::default(), &host).expect("the data fits");
    let mut shaper = Shaper::new(Arc::clone(&FONTS));
    let layout = layout(&document, &mut shaper, options);
    Sheet { layout, shaper }
}

impl Sheet {
    /// Texts of a page in drawing order.
    pub fn texts(&self, page: usize) -> Vec<Placed> {
        let page = &self.layout.pages[page];
        page.items
            .iter()
            .filter_map(|item| match item {
                Item::Text(run) => Some(self.placed(page, run)),
                _ => None,
            })
            .collect()
    }

    fn placed(&self, page: &Page, run: &TextRun) -> Placed {
        let mut text = String::new();
        for word in &page.words[run.words.start as usize..run.words.end as usize] {
            if word.space {
                text.push(' ');
            }
            text.push_str(&self.shaper.word(word.word).text);
        }
        Placed {
            text,
            x: run.x,
            y: run.y,
            width: run.width,
        }
    }

    /// Lines of a page from top to bottom, the texts of each from left to right.
    pub fn lines(&self, page: usize) -> Vec<String> {
        let mut texts = self.texts(page);
        texts.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x)));
        let mut lines: Vec<(f32, String)> = Vec::new();
        for text in texts {
            match lines.last_mut() {
                Some((y, line)) if (*y - text.y).abs() < 0.5 => {
                    line.push(' ');
                    line.push_str(&text.text);
                }
                _ => lines.push((text.y, text.text)),
            }
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }

    pub fn page_count(&self) -> usize {
        self.layout.pages.len()
    }

    /// The page with a line that contains `text`.
    pub fn page_of(&self, text: &str) -> usize {
        (0..self.page_count())
            .find(|page| self.lines(*page).iter().any(|line| line.contains(text)))
            .unwrap_or_else(|| panic!("`{text}` is on no page"))
    }
}

/// Panics if a text is outside the page, less `margin` points.
pub fn assert_within(sheet: &Sheet, margin: f32) {
    for page in 0..sheet.page_count() {
        let (width, height) = (
            sheet.layout.pages[page].width,
            sheet.layout.pages[page].height,
        );
        for text in sheet.texts(page) {
            let inside = text.x > margin - 0.5
                && text.x + text.width < width - margin + 0.5
                && text.y > margin
                && text.y < height - margin;
            assert!(inside, "page {page}: {text:?}");
        }
    }
}

/// Panics if two lines of a page overlap.
pub fn assert_no_overlap(sheet: &Sheet, page: usize) {
    let mut texts = sheet.texts(page);
    texts.sort_by(|a, b| a.y.total_cmp(&b.y));
    for (one, next) in texts.iter().zip(texts.iter().skip(1)) {
        let apart = next.y - one.y;
        let beside = one.x + one.width <= next.x + 0.1 || next.x + next.width <= one.x + 0.1;
        assert!(beside || apart > 5.0, "page {page}: {one:?} {next:?}");
    }
}

/// A paragraph of `count` different words.
pub fn words(count: usize) -> String {
    (0..count)
        .map(|index| format!("word{index}"))
        .collect::<Vec<_>>()
        .join(" ")
}
