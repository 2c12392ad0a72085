#!/bin/sh
# Speed of flows on this machine: in one process with nothing stored, behind a service with durable
# runs, through workers of their own, and beside Node's child_process and isolated-vm where it is there.
# A fresh sandbox for every run throughout. Arguments go to `platen bench flow`.
set -eu
cd "$(dirname "$0")/.."
platen="${CARGO_TARGET_DIR:-target}/release/platen"
address="127.0.0.1:${BENCH_PORT:-3918}"
folder=$(mktemp -d)
children=""
stop() {
    for child in $children; do kill "$child" 2>/dev/null || true; done
    for child in $children; do wait "$child" 2>/dev/null || true; done
    children=""
}
trap 'stop; rm -rf "$folder"' EXIT
ready() {
    for _ in $(seq 100); do
        curl -fs -o /dev/null "http://$address/$1" && return
        sleep 0.1
    done
    echo "nothing answers at $address" >&2
    exit 1
}
export RATE_LIMIT_MAX=0 RATE_LIMIT_RENDER_MAX=0 WORKER_TOKEN=benchmark-worker-token

serve() {
    rm -rf "$folder/data"
    "$platen" serve --bind "$address" --data-dir "$folder/data" "$@" >/dev/null 2>&1 &
    children="$children $!"
    ready health/ready
}

echo "## In one process, nothing stored"
"$platen" bench flow -q "$@"

echo
echo "## The same with a sandbox that is used again, for comparison"
"$platen" bench flow -q --reuse "$@"

echo
echo "## Behind a service, embedded slots, durable runs"
serve
"$platen" bench flow -q --url "http://$address" --phases "$@" 2>"$folder/phases"
stop
echo
echo "Medians of where a run's milliseconds went, as the service says:"
echo
sed 's/^/- /' "$folder/phases"

for slots in 1 2 4 8; do
    echo
    echo "## Through one worker of $slots slots, durable runs"
    serve --role app
    "$platen" worker --app "http://$address" --slots "$slots" >/dev/null 2>&1 &
    children="$children $!"
    sleep 0.5
    "$platen" bench flow -q --url "http://$address" --concurrency 1,16 "$@"
    stop
done

for workers in 2 4; do
    echo
    echo "## Through $workers workers of one slot, durable runs"
    serve --role app
    for _ in $(seq "$workers"); do
        "$platen" worker --app "http://$address" --slots 1 >/dev/null 2>&1 &
        children="$children $!"
    done
    sleep 0.5
    "$platen" bench flow -q --url "http://$address" --concurrency 1,16 "$@"
    stop
done

for mode in cold warm; do
    bench/flow-peer/start.sh "${address##*:}" "$mode" >"$folder/peer" 2>&1 &
    peer=$!
    children="$children $peer"
    # The first start installs its packages.
    for _ in $(seq 600); do
        grep -q listening "$folder/peer" && break
        kill -0 "$peer" 2>/dev/null || break
        sleep 0.1
    done
    echo
    echo "## Node's child_process.fork with isolated-vm, $mode, nothing stored"
    if grep -q listening "$folder/peer"; then
        "$platen" bench flow -q --url "http://$address" --concurrency 1,16 --warmup 4 --samples 40
    else
        cat "$folder/peer"
    fi
    stop
done
