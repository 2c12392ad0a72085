#!/bin/sh
# Speed of rendering on this machine: in one process, over HTTP with keep-alive, and, where headless
# Chromium is installed, beside it on the same tables.
set -eu
cd "$(dirname "$0")/.."
platen="${CARGO_TARGET_DIR:-target}/release/platen"
address="127.0.0.1:${BENCH_PORT:-3917}"
folder=$(mktemp -d)
server=""
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
echo "## In one process, one at a time"
"$platen" bench render -q "$@"
API_KEY_ADMIN=benchmark-key RATE_LIMIT_MAX=0 RATE_LIMIT_RENDER_MAX=0 \
    "$platen" serve --bind "$address" --data-dir "$folder" >/dev/null 2>&1 &
server=$!
for _ in $(seq 100); do
    curl -fs -o /dev/null "http://$address/health/ready" && break
    sleep 0.1
done
echo
echo "## Over HTTP, keep-alive, concurrency 5"
"$platen" bench render -q --url "http://$address" --api-key benchmark-key --concurrency 5 "$@"
if command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1; then
    echo
    echo "## Beside headless Chromium, interleaved rounds, one at a time"
    python3 bench/chromium.py --platen "$platen" --rounds 5
    echo
    echo "## Pages of HTML by the pool of Chromium's pages"
    "$platen" bench chromium -q
fi
