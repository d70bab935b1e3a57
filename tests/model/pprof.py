"""Reads the callstacks of pprof files and Perfetto's traces: profile.proto and trace.proto, the fields that a report needs."""
import collections
import gzip


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, integer or bytes) of each field of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def packed(values):
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            yield number


def message(data):
    known = collections.defaultdict(list)
    for number, value in fields(data):
        known[number].append(value)
    return known


def stacks(data, counts):
    """{function names leaf first, "" for code without one: value}; of several values the last, or the first where `counts`."""
    profile = message(gzip.decompress(data))
    texts = [text.decode("utf-8", "replace") for text in profile[6]]
    functions = {}
    for raw in profile[5]:
        function = message(raw)
        functions[function[1][0]] = texts[function[2][0]] if function[2] else ""
    locations = {}
    for raw in profile[4]:
        location = message(raw)
        names = [functions[message(line)[1][0]] for line in location[4]]
        locations[location[1][0]] = names or [""]
    sums = collections.Counter()
    for raw in profile[2]:
        sample = message(raw)
        values = list(packed(sample[2]))
        names = [name for number in packed(sample[1]) for name in locations[number]]
        sums[tuple(names)] += values[0 if counts else -1]
    return sums


def stacks_of_trace(data):
    """Samples of a Perfetto trace by the names of their frames, leaf first; "" for a frame that has none but its address."""
    sums, known = collections.Counter(), collections.defaultdict(dict)
    for packet in (message(raw) for raw in message(data)[1]):
        sequence = known[packet[10][0] if packet[10] else 0]
        for interned in (message(raw) for raw in packet[12]):
            for kind in (5, 6, 7):  # texts, frames, callstacks
                for row in (message(raw) for raw in interned[kind]):
                    sequence[kind, row[1][0]] = row[2]
        for sample in (message(raw) for raw in packet[66]):
            frames = packed(sequence[7, sample[4][0]]) if sample[4] else ()
            names = [sequence[5, name[0]][0].decode("utf-8", "replace") if (name := sequence[6, frame]) else "" for frame in frames]
            sums[tuple("" if name.startswith("0x") else name for name in reversed(names))] += 1
    return sums
