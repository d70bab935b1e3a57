#!/usr/bin/env python3
"""Opens exports in the client they are made for, and compares what it says with the capture.

    check_exports.py CLIENT STACKPACK CACHE CAPTURE...

CLIENT is one of those at the end. Clients are looked for, or installed, in CACHE (clients.py). Exit
code: 0 the client agrees, 1 it does not, 77 it cannot be had and the reason is printed; with
STACKPACK_REQUIRE_CLIENTS=1 that is 1, too.
"""
import collections
import contextlib
import csv
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import clients

HERE = pathlib.Path(__file__).resolve().parent
problems = 0


def check(what, client, expected):
    global problems
    good = client == expected
    problems += not good
    print(f"  {what}: {client}" + ("" if good else f", NOT the {expected} of stackpack"), flush=True)


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[-400:]}")
    return done.stdout


class Export:
    """A capture, packed, its exports on demand, and what is known about it without any exporter."""

    def __init__(self, program, capture, directory):
        self.program, self.directory = program, directory
        self.spk = directory / "capture.spk"
        run(program, "convert", capture, "-o", self.spk, "-q")
        self.stats = json.loads(run(program, "stats", "--json", self.spk))
        self.total = self.stats["samples"]["total"]
        rows = run(program, "dump", "--samples", self.spk).splitlines()
        names = rows[0].lstrip("#").split("\t")
        self.samples = [dict(zip(names, row.split("\t"))) for row in rows[1:]]
        self.frames = collections.Counter()  # leaf first, as recorded
        for sample in self.samples:
            self.frames[sample["frames"]] += 1
        sampling = [name for name in collections.Counter(s["event"] for s in self.samples)
                    if re.match(r"(cpu-|task-)?(cycles|clock)", name)]
        self.event = sampling[0] if sampling else self.samples[0]["event"]
        self.of_event = sum(s["event"] == self.event for s in self.samples)

    def make(self, kind, *options):
        """An export that counts samples, as listings do; by default it has what the event measures."""
        path = self.directory / ("-".join([kind, *options]).replace("--", "").replace("/", "_"))
        count = [] if "--count" in options else ["--count", "samples"]
        run(self.program, "export", self.spk, "--format", kind, "-o", path, "-q", "--force", *options, *count)
        return path

    def folded(self, *options):
        lines = collections.Counter()
        for line in self.make("folded", *options).read_text().splitlines():
            stack, count = line.rsplit(" ", 1)
            lines[stack] += int(count)
        return lines


def exact_or_before(frames):
    """The addresses that exports name: the byte before a return address."""
    words = frames.split()
    place = []
    for i, word in enumerate(words):
        address = int(word[1:], 16)
        place.append(address - (i > 0 and words[i - 1][0] == word[0]))
    return tuple(place)


def named_again(export):
    """The capture once more, from its own folded text: every frame has a name."""
    source, packed = export.directory / "named.folded", export.directory / "named.spk"
    shutil.copy(export.make("folded"), source)
    run(export.program, "convert", source, "-o", packed, "-q", "--force")
    return packed


def top_rows(export, packed, *options):
    """Self and total by name, as `top` has them."""
    rows = json.loads(run(export.program, "top", packed, "--json", "-n", "0", *options))["rows"]
    return {row["name"]: (row["self"], row["total"]) for row in rows}


def rows_of_stacks(stacks):
    """Self and total by name, of (names root first, weight)."""
    own, total = collections.Counter(), collections.Counter()
    for names, weight in stacks:
        own[names[-1]] += weight
        for name in set(names):
            total[name] += weight
    return {name: (own[name], total[name]) for name in total}


def check_top(export, _cache):
    """The figures of top follow from what exports say."""
    packed = named_again(export)
    lines = (line.rsplit(" ", 1) for line in run(export.program, "export", packed, "--format", "folded", "-o", "-").splitlines())
    check("names and figures of folded",
          rows_of_stacks((names.split(";"), int(count)) for names, count in lines) == top_rows(export, packed), True)
    for what, file, options in (("speedscope", packed, []),
                                ("speedscope by address", export.spk, ["--frames", "module", "--event", export.event, "--count", "samples"])):
        path = export.directory / "top.speedscope.json"
        run(export.program, "export", file, "--format", "speedscope", "-o", path, "-q", "--force", *options)
        profile = json.loads(path.read_text())
        names = [frame["name"] for frame in profile["shared"]["frames"]]
        stacks = [([names[i] for i in stack], weight if file == packed else 1) for one in profile["profiles"]
                  for stack, weight in zip(one["samples"], one["weights"]) if stack]
        check(f"names and figures of {what}", rows_of_stacks(stacks) == top_rows(export, file, *options), True)


def check_pprof_top(export, client, environment):
    packed, profile = named_again(export), export.directory / "named.pb.gz"
    run(export.program, "export", packed, "--format", "pprof", "-o", profile, "-q", "--force")
    text = run(*client, "-top", "-nodecount=0", "-nodefraction=0", "-sample_index=samples", "-symbolize=none", profile,
               env=environment)
    rows = re.findall(r"^ *(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+% +(.*)$", text, re.MULTILINE)
    check("names and figures of top", {name: (int(own), int(total)) for own, total, name in rows} ==
          top_rows(export, packed), True)


def check_pprof(export, cache):
    client = clients.pprof(cache)
    print(f"  client: {' '.join(map(str, client))}")
    environment = dict(os.environ, PPROF_TMPDIR=str(export.directory), HOME=str(export.directory))
    for options, wanted in ((["--all-events"], None), ([], export.event)):
        profile = export.make("pprof", *options)
        raw = run(*client, "-raw", profile, env=environment)
        body, tables = raw.split("Samples:\n")[1].split("Locations\n")
        address = {number: int(text, 16)
                   for number, text in re.findall(r"^ *(\d+): (0x[0-9a-f]+)", tables.split("Mappings")[0], re.MULTILINE)}
        stacks = collections.Counter()
        for count, stack in re.findall(r"^ *(\d+)(?: +\d+)*: ?([\d ]*)$", body, re.MULTILINE):
            stacks[tuple(address[number] for number in stack.split())] += int(count)
        expected = collections.Counter()
        for sample in export.samples:
            if wanted in (None, sample["event"]):
                expected[exact_or_before(sample["frames"]) if sample["stack"] != "-" else ()] += 1
        name = " ".join(options) or f"event {export.event}"
        check(f"{name}: samples", sum(stacks.values()), sum(expected.values()))
        check(f"{name}: callstacks that differ", sum(((stacks - expected) + (expected - stacks)).values()), 0)
    check_pprof_top(export, client, environment)


def decode(message, schema, path):
    opener = gzip.open if path.read_bytes()[:2] == b"\x1f\x8b" else open
    with opener(path, "rb") as data:
        done = subprocess.run(["protoc", f"--proto_path={HERE}", f"--decode={message}", schema],
                              capture_output=True, input=data.read(), check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode()[-300:])
    return done.stdout.decode()


def check_protoc(export, _cache):
    clients.need("protoc")
    text = decode("pprof.Profile", "profile.proto", export.make("pprof", "--all-events"))
    counts = [int(match) for match in re.findall(r"^sample \{\n(?:  location_id: \d+\n)*  value: (\d+)", text,
                                                 re.MULTILINE)]
    check("pprof, samples", sum(counts), export.total)
    check("pprof, unknown fields", len(re.findall(r"^ *\d+[:{ ]", text, re.MULTILINE)), 0)
    for options in ((), ("--otlp-stack-tree",)):
        text = decode("otlp.ProfilesData", "otlp_profiles.proto", export.make("otlp", *options))
        name = "otlp" + (", stack tree" if options else "")
        check(f"{name}, times", text.count("timestamps_unix_nano: "), export.total)
        check(f"{name}, unknown fields", len(re.findall(r"^ *\d+[:{ ]", text, re.MULTILINE)), 0)


def messages_of(text):
    """What protoc --decode prints, as lists by field."""
    stack = [collections.defaultdict(list)]
    for line in text.splitlines():
        opened, field = re.match(r"\s*(\w+) \{$", line), re.match(r"\s*(\w+): (.*)$", line)
        if opened:
            inner = collections.defaultdict(list)
            stack[-1][opened[1]].append(inner)
            stack.append(inner)
        elif field:
            text_of_field = field[2].startswith('"')
            value = field[2][1:-1].encode("latin-1").decode("unicode_escape").encode("latin-1").decode("utf-8", "replace") if text_of_field else int(field[2])
            stack[-1][field[1]].append(value)
        else:
            stack.pop()
    return stack[0]


class PerfettoSequence:
    """The packets of one sequence: what they have named so far, and the callstacks of its samples."""

    def __init__(self):
        self.event, self.cleared = "", False
        self.texts, self.frames, self.stacks, self.mappings = collections.defaultdict(dict), {}, {}, {}
        self.samples = collections.Counter()
        self.times, self.counts = [], collections.defaultdict(list)

    def take(self, packet):
        self.cleared |= packet["sequence_flags"] == [1]
        for defaults in packet["trace_packet_defaults"]:
            self.event = defaults["perf_sample_defaults"][0]["timebase"][0]["name"][0]
        for data in packet["interned_data"]:
            for kind in ("function_names", "mapping_paths", "source_paths", "build_ids"):
                for entry in data[kind]:
                    assert entry["iid"][0] not in self.texts[kind], "a number is used twice"
                    self.texts[kind][entry["iid"][0]] = (entry["str"] or [""])[0]
            for kind, table in (("mappings", self.mappings), ("frames", self.frames), ("callstacks", self.stacks)):
                for entry in data[kind]:
                    assert entry["iid"][0] not in table and entry["iid"][0] != 0, "a number is used twice"
                    table[entry["iid"][0]] = entry
        for sample in packet["perf_sample"]:
            assert self.cleared and packet["sequence_flags"] == [2], "a sample before its sequence"
            self.times += packet["timestamp"]
            self.counts[tuple(sample["cpu"])] += sample["timebase_count"]
            stack = self.stacks[sample["callstack_iid"][0]]["frame_ids"] if sample["callstack_iid"] else []
            self.samples[";".join(map(self.text_of, stack)) or "[no callstack]"] += 1

    def text_of(self, number):
        frame = self.frames[number]
        if frame["mapping_id"]:
            mapping = self.mappings[frame["mapping_id"][0]]
            path = "/".join(self.texts["mapping_paths"][part] for part in mapping["path_string_ids"])
            assert not mapping["build_id"] or self.texts["build_ids"][mapping["build_id"][0]], "an empty build id"
        if frame["function_name_id"]:
            return self.texts["function_names"][frame["function_name_id"][0]]
        return f"{path.rpartition('/')[2]}+0x{frame['rel_pc'][0]:x}"


def perfetto_of(path):
    """Sequences by number, tracks by number, slices as (thread, name, begin, end), and what the scheduler did as (time, processor, event)."""
    text = decode("perfetto.Trace", "perfetto_trace.proto", path)
    check("perfetto, unknown fields", len(re.findall(r"^ *\d+[:{ ]", text, re.MULTILINE)), 0)
    sequences, tracks, open_slices, slices, names, rows = collections.defaultdict(PerfettoSequence), {}, {}, [], {}, []
    for packet in messages_of(text)["packet"]:
        rows += [(event["timestamp"][0], bundle["cpu"][0], event) for bundle in packet["ftrace_events"] for event in bundle["event"]]
        sequences[packet["trusted_packet_sequence_id"][0]].take(packet)
        for track in packet["track_descriptor"]:
            assert track["uuid"][0] not in tracks, "a track is described twice"
            tracks[track["uuid"][0]] = track
        for data in packet["interned_data"]:
            names.update({entry["iid"][0]: entry["name"][0] for entry in data["event_names"]})
        for event in packet["track_event"]:
            uuid = event["track_uuid"][0]
            thread = tracks[tracks[uuid]["parent_uuid"][0]]["thread"][0]
            if event["type"] == [1]:
                assert uuid not in open_slices, "slices overlap"
                open_slices[uuid] = (thread["tid"][0], names[event["name_iid"][0]], packet["timestamp"][0])
            else:
                slices.append((*open_slices.pop(uuid), packet["timestamp"][0]))
    assert not open_slices
    return sequences, tracks, slices, sorted(rows, key=lambda row: row[:2])


def listed(export, packed, what):
    """The rows of a listing."""
    return [row.split("\t") for row in run(export.program, "dump", packed, what).splitlines() if not row.startswith("#")]


STATES = {"S": 1, "D": 2, "T": 4, "t": 8, "X": 16, "Z": 32, "P": 64, "I": 128}  # of the kernel


def expected_switches(export, packed, event, of_next):
    """What processors did, by the listings, as (time, processor, who had it with its state, who got it). A sample is of who got it, or
    had it; the other one is known by its intervals. Who is in neither had the processor before, or is the idle thread."""
    left, runs = {}, {}
    for tid, begin, _, state, reason, flags, *_ in listed(export, packed, "--intervals"):
        if "s" not in flags and state in ("blocked", "preempted"):
            left[int(begin)] = [int(tid), 0 if state == "preempted" else STATES.get(reason, 1)]
        elif "s" not in flags and state == "running":
            runs[int(begin)] = int(tid)
    samples = [(int(row[0].replace(".", "")), int(row[3]), row[2]) for row in listed(export, packed, "--samples") if row[4] == event]
    assert len({time for time, _, _ in samples}) == len(samples), "switches at one time"
    had = {}
    for time, cpu, tid in samples:
        if of_next:
            previous, following = left.get(time, [had[cpu], 0] if cpu in had else []), int(tid)
        else:  # a thread that has ended has no number
            previous = [had[cpu], 16] if tid == "-" else [int(tid), left[time][1] if time in left else 0]
            following = runs.get(time, 0)
        yield time, cpu, previous, following
        had[cpu] = following


def check_published(export, cache):
    """The messages that Perfetto's Python package publishes know all fields; where it cannot be had, our list of them says so alone."""
    try:
        python = clients.perfetto(cache)
    except clients.Missing as reason:
        print(f"  published messages: not looked at: {reason}")
        return
    for name in ("sched.perfetto", "switches.perfetto"):
        packets, unknown = map(int, run(*python, HERE / "perfetto_fields.py", export.directory / name).split())
        check(f"{name}: unknown fields in the published messages", (packets > 9, unknown), (True, 0))


def check_perfetto_sched(export):
    """Who had the processors, of a trace whose samples of switches are of the thread that got one, and of a recording where they are
    of the one that had it."""
    folder = pathlib.Path(os.environ.get("STACKPACK_CORPUS", "/nonexistent"))
    for capture, event, of_next in ((HERE.parents[1] / "testdata/sampled.x64.etl", "Thread/CSwitch", True),
                                    (folder / "waits/a-tp.perf.data", "sched:sched_switch", False)):
        if not capture.exists():
            continue
        packed, out = export.directory / "sched.spk", export.directory / "sched.perfetto"
        run(export.program, "convert", capture, "-o", packed, "-q", "--force")
        run(export.program, "export", packed, "--format", "perfetto", "-o", out, "-q", "--force")
        expected = sorted(expected_switches(export, packed, event, of_next))
        rows = perfetto_of(out)[3]
        switches = [(time, cpu, [*switch["prev_pid"], *switch["prev_state"]], switch["next_pid"][0])
                    for time, cpu, event in rows for switch in event["sched_switch"]]
        check(f"{capture.name}: switches", (len(switches), switches == expected), (len(expected), True))
        check(f"{capture.name}: who had a processor is known", any(previous for _, _, previous, _ in switches), True)
        if not of_next:
            check("wakings", sum(len(event["sched_waking"]) for _, _, event in rows) > 250, True)
        one = export.directory / "one.perfetto"
        run(export.program, "export", packed, "--format", "perfetto", "-o", one, "-q", "--force", "--tid", str(switches[0][3]))
        check(f"{capture.name}: switches of one thread", len(perfetto_of(one)[3]), 0)


def check_perfetto(export, cache):
    """Trace processor is no part of its Python package, which downloads it: what can be checked here are fields, by their published numbers."""
    clients.need("protoc")
    sequences, tracks, _, _ = perfetto_of(export.make("perfetto"))
    by_event = [sequence for sequence in sequences.values() if sequence.event]
    check("samples", sum(sum(one.samples.values()) for one in by_event), export.total)
    for one in by_event:
        folded = export.folded("--event", one.event, "--inline", "--keep-broken")
        check(f"{one.event}: callstacks that differ", sum(((one.samples - folded) + (folded - one.samples)).values()), 0)
        check(f"{one.event}: times in order", one.times == sorted(one.times), True)
        check(f"{one.event}: counts rise", all(counts == sorted(counts) for counts in one.counts.values()), True)
    times = sorted(int(sample["time"].replace(".", "")) for sample in export.samples)
    check("times", sorted(time for one in by_event for time in one.times) == times, True)
    threads = {(track["thread"][0]["pid"][0], track["thread"][0]["tid"][0]) for track in tracks.values() if track["thread"]}
    check("threads", threads == {(int(sample["pid"]), int(sample["tid"])) for sample in export.samples if sample["tid"] != "-"}, True)
    capture, packed = export.directory / "switches.perf.data", export.directory / "switches.spk"
    run(sys.executable, "-B", HERE.parent / "cli/make_capture.py", capture, "40", "--switches")
    run(export.program, "convert", capture, "-o", packed, "-q", "--force")
    run(export.program, "export", packed, "--format", "perfetto", "-o", export.directory / "switches.perfetto", "-q", "--force")
    _, _, slices, _ = perfetto_of(export.directory / "switches.perfetto")
    rows = [row.split("\t") for row in run(export.program, "dump", packed, "--intervals").splitlines() if not row.startswith("#")]
    expected = sorted((int(tid), state if state != "blocked" or reason == "-" else f"blocked: {reason}", int(begin), int(end))
                      for tid, begin, end, state, reason, *_ in rows if state != "unknown" and tid != "-")
    check("slices", (len(slices), sorted(slices) == expected), (len(expected), True))
    check_perfetto_sched(export)
    check_published(export, cache)


OTLP_OPTIONS = ((), ("--weight", "period"))


def check_otlp(export, cache):
    """The rules that the published schema states, after a look at whether each of them notices something."""
    python = clients.opentelemetry(cache)
    done = subprocess.run([*python, HERE / "otlp_rules_test.py"], capture_output=True, text=True, check=False)
    check("otlp: messages that break a rule", (done.returncode, done.stdout if done.returncode else ""), (0, ""))
    for options in OTLP_OPTIONS:
        told = json.loads(run(*python, HERE / "otlp_rules.py", export.make("otlp", *options)))
        name = " ".join(("otlp", *options))
        check(f"{name}: times", told["samples"], export.total)
        check(f"{name}: broken rules", told["problems"], {})
    folder = export.directory / "attributes"
    folder.mkdir(exist_ok=True)
    imported = Export(export.program, HERE.parents[1] / "fuzz/corpus/import_otlp/fields", folder)
    told = json.loads(run(*python, HERE / "otlp_rules.py", imported.make("otlp")))
    check("otlp: attributes and links", (told["samples"], told["profiles"], told["problems"]), (imported.total, 2, {}))


def check_profcheck(export, cache):
    client = clients.profcheck(cache)
    for options in OTLP_OPTIONS:
        done = subprocess.run([*client, export.make("otlp", *options)], capture_output=True, text=True, check=False)
        check(" ".join(("otlp", *options)), (done.returncode, done.stderr.strip()[-400:]), (0, ""))


def check_speedscope(export, cache):
    folder = clients.npm(cache, "speedscope", "ajv")
    lines = export.folded()
    hot, hot_count = max(lines.items(), key=lambda item: (item[1], item[0]))
    for options in (("--aggregate",), ()):
        path = export.make("speedscope", *options)
        told = json.loads(run("node", HERE / "speedscope_schema_check.mjs", path,
                              env=dict(os.environ, STACKPACK_CLIENTS=str(folder))))
        file = json.loads(path.read_text())
        named = [frame["name"] for frame in file["shared"]["frames"]]
        stacks = collections.Counter()
        for profile in file["profiles"]:
            if options or profile["name"].endswith(f"[{export.event}]") or "[" not in profile["name"]:
                for stack, weight in zip(profile["samples"], profile["weights"]):
                    stacks[";".join(named[i] for i in stack)] += weight if options else 1
        if options:
            check("aggregated: weight", told["weight"], export.of_event)
        check(f"{'aggregated' if options else 'timeline'}: hottest callstack", stacks[hot], hot_count)


def check_tables(export, one):
    """What SQL says of the loaded tables: one(query) gives the single row of a query."""
    recorded = {frame for sample in export.samples for frame in sample["frames"].split()}
    leaves = collections.Counter()
    for sample in export.samples:
        if sample["stack"] != "-":
            leaves[sample["frames"].split()[0]] += 1
    check("samples", one("SELECT count(*) FROM samples")[0], export.total)
    check("frames", one("SELECT count(DISTINCT frame) FROM stacks")[0], len(recorded))
    check("addresses", one("SELECT count(DISTINCT address) FROM stacks")[0], len({f[1:] for f in recorded}))
    check("ids of show", one("SELECT count(DISTINCT stack) FROM samples")[0],
          len({sample["stack"] for sample in export.samples} - {"-"}))
    check("samples with their thread", one("SELECT count(*) FROM samples JOIN threads ON threads.id = thread")[0],
          one("SELECT count(*) FROM samples WHERE thread IS NOT NULL")[0])
    check("samples with their process", one("SELECT count(*) FROM samples JOIN processes p ON p.id = process")[0],
          one("SELECT count(*) FROM samples WHERE process IS NOT NULL")[0])
    check("hottest leaf", one("""SELECT count(*) n FROM samples JOIN stacks ON stacks.id = node
        GROUP BY frame ORDER BY n DESC LIMIT 1""")[0], max(leaves.values()))
    check("frames inside their module", one("""SELECT count(*) FROM stacks JOIN modules m ON m.id = module_id
        WHERE address NOT BETWEEN base AND last""")[0], 0)
    check("recursive: frames of all samples", one("""WITH RECURSIVE path(leaf, id, depth) AS (
          SELECT DISTINCT node, node, 1 FROM samples WHERE node IS NOT NULL
          UNION ALL SELECT path.leaf, stacks.parent, depth + 1 FROM path JOIN stacks ON stacks.id = path.id
          WHERE stacks.parent IS NOT NULL)
        SELECT sum(depth) FROM (SELECT leaf, max(depth) depth FROM path GROUP BY leaf) d
          JOIN samples ON samples.node = d.leaf""")[0],
          sum(len(sample["frames"].split()) for sample in export.samples if sample["stack"] != "-"))


def check_duckdb(export, cache):
    python = clients.duckdb(cache)
    tables = export.make("csv")
    if "duckdb" not in sys.modules and pathlib.Path(sys.executable) != pathlib.Path(python[0]):
        # The module is in another Python: this script again, there.
        done = subprocess.run([*map(str, python), __file__, "duckdb-here", export.program, str(cache),
                               str(export.capture)], check=False)
        global problems
        problems += done.returncode != 0
        return
    check_duckdb_here(export, cache, tables)


def check_duckdb_here(export, _cache, tables=None):
    import duckdb  # pylint: disable=import-outside-toplevel
    tables = tables or export.make("csv")
    os.chdir(tables)
    db = duckdb.connect()
    guessed = db.execute("SELECT count(DISTINCT address) FROM 'stacks.csv'").fetchone()[0]
    db.execute(pathlib.Path("load.duckdb.sql").read_text())
    check("addresses, types guessed", guessed, db.execute("SELECT count(DISTINCT address) FROM stacks").fetchone()[0])
    check_tables(export, lambda query: db.execute(query).fetchone())


def check_sqlite(export, _cache):
    tables = export.make("csv")
    os.chdir(tables)
    if shutil.which("sqlite3"):
        run("sqlite3", "capture.sqlite", input=pathlib.Path("load.sqlite.sql").read_text())
        db = sqlite3.connect("capture.sqlite")
    else:  # what the script says, without the shell's own commands
        db = sqlite3.connect(":memory:")
        script = pathlib.Path("load.sqlite.sql").read_text()
        statements = [line for line in script.splitlines() if line[:1] not in (".", "-")]
        creations = [line for line in statements if line.startswith("CREATE TABLE")]
        db.executescript("\n".join(creations))
        for table in re.findall(r"^\.import --skip 1 (\w+)\.csv", script, re.MULTILINE):
            with open(f"{table}.csv", newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows[1:])
        db.executescript("\n".join(line for line in statements if line not in creations))
    check_tables(export, lambda query: db.execute(query).fetchone())


def run_patiently(*command, **options):
    """The client's daemon has half a second to start, which is little on a busy machine: a command
    that does not reach it yet is tried again."""
    for attempt in range(12):
        try:
            return run(*command, **options)
        except RuntimeError:
            if attempt == 11:
                raise
            time.sleep(1 + attempt)
    return None


def check_firefox(export, cache):
    folder = clients.npm(cache, "@firefox-devtools/profiler-cli")
    node = clients.node24(cache)
    profile = export.directory / "profile.json.gz"
    shutil.copy(export.make("firefox", "--frames", "module"), profile)
    client = [*node, folder / "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"]
    environment = dict(os.environ, HOME=str(export.directory))
    session = ["--session", "check"]
    daemon = None
    try:
        run(*client, "load", profile, *session, env=environment)
    except RuntimeError as error:
        daemon = re.search(r"running as pid (\d+)", str(error))
        if not daemon:
            raise
    try:
        info = json.loads(run_patiently(*client, "profile", "info", "--all", "--json", *session, env=environment))
        threads = sum(len(process["threads"]) for process in info["processes"])
        lanes = {(s["pid"], s["tid"], s["event"], s["comm"]) for s in export.samples}
        check("threads", threads, len(lanes))
        file = json.loads(gzip.open(profile).read())
        check("samples", sum(thread["samples"]["length"] for thread in file["threads"]), export.total)
        shown = file["threads"][file["meta"]["initialSelectedThreads"][0]]
        leaves = collections.Counter()
        for stack, count in export.folded("--frames", "module", "--event", export.event, "--pid", shown["pid"],
                                          "--tid", str(shown["tid"])).items():
            leaves[stack.rsplit(";", 1)[-1]] += count
        told = json.loads(run_patiently(*client, "thread", "functions", "--include-idle", "--json", *session, env=environment))
        own = {row["nameWithLibrary"].replace("!", "+"): row["selfSamples"] for row in told["functions"]}
        check("leaves of the shown thread", {name: count for name, count in own.items() if count} == dict(leaves), True)
    finally:
        with contextlib.suppress(RuntimeError):
            run(*client, "stop", "check", env=environment)
        if daemon:
            with contextlib.suppress(OSError):
                os.kill(int(daemon[1]), signal.SIGTERM)


def check_inferno(export, cache):
    client = clients.inferno(cache)
    picture = run(*client, export.make("folded"))
    total = re.search(r"<title>all \(([\d,]+) samples, 100%\)</title>", picture)
    check("samples of the root", int(total[1].replace(",", "")) if total else None, export.of_event)


def check_folded(export, _cache):
    """No client but ourselves: text imported and exported again is the same text."""
    first = export.make("folded", "--all-events")
    source = export.directory / "again.folded"
    shutil.copy(first, source)
    again = export.directory / "again.spk"
    run(export.program, "convert", source, "-o", again, "-q")
    second = run(export.program, "export", again, "--format", "folded", "-o", "-")
    check("imported and exported again", sorted(second.splitlines()) == sorted(first.read_text().splitlines()), True)
    check("samples", sum(export.folded("--all-events").values()), export.total)
    weights = sum(int(sample["weight"]) for sample in export.samples if sample["event"] == export.event)
    check("weights without a word", sum(export.folded("--event", export.event, "--count", "weight").values()), weights)
    plain = run(export.program, "export", export.spk, "--format", "folded", "-o", "-", "-q", "--event", export.event)
    check("what it measures", sum(int(line.rsplit(" ", 1)[1]) for line in plain.splitlines()), weights)


CLIENTS = {"pprof": check_pprof, "protoc": check_protoc, "perfetto": check_perfetto, "speedscope": check_speedscope, "duckdb": check_duckdb,
           "duckdb-here": check_duckdb_here, "sqlite": check_sqlite, "firefox": check_firefox,
           "inferno": check_inferno, "otlp": check_otlp,
           "profcheck": check_profcheck, "folded": check_folded, "top": check_top}


def main():
    client, program, cache, *captures = sys.argv[1:]
    program = os.path.abspath(program)
    cache = pathlib.Path(cache).resolve()
    cache.mkdir(parents=True, exist_ok=True)
    for capture in [os.path.abspath(name) for name in captures]:
        with tempfile.TemporaryDirectory() as directory:
            export = Export(program, capture, pathlib.Path(directory))
            export.capture = capture
            print(f"{capture}: {export.total} samples, {export.of_event} of {export.event}", flush=True)
            try:
                CLIENTS[client](export, cache)
            except clients.Missing as missing:
                print(f"skipped: {missing}")
                return 1 if os.environ.get("STACKPACK_REQUIRE_CLIENTS") == "1" else 77
            finally:
                os.chdir("/")
    print("agrees" if problems == 0 else f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
