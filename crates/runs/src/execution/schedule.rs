//! Times at which a schedule starts a flow.

use cronexpr::{Crontab, parse_crontab};
use jiff::{Timestamp, tz::TimeZone};
use platen_document::Diagnostic;

/// 1 January 2024: the four years after it, which is how far a next time is looked for, have every
/// date that there is.
const EVERY_DATE_AFTER_MS: u64 = 1_704_067_200_000;

/// How far back a search begins, so that it finds a time that clocks skipped. Milliseconds.
const LOOK_BACK_MS: u64 = 3 * 3_600_000;

/// A schedule that fires.
#[derive(Clone, Debug)]
pub struct Schedule {
    crontab: Crontab,
    /// For fixed hours in a time zone: the same schedule in UTC, and the zone.
    by_clock: Option<(Crontab, TimeZone)>,
}

impl Schedule {
    /// A cron expression of five fields, in an IANA time zone; in UTC where that is `None`.
    ///
    /// # Errors
    /// What is wrong, with its place in the trigger.
    pub fn new(cron: &str, time_zone: Option<&str>) -> Result<Self, Box<Diagnostic>> {
        let wrong = |code: &str, path: &str, message: String| {
            Box::new(Diagnostic::error(code, path, message))
        };
        let in_utc = parse_crontab(&format!("{cron} UTC")).map_err(|error| {
            let said = error.to_string();
            let reason = said.lines().last().unwrap_or_default().trim();
            let message = format!("`{cron}` is not a schedule: {reason}");
            wrong("invalid-cron", "/cron", message)
        })?;
        let hours = cron.split_whitespace().nth(1);
        let is_fixed = hours.is_some_and(|hours| !hours.starts_with('*'));
        let zone = time_zone.filter(|_| is_fixed);
        let zone = zone.and_then(|zone| TimeZone::get(zone).ok());
        let by_clock = zone.map(|zone| (in_utc.clone(), zone));
        let crontab = match time_zone {
            None => in_utc,
            Some(zone) => parse_crontab(&format!("{cron} {zone}")).map_err(|_| {
                let message =
                    format!("`{zone}` is no IANA time zone: write one such as `Europe/Berlin`");
                wrong("unknown-time-zone", "/timeZone", message)
            })?,
        };
        let schedule = Self { crontab, by_clock };
        if schedule.next_ms(EVERY_DATE_AFTER_MS).is_none() {
            let message = format!("`{cron}` never comes: no month has that day");
            return Err(wrong("invalid-cron", "/cron", message));
        }
        Ok(schedule)
    }

    /// The first time after `after_ms`, in milliseconds since 1970; none in the four years after it.
    #[must_use]
    pub fn next_ms(&self, after_ms: u64) -> Option<u64> {
        let at = |ms: u64| Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok();
        let next = match &self.by_clock {
            None => next(&self.crontab, at(after_ms)?)?,
            Some((crontab, zone)) => {
                let first = at(after_ms.saturating_sub(LOOK_BACK_MS))?;
                next_by_clock(crontab, zone, first, at(after_ms)?)?
            }
        };
        u64::try_from(next.as_millisecond()).ok()
    }
}

fn next(crontab: &Crontab, after: Timestamp) -> Option<Timestamp> {
    let next = crontab.find_next(after.to_string().as_str());
    Some(next.ok()?.timestamp())
}

/// The first time after `after` at which clocks of `zone` show what `crontab` says, as it would for
/// UTC; looked for from `first` on. A time that clocks show twice comes once, and one that they skip
/// comes later by as much as they skip, as cron does it.
fn next_by_clock(
    crontab: &Crontab,
    zone: &TimeZone,
    first: Timestamp,
    after: Timestamp,
) -> Option<Timestamp> {
    let mut shown = TimeZone::UTC.to_timestamp(zone.to_datetime(first)).ok()?;
    loop {
        shown = next(crontab, shown)?;
        let clock = TimeZone::UTC.to_datetime(shown);
        let due = zone.to_ambiguous_timestamp(clock).compatible().ok()?;
        if due > after {
            return Some(due);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_keep_their_time_zone() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond() as u64;
        let next = |cron, zone, after| {
            let schedule = Schedule::new(cron, zone).unwrap();
            schedule.next_ms(at(after)).unwrap()
        };
        let five = next("*/5 * * * *", None, "2026-11-21T14:31:10Z");
        assert_eq!(five, at("2026-11-21T14:35:00Z"));
        // Nine o'clock in Berlin is eight in winter, seven in summer.
        let winter = next("0 9 * * *", Some("Europe/Berlin"), "2026-11-21T14:31:10Z");
        assert_eq!(winter, at("2026-11-22T08:00:00Z"));
        let summer = next("0 9 * * *", Some("Europe/Berlin"), "2026-07-21T14:31:10Z");
        assert_eq!(summer, at("2026-07-22T07:00:00Z"));
        let leap = next("0 0 29 2 *", None, "2026-07-21T14:31:10Z");
        assert_eq!(leap, at("2028-02-29T00:00:00Z"));
    }

    #[test]
    fn each_day_has_its_times_once_whatever_clocks_do() {
        let due = |cron, zone, after: &str, count| {
            let schedule = Schedule::new(cron, Some(zone)).unwrap();
            let after: Timestamp = after.parse().unwrap();
            let mut at_ms = after.as_millisecond() as u64;
            let next = || {
                at_ms = schedule.next_ms(at_ms).unwrap();
                let at = Timestamp::from_millisecond(at_ms as i64).unwrap();
                at.to_string()
            };
            std::iter::repeat_with(next)
                .take(count)
                .collect::<Vec<String>>()
        };
        let spring = due("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
        assert_eq!(spring, ["2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"]);
        let autumn = due("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2);
        assert_eq!(autumn, ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]);
        // Two times that fall together.
        let both = due("30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2);
        assert_eq!(both, ["2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"]);
        let midnight = due("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", 2);
        assert_eq!(midnight, ["2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"]);
        // Each quarter of an hour is one, in the hour that comes twice as well.
        let quarters = due("*/15 * * * *", "Europe/Berlin", "2026-10-25T00:50:00Z", 3);
        let expected = [
            "2026-10-25T01:00:00Z",
            "2026-10-25T01:15:00Z",
            "2026-10-25T01:30:00Z",
        ];
        assert_eq!(quarters, expected);
        let minutes = due("*/15 * * * *", "Europe/Berlin", "2026-03-29T00:50:00Z", 2);
        assert_eq!(minutes, ["2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z"]);
    }

    #[test]
    fn what_never_fires_is_a_mistake() {
        for (cron, zone, path) in [
            ("61 * * * *", None, "/cron"),
            ("* * * * WORKDAY", None, "/cron"),
            ("0 0 30 2 *", None, "/cron"),
            ("61 * * * *", Some("Mars/Olympus"), "/cron"),
            ("0 9 * * *", Some("Mars/Olympus"), "/timeZone"),
            ("0 9 * * *", Some(""), "/timeZone"),
            ("0 9 * * *", Some("* UTC"), "/timeZone"),
        ] {
            let found = Schedule::new(cron, zone).map(drop);
            let found = found.expect_err(cron);
            assert_eq!(found.path, path, "{}", found.message);
        }
    }

    #[test]
    fn a_flow_that_would_never_start_is_not_loaded() {
        let load = |trigger: serde_json::Value| {
            let flow = serde_json::json!({
                "kind": "flow", "key": "f", "name": "F", "trigger": trigger,
                "steps": [{"name": "reply", "type": "respond"}]});
            let loaded = super::super::load_flow(flow.to_string().as_bytes());
            let mistakes = loaded.map(drop).err().unwrap_or_default();
            mistakes.into_iter().map(|one| one.path).collect::<Vec<_>>()
        };
        let schedule = |cron: &str, zone: &str| {
            load(serde_json::json!({"type": "schedule", "cron": cron, "timeZone": zone}))
        };
        assert_eq!(schedule("0 9 * * *", "Europe/Berlin"), [""; 0]);
        assert_eq!(schedule("61 * * * *", "Europe/Berlin"), ["/trigger/cron"]);
        assert_eq!(schedule("0 9 * * *", "Berlin"), ["/trigger/timeZone"]);
        assert_eq!(schedule("0 9 * *", "UTC"), ["/trigger/cron"]);
    }
}
