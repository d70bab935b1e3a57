"""The example for Iceberg: late captures, those written anew, compaction and deletion show as they do in the tables."""
import importlib.util

import pytest

import stackpack
from conftest import ROOT

pytest.importorskip("pyiceberg")
pytest.importorskip("sqlalchemy")
parquet = pytest.importorskip("stackpack.parquet")
from pyiceberg.catalog.sql import SqlCatalog  # noqa: E402  pylint: disable=wrong-import-position
from stackpack import lake as lakes  # noqa: E402  pylint: disable=wrong-import-position


def example():
    spec = importlib.util.spec_from_file_location("iceberg_sync", ROOT / "examples" / "fleet" / "iceberg_sync.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder, name, count, date="2026-11-20"):
    text = folder / f"{name}.folded"
    text.write_text(f"main;{name} {count}\n")
    labels = parquet.Labels.of({"service": "cart", "date": date})
    return parquet.write_capture(text, folder / "lake", tables=["shares"], labels=labels).capture


def test_a_table_follows_the_lake(tmp_path):
    sync = example().sync
    catalog = SqlCatalog("stackpack", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    ids = {name: write(tmp_path, name, count) for name, count in (("a", 5), ("b", 7), ("c", 11))}
    lake = lakes.open_lake(str(tmp_path / "lake"))

    def sums():
        rows = catalog.load_table("stackpack.shares").scan().to_arrow().to_pylist()
        return {row["name"]: (row["self"], row["date"]) for row in rows if row["self"]}, len(rows)

    assert sync(lake, catalog) == (3, 0) and sync(lake, catalog) == (0, 0)
    assert sums() == ({"a": (5, "2026-11-20"), "b": (7, "2026-11-20"), "c": (11, "2026-11-20")}, 6)
    list(lakes.compact(lake))
    assert sync(lake, catalog) == (0, 0)
    # A late one, one written anew under another day, one deleted: one commit.
    write(tmp_path, "late", 2, "2026-11-01")
    stackpack.convert(tmp_path / "a.folded", tmp_path / "a.spk", level=1)
    moved = parquet.Labels.of({"service": "cart", "date": "2026-11-21"})
    assert parquet.write_capture(tmp_path / "a.spk", tmp_path / "lake", tables=["shares"], labels=moved).replaced
    lakes.delete(lake, [ids["b"]], "why")
    before = catalog.load_table("stackpack.shares").scan().to_arrow().num_rows
    assert sync(lake, catalog) == (2, 1) and before == 6
    assert sums() == ({"a": (5, "2026-11-21"), "c": (11, "2026-11-20"), "late": (2, "2026-11-01")}, 6)
    lakes.delete(lake, [each for each in lake.captures()], "all")
    assert sync(lake, catalog) == (0, 3) and sums() == ({}, 0)
