#!/usr/bin/env python3
"""pprof_profiles_test.py PROGRAM SOURCES: profiles of testdata/pprof, without a word about their format.

Every row of `go tool pprof -top` (PROFILE.top, made by testdata/pprof/record.sh) has the same self and total here, for the type
that pprof shows first. Code without names is one row there, `<unknown>`. Labels count what `go tool pprof -tags` says.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROW = re.compile(r"\s*(\d+)(ns|B)?\s+\S+%\s+\S+%\s+(\d+)(?:ns|B)?\s+\S+%\s+(.*?)(?: \(inline\)| \(partial-inline\))?$")
TAG = re.compile(r"\s+(\d+)ns \(\s*\S+%\): (.*)$")
KEY = re.compile(r"\s*(\S+): Total ")


def report(program, *arguments):
    run = subprocess.run([program, "top", *arguments, "--json", "-n", "0", "--idle"], capture_output=True, text=True, timeout=60)
    if run.returncode:
        sys.exit(f"{' '.join(arguments)}: {run.stderr}")
    return json.loads(run.stdout)


def expected_rows(path):
    """name: [self, total], as pprof has them."""
    with open(path, encoding="utf-8") as lines:
        fits = [ROW.match(line) for line in lines if "flat%" not in line and line.strip()]
    assert fits and all(fits), path
    return {fit.group(4): [int(fit.group(1)), int(fit.group(3))] for fit in fits}


def rows_of(answer):
    rows = {}
    for row in answer["rows"]:
        name = "<unknown>" if row["name"].startswith("0x") or row["name"] == "[unknown]" else row["name"]
        sums = rows.setdefault(name, [0, 0])
        sums[0] += row["self"]
        sums[1] += row["total"]
    return rows


def check_profile(program, path):
    wanted, rows = expected_rows(path + ".top"), rows_of(report(program, path))
    unknown = wanted.pop("<unknown>", [0, 0])
    assert rows.get("<unknown>", [0, 0])[0] == unknown[0], (path, unknown, rows.get("<unknown>"))
    for name, sums in wanted.items():
        assert rows.get(name) == sums, (path, name, sums, rows.get(name))


def expected_tags(path):
    """key: {value: ns}, as `go tool pprof -tags` has them."""
    tags, values = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if key := KEY.match(line):
                values = tags.setdefault(key.group(1), {})
            elif tag := TAG.match(line):
                values[tag.group(2)] = int(tag.group(1))
    return tags


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def check_labels(program, path, tags, folder):
    """Rows by label, samples of a label, and both after a merge, a cut, a redaction and an export."""
    out = {name: os.path.join(folder, name) for name in ("a.spk", "b.spk", "merged.spk", "cut.spk", "redacted.spk", "back.pb")}
    run(program, "convert", path, "-o", out["a.spk"], "-q")
    run(program, "export", out["a.spk"], "--format", "pprof", "-o", out["back.pb"], "-q")
    assert set(tags) == {"route", "user"}, tags
    whole = report(program, path)["weight"]
    for key, values in tags.items():
        rest = whole - sum(values.values())
        expected = {**values, "[no label]": rest} if rest else values
        for file in (path, out["a.spk"], out["back.pb"]):
            for by in ("label:", "field:"):
                rows = {row["name"]: row["self"] for row in report(program, file, "--by", by + key)["rows"] if row["self"]}
                named = {"[no label]" if name == "[no value]" else name: value for name, value in rows.items()}
                assert named == expected, (file, by, key, rows, expected)
        for value, weight in expected.items():
            assert report(program, path, "--label", f"{key}={value}")["weight"] == weight, (key, value)
        both = [option for value in values for option in ("--label", f"{key}={value}")]
        assert report(program, path, *both)["weight"] == whole - rest, key
    user, route = next(iter(tags["user"])), next(iter(tags["route"]))
    one_of_each = report(program, path, "--label", f"user={user}", "--label", f"route={route}")["weight"]
    folded = run(program, "export", path, "--format", "folded", "--label", f"user={user}", "--label", f"route={route}", "-o", "-")
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) == one_of_each, (one_of_each, folded)
    run(program, "convert", os.path.join(os.path.dirname(path), "go.heap.pb.gz"), "-o", out["b.spk"], "-q")
    run(program, "merge", out["b.spk"], out["a.spk"], "-o", out["merged.spk"], "-q")
    run(program, "cut", out["a.spk"], "--label", f"user={user}", "-o", out["cut.spk"], "-q")
    run(program, "redact", out["a.spk"], "-o", out["redacted.spk"], "-q")
    for name in ("a.spk", "merged.spk", "cut.spk", "redacted.spk"):
        run(program, "verify", out[name])
    merged = report(program, out["merged.spk"], "--event", "cpu", "--by", "label:user")
    assert {row["name"]: row["self"] for row in merged["rows"]}[user] == tags["user"][user], merged
    assert report(program, out["cut.spk"])["weight"] == tags["user"][user]
    assert [row["name"] for row in report(program, out["cut.spk"], "--by", "label:user")["rows"]] == [user]
    redacted = sorted(row["self"] for row in report(program, out["redacted.spk"], "--by", "label:user")["rows"])
    assert redacted == sorted(row["self"] for row in report(program, path, "--by", "label:user")["rows"])
    assert user not in run(program, "dump", "--labels", out["redacted.spk"]), "a value survived"


def main():
    program, sources = os.path.abspath(sys.argv[1]), sys.argv[2]
    folder = os.path.join(sources, "testdata", "pprof")
    profiles = [name for name in sorted(os.listdir(folder)) if name.endswith((".pb.gz", ".txt"))]
    assert len(profiles) == 11, profiles
    for name in profiles:
        check_profile(program, os.path.join(folder, name))
    with tempfile.TemporaryDirectory() as scratch:
        check_labels(program, os.path.join(folder, "go.cpu.pb.gz"), expected_tags(os.path.join(folder, "go.cpu.tags")), scratch)


if __name__ == "__main__":
    main()
