#!/usr/bin/env python3
"""A directory without times beside `perf report`: files that map libraries at one address by turns, with what perf reads of a file at once.

    directory_turns_test.py STACKPACK
"""
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import perf_directory  # noqa: E402

SAMPLE_TYPE, SAMPLE_ID_ALL = 1 | 2 | 32, 1 << 18  # ip, tid, callchain
DIR_FORMAT = 24  # the feature that says there are more files
CODE, PID, MB = 0x500000, 100, 1 << 20


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapping(path, address):
    ids = struct.pack("<II", PID, PID)
    return record(1, 2, ids + struct.pack("<QQQ", address, 0x1000, 0) + path.encode().ljust(24, b"\0") + ids)


def sample(depth):
    chain = [2**64 - 512, CODE + 16] + [0x401000] * depth
    return record(9, 2, struct.pack(f"<QIIQ{len(chain)}Q", CODE + 16, PID, PID, len(chain), *chain))


def part(rnd, name, size):
    """Samples in the libraries NAME0 to NAME2, which take each other's place every 700 samples."""
    data, count = bytearray(), 0
    while len(data) < size:
        if count % 700 == 0:
            data += mapping(f"/lib/{name}{count // 700 % 3}.so", CODE)
        data += sample(rnd.randrange(10, 60))
        count += 1
    return bytes(data)


def main_file():
    ids = struct.pack("<II", PID, PID)
    data = record(3, 0, ids + b"demo".ljust(16, b"\0") + ids) + mapping("/bin/demo", 0x401000)
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1, SAMPLE_TYPE, 0, SAMPLE_ID_ALL).ljust(128, b"\0") + bytes(16)
    begin = 104 + len(attr)
    header = struct.pack("<8sQQQQQQQQ4Q", b"PERFILE2", 104, len(attr), 104, len(attr), begin, len(data), 0, 0, 1 << DIR_FORMAT, 0, 0, 0)
    return header + attr + data + struct.pack("<QQQ", begin + len(data) + 16, 8, 1)


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def main():
    if shutil.which("perf") is None:
        print("perf is not there")
        return 77
    rnd, bad = random.Random(1), 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for sizes in ([7 * MB, 0, 5 * MB, 5 * MB // 2, 300_000], [3 * MB, 3 * MB], [2 * MB, 2 * MB + 1, 4 * MB], [100_000, 200_000, 9 * MB]):
            capture = folder / "capture"
            shutil.rmtree(capture, ignore_errors=True)
            capture.mkdir()
            (capture / "data").write_bytes(main_file())
            for number, size in enumerate(sizes):
                (capture / f"data.{number}").write_bytes(part(rnd, "abcde"[number], size))
            text = run("perf", "report", "-i", perf_directory.as_perf_reads(capture, folder / "listed"), "--stdio", "--no-children", "-g", "none",
                       "-s", "dso", "-F", "sample,dso", "-t", "|")
            rows = [line.split("|") for line in text.splitlines() if line.strip() and not line.startswith("#")]
            perf = {library.strip(): int(samples) for samples, library in rows}
            run(sys.argv[1], "convert", capture, "-o", folder / "out.spk", "-q", "--force")
            found = json.loads(run(sys.argv[1], "top", folder / "out.spk", "--by", "module", "--self", "-n", "0", "--json"))
            ours = {row["name"]: row["self"] for row in found["rows"] if row["self"]}
            print(f"{sizes}: {len(perf)} libraries: {'the same' if perf == ours else f'perf {perf}, here {ours}'}")
            bad += perf != ours or not perf
    return 1 if bad else 0


sys.exit(main())
