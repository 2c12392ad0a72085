//! The host of a rendering, with the renderer's fonts for texts in pictures.

use std::{fmt::Write as _, sync::Arc};

use parking_lot::Mutex;
use platen_document::{
    Host,
    bound::Style,
    host::{DrawnFont, DrawnText, Helpers},
};
use platen_layout::{Shaper, figure::PathCommand};

/// A host that draws texts.
pub(crate) struct DrawingHost<'a> {
    pub host: &'a dyn Host,
    pub shaper: Mutex<Shaper>,
}

impl Host for DrawingHost<'_> {
    fn asset(&self, name: &str) -> Option<Arc<[u8]>> {
        self.host.asset(name)
    }

    fn fonts(&self, family: &str) -> Vec<String> {
        self.host.fonts(family)
    }

    fn now_unix_seconds(&self) -> i64 {
        self.host.now_unix_seconds()
    }

    fn outline(&self, text: &str, font: &DrawnFont) -> Option<DrawnText> {
        let style = Style {
            font_families: font.families.clone().into(),
            bold: font.weight >= 600,
            font_weight: Some(font.weight),
            italic: font.italic,
            ..Style::default()
        };
        let (commands, width) = self.shaper.lock().outline_text(text, &style);
        Some(DrawnText {
            path: path_data(&commands, font.size),
            width: width * font.size,
        })
    }

    fn helpers(&self) -> Option<Arc<dyn Helpers>> {
        self.host.helpers()
    }
}

/// Commands of one unit per em as the path data of SVG for a font of `size`. Pictures may be tiny or
/// huge: the digits are those that the size needs.
fn path_data(commands: &[PathCommand], size: f32) -> String {
    let mut data = String::new();
    let decimals = (4.0 - size.log10()).clamp(0.0, 9.0) as i32;
    let unit = 10_f64.powi(decimals);
    let mut write = |letter: char, lengths: &[f32]| {
        data.push(letter);
        for (index, length) in lengths.iter().enumerate() {
            let rounded = (f64::from(length * size) * unit).round() / unit;
            let gap = if index > 0 { " " } else { "" };
            let _ = write!(data, "{gap}{rounded}");
        }
    };
    for command in commands {
        match *command {
            PathCommand::MoveTo(x, y) => write('M', &[x, y]),
            PathCommand::LineTo(x, y) => write('L', &[x, y]),
            PathCommand::CurveTo(x1, y1, x2, y2, x, y) => write('C', &[x1, y1, x2, y2, x, y]),
            PathCommand::Close => write('Z', &[]),
        }
    }
    data
}
