#!/usr/bin/env python3
"""Checks a wheel as installers read it, whatever machine it is for: check_wheel.py WHEEL

Every member is in RECORD with its digest, the tag is that of the name, the program and its licences are there.
"""
import base64
import csv
import hashlib
import io
import pathlib
import sys
import zipfile


def fail_unless(condition, what):
    if not condition:
        raise SystemExit(f"WRONG {sys.argv[1]}: {what}")


def main():
    path = pathlib.Path(sys.argv[1])
    name, version, tag = path.stem.split("-", 2)
    with zipfile.ZipFile(path) as archive:
        # auditwheel names folders, too, which RECORD does not.
        members = {member: archive.read(member) for member in archive.namelist() if not member.endswith("/")}
        modes = {member.filename: member.external_attr >> 16 for member in archive.infolist()}
    about = f"{name}-{version}.dist-info"
    rows = list(csv.reader(io.StringIO(members[f"{about}/RECORD"].decode())))
    fail_unless({row[0] for row in rows} == set(members), "RECORD and members differ")
    for member, digest, size in rows:
        if member != f"{about}/RECORD":
            made = base64.urlsafe_b64encode(hashlib.sha256(members[member]).digest()).rstrip(b"=").decode()
            fail_unless(digest == f"sha256={made}" and int(size) == len(members[member]), f"{member}: digest")
    wheel = members[f"{about}/WHEEL"].decode().splitlines()
    tags = {line.partition(": ")[2] for line in wheel if line.startswith("Tag: ")}
    python, abi, platforms = tag.split("-")
    fail_unless(tags == {f"{python}-{abi}-{platform}" for platform in platforms.split(".")}, f"tags {tags}")
    is_windows = platforms.startswith("win")
    program = f"{name}-{version}.data/scripts/stackpack" + (".exe" if is_windows else "")
    library = "stackpack/" + ("stackpack.dll" if is_windows else "libstackpack.so")
    for member, begins in ((program, b"MZ" if is_windows else b"\x7fELF"), (library, b"MZ" if is_windows else b"\x7fELF")):
        fail_unless(members.get(member, b"").startswith(begins), f"{member} is missing, or no program")
    fail_unless(modes[program] & 0o111, "the program is not executable")
    fail_unless("stackpack/py.typed" in members, "stackpack/py.typed is missing")
    for member in ("stackpack/c_reader.h", "stackpack/arrow_c_data.h", f"{about}/LICENSE", f"{about}/NOTICE",
                   f"{about}/METADATA"):
        fail_unless(members.get(member), f"{member} is missing")
    fail_unless(any(member.startswith(f"{about}/licences/") for member in members), "licences are missing")
    print(f"ok    {path.name}: {len(members)} members")


if __name__ == "__main__":
    main()
