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
import threading
import time

from checker import check
from clients import Clients
from database import Database
from fleet import Fleet
from flows import Hook, publish
from history import History
from injections import Injections
from report import report
from self_check import self_check
from settle import Settlement

CALM_SECONDS = 5


def harm(arguments):
    """Starts clients, harms the fleet, and returns its history."""
    fleet = Fleet(arguments.log, arguments.hosts)
    # The processes end with the script.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        history = History(arguments.history)
        hook = Hook(history, fleet.gateway, arguments.hook_port)
        publish(fleet, f"http://{fleet.gateway}:{arguments.hook_port}")
        fleet.put_behind_proxies()
        database = Database(fleet)
        # What a poll finds first starts nothing.
        while hook.polls < 3:
            time.sleep(0.2)
        clients = Clients(fleet, history, hook, arguments.seed)
        clients.start()
        time.sleep(CALM_SECONDS)
        injections, is_over = Injections(fleet, database, history, arguments), threading.Event()
        supervisor = threading.Thread(target=injections.supervise, args=(is_over,), daemon=True)
        supervisor.start()
        try:
            injections.run(arguments.at_once)
        finally:
            clients.join()
        Settlement(clients, database).run()
        is_over.set()
        supervisor.join()
        return history.events
    finally:
        if arguments.logs:
            arguments.logs.mkdir(parents=True, exist_ok=True)
            for log in fleet.work.glob("*.log"):
                shutil.copy(log, arguments.logs)
        fleet.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", nargs="?", help="output of run.sh")
    parser.add_argument("--injections", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=2, help="harms at a time")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--history", default="chaos-history.ndjson")
    parser.add_argument("--logs", type=pathlib.Path, help="folder for copies of the logs")
    parser.add_argument("--hook-port", type=int, default=8099)
    parser.add_argument("--hosts", action="store_true", help="a network namespace for each service and worker")
    parser.add_argument("--check", metavar="FILE")
    parser.add_argument("--self-check", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_check:
        return self_check()
    if arguments.check:
        with open(arguments.check) as file:
            events = [json.loads(line) for line in file]
    elif arguments.log:
        print(f"seed {arguments.seed}")
        events = harm(arguments)
    else:
        parser.error("say where the output of run.sh is")
    wrong = check(events)
    print("\n".join(report(events)))
    for line in wrong[:50]:
        print(f"VIOLATION: {line}")
    sys.exit(f"{len(wrong)} violations" if wrong else None)


if __name__ == "__main__":
    main()
