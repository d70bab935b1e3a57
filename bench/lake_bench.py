#!/usr/bin/env python3
"""A fleet of N captures on one machine: made, packed, asked, compacted, deleted; in one of the services something grows by a point.

    lake_bench.py GENERATOR FOLDER [--count 200] [--services 32] [--days 14] [--samples 20000] [--scale 0.001] [--planted 0.01] [-j 2]

GENERATOR is write_workload (a build with STACKPACK_BENCH): it makes a recording of each service, SCALE of the reference workload
with a seed of its own. A capture is a perf.data of SAMPLES of them (fleet_captures.py), each run about a tenth of its shares away
from the others, which is packed, named and removed at once. In the second half of the days one function of one service has PLANTED
more of the samples. Of every fiftieth capture the pprof file is made, too, to compare sizes. Needs the package with pyarrow, numpy
and duckdb. A line of JSON for each step: seconds by the clock and of processors, bytes, files, most memory so far. A folder that has
a lake is not filled again: it is asked, compacted and deleted from. Status 1 where the planted change is not found, or anything else is.
"""
import argparse
import concurrent.futures
import datetime
import json
import multiprocessing
import pathlib
import resource
import sys
import time

import duckdb
import numpy

import fleet_captures
import stackpack
from stackpack import lake as lakes, parquet

FLEET = pathlib.Path(__file__).parents[1] / "examples" / "fleet"
FIRST = datetime.date(2026, 11, 9)
PPROF_OF = 50
STRIDE = 7919  # a prime


def processor_seconds():
    """Of this process and those that it started and that have ended."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def say(step, begin, **facts):
    """A line of what a step took; `begin` is of the clock and of processors."""
    memory = max(resource.getrusage(whose).ru_maxrss for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) << 10
    print(json.dumps({"step": step, "seconds": round(time.monotonic() - begin[0], 2), "cpu": round(processor_seconds() - begin[1], 2),
                      **facts, "memory_bytes": memory}), flush=True)


def now():
    """Where a step begins."""
    return time.monotonic(), processor_seconds()


class Fleet:
    """What the processes that pack share."""

    def __init__(self, given):
        self.given = given
        self.lake = given.folder / "lake"
        self.recordings = [fleet_captures.Recording(given.generator, given.folder / "generated.data", given.scale, service + 1)
                           for service in range(given.services)]
        for service, recording in enumerate(self.recordings):
            names = self.names_of(service)
            names.mkdir(parents=True)
            (names / f"perf-{recording.pid}.map").write_text(recording.names(), encoding="utf-8")

    def names_of(self, service):
        """The folder with the names of a service's functions."""
        return self.given.folder / "names" / f"service_{service:02}"

    def pack(self, number):
        """Makes a capture, packs and names it, writes its rows; sizes of perf.data, .spk and pprof, and what making it took."""
        given, begin = self.given, time.process_time()
        service, turn = number % given.services, number // given.services
        day = turn * given.days // max(1, given.count // given.services) % given.days
        planted = 0.02 + (given.planted if service == 7 % given.services and day >= given.days // 2 else 0)
        capture, packed, named = (given.folder / f"capture-{number}.{ending}" for ending in ("data", "packed.spk", "spk"))
        capture.write_bytes(self.recordings[service].draw(numpy.random.default_rng([1, number]), given.samples, planted))
        making = time.process_time() - begin
        stackpack.convert(capture, packed)
        stackpack.symbolize(packed, named, perf_map=self.names_of(service))
        labels = parquet.Labels.of({"service": f"service_{service:02}", "date": (FIRST + datetime.timedelta(day)).isoformat()})
        done = parquet.write_capture(named, self.lake, tables=["shares"], labels=labels)
        if done.error is not None:
            raise done.error
        pprof = len(stackpack.export(named, format="pprof")) if number % PPROF_OF == 0 else 0
        sizes = capture.stat().st_size, named.stat().st_size, pprof, making
        for path in (capture, packed, named):
            path.unlink()
        return sizes


SHARED = []  # of one; a process that is forked has it without a copy


def pack(number):
    """In a process of the pool."""
    return SHARED[0].pack(number)


def fill(given):
    """Writes and packs the captures, each removed at once."""
    fleet = Fleet(given)
    SHARED.append(fleet)
    begin = now()
    # The recordings are there before the processes are, and so in memory once.
    with concurrent.futures.ProcessPoolExecutor(given.jobs, multiprocessing.get_context("fork")) as pool:
        sizes = numpy.zeros(4)
        # In an order in which any part of them is of all days and services.
        numbers = [done * STRIDE % given.count for done in range(given.count)] if given.count % STRIDE else range(given.count)
        for done, each in enumerate(pool.map(pack, numbers, chunksize=8), start=1):
            sizes += each
            if done % 1000 == 0:
                say("packed", begin, captures=done)
    recording = fleet.recordings[0]
    say("pack", begin, captures=given.count, capture_bytes=int(sizes[0]), spk_bytes=int(sizes[1]), **size_of(fleet.lake),
        pprof_bytes_each=int(sizes[2] / len(range(0, given.count, PPROF_OF))), making_cpu=round(sizes[3], 1), callstacks_each=recording.stacks,
        functions_each=len(recording.names().splitlines()))


def size_of(lake):
    """Files and bytes of the tables."""
    sizes = [path.stat().st_size for path in lake.rglob("*.parquet")]
    return {"parquet_files": len(sizes), "parquet_bytes": sum(sizes)}


def answer(lake, text):
    """The rows of a question and what it took, in a process of its own."""
    begin = now()
    database = duckdb.connect()
    lakes.register(database)
    database.execute("SET enable_progress_bar = false")
    database.execute(f"SET VARIABLE lake = '{lake}'")
    for name in ("lake.sql", "verdicts.sql"):
        database.execute((FLEET / name).read_text(encoding="utf-8"))
    result = database.sql(text)
    rows = [dict(zip(result.columns, row)) for row in result.fetchall()]
    return rows, {"seconds": round(time.monotonic() - begin[0], 2), "cpu": round(processor_seconds() - begin[1], 2),
                  "memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10}


def ask(given, lake, when):
    """The questions; what grew."""
    half, last = FIRST + datetime.timedelta(given.days // 2), FIRST + datetime.timedelta(given.days - 1)
    old, new = f"'{FIRST}', '{half - datetime.timedelta(1)}'", f"'{half}', '{last}'"
    service = f"service_{7 % given.services:02}"
    found = []
    for name, text in (("top_functions", f"FROM top_functions('{service}', 'cpu-clock', {new}) LIMIT 20"),
                       ("library_cost", f"FROM library_cost('%', 'cpu-clock', {new})"),
                       ("brought_by", f"FROM brought_by('{service}', 'cpu-clock', 'grown')"),
                       ("changed", f"FROM changed('cpu-clock', {old}, {new}, of_service := '{service}')"),
                       ("grew", f"FROM grew('cpu-clock', {old}, {new}, least := {given.planted / 2})"),
                       ("grown", f"FROM grown('cpu-clock', {old}, {new}, least := {given.planted / 2})")):
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            rows, facts = pool.submit(answer, lake, text).result()
        if name in ("grew", "grown"):
            facts["found"] = [(row["service"], row["name"], round(row["change"], 4)) for row in rows]
        print(json.dumps({"step": f"{name}, {when}", "rows": len(rows), **facts}), flush=True)
        found = rows
    return {(row["service"], row["name"]) for row in found}


def main():
    """Runs the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("generator")
    parser.add_argument("folder", type=pathlib.Path)
    for name, kind, value in (("count", int, 200), ("services", int, 32), ("days", int, 14), ("samples", int, 20000),
                              ("scale", float, 0.001), ("planted", float, 0.01)):
        parser.add_argument(f"--{name}", type=kind, default=value)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    given = parser.parse_args()
    lake = given.folder / "lake"
    if not lake.exists():
        given.folder.mkdir(parents=True)
        fill(given)
    before = ask(given, lake, "small files")
    begin = now()
    groups = list(lakes.compact(lakes.Lake(lake), jobs=given.jobs))
    say("compact", begin, groups=len(groups), **size_of(lake))
    after = ask(given, lake, "compacted")
    begin = now()
    old = [capture for capture, rows in lakes.Lake(lake).captures().items() if rows.date < (FIRST + datetime.timedelta(1)).isoformat()]
    lakes.delete(lakes.Lake(lake), old, "the first day")
    say("delete", begin, captures=len(old), **size_of(lake))
    # What calls it has grown with it.
    planted = f"service_{7 % given.services:02}"
    if before != after or ("grown" not in {name for _, name in before}) or {service for service, _ in before} != {planted}:
        sys.exit(f"planted in {planted}, found {before} before and {after} after the compaction")


if __name__ == "__main__":
    main()
