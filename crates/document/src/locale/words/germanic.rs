//! English, German, Dutch.

use super::groups;

/// English; `and` before tens and units, as in British English.
pub(super) fn english(number: u64, and: bool) -> String {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] = [
        "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    const POWERS: [&str; 5] = ["", "thousand", "million", "billion", "trillion"];
    if number == 0 {
        return SMALL[0].to_owned();
    }
    let below_hundred = |number: usize| match (number / 10, number % 10) {
        (0 | 1, _) => SMALL[number].to_owned(),
        (tens, 0) => TENS[tens].to_owned(),
        (tens, units) => format!("{}-{}", TENS[tens], SMALL[units]),
    };
    let mut words = Vec::new();
    for (power, group) in groups(number) {
        let (hundreds, rest) = (group as usize / 100, group as usize % 100);
        if hundreds > 0 {
            words.push(format!("{} hundred", SMALL[hundreds]));
        }
        if rest > 0 {
            if and && (hundreds > 0 || power == 0 && number > 999) {
                words.push("and".to_owned());
            }
            words.push(below_hundred(rest));
        }
        if power > 0 {
            words.push(POWERS[power as usize].to_owned());
        }
    }
    words.join(" ")
}

const GERMAN: [&str; 20] = [
    "null",
    "ein",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
];

/// A German number below 1000, with `ein` for one.
fn german_group(group: u64) -> String {
    const TENS: [&str; 10] = [
        "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig",
        "neunzig",
    ];
    let (hundreds, rest) = (group as usize / 100, group as usize % 100);
    let mut words = String::new();
    if hundreds > 0 {
        words += GERMAN[hundreds];
        words += "hundert";
    }
    match (rest / 10, rest % 10) {
        (0, 0) => {}
        (0 | 1, _) => words += GERMAN[rest],
        (tens, 0) => words += TENS[tens],
        (tens, units) => {
            words += GERMAN[units];
            words += "und";
            words += TENS[tens];
        }
    }
    words
}

/// German.
pub(super) fn german(number: u64) -> String {
    const POWERS: [(&str, &str); 5] = [
        ("", ""),
        ("", ""),
        ("eine Million", "Millionen"),
        ("eine Milliarde", "Milliarden"),
        ("eine Billion", "Billionen"),
    ];
    if number == 0 {
        return GERMAN[0].to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    let mut last = String::new();
    for (power, group) in groups(number) {
        match power {
            0 => {
                last += &german_group(group);
                // Only a one at the end has an s.
                if group % 100 == 1 {
                    last.push('s');
                }
            }
            1 => {
                last += &german_group(group);
                last += "tausend";
            }
            power => {
                let (one, many) = POWERS[power as usize];
                words.push(match group {
                    1 => one.to_owned(),
                    group if group % 100 == 1 => format!("{}e {many}", german_group(group)),
                    group => format!("{} {many}", german_group(group)),
                });
            }
        }
    }
    if !last.is_empty() {
        words.push(last);
    }
    words.join(" ")
}

/// A Dutch number below 1000.
fn dutch_group(group: u64) -> String {
    const SMALL: [&str; 20] = [
        "nul",
        "een",
        "twee",
        "drie",
        "vier",
        "vijf",
        "zes",
        "zeven",
        "acht",
        "negen",
        "tien",
        "elf",
        "twaalf",
        "dertien",
        "veertien",
        "vijftien",
        "zestien",
        "zeventien",
        "achttien",
        "negentien",
    ];
    const TENS: [&str; 10] = [
        "", "", "twintig", "dertig", "veertig", "vijftig", "zestig", "zeventig", "tachtig",
        "negentig",
    ];
    let (hundreds, rest) = (group as usize / 100, group as usize % 100);
    let mut words = match hundreds {
        0 => String::new(),
        1 => "honderd".to_owned(),
        hundreds => format!("{}honderd", SMALL[hundreds]),
    };
    match (rest / 10, rest % 10) {
        (0, 0) => {}
        (0 | 1, _) => words += SMALL[rest],
        (tens, 0) => words += TENS[tens],
        (tens, units) => {
            words += SMALL[units];
            // A diaeresis separates the vowels.
            words += if matches!(units, 2 | 3) { "ën" } else { "en" };
            words += TENS[tens];
        }
    }
    words
}

/// Dutch.
pub(super) fn dutch(number: u64) -> String {
    const POWERS: [&str; 5] = ["", "duizend", "miljoen", "miljard", "biljoen"];
    if number == 0 {
        return "nul".to_owned();
    }
    let words: Vec<String> = groups(number)
        .into_iter()
        .map(|(power, group)| match (power, group) {
            (0, group) => dutch_group(group),
            (1, 1) => "duizend".to_owned(),
            (1, group) => format!("{}duizend", dutch_group(group)),
            (power, group) => format!("{} {}", dutch_group(group), POWERS[power as usize]),
        })
        .collect();
    words.join(" ")
}
