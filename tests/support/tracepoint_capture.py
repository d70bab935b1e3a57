"""Writes captures of tracepoints with the formats of their payloads, as a pipe stream of either byte order: what `perf record -e sched:sched_stat_runtime -e
syscalls:sys_enter_openat -o -` makes."""
import struct

START = 7_000_000_000
RUNTIME, OPEN = 380, 620  # numbers of tracepoints
IDENTIFIER, IP, TID, TIME, CPU, PERIOD, CALLCHAIN, RAW = 1 << 16, 1, 2, 4, 128, 256, 32, 1024
CONTEXT_USER = 2**64 - 512
COMMON = [("unsigned short common_type", 0, 2, 0), ("unsigned char common_flags", 2, 1, 0), ("unsigned char common_preempt_count", 3, 1, 0),
          ("int common_pid", 4, 4, 1)]
RUNTIME_FIELDS = [("char comm[16]", 8, 16, 0), ("pid_t pid", 24, 4, 1), ("u64 runtime", 32, 8, 0), ("s64 lag", 40, 8, 1)]
OPEN_FIELDS = [("int __syscall_nr", 8, 4, 1), ("int dfd", 12, 4, 1), ("const char * address", 16, 8, 0), ("__data_loc char[] filename", 24, 4, 0),
               ("unsigned long mask[2]", 32, 16, 0), ("umode_t mode", 48, 2, 0)]


class TracepointCapture:
    """The samples of one process, in the order of calls."""

    def __init__(self, big=False):
        self.order = ">" if big else "<"
        self.big = big
        self.events = []

    def pack(self, layout, *values):
        return struct.pack(self.order + layout, *values)

    def record(self, kind, misc, body):
        return self.pack("IHH", kind, misc, 8 + len(body)) + body

    def sample(self, number, us, tid, stack, raw):
        body = self.pack("QQIIQIIQ", number, stack[0], 40, tid, START + us * 1000, 0, 0, 1)
        body += self.pack(f"{2 + len(stack)}Q", 1 + len(stack), CONTEXT_USER, *stack)
        raw += bytes(-(4 + len(raw)) % 8)
        self.events.append(self.record(9, 2, body + self.pack("I", len(raw)) + raw))

    def runtime(self, us, tid, comm, runtime, lag, stack=(0x401000,)):
        raw = self.pack("HBBi16siIQq", RUNTIME, 0, 0, tid, comm.encode(), tid, 0, runtime, lag)
        self.sample(RUNTIME, us, tid, list(stack), raw)

    def open(self, us, tid, path, flags, stack=(0x402000,), cut=False):
        raw = self.pack("HBBiiiQIIQQHH", OPEN, 0, 0, tid, 257, -100, 0x7fff1000, 52 | (len(path) + 1) << 16, 0, 1, 2, flags, 0) + path.encode() + b"\0"
        self.sample(OPEN, us, tid, list(stack), raw[:16] if cut else raw)

    def formats(self):
        def sized(name, text):
            return name + b"\0" + self.pack("Q", len(text)) + text

        def text_of(name, number, fields):
            rows = [f"\tfield:{field};\toffset:{at};\tsize:{size};\tsigned:{signed};\n" for field, at, size, signed in COMMON + fields]
            return f"name: {name}\nID: {number}\nformat:\n{''.join(rows[:4])}\n{''.join(rows[4:])}\nprint fmt: \"\"\n".encode()

        data = b"\x17\x08\x44tracing0.6\0" + struct.pack("BB", self.big, 8) + self.pack("I", 4096) + sized(b"header_page", b"") + sized(b"header_event", b"")
        data += self.pack("II", 0, 2)
        for system, text in ((b"sched", text_of("sched_stat_runtime", RUNTIME, RUNTIME_FIELDS)),
                             (b"syscalls", text_of("sys_enter_openat", OPEN, OPEN_FIELDS))):
            data += system + b"\0" + self.pack("IQ", 1, len(text)) + text
        data += self.pack("IIQ", 0, 0, 0)
        return data + bytes(-len(data) % 8)

    def write(self, path, with_formats=True):
        sampled = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CALLCHAIN | RAW
        data = (b"2ELIFREP" if self.big else b"PERFILE2") + self.pack("Q", 16)
        flags = 1 << 45 if self.big else 1 << 18  # sample_id_all: bit fields begin at the other end
        for number in (RUNTIME, OPEN):
            attr = self.pack("IIQQQQQ", 2, 128, number, 1, sampled, 0, flags).ljust(128, b"\0")
            data += self.record(64, 0, attr + self.pack("Q", number))
        for number, name in ((RUNTIME, b"sched:sched_stat_runtime"), (OPEN, b"syscalls:sys_enter_openat")):
            data += self.record(78, 0, self.pack("QQ", 2, number) + name.ljust(32, b"\0"))  # EVENT_UPDATE, a name
        formats = self.formats()
        if with_formats:
            data += self.record(66, 0, self.pack("I", len(formats))) + formats
        with open(path, "wb") as file:
            file.write(data + b"".join(self.events))
