"""Writes a perf.data file whose samples are given addresses of given images, for tests and benchmarks of names."""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
sys.dont_write_bytecode = True
import make_capture  # noqa: E402

PID = 100


def mmap(address, size, path):
    name = path.encode() + b"\0"
    body = struct.pack("<IIQQQ", PID, PID, address, size, 0) + name.ljust((len(name) + 7) // 8 * 8, b"\0")
    return make_capture.record(1, make_capture.MISC_USER, body + make_capture.sample_id(0, 0, 0, 0))


def sample(address, index):
    body = struct.pack("<QIIQIIQ", address, PID, PID, make_capture.START + index * 1000, 0, 0, 1)
    body += struct.pack("<3Q", 2, make_capture.CONTEXT_USER, address)
    return make_capture.record(9, make_capture.MISC_USER, body)


def write(out, images, addresses):
    """`images`: (address, size, path), mapped from their first byte on; `addresses`: of memory, a sample each."""
    data = make_capture.comm(PID, PID, "demo", 0) + b"".join(mmap(*image) for image in images)
    data += b"".join(sample(address, i) for i, address in enumerate(addresses))
    write_records(out, data)


def write_records(out, data):
    """A file with the records `data`, whose samples are of the kind that sample() makes."""
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 4000, make_capture.SAMPLE_TYPE, 0,
                       make_capture.SAMPLE_ID_ALL | make_capture.FREQ).ljust(128, b"\0")
    header = struct.pack("<8sQQQQQQQ", b"PERFILE2", 104, 144, 104, 144, 256, len(data), 0) + bytes(40)
    pathlib.Path(out).write_bytes(header + attr + struct.pack("<QQQ", 248, 8, 1) + data)
