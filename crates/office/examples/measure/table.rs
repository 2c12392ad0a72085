//! Tables of what was measured.

use crate::contestant::Sample;

/// A contestant and its samples.
pub(crate) struct Row {
    name: String,
    pub(crate) samples: Vec<Sample>,
}

impl Row {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            samples: Vec::new(),
        }
    }

    fn totals(&self) -> Vec<f64> {
        self.samples.iter().map(|it| it.total_ms).collect()
    }
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => 0.0,
        0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

/// Prints rows in Markdown; the ratio is of the times of a round to those of the first row in it.
pub(crate) fn print(title: &str, rows: &[Row]) {
    println!("\n### {title}\n");
    println!(
        "| | min | median | max | ratio | put | load | store | get | close | outside LibreOffice |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let Some(first) = rows.first() else { return };
    for row in rows {
        let totals = row.totals();
        let pairs = totals.iter().zip(first.totals());
        let ratios: Vec<f64> = pairs.map(|(one, other)| one / other).collect();
        let least = totals.iter().copied().fold(f64::MAX, f64::min);
        let most = totals.iter().copied().fold(0.0, f64::max);
        let mut line = format!(
            "| {} | {least:.1} | {:.1} | {most:.1} | {:.2} |",
            row.name,
            median(&totals),
            median(&ratios)
        );
        let phases: Option<Vec<[f64; 5]>> = row.samples.iter().map(|it| it.phases_ms).collect();
        match phases {
            Some(phases) => {
                for index in 0..5 {
                    let values: Vec<f64> = phases.iter().map(|it| it[index]).collect();
                    line += &format!(" {:.1} |", median(&values));
                }
                let outside = totals.iter().zip(&phases);
                let outside = outside.map(|(total, it)| total - it.iter().sum::<f64>());
                line += &format!(" {:.1} |", median(&outside.collect::<Vec<f64>>()));
            }
            None => line += " | | | | | |",
        }
        println!("{line}");
    }
}
