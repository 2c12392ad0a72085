//! Dates and times: parses them from data (RFC 3339, plain dates, Unix seconds), converts them to
//! the document's time zone, and formats them with ICU4X's patterns.

use std::sync::OnceLock;

use icu_calendar::{Date, Gregorian};
use icu_datetime::{
    DateTimeFormatterPreferences, FixedCalendarDateTimeFormatter, NoCalendarFormatter,
    fieldsets::{T, YMD, YMDE, YMDET, YMDT},
    input::{DateTime, Time},
    pattern::{DateTimePattern, FixedCalendarDateTimeNames},
};
use icu_locale::Locale as IcuLocale;
use jiff::{Timestamp, civil};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use writeable::TryWriteable;

use crate::bound::{FormatLength, Value, ValueFormat};

/// An IANA time zone, from the database compiled into the program.
#[derive(Clone, Debug)]
pub struct TimeZone(jiff::tz::TimeZone);

impl TimeZone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(jiff::tz::TimeZone::UTC);

    /// The zone with an IANA name such as `Europe/Berlin`; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        static DATABASE: OnceLock<jiff::tz::TimeZoneDatabase> = OnceLock::new();
        DATABASE
            .get_or_init(jiff::tz::TimeZoneDatabase::bundled)
            .get(name)
            .ok()
            .map(Self)
    }

    /// Local time of the zone at `unix_seconds`, in seconds since 1970-01-01T00:00:00. `None`
    /// outside the years -9999 to 9999.
    #[must_use]
    pub fn local_seconds(&self, unix_seconds: i64) -> Option<i64> {
        let timestamp = Timestamp::from_second(unix_seconds).ok()?;
        unix_seconds.checked_add(i64::from(self.0.to_offset(timestamp).seconds()))
    }
}

/// A date, a time of day or both, in local time of the document's time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// Days since 1970-01-01.
    Date(i32),
    /// Seconds since 1970-01-01T00:00:00.
    DateTime(i64),
    /// Seconds since midnight.
    Time(i32),
}

/// Seconds per day.
pub(super) const DAY: i64 = 86_400;

impl Moment {
    /// Parses `2026-11-21`, `2026-11-21T14:30:00Z`, `2026-11-21T14:30` (local time) or `14:30`.
    #[must_use]
    pub fn parse(text: &str, zone: &TimeZone) -> Option<Self> {
        let text = text.trim();
        if !(4..=40).contains(&text.len()) {
            return None;
        }
        if text.len() == 10 {
            return text.parse::<civil::Date>().ok().map(Self::from_date);
        }
        if text.as_bytes().get(2) == Some(&b':') {
            let time: civil::Time = text.parse().ok()?;
            return Some(Self::Time(seconds_of(time)));
        }
        if let Ok(timestamp) = text.parse::<Timestamp>() {
            return zone
                .local_seconds(timestamp.as_second())
                .map(Self::DateTime);
        }
        let local: civil::DateTime = text.parse().ok()?;
        let Self::Date(days) = Self::from_date(local.date()) else {
            return None;
        };
        Some(Self::DateTime(
            i64::from(days) * DAY + i64::from(seconds_of(local.time())),
        ))
    }

    /// The instant `unix_seconds`, in `zone`. `None` if it is out of range.
    #[must_use]
    pub fn from_unix_seconds(unix_seconds: f64, zone: &TimeZone) -> Option<Self> {
        if !(-3e11..3e11).contains(&unix_seconds) {
            return None;
        }
        zone.local_seconds(unix_seconds.floor() as i64)
            .map(Self::DateTime)
    }

    pub(super) fn from_date(date: civil::Date) -> Self {
        let epoch = civil::Date::constant(1970, 1, 1);
        let days = date.duration_since(epoch).as_secs() / DAY;
        Self::Date(days as i32)
    }

    /// The typed value for a cell.
    #[must_use]
    pub fn to_value(self) -> Value {
        match self {
            Self::Date(days) => Value::Date(days),
            Self::DateTime(seconds) => Value::DateTime(seconds),
            Self::Time(seconds) => Value::Time(seconds),
        }
    }

    /// Converts the moment to the kind that `format` shows, for instance a date with time to a
    /// date.
    #[must_use]
    pub fn for_format(self, format: &ValueFormat) -> Self {
        match (self, format) {
            (Self::DateTime(seconds), ValueFormat::Date(_)) => {
                Self::Date(seconds.div_euclid(DAY) as i32)
            }
            (Self::DateTime(seconds), ValueFormat::Time(_)) => {
                Self::Time(seconds.rem_euclid(DAY) as i32)
            }
            (Self::Date(days), ValueFormat::DateTime(_)) => Self::DateTime(i64::from(days) * DAY),
            (moment, _) => moment,
        }
    }

    fn split(self) -> (i64, i64) {
        match self {
            Self::Date(days) => (i64::from(days), 0),
            Self::DateTime(seconds) => (seconds.div_euclid(DAY), seconds.rem_euclid(DAY)),
            Self::Time(seconds) => (0, i64::from(seconds)),
        }
    }
}

fn seconds_of(time: civil::Time) -> i32 {
    i32::from(time.hour()) * 3600 + i32::from(time.minute()) * 60 + i32::from(time.second())
}

type Lazy<F> = OnceLock<Option<FixedCalendarDateTimeFormatter<Gregorian, F>>>;

/// The formatters of a locale, each created on first use.
#[derive(Debug)]
pub(super) struct MomentFormats {
    preferences: DateTimeFormatterPreferences,
    dates: [Lazy<YMD>; 3],
    full_date: Lazy<YMDE>,
    times: [OnceLock<Option<NoCalendarFormatter<T>>>; 2],
    date_times: [Lazy<YMDT>; 3],
    full_date_time: Lazy<YMDET>,
    /// Formatted dates: the rows of a ledger share a few.
    written: Mutex<FxHashMap<(i64, FormatLength), String>>,
}

/// Maximum number of cached dates; beyond it, all are dropped.
const MAX_WRITTEN: usize = 4096;

impl MomentFormats {
    pub(super) fn new(locale: &IcuLocale) -> Self {
        Self {
            preferences: locale.into(),
            dates: Default::default(),
            full_date: OnceLock::new(),
            times: Default::default(),
            date_times: Default::default(),
            full_date_time: OnceLock::new(),
            written: Mutex::default(),
        }
    }

    /// Formats `moment` according to `format`.
    pub(super) fn write(&self, moment: Moment, format: &ValueFormat) -> String {
        let moment = moment.for_format(format);
        let written = match (moment, format) {
            (Moment::Time(_), ValueFormat::Time(length)) => self.time(moment, *length),
            (Moment::Time(_), _) => self.time(moment, FormatLength::Short),
            (Moment::Date(_), ValueFormat::Date(length)) => self.date(moment, *length),
            (Moment::Date(_), _) => self.date(moment, FormatLength::Medium),
            (Moment::DateTime(_), ValueFormat::DateTime(length)) => self.date_time(moment, *length),
            (Moment::DateTime(_), _) => self.date_time(moment, FormatLength::Medium),
        };
        // Fails only beyond year 9999; such a date is shown as days since 1970.
        written.unwrap_or_else(|| moment.split().0.to_string())
    }

    /// Formats `moment` by a CLDR pattern.
    pub(super) fn write_pattern(&self, moment: Moment, pattern: &str) -> Result<String, String> {
        let wrong = || {
            let shown: String = pattern.chars().take(40).collect();
            format!(
                "`{shown}` is not short, medium, long or full, nor a pattern such as `d MMMM y`"
            )
        };
        if pattern.len() > 100 || !pattern.chars().any(char::is_alphabetic) {
            return Err(wrong());
        }
        let parsed = DateTimePattern::try_from_pattern_str(pattern).map_err(|_| wrong())?;
        let mut names = FixedCalendarDateTimeNames::<Gregorian>::try_new(self.preferences)
            .map_err(|error| error.to_string())?;
        let formatter = names
            .include_for_pattern(&parsed)
            .map_err(|_| format!("`{pattern}` uses a field that dates do not have"))?;
        let input = DateTime {
            date: gregorian(moment).ok_or_else(wrong)?,
            time: time(moment).ok_or_else(wrong)?,
        };
        let formatted = formatter.format(&input);
        let written = formatted.try_write_to_string();
        let written =
            written.map_err(|_| format!("`{pattern}` uses a field that dates do not have"))?;
        Ok(written.into_owned())
    }

    fn date(&self, moment: Moment, length: FormatLength) -> Option<String> {
        let key = (moment.split().0, length);
        let known = |formats: &Self| {
            let written = formats.written.lock();
            written.get(&key).cloned()
        };
        if let Some(text) = known(self) {
            return Some(text);
        }
        let text = self.write_date(moment, length)?;
        let mut written = self.written.lock();
        if written.len() >= MAX_WRITTEN {
            written.clear();
        }
        written.insert(key, text.clone());
        Some(text)
    }

    fn write_date(&self, moment: Moment, length: FormatLength) -> Option<String> {
        let date = gregorian(moment)?;
        if length == FormatLength::Full {
            let formatter = self.full_date.get_or_init(|| {
                FixedCalendarDateTimeFormatter::try_new(self.preferences, YMDE::long()).ok()
            });
            return Some(formatter.as_ref()?.format(&date).to_string());
        }
        let (index, fields) = match length {
            FormatLength::Short => (0, YMD::short()),
            FormatLength::Medium => (1, YMD::medium()),
            FormatLength::Long | FormatLength::Full => (2, YMD::long()),
        };
        let formatter = self.dates[index]
            .get_or_init(|| FixedCalendarDateTimeFormatter::try_new(self.preferences, fields).ok());
        Some(formatter.as_ref()?.format(&date).to_string())
    }

    fn time(&self, moment: Moment, length: FormatLength) -> Option<String> {
        let (index, fields) = match length {
            FormatLength::Short => (0, T::hm()),
            _ => (1, T::hms()),
        };
        let formatter = self.times[index]
            .get_or_init(|| NoCalendarFormatter::try_new(self.preferences, fields).ok());
        Some(formatter.as_ref()?.format(&time(moment)?).to_string())
    }

    fn date_time(&self, moment: Moment, length: FormatLength) -> Option<String> {
        let input = DateTime {
            date: gregorian(moment)?,
            time: time(moment)?,
        };
        if length == FormatLength::Full {
            let formatter = self.full_date_time.get_or_init(|| {
                let fields = YMDE::long().with_time_hm();
                FixedCalendarDateTimeFormatter::try_new(self.preferences, fields).ok()
            });
            return Some(formatter.as_ref()?.format(&input).to_string());
        }
        let (index, fields) = match length {
            FormatLength::Short => (0, YMD::short()),
            FormatLength::Medium => (1, YMD::medium()),
            FormatLength::Long | FormatLength::Full => (2, YMD::long()),
        };
        let formatter = self.date_times[index].get_or_init(|| {
            FixedCalendarDateTimeFormatter::try_new(self.preferences, fields.with_time_hm()).ok()
        });
        Some(formatter.as_ref()?.format(&input).to_string())
    }
}

fn gregorian(moment: Moment) -> Option<Date<Gregorian>> {
    let (days, _) = moment.split();
    let date = civil::Date::constant(1970, 1, 1)
        .checked_add(jiff::Span::new().try_days(days).ok()?)
        .ok()?;
    Date::try_new_gregorian(
        i32::from(date.year()),
        date.month().unsigned_abs(),
        date.day().unsigned_abs(),
    )
    .ok()
}

fn time(moment: Moment) -> Option<Time> {
    let (_, seconds) = moment.split();
    let part = |value: i64| u8::try_from(value).ok();
    Time::try_new(
        part(seconds / 3600)?,
        part(seconds / 60 % 60)?,
        part(seconds % 60)?,
        0,
    )
    .ok()
}
