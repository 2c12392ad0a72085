#!/usr/bin/env python3
"""Checks of the files of deploy/ that need no program but Python.

- Every setting that they name is one of docs/reference/settings.md, NAME_FILE among them.
- nginx gives the service more time and room than the service itself does.
- The context of the Dockerfile holds every file that the source includes.
- The pods satisfy the Pod Security Standard `restricted`, where they say so.
- Secrets are files, never variables with a value.
"""

import json
import pathlib
import re
import sys

import yaml

from service import ROOT

DEPLOY = ROOT / "deploy"
SETTINGS = (ROOT / "docs/reference/settings.md").read_text()
# Variables of other programs in these files.
FOREIGN = re.compile(
    r"^(POSTGRES_\w+|GF_\w+|ROOT_(ACCESS_KEY_ID|SECRET_ACCESS_KEY)|TMPDIR|PATH|HOME|HOSTNAME|PLATEN_HEALTH_URL)$"
)
SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL|API_KEY_\w+)$")


def names():
    """Settings, with their defaults as the page has them."""
    found = {}
    for line in SETTINGS.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 5 and re.fullmatch(r"`[A-Z][A-Z0-9_]+`", cells[1]):
            found.setdefault(cells[1].strip("`"), cells[4])
    return found


def variables(node):
    """Names and values of variables in a document of Compose or Kubernetes."""
    if isinstance(node, dict):
        environment = node.get("environment")
        if isinstance(environment, dict):
            yield from environment.items()
        if node.get("kind") == "ConfigMap":
            yield from node.get("data", {}).items()
        for one in node.get("env", []) if isinstance(node.get("env"), list) else []:
            yield one["name"], one.get("value")
        for value in node.values():
            yield from variables(value)
    elif isinstance(node, list):
        for value in node:
            yield from variables(value)


def check_settings(rendered):
    known = set(names())
    by_file = set(re.findall(r"`(\w+_FILE)` may name", SETTINGS))
    findings = []
    files = [*DEPLOY.glob("compose/*.yaml"), *rendered]
    pairs = [(file, *pair) for file in files for one in yaml.safe_load_all(file.read_text()) for pair in variables(one)]
    for file in [*DEPLOY.glob("systemd/*.service"), *DEPLOY.glob("systemd/*.env"), DEPLOY / "docker/Dockerfile"]:
        for name, value in re.findall(r"^(?:Environment=|ENV )?#? ?([A-Z][A-Z0-9_]+)=(\S*)", file.read_text(), re.M):
            pairs.append((file, name, value))
    for file, name, value in pairs:
        plain = name.removesuffix("_FILE")
        if FOREIGN.match(name):
            pass
        elif name not in known and plain not in known:
            findings.append(f"{file}: {name} is not a setting")
        elif plain != name and name not in known and by_file and name not in by_file:
            findings.append(f"{file}: {plain} is no secret, so there is no {name}")
        if SECRET.search(name) and not name.endswith("_FILE") and value:
            findings.append(f"{file}: {name} has a value: use {name}_FILE")
    return findings


def number(text):
    """A size or a time of nginx, or a default of the settings, in bytes or milliseconds."""
    units = {"": 1, "k": 1 << 10, "m": 1 << 20, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "s": 1000, "h": 3_600_000}
    value, unit = re.fullmatch(r"([0-9]+) ?([A-Za-z]*)", text).groups()
    return int(value) * units[unit]


def check_nginx():
    text = re.sub(r"#.*", "", (DEPLOY / "nginx/platen.conf").read_text())
    defaults = names()

    def nginx(name):
        return re.search(rf"\b{name} ([^;]+);", text)[1].split()[-1]

    longer = [
        ("proxy_read_timeout", "OFFICE_TIMEOUT_MS"),
        ("proxy_read_timeout", "RENDER_TIMEOUT_MS"),
        ("proxy_read_timeout", "FLOW_TIMEOUT_MS"),
        ("proxy_send_timeout", "BODY_TIMEOUT_MS"),
        ("client_body_timeout", "BODY_TIMEOUT_MS"),
        ("client_header_timeout", "HEADER_TIMEOUT_MS"),
        ("send_timeout", "WRITE_TIMEOUT_MS"),
    ]
    findings = [
        f"platen.conf: {ours} is not longer than {theirs}"
        for ours, theirs in longer
        if number(nginx(ours)) <= number(defaults[theirs])
    ]
    for theirs in ("FORM_MAX_BODY_BYTES", "OFFICE_MAX_BODY_BYTES", "MAX_BODY_BYTES"):
        if number(nginx("client_max_body_size")) < number(defaults[theirs]):
            findings.append(f"platen.conf: client_max_body_size is below {theirs}")
    if number(nginx("large_client_header_buffers")) < number(defaults["MAX_HEADER_BYTES"]):
        findings.append("platen.conf: large_client_header_buffers is below MAX_HEADER_BYTES")
    for file in sorted(DEPLOY.glob("nginx/upstream-*.conf")):
        idle = re.search(r"keepalive_timeout (\S+);", file.read_text())[1]
        if number(idle) >= number(defaults["HEADER_TIMEOUT_MS"]):
            findings.append(f"{file.name}: connections stay longer than HEADER_TIMEOUT_MS")
        count = int(re.search(r"\d+", file.stem)[0])
        if len(re.findall(r"^\s*server ", file.read_text(), re.M)) != count:
            findings.append(f"{file.name}: not {count} services")
    return findings


def check_context():
    allowed = [
        line[1:].strip("/")
        for line in (DEPLOY / "docker/Dockerfile.dockerignore").read_text().splitlines()
        if line.startswith("!")
    ]
    findings = []
    for file in [*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("xtask/src/**/*.rs")]:
        for path in re.findall(r'include_(?:str|bytes)!\(\s*"([^"]+)"', file.read_text()):
            target = (file.parent / path).resolve().relative_to(ROOT)
            if not any(target.is_relative_to(one) for one in allowed):
                findings.append(f"{file.relative_to(ROOT)} includes {target}, which Dockerfile.dockerignore leaves out")
    return findings


def check_pods(rendered):
    """Pods that do not ask for a sandbox of level `full` satisfy `restricted`."""
    findings = []
    for file in rendered:
        for one in yaml.safe_load_all(file.read_text()):
            if not one or one["kind"] not in ("StatefulSet", "Deployment"):
                continue
            pod = one["spec"]["template"]["spec"]
            place = f"{file.name}: {one['kind']} {one['metadata']['name']}"
            security = pod["securityContext"]
            is_full = pod.get("hostUsers") is False
            wants = [
                ("runAsNonRoot", security.get("runAsNonRoot") is True),
                ("no token", pod.get("automountServiceAccountToken") is False),
                ("seccomp", is_full or security.get("seccompProfile") == {"type": "RuntimeDefault"}),
            ]
            for container in pod["containers"]:
                inner = container["securityContext"]
                wants += [
                    ("allowPrivilegeEscalation", inner.get("allowPrivilegeEscalation") is False),
                    ("capabilities", inner.get("capabilities") == {"drop": ["ALL"]}),
                    ("readOnlyRootFilesystem", inner.get("readOnlyRootFilesystem") is True),
                    ("procMount", is_full == (inner.get("procMount") == "Unmasked")),
                    ("memory limit", "memory" in container["resources"]["limits"]),
                ]
            findings += [f"{place}: {name}" for name, holds in wants if not holds]
    return findings


def check_dashboard():
    dashboard = json.loads((DEPLOY / "grafana/dashboard.json").read_text())
    findings, numbers, occupied = [], set(), {}
    for panel in dashboard["panels"]:
        if panel["id"] in numbers:
            findings.append(f"dashboard: {panel['id']} twice")
        numbers.add(panel["id"])
        place = panel["gridPos"]
        if place["x"] + place["w"] > 24:
            findings.append(f"dashboard: {panel['title']} is wider than the page")
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if (x, y) in occupied:
                    findings.append(f"dashboard: {panel['title']} lies on {occupied[x, y]}")
                occupied[x, y] = panel["title"]
        if panel["type"] != "row" and not panel.get("targets"):
            findings.append(f"dashboard: {panel['title']} asks nothing")
    return findings


def main():
    rendered = [pathlib.Path(name) for name in sys.argv[1:]]
    findings = check_settings(rendered) + check_nginx() + check_context() + check_pods(rendered) + check_dashboard()
    if findings:
        sys.exit("\n".join(sorted(set(findings))))
    print(f"settings, nginx, build context, dashboard and {len(rendered)} rendered files agree")


main()
