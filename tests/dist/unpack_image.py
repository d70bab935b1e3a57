#!/usr/bin/env python3
"""Unpacks an image in the layout of the OCI, as a runtime does: unpack_image.py ARCHIVE ARCHITECTURE FOLDER

Every blob is checked against its digest and size.
"""
import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile


def blob(archive, descriptor):
    content = archive.extractfile("blobs/" + descriptor["digest"].replace(":", "/")).read()
    if "sha256:" + hashlib.sha256(content).hexdigest() != descriptor["digest"] or len(content) != descriptor["size"]:
        raise SystemExit(f"WRONG {descriptor['digest']}: another content")
    return content


def main():
    path, architecture, folder = sys.argv[1:]
    with tarfile.open(path) as archive:
        if json.load(archive.extractfile("oci-layout"))["imageLayoutVersion"] != "1.0.0":
            raise SystemExit("WRONG oci-layout")
        outer = json.load(archive.extractfile("index.json"))
        index = json.loads(blob(archive, outer["manifests"][0]))
        chosen = next(one for one in index["manifests"] if one["platform"]["architecture"] == architecture)
        manifest = json.loads(blob(archive, chosen))
        config = json.loads(blob(archive, manifest["config"]))
        layers = [gzip.decompress(blob(archive, layer)) for layer in manifest["layers"]]
    found = ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]
    if config["rootfs"]["diff_ids"] != found or config["architecture"] != architecture:
        raise SystemExit("WRONG config: other layers")
    for layer in layers:
        with tarfile.open(fileobj=io.BytesIO(layer)) as members:
            members.extractall(pathlib.Path(folder))


if __name__ == "__main__":
    main()
