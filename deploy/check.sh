#!/usr/bin/env bash
# Checks the files of deploy/ with the tools that will read them; says what it skips for want of a
# tool, or fails with REQUIRE_ALL=1. PLATEN is a binary: with it, services are started and used.
set -euo pipefail
cd "$(dirname "$0")/.."
cache="${XDG_CACHE_HOME:-$HOME/.cache}/platen"
export PATH="$cache/deploy/bin:$cache/go/bin:$PATH:/usr/sbin"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skipped=0

# has PROGRAM...: whether all of them are there; says so if not.
has() {
    local program
    for program in "$@"; do
        if ! command -v "$program" >/dev/null 2>&1; then
            echo "skipped for want of $program"
            skipped=$((skipped + 1))
            return 1
        fi
    done
}
# step NAME COMMAND...: prints the output of a command that fails.
step() {
    local name=$1
    shift
    if ! "$@" >"$work/output" 2>&1; then
        echo "deploy: $name:" >&2
        cat "$work/output" >&2
        exit 1
    fi
    echo "ok: $name"
}
# The Python with the schemas, if it is there.
python=$cache/deploy/bin/python
[ -x "$python" ] || python=python3

if has shellcheck; then
    step "shell scripts" shellcheck deploy/check.sh deploy/*/*.sh deploy/docker/platen-health .ci/packages.sh
fi

if has check-jsonschema; then
    step "compose files" check-jsonschema --builtin-schema vendor.compose-spec deploy/compose/*.yaml
fi

# Manifests: each overlay as it is, and with the components that it names.
kustomize_build() { if command -v kustomize >/dev/null 2>&1; then kustomize build "$1"; else kubectl kustomize "$1"; fi; }
rendered=()
if command -v kustomize >/dev/null 2>&1 || has kubectl; then
    cp -r deploy/kubernetes "$work/kubernetes"
    for overlay in single fleet; do
        kustomize_build "deploy/kubernetes/overlays/$overlay" > "$work/kustomize-$overlay.yaml"
        mkdir "$work/kubernetes/overlays/$overlay-full"
        cat > "$work/kubernetes/overlays/$overlay-full/kustomization.yaml" <<END
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../$overlay]
components: [../../components/sandbox-full, ../../components/queue-depth]
END
        kustomize_build "$work/kubernetes/overlays/$overlay-full" > "$work/kustomize-$overlay-full.yaml"
        rendered+=("$work/kustomize-$overlay.yaml" "$work/kustomize-$overlay-full.yaml")
    done
    echo "ok: kustomize"
fi

if has helm; then
    chart=deploy/helm/platen
    # shellcheck disable=SC2054 # commas belong to the values
    everything=(--set replicas=3,database.enabled=true,s3.enabled=true,workers.enabled=true
        --set workers.autoscaling.enabled=true,workers.autoscaling.targetRunsWaiting=20
        --set autoscaling.enabled=true,autoscaling.targetQueueDepth=8,sandbox=full
        --set ingress.enabled=true,ingress.tlsSecret=tls,persistence.storageClass=fast
        --set publicUrl=https://platen.example.com,trustedProxies=10.0.0.0/8,workers.allowedHosts=example.com)
    step "helm lint" helm lint --strict "$chart"
    step "helm lint, everything on" helm lint --strict "$chart" "${everything[@]}"
    helm template one "$chart" > "$work/helm-one.yaml"
    helm template all "$chart" "${everything[@]}" > "$work/helm-all.yaml"
    helm template some "$chart" --set persistence.enabled=false,networkPolicy.enabled=false > "$work/helm-some.yaml"
    rendered+=("$work/helm-one.yaml" "$work/helm-all.yaml" "$work/helm-some.yaml")
    # Resources of operators have no schema here: they must at least be YAML, with the rules inside.
    helm template all "$chart" --set monitoring.podMonitor=true,monitoring.prometheusRule=true > "$work/monitoring.yaml"
    step "rules of the chart" "$python" - "$work/monitoring.yaml" <<'END'
import sys, yaml
rules = [one for one in yaml.safe_load_all(open(sys.argv[1])) if one and one["kind"] == "PrometheusRule"]
assert rules[0]["spec"] == yaml.safe_load(open("deploy/prometheus/alerts.yaml"))
END
    # What contradicts itself is refused, and says why.
    for wrong in replicas=2 replicas=2,database.enabled=true autoscaling.enabled=true sandbox=none replcas=3 image.tag=; do
        if helm template wrong "$chart" --set "$wrong" >/dev/null 2>"$work/refusal"; then
            echo "deploy: the chart accepts $wrong" >&2
            exit 1
        fi
    done
    echo "ok: helm template"
fi

if has kubernetes-validate; then
    for version in 1.35 1.36 1.37; do
        for file in "${rendered[@]}"; do
            step "Kubernetes $version: $(basename "$file" .yaml)" \
                kubernetes-validate --strict --quiet --kubernetes-version "$version" "$file"
        done
    done
fi

if "$python" -c "import yaml" 2>/dev/null; then
    step "names and limits" "$python" deploy/check/tree.py "${rendered[@]}"
else
    echo "skipped for want of PyYAML"
    skipped=$((skipped + 1))
fi

# Units, as they would lie in a system; --root finds the binary there.
if has systemd-analyze; then
    printf '#!/bin/sh\n' > "$work/platen"
    DESTDIR=$work/root deploy/systemd/install.sh "$work/platen"
    mkdir -p "$work/root/bin" "$work/root/usr/lib/systemd/system"
    install -m 755 "$work/platen" "$work/root/bin/sh"
    for target in sysinit basic shutdown network-online multi-user; do
        printf '[Unit]\n' > "$work/root/usr/lib/systemd/system/$target.target"
    done
    # It only warns of a directive that it does not know.
    verify() {
        systemd-analyze verify --man=no --root="$work/root" "$@" 2>&1 | tee "$work/warnings"
        [ ! -s "$work/warnings" ]
    }
    step "units" verify platen.service platen-worker.service
    for unit in platen platen-worker; do
        step "exposure of $unit.service is at most 3.5" \
            systemd-analyze security --offline=true --threshold=35 "deploy/systemd/$unit.service"
    done
    if command -v systemd-sysusers >/dev/null 2>&1; then
        step "users" systemd-sysusers --dry-run "$PWD/deploy/systemd/platen.sysusers"
    fi
fi

if has promtool; then
    step "alert rules" promtool check rules deploy/prometheus/alerts.yaml
    step "tests of alerts" promtool test rules deploy/prometheus/alerts.test.yaml
    for file in single fleet; do
        step "prometheus, $file" promtool check config --syntax-only "deploy/prometheus/$file.yaml"
    done
fi

# nginx looks names up when it reads its configuration.
if has nginx; then
    for count in 1 2 4; do
        mkdir "$work/nginx$count"
        cp deploy/nginx/nginx.conf deploy/nginx/platen.conf "$work/nginx$count/"
        sed 's/\bapp[1-4]:/127.0.0.1:/' "deploy/nginx/upstream-$count.conf" > "$work/nginx$count/upstream.conf"
        step "nginx, $count" nginx -t -q -p "$work/nginx$count" -c "$work/nginx$count/nginx.conf"
    done
fi

if [ -n "${PLATEN:-}" ]; then
    if has promtool prometheus soffice; then
        step "metrics of a service, Prometheus" "$python" deploy/check/live.py "$PLATEN"
    fi
    if has nginx unshare; then
        step "requests through nginx" "$python" deploy/check/nginx.py "$PLATEN"
    fi
else
    echo "skipped for want of a binary, PLATEN"
    skipped=$((skipped + 1))
fi

if [ "$skipped" -gt 0 ] && [ "${REQUIRE_ALL:-}" = 1 ]; then
    echo "deploy: $skipped checks were skipped, and REQUIRE_ALL=1" >&2
    exit 1
fi
