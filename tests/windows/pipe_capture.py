"""A capture as perf writes it to a pipe, of any length, in pieces: every sample has a callstack of its own."""
import pathlib
import random
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import make_capture as perf  # noqa: E402

PIECE = 1000
DEPTH = 12


def head():
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 4000, perf.SAMPLE_TYPE, 0, perf.SAMPLE_ID_ALL | perf.FREQ)
    return (b"PERFILE2" + struct.pack("<Q", 16) + perf.record(64, 0, attr.ljust(128, b"\0") + struct.pack("<Q", 1))
            + perf.comm(100, 100, "demo", 0) + perf.mmap(100, 0x401000, 0x1000000, 0, "/usr/bin/demo", perf.MISC_USER))


def pieces(count):
    """`count` pieces of PIECE samples each; the same on every run."""
    chance = random.Random(20)
    yield head()
    for number in range(count):
        piece = []
        for index in range(number * PIECE, (number + 1) * PIECE):
            chain = [perf.CONTEXT_USER] + [chance.randrange(0x401000, 0x1401000) for _ in range(DEPTH)]
            body = struct.pack("<QIIQIIQ", chain[1], 100, 100, perf.START + index * 250_000, index % 2, 0, 1_000_000)
            piece.append(perf.record(9, perf.MISC_USER, body + struct.pack(f"<{1 + len(chain)}Q", len(chain), *chain)))
        yield b"".join(piece)
