//! What keeps results from being published as final figures. A page of results with such obstacles
//! is a draft, and says so at every table.

use crate::{Results, coverage::missing, environment::Environment, gaps::gaps, packs::PACKS};

/// With more processor cores busy before a run, its row must say so.
pub const QUIET_LOAD: f64 = 0.5;
/// How the row of a run says that the machine was busy.
pub(crate) const BUSY: &str = "busy";

/// All obstacles of a run, one sentence each; none if it is fit for publication. `environment` is
/// the text of its table of machines and packs.
#[must_use]
pub fn obstacles(packs: &[Results], environment: &str) -> Vec<String> {
    let mut found: Vec<String> = packs.iter().flat_map(of_pack).collect();
    for pack in PACKS {
        if !packs.iter().any(|results| results.pack == pack) {
            found.push(format!("{pack} was not measured"));
        }
    }
    let mut commits: Vec<&str> = packs.iter().map(|it| &*it.environment.commit).collect();
    commits.sort_unstable();
    commits.dedup();
    if commits.len() > 1 {
        found.push(format!(
            "the packs are of different commits: {}",
            commits.join(", ")
        ));
    }
    for results in packs.iter().filter(|it| is_busy(&it.environment)) {
        let start = format!("| {} |", results.pack);
        let mut rows = environment.lines().filter(|line| line.starts_with(&start));
        if !rows.any(|row| row.contains(BUSY)) {
            let load = results.environment.load();
            found.push(format!(
                "{}: {load:.2} cores were busy before it, and its row does not say so",
                results.pack
            ));
        }
    }
    found
}

/// Whether other work kept the machine busy before a run.
pub(crate) fn is_busy(environment: &Environment) -> bool {
    environment.load() > QUIET_LOAD
}

fn of_pack(results: &Results) -> Vec<String> {
    let pack = &results.pack;
    let mut found: Vec<String> = Vec::new();
    if let Some(why) = results.how_quick() {
        found.push(format!("{pack} is a quick run ({why})"));
    }
    let commit = &results.environment.commit;
    let is_clean = !commit.is_empty() && commit.chars().all(|it| it.is_ascii_hexdigit());
    if !is_clean {
        found.push(format!("{pack} is of `{commit}`, which is no clean commit"));
    }
    for cell in results.cells.iter().filter(|cell| cell.is_void()) {
        found.push(format!("{pack}: requests of {} failed", cell.id()));
    }
    found.extend(missing(results));
    found.extend(gaps(results));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{flow, gaps::tests::whole_flow};

    fn good() -> Results {
        let mut results = whole_flow();
        results.effort = Some(flow::WHOLE);
        results.environment.commit = "0123456789ab".to_owned();
        results
    }

    const ROWS: &str = "| flow | 2026-11-22 | 0.2.0 | whole | 0.10 |";

    /// The obstacles of the flow pack, without those of the packs that are not there.
    fn found(packs: &[Results], environment: &str) -> String {
        let mut found = obstacles(packs, environment);
        found.retain(|it| !it.ends_with(" was not measured"));
        found.join("\n")
    }

    #[test]
    fn a_whole_run_of_a_clean_commit_is_fit() {
        assert_eq!(found(&[good()], ROWS), "");
        let absent = obstacles(&[good()], ROWS);
        assert_eq!(absent.len(), 3, "{absent:?}");
    }

    #[test]
    fn every_obstacle_is_found() {
        type Spoil = fn(&mut Results);
        let cases: [(Spoil, &str); 7] = [
            (|it| it.effort = Some(flow::QUICK), "is a quick run"),
            (|it| it.effort = None, "is a quick run"),
            (
                |it| it.environment.commit = "0123456789ab-dirty".to_owned(),
                "no clean commit",
            ),
            (|it| it.environment.commit.clear(), "no clean commit"),
            (|it| it.cells[0].failures = 1, "failed"),
            (|it| it.cells[0].interval = None, "a figure is missing"),
            (|it| it.cells.truncate(2), "has no line `service"),
        ];
        for (spoil, wanted) in cases {
            let mut results = good();
            spoil(&mut results);
            let found = found(&[results], ROWS);
            assert!(found.contains(wanted), "{wanted}: {found}");
        }
    }

    #[test]
    fn packs_of_different_commits_and_unsaid_load_are_obstacles() {
        let mut other = good();
        other.environment.commit = "ba9876543210".to_owned();
        assert!(found(&[good(), other], ROWS).contains("different commits"));
        let mut busy = good();
        busy.environment.busy_cores = Some(1.7);
        assert!(found(&[busy.clone()], ROWS).contains("does not say so"));
        let said = ROWS.replace("0.10", "1.70, busy");
        assert_eq!(found(&[busy], &said), "");
    }
}
