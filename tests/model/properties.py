"""Laws over whole files: each takes (program, store, random numbers, folder) and gives a command and what breaks the law.

What two commands write must be the same bytes, or what a report says of parts must add up to the whole.
"""
import collections
import json
import pathlib
import subprocess

import reports
from store import NONE, Store


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
    return command, [] if plain == other and plain else [f"other bytes {error}"]


OF_ONE = (cut_of_everything, filters_partition, windows_add_up, totals_cover_selves, redact_changes_names_only, same_bytes_for_any_resources)
OF_SEVERAL = (merge_is_commutative, merge_keeps_sums)
