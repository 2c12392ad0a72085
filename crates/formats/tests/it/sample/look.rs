//! Theme and styles of the samples.

use platen_document::{Color, bound::*};

/// Styles that the samples use.
pub struct Look {
    pub cell: StyleId,
    pub number: StyleId,
    pub header: StyleId,
    pub header_number: StyleId,
    pub group: StyleId,
    pub total: StyleId,
    pub total_number: StyleId,
    pub bold: StyleId,
    pub link: StyleId,
    pub raised: StyleId,
    pub panel: StyleId,
    pub table: StyleId,
    pub margin: StyleId,
}

pub const PRIMARY: Color = Color::from_rgb(0x1F_4E79);

/// A document with a theme and no sections.
pub fn document(language: &str) -> (Document, Look) {
    let mut document = Document {
        metadata: Metadata {
            title: "Quarterly report <Q3> & outlook".to_owned(),
            author: Some("Example Ltd".to_owned()),
            subject: Some("Results".to_owned()),
            keywords: vec!["report".to_owned(), "Q3".to_owned()],
            created_unix_seconds: 1_795_253_400,
        },
        language: language.to_owned(),
        theme: ThemeColors {
            text: Color::from_rgb(0x1F_2933),
            primary: PRIMARY,
            muted: Color::from_rgb(0x5F_6B7A),
            border: Color::from_rgb(0xC9_D1DA),
            surface: Color::from_rgb(0xF3_F6F9),
            chart: [0x1F_4E79, 0xC5_5A11, 0x54_8235, 0x7F_6000, 0x7B_3F9E]
                .map(Color::from_rgb)
                .to_vec(),
        },
        ..Document::default()
    };
    if matches!(language.get(..2), Some("ar" | "he")) {
        document.direction = Direction::RightToLeft;
    }
    let body = Style {
        name: Some("body".into()),
        space_after: 6.0,
        ..Style::default()
    };
    let with = |change: &dyn Fn(&mut Style)| {
        let mut style = Style {
            name: None,
            ..body.clone()
        };
        change(&mut style);
        style
    };
    let mut intern = |style: Style| document.styles.intern(style);
    let mut named = NamedStyles {
        body: intern(body.clone()),
        ..NamedStyles::default()
    };
    for (index, size) in [20.0, 15.0, 12.5, 11.0, 10.0, 10.0].into_iter().enumerate() {
        named.headings[index] = intern(with(&|style| {
            style.name = Some(format!("heading{}", index + 1).into());
            style.font_size = size;
            style.bold = true;
            style.color = PRIMARY;
            style.space_before = size * 0.8;
            style.space_after = size * 0.4;
            style.line_height = 1.2;
            style.keep_with_next = true;
        }));
    }
    let muted = document.theme.muted;
    let mut small = |name: &str, size: f32, bold: bool| {
        intern(with(&|style| {
            style.name = Some(name.into());
            style.font_size = size;
            style.bold = bold;
            style.color = muted;
        }))
    };
    named.caption = small("caption", 8.5, false);
    named.footnote = small("footnote", 8.0, false);
    named.label = small("label", 9.0, true);
    named.small = small("small", 8.0, false);
    let margin = small("margin", 8.0, false);
    named.toc_entry = intern(with(&|style| style.name = Some("tocEntry".into())));
    let cell = |change: &dyn Fn(&mut Style)| {
        with(&|style| {
            style.space_after = 0.0;
            style.padding = Sides {
                top: 3.0,
                right: 5.0,
                bottom: 3.0,
                left: 5.0,
            };
            change(style);
        })
    };
    let end = |style: &mut Style| style.align = Align::End;
    let head = |style: &mut Style| {
        style.bold = true;
        style.color = Color::WHITE;
        style.background = Some(PRIMARY);
    };
    let total = |style: &mut Style| {
        style.bold = true;
        style.background = Some(Color::from_rgb(0xE7_EDF3));
        style.borders.top = Some(Border {
            width: 1.0,
            color: PRIMARY,
            style: LineStyle::Solid,
        });
    };
    let look = Look {
        cell: intern(cell(&|_| {})),
        number: intern(cell(&end)),
        header: intern(cell(&head)),
        header_number: intern(cell(&|style| {
            head(style);
            end(style);
        })),
        group: intern(cell(&|style| {
            style.bold = true;
            style.color = PRIMARY;
        })),
        total: intern(cell(&total)),
        total_number: intern(cell(&|style| {
            total(style);
            end(style);
        })),
        bold: intern(with(&|style| style.bold = true)),
        link: intern(with(&|style| {
            style.color = PRIMARY;
            style.underline = true;
        })),
        raised: intern(with(&|style| style.baseline = Baseline::Superscript)),
        panel: intern(with(&|style| {
            style.background = Some(Color::from_rgb(0xF3_F6F9));
            style.padding = Sides::all(9.0);
            style.space_after = 10.0;
            style.borders.left = Some(Border {
                width: 3.0,
                color: PRIMARY,
                style: LineStyle::Solid,
            });
        })),
        table: intern(with(&|style| {
            style.space_before = 4.0;
            style.space_after = 10.0;
        })),
        margin,
    };
    document.named = named;
    (document, look)
}

pub fn block(kind: BlockKind, style: StyleId, path: &str) -> Block {
    Block {
        kind,
        style,
        id: None,
        path: path.into(),
    }
}
