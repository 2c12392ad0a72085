//! Generates documents of any shape: nested blocks, tables with spans, footnotes, long cells, on
//! small paper. Each text has unique words, so that a lost, duplicated or moved word is noticed.

use proptest::prelude::*;
use serde_json::{Value, json};

/// The shape of a document, without its words.
#[derive(Clone, Debug)]
pub struct Shape {
    width: u32,
    height: u32,
    margin: u32,
    columns: u32,
    body: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Text(Words),
    Heading(u8, Words),
    List(bool, Vec<(Words, Vec<Node>)>),
    Panel(Words, Vec<Node>),
    Columns(Vec<Vec<Node>>),
    KeyValue(Vec<(Words, Words)>),
    Table(Box<Table>),
    Spacer(u32),
    PageBreak,
}

#[derive(Clone, Debug)]
struct Words {
    count: usize,
    /// Every how many words there is a long one.
    long: usize,
    /// Number of words in the footnote at the end; 0 for none.
    note: usize,
}

#[derive(Clone, Debug)]
struct Table {
    columns: usize,
    look: u8,
    header: bool,
    rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug)]
struct Cell {
    words: Words,
    wide: usize,
    high: usize,
    body: Vec<Node>,
}

fn words(most: usize) -> impl Strategy<Value = Words> {
    let count = prop_oneof![6 => 1..=most.min(12), 1 => 1..=most];
    let note = prop_oneof![8 => Just(0_usize), 3 => 1..20_usize, 1 => 20..160_usize];
    (count, 5..40_usize, note).prop_map(|(count, long, note)| Words { count, long, note })
}

fn node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        6 => words(160).prop_map(Node::Text),
        2 => (1..=4_u8, words(8)).prop_map(|(level, words)| Node::Heading(level, words)),
        2 => prop::collection::vec((words(5), words(60)), 1..6).prop_map(Node::KeyValue),
        1 => (1..40_u32).prop_map(Node::Spacer),
        1 => Just(Node::PageBreak),
    ];
    leaf.prop_recursive(3, 40, 6, |inner| {
        let blocks = prop::collection::vec(inner.clone(), 0..4);
        let item = (words(30), prop::collection::vec(inner.clone(), 0..2));
        prop_oneof![
            (any::<bool>(), prop::collection::vec(item, 1..5))
                .prop_map(|(ordered, items)| Node::List(ordered, items)),
            (words(4), blocks.clone()).prop_map(|(title, body)| Node::Panel(title, body)),
            prop::collection::vec(blocks, 1..3).prop_map(Node::Columns),
            table(inner).prop_map(|table| Node::Table(Box::new(table))),
        ]
    })
}

fn table(inner: impl Strategy<Value = Node> + Clone) -> impl Strategy<Value = Table> {
    let body = prop_oneof![5 => Just(Vec::new()), 1 => prop::collection::vec(inner, 1..3)];
    let spans = prop_oneof![3 => Just(1_usize), 1 => 2..12_usize];
    let cell = (words(90), 1..3_usize, spans, body).prop_map(|(words, wide, high, body)| Cell {
        words,
        wide,
        high,
        body,
    });
    let row = prop::collection::vec(cell, 4);
    let rows = prop::collection::vec(row, 0..14);
    (1..5_usize, any::<u8>(), any::<bool>(), rows).prop_map(|(columns, look, header, rows)| Table {
        columns,
        look,
        header,
        rows,
    })
}

/// Generates a shape.
pub fn shape() -> impl Strategy<Value = Shape> {
    let body = prop::collection::vec(node(), 1..8);
    (220..420_u32, 200..420_u32, 16..30_u32, 1..3_u32, body).prop_map(
        |(width, height, margin, columns, body)| Shape {
            width,
            height,
            margin,
            columns,
            body,
        },
    )
}

/// A document's template, and its texts in reading order: those of the body and those of footnotes.
#[derive(Debug, Default)]
pub struct Made {
    pub template: Value,
    pub texts: Vec<String>,
    pub notes: Vec<String>,
}

/// Digits of the numbers in words; `x` starts a word of the body, `z` one of a footnote.
const LETTERS: &[u8] = b"abcdefghij";
/// Suffix of words that are wider than a line.
pub const LONG: &str = "mnopqrstuvwmnopqrstuvwmnopqrstuvwmnopqrstuvw";

impl Shape {
    pub fn make(&self) -> Made {
        let mut made = Made::default();
        let body = made.blocks(&self.body);
        made.template = json!({
            "key": "any", "name": "Any",
            "page": {
                "size": {"width": format!("{}pt", self.width), "height": format!("{}pt", self.height)},
                "margins": format!("{}pt", self.margin), "columns": self.columns
            },
            "body": body
        });
        made
    }
}

impl Made {
    fn text(start: char, number: usize, words: &Words, count: usize) -> String {
        let code = |mut number: usize, digits: usize| {
            let mut code = String::new();
            for _ in 0..digits {
                code.insert(0, char::from(LETTERS[number % 10]));
                number /= 10;
            }
            code
        };
        let words = (0..count).map(|index| {
            let long = if index % words.long == words.long - 1 {
                LONG
            } else {
                ""
            };
            format!("{start}{}{}{long}", code(number, 4), code(index, 3))
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn plain(&mut self, words: &Words) -> String {
        let text = Self::text('x', self.texts.len(), words, words.count);
        self.texts.push(text.clone());
        text
    }

    fn content(&mut self, words: &Words) -> Value {
        let text = self.plain(words);
        if words.note == 0 {
            return json!(text);
        }
        let note = Self::text('z', self.notes.len(), words, words.note);
        self.notes.push(note.clone());
        json!([text, {"text": "", "footnote": note}])
    }

    fn blocks(&mut self, nodes: &[Node]) -> Vec<Value> {
        nodes.iter().map(|node| self.block(node)).collect()
    }

    fn block(&mut self, node: &Node) -> Value {
        match node {
            Node::Text(words) => json!({"type": "text", "content": self.content(words)}),
            Node::Heading(level, words) => {
                json!({"type": "heading", "level": level, "content": self.content(words)})
            }
            Node::List(ordered, items) => {
                let items: Vec<Value> = items
                    .iter()
                    .map(|(words, body)| {
                        let content = self.content(words);
                        json!({"content": content, "body": self.blocks(body)})
                    })
                    .collect();
                json!({"type": "list", "ordered": ordered, "items": items})
            }
            Node::Panel(title, body) => {
                let title = self.plain(title);
                json!({"type": "panel", "title": title, "body": self.blocks(body)})
            }
            Node::Columns(columns) => {
                let columns: Vec<Value> = columns
                    .iter()
                    .map(|body| json!({"body": self.blocks(body)}))
                    .collect();
                json!({"type": "columns", "columns": columns})
            }
            Node::KeyValue(pairs) => {
                let items: Vec<Value> = pairs
                    .iter()
                    .map(|(key, value)| {
                        let key = self.content(key);
                        json!({"key": key, "value": self.content(value)})
                    })
                    .collect();
                json!({"type": "keyValue", "items": items})
            }
            Node::Table(table) => self.table(table),
            Node::Spacer(height) => json!({"type": "spacer", "height": format!("{height}pt")}),
            Node::PageBreak => json!({"type": "pageBreak"}),
        }
    }

    fn table(&mut self, table: &Table) -> Value {
        let one = Words {
            count: 2,
            long: 9,
            note: 0,
        };
        let columns: Vec<Value> = (0..table.columns)
            .map(|_| match table.header {
                true => json!({"header": self.plain(&one)}),
                false => json!({}),
            })
            .collect();
        let mut covered = vec![0_usize; table.columns];
        let count = table.rows.len();
        let mut rows = Vec::new();
        for (index, row) in table.rows.iter().enumerate() {
            let mut cells = Vec::new();
            let mut column = 0;
            for cell in row {
                while column < table.columns && covered[column] > 0 {
                    column += 1;
                }
                if column >= table.columns {
                    break;
                }
                let free = covered[column..]
                    .iter()
                    .take_while(|rows| **rows == 0)
                    .count();
                let (wide, high) = (cell.wide.min(free), cell.high.min(count - index));
                covered[column..column + wide].fill(high);
                column += wide;
                let mut made = json!({"colSpan": wide, "rowSpan": high});
                if cell.body.is_empty() {
                    made["content"] = self.content(&cell.words);
                } else {
                    made["body"] = Value::from(self.blocks(&cell.body));
                }
                cells.push(made);
            }
            for rows in &mut covered {
                *rows = rows.saturating_sub(1);
            }
            rows.push(json!({"cells": cells}));
        }
        let pick =
            |values: [&str; 4], shift: u8| values[usize::from(table.look >> shift) % 4].to_owned();
        json!({
            "type": "table", "columns": columns, "bodyRows": rows, "showHeader": table.header,
            "borders": pick(["none", "horizontal", "all", "outer"], 0),
            "rowBreak": pick(["keep", "allow", "keep", "allow"], 2),
            "repeatHeader": table.look & 16 == 0, "zebra": table.look & 32 == 0
        })
    }
}
