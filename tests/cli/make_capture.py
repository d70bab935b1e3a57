#!/usr/bin/env python3
"""Writes a small perf.data file, the same on every run:
make_capture.py OUT [SAMPLES] [--lost N] [--build-id HEX] [--moved HEX] [--branches] [--switches] [--broken] [--memory]
               [--cgroups NAME,NAME...]

One process `demo` (pid 100, threads 100 and 101), one event (cpu-clock), one mapped image and a
kernel, and SAMPLES samples over three callstacks. --build-id: that of the image. --moved: how much
further up its code is mapped. --branches: samples have the branches of a loop that was entered by a
call, the newest of which every third sample has twice, and one that came from the kernel.
--switches: the event is context-switches; after each sample its thread leaves the processor, every
fourth time able to run, and comes back 10 us later for each sample so far.
--memory: the event is an access to memory, with data address, latencies, source of data and sizes of pages.
--cgroups: samples are of these control groups in turn, whose paths are recorded, and every tenth of one without a path.
--broken: every other callstack ends in addresses of no code.
"""
import struct
import sys

SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, SAMPLE_CALLCHAIN, SAMPLE_CPU, SAMPLE_PERIOD = 1, 2, 4, 32, 128, 256
SAMPLE_BRANCH_STACK, SAMPLE_CGROUP = 2048, 1 << 21
SAMPLE_ADDR, SAMPLE_DATA_SRC, SAMPLE_DATA_PAGE = 8, 1 << 15, 1 << 22
SAMPLE_CODE_PAGE, SAMPLE_WEIGHT_STRUCT = 1 << 23, 1 << 24
SAMPLE_MEMORY = SAMPLE_ADDR | SAMPLE_DATA_SRC | SAMPLE_DATA_PAGE | SAMPLE_CODE_PAGE | SAMPLE_WEIGHT_STRUCT
SAMPLE_TYPE = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN | SAMPLE_CPU | SAMPLE_PERIOD
CONTEXT_KERNEL, CONTEXT_USER = 2**64 - 128, 2**64 - 512
MISC_KERNEL, MISC_USER, MISC_BUILD_ID = 1, 2, 1 << 14
MISC_SWITCH_OUT, MISC_PREEMPTED = 1 << 13, 1 << 14
# Bits of a source of data: operations, levels, snooping, the TLB.
LOAD, STORE = 2, 4
HIT, L1, L3, LOCAL_RAM, OTHER_CACHE = 2 << 5, 8 << 5, 64 << 5, 128 << 5, 1024 << 5
SNOOP_NONE, SNOOP_MODIFIED = 2 << 19, 16 << 19
TLB_HIT = (2 | 8 | 16) << 26
ACCESSES = [  # source of data, address
    (LOAD | HIT | L1 | SNOOP_NONE, 0x7f0000002008),
    (STORE | HIT | L1, 0x7f0000001000),
    (LOAD | HIT | L3 | SNOOP_MODIFIED, 0x7f0000001008),
    (LOAD | HIT | OTHER_CACHE | SNOOP_MODIFIED, 0x7f0000001010),
    (LOAD | HIT | LOCAL_RAM | SNOOP_NONE, 0xffff888100000040),
]
STACKS = [
    [CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000200, CONTEXT_USER, 0x401030, 0x401010, 0x401000],
    [CONTEXT_USER, 0x401020, 0x401010, 0x401000],
    [CONTEXT_USER, 0x401010, 0x401000],
]
START = 5_000_000_000
SAMPLE_ID_ALL = 1 << 18
FREQ = 1 << 10
CONTEXT_SWITCH = 1 << 26


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(value, size):
    return value.encode().ljust(size, b"\0")


def sample_id(pid, tid, time, cpu):
    return struct.pack("<IIQII", pid, tid, time, cpu, 0)


def mmap(pid, address, size, offset, path, misc):
    body = struct.pack("<IIQQQ", pid & 0xffffffff, 0, address, size, offset) + text(path, 24)
    return record(1, misc, body + sample_id(0, 0, 0, 0))


def mmap2(pid, address, size, offset, path, build_id):
    body = struct.pack("<IIQQQ", pid, 0, address, size, offset) + struct.pack("<BBH", len(build_id), 0, 0)
    body += build_id.ljust(20, b"\0") + struct.pack("<II", 5, 2) + text(path, 24)
    return record(10, MISC_USER | MISC_BUILD_ID, body + sample_id(0, 0, 0, 0))


def comm(pid, tid, name, time):
    return record(3, 0, struct.pack("<II", pid, tid) + text(name, 16) + sample_id(pid, tid, time, 0))


def branch_stack(index, moved):
    """Newest first: the loop's back edge, taken as often as the index says, the call, the kernel."""
    entries = [(0x401030, 0x401010, 1 << 20 | 5 << 4 | (1 if turn == 0 and index % 4 == 0 else 2))
               for turn in range(1 + index % 3 + (index % 3 == 0))]
    entries += [(0x401008, 0x401010, 4 << 20 | 9 << 4 | 2)]
    stack = [(start + moved, to + moved, flags) for start, to, flags in entries]
    stack += [(0xffffffff81000020, 0x401000 + moved, 8 << 20 | 2)]
    return struct.pack("<Q", len(stack)) + b"".join(struct.pack("<QQQ", *entry) for entry in stack)


def cgroup_id(groups, index):
    return 7000 if index % 10 == 9 else 5000 - index % len(groups)


def access(index, cgroup):
    """What comes after the time of a sample, and what comes after its callchain."""
    source, address = ACCESSES[index % len(ACCESSES)]
    weight = 4 + 30 * (index % len(ACCESSES)) + index
    tail = struct.pack("<IHHQ", weight, 3 + index % 2, index % 3, source | TLB_HIT) + cgroup + struct.pack("<QQ", 4096, 2 << 20)
    return struct.pack("<Q", address), tail


def sample(index, moved, branches, broken, memory, groups):
    chain = [address if address >> 63 else address + moved for address in STACKS[index % len(STACKS)]]
    chain += [0x2cdd4141a7270000 + index, 0] if broken and index % 2 else []
    ip = next(address for address in chain if address < 2**64 - 4095)
    misc = MISC_KERNEL if ip >> 63 else MISC_USER
    cgroup = struct.pack("<Q", cgroup_id(groups, index)) if groups else b""
    address, tail = access(index, cgroup) if memory else (b"", cgroup)
    body = struct.pack("<QIIQ", ip, 100, 100 + index % 2, START + index * 250_000) + address
    body += struct.pack("<IIQ", index % 2, 0, 1_000_000)
    body += struct.pack(f"<{1 + len(chain)}Q", len(chain), *chain)
    return record(9, misc, body + (branch_stack(index, moved) if branches else b"") + tail)


def switch(index):
    """The records after a sample: out 1 us later, and in."""
    time, ids = START + index * 250_000 + 1000, (100, 100 + index % 2)
    out = record(14, MISC_SWITCH_OUT | (MISC_PREEMPTED if index % 4 == 3 else 0), sample_id(*ids, time, index % 2))
    return out + record(14, 0, sample_id(*ids, time + 10_000 * (index + 1), index % 2))


def lost(count):
    return record(2, 0, struct.pack("<QQ", 1, count) + sample_id(100, 100, START, 0))


def option(rest, name, default):
    return rest.pop(rest.index(name) + 1) if name in rest else default


def main():
    out, *rest = sys.argv[1:]
    lost_events = int(option(rest, "--lost", "0"))
    build_id = bytes.fromhex(option(rest, "--build-id", ""))
    moved = int(option(rest, "--moved", "0"), 16)
    groups = [name for name in option(rest, "--cgroups", "").split(",") if name]
    branches, switches, broken, memory = (name in rest for name in ("--branches", "--switches", "--broken", "--memory"))
    samples = int(rest[0]) if rest and rest[0].isdigit() else 12
    data = mmap(-1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text", MISC_KERNEL)
    data += comm(100, 100, "demo", 0) + comm(100, 101, "worker", START)
    image = (100, 0x401000 + moved, 0x1000, 0x1000, "/usr/bin/demo")
    data += mmap2(*image, build_id) if build_id else mmap(*image, MISC_USER)
    data += b"".join(record(19, 0, struct.pack("<Q", 5000 - i) + text(name, 32) + sample_id(0, 0, 0, 0))
                     for i, name in enumerate(groups))
    data += b"".join(sample(index, moved, branches, broken, memory, groups) + (switch(index) if switches else b"")
                     for index in range(samples))
    if lost_events:
        data += lost(lost_events)

    sample_type = SAMPLE_TYPE | (SAMPLE_BRANCH_STACK if branches else 0) | (SAMPLE_MEMORY if memory else 0)
    sample_type |= SAMPLE_CGROUP if groups else 0
    config, rate, flags = (3, 1, CONTEXT_SWITCH) if switches else (0, 4000, FREQ)
    kind, config = (4, 0x1cd) if memory else (1, config)
    attr = struct.pack("<IIQQQQQ", kind, 128, config, rate, sample_type, 0, SAMPLE_ID_ALL | flags).ljust(128, b"\0")
    attrs_at = 104
    ids_at = attrs_at + len(attr) + 16
    data_at = ids_at + 8
    header = struct.pack("<8sQQQQQQQ", b"PERFILE2", 104, len(attr) + 16, attrs_at, len(attr) + 16,
                         data_at, len(data), 0) + bytes(40)
    content = header + attr + struct.pack("<QQQ", ids_at, 8, 1) + data
    with open(out, "wb") as file:
        file.write(content)


if __name__ == "__main__":
    main()
