#!/usr/bin/env python3
"""Writes an image for containers, an archive in the layout of the OCI, for several machines: the same bytes for the same files.

    write_image.py --version VERSION --out FILE [--layers STEM] ARCHITECTURE=PROGRAM_FOLDER:BUSYBOX...

An image has /usr/bin/stackpack, the licences beside it, busybox with links for the shell and the tools that jobs use, and
an empty /tmp and /data. With --layers the files of each machine are in STEM-ARCHITECTURE.tar.gz as well, which is what
packaging/image/Dockerfile adds. SOURCE_DATE_EPOCH is the time of all of it.
"""
import argparse
import gzip
import hashlib
import io
import json
import os
import pathlib
import sys
import tarfile
import time

# What examples/fleet and docs/ci.md call, and what one looks around with.
TOOLS = ("awk basename cat cp cut date df dirname du env find grep gzip head id ln ls mkdir mktemp mv nproc printf rm sed "
         "sh sleep sort tail tar tee test touch tr true uname wc xargs").split()
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])


class Layer:
    """A tar with members of one owner and one time."""

    def __init__(self):
        self.buffer = io.BytesIO()
        self.tar = tarfile.open(fileobj=self.buffer, mode="w", format=tarfile.GNU_FORMAT)

    def _member(self, name, kind, mode):
        member = tarfile.TarInfo(name)
        member.type, member.mode, member.mtime = kind, mode, EPOCH
        return member

    def folder(self, name, mode=0o755):
        self.tar.addfile(self._member(name, tarfile.DIRTYPE, mode))

    def file(self, name, content, mode=0o644):
        member = self._member(name, tarfile.REGTYPE, mode)
        member.size = len(content)
        self.tar.addfile(member, io.BytesIO(content))

    def link(self, name, target):
        member = self._member(name, tarfile.SYMTYPE, 0o777)
        member.linkname = target
        self.tar.addfile(member)

    def bytes(self):
        self.tar.close()
        return self.buffer.getvalue()


def layer_of(program, busybox):
    layer = Layer()
    for name in ("bin", "data", "etc", "usr", "usr/bin", "usr/share", "usr/share/doc", "usr/share/doc/stackpack",
                 "usr/share/doc/stackpack/licences"):
        layer.folder(name)
    layer.folder("tmp", 0o1777)
    layer.file("bin/busybox", busybox.read_bytes(), 0o755)
    for tool in TOOLS:
        layer.link(f"bin/{tool}", "busybox")
    layer.file("etc/passwd", b"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n")
    layer.file("usr/bin/stackpack", (program / "stackpack").read_bytes(), 0o755)
    for path in [program / "LICENSE", program / "NOTICE", *sorted((program / "licences").iterdir())]:
        layer.file(f"usr/share/doc/stackpack/{path.relative_to(program)}", path.read_bytes())
    return layer.bytes()


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Archive:
    """The layout: blobs by their digest, and an index."""

    def __init__(self, version):
        self.version = version
        self.blobs = {}
        self.manifests = []

    def _blob(self, content, kind):
        self.blobs[digest(content)] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest(content), "size": len(content)}

    def _json(self, value, kind):
        return self._blob(json.dumps(value, sort_keys=True).encode(), kind)

    def add(self, architecture, layer):
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
        labels = {"org.opencontainers.image.title": "stackpack", "org.opencontainers.image.version": self.version,
                  "org.opencontainers.image.licenses": "Apache-2.0"}
        config = {"architecture": architecture, "os": "linux", "created": created,
                  "config": {"Entrypoint": None, "Cmd": ["stackpack", "--help"], "Env": ["PATH=/usr/bin:/bin"],
                             "WorkingDir": "/data", "User": "", "Labels": labels},
                  "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
                  "history": [{"created": created, "created_by": "scripts/dist"}]}
        manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                    "config": self._json(config, "config.v1+json"),
                    "layers": [self._blob(gzip.compress(layer, 9, mtime=0), "layer.v1.tar+gzip")]}
        self.manifests.append(self._json(manifest, "manifest.v1+json") |
                              {"platform": {"architecture": architecture, "os": "linux"}})

    def write(self, path):
        index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": self.manifests}
        # Both machines under one name: an index of an index.
        inner = self._json(index, "index.v1+json") | {"annotations": {
            "org.opencontainers.image.ref.name": self.version, "io.containerd.image.name": f"stackpack:{self.version}"}}
        outer = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [inner]}
        archive = Layer()
        archive.file("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        archive.file("index.json", json.dumps(outer, sort_keys=True).encode())
        for name in sorted(self.blobs):
            archive.file("blobs/" + name.replace(":", "/"), self.blobs[name])
        path.write_bytes(archive.bytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--layers", type=pathlib.Path)
    parser.add_argument("machines", nargs="+", metavar="ARCHITECTURE=PROGRAM_FOLDER:BUSYBOX")
    given = parser.parse_args()
    archive = Archive(given.version)
    for machine in given.machines:
        architecture, _, paths = machine.partition("=")
        program, _, busybox = paths.partition(":")
        layer = layer_of(pathlib.Path(program), pathlib.Path(busybox))
        archive.add(architecture, layer)
        if given.layers is not None:
            given.layers.with_name(f"{given.layers.name}-{architecture}.tar.gz").write_bytes(gzip.compress(layer, 9, mtime=0))
    archive.write(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
