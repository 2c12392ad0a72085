#!/bin/sh
# Writes random keys into ./secrets, one file each; leaves those that exist.
set -eu
cd "$(dirname "$0")"
# Others cannot enter the folder. The user of the containers must be able to read the files.
mkdir -p secrets
chmod 700 secrets
umask 022
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
for name in api_key_admin api_key_render metrics_token worker_token postgres_password s3_secret_access_key; do
    [ -s "secrets/$name" ] || printf %s "$(random)" > "secrets/$name"
done
[ -s secrets/s3_access_key_id ] || printf %s platen > secrets/s3_access_key_id
[ -s secrets/database_url ] || printf 'postgres://platen:%s@postgres/platen?sslmode=disable' \
    "$(cat secrets/postgres_password)" > secrets/database_url
