//! Arithmetic with dates, their parts, and their ISO 8601 form.

use jiff::{Span, civil};

use super::moment::{DAY, Moment};

impl Moment {
    /// The same time `days` later; `None` for a time of day, or out of range.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Option<Self> {
        self.on(|date| date.checked_add(Span::new().try_days(days).ok()?).ok())
    }

    /// The same day and time `months` later, or the last day of that month if it is shorter; `None`
    /// for a time of day, or out of range.
    #[must_use]
    pub fn plus_months(self, months: i64) -> Option<Self> {
        self.on(|date| date.checked_add(Span::new().try_months(months).ok()?).ok())
    }

    /// The first or last day of its month; `None` for a time of day.
    #[must_use]
    pub fn month_bound(self, end: bool) -> Option<Self> {
        self.on(|date| {
            Some(if end {
                date.last_of_month()
            } else {
                date.first_of_month()
            })
        })
    }

    /// Days since 1970-01-01; `None` for a time of day.
    #[must_use]
    pub fn day(self) -> Option<i64> {
        match self {
            Self::Date(days) => Some(i64::from(days)),
            Self::DateTime(seconds) => Some(seconds.div_euclid(DAY)),
            Self::Time(_) => None,
        }
    }

    /// Day of the week, from 1 for Monday; `None` for a time of day.
    #[must_use]
    pub fn weekday(self) -> Option<i64> {
        Some(i64::from(self.date()?.weekday().to_monday_one_offset()))
    }

    /// Week of the year (ISO 8601); `None` for a time of day.
    #[must_use]
    pub fn week(self) -> Option<i64> {
        Some(i64::from(self.date()?.iso_week_date().week()))
    }

    /// ISO 8601 without an offset: `2026-11-21`, `2026-11-21T14:30:00` or `14:30:00`.
    #[must_use]
    pub fn to_iso(self) -> String {
        let clock = |seconds: i64| {
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
        };
        match (self, self.date()) {
            (Self::Time(seconds), _) => clock(i64::from(seconds)),
            (Self::DateTime(seconds), Some(date)) => {
                format!("{date}T{}", clock(seconds.rem_euclid(DAY)))
            }
            (_, Some(date)) => date.to_string(),
            (_, None) => String::new(),
        }
    }

    fn date(self) -> Option<civil::Date> {
        let days = Span::new().try_days(self.day()?).ok()?;
        civil::Date::constant(1970, 1, 1).checked_add(days).ok()
    }

    /// The same time on another date.
    fn on(self, change: impl FnOnce(civil::Date) -> Option<civil::Date>) -> Option<Self> {
        let Self::Date(days) = Self::from_date(change(self.date()?)?) else {
            return None;
        };
        Some(match self {
            Self::DateTime(seconds) => {
                Self::DateTime(i64::from(days) * DAY + seconds.rem_euclid(DAY))
            }
            _ => Self::Date(days),
        })
    }
}
