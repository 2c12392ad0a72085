#!/usr/bin/env python3
"""Prints the size of an image of an OCI layout: size.py LAYOUT REFERENCE."""

import gzip
import json
import pathlib
import sys

layout, reference = pathlib.Path(sys.argv[1]), sys.argv[2]


def blob(digest):
    return layout / "blobs" / digest.replace(":", "/")


index = json.loads((layout / "index.json").read_text())
name = "org.opencontainers.image.ref.name"
found = [one for one in index["manifests"] if one.get("annotations", {}).get(name) == reference]
layers = json.loads(blob(found[-1]["digest"]).read_text())["layers"]
packed = sum(layer["size"] for layer in layers)
unpacked = 0
for layer in layers:
    with gzip.open(blob(layer["digest"])) as stream:
        while part := stream.read(1 << 20):
            unpacked += len(part)
print(f"{reference:12} {unpacked / 1e6:9.0f} MB {packed / 1e6:9.0f} MB")
