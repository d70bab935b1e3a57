"""What reports mean, computed from a Store: plain sums over all samples, one at a time.

A question is a dict: `grain`, and filters as the command line has them (`event`, `pid`, `tid`, `comm`, `from`, `to`, `idle`,
`focus`, `ignore`, `hide`, `count`). Times are ns, names of functions whole. A figure is an integer in the measure's unit.
"""
import collections

from store import IDLE, KERNEL, NONE, RETURN

BROKEN = "[broken callstack]"
FRAME_GRAINS = ("function", "module", "line", "file")
SAMPLE_GRAINS = ("process", "thread", "comm", "event", "callstack")
GRAINS = FRAME_GRAINS + SAMPLE_GRAINS

Sums = collections.namedtuple("Sums", "self total")


class Report:
    """The samples that a question is about, and what their frames count under."""

    def __init__(self, store, question):
        self.store, self.question = store, question
        self.measured = question.get("count") != "samples" and all(
            weighted for name, weighted in store.events if name == question["event"])
        self.rows = list(self.chosen())

    def value(self, sample):
        return sample.weight if self.measured or self.store.aggregated else 1

    def chosen(self):
        """(sample, its frames' places leaf first) of each sample that the filters leave."""
        asked = self.question
        for sample in self.store.samples_of(asked["event"]):
            if self.is_idle(sample) and not asked.get("idle"):
                continue
            if any(key in asked and getattr(sample, key) != asked[key] for key in ("pid", "tid")):
                continue
            if "comm" in asked and asked["comm"] not in (self.comm(sample), self.process_name(sample)):
                continue
            if sample.time < asked.get("from", 0) or sample.time > asked.get("to", 1 << 64):
                continue
            named = list(self.names(sample))
            functions = {function for _, function in named}
            focused = "focus" not in asked or any(self.is_called(function, asked["focus"]) for function in functions)
            if not focused or any(self.is_called(function, asked.get("ignore")) for function in functions):
                continue
            yield sample, [name for name, function in named if not self.is_called(function, asked.get("hide"))]

    def is_called(self, function, name):
        return function == name or name in self.store.other_names.get(function, ())

    @staticmethod
    def is_idle(sample):
        return bool(sample.flags & IDLE)

    def process_name(self, sample):
        life = self.store.life(sample.pid, sample.time)
        return life.name if life is not None else ""

    def comm(self, sample):
        return self.store.thread_name(sample.pid, sample.tid, sample.time)

    def waker(self, row):
        if row.waker_kind != 1:
            return ("[not recorded]", "", "[interrupt]", "[dpc]")[row.waker_kind]
        pid = next((other.pid for other in self.store.intervals if other.tid == row.waker), NONE)
        name = self.store.thread_name(pid, row.waker, row.end)
        return f"{name} ({row.waker})" if name else str(row.waker)

    def names(self, sample):
        """((name, module, place), function) of every frame and inlined call of a sample, leaf first, as the grain has them."""
        grain = self.question["grain"]
        grain = grain if grain in FRAME_GRAINS or grain == "offset" else "function"
        if sample.stack == NONE:
            return
        stack = self.store.stacks[sample.stack]
        for index, frame in enumerate(stack):
            use = self.store.use_of(stack, index, sample.pid, sample.time)
            places = self.store.places_of(frame, use, sample.pid, sample.time)
            places = places[-1:] if grain == "module" else places
            yield from zip(self.names_of(frame, use, places, sample, grain), [place.name for place in places])

    def names_of(self, frame, use, places, sample, grain):
        made = self.store.is_made_at_run_time(frame, sample.pid, sample.time) and places[0].module is None
        life = self.store.life(sample.pid, sample.time)
        for place in places:
            module = self.store.module_name(place.module)
            if made:
                module = f"[JIT] {life.name}" if life is not None and life.name else "[JIT]"
            unnamed = module if module.startswith("[") else f"[{module}]" if module else (
                "[kernel]" if frame[0] == KERNEL else "[unknown]")
            if grain == "module":
                yield module or unnamed, "", ""
            elif not place.name:
                yield unnamed, module, self.offset(frame, place, use) if grain == "offset" else ""
            elif grain == "file":
                yield place.file or unnamed, "", ""
            elif grain == "line":
                yield place.name, module, place.file if not place.line or not place.file else f"{place.file}:{place.line}"
            else:
                yield place.name, module, ""

    def offset(self, frame, place, use):
        back = 1 if use == RETURN else 0
        if place.module is None:
            return f"0x{max(frame[1] - back, 0):x}"
        image = self.store.modules[place.module]
        back = back if frame[1] > image.base else 0  # no call lies before an image
        return f"{self.store.module_name(place.module)}+0x{frame[1] - image.base + image.offset - back:x}"

    # The reports.

    def whole(self):
        return sum(self.value(sample) for sample, _ in self.rows)

    def top(self):
        """{(name, module, place): Sums}"""
        own, total = collections.Counter(), collections.Counter()
        for sample, names in self.rows:
            keys = self.keys(sample, names)
            if keys:
                own[keys[0]] += self.value(sample)
            for key in set(keys):
                total[key] += self.value(sample)
        return {key: Sums(own[key], value) for key, value in total.items()}

    def keys(self, sample, names):
        grain = self.question["grain"]
        if grain in FRAME_GRAINS or grain == "offset":
            return names
        if grain == "callstack":
            return [(";".join(name for name, *_ in reversed(names)) or "[no callstack]", "", "")]
        if grain in ("reason", "waker"):
            return [(sample.interval.reason or "[not recorded]" if grain == "reason" else self.waker(sample.interval), "", "")]
        if grain == "event":
            return [(self.question["event"], "", "")]
        number = {"process": sample.pid, "thread": sample.tid}.get(grain, NONE)
        if grain == "process":
            name = self.process_name(sample)
        else:
            name = self.comm(sample)
        if grain == "comm":
            return [(name or "[no name]", "", "")]
        shown = "-" if number == NONE else str(number)
        return [(f"{name} ({shown})" if name else shown, "", "")]

    def neighbours(self, function, above):
        """callers (above) or callees of a function by name: {(name, module): value}, a row once a sample."""
        rows = collections.Counter()
        for sample, names in self.rows:
            next_to = set()
            for i, name in enumerate(names):
                if self.is_called(name[0], function):
                    j = i + 1 if above else i - 1
                    next_to.add(names[j] if 0 <= j < len(names) else ("[root]" if above else "[self]", "", ""))
            for key in next_to:
                rows[key] += self.value(sample)
        return rows

    def folded(self, by_image=False):
        """{"root;...;leaf": value}, code without a name by module and offset; names that several images have, by image."""
        stacks, several = collections.Counter(), self.store.names_of_several_images() if by_image else ()
        for sample, names in self.rows:
            texts = [place or (f"{module}!{name}" if name in several and module else name) for name, module, place in reversed(names)]
            stacks[";".join(text.replace(";", ":") if by_image else text for text in texts) or "[no callstack]"] += self.value(sample)
        return stacks

    def tree(self):
        """{(path from the root, "self" or "total"): value}, a path being (name, module) pairs"""
        places = collections.Counter()
        for sample, names in self.rows:
            path = tuple(name[:2] for name in reversed(names))
            for depth in range(1, len(path) + 1):
                places[path[:depth], "total"] += self.value(sample)
            if path:
                places[path, "self"] += self.value(sample)
        return places

    def named_stacks(self):
        """{names leaf first: value}, code without a name as ""."""
        stacks = collections.Counter()
        for sample, names in self.rows:
            stacks[tuple("" if place else name for name, _, place in names)] += self.value(sample)
        return stacks
