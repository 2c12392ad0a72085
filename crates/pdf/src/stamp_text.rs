//! The text of a stamp that is drawn as outlines, so that readers find and copy it: a word is an
//! empty glyph of a Type 3 font, which says what it stands for (9.6.4, 9.10.3).

use std::fmt::Write as _;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

/// Maximum number of words: the codes of a simple font, one of which is a space.
const MAX_WORDS: usize = 254;
/// Maximum number of UTF-16 units that a code stands for: ToUnicode allows 512 bytes.
const MAX_UNITS: usize = 200;
/// How far the baseline is above the lower edge of what is drawn, as a part of its height.
const BASELINE: f32 = 0.2;

/// Makes a form XObject of the unit square that says `text` and draws nothing: its lines below each
/// other, each in the middle. `None` for a text without words, or with more than have codes.
pub(crate) fn text_form(document: &mut Document, text: &str) -> Option<ObjectId> {
    let lines = text.lines().map(words_as_seen).filter(|it| !it.is_empty());
    let lines: Vec<Vec<Vec<u16>>> = lines.collect();
    let count: usize = lines.iter().map(Vec::len).sum();
    if count == 0 || count > MAX_WORDS {
        return None;
    }
    // Words are as wide as they have letters, with a space of one letter between them.
    let length = |line: &Vec<Vec<u16>>| line.iter().map(Vec::len).sum::<usize>() + line.len() - 1;
    let longest = lines.iter().map(length).max().unwrap_or(1);
    let unit = 1.0 / longest as f32;
    let space = count + 1;
    let height = 1.0 / lines.len() as f32;
    let mut content = "BT\n/F 1 Tf\n".to_owned();
    let mut first = 1;
    for (index, line) in lines.iter().enumerate() {
        let codes: Vec<String> = (first..first + line.len())
            .map(|code| format!("{code:02x}"))
            .collect();
        first += line.len();
        let codes = codes.join(&format!("{space:02x}"));
        let x = (longest - length(line)) as f32 * unit / 2.0;
        let y = ((lines.len() - 1 - index) as f32 + BASELINE) * height;
        let _ = writeln!(content, "1 0 0 {height} {x} {y} Tm\n<{codes}> Tj");
    }
    content += "ET";
    let mut words: Vec<Vec<u16>> = lines.into_iter().flatten().collect();
    words.push(vec![u16::from(b' ')]);
    let widths: Vec<f32> = words.iter().map(|word| word.len() as f32 * unit).collect();
    let font = font(document, &words, &widths);
    let kind = dictionary! {
        "Type" => "XObject",
        "Subtype" => "Form",
        "BBox" => vec![0.into(), 0.into(), 1.into(), 1.into()],
        "Resources" => dictionary! { "Font" => dictionary! { "F" => font } },
    };
    Some(document.add_object(Stream::new(kind, content.into_bytes())))
}

/// The words of a line from the left to the right.
fn words_as_seen(line: &str) -> Vec<Vec<u16>> {
    let mut words: Vec<Vec<u16>> = line.split_whitespace().map(units_as_seen).collect();
    if line.chars().find_map(direction) == Some(Direction::Left) {
        words.reverse();
    }
    words
}

/// Where the next letter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Left,
    Right,
}

/// The direction of a letter; `None` for signs and digits.
fn direction(letter: char) -> Option<Direction> {
    match letter {
        // Hebrew to Arabic Extended-A, and their presentation forms (Unicode, DerivedBidiClass).
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' => {
            (!letter.is_numeric()).then_some(Direction::Left)
        }
        _ => letter.is_alphabetic().then_some(Direction::Right),
    }
}

/// The letters of a word from the left to the right, as readers expect them on a page.
fn units_as_seen(word: &str) -> Vec<u16> {
    let mut letters: Vec<char> = word.chars().collect();
    if letters.iter().find_map(|letter| direction(*letter)) == Some(Direction::Left) {
        letters.reverse();
    }
    let mut units = Vec::new();
    for letter in letters {
        if units.len() + letter.len_utf16() <= MAX_UNITS {
            units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
        }
    }
    units
}

fn font(document: &mut Document, words: &[Vec<u16>], widths: &[f32]) -> ObjectId {
    let mut glyphs = Dictionary::new();
    let mut differences: Vec<Object> = vec![1.into()];
    for (index, width) in widths.iter().enumerate() {
        let name = format!("w{index}");
        let procedure = format!("{width} 0 d0").into_bytes();
        let procedure = document.add_object(Stream::new(Dictionary::new(), procedure));
        glyphs.set(name.as_bytes(), procedure);
        differences.push(Object::Name(name.into_bytes()));
    }
    let map = Stream::new(Dictionary::new(), unicode_map(words).into_bytes());
    let map = document.add_object(map);
    document.add_object(dictionary! {
        "Type" => "Font",
        "Subtype" => "Type3",
        "FontBBox" => vec![0.into(), Object::Real(-BASELINE), 1.into(), Object::Real(1.0 - BASELINE)],
        "FontMatrix" => vec![1.into(), 0.into(), 0.into(), 1.into(), 0.into(), 0.into()],
        "CharProcs" => glyphs,
        "Encoding" => dictionary! { "Type" => "Encoding", "Differences" => differences },
        "FirstChar" => 1,
        "LastChar" => words.len() as i64,
        "Widths" => widths.iter().map(|width| Object::Real(*width)).collect::<Vec<_>>(),
        "Resources" => Dictionary::new(),
        "ToUnicode" => map,
    })
}

fn unicode_map(words: &[Vec<u16>]) -> String {
    let mut map = String::from(
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n\
         /CMapName /StampText def\n/CMapType 2 def\n\
         1 begincodespacerange\n<00> <ff>\nendcodespacerange\n",
    );
    // A list has at most 100 entries (Adobe Technical Note 5014).
    for (part, words) in words.chunks(100).enumerate() {
        let _ = writeln!(map, "{} beginbfchar", words.len());
        for (index, word) in words.iter().enumerate() {
            let _ = write!(map, "<{:02x}> <", part * 100 + index + 1);
            for unit in word {
                let _ = write!(map, "{unit:04x}");
            }
            map.push_str(">\n");
        }
        map.push_str("endbfchar\n");
    }
    map.push_str("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n");
    map
}
