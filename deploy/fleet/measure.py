#!/usr/bin/env python3
"""Measures fleets of this machine: replicas behind nginx, more clients, the way through nginx, flows.

    measure.py --platen BINARY [--seconds 5] [--rounds 3] [--only replicas,nginx,flows,signals,capacity,boot]
    measure.py --platen BINARY --only bloat --minutes 60

Starts run.sh for each number of services, and `platen serve` with SQLite; sends requests by wrk, in
rounds whose candidates take turns; prints tables of medians, with the range. Nothing else should run.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = {"Content-Type": "application/json"}


def wait_for(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise SystemExit(f"{what} does not start")


@contextlib.contextmanager
def fleet(platen, apps, workers, port, signals="redis"):
    """A fleet of run.sh: its addresses (the proxy's first) and its admin key."""
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        environment = os.environ | {"PLATEN": platen, "APPS": str(apps), "WORKERS": str(workers), "FLEET_PORT": str(port), "SIGNALS": signals,
                                    "RATE_LIMIT_MAX": "0", "RATE_LIMIT_RENDER_MAX": "0",
                                    # So that processors are what runs wait for, and not slots.
                                    "WORKER_SLOTS": "8"}
        process = subprocess.Popen([ROOT / "deploy/fleet/run.sh"], env=environment, stdout=log, stderr=log)
        try:
            said = lambda: pathlib.Path(log.name).read_text()
            wait_for("the fleet", lambda: "Ctrl-C ends" in said() or process.poll() is not None)
            find = lambda name: re.search(rf"^  {name} +(.+)$", said(), re.M)[1]
            yield [find("address"), *find("services").split()], find("admin key")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


@contextlib.contextmanager
def alone(platen, port):
    """One service with SQLite: its address and its admin key."""
    key, address = "key-of-the-measurement", f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"API_KEY_ADMIN": key, "RATE_LIMIT_MAX": "0", "RATE_LIMIT_RENDER_MAX": "0"}
        command = [platen, "serve", "--bind", address.removeprefix("http://"), "--data-dir", folder]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        try:
            wait_for("the service", lambda: is_ready(address))
            yield [address], key
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def is_ready(address):
    with contextlib.suppress(OSError):
        return urllib.request.urlopen(f"{address}/health/ready").status == 200
    return False


def send(address, key, path, body, method="POST"):
    request = urllib.request.Request(address + path, json.dumps(body).encode(), HEADERS | {"X-Api-Key": key}, method=method)
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def prepare(address, key):
    """Stores the templates and the flow of the benchmarks; a fleet of run.sh has them."""
    for name in ("bench-invoice", "bench-report"):
        send(address, key, "/templates", json.loads((ROOT / f"examples/{name}/template.json").read_text()))
    send(address, key, "/flows", json.loads((ROOT / "examples/flows/sum.json").read_text()))
    send(address, key, "/flows/sum/publication", {})


def render(template):
    data = json.loads((ROOT / f"examples/{template}/data.json").read_text())
    return "/render", json.dumps({"template": template, "data": data, "format": "pdf"})


FLOW = ("/webhooks/sum/sync", "{}")
CELLS = {"pdf-1p": render("bench-invoice"), "pdf-10p": render("bench-report")}


def measure(address, key, request, clients, seconds):
    """Answers a second, and latencies in ms; fails unless each answer is 2xx."""
    path, body = request
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(f"""wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["X-Api-Key"] = {json.dumps(key)}
wrk.body = [====[{body}]====]
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %f %f %f %f %d\\n", summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000,
    latency:percentile(95) / 1000, latency:percentile(99) / 1000, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
""")
        script.flush()
        command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "30s", "-s", script.name, address + path]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rate, p50, p95, p99, errors = map(float, re.search(r"RESULT (.*)", output)[1].split())
    if errors:
        raise SystemExit(f"{errors:.0f} answers of {address}{path} are none: {output}")
    return {"rate": rate, "p50": p50, "p95": p95, "p99": p99}


def show(samples, name, digits):
    """The median of a value, and its range."""
    values = [sample[name] for sample in samples]
    text = f"{statistics.median(values):,.{digits}f}"
    return text if len(values) == 1 else f"{text} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def table(title, head, rows):
    print(f"\n## {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |", flush=True)


def row(samples):
    return [show(samples, "rate", 1), show(samples, "p50", 2), show(samples, "p95", 2), show(samples, "p99", 2)]


def warm_up(addresses, key, requests):
    for address in addresses:
        for request in requests:
            measure(address, key, request, 4, 1)


def measure_replicas(options):
    """1, 2 and 4 services behind nginx with the same state; then more clients of 4."""
    replicas, clients = [], []
    with contextlib.ExitStack() as stack:
        fleets = {}
        for index, apps in enumerate((1, 2, 4)):
            fleets[apps] = stack.enter_context(fleet(options.platen, apps, 0, options.port + 100 * index))
            warm_up(fleets[apps][0], fleets[apps][1], CELLS.values())
        for cell, request in CELLS.items():
            samples = {apps: [] for apps in fleets}
            for _ in range(options.rounds):
                for apps, (addresses, key) in fleets.items():
                    samples[apps].append(measure(addresses[0], key, request, 5, options.seconds))
            replicas += [[apps, cell, 5, *row(found)] for apps, found in samples.items()]
        addresses, key = fleets[4]
        request = CELLS["pdf-10p"]
        serial = measure(addresses[0], key, request, 1, options.seconds)["p50"]
        cores = len(os.sched_getaffinity(0))
        for count in (1, 2, 5, 10, 16, 20, 32):
            samples = [measure(addresses[0], key, request, count, options.seconds) for _ in range(options.rounds)]
            ceiling = min(count, cores) / serial * 1000
            clients.append([count, show(samples, "rate", 1), f"{ceiling:,.1f}", *row(samples)[1:]])
    head = ["RPS", "p50 ms", "p95 ms", "p99 ms"]
    table("Replicas with shared state", ["Replicas", "Cell", "Clients", *head], replicas)
    table("More clients of four replicas, pdf-10p", ["Clients", "RPS", "Ceiling of the cores, RPS", *head[1:]], clients)


def measure_nginx(options):
    """One client: directly, and through nginx to either of two services."""
    with fleet(options.platen, 2, 0, options.port) as (addresses, key):
        warm_up(addresses, key, [CELLS["pdf-1p"]])
        samples = {"directly": [], "through nginx": []}
        for _ in range(2 * options.rounds + 1):
            samples["directly"].append(measure(addresses[1], key, CELLS["pdf-1p"], 1, options.seconds))
            samples["through nginx"].append(measure(addresses[0], key, CELLS["pdf-1p"], 1, options.seconds))
    extra = [through["p50"] - direct["p50"] for direct, through in zip(*samples.values())]
    table("A stored template, one client", ["Way", "RPS", "p50 ms", "p95 ms", "p99 ms"],
          [[way, *row(found)] for way, found in samples.items()])
    print(f"\nMore through nginx, median of the differences of p50: {statistics.median(extra):.3f} ms "
          f"({min(extra):.3f} to {max(extra):.3f})")


def measure_flows(options):
    """The flow of the benchmarks, durable: SQLite alone, and PostgreSQL with the whole fleet beside it."""
    rows, rates = [], {}
    with alone(options.platen, options.port) as (own, own_key), fleet(options.platen, 1, 0, options.port + 100) as (theirs, key):
        prepare(own[0], own_key)
        candidates = {"SQLite": (own[0], own_key), "PostgreSQL": (theirs[1], key)}
        for address, key in candidates.values():
            warm_up([address], key, [FLOW])
        for clients in (1, 8, 32, 128):
            samples = {name: [] for name in candidates}
            for _ in range(options.rounds):
                for name, (address, key) in candidates.items():
                    samples[name].append(measure(address, key, FLOW, clients, options.seconds))
            ratios = [there["rate"] / here["rate"] for here, there in zip(*samples.values())]
            rates[clients] = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            rows += [[name, clients, *row(found), rates[clients] if name == "PostgreSQL" else ""] for name, found in samples.items()]
    table("Flow of four steps, synchronous", ["Store", "Clients", "Runs/s", "p50 ms", "p95 ms", "p99 ms", "Of SQLite"], rows)


def measure_signals(options):
    """Three services and one worker, which is connected to one of them: runs of the others wait for a signal."""
    rows = []
    with contextlib.ExitStack() as stack:
        fleets = {}
        for index, (name, signals) in enumerate({"Redis": "redis", "NOTIFY of PostgreSQL": "postgres"}.items()):
            fleets[name] = stack.enter_context(fleet(options.platen, 3, 1, options.port + 100 * index, signals))
            warm_up(fleets[name][0], fleets[name][1], [FLOW])
        for clients in (1, 8, 32):
            samples = {name: [] for name in fleets}
            for _ in range(options.rounds):
                for name, (addresses, key) in fleets.items():
                    samples[name].append(measure(addresses[0], key, FLOW, clients, options.seconds))
            rows += [[name, clients, *row(found)] for name, found in samples.items()]
    table("Signals between services", ["Signals", "Clients", "Runs/s", "p50 ms", "p95 ms", "p99 ms"], rows)


def processor_seconds(work):
    """Seconds of processor time so far, by the kind of process of a fleet, with ended children."""
    ticks, used, kinds = os.sysconf("SC_CLK_TCK"), {}, {}
    for file in pathlib.Path(work).glob("*.pid"):
        kinds[int(file.read_text())] = file.stem.rsplit("-", 1)[0]
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                found[int(folder.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / ticks)
    for pid, (parent, seconds) in found.items():
        while pid and pid not in kinds:
            pid = parent
            parent = found.get(pid, (0, 0))[0]
        if pid:
            used[kinds[pid]] = used.get(kinds[pid], 0) + seconds
    return used


def busy_seconds():
    """Seconds that all processors of the machine were busy."""
    user, nice, system, _, _, irq, softirq, steal = map(int, pathlib.Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


PARTS = ("app", "worker", "postgres", "redis", "nginx")
# Activepieces: processors of an app and of a worker, and its configurations with runs/s, warm and cold.
THEIRS = (1.0, 0.5)
CONFIGURATIONS = ((2, 40, 59.1, 19.8), (4, 40, 93.5, 19.6), (4, 80, 110.5, 33.3), (8, 80, 148.9, 33.5))


def measure_capacity(options):
    """Processor time of each part for a run and a render; what follows from it, and what was measured."""
    cores, parts, checked, model = len(os.sched_getaffinity(0)), [], [], {}
    for index, (apps, workers) in enumerate(((1, 1), (1, 2), (2, 2), (2, 4))):
        with fleet(options.platen, apps, workers, options.port + 100 * index) as (addresses, key):
            wait_for("the workers", lambda: json.loads(send(addresses[0], key, "/webhooks/sum/sync", {})))
            work = pathlib.Path(f"/proc/{pid_of(addresses[1])}/cwd").resolve()
            for what, request in (("run", FLOW), ("render, pdf-1p", CELLS["pdf-1p"])):
                warm_up([addresses[0]], key, [request])
                before, busy = processor_seconds(work), busy_seconds()
                children = os.times().children_user + os.times().children_system
                began = time.monotonic()
                rate = measure(addresses[0], key, request, 32, options.seconds)["rate"]
                took = time.monotonic() - began
                client = os.times().children_user + os.times().children_system - children
                count, after, all_busy = rate * took, processor_seconds(work), busy_seconds() - busy
                each = {part: (after.get(part, 0) - before.get(part, 0)) / count * 1000 for part in PARTS}
                own = sum(each.values()) * count / 1000 + client
                # What other processes of the machine use is not there for the fleet.
                others = max(0, (all_busy - own) / took)
                # The first configuration says what the others will cost.
                costs = model.setdefault(what, each | {"client": client / count * 1000})
                predicted = (cores - others) * 1000 / sum(costs.values())
                parts.append([f"{apps} / {workers}", what, *(f"{each[part]:.3f}" for part in PARTS), f"{client / count * 1000:.3f}"])
                checked.append([f"{apps} / {workers}", what, f"{predicted:,.0f}", f"{rate:,.0f}", f"{predicted / rate - 1:+.0%}",
                                f"{others:.2f}"])
    table("Processor time, ms", ["Apps / workers", "For a", *PARTS, "client"], parts)
    table("Predicted from the first row for these processors, and measured", ["Apps / workers", "For a", "Predicted/s", "Measured/s", "Error", "Processors of others"],
          checked)
    rows, per_run = [], model["run"]
    for apps, workers, warm, cold in CONFIGURATIONS:
        limits = {"apps": apps * THEIRS[0] * 1000 / per_run["app"], "workers": workers * THEIRS[1] * 1000 / per_run["worker"]}
        part = min(limits, key=limits.get)
        database = limits[part] * (per_run["postgres"] + per_run["redis"] + per_run["nginx"]) / 1000
        rows.append([f"{apps} / {workers}", f"{limits[part]:,.0f}", part, f"{database:.1f}", warm, cold])
    table("Predicted for other fleets: 1 processor for an app, 0.5 for a worker",
          ["Apps / workers", "Runs/s", "Limited by", "Processors of PostgreSQL, Redis, nginx", "Activepieces, warm", "cold"], rows)


def query(address, statement):
    """Rows that the database of a service answers, by psql."""
    environment = pathlib.Path(f"/proc/{pid_of(address)}/environ").read_text().split("\0")
    database = dict(entry.partition("=")[::2] for entry in environment)["DATABASE_URL"]
    answer = subprocess.run(["psql", "-XAtq", "-F", "\t", database, "-c", statement], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in answer.stdout.splitlines()]


def measure_bloat(options):
    """Runs at full rate for a long time: rows that are dead and not yet removed, and sizes of tables."""
    rows, statement = [], """
        SELECT relname, n_live_tup, n_dead_tup, pg_total_relation_size(relid) / 1048576, n_tup_upd, n_tup_hot_upd
        FROM pg_stat_user_tables WHERE n_tup_ins + n_tup_upd > 1000 ORDER BY relname"""
    with fleet(options.platen, 1, 0, options.port) as (addresses, key):
        warm_up(addresses[1:], key, [FLOW])
        begin, runs = time.monotonic(), 0
        marks = sorted({1, options.minutes // 4, options.minutes // 2, options.minutes} - {0})
        while marks:
            rate = measure(addresses[1], key, FLOW, 32, 30)["rate"]
            runs += rate * 30
            if (minutes := (time.monotonic() - begin) / 60) >= marks[0]:
                marks.pop(0)
                for name, live, dead, size, updates, hot in query(addresses[1], statement):
                    share = f"{int(hot) / int(updates):.0%}" if int(updates) else ""
                    rows.append([f"{minutes:.0f}", f"{runs:,.0f}", name, live, dead, size, share])
    table("Tables after runs at full rate", ["Minutes", "Runs", "Table", "Live rows", "Dead rows", "MB", "Updates within a page"], rows)


def measure_boot(options):
    """From nothing to the first answer, then the rates of cold and of warm fleets; also with a capped worker."""
    rows = []
    for index, (apps, workers, cap) in enumerate(((1, 1, ""), (2, 2, ""), (2, 4, ""), (1, 1, "0.5"))):
        os.environ |= {"WORKER_PROCESSORS": cap} if cap else {}
        began = time.monotonic()
        with fleet(options.platen, apps, workers, options.port + 100 * index) as (addresses, key):
            ready = time.monotonic() - began
            wait_for("the workers", lambda: json.loads(send(addresses[0], key, "/webhooks/sum/sync", {})))
            first = time.monotonic() - began
            cold = measure(addresses[0], key, FLOW, 32, 3)["rate"]
            warm = measure(addresses[0], key, FLOW, 32, options.seconds)["rate"]
        rows.append([f"{apps} / {workers}", cap or "none", f"{ready:.1f}", f"{first:.1f}", f"{cold:,.0f}", f"{warm:,.0f}"])
    os.environ.pop("WORKER_PROCESSORS", None)
    table("From nothing to the first run", ["Apps / workers", "Processors of a worker", "Fleet ready, s", "First run, s",
                                            "Runs/s, cold", "Runs/s, warm"], rows)


def pid_of(address):
    """The process that listens on an address."""
    port = address.rpartition(":")[2]
    listed = subprocess.run(["ss", "-Hltnp", f"sport = :{port}"], capture_output=True, text=True, check=True).stdout
    return re.search(r"pid=(\d+)", listed)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platen", required=True, type=os.path.abspath)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=int, default=60, help="how long bloat takes")
    parser.add_argument("--port", type=int, default=18500)
    parser.add_argument("--only", default="replicas,nginx,flows,signals,capacity,boot")
    options = parser.parse_args()
    measures = {"replicas": measure_replicas, "nginx": measure_nginx, "flows": measure_flows,
                "signals": measure_signals, "capacity": measure_capacity, "boot": measure_boot, "bloat": measure_bloat}
    load = os.getloadavg()[0]
    print(f"load before {load:.2f}, {len(os.sched_getaffinity(0))} processors, {options.rounds} rounds of {options.seconds} s")
    for name in options.only.split(","):
        measures[name](options)


if __name__ == "__main__":
    main()
