#!/usr/bin/env python3
"""Checks the names of metrics, their labels and their fixed values in the alert rules, the dashboard,
the adapter of Kubernetes and the documentation against what a service printed.

    metrics.py METRICS      the text of /metrics, of a service with two processes that has used
                            LibreOffice and Chromium
"""

import json
import re
import sys

import yaml

from service import ROOT

# Labels that Prometheus, Kubernetes and histograms add.
OUTSIDE = {"job", "instance", "namespace", "pod", "le"}
# Labels whose values all exist from the start.
FIXED = {
    ("platen_pool_replaced_total", "reason"),
    ("platen_pool_process_replaced_total", "reason"),
    ("platen_pool_isolation", "level"),
    ("platen_runs_waiting", "lane"),
    ("platen_runs_ended_total", "state"),
    ("platen_results_refused_total", "reason"),
}
NAME = re.compile(r"\b(?:platen|process)_[a-z0-9_]+\b")
SELECTOR = re.compile(r"\b((?:platen|process)_[a-z0-9_]+)\{([^{}]*)\}")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')


def families(text):
    """The metrics of a text: name to labels, and (name, label) to values."""
    labels, values, described = {}, {}, []
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            described.append(line.split()[2])
            labels.setdefault(line.split()[2], set())
        if line.startswith("#") or not line.strip():
            continue
        name = re.match(r"[a-z_0-9]+", line)[0]
        found = labels.setdefault(name, set())
        for label, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', line):
            found.add(label)
            values.setdefault((name, label), set()).add(value)
    twice = {name for name in described if described.count(name) > 1}
    return labels, values, set(described), twice


def expressions():
    """Every expression in PromQL, with the place where it stands."""
    rules = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text())
    for group in rules["groups"]:
        for rule in group["rules"]:
            yield f"alert {rule['alert']}", rule["expr"]
    dashboard = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"panel {panel['title']}", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield f"variable {variable['name']}", variable["definition"]
    adapter = yaml.safe_load((ROOT / "deploy/kubernetes/components/queue-depth/adapter.yaml").read_text())
    for rule in adapter["rules"] + adapter["externalRules"]:
        yield "adapter.yaml", rule["seriesQuery"]
    for name in ["deploy/kubernetes/components/queue-depth/kustomization.yaml", "deploy/helm/platen/templates/hpa.yaml"]:
        for found in re.findall(r"metric: \{name: (\w+)\}", (ROOT / name).read_text()):
            yield name, found


def main():
    labels, values, described, twice = families(open(sys.argv[1]).read())
    findings = [f"{name} is described more than once" for name in twice]
    used = set()
    for place, text in expressions():
        for name in NAME.findall(text):
            used.add(name)
            if name not in labels:
                findings.append(f"{place}: no metric is called {name}")
        for name, matchers in SELECTOR.findall(text):
            for label, operator, value in MATCHER.findall(matchers):
                known = labels.get(name, set())
                if label not in OUTSIDE and known - {"worker"} and label not in known:
                    findings.append(f"{place}: {name} has no label {label}")
                if (name, label) in FIXED:
                    for one in value.split("|"):
                        if one not in values.get((name, label), set()):
                            findings.append(f"{place}: {name} has no {label} {one}")
    documented, prefixes = set(), []
    for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "deploy/README.md"]:
        for name, star in re.findall(r"`[^`\n]*?\b((?:platen|process)_[a-z0-9_]+)(\*?)", page.read_text()):
            if star:
                prefixes.append(name)
                if not any(one.startswith(name) for one in labels):
                    findings.append(f"{page.relative_to(ROOT)}: no metric begins with {name}")
            else:
                documented.add(name)
        for text in re.findall(r"`([^`\n]+)`", page.read_text()):
            for name in re.findall(r"\bplaten_[a-z0-9_]+_(?:total|seconds|bytes|up|bucket)\b", text):
                if name not in labels:
                    findings.append(f"{page.relative_to(ROOT)}: no metric is called {name}")
    for name in sorted(described):
        if name not in documented and not any(name.startswith(prefix) for prefix in prefixes):
            findings.append(f"docs: {name} stands nowhere")
    if findings:
        sys.exit("\n".join(sorted(set(findings))))
    print(f"{len(used)} names of metrics in rules and dashboard exist; {len(described)} metrics are documented")


main()
