#!/usr/bin/env python3
"""Fields of tracepoints: what payloads say by the formats of the capture is listed, counted, merged and cut, in both byte orders.
tracepoint_fields_test.py STACKPACK SOURCE_DIR"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(sys.argv[2]) / "tests" / "support"))
import tracepoint_capture as tc  # pylint: disable=wrong-import-position

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*arguments, status=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


def example(path, big=False, **options):
    capture = tc.TracepointCapture(big)
    for i in range(6):
        capture.runtime(10 * i, 50 + i % 2, "worker" if i % 3 else "main", 1000 + i, -5 * i, (0x401000 + 16 * (i % 2),))
    capture.open(35, 50, "/etc/passwd", 0o644)
    capture.open(36, 51, "/home/alice/notes", 7)
    capture.open(37, 51, "", 0, cut=True)
    capture.write(path, **options)


def losses(path):
    return {row["name"]: row["count"] for row in json.loads(run("dump", "--losses", path, "--json"))}


def tops(*arguments):
    found = json.loads(run("top", *arguments, "--json"))
    return {row["name"]: row["self"] for row in found["rows"]}


def check_listing(folder, spk):
    rows = json.loads(run("dump", "--fields", spk, "--json"))
    assert len(rows) == 9, len(rows)
    first, second = rows[:2]
    assert (first["kind"], first["comm"], first["pid"], first["runtime"], first["lag"]) == ("sched:sched_stat_runtime", "main", 50, 1000, 0), first
    assert (second["comm"], second["lag"], second["tid"]) == ("worker", -5, 51), second
    assert first["stack"] != second["stack"]
    opens = [row for row in rows if row["kind"] == "syscalls:sys_enter_openat"]
    assert [(row["filename"], row["mode"], row["dfd"], row["address"]) for row in opens[:2]] == [
        ("/etc/passwd", 0o644, -100, 0x7fff1000), ("/home/alice/notes", 7, -100, 0x7fff1000)], opens
    assert opens[2]["filename"] == "" and opens[2]["mode"] is None and opens[2]["dfd"] == -100, opens[2]
    assert all("mask" not in row for row in opens)
    assert len(run("dump", "--fields", spk, "--event", "syscalls:*").splitlines()) == 4
    assert len(run("dump", "--event-values", spk).splitlines()) == 10
    assert "lag=-5" in run("dump", "--fields", spk)
    found = losses(spk)
    assert found["bad_event_values"] == 1 and found["tracepoint_fields_left_out"] == 3, found
    assert "sample_fields_not_kept.raw" not in found, found
    subprocess.run([sys.executable, SOURCE / "tests/support/read_spk.py", spk, folder, "event-values"], check=True)
    theirs = (folder / "event-values").read_text(encoding="utf-8")
    assert theirs == run("dump", "--event-values", spk).split("\n", 1)[1]


def check_tops(spk):
    # The event counts periods of 1.
    assert tops(spk, "--by", "field:comm") == {"main": 2, "worker": 4}
    assert tops(spk, "--by", "field:lag") == {"0": 1, "-5": 1, "-10": 1, "-15": 1, "-20": 1, "-25": 1}
    assert tops(spk, "--by", "field:filename") == {"/etc/passwd": 1, "/home/alice/notes": 1, "[no value]": 1}
    assert tops(spk, "--by", "field:comm", "--tid", "51") == {"main": 1, "worker": 2}
    shutil.copy(spk, spk.with_name("copy.spk"))
    assert tops(spk, spk.with_name("copy.spk"), "--by", "field:comm") == {"main": 4, "worker": 8}
    assert "dump --fields lists them" in run("top", spk, "--by", "field:nothing", status=1)
    assert "is none of" in run("top", spk, "--by", "fields", status=1)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        one, two, other = (folder / f"{name}.spk" for name in ("one", "two", "other"))
        for big in (False, True):
            example(folder / "capture", big)
            run("convert", "--quiet", folder / "capture", "-o", one)
            run("verify", one)
            check_listing(folder, one)
            check_tops(one)
        capture = tc.TracepointCapture()
        capture.open(1, 60, "/bin/sh", 1)
        capture.write(folder / "capture")
        run("convert", "--quiet", folder / "capture", "-o", two)
        for inputs, output in (((one, two), "ab"), ((two, one), "ba")):
            run("merge", "--quiet", *inputs, "-o", folder / f"{output}.spk")
        merged = folder / "ab.spk"
        assert merged.read_bytes() == (folder / "ba.spk").read_bytes()
        run("verify", merged)
        assert len(json.loads(run("dump", "--fields", merged, "--json"))) == 10
        assert tops(merged, "--by", "field:filename", "--event", "syscalls:*")["/bin/sh"] == 1
        run("cut", "--quiet", merged, "--event", "syscalls:*", "-o", other, "--force")
        assert [row["filename"] for row in json.loads(run("dump", "--fields", other, "--json"))] == ["/bin/sh", "/etc/passwd", "/home/alice/notes", ""]
        example(folder / "capture")
        run("convert", "--quiet", "--redact", folder / "capture", "-o", other, "--force")
        assert "/home/USER/notes" in run("dump", "--fields", other) and "alice" not in run("dump", "--fields", other)
        run("convert", "--quiet", "--no-event-values", folder / "capture", "-o", other, "--force")
        assert losses(other)["sample_fields_not_kept.raw"] == 9 and len(run("dump", "--fields", other).splitlines()) == 1
        example(folder / "capture", with_formats=False)
        run("convert", "--quiet", folder / "capture", "-o", other, "--force")
        assert losses(other)["sample_fields_not_kept.raw"] == 9
    print("fields of tracepoints: listed, counted, merged and cut")


if __name__ == "__main__":
    main()
