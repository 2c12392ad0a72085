//! Column widths: fixed lengths, shares, and automatic widths computed from every row.

use platen_document::{
    bound::{Cell, CellContent, ColumnWidth, StyleId, Table},
    work,
};

use super::{super::composer::Composer, span};
use crate::text::{Break, Paragraph};

/// Minimum and maximum useful width of a column, in points.
#[derive(Clone, Copy, Debug, Default)]
struct Need {
    /// Width of the longest word.
    min: f32,
    /// Width of the content on one line.
    max: f32,
}

impl Composer<'_> {
    /// Offset of each column from the start side, and the end of the last.
    pub(super) fn column_edges(&mut self, table: &Table, width: f32) -> Vec<f32> {
        let needs = self.needs(table);
        let widths = solve(table, &needs, width);
        let mut edges = vec![0.0];
        let mut end = 0.0;
        for width in widths {
            end += width;
            edges.push(end);
        }
        edges
    }

    /// The needs of automatic columns; those of others remain zero.
    fn needs(&mut self, table: &Table) -> Vec<Need> {
        let count = table.columns.len();
        let mut needs = vec![Need::default(); count];
        let automatic: Vec<bool> = table
            .columns
            .iter()
            .map(|column| column.width == ColumnWidth::Auto)
            .collect();
        if !automatic.contains(&true) {
            return needs;
        }
        let mut covered = vec![0_u16; count];
        for row in table.header.iter().chain(&table.rows) {
            let mut column = 0;
            for cell in &row.cells {
                while column < count && covered[column] > 0 {
                    column += 1;
                }
                let columns = column..(column + span(cell)).min(count);
                if columns.len() == 1 && automatic[column] {
                    let need = self.cell_need(cell);
                    needs[column].min = needs[column].min.max(need.min);
                    needs[column].max = needs[column].max.max(need.max);
                }
                for covered in &mut covered[columns] {
                    *covered = cell.row_span;
                }
                column += span(cell);
            }
            for covered in &mut covered {
                *covered = covered.saturating_sub(1);
            }
        }
        needs
    }

    fn cell_need(&mut self, cell: &Cell) -> Need {
        work::check();
        let padding = self.style(cell.style).padding;
        let sides = padding.left + padding.right;
        let need = match &cell.content {
            CellContent::Text(_) | CellContent::Inlines(_) if self.style(cell.style).turned => {
                self.turned_need(cell)
            }
            CellContent::Text(text) => self.text_need(text, cell.style),
            CellContent::Inlines(content) => {
                let paragraph = self.text.paragraph(content, cell.style);
                paragraph_need(&paragraph)
            }
            // Nested blocks adapt to the width they get; these bounds keep them readable.
            CellContent::Blocks(_) => Need {
                min: 60.0,
                max: 160.0,
            },
        };
        Need {
            min: need.min + sides + 0.02,
            max: need.max + sides + 0.02,
        }
    }

    /// Turned text needs the height of its lines.
    fn turned_need(&mut self, cell: &Cell) -> Need {
        let paragraph = match &cell.content {
            CellContent::Inlines(content) => self.text.paragraph(content, cell.style),
            CellContent::Text(text) => self.text.text_paragraph(text, cell.style),
            CellContent::Blocks(_) => Paragraph::default(),
        };
        let breadth = self.turned(paragraph, cell.style, None).breadth;
        Need {
            min: breadth,
            max: breadth,
        }
    }

    fn text_need(&mut self, text: &str, style: StyleId) -> Need {
        let paragraph = self.text.text_paragraph(text, style);
        paragraph_need(&paragraph)
    }
}

fn paragraph_need(paragraph: &Paragraph) -> Need {
    let mut need = Need::default();
    let (mut line, mut word, mut space) = (0.0, 0.0, 0.0);
    for atom in &paragraph.atoms {
        line += space + atom.width;
        word += atom.width;
        space = atom.space;
        need.max = need.max.max(line);
        need.min = need.min.max(word);
        match atom.after {
            Break::Never => word += atom.space,
            Break::Allowed => word = 0.0,
            Break::Mandatory => (line, word, space) = (0.0, 0.0, 0.0),
        }
    }
    need
}

/// Distributes `width` points over the columns.
fn solve(table: &Table, needs: &[Need], width: f32) -> Vec<f32> {
    let columns = &table.columns;
    let fixed: f32 = columns
        .iter()
        .map(|column| {
            if let ColumnWidth::Fixed(points) = column.width {
                points
            } else {
                0.0
            }
        })
        .sum();
    let shares: f32 = columns
        .iter()
        .map(|column| {
            if let ColumnWidth::Fraction(share) = column.width {
                share
            } else {
                0.0
            }
        })
        .sum();
    let automatic = |column: &usize| columns[*column].width == ColumnWidth::Auto;
    let indices: Vec<usize> = (0..columns.len()).filter(automatic).collect();
    let min: f32 = indices.iter().map(|index| needs[*index].min).sum();
    let max: f32 = indices.iter().map(|index| needs[*index].max).sum();
    // Columns with shares keep some space, however much the automatic ones want.
    let floor: f32 = shares.min(columns.len() as f32) * 24.0;
    let room = (width - fixed).max(1.0);
    let for_automatic = if shares > 0.0 {
        (room - floor).max(room * 0.2)
    } else {
        room
    };
    let mut widths: Vec<f32> = columns
        .iter()
        .zip(needs)
        .map(|(column, need)| match column.width {
            ColumnWidth::Fixed(points) => points,
            ColumnWidth::Fraction(_) => 0.0,
            ColumnWidth::Auto if max <= for_automatic => need.max,
            ColumnWidth::Auto if min <= for_automatic => {
                let spread = (for_automatic - min) / (max - min).max(0.001);
                need.min + (need.max - need.min) * spread
            }
            ColumnWidth::Auto => need.min * for_automatic / min.max(0.001),
        })
        .collect();
    let used: f32 = widths.iter().sum();
    let left = width - used;
    if shares > 0.0 {
        for (width, column) in widths.iter_mut().zip(columns) {
            if let ColumnWidth::Fraction(share) = column.width {
                *width = (left * share / shares).max(1.0);
            }
        }
    } else if left > 0.0 && !indices.is_empty() {
        for index in &indices {
            widths[*index] += left * needs[*index].max / max.max(0.001);
        }
    }
    let total: f32 = widths.iter().sum();
    if total > width + 0.01 {
        for column in &mut widths {
            *column *= width / total;
        }
    }
    widths
}

#[cfg(test)]
mod tests {
    use platen_document::bound::Column;

    use super::*;

    fn table(widths: &[ColumnWidth]) -> Table {
        let columns = widths
            .iter()
            .map(|width| Column {
                width: *width,
                ..Column::default()
            })
            .collect();
        Table {
            columns,
            ..Table::default()
        }
    }

    fn need(min: f32, max: f32) -> Need {
        Need { min, max }
    }

    #[test]
    fn widths_always_fill_the_table() {
        use ColumnWidth::{Auto, Fixed, Fraction};
        let cases = [
            (vec![Auto, Auto], vec![need(10.0, 50.0), need(10.0, 30.0)]),
            (vec![Auto, Auto], vec![need(80.0, 500.0), need(60.0, 300.0)]),
            (
                vec![Auto, Auto],
                vec![need(800.0, 900.0), need(60.0, 300.0)],
            ),
            (
                vec![Fixed(50.0), Fraction(1.0), Fraction(2.0)],
                vec![Need::default(); 3],
            ),
            (vec![Fixed(500.0), Fixed(500.0)], vec![Need::default(); 2]),
            (
                vec![Auto, Fraction(1.0)],
                vec![need(30.0, 4000.0), Need::default()],
            ),
        ];
        for (widths, needs) in cases {
            let solved = solve(&table(&widths), &needs, 300.0);
            let total: f32 = solved.iter().sum();
            assert!((total - 300.0).abs() < 0.1, "{widths:?} {solved:?}");
            assert!(solved.iter().all(|width| *width > 0.0), "{solved:?}");
        }
    }

    #[test]
    fn automatic_columns_get_what_they_need_first() {
        use ColumnWidth::{Auto, Fraction};
        let solved = solve(
            &table(&[Auto, Fraction(1.0)]),
            &[need(20.0, 60.0), Need::default()],
            300.0,
        );
        assert!((solved[0] - 60.0).abs() < 0.01);
        assert!((solved[1] - 240.0).abs() < 0.01);
    }
}
