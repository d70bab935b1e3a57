"""What `gc`, `exceptions`, `jit`, `io`, `branches` and `mem` say, from the values of events, sums of branches and fields of samples: docs/event-values.md,
docs/branches.md and docs/memory.md, one row after the other."""
import collections
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import read_spk as spk  # noqa: E402

OF_COLLECTIONS = (1, 6)  # reasons of suspensions
OPERATIONS = {("disk_io", 0): "disk read", ("disk_io", 1): "disk write", ("disk_io", 2): "disk flush", ("file_io", 64): "file create",
              ("file_io", 67): "file read", ("file_io", 68): "file write", ("file_io", 73): "file flush", ("hard_fault", None): "hard fault"}

Value = collections.namedtuple("Value", "time pid tid stack kind fields")


def values(path):
    """[Value] in the order of the file, fields as numbers, texts and None."""
    rows, texts = spk.read_event_values(spk.File(path))

    def plain(kind, value):
        if kind == 5:
            return texts[value].decode("utf-8", "replace")
        if value == 0:
            return None
        if kind == 6:
            return spk.signed(value - 1)
        return struct.unpack("<d", struct.pack("<Q", value - 1))[0] if kind == 4 else value - 1

    return [Value(*row[:4], row[4].decode(), {name.decode(): plain(kind, value) for name, kind, value in row[5]}) for row in rows]


def named_function(store, row):
    """The first function with a name, leaf first."""
    stack = store.stacks[row.stack] if row.stack != spk.NONE else ()
    for index, frame in enumerate(stack):
        use = store.use_of(stack, index, row.pid, row.time)
        for place in store.places_of(frame, use, row.pid, row.time):
            if place.name:
                return place.name
    return ""


def garbage(rows):
    """{pid: {figure: sum}}, {(pid, generation): collections}"""
    sums, open_at, generations = collections.defaultdict(collections.Counter), {}, collections.Counter()
    for row in rows:
        process, fields = sums[row.pid], row.fields
        who = row.pid, fields.get("runtime")
        if row.kind == "suspend_start":
            open_at[who] = row.time, fields["reason"] in OF_COLLECTIONS
        elif row.kind == "restart_end" and who in open_at:
            begin, of_collection = open_at.pop(who)
            process["pauses" if of_collection else "other_suspensions"] += 1
            process["pause_ns" if of_collection else "other_suspension_ns"] += row.time - begin
            if of_collection:
                process["longest_pause_ns"] = max(process["longest_pause_ns"], row.time - begin)
        elif row.kind == "gc_start":
            generations[row.pid, fields["generation"]] += 1
        elif row.kind == "allocation":
            process["allocated_bytes"] += fields["bytes"] or 0
        elif row.kind == "gc_heap":
            size = sum(fields[name] or 0 for name in ("gen0", "gen1", "gen2", "large", "pinned"))
            process["largest_heap_bytes"] = max(process["largest_heap_bytes"], size)
    return sums, generations


def exceptions(store, rows):
    """{(type, message, function): [count, first time]}"""
    found = {}
    for row in rows:
        if row.kind == "exception":
            key = row.fields["type"], row.fields["message"], named_function(store, row)
            count, first = found.get(key, (0, row.time))
            found[key] = count + 1, first
    return found


def compiled(rows):
    """{method: [count, bytes, ns, longest]}"""
    found = {}
    for row in rows:
        if row.kind == "jit":
            duration, code = row.fields["duration"] or 0, row.fields["code"] or 0
            count, size, total, longest = found.get(row.fields["method"], (0, 0, 0, 0))
            found[row.fields["method"]] = count + 1, size + code, total + duration, max(longest, duration)
    return found


def operations(rows):
    """{operation: [count, bytes, latency, longest]}"""
    found = {}
    for row in rows:
        operation = row.fields.get("operation")
        name = OPERATIONS.get((row.kind, operation))
        if row.kind == "network":
            name = f"{('TCP', 'UDP')[row.fields['protocol']]} {('send', 'receive')[operation]}"
        if name:
            size, latency = row.fields["bytes"] or 0, row.fields.get("latency") or 0
            count, sizes, total, longest = found.get(name, (0, 0, 0, 0))
            found[name] = count + 1, sizes + size, total + latency, max(longest, latency)
    return found


def branches(path):
    """{(from, to): (taken, mispredicted, taken to all targets, not taken)} by offsets; a run of code that goes on past a branch did not take it."""
    file = spk.File(path)
    edges = list(spk.read_branch_edges(file)) if file.has(spk.BRANCH_EDGES) else []
    ranges = list(spk.read_branch_ranges(file)) if file.has(spk.BRANCH_RANGES) else []
    sums, wrong, to_all = collections.Counter(), collections.Counter(), collections.Counter()
    for _, image, start, _, to, _, _, count, mispredicted, _, _ in edges:
        sums[start, to] += count
        wrong[start, to] += mispredicted
        to_all[image, start] += count
    passed = lambda image, start: sum(row[4] for row in ranges if row[1] == image and row[2] <= start < row[3])
    return {(start, to): (sums[start, to], wrong[start, to], to_all[image, start], passed(image, start)) for _, image, start, _, to, *_ in edges}


ADDRESS, LATENCY, SOURCE, PHYSICAL = 0, 1, 4, 6  # fields of samples
LOAD, STORE, MODIFIED, REMOTE = 1 << 1, 1 << 2, 1 << 23, 1 << 37  # bits of perf_mem_data_src


def accesses(store):
    """{("all", "") or ("function", name) or ("line", address): (samples, loads, stores, latency, longest, shared)}"""
    sums = collections.defaultdict(lambda: [0] * 6)
    for number, fields in spk.read_sample_fields(spk.File(store.path)):
        if SOURCE not in fields:
            continue
        sample, source, latency = store.samples[number], fields[SOURCE], fields.get(LATENCY, 0)
        address = fields.get(PHYSICAL, fields.get(ADDRESS))
        keys = [("all", ""), ("function", store.leaf_name(sample))] + ([("line", address >> 6 << 6)] if address else [])
        for key in keys:
            row = sums[key]
            loads = bool(source & LOAD)
            for index, value in enumerate((1, loads, bool(source & STORE), latency)):
                row[index] += value
            row[4] = max(row[4], latency)
            row[5] += loads and bool(source & MODIFIED)
    return {key: tuple(row) for key, row in sums.items()}
