#!/bin/sh
# Runs Gotenberg, which `.ci/packages.sh bench` has built, on a port of this machine until its standard
# input ends. Fails, and says what is missing, if it cannot run.
#
#     bench/gotenberg.sh PORT
#
# Its converter for LibreOffice is a script that PyPI does not have, so the program that the script comes
# from, unoconv, stands in; two options that unoconv does not know, both about indexes and headers, go.
#
# When Gotenberg replaces or ends its Chromium, it kills every process of the machine that looks like one
# (pkg/modules/chromium/browser.go), so it gets a process namespace of its own.
set -eu
port="$1"
home="${XDG_CACHE_HOME:-$HOME/.cache}/platen/gotenberg"
path_of() {
    for name; do
        command -v "$name" && return
    done
    echo "there is no $1" >&2
    return 1
}
chromium=$(path_of chromium-headless-shell chromium)
office=$(path_of soffice)
pdftk=$(path_of pdftk)
qpdf=$(path_of qpdf)
exiftool=$(path_of exiftool)
path_of unshare >/dev/null
TMPDIR=$(mktemp -d)
export TMPDIR
env \
    CHROMIUM_BIN_PATH="$chromium" CHROMIUM_HYPHEN_DATA_DIR_PATH="$home/hyphens" CHROMIUM_AUTO_START=true \
    LIBREOFFICE_BIN_PATH="$(dirname "$(readlink -f "$office")")/soffice.bin" LIBREOFFICE_AUTO_START=true \
    UNOCONVERTER_BIN_PATH="$home/unoconverter" PDFTK_BIN_PATH="$pdftk" QPDF_BIN_PATH="$qpdf" \
    EXIFTOOL_BIN_PATH="$exiftool" PDFCPU_BIN_PATH="$home/pdfcpu" \
    OTEL_TRACES_EXPORTER=none OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none \
    unshare --user --map-root-user --pid --fork --kill-child --mount-proc \
    "$home/gotenberg" --api-port "$port" --api-bind-ip 127.0.0.1 --log-level error >/dev/null &
gotenberg=$!
# Whichever ends first ends the other. With `unshare` ends all that is in its namespace.
exec 3<&0
(
    cat >/dev/null
    kill -KILL "$gotenberg" 2>/dev/null
) <&3 &
exec 3<&-
status=0
wait "$gotenberg" || status=$?
rm -rf "$TMPDIR"
exit "$status"
