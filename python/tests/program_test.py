"""What the program does, called from Python."""
import json
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

import stackpack
from conftest import ROOT


@pytest.fixture(scope="session", name="names")
def make_names(tmp_path_factory, captures):
    """A .spk file of a program whose symbols are in the project, without names."""
    path = tmp_path_factory.mktemp("names") / "plain.spk"
    stackpack.convert(captures / "named" / "words.perf.data", path)
    return path


def test_symbolize_names_from_a_folder(tmp_path, names, captures):
    without = stackpack.symbolize(names, tmp_path / "without.spk", sysroot=tmp_path)
    report = stackpack.symbolize(names, tmp_path / "named.spk", sysroot=tmp_path, symbols=[captures / "named" / "words.zip"])
    assert report.output_bytes == os.path.getsize(tmp_path / "named.spk")
    assert without.named < report.named <= report.asked
    assert report.share == report.named / report.asked
    [image] = [each for each in report.images if each.named]
    assert 0 < image.named <= image.asked and image.build_id
    with stackpack.open(tmp_path / "named.spk") as file:
        functions = file.functions(columns=["name"]).to_arrow()["name"].to_pylist()
    assert len(functions) >= 3


def test_export_returns_bytes_or_writes(tmp_path, named_spk):
    text = stackpack.export(named_spk)
    assert sorted(text.decode().splitlines()) == ["idle 45", "main;parse;parse;scan 20", "main;parse;read 30", "main;write 5"]
    assert stackpack.export(named_spk, tmp_path / "out.folded") is None
    assert (tmp_path / "out.folded").read_bytes() == text
    with pytest.raises(stackpack.UsageError):
        stackpack.export(named_spk, tmp_path / "out.folded")
    stackpack.export(named_spk, tmp_path / "out.folded", force=True, format="speedscope", aggregate=True)
    assert json.loads((tmp_path / "out.folded").read_text())["profiles"]
    stackpack.export(named_spk, tmp_path / "tables", format="csv")
    assert (tmp_path / "tables" / "frames.csv").exists()
    with stackpack.open(named_spk) as file:
        assert stackpack.export(file) == text
    for wrong in ({"format": "svg"}, {"format": "csv"}):
        with pytest.raises(ValueError):
            stackpack.export(named_spk, **wrong)


def test_filters_are_those_of_the_program(spk):
    with stackpack.open(spk) as file:
        samples = file.samples().to_arrow().to_pylist()
    whole = stackpack.callers(spk, "*", where=stackpack.Filter(idle=True), count="samples").samples
    assert whole == len(samples)

    def counted(**conditions):
        where = stackpack.Filter(idle=True, **conditions)
        return stackpack.callers(spk, "*", where=where, count="samples").samples

    some = samples[len(samples) // 2]
    assert counted(pid=some["pid"]) == sum(each["pid"] == some["pid"] for each in samples) < whole
    assert counted(tid=some["tid"]) == sum(each["tid"] == some["tid"] for each in samples)
    assert counted(cpu=some["cpu"]) == sum(each["cpu"] == some["cpu"] for each in samples)
    assert counted(begin=some["time_ns"]) == sum(each["time_ns"] >= some["time_ns"] for each in samples) < whole
    assert counted(end=some["time_ns"]) == sum(each["time_ns"] <= some["time_ns"] for each in samples) < whole
    assert counted(begin="+0s", end="+1000s") == whole
    assert counted(event="cpu-cl*", exclude_event=["nothing", "other"]) == whole
    assert 0 < counted(module="libc.so.*") == whole - counted(exclude_module="libc.so.*")
    with pytest.raises(stackpack.UsageError):
        counted(event="cpu-clock", exclude_event="cpu-clock")


def test_callers_and_callees(named_spk):
    found = stackpack.callers(named_spk, "parse")
    assert (found.samples, found.value, found.unit, found.function.total) == (4, 100, "samples", 50)
    assert {row.name: row.total for row in found} == {"main": 50, "parse": 20}
    assert {row.name: row.total for row in stackpack.callees(named_spk, "parse")} == {"read": 30, "parse": 20, "scan": 20}
    frame = found.to_pandas()
    assert list(frame.columns) == ["name", "module", "place", "self", "total"]
    assert frame["total"].sum() == 70
    with pytest.raises(stackpack.UsageError, match="did you mean parse"):
        stackpack.callers(named_spk, "pars")


def test_pages_are_shown_in_a_notebook(named_spk, merged_spk, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    page = stackpack.view([named_spk, merged_spk])
    assert page.html.startswith("<!doctype html>") or page.html.startswith("<!DOCTYPE html>")
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!')  # pylint: disable=protected-access
    assert "parse" not in repr(page)
    assert stat.S_IMODE(os.stat(page.path).st_mode) == 0o600
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    assert page.open() and opened == [f"file://{page.path}"]
    assert os.listdir(tmp_path) == [os.path.basename(page.path)]


def test_errors_are_those_of_the_library(tmp_path, spk):
    (tmp_path / "cut.spk").write_bytes(spk.read_bytes()[:3000])
    with pytest.raises(stackpack.TruncatedFile) as raised:
        stackpack.export(tmp_path / "cut.spk")
    assert raised.value.path == str(tmp_path / "cut.spk") and raised.value.offset is not None
    for call in (stackpack.export, lambda path: stackpack.symbolize(path, tmp_path / "x.spk"),
                 lambda path: stackpack.callers(path, "main"), stackpack.view):
        with pytest.raises(stackpack.NotFound):
            call(tmp_path / "none.spk")
    (tmp_path / "text").write_bytes(b"\1\2\3\4")
    with pytest.raises(stackpack.StackpackError):
        stackpack.export(tmp_path / "text")
    with pytest.raises(OSError) as raised:
        stackpack.export(spk, tmp_path / "no folder" / "out")
    assert raised.value.path == str(tmp_path / "no folder" / "out")
    with pytest.raises(ValueError):
        stackpack.export("a\0b")


def test_names_that_look_like_options(tmp_path, named_spk, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--force").write_bytes(named_spk.read_bytes())
    assert stackpack.export("--force") == stackpack.export(named_spk)
    stackpack.export("--force", "-o")
    assert (tmp_path / "-o").exists()
    with pytest.raises(stackpack.UsageError, match="no function '--json' occurs"):
        stackpack.callers("--force", "--json")


def test_an_interrupt_ends_the_program(tmp_path):
    # The pipe never says anything: only the interrupt ends it.
    os.mkfifo(tmp_path / "pipe")
    code = ("import stackpack, sys\ntry:\n  print('on', flush=True); stackpack.export(sys.argv[1])\n"
            "except KeyboardInterrupt:\n  print('interrupted')\n")
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "pipe")], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as child:
        assert child.stdout.readline() == "on\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=30)[0] == "interrupted\n"


def test_the_program_is_found_or_said_to_be_missing(monkeypatch, named_spk, tmp_path):
    monkeypatch.delenv("STACKPACK_PROGRAM", raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda *_: str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(stackpack.NotFound, match="no program stackpack"):
        stackpack.export(named_spk)
    script = tmp_path / ("stackpack.exe" if sys.platform == "win32" else "stackpack")
    script.write_text("#!/bin/sh\nprintf %s \"$*\"\n")
    script.chmod(0o755)
    assert stackpack.export("run.spk") == b"export run.spk --format=folded -o -"
    whole = stackpack.export("run.spk", where=stackpack.Filter(comm=("a", "b"), idle=False, end="+1s"), all_events=True,
                             count="weight", frames="module", inlines=True, root="thread", annotate_kernel=True,
                             memory_limit=1 << 20)
    assert whole.decode().split(" ")[3:-2] == [
        "--comm=a", "--comm=b", "--no-idle", "--to=+1s", "--count=weight", "--frames=module", "--root=thread",
        "--memory-limit=1048576", "--all-events", "--inlines", "--annotate-kernel"]
    script.write_text("#!/bin/sh\necho \"stackpack: $*\" >&2\nexit 1\n")
    with pytest.raises(stackpack.UsageError) as raised:
        stackpack.symbolize("a.spk", "b.spk", symbols=["x", "y.zip"], sysroot="r", kallsyms="k", perf_map="p", inlines=False,
                            force=True, jobs=3)
    assert raised.value.what == ("symbolize a.spk --symbols=x --symbols=y.zip --sysroot=r --kallsyms=k --perf-map=p "
                                 "--no-inlines --force --jobs=3 --json -o b.spk")


def test_types_are_complete(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(
        "import stackpack\nfrom typing import Optional\n"
        "page: stackpack.Page = stackpack.view(['a.spk', 'b.spk'], where=stackpack.Filter(pid=1, comm='x'))\n"
        "data: bytes = stackpack.export('a.spk')\n"
        "rows: list[stackpack.Row] = stackpack.callers('a.spk', 'f').rows\n"
        "share: float = stackpack.symbolize('a.spk', 'b.spk').share\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports",
                           str(ROOT / "python" / "stackpack"), str(tmp_path / "user.py")], capture_output=True, text=True,
                          cwd=tmp_path, env=dict(os.environ, MYPYPATH=str(ROOT / "python")), check=False)
    assert done.returncode == 0, done.stdout


def test_what_events_of_dotnet_say(tmp_path, captures):
    stackpack.convert(captures / "small.nettrace", tmp_path / "small.spk")
    for given in (captures / "small.nettrace", tmp_path / "small.spk"):
        report = stackpack.gc(given)
        [process] = report.processes
        assert (process.pid, process.pauses, process.pause_ns) == (4321, 3, 1_200_000)
        assert [each.generation for each in process.collections] == [0, 1, 2]
        assert [(each.name, each.count, each.bytes) for each in report.types] == [
            ("System.Byte[]", 3, 636_000), ("System.String", 3, 318_000)]
        assert len(report.functions) == 2 and len(stackpack.gc(given, limit=1).functions) == 1
        [thrown] = stackpack.exceptions(given)
        assert (thrown.type, thrown.message, thrown.count) == ("System.InvalidOperationException", "not now", 3)
        assert thrown.function.startswith("App.Parser.Next")
    with stackpack.open(tmp_path / "small.spk") as file:
        assert file.top(by="type").to_arrow()["name"].to_pylist() == ["System.Byte[]", "System.String"]
        assert stackpack.gc(file) == report
        rows = file.event_values().to_arrow().to_pylist()
        sizes = {row["event"]: row["number"] for row in rows if row["kind"] == "allocation" and row["field"] == "bytes"}
        types = {row["event"]: row["text"] for row in rows if row["kind"] == "allocation" and row["field"] == "type"}
        assert sum(sizes[event] for event, name in types.items() if name == "System.Byte[]") == 636_000
        assert {row["unit"] for row in rows if row["field"] in ("bytes", "duration")} == {"bytes", "ns"}
        assert all((row["callstack"] is None) == (row["stack"] is None) for row in rows)
        assert [row["tid"] for row in rows if row["field"] == "message"] == [7, 7, 7]
        later = file.event_values(from_ns=rows[-1]["time_ns"], columns=["kind", "time_ns"]).to_arrow().to_pylist()
        assert {row["kind"] for row in later} == {"restart_end"}
    assert stackpack.jit(captures / "small.nettrace").count == 0
    requests = stackpack.io(captures / "sampled.x64.etl", order="latency")
    assert isinstance(requests.operations, list) and requests.files == sorted(
        requests.files, key=lambda row: -row.latency_ns)
    with pytest.raises(stackpack.UsageError):
        stackpack.io(captures / "small.nettrace", order="size")
