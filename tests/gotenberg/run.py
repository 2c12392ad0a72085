#!/usr/bin/env python3
"""Runs Gotenberg's own integration scenarios against Platen.

    tests/gotenberg/run.py PLATEN [--features DIR] [--only NAME[:LINE] ...] [--json FILE]

Without --features, the scenarios are those of Gotenberg 8.36.0 in the cache of Go modules, which `go`
fetches if they are missing. Prints a line for each scenario and the totals. Exits with 1 if a scenario
differs that differences.txt does not list, or if one of that list does not differ any more.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

# The repository gets no compiled modules.
sys.dont_write_bytecode = True

import features  # noqa: E402
import pdf_steps  # noqa: E402
import request_steps  # noqa: E402, F401
import scope  # noqa: E402
import service  # noqa: E402
import steps  # noqa: E402
from outcome import Difference  # noqa: E402

SECONDS = 180
LIST = Path(__file__).with_name("differences.txt")
SAME, DIFFERS, NOT_APPLICABLE = "same", "differs", "does not apply"


@dataclass
class Result:
    scenario: str
    name: str
    outcome: str
    reason: str
    seconds: float


class TimedOut(Exception):
    pass


def give_up(*_):
    raise TimedOut(f"takes more than {SECONDS} s")


def run(scenario, platen, files, folder):
    """Outcome of a scenario, with the reason."""
    if reason := scope.why_not(scenario):
        return NOT_APPLICABLE, reason
    world = steps.World(platen, files, Path(tempfile.mkdtemp(dir=folder)))
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        for one in scenario.steps:
            steps.carry_out(world, one)
        return SAME, ""
    except TimedOut as error:
        # The next scenario gets a service without the rest of this one's work.
        platen.stop()
        return DIFFERS, str(error)
    except Difference as error:
        return DIFFERS, str(error)
    except Exception as error:
        return DIFFERS, f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        world.stop_helper()
        shutil.rmtree(world.folder, ignore_errors=True)


def run_all(scenarios, platen, files, folder):
    results = []
    for scenario in scenarios:
        begin = time.monotonic()
        outcome, reason = run(scenario, platen, files, folder)
        reason = " ".join(reason.split())[:600]
        seconds = round(time.monotonic() - begin, 1)
        results.append(Result(scenario.key, scenario.name, outcome, reason, seconds))
        print(f"{outcome:15}{scenario.key}  {scenario.name}", f"({seconds} s)", reason, flush=True)
    return results


def select(scenarios, only):
    """Those that are asked for; those of the same environment in a row, as they share a process."""
    chosen = [one for one in scenarios if not only or one.key in only or one.feature in only]
    return sorted(chosen, key=lambda one: (sorted(one.environment.items()), one.feature, one.line))


def listed(path):
    """Scenarios that are known to differ."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def judge(results, known, is_whole):
    """What is not as the list says."""
    outcomes = {result.scenario: result.outcome for result in results}
    mistakes = []
    for scenario, outcome in outcomes.items():
        if outcome == DIFFERS and scenario not in known:
            mistakes.append(f"{scenario} differs and is not in {LIST.name}")
        elif outcome != DIFFERS and scenario in known:
            mistakes.append(f"{scenario} is in {LIST.name}: {outcome}")
    if is_whole:
        missing = sorted(known - outcomes.keys())
        mistakes += [f"{scenario} is in {LIST.name}: there is no such scenario" for scenario in missing]
    return mistakes


def check_programs():
    missing = [name for name in pdf_steps.PROGRAMS if shutil.which(name) is None]
    if not pdf_steps.verapdf().is_dir():
        missing.append(f"veraPDF in {pdf_steps.verapdf()}")
    if missing:
        sys.exit(f"missing: {', '.join(missing)}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("platen", type=os.path.abspath)
    parser.add_argument("--features", type=Path, metavar="DIR", help="folder of .feature files, beside testdata")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME[:LINE]", help="some features or scenarios")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the results")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    check_programs()
    folder = (arguments.features or features.find()).resolve()
    scenarios = select(features.read(folder), arguments.only)
    if not scenarios:
        sys.exit(f"no such scenarios in {folder}")
    with tempfile.TemporaryDirectory(prefix="", ignore_cleanup_errors=True) as work:
        platen = service.Service(arguments.platen, work)
        try:
            results = run_all(scenarios, platen, folder.parent, work)
        finally:
            platen.stop()
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    totals = Counter(result.outcome for result in results)
    print("\n" + ", ".join(f"{totals[outcome]} {outcome}" for outcome in (SAME, DIFFERS, NOT_APPLICABLE)))
    mistakes = judge(results, listed(LIST), is_whole=not arguments.only)
    print("\n".join(mistakes))
    sys.exit(1 if mistakes else 0)


if __name__ == "__main__":
    main()
