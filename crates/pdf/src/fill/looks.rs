//! What shows the text of a field (12.7.3.3): background, border and lines in the field's own font,
//! or, where that cannot show them, as they are drawn elsewhere.

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

use crate::{
    Error, Limits,
    annotation::of_field,
    flatten::numbers,
    imported_page::{Extent, import},
    open::{array, form, open, resolve, value},
    text::{Standard, usual_codes},
};

/// Distance of a text from the edge, in points.
const EDGE: f32 = 2.0;
/// Font sizes of fields that leave it open, in points.
const LARGEST: f32 = 12.0;
const SMALLEST: f32 = 4.0;
/// Height of a line, as a multiple of the font size.
const LINE: f32 = 1.15;
/// Maximum number of lines that are set.
const MAX_LINES: usize = 2_000;
/// A text that is to be drawn elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldText {
    /// The text.
    pub text: String,
    /// Width and height of the field, in points.
    pub size: (f32, f32),
    /// Font size, in points; 0 leaves it open.
    pub font_size: f32,
    /// Red, green and blue, from 0 to 1.
    pub color: [f32; 3],
    /// 0 is left, 1 in the middle, 2 right.
    pub alignment: i64,
    /// Whether it has several lines.
    pub multiline: bool,
}

/// What a field shows.
pub(super) struct Shown<'a> {
    pub(super) text: &'a str,
    pub(super) multiline: bool,
    /// Cells of equal width, one for each character.
    pub(super) cells: Option<usize>,
}

/// What a widget says of its look.
struct Setting {
    width: f32,
    height: f32,
    font: Option<Font>,
    font_name: String,
    size: f32,
    color: [f32; 3],
    alignment: i64,
}

/// A font with one byte for each character.
struct Font {
    resource: Object,
    codes: Vec<Option<String>>,
    widths: Vec<Option<f32>>,
}

/// Makes the look of a widget; its id.
pub(super) fn look(
    document: &mut Document,
    widget: ObjectId,
    shown: &Shown<'_>,
    name: &str,
    draw: super::DrawText<'_>,
) -> Result<ObjectId, Error> {
    let entries = document.get_dictionary(widget)?;
    let setting = setting(document, entries)
        .ok_or_else(|| Error::BadField(format!("the field `{name}` has no place")))?;
    let mut content = frame(document, entries, &setting);
    let mut resources = Dictionary::new();
    let encoded = setting
        .font
        .as_ref()
        .and_then(|font| lines(font, shown, &setting));
    match encoded {
        _ if shown.text.is_empty() => {}
        Some((lines, size)) => {
            if let Some(font) = &setting.font {
                let mut fonts = Dictionary::new();
                fonts.set(setting.font_name.clone(), font.resource.clone());
                resources.set("Font", fonts);
                content.extend(shown_lines(font, &lines, size, shown, &setting));
            }
        }
        None => {
            let text = FieldText {
                text: shown.text.to_owned(),
                size: (setting.width, setting.height),
                font_size: setting.size,
                color: setting.color,
                alignment: setting.alignment,
                multiline: shown.multiline,
            };
            let drawn = draw(&text).map_err(|problem| {
                Error::BadField(format!(
                    "the field `{name}` cannot show its text: {problem}"
                ))
            })?;
            let source = open(&drawn, &Limits::default())?;
            let page = source.page_iter().next().ok_or(Error::Nothing)?;
            let (form, (wide, high)) = import(document, &source, page, Extent::Page)?;
            resources.set("XObject", dictionary! { "T" => form });
            let matrix = format!(
                "/Tx BMC q {wide} 0 0 {high} 0 {} cm /T Do Q EMC\n",
                setting.height - high
            );
            content.extend(matrix.into_bytes());
        }
    }
    let head = dictionary! {
        "Type" => "XObject", "Subtype" => "Form",
        "BBox" => vec![0.into(), 0.into(), setting.width.into(), setting.height.into()],
        "Resources" => resources,
    };
    let mut stream = Stream::new(head, content);
    turn(document, widget, &setting, &mut stream);
    stream.compress()?;
    Ok(document.add_object(stream))
}

/// Turns the look as the widget says (`R` of table 189).
fn turn(document: &Document, widget: ObjectId, setting: &Setting, stream: &mut Stream) {
    let (w, h) = (setting.width, setting.height);
    let matrix: [f32; 6] = match document
        .get_dictionary(widget)
        .map(|it| rotation(document, it))
    {
        Ok(90) => [0.0, 1.0, -1.0, 0.0, h, 0.0],
        Ok(180) => [-1.0, 0.0, 0.0, -1.0, w, h],
        Ok(270) => [0.0, -1.0, 1.0, 0.0, 0.0, w],
        _ => return,
    };
    let matrix: Vec<Object> = matrix.iter().map(|it| Object::Real(*it)).collect();
    stream.dict.set("Matrix", matrix);
}

fn rotation(document: &Document, widget: &Dictionary) -> i64 {
    let about = value(document, widget, b"MK").and_then(|it| it.as_dict().ok());
    let angle = about.and_then(|it| value(document, it, b"R")?.as_i64().ok());
    angle.unwrap_or(0).rem_euclid(360)
}

fn setting(document: &Document, widget: &Dictionary) -> Option<Setting> {
    let [x1, y1, x2, y2]: [f32; 4] = numbers(document, widget.get(b"Rect").ok())?;
    let (mut width, mut height) = ((x2 - x1).abs(), (y2 - y1).abs());
    if !(width.is_finite() && height.is_finite() && width < 20_000.0 && height < 20_000.0) {
        return None;
    }
    if matches!(rotation(document, widget), 90 | 270) {
        (width, height) = (height, width);
    }
    let form = form(document);
    let of_form = |key: &[u8]| value(document, form?, key);
    let inherited = |key: &[u8]| of_field(document, widget, key).or_else(|| of_form(key));
    let words = inherited(b"DA")
        .and_then(|it| it.as_str().ok())
        .unwrap_or(b"/Helv 0 Tf 0 g");
    let words = String::from_utf8_lossy(&words[..words.len().min(1_000)]).into_owned();
    let words: Vec<&str> = words.split_ascii_whitespace().collect();
    let before = |operator: &str, count: usize| {
        let at = words.iter().position(|word| *word == operator)?;
        words.get(at.checked_sub(count)?..at)
    };
    let number = |word: &str| word.parse::<f32>().ok().filter(|it| it.is_finite());
    let (font_name, size) = match before("Tf", 2) {
        Some([name, size]) => (name.trim_start_matches('/'), number(size).unwrap_or(0.0)),
        _ => ("Helv", 0.0),
    };
    let color = if let Some([red, green, blue]) = before("rg", 3) {
        [red, green, blue].map(|it| number(it).unwrap_or(0.0))
    } else if let Some([gray]) = before("g", 1) {
        [number(gray).unwrap_or(0.0); 3]
    } else if let Some(inks) = before("k", 4) {
        let inks: Vec<f32> = inks.iter().map(|it| number(it).unwrap_or(0.0)).collect();
        [0, 1, 2].map(|ink| (1.0 - inks[ink]) * (1.0 - inks[3]))
    } else {
        [0.0; 3]
    };
    let resources = of_field(document, widget, b"DR").or_else(|| of_form(b"DR"));
    let font = resources.and_then(|it| font(document, it.as_dict().ok()?, font_name));
    Some(Setting {
        width,
        height,
        font,
        font_name: font_name.to_owned(),
        size: size.clamp(0.0, 500.0),
        color: color.map(|it| it.clamp(0.0, 1.0)),
        alignment: inherited(b"Q").and_then(|it| it.as_i64().ok()).unwrap_or(0),
    })
}

fn font(document: &Document, resources: &Dictionary, name: &str) -> Option<Font> {
    let fonts = value(document, resources, b"Font")?.as_dict().ok()?;
    let resource = fonts.get(name.as_bytes()).ok()?.clone();
    let entries = resolve(document, &resource)?.as_dict().ok()?;
    let codes = usual_codes(document, entries)?;
    let first = value(document, entries, b"FirstChar").and_then(|it| it.as_i64().ok());
    let first = usize::try_from(first.unwrap_or(0)).ok()?;
    let mut widths = vec![None; 256];
    for (index, width) in array(document, entries.get(b"Widths").ok())
        .iter()
        .take(256)
        .enumerate()
    {
        if let Some(place) = widths.get_mut(first.saturating_add(index)) {
            *place = resolve(document, width).and_then(|it| it.as_float().ok());
        }
    }
    // Standard fonts come without widths.
    let name = value(document, entries, b"BaseFont").and_then(|it| it.as_name().ok());
    let usual = name.and_then(Standard::find).unwrap_or(Standard::HELVETICA);
    let usual = usual.widths();
    for (place, text) in widths.iter_mut().zip(&codes) {
        let letter = text.as_deref().and_then(|it| it.chars().next());
        let usual = || Some(f32::from(*usual.get(&letter?)?));
        *place = place.filter(|it| *it > 0.0).or_else(usual);
    }
    Some(Font {
        resource,
        codes,
        widths,
    })
}

impl Font {
    fn code(&self, symbol: char) -> Option<u8> {
        let mut buffer = [0; 4];
        let text: &str = symbol.encode_utf8(&mut buffer);
        // The usual place first: others may be alternates.
        let usual = u8::try_from(u32::from(symbol)).ok();
        let is = |code: u8| {
            self.codes
                .get(usize::from(code))
                .is_some_and(|it| it.as_deref() == Some(text))
        };
        usual
            .filter(|code| is(*code))
            .or_else(|| (0..=255).find(|code| is(*code)))
    }

    /// Width at a font size of 1.
    fn width(&self, code: u8) -> f32 {
        self.widths[usize::from(code)].unwrap_or(556.0) / 1_000.0
    }

    fn length(&self, codes: &[u8]) -> f32 {
        codes.iter().map(|code| self.width(*code)).sum()
    }
}

/// The lines of a text in the codes of a font, and their size; `None` if it lacks a character.
fn lines(font: &Font, shown: &Shown<'_>, setting: &Setting) -> Option<(Vec<Vec<u8>>, f32)> {
    let text = shown
        .text
        .replace("\r\n", "\n")
        .replace(['\r', '\u{2028}'], "\n");
    let mut paragraphs = Vec::new();
    for paragraph in text.split('\n') {
        let symbols = paragraph
            .chars()
            .map(|symbol| if symbol == '\t' { ' ' } else { symbol });
        let codes: Option<Vec<u8>> = symbols.map(|symbol| font.code(symbol)).collect();
        paragraphs.push(codes?);
    }
    let room = (setting.width - 2.0 * EDGE).max(1.0);
    if !shown.multiline {
        let line = paragraphs.concat();
        let size = match setting.size {
            size if size > 0.0 => size,
            _ => {
                let fits = room / font.length(&line).max(0.01);
                let high = (setting.height * 0.7).min(LARGEST);
                high.min(fits).max(SMALLEST)
            }
        };
        return Some((vec![line], size));
    }
    let mut size = match setting.size {
        size if size > 0.0 => size,
        _ => LARGEST,
    };
    loop {
        let wrapped = wrapped(font, &paragraphs, room / size);
        let is_high = wrapped.len() as f32 * size * LINE > setting.height - 2.0 * EDGE;
        if setting.size > 0.0 || !is_high || size <= SMALLEST {
            return Some((wrapped, size));
        }
        size = (size - 0.5).max(SMALLEST);
    }
}

/// Lines no longer than `room`, as far as words allow.
fn wrapped(font: &Font, paragraphs: &[Vec<u8>], room: f32) -> Vec<Vec<u8>> {
    let mut made: Vec<Vec<u8>> = Vec::new();
    for paragraph in paragraphs {
        let mut line: Vec<u8> = Vec::new();
        let mut length = 0.0;
        for word in paragraph.split(|code| *code == b' ') {
            let wide = font.length(word);
            if !line.is_empty() && length + font.width(b' ') + wide > room {
                made.push(std::mem::take(&mut line));
                length = 0.0;
            } else if !line.is_empty() {
                line.push(b' ');
                length += font.width(b' ');
            }
            line.extend(word);
            length += wide;
        }
        made.push(line);
        if made.len() > MAX_LINES {
            break;
        }
    }
    made.truncate(MAX_LINES);
    made
}

/// The operators that show lines.
fn shown_lines(
    font: &Font,
    lines: &[Vec<u8>],
    size: f32,
    shown: &Shown<'_>,
    setting: &Setting,
) -> Vec<u8> {
    let [red, green, blue] = setting.color;
    let (w, h) = (setting.width, setting.height);
    let mut content = format!(
        "/Tx BMC\nq 1 1 {} {} re W n\nBT {red} {green} {blue} rg /{} {size} Tf\n",
        (w - 2.0).max(0.0),
        (h - 2.0).max(0.0),
        setting.font_name,
    )
    .into_bytes();
    let mut baseline = match shown.multiline {
        true => h - EDGE - size,
        false => (h - size) / 2.0 + size * 0.22,
    };
    for line in lines {
        let mut put = |x: f32, codes: &[u8]| {
            content.extend(format!("1 0 0 1 {x} {baseline} Tm ").into_bytes());
            crate::write::write_object(&mut content, &Object::string_literal(codes));
            content.extend(b" Tj\n");
        };
        match shown.cells.filter(|cells| *cells > 0) {
            Some(cells) => {
                let cell = w / cells as f32;
                for (index, code) in line.iter().enumerate() {
                    let own = font.width(*code) * size;
                    put(cell * index as f32 + (cell - own) / 2.0, &[*code]);
                }
            }
            None => {
                let free = w - font.length(line) * size;
                let x = match setting.alignment {
                    1 => free / 2.0,
                    2 => free - EDGE,
                    _ => EDGE,
                };
                put(x, line);
            }
        }
        baseline -= size * LINE;
    }
    content.extend(b"ET Q\nEMC\n");
    content
}

/// Background and border of a widget (table 189).
fn frame(document: &Document, widget: &Dictionary, setting: &Setting) -> Vec<u8> {
    let about = value(document, widget, b"MK").and_then(|it| it.as_dict().ok());
    let color = |key: &[u8], operators: [&str; 3]| {
        let list = array(document, about?.get(key).ok());
        let parts: Option<Vec<f32>> = list
            .iter()
            .take(5)
            .map(|it| resolve(document, it)?.as_float().ok())
            .collect();
        let parts = parts?;
        let operator = match parts.len() {
            1 => operators[0],
            3 => operators[1],
            4 => operators[2],
            _ => return None,
        };
        let parts: Vec<String> = parts.iter().map(f32::to_string).collect();
        Some(format!("{} {operator}", parts.join(" ")))
    };
    let (w, h) = (setting.width, setting.height);
    let mut content = String::new();
    if let Some(fill) = color(b"BG", ["g", "rg", "k"]) {
        content += &format!("q {fill} 0 0 {w} {h} re f Q\n");
    }
    if let Some(stroke) = color(b"BC", ["G", "RG", "K"]) {
        let style = value(document, widget, b"BS").and_then(|it| it.as_dict().ok());
        let line = style
            .and_then(|it| value(document, it, b"W")?.as_float().ok())
            .unwrap_or(1.0);
        if line > 0.0 {
            let (wide, high) = ((w - line).max(0.0), (h - line).max(0.0));
            content += &format!(
                "q {stroke} {line} w {0} {0} {wide} {high} re S Q\n",
                line / 2.0
            );
        }
    }
    content.into_bytes()
}
