#!/usr/bin/env python3
"""Small files that promise much cost little: at most 128 MiB and a second, whatever the command.

    bounds_test.py PROGRAM WRITE_HOSTILE SANITIZED [--table]

The captures are made here, the .spk files by WRITE_HOSTILE. With SANITIZED 1 the program is
instrumented: memory is not measured then, and time generously. What a sanitizer reports ends the
program with SANITIZER_STATUS, which is no status of its own.

That the program works at all is looked at as well: a good capture is converted and listed first, a
conversion that succeeds leaves a file that verifies, and what fails says why in a line.
"""
import gzip
import io
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib

MOST_BYTES = 128 << 20
MOST_SECONDS = 1.0       # of processor time, besides what is written
WRITTEN_A_SECOND = 50e6  # bytes; what a file stores once may be written many times
MOST_FILE_BYTES = 4096   # some files must be that large to be bombs at all
PATIENCE = 60            # seconds of the clock; five times as many under a sanitizer
MAX64 = (1 << 64) - 1


# --- perf.data ------------------------------------------------------------------------------------

def record(kind, body, misc=2, size=None):
    return struct.pack("<IHH", kind, misc, size if size is not None else 8 + len(body)) + body


def attr(sample_type=0x27, size=128):
    return struct.pack("<IIQQQQQ", 1, size, 0, 4000, sample_type, 0, 1 << 18).ljust(128, b"\0")


def perf_pipe(*records):
    return b"PERFILE2" + struct.pack("<Q", 16) + record(64, attr()) + b"".join(records)


def perf_file(records=b"", attrs=None, entry=144, ids=(0, 0), data_size=None, features=0, tail=b""):
    attrs = attr() + struct.pack("<QQ", *ids) if attrs is None else attrs
    at = 104 + len(attrs)
    data_size = len(records) if data_size is None else data_size
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, entry, 104, len(attrs), at, data_size, 0, 0)
    return header + struct.pack("<QQQQ", features, 0, 0, 0) + attrs + records + tail


def zstd_bomb(blocks, window_log):
    """A zstd frame of RLE blocks of 128 KiB, four bytes each; a run of eights is unknown records."""
    frame = struct.pack("<IBB", 0xFD2FB528, 0, (window_log - 10) << 3)
    for i in range(blocks):
        frame += struct.pack("<I", (i + 1 == blocks) | 1 << 1 | (1 << 17) << 3)[:3] + b"\x08"
    return frame


def perf_captures():
    chain = struct.pack("<QIIQ", 1, 1, 1, 5)
    yield "perf-chain-huge", perf_pipe(record(9, chain + struct.pack("<Q", MAX64)))
    yield "perf-chain-2^61", perf_pipe(record(9, chain + struct.pack("<Q", 1 << 61)))
    yield "perf-ids-huge", perf_file(records=record(9, chain), ids=(0, MAX64 & ~7))
    yield "perf-ids-large", perf_file(records=record(9, chain), ids=(104, 1 << 40))
    yield "perf-attrs-huge", (b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 16, 104, MAX64 - 200, 500, 0, 0, 0)
                              + bytes(400))
    yield "perf-data-huge", perf_file(records=record(9, chain) * 4, data_size=MAX64 - 300)
    yield "perf-features-all", perf_file(records=record(9, chain), features=MAX64,
                                         tail=struct.pack("<QQ", 300, MAX64 - 300) * 64)
    yield "perf-feature-text-huge", perf_file(records=record(9, chain), features=1 << 3,
                                             tail=struct.pack("<QQ", 248 + 32 + 16, 604)
                                              + struct.pack("<I", 0xFFFFFFFF) + bytes(600))
    yield "perf-feature-count-huge", perf_file(records=record(9, chain), features=1 << 12,
                                               tail=struct.pack("<QQ", 248 + 32 + 16, 612)
                                               + struct.pack("<III", 0xFFFFFFFF, 128, 0xFFFFFFFF) + bytes(600))
    for kind in (81, 83):
        for window in (17, 27, 30):
            frame = zstd_bomb(230, window)
            body = struct.pack("<Q", len(frame)) + frame if kind == 83 else frame
            yield f"perf-compressed-{kind}-window-{window}", perf_pipe(record(kind, body + bytes(-len(body) % 8)))
    yield "perf-id-index-huge", perf_pipe(record(69, struct.pack("<Q", MAX64) + bytes(64)))
    yield "perf-auxtrace-huge", perf_pipe(record(71, struct.pack("<QQQIIII", MAX64 - 8, 0, 0, 0, 0, 0, 0)))
    yield "perf-tracing-data-huge", perf_pipe(record(66, struct.pack("<I", 0xFFFFFFFF)))
    yield "perf-attr-size-huge", b"PERFILE2" + struct.pack("<Q", 16) + record(64, attr(size=0xFFFFFFF0))
    yield "perf-no-size", perf_pipe(record(9, chain, size=0))
    yield "perf-bits-all", perf_pipe(record(64, attr(sample_type=MAX64)), record(9, bytes(900)))


# --- .etl -----------------------------------------------------------------------------------------

def etl_buffer(body, size=None, saved=None, flags=0, kind=0, processor=0, sequence=0):
    size = 72 + len(body) if size is None else size
    saved = size if saved is None else saved
    head = bytearray(72)
    struct.pack_into("<II", head, 0, size, saved)
    struct.pack_into("<Q", head, 16, 5)
    struct.pack_into("<Q", head, 24, sequence)
    struct.pack_into("<H", head, 40, processor)
    struct.pack_into("<I", head, 44, 3)
    struct.pack_into("<I", head, 48, saved)
    struct.pack_into("<HH", head, 52, flags, kind)
    return bytes(head) + body


def etl_header(buffer_size, processors=4, method=2, mode=0x04000000):
    body = bytearray(struct.pack("<HBBHBBIIQII", 2, 2, 0xC0, 32 + 280, 0, 0, 1, 1, 1, 0, 0))
    fields = bytearray(280)
    struct.pack_into("<IIIIQIIIIII", fields, 0, buffer_size, 0x501000A, 19041, processors, 100, 156250, 0,
                     mode | method, 0xFFFFFFFF, 1, 8)
    struct.pack_into("<Q", fields, 260, 10_000_000)
    return etl_buffer(bytes(body + fields), flags=4, kind=4)


def etl_captures():
    yield "etl-header-alone", etl_header(0xFFFFFFFF, 0xFFFFFFFF)
    for method in (0, 1, 2, 3):
        zeros = bytes(600)
        yield f"etl-compressed-{method}-huge", (etl_header(1 << 20, method=method)
                                                + etl_buffer(zeros, saved=0xFFFFFFF0, flags=0x40))
        yield f"etl-compressed-{method}-1M", (etl_header(1 << 20, method=method)
                                              + etl_buffer(b"\xff" * 600, saved=1 << 20, flags=0x40) * 3)
    yield "etl-buffer-huge", etl_header(1 << 20) + etl_buffer(bytes(100), size=0xFFFFFFF0)
    yield "etl-many-processors", etl_header(1024) + b"".join(
        etl_buffer(bytes(8), processor=i * 1009 % 65536, sequence=i, flags=0x20) for i in range(30))
    event = struct.pack("<HBBHBB", 2, 2, 0xC0, 0xFFFF, 32, 24)
    yield "etl-event-huge", etl_header(1 << 20) + etl_buffer(event + bytes(300))


# --- the others -----------------------------------------------------------------------------------

def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def pprof_captures():
    value = field(1, varint(8) + varint(1))
    yield "pprof-length-huge", value + varint(2 << 3 | 2) + varint(MAX64 >> 1)
    yield "pprof-id-huge", value + field(4, varint(8) + varint(MAX64)) + field(5, varint(8) + varint(MAX64))
    yield "pprof-gzip-zeros", gzip.compress(value + bytes(2 << 20))
    yield "pprof-gzip-message", gzip.compress(value + field(6, bytes(2 << 20)))
    yield "pprof-gzip-samples", gzip.compress(value + field(2, field(1, b"\1" * 4) + field(2, b"\1")) * 50_000)
    yield "pprof-gzip-strings", gzip.compress(value + field(6, b"") * 400_000)


def zip_captures():
    def archive(content, name="capture.etl"):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
            made.writestr(name, content)
        return bytearray(out.getvalue())

    yield "zip-zeros", bytes(archive(bytes(3 << 20)))
    lying = archive(bytes(1000))
    at = lying.rindex(b"PK\1\2")
    struct.pack_into("<I", lying, at + 24, 0xFFFFFFF0)
    yield "zip-size-lies", bytes(lying)
    nested = zlib.compress(bytes(1 << 20))
    yield "zip-folded", bytes(archive(b"main;leaf 1\n" * 100_000, "x.folded"))
    yield "zip-stored-zlib", bytes(archive(nested))


def folded_captures():
    yield "folded-weight-huge", b"main;leaf 1\n" * 20 + b"main;leaf 99999999999999999999999\nmain;leaf 18446744073709551615\n" * 10
    yield "folded-deep", b"a;" * 2000 + b"b 1\n"


CAPTURES = [perf_captures, etl_captures, pprof_captures, zip_captures, folded_captures]
READERS = [
    ["stats", "--json", "{file}"],
    ["dump", "--stacks", "{file}"],
    ["dump", "--samples", "{file}"],
    ["dump", "--processes", "{file}"],
    ["dump", "--events", "{file}"],
    ["dump", "--metadata", "--json", "{file}"],
    ["show", "{file}", "0"],
    ["verify", "{file}"],
    ["export", "{file}", "--to", "folded", "-o", "{out}"],
    ["export", "{file}", "--to", "pprof", "-o", "{out}"],
    ["export", "{file}", "--to", "speedscope", "-o", "{out}"],
    ["export", "{file}", "--to", "firefox", "-o", "{out}"],
    ["export", "{file}", "--to", "otlp", "-o", "{out}"],
    ["export", "{file}", "--to", "perfetto", "-o", "{out}"],
    ["export", "{file}", "--to", "csv", "-o", "{out}.csv"],
]
# The listing of few nodes can be long without end: it is what was asked for. Memory stays small.
ENDLESS = {"deep"}
SANITIZER_STATUS = 99
# A usage error only where nothing is selected: stack 0 of a file without stacks, samples to export.
REFUSALS = {2, 4}
REFUSALS_OF_SELECTIONS = {1, 2, 4}
LEAST_REFUSED = 40       # of all runs; the files are damaged on purpose


def run(program, arguments, sanitized, endless):
    """What is wrong, or nothing; and seconds and bytes."""
    status_option = f"exitcode={SANITIZER_STATUS}"
    environment = {**os.environ, "LC_ALL": "C", "UBSAN_OPTIONS": status_option,
                   "ASAN_OPTIONS": f"allocator_may_return_null=1:{status_option}"}
    begun = time.monotonic()
    child = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    written = []
    counter = threading.Thread(target=lambda: written.extend(map(len, iter(lambda: child.stdout.read(1 << 20), b""))))
    counter.start()
    error = child.stderr.read(20_000)
    child.stderr.close()
    counter.join()
    child.stdout.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10
    problem = None
    # After the reason, one line for each format that was tried.
    lines = [line for line in error.decode(errors="replace").splitlines() if ": not read as " not in line]
    refusals = REFUSALS_OF_SELECTIONS if arguments[0] in ("show", "export") else REFUSALS
    if child.returncode not in refusals | {0}:
        problem = f"ended with {child.returncode}: {' / '.join(lines)[-300:]}"
    elif child.returncode != 0 and not (len(lines) == 1 and lines[0].startswith("stackpack: ")):
        problem = f"ended with {child.returncode}, but does not say why in a line: {lines[:3]}"
    elif seconds > MOST_SECONDS + sum(written) / WRITTEN_A_SECOND and not endless and not sanitized:
        problem = f"took {seconds:.2f} s"
    elif memory > MOST_BYTES and not sanitized:
        problem = f"took {memory >> 20} MiB"
    elif time.monotonic() - begun > PATIENCE * (5 if sanitized else 1) and not endless:
        problem = "took too long"
    return problem, child.returncode, seconds, memory


def check_good_capture(program, folder):
    """What a program that does nothing gets wrong."""
    capture, packed = folder / "good", folder / "good.spk"
    capture.write_bytes(perf_pipe(*[record(9, struct.pack("<QIIQQQ", 0x2000, 1, 1, 5 + i, 1, 0x2000))
                                    for i in range(3)]))
    subprocess.run([program, "convert", str(capture), "-o", str(packed), "--quiet"], check=True)
    listing = subprocess.run([program, "dump", "--stacks", str(packed)], check=True, capture_output=True).stdout
    if listing != b"3 u2000\n":
        raise SystemExit(f"FAILED a good capture: {listing!r}")


def check_output(program, path):
    """A conversion that succeeded left a file that verifies."""
    if not path.exists():
        return "success, but no output"
    done = subprocess.run([program, "verify", "--quiet", str(path)], stderr=subprocess.PIPE, check=False)
    path.unlink()
    return f"output does not verify: {done.stderr[-300:]}" if done.returncode != 0 else None


def main():
    program, write_hostile, sanitized = sys.argv[1:4]
    sanitized = sanitized == "1"
    problems, worst, runs, refused = [], {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_good_capture(program, folder)
        jobs = []
        for make in CAPTURES:
            for name, content in make():
                assert len(content) <= MOST_FILE_BYTES, (name, len(content))
                path = folder / name
                path.write_bytes(content)
                jobs.append((name, ["convert", str(path), "-o", str(folder / "out.spk")]))
        subprocess.run([write_hostile, str(folder / "spk")], check=True)
        for path in sorted((folder / "spk").iterdir()):
            assert path.stat().st_size <= MOST_FILE_BYTES, (path.name, path.stat().st_size)
            for reader in READERS:
                jobs.append((path.stem, [part.format(file=path, out=folder / "out") for part in reader]))
        for name, arguments in jobs:
            problem, status, seconds, memory = run(program, arguments, sanitized, name in ENDLESS)
            runs += 1
            refused += status != 0
            if problem is None and status == 0 and arguments[0] == "convert":
                problem = check_output(program, folder / "out.spk")
            what = f"{name}: {' '.join(part for part in arguments[:4] if '/' not in part)}"
            if problem:
                problems.append(f"{what}: {problem}")
            worst[what] = (memory, seconds)
    if "--table" in sys.argv:
        for what, (memory, seconds) in sorted(worst.items(), key=lambda item: -item[1][0])[:15]:
            print(f"{memory / (1 << 20):7.1f} MiB {seconds:6.2f} s  {what}")
    if refused < LEAST_REFUSED:
        problems.append(f"{refused} of {runs} runs refused their file: fewer than {LEAST_REFUSED}")
    for problem in problems:
        print("FAILED " + problem)
    most = max(memory for memory, _ in worst.values()) / (1 << 20)
    longest = max(seconds for _, seconds in worst.values())
    print(f"{runs} runs, {refused} refused, at most {most:.0f} MiB and {longest:.2f} s, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
