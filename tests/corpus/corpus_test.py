#!/usr/bin/env python3
"""Converts real captures and compares every figure with a reference reader's answer.

    corpus_test.py PROGRAM MANIFEST [NAME...]

MANIFEST lists one capture per line, `perf/NAME`, `simpleperf/NAME`, `etl/NAME` or `nettrace/NAME`, or the traces of a session, `etl/NAME etl/NAME...`. The captures are not part of the
project: they are looked for in $STACKPACK_CORPUS, or else in ../shared/corpus beside the source
tree. Without them the test is skipped (exit code 77). Each NAME has a NAME.expected.json, or a
NAME.events.json: samples and sum of weights of each event, as perf printed them. A trace whose methods
have names has a NAME.frames.txt: `pid address name` of every address in its callstacks that has one.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
WORKERS = 2


class Mismatch(Exception):
    """What differs, for one capture."""


def run(arguments, **options):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)


def checked(arguments, **options):
    done = run(arguments, **options)
    if done.returncode != 0:
        raise Mismatch(f"{arguments[1]} ended with {done.returncode}: {done.stderr.decode()[:300].strip()}")
    return done.stdout


def listing_digest(program, packed):
    """Digest of the canonical listing: lines in byte order."""
    lines = sorted(checked([program, "dump", "--stacks", packed]).splitlines())
    return hashlib.sha256(b"".join(line + b"\n" for line in lines)).hexdigest()


def perf_figures(expected):
    """The reference's figures under the names of stats --json."""
    events = [attribute["samples"] for attribute in expected["attrs"]]
    return {
        "samples.records": expected["samples"],
        "samples.recorded": expected["samples_with_frames"],
        "samples.empty_chains": expected["samples_with_empty_chain"],
        "callstacks.raw_frames": expected["frames"],
        "callstacks.unique": expected["unique_stacks"],
        "callstacks.max_depth": expected["max_depth"],
        "losses.recorder_lost_events": expected["lost_events"],
        "losses.recorder_lost_samples": expected["lost_samples"],
        "events": sorted(count for count in events if count),
    }


def etl_figures(expected):
    stacks = expected["all_stacks"]
    return {
        "samples.recorded": stacks["count"],
        "callstacks.raw_frames": stacks["total_frames"],
        "callstacks.unique": stacks["unique_stacks"],
        "losses.recorder_lost_events": expected["events_lost"],
        "losses.recorder_lost_buffers": expected["buffers_lost"],
        "samples of SampledProfile": expected["samples"]["timer"],
        "ip only": expected["samples"]["without_stack"],
    }


def nettrace_figures(expected):
    stacks = expected["all_stacks"]
    figures = {
        "samples.recorded": stacks["count"],
        "callstacks.raw_frames": stacks["total_frames"],
        "callstacks.unique": stacks["unique_stacks"],
    }
    if expected["version"] >= 4:  # earlier ones do not number their events
        figures["losses.recorder_lost_events"] = expected["lost"]["events"]
    return figures


FIGURES = {"etl": etl_figures, "nettrace": nettrace_figures}


def figures_of(statistics, expected):
    """The same figures as `expected` has, out of stats --json."""
    found = {}
    for name in expected:
        if name == "events":
            found[name] = sorted(event["samples"] for event in statistics["events"] if event["samples"])
        elif name == "samples of SampledProfile":
            found[name] = sum(event["samples"] for event in statistics["events"]
                              if event["name"] == "PerfInfo/SampledProfile")
        elif name == "ip only":
            found[name] = statistics["samples"]["ip_only"]
        else:
            group, key = name.split(".")
            found[name] = statistics[group][key]
    return found


def trace_totals(expected):
    """The reference's totals over a whole trace, under their names in the metadata."""
    walk, extended, clr = expected["stackwalk"], expected["extended_data_stacks"], expected["clr_stacks"]
    samples, buffers = expected["samples"], expected["buffers"]
    totals = {
        "events": expected["events_total"], "wpp_messages": expected["wpp_messages"],
        "buffers": buffers["count"], "buffers_declared": buffers["declared"],
        "buffers_compressed": buffers["compressed"], "decoded_bytes": buffers["decoded_payload_bytes"],
        "fragments_inline": walk["fragments_inline"], "key_references": walk["key_references"],
        "key_definitions": walk["key_definitions"], "undefined_references": walk["undefined_references"],
        "joined_stacks": walk["joined_stacks"], "kernel_only": walk["kernel_only"],
        "user_only": walk["user_only"], "kernel_and_user": walk["kernel_and_user"],
        "user_half_of_another_event": walk["user_half_taken_from_other_event"],
        "kernel_half_without_user_half": walk["kernel_half_without_user_half"],
        "late_user_halves": walk["late_user_halves_ignored"], "joined_frames": walk["total_frames"],
        "extended_items": extended["items"], "extended_stacks": extended["joined"],
        "extended_frames": extended["total_frames"],
        "clr_stacks": clr["count"], "clr_frames": clr["total_frames"],
        "clr_stacks_without_event": clr["without_preceding_event"],
        "timer_samples": samples["timer"], "counter_samples": samples["pmc"],
        "samples_with_stack": samples["with_stack"], "samples_without_stack": samples["without_stack"],
        "samples_not_idle": samples["not_idle"], "context_switches": expected["context_switches"],
        "ready_thread": expected["ready_thread"], "processes": expected["processes"],
        "threads": expected["threads"], "image_events": expected["image_events"],
        "images": expected["images"], "pdb_records": expected["pdb_records"],
    }
    wanted = {"etl.total." + name: str(count) for name, count in totals.items()}
    wanted.update({"etl.event." + name: str(count) for name, count in expected["counts"].items()})
    return wanted


def compare_totals(program, packed, expected):
    rows = json.loads(checked([program, "dump", "--metadata", "--json", packed]))
    found = {row["key"]: row["value"] for row in rows if row["key"].startswith(("etl.total.", "etl.event."))}
    wanted = trace_totals(expected)
    return [f"{name} is {found.get(name)}, not {wanted.get(name)}"
            for name in sorted(found.keys() | wanted.keys()) if found.get(name) != wanted.get(name)]


def named_frames(program, packed):
    """`pid address function` of every address that has a name, in byte order."""
    rows = checked([program, "dump", "--names", packed]).decode().splitlines()[1:]
    lines = (" ".join(row.split("\t")[column] for column in (0, 1, 4)) for row in rows)
    return sorted(line.encode() for line in lines)


def compare_names(program, packed, capture):
    """A trace that names no function has no list."""
    listing = capture.with_suffix(".frames.txt")
    wanted = sorted(listing.read_bytes().splitlines()) if listing.exists() else []
    found = named_frames(program, packed)
    if found == wanted:
        return []
    return [f"{len(set(wanted) - set(found))} of {len(wanted)} named addresses are missing, "
            f"{len(set(found) - set(wanted))} are not wanted"]


def damage_in(program, packed):
    rows = json.loads(checked([program, "dump", "--losses", "--json", packed]))
    return [f"{row['name']} is {row['count']} in a sound capture" for row in rows
            if row["kind"] == "damage" and row["count"]]


def compare_damage(program, packed, expected):
    """What the reference reader says of damage is counted under the same names, and nothing else is."""
    rows = json.loads(checked([program, "dump", "--losses", "--json", packed]))
    wanted = dict(expected["damage"])
    wanted.update({name: count for name, count in expected["notes"].items() if name == "unread_bytes"})
    found = {row["name"]: row["count"] for row in rows if row["kind"] == "damage" and row["count"]}
    if expected["version"] < 3:  # rows without a block: what follows the last whole one is not read
        found.pop("unread_bytes", None)
    return [f"damage is {found}, not {wanted}"] if found != wanted else []


def compare_switches(program, packed):
    """Each cswitch is a block from its time on, as long as its weight, and a thread runs between two of them."""
    samples = [json.loads(line.rstrip(",")) for line in checked(
        [program, "dump", "--samples", "--json", packed]).decode().splitlines() if line.startswith("{")]
    switches = sorted((row["tid"], row["time_ns"], row["time_ns"] + row["weight"]) for row in samples
                      if row["event"] == "cswitch" and row["tid"] != 0)
    lines = [line.split("\t") for line in checked(
        [program, "dump", "--intervals", packed]).decode().splitlines() if not line.startswith("#")]
    blocked = [(int(tid), int(begin), int(end)) for tid, begin, end, state, *_ in lines if state == "blocked"]
    problems = []
    if blocked != switches:
        problems.append(f"{len(set(switches) - set(blocked))} of {len(switches)} switches are no blocks, "
                        f"{len(set(blocked) - set(switches))} blocks are no switches")
    for previous, row in zip(lines, lines[1:]):
        if previous[0] == row[0] and previous[2] != row[1]:
            problems.append(f"intervals of thread {row[0]} do not meet at {row[1]}")
    return problems


def compare_branches(program, packed, expected):
    """Listings of edges and ranges, which have their lines in byte order."""
    problems = []
    for listing, name in (("--branches", "edges"), ("--ranges", "ranges")):
        found = checked([program, "dump", listing, packed])
        if hashlib.sha256(found).hexdigest() != expected[name + "_sha256"]:
            problems.append(f"{name}: {len(found.splitlines())} lines, {expected[name]} wanted, or other ones")
    return problems


def compare(program, packed, expected, kind):
    statistics = json.loads(checked([program, "stats", "--json", packed]))
    wanted = FIGURES.get(kind, perf_figures)(expected)
    found = figures_of(statistics, wanted)
    problems = [f"{name} is {found[name]}, not {wanted[name]}" for name in wanted if found[name] != wanted[name]]
    if kind == "etl":
        problems += compare_totals(program, packed, expected)
    digest = listing_digest(program, packed)
    wanted_digest = expected["all_stacks"]["listing_sha256"] if kind in FIGURES else expected["listing_sha256"]
    if digest != wanted_digest:
        problems.append(f"listing is {digest[:12]}, not {wanted_digest[:12]}")
    if kind == "nettrace":
        problems += compare_damage(program, packed, expected)
        problems += compare_switches(program, packed)
    elif not expected.get("notes"):  # the reference reader found nothing wrong
        problems += damage_in(program, packed)
    if "branches" in expected:
        problems += compare_branches(program, packed, expected["branches"])
    source = statistics["source"]
    if sum(source["bytes_by_kind"].values()) != source["bytes"]:
        problems.append(f"{source['bytes_by_kind']} do not add up to {source['bytes']} bytes of the capture")
    if sum(source["skipped_by_reason"].values()) != source["bytes_by_kind"]["skipped"]:
        problems.append(f"{source['skipped_by_reason']} do not add up to "
                        f"{source['bytes_by_kind']['skipped']} skipped bytes")
    if sum(section["stored_bytes"] for section in statistics["sections"]) != statistics["file_bytes"]:
        problems.append("the sections do not add up to the file")
    checked([program, "verify", packed])
    if problems:
        raise Mismatch("; ".join(problems))
    return statistics


def test_events(program, capture, expected, entry):
    """Where only the samples of each event are known."""
    with tempfile.TemporaryDirectory() as folder:
        packed = str(pathlib.Path(folder) / "out.spk")
        try:
            checked([program, "convert", str(capture), "-o", packed])
            checked([program, "verify", packed])
            header, *rows = checked([program, "dump", "--samples", packed]).decode().splitlines()
        except Mismatch as problem:
            return False, f"{entry}: {problem}"
    names = header.lstrip("#").split("\t")
    found = {}
    for row in rows:
        sample = dict(zip(names, row.split("\t")))
        event = found.setdefault(sample["event"], {"samples": 0, "weight": 0})
        event["samples"] += 1
        event["weight"] += int(sample["weight"])
    if found != expected["events"]:
        return False, f"{entry}: events are {found}, not {expected['events']}"
    return True, f"{entry}: {len(rows)} samples of {len(found)} events: as expected"


def test_capture(program, corpus, entry):
    """One line about one capture, and whether it is as expected."""
    kind, name = entry.split("/", 1)
    endings = {"etl": [".etl"], "nettrace": [".nettrace", ".netperf"]}.get(kind, [".perf.data"])
    named = [corpus / kind / (name + ending) for ending in endings]
    capture = next((path for path in named if path.exists()), named[0])
    events = corpus / kind / (name + ".events.json")
    if events.exists():
        return test_events(program, capture, json.loads(events.read_text()), entry)
    expected = json.loads((corpus / kind / (name + ".expected.json")).read_text())
    with tempfile.TemporaryDirectory() as folder:
        packed = str(pathlib.Path(folder) / "out.spk")
        try:
            checked([program, "convert", str(capture), "-o", packed])
            statistics = compare(program, packed, expected, kind)
            if kind in FIGURES and (problems := compare_names(program, packed, capture)):
                raise Mismatch("; ".join(problems))
            size = sum(part.stat().st_size for part in ([capture] if capture.is_file() else capture.iterdir()))
            if statistics["source"]["bytes"] != size:
                raise Mismatch(f"{statistics['source']['bytes']} bytes are accounted for, not {size}")
            how = "file"
            if expected.get("layout") == "pipe" or kind == "nettrace":
                piped = str(pathlib.Path(folder) / "piped.spk")
                with open(capture, "rb") as stream:
                    source = subprocess.Popen(["cat"], stdin=stream, stdout=subprocess.PIPE)
                    checked([program, "convert", "-", "-o", piped], stdin=source.stdout)
                    source.stdout.close()
                    source.wait()
                compare(program, piped, expected, kind)
                if kind == "nettrace" and (problems := compare_names(program, piped, capture)):
                    raise Mismatch("from a pipe: " + "; ".join(problems))
                how = "file and pipe"
        except Mismatch as problem:
            return False, f"{entry}: {problem}"
    return True, (f"{entry}: {statistics['samples']['total']} samples, "
                  f"{statistics['callstacks']['unique']} callstacks, {how}: as expected")


def modules_of(program, packed):
    return json.loads(checked([program, "dump", "--modules", "--json", packed]))


def frames_without_module(program, packed):
    """User frames, by sample, that lie in no module of their process; and all of them."""
    ranges = {}
    for module in modules_of(program, packed):
        base, size = (int(str(module[key]), 0) for key in ("base", "size"))
        ranges.setdefault(module.get("pid"), []).append((base, base + size))
    without = total = 0
    for sample in json.loads(checked([program, "dump", "--samples", "--json", packed])):
        for frame in sample.get("frames", []):
            if frame[0] == "u":
                address = int(frame[1:], 16)
                total += 1
                without += not any(begin <= address < end for begin, end in ranges.get(sample["pid"], []))
    return without, total


def test_session(program, corpus, entry):
    """The traces of a session, read as one: the sum of what each has, whatever their order."""
    names = [name.split("/", 1)[1] for name in entry.split()]
    traces = [str(corpus / "etl" / (name + ".etl")) for name in names]
    expected = [json.loads((corpus / "etl" / (name + ".expected.json")).read_text()) for name in names]
    unions = ["etl.total." + name for name in ("processes", "threads", "images")]  # of all traces, not a sum
    try:
        with tempfile.TemporaryDirectory() as folder:
            packed, again = (str(pathlib.Path(folder) / name) for name in ("one.spk", "two.spk"))
            checked([program, "convert", "--session", *traces, "-o", packed])
            checked([program, "convert", "--session", *reversed(traces), "-o", again])
            if pathlib.Path(packed).read_bytes() != pathlib.Path(again).read_bytes():
                raise Mismatch("the order of the traces shows")
            checked([program, "verify", packed])
            wanted = {}
            for one in expected:
                for name, count in trace_totals(one).items():
                    wanted[name] = wanted.get(name, 0) + int(count)
            rows = json.loads(checked([program, "dump", "--metadata", "--json", packed]))
            found = {row["key"]: row["value"] for row in rows}
            problems = [f"{name} is {found.get(name)}, not {count}" for name, count in sorted(wanted.items())
                        if name not in unions and found.get(name) != str(count)]
            statistics = json.loads(checked([program, "stats", "--json", packed]))
            size = sum(pathlib.Path(trace).stat().st_size for trace in traces)
            if statistics["source"]["bytes"] != size or sum(statistics["source"]["bytes_by_kind"].values()) != size:
                problems.append(f"{statistics['source']['bytes_by_kind']} is not the sum of the traces, {size}")
            without, total = frames_without_module(program, packed)
            if total == 0 or without * 2 > total:  # methods that were compiled while they ran are in none
                problems.append(f"{without} of {total} user frames lie in no module")
            if problems:
                raise Mismatch("; ".join(problems))
    except Mismatch as problem:
        return False, f"{entry}: {problem}"
    return True, f"{entry}: {without} of {total} user frames in no module: as expected"


def test_entry(program, corpus, entry):
    return (test_session if " " in entry else test_capture)(program, corpus, entry)


def main():
    program, manifest, *names = sys.argv[1:]
    program = str(pathlib.Path(program).resolve())
    source = pathlib.Path(manifest).resolve().parents[2]
    corpus = pathlib.Path(os.environ.get("STACKPACK_CORPUS") or source.parent / "shared" / "corpus")
    if not corpus.is_dir():
        print(f"SKIPPED: no captures in {corpus}; set STACKPACK_CORPUS to the folder that has them")
        return SKIPPED
    lines = (line.split("#")[0].strip() for line in pathlib.Path(manifest).read_text().splitlines())
    entries = [line for line in lines if line and (not names or line in names)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for good, line in pool.map(lambda entry: test_entry(program, corpus, entry), entries):
            print(line if good else "FAILED " + line, flush=True)
            failed += not good
    print(f"{len(entries)} captures and sessions, {failed} not as expected")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
