#!/usr/bin/env python3
"""read_spk.py - lists what a .spk file holds; written from docs/format.md alone.

usage: read_spk.py [--version 1.0] FILE.spk [FOLDER LISTING...]

Prints the canonical stack listing: one line per recorded callstack, `COUNT frame frame ...`, leaf first. With
FOLDER, writes listings of docs/cli.md into files of their names there: stacks, samples, processes, threads,
modules, events, losses, metadata, functions. There, samples has no comm, which is no field of a file.
With --version 1.0 it goes by the rules of that version of the format: sections of kinds that came
later are unknown, and passed over unless they are required.
Needs the standard library and the zstd command. It shares nothing with the C++ reader but the document,
so that the two check each other and the document. It checks what it needs, not the XXH3 hashes, for which
the standard library has no function.
"""
import collections
import contextlib
import os
import struct
import subprocess
import sys

(SUMMARY, FRAMES, EDGES, PAGES, PAGE_INDEX, SAMPLES, SAMPLE_INDEX, STACK_COUNTS, EVENTS, PROCESSES, THREADS,
 MODULES, METADATA, FUNCTIONS, INLINED_CALLS, LINES, TEXTS, SOURCES, LINE_BIRTHS,
 INTERVALS, WAIT_REASONS) = range(1, 22)
EVENT_VALUES, VALUE_KINDS, VALUE_TEXTS = 25, 26, 27
SAMPLE_FIELDS, CONTROL_GROUPS = 35, 36
BRANCH_EDGES, BRANCH_RANGES = 30, 31
BRANCH_ENTRIES, BRANCH_SUCCESSORS, BRANCH_PAGES, BRANCH_PAGE_INDEX = 40, 41, 42, 43
CYCLE_VALUES, CYCLE_SUCCESSORS, CYCLE_PAGES, CYCLE_PAGE_INDEX = 44, 45, 46, 47
LABEL_SETS = 50
FUNCTION_ALIASES, ALIAS_TEXTS = 55, 56
MODULE_FILES = 57
REQUIRED, INDEXED = 1, 2
WITH_TEXTS = (EVENTS, PROCESSES, THREADS, MODULES, METADATA, TEXTS, SOURCES, VALUE_TEXTS, CONTROL_GROUPS,
              LABEL_SETS, ALIAS_TEXTS)
FREE_TABLE_BYTES, MOST_TABLE_RATIO = 2 << 20, 256
INLINED_PER_ROW = 512
LAST_KIND = {"1.0": METADATA, "1.1": TEXTS, "1.2": SOURCES, "1.3": LINE_BIRTHS, "1.4": CYCLE_PAGE_INDEX,
             "1.5": MODULE_FILES}
NONE = 0xFFFFFFFF
RECORDED = 2
GUESSES = 16
MODE_LETTERS = "?kuhgGU"
MASK = (1 << 64) - 1


class Bad(Exception):
    """The file is not what the document says."""


def need(condition, what):
    if not condition:
        raise Bad(what)


class Bytes:
    """Reads the content of a block from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        need(size <= len(self.data) - self.at, "block too short")
        self.at += size
        return self.data[self.at - size:self.at]

    def u8(self):
        return self.take(1)[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                need(value <= MASK, "varint too long")
                return value
            need(shift < 70, "varint too long")

    def column(self, count):
        form = self.u8()
        if form == 0:
            return self.planes(count)
        need(16 <= form <= 23, "form of a column")
        return self.buckets(count, form - 16)

    def planes(self, count):
        mask, constant = self.u8(), self.varint()
        values = [constant] * count
        for plane in range(8):
            if mask >> plane & 1:
                need(constant >> 8 * plane & 0xFF == 0, "constant of a stored plane")
                values = [v | b << 8 * plane for v, b in zip(values, self.take(count))]
        return values

    def buckets(self, count, kept):
        symbols = self.take(count)
        small = 1 << kept + 1
        low = [(s >> kept) - 1 if s >= small else 0 for s in symbols]
        need(all(k + kept + 1 <= 64 for k in low), "bucket too wide")
        stream = iter(self.take((sum(low) + 7) // 8))
        values, piece, piece_bits = [], 0, 0
        for symbol, k in zip(symbols, low):
            while piece_bits < k:
                piece |= next(stream) << piece_bits
                piece_bits += 8
            if symbol < small:
                values.append(symbol)
            else:
                values.append((1 << kept | symbol & (1 << kept) - 1) << k | piece & (1 << k) - 1)
            piece >>= k
            piece_bits -= k
        need(piece == 0, "bits after the last")
        return values

    def end(self):
        need(self.at == len(self.data), "bytes left over in a block")


def signed(code):
    """The number of a zigzag code."""
    return code >> 1 if code & 1 == 0 else -(code >> 1) - 1


Section = collections.namedtuple("Section", "kind flags offset stored raw items blocks")


class File:
    """Directory and contents of the blocks, by section."""

    def __init__(self, path, version="1.5"):
        with open(path, "rb") as file:
            data = file.read()
        need(data[8:16] == b"STACKPAK" and data[16:18] == b"\1\0", "header")
        trailer = data[-64:]
        need(trailer[56:] == b"STACKEND", "trailer")
        offset, size, _, file_size = struct.unpack_from("<4Q", trailer, 8)
        need(file_size == len(data) and offset + size == len(data) - 64, "trailer sizes")
        directory = data[offset:offset + size]
        count, = struct.unpack_from("<I", directory, 8)
        self.sections = [Section(*struct.unpack_from("<2I5Q", directory, 16 + 64 * i)) for i in range(count)]
        records = list(struct.iter_unpack("<2IQ", directory[16 + 64 * count:]))
        need(sum(s.blocks for s in self.sections if not s.flags & INDEXED) == len(records), "block records")

        for section in self.sections:
            need(section.kind not in WITH_TEXTS or section.raw <= FREE_TABLE_BYTES + MOST_TABLE_RATIO * section.stored,
                 f"section {section.kind} is too large for its bytes in the file")

        # Skippable frames decompress to nothing: what comes out are the contents of all blocks.
        content = subprocess.run(["zstd", "-dc", path], check=True, stdout=subprocess.PIPE).stdout
        need(len(content) == sum(s.raw for s in self.sections), "raw sizes")
        self.contents, self.listed = {}, {}
        at = 0
        records = iter(records)
        for section in self.sections:
            self.contents[section.kind] = content[at:at + section.raw]
            at += section.raw
            if not section.flags & INDEXED:
                sizes = [next(records)[1] for _ in range(section.blocks)]
                self.listed[section.kind] = sizes
            if not 1 <= section.kind <= LAST_KIND[version]:
                need(not section.flags & REQUIRED, f"section {section.kind} is required and unknown")
                del self.contents[section.kind]

    def items(self, kind):
        return next(s.items for s in self.sections if s.kind == kind)

    def has(self, kind):
        return kind in self.contents

    def blocks(self, kind, sizes=None):
        """The contents of the blocks of a section as Bytes, each read to its end."""
        content, at = self.contents[kind], 0
        for size in self.listed[kind] if sizes is None else sizes:
            block = Bytes(content[at:at + size])
            yield block
            block.end()
            at += size
        need(at == len(content), "blocks do not fill their section")


def read_frames(file, kind=FRAMES):
    frames, left = [], file.items(kind)
    for block in file.blocks(kind):
        count = min(left, 65536)
        left -= count
        runs = [(block.u8(), block.varint(), block.varint()) for _ in range(block.varint())]
        need(sum(length for _, length, _ in runs) == count, "runs of frames")
        distances = iter(block.column(count - len(runs)))
        for mode, length, address in runs:
            frames.append((mode, address))
            for _ in range(length - 1):
                address += next(distances)
                frames.append((mode, address))
    need(left == 0 and all(a < b for a, b in zip(frames, frames[1:])), "dictionary")
    return frames


def read_edges(file, frame_count, kind=EDGES):
    """Rows of children by position, and rows of positions by rank."""
    rows, classes = [], []
    for block in file.blocks(kind):
        first_row = block.varint()
        lengths = block.column(block.varint())
        firsts = iter(block.column(sum(1 for n in lengths if n > 0)))
        others = iter(block.column(sum(n - 1 for n in lengths if n > 0)))
        block_classes = iter(block.column(sum(n for n in lengths if n > 1)))
        need(first_row == len(rows) or first_row == len(rows) - 1, "first row of edges")
        for i, length in enumerate(lengths):
            row = first_row + i
            if row == len(rows):
                rows.append([])
                classes.append([])
            child = None
            for _ in range(length):
                child = row + signed(next(firsts)) if child is None else child + next(others) + 1
                rows[row].append(child)
                classes[row].append(next(block_classes) if length > 1 else 0)
    need(len(rows) == frame_count + 1, "rows of edges")
    for row in rows:
        need(all(a < b for a, b in zip(row, row[1:])) and (not row or row[-1] < frame_count), "row of edges")
    ranked = [sorted(range(len(row)), key=lambda p, c=c: (-c[p], p)) for row, c in zip(rows, classes)]
    return rows, ranked


def read_page_sizes(file, kind=PAGE_INDEX):
    sizes, stacks = [], []
    for block in file.blocks(kind):
        count = block.varint()
        block.column(count)
        sizes += block.column(count)
        stacks += block.column(count)
        block.take(8 * count)
    return sizes, stacks


class Level:
    """A level of the path from the root to the latest node."""

    def __init__(self, row, callstack):
        self.row, self.callstack, self.next = row, callstack, 0


def read_page(block, first_node, first_stack, rows, ranked):
    """The callstacks that end in a page, as tuples (frame, rest of the callstack), leaf first."""
    need(block.varint() == first_node and block.varint() == first_stack, "page in the wrong place")
    count, spine_length, exception_count = block.varint(), block.varint(), block.varint()
    spine, codes = block.take(spine_length), block.take(count)
    exceptions, node = set(), 0
    for _ in range(exception_count):
        node += block.varint()
        exceptions.add(node)
    ranks = [code if code < 255 else 255 + block.varint() for code in spine]
    path = [Level(len(rows) - 1, None)]
    for rank in ranks:
        parent = path[-1]
        need(rank < len(rows[parent.row]), "rank of the spine")
        position = ranked[parent.row][rank]
        parent.next = position + 1
        frame = rows[parent.row][position]
        path.append(Level(frame, (frame, parent.callstack)))
    nodes, inner = [], set()
    is_open = lambda level: level.next < len(rows[level.row])
    need(codes[0] < 64 and is_open(path[-1]), "first node")
    for i, code in enumerate(codes):
        pops, child = divmod(code, 64)
        pops += block.varint() if pops == 3 else 0
        child += block.varint() if child == 63 else 0
        while True:
            need(path, "pops past the root")
            if not is_open(path[-1]):
                path.pop()
            elif pops > 0:
                pops -= 1
                path.pop()
            else:
                break
        parent = path[-1]
        row = rows[parent.row]
        if parent.next == 0:
            need(child < len(row), "rank of a child")
            position = ranked[parent.row][child]
        else:
            position = parent.next + child
        need(position < len(row), "position of a child")
        parent.next = position + 1
        frame = row[position]
        if nodes and parent.callstack is nodes[-1]:
            inner.add(i - 1)
        nodes.append((frame, parent.callstack))
        path.append(Level(frame, nodes[-1]))
    need(all(i in inner or i == count - 1 for i in exceptions), "leaf that ends no callstack")
    return [n for i, n in enumerate(nodes) if (i in inner) == (i in exceptions)]


def read_callstacks(file, frame_count, edges=EDGES, pages=PAGES, page_index=PAGE_INDEX):
    rows, ranked = read_edges(file, frame_count, edges)
    sizes, expected = read_page_sizes(file, page_index)
    stacks = []
    for i, block in enumerate(file.blocks(pages, sizes)):
        page = read_page(block, 4096 * i, len(stacks), rows, ranked)
        need(len(page) == expected[i], "callstacks of a page")
        stacks += page
    return stacks


def sample_order(groups, times, corrections):
    """Stored positions in the order of the capture."""
    begins, at = [], 0
    for size in groups:
        begins.append(at)
        at += size
    left = [[begin, begin + size] for begin, size in zip(begins, groups)]
    order = []
    for correction in corrections:
        _, earliest = min((times[a], g) for g, (a, b) in enumerate(left) if a < b)
        group = left[(earliest + correction) % len(groups)]
        need(group[0] < group[1], "sample of an empty group")
        order.append(group[0])
        group[0] += 1
    return order


def read_sample_head(head):
    """Number of samples, and the threads as (pid, tid)."""
    count, threads = head.varint(), head.varint()
    pids, tids, pid = head.column(threads), head.column(threads), 0
    result = []
    for step, tid in zip(pids, tids):
        pid += step
        result.append((pid, tid))
    need(all(a < b for a, b in zip(result, result[1:])), "threads of a block")
    return count, result


Sample = collections.namedtuple("Sample", "time pid tid cpu event weight origin flags stack")


def read_sample_body(body, count, threads):
    """The samples of a block in the order of the capture."""
    groups = body.varint()
    cpus = body.column(groups)
    sizes = body.column(groups)
    cpu_of = [cpu for cpu, size in zip(cpus, sizes) for _ in range(size)]
    base, unit, form = body.varint(), body.varint(), body.u8()
    nominal = body.varint() if form == 1 else 0
    numbers, times = iter(body.column(count)), []
    for size in sizes:
        time = base
        for _ in range(size):
            number = next(numbers)
            time = (time + unit * (nominal + signed(number) if form == 1 else number)) & MASK
            times.append(time)
    order = sample_order(sizes, times, body.column(count))
    thread_codes, thread_of, at = body.column(count), [], 0
    for size in sizes:
        for i in range(size):
            code = thread_codes[at + i]
            need(code > 0 or i > 0, "thread of a group's first sample")
            thread_of.append(code - 1 if code > 0 else thread_of[-1])
        at += size
    events, weights, weight_of = body.column(count), [], {}
    for event, step in zip(events, body.column(count)):
        weight_of[event] = (weight_of.get(event, 0) + signed(step)) & MASK
        weights.append(weight_of[event])
    origins = body.column(count)
    flags = body.column(count)
    codes = body.column(count)
    differences = iter(body.column(codes.count(1)))
    by_thread = sorted(order, key=lambda position: thread_of[position])  # stable
    stack_of, thread, latest, followers = {}, None, None, {}
    for position, code in zip(by_thread, codes):
        if thread_of[position] != thread:
            thread, latest, followers = thread_of[position], None, {}
        if code == 0:
            stack_of[position] = NONE
            continue
        seen = followers.setdefault(latest, [])
        if code == 1:
            stack = ((latest or 0) + signed(next(differences))) & MASK
        else:
            need(latest is not None and code - 2 < len(seen), "guess")
            stack = seen[code - 2]
        if latest is not None:
            if stack in seen:
                seen.remove(stack)
            seen.insert(0, stack)
            del seen[GUESSES:]
        latest = stack
        stack_of[position] = stack
    return [Sample(times[p], *threads[thread_of[p]], cpu_of[p], events[p], weights[p], origins[p], flags[p], stack_of[p])
            for p in order]


def read_samples(file):
    sizes, expected = [], []
    for block in file.blocks(SAMPLE_INDEX):
        count = block.varint()
        columns = [block.column(count) for _ in range(7)]
        block.take(16 * count)
        for head, body in zip(columns[1], columns[3]):
            sizes += [head, body]
        expected += zip(*columns[4:])
    blocks = file.blocks(SAMPLES, sizes)
    for head in blocks:
        count, threads = read_sample_head(head)
        samples = read_sample_body(next(blocks), count, threads)
        times = [sample.time for sample in samples]
        need((count, min(times), max(times) - min(times)) == expected.pop(0), "index of a block of samples")
        yield from samples
    need(not expected, "blocks of samples")


def read_counts(file):
    """(stack, event, pid, origin, samples, weight) per row."""
    for block in file.blocks(STACK_COUNTS):
        rows = block.varint()
        yield from zip(*[block.column(rows) for _ in range(6)])


def count_samples(file):
    """Recorded samples per stack id; in an imported profile one stands for as many as its weight says."""
    counts = collections.Counter()
    aggregated = (b"samples.aggregated", b"1") in read_table(file, METADATA)
    if not file.has(SAMPLES):
        for stack, _, _, origin, samples, weight in read_counts(file):
            counts[stack] += (weight if aggregated else samples) if origin == RECORDED else 0
        return counts
    for sample in read_samples(file):
        counts[sample.stack] += (sample.weight if aggregated else 1) if sample.origin == RECORDED else 0
    return counts


# Fields of the tables: n number, t time, x text.
TABLES = {EVENTS: "xn", PROCESSES: "nnttnxx", THREADS: "nnttx", MODULES: "nnnnttxnxx", METADATA: "xx",
          CONTROL_GROUPS: "nx", MODULE_FILES: "nnnnn"}


def read_table(file, kind):
    rows = []
    for block in file.blocks(kind) if file.has(kind) else ():
        count, columns = block.varint(), []
        need(0 < count <= 4096, "rows of a table")
        for field in TABLES[kind]:
            values = block.column(count)
            if field == "t":
                values = [None if value == 0 else value - 1 for value in values]
            columns.append([block.take(size) for size in values] if field == "x" else values)
        rows += zip(*columns)
    need(not file.has(kind) or file.items(kind) == len(rows), "number of rows")
    return rows


Summary = collections.namedtuple("Summary", "events losses")


def read_summary(file):
    block = Bytes(file.contents[SUMMARY])
    block.take(8 * block.varint())  # numbers
    text = lambda: block.take(block.varint())
    text(), text()  # source kind, fingerprint
    events = [(text(), block.varint()) for _ in range(block.varint())]
    losses = [(text(), block.u8(), block.varint(), block.varint()) for _ in range(block.varint())]
    return Summary(events, losses)


# First and last of what a terminal obeys, or does not show at all.
HIDDEN = [(0, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
          (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
          (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]


def is_hidden(code):
    return any(first <= code <= last for first, last in HIDDEN)


def escaped(name):
    """A name as listings write it; '-' when it is empty."""
    shown = {"\\": "\\\\", "\t": "\\t", "\n": "\\n"}
    out = ""
    for c in name.decode("utf-8", "surrogateescape"):
        code = ord(c)
        if c in shown:
            out += shown[c]
        elif is_hidden(code) or 0xDC80 <= code <= 0xDCFF:
            out += "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))
        else:
            out += c
    return out or "-"


def number_or_none(value):
    return "-" if value == NONE else str(value)


def seconds(time):
    return "-" if time is None else f"{time // 10**9}.{time % 10**9:09}"


FLAGS = ["empty-chain", "idle", "stack-dump", "orphan-stack", "incomplete"]


class Stacks:
    def __init__(self, file):
        frames = read_frames(file)
        self.stacks = read_callstacks(file, len(frames))
        self.texts = [f"{MODE_LETTERS[mode]}{address:x}" for mode, address in frames]

    def frames(self, stack):
        need(stack < len(self.stacks), "stack id")
        frames, node = [], self.stacks[stack]
        while node is not None:
            frames.append(self.texts[node[0]])
            node = node[1]
        return " ".join(frames)


def list_stacks(file):
    stacks = Stacks(file)
    aggregated = (b"samples.aggregated", b"1") in read_table(file, METADATA)
    decimals = max(read_decimals(file), default=0) if aggregated else 0  # of one event
    for stack, count in sorted(count_samples(file).items()):
        if count > 0:
            print(decimal(count, decimals), stacks.frames(stack))


def read_decimals(file):
    """By event, how many digits of its weights stand behind the point."""
    units = dict(read_table(file, METADATA))
    decimals = []
    for name, weighted in read_table(file, EVENTS):
        unit = units.get(b"pprof.unit." + name, b"")
        scaled = weighted and unit[-6:-1] == b"*10^-" and unit[-1:] in b"123456789"
        decimals.append(int(unit[-1:]) if scaled else 0)
    return decimals


def decimal(value, decimals):
    whole, rest = divmod(value, 10 ** decimals)
    return f"{whole}.{rest:0{decimals}}".rstrip("0") if rest else str(whole)


def list_samples(file):
    need(file.has(SAMPLES), "no samples")
    decimals = read_decimals(file)
    stacks, events, before = Stacks(file), [escaped(name) for name, _ in read_table(file, EVENTS)], 0
    for s in read_samples(file):
        need(s.time >= before, "order of samples")
        before = s.time
        flags = ",".join(name for bit, name in enumerate(FLAGS) if s.flags >> bit & 1) or "-"
        print(seconds(s.time), number_or_none(s.pid), number_or_none(s.tid), number_or_none(s.cpu), events[s.event],
              decimal(s.weight, decimals[s.event]), ["none", "ip-only", "recorded"][s.origin], flags, number_or_none(s.stack),
              "" if s.stack == NONE else stacks.frames(s.stack), sep="\t")


def list_processes(file):
    for pid, parent, start, end, inherits, name, command in read_table(file, PROCESSES):
        print(number_or_none(pid), number_or_none(parent), seconds(start), seconds(end),
              "inherited" if inherits else "own", escaped(name), escaped(command), sep="\t")


def list_threads(file):
    for pid, tid, start, end, name in read_table(file, THREADS):
        print(number_or_none(pid), number_or_none(tid), seconds(start), seconds(end), escaped(name), sep="\t")


def list_modules(file):
    rows = list(read_table(file, MODULES))
    files = list(read_table(file, MODULE_FILES))
    need(all(a[0] < b[0] for a, b in zip(files, files[1:])), "files of modules ascend")
    for row, _, _, inode, _ in files:
        need(row < len(rows) and rows[row][7] == 0 and inode != 0, "a file of a module that has none")
    for pid, base, size, offset, start, end, path, kind, build_id, debug in rows:
        print(number_or_none(pid), hex(base), hex(size), hex(offset), seconds(start), seconds(end),
              ["-", "gnu", "pdb"][kind], build_id.hex() or "-", escaped(debug), escaped(path), sep="\t")


def list_events(file):
    samples = [count for _, count in read_summary(file).events]
    for i, (name, weighted) in enumerate(read_table(file, EVENTS)):
        print(i, samples[i], "yes" if weighted else "no", escaped(name), sep="\t")


def list_losses(file):
    for name, kind, count, offset in read_summary(file).losses:
        print(count, ["recorder", "damage", "notice"][kind], "-" if offset == 0 else offset - 1, escaped(name), sep="\t")


def list_metadata(file):
    for key, value in read_table(file, METADATA):
        print(escaped(key), escaped(value), sep="\t")


SOURCES = ("unknown clr jscript ksymbol bpf simpleperf folded pprof symtab dynsym gnu-debugdata dwarf pdb pe-export "
           "kallsyms perf-map jitdump").split()


class TextNumbers:
    """Numbers texts in the order in which rows name them."""

    def __init__(self):
        self.next = 0

    def rows(self, block, rows, columns):
        """The texts of each row: numbers, None for none."""
        codes = list(zip(*[block.column(rows) for _ in range(columns)]))
        return [[self.number(code) for code in row] for row in codes]

    def number(self, code):
        if code == 0:
            return None
        number = self.next - (code - 1)
        need(number >= 0, "text code")
        self.next += code == 1
        return number


def read_ranges(block, rows):
    owners, places = block.column(rows), block.column(rows)
    lives = [life - 1 if life else None for life in block.column(rows)]
    starts, before = [], None
    for owner, place, distance in zip(owners, places, block.column(rows)):
        starts.append(distance + (starts[-1] if before == (owner, place) else 0))
        before = owner, place
    sizes = block.column(rows)
    need(all(owner <= 2 for owner in owners) and all(sizes), "ranges")
    return [list(row) for row in zip(owners, places, lives, starts, sizes)]


def read_functions(file, texts):
    """[owner, place, life, start, size, birth, source, line, name, linkage name, file]"""
    functions = []
    for block in file.blocks(FUNCTIONS):
        rows = block.varint()
        need(block.varint() == texts.next, "first text")
        ranges, birth, births = read_ranges(block, rows), 0, []
        for code in block.column(rows):
            birth += signed(code - 1) if code else 0
            births.append(birth if code else None)
        sources, lines = block.column(rows), block.column(rows)
        for row, born, source, line, named in zip(ranges, births, sources, lines, texts.rows(block, rows, 3)):
            functions.append(row + [born, source, line] + named)
    key = lambda f: (f[0], f[1], f[3], -1 if f[2] is None else f[2], -1 if f[5] is None else f[5])
    need(all(key(a) <= key(b) for a, b in zip(functions, functions[1:])), "order of functions")
    return functions


def read_texts(file, kind=TEXTS):
    texts = []
    for block in file.blocks(kind):
        lengths = block.column(block.varint())
        texts += [block.take(length) for length in lengths]
    return texts


def read_inlined_calls_and_lines(file, texts):
    """[row it is inlined in or None, line, name, linkage name, file of the call] and
    [owner, place, life, start, size, inlined call or None, line, file]."""
    calls, lines = [], []
    if file.has(INLINED_CALLS):
        for block in file.blocks(INLINED_CALLS):
            rows = block.varint()
            need(block.varint() == texts.next, "first text")
            outer, places = block.column(rows), block.column(rows)
            for back, line, named in zip(outer, places, texts.rows(block, rows, 3)):
                need(back <= len(calls), "an inlined call comes after the one it is in")
                calls.append([len(calls) - back if back else None, line] + named)
    if file.has(LINES):
        for block in file.blocks(LINES):
            rows = block.varint()
            need(block.varint() == texts.next, "first text")
            ranges, inlined, line = read_ranges(block, rows), 0, 0
            steps, line_steps = block.column(rows), block.column(rows)
            for row, step, line_step, named in zip(ranges, steps, line_steps, texts.rows(block, rows, 1)):
                inlined += signed(step)
                line += signed(line_step)
                need(0 <= inlined <= len(calls) and line >= 0, "line")
                lines.append(row + [inlined - 1 if inlined else None, line] + named)
    depths = []
    for call in calls:
        depths.append(1 if call[0] is None else depths[call[0]] + 1)
    shown = sum(depths[line[5]] for line in lines if line[5] is not None)
    need(shown // INLINED_PER_ROW <= len(calls) + len(lines), "too many calls inlined at lines")
    return calls, lines


def read_line_births(file, lines):
    """The birth of each line, None where it has none."""
    if not file.has(LINE_BIRTHS):
        return [None] * lines
    births = []
    for block in file.blocks(LINE_BIRTHS):
        last = 0
        for code in block.column(block.varint()):
            last += signed(code - 1) if code else 0
            births.append(last & MASK if code else None)
    need(len(births) == lines, "line births: number of rows")
    return births


def read_aliases(file, texts):
    """(name, alias) of functions; `texts`: how many texts the names have."""
    if not file.has(FUNCTION_ALIASES):
        need(not file.has(ALIAS_TEXTS), "alias texts without aliases")
        return []
    names = []
    for block in file.blocks(FUNCTION_ALIASES):
        last = 0
        for distance in block.column(block.varint()):
            last += distance
            names.append(last)
    need(all(name < texts for name in names), "function aliases: a name that is not there")
    aliases = read_texts(file, ALIAS_TEXTS)
    need(len(aliases) == len(names), "function aliases: number of texts")
    rows = list(zip(names, aliases))
    need(all(aliases) and all(a < b for a, b in zip(rows, rows[1:])), "function aliases: order")
    return rows


BRANCH_TYPES = ("UNKNOWN COND UNCOND IND CALL IND_CALL RET SYSCALL SYSRET COND_CALL COND_RET ERET IRQ SERROR "
                "NO_TX").split()
MORE_BRANCH_TYPES = "FAULT_ALGN FAULT_DATA FAULT_INST ARCH_1 ARCH_2 ARCH_3 ARCH_4 ARCH_5".split()


def branch_type(number):
    if number < 15:
        return BRANCH_TYPES[number]
    return MORE_BRANCH_TYPES[number // 16] if number % 16 == 15 and number // 16 < 8 else "?"


def read_branch_edges(file):
    """(event, from image, from, to image, to, type, wrong path, count, mispredicted, cycles, head duplicates)"""
    edges = []
    for block in file.blocks(BRANCH_EDGES) if file.has(BRANCH_EDGES) else ():
        before = None
        rows = block.varint()
        for event, image, start, to_image, to, *rest in zip(*[block.column(rows) for _ in range(11)]):
            start = (start + (before[2] if before and before[:2] == (event, image) else 0)) & MASK
            to_image = image + signed(to_image)
            to = (start + signed(to)) & MASK if to_image == image else to
            before = (event, image, start, to_image, to, *rest)
            edges.append(before)
    need(all(a[:7] < b[:7] for a, b in zip(edges, edges[1:])), "order of branches")
    need(all(0 < e[7] and e[8] <= e[7] and e[10] <= e[7] for e in edges), "counts of branches")
    return edges


def read_branch_ranges(file):
    """(event, image, begin, end, count, head duplicates, wrong path)"""
    ranges = []
    for block in file.blocks(BRANCH_RANGES) if file.has(BRANCH_RANGES) else ():
        before = None
        rows = block.varint()
        for event, image, begin, size, *rest in zip(*[block.column(rows) for _ in range(7)]):
            begin += before[2] if before and before[:2] == (event, image) else 0
            before = (event, image, begin, begin + size, *rest)
            ranges.append(before)
    need(all(a[:4] < b[:4] for a, b in zip(ranges, ranges[1:])), "order of ranges")
    need(all(r[1] and 0 < r[4] and max(r[5:]) <= r[4] for r in ranges), "counts of ranges")
    return ranges


def branch_places(file):
    """What a listing calls an address of an image."""
    names = [row[8].hex() or row[6].decode("latin-1") for row in read_table(file, MODULES)]
    return lambda image, offset: f"{names[image - 1]}+{offset:x}" if image and names[image - 1] else f"{offset:x}"


def list_branches(file):
    place, sums = branch_places(file), collections.Counter()
    for _, image, start, to_image, to, kind, _, count, mispredicted, _, _ in read_branch_edges(file):
        where = f"{branch_type(kind)} {place(image, start)} {place(to_image, to)}"
        sums[0, where] += count - mispredicted
        sums[1, where] += mispredicted
    for line in sorted(f"{count} {wrong} {where}".encode("latin-1") for (wrong, where), count in sums.items() if count):
        print(escaped(line))


def list_ranges(file):
    place, sums = branch_places(file), collections.Counter()
    for _, image, begin, end, count, _, _ in read_branch_ranges(file):
        sums[f"{place(image, begin)} {end:x}"] += count
    for line in sorted(f"{count} {where}".encode("latin-1") for where, count in sums.items()):
        print(escaped(line))


def read_field(block, rows, begins):
    """One field of a block of intervals: a number for each row, 0 where it has none."""
    count = block.varint()
    need(count <= rows, "intervals: dictionary")
    entries = []
    for step in block.column(count):
        need(not entries or step > 0, "intervals: dictionary")
        entries.append((entries[-1] if entries else 0) + step)
    values = []
    for code, begin in zip(block.column(rows), begins):
        need(code != 1 or not begin, "intervals: nothing before")
        values.append(values[-1] if code == 1 else entries[code - 2] if code else 0)
    return values


Interval = collections.namedtuple("Interval", "tid pid start end state reason flags stack waker_kind waker waker_stack")


def read_intervals(file):
    """Intervals in the order of the file; callstacks as ids, NONE without; waker_kind 0: no waker."""
    if not file.has(INTERVALS):
        return
    for block in file.blocks(WAIT_REASONS):
        reasons = [block.take(block.varint()).decode() for _ in range(block.varint())]
    states = ("running", "blocked", "woken", "preempted", "awake", "unknown", "exited")
    for block in file.blocks(INTERVALS):
        rows = block.varint()
        ids = []
        for column in (block.column(rows), block.column(rows)):
            number, numbers = 0, []
            for step in column:
                number = (number + step) & 0xFFFFFFFF
                numbers.append(number)
            ids.append(numbers)
        threads = list(zip(*ids))
        begins = [i == 0 or threads[i] != threads[i - 1] for i in range(rows)]
        base = block.varint()
        gaps, lengths, codes = block.column(rows), block.column(rows), block.column(rows)
        fields = [read_field(block, rows, begins) for _ in range(4)]
        end = 0
        for i, (reason, stack, waker, waker_stack) in enumerate(zip(*fields)):
            begin = (base if begins[i] else end) + gaps[i]
            end = begin + lengths[i]
            yield Interval(*threads[i], begin, end, states[codes[i] & 7], reasons[reason], codes[i] >> 3, stack - 1 if stack else NONE,
                           waker & 3, waker >> 2, waker_stack - 1 if waker_stack else NONE)


def list_intervals(file):
    """`tid from to state reason flags stack waker waker_stack`, stacks as ids."""
    for row in read_intervals(file):
        letters = "".join(letter for bit, letter in ((1, "s"), (2, "e"), (4, "l"), (8, "n")) if row.flags & bit)
        who = ("~" if row.flags & 16 else "") + ("", "", "irq:", "dpc:")[row.waker_kind] + str(row.waker) if row.waker_kind or row.waker else "-"
        stack, waker_stack = ("-" if number == NONE else number for number in (row.stack, row.waker_stack))
        print(row.tid, row.start, row.end, row.state, row.reason or "-", letters or "-", stack, who, waker_stack, sep="\t")


def read_value_kinds(file):
    """(name, fields) of each kind, fields being (name, type)."""
    kinds = []
    for block in file.blocks(VALUE_KINDS):
        for _ in range(block.varint()):
            name = block.take(block.varint())
            kinds.append((name, [(block.take(block.varint()), block.varint()) for _ in range(block.varint())]))
    return kinds


def value_text(kind, value, texts):
    if kind == 5:
        need(value < len(texts), "text of a value")
        return escaped(texts[value])
    if value == 0:
        return "-"
    value -= 1
    if kind == 6:
        return str(-(value + 1) // 2 if value & 1 else value // 2)
    return hex(value) if kind == 3 else f"{struct.unpack('<d', struct.pack('<Q', value))[0]:.6g}" if kind == 4 else str(value)


def read_event_values(file):
    """(time, pid, tid, callstack or NONE, kind, [(field, type, value)]) as they are stored, and texts by number."""
    if not file.has(EVENT_VALUES):
        return [], []
    kinds = read_value_kinds(file)
    texts = [block.take(block.varint())
             for block in file.blocks(VALUE_TEXTS) for _ in range(block.varint())]
    found, latest = [], 0
    for block in file.blocks(EVENT_VALUES):
        rows = block.varint()
        ids = []
        for column in (block.column(rows), block.column(rows)):
            number, numbers = 0, []
            for step in column:
                number = (number + step) & NONE
                numbers.append(number)
            ids.append(numbers)
        time, times = block.varint(), []
        for step in block.column(rows):
            time += step
            times.append(time)
        need(times[0] >= latest, "order of event values")
        latest = times[-1]
        of_row, stacks = block.column(rows), block.column(rows)
        fields = {}
        for kind, (_, columns) in enumerate(kinds):
            count = of_row.count(kind)
            if count:
                fields[kind] = iter(list(zip(*[block.column(count) for _ in columns])))
        for tid, pid, time, kind, stack in zip(*ids, times, of_row, stacks):
            name, columns = kinds[kind]
            found.append((time, pid, tid, stack - 1 if stack else NONE, name,
                          [(field, type_of, value) for (field, type_of), value in zip(columns, next(fields[kind]))]))
    return found, texts


def list_event_values(file):
    """`time pid tid stack kind field=value ...`, as `dump --event-values`."""
    rows, texts = read_event_values(file)
    known = lambda number: "-" if number == NONE else number
    for time, pid, tid, stack, name, fields in rows:
        print(time, known(pid), known(tid), known(stack), escaped(name),
              *[f"{escaped(field)}={value_text(type_of, value, texts)}" for field, type_of, value in fields], sep="\t")


def field_values(block, count):
    """A column of values of one field: as they are, as differences, or as numbers in a list."""
    form = block.u8()
    need(form <= 2, "form of a field")
    if form == 0:
        return block.column(count)
    values, value = [], 0
    if form == 1:
        for code in block.column(count):
            value = value + signed(code) & MASK
            values.append(value)
        return values
    for i in range(block.varint()):
        value += block.varint()
        need(i == 0 or value > values[-1], "order of a list of values")
        values.append(value)
    codes = block.column(count)
    need(all(code < len(values) for code in codes), "number in a list of values")
    return [values[code] for code in codes]


def list_sample_fields(file):
    """`sample value ...`, as `dump --sample-fields`; the fields that are known here."""
    if not file.has(SAMPLE_FIELDS):
        return
    groups = list(read_table(file, CONTROL_GROUPS)) if file.has(CONTROL_GROUPS) else []
    need(len(set(groups)) == len(groups), "a control group comes twice")

    def group(number):
        need(number < len(groups), "control group of a sample")
        return escaped(groups[number][1] or b"cgroup %d" % groups[number][0])

    shown = (hex, str, str, str, hex, hex, hex, str, str, group)
    for number, values in read_sample_fields(file):
        if any(field < len(shown) for field in values):
            print(number, *[form(values[field]) if field in values else "-" for field, form in enumerate(shown)], sep="\t")


def read_sample_fields(file):
    """(number of the sample, value by field)."""
    least = 0
    for block in file.blocks(SAMPLE_FIELDS):
        rows = block.varint()
        sample, numbers = block.varint(), []
        need(sample >= least, "order of sample fields")
        for i, step in enumerate(block.column(rows)):
            sample += step + (1 if i else 0)
            numbers.append(sample)
        least = sample + 1
        masks = block.column(rows)
        columns = {}
        for field in range(32):
            count = sum(mask >> field & 1 for mask in masks)
            if count:
                columns[field] = iter(field_values(block, count))
        for number, mask in zip(numbers, masks):
            yield number, {field: next(columns[field]) for field in range(32) if mask >> field & 1}


def read_branch_entries(file):
    entries = []
    for block in file.blocks(BRANCH_ENTRIES):
        rows = block.varint()
        need(0 < rows <= 65536, "rows of branch entries")
        newer = 0
        for target, length, flags in zip(*[block.column(rows) for _ in range(3)]):
            to = newer + signed(target) & MASK
            newer = to + signed(length) & MASK
            entries.append((newer, to, flags))
    need(len(entries) == file.items(BRANCH_ENTRIES), "number of branch entries")
    return entries


def branch_text(branch, cycles):
    """`from/to/M|P|-/X|-/A|-/cycles[/type/speculation]`"""
    start, to, flags = branch
    need(flags >> 4 & 0xFFFF == 0, "cycles of a branch entry")
    text = f"{start:#x}/{to:#x}/{'M' if flags & 1 else 'P' if flags & 2 else '-'}/{'X' if flags & 4 else '-'}"
    text += f"/{'A' if flags & 8 else '-'}/{cycles}"
    kind, speculation = flags >> 20 & 15, flags >> 24 & 3
    kind += 16 * (flags >> 26 & 15) if kind == 15 else 0
    if kind or speculation:
        text += f"/{branch_type(kind)}/{('-', 'WRONG_PATH', 'NON_SPEC_CORRECT_PATH', 'CORRECT_PATH')[speculation]}"
    return text


def frames_of(callstack):
    """From the root on."""
    frames = []
    while callstack is not None:
        frame, callstack = callstack
        frames.append(frame)
    return frames[::-1]


def list_branch_stacks(file):
    """`sample stack branch ...`, as `dump --branch-stacks`."""
    if not file.has(BRANCH_ENTRIES):
        return
    entries = read_branch_entries(file)
    stacks = read_callstacks(file, len(entries), BRANCH_SUCCESSORS, BRANCH_PAGES, BRANCH_PAGE_INDEX)
    cycles = read_frames(file, CYCLE_VALUES) if file.has(CYCLE_VALUES) else []
    timed = read_callstacks(file, len(cycles), CYCLE_SUCCESSORS, CYCLE_PAGES, CYCLE_PAGE_INDEX) if cycles else []
    need(all(mode == 0 and value < 65536 for mode, value in cycles), "values of cycles")
    for number, values in read_sample_fields(file):
        if 10 not in values:
            continue
        need(values[10] < len(stacks), "branch stack of a sample")
        branches = frames_of(stacks[values[10]])
        times = [0] * len(branches)
        if 11 in values:
            need(values[11] < len(timed), "cycles of a sample")
            times = [cycles[value][1] for value in frames_of(timed[values[11]])]
            need(len(times) == len(branches), "number of cycles")
        print(number, values[10], " ".join(branch_text(entries[b], c) for b, c in zip(branches, times)), sep="\t")


def list_functions(file):
    numbers = TextNumbers()
    functions = read_functions(file, numbers) if file.has(FUNCTIONS) else []
    read_inlined_calls_and_lines(file, numbers)
    texts = read_texts(file) if file.has(TEXTS) else []
    need(len(texts) == numbers.next, "number of texts")
    for owner, place, life, start, size, born, source, line, *named in functions:
        name, linkage, path = ("-" if n is None else escaped(texts[n]) for n in named)
        pid, module = (place if owner == wanted else "-" for wanted in (0, 2))
        print(("process", "kernel", "image")[owner], pid, module, seconds(life), hex(start), hex(size), seconds(born),
              SOURCES[source], name, linkage, path, line, sep="\t")
    read_aliases(file, len(texts))


def list_lines(file):
    """`owner pid module start size place`, place being `file:line`, then ` < name at file:line` for
    each inlined call that the code belongs to, innermost first."""
    numbers = TextNumbers()
    if file.has(FUNCTIONS):
        read_functions(file, numbers)
    calls, lines = read_inlined_calls_and_lines(file, numbers)
    texts = read_texts(file) if file.has(TEXTS) else []
    text = lambda number: "-" if number is None else escaped(texts[number])
    births = read_line_births(file, len(lines))
    for (owner, place, _, start, size, inlined, line, path), born in zip(lines, births):
        pid, module = (place if owner == wanted else "-" for wanted in (0, 2))
        where = f"{text(path)}:{line}"
        while inlined is not None:
            inlined, call_line, name, _, call_path = calls[inlined]
            where += f" < {text(name)} at {text(call_path)}:{call_line}"
        where += "" if born is None else f" @{born}"
        print(("process", "kernel", "image")[owner], pid, module, hex(start), hex(size), where, sep="\t")


def read_label(block):
    """(key, value as reports write it)."""
    def text(most):
        size = block.varint()
        need(size <= most, "text of a label")
        return block.take(size)

    key, kind = text(255), block.u8()
    need(kind <= 3, "type of a label")
    if kind == 0:
        return key, text(4096)
    if kind == 1:
        value, unit = signed(block.varint()), text(255)
        return key, b"%d %s" % (value, unit) if unit else b"%d" % value
    if kind == 2:
        return key, b"%g" % struct.unpack("<d", block.take(8))
    value = block.u8()
    need(value <= 1, "Boolean of a label")
    return key, b"%d" % value


def list_labels(file):
    """`set key value`, as `dump --labels`; samples have sets that are there."""
    count = 0
    for block in file.blocks(LABEL_SETS) if file.has(LABEL_SETS) else ():
        for size in block.column(block.varint()):
            set_bytes, before = Bytes(block.take(size)), b""
            while set_bytes.at < len(set_bytes.data):
                begin = set_bytes.at
                key, value = read_label(set_bytes)
                label = bytes(set_bytes.data[begin:set_bytes.at])
                need(label > before, "order of labels")
                before = label
                print(count, escaped(key), escaped(value), sep="\t")
            count += 1
    for _, values in read_sample_fields(file) if file.has(SAMPLE_FIELDS) else ():
        need(values.get(12, -1) < count, "labels of a sample")


LISTINGS = {
    "stacks": list_stacks, "samples": list_samples, "processes": list_processes, "threads": list_threads,
    "modules": list_modules, "events": list_events, "losses": list_losses, "metadata": list_metadata,
    "functions": list_functions, "lines": list_lines, "branches": list_branches, "ranges": list_ranges,
    "intervals": list_intervals, "event-values": list_event_values,
    "sample-fields": list_sample_fields, "labels": list_labels, "branch-stacks": list_branch_stacks}


def main():
    _, *arguments = sys.argv
    version = "1.5"
    if arguments[:1] == ["--version"] and arguments[1:2] and arguments[1] in LAST_KIND:
        version, arguments = arguments[1], arguments[2:]
    if not arguments or len(arguments) == 2 or any(name not in LISTINGS for name in arguments[2:]):
        sys.exit(__doc__)
    file = File(arguments[0], version)
    if len(arguments) == 1:
        list_stacks(file)
    for name in arguments[2:]:
        with open(os.path.join(arguments[1], name), "w") as out, contextlib.redirect_stdout(out):
            LISTINGS[name](file)


if __name__ == "__main__":
    try:
        main()
    except Bad as error:
        sys.exit(f"read_spk.py: {sys.argv[1]}: {error}")
