"""Writes perf.data files with more of everything than a block of a .spk file holds, the same on every run:
make_many.py OUT samples|waits|accesses|branches|processes|nodes COUNT

Two events with ids, 40 processes of which every tenth is forked and ends, 160 threads, and callstacks that run through a random
tree. `waits`: threads leave the processor after each sample. `accesses`: samples have data addresses, latencies and control
groups. `branches`: samples have eight branches. `processes`: each sample is of a process of its own, with mappings.
`nodes`: callstacks have hardly anything in common.
"""
import struct
import sys

import make_capture as one

IDENTIFIER = 1 << 16
FORK, EXIT = 7, 4
START = one.START
GROUPS = [f"/slice/{name}" for name in "abcdefg"]


class Numbers:
    """The same pseudo-random numbers with every version of Python."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % bound


def chains(numbers, count):
    """Callstacks, leaf first, that share what is near their roots; every fifth begins in the kernel."""
    grown, known = [(0x401000,)], []
    for i in range(count):
        if i % 6 or not known:
            parent = grown[-1 - numbers.below(min(len(grown), 200))]
            more = (0x401000 + numbers.below(0xfff), 0x401000 + numbers.below(0xfff))
            stack = (*more[:1 + i % 2], *parent) if len(parent) < 60 else parent[len(parent) // 2:]
            grown.append(stack)
        else:
            stack = known[numbers.below(len(known))]
        known.append(stack)
        kernel = (one.CONTEXT_KERNEL, 0xffffffff81000010 + i % 700, 0xffffffff81000200) if i % 5 == 0 else ()
        yield (*kernel, one.CONTEXT_USER, *stack)


def unlike(numbers, count):
    """Callstacks, leaf first, with 12 to 19 frames of their own."""
    for i in range(count):
        yield (one.CONTEXT_USER, *(0x401000 + numbers.below(0xfff) for _ in range(12 + i % 8)), 0x401010, 0x401000)


def shape(what):
    sample_type = one.SAMPLE_TYPE | IDENTIFIER
    if what == "accesses":
        sample_type |= one.SAMPLE_MEMORY | one.SAMPLE_CGROUP
    return sample_type | (one.SAMPLE_BRANCH_STACK if what == "branches" else 0)


def ids(pid, tid, time, cpu, event):
    return struct.pack("<IIQIIQ", pid, tid, time, cpu, 0, event)


def process(pid, time, threads, image):
    """What the kernel says of a process that begins."""
    data = one.record(3, 0, struct.pack("<II", pid, pid) + one.text(f"p{pid % 23}", 16) + ids(pid, pid, time, 0, 1))
    for tid in range(pid + 1, pid + threads):
        data += one.record(FORK, 0, struct.pack("<IIIIQ", pid, pid, tid, pid, time) + ids(pid, tid, time, 0, 1))
        data += one.record(3, 0, struct.pack("<II", pid, tid) + one.text(f"t{tid % 37}", 16) + ids(pid, tid, time, 0, 1))
    body = struct.pack("<IIQQQ", pid, pid, 0x401000, 0x1000, 0x1000) + one.text(f"/usr/bin/demo{image}", 24)
    return data + one.record(1, one.MISC_USER, body + ids(pid, pid, time, 0, 1))


def branch_stack(numbers):
    places = [0x401000 + 16 * numbers.below(90) for _ in range(9)]
    entries = ((places[i], places[i + 1], (i % 11) << 20 | (i % 200) << 4 | (1 if i % 7 == 0 else 2)) for i in range(8))
    return struct.pack("<Q", 8) + b"".join(struct.pack("<QQQ", *entry) for entry in entries)


def sample(i, what, numbers, pid, tid, time, chain):
    event, cpu = 1 + (i % 7 == 0), i % 4
    ip = chain[1]
    address, tail = (b"", b"")
    if what == "accesses":
        address, tail = one.access(i, struct.pack("<Q", 5000 + i % (len(GROUPS) + 1)))
    if what == "branches":
        tail = branch_stack(numbers)
    body = struct.pack("<QQIIQ", event, ip, pid, tid, time) + address + struct.pack("<IIQ", cpu, 0, 1000 + i % 977)
    body += struct.pack(f"<{1 + len(chain)}Q", len(chain), *chain)
    return one.record(9, one.MISC_KERNEL if ip >> 63 else one.MISC_USER, body + tail)


def switch(i, pid, tid, time):
    misc = one.MISC_SWITCH_OUT | (one.MISC_PREEMPTED if i % 4 == 3 else 0)
    out = one.record(14, misc, ids(pid, tid, time + 1000, i % 4, 1))
    return out + one.record(14, 0, ids(pid, tid, time + 2000 + 100 * (i % 5000), i % 4, 1))


def records(what, count):
    numbers, parts = Numbers(count), []
    kernel = struct.pack("<IIQQQ", 0xffffffff, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000)
    parts.append(one.record(1, one.MISC_KERNEL, kernel + one.text("[kernel.kallsyms]_text", 24) + ids(0, 0, 0, 0, 1)))
    if what == "accesses":
        parts += (one.record(19, 0, struct.pack("<Q", 5000 + i) + one.text(name, 32) + ids(0, 0, 0, 0, 1)) for i, name in enumerate(GROUPS))
    many = what == "processes"
    if not many:
        parts += (process(100 + 10 * p, START, 4, p % 7) for p in range(40))
    for i, chain in enumerate((unlike if what == "nodes" else chains)(numbers, count)):
        pid = 100 + (i if many else 10 * numbers.below(40))
        tid, time = pid if many else pid + numbers.below(4), START + 2000 + i * 20_000 + numbers.below(9000)
        if many:
            parts.append(process(pid, time - 1000, 1, i % 5003))
        parts.append(sample(i, what, numbers, pid, tid, time, chain))
        if what == "waits":
            parts.append(switch(i, pid, tid, time))
        if many and i % 3:
            parts.append(one.record(EXIT, 0, struct.pack("<IIIIQ", pid, 1, tid, 1, time + 500) + ids(pid, tid, time + 500, 0, 1)))
    return b"".join(parts)


def main():
    out, what, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data, sample_type = records(what, count), shape(what)
    flags = one.SAMPLE_ID_ALL | one.FREQ | (one.CONTEXT_SWITCH if what == "waits" else 0)
    attrs = b""
    for i, (kind, config) in enumerate(((1, 0), (0, 3))):
        attr = struct.pack("<IIQQQQQ", kind, 128, config, 4000, sample_type, 0, flags).ljust(128, b"\0")
        attrs += attr + struct.pack("<QQ", 104 + 2 * 144 + 8 * i, 8)
    header = struct.pack("<8sQQQQQQQ", b"PERFILE2", 104, 144, 104, len(attrs), 104 + len(attrs) + 16, len(data), 0) + bytes(40)
    with open(out, "wb") as file:
        file.write(header + attrs + struct.pack("<QQ", 1, 2) + data)


if __name__ == "__main__":
    main()
