"""Writes captures of context switches, as `perf record -a -e sched:sched_switch -e sched:sched_waking -e cpu-clock -g` makes them: a pipe stream with the formats of
the tracepoints. Times are in us from the start; callstacks are lists of addresses, leaf first, those of the kernel above 2^63."""
import struct

START = 5_000_000_000
CLOCK, SWITCH, WAKING, NEW = 100, 372, 375, 373  # ids of events; those of tracepoints are their numbers, too
IDENTIFIER, IP, TID, TIME, CPU, PERIOD, CALLCHAIN, RAW = 1 << 16, 1, 2, 4, 128, 256, 32, 1024
CONTEXT_KERNEL, CONTEXT_USER = 2**64 - 128, 2**64 - 512
SLEEPS, DISK, ABLE, DEAD = 1, 2, 0, 0x10
HARD_INTERRUPT = 8
COMMON = [("unsigned short", "common_type", 0, 2, 0), ("unsigned char", "common_flags", 2, 1, 0), ("unsigned char", "common_preempt_count", 3, 1, 0),
          ("int", "common_pid", 4, 4, 1)]
SWITCH_FIELDS = [("char", "prev_comm[16]", 8, 16, 0), ("pid_t", "prev_pid", 24, 4, 1), ("int", "prev_prio", 28, 4, 1), ("long", "prev_state", 32, 8, 1),
                 ("char", "next_comm[16]", 40, 16, 0), ("pid_t", "next_pid", 56, 4, 1), ("int", "next_prio", 60, 4, 1)]
WAKING_FIELDS = [("char", "comm[16]", 8, 16, 0), ("pid_t", "pid", 24, 4, 1), ("int", "prio", 28, 4, 1), ("int", "target_cpu", 32, 4, 1)]
STATES = {0x1: "S", 0x2: "D", 0x10: "X", 0x20: "Z"}


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def format_text(name, number, fields, text):
    rows = [f"\tfield:{kind} {field};\toffset:{at};\tsize:{size};\tsigned:{signed};\n" for kind, field, at, size, signed in fields]
    return f"name: {name}\nID: {number}\nformat:\n{''.join(rows[:4])}\n{''.join(rows[4:])}\nprint fmt: {text}\n".encode()


def states_text(states):
    """How the kernel prints a state: letters by bit."""
    flags = ", ".join(f'{{ {bit:#x}, "{letters}" }}' for bit, letters in states.items())
    return f'"prev_state=%s%s", REC->prev_state & 0xffff ? __print_flags(REC->prev_state & 0xffff, "|", {flags}) : "R", REC->prev_state & 0x10000 ? "+" : ""'


def tracing_data(states):
    def sized(name, text):
        return name + b"\0" + struct.pack("<Q", len(text)) + text

    formats = [format_text("sched_switch", SWITCH, COMMON + SWITCH_FIELDS, states_text(states)),
               format_text("sched_waking", WAKING, COMMON + WAKING_FIELDS, '"pid=%d", REC->pid'),
               format_text("sched_wakeup_new", NEW, COMMON + WAKING_FIELDS, '"pid=%d", REC->pid')]
    data = b"\x17\x08\x44tracing0.6\0" + struct.pack("<BBI", 0, 8, 4096) + sized(b"header_page", b"") + sized(b"header_event", b"")
    data += struct.pack("<I", 0) + struct.pack("<I", 1) + b"sched\0" + struct.pack("<I", len(formats))
    data += b"".join(struct.pack("<Q", len(text)) + text for text in formats)
    data += struct.pack("<I", 0) + struct.pack("<I", 0) + struct.pack("<Q", 0)
    return data + bytes(-len(data) % 8)


class SwitchCapture:
    """The events of a system, in the order of calls. One process each of pid and name; a thread belongs to the process that add_thread() says."""

    def __init__(self, states=None):
        self.states = states or STATES
        self.processes = {0: 0}  # by thread
        self.names = b""
        self.images = b""
        self.events = []

    def add_image(self, pid, address, path):
        body = struct.pack("<IIQQQ", pid, pid, address, 0x1000, 0x1000) + struct.pack("<IIQQII", 0, 0, 0, 0, 5, 2) + path.encode().ljust(24, b"\0")
        self.images += record(10, 2, body + self._trailer(pid, pid, 0))

    def add_thread(self, pid, tid, name):
        self.processes[tid] = pid
        self.names += record(3, 0, struct.pack("<II", pid, tid) + name.encode().ljust(16, b"\0") + self._trailer(pid, tid, 0))

    @staticmethod
    def _trailer(pid, tid, us):
        return struct.pack("<IIQIIQ", pid, tid, START + round(us * 1000) if us else 0, 0, 0, CLOCK)

    def _sample(self, number, us, cpu, tid, stack, raw):
        chain = []
        for address in stack:
            context = CONTEXT_KERNEL if address >> 63 else CONTEXT_USER
            if not chain or (chain[-1] >> 63) != (address >> 63):
                chain.append(context)
            chain.append(address)
        pid = self.processes[tid]
        body = struct.pack("<QQIIQIIQ", number, stack[0] if stack else 0, pid, tid, START + round(us * 1000), cpu, 0, 1)
        body += struct.pack(f"<{1 + len(chain)}Q", len(chain), *chain)
        if number != CLOCK:
            raw += bytes(-(4 + len(raw)) % 8)
            body += struct.pack("<I", len(raw)) + raw
        self.events.append(record(9, 1 if stack and stack[0] >> 63 else 2, body))

    def clock(self, us, cpu, tid, stack):
        self._sample(CLOCK, us, cpu, tid, stack, b"")

    def switch(self, us, cpu, tid, state, to, stack=()):
        """`tid` leaves the processor at `stack`, `to` comes."""
        raw = struct.pack("<HBBi16siiq16sii", SWITCH, 0, 0, tid, b"", tid, 120, state, b"", to, 120)
        self._sample(SWITCH, us, cpu, tid, list(stack), raw)

    def wake(self, us, cpu, tid, woken, stack=(), flags=0, is_new=False):
        """`tid`, which runs on the processor, makes `woken` able to run; or an interrupt does."""
        number = NEW if is_new else WAKING
        raw = struct.pack("<HBBi16siii", number, flags, 0, tid, b"", woken, 120, cpu)
        self._sample(number, us, cpu, tid, list(stack), raw)

    def exit(self, us, tid):
        """`tid` ends; it leaves its processor later."""
        pid = self.processes[tid]
        time = START + round(us * 1000)
        self.events.append(record(4, 0, struct.pack("<IIIIQ", pid, pid, tid, tid, time) + self._trailer(pid, tid, us)))

    def write(self, path, frequency=0):
        """`frequency`: switches are sampled, so often in a second."""
        kinds = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CALLCHAIN
        data = b"PERFILE2" + struct.pack("<Q", 16)
        for number in (CLOCK, SWITCH, WAKING, NEW):
            kind, sampled = (1, kinds) if number == CLOCK else (2, kinds | RAW)
            config = 0 if number == CLOCK else number
            period, flags = (frequency, 1 << 18 | 1 << 10) if frequency and number == SWITCH else (1, 1 << 18)
            attr = struct.pack("<IIQQQQQ", kind, 128, config, period, sampled, 0, flags).ljust(128, b"\0")
            data += record(64, 0, attr + struct.pack("<Q", number))
        formats = tracing_data(self.states)
        data += record(66, 0, struct.pack("<I", len(formats))) + formats
        with open(path, "wb") as file:
            file.write(data + self.images + self.names + b"".join(self.events))


KERNEL = 0xffffffff81000010
CLIENT, SERVER, LOCKER = 101, 201, 301


def write_example(path):
    """A system whose schedule is known: the client waits for the server, which waits for a disk, and then for a lock that the locker has."""
    system = SwitchCapture()
    for tid, name in ((CLIENT, "client"), (SERVER, "server"), (LOCKER, "locker")):
        system.add_thread(tid, tid, name)
        system.add_image(tid, 0x401000, f"/bin/{name}")
    system.switch(5, 1, 0, ABLE, LOCKER)
    system.switch(10, 0, 0, ABLE, CLIENT)
    system.clock(50, 0, CLIENT, [0x401100])
    system.switch(60, 1, LOCKER, SLEEPS, 0, [KERNEL, 0x401050])
    system.wake(90, 0, CLIENT, SERVER, [KERNEL, 0x401200])
    system.switch(95, 1, 0, ABLE, SERVER)
    system.switch(100, 0, CLIENT, SLEEPS, 0, [KERNEL, 0x401210])
    system.switch(200, 1, SERVER, DISK, 0, [KERNEL, 0x401300])
    system.wake(260, 1, 0, SERVER, [KERNEL], HARD_INTERRUPT)
    system.switch(270, 1, 0, ABLE, SERVER)
    system.wake(300, 1, SERVER, LOCKER, [KERNEL, 0x401310])
    system.switch(310, 1, SERVER, SLEEPS, LOCKER, [KERNEL, 0x401320])
    system.wake(380, 1, LOCKER, SERVER, [KERNEL, 0x401400])
    system.switch(400, 1, LOCKER, SLEEPS, SERVER, [KERNEL, 0x401410])
    system.wake(470, 1, SERVER, CLIENT, [KERNEL, 0x401330])
    system.switch(475, 0, 0, ABLE, CLIENT)
    system.switch(480, 1, SERVER, SLEEPS, 0, [KERNEL, 0x401300])
    system.switch(600, 0, CLIENT, SLEEPS, 0, [KERNEL, 0x401210])
    system.write(path)
