#!/bin/sh
# The tests of gotenberg-go-client, a client of Gotenberg for Go, against a service.
#
#     client_go.sh FOLDER PAGE SERVICE
#
# FOLDER has the client and what it needs, as .ci/packages.sh leaves it. Its tests ask a service on port
# 3000, and want a page of the Internet: SERVICE and PAGE replace both addresses.
set -eu
folder=$1 page=$2 service=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$folder/." "$work"
cd "$work"
sed -i "s#http://localhost:3000#$service#g; s#https\?://example\.com#$page#g" ./*_test.go
if grep -q "localhost:3000\|example\.com" ./*_test.go || ! grep -q "$service" ./*_test.go; then
    echo "the tests have other addresses than expected" >&2
    exit 1
fi
go test -count=1 -v . >out 2>&1 || {
    cat out
    exit 1
}
# As many tests as the version that .ci/packages.sh fetches has.
test "$(grep -c '^--- PASS: Test' out)" = "$(grep -h -c '^func Test' ./*_test.go | awk '{ all += $1 } END { print all }')" || {
    cat out
    exit 1
}
echo done
