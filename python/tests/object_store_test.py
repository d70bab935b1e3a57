"""The tables of a fleet in object storage: a server of S3's protocol (moto) on loopback, in a process of its own."""
import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

import stackpack

pytest.importorskip("pyarrow")
pytest.importorskip("moto.server")
duckdb = pytest.importorskip("duckdb")
from pyarrow import fs  # noqa: E402  pylint: disable=wrong-import-position
import pyarrow.dataset as datasets  # noqa: E402  pylint: disable=wrong-import-position
from stackpack import fleet, lake as lakes  # noqa: E402  pylint: disable=wrong-import-position


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module", name="port")
def start_server():
    """The port of a server with a bucket `profiles`."""
    port = free_port()
    with subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(300):
                with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5):
                    break
                assert server.poll() is None
                time.sleep(0.2)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("AWS_ACCESS_KEY_ID", "none")
                patch.setenv("AWS_SECRET_ACCESS_KEY", "none")
                patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
                patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
                patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
                store(port).create_dir("profiles")
                yield port
        finally:
            server.terminate()


def store(port):
    return fs.S3FileSystem(endpoint_override=f"127.0.0.1:{port}", scheme="http", region="us-east-1", allow_bucket_creation=True)


def test_pack_ask_compact_and_delete(tmp_path, port):
    system = store(port)
    ids = []
    for number in range(6):
        text = tmp_path / f"{number}.folded"
        text.write_text(f"main;parse {100 + number}\nmain;write {7 * number + 1}\n")
        with open(text, "rb") as content, system.open_output_stream(f"profiles/in/{'cart' if number < 4 else 'mail'}/{number}.folded") as out:
            out.write(content.read())
    labels = fleet.Labels.of({"date": "2026-11-20"}, template="{service}/*.folded")
    for capture, relative in fleet.files_below("s3://profiles/in"):
        done = fleet.pack(capture, relative, "s3://profiles/packed", "s3://profiles/lake", tables=["shares", "samples"], labels=labels)
        assert done.done == "written"
        ids.append(done.capture)
    assert [fleet.pack(capture, relative, "s3://profiles/packed", "s3://profiles/lake").done
            for capture, relative in fleet.files_below("s3://profiles/in")] == ["skipped"] * 6
    lake = lakes.Lake("s3://profiles/lake")
    before = asked(system)
    assert len(before) == 6
    found = [(done.service, done.captures, done.files_before, done.files_after) for done in lakes.compact(lake)]
    assert found == [("cart", 4, 12, 3), ("mail", 2, 6, 3)]
    assert asked(system) == before and not list(lakes.compact(lake))
    lakes.delete(lake, [ids[0], ids[5]], "why")
    assert {row["capture"] for row in asked(system)} == set(ids[1:5])
    capture, relative = fleet.files_below("s3://profiles/in")[0]
    system.delete_file(f"profiles/packed/{relative}.spk")
    assert fleet.pack(capture, relative, "s3://profiles/packed", "s3://profiles/lake").capture == ids[0]
    assert {row["capture"] for row in asked(system)} == set(ids[1:5])
    assert lakes.main(["deleted", "s3://profiles/lake"]) == 0


def asked(system):
    """Sums by capture, as an engine reads them in place."""
    found = datasets.dataset("profiles/lake/shares", filesystem=system, partitioning="hive", exclude_invalid_files=False)
    rows = found.to_table()  # noqa: F841  pylint: disable=unused-variable
    result = duckdb.sql("SELECT capture, arg_max(name, total) AS name, sum(self)::BIGINT AS total FROM rows GROUP BY 1 ORDER BY 1")
    return [dict(zip(result.columns, row)) for row in result.fetchall()]


def test_verdicts_are_asked_there(tmp_path, port):
    from stackpack import parquet  # pylint: disable=import-outside-toplevel
    sides = [[], []]
    for number in range(6):
        text = tmp_path / f"{number}.folded"
        text.write_text(f"main;parse {(100 if number < 3 else 900) + number}\nmain;write 2000\n")
        stackpack.convert(text, text.with_suffix(".spk"))
        sides[number // 3].append(text.with_suffix(".spk"))
        day = parquet.Labels.of({"date": "2026-11-01" if number < 3 else "2026-11-08"})
        assert parquet.write_capture(text.with_suffix(".spk"), "s3://profiles/asked", tables=["shares"], labels=day).error is None
    rows = lakes.changes(lakes.open_lake("s3://profiles/asked"), "samples", ("2026-11-01", "2026-11-07"),
                         ("2026-11-08", "2026-11-14")).to_pylist()
    [event] = stackpack.diff(*sides)
    expected = {row.name: row.self.verdict for row in event.rows}
    assert {row["name"]: row["verdict"] for row in rows if row["figure"] == "self"} == expected and expected["parse"] == "more"


def test_fsspec_serves_what_pyarrow_does_not_know(tmp_path):
    pytest.importorskip("fsspec")
    from stackpack import parquet  # pylint: disable=import-outside-toplevel
    (tmp_path / "a.folded").write_text("main;parse 3\n")
    done = parquet.write_capture(tmp_path / "a.folded", "memory://lake", tables=["shares"])
    assert done.error is None
    import fsspec  # pylint: disable=import-outside-toplevel
    names = [os.path.basename(path) for path in fsspec.filesystem("memory").find("/lake")]
    assert f"{done.capture}.parquet" in names
    assert parquet.write_capture(tmp_path / "a.folded", "memory://lake", tables=["shares"]).skipped
    with pytest.raises(ValueError):
        parquet.write_capture(tmp_path / "a.folded", "nothing://lake")
