"""Steps of many conversions, done again, at once, and from URLs."""
import concurrent.futures
import hashlib
import pathlib
import subprocess
import sys

import pytest

import stackpack

pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
from pyarrow import fs  # noqa: E402  pylint: disable=wrong-import-position
from stackpack import _store, fleet, lake as lakes  # noqa: E402  pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).parents[2]


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@pytest.fixture(name="recorded", scope="module")
def fixture_recorded(tmp_path_factory, captures):
    """A folder of five captures and one that is none, in folders."""
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run([sys.executable, ROOT / "bench" / "capture_variants.py", captures / "file.perf.data", folder / "a",
                    "--count", "5"], check=True)
    (folder / "b").mkdir()
    (folder / "b" / "broken.data").write_bytes(b"PERFILE2 and no more")
    (folder / "b" / ".hidden.data").write_bytes(b"of an editor")
    return folder


def as_a_store(place, real=_store.system_of):
    """A file system that is not known to be of this machine, as object stores are."""
    if place.startswith("store://"):
        return fs.SubTreeFileSystem("/", fs.LocalFileSystem()), place[len("store:///"):]
    return real(place)


@pytest.mark.parametrize("prefix", ["", "file://", "store://"])
def test_what_is_done_is_left_alone(tmp_path, recorded, prefix, monkeypatch):
    monkeypatch.setattr(_store, "system_of", as_a_store)
    packed, lake = f"{prefix}{tmp_path}/packed", f"{prefix}{tmp_path}/lake"
    captures = fleet.files_below(f"{prefix}{recorded}")
    assert [relative for _, relative in captures] == [f"a/{n}.perf.data" for n in range(5)] + ["b/broken.data"]
    first = [fleet.pack(capture, relative, packed, lake) for capture, relative in captures]
    assert [done.done for done in first] == ["written"] * 5 + ["failed"]
    assert (first[5].code, first[5].offset) == (stackpack.UnsupportedFile.code, 8) and first[5].text
    # As if a task had been lost before its last step.
    lost = tmp_path / "packed" / "a" / "1.perf.data.spk"
    before = lost.read_bytes()
    lost.unlink()
    again = [fleet.pack(capture, relative, packed, lake).done for capture, relative in captures]
    assert again == ["skipped", "written", "skipped", "skipped", "skipped", "failed"]
    assert lost.read_bytes() == before
    rows = duckdb.sql(f"SELECT count(*), count(DISTINCT capture), sum(samples) FROM '{tmp_path}/lake/captures/**/*.parquet'")
    samples = duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/lake/samples/**/*.parquet'").fetchall()[0][0]
    assert rows.fetchall() == [(5, 5, samples)]
    left = [path for path in tmp_path.rglob("*") if path.name.endswith(".part")]
    assert not left


def test_a_tree_of_merges_gives_the_bytes_of_one(tmp_path, recorded):
    for capture, relative in fleet.files_below(str(recorded / "a")):
        fleet.pack(capture, relative, str(tmp_path / "packed"))
    files = [place for place, _ in fleet.files_below(str(tmp_path / "packed"), ".spk")]
    stackpack.merge(files, tmp_path / "one.spk")
    scratch, last = str(tmp_path / "scratch"), files
    while len(last) > 1:
        last = [fleet.merge_group(group, scratch) for group in fleet.groups_of(last, 2)]
    fleet.finish_merge(last[0], str(tmp_path / "tree.spk"))
    assert digest(tmp_path / "tree.spk") == digest(tmp_path / "one.spk")
    times = {path: path.stat().st_mtime_ns for path in pathlib.Path(scratch).iterdir()}
    assert [fleet.merge_group(group, scratch) for group in fleet.groups_of(files, 2)]
    assert {path: path.stat().st_mtime_ns for path in pathlib.Path(scratch).iterdir()} == times
    # A file that changed is not the one that was merged.
    pathlib.Path(files[0]).write_bytes(pathlib.Path(files[1]).read_bytes())
    changed = fleet.merge_group(fleet.groups_of(files, 2)[0], scratch)
    assert pathlib.Path(changed) not in times


def test_the_same_capture_at_once(tmp_path, recorded):
    capture, relative = fleet.files_below(str(recorded))[0]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        tasks = [pool.submit(fleet.pack, capture, relative, str(tmp_path / "packed"), str(tmp_path / "lake"))
                 for _ in range(8)]
        assert {task.result().done for task in tasks} <= {"written", "skipped"}
    assert len(list((tmp_path / "packed").rglob("*.spk"))) == 1
    assert len(list((tmp_path / "lake" / "captures").rglob("*.parquet"))) == 1


def test_groups():
    assert fleet.groups_of(list("abcdefg"), 3) == [["a", "b"], ["c", "d"], ["e", "f", "g"]]
    assert fleet.groups_of(["a"], 3) == [["a"]]
    with pytest.raises(ValueError):
        fleet.groups_of(["a", "b"], 1)


def test_what_the_machine_refuses_is_raised(tmp_path, recorded, monkeypatch):
    capture, relative = fleet.files_below(str(recorded))[0]

    def refuse(*_arguments, **_options):
        raise stackpack.OutOfMemory("no memory")

    with monkeypatch.context() as patch:
        patch.setattr(fleet, "convert", refuse)
        with pytest.raises(MemoryError):
            fleet.pack(capture, relative, str(tmp_path / "other"))
    (tmp_path / "packed").write_text("a file, and no folder")
    with pytest.raises(OSError):
        fleet.pack(capture, relative, str(tmp_path / "packed"))


@pytest.mark.parametrize("prefix", ["", "store://"])
def test_labels_and_deletions_are_those_of_the_tables(tmp_path, captures, prefix, monkeypatch):
    monkeypatch.setattr(_store, "system_of", as_a_store)
    packed, lake = f"{prefix}{tmp_path}/packed", f"{prefix}{tmp_path}/lake"
    capture = f"{prefix}{captures}/named/words.perf.data"
    labels = fleet.Labels.of({"date": "2026-03-04"}, template="{service}/words.perf.data")
    done = fleet.pack(capture, "words", packed, lake, labels=labels, naming=fleet.Naming(sysroot=str(tmp_path)))
    table = f"read_parquet('{tmp_path}/lake/captures/**/*.parquet')"
    columns = "service, date::VARCHAR, date_source"
    assert duckdb.sql(f"SELECT {columns} FROM {table}").fetchall() == [("named", "2026-03-04", "label")]

    def names():
        found = duckdb.sql(f"SELECT DISTINCT name FROM '{tmp_path}/lake/shares/**/*.parquet'").fetchall()
        return {name for name, in found if "Trie" in name}

    # A bundle that arrives late names what it is for, and leaves the rest alone.
    bundle = fleet.Naming([str(captures / "named" / "words.zip")], str(tmp_path))
    assert not names() and fleet.symbolize(done.packed, lake, naming=bundle, build_ids=["00"]).done == "skipped"
    with stackpack.open(tmp_path / "packed" / "words.spk") as file:
        images = file.modules().to_arrow().to_pylist()
    build_id = next(row["build_id"] for row in images if row["image"] == "words")
    named = fleet.symbolize(done.packed, lake, naming=bundle, build_ids=[build_id])
    assert (named.done, named.capture) == ("written", done.capture) and names()
    assert fleet.symbolize(done.packed, lake, naming=bundle, build_ids=[build_id]).done == "skipped"
    assert duckdb.sql(f"SELECT {columns} FROM {table}").fetchall() == [("named", "2026-03-04", "label")]
    lakes.delete(lakes.Lake(tmp_path / "lake"), [done.capture], "")
    (tmp_path / "packed" / "words.spk").unlink()
    assert fleet.pack(capture, "words", packed, lake).capture == done.capture
    assert not list((tmp_path / "lake").rglob("*.parquet"))
