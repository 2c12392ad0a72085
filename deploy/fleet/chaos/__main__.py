"""Harms a fleet that run.sh has started while clients use it, writes a history, and checks it.

    python3 chaos LOG OF RUN.SH --injections N --seed N --history FILE
    python3 chaos --check FILE      checks a history again
    python3 chaos --self-check      shows that the checker finds each kind of violation

Clients start, call back, cancel and count by flows, store documents and write templates; they repeat what
failed. Meanwhile processes are killed and frozen, connections are cut and delayed, PostgreSQL fails over
to its standby, and Redis and the S3 server fail. The history decides whether every promise was kept.
"""

import argparse
import json
import pathlib
import shutil
import signal
import sys
import time

from checker import check
from clients import Clients
from database import Database
from fleet import Fleet
from flows import Hook, publish
from history import History
from injections import Injections
from self_check import self_check
from settle import Settlement

CALM_SECONDS = 5


def harm(arguments):
    """Starts clients, harms the fleet, and returns what the history violates."""
    fleet = Fleet(arguments.log)
    # The processes end with the script.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        history = History(arguments.history)
        hook = Hook(history, arguments.hook_port)
        publish(fleet, arguments.hook_port)
        fleet.put_behind_proxies()
        database = Database(fleet)
        # What a poll finds first starts nothing.
        while hook.polls < 3:
            time.sleep(0.2)
        clients = Clients(fleet, history, hook, arguments.seed)
        clients.start()
        time.sleep(CALM_SECONDS)
        begin = time.monotonic()
        injections = Injections(fleet, database, history, arguments)
        try:
            injections.run()
        finally:
            clients.join()
        Settlement(clients, database).run()
        report(arguments, history, injections.counts, clients.took, begin)
        return check(history.events)
    finally:
        if arguments.logs:
            arguments.logs.mkdir(parents=True, exist_ok=True)
            for log in fleet.work.glob("*.log"):
                shutil.copy(log, arguments.logs)
        fleet.close()


def report(arguments, history, counts, took, begin):
    print(f"seed {arguments.seed}: {sum(counts.values())} injections in {time.monotonic() - begin:.0f} s")
    for kind in sorted(counts):
        print(f"  {counts[kind]:5} {kind}")
    accepted, answers = history.of("accepted"), history.of("answer")
    statuses = {}
    for event in answers:
        statuses[event["status"]] = statuses.get(event["status"], 0) + 1
    print(f"{len({event['run'] for event in accepted})} runs, {len(history.of('stored'))} documents,"
          f" {len(history.of('write')) // 2} templates written, {len(history.of('got'))} read,"
          f" {len({event['run'] for event in history.of('trigger')})} runs of schedules and polls")
    print("answers: " + ", ".join(f"{count} {status or 'lost'}" for status, count in sorted(statuses.items(), key=str)))
    at = lambda values, share: values[min(len(values) - 1, int(share * len(values)))] * 1e3 if values else 0
    calm, harmed = (sorted(spent for since, spent in took if (since < begin) is is_calm) for is_calm in (True, False))
    print(f"ms until success, with repeats, p50/p99/max: undisturbed {at(calm, .5):.0f}/{at(calm, .99):.0f}/{at(calm, 1):.0f},"
          f" disturbed {at(harmed, .5):.0f}/{at(harmed, .99):.0f}/{at(harmed, 1):.0f}")
    sizes = [f"{event['process']} {event['bytes'] >> 20} MB" for event in history.of("process") if event["bytes"]]
    print("memory: " + ", ".join(sizes))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", help="output of run.sh")
    parser.add_argument("--injections", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--history", default="chaos-history.ndjson")
    parser.add_argument("--logs", type=pathlib.Path, help="folder for copies of the logs")
    parser.add_argument("--hook-port", type=int, default=8099)
    parser.add_argument("--check", metavar="FILE")
    parser.add_argument("--self-check", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_check:
        return self_check()
    if arguments.check:
        with open(arguments.check) as file:
            wrong = check([json.loads(line) for line in file])
    elif arguments.log:
        wrong = harm(arguments)
    else:
        parser.error("say where the output of run.sh is")
    for line in wrong[:50]:
        print(f"VIOLATION: {line}")
    sys.exit(f"{len(wrong)} violations" if wrong else None)


if __name__ == "__main__":
    main()
