"""Laws over whole files: each takes (program, store, random numbers, folder) and gives a command and what breaks the law.

What two commands write must be the same bytes, or what a report says of parts must add up to the whole.
"""
import collections
import json
import pathlib
import subprocess

import pprof
import reports
import waits
from mcp_client import McpClient
from store import NONE, Store


RECORDED = 2  # an origin of a callstack; above it: unwound
# Imported profiles have no times, so merge refuses them next to captures: no law says anything of it.
APART = "an imported profile does not merge with a capture"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip()


def written(*command):
    """Runs a command whose last word is an output, and lets `verify` read it: its bytes, or why there are none."""
    status, _, error = run(*command)
    if status != 0:
        return None, error
    status, _, error = run(command[0], "verify", command[-1])
    return pathlib.Path(command[-1]).read_bytes(), error if status != 0 else ""


def answer(*command):
    status, out, error = run(*command)
    return json.loads(out) if status == 0 else {"error": error}


def cut_of_everything(program, store, _random, folder):
    """A cut without filters says of every report what the file says."""
    out = folder / "cut.spk"
    command = [program, "cut", store.path, "-q", "--idle", "-o", out]
    data, error = written(*command)
    if data is None or error:
        return command, [error]
    cut = Store(str(out))
    # Callstacks that no sample has are not in a cut.
    shape = lambda s: [(x._replace(stack=NONE), None if x.stack == NONE else s.stacks[x.stack]) for x in s.samples]
    return command, [] if shape(cut) == shape(store) and cut.functions == store.functions else ["samples or functions differ"]


def filters_partition(program, store, random, _folder):
    """The rows of each process, added up, are those of all."""
    event = random.choice(store.events)[0]
    key = random.choice(("pid", "tid", "cpu"))
    values = {getattr(s, key) for s in store.samples if store.events[s.event][0] == event}
    common = [program, "top", store.path, "--json", "--idle", "-n", "0", "--event", event]
    if not values or NONE in values or len(values) > 12:
        return common, []
    sums = collections.Counter()
    for value in values:
        part = answer(*common, f"--{key}", str(value))
        for row in part.get("rows", []):
            sums[row["name"], row.get("module")] += row["total"]
    whole = collections.Counter()
    for row in answer(*common).get("rows", []):
        whole[row["name"], row.get("module")] += row["total"]
    return [*common, f"--{key}", "..."], [f"{k}: parts {sums[k]}, whole {whole[k]}" for k in sums | whole if sums[k] != whole[k]]


def windows_add_up(program, store, random, _folder):
    """Two time windows that meet have all samples between them."""
    event = random.choice(store.events)[0]
    times = sorted(s.time for s in store.samples if store.events[s.event][0] == event)
    common = [program, "top", store.path, "--json", "--idle", "-n", "0", "--event", event]
    if store.aggregated or not times or times[0] == times[-1]:
        return common, []
    at = random.choice([time for time in times if time > times[0]])
    parts = [answer(*common, "--to", str(at - 1)), answer(*common, "--from", str(at))]
    whole = answer(*common)
    got = sum(part.get("weight", 0) for part in parts)
    return [*common, "--from", str(at)], [] if got == whole.get("weight") else [f"windows {got}, whole {whole.get('weight')}"]


def stats_count_what_passes(program, store, random, _folder):
    """`stats` with a filter counts the samples that pass, and each of their callstacks once."""
    if not store.samples:
        return [program], []
    key, sample = random.choice(("pid", "tid", "cpu")), random.choice(store.samples)
    value = getattr(sample, key)
    if value == NONE:
        return [program], []
    command = [program, "stats", store.path, "--json", f"--{key}", str(value)]
    said, kept = answer(*command), [s for s in store.samples if getattr(s, key) == value]
    stacks = {s.stack: store.stacks[s.stack] for s in kept if s.stack != NONE and s.origin >= RECORDED}
    depths = [len(frames) for frames in stacks.values()]
    wanted = {"unique": len(stacks), "unique_frames": sum(depths), "max_depth": max(depths, default=0),
              "unique_leaf_frames": len({frames[0] for frames in stacks.values() if frames})}
    got = {name: said.get("callstacks", {}).get(name) for name in wanted} if "error" not in said else said
    total = said.get("samples", {}).get("total")
    return command, ([] if got == wanted else [f"stats has {got}, the file {wanted}"]) + ([] if total == len(kept) else [f"{total} samples of {len(kept)}"])


def totals_cover_selves(program, store, random, _folder):
    """total >= self in every row, and selves add up to the whole of samples that have a callstack."""
    event, grain = random.choice(store.events)[0], random.choice(reports.FRAME_GRAINS)
    command = [program, "top", store.path, "--json", "--idle", "-n", "0", "--event", event, "--by", grain]
    said = answer(*command)
    bad = [str(row) for row in said.get("rows", []) if row["total"] < row["self"]]
    report = reports.Report(store, {"event": event, "grain": "event", "idle": True})
    with_stack = sum(report.value(s) for s, names in report.rows if names)
    selves = sum(row["self"] for row in said.get("rows", []))
    return command, bad + ([] if "error" in said or selves == with_stack else [f"selves {selves}, samples with callstacks {with_stack}"])


def merge_is_commutative(program, store, random, folder, others):
    """Any order and grouping of inputs gives the same bytes."""
    a, b, c = store.path, random.choice(others).path, random.choice(others).path
    first, second, part = folder / "1.spk", folder / "2.spk", folder / "part.spk"
    command = [program, "merge", "-q", a, b, c, "-o", first]
    one, error = written(*command)
    if one is None or error:
        return command, [] if APART in error else [error]
    two, why = written(program, "merge", "-q", c, a, b, "-o", second)
    if one != two:
        return command, [f"another order gives other bytes {why}"]
    parts, why = written(program, "merge", "-q", b, c, "-o", part)
    grouped, why = written(program, "merge", "-q", part, a, "-o", second)
    return command, [] if grouped == one else [f"another grouping gives other bytes {why}"]


def order_of_inputs(program, store, random, _folder, others):
    """Reports of several files say the same in any order of them."""
    files = [store.path, *(random.choice(others).path for _ in range(2))]
    event = random.choice(store.events)[0]
    ask = lambda paths: answer(program, "top", *paths, "--json", "--idle", "-n", "0", "--event", event, "--by", "function")
    one, other = ask(files), ask(files[::-1])
    counted = lambda said: (said.get("weight"), sorted(map(str, said.get("rows", []))))
    return [program, "top", *files, "--event", event], [] if counted(one) == counted(other) else ["another order says something else"]


def merge_keeps_sums(program, store, random, folder, others):
    """Functions of a merged file have the sums of its inputs (self, by name, of one event)."""
    other = random.choice([o for o in others if o.path != store.path])
    out = folder / "merged.spk"
    command = [program, "merge", "-q", store.path, other.path, "-o", out]
    data, error = written(*command)
    if data is None or error:
        return command, [] if APART in error else [error]
    event = random.choice(store.events)[0]
    ask = lambda *files: answer(program, "top", *files, "--json", "--idle", "-n", "0", "--event", event, "--count", "samples")

    def of(said):
        sums = collections.Counter()
        for row in said.get("rows", []):
            sums[row["name"]] += row["self"]
        return sums

    if event not in {name for name, _ in other.events}:
        return command, []
    merged, inputs = of(ask(out)), of(ask(store.path, other.path))
    return command, [f"{event} {k}: merged {merged[k]}, inputs {inputs[k]}" for k in merged | inputs if merged[k] != inputs[k]][:5]


def redact_changes_names_only(program, store, _random, folder):
    """A redacted file has the same samples and callstacks."""
    out = folder / "redacted.spk"
    command = [program, "redact", "-q", store.path, "-o", out]
    data, error = written(*command)
    if data is None or error:
        return command, [error]
    hidden = Store(str(out))
    shape = lambda s: [(x.time, x.cpu, x.event, x.weight, x.origin, x.flags, x.stack) for x in s.samples]
    same = shape(hidden) == shape(store) and hidden.stacks == store.stacks
    return command, [] if same else ["samples or callstacks differ"]


def same_bytes_for_any_resources(program, store, random, folder):
    """Threads, memory limits and pipes do not show in the bytes of a conversion."""
    if str(store.source).endswith(".spk"):
        return [program], []
    out = folder / "again.spk"
    words = random.choice((["--encoders", "0"], ["--encoders", "3"], ["--memory-limit", "16MiB"], ["--memory-limit", "64MiB", "--encoders", "1"]))
    plain, error = written(program, "convert", "-q", store.source, "-o", folder / "plain.spk")
    command = [program, "convert", "-q", *words, store.source, "-o", out]
    other, error = written(*command)
    if pathlib.Path(store.source).is_file() and random.random() < .5:
        command = ["sh", "-c", '"$0" convert -q - -o "$2" --force < "$1"', program, store.source, out]
        status, _, error = run(*command)
        other = out.read_bytes() if status == 0 else None
    return command, [] if plain == other and plain else [f"other bytes {error}"]


def perfetto_has_the_callstacks_of_pprof(program, store, random, _folder):
    """A trace for Perfetto has as many samples of each callstack as pprof counts."""
    event = random.choice(store.events)[0]
    common = [program, "export", store.path, "-q", "-o", "-", "--event", event]
    command = [*common, "--format", "perfetto"]
    status, trace, _ = run(*command)
    other, profile, _ = run(*common, "--format", "pprof", "--count", "samples")
    if status != 0 or other != 0 or store.aggregated:
        return command, []
    plain = lambda names: tuple("" if name.startswith("0x") else name for name in names)
    sums = collections.Counter()
    for names, count in pprof.stacks(profile, True).items():
        sums[plain(names)] += count
    got = pprof.stacks_of_trace(trace)
    return command, [f"{names}: perfetto {got[names]}, pprof {sums[names]}" for names in got | sums if got[names] != sums[names]][:5]


def damaged_is_refused(program, store, random, folder):
    """A report of a damaged file is an error or the answer of the whole."""
    data, damaged = bytearray(pathlib.Path(store.path).read_bytes()), folder / "damaged.spk"
    at = random.randrange(len(data))
    if random.random() < .7:
        data[at] ^= 1 << random.randrange(8)
    else:
        del data[at:]
    damaged.write_bytes(data)
    words = random.choice((["top", "{}", "-n", "0", "--idle", "--by", random.choice(reports.GRAINS)], ["top", "{}", "--tree", "-n", "0"], ["stats", "{}"],
                           ["waits", "{}", "--idle-pools"], ["export", "{}", "--format", "folded", "-o", "-", "-q"]))
    if words[0] != "export":
        words.append("--json")
    of = lambda path: [program, *(str(path) if word == "{}" else word for word in words)]
    status, out, error = run(*of(damaged))
    if status not in (0, 1, 2, 3):
        return of(damaged), [f"byte {at}: status {status} {error[:200]}"]
    whole = run(*of(store.path))[1]
    same = out == whole if words[0] == "export" else answer_rows(out) == answer_rows(whole)
    return of(damaged), [] if status != 0 or same else [f"byte {at} of {store.path}: another answer, {error[:200]}"]


def mcp_says_what_the_command_says(program, store, random, _folder):
    """Answers of `stackpack mcp` are those of the commands that they name."""
    words = {"file": store.path, "rows": random.choice((1, 5, 1000))}
    if random.random() < .5 and store.samples:
        words["event"] = store.events[random.choice(store.samples).event][0]
    function = random.choice(store.functions).name if store.functions else "[unknown]"
    tools = [("top", {"by": random.choice(reports.GRAINS), "order": random.choice(("self", "total"))}), ("tree", {}), ("callstacks", {}),
             ("callers", {"function": function}), ("callees", {"function": function})]
    tool, more = random.choice(tools)
    if store.intervals and random.random() < .3:
        tool, more = "waits", {}
        words.pop("event", None)
    client = McpClient(program, pathlib.Path(store.path).parent)
    result = client.call(tool, **words, **more)
    client.close()
    command = result.get("_meta", {}).get("stackpack/command")
    if command is None:
        return [program, "mcp", tool, words], [] if result.get("isError") else [f"no command: {result}"]
    status, out, error = run(program, *command)
    said = result["content"][0]["text"]
    same = said == out.decode() or result.get("isError") and status != 0
    return [program, *command], [] if same else [f"mcp says {said[:200]}, the command {out[:200]} {error[:200]}"]


def answer_rows(text):
    """What a report says, without commands and names of files, and what stats leaves out where a page is damaged."""
    known = json.loads(text) if text else {}
    for key in ("next", "file"):
        known.pop(key, None)
    for key in ("resident_bytes", "bytes_per_node_resident"):
        known.get("dag", {}).pop(key, None)
    return known


def wrong_intervals(store):
    """Lines that say what of the intervals of a file cannot be, or is not what the switches of its capture say."""
    most = waits.most_running(store.intervals)
    lines = [f"{most} threads run at a time on {store.processors} processors"] if most > store.processors else []
    if hasattr(store, "events_of_switches"):
        addresses = lambda stack: None if stack == NONE else tuple(address for _, address in store.stacks[stack])
        got = {waits.Interval(*row[:1], *row[2:7], addresses(row.stack), row.waker_kind, row.waker, addresses(row.waker_stack)) for row in store.intervals}
        wanted = set(waits.intervals(store.events_of_switches))
        lines += [f"only the file has {row}" for row in sorted(got - wanted, key=str)[:3]] + [f"not in the file: {row}" for row in sorted(wanted - got, key=str)[:3]]
    return lines


OF_ONE = (cut_of_everything, filters_partition, windows_add_up, stats_count_what_passes, perfetto_has_the_callstacks_of_pprof, totals_cover_selves, redact_changes_names_only, same_bytes_for_any_resources,
          damaged_is_refused, mcp_says_what_the_command_says)
OF_SEVERAL = (merge_is_commutative, merge_keeps_sums, order_of_inputs)
