//! Polish.

use super::groups;

const SMALL: [&str; 20] = [
    "zero",
    "jeden",
    "dwa",
    "trzy",
    "cztery",
    "pięć",
    "sześć",
    "siedem",
    "osiem",
    "dziewięć",
    "dziesięć",
    "jedenaście",
    "dwanaście",
    "trzynaście",
    "czternaście",
    "piętnaście",
    "szesnaście",
    "siedemnaście",
    "osiemnaście",
    "dziewiętnaście",
];
const TENS: [&str; 10] = [
    "",
    "",
    "dwadzieścia",
    "trzydzieści",
    "czterdzieści",
    "pięćdziesiąt",
    "sześćdziesiąt",
    "siedemdziesiąt",
    "osiemdziesiąt",
    "dziewięćdziesiąt",
];
const HUNDREDS: [&str; 10] = [
    "",
    "sto",
    "dwieście",
    "trzysta",
    "czterysta",
    "pięćset",
    "sześćset",
    "siedemset",
    "osiemset",
    "dziewięćset",
];
/// One, two to four, and more.
const POWERS: [[&str; 3]; 5] = [
    ["", "", ""],
    ["tysiąc", "tysiące", "tysięcy"],
    ["milion", "miliony", "milionów"],
    ["miliard", "miliardy", "miliardów"],
    ["bilion", "biliony", "bilionów"],
];

/// Polish: a noun of a power of a thousand has the form that its number asks for.
pub(super) fn polish(number: u64) -> String {
    if number == 0 {
        return SMALL[0].to_owned();
    }
    let mut words = Vec::new();
    for (power, group) in groups(number) {
        let (hundreds, rest) = (group as usize / 100, group as usize % 100);
        // A single thousand or million is only the noun.
        if power == 0 || group > 1 {
            if hundreds > 0 {
                words.push(HUNDREDS[hundreds]);
            }
            match (rest / 10, rest % 10) {
                (0, 0) => {}
                (0 | 1, _) => words.push(SMALL[rest]),
                (tens, 0) => words.push(TENS[tens]),
                (tens, units) => words.extend([TENS[tens], SMALL[units]]),
            }
        }
        if power > 0 {
            let form = match (group, rest / 10, rest % 10) {
                (1, ..) => 0,
                (_, tens, 2..=4) if tens != 1 => 1,
                _ => 2,
            };
            words.push(POWERS[power as usize][form]);
        }
    }
    words.join(" ")
}
