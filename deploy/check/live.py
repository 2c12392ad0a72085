#!/usr/bin/env python3
"""Uses a running service so that it prints every metric, and holds its /metrics to promtool and to
metrics.py; then lets a real Prometheus scrape it, load the rules, and answer every expression of the
dashboard.

    live.py BINARY      needs promtool and prometheus, LibreOffice and Chromium
"""

import json
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.parse

import yaml

from service import METRICS, ROOT, Service, call, expect, form, publish, render, store, until


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def use(host, port):
    """Documents, a refusal, a conversion, a page, a run, a stored result."""
    store(host, port)
    docx = expect(render(host, port, format="docx"), 200, "rendering")[2]
    for _ in range(20):
        expect(render(host, port), 200, "rendering")
    expect(call(host, port, "POST", "/render", {"template": "none", "data": {}}), 404, "an unknown template")
    expect(call(host, port, "GET", "/templates", headers={"X-Api-Key": "wrong-key"}), 401, "a wrong key")
    # Each process has a LibreOffice and a Chromium of its own, which show once they were used.
    page, page_head = form([("index.html", b"<h1>Hello</h1>")])
    office, office_head = form([("a.docx", docx)])
    for _ in range(8):
        expect(call(host, port, "POST", "/forms/libreoffice/convert", office, office_head), 200, "converting")
        expect(call(host, port, "POST", "/forms/chromium/convert/html", page, page_head), 200, "printing")
    flow = json.loads((ROOT / "examples/flows/sum.json").read_text())
    publish(host, port, flow)
    expect(call(host, port, "POST", "/webhooks/sum/sync", {}), 200, "a run")
    expect(render(host, port, output={"store": True}), 201, "storing a result")


def metrics(host, port):
    headers = {"Authorization": f"Bearer {METRICS}"}
    return expect(call(host, port, "GET", "/metrics", headers=headers), 200, "/metrics")[2].decode()


def check_text(text, folder, name):
    file = folder / name
    file.write_text(text)
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True)
    # promtool says what it would name otherwise, which is no error (exit code 3).
    if checked.returncode not in (0, 3):
        raise SystemExit(f"promtool check metrics, {name}: {checked.stdout}{checked.stderr}")
    return file


def ask(port, path, **query):
    answer = call("127.0.0.1", port, "GET", f"{path}?{urllib.parse.urlencode(query)}")
    body = json.loads(answer[2])
    if body["status"] != "success":
        raise SystemExit(f"{path} {query}: {body}")
    return body["data"]


def with_prometheus(folder, service_port):
    config = yaml.safe_load((ROOT / "deploy/prometheus/single.yaml").read_text())
    config["global"]["scrape_interval"] = config["global"]["evaluation_interval"] = "1s"
    scrape = config["scrape_configs"][0]
    (folder / "token").write_text(METRICS)
    scrape["authorization"]["credentials_file"] = str(folder / "token")
    scrape["static_configs"][0]["targets"] = [f"127.0.0.1:{service_port}"]
    shutil.copy(ROOT / "deploy/prometheus/alerts.yaml", folder)
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    port = free_port()
    command = [
        "prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn",
    ]
    process = subprocess.Popen(command, cwd=folder, stderr=(folder / "prometheus.log").open("wb"))
    try:
        def scraped():
            try:
                found = ask(port, "/api/v1/query", query="count_over_time(platen_ready[1m])")["result"]
            except OSError:
                return False
            return found and float(found[0]["value"][1]) >= 3

        until(scraped, "Prometheus scrapes the service")
        target = ask(port, "/api/v1/targets")["activeTargets"][0]
        if target["health"] != "up":
            raise SystemExit(f"the target: {target}")
        rules = [rule for group in ask(port, "/api/v1/rules")["groups"] for rule in group["rules"]]
        until(lambda: all(
            rule["health"] == "ok"
            for group in ask(port, "/api/v1/rules")["groups"]
            for rule in group["rules"]
        ), "every rule was evaluated")
        firing = [one["labels"]["alertname"] for one in ask(port, "/api/v1/alerts")["alerts"] if one["state"] == "firing"]
        if firing:
            raise SystemExit(f"alerts of a healthy service: {firing}")
        empty, count = [], 0
        dashboard = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                text = target["expr"].replace("$job", "platen").replace("$instance", ".*")
                text = text.replace("$__rate_interval", "1m")
                count += 1
                if not ask(port, "/api/v1/query", query=text)["result"]:
                    empty.append(panel["title"])
    finally:
        process.terminate()
        process.wait(20)
    # What has no lines before something fails.
    allowed = {"Failed documents by code", "Processes replaced"}
    if set(empty) - allowed:
        raise SystemExit(f"panels without data: {sorted(set(empty) - allowed)}")
    print(f"Prometheus: {len(rules)} rules evaluated, {count} expressions of the dashboard answered")


def main(binary):
    with tempfile.TemporaryDirectory(prefix="platen-metrics.") as name:
        folder = pathlib.Path(name)
        for workers in ("0", "2"):
            port = free_port()
            settings = {"PORT": str(port), "PLATEN_WORKERS": workers}
            with Service(binary, folder / f"data{workers}", **settings) as service:
                service.until_ready()
                use(service.host, port)
                file = check_text(metrics(service.host, port), folder, f"metrics-{workers}.txt")
                if workers == "2":
                    with_prometheus(folder, port)
        here = pathlib.Path(__file__).parent
        sys.exit(subprocess.run([sys.executable, here / "metrics.py", file]).returncode)


main(sys.argv[1])
