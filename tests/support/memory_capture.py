"""Writes a capture of accesses to memory of every kind that perf mem and perf c2c tell apart, by several threads, processors and nodes."""
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import make_capture as capture  # noqa: E402

# Levels of hits and what snooping found, as processors of Intel report loads.
L1, LINE_BUFFER, L2, L3, RAM, REMOTE_RAM, REMOTE_CACHE, IO, UNCACHED = 8, 16, 32, 64, 128, 256, 1024, 2048, 4096
SNOOP_NONE, SNOOP_HIT, SNOOP_MISS, SNOOP_MODIFIED = 2, 4, 8, 16
LOADS = [(L1, SNOOP_NONE), (LINE_BUFFER, SNOOP_NONE), (L2, SNOOP_NONE), (L3, SNOOP_NONE), (L3, SNOOP_HIT), (L3, SNOOP_MISS),
         (L3, SNOOP_MODIFIED), (REMOTE_CACHE, SNOOP_HIT), (REMOTE_CACHE, SNOOP_MODIFIED), (RAM, SNOOP_HIT),
         (RAM, SNOOP_NONE | SNOOP_MISS), (REMOTE_RAM, SNOOP_HIT), (REMOTE_RAM, SNOOP_NONE | SNOOP_MISS)]
RARE_LOADS = [(IO, SNOOP_NONE), (UNCACHED, SNOOP_NONE)]
HIT, MISS = 2, 4
LOAD, STORE, PREFETCH = 2, 4, 8
TLBS = [2 | 8, 2 | 16, 4 | 8, 4 | 32]
FUNCTIONS = [0x401000 + 0x40 * i for i in range(8)]
KERNEL = 0xffffffff81000000
THREADS, PROCESSORS = 4, 4
FEATURES = {7: struct.pack("<II", PROCESSORS, PROCESSORS)}  # HEADER_NRCPUS


def numa_topology():
    """HEADER_NUMA_TOPOLOGY: two nodes of two processors each."""
    nodes = [(0, b"0-1"), (1, b"2-3")]
    return struct.pack("<I", len(nodes)) + b"".join(
        struct.pack("<IQQI", number, 1 << 20, 1 << 19, 64) + processors.ljust(64, b"\0") for number, processors in nodes)


FEATURES[14] = numa_topology()


def source(rnd, private):
    """Of a line of one mode of the processor, shared with others or not."""
    operation = PREFETCH if private and rnd.random() < 0.1 else STORE if rnd.random() < 0.35 else LOAD
    if operation == STORE:
        outcome, level, snoop = rnd.choice([HIT, MISS]), L1, 0  # what a processor tells of stores
    elif not private:
        outcome, (level, snoop) = HIT, rnd.choice(LOADS)
    elif rnd.random() < 0.2:
        outcome, level, snoop = MISS, rnd.choice([L1, L2, L3, LINE_BUFFER]), 0
    else:
        outcome, (level, snoop) = HIT, rnd.choice(LOADS[:6] + RARE_LOADS)
    lock = 2 if rnd.random() < 0.1 else 1
    return operation | (outcome | level) << 5 | snoop << 19 | lock << 24 | rnd.choice(TLBS) << 26


def place(rnd, in_kernel):
    """Whether a line is private, and an address in it."""
    private = rnd.random() < 0.3
    line = rnd.randrange(6, 40) if private else rnd.randrange(6)
    return private, (0xffff888100000000 if in_kernel else 0x7f0000000000) + 64 * line + 8 * rnd.randrange(4)


def sample(rnd, index):
    thread = rnd.randrange(THREADS)
    stack = [capture.CONTEXT_USER, *rnd.sample(FUNCTIONS, rnd.randrange(1, 4))]
    in_kernel = rnd.random() < 0.2
    if in_kernel:
        stack = [capture.CONTEXT_KERNEL, KERNEL + 0x10 * rnd.randrange(1, 4), *stack]
    private, address = place(rnd, in_kernel)
    body = struct.pack("<QIIQQ", stack[1], 100, 100 + thread, capture.START + 1000 * index, address)
    body += struct.pack("<IIQ", rnd.randrange(PROCESSORS), 0, 1) + struct.pack(f"<{1 + len(stack)}Q", len(stack), *stack)
    body += struct.pack("<IHHQQQ", rnd.randrange(1, 900), rnd.randrange(100), 0, source(rnd, private), 4096, 4096)
    return capture.record(9, capture.MISC_KERNEL if in_kernel else capture.MISC_USER, body)


def write(path, samples, seed=1):
    rnd = random.Random(seed)
    data = capture.mmap(-1, KERNEL, 0x1000000, KERNEL, "[kernel.kallsyms]_text", capture.MISC_KERNEL)
    data += capture.comm(100, 100, "demo", 0) + capture.mmap(100, 0x401000, 0x1000, 0x1000, "/usr/bin/demo", capture.MISC_USER)
    data += b"".join(sample(rnd, index) for index in range(samples))
    sample_type = capture.SAMPLE_TYPE | capture.SAMPLE_MEMORY
    attr = struct.pack("<IIQQQQQ", 4, 128, 0x1cd, 1, sample_type, 0, capture.SAMPLE_ID_ALL).ljust(128, b"\0")
    ids_at = 104 + len(attr) + 16
    data_at = ids_at + 8
    flags = sum(1 << number for number in FEATURES)
    header = struct.pack("<8sQQQQQQQQ4Q", b"PERFILE2", 104, len(attr) + 16, 104, len(attr) + 16, data_at, len(data), 0, 0, flags, 0, 0, 0)
    at = data_at + len(data) + 16 * len(FEATURES)
    table = b""
    for _, content in sorted(FEATURES.items()):
        table += struct.pack("<QQ", at, len(content))
        at += len(content)
    content = header.ljust(104, b"\0") + attr + struct.pack("<QQQ", ids_at, 8, 1) + data + table
    pathlib.Path(path).write_bytes(content + b"".join(content for _, content in sorted(FEATURES.items())))


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
