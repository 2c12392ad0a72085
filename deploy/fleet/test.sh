#!/usr/bin/env bash
# Starts a fleet, harms it INJECTIONS times while clients use it, AT_ONCE at a time, and checks the history:
# the folder chaos says how. SEED repeats a choice of injections; the history stays in HISTORY, copies of the logs in LOGS.
# HOSTS=1, for root, gives each service and each worker a network namespace whose cable can be pulled.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
log=$(mktemp)
export PYTHONDONTWRITEBYTECODE=1 FLEET_PORT=${FLEET_PORT:-18100} WORKER_SLOTS=${WORKER_SLOTS:-6}
hook=$((FLEET_PORT + 99))
# Leases are short, so that what was lost goes on soon; a run may lose many workers.
export FLOW_LEASE_MS=3000 FLOW_MAX_DEATHS=1000
export FLOW_ALLOWED_HOSTS=127.0.0.1:$hook,10.77.0.1:$hook FLOW_ALLOW_PRIVATE_ADDRESSES=true
python3 "$here/chaos" --self-check
"$here/run.sh" >"$log" 2>&1 &
fleet=$!
trap 'kill $fleet 2>/dev/null; wait $fleet || true; rm -f "$log"' EXIT
until grep -q "Ctrl-C ends" "$log"; do
    kill -0 $fleet 2>/dev/null || { cat "$log" >&2; exit 1; }
    sleep 0.5
done
python3 "$here/chaos" "$log" --injections "${INJECTIONS:-100}" --at-once "${AT_ONCE:-2}" \
    --hook-port "$hook" --history "${HISTORY:-/tmp/platen-chaos.ndjson}" ${SEED:+--seed "$SEED"} ${HOSTS:+--hosts} ${LOGS:+--logs "$LOGS"}
