#!/usr/bin/env bash
# Starts a fleet on this machine, without containers: PostgreSQL, Redis, an S3 server, services behind
# nginx, workers, Prometheus. Loads the examples, prints what to try, and ends everything on Ctrl-C.
#
#   deploy/fleet/run.sh            PLATEN=BINARY APPS=3 WORKERS=3 FLEET_PORT=8080 EXAMPLES='invoice-*'
#
# Ports are FLEET_PORT and those that follow. Everything is in a temporary folder, and gone afterwards.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
platen=${PLATEN:-${CARGO_TARGET_DIR:-$root/target}/release/platen}
apps=${APPS:-3} workers=${WORKERS:-3} port=${FLEET_PORT:-8080}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/platen
PATH=$PATH:/usr/sbin:$cache/versitygw

fail() { echo "fleet: $*" >&2; exit 1; }
[ -x "$platen" ] || fail "$platen is not there: make release, or set PLATEN"
case "$apps$workers$port" in *[!0-9]*) fail "APPS, WORKERS and FLEET_PORT are numbers" ;; esac
[ "$apps" -ge 1 ] || fail "APPS is at least 1"
programs=$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | sort -V | tail -1)
[ -n "$programs" ] || programs=$(dirname "$(command -v initdb || true)")
[ -x "$programs/initdb" ] || fail "PostgreSQL is not installed: make packages"
for program in redis-server versitygw nginx curl; do
    command -v "$program" >/dev/null || fail "$program is not installed: make packages"
done
has_prometheus=$(command -v prometheus || true)

pause=""
work=$(mktemp -d)
chmod 755 "$work"
stop() {
    trap - EXIT INT TERM
    echo "ending the fleet"
    # Services first, so that they can say goodbye to what they use.
    for name in worker app nginx prometheus redis s3; do
        # shellcheck disable=SC2046 # a list of processes
        kill $(cat "$work/$name"-*.pid 2>/dev/null) 2>/dev/null || true
        [ "$name" != app ] || for file in "$work"/app-*.pid; do
            tail --pid="$(cat "$file")" -f /dev/null 2>/dev/null || true
        done
    done
    [ -z "$pause" ] || kill "$pause" 2>/dev/null || true
    kill -INT "$(head -1 "$work/postgres/postmaster.pid" 2>/dev/null)" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

# start NAME COMMAND...: a process in the background, with a log of its own.
start() {
    local name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 &
    echo $! >"$work/$name.pid"
}
# until_ready NAME COMMAND...: waits for what a process must answer.
until_ready() {
    local name=$1 tries=0
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ $tries -ge 600 ] || ! kill -0 "$(cat "$work/$name.pid")" 2>/dev/null; then
            tail -20 "$work/$name.log" >&2
            fail "$name does not start"
        fi
        sleep 0.1
    done
}
secret() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
admin=$(secret) render=$(secret) metrics=$(secret) token=$(secret) s3_secret=$(secret) password=$(secret)
database_port=$((port + 1)) redis_port=$((port + 2)) s3_port=$((port + 3)) prometheus_port=$((port + 4))
first_app=$((port + 11))

# PostgreSQL refuses to be root.
as_nobody=()
if [ "$(id -u)" = 0 ]; then
    as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    install -d -o 65534 -g 65534 "$work/postgres" "$work/socket"
else
    mkdir "$work/postgres" "$work/socket"
fi
cd "$work"
printf %s "$password" >password
chmod 644 password
"${as_nobody[@]}" "$programs/initdb" -D "$work/postgres" -U platen --pwfile=password --auth=scram-sha-256 \
    -E UTF8 --locale=C >initdb.log || fail "initdb: $(tail -3 initdb.log)"
rm password
start postgres-1 "${as_nobody[@]}" "$programs/postgres" -D "$work/postgres" -k "$work/socket" \
    -h 127.0.0.1 -p "$database_port" -c max_connections=200
export PGPASSWORD=$password
until_ready postgres-1 "$programs/psql" -h 127.0.0.1 -p "$database_port" -U platen postgres -c 'SELECT 1'
"$programs/psql" -q -h 127.0.0.1 -p "$database_port" -U platen postgres -c 'CREATE DATABASE platen'

start redis-1 redis-server --bind 127.0.0.1 --port "$redis_port" --requirepass "$password" --save '' --appendonly no \
    --set-proc-title no --dir "$work"
mkdir -p s3/platen
ROOT_ACCESS_KEY=platen ROOT_SECRET_KEY=$s3_secret start s3-1 versitygw --port "127.0.0.1:$s3_port" --quiet posix s3

export API_KEY_ADMIN=$admin API_KEY_RENDER=$render METRICS_TOKEN=$metrics WORKER_TOKEN=$token
export DATABASE_URL="postgres://platen:$password@127.0.0.1:$database_port/platen"
# SIGNALS=postgres: services signal each other by LISTEN and NOTIFY.
[ "${SIGNALS:-redis}" = postgres ] || export REDIS_URL="redis://:$password@127.0.0.1:$redis_port"
export S3_ENDPOINT="http://127.0.0.1:$s3_port" S3_BUCKET=platen S3_ACCESS_KEY_ID=platen S3_SECRET_ACCESS_KEY=$s3_secret
export TRUSTED_PROXIES=127.0.0.1/32 PUBLIC_URL="http://127.0.0.1:$port"
until_ready redis-1 redis-cli -p "$redis_port" -a "$password" ping
until_ready s3-1 curl -s "$S3_ENDPOINT"

upstream="upstream platen { least_conn; zone platen 64k; keepalive 64; keepalive_timeout 20s;"
for number in $(seq "$apps"); do
    mkdir "data-$number"
    start "app-$number" "$platen" serve --bind "127.0.0.1:$((first_app + number))" --data-dir "$work/data-$number" \
        "--role=$([ "$workers" = 0 ] && echo all || echo app)"
    upstream+=" server 127.0.0.1:$((first_app + number)) max_fails=3 fail_timeout=2s;"
done
for number in $(seq "$apps"); do
    until_ready "app-$number" curl -sf "http://127.0.0.1:$((first_app + number))/health/ready"
done

# What is in deploy/nginx, on these ports and in this folder.
echo "$upstream }" >upstream.conf
sed "s/listen 8080;/listen 127.0.0.1:$port;/" "$root/deploy/nginx/platen.conf" >platen.conf
sed "s#/tmp/nginx#$work/nginx#; s#/dev/stderr#$work/nginx-1.log#; s#/dev/stdout#$work/access.log#; s#^worker_processes#daemon off; worker_processes#" \
    "$root/deploy/nginx/nginx.conf" >nginx.conf
start nginx-1 nginx -p "$work" -c "$work/nginx.conf" -e "$work/nginx-1.log"
until_ready nginx-1 curl -sf "http://127.0.0.1:$port/health"

for number in $(seq "$workers"); do
    PLATEN_APP=http://127.0.0.1:$port start "worker-$number" "$platen" worker
done
if [ -n "$has_prometheus" ]; then
    printf %s "$metrics" >metrics-token
    targets=$(seq -s, -f "\"127.0.0.1:%.0f\"" $((first_app + 1)) $((first_app + apps)))
    cp "$root/deploy/prometheus/alerts.yaml" .
    cat >prometheus.yaml <<END
global: {scrape_interval: 5s, evaluation_interval: 5s}
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: platen
    authorization: {credentials_file: $work/metrics-token}
    static_configs: [{targets: [$targets]}]
END
    start prometheus-1 prometheus --config.file=prometheus.yaml --storage.tsdb.path="$work/prometheus" \
        --web.listen-address="127.0.0.1:$prometheus_port"
fi

export PLATEN_URL="http://127.0.0.1:$port" PLATEN_API_KEY=$admin
cd "$root/examples"
# The patterns of EXAMPLES, by default all, are of folders here.
for example in ${EXAMPLES-*}; do
    example=$root/examples/$example/template.json
    [ -f "$example" ] || continue
    "$platen" templates push "$example" >>"$work/examples.log" 2>&1 || fail "$example: $(tail -1 "$work/examples.log")"
done
cd "$work"
api=(curl -sf -o "$work/examples.log" -H "X-Api-Key: $admin" -H 'Content-Type: application/json')
"${api[@]}" "$PLATEN_URL/flows" -d "@$root/examples/flows/sum.json" || fail "the example flow is refused"
"${api[@]}" -X POST "$PLATEN_URL/flows/sum/publication" || fail "the example flow cannot be published"
cat <<END

A fleet of $apps services and $workers workers, behind nginx:

  address     http://127.0.0.1:$port
  admin key   $admin
  render key  $render
  services    $(seq -s' ' -f 'http://127.0.0.1:%.0f' $((first_app + 1)) $((first_app + apps)))
  database    $DATABASE_URL
  redis       redis://:$password@127.0.0.1:$redis_port
  bucket      $S3_ENDPOINT/platen (key platen, secret $s3_secret)
  prometheus  ${has_prometheus:+http://127.0.0.1:$prometheus_port}
  logs        $work/*.log

Make an invoice, on whichever service:

  curl -sS http://127.0.0.1:$port/render -H 'X-Api-Key: $render' -H 'Content-Type: application/json' -o invoice.pdf \\
    -d "{\"template\": \"invoice-de\", \"data\": \$(cat $root/examples/invoice-de/data.json)}"

Run a flow; a worker executes it:

  curl -sS http://127.0.0.1:$port/webhooks/sum/sync -H 'X-Api-Key: $render' -H 'Content-Type: application/json' -d '{}'

End a service, and send again:  kill -9 \$(cat $work/app-1.pid)
Ctrl-C ends everything.
END
# Returns when a signal comes; children that end do not end the fleet.
while :; do
    sleep 3600 &
    pause=$!
    wait "$pause" || true
done
