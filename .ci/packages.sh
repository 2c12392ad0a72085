#!/bin/sh
# Installs the programs that the tests check documents with, where that is allowed; says which.
set -eu
missing=""
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need pdftotext poppler-utils
need qpdf qpdf
need soffice "libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"
need cc gcc
[ -n "$missing" ] || exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "installing:$missing"
    apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "not installed:$missing; the tests that want them are skipped, or fail with REQUIRE_ALL=1"
fi
