#!/usr/bin/env python3
"""Names the same traces with the program for Windows, run by wine, and with the one of this system: the same bytes,
listings and reports.

    same_names_test.py PROGRAM STACKPACK_EXE IMAGE_TRACE_EXE TESTDATA

Two kinds of traces: image_trace makes one of every image that lies beside its PDB, in testdata/symbols and in symbols/
of $STACKPACK_CORPUS. And of the traces in etl/ of the corpus, whose PDBs are not there, the images with most addresses
get a PDB that is there under their identity: the names are wrong, but found as the right ones would be. Symbol stores
have each of their layouts. Ends with 77 where there is no wine.
"""
import json
import os
import pathlib
import re
import shutil
import struct
import sys
import tempfile

from same_bytes_test import Pair, compare_files

READABLE = "shapes::operator<(struct shapes::Polygon<int, 3> const &, struct shapes::Polygon<int, 3> const &)"
LINKED = "??Mshapes@@YA_NAEBU?$Polygon@H$02@0@0@Z"
MOST_IMAGES = 24
LAYOUTS = ("flat", "store", "two-tier")


def layout_place(folder, layout, name, identity):
    """Where a store has a PDB."""
    if layout == "flat":
        return folder / name
    if layout == "store":
        return folder / name / identity / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index2.txt").touch()
    return folder / name[:2] / name / identity / name


def put(place, content):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


def with_identity(pdb, identity):
    """The PDB as if it were another one: its GUID and both of its ages."""
    guid = bytes.fromhex(identity[:32])
    guid = guid[3::-1] + guid[5:3:-1] + guid[7:5:-1] + guid[8:]
    age = struct.pack("<I", int(identity[32:], 16))
    info = pdb.index(struct.pack("<I", 20000404))
    tables = pdb.index(struct.pack("<iI", -1, 19990903))
    changed = bytearray(pdb)
    changed[info + 8:info + 28] = age + guid
    changed[tables + 8:tables + 12] = age
    return bytes(changed)


def modules(pair, packed, folder):
    listing = pair.run(pair.here, ["dump", packed, "--modules", "--json"], folder).stdout
    return json.loads(listing)


class Naming:
    def __init__(self, pair, folders):
        self.pair = pair
        self.folders = folders
        self.named = 0

    def name(self, packed, store, output):
        """Both name; the number of addresses with a name, as this system's program counts them."""
        ends = self.pair.both(["symbolize", packed, "-o", output, "--symbols", str(store), "--json"], self.folders)
        self.pair.both(["dump", output, "--names"], self.folders)
        self.pair.both(["dump", output, "--functions"], self.folders)
        self.pair.both(["top", output, "--by", "line"], self.folders)
        return json.loads(ends[0].stdout)

    def check_images(self, trace_maker, images, work):
        for image in images:
            trace = work / (image.stem + ".etl")
            made = self.pair.run([self.pair.there[0], trace_maker], [str(image), str(trace)], work)
            if made.returncode != 0:
                self.pair.problems.append(f"{image.name}: {made.stderr!r}")
                continue
            packed = image.stem + ".spk"
            self.pair.both(["convert", str(trace), "-o", packed], self.folders)
            module = next(entry for entry in modules(self.pair, packed, self.folders[0]) if entry["debug_name"])
            for layout in LAYOUTS:
                store = work / layout / image.stem
                put(layout_place(store, layout, module["debug_name"], module["build_id"]),
                    image.with_suffix(".pdb").read_bytes())
                report = self.name(packed, store, f"{image.stem}.{layout}.spk")
                self.named += report["named"]["addresses"]
                if report["named"]["addresses"] < 50:
                    self.pair.problems.append(f"{image.name}, {layout}: {report['named']}")

    def check_readable(self):
        """Names that Microsoft's compiler made of C++."""
        readers = ["LLVM demangler (" in self.pair.run(program, ["--version"], self.folders[0]).stdout.decode()
                   for program in (self.pair.here, self.pair.there)]
        for program, folder, reads in zip((self.pair.here, self.pair.there), self.folders, readers):
            names = self.pair.run(program, ["dump", "mangled.store.spk", "--names"], folder).stdout.decode()
            wanted, other = (READABLE, LINKED) if reads else (LINKED, READABLE)
            if wanted not in names or other in names:
                self.pair.problems.append(f"names of C++: no {wanted}, or also {other}")
        print(f"names of Microsoft's compiler are {'read' if readers[1] else 'not read'} by the program for Windows")
        if not readers[1]:
            self.pair.problems.append("the program for Windows was built without LLVM's demangler")

    def check_traces(self, traces, pdb, work):
        for trace in traces:
            packed = f"trace.{trace.stem}.spk"
            self.pair.both(["convert", str(trace), "-o", packed], self.folders)
            before = self.name(packed, work, f"{trace.stem}.bare.spk")
            asked = {image["build_id"]: image["asked"] for image in before["images"] if image["build_id"]}
            found = {entry["build_id"]: entry["debug_name"] for entry in modules(self.pair, packed, self.folders[0])
                     if entry["debug_name"] and entry["build_id"] in asked}
            most = sorted(found, key=lambda identity: (-asked[identity], identity))[:MOST_IMAGES]
            for number, identity in enumerate(most):
                layout = LAYOUTS[1 + number % 2]
                put(layout_place(work / f"{trace.stem}.{layout}", layout, found[identity], identity),
                    with_identity(pdb, identity))
            for layout in LAYOUTS[1:] if most else ():
                after = self.name(packed, work / f"{trace.stem}.{layout}", f"{trace.stem}.{layout}.spk")
                fitting = sum(image["reason"] != "no PDB" for image in after["images"] if image["build_id"] in most)
                self.named += after["named"]["addresses"] - before["named"]["addresses"]
                if fitting < len(most[LAYOUTS.index(layout) - 1::2]):
                    self.pair.problems.append(f"{trace.name}, {layout}: {fitting} of {len(most)} PDBs were taken")


def main():
    if shutil.which("wine") is None:
        print("no wine: the program for Windows is not tried")
        return 77
    pair = Pair(*(str(pathlib.Path(path).resolve()) for path in sys.argv[1:3]))
    trace_maker = str(pathlib.Path(sys.argv[3]).resolve())
    own = pathlib.Path(sys.argv[4]).resolve() / "symbols"
    corpus = pathlib.Path(os.environ.get("STACKPACK_CORPUS", own / "none"))
    images = sorted(image for folder in (own, corpus / "symbols") for image in folder.glob("*")
                    if re.fullmatch(r"\.(dll|exe)", image.suffix) and image.with_suffix(".pdb").exists())
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        folders = [work / "here", work / "there"]
        for folder in folders:
            folder.mkdir()
        naming = Naming(pair, folders)
        naming.check_images(trace_maker, images, work)
        naming.check_readable()
        naming.check_traces(sorted((corpus / "etl").glob("*.etl")), max(
            (image.with_suffix(".pdb") for image in images), key=lambda pdb: pdb.stat().st_size).read_bytes(), work)
        count = compare_files(pair, folders, "names")
    print(f"{len(images)} images, {count} files, {naming.named} addresses with names")
    print("\n".join(pair.problems) or "the same names on both systems")
    return 1 if pair.problems else 0


if __name__ == "__main__":
    sys.exit(main())
