"""Conversions, merges, comparisons and errors."""
import os
import signal
import subprocess
import sys
import threading

import pytest

import stackpack

INTERRUPTED = """
import stackpack, sys
try:
    stackpack.convert(sys.argv[1], sys.argv[2], format="folded", on_progress=lambda p: print("on", flush=True))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_convert_reports_and_shows_progress(tmp_path, captures):
    seen = []
    report = stackpack.convert(captures / "file.perf.data", tmp_path / "a.spk", on_progress=seen.append)
    assert report.output_bytes == os.path.getsize(tmp_path / "a.spk")
    assert report.samples > 100
    assert seen[-1].stage in ("reading", "callstacks", "samples", "finishing")
    assert seen[-1].bytes_total == report.input_bytes


def test_dumps_are_unwound_and_encoders_do_not_show(tmp_path, captures):
    recorded = stackpack.convert(captures / "unwind" / "dumps.data", tmp_path / "recorded.spk")
    without = stackpack.convert(captures / "unwind" / "dumps.data", tmp_path / "without.spk", unwind=True, sysroot=tmp_path)
    unwound = stackpack.convert(captures / "unwind" / "dumps.data", tmp_path / "unwound.spk", unwind=True, sysroot=tmp_path,
                                binary_folders=[captures / "unwind"], encoders=0)
    assert recorded.callstacks < without.callstacks < unwound.callstacks
    stackpack.convert(captures / "file.perf.data", tmp_path / "a.spk")
    for encoders in (0, 1, 3):
        stackpack.convert(captures / "file.perf.data", tmp_path / "b.spk", encoders=encoders)
        assert (tmp_path / "a.spk").read_bytes() == (tmp_path / "b.spk").read_bytes()
    stackpack.merge([tmp_path / "a.spk"], tmp_path / "m.spk", encoders=0)
    with pytest.raises(stackpack.UsageError):
        stackpack.convert(captures / "file.perf.data", tmp_path / "b.spk", encoders=65)


@pytest.mark.parametrize("make", [stackpack.convert, lambda capture, out: stackpack.merge([capture], out)])
def test_an_error_names_the_file_it_happened_to(tmp_path, captures, make):
    (tmp_path / "taken").write_bytes(b"no .spk file")
    for out in (tmp_path / "no folder" / "a.spk", tmp_path / "taken"):
        with pytest.raises(stackpack.StackpackError) as raised:
            make(captures / "file.perf.data", out)
        assert raised.value.path == str(out)
    with pytest.raises(stackpack.NotFound) as raised:
        make(tmp_path / "none.perf.data", tmp_path / "a.spk")
    assert raised.value.path == str(tmp_path / "none.perf.data")


def test_an_error_says_as_what_a_capture_was_not_read(tmp_path):
    (tmp_path / "words").write_text("some words and no capture\n")
    with pytest.raises(stackpack.StackpackError) as raised:
        stackpack.convert(tmp_path / "words", tmp_path / "a.spk")
    assert len(raised.value.tried) > 5
    assert all(line.startswith("not read as ") for line in raised.value.tried)
    assert str(raised.value).splitlines()[1:] == list(raised.value.tried)
    with pytest.raises(stackpack.NotFound) as missing:
        stackpack.convert(tmp_path / "none", tmp_path / "a.spk")
    assert missing.value.tried == ()


def test_times_are_rounded_on_request(tmp_path, captures):
    exact = stackpack.convert(captures / "file.perf.data", tmp_path / "exact.spk")
    rounded = stackpack.convert(captures / "file.perf.data", tmp_path / "a.spk", time_resolution_ns=1_000_000)
    assert rounded.output_bytes < exact.output_bytes
    merged = stackpack.merge([tmp_path / "exact.spk"], tmp_path / "b.spk")
    rounded = stackpack.merge([tmp_path / "exact.spk"], tmp_path / "c.spk", time_resolution_ns=1_000_000)
    assert rounded.output_bytes < merged.output_bytes


def test_an_exception_of_the_callback_is_raised(tmp_path, captures):
    class Enough(Exception):
        """The callback's own."""

    def stop(_progress):
        raise Enough

    with pytest.raises(Enough):
        stackpack.convert(captures / "file.perf.data", tmp_path / "a.spk", on_progress=stop)
    assert threading.active_count() == 1


def test_what_on_progress_raises_at_the_end_keeps_the_old_output(tmp_path, captures):
    out = tmp_path / "a.spk"
    stackpack.convert(captures / "file.perf.data", out)
    old = out.read_bytes()

    class Enough(Exception):
        pass

    def stop(progress):
        if progress.stage == "finishing":
            raise Enough

    with pytest.raises(Enough):
        stackpack.convert(captures / "pipe.perf.data", out, on_progress=stop)
    assert out.read_bytes() == old
    with pytest.raises(Enough):
        stackpack.merge([captures / "file.perf.data", captures / "pipe.perf.data"], out, on_progress=stop)
    assert out.read_bytes() == old
    assert os.listdir(tmp_path) == ["a.spk"]


def test_keyboard_interrupt_stops_a_conversion(tmp_path):
    # From a pipe that does not end by itself: only the interrupt can end it.
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, tmp_path / "pipe", tmp_path / "a.spk"],
                          stdout=subprocess.PIPE, text=True) as child:
        with open(tmp_path / "pipe", "wb", buffering=0) as pipe:
            pipe.write(b"main;a 1\n" * 1000)
            assert child.stdout.readline() == "on\n"
            child.send_signal(signal.SIGINT)
            try:
                for _ in range(2000):
                    pipe.write(b"main;a 1\n" * 1000)
            except BrokenPipeError:
                pass
        assert child.communicate(timeout=60)[0].endswith("interrupted\n")
    assert not (tmp_path / "a.spk").exists()


def test_merge_does_not_depend_on_order_and_names_the_bad_input(tmp_path, captures):
    files = []
    for name in ("file.perf.data", "events.perf.data"):
        files.append(tmp_path / (name + ".spk"))
        stackpack.convert(captures / name, files[-1])
    report = stackpack.merge(files, tmp_path / "ab.spk")
    stackpack.merge(files[::-1], tmp_path / "ba.spk")
    assert report.sources == 2
    assert (tmp_path / "ab.spk").read_bytes() == (tmp_path / "ba.spk").read_bytes()
    with stackpack.open(tmp_path / "ab.spk") as merged:
        assert merged.summary["samples"] == report.samples
        if merged.summary["has_samples"]:
            pytest.importorskip("pyarrow")
            assert set(merged.samples(columns=["source"]).to_arrow()["source"].to_pylist()) == {0, 1}
    bad = tmp_path / "bad.spk"
    bad.write_bytes(files[0].read_bytes()[:-100])
    with pytest.raises(stackpack.StackpackError) as error:
        stackpack.merge([files[0], bad], tmp_path / "no.spk")
    assert error.value.path == str(bad)
    assert stackpack.merge([files[0], bad], tmp_path / "yes.spk", keep_going=True).bad_inputs == 1


def test_diff_sees_what_grew(tmp_path):
    sides = []
    for side, hot in enumerate((100, 400)):
        sides.append([])
        for run in range(3):
            text = tmp_path / f"{side}{run}.folded"
            text.write_text(f"main;hot {hot + run}\nmain;rest {1000 + run}\n")
            sides[-1].append(tmp_path / f"{side}{run}.spk")
            stackpack.convert(text, sides[-1][-1])
    event, = stackpack.diff(*sides)
    rows = {row.name: row for row in event.rows}
    assert rows["hot"].self.verdict == "more"
    assert rows["hot"].self.new_share == pytest.approx(1203 / 4206)
    assert rows["hot"].self.old_share == pytest.approx(303 / 3306)
    with pytest.raises(ValueError):
        stackpack.diff(*sides, by="nothing")
    cost, = stackpack.diff(*sides, per="run", unit="request", units=[10, 10, 10, 20, 20, 20], rename={"hot": "warm"})
    assert (cost.work, cost.measure) == ("request", "samples")
    assert cost.whole.old_share == pytest.approx((1101 + 2) / 10, rel=0.01)
    assert cost.whole.new_share == pytest.approx((1401 + 2) / 20, rel=0.01)
    assert {"warm", "hot", "rest"} <= {row.name for row in cost.rows}
    with pytest.raises(stackpack.UsageError):
        stackpack.diff(*sides, per="run", units=[1])
    with pytest.raises(stackpack.UsageError):
        stackpack.diff(*sides, per="run", runs_by="nothing")


def test_errors_have_code_offset_and_path(tmp_path, spk):
    with pytest.raises(FileNotFoundError) as missing:
        stackpack.open(tmp_path / "none.spk")
    assert isinstance(missing.value, stackpack.NotFound)
    assert missing.value.path == str(tmp_path / "none.spk")
    content = bytearray(spk.read_bytes())
    content[len(content) // 2] ^= 0xFF
    bad = tmp_path / "bad.spk"
    bad.write_bytes(content)
    with pytest.raises(stackpack.StackpackError) as damaged:
        with stackpack.open(bad) as file:
            file.verify()
    assert damaged.value.code in (3, 4)
    assert damaged.value.offset is not None
    assert f"offset {damaged.value.offset}" in str(damaged.value)
