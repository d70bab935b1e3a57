#!/usr/bin/env python3
"""A fleet of N captures on one machine: made, packed, asked, compacted, deleted; in one of the services something grows by a point.

    lake_bench.py GENERATOR FOLDER [--count 200] [--services 32] [--days 14] [--samples 20000] [--scale 0.002] [--planted 0.01]

GENERATOR is write_workload (a build with STACKPACK_BENCH): it makes the callstacks of each service, SCALE of the reference workload
with a seed of its own. A capture draws SAMPLES of them, each run about a tenth of its shares away from the others, as folded text,
which is packed and removed at once. In the second half of the days one stack of one service has PLANTED more of the samples. Needs
the package with pyarrow, numpy and duckdb. A line of JSON for each step: seconds, bytes, files, most memory so far. Status 1
where the planted change is not found, or anything else is.
"""
import argparse
import datetime
import json
import pathlib
import resource
import subprocess
import sys
import time

import duckdb
import numpy

import stackpack
from stackpack import lake as lakes, parquet

FLEET = pathlib.Path(__file__).parents[1] / "examples" / "fleet"
FIRST = datetime.date(2026, 11, 9)


def say(step, begin, **facts):
    """A line of what a step took."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    print(json.dumps({"step": step, "seconds": round(time.monotonic() - begin, 2), **facts, "memory_bytes": memory}), flush=True)


def stacks_of(given, folder, service):
    """Callstacks of a service as folded text, and their shares."""
    capture, packed = folder / "generated.data", folder / "generated.spk"
    subprocess.run([given.generator, "perf", capture, str(given.scale), str(service + 1)], check=True, stdout=subprocess.DEVNULL)
    stackpack.convert(capture, packed)
    size = capture.stat().st_size
    lines = stackpack.export(packed, format="folded", frames="address", all_events=True).decode().splitlines()
    capture.unlink()
    packed.unlink()
    texts, counts = zip(*(line.rsplit(" ", 1) for line in lines))
    counts = numpy.array(counts, dtype=float)
    return texts, counts / counts.sum(), size


def draw(chance, given, texts, shares, planted):
    """A capture as folded text."""
    scattered = shares * chance.gamma(100, 0.01, len(shares))
    scattered *= (1 - planted) / scattered.sum()
    counts = chance.multinomial(given.samples, [*scattered, planted]).tolist()
    return "".join(f"{text} {count}\n" for text, count in zip([*texts, f"{texts[0]};grown"], counts) if count)


def fill(given, folder, lake):
    """Writes and packs the captures one by one; bytes of text, of .spk files."""
    chance, sizes = numpy.random.default_rng(1), [0, 0]
    bases = [stacks_of(given, folder, service) for service in range(given.services)]
    begin = time.monotonic()
    for number in range(given.count):
        service, turn = number % given.services, number // given.services
        day = turn * given.days // max(1, given.count // given.services) % given.days
        planted = 0.02 + (given.planted if service == 7 % given.services and day >= given.days // 2 else 0)
        text = folder / f"capture-{number}.folded"
        text.write_text(draw(chance, given, *bases[service][:2], planted), encoding="utf-8")
        packed = text.with_suffix(".spk")
        stackpack.convert(text, packed)
        sizes = [sizes[0] + text.stat().st_size, sizes[1] + packed.stat().st_size]
        labels = parquet.Labels.of({"service": f"service_{service:02}", "date": (FIRST + datetime.timedelta(day)).isoformat()})
        done = parquet.write_capture(packed, lake, tables=["shares"], labels=labels)
        if done.error is not None:
            sys.exit(str(done.error))
        text.unlink()
        packed.unlink()
    say("pack", begin, captures=given.count, text_bytes=sizes[0], spk_bytes=sizes[1], **size_of(lake),
        generated_bytes_each=bases[0][2], callstacks_each=len(bases[0][0]))


def size_of(lake):
    """Files and bytes of the tables."""
    sizes = [path.stat().st_size for path in lake.rglob("*.parquet")]
    return {"parquet_files": len(sizes), "parquet_bytes": sum(sizes)}


def ask(given, lake, when):
    """The questions, each in seconds; what grew."""
    database = duckdb.connect()
    lakes.register(database)
    database.execute(f"SET VARIABLE lake = '{lake}'")
    for name in ("lake.sql", "verdicts.sql"):
        database.execute((FLEET / name).read_text(encoding="utf-8"))
    half, last = FIRST + datetime.timedelta(given.days // 2), FIRST + datetime.timedelta(given.days - 1)
    old, new = f"'{FIRST}', '{half - datetime.timedelta(1)}'", f"'{half}', '{last}'"
    found = []
    for name, text in (("top_functions", f"FROM top_functions('service_{7 % given.services:02}', 'samples', {new}) LIMIT 20"),
                       ("library_cost", f"FROM library_cost('%', 'samples', {new})"),
                       ("brought_by", f"FROM brought_by('service_{7 % given.services:02}', 'samples', 'grown')"),
                       ("grew", f"FROM grew('samples', {old}, {new}, least := {given.planted / 2})"),
                       ("grown", f"FROM grown('samples', {old}, {new}, least := {given.planted / 2})")):
        begin = time.monotonic()
        result = database.sql(text)
        rows = [dict(zip(result.columns, row)) for row in result.fetchall()]
        facts = {"found": [(row["service"], row["name"], round(row["change"], 4)) for row in rows]} if name in ("grew", "grown") else {}
        say(f"{name}, {when}", begin, rows=len(rows), **facts)
        found = rows
    return {(row["service"], row["name"]) for row in found}


def main():
    """Runs the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("generator")
    parser.add_argument("folder", type=pathlib.Path)
    for name, kind, value in (("count", int, 200), ("services", int, 32), ("days", int, 14), ("samples", int, 20000),
                              ("scale", float, 0.002), ("planted", float, 0.01)):
        parser.add_argument(f"--{name}", type=kind, default=value)
    given = parser.parse_args()
    lake = given.folder / "lake"
    given.folder.mkdir(parents=True)
    fill(given, given.folder, lake)
    before = ask(given, lake, "small files")
    begin = time.monotonic()
    groups = list(lakes.compact(lakes.Lake(lake)))
    say("compact", begin, groups=len(groups), **size_of(lake))
    after = ask(given, lake, "compacted")
    begin = time.monotonic()
    old = [capture for capture, rows in lakes.Lake(lake).captures().items() if rows.date < (FIRST + datetime.timedelta(1)).isoformat()]
    lakes.delete(lakes.Lake(lake), old, "the first day")
    say("delete", begin, captures=len(old), **size_of(lake))
    # What calls it has grown with it.
    planted = f"service_{7 % given.services:02}"
    if before != after or ("grown" not in {name for _, name in before}) or {service for service, _ in before} != {planted}:
        sys.exit(f"planted in {planted}, found {before} before and {after} after the compaction")


if __name__ == "__main__":
    main()
