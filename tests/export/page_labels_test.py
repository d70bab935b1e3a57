#!/usr/bin/env python3
"""A page has the labels of samples: what each stands for is what `go tool pprof -tags` and `top` count.

    page_labels_test.py PROGRAM SOURCE_DIR

Pages are read after docs/page-format.md (tests/support/read_page.py), and by the page's own decode.js where node is there.
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parent.parent / "support"
sys.path.insert(0, str(SUPPORT))
import read_page  # noqa: E402

TAG = re.compile(r"\s+(\d+)ns \(\s*\S+%\): (.*)$")
KEY = re.compile(r"\s*(\S+): Total ")


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, timeout=60).stdout


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {str(found)[:500]} instead of {str(expected)[:500]}")


def tags_of(path):
    tags, values = {}, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if key := KEY.match(line):
            values = tags.setdefault(key.group(1), {})
        elif tag := TAG.match(line):
            values[tag.group(2)] = int(tag.group(1))
    return tags


def sets_of(page):
    """By number of a row's set: {key: {value, ...}}."""
    sets = [{}]
    for texts in page.head["labels"]["sets"]:
        sets.append(collections.defaultdict(set))
        for key, value in zip(texts[::2], texts[1::2], strict=True):
            sets[-1][key].add(value)
    return sets


def rows_with(page, measure, key, value):
    """(node, weight) of the samples that `--label KEY=VALUE` chooses."""
    sets = sets_of(page)
    return [(row[2], row[4]) for row, number in zip(page.time, page.sets, strict=True)
            if row[3] == measure and value in sets[number].get(key, {"[no label]"})]


def functions_with(page, rows):
    sums = {}
    for node, weight in rows:
        path = page.path(node)
        for function in set(path):
            own, total = sums.get(function, (0, 0))
            sums[function] = (own + (weight if path[-1] == function else 0), total + weight)
    return sums


def check_page(program, page, spk, measure, times=1):
    name = page.head["measures"][measure]["name"]
    for key in sorted({key for labels in sets_of(page) for key in labels}):
        top = json.loads(run(program, "top", spk, "--event", name, "--by", f"label:{key}", "-n", 0, "--idle", "--json"))
        for row in top["rows"]:
            chosen = rows_with(page, measure, key, row["name"])
            check(f"{key}={row['name']}", sum(weight for _, weight in chosen), times * row["self"])
            told = json.loads(run(program, "top", spk, "--event", name, "--label", f"{key}={row['name']}", "--frames", "module",
                                  "-n", 0, "--idle", "--json"))
            expected = {(one["name"], one.get("module", "")): (times * one["self"], times * one["total"]) for one in told["rows"]}
            check(f"functions of {key}={row['name']}", functions_with(page, chosen), expected)


def check_decoder(source, page, path):
    node = shutil.which("node")
    if node:
        listing = json.loads(run(node, SUPPORT / "page_listing.mjs", source / "src/export/page/decode.js", path))
        check("rows of decode.js", listing["time"], page.time)
        check("sets of decode.js", listing["sets"], page.sets)
        check("labels of decode.js", [sum(pairs, []) for pairs in listing["labels"]], page.head["labels"]["sets"])


def requests(count):
    """A profile of OpenTelemetry: samples with times, of routes and of users."""
    names = ["", "count", "main", "pay", "find", "route", "user"]
    attributes = [{}] + [{"keyStrindex": 5, "value": {"stringValue": route}} for route in ("/pay", "/find", "/")]
    attributes += [{"keyStrindex": 6, "value": {"stringValue": user}} for user in ("ada", "bob")]
    samples = [{"stackIndex": 1 + i % 3 // 2, "values": [1 + i % 5], "attributeIndices": [1 + i % 3, 4 + i % 2],
                "timestampsUnixNano": [str(1_700_000_000_000_000_000 + 1_000_000 * i)]} for i in range(count)]
    return {"resourceProfiles": [{"scopeProfiles": [{"profiles": [{"sampleType": {"typeStrindex": 1, "unitStrindex": 1}, "samples": samples}]}]}],
            "dictionary": {"stringTable": names, "attributeTable": attributes, "mappingTable": [{}], "linkTable": [{}],
                           "functionTable": [{}] + [{"nameStrindex": 2 + i} for i in range(3)],
                           "locationTable": [{}] + [{"lines": [{"functionIndex": 1 + i}]} for i in range(3)],
                           "stackTable": [{}, {"locationIndices": [2, 1]}, {"locationIndices": [3, 1]}]}}


def page_of(program, path, *files):
    run(program, "export", *files, "--to", "html", "-o", path, "--force", "-q", "--keep-broken", "--idle")
    return read_page.Page(path)


def main():
    program, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    profile = source / "testdata/pprof/go.cpu.pb.gz"
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        path, spk = folder / "page.html", folder / "cpu.spk"
        run(program, "convert", profile, "-o", spk, "-q")
        page = page_of(program, path, spk)
        check("buckets of a profile without times", (page.head["timeline"]["buckets"], page.head["timeline"]["timed"]), (1, False))
        cpu = [i for i, measure in enumerate(page.head["measures"]) if measure["unit"] in ("ns", "nanoseconds")][0]
        tags = tags_of(source / "testdata/pprof/go.cpu.tags")
        check("keys", sorted(tags), ["route", "user"])
        for key, values in tags.items():
            for value, weight in values.items():
                check(f"{key}={value}", sum(own for _, own in rows_with(page, cpu, key, value)), weight)
        check_page(program, page, spk, cpu)
        check_decoder(source, page, path)
        twice = page_of(program, path, spk, shutil.copy(spk, folder / "again.spk"))
        check("sets of two files", twice.head["labels"]["sets"], page.head["labels"]["sets"])
        check_page(program, twice, spk, 0, 2)
        # The labels of samples with times do not take the timeline away.
        made, timed = folder / "made.json", folder / "timed.spk"
        made.write_text(json.dumps(requests(300)), encoding="utf-8")
        run(program, "convert", made, "-o", timed, "-q")
        page = page_of(program, path, timed)
        check("buckets of samples with times", (page.head["timeline"]["buckets"] > 1, page.head["timeline"].get("timed")), (True, None))
        check("sets of labels", len(page.head["labels"]["sets"]), 6)
        check_page(program, page, timed, 0)
        check_decoder(source, page, path)
        events = folder / "events.spk"
        run(program, "convert", source / "testdata/events.perf.data", "-o", events, "-q")
        page = page_of(program, path, events)
        check("labels where no sample has any", "labels" in page.head, False)
    print("labels of pages: 4 pages")


if __name__ == "__main__":
    main()
