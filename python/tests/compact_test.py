"""Compaction and deletion in compacted files: nothing is lost or there twice, killed at whatever step."""
import json
import signal
import subprocess
import sys

import pytest

import stackpack
from conftest import ROOT

pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
parquet = pytest.importorskip("stackpack.parquet")
from stackpack import _store, lake as lakes  # noqa: E402  pylint: disable=wrong-import-position

QUERIES = ROOT / "examples" / "fleet" / "lake.sql"
MUTATIONS = ("put", "drop")
TABLES = ["shares", "samples"]


def write(lake, name, counts, service="cart", date="2026-11-20", tables=TABLES):
    """A capture of its own, and its id."""
    text = lake.parent / f"{name}.folded"
    text.write_text("".join(f"main;{function} {count}\n" for function, count in counts.items()))
    labels = parquet.Labels.of({"service": service, "date": date})
    done = parquet.write_capture(text, lake, tables=tables, labels=labels)
    assert done.error is None
    return done.capture


def make_lake(folder):
    """Two services, two days."""
    lake = folder / "lake"
    ids = [write(lake, f"a{number}", {"parse": 10 + number, "scan": 5}) for number in range(4)]
    ids += [write(lake, "b", {"mail": 7}, service="mail"), write(lake, "c", {"mail": 9}, service="mail")]
    ids += [write(lake, "d", {"parse": 3, "late": 2}, date="2026-11-21"), write(lake, "e", {"parse": 4}, date="2026-11-21")]
    return lake, ids


def asked(lake):
    """What the views count, in order: sums of functions by day and service, and captures."""
    database = duckdb.connect()
    database.execute(f"SET VARIABLE lake = '{lake}'")
    database.execute(QUERIES.read_text(encoding="utf-8"))
    return (database.sql("SELECT date, service, name, sum(self), sum(total) FROM shares GROUP BY ALL ORDER BY ALL").fetchall(),
            database.sql("SELECT capture, date, service, file_digest FROM captures ORDER BY ALL").fetchall())


def plainly(lake):
    """The same of all rows that files have, whatever counts."""
    read = f"read_parquet('{lake}/TABLE/*/*.parquet', hive_partitioning = true, union_by_name = true)"
    return (duckdb.sql("SELECT date, service, name, sum(self), sum(total) FROM "
                       f"{read.replace('TABLE', 'shares')} WHERE NOT idle GROUP BY ALL ORDER BY ALL").fetchall(),
            duckdb.sql("SELECT capture, date, service, file_digest FROM "
                       f"{read.replace('TABLE', 'captures')} ORDER BY ALL").fetchall())


def files_of(lake):
    return {path.relative_to(lake).as_posix(): path.read_bytes() for path in lake.rglob("date=*/*.parquet")}


class Killed(BaseException):
    """What ends a run in the middle, as a signal would: nothing is written afterwards."""


def killed_at(monkeypatch, step, work):
    """Runs work() until the step-th change of a file; whether it was killed."""
    done = [0]

    def counted(real):
        def change(self, *arguments):
            done[0] += 1
            if done[0] >= step:
                raise Killed
            return real(self, *arguments)
        return change

    with monkeypatch.context() as patch:
        for name in MUTATIONS:
            patch.setattr(_store.Store, name, counted(getattr(_store.Store, name)))
        try:
            work()
        except Killed:
            return True
    return False


def test_many_files_become_few(tmp_path):
    lake, _ = make_lake(tmp_path)
    before = asked(lake)
    assert len(files_of(lake)) == 3 * 8
    done = subprocess.run([sys.executable, "-m", "stackpack.lake", "compact", str(lake), "-j", "2", "--json"], capture_output=True,
                          text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["date"], each["service"], each["captures"], each["files_before"], each["files_after"]) for each in found] == [
        ("2026-11-20", "cart", 4, 12, 3), ("2026-11-20", "mail", 2, 6, 3), ("2026-11-21", "cart", 2, 6, 3)]
    assert asked(lake) == before == plainly(lake)
    files = files_of(lake)
    assert len(files) == 9 and sum(each["bytes_after"] for each in found) == sum(map(len, files.values()))
    # What is done is left alone.
    assert not list(lakes.compact(lakes.Lake(lake))) and files_of(lake) == files


def test_files_are_of_the_size_that_was_asked_for(tmp_path, monkeypatch):
    from stackpack import _compact  # pylint: disable=import-outside-toplevel
    monkeypatch.setattr(_compact, "_ROWS_OF_A_GROUP", 1)
    lake, _ = make_lake(tmp_path)
    before = asked(lake)
    assert list(lakes.compact(lakes.Lake(lake), target=1))
    names = sorted(path.name.split(".", 1)[1] for path in (lake / "shares" / "date=2026-11-20").glob("p-*"))
    assert names == ["1.parquet", "1.parquet", "2.parquet", "3.parquet", "parquet", "parquet"]
    assert asked(lake) == before == plainly(lake)
    # Full ones are not written again for what comes late.
    full = files_of(lake)
    write(lake, "late", {"parse": 1})
    write(lake, "later", {"parse": 2})
    assert [done.captures for done in lakes.compact(lakes.Lake(lake), target=1)] == [2]
    assert {path: content for path, content in files_of(lake).items() if path in full} == full


def test_late_captures_and_those_named_anew(tmp_path):
    lake, ids = make_lake(tmp_path)
    list(lakes.compact(lakes.Lake(lake)))
    write(lake, "late", {"late": 8})
    text = tmp_path / "a0.folded"
    stackpack.convert(text, tmp_path / "a0.spk", level=1)
    # Another label moves it to another day; the old rows do not count, and go with the next compaction.
    labels = parquet.Labels.of({"service": "shop", "date": "2026-11-22"})
    done = parquet.write_capture(tmp_path / "a0.spk", lake, tables=TABLES, labels=labels)
    assert done.replaced and done.capture == ids[0]
    expected = asked(lake)
    assert (expected[1] != plainly(lake)[1]) and len(expected[1]) == 9
    assert [row[1:3] for row in expected[1] if row[0] == ids[0]] == [(expected[1][0][1].replace(day=22), "shop")]
    assert parquet.write_capture(tmp_path / "a0.spk", lake, tables=TABLES).skipped
    list(lakes.compact(lakes.Lake(lake)))
    assert asked(lake) == expected == plainly(lake)
    assert not list(lakes.compact(lakes.Lake(lake)))


def test_deletions_in_compacted_files(tmp_path):
    lake, ids = make_lake(tmp_path)
    list(lakes.compact(lakes.Lake(lake)))
    expected = [row for row in asked(lake)[1] if row[0] not in (ids[1], ids[4], ids[5])]
    lakes.delete(lakes.Lake(lake), [ids[1], ids[4], ids[5]], "why")
    assert asked(lake)[1] == expected == plainly(lake)[1]
    assert not [path for path in lake.rglob("date=*/*.parquet") if ids[1].encode() in path.read_bytes()]
    assert asked(lake)[0] == plainly(lake)[0]
    again = parquet.write_capture(tmp_path / "a1.folded", lake)
    assert again.deleted and asked(lake)[1] == expected
    assert lakes.main(["restore", str(lake), ids[1]]) == 0
    write(lake, "a1", {"parse": 11, "scan": 5})
    assert len(asked(lake)[1]) == len(expected) + 1
    list(lakes.compact(lakes.Lake(lake)))
    assert len(plainly(lake)[1]) == len(expected) + 1


def test_killed_at_each_step_nothing_is_lost(tmp_path, monkeypatch):
    lake, _ = make_lake(tmp_path)
    before, step = asked(lake), 0
    untouched = {path.relative_to(lake): path.read_bytes() for path in lake.rglob("*") if path.is_file()}
    final = None
    while True:
        step += 1
        was_killed = killed_at(monkeypatch, step, lambda: list(lakes.compact(lakes.Lake(lake))))
        assert asked(lake) == before, step
        if was_killed and step % 3 == 0:  # another one, killed as well
            killed_at(monkeypatch, 2, lambda: list(lakes.compact(lakes.Lake(lake))))
            assert asked(lake) == before, step
        list(lakes.compact(lakes.Lake(lake)))
        assert asked(lake) == before == plainly(lake), step
        final = final or files_of(lake)
        assert files_of(lake).keys() == final.keys() and not list(lakes.compact(lakes.Lake(lake)))
        if not was_killed:
            break
        for path in [path for path in lake.rglob("*") if path.is_file()]:
            path.unlink()
        for path, content in untouched.items():
            (lake / path).write_bytes(content)
    assert step > 40


def test_deletion_killed_at_each_step(tmp_path, monkeypatch):
    lake, ids = make_lake(tmp_path)
    list(lakes.compact(lakes.Lake(lake)))
    kept = {path.relative_to(lake): path.read_bytes() for path in lake.rglob("*") if path.is_file()}
    before, step = asked(lake), 0
    rest = [row for row in before[1] if row[0] != ids[1]]
    while True:
        step += 1
        was_killed = killed_at(monkeypatch, step, lambda: lakes.delete(lakes.Lake(lake), [ids[1]], "why"))
        assert asked(lake)[1] in (rest, before[1]), step
        if step % 2:  # compaction ends it as well as doing it again
            lakes.delete(lakes.Lake(lake), [ids[1]], "why")
        elif step > 1:
            list(lakes.compact(lakes.Lake(lake)))
        assert asked(lake)[1] == rest == plainly(lake)[1], step
        assert asked(lake)[0] == plainly(lake)[0]
        if not was_killed:
            break
        for path in [path for path in lake.rglob("*") if path.is_file()]:
            path.unlink()
        for path, content in kept.items():
            (lake / path).write_bytes(content)
    assert step > 6


@pytest.mark.parametrize("step", [2, 12, 20])
def test_a_real_kill(tmp_path, step):
    lake, _ = make_lake(tmp_path)
    before = asked(lake)
    code = f"""
import os, signal, stackpack._store as store
from stackpack import lake
done = 0
def dying(real):
    def change(self, *arguments):
        global done
        done += 1
        if done == {step}:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *arguments)
    return change
store.Store.put, store.Store.drop = dying(store.Store.put), dying(store.Store.drop)
lake.main(["compact", {str(lake)!r}])
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert asked(lake) == before
    list(lakes.compact(lakes.Lake(lake)))
    assert asked(lake) == before == plainly(lake)


def test_a_capture_that_is_written_meanwhile_stays(tmp_path):
    lake, ids = make_lake(tmp_path)
    there = lakes.Lake(lake)
    groups = lakes.plan(there)
    write(lake, "a0", {"parse": 10, "scan": 5}, service="shop")
    expected = asked(lake)
    assert [done.changed for done in (lakes.compact_group(there, group) for group in groups)] == [True, False, False]
    assert asked(lake) == expected == plainly(lake)
    lakes.delete(there, [ids[2]], "")
    [group] = [group for group in groups if (group.date, group.service) == ("2026-11-20", "cart")]
    assert lakes.compact_group(there, group).changed
    list(lakes.compact(there))
    assert asked(lake) == plainly(lake) and len(asked(lake)[1]) == 7


def test_rows_of_a_writer_that_was_killed_are_left_alone(tmp_path, monkeypatch):
    lake, ids = make_lake(tmp_path)
    before = asked(lake)
    stackpack.convert(tmp_path / "a0.folded", tmp_path / "a0.spk", level=1)
    assert killed_at(monkeypatch, 3, lambda: parquet.write_capture(tmp_path / "a0.spk", lake, tables=TABLES))
    list(lakes.compact(lakes.Lake(lake)))
    assert asked(lake) == before and (lake / "captures" / "date=2026-11-20" / f"{ids[0]}.parquet").exists()
    assert parquet.write_capture(tmp_path / "a0.spk", lake, tables=TABLES).replaced
    assert [done.captures for done in lakes.compact(lakes.Lake(lake))] == [4]
    assert asked(lake)[0] == before[0] == plainly(lake)[0]
