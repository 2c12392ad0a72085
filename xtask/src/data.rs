//! Generates the data of the benchmark examples without randomness: the same rows everywhere.

use std::path::PathBuf;

use serde_json::{Value, json};

const ADJECTIVES: [&str; 10] = [
    "Northern",
    "Compact",
    "Industrial",
    "Recycled",
    "Premium",
    "Standard",
    "Heavy-duty",
    "Portable",
    "Modular",
    "Classic",
];
const NOUNS: [&str; 12] = [
    "shelf unit",
    "label printer",
    "packing tape",
    "pallet wrap",
    "safety gloves",
    "storage box",
    "hand truck",
    "work lamp",
    "cable tray",
    "tool chest",
    "floor mat",
    "scale",
];
const REGIONS: [&str; 4] = ["North", "South", "East", "West"];

/// A linear congruential generator with the constants of Numerical Recipes, section 7.1.
struct Generator(u32);

impl Generator {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % bound
    }
}

/// Generates `count` orders of one quarter, numbered in the order of their dates.
pub fn orders(count: u32, seed: u32) -> Vec<Value> {
    let mut generator = Generator(seed);
    let mut drawn: Vec<_> = (0..count)
        .map(|_| {
            let (month, day) = (generator.below(3) + 7, generator.below(28) + 1);
            let adjective = ADJECTIVES[generator.below(10) as usize];
            let noun = NOUNS[generator.below(12) as usize];
            let region = REGIONS[generator.below(4) as usize];
            let quantity = generator.below(40) + 1;
            let cents = generator.below(20_000) + 200;
            let product = format!("{adjective} {noun}");
            (month, day, product, region, quantity, cents)
        })
        .collect();
    drawn.sort_by_key(|order| (order.0, order.1));
    (10_000_u32..)
        .zip(drawn)
        .map(|(number, (month, day, product, region, quantity, cents))| {
            json!({
                "date": format!("2026-{month:02}-{day:02}"),
                "order": format!("SO-{number:05}"),
                "product": product,
                "region": region,
                "quantity": quantity,
                "unitPrice": f64::from(cents) / 100.0,
            })
        })
        .collect()
}

/// Writes `examples/bench-*/data.json`, one order per line.
pub fn write() -> std::io::Result<()> {
    let root =
        PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").ok_or(std::io::ErrorKind::NotFound)?)
            .join("../examples");
    for (key, title, count, seed) in [
        ("bench-report", "Order report, third quarter 2026", 400, 1),
        (
            "bench-quarterly",
            "Sales ledger, third quarter 2026",
            4000,
            2,
        ),
    ] {
        let rows: Vec<String> = orders(count, seed).iter().map(Value::to_string).collect();
        let text = format!(
            "{{\"title\":\"{title}\",\"period\":\"July to September 2026\",\"rows\":[\n{}\n]}}\n",
            rows.join(",\n")
        );
        std::fs::write(root.join(key).join("data.json"), text)?;
    }
    Ok(())
}
