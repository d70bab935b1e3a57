"""Writes captures of branch stacks over many images, the ELF files of those images, and what profiles of them have to say.

Images are laid out as linkers do it: at a fixed address, position-independent, with code in the page of the headers (lld), with two executable
segments, and with one segment alone. Some have no build id, and some of those the same name in different folders.
"""
import collections
import pathlib
import random
import struct

IDENTIFIER, IP, TID, TIME, CPU, PERIOD, BRANCH_STACK = 1 << 16, 1, 2, 4, 128, 256, 1 << 11
SAMPLE_TYPE = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | BRANCH_STACK
ANY, USER, TYPES = 1 << 3, 1, 1 << 16
PAGE = 4096
# (offset in the file, address, bytes, executable) of segments.
LAYOUTS = {
    "fixed": [(0, 0x400000, 0x800, False), (0x1000, 0x401000, 0x6000, True)],
    "pie": [(0, 0, 0x800, False), (0x1000, 0x1000, 0x6000, True)],
    "lld": [(0, 0x200000, 0x270, False), (0x274, 0x201274, 0x6000, True)],
    "two": [(0x1000, 0x401000, 0x3000, True), (0x4000, 0x804000, 0x3000, True)],
    "one": [(0, 0x10000, 0x7000, True)],
}


class Image:
    def __init__(self, path, layout, build_id=b""):
        self.path, self.segments, self.build_id = path, LAYOUTS[layout], build_id

    @property
    def key(self):
        return self.build_id.hex() or self.path

    def address_of(self, offset):
        return next(address + offset - at for at, address, size, code in self.segments if code and at <= offset < at + size)

    def places(self, rnd, count):
        """Offsets of instructions in all executable segments."""
        return [at + rnd.randrange(0x10, size - 0x10) for at, _, size, code in self.segments if code for _ in range(count)]

    def origin(self, form):
        """What the taker of a format takes off virtual addresses."""
        if form == "llvm-profgen":
            return next(address for _, address, _, code in self.segments if code) // PAGE * PAGE
        return self.segments[0][1] if form == "autofdo" else 0

    def write(self, root):
        names = b"\0.text\0.shstrtab\0.note.gnu.build-id\0"
        note = struct.pack("<III4s", 4, len(self.build_id), 3, b"GNU\0") + self.build_id if self.build_id else b""
        end = max(at + size for at, _, size, _ in self.segments)
        sections_at = end + len(names) + len(note)
        text = next(segment for segment in self.segments if segment[3])
        header = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
            "<HHIQQQIHHHHHH", 3, 62, 1, text[1], 64, sections_at, 0, 64, 56, len(self.segments), 64, 4 if note else 3, 2)
        header += b"".join(struct.pack("<IIQQQQQQ", 1, 5 if code else 4, at, address, address, size, size, PAGE)
                           for at, address, size, code in self.segments)

        def section(name, kind, flags, address, at, size):
            return struct.pack("<IIQQQQIIQQ", names.index(name) if name else 0, kind, flags, address, at, size, 0, 0, 1, 0)

        content = header.ljust(end, b"\x90") + names + note + section(b"", 0, 0, 0, 0, 0)
        content += section(b".text", 1, 6, text[1], text[0] + (len(header) if text[0] == 0 else 0), 0x100)
        content += section(b".shstrtab", 3, 0, 0, end, len(names))
        content += section(b".note.gnu.build-id", 7, 0, 0, end + len(names), len(note)) if note else b""
        path = pathlib.Path(root) / self.path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path


def images(count, without_build_id=0):
    """`count` images of all layouts; the last `without_build_id` of them have no build id, and one name."""
    made = []
    for i in range(count):
        layout = list(LAYOUTS)[i % len(LAYOUTS)]
        if i >= count - without_build_id:
            made.append(Image(f"/opt/parts/{i}/libpart.so", layout))
        else:
            made.append(Image(f"/opt/lib/libimage{i}.so", layout, bytes([i % 256, i // 256]) + bytes(range(18))))
    return made


class BranchCapture:
    """Samples whose branch stacks are drawn from a pool of `stacks` different ones."""

    def __init__(self, images_, stacks=500, depth=32, places=40, seed=1):
        self.images, self.rnd = images_, random.Random(seed)
        self.base = {image.key: 0x7000_0000_0000 + 0x100_0000 * i for i, image in enumerate(images_)}
        self.code = {image.key: sorted(image.places(self.rnd, places)) for image in images_}
        self.pool = [self.stack(depth) for _ in range(stacks)]
        self.counts = collections.Counter()
        self.summed = None
        self.packed = []

    def stack(self, depth):
        """Newest first: (image, offset) of both ends, mispredicted."""
        rnd, entries = self.rnd, []
        image = rnd.choice(self.images)
        at = rnd.choice(self.code[image.key])
        while len(entries) < depth:
            ahead = [place for place in self.code[image.key] if place >= at] if rnd.random() < 0.9 else self.code[image.key]
            source = (image, rnd.choice(ahead[:4]))
            if rnd.random() < 0.2:
                image = rnd.choice(self.images)
            at = rnd.choice(self.code[image.key])
            entries.append((source, (image, at), rnd.random() < 0.1))
        return entries[::-1]

    def address(self, end):
        return self.base[end[0].key] + end[1]

    def write(self, path, samples):
        def record(kind, misc, body):
            return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

        def trailer(time):
            return struct.pack("<IIQIIQ", 100, 100, time, 0, 0, 1)

        head = [record(3, 0, struct.pack("<II16s", 100, 100, b"demo") + trailer(1))]
        for image in self.images:
            for at, _, size, code in image.segments:
                if code:
                    begin = at // PAGE * PAGE
                    body = struct.pack("<IIQQQ", 100, 100, self.base[image.key] + begin, (at + size - begin + PAGE - 1) // PAGE * PAGE, begin)
                    name = image.path.encode() + b"\0"
                    body += struct.pack("<BBH20s", len(image.build_id), 0, 0, image.build_id) if image.build_id else struct.pack("<IIQQ", 8, 1, 77, 0)
                    body += struct.pack("<II", 5, 2) + name + bytes(-len(name) % 8)
                    head.append(record(10, 2 | (1 << 14 if image.build_id else 0), body + trailer(2)))
        head = b"".join(head)
        packed = self.packed
        for stack in self.pool if not packed else ():
            entries = b"".join(struct.pack("<QQQ", self.address(source), self.address(target), (1 if missed else 2) | 5 << 4 | 1 << 20)
                               for source, target, missed in stack)
            packed.append((self.address(stack[0][1]), struct.pack("<Q", len(stack)) + entries))
        bytes_of = 8 + 8 + 8 + 8 + 8 + 8 + 8 + len(packed[0][1])  # all stacks are of one depth
        prefix, fields = struct.pack("<IHHQ", 9, 2, bytes_of, 1), struct.Struct("<QIIQIIQ")
        attr = struct.pack("<IIQQQQQ", 0, 128, 0, 997, SAMPLE_TYPE, 4, 1 | 1 << 8 | 1 << 18).ljust(72, b"\0")
        attr = (attr + struct.pack("<Q", ANY | USER | TYPES)).ljust(128, b"\0")
        data_bytes = len(head) + samples * bytes_of
        ids_at, data_at = 104 + 144, 104 + 144 + 8
        draw = self.rnd.choices(range(len(packed)), k=samples)
        with open(path, "wb") as out:
            out.write(struct.pack("<8sQQQQQQQ", b"PERFILE2", 104, 144, 104, 144, data_at, data_bytes, 0) + bytes(40))
            out.write(attr + struct.pack("<QQQ", ids_at, 8, 1) + head)
            for i, index in enumerate(draw):
                ip, entries = packed[index]
                out.write(prefix + fields.pack(ip, 100, 100, 1000 + 100 * i, 0, 0, 1000) + entries)
        self.counts.update(draw)
        self.summed = None
        return path

    def sums(self):
        """Edges (count, mispredicted) by their ends, and ranges by image, begin and end."""
        if self.summed is not None:
            return self.summed
        edges, ranges = {}, collections.Counter()
        for index, count in self.counts.items():
            stack = self.pool[index]
            for source, target, missed in stack:
                total, wrong = edges.get((source, target), (0, 0))
                edges[source, target] = total + count, wrong + missed * count
            for newer, older in zip(stack, stack[1:]):
                begin, end = older[1], newer[0]
                if begin[0] is end[0] and begin[1] <= end[1]:
                    ranges[begin[0].key, begin[1], end[1]] += count
        self.summed = edges, ranges
        return self.summed

    def profile(self, image, form):
        """The lines of the profile of an image, unordered."""
        edges, ranges = self.sums()
        origin = image.origin(form)

        def place(end):
            return image.address_of(end[1]) - origin if end[0] is image else None

        branches, runs = collections.Counter(), collections.Counter()
        missed = collections.Counter()
        for (source, target), (count, wrong) in edges.items():
            if image in (source[0], target[0]):
                branches[place(source), place(target)] += count
                missed[place(source), place(target)] += wrong
        for (key, begin, end), count in ranges.items():
            if key == image.key and place((image, begin)) <= place((image, end)):
                runs[place((image, begin)), place((image, end))] += count
        if form == "bolt-preaggregated":
            def text(address):
                return "X:0" if address is None else f"{address:x}"
            return sorted([f"B {text(a)} {text(b)} {count} {missed[a, b]}" for (a, b), count in branches.items()] +
                          [f"F {a:x} {b:x} {count}" for (a, b), count in runs.items()])
        inside = {ends: count for ends, count in branches.items() if None not in ends}
        return sorted([f"{len(runs)}", f"{len(inside)}"] + (["0"] if form == "autofdo" else []) +
                      [f"{a:x}-{b:x}:{count}" for (a, b), count in runs.items()] +
                      [f"{a:x}->{b:x}:{count}" for (a, b), count in inside.items()])
