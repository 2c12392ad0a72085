#!/bin/sh
# Speed of conversions by LibreOffice on this machine: a letter, 2.6 MB and 15 MB, in turns with `soffice --convert-to`.
set -eu
folder="${1:-out/office}"
rounds="${2:-5}"
cargo run --quiet -p xtask -- office "$folder"
cargo run --quiet --release -p platen-office --example measure -- "$folder" "$rounds"
