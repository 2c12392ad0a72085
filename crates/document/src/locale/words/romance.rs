//! French, Spanish, Italian.

use super::groups;

/// French with the hyphens of 1990. `decimal`: septante and nonante, as in Belgium and Switzerland.
pub(super) fn french(number: u64, decimal: bool) -> String {
    const POWERS: [&str; 5] = ["", "mille", "million", "milliard", "billion"];
    if number == 0 {
        return "zéro".to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    for (power, group) in groups(number) {
        match (power, group) {
            (0, group) => words.push(french_group(group, decimal, true)),
            (1, 1) => words.push("mille".to_owned()),
            (1, group) => words.push(format!("{}-mille", french_group(group, decimal, false))),
            (power, group) => {
                let plural = if group > 1 { "s" } else { "" };
                words.push(format!(
                    "{} {}{plural}",
                    french_group(group, decimal, true),
                    POWERS[power as usize]
                ));
            }
        }
    }
    // Thousands and what follows are one word; millions are nouns.
    let mut joined = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            let noun = words[index - 1].contains("illi");
            joined.push(if noun { ' ' } else { '-' });
        }
        joined += word;
    }
    joined
}

/// A French number below 1000; `ends`: nothing but a noun follows, so that `vingts` and `cents` have
/// their s.
fn french_group(group: u64, decimal: bool, ends: bool) -> String {
    const SMALL: [&str; 20] = [
        "", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze",
        "douze", "treize", "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf",
    ];
    const TENS: [&str; 10] = [
        "",
        "",
        "vingt",
        "trente",
        "quarante",
        "cinquante",
        "soixante",
        "septante",
        "quatre-vingt",
        "nonante",
    ];
    let (hundreds, rest) = (group as usize / 100, group as usize % 100);
    let mut words = match hundreds {
        0 => String::new(),
        1 => "cent".to_owned(),
        hundreds if rest == 0 && ends => format!("{}-cents", SMALL[hundreds]),
        hundreds => format!("{}-cent", SMALL[hundreds]),
    };
    if rest == 0 {
        return words;
    }
    if hundreds > 0 {
        words.push('-');
    }
    // Without septante and nonante, 70 to 79 and 90 to 99 count on from 60 and 80.
    let (tens, units) = match (rest / 10, rest % 10) {
        (7, units) if !decimal => (6, units + 10),
        (9, units) if !decimal => (8, units + 10),
        parts => parts,
    };
    match (tens, units) {
        (0 | 1, _) => words += SMALL[rest],
        (8, 0) if ends => words += "quatre-vingts",
        (tens, 0) => words += TENS[tens],
        (8, units) => words += &format!("quatre-vingt-{}", SMALL[units]),
        (tens, units @ (1 | 11)) => words += &format!("{}-et-{}", TENS[tens], SMALL[units]),
        (tens, units) => words += &format!("{}-{}", TENS[tens], SMALL[units]),
    }
    words
}

/// Spanish.
pub(super) fn spanish(number: u64) -> String {
    match number {
        0 => "cero".to_owned(),
        _ => spanish_number(number, false),
    }
}

/// `short`: before a noun, where `uno` loses its ending.
fn spanish_number(number: u64, short: bool) -> String {
    const POWERS: [(u64, &str, &str); 2] = [
        (1_000_000_000_000, "un billón", "billones"),
        (1_000_000, "un millón", "millones"),
    ];
    let mut words = Vec::new();
    let mut rest = number;
    for (value, one, many) in POWERS {
        match rest / value {
            0 => {}
            1 => words.push(one.to_owned()),
            count => words.push(format!("{} {many}", spanish_number(count, true))),
        }
        rest %= value;
    }
    match rest / 1000 {
        0 => {}
        1 => words.push("mil".to_owned()),
        count => words.push(format!("{} mil", spanish_group(count, true))),
    }
    if !rest.is_multiple_of(1000) {
        words.push(spanish_group(rest % 1000, short));
    }
    words.join(" ")
}

const SPANISH_SMALL: [&str; 30] = [
    "",
    "uno",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "seis",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "once",
    "doce",
    "trece",
    "catorce",
    "quince",
    "dieciséis",
    "diecisiete",
    "dieciocho",
    "diecinueve",
    "veinte",
    "veintiuno",
    "veintidós",
    "veintitrés",
    "veinticuatro",
    "veinticinco",
    "veintiséis",
    "veintisiete",
    "veintiocho",
    "veintinueve",
];
const SPANISH_TENS: [&str; 10] = [
    "",
    "",
    "",
    "treinta",
    "cuarenta",
    "cincuenta",
    "sesenta",
    "setenta",
    "ochenta",
    "noventa",
];
const SPANISH_HUNDREDS: [&str; 10] = [
    "",
    "ciento",
    "doscientos",
    "trescientos",
    "cuatrocientos",
    "quinientos",
    "seiscientos",
    "setecientos",
    "ochocientos",
    "novecientos",
];

fn spanish_group(group: u64, short: bool) -> String {
    if group == 100 {
        return "cien".to_owned();
    }
    let (hundreds, rest) = (group as usize / 100, group as usize % 100);
    let mut words = Vec::new();
    if hundreds > 0 {
        words.push(SPANISH_HUNDREDS[hundreds].to_owned());
    }
    let units = match rest % 10 {
        1 if short => "un",
        units => SPANISH_SMALL[units],
    };
    match (rest / 10, rest % 10) {
        (0, 0) => {}
        (0, _) => words.push(units.to_owned()),
        (2, 1) if short => words.push("veintiún".to_owned()),
        (1 | 2, _) => words.push(SPANISH_SMALL[rest].to_owned()),
        (tens, 0) => words.push(SPANISH_TENS[tens].to_owned()),
        (tens, _) => words.push(format!("{} y {units}", SPANISH_TENS[tens])),
    }
    words.join(" ")
}

/// Italian.
pub(super) fn italian(number: u64) -> String {
    const POWERS: [(&str, &str); 5] = [
        ("", ""),
        ("mille", "mila"),
        ("un milione", "milioni"),
        ("un miliardo", "miliardi"),
        ("un bilione", "bilioni"),
    ];
    if number == 0 {
        return "zero".to_owned();
    }
    let mut words: Vec<String> = Vec::new();
    let mut last = String::new();
    for (power, group) in groups(number) {
        let (one, many) = POWERS[power as usize];
        match (power, group) {
            (0, group) => last += &italian_group(group),
            (1, 1) => last += one,
            (1, group) => last += &(italian_group(group) + many),
            (_, 1) => words.push(one.to_owned()),
            (_, group) => words.push(format!("{} {many}", italian_group(group))),
        }
    }
    // Only a three at the end of a longer word has an accent.
    if last.len() > 3 && last.ends_with("tre") {
        last.truncate(last.len() - 1);
        last.push('é');
    }
    if !last.is_empty() {
        words.push(last);
    }
    words.join(" ")
}

fn italian_group(group: u64) -> String {
    const SMALL: [&str; 20] = [
        "",
        "uno",
        "due",
        "tre",
        "quattro",
        "cinque",
        "sei",
        "sette",
        "otto",
        "nove",
        "dieci",
        "undici",
        "dodici",
        "tredici",
        "quattordici",
        "quindici",
        "sedici",
        "diciassette",
        "diciotto",
        "diciannove",
    ];
    const TENS: [&str; 10] = [
        "",
        "",
        "venti",
        "trenta",
        "quaranta",
        "cinquanta",
        "sessanta",
        "settanta",
        "ottanta",
        "novanta",
    ];
    let (hundreds, rest) = (group as usize / 100, group as usize % 100);
    let mut words = match hundreds {
        0 => String::new(),
        1 => "cento".to_owned(),
        hundreds => format!("{}cento", SMALL[hundreds]),
    };
    // `cento` loses its o before eight and eighty.
    if hundreds > 0 && (rest == 8 || rest / 10 == 8) {
        words.pop();
    }
    match (rest / 10, rest % 10) {
        (0 | 1, _) => words += SMALL[rest],
        (tens, units) => {
            words += TENS[tens];
            // Tens lose their vowel before one and eight.
            if matches!(units, 1 | 8) {
                words.pop();
            }
            words += SMALL[units];
        }
    }
    words
}
