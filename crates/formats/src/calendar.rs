//! Day and second counts as proleptic Gregorian dates, formatted as in ISO 8601.

/// Year, month and day of a day count since 1970-01-01. Source: Howard Hinnant, "chrono-Compatible
/// Low-Level Date Algorithms", `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 {
        month_shifted + 3
    } else {
        month_shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Formats days since 1970-01-01 as `2026-11-21`.
pub(crate) fn iso_date(days: i64) -> String {
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Formats seconds since midnight as `09:30:00`; values outside one day wrap around.
pub(crate) fn iso_time(seconds: i64) -> String {
    let seconds = seconds.rem_euclid(86_400);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
}

/// Formats seconds since 1970-01-01T00:00:00 as `2026-11-21T09:30:00`.
pub(crate) fn iso_date_time(seconds: i64) -> String {
    format!(
        "{}T{}",
        iso_date(seconds.div_euclid(86_400)),
        iso_time(seconds)
    )
}

/// Whether text is a date as controls take it: `2026-03-31`.
pub(crate) fn is_iso_date(text: &str) -> bool {
    let sound = |(index, byte): (usize, u8)| match index {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_ages() {
        assert_eq!(iso_date(0), "1970-01-01");
        assert_eq!(iso_date(20_778), "2026-11-21");
        assert_eq!(iso_date(-1), "1969-12-31");
        assert_eq!(iso_date(11_016), "2000-02-29");
        assert_eq!(iso_date_time(1_795_253_400), "2026-11-21T09:30:00");
    }
}
