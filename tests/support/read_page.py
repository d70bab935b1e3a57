"""Reads the data of a page, written after docs/page-format.md alone."""
import base64
import gzip
import json
import pathlib
import re

NO_FUNCTION = 0xFFFFFFFF


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def take(self, length):
        assert length <= len(self.data) - self.at
        self.at += length
        return self.data[self.at - length:self.at]

    def done(self):
        return self.at == len(self.data)


class Page:
    """head, functions [(name, module, mode)], parents, fn, end, self[side][measure], rows of time and the set of labels of each, as
    the document has them."""

    def __init__(self, path):
        self.text = pathlib.Path(path).read_bytes()
        data, = re.findall(rb'<script type="application/octet-stream" id="profile">([^<]*)</script>', self.text)
        data = gzip.decompress(base64.b64decode(data, validate=True))
        assert data[:5] == b"spkP\x01"
        cursor, sections = Cursor(data), {}
        cursor.at = 5
        while not cursor.done():
            number = cursor.varint()
            sections.setdefault(number, []).append(cursor.take(cursor.varint()))
        self.head = json.loads(sections[0][0].decode("utf-8"))
        self.read_functions(Cursor(sections[1][0]), Cursor(sections[2][0]))
        self.read_tree(Cursor(sections[3][0]), Cursor(sections[4][0]))
        sides, measures = max(1, len(self.head["sides"])), len(self.head["measures"])
        streams = sections.get(5, [])
        assert len(streams) == sides * measures
        self.self = [[self.read_self(Cursor(streams[side * measures + i])) for i in range(measures)] for side in range(sides)]
        self.findings = self.read_findings(Cursor(sections[7][0])) if self.head["diff"] else None
        self.time = self.read_time(Cursor(sections[6][0])) if self.head["timeline"] else None
        self.lanes = self.read_lanes(Cursor(sections[9][0])) if self.head["lanes"] else None

    def read_findings(self, cursor):
        """By function: (verdict, old and new share, low, high, least visible) of self and total, or None."""
        count, about = cursor.varint(), self.head["diff"]

        def column(rows, of_bytes=False):
            part = Cursor(cursor.take(cursor.varint()))
            values = [part.take(1)[0] if of_bytes else part.varint() for _ in range(rows)]
            assert part.done()
            return values

        verdicts, old, new = column(count, True), column(count), column(count)
        bounds = []
        for _ in range(3):
            digits, exponents = column(count), column(count, True)
            bounds.append([None if e - 64 == 127 else float(f"{d >> 1 ^ -(d & 1)}e{e - 64}") for d, e in zip(digits, exponents, strict=True)])
        figures = [(about["verdicts"][verdicts[i]], old[i] / about["wholes"][0], new[i] / about["wholes"][1], *(bound[i] for bound in bounds))
                   for i in range(count)]
        own, total = column(len(self.functions)), column(len(self.functions))
        assert cursor.done()
        return [(figures[a - 1], figures[b - 1]) if a else None for a, b in zip(own, total, strict=True)]

    def read_functions(self, rows, names):
        self.functions, last, offset = [], b"", 0
        for _ in range(self.head["functions"]):
            flags = rows.take(1)[0]
            number = rows.varint()
            module = self.head["modules"][number - 1] if number else ""
            if flags & 8:
                shared = rows.varint()
                last = last[:shared] + names.take(rows.varint())
                name = last.decode("utf-8")
            else:
                code = rows.varint()
                offset = (offset + (code >> 1 ^ -(code & 1))) % 2**64
                name = f"{module}+0x{offset:x}" if number else f"0x{offset:x}"
            self.functions.append((name, module, flags & 7))
        assert rows.done() and names.done()

    def read_tree(self, pops, functions):
        count = self.head["nodes"]
        self.parents, self.fn, self.end = [0] * count, [NO_FUNCTION] * count, [count] * count
        last = 0
        for node in range(1, count):
            for _ in range(pops.varint()):
                assert last != 0
                self.end[last] = node
                last = self.parents[last]
            self.parents[node], self.fn[node] = last, functions.varint()
            last = node
        assert pops.done() and functions.done()

    def read_self(self, cursor):
        values = [cursor.varint() if self.end[node] == node + 1 else 0 for node in range(len(self.parents))]
        node = -1
        while not cursor.done():
            node += cursor.varint() + 1
            assert self.end[node] != node + 1
            values[node] = cursor.varint()
        return values

    def read_time(self, cursor):
        head, tracks = self.head["timeline"], self.head.get("labels", {}).get("tracks")
        self.sets = []
        columns = [Cursor(cursor.take(cursor.varint())) for _ in range(5)]
        rows, bucket, thread, node = [], 0, 0, 0
        for _ in range(head["rows"]):
            more = columns[0].varint()
            step = columns[1].varint()
            place = columns[2].varint()
            thread_now = step if more else thread + step
            node = place if more or step else node + place
            bucket, thread = bucket + more, thread_now
            for measure in head["measures"][columns[3].varint()]:
                place, number = tracks[thread] if tracks else (thread, 0)
                rows.append([bucket, place, node, measure, columns[4].varint()])
                self.sets.append(number)
        assert all(column.done() for column in columns) and len(rows) == head["values"]
        return rows

    def read_lanes(self, cursor):
        """By lane: rows [from, to, state, flags, reason, node, waker], times in ticks, state 6 a gap, node -1 without a callstack, waker
        (kind, tid, lane or -1, node) or None."""
        head = self.head["lanes"]
        nodes, spots, wakers, codes, *lengths = (Cursor(cursor.take(cursor.varint())) for _ in range(10))
        assert cursor.done()
        bits, spot_codes, waker_codes = lengths[3:]
        nodes = [-1] + [nodes.varint() for _ in range(head["callstacks"])]
        spots = [(head["reasons"][spots.varint()], nodes[spots.varint()]) for _ in range(head["spots"])]
        wakers = [(wakers.varint(), wakers.varint(), wakers.varint() - 1, nodes[wakers.varint()]) for _ in range(head["wakers"])]
        stream = int.from_bytes(bits.data, "little")
        place, lanes = 0, []
        for thread in head["threads"]:
            now, spot, waker, rows = 0, None, None, []
            for _ in range(thread[6]):
                code = codes.take(1)[0]
                state = code & 7
                width = lengths[{0: 0, 2: 2, 3: 2}.get(state, 1)].take(1)[0]
                length = (stream >> place & (1 << width - 1) - 1 | 1 << width - 1) if width else 0
                place += max(0, width - 1)
                row = [now, now + length, state, code >> 3, "", -1, None]
                now += length
                if state not in (0, 6):
                    code = spot_codes.varint()
                    spot = spots[code - 2] if code > 1 else spot
                    row[4:6] = spot if code else ("", -1)
                    code = waker_codes.varint()
                    waker = wakers[code - 2] if code > 1 else waker
                    row[6] = waker if code else None
                rows.append(row)
            lanes.append(rows)
        assert all(column.done() for column in (codes, *lengths[:3], spot_codes, waker_codes)) and len(bits.data) == (place + 7) // 8
        return lanes

    def path(self, node):
        """Functions, root first."""
        path = []
        while node > 0:
            path.append(self.functions[self.fn[node]][:2])
            node = self.parents[node]
        return path[::-1]

    def stacks(self, side=0, measure=0):
        """(functions root first, value) for each node that has some."""
        for node, value in enumerate(self.self[side][measure]):
            if value:
                path, at = [], node
                while at:
                    path.append(self.functions[self.fn[at]][:2])
                    at = self.parents[at]
                yield path[::-1], value
