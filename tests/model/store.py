"""A .spk file as the model sees it: samples, callstacks and what frames are called, by docs/format.md alone.

Reads through the independent reader (tests/support/read_spk.py) and shares nothing with the program. What an address
is called follows section 7 of docs/format.md, word by word and without any index: it is slow and easy to check.
"""
import collections
import fnmatch
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import read_spk as spk  # noqa: E402
import runtime  # noqa: E402
import waits  # noqa: E402

NONE = spk.NONE
UNKNOWN, KERNEL, USER = 0, 1, 2
SYNTHETIC_FROM = 1 << 63
MERGED_NAMES = 0x8F << 56
OF_PROCESSES = (1, 2, 15, 16)  # sources: .NET, JScript, perf maps, jitdump
EXACT, RETURN = "exact", "return"
IDLE = 2  # bit of a sample's flags
WAITS = ("blocked", "woken", "preempted")  # states of intervals that are events, too

# Section 7 of docs/format.md: what interrupts, dispatchers and signals enter, and what is jumped to by a return.
ENTERED = ("asm_sysvec_* asm_exc_* asm_common_interrupt asm_spurious_interrupt asm_fred_entrypoint_kernel end_repeat_nmi "
           "apic_timer_interrupt page_fault ret_from_intr el1h_64_* el1t_64_* runtime.asyncPreempt runtime.sigpanic").split()
SIGNAL_RETURNS = "__restore_rt __restore __kernel_rt_sigreturn __kernel_sigreturn runtime.sigreturn".split()
THUNKS = ("__x86_indirect_thunk_*", "__llvm_retpoline_*")

Process = collections.namedtuple("Process", "pid parent start end inherits name command")
Thread = collections.namedtuple("Thread", "pid tid start end name")
Module = collections.namedtuple("Module", "pid base size offset start end path kind build_id debug")
Function = collections.namedtuple("Function", "owner place life start size birth source line name linkage file")
Wait = collections.namedtuple("Wait", spk.Sample._fields + ("interval",))
Place = collections.namedtuple("Place", "name linkage module file line")  # of a frame or an inlined call


def stands_for_name(frame):
    """An imported name without an address."""
    return frame[0] == UNKNOWN and 0x5F << 56 <= frame[1] < (0x5F << 56) + (1 << 24)


def text_of(raw):
    return raw.decode("utf-8", "replace")


def file_name(path):
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] if path.strip("/\\") else path


def fits(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


class Store:
    """Everything a report needs, in the order of the file."""

    def __init__(self, path):
        self.path = path
        file = spk.File(path)
        self.frames = spk.read_frames(file)
        nodes = spk.read_callstacks(file, len(self.frames))
        self.stacks = [self.leaf_first(node) for node in nodes]
        self.events = [(text_of(name), bool(weighted)) for name, weighted in spk.read_table(file, spk.EVENTS)]
        decoded = lambda row: [text_of(v) if isinstance(v, bytes) else v for v in row]
        self.processes = [Process(*decoded(row)) for row in spk.read_table(file, spk.PROCESSES)]
        self.threads = [Thread(*decoded(row)) for row in spk.read_table(file, spk.THREADS)]
        self.modules = [Module(*row[:6], text_of(row[6]), *row[7:]) for row in spk.read_table(file, spk.MODULES)]
        self.metadata = {text_of(k): text_of(v) for k, v in spk.read_table(file, spk.METADATA)}
        self.aggregated = self.metadata.get("samples.aggregated") == "1"
        self.read_names(file)
        self.samples = list(spk.read_samples(file)) if file.has(spk.SAMPLES) else []
        self.values = runtime.values(path)
        self.intervals = list(spk.read_intervals(file))
        self.processors = waits.processors(file) if self.intervals else 0
        self.counts = [] if file.has(spk.SAMPLES) else list(spk.read_counts(file))

    @functools.lru_cache(maxsize=None)
    def samples_of(self, event):
        """The samples of an event by name; those of waits are made of intervals."""
        numbers = [i for i, (name, _) in enumerate(self.events) if name == event]
        if not numbers and event in WAITS:
            return [Wait(row.end, row.pid, row.tid, NONE, event, row.end - row.start, 0, 0, row.stack, row)
                    for row in self.intervals if row.state == event]
        return [sample for sample in self.samples if sample.event in numbers]

    def leaf_first(self, node):
        frames = []
        while node is not None:
            frames.append(self.frames[node[0]])
            node = node[1]
        return tuple(frames)

    def __repr__(self):
        return os.path.basename(self.path)

    def read_names(self, file):
        numbers = spk.TextNumbers()
        functions = spk.read_functions(file, numbers) if file.has(spk.FUNCTIONS) else []
        self.calls, self.lines = spk.read_inlined_calls_and_lines(file, numbers)
        texts = [text_of(text) for text in (spk.read_texts(file) if file.has(spk.TEXTS) else [])]
        text = lambda number: "" if number is None else texts[number]
        self.calls = [(outer, line, text(name), text(linkage) or text(name), text(path))
                      for outer, line, name, linkage, path in self.calls]
        births = spk.read_line_births(file, len(self.lines))
        self.lines = [(*row[:5], row[5], row[6], text(row[7]), birth) for row, birth in zip(self.lines, births)]
        self.functions = [Function(*row[:8], text(row[8]), text(row[9]) or text(row[8]), text(row[10])) for row in functions]
        self.other_names = collections.defaultdict(set)
        for name, alias in spk.read_aliases(file, len(texts)):
            self.other_names[text(name)].add(text_of(alias))
        self.functions_by_owner, self.lines_by_owner = collections.defaultdict(list), collections.defaultdict(list)
        for function in self.functions:
            self.functions_by_owner[function[:2]].append(function)
        for line in self.lines:
            self.lines_by_owner[line[:2]].append(line)

    # Processes, threads, mappings.

    @functools.lru_cache(maxsize=None)
    def life(self, pid, time):
        """The row of processes that a pid means at a time; None: it has none."""
        rows = [row for row in self.processes if row.pid == pid and (row.start is None or row.start <= time)]
        return rows[-1] if rows else None

    @functools.lru_cache(maxsize=None)
    def thread_name(self, pid, tid, time):
        rows = [row for row in self.threads
                if (row.pid, row.tid) == (pid, tid) and (row.start is None or row.start <= time)]
        if rows and rows[-1].name:
            return rows[-1].name
        life = self.life(pid, time)
        return life.name if life is not None else ""

    def image_at(self, address, pid, time):
        """The row of modules that covers an address; of several the one mapped last."""
        found = [i for i, m in enumerate(self.modules)
                 if m.pid == pid and m.base <= address < m.base + m.size and (m.start is None or m.start <= time)
                 and (m.end is None or time < m.end)]
        return max(found, key=lambda i: (-1 if self.modules[i].start is None else self.modules[i].start, i), default=None)

    def module_of(self, frame, pid, time):
        mode, address = frame
        if mode != USER or SYNTHETIC_FROM <= address < SYNTHETIC_FROM + (1 << 60):
            found = self.image_at(address, NONE, time)
            if found is not None or mode not in (UNKNOWN, USER):
                return found
        while pid is not None:
            found = self.image_at(address, pid, time)
            if found is not None:
                return found
            pid, time = self.inherited_from(pid, time)
        return None

    def inherited_from(self, pid, time):
        life = self.life(pid, time)
        if life is None or not life.inherits or life.start is None or life.parent == pid:
            return None, None
        return life.parent, life.start

    # Names.

    def best(self, rows, address, time, birth):
        """Of the ranges that have an address the one that was born last at or before a time."""
        found = [row for row in rows if row[3] <= address < row[3] + row[4]]
        born = lambda row: -1 if birth(row) is None else birth(row)
        before = [row for row in found if born(row) <= time]
        if before:
            latest = max(map(born, before))
            return [row for row in before if born(row) == latest][-1]
        earliest = min(map(born, found), default=None)
        return next((row for row in reversed(found) if born(row) == earliest), None)

    def ranges_in(self, table, frame, pid, time):
        """Candidates in the order of section 7, as (rows, address, time)."""
        mode, address = frame
        synthetic = SYNTHETIC_FROM <= address < SYNTHETIC_FROM + (1 << 60)
        if mode in (USER, UNKNOWN):
            at, when = pid, time
            while at is not None:
                life = self.life(at, when)
                start = life.start if life is not None else None
                yield [row for row in table[0, at] if row[2] == start], address, when
                at, when = self.inherited_from(at, when)
        if mode != USER or synthetic:
            yield table[1, NONE], address, time
        module = self.module_of(frame, pid, time)
        if module is not None:
            image = self.modules[module]
            yield table[2, self.first_row(module)], address - image.base + image.offset, time

    @functools.lru_cache(maxsize=None)
    def first_row(self, module):
        image = self.modules[module]
        if SYNTHETIC_FROM <= image.base < SYNTHETIC_FROM + (1 << 60):
            return module
        same = lambda m: (m.path, m.kind, m.build_id) == (image.path, image.kind, image.build_id)
        return next(i for i, other in enumerate(self.modules) if same(other))

    def function_at(self, frame, pid, time):
        for rows, address, when in self.ranges_in(self.functions_by_owner, frame, pid, time):
            found = self.best(rows, address, when, lambda row: row.birth)
            if found is not None:
                return found
        return None

    def line_at(self, frame, pid, time, function):
        for rows, address, when in self.ranges_in(self.lines_by_owner, frame, pid, time):
            rows = [row for row in rows if row[8] is None or row[8] == function.birth]
            found = self.best(rows, address, when, lambda row: row[8])
            if found is not None:
                return found
        return None

    @functools.lru_cache(maxsize=None)
    def use_of(self, stack, index, pid, time):
        frame = stack[index]
        if index == 0 or self.aggregated or frame[0] != stack[index - 1][0] or stands_for_name(frame):
            return EXACT
        callee, own = self.function_at(stack[index - 1], pid, time), self.function_at(frame, pid, time)
        if callee is not None and fits(callee.linkage, ENTERED):
            unwound = int(self.metadata.get("samples.unwound", "0")) > 0
            return EXACT if unwound or frame[0] == KERNEL else RETURN
        first = own is not None and self.starts_at(own, frame, pid, time)
        if first and fits(own.linkage, SIGNAL_RETURNS):
            return EXACT
        if first and callee is not None and fits(callee.linkage, THUNKS):
            return EXACT
        return RETURN

    def starts_at(self, function, frame, pid, time):
        return any(address == function.start and function in rows
                   for rows, address, _ in self.ranges_in(self.functions_by_owner, frame, pid, time))

    @functools.lru_cache(maxsize=None)
    def places_of(self, frame, use, pid, time):
        """What a frame is called: inlined calls, innermost first, then the function. One place without a name: no name."""
        mode, address = frame
        asked = (mode, address - 1) if use == RETURN and address > 0 else frame
        function = self.function_at(asked, pid, time)
        module = self.module_of(asked, pid, time)
        if use == RETURN and function is None:
            own = self.function_at(frame, pid, time)
            if own is not None and self.starts_at(own, frame, pid, time):
                function, asked = own, frame
                module = self.module_of(frame, pid, time)
        if module is None:
            module = self.module_of(frame, pid, time)
        if function is None:
            return (Place("", "", module, "", 0),)
        line = self.line_at(asked, pid, time, function)
        places, path, number = [], function.file, function.line
        if line is not None:
            inlined, number, path = line[5], line[6], line[7]
            while inlined is not None:
                outer, call_line, name, linkage, call_path = self.calls[inlined]
                places.append(Place(name, linkage, module, path, number))
                inlined, number, path = outer, call_line, call_path
        return (*places, Place(function.name, function.linkage, module, path, number))

    def leaf_name(self, sample):
        """As reports call the leaf of a sample: its function, else its module in brackets."""
        if sample.stack == NONE:
            return "[no callstack]"
        frame = self.stacks[sample.stack][0]
        place = self.places_of(frame, EXACT, sample.pid, sample.time)[0]
        module = self.module_name(place.module)
        return place.name or (module if module.startswith("[") else f"[{module}]" if module else "[kernel]" if frame[0] == KERNEL else "[unknown]")

    @functools.lru_cache(maxsize=None)
    def names_of_several_images(self):
        """Names of functions of images that differ in name or build id: docs/exports.md tells them apart."""
        images = collections.defaultdict(set)
        for row in self.functions:
            module = row.place if row.owner == 2 else self.module_of(
                (KERNEL if row.owner == 1 else USER, row.start), row.place, max(row.life or 0, row.birth or 0))
            images[row.name].add(None if module is None else (self.module_name(module), self.modules[module].build_id))
        return {name for name, of in images.items() if len(of) > 1}

    def module_name(self, module):
        return "" if module is None else file_name(self.modules[module].path)

    def is_made_at_run_time(self, frame, pid, time):
        function = self.function_at(frame, pid, time)
        if function is None:
            return False
        # In a merged file it is a name; that a runtime's events or maps said it is all that is known.
        return function.owner == 0 or (function.owner == 1 and MERGED_NAMES <= function.start < SYNTHETIC_FROM + (1 << 60)
                                       and function.source in OF_PROCESSES)
