//! Pieces of text in the order in which people read them: columns one after another, lines from top
//! to bottom, right-to-left scripts as they are spoken.

/// Cuts within cuts; deeper, lines are read across.
const MAX_DEPTH: usize = 40;
/// Pieces of a page up to which columns are looked for.
const MAX_PIECES: usize = 20_000;
/// A column has at least so many lines, of so many characters in the middle.
const COLUMN_LINES: usize = 4;
const COLUMN_CHARACTERS: usize = 16;

/// A piece of text on one baseline, in coordinates in which it runs to the right.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    text: String,
    /// Quarter turns of the direction in which it runs, counter-clockwise.
    turns: u8,
    left: f32,
    right: f32,
    baseline: f32,
    size: f32,
}

impl Chunk {
    /// A glyph from `begin` to `end`; `None` if it is nowhere.
    pub(super) fn new(
        text: String,
        begin: (f32, f32),
        end: (f32, f32),
        size: f32,
        matrix: [f32; 6],
    ) -> Option<Self> {
        let (x, y) = (end.0 - begin.0, end.1 - begin.1);
        let (x, y) = match x == 0.0 && y == 0.0 {
            true => (matrix[0], matrix[1]),
            false => (x, y),
        };
        let turns = match (x.abs() >= y.abs(), x >= 0.0, y >= 0.0) {
            (true, true, _) => 0,
            (false, _, true) => 1,
            (true, false, _) => 2,
            (false, _, false) => 3,
        };
        let turned = |(x, y): (f32, f32)| match turns {
            0 => (x, y),
            1 => (y, -x),
            2 => (-x, -y),
            _ => (-y, x),
        };
        let ((left, baseline), (right, _)) = (turned(begin), turned(end));
        let is_somewhere = [left, right, baseline, size]
            .iter()
            .all(|it| it.is_finite());
        (is_somewhere && size > 0.0).then_some(Self {
            text,
            turns,
            left,
            right,
            baseline,
            size,
        })
    }

    /// Whether `next` goes on where this ends.
    pub(super) fn takes(&self, next: &Self) -> bool {
        let size = self.size.max(next.size);
        let gap = next.left - self.right;
        self.turns == next.turns
            && (self.baseline - next.baseline).abs() < size * 0.3
            && (-size * 0.4..size * 0.9).contains(&gap)
    }

    pub(super) fn append(&mut self, next: &Self) {
        let gap = next.left - self.right;
        let has_space = self.text.ends_with(char::is_whitespace)
            || next.text.starts_with(char::is_whitespace)
            || self.text.is_empty();
        if gap > self.size.min(next.size) * 0.17 && !has_space && !next.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(&next.text);
        self.right = self.right.max(next.right);
        self.size = self.size.max(next.size);
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn top(&self) -> f32 {
        self.baseline + self.size * 0.8
    }

    fn bottom(&self) -> f32 {
        self.baseline - self.size * 0.2
    }
}

/// The text of pieces.
pub(super) fn in_order(chunks: Vec<Chunk>) -> String {
    let mut text = String::new();
    let mut turned: [Vec<Chunk>; 4] = Default::default();
    for chunk in chunks {
        turned[usize::from(chunk.turns)].push(chunk);
    }
    for some in turned {
        if some.is_empty() {
            continue;
        }
        let depth = match some.len() > MAX_PIECES {
            true => MAX_DEPTH,
            false => 0,
        };
        blocks(some, depth, &mut text);
    }
    let end = text.trim_end().len();
    text.truncate(end);
    text
}

fn blocks(chunks: Vec<Chunk>, depth: usize, text: &mut String) {
    if depth < MAX_DEPTH {
        if let Some((first, second)) = columns(&chunks) {
            blocks(first, depth + 1, text);
            separate(text);
            return blocks(second, depth + 1, text);
        }
        if let Some((above, below)) = rows(&chunks) {
            blocks(above, depth + 1, text);
            separate(text);
            return blocks(below, depth + 1, text);
        }
    }
    lines(chunks, text);
}

fn separate(text: &mut String) {
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push('\n');
    }
}

/// Cuts columns of running text apart, at the widest gap that goes through from top to bottom.
fn columns(chunks: &[Chunk]) -> Option<(Vec<Chunk>, Vec<Chunk>)> {
    let mut sorted: Vec<&Chunk> = chunks.iter().collect();
    sorted.sort_by(|one, two| one.left.total_cmp(&two.left));
    let size = middle(chunks.iter().map(|it| it.size).collect());
    let mut right = sorted.first()?.right;
    let mut best: Option<(f32, f32)> = None;
    for chunk in sorted {
        let gap = chunk.left - right;
        if gap > size * 0.8 && best.is_none_or(|(widest, _)| gap > widest) {
            best = Some((gap, chunk.left));
        }
        right = right.max(chunk.right);
    }
    let (_, at) = best?;
    let (first, second): (Vec<Chunk>, Vec<Chunk>) =
        chunks.iter().cloned().partition(|chunk| chunk.left < at);
    (is_column(&first) && is_column(&second)).then_some((first, second))
}

/// Whether pieces are running text, and not a column of a table.
fn is_column(chunks: &[Chunk]) -> bool {
    let mut lines: Vec<f32> = chunks.iter().map(|it| it.baseline).collect();
    lines.sort_by(f32::total_cmp);
    lines.dedup_by(|one, two| (*one - *two).abs() < 1.0);
    let lengths = chunks
        .iter()
        .map(|it| it.text.chars().count() as f32)
        .collect();
    lines.len() >= COLUMN_LINES && middle(lengths) >= COLUMN_CHARACTERS as f32
}

fn middle(mut values: Vec<f32>) -> f32 {
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Cuts at the widest gap between lines, if it is wider than between lines of one block.
fn rows(chunks: &[Chunk]) -> Option<(Vec<Chunk>, Vec<Chunk>)> {
    let mut sorted: Vec<&Chunk> = chunks.iter().collect();
    sorted.sort_by(|one, two| two.top().total_cmp(&one.top()));
    let mut bottom = sorted.first()?.bottom();
    let mut best: Option<(f32, f32)> = None;
    for chunk in sorted {
        let gap = bottom - chunk.top();
        if gap > chunk.size * 0.6 && best.is_none_or(|(widest, _)| gap > widest) {
            best = Some((gap, chunk.top()));
        }
        bottom = bottom.min(chunk.bottom());
    }
    let (_, at) = best?;
    let (above, below): (Vec<Chunk>, Vec<Chunk>) =
        chunks.iter().cloned().partition(|chunk| chunk.top() > at);
    (!above.is_empty() && !below.is_empty()).then_some((above, below))
}

/// Lines from top to bottom.
fn lines(mut chunks: Vec<Chunk>, text: &mut String) {
    chunks.sort_by(|one, two| two.baseline.total_cmp(&one.baseline));
    let mut rest = chunks.as_slice();
    while let Some(first) = rest.first() {
        let reach = first.baseline - first.size * 0.35;
        let count = rest
            .iter()
            .take_while(|it| it.baseline >= reach)
            .count()
            .max(1);
        let (now, after) = rest.split_at(count);
        line(now, text);
        rest = after;
    }
}

fn line(chunks: &[Chunk], text: &mut String) {
    let mut sorted: Vec<&Chunk> = chunks.iter().collect();
    sorted.sort_by(|one, two| one.left.total_cmp(&two.left));
    let mut made = String::new();
    let mut right: Option<f32> = None;
    for chunk in sorted {
        let is_apart = right.is_some_and(|right| chunk.left - right > chunk.size * 0.17);
        if is_apart && !made.ends_with(' ') {
            made.push(' ');
        }
        made.push_str(&chunk.text);
        right = Some(right.map_or(chunk.right, |it| it.max(chunk.right)));
    }
    let made = made.trim();
    match is_leftward(made) {
        true => text.push_str(&spoken(made)),
        false => text.push_str(made),
    }
    text.push('\n');
}

fn is_leftward_symbol(symbol: char) -> bool {
    matches!(symbol, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}')
}

/// Whether most letters of a line are of a script that is written to the left.
fn is_leftward(text: &str) -> bool {
    let leftward = text
        .chars()
        .filter(|symbol| is_leftward_symbol(*symbol))
        .count();
    leftward * 2 > text.chars().filter(|symbol| symbol.is_alphabetic()).count() && leftward > 0
}

/// A line of a right-to-left script from the order in which its glyphs stand to that in which it is
/// spoken: runs of other letters and numbers stay.
fn spoken(text: &str) -> String {
    let symbols: Vec<char> = text.chars().rev().collect();
    let mut made = String::with_capacity(text.len());
    let mut at = 0;
    while at < symbols.len() {
        let is_forward = |symbol: char| symbol.is_alphanumeric() && !is_leftward_symbol(symbol);
        if !is_forward(symbols[at]) {
            made.push(symbols[at]);
            at += 1;
            continue;
        }
        // Up to the last letter or digit before the script goes on.
        let rest = &symbols[at..];
        let stop = rest
            .iter()
            .position(|it| is_leftward_symbol(*it))
            .unwrap_or(rest.len());
        let end = rest[..stop]
            .iter()
            .rposition(|it| is_forward(*it))
            .unwrap_or(0)
            + 1;
        made.extend(rest[..end].iter().rev());
        at += end;
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, left: f32, baseline: f32) -> Chunk {
        let width = text.chars().count() as f32 * 5.0;
        let (begin, end) = ((left, baseline), (left + width, baseline));
        Chunk::new(
            text.to_owned(),
            begin,
            end,
            10.0,
            [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        )
        .expect("a piece")
    }

    #[test]
    fn columns_are_read_one_after_another_and_tables_across() {
        let mut all = vec![piece(
            "A title over both of the columns of the page, long",
            50.0,
            700.0,
        )];
        for line in 0..5 {
            let at = 660.0 - 12.0 * line as f32;
            all.push(piece(&format!("left column of text {line}"), 50.0, at));
            all.push(piece(&format!("right column of text {line}"), 250.0, at));
        }
        let text = in_order(all);
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines[1], "left column of text 0");
        assert_eq!(lines[5], "left column of text 4");
        assert_eq!(lines[6], "right column of text 0");
        let table: Vec<Chunk> = (0..5)
            .flat_map(|row| {
                let at = 600.0 - 12.0 * row as f32;
                [
                    piece(&format!("Row {row}"), 50.0, at),
                    piece("1.00", 250.0, at),
                ]
            })
            .collect();
        assert!(in_order(table).starts_with("Row 0 1.00\nRow 1 1.00\n"));
    }

    #[test]
    fn scripts_to_the_left_are_as_they_are_spoken() {
        let seen = "42 \u{5dd}\u{5d5}\u{5dc}\u{5e9}";
        assert!(is_leftward(seen));
        assert_eq!(spoken(seen), "\u{5e9}\u{5dc}\u{5d5}\u{5dd} 42");
        assert!(!is_leftward("hello"));
    }
}
