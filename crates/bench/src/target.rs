//! Services that were already running: the load that one gets at most, and what it says about
//! itself.

use serde::{Deserialize, Serialize};

use crate::{
    Effort, Error,
    client::{Request, Target},
    markdown::size,
};

/// What another machine gets at most: requests of all cells, clients, and seconds.
pub const MAX_REQUESTS: usize = 20_000;
/// Clients at a time.
pub const MAX_CLIENTS: usize = 64;
/// Duration of the whole run in seconds; a round that has begun is completed.
pub const MAX_SECONDS: u64 = 600;

/// A service that was already running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Measured {
    /// Its address.
    pub url: String,
    /// What it answers to `GET /version`; `unknown` if nothing.
    pub version: String,
}

impl Measured {
    /// Asks a service for its version.
    #[must_use]
    pub fn ask(target: &Target, key: Option<&str>) -> Self {
        let answer = Request::json("GET", "/version", key, b"").expect(target, &[200]);
        let version: Option<String> = answer.ok().map(|body| {
            let text = String::from_utf8_lossy(&body).into_owned();
            text.trim().chars().take(100).collect()
        });
        let version = version.filter(|it| !it.is_empty() && !it.contains(['<', '\n', '|']));
        Self {
            url: target.to_string(),
            version: version.unwrap_or_else(|| "unknown".to_owned()),
        }
    }
}

/// A load that a service gets at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Requests of all cells and rounds.
    pub requests: usize,
    /// Clients at a time.
    pub clients: usize,
    /// Seconds after which no further round begins.
    pub seconds: u64,
    /// Bytes that it sends at most; 0 where that is little, or not known.
    pub received: u64,
}

impl Bound {
    /// The load of an effort on a number of cells.
    #[must_use]
    pub fn of(effort: &Effort, cells: usize, warmup: usize, clients: usize) -> Self {
        let rounds = effort.samples.saturating_mul(effort.max_rounds);
        Self {
            requests: warmup.saturating_add(rounds).saturating_mul(cells),
            clients,
            seconds: effort.pack_seconds,
            received: 0,
        }
    }

    /// Says what will be sent, in one line.
    #[must_use]
    pub fn says(&self, target: &Target) -> String {
        let received = match self.received {
            0 => String::new(),
            bytes => format!(", receives at most {}", size(Some(bytes))),
        };
        format!(
            "sends at most {} requests to {target}, from at most {} clients at a time{received}; no \
             round begins after {} s",
            self.requests, self.clients, self.seconds
        )
    }

    /// Rejects loads that are too large for another machine, and all of them without consent.
    ///
    /// # Errors
    /// The service is on another machine, and the load is too large or `is_agreed` is false.
    pub fn check(&self, target: &Target, is_agreed: bool) -> Result<(), Error> {
        if target.is_local() {
            return Ok(());
        }
        let is_small = self.requests <= MAX_REQUESTS
            && self.clients <= MAX_CLIENTS
            && self.seconds <= MAX_SECONDS;
        if !is_small {
            return Err(Error::argument(
                format!(
                    "too large a load for another machine: {}",
                    self.says(target)
                ),
                format!(
                    "at most {MAX_REQUESTS} requests, {MAX_CLIENTS} clients and {MAX_SECONDS} s: \
                     use --quick, or fewer cells, samples, rounds or clients"
                ),
            ));
        }
        match is_agreed {
            true => Ok(()),
            false => Err(Error::argument(
                format!(
                    "{target} is not this machine; the command {}",
                    self.says(target)
                ),
                "add --yes if its owner agrees",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Bound = Bound {
        requests: 1_000,
        clients: 5,
        seconds: 60,
        received: 0,
    };

    #[test]
    fn other_machines_need_consent_and_a_small_load() {
        let here = Target::parse("http://[::1]:80").unwrap();
        let there = Target::parse("https://example.com").unwrap();
        let large = Bound {
            requests: MAX_REQUESTS + 1,
            ..SMALL
        };
        assert!(large.check(&here, false).is_ok());
        assert!(SMALL.check(&there, true).is_ok());
        let refused = SMALL.check(&there, false).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "https://example.com:443 is not this machine; the command sends at most 1000 requests \
             to https://example.com:443, from at most 5 clients at a time; no round begins after \
             60 s"
        );
        assert!(refused.hint().unwrap().contains("--yes"));
        let refused = large.check(&there, true).unwrap_err().to_string();
        assert!(refused.contains("too large a load"), "{refused}");
        let bodies = Bound {
            received: 3_600_000_000,
            ..SMALL
        };
        let said = bodies.says(&there);
        assert!(
            said.contains("at a time, receives at most 3.6 GB; no"),
            "{said}"
        );
    }

    #[test]
    fn the_bound_counts_all_rounds_of_all_cells() {
        let effort = Effort {
            samples: 100,
            min_rounds: 1,
            max_rounds: 3,
            cell_seconds: 5,
            pack_seconds: 60,
        };
        let bound = Bound::of(&effort, 4, 20, 5);
        assert_eq!(
            (bound.requests, bound.clients, bound.seconds),
            (1_280, 5, 60)
        );
    }
}
