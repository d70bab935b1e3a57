#!/usr/bin/env python3
"""What a .spk file must not have: privacy_test.py PROGRAM

Converts a capture that is full of secrets, decompresses every byte of the output (a .spk file is a
sequence of zstd frames) and looks for them: stack memory, registers and raw tracepoint data are never
kept; with --redact neither are command lines, the host's name and user names in paths.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

IP, TID, TIME, CALLCHAIN, RAW, REGS_USER, STACK_USER = 1, 2, 4, 32, 1 << 10, 1 << 12, 1 << 13
SAMPLE_TYPE = IP | TID | TIME | CALLCHAIN | RAW | REGS_USER | STACK_USER
SAMPLE_ID_ALL = 1 << 18
HOST, COMMAND_LINE = 3, 11  # features

NEVER = {"stack memory": b"SECRET-STACK-MEMORY", "a register": b"REGISTER", "raw data": b"SECRET-RAW-DATA"}
REDACTED = {"the host's name": b"secret-host", "the command line": b"--secret-argument",
            "a user name": b"secret-alice", "a user name on Windows": b"secret-bob"}
KEPT = {"a program's name": b"secretive", "an image": b"/bin/tool", "a version": b"x.dll"}


def record(kind, body, misc=2):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample_id(time):
    return struct.pack("<IIQ", 7, 7, time)


def sample(time):
    raw = NEVER["raw data"]
    raw += bytes(-(len(raw) + 4) % 8)
    stack = NEVER["stack memory"].ljust(64, b"\1") * 4
    body = struct.pack("<QIIQ", 0x401010, 7, 7, time) + struct.pack("<4Q", 3, 2**64 - 512, 0x401010, 0x401000)
    body += struct.pack("<I", len(raw)) + raw
    body += struct.pack("<QQ", 2, int.from_bytes(NEVER["a register"], "little"))
    body += struct.pack("<Q", len(stack)) + stack + struct.pack("<Q", len(stack))
    return record(9, body)


def mmap(address, path):
    body = struct.pack("<IIQQQ", 7, 7, address, 0x1000, 0) + path.ljust((len(path) + 8) // 8 * 8, b"\0")
    return record(1, body + sample_id(1))


def text(value):
    value = value.ljust((len(value) + 64) // 64 * 64, b"\0")
    return struct.pack("<I", len(value)) + value


def capture():
    records = record(3, struct.pack("<II", 7, 7) + KEPT["a program's name"].ljust(16, b"\0") + sample_id(1))
    records += mmap(0x401000, b"/home/secret-alice" + KEPT["an image"])
    records += mmap(0x501000, b"C:\\Users\\secret-bob\\" + KEPT["a version"])
    records += b"".join(sample(10 + i) for i in range(5))
    attr = bytearray(struct.pack("<IIQQQQQ", 1, 128, 0, 4000, SAMPLE_TYPE, 0, SAMPLE_ID_ALL).ljust(128, b"\0"))
    struct.pack_into("<Q", attr, 80, 1 << 8)   # sample_regs_user: one register
    struct.pack_into("<I", attr, 88, 256)      # sample_stack_user
    features = [text(REDACTED["the host's name"]),
                struct.pack("<I", 2) + text(b"record") + text(REDACTED["the command line"])]
    at = 104 + 144
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 144, 104, 144, at, len(records), 0, 0)
    header += struct.pack("<QQQQ", 1 << HOST | 1 << COMMAND_LINE, 0, 0, 0)
    place = at + len(records) + 16 * len(features)
    table = b""
    for feature in features:
        table += struct.pack("<QQ", place, len(feature))
        place += len(feature)
    return header + bytes(attr) + struct.pack("<QQ", 0, 0) + records + table + b"".join(features)


def contents(program, source, *options):
    packed = source.with_suffix(".spk")
    subprocess.run([program, "convert", str(source), "-o", str(packed), "--quiet", *options], check=True)
    stored = packed.read_bytes()
    return stored + subprocess.run(["zstd", "-dcq", "--format=zstd"], input=stored, stdout=subprocess.PIPE,
                                   check=True).stdout


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    problems = []

    def look(found, secrets, wanted, where):
        for what, secret in secrets.items():
            if (secret in found) != wanted:
                problems.append(f"{where}: {what} is {'missing' if wanted else 'there'}")

    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "input.data"
        source.write_bytes(capture())
        look(source.read_bytes(), {**NEVER, **REDACTED, **KEPT}, True, "the capture")
        plain = contents(program, source)
        look(plain, NEVER, False, "without --redact")
        look(plain, {**REDACTED, **KEPT}, True, "without --redact")
        redacted = contents(program, source, "--redact")
        look(redacted, {**NEVER, **REDACTED}, False, "with --redact")
        look(redacted, KEPT, True, "with --redact")
    for problem in problems:
        print("FAILED " + problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
