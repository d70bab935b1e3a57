#!/usr/bin/env python3
"""Writes the wheel of a library and a program that were built: the same bytes for the same files.

    write_wheel.py --library FOLDER --program FILE --licences FOLDER --out FOLDER [--platform win_amd64] SOURCE

FOLDER of the library is what `cmake --install --component python` makes. The platform is `linux_MACHINE` unless it is said, which
auditwheel turns into the one that pip takes. SOURCE_DATE_EPOCH is the time of all members.
"""
import argparse
import base64
import email.message
import hashlib
import os
import pathlib
import platform
import time
import tomllib
import zipfile


class Wheel:
    """A zip whose members come in order, with one time, and with the list of their digests."""

    def __init__(self, path, info):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.info = info
        self.record = []
        # A zip begins in 1980.
        moment = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))
        self.time = moment[:6]

    def add(self, name, content, executable=False):
        member = zipfile.ZipInfo(name, self.time)
        member.compress_type = zipfile.ZIP_DEFLATED
        member.create_system = 3
        member.external_attr = (0o100755 if executable else 0o100644) << 16
        self.archive.writestr(member, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}\n")

    def close(self):
        name = f"{self.info}/RECORD"
        self.add(name, ("".join(self.record) + f"{name},,\n").encode())
        self.archive.close()


def metadata(project, source):
    message = email.message.Message()
    message["Metadata-Version"] = "2.1"
    message["Name"] = project["name"]
    message["Version"] = project["version"]
    message["Summary"] = project["description"]
    message["License"] = "Apache-2.0"
    message["Requires-Python"] = project["requires-python"]
    for dependency in project["dependencies"]:
        message["Requires-Dist"] = dependency
    for extra, dependencies in sorted(project["optional-dependencies"].items()):
        message["Provides-Extra"] = extra
        for dependency in dependencies:
            message["Requires-Dist"] = f"{dependency}; extra == '{extra}'"
    message["Description-Content-Type"] = "text/markdown"
    return message.as_bytes() + (source / project["readme"]).read_bytes()


def write(given):
    project = tomllib.loads((given.source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    tag = f"py3-none-{given.platform}"
    given.out.mkdir(parents=True, exist_ok=True)
    wheel = Wheel(given.out / f"{stem}-{tag}.whl", f"{stem}.dist-info")
    package = given.source / "python" / "stackpack"
    for path in sorted(package.iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            wheel.add(f"stackpack/{path.name}", path.read_bytes())
    for path in sorted(given.library.iterdir()):
        wheel.add(f"stackpack/{path.name}", path.read_bytes(), executable=path.suffix in (".so", ".dll"))
    wheel.add(f"{stem}.data/scripts/{given.program.name}", given.program.read_bytes(), executable=True)
    for name in ("LICENSE", "NOTICE"):
        wheel.add(f"{stem}.dist-info/{name}", (given.licences / name).read_bytes())
    for path in sorted((given.licences / "licences").iterdir()):
        wheel.add(f"{stem}.dist-info/licences/{path.name}", path.read_bytes())
    wheel.add(f"{stem}.dist-info/METADATA", metadata(project, given.source))
    wheel.add(f"{stem}.dist-info/WHEEL",
              f"Wheel-Version: 1.0\nGenerator: stackpack\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("library", "program", "licences", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--platform", default=f"linux_{platform.machine()}")
    parser.add_argument("source", type=pathlib.Path)
    write(parser.parse_args())


if __name__ == "__main__":
    main()
