#!/bin/sh
# Starts Gotenberg, which `.ci/packages.sh bench` has built, on a port of this machine until its standard
# input ends.
#
#     bench/gotenberg.sh PORT
#
# Its converter for LibreOffice is a script that PyPI does not have, so the program that the script comes
# from, unoconv, stands in; two options that unoconv does not know, both about indexes and headers, go.
set -eu
port="$1"
home="${XDG_CACHE_HOME:-$HOME/.cache}/platen/gotenberg"
chromium=$(command -v chromium-headless-shell || command -v chromium)
office=$(dirname "$(readlink -f "$(command -v soffice)")")
env \
    CHROMIUM_BIN_PATH="$chromium" CHROMIUM_HYPHEN_DATA_DIR_PATH="$home/hyphens" CHROMIUM_AUTO_START=true \
    LIBREOFFICE_BIN_PATH="$office/soffice.bin" UNOCONVERTER_BIN_PATH="$home/unoconverter" \
    LIBREOFFICE_AUTO_START=true \
    PDFTK_BIN_PATH="$(command -v pdftk)" QPDF_BIN_PATH="$(command -v qpdf)" \
    EXIFTOOL_BIN_PATH="$(command -v exiftool)" PDFCPU_BIN_PATH="$home/pdfcpu" \
    OTEL_TRACES_EXPORTER=none OTEL_METRICS_EXPORTER=none OTEL_LOGS_EXPORTER=none \
    "$home/gotenberg" --api-port "$port" --api-bind-ip 127.0.0.1 --log-level error >/dev/null &
gotenberg=$!
trap 'kill "$gotenberg" 2>/dev/null; wait "$gotenberg" 2>/dev/null' EXIT
trap 'exit 1' INT TERM
cat >/dev/null
